// Logical types: their physical form, copies, comparison, and Flink's text for them.
#include "base/type.h"

#include <assert.h>
#include <stddef.h>

// Decimals to 18 digits are kept in 64 bits, as Flink does.
#define DECIMAL_PRECISION_I64 18
// Timestamps to milliseconds are kept in 64 bits.
#define TIMESTAMP_PRECISION_I64 3

enum physical tide__type_physical(const struct type *type) {
    switch (type->kind) {
    case TYPE_BOOLEAN: return PHYSICAL_BOOL;
    case TYPE_NULL:
    case TYPE_TINYINT:
    case TYPE_SMALLINT:
    case TYPE_INT:
    case TYPE_BIGINT:
    case TYPE_DATE:
    case TYPE_TIME:
    case TYPE_INTERVAL_MONTHS:
    case TYPE_INTERVAL_MILLIS: return PHYSICAL_I64;
    case TYPE_FLOAT:
    case TYPE_DOUBLE: return PHYSICAL_F64;
    case TYPE_DECIMAL: return type->precision <= DECIMAL_PRECISION_I64 ? PHYSICAL_I64 : PHYSICAL_I128;
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_LTZ: return type->precision <= TIMESTAMP_PRECISION_I64 ? PHYSICAL_I64 : PHYSICAL_TIME;
    case TYPE_CHAR:
    case TYPE_VARCHAR:
    case TYPE_BINARY:
    case TYPE_VARBINARY:
    case TYPE_ARRAY:
    case TYPE_MULTISET:
    case TYPE_MAP:
    case TYPE_ROW: return PHYSICAL_STR;
    }
    assert(false && "a type kind out of range");
    return PHYSICAL_I64;
}

size_t tide__physical_size(enum physical physical) {
    switch (physical) {
    case PHYSICAL_BOOL: return 1;
    case PHYSICAL_I64:
    case PHYSICAL_F64: return 8;
    case PHYSICAL_I128: return sizeof(int128);
    case PHYSICAL_STR: return sizeof(struct str);
    case PHYSICAL_TIME: return sizeof(struct timestamp);
    }
    assert(false && "a physical form out of range");
    return 0;
}

static int32_t default_precision(enum type_kind kind) {
    switch (kind) {
    case TYPE_DECIMAL: return 10;
    case TYPE_CHAR:
    case TYPE_BINARY: return 1;
    case TYPE_VARCHAR:
    case TYPE_VARBINARY: return TYPE_STRING_LENGTH;
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_LTZ: return 6;
    case TYPE_INTERVAL_MILLIS: return 3;
    default: return 0;
    }
}

struct type tide__type_make(enum type_kind kind, bool nullable) {
    return tide__type_make_sized(kind, nullable, default_precision(kind), 0);
}

struct type tide__type_make_sized(enum type_kind kind, bool nullable, int32_t precision, int32_t scale) {
    assert(kind != TYPE_DECIMAL ||
           (precision >= 1 && precision <= DECIMAL_PRECISION_MAX && scale >= 0 && scale <= precision));
    return (struct type){.kind = kind, .nullable = nullable, .precision = precision, .scale = scale};
}

// A copy of one node; its children stay shared with the original, for types never change.
static struct type *copy_node(struct arena *arena, const struct type *type) {
    struct type *copy = tide__arena_alloc(arena, sizeof(*copy));
    *copy = *type;
    return copy;
}

const struct type *tide__type_copy(struct arena *arena, const struct type *type) {
    // Deep, so that the copy may outlive the arena of the original. The parser bounds the depth of types.
    struct type *copy = copy_node(arena, type);
    if (type->child_count == 0) return copy;
    struct type_child *children = ARENA_ARRAY(arena, struct type_child, type->child_count);
    for (uint32_t i = 0; i < type->child_count; i++) {
        const char *name = type->children[i].name;
        children[i].name = name != NULL ? tide__arena_printf(arena, "%s", name) : NULL;
        children[i].type = tide__type_copy(arena, type->children[i].type);
    }
    copy->children = children;
    return copy;
}

const struct type *tide__type_with_nullable(struct arena *arena, const struct type *type, bool nullable) {
    if (type->nullable == nullable) return type;
    struct type *copy = copy_node(arena, type);
    copy->nullable = nullable;
    return copy;
}

const struct type *tide__type_without_time_attribute(struct arena *arena, const struct type *type) {
    if (type->time_attribute == TIME_ATTRIBUTE_NONE) return type;
    struct type *copy = copy_node(arena, type);
    copy->time_attribute = TIME_ATTRIBUTE_NONE;
    return copy;
}

static bool same_name(const char *a, const char *b) {
    if (a == NULL || b == NULL) return a == b;
    return tide__str_eq_c(tide__str(a), b);
}

bool tide__type_same(const struct type *a, const struct type *b) {
    if (a == b) return true;
    if (a->kind != b->kind || a->precision != b->precision || a->scale != b->scale) return false;
    if (a->child_count != b->child_count) return false;
    for (uint32_t i = 0; i < a->child_count; i++) {
        if (!same_name(a->children[i].name, b->children[i].name)) return false;
        if (!tide__type_same(a->children[i].type, b->children[i].type)) return false;
    }
    return true;
}

bool tide__type_is_integer(const struct type *type) {
    return type->kind >= TYPE_TINYINT && type->kind <= TYPE_BIGINT;
}

bool tide__type_is_numeric(const struct type *type) {
    return type->kind >= TYPE_TINYINT && type->kind <= TYPE_DECIMAL;
}

bool tide__type_is_string(const struct type *type) {
    return type->kind == TYPE_CHAR || type->kind == TYPE_VARCHAR;
}

bool tide__type_is_timestamp(const struct type *type) {
    return type->kind == TYPE_TIMESTAMP || type->kind == TYPE_TIMESTAMP_LTZ;
}

bool tide__type_is_interval(const struct type *type) {
    return type->kind == TYPE_INTERVAL_MONTHS || type->kind == TYPE_INTERVAL_MILLIS;
}

// The name of a kind without its parameters.
static const char *kind_name(enum type_kind kind) {
    switch (kind) {
    case TYPE_NULL: return "NULL";
    case TYPE_BOOLEAN: return "BOOLEAN";
    case TYPE_TINYINT: return "TINYINT";
    case TYPE_SMALLINT: return "SMALLINT";
    case TYPE_INT: return "INT";
    case TYPE_BIGINT: return "BIGINT";
    case TYPE_FLOAT: return "FLOAT";
    case TYPE_DOUBLE: return "DOUBLE";
    case TYPE_DECIMAL: return "DECIMAL";
    case TYPE_CHAR: return "CHAR";
    case TYPE_VARCHAR: return "VARCHAR";
    case TYPE_BINARY: return "BINARY";
    case TYPE_VARBINARY: return "VARBINARY";
    case TYPE_DATE: return "DATE";
    case TYPE_TIME: return "TIME";
    case TYPE_TIMESTAMP: return "TIMESTAMP";
    case TYPE_TIMESTAMP_LTZ: return "TIMESTAMP_LTZ";
    case TYPE_INTERVAL_MONTHS: return "INTERVAL MONTH";
    case TYPE_INTERVAL_MILLIS: return "INTERVAL SECOND(3)";
    case TYPE_ARRAY: return "ARRAY";
    case TYPE_MULTISET: return "MULTISET";
    case TYPE_MAP: return "MAP";
    case TYPE_ROW: return "ROW";
    }
    assert(false && "a type kind out of range");
    return "";
}

// `name`, with backticks inside doubled.
static void print_name(const char *name, struct strbuf *out) {
    tide__strbuf_append_char(out, '`');
    for (const char *c = name; *c != '\0'; c++) {
        if (*c == '`') tide__strbuf_append_char(out, '`');
        tide__strbuf_append_char(out, *c);
    }
    tide__strbuf_append_char(out, '`');
}

static void print_children(const struct type *type, struct strbuf *out) {
    tide__strbuf_append_char(out, '<');
    for (uint32_t i = 0; i < type->child_count; i++) {
        if (i > 0) tide__strbuf_append_c(out, ", ");
        if (type->children[i].name != NULL) {
            print_name(type->children[i].name, out);
            tide__strbuf_append_char(out, ' ');
        }
        tide__type_print(type->children[i].type, out);
    }
    tide__strbuf_append_char(out, '>');
}

static void print_parameters(const struct type *type, struct strbuf *out) {
    switch (type->kind) {
    case TYPE_DECIMAL: tide__strbuf_printf(out, "(%d, %d)", type->precision, type->scale); break;
    case TYPE_CHAR:
    case TYPE_VARCHAR:
    case TYPE_BINARY:
    case TYPE_VARBINARY:
    case TYPE_TIME:
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_LTZ: tide__strbuf_printf(out, "(%d)", type->precision); break;
    case TYPE_ARRAY:
    case TYPE_MULTISET:
    case TYPE_MAP:
    case TYPE_ROW: print_children(type, out); break;
    default: break;
    }
}

void tide__type_print(const struct type *type, struct strbuf *out) {
    bool unbounded = type->precision == TYPE_STRING_LENGTH;
    if (type->kind == TYPE_VARCHAR && unbounded) {
        tide__strbuf_append_c(out, "STRING");
    } else if (type->kind == TYPE_VARBINARY && unbounded) {
        tide__strbuf_append_c(out, "BYTES");
    } else {
        tide__strbuf_append_c(out, kind_name(type->kind));
        print_parameters(type, out);
    }
    if (!type->nullable) tide__strbuf_append_c(out, " NOT NULL");
    if (type->time_attribute == TIME_ATTRIBUTE_ROWTIME) tide__strbuf_append_c(out, " *ROWTIME*");
    if (type->time_attribute == TIME_ATTRIBUTE_PROCTIME) tide__strbuf_append_c(out, " *PROCTIME*");
}

const char *tide__type_text(struct arena *arena, const struct type *type) {
    struct strbuf buf = {0};
    tide__type_print(type, &buf);
    const char *text = tide__arena_strndup(arena, buf.data, buf.len);
    tide__strbuf_deinit(&buf);
    return text;
}
