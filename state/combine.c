// The closed table of combiners, and walking the fields of a value.
//
// This is all that merging needs to know about an aggregate: RocksDB's merge operator, the memory backend and the
// savepoint merger call it, none of them calls the engine.
#include "base/alloc.h"
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

static void append_sum(enum state_form form, const struct field_view *views, size_t count, struct strbuf *out) {
    unsigned __int128 sum = 0;
    size_t size = form == STATE_FORM_I64 ? 8 : 16;
    for (size_t i = 0; i < count; i++) {
        unsigned __int128 v = 0;
        memcpy(&v, views[i].body.data, size);
        sum += v;
    }
    tide__strbuf_append(out, &sum, size);  // little-endian: the low half is the sum of 64 bits
}

static void append_concat(const struct field_view *views, size_t count, struct strbuf *out) {
    size_t length = 0;
    for (size_t i = 0; i < count; i++) length += views[i].body.len;
    append_length(out, length);
    for (size_t i = 0; i < count; i++) tide__strbuf_append_str(out, views[i].body);
}

// The least or greatest that is not empty; of equals the newest.
static struct str best_of(const struct field_view *views, size_t count, bool least) {
    const struct field_view *best = &views[0];
    for (size_t i = 1; i < count; i++) {
        if (views[i].body.len == 0) continue;
        int order = best->body.len == 0 ? 0 : tide__str_cmp(views[i].body, best->body);
        if (best->body.len == 0 || (least ? order < 0 : order > 0)) best = &views[i];
    }
    return best->whole;
}

// The views of one field, oldest first. False if the combiner cannot take fields of this form.
static bool combine_field(const struct state_field *field, const struct field_view *views, size_t count,
                          struct strbuf *out) {
    bool is_bytes = field->form == STATE_FORM_BYTES;
    size_t taken = count - 1;
    switch (field->combiner) {
    case STATE_COMBINE_REPLACE: break;
    case STATE_COMBINE_ADD:
        if (field->form != STATE_FORM_I64 && field->form != STATE_FORM_I128) return false;
        append_sum(field->form, views, count, out);
        return true;
    case STATE_COMBINE_MIN:
    case STATE_COMBINE_MAX:
        if (!is_bytes) return false;
        tide__strbuf_append_str(out, best_of(views, count, field->combiner == STATE_COMBINE_MIN));
        return true;
    case STATE_COMBINE_CONCAT:
        if (!is_bytes) return false;
        append_concat(views, count, out);
        return true;
    case STATE_COMBINE_FIRST:
        if (!is_bytes) return false;
        for (taken = 0; taken + 1 < count && views[taken].body.len == 0;) taken++;
        break;
    case STATE_COMBINE_LAST:
        if (!is_bytes) return false;
        while (taken > 0 && views[taken].body.len == 0) taken--;
        break;
    }
    tide__strbuf_append_str(out, views[taken].whole);
    return true;
}

// `ats` are where the next field begins in each value; all 0.
static bool combine_fields(const struct state_table_desc *desc, const struct str *values, size_t count,
                           struct field_view *views, size_t *ats, struct strbuf *out) {
    for (size_t f = 0; f < desc->value_count; f++) {
        const struct state_field *field = &desc->values[f];
        for (size_t i = 0; i < count; i++)
            if (!next_field(field->form, values[i], &ats[i], &views[i])) return false;
        if (!combine_field(field, views, count, out)) return false;
    }
    for (size_t i = 0; i < count; i++)
        if (ats[i] != values[i].len) return false;
    return true;
}

bool tide__state_combine_all(const struct state_table_desc *desc, const struct str *values, size_t count,
                             struct strbuf *out) {
    enum { FEW = 16 };
    assert(desc && out && count > 0);
    struct field_view few_views[FEW], *views = few_views;
    size_t few_ats[FEW] = {0}, *ats = few_ats, start = out->len, bytes = 0;
    if (count > FEW) {
        views = tide__realloc_array(NULL, count, sizeof *views);
        ats = tide__calloc(count, sizeof *ats);
    }
    // At once, and not by doubling: values may be large. A length grows by a few bytes.
    for (size_t i = 0; i < count; i++) bytes += values[i].len;
    tide__strbuf_reserve(out, bytes + 5 * desc->value_count);
    bool ok = combine_fields(desc, values, count, views, ats, out);
    if (!ok) out->len = start;
    if (count > FEW) {
        tide__free(views);
        tide__free(ats);
    }
    return ok;
}

bool tide__state_combine(const struct state_table_desc *desc, struct str older, struct str newer, struct strbuf *out) {
    return tide__state_combine_all(desc, (struct str[]){older, newer}, 2, out);
}
