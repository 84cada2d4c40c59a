// Fuzz target: keys and rows. The first byte chooses the types. The rest is read as a key and as a row: refused, or what it says is
// written and read again and is the same. Then its two halves are taken for values: their keys must order as they do.
#include "engine/codec/key.h"
#include "engine/codec/row.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { KINDS = 9, SIZE_MAX_BYTES = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct type type_of(int k) {
    switch (k) {
    case 0: return tide__type_make(TYPE_BOOLEAN, true);
    case 1: return tide__type_make(TYPE_BIGINT, true);
    case 2: return tide__type_make(TYPE_DOUBLE, true);
    case 3: return tide__type_make_sized(TYPE_DECIMAL, true, 38, 4);
    case 4: return tide__type_make(TYPE_VARCHAR, true);
    case 5: return tide__type_make_sized(TYPE_TIMESTAMP, true, 9, 0);
    case 6: return tide__type_make_sized(TYPE_DECIMAL, true, 10, 2);
    case 7: return tide__type_make(TYPE_DATE, true);
    default: return tide__type_make_sized(TYPE_TIMESTAMP, true, 3, 0);
    }
}

static void need(bool ok) {
    if (!ok) abort();
}

static bool same(const struct strbuf *a, const struct strbuf *b) {
    return a->len == b->len && (a->len == 0 || memcmp(a->data, b->data, a->len) == 0);
}

// One value after the other, of changing types, until one is refused.
static void read_key(struct str key, unsigned choice, struct arena *arena) {
    struct strbuf first = {0}, second = {0};
    while (key.len > 0) {
        struct type type = type_of((int)(choice++ % KINDS));
        struct column column, again;
        tide__column_init(&column, &type, 1, 1, arena);
        tide__column_init(&again, &type, 1, 1, arena);
        size_t before = key.len;
        if (!tide__key_decode(&key, arena, &column, 0)) break;
        need(key.len < before);
        tide__strbuf_clear(&first);
        tide__strbuf_clear(&second);
        tide__key_append_value(&column, 0, &first);
        struct str rest = tide__strbuf_str(&first);
        need(tide__key_decode(&rest, arena, &again, 0) && rest.len == 0);
        tide__key_append_value(&again, 0, &second);
        need(same(&first, &second));
    }
    tide__strbuf_deinit(&first);
    tide__strbuf_deinit(&second);
}

static void read_row(struct str bytes, unsigned choice, struct arena *arena) {
    struct type types[KINDS];
    struct column columns[KINDS], again[KINDS];
    size_t count = choice % KINDS + 1;
    for (size_t k = 0; k < count; k++) {
        types[k] = type_of((int)((choice / KINDS + k) % KINDS));
        tide__column_init(&columns[k], &types[k], 1, 1, arena);
        tide__column_init(&again[k], &types[k], 1, 1, arena);
    }
    if (!tide__row_decode(bytes, columns, count, 0)) return;
    struct strbuf first = {0}, second = {0};
    tide__row_append(&(struct batch){.rows = 1, .column_count = count, .columns = columns}, 0, &first);
    need(tide__row_decode(tide__strbuf_str(&first), again, count, 0));
    tide__row_append(&(struct batch){.rows = 1, .column_count = count, .columns = again}, 0, &second);
    need(same(&first, &second));
    tide__strbuf_deinit(&first);
    tide__strbuf_deinit(&second);
}

static int sign(int order) {
    return (order > 0) - (order < 0);
}

// Two rows: a text and a number. Ascending and descending, NULLs at both ends.
static void order_halves(struct str bytes, unsigned choice, struct arena *arena) {
    struct type types[2] = {tide__type_make(TYPE_VARCHAR, true), tide__type_make(TYPE_BIGINT, true)};
    struct column columns[2];
    struct str halves[2] = {{bytes.data, bytes.len / 2}, {bytes.data + bytes.len / 2, bytes.len - bytes.len / 2}};
    for (int k = 0; k < 2; k++) tide__column_init(&columns[k], &types[k], 2, 1, arena);
    for (size_t row = 0; row < 2; row++) {
        columns[0].nulls[row] = choice >> row & 1;
        columns[1].nulls[row] = 0;
        columns[0].str[row] = halves[row];
        columns[1].i64[row] = 0;
        memcpy(&columns[1].i64[row], halves[row].data, halves[row].len < 8 ? halves[row].len : 8);
    }
    struct sort_key sorts[2] = {{.column = 0, .descending = choice & 4, .nulls_last = choice & 8},
                                {.column = 1, .descending = choice & 16}};
    int wanted = 0;
    if (columns[0].nulls[0] != columns[0].nulls[1])
        wanted = (columns[0].nulls[0] ? -1 : 1) * (sorts[0].nulls_last ? -1 : 1);
    else if (!columns[0].nulls[0])
        wanted = sign(tide__str_cmp(halves[0], halves[1])) * (sorts[0].descending ? -1 : 1);
    if (wanted == 0) {
        int64_t a = columns[1].i64[0], b = columns[1].i64[1];
        wanted = ((a > b) - (a < b)) * (sorts[1].descending ? -1 : 1);
    }
    struct batch batch = {.rows = 2, .column_count = 2, .columns = columns};
    struct strbuf keys[2] = {{0}, {0}};
    for (size_t row = 0; row < 2; row++) tide__key_append(&batch, sorts, 2, row, &keys[row]);
    need(sign(tide__str_cmp(tide__strbuf_str(&keys[0]), tide__strbuf_str(&keys[1]))) == wanted);
    static const uint32_t places[2] = {0, 1};
    struct str encoded[2];
    tide__key_encode(&batch, places, 2, STR_LIT("p"), arena, encoded);
    for (size_t row = 0; row < 2; row++) {
        struct str rest = {encoded[row].data + 1, encoded[row].len - 1};
        need(tide__key_decode(&rest, arena, &columns[0], row) && tide__key_decode(&rest, arena, &columns[1], row) &&
             rest.len == 0);
        tide__strbuf_deinit(&keys[row]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1 || size > SIZE_MAX_BYTES) return 0;
    struct str bytes = {(const char *)data + 1, size - 1};
    struct arena arena;
    tide__arena_init(&arena);
    read_key(bytes, data[0], &arena);
    read_row(bytes, data[0], &arena);
    order_halves(bytes, data[0], &arena);
    if (bytes.len >= 8) {
        char time[8];
        tide__key_put_time(time, tide__key_get_time(bytes.data));
        need(memcmp(time, bytes.data, 8) == 0);
    }
    tide__arena_deinit(&arena);
    return 0;
}
