// Values as Java's classes print them, for the formats. See java_text.h.
#include "base/time.h"
#include "engine/formats/java_text.h"

#include <string.h>

// BigDecimal.toString() of digits without zeros in front, shifted right by `scale`.
static void print_scaled(bool negative, struct str digits, int64_t scale, struct strbuf *out) {
    int64_t exponent = (int64_t)digits.len - 1 - scale;  // of the first digit
    if (negative) tide__strbuf_append_char(out, '-');
    if (scale == 0) {
        tide__strbuf_append_str(out, digits);
    } else if (scale > 0 && exponent >= -6) {
        if (exponent < 0) {
            tide__strbuf_append_c(out, "0.");
            for (int64_t i = exponent + 1; i < 0; i++) tide__strbuf_append_char(out, '0');
            tide__strbuf_append_str(out, digits);
        } else {
            tide__strbuf_append(out, digits.data, digits.len - (size_t)scale);
            tide__strbuf_append_char(out, '.');
            tide__strbuf_append(out, digits.data + digits.len - scale, (size_t)scale);
        }
    } else {
        tide__strbuf_append(out, digits.data, 1);
        if (digits.len > 1) {
            tide__strbuf_append_char(out, '.');
            tide__strbuf_append(out, digits.data + 1, digits.len - 1);
        }
        tide__strbuf_printf(out, "E%+lld", (long long)exponent);
    }
}

static void print_stripped(bool negative, struct str digits, int64_t scale, struct strbuf *out) {
    while (digits.len > 0 && digits.data[digits.len - 1] == '0') {
        digits.len--;
        scale--;
    }
    if (digits.len == 0) {
        tide__strbuf_append_char(out, '0');
    } else {
        print_scaled(negative, digits, scale, out);
    }
}

void tide__java_print_decimal(int128 value, int scale, struct strbuf *out) {
    char digits[48];
    size_t len = 0;
    for (unsigned __int128 v = value < 0 ? -(unsigned __int128)value : (unsigned __int128)value; v > 0; v /= 10) {
        digits[sizeof(digits) - ++len] = (char)('0' + (int)(v % 10));
    }
    print_stripped(value < 0, (struct str){digits + sizeof(digits) - len, len}, scale, out);
}

void tide__java_print_number(struct str number, struct strbuf *out) {
    bool negative = number.len > 0 && number.data[0] == '-';
    struct strbuf digits = {0};
    int64_t scale = 0, exponent = 0;
    bool point = false;
    for (size_t i = negative; i < number.len; i++) {
        char c = number.data[i];
        if (c == 'e' || c == 'E') {
            struct str rest = {number.data + i + 1, number.len - i - 1};
            // No Java decimal has an exponent beyond an int; what is beyond is kept from overflowing here.
            if (!tide__java_integer(rest, -INT32_MAX, INT32_MAX, &exponent)) exponent = 0;
            break;
        }
        if (c == '.') {
            point = true;
            continue;
        }
        if (c != '0' || digits.len > 0) tide__strbuf_append_char(&digits, c);
        scale += point;
    }
    print_stripped(negative, tide__strbuf_str(&digits), scale - exponent, out);
    tide__strbuf_deinit(&digits);
}

void tide__java_print_timestamp(struct timestamp time, struct strbuf *out) {
    tide__timestamp_print(time, 9, out);
    while (out->data[out->len - 1] == '0') out->len--;
    if (out->data[out->len - 1] == '.') out->len--;
    out->data[out->len] = '\0';
}

void tide__java_print_time(int64_t ms, struct strbuf *out) {
    tide__time_print(ms, 3, out);
    while (out->len > 9 && out->data[out->len - 1] == '0') out->len--;
    if (out->len == 9) out->len = 8;
    out->data[out->len] = '\0';
}

void tide__base64_encode(struct str bytes, struct strbuf *out) {
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < bytes.len; i += 3) {
        size_t n = bytes.len - i < 3 ? bytes.len - i : 3;
        uint32_t bits = 0;
        for (size_t j = 0; j < 3; j++) bits = (bits << 8) | (j < n ? (unsigned char)bytes.data[i + j] : 0);
        for (size_t j = 0; j < 4; j++) {
            tide__strbuf_append_char(out, j <= n ? alphabet[(bits >> (18 - 6 * j)) & 63] : '=');
        }
    }
}
