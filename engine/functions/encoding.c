// Digests, Base64, character sets, URLs.
#include "engine/functions/digest.h"
#include "engine/functions/functions_list.h"
#include "engine/functions/infer.h"
#include "engine/functions/text.h"

// --- digests -------------------------------------------------------------------------------------------------------

static void put_digest(enum digest digest, struct str data, struct strbuf *out) {
    unsigned char bytes[DIGEST_SIZE_MAX];
    size_t n = tide__digest(digest, data, bytes);
    for (size_t i = 0; i < n; i++) tide__strbuf_printf(out, "%02x", bytes[i]);
}

static tide_status infer_digest(struct infer_context *ctx, struct expr *call, int length, tide_error *err) {
    TIDE_TRY(tide__infer_args(ctx, call, "Z", err));
    tide__infer_result_sized(ctx, call, TYPE_CHAR, tide__infer_any_nullable(call), length, 0);
    return TIDE_OK;
}

#define DIGEST(symbol, sql, digest, length, example_, result_)                                                         \
    static bool make_##symbol(const struct expr *call, const struct column *args, size_t row, struct strbuf *out) {    \
        put_digest(digest, args[0].str[row], out);                                                                     \
        return true;                                                                                                   \
    }                                                                                                                  \
    static tide_status run_##symbol(struct eval_context *ctx, const struct expr *call, const struct column *args,      \
                                    struct selection rows, struct column *out, tide_error *err) {                      \
        return tide__text_rows(ctx, call, args, rows, make_##symbol, out);                                             \
    }                                                                                                                  \
    static tide_status infer_##symbol(struct infer_context *ctx, struct expr *call, tide_error *err) {                 \
        return infer_digest(ctx, call, length, err);                                                                   \
    }                                                                                                                  \
    static const struct function_kernel kernel_##symbol = {.null_if_any = true, .run = run_##symbol};                  \
    const struct function tide__fn_##symbol = {                                                                        \
        .name = sql,                                                                                                   \
        .arg_min = 1,                                                                                                  \
        .arg_max = 1,                                                                                                  \
        .infer = infer_##symbol,                                                                                       \
        .kernel = &kernel_##symbol,                                                                                    \
        .signature = sql "(STRING)",                                                                                   \
        .summary = "The " sql " digest in hexadecimal.",                                                               \
        .example = example_,                                                                                           \
        .example_result = result_,                                                                                     \
    }
DIGEST(md5, "MD5", DIGEST_MD5, 32, "MD5('abc')", "900150983cd24fb0d6963f7d28e17f72");
DIGEST(sha1, "SHA1", DIGEST_SHA1, 40, "SHA1('abc')", "a9993e364706816aba3e25717850c26c9cd0d89d");
DIGEST(sha224, "SHA224", DIGEST_SHA224, 56, "CHAR_LENGTH(SHA224('abc'))", "56");
DIGEST(sha256, "SHA256", DIGEST_SHA256, 64, "SHA256('abc')",
       "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
DIGEST(sha384, "SHA384", DIGEST_SHA384, 96, "CHAR_LENGTH(SHA384('abc'))", "96");
DIGEST(sha512, "SHA512", DIGEST_SHA512, 128, "CHAR_LENGTH(SHA512('abc'))", "128");

static tide_status run_sha2(struct eval_context *ctx, const struct expr *call, const struct column *args,
                            struct selection rows, struct column *out, tide_error *err) {
    struct strbuf text = {0};
    tide_status status = TIDE_OK;
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth);
        enum digest digest = DIGEST_SHA256;
        switch (args[1].i64[i]) {
        case 224: digest = DIGEST_SHA224; break;
        case 256: break;
        case 384: digest = DIGEST_SHA384; break;
        case 512: digest = DIGEST_SHA512; break;
        default:
            status = tide__fail_at(err, TIDE_ERR_RUNTIME, call->pos,
                                   "the length of SHA2 is 224, 256, 384 or 512, not %lld", (long long)args[1].i64[i]);
            goto done;
        }
        tide__strbuf_clear(&text);
        put_digest(digest, args[0].str[i], &text);
        out->str[i] = tide__str_copy(ctx->scratch, text.data, text.len);
    }
done:
    tide__strbuf_deinit(&text);
    return status;
}

static tide_status infer_sha2(struct infer_context *ctx, struct expr *call, tide_error *err) {
    TIDE_TRY(tide__infer_args(ctx, call, "SI", err));
    tide__infer_result_sized(ctx, call, TYPE_VARCHAR, tide__infer_any_nullable(call), 128, 0);
    return TIDE_OK;
}

// --- Base64 --------------------------------------------------------------------------------------------------------

static const char base64_digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static bool make_to_base64(const struct expr *call, const struct column *args, size_t row, struct strbuf *out) {
    struct str s = args[0].str[row];
    for (size_t i = 0; i < s.len; i += 3) {
        size_t n = s.len - i < 3 ? s.len - i : 3;
        uint32_t v = 0;
        for (size_t k = 0; k < 3; k++) v = v << 8 | (k < n ? (unsigned char)s.data[i + k] : 0);
        for (size_t k = 0; k < 4; k++) {
            tide__strbuf_append_char(out, k <= n ? base64_digits[v >> (18 - 6 * k) & 63] : '=');
        }
    }
    return true;
}

// False: it is no Base64.
static bool decode_base64(struct str s, struct strbuf *out) {
    while (s.len > 0 && s.data[s.len - 1] == '=') s.len--;
    uint32_t v = 0;
    int bits = 0;
    for (size_t i = 0; i < s.len; i++) {
        const char *digit = s.data[i] == 0 ? NULL : strchr(base64_digits, s.data[i]);
        if (digit == NULL) return false;
        v = v << 6 | (uint32_t)(digit - base64_digits);
        bits += 6;
        if (bits < 8) continue;
        bits -= 8;
        tide__strbuf_append_char(out, (char)(v >> bits));
    }
    return s.len % 4 != 1;
}

static tide_status run_from_base64(struct eval_context *ctx, const struct expr *call, const struct column *args,
                                   struct selection rows, struct column *out, tide_error *err) {
    struct strbuf text = {0};
    tide_status status = TIDE_OK;
    for (size_t nth = 0; nth < rows.n && status == TIDE_OK; nth++) {
        size_t i = tide__row_at(rows, nth);
        tide__strbuf_clear(&text);
        if (decode_base64(args[0].str[i], &text)) {
            out->str[i] = tide__str_copy(ctx->scratch, text.data, text.len);
        } else {
            status = tide__fail_at(err, TIDE_ERR_RUNTIME, call->pos, "FROM_BASE64 of a text that is no Base64");
        }
    }
    tide__strbuf_deinit(&text);
    return status;
}

// --- character sets ------------------------------------------------------------------------------------------------

enum charset {
    CHARSET_UTF8,
    CHARSET_ASCII,
    CHARSET_LATIN1,
    CHARSET_UTF16BE,
    CHARSET_UTF16LE,
    CHARSET_UTF16,
    CHARSET_NONE
};

static enum charset charset_of(struct str name) {
    static const struct {
        const char *name;
        enum charset charset;
    } names[] = {
        {"UTF-8", CHARSET_UTF8},       {"UTF8", CHARSET_UTF8},         {"US-ASCII", CHARSET_ASCII},
        {"ASCII", CHARSET_ASCII},      {"ISO-8859-1", CHARSET_LATIN1}, {"LATIN1", CHARSET_LATIN1},
        {"UTF-16BE", CHARSET_UTF16BE}, {"UTF-16LE", CHARSET_UTF16LE},  {"UTF-16", CHARSET_UTF16},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (tide__str_ieq_c(name, names[i].name)) return names[i].charset;
    }
    return CHARSET_NONE;
}

static void put_unit(uint32_t unit, bool little, struct strbuf *out) {
    char bytes[2] = {(char)(unit >> 8), (char)unit};
    if (little) bytes[0] = (char)unit, bytes[1] = (char)(unit >> 8);
    tide__strbuf_append(out, bytes, 2);
}

static bool encode(struct str s, enum charset charset, struct strbuf *out) {
    if (charset == CHARSET_NONE) return false;
    if (charset == CHARSET_UTF8) {
        tide__strbuf_append_str(out, s);
        return true;
    }
    if (charset == CHARSET_UTF16) put_unit(0xFEFF, false, out);
    for (size_t at = 0; at < s.len;) {
        uint32_t c = tide__utf8_next(s, &at);
        if (charset == CHARSET_ASCII || charset == CHARSET_LATIN1) {
            tide__strbuf_append_char(out, c < (charset == CHARSET_ASCII ? 0x80u : 0x100u) ? (char)c : '?');
            continue;
        }
        bool little = charset == CHARSET_UTF16LE;
        if (c >= 0x10000) {
            put_unit(0xD800 + ((c - 0x10000) >> 10), little, out);
            c = 0xDC00 + ((c - 0x10000) & 0x3FF);
        }
        put_unit(c, little, out);
    }
    return true;
}

static void decode_utf16(struct str s, bool little, bool mark, struct strbuf *out) {
    uint32_t high = 0;
    for (size_t i = 0; i + 1 < s.len; i += 2) {
        unsigned char first = (unsigned char)s.data[i], second = (unsigned char)s.data[i + 1];
        uint32_t unit = little ? (uint32_t)second << 8 | first : (uint32_t)first << 8 | second;
        if (mark && i == 0 && (unit == 0xFEFF || unit == 0xFFFE)) {
            little = little != (unit == 0xFFFE);
        } else if (unit >= 0xD800 && unit < 0xDC00) {
            high = unit;
        } else if (unit >= 0xDC00 && unit < 0xE000) {
            tide__text_put_utf8(high == 0 ? 0xFFFD : 0x10000 + ((high - 0xD800) << 10) + (unit - 0xDC00), out);
            high = 0;
        } else {
            tide__text_put_utf8(unit, out);
        }
    }
}

static bool decode(struct str s, enum charset charset, struct strbuf *out) {
    switch (charset) {
    case CHARSET_UTF8: tide__strbuf_append_str(out, s); return true;
    case CHARSET_ASCII:
        for (size_t i = 0; i < s.len; i++)
            tide__text_put_utf8((unsigned char)s.data[i] < 0x80 ? (uint32_t)s.data[i] : 0xFFFD, out);
        return true;
    case CHARSET_LATIN1:
        for (size_t i = 0; i < s.len; i++) tide__text_put_utf8((unsigned char)s.data[i], out);
        return true;
    case CHARSET_UTF16BE: decode_utf16(s, false, false, out); return true;
    case CHARSET_UTF16LE: decode_utf16(s, true, false, out); return true;
    case CHARSET_UTF16: decode_utf16(s, false, true, out); return true;
    case CHARSET_NONE: break;
    }
    return false;
}

typedef bool convert_text(struct str s, enum charset charset, struct strbuf *out);

static tide_status charset_rows(struct eval_context *ctx, const struct expr *call, const struct column *args,
                                struct selection rows, convert_text *convert, struct column *out, tide_error *err) {
    struct strbuf text = {0};
    tide_status status = TIDE_OK;
    for (size_t nth = 0; nth < rows.n && status == TIDE_OK; nth++) {
        size_t i = tide__row_at(rows, nth);
        tide__strbuf_clear(&text);
        if (convert(args[0].str[i], charset_of(args[1].str[i]), &text)) {
            out->str[i] = tide__str_copy(ctx->scratch, text.data, text.len);
        } else {
            status = tide__fail_at(err, TIDE_ERR_RUNTIME, call->pos, "there is no character set '%.*s'",
                                   STR_ARG(args[1].str[i]));
        }
    }
    tide__strbuf_deinit(&text);
    return status;
}

static tide_status run_encode(struct eval_context *ctx, const struct expr *call, const struct column *args,
                              struct selection rows, struct column *out, tide_error *err) {
    return charset_rows(ctx, call, args, rows, encode, out, err);
}

static tide_status run_decode(struct eval_context *ctx, const struct expr *call, const struct column *args,
                              struct selection rows, struct column *out, tide_error *err) {
    return charset_rows(ctx, call, args, rows, decode, out, err);
}

// --- URLs ----------------------------------------------------------------------------------------------------------

static bool make_url_encode(const struct expr *call, const struct column *args, size_t row, struct strbuf *out) {
    struct str s = args[0].str[row];
    for (size_t i = 0; i < s.len; i++) {
        char c = s.data[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                     c == '_' || c == '.' || c == '*';
        if (plain) {
            tide__strbuf_append_char(out, c);
        } else if (c == ' ') {
            tide__strbuf_append_char(out, '+');
        } else {
            tide__strbuf_printf(out, "%%%02X", (unsigned char)c);
        }
    }
    return true;
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool make_url_decode(const struct expr *call, const struct column *args, size_t row, struct strbuf *out) {
    struct str s = args[0].str[row];
    for (size_t i = 0; i < s.len; i++) {
        if (s.data[i] == '+') {
            tide__strbuf_append_char(out, ' ');
        } else if (s.data[i] == '%') {
            int high = i + 2 < s.len ? hex_digit(s.data[i + 1]) : -1,
                low = i + 2 < s.len ? hex_digit(s.data[i + 2]) : -1;
            if (high < 0 || low < 0) return false;
            tide__strbuf_append_char(out, (char)(high << 4 | low));
            i += 2;
        } else {
            tide__strbuf_append_char(out, s.data[i]);
        }
    }
    return true;
}

// An odd first digit counts as 0, as in Flink. Text that is no hexadecimal gives NULL.
static bool make_unhex(const struct expr *call, const struct column *args, size_t row, struct strbuf *out) {
    struct str s = args[0].str[row];
    for (size_t i = 0; i < s.len;) {
        bool odd = i == 0 && s.len % 2 != 0;
        int high = hex_digit(s.data[i]), low = hex_digit(s.data[i + !odd]);
        if (high < 0 || low < 0) return false;
        tide__strbuf_append_char(out, (char)(odd ? 0 : high << 4 | low));
        i += odd ? 1 : 2;
    }
    return true;
}

struct url {
    struct str protocol, authority, user, host, path, query, ref, file;
    bool has_user, has_query, has_ref;
};

static bool cut_first(struct str *s, char c, struct str *before) {
    const char *at = s->len == 0 ? NULL : memchr(s->data, c, s->len);
    if (at == NULL) return false;
    *before = (struct str){s->data, (size_t)(at - s->data)};
    s->len -= before->len + 1;
    s->data = at + 1;
    return true;
}

// Java's URL: protocol://[user@]host[:port]/path[?query][#ref]
static bool parse_url(struct str s, struct url *url) {
    *url = (struct url){0};
    if (!cut_first(&s, ':', &url->protocol) || url->protocol.len == 0) return false;
    struct str before = s;
    if (cut_first(&s, '#', &before)) {
        url->ref = s;
        url->has_ref = true;
        s = before;
    }
    if (s.len >= 2 && memcmp(s.data, "//", 2) == 0) {
        s.data += 2;
        s.len -= 2;
        size_t end = 0;
        while (end < s.len && s.data[end] != '/' && s.data[end] != '?') end++;
        url->authority = (struct str){s.data, end};
        s.data += end;
        s.len -= end;
    }
    url->file = s;
    url->path = s;
    if (cut_first(&s, '?', &before)) {
        url->path = before;
        url->query = s;
        url->has_query = true;
    }
    url->host = url->authority;
    const char *at = url->authority.len == 0 ? NULL : memrchr(url->authority.data, '@', url->authority.len);
    if (at != NULL) {
        url->user = (struct str){url->authority.data, (size_t)(at - url->authority.data)};
        url->has_user = true;
        url->host = (struct str){at + 1, url->authority.len - url->user.len - 1};
    }
    at = url->host.len == 0 ? NULL : memrchr(url->host.data, ':', url->host.len);
    if (at != NULL) url->host.len = (size_t)(at - url->host.data);
    return true;
}

static bool query_value(struct str query, struct str key, struct strbuf *out) {
    while (query.len > 0) {
        struct str pair = query;
        if (cut_first(&query, '&', &pair)) {
            // `query` is the rest
        } else {
            query.len = 0;
        }
        struct str name;
        if (!cut_first(&pair, '=', &name) || !tide__str_eq(name, key)) continue;
        tide__strbuf_append_str(out, pair);
        return true;
    }
    return false;
}

static bool make_parse_url(const struct expr *call, const struct column *args, size_t row, struct strbuf *out) {
    struct url url;
    struct str part = args[1].str[row], value = {0};
    bool has = true;
    if (!parse_url(args[0].str[row], &url)) return false;
    if (call->arg_count > 2) {
        return tide__str_eq_c(part, "QUERY") && url.has_query && query_value(url.query, args[2].str[row], out);
    }
    if (tide__str_eq_c(part, "HOST")) {
        value = url.host;
    } else if (tide__str_eq_c(part, "PATH")) {
        value = url.path;
    } else if (tide__str_eq_c(part, "QUERY")) {
        value = url.query, has = url.has_query;
    } else if (tide__str_eq_c(part, "REF")) {
        value = url.ref, has = url.has_ref;
    } else if (tide__str_eq_c(part, "PROTOCOL")) {
        value = url.protocol;
    } else if (tide__str_eq_c(part, "FILE")) {
        value = url.file;
    } else if (tide__str_eq_c(part, "AUTHORITY")) {
        value = url.authority;
    } else if (tide__str_eq_c(part, "USERINFO")) {
        value = url.user, has = url.has_user;
    } else {
        has = false;
    }
    if (has) tide__strbuf_append_str(out, value);
    return has;
}

// --- table ---------------------------------------------------------------------------------------------------------

#define INFER(name, classes, kind, nullable)                                                                           \
    static tide_status name(struct infer_context *ctx, struct expr *call, tide_error *err) {                           \
        TIDE_TRY(tide__infer_args(ctx, call, classes, err));                                                           \
        tide__infer_result(ctx, call, kind, nullable);                                                                 \
        return TIDE_OK;                                                                                                \
    }
INFER(infer_string, "Z", TYPE_VARCHAR, tide__infer_any_nullable(call))
INFER(infer_nullable, "SSS", TYPE_VARCHAR, true)
INFER(infer_encode, "SS", TYPE_VARBINARY, true)
INFER(infer_unhex, "S", TYPE_VARBINARY, true)
INFER(infer_decode, "YS", TYPE_VARCHAR, true)

#define FUNCTION(symbol, ...)                                                                                          \
    static tide_status run_##symbol(struct eval_context *ctx, const struct expr *call, const struct column *args,      \
                                    struct selection rows, struct column *out, tide_error *err) {                      \
        return tide__text_rows(ctx, call, args, rows, make_##symbol, out);                                             \
    }                                                                                                                  \
    PLAIN_FUNCTION(symbol, __VA_ARGS__)
#define PLAIN_FUNCTION(symbol, sql, least, most, infer_, signature_, summary_, example_, result_)                      \
    static const struct function_kernel kernel_##symbol = {.null_if_any = true, .run = run_##symbol};                  \
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
FUNCTION(to_base64, "TO_BASE64", 1, 1, infer_string, "TO_BASE64(STRING)", "In Base64.", "TO_BASE64('hello')",
         "aGVsbG8=");
PLAIN_FUNCTION(from_base64, "FROM_BASE64", 1, 1, infer_string, "FROM_BASE64(STRING)", "What a Base64 text stands for.",
               "FROM_BASE64('aGVsbG8=')", "hello");
PLAIN_FUNCTION(encode, "ENCODE", 2, 2, infer_encode, "ENCODE(STRING, character set)", "The bytes in a character set.",
               "ENCODE('ab', 'UTF-16BE')", "x'00610062'");
PLAIN_FUNCTION(decode, "DECODE", 2, 2, infer_decode, "DECODE(BYTES, character set)",
               "The text of bytes in a character set.", "DECODE(X'6162', 'UTF-8')", "ab");
FUNCTION(unhex, "UNHEX", 1, 1, infer_unhex, "UNHEX(STRING)", "The bytes of a hexadecimal text; NULL if it is none.",
         "UNHEX('4142')", "x'4142'");
FUNCTION(url_encode, "URL_ENCODE", 1, 1, infer_nullable, "URL_ENCODE(STRING)", "As it stands in a URL.",
         "URL_ENCODE('a b')", "a+b");
FUNCTION(url_decode, "URL_DECODE", 1, 1, infer_nullable, "URL_DECODE(STRING)", "What a part of a URL stands for.",
         "URL_DECODE('a+b')", "a b");
FUNCTION(parse_url, "PARSE_URL", 2, 3, infer_nullable, "PARSE_URL(STRING, part[, key])",
         "A part of a URL: HOST, PATH, QUERY, REF, PROTOCOL, FILE, AUTHORITY or USERINFO.",
         "PARSE_URL('http://h.com/p?x=1', 'QUERY', 'x')", "1");
static const struct function_kernel kernel_sha2 = {.null_if_any = true, .run = run_sha2};
const struct function tide__fn_sha2 = {
    .name = "SHA2",
    .arg_min = 2,
    .arg_max = 2,
    .infer = infer_sha2,
    .kernel = &kernel_sha2,
    .signature = "SHA2(STRING, length)",
    .summary = "The SHA-2 digest of 224, 256, 384 or 512 bits in hexadecimal.",
    .example = "CHAR_LENGTH(SHA2('abc', 512))",
    .example_result = "128",
};
