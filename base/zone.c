// Time zones. See base/zone.h.
//
// UTC and fixed offsets need nothing. A named zone is read once, when it is opened, into a table of its offset
// changes from 1900 to 2100; conversions are then binary searches in an immutable table, so any thread may do them.
// The rules come from ICU, which is loaded only now: most scripts never name a zone, and loading it takes longer
// than checking a script. ICU's functions carry its version in their names (ucal_open_72), so the version that is
// there is looked for.
#include "base/zone.h"

#include "base/alloc.h"
#include "base/time.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct transition {
    int64_t at;           // the instant from which `offset` holds
    int64_t offset;       // ms
    int64_t local_limit;  // wall clocks before it use the offset before this transition
};

struct zone {
    char *name;
    int64_t first_offset;  // before the first transition
    size_t count;
    struct transition *transitions;
};

// --- fixed offsets -------------------------------------------------------------------------------------------------

static bool take_number(struct str *s, int digits_max, int *out) {
    size_t n = 0;
    int v = 0;
    while (n < s->len && n < (size_t)digits_max && s->data[n] >= '0' && s->data[n] <= '9')
        v = v * 10 + s->data[n++] - '0';
    if (n == 0) return false;
    s->data += n;
    s->len -= n;
    *out = v;
    return true;
}

static bool take_char(struct str *s, char c) {
    if (s->len == 0 || s->data[0] != c) return false;
    s->data++;
    s->len--;
    return true;
}

// `+8`, `+08:00`, `-08:00:30`, to 18 hours.
static bool parse_offset(struct str s, int64_t *out_ms) {
    bool negative = s.len > 0 && s.data[0] == '-';
    if (!take_char(&s, '+') && !take_char(&s, '-')) return false;
    int hours = 0, minutes = 0, seconds = 0;
    if (!take_number(&s, 2, &hours)) return false;
    if (take_char(&s, ':') || (s.len > 0 && s.data[0] != ':')) {
        if (!take_number(&s, 2, &minutes)) return false;
        if (take_char(&s, ':') && !take_number(&s, 2, &seconds)) return false;
    }
    if (s.len > 0 || hours > 18 || minutes > 59 || seconds > 59) return false;
    int64_t ms = hours * MILLIS_PER_HOUR + minutes * MILLIS_PER_MINUTE + seconds * MILLIS_PER_SECOND;
    *out_ms = negative ? -ms : ms;
    return true;
}

static bool parse_fixed(struct str name, int64_t *out_ms) {
    static const char *const prefixes[] = {"UTC", "GMT", "UT"};
    *out_ms = 0;
    if (tide__str_eq_c(name, "Z")) return true;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t len = strlen(prefixes[i]);
        if (name.len < len || memcmp(name.data, prefixes[i], len) != 0) continue;
        struct str rest = {name.data + len, name.len - len};
        if (rest.len == 0 || parse_offset(rest, out_ms)) return true;
    }
    return parse_offset(name, out_ms);
}

// --- named zones ---------------------------------------------------------------------------------------------------

enum { ICU_OLDEST = 50, ICU_NEWEST = 99, ZONE_OFFSET_FIELD = 15, DST_OFFSET_FIELD = 16, TRANSITION_NEXT = 0 };

// The few functions of ICU's C API that are used, by their documented signatures.
struct icu {
    void *library;
    void *(*open)(const uint16_t *zone, int32_t len, const char *locale, int type, int *status);
    void (*close)(void *calendar);
    void (*set_millis)(void *calendar, double ms, int *status);
    int32_t (*get)(const void *calendar, int field, int *status);
    int8_t (*next)(const void *calendar, int type, double *out, int *status);
    int32_t (*canonical)(const uint16_t *id, int32_t len, uint16_t *out, int32_t cap, int8_t *is_system, int *status);
};

static bool load_function(const struct icu *icu, const char *name, int version, void *out) {
    char versioned[64];
    snprintf(versioned, sizeof versioned, "%s_%d", name, version);
    void *function = dlsym(icu->library, versioned);
    if (function == NULL) return false;
    memcpy(out, &function, sizeof function);
    return true;
}

static bool load_icu(struct icu *icu) {
    for (int version = ICU_NEWEST; version >= ICU_OLDEST; version--) {
        char path[64];
        snprintf(path, sizeof path, "libicui18n.so.%d", version);
        icu->library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
        if (icu->library == NULL) continue;
        if (load_function(icu, "ucal_open", version, &icu->open) &&
            load_function(icu, "ucal_close", version, &icu->close) &&
            load_function(icu, "ucal_setMillis", version, &icu->set_millis) &&
            load_function(icu, "ucal_get", version, &icu->get) &&
            load_function(icu, "ucal_getTimeZoneTransitionDate", version, &icu->next) &&
            load_function(icu, "ucal_getCanonicalTimeZoneID", version, &icu->canonical)) {
            return true;
        }
        dlclose(icu->library);
    }
    return false;
}

static int64_t offset_at(const struct icu *icu, void *calendar, double ms, int *status) {
    icu->set_millis(calendar, ms, status);
    return icu->get(calendar, ZONE_OFFSET_FIELD, status) + icu->get(calendar, DST_OFFSET_FIELD, status);
}

static bool read_transitions(const struct icu *icu, void *calendar, struct zone *zone) {
    int status = 0;
    double at = (double)(tide__days_from_civil(1900, 1, 1) * MILLIS_PER_DAY);
    double end = (double)(tide__days_from_civil(2101, 1, 1) * MILLIS_PER_DAY);
    int64_t offset = offset_at(icu, calendar, at, &status);
    zone->first_offset = offset;
    size_t capacity = 0;
    while (status <= 0 && icu->next(calendar, TRANSITION_NEXT, &at, &status) && status <= 0 && at < end) {
        int64_t next = offset_at(icu, calendar, at, &status);
        if (next == offset) continue;
        zone->transitions = tide__grow(zone->transitions, &capacity, zone->count + 1, sizeof *zone->transitions);
        int64_t later = next > offset ? next : offset;
        zone->transitions[zone->count++] = (struct transition){(int64_t)at, next, (int64_t)at + later};
        offset = next;
    }
    return status <= 0;
}

static tide_status open_named(struct zone *zone, struct str name, tide_error *err) {
    uint16_t id[128];
    struct icu icu;
    if (name.len > 0 && name.len < sizeof id / sizeof *id && load_icu(&icu)) {
        for (size_t i = 0; i < name.len; i++) id[i] = (unsigned char)name.data[i];
        uint16_t canonical[128];
        int8_t is_system = 0;
        int status = 0;
        bool known = icu.canonical(id, (int32_t)name.len, canonical, 128, &is_system, &status) > 0 && status <= 0;
        void *calendar = known && is_system ? icu.open(id, (int32_t)name.len, "en", 1, &status) : NULL;
        known = calendar != NULL && status <= 0 && read_transitions(&icu, calendar, zone);
        if (calendar != NULL) icu.close(calendar);
        dlclose(icu.library);
        if (known) return TIDE_OK;
    } else if (name.len > 0 && name.len < sizeof id / sizeof *id) {
        tide__fail(err, TIDE_ERR_VALIDATE, "cannot look up the time zone '%.*s': the ICU library is not installed",
                   STR_ARG(name));
        return tide__fail_hint(err, "install libicu (libicu72 on Debian 12), or write a fixed offset: GMT+08:00");
    }
    tide__fail(err, TIDE_ERR_VALIDATE, "there is no time zone '%.*s'", STR_ARG(name));
    return tide__fail_hint(err, "write UTC, an offset like GMT+08:00, or a region like Asia/Shanghai");
}

// --- public --------------------------------------------------------------------------------------------------------

tide_status tide__zone_open(struct str name, struct zone **out, tide_error *err) {
    *out = NULL;
    struct zone *zone = tide__calloc(1, sizeof *zone);
    zone->name = tide__strndup(name.data, name.len);
    if (!parse_fixed(name, &zone->first_offset)) {
        tide_status status = open_named(zone, name, err);
        if (status != TIDE_OK) {
            tide__zone_free(zone);
            return status;
        }
    }
    *out = zone;
    return TIDE_OK;
}

void tide__zone_free(struct zone *zone) {
    if (zone == NULL) return;
    tide__free(zone->name);
    tide__free(zone->transitions);
    tide__free(zone);
}

const char *tide__zone_name(const struct zone *zone) {
    return zone == NULL ? "UTC" : zone->name;
}

bool tide__zone_is_utc(const struct zone *zone) {
    return zone == NULL || (zone->count == 0 && zone->first_offset == 0);
}

int64_t tide__zone_to_local(const struct zone *zone, int64_t utc_ms) {
    if (zone == NULL) return utc_ms;
    size_t low = 0, high = zone->count;  // transitions at or before utc_ms
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (zone->transitions[middle].at <= utc_ms) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return utc_ms + (low == 0 ? zone->first_offset : zone->transitions[low - 1].offset);
}

int64_t tide__zone_to_utc(const struct zone *zone, int64_t local_ms) {
    if (zone == NULL) return local_ms;
    size_t low = 0, high = zone->count;  // transitions whose gap or overlap lies behind local_ms
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (zone->transitions[middle].local_limit <= local_ms) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return local_ms - (low == 0 ? zone->first_offset : zone->transitions[low - 1].offset);
}
