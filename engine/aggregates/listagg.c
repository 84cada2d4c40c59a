// LISTAGG: the strings in arrival order. The accumulator keeps them as (varint length, bytes) one after the other, so that
// the concatenation of two lists is the concatenation of their bytes, whatever the separator, which joins them at the end only.
#include "engine/aggregates/fields.h"
#include "engine/aggregates/list.h"

static void update(const struct aggregator *a, struct aggregate_rows *in) {
    tide__aggregator_prefetch(a, in);
    FOR_EACH_VALUE(struct list, in, a, acc, row, tide__list_append(acc, in->column->str[row], &in->charge));
}

// Joins the elements; counts first, so that the text is allocated once.
static struct str join(const struct list *list, struct str separator, struct arena *arena) {
    size_t count = 0, bytes = 0;
    struct str element;
    for (struct str rest = {list->data, list->len}; field_get_bytes(&rest, &element); count++) bytes += element.len;
    char *text = tide__arena_alloc(arena, bytes + (count - 1) * separator.len + 1), *at = text;
    for (struct str rest = {list->data, list->len}; field_get_bytes(&rest, &element);) {
        if (element.len > 0) memcpy(at, element.data, element.len);
        at += element.len;
        if (rest.len > 0 && separator.len > 0) {
            memcpy(at, separator.data, separator.len);
            at += separator.len;
        }
    }
    return (struct str){text, (size_t)(at - text)};
}

static void result(const struct aggregator *a, unsigned char *const *payloads, size_t n, struct column *column,
                   struct arena *arena) {
    struct str separator = a->call->parameter.is_null ? STR_LIT(",") : a->call->parameter.str;
    for (size_t i = 0; i < n; i++) {
        const struct list *list = ACC_AT(struct list, payloads, a, i);
        column->nulls[i] = list->len == 0;
        column->str[i] = list->len == 0 ? (struct str){"", 0} : join(list, separator, arena);
    }
}

static void retract(const struct aggregator *a, struct aggregate_rows *in) {
    FOR_EACH_VALUE(struct list, in, a, acc, row, tide__list_remove(acc, in->column->str[row], LIST_FIRST));
}

// Rows that are taken back can't be merged: then the state is the whole list.
#define KERNEL(retract_)                                                                                               \
    {                                                                                                                  \
        .size = sizeof(struct list), .combinable = (retract_) == NULL, .update = update, .retract = retract_,          \
        .merge = tide__list_merge, .result = result, .field_count = 1,                                                 \
        .fields = {{NULL, NULL, STATE_FORM_BYTES, STATE_COMBINE_CONCAT}}, .encode = tide__list_encode,                 \
        .decode = tide__list_decode, .release = tide__list_release,                                                    \
    }

static const struct aggregate_kernel kernel = KERNEL(NULL);
static const struct aggregate_kernel back_kernel = KERNEL(retract);

static const struct aggregate_kernel *bind(const struct aggregator *a, bool retracts) {
    (void)a;
    return retracts ? &back_kernel : &kernel;
}

const struct aggregate_class tide__listagg_class = {bind};
