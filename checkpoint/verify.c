// Checking a savepoint, and saving what is whole of a broken one.
#include "base/alloc.h"
#include "checkpoint/format.h"
#include "checkpoint/reader.h"

#include <stdio.h>
#include <string.h>

static tide_status check_file(const struct savepoint *savepoint, tide_error *err) {
    struct frame_reader reader = {0};
    tide_status status = TIDE_OK;
    struct chunk_walk walk = {.savepoint = savepoint};
    while (status == TIDE_OK && tide__chunk_walk_next(&walk)) {
        const char *bad = tide__frame_check(savepoint->fd, walk.index->offset, walk.index->length, walk.index->checksum,
                                            &reader);
        if (bad != NULL) status = tide__savepoint_fail_chunk(savepoint, walk.table, walk.index, bad, err);
    }
    tide__frame_reader_deinit(&reader);
    return status;
}

tide_status tide__savepoint_check_frames(const struct savepoint *savepoint, tide_error *err) {
    for (const struct savepoint *file = savepoint; file != NULL; file = file->parent) TIDE_TRY(check_file(file, err));
    return TIDE_OK;
}

// --- every chunk --------------------------------------------------------------------------------------------------

// Keys that damage makes unknown, one set a table.
struct losses {
    struct key_ranges *ranges;
    struct arena arena;
};

static tide_status verify_file(const struct savepoint *savepoint, savepoint_damage_fn *damaged, void *ctx,
                               struct losses *losses, tide_error *err) {
    struct frame_reader reader = {0};
    struct arena arena;
    tide__arena_init(&arena);
    tide_status status = TIDE_OK;
    struct chunk_walk walk = {.savepoint = savepoint};
    while (tide__chunk_walk_next(&walk)) {
        struct chunk chunk;
        tide__arena_reset(&arena);
        const char *bad = tide__savepoint_chunk(savepoint, walk.table, walk.index, &reader, &arena, &chunk);
        if (bad == NULL) continue;
        status = tide__savepoint_fail_chunk(savepoint, walk.table, walk.index, bad, err);
        struct savepoint_damage damage = {.path = savepoint->path,
                                          .desc = &savepoint->info.tables[walk.table].desc,
                                          .section = walk.section,
                                          .chunk = walk.chunk,
                                          .index = walk.index,
                                          .what = bad};
        if (damaged != NULL) damaged(ctx, &damage);
        if (losses != NULL) tide__key_ranges_add(&losses->ranges[walk.table], walk.index->first_key, walk.index->end);
    }
    tide__arena_deinit(&arena);
    tide__frame_reader_deinit(&reader);
    return status;
}

// A broken key filter loses nothing, but the file is damaged.
static tide_status verify_filters(const struct savepoint *savepoint, savepoint_damage_fn *damaged, void *ctx,
                                  tide_error *err) {
    struct frame_reader reader = {0};
    tide_status status = TIDE_OK;
    for (size_t i = 0; savepoint->info.depth == 0 && i < savepoint->info.table_count; i++) {
        const struct savepoint_table *table = &savepoint->info.tables[i];
        struct str raw;
        const char *bad = table->filter.length == 0 ? NULL : tide__savepoint_filter(savepoint, i, &reader, &raw);
        if (bad == NULL) continue;
        char what[160];
        snprintf(what, sizeof what, "the key filter of \"%.80s\": %s", table->desc.name, bad);
        tide__fail(err, TIDE_ERR_SAVEPOINT, "broken savepoint %s: %s", savepoint->path, what);
        status = TIDE_ERR_SAVEPOINT;
        struct savepoint_damage damage = {.path = savepoint->path, .what = what};
        if (damaged != NULL) damaged(ctx, &damage);
    }
    tide__frame_reader_deinit(&reader);
    return status;
}

// Of the file and of those below it, the full one first.
static tide_status verify_chain(const struct savepoint *savepoint, savepoint_damage_fn *damaged, void *ctx,
                                struct losses *losses, tide_error *err) {
    tide_status below = TIDE_OK;
    if (savepoint->parent != NULL) below = verify_chain(savepoint->parent, damaged, ctx, losses, err);
    tide_status status = verify_file(savepoint, damaged, ctx, losses, err);
    tide_status filters = verify_filters(savepoint, damaged, ctx, err);
    if (status == TIDE_OK) status = filters;
    return below != TIDE_OK ? below : status;
}

static tide_status open_or_report(const char *path, savepoint_damage_fn *damaged, void *ctx, struct savepoint **out,
                                  tide_error *err) {
    tide_status status = tide__savepoint_open(path, out, err);
    struct savepoint_damage damage = {.path = path, .what = err->message};
    if (status != TIDE_OK && damaged != NULL) damaged(ctx, &damage);
    return status;
}

tide_status tide__savepoint_verify(const char *path, savepoint_damage_fn *damaged, void *ctx, tide_error *err) {
    struct savepoint *savepoint;
    tide_error own_error;
    tide__error_clear(&own_error);
    if (err == NULL) err = &own_error;
    TIDE_TRY(open_or_report(path, damaged, ctx, &savepoint, err));
    tide_status status = verify_chain(savepoint, damaged, ctx, NULL, err);
    tide__savepoint_close(savepoint);
    return status;
}

// --- salvage ------------------------------------------------------------------------------------------------------

// Entries of the table's chunks that begin in the range, at most.
static uint64_t entries_within(const struct savepoint *savepoint, uint32_t table, const struct key_range *range) {
    uint64_t entries = 0;
    for (const struct savepoint *file = savepoint; file != NULL; file = file->parent) {
        struct chunk_walk walk = {.savepoint = file};
        while (tide__chunk_walk_next(&walk))
            if (walk.table == table && (walk.index->end.len == 0 || tide__str_cmp(walk.index->end, range->lower) > 0) &&
                (range->upper.len == 0 || tide__str_cmp(walk.index->first_key, range->upper) < 0))
                entries += walk.index->entries;
    }
    return entries;
}

// What an earlier salvage left out stays missing; what this one does comes to it.
static void list_missing(const struct savepoint *savepoint, struct losses *losses, struct savepoint_info *info) {
    size_t count = info->missing_count;
    for (size_t t = 0; t < info->table_count; t++) count += losses->ranges[t].count;
    struct savepoint_missing *all = ARENA_ARRAY(&losses->arena, struct savepoint_missing, count + 1);
    size_t at = info->missing_count;
    if (at > 0) memcpy(all, info->missing, at * sizeof *all);
    for (size_t t = 0; t < info->table_count; t++) {
        for (size_t i = 0; i < losses->ranges[t].count; i++) {
            const struct key_range *range = &losses->ranges[t].items[i];
            all[at++] = (struct savepoint_missing){
                .table = (uint32_t)t,
                .first_key = range->lower,
                .last_key = tide__index_key_last(range->upper, &losses->arena),
                .entries = entries_within(savepoint, (uint32_t)t, range),
            };
        }
    }
    info->missing = all;
    info->missing_count = count;
}

tide_status tide__savepoint_salvage(const char *path, const char *out_path, savepoint_damage_fn *damaged, void *ctx,
                                    uint64_t *out_missing, tide_error *err) {
    *out_missing = 0;
    tide_error own_error;
    tide__error_clear(&own_error);
    if (err == NULL) err = &own_error;
    struct savepoint *savepoint;
    TIDE_TRY(open_or_report(path, damaged, ctx, &savepoint, err));
    struct savepoint_info info = savepoint->info;
    struct losses losses = {.ranges = tide__calloc(info.table_count + 1, sizeof *losses.ranges)};
    tide__arena_init(&losses.arena);
    tide_error ignored;
    tide__error_clear(&ignored);
    tide_status status = verify_chain(savepoint, damaged, ctx, &losses, &ignored);
    for (size_t t = 0; t < info.table_count; t++) tide__key_ranges_settle(&losses.ranges[t]);
    size_t before = info.missing_count;
    list_missing(savepoint, &losses, &info);
    for (size_t i = before; i < info.missing_count; i++) *out_missing += info.missing[i].entries;
    uint64_t bytes;
    status = tide__savepoint_write_copy(out_path, savepoint, &info, losses.ranges, &bytes, err);
    for (size_t t = 0; t < info.table_count; t++) tide__key_ranges_deinit(&losses.ranges[t]);
    tide__free(losses.ranges);
    tide__arena_deinit(&losses.arena);
    tide__savepoint_close(savepoint);
    return status;
}
