// PRINTF: Java's String.format over Flink's values.
//
// What java.util.Formatter throws for (a conversion that does not fit the value, a missing argument, bad flags) makes the
// result NULL. Values are formatted as Flink holds them: a DATE is a number of days, a DECIMAL no number for %f.
#include "engine/functions/functions_list.h"
#include "engine/functions/infer.h"
#include "engine/functions/text.h"

#include "base/decimal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct spec {
    int64_t index;  // n$; 0: the next argument
    bool left, alternate, plus, space, zero, group, parentheses;
    int64_t width, precision;  // -1: none
    char conversion;
};

// --- reading a format ----------------------------------------------------------------------------------------------

static bool read_number(struct str f, size_t *at, int64_t *out) {
    size_t begin = *at;
    int64_t n = 0;
    for (; *at < f.len && f.data[*at] >= '0' && f.data[*at] <= '9'; (*at)++) {
        n = n * 10 + (f.data[*at] - '0');
        if (n > 1000000) return false;
    }
    *out = n;
    return *at > begin;
}

static bool *flag_of(struct spec *spec, char c) {
    switch (c) {
    case '-': return &spec->left;
    case '#': return &spec->alternate;
    case '+': return &spec->plus;
    case ' ': return &spec->space;
    case '0': return &spec->zero;
    case ',': return &spec->group;
    case '(': return &spec->parentheses;
    default: return NULL;
    }
}

// What follows a `%`; false: Java knows no such thing.
static bool read_spec(struct str f, size_t *at, struct spec *out) {
    *out = (struct spec){.width = -1, .precision = -1};
    size_t begin = *at;
    int64_t n = 0;
    if (*at < f.len && f.data[*at] != '0' && read_number(f, at, &n) && *at < f.len && f.data[*at] == '$') {
        out->index = n;
        (*at)++;
    } else {
        *at = begin;
    }
    for (bool *flag; *at < f.len && (flag = flag_of(out, f.data[*at])) != NULL; (*at)++) {
        if (*flag) return false;
        *flag = true;
    }
    if (*at < f.len && f.data[*at] >= '1' && f.data[*at] <= '9' && !read_number(f, at, &out->width)) return false;
    if (*at < f.len && f.data[*at] == '.') {
        (*at)++;
        if (!read_number(f, at, &out->precision)) return false;
    }
    if (*at >= f.len) return false;
    out->conversion = f.data[(*at)++];
    bool padded = out->left || out->zero;
    if (padded && out->width < 0) return false;
    return !(out->left && out->zero) && !(out->plus && out->space);
}

// --- values --------------------------------------------------------------------------------------------------------

static void pad(const struct spec *spec, struct str text, struct strbuf *out) {
    int64_t missing = spec->width - (int64_t)tide__utf8_length(text);
    if (!spec->left) {
        for (int64_t i = 0; i < missing; i++) tide__strbuf_append_char(out, ' ');
    }
    tide__strbuf_append_str(out, text);
    if (spec->left) {
        for (int64_t i = 0; i < missing; i++) tide__strbuf_append_char(out, ' ');
    }
}

// %s, %b: cut to the precision, then padded.
static void put_text(const struct spec *spec, struct str text, struct strbuf *out) {
    if (spec->precision >= 0) text.len = tide__text_prefix(text, spec->precision);
    struct strbuf upper = {0};
    if (spec->conversion >= 'A' && spec->conversion <= 'Z') {
        for (size_t i = 0; i < text.len; i++) {
            char c = text.data[i];
            tide__strbuf_append_char(&upper, c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c);
        }
        text = tide__strbuf_str(&upper);
    }
    pad(spec, text, out);
    tide__strbuf_deinit(&upper);
}

// Digits (with a fraction) with sign, groups and zeros as the flags want it.
static void put_number(const struct spec *spec, bool negative, struct str digits, struct strbuf *out) {
    struct strbuf body = {0}, all = {0};
    size_t whole = 0;
    while (whole < digits.len && digits.data[whole] >= '0' && digits.data[whole] <= '9') whole++;
    for (size_t i = 0; i < digits.len; i++) {
        if (spec->group && i > 0 && i < whole && (whole - i) % 3 == 0) tide__strbuf_append_char(&body, ',');
        tide__strbuf_append_char(&body, digits.data[i]);
    }
    const char *before = negative ? (spec->parentheses ? "(" : "-") : spec->plus ? "+" : spec->space ? " " : "";
    const char *after = negative && spec->parentheses ? ")" : "";
    tide__strbuf_append_c(&all, before);
    int64_t used = (int64_t)(strlen(before) + strlen(after) + body.len);
    for (int64_t i = used; spec->zero && i < spec->width; i++) tide__strbuf_append_char(&all, '0');
    tide__strbuf_append_str(&all, tide__strbuf_str(&body));
    tide__strbuf_append_c(&all, after);
    pad(spec, tide__strbuf_str(&all), out);
    tide__strbuf_deinit(&body);
    tide__strbuf_deinit(&all);
}

static int bits_of(enum type_kind kind) {
    return kind == TYPE_TINYINT ? 8 : kind == TYPE_SMALLINT ? 16 : kind == TYPE_BIGINT ? 64 : 32;
}

static bool put_integer(const struct spec *spec, enum type_kind kind, int64_t v, struct strbuf *out) {
    char digits[32];
    if (spec->precision >= 0) return false;
    if (spec->conversion == 'd') {
        if (spec->alternate) return false;
        snprintf(digits, sizeof digits, "%llu", v < 0 ? 0 - (unsigned long long)v : (unsigned long long)v);
        put_number(spec, v < 0, tide__str(digits), out);
        return true;
    }
    if (spec->plus || spec->space || spec->group || spec->parentheses) return false;
    uint64_t bits = bits_of(kind) == 64 ? (uint64_t)v : (uint64_t)v & ((1ULL << bits_of(kind)) - 1);
    bool octal = spec->conversion == 'o', upper = spec->conversion == 'X';
    int n = snprintf(digits, sizeof digits, "%s", !spec->alternate ? "" : octal ? "0" : upper ? "0X" : "0x");
    snprintf(digits + n, sizeof digits - (size_t)n, octal ? "%llo" : upper ? "%llX" : "%llx", (unsigned long long)bits);
    struct strbuf text = {0};
    tide__strbuf_append(&text, digits, (size_t)n);
    for (int64_t i = (int64_t)strlen(digits); spec->zero && i < spec->width; i++) tide__strbuf_append_char(&text, '0');
    tide__strbuf_append_c(&text, digits + n);
    pad(spec, tide__strbuf_str(&text), out);
    tide__strbuf_deinit(&text);
    return true;
}

// The shortest digits of a number: 0.d1d2... * 10^*point. Zero is one digit 0 with point 1.
static void shortest(double v, bool single, char digits[32], int *point) {
    struct strbuf text = {0};
    if (single) {
        tide__float_print(v, &text);
    } else {
        tide__double_print(v, &text);
    }
    int n = 0, exponent = 0, whole = -1;
    for (const char *at = text.data; *at != 0; at++) {
        if (*at == '.') {
            whole = n;
        } else if (*at == 'E') {
            exponent = (int)strtol(at + 1, NULL, 10);
            break;
        } else {
            digits[n++] = *at;
        }
    }
    tide__strbuf_deinit(&text);
    int zeros = 0;
    while (zeros < n - 1 && digits[zeros] == '0') zeros++;
    memmove(digits, digits + zeros, (size_t)(n - zeros));
    n -= zeros;
    *point = (whole < 0 ? n + zeros : whole) + exponent - zeros;
    while (n > 1 && digits[n - 1] == '0') n--;
    digits[n] = 0;
    if (digits[0] == '0') *point = 1;
}

// Keeps `keep` digits, rounded half up.
static void round_digits(char digits[32], int *point, int keep) {
    int n = (int)strlen(digits);
    if (keep >= n) return;
    bool up = keep >= 0 && digits[keep] >= '5';
    digits[keep < 0 ? 0 : keep] = 0;
    for (int i = keep - 1; up && i >= 0; i--) {
        up = digits[i] == '9';
        digits[i] = up ? '0' : (char)(digits[i] + 1);
    }
    if (up) {
        memmove(digits + 1, digits, strlen(digits) + 1);
        digits[0] = '1';
        (*point)++;
    }
    if (digits[0] == 0) memcpy(digits, "0", 2), *point = 1;
}

static void put_fixed(char digits[32], int point, int precision, struct strbuf *out) {
    round_digits(digits, &point, point + precision);
    int n = (int)strlen(digits);
    for (int i = point < 1 ? point - 1 : 0; i < point + precision; i++) {
        if (i == point && precision > 0) tide__strbuf_append_char(out, '.');
        if (point < 1 && i == point - 1) {
            tide__strbuf_append_char(out, '0');
        } else {
            tide__strbuf_append_char(out, i >= 0 && i < n ? digits[i] : '0');
        }
    }
}

static void put_scientific(char digits[32], int point, int precision, struct strbuf *out) {
    bool zero = digits[0] == '0';
    round_digits(digits, &point, precision + 1);
    int n = (int)strlen(digits);
    for (int i = 0; i <= precision; i++) {
        if (i == 1) tide__strbuf_append_char(out, '.');
        tide__strbuf_append_char(out, i < n ? digits[i] : '0');
    }
    int exponent = zero ? 0 : point - 1;
    tide__strbuf_printf(out, "e%c%02d", exponent < 0 ? '-' : '+', exponent < 0 ? -exponent : exponent);
}

static bool put_double(const struct spec *spec, double v, bool single, struct strbuf *out) {
    if (spec->conversion == 'a' || spec->conversion == 'A') return false;
    if (isnan(v) || isinf(v)) {
        struct spec plain = *spec;
        plain.precision = -1;
        const char *sign = isnan(v) ? "" : v < 0 ? (spec->parentheses ? "(" : "-") : spec->plus ? "+" : "";
        char text[16];
        snprintf(text, sizeof text, "%s%s%s", sign, isnan(v) ? "NaN" : "Infinity", *sign == '(' ? ")" : "");
        put_text(&plain, tide__str(text), out);
        return true;
    }
    char digits[32], conversion = (char)(spec->conversion | 0x20);
    int point = 0, precision = spec->precision < 0 ? 6 : (int)spec->precision;
    shortest(fabs(v), single, digits, &point);
    if (precision > 10000 || (conversion == 'e' && spec->group)) return false;
    if (conversion == 'g') {
        if (precision == 0) precision = 1;
        round_digits(digits, &point, precision);
        bool fixed = digits[0] == '0' || (point >= -3 && point <= precision);
        conversion = fixed ? 'f' : 'e';
        precision = fixed ? (digits[0] == '0' ? precision - 1 : precision - point) : precision - 1;
    }
    struct strbuf text = {0};
    if (conversion == 'f') {
        put_fixed(digits, point, precision, &text);
    } else {
        put_scientific(digits, point, precision, &text);
    }
    for (size_t i = 0; spec->conversion < 'a' && i < text.len; i++) {
        if (text.data[i] == 'e') text.data[i] = 'E';
    }
    put_number(spec, signbit(v), tide__strbuf_str(&text), out);
    tide__strbuf_deinit(&text);
    return true;
}

// --- one specifier -------------------------------------------------------------------------------------------------

static bool is_whole(enum type_kind kind) {
    return kind == TYPE_TINYINT || kind == TYPE_SMALLINT || kind == TYPE_INT || kind == TYPE_BIGINT ||
           kind == TYPE_DATE || kind == TYPE_TIME || kind == TYPE_INTERVAL_MONTHS || kind == TYPE_INTERVAL_MILLIS;
}

// What Java's toString gives.
static void java_text(const struct column *arg, size_t row, struct strbuf *out) {
    switch (arg->type->kind) {
    case TYPE_BOOLEAN: tide__strbuf_append_c(out, arg->bools[row] ? "true" : "false"); break;
    case TYPE_DATE:
    case TYPE_TIME:
    case TYPE_INTERVAL_MONTHS:
    case TYPE_INTERVAL_MILLIS: tide__strbuf_printf(out, "%lld", (long long)arg->i64[row]); break;
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_LTZ: {
        size_t begin = out->len;
        tide__value_display_in_zone(arg, row, NULL, out);
        char *text = out->data + begin;
        if (out->len - begin > 10) text[10] = 'T';
        char *fraction = strchr(text, '.');
        while (fraction != NULL && out->len >= 3 && memcmp(out->data + out->len - 3, "000", 3) == 0) out->len -= 3;
        if (fraction != NULL && out->len > begin && out->data[out->len - 1] == '.') out->len--;
        if (out->len - begin == 19 && memcmp(text + 16, ":00", 3) == 0) out->len -= 3;
        break;
    }
    default: tide__value_text(arg, row, NULL, out);
    }
}

static bool put_argument(const struct spec *spec, const struct column *arg, size_t row, struct strbuf *out) {
    bool null = tide__column_is_null(arg, row);
    enum type_kind kind = arg->type->kind;
    switch (spec->conversion) {
    case 's':
    case 'S': {
        if (spec->alternate || spec->plus || spec->space || spec->zero || spec->group || spec->parentheses)
            return false;
        struct strbuf text = {0};
        if (null) {
            tide__strbuf_append_c(&text, "null");
        } else {
            java_text(arg, row, &text);
        }
        put_text(spec, tide__strbuf_str(&text), out);
        tide__strbuf_deinit(&text);
        return true;
    }
    case 'b':
    case 'B': {
        bool truth = !null && (kind != TYPE_BOOLEAN || arg->bools[row]);
        put_text(spec, tide__str(truth ? "true" : "false"), out);
        return true;
    }
    default: break;
    }
    if (strchr("cCdoxXeEfgG", spec->conversion) == NULL) return false;
    if (null) {
        struct spec plain = *spec;
        plain.precision = -1;
        plain.conversion = spec->conversion < 'a' ? 'S' : 's';
        put_text(&plain, STR_LIT("null"), out);
        return true;
    }
    if (spec->conversion == 'c' || spec->conversion == 'C') {
        if (!is_whole(kind) || bits_of(kind) == 64 || arg->i64[row] < 0 || arg->i64[row] > 0x10FFFF) return false;
        struct strbuf text = {0};
        tide__text_put_utf8((uint32_t)arg->i64[row], &text);
        put_text(spec, tide__strbuf_str(&text), out);
        tide__strbuf_deinit(&text);
        return true;
    }
    if (strchr("doxX", spec->conversion) != NULL) return is_whole(kind) && put_integer(spec, kind, arg->i64[row], out);
    if (kind != TYPE_FLOAT && kind != TYPE_DOUBLE) return false;
    return put_double(spec, arg->f64[row], kind == TYPE_FLOAT, out);
}

static bool make_printf(const struct expr *call, const struct column *args, size_t row, struct strbuf *out) {
    if (tide__column_is_null(&args[0], row)) return false;
    struct str format = args[0].str[row];
    int64_t next = 1;
    for (size_t at = 0; at < format.len;) {
        char c = format.data[at++];
        if (c != '%') {
            tide__strbuf_append_char(out, c);
            continue;
        }
        struct spec spec;
        if (!read_spec(format, &at, &spec)) return false;
        if (spec.conversion == '%') {
            put_text(&spec, STR_LIT("%"), out);
        } else if (spec.conversion == 'n') {
            tide__strbuf_append_char(out, '\n');
        } else {
            int64_t index = spec.index > 0 ? spec.index : next++;
            if (index >= call->arg_count) return false;
            if (!put_argument(&spec, &args[index], row, out)) return false;
        }
    }
    return true;
}

static tide_status run_printf(struct eval_context *ctx, const struct expr *call, const struct column *args,
                              struct selection rows, struct column *out, tide_error *err) {
    return tide__text_rows(ctx, call, args, rows, make_printf, out);
}

static tide_status infer_printf(struct infer_context *ctx, struct expr *call, tide_error *err) {
    TIDE_TRY(tide__infer_args(ctx, call, "SA*", err));
    tide__infer_result(ctx, call, TYPE_VARCHAR, true);
    return TIDE_OK;
}

static const struct function_kernel kernel_printf = {.run = run_printf};

const struct function tide__fn_printf = {
    .name = "PRINTF",
    .arg_min = 1,
    .arg_max = UINT8_MAX,
    .infer = infer_printf,
    .kernel = &kernel_printf,
    .signature = "PRINTF(format, value, ...)",
    .summary = "Values in a text by a format of Java's; NULL if a value does not fit it.",
    .example = "PRINTF('%s has %05d', 'x', 42)",
    .example_result = "x has 00042",
};
