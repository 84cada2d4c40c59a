// Rows out of nothing, the same ones in every run: a value is a function of its row's number and its column.
//
// The connector gives out blocks of row numbers, and a format that only it uses makes values of them; so positions,
// threads and watermarks are those of every source. Sequences count; random values come from a hash, so that they are spread as
// Flink's are but a resumed job goes on with the very rows that an unbroken one would have had. Times are the clock's.
#include "engine/connectors/datagen.h"

#include "base/alloc.h"
#include "base/decimal.h"
#include "base/time.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define BLOCK_ROWS              ((uint64_t)8192)
#define ROWS_PER_SECOND_DEFAULT 10000
#define LENGTH_DEFAULT          100
#define POSITION_VERSION        3

static const char *const field_options[] = {"kind",   "min",       "max",     "start",   "end",
                                            "length", "null-rate", "var-len", "max-past"};

struct generator {
    const struct type *type;
    bool sequence;
    int64_t start, end;  // of a sequence
    bool has_min, has_max;
    double min, max;           // FLOAT, DOUBLE, DECIMAL
    int64_t min_i64, max_i64;  // integers
    size_t length;
    double null_rate;
    int64_t max_past_ms;
};

struct format_reader {
    uint32_t count;
    struct generator *generators;
};

struct format_parser {
    const struct format_reader *reader;
};

bool tide__is_datagen(const struct table *table) {
    const struct option *connector = tide__table_option(table, "connector");
    return connector != NULL && tide__str_eq_c(connector->value, "datagen");
}

// --- options ----------------------------------------------------------------------------------------------------

static const struct option *field_option(const struct table *table, const char *column, const char *name) {
    char key[300];
    snprintf(key, sizeof(key), "fields.%s.%s", column, name);
    return tide__table_option(table, key);
}

static bool read_integer(const struct option *option, int64_t *out) {
    if (option == NULL) return true;
    int128 value = 0;
    if (!tide__decimal_parse(option->value, 19, 0, &value) || value < INT64_MIN || value > INT64_MAX) return false;
    *out = (int64_t)value;
    return true;
}

static bool is_integer(const struct type *type) {
    return tide__type_is_integer(type) || tide__type_is_interval(type);
}

static void integer_range(enum type_kind kind, int64_t *out_min, int64_t *out_max) {
    int bits = kind == TYPE_TINYINT                                  ? 8
               : kind == TYPE_SMALLINT                               ? 16
               : kind == TYPE_BIGINT || kind == TYPE_INTERVAL_MILLIS ? 64
                                                                     : 32;
    *out_max = (int64_t)(UINT64_MAX >> (65 - bits));
    *out_min = -*out_max - 1;
}

static tide_status bad_option(const struct option *option, const char *wanted, tide_error *err) {
    return tide__fail_at(err, TIDE_ERR_VALIDATE, option->value_pos, "option '%.*s' must be %s, not '%.*s'",
                         STR_ARG(option->key), wanted, STR_ARG(option->value));
}

static tide_status read_bounds(const struct table *table, const char *column, struct generator *out, tide_error *err) {
    const struct option *min = field_option(table, column, "min"), *max = field_option(table, column, "max");
    integer_range(out->type->kind, &out->min_i64, &out->max_i64);
    out->max = out->type->kind == TYPE_DECIMAL
                   ? tide__decimal_to_double(tide__pow10(out->type->precision), out->type->scale)
                   : 1e9;
    out->min = -out->max;
    if (is_integer(out->type)) {
        if (!read_integer(min, &out->min_i64)) return bad_option(min, "a whole number", err);
        if (!read_integer(max, &out->max_i64)) return bad_option(max, "a whole number", err);
    } else {
        if (min != NULL && !tide__double_parse(min->value, &out->min)) return bad_option(min, "a number", err);
        if (max != NULL && !tide__double_parse(max->value, &out->max)) return bad_option(max, "a number", err);
    }
    if (out->min_i64 <= out->max_i64 && out->min <= out->max) return TIDE_OK;
    return bad_option(max != NULL ? max : min, "at least the minimum", err);
}

static tide_status read_field(const struct table *table, const struct table_column *column, struct generator *out,
                              tide_error *err) {
    const char *name = column->name;
    *out = (struct generator){.type = column->type};
    const struct option *kind = field_option(table, name, "kind");
    out->sequence = kind != NULL && tide__str_eq_c(kind->value, "sequence");
    if (kind != NULL && !out->sequence && !tide__str_eq_c(kind->value, "random"))
        return bad_option(kind, "random or sequence", err);
    if (column->type->child_count > 0 ||
        (out->sequence && !is_integer(column->type) && !tide__type_is_numeric(column->type) &&
         !tide__type_is_string(column->type))) {
        struct arena arena;
        tide__arena_init(&arena);
        tide__fail_at(err, TIDE_ERR_PLAN, column->pos, "datagen makes no %s for column \"%s\" of type %s",
                      out->sequence ? "sequence" : "values", name, tide__type_text(&arena, column->type));
        tide__arena_deinit(&arena);
        return TIDE_ERR_PLAN;
    }
    const struct option *start = field_option(table, name, "start"), *end = field_option(table, name, "end");
    if (out->sequence && (start == NULL || end == NULL)) {
        tide__fail_at(err, TIDE_ERR_VALIDATE, kind->key_pos, "a sequence needs 'fields.%s.start' and 'fields.%s.end'",
                      name, name);
        return TIDE_ERR_VALIDATE;
    }
    if (!read_integer(start, &out->start)) return bad_option(start, "a whole number", err);
    if (!read_integer(end, &out->end)) return bad_option(end, "a whole number", err);
    if (out->sequence && out->end < out->start) return bad_option(end, "at least the start", err);
    const struct option *length = field_option(table, name, "length"), *rate = field_option(table, name, "null-rate");
    const struct option *past = field_option(table, name, "max-past");
    int64_t characters = LENGTH_DEFAULT < column->type->precision ? LENGTH_DEFAULT : column->type->precision;
    if (!read_integer(length, &characters) || characters < 0 || characters > (1 << 20))
        return bad_option(length, "a length", err);
    out->length = (size_t)characters;
    if (rate != NULL &&
        (!tide__double_parse(rate->value, &out->null_rate) || !(out->null_rate >= 0 && out->null_rate <= 1))) {
        return bad_option(rate, "between 0 and 1", err);
    }
    if (past != NULL && !tide__duration_parse(past->value, &out->max_past_ms))
        return bad_option(past, "a duration", err);
    return read_bounds(table, name, out, err);
}

static bool is_field_option(const struct table *table, struct str key) {
    for (uint32_t c = 0; c < table->column_count; c++) {
        for (size_t i = 0; i < sizeof(field_options) / sizeof(*field_options); i++) {
            char name[300];
            snprintf(name, sizeof(name), "fields.%s.%s", table->columns[c].name, field_options[i]);
            if (tide__str_eq_c(key, name)) return true;
        }
    }
    return false;
}

static tide_status read_counts(const struct table *table, uint64_t *out_rows, uint64_t *out_per_second,
                               tide_error *err) {
    const struct option *rows = tide__table_option(table, "number-of-rows");
    const struct option *rate = tide__table_option(table, "rows-per-second");
    int64_t count = INT64_MAX, per_second = ROWS_PER_SECOND_DEFAULT;
    if (!read_integer(rows, &count) || count < 0) return bad_option(rows, "a number of rows", err);
    if (!read_integer(rate, &per_second) || per_second < 1) return bad_option(rate, "at least 1", err);
    *out_rows = (uint64_t)count;
    *out_per_second = (uint64_t)per_second;
    return TIDE_OK;
}

tide_status tide__datagen_validate(const struct table *table, tide_error *err) {
    static const char *const names[] = {"connector", "number-of-rows", "rows-per-second", "scan.parallelism"};
    for (uint32_t i = 0; i < table->option_count; i++) {
        const struct option *option = &table->options[i];
        bool known = is_field_option(table, option->key);
        for (size_t n = 0; n < sizeof(names) / sizeof(*names); n++) known |= tide__str_eq_c(option->key, names[n]);
        if (known) continue;
        tide__fail_at(err, TIDE_ERR_VALIDATE, option->key_pos, "unknown option '%.*s'", STR_ARG(option->key));
        return tide__fail_hint(
            err, "there are 'number-of-rows', 'rows-per-second' and 'fields.COLUMN.kind', '.start', '.end', "
                 "'.min', '.max', '.length', '.null-rate', '.max-past'");
    }
    uint64_t rows = 0, per_second = 0;
    TIDE_TRY(read_counts(table, &rows, &per_second, err));
    for (uint32_t i = 0; i < table->column_count; i++) {
        struct generator generator;
        if (table->columns[i].kind == TABLE_COLUMN_PHYSICAL)
            TIDE_TRY(read_field(table, &table->columns[i], &generator, err));
    }
    return TIDE_OK;
}

// --- row numbers ------------------------------------------------------------------------------------------------

static int64_t clock_ms(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

// Checked before.
void tide__datagen_init(struct datagen *datagen, const struct table *table) {
    *datagen = (struct datagen){0};
    tide_status status = read_counts(table, &datagen->rows, &datagen->rows_per_second, NULL);
    assert(status == TIDE_OK);
    for (uint32_t i = 0; i < table->column_count && status == TIDE_OK; i++) {
        struct generator generator;
        if (table->columns[i].kind != TABLE_COLUMN_PHYSICAL) continue;
        if (read_field(table, &table->columns[i], &generator, NULL) != TIDE_OK || !generator.sequence) continue;
        uint64_t count = (uint64_t)generator.end - (uint64_t)generator.start + 1;
        if (count > 0 && count < datagen->rows) datagen->rows = count;
    }
}

void tide__datagen_next(struct datagen *datagen, struct source_block *block, enum source_state *out_state) {
    int64_t now = clock_ms(CLOCK_MONOTONIC);
    if (datagen->started_ms == 0) {
        datagen->started_ms = now;
        datagen->started_at = datagen->next;
    }
    block->bytes = (struct format_block){.data = block->data};
    *out_state = SOURCE_END;
    if (datagen->next >= datagen->rows) return;
    // The first second's rows come at once, so that short inputs do not wait.
    uint64_t seconds = (uint64_t)(now - datagen->started_ms) / 1000 + 1, given = datagen->next - datagen->started_at;
    uint64_t due = seconds > UINT64_MAX / datagen->rows_per_second ? UINT64_MAX : seconds * datagen->rows_per_second;
    *out_state = SOURCE_WAITING;
    if (given >= due) return;
    uint64_t rows = due - given;
    if (rows > datagen->rows - datagen->next) rows = datagen->rows - datagen->next;
    if (rows > BLOCK_ROWS) rows = BLOCK_ROWS;
    size_t len = (size_t)rows * DATAGEN_ROW_BYTES;
    if (block->capacity < len + FORMAT_PADDING) {
        block->capacity = len + FORMAT_PADDING;
        block->data = tide__realloc(block->data, block->capacity);
    }
    for (uint64_t i = 0; i < rows; i++) {
        uint64_t number = datagen->next + i;
        memcpy(block->data + i * DATAGEN_ROW_BYTES, &number, sizeof(number));
    }
    block->bytes = (struct format_block){.data = block->data, .len = len};
    block->file = 0;
    block->offset = datagen->next * DATAGEN_ROW_BYTES;
    block->counted = false;
    datagen->next += rows;
    *out_state = SOURCE_BATCH;
}

void tide__datagen_save(const struct source_place *place, struct strbuf *out) {
    tide__strbuf_append_char(out, POSITION_VERSION);
    for (int i = 0; i < 8; i++) tide__strbuf_append_char(out, (char)(place->rows >> (8 * i)));
}

tide_status tide__datagen_restore(struct datagen *datagen, struct str saved, struct source_place *out,
                                  tide_error *err) {
    *out = (struct source_place){.line = 1};
    if (saved.len > 0 && saved.data[0] != POSITION_VERSION) {
        return tide__fail(err, TIDE_ERR_REFUSED, "the savepoint is of a job that read files, this one reads datagen");
    }
    if (saved.len != 9) return tide__fail(err, TIDE_ERR_SAVEPOINT, "the savepoint's input position is damaged");
    for (int i = 0; i < 8; i++) out->rows |= (uint64_t)(unsigned char)saved.data[1 + i] << (8 * i);
    datagen->next = out->rows;
    return TIDE_OK;
}

// --- values -----------------------------------------------------------------------------------------------------

static uint64_t mix(uint64_t x) {
    x += UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

// From 0 to below 1.
static double fraction_of(uint64_t random) {
    return (double)(random >> 11) / 9007199254740992.0;
}

static struct str text_value(const struct generator *g, uint64_t row, uint64_t random, struct arena *arena) {
    if (g->sequence) {
        const char *text = tide__arena_printf(arena, "%lld", (long long)(g->start + (int64_t)row));
        return tide__str(text);
    }
    bool bytes = g->type->kind == TYPE_BINARY || g->type->kind == TYPE_VARBINARY;
    char *text = tide__arena_alloc(arena, g->length + 1);
    for (size_t i = 0; i < g->length; i++) {
        if (i % 8 == 0) random = mix(random);
        unsigned byte = (unsigned)(random >> (i % 8 * 8)) & 0xFF;
        text[i] = (char)(bytes ? byte : (unsigned)"0123456789abcdef"[byte & 15]);
    }
    return (struct str){text, g->length};
}

static void decimal_value(const struct generator *g, uint64_t row, uint64_t random, struct column *column, size_t at) {
    int128 value = 0;
    bool ok = g->sequence ? tide__decimal_rescale((int128)g->start + row, 0, g->type->scale, &value)
                          : tide__decimal_from_double(g->min + fraction_of(random) * (g->max - g->min),
                                                      g->type->precision, g->type->scale, &value);
    if (!ok || !tide__decimal_fits(value, g->type->precision)) value = 0;
    if (column->physical == PHYSICAL_I64) {
        column->i64[at] = (int64_t)value;
    } else {
        column->i128[at] = value;
    }
}

static int64_t integer_value(const struct generator *g, uint64_t row, uint64_t random) {
    if (g->sequence) return g->start + (int64_t)row;
    uint64_t span = (uint64_t)g->max_i64 - (uint64_t)g->min_i64 + 1;
    return (int64_t)((uint64_t)g->min_i64 + (span == 0 ? random : (uint64_t)((unsigned __int128)random * span >> 64)));
}

static void time_value(const struct generator *g, int64_t now_ms, uint64_t random, struct column *column, size_t at) {
    int64_t ms = now_ms - (int64_t)(fraction_of(random) * (double)g->max_past_ms);
    if (g->type->kind == TYPE_DATE) ms = tide__floor_div(ms, MILLIS_PER_DAY);
    if (g->type->kind == TYPE_TIME) ms = tide__floor_mod(ms, MILLIS_PER_DAY);
    if (column->physical == PHYSICAL_TIME) {
        column->time[at] = (struct timestamp){ms, 0};
    } else {
        column->i64[at] = ms;
    }
}

static void make_value(const struct generator *g, uint64_t row, uint64_t random, int64_t now_ms, struct arena *arena,
                       struct column *column, size_t at) {
    double number = g->sequence ? (double)(g->start + (int64_t)row) : g->min + fraction_of(random) * (g->max - g->min);
    switch (g->type->kind) {
    case TYPE_BOOLEAN: column->bools[at] = random & 1; break;
    case TYPE_FLOAT: column->f64[at] = (double)(float)number; break;
    case TYPE_DOUBLE: column->f64[at] = number; break;
    case TYPE_DECIMAL: decimal_value(g, row, random, column, at); break;
    case TYPE_CHAR:
    case TYPE_VARCHAR:
    case TYPE_BINARY:
    case TYPE_VARBINARY: column->str[at] = text_value(g, row, random, arena); break;
    case TYPE_DATE:
    case TYPE_TIME:
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_LTZ: time_value(g, now_ms, random, column, at); break;
    default: column->i64[at] = integer_value(g, row, random); break;
    }
}

static void datagen_parse(struct format_parser *parser, struct format_block *block, size_t rows_max,
                          struct arena *arena, struct format_rows *out) {
    const struct format_reader *reader = parser->reader;
    int64_t now_ms = clock_ms(CLOCK_REALTIME);
    size_t left = (block->len - block->at) / DATAGEN_ROW_BYTES, rows = rows_max < left ? rows_max : left;
    out->row_ends = tide__arena_alloc(arena, rows * sizeof(*out->row_ends) + 1);
    for (size_t i = 0; i < rows; i++) out->row_ends[i] = (uint32_t)(block->at + (i + 1) * DATAGEN_ROW_BYTES);
    for (uint32_t c = 0; c < reader->count; c++) {
        const struct generator *g = &reader->generators[c];
        struct column *column = &out->columns[c];
        column->data = tide__arena_zalloc(arena, rows * tide__physical_size(column->physical) + 1);
        column->nulls = g->null_rate > 0 ? tide__arena_zalloc(arena, rows + 1) : NULL;
        for (size_t i = 0; i < rows; i++) {
            uint64_t row;
            memcpy(&row, block->data + block->at + i * DATAGEN_ROW_BYTES, sizeof(row));
            uint64_t random = mix(mix(row) + c);
            bool null = g->null_rate > 0 && fraction_of(mix(random + 1)) < g->null_rate;
            if (null) {
                column->nulls[i] = 1;
            } else {
                make_value(g, row, random, now_ms, arena, column, i);
            }
        }
    }
    out->rows = rows;
    out->skip_count = out->skip_capacity = 0;
    out->fault.is_set = false;
    block->at += rows * DATAGEN_ROW_BYTES;
}

static void datagen_reader_close(struct format_reader *reader) {
    if (reader == NULL) return;
    tide__free(reader->generators);
    tide__free(reader);
}

static tide_status datagen_reader_open(const struct format_env *env, struct format_reader **out, tide_error *err) {
    struct format_reader *reader = tide__calloc(1, sizeof(*reader));
    *out = NULL;
    reader->generators = tide__calloc(env->read_count + 1, sizeof(*reader->generators));
    tide_status status = TIDE_OK;
    for (uint32_t i = 0; i < env->read_count && status == TIDE_OK; i++) {
        struct table_column column = {.name = env->reads[i].name, .type = env->reads[i].type};
        status = read_field(env->table, &column, &reader->generators[reader->count++], err);
    }
    if (status == TIDE_OK) {
        *out = reader;
    } else {
        datagen_reader_close(reader);
    }
    return status;
}

static struct format_parser *datagen_parser_new(const struct format_reader *reader) {
    struct format_parser *parser = tide__calloc(1, sizeof(*parser));
    parser->reader = reader;
    return parser;
}

static void datagen_parser_free(struct format_parser *parser) {
    tide__free(parser);
}

const struct format_class tide__datagen_format = {
    .name = "datagen",
    .reader_open = datagen_reader_open,
    .reader_close = datagen_reader_close,
    .parser_new = datagen_parser_new,
    .parse = datagen_parse,
    .parser_free = datagen_parser_free,
};
