// The table of formats.
#include "engine/formats/format.h"

extern const struct format_class tide__csv_format, tide__json_format, tide__raw_format;

static const struct format_class *const formats[] = {&tide__csv_format, &tide__json_format, &tide__raw_format};
static const char *const names[] = {"csv", "json", "raw"};

const struct format_class *tide__format_find(struct str name) {
    for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
        if (tide__str_eq_c(name, formats[i]->name)) return formats[i];
    }
    return NULL;
}

const char *const *tide__format_names(size_t *out_count) {
    *out_count = sizeof(names) / sizeof(*names);
    return names;
}
