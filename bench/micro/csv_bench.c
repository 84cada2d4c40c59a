// What parsing CSV costs alone: bids as in bench/ (time in order, auction, bidder, price, channel) in memory, cut into
// blocks, parsed in batches. Usage: csv_bench [ROWS] [columns read: a mask, default 11 = ts, auction, price].
#include "base/alloc.h"
#include "engine/formats/csv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BLOCK_BYTES ((size_t)256 << 10)

static double cpu_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static uint64_t next_random(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

static size_t generate(char *out, size_t rows) {
    size_t len = 0;
    uint64_t state = 42;
    for (size_t i = 0; i < rows; i++) {
        uint64_t ms = i * 3600000 / rows;
        len += (size_t)sprintf(out + len, "2024-01-01 %02d:%02d:%02d.%03d,%d,%d,%d.%02d,channel-%d\n",
                               (int)(ms / 3600000), (int)(ms / 60000 % 60), (int)(ms / 1000 % 60), (int)(ms % 1000),
                               (int)(next_random(&state) % 100000), (int)(next_random(&state) % 1000),
                               (int)(next_random(&state) % 10000), (int)(next_random(&state) % 100),
                               (int)(next_random(&state) % 20));
    }
    return len;
}

static uint64_t parse_all(const struct format_reader *reader, const char *data, size_t len, struct column *columns,
                          const struct type *types, uint32_t reads) {
    struct format_parser *parser = tide__csv_parser_new(reader);
    struct arena arena;
    tide__arena_init(&arena);
    uint64_t rows = 0;
    for (size_t at = 0; at < len;) {
        size_t want = len - at < BLOCK_BYTES ? len - at : BLOCK_BYTES;
        size_t cut = tide__csv_format.split(reader, data + at, want, at + want == len);
        if (cut == 0) abort();
        struct format_block block = {.data = data + at, .len = cut};
        while (block.at < block.len) {
            tide__arena_reset(&arena);
            for (uint32_t i = 0; i < reads; i++) {
                columns[i] = (struct column){.type = &types[i], .physical = tide__type_physical(&types[i])};
            }
            struct format_rows out = {.columns = columns};
            tide__csv_format.parse(parser, &block, 2048, &arena, &out);
            if (out.fault.is_set) {
                fprintf(stderr, "%s\n", out.fault.message);
                exit(1);
            }
            rows += out.rows;
        }
        at += cut;
    }
    tide__arena_deinit(&arena);
    tide__csv_parser_free(parser);
    return rows;
}

int main(int argc, char **argv) {
    size_t rows = argc > 1 ? strtoull(argv[1], NULL, 10) : 2000000;
    unsigned mask = argc > 2 ? (unsigned)atoi(argv[2]) : 11;
    struct type types[5] = {
        tide__type_make_sized(TYPE_TIMESTAMP, true, 3, 0),
        tide__type_make(TYPE_BIGINT, true),
        tide__type_make(TYPE_BIGINT, true),
        tide__type_make_sized(TYPE_DECIMAL, true, 10, 2),
        tide__type_make(TYPE_VARCHAR, true),
    };
    static const char *const names[] = {"ts", "auction", "bidder", "price", "channel"};
    struct format_read reads[5];
    struct type read_types[5];
    uint32_t count = 0;
    for (uint32_t i = 0; i < 5; i++) {
        if ((mask >> i & 1) == 0) continue;
        read_types[count] = types[i];
        reads[count] = (struct format_read){i, names[i], &read_types[count]};
        count++;
    }
    struct table table = {.name = "bid"};
    struct format_env env = {&table, 5, count, reads};
    struct format_reader *reader = NULL;
    tide_error err;
    tide__error_clear(&err);
    if (tide__csv_format.reader_open(&env, &reader, &err) != TIDE_OK) return 1;
    char *data = tide__alloc(rows * 72 + FORMAT_PADDING);
    size_t len = generate(data, rows);
    struct column columns[5];
    for (int round = 0; round < 3; round++) {
        double start = cpu_seconds();
        uint64_t parsed = parse_all(reader, data, len, columns, read_types, count);
        double took = cpu_seconds() - start;
        printf("%llu rows of %.1f bytes, %u columns read: %.1f ns a row, %.2f GB/s\n", (unsigned long long)parsed,
               (double)len / (double)rows, count, took * 1e9 / (double)rows, (double)len / took / 1e9);
    }
    tide__free(data);
    tide__csv_format.reader_close(reader);
    return 0;
}
