// All memory of the engine comes from here, so that tests can make the nth allocation fail.
//
// No function returns NULL: when memory runs out, the process ends with status 1 after one line on stderr.
// That is safe by design, for savepoints are the truth and the working state is disposable.
#ifndef TIDE_BASE_ALLOC_H
#define TIDE_BASE_ALLOC_H

#include <stddef.h>

// malloc, calloc and realloc that do not fail; a size of 0 gives a unique pointer.
void *tide__alloc(size_t size) __attribute__((malloc, returns_nonnull));
void *tide__calloc(size_t count, size_t size) __attribute__((malloc, returns_nonnull));
void *tide__realloc(void *pointer, size_t size) __attribute__((returns_nonnull));
// Checked count * size.
void *tide__realloc_array(void *pointer, size_t count, size_t size) __attribute__((returns_nonnull));
char *tide__strdup(const char *text) __attribute__((malloc, returns_nonnull));
char *tide__strndup(const char *text, size_t len) __attribute__((malloc, returns_nonnull));
void tide__free(void *pointer);

// Grows *capacity (in elements) to at least `needed`, doubling; used by all growing arrays.
void *tide__grow(void *pointer, size_t *capacity, size_t needed, size_t element_size) __attribute__((returns_nonnull));

#endif
