// The closed table of combiners, and walking the fields of a value.
//
// This is all that merging needs to know about an aggregate: RocksDB's merge operator, the memory backend and the
// savepoint merger call it, none of them calls the engine.
#include "state/state.h"

#include <assert.h>
#include <string.h>

// One field inside a value. `body` is the bytes without the length, `whole` with it.
struct field_view {
    struct str whole, body;
};

// Reads a LEB128 length of at most five bytes.
static bool read_length(struct str value, size_t *at, size_t *out_length) {
    uint64_t length = 0;
    for (unsigned shift = 0; shift < 35; shift += 7) {
        if (*at >= value.len) return false;
        unsigned char byte = (unsigned char)value.data[(*at)++];
        length |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80) {
            *out_length = (size_t)length;
            return true;
        }
    }
    return false;
}

static bool next_field(enum state_form form, struct str value, size_t *at, struct field_view *out) {
    size_t start = *at, length = 0;
    switch (form) {
    case STATE_FORM_I64:
    case STATE_FORM_F64: length = 8; break;
    case STATE_FORM_I128: length = 16; break;
    case STATE_FORM_BYTES:
        if (!read_length(value, at, &length)) return false;
        break;
    }
    if (value.len - *at < length) return false;
    out->body = (struct str){value.data + *at, length};
    *at += length;
    out->whole = (struct str){value.data + start, *at - start};
    return true;
}

static void append_length(struct strbuf *out, size_t length) {
    while (length >= 0x80) {
        tide__strbuf_append_char(out, (char)(length | 0x80));
        length >>= 7;
    }
    tide__strbuf_append_char(out, (char)length);
}

static void append_sum(enum state_form form, struct str older, struct str newer, struct strbuf *out) {
    if (form == STATE_FORM_I64) {
        uint64_t a, b;
        memcpy(&a, older.data, 8);
        memcpy(&b, newer.data, 8);
        a += b;
        tide__strbuf_append(out, &a, 8);
    } else {
        unsigned __int128 a, b;
        memcpy(&a, older.data, 16);
        memcpy(&b, newer.data, 16);
        a += b;
        tide__strbuf_append(out, &a, 16);
    }
}

// False if the combiner cannot take fields of this form.
static bool combine_field(const struct state_field *field, const struct field_view *older,
                          const struct field_view *newer, struct strbuf *out) {
    bool is_bytes = field->form == STATE_FORM_BYTES, take_newer = true;
    switch (field->combiner) {
    case STATE_COMBINE_REPLACE: break;
    case STATE_COMBINE_ADD:
        if (field->form != STATE_FORM_I64 && field->form != STATE_FORM_I128) return false;
        append_sum(field->form, older->body, newer->body, out);
        return true;
    case STATE_COMBINE_MIN:
    case STATE_COMBINE_MAX:
        if (!is_bytes) return false;
        if (newer->body.len == 0) {
            take_newer = false;
        } else if (older->body.len > 0) {
            int order = tide__str_cmp(newer->body, older->body);
            take_newer = field->combiner == STATE_COMBINE_MIN ? order < 0 : order > 0;
        }
        break;
    case STATE_COMBINE_CONCAT:
        if (!is_bytes) return false;
        append_length(out, older->body.len + newer->body.len);
        tide__strbuf_append_str(out, older->body);
        tide__strbuf_append_str(out, newer->body);
        return true;
    case STATE_COMBINE_FIRST:
        if (!is_bytes) return false;
        take_newer = older->body.len == 0;
        break;
    case STATE_COMBINE_LAST:
        if (!is_bytes) return false;
        take_newer = newer->body.len > 0;
        break;
    }
    tide__strbuf_append_str(out, take_newer ? newer->whole : older->whole);
    return true;
}

bool tide__state_combine(const struct state_table_desc *desc, struct str older, struct str newer, struct strbuf *out) {
    assert(desc && out);
    size_t older_at = 0, newer_at = 0, start = out->len;
    for (size_t i = 0; i < desc->value_count; i++) {
        const struct state_field *field = &desc->values[i];
        struct field_view a, b;
        if (!next_field(field->form, older, &older_at, &a) || !next_field(field->form, newer, &newer_at, &b) ||
            !combine_field(field, &a, &b, out)) {
            out->len = start;
            return false;
        }
    }
    if (older_at == older.len && newer_at == newer.len) return true;
    out->len = start;
    return false;
}
