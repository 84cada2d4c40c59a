// Changed groups that are encoded behind the back of a slice that goes on. Inside the window aggregate only.
//
// At a barrier a slice that replaces hands over its list of changed entries, which costs nothing. The background thread encodes
// them. Whoever is about to change an entry before its turn has come, encodes it instead; an entry's mark, the number of the
// barrier until which it had changed, says whether that has been done. Entries and marks are looked at under a lock
// meanwhile, which the background thread gives away after a few entries.
#ifndef TIDE_ENGINE_OPERATORS_WINDOW_SEALING_H
#define TIDE_ENGINE_OPERATORS_WINDOW_SEALING_H

#include "base/str.h"
#include "engine/aggregates/aggregate.h"
#include "state/memtable.h"

struct window_sealing;

// Takes the array of entries, whose flags are `mark`, and retains their table. Two references: of the slice and of the run.
struct window_sealing *tide__window_sealing_new(const struct aggregators *aggregators, struct memtable *table,
                                                struct memtable_entry **entries, size_t count, uint32_t mark);
// NULL is allowed.
void tide__window_sealing_release(struct window_sealing *sealing);
// Bytes that it will take, about.
size_t tide__window_sealing_bytes(const struct window_sealing *sealing);

// The slice's thread. Before entries are changed or their flags looked at: False if all have been encoded and nothing is locked.
bool tide__window_sealing_lock(struct window_sealing *sealing);
void tide__window_sealing_unlock(struct window_sealing *sealing);
// Locked: encodes the entry unless that has been done, and clears its flags then.
void tide__window_sealing_save(struct window_sealing *sealing, struct memtable_entry *entry);

// The background thread: encodes the rest. *out gets all of them, as WINDOW_RUN_ENCODED has them.
void tide__window_sealing_finish(struct window_sealing *sealing, struct strbuf *out);

// Appends an entry as WINDOW_RUN_ENCODED has it; `value` is scratch.
void tide__window_encode_entry(const struct aggregators *aggregators, const struct memtable *table,
                               const struct memtable_entry *entry, struct strbuf *value, struct strbuf *out);

#endif
