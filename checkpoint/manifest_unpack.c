// The manifest of a savepoint: from its protobuf message to the structs of savepoint.h. Every number that is used as a
// length, an index or an enum is checked here; where chunks lie in the file is checked by read.c.
#include "base/str.h"
#include "checkpoint/chunk.h"
#include "checkpoint/key_filter.h"
#include "checkpoint/format.h"
#include "checkpoint/key_ranges.h"
#include "checkpoint/pb_arena.h"
#include "checkpoint/savepoint.pb-c.h"

#include <string.h>

// Names of tables and operators become file and column-family names.
static bool is_name(const char *name) {
    size_t len = strlen(name);
    return len > 0 && len < 256 && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789._-") == len;
}

// It becomes a part of the names of sinks' files, which must not leave their folder.
static bool is_run_id(const char *id) {
    size_t len = strlen(id);
    return len < 64 && strspn(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == len;
}

static const char *or_null(const char *s) {
    return s[0] != '\0' ? s : NULL;
}

static struct str str_of(ProtobufCBinaryData bytes) {
    return (struct str){bytes.data != NULL ? (const char *)bytes.data : "", bytes.len};
}

static void unpack_operator(const Tide__Pb__Operator *message, struct arena *arena, struct plan_operator *out) {
    struct plan_clause *clauses = ARENA_ARRAY(arena, struct plan_clause, message->n_clauses + 1);
    for (size_t i = 0; i < message->n_clauses; i++) {
        const Tide__Pb__Clause *clause = message->clauses[i];
        clauses[i] = (struct plan_clause){
            .code = clause->code,
            .text = clause->text,
            .line = clause->line,
            .column = clause->column,
            .source = or_null(clause->source),
        };
    }
    *out = (struct plan_operator){
        .operator_id = message->operator_id,
        .kind = message->kind,
        .uid = or_null(message->uid),
        .stateful = message->stateful,
        .fingerprint = message->fingerprint,
        .clause_count = message->n_clauses,
        .clauses = clauses,
        .input_count = message->n_inputs,
        .inputs = (const char *const *)message->inputs,
    };
}

static const char *unpack_snapshot(const Tide__Pb__Snapshot *message, struct arena *arena, struct task_snapshot *out) {
    *out = (struct task_snapshot){
        .part_count = message->n_parts,
        .parts = ARENA_ARRAY(arena, struct task_part, message->n_parts + 1),
        .rows = message->rows,
        .turn = message->turn,
        .turn_rows = message->turn_rows,
        .ended = message->ended,
    };
    for (size_t i = 0; i < message->n_parts; i++) {
        const Tide__Pb__Part *part = message->parts[i];
        if (part->kind < TIDE__PB__PART_KIND__PART_SOURCE || part->kind > TIDE__PB__PART_KIND__PART_SINK)
            return "a part of an unknown kind";
        out->parts[i] = (struct task_part){
            .kind = (enum task_part_kind)part->kind,
            .operator_id = part->operator_id,
            .watermark = part->watermark,
            .saved = str_of(part->saved),
            .watermark_reached = part->watermark_reached,
            .watermark_let_out = part->watermark_let_out,
            .rows = part->rows,
            .rows_in = part->rows_in,
            .rows_out = part->rows_out,
            .late_rows = part->late_rows,
            .windows_fired = part->windows_fired,
        };
    }
    return NULL;
}

static const char *unpack_fields(Tide__Pb__Field **messages, size_t count, struct arena *arena,
                                 const struct state_field **out) {
    struct state_field *fields = ARENA_ARRAY(arena, struct state_field, count + 1);
    for (size_t i = 0; i < count; i++) {
        const Tide__Pb__Field *field = messages[i];
        if (field->form < TIDE__PB__FORM__FORM_I64 || field->form > TIDE__PB__FORM__FORM_BYTES)
            return "a field of an unknown form";
        if (field->combiner < TIDE__PB__COMBINER__COMBINE_REPLACE || field->combiner > TIDE__PB__COMBINER__COMBINE_LAST)
            return "a field of an unknown combiner";
        fields[i] = (struct state_field){
            .name = field->name,
            .type = field->type,
            .form = (enum state_form)field->form,
            .combiner = (enum state_combiner)field->combiner,
        };
    }
    *out = fields;
    return NULL;
}

static const char *unpack_windows(const Tide__Pb__Table *message, struct arena *arena, struct savepoint_table *out) {
    size_t n = message->window_count < SAVEPOINT_WINDOWS_MAX ? message->window_count : SAVEPOINT_WINDOWS_MAX;
    if (message->n_window_starts != n || message->n_window_ends != n || message->n_window_entries != n ||
        message->n_window_bytes != n)
        return "the columns of its windows differ in length";
    struct savepoint_window *windows = ARENA_ARRAY(arena, struct savepoint_window, n + 1);
    for (size_t i = 0; i < n; i++)
        windows[i] = (struct savepoint_window){message->window_starts[i], message->window_ends[i],
                                               message->window_entries[i], message->window_bytes[i]};
    out->window_count = message->window_count;
    out->windows = windows;
    return NULL;
}

// Keys ascend from chunk to chunk. Two that were cut may look the same.
static bool follow(const struct savepoint_chunk *before, const struct savepoint_chunk *chunk) {
    int order = tide__str_cmp(before->last_key, chunk->first_key);
    return order < 0 || (order == 0 && chunk->first_key.len == SAVEPOINT_INDEX_KEY);
}

static const char *unpack_chunks(Tide__Pb__ChunkIndex **messages, size_t count, uint64_t total, struct arena *arena,
                                 const struct savepoint_chunk **out) {
    struct savepoint_chunk *chunks = ARENA_ARRAY(arena, struct savepoint_chunk, count + 1);
    uint64_t entries = 0;
    for (size_t i = 0; i < count; i++) {
        const Tide__Pb__ChunkIndex *index = messages[i];
        chunks[i] = (struct savepoint_chunk){
            .offset = index->offset,
            .length = index->length,
            .raw_length = index->raw_length,
            .checksum = index->checksum,
            .entries = index->entries,
            .first_key = str_of(index->first_key),
            .last_key = str_of(index->last_key),
        };
        if (index->entries == 0 || index->entries > UINT32_MAX || index->entries > total - entries)
            return "the entries of its chunks do not add up";
        entries += index->entries;
        if (index->raw_length > (index->entries > 1 ? CHUNK_RAW_MAX : CHUNK_RAW_LIMIT)) return "a chunk is too large";
        chunks[i].end = tide__index_key_end(chunks[i].last_key, arena);
        if (tide__str_cmp(chunks[i].first_key, chunks[i].last_key) > 0 ||
            (i > 0 && !follow(&chunks[i - 1], &chunks[i])))
            return "its chunks are not in key order";
    }
    if (entries != total) return "the entries of its chunks do not add up";
    *out = chunks;
    return NULL;
}

static const char *unpack_filter(const Tide__Pb__Filter *message, const struct savepoint_table *table,
                                 struct savepoint_chunk *out) {
    if (message == NULL) return NULL;
    if (table->desc.kind != STATE_TABLE_WINDOWED || message->length == 0 || message->raw_length > KEY_FILTER_BYTES_MAX)
        return "a key filter that can't be right";
    *out = (struct savepoint_chunk){.offset = message->offset,
                                    .length = message->length,
                                    .raw_length = message->raw_length,
                                    .checksum = message->checksum};
    return NULL;
}

static const char *unpack_table(const Tide__Pb__Table *message, bool delta, struct arena *arena,
                                struct savepoint_table *out) {
    if (!is_name(message->name) || !is_name(message->operator_id)) return "a state table has a bad name";
    if (message->kind < TIDE__PB__TABLE_KIND__TABLE_WINDOWED || message->kind > TIDE__PB__TABLE_KIND__TABLE_KEYED)
        return "a state table of an unknown kind";
    *out = (struct savepoint_table){
        .desc = {.name = message->name,
                 .operator_id = message->operator_id,
                 .kind = (enum state_table_kind)message->kind,
                 .key_count = message->n_keys,
                 .value_count = message->n_values},
        .entries = message->entries,
        .key_bytes = message->key_bytes,
        .value_bytes = message->value_bytes,
    };
    const char *bad = unpack_fields(message->keys, message->n_keys, arena, &out->desc.keys);
    if (bad == NULL) bad = unpack_fields(message->values, message->n_values, arena, &out->desc.values);
    if (bad == NULL) bad = unpack_windows(message, arena, out);
    if (bad != NULL) return bad;
    out->chunk_count = (uint32_t)message->n_chunks;
    if (delta)
        return message->n_chunks > 0 || message->filter != NULL ? "a delta has chunks outside of its sections" : NULL;
    bad = unpack_filter(message->filter, out, &out->filter);
    if (bad != NULL) return bad;
    return unpack_chunks(message->chunks, message->n_chunks, message->entries, arena, &out->chunks);
}

static const char *unpack_section(const Tide__Pb__Section *message, const struct savepoint_info *info,
                                  struct arena *arena, struct savepoint_section *out) {
    if (message->table >= info->table_count) return "a section of no table";
    *out = (struct savepoint_section){
        .table = message->table,
        .drop = message->drop,
        .lower = str_of(message->lower),
        .upper = str_of(message->upper),
        .entries = message->entries,
        .chunk_count = (uint32_t)message->n_chunks,
    };
    if (out->drop && (out->entries > 0 || out->chunk_count > 0)) return "a dropped range has entries";
    if (!out->drop && (out->lower.len > 0 || out->upper.len > 0)) return "a run has the bounds of a dropped range";
    return unpack_chunks(message->chunks, message->n_chunks, message->entries, arena, &out->chunks);
}

static const char *unpack_delta(const Tide__Pb__Delta *message, struct arena *arena, struct savepoint_info *out) {
    if (message == NULL) return NULL;
    if (message->depth == 0 || message->depth > SAVEPOINT_DEPTH_MAX) return "its depth can't be right";
    if (message->parent_id >= out->checkpoint_id) return "its parent is not older";
    struct savepoint_section *sections = ARENA_ARRAY(arena, struct savepoint_section, message->n_sections + 1);
    for (size_t i = 0; i < message->n_sections; i++) {
        const char *bad = unpack_section(message->sections[i], out, arena, &sections[i]);
        if (bad != NULL) return bad;
    }
    out->depth = message->depth;
    out->parent_id = message->parent_id;
    out->parent_checksum = message->parent_checksum;
    out->section_count = message->n_sections;
    out->sections = sections;
    return NULL;
}

static const char *unpack_missing(const Tide__Pb__Manifest *message, struct arena *arena, struct savepoint_info *out) {
    struct savepoint_missing *missing = ARENA_ARRAY(arena, struct savepoint_missing, message->n_missing + 1);
    for (size_t i = 0; i < message->n_missing; i++) {
        const Tide__Pb__Missing *from = message->missing[i];
        if (from->table >= out->table_count) return "keys of no table are missing";
        missing[i] = (struct savepoint_missing){from->table, str_of(from->first_key), str_of(from->last_key),
                                                from->entries};
    }
    out->missing_count = message->n_missing;
    out->missing = missing;
    return NULL;
}

static const char *unpack_tables(const Tide__Pb__Manifest *message, struct arena *arena, struct savepoint_info *out) {
    struct savepoint_table *tables = ARENA_ARRAY(arena, struct savepoint_table, message->n_tables + 1);
    for (size_t i = 0; i < message->n_tables; i++) {
        const char *bad = unpack_table(message->tables[i], message->delta != NULL, arena, &tables[i]);
        if (bad != NULL) return bad;
    }
    out->table_count = message->n_tables;
    out->tables = tables;
    return NULL;
}

const char *tide__manifest_unpack(struct str raw, struct arena *arena, struct savepoint_info *out) {
    struct pb_arena memory = {.arena = arena, .left = 32 * raw.len + ((size_t)1 << 20)};
    ProtobufCAllocator allocator = tide__pb_allocator(&memory);
    Tide__Pb__Manifest *message = tide__pb__manifest__unpack(&allocator, raw.len, (const uint8_t *)raw.data);
    if (message == NULL) return "it is not a manifest message";
    if (message->format_version != SAVEPOINT_FORMAT_VERSION) return "its format version is not the header's";
    if (!is_run_id(message->run_id)) return "a bad run id";
    if (message->snapshot == NULL) return "it has no snapshot of the job";
    struct plan_operator *operators = ARENA_ARRAY(arena, struct plan_operator, message->n_operators + 1);
    for (size_t i = 0; i < message->n_operators; i++) unpack_operator(message->operators[i], arena, &operators[i]);
    *out = (struct savepoint_info){
        .format_version = message->format_version,
        .writer_version = message->writer_version,
        .job_name = message->job_name,
        .script_name = tide__arena_strndup(arena, str_of(message->script_name).data, message->script_name.len),
        .sql = str_of(message->sql),
        .statement_index = message->statement_index,
        .rows_before = message->rows_before,
        .checkpoint_id = message->checkpoint_id,
        .created_ms = message->created_ms,
        .run_id = message->run_id,
        .plan = {.operator_count = message->n_operators, .operators = operators},
    };
    const char *bad = unpack_snapshot(message->snapshot, arena, &out->snapshot);
    if (bad == NULL) bad = unpack_tables(message, arena, out);
    if (bad == NULL) bad = unpack_delta(message->delta, arena, out);
    if (bad == NULL) bad = unpack_missing(message, arena, out);
    return bad;
}
