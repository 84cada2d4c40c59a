// An arena: many small allocations, one free. Nothing in it may own files, handles or other memory.
#ifndef TIDE_BASE_ARENA_H
#define TIDE_BASE_ARENA_H

#include <stddef.h>

struct arena_block;
struct arena {
    struct arena_block *head;  // newest block; private
    char *at, *end;            // free space of the newest block; private
};

void tide__arena_init(struct arena *arena);
// Frees everything; the arena may be used again.
void tide__arena_deinit(struct arena *arena);
// Forgets everything but keeps the largest block, for arenas that are reset once a batch.
void tide__arena_reset(struct arena *arena);
// `size` bytes aligned to 16, not initialised. Never NULL.
void *tide__arena_alloc(struct arena *arena, size_t size) __attribute__((returns_nonnull));
void *tide__arena_zalloc(struct arena *arena, size_t size) __attribute__((returns_nonnull));
// A copy with a NUL behind it.
char *tide__arena_strndup(struct arena *arena, const char *text, size_t len) __attribute__((returns_nonnull));
char *tide__arena_printf(struct arena *arena, const char *format, ...)
    __attribute__((returns_nonnull, format(printf, 2, 3)));
// Bytes held from the system.
size_t tide__arena_bytes(const struct arena *arena);

#define ARENA_NEW(arena, type)          ((type *)tide__arena_zalloc((arena), sizeof(type)))
#define ARENA_ARRAY(arena, type, count) ((type *)tide__arena_zalloc((arena), sizeof(type) * (count)))

#endif
