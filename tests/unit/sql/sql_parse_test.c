// The parser's rules as tables: text and the tree it gives, text and the error it gives.
#include "base/alloc.h"
#include "sql/keywords.h"
#include "sql/parse.h"
#include "sql_parse_dump.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

struct pair {
    const char *text, *tree;
};

struct bad {
    const char *text;
    tide_status status;
    uint32_t line, column;
    const char *message, *hint;  // parts of them
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void check_exprs(const struct pair *pairs, size_t count) {
    for (size_t i = 0; i < count; i++) {
        struct arena arena;
        struct strbuf out = {0};
        struct ast_expr *expr = NULL;
        tide_error err;
        tide__arena_init(&arena);
        tide__error_clear(&err);
        tide_status status = tide__parse_expr(pairs[i].text, strlen(pairs[i].text), &arena, &expr, &err);
        ck_assert_msg(status == TIDE_OK, "%s: %u: %s", pairs[i].text, err.column, err.message);
        dump_expr(&out, expr);
        ck_assert_msg(strcmp(out.data, pairs[i].tree) == 0, "%s\n  gives    %s\n  expected %s", pairs[i].text, out.data,
                      pairs[i].tree);
        tide__strbuf_deinit(&out);
        tide__arena_deinit(&arena);
    }
}

// All statements of a script, joined by " ; ".
static tide_status parse_script(const char *text, size_t len, struct strbuf *out, tide_error *err) {
    struct parser *parser = tide__parser_new(text, len);
    struct arena arena;
    tide_status status;
    struct statement *statement;
    tide__arena_init(&arena);
    tide__error_clear(err);
    for (;;) {
        status = tide__parse_next(parser, &arena, &statement, err);
        if (status != TIDE_OK || !statement) break;
        if (out && out->len > 0) tide__strbuf_append_c(out, " ; ");
        if (out) dump_statement(out, statement);
    }
    tide__arena_deinit(&arena);
    tide__parser_free(parser);
    return status;
}

static void check_scripts(const struct pair *pairs, size_t count) {
    for (size_t i = 0; i < count; i++) {
        struct strbuf out = {0};
        tide_error err;
        tide_status status = parse_script(pairs[i].text, strlen(pairs[i].text), &out, &err);
        ck_assert_msg(status == TIDE_OK, "%s: %u:%u: %s", pairs[i].text, err.line, err.column, err.message);
        ck_assert_msg(strcmp(out.data ? out.data : "", pairs[i].tree) == 0, "%s\n  gives    %s\n  expected %s",
                      pairs[i].text, out.data, pairs[i].tree);
        tide__strbuf_deinit(&out);
    }
}

static void check_errors(const struct bad *bads, size_t count) {
    for (size_t i = 0; i < count; i++) {
        tide_error err;
        tide_status status = parse_script(bads[i].text, strlen(bads[i].text), NULL, &err);
        ck_assert_msg(status == bads[i].status, "%s: status %d: %s", bads[i].text, (int)status, err.message);
        ck_assert_msg(err.line == bads[i].line && err.column == bads[i].column, "%s: at %u:%u: %s", bads[i].text,
                      err.line, err.column, err.message);
        ck_assert_msg(strstr(err.message, bads[i].message), "%s: message: %s", bads[i].text, err.message);
        ck_assert_msg(strstr(err.hint, bads[i].hint), "%s: hint: %s", bads[i].text, err.hint);
        ck_assert_msg(bads[i].hint[0] || !err.hint[0], "%s: hint: %s", bads[i].text, err.hint);
    }
}

START_TEST(operators_bind_as_in_calcite) {
    static const struct pair pairs[] = {
        {"a + b * c", "(+ a (* b c))"},
        {"a - b - c", "(- (- a b) c)"},
        {"a || b + c", "(+ (|| a b) c)"},
        {"a % 2 = 0", "(= (% a 2) 0)"},
        {"-a + +b", "(+ (- a) (+ b))"},
        {"- a * b", "(* (- a) b)"},
        {"NOT a = b", "(not (= a b))"},
        {"NOT a AND b", "(and (not a) b)"},
        {"a AND b AND c OR d", "(or (and a b c) d)"},
        {"a OR b AND c OR d", "(or a (and b c) d)"},
        {"a = b IS NULL", "(is-null (= a b))"},
        {"NOT a IS NOT NULL", "(not (not-is-null a))"},
        {"a IS NOT TRUE OR a IS UNKNOWN", "(or (not-is-true a) (is-unknown a))"},
        {"a IS DISTINCT FROM b + 1 AND c", "(and (distinct-from a (+ b 1)) c)"},
        {"a IS NOT DISTINCT FROM NULL", "(not-distinct-from a NULL)"},
        {"a BETWEEN 1 AND 2 AND b", "(and (between a 1 2) b)"},
        {"a NOT BETWEEN SYMMETRIC 1 + 1 AND 2", "(not-between-symmetric a (+ 1 1) 2)"},
        {"a IN (1, 2) = b", "(= (in a 1 2) b)"},
        {"a NOT IN (1)", "(not-in a 1)"},
        {"a LIKE 'x%' ESCAPE '!' AND b", "(and (like a 'x%' '!') b)"},
        {"a NOT SIMILAR TO 'x'", "(not-similar a 'x')"},
        {"a = -1", "(= a (- 1))"},
        {"a <> b", "(<> a b)"},
        {"a < ANY (1, 2)", "(any op13 a 1 2)"},
        {"(a, b) OVERLAPS (c, d)", "(overlaps (row a b) (row c d))"},
        {"(a + b) * c", "(* (+ a b) c)"},
        {"a IS JSON OBJECT", "(is-json-object a)"},
        {"(a - b) DAY", "(- a b day)"},
    };
    check_exprs(pairs, COUNT(pairs));
}
END_TEST

START_TEST(literals_keep_their_text) {
    static const struct pair pairs[] = {
        {"123456789012345678901234567890", "123456789012345678901234567890"},
        {"1.50", "1.50"},
        {".5", ".5"},
        {"1e0", "1e0"},
        {"1.5E-10", "1.5E-10"},
        {"'it''s'", "'it's'"},
        {"''", "''"},
        {"'a'\n'b'", "'ab'"},
        {"X'4142'", "x'AB'"},
        {"U&'\\00e9\\\\'", "'\xC3\xA9\\'"},
        {"U&'!00e9!!' UESCAPE '!'", "'\xC3\xA9!'"},
        {"U&'\\D83D\\DE00'", "'\xF0\x9F\x98\x80'"},
        {"E'a\\tb\\'c'", "'a\tb'c'"},
        {"_UTF16'x'", "'x'"},
        {"true", "true"},
        {"UNKNOWN", "UNKNOWN"},
        {"DATE '2020-01-01'", "date'2020-01-01'"},
        {"TIME '10:00:00'", "time'10:00:00'"},
        {"timestamp '2020-01-01 00:00:00'", "timestamp'2020-01-01 00:00:00'"},
        {"INTERVAL '10' MINUTE", "interval'10' minute"},
        {"INTERVAL '10' MINUTES", "interval'10' minute"},
        {"INTERVAL -'1' DAY", "interval'-1' day"},
        {"INTERVAL '100' SECOND(3)", "interval'100' second(3)"},
        {"INTERVAL '1.5' SECOND(2, 3)", "interval'1.5' second(2)(,3)"},
        {"INTERVAL '1 10' DAY(3) TO SECOND(6)", "interval'1 10' day(3)-second(,6)"},
        {"INTERVAL '1-2' YEAR TO MONTH", "interval'1-2' year-month"},
        {"INTERVAL '2' WEEK", "interval'2' week"},
        {"INTERVAL 5 MINUTE", "(interval 5 minute)"},
        {"INTERVAL (a + 1) DAY", "(interval (+ a 1) day)"},
        {"INTERVAL a.b DAY", "(interval a.b day)"},
    };
    check_exprs(pairs, COUNT(pairs));
}
END_TEST

START_TEST(primaries_and_calls) {
    static const struct pair pairs[] = {
        {"t.a.b", "t.a.b"},
        {"`from`.`a``b`", "from.a`b"},
        {"a[1].b.c[2]", "(element (field c (field b (element a 1))) 2)"},
        {"f(a).b", "(field b f( a))"},
        {"CASE WHEN a THEN 1 ELSE 2 END", "(case a 1 2)"},
        {"CASE x WHEN 1, 2 THEN 'a' END", "(case-of x 1 'a' 2 'a')"},
        {"CAST(a AS DECIMAL)", "(cast a DECIMAL(10, 0))"},
        {"TRY_CAST(a AS VARCHAR)", "(try-cast a STRING)"},
        {"CAST(a AS DECIMAL(39, 2))", "(cast a DECIMAL(38, 2))"},
        {"CAST(a AS TIMESTAMP(10))", "(cast a TIMESTAMP(9))"},
        {"CAST(a AS INTERVAL DAY TO SECOND)", "(cast a INTERVAL SECOND(3))"},
        {"(a)", "a"},
        {"(a, b)", "(row a b)"},
        {"ROW(a)", "(row a)"},
        {"ARRAY[1, 2]", "(array 1 2)"},
        {"ARRAY[]", "(array)"},
        {"MAP['k', 1]", "(map 'k' 1)"},
        {"map(a)", "map( a)"},
        {"COUNT(*)", "COUNT( *)"},
        {"count(DISTINCT a)", "count(distinct a)"},
        {"SUM(ALL a) FILTER (WHERE b > 1)", "SUM( a (filter (> b 1)))"},
        {"LISTAGG(a, ',') WITHIN GROUP (ORDER BY b DESC)", "LISTAGG( a ',' (order b desc))"},
        {"ROW_NUMBER() OVER (PARTITION BY a, b ORDER BY c DESC NULLS LAST, d)",
         "ROW_NUMBER( (over (by a b) (order c desc nulls-last d)))"},
        {"SUM(a) OVER (ORDER BY t RANGE BETWEEN INTERVAL '1' DAY PRECEDING AND CURRENT ROW)",
         "SUM( a (over (order t) (range preceding current) interval'1' day))"},
        {"SUM(a) OVER (ROWS 2 PRECEDING)", "SUM( a (over (rows preceding current) 2))"},
        {"SUM(a) OVER w", "SUM( a (over w))"},
        {"EXTRACT(year FROM ts)", "EXTRACT( :YEAR ts)"},
        {"FLOOR(ts TO hour)", "FLOOR( ts :HOUR)"},
        {"CEILING(a)", "CEILING( a)"},
        {"TRIM(a)", "TRIM( :BOTH ' ' a)"},
        {"TRIM(LEADING 'x' FROM a)", "TRIM( :LEADING 'x' a)"},
        {"TRIM(TRAILING FROM a)", "TRIM( :TRAILING ' ' a)"},
        {"TRIM('x' FROM a)", "TRIM( :BOTH 'x' a)"},
        {"SUBSTRING(a FROM 2 FOR 3)", "SUBSTRING( a 2 3)"},
        {"SUBSTRING(a, 2)", "SUBSTRING( a 2)"},
        {"POSITION('x' || 'y' IN a)", "POSITION( (|| 'x' 'y') a)"},
        {"OVERLAY(a PLACING b FROM 1 FOR 2)", "OVERLAY( a b 1 2)"},
        {"TIMESTAMPADD(DAY, 1, ts)", "TIMESTAMPADD( :DAY 1 ts)"},
        {"TIMESTAMPDIFF(SQL_TSI_HOUR, a, b)", "TIMESTAMPDIFF( :HOUR a b)"},
        {"CURRENT_DATE", "CURRENT_DATE(niladic)"},
        {"LEFT(a, 1) || YEAR(d) || DATE(x)", "(|| (|| LEFT( a 1) YEAR( d)) DATE( x))"},
        {"f(a => 1, `OFFSET` => 2)", "f( (named a 1) (named OFFSET 2))"},
        {"f(TABLE t PARTITION BY (a, b) ORDER BY c, DESCRIPTOR(x, y))",
         "f( (table-arg {table t} (by a b) (order c)) (descriptor [x y]))"},
        {"f((SELECT 1))", "f( (query {select 1}))"},
        {"EXISTS (SELECT 1)", "(exists {select 1})"},
        {"a IN (SELECT 1)", "(in a {select 1})"},
        {"a IN ((SELECT 1) UNION (SELECT 2))", "(in a {union {select 1} {select 2}})"},
        {"((SELECT 1) + 2)", "(+ (query {select 1}) 2)"},
        {"((SELECT 1) UNION ALL (SELECT 2))", "(query {union-all {select 1} {select 2}})"},
        {"JSON_VALUE(j, '$.a' RETURNING INTEGER NULL ON EMPTY ERROR ON ERROR)",
         "JSON_VALUE( j '$.a' (json empty=1 error=2 wrapper=0 null=00 INT))"},
        {"JSON_VALUE(j, '$' DEFAULT 1 ON EMPTY)", "JSON_VALUE( j '$' (json empty=3 error=0 wrapper=0 null=00))"},
        {"JSON_QUERY(j, '$' WITH CONDITIONAL ARRAY WRAPPER EMPTY OBJECT ON ERROR)",
         "JSON_QUERY( j '$' (json empty=0 error=5 wrapper=2 null=00))"},
        {"JSON_EXISTS(j, '$' TRUE ON ERROR)", "JSON_EXISTS( j '$' (json empty=0 error=6 wrapper=0 null=00))"},
        {"JSON_OBJECT(KEY 'a' VALUE x, 'b' : y ABSENT ON NULL)",
         "JSON_OBJECT( 'a' x 'b' y (json empty=0 error=0 wrapper=0 null=11))"},
        {"JSON_ARRAY(NULL ON NULL)", "JSON_ARRAY( (json empty=0 error=0 wrapper=0 null=10))"},
        {"JSON_ARRAY(a, b)", "JSON_ARRAY( a b (json empty=0 error=0 wrapper=0 null=00))"},
    };
    check_exprs(pairs, COUNT(pairs));
}
END_TEST

START_TEST(types_follow_flink) {
    static const struct pair pairs[] = {
        {"CAST(a AS ROW<x INT NOT NULL, y ARRAY<STRING>>)", "(cast a ROW<`x` INT NOT NULL, `y` ARRAY<STRING>>)"},
        {"CAST(a AS ROW(x INT, y MAP<STRING, ROW<z BYTES>>))",
         "(cast a ROW<`x` INT, `y` MAP<STRING, ROW<`z` BYTES>>>)"},
        {"CAST(a AS INT ARRAY)", "(cast a ARRAY<INT>)"},
        {"CAST(a AS MULTISET<INT>)", "(cast a MULTISET<INT>)"},
        {"CAST(a AS TIMESTAMP)", "(cast a TIMESTAMP(6))"},
        {"CAST(a AS TIMESTAMP(3) WITH LOCAL TIME ZONE)", "(cast a TIMESTAMP_LTZ(3))"},
        {"CAST(a AS TIMESTAMP(3) WITHOUT TIME ZONE)", "(cast a TIMESTAMP(3))"},
        {"CAST(a AS TIMESTAMP_LTZ)", "(cast a TIMESTAMP_LTZ(6))"},
        {"CAST(a AS TIME)", "(cast a TIME(0))"},
        {"CAST(a AS DOUBLE PRECISION)", "(cast a DOUBLE)"},
        {"CAST(a AS REAL)", "(cast a FLOAT)"},
        {"CAST(a AS CHAR)", "(cast a CHAR(1))"},
        {"CAST(a AS CHARACTER VARYING(5))", "(cast a VARCHAR(5))"},
        {"CAST(a AS NUMERIC(5))", "(cast a DECIMAL(5, 0))"},
        {"CAST(a AS VARBINARY)", "(cast a BYTES)"},
        {"CAST(a AS INTERVAL YEAR TO MONTH)", "(cast a INTERVAL MONTH)"},
    };
    check_exprs(pairs, COUNT(pairs));
}
END_TEST

START_TEST(queries) {
    static const struct pair pairs[] = {
        {"SELECT 1", "query {select 1}"},
        {"SELECT DISTINCT a AS x, b y, t.*, * FROM t", "query {select-distinct a:x b:y t.* * from t}"},
        {"SELECT a FROM t AS u (x, y) WHERE a", "query {select a from t as u[x y] where a}"},
        {"SELECT a FROM a, b JOIN c ON x LEFT OUTER JOIN d USING (k, l)",
         "query {select a from (comma a (left (inner b c on x) d[k l]))}"},
        {"SELECT a FROM (a CROSS JOIN b) NATURAL FULL JOIN c", "query {select a from (natural-full (cross a b) c)}"},
        {"SELECT a FROM ((SELECT 1 AS a) UNION ALL (SELECT 2)) x",
         "query {select a from {union-all {select 1:a} {select 2}} as x}"},
        {"SELECT a FROM ((SELECT 1 AS a)) x", "query {select a from {select 1:a} as x}"},
        {"SELECT a FROM (VALUES (1, 2), (3, 4)) AS v(a, b)",
         "query {select a from {values (row 1 2) (row 3 4)} as v[a b]}"},
        {"VALUES 1, (2), ROW(3)", "query {values (row 1) (row 2) (row 3)}"},
        {"TABLE t", "query {table t}"},
        {"SELECT 1 UNION SELECT 2 INTERSECT SELECT 3 EXCEPT ALL SELECT 4",
         "query {except-all {union {select 1} {intersect {select 2} {select 3}}} {select 4}}"},
        {"(SELECT 1 ORDER BY a) ORDER BY b LIMIT 3 OFFSET 4 ROWS",
         "query {nested {select 1 (order a)} (order b) limit 3 offset 4}"},
        {"SELECT a FROM t FETCH FIRST 5 ROWS ONLY", "query {select a from t limit 5}"},
        {"SELECT a FROM t LIMIT ALL", "query {select a from t}"},
        {"WITH a AS (SELECT 1), b (x) AS (SELECT 2) SELECT * FROM a, b",
         "query {with a {select 1} with b[x] {select 2} select * from (comma a b)}"},
        {"SELECT a FROM t GROUP BY a, (b, c), (), GROUPING SETS ((a), ROLLUP (b, (c, d)), ()), CUBE (e) HAVING x",
         "query {select a from t having x group ( a)( b c)()(sets( a)(rollup( b)( c d))())(cube( e))}"},
        {"SELECT a FROM t WINDOW w AS (PARTITION BY a) QUALIFY ROW_NUMBER() OVER w = 1",
         "query {select a from t qualify (= ROW_NUMBER( (over w)) 1) window w (over (by a))}"},
        {"SELECT * FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) AS w",
         "query {select * from TUMBLE( (table-arg {table t}) (descriptor [ts]) interval'1' minute) as w}"},
        {"SELECT * FROM TUMBLE(DATA => TABLE t, SIZE => INTERVAL '1' DAY)",
         "query {select * from TUMBLE( (named DATA (table-arg {table t})) (named SIZE interval'1' day))}"},
        {"SELECT * FROM TUMBLE((SELECT * FROM t), DESCRIPTOR(ts), 1)",
         "query {select * from TUMBLE( (query-arg {select * from t}) (descriptor [ts]) 1)}"},
        {"SELECT * FROM SESSION(TABLE (SELECT 1) PARTITION BY a, b, c)",
         "query {select * from SESSION( (table-arg {select 1} (by a)) b c)}"},
        {"SELECT * FROM t, LATERAL TABLE(f(a)) AS x (b), UNNEST(c) WITH ORDINALITY AS u, LATERAL (SELECT 1)",
         "query {select * from (comma (comma (comma t lateral f( a) as x[b]) UNNEST( c) ordinality as u) lateral "
         "{select "
         "1})}"},
        {"SELECT * FROM t /*+ OPTIONS('a'='b', c.d = 'e') */ FOR SYSTEM_TIME AS OF o.ts AS r",
         "query {select * from t {a=b} {c.d=e} as-of o.ts as r}"},
        {"SELECT /*+ STATE_TTL('t'='1d') */ a FROM t", "query {select a from t}"},
    };
    check_scripts(pairs, COUNT(pairs));
}
END_TEST

START_TEST(statements) {
    static const struct pair pairs[] = {
        {"", ""},
        {" ; ;-- nothing\n; /* x */", ""},
        {"SELECT 1;;SELECT 2;", "query {select 1} ; query {select 2}"},
        {"-- uid: top shops \n-- more\nINSERT INTO t SELECT 1; SELECT 2",
         "insert t uid=top shops {select 1} ; query {select 2}"},
        {"CREATE TEMPORARY TABLE IF NOT EXISTS c.d.t (a INT NOT NULL PRIMARY KEY NOT ENFORCED COMMENT 'x', b AS a + 1, "
         "m "
         "TIMESTAMP(3) METADATA FROM 'k' VIRTUAL, n STRING METADATA, WATERMARK FOR m AS m - INTERVAL '1' SECOND) "
         "COMMENT 'y' "
         "PARTITIONED BY (a) WITH ('k' = 'v', 'l' = 'w')",
         "create-table temporary if-not-exists c.d.t (a INT NOT NULL 'x') (b (+ a 1)) (m TIMESTAMP(3) metadata k "
         "virtual) (n "
         "STRING metadata ) watermark m (- m interval'1' second) key [a] partitioned [a] 'y' {k=v} {l=w}"},
        {"CREATE TABLE t (a INT, CONSTRAINT k PRIMARY KEY (a, b) NOT ENFORCED) LIKE u (INCLUDING ALL EXCLUDING "
         "OPTIONS)",
         "create-table t (a INT) key [a b] like u 0:ALL 1:OPTIONS"},
        {"CREATE TABLE t (a INT PRIMARY KEY)", "create-table t (a INT) enforced-key [a]"},
        {"CREATE TABLE t WITH ('a' = 'b') AS SELECT 1", "create-table t {a=b} {select 1}"},
        {"CREATE VIEW IF NOT EXISTS v (a, b COMMENT 'x') COMMENT 'y' AS SELECT 1",
         "create-view if-not-exists v[a b] 'y' {select 1}"},
        {"DROP TABLE IF EXISTS t; DROP TEMPORARY VIEW v", "drop-table if-exists t ; drop-view temporary v"},
        {"INSERT OVERWRITE t PARTITION (a = 1, b) (c, d) SELECT 1",
         "insert overwrite t[c d] partition a=1 partition b= {select 1}"},
        {"INSERT INTO t VALUES (1, 2); INSERT INTO t (SELECT 1); INSERT INTO t (a) (SELECT 1)",
         "insert t {values (row 1 2)} ; insert t {select 1} ; insert t[a] {select 1}"},
        {"EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1; -- uid: x\nINSERT INTO b SELECT 2; END; SELECT 3",
         "set-of (insert a {select 1}) (insert b uid=x {select 2}) ; query {select 3}"},
        {"BEGIN STATEMENT SET; INSERT INTO a SELECT 1; END;", "set-of (insert a {select 1})"},
        {"EXECUTE INSERT INTO a SELECT 1", "insert a {select 1}"},
        {"SET 'a.b' = 'c''d'; SET a.b-c = x/@y; SET; RESET; RESET 'a'",
         "set {a.b=c'd} ; set {a.b-c=x/@y} ; set ; reset ; reset {a=}"},
        {"DESCRIBE t; DESC EXTENDED a.b", "describe t ; describe extended a.b"},
        {"SHOW TABLES; SHOW COLUMNS FROM t LIKE 'a%'; SHOW CREATE TABLE t; SHOW CURRENT DATABASE",
         "show <TABLES> ; show <COLUMNS> t like 'a%' ; show <CREATE TABLE> t ; show <CURRENT DATABASE>"},
        {"EXPLAIN SELECT 1; EXPLAIN PLAN FOR INSERT INTO t SELECT 1",
         "explain (query {select 1}) ; explain (insert t {select 1})"},
        {"USE d; USE CATALOG c; ALTER TABLE a RENAME TO b", "use d ; use <CATALOG> c ; alter-rename <TABLE> a -> b"},
        {"ALTER TABLE t ADD (a INT, b AS a * 2); ALTER TABLE t ADD a INT; ALTER TABLE t SET ('k' = 'v')",
         "alter-add t (a INT) (b (* a 2)) ; alter-add t (a INT) ; alter-set t {k=v}"},
        {"CREATE DATABASE IF NOT EXISTS d WITH ('a' = 'b'); DROP DATABASE d CASCADE",
         "create-database if-not-exists d {a=b} ; drop-database d"},
        {"CREATE FUNCTION f AS 'a;b'; ALTER TABLE t DROP (a); DELETE FROM t",
         "unsupported <CREATE FUNCTION> ; unsupported <ALTER TABLE> t ; unsupported <DELETE>"},
        {"\xEF\xBB\xBFselect Name, TYPE, data, city, page, item, level from T",
         "query {select Name TYPE data city page item level from T}"},
    };
    check_scripts(pairs, COUNT(pairs));
}
END_TEST

START_TEST(errors_have_a_place_and_a_hint) {
    static const struct bad bads[] = {
        {"SELCT id FROM t", TIDE_ERR_PARSE, 1, 1, "\"SELCT\", expected SELECT", "did you mean SELECT?"},
        {"SELECT a FORM t", TIDE_ERR_PARSE, 1, 15, "unexpected \"t\"", "did you mean FROM instead of \"FORM\"?"},
        {"SELECT a FROM t GROUPBY a", TIDE_ERR_PARSE, 1, 25, "unexpected \"a\"", "GROUP BY"},
        {"SELECT a FROM t WHER a", TIDE_ERR_PARSE, 1, 22, "unexpected", "did you mean WHERE"},
        {"SELECT 1;\n  SELECT user FROM t", TIDE_ERR_PARSE, 2, 10, "\"user\" is a reserved word", "backticks: `user`"},
        {"SELECT a AS value FROM t", TIDE_ERR_PARSE, 1, 13, "\"value\" is a reserved word", "`value`"},
        {"SELECT a FROM order", TIDE_ERR_PARSE, 1, 15, "\"order\" is a reserved word", "`order`"},
        {"SELECT t.year FROM t", TIDE_ERR_PARSE, 1, 10, "\"year\" is a reserved word", "`year`"},
        {"SELECT f(OFFSET => 1)", TIDE_ERR_PARSE, 1, 10, "\"OFFSET\" is a reserved word", "`OFFSET`"},
        {"SELECT a, FROM t", TIDE_ERR_PARSE, 1, 11, "unexpected \"FROM\"", "remove the comma"},
        {"SELECT id t WHERE a", TIDE_ERR_PARSE, 1, 13, "unexpected \"WHERE\"", "FROM is missing"},
        {"SELECT a FROM t LIMIT -1", TIDE_ERR_PARSE, 1, 23, "unexpected \"-\", expected ALL or a whole number", ""},
        {"SELECT \"a\"", TIDE_ERR_PARSE, 1, 8, "double quotes", "'text'"},
        {"SELECT a !\n= 1", TIDE_ERR_PARSE, 1, 10, "\"!\"", "NOT"},
        {"SELECT a != 1", TIDE_ERR_PARSE, 1, 10, "\"!=\" is not Flink SQL", "write <>"},
        {"SELECT 'abc\nFROM t", TIDE_ERR_PARSE, 1, 8, "string is never closed", "close it"},
        {"SELECT `abc", TIDE_ERR_PARSE, 1, 8, "name is never closed", "backtick"},
        {"SELECT 1 /* a\n b", TIDE_ERR_PARSE, 1, 10, "comment is never closed", "*/"},
        {"SELECT /*+ a", TIDE_ERR_PARSE, 1, 8, "hint is never closed", "*/"},
        {"SELECT `` FROM t", TIDE_ERR_PARSE, 1, 8, "empty", ""},
        {"SELECT 'a' 'b'", TIDE_ERR_PARSE, 1, 12, "two strings", "twice"},
        {"SELECT '\xE2\x82\xAC', \xE2\x80\x98x", TIDE_ERR_PARSE, 1, 13, "typographic quote", "'"},
        {"SELECT\xC2\xA0 1", TIDE_ERR_PARSE, 1, 7, "invisible character", "space"},
        {"SELECT '\xFF'", TIDE_ERR_PARSE, 1, 9, "not UTF-8", "UTF-8"},
        {"SELECT X'4'", TIDE_ERR_PARSE, 1, 8, "even number", "two digits"},
        {"SELECT X'4G'", TIDE_ERR_PARSE, 1, 8, "hexadecimal", "0-9"},
        {"SELECT U&'\\12'", TIDE_ERR_PARSE, 1, 8, "incomplete", "four"},
        {"SELECT INTERVAL '1'", TIDE_ERR_PARSE, 1, 20, "expected SECOND, MINUTE", ""},
        {"SELECT INTERVAL '1' DAY TO YEAR", TIDE_ERR_PARSE, 1, 28, "cannot go to this unit", "YEAR TO MONTH"},
        {"SELECT CAST(a AS INTT)", TIDE_ERR_VALIDATE, 1, 18, "unknown type \"INTT\"", "did you mean INT?"},
        {"CREATE TABLE t (a DECIMAL(3, 4))", TIDE_ERR_VALIDATE, 1, 26, "scale 4 is larger", ""},
        {"CREATE TABLE t (a CHAR(0))", TIDE_ERR_VALIDATE, 1, 24, "at least 1", ""},
        {"CREATE TABLE t (a TIMESTAMP WITH TIME ZONE)", TIDE_ERR_VALIDATE, 1, 29, "WITH TIME ZONE", "TIMESTAMP_LTZ"},
        {"CREATE TABLE t (a INT b INT)", TIDE_ERR_PARSE, 1, 23, "unexpected \"b\"", ""},
        {"CREATE TABEL t (a INT)", TIDE_ERR_PARSE, 1, 8, "unexpected \"TABEL\"", "did you mean TABLE?"},
        {"CREATE TABLE t (a INT, WATERMARK FOR a AS a, WATERMARK FOR b AS b)", TIDE_ERR_PARSE, 1, 46,
         "only one WATERMARK", "remove"},
        {"CREATE TABLE t (a INT PRIMARY KEY NOT ENFORCED, PRIMARY KEY (a) NOT ENFORCED)", TIDE_ERR_PARSE, 1, 49,
         "only one primary key", "list all"},
        {"CREATE TABLE t (a INT) WITH (a = 'b')", TIDE_ERR_PARSE, 1, 30, "options are strings", "'a' = '...'"},
        {"EXECUTE STATEMENT SET BEGIN END", TIDE_ERR_PARSE, 1, 29, "empty", ""},
        {"SELECT a FROM t MATCH_RECOGNIZE (x)", TIDE_ERR_PLAN, 1, 17, "MATCH_RECOGNIZE is not supported", ""},
        {"SELECT a FROM t WHERE a = ?", TIDE_ERR_PARSE, 1, 27, "parameters", "value"},
        {"SELECT a FROM SELECT 1", TIDE_ERR_PARSE, 1, 15, "parentheses", "FROM (SELECT ...)"},
        {"SELECT 1 FROM t WHERE", TIDE_ERR_PARSE, 1, 22, "unexpected the end of the script, expected an expression",
         ""},
        {"SELECT 1 FROM;", TIDE_ERR_PARSE, 1, 14, "unexpected the end of the statement", ""},
        {"SELECT 1) FROM t", TIDE_ERR_PARSE, 1, 9, "unexpected \")\"", ""},
    };
    check_errors(bads, COUNT(bads));
}
END_TEST

START_TEST(a_nul_byte_is_an_error) {
    tide_error err;
    ck_assert_int_eq(parse_script("SELECT 1\0;", 10, NULL, &err), TIDE_ERR_PARSE);
    ck_assert_uint_eq(err.column, 9);
    ck_assert_ptr_nonnull(strstr(err.message, "NUL"));
}
END_TEST

START_TEST(positions_cover_the_text) {
    static const char text[] = "SELECT 1;\n /* \xC3\xA9 */ INSERT INTO t\nSELECT a + f( b ) FROM u AS w ;";
    struct parser *parser = tide__parser_new(text, strlen(text));
    struct arena arena;
    struct statement *s;
    tide_error err;
    tide__arena_init(&arena);
    tide__error_clear(&err);
    ck_assert_int_eq(tide__parse_next(parser, &arena, &s, &err), TIDE_OK);
    ck_assert_int_eq(tide__parse_next(parser, &arena, &s, &err), TIDE_OK);
    ck_assert(tide__str_eq_c(s->text, "INSERT INTO t\nSELECT a + f( b ) FROM u AS w"));
    ck_assert_uint_eq(s->pos.line, 2);
    ck_assert_uint_eq(s->pos.column, 10);
    const struct ast_expr *sum = s->query->items[0].expr;
    ck_assert_uint_eq(sum->pos.line, 3);
    ck_assert_uint_eq(sum->pos.column, 8);
    ck_assert(tide__str_eq_c((struct str){text + sum->pos.offset, sum->pos.length}, "a + f( b )"));
    const struct source_pos call = sum->args.items[1]->pos, table = s->query->from->pos;
    ck_assert(tide__str_eq_c((struct str){text + call.offset, call.length}, "f( b )"));
    ck_assert(tide__str_eq_c((struct str){text + table.offset, table.length}, "u AS w"));
    ck_assert_int_eq(tide__parse_next(parser, &arena, &s, &err), TIDE_OK);
    ck_assert_ptr_null(s);
    tide__arena_deinit(&arena);
    tide__parser_free(parser);
}
END_TEST

// `count` times `part` between `before` and `after`.
static tide_status parse_repeated(const char *before, const char *part, size_t count, const char *after,
                                  tide_error *err) {
    struct strbuf text = {0};
    tide__strbuf_append_c(&text, before);
    for (size_t i = 0; i < count; i++) tide__strbuf_append_c(&text, part);
    tide__strbuf_append_c(&text, after);
    tide_status status = parse_script(text.data, text.len, NULL, err);
    tide__strbuf_deinit(&text);
    return status;
}

START_TEST(hostile_text_gives_a_result_or_an_error) {
    static const struct {
        const char *before, *part, *after;
        size_t count;
        tide_status status;
    } cases[] = {
        {"SELECT a", " + a", "", 100000, TIDE_ERR_PARSE},
        {"SELECT a", " + a", "", 500, TIDE_OK},
        {"SELECT a", " AND a", "", 100000, TIDE_OK},
        {"SELECT a", " OR a", "", 100000, TIDE_OK},
        {"SELECT a IN (1", ", 1", ")", 100000, TIDE_OK},
        {"SELECT ", "(", "", 100000, TIDE_ERR_PARSE},
        {"SELECT ", "((((((((((1))))))))))+", "1", 80, TIDE_OK},
        {"SELECT ", "- ", "1", 100000, TIDE_ERR_PARSE},
        {"SELECT ", "NOT ", "a", 100000, TIDE_ERR_PARSE},
        {"SELECT a", "[1]", "", 100000, TIDE_ERR_PARSE},
        {"SELECT f(a)", ".b", "", 100000, TIDE_ERR_PARSE},
        {"SELECT a", ".b", "", 100000, TIDE_OK},
        {"SELECT ", "f(", "", 100000, TIDE_ERR_PARSE},
        {"SELECT ", "POSITION(", "", 100000, TIDE_ERR_PARSE},
        {"SELECT ", "CASE WHEN ", "", 100000, TIDE_ERR_PARSE},
        {"SELECT ", "a = ALL (", "", 100000, TIDE_ERR_PARSE},
        {"SELECT ", "EXISTS (SELECT ", "", 100000, TIDE_ERR_PARSE},
        {"SELECT ", "INTERVAL (", "", 100000, TIDE_ERR_PARSE},
        {"SELECT ", "ARRAY[", "", 100000, TIDE_ERR_PARSE},
        {"SELECT * FROM ", "(", "", 100000, TIDE_ERR_PARSE},
        {"SELECT * FROM ", "(SELECT * FROM ", "", 100000, TIDE_ERR_PARSE},
        {"SELECT * FROM t", ", t", "", 100000, TIDE_ERR_PARSE},
        {"SELECT * FROM t", " JOIN t ON a", "", 10000, TIDE_ERR_PARSE},
        {"SELECT * FROM f(", "TABLE (SELECT * FROM f(", "", 100000, TIDE_ERR_PARSE},
        {"SELECT 1", " UNION SELECT 1", "", 50000, TIDE_ERR_PARSE},
        {"SELECT 1", " UNION (SELECT 1", "", 50000, TIDE_ERR_PARSE},
        {"WITH a AS (", "WITH a AS (", "", 50000, TIDE_ERR_PARSE},
        {"SELECT a FROM t GROUP BY ", "GROUPING SETS (", "", 50000, TIDE_ERR_PARSE},
        {"SELECT CAST(a AS ", "ARRAY<", "", 100000, TIDE_ERR_PARSE},
        {"SELECT CAST(a AS INT", " ARRAY", ")", 100000, TIDE_ERR_PARSE},
        {"", "EXPLAIN ", "", 1000, TIDE_ERR_PARSE},
        {"", ";", "", 1000000, TIDE_OK},
        {"", "SELECT 1;", "", 10000, TIDE_OK},
        {"SELECT '", "x", "'", 2000000, TIDE_ERR_PARSE},
        {"SELECT 1 -- ", "x", "\n; SELECT 2", 1000000, TIDE_OK},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        tide_error err;
        tide_status status = parse_repeated(cases[i].before, cases[i].part, cases[i].count, cases[i].after, &err);
        ck_assert_msg(status == cases[i].status, "%s%s..: status %d %u:%u %s", cases[i].before, cases[i].part,
                      (int)status, err.line, err.column, err.message);
    }
}
END_TEST

START_TEST(deep_but_honest_queries_parse) {
    struct strbuf text = {0};
    tide_error err;
    for (int i = 0; i < 100; i++) tide__strbuf_append_c(&text, "SELECT a FROM (");
    tide__strbuf_append_c(&text, "SELECT a FROM t");
    for (int i = 0; i < 100; i++) tide__strbuf_append_c(&text, ") AS x WHERE a > 1");
    ck_assert_msg(parse_script(text.data, text.len, NULL, &err) == TIDE_OK, "%s", err.message);
    tide__strbuf_deinit(&text);
}
END_TEST

START_TEST(keywords_are_sorted_and_found) {
    for (int k = 1; k < KEYWORD_COUNT; k++) {
        const char *word = tide__keyword_text((enum keyword)k);
        ck_assert_msg(k == 1 || strcmp(tide__keyword_text((enum keyword)(k - 1)), word) < 0, "%s", word);
        ck_assert_int_eq(tide__keyword_find(tide__str(word)), k);
    }
    static const char *const reserved[] = {"user", "Value", "ORDER",  "timestamp", "date",     "time",
                                           "year", "count", "method", "result",    "statement"};
    static const char *const names[] = {"name", "type",    "status", "level", "data",    "item", "page", "city",
                                        "key",  "offset_", "tumble", "hop",   "session", "size", "week", "columns"};
    for (size_t i = 0; i < COUNT(reserved); i++) ck_assert(tide__parse_is_reserved(tide__str(reserved[i])));
    for (size_t i = 0; i < COUNT(names); i++) ck_assert(!tide__parse_is_reserved(tide__str(names[i])));
}
END_TEST

int main(void) {
    Suite *suite = suite_create("sql_parse");
    TCase *rules = tcase_create("rules"), *limits = tcase_create("limits");
    tcase_add_test(rules, operators_bind_as_in_calcite);
    tcase_add_test(rules, literals_keep_their_text);
    tcase_add_test(rules, primaries_and_calls);
    tcase_add_test(rules, types_follow_flink);
    tcase_add_test(rules, queries);
    tcase_add_test(rules, statements);
    tcase_add_test(rules, errors_have_a_place_and_a_hint);
    tcase_add_test(rules, a_nul_byte_is_an_error);
    tcase_add_test(rules, positions_cover_the_text);
    tcase_add_test(rules, keywords_are_sorted_and_found);
    tcase_set_timeout(limits, 100);
    tcase_add_test(limits, hostile_text_gives_a_result_or_an_error);
    tcase_add_test(limits, deep_but_honest_queries_parse);
    suite_add_tcase(suite, rules);
    suite_add_tcase(suite, limits);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int run = srunner_ntests_run(runner), failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return run > 0 && failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
