// Savepoints: any bytes are opened, verified, read to the end and salvaged, or refused. What was salvaged is whole.
//
// Most random changes stop at a checksum. So the bytes are read twice: as they are, and as the raw manifest and the raw chunk
// messages behind right checksums. "PAIR", four bytes of length and two files are a full checkpoint 20 and a delta 21 on it.
#include "base/arena.h"
#include "checkpoint/chunk.h"
#include "checkpoint/format.h"
#include "checkpoint/reader.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[64], full[96], delta[96], salvaged[96];

static void remove_folder(void) {
    unlink(full);
    unlink(delta);
    unlink(salvaged);
    rmdir(folder);
}

static void make_folder(void) {
    if (folder[0] != '\0') return;
    snprintf(folder, sizeof folder, "%s/fuzz-savepoint-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (mkdtemp(folder) == NULL) abort();
    snprintf(full, sizeof full, "%s/chk-20.savepoint", folder);
    snprintf(delta, sizeof delta, "%s/chk-21.delta", folder);
    snprintf(salvaged, sizeof salvaged, "%s/salvaged", folder);
    atexit(remove_folder);
}

static void put(const char *path, const char *data, size_t size) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size) abort();
    close(fd);
}

// -> the file to open.
static const char *put_files(const char *data, size_t size) {
    uint32_t first = 0;
    if (size < 8 || memcmp(data, "PAIR", 4) != 0) {
        put(full, data, size);
        return full;
    }
    memcpy(&first, data + 4, 4);
    if (first > size - 8) first = (uint32_t)(size - 8);
    put(full, data + 8, first);
    put(delta, data + 8 + first, size - 8 - first);
    return delta;
}

static void count(void *ctx, const struct savepoint_damage *damage) {
    if (damage->what == NULL) abort();
    ++*(size_t *)ctx;
}

static tide_status read_entries(const char *path, tide_error *err) {
    struct savepoint *savepoint;
    TIDE_TRY(tide__savepoint_open(path, &savepoint, err));
    tide_status status = TIDE_OK;
    for (size_t i = 0; i < tide__savepoint_info(savepoint)->table_count && status == TIDE_OK; i++) {
        struct state_source *source;
        if (tide__savepoint_entries(savepoint, i, (struct str){0}, (struct str){0}, &source, err) != TIDE_OK) break;
        struct state_entry entry;
        while (source->next(source, &entry)) continue;
        source->free(source);
        status = tide__savepoint_status(savepoint, err);
    }
    tide__savepoint_close(savepoint);
    return status;
}

static void read_file(const char *data, size_t size) {
    make_folder();
    const char *path = put_files(data, size);
    tide_error err;
    tide__error_clear(&err);
    size_t damaged = 0;
    tide_status verified = tide__savepoint_verify(path, count, &damaged, &err);
    if ((verified == TIDE_OK) != (damaged == 0)) abort();
    tide__error_clear(&err);
    if (verified == TIDE_OK && read_entries(path, &err) != TIDE_OK) abort();
    tide__error_clear(&err);
    uint64_t missing = 0;
    if (verified != TIDE_OK && read_entries(path, &err) == TIDE_OK && damaged == 0) abort();
    tide__error_clear(&err);
    if (tide__savepoint_salvage(path, salvaged, count, &damaged, &missing, &err) == TIDE_OK) {
        if (tide__savepoint_verify(salvaged, NULL, NULL, &err) != TIDE_OK) abort();
        unlink(salvaged);
    }
}

static void read_messages(struct str raw) {
    struct arena arena;
    tide__arena_init(&arena);
    struct savepoint_info info;
    (void)tide__manifest_unpack(raw, &arena, &info);
    // The index says what a good chunk of these bytes would say of itself, as far as one can tell.
    for (uint32_t entries = 1; entries < 4; entries++) {
        struct savepoint_chunk index = {.entries = entries, .first_key = STR_LIT("a"), .last_key = STR_LIT("b")};
        struct chunk chunk;
        tide__arena_reset(&arena);
        struct state_table_desc desc = {.name = "t", .operator_id = "t", .kind = STATE_TABLE_KEYED};
        if (tide__chunk_unpack(raw, 0, &desc, &index, true, &arena, &chunk) != NULL) continue;
        struct chunk_cursor cursor = {0};
        struct state_entry entry;
        while (tide__chunk_next(&chunk, &cursor, &entry)) continue;
        tide__strbuf_deinit(&cursor.key);
    }
    tide__arena_deinit(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    read_file((const char *)data, size);
    read_messages((struct str){(const char *)data, size});
    return 0;
}
