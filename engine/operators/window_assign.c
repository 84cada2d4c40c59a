#include "engine/operators/window_assign.h"

#include "base/checked.h"

#include <assert.h>
#include <time.h>

static int64_t gcd(int64_t a, int64_t b) {
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

struct window_cut tide__window_cut(const struct window *window, const struct zone *zone) {
    struct window_cut cut = {window->kind, window->size_ms, window->slide_ms, window->offset_ms, window->size_ms, NULL};
    if (cut.kind == WINDOW_TUMBLE || cut.slide <= 0) cut.slide = cut.size;
    if (cut.kind == WINDOW_HOP) cut.slice = gcd(cut.size, cut.slide);
    if (cut.kind == WINDOW_CUMULATE) cut.slice = cut.slide;
    if (window->ltz && !tide__zone_is_utc(zone)) cut.zone = zone;
    return cut;
}

struct slice_bounds tide__window_slice_at(const struct window_cut *cut, int64_t start, int64_t end) {
    struct slice_bounds bounds = {start, end, end, end};
    if (cut->kind == WINDOW_HOP) {
        int64_t last_start = tide__time_floor(start, cut->offset, cut->slide);
        // The least start on the grid that is >= end - size.
        int64_t first_start = tide__time_floor(tide__saturating_sub(end, cut->size - cut->slide + 1), cut->offset,
                                               cut->slide);
        bounds.first_end = tide__saturating_add(first_start, cut->size);
        bounds.last_end = tide__saturating_add(last_start, cut->size);
    } else if (cut->kind == WINDOW_CUMULATE) {
        bounds.last_end = tide__saturating_add(tide__time_floor(start, cut->offset, cut->size), cut->size);
    }
    return bounds;
}

struct slice_bounds tide__window_slice(const struct window_cut *cut, int64_t local) {
    int64_t start = tide__time_floor(local, cut->offset, cut->slice);
    return tide__window_slice_at(cut, start, tide__saturating_add(start, cut->slice));
}

int64_t tide__window_start(const struct window_cut *cut, int64_t slice_start, int64_t end) {
    if (cut->kind == WINDOW_CUMULATE) return tide__time_floor(slice_start, cut->offset, cut->size);
    return tide__saturating_sub(end, cut->size);
}

int64_t tide__window_trigger(const struct window_cut *cut, int64_t end) {
    int64_t last = tide__saturating_sub(end, 1);
    if (cut->zone == NULL) return last;
    int64_t first = tide__zone_to_utc(cut->zone, last);
    int64_t hour_later = tide__zone_to_utc(cut->zone, tide__saturating_add(last, MILLIS_PER_HOUR));
    if (hour_later - first > MILLIS_PER_HOUR) return hour_later - MILLIS_PER_HOUR;
    if (hour_later == first) return first - tide__floor_mod(first, MILLIS_PER_HOUR);
    return first;
}

int64_t tide__window_time(const struct window_cut *cut, int64_t end) {
    int64_t last = tide__saturating_sub(end, 1);
    return cut->zone == NULL ? last : tide__zone_to_utc(cut->zone, last);
}

const int64_t *tide__window_times(const struct column *column, size_t rows, struct arena *arena) {
    if (column->physical == PHYSICAL_I64) return column->i64;
    assert(column->physical == PHYSICAL_TIME);
    int64_t *times = tide__arena_alloc(arena, rows * sizeof *times);
    for (size_t i = 0; i < rows; i++) times[i] = column->time[i].ms;
    return times;
}

int64_t tide__window_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}
