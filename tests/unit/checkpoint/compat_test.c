// Two scripts and what the comparison says of them: what is cosmetic raises no alarm, what matters has its code.
#include "checkpoint_tests.h"

#include "base/arena.h"
#include "checkpoint/compat/check.h"
#include "sql/parse.h"
#include "sql/sql.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BID                                                                                                            \
    "CREATE TABLE Bid (ts TIMESTAMP(3), auction BIGINT, price DECIMAL(10, 2), item STRING, d DOUBLE, "                 \
    "WATERMARK FOR ts AS ts - INTERVAL '1' SECOND) WITH ('connector' = 'filesystem', 'path' = 'in', 'format' = "       \
    "'csv');\n"

// The plans live as long as the sessions.
struct held {
    struct sql_session *session;
    struct parser *parser;
};
static struct held held[4];
static size_t held_count;

static struct plan_description describe(const char *sql, struct arena *arena) {
    struct plan_description out = {0};
    tide_error err;
    tide__error_clear(&err);
    struct sql_session *session = tide__sql_session_new();
    struct parser *parser = tide__parser_new(sql, strlen(sql));
    for (;;) {
        struct statement *statement;
        ck_assert_msg(tide__parse_next(parser, arena, &statement, &err) == TIDE_OK, "%s\n%s", err.message, sql);
        if (statement == NULL) break;
        struct sql_result result = {0};
        ck_assert_msg(tide__sql_compile(session, statement, tide__str(sql), 0, arena, &result, &err) == TIDE_OK,
                      "%u:%u: %s\n%s", err.line, err.column, err.message, sql);
        if (result.kind == SQL_JOB) tide__plan_describe(result.plan, arena, &out);
    }
    tide__parser_free(parser);
    tide__sql_session_free(session);
    return out;
}

// A script's one job, for the check.
static struct compat_script script_of(const char *sql, struct arena *arena) {
    const struct plan **plans = ARENA_ARRAY(arena, const struct plan *, 1);
    tide_error err;
    tide__error_clear(&err);
    struct sql_session *session = tide__sql_session_new();
    struct parser *parser = tide__parser_new(sql, strlen(sql));
    for (;;) {
        struct statement *statement;
        ck_assert_msg(tide__parse_next(parser, arena, &statement, &err) == TIDE_OK, "%s\n%s", err.message, sql);
        if (statement == NULL) break;
        struct sql_result result = {0};
        ck_assert_msg(tide__sql_compile(session, statement, tide__str(sql), 0, arena, &result, &err) == TIDE_OK,
                      "%u:%u: %s\n%s", err.line, err.column, err.message, sql);
        if (result.kind == SQL_JOB) plans[0] = result.plan;
    }
    held[held_count] = (struct held){session, parser};
    held_count++;
    return (struct compat_script){.name = "job.sql", .sql = tide__str(sql), .plan_count = 1, .plans = plans};
}

static void release(void) {
    for (size_t i = 0; i < held_count; i++) {
        tide__parser_free(held[i].parser);
        tide__sql_session_free(held[i].session);
    }
    held_count = 0;
}

static void check(const char *old_query, const char *new_query, struct arena *arena, struct compat_report *report) {
    struct compat_request request = {
        .old_script = script_of(tide__arena_printf(arena, BID "%s", old_query), arena),
        .new_script = script_of(tide__arena_printf(arena, BID "%s", new_query), arena),
        .policy = COMPAT_STRICT,
        .features = COMPAT_ALL_FEATURES,
    };
    tide__compat_check(&request, arena, report);
    release();
}

// The codes of the changes that are not compatible, in order: "topn.limit group_by.added "; "" if there are none.
static void compare(const char *old_query, const char *new_query, char *out, size_t size) {
    struct arena arena;
    tide__arena_init(&arena);
    struct compat_report report;
    check(old_query, new_query, &arena, &report);
    out[0] = '\0';
    bool any = false;
    for (size_t o = 0; o < report.operator_count; o++) {
        for (size_t i = 0; i < report.operators[o].change_count; i++) {
            const struct compat_change *change = &report.operators[o].changes[i];
            ck_assert(change->message != NULL && change->state != NULL && change->rule != NULL);
            if (change->verdict == COMPAT_COMPATIBLE) continue;
            any = true;
            size_t len = strlen(out);
            snprintf(out + len, size - len, "%s%s", len > 0 ? " " : "", change->code);
        }
    }
    ck_assert_int_eq(report.verdict != COMPAT_COMPATIBLE, any);
    tide__arena_deinit(&arena);
}

static const char top3[] =
    "SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY s DESC) AS rk FROM ("
    "SELECT window_start, window_end, auction, SUM(price) AS s, COUNT(*) AS c "
    "FROM TABLE(TUMBLE(TABLE Bid, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) WHERE price > 1 AND auction <> 5 "
    "GROUP BY window_start, window_end, auction)) WHERE rk <= 3;";

// top3 with one piece of its text replaced.
static const char *edited(const char *from, const char *to) {
    static char text[4096];
    const char *at = strstr(top3, from);
    ck_assert_msg(at != NULL, "no \"%s\" in the query", from);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - top3), top3, to, at + strlen(from));
    return text;
}

START_TEST(what_is_cosmetic_raises_no_alarm) {
    static const char *const edits[][2] = {
        {"rk <= 3", "rk < 4"},
        {"rk <= 3", "3 >= rk"},
        {"rk <= 3", "rk BETWEEN 1 AND 3"},
        {"INTERVAL '1' MINUTE", "INTERVAL '60' SECOND"},
        {"INTERVAL '1' MINUTE", "INTERVAL '1' MINUTE, INTERVAL '0' SECOND"},
        {"SELECT *", "select   *"},
        {"FROM TABLE(TUMBLE(TABLE Bid, DESCRIPTOR(ts), INTERVAL '1' MINUTE))",
         "FROM TUMBLE(TABLE Bid, DESCRIPTOR(ts), INTERVAL '1' MINUTE)"},
        {"price > 1", "1 < price"},
        {"price > 1", "NOT (price <= 1)"},
        {"price > 1", "price > 1.00"},
        {"price > 1 AND auction <> 5", "auction <> 5 AND price > 1 AND 1 < price"},
        {"auction <> 5", "auction <> 2 + 3"},
        {"auction <> 5", "auction NOT IN (5)"},
        {"COUNT(*)", "COUNT(1)"},
        {"ORDER BY s DESC", "ORDER BY s DESC NULLS LAST"},
        {"FROM TABLE(TUMBLE(TABLE Bid,", "FROM TABLE(TUMBLE(TABLE Bid, -- it's\n"},
    };
    char found[512];
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        compare(top3, edited(edits[i][0], edits[i][1]), found, sizeof found);
        ck_assert_msg(found[0] == '\0', "%s -> %s: %s", edits[i][0], edits[i][1], found);
    }
}
END_TEST

START_TEST(a_view_is_its_query) {
    char found[512];
    compare(
        top3,
        "CREATE VIEW sums AS SELECT window_start AS a, window_end AS b, auction, SUM(price) AS total, COUNT(*) AS n "
        "FROM TABLE(TUMBLE(TABLE Bid, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) WHERE price > 1 AND auction <> 5 "
        "GROUP BY window_start, window_end, auction;\n"
        "WITH ranked AS (SELECT *, ROW_NUMBER() OVER (PARTITION BY a, b ORDER BY total DESC) AS rk FROM sums) "
        "SELECT * FROM ranked WHERE rk <= 3;",
        found, sizeof found);
    ck_assert_str_eq(found, "");
}
END_TEST

START_TEST(what_matters_has_its_code) {
    static const char *const edits[][3] = {
        {"rk <= 3", "rk <= 5", "topn.limit"},
        {"rk <= 3", "rk <= 2", "topn.limit"},
        {"rk <= 3", "rk BETWEEN 2 AND 3", "topn.offset"},
        {"ORDER BY s DESC", "ORDER BY s", "topn.order_by"},
        {"ORDER BY s DESC", "ORDER BY c DESC", "topn.order_by"},
        {"ORDER BY s DESC", "ORDER BY s DESC, c", "topn.order_by"},
        {"PARTITION BY window_start, window_end", "PARTITION BY window_start, window_end, auction",
         "topn.partition_added"},
        {"INTERVAL '1' MINUTE", "INTERVAL '2' MINUTE", "window.size"},
        {"GROUP BY window_start, window_end, auction", "GROUP BY auction, window_end, window_start",
         "group_by.window_order"},
        {"price > 1", "price > 2", "filter.changed"},
        {"price > 1 AND auction", "auction", "filter.removed"},
        {"price > 1", "price >= 1", "filter.changed"},
        {"SUM(price)", "MAX(price)", "agg.modified"},
        {"SUM(price) AS s", "SUM(price) FILTER (WHERE auction = 1) AS s", "agg.filter"},
        {"SUM(price) AS s", "SUM(DISTINCT price) AS s", "agg.distinct_added agg.removed"},
    };
    char found[512];
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        compare(top3, edited(edits[i][0], edits[i][1]), found, sizeof found);
        ck_assert_msg(strcmp(found, edits[i][2]) == 0, "%s -> %s: %s, expected %s", edits[i][0], edits[i][1], found,
                      edits[i][2]);
    }
}
END_TEST

#define TUMBLED "FROM TABLE(TUMBLE(TABLE Bid, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) "

START_TEST(aggregations_keys_and_windows_are_told_apart) {
    static const char *const pairs[][3] = {
        {"SELECT auction, item, SUM(price) " TUMBLED "GROUP BY window_start, window_end, auction, item;",
         "SELECT auction, item, SUM(price) " TUMBLED "GROUP BY window_start, window_end, item, auction;",
         "group_by.order"},
        {"SELECT auction, SUM(price) " TUMBLED "GROUP BY window_start, window_end, auction;",
         "SELECT auction, item, SUM(price) " TUMBLED "GROUP BY window_start, window_end, auction, item;",
         "group_by.added"},
        {"SELECT item, SUM(price) " TUMBLED "GROUP BY window_start, window_end, item;",
         "SELECT UPPER(item), SUM(price) " TUMBLED "GROUP BY window_start, window_end, UPPER(item);",
         "group_by.changed"},
        {"SELECT auction, SUM(price) " TUMBLED "GROUP BY window_start, window_end, auction;",
         "SELECT auction, SUM(price), COUNT(*) " TUMBLED "GROUP BY window_start, window_end, auction;", "agg.added"},
        {"SELECT auction, SUM(price), COUNT(*) " TUMBLED "GROUP BY window_start, window_end, auction;",
         "SELECT auction, COUNT(*), SUM(price) " TUMBLED "GROUP BY window_start, window_end, auction;", ""},
        {"SELECT auction, SUM(price) " TUMBLED "GROUP BY window_start, window_end, auction;",
         "SELECT auction, SUM(price) FROM TABLE(HOP(TABLE Bid, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '1' "
         "MINUTE)) "
         "GROUP BY window_start, window_end, auction;",
         "window.type"},
        {"SELECT auction, SUM(price) " TUMBLED "GROUP BY window_start, window_end, auction HAVING SUM(price) > 5;",
         "SELECT auction, SUM(price) " TUMBLED "GROUP BY window_start, window_end, auction HAVING SUM(price) > 6;", ""},
        {"SELECT auction, SUM(price) AS s " TUMBLED "GROUP BY window_start, window_end, auction;",
         "SELECT SUM(price) * 2 AS t, auction " TUMBLED "GROUP BY window_start, window_end, auction;", ""},
        {"SELECT auction FROM Bid;", "SELECT auction, price FROM Bid WHERE price > 1;", ""},
        {"SELECT auction, SUM(price), MAX(item) " TUMBLED "GROUP BY window_start, window_end, auction;",
         "SELECT auction, SUM(price), MAX(item) FROM (SELECT auction + 1 AS auction, price, item, window_start, "
         "window_end " TUMBLED ") GROUP BY window_start, window_end, auction;",
         "calc.between_window_and_group"},
        {"SELECT auction, SUM(price) OVER (PARTITION BY auction ORDER BY ts) FROM Bid;",
         "SELECT auction, SUM(price) OVER (PARTITION BY auction, item ORDER BY ts) FROM Bid;", "over.partition"},
        // Doubles: the order of a sum's operands is the user's, and NOT does not turn where a NaN may come.
        {"SELECT SUM(d) " TUMBLED "WHERE NOT (d < 1) GROUP BY window_start, window_end;",
         "SELECT SUM(d) " TUMBLED "WHERE d >= 1 GROUP BY window_start, window_end;", "filter.changed"},
    };
    char found[512];
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        compare(pairs[i][0], pairs[i][1], found, sizeof found);
        ck_assert_msg(strcmp(found, pairs[i][2]) == 0, "%s\n%s\n%s, expected %s", pairs[i][0], pairs[i][1], found,
                      pairs[i][2]);
    }
}
END_TEST

START_TEST(a_clause_has_its_place_and_the_users_text) {
    struct arena arena;
    tide__arena_init(&arena);
    struct plan_description plan = describe(tide__arena_printf(&arena, BID "%s", top3), &arena);
    const struct plan_clause *sum = NULL;
    for (size_t i = 0; i < plan.operator_count; i++)
        for (size_t k = 0; k < plan.operators[i].clause_count; k++)
            if (strcmp(plan.operators[i].clauses[k].code, "agg") == 0 && sum == NULL)
                sum = &plan.operators[i].clauses[k];
    ck_assert_ptr_nonnull(sum);
    ck_assert_str_eq(sum->text, "SUM(Bid.price) DECIMAL(38, 2)");
    ck_assert_str_eq(sum->source, "SUM(price)");
    ck_assert_uint_eq(sum->line, 2);
    ck_assert_uint_eq(sum->column, (uint32_t)(strstr(top3, "SUM(price)") - top3) + 1);
    tide__arena_deinit(&arena);
}
END_TEST

START_TEST(messages_are_plain) {
    struct arena arena;
    tide__arena_init(&arena);
    struct compat_report report;
    check(top3, edited("rk <= 3", "rk <= 5"), &arena, &report);
    size_t changes = 0;
    for (size_t o = 0; o < report.operator_count; o++) {
        for (size_t i = 0; i < report.operators[o].change_count; i++) {
            const struct compat_change *change = &report.operators[o].changes[i];
            changes++;
            ck_assert_str_eq(change->message, "the Top-N limit was 3 and is 5");
            ck_assert_str_eq(change->state, "the state holds the best N");
            ck_assert_int_eq(change->exact, COMPAT_COMPATIBLE);
            ck_assert_str_eq(change->new_clause->source, "rk <= 5");
        }
    }
    ck_assert_uint_eq(changes, 1);
    tide__arena_deinit(&arena);
}
END_TEST

TCase *make_compat_case(void) {
    TCase *tests = tcase_create("compat");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, what_is_cosmetic_raises_no_alarm);
    tcase_add_test(tests, a_view_is_its_query);
    tcase_add_test(tests, what_matters_has_its_code);
    tcase_add_test(tests, aggregations_keys_and_windows_are_told_apart);
    tcase_add_test(tests, a_clause_has_its_place_and_the_users_text);
    tcase_add_test(tests, messages_are_plain);
    return tests;
}
