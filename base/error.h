// Failing: one status, one caller-owned error, two macros that pass a failure on.
//
// The first error wins: tide__fail and tide__fail_at write `err` only while it holds none. Adding context
// later (file, hint) completes it and never replaces it.
#ifndef TIDE_BASE_ERROR_H
#define TIDE_BASE_ERROR_H

#include "tidemark.h"

#define TIDE_CHECKED           __attribute__((warn_unused_result))
#define TIDE_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

// A place in a source text. line and column from 1, column in code points; offset and length in bytes.
struct source_pos {
    uint32_t line, column;
    uint32_t offset, length;
};

// Returns from the calling function when `call` fails.
#define TIDE_TRY(call)                                                                                                 \
    do {                                                                                                               \
        tide_status tide_try_status_ = (call);                                                                         \
        if (tide_try_status_ != TIDE_OK) return tide_try_status_;                                                      \
    } while (0)

// Stores the status of `call` in `status` and jumps to `label` when it fails.
#define TIDE_TRY_OR(status, call, label)                                                                               \
    do {                                                                                                               \
        (status) = (call);                                                                                             \
        if ((status) != TIDE_OK) goto label;                                                                           \
    } while (0)

// An empty error: call before the first use of a stack variable.
void tide__error_clear(tide_error *err);

// Sets message and status (unless `err` already holds a failure) and returns `status`.
tide_status tide__fail(tide_error *err, tide_status status, const char *format, ...) TIDE_PRINTF(3, 4);

// The same with a place in the source text.
tide_status tide__fail_at(tide_error *err, tide_status status, struct source_pos pos, const char *format, ...)
    TIDE_PRINTF(4, 5);

// Sets the hint if there is none yet. Returns err->status, so that it can be returned.
tide_status tide__fail_hint(tide_error *err, const char *format, ...) TIDE_PRINTF(2, 3);

// A failed system call: "message: strerror(error_number)", TIDE_ERR_IO.
tide_status tide__fail_errno(tide_error *err, int error_number, const char *format, ...) TIDE_PRINTF(3, 4);

// Names the file of an error that has none yet.
void tide__error_set_file(tide_error *err, const char *file);

// Fills excerpt and caret from `text` (the whole source, `text_len` bytes) by line and column. Long lines
// are cut around the place. Invalid UTF-8 and control characters are shown as '?'.
void tide__error_set_excerpt(tide_error *err, const char *text, size_t text_len);

#endif
