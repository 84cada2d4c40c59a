// The manifest of a savepoint: from the structs of savepoint.h to its protobuf message.
#include "base/str.h"
#include "checkpoint/format.h"
#include "checkpoint/savepoint.pb-c.h"

#include <assert.h>

static_assert((int)TIDE__PB__FORM__FORM_BYTES == (int)STATE_FORM_BYTES, "forms are numbered alike");
static_assert((int)TIDE__PB__COMBINER__COMBINE_LAST == (int)STATE_COMBINE_LAST, "combiners are numbered alike");
static_assert((int)TIDE__PB__TABLE_KIND__TABLE_KEYED == (int)STATE_TABLE_KEYED, "table kinds are numbered alike");
static_assert((int)TIDE__PB__PART_KIND__PART_SINK == (int)TASK_PART_SINK, "part kinds are numbered alike");

// A protobuf string must be UTF-8: readers in other languages refuse the whole message otherwise.
static char *text(const char *s, struct arena *arena) {
    struct str in = tide__str(s != NULL ? s : "");
    if (tide__utf8_valid(in)) return tide__arena_strndup(arena, in.data, in.len);
    char *out = tide__arena_strndup(arena, in.data, in.len);
    for (size_t i = 0; i < in.len; i++)
        if ((unsigned char)out[i] >= 0x80) out[i] = '?';
    return out;
}

static ProtobufCBinaryData bytes(struct str s) {
    return (ProtobufCBinaryData){s.len, (uint8_t *)s.data};
}

#define MESSAGE(arena, variable, type, INIT)                                                                           \
    type *variable = ARENA_NEW(arena, type);                                                                           \
    *variable = (type)INIT

static Tide__Pb__Clause *pack_clause(const struct plan_clause *clause, struct arena *arena) {
    MESSAGE(arena, message, Tide__Pb__Clause, TIDE__PB__CLAUSE__INIT);
    message->code = text(clause->code, arena);
    message->text = text(clause->text, arena);
    message->line = clause->line;
    message->column = clause->column;
    message->source = text(clause->source, arena);
    return message;
}

static Tide__Pb__Operator *pack_operator(const struct plan_operator *op, struct arena *arena) {
    MESSAGE(arena, message, Tide__Pb__Operator, TIDE__PB__OPERATOR__INIT);
    message->operator_id = text(op->operator_id, arena);
    message->kind = text(op->kind, arena);
    message->uid = text(op->uid, arena);
    message->stateful = op->stateful;
    message->fingerprint = op->fingerprint;
    message->n_clauses = op->clause_count;
    message->clauses = ARENA_ARRAY(arena, Tide__Pb__Clause *, op->clause_count + 1);
    for (size_t i = 0; i < op->clause_count; i++) message->clauses[i] = pack_clause(&op->clauses[i], arena);
    message->n_inputs = op->input_count;
    message->inputs = ARENA_ARRAY(arena, char *, op->input_count + 1);
    for (size_t i = 0; i < op->input_count; i++) message->inputs[i] = text(op->inputs[i], arena);
    return message;
}

static Tide__Pb__Part *pack_part(const struct task_part *part, struct arena *arena) {
    MESSAGE(arena, message, Tide__Pb__Part, TIDE__PB__PART__INIT);
    message->kind = (Tide__Pb__PartKind)part->kind;
    message->operator_id = text(part->operator_id, arena);
    message->watermark = part->watermark;
    message->saved = bytes(part->saved);
    message->watermark_reached = part->watermark_reached;
    message->watermark_let_out = part->watermark_let_out;
    message->rows = part->rows;
    message->rows_in = part->rows_in;
    message->rows_out = part->rows_out;
    message->late_rows = part->late_rows;
    message->windows_fired = part->windows_fired;
    return message;
}

static Tide__Pb__Snapshot *pack_snapshot(const struct task_snapshot *snapshot, struct arena *arena) {
    MESSAGE(arena, message, Tide__Pb__Snapshot, TIDE__PB__SNAPSHOT__INIT);
    message->rows = snapshot->rows;
    message->turn = snapshot->turn;
    message->turn_rows = snapshot->turn_rows;
    message->ended = snapshot->ended;
    message->n_parts = snapshot->part_count;
    message->parts = ARENA_ARRAY(arena, Tide__Pb__Part *, snapshot->part_count + 1);
    for (size_t i = 0; i < snapshot->part_count; i++) message->parts[i] = pack_part(&snapshot->parts[i], arena);
    return message;
}

static Tide__Pb__Field **pack_fields(const struct state_field *fields, size_t count, struct arena *arena) {
    Tide__Pb__Field **messages = ARENA_ARRAY(arena, Tide__Pb__Field *, count + 1);
    for (size_t i = 0; i < count; i++) {
        MESSAGE(arena, message, Tide__Pb__Field, TIDE__PB__FIELD__INIT);
        message->name = text(fields[i].name, arena);
        message->type = text(fields[i].type, arena);
        message->form = (Tide__Pb__Form)fields[i].form;
        message->combiner = (Tide__Pb__Combiner)fields[i].combiner;
        messages[i] = message;
    }
    return messages;
}

static void pack_windows(const struct savepoint_table *table, Tide__Pb__Table *message, struct arena *arena) {
    size_t n = table->window_count < SAVEPOINT_WINDOWS_MAX ? table->window_count : SAVEPOINT_WINDOWS_MAX;
    message->window_count = table->window_count;
    message->n_window_starts = message->n_window_ends = message->n_window_entries = message->n_window_bytes = n;
    message->window_starts = ARENA_ARRAY(arena, int64_t, n + 1);
    message->window_ends = ARENA_ARRAY(arena, int64_t, n + 1);
    message->window_entries = ARENA_ARRAY(arena, uint64_t, n + 1);
    message->window_bytes = ARENA_ARRAY(arena, uint64_t, n + 1);
    for (size_t i = 0; i < n; i++) {
        message->window_starts[i] = table->windows[i].start_ms;
        message->window_ends[i] = table->windows[i].end_ms;
        message->window_entries[i] = table->windows[i].entries;
        message->window_bytes[i] = table->windows[i].bytes;
    }
}

static Tide__Pb__ChunkIndex **pack_chunks(const struct savepoint_chunk *chunks, size_t count, struct arena *arena) {
    Tide__Pb__ChunkIndex **messages = ARENA_ARRAY(arena, Tide__Pb__ChunkIndex *, count + 1);
    for (size_t i = 0; i < count; i++) {
        const struct savepoint_chunk *chunk = &chunks[i];
        MESSAGE(arena, index, Tide__Pb__ChunkIndex, TIDE__PB__CHUNK_INDEX__INIT);
        index->offset = chunk->offset;
        index->length = chunk->length;
        index->raw_length = chunk->raw_length;
        index->checksum = chunk->checksum;
        index->entries = chunk->entries;
        index->first_key = bytes(chunk->first_key);
        index->last_key = bytes(chunk->last_key);
        messages[i] = index;
    }
    return messages;
}

static Tide__Pb__Table *pack_table(const struct savepoint_table *table, struct arena *arena) {
    MESSAGE(arena, message, Tide__Pb__Table, TIDE__PB__TABLE__INIT);
    message->name = text(table->desc.name, arena);
    message->operator_id = text(table->desc.operator_id, arena);
    message->kind = (Tide__Pb__TableKind)table->desc.kind;
    message->n_keys = table->desc.key_count;
    message->keys = pack_fields(table->desc.keys, table->desc.key_count, arena);
    message->n_values = table->desc.value_count;
    message->values = pack_fields(table->desc.values, table->desc.value_count, arena);
    message->entries = table->entries;
    message->key_bytes = table->key_bytes;
    message->value_bytes = table->value_bytes;
    pack_windows(table, message, arena);
    message->n_chunks = table->chunk_count;
    message->chunks = pack_chunks(table->chunks, table->chunk_count, arena);
    if (table->filter.length == 0) return message;
    MESSAGE(arena, filter, Tide__Pb__Filter, TIDE__PB__FILTER__INIT);
    filter->offset = table->filter.offset;
    filter->length = table->filter.length;
    filter->raw_length = table->filter.raw_length;
    filter->checksum = table->filter.checksum;
    message->filter = filter;
    return message;
}

static Tide__Pb__Delta *pack_delta(const struct savepoint_info *info, struct arena *arena) {
    MESSAGE(arena, message, Tide__Pb__Delta, TIDE__PB__DELTA__INIT);
    message->parent_id = info->parent_id;
    message->parent_checksum = info->parent_checksum;
    message->depth = info->depth;
    message->n_sections = info->section_count;
    message->sections = ARENA_ARRAY(arena, Tide__Pb__Section *, info->section_count + 1);
    for (size_t i = 0; i < info->section_count; i++) {
        const struct savepoint_section *section = &info->sections[i];
        MESSAGE(arena, out, Tide__Pb__Section, TIDE__PB__SECTION__INIT);
        out->table = section->table;
        out->drop = section->drop;
        out->lower = bytes(section->lower);
        out->upper = bytes(section->upper);
        out->entries = section->entries;
        out->n_chunks = section->chunk_count;
        out->chunks = pack_chunks(section->chunks, section->chunk_count, arena);
        message->sections[i] = out;
    }
    return message;
}

static Tide__Pb__Missing **pack_missing(const struct savepoint_info *info, struct arena *arena) {
    Tide__Pb__Missing **messages = ARENA_ARRAY(arena, Tide__Pb__Missing *, info->missing_count + 1);
    for (size_t i = 0; i < info->missing_count; i++) {
        MESSAGE(arena, message, Tide__Pb__Missing, TIDE__PB__MISSING__INIT);
        message->table = info->missing[i].table;
        message->first_key = bytes(info->missing[i].first_key);
        message->last_key = bytes(info->missing[i].last_key);
        message->entries = info->missing[i].entries;
        messages[i] = message;
    }
    return messages;
}

void tide__manifest_pack(const struct savepoint_info *info, struct strbuf *out) {
    struct arena arena;
    tide__arena_init(&arena);
    Tide__Pb__Manifest message = TIDE__PB__MANIFEST__INIT;
    message.format_version = info->format_version;
    message.writer_version = text(info->writer_version, &arena);
    message.job_name = text(info->job_name, &arena);
    message.script_name = bytes(tide__str(info->script_name != NULL ? info->script_name : ""));
    message.sql = bytes(tide__savepoint_redact(info->sql, &arena));
    message.statement_index = info->statement_index;
    message.rows_before = info->rows_before;
    message.checkpoint_id = info->checkpoint_id;
    message.created_ms = info->created_ms;
    message.run_id = text(info->run_id, &arena);
    message.n_operators = info->plan.operator_count;
    message.operators = ARENA_ARRAY(&arena, Tide__Pb__Operator *, info->plan.operator_count + 1);
    for (size_t i = 0; i < info->plan.operator_count; i++)
        message.operators[i] = pack_operator(&info->plan.operators[i], &arena);
    message.snapshot = pack_snapshot(&info->snapshot, &arena);
    message.n_tables = info->table_count;
    message.tables = ARENA_ARRAY(&arena, Tide__Pb__Table *, info->table_count + 1);
    for (size_t i = 0; i < info->table_count; i++) message.tables[i] = pack_table(&info->tables[i], &arena);
    if (info->depth > 0) message.delta = pack_delta(info, &arena);
    message.n_missing = info->missing_count;
    message.missing = pack_missing(info, &arena);
    size_t size = tide__pb__manifest__get_packed_size(&message);
    out->len += tide__pb__manifest__pack(&message, (uint8_t *)tide__strbuf_reserve(out, size));
    tide__arena_deinit(&arena);
}
