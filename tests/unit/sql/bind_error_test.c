// Scripts and what is wrong with them: phase, place, message, hint.
#include "bind_tests.h"
#include "bind_text.h"

#include <check.h>
#include <string.h>

static const struct error_case {
    const char *script, *error;
} cases[] = {
    // clang-format off
    {"SELECT nope FROM t",
     "ERROR validate: 2:8 column \"nope\" not found\n"},
    {"SELECT K FROM t",
     "ERROR validate: 2:8 column \"K\" not found | did you mean \"k\"?\n"},
    {"SELECT x.id FROM t",
     "ERROR validate: 2:8 table \"x\" not found in this query\n"},
    {"SELECT id FROM T",
     "ERROR validate: 2:16 table \"T\" does not exist | did you mean \"t\"?\n"},
    {"SELECT id FROM t AS a, t AS b",
     "ERROR validate: 2:8 column \"id\" is ambiguous | several columns have this name: rename one with AS, or qualify it\n"},
    {"SELECT FOOBAR(id) FROM t",
     "ERROR validate: 2:8 there is no function FOOBAR\n"},
    {"SELECT id FROM t WHERE v",
     "ERROR validate: 2:24 the WHERE clause must be a condition, but this is INT\n"},
    {"SELECT id FROM t WHERE COUNT(*) > 1",
     "ERROR validate: 2:24 an aggregate is not allowed in the WHERE clause | use HAVING\n"},
    {"SELECT id FROM t GROUP BY k",
     "ERROR validate: 2:8 column \"id\" is neither in GROUP BY nor in an aggregate | add it to GROUP BY, or aggregate it: MAX(id)\n"},
    {"SELECT k FROM t GROUP BY k HAVING v > 1",
     "ERROR validate: 2:35 column \"v\" is neither in GROUP BY nor in an aggregate | add it to GROUP BY, or aggregate it: MAX(v)\n"},
    {"SELECT SUM(MAX(v)) FROM t",
     "ERROR validate: 2:12 aggregates cannot be nested\n"},
    {"SELECT COUNT(*) FROM t GROUP BY COUNT(*)",
     "ERROR validate: 2:33 an aggregate is not allowed in the GROUP BY clause\n"},
    {"SELECT COUNT(id, v) FROM t",
     "ERROR plan: 2:8 COUNT counts one column\n"},
    {"SELECT COUNT() FROM t",
     "ERROR validate: 2:8 COUNT takes 1 argument, not 0 | write COUNT(*) to count rows\n"},
    {"SELECT CONT(*) FROM t",
     "ERROR validate: 2:8 CONT takes no *, only COUNT does | did you mean COUNT(*)?\n"},
    {"SELECT id FROM t WHERE id == 1",
     "ERROR parse: 2:27 \"==\" is not Flink SQL | write = for equal\n"},
    {"SELECT INTERVAL '1 MINUTE'",
     "ERROR parse: 2:17 the unit of an interval stands behind the string | write INTERVAL '1' MINUTE\n"},
    {"CREATE TABLE x (a DATETIME)",
     "ERROR validate: 2:19 unknown type \"DATETIME\" | did you mean TIMESTAMP(3)?\n"},
    {"CREATE TABLE x (a INT) WITH (connector = 'print')",
     "ERROR parse: 2:30 keys of options are strings | write it in quotes: 'connector' = '...'\n"},
    {"FOO BAR",
     "ERROR parse: 2:1 unexpected \"FOO\", expected a statement\n"},
    {"SELECT COUNT(NULL) FROM t",
     "ERROR validate: 2:14 a NULL of no type cannot be aggregated | write CAST(NULL AS INT)\n"},
    {"SELECT LISTAGG(k, g) FROM t",
     "ERROR validate: 2:19 the separator of LISTAGG must be a string literal\n"},
    {"SELECT SUM(k) FROM t",
     "ERROR validate: 2:8 SUM cannot be applied to STRING | SUM takes a number\n"},
    {"SELECT k = 1 FROM t",
     "ERROR validate: 2:8 cannot compare STRING with INT by = | strings and numbers are not converted silently: write CAST(... AS ...)\n"},
    {"SELECT DATE '2022-13-01'",
     "ERROR validate: 2:8 '2022-13-01' is no DATE literal | write it as '2024-01-31'\n"},
    {"SELECT TIMESTAMP '2022-01-01T00:00:00'",
     "ERROR validate: 2:8 '2022-01-01T00:00:00' is no TIMESTAMP literal | write it as '2024-01-31 12:00:00' (a blank between date and time, seconds needed)\n"},
    {"SELECT 9223372036854775808",
     "ERROR validate: 2:8 number 9223372036854775808 is out of range\n"},
    {"SELECT 1E400",
     "ERROR validate: 2:8 number 1E400 is out of range\n"},
    {"SELECT INTERVAL 'x' MINUTE",
     "ERROR validate: 2:17 'x' is no interval of MINUTE | write INTERVAL '10' MINUTE, INTERVAL '1:30' HOUR TO MINUTE\n"},
    {"SELECT INTERVAL '100' SECOND",
     "ERROR validate: 2:17 100 has more digits than SECOND(2) takes | write INTERVAL '100' SECOND(3)\n"},
    {"SELECT INTERVAL '1:60' HOUR TO MINUTE",
     "ERROR validate: 2:17 '1:60' is no interval of HOUR TO MINUTE | write INTERVAL '10' MINUTE, INTERVAL '1:30' HOUR TO MINUTE\n"},
    {"SELECT id FROM (SELECT id, id FROM t)",
     "ERROR validate: 2:8 column \"id\" is ambiguous | several columns have this name: rename one with AS, or qualify it\n"},
    {"SELECT id FROM t UNION ALL SELECT id, k FROM t",
     "ERROR validate: 2:18 the sides of UNION have 1 and 2 columns\n"},
    {"SELECT id FROM t UNION ALL SELECT k FROM t",
     "ERROR validate: 2:18 column 1 is INT on one side of UNION, STRING on the other | cast one of them\n"},
    {"VALUES (1), (1, 2)",
     "ERROR validate: 2:13 this row has 2 values, the first one 1\n"},
    {"VALUES (1), ('a')",
     "ERROR validate: 2:8 the values of column 1 have no common type\n"},
    {"SELECT * FROM TUMBLE(t, DESCRIPTOR(ts), INTERVAL '1' MINUTE)",
     "ERROR validate: 2:22 column \"t\" not found | a table as an argument needs the word TABLE: TABLE t\n"},
    {"SELECT * FROM TUMBLE(TABLE t, ts, INTERVAL '1' MINUTE)",
     "ERROR validate: 2:31 column \"ts\" not found | write DESCRIPTOR(ts)\n"},
    {"SELECT * FROM TUMBLE(TABLE t, DESCRIPTOR(tss), INTERVAL '1' MINUTE)",
     "ERROR validate: 2:42 column \"tss\" not found | did you mean \"ts\"?\n"},
    {"SELECT * FROM TUMBLE(TABLE t, DESCRIPTOR(v), INTERVAL '1' MINUTE)",
     "ERROR validate: 2:42 the time column of TUMBLE must be TIMESTAMP or TIMESTAMP_LTZ, but \"v\" is INT\n"},
    {"SELECT * FROM TUMBLE(TABLE t, DESCRIPTOR(ts))",
     "ERROR validate: 2:15 TUMBLE takes 3 or 4 arguments, not 2 | TUMBLE(TABLE t, DESCRIPTOR(ts), size [, offset])\n"},
    {"SELECT * FROM TUMBLE(TABLE t, DESCRIPTOR(ts), '1 MINUTE')",
     "ERROR validate: 2:47 expected an interval such as INTERVAL '10' MINUTE, got CHAR(8) NOT NULL | TUMBLE(TABLE t, DESCRIPTOR(ts), size [, offset])\n"},
    {"SELECT * FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MONTH)",
     "ERROR plan: 2:47 windows are measured in SECOND, MINUTE, HOUR, DAY or WEEK, not in MONTH or YEAR\n"},
    {"SELECT * FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '0' MINUTE)",
     "ERROR validate: 2:47 the size of TUMBLE must be positive, not 0 ms\n"},
    {"SELECT * FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '2' MINUTE)",
     "ERROR validate: 2:68 the offset of TUMBLE (2 min) must be smaller than its size (1 min)\n"},
    {"SELECT * FROM TUMBLE(TABLE t, DESCRIPTOR(ts), '10' MINUTES)",
     "ERROR parse: 2:52 unexpected \"MINUTES\", expected \")\", \",\" or ORDER BY | an interval is written INTERVAL '10' MINUTES\n"},
    {"SELECT * FROM TUMBLE(TABLE t, DESCRIPTOR(k), INTERVAL '1' MINUTE)",
     "ERROR validate: 2:42 the time column of TUMBLE must be TIMESTAMP or TIMESTAMP_LTZ, but \"k\" is STRING | if it holds times, add to the table: ts AS TO_TIMESTAMP(k), WATERMARK FOR ts AS ts\n"},
    {"SELECT * FROM CUMULATE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' MINUTE, INTERVAL '4' MINUTE)",
     "ERROR validate: 2:71 the size of CUMULATE (4 min) must be a multiple of its step (10 min) | the step comes first: CUMULATE(TABLE t, DESCRIPTOR(ts), step, size [, offset])\n"},
    {"SELECT window_start, window_end FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE) GROUP BY window_start",
     "ERROR validate: 2:22 column \"window_end\" is neither in GROUP BY nor in an aggregate | add it to GROUP BY: results of a window need GROUP BY window_start, window_end\n"},
    {"SELECT COUNT(*) FROM t GROUP BY window_start",
     "ERROR validate: 2:33 column \"window_start\" not found | it comes from a window function: FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' MINUTE)\n"},
    {"SELECT k, COUNT(*) AS c FROM t WHERE c > 3 GROUP BY k",
     "ERROR validate: 2:38 column \"c\" not found | it is an alias of this SELECT, which the WHERE clause does not know: filter in an outer query, aggregates in HAVING, ranks in QUALIFY\n"},
    {"SELECT k AS key0, COUNT(*) FROM t GROUP BY key0",
     "ERROR validate: 2:44 column \"key0\" not found | it is an alias of this SELECT, which the GROUP BY clause does not know: repeat what stands before AS\n"},
    {"SELECT SUM(v) OVER (ORDER BY ts DESC) FROM t",
     "ERROR plan: 2:8 SUM(v) OVER (ORDER BY ts DESC): on a stream it can be ordered in ascending order only\n"},
    {"SELECT * FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE + INTERVAL '1' MINUTE)",
     "ERROR plan: 2:47 sizes and offsets of windows must be interval literals | write INTERVAL '10' MINUTE, INTERVAL '-3' MINUTE\n"},
    {"SELECT * FROM TUMBLE(TABLE t PARTITION BY k, DESCRIPTOR(ts), INTERVAL '1' MINUTE)",
     "ERROR validate: 2:43 TUMBLE takes no PARTITION BY | only SESSION does; put the keys into GROUP BY\n"},
    {"SELECT * FROM SESSION(TABLE t PARTITION BY k, g, DESCRIPTOR(ts), INTERVAL '1' MINUTE)",
     "ERROR validate: 2:47 column \"g\" not found | several keys need parentheses: PARTITION BY (a, b)\n"},
    {"SELECT * FROM HOP(SIZE => INTERVAL '1' MINUTE, DATA => TABLE t, SLIDE => INTERVAL '1' "
     "MINUTE, TIMECOL => DESCRIPTOR(ts))",
     "ERROR validate: 2:19 argument SIZE stands in the wrong place: arguments of HOP keep their order also when they are named | HOP(TABLE t, DESCRIPTOR(ts), slide, size [, offset])\n"},
    {"SELECT * FROM SLIDE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE)",
     "ERROR validate: 2:15 unknown table function \"SLIDE\" | the window functions are TUMBLE, HOP, CUMULATE and SESSION\n"},
    {"SELECT * FROM CUMULATE(TABLE t, DESCRIPTOR(ts), INTERVAL '4' MINUTE, INTERVAL '10' "
     "MINUTE)",
     "ERROR validate: 2:70 the size of CUMULATE (10 min) must be a multiple of its step (4 min) | sizes that fit are 8 min and 12 min\n"},
    {"SELECT COUNT(*) FROM HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '4' MINUTE, INTERVAL '10' "
     "MINUTE) GROUP BY window_start, window_end",
     "ERROR plan: 2:22 an aggregation over HOP needs a size (10 min) that is a multiple of the slide (4 min) | sizes that fit are 8 min and 12 min\n"},
    {"SELECT FIRST_VALUE(k) FROM HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '5' MINUTE, INTERVAL "
     "'10' MINUTE) GROUP BY window_start, window_end",
     "ERROR validate: 2:8 FIRST_VALUE cannot be computed over HOP: parts of a window cannot be merged | use it over TUMBLE, or MIN and MAX instead\n"},
    {"SELECT SUM(DISTINCT v) FROM HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '5' MINUTE, INTERVAL "
     "'10' MINUTE) GROUP BY window_start, window_end",
     "ERROR plan: 2:8 SUM(DISTINCT) is not supported over HOP\n"},
    {"SELECT * FROM TUMBLE((SELECT k, MAX(ts) AS ts FROM t GROUP BY k), DESCRIPTOR(ts), "
     "INTERVAL '1' MINUTE)",
     "ERROR validate: 2:78 column \"ts\" is no time attribute, but a plain TIMESTAMP(3) | give its table a WATERMARK FOR ts, and select the column as it is; above a window use window_time\n"},
    {"SELECT * FROM TUMBLE((SELECT ts + INTERVAL '1' HOUR AS rt FROM t), DESCRIPTOR(rt), "
     "INTERVAL '1' MINUTE)",
     "ERROR validate: 2:79 column \"rt\" is no time attribute, but a plain TIMESTAMP(3) | give its table a WATERMARK FOR rt, and select the column as it is; above a window use window_time\n"},
    {"SELECT TUMBLE_START(ts, INTERVAL '2' MINUTE) FROM t GROUP BY TUMBLE(ts, INTERVAL '1' "
     "MINUTE)",
     "ERROR validate: 2:8 no TUMBLE with these arguments in GROUP BY | TUMBLE_START must repeat the arguments of GROUP BY TUMBLE\n"},
    {"SELECT TUMBLE_START(ts, INTERVAL '2' MINUTE) FROM t",
     "ERROR plan: 2:8 TUMBLE_START needs GROUP BY TUMBLE(..) | group by TUMBLE with the same arguments\n"},
    {"SELECT COUNT(*) FROM t GROUP BY TUMBLE(v, INTERVAL '1' MINUTE)",
     "ERROR validate: 2:40 a group window is over TIMESTAMP or TIMESTAMP_LTZ, not INT\n"},
    {"SELECT ROW_NUMBER() FROM t",
     "ERROR plan: 2:8 ROW_NUMBER needs OVER (..) | write ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY ..)\n"},
    {"SELECT ROW_NUMBER() OVER (PARTITION BY k) FROM t",
     "ERROR validate: 2:8 ROW_NUMBER needs ORDER BY over a column, not over a constant | say which rows rank first: ORDER BY price DESC\n"},
    {"SELECT ROW_NUMBER() OVER (ORDER BY v DESC) FROM t",
     "ERROR plan: 2:8 ROW_NUMBER() is no Top-N here: no constant bounds its rank | filter its rank by a constant in an outer query or in QUALIFY: WHERE rn <= 3 (or =, <, BETWEEN)\n"},
    {"SELECT * FROM (SELECT *, RANK() OVER (PARTITION BY window_start, window_end ORDER BY v) "
     "AS rn FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' MINUTE)) WHERE rn <= 3",
     "ERROR plan: 2:26 RANK() is not supported in a Window Top-N, only ROW_NUMBER() is | use ROW_NUMBER(); ties keep arrival order\n"},
    {"SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER "
     "BY v) AS rn FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' MINUTE)) WHERE rn >= 3",
     "ERROR plan: 2:167 a Top-N needs an upper bound of its rank | add AND rn <= 10\n"},
    {"SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER "
     "BY v) AS rn FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' MINUTE)) WHERE rn <= 0",
     "ERROR plan: 2:167 the upper bound of a rank must be at least 1, not 0\n"},
    {"SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER "
     "BY v) AS rn FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' MINUTE)) WHERE rn <= v",
     "ERROR plan: 2:167 the bound of a rank must be a constant | write rn <= 3\n"},
    {"SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER "
     "BY v DESC) AS rn FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' MINUTE)) WHERE rn = 1 OR "
     "rn = 3",
     "ERROR plan: 2:26 ROW_NUMBER() is no Top-N here: no constant bounds its rank | filter its rank by a constant in an outer query or in QUALIFY: WHERE rn <= 3 (or =, <, BETWEEN)\n"},
    {"SELECT id, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY v) AS rn "
     "FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' MINUTE) WHERE rn <= 3",
     "ERROR validate: 2:152 column \"rn\" not found | it is an alias of this SELECT, which the WHERE clause does not know: filter in an outer query, aggregates in HAVING, ranks in QUALIFY\n"},
    {"SELECT ROW_NUMBER() OVER (ORDER BY v), ROW_NUMBER() OVER (ORDER BY id) FROM t",
     "ERROR plan: 2:40 all OVER calls of a query must have the same window | compute the second one in an outer query\n"},
    {"CREATE TABLE t (x INT) WITH ('connector' = 'print')",
     "ERROR validate: 2:14 table or view \"t\" exists already | use another name, DROP it first, or CREATE .. IF NOT EXISTS\n"},
    {"CREATE TABLE x (a INT, a INT) WITH ('connector' = 'print')",
     "ERROR validate: 2:24 column \"a\" is defined twice\n"},
    {"CREATE TABLE x (a STRING, WATERMARK FOR a AS a) WITH ('connector' = 'print')",
     "ERROR validate: 2:41 the time column of a watermark must be TIMESTAMP(p) or TIMESTAMP_LTZ(p) with p from 0 to 3, not STRING | add a computed column: ts AS TO_TIMESTAMP(..)\n"},
    {"CREATE TABLE x (a TIMESTAMP(6), WATERMARK FOR a AS a) WITH ('connector' = 'print')",
     "ERROR validate: 2:47 the time column of a watermark must be TIMESTAMP(p) or TIMESTAMP_LTZ(p) with p from 0 to 3, not TIMESTAMP(6) | declare it as TIMESTAMP(3)\n"},
    {"CREATE TABLE x (a TIMESTAMP(3), WATERMARK FOR b AS b) WITH ('connector' = 'print')",
     "ERROR validate: 2:47 column \"b\" of the watermark is not in table \"x\"\n"},
    {"CREATE TABLE x (a INT, b AS c + 1, c AS a) WITH ('connector' = 'print')",
     "ERROR validate: 2:29 column \"c\" not found\n"},
    {"CREATE TABLE x (a INT, PRIMARY KEY (a)) WITH ('connector' = 'print')",
     "ERROR validate: 2:24 a primary key cannot be enforced: the data lies elsewhere | write PRIMARY KEY (..) NOT ENFORCED\n"},
    {"CREATE TABLE x (a INT) WITH ('format' = 'csv'); SELECT * FROM x",
     "ERROR validate: 2:63 table \"x\" has no option 'connector' | add WITH ('connector' = 'filesystem', 'path' = '..', 'format' = 'csv')\n"},
    {"CREATE VIEW x AS SELECT id, id FROM t",
     "ERROR validate: 2:18 the view has two columns called \"id\" | rename one with AS\n"},
    {"INSERT INTO nope SELECT id FROM t",
     "ERROR validate: 2:13 table \"nope\" does not exist | create it first: CREATE TABLE ... WITH ('connector' = ...)\n"},
    {"CREATE TABLE s (a STRING, b INT) WITH ('connector' = 'filesystem'); INSERT INTO s SELECT "
     "id, v FROM t",
     "ERROR validate: 2:83 column 1 of the query (\"id\" INT) does not fit column \"a\" STRING of \"s\" | CAST it in the query\n"},
    {"CREATE TABLE s (a STRING, n BIGINT) WITH ('connector' = 'filesystem'); INSERT INTO s "
     "SELECT k, COUNT(*) FROM t GROUP BY k",
     "ERROR plan: 2:72 the query updates its results, but table \"s\" takes new rows only | aggregate by window_start and window_end to get final results, or write into a 'print' table\n"},
    {"CREATE TABLE s (a INT) WITH ('connector' = 'print'); INSERT INTO s SELECT id, v FROM t",
     "ERROR validate: 2:68 the query has 2 columns, \"s\" takes 1\n"},
    {"CREATE TABLE s (a INT) WITH ('connector' = 'print'); INSERT INTO s (b) SELECT id FROM t",
     "ERROR validate: 2:69 table \"s\" has no column \"b\"\n"},
    {"DROP TABLE nope",
     "ERROR validate: 2:12 table \"nope\" does not exist\n"},
    {"DROP VIEW t",
     "ERROR validate: 2:11 \"t\" is a table: use DROP TABLE\n"},
    {"SET 'execution.runtime-mode' = 'fast'",
     "ERROR validate: 2:32 \"fast\" is no value for \"execution.runtime-mode\" | expected streaming or batch\n"},
    {"SET 'table.local-time-zone' = 'Mars'",
     "ERROR validate: 2:31 \"Mars\" is no value for \"table.local-time-zone\" | expected a time zone: UTC, GMT+08:00 or a name such as Asia/Shanghai\n"},
    {"SET 'table.exec.state.ttl' = '1 x'",
     "ERROR validate: 2:30 \"1 x\" is no value for \"table.exec.state.ttl\" | expected a duration: 200 ms, 10 s, 1 min\n"},
    {"SET 'table.exec.state.ttl' = '1 h'; SELECT k, COUNT(*) FROM t GROUP BY k",
     "ERROR plan: 2:63 \"table.exec.state.ttl\" is not supported for this group-aggregate: its state is kept | RESET 'table.exec.state.ttl' before it; windows are cleaned up by the watermark\n"},
    {"SET 'table.exec.stat.ttl' = '1 h'",
     "WARNING 2:5 unknown option \"table.exec.stat.ttl\": it has no effect | did you mean \"table.exec.state.ttl\"?\n"},
    {"DESCRIBE nope",
     "ERROR validate: 2:10 table \"nope\" does not exist\n"},
    {"SELECT id FROM t JOIN t AS u ON t.id = u.id",
     "ERROR validate: 2:8 column \"id\" is ambiguous | several columns have this name: rename one with AS, or qualify it\n"},
    {"SELECT id FROM t ORDER BY v",
     "ERROR plan: 2:18 a stream can be sorted by its time attribute only, ascending | add a LIMIT for the first rows, or use batch mode: SET 'execution.runtime-mode' = 'batch'\n"},
    {"SELECT id FROM t ORDER BY 3",
     "ERROR validate: 2:27 ORDER BY 3: the query has 1 column\n"},
    {"SELECT id FROM t OFFSET 3",
     "ERROR plan: 2:25 OFFSET needs a LIMIT | add LIMIT or FETCH NEXT n ROWS ONLY\n"},
    {"SELECT id FROM t WHERE id IN (SELECT id, v FROM t)",
     "ERROR validate: 2:24 IN compares 1 value with 2 columns\n"},
    {"SELECT id FROM t EXCEPT SELECT k FROM t",
     "ERROR validate: 2:18 column 1 is INT on one side of EXCEPT, STRING on the other | cast one of them\n"},
    {"SELECT SUM(v) OVER (ORDER BY ts ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING) FROM t",
     "ERROR plan: 2:33 frames that do not end at CURRENT ROW are not supported on a stream | write ROWS BETWEEN n PRECEDING AND CURRENT ROW\n"},
    {"-- uid: Not.one\nSELECT id FROM t",
     "ERROR validate: 2:1 \"Not.one\" is no uid | a uid is made of letters, digits, - and _\n"},
    // clang-format on
};

START_TEST(mistakes_are_shown_at_their_place) {
    struct strbuf out = {0};
    bind_text(cases[_i].script, false, &out);
    const char *error = out.data == NULL ? "" : out.data;
    ck_assert_msg(strcmp(error, cases[_i].error) == 0, "%s\n--- gives\n%s--- should give\n%s", cases[_i].script, error,
                  cases[_i].error);
    tide__strbuf_deinit(&out);
}
END_TEST

START_TEST(strict_windows_refuse_what_forgets_a_window_column) {
    static const char *const scripts[] = {
        "SELECT COUNT(*) FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE) GROUP BY k",
        "SELECT COUNT(*) FROM SESSION(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE) GROUP BY window_start, window_end, "
        "k",
        "SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_end ORDER BY v) AS rn FROM TUMBLE(TABLE t, "
        "DESCRIPTOR(ts), INTERVAL '1' MINUTE)) WHERE rn <= 3",
    };
    for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
        struct strbuf out = {0};
        bind_text(scripts[i], true, &out);
        ck_assert_msg(strncmp(out.data, "ERROR plan: 2:", 14) == 0, "%s\n%s", scripts[i], out.data);
        tide__strbuf_deinit(&out);
    }
}
END_TEST

Suite *make_bind_error_suite(void) {
    Suite *suite = suite_create("bind_error");
    TCase *tcase = tcase_create("errors");
    tcase_add_loop_test(tcase, mistakes_are_shown_at_their_place, 0, (int)(sizeof(cases) / sizeof(cases[0])));
    tcase_add_test(tcase, strict_windows_refuse_what_forgets_a_window_column);
    suite_add_tcase(suite, tcase);
    return suite;
}
