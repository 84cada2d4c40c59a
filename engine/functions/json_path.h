// JSON paths: `[strict|lax] $.name[1]['name'].*[*]..name`.
#ifndef TIDE_ENGINE_FUNCTIONS_JSON_PATH_H
#define TIDE_ENGINE_FUNCTIONS_JSON_PATH_H

#include "engine/codec/json.h"

enum json_step_kind {
    JSON_STEP_NAME,
    JSON_STEP_NAMES,  // an object of some members
    JSON_STEP_INDEX,
    JSON_STEP_INDEXES,  // an array of some elements
    JSON_STEP_SLICE,    // from index to end, which is not in it
    JSON_STEP_ALL,
    JSON_STEP_DEEP,
    JSON_STEP_LENGTH,  // `.length()`
};
struct json_step {
    enum json_step_kind kind;
    struct str name;  // NAME, DEEP
    int64_t index;    // INDEX, SLICE; negative: from the end
    int64_t end;      // SLICE
    size_t count;     // NAMES, INDEXES
    struct str *names;
    int64_t *indexes;
};

struct json_path {
    bool lax;   // what is missing is no error
    bool many;  // may find several values: the result is an array of them
    size_t count;
    struct json_step *steps;
};

// False: *out_problem says what is wrong.
bool tide__json_path_parse(struct str text, struct arena *arena, struct json_path *out, const char **out_problem);
// The value a path finds in a document. False: there is none.
bool tide__json_path_find(const struct json_path *path, const struct json *root, struct arena *arena, struct json *out);

#endif
