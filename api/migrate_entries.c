// Reading old entries in batches, and handing new ones over in sorted runs.
#include "api/migrate.h"

#include "base/alloc.h"
#include "engine/codec/key.h"
#include "engine/expr/eval.h"

#include <stdlib.h>
#include <string.h>

enum { READ_BATCH = 1024, RUN_ENTRIES = 1 << 16, RUN_BYTES = 16 << 20 };

// --- a run -----------------------------------------------------------------------------------------------------------------

struct entry_run {
    struct state_source source;
    struct arena arena;
    struct state_entry *entries;
    size_t count, at;
};

static bool run_next(struct state_source *source, struct state_entry *out) {
    struct entry_run *run = (struct entry_run *)source;
    if (run->at == run->count) return false;
    *out = run->entries[run->at++];
    return true;
}

static void run_free(struct state_source *source) {
    struct entry_run *run = (struct entry_run *)source;
    tide__arena_deinit(&run->arena);
    tide__free(run->entries);
    tide__free(run);
}

static int compare_entries(const void *a, const void *b) {
    const struct state_entry *left = a, *right = b;
    int order = tide__str_cmp(left->key, right->key);
    // Of one key, in the order in which they came.
    return order != 0 ? order : (left->key.data > right->key.data) - (left->key.data < right->key.data);
}

static struct str copied(struct arena *arena, const struct strbuf *text) {
    return (struct str){tide__arena_strndup(arena, text->data != NULL ? text->data : "", text->len), text->len};
}

static bool combine_into(struct entry_loader *loader, struct state_entry *into, struct str newer) {
    struct strbuf value = {0};
    bool good = loader->combine(loader->ctx, into->value, newer, &value);
    if (good) into->value = copied(&loader->arena, &value);
    tide__strbuf_deinit(&value);
    return good;
}

// Entries of one key become one.
static bool unite(struct entry_loader *loader) {
    size_t kept = 0;
    for (size_t i = 0; i < loader->count; i++) {
        struct state_entry *entry = &loader->entries[i];
        if (kept > 0 && tide__str_eq(loader->entries[kept - 1].key, entry->key)) {
            if (loader->combine == NULL || !combine_into(loader, &loader->entries[kept - 1], entry->value))
                return false;
            continue;
        }
        loader->entries[kept++] = *entry;
    }
    loader->count = kept;
    return true;
}

// What an earlier run of this table has under the same keys comes first.
static tide_status add_older(struct entry_loader *loader, bool *good, tide_error *err) {
    struct str *keys = tide__arena_alloc(&loader->arena, (loader->count + 1) * sizeof *keys);
    struct str *older = tide__arena_alloc(&loader->arena, (loader->count + 1) * sizeof *older);
    for (size_t i = 0; i < loader->count; i++) keys[i] = loader->entries[i].key;
    TIDE_TRY(tide__state_multi_get(loader->table, keys, loader->count, &loader->arena, older, err));
    for (size_t i = 0; i < loader->count && *good; i++) {
        if (older[i].data == NULL) continue;
        struct state_entry entry = {STATE_REPLACE, keys[i], older[i]};
        *good = combine_into(loader, &entry, loader->entries[i].value);
        loader->entries[i].value = entry.value;
    }
    return TIDE_OK;
}

static tide_status flush(struct entry_loader *loader, tide_error *err) {
    if (loader->count == 0) return TIDE_OK;
    qsort(loader->entries, loader->count, sizeof *loader->entries, compare_entries);
    bool good = unite(loader);
    if (good && loader->combine != NULL) TIDE_TRY(add_older(loader, &good, err));
    if (!good)
        return tide__fail(err, TIDE_ERR_SAVEPOINT, "the state table %s holds entries that can't become one",
                          tide__state_table_desc(loader->table)->name);
    struct entry_run *run = tide__calloc(1, sizeof *run);
    *run = (struct entry_run){
        .source = {run_next, run_free}, .arena = loader->arena, .entries = loader->entries, .count = loader->count};
    size_t bytes = loader->bytes;
    tide__arena_init(&loader->arena);
    loader->entries = NULL;
    loader->count = loader->cap = loader->bytes = 0;
    return tide__state_submit_run(loader->table, &run->source, bytes, err);
}

tide_status tide__entry_loader_add(struct entry_loader *loader, struct str key, struct str value, tide_error *err) {
    char *bytes = tide__arena_alloc(&loader->arena, key.len + value.len + 1);
    if (key.len > 0) memcpy(bytes, key.data, key.len);
    if (value.len > 0) memcpy(bytes + key.len, value.data, value.len);
    loader->entries = tide__grow(loader->entries, &loader->cap, loader->count + 1, sizeof *loader->entries);
    loader->entries[loader->count++] = (struct state_entry){
        STATE_REPLACE, {bytes, key.len}, {bytes + key.len, value.len}};
    loader->bytes += key.len + value.len + sizeof *loader->entries;
    return loader->count < RUN_ENTRIES && loader->bytes < RUN_BYTES ? TIDE_OK : flush(loader, err);
}

tide_status tide__entry_loader_end(struct entry_loader *loader, tide_status status, tide_error *err) {
    if (status == TIDE_OK) status = flush(loader, err);
    tide__arena_deinit(&loader->arena);
    tide__free(loader->entries);
    loader->entries = NULL;
    return status;
}

// --- reading ---------------------------------------------------------------------------------------------------------------

tide_status tide__table_step_damaged(const struct table_step *step, tide_error *err) {
    return tide__fail(err, TIDE_ERR_SAVEPOINT, "the state table %s holds an entry that is damaged",
                      step->old_table->desc.name);
}

tide_status tide__table_step_unsupported(const struct table_step *step, const char *what, tide_error *err) {
    tide__fail(err, TIDE_ERR_REFUSED, "the state of %s can't be carried over: %s", step->op->name, what);
    return tide__fail_hint(err, "Undo the change, or let it start empty with --on-incompatible reset.");
}

static struct state_entry kept(struct arena *arena, const struct state_entry *entry) {
    char *bytes = tide__arena_alloc(arena, entry->key.len + entry->value.len + 1);
    if (entry->key.len > 0) memcpy(bytes, entry->key.data, entry->key.len);
    if (entry->value.len > 0) memcpy(bytes + entry->key.len, entry->value.data, entry->value.len);
    return (struct state_entry){STATE_REPLACE, {bytes, entry->key.len}, {bytes + entry->key.len, entry->value.len}};
}

static tide_status read_all(struct table_step *step, struct state_source *source, convert_fn *convert, void *ctx,
                            tide_error *err) {
    struct state_entry entry;
    for (bool more = true; more;) {
        tide__arena_reset(&step->scratch);
        struct state_entry *entries = tide__arena_alloc(&step->scratch, READ_BATCH * sizeof *entries);
        size_t n = 0;
        while (n < READ_BATCH && (more = source->next(source, &entry))) entries[n++] = kept(&step->scratch, &entry);
        if (n > 0) TIDE_TRY(convert(ctx, entries, n, err));
    }
    return TIDE_OK;
}

tide_status tide__table_step_run(struct table_step *step, convert_fn *convert, void *ctx, tide_error *err) {
    struct savepoint *savepoint = step->job->run->resume.savepoint;
    size_t index = (size_t)(step->old_table - tide__savepoint_info(savepoint)->tables);
    struct state_source *source;
    TIDE_TRY(tide__savepoint_entries(savepoint, index, (struct str){0}, (struct str){0}, &source, err));
    tide__arena_init(&step->loader.arena);
    tide_status status = read_all(step, source, convert, ctx, err);
    source->free(source);
    status = tide__entry_loader_end(&step->loader, status, err);
    TIDE_TRY(tide__savepoint_status(savepoint, err));
    return status;
}

// --- what the converters share ---------------------------------------------------------------------------------------------

bool tide__migrate_decode_keys(const struct state_entry *entries, size_t count, size_t prefix, struct batch *batch,
                               struct arena *arena, struct str *out_tails) {
    for (size_t i = 0; i < count; i++) {
        if (entries[i].key.len < prefix) return false;
        struct str rest = {entries[i].key.data + prefix, entries[i].key.len - prefix};
        for (size_t c = 0; c < batch->column_count; c++)
            if (!tide__key_decode(&rest, arena, &batch->columns[c], i)) return false;
        if (out_tails != NULL) out_tails[i] = rest;
    }
    return true;
}

const struct compat_step *tide__migrate_step(const struct compat_operator *op, enum compat_step_kind kind, size_t n) {
    for (size_t i = 0; i < op->step_count; i++)
        if (op->steps[i].kind == kind && n-- == 0) return &op->steps[i];
    return NULL;
}

tide_status tide__migrate_eval(const struct table_step *step, const struct expr *expr, const struct batch *batch,
                               struct arena *arena, struct column *out, tide_error *err) {
    struct eval_context ctx = {.zone = step->job->plan->settings.zone, .watermark = INT64_MIN, .scratch = arena};
    return tide__eval(&ctx, expr, batch, out, err);
}

tide_status tide__migrate_purge(const struct table_step *step, const struct batch *batch, struct arena *arena,
                                const uint8_t **out_keep, tide_error *err) {
    uint8_t *keep = tide__arena_alloc(arena, batch->rows + 1);
    memset(keep, 1, batch->rows);
    const struct compat_step *purge;
    for (size_t n = 0; (purge = tide__migrate_step(step->op, COMPAT_STEP_PURGE, n)) != NULL; n++) {
        if (purge->side != step->side) continue;
        struct column passes;
        TIDE_TRY(tide__migrate_eval(step, purge->expr, batch, arena, &passes, err));
        for (size_t i = 0; i < batch->rows; i++) keep[i] &= !tide__column_is_null(&passes, i) && passes.bools[i];
    }
    *out_keep = keep;
    return TIDE_OK;
}
