// Savepoints: any bytes are opened, verified and read to the end, or refused.
//
// Most random changes stop at a checksum. So the bytes are read twice: as they are, and as the raw manifest and the raw chunk
// messages behind right checksums.
#include "base/arena.h"
#include "checkpoint/chunk.h"
#include "checkpoint/format.h"
#include "checkpoint/reader.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_file(const char *data, size_t size) {
    int fd = memfd_create("savepoint", MFD_CLOEXEC);
    if (fd < 0) return;
    struct savepoint *savepoint;
    tide_error err;
    tide__error_clear(&err);
    if (write(fd, data, size) != (ssize_t)size) {
        close(fd);
        return;
    }
    if (tide__savepoint_open_fd(fd, "fuzz", &savepoint, &err) != TIDE_OK) return;
    for (size_t i = 0; i < tide__savepoint_info(savepoint)->table_count; i++) {
        struct state_source *source;
        if (tide__savepoint_entries(savepoint, i, (struct str){0}, (struct str){0}, &source, &err) != TIDE_OK) break;
        struct state_entry entry;
        while (source->next(source, &entry)) continue;
        source->free(source);
    }
    tide__savepoint_close(savepoint);
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
