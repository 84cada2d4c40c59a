// The csv.* options, checked as Flink checks them, with the place of what is wrong.
#include "engine/formats/csv.h"
#include "engine/formats/option_value.h"

#include <assert.h>
#include <string.h>

const char *const tide__csv_option_names[] = {
    "csv.field-delimiter",
    "csv.disable-quote-character",
    "csv.quote-character",
    "csv.allow-comments",
    "csv.ignore-parse-errors",
    "csv.array-element-delimiter",
    "csv.escape-character",
    "csv.null-literal",
    "csv.write-bigdecimal-in-scientific-notation",
    NULL,
};

// The first code point of a text with Java's escapes (`\t`, `\u0001`, `\\`); *at moves behind it. -1: a bad escape.
static int64_t java_char(struct str text, size_t *at) {
    if (text.data[*at] != '\\' || *at + 1 >= text.len) return tide__utf8_next(text, at);
    char c = text.data[*at + 1];
    *at += 2;
    switch (c) {
    case 't': return '\t';
    case 'n': return '\n';
    case 'r': return '\r';
    case 'b': return '\b';
    case 'f': return '\f';
    case 'u': break;
    default:
        if (c < '0' || c > '7') return (unsigned char)c;
        int64_t octal = c - '0';
        int64_t limit = c <= '3' ? 3 : 2;
        for (int i = 1; i < limit && *at < text.len && text.data[*at] >= '0' && text.data[*at] <= '7'; i++) {
            octal = octal * 8 + (text.data[(*at)++] - '0');
        }
        return octal;
    }
    while (*at < text.len && text.data[*at] == 'u') (*at)++;
    int64_t value = 0;
    for (int i = 0; i < 4; i++, (*at)++) {
        if (*at >= text.len) return -1;
        const char *digits = "0123456789abcdef", *digit = strchr(digits, text.data[*at] | 0x20);
        if (digit == NULL || *digit == '\0') return -1;
        value = value * 16 + (digit - digits);
    }
    return value;
}

// An option that is one character.
static tide_status character_option(const struct table *table, const char *key, bool escapes, int *out,
                                    tide_error *err) {
    const struct option *option = tide__table_option(table, key);
    if (option == NULL) return TIDE_OK;
    size_t at = 0;
    int64_t c = -1;
    if (option->value.len > 0) c = escapes ? java_char(option->value, &at) : tide__utf8_next(option->value, &at);
    if (c < 0 || at != option->value.len) {
        return tide__fail_at(err, TIDE_ERR_VALIDATE, option->value_pos,
                             "option '%s' must be a single character, not '%.*s'", key, STR_ARG(option->value));
    }
    if (c > 127 || c == '\n' || c == '\r') {
        return tide__fail_at(err, TIDE_ERR_PLAN, option->value_pos,
                             "option '%s' must be an ASCII character that is no line end; '%.*s' is not supported", key,
                             STR_ARG(option->value));
    }
    *out = (int)c;
    return TIDE_OK;
}

tide_status tide__csv_options(const struct table *table, struct csv_options *out, tide_error *err) {
    *out = (struct csv_options){.quote = '"', .escape = -1};
    int delimiter = ',', quote = '"';
    bool no_quotes = false, scientific = true;
    TIDE_TRY(character_option(table, "csv.field-delimiter", true, &delimiter, err));
    TIDE_TRY(tide__option_boolean(table, "csv.disable-quote-character", &no_quotes, err));
    TIDE_TRY(character_option(table, "csv.quote-character", false, &quote, err));
    TIDE_TRY(character_option(table, "csv.escape-character", false, &out->escape, err));
    TIDE_TRY(tide__option_boolean(table, "csv.allow-comments", &out->allow_comments, err));
    TIDE_TRY(tide__option_boolean(table, "csv.ignore-parse-errors", &out->ignore_errors, err));
    // Flink's file writer has no effect of it (its golden case pins that down); it is only checked.
    TIDE_TRY(tide__option_boolean(table, "csv.write-bigdecimal-in-scientific-notation", &scientific, err));
    const struct option *quote_option = tide__table_option(table, "csv.quote-character");
    if (no_quotes && quote_option != NULL) {
        tide__fail_at(err, TIDE_ERR_VALIDATE, quote_option->key_pos,
                      "'csv.quote-character' and 'csv.disable-quote-character' exclude each other");
        return tide__fail_hint(err, "remove one of the two");
    }
    out->delimiter = (char)delimiter;
    out->quote = no_quotes ? -1 : quote;
    if (out->quote == delimiter || out->escape == delimiter) {
        const struct option *option = tide__table_option(table, "csv.field-delimiter");
        if (option == NULL) option = quote_option;
        if (option == NULL) option = tide__table_option(table, "csv.escape-character");
        return tide__fail_at(err, TIDE_ERR_VALIDATE, option->value_pos,
                             "the field delimiter must differ from the quote and the escape character");
    }
    const struct option *element_delimiter = tide__table_option(table, "csv.array-element-delimiter");
    out->element_delimiter = element_delimiter != NULL ? element_delimiter->value : (struct str){";", 1};
    const struct option *null_literal = tide__table_option(table, "csv.null-literal");
    if (null_literal != NULL) {
        out->has_null = true;
        out->null_literal = null_literal->value;
    }
    return TIDE_OK;
}
