// Which windows a time belongs to, and when a window fires. Pure arithmetic on milliseconds.
//
// Windows are cut in wall clock: of the time itself for TIMESTAMP, of the session zone for TIMESTAMP_LTZ (`zone`; NULL means
// UTC, where both are the same). A *slice* is the largest piece of time that no window cuts: a row is added to one slice, and a
// window is the union of its slices.
//
//   TUMBLE     slice = window
//   HOP        slices of gcd(size, slide); a slice lies in the windows that end at first_end, first_end + slide, ... last_end
//   CUMULATE   slices of `step`; the windows that contain one share their start
#ifndef TIDE_ENGINE_OPERATORS_WINDOW_ASSIGN_H
#define TIDE_ENGINE_OPERATORS_WINDOW_ASSIGN_H

#include "base/time.h"
#include "base/zone.h"
#include "engine/batch.h"
#include "engine/plan.h"

#include <stdbool.h>
#include <stdint.h>

struct window_cut {
    enum window_kind kind;
    int64_t size, slide, offset;
    int64_t slice;            // width of a slice
    const struct zone *zone;  // wall clock of instants; NULL: none needed
};

struct slice_bounds {
    int64_t start, end;
    int64_t first_end, last_end;  // ends of the windows that contain it, `slide` apart; first > last: there is none
};

struct window_cut tide__window_cut(const struct window *window, const struct zone *zone);
struct slice_bounds tide__window_slice(const struct window_cut *cut, int64_t local);
// The bounds of the windows around a slice that begins at `start`.
struct slice_bounds tide__window_slice_at(const struct window_cut *cut, int64_t start, int64_t end);
// The start of the window that ends at `end` and contains a slice.
int64_t tide__window_start(const struct window_cut *cut, int64_t slice_start, int64_t end);

static inline int64_t tide__window_local(const struct window_cut *cut, int64_t time) {
    return cut->zone == NULL ? time : tide__zone_to_local(cut->zone, time);
}

// The least watermark that fires a window: the instant of its last millisecond. Where that wall clock occurs twice the
// later one, where it is skipped the beginning of the gap, as in Flink.
int64_t tide__window_trigger(const struct window_cut *cut, int64_t end);
// window_time: the last millisecond, as an instant if the time attribute is TIMESTAMP_LTZ.
int64_t tide__window_time(const struct window_cut *cut, int64_t end);

// The clock, for processing-time windows.
int64_t tide__window_clock(void);

// The time attribute's milliseconds of all rows, in the arena or the column itself.
const int64_t *tide__window_times(const struct column *column, size_t rows, struct arena *arena);

#endif
