// Parsing blocks in threads, giving batches out in order.
//
// There is no reading thread: whoever is free takes the read lock, reads the next block, gets its number, and parses it
// outside the lock. A ring of slots holds the blocks between the next one to be given out and the newest one read; a full
// ring makes the threads wait, so that memory is bounded whatever the consumer does.
#include "base/alloc.h"
#include "state/state.h"
#include "engine/connectors/source.h"

#include <assert.h>

// Reads the next block into its slot. False: the input has ended or the reader is being closed.
static bool read_block(struct source_reader *reader, struct source_slot **out) {
    pthread_mutex_lock(&reader->read_lock);
    pthread_mutex_lock(&reader->lock);
    while (!reader->stop && !reader->read_ended && reader->read_number - reader->given_number >= reader->slot_count) {
        pthread_cond_wait(&reader->has_room, &reader->lock);
    }
    bool go_on = !reader->stop && !reader->read_ended;
    struct source_slot *slot = &reader->slots[reader->read_number % reader->slot_count];
    pthread_mutex_unlock(&reader->lock);
    if (go_on) {
        *slot = (struct source_slot){.block = tide__source_take_block(reader)};
        tide__error_clear(&slot->error);
        size_t capacity = slot->block->capacity;
        slot->status = tide__file_reader_next(&reader->file_reader, slot->block, &slot->error);
        if (reader->budget != NULL && slot->block->capacity > capacity) {
            tide__budget_charge(reader->budget, slot->block->capacity - capacity);
        }
        pthread_mutex_lock(&reader->lock);
        reader->read_number++;
        if (slot->status != TIDE_OK || slot->block->bytes.len == 0) reader->read_ended = true;
        pthread_mutex_unlock(&reader->lock);
    }
    pthread_mutex_unlock(&reader->read_lock);
    *out = slot;
    return go_on;
}

static bool must_stop(struct source_reader *reader) {
    pthread_mutex_lock(&reader->lock);
    bool stop = reader->stop;
    pthread_mutex_unlock(&reader->lock);
    return stop;
}

static void *work(void *argument) {
    struct source_reader *reader = argument;
    struct scan_parser parser;
    tide__scan_parser_init(&parser, &reader->scan);
    struct source_slot *slot = NULL;
    while (read_block(reader, &slot)) {
        struct source_block *block = slot->block;
        bool failed = slot->status != TIDE_OK;
        while (!failed && block->bytes.at < block->bytes.len && !must_stop(reader)) {
            struct parsed_batch *batch = tide__source_parse_piece(reader, &parser, block);
            if (slot->last != NULL) {
                slot->last->next = batch;
            } else {
                slot->first = batch;
            }
            slot->last = batch;
            failed = batch->error != NULL;
        }
        pthread_mutex_lock(&reader->lock);
        slot->done = true;
        pthread_cond_signal(&reader->has_batch);
        pthread_mutex_unlock(&reader->lock);
    }
    tide__scan_parser_deinit(&parser);
    return NULL;
}

void tide__workers_start(struct source_reader *reader) {
    assert(reader->threads == NULL);
    reader->slot_count = reader->workers * 2 + 2;
    reader->slots = tide__calloc(reader->slot_count, sizeof(*reader->slots));
    reader->threads = tide__calloc(reader->workers, sizeof(*reader->threads));
    for (; reader->thread_count < reader->workers; reader->thread_count++) {
        if (pthread_create(&reader->threads[reader->thread_count], NULL, work, reader) != 0) break;
    }
    // Without any thread the caller parses.
    if (reader->thread_count == 0) reader->workers = 0;
}

// Takes the batches of the next block out of its slot.
static tide_status take_slot(struct source_reader *reader, tide_error *err) {
    pthread_mutex_lock(&reader->lock);
    struct source_slot *slot = &reader->slots[reader->given_number % reader->slot_count];
    while (reader->given_number == reader->read_number || !slot->done) {
        pthread_cond_wait(&reader->has_batch, &reader->lock);
    }
    struct source_block *block = slot->block;
    tide_status status = slot->status;
    if (status != TIDE_OK && err != NULL) *err = slot->error;
    reader->given_batches = slot->first;
    *slot = (struct source_slot){0};
    reader->given_number++;
    pthread_cond_signal(&reader->has_room);
    pthread_mutex_unlock(&reader->lock);
    if (status == TIDE_OK && block->bytes.len > 0) {
        tide__source_count_block(reader, block);
    } else {
        reader->ended = true;
    }
    tide__source_drop_block(reader, block);
    return status;
}

tide_status tide__workers_next(struct source_reader *reader, struct parsed_batch **out, tide_error *err) {
    *out = NULL;
    while (reader->given_batches == NULL && !reader->ended) TIDE_TRY(take_slot(reader, err));
    *out = reader->given_batches;
    if (*out != NULL) reader->given_batches = (*out)->next;
    return TIDE_OK;
}

void tide__workers_stop(struct source_reader *reader) {
    pthread_mutex_lock(&reader->lock);
    reader->stop = true;
    pthread_cond_broadcast(&reader->has_room);
    pthread_mutex_unlock(&reader->lock);
    for (uint32_t i = 0; i < reader->thread_count; i++) pthread_join(reader->threads[i], NULL);
    for (uint32_t i = 0; reader->slots != NULL && i < reader->slot_count; i++) {
        struct source_slot *slot = &reader->slots[i];
        while (slot->first != NULL) {
            struct parsed_batch *next = slot->first->next;
            tide__source_release(reader, &slot->first->batch);
            slot->first = next;
        }
        if (slot->block != NULL) tide__source_drop_block(reader, slot->block);
    }
    tide__free(reader->slots);
    tide__free(reader->threads);
    reader->slots = NULL;
    reader->threads = NULL;
    reader->thread_count = 0;
}
