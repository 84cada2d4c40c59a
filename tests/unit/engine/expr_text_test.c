// Functions of strings, numbers, JSON and nested values, mostly on what is easy to get wrong.
#include "tests/unit/engine/expr_build.h"

START_TEST(strings) {
    SHOWS(CALL("SUBSTRING", S("hello"), I(-3)), "llo : VARCHAR(5)");
    SHOWS(CALL("SUBSTRING", S("hello"), I(0), I(2)), "he : VARCHAR(5)");
    SHOWS(CALL("SUBSTRING", S("hello"), I(9)), " : VARCHAR(5)");
    SHOWS(CALL("SUBSTRING", S("hello"), I(1), I(-1)), "<NULL> : VARCHAR(5)");
    SHOWS(CALL("RIGHT", S("h\xC3\xA4\xC3\xB6"), I(2)), "\xC3\xA4\xC3\xB6 : VARCHAR(3)");
    SHOWS(CALL("UPPER", S("gr\xC3\xB6\xC3\x9F")), "GR\xC3\x96SS : CHAR(4) NOT NULL");
    SHOWS(CALL("INITCAP", S("\xC3\xA4o-bC 1a")), "\xC3\xA4O-Bc 1a : CHAR(8) NOT NULL");
    SHOWS(CALL("REVERSE", S("a\xC3\xA4")), "\xC3\xA4"
                                           "a : STRING");
    SHOWS(CALL("POSITION", S(""), S("abc")), "1 : INT NOT NULL");
    SHOWS(CALL("LOCATE", S("b"), S("abcb"), I(3)), "4 : INT NOT NULL");
    SHOWS(CALL("INSTR", S("banana"), S("an"), I(-1)), "4 : INT NOT NULL");
    SHOWS(CALL("INSTR", S("banana"), S("an"), I(-1), I(2)), "2 : INT NOT NULL");
    SHOWS(CALL("LPAD", S("hi"), I(-1), S("x")), "<NULL> : STRING NOT NULL");
    SHOWS(CALL("LPAD", S("hi"), I(5), S("xy")), "xyxhi : STRING NOT NULL");
    SHOWS(CALL("SPLIT_INDEX", S("a--b"), S("--"), I(1)), "b : STRING");
    SHOWS(CALL("SPLIT_INDEX", S(""), S("x"), I(0)), "<NULL> : STRING");
    SHOWS(CALL("SPLIT_INDEX", S("a,b"), I(44), I(1)), "b : STRING");
    SHOWS(CALL("TRANSLATE", S("hello"), S("lo"), S("L")), "heLL : STRING NOT NULL");
    SHOWS(CALL("OVERLAY", S("hello"), S("XX"), I(2), I(4)), "hXX : VARCHAR(7) NOT NULL");
    SHOWS(CALL("REPLACE", S("ababab"), S("abab"), S("z")), "zab : STRING NOT NULL");
    SHOWS(CALL("||", S("a"), S("bc")), "abc : CHAR(3) NOT NULL");
    SHOWS(CALL("||", S("a"), I(1)), "!cannot apply '||' to arguments of type (CHAR(1), INT)");
    SHOWS(CALL("CONCAT_WS", S("-"), S("a"), NIL(), S("b")), "!CONCAT_WS takes no NULL of no type");
    SHOWS(CALL("BTRIM", S("xxaxx"), S("x")), "a : STRING NOT NULL");
    SHOWS(CALL("ASCII", S("\xC3\x80")), "-61 : INT NOT NULL");
    SHOWS(CALL("HEX", I(-2)), "FFFFFFFFFFFFFFFE : STRING NOT NULL");
}
END_TEST

START_TEST(patterns) {
    SHOWS(CALL("LIKE", S("50%"), S("50!%"), S("!")), "TRUE : BOOLEAN NOT NULL");
    SHOWS(CALL("LIKE",
               S("a\xC3\xA4"
                 "b"),
               S("a_b")),
          "TRUE : BOOLEAN NOT NULL");
    SHOWS(CALL("LIKE", S("aXbXc"), S("%X%c")), "TRUE : BOOLEAN NOT NULL");
    SHOWS(CALL("LIKE", S("abcabd"), S("%ab_")), "TRUE : BOOLEAN NOT NULL");
    SHOWS(CALL("LIKE", S(""), S("")), "TRUE : BOOLEAN NOT NULL");
    SHOWS(CALL("LIKE", S("ab"), S("a")), "FALSE : BOOLEAN NOT NULL");
    SHOWS(CALL("LIKE", S("a"), S("a!"), S("!")), "!bad LIKE pattern 'a!': it ends with the escape character");
    SHOWS(CALL("SIMILAR TO", S("aXbXc"), S("(a|H)%")), "TRUE : BOOLEAN NOT NULL");
    SHOWS(CALL("SIMILAR TO", S("abc"), S("a[b-d]")), "FALSE : BOOLEAN NOT NULL");
    SHOWS(CALL("REGEXP", S("abc"), S("(")), "FALSE : BOOLEAN NOT NULL");
    SHOWS(CALL("REGEXP_EXTRACT", S("foothebar"), S("foo(.*?)(bar)"), I(2)), "bar : STRING");
    SHOWS(CALL("REGEXP_EXTRACT", S("foothebar"), S("foo(.*?)(bar)"), I(7)), "<NULL> : STRING");
    SHOWS(CALL("REGEXP_REPLACE", S("\xC3\xA4x\xC3\xA4"), S("x"), S("$1")), "\xC3\xA4$1\xC3\xA4 : STRING NOT NULL");
}
END_TEST

START_TEST(rounding) {
    SHOWS(CALL("ROUND", F(1.005), I(2)), "1.01 : DOUBLE NOT NULL");
    SHOWS(CALL("ROUND", F(149.5), I(-2)), "100.0 : DOUBLE NOT NULL");
    SHOWS(CALL("ROUND", F(-2.5)), "-3.0 : DOUBLE NOT NULL");
    SHOWS(CALL("ROUND", D("1234.5678"), CALL("NEGATE", I(2))), "1200 : DECIMAL(5, 0) NOT NULL");
    SHOWS(CALL("ROUND", I(15), CALL("NEGATE", I(1))), "20 : INT NOT NULL");
    SHOWS(CALL("TRUNCATE", F(-2.55), I(1)), "-2.5 : DOUBLE NOT NULL");
    SHOWS(CALL("FLOOR", D("-2.5")), "-3 : DECIMAL(2, 0) NOT NULL");
    SHOWS(CALL("ABS", I(-2147483648)), "-2147483648 : INT NOT NULL");
}
END_TEST

START_TEST(nested_values) {
    struct expr *array = CALL("ARRAY", I(1), NIL(), D("2.50"));
    SHOWS(array, "[1.00, NULL, 2.50] : ARRAY<DECIMAL(12, 2)> NOT NULL");
    SHOWS(CALL("ITEM", array, I(3)), "2.50 : DECIMAL(12, 2)");
    SHOWS(CALL("ITEM", array, I(4)), "<NULL> : DECIMAL(12, 2)");
    SHOWS(CALL("ITEM", array, I(0)), "!the elements of an ARRAY are counted from 1, not 0");
    SHOWS(CALL("CARDINALITY", array), "3 : INT NOT NULL");
    SHOWS(CALL("ARRAY_CONTAINS", array, D("2.5")), "TRUE : BOOLEAN NOT NULL");
    struct expr *map = CALL("MAP", S("k"), I(1), S("l"), I(2));
    SHOWS(CALL("ITEM", map, S("l")), "2 : INT");
    SHOWS(CALL("ITEM", map, S("x")), "<NULL> : INT");
    struct expr *row = CALL("ROW", I(1), S("x"), CALL("ARRAY", S("a")));
    SHOWS(row, "(1, x, [a]) : ROW<`EXPR$0` INT NOT NULL, `EXPR$1` CHAR(1) NOT NULL, `EXPR$2` ARRAY<CHAR(1) NOT NULL> "
               "NOT NULL> NOT NULL");
    SHOWS(CALL("FIELD", row, S("EXPR$1")), "x : CHAR(1) NOT NULL");
    SHOWS(CALL("FIELD", row, S("nope")), "!the ROW has no field \"nope\"");
    SHOWS(CAST(row, TYPE_VARCHAR), "(1, x, [a]) : STRING NOT NULL");
    struct type bigint = tide__type_make(TYPE_BIGINT, true), target = tide__type_make(TYPE_ARRAY, true);
    struct type_child child = {NULL, &bigint};
    target.child_count = 1;
    target.children = &child;
    SHOWS(cast_to(CALL("ARRAY", S("7"), S("8")), false, &target), "[7, 8] : ARRAY<BIGINT> NOT NULL");
    SHOWS(cast_to(CALL("ARRAY", S("x")), false, &target), "!cannot cast 'x' to BIGINT");
}
END_TEST

START_TEST(json) {
    struct expr *doc = S("{\"a\": [1.50, \"x\\n\", null, {\"b c\": true}], \"a2\": 1, \"a2\": 2}");
    SHOWS(CALL("JSON_VALUE", doc, S("$.a[0]")), "1.50 : STRING");
    SHOWS(CALL("JSON_VALUE", doc, S("$.a[1]")), "x\n : STRING");
    SHOWS(CALL("JSON_VALUE", doc, S("$.a[-1]['b c']")), "true : STRING");
    SHOWS(CALL("JSON_VALUE", doc, S("$.a2")), "2 : STRING");
    SHOWS(CALL("JSON_VALUE", doc, S("$.a")), "<NULL> : STRING");
    SHOWS(CALL("JSON_QUERY", doc, S("$.a")), "[1.50,\"x\\n\",null,{\"b c\":true}] : STRING");
    SHOWS(CALL("JSON_QUERY", doc, S("$.a2")), "<NULL> : STRING");
    SHOWS(CALL("JSON_QUERY", doc, S("$.a2"), NIL(), S("UNCONDITIONAL")), "[2] : STRING");
    SHOWS(CALL("JSON_EXISTS", doc, S("$.z")), "FALSE : BOOLEAN");
    struct expr *dflt = CALL("JSON_VALUE", doc, S("lax $.z"), NIL(), S("DEFAULT"), S("d"), S("NULL"), NIL());
    SHOWS(dflt, "d : STRING");
    struct expr *number = literal((struct value){.is_null = true}, plain(TYPE_INT));
    SHOWS(CALL("JSON_VALUE", doc, S("$.a2"), number), "2 : INT");
    SHOWS(CALL("JSON_VALUE", doc, S("$.a[1]"), number),
          "!JSON_VALUE of path '$.a[1]' finds a value of another type than INT");
    struct expr *strict = CALL("JSON_VALUE", doc, S("$.z"), NIL(), S("NULL"), NIL(), S("ERROR"), NIL());
    SHOWS(strict, "!JSON_VALUE of path '$.z' fails: the path finds nothing");
    SHOWS(CALL("IS JSON", S("[1,]"), S("VALUE")), "FALSE : BOOLEAN NOT NULL");
    SHOWS(CALL("IS JSON", S("\"\\u00e4\""), S("SCALAR")), "TRUE : BOOLEAN NOT NULL");
    SHOWS(CALL("IS JSON", NIL(), S("VALUE")), "FALSE : BOOLEAN NOT NULL");
    struct expr *none = literal((struct value){.is_null = true}, plain(TYPE_INT));
    struct expr *inner = CALL("JSON_ARRAY", S("ABSENT"), I(1), none);
    SHOWS(CALL("JSON_OBJECT", S("NULL"), S("k"), inner, S("n"), none), "{\"k\":[1],\"n\":null} : STRING NOT NULL");
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("text");
    tcase_add_checked_fixture(tests, expr_setup, expr_teardown);
    tcase_add_test(tests, strings);
    tcase_add_test(tests, patterns);
    tcase_add_test(tests, rounding);
    tcase_add_test(tests, nested_values);
    tcase_add_test(tests, json);
    return run_suite(tests);
}
