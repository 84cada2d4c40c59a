// Reading JSON: one object a line.
//
// A line ends at LF, a CR before it is not part of it, and an empty line is no row, as in Flink's line reader. Of each line the
// object is read and nothing behind it. A line that is no JSON, or that an error in it makes unreadable, ends the batch with a
// fault at its place, or is skipped and counted where errors are ignored; a value of the wrong kind alone is NULL then.
#include "base/alloc.h"
#include "engine/formats/json.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static const char hint_line[] = "correct the line, or set 'json.ignore-parse-errors' = 'true' to skip such lines";

static void begin_columns(struct format_parser *parser, struct format_rows *out, size_t rows_max) {
    for (uint32_t i = 0; i < parser->reader->field_count; i++) {
        struct column *column = &out->columns[i];
        column->data = tide__arena_alloc(parser->arena, rows_max * tide__physical_size(column->physical) + 1);
        column->nulls = tide__arena_alloc(parser->arena, rows_max + 1);
    }
    out->row_ends = tide__arena_alloc(parser->arena, rows_max * sizeof(*out->row_ends) + 1);
}

static void end_columns(struct format_parser *parser, struct format_rows *out) {
    for (uint32_t i = 0; i < parser->reader->field_count; i++) {
        struct column *column = &out->columns[i];
        if (out->rows == 0 || memchr(column->nulls, 1, out->rows) == NULL) column->nulls = NULL;
    }
}

static void note_skip(struct format_parser *parser, struct format_rows *out, size_t rows) {
    if (out->skip_count == out->skip_capacity) {
        size_t capacity = out->skip_capacity == 0 ? 16 : out->skip_capacity * 2;
        uint32_t *skips = tide__arena_alloc(parser->arena, capacity * sizeof(*skips));
        if (out->skip_count > 0) memcpy(skips, out->skips, out->skip_count * sizeof(*skips));
        out->skips = skips;
        out->skip_capacity = capacity;
    }
    out->skips[out->skip_count++] = (uint32_t)rows;
}

static void line_fault(struct format_parser *parser, size_t place, const char *message, const char *hint) {
    struct format_fault *fault = parser->fault;
    if (fault->is_set || parser->reader->options.ignore_errors) return;
    fault->is_set = true;
    fault->place = parser->base + place;
    snprintf(fault->message, sizeof(fault->message), "%s", message);
    snprintf(fault->hint, sizeof(fault->hint), "%s", hint);
}

// Completes the message of a bad value with the column it stands in.
static void name_column(struct format_parser *parser) {
    struct format_fault *fault = parser->fault;
    if (!fault->is_set || parser->path[0] == '\0') return;
    size_t len = strlen(fault->message);
    bool nested = strpbrk(parser->path + 1, ".[") != NULL;
    snprintf(fault->message + len, sizeof(fault->message) - len, " in %s \"%s\"", nested ? "field" : "column",
             parser->path + 1);
}

// Reads one line into row `row`; false if it gave none.
static bool read_line(struct format_parser *parser, struct str line, struct format_rows *out, size_t row) {
    const struct format_reader *reader = parser->reader;
    struct json_scan *scan = &parser->scan;
    if (line.len >= 3 && memcmp(line.data, "\xEF\xBB\xBF", 3) == 0) {
        line.data += 3;
        line.len -= 3;
        parser->base += 3;
    }
    tide__json_scan_init(scan, line);
    parser->path = "";
    enum json_token token = tide__json_next(scan);
    if (token == JSON_OBJECT) {
        enum json_result result = tide__json_members(parser, reader->fields, reader->field_count, out->columns, row);
        if (result == JSON_OK) return true;
        if (result == JSON_BAD) name_column(parser);
    } else if (token == JSON_NONE) {
        line_fault(parser, 0, "the line is blank, expected a JSON object", hint_line);
    } else if (token != JSON_BROKEN) {
        line_fault(parser, scan->start, "a row must be a JSON object", hint_line);
    }
    if (scan->token == JSON_BROKEN) {
        bool open = scan->fault_place >= line.len;
        line_fault(
            parser, scan->fault_place, scan->fault,
            open ? "each object must stand on a line of its own; 'json.ignore-parse-errors' = 'true' skips such lines"
                 : hint_line);
    } else {
        line_fault(parser, scan->start, "the object ends early: an object or array stands where a plain value should",
                   hint_line);
    }
    return false;
}

void tide__json_parse_rows(struct format_parser *parser, struct format_block *block, size_t rows_max,
                           struct arena *arena, struct format_rows *out) {
    assert(block->at <= block->len && block->len <= UINT32_MAX);
    parser->arena = arena;
    parser->fault = &out->fault;
    // A row has at least one byte.
    if (rows_max > block->len - block->at) rows_max = block->len - block->at;
    out->rows = out->skip_count = out->skip_capacity = 0;
    out->fault.is_set = false;
    begin_columns(parser, out, rows_max);
    while (out->rows < rows_max && block->at < block->len) {
        const char *line = block->data + block->at;
        const char *newline = memchr(line, '\n', block->len - block->at);
        size_t end = newline != NULL ? (size_t)(newline - block->data) + 1 : block->len;
        struct str text = {line, end - block->at - (newline != NULL)};
        if (newline != NULL && text.len > 0 && text.data[text.len - 1] == '\r') text.len--;
        parser->base = block->at;
        bool is_row = text.len > 0 && read_line(parser, text, out, out->rows);
        if (out->fault.is_set) break;
        if (is_row) {
            out->row_ends[out->rows++] = (uint32_t)end;
        } else if (text.len > 0) {
            note_skip(parser, out, out->rows);
        }
        block->lines += newline != NULL;
        block->at = end;
    }
    end_columns(parser, out);
}

struct format_parser *tide__json_parser_new(const struct format_reader *reader) {
    struct format_parser *parser = tide__calloc(1, sizeof(*parser));
    parser->reader = reader;
    return parser;
}

void tide__json_parser_free(struct format_parser *parser) {
    if (parser == NULL) return;
    tide__strbuf_deinit(&parser->scratch);
    tide__free(parser);
}
