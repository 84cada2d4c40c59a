// The names of a node's columns while they are given out: each once, the later ones with a number behind.
#ifndef TIDE_SQL_NAMES_H
#define TIDE_SQL_NAMES_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

struct name_set {
    struct arena *arena;
    struct name_slot *slots;
    uint32_t capacity, count;
};

// Takes a name in. False: it was there already.
bool tide__names_note(struct name_set *set, const char *name);
// Takes a name in that is free: `name` itself, or name0, name1, ...
const char *tide__names_unique(struct name_set *set, const char *name);

#endif
