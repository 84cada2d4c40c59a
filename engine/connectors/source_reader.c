// The source reader: ordered batches of a table's rows.
//
//   files --blocks--> [parse: caller or workers] --batches in order--> caller, who gives them back
//
// A block lives as long as one of its batches, for their strings point into it. Blocks and batches are recycled, so that a
// long input allocates nothing after its first few blocks. What a batch needs to know about what came before it (line
// numbers, rows, skipped rows) is filled in when its turn comes; until then parsing knows only its block.
//
// A watched table is read in rounds: when all files known have been read, the table is listed again after its interval, and
// what is new makes the next round. Standard input is parsed by the caller.
#include "base/alloc.h"
#include "base/time.h"
#include "state/state.h"
#include "engine/connectors/source.h"

#include <assert.h>
#include <string.h>
#include <time.h>

#define BLOCK_BYTES ((size_t)256 << 10)
// Inputs below this are parsed by the caller: threads would cost more than they bring.
#define THREADS_BYTES_MIN ((uint64_t)1 << 20)
// With smaller batches a block would be thousands of them; parsed one at a time they need no room.
#define THREADS_BATCH_ROWS_MIN 256

static int64_t monotonic_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

// A stream's one reader takes all of it.
static tide_status check_only_stream(const struct source_env *env, tide_error *err) {
    uint32_t scans = 0;
    for (uint32_t i = 0; i < env->plan->node_count; i++) {
        const struct plan_node *node = env->plan->nodes[i];
        scans += node->kind == PLAN_SCAN && tide__is_stream(node->scan.table);
    }
    if (scans <= 1) return TIDE_OK;
    tide__fail_at(err, TIDE_ERR_PLAN, tide__table_option(env->node->scan.table, "path")->value_pos,
                  "standard input can be read once only, but this job reads it %u times", scans);
    return tide__fail_hint(err, "write it to a file first");
}

static tide_status open_input(struct source_reader *reader, const struct source_env *env, tide_error *err) {
    const struct table *table = env->node->scan.table;
    struct input_files *files = &reader->file_reader.files;
    reader->monitor_interval_ms = tide__monitor_interval_ms(table);
    if (reader->monitor_interval_ms > 0 && env->plan->settings.batch_mode) {
        const struct option *option = tide__table_option(table, "source.monitor-interval");
        tide__fail_at(err, TIDE_ERR_PLAN, option->key_pos,
                      "table \"%s\" is watched and never ends: batch mode can't read it", table->name);
        return tide__fail_hint(err, "remove 'source.monitor-interval', or the SET of 'execution.runtime-mode'");
    }
    reader->is_stream = tide__is_stream(table);
    reader->is_datagen = tide__is_datagen(table);
    reader->row_source = tide__row_source_find(env->row_sources, table);
    if (!reader->is_stream && !reader->is_datagen && reader->row_source == NULL)
        return tide__filesystem_list(table, env->script_dir, files, err);
    if (reader->is_datagen) tide__datagen_init(&reader->datagen, table);
    if (reader->is_stream) TIDE_TRY(check_only_stream(env, err));
    files->items = tide__calloc(1, sizeof(*files->items));
    files->items[0] = (struct input_file){.path = tide__strdup(reader->row_source != NULL
                                                                   ? reader->row_source->connector
                                                               : reader->is_stream ? "standard input"
                                                                                   : "datagen"),
                                          .open_path = tide__strdup("-"),
                                          .start_line = 1};
    files->count = files->capacity = 1;
    return TIDE_OK;
}

bool tide__source_is_endless(const struct table *table) {
    return !tide__is_datagen(table) && tide__monitor_interval_ms(table) > 0;
}

int64_t tide__source_idle_timeout_ms(const struct plan *plan, const struct plan_node *node) {
    const struct option *option = tide__table_option(node->scan.table, "scan.watermark.idle-timeout");
    int64_t ms = 0;
    if (option != NULL && tide__duration_parse(option->value, &ms)) return ms;
    return plan->settings.idle_timeout_ms;
}

tide_status tide__source_open(const struct source_env *env, struct source_reader **out, tide_error *err) {
    *out = NULL;
    assert(env->node->kind == PLAN_SCAN);
    struct source_reader *reader = tide__calloc(1, sizeof(*reader));
    pthread_mutex_init(&reader->lock, NULL);
    pthread_mutex_init(&reader->read_lock, NULL);
    pthread_cond_init(&reader->has_room, NULL);
    pthread_cond_init(&reader->has_batch, NULL);
    reader->file_reader.fd = -1;
    reader->budget = env->budget;
    reader->workers_wanted = env->workers;
    reader->script_dir = env->script_dir != NULL ? tide__strdup(env->script_dir) : NULL;
    reader->place.line = 1;
    tide__error_clear(&reader->failure);
    tide_status status = TIDE_OK;
    if (tide__row_source_find(env->row_sources, env->node->scan.table) == NULL)
        status = tide__connector_validate(env->node->scan.table, TABLE_AS_SOURCE, NULL, err);
    if (status == TIDE_OK) status = tide__scan_init(&reader->scan, env, err);
    if (status == TIDE_OK) status = open_input(reader, env, err);
    if (status != TIDE_OK) {
        tide__source_close(reader);
        return status;
    }
    reader->file_reader.format = reader->scan.format;
    reader->file_reader.format_reader = reader->scan.format_reader;
    reader->file_reader.block_bytes = BLOCK_BYTES;
    reader->stream = (struct stream_reader){.fd = 0,
                                            .format = reader->scan.format,
                                            .format_reader = reader->scan.format_reader,
                                            .block_bytes = BLOCK_BYTES};
    *out = reader;
    return TIDE_OK;
}

// --- blocks and batches -----------------------------------------------------------------------------------------

struct source_block *tide__source_take_block(struct source_reader *reader) {
    pthread_mutex_lock(&reader->lock);
    struct source_block *block = reader->free_blocks;
    if (block != NULL) reader->free_blocks = block->next;
    pthread_mutex_unlock(&reader->lock);
    if (block == NULL) block = tide__calloc(1, sizeof(*block));
    block->next = NULL;
    block->references = 1;
    return block;
}

struct parsed_batch *tide__source_take_batch(struct source_reader *reader) {
    pthread_mutex_lock(&reader->lock);
    struct parsed_batch *batch = reader->free_batches;
    if (batch != NULL) reader->free_batches = batch->next;
    pthread_mutex_unlock(&reader->lock);
    if (batch == NULL) {
        batch = tide__calloc(1, sizeof(*batch));
        tide__arena_init(&batch->batch.arena);
    }
    batch->next = NULL;
    batch->batch.reader_private = batch;
    return batch;
}

static void drop_block_locked(struct source_reader *reader, struct source_block *block) {
    assert(block->references > 0);
    if (--block->references > 0) return;
    block->next = reader->free_blocks;
    reader->free_blocks = block;
}

void tide__source_drop_block(struct source_reader *reader, struct source_block *block) {
    pthread_mutex_lock(&reader->lock);
    drop_block_locked(reader, block);
    pthread_mutex_unlock(&reader->lock);
}

struct parsed_batch *tide__source_parse_piece(struct source_reader *reader, struct scan_parser *parser,
                                              struct source_block *block) {
    struct parsed_batch *batch = tide__source_take_batch(reader);
    pthread_mutex_lock(&reader->lock);
    block->references++;
    pthread_mutex_unlock(&reader->lock);
    tide__scan_parse(parser, &reader->file_reader.files.items[block->file], block, batch);
    size_t bytes = tide__arena_bytes(&batch->batch.arena);
    if (reader->budget != NULL && bytes > batch->charged) {
        tide__budget_charge(reader->budget, bytes - batch->charged);
        batch->charged = bytes;
    }
    return batch;
}

void tide__source_release(struct source_reader *reader, struct source_batch *batch) {
    if (batch == NULL) return;
    struct parsed_batch *parsed = batch->reader_private;
    struct source_block *block = parsed->block;
    tide__free(parsed->error);
    struct arena arena = batch->arena;
    tide__arena_reset(&arena);
    size_t bytes = tide__arena_bytes(&arena);
    if (reader->budget != NULL && parsed->charged > bytes) {
        tide__budget_release(reader->budget, parsed->charged - bytes);
        parsed->charged = bytes;
    }
    size_t charged = parsed->charged;
    *parsed = (struct parsed_batch){.charged = charged};
    parsed->batch.arena = arena;
    pthread_mutex_lock(&reader->lock);
    parsed->next = reader->free_batches;
    reader->free_batches = parsed;
    drop_block_locked(reader, block);
    pthread_mutex_unlock(&reader->lock);
}

// --- giving out -------------------------------------------------------------------------------------------------

// The block's lines follow those of the block before it.
void tide__source_count_block(struct source_reader *reader, struct source_block *block) {
    if (reader->line_file != block->file || reader->line == 0) {
        reader->line = reader->file_reader.files.items[block->file].start_line;
        reader->line_file = block->file;
    }
    block->first_line = reader->line;
    block->counted = true;
    reader->line += block->bytes.lines;
}

static tide_status read_block(struct source_reader *reader, struct source_block *block, enum source_state *out_state,
                              tide_error *err) {
    size_t capacity = block->capacity;
    tide_status status = TIDE_OK;
    if (reader->is_stream) {
        reader->stream.line = reader->line > 0 ? reader->line : reader->file_reader.files.items[0].start_line;
        status = tide__stream_next(&reader->stream, block, out_state, err);
    } else if (reader->row_source != NULL) {
        tide__row_source_next(reader->scan.format_reader, block, out_state);
    } else if (reader->is_datagen) {
        tide__datagen_next(&reader->datagen, block, out_state);
    } else {
        status = tide__file_reader_next(&reader->file_reader, block, err);
        *out_state = block->bytes.len > 0 ? SOURCE_BATCH : SOURCE_END;
    }
    if (reader->budget != NULL) tide__budget_charge(reader->budget, block->capacity - capacity);
    if (status == TIDE_OK) reader->ended = *out_state == SOURCE_END;
    return status;
}

// The next batch when the caller parses. *out NULL: none now (*out_state).
static tide_status parse_next(struct source_reader *reader, struct parsed_batch **out, enum source_state *out_state,
                              tide_error *err) {
    *out = NULL;
    *out_state = SOURCE_END;
    while (!reader->ended) {
        struct source_block *block = reader->block;
        if (block == NULL) {
            block = reader->block = tide__source_take_block(reader);
            TIDE_TRY(read_block(reader, block, out_state, err));
            if (*out_state == SOURCE_BATCH) tide__source_count_block(reader, block);
        }
        if (block->bytes.at < block->bytes.len) {
            uint64_t lines = block->bytes.lines;
            *out = tide__source_parse_piece(reader, &reader->parser, block);
            reader->line += block->bytes.lines - lines;
            *out_state = SOURCE_BATCH;
            return TIDE_OK;
        }
        tide__source_drop_block(reader, block);
        reader->block = NULL;
        if (*out_state == SOURCE_WAITING) return TIDE_OK;
    }
    return TIDE_OK;
}

// Fills in what depends on the batches before, and moves the place behind this one.
static void give_out(struct source_reader *reader, struct parsed_batch *batch) {
    const struct source_block *block = batch->block;
    batch->rows_before = reader->place.rows;
    batch->skipped_before = reader->place.skipped;
    if (batch->error != NULL) {
        if (batch->error_in_data) batch->error->line += (uint32_t)(block->first_line - 1);
        reader->failed = batch->error->status;
        reader->failure = *batch->error;
    }
    reader->place.file = block->file;
    reader->place.offset = block->offset + batch->end;
    reader->place.line = block->first_line + batch->lines_after;
    reader->place.rows += batch->batch.batch.rows;
    reader->place.skipped += batch->skip_count;
    reader->bytes_read += batch->end - batch->start;
}

static void start(struct source_reader *reader) {
    reader->started = true;
    uint64_t bytes = 0;
    for (size_t i = reader->place.file; i < reader->file_reader.files.count; i++) {
        const struct input_file *file = &reader->file_reader.files.items[i];
        if (file->size > file->start) bytes += file->size - file->start;
    }
    bool threads = bytes >= THREADS_BYTES_MIN && reader->scan.batch_rows_max >= THREADS_BATCH_ROWS_MIN;
    reader->workers = threads ? reader->workers_wanted : 0;
    if (reader->workers > 0) tide__workers_start(reader);
    if (reader->workers == 0 && reader->parser.scan == NULL) tide__scan_parser_init(&reader->parser, &reader->scan);
}

// All known files of a watched table have been read: looks for new ones when it is time, and makes them the next round.
static tide_status look_again(struct source_reader *reader, bool *out_found, tide_error *err) {
    *out_found = false;
    int64_t now = monotonic_ms();
    if (reader->looked_ms == 0) reader->looked_ms = now;
    if (now - reader->looked_ms < reader->monitor_interval_ms) return TIDE_OK;
    reader->looked_ms = now;
    TIDE_TRY(tide__filesystem_look(reader->scan.node->scan.table, reader->script_dir, &reader->file_reader.files,
                                   out_found, err));
    if (!*out_found) return TIDE_OK;
    tide__workers_stop(reader);
    reader->stop = reader->read_ended = reader->ended = false;
    reader->read_number = reader->given_number = 0;
    reader->file_reader.current = reader->place.file;
    start(reader);
    return TIDE_OK;
}

static tide_status fail_again(const struct source_reader *reader, tide_error *err) {
    if (err != NULL && err->status == TIDE_OK) *err = reader->failure;
    return reader->failed;
}

// The next batch, with or without rows. *out NULL: none now (*out_state).
static tide_status next_batch(struct source_reader *reader, struct parsed_batch **out, enum source_state *out_state,
                              tide_error *err) {
    for (bool found = true; found;) {
        if (reader->workers > 0) {
            TIDE_TRY(tide__workers_next(reader, out, err));
            *out_state = *out != NULL ? SOURCE_BATCH : SOURCE_END;
        } else {
            TIDE_TRY(parse_next(reader, out, out_state, err));
        }
        if (*out_state != SOURCE_END || reader->is_stream || reader->is_datagen || reader->row_source != NULL)
            return TIDE_OK;
        reader->place.file = reader->file_reader.files.count;
        reader->place.offset = 0;
        if (reader->monitor_interval_ms == 0) return TIDE_OK;
        *out_state = SOURCE_WAITING;
        TIDE_TRY(look_again(reader, &found, err));
    }
    return TIDE_OK;
}

tide_status tide__source_next(struct source_reader *reader, struct source_batch **out, enum source_state *out_state,
                              tide_error *err) {
    *out = NULL;
    *out_state = SOURCE_END;
    if (!reader->started) start(reader);
    while (reader->failed == TIDE_OK) {
        struct parsed_batch *batch = NULL;
        tide_status status = next_batch(reader, &batch, out_state, &reader->failure);
        if (status != TIDE_OK) {
            reader->failed = status;
            break;
        }
        if (batch == NULL) return TIDE_OK;
        give_out(reader, batch);
        if (batch->batch.batch.rows > 0) {
            *out = &batch->batch;
            return TIDE_OK;
        }
        tide__source_release(reader, &batch->batch);
    }
    return fail_again(reader, err);
}

static uint64_t count_lines(const char *data, size_t len) {
    uint64_t lines = 0;
    for (size_t i = 0; i < len; i++) lines += data[i] == '\n' || (data[i] == '\r' && data[i + 1] != '\n');
    return lines;
}

tide_status tide__source_save(struct source_reader *reader, const struct source_batch *batch, size_t rows,
                              struct strbuf *out, tide_error *err) {
    struct source_place place = reader->place;
    const struct source_block *block = NULL;
    size_t at = 0;
    if (batch != NULL) {
        const struct parsed_batch *parsed = batch->reader_private;
        block = parsed->block;
        assert(rows <= batch->batch.rows);
        at = rows > 0 ? parsed->row_ends[rows - 1] : parsed->start;
        place.file = block->file;
        place.offset = block->offset + at;
        place.line = block->first_line + count_lines(block->bytes.data, at);
        place.rows = parsed->rows_before + rows;
        place.skipped = parsed->skipped_before;
        for (size_t i = 0; i < parsed->skip_count; i++) place.skipped += parsed->skips[i] < rows;
        if (reader->monitor_interval_ms > 0 && block->last && at == block->bytes.len) {
            place.file++;
            place.offset = 0;
        }
    }
    if (reader->is_stream) {
        tide__stream_save(&reader->stream, block, at, &place, out);
    } else if (reader->row_source != NULL) {
        tide__row_source_save(&place, out);
    } else if (reader->is_datagen) {
        tide__datagen_save(&place, out);
    } else {
        return tide__position_save(&reader->file_reader.files, &place, out, err);
    }
    return TIDE_OK;
}

tide_status tide__source_restore(struct source_reader *reader, struct str saved, enum changed_input changed,
                                 tide_error *err) {
    assert(!reader->started);
    struct input_files *files = &reader->file_reader.files;
    if (reader->is_stream) {
        TIDE_TRY(tide__stream_restore(&reader->stream, saved, changed, &reader->place, err));
        files->items[0].start_line = reader->place.line;
        return TIDE_OK;
    }
    if (reader->row_source != NULL)
        return tide__row_source_restore(reader->scan.format_reader, saved, &reader->place, err);
    if (reader->is_datagen) return tide__datagen_restore(&reader->datagen, saved, &reader->place, err);
    TIDE_TRY(tide__position_restore(files, saved, changed, &reader->place, err));
    reader->file_reader.current = reader->place.file;
    for (size_t i = 0; i < files->count; i++) {
        const struct input_file *file = &files->items[i];
        reader->bytes_read += file->start < file->size ? file->start : file->size;
    }
    return TIDE_OK;
}

void tide__source_stats(const struct source_reader *reader, struct source_stats *out) {
    *out = (struct source_stats){.rows_skipped = reader->place.skipped, .bytes_read = reader->bytes_read};
    for (size_t i = 0; i < reader->file_reader.files.count; i++)
        out->bytes_total += reader->file_reader.files.items[i].size;
}

// --- closing ----------------------------------------------------------------------------------------------------

static void free_all(struct source_reader *reader) {
    while (reader->free_batches != NULL) {
        struct parsed_batch *batch = reader->free_batches;
        reader->free_batches = batch->next;
        if (reader->budget != NULL) tide__budget_release(reader->budget, batch->charged);
        tide__arena_deinit(&batch->batch.arena);
        tide__free(batch);
    }
    while (reader->free_blocks != NULL) {
        struct source_block *block = reader->free_blocks;
        reader->free_blocks = block->next;
        if (reader->budget != NULL) tide__budget_release(reader->budget, block->capacity);
        tide__free(block->data);
        tide__free(block);
    }
}

void tide__source_close(struct source_reader *reader) {
    if (reader == NULL) return;
    tide__workers_stop(reader);
    while (reader->given_batches != NULL) {
        struct parsed_batch *next = reader->given_batches->next;
        tide__source_release(reader, &reader->given_batches->batch);
        reader->given_batches = next;
    }
    if (reader->block != NULL) tide__source_drop_block(reader, reader->block);
    if (reader->parser.scan != NULL) tide__scan_parser_deinit(&reader->parser);
    free_all(reader);
    tide__scan_deinit(&reader->scan);
    tide__file_reader_deinit(&reader->file_reader);
    tide__stream_deinit(&reader->stream);
    tide__free(reader->script_dir);
    pthread_cond_destroy(&reader->has_room);
    pthread_cond_destroy(&reader->has_batch);
    pthread_mutex_destroy(&reader->lock);
    pthread_mutex_destroy(&reader->read_lock);
    tide__free(reader);
}
