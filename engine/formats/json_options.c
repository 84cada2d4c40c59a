// The json.* options.
#include "engine/formats/json.h"
#include "engine/formats/option_value.h"

const char *const tide__json_option_names[] = {
    "json.fail-on-missing-field",     "json.ignore-parse-errors",        "json.map-null-key.mode",
    "json.map-null-key.literal",      "json.timestamp-format.standard",  "json.encode.decimal-as-plain-number",
    "json.encode.ignore-null-fields", "json.decode.json-parser.enabled", NULL,
};

// Flink's older way of reading has other rules for names that come twice.
static tide_status check_parser(const struct table *table, tide_error *err) {
    bool enabled = true;
    TIDE_TRY(tide__option_boolean(table, "json.decode.json-parser.enabled", &enabled, err));
    if (enabled) return TIDE_OK;
    const struct option *option = tide__table_option(table, "json.decode.json-parser.enabled");
    tide__fail_at(err, TIDE_ERR_PLAN, option->value_pos, "option 'json.decode.json-parser.enabled' can only be 'true'");
    return tide__fail_hint(err, "leave it out");
}

tide_status tide__json_options(const struct table *table, enum format_use use, struct json_options *out,
                               tide_error *err) {
    static const char *const standards[] = {"SQL", "ISO-8601"};
    static const char *const null_keys[] = {"FAIL", "DROP", "LITERAL"};
    *out = (struct json_options){.null_key_literal = {"null", 4}};
    size_t standard = 0, null_key = JSON_NULL_KEY_FAIL;
    TIDE_TRY(tide__option_boolean(table, "json.fail-on-missing-field", &out->fail_on_missing, err));
    TIDE_TRY(tide__option_boolean(table, "json.ignore-parse-errors", &out->ignore_errors, err));
    TIDE_TRY(tide__option_word(table, "json.timestamp-format.standard", standards, 2, false, &standard, err));
    TIDE_TRY(tide__option_word(table, "json.map-null-key.mode", null_keys, 3, true, &null_key, err));
    TIDE_TRY(tide__option_boolean(table, "json.encode.decimal-as-plain-number", &out->plain_decimals, err));
    TIDE_TRY(tide__option_boolean(table, "json.encode.ignore-null-fields", &out->leave_out_nulls, err));
    if (use == FORMAT_READ) TIDE_TRY(check_parser(table, err));
    out->iso_times = standard == 1;
    out->null_key = (enum json_null_key)null_key;
    const struct option *literal = tide__table_option(table, "json.map-null-key.literal");
    if (literal != NULL) out->null_key_literal = literal->value;
    if (use == FORMAT_READ && out->fail_on_missing && out->ignore_errors) {
        const struct option *option = tide__table_option(table, "json.fail-on-missing-field");
        tide__fail_at(err, TIDE_ERR_VALIDATE, option->key_pos,
                      "'json.fail-on-missing-field' and 'json.ignore-parse-errors' can't both be true");
        return tide__fail_hint(err, "remove one of the two");
    }
    return TIDE_OK;
}
