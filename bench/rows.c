// Rows for bench/state.py: ROWS of them over KEYS keys and VALUES values, their times spread evenly over SPAN_MS.
//
// usage: rows ROWS KEYS VALUES SPAN_MS
//
// A row is `time,key,value,text`. Keys come by turns and are scattered, as those of a stream are; the text is the value's.
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *put_number(char *at, uint64_t v) {
    char digits[20];
    int n = 0;
    do digits[n++] = (char)('0' + v % 10);
    while ((v /= 10) > 0);
    while (n > 0) *at++ = digits[--n];
    return at;
}

static char *put_time(char *at, uint64_t ms) {
    static uint64_t second = UINT64_MAX;
    static char text[32];
    if (ms / 1000 != second) {
        second = ms / 1000;
        snprintf(text, sizeof text, "2024-01-%02d %02d:%02d:%02d.", (int)(1 + second / 86400),
                 (int)(second / 3600 % 24), (int)(second / 60 % 60), (int)(second % 60));
    }
    memcpy(at, text, 20);
    at[20] = (char)('0' + ms % 1000 / 100);
    at[21] = (char)('0' + ms % 100 / 10);
    at[22] = (char)('0' + ms % 10);
    return at + 23;
}

int main(int argc, char **argv) {
    if (argc != 5) return 2;
    uint64_t rows = strtoull(argv[1], NULL, 10), keys = strtoull(argv[2], NULL, 10);
    uint64_t values = strtoull(argv[3], NULL, 10), span = strtoull(argv[4], NULL, 10);
    if (rows == 0 || keys == 0 || values == 0) return 2;
    setvbuf(stdout, NULL, _IOFBF, 1 << 18);
    for (uint64_t i = 0; i < rows; i++) {
        char line[128], *at = put_time(line, (uint64_t)((unsigned __int128)i * span / rows));
        *at++ = ',';
        at = put_number(at, i % keys * 2654435761u % 4294967291u);
        *at++ = ',';
        // Odd multiplier: a walk through all values.
        at = put_number(at, (i * 7919 + i / keys) % values);
        char *number = at;
        while (number[-1] != ',') number--;
        *at++ = ',';
        *at++ = 'w';
        size_t digits = (size_t)(at - 2 - number);
        memcpy(at, number, digits);
        at += digits;
        *at++ = '\n';
        fwrite(line, 1, (size_t)(at - line), stdout);
    }
    return ferror(stdout) != 0 || fflush(stdout) != 0;
}
