// Memory that does not fail, with one switch for tests: the environment variable TIDE_FAULT_ALLOC=N makes the
// Nth allocation of the process fail as if the system had no memory left. The variable is read once; when it
// is not set, an allocation pays one load and one branch that is always predicted.
#include "base/alloc.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FAULT_UNKNOWN, FAULT_OFF, FAULT_ON };

// The only mutable globals of base/: they exist for tests, and are constant after the first allocation but for
// the counter.
static atomic_int fault_mode = FAULT_UNKNOWN;
static atomic_llong fault_countdown;
static pthread_once_t fault_once = PTHREAD_ONCE_INIT;

static void read_fault_variable(void) {
    const char *text = getenv("TIDE_FAULT_ALLOC");
    long long nth = text != NULL ? strtoll(text, NULL, 10) : 0;
    atomic_store(&fault_countdown, nth);
    atomic_store(&fault_mode, nth > 0 ? FAULT_ON : FAULT_OFF);
}

__attribute__((noinline, cold)) static bool fault_is_due(void) {
    pthread_once(&fault_once, read_fault_variable);
    if (atomic_load(&fault_mode) != FAULT_ON) return false;
    return atomic_fetch_sub(&fault_countdown, 1) == 1;
}

static inline bool must_fail(void) {
    if (__builtin_expect(atomic_load_explicit(&fault_mode, memory_order_relaxed) == FAULT_OFF, 1)) {
        return false;
    }
    return fault_is_due();
}

// write and _exit, for stdio and exit handlers may need memory themselves.
__attribute__((noreturn, noinline, cold)) static void out_of_memory(void) {
    static const char line[] = "tidemark: out of memory\n";
    ssize_t written = write(STDERR_FILENO, line, sizeof(line) - 1);
    (void)written;
    _exit(1);
}

void *tide__alloc(size_t size) {
    void *pointer = must_fail() ? NULL : malloc(size != 0 ? size : 1);
    if (__builtin_expect(pointer == NULL, 0)) out_of_memory();
    return pointer;
}

void *tide__calloc(size_t count, size_t size) {
    if (count == 0 || size == 0) count = size = 1;
    void *pointer = must_fail() ? NULL : calloc(count, size);
    if (__builtin_expect(pointer == NULL, 0)) out_of_memory();
    return pointer;
}

void *tide__realloc(void *pointer, size_t size) {
    void *moved = must_fail() ? NULL : realloc(pointer, size != 0 ? size : 1);
    if (__builtin_expect(moved == NULL, 0)) out_of_memory();
    return moved;
}

void *tide__realloc_array(void *pointer, size_t count, size_t size) {
    size_t bytes = 0;
    if (__builtin_mul_overflow(count, size, &bytes)) out_of_memory();
    return tide__realloc(pointer, bytes);
}

char *tide__strdup(const char *text) {
    assert(text != NULL);
    return tide__strndup(text, strlen(text));
}

char *tide__strndup(const char *text, size_t len) {
    assert(len < SIZE_MAX);
    char *copy = tide__alloc(len + 1);
    if (len > 0) memcpy(copy, text, len);
    copy[len] = '\0';
    return copy;
}

void tide__free(void *pointer) {
    free(pointer);
}

void *tide__grow(void *pointer, size_t *capacity, size_t needed, size_t element_size) {
    assert(element_size > 0);
    if (pointer != NULL && needed <= *capacity) return pointer;
    size_t grown = *capacity < 8 ? 8 : *capacity;
    while (grown < needed) {
        if (__builtin_mul_overflow(grown, (size_t)2, &grown)) out_of_memory();
    }
    pointer = tide__realloc_array(pointer, grown, element_size);
    *capacity = grown;
    return pointer;
}
