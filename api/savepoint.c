// Savepoints by hand: take one of a running or a stopped job, check one, list a state directory's; and stopping a job.
//
// A running job is asked over its socket and writes the file itself, at its next barrier. Of a stopped one the newest
// checkpoint is copied: checkpoints and savepoints are the same file. A delta is merged with what it builds on.
#include "api/inspect.h"
#include "api/key_text.h"
#include "api/script.h"
#include "base/time.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

static void put(tide_write_fn *write, void *ctx, const struct strbuf *text) {
    if (write != NULL && text->len > 0) write(ctx, text->data, text->len);
}

// --- take ---------------------------------------------------------------------------------------------------------

// tidemark-20240101-120000.savepoint; with a number if that is there already.
static const char *new_name(struct arena *arena) {
    struct timeval now;
    gettimeofday(&now, NULL);
    struct strbuf text = {0};
    tide__timestamp_print((struct timestamp){.ms = (int64_t)now.tv_sec * MILLIS_PER_SECOND}, 0, &text);
    char digits[16];
    size_t len = 0;
    for (size_t i = 0; i < text.len && len < 15; i++) {
        if (text.data[i] >= '0' && text.data[i] <= '9') digits[len++] = text.data[i];
        if (text.data[i] == ' ') digits[len++] = '-';
    }
    tide__strbuf_deinit(&text);
    const char *name = tide__arena_printf(arena, "tidemark-%.*s.savepoint", (int)len, digits);
    for (int i = 2; access(name, F_OK) == 0 && i < 1000; i++)
        name = tide__arena_printf(arena, "tidemark-%.*s-%d.savepoint", (int)len, digits, i);
    return name;
}

// The running job has another working folder.
static tide_status absolute(const char *path, struct arena *arena, const char **out, tide_error *err) {
    if (strchr(path, '\n') != NULL) return tide__fail(err, TIDE_ERR_OPTION, "the savepoint's name holds a line end");
    if (strlen(path) > 4000) return tide__fail(err, TIDE_ERR_OPTION, "the savepoint's name is too long");
    *out = path;
    if (path[0] == '/') return TIDE_OK;
    char folder[4096];
    if (getcwd(folder, sizeof folder) == NULL) return tide__fail_errno(err, errno, "can't find out the current folder");
    *out = tide__arena_printf(arena, "%s/%s", folder, path);
    return TIDE_OK;
}

static tide_status copy_newest(const char *state_dir, const char *to, struct arena *arena, tide_error *err) {
    struct savepoint *savepoint;
    const char *from, *skipped;
    TIDE_TRY(tide__state_dir_newest(state_dir, arena, &savepoint, &from, &skipped, err));
    if (savepoint == NULL) {
        tide__fail(err, TIDE_ERR_SAVEPOINT, "%s holds no checkpoint, and no job is running in it", state_dir);
        tide__error_set_file(err, state_dir);
        return TIDE_ERR_SAVEPOINT;
    }
    uint64_t bytes;
    tide_status status = tide__savepoint_info(savepoint)->depth == 0
                             ? tide__api_savepoint_copy(from, to, err)
                             : tide__savepoint_rewrite(savepoint, to, &bytes, err);
    tide__savepoint_close(savepoint);
    return status;
}

static tide_status take(const char *state_dir, const char *to, struct arena *arena, tide_error *err) {
    const char *path = to;
    TIDE_TRY(absolute(to, arena, &path, err));
    bool running = false;
    TIDE_TRY(tide__api_control_ask(state_dir, tide__arena_printf(arena, "savepoint %s\n", path), &running, err));
    return running ? TIDE_OK : copy_newest(state_dir, to, arena, err);
}

tide_status tide_savepoint_take(const char *state_dir, const char *out_path, tide_write_fn *write, void *ctx,
                                tide_error *err) {
    tide_error own_error;
    if (err == NULL) err = &own_error;
    tide__error_clear(err);
    struct arena arena;
    tide__arena_init(&arena);
    const char *to = out_path != NULL ? out_path : new_name(&arena);
    tide_status status = tide__api_savepoint_path_check(to, &arena, err);
    if (status == TIDE_OK) status = take(state_dir, to, &arena, err);
    if (status == TIDE_OK) {
        struct strbuf text = {0};
        tide__strbuf_printf(&text, "%s\n", to);
        put(write, ctx, &text);
        tide__strbuf_deinit(&text);
    }
    tide__arena_deinit(&arena);
    return status;
}

// --- verify -------------------------------------------------------------------------------------------------------

struct verification {
    tide_write_fn *write;
    void *ctx;
    const char *path;
    bool alone;  // no other file is verified
};

static void put_lost(const struct state_table_desc *desc, struct str first, struct str last, uint64_t entries,
                     struct strbuf *out) {
    tide__strbuf_printf(out, "%llu keys from ", (unsigned long long)entries);
    tide__api_put_key(desc, first, out);
    tide__strbuf_append_c(out, " to ");
    tide__api_put_key(desc, last, out);
}

static void report_damage(void *ctx, const struct savepoint_damage *damage) {
    struct verification *v = ctx;
    struct strbuf text = {0};
    if (damage->desc == NULL) {  // one that can't be read at all: alone, the error says it
        if (!v->alone) tide__strbuf_printf(&text, "%s\n", damage->what);
    } else {
        tide__strbuf_printf(&text, "%s: state %s, ", damage->path, damage->desc->name);
        if (damage->section != UINT32_MAX) tide__strbuf_printf(&text, "section %u, ", damage->section);
        tide__strbuf_printf(&text, "chunk %u at offset %llu: %s; lost: ", damage->chunk,
                            (unsigned long long)damage->index->offset, damage->what);
        put_lost(damage->desc, damage->index->first_key, damage->index->last_key, damage->index->entries, &text);
        tide__strbuf_append_c(&text, "\n");
    }
    put(v->write, v->ctx, &text);
    tide__strbuf_deinit(&text);
}

static void count_chunks(const struct savepoint_info *info, uint64_t *out_entries, uint64_t *out_chunks) {
    *out_entries = *out_chunks = 0;
    for (size_t i = 0; i < info->table_count; i++) {
        *out_entries += info->tables[i].entries;
        *out_chunks += info->tables[i].chunk_count;
    }
    for (size_t i = 0; i < info->section_count; i++) *out_chunks += info->sections[i].chunk_count;
}

static const char *plural(uint64_t n) {
    return n == 1 ? "" : "s";
}

static tide_status verify_file(struct verification *v, tide_error *err) {
    TIDE_TRY(tide__savepoint_verify(v->path, report_damage, v, err));
    struct savepoint *savepoint;
    TIDE_TRY(tide__savepoint_open(v->path, &savepoint, err));
    const struct savepoint_info *info = tide__savepoint_info(savepoint);
    uint64_t entries, chunks;
    count_chunks(info, &entries, &chunks);
    struct strbuf text = {0};
    tide__strbuf_printf(&text, "%s: whole: %s%llu key%s%s in %llu chunk%s, %llu bytes", v->path,
                        info->counts_are_bounds ? "at most " : "", (unsigned long long)entries, plural(entries),
                        info->depth > 0 ? " with what it builds on, of which" : "", (unsigned long long)chunks,
                        plural(chunks), (unsigned long long)tide__savepoint_bytes(savepoint));
    if (info->depth > 0)
        tide__strbuf_printf(&text, " in %u files, back to checkpoint %llu", info->depth + 1,
                            (unsigned long long)tide__savepoint_base_id(savepoint));
    if (info->missing_count > 0) tide__strbuf_append_c(&text, "; salvaged, keys are missing");
    tide__strbuf_append_c(&text, "\n");
    put(v->write, v->ctx, &text);
    tide__strbuf_deinit(&text);
    tide__savepoint_close(savepoint);
    return TIDE_OK;
}

struct verify_all {
    tide_write_fn *write;
    void *ctx;
    tide_error *err;
    tide_status status;
    uint64_t files;
    bool alone;
};

static void verify_one(void *ctx, uint32_t job, uint64_t id, const char *path) {
    (void)job, (void)id;
    struct verify_all *all = ctx;
    struct verification v = {.write = all->write, .ctx = all->ctx, .path = path, .alone = all->alone};
    all->files++;
    tide_status status = verify_file(&v, all->err);
    if (status != TIDE_OK && all->status == TIDE_OK) all->status = status;
}

tide_status tide_savepoint_verify(const char *path, tide_write_fn *write, void *ctx, tide_error *err) {
    tide_error own_error;
    if (err == NULL) err = &own_error;
    tide__error_clear(err);
    struct verify_all all = {.write = write, .ctx = ctx, .err = err};
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode)) {
        all.alone = true;
        verify_one(&all, 0, 0, path);
        return all.status;
    }
    TIDE_TRY(tide__state_dir_each(path, verify_one, &all, err));
    if (all.files == 0) return tide__fail(err, TIDE_ERR_SAVEPOINT, "%s holds no checkpoint", path);
    return all.status;
}

// --- salvage ------------------------------------------------------------------------------------------------------

static void put_missing(const struct savepoint_info *info, struct strbuf *out) {
    for (size_t i = 0; i < info->missing_count; i++) {
        const struct savepoint_missing *missing = &info->missing[i];
        const struct state_table_desc *desc = &info->tables[missing->table].desc;
        tide__strbuf_printf(out, "not in it: state %s, up to ", desc->name);
        put_lost(desc, missing->first_key, missing->last_key, missing->entries, out);
        tide__strbuf_append_c(out, "\n");
    }
}

static tide_status salvage(struct verification *v, const char *out_path, tide_error *err) {
    struct stat info;
    if (stat(v->path, &info) == 0 && S_ISDIR(info.st_mode)) {
        tide__fail(err, TIDE_ERR_OPTION, "%s is a folder, not a savepoint", v->path);
        return tide__fail_hint(err, "Name one of the files that `tidemark savepoint list` shows.");
    }
    if (access(out_path, F_OK) == 0) return tide__fail(err, TIDE_ERR_OPTION, "%s is there already", out_path);
    uint64_t missing;
    TIDE_TRY(tide__savepoint_salvage(v->path, out_path, report_damage, v, &missing, err));
    struct savepoint *savepoint;
    TIDE_TRY(tide__savepoint_open(out_path, &savepoint, err));
    struct strbuf text = {0};
    uint64_t entries, chunks;
    count_chunks(tide__savepoint_info(savepoint), &entries, &chunks);
    put_missing(tide__savepoint_info(savepoint), &text);
    tide__strbuf_printf(&text, "%s: %llu keys saved, up to %llu lost\n", out_path, (unsigned long long)entries,
                        (unsigned long long)missing);
    put(v->write, v->ctx, &text);
    tide__strbuf_deinit(&text);
    tide__savepoint_close(savepoint);
    return TIDE_OK;
}

tide_status tide_savepoint_salvage(const char *path, const char *out_path, tide_write_fn *write, void *ctx,
                                   tide_error *err) {
    tide_error own_error;
    if (err == NULL) err = &own_error;
    tide__error_clear(err);
    struct verification v = {.write = write, .ctx = ctx, .path = path};
    return salvage(&v, out_path, err);
}

// --- list and stop ------------------------------------------------------------------------------------------------

struct listing {
    struct strbuf text;
};

static void list_one(void *ctx, uint32_t job, uint64_t id, const char *path) {
    struct listing *listing = ctx;
    struct savepoint *savepoint;
    tide_error why;
    tide__error_clear(&why);
    tide__strbuf_printf(&listing->text, "%u\t%llu\t", job, (unsigned long long)id);
    if (tide__savepoint_open(path, &savepoint, &why) != TIDE_OK) {
        tide__strbuf_printf(&listing->text, "\t\t\t%s\t%s\n", path, why.message);
        return;
    }
    const struct savepoint_info *info = tide__savepoint_info(savepoint);
    tide__strbuf_printf(&listing->text, "%llu\t", (unsigned long long)info->snapshot.rows);
    tide__api_put_time(info->created_ms, &listing->text);
    tide__strbuf_printf(&listing->text, "\t%llu\t%s\t", (unsigned long long)tide__savepoint_file_bytes(savepoint),
                        path);
    if (info->depth > 0) tide__strbuf_printf(&listing->text, "builds on %llu", (unsigned long long)info->parent_id);
    tide__strbuf_printf(&listing->text, "%s%s\n", info->depth > 0 && info->snapshot.ended ? ", " : "",
                        info->snapshot.ended ? "finished" : "");
    tide__savepoint_close(savepoint);
}

// A job that has no checkpoint yet has its lock; what has neither is something else.
static tide_status check_state_dir(const char *path, tide_error *err) {
    struct stat info;
    if (stat(path, &info) != 0) return tide__fail(err, TIDE_ERR_SAVEPOINT, "can't read %s: %s", path, strerror(errno));
    char lock[4096];
    bool is_one = S_ISDIR(info.st_mode) && snprintf(lock, sizeof lock, "%s/lock", path) < (int)sizeof lock;
    if (is_one && (access(lock, F_OK) == 0 || tide__state_dir_has_checkpoints(path))) return TIDE_OK;
    tide__fail(err, TIDE_ERR_SAVEPOINT, "%s is no state directory", path);
    return tide__fail_hint(err,
                           "it is what `tidemark run --state-dir DIR` has made; `inspect` shows a single savepoint");
}

tide_status tide_savepoint_list(const char *state_dir, tide_write_fn *write, void *ctx, tide_error *err) {
    tide_error own_error;
    if (err == NULL) err = &own_error;
    tide__error_clear(err);
    TIDE_TRY(check_state_dir(state_dir, err));
    struct listing listing = {0};
    tide__strbuf_append_c(&listing.text, "job\tcheckpoint\trows\ttaken\tbytes\tpath\tnote\n");
    tide_status status = tide__state_dir_each(state_dir, list_one, &listing, err);
    if (status == TIDE_OK) put(write, ctx, &listing.text);
    tide__strbuf_deinit(&listing.text);
    return status;
}

tide_status tide_stop(const char *state_dir, tide_error *err) {
    tide_error own_error;
    if (err == NULL) err = &own_error;
    tide__error_clear(err);
    bool running = false;
    TIDE_TRY(tide__api_control_ask(state_dir, "stop\n", &running, err));
    if (running) return TIDE_OK;
    return tide__fail(err, TIDE_ERR_IO, "no job is running in %s", state_dir);
}
