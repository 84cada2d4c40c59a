// SET and RESET: options that mean something here, options of Flink that change nothing in a single process, and the rest,
// of which the user is told by name.
#include "base/alloc.h"
#include "base/time.h"
#include "base/zone.h"
#include "sql/catalog.h"

#include <string.h>

enum setting_kind {
    SETTING_NEUTRAL,  // accepted; changes nothing here
    SETTING_ZONE,
    SETTING_MODE,
    SETTING_WATERMARK_INTERVAL,
    SETTING_CHECKPOINT_INTERVAL,
    SETTING_MINI_BATCH,
    SETTING_STATE_TTL,
    SETTING_PARALLELISM,  // checked, as Flink does when the job starts; threads come from the command line
    SETTING_READ,         // read where it matters
};

static const struct known_setting {
    const char *key;
    enum setting_kind kind;
} known_settings[] = {
    {"table.local-time-zone", SETTING_ZONE},
    {"execution.runtime-mode", SETTING_MODE},
    {"pipeline.auto-watermark-interval", SETTING_WATERMARK_INTERVAL},
    {"execution.checkpointing.interval", SETTING_CHECKPOINT_INTERVAL},
    {"table.exec.mini-batch.enabled", SETTING_MINI_BATCH},
    {"table.exec.state.ttl", SETTING_STATE_TTL},
    {"pipeline.name", SETTING_READ},
    {"tidemark.late-data.path", SETTING_READ},
    {"table.exec.emit.early-fire.enabled", SETTING_READ},
    {"table.exec.emit.early-fire.delay", SETTING_READ},
    {"table.exec.emit.late-fire.enabled", SETTING_READ},
    {"table.exec.emit.late-fire.delay", SETTING_READ},
    {"table.exec.emit.allow-lateness", SETTING_READ},
    {"table.exec.mini-batch.allow-latency", SETTING_READ},
    {"table.exec.mini-batch.size", SETTING_READ},
    {"table.exec.sink.not-null-enforcer", SETTING_READ},
    {"table.exec.sink.type-length-enforcer", SETTING_READ},
    {"table.exec.sink.upsert-materialize", SETTING_NEUTRAL},
    {"table.exec.source.idle-timeout", SETTING_READ},
    {"table.exec.resource.default-parallelism", SETTING_NEUTRAL},
    {"table.exec.async-lookup.buffer-capacity", SETTING_NEUTRAL},
    {"table.exec.async-state.enabled", SETTING_NEUTRAL},
    {"table.exec.legacy-cast-behaviour", SETTING_READ},
    {"table.exec.operator-fusion-codegen.enabled", SETTING_NEUTRAL},
    {"table.exec.rank.topn-cache-size", SETTING_NEUTRAL},
    {"table.exec.simplify-operator-name-enabled", SETTING_NEUTRAL},
    {"table.exec.sort.default-limit", SETTING_NEUTRAL},
    {"table.exec.spill-compression.enabled", SETTING_NEUTRAL},
    {"table.exec.uid.generation", SETTING_NEUTRAL},
    {"table.exec.window-agg.buffer-size-limit", SETTING_NEUTRAL},
    {"table.exec.deduplicate.insert-update-after-sensitive-enabled", SETTING_NEUTRAL},
    {"table.exec.deduplicate.mini-batch.compact-changes-enabled", SETTING_NEUTRAL},
    {"table.optimizer.agg-phase-strategy", SETTING_NEUTRAL},
    {"table.optimizer.distinct-agg.split.enabled", SETTING_NEUTRAL},
    {"table.optimizer.distinct-agg.split.bucket-num", SETTING_NEUTRAL},
    {"table.optimizer.incremental-agg-enabled", SETTING_NEUTRAL},
    {"table.optimizer.join-reorder-enabled", SETTING_NEUTRAL},
    {"table.optimizer.join.broadcast-threshold", SETTING_NEUTRAL},
    {"table.optimizer.multiple-input-enabled", SETTING_NEUTRAL},
    {"table.optimizer.reuse-source-enabled", SETTING_NEUTRAL},
    {"table.optimizer.reuse-sub-plan-enabled", SETTING_NEUTRAL},
    {"table.optimizer.source.predicate-pushdown-enabled", SETTING_NEUTRAL},
    {"table.optimizer.source.aggregate-pushdown-enabled", SETTING_NEUTRAL},
    {"table.optimizer.dynamic-filtering.enabled", SETTING_NEUTRAL},
    {"table.optimizer.nondeterministic-update.strategy", SETTING_NEUTRAL},
    {"table.optimizer.union-all-as-breakpoint-enabled", SETTING_NEUTRAL},
    {"table.dynamic-table-options.enabled", SETTING_NEUTRAL},
    {"table.dml-sync", SETTING_NEUTRAL},
    {"table.sql-dialect", SETTING_NEUTRAL},
    {"table.plan.force-recompile", SETTING_NEUTRAL},
    {"execution.checkpointing.mode", SETTING_NEUTRAL},
    {"execution.checkpointing.timeout", SETTING_NEUTRAL},
    {"execution.checkpointing.min-pause", SETTING_NEUTRAL},
    {"execution.checkpointing.max-concurrent-checkpoints", SETTING_NEUTRAL},
    {"execution.checkpointing.dir", SETTING_NEUTRAL},
    {"execution.checkpointing.savepoint-dir", SETTING_NEUTRAL},
    {"execution.checkpointing.incremental", SETTING_NEUTRAL},
    {"execution.checkpointing.unaligned.enabled", SETTING_NEUTRAL},
    {"execution.checkpointing.externalized-checkpoint-retention", SETTING_NEUTRAL},
    {"execution.checkpointing.tolerable-failed-checkpoints", SETTING_NEUTRAL},
    {"execution.savepoint.path", SETTING_NEUTRAL},
    {"execution.target", SETTING_NEUTRAL},
    {"execution.attached", SETTING_NEUTRAL},
    {"execution.batch-shuffle-mode", SETTING_NEUTRAL},
    {"execution.buffer-timeout", SETTING_NEUTRAL},
    {"parallelism.default", SETTING_PARALLELISM},
    {"pipeline.max-parallelism", SETTING_NEUTRAL},
    {"pipeline.object-reuse", SETTING_NEUTRAL},
    {"pipeline.operator-chaining.enabled", SETTING_NEUTRAL},
    {"state.backend.type", SETTING_NEUTRAL},
    {"state.backend", SETTING_NEUTRAL},
    {"state.backend.incremental", SETTING_NEUTRAL},
    {"state.checkpoints.dir", SETTING_NEUTRAL},
    {"state.savepoints.dir", SETTING_NEUTRAL},
    {"sql-client.execution.result-mode", SETTING_NEUTRAL},
    {"sql-client.execution.max-table-result.rows", SETTING_NEUTRAL},
    {"sql-client.verbose", SETTING_NEUTRAL},
    {"restart-strategy.type", SETTING_NEUTRAL},
    {"restart-strategy", SETTING_NEUTRAL},
    {"restart-strategy.fixed-delay.attempts", SETTING_NEUTRAL},
    {"restart-strategy.fixed-delay.delay", SETTING_NEUTRAL},
};
#define KNOWN_COUNT (sizeof(known_settings) / sizeof(known_settings[0]))

static const struct known_setting *find_known(struct str key) {
    for (size_t i = 0; i < KNOWN_COUNT; i++) {
        if (tide__str_eq_c(key, known_settings[i].key)) return &known_settings[i];
    }
    return NULL;
}

struct str tide__settings_get(const struct sql_session *session, const char *key) {
    for (struct setting *s = session->settings; s != NULL; s = s->next) {
        if (strcmp(s->key, key) == 0) return s->value;
    }
    return (struct str){NULL, 0};
}

static tide_status bad_value(const struct ast_option *option, const char *expected, tide_error *err) {
    tide__fail_at(err, TIDE_ERR_VALIDATE, option->value_pos, "\"%.*s\" is no value for \"%.*s\"",
                  STR_ARG(option->value), STR_ARG(option->key));
    return tide__fail_hint(err, "expected %s", expected);
}

static void replace_zone(struct sql_session *session, struct zone *zone) {
    if (session->zone != NULL) {
        session->old_zones = tide__realloc(session->old_zones,
                                           (session->old_zone_count + 1) * sizeof(session->old_zones[0]));
        session->old_zones[session->old_zone_count++] = session->zone;
    }
    session->zone = zone;
}

static tide_status set_zone(struct sql_session *session, const struct ast_option *option, tide_error *err) {
    struct zone *zone = NULL;
    tide_error zone_error;
    tide__error_clear(&zone_error);
    if (tide__zone_open(option->value, &zone, &zone_error) != TIDE_OK) {
        return bad_value(option, "a time zone: UTC, GMT+08:00 or a name such as Asia/Shanghai", err);
    }
    if (tide__zone_is_utc(zone)) {
        tide__zone_free(zone);
        zone = NULL;
    }
    replace_zone(session, zone);
    return TIDE_OK;
}

static tide_status set_duration(const struct ast_option *option, int64_t *out_ms, tide_error *err) {
    int64_t ms = 0;
    if (!tide__duration_parse(option->value, &ms) || ms < 0)
        return bad_value(option, "a duration: 200 ms, 10 s, 1 min", err);
    *out_ms = ms;
    return TIDE_OK;
}

static tide_status check_parallelism(const struct ast_option *option, tide_error *err) {
    struct str text = option->value;
    bool number = text.len > 0 && text.len < 10 && text.data[0] != '0';
    for (size_t i = 0; i < text.len; i++) number &= text.data[i] >= '0' && text.data[i] <= '9';
    return number || tide__str_eq_c(text, "-1") ? TIDE_OK : bad_value(option, "a number from 1 on", err);
}

static tide_status apply(struct sql_session *session, enum setting_kind kind, const struct ast_option *option,
                         tide_error *err) {
    switch (kind) {
    case SETTING_NEUTRAL:
    case SETTING_READ: return TIDE_OK;
    case SETTING_ZONE: return set_zone(session, option, err);
    case SETTING_MODE:
        if (!tide__str_ieq_c(option->value, "batch") && !tide__str_ieq_c(option->value, "streaming")) {
            return bad_value(option, "streaming or batch", err);
        }
        session->batch_mode = tide__str_ieq_c(option->value, "batch");
        return TIDE_OK;
    case SETTING_WATERMARK_INTERVAL: return set_duration(option, &session->auto_watermark_interval_ms, err);
    case SETTING_CHECKPOINT_INTERVAL: return set_duration(option, &session->checkpoint_interval_ms, err);
    case SETTING_MINI_BATCH:
        if (!tide__str_ieq_c(option->value, "true") && !tide__str_ieq_c(option->value, "false")) {
            return bad_value(option, "true or false", err);
        }
        session->mini_batch = tide__str_ieq_c(option->value, "true");
        return TIDE_OK;
    case SETTING_STATE_TTL: return set_duration(option, &session->state_ttl_ms, err);
    case SETTING_PARALLELISM: return check_parallelism(option, err);
    }
    return TIDE_OK;
}

tide_status tide__settings_set(struct sql_session *session, const struct ast_option *option, bool *out_unknown,
                               const char **out_nearest, tide_error *err) {
    const struct known_setting *known = find_known(option->key);
    *out_unknown = known == NULL;
    *out_nearest = NULL;
    if (known != NULL) {
        TIDE_TRY(apply(session, known->kind, option, err));
    } else {
        const char *keys[KNOWN_COUNT];
        for (size_t i = 0; i < KNOWN_COUNT; i++) keys[i] = known_settings[i].key;
        *out_nearest = tide__nearest(option->key, keys, KNOWN_COUNT);
    }
    struct str value = {tide__arena_strndup(&session->arena, option->value.data, option->value.len), option->value.len};
    for (struct setting *s = session->settings; s != NULL; s = s->next) {
        if (tide__str_eq_c(option->key, s->key)) {
            s->value = value;
            return TIDE_OK;
        }
    }
    struct setting *setting = ARENA_NEW(&session->arena, struct setting);
    setting->key = tide__arena_strndup(&session->arena, option->key.data, option->key.len);
    setting->value = value;
    setting->next = session->settings;
    session->settings = setting;
    return TIDE_OK;
}

static void reset_one(struct sql_session *session, struct str key) {
    const struct known_setting *known = find_known(key);
    if (known == NULL) return;
    switch (known->kind) {
    case SETTING_ZONE: replace_zone(session, NULL); break;
    case SETTING_MODE: session->batch_mode = false; break;
    case SETTING_WATERMARK_INTERVAL: session->auto_watermark_interval_ms = 200; break;
    case SETTING_CHECKPOINT_INTERVAL: session->checkpoint_interval_ms = 0; break;
    case SETTING_MINI_BATCH: session->mini_batch = false; break;
    case SETTING_STATE_TTL: session->state_ttl_ms = 0; break;
    case SETTING_NEUTRAL:
    case SETTING_READ:
    case SETTING_PARALLELISM: break;
    }
}

tide_status tide__settings_reset(struct sql_session *session, const struct ast_option *option, tide_error *err) {
    struct setting **at = &session->settings;
    while (*at != NULL) {
        if (option == NULL || tide__str_eq_c(option->key, (*at)->key)) {
            reset_one(session, tide__str((*at)->key));
            *at = (*at)->next;
        } else {
            at = &(*at)->next;
        }
    }
    return TIDE_OK;
}
