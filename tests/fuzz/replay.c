// Runs a fuzz target without libFuzzer: each file as it is, then cut short and with bytes changed, the same way each time.
//
// usage: TARGET [-n VARIANTS] FILE|FOLDER...   Folders are walked for query.sql and for files of any name in corpus/.
// A crash, a sanitizer's report or a hang is the failure; there is nothing else to check.
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct replay {
    unsigned long inputs;
    uint64_t random;
    unsigned variants;
};

static uint64_t draw(struct replay *replay) {
    replay->random ^= replay->random << 13;
    replay->random ^= replay->random >> 7;
    replay->random ^= replay->random << 17;
    return replay->random;
}

// Each input in a block of exactly its size, so that ASan sees a read past its end.
static void run_one(struct replay *replay, const uint8_t *data, size_t size) {
    uint8_t *copy = malloc(size + (size == 0));
    if (copy == NULL) abort();
    memcpy(copy, data, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
    replay->inputs++;
}

static void run_variants(struct replay *replay, uint8_t *data, size_t size) {
    static const char spice[] = "(),;'`\"\\*.-/ \n0\x80\xff\x00[]{}<>=";
    run_one(replay, data, size);
    for (unsigned i = 0; i < replay->variants && size > 0; i++) {
        size_t at = draw(replay) % size;
        switch (i % 3) {
        case 0: run_one(replay, data, at); break;
        case 1: {
            uint8_t was = data[at];
            data[at] = (uint8_t)spice[draw(replay) % (sizeof spice - 1)];
            run_one(replay, data, size);
            data[at] = was;
            break;
        }
        case 2: run_one(replay, data + at, size - at); break;
        }
    }
}

static void run_file(struct replay *replay, const char *path) {
    FILE *f = fopen(path, "rb");
    uint8_t *data = malloc(1 << 20);
    if (f == NULL || data == NULL) {
        fprintf(stderr, "can't read %s\n", path);
        exit(2);
    }
    size_t size = fread(data, 1, 1 << 20, f);
    fclose(f);
    run_variants(replay, data, size);
    free(data);
}

static void run_path(struct replay *replay, const char *path, int depth) {
    struct stat st;
    if (stat(path, &st) != 0) {
        fprintf(stderr, "no %s\n", path);
        exit(2);
    }
    if (!S_ISDIR(st.st_mode)) {
        run_file(replay, path);
        return;
    }
    DIR *dir = opendir(path);
    bool all = strstr(path, "corpus") != NULL;
    for (struct dirent *e; dir != NULL && (e = readdir(dir)) != NULL;) {
        char child[4096];
        snprintf(child, sizeof child, "%s/%s", path, e->d_name);
        if (e->d_name[0] == '.' || stat(child, &st) != 0) continue;
        if (S_ISDIR(st.st_mode) ? depth < 4 : all || strcmp(e->d_name, "query.sql") == 0)
            run_path(replay, child, depth + 1);
    }
    if (dir != NULL) closedir(dir);
}

int main(int argc, char **argv) {
    struct replay replay = {.random = 88172645463325252u, .variants = 30};
    int first = 1;
    if (argc > 2 && strcmp(argv[1], "-n") == 0) {
        replay.variants = (unsigned)strtoul(argv[2], NULL, 10);
        first = 3;
    }
    for (int i = first; i < argc; i++) run_path(&replay, argv[i], 0);
    printf("%lu inputs\n", replay.inputs);
    return replay.inputs == 0;
}
