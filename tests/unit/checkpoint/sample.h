// A small savepoint to read, damage and compare: two tables, one of them windowed, and a manifest with every field set.
#ifndef TESTS_UNIT_CHECKPOINT_SAMPLE_H
#define TESTS_UNIT_CHECKPOINT_SAMPLE_H

#include "base/str.h"
#include "checkpoint/savepoint.h"

// A folder that is removed when the test process ends... by sample_dir_remove.
char *sample_dir(void);
void sample_dir_remove(char *dir);

// What sample_write puts into the state.
struct sample_shape {
    size_t windows, keys;  // keys a window
    size_t keyed;          // entries of the keyed table
    size_t large_value;    // bytes of one more value; 0: none
    size_t long_keys;      // entries of the keyed table with keys of sample_long_key and a chunk each
    uint64_t id;           // of the checkpoint; 0: sample_info's
};

const struct savepoint_info *sample_info(void);
void sample_key(size_t window, size_t key, char out[24]);
// Some of them have their first 5,000 bytes in common. To be freed by tide__free.
struct str sample_long_key(size_t i);
uint64_t sample_value(size_t window, size_t key);
// Writes a savepoint and returns its size.
uint64_t sample_write(const char *path, struct sample_shape shape);
// The whole file.
struct strbuf sample_read(const char *path);

#endif
