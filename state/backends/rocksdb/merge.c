// RocksDB's merge operator over the closed table of combiners. One operator a column family; its state is the table's desc.
//
// It is called "stringappend", the name of an operator that is built into RocksDB: stock ldb loads options by name and so
// can list and scan a directory of ours. What ldb shows of a key with increments is its parts joined by commas.
#include "base/alloc.h"
#include "state/backends/rocksdb/rocks.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

// Combines what exists (if anything) with the operands, from the oldest to the newest; NULL if a value is malformed. The
// result is allocated: RocksDB hands it back to delete_value.
static char *combine_all(const struct state_table_desc *desc, struct str first, const char *const *operands,
                         const size_t *lengths, int count, char header, size_t *out_length) {
    enum { FEW = 16 };
    struct str few[FEW], *values = few;
    if (count >= FEW) values = tide__realloc_array(NULL, (size_t)count + 1, sizeof *values);
    values[0] = first;
    bool ok = true;
    size_t bytes = first.len;
    for (int i = 0; ok && i < count; i++) {
        ok = lengths[i] > 0;
        if (ok) values[i + 1] = (struct str){operands[i] + 1, lengths[i] - 1};
        bytes += lengths[i];
    }
    struct strbuf sum = {0};
    if (ok) {
        tide__strbuf_reserve(&sum, bytes + 1 + 5 * desc->value_count);
        tide__strbuf_append_char(&sum, header);
        ok = tide__state_combine_all(desc, values, (size_t)count + 1, &sum);
    }
    if (values != few) tide__free(values);
    if (ok) {
        *out_length = sum.len;
        return sum.data;
    }
    tide__strbuf_deinit(&sum);
    return NULL;  // with a length of 0: RocksDB copies first and asks later
}

static char *merge(void *state, struct str first, const char *const *operands, const size_t *lengths, int count,
                   char header, unsigned char *success, size_t *out_length) {
    *out_length = 0;
    char *result = NULL;
    if (first.len > 0) {
        struct str value = {first.data + 1, first.len - 1};
        result = combine_all(state, value, operands, lengths, count, header, out_length);
    }
    *success = result != NULL;
    return result;
}

static char *full_merge(void *state, const char *key, size_t key_len, const char *existing, size_t existing_len,
                        const char *const *operands, const size_t *lengths, int count, unsigned char *success,
                        size_t *out_length) {
    assert(existing || count > 0);
    if (existing) {
        struct str first = {existing, existing_len};
        return merge(state, first, operands, lengths, count, VALUE_REPLACE, success, out_length);
    }
    struct str first = {operands[0], lengths[0]};
    return merge(state, first, operands + 1, lengths + 1, count - 1, VALUE_REPLACE, success, out_length);
}

static char *partial_merge(void *state, const char *key, size_t key_len, const char *const *operands,
                           const size_t *lengths, int count, unsigned char *success, size_t *out_length) {
    struct str first = {operands[0], lengths[0]};
    return merge(state, first, operands + 1, lengths + 1, count - 1, VALUE_ADD, success, out_length);
}

static void delete_value(void *state, const char *value, size_t length) {
    tide__free((void *)(uintptr_t)value);
}

static const char *operator_name(void *state) {
    return "stringappend";
}

static void destroy(void *state) {}

rocksdb_mergeoperator_t *tide__rocks_merge_operator(const struct state_table_desc *desc) {
    return rocksdb_mergeoperator_create((void *)(uintptr_t)desc, destroy, full_merge, partial_merge, delete_value,
                                        operator_name);
}
