// A changelog being written: rows as row codec bytes, in the order in which they go out.
#ifndef TIDE_ENGINE_OPERATORS_CHANGES_H
#define TIDE_ENGINE_OPERATORS_CHANGES_H

#include "engine/operator.h"

// Bytes must live until the changes are sent.
struct change {
    struct str row;
    int64_t rank;
    uint8_t kind;  // enum row_kind
};

struct changes {
    struct change *items;
    size_t count, capacity;
    struct arena arena;  // of the batch that goes out
};

void tide__changes_init(struct changes *changes);
void tide__changes_deinit(struct changes *changes);
void tide__changes_add(struct changes *changes, struct str row, enum row_kind kind, int64_t rank);
// Emits all changes in batches of at most rows_max and forgets them. The rows hold the first `row_fields` fields of the
// node; if it has one more, that is the rank.
tide_status tide__changes_send(struct changes *changes, const struct plan_node *node, uint32_t row_fields,
                               size_t rows_max, struct emitter *out, tide_error *err) TIDE_CHECKED;
// False if nobody behind the node looks at -U rows: sinks take them or leave them, and so do projections and unions.
bool tide__plan_needs_update_before(const struct plan *plan, const struct plan_node *node);

#endif
