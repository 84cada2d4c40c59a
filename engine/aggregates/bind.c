// All aggregates of an operator as one payload: layout, and each step for every one of them.
#include "engine/aggregates/accumulator.h"

#include <assert.h>

enum { NOTHING_BYTES = 256 };

static tide_status refuse_retract(const struct aggregate_call *call, tide_error *err) {
    return tide__fail_at(err, TIDE_ERR_PLAN, call->pos, "%s cannot take rows back, but its input has updates",
                         call->name);
}

static tide_status bind_one(struct aggregator *a, const struct aggregate_call *call, bool retract, struct arena *arena,
                            tide_error *err) {
    *a = (struct aggregator){.call = call, .type = call->type};
    if (call->arg_count > 0) {
        a->argument = call->arg_types[0];
        a->physical = tide__type_physical(a->argument);
    }
    a->kernel = call->aggregate->class->bind(a, retract);
    if (a->kernel == NULL) return refuse_retract(call, err);
    // MIN(DISTINCT x) is MIN(x), and so for MAX.
    bool extreme = call->aggregate->class == &tide__min_class || call->aggregate->class == &tide__max_class;
    bool distinct = call->distinct && a->argument != NULL && !extreme;
    bool multiset = retract && a->kernel->retract == NULL && a->argument != NULL && !distinct;
    if (distinct || multiset) {
        struct aggregator *inner = ARENA_NEW(arena, struct aggregator);
        *inner = *a;
        a->inner = inner;
        a->multiset = multiset;
        a->kernel = tide__distinct_kernel(a);
    }
    if (retract && a->kernel->retract == NULL) return refuse_retract(call, err);
    return TIDE_OK;
}

// What a field holds, for those who look at the state without the engine.
static const char *field_type(const struct aggregator *a, const struct state_field *field, struct arena *arena) {
    if (a->inner != NULL) return tide__arena_printf(arena, "MULTISET<%s>", tide__type_text(arena, a->argument));
    if (field->type != NULL) return field->type;
    // Sums of AVG have the argument's scale, not the quotient's.
    bool sum = field->form == STATE_FORM_I128 && field->name != NULL && a->argument->kind == TYPE_DECIMAL;
    if (sum) return tide__arena_printf(arena, "DECIMAL(%d, %d)", DECIMAL_PRECISION_MAX, a->argument->scale);
    return tide__type_text(arena, a->type);
}

static void describe(struct aggregators *aggregators, struct arena *arena) {
    for (uint32_t i = 0; i < aggregators->count; i++)
        aggregators->field_count += aggregators->items[i].kernel->field_count;
    aggregators->fields = ARENA_ARRAY(arena, struct state_field, aggregators->field_count);
    struct state_field *field = aggregators->fields;
    for (uint32_t i = 0; i < aggregators->count; i++) {
        const struct aggregator *a = &aggregators->items[i];
        for (size_t k = 0; k < a->kernel->field_count; k++, field++) {
            *field = a->kernel->fields[k];
            field->type = field_type(a, field, arena);
            field->name = tide__arena_printf(arena, "%s%s", a->call->name, field->name == NULL ? "" : field->name);
        }
    }
}

tide_status tide__aggregators_bind(struct aggregators *aggregators, const struct aggregate_call *calls, uint32_t count,
                                   bool retract, struct arena *arena, tide_error *err) {
    *aggregators = (struct aggregators){.count = count, .combinable = true, .unmergeable = true};
    aggregators->items = ARENA_ARRAY(arena, struct aggregator, count);
    for (uint32_t i = 0; i < count; i++) {
        struct aggregator *a = &aggregators->items[i];
        TIDE_TRY(bind_one(a, &calls[i], retract && !calls[i].forward, arena, err));
        assert(a->kernel->size % 8 == 0);
        a->offset = aggregators->payload_size;
        aggregators->payload_size += a->kernel->size;
        aggregators->combinable &= a->kernel->combinable;
        aggregators->unmergeable &= a->kernel->unmerge != NULL;
        aggregators->drops_known |= a->kernel->drop_known != NULL;
        aggregators->has_pieces |= a->kernel->cut != NULL;
        aggregators->owns_memory |= a->kernel->release != NULL;
    }
    describe(aggregators, arena);
    return TIDE_OK;
}

// Keeps the rows whose FILTER is true.
static void filter_rows(const struct column *filter, struct aggregate_rows *in) {
    unsigned char **payloads = tide__arena_alloc(in->arena, in->n * sizeof *payloads);
    uint32_t *rows = tide__arena_alloc(in->arena, in->n * sizeof *rows);
    size_t n = 0;
    for (size_t i = 0; i < in->n; i++) {
        uint32_t row = in->rows[i];
        payloads[n] = in->payloads[i];
        rows[n] = row;
        n += filter->bools[row] != 0 && !tide__column_is_null(filter, row);
    }
    in->payloads = payloads;
    in->rows = rows;
    in->n = n;
}

static int64_t apply(const struct aggregators *aggregators, const struct batch *batch, unsigned char *const *payloads,
                     const uint32_t *rows, size_t n, struct arena *arena, bool retract) {
    int64_t charge = 0;
    for (uint32_t i = 0; i < aggregators->count; i++) {
        const struct aggregator *a = &aggregators->items[i];
        if (retract && a->call->forward) continue;
        struct aggregate_rows in = {payloads, rows, n, batch, NULL, arena, 0};
        if (a->argument != NULL) in.column = &batch->columns[a->call->args[0]];
        if (a->call->filter >= 0) filter_rows(&batch->columns[a->call->filter], &in);
        if (retract) {
            a->kernel->retract(a, &in);
        } else {
            a->kernel->update(a, &in);
        }
        charge += in.charge;
    }
    return charge;
}

int64_t tide__aggregators_update(const struct aggregators *aggregators, const struct batch *batch,
                                 unsigned char *const *payloads, const uint32_t *rows, size_t n, struct arena *arena) {
    return apply(aggregators, batch, payloads, rows, n, arena, false);
}

int64_t tide__aggregators_retract(const struct aggregators *aggregators, const struct batch *batch,
                                  unsigned char *const *payloads, const uint32_t *rows, size_t n, struct arena *arena) {
    return apply(aggregators, batch, payloads, rows, n, arena, true);
}

int64_t tide__aggregators_merge(const struct aggregators *aggregators, unsigned char *into, const unsigned char *from) {
    int64_t charge = 0;
    for (uint32_t i = 0; i < aggregators->count; i++) {
        const struct aggregator *a = &aggregators->items[i];
        a->kernel->merge(a, into + a->offset, from + a->offset, &charge);
    }
    return charge;
}

int64_t tide__aggregators_drop_known(const struct aggregators *aggregators, unsigned char *payload,
                                     const unsigned char *older) {
    int64_t charge = 0;
    for (uint32_t i = 0; i < aggregators->count; i++) {
        const struct aggregator *a = &aggregators->items[i];
        if (a->kernel->drop_known == NULL) continue;
        a->kernel->drop_known(a, payload + a->offset, older + a->offset, &charge);
    }
    return charge;
}

void tide__aggregators_unmerge(const struct aggregators *aggregators, unsigned char *into, const unsigned char *from) {
    for (uint32_t i = 0; i < aggregators->count; i++) {
        const struct aggregator *a = &aggregators->items[i];
        a->kernel->unmerge(a, into + a->offset, from + a->offset);
    }
}

void tide__aggregators_result(const struct aggregators *aggregators, unsigned char *const *payloads, size_t n,
                              struct column *columns, struct arena *arena) {
    for (uint32_t i = 0; i < aggregators->count; i++) {
        const struct aggregator *a = &aggregators->items[i];
        a->kernel->result(a, payloads, n, &columns[i], arena);
    }
}

void tide__aggregators_prefetch(const struct aggregators *aggregators, const unsigned char *payload) {
    for (uint32_t i = 0; i < aggregators->count; i++) {
        const struct aggregator *a = &aggregators->items[i];
        // All that own memory begin with a pointer to it.
        if (a->kernel->release != NULL) __builtin_prefetch(*(const void *const *)(const void *)(payload + a->offset));
    }
}

void tide__aggregators_encode(const struct aggregators *aggregators, const unsigned char *payload, struct strbuf *out) {
    for (uint32_t i = 0; i < aggregators->count; i++) {
        const struct aggregator *a = &aggregators->items[i];
        a->kernel->encode(a, payload + a->offset, out);
    }
}

static bool goes_in_pieces(const struct aggregator *a, const unsigned char *payload) {
    return a->kernel->cut != NULL && a->kernel->wants_pieces(a, payload + a->offset);
}

bool tide__aggregators_want_pieces(const struct aggregators *aggregators, const unsigned char *payload) {
    for (uint32_t i = 0; aggregators->has_pieces && i < aggregators->count; i++)
        if (goes_in_pieces(&aggregators->items[i], payload)) return true;
    return false;
}

// What an accumulator without rows is encoded as.
static void encode_nothing(const struct aggregator *a, struct strbuf *out) {
    _Alignas(16) static const unsigned char nothing[NOTHING_BYTES] = {0};
    assert(a->kernel->size <= sizeof nothing);
    a->kernel->encode(a, nothing, out);
}

void tide__aggregators_encode_rest(const struct aggregators *aggregators, const unsigned char *payload,
                                   struct strbuf *out) {
    for (uint32_t i = 0; i < aggregators->count; i++) {
        const struct aggregator *a = &aggregators->items[i];
        if (goes_in_pieces(a, payload)) {
            encode_nothing(a, out);
        } else {
            a->kernel->encode(a, payload + a->offset, out);
        }
    }
}

bool tide__aggregators_encode_piece(const struct aggregators *aggregators, uint32_t index, const unsigned char *payload,
                                    const void *cut, uint32_t piece, struct strbuf *out) {
    for (uint32_t i = 0; i < aggregators->count; i++) {
        const struct aggregator *a = &aggregators->items[i];
        if (i != index) {
            encode_nothing(a, out);
        } else if (!a->kernel->encode_piece(a, payload + a->offset, cut, piece, out)) {
            return false;
        }
    }
    return true;
}

bool tide__aggregators_decode(const struct aggregators *aggregators, struct str value, unsigned char *payload,
                              int64_t *charge) {
    for (uint32_t i = 0; i < aggregators->count; i++) {
        const struct aggregator *a = &aggregators->items[i];
        if (!a->kernel->decode(a, &value, payload + a->offset, charge)) return false;
    }
    return value.len == 0;
}

// The long way, by its encoding: nobody keeps count of what a payload owns.
int64_t tide__aggregators_move(const struct aggregators *aggregators, unsigned char *payload, unsigned char *from,
                               struct strbuf *scratch) {
    if (!aggregators->owns_memory) {
        memset(from, 0, aggregators->payload_size);
        return 0;
    }
    int64_t charge = 0;
    memset(payload, 0, aggregators->payload_size);
    tide__strbuf_clear(scratch);
    tide__aggregators_encode(aggregators, from, scratch);
    bool good = tide__aggregators_decode(aggregators, tide__strbuf_str(scratch), payload, &charge);
    assert(good);
    (void)good;
    tide__aggregators_release(from, (void *)(uintptr_t)aggregators);
    return charge;
}

void tide__aggregators_release(void *payload, void *ctx) {
    const struct aggregators *aggregators = ctx;
    for (uint32_t i = 0; i < aggregators->count; i++) {
        const struct aggregator *a = &aggregators->items[i];
        void *accumulator = (unsigned char *)payload + a->offset;
        if (a->kernel->release != NULL) {
            a->kernel->release(a, accumulator);
        } else {
            memset(accumulator, 0, a->kernel->size);
        }
    }
}
