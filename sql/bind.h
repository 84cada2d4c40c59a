// The binder: from trees to raw plan nodes. Names become column indexes, expressions get types, views and subqueries are
// put in place. The nodes are raw: calcs stand where the query wrote them, ROW_NUMBER() is a PLAN_OVER node, every
// GROUP BY a PLAN_GROUP_AGGREGATE. What is a window operation is recognised afterwards, in plan_*.c.
#ifndef TIDE_SQL_BIND_H
#define TIDE_SQL_BIND_H

#include "engine/plan.h"
#include "sql/parse.h"
#include "sql/catalog.h"
#include "sql/sql.h"

#define BIND_DEPTH_MAX   200    // views and subqueries inside each other
#define BIND_QUERIES_MAX 10000  // of one statement, views counted each time they are used

struct cte {
    struct cte *outer;
    const struct ast_cte *ast;
    struct cte *visible;  // those that its query may use
};

struct correlation;

struct binder {
    struct sql_session *session;
    struct arena *arena;
    struct str sql;
    struct infer_context infer;
    struct sql_result *result;
    struct cte *ctes;
    struct correlation *correlation;  // the next SELECT is a subquery that may see the query around it
    uint32_t depth, query_count;
    tide_error *err;
};

// A relation: a node, and for each field the alias of the table that it comes from.
struct relation {
    struct plan_node *node;
    struct str *tables;  // one a field; data NULL: none
    bool *hidden;        // one a field; NULL: none is. Hidden ones are not part of *, nor found without their table
};

// --- Expressions ---

// While a SELECT is bound, its aggregates, OVER calls, window functions and GROUPING calls are columns from this index on.
#define BIND_KEYS_MAX 64  // of GROUP BY

#define VIRTUAL_COLUMN_FIRST 0x40000000u
// In a subquery's WHERE: columns of the query around it, from this index on.
#define OUTER_COLUMN_FIRST 0x20000000u

enum virtual_kind { VIRTUAL_AGGREGATE, VIRTUAL_OVER, VIRTUAL_WINDOW, VIRTUAL_GROUPING, VIRTUAL_SUBQUERY };

struct bound_aggregate {
    struct aggregate_call call;
    struct expr *args[4];
    struct expr *filter;
};

// As in struct plan_over.
struct over_frame {
    bool rows, general, from_start, to_end;
    int64_t preceding, from, to;
};

struct bound_over {
    struct over_call call;             // its columns come later
    struct bound_aggregate aggregate;  // OVER_CALL_AGGREGATE; args[0] of OVER_CALL_LAG
    const char *name;
    struct source_pos pos;
    uint32_t partition_count;
    struct expr **partitions;
    uint32_t sort_count;
    struct expr **sort_exprs;
    struct sort_key *sorts;
    struct over_frame frame;
    bool any_frame;  // the call does not look at the frame
};

struct bound_grouping {
    uint32_t key_count;
    uint32_t *keys;  // indexes into the select's group keys
};

// What a subquery asks of the query around it: conditions over its own fields and outer columns.
struct correlation {
    struct select_scope *scope;  // of the query around
    struct plan_node *outer;     // its rows so far
    uint32_t condition_count, condition_capacity;
    struct expr **conditions;
    uint32_t item_count;  // fields at the end of the subquery's result that only the conditions need
    bool one_row;         // an aggregation without other keys: one row for each outer one
    bool counts;          // its value is a COUNT: 0 where there is no row
};

// A query used as a value, to be joined to the rows of the SELECT.
struct bound_subquery {
    struct relation relation;
    struct correlation correlation;
    struct source_pos pos;
};

struct virtual_column {
    enum virtual_kind kind;
    uint32_t index;  // into the list of its kind; VIRTUAL_WINDOW: enum window_property
    const struct type *type;
};

// What a SELECT collects while its expressions are bound.
struct select_scope {
    struct binder *binder;
    const struct relation *input;
    const char *clause;  // "WHERE clause", for messages
    bool allow_aggregates, allow_overs, in_aggregate, in_over;
    uint32_t virtual_count, virtual_capacity;
    struct virtual_column *virtuals;
    uint32_t aggregate_count, aggregate_capacity;
    struct bound_aggregate *aggregates;
    uint32_t over_count, over_capacity;
    struct bound_over *overs;
    uint32_t grouping_count, grouping_capacity;
    struct bound_grouping *groupings;
    uint32_t subquery_count, subquery_capacity;
    struct bound_subquery *subqueries;
    bool allow_subqueries;
    struct correlation *correlation;  // set while names of the query around may be used
    bool has_aggregate, has_over;
    bool groups_have_rows;  // there are keys, and no grouping set is empty
    // GROUP BY
    uint32_t key_count;
    struct expr **keys;
    uint32_t implicit_keys;  // the last keys, which are in each grouping set
    // GROUP BY TUMBLE(ts, ..): one at most
    const struct ast_expr *window_call;
    struct window window;
    uint32_t window_place;  // how many keys stand before the window function in GROUP BY
    struct expr *window_time;
    // Select aliases, for QUALIFY and ORDER BY; NULL otherwise
    bool aliases_first;
    const struct ast_query *alias_query;
    struct expr **alias_exprs;
    const struct ast_window *resolved_over;  // scratch
    const struct ast_query *query;           // for named windows
};

struct expr *tide__bind_null(struct binder *b, struct source_pos pos);
TIDE_CHECKED tide_status tide__bind_literal(struct binder *b, const struct ast_expr *ast, struct expr **out);
TIDE_CHECKED tide_status tide__bind_expr(struct select_scope *s, const struct ast_expr *ast, struct expr **out);
TIDE_CHECKED tide_status tide__bind_condition(struct select_scope *s, const struct ast_expr *ast, struct expr **out);
TIDE_CHECKED tide_status tide__bind_column(struct select_scope *s, const struct ast_expr *ast, struct expr **out);
TIDE_CHECKED tide_status tide__bind_call(struct select_scope *s, const struct ast_expr *ast, struct expr **out);
TIDE_CHECKED tide_status tide__bind_aggregate(struct select_scope *s, const struct ast_expr *ast,
                                              const struct aggregate *aggregate, struct expr **out);
// Without a place among the SELECT's aggregates: the call alone.
TIDE_CHECKED tide_status tide__bind_aggregate_call(struct select_scope *s, const struct ast_expr *ast,
                                                   const struct aggregate *aggregate, struct bound_aggregate *bound);
bool tide__bind_same_aggregate(const struct bound_aggregate *a, const struct bound_aggregate *b);
const char *tide__bind_call_name(struct binder *b, const struct ast_expr *ast, const char *function);
TIDE_CHECKED tide_status tide__bind_over(struct select_scope *s, const struct ast_expr *ast, struct expr **out);
// Puts the SELECT's OVER calls on `input`; call i is column columns[i] of the result.
struct plan_node *tide__bind_over_nodes(struct select_scope *s, struct plan_node *input, uint32_t *columns);
// A bound call among the SELECT's; the second writes AVG, STDDEV and VAR out (bind_over_reduce.c).
TIDE_CHECKED tide_status tide__bind_add_over(struct select_scope *s, const struct bound_over *over, struct expr **out);
TIDE_CHECKED tide_status tide__bind_reduced_over(struct select_scope *s, const struct bound_over *over,
                                                 struct expr **out);
bool tide__over_is_rank(enum over_call_kind kind);
TIDE_CHECKED tide_status tide__bind_function(struct binder *b, const char *name, struct expr **args, uint32_t count,
                                             struct source_pos pos, struct expr **out);
struct expr *tide__bind_virtual(struct select_scope *s, enum virtual_kind kind, uint32_t index, const struct type *type,
                                struct source_pos pos);
struct expr *tide__bind_string(struct binder *b, const char *text, struct source_pos pos);
struct expr *tide__bind_integer(struct binder *b, enum type_kind kind, int64_t value, struct source_pos pos);
struct expr *tide__bind_boolean(struct binder *b, bool value, struct source_pos pos);
// If the call is TUMBLE_START(..) or its like: the property and the group function's name.
bool tide__bind_is_window_property(struct str name, const char **out_group, enum window_property *out_property,
                                   bool *out_proctime);
bool tide__bind_is_window_group(const struct ast_expr *ast);
// The two trees are the same text-wise: names, operators and literals.
bool tide__ast_equal(const struct ast_expr *a, const struct ast_expr *b);

// --- Queries ---

TIDE_CHECKED tide_status tide__bind_query(struct binder *b, const struct ast_query *query, struct relation *out);
TIDE_CHECKED tide_status tide__bind_select(struct binder *b, const struct ast_query *query, struct relation *out);
TIDE_CHECKED tide_status tide__bind_from(struct binder *b, const struct ast_table_ref *ref, struct relation *out);
TIDE_CHECKED tide_status tide__bind_join(struct binder *b, const struct ast_table_ref *ref, struct relation *out);
TIDE_CHECKED tide_status tide__bind_unnest(struct binder *b, const struct ast_table_ref *ref,
                                           const struct relation *left, bool outer, struct relation *out);
TIDE_CHECKED tide_status tide__bind_unnest_join(struct binder *b, const struct ast_table_ref *join,
                                                const struct relation *left, struct relation *out);
TIDE_CHECKED tide_status tide__bind_named_table(struct binder *b, const struct ast_path *path,
                                                const struct ast_options *options, struct relation *out);
TIDE_CHECKED tide_status tide__bind_scan(struct binder *b, const struct catalog_entry *entry,
                                         const struct ast_options *options, struct source_pos pos,
                                         struct relation *out);
TIDE_CHECKED tide_status tide__bind_window_function(struct binder *b, const struct ast_expr *call,
                                                    struct relation *out);
// GROUP BY TUMBLE(ts, ..) -> s->window, s->window_time.
TIDE_CHECKED tide_status tide__bind_group_window(struct select_scope *s, const struct ast_expr *call);
TIDE_CHECKED tide_status tide__bind_group_by(struct select_scope *s, const struct ast_query *query);

// What GROUP BY says once it is flat: sets of indexes into s->keys.
struct group_sets {
    uint32_t set_count;
    bool **sets;  // [set][key]: the key is in the set
};
TIDE_CHECKED tide_status tide__bind_group_sets(struct select_scope *s, const struct ast_query *query,
                                               struct group_sets *out);
// Where a SELECT's aggregate went that Flink's planner rewrites (bind_reduce.c).
struct reduced_aggregate {
    uint32_t value, count;  // of the aggregation's aggregates
    bool is_quotient;       // value / count, in this type
    const struct type *type;
};
// Puts the aggregation of `s` over s->input; *out has keys, aggregates, and what virtual columns need. See tide__bind_rewrite.
struct aggregated {
    struct relation relation;
    uint32_t aggregate_first;  // column of aggregate 0
    uint32_t property_first;   // of window properties (start, end, time) of a group window
    int32_t set_column;        // expand id, or -1
    struct group_sets sets;
    struct reduced_aggregate *reduced;  // one an aggregate of the SELECT; NULL: they are as written
};
// Rewrites s->aggregates before they are put into the aggregation; then what aggregate `index` of the SELECT is above it.
TIDE_CHECKED tide_status tide__bind_reduce(struct select_scope *s, struct aggregated *out);
TIDE_CHECKED tide_status tide__bind_reduced(struct select_scope *s, const struct aggregated *aggregated, uint32_t index,
                                            struct source_pos pos, struct expr **out);
TIDE_CHECKED tide_status tide__bind_aggregation(struct select_scope *s, const struct ast_query *query,
                                                struct aggregated *out);
// An expression over s->input and virtual columns -> over the aggregation's output.
TIDE_CHECKED tide_status tide__bind_after_aggregation(struct select_scope *s, const struct aggregated *aggregated,
                                                      struct expr *expr, struct expr **out);

// --- ORDER BY, LIMIT ---

// The columns that a query is ordered by: of its items, or further ones behind them.
struct order_by {
    struct select_scope *scope;
    bool distinct;
    uint32_t visible_count, item_count;
    struct expr **items;
    uint32_t key_count;
    struct sort_key *keys;
};
TIDE_CHECKED tide_status tide__bind_order_item(struct order_by *order, const struct ast_order_item *item);
// Puts the order and the limit of `query` on *inout, whose first `visible_count` fields are then left. The limit counts the
// rows for each value of the last `group_count` of these.
TIDE_CHECKED tide_status tide__bind_ordered(struct binder *b, const struct ast_query *query,
                                            const struct sort_key *keys, uint32_t key_count, uint32_t visible_count,
                                            uint32_t group_count, struct relation *inout);
TIDE_CHECKED tide_status tide__bind_tail(struct binder *b, const struct ast_query *query, struct relation *inout);

// --- Subqueries ---

// [NOT] EXISTS (..), x [NOT] IN (..), x > ANY|ALL (..), also under NOT: a condition of WHERE that becomes a SEMI or ANTI join.
const char *tide__bind_comparison_name(enum ast_op op, bool inverse);
bool tide__bind_is_semi_join(const struct ast_expr *ast);
TIDE_CHECKED tide_status tide__bind_semi_join(struct select_scope *s, const struct ast_expr *ast,
                                              struct plan_node *input, struct plan_node **out);
// (SELECT ..) as a value: a virtual column until its join is made.
TIDE_CHECKED tide_status tide__bind_subquery_value(struct select_scope *s, const struct ast_expr *ast,
                                                   struct expr **out);
TIDE_CHECKED tide_status tide__bind_exists_value(struct select_scope *s, const struct ast_expr *ast, struct expr **out);
TIDE_CHECKED tide_status tide__bind_in_value(struct select_scope *s, const struct ast_expr *ast, struct expr **out);
// A query that may look at the query of `s`; what it asks of it is left in *correlation.
TIDE_CHECKED tide_status tide__bind_correlated(struct select_scope *s, const struct ast_query *query,
                                               struct relation *out, struct correlation *correlation);
// The subquery's conditions, over `left_count` columns of the query around it and then the subquery's, joined to *inout.
TIDE_CHECKED tide_status tide__bind_join_condition(struct binder *b, const struct correlation *correlation,
                                                   uint32_t left_count, struct expr **inout);
// Moves the inner columns by `by`; makes all columns outer ones.
struct expr *tide__expr_move_inner(struct arena *arena, const struct expr *expr, int32_t by);
struct expr *tide__expr_outer(struct arena *arena, const struct expr *expr);
bool tide__expr_has_virtual(const struct expr *expr);
// Joins the subqueries from `first` on to `input`; the value of subquery i is column columns[i] of *out.
TIDE_CHECKED tide_status tide__bind_join_subqueries(struct select_scope *s, uint32_t first, struct plan_node *input,
                                                    uint32_t *columns, struct plan_node **out);
// The SELECT is a subquery with these conditions on outer columns: makes group keys or further items (from field `first_field`
// of its result on) of what they compare, and leaves c->conditions over the result. See bind_subquery.c.
struct correlated {
    struct select_scope *scope;
    struct expr *const *conditions;
    uint32_t condition_count;
    bool aggregated;
    uint32_t first_field;
    struct plan_node *input;  // of the SELECT, may be replaced
    uint32_t item_count;
    struct expr **items;
};
TIDE_CHECKED tide_status tide__bind_correlate(struct correlated *c, struct correlation *correlation);
bool tide__expr_has_outer(const struct expr *expr);

// --- Statements ---

TIDE_CHECKED tide_status tide__bind_create_table(struct binder *b, const struct statement *statement);
// CREATE TABLE .. AS: creates the table; the INSERT that fills it is *out.
TIDE_CHECKED tide_status tide__bind_create_as(struct binder *b, const struct statement *statement,
                                              const struct statement **out);
TIDE_CHECKED tide_status tide__bind_create_view(struct binder *b, const struct statement *statement);
// The name of a `-- uid: NAME` comment, or NULL.
TIDE_CHECKED tide_status tide__bind_uid(struct binder *b, const struct statement *statement, const char **out);
// ALTER TABLE .. ADD (..), SET (..)
TIDE_CHECKED tide_status tide__bind_alter(struct binder *b, const struct statement *statement);
TIDE_CHECKED tide_status tide__bind_drop(struct binder *b, const struct statement *statement);
TIDE_CHECKED tide_status tide__bind_describe(struct binder *b, const struct statement *statement);
TIDE_CHECKED tide_status tide__bind_show(struct binder *b, const struct statement *statement);
TIDE_CHECKED tide_status tide__bind_insert(struct binder *b, const struct statement *statement, struct plan_node **out);
TIDE_CHECKED tide_status tide__bind_sink_query(struct binder *b, const struct ast_query *query, struct source_pos pos,
                                               struct plan_node **out);

// --- Helpers ---

struct plan_node *tide__node_new(struct arena *arena, enum plan_kind kind, struct source_pos pos, uint32_t input_count,
                                 uint32_t field_count);
// A calc over `input` with all outputs NULL to be filled in, or a filter that passes all fields.
struct plan_node *tide__node_calc(struct arena *arena, struct plan_node *input, uint32_t field_count,
                                  struct source_pos pos);
struct plan_node *tide__node_filter(struct arena *arena, struct plan_node *input, struct expr *condition,
                                    struct source_pos pos);
// A raw join; its condition is over the left fields, then the right ones.
struct plan_node *tide__node_join(struct arena *arena, enum join_kind kind, struct plan_node *left,
                                  struct plan_node *right, struct source_pos pos);
struct plan_node *tide__node_distinct(struct arena *arena, struct plan_node *input, struct source_pos pos);
// The tree under a node once more: a plan is a tree, and planning changes it in place.
struct plan_node *tide__node_copy(struct arena *arena, const struct plan_node *node);
TIDE_CHECKED tide_status tide__bind_and(struct binder *b, struct expr *more, struct expr **inout);
TIDE_CHECKED tide_status tide__bind_conjunction(struct binder *b, struct expr **conditions, uint32_t count,
                                                struct expr **out);
struct expr *tide__node_column(struct arena *arena, const struct plan_node *node, uint32_t column,
                               struct source_pos pos);
const char *tide__bind_name(struct binder *b, struct str name);
void tide__bind_warn(struct binder *b, struct source_pos pos, const char *hint, const char *format, ...)
    TIDE_PRINTF(4, 5);
TIDE_CHECKED tide_status tide__bind_misspelt_connector(struct binder *b, const struct table *table);
// A growing array in an arena: makes room for one more. Doubles.
void *tide__bind_grow(struct arena *arena, void *items, uint32_t count, uint32_t *capacity, size_t size);
struct sql_rows *tide__rows_begin(struct binder *b, uint32_t column_count, const char *const *names,
                                  const struct type *const *types);
struct str *tide__rows_add(struct binder *b);
const char *tide__unparse(struct arena *arena, const struct ast_expr *ast);
// "did you mean" for columns of a relation.
const char *tide__bind_nearest_column(struct binder *b, const struct relation *relation, struct str name);

// --- Planning (plan_*.c) ---

enum role_kind { ROLE_NONE, ROLE_WINDOW_START, ROLE_WINDOW_END, ROLE_WINDOW_TIME, ROLE_SESSION_KEY };

// What the planner knows of a field: which window column it is, and of which window.
struct role {
    enum role_kind kind;
    uint32_t session_key;         // ROLE_SESSION_KEY: which partition key of the window function
    const struct window *window;  // of the window function it comes from
};

struct role *tide__plan_roles(struct arena *arena, const struct plan_node *node);
bool tide__plan_same_window(const struct window *a, const struct window *b);
// The field is the rank of a PLAN_OVER below calcs, and the only thing that it computes.
bool tide__plan_is_rank(const struct plan_node *node, uint32_t column);
// The field is a time attribute that a window may use (an aggregate's result of that type is none).
bool tide__plan_is_time_attribute(const struct plan_node *node, uint32_t column);
// "10 min", "1500 ms".
const char *tide__bind_duration_text(struct arena *arena, int64_t ms);
// Gives the error of a size that is no multiple of its slide or step the next ones that are.
tide_status tide__bind_hint_sizes(struct binder *b, const struct window *window);
// A legacy group window with early or late results: an aggregation of another kind (plan_emit.c).
TIDE_CHECKED tide_status tide__plan_emit(struct binder *b, struct plan_node *node, struct plan_node **out);
// Fails if early or late results are wanted: aggregations of window functions give none.
TIDE_CHECKED tide_status tide__plan_emit_refused(struct binder *b, const struct plan_node *node);
// How a field changes where its row is updated (plan_monotone.c).
enum monotone { MONOTONE_NONE, MONOTONE_CONSTANT, MONOTONE_RISES, MONOTONE_FALLS };
enum monotone tide__plan_monotone(const struct plan_node *node, uint32_t column);
// Sets aggregate_call.forward of a group aggregate.
void tide__plan_mark_forward(struct plan_node *group);
// What plan_rank.only_rises says, of a rank over `input` that has all but it.
bool tide__plan_only_rises(struct binder *b, const struct plan_node *input, const struct plan_rank *rank);
struct plan_node *tide__plan_merge_calcs(struct arena *arena, struct plan_node *node);
TIDE_CHECKED tide_status tide__plan_push_filters(struct binder *b, struct plan_node *node);
TIDE_CHECKED tide_status tide__plan_sort(struct binder *b, struct plan_node *node);
// A raw PLAN_RANK of a LIMIT.
void tide__plan_limit(struct binder *b, struct plan_node *node);
TIDE_CHECKED tide_status tide__plan_join(struct binder *b, struct plan_node *node, struct plan_node **out);
TIDE_CHECKED tide_status tide__plan_recognise(struct binder *b, struct plan_node *node, struct plan_node **out);
TIDE_CHECKED tide_status tide__plan_rank(struct binder *b, struct plan_node *calc, struct plan_node **out);
TIDE_CHECKED tide_status tide__plan_over(struct binder *b, struct plan_node *node);
TIDE_CHECKED tide_status tide__plan_aggregate(struct binder *b, struct plan_node *node, struct plan_node **out);
struct plan_node *tide__plan_prune(struct arena *arena, struct plan_node *root);
struct plan_node *tide__plan_lift_calcs(struct arena *arena, struct plan_node *node);
struct plan_node *tide__plan_drop_calcs(struct arena *arena, struct plan_node *node);
struct plan *tide__plan_finish(struct binder *b, struct plan_node **roots, uint32_t root_count,
                               const struct statement *statement, uint32_t job_index, const char *const *uids);
// table.exec.state.ttl: refuses a streaming plan whose state Flink would let expire by the clock.
TIDE_CHECKED tide_status tide__plan_check_ttl(struct binder *b, const struct plan *plan);
// Rewrites column references: column -> map[column]. Copies.
struct expr *tide__expr_remap(struct arena *arena, const struct expr *expr, const int32_t *map);
// Replaces columns by expressions.
struct expr *tide__expr_substitute(struct arena *arena, const struct expr *expr, struct expr *const *by);
void tide__expr_mark(const struct expr *expr, bool *used);

#endif
