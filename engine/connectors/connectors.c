// The connectors, and whether a table's options make sense.
//
// Flink refuses options that it does not know, but not those that begin with the format's name, which it ignores. What is
// a slip of the pen away from a known one is refused here too; of others a warning is given, lest a script fails for an
// option of Flink's that nobody has told us of, and of all that Flink ignores. Options that we know and can't honour are refused.
#include "base/alloc.h"
#include "base/time.h"
#include "engine/connectors/datagen.h"
#include "engine/connectors/filesystem.h"
#include "engine/connectors/sinks.h"
#include "engine/connectors/stream.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static const struct sink_class *const sinks[] = {&tide__filesystem_sink, &tide__print_sink, &tide__blackhole_sink};
static const char *const connector_names[] = {"filesystem", "datagen", "print", "blackhole"};
static const char *const later_connectors[] = {"kafka", "upsert-kafka", "jdbc", "values", "socket"};
static const char *const later_formats[] = {"avro", "parquet", "orc", "debezium-json", "canal-json"};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

const struct sink_class *tide__sink_class(struct str connector) {
    for (size_t i = 0; i < COUNT(sinks); i++) {
        if (tide__str_eq_c(connector, sinks[i]->connector)) return sinks[i];
    }
    return NULL;
}

static bool is_one_of(struct str name, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (tide__str_eq_c(name, names[i])) return true;
    }
    return false;
}

// --- options ----------------------------------------------------------------------------------------------------

// What the option means for us.
enum option_use {
    OPTION_USED,
    OPTION_IGNORED,  // changes how files are laid out or found, not which rows there are
    OPTION_REFUSED,  // changes which rows there are, or when
};

static const struct {
    const char *name;
    enum option_use use;
} filesystem_options[] = {
    {"connector", OPTION_USED},
    {"path", OPTION_USED},
    {"format", OPTION_USED},
    {"partition.default-name", OPTION_USED},
    {"source.monitor-interval", OPTION_USED},
    {"source.path.regex-pattern", OPTION_USED},
    {"scan.watermark.idle-timeout", OPTION_USED},
    {"source.report-statistics", OPTION_IGNORED},
    {"scan.parallelism", OPTION_IGNORED},
    {"sink.parallelism", OPTION_IGNORED},
    {"sink.shuffle-by-partition.enable", OPTION_IGNORED},
    {"sink.rolling-policy.file-size", OPTION_IGNORED},
    {"sink.rolling-policy.rollover-interval", OPTION_IGNORED},
    {"sink.rolling-policy.inactivity-interval", OPTION_IGNORED},
    {"sink.rolling-policy.check-interval", OPTION_IGNORED},
    {"sink.partition-commit.trigger", OPTION_IGNORED},
    {"sink.partition-commit.delay", OPTION_IGNORED},
    {"sink.partition-commit.watermark-time-zone", OPTION_IGNORED},
    {"sink.partition-commit.policy.kind", OPTION_USED},
    {"sink.partition-commit.policy.class", OPTION_REFUSED},
    {"sink.partition-commit.policy.class.parameters", OPTION_REFUSED},
    {"sink.partition-commit.success-file.name", OPTION_USED},
    {"partition.time-extractor.kind", OPTION_IGNORED},
    {"partition.time-extractor.class", OPTION_IGNORED},
    {"partition.time-extractor.timestamp-formatter", OPTION_IGNORED},
    {"partition.time-extractor.timestamp-pattern", OPTION_IGNORED},
    {"auto-compaction", OPTION_IGNORED},
    {"compaction.file-size", OPTION_IGNORED},
    {"compaction.parallelism", OPTION_IGNORED},
};

static tide_status near_miss(const struct option *option, const char *near, tide_error *err) {
    tide__fail_at(err, TIDE_ERR_VALIDATE, option->key_pos, "unknown option '%.*s'", STR_ARG(option->key));
    return tide__fail_hint(err, "did you mean '%s'?", near);
}

static bool has_prefix(struct str key, const char *format) {
    size_t len = strlen(format);
    return key.len > len && memcmp(key.data, format, len) == 0 && key.data[len] == '.';
}

static void warn(const struct connector_warnings *warnings, const struct option *option, const char *near) {
    if (warnings == NULL) return;
    char message[256], hint[128];
    snprintf(message, sizeof(message), "unknown option '%.*s' has no effect", STR_ARG(option->key));
    if (near != NULL) snprintf(hint, sizeof(hint), "did you mean '%s'?", near);
    warnings->warn(warnings->ctx, option->key_pos, message, near != NULL ? hint : NULL);
}

static tide_status check_filesystem_option(const struct option *option, const struct format_class *format,
                                           const struct connector_warnings *warnings, tide_error *err) {
    const char *names[COUNT(filesystem_options) + 32];
    size_t count = 0;
    for (size_t i = 0; i < COUNT(filesystem_options); i++) {
        names[count++] = filesystem_options[i].name;
        if (!tide__str_eq_c(option->key, filesystem_options[i].name)) continue;
        if (filesystem_options[i].use != OPTION_REFUSED) return TIDE_OK;
        return tide__fail_at(err, TIDE_ERR_PLAN, option->key_pos, "option '%.*s' is not supported yet",
                             STR_ARG(option->key));
    }
    for (size_t i = 0; format->options[i] != NULL && count < COUNT(names); i++) {
        if (tide__str_eq_c(option->key, format->options[i])) return TIDE_OK;
        names[count++] = format->options[i];
    }
    const char *near = tide__nearest(option->key, names, count);
    if (near != NULL && !has_prefix(option->key, format->name)) return near_miss(option, near, err);
    warn(warnings, option, near);
    return TIDE_OK;
}

static tide_status check_only(const struct table *table, const char *const *names, size_t count, tide_error *err) {
    for (uint32_t i = 0; i < table->option_count; i++) {
        const struct option *option = &table->options[i];
        if (is_one_of(option->key, names, count)) continue;
        const char *near = tide__nearest(option->key, names, count);
        if (near != NULL) return near_miss(option, near, err);
        return tide__fail_at(err, TIDE_ERR_VALIDATE, option->key_pos, "unknown option '%.*s'", STR_ARG(option->key));
    }
    return TIDE_OK;
}

// A key that is needed and not there: the option that was meant, or `hint`.
static tide_status missing_option(const struct table *table, const char *key, const char *hint, tide_error *err) {
    for (uint32_t i = 0; i < table->option_count; i++) {
        const struct option *option = &table->options[i];
        if (tide__nearest(option->key, &key, 1) != NULL) return near_miss(option, key, err);
    }
    tide__fail_at(err, TIDE_ERR_VALIDATE, table->pos, "table \"%s\" has no '%s' option", table->name, key);
    return tide__fail_hint(err, "%s", hint);
}

// --- the filesystem connector -----------------------------------------------------------------------------------

static tide_status check_path(const struct table *table, tide_error *err) {
    const struct option *path = tide__table_option(table, "path");
    static const char hint[] = "add 'path' = 'FILE OR FOLDER' to its WITH (...)";
    if (path == NULL) return missing_option(table, "path", hint, err);
    if (path->value.len == 0) {
        tide__fail_at(err, TIDE_ERR_VALIDATE, path->value_pos, "table \"%s\" has an empty path", table->name);
        return tide__fail_hint(err, "%s", hint);
    }
    const char *scheme = memmem(path->value.data, path->value.len, "://", 3);
    if (scheme != NULL && (path->value.len < 5 || memcmp(path->value.data, "file:", 5) != 0)) {
        tide__fail_at(err, TIDE_ERR_PLAN, path->value_pos, "only local files are supported, not '%.*s'",
                      STR_ARG(path->value));
        return tide__fail_hint(err, "use a path, or file:///...");
    }
    if (memchr(path->value.data, '\0', path->value.len) != NULL) {
        return tide__fail_at(err, TIDE_ERR_VALIDATE, path->value_pos, "the path holds a NUL character");
    }
    return TIDE_OK;
}

static tide_status find_format(const struct table *table, const struct format_class **out, tide_error *err) {
    const struct option *format = tide__table_option(table, "format");
    if (format == NULL) return missing_option(table, "format", "add 'format' = 'csv' to its WITH (...)", err);
    *out = tide__format_find(format->value);
    if (*out != NULL) return TIDE_OK;
    if (is_one_of(format->value, later_formats, COUNT(later_formats))) {
        return tide__fail_at(err, TIDE_ERR_PLAN, format->value_pos, "format '%.*s' is not supported yet",
                             STR_ARG(format->value));
    }
    tide__fail_at(err, TIDE_ERR_VALIDATE, format->value_pos, "unknown format '%.*s'", STR_ARG(format->value));
    size_t count = 0;
    const char *const *names = tide__format_names(&count);
    const char *near = tide__nearest(format->value, names, count);
    return near != NULL ? tide__fail_hint(err, "did you mean '%s'?", near)
                        : tide__fail_hint(err, "there are 'csv', 'json' and 'raw'");
}

static tide_status check_metadata(const struct table *table, tide_error *err) {
    static const char *const keys[] = {"file.path", "file.name", "file.size", "file.modification-time"};
    for (uint32_t i = 0; i < table->column_count; i++) {
        const struct table_column *column = &table->columns[i];
        if (column->kind != TABLE_COLUMN_METADATA) continue;
        struct str key = tide__str(column->metadata_key != NULL ? column->metadata_key : column->name);
        if (is_one_of(key, keys, COUNT(keys))) {
            bool is_size = tide__str_eq_c(key, "file.size"), is_time = tide__str_eq_c(key, "file.modification-time");
            bool ok = is_size   ? column->type->kind == TYPE_BIGINT
                      : is_time ? column->type->kind == TYPE_TIMESTAMP_LTZ
                                : tide__type_is_string(column->type);
            if (ok) continue;
            tide__fail_at(err, TIDE_ERR_VALIDATE, column->pos, "metadata column \"%s\" must be %s", column->name,
                          is_size   ? "BIGINT"
                          : is_time ? "TIMESTAMP_LTZ(3)"
                                    : "STRING");
            return TIDE_ERR_VALIDATE;
        }
        tide__fail_at(err, TIDE_ERR_VALIDATE, column->pos, "column \"%s\": files have no metadata '%.*s'", column->name,
                      STR_ARG(key));
        return tide__fail_hint(err, "there are 'file.path', 'file.name', 'file.size' and 'file.modification-time'");
    }
    return TIDE_OK;
}

static tide_status check_duration(const struct table *table, const char *key, tide_error *err) {
    const struct option *option = tide__table_option(table, key);
    int64_t ms = 0;
    if (option == NULL || (tide__duration_parse(option->value, &ms) && ms > 0)) return TIDE_OK;
    tide__fail_at(err, TIDE_ERR_VALIDATE, option->value_pos, "option '%s' must be a duration above 0, not '%.*s'", key,
                  STR_ARG(option->value));
    return tide__fail_hint(err, "write it as '10 s', '500 ms' or '1 min'");
}

static tide_status check_commit_policy(const struct table *table, tide_error *err) {
    const struct option *kind = tide__table_option(table, "sink.partition-commit.policy.kind");
    const struct option *name = tide__table_option(table, "sink.partition-commit.success-file.name");
    if (kind != NULL && !tide__str_eq_c(kind->value, "success-file")) {
        tide__fail_at(err, TIDE_ERR_PLAN, kind->value_pos, "the commit policy '%.*s' is not supported",
                      STR_ARG(kind->value));
        return tide__fail_hint(err, "use 'success-file'");
    }
    if (name == NULL || (name->value.len > 0 && memchr(name->value.data, '/', name->value.len) == NULL)) return TIDE_OK;
    return tide__fail_at(err, TIDE_ERR_VALIDATE, name->value_pos, "'%.*s' is no name for a file", STR_ARG(name->value));
}

static tide_status check_standard_input(const struct table *table, enum table_use use, tide_error *err) {
    if (!tide__is_stream(table)) return TIDE_OK;
    const struct option *path = tide__table_option(table, "path");
    const struct option *watch = tide__table_option(table, "source.monitor-interval");
    if (use == TABLE_AS_SINK) {
        tide__fail_at(err, TIDE_ERR_PLAN, path->value_pos, "a table can't be written to '-'");
        return tide__fail_hint(err, "a SELECT prints its rows to standard output; 'connector' = 'print' does too");
    }
    if (watch == NULL) return TIDE_OK;
    tide__fail_at(err, TIDE_ERR_VALIDATE, watch->key_pos, "standard input is no folder that can be watched");
    return tide__fail_hint(err, "remove 'source.monitor-interval': standard input is read as it comes");
}

static tide_status validate_filesystem(const struct table *table, enum table_use use,
                                       const struct connector_warnings *warnings, tide_error *err) {
    TIDE_TRY(check_path(table, err));
    TIDE_TRY(check_standard_input(table, use, err));
    const struct format_class *format = NULL;
    TIDE_TRY(find_format(table, &format, err));
    for (uint32_t i = 0; i < table->option_count; i++) {
        TIDE_TRY(check_filesystem_option(&table->options[i], format, warnings, err));
    }
    if (use == TABLE_AS_SINK) TIDE_TRY(check_commit_policy(table, err));
    TIDE_TRY(check_duration(table, "source.monitor-interval", err));
    TIDE_TRY(check_duration(table, "scan.watermark.idle-timeout", err));
    if (use == TABLE_AS_SOURCE) TIDE_TRY(check_metadata(table, err));
    return format->validate(table, use == TABLE_AS_SOURCE ? FORMAT_READ : FORMAT_WRITE, err);
}

// --- all --------------------------------------------------------------------------------------------------------

static tide_status unknown_connector(const struct option *connector, tide_error *err) {
    struct str name = connector->value;
    if (is_one_of(name, later_connectors, COUNT(later_connectors))) {
        return tide__fail_at(err, TIDE_ERR_PLAN, connector->value_pos, "connector '%.*s' is not supported yet",
                             STR_ARG(name));
    }
    tide__fail_at(err, TIDE_ERR_VALIDATE, connector->value_pos, "unknown connector '%.*s'", STR_ARG(name));
    const char *near = tide__nearest(name, connector_names, COUNT(connector_names));
    if (near != NULL) return tide__fail_hint(err, "did you mean '%s'?", near);
    return tide__fail_hint(err, "there are 'filesystem', 'datagen', 'print', 'blackhole' and 'tidemark-savepoint'");
}

tide_status tide__connector_validate(const struct table *table, enum table_use use,
                                     const struct connector_warnings *warnings, tide_error *err) {
    const struct option *connector = tide__table_option(table, "connector");
    if (connector == NULL) {
        return missing_option(table, "connector", "add 'connector' = 'filesystem' to its WITH (...)", err);
    }
    if (tide__str_eq_c(connector->value, "filesystem")) return validate_filesystem(table, use, warnings, err);
    if (tide__is_datagen(table)) {
        if (use == TABLE_AS_SOURCE) return tide__datagen_validate(table, err);
        return tide__fail_at(err, TIDE_ERR_VALIDATE, connector->value_pos, "connector 'datagen' can only be read from");
    }
    if (use == TABLE_AS_SINK && tide__str_eq_c(connector->value, "tidemark-savepoint"))
        return tide__fail_at(err, TIDE_ERR_VALIDATE, connector->value_pos, "a savepoint can only be read from");
    bool print = tide__str_eq_c(connector->value, "print");
    if (!print && !tide__str_eq_c(connector->value, "blackhole")) return unknown_connector(connector, err);
    if (use == TABLE_AS_SOURCE) {
        return tide__fail_at(err, TIDE_ERR_VALIDATE, connector->value_pos, "connector '%.*s' can only be written to",
                             STR_ARG(connector->value));
    }
    static const char *const print_options[] = {"connector", "print-identifier", "standard-error", "sink.parallelism"};
    static const char *const blackhole_options[] = {"connector"};
    if (!print) return check_only(table, blackhole_options, COUNT(blackhole_options), err);
    TIDE_TRY(check_only(table, print_options, COUNT(print_options), err));
    return tide__print_validate(table, err);
}
