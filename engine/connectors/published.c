// Catching up with files that are visible already.
//
// The newest checkpoint may be damaged or gone, and an older one is gone on from. What the run has published since then is
// visible and stays as it is. A job makes the same bytes again, so they are compared with those files, in the order of their
// numbers, and dropped; where the files end, new ones begin. A barrier may fall in between: it saves which files are left, and
// how far the first of a folder has been made again.
//
// Numbers are given out without gaps, so a gap is a file that somebody has taken away.
#include "engine/connectors/published.h"

#include "base/alloc.h"
#include "engine/connectors/pending.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *path_of(const struct published *published, size_t at) {
    const struct published_file *item = &published->items[at];
    struct pending_file file = {.folder = tide__str(item->folder), .number = item->number};
    return tide__pending_visible(published->base, &file, tide__str(published->run));
}

// --- which files ------------------------------------------------------------------------------------------------

// The number in part-<run>-<number>; false if the name is not one.
static bool parse_name(const char *name, const char *run, uint64_t *out) {
    size_t run_len = strlen(run);
    if (strncmp(name, "part-", 5) != 0 || strncmp(name + 5, run, run_len) != 0 || name[5 + run_len] != '-')
        return false;
    const char *digits = name + 6 + run_len;
    if (*digits == '\0' || strspn(digits, "0123456789") != strlen(digits) || strlen(digits) > 19) return false;
    *out = strtoull(digits, NULL, 10);
    return true;
}

static struct published_file *add(struct published *published, struct str folder, uint64_t number) {
    published->items = tide__grow(published->items, &published->capacity, published->count + 1,
                                  sizeof(*published->items));
    struct published_file *item = &published->items[published->count++];
    *item = (struct published_file){.folder = tide__strndup(folder.data, folder.len), .number = number};
    return item;
}

struct search {
    struct published *published;
    uint64_t first;  // smaller numbers are not looked for
};

static tide_status found(void *ctx, const char *folder_path, struct str folder, const char *name, tide_error *err) {
    struct search *search = ctx;
    uint64_t number = 0;
    if (!parse_name(name, search->published->run, &number) || number < search->first) return TIDE_OK;
    struct strbuf path = {0};
    tide__strbuf_printf(&path, "%s/%s", folder_path, name);
    struct stat info;
    tide_status status = TIDE_OK;
    if (stat(path.data, &info) != 0) {
        status = tide__fail_errno(err, errno, "can't read output file \"%s\"", path.data);
    } else if (S_ISREG(info.st_mode)) {
        add(search->published, folder, number)->length = (uint64_t)info.st_size;
    }
    tide__strbuf_deinit(&path);
    return status;
}

static tide_status gone(const struct published *published, size_t at, const char *why, tide_error *err) {
    char *path = path_of(published, at);
    tide__fail(err, TIDE_ERR_IO, "output file \"%s\", %s, is gone", path, why);
    tide__free(path);
    return tide__fail_hint(err, "put it back, or begin anew with --restart");
}

// The files that a prepared list leaves to be made again.
static tide_status add_listed(struct published *published, struct pending_reader *reader, tide_error *err) {
    for (uint64_t i = 0; i < reader->count; i++) {
        struct pending_file skipped;
        TIDE_TRY(tide__pending_next(reader, &skipped, err));
    }
    uint64_t count = 0;
    TIDE_TRY(tide__pending_again_count(reader, &count, err));
    for (uint64_t i = 0; i < count; i++) {
        struct pending_file file;
        TIDE_TRY(tide__pending_again_next(reader, &file, err));
        struct published_file *item = add(published, file.folder, file.number);
        item->offset = file.length;
        char *path = path_of(published, published->count - 1);
        struct stat info;
        bool there = stat(path, &info) == 0;
        item->length = there ? (uint64_t)info.st_size : 0;
        tide__free(path);
        if (!there) return gone(published, published->count - 1, "which a resumed job makes again", err);
        if (item->length < item->offset) return gone(published, published->count - 1, "or the end of it", err);
    }
    return TIDE_OK;
}

static int compare_numbers(const void *a, const void *b) {
    const struct published_file *x = a, *y = b;
    return x->number < y->number ? -1 : x->number > y->number;
}

static int compare_places(const void *a, const void *b) {
    const struct published_file *x = a, *y = b;
    int order = strcmp(x->folder, y->folder);
    return order != 0 ? order : compare_numbers(a, b);
}

// The newer files, from items[from] on, must be numbered without gap. *next: the first of them; then the next free number.
static tide_status check_gaps(struct published *published, size_t from, uint64_t *next, tide_error *err) {
    if (published->count > from) {
        qsort(published->items + from, published->count - from, sizeof(*published->items), compare_numbers);
    }
    for (size_t i = from; i < published->count; i++, (*next)++) {
        struct published_file *item = &published->items[i];
        if (item->number < *next) {
            char *path = path_of(published, i);
            tide__fail(err, TIDE_ERR_IO, "output file \"%s\" has a number that another one has too", path);
            tide__free(path);
            return tide__fail_hint(err, "something else has written there; move it away");
        }
        if (item->number > *next) {
            item->number = *next;
            return gone(published, i, "which is older than others that are there", err);
        }
    }
    return TIDE_OK;
}

tide_status tide__published_load(struct published *published, const char *base, const char *run, struct str prepared,
                                 uint64_t *out_next_number, tide_error *err) {
    tide__published_deinit(published);
    *published = (struct published){.base = base, .run = run, .fd = -1};
    *out_next_number = 0;
    if (prepared.len > 0) {
        struct pending_reader reader;
        TIDE_TRY(tide__pending_open(prepared, &reader, err));
        if (tide__str_eq_c(reader.run, run)) {
            *out_next_number = reader.next_number;
            TIDE_TRY(add_listed(published, &reader, err));
        }
    }
    size_t listed = published->count;
    struct search search = {published, *out_next_number};
    TIDE_TRY(tide__pending_walk(base, found, &search, err));
    TIDE_TRY(check_gaps(published, listed, out_next_number, err));
    if (published->count > 1) qsort(published->items, published->count, sizeof(*published->items), compare_places);
    for (size_t i = 0; i < published->count; i++)
        published->left += published->items[i].offset < published->items[i].length;
    return TIDE_OK;
}

tide_status tide__published_free_number(const char *base, const char *run, uint64_t *out, tide_error *err) {
    struct published all = {.base = base, .run = run, .fd = -1};
    struct search search = {&all, *out};
    tide_status status = tide__pending_walk(base, found, &search, err);
    for (size_t i = 0; i < all.count; i++) {
        if (all.items[i].number >= *out) *out = all.items[i].number + 1;
    }
    tide__published_deinit(&all);
    return status;
}

// --- making again -----------------------------------------------------------------------------------------------

size_t tide__published_find(const struct published *published, struct str folder) {
    size_t low = 0, high = published->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (tide__str_cmp(tide__str(published->items[middle].folder), folder) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == published->count || !tide__str_eq_c(folder, published->items[low].folder)) return PUBLISHED_NONE;
    return tide__published_is_over(published, &low) ? PUBLISHED_NONE : low;
}

static bool has_more(const struct published_file *item) {
    return item->offset < item->length;
}

bool tide__published_is_over(const struct published *published, size_t *at) {
    while (!has_more(&published->items[*at])) {
        size_t next = *at + 1;
        if (next == published->count || strcmp(published->items[next].folder, published->items[*at].folder) != 0)
            return true;
        *at = next;
    }
    return false;
}

static tide_status differs(const struct published *published, size_t at, uint64_t offset, const char *what,
                           tide_error *err) {
    char *path = path_of(published, at);
    tide__fail(err, TIDE_ERR_RUNTIME, "output file \"%s\" differs at byte %llu from what the job makes now: %s", path,
               (unsigned long long)offset, what);
    tide__free(path);
    return tide__fail_hint(err,
                           "the job goes on from an older checkpoint and must make the same rows again: bring back its "
                           "script, input and output files, or begin anew with --restart");
}

static tide_status open_item(struct published *published, size_t at, tide_error *err) {
    if (published->fd >= 0 && published->open == at) return TIDE_OK;
    if (published->fd >= 0) close(published->fd);
    char *path = path_of(published, at);
    published->fd = open(path, O_RDONLY | O_CLOEXEC);
    published->open = at;
    tide_status status = published->fd >= 0 ? TIDE_OK
                                            : tide__fail_errno(err, errno, "can't read output file \"%s\"", path);
    tide__free(path);
    return status;
}

// Compares with as much of one file as there is. *out_len: how much that was.
static tide_status compare(struct published *published, size_t at, struct str row, size_t *out_len, tide_error *err) {
    struct published_file *item = &published->items[at];
    size_t want = item->length - item->offset < row.len ? (size_t)(item->length - item->offset) : row.len;
    TIDE_TRY(open_item(published, at, err));
    tide__strbuf_clear(&published->scratch);
    char *bytes = tide__strbuf_reserve(&published->scratch, want);
    size_t have = 0;
    while (have < want) {
        ssize_t n = pread(published->fd, bytes + have, want - have, (off_t)(item->offset + have));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) {
            char *path = path_of(published, at);
            tide_status status = tide__fail_errno(err, errno, "can't read output file \"%s\"", path);
            tide__free(path);
            return status;
        }
        if (n == 0) return differs(published, at, item->offset + have, "it has become shorter", err);
        have += (size_t)n;
    }
    if (memcmp(bytes, row.data, want) != 0) {
        size_t same = 0;
        while (bytes[same] == row.data[same]) same++;
        return differs(published, at, item->offset + same, "other rows", err);
    }
    item->offset += want;
    published->left -= item->offset == item->length;
    *out_len = want;
    return TIDE_OK;
}

tide_status tide__published_take(struct published *published, size_t *at, struct str row, tide_error *err) {
    while (row.len > 0) {
        size_t before = *at, len = 0;
        if (tide__published_is_over(published, at)) {
            return differs(published, before, published->items[before].length, "it ends inside a row", err);
        }
        TIDE_TRY(compare(published, *at, row, &len, err));
        row.data += len;
        row.len -= len;
    }
    return TIDE_OK;
}

void tide__published_save(const struct published *published, struct strbuf *out) {
    tide__pending_again_begin(out, published->left);
    for (size_t i = 0; i < published->count && published->left > 0; i++) {
        const struct published_file *item = &published->items[i];
        if (has_more(item)) tide__pending_again_add(out, tide__str(item->folder), item->number, item->offset);
    }
}

tide_status tide__published_end(const struct published *published, tide_error *err) {
    for (size_t i = 0; i < published->count; i++) {
        const struct published_file *item = &published->items[i];
        if (has_more(item)) return differs(published, i, item->offset, "it has more rows", err);
    }
    return TIDE_OK;
}

void tide__published_deinit(struct published *published) {
    for (size_t i = 0; i < published->count; i++) tide__free(published->items[i].folder);
    tide__free(published->items);
    if (published->fd >= 0) close(published->fd);
    tide__strbuf_deinit(&published->scratch);
    *published = (struct published){.fd = -1};
}
