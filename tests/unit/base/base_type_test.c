// Types: physical forms, text, comparison.
#include "base/type.h"
#include "base_tests.h"

START_TEST(physical_form_follows_precision) {
    struct type type = tide__type_make_sized(TYPE_DECIMAL, true, 18, 2);
    ck_assert_int_eq(tide__type_physical(&type), PHYSICAL_I64);
    type = tide__type_make_sized(TYPE_DECIMAL, true, 19, 2);
    ck_assert_int_eq(tide__type_physical(&type), PHYSICAL_I128);
    type = tide__type_make_sized(TYPE_TIMESTAMP, true, 3, 0);
    ck_assert_int_eq(tide__type_physical(&type), PHYSICAL_I64);
    type = tide__type_make(TYPE_TIMESTAMP_LTZ, true);
    ck_assert_int_eq(tide__type_physical(&type), PHYSICAL_TIME);
    for (int kind = TYPE_NULL; kind <= TYPE_ROW; kind++) {
        type = tide__type_make((enum type_kind)kind, true);
        ck_assert_uint_gt(tide__physical_size(tide__type_physical(&type)), 0);
    }
}
END_TEST

static void expect_text(struct type type, const char *wanted) {
    struct arena arena;
    tide__arena_init(&arena);
    ck_assert_str_eq(tide__type_text(&arena, &type), wanted);
    tide__arena_deinit(&arena);
}

START_TEST(text_is_flinks) {
    expect_text(tide__type_make(TYPE_INT, true), "INT");
    expect_text(tide__type_make(TYPE_BIGINT, false), "BIGINT NOT NULL");
    expect_text(tide__type_make(TYPE_DECIMAL, true), "DECIMAL(10, 0)");
    expect_text(tide__type_make_sized(TYPE_DECIMAL, true, 10, 2), "DECIMAL(10, 2)");
    expect_text(tide__type_make(TYPE_VARCHAR, true), "STRING");
    expect_text(tide__type_make_sized(TYPE_VARCHAR, true, 5, 0), "VARCHAR(5)");
    expect_text(tide__type_make(TYPE_CHAR, false), "CHAR(1) NOT NULL");
    expect_text(tide__type_make(TYPE_VARBINARY, true), "BYTES");
    expect_text(tide__type_make_sized(TYPE_BINARY, true, 3, 0), "BINARY(3)");
    expect_text(tide__type_make(TYPE_TIME, true), "TIME(0)");
    expect_text(tide__type_make(TYPE_TIMESTAMP, true), "TIMESTAMP(6)");
    expect_text(tide__type_make(TYPE_INTERVAL_MILLIS, false), "INTERVAL SECOND(3) NOT NULL");
    expect_text(tide__type_make(TYPE_INTERVAL_MONTHS, true), "INTERVAL MONTH");
    struct type rowtime = tide__type_make_sized(TYPE_TIMESTAMP, false, 3, 0);
    rowtime.time_attribute = TIME_ATTRIBUTE_ROWTIME;
    expect_text(rowtime, "TIMESTAMP(3) NOT NULL *ROWTIME*");
    struct type proctime = tide__type_make_sized(TYPE_TIMESTAMP_LTZ, true, 3, 0);
    proctime.time_attribute = TIME_ATTRIBUTE_PROCTIME;
    expect_text(proctime, "TIMESTAMP_LTZ(3) *PROCTIME*");
}
END_TEST

START_TEST(nested_types_print_copy_and_compare) {
    struct type key = tide__type_make(TYPE_VARCHAR, false), value = tide__type_make(TYPE_INT, true);
    struct type_child entry[] = {{NULL, &key}, {NULL, &value}};
    struct type map = tide__type_make(TYPE_MAP, true);
    map.child_count = 2;
    map.children = entry;
    expect_text(map, "MAP<STRING NOT NULL, INT>");
    struct type_child fields[] = {{"x", &value}, {"a`b", &map}};
    struct type row = tide__type_make(TYPE_ROW, true);
    row.child_count = 2;
    row.children = fields;
    expect_text(row, "ROW<`x` INT, `a``b` MAP<STRING NOT NULL, INT>>");

    struct arena arena;
    tide__arena_init(&arena);
    const struct type *copy = tide__type_copy(&arena, &row);
    ck_assert(tide__type_same(copy, &row));
    ck_assert_ptr_ne(copy->children[1].type, &map);
    ck_assert(!tide__type_same(&map, &row));
    fields[0].name = "y";
    ck_assert(!tide__type_same(copy, &row));
    const struct type *not_null = tide__type_with_nullable(&arena, copy, false);
    ck_assert(!not_null->nullable && copy->nullable);
    ck_assert(tide__type_same(not_null, copy));
    ck_assert_ptr_eq(tide__type_with_nullable(&arena, copy, true), copy);
    struct type time = tide__type_make(TYPE_TIMESTAMP, true);
    time.time_attribute = TIME_ATTRIBUTE_ROWTIME;
    ck_assert_int_eq(tide__type_without_time_attribute(&arena, &time)->time_attribute, TIME_ATTRIBUTE_NONE);
    tide__arena_deinit(&arena);
}
END_TEST

START_TEST(kinds_have_families) {
    struct type type = tide__type_make(TYPE_TINYINT, true);
    ck_assert(tide__type_is_integer(&type) && tide__type_is_numeric(&type));
    type = tide__type_make(TYPE_DECIMAL, true);
    ck_assert(!tide__type_is_integer(&type) && tide__type_is_numeric(&type));
    type = tide__type_make(TYPE_BOOLEAN, true);
    ck_assert(!tide__type_is_integer(&type) && !tide__type_is_numeric(&type));
    type = tide__type_make(TYPE_CHAR, true);
    ck_assert(tide__type_is_string(&type) && !tide__type_is_numeric(&type));
    type = tide__type_make(TYPE_TIMESTAMP_LTZ, true);
    ck_assert(tide__type_is_timestamp(&type) && !tide__type_is_interval(&type));
    type = tide__type_make(TYPE_INTERVAL_MONTHS, true);
    ck_assert(tide__type_is_interval(&type) && !tide__type_is_timestamp(&type));
}
END_TEST

Suite *make_type_suite(void) {
    Suite *suite = suite_create("type");
    TCase *tc = tcase_create("type");
    tcase_add_test(tc, physical_form_follows_precision);
    tcase_add_test(tc, text_is_flinks);
    tcase_add_test(tc, nested_types_print_copy_and_compare);
    tcase_add_test(tc, kinds_have_families);
    suite_add_tcase(suite, tc);
    return suite;
}
