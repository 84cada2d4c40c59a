// See option_value.h.
#include "engine/formats/option_value.h"

#include <stdio.h>
#include <string.h>

tide_status tide__option_boolean(const struct table *table, const char *key, bool *out, tide_error *err) {
    const struct option *option = tide__table_option(table, key);
    if (option == NULL) return TIDE_OK;
    *out = tide__str_ieq_c(option->value, "true");
    if (*out || tide__str_ieq_c(option->value, "false")) return TIDE_OK;
    tide__fail_at(err, TIDE_ERR_VALIDATE, option->value_pos, "option '%s' must be 'true' or 'false', not '%.*s'", key,
                  STR_ARG(option->value));
    return TIDE_ERR_VALIDATE;
}

tide_status tide__option_word(const struct table *table, const char *key, const char *const *words, size_t count,
                              bool any_case, size_t *out, tide_error *err) {
    const struct option *option = tide__table_option(table, key);
    if (option == NULL) return TIDE_OK;
    for (size_t i = 0; i < count; i++) {
        bool same = any_case ? tide__str_ieq_c(option->value, words[i]) : tide__str_eq_c(option->value, words[i]);
        if (!same) continue;
        *out = i;
        return TIDE_OK;
    }
    char list[160];
    size_t len = 0;
    for (size_t i = 0; i < count && len < sizeof(list); i++) {
        const char *before = i == 0 ? "" : i + 1 < count ? ", " : " or ";
        len += (size_t)snprintf(list + len, sizeof(list) - len, "%s'%s'", before, words[i]);
    }
    tide__fail_at(err, TIDE_ERR_VALIDATE, option->value_pos, "option '%s' can't be '%.*s'", key,
                  STR_ARG(option->value));
    return tide__fail_hint(err, "use %s", list);
}
