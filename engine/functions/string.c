// Parts of strings, lengths, positions, trimming, joining.
//
// Positions and lengths count characters (code points). A result that is a part of its argument points into it.
#include "engine/functions/functions_list.h"
#include "engine/functions/infer.h"
#include "engine/functions/text.h"

// --- lengths and positions -----------------------------------------------------------------------------------------

static bool is_ascii(struct str s) {
    unsigned char any = 0;
    for (size_t i = 0; i < s.len; i++) any |= (unsigned char)s.data[i];
    return any < 0x80;
}

static int64_t length_of(struct str s) {
    return (int64_t)(is_ascii(s) ? s.len : tide__utf8_length(s));
}

static tide_status run_char_length(struct eval_context *ctx, const struct expr *call, const struct column *args,
                                   struct selection rows, struct column *out, tide_error *err) {
    EACH_ROW(rows, i, out->i64[i] = length_of(args[0].str[i]););
    return TIDE_OK;
}

// Position of the nth `part` that begins at the character `-start` from the end or before, searching backwards.
static int64_t position_backwards(struct str s, struct str part, int64_t start, int64_t nth) {
    int64_t last = length_of(s) + start + 1 - length_of(part) + 1;  // the first candidate, as a position
    for (int64_t at = last; at >= 1; at--) {
        size_t byte = tide__text_prefix(s, at - 1);
        if (s.len - byte < part.len || memcmp(s.data + byte, part.data, part.len) != 0) continue;
        if (--nth == 0) return at;
    }
    return 0;
}

// Character position of the nth `part` from character `start` (1-based) on; 0 if there is none.
static int64_t position_of(struct str s, struct str part, int64_t start, int64_t nth) {
    if (start < 0 && nth > 0) return position_backwards(s, part, start, nth);
    if (start < 1 || nth < 1) return 0;
    size_t at = tide__text_prefix(s, start - 1);
    if (start > 1 && at == s.len && length_of(s) < start - 1) return 0;
    for (;; at++) {
        at = tide__text_find(s, part, at);
        if (at == SIZE_MAX) return 0;
        if (--nth == 0) return length_of((struct str){s.data, at}) + 1;
    }
}

static int64_t optional(const struct expr *call, const struct column *args, uint32_t index, size_t row) {
    return index < call->arg_count ? args[index].i64[row] : 1;
}

static tide_status run_position(struct eval_context *ctx, const struct expr *call, const struct column *args,
                                struct selection rows, struct column *out, tide_error *err) {
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth);
        int64_t start = optional(call, args, 2, i);
        out->i64[i] = position_of(args[1].str[i], args[0].str[i], start < 1 ? 1 : start, 1);
    }
    return TIDE_OK;
}

static tide_status run_instr(struct eval_context *ctx, const struct expr *call, const struct column *args,
                             struct selection rows, struct column *out, tide_error *err) {
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth);
        if (tide__column_is_null(&args[0], i) || tide__column_is_null(&args[1], i)) {
            tide__put_null(out, i);
            continue;
        }
        for (uint32_t a = 2; a < call->arg_count; a++) {
            if (!tide__column_is_null(&args[a], i) && (a < 3 || args[a].i64[i] > 0)) continue;
            return tide__fail_at(err, TIDE_ERR_RUNTIME, call->args[a]->pos, "%s of INSTR must be %s",
                                 a == 2 ? "the start" : "the number of the occurrence",
                                 a == 2 ? "a number, not NULL" : "positive");
        }
        out->i64[i] = position_of(args[0].str[i], args[1].str[i], optional(call, args, 2, i),
                                  optional(call, args, 3, i));
    }
    return TIDE_OK;
}

static tide_status run_startswith(struct eval_context *ctx, const struct expr *call, const struct column *args,
                                  struct selection rows, struct column *out, tide_error *err) {
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth);
        struct str s = args[0].str[i];
        struct str p = args[1].str[i];
        out->bools[i] = p.len <= s.len && (p.len == 0 || memcmp(s.data, p.data, p.len) == 0);
    }
    return TIDE_OK;
}

static tide_status run_endswith(struct eval_context *ctx, const struct expr *call, const struct column *args,
                                struct selection rows, struct column *out, tide_error *err) {
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth);
        struct str s = args[0].str[i];
        struct str p = args[1].str[i];
        out->bools[i] = p.len <= s.len && (p.len == 0 || memcmp(s.data + s.len - p.len, p.data, p.len) == 0);
    }
    return TIDE_OK;
}

// The first byte, signed as Java's.
static tide_status run_ascii(struct eval_context *ctx, const struct expr *call, const struct column *args,
                             struct selection rows, struct column *out, tide_error *err) {
    EACH_ROW(rows, i, struct str s = args[0].str[i]; out->i64[i] = s.len == 0 ? 0 : (signed char)s.data[0];);
    return TIDE_OK;
}

// --- parts ---------------------------------------------------------------------------------------------------------

// SUBSTRING: a negative start counts from the end, 0 is 1.
static struct str part_of(struct str s, int64_t start, int64_t length) {
    int64_t count = length_of(s);
    if (start > 0) {
        start--;
    } else if (start < 0) {
        start += count;
    }
    if (start < 0 || start >= count) return (struct str){s.data, 0};
    size_t from = tide__text_prefix(s, start);
    struct str rest = {s.data + from, s.len - from};
    if (length < count - start) rest.len = tide__text_prefix(rest, length);
    return rest;
}

static tide_status run_substring(struct eval_context *ctx, const struct expr *call, const struct column *args,
                                 struct selection rows, struct column *out, tide_error *err) {
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth);
        int64_t length = call->arg_count > 2 ? args[2].i64[i] : INT64_MAX;
        if (length < 0) {
            tide__put_null(out, i);
        } else {
            out->str[i] = part_of(args[0].str[i], args[1].i64[i], length);
        }
    }
    return TIDE_OK;
}

static tide_status run_left(struct eval_context *ctx, const struct expr *call, const struct column *args,
                            struct selection rows, struct column *out, tide_error *err) {
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth);
        struct str s = args[0].str[i];
        s.len = tide__text_prefix(s, args[1].i64[i]);
        out->str[i] = s;
    }
    return TIDE_OK;
}

static tide_status run_right(struct eval_context *ctx, const struct expr *call, const struct column *args,
                             struct selection rows, struct column *out, tide_error *err) {
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth);
        struct str s = args[0].str[i];
        int64_t wanted = args[1].i64[i] < 0 ? 0 : args[1].i64[i];
        size_t skip = tide__text_prefix(s, length_of(s) - wanted);
        out->str[i] = (struct str){s.data + skip, s.len - skip};
    }
    return TIDE_OK;
}

// True if the character s[from, to) is one of `set`.
static bool in_set(struct str s, size_t from, size_t to, struct str set) {
    for (size_t at = 0; at < set.len;) {
        size_t begin = at;
        tide__utf8_next(set, &at);
        if (at - begin == to - from && memcmp(set.data + begin, s.data + from, to - from) == 0) return true;
    }
    return false;
}

static struct str trim(struct str s, struct str set, bool left, bool right) {
    while (left && s.len > 0) {
        size_t end = 0;
        tide__utf8_next(s, &end);
        if (!in_set(s, 0, end, set)) break;
        s.data += end;
        s.len -= end;
    }
    while (right && s.len > 0) {
        size_t begin = s.len - 1;
        while (begin > 0 && ((unsigned char)s.data[begin] & 0xC0) == 0x80) begin--;
        if (!in_set(s, begin, s.len, set)) break;
        s.len = begin;
    }
    return s;
}

static tide_status trim_rows(const struct expr *call, const struct column *args, struct selection rows, bool left,
                             bool right, struct column *out) {
    EACH_ROW(rows, i, struct str set = call->arg_count > 1 ? args[1].str[i] : STR_LIT(" ");
             out->str[i] = trim(args[0].str[i], set, left, right););
    return TIDE_OK;
}

static tide_status run_trim(struct eval_context *ctx, const struct expr *call, const struct column *args,
                            struct selection rows, struct column *out, tide_error *err) {
    return trim_rows(call, args, rows, true, true, out);
}

static tide_status run_ltrim(struct eval_context *ctx, const struct expr *call, const struct column *args,
                             struct selection rows, struct column *out, tide_error *err) {
    return trim_rows(call, args, rows, true, false, out);
}

static tide_status run_rtrim(struct eval_context *ctx, const struct expr *call, const struct column *args,
                             struct selection rows, struct column *out, tide_error *err) {
    return trim_rows(call, args, rows, false, true, out);
}

// The nth part between separators, from 0.
static tide_status run_split_index(struct eval_context *ctx, const struct expr *call, const struct column *args,
                                   struct selection rows, struct column *out, tide_error *err) {
    bool code = args[1].physical == PHYSICAL_I64;
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth);
        struct str rest = args[0].str[i];
        int64_t index = args[2].i64[i];
        char c = code ? (char)args[1].i64[i] : 0;
        struct str separator = code ? (struct str){&c, 1} : args[1].str[i];
        if (separator.len == 0) separator = STR_LIT(" ");
        bool found = index >= 0 && rest.len > 0;
        size_t at = 0;
        for (; found && index > 0; index--) {
            at = tide__text_find(rest, separator, 0);
            found = at != SIZE_MAX;
            if (!found) break;
            rest.data += at + separator.len;
            rest.len -= at + separator.len;
        }
        if (!found) {
            tide__put_null(out, i);
            continue;
        }
        at = tide__text_find(rest, separator, 0);
        if (at != SIZE_MAX) rest.len = at;
        out->str[i] = rest;
    }
    return TIDE_OK;
}

// --- joining -------------------------------------------------------------------------------------------------------

static tide_status run_concat(struct eval_context *ctx, const struct expr *call, const struct column *args,
                              struct selection rows, struct column *out, tide_error *err) {
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth);
        size_t len = 0;
        for (uint32_t a = 0; a < call->arg_count; a++) len += args[a].str[i].len;
        char *text = tide__arena_alloc(ctx->scratch, len);
        size_t at = 0;
        for (uint32_t a = 0; a < call->arg_count; a++) {
            if (args[a].str[i].len > 0) memcpy(text + at, args[a].str[i].data, args[a].str[i].len);
            at += args[a].str[i].len;
        }
        out->str[i] = (struct str){text, len};
    }
    return TIDE_OK;
}

static bool make_concat_ws(const struct expr *call, const struct column *args, size_t row, struct strbuf *out) {
    if (tide__column_is_null(&args[0], row)) return false;
    bool first = true;
    for (uint32_t a = 1; a < call->arg_count; a++) {
        if (tide__column_is_null(&args[a], row)) continue;
        if (!first) tide__strbuf_append_str(out, args[0].str[row]);
        tide__strbuf_append_str(out, args[a].str[row]);
        first = false;
    }
    return true;
}

static tide_status run_concat_ws(struct eval_context *ctx, const struct expr *call, const struct column *args,
                                 struct selection rows, struct column *out, tide_error *err) {
    return tide__text_rows(ctx, call, args, rows, make_concat_ws, out);
}

// ELT(n, a, b, ...): the nth of the rest; NULL if there is none.
static tide_status run_elt(struct eval_context *ctx, const struct expr *call, const struct column *args,
                           struct selection rows, struct column *out, tide_error *err) {
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth);
        int64_t n = tide__column_is_null(&args[0], i) ? 0 : args[0].i64[i];
        if (n < 1 || n >= call->arg_count || tide__column_is_null(&args[n], i)) {
            tide__put_null(out, i);
        } else {
            out->str[i] = args[n].str[i];
        }
    }
    return TIDE_OK;
}

// --- types ---------------------------------------------------------------------------------------------------------

#define INFER_RESULT(name, classes, kind)                                                                              \
    static tide_status name(struct infer_context *ctx, struct expr *call, tide_error *err) {                           \
        TIDE_TRY(tide__infer_args(ctx, call, classes, err));                                                           \
        tide__infer_result(ctx, call, kind, tide__infer_any_nullable(call));                                           \
        return TIDE_OK;                                                                                                \
    }
INFER_RESULT(infer_length, "S", TYPE_INT)
INFER_RESULT(infer_position, "SSII", TYPE_INT)

INFER_RESULT(infer_strings, "S*", TYPE_VARCHAR)

static tide_status infer_affix(struct infer_context *ctx, struct expr *call, tide_error *err) {
    TIDE_TRY(tide__infer_args(ctx, call, tide__infer_matches(call, "YY") ? "YY" : "SS", err));
    tide__infer_result(ctx, call, TYPE_BOOLEAN, tide__infer_any_nullable(call));
    return TIDE_OK;
}

// The first argument's type, as VARCHAR.
static void varying(struct infer_context *ctx, struct expr *call, bool nullable) {
    const struct type *type = call->args[0]->type;
    tide__infer_result_sized(ctx, call, TYPE_VARCHAR, nullable, type->precision, 0);
}

static tide_status infer_part(struct infer_context *ctx, struct expr *call, tide_error *err) {
    TIDE_TRY(tide__infer_args(ctx, call, "SII", err));
    varying(ctx, call, true);
    return TIDE_OK;
}

static tide_status infer_trim(struct infer_context *ctx, struct expr *call, tide_error *err) {
    TIDE_TRY(tide__infer_args(ctx, call, "SS", err));
    varying(ctx, call, tide__infer_any_nullable(call));
    return TIDE_OK;
}

static tide_status infer_btrim(struct infer_context *ctx, struct expr *call, tide_error *err) {
    TIDE_TRY(tide__infer_args(ctx, call, "SS", err));
    tide__infer_result(ctx, call, TYPE_VARCHAR, tide__infer_any_nullable(call));
    return TIDE_OK;
}

static tide_status infer_split_index(struct infer_context *ctx, struct expr *call, tide_error *err) {
    bool code = tide__type_is_integer(call->args[1]->type);
    TIDE_TRY(tide__infer_args(ctx, call, code ? "SII" : "SSI", err));
    tide__infer_result(ctx, call, TYPE_VARCHAR, true);
    return TIDE_OK;
}

// a || b: CHAR if both are, else VARCHAR, of the summed length.
static tide_status infer_concat(struct infer_context *ctx, struct expr *call, tide_error *err) {
    bool bytes = tide__infer_matches(call, "YY") && !tide__infer_matches(call, "SS");
    TIDE_TRY(tide__infer_args(ctx, call, bytes ? "YY" : "SS", err));
    const struct type *a = call->args[0]->type, *b = call->args[1]->type;
    enum type_kind fixed = bytes ? TYPE_BINARY : TYPE_CHAR, open = bytes ? TYPE_VARBINARY : TYPE_VARCHAR;
    int64_t length = (int64_t)a->precision + b->precision;
    if (length > TYPE_STRING_LENGTH) length = TYPE_STRING_LENGTH;
    bool both = a->kind == fixed && b->kind == fixed;
    tide__infer_result_sized(ctx, call, both ? fixed : open, tide__infer_any_nullable(call), (int)length, 0);
    return TIDE_OK;
}

static tide_status infer_elt(struct infer_context *ctx, struct expr *call, tide_error *err) {
    TIDE_TRY(tide__infer_args(ctx, call, tide__infer_matches(call, "IY*") ? "IY*" : "IS*", err));
    int64_t index = 0;
    if (tide__infer_constant_integer(ctx, call->args[0], &index) && index < 0) {
        return tide__fail_at(err, TIDE_ERR_VALIDATE, call->args[0]->pos, "the index of ELT must not be negative");
    }
    const struct type *common = NULL;
    TIDE_TRY(tide__infer_common(ctx, call, 1, 1, &common, err));
    tide__infer_result_like(ctx, call, common, true);
    return TIDE_OK;
}

// --- table ---------------------------------------------------------------------------------------------------------

#define KERNEL(name) static const struct function_kernel kernel_##name = {.null_if_any = true, .run = run_##name}
KERNEL(char_length);
KERNEL(position);
KERNEL(startswith);
KERNEL(endswith);
KERNEL(ascii);
KERNEL(substring);
KERNEL(left);
KERNEL(right);
KERNEL(trim);
KERNEL(ltrim);
KERNEL(rtrim);
KERNEL(split_index);
KERNEL(concat);
static const struct function_kernel kernel_instr = {.run = run_instr};
static const struct function_kernel kernel_concat_ws = {.run = run_concat_ws};
static const struct function_kernel kernel_elt = {.run = run_elt};

#define FUNCTION(symbol, sql, least, most, infer_, kernel_, signature_, summary_, example_, result_)                   \
    const struct function tide__fn_##symbol = {                                                                        \
        .name = sql,                                                                                                   \
        .arg_min = least,                                                                                              \
        .arg_max = most,                                                                                               \
        .infer = infer_,                                                                                               \
        .kernel = &kernel_,                                                                                            \
        .signature = signature_,                                                                                       \
        .summary = summary_,                                                                                           \
        .example = example_,                                                                                           \
        .example_result = result_,                                                                                     \
    }
FUNCTION(char_length, "CHAR_LENGTH", 1, 1, infer_length, kernel_char_length, "CHAR_LENGTH(STRING)",
         "The number of characters.", "CHAR_LENGTH('abc')", "3");
FUNCTION(character_length, "CHARACTER_LENGTH", 1, 1, infer_length, kernel_char_length, "CHARACTER_LENGTH(STRING)",
         "The number of characters.", "CHARACTER_LENGTH('abc')", "3");
FUNCTION(position, "POSITION", 2, 3, infer_position, kernel_position, "POSITION(part IN STRING)",
         "Where a part begins, from 1; 0 if it is not there.", "POSITION('lo' IN 'hello')", "4");
FUNCTION(locate, "LOCATE", 2, 3, infer_position, kernel_position, "LOCATE(part, STRING[, start])",
         "Where a part begins, from 1; 0 if it is not there.", "LOCATE('l', 'hello', 4)", "4");
FUNCTION(instr, "INSTR", 2, 4, infer_position, kernel_instr, "INSTR(STRING, part[, start[, nth]])",
         "Where a part begins, from 1; 0 if it is not there.", "INSTR('hello', 'l')", "3");
FUNCTION(startswith, "STARTSWITH", 2, 2, infer_affix, kernel_startswith, "STARTSWITH(STRING, part)",
         "Whether the string begins with a part.", "STARTSWITH('hello', 'he')", "TRUE");
FUNCTION(endswith, "ENDSWITH", 2, 2, infer_affix, kernel_endswith, "ENDSWITH(STRING, part)",
         "Whether the string ends with a part.", "ENDSWITH('hello', 'lo')", "TRUE");
FUNCTION(ascii, "ASCII", 1, 1, infer_length, kernel_ascii, "ASCII(STRING)", "The first byte as a number.", "ASCII('A')",
         "65");
FUNCTION(substring, "SUBSTRING", 2, 3, infer_part, kernel_substring, "SUBSTRING(STRING, start[, length])",
         "A part, from 1; a negative start counts from the end.", "SUBSTRING('hello', 2, 3)", "ell");
FUNCTION(substr, "SUBSTR", 2, 3, infer_part, kernel_substring, "SUBSTR(STRING, start[, length])",
         "A part, from 1; a negative start counts from the end.", "SUBSTR('hello', -3)", "llo");
FUNCTION(left, "LEFT", 2, 2, infer_part, kernel_left, "LEFT(STRING, length)", "The first characters.",
         "LEFT('hello', 2)", "he");
FUNCTION(right, "RIGHT", 2, 2, infer_part, kernel_right, "RIGHT(STRING, length)", "The last characters.",
         "RIGHT('hello', 2)", "lo");
FUNCTION(trim, "TRIM", 1, 2, infer_trim, kernel_trim, "TRIM([BOTH characters FROM] STRING)",
         "Without blanks or other characters at both ends.", "TRIM('  a ')", "a");
FUNCTION(trim_both, "TRIM_BOTH", 1, 2, infer_trim, kernel_trim, "TRIM([BOTH characters FROM] STRING)",
         "Without blanks or other characters at both ends.", "TRIM(BOTH 'x' FROM 'xax')", "a");
FUNCTION(trim_leading, "TRIM_LEADING", 1, 2, infer_trim, kernel_ltrim, "TRIM(LEADING [characters] FROM STRING)",
         "Without blanks or other characters at the beginning.", "TRIM(LEADING 'x' FROM 'xax')", "ax");
FUNCTION(trim_trailing, "TRIM_TRAILING", 1, 2, infer_trim, kernel_rtrim, "TRIM(TRAILING [characters] FROM STRING)",
         "Without blanks or other characters at the end.", "TRIM(TRAILING 'x' FROM 'xax')", "xa");
FUNCTION(ltrim, "LTRIM", 1, 2, infer_trim, kernel_ltrim, "LTRIM(STRING[, characters])",
         "Without blanks or other characters at the beginning.", "LTRIM('  a')", "a");
FUNCTION(rtrim, "RTRIM", 1, 2, infer_trim, kernel_rtrim, "RTRIM(STRING[, characters])",
         "Without blanks or other characters at the end.", "RTRIM('a  ')", "a");
FUNCTION(btrim, "BTRIM", 1, 2, infer_btrim, kernel_trim, "BTRIM(STRING[, characters])",
         "Without blanks or other characters at both ends.", "BTRIM('xax', 'x')", "a");
FUNCTION(split_index, "SPLIT_INDEX", 3, 3, infer_split_index, kernel_split_index,
         "SPLIT_INDEX(STRING, separator, index)", "The part with this index, from 0, between separators.",
         "SPLIT_INDEX('a-b-c', '-', 1)", "b");
FUNCTION(concat_operator, "||", 2, 2, infer_concat, kernel_concat, "STRING || STRING", "Joins two strings.",
         "'a' || 'b'", "ab");
FUNCTION(concat, "CONCAT", 1, UINT8_MAX, infer_strings, kernel_concat, "CONCAT(STRING, ...)",
         "Joins strings; NULL if one is NULL.", "CONCAT('a', 'b', 'c')", "abc");
FUNCTION(concat_ws, "CONCAT_WS", 1, UINT8_MAX, infer_strings, kernel_concat_ws, "CONCAT_WS(separator, STRING, ...)",
         "Joins strings with a separator, without NULLs.", "CONCAT_WS('-', 'a', 'b')", "a-b");
FUNCTION(elt, "ELT", 2, UINT8_MAX, infer_elt, kernel_elt, "ELT(index, STRING, ...)",
         "The string with this index, from 1.", "ELT(2, 'a', 'b')", "b");
