// A delta and the files below it: finding them, and what their tables hold at most.
//
// The parent's file lies in the same folder under the name that its number and depth give it, and its manifest has the
// checksum that the delta was written with: no other file is taken for it.
#include "base/alloc.h"
#include "checkpoint/format.h"
#include "checkpoint/reader.h"
#include "checkpoint/state_dir.h"
#include "checkpoint/window_set.h"

#include <string.h>

static tide_status broken(const struct savepoint *savepoint, const struct savepoint *parent, const char *what,
                          tide_error *err) {
    tide__fail(err, TIDE_ERR_SAVEPOINT, "broken savepoint %s: it builds on %s, but %s", savepoint->path, parent->path,
               what);
    tide__error_set_file(err, savepoint->path);
    return TIDE_ERR_SAVEPOINT;
}

static bool same_fields(const struct state_field *a, size_t a_count, const struct state_field *b, size_t b_count) {
    if (a_count != b_count) return false;
    for (size_t i = 0; i < a_count; i++)
        if (a[i].form != b[i].form || a[i].combiner != b[i].combiner) return false;
    return true;
}

static bool same_tables(const struct savepoint_info *a, const struct savepoint_info *b) {
    if (a->table_count != b->table_count) return false;
    for (size_t i = 0; i < a->table_count; i++) {
        const struct state_table_desc *x = &a->tables[i].desc, *y = &b->tables[i].desc;
        if (strcmp(x->name, y->name) != 0 || x->kind != y->kind || x->key_count != y->key_count ||
            !same_fields(x->values, x->value_count, y->values, y->value_count))
            return false;
    }
    return true;
}

static tide_status open_parent(struct savepoint *savepoint, tide_error *err) {
    const struct savepoint_info *info = &savepoint->info;
    struct strbuf path = {0};
    const char *slash = strrchr(savepoint->path, '/');
    if (slash != NULL) tide__strbuf_append(&path, savepoint->path, (size_t)(slash - savepoint->path) + 1);
    tide__checkpoint_file_name(info->parent_id, info->depth > 1, &path);
    tide_error why;
    tide__error_clear(&why);
    tide_status status = tide__savepoint_open_one(path.data, &savepoint->parent, &why);
    tide__strbuf_deinit(&path);
    if (status != TIDE_OK) {
        tide__fail(err, TIDE_ERR_SAVEPOINT, "%s can't be read without the checkpoint it builds on: %s", savepoint->path,
                   why.message);
        tide__error_set_file(err, savepoint->path);
        return TIDE_ERR_SAVEPOINT;
    }
    const struct savepoint *parent = savepoint->parent;
    if (parent->info.checkpoint_id != info->parent_id || parent->manifest_checksum != info->parent_checksum)
        return broken(savepoint, parent, "that is another file than it was written for", err);
    if (parent->info.depth != info->depth - 1) return broken(savepoint, parent, "that has another depth", err);
    if (!same_tables(&parent->info, info)) return broken(savepoint, parent, "that has other tables", err);
    return TIDE_OK;
}

// --- counts -------------------------------------------------------------------------------------------------------

// What the tables of a chain hold at most. The counts of a full file are exact, of a delta they are what its runs wrote.
static void bound_table(struct savepoint *savepoint, const struct savepoint *const *links, size_t link_count,
                        uint32_t index, struct savepoint_table *out) {
    const struct savepoint_table *full = &links[0]->info.tables[index];
    struct window_set set;
    tide__window_set_init(&set, full);
    *out = (struct savepoint_table){.desc = savepoint->info.tables[index].desc};
    for (size_t l = 0; l < link_count; l++) {
        const struct savepoint_info *info = &links[l]->info;
        const struct savepoint_table *table = &info->tables[index];
        out->entries += table->entries;
        out->key_bytes += table->key_bytes;
        out->value_bytes += table->value_bytes;
        out->window_count += table->window_count;
        if (l == 0) continue;
        for (size_t s = 0; s < info->section_count; s++)
            if (info->sections[s].table == index && info->sections[s].drop)
                tide__window_set_drop(&set, info->sections[s].lower, info->sections[s].upper);
        tide__window_set_add(&set, table->windows, table->window_count);
    }
    if (out->desc.kind == STATE_TABLE_WINDOWED) tide__window_set_list(&set, &savepoint->arena, out);
    tide__window_set_deinit(&set);
}

static void bound_tables(struct savepoint *savepoint) {
    size_t count = savepoint->info.depth + 1u, at = count;
    const struct savepoint **links = tide__calloc(count, sizeof *links);
    for (const struct savepoint *file = savepoint; file != NULL; file = file->parent) links[--at] = file;
    struct savepoint_info *info = &savepoint->info;
    struct savepoint_table *tables = ARENA_ARRAY(&savepoint->arena, struct savepoint_table, info->table_count + 1);
    for (size_t i = 0; i < info->table_count; i++) bound_table(savepoint, links, count, (uint32_t)i, &tables[i]);
    info->tables = tables;
    info->counts_are_bounds = true;
    tide__free(links);
}

tide_status tide__savepoint_open_parents(struct savepoint *savepoint, tide_error *err) {
    for (struct savepoint *file = savepoint; file->info.depth > 0; file = file->parent)
        TIDE_TRY(open_parent(file, err));
    if (savepoint->info.depth > 0) bound_tables(savepoint);
    return TIDE_OK;
}
