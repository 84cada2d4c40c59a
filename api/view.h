// State tables of a savepoint as relations: columns with names and types, and entries decoded into them. What `tidemark
// inspect` lists, what its SQL and the connector 'tidemark-savepoint' read. Inside api/ only.
//
//   key    [window start, end]  key fields, in order-preserving form    (session start and number, arrival number: as they are)
//   value  accumulators, each in its form; of operators that keep rows: the row
//
// A view is made from the description in the savepoint alone: type texts, forms, clauses of the plan. No script is needed.
#ifndef TIDE_API_VIEW_H
#define TIDE_API_VIEW_H

#include "checkpoint/savepoint.h"
#include "engine/batch.h"
#include "tidemark.h"

// Where a column's value comes from.
enum view_part {
    VIEW_START,
    VIEW_END,          // of the window or slice
    VIEW_SESSION_END,  // last row + gap
    VIEW_RANK,         // place in its partition, from 1
    VIEW_KEY,          // key field `field`
    VIEW_VALUE,        // value field `field`
    VIEW_ELEMENTS,     // how many different values the set in value field `field` has
    VIEW_CHILD,        // field `child` of the row in value field `field`
    VIEW_REST,         // bytes of the key behind its fields
};

struct view_column {
    const char *name;
    const struct type *type;
    enum view_part part;
    uint32_t field, child;
};

// How a key field is written.
enum view_key_form {
    VIEW_KEY_VALUE,   // engine/codec/key.h
    VIEW_KEY_TIME,    // 8 bytes, sign flipped, no marker
    VIEW_KEY_NUMBER,  // 8 bytes, unsigned; those that count down are inverted
};

// How the bytes of a value field are to be read.
enum view_value_form {
    VIEW_PLAIN,     // I64, F64, I128
    VIEW_ORDERED,   // one value in key form; empty is NULL
    VIEW_EXACT,     // the same, but FLOAT and DOUBLE as 8 bytes
    VIEW_STRINGS,   // a list of strings
    VIEW_CELLS,     // a list of rows of one column
    VIEW_COUNTED,   // a set: count and value in key form
    VIEW_BAG,       // a list of rows of one column that is shown as a set
    VIEW_WEIGHTED,  // a list of DOUBLE and count
    VIEW_JSON_ARRAY,
    VIEW_JSON_OBJECT,
    VIEW_ROW,
    VIEW_OPAQUE,  // shown as bytes
};

struct view_key {
    enum view_key_form form;
    const struct type *type;
};

struct view_value {
    enum view_value_form form;
    const struct type *type;     // as shown
    const struct type *element;  // of lists and sets
    int32_t null_if_zero;        // the field that says whether there is a value; -1: none
};

struct state_view {
    const char *name;        // in SQL: window_aggregate_1, join_3_left
    const char *table_name;  // window-aggregate-1.groups
    const char *operator_id;
    const char *uid;  // NULL: none
    size_t table;     // in the savepoint
    const struct savepoint_table *stored;
    const struct state_table_desc *desc;
    bool windowed;
    bool sliced;                 // entries are slices of HOP or CUMULATE windows
    bool sessions;               // keys end in the session's start and the number of its piece
    bool passing;                // sessions that are due are sorted in it: empty but for a moment
    int64_t size_ms;             // of the window; SESSION: the gap; 0: unknown
    int64_t grid_ms, offset_ms;  // windows start at offset + a multiple of grid; 0: unknown, or in another time zone
    int64_t step_ms;             // of CUMULATE; else 0
    bool ranked;                 // entries of a partition stand in the order of their rank
    uint32_t leading_keys;       // fields at the front that are given as a prefix; of ranks: the partition's
    struct view_key *keys;
    struct view_value *values;
    size_t column_count;
    struct view_column *columns;
};

// The views of all tables, in their order. Everything lives in the arena, names point into the savepoint.
void tide__view_make_all(const struct savepoint_info *info, struct arena *arena, struct state_view **out,
                         size_t *out_count);
// By SQL name, table name, operator id or uid. NULL: none, or more than one (*out_ambiguous).
const struct state_view *tide__view_find(const struct state_view *views, size_t count, const char *name,
                                         bool *out_ambiguous);
// -1: no such column.
int tide__view_column(const struct state_view *view, struct str name);

// --- entries ------------------------------------------------------------------------------------------------------------

// A condition on a key: the column's value in key form.
struct view_condition {
    uint32_t column;
    struct str key_form;
};

struct view_range {
    bool has_window;
    int64_t start_ms, end_ms;  // end INT64_MIN: any
    size_t condition_count;
    const struct view_condition *conditions;
};

struct view_scan;
// Entries of a view in key order: each (window, key) once, pieces of a session put together. `wanted` are columns of the view, in the
// order in which tide__view_scan_next fills them. Reads only the chunks that can hold something.
tide_status tide__view_scan_open(struct savepoint *savepoint, const struct state_view *view, const uint32_t *wanted,
                                 size_t wanted_count, const struct view_range *range, struct view_scan **out,
                                 tide_error *err) TIDE_CHECKED;
// Up to rows_max rows into columns[*], which are made in the arena; 0 rows: the end.
tide_status tide__view_scan_next(struct view_scan *scan, size_t rows_max, struct arena *arena, struct column *columns,
                                 size_t *out_rows, tide_error *err) TIDE_CHECKED;
// The next entry as it is stored, borrowed until the next call; *out_found false: the end. Not to be mixed with the call above.
tide_status tide__view_scan_entry(struct view_scan *scan, struct str *out_key, struct str *out_value,
                                  uint64_t *out_rank, bool *out_found, tide_error *err) TIDE_CHECKED;
void tide__view_scan_close(struct view_scan *scan);

// --- decoding (view_decode.c) ----------------------------------------------------------------------------------------------

struct view_decoder;
struct view_decoder *tide__view_decoder_new(const struct state_view *view, const uint32_t *wanted, size_t wanted_count);
void tide__view_decoder_free(struct view_decoder *decoder);
// Decodes an entry into row `row` of columns[*]; what they point to is copied to the arena. False if the entry is malformed.
bool tide__view_decode(struct view_decoder *decoder, struct str key, struct str value, uint64_t rank,
                       struct arena *arena, struct column *columns, size_t row);
// Bytes of the first `fields` key fields, from the start of the key. 0: malformed.
size_t tide__view_key_prefix(const struct state_view *view, struct str key, uint32_t fields);
// A value field's list, set, row, ... as a value of its type. False if malformed.
bool tide__view_decode_bytes(const struct view_value *field, struct str bytes, struct arena *arena, struct column *out,
                             size_t row);
// How many elements a set has.
bool tide__view_count_elements(struct str bytes, int64_t *out);

#endif
