// INET_ATON and INET_NTOA: IPv4 addresses as numbers.
#include "engine/functions/functions_list.h"
#include "engine/functions/infer.h"
#include "engine/functions/text.h"

// As MySQL: `a.b.c.d`, also with fewer parts, of which the last fills the rest. False: no address.
static bool parse_address(struct str s, int64_t *out) {
    int64_t address = 0, part = 0;
    int parts = 0, digits = 0;
    for (size_t i = 0; i <= s.len; i++) {
        char c = i < s.len ? s.data[i] : '.';
        if (c >= '0' && c <= '9') {
            part = part * 10 + (c - '0');
            if (++digits > 3 || part > 255) return false;
        } else if (c == '.') {
            if (digits == 0 || ++parts > 4) return false;
            address = parts == 1 || i < s.len || parts == 4 ? address << 8 | part : (address << 8 * (5 - parts)) | part;
            part = 0;
            digits = 0;
        } else {
            return false;
        }
    }
    *out = address;
    return true;
}

static tide_status run_inet_aton(struct eval_context *ctx, const struct expr *call, const struct column *args,
                                 struct selection rows, struct column *out, tide_error *err) {
    for (size_t nth = 0; nth < rows.n; nth++) {
        size_t i = tide__row_at(rows, nth);
        if (!parse_address(args[0].str[i], &out->i64[i])) tide__put_null(out, i);
    }
    return TIDE_OK;
}

static bool make_inet_ntoa(const struct expr *call, const struct column *args, size_t row, struct strbuf *out) {
    int64_t v = args[0].i64[row];
    if (v < 0 || v > 4294967295) return false;
    tide__strbuf_printf(out, "%d.%d.%d.%d", (int)(v >> 24), (int)(v >> 16 & 255), (int)(v >> 8 & 255), (int)(v & 255));
    return true;
}

static tide_status run_inet_ntoa(struct eval_context *ctx, const struct expr *call, const struct column *args,
                                 struct selection rows, struct column *out, tide_error *err) {
    return tide__text_rows(ctx, call, args, rows, make_inet_ntoa, out);
}

static tide_status infer_aton(struct infer_context *ctx, struct expr *call, tide_error *err) {
    TIDE_TRY(tide__infer_args(ctx, call, "S", err));
    tide__infer_result(ctx, call, TYPE_BIGINT, true);
    return TIDE_OK;
}

static tide_status infer_ntoa(struct infer_context *ctx, struct expr *call, tide_error *err) {
    TIDE_TRY(tide__infer_args(ctx, call, "I", err));
    tide__infer_result(ctx, call, TYPE_VARCHAR, true);
    return TIDE_OK;
}

static const struct function_kernel kernel_inet_aton = {.null_if_any = true, .run = run_inet_aton};
static const struct function_kernel kernel_inet_ntoa = {.null_if_any = true, .run = run_inet_ntoa};

const struct function tide__fn_inet_aton = {
    .name = "INET_ATON",
    .arg_min = 1,
    .arg_max = 1,
    .infer = infer_aton,
    .kernel = &kernel_inet_aton,
    .signature = "INET_ATON(STRING)",
    .summary = "An IPv4 address as a number; NULL if it is none.",
    .example = "INET_ATON('127.0.0.1')",
    .example_result = "2130706433",
};
const struct function tide__fn_inet_ntoa = {
    .name = "INET_NTOA",
    .arg_min = 1,
    .arg_max = 1,
    .infer = infer_ntoa,
    .kernel = &kernel_inet_ntoa,
    .signature = "INET_NTOA(integer)",
    .summary = "The IPv4 address of a number; NULL if it is none.",
    .example = "INET_NTOA(2130706433)",
    .example_result = "127.0.0.1",
};
