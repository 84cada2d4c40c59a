// See sample.h.
#include "sample.h"

#include "base/alloc.h"

#include <check.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *sample_dir(void) {
    char *dir = tide__strdup("/tmp/tidemark-checkpoint-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(dir));
    return dir;
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *at) {
    (void)info, (void)type, (void)at;
    return remove(path);
}

void sample_dir_remove(char *dir) {
    nftw(dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    tide__free(dir);
}

// --- the manifest -------------------------------------------------------------------------------------------------

const struct savepoint_info *sample_info(void) {
    static const struct plan_clause source_clauses[] = {{"source.table", "Bid", 1, 14, "Bid"}};
    static const struct plan_clause rank_clauses[] = {{"topn.limit", "3", 9, 7, "rk <= 3"},
                                                      {"topn.partition", "", 0, 0, NULL}};
    static const char *const rank_inputs[] = {"scan-0", "window-aggregate-1"};
    static const struct plan_operator operators[] = {
        {.operator_id = "scan-0", .kind = "scan", .fingerprint = 1, .clause_count = 1, .clauses = source_clauses},
        {.operator_id = "window-rank-2",
         .kind = "window-rank",
         .uid = "top",
         .stateful = true,
         .fingerprint = UINT64_MAX,
         .clause_count = 2,
         .clauses = rank_clauses,
         .input_count = 2,
         .inputs = rank_inputs},
    };
    static struct task_part parts[] = {
        {.kind = TASK_PART_SOURCE,
         .operator_id = "scan-0",
         .watermark = INT64_MIN,
         .saved = {"a\0b", 3},
         .watermark_reached = -5,
         .watermark_let_out = INT64_MIN,
         .rows = 7,
         .rows_in = 8,
         .rows_out = 9,
         .late_rows = 10,
         .windows_fired = 11},
        {.kind = TASK_PART_OPERATOR, .operator_id = "window-rank-2", .watermark = INT64_MAX, .rows_out = UINT64_MAX},
        {.kind = TASK_PART_SINK, .operator_id = "sink-3", .watermark = 60000},
    };
    static const struct savepoint_info info = {
        .format_version = SAVEPOINT_FORMAT_VERSION,
        .writer_version = "0.1.0",
        .job_name = "insert-into_Top",
        .script_name = "dir/top3.sql",
        .sql = {"SELECT 1;\n-- it's \xff", 19},
        .statement_index = 2,
        .rows_before = 100,
        .checkpoint_id = 12,
        .created_ms = 1700000000123,
        .run_id = "0lq1abc01",
        .plan = {.operator_count = 2, .operators = operators},
        .snapshot = {.part_count = 3, .parts = parts, .rows = 7, .turn = 1, .turn_rows = 3, .ended = true},
    };
    return &info;
}

// --- the state ----------------------------------------------------------------------------------------------------

static void put_sortable(int64_t v, char *out) {
    uint64_t bits = (uint64_t)v ^ (UINT64_C(1) << 63);
    for (int i = 0; i < 8; i++) out[i] = (char)(bits >> (56 - 8 * i));
}

void sample_key(size_t window, size_t key, char out[24]) {
    int64_t start = ((int64_t)window - 1) * 60000;  // the first begins before 1970
    put_sortable(start, out);
    put_sortable(start + 60000, out + 8);
    put_sortable((int64_t)key * 3, out + 16);
}

uint64_t sample_value(size_t window, size_t key) {
    return window * 1000003 + key;
}

struct writing {
    const char *path;
    struct state_store *store;
    struct savepoint_info info;
    uint64_t bytes;
    tide_error err;
};

static void write_it(void *ctx, struct state_snapshot *snapshot, const tide_error *err) {
    struct writing *writing = ctx;
    if (snapshot == NULL) {
        writing->err = *err;
        return;
    }
    writing->err.status = tide__savepoint_write(writing->path, &writing->info, writing->store, snapshot,
                                                &writing->bytes, &writing->err);
    tide__state_snapshot_release(snapshot);
}

struct str sample_long_key(size_t i) {
    enum { LEN = 300000 };
    char *key = tide__alloc(LEN);
    memset(key, (char)0xFF, LEN);
    memcpy(key, "zy", 2);
    if (i / 4 % 2 == 0) key[2] = (char)('0' + i / 4);
    key[5000] = (char)('0' + i % 4);
    return (struct str){key, LEN};
}

// A text value of so many bytes.
static void put_large(struct state_table *keyed, struct str key, size_t bytes) {
    struct strbuf value = {0};
    size_t len = bytes - 4;  // its length takes four bytes
    for (int i = 0; i < 4; i++) tide__strbuf_append_char(&value, (char)((len >> (7 * i) & 0x7f) | (i < 3 ? 0x80 : 0)));
    for (size_t i = 0; i < len; i++) tide__strbuf_append_char(&value, (char)(i * 2654435761u >> 13));
    tide__state_put(keyed, key, tide__strbuf_str(&value));
    tide__strbuf_deinit(&value);
}

static void fill(struct state_table *windowed, struct state_table *keyed, struct sample_shape shape) {
    for (size_t w = 0; w < shape.windows; w++) {
        for (size_t k = 0; k < shape.keys; k++) {
            char key[24];
            uint64_t value = sample_value(w, k);
            sample_key(w, k, key);
            tide__state_put(windowed, (struct str){key, 24}, (struct str){(char *)&value, 8});
        }
    }
    for (size_t i = 0; i < shape.keyed; i++) {
        char key[32], value[64];
        int key_len = snprintf(key, sizeof key, "user-%06zu", i),
            value_len = snprintf(value, sizeof value, "%c#%zu", (char)2, i % 10);
        tide__state_put(keyed, (struct str){key, (size_t)key_len}, (struct str){value, (size_t)value_len});
    }
    if (shape.large_value > 0) put_large(keyed, STR_LIT("zz-large"), shape.large_value);
    for (size_t i = 0; i < shape.long_keys; i++) {
        struct str key = sample_long_key(i);
        put_large(keyed, key, 900000);
        tide__free((char *)(uintptr_t)key.data);
    }
}

uint64_t sample_write(const char *path, struct sample_shape shape) {
    static const struct state_field keys[] = {{"auction", "BIGINT", STATE_FORM_BYTES, STATE_COMBINE_REPLACE}};
    static const struct state_field values[] = {{"SUM(price)", "BIGINT", STATE_FORM_I64, STATE_COMBINE_ADD}};
    static const struct state_field texts[] = {{"name", "STRING", STATE_FORM_BYTES, STATE_COMBINE_LAST}};
    static const struct state_table_desc windowed_desc = {
        "window-aggregate-1.acc", "window-aggregate-1", STATE_TABLE_WINDOWED, 1, 1, keys, values};
    static const struct state_table_desc keyed_desc = {
        "group-aggregate-2.acc", "group-aggregate-2", STATE_TABLE_KEYED, 1, 1, texts, texts};
    struct memory_budget budget = {.limit = 64 << 20};
    struct state_options options = {.backend = STATE_BACKEND_MEMORY, .budget = &budget};
    struct writing writing = {.path = path, .info = *sample_info()};
    if (shape.id > 0) writing.info.checkpoint_id = shape.id;
    struct state_table *windowed, *keyed;
    ck_assert_int_eq(tide__state_open(&options, &writing.store, NULL), TIDE_OK);
    ck_assert_int_eq(tide__state_table(writing.store, &windowed_desc, &windowed, NULL), TIDE_OK);
    ck_assert_int_eq(tide__state_table(writing.store, &keyed_desc, &keyed, NULL), TIDE_OK);
    fill(windowed, keyed, shape);
    ck_assert_int_eq(tide__state_barrier(writing.store, write_it, &writing, NULL), TIDE_OK);
    ck_assert_int_eq(tide__state_sync(writing.store, NULL), TIDE_OK);
    ck_assert_msg(writing.err.status == TIDE_OK, "%s", writing.err.message);
    tide__state_close(writing.store);
    return writing.bytes;
}

struct strbuf sample_read(const char *path) {
    struct strbuf bytes = {0};
    FILE *file = fopen(path, "rb");
    ck_assert_ptr_nonnull(file);
    char block[4096];
    for (size_t got = fread(block, 1, sizeof block, file); got > 0; got = fread(block, 1, sizeof block, file))
        tide__strbuf_append(&bytes, block, got);
    fclose(file);
    return bytes;
}
