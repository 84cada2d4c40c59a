// RocksDB's merge operator over the closed table of combiners. One operator a column family; its state is the table's desc.
//
// It is called "stringappend", the name of an operator that is built into RocksDB: stock ldb loads options by name and so
// can list and scan a directory of ours. What ldb shows of a key with increments is its parts joined by commas.
#include "base/alloc.h"
#include "state/backends/rocksdb/rocks.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

// Combines operands (and what exists, if anything) from the oldest to the newest; NULL if a value is malformed. The
// result is allocated: RocksDB hands it back to delete_value.
static char *combine_all(const struct state_table_desc *desc, struct str first, const char *const *operands,
                         const size_t *lengths, int count, char header, size_t *out_length) {
    // Behind the header, so that the last sum is the result: values may be large.
    struct strbuf sums[2] = {{0}, {0}};
    int at = 0;
    tide__strbuf_append_char(&sums[at], header);
    tide__strbuf_append_str(&sums[at], first);
    bool ok = true;
    for (int i = 0; ok && i < count; i++) {
        struct strbuf *to = &sums[1 - at];
        tide__strbuf_clear(to);
        tide__strbuf_append_char(to, header);
        struct str sum = {sums[at].data + 1, sums[at].len - 1};
        ok = lengths[i] > 0 && tide__state_combine(desc, sum, (struct str){operands[i] + 1, lengths[i] - 1}, to);
        at = 1 - at;
    }
    tide__strbuf_deinit(&sums[1 - at]);
    if (ok) {
        *out_length = sums[at].len;
        return sums[at].data;
    }
    tide__strbuf_deinit(&sums[at]);
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
