// A source behind a table of functions, seen as a format: each block stands for the rows of one batch. See row_source.h.
//
// A position is the number of rows given out: the rows and their order must be the same each time the source is opened.
#include "engine/connectors/row_source.h"

#include "base/alloc.h"

#include <string.h>

#define POSITION_VERSION 1
#define SKIP_ROWS        1024

struct format_reader {
    const struct row_source_class *class;
    struct row_source *source;
    uint32_t column_count;
    const struct type **types;
    bool ended;
    tide_error failure;
};

struct format_parser {
    struct format_reader *reader;  // the only parser's
};

tide_status tide__row_source_open(const struct row_source_class *class, const char *script_dir,
                                  const struct format_env *env, struct format_reader **out, tide_error *err) {
    struct format_reader *reader = tide__calloc(1, sizeof *reader);
    reader->class = class;
    reader->column_count = env->read_count;
    reader->types = tide__calloc(env->read_count + 1, sizeof *reader->types);
    struct source_column *columns = tide__calloc(env->read_count + 1, sizeof *columns);
    for (uint32_t i = 0; i < env->read_count; i++) {
        columns[i] = (struct source_column){env->reads[i].name, env->reads[i].type};
        reader->types[i] = env->reads[i].type;
    }
    tide_status status = class->open(class, env->table, script_dir, columns, env->read_count, &reader->source, err);
    tide__free(columns);
    if (status != TIDE_OK) {
        tide__free(reader->types);
        tide__free(reader);
        reader = NULL;
    }
    *out = reader;
    return status;
}

static void close_reader(struct format_reader *reader) {
    if (reader == NULL) return;
    reader->class->close(reader->source);
    tide__free(reader->types);
    tide__free(reader);
}

static struct format_parser *parser_new(const struct format_reader *reader) {
    struct format_parser *parser = tide__calloc(1, sizeof *parser);
    parser->reader = (struct format_reader *)(uintptr_t)reader;  // one parser, in the reader's thread
    return parser;
}

static void parser_free(struct format_parser *parser) {
    tide__free(parser);
}

static void parse(struct format_parser *parser, struct format_block *block, size_t rows_max, struct arena *arena,
                  struct format_rows *out) {
    struct format_reader *reader = parser->reader;
    size_t rows = 0;
    tide_status status = reader->class->read(reader->source, rows_max, arena, out->columns, &rows, &reader->failure);
    reader->ended = rows == 0 || status != TIDE_OK;
    out->row_ends = tide__arena_alloc(arena, (rows + 1) * sizeof *out->row_ends);
    for (size_t i = 0; i < rows; i++) out->row_ends[i] = (uint32_t)block->len;
    out->rows = rows;
    out->skip_count = out->skip_capacity = 0;
    out->fault.is_set = false;
    block->at = block->len;
}

void tide__row_source_next(const struct format_reader *reader, struct source_block *block,
                           enum source_state *out_state) {
    static const char nothing[FORMAT_PADDING] = "";
    block->bytes = (struct format_block){.data = nothing, .len = reader->ended ? 0 : 1};
    block->file = 0;
    *out_state = reader->ended ? SOURCE_END : SOURCE_BATCH;
}

const tide_error *tide__row_source_failure(const struct format_reader *reader) {
    return reader->failure.status != TIDE_OK ? &reader->failure : NULL;
}

void tide__row_source_save(const struct source_place *place, struct strbuf *out) {
    tide__strbuf_append_char(out, POSITION_VERSION);
    for (int i = 0; i < 8; i++) tide__strbuf_append_char(out, (char)(place->rows >> (8 * i)));
}

static tide_status skip(struct format_reader *reader, uint64_t rows, tide_error *err) {
    struct arena arena;
    tide__arena_init(&arena);
    struct column *columns = tide__calloc(reader->column_count + 1, sizeof *columns);
    tide_status status = TIDE_OK;
    size_t got = 1;
    while (rows > 0 && got > 0 && status == TIDE_OK) {
        tide__arena_reset(&arena);
        for (uint32_t i = 0; i < reader->column_count; i++) columns[i].type = reader->types[i];
        status = reader->class->read(reader->source, rows < SKIP_ROWS ? (size_t)rows : SKIP_ROWS, &arena, columns, &got,
                                     err);
        rows -= got;
    }
    if (status == TIDE_OK && rows > 0)
        status = tide__fail(err, TIDE_ERR_REFUSED, "connector '%s': the source has fewer rows than were read from it",
                            reader->class->connector);
    tide__free(columns);
    tide__arena_deinit(&arena);
    return status;
}

tide_status tide__row_source_restore(struct format_reader *reader, struct str saved, struct source_place *out,
                                     tide_error *err) {
    if (saved.len != 9 || saved.data[0] != POSITION_VERSION)
        return tide__fail(err, TIDE_ERR_SAVEPOINT, "the position of a source can't be read");
    *out = (struct source_place){.line = 1};
    for (int i = 0; i < 8; i++) out->rows |= (uint64_t)(unsigned char)saved.data[1 + i] << (8 * i);
    return skip(reader, out->rows, err);
}

const struct format_class tide__row_source_format = {
    .name = "rows",
    .reader_close = close_reader,
    .parser_new = parser_new,
    .parse = parse,
    .parser_free = parser_free,
};

const struct row_source_class *tide__row_source_find(const struct row_source_class *const *classes,
                                                     const struct table *table) {
    const struct option *connector = tide__table_option(table, "connector");
    for (size_t i = 0; connector != NULL && classes != NULL && classes[i] != NULL; i++)
        if (tide__str_eq_c(connector->value, classes[i]->connector)) return classes[i];
    return NULL;
}
