// Fuzz target: CSV. The first byte chooses options and types, the second the block size; the rest is a file. Read in one block, in
// small blocks, and by the slow parser alone, it must give the same rows and the same error.
#include "base/alloc.h"
#include "engine/expr/eval.h"
#include "engine/formats/csv.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct format_reader *open_reader(uint8_t choice, const struct type *types, const char *escape,
                                         struct format_read *reads, struct table *table) {
    static const char *const keys[] = {"csv.ignore-parse-errors", "csv.null-literal", "csv.disable-quote-character"};
    static const char *const values[] = {"true", "NULL", "true"};
    table->option_count = 0;
    for (int i = 0; i < 3; i++) {
        if (choice >> i & 1)
            table->options[table->option_count++] = (struct option){tide__str(keys[i]), tide__str(values[i])};
    }
    if (choice & 8)
        table->options[table->option_count++] = (struct option){STR_LIT("csv.field-delimiter"), STR_LIT(";")};
    if (escape != NULL) {
        table->options[table->option_count++] = (struct option){STR_LIT("csv.escape-character"), tide__str(escape)};
    }
    if (choice & 16) {
        table->options[table->option_count++] = (struct option){STR_LIT("csv.allow-comments"), STR_LIT("true")};
    }
    uint32_t count = 0;
    for (uint32_t i = 0; i < FIELDS; i++) {
        if ((choice & 32) && i == 1) continue;
        reads[count++] = (struct format_read){i, "c", &types[i]};
    }
    struct format_env env = {table, FIELDS, count, reads};
    struct format_reader *reader = NULL;
    if (tide__csv_format.reader_open(&env, &reader, NULL) != TIDE_OK) abort();
    return reader;
}

static void append_rows(const struct format_reader *reader, const struct column *columns, size_t rows,
                        struct strbuf *out) {
    for (size_t row = 0; row < rows; row++) {
        for (uint32_t c = 0; c < reader->read_count; c++) {
            if (tide__column_is_null(&columns[c], row)) {
                tide__strbuf_append_c(out, "<NULL>");
            } else {
                tide__value_display(&columns[c], row, out);
            }
            tide__strbuf_append_char(out, '\x1f');
        }
        tide__strbuf_append_char(out, '\x1e');
    }
}

// Parses data[0, len) as one block; false after a fault.
static bool parse_block(const struct format_reader *reader, const char *data, size_t len, size_t rows_max,
                        struct strbuf *out) {
    char *copy = tide__alloc(len + FORMAT_PADDING);
    memcpy(copy, data, len);
    memset(copy + len, 0xFF, FORMAT_PADDING);
    struct format_block block = {.data = copy, .len = len};
    struct format_parser *parser = tide__csv_parser_new(reader);
    struct format_rows rows = {0};
    while (block.at < block.len && !rows.fault.is_set) {
        struct arena arena;
        tide__arena_init(&arena);
        struct column columns[FIELDS] = {{0}};
        for (uint32_t f = 0; f < FIELDS; f++) {
            const struct csv_field *field = &reader->fields[f];
            if (field->kind == CSV_SKIP) continue;
            columns[field->read].type = field->type;
            columns[field->read].physical = tide__type_physical(field->type);
        }
        size_t before = block.at;
        rows = (struct format_rows){.columns = columns};
        tide__csv_parse(parser, &block, rows_max, &arena, &rows);
        if (block.at == before && !rows.fault.is_set) abort();
        append_rows(reader, columns, rows.rows, out);
        for (size_t i = 0; i < rows.skip_count; i++)
            tide__strbuf_append_c(out, rows.skips[i] <= rows.rows ? "" : "bad skip");
        if (rows.fault.is_set && rows.fault.place > len) abort();
        if (rows.fault.is_set) tide__strbuf_append_c(out, rows.fault.message);
        tide__arena_deinit(&arena);
    }
    tide__csv_parser_free(parser);
    tide__free(copy);
    return !rows.fault.is_set;
}

// As the file reader does: blocks of `step` bytes that grow until they hold a row end.
static void parse_blocks(const struct format_reader *reader, const char *data, size_t len, size_t step,
                         struct strbuf *out) {
    for (size_t at = 0; at < len;) {
        size_t cut = 0;
        for (size_t want = step; cut == 0; want += step) {
            bool at_end = len - at <= want;
            cut = tide__csv_split(&reader->options, data + at, at_end ? len - at : want, at_end);
            if (at_end) cut = len - at;
        }
        if (!parse_block(reader, data + at, cut, 3, out)) return;
        at += cut;
    }
}

static void choose_types(unsigned choice, struct type types[FIELDS]) {
    const struct type all[][FIELDS] = {
        {tide__type_make_sized(TYPE_TIMESTAMP, true, 3, 0), tide__type_make(TYPE_BIGINT, true),
         tide__type_make_sized(TYPE_DECIMAL, true, 10, 2), tide__type_make(TYPE_VARCHAR, true)},
        {tide__type_make(TYPE_BOOLEAN, true), tide__type_make(TYPE_INT, true), tide__type_make(TYPE_DOUBLE, true),
         tide__type_make(TYPE_DATE, true)},
        {tide__type_make(TYPE_TINYINT, true), tide__type_make(TYPE_FLOAT, true),
         tide__type_make_sized(TYPE_DECIMAL, true, 30, 10), tide__type_make_sized(TYPE_TIME, true, 0, 0)},
        {tide__type_make(TYPE_VARBINARY, true), tide__type_make_sized(TYPE_TIMESTAMP, true, 9, 0),
         tide__type_make_sized(TYPE_TIMESTAMP_LTZ, true, 3, 0), tide__type_make_sized(TYPE_TIMESTAMP_LTZ, true, 9, 0)}};
    memcpy(types, all[choice % 4], sizeof all[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2 || size > 4096) return 0;
    struct type types[FIELDS];
    choose_types(data[0] >> 6, types);
    struct format_read reads[FIELDS];
    struct option options[8] = {{{0}}};
    struct table table = {.name = "t", .options = options};
    uint8_t choice = data[0];
    const char *text = (const char *)data + 2;
    size_t len = size - 2, step = (size_t)data[1] + 1;
    struct format_reader *reader = open_reader(choice, types, NULL, reads, &table);
    struct strbuf whole = {0}, parts = {0}, slow = {0};
    parse_block(reader, text, len, 2048, &whole);
    parse_blocks(reader, text, len, step, &parts);
    if (whole.len != parts.len || (whole.len > 0 && memcmp(whole.data, parts.data, whole.len) != 0)) abort();
    tide__csv_format.reader_close(reader);
    if (memchr(text, '\x02', len) == NULL) {
        reader = open_reader(choice, types, "\x02", reads, &table);
        parse_blocks(reader, text, len, step, &slow);
        if (whole.len != slow.len || (whole.len > 0 && memcmp(whole.data, slow.data, whole.len) != 0)) abort();
        tide__csv_format.reader_close(reader);
    }
    tide__strbuf_deinit(&whole);
    tide__strbuf_deinit(&parts);
    tide__strbuf_deinit(&slow);
    return 0;
}
