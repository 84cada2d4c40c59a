// Arena blocks form a list, newest first. Only the newest is filled; blocks grow from 4 KiB by doubling to
// 1 MiB. What does not fit a block of the next size gets a block of its own, which is put behind the newest so
// that the free space there stays in use.
#include "base/arena.h"

#include "base/alloc.h"

#include <assert.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define BLOCK_BYTES_MIN ((size_t)4096)
#define BLOCK_BYTES_MAX ((size_t)1 << 20)
#define ALIGNMENT       ((size_t)16)

struct arena_block {
    struct arena_block *next;  // older
    size_t size;               // bytes with this header
};

static_assert(sizeof(struct arena_block) == ALIGNMENT, "the data behind a header is aligned");

static struct arena_block *block_new(size_t size) {
    struct arena_block *block = tide__alloc(size);
    block->size = size;
    block->next = NULL;
    return block;
}

static void use_block(struct arena *arena, struct arena_block *block) {
    arena->head = block;
    arena->at = (char *)(block + 1);
    arena->end = (char *)block + block->size;
}

void tide__arena_init(struct arena *arena) {
    *arena = (struct arena){0};
}

void tide__arena_deinit(struct arena *arena) {
    struct arena_block *block = arena->head;
    while (block != NULL) {
        struct arena_block *next = block->next;
        tide__free(block);
        block = next;
    }
    *arena = (struct arena){0};
}

void tide__arena_reset(struct arena *arena) {
    struct arena_block *largest = arena->head;
    if (largest == NULL) return;
    for (struct arena_block *b = largest->next; b != NULL; b = b->next) {
        if (b->size > largest->size) largest = b;
    }
    struct arena_block *block = arena->head;
    while (block != NULL) {
        struct arena_block *next = block->next;
        if (block != largest) tide__free(block);
        block = next;
    }
    largest->next = NULL;
    use_block(arena, largest);
}

__attribute__((noinline)) static void *alloc_in_new_block(struct arena *arena, size_t size) {
    size_t block_size = BLOCK_BYTES_MIN;
    if (arena->head != NULL && arena->head->size >= BLOCK_BYTES_MIN) block_size = arena->head->size * 2;
    if (block_size > BLOCK_BYTES_MAX) block_size = BLOCK_BYTES_MAX;

    if (size > block_size - sizeof(struct arena_block)) {
        struct arena_block *own = block_new(size + sizeof(struct arena_block));
        if (arena->head == NULL) {
            use_block(arena, own);
            arena->at = arena->end;
        } else {
            own->next = arena->head->next;
            arena->head->next = own;
        }
        return own + 1;
    }
    struct arena_block *block = block_new(block_size);
    block->next = arena->head;
    use_block(arena, block);
    void *result = arena->at;
    arena->at += size;
    return result;
}

void *tide__arena_alloc(struct arena *arena, size_t size) {
    // A size no machine has fails in tide__alloc instead of wrapping around here.
    if (size > SIZE_MAX / 2) return tide__alloc(SIZE_MAX / 2);
    size = size == 0 ? ALIGNMENT : (size + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
    if (__builtin_expect(size > (size_t)(arena->end - arena->at), 0)) {
        return alloc_in_new_block(arena, size);
    }
    void *result = arena->at;
    arena->at += size;
    return result;
}

void *tide__arena_zalloc(struct arena *arena, size_t size) {
    void *result = tide__arena_alloc(arena, size);
    memset(result, 0, size);
    return result;
}

char *tide__arena_strndup(struct arena *arena, const char *text, size_t len) {
    char *copy = tide__arena_alloc(arena, len + 1);
    if (len > 0) memcpy(copy, text, len);
    copy[len] = '\0';
    return copy;
}

char *tide__arena_printf(struct arena *arena, const char *format, ...) {
    assert(format != NULL);
    // Printed where it will lie; once more only if the block has no room for it.
    size_t room = (size_t)(arena->end - arena->at);
    va_list args;
    va_start(args, format);
    int len = vsnprintf(arena->at, room, format, args);
    va_end(args);
    assert(len >= 0);
    char *text = tide__arena_alloc(arena, (size_t)len + 1);
    if ((size_t)len < room) return text;
    va_start(args, format);
    vsnprintf(text, (size_t)len + 1, format, args);
    va_end(args);
    return text;
}

size_t tide__arena_bytes(const struct arena *arena) {
    size_t bytes = 0;
    for (const struct arena_block *b = arena->head; b != NULL; b = b->next) bytes += b->size;
    return bytes;
}
