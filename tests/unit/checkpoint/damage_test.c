// Savepoints that were damaged or forged: refused with a place, never believed, never a crash.
#include "checkpoint_tests.h"
#include "sample.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "checkpoint/chunk.h"
#include "checkpoint/format.h"
#include "checkpoint/reader.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zstd.h>

// Opens these bytes and reads everything.
static tide_status read_all(const char *bytes, size_t len, tide_error *err) {
    tide__error_clear(err);
    int fd = memfd_create("savepoint", MFD_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, bytes, len), (ssize_t)len);
    struct savepoint *savepoint;
    TIDE_TRY(tide__savepoint_open_fd(fd, "FILE", &savepoint, err));
    tide_status status = TIDE_OK;
    for (size_t i = 0; i < tide__savepoint_info(savepoint)->table_count && status == TIDE_OK; i++) {
        struct state_source *source;
        status = tide__savepoint_entries(savepoint, i, (struct str){0}, (struct str){0}, &source, err);
        if (status != TIDE_OK) break;
        struct state_entry entry;
        uint64_t count = 0;
        while (source->next(source, &entry)) count++;
        source->free(source);
        status = tide__savepoint_status(savepoint, err);
        if (status == TIDE_OK) ck_assert_uint_eq(count, tide__savepoint_info(savepoint)->tables[i].entries);
    }
    tide__savepoint_close(savepoint);
    return status;
}

static struct strbuf small_savepoint(void) {
    char *dir = sample_dir();
    char path[256];
    snprintf(path, sizeof path, "%s/a.savepoint", dir);
    sample_write(path, (struct sample_shape){.windows = 2, .keys = 3, .keyed = 4});
    struct strbuf bytes = sample_read(path);
    sample_dir_remove(dir);
    return bytes;
}

// The file, and where in it; or that it is no such file or of another version.
static bool has_place(const tide_error *err) {
    return strstr(err->message, "FILE") != NULL &&
           (strstr(err->message, "at offset ") != NULL || strstr(err->message, "is not a savepoint") != NULL ||
            strstr(err->message, "format version") != NULL);
}

START_TEST(every_truncation_is_refused) {
    struct strbuf bytes = small_savepoint();
    tide_error err;
    ck_assert_int_eq(read_all(bytes.data, bytes.len, &err), TIDE_OK);
    for (size_t len = 0; len < bytes.len; len++) {
        ck_assert_msg(read_all(bytes.data, len, &err) == TIDE_ERR_SAVEPOINT, "cut to %zu bytes", len);
        ck_assert_str_eq(err.file, "FILE");
        ck_assert_msg(has_place(&err), "cut to %zu bytes: %s", len, err.message);
    }
    tide__strbuf_deinit(&bytes);
}
END_TEST

START_TEST(every_flipped_bit_is_noticed) {
    struct strbuf bytes = small_savepoint();
    tide_error err;
    for (size_t bit = 0; bit < bytes.len * 8; bit++) {
        bytes.data[bit / 8] ^= (char)(1 << (bit % 8));
        ck_assert_msg(read_all(bytes.data, bytes.len, &err) == TIDE_ERR_SAVEPOINT, "bit %zu of byte %zu", bit % 8,
                      bit / 8);
        ck_assert_msg(has_place(&err), "bit %zu of byte %zu: %s", bit % 8, bit / 8, err.message);
        bytes.data[bit / 8] ^= (char)(1 << (bit % 8));
    }
    tide__strbuf_deinit(&bytes);
}
END_TEST

// Many chunks: the message names the one that holds the byte, and memory stays that of one chunk.
START_TEST(damage_of_a_large_one_is_noticed_and_named) {
    char *dir = sample_dir();
    char path[256];
    snprintf(path, sizeof path, "%s/large.savepoint", dir);
    sample_write(path, (struct sample_shape){.windows = 40, .keys = 5000, .keyed = 20000});
    struct strbuf bytes = sample_read(path);
    tide_error err;
    ck_assert_int_eq(read_all(bytes.data, bytes.len, &err), TIDE_OK);
    uint64_t random = 88172645463325252u;
    const char *wanted = getenv("TIDE_TEST_SAMPLES");
    long samples = wanted != NULL ? strtol(wanted, NULL, 10) : 100;
    for (long i = 0; i < samples; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        size_t at = (size_t)(random >> 8) % bytes.len;
        if (i % 4 == 0) {
            ck_assert_msg(read_all(bytes.data, at, &err) == TIDE_ERR_SAVEPOINT, "cut to %zu bytes", at);
        } else {
            bytes.data[at] ^= (char)(1 << (random & 7));
            ck_assert_msg(read_all(bytes.data, bytes.len, &err) == TIDE_ERR_SAVEPOINT, "byte %zu", at);
            bytes.data[at] ^= (char)(1 << (random & 7));
        }
        ck_assert_msg(has_place(&err), "byte %zu: %s", at, err.message);
    }
    struct rusage used;
    ck_assert_int_eq(getrusage(RUSAGE_SELF, &used), 0);
#ifndef __SANITIZE_ADDRESS__
    ck_assert_int_lt(used.ru_maxrss, 256 << 10);
#endif
    tide__strbuf_deinit(&bytes);
    sample_dir_remove(dir);
}
END_TEST

START_TEST(bytes_behind_the_end_are_noticed) {
    struct strbuf bytes = small_savepoint();
    tide_error err;
    tide__strbuf_append_char(&bytes, '\0');
    ck_assert_int_eq(read_all(bytes.data, bytes.len, &err), TIDE_ERR_SAVEPOINT);
    tide__strbuf_deinit(&bytes);
}
END_TEST

START_TEST(a_newer_format_is_refused_by_name) {
    struct strbuf bytes = small_savepoint();
    tide_error err;
    bytes.data[8] = 7;
    ck_assert_int_eq(read_all(bytes.data, bytes.len, &err), TIDE_ERR_SAVEPOINT);
    ck_assert_str_eq(err.message, "the savepoint FILE was written by format version 7, this program reads up to 1");
    tide__strbuf_deinit(&bytes);
}
END_TEST

START_TEST(another_file_is_no_savepoint) {
    tide_error err;
    ck_assert_int_eq(read_all("a,b,c\n1,2,3\n", 12, &err), TIDE_ERR_SAVEPOINT);
    ck_assert_ptr_nonnull(strstr(err.message, "FILE is not a savepoint"));
    struct savepoint *savepoint;
    tide__error_clear(&err);
    ck_assert_int_eq(tide__savepoint_open("/nonexistent", &savepoint, &err), TIDE_ERR_SAVEPOINT);
    tide__error_clear(&err);
    ck_assert_int_eq(tide__savepoint_open("/tmp", &savepoint, &err), TIDE_ERR_SAVEPOINT);
    ck_assert_ptr_null(savepoint);
}
END_TEST

// --- verify goes on -----------------------------------------------------------------------------------------------

struct damage {
    size_t count;
    uint32_t chunks[8];
};

static void note_damage(void *ctx, const struct savepoint_damage *found) {
    struct damage *damage = ctx;
    ck_assert_ptr_nonnull(found->what);
    ck_assert_ptr_nonnull(found->desc);
    if (damage->count < 8) damage->chunks[damage->count] = found->chunk;
    damage->count++;
}

START_TEST(verify_names_each_broken_chunk) {
    char *dir = sample_dir();
    char path[256];
    snprintf(path, sizeof path, "%s/a.savepoint", dir);
    sample_write(path, (struct sample_shape){.windows = 40, .keys = 5000, .keyed = 1});
    struct savepoint *savepoint;
    ck_assert_int_eq(tide__savepoint_open(path, &savepoint, NULL), TIDE_OK);
    const struct savepoint_table *table = &tide__savepoint_info(savepoint)->tables[0];
    uint64_t at[2] = {table->chunks[0].offset + 5, table->chunks[2].offset + 100};
    tide__savepoint_close(savepoint);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    for (int i = 0; i < 2; i++) {
        char byte;
        ck_assert_int_eq(pread(fd, &byte, 1, (off_t)at[i]), 1);
        byte ^= 1;
        ck_assert_int_eq(pwrite(fd, &byte, 1, (off_t)at[i]), 1);
    }
    close(fd);
    struct damage damage = {0};
    tide_error err;
    tide__error_clear(&err);
    ck_assert_int_eq(tide__savepoint_verify(path, note_damage, &damage, &err), TIDE_ERR_SAVEPOINT);
    ck_assert_uint_eq(damage.count, 2);
    ck_assert_uint_eq(damage.chunks[0], 0);
    ck_assert_uint_eq(damage.chunks[1], 2);
    ck_assert_ptr_nonnull(strstr(err.message, "chunk 0 at offset 16"));
    sample_dir_remove(dir);
}
END_TEST

// --- forgeries: the checksums are right ----------------------------------------------------------------------------

static void put_frame(struct strbuf *file, const struct strbuf *raw, struct savepoint_chunk *out) {
    size_t bound = ZSTD_compressBound(raw->len);
    char *at = tide__strbuf_reserve(file, bound);
    size_t size = ZSTD_compress(at, bound, raw->data, raw->len, 1);
    ck_assert(!ZSTD_isError(size));
    out->offset = file->len;
    out->length = (uint32_t)size;
    out->raw_length = (uint32_t)raw->len;
    out->checksum = tide__hash_checksum(at, size, 0);
    file->len += size;
}

// A forged file of one table with one chunk. Each function changes one thing.
struct forgery {
    struct chunk_builder chunk;
    struct savepoint_table table;
    struct savepoint_chunk index;
    struct savepoint_info info;
};

static void header(struct strbuf *file) {
    tide__strbuf_append(file, SAVEPOINT_MAGIC "\1\0\0\0\0\0\0\0", 16);
}

static tide_status read_forged(void (*before)(struct forgery *), void (*after)(struct forgery *), tide_error *err) {
    struct forgery f = {.info = *sample_info()};
    static const struct state_field bytes[] = {{"v", "STRING", STATE_FORM_BYTES, STATE_COMBINE_REPLACE}};
    f.table.desc = (struct state_table_desc){
        .name = "t.acc", .operator_id = "t", .kind = STATE_TABLE_KEYED, .value_count = 1, .values = bytes};
    static const char *const keys[] = {"alpha", "alpine", "beta"};
    for (size_t i = 0; i < 3; i++) ck_assert(tide__chunk_add(&f.chunk, tide__str(keys[i]), STR_LIT("\1v")));
    if (before != NULL) before(&f);
    struct strbuf file = {0}, raw = {0};
    header(&file);
    tide__chunk_pack(&f.chunk, &raw);
    put_frame(&file, &raw, &f.index);
    f.index.entries = 3;
    f.index.first_key = STR_LIT("alpha");
    f.index.last_key = STR_LIT("beta");
    f.table.entries = 3;
    f.table.chunk_count = 1;
    f.table.chunks = &f.index;
    f.info.table_count = 1;
    f.info.tables = &f.table;
    if (after != NULL) after(&f);
    tide__strbuf_clear(&raw);
    tide__manifest_pack(&f.info, &raw);
    struct savepoint_chunk manifest;
    put_frame(&file, &raw, &manifest);
    char footer[SAVEPOINT_FOOTER_BYTES];
    format_put(footer, manifest.offset, 8);
    format_put(footer + 8, manifest.length, 4);
    format_put(footer + 12, manifest.raw_length, 4);
    format_put(footer + 16, manifest.checksum, 8);
    memcpy(footer + 24, SAVEPOINT_MAGIC, 8);
    tide__strbuf_append(&file, footer, sizeof footer);
    tide_status status = read_all(file.data, file.len, err);
    tide__strbuf_deinit(&file);
    tide__strbuf_deinit(&raw);
    tide__chunk_deinit(&f.chunk);
    return status;
}

static void keys_fall(struct forgery *f) {
    f->chunk.key_data.data[0] = 'z';
}
static void keys_repeat(struct forgery *f) {
    f->chunk.shared[1] = 5;
    f->chunk.unshared[1] = 0;
    f->chunk.unshared[2] += 3;
}
static void key_borrows_too_much(struct forgery *f) {
    f->chunk.shared[1] = 6;
}
static void first_key_borrows(struct forgery *f) {
    f->chunk.shared[0] = 1;
}
static void key_is_too_long(struct forgery *f) {
    f->chunk.unshared[2] = UINT32_MAX;
}
static void value_is_too_long(struct forgery *f) {
    f->chunk.value_lengths[0] = 3;
}
static void value_has_another_form(struct forgery *f) {
    f->chunk.value_data.data[0] = 2;
}
static void value_length_never_ends(struct forgery *f) {
    memset(f->chunk.value_data.data, 0xff, 6);
}
static void other_table(struct forgery *f) {
    f->chunk.table = 1;
}
static void more_entries(struct forgery *f) {
    f->chunk.entries = 2;
}
static void index_has_more(struct forgery *f) {
    f->index.entries = f->table.entries = 4;
}
static void index_has_none(struct forgery *f) {
    f->index.entries = f->table.entries = 0;
}
static void index_has_too_many(struct forgery *f) {
    f->index.entries = f->table.entries = UINT64_C(1) << 40;
}
static void index_first_key(struct forgery *f) {
    f->index.first_key = STR_LIT("alph");
}
static void index_last_key(struct forgery *f) {
    f->index.last_key = STR_LIT("betb");
}
static void index_offset(struct forgery *f) {
    f->index.offset += 1;
}
static void index_length(struct forgery *f) {
    f->index.length += 1;
}
static void index_length_huge(struct forgery *f) {
    f->index.length = UINT32_MAX;
}
static void index_raw_length(struct forgery *f) {
    f->index.raw_length += 1;
}
static void index_raw_length_huge(struct forgery *f) {
    f->index.raw_length = UINT32_MAX;
}
static void no_chunks(struct forgery *f) {
    f->table.chunk_count = 0;
    f->table.entries = 0;
}
static void table_kind(struct forgery *f) {
    f->table.desc.kind = (enum state_table_kind)9;
}
static void windowed_keys_are_short(struct forgery *f) {
    f->table.desc.kind = STATE_TABLE_WINDOWED;
}
static void table_name_is_a_path(struct forgery *f) {
    f->table.desc.name = "../t";
}
static void run_id_is_a_path(struct forgery *f) {
    f->info.run_id = "../../x";
}
static void other_version(struct forgery *f) {
    f->info.format_version = 2;
}

START_TEST(forged_lengths_keys_and_names_are_refused) {
    tide_error err;
    ck_assert_int_eq(read_forged(NULL, NULL, &err), TIDE_OK);
    static void (*const before[])(struct forgery *) = {
        keys_fall,       keys_repeat,       key_borrows_too_much,   first_key_borrows,
        key_is_too_long, value_is_too_long, value_has_another_form, value_length_never_ends,
        other_table,     more_entries};
    for (size_t i = 0; i < sizeof before / sizeof *before; i++)
        ck_assert_msg(read_forged(before[i], NULL, &err) == TIDE_ERR_SAVEPOINT, "forgery %zu of the chunk", i);
    static void (*const after[])(struct forgery *) = {
        index_has_more,          index_has_none,        index_has_too_many, index_first_key,
        index_last_key,          index_offset,          index_length,       index_length_huge,
        index_raw_length,        index_raw_length_huge, no_chunks,          table_kind,
        windowed_keys_are_short, table_name_is_a_path,  run_id_is_a_path,   other_version};
    for (size_t i = 0; i < sizeof after / sizeof *after; i++)
        ck_assert_msg(read_forged(NULL, after[i], &err) == TIDE_ERR_SAVEPOINT, "forgery %zu of the manifest", i);
}
END_TEST

// Two bytes of the message become a struct: a manifest of 32 MB of them must not take gigabytes.
START_TEST(a_manifest_that_unfolds_without_end_is_refused) {
    struct strbuf file = {0}, raw = {0};
    header(&file);
    char *at = tide__strbuf_reserve(&raw, 32 << 20);
    for (size_t i = 0; i < (32 << 20); i += 2) {
        at[i] = 13 << 3 | 2;  // an empty table
        at[i + 1] = 0;
    }
    raw.len = 32 << 20;
    struct savepoint_chunk manifest;
    put_frame(&file, &raw, &manifest);
    char footer[SAVEPOINT_FOOTER_BYTES];
    format_put(footer, manifest.offset, 8);
    format_put(footer + 8, manifest.length, 4);
    format_put(footer + 12, manifest.raw_length, 4);
    format_put(footer + 16, manifest.checksum, 8);
    memcpy(footer + 24, SAVEPOINT_MAGIC, 8);
    tide__strbuf_append(&file, footer, sizeof footer);
    tide_error err;
    ck_assert_int_eq(read_all(file.data, file.len, &err), TIDE_ERR_SAVEPOINT);
    tide__strbuf_deinit(&file);
    tide__strbuf_deinit(&raw);
}
END_TEST

TCase *make_damage_case(void) {
    TCase *tests = tcase_create("damage");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, every_truncation_is_refused);
    tcase_add_test(tests, every_flipped_bit_is_noticed);
    tcase_add_test(tests, damage_of_a_large_one_is_noticed_and_named);
    tcase_add_test(tests, bytes_behind_the_end_are_noticed);
    tcase_add_test(tests, a_newer_format_is_refused_by_name);
    tcase_add_test(tests, another_file_is_no_savepoint);
    tcase_add_test(tests, verify_names_each_broken_chunk);
    tcase_add_test(tests, forged_lengths_keys_and_names_are_refused);
    tcase_add_test(tests, a_manifest_that_unfolds_without_end_is_refused);
    return tests;
}
