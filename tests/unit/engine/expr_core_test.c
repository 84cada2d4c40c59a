// Arithmetic, comparison, logic, CASE and CAST: types, results and failures as Flink 2.3 gives them.
#include "tests/unit/engine/expr_build.h"

START_TEST(integers) {
    SHOWS(CALL("+", I(1), I(2)), "3 : INT NOT NULL");
    SHOWS(CALL("+", I(2147483647), I(1)), "-2147483648 : INT NOT NULL");
    SHOWS(CALL("+", I(2147483647), I(2147483648)), "4294967295 : BIGINT NOT NULL");
    SHOWS(CALL("/", I(-7), I(2)), "-3 : INT NOT NULL");
    SHOWS(CALL("MOD", I(-7), I(3)), "-1 : INT NOT NULL");
    SHOWS(CALL("/", CAST(I(INT64_MIN), TYPE_BIGINT), I(-1)), "-9223372036854775808 : BIGINT NOT NULL");
    SHOWS(CALL("/", I(1), I(0)), "!division by zero");
    SHOWS(CALL("/", NIL(), I(0)), "!/ takes no NULL of no type");
    SHOWS(CALL("+", CAST(I(127), TYPE_TINYINT), CAST(I(1), TYPE_TINYINT)), "-128 : TINYINT NOT NULL");
    SHOWS(CALL("NEGATE", I(-2147483648)), "-2147483648 : INT NOT NULL");
}
END_TEST

START_TEST(decimals) {
    SHOWS(CALL("+", D("12.345"), D("3.5")), "15.845 : DECIMAL(6, 3) NOT NULL");
    SHOWS(CALL("*", D("12.345"), D("3.5")), "43.2075 : DECIMAL(8, 4) NOT NULL");
    SHOWS(CALL("/", CAST_SIZED(D("12.345"), TYPE_DECIMAL, 8, 3), CAST_SIZED(D("3.5"), TYPE_DECIMAL, 5, 1)),
          "3.527142857 : DECIMAL(15, 9) NOT NULL");
    SHOWS(CALL("/", CAST_SIZED(D("12.345"), TYPE_DECIMAL, 8, 3), I(3)), "4.11500000000000 : DECIMAL(19, 14) NOT NULL");
    SHOWS(CALL("MOD", CAST_SIZED(D("12.345"), TYPE_DECIMAL, 8, 3), CAST_SIZED(D("3.5"), TYPE_DECIMAL, 5, 1)),
          "1.845 : DECIMAL(7, 3) NOT NULL");
    struct expr *big = CAST_SIZED(D("99999999999999999999999999999999999.00"), TYPE_DECIMAL, 38, 2);
    SHOWS(CALL("*", big, big), "<NULL> : DECIMAL(38, 4) NOT NULL");
    SHOWS(CALL("+", big, CAST_SIZED(D("1.5"), TYPE_DECIMAL, 38, 10)), "<NULL> : DECIMAL(38, 6) NOT NULL");
    SHOWS(CALL("/", CAST_SIZED(D("2.5"), TYPE_DECIMAL, 38, 10), CAST_SIZED(D("1.5"), TYPE_DECIMAL, 38, 2)),
          "1.66666667 : DECIMAL(38, 8) NOT NULL");
    SHOWS(CALL("/", I(-7), D("2.0")), "-3.500000 : DECIMAL(17, 6) NOT NULL");
    SHOWS(CALL("*", I(-7), D("1.0")), "-7.0 : DECIMAL(13, 1) NOT NULL");
}
END_TEST

START_TEST(floats) {
    struct expr *f = CAST(D("1.5"), TYPE_FLOAT);
    SHOWS(CALL("+", f, F(2.25)), "3.75 : FLOAT NOT NULL");
    SHOWS(CALL("+", F(2.25), f), "3.75 : DOUBLE NOT NULL");
    SHOWS(CALL("/", CAST(D("2.5"), TYPE_FLOAT), I(3)), "0.8333333 : FLOAT NOT NULL");
    SHOWS(CALL("+", f, D("12.345")), "13.845 : DOUBLE NOT NULL");
    SHOWS(CALL("/", F(1), F(0)), "Infinity : DOUBLE NOT NULL");
    SHOWS(CALL("/", F(0), F(0)), "NaN : DOUBLE NOT NULL");
    SHOWS(CALL("/", F(1), I(0)), "Infinity : DOUBLE NOT NULL");
}
END_TEST

START_TEST(times) {
    SHOWS(CALL("+", TS("2020-02-29 12:34:56.789", 3), MILLIS(86400000)),
          "2020-03-01 12:34:56.789 : TIMESTAMP(3) NOT NULL");
    SHOWS(CALL("-", TS("2020-03-31 00:00:00", 3), MONTHS(1)), "2020-02-29 00:00:00.000 : TIMESTAMP(3) NOT NULL");
    SHOWS(CALL("-", DATE("2020-02-29"), MONTHS(12)), "2019-02-28 : DATE NOT NULL");
    SHOWS(CALL("+", MILLIS(3600000), TIME("23:59:59")), "00:59:59 : TIME(0) NOT NULL");
    SHOWS(CALL("*", I(6), MILLIS(10000)), "+0 00:01:00.000 : INTERVAL SECOND(3) NOT NULL");
    SHOWS(CALL("+", MONTHS(14), MONTHS(1)), "+1-03 : INTERVAL MONTH NOT NULL");
    SHOWS(CALL("+", TS("2020-01-01 00:00:00", 3), I(1)), "!cannot apply '+' to arguments of type (TIMESTAMP(3), INT)");
}
END_TEST

START_TEST(comparisons) {
    SHOWS(CALL("=", I(1), D("1.0")), "TRUE : BOOLEAN NOT NULL");
    SHOWS(CALL("<", S("abc"), S("b")), "TRUE : BOOLEAN NOT NULL");
    SHOWS(CALL("=", I(5), S("5")), "!cannot compare INT with CHAR(1) by =");
    SHOWS(CALL(">", TS("2020-02-29 12:34:56.789", 3), S("2020-01-01 00:00:00")), "TRUE : BOOLEAN NOT NULL");
    SHOWS(CALL("=", DATE("2020-02-29"), S("2020-02-29")), "TRUE : BOOLEAN NOT NULL");
    SHOWS(CALL("=", TS("2020-02-29 12:34:56.789", 3), TS("2020-02-29 12:34:56.789123", 6)), "FALSE : BOOLEAN NOT NULL");
    SHOWS(CALL("=", NIL(), I(1)), "<NULL> : BOOLEAN");
    SHOWS(CALL("IS DISTINCT FROM", NIL(), I(1)), "TRUE : BOOLEAN NOT NULL");
    SHOWS(CALL("IN", I(5), I(5), NIL()), "TRUE : BOOLEAN");
    SHOWS(CALL("IN", I(6), I(5), NIL()), "<NULL> : BOOLEAN");
    SHOWS(CALL("IN", I(6), S("5"), S("6")), "TRUE : BOOLEAN NOT NULL");
    SHOWS(CALL("GREATEST", F(2.5), D("1.0"), I(2)), "2.5 : DOUBLE NOT NULL");
    SHOWS(CALL("LEAST", S("b"), S("a")), "a : CHAR(1) NOT NULL");
    SHOWS(CALL("GREATEST", I(1), NIL()), "<NULL> : INT");
}
END_TEST

START_TEST(logic) {
    struct expr *fails = CALL("=", CALL("/", I(1), I(0)), I(1));
    struct expr *none = literal((struct value){.is_null = true}, plain(TYPE_BOOLEAN));
    SHOWS(CALL("AND", BOOL(false), fails), "FALSE : BOOLEAN NOT NULL");
    SHOWS(CALL("OR", BOOL(true), fails), "TRUE : BOOLEAN NOT NULL");
    SHOWS(CALL("AND", BOOL(true), fails), "!division by zero");
    SHOWS(CALL("AND", none, BOOL(false)), "FALSE : BOOLEAN");
    SHOWS(CALL("AND", BOOL(true), none), "<NULL> : BOOLEAN");
    SHOWS(CALL("OR", none, BOOL(true)), "TRUE : BOOLEAN");
    SHOWS(CALL("OR", BOOL(false), none, BOOL(false)), "<NULL> : BOOLEAN");
    SHOWS(CALL("NOT", none), "<NULL> : BOOLEAN");
    SHOWS(CALL("IS NOT TRUE", none), "TRUE : BOOLEAN NOT NULL");
    SHOWS(CALL("IS NULL", NIL()), "TRUE : BOOLEAN NOT NULL");
    SHOWS(CALL("AND", I(1), BOOL(true)), "!cannot apply 'AND' to arguments of type (INT, BOOLEAN)");
}
END_TEST

START_TEST(conditionals) {
    struct expr *fails = CALL("/", I(1), I(0));
    SHOWS(CALL("CASE", BOOL(true), I(7), fails), "7 : INT NOT NULL");
    SHOWS(CALL("CASE", BOOL(false), S("pos"), BOOL(false), S("neg"), S("none")), "none : VARCHAR(4) NOT NULL");
    SHOWS(CALL("CASE", BOOL(true), I(1), D("2.5")), "1.0 : DECIMAL(11, 1) NOT NULL");
    SHOWS(CALL("CASE", BOOL(false), S("five"), NIL()), "<NULL> : CHAR(4)");
    SHOWS(CALL("CASE", BOOL(true), I(1), S("x")), "!the results of CASE have no common type: INT and CHAR(1)");
    SHOWS(CALL("COALESCE", NIL(), I(5), fails), "5 : INT NOT NULL");
    SHOWS(CALL("NULLIF", I(5), I(5)), "<NULL> : INT");
    SHOWS(CALL("NULLIF", I(5), D("5.5")), "5 : INT");
    SHOWS(CALL("IF", CALL("=", NIL(), I(1)), S("eq"), S("ne")), "ne : CHAR(2)");
    SHOWS(CALL("IFNULL", NIL(), I(-99)), "-99 : INT NOT NULL");
}
END_TEST

START_TEST(number_casts) {
    SHOWS(CAST(F(-2147483649.5), TYPE_INT), "-2147483648 : INT NOT NULL");
    SHOWS(CAST(I(300), TYPE_TINYINT), "44 : TINYINT NOT NULL");
    SHOWS(CAST(I(10000000000), TYPE_INT), "1410065408 : INT NOT NULL");
    SHOWS(CAST_SIZED(F(2.25), TYPE_DECIMAL, 5, 1), "2.3 : DECIMAL(5, 1) NOT NULL");
    SHOWS(CAST_SIZED(F(-1e10), TYPE_DECIMAL, 5, 1), "<NULL> : DECIMAL(5, 1) NOT NULL");
    SHOWS(CAST_SIZED(I(-7), TYPE_DECIMAL, 12, 2), "-7.00 : DECIMAL(12, 2) NOT NULL");
    SHOWS(CAST(D("12.9"), TYPE_INT), "12 : INT NOT NULL");
    SHOWS(CAST(I(0), TYPE_BOOLEAN), "FALSE : BOOLEAN NOT NULL");
    SHOWS(CAST(I(1), TYPE_TIMESTAMP), "!there is no cast from INT to TIMESTAMP(6)");
}
END_TEST

START_TEST(text_casts) {
    static const struct {
        const char *text, *as_int, *as_boolean, *as_double, *as_decimal;
    } cases[] = {
        {"12", "12", "<NULL>", "12.0", "12.00"},
        {" +12", "12", "<NULL>", "12.0", "12.00"},
        {"12.9", "12", "<NULL>", "12.9", "12.90"},
        {"1e3", "<NULL>", "<NULL>", "1000.0", "1000.00"},
        {"", "<NULL>", "<NULL>", "<NULL>", "<NULL>"},
        {".5", "0", "<NULL>", "0.5", "0.50"},
        {"12.", "12", "<NULL>", "12.0", "12.00"},
        {"0x1F", "<NULL>", "<NULL>", "<NULL>", "<NULL>"},
        {"3000000000", "<NULL>", "<NULL>", "3.0E9", "<NULL>"},
        {"NaN", "<NULL>", "<NULL>", "NaN", "<NULL>"},
        {"1d", "<NULL>", "<NULL>", "1.0", "1.00"},
        {"0.1f", "<NULL>", "<NULL>", "0.1", "0.10"},
        {"Infinity", "<NULL>", "<NULL>", "Infinity", "<NULL>"},
        {"9999.995", "9999", "<NULL>", "9999.995", "10000.00"},
        {"yes", "<NULL>", "TRUE", "<NULL>", "<NULL>"},
        {"1", "1", "TRUE", "1.0", "1.00"},
        {"F", "<NULL>", "FALSE", "<NULL>", "<NULL>"},
        {"-0", "0", "<NULL>", "-0.0", "0.00"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct expr *s = S(cases[i].text);
        SHOWS(TRY_CAST(s, TYPE_INT), tide__arena_printf(&arena, "%s : INT", cases[i].as_int));
        SHOWS(TRY_CAST(s, TYPE_BOOLEAN), tide__arena_printf(&arena, "%s : BOOLEAN", cases[i].as_boolean));
        SHOWS(TRY_CAST(s, TYPE_DOUBLE), tide__arena_printf(&arena, "%s : DOUBLE", cases[i].as_double));
        SHOWS(TRY_CAST_SIZED(s, TYPE_DECIMAL, 6, 2),
              tide__arena_printf(&arena, "%s : DECIMAL(6, 2)", cases[i].as_decimal));
    }
    SHOWS(CAST(S("abc"), TYPE_INT), "!cannot cast 'abc' to INT");
    SHOWS(CAST_SIZED(S("99999"), TYPE_DECIMAL, 6, 2), "<NULL> : DECIMAL(6, 2) NOT NULL");
    SHOWS(CAST_SIZED(S("ab"), TYPE_CHAR, 4, 0), "ab   : CHAR(4) NOT NULL");
    SHOWS(CAST_SIZED(S("abcdef"), TYPE_VARCHAR, 4, 0), "abcd : VARCHAR(4) NOT NULL");
    SHOWS(CAST_SIZED(S("\xE6\x97\xA5\xE6\x9C\xAC"), TYPE_CHAR, 1, 0), "\xE6\x97\xA5 : CHAR(1) NOT NULL");
    SHOWS(CAST_SIZED(S("ab"), TYPE_BINARY, 3, 0), "x'616200' : BINARY(3) NOT NULL");
    SHOWS(CAST_SIZED(I(-2147483648), TYPE_VARCHAR, 3, 0), "-21 : VARCHAR(3) NOT NULL");
    SHOWS(CAST(BOOL(true), TYPE_VARCHAR), "TRUE : STRING NOT NULL");
}
END_TEST

START_TEST(time_casts) {
    static const struct {
        const char *text, *date, *time, *ts;
    } cases[] = {
        {"2020-02-29", "2020-02-29", "<NULL>", "2020-02-29 00:00:00.000"},
        {"2020-02-30", "<NULL>", "<NULL>", "2020-02-29 00:00:00.000"},
        {"2020-2-9", "2020-02-09", "<NULL>", "2020-02-09 00:00:00.000"},
        {"12:34:56", "<NULL>", "12:34:56", "<NULL>"},
        {"12:34", "<NULL>", "12:34:00", "<NULL>"},
        {"2020-02-29 12:34:56.789123", "2020-02-29", "<NULL>", "2020-02-29 12:34:56.789"},
        {"2020-02-29T12:34:56", "<NULL>", "<NULL>", "<NULL>"},
        {"2020-02-29 12:34", "2020-02-29", "<NULL>", "<NULL>"},
        {"2020-02-29 24:00:00", "2020-02-29", "<NULL>", "2020-03-01 00:00:00.000"},
        {"20200229", "<NULL>", "<NULL>", "<NULL>"},
        {"2020-02", "2020-02-01", "<NULL>", "<NULL>"},
        {"2020", "2020-01-01", "<NULL>", "<NULL>"},
        {" 2020-02-29", "2020-02-29", "<NULL>", "<NULL>"},
        {"12:34:56.5", "<NULL>", "12:34:56", "<NULL>"},
        {"1:2:3", "<NULL>", "01:02:03", "<NULL>"},
        {"", "<NULL>", "<NULL>", "<NULL>"},
        {"2020-13-01", "<NULL>", "<NULL>", "<NULL>"},
        {"2020-02-29 12:34:56Z", "2020-02-29", "<NULL>", "<NULL>"},
        {"0001-01-01 00:00:00", "0001-01-01", "<NULL>", "0001-01-01 00:00:00.000"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct expr *s = S(cases[i].text);
        SHOWS(TRY_CAST(s, TYPE_DATE), tide__arena_printf(&arena, "%s : DATE", cases[i].date));
        SHOWS(TRY_CAST(s, TYPE_TIME), tide__arena_printf(&arena, "%s : TIME(0)", cases[i].time));
        SHOWS(TRY_CAST_SIZED(s, TYPE_TIMESTAMP, 3, 0), tide__arena_printf(&arena, "%s : TIMESTAMP(3)", cases[i].ts));
    }
    SHOWS(CAST(TS("1969-12-31 23:59:59", 3), TYPE_DATE), "1970-01-01 : DATE NOT NULL");
    SHOWS(CAST(TS("1903-07-04 01:01:01", 3), TYPE_DATE), "1903-07-05 : DATE NOT NULL");
    SHOWS(CAST(TS("1969-12-31 23:59:59", 3), TYPE_TIME), "23:59:59 : TIME(0) NOT NULL");
    SHOWS(CAST_SIZED(TS("2020-02-29 12:34:56.789123", 6), TYPE_TIMESTAMP, 3, 0),
          "2020-02-29 12:34:56.789 : TIMESTAMP(3) NOT NULL");
    SHOWS(CAST_SIZED(TS("2020-02-29 12:34:56.789", 3), TYPE_TIMESTAMP, 9, 0),
          "2020-02-29 12:34:56.789000000 : TIMESTAMP(9) NOT NULL");
    SHOWS(CAST(TS("2020-02-29 12:34:56.789", 3), TYPE_VARCHAR), "2020-02-29 12:34:56.789 : STRING NOT NULL");
}
END_TEST

// Columns with NULLs and with a selection: errors of rows that are not asked for must not show.
START_TEST(columns_and_selections) {
    struct batch batch = {.rows = 6, .column_count = 2};
    struct column columns[2];
    const struct type *type = plain(TYPE_INT);
    for (int c = 0; c < 2; c++) tide__column_init(&columns[c], type, 6, 1, &arena);
    for (int i = 0; i < 6; i++) {
        columns[0].i64[i] = i * 10;
        columns[1].i64[i] = i - 2;  // 0 at row 2
    }
    columns[0].nulls[4] = 1;
    batch.columns = columns;
    struct source_pos pos = {1, 1, 0, 1};
    struct expr *a = tide__expr_column(&arena, 0, type, pos), *b = tide__expr_column(&arena, 1, type, pos);
    struct expr *quotient = CALL("/", a, b);
    struct expr *guarded = CALL("AND", CALL("<>", b, I(0)), CALL(">", quotient, I(0)));
    struct eval_context ctx = {.scratch = &arena};
    tide_error err;
    tide__error_clear(&err);
    struct column out;
    ck_assert_int_eq(tide__eval(&ctx, quotient, &batch, &out, &err), TIDE_ERR_RUNTIME);
    ck_assert_uint_eq(err.line, 1);
    tide__error_clear(&err);
    uint32_t *rows = NULL;
    size_t count = 0;
    ck_assert_int_eq(tide__eval_filter(&ctx, guarded, &batch, &rows, &count, &err), TIDE_OK);
    ck_assert_uint_eq(count, 2);
    ck_assert_uint_eq(rows[0], 3);
    ck_assert_uint_eq(rows[1], 5);
    struct expr *safe = CALL("CASE", CALL("=", b, I(0)), I(-1), quotient);
    ck_assert_int_eq(tide__eval(&ctx, safe, &batch, &out, &err), TIDE_OK);
    ck_assert_int_eq(out.i64[2], -1);
    ck_assert_int_eq(out.i64[5], 16);
    ck_assert_int_eq(out.nulls[4], 1);
}
END_TEST

START_TEST(table_is_sorted_and_complete) {
    size_t count = 0;
    const char *const *names = tide__function_names(&count);
    for (size_t i = 0; i < count; i++) {
        if (i > 0) ck_assert_msg(strcmp(names[i - 1], names[i]) < 0, "%s", names[i]);
        const struct function *function = tide__function_find(tide__str(names[i]));
        ck_assert_ptr_nonnull(function);
        ck_assert_str_eq(function->name, names[i]);
        ck_assert_ptr_nonnull(function->signature);
        ck_assert_ptr_nonnull(function->summary);
        ck_assert_ptr_nonnull(function->example);
        ck_assert_ptr_nonnull(function->example_result);
        ck_assert_ptr_nonnull(function->infer);
        ck_assert_ptr_nonnull(function->kernel);
    }
    ck_assert_ptr_null(tide__function_find(STR_LIT("NOPE")));
    ck_assert_ptr_nonnull(tide__function_find(STR_LIT("coalesce")));
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("core");
    tcase_add_checked_fixture(tests, expr_setup, expr_teardown);
    tcase_add_test(tests, integers);
    tcase_add_test(tests, decimals);
    tcase_add_test(tests, floats);
    tcase_add_test(tests, times);
    tcase_add_test(tests, comparisons);
    tcase_add_test(tests, logic);
    tcase_add_test(tests, conditionals);
    tcase_add_test(tests, number_casts);
    tcase_add_test(tests, text_casts);
    tcase_add_test(tests, time_casts);
    tcase_add_test(tests, columns_and_selections);
    tcase_add_test(tests, table_is_sorted_and_complete);
    return run_suite(tests);
}
