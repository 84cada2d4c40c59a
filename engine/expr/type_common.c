// The common type of several types, as CASE, COALESCE, UNION, IN and arrays want it: numbers widen, strings
// lengthen, times take the larger precision. There is none between strings and numbers: Flink converts nothing
// silently there.
#include "engine/expr/kernel.h"

#include "base/arena.h"

static int max_int(int a, int b) {
    return a > b ? a : b;
}

static bool common_decimal(const struct type *a, const struct type *b, struct type *out) {
    int scale = max_int(tide__decimal_scale(a), tide__decimal_scale(b));
    int digits = max_int(tide__decimal_precision(a) - tide__decimal_scale(a),
                         tide__decimal_precision(b) - tide__decimal_scale(b));
    int precision = digits + scale;
    if (precision > DECIMAL_PRECISION_MAX) {
        precision = DECIMAL_PRECISION_MAX;
        scale = max_int(DECIMAL_PRECISION_MAX - digits, scale < 6 ? scale : 6);
    }
    *out = tide__type_make_sized(TYPE_DECIMAL, false, precision, scale);
    return true;
}

static bool common_number(const struct type *a, const struct type *b, struct type *out) {
    bool a_float = a->kind == TYPE_FLOAT || a->kind == TYPE_DOUBLE;
    bool b_float = b->kind == TYPE_FLOAT || b->kind == TYPE_DOUBLE;
    if (a_float || b_float) {
        bool wide = a->kind == TYPE_DOUBLE || b->kind == TYPE_DOUBLE || a->kind == TYPE_DECIMAL ||
                    b->kind == TYPE_DECIMAL;
        *out = tide__type_make(wide ? TYPE_DOUBLE : TYPE_FLOAT, false);
        return true;
    }
    if (a->kind == TYPE_DECIMAL || b->kind == TYPE_DECIMAL) return common_decimal(a, b, out);
    *out = tide__type_make(a->kind > b->kind ? a->kind : b->kind, false);
    return true;
}

static bool is_bytes(const struct type *type) {
    return type->kind == TYPE_BINARY || type->kind == TYPE_VARBINARY;
}

static bool common_text(const struct type *a, const struct type *b, enum type_kind fixed, enum type_kind varying,
                        struct type *out) {
    int longer = max_int(a->precision, b->precision);
    bool same = a->kind == fixed && b->kind == fixed && a->precision == b->precision;
    *out = tide__type_make_sized(same ? fixed : varying, false, longer, 0);
    return true;
}

static bool common_time(const struct type *a, const struct type *b, struct type *out) {
    int precision = 0;
    if (tide__type_is_timestamp(a)) precision = a->precision;
    if (tide__type_is_timestamp(b)) precision = max_int(precision, b->precision);
    bool ltz = a->kind == TYPE_TIMESTAMP_LTZ || b->kind == TYPE_TIMESTAMP_LTZ;
    *out = tide__type_make_sized(ltz ? TYPE_TIMESTAMP_LTZ : TYPE_TIMESTAMP, false, precision, 0);
    return true;
}

static bool common_nested(struct arena *arena, const struct type *a, const struct type *b, struct type *out) {
    if (a->kind != b->kind || a->child_count != b->child_count) return false;
    struct type_child *children = ARENA_ARRAY(arena, struct type_child, a->child_count);
    for (uint32_t i = 0; i < a->child_count; i++) {
        const struct type *pair[] = {a->children[i].type, b->children[i].type};
        children[i].name = a->children[i].name;
        if (!tide__type_common(arena, pair, 2, &children[i].type)) return false;
    }
    *out = *a;
    out->children = children;
    return true;
}

static bool common_pair(struct arena *arena, const struct type *a, const struct type *b, struct type *out) {
    if (a->kind == TYPE_NULL) return *out = *b, true;
    if (b->kind == TYPE_NULL || tide__type_same(a, b)) return *out = *a, true;
    if (tide__type_is_numeric(a) && tide__type_is_numeric(b)) return common_number(a, b, out);
    if (tide__type_is_string(a) && tide__type_is_string(b)) return common_text(a, b, TYPE_CHAR, TYPE_VARCHAR, out);
    if (is_bytes(a) && is_bytes(b)) return common_text(a, b, TYPE_BINARY, TYPE_VARBINARY, out);
    bool a_time = tide__type_is_timestamp(a) || a->kind == TYPE_DATE;
    bool b_time = tide__type_is_timestamp(b) || b->kind == TYPE_DATE;
    if (a_time && b_time) return common_time(a, b, out);
    if (a->kind == TYPE_TIME && b->kind == TYPE_TIME) {
        *out = a->precision > b->precision ? *a : *b;
        return true;
    }
    if (a->child_count > 0) return common_nested(arena, a, b, out);
    return false;
}

bool tide__type_common(struct arena *arena, const struct type *const *types, size_t n, const struct type **out) {
    if (n == 0) return false;
    struct type common = *types[0];
    bool nullable = types[0]->nullable;
    for (size_t i = 1; i < n; i++) {
        struct type next;
        if (!common_pair(arena, &common, types[i], &next)) return false;
        common = next;
        nullable = nullable || types[i]->nullable;
    }
    common.nullable = nullable || common.kind == TYPE_NULL;
    common.time_attribute = TIME_ATTRIBUTE_NONE;
    *out = tide__type_copy(arena, &common);
    return true;
}
