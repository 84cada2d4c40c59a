// Fuzz target: JSON. The first byte chooses options and types, the second the block size; the rest is a file. Read in one block and in
// small blocks it must give the same rows and the same error; and what the parser prints anew must print as itself.
#include "base/alloc.h"
#include "engine/expr/eval.h"
#include "engine/formats/json.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS = 5 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void append_rows(const struct format_reader *reader, const struct column *columns, size_t rows,
                        struct strbuf *out) {
    for (size_t row = 0; row < rows; row++) {
        for (uint32_t c = 0; c < reader->field_count; c++) {
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
    struct format_parser *parser = tide__json_parser_new(reader);
    struct format_rows rows = {0};
    while (block.at < block.len && !rows.fault.is_set) {
        struct arena arena;
        tide__arena_init(&arena);
        struct column columns[FIELDS] = {{0}};
        for (uint32_t i = 0; i < reader->field_count; i++) {
            columns[i].type = reader->fields[i].type;
            columns[i].physical = tide__type_physical(columns[i].type);
        }
        size_t before = block.at;
        rows = (struct format_rows){.columns = columns};
        tide__json_parse_rows(parser, &block, rows_max, &arena, &rows);
        if (block.at == before && !rows.fault.is_set) abort();
        append_rows(reader, columns, rows.rows, out);
        for (size_t i = 0; i < rows.skip_count; i++)
            tide__strbuf_append_c(out, rows.skips[i] <= rows.rows ? "" : "bad skip");
        if (rows.fault.is_set && rows.fault.place > len) abort();
        if (rows.fault.is_set) tide__strbuf_append_c(out, rows.fault.message);
        tide__arena_deinit(&arena);
    }
    tide__json_parser_free(parser);
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
            cut = tide__json_format.split(reader, data + at, at_end ? len - at : want, at_end);
            if (at_end) cut = len - at;
        }
        if (!parse_block(reader, data + at, cut, 3, out)) return;
        at += cut;
    }
}

static bool print_anew(struct str text, bool decimals, struct strbuf *out) {
    struct arena arena;
    tide__arena_init(&arena);
    struct json_scan scan;
    tide__json_scan_init(&scan, text);
    tide__json_next(&scan);
    bool ok = tide__json_print_value(&scan, decimals, &arena, out);
    tide__arena_deinit(&arena);
    return ok;
}

// Flat types instead of the nested ones.
static void choose_types(unsigned choice, struct type types[FIELDS], struct format_read reads[FIELDS]) {
    static const char *const names[FIELDS] = {"a", "s", "m", "l", "d"};
    const struct type all[][FIELDS] = {
        {tide__type_make(TYPE_BOOLEAN, true), tide__type_make(TYPE_TINYINT, true), tide__type_make(TYPE_BIGINT, true),
         tide__type_make(TYPE_DOUBLE, true), tide__type_make_sized(TYPE_TIMESTAMP, true, 3, 0)},
        {tide__type_make(TYPE_SMALLINT, true), tide__type_make(TYPE_FLOAT, true),
         tide__type_make_sized(TYPE_DECIMAL, true, 10, 2), tide__type_make(TYPE_DATE, true),
         tide__type_make_sized(TYPE_TIME, true, 0, 0)},
        {tide__type_make(TYPE_VARBINARY, true), tide__type_make_sized(TYPE_TIMESTAMP, true, 9, 0),
         tide__type_make_sized(TYPE_TIMESTAMP_LTZ, true, 3, 0), tide__type_make_sized(TYPE_TIMESTAMP_LTZ, true, 9, 0),
         tide__type_make(TYPE_VARCHAR, true)}};
    memcpy(types, all[choice - 1], sizeof all[0]);
    for (uint32_t i = 0; i < FIELDS; i++) reads[i] = (struct format_read){i, names[i], &types[i]};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2 || size > 4096) return 0;
    struct type integer = tide__type_make(TYPE_INT, true), text_type = tide__type_make(TYPE_VARCHAR, true);
    struct type_child members[] = {{"a", &integer}, {"s", &text_type}},
                      pairs[] = {{NULL, &text_type}, {NULL, &integer}};
    struct type row = tide__type_make(TYPE_ROW, true), map = tide__type_make(TYPE_MAP, true);
    row.children = members;
    map.children = pairs;
    row.child_count = map.child_count = 2;
    struct type_child element = {NULL, &row};
    struct type array = tide__type_make(TYPE_ARRAY, true);
    array.children = &element;
    array.child_count = 1;
    struct type decimal = tide__type_make_sized(TYPE_DECIMAL, true, 30, 10);
    struct format_read reads[FIELDS] = {
        {0, "a", &integer}, {1, "s", &text_type}, {2, "m", &map}, {3, "l", &array}, {4, "d", &decimal}};
    struct type flat[FIELDS];
    if ((data[0] >> 3 & 3) != 0) choose_types(data[0] >> 3 & 3, flat, reads);
    struct option options[3];
    struct table table = {.name = "t", .options = options};
    if (data[0] & 1)
        options[table.option_count++] = (struct option){STR_LIT("json.ignore-parse-errors"), STR_LIT("true")};
    if (data[0] & 32)
        options[table.option_count++] = (struct option){STR_LIT("json.timestamp-format.standard"), STR_LIT("ISO-8601")};
    if ((data[0] & 65) == 64)
        options[table.option_count++] = (struct option){STR_LIT("json.fail-on-missing-field"), STR_LIT("true")};
    struct format_env env = {&table, FIELDS, data[0] & 2 ? 2 : FIELDS, reads};
    struct format_reader *reader = NULL;
    if (tide__json_format.reader_open(&env, &reader, NULL) != TIDE_OK) abort();
    const char *text = (const char *)data + 2;
    size_t len = size - 2, step = (size_t)data[1] + 1;
    struct strbuf whole = {0}, parts = {0}, once = {0}, twice = {0};
    parse_block(reader, text, len, 2048, &whole);
    parse_blocks(reader, text, len, step, &parts);
    if (whole.len != parts.len || (whole.len > 0 && memcmp(whole.data, parts.data, whole.len) != 0)) abort();
    bool decimals = data[0] & 4;
    if (print_anew((struct str){text, len}, decimals, &once)) {
        if (!print_anew(tide__strbuf_str(&once), decimals, &twice)) abort();
        if (once.len != twice.len || memcmp(once.data, twice.data, once.len) != 0) abort();
    }
    tide__json_format.reader_close(reader);
    tide__strbuf_deinit(&whole);
    tide__strbuf_deinit(&parts);
    tide__strbuf_deinit(&once);
    tide__strbuf_deinit(&twice);
    return 0;
}
