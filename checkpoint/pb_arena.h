// An allocator for protobuf-c: an arena with a limit. A hostile message of a few bytes can ask for a lot of memory
// (an empty sub-message takes two bytes and becomes a struct), so that unpacking fails once the limit is reached.
#ifndef TIDE_CHECKPOINT_PB_ARENA_H
#define TIDE_CHECKPOINT_PB_ARENA_H

#include "base/arena.h"

#include <protobuf-c/protobuf-c.h>

struct pb_arena {
    struct arena *arena;
    size_t left;  // bytes that may still be taken
};

static inline void *pb_arena_take(void *data, size_t size) {
    struct pb_arena *memory = data;
    if (size > memory->left) return NULL;
    memory->left -= size;
    return tide__arena_alloc(memory->arena, size);
}

static inline void pb_arena_give(void *data, void *pointer) {
    (void)data, (void)pointer;
}

// The arena and its limit must outlive the allocator.
static inline ProtobufCAllocator tide__pb_allocator(struct pb_arena *memory) {
    return (ProtobufCAllocator){.alloc = pb_arena_take, .free = pb_arena_give, .allocator_data = memory};
}

#endif
