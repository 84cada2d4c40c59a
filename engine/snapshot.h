// What a barrier collects from a task besides its state tables. Data only: the engine fills it, checkpoint/ stores it.
#ifndef TIDE_ENGINE_SNAPSHOT_H
#define TIDE_ENGINE_SNAPSHOT_H

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum task_part_kind { TASK_PART_SOURCE, TASK_PART_OPERATOR, TASK_PART_SINK };

// One node of the plan.
struct task_part {
    enum task_part_kind kind;
    const char *operator_id;
    int64_t watermark;  // that has passed the node; WATERMARK_NONE: none
    struct str saved;   // the operator's or connector's own encoding
    // sources only
    int64_t watermark_reached;  // largest value of the watermark expression (starts at 0, as Flink's assigner does)
    int64_t watermark_let_out;  // last one let out; WATERMARK_NONE: none
    uint64_t rows;              // rows given out so far
    // counters
    uint64_t rows_in, rows_out, late_rows, windows_fired;
};

struct task_snapshot {
    size_t part_count;
    struct task_part *parts;  // in node order
    uint64_t rows;            // source rows of the job
    uint32_t turn;            // which source is being read
    uint32_t turn_rows;       // rows of its numbered batch already read
    bool ended;               // the input had ended and the last watermark gone through
};

#endif
