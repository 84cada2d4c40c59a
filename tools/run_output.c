// Printing results: Flink's client's table, tab-separated lines for tests, CSV, JSON lines.
#include "tools/tools.h"

#include <stdlib.h>
#include <string.h>

bool tool_parse_format(const char *text, enum tool_format *out) {
    static const char *const names[] = {"table", "tsv", "csv", "json"};
    for (size_t i = 0; i < 4; i++) {
        if (strcmp(text, names[i]) != 0) continue;
        *out = (enum tool_format)i;
        return true;
    }
    return false;
}

// --- table: as Flink's client prints a streaming result in tableau mode -------------------------------------------------

// Characters on the screen: East Asian wide ones count twice.
static bool is_wide(uint32_t c) {
    return (c >= 0x1100 && c <= 0x115F) || (c >= 0x2E80 && c <= 0xA4CF) || (c >= 0xAC00 && c <= 0xD7A3) ||
           (c >= 0xF900 && c <= 0xFAFF) || (c >= 0xFE30 && c <= 0xFE6F) || (c >= 0xFF00 && c <= 0xFF60) ||
           (c >= 0xFFE0 && c <= 0xFFE6) || (c >= 0x1F300 && c <= 0x1FAFF) || (c >= 0x20000 && c <= 0x3FFFD);
}

// Decodes a character; returns its bytes.
static size_t next_char(const char *s, size_t len, uint32_t *out) {
    unsigned char c = (unsigned char)s[0];
    size_t n = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : c >= 0xC0 ? 2 : 1;
    if (n > len) n = 1;
    uint32_t v = n == 1 ? c : c & (0xFFu >> (n + 1));
    for (size_t i = 1; i < n; i++) v = v << 6 | ((unsigned char)s[i] & 0x3F);
    *out = v;
    return n;
}

static int width_of(const char *s, size_t len) {
    int width = 0;
    for (size_t at = 0; at < len;) {
        uint32_t c;
        at += next_char(s + at, len - at, &c);
        width += is_wide(c) ? 2 : 1;
    }
    return width;
}

static int column_width(const tide_column *column) {
    int name = width_of(column->name, strlen(column->name));
    int width = column->display_width > name ? column->display_width : name;
    return width < 6 ? 6 : width;  // room for <NULL>
}

static void print_rule(const struct tool_output *output) {
    fputs(output->no_op ? "+" : "+----+", output->file);
    for (size_t i = 0; i < output->column_count; i++) {
        for (int k = column_width(&output->columns[i]) + 2; k > 0; k--) fputc('-', output->file);
        fputc('+', output->file);
    }
    fputc('\n', output->file);
}

// Right-aligned; what is too long ends in "...". Line breaks would break the table and are shown as blanks.
static void print_cell(const struct tool_output *output, const char *data, size_t len, int width) {
    int has = width_of(data, len);
    bool cut = has > width;
    int room = cut ? width - 3 : width;
    if (!cut)
        fprintf(output->file, " %*s", width - has, "");
    else
        fputc(' ', output->file);
    int used = 0;
    for (size_t at = 0; at < len;) {
        uint32_t c;
        size_t n = next_char(data + at, len - at, &c);
        int w = is_wide(c) ? 2 : 1;
        if (used + w > room) break;
        if (c < 0x20)
            fputc(' ', output->file);
        else
            fwrite(data + at, 1, n, output->file);
        used += w;
        at += n;
    }
    if (cut) fprintf(output->file, "%.*s%*s", 3, "...", room - used, "");
    fputs(" |", output->file);
}

static void table_header(const struct tool_output *output) {
    print_rule(output);
    fputs(output->no_op ? "|" : "| op |", output->file);
    for (size_t i = 0; i < output->column_count; i++) {
        const tide_column *column = &output->columns[i];
        print_cell(output, column->name, strlen(column->name), column_width(column));
    }
    fputc('\n', output->file);
    print_rule(output);
}

static void table_row(const struct tool_output *output, const char *op, const tide_text *values) {
    if (output->no_op)
        fputc('|', output->file);
    else
        fprintf(output->file, "| %s |", op);
    for (size_t i = 0; i < output->column_count; i++) {
        tide_text v = values[i].data != NULL ? values[i] : (tide_text){"<NULL>", 6};
        print_cell(output, v.data, v.len, column_width(&output->columns[i]));
    }
    fputc('\n', output->file);
}

// --- tsv ---------------------------------------------------------------------------------------------------------------

static void tsv_value(FILE *file, tide_text v) {
    if (v.data == NULL) {
        fputs("<NULL>", file);
        return;
    }
    for (size_t i = 0; i < v.len; i++) {
        switch (v.data[i]) {
        case '\t': fputs("\\t", file); break;
        case '\n': fputs("\\n", file); break;
        case '\r': fputs("\\r", file); break;
        case '\\': fputs("\\\\", file); break;
        default: fputc(v.data[i], file); break;
        }
    }
}

static void tsv_row(const struct tool_output *output, const char *op, const tide_text *values) {
    if (!output->no_op) fputs(op, output->file);
    for (size_t i = 0; i < output->column_count; i++) {
        if (i > 0 || !output->no_op) fputc('\t', output->file);
        tsv_value(output->file, values[i]);
    }
    fputc('\n', output->file);
}

// --- csv: RFC 4180; NULL is an empty field, an empty string is quoted ---------------------------------------------------

static void csv_value(FILE *file, tide_text v) {
    if (v.data == NULL) return;
    if (v.len > 0 && memchr(v.data, ',', v.len) == NULL && memchr(v.data, '"', v.len) == NULL &&
        memchr(v.data, '\n', v.len) == NULL && memchr(v.data, '\r', v.len) == NULL) {
        fwrite(v.data, 1, v.len, file);
        return;
    }
    fputc('"', file);
    for (size_t i = 0; i < v.len; i++) {
        if (v.data[i] == '"') fputc('"', file);
        fputc(v.data[i], file);
    }
    fputc('"', file);
}

static void csv_row(const struct tool_output *output, const char *op, const tide_text *values) {
    if (!output->no_op) fputs(op, output->file);
    for (size_t i = 0; i < output->column_count; i++) {
        if (i > 0 || !output->no_op) fputc(',', output->file);
        csv_value(output->file, values[i]);
    }
    fputc('\n', output->file);
}

// --- json lines ----------------------------------------------------------------------------------------------------------

// Bytes of a well-formed UTF-8 character; 0: it is none.
static size_t utf8_bytes(const unsigned char *s, size_t len) {
    size_t n = s[0] < 0x80                   ? 1
               : s[0] >= 0xC2 && s[0] < 0xE0 ? 2
               : s[0] >= 0xE0 && s[0] < 0xF0 ? 3
               : s[0] >= 0xF0 && s[0] < 0xF5 ? 4
                                             : 0;
    if (n == 0 || n > len) return 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xC0) != 0x80) return 0;
    bool bad = (s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] >= 0xA0) || (s[0] == 0xF0 && s[1] < 0x90) ||
               (s[0] == 0xF4 && s[1] >= 0x90);
    return bad ? 0 : n;
}

// A byte that is no UTF-8 becomes a lone surrogate, U+DC00 and the byte, as in Python's surrogateescape: it can be undone.
static void json_string(FILE *file, const char *data, size_t len) {
    fputc('"', file);
    for (size_t i = 0; i < len;) {
        unsigned char c = (unsigned char)data[i];
        size_t n = utf8_bytes((const unsigned char *)data + i, len - i);
        if (n == 0)
            fprintf(file, "\\udc%02x", c);
        else if (c == '"' || c == '\\')
            fprintf(file, "\\%c", c);
        else if (c < 0x20)
            fprintf(file, "\\u%04x", c);
        else
            fwrite(data + i, 1, n, file);
        i += n > 0 ? n : 1;
    }
    fputc('"', file);
}

// NaN and the infinities are no JSON numbers.
static bool is_json_number(tide_text v) {
    for (size_t i = 0; i < v.len; i++)
        if (strchr("0123456789+-.Ee", v.data[i]) == NULL) return false;
    return v.len > 0;
}

static void json_value(FILE *file, const tide_column *column, tide_text v) {
    if (v.data == NULL)
        fputs("null", file);
    else if (column->is_boolean)
        fputs(v.len == 4 ? "true" : "false", file);
    else if (column->is_number && is_json_number(v))
        fwrite(v.data, 1, v.len, file);
    else
        json_string(file, v.data, v.len);
}

static void json_row(const struct tool_output *output, const char *op, const tide_text *values) {
    fputc('{', output->file);
    if (!output->no_op) fprintf(output->file, "\"op\":\"%s\"", op);
    for (size_t i = 0; i < output->column_count; i++) {
        if (i > 0 || !output->no_op) fputc(',', output->file);
        json_string(output->file, output->columns[i].name, strlen(output->columns[i].name));
        fputc(':', output->file);
        json_value(output->file, &output->columns[i], values[i]);
    }
    fputs("}\n", output->file);
}

// --- results ---------------------------------------------------------------------------------------------------------------

static void keep_columns(struct tool_output *output, const tide_column *columns, size_t count) {
    free(output->columns);
    output->columns = calloc(count + 1, sizeof *columns);
    if (output->columns == NULL) abort();
    memcpy(output->columns, columns, count * sizeof *columns);
    output->column_count = count;
    output->rows = 0;
}

static void separated_line(const struct tool_output *output, char separator, const char *first, bool types) {
    if (!output->no_op) fputs(first, output->file);
    for (size_t i = 0; i < output->column_count; i++) {
        if (i > 0 || !output->no_op) fputc(separator, output->file);
        const char *text = types ? output->columns[i].type : output->columns[i].name;
        if (separator == ',')
            csv_value(output->file, (tide_text){text, strlen(text)});
        else
            tsv_value(output->file, (tide_text){text, strlen(text)});
    }
    fputc('\n', output->file);
}

static void separated_header(const struct tool_output *output, char separator) {
    separated_line(output, separator, "op", false);
    if (output->types) separated_line(output, separator, "type", true);
}

static bool is_raw(const struct tool_output *output) {
    return output->format == TOOL_TABLE && output->column_count == 1 && output->columns[0].is_text;
}

void tool_output_begin(struct tool_output *output, const tide_column *columns, size_t count, bool continued) {
    keep_columns(output, columns, count);
    if (is_raw(output)) return;
    if (continued || !output->header) return;
    switch (output->format) {
    case TOOL_TABLE: table_header(output); break;
    case TOOL_TSV: separated_header(output, '\t'); break;
    case TOOL_CSV: separated_header(output, ','); break;
    case TOOL_JSON: break;
    }
}

bool tool_output_row(struct tool_output *output, const char *op, const tide_text *values, size_t count) {
    (void)count;
    output->rows++;
    if (is_raw(output)) {
        fwrite(values[0].data, 1, values[0].len, output->file);
        return !ferror(output->file);
    }
    switch (output->format) {
    case TOOL_TABLE: table_row(output, op, values); break;
    case TOOL_TSV: tsv_row(output, op, values); break;
    case TOOL_CSV: csv_row(output, op, values); break;
    case TOOL_JSON: json_row(output, op, values); break;
    }
    return !ferror(output->file);
}

void tool_output_end(struct tool_output *output) {
    if (is_raw(output)) {
        fputc('\n', output->file);
        return;
    }
    switch (output->format) {
    case TOOL_TABLE:
        print_rule(output);
        fprintf(output->file, "Received a total of %llu row%s\n\n", (unsigned long long)output->rows,
                output->rows == 1 ? "" : "s");
        break;
    case TOOL_TSV:
    case TOOL_CSV: fputc('\n', output->file); break;
    case TOOL_JSON: break;
    }
    fflush(output->file);
}
