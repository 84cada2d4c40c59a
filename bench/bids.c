// Writes bids as CSV to standard output: time, auction, bidder, price, channel; the same bytes for the same arguments.
//
// usage: bids ROWS [AUCTIONS [SECONDS [LATE_MS]]]
// Times are spread evenly over SECONDS from 2024-01-01. With LATE_MS, each time goes back by a random part of it, so
// that the rows are out of order and, beyond the watermark's tolerance, late. The demo and the kill test read this;
// the benchmark has its own generator (gen.py), which is the one its target was set with.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t mix(uint64_t x)  // splitmix64: row numbers in, well spread bits out
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static uint64_t number(int argc, char **argv, int at, uint64_t otherwise) {
    return at < argc ? strtoull(argv[at], NULL, 10) : otherwise;
}

int main(int argc, char **argv) {
    uint64_t rows = number(argc, argv, 1, 1000), auctions = number(argc, argv, 2, 1000);
    uint64_t seconds = number(argc, argv, 3, 3600), late_ms = number(argc, argv, 4, 0);
    if (rows == 0 || auctions == 0 || seconds > 86400) {
        fprintf(stderr, "usage: bids ROWS [AUCTIONS [SECONDS (at most 86400) [LATE_MS]]]\n");
        return 2;
    }
    for (uint64_t i = 0; i < rows; i++) {
        uint64_t ms = i * (seconds * 1000) / rows, back = late_ms ? mix(i ^ 0x5bd1e995u) % late_ms : 0;
        ms = ms > back ? ms - back : 0;
        uint64_t cents = mix(i * 3 + 13) % 1000000;
        printf("2024-01-01 %02u:%02u:%02u.%03u,%llu,%llu,%llu.%02u,channel-%u\n", (unsigned)(ms / 3600000),
               (unsigned)(ms / 60000 % 60), (unsigned)(ms / 1000 % 60), (unsigned)(ms % 1000),
               (unsigned long long)(mix(i) % auctions), (unsigned long long)(mix(i * 3 + 7) % 1000),
               (unsigned long long)(cents / 100), (unsigned)(cents % 100), (unsigned)(mix(i * 3 + 3) % 20));
    }
    return fflush(stdout) != 0;
}
