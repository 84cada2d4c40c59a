// What a savepoint says about itself, as tables: operators, windows, sources, chunks. See api/savepoint_source.h.
#include "api/savepoint_source.h"

#include "api/inspect.h"
#include "api/key_text.h"
#include "base/alloc.h"
#include "base/time.h"
#include "engine/connectors/filesystem.h"
#include "sql/parse.h"

#include <string.h>

// Rows being collected: cells[row * columns + column]; what they are is said by the column's type.
struct fact_cell {
    bool is_null;
    int64_t number;
    struct str text;
};

struct facts {
    struct arena *arena;
    struct savepoint_info const *info;
    struct fact_cell *cells;
    size_t count, cap;
};

static struct fact_cell *next(struct facts *out) {
    out->cells = tide__grow(out->cells, &out->cap, out->count + 1, sizeof *out->cells);
    struct fact_cell *cell = &out->cells[out->count++];
    *cell = (struct fact_cell){0};
    return cell;
}

static void put_number(struct facts *out, uint64_t number) {
    next(out)->number = (int64_t)number;
}

static void put_null(struct facts *out) {
    next(out)->is_null = true;
}

static void put_text(struct facts *out, const char *text) {
    struct fact_cell *cell = next(out);
    cell->is_null = text == NULL;
    if (text != NULL) cell->text = tide__str(text);
}

static void put_str(struct facts *out, struct str text) {
    next(out)->text = (struct str){tide__arena_strndup(out->arena, text.len > 0 ? text.data : "", text.len), text.len};
}

static void put_time(struct facts *out, int64_t ms) {
    struct fact_cell *cell = next(out);
    cell->is_null = ms == WATERMARK_NONE || ms == WATERMARK_END;
    cell->number = ms;
}

// --- operators ----------------------------------------------------------------------------------------------------------------

static const struct task_part *part_of(const struct savepoint_info *info, const char *operator_id) {
    for (size_t i = 0; i < info->snapshot.part_count; i++)
        if (strcmp(info->snapshot.parts[i].operator_id, operator_id) == 0) return &info->snapshot.parts[i];
    return NULL;
}

static void put_clauses(struct facts *out, const struct plan_operator *op) {
    struct strbuf text = {0};
    for (size_t i = 0; i < op->clause_count; i++)
        tide__strbuf_printf(&text, "%s%s: %s", i > 0 ? "; " : "", op->clauses[i].code, op->clauses[i].text);
    put_str(out, tide__strbuf_str(&text));
    tide__strbuf_deinit(&text);
}

static void fill_operators(const struct savepoint_info *info, struct facts *out) {
    for (size_t i = 0; i < info->plan.operator_count; i++) {
        const struct plan_operator *op = &info->plan.operators[i];
        const struct task_part *part = part_of(info, op->operator_id);
        static const struct task_part none = {.watermark = WATERMARK_NONE};
        if (part == NULL) part = &none;
        uint64_t keys = 0, bytes = 0;
        for (size_t t = 0; t < info->table_count; t++) {
            if (strcmp(info->tables[t].desc.operator_id, op->operator_id) != 0) continue;
            keys += info->tables[t].entries;
            bytes += info->tables[t].key_bytes + info->tables[t].value_bytes;
        }
        put_text(out, op->operator_id);
        put_text(out, op->kind);
        put_text(out, op->uid);
        put_number(out, op->stateful);
        put_time(out, part->watermark);
        put_number(out, part->kind == TASK_PART_SOURCE ? part->rows : part->rows_in);
        put_number(out, part->rows_out);
        put_number(out, part->late_rows);
        put_number(out, part->windows_fired);
        put_number(out, keys);
        put_number(out, bytes);
        put_clauses(out, op);
    }
}

// --- windows ------------------------------------------------------------------------------------------------------------------

static void fill_windows(const struct savepoint_info *info, struct facts *out) {
    for (size_t t = 0; t < info->table_count; t++) {
        const struct savepoint_table *table = &info->tables[t];
        size_t listed = table->window_count < SAVEPOINT_WINDOWS_MAX ? table->window_count : SAVEPOINT_WINDOWS_MAX;
        for (size_t w = 0; w < listed; w++) {
            put_text(out, table->desc.operator_id);
            put_text(out, table->desc.name);
            put_time(out, table->windows[w].start_ms);
            put_time(out, table->windows[w].end_ms);
            put_number(out, table->windows[w].entries);
            put_number(out, table->windows[w].bytes);
        }
    }
}

// --- sources ------------------------------------------------------------------------------------------------------------------

static void put_source(struct facts *out, const struct task_part *part) {
    put_text(out, part->operator_id);
    put_time(out, part->watermark);
    put_time(out, part->watermark_reached == 0 ? WATERMARK_NONE : part->watermark_reached);
    put_number(out, part->rows);
}

static void fill_sources(const struct savepoint_info *info, struct facts *out) {
    for (size_t i = 0; i < info->snapshot.part_count; i++) {
        const struct task_part *part = &info->snapshot.parts[i];
        if (part->kind != TASK_PART_SOURCE) continue;
        struct position_file *files = NULL;
        size_t count = 0;
        bool listed = tide__position_list(part->saved, out->arena, &files, &count) && count > 0;
        for (size_t f = 0; f < (listed ? count : 1); f++) {
            put_source(out, part);
            if (!listed) {
                for (int k = 0; k < 4; k++) put_null(out);
                continue;
            }
            put_str(out, files[f].path);
            put_number(out, files[f].offset);
            put_number(out, files[f].line);
            put_number(out, files[f].size);
        }
    }
}

// --- chunks -------------------------------------------------------------------------------------------------------------------

static void put_key_text(struct facts *out, const struct state_table_desc *desc, struct str key) {
    struct strbuf text = {0};
    tide__api_put_key(desc, key, &text);
    put_str(out, tide__strbuf_str(&text));
    tide__strbuf_deinit(&text);
}

static void put_chunks(struct facts *out, const struct state_table_desc *desc, const struct savepoint_chunk *chunks,
                       size_t count) {
    for (size_t c = 0; c < count; c++) {
        put_text(out, desc->operator_id);
        put_text(out, desc->name);
        put_number(out, c);
        put_number(out, chunks[c].offset);
        put_number(out, chunks[c].length);
        put_number(out, chunks[c].raw_length);
        put_number(out, chunks[c].entries);
        put_key_text(out, desc, chunks[c].first_key);
        put_key_text(out, desc, chunks[c].last_key);
    }
}

// Of a delta those of its own file.
static void fill_chunks(const struct savepoint_info *info, struct facts *out) {
    for (size_t t = 0; info->depth == 0 && t < info->table_count; t++)
        put_chunks(out, &info->tables[t].desc, info->tables[t].chunks, info->tables[t].chunk_count);
    for (size_t s = 0; s < info->section_count; s++)
        put_chunks(out, &info->tables[info->sections[s].table].desc, info->sections[s].chunks,
                   info->sections[s].chunk_count);
}

// --- all ----------------------------------------------------------------------------------------------------------------------

static const struct fact_table operators = {"operators",
                                            12,
                                            {{"name", "STRING"},
                                             {"kind", "STRING"},
                                             {"uid", "STRING"},
                                             {"stateful", "BOOLEAN"},
                                             {"watermark", "TIMESTAMP(3)"},
                                             {"rows_in", "BIGINT"},
                                             {"rows_out", "BIGINT"},
                                             {"late_rows", "BIGINT"},
                                             {"windows_fired", "BIGINT"},
                                             {"state_entries", "BIGINT"},
                                             {"state_bytes", "BIGINT"},
                                             {"clauses", "STRING"}},
                                            fill_operators};
static const struct fact_table windows = {"windows",
                                          6,
                                          {{"operator", "STRING"},
                                           {"state_table", "STRING"},
                                           {"window_start", "TIMESTAMP(3)"},
                                           {"window_end", "TIMESTAMP(3)"},
                                           {"entries", "BIGINT"},
                                           {"state_bytes", "BIGINT"}},
                                          fill_windows};
static const struct fact_table sources = {"sources",
                                          8,
                                          {{"name", "STRING"},
                                           {"watermark", "TIMESTAMP(3)"},
                                           {"watermark_reached", "TIMESTAMP(3)"},
                                           {"rows_read", "BIGINT"},
                                           {"file", "STRING"},
                                           {"file_offset", "BIGINT"},
                                           {"file_line", "BIGINT"},
                                           {"file_size", "BIGINT"}},
                                          fill_sources};
static const struct fact_table chunks = {"chunks",
                                         9,
                                         {{"operator", "STRING"},
                                          {"state_table", "STRING"},
                                          {"chunk", "BIGINT"},
                                          {"file_offset", "BIGINT"},
                                          {"frame_bytes", "BIGINT"},
                                          {"raw_bytes", "BIGINT"},
                                          {"entries", "BIGINT"},
                                          {"first_key", "STRING"},
                                          {"last_key", "STRING"}},
                                         fill_chunks};
static const struct fact_table *const tables[] = {&operators, &windows, &sources, &chunks};

const struct fact_table *const *tide__fact_tables(size_t *out_count) {
    *out_count = sizeof tables / sizeof *tables;
    return tables;
}

const struct fact_table *tide__fact_table(const char *name) {
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (strcmp(tables[i]->name, name) == 0) return tables[i];
    return NULL;
}

static void put_column(const struct facts *facts, size_t c, size_t columns, struct column *out) {
    size_t rows = facts->count / columns;
    for (size_t r = 0; r < rows; r++) {
        const struct fact_cell *cell = &facts->cells[r * columns + c];
        out->nulls[r] = cell->is_null;
        if (out->physical == PHYSICAL_STR)
            out->str[r] = cell->is_null ? (struct str){"", 0} : cell->text;
        else if (out->physical == PHYSICAL_BOOL)
            out->bools[r] = cell->number != 0;
        else
            out->i64[r] = cell->is_null ? 0 : cell->number;
    }
}

void tide__fact_read(const struct fact_table *table, const struct savepoint_info *info, struct arena *arena,
                     struct batch *out) {
    struct facts facts = {.arena = arena, .info = info};
    table->fill(info, &facts);
    *out = (struct batch){.rows = facts.count / table->column_count, .column_count = table->column_count};
    out->columns = ARENA_ARRAY(arena, struct column, table->column_count);
    for (size_t c = 0; c < table->column_count; c++) {
        const char *type = table->columns[c].type;
        tide__column_init(&out->columns[c], tide__parse_type_text(type, strlen(type), arena), out->rows + 1, 1, arena);
        put_column(&facts, c, table->column_count, &out->columns[c]);
    }
    tide__free(facts.cells);
}
