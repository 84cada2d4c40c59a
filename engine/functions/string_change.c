// Strings changed: case, reversal, replacing, padding, repeating.
#include "engine/functions/functions_list.h"
#include "engine/functions/infer.h"
#include "engine/functions/text.h"

#include <locale.h>
#include <wctype.h>

// --- case ----------------------------------------------------------------------------------------------------------

static bool ascii_case(struct str s, bool upper, struct strbuf *out) {
    char *to = tide__strbuf_reserve(out, s.len);
    char first = upper ? 'a' : 'A', last = upper ? 'z' : 'Z';
    for (size_t i = 0; i < s.len; i++) {
        if ((unsigned char)s.data[i] >= 0x80) return false;
        to[i] = s.data[i] >= first && s.data[i] <= last ? (char)(s.data[i] ^ 0x20) : s.data[i];
    }
    out->len += s.len;
    return true;
}

// One character for one, but for the German sharp s, which becomes two.
static void unicode_case(struct str s, bool upper, struct strbuf *out) {
    locale_t locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    for (size_t at = 0; at < s.len;) {
        uint32_t c = tide__utf8_next(s, &at);
        if (upper && c == 0xDF) {
            tide__strbuf_append_c(out, "SS");
        } else if (locale == (locale_t)0) {
            tide__text_put_utf8(c, out);
        } else {
            tide__text_put_utf8((uint32_t)(upper ? towupper_l(c, locale) : towlower_l(c, locale)), out);
        }
    }
    if (locale != (locale_t)0) freelocale(locale);
}

static bool make_upper(const struct expr *call, const struct column *args, size_t row, struct strbuf *out) {
    if (!ascii_case(args[0].str[row], true, out)) unicode_case(args[0].str[row], true, out);
    return true;
}

static bool make_lower(const struct expr *call, const struct column *args, size_t row, struct strbuf *out) {
    if (!ascii_case(args[0].str[row], false, out)) unicode_case(args[0].str[row], false, out);
    return true;
}

// Words of ASCII letters and digits get a capital and small letters; other characters separate words, as in Flink.
static bool make_initcap(const struct expr *call, const struct column *args, size_t row, struct strbuf *out) {
    struct str s = args[0].str[row];
    bool start = true;
    for (size_t i = 0; i < s.len; i++) {
        char c = s.data[i];
        bool small = c >= 'a' && c <= 'z', capital = c >= 'A' && c <= 'Z', digit = c >= '0' && c <= '9';
        if ((start && small) || (!start && capital)) c = (char)(c ^ 0x20);
        start = !(small || capital || digit);
        tide__strbuf_append_char(out, c);
    }
    return true;
}

// --- other changes -------------------------------------------------------------------------------------------------

static bool make_reverse(const struct expr *call, const struct column *args, size_t row, struct strbuf *out) {
    struct str s = args[0].str[row];
    char *to = tide__strbuf_reserve(out, s.len) + s.len;
    for (size_t at = 0; at < s.len;) {
        size_t begin = at;
        tide__utf8_next(s, &at);
        to -= at - begin;
        memcpy(to, s.data + begin, at - begin);
    }
    out->len += s.len;
    return true;
}

static bool make_replace(const struct expr *call, const struct column *args, size_t row, struct strbuf *out) {
    struct str s = args[0].str[row], from = args[1].str[row], to = args[2].str[row];
    if (from.len == 0) {  // Java puts the new text between all characters
        for (size_t at = 0; at < s.len;) {
            size_t begin = at;
            tide__strbuf_append_str(out, to);
            tide__utf8_next(s, &at);
            tide__strbuf_append(out, s.data + begin, at - begin);
        }
        tide__strbuf_append_str(out, to);
        return true;
    }
    for (size_t at = 0;;) {
        size_t hit = tide__text_find(s, from, at);
        size_t end = hit == SIZE_MAX ? s.len : hit;
        tide__strbuf_append(out, s.data + at, end - at);
        if (hit == SIZE_MAX) return true;
        tide__strbuf_append_str(out, to);
        at = hit + from.len;
    }
}

static bool pad(struct str s, int64_t wanted, struct str fill, bool left, struct strbuf *out) {
    if (wanted < 0 || fill.len == 0 || wanted > INT32_MAX) return false;
    int64_t have = tide__text_units(s);
    if (have >= wanted) {
        tide__text_put_units(s, 0, wanted, out);
        return true;
    }
    if (!left) tide__strbuf_append_str(out, s);
    int64_t missing = wanted - have, fill_length = tide__text_units(fill);
    for (; missing >= fill_length; missing -= fill_length) tide__strbuf_append_str(out, fill);
    tide__text_put_units(fill, 0, missing, out);
    if (left) tide__strbuf_append_str(out, s);
    return true;
}

static bool make_lpad(const struct expr *call, const struct column *args, size_t row, struct strbuf *out) {
    return pad(args[0].str[row], args[1].i64[row], args[2].str[row], true, out);
}

static bool make_rpad(const struct expr *call, const struct column *args, size_t row, struct strbuf *out) {
    return pad(args[0].str[row], args[1].i64[row], args[2].str[row], false, out);
}

static bool make_repeat(const struct expr *call, const struct column *args, size_t row, struct strbuf *out) {
    for (int64_t i = 0; i < args[1].i64[row] && args[0].str[row].len > 0; i++) {
        tide__strbuf_append_str(out, args[0].str[row]);
    }
    return true;
}

static bool make_overlay(const struct expr *call, const struct column *args, size_t row, struct strbuf *out) {
    struct str s = args[0].str[row], with = args[1].str[row];
    int64_t start = args[2].i64[row], length = tide__text_units(s);
    int64_t replaced = call->arg_count > 3 ? args[3].i64[row] : tide__text_units(with);
    if (start <= 0 || start > length) {
        tide__strbuf_append_str(out, s);
        return true;
    }
    tide__text_put_units(s, 0, start - 1, out);
    tide__strbuf_append_str(out, with);
    // A length of 0 drops the rest: Flink does.
    if (replaced > 0 && start + replaced <= length) tide__text_put_units(s, start - 1 + replaced, length, out);
    return true;
}

// The character with index `index` (from 0) of s; empty if there is none.
static struct str character(struct str s, size_t index) {
    size_t at = tide__text_prefix(s, (int64_t)index), end = at;
    if (at < s.len) tide__utf8_next(s, &end);
    return (struct str){s.data + at, end - at};
}

// A NULL of characters is none.
static bool make_translate(const struct expr *call, const struct column *args, size_t row, struct strbuf *out) {
    if (tide__column_is_null(&args[0], row)) return false;
    struct str s = args[0].str[row], from = {"", 0}, to = {"", 0};
    if (!tide__column_is_null(&args[1], row)) from = args[1].str[row];
    if (!tide__column_is_null(&args[2], row)) to = args[2].str[row];
    for (size_t at = 0; at < s.len;) {
        size_t begin = at, index = 0, from_at = 0;
        tide__utf8_next(s, &at);
        struct str c = {s.data + begin, at - begin};
        bool mapped = false;
        while (from_at < from.len && !mapped) {
            size_t from_begin = from_at;
            tide__utf8_next(from, &from_at);
            mapped = tide__str_eq(c, (struct str){from.data + from_begin, from_at - from_begin});
            index += !mapped;
        }
        tide__strbuf_append_str(out, mapped ? character(to, index) : c);
    }
    return true;
}

static bool make_chr(const struct expr *call, const struct column *args, size_t row, struct strbuf *out) {
    int64_t n = args[0].i64[row];
    if (n >= 0) tide__text_put_utf8((uint32_t)(n & 0xFF), out);
    return true;
}

static bool make_bin(const struct expr *call, const struct column *args, size_t row, struct strbuf *out) {
    uint64_t v = (uint64_t)args[0].i64[row];
    int bits = v == 0 ? 1 : 64 - __builtin_clzll(v);
    while (bits-- > 0) tide__strbuf_append_char(out, v >> bits & 1 ? '1' : '0');
    return true;
}

static bool make_hex(const struct expr *call, const struct column *args, size_t row, struct strbuf *out) {
    if (args[0].physical == PHYSICAL_I64) {
        tide__strbuf_printf(out, "%llX", (unsigned long long)args[0].i64[row]);
        return true;
    }
    struct str s = args[0].str[row];
    for (size_t i = 0; i < s.len; i++) tide__strbuf_printf(out, "%02X", (unsigned char)s.data[i]);
    return true;
}

// --- table ---------------------------------------------------------------------------------------------------------

#define INFER_STRING(name, classes, nullable)                                                                          \
    static tide_status name(struct infer_context *ctx, struct expr *call, tide_error *err) {                           \
        TIDE_TRY(tide__infer_args(ctx, call, classes, err));                                                           \
        tide__infer_result(ctx, call, TYPE_VARCHAR, nullable);                                                         \
        return TIDE_OK;                                                                                                \
    }
INFER_STRING(infer_reverse, "S", true)
INFER_STRING(infer_replace, "SSS", tide__infer_any_nullable(call))
INFER_STRING(infer_pad, "SIS", tide__infer_any_nullable(call))
INFER_STRING(infer_translate, "SSS", call->args[0]->type->nullable)
INFER_STRING(infer_repeat, "SI", tide__infer_any_nullable(call))
INFER_STRING(infer_chr, "I", true)
INFER_STRING(infer_bin, "I", tide__infer_any_nullable(call))

// As long as both together.
static tide_status infer_overlay(struct infer_context *ctx, struct expr *call, tide_error *err) {
    TIDE_TRY(tide__infer_args(ctx, call, "SSII", err));
    int64_t length = (int64_t)call->args[0]->type->precision + call->args[1]->type->precision;
    tide__infer_result_sized(ctx, call, TYPE_VARCHAR, tide__infer_any_nullable(call),
                             length > TYPE_STRING_LENGTH ? TYPE_STRING_LENGTH : (int)length, 0);
    return TIDE_OK;
}

static tide_status infer_same(struct infer_context *ctx, struct expr *call, tide_error *err) {
    TIDE_TRY(tide__infer_args(ctx, call, "S", err));
    tide__infer_result_like(ctx, call, call->args[0]->type, tide__infer_any_nullable(call));
    return TIDE_OK;
}

static tide_status infer_hex(struct infer_context *ctx, struct expr *call, tide_error *err) {
    bool number = tide__type_is_integer(call->args[0]->type);
    TIDE_TRY(tide__infer_args(ctx, call, number ? "I" : "S", err));
    tide__infer_result(ctx, call, TYPE_VARCHAR, tide__infer_any_nullable(call));
    return TIDE_OK;
}

#define FUNCTION(symbol, sql, least, most, infer_, signature_, summary_, example_, result_)                            \
    static tide_status run_##symbol(struct eval_context *ctx, const struct expr *call, const struct column *args,      \
                                    struct selection rows, struct column *out, tide_error *err) {                      \
        return tide__text_rows(ctx, call, args, rows, make_##symbol, out);                                             \
    }                                                                                                                  \
    static const struct function_kernel kernel_##symbol = {.null_if_any = make_##symbol != make_translate,             \
                                                           .run = run_##symbol};                                       \
    const struct function tide__fn_##symbol = {                                                                        \
        .name = sql,                                                                                                   \
        .arg_min = least,                                                                                              \
        .arg_max = most,                                                                                               \
        .infer = infer_,                                                                                               \
        .kernel = &kernel_##symbol,                                                                                    \
        .signature = signature_,                                                                                       \
        .summary = summary_,                                                                                           \
        .example = example_,                                                                                           \
        .example_result = result_,                                                                                     \
    }
FUNCTION(upper, "UPPER", 1, 1, infer_same, "UPPER(STRING)", "In capital letters.", "UPPER('abc')", "ABC");
FUNCTION(lower, "LOWER", 1, 1, infer_same, "LOWER(STRING)", "In small letters.", "LOWER('ABC')", "abc");
FUNCTION(initcap, "INITCAP", 1, 1, infer_same, "INITCAP(STRING)", "Each word with a capital.", "INITCAP('a bc')",
         "A Bc");
FUNCTION(reverse, "REVERSE", 1, 1, infer_reverse, "REVERSE(STRING)", "Backwards.", "REVERSE('abc')", "cba");
FUNCTION(replace, "REPLACE", 3, 3, infer_replace, "REPLACE(STRING, part, new)", "With all parts replaced.",
         "REPLACE('hello', 'l', 'L')", "heLLo");
FUNCTION(lpad, "LPAD", 3, 3, infer_pad, "LPAD(STRING, length, fill)", "Filled on the left, or cut, to a length.",
         "LPAD('5', 3, '0')", "005");
FUNCTION(rpad, "RPAD", 3, 3, infer_pad, "RPAD(STRING, length, fill)", "Filled on the right, or cut, to a length.",
         "RPAD('5', 3, '0')", "500");
FUNCTION(repeat, "REPEAT", 2, 2, infer_repeat, "REPEAT(STRING, times)", "Several times in a row.", "REPEAT('ab', 2)",
         "abab");
FUNCTION(overlay, "OVERLAY", 3, 4, infer_overlay, "OVERLAY(STRING PLACING new FROM start [FOR length])",
         "With a part overwritten.", "OVERLAY('hello' PLACING 'XX' FROM 2)", "hXXlo");
FUNCTION(translate, "TRANSLATE", 3, 3, infer_translate, "TRANSLATE(STRING, characters, new)",
         "With characters replaced one by one; those without a new one are left out.", "TRANSLATE('hello', 'lo', 'L0')",
         "heLL0");
FUNCTION(chr, "CHR", 1, 1, infer_chr, "CHR(integer)", "The character with this code (modulo 256).", "CHR(65)", "A");
FUNCTION(bin, "BIN", 1, 1, infer_bin, "BIN(integer)", "The number in binary.", "BIN(4)", "100");
FUNCTION(hex, "HEX", 1, 1, infer_hex, "HEX(integer or STRING)", "The number, or the bytes, in hexadecimal.", "HEX(255)",
         "FF");
