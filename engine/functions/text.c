// Characters and bytes. See engine/functions/text.h.
#include "engine/functions/text.h"

size_t tide__text_prefix(struct str s, int64_t count) {
    if (count <= 0) return 0;
    size_t at = 0;
    while (at < s.len && count > 0) {
        tide__utf8_next(s, &at);
        count--;
    }
    return at;
}

size_t tide__text_find(struct str s, struct str part, size_t from) {
    if (from > s.len) return SIZE_MAX;
    if (part.len == 0) return from;
    const char *hit = memmem(s.data + from, s.len - from, part.data, part.len);
    return hit == NULL ? SIZE_MAX : (size_t)(hit - s.data);
}

void tide__text_put_utf8(uint32_t c, struct strbuf *out) {
    if (c < 0x80) {
        tide__strbuf_append_char(out, (char)c);
        return;
    }
    int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    tide__strbuf_append_char(out, (char)((0xFF00 >> (more + 1) & 0xFF) | c >> (6 * more)));
    while (more-- > 0) tide__strbuf_append_char(out, (char)(0x80 | (c >> (6 * more) & 0x3F)));
}

int64_t tide__text_units(struct str s) {
    int64_t units = 0;
    for (size_t at = 0; at < s.len;) units += tide__utf8_next(s, &at) >= 0x10000 ? 2 : 1;
    return units;
}

void tide__text_put_units(struct str s, int64_t from, int64_t to, struct strbuf *out) {
    int64_t unit = 0;
    for (size_t at = 0; at < s.len && unit < to;) {
        size_t begin = at;
        int64_t end = unit + (tide__utf8_next(s, &at) >= 0x10000 ? 2 : 1);
        if (unit >= from && end <= to) {
            tide__strbuf_append(out, s.data + begin, at - begin);
        } else if (end > from) {
            tide__strbuf_append_char(out, '?');
        }
        unit = end;
    }
}

tide_status tide__text_rows(struct eval_context *ctx, const struct expr *call, const struct column *args,
                            struct selection rows, tide__text_make *make, struct column *out) {
    struct strbuf text = {0};
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth);
        tide__strbuf_clear(&text);
        if (make(call, args, i, &text)) {
            out->str[i] = tide__str_copy(ctx->scratch, text.data, text.len);
        } else {
            tide__put_null(out, i);
        }
    }
    tide__strbuf_deinit(&text);
    return TIDE_OK;
}
