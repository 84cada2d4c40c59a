// Time zones. UTC and fixed offsets are computed; named zones come from a library that is loaded when first needed.
#ifndef TIDE_BASE_ZONE_H
#define TIDE_BASE_ZONE_H

#include "base/error.h"
#include "base/str.h"

#include <stdint.h>

struct zone;

// `UTC`, `GMT+08:00`, `+08:00`, `Asia/Shanghai`. Fails with TIDE_ERR_VALIDATE for an unknown name. NULL free is allowed.
tide_status tide__zone_open(struct str name, struct zone **out, tide_error *err) TIDE_CHECKED;
void tide__zone_free(struct zone *zone);
// The name as given. zone NULL means UTC in all functions.
const char *tide__zone_name(const struct zone *zone);
bool tide__zone_is_utc(const struct zone *zone);
// Wall clock of an instant, and the instant of a wall clock. Gaps and overlaps as java.time's ZonedDateTime.of: in a gap
// the time moves forward by its length, in an overlap the earlier offset (summer time) is taken. Thread-safe.
int64_t tide__zone_to_local(const struct zone *zone, int64_t utc_ms);
int64_t tide__zone_to_utc(const struct zone *zone, int64_t local_ms);

#endif
