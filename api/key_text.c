// The order-preserving bytes of docs/savepoint-format.md, read with nothing but the type's text: a savepoint is looked at
// without its script.
#include "api/key_text.h"

#include "api/inspect.h"
#include "base/decimal.h"
#include "base/time.h"

#include <stdlib.h>
#include <string.h>

#define SIGN_BIT (UINT64_C(1) << 63)

struct key_reader {
    struct str rest;
    bool inverted;  // the value sorts downwards
};

static bool take(struct key_reader *reader, size_t n, unsigned char *out) {
    if (reader->rest.len < n) return false;
    for (size_t i = 0; i < n; i++) out[i] = (unsigned char)reader->rest.data[i] ^ (reader->inverted ? 0xFF : 0);
    reader->rest.data += n;
    reader->rest.len -= n;
    return true;
}

static bool take_u64(struct key_reader *reader, uint64_t *out) {
    unsigned char bytes[8];
    if (!take(reader, 8, bytes)) return false;
    *out = 0;
    for (int i = 0; i < 8; i++) *out = *out << 8 | bytes[i];
    return true;
}

static bool take_i64(struct key_reader *reader, int64_t *out) {
    uint64_t v;
    if (!take_u64(reader, &v)) return false;
    *out = (int64_t)(v ^ SIGN_BIT);
    return true;
}

static bool is_type(const char *type, const char *name) {
    size_t len = strlen(name);
    return strncmp(type, name, len) == 0 && (type[len] < 'A' || type[len] > 'Z') && type[len] != '_';
}

// The nth number in parentheses; `otherwise` if there is none.
static int parameter(const char *type, int n, int otherwise) {
    const char *at = strchr(type, '(');
    for (int i = 0; at != NULL && i < n; i++) at = strchr(at, ',');
    return at != NULL ? (int)strtol(at + 1, NULL, 10) : otherwise;
}

static bool put_text(struct key_reader *reader, bool binary, struct strbuf *out) {
    tide__strbuf_append_c(out, binary ? "x'" : "'");
    for (;;) {
        unsigned char byte;
        if (!take(reader, 1, &byte)) return false;
        if (byte == 0) {
            unsigned char next;
            if (!take(reader, 1, &next)) return false;
            if (next == 0) break;
        }
        if (binary)
            tide__strbuf_printf(out, "%02x", byte);
        else if (byte < 0x20)
            tide__strbuf_printf(out, "\\x%02x", byte);
        else
            tide__strbuf_append_char(out, (char)byte);
    }
    tide__strbuf_append_char(out, '\'');
    return true;
}

static bool put_decimal(struct key_reader *reader, const char *type, struct strbuf *out) {
    int precision = parameter(type, 0, 10), scale = parameter(type, 1, 0);
    int64_t high;
    uint64_t low;
    if (!take_i64(reader, &high)) return false;
    if (precision <= 18) {
        tide__decimal_print(high, scale, out);
        return true;
    }
    if (!take_u64(reader, &low)) return false;
    tide__decimal_print((int128)((unsigned __int128)(uint64_t)high << 64 | low), scale, out);
    return true;
}

static bool put_timestamp(struct key_reader *reader, const char *type, struct strbuf *out) {
    int precision = parameter(type, 0, 6);
    struct timestamp t = {0};
    if (!take_i64(reader, &t.ms)) return false;
    if (precision > 3) {
        unsigned char nanos[4];
        if (!take(reader, 4, nanos)) return false;
        t.nanos = nanos[0] << 24 | nanos[1] << 16 | nanos[2] << 8 | nanos[3];
    }
    tide__timestamp_print(t, precision, out);
    return true;
}

static bool put_double(struct key_reader *reader, struct strbuf *out) {
    uint64_t bits;
    if (!take_u64(reader, &bits)) return false;
    bits = (bits & SIGN_BIT) != 0 ? bits ^ SIGN_BIT : ~bits;
    double value;
    memcpy(&value, &bits, sizeof value);
    tide__double_print(value, out);
    return true;
}

static bool put_integer(struct key_reader *reader, const char *type, struct strbuf *out) {
    int64_t v;
    if (!take_i64(reader, &v)) return false;
    if (is_type(type, "DATE"))
        tide__date_print(v, out);
    else if (is_type(type, "TIME"))
        tide__time_print(v, parameter(type, 0, 0), out);
    else
        tide__strbuf_printf(out, "%lld", (long long)v);
    return true;
}

static bool put_known(struct key_reader *reader, const char *type, struct strbuf *out) {
    static const char *const integers[] = {"TINYINT", "SMALLINT", "INT", "BIGINT", "DATE", "TIME", "INTERVAL"};
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++)
        if (is_type(type, integers[i])) return put_integer(reader, type, out);
    if (is_type(type, "TIMESTAMP") || is_type(type, "TIMESTAMP_LTZ")) return put_timestamp(reader, type, out);
    if (is_type(type, "DECIMAL")) return put_decimal(reader, type, out);
    if (is_type(type, "DOUBLE") || is_type(type, "FLOAT")) return put_double(reader, out);
    if (is_type(type, "STRING") || is_type(type, "VARCHAR") || is_type(type, "CHAR"))
        return put_text(reader, false, out);
    if (is_type(type, "BYTES") || is_type(type, "VARBINARY") || is_type(type, "BINARY"))
        return put_text(reader, true, out);
    if (is_type(type, "BOOLEAN")) {
        unsigned char byte;
        if (!take(reader, 1, &byte) || byte > 1) return false;
        tide__strbuf_append_c(out, byte != 0 ? "TRUE" : "FALSE");
        return true;
    }
    return false;
}

// 0 NULL first, 1 a value, 2 NULL last; all inverted if the value sorts downwards.
static bool put_value(struct key_reader *reader, const char *type, struct strbuf *out) {
    unsigned char marker;
    reader->inverted = false;
    if (!take(reader, 1, &marker)) return false;
    if (marker >= 0xFD) {
        reader->inverted = true;
        marker = (unsigned char)~marker;
    }
    if (marker == 0 || marker == 2) {
        tide__strbuf_append_c(out, "NULL");
        return true;
    }
    return marker == 1 && put_known(reader, type, out);
}

static bool ends_with(const char *text, const char *end) {
    size_t len = strlen(text), end_len = strlen(end);
    return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

// Numbers and times that operators put at the end of a key, without a marker. False: the field is none of those.
static bool put_unmarked(const struct state_table_desc *desc, size_t i, struct key_reader *reader, struct strbuf *out) {
    const char *name = desc->keys[i].name;
    bool session = ends_with(desc->name, ".sessions");
    bool number = strcmp(name, "arrival") == 0 || strcmp(name, "row number") == 0;
    if (i + 1 < desc->key_count || (!session && !number)) return false;
    int64_t v, piece;
    reader->inverted = false;
    if (!take_i64(reader, &v)) return false;
    if (strcmp(name, "arrival") == 0) {
        v = (int64_t)((uint64_t)v ^ SIGN_BIT);
        if (v < 0) v = ~v;
    }
    if (session && take_i64(reader, &piece))
        tide__api_put_time(v, out);
    else
        tide__strbuf_printf(out, "%lld", (long long)v);
    return true;
}

static void put_hex(struct str rest, struct strbuf *out) {
    tide__strbuf_append_c(out, "x'");
    for (size_t i = 0; i < rest.len; i++) tide__strbuf_printf(out, "%02x", (unsigned char)rest.data[i]);
    tide__strbuf_append_c(out, "'");
}

void tide__api_put_key(const struct state_table_desc *desc, struct str key, struct strbuf *out) {
    struct key_reader reader = {.rest = key};
    bool any = false;
    int64_t start, end;
    if (desc->kind == STATE_TABLE_WINDOWED && take_i64(&reader, &start) && take_i64(&reader, &end)) {
        tide__strbuf_append_char(out, '[');
        tide__api_put_time(start, out);
        tide__strbuf_append_c(out, ", ");
        tide__api_put_time(end, out);
        tide__strbuf_append_char(out, ')');
        any = true;
    }
    for (size_t i = 0; i < desc->key_count && reader.rest.len > 0; i++) {
        size_t mark = out->len;
        struct str rest = reader.rest;
        tide__strbuf_printf(out, "%s%s=", any ? i == 0 ? " " : ", " : "", desc->keys[i].name);
        any = true;
        if (put_unmarked(desc, i, &reader, out)) continue;
        if (put_value(&reader, desc->keys[i].type, out)) continue;
        out->len = mark;
        tide__strbuf_append_c(out, mark > 0 ? " " : "");
        reader.rest = rest;
        break;
    }
    // What stands behind the described fields is an operator's own.
    if (reader.rest.len > 0) put_hex(reader.rest, out);
}
