// Values of formats' options, checked as Flink checks them, with the place of what is wrong.
#ifndef TIDE_ENGINE_FORMATS_OPTION_VALUE_H
#define TIDE_ENGINE_FORMATS_OPTION_VALUE_H

#include "base/error.h"
#include "engine/plan.h"

// `true` or `false` in any case; *out stays if the table has no such option.
tide_status tide__option_boolean(const struct table *table, const char *key, bool *out, tide_error *err) TIDE_CHECKED;
// One of `count` words; *out is its index. any_case: Flink compares without case.
tide_status tide__option_word(const struct table *table, const char *key, const char *const *words, size_t count,
                              bool any_case, size_t *out, tide_error *err) TIDE_CHECKED;

#endif
