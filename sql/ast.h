// The syntax tree: what parse.h makes of a script's text, before any name or type is looked up.
//
// Five node types: statement, ast_query, ast_table_ref, ast_expr and (inside statements) column_def. They live in
// the arena of the parse and are immutable afterwards. Each has `pos`, the place that it covers in the
// whole script, so that every later error can be shown under the text that caused it.
//
// ast_expr is one flat struct: all child expressions are in `args`, in source order, whatever the kind. A walker that
// only follows `args` (and `over`, `filter`, `order_by` of calls) sees everything but subqueries, which are `query`.
// The table at enum ast_expr_kind says which fields each kind uses; all others are zero.
//
// Trees are bounded: no node lies deeper than AST_DEPTH_MAX below its statement, so recursion over a tree needs no
// check of its own. AND and OR are flattened: `a AND b AND c` is one node with three args.
#ifndef TIDE_SQL_AST_H
#define TIDE_SQL_AST_H

#include "base/error.h"
#include "base/str.h"
#include "base/type.h"

#define AST_DEPTH_MAX 1000

// One identifier as written, without backticks, doubled backticks undone. `quoted`: it was in backticks.
struct ast_name {
    struct str text;
    struct source_pos pos;
    bool quoted;
};

// catalog.database.table, alias.column, ...: at least one part. parts[count - 1] is the last.
struct ast_path {
    struct ast_name *parts;
    uint32_t count;
    struct source_pos pos;
};

struct ast_names {
    struct ast_name *items;
    uint32_t count;
};

struct ast_expr;
struct ast_query;
struct ast_table_ref;
struct statement;

struct ast_exprs {
    struct ast_expr **items;
    uint32_t count;
};

// --- Expressions ---

enum ast_expr_kind {
    // Leaves
    AST_EXPR_LITERAL,   // literal, text; for INTERVAL also interval
    AST_EXPR_COLUMN,    // path: a, t.a, t.row_column.field (the binder tells them apart)
    AST_EXPR_STAR,      // path: qualifier of `t.*`, count 0 for `*`; in a select list or as COUNT's only argument
    AST_EXPR_SYMBOL,    // text, upper case: a keyword as an argument: time unit (DAY), TRIM's BOTH, LEADING, TRAILING
    AST_EXPR_DEFAULT,   // DEFAULT as an argument or a value
    AST_EXPR_INTERVAL,  // interval; args[0]: INTERVAL 5 MINUTE, INTERVAL (a + 1) DAY, INTERVAL a DAY
    // Operators
    AST_EXPR_UNARY,        // op: NEGATE, PLUS, NOT; args[0]
    AST_EXPR_BINARY,       // op: arithmetic, comparison, CONCAT, OVERLAPS; args[0], args[1]
                           // (a - b) DAY: a SUBTRACT with interval.from set
    AST_EXPR_AND,          // args: two or more
    AST_EXPR_OR,           // args: two or more
    AST_EXPR_IS,           // is, negated; args[0]
    AST_EXPR_IS_DISTINCT,  // negated (IS NOT DISTINCT FROM); args[0], args[1]
    AST_EXPR_BETWEEN,      // negated, symmetric; args: value, low, high
    AST_EXPR_LIKE,         // negated, op LIKE or SIMILAR; args: value, pattern[, escape]
    AST_EXPR_IN_LIST,      // negated; args: value, then the list (one or more)
    AST_EXPR_IN_QUERY,     // negated; args[0], query
    AST_EXPR_QUANTIFIED,   // op comparison, all (else ANY/SOME); args[0], query; or args[0], list if query is NULL
    AST_EXPR_EXISTS,       // query
    AST_EXPR_SUBQUERY,     // query: a query as a value
    AST_EXPR_CASE,         // has_operand, has_else; args: [operand,] when, then, when, then, ... [, else]
    AST_EXPR_CAST,         // type, try_cast; args[0]
    // Construction and access
    AST_EXPR_ROW,      // args: ROW(a, b) or (a, b); text is "ROW" if the word was written
    AST_EXPR_ARRAY,    // args; query for ARRAY(SELECT ..)
    AST_EXPR_MAP,      // args: key, value, key, value, ...
    AST_EXPR_ELEMENT,  // args: value, index
    AST_EXPR_FIELD,    // args[0].name: field of an expression that is not a plain path
    // Calls. path is the function's name as spelled; compare it case-insensitively.
    AST_EXPR_CALL,  // path, args; distinct, filter, over, order_by (WITHIN GROUP), json, niladic
                    // Special spellings become plain arguments:
                    //   EXTRACT(u FROM x) -> EXTRACT(SYMBOL u, x)     FLOOR|CEIL(x TO u) -> FLOOR(x, SYMBOL u)
                    //   TRIM([f] [c] FROM s) -> TRIM(SYMBOL f, c, s), f BOTH and c ' ' by default; TRIM(s) alike
                    //   SUBSTRING(s FROM a FOR n) -> SUBSTRING(s, a, n)   POSITION(a IN b) -> POSITION(a, b)
                    //   OVERLAY(s PLACING r FROM a FOR n) -> OVERLAY(s, r, a, n)
                    //   TIMESTAMPADD|TIMESTAMPDIFF(u, a, b) -> (SYMBOL u, a, b)
                    //   CURRENT_DATE and its like: no args, niladic set
                    //   JSON_OBJECT(KEY k VALUE v, ..) -> args k, v, k, v ...; clauses in json
    // Only as arguments
    AST_EXPR_NAMED_ARG,   // name => args[0]
    AST_EXPR_TABLE_ARG,   // query (TABLE (SELECT ..), (SELECT ..) and TABLE t as QUERY_TABLE); partition_by, order_by
                          // has_table_word: written with TABLE. Arguments of calls in FROM (TABLE_FUNCTION) that are
                          // a query are always this, those of other calls AST_EXPR_SUBQUERY unless TABLE was written.
    AST_EXPR_DESCRIPTOR,  // names
};

enum ast_op {
    OP_NONE,
    OP_NEGATE,
    OP_PLUS,
    OP_NOT,
    OP_ADD,
    OP_SUBTRACT,
    OP_MULTIPLY,
    OP_DIVIDE,
    OP_MODULO,
    OP_CONCAT,
    OP_EQUAL,
    OP_NOT_EQUAL,       // <>
    OP_BANG_NOT_EQUAL,  // !=, which Flink refuses; parse.c refuses it, so the binder never sees it
    OP_LESS,
    OP_LESS_EQUAL,
    OP_GREATER,
    OP_GREATER_EQUAL,
    OP_OVERLAPS,  // both args are rows of two
    OP_LIKE,
    OP_SIMILAR,
};

enum ast_is {
    IS_NULL,
    IS_TRUE,
    IS_FALSE,
    IS_UNKNOWN,
    IS_JSON_VALUE,  // IS JSON, IS JSON VALUE
    IS_JSON_OBJECT,
    IS_JSON_ARRAY,
    IS_JSON_SCALAR,
};

enum ast_literal {
    LITERAL_NULL,  // also UNKNOWN: text says which
    LITERAL_TRUE,
    LITERAL_FALSE,
    LITERAL_INTEGER,    // text: digits, any number of them; a sign is an AST_EXPR_UNARY around it
    LITERAL_DECIMAL,    // text: digits with a point, as written (1.5, .5, 1.)
    LITERAL_DOUBLE,     // text: with an exponent, as written
    LITERAL_STRING,     // text: the value, escapes undone
    LITERAL_BINARY,     // text: the bytes of X'..'
    LITERAL_DATE,       // text: inside the quotes, not checked
    LITERAL_TIME,       // text: the same
    LITERAL_TIMESTAMP,  // text: the same
    LITERAL_INTERVAL,   // text: the same; interval says the rest
};

enum ast_unit {
    UNIT_NONE,
    UNIT_YEAR,
    UNIT_QUARTER,
    UNIT_MONTH,
    UNIT_WEEK,
    UNIT_DAY,
    UNIT_HOUR,
    UNIT_MINUTE,
    UNIT_SECOND,
};

// INTERVAL [+-]'text' from[(precision)] [TO to[(fraction)]]. Plural units are folded. -1: not written.
struct ast_interval {
    bool negative;  // of the sign before the quotes
    enum ast_unit from, to;
    int32_t precision, fraction;
    struct source_pos text_pos;  // the quoted text
};

enum ast_nulls { NULLS_DEFAULT, NULLS_FIRST, NULLS_LAST };

struct ast_order_item {
    struct ast_expr *expr;
    bool descending;
    enum ast_nulls nulls;
    struct source_pos pos;
};

struct ast_order {
    struct ast_order_item *items;
    uint32_t count;
};

enum ast_bound {
    BOUND_UNBOUNDED_PRECEDING,
    BOUND_PRECEDING,
    BOUND_CURRENT_ROW,
    BOUND_FOLLOWING,
    BOUND_UNBOUNDED_FOLLOWING
};

// OVER (...), OVER name, or an entry of the WINDOW clause.
struct ast_window {
    struct ast_name base;  // OVER name, or OVER (name ...); text.len == 0 if none
    struct ast_exprs partition_by;
    struct ast_order order_by;
    bool has_frame, rows;  // ROWS, else RANGE
    enum ast_bound lower, upper;
    struct ast_expr *lower_value, *upper_value;  // of PRECEDING and FOLLOWING
    struct source_pos pos, partition_pos, order_pos, frame_pos;
};

enum ast_json_behavior {
    JSON_UNSET,
    JSON_NULL,
    JSON_ERROR,
    JSON_DEFAULT,  // with the value beside it
    JSON_EMPTY_ARRAY,
    JSON_EMPTY_OBJECT,
    JSON_TRUE,
    JSON_FALSE,
    JSON_UNKNOWN,
};

enum ast_json_wrapper { WRAPPER_UNSET, WRAPPER_WITHOUT, WRAPPER_CONDITIONAL, WRAPPER_UNCONDITIONAL };

// The clauses of JSON functions.
struct ast_json {
    const struct type *returning;  // NULL if not written
    struct source_pos returning_pos;
    enum ast_json_behavior on_empty, on_error;
    struct ast_expr *empty_value, *error_value;
    enum ast_json_wrapper wrapper;
    bool has_on_null, absent_on_null;  // NULL ON NULL | ABSENT ON NULL
};

struct ast_expr {
    enum ast_expr_kind kind;
    enum ast_op op;
    enum ast_literal literal;
    enum ast_is is;
    uint32_t depth;  // of this subtree; private to the parser
    bool negated, symmetric, all, try_cast, distinct, niladic, has_operand, has_else, has_table_word;
    struct source_pos pos;
    struct source_pos op_pos;  // the operator, for AST_EXPR_UNARY and AST_EXPR_BINARY; the name of an AST_EXPR_CALL
    struct ast_exprs args;
    struct ast_path path;
    struct str text;
    struct ast_name name;
    struct ast_names names;
    struct ast_interval interval;
    const struct type *type;
    struct ast_query *query;
    struct ast_exprs partition_by;
    struct ast_order order_by;
    struct ast_expr *filter;
    struct ast_window *over;
    struct ast_json *json;
};

// --- Tables ---

enum ast_table_kind {
    TABLE_NAME,      // path, options, system_time
    TABLE_SUBQUERY,  // query (also VALUES); lateral
    TABLE_FUNCTION,  // call: an AST_EXPR_CALL from TABLE(f(..)), LATERAL TABLE(f(..)) or a bare f(..)
    TABLE_UNNEST,    // call: the AST_EXPR_CALL UNNEST(..); with_ordinality
    TABLE_JOIN,      // left, right, join, ...; parentheses around joins leave no node
};

enum ast_join { AST_JOIN_INNER, AST_JOIN_LEFT, AST_JOIN_RIGHT, AST_JOIN_FULL, AST_JOIN_CROSS, AST_JOIN_COMMA };

// key = value, of WITH (..), OPTIONS(..), SET and ALTER.
struct ast_option {
    struct str key, value;
    struct source_pos key_pos, value_pos;
};

struct ast_options {
    struct ast_option *items;
    uint32_t count;
    struct source_pos pos;
};

struct ast_table_ref {
    enum ast_table_kind kind;
    uint32_t depth;  // private to the parser
    struct source_pos pos;
    struct ast_path path;
    struct ast_options options;    // /*+ OPTIONS(..) */
    struct ast_expr *system_time;  // FOR SYSTEM_TIME AS OF x
    struct ast_query *query;
    struct ast_expr *call;
    bool lateral, with_ordinality;
    struct ast_name alias;     // text.len == 0 if none
    struct ast_names columns;  // AS t (a, b)
    // TABLE_JOIN
    struct ast_table_ref *left, *right;
    enum ast_join join;
    bool natural;
    struct ast_expr *on;
    struct ast_names using_columns;
    struct source_pos join_pos;  // the words of the join, or the comma
};

// --- Queries ---

struct ast_select_item {
    struct ast_expr *expr;  // AST_EXPR_STAR for * and t.*
    struct ast_name alias;  // text.len == 0 if none
    struct source_pos pos;
};

// GROUP BY a, (b, c), (), GROUPING SETS ((a), ROLLUP (b), ()), ROLLUP (a, (b, c)), CUBE (..)
enum ast_group_kind {
    GROUP_EXPR,    // exprs: one, or several in parentheses, or none: ()
    GROUP_SETS,    // children
    GROUP_ROLLUP,  // children: GROUP_EXPR each
    GROUP_CUBE,    // children: GROUP_EXPR each
};

struct ast_group {
    enum ast_group_kind kind;
    struct source_pos pos;
    struct ast_exprs exprs;
    struct ast_group *children;
    uint32_t child_count;
};

struct ast_groups {
    struct ast_group *items;
    uint32_t count;
    bool distinct;  // GROUP BY DISTINCT
};

struct ast_named_window {
    struct ast_name name;
    struct ast_window *window;
};

struct ast_cte {
    struct ast_name name;
    struct ast_names columns;
    struct ast_query *query;
};

enum ast_query_kind {
    QUERY_SELECT,  // SELECT .. FROM .. WHERE ..
    QUERY_VALUES,  // rows: an AST_EXPR_ROW each (a lone value is a row of one)
    QUERY_TABLE,   // TABLE t: path
    QUERY_SET_OP,  // left op right
    QUERY_NESTED,  // left: (query) that had its own WITH, ORDER BY or LIMIT, with more around it
};

enum ast_set_op { SET_UNION, SET_INTERSECT, SET_EXCEPT };

struct ast_query {
    enum ast_query_kind kind;
    uint32_t depth;  // private to the parser
    struct source_pos pos;
    // WITH, of any kind
    struct ast_cte *ctes;
    uint32_t cte_count;
    // QUERY_SELECT
    bool distinct;
    struct source_pos distinct_pos;
    struct ast_select_item *items;
    uint32_t item_count;
    struct ast_table_ref *from;  // NULL without FROM
    struct ast_expr *where;
    bool has_group_by;
    struct ast_groups group_by;
    struct source_pos group_pos;
    struct ast_expr *having;
    struct ast_named_window *windows;
    uint32_t window_count;
    struct ast_expr *qualify;
    // QUERY_VALUES
    struct ast_exprs rows;
    // QUERY_TABLE
    struct ast_path path;
    // QUERY_SET_OP, QUERY_NESTED
    enum ast_set_op set_op;
    bool all;
    struct ast_query *left, *right;
    struct source_pos op_pos;
    // ORDER BY, OFFSET, LIMIT/FETCH, of any kind
    struct ast_order order_by;
    struct source_pos order_pos;
    struct ast_expr *offset, *limit;  // limit NULL: none, or LIMIT ALL
};

// --- Statements ---

enum column_kind { COLUMN_PHYSICAL, COLUMN_COMPUTED, COLUMN_METADATA };

struct column_def {
    enum column_kind kind;
    struct source_pos pos;
    struct ast_name name;
    const struct type *type;  // NOT NULL is in it; NULL for COLUMN_COMPUTED
    struct source_pos type_pos;
    struct ast_expr *expr;    // COLUMN_COMPUTED
    struct str metadata_key;  // METADATA FROM 'key'; data NULL if not written
    bool is_virtual;
    struct str comment;  // data NULL if not written
};

struct watermark_def {
    struct ast_path column;
    struct ast_expr *expr;
    struct source_pos pos;
};

// LIKE t (INCLUDING ALL, EXCLUDING OPTIONS ..)
enum like_merge { LIKE_INCLUDING, LIKE_EXCLUDING, LIKE_OVERWRITING };
struct like_option {
    enum like_merge merge;
    struct str what;  // upper case: ALL, CONSTRAINTS, GENERATED, METADATA, OPTIONS, PARTITIONS, WATERMARKS
    struct source_pos pos;
};

enum statement_kind {
    STATEMENT_QUERY,            // query
    STATEMENT_INSERT,           // path, query, overwrite, columns, partition
    STATEMENT_SET_OF,           // statements: EXECUTE STATEMENT SET BEGIN .. END, BEGIN STATEMENT SET; .. END
    STATEMENT_CREATE_TABLE,     // path, table ...; query for CREATE TABLE AS
    STATEMENT_CREATE_VIEW,      // path, columns, query, comment
    STATEMENT_DROP_TABLE,       // path
    STATEMENT_DROP_VIEW,        // path
    STATEMENT_SET,              // options: one entry, or none for a bare SET
    STATEMENT_RESET,            // options: one entry with a key only, or none for a bare RESET
    STATEMENT_DESCRIBE,         // path, extended
    STATEMENT_SHOW,             // what: TABLES, VIEWS, COLUMNS, CREATE TABLE, CREATE VIEW, CATALOGS, DATABASES, CURRENT
                                // DATABASE, ...; path (FROM t, CREATE TABLE t), like
    STATEMENT_EXPLAIN,          // statements: one
    STATEMENT_USE,              // path; what: "" or CATALOG or MODULES
    STATEMENT_ALTER_RENAME,     // ALTER TABLE|VIEW path RENAME TO new_path (what: TABLE or VIEW)
    STATEMENT_ALTER_ADD,        // ALTER TABLE path ADD ..: column_defs, watermark, primary_key
    STATEMENT_ALTER_SET,        // ALTER TABLE path SET (..): options
    STATEMENT_CREATE_DATABASE,  // path, if_not_exists, comment, options
    STATEMENT_DROP_DATABASE,    // path, if_exists
    STATEMENT_UNSUPPORTED,      // what, as the user may call it: CREATE FUNCTION, ALTER TABLE, ...; path if it has one
};

struct statement {
    enum statement_kind kind;
    // From the first word to the last, without the semicolon. text is that piece of the script.
    struct source_pos pos;
    struct str text;
    struct str uid;  // of a comment `-- uid: name` right before the statement; data NULL if none
    struct source_pos uid_pos;
    struct ast_path path;
    struct ast_path new_path;
    struct str what;
    struct str like;  // SHOW .. LIKE 'pattern'; data NULL if none
    bool temporary, or_replace, if_not_exists, if_exists, overwrite, extended;
    struct ast_query *query;
    struct ast_names columns;  // of a view, or INSERT's target columns; or PARTITIONED BY is partitioned_by
    struct str comment;        // data NULL if none
    struct ast_options options;
    // INSERT .. PARTITION (k = v, ..): expr NULL for a dynamic one
    struct ast_partition {
        struct ast_name name;
        struct ast_expr *value;
    } * partition;
    uint32_t partition_count;
    // CREATE TABLE
    struct column_def *column_defs;
    uint32_t column_def_count;
    struct watermark_def *watermark;  // NULL if none
    struct ast_names primary_key;     // count 0 if none; inline PRIMARY KEY gives one
    struct source_pos primary_key_pos;
    bool primary_key_enforced;  // NOT ENFORCED missing: Flink refuses that for most connectors
    struct ast_names partitioned_by;
    bool has_like;
    struct ast_path like_path;
    struct like_option *like_options;
    uint32_t like_option_count;
    // STATEMENT_SET_OF, STATEMENT_EXPLAIN
    struct statement **statements;
    uint32_t statement_count;
};

#endif
