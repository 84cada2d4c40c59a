// The working directory and the database in it: made on the first run, for opening costs tens of milliseconds that a job
// whose windows never reach a barrier must not pay.
//
// The directory is disposable. There is no WAL, RocksDB's own memtables are hardly used, and automatic compaction is off.
#include "base/alloc.h"
#include "state/backends/rocksdb/rocks.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    CACHE_MAX = 8 << 20,
    CACHE_MIN = 512 << 10,
    WRITER_BYTES = 2 << 20,  // what an SST writer, its staging and the memtables hold
    BLOCK_BYTES = 16 << 10,
    BLOCK_BYTES_SINGLY = 4 << 10,  // of tables that are read by key: as little as there is to read and check
    OPEN_FILES_MAX = 256,
};

tide_status tide__rocks_fail(char *message, tide_error *err, const char *what) {
    assert(message);
    // Its messages may have several lines.
    for (char *at = message; *at; at++) {
        if ((unsigned char)*at < ' ') *at = ' ';
    }
    tide__fail(err, TIDE_ERR_IO, "%s: %s", what, message);
    rocksdb_free(message);
    return TIDE_ERR_IO;
}

// --- the directory

// Only what RocksDB and we write: a mistyped directory must not cost the user anything.
static bool is_ours(const char *name) {
    static const char *const patterns[] = {"*.sst",   "*.log",    "*.dbtmp", "MANIFEST-*", "OPTIONS-*",
                                           "CURRENT", "IDENTITY", "LOCK",    "LOG",        "LOG.old.*"};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        if (fnmatch(patterns[i], name, 0) == 0) return true;
    }
    return false;
}

static void remove_contents(const char *dir) {
    DIR *handle = opendir(dir);
    if (!handle) return;
    for (struct dirent *entry; (entry = readdir(handle));) {
        if (is_ours(entry->d_name)) unlinkat(dirfd(handle), entry->d_name, 0);
    }
    closedir(handle);
}

static tide_status check_unlocked(const char *dir, tide_error *err) {
    struct strbuf path = {0};
    tide__strbuf_printf(&path, "%s/LOCK", dir);
    int fd = open(path.data, O_RDWR | O_CLOEXEC);
    tide__strbuf_deinit(&path);
    if (fd < 0) return TIDE_OK;
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    bool is_locked = fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
    close(fd);
    if (!is_locked) return TIDE_OK;
    tide__fail(err, TIDE_ERR_IO, "working directory %s is in use by process %ld", dir, (long)lock.l_pid);
    return tide__fail_hint(err, "give each running job a state directory of its own");
}

static tide_status make_dir(struct rocks *rocks, tide_error *err) {
    char *dir = rocks->dir;
    for (char *at = dir + 1; *at; at++) {
        if (*at != '/') continue;
        *at = 0;
        int failed = mkdir(dir, 0777);
        *at = '/';
        if (failed && errno != EEXIST) return tide__fail_errno(err, errno, "cannot make working directory %s", dir);
    }
    if (mkdir(dir, 0777) == 0) {
        rocks->made_dir = true;
    } else if (errno != EEXIST) {
        return tide__fail_errno(err, errno, "cannot make working directory %s", dir);
    }
    TIDE_TRY(check_unlocked(dir, err));
    remove_contents(dir);
    return TIDE_OK;
}

// --- options

static void set_table_format(struct rocks *rocks, rocksdb_options_t *options, size_t block_bytes, bool filters) {
    rocksdb_block_based_table_options_t *format = rocksdb_block_based_options_create();
    rocksdb_block_based_options_set_block_cache(format, rocks->cache);
    rocksdb_block_based_options_set_cache_index_and_filter_blocks(format, 1);
    rocksdb_block_based_options_set_cache_index_and_filter_blocks_with_high_priority(format, 1);
    rocksdb_block_based_options_set_block_size(format, block_bytes);
    rocksdb_block_based_options_set_format_version(format, 5);
    // For the reads of keys that are not there: new keys of state that was evicted.
    if (filters) rocksdb_block_based_options_set_filter_policy(format, rocksdb_filterpolicy_create_bloom_full(10));
    rocksdb_options_set_block_based_table_factory(options, format);
    rocksdb_block_based_options_destroy(format);
}

static rocksdb_options_t *new_options(struct rocks *rocks, size_t block_bytes, bool filters) {
    rocksdb_options_t *options = rocksdb_options_create();
    rocksdb_options_set_create_if_missing(options, 1);
    rocksdb_options_set_error_if_exists(options, 1);
    rocksdb_options_set_disable_auto_compactions(options, 1);
    rocksdb_options_set_num_levels(options, LEVELS);
    rocksdb_options_set_compression(options, rocksdb_no_compression);
    rocksdb_options_set_write_buffer_size(options, 64 << 10);
    rocksdb_options_set_max_open_files(options, OPEN_FILES_MAX);
    rocksdb_options_set_max_background_jobs(options, 1);
    rocksdb_options_set_info_log_level(options, 4);  // fatal
    rocksdb_options_set_keep_log_file_num(options, 1);
    rocksdb_options_set_stats_dump_period_sec(options, 0);
    rocksdb_options_set_stats_persist_period_sec(options, 0);
    rocksdb_options_set_skip_stats_update_on_db_open(options, 1);
    rocksdb_options_set_allow_mmap_reads(options, 0);
    rocksdb_options_set_allow_mmap_writes(options, 0);
    set_table_format(rocks, options, block_bytes, filters);
    return options;
}

static size_t cache_bytes(const struct memory_budget *budget) {
    size_t bytes = budget ? budget->limit / 8 : CACHE_MAX;
    return bytes > CACHE_MAX ? CACHE_MAX : bytes < CACHE_MIN ? CACHE_MIN : bytes;
}

// One shard: a filter block of a large file is as large as a shard of the default would be.
static rocksdb_cache_t *new_cache(size_t bytes) {
    rocksdb_lru_cache_options_t *options = rocksdb_lru_cache_options_create();
    rocksdb_lru_cache_options_set_capacity(options, bytes);
    rocksdb_lru_cache_options_set_num_shard_bits(options, 0);
    rocksdb_cache_t *cache = rocksdb_cache_create_lru_opts(options);
    rocksdb_lru_cache_options_destroy(options);
    return cache;
}

static tide_status open_database(struct rocks *rocks, tide_error *err) {
    if (rocks->db) return TIDE_OK;
    TIDE_TRY(make_dir(rocks, err));
    size_t cache = cache_bytes(rocks->budget);
    rocks->charged = cache + WRITER_BYTES;
    tide__budget_charge(rocks->budget, rocks->charged);
    rocks->cache = new_cache(cache);
    rocks->options = new_options(rocks, BLOCK_BYTES, true);
    rocks->env_options = rocksdb_envoptions_create();
    rocks->flush = rocksdb_flushoptions_create();
    rocks->no_wal = rocksdb_writeoptions_create();
    rocksdb_writeoptions_disable_WAL(rocks->no_wal, 1);
    rocks->ingest = rocksdb_ingestexternalfileoptions_create();
    rocksdb_ingestexternalfileoptions_set_move_files(rocks->ingest, 1);
    rocksdb_ingestexternalfileoptions_set_snapshot_consistency(rocks->ingest, 1);
    rocksdb_ingestexternalfileoptions_set_allow_global_seqno(rocks->ingest, 1);
    rocksdb_ingestexternalfileoptions_set_allow_blocking_flush(rocks->ingest, 1);
    char *message = NULL;
    rocksdb_t *db = rocksdb_open(rocks->options, rocks->dir, &message);
    if (message) return tide__rocks_fail(message, err, "cannot open the working state");
    rocks->db = db;
    return TIDE_OK;
}

static rocksdb_column_family_handle_t *new_family(struct rocks_table *table, int compression, char **out_message) {
    if (table->options) rocksdb_options_destroy(table->options);
    const struct state_table_desc *desc = table->base.desc;
    size_t block_bytes = desc->read_singly ? BLOCK_BYTES_SINGLY : BLOCK_BYTES;
    table->options = new_options(table->owner, block_bytes, !desc->only_scanned);
    rocksdb_options_set_compression(table->options, compression);
    rocksdb_options_set_merge_operator(table->options, tide__rocks_merge_operator(table->base.desc));
    *out_message = NULL;
    return rocksdb_create_column_family(table->owner->db, table->options, table->base.desc->name, out_message);
}

tide_status tide__rocks_prepare(struct rocks_table *table, tide_error *err) {
    if (table->cf) return TIDE_OK;
    TIDE_TRY(open_database(table->owner, err));
    char *message;
    rocksdb_column_family_handle_t *cf = new_family(
        table, table->bulky ? rocksdb_lz4_compression : rocksdb_no_compression, &message);
    if (message && table->bulky) {  // a RocksDB that was built without it
        rocksdb_free(message);
        cf = new_family(table, rocksdb_no_compression, &message);
    }
    if (message) return tide__rocks_fail(message, err, "cannot make a column family of the working state");
    table->cf = cf;
    return TIDE_OK;
}

// --- the vtable

static struct backend *rocks_open(const struct state_options *options) {
    struct rocks *rocks = tide__calloc(1, sizeof *rocks);
    rocks->base.ops = &tide__rocksdb_backend;
    rocks->dir = tide__strdup(options->dir);
    size_t len = strlen(rocks->dir);
    while (len > 1 && rocks->dir[len - 1] == '/') rocks->dir[--len] = 0;
    rocks->budget = options->budget;
    pthread_mutex_init(&rocks->lock, NULL);
    return &rocks->base;
}

static void rocks_close(struct backend *base) {
    struct rocks *rocks = (struct rocks *)base;
    assert(rocks->snapshots == 0 && !rocks->tables);
    if (rocks->db) rocksdb_close(rocks->db);
    if (rocks->options) {
        rocksdb_ingestexternalfileoptions_destroy(rocks->ingest);
        rocksdb_writeoptions_destroy(rocks->no_wal);
        rocksdb_flushoptions_destroy(rocks->flush);
        rocksdb_envoptions_destroy(rocks->env_options);
        rocksdb_options_destroy(rocks->options);
        rocksdb_cache_destroy(rocks->cache);
        remove_contents(rocks->dir);
        if (rocks->made_dir) rmdir(rocks->dir);
    }
    tide__budget_release(rocks->budget, rocks->charged);
    pthread_mutex_destroy(&rocks->lock);
    tide__free(rocks->dir);
    tide__free(rocks);
}

static struct backend_table *rocks_table_new(struct backend *base, const struct state_table_desc *desc) {
    struct rocks *rocks = (struct rocks *)base;
    struct rocks_table *table = tide__calloc(1, sizeof *table);
    table->base = (struct backend_table){base, desc};
    table->owner = rocks;
    table->windowed = desc->kind == STATE_TABLE_WINDOWED;
    table->scanned_once = desc->scanned_once;
    table->only_concat = desc->value_count > 0;
    for (size_t i = 0; i < desc->value_count; i++)
        table->only_concat &= desc->values[i].combiner == STATE_COMBINE_CONCAT;
    table->bulky = desc->bulky;
    pthread_rwlock_init(&table->lock, NULL);
    pthread_mutex_lock(&rocks->lock);
    table->next = rocks->tables;
    rocks->tables = table;
    pthread_mutex_unlock(&rocks->lock);
    return &table->base;
}

static void rocks_table_free(struct backend_table *base) {
    struct rocks_table *table = (struct rocks_table *)base;
    struct rocks_table **at = &table->owner->tables;
    while (*at != table) at = &(*at)->next;
    *at = table->next;
    if (table->cf) rocksdb_column_family_handle_destroy(table->cf);
    if (table->options) rocksdb_options_destroy(table->options);
    if (table->windows.count > 0) tide__windows_erase(&table->windows, 0, table->windows.count);
    tide__free(table->windows.items);
    pthread_rwlock_destroy(&table->lock);
    tide__free(table);
}

static uint64_t rocks_disk_bytes(struct backend *base) {
    struct rocks *rocks = (struct rocks *)base;
    if (!rocks->db) return 0;
    DIR *handle = opendir(rocks->dir);
    if (!handle) return 0;
    uint64_t bytes = 0;
    for (struct dirent *entry; (entry = readdir(handle));) {
        struct stat info;
        if (fstatat(dirfd(handle), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(info.st_mode))
            bytes += (uint64_t)info.st_size;
    }
    closedir(handle);
    return bytes;
}

const struct backend_ops tide__rocksdb_backend = {
    .name = "rocksdb",
    .open = rocks_open,
    .close = rocks_close,
    .table_new = rocks_table_new,
    .table_free = rocks_table_free,
    .write_run = tide__rocks_write_run,
    .drop_range = tide__rocks_drop_range,
    .settle = tide__rocks_settle,
    .snapshot_new = tide__rocks_snapshot_new,
    .snapshot_release = tide__rocks_snapshot_release,
    .iter_open = tide__rocks_iter_open,
    .iter_next = tide__rocks_iter_next,
    .iter_seek = tide__rocks_iter_seek,
    .iter_close = tide__rocks_iter_close,
    .multi_get = tide__rocks_multi_get,
    .disk_bytes = rocks_disk_bytes,
};
