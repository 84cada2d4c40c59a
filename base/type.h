// Flink's logical column types, and the few physical forms their values take in memory.
//
// Many logical types share a physical form: TINYINT to BIGINT, DATE, TIME, short DECIMALs and millisecond
// timestamps are all 64-bit integers, so there is one kernel for them, and the logical type only says how far
// results wrap and how they are shown.
#ifndef TIDE_BASE_TYPE_H
#define TIDE_BASE_TYPE_H

#include "base/arena.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

typedef __int128 int128;

enum type_kind {
    TYPE_NULL,  // of a bare NULL literal
    TYPE_BOOLEAN,
    TYPE_TINYINT,
    TYPE_SMALLINT,
    TYPE_INT,
    TYPE_BIGINT,
    TYPE_FLOAT,
    TYPE_DOUBLE,
    TYPE_DECIMAL,          // precision 1..38, scale 0..precision
    TYPE_CHAR,             // precision: length
    TYPE_VARCHAR,          // precision: length; TYPE_STRING_LENGTH is shown as STRING
    TYPE_BINARY,           // precision: length
    TYPE_VARBINARY,        // precision: length; TYPE_STRING_LENGTH is shown as BYTES
    TYPE_DATE,             // days since 1970-01-01
    TYPE_TIME,             // milliseconds of the day; precision 0..9
    TYPE_TIMESTAMP,        // wall clock, milliseconds since 1970-01-01 00:00; precision 0..9
    TYPE_TIMESTAMP_LTZ,    // instant, milliseconds since the epoch UTC; precision 0..9
    TYPE_INTERVAL_MONTHS,  // INTERVAL YEAR TO MONTH, months
    TYPE_INTERVAL_MILLIS,  // INTERVAL DAY TO SECOND, milliseconds
    TYPE_ARRAY,            // children[0]
    TYPE_MULTISET,         // children[0]
    TYPE_MAP,              // children[0] -> children[1]
    TYPE_ROW,              // children with names
};

#define TYPE_STRING_LENGTH    INT32_MAX
#define DECIMAL_PRECISION_MAX 38

enum time_attribute { TIME_ATTRIBUTE_NONE, TIME_ATTRIBUTE_ROWTIME, TIME_ATTRIBUTE_PROCTIME };

// The form of a value in a column's buffer.
enum physical {
    PHYSICAL_BOOL,  // uint8_t 0 or 1
    PHYSICAL_I64,   // int64_t: integers, DATE, TIME, intervals, DECIMAL to 18 digits (unscaled), times to 3
    PHYSICAL_F64,   // double: DOUBLE and FLOAT (rounded to float after each operation)
    PHYSICAL_I128,  // int128: DECIMAL of 19 to 38 digits (unscaled)
    PHYSICAL_STR,   // struct str: CHAR, VARCHAR, BINARY, VARBINARY; also ARRAY, MAP, ROW in row codec bytes
    PHYSICAL_TIME,  // struct timestamp: TIMESTAMP and TIMESTAMP_LTZ of 4 to 9 digits
};

struct timestamp {
    int64_t ms;     // milliseconds since the epoch, floored
    int32_t nanos;  // 0..999999 nanoseconds of that millisecond
};

struct type;
struct type_child {
    const char *name;  // of a ROW's field, else NULL
    const struct type *type;
};

// Immutable once made; lives in an arena or is a static constant.
struct type {
    enum type_kind kind;
    bool nullable;
    enum time_attribute time_attribute;
    int32_t precision, scale;
    uint32_t child_count;
    const struct type_child *children;
};

enum physical tide__type_physical(const struct type *type);
// Bytes of one value in a column's buffer.
size_t tide__physical_size(enum physical physical);

// A type without parameters (precision by Flink's default: TIMESTAMP 6, TIME 0, DECIMAL 10,0, VARCHAR STRING).
struct type tide__type_make(enum type_kind kind, bool nullable);
struct type tide__type_make_sized(enum type_kind kind, bool nullable, int32_t precision, int32_t scale);
// A copy in the arena, with other nullability or without time attribute.
const struct type *tide__type_copy(struct arena *arena, const struct type *type);
const struct type *tide__type_with_nullable(struct arena *arena, const struct type *type, bool nullable);
const struct type *tide__type_without_time_attribute(struct arena *arena, const struct type *type);

// Same kind, parameters and children; nullability and time attribute are ignored.
bool tide__type_same(const struct type *a, const struct type *b);
bool tide__type_is_integer(const struct type *type);    // TINYINT to BIGINT
bool tide__type_is_numeric(const struct type *type);    // also DECIMAL, FLOAT, DOUBLE
bool tide__type_is_string(const struct type *type);     // CHAR, VARCHAR
bool tide__type_is_timestamp(const struct type *type);  // TIMESTAMP, TIMESTAMP_LTZ
bool tide__type_is_interval(const struct type *type);

// Flink's text: `DECIMAL(10, 2)`, `TIMESTAMP(3) NOT NULL *ROWTIME*`, `STRING`, `ROW<a INT, b STRING>`.
void tide__type_print(const struct type *type, struct strbuf *out);
// The same in an arena, for messages.
const char *tide__type_text(struct arena *arena, const struct type *type);

#endif
