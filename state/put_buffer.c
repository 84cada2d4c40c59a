// Single puts and deletes of one table, collected into a sorted run.
//
// A buffer is a log: entries lie one behind the other in blocks, in the order in which they came, and the background
// thread sorts them when it writes the run; of a key's entries the last one counts. So a put costs a copy, which
// matters where millions of them come at a barrier. Only a table that is read by key while it has buffered puts gets an
// index of them, and from then on a put of the same key takes the place of the one before.
#include "base/alloc.h"
#include "base/arena.h"
#include "base/hash.h"
#include "base/sort.h"
#include "state/store_private.h"

#include <assert.h>
#include <string.h>

enum {
    AHEAD = 8,
    BLOCK_FIRST = 4 << 10,
    BLOCK_MAX = 256 << 10,
    DELETED = 1,   // the key is deleted
    REPLACED = 2,  // a later entry of the same key is known: this one does not count
};

struct put_entry {
    uint32_t key_len, value_len;
    uint32_t value_cap;
    uint32_t flags;
    char bytes[];  // the key, then room for the value
};

struct put_block {
    struct put_block *next;
    size_t size, used;
    _Alignas(8) char bytes[];
};

struct put_buffer {
    struct state_source source;  // of the run that the buffer becomes
    struct memory_budget *budget;
    struct put_block *first, *last;
    size_t bytes;            // of blocks, charged
    size_t count;            // entries
    struct memtable *index;  // key -> its last entry; NULL: none
    // Of the source.
    struct sort_item *items;  // by key; the last of each
    size_t item_count, at;
    size_t items_charged;
};

static size_t entry_size(size_t key_len, size_t value_cap) {
    return (sizeof(struct put_entry) + key_len + value_cap + 7) & ~(size_t)7;
}

// --- reading it as a run

static struct put_entry *entry_of(const struct sort_item *item) {
    return (struct put_entry *)(void *)(uintptr_t)(item->key - offsetof(struct put_entry, bytes));
}

static void collect_items(struct put_buffer *puts) {
    size_t count = 0;
    for (struct put_block *block = puts->first; block; block = block->next) {
        for (size_t at = 0; at < block->used;) {
            struct put_entry *entry = (struct put_entry *)(void *)(block->bytes + at);
            at += entry_size(entry->key_len, entry->value_cap);
            if (entry->flags & REPLACED) continue;
            const unsigned char *key = (const unsigned char *)entry->bytes;
            puts->items[count] = (struct sort_item){tide__sort_prefix(key, entry->key_len), key, entry->key_len,
                                                    (uint32_t)count};
            count++;
        }
    }
    puts->item_count = count;
}

static bool same_key(const struct sort_item *a, const struct sort_item *b) {
    return a->prefix == b->prefix && a->key_len == b->key_len && memcmp(a->key, b->key, a->key_len) == 0;
}

// Of equal keys the one that came last.
static void drop_older(struct put_buffer *puts) {
    size_t to = 0;
    for (size_t i = 0; i < puts->item_count; i++) {
        struct sort_item item = puts->items[i];
        for (; i + 1 < puts->item_count && same_key(&item, &puts->items[i + 1]); i++)
            if (puts->items[i + 1].index > item.index) item = puts->items[i + 1];
        puts->items[to++] = item;
    }
    puts->item_count = to;
}

static void sort_items(struct put_buffer *puts) {
    puts->items_charged = 2 * puts->count * sizeof *puts->items;
    tide__budget_charge(puts->budget, puts->items_charged);
    puts->items = tide__alloc(puts->items_charged + sizeof *puts->items);
    collect_items(puts);
    if (puts->item_count == 0) return;
    tide__sort_keys(puts->items, puts->item_count, puts->items + puts->count);
    drop_older(puts);
    size_t keep = (puts->item_count + 1) * sizeof *puts->items;
    if (keep >= puts->items_charged) return;
    puts->items = tide__realloc_array(puts->items, puts->item_count + 1, sizeof *puts->items);
    tide__budget_release(puts->budget, puts->items_charged - keep);
    puts->items_charged = keep;
}

static bool next_put(struct state_source *source, struct state_entry *out_entry) {
    struct put_buffer *puts = (struct put_buffer *)source;
    if (!puts->items) sort_items(puts);
    if (puts->at == puts->item_count) return false;
    if (puts->item_count - puts->at > AHEAD) __builtin_prefetch(entry_of(&puts->items[puts->at + AHEAD]));
    struct put_entry *entry = entry_of(&puts->items[puts->at++]);
    out_entry->has_room = false;
    out_entry->op = entry->flags & DELETED ? STATE_DELETE : STATE_REPLACE;
    out_entry->key = (struct str){entry->bytes, entry->key_len};
    out_entry->value = (struct str){entry->bytes + entry->key_len, entry->flags & DELETED ? 0 : entry->value_len};
    return true;
}

void tide__put_buffer_free(struct put_buffer *puts) {
    if (!puts) return;
    for (struct put_block *block = puts->first, *next; block; block = next) {
        next = block->next;
        tide__free(block);
    }
    tide__budget_release(puts->budget, puts->bytes + puts->items_charged);
    tide__memtable_release(puts->index);
    tide__free(puts->items);
    tide__free(puts);
}

static void free_source(struct state_source *source) {
    tide__put_buffer_free((struct put_buffer *)source);
}

// --- writing

static struct put_buffer *new_buffer(struct memory_budget *budget, bool with_index) {
    struct put_buffer *puts = tide__calloc(1, sizeof *puts);
    puts->source = (struct state_source){next_put, free_source};
    puts->budget = budget;
    if (with_index) puts->index = tide__memtable_new(budget, sizeof(struct put_entry *));
    return puts;
}

static void add_block(struct put_buffer *puts, size_t needed) {
    size_t size = puts->last ? puts->last->size * 2 : BLOCK_FIRST;
    if (size > BLOCK_MAX) size = BLOCK_MAX;
    if (size < needed) size = needed;
    struct put_block *block = tide__alloc(sizeof *block + size);
    *block = (struct put_block){.size = size};
    *(puts->last ? &puts->last->next : &puts->first) = block;
    puts->last = block;
    puts->bytes += sizeof *block + size;
    tide__budget_charge(puts->budget, sizeof *block + size);
}

static void set_value(struct put_entry *entry, const struct str *value) {
    entry->flags = value ? 0 : DELETED;
    entry->value_len = value ? (uint32_t)value->len : 0;
    if (value && value->len) memcpy(entry->bytes + entry->key_len, value->data, value->len);
}

static struct put_entry *append(struct put_buffer *puts, struct str key, const struct str *value) {
    size_t cap = value ? value->len : 0, size = entry_size(key.len, cap);
    if (!puts->last || puts->last->size - puts->last->used < size) add_block(puts, size);
    struct put_entry *entry = (struct put_entry *)(void *)(puts->last->bytes + puts->last->used);
    puts->last->used += size;
    puts->count++;
    entry->key_len = (uint32_t)key.len;
    entry->value_cap = (uint32_t)cap;
    if (key.len) memcpy(entry->bytes, key.data, key.len);
    set_value(entry, value);
    return entry;
}

static struct put_entry **slot_of(struct put_buffer *puts, struct str key) {
    struct memtable_entry *entry = tide__memtable_upsert(puts->index, key, tide__hash_bytes(key.data, key.len), NULL);
    return tide__memtable_payload(puts->index, entry);
}

static void add_indexed(struct put_buffer *puts, struct str key, const struct str *value) {
    struct put_entry **slot = slot_of(puts, key);
    if (*slot && (!value || value->len <= (*slot)->value_cap)) {
        set_value(*slot, value);
        return;
    }
    if (*slot) (*slot)->flags |= REPLACED;
    *slot = append(puts, key, value);
}

static void build_index(struct put_buffer *puts) {
    puts->index = tide__memtable_new(puts->budget, sizeof(struct put_entry *));
    for (struct put_block *block = puts->first; block; block = block->next) {
        for (size_t at = 0; at < block->used;) {
            struct put_entry *entry = (struct put_entry *)(void *)(block->bytes + at);
            at += entry_size(entry->key_len, entry->value_cap);
            struct put_entry **slot = slot_of(puts, (struct str){entry->bytes, entry->key_len});
            if (*slot) (*slot)->flags |= REPLACED;
            *slot = entry;
        }
    }
}

static size_t held_bytes(const struct put_buffer *puts) {
    return puts->bytes + (puts->index ? tide__memtable_bytes(puts->index) : 0);
}

// put_lock is held.
static tide_status submit(struct state_table *table, tide_error *err) {
    struct put_buffer *puts = table->puts;
    if (!puts) return TIDE_OK;
    table->puts = NULL;
    size_t bytes = held_bytes(puts);
    tide__memtable_release(puts->index);  // nobody looks into it any more
    puts->index = NULL;
    struct task *task = tide__calloc(1, sizeof *task);
    *task = (struct task){.kind = TASK_RUN, .table = table, .source = &puts->source, .bytes = bytes};
    return tide__store_enqueue(table->store, task, err);
}

static void put(struct state_table *table, struct str key, const struct str *value) {
    pthread_mutex_lock(&table->put_lock);
    if (!table->puts) table->puts = new_buffer(table->store->budget, table->reads_puts);
    struct put_buffer *puts = table->puts;
    if (puts->index)
        add_indexed(puts, key, value);
    else
        append(puts, key, value);
    // A failure is the store's and is reported by the next call that can.
    if (held_bytes(puts) >= table->store->put_max && submit(table, NULL) != TIDE_OK) {}
    pthread_mutex_unlock(&table->put_lock);
}

void tide__state_put(struct state_table *table, struct str key, struct str value) {
    put(table, key, &value);
}

void tide__state_delete(struct state_table *table, struct str key) {
    put(table, key, NULL);
}

tide_status tide__store_flush_puts(struct state_table *table, tide_error *err) {
    pthread_mutex_lock(&table->put_lock);
    tide_status status = submit(table, err);
    pthread_mutex_unlock(&table->put_lock);
    return status;
}

bool tide__store_find_put(struct state_table *table, struct str key, struct arena *arena, struct str *out_value) {
    pthread_mutex_lock(&table->put_lock);
    table->reads_puts = true;
    const struct put_entry *found = NULL;
    if (table->puts) {
        if (!table->puts->index) build_index(table->puts);
        struct memtable_entry *entry = tide__memtable_find(table->puts->index, key,
                                                           tide__hash_bytes(key.data, key.len));
        if (entry) found = *(struct put_entry **)tide__memtable_payload(table->puts->index, entry);
    }
    if (found) {
        *out_value = (struct str){NULL, 0};
        if (!(found->flags & DELETED))
            *out_value = (struct str){tide__arena_strndup(arena, found->bytes + found->key_len, found->value_len),
                                      found->value_len};
    }
    pthread_mutex_unlock(&table->put_lock);
    return found != NULL;
}
