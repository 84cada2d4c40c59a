// LIKE with ESCAPE.
//
// A constant pattern is compiled when the type is inferred: into an equality, prefix, suffix or part where that is
// all it is, else into a list of characters and wildcards that is matched with one backtracking point, which is
// linear for each `%`.
#include "engine/functions/functions_list.h"
#include "engine/functions/infer.h"
#include "engine/functions/text.h"

enum like_form { LIKE_EQUAL, LIKE_PREFIX, LIKE_SUFFIX, LIKE_PART, LIKE_GENERAL };

struct like_token {
    char kind;        // 0: text, '_' or '%'
    struct str text;  // one character
};

struct like_pattern {
    enum like_form form;
    struct str text;  // of the simple forms
    size_t count;
    struct like_token *tokens;
};

static const char *compile(struct str pattern, struct str escape, struct arena *arena, struct like_pattern *out) {
    struct like_token *tokens = ARENA_ARRAY(arena, struct like_token, pattern.len);
    size_t count = 0;
    char *plain = tide__arena_alloc(arena, pattern.len);
    size_t plain_len = 0, percents = 0, underscores = 0;
    for (size_t at = 0; at < pattern.len;) {
        size_t begin = at;
        tide__utf8_next(pattern, &at);
        struct str c = {pattern.data + begin, at - begin};
        struct like_token *token = &tokens[count];
        if (escape.len > 0 && tide__str_eq(c, escape)) {
            if (at >= pattern.len) return "it ends with the escape character";
            begin = at;
            tide__utf8_next(pattern, &at);
            c = (struct str){pattern.data + begin, at - begin};
            bool special = tide__str_eq_c(c, "%") || tide__str_eq_c(c, "_") || tide__str_eq(c, escape);
            if (!special) return "the escape character stands before an ordinary one";
        } else if (tide__str_eq_c(c, "%")) {
            percents++;
            token->kind = '%';
        } else if (tide__str_eq_c(c, "_")) {
            underscores++;
            token->kind = '_';
        }
        if (token->kind == 0) {
            memcpy(plain + plain_len, c.data, c.len);
            plain_len += c.len;
        }
        token->text = c;
        count++;
    }
    bool first = count > 0 && tokens[0].kind == '%', last = count > 0 && tokens[count - 1].kind == '%';
    *out = (struct like_pattern){LIKE_GENERAL, {plain, plain_len}, count, tokens};
    if (underscores > 0) return NULL;
    if (percents == 0) {
        out->form = LIKE_EQUAL;
    } else if (percents == 1 && (first || last)) {
        out->form = last ? LIKE_PREFIX : LIKE_SUFFIX;
    } else if (percents == 2 && first && last) {
        out->form = LIKE_PART;
    }
    return NULL;
}

static bool match_general(const struct like_pattern *pattern, struct str s) {
    size_t at = 0, token = 0, retry_token = SIZE_MAX, retry_at = 0;
    while (at < s.len || token < pattern->count) {
        const struct like_token *t = token < pattern->count ? &pattern->tokens[token] : NULL;
        if (t != NULL && t->kind == '%') {
            retry_token = ++token;
            retry_at = at;
            continue;
        }
        if (t != NULL && t->kind == '_' && at < s.len) {
            tide__utf8_next(s, &at);
            token++;
            continue;
        }
        if (t != NULL && t->kind == 0 && s.len - at >= t->text.len &&
            memcmp(s.data + at, t->text.data, t->text.len) == 0) {
            at += t->text.len;
            token++;
            continue;
        }
        if (retry_token == SIZE_MAX || retry_at >= s.len) return false;
        tide__utf8_next(s, &retry_at);
        at = retry_at;
        token = retry_token;
    }
    return true;
}

static bool match(const struct like_pattern *pattern, struct str s) {
    struct str text = pattern->text;
    switch (pattern->form) {
    case LIKE_EQUAL: return tide__str_eq(s, text);
    case LIKE_PREFIX: return s.len >= text.len && memcmp(s.data, text.data, text.len) == 0;
    case LIKE_SUFFIX: return s.len >= text.len && memcmp(s.data + s.len - text.len, text.data, text.len) == 0;
    case LIKE_PART: return tide__text_find(s, text, 0) != SIZE_MAX;
    case LIKE_GENERAL: return match_general(pattern, s);
    }
    return false;
}

static tide_status bad_pattern(const struct expr *call, struct str pattern, const char *problem, tide_status when,
                               tide_error *err) {
    tide__fail_at(err, when, call->pos, "bad LIKE pattern '%.*s': %s", STR_ARG(pattern), problem);
    return tide__fail_hint(err, "an escape character must stand before %%, _ or itself");
}

static tide_status run_like(struct eval_context *ctx, const struct expr *call, const struct column *args,
                            struct selection rows, struct column *out, tide_error *err) {
    const struct like_pattern *prepared = call->prepared;
    if (prepared != NULL) {
        EACH_ROW(rows, i, out->bools[i] = match(prepared, args[0].str[i]););
        return TIDE_OK;
    }
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth);
        struct like_pattern pattern;
        struct str escape = call->arg_count > 2 ? args[2].str[i] : (struct str){NULL, 0};
        const char *problem = compile(args[1].str[i], escape, ctx->scratch, &pattern);
        if (problem != NULL) return bad_pattern(call, args[1].str[i], problem, TIDE_ERR_RUNTIME, err);
        out->bools[i] = match(&pattern, args[0].str[i]);
    }
    return TIDE_OK;
}

static tide_status infer_like(struct infer_context *ctx, struct expr *call, tide_error *err) {
    TIDE_TRY(tide__infer_args(ctx, call, "SSS", err));
    struct str pattern = {0}, escape = {0};
    bool constant = tide__infer_literal_text(call->args[1], &pattern) &&
                    (call->arg_count < 3 || tide__infer_literal_text(call->args[2], &escape));
    if (call->arg_count == 3 && constant && tide__utf8_length(escape) > 1) {
        return tide__fail_at(err, TIDE_ERR_VALIDATE, call->args[2]->pos, "ESCAPE takes one character");
    }
    struct like_pattern *compiled = ARENA_NEW(ctx->arena, struct like_pattern);
    if (constant) {
        const char *problem = compile(pattern, escape, ctx->arena, compiled);
        if (problem != NULL) return bad_pattern(call, pattern, problem, TIDE_ERR_VALIDATE, err);
        call->prepared = compiled;
    }
    tide__infer_result(ctx, call, TYPE_BOOLEAN, tide__infer_any_nullable(call));
    return TIDE_OK;
}

static const struct function_kernel kernel_like = {.null_if_any = true, .run = run_like};

const struct function tide__fn_like = {
    .name = "LIKE",
    .arg_min = 2,
    .arg_max = 3,
    .infer = infer_like,
    .kernel = &kernel_like,
    .signature = "STRING LIKE pattern [ESCAPE character]",
    .summary = "Whether a string fits a pattern: % stands for any text, _ for one character.",
    .example = "'hello' LIKE 'h%o'",
    .example_result = "TRUE",
};
