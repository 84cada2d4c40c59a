// The file sink: rows to files in a folder, each row once, whatever is killed when.
//
// Rows go to hidden files. A barrier flushes, syncs and closes them and lists them in the savepoint; they are renamed when
// that savepoint is durable, and a restore repeats the renames of the savepoint it starts from and removes all other
// hidden files of the run. With PARTITIONED BY there is one file for each `key=value/` folder that got rows. INSERT
// OVERWRITE removes what others have written when the first files are published. What the run has published after the
// savepoint that it goes on from is made again and compared, not written (published.c).
//
// commit runs on a background thread beside write: it looks only at what never changes after open.
#include "base/alloc.h"
#include "base/file.h"
#include "base/killpoint.h"
#include "engine/connectors/filesystem.h"
#include "engine/connectors/pending.h"
#include "engine/connectors/published.h"
#include "engine/connectors/sinks.h"
#include "engine/expr/eval.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define BUFFER_BYTES ((size_t)64 << 10)
// With more open files than this, each is closed after every flush.
#define FILES_OPEN_MAX 128

struct out_file {
    struct out_file *next;
    char *folder;  // "" or `key=value/`
    size_t again;  // catching up: place among what is published, and there is no file yet; else PUBLISHED_NONE
    uint64_t number;
    uint64_t length;
    int fd;  // -1: closed for now
    char *path;
    struct strbuf buffer;
    XXH3_state_t *hash;
};

struct file_sink {
    struct sink base;
    const struct table *table;
    char *folder;
    char *run;
    const struct format_class *format;
    struct format_writer *writer;
    uint32_t field_count;
    int32_t *inputs;               // the input's column of each file field, -1: none
    const struct column **fields;  // of the batch being written
    struct str success_file;       // made in each folder that files are published to; empty: none
    bool overwrite;                // what others have written goes when this run's first files are published
    uint32_t partition_count;
    int32_t *partition_inputs;
    char **partition_names;
    struct strbuf partition;  // scratch: the row's folder
    uint64_t next_number;
    bool restored;
    struct published published;     // what is to be made again
    struct out_file *files, *last;  // open, by number
    struct out_file *catching;      // folders that are catching up
    struct out_file *recent;
    size_t file_count;
};

static struct file_sink *self(struct sink *sink) {
    return (struct file_sink *)sink;
}

// --- opening ----------------------------------------------------------------------------------------------------

static int32_t input_of(const struct plan_node *node, uint32_t table_column) {
    uint32_t count = node->input_count > 0 ? node->inputs[0]->field_count : node->field_count;
    for (uint32_t i = 0; i < count; i++) {
        if (node->sink.columns[i] == table_column) return (int32_t)i;
    }
    return -1;
}

static bool is_partition_key(const struct table *table, uint32_t column) {
    for (uint32_t i = 0; i < table->partition_key_count; i++) {
        if (table->partition_keys[i] == column) return true;
    }
    return false;
}

static tide_status open_writer(struct file_sink *sink, const struct plan_node *node, tide_error *err) {
    const struct table *table = node->sink.table;
    const struct type **types = tide__calloc(table->column_count + 1, sizeof(*types));
    sink->inputs = tide__calloc(table->column_count + 1, sizeof(*sink->inputs));
    sink->fields = tide__calloc(table->column_count + 1, sizeof(*sink->fields));
    for (uint32_t i = 0; i < table->column_count; i++) {
        if (table->columns[i].kind != TABLE_COLUMN_PHYSICAL || is_partition_key(table, i)) continue;
        types[sink->field_count] = table->columns[i].type;
        sink->inputs[sink->field_count++] = input_of(node, i);
    }
    sink->partition_count = table->partition_key_count;
    sink->partition_inputs = tide__calloc(sink->partition_count + 1, sizeof(*sink->partition_inputs));
    sink->partition_names = tide__calloc(sink->partition_count + 1, sizeof(*sink->partition_names));
    for (uint32_t i = 0; i < sink->partition_count; i++) {
        sink->partition_inputs[i] = input_of(node, table->partition_keys[i]);
        struct strbuf name = {0};
        tide__partition_escape(tide__str(table->columns[table->partition_keys[i]].name), &name);
        sink->partition_names[i] = name.data;
    }
    tide_status status = sink->format->writer_open(table, sink->field_count, types, &sink->writer, err);
    tide__free(types);
    return status;
}

// The file's name if `sink.partition-commit.policy.kind` wants one.
static struct str success_file(const struct table *table) {
    const struct option *kind = tide__table_option(table, "sink.partition-commit.policy.kind");
    const struct option *name = tide__table_option(table, "sink.partition-commit.success-file.name");
    if (kind == NULL || table->partition_key_count == 0) return (struct str){"", 0};
    return name != NULL ? name->value : tide__str("_SUCCESS");
}

// Files that are published early would take the place of files yet to be read.
static tide_status check_overwrite(const struct sink_env *env, tide_error *err) {
    const struct table *table = env->node->sink.table;
    char *target = tide__filesystem_path(env->script_dir, tide__table_option(table, "path")->value);
    bool read = false;
    for (uint32_t i = 0; i < env->plan->node_count; i++) {
        const struct plan_node *node = env->plan->nodes[i];
        const struct option *path = node->kind == PLAN_SCAN ? tide__table_option(node->scan.table, "path") : NULL;
        if (path == NULL) continue;
        char *source = tide__filesystem_path(env->script_dir, path->value);
        read |= strcmp(source, target) == 0;
        tide__free(source);
    }
    tide__free(target);
    if (!read) return TIDE_OK;
    tide__fail_at(err, TIDE_ERR_PLAN, env->node->pos, "table \"%s\" can't be overwritten with what is read from it",
                  table->name);
    return tide__fail_hint(err, "write to another table first");
}

static void file_sink_close(struct sink *base);

static tide_status file_sink_open(const struct sink_env *env, struct sink **out, tide_error *err) {
    *out = NULL;
    const struct table *table = env->node->sink.table;
    TIDE_TRY(tide__connector_validate(table, TABLE_AS_SINK, NULL, err));
    if (env->node->sink.overwrite) TIDE_TRY(check_overwrite(env, err));
    const struct option *path = tide__table_option(table, "path"), *format = tide__table_option(table, "format");
    struct file_sink *sink = tide__calloc(1, sizeof(*sink));
    sink->base.class = &tide__filesystem_sink;
    sink->published.fd = -1;
    sink->folder = tide__filesystem_path(env->script_dir, path->value);
    sink->run = tide__strdup(env->run_id != NULL ? env->run_id : "0");
    sink->format = tide__format_find(format->value);
    sink->table = table;
    sink->success_file = success_file(table);
    sink->overwrite = env->node->sink.overwrite;
    tide_status status = open_writer(sink, env->node, err);
    if (status == TIDE_OK) {
        status = tide__sink_folder_make(sink->folder, 0, err);
        if (status != TIDE_OK && err != NULL && err->line == 0) {
            err->line = path->value_pos.line;
            err->column = path->value_pos.column;
            err->length = path->value_pos.length;
        }
    }
    if (status != TIDE_OK) {
        file_sink_close(&sink->base);
        return status;
    }
    *out = &sink->base;
    return TIDE_OK;
}

// --- writing ----------------------------------------------------------------------------------------------------

static tide_status flush(struct file_sink *sink, struct out_file *file, tide_error *err) {
    if (file->fd < 0) {
        file->fd = open(file->path, O_WRONLY | O_APPEND | O_CLOEXEC);
        if (file->fd < 0) return tide__fail_errno(err, errno, "can't open \"%s\"", file->path);
    }
    if (!tide__write_fully(file->fd, file->buffer.data, file->buffer.len)) {
        return tide__fail_errno(err, errno, "can't write \"%s\"", file->path);
    }
    XXH3_64bits_update(file->hash, file->buffer.data, file->buffer.len);
    file->length += file->buffer.len;
    tide__strbuf_clear(&file->buffer);
    if (sink->file_count > FILES_OPEN_MAX) {
        close(file->fd);
        file->fd = -1;
    }
    return TIDE_OK;
}

static void free_file(struct out_file *file) {
    if (file->fd >= 0) close(file->fd);
    tide__strbuf_deinit(&file->buffer);
    if (file->hash != NULL) XXH3_freeState(file->hash);
    tide__free(file->folder);
    tide__free(file->path);
    tide__free(file);
}

static void free_files(struct out_file **list) {
    while (*list != NULL) {
        struct out_file *next = (*list)->next;
        free_file(*list);
        *list = next;
    }
}

// An operator that starts empty in a run that has published files takes numbers behind theirs.
static tide_status first_number(struct file_sink *sink, tide_error *err) {
    if (sink->restored) return TIDE_OK;
    sink->restored = true;
    return tide__published_free_number(sink->folder, sink->run, &sink->next_number, err);
}

// Creates the hidden file and puts it at the end of those that the next barrier seals.
static tide_status create(struct file_sink *sink, struct out_file *file, tide_error *err) {
    struct str folder = tide__str(file->folder);
    TIDE_TRY(first_number(sink, err));
    struct pending_file name = {.folder = folder, .number = sink->next_number};
    if (folder.len > 0) {
        struct strbuf path = {0};
        tide__strbuf_printf(&path, "%s/%.*s", sink->folder, (int)folder.len - 1, folder.data);
        tide_status status = tide__sink_folder_make(path.data, strlen(sink->folder), err);
        tide__strbuf_deinit(&path);
        TIDE_TRY(status);
    }
    file->path = tide__pending_hidden(sink->folder, &name, tide__str(sink->run));
    file->fd = open(file->path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
    if (file->fd < 0) return tide__fail_errno(err, errno, "can't create \"%s\"", file->path);
    file->number = sink->next_number++;
    file->hash = XXH3_createState();
    XXH3_64bits_reset(file->hash);
    if (sink->last != NULL) {
        sink->last->next = file;
    } else {
        sink->files = file;
    }
    sink->last = file;
    sink->file_count++;
    return TIDE_OK;
}

static tide_status new_file(struct file_sink *sink, struct str folder, struct out_file **out, tide_error *err) {
    struct out_file *file = tide__calloc(1, sizeof(*file));
    *file = (struct out_file){.folder = tide__strndup(folder.data, folder.len), .fd = -1, .again = PUBLISHED_NONE};
    *out = file;
    if (sink->published.left > 0) file->again = tide__published_find(&sink->published, folder);
    if (file->again != PUBLISHED_NONE) {
        file->next = sink->catching;
        sink->catching = file;
        return TIDE_OK;
    }
    tide_status status = create(sink, file, err);
    if (status != TIDE_OK) {
        free_file(file);
        *out = NULL;
    }
    return status;
}

static struct out_file *find_file(struct out_file *list, struct str folder) {
    while (list != NULL && !tide__str_eq_c(folder, list->folder)) list = list->next;
    return list;
}

static tide_status file_of(struct file_sink *sink, struct str folder, struct out_file **out, tide_error *err) {
    if (sink->recent != NULL && tide__str_eq_c(folder, sink->recent->folder)) {
        *out = sink->recent;
        return TIDE_OK;
    }
    *out = find_file(sink->files, folder);
    if (*out == NULL) *out = find_file(sink->catching, folder);
    if (*out == NULL) TIDE_TRY(new_file(sink, folder, out, err));
    sink->recent = *out;
    return TIDE_OK;
}

// A folder that is catching up has got a row, which stands alone in its buffer.
static tide_status catch_up(struct file_sink *sink, struct out_file *file, tide_error *err) {
    if (!tide__published_is_over(&sink->published, &file->again)) {
        TIDE_TRY(tide__published_take(&sink->published, &file->again, tide__strbuf_str(&file->buffer), err));
        tide__strbuf_clear(&file->buffer);
        return TIDE_OK;
    }
    struct out_file **at = &sink->catching;
    while (*at != file) at = &(*at)->next;
    *at = file->next;
    file->next = NULL;
    file->again = PUBLISHED_NONE;
    tide_status status = create(sink, file, err);
    if (status != TIDE_OK) {
        sink->recent = NULL;
        free_file(file);
    }
    return status;
}

// `key=value/` of each partition key of a row.
static struct str row_folder(struct file_sink *sink, const struct batch *batch, size_t row) {
    tide__strbuf_clear(&sink->partition);
    struct strbuf value = {0};
    for (uint32_t i = 0; i < sink->partition_count; i++) {
        tide__strbuf_clear(&value);
        int32_t input = sink->partition_inputs[i];
        if (input >= 0 && !tide__column_is_null(&batch->columns[input], row)) {
            const struct column *column = &batch->columns[input];
            if (column->type->kind == TYPE_BOOLEAN) {
                tide__strbuf_append_c(&value, column->bools[row] ? "true" : "false");
            } else {
                tide__value_display(column, row, &value);
            }
        }
        tide__strbuf_printf(&sink->partition, "%s=", sink->partition_names[i]);
        if (value.len == 0) {
            tide__strbuf_append_str(&sink->partition, tide__partition_default(sink->table));
        } else {
            tide__partition_escape(tide__strbuf_str(&value), &sink->partition);
        }
        tide__strbuf_append_char(&sink->partition, '/');
    }
    tide__strbuf_deinit(&value);
    return tide__strbuf_str(&sink->partition);
}

static tide_status file_sink_write(struct sink *base, const struct batch *batch, tide_error *err) {
    struct file_sink *sink = self(base);
    for (uint32_t i = 0; i < sink->field_count; i++) {
        sink->fields[i] = sink->inputs[i] >= 0 ? &batch->columns[sink->inputs[i]] : NULL;
    }
    struct str folder = {"", 0};
    struct out_file *file = NULL;
    for (size_t row = 0; row < batch->rows; row++) {
        if (batch->kinds != NULL && batch->kinds[row] != ROW_INSERT) {
            return tide__fail(err, TIDE_ERR_PLAN, "a file can't take back rows: the query updates its results");
        }
        if (sink->partition_count > 0) folder = row_folder(sink, batch, row);
        if (file == NULL || sink->partition_count > 0) TIDE_TRY(file_of(sink, folder, &file, err));
        TIDE_TRY(sink->format->write(sink->writer, sink->fields, row, &file->buffer, err));
        if (file->again != PUBLISHED_NONE) TIDE_TRY(catch_up(sink, file, err));
        if (file->buffer.len >= BUFFER_BYTES) TIDE_TRY(flush(sink, file, err));
    }
    return TIDE_OK;
}

// --- barriers ---------------------------------------------------------------------------------------------------

static tide_status seal(struct file_sink *sink, struct out_file *file, struct strbuf *out, tide_error *err) {
    TIDE_TRY(flush(sink, file, err));
    if (file->fd < 0) {
        file->fd = open(file->path, O_WRONLY | O_CLOEXEC);
        if (file->fd < 0) return tide__fail_errno(err, errno, "can't open \"%s\"", file->path);
    }
    if (fsync(file->fd) != 0) return tide__fail_errno(err, errno, "can't sync \"%s\"", file->path);
    int fd = file->fd;
    file->fd = -1;
    if (close(fd) != 0) return tide__fail_errno(err, errno, "can't close \"%s\"", file->path);
    TIDE_TRY(tide__pending_sync_folder(sink->folder, tide__str(file->folder), err));
    struct pending_file pending = {tide__str(file->folder), file->number, file->length, XXH3_64bits_digest(file->hash)};
    tide__pending_add(out, &pending);
    return TIDE_OK;
}

static tide_status file_sink_prepare(struct sink *base, struct strbuf *out, tide_error *err) {
    struct file_sink *sink = self(base);
    tide__pending_begin(out, sink->run, sink->next_number, sink->file_count);
    for (struct out_file *file = sink->files; file != NULL; file = file->next) TIDE_TRY(seal(sink, file, out, err));
    tide__published_save(&sink->published, out);
    free_files(&sink->files);
    free_files(&sink->catching);
    sink->last = sink->recent = NULL;
    sink->file_count = 0;
    tide__kill_point("sink.after-prepare");
    return TIDE_OK;
}

static tide_status mark_success(const struct file_sink *sink, struct str folder, tide_error *err) {
    struct strbuf path = {0};
    tide__strbuf_printf(&path, "%s/%.*s%.*s", sink->folder, STR_ARG(folder), STR_ARG(sink->success_file));
    int fd = open(path.data, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    tide_status status = fd >= 0 ? TIDE_OK : tide__fail_errno(err, errno, "can't create \"%s\"", path.data);
    if (fd >= 0) close(fd);
    tide__strbuf_deinit(&path);
    return status;
}

// Publishes the listed files. lenient: files of another run, which may have been written elsewhere.
static tide_status publish_all(const struct file_sink *sink, struct str prepared, bool verify, tide_error *err) {
    struct pending_reader reader;
    TIDE_TRY(tide__pending_open(prepared, &reader, err));
    bool own = tide__str_eq_c(reader.run, sink->run), overwrite = own && sink->overwrite;
    if (overwrite && sink->partition_count == 0) {
        TIDE_TRY(tide__pending_overwrite(sink->folder, (struct str){"", 0}, sink->run, err));
    }
    for (uint64_t i = 0; i < reader.count; i++) {
        struct pending_file file;
        TIDE_TRY(tide__pending_next(&reader, &file, err));
        if (!own) {
            char *hidden = tide__pending_hidden(sink->folder, &file, reader.run);
            bool here = access(hidden, F_OK) == 0;
            tide__free(hidden);
            if (!here) continue;
        }
        if (overwrite && sink->partition_count > 0) {
            TIDE_TRY(tide__pending_overwrite(sink->folder, file.folder, sink->run, err));
        }
        TIDE_TRY(tide__pending_publish(sink->folder, &file, reader.run, verify, err));
        if (sink->success_file.len > 0) TIDE_TRY(mark_success(sink, file.folder, err));
        TIDE_TRY(tide__pending_sync_folder(sink->folder, file.folder, err));
    }
    return TIDE_OK;
}

static tide_status file_sink_commit(struct sink *base, struct str prepared, tide_error *err) {
    return publish_all(self(base), prepared, false, err);
}

static tide_status file_sink_restore(struct sink *base, struct str prepared, tide_error *err) {
    struct file_sink *sink = self(base);
    assert(sink->files == NULL);
    sink->restored = true;
    if (prepared.len > 0) TIDE_TRY(tide__pending_check(prepared, err));
    if (prepared.len > 0) TIDE_TRY(publish_all(sink, prepared, true, err));
    TIDE_TRY(tide__published_load(&sink->published, sink->folder, sink->run, prepared, &sink->next_number, err));
    return tide__pending_sweep(sink->folder, sink->run, err);
}

static tide_status file_sink_end(struct sink *base, tide_error *err) {
    return tide__published_end(&self(base)->published, err);
}

static tide_status file_sink_finish(struct sink *base, tide_error *err) {
    struct strbuf prepared = {0};
    tide_status status = file_sink_prepare(base, &prepared, err);
    if (status == TIDE_OK) status = file_sink_commit(base, tide__strbuf_str(&prepared), err);
    tide__strbuf_deinit(&prepared);
    return status;
}

static void file_sink_close(struct sink *base) {
    struct file_sink *sink = self(base);
    for (struct out_file *file = sink->files; file != NULL; file = file->next) unlink(file->path);
    free_files(&sink->files);
    free_files(&sink->catching);
    tide__published_deinit(&sink->published);
    if (sink->writer != NULL) sink->format->writer_close(sink->writer);
    for (uint32_t i = 0; i < sink->partition_count; i++) tide__free(sink->partition_names[i]);
    tide__free(sink->partition_names);
    tide__free(sink->partition_inputs);
    tide__free(sink->inputs);
    tide__free(sink->fields);
    tide__strbuf_deinit(&sink->partition);
    tide__free(sink->folder);
    tide__free(sink->run);
    tide__free(sink);
}

const struct sink_class tide__filesystem_sink = {
    .connector = "filesystem",
    .open = file_sink_open,
    .write = file_sink_write,
    .prepare = file_sink_prepare,
    .commit = file_sink_commit,
    .restore = file_sink_restore,
    .end = file_sink_end,
    .finish = file_sink_finish,
    .close = file_sink_close,
};
