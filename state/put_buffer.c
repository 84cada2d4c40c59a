// Single puts and deletes of one table, collected into a sorted run.
//
// A memtable finds the key, so that the last write wins; its payload points at the value's bytes in an arena. The
// buffer goes to the queue at a barrier, when it is large, and before anything else of its table that must see it.
#include "base/alloc.h"
#include "base/arena.h"
#include "base/hash.h"
#include "state/store_private.h"

#include <assert.h>
#include <string.h>

struct put_value {
    char *data;  // NULL: the key is deleted
    uint32_t len, cap;
};

struct put_buffer {
    struct state_source source;  // of the run that the buffer becomes
    struct memtable *keys;
    struct arena values;
    size_t values_charged;
    struct memtable_entry *const *sorted;  // of the source
    size_t at;
};

enum { AHEAD = 8 };

static bool next_put(struct state_source *source, struct state_entry *out_entry) {
    struct put_buffer *puts = (struct put_buffer *)source;
    size_t count = tide__memtable_count(puts->keys);
    if (puts->at == count) return false;
    if (!puts->sorted) puts->sorted = tide__memtable_sorted(puts->keys);
    if (count - puts->at > AHEAD) tide__memtable_prefetch(puts->sorted[puts->at + AHEAD]);
    struct memtable_entry *entry = puts->sorted[puts->at++];
    const struct put_value *value = tide__memtable_payload(puts->keys, entry);
    out_entry->op = value->data ? STATE_REPLACE : STATE_DELETE;
    out_entry->key = tide__memtable_key(puts->keys, entry);
    out_entry->value = (struct str){value->data, value->len};
    return true;
}

void tide__put_buffer_free(struct put_buffer *puts) {
    if (!puts) return;
    tide__memtable_release(puts->keys);
    tide__arena_deinit(&puts->values);
    tide__free(puts);
}

static void free_source(struct state_source *source) {
    tide__put_buffer_free((struct put_buffer *)source);
}

static struct put_buffer *new_buffer(struct memory_budget *budget) {
    struct put_buffer *puts = tide__calloc(1, sizeof *puts);
    puts->source = (struct state_source){next_put, free_source};
    puts->keys = tide__memtable_new(budget, sizeof(struct put_value));
    tide__arena_init(&puts->values);
    return puts;
}

static void set_value(struct put_buffer *puts, struct put_value *slot, struct str value) {
    if (!slot->data || slot->cap < value.len) {
        slot->cap = (uint32_t)((value.len + 15) & ~(size_t)15);
        slot->data = tide__arena_alloc(&puts->values, slot->cap ? slot->cap : 1);
        size_t held = tide__arena_bytes(&puts->values);
        if (held != puts->values_charged) {
            tide__memtable_charge(puts->keys, (int64_t)held - (int64_t)puts->values_charged);
            puts->values_charged = held;
        }
    }
    slot->len = (uint32_t)value.len;
    if (value.len) memcpy(slot->data, value.data, value.len);
}

// put_lock is held.
static tide_status submit(struct state_table *table, tide_error *err) {
    struct put_buffer *puts = table->puts;
    if (!puts) return TIDE_OK;
    table->puts = NULL;
    tide__memtable_freeze(puts->keys);
    struct task *task = tide__calloc(1, sizeof *task);
    *task = (struct task){
        .kind = TASK_RUN, .table = table, .source = &puts->source, .bytes = tide__memtable_bytes(puts->keys)};
    return tide__store_enqueue(table->store, task, err);
}

static void put(struct state_table *table, struct str key, const struct str *value) {
    pthread_mutex_lock(&table->put_lock);
    if (!table->puts) table->puts = new_buffer(table->store->budget);
    struct put_buffer *puts = table->puts;
    struct memtable_entry *entry = tide__memtable_upsert(puts->keys, key, tide__hash_bytes(key.data, key.len), NULL);
    struct put_value *slot = tide__memtable_payload(puts->keys, entry);
    if (value) {
        set_value(puts, slot, *value);
    } else {
        *slot = (struct put_value){0};
    }
    // A failure is the store's and is reported by the next call that can.
    if (tide__memtable_bytes(puts->keys) >= table->store->put_max && submit(table, NULL) != TIDE_OK) {}
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
    struct memtable_entry *entry = NULL;
    if (table->puts) entry = tide__memtable_find(table->puts->keys, key, tide__hash_bytes(key.data, key.len));
    if (entry) {
        const struct put_value *value = tide__memtable_payload(table->puts->keys, entry);
        *out_value = (struct str){NULL, 0};
        if (value->data) *out_value = (struct str){tide__arena_strndup(arena, value->data, value->len), value->len};
    }
    pthread_mutex_unlock(&table->put_lock);
    return entry != NULL;
}
