#include "engine/operators/window_sealing.h"

#include "base/alloc.h"
#include "engine/aggregates/fields.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { GROUP = 256, AHEAD = 8, ENCODED_BYTES = 48 };

struct window_sealing {
    const struct aggregators *aggregators;
    struct memtable *table;
    struct memtable_entry **entries;
    size_t count;
    uint32_t mark;
    atomic_int references;
    atomic_bool is_wanted;  // the lock, by the slice's thread: a mutex alone would mostly stay where it is
    pthread_mutex_t lock;   // of what follows, and of the entries' flags
    bool is_done;
    struct strbuf encoded, value;
};

void tide__window_encode_entry(const struct aggregators *aggregators, const struct memtable *table,
                               const struct memtable_entry *entry, struct strbuf *value, struct strbuf *out) {
    struct str key = tide__memtable_key(table, entry);
    tide__strbuf_clear(value);
    tide__aggregators_encode(aggregators, entry->bytes, value);
    field_put_bytes(out, key.data, key.len);
    field_put_bytes(out, value->data, value->len);
}

struct window_sealing *tide__window_sealing_new(const struct aggregators *aggregators, struct memtable *table,
                                                struct memtable_entry **entries, size_t count, uint32_t mark) {
    struct window_sealing *sealing = tide__calloc(1, sizeof *sealing);
    sealing->aggregators = aggregators;
    sealing->table = tide__memtable_retain(table);
    sealing->entries = entries;
    sealing->count = count;
    sealing->mark = mark;
    atomic_init(&sealing->references, 2);
    pthread_mutex_init(&sealing->lock, NULL);
    return sealing;
}

void tide__window_sealing_release(struct window_sealing *sealing) {
    if (sealing == NULL || atomic_fetch_sub(&sealing->references, 1) != 1) return;
    tide__memtable_release(sealing->table);
    tide__free(sealing->entries);
    tide__strbuf_deinit(&sealing->encoded);
    tide__strbuf_deinit(&sealing->value);
    pthread_mutex_destroy(&sealing->lock);
    tide__free(sealing);
}

size_t tide__window_sealing_bytes(const struct window_sealing *sealing) {
    return sealing->count * (sizeof *sealing->entries + ENCODED_BYTES);
}

bool tide__window_sealing_lock(struct window_sealing *sealing) {
    atomic_store(&sealing->is_wanted, true);
    pthread_mutex_lock(&sealing->lock);
    atomic_store(&sealing->is_wanted, false);
    if (!sealing->is_done) return true;
    pthread_mutex_unlock(&sealing->lock);
    return false;
}

void tide__window_sealing_unlock(struct window_sealing *sealing) {
    pthread_mutex_unlock(&sealing->lock);
}

void tide__window_sealing_save(struct window_sealing *sealing, struct memtable_entry *entry) {
    if (entry->flags != sealing->mark) return;
    entry->flags = 0;
    tide__window_encode_entry(sealing->aggregators, sealing->table, entry, &sealing->value, &sealing->encoded);
}

void tide__window_sealing_finish(struct window_sealing *sealing, struct strbuf *out) {
    pthread_mutex_lock(&sealing->lock);
    for (size_t i = 0; i < sealing->count; i++) {
        if (i % GROUP == GROUP - 1) {
            pthread_mutex_unlock(&sealing->lock);
            while (atomic_load(&sealing->is_wanted)) sched_yield();
            pthread_mutex_lock(&sealing->lock);
        }
        if (i + AHEAD < sealing->count) tide__memtable_prefetch(sealing->entries[i + AHEAD]);
        tide__window_sealing_save(sealing, sealing->entries[i]);
    }
    sealing->is_done = true;
    *out = sealing->encoded;
    sealing->encoded = (struct strbuf){0};
    pthread_mutex_unlock(&sealing->lock);
}
