// The entries of a savepoint: of a full file its chunks, of a delta the whole chain merged.
//
//   inputs, oldest first:  table of the full file | run | run | ...     a range dropped later hides what is older
//   heap by (key, age)  -> entries of one key from the oldest on, combined as the state combines them
//
// So a chain is read in one pass, and what is restored from it is one sorted run, however it came about.
#include "base/alloc.h"
#include "checkpoint/format.h"
#include "checkpoint/reader.h"

#include <string.h>

struct input {
    struct chunk_stream stream;
    struct state_entry entry;  // the next one
};

struct merge {
    struct state_source source;
    struct savepoint *savepoint;
    const struct state_table_desc *desc;
    struct strbuf lower, upper;
    struct input *inputs;
    size_t input_count;
    size_t *heap, heap_count;  // numbers of inputs that have an entry; the least first
    bool broken;               // an input broke off
    bool given;                // the entry of the least input was given out: it goes on first
    struct strbuf key, value, other;
    struct frame_reader filter;  // the key filters of the only input's chunks
    struct strbuf field;
};

// --- the heap -----------------------------------------------------------------------------------------------------

static bool is_less(const struct merge *merge, size_t a, size_t b) {
    int order = tide__str_cmp(merge->inputs[a].entry.key, merge->inputs[b].entry.key);
    return order != 0 ? order < 0 : a < b;
}

static void sift_down(struct merge *merge, size_t at) {
    size_t item = merge->heap[at];
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= merge->heap_count) break;
        if (child + 1 < merge->heap_count && is_less(merge, merge->heap[child + 1], merge->heap[child])) child++;
        if (is_less(merge, item, merge->heap[child])) break;
        merge->heap[at] = merge->heap[child];
        at = child;
    }
    merge->heap[at] = item;
}

// The least input goes on to its next entry.
static void advance(struct merge *merge) {
    struct input *input = &merge->inputs[merge->heap[0]];
    if (!tide__chunk_stream_next(&input->stream, &input->entry)) {
        if (input->stream.failed) {  // keys may be incomplete from here on
            merge->broken = true;
            merge->heap_count = 1;
        }
        if (--merge->heap_count == 0) return;
        merge->heap[0] = merge->heap[merge->heap_count];
    }
    sift_down(merge, 0);
}

static bool second_has_key(const struct merge *merge, struct str key) {
    for (size_t child = 1; child <= 2 && child < merge->heap_count; child++)
        if (tide__str_eq(merge->inputs[merge->heap[child]].entry.key, key)) return true;
    return false;
}

// --- one key ------------------------------------------------------------------------------------------------------

static bool fail_combine(struct merge *merge) {
    tide_error failure;
    tide__error_clear(&failure);
    tide__fail(&failure, TIDE_ERR_SAVEPOINT, "broken savepoint %s: state \"%s\": values that can't be combined",
               merge->savepoint->path, merge->desc->name);
    tide__error_set_file(&failure, merge->savepoint->path);
    tide__savepoint_remember(merge->savepoint, &failure);
    merge->heap_count = 0;
    return false;
}

static bool apply(struct merge *merge, const struct state_entry *entry, bool *present) {
    if (entry->op == STATE_ADD && *present) {
        tide__strbuf_clear(&merge->other);
        if (!tide__state_combine(merge->desc, tide__strbuf_str(&merge->value), entry->value, &merge->other))
            return fail_combine(merge);
        struct strbuf swap = merge->value;
        merge->value = merge->other;
        merge->other = swap;
        return true;
    }
    tide__strbuf_clear(&merge->value);
    tide__strbuf_append_str(&merge->value, entry->value);
    *present = entry->op != STATE_DELETE;
    return true;
}

// All entries of the least key, from the oldest on. False: the key is not there any more, or nothing comes.
static bool combine_key(struct merge *merge, struct state_entry *out) {
    bool present = false;
    tide__strbuf_clear(&merge->key);
    tide__strbuf_append_str(&merge->key, merge->inputs[merge->heap[0]].entry.key);
    struct str key = tide__strbuf_str(&merge->key);
    while (merge->heap_count > 0 && tide__str_eq(merge->inputs[merge->heap[0]].entry.key, key)) {
        if (!apply(merge, &merge->inputs[merge->heap[0]].entry, &present)) return false;
        advance(merge);
        if (merge->broken) return false;
    }
    *out = (struct state_entry){STATE_REPLACE, key, tide__strbuf_str(&merge->value)};
    return present;
}

static bool merge_next(struct state_source *source, struct state_entry *out) {
    struct merge *merge = (struct merge *)source;
    if (merge->given) advance(merge);
    merge->given = false;
    while (merge->heap_count > 0) {
        struct input *least = &merge->inputs[merge->heap[0]];
        if (second_has_key(merge, least->entry.key)) {
            if (combine_key(merge, out)) return true;
        } else if (least->entry.op == STATE_DELETE) {
            advance(merge);
        } else {
            *out = least->entry;
            out->op = STATE_REPLACE;
            merge->given = true;
            return true;
        }
    }
    return false;
}

static void merge_free(struct state_source *source) {
    struct merge *merge = (struct merge *)source;
    for (size_t i = 0; i < merge->input_count; i++) tide__chunk_stream_deinit(&merge->inputs[i].stream);
    tide__free(merge->inputs);
    tide__free(merge->heap);
    tide__strbuf_deinit(&merge->lower);
    tide__strbuf_deinit(&merge->upper);
    tide__strbuf_deinit(&merge->key);
    tide__strbuf_deinit(&merge->value);
    tide__strbuf_deinit(&merge->other);
    tide__strbuf_deinit(&merge->field);
    tide__frame_reader_deinit(&merge->filter);
    tide__free(merge);
}

// --- opening ------------------------------------------------------------------------------------------------------

static void add_input(struct merge *merge, const struct savepoint *file, const struct savepoint_chunk *chunks,
                      size_t count, uint32_t table) {
    struct input *input = &merge->inputs[merge->input_count++];
    *input = (struct input){.stream = {.file = file,
                                       .owner = merge->savepoint,
                                       .table = table,
                                       .chunks = chunks,
                                       .count = count,
                                       .lower = tide__strbuf_str(&merge->lower),
                                       .upper = tide__strbuf_str(&merge->upper)}};
    tide__arena_init(&input->stream.arena);
}

// The inputs of a file and of all below it, the oldest first. A dropped range is hidden in all older ones.
static void add_inputs(struct merge *merge, const struct savepoint *file, uint32_t table) {
    const struct savepoint_info *info = &file->info;
    if (file->parent != NULL) add_inputs(merge, file->parent, table);
    if (info->depth == 0) add_input(merge, file, info->tables[table].chunks, info->tables[table].chunk_count, table);
    for (size_t i = 0; i < info->section_count; i++) {
        const struct savepoint_section *section = &info->sections[i];
        if (section->table != table) continue;
        if (!section->drop) {
            add_input(merge, file, section->chunks, section->chunk_count, table);
            continue;
        }
        for (size_t k = 0; k < merge->input_count; k++)
            tide__key_ranges_add(&merge->inputs[k].stream.hidden, section->lower, section->upper);
    }
}

static size_t count_inputs(const struct savepoint *file) {
    size_t count = 1;
    for (; file != NULL; file = file->parent) count += file->info.section_count;
    return count;
}

static void hide(struct key_ranges *hidden, const struct key_ranges *ranges) {
    for (size_t k = 0; ranges != NULL && k < ranges->count; k++)
        tide__key_ranges_add(hidden, ranges->items[k].lower, ranges->items[k].upper);
}

// A full file's only input asks the key filter. A broken one is not used: it loses nothing.
static void use_filter(struct merge *merge, uint32_t table, struct str field) {
    const struct savepoint_table *of = &merge->savepoint->info.tables[table];
    if (field.len == 0 || merge->savepoint->info.depth > 0 || of->filter.length == 0) return;
    tide__strbuf_append_str(&merge->field, field);
    struct str filters;
    if (tide__savepoint_filter(merge->savepoint, table, &merge->filter, &filters) != NULL) return;
    merge->inputs[0].stream.filters = filters;
    merge->inputs[0].stream.field = tide__strbuf_str(&merge->field);
}

static void open_inputs(struct merge *merge, uint32_t table, struct str field, const struct key_ranges *missing) {
    add_inputs(merge, merge->savepoint, table);
    use_filter(merge, table, field);
    for (size_t i = 0; i < merge->input_count; i++) {
        struct input *input = &merge->inputs[i];
        hide(&input->stream.hidden, missing);
        if (merge->savepoint->passed != NULL) hide(&input->stream.hidden, &merge->savepoint->passed[table]);
        tide__key_ranges_settle(&input->stream.hidden);
        if (tide__chunk_stream_next(&input->stream, &input->entry)) merge->heap[merge->heap_count++] = i;
        merge->broken |= input->stream.failed;
    }
    if (merge->broken) merge->heap_count = 0;
    for (size_t i = merge->heap_count / 2; i-- > 0;) sift_down(merge, i);
}

static tide_status open_merge(struct savepoint *savepoint, size_t table, struct str lower, struct str upper,
                              struct str field, const struct key_ranges *missing, struct state_source **out,
                              tide_error *err) {
    *out = NULL;
    if (table >= savepoint->info.table_count)
        return tide__fail(err, TIDE_ERR_SAVEPOINT, "the savepoint has no such table");
    struct merge *merge = tide__calloc(1, sizeof *merge);
    merge->source = (struct state_source){.next = merge_next, .free = merge_free};
    merge->savepoint = savepoint;
    merge->desc = &savepoint->info.tables[table].desc;
    tide__strbuf_append_str(&merge->lower, lower);
    tide__strbuf_append_str(&merge->upper, upper);
    size_t count = count_inputs(savepoint);
    merge->inputs = tide__calloc(count, sizeof *merge->inputs);
    merge->heap = tide__calloc(count, sizeof *merge->heap);
    open_inputs(merge, (uint32_t)table, field, missing);
    *out = &merge->source;
    return TIDE_OK;
}

tide_status tide__savepoint_entries(struct savepoint *savepoint, size_t table, struct str lower, struct str upper,
                                    struct state_source **out, tide_error *err) {
    return open_merge(savepoint, table, lower, upper, (struct str){0}, NULL, out, err);
}

tide_status tide__savepoint_entries_with(struct savepoint *savepoint, size_t table, struct str field,
                                         bool *out_filtered, struct state_source **out, tide_error *err) {
    TIDE_TRY(open_merge(savepoint, table, (struct str){0}, (struct str){0}, field, NULL, out, err));
    *out_filtered = ((struct merge *)*out)->inputs[0].stream.filters.data != NULL;
    return TIDE_OK;
}

tide_status tide__savepoint_entries_without(struct savepoint *savepoint, size_t table, const struct key_ranges *missing,
                                            struct state_source **out, tide_error *err) {
    return open_merge(savepoint, table, (struct str){0}, (struct str){0}, (struct str){0}, missing, out, err);
}
