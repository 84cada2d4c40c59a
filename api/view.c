// Views of state tables: which columns there are. See api/view.h.
#include "api/view.h"

#include "api/inspect.h"
#include "base/time.h"
#include "sql/parse.h"

#include <string.h>

static const struct type bigint_type = {.kind = TYPE_BIGINT, .nullable = true};
static const struct type double_type = {.kind = TYPE_DOUBLE, .nullable = true};
static const struct type string_type = {.kind = TYPE_VARCHAR, .nullable = true, .precision = TYPE_STRING_LENGTH};
static const struct type bytes_type = {.kind = TYPE_VARBINARY, .nullable = true, .precision = TYPE_STRING_LENGTH};
static const struct type time_type = {.kind = TYPE_TIMESTAMP, .nullable = true, .precision = 3};

// --- types ------------------------------------------------------------------------------------------------------------------

// Takes out what the parser does not read: a time attribute's mark.
static const char *without_marks(const char *text, struct arena *arena) {
    static const char *const marks[] = {" *ROWTIME*", " *PROCTIME*"};
    char *copy = tide__arena_strndup(arena, text, strlen(text));
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        for (char *at; (at = strstr(copy, marks[i])) != NULL;)
            memmove(at, at + strlen(marks[i]), strlen(at + strlen(marks[i])) + 1);
    return copy;
}

static const struct type *parse_type(const char *text, struct arena *arena) {
    const char *bare = without_marks(text, arena);
    const struct type *type = tide__parse_type_text(bare, strlen(bare), arena);
    return type != NULL ? tide__type_with_nullable(arena, type, true) : NULL;
}

static const struct type *wrap(enum type_kind kind, const struct type *element, struct arena *arena) {
    struct type_child *child = ARENA_NEW(arena, struct type_child);
    child->type = element;
    struct type *type = ARENA_NEW(arena, struct type);
    *type = (struct type){.kind = kind, .nullable = true, .child_count = 1, .children = child};
    return type;
}

// --- keys and values ----------------------------------------------------------------------------------------------------------

static bool ends_with(const char *text, const char *end) {
    size_t len = strlen(text), end_len = strlen(end);
    return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

static bool begins_with(const char *text, const char *start) {
    return strncmp(text, start, strlen(start)) == 0;
}

static void make_key(const struct state_view *view, size_t i, struct arena *arena, struct view_key *out) {
    const struct state_field *field = &view->desc->keys[i];
    bool last = i + 1 == view->desc->key_count;
    *out = (struct view_key){VIEW_KEY_VALUE, parse_type(field->type, arena)};
    if (last && view->sessions) *out = (struct view_key){VIEW_KEY_TIME, &time_type};
    if (last && strcmp(field->name, "row number") == 0) *out = (struct view_key){VIEW_KEY_TIME, &bigint_type};
    if (last && strcmp(field->name, "arrival") == 0 && strcmp(field->type, "BIGINT NOT NULL") == 0)
        *out = (struct view_key){VIEW_KEY_NUMBER, &bigint_type};
}

// Concatenated accumulators: what their elements are is known by the aggregate.
static void make_concat(const struct state_field *field, const struct type *type, struct arena *arena,
                        struct view_value *out) {
    const char *name = field->name;
    if (ends_with(name, " values") && type != NULL && type->kind == TYPE_MULTISET && type->child_count == 1)
        *out = (struct view_value){VIEW_COUNTED, type, type->children[0].type, -1};
    else if (begins_with(name, "LISTAGG("))
        *out = (struct view_value){VIEW_STRINGS, wrap(TYPE_ARRAY, &string_type, arena), &string_type, -1};
    else if (begins_with(name, "JSON_ARRAYAGG("))
        *out = (struct view_value){VIEW_JSON_ARRAY, &string_type, &string_type, -1};
    else if (begins_with(name, "JSON_OBJECTAGG("))
        *out = (struct view_value){VIEW_JSON_OBJECT, &string_type, &string_type, -1};
    else if (begins_with(name, "PERCENTILE("))
        *out = (struct view_value){VIEW_WEIGHTED, wrap(TYPE_MULTISET, &double_type, arena), &double_type, -1};
    else if (type != NULL && type->kind == TYPE_ARRAY)
        *out = (struct view_value){VIEW_CELLS, type, type->children[0].type, -1};
    else if (type != NULL && type->kind == TYPE_MULTISET)
        *out = (struct view_value){VIEW_BAG, type, type->children[0].type, -1};
    else
        *out = (struct view_value){VIEW_OPAQUE, &bytes_type, NULL, -1};
}

static void make_value(const struct state_view *view, size_t i, struct arena *arena, struct view_value *out) {
    const struct state_field *field = &view->desc->values[i];
    const struct type *type = parse_type(field->type, arena);
    *out = (struct view_value){VIEW_OPAQUE, &bytes_type, NULL, -1};
    if (field->form != STATE_FORM_BYTES) {
        if (type != NULL && tide__type_physical(type) == PHYSICAL_STR) type = NULL;
        *out = (struct view_value){VIEW_PLAIN, type != NULL ? type : &bigint_type, NULL, -1};
    } else if (type != NULL && type->kind == TYPE_ROW) {
        *out = (struct view_value){VIEW_ROW, type, NULL, -1};
    } else if (field->combiner == STATE_COMBINE_MIN || field->combiner == STATE_COMBINE_MAX) {
        if (type != NULL) *out = (struct view_value){VIEW_ORDERED, type, NULL, -1};
    } else if (field->combiner == STATE_COMBINE_FIRST || field->combiner == STATE_COMBINE_LAST) {
        if (type != NULL) *out = (struct view_value){VIEW_EXACT, type, NULL, -1};
    } else if (begins_with(field->name, "FIRST_VALUE(") || begins_with(field->name, "LAST_VALUE(")) {
        if (type != NULL) *out = (struct view_value){VIEW_EXACT, type, NULL, -1};
    } else if ((begins_with(field->name, "MIN(") || begins_with(field->name, "MAX(")) &&
               !ends_with(field->name, " values")) {
        if (type != NULL) *out = (struct view_value){VIEW_ORDERED, type, NULL, -1};
    } else {
        make_concat(field, type, arena, out);
    }
}

// `SUM(v)` is NULL as long as `SUM(v) count` is 0; so for ` set` and ` valid`.
static void find_null_fields(const struct state_table_desc *desc, struct view_value *values) {
    static const char *const marks[] = {" valid", " set", " count"};
    for (size_t i = 0; i < desc->value_count; i++) {
        size_t len = strlen(desc->values[i].name);
        for (size_t m = 0; m < sizeof marks / sizeof *marks && values[i].null_if_zero < 0; m++)
            for (size_t k = i + 1; k < desc->value_count && k <= i + 2; k++)
                if (desc->values[k].form == STATE_FORM_I64 &&
                    strncmp(desc->values[k].name, desc->values[i].name, len) == 0 &&
                    strcmp(desc->values[k].name + len, marks[m]) == 0)
                    values[i].null_if_zero = (int32_t)k;
    }
}

// --- columns ------------------------------------------------------------------------------------------------------------------

int tide__view_column(const struct state_view *view, struct str name) {
    for (size_t i = 0; i < view->column_count; i++)
        if (tide__str_eq_c(name, view->columns[i].name)) return (int)i;
    return -1;
}

static void add_column(struct state_view *view, const char *name, const struct type *type, enum view_part part,
                       uint32_t field, uint32_t child, struct arena *arena) {
    const char *unique = name;
    for (int n = 2; tide__view_column(view, tide__str(unique)) >= 0; n++)
        unique = tide__arena_printf(arena, "%s #%d", name, n);
    view->columns[view->column_count++] = (struct view_column){unique, type, part, field, child};
}

static bool row_has(const struct state_view *view, const char *name) {
    for (size_t i = 0; i < view->desc->value_count; i++) {
        if (view->values[i].form != VIEW_ROW) continue;
        for (uint32_t c = 0; c < view->values[i].type->child_count; c++)
            if (strcmp(view->values[i].type->children[c].name, name) == 0) return true;
    }
    return false;
}

static void add_key_columns(struct state_view *view, struct arena *arena) {
    if (view->windowed) {
        add_column(view, view->sliced ? "slice_start" : "window_start", &time_type, VIEW_START, 0, 0, arena);
        add_column(view, view->sliced ? "slice_end" : "window_end", &time_type, VIEW_END, 0, 0, arena);
    }
    size_t fields = view->desc->key_count - (view->sessions ? 1 : 0);
    if (view->sessions) {
        add_column(view, "window_start", &time_type, VIEW_KEY, (uint32_t)fields, 0, arena);
        add_column(view, "window_end", &time_type, VIEW_SESSION_END, 0, 0, arena);
    }
    if (view->ranked) add_column(view, "rank", &bigint_type, VIEW_RANK, 0, 0, arena);
    for (size_t i = 0; i < fields; i++) {
        const struct view_key *key = &view->keys[i];
        if (key->type == NULL) break;  // and nothing behind it can be read
        if (key->form == VIEW_KEY_VALUE && row_has(view, view->desc->keys[i].name)) continue;
        add_column(view, view->desc->keys[i].name, key->type, VIEW_KEY, (uint32_t)i, 0, arena);
    }
    if (view->desc->key_count == 0 && !view->windowed) add_column(view, "key", &bytes_type, VIEW_REST, 0, 0, arena);
}

// A row of a windowed table has its window in the key already.
static bool is_window_bound(const struct state_view *view, const char *name) {
    return view->windowed && (strcmp(name, "window_start") == 0 || strcmp(name, "window_end") == 0) &&
           tide__view_column(view, tide__str(name)) >= 0;
}

static void add_value_columns(struct state_view *view, struct arena *arena) {
    for (uint32_t i = 0; i < view->desc->value_count; i++) {
        const struct view_value *value = &view->values[i];
        const char *name = view->desc->values[i].name;
        if (value->form == VIEW_ROW) {
            for (uint32_t c = 0; c < value->type->child_count; c++)
                if (!is_window_bound(view, value->type->children[c].name))
                    add_column(view, value->type->children[c].name, value->type->children[c].type, VIEW_CHILD, i, c,
                               arena);
            continue;
        }
        if (ends_with(name, " set") || ends_with(name, " valid")) continue;  // they say whether another field is NULL
        if (value->form == VIEW_COUNTED) {
            const char *base = tide__arena_strndup(arena, name, strlen(name) - strlen(" values"));
            add_column(view, tide__arena_printf(arena, "%s elements", base), &bigint_type, VIEW_ELEMENTS, i, 0, arena);
        }
        add_column(view, name, value->type, VIEW_VALUE, i, 0, arena);
    }
}

// --- views --------------------------------------------------------------------------------------------------------------------

static uint32_t clause_count(const struct plan_operator *op, const char *code) {
    uint32_t count = 0;
    for (size_t i = 0; op != NULL && i < op->clause_count; i++) count += strcmp(op->clauses[i].code, code) == 0;
    return count;
}

static int64_t duration(const struct plan_operator *op, const char *code) {
    const char *text = tide__api_clause(op, code);
    int64_t ms;
    return text != NULL && tide__duration_parse(tide__str(text), &ms) ? ms : 0;
}

static void read_window(const struct plan_operator *op, struct state_view *view) {
    const char *type = tide__api_clause(op, "window.type"), *size = tide__api_clause(op, "window.size");
    if (size == NULL) size = tide__api_clause(op, "window.session_gap");
    if (size == NULL || !tide__duration_parse(tide__str(size), &view->size_ms)) view->size_ms = 0;
    view->step_ms = duration(op, "window.step");
    view->offset_ms = duration(op, "window.offset");
    if (tide__api_clause(op, "config.time_zone") == NULL && tide__api_clause(op, "window.session_gap") == NULL)
        view->grid_ms = tide__api_clause(op, "window.slide") != NULL ? duration(op, "window.slide") : view->size_ms;
    view->sliced = view->windowed && op != NULL && strcmp(op->kind, "window-aggregate") == 0 && type != NULL &&
                   (strcmp(type, "HOP") == 0 || strcmp(type, "CUMULATE") == 0);
}

// Key fields that stand in ascending form at the front; of operators that sort rows those of the partition.
static void read_rank(const struct plan_operator *op, struct state_view *view) {
    size_t keys = view->desc->key_count;
    bool sorts = ends_with(view->desc->name, ".rows") || ends_with(view->desc->name, ".waiting");
    bool ranks = op != NULL && (strcmp(op->kind, "window-rank") == 0 || strcmp(op->kind, "rank") == 0);
    while (view->leading_keys < keys && view->keys[view->leading_keys].form == VIEW_KEY_VALUE) view->leading_keys++;
    if (!sorts || op == NULL) return;
    bool numbered = keys > 0 && strcmp(view->desc->keys[keys - 1].name, "arrival") == 0;
    uint32_t partition = clause_count(op, "topn.partition");
    if (numbered && !ranks) view->leading_keys = 0;
    if (!ranks || !numbered || partition >= keys) return;
    view->ranked = true;
    view->leading_keys = partition;
}

static void make_view(const struct savepoint_info *info, size_t table, struct arena *arena, struct state_view *out) {
    const struct state_table_desc *desc = &info->tables[table].desc;
    const struct plan_operator *op = tide__api_operator(info, desc->operator_id);
    *out = (struct state_view){
        .table_name = desc->name,
        .operator_id = desc->operator_id,
        .uid = op != NULL ? op->uid : NULL,
        .table = table,
        .stored = &info->tables[table],
        .desc = desc,
        .windowed = desc->kind == STATE_TABLE_WINDOWED,
    };
    out->passing = ends_with(desc->name, ".ended");
    out->sessions = ends_with(desc->name, ".sessions") && desc->key_count > 0;
    read_window(op, out);
    out->keys = ARENA_ARRAY(arena, struct view_key, desc->key_count + 1);
    out->values = ARENA_ARRAY(arena, struct view_value, desc->value_count + 1);
    for (size_t i = 0; i < desc->key_count; i++) make_key(out, i, arena, &out->keys[i]);
    for (size_t i = 0; i < desc->value_count; i++) make_value(out, i, arena, &out->values[i]);
    find_null_fields(desc, out->values);
    read_rank(op, out);
    size_t most = desc->key_count + 2 * desc->value_count + 8;
    for (size_t i = 0; i < desc->value_count; i++)
        if (out->values[i].form == VIEW_ROW) most += out->values[i].type->child_count;
    out->columns = ARENA_ARRAY(arena, struct view_column, most);
    add_key_columns(out, arena);
    add_value_columns(out, arena);
}

// Letters, digits and _: no backticks are needed. The table's own name only where the operator has several.
static void name_view(struct state_view *views, size_t count, size_t at, struct arena *arena) {
    struct state_view *view = &views[at];
    bool alone = !view->passing;
    for (size_t i = 0; i < count; i++)
        alone &= i == at || views[i].passing || strcmp(views[i].operator_id, view->operator_id) != 0;
    char *name = tide__arena_printf(arena, "%s", alone ? view->operator_id : view->table_name);
    for (char *c = name; *c != '\0'; c++)
        if (*c == '-' || *c == '.') *c = '_';
    view->name = name;
}

void tide__view_make_all(const struct savepoint_info *info, struct arena *arena, struct state_view **out,
                         size_t *out_count) {
    struct state_view *views = ARENA_ARRAY(arena, struct state_view, info->table_count + 1);
    for (size_t i = 0; i < info->table_count; i++) make_view(info, i, arena, &views[i]);
    for (size_t i = 0; i < info->table_count; i++) name_view(views, info->table_count, i, arena);
    *out = views;
    *out_count = info->table_count;
}

const struct state_view *tide__view_find(const struct state_view *views, size_t count, const char *name,
                                         bool *out_ambiguous) {
    const struct state_view *found = NULL;
    *out_ambiguous = false;
    for (size_t i = 0; i < count; i++)
        if (strcmp(views[i].name, name) == 0 || strcmp(views[i].table_name, name) == 0) return &views[i];
    for (size_t i = 0; i < count; i++) {
        const struct state_view *view = &views[i];
        if (strcmp(view->operator_id, name) != 0 && (view->uid == NULL || strcmp(view->uid, name) != 0)) continue;
        if (view->passing) continue;
        *out_ambiguous |= found != NULL;
        found = view;
    }
    return *out_ambiguous ? NULL : found;
}
