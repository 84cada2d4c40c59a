// Bids at a given pace, for bench/checkpoint.py: `changed` of them every `millis`. First come `keys` distinct auctions, then for
// `rounds` rounds distinct ones out of them. With `changed` 0 the auctions alone, as fast as they are read.
//
// usage: pace KEYS CHANGED ROUNDS MILLIS
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static char *put_number(char *at, uint64_t v) {
    char digits[20];
    int n = 0;
    do digits[n++] = (char)('0' + v % 10);
    while ((v /= 10) > 0);
    while (n > 0) *at++ = digits[--n];
    return at;
}

// Event time moves a millisecond every 1,000 rows: everything falls into one window of a day.
static void put_row(uint64_t row, uint64_t key) {
    char line[128], *at = line;
    uint64_t ms = row / 1000 % 86000000;
    at += sprintf(at, "2024-01-01 %02d:%02d:%02d.%03d,", (int)(ms / 3600000), (int)(ms / 60000 % 60),
                  (int)(ms / 1000 % 60), (int)(ms % 1000));
    at = put_number(at, key);
    *at++ = ',';
    at = put_number(at, row * 7919 % 1000);
    memcpy(at, ".25\n", 4);
    fwrite(line, 1, (size_t)(at + 4 - line), stdout);
}

static void wait_until_next(struct timespec *next, uint64_t millis) {
    fflush(stdout);
    next->tv_sec += (time_t)(millis / 1000);
    next->tv_nsec += (long)(millis % 1000) * 1000000;
    if (next->tv_nsec >= 1000000000) next->tv_sec++, next->tv_nsec -= 1000000000;
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, next, NULL);
}

int main(int argc, char **argv) {
    if (argc != 5) return 2;
    uint64_t keys = strtoull(argv[1], NULL, 10), changed = strtoull(argv[2], NULL, 10);
    uint64_t rounds = strtoull(argv[3], NULL, 10), millis = strtoull(argv[4], NULL, 10);
    setvbuf(stdout, NULL, _IOFBF, 1 << 18);
    uint64_t row = 0, at = 0;
    struct timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    // Scattered, as keys of a stream are: the multiplier is odd and keys are numbered modulo a prime above them.
    for (uint64_t i = 0; i < keys; i++) {
        if (changed > 0 && i > 0 && i % changed == 0) wait_until_next(&next, millis);
        put_row(row++, i * 2654435761u % 4294967291u);
    }
    for (uint64_t round = 0; round < rounds; round++) {
        wait_until_next(&next, millis);
        // A stride through all keys, so that each round changes other ones.
        for (uint64_t i = 0; i < changed; i++) {
            at = (at + 15485863) % keys;
            put_row(row++, at * 2654435761u % 4294967291u);
        }
    }
    wait_until_next(&next, millis);
    return 0;
}
