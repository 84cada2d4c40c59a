// Small helpers shared by the kernels: where an accumulator lies, and integers cut to their SQL type.
#ifndef TIDE_ENGINE_AGGREGATES_ACCUMULATOR_H
#define TIDE_ENGINE_AGGREGATES_ACCUMULATOR_H

#include "engine/aggregates/aggregate.h"

#include <string.h>

// Payloads are aligned to 16, accumulators only to 8.
typedef int128 int128_unaligned __attribute__((aligned(8)));

// Integer results wrap to their type, as each of Flink's additions does.
static inline int64_t wrap_to(const struct type *type, int64_t v) {
    switch (type->kind) {
    case TYPE_TINYINT: return (int8_t)v;
    case TYPE_SMALLINT: return (int16_t)v;
    case TYPE_INT: return (int32_t)v;
    default: return v;
    }
}

// FLOAT arithmetic: each operation rounds.
static inline double round_to(const struct type *type, double v) {
    return type->kind == TYPE_FLOAT ? (double)(float)v : v;
}

static inline void set_null(struct column *column, size_t row) {
    column->nulls[row] = 1;
    memset((char *)column->data + row * tide__physical_size(column->physical), 0,
           tide__physical_size(column->physical));
}

// Calls `body` with `acc` and `row` for each row whose argument is not NULL.
#define FOR_EACH_VALUE(type, in, aggregator, acc, row, body)                                                           \
    do {                                                                                                               \
        const uint8_t *nulls_ = (in)->column->nulls;                                                                   \
        const uint32_t offset_ = (aggregator)->offset;                                                                 \
        if (nulls_ == NULL) {                                                                                          \
            for (size_t i_ = 0; i_ < (in)->n; i_++) {                                                                  \
                type *acc = (type *)(void *)((in)->payloads[i_] + offset_);                                            \
                const uint32_t row = (in)->rows[i_];                                                                   \
                body;                                                                                                  \
            }                                                                                                          \
        } else {                                                                                                       \
            for (size_t i_ = 0; i_ < (in)->n; i_++) {                                                                  \
                const uint32_t row = (in)->rows[i_];                                                                   \
                if (nulls_[row]) continue;                                                                             \
                type *acc = (type *)(void *)((in)->payloads[i_] + offset_);                                            \
                body;                                                                                                  \
            }                                                                                                          \
        }                                                                                                              \
    } while (0)

// Asks for what the accumulators of an update begin with a pointer to: they lie anywhere, and are needed one after the other.
static inline void tide__aggregator_prefetch(const struct aggregator *aggregator, const struct aggregate_rows *in) {
    for (size_t i = 0; i < in->n; i++)
        __builtin_prefetch(*(const void *const *)(const void *)(in->payloads[i] + aggregator->offset));
}

// The accumulator of result row i.
#define ACC_AT(type, payloads, aggregator, i) ((const type *)(const void *)((payloads)[i] + (aggregator)->offset))

#endif
