// Casts of ARRAY, MAP and ROW: element by element.
#include "engine/expr/nested.h"
#include "engine/functions/cast.h"

// The type of the element with this index: fields of a ROW, keys and values of a MAP in turn.
static const struct type *element_type(const struct type *type, size_t i) {
    return type->children[type->kind == TYPE_ROW ? i : i % type->child_count].type;
}

static tide_status cast_element(struct cast_job *job, const struct column *from, struct column *to) {
    cast_run *run = NULL;
    if (tide__column_is_null(from, 0)) {
        tide__put_null(to, 0);
        return TIDE_OK;
    }
    tide__cast_find(from->type, to->type, &run);
    struct cast_job element = *job;
    element.in = from;
    element.out = to;
    element.rows = (struct selection){NULL, 1};
    if (run != NULL) return run(&element);
    tide__column_copy(from, element.rows, to);
    return TIDE_OK;
}

static tide_status nested_to_nested(struct cast_job *job) {
    struct strbuf bytes = {0};
    struct arena *arena = job->ctx->scratch;
    tide_status status = TIDE_OK;
    for (size_t nth = 0; nth < job->rows.n; nth++) {
        size_t i = tide__row_at(job->rows, nth), count = 0;
        struct column *from = NULL;
        if (!tide__nested_decode(job->in->str[i], job->in->type, arena, &from, &count)) {
            status = tide__cast_failed(job, i);
            if (status != TIDE_OK) break;
            continue;
        }
        struct column *to = tide__arena_alloc(arena, count * sizeof *to);
        for (size_t e = 0; e < count; e++) {
            tide__column_init(&to[e], element_type(job->out->type, e), 1, 1, arena);
            TIDE_TRY_OR(status, cast_element(job, &from[e], &to[e]), done);
        }
        // TRY_CAST: one element that can't be converted makes all of the value NULL.
        bool lost = false;
        for (size_t e = 0; e < count; e++)
            lost |= tide__column_is_null(&to[e], 0) && !tide__column_is_null(&from[e], 0);
        if (lost) {
            tide__put_null(job->out, i);
            continue;
        }
        tide__strbuf_clear(&bytes);
        tide__nested_append(job->out->type, to, count, 0, &bytes);
        job->out->str[i] = tide__str_copy(arena, bytes.data, bytes.len);
    }
done:
    tide__strbuf_deinit(&bytes);
    return status;
}

cast_run *tide__cast_nested(const struct type *from, const struct type *to) {
    if (from->kind != to->kind || from->child_count != to->child_count || from->kind == TYPE_MULTISET) return NULL;
    for (uint32_t i = 0; i < from->child_count; i++) {
        cast_run *run = NULL;
        if (!tide__cast_find(from->children[i].type, to->children[i].type, &run)) return NULL;
    }
    return nested_to_nested;
}
