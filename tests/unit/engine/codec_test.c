// Keys must order as values do and read back; rows must read back; broken bytes must be refused.
#include "engine/codec/key.h"
#include "engine/codec/row.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KINDS = 6, ROWS = 400 };

static const enum type_kind kinds[KINDS] = {TYPE_BOOLEAN, TYPE_BIGINT,  TYPE_DOUBLE,
                                            TYPE_DECIMAL, TYPE_VARCHAR, TYPE_TIMESTAMP};

static struct type type_of(int k) {
    if (kinds[k] == TYPE_DECIMAL) return tide__type_make_sized(TYPE_DECIMAL, true, 38, 4);
    if (kinds[k] == TYPE_TIMESTAMP) return tide__type_make_sized(TYPE_TIMESTAMP, true, 9, 0);
    return tide__type_make(kinds[k], true);
}

static int64_t random_i64(void) {
    int64_t v = (int64_t)((uint64_t)random() << 33 ^ (uint64_t)random() << 10 ^ (uint64_t)random());
    return random() % 2 ? v >> (random() % 64) : v;
}

static void fill(struct column *column, size_t row, struct arena *arena) {
    column->nulls[row] = random() % 8 == 0;
    static const double doubles[] = {0.0, -0.0, 1.5, -1.5, INFINITY, -INFINITY, NAN, 1e-300, -1e300};
    switch (column->physical) {
    case PHYSICAL_BOOL: column->bools[row] = random() % 2; break;
    case PHYSICAL_I64: column->i64[row] = random() % 3 ? random_i64() : random() % 5 - 2; break;
    case PHYSICAL_F64: column->f64[row] = random() % 2 ? doubles[random() % 9] : (double)random_i64() / 1000.0; break;
    case PHYSICAL_I128: column->i128[row] = (int128)random_i64() * (random() % 2 ? 1 : random_i64()); break;
    case PHYSICAL_TIME: column->time[row] = (struct timestamp){random_i64(), (int32_t)(random() % 1000000)}; break;
    case PHYSICAL_STR: {
        size_t len = (size_t)(random() % 6);
        char *bytes = tide__arena_alloc(arena, len + 1);
        for (size_t i = 0; i < len; i++) bytes[i] = (char)(random() % 3 ? 'a' + random() % 2 : random() % 2 ? 0 : 0xFF);
        column->str[row] = (struct str){bytes, len};
        break;
    }
    }
}

static int compare_values(const struct column *c, size_t a, size_t b) {
#define CMP(x, y) ((x) < (y) ? -1 : (x) > (y))
    switch (c->physical) {
    case PHYSICAL_BOOL: return CMP(c->bools[a], c->bools[b]);
    case PHYSICAL_I64: return CMP(c->i64[a], c->i64[b]);
    case PHYSICAL_F64: {
        int nan_a = isnan(c->f64[a]) != 0, nan_b = isnan(c->f64[b]) != 0;
        return nan_a || nan_b ? nan_a - nan_b : CMP(c->f64[a], c->f64[b]);
    }
    case PHYSICAL_I128: return CMP(c->i128[a], c->i128[b]);
    case PHYSICAL_TIME: {
        int by_ms = CMP(c->time[a].ms, c->time[b].ms);
        return by_ms != 0 ? by_ms : CMP(c->time[a].nanos, c->time[b].nanos);
    }
    case PHYSICAL_STR: return tide__str_cmp(c->str[a], c->str[b]);
    }
    return 0;
}

static int compare_sorted(const struct column *c, const struct sort_key *sort, size_t a, size_t b) {
    if (c->nulls[a] || c->nulls[b]) {
        if (c->nulls[a] && c->nulls[b]) return 0;
        return (c->nulls[a] ? -1 : 1) * (sort->nulls_last ? -1 : 1);
    }
    int by = compare_values(c, a, b);
    by = by < 0 ? -1 : by > 0;
    return sort->descending ? -by : by;
}

static struct batch random_batch(struct type *types, struct arena *arena) {
    struct batch batch = {.rows = ROWS, .column_count = KINDS};
    batch.columns = tide__arena_alloc(arena, KINDS * sizeof(struct column));
    for (int k = 0; k < KINDS; k++) {
        types[k] = type_of(k);
        tide__column_init(&batch.columns[k], &types[k], ROWS, 1, arena);
        for (size_t row = 0; row < ROWS; row++) fill(&batch.columns[k], row, arena);
    }
    return batch;
}

static int sign(int v) {
    return v < 0 ? -1 : v > 0;
}

START_TEST(keys_order_and_read_back) {
    struct arena arena;
    tide__arena_init(&arena);
    struct type types[KINDS];
    srandom(7);
    struct batch batch = random_batch(types, &arena);
    for (int k = 0; k < KINDS; k++) {
        const struct column *column = &batch.columns[k];
        for (int form = 0; form < 4; form++) {
            struct sort_key sort = {(uint32_t)k, form & 1, form >> 1};
            struct strbuf keys[ROWS] = {0};
            for (size_t i = 0; i < ROWS; i++) {
                tide__key_append(&batch, &sort, 1, i, &keys[i]);
                tide__strbuf_append_char(&keys[i], 'x');  // what follows must not matter
            }
            for (size_t i = 0; i < 4000; i++) {
                size_t a = (size_t)random() % ROWS, b = (size_t)random() % ROWS;
                int got = tide__str_cmp(tide__strbuf_str(&keys[a]), tide__strbuf_str(&keys[b]));
                ck_assert_int_eq(sign(got), compare_sorted(column, &sort, a, b));
            }
            for (size_t i = 0; i < ROWS; i++) tide__strbuf_deinit(&keys[i]);
        }
        uint32_t columns[] = {(uint32_t)k};
        struct str keys[ROWS];
        tide__key_encode(&batch, columns, 1, STR_LIT("pre"), &arena, keys);
        struct column back;
        tide__column_init(&back, &types[k], ROWS, 1, &arena);
        for (size_t i = 0; i < ROWS; i++) {
            ck_assert_mem_eq(keys[i].data, "pre", 3);
            struct str rest = {keys[i].data + 3, keys[i].len - 3};
            struct strbuf alone = {0};
            tide__key_append_value(column, i, &alone);
            ck_assert(tide__str_eq(rest, tide__strbuf_str(&alone)));
            tide__strbuf_deinit(&alone);
            struct str cut = {rest.data, rest.len - 1};
            ck_assert(column->nulls[i] || !tide__key_decode(&cut, &arena, &back, i));
            ck_assert(tide__key_decode(&rest, &arena, &back, i));
            ck_assert_uint_eq(rest.len, 0);
            ck_assert_int_eq(back.nulls[i], column->nulls[i]);
            if (column->nulls[i]) continue;
            struct column both = *column;
            tide__column_init(&both, &types[k], 2, 1, &arena);
            size_t size = tide__physical_size(column->physical);
            memcpy(both.data, (char *)column->data + i * size, size);
            memcpy((char *)both.data + size, (char *)back.data + i * size, size);
            ck_assert_int_eq(compare_values(&both, 0, 1), 0);
        }
    }
    tide__arena_deinit(&arena);
}
END_TEST

START_TEST(rows_read_back) {
    struct arena arena;
    tide__arena_init(&arena);
    struct type types[KINDS];
    srandom(8);
    struct batch batch = random_batch(types, &arena);
    struct column back[KINDS];
    for (int k = 0; k < KINDS; k++) tide__column_init(&back[k], &types[k], ROWS, 1, &arena);
    for (size_t i = 0; i < ROWS; i++) {
        struct strbuf bytes = {0};
        tide__row_append(&batch, i, &bytes);
        char *exact = tide__arena_strndup(&arena, bytes.data, bytes.len);
        for (size_t len = 0; len < bytes.len; len++) {
            ck_assert(!tide__row_decode((struct str){exact, len}, back, KINDS, i));
        }
        ck_assert(tide__row_decode((struct str){exact, bytes.len}, back, KINDS, i));
        for (int k = 0; k < KINDS; k++) {
            ck_assert_int_eq(back[k].nulls[i], batch.columns[k].nulls[i]);
            if (back[k].nulls[i]) continue;
            if (back[k].physical == PHYSICAL_STR) {
                ck_assert(tide__str_eq(back[k].str[i], batch.columns[k].str[i]));
            } else if (back[k].physical == PHYSICAL_TIME) {
                ck_assert_int_eq(back[k].time[i].ms, batch.columns[k].time[i].ms);
                ck_assert_int_eq(back[k].time[i].nanos, batch.columns[k].time[i].nanos);
            } else {
                size_t size = tide__physical_size(back[k].physical);
                ck_assert_mem_eq((char *)back[k].data + i * size, (char *)batch.columns[k].data + i * size, size);
            }
        }
        tide__strbuf_deinit(&bytes);
    }
    tide__arena_deinit(&arena);
}
END_TEST

START_TEST(slices_and_gathers) {
    struct arena arena;
    tide__arena_init(&arena);
    struct type types[KINDS];
    struct batch batch = random_batch(types, &arena);
    struct batch slice = tide__batch_slice(&batch, 10, 20, &arena);
    ck_assert_uint_eq(slice.rows, 20);
    ck_assert_ptr_eq(slice.columns[1].i64, batch.columns[1].i64 + 10);
    uint32_t rows[] = {5, 3, 3};
    struct batch some = tide__batch_gather(&batch, rows, 3, &arena);
    ck_assert_uint_eq(some.rows, 3);
    ck_assert_int_eq(some.columns[1].i64[2], batch.columns[1].i64[3]);
    char time[8];
    tide__key_put_time(time, -5);
    ck_assert_int_eq(tide__key_get_time(time), -5);
    tide__arena_deinit(&arena);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("codec");
    TCase *tests = tcase_create("codec");
    tcase_add_test(tests, keys_order_and_read_back);
    tcase_add_test(tests, rows_read_back);
    tcase_add_test(tests, slices_and_gathers);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed > 0;
}
