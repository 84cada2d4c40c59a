// The table of scalar functions and its lookups.
#include "engine/functions/functions_list.h"

#include <string.h>

#define ENTRY(symbol, name) &tide__fn_##symbol,
static const struct function *const functions[] = {FUNCTIONS(ENTRY)};
#undef ENTRY

#define ENTRY(symbol, name) name,
static const char *const names[] = {FUNCTIONS(ENTRY)};
#undef ENTRY

enum { FUNCTION_COUNT = sizeof functions / sizeof *functions };

const struct function *tide__function_find(struct str name) {
    char upper[64];
    if (name.len >= sizeof upper) return NULL;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.data[i];
        upper[i] = c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
    }
    upper[name.len] = 0;
    size_t low = 0, high = FUNCTION_COUNT;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int by = strcmp(upper, names[middle]);
        if (by == 0) return functions[middle];
        if (by < 0) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return NULL;
}

const char *const *tide__function_names(size_t *out_count) {
    *out_count = FUNCTION_COUNT;
    return names;
}
