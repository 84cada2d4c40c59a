// The raw format: each line of a file is the one value of its row, as it stands.
//
// STRING columns take a line's characters (raw.charset), BYTES its bytes, and as in Flink numbers and BOOLEAN their bytes in
// memory (raw.endianness), for which a line must have exactly their size. Bytes that are no UTF-8 become U+FFFD. NULL can
// neither be read nor written.
#include "base/alloc.h"
#include "engine/formats/line.h"
#include "engine/formats/option_value.h"
#include "engine/formats/raw.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum charset { CHARSET_UTF8, CHARSET_LATIN1, CHARSET_ASCII };

struct raw_options {
    enum charset charset;
    bool big_endian;
};

struct format_reader {
    struct raw_options options;
    uint32_t read_count;  // 0: only the number of lines counts
    const struct type *type;
};

struct format_parser {
    const struct format_reader *reader;
};

struct format_writer {
    struct raw_options options;
    const struct type *type;
};

static const char *const option_names[] = {"raw.charset", "raw.endianness", NULL};

static tide_status read_options(const struct table *table, struct raw_options *out, tide_error *err) {
    static const char *const orders[] = {"big-endian", "little-endian"};
    static const struct {
        const char *name;
        enum charset charset;
    } charsets[] = {{"UTF-8", CHARSET_UTF8},    {"UTF8", CHARSET_UTF8},      {"ISO-8859-1", CHARSET_LATIN1},
                    {"LATIN1", CHARSET_LATIN1}, {"US-ASCII", CHARSET_ASCII}, {"ASCII", CHARSET_ASCII}};
    *out = (struct raw_options){.charset = CHARSET_UTF8, .big_endian = true};
    size_t order = 0;
    TIDE_TRY(tide__option_word(table, "raw.endianness", orders, 2, false, &order, err));
    out->big_endian = order == 0;
    const struct option *option = tide__table_option(table, "raw.charset");
    if (option == NULL) return TIDE_OK;
    for (size_t i = 0; i < sizeof(charsets) / sizeof(*charsets); i++) {
        out->charset = charsets[i].charset;
        if (tide__str_ieq_c(option->value, charsets[i].name)) return TIDE_OK;
    }
    tide__fail_at(err, TIDE_ERR_PLAN, option->value_pos, "'raw.charset' = '%.*s' is not supported",
                  STR_ARG(option->value));
    return tide__fail_hint(err, "use 'UTF-8', 'ISO-8859-1' or 'US-ASCII'");
}

// Bytes of a value; 0: any number, SIZE_MAX: there is no such column.
static size_t value_size(const struct type *type) {
    switch (type->kind) {
    case TYPE_CHAR:
    case TYPE_VARCHAR:
    case TYPE_BINARY:
    case TYPE_VARBINARY: return 0;
    case TYPE_BOOLEAN:
    case TYPE_TINYINT: return 1;
    case TYPE_SMALLINT: return 2;
    case TYPE_INT:
    case TYPE_FLOAT: return 4;
    case TYPE_BIGINT:
    case TYPE_DOUBLE: return 8;
    case TYPE_NULL:
    case TYPE_DECIMAL:
    case TYPE_DATE:
    case TYPE_TIME:
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_LTZ:
    case TYPE_INTERVAL_MONTHS:
    case TYPE_INTERVAL_MILLIS:
    case TYPE_ARRAY:
    case TYPE_MULTISET:
    case TYPE_MAP:
    case TYPE_ROW: break;
    }
    return SIZE_MAX;
}

static tide_status raw_validate(const struct table *table, enum format_use use, tide_error *err) {
    struct raw_options options;
    TIDE_TRY(read_options(table, &options, err));
    const struct table_column *value = NULL;
    for (uint32_t i = 0; i < table->column_count; i++) {
        const struct table_column *column = &table->columns[i];
        bool partition = false;
        for (uint32_t p = 0; p < table->partition_key_count; p++) partition |= table->partition_keys[p] == i;
        if (partition || column->kind != TABLE_COLUMN_PHYSICAL) continue;
        if (value != NULL) {
            tide__fail_at(err, TIDE_ERR_VALIDATE, column->pos,
                          "a table of format 'raw' has one column; \"%s\" is a second one", column->name);
            return tide__fail_hint(err,
                                   "declare one STRING column and take it apart with functions, or use another format");
        }
        value = column;
    }
    if (value == NULL)
        return tide__fail_at(err, TIDE_ERR_VALIDATE, table->pos, "a table of format 'raw' needs one column");
    if (value_size(value->type) != SIZE_MAX) return TIDE_OK;
    struct arena arena;
    tide__arena_init(&arena);
    tide__fail_at(err, TIDE_ERR_PLAN, value->pos, "raw can't hold column \"%s\" of type %s", value->name,
                  tide__type_text(&arena, value->type));
    tide__arena_deinit(&arena);
    return tide__fail_hint(err, "use STRING or BYTES");
}

// --- reading ----------------------------------------------------------------------------------------------------

static tide_status raw_reader_open(const struct format_env *env, struct format_reader **out, tide_error *err) {
    *out = NULL;
    struct raw_options options;
    TIDE_TRY(read_options(env->table, &options, err));
    struct format_reader *reader = tide__calloc(1, sizeof(*reader));
    reader->options = options;
    reader->read_count = env->read_count;
    if (env->read_count > 0) reader->type = env->reads[0].type;
    *out = reader;
    return TIDE_OK;
}

static void raw_reader_close(struct format_reader *reader) {
    tide__free(reader);
}

static size_t raw_split(const struct format_reader *reader, const char *data, size_t len, bool at_end) {
    return tide__line_split(data, len);
}

static struct format_parser *raw_parser_new(const struct format_reader *reader) {
    struct format_parser *parser = tide__calloc(1, sizeof(*parser));
    parser->reader = reader;
    return parser;
}

static void raw_parser_free(struct format_parser *parser) {
    tide__free(parser);
}

static void put_code_point(struct strbuf *out, uint32_t c) {
    if (c >= 0x10000) {
        tide__strbuf_append_char(out, (char)(0xF0 | c >> 18));
        tide__strbuf_append_char(out, (char)(0x80 | (c >> 12 & 0x3F)));
    } else if (c >= 0x800) {
        tide__strbuf_append_char(out, (char)(0xE0 | c >> 12));
    }
    if (c >= 0x800) tide__strbuf_append_char(out, (char)(0x80 | (c >> 6 & 0x3F)));
    if (c >= 0x80 && c < 0x800) tide__strbuf_append_char(out, (char)(0xC0 | c >> 6));
    tide__strbuf_append_char(out, (char)(c < 0x80 ? c : 0x80 | (c & 0x3F)));
}

static struct str decode(struct str line, enum charset charset, struct arena *arena) {
    if (charset == CHARSET_UTF8 && tide__utf8_valid(line)) return line;
    struct strbuf text = {0};
    for (size_t at = 0; at < line.len;) {
        unsigned char byte = (unsigned char)line.data[at];
        uint32_t c = byte < 0x80 || charset == CHARSET_LATIN1 ? byte : 0xFFFD;
        if (charset == CHARSET_UTF8) {
            c = tide__utf8_next(line, &at);
        } else {
            at++;
        }
        put_code_point(&text, c);
    }
    struct str copy = {tide__arena_strndup(arena, text.data != NULL ? text.data : "", text.len), text.len};
    tide__strbuf_deinit(&text);
    return copy;
}

static uint64_t load(const char *data, size_t size, bool big_endian) {
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++) value = value << 8 | (unsigned char)data[big_endian ? i : size - 1 - i];
    return value;
}

static void store_number(const struct format_reader *reader, struct str line, struct column *column, size_t row) {
    uint64_t bits = load(line.data, line.len, reader->options.big_endian);
    float single;
    uint32_t low = (uint32_t)bits;
    switch (reader->type->kind) {
    case TYPE_BOOLEAN: column->bools[row] = bits != 0; break;
    case TYPE_TINYINT: column->i64[row] = (int8_t)bits; break;
    case TYPE_SMALLINT: column->i64[row] = (int16_t)bits; break;
    case TYPE_INT: column->i64[row] = (int32_t)bits; break;
    case TYPE_DOUBLE: memcpy(&column->f64[row], &bits, 8); break;
    case TYPE_FLOAT:
        memcpy(&single, &low, 4);
        column->f64[row] = (double)single;
        break;
    default: column->i64[row] = (int64_t)bits; break;
    }
}

// False if the line is no value of the column.
static bool read_line(const struct format_reader *reader, struct str line, size_t place, struct arena *arena,
                      struct format_rows *out) {
    if (reader->read_count == 0) return true;
    struct column *column = &out->columns[0];
    size_t size = value_size(reader->type);
    if (size == 0) {
        bool text = tide__type_is_string(reader->type);
        column->str[out->rows] = text ? decode(line, reader->options.charset, arena) : line;
        return true;
    }
    if (line.len == size) {
        store_number(reader, line, column, out->rows);
        return true;
    }
    out->fault = (struct format_fault){.is_set = true, .place = place};
    snprintf(out->fault.message, sizeof(out->fault.message), "the line has %zu bytes, a raw %s has %zu", line.len,
             tide__type_text(arena, reader->type), size);
    snprintf(out->fault.hint, sizeof(out->fault.hint), "declare a STRING column and CAST it if the file holds text");
    return false;
}

static void raw_parse(struct format_parser *parser, struct format_block *block, size_t rows_max, struct arena *arena,
                      struct format_rows *out) {
    assert(block->at <= block->len && block->len <= UINT32_MAX);
    // A row has at least one byte.
    if (rows_max > block->len - block->at) rows_max = block->len - block->at;
    if (parser->reader->read_count > 0) {
        size_t size = tide__physical_size(out->columns[0].physical);
        out->columns[0].data = tide__arena_alloc(arena, rows_max * size + 1);
        out->columns[0].nulls = NULL;
    }
    out->row_ends = tide__arena_alloc(arena, rows_max * sizeof(*out->row_ends) + 1);
    out->rows = out->skip_count = out->skip_capacity = 0;
    out->fault.is_set = false;
    while (out->rows < rows_max && block->at < block->len) {
        const char *line = block->data + block->at;
        const char *newline = memchr(line, '\n', block->len - block->at);
        size_t end = newline != NULL ? (size_t)(newline - block->data) + 1 : block->len;
        struct str text = {line, end - block->at - (newline != NULL)};
        if (newline != NULL && text.len > 0 && text.data[text.len - 1] == '\r') text.len--;
        if (!read_line(parser->reader, text, block->at, arena, out)) return;
        out->row_ends[out->rows++] = (uint32_t)end;
        block->lines += newline != NULL;
        block->at = end;
    }
}

// --- writing ----------------------------------------------------------------------------------------------------

static tide_status raw_writer_open(const struct table *table, uint32_t field_count, const struct type *const *fields,
                                   struct format_writer **out, tide_error *err) {
    *out = NULL;
    struct raw_options options;
    TIDE_TRY(read_options(table, &options, err));
    assert(field_count == 1);
    struct format_writer *writer = tide__calloc(1, sizeof(*writer));
    writer->options = options;
    writer->type = fields[0];
    *out = writer;
    return TIDE_OK;
}

static void raw_writer_close(struct format_writer *writer) {
    tide__free(writer);
}

static void write_text(enum charset charset, struct str text, struct strbuf *out) {
    if (charset == CHARSET_UTF8) {
        tide__strbuf_append_str(out, text);
        return;
    }
    for (size_t at = 0; at < text.len;) {
        uint32_t c = tide__utf8_next(text, &at);
        tide__strbuf_append_char(out, (char)(c < (charset == CHARSET_LATIN1 ? 0x100 : 0x80) ? c : '?'));
    }
}

static uint64_t number_bits(const struct column *column, const struct type *type, size_t row) {
    uint64_t bits = 0;
    float single = 0;
    uint32_t low = 0;
    switch (type->kind) {
    case TYPE_BOOLEAN: return column->bools[row] != 0;
    case TYPE_DOUBLE: memcpy(&bits, &column->f64[row], 8); return bits;
    case TYPE_FLOAT:
        single = (float)column->f64[row];
        memcpy(&low, &single, 4);
        return low;
    default: return (uint64_t)column->i64[row];
    }
}

static tide_status raw_write(struct format_writer *writer, const struct column *const *columns, size_t row,
                             struct strbuf *out, tide_error *err) {
    const struct column *column = columns[0];
    if (column == NULL || tide__column_is_null(column, row)) {
        tide__fail(err, TIDE_ERR_RUNTIME, "a NULL can't be written in format 'raw'");
        return tide__fail_hint(err, "leave such rows out, or use COALESCE");
    }
    size_t size = value_size(writer->type);
    if (tide__type_is_string(writer->type)) {
        write_text(writer->options.charset, column->str[row], out);
    } else if (size == 0) {
        tide__strbuf_append_str(out, column->str[row]);
    } else {
        uint64_t bits = number_bits(column, writer->type, row);
        for (size_t i = 0; i < size; i++) {
            size_t shift = 8 * (writer->options.big_endian ? size - 1 - i : i);
            tide__strbuf_append_char(out, (char)(bits >> shift));
        }
    }
    tide__strbuf_append_char(out, '\n');
    return TIDE_OK;
}

const struct format_class tide__raw_format = {
    .name = "raw",
    .options = option_names,
    .keeps_bom = true,
    .validate = raw_validate,
    .reader_open = raw_reader_open,
    .split = raw_split,
    .reader_close = raw_reader_close,
    .parser_new = raw_parser_new,
    .parse = raw_parse,
    .parse_value = tide__partition_value,
    .parser_free = raw_parser_free,
    .writer_open = raw_writer_open,
    .write = raw_write,
    .writer_close = raw_writer_close,
};
