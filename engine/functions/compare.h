// Comparing columns: shared by the comparison operators, IN, GREATEST and LEAST.
#ifndef TIDE_ENGINE_FUNCTIONS_COMPARE_H
#define TIDE_ENGINE_FUNCTIONS_COMPARE_H

#include "engine/expr/kernel.h"

enum compare_op { COMPARE_EQ, COMPARE_NE, COMPARE_LT, COMPARE_LE, COMPARE_GT, COMPARE_GE };

// out[row] = a op b for the selected rows, NULLs ignored.
void tide__compare(const struct column *a, const struct column *b, enum compare_op op, struct selection rows,
                   uint8_t *out);
// Makes arguments i and j comparable; fails if they are not.
tide_status tide__compare_coerce(struct infer_context *ctx, struct expr *call, uint32_t i, uint32_t j,
                                 tide_error *err) TIDE_CHECKED;

#endif
