// Parsing CSV: the hot path of every job that reads files.
//
// Two parsers share the work. The fast one looks at 64 bytes at a time and gets a bit for each delimiter and line end, so
// that unread fields cost a bit each; fields that are read go through shortcuts for plain spellings (eight digits in three
// multiplications, a timestamp that shares its second with the one before it). It knows neither quotes nor escapes nor
// errors: at anything unusual it gives the whole row to the slow parser, which follows Jackson's CSV decoder step by step
// and makes the error messages. Whatever the fast parser accepts, the slow one would read the same.
//
// Too few and too many fields: a row must have as many fields as the query reads columns (Flink counts so, whichever they
// are); what is missing is NULL. More fields than the table has columns are an error, but for one blank extra field.
#include "base/alloc.h"
#include "base/time.h"
#include "engine/formats/csv.h"

#include <assert.h>
#include <emmintrin.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct token {
    struct str text;  // unquoted
    size_t place;
};

struct format_parser {
    const struct format_reader *reader;
    struct csv_options options;
    uint32_t field_count;
    struct csv_field *fields;  // field_count
    struct token *tokens;      // field_count + 1, of the slow row
    struct format_block *block;
    struct arena *arena;
    struct format_rows *out;
    size_t rows_max;
};

// --- bits of 64 bytes -------------------------------------------------------------------------------------------

struct scan {
    const char *data;
    size_t len;
    size_t base;                 // of the word
    uint64_t ends;               // delimiters and line ends not yet consumed
    uint64_t special;            // quotes and lone carriage returns from the row's start on
    uint64_t high;               // bytes that are not ASCII, likewise
    bool row_special, row_high;  // the same of the row's earlier words
    __m128i delimiter, quote;
};

static void scan_load(struct scan *scan, size_t base) {
    const __m128i newline = _mm_set1_epi8('\n'), cr = _mm_set1_epi8('\r');
    uint64_t ends = 0, lines = 0, returns = 0, quotes = 0, high = 0;
    for (int i = 0; i < 4; i++) {
        __m128i v = _mm_loadu_si128((const __m128i *)(scan->data + base + 16 * i));
        __m128i is_line = _mm_cmpeq_epi8(v, newline);
        __m128i is_end = _mm_or_si128(_mm_cmpeq_epi8(v, scan->delimiter), is_line);
        lines |= (uint64_t)(uint32_t)_mm_movemask_epi8(is_line) << (16 * i);
        ends |= (uint64_t)(uint32_t)_mm_movemask_epi8(is_end) << (16 * i);
        returns |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(v, cr)) << (16 * i);
        quotes |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(v, scan->quote)) << (16 * i);
        high |= (uint64_t)(uint32_t)_mm_movemask_epi8(v) << (16 * i);
    }
    size_t left = scan->len - base;
    uint64_t valid = left >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << left) - 1;
    scan->base = base;
    scan->ends = ends & valid;
    // A CR before an LF is part of the line end. That of the word's last byte can't be seen: the slow parser looks.
    scan->special = (quotes | (returns & ~(lines >> 1))) & valid;
    scan->high = high & valid;
}

// Begins a row at `at` < len.
static void scan_seek(struct scan *scan, size_t at) {
    size_t base = at & ~(size_t)63;
    scan_load(scan, base);
    uint64_t from = ~UINT64_C(0) << (at - base);
    scan->ends &= from;
    scan->special &= from;
    scan->high &= from;
    scan->row_special = scan->row_high = false;
}

// --- shortcuts for plain spellings ------------------------------------------------------------------------------

static const uint64_t pow10_u64[] = {
    UINT64_C(1),
    UINT64_C(10),
    UINT64_C(100),
    UINT64_C(1000),
    UINT64_C(10000),
    UINT64_C(100000),
    UINT64_C(1000000),
    UINT64_C(10000000),
    UINT64_C(100000000),
    UINT64_C(1000000000),
    UINT64_C(10000000000),
    UINT64_C(100000000000),
    UINT64_C(1000000000000),
    UINT64_C(10000000000000),
    UINT64_C(100000000000000),
    UINT64_C(1000000000000000),
    UINT64_C(10000000000000000),
    UINT64_C(100000000000000000),
    UINT64_C(1000000000000000000),
};

// 1 to 8 digits. Loads 8 bytes, whatever stands behind the digits.
static inline bool digits8(const char *s, size_t n, uint64_t *out) {
    uint64_t v;
    memcpy(&v, s, 8);
    unsigned shift = (unsigned)(8 - n) * 8;
    v = (v << shift) | (UINT64_C(0x3030303030303030) & ((UINT64_C(1) << shift) - 1));
    const uint64_t upper = UINT64_C(0xF0F0F0F0F0F0F0F0);
    if (((v & upper) | (((v + UINT64_C(0x0606060606060606)) & upper) >> 4)) != UINT64_C(0x3333333333333333))
        return false;
    v = ((v & UINT64_C(0x0F0F0F0F0F0F0F0F)) * 2561) >> 8;
    v = ((v & UINT64_C(0x00FF00FF00FF00FF)) * 6553601) >> 16;
    *out = ((v & UINT64_C(0x0000FFFF0000FFFF)) * UINT64_C(42949672960001)) >> 32;
    return true;
}

// 1 to 16 digits.
static inline bool digits16(const char *s, size_t n, uint64_t *out) {
    if (n <= 8) return digits8(s, n, out);
    uint64_t upper = 0, lower = 0;
    if (!digits8(s, n - 8, &upper) || !digits8(s + n - 8, 8, &lower)) return false;
    *out = upper * 100000000 + lower;
    return true;
}

static inline bool fast_integer(const struct csv_field *field, const char *s, size_t n, int64_t *out) {
    size_t sign = *s == '-';
    uint64_t value = 0;
    if (n - sign - 1 >= 16 || !digits16(s + sign, n - sign, &value)) return false;
    *out = sign ? -(int64_t)value : (int64_t)value;
    return *out >= field->min && *out <= field->max;
}

static bool fast_decimal(const struct csv_field *field, const char *s, size_t n, int64_t *out) {
    size_t sign = *s == '-', scale = (size_t)field->scale, whole = (size_t)(field->precision - field->scale);
    s += sign;
    n -= sign;
    if (n == 0 || n > 17) return false;
    uint64_t value = 0;
    if (scale > 0 && scale <= 8 && n > scale + 1 && n <= scale + 9 && s[n - 1 - scale] == '.') {
        uint64_t fraction = 0;
        size_t digits = n - 1 - scale;
        if (digits > whole || !digits8(s, digits, &value) || !digits8(s + digits + 1, scale, &fraction)) return false;
        value = value * pow10_u64[scale] + fraction;
    } else {
        size_t point = n;
        for (size_t i = 0; i < n; i++) {
            unsigned digit = (unsigned)(unsigned char)s[i] - '0';
            if (digit <= 9) {
                value = value * 10 + digit;
            } else if (s[i] == '.' && point == n) {
                point = i;
            } else {
                return false;
            }
        }
        size_t fraction = point == n ? 0 : n - point - 1;
        if (point > whole || point == 0 || fraction > scale) return false;
        value *= pow10_u64[scale - fraction];
    }
    *out = sign ? -(int64_t)value : (int64_t)value;
    return true;
}

static inline bool same19(const char *a, const char *b) {
    uint64_t a0, a1, a2, b0, b1, b2;
    memcpy(&a0, a, 8);
    memcpy(&a1, a + 8, 8);
    memcpy(&a2, a + 11, 8);
    memcpy(&b0, b, 8);
    memcpy(&b1, b + 8, 8);
    memcpy(&b2, b + 11, 8);
    return ((a0 ^ b0) | (a1 ^ b1) | (a2 ^ b2)) == 0;
}

// `HH:mm:ss` below 24 hours.
static inline bool fast_clock(const char *s, int64_t *out_ms) {
    unsigned h1 = (unsigned)s[0] - '0', h2 = (unsigned)s[1] - '0', m1 = (unsigned)s[3] - '0', m2 = (unsigned)s[4] - '0';
    unsigned s1 = (unsigned)s[6] - '0', s2 = (unsigned)s[7] - '0', hour = h1 * 10 + h2;
    if (h1 > 2 || h2 > 9 || hour > 23 || m1 > 5 || m2 > 9 || s1 > 5 || s2 > 9 || s[2] != ':' || s[5] != ':')
        return false;
    *out_ms = (int64_t)((hour * 60 + m1 * 10 + m2) * 60 + s1 * 10 + s2) * MILLIS_PER_SECOND;
    return true;
}

// Remembers the day and the second of a timestamp; its 19 first characters are `yyyy-MM-dd HH:mm:ss`.
static bool learn_second(struct csv_field *field, const char *s) {
    int64_t clock = 0;
    if (s[4] != '-' || s[10] != ' ' || !fast_clock(s + 11, &clock)) return false;
    if (!field->day_known || memcmp(s, field->day_text, 11) != 0) {
        char midnight[19];
        memcpy(midnight, s, 11);
        memcpy(midnight + 11, "00:00:00", 8);
        struct timestamp day = {0};
        if (!tide__csv_timestamp((struct str){midnight, 19}, false, &day)) return false;
        memcpy(field->day_text, s, 11);
        field->day_ms = day.ms;
        field->day_known = true;
    }
    memcpy(field->second_text, s, 19);
    field->second_ms = field->day_ms + clock;
    field->second_known = true;
    return true;
}

// `yyyy-MM-dd HH:mm:ss` with a fraction of 3, 6 or 9 digits, or none.
static inline bool fast_timestamp(struct csv_field *field, const char *s, size_t n, int64_t *out_ms,
                                  int32_t *out_nanos) {
    if (n != 23 && n != 19 && n != 26 && n != 29) return false;
    if (!field->second_known || !same19(s, field->second_text)) {
        if (!learn_second(field, s)) return false;
    }
    uint64_t fraction = 0, nanos = 0;
    if (n > 19) {
        if (s[19] != '.' || !digits8(s + 20, 3, &fraction)) return false;
        if (n > 23) {
            if (!digits8(s + 23, n - 23, &nanos)) return false;
            if (n == 26) nanos *= 1000;
        }
    }
    *out_ms = field->second_ms + (int64_t)fraction;
    *out_nanos = (int32_t)nanos;
    return true;
}

static void store_null(struct csv_field *field, size_t row) {
    struct column *column = &field->column;
    column->nulls[row] = 1;
    field->has_nulls = true;
    memset((char *)column->data + row * tide__physical_size(column->physical), 0,
           tide__physical_size(column->physical));
}

// By the exact rules.
static bool plain_cell(struct format_parser *parser, struct csv_field *field, const char *s, size_t n, size_t row) {
    enum csv_cell cell = tide__csv_cell(field, (struct str){s, n}, parser->arena, row);
    if (cell == CSV_CELL_NULL) store_null(field, row);
    return cell != CSV_CELL_BAD;
}

// The null literal of nested columns stands for elements.
static bool is_null(const struct csv_options *options, const struct csv_field *field, struct str text) {
    return options->has_null && field->kind != CSV_NESTED && tide__csv_is_null(options, text);
}

static inline bool fast_cell(struct format_parser *parser, struct csv_field *field, const char *s, size_t n,
                             size_t row) {
    if (is_null(&parser->options, field, (struct str){s, n})) {
        store_null(field, row);
        return true;
    }
    struct column *column = &field->column;
    int32_t nanos = 0;
    switch (field->kind) {
    case CSV_INTEGER:
        if (fast_integer(field, s, n, &column->i64[row])) return true;
        break;
    case CSV_DECIMAL:
        if (fast_decimal(field, s, n, &column->i64[row])) return true;
        break;
    case CSV_TIMESTAMP:
        if (fast_timestamp(field, s, n, &column->i64[row], &nanos)) return true;
        break;
    case CSV_TIMESTAMP_WIDE:
        if (fast_timestamp(field, s, n, &column->time[row].ms, &nanos)) {
            column->time[row].nanos = nanos;
            return true;
        }
        break;
    case CSV_INSTANT:
        if (n > 0 && s[n - 1] == 'Z' && fast_timestamp(field, s, n - 1, &column->i64[row], &nanos)) return true;
        break;
    case CSV_STRING: column->str[row] = (struct str){s, n}; return true;
    case CSV_SKIP:
    case CSV_BOOLEAN:
    case CSV_DOUBLE:
    case CSV_FLOAT:
    case CSV_DECIMAL_WIDE:
    case CSV_BYTES:
    case CSV_DATE:
    case CSV_TIME:
    case CSV_INSTANT_WIDE:
    case CSV_NESTED: break;
    }
    return plain_cell(parser, field, s, n, row);
}

// --- the fast row -----------------------------------------------------------------------------------------------

// The row at `start`, if it is a plain one. The scan stands at its first byte. *out_end is behind its line end.
static inline bool fast_row(struct format_parser *parser, struct scan *scan, size_t start, size_t row,
                            size_t *out_end) {
    const char *data = scan->data;
    size_t field_start = start;
    uint32_t last = parser->field_count - 1;
    for (uint32_t f = 0;; f++) {
        while (scan->ends == 0) {
            scan->row_special |= scan->special != 0;
            scan->row_high |= scan->high != 0;
            if (scan->base + 64 >= scan->len) return false;
            scan_load(scan, scan->base + 64);
        }
        size_t bit = (size_t)__builtin_ctzll(scan->ends), at = scan->base + bit;
        scan->ends &= scan->ends - 1;
        bool line_end = data[at] == '\n';
        if (line_end != (f == last)) return false;
        struct csv_field *field = &parser->fields[f];
        size_t end = line_end && at > field_start && data[at - 1] == '\r' ? at - 1 : at;
        if (field->kind != CSV_SKIP && !fast_cell(parser, field, data + field_start, end - field_start, row))
            return false;
        field_start = at + 1;
        if (!line_end) continue;
        uint64_t behind = bit == 63 ? 0 : ~UINT64_C(0) << (bit + 1);
        if (scan->row_special || (scan->special & ~behind) != 0) return false;
        if (scan->row_high || (scan->high & ~behind) != 0) {
            if (!tide__utf8_valid((struct str){data + start, at - start})) return false;
            scan->row_high = false;
        }
        scan->special &= behind;
        scan->high &= behind;
        *out_end = at + 1;
        return true;
    }
}

// --- the slow row, after Jackson's CsvDecoder --------------------------------------------------------------------

static void fault(struct format_parser *parser, size_t place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void fault(struct format_parser *parser, size_t place, const char *format, ...) {
    struct format_fault *out = &parser->out->fault;
    if (out->is_set) return;
    out->is_set = true;
    out->place = place;
    out->hint[0] = '\0';
    va_list args;
    va_start(args, format);
    vsnprintf(out->message, sizeof(out->message), format, args);
    va_end(args);
}

static void fault_hint(struct format_parser *parser, const char *hint) {
    snprintf(parser->out->fault.hint, sizeof(parser->out->fault.hint), "%s", hint);
}

static const char hint_ignore_row[] = "correct the line, or set 'csv.ignore-parse-errors' = 'true' to skip such rows";

// A value as it may stand in a message.
static const char *shown(struct str text, char *buffer, size_t size) {
    size_t len = text.len < 60 ? text.len : 60;
    while (len < text.len && len > 0 && ((unsigned char)text.data[len] & 0xC0) == 0x80) len--;
    snprintf(buffer, size, "\"%.*s%s\"", (int)len, text.data, len < text.len ? "..." : "");
    for (char *c = buffer; *c != '\0'; c++) {
        if ((unsigned char)*c < ' ') *c = '?';
    }
    return buffer;
}

// Skips comments, blank lines and blanks before a row, as Jackson does where comments are allowed.
static size_t skip_comments(const char *data, size_t at, size_t len) {
    while (at < len) {
        if (data[at] == '#') {
            while (at < len && data[at] != '\n' && data[at] != '\r') at++;
        } else if (data[at] == '\n' || data[at] == '\r' || data[at] == ' ') {
            at++;
        } else {
            break;
        }
    }
    return at;
}

// The character behind an escape.
static char unescape(char c) {
    switch (c) {
    case '0': return '\0';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    }
    return c;
}

// Text in pieces: it points into the block until a character must be left out or replaced.
struct text_builder {
    struct str text;
    char *copy;
    size_t room;
};

static void text_add(struct text_builder *builder, struct arena *arena, const char *piece, size_t len) {
    if (builder->copy == NULL && (builder->text.len == 0 || builder->text.data + builder->text.len == piece)) {
        if (builder->text.len == 0) builder->text.data = piece;
        builder->text.len += len;
        return;
    }
    if (builder->copy == NULL || builder->text.len + len > builder->room) {
        builder->room = (builder->text.len + len) * 2 + 32;
        builder->copy = tide__arena_alloc(arena, builder->room);
        memcpy(builder->copy, builder->text.data, builder->text.len);
        builder->text.data = builder->copy;
    }
    memcpy(builder->copy + builder->text.len, piece, len);
    builder->text.len += len;
}

static void text_add_escaped(struct text_builder *builder, struct arena *arena, const char *piece) {
    char c = unescape(*piece);
    if (c == *piece) {
        text_add(builder, arena, piece, 1);
        return;
    }
    char *replaced = tide__arena_alloc(arena, 1);
    *replaced = c;
    // It stands outside the block: a copy begins here.
    if (builder->copy == NULL) {
        builder->room = builder->text.len + 32;
        builder->copy = tide__arena_alloc(arena, builder->room);
        memcpy(builder->copy, builder->text.data, builder->text.len);
        builder->text.data = builder->copy;
    }
    text_add(builder, arena, replaced, 1);
}

// A quoted field whose opening quote is at `at`. Returns the offset of what ends the field (delimiter, line end or len).
static size_t quoted_field(struct format_parser *parser, size_t at, struct str *out) {
    const char *data = parser->block->data;
    size_t len = parser->block->len, open = at;
    const struct csv_options *options = &parser->options;
    struct text_builder builder = {.text = {data + at + 1, 0}};
    for (at++;;) {
        size_t from = at;
        while (at < len && (unsigned char)data[at] != options->quote && (unsigned char)data[at] != options->escape)
            at++;
        if (at > from) text_add(&builder, parser->arena, data + from, at - from);
        if (at == len) {
            fault(parser, open, "a quoted field begins here and is never closed");
            fault_hint(parser, hint_ignore_row);
            break;
        }
        bool escaped = (unsigned char)data[at] != options->quote;
        at++;
        if (escaped) {
            if (at < len) text_add_escaped(&builder, parser->arena, data + at++);
        } else if (at < len && (unsigned char)data[at] == options->quote) {
            text_add(&builder, parser->arena, data + at++, 1);
        } else {
            break;
        }
    }
    *out = builder.text;
    while (at < len && data[at] != options->delimiter && data[at] != '\n' && data[at] != '\r') {
        if ((unsigned char)data[at] > ' ' && !parser->out->fault.is_set) {
            char buffer[80];
            size_t next = at;
            tide__utf8_next((struct str){data, len}, &next);
            fault(parser, at, "%s stands behind a closing quote; expected \"%c\" or the end of the line",
                  shown((struct str){data + at, next - at}, buffer, sizeof(buffer)), options->delimiter);
            fault_hint(parser, "double quotes inside a quoted field, or see 'csv.quote-character' and "
                               "'csv.ignore-parse-errors'");
        }
        at++;
    }
    return at;
}

static size_t unquoted_field(struct format_parser *parser, size_t at, struct str *out) {
    const char *data = parser->block->data;
    size_t len = parser->block->len;
    const struct csv_options *options = &parser->options;
    struct text_builder builder = {.text = {data + at, 0}};
    for (;;) {
        size_t from = at;
        while (at < len && data[at] != options->delimiter && data[at] != '\n' && data[at] != '\r' &&
               (unsigned char)data[at] != options->escape) {
            at++;
        }
        if (at > from) text_add(&builder, parser->arena, data + from, at - from);
        if (at == len || (unsigned char)data[at] != options->escape) break;
        at++;
        if (at == len) {
            fault(parser, at - 1, "the input ends behind an escape character");
            break;
        }
        text_add_escaped(&builder, parser->arena, data + at++);
    }
    *out = builder.text;
    return at;
}

// Cuts the row at `at` into tokens; returns the offset behind its line end and the number of fields.
static size_t tokenize(struct format_parser *parser, size_t at, size_t *out_count) {
    const char *data = parser->block->data;
    size_t len = parser->block->len, count = 0;
    for (;;) {
        struct token token = {.text = {data + at, 0}, .place = at};
        if (at < len && (unsigned char)data[at] == parser->options.quote) {
            at = quoted_field(parser, at, &token.text);
        } else {
            at = unquoted_field(parser, at, &token.text);
        }
        if (count <= parser->field_count) parser->tokens[count] = token;
        count++;
        if (at == len || data[at] != parser->options.delimiter) break;
        at++;
    }
    if (at < len) at += data[at] == '\r' && at + 1 < len && data[at + 1] == '\n' ? 2 : 1;
    *out_count = count;
    return at;
}

static void check_utf8(struct format_parser *parser, size_t from, size_t to) {
    struct str row = {parser->block->data + from, to - from};
    if (tide__utf8_valid(row)) return;
    for (size_t at = 0; at < row.len;) {
        size_t place = at;
        uint32_t c = tide__utf8_next(row, &at);
        if (c != 0xFFFD || (at - place == 3 && memcmp(row.data + place, "\xEF\xBF\xBD", 3) == 0)) continue;
        fault(parser, from + place, "byte 0x%02x is not UTF-8", (unsigned)(unsigned char)row.data[place]);
        fault_hint(parser, "convert the file to UTF-8");
        return;
    }
}

static bool is_blank(struct str text) {
    for (size_t i = 0; i < text.len; i++) {
        if ((unsigned char)text.data[i] > ' ') return false;
    }
    return true;
}

// The number of fields. `end` is the row's, without its line end.
static void check_count(struct format_parser *parser, size_t count, size_t start, size_t end) {
    const char *table = parser->reader->table->name;
    if (count > parser->field_count) {
        const struct token *extra = &parser->tokens[parser->field_count];
        if (count == parser->field_count + 1 && is_blank(extra->text)) return;
        char buffer[80];
        fault(parser, extra->place, "the row has %zu fields, table \"%s\" only %u: %s is too much", count, table,
              parser->field_count, shown(extra->text, buffer, sizeof(buffer)));
        fault_hint(parser, hint_ignore_row);
    } else if (count < parser->reader->read_count && !parser->options.ignore_errors) {
        if (start == end) {
            fault(parser, start, "the line is empty, but a row of table \"%s\" has %u fields", table,
                  parser->field_count);
            fault_hint(parser,
                       "remove the line, or set 'csv.ignore-parse-errors' = 'true' to read what is missing as NULL");
            return;
        }
        fault(parser, end, "the row has %zu %s, table \"%s\" has %u", count, count == 1 ? "field" : "fields", table,
              parser->field_count);
        fault_hint(parser,
                   "correct the line or 'csv.field-delimiter', or set 'csv.ignore-parse-errors' = 'true' to read "
                   "what is missing as NULL");
    }
}

// What a value that does not fit most likely is.
static const char *value_hint(const struct format_parser *parser, const struct csv_field *field, struct str text) {
    bool time = field->type->kind == TYPE_TIMESTAMP || field->type->kind == TYPE_TIMESTAMP_LTZ;
    if (tide__str_ieq_c(text, field->name))
        return "this looks like a header line: remove it (Flink's csv format has no option for one)";
    if (text.len == 0 && !parser->options.has_null)
        return "set 'csv.null-literal' = '' to read empty fields as NULL, or 'csv.ignore-parse-errors' = 'true'";
    if (time && text.len > 10 && text.data[10] == 'T')
        return "a time is written as 2024-01-31 12:00:00[.123], with a blank between date and time";
    if (memchr(text.data, ';', text.len) != NULL || memchr(text.data, '\t', text.len) != NULL ||
        memchr(text.data, '|', text.len) != NULL)
        return "correct the value, or set 'csv.field-delimiter' if fields are separated otherwise";
    return "correct the value, or set 'csv.ignore-parse-errors' = 'true' to read it as NULL";
}

static void bad_value(struct format_parser *parser, const struct csv_field *field, const struct token *token) {
    char buffer[80];
    fault(parser, token->place, "%s is no %s in column \"%s\" (field %u)", shown(token->text, buffer, sizeof(buffer)),
          tide__type_text(parser->arena, field->type), field->name, field->position + 1);
    fault_hint(parser, value_hint(parser, field, token->text));
}

static void convert_tokens(struct format_parser *parser, size_t count, size_t row) {
    for (uint32_t f = 0; f < parser->field_count; f++) {
        struct csv_field *field = &parser->fields[f];
        if (field->kind == CSV_SKIP) continue;
        // The fast parser may have left something there.
        field->column.nulls[row] = 0;
        if (f >= count || is_null(&parser->options, field, parser->tokens[f].text)) {
            store_null(field, row);
        } else if (!plain_cell(parser, field, parser->tokens[f].text.data, parser->tokens[f].text.len, row)) {
            if (!parser->options.ignore_errors) {
                bad_value(parser, field, &parser->tokens[f]);
                return;
            }
            store_null(field, row);
        }
    }
}

static uint64_t count_lines(const char *data, size_t from, size_t to) {
    uint64_t lines = 0;
    for (size_t i = from; i < to; i++) {
        lines += data[i] == '\n' || (data[i] == '\r' && (i + 1 == to || data[i + 1] != '\n'));
    }
    return lines;
}

static void note_skip(struct format_parser *parser, size_t rows) {
    struct format_rows *out = parser->out;
    if (out->skip_count == out->skip_capacity) {
        size_t capacity = out->skip_capacity == 0 ? 16 : out->skip_capacity * 2;
        uint32_t *skips = tide__arena_alloc(parser->arena, capacity * sizeof(*skips));
        if (out->skip_count > 0) memcpy(skips, out->skips, out->skip_count * sizeof(*skips));
        out->skips = skips;
        out->skip_capacity = capacity;
    }
    out->skips[out->skip_count++] = (uint32_t)rows;
}

// The next row takes the place of one that is skipped, and the fast parser sets NULLs only.
static void forget_nulls(struct format_parser *parser, size_t row) {
    for (uint32_t f = 0; f < parser->field_count; f++) {
        if (parser->fields[f].kind != CSV_SKIP) parser->fields[f].column.nulls[row] = 0;
    }
}

// Parses the row at block->at. True if it gave row `row`; else it was skipped, there was none, or the fault is set.
static bool slow_row(struct format_parser *parser, size_t row, size_t *out_end) {
    struct format_block *block = parser->block;
    size_t start = block->at, count = 0;
    if (parser->options.allow_comments) {
        start = skip_comments(block->data, start, block->len);
        block->lines += count_lines(block->data, block->at, start);
        block->at = start;
        if (start == block->len) return false;
    }
    size_t end = tokenize(parser, start, &count);
    size_t text_end = end;
    while (text_end > start && (block->data[text_end - 1] == '\n' || block->data[text_end - 1] == '\r')) text_end--;
    check_utf8(parser, start, end);
    check_count(parser, count, start, text_end);
    if (!parser->out->fault.is_set) convert_tokens(parser, count, row);
    if (parser->out->fault.is_set && !parser->options.ignore_errors) return false;
    block->lines += count_lines(block->data, start, end);
    block->at = end;
    if (parser->out->fault.is_set) {
        parser->out->fault.is_set = false;
        forget_nulls(parser, row);
        note_skip(parser, row);
        return false;
    }
    *out_end = end;
    return true;
}

// --- a piece of a block -----------------------------------------------------------------------------------------

static void begin_columns(struct format_parser *parser, size_t rows_max) {
    struct format_rows *out = parser->out;
    for (uint32_t f = 0; f < parser->field_count; f++) {
        struct csv_field *field = &parser->fields[f];
        if (field->kind == CSV_SKIP) continue;
        field->column = out->columns[field->read];
        field->column.data = tide__arena_alloc(parser->arena, rows_max * tide__physical_size(field->column.physical));
        field->column.nulls = tide__arena_zalloc(parser->arena, rows_max);
        field->has_nulls = false;
    }
    out->row_ends = tide__arena_alloc(parser->arena, rows_max * sizeof(*out->row_ends));
}

static void end_columns(struct format_parser *parser) {
    for (uint32_t f = 0; f < parser->field_count; f++) {
        struct csv_field *field = &parser->fields[f];
        if (field->kind == CSV_SKIP) continue;
        if (!field->has_nulls) field->column.nulls = NULL;
        parser->out->columns[field->read] = field->column;
    }
}

// Rows as long as they are plain ones; returns when `rows` is reached, the block ends or a row is not plain.
static size_t fast_rows(struct format_parser *parser, struct scan *scan, size_t rows) {
    struct format_block *block = parser->block;
    uint32_t *row_ends = parser->out->row_ends;
    size_t at = block->at, first = rows;
    while (rows < parser->rows_max && at < block->len && fast_row(parser, scan, at, rows, &at)) {
        row_ends[rows++] = (uint32_t)at;
    }
    block->lines += rows - first;
    block->at = at;
    return rows;
}

void tide__csv_parse(struct format_parser *parser, struct format_block *block, size_t rows_max, struct arena *arena,
                     struct format_rows *out) {
    assert(block->at <= block->len);
    assert(block->len <= UINT32_MAX);
    parser->block = block;
    parser->arena = arena;
    parser->out = out;
    // A row has at least one byte.
    parser->rows_max = rows_max < block->len - block->at ? rows_max : block->len - block->at;
    out->rows = out->skip_count = out->skip_capacity = 0;
    out->fault.is_set = false;
    begin_columns(parser, parser->rows_max);
    bool fast = parser->options.escape < 0 && !parser->options.allow_comments && parser->field_count > 0;
    struct scan scan = {.data = block->data, .len = block->len, .delimiter = _mm_set1_epi8(parser->options.delimiter)};
    // No valid text holds a byte 0xFF: it stands for "no quote character".
    scan.quote = _mm_set1_epi8((char)(parser->options.quote >= 0 ? parser->options.quote : 0xFF));
    size_t rows = 0;
    while (rows < parser->rows_max && block->at < block->len) {
        if (fast) {
            scan_seek(&scan, block->at);
            rows = fast_rows(parser, &scan, rows);
            if (rows == parser->rows_max || block->at == block->len) break;
        }
        size_t end = 0;
        if (slow_row(parser, rows, &end)) out->row_ends[rows++] = (uint32_t)end;
        if (out->fault.is_set) break;
    }
    out->rows = rows;
    end_columns(parser);
}

// --- readers and parsers ----------------------------------------------------------------------------------------

struct format_parser *tide__csv_parser_new(const struct format_reader *reader) {
    struct format_parser *parser = tide__calloc(1, sizeof(*parser));
    parser->reader = reader;
    parser->options = reader->options;
    parser->field_count = reader->field_count;
    parser->fields = tide__calloc(reader->field_count + 1, sizeof(*parser->fields));
    memcpy(parser->fields, reader->fields, reader->field_count * sizeof(*parser->fields));
    for (uint32_t i = 0; i < reader->field_count; i++) {
        // Elements hold a column too: each thread has its own.
        if (parser->fields[i].kind == CSV_NESTED) (void)tide__csv_nested_init(&parser->fields[i], &reader->options);
    }
    parser->tokens = tide__calloc(reader->field_count + 1, sizeof(*parser->tokens));
    return parser;
}

void tide__csv_parser_free(struct format_parser *parser) {
    if (parser == NULL) return;
    for (uint32_t i = 0; i < parser->field_count; i++) tide__free(parser->fields[i].elements);
    tide__free(parser->fields);
    tide__free(parser->tokens);
    tide__free(parser);
}
