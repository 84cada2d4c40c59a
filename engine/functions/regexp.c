// SIMILAR TO and the REGEXP functions.
//
// A pattern is compiled once a batch if it is the same for all rows. One that is no regular expression matches
// nothing, as in Flink: REGEXP gives FALSE, the others NULL; for SIMILAR TO it is an error.
#include "engine/expr/nested.h"
#include "engine/functions/functions_list.h"
#include "engine/functions/infer.h"
#include "engine/functions/regex.h"
#include "engine/functions/text.h"

// The compiled pattern of the row before.
struct pattern_cache {
    struct regex *regex;
    struct str text;
    bool valid;
};

static tide_status use_pattern(struct pattern_cache *cache, struct str text, tide_error *err) {
    if (cache->valid && tide__str_eq(cache->text, text)) return TIDE_OK;
    tide__regex_close(cache->regex);
    *cache = (struct pattern_cache){NULL, text, true};
    return tide__regex_open(text, &cache->regex, err);
}

static tide_status run_regexp(struct eval_context *ctx, const struct expr *call, const struct column *args,
                              struct selection rows, struct column *out, tide_error *err) {
    struct pattern_cache cache = {0};
    tide_status status = TIDE_OK;
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth);
        TIDE_TRY_OR(status, use_pattern(&cache, args[1].str[i], err), done);
        out->bools[i] = cache.regex != NULL && args[1].str[i].len > 0 &&
                        tide__regex_match(cache.regex, args[0].str[i], false);
    }
done:
    tide__regex_close(cache.regex);
    return status;
}

static tide_status run_regexp_extract(struct eval_context *ctx, const struct expr *call, const struct column *args,
                                      struct selection rows, struct column *out, tide_error *err) {
    struct pattern_cache cache = {0};
    tide_status status = TIDE_OK;
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth);
        TIDE_TRY_OR(status, use_pattern(&cache, args[1].str[i], err), done);
        struct str text = args[0].str[i];
        size_t start = 0;
        size_t end = 0;
        int64_t group = call->arg_count > 2 ? args[2].i64[i] : 0;
        bool found = cache.regex != NULL && tide__regex_match(cache.regex, text, false) && group <= 1000 &&
                     tide__regex_group(cache.regex, (int)group, &start, &end);
        if (found) {
            out->str[i] = (struct str){text.data + start, end - start};
        } else {
            tide__put_null(out, i);
        }
    }
done:
    tide__regex_close(cache.regex);
    return status;
}

static void replace_all(struct regex *regex, struct str text, struct str with, struct strbuf *out) {
    size_t at = 0, start = 0, end = 0;
    bool hit = tide__regex_match(regex, text, false);
    while (hit && tide__regex_group(regex, 0, &start, &end)) {
        tide__strbuf_append(out, text.data + at, start - at);
        tide__strbuf_append_str(out, with);
        at = end;
        hit = tide__regex_next(regex);
    }
    tide__strbuf_append(out, text.data + at, text.len - at);
}

static tide_status run_regexp_replace(struct eval_context *ctx, const struct expr *call, const struct column *args,
                                      struct selection rows, struct column *out, tide_error *err) {
    struct pattern_cache cache = {0};
    struct strbuf text = {0};
    tide_status status = TIDE_OK;
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth);
        TIDE_TRY_OR(status, use_pattern(&cache, args[1].str[i], err), done);
        if (cache.regex == NULL) {
            tide__put_null(out, i);
            continue;
        }
        tide__strbuf_clear(&text);
        replace_all(cache.regex, args[0].str[i], args[2].str[i], &text);
        out->str[i] = tide__str_copy(ctx->scratch, text.data, text.len);
    }
done:
    tide__regex_close(cache.regex);
    tide__strbuf_deinit(&text);
    return status;
}

static tide_status run_regexp_count(struct eval_context *ctx, const struct expr *call, const struct column *args,
                                    struct selection rows, struct column *out, tide_error *err) {
    struct pattern_cache cache = {0};
    tide_status status = TIDE_OK;
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth);
        TIDE_TRY_OR(status, use_pattern(&cache, args[1].str[i], err), done);
        int64_t count = 0;
        if (cache.regex == NULL) {
            tide__put_null(out, i);
            continue;
        }
        bool hit = tide__regex_match(cache.regex, args[0].str[i], false);
        for (; hit; hit = tide__regex_next(cache.regex)) count++;
        out->i64[i] = count;
    }
done:
    tide__regex_close(cache.regex);
    return status;
}

// REGEXP_SUBSTR: the first match; NULL if there is none.
static tide_status run_regexp_substr(struct eval_context *ctx, const struct expr *call, const struct column *args,
                                     struct selection rows, struct column *out, tide_error *err) {
    struct pattern_cache cache = {0};
    tide_status status = TIDE_OK;
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth), start = 0, end = 0;
        struct str text = args[0].str[i];
        TIDE_TRY_OR(status, use_pattern(&cache, args[1].str[i], err), done);
        if (cache.regex != NULL && tide__regex_match(cache.regex, text, false) &&
            tide__regex_group(cache.regex, 0, &start, &end)) {
            out->str[i] = (struct str){text.data + start, end - start};
        } else {
            tide__put_null(out, i);
        }
    }
done:
    tide__regex_close(cache.regex);
    return status;
}

// UTF-16 units of the first bytes of a text: positions are Java's.
static int64_t units_before(struct str text, size_t end) {
    int64_t units = 0;
    for (size_t at = 0; at < end;) units += tide__utf8_next(text, &at) >= 0x10000 ? 2 : 1;
    return units;
}

// REGEXP_INSTR: where the first match begins, from 1; 0 if there is none.
static tide_status run_regexp_instr(struct eval_context *ctx, const struct expr *call, const struct column *args,
                                    struct selection rows, struct column *out, tide_error *err) {
    struct pattern_cache cache = {0};
    tide_status status = TIDE_OK;
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth), start = 0, end = 0;
        TIDE_TRY_OR(status, use_pattern(&cache, args[1].str[i], err), done);
        if (cache.regex == NULL) {
            tide__put_null(out, i);
            continue;
        }
        out->i64[i] = 0;
        if (tide__regex_match(cache.regex, args[0].str[i], false) && tide__regex_group(cache.regex, 0, &start, &end)) {
            out->i64[i] = units_before(args[0].str[i], start) + 1;
        }
    }
done:
    tide__regex_close(cache.regex);
    return status;
}

// One group of all matches as an array in `bytes`.
static void extract_all(struct regex *regex, struct str text, int group, const struct type *type, struct arena *arena,
                        struct strbuf *bytes) {
    struct column *items = NULL;
    size_t count = 0, capacity = 0, start = 0, end = 0;
    for (bool hit = tide__regex_match(regex, text, false); hit; hit = tide__regex_next(regex)) {
        if (count == capacity) {
            struct column *more = tide__arena_alloc(arena, (2 * capacity + 4) * sizeof *more);
            if (count > 0) memcpy(more, items, count * sizeof *more);
            items = more;
            capacity = 2 * capacity + 4;
        }
        struct column *item = &items[count++];
        tide__column_init(item, type->children[0].type, 1, 1, arena);
        if (tide__regex_group(regex, group, &start, &end)) {
            item->str[0] = (struct str){text.data + start, end - start};
        } else {
            tide__put_null(item, 0);
        }
    }
    tide__nested_append(type, items, count, 0, bytes);
}

static tide_status run_regexp_extract_all(struct eval_context *ctx, const struct expr *call, const struct column *args,
                                          struct selection rows, struct column *out, tide_error *err) {
    struct pattern_cache cache = {0};
    struct strbuf bytes = {0};
    tide_status status = TIDE_OK;
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth);
        TIDE_TRY_OR(status, use_pattern(&cache, args[1].str[i], err), done);
        int64_t group = call->arg_count > 2 ? args[2].i64[i] : 1;
        if (cache.regex == NULL || group < 0 || group > tide__regex_group_count(cache.regex)) {
            tide__put_null(out, i);
            continue;
        }
        tide__strbuf_clear(&bytes);
        extract_all(cache.regex, args[0].str[i], (int)group, call->type, ctx->scratch, &bytes);
        out->str[i] = tide__str_copy(ctx->scratch, bytes.data, bytes.len);
    }
done:
    tide__regex_close(cache.regex);
    tide__strbuf_deinit(&bytes);
    return status;
}

// --- SIMILAR TO ----------------------------------------------------------------------------------------------------

// A character class up to its `]`; false if it is not closed.
static bool copy_class(struct str pattern, size_t *at, struct strbuf *out) {
    static const char *const classes[][2] = {
        {"[:ALPHA:]", "\\p{Alpha}"}, {"[:alpha:]", "\\p{Alpha}"}, {"[:UPPER:]", "\\p{Upper}"},
        {"[:upper:]", "\\p{Upper}"}, {"[:LOWER:]", "\\p{Lower}"}, {"[:lower:]", "\\p{Lower}"},
        {"[:DIGIT:]", "\\d"},        {"[:digit:]", "\\d"},        {"[:SPACE:]", " "},
        {"[:space:]", " "},          {"[:WHITESPACE:]", "\\s"},   {"[:whitespace:]", "\\s"},
        {"[:ALNUM:]", "\\p{Alnum}"}, {"[:alnum:]", "\\p{Alnum}"},
    };
    tide__strbuf_append_char(out, '[');
    for ((*at)++; *at < pattern.len; (*at)++) {
        char c = pattern.data[*at];
        if (c == ']') {
            tide__strbuf_append_char(out, ']');
            return true;
        }
        bool named = false;
        for (size_t i = 0; c == '[' && i < sizeof classes / sizeof *classes && !named; i++) {
            size_t len = strlen(classes[i][0]);
            named = pattern.len - *at >= len && memcmp(pattern.data + *at, classes[i][0], len) == 0;
            if (!named) continue;
            tide__strbuf_append_c(out, classes[i][1]);
            *at += len - 1;
        }
        if (!named) tide__strbuf_append_char(out, c);
    }
    return false;
}

// SQL's pattern as Java's. NULL, or what is wrong.
static const char *similar_to_regex(struct str pattern, struct str escape, struct strbuf *out) {
    for (size_t at = 0; at < pattern.len; at++) {
        char c = pattern.data[at];
        if (escape.len == 1 && c == escape.data[0]) {
            if (++at == pattern.len) return "it ends with the escape character";
            tide__strbuf_append_char(out, '\\');
            tide__strbuf_append_char(out, pattern.data[at]);
        } else if (c == '_') {
            tide__strbuf_append_char(out, '.');
        } else if (c == '%') {
            tide__strbuf_append_c(out, "(?s:.*)");
        } else if (c == '[') {
            if (!copy_class(pattern, &at, out)) return "a '[' is not closed";
        } else {
            if (c == '$' || c == '\\') tide__strbuf_append_char(out, '\\');
            tide__strbuf_append_char(out, c);
        }
    }
    return NULL;
}

static tide_status bad_pattern(const struct expr *call, struct str pattern, const char *problem, tide_error *err) {
    tide__fail_at(err, TIDE_ERR_RUNTIME, call->pos, "bad SIMILAR TO pattern '%.*s': %s", STR_ARG(pattern),
                  problem == NULL ? "it is no regular expression" : problem);
    return TIDE_ERR_RUNTIME;
}

static tide_status run_similar(struct eval_context *ctx, const struct expr *call, const struct column *args,
                               struct selection rows, struct column *out, tide_error *err) {
    struct pattern_cache cache = {0};
    struct strbuf regex = {0};
    tide_status status = TIDE_OK;
    struct str last = {0};
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth);
        struct str pattern = args[1].str[i];
        struct str escape = call->arg_count > 2 ? args[2].str[i] : (struct str){NULL, 0};
        if (!cache.valid || !tide__str_eq(last, pattern) || call->arg_count > 2) {
            tide__strbuf_clear(&regex);
            const char *problem = similar_to_regex(pattern, escape, &regex);
            if (problem != NULL) TIDE_TRY_OR(status, bad_pattern(call, pattern, problem, err), done);
            cache.valid = false;
            TIDE_TRY_OR(status, use_pattern(&cache, tide__strbuf_str(&regex), err), done);
            last = pattern;
        }
        if (cache.regex == NULL && pattern.len > 0) TIDE_TRY_OR(status, bad_pattern(call, pattern, NULL, err), done);
        out->bools[i] = pattern.len == 0 ? args[0].str[i].len == 0
                                         : tide__regex_match(cache.regex, args[0].str[i], true);
    }
done:
    tide__regex_close(cache.regex);
    tide__strbuf_deinit(&regex);
    return status;
}

// --- table ---------------------------------------------------------------------------------------------------------

#define INFER(name, classes, kind, nullable)                                                                           \
    static tide_status name(struct infer_context *ctx, struct expr *call, tide_error *err) {                           \
        TIDE_TRY(tide__infer_args(ctx, call, classes, err));                                                           \
        tide__infer_result(ctx, call, kind, nullable);                                                                 \
        return TIDE_OK;                                                                                                \
    }
INFER(infer_test, "SSS", TYPE_BOOLEAN, tide__infer_any_nullable(call))
INFER(infer_extract, "SSI", TYPE_VARCHAR, true)
INFER(infer_replace, "SSS", TYPE_VARCHAR, tide__infer_any_nullable(call))
INFER(infer_count, "SS", TYPE_INT, true)
INFER(infer_part, "SS", TYPE_VARCHAR, true)

static tide_status infer_extract_all(struct infer_context *ctx, struct expr *call, tide_error *err) {
    TIDE_TRY(tide__infer_args(ctx, call, "SSI", err));
    struct type text = tide__type_make(TYPE_VARCHAR, true), array = tide__type_make(TYPE_ARRAY, true);
    struct type_child *child = ARENA_NEW(ctx->arena, struct type_child);
    child->type = tide__type_copy(ctx->arena, &text);
    array.child_count = 1;
    array.children = child;
    call->type = tide__type_copy(ctx->arena, &array);
    return TIDE_OK;
}

static const struct function_kernel kernel_regexp = {.null_if_any = true, .run = run_regexp};
static const struct function_kernel kernel_regexp_extract = {.null_if_any = true, .run = run_regexp_extract};
static const struct function_kernel kernel_regexp_replace = {.null_if_any = true, .run = run_regexp_replace};
static const struct function_kernel kernel_regexp_count = {.null_if_any = true, .run = run_regexp_count};
static const struct function_kernel kernel_regexp_substr = {.null_if_any = true, .run = run_regexp_substr};
static const struct function_kernel kernel_regexp_instr = {.null_if_any = true, .run = run_regexp_instr};
static const struct function_kernel kernel_regexp_extract_all = {.null_if_any = true, .run = run_regexp_extract_all};
static const struct function_kernel kernel_similar = {.null_if_any = true, .run = run_similar};

const struct function tide__fn_regexp = {
    .name = "REGEXP",
    .arg_min = 2,
    .arg_max = 2,
    .infer = infer_test,
    .kernel = &kernel_regexp,
    .signature = "REGEXP(STRING, pattern)",
    .summary = "Whether a part matches a Java regular expression.",
    .example = "REGEXP('abc', '^a.c$')",
    .example_result = "TRUE",
};
const struct function tide__fn_regexp_extract = {
    .name = "REGEXP_EXTRACT",
    .arg_min = 2,
    .arg_max = 3,
    .infer = infer_extract,
    .kernel = &kernel_regexp_extract,
    .signature = "REGEXP_EXTRACT(STRING, pattern[, group])",
    .summary = "The first match, or one of its groups.",
    .example = "REGEXP_EXTRACT('foothebar', 'foo(.*?)(bar)', 2)",
    .example_result = "bar",
};
const struct function tide__fn_regexp_replace = {
    .name = "REGEXP_REPLACE",
    .arg_min = 3,
    .arg_max = 3,
    .infer = infer_replace,
    .kernel = &kernel_regexp_replace,
    .signature = "REGEXP_REPLACE(STRING, pattern, new)",
    .summary = "With all matches replaced by a text.",
    .example = "REGEXP_REPLACE('foobar', 'oo|ar', '')",
    .example_result = "fb",
};
const struct function tide__fn_regexp_count = {
    .name = "REGEXP_COUNT",
    .arg_min = 2,
    .arg_max = 2,
    .infer = infer_count,
    .kernel = &kernel_regexp_count,
    .signature = "REGEXP_COUNT(STRING, pattern)",
    .summary = "The number of matches.",
    .example = "REGEXP_COUNT('hello', 'l')",
    .example_result = "2",
};
const struct function tide__fn_similar = {
    .name = "SIMILAR TO",
    .arg_min = 2,
    .arg_max = 3,
    .infer = infer_test,
    .kernel = &kernel_similar,
    .signature = "STRING SIMILAR TO pattern [ESCAPE character]",
    .summary = "Whether all of a string matches an SQL regular expression.",
    .example = "'abc' SIMILAR TO '(a|b)%'",
    .example_result = "TRUE",
};
const struct function tide__fn_regexp_substr = {
    .name = "REGEXP_SUBSTR",
    .arg_min = 2,
    .arg_max = 2,
    .infer = infer_part,
    .kernel = &kernel_regexp_substr,
    .signature = "REGEXP_SUBSTR(STRING, pattern)",
    .summary = "The first match; NULL if there is none.",
    .example = "REGEXP_SUBSTR('a12b3', '[0-9]+')",
    .example_result = "12",
};
const struct function tide__fn_regexp_instr = {
    .name = "REGEXP_INSTR",
    .arg_min = 2,
    .arg_max = 2,
    .infer = infer_count,
    .kernel = &kernel_regexp_instr,
    .signature = "REGEXP_INSTR(STRING, pattern)",
    .summary = "Where the first match begins, from 1; 0 if there is none.",
    .example = "REGEXP_INSTR('a12b3', '[0-9]+')",
    .example_result = "2",
};
const struct function tide__fn_regexp_extract_all = {
    .name = "REGEXP_EXTRACT_ALL",
    .arg_min = 2,
    .arg_max = 3,
    .infer = infer_extract_all,
    .kernel = &kernel_regexp_extract_all,
    .signature = "REGEXP_EXTRACT_ALL(STRING, pattern[, group])",
    .summary = "One group of all matches (the first group by default).",
    .example = "REGEXP_EXTRACT_ALL('a1b2', '([a-z])([0-9])', 2)",
    .example_result = "[1, 2]",
};
