// The text of values, as Flink's SQL client shows them and as CAST to STRING gives it.
#include "engine/expr/eval.h"

#include "base/decimal.h"
#include "base/time.h"
#include "base/zone.h"
#include "engine/expr/kernel.h"
#include "engine/expr/nested.h"

static void put_bytes(struct str bytes, struct strbuf *out) {
    static const char digits[] = "0123456789abcdef";
    tide__strbuf_append_c(out, "x'");
    char *at = tide__strbuf_reserve(out, bytes.len * 2);
    for (size_t i = 0; i < bytes.len; i++) {
        unsigned char byte = (unsigned char)bytes.data[i];
        at[2 * i] = digits[byte >> 4];
        at[2 * i + 1] = digits[byte & 15];
    }
    out->len += bytes.len * 2;
    tide__strbuf_append_char(out, '\'');
}

static void put_interval_months(int64_t months, struct strbuf *out) {
    uint64_t v = months < 0 ? -(uint64_t)months : (uint64_t)months;
    tide__strbuf_printf(out, "%c%llu-%02llu", months < 0 ? '-' : '+', (unsigned long long)(v / 12),
                        (unsigned long long)(v % 12));
}

static void put_interval_millis(int64_t ms, struct strbuf *out) {
    unsigned long long v = ms < 0 ? -(unsigned long long)ms : (unsigned long long)ms;
    tide__strbuf_printf(out, "%c%llu %02llu:%02llu:%02llu.%03llu", ms < 0 ? '-' : '+', v / 86400000, v / 3600000 % 24,
                        v / 60000 % 60, v / 1000 % 60, v % 1000);
}

// The fraction has one digit at least, and no zeros behind that.
static void put_time(int64_t ms, int precision, struct strbuf *out) {
    tide__time_print(tide__floor_mod(ms, MILLIS_PER_DAY), precision > 3 ? 3 : precision, out);
    size_t dot = out->len - (size_t)(precision > 3 ? 3 : precision);
    while (precision > 0 && out->len > dot + 1 && out->data[out->len - 1] == '0') out->data[--out->len] = 0;
}

// A year has four digits, also one of five: of those the last four are shown.
static void cut_year(struct strbuf *out, size_t begin) {
    if (begin >= out->len || out->data[begin] != '+') return;
    const char *dash = memchr(out->data + begin, '-', out->len - begin);
    size_t extra = (size_t)(dash - (out->data + begin)) - 4;
    memmove(out->data + begin, out->data + begin + extra, out->len - begin - extra + 1);
    out->len -= extra;
}

static void put_integer(int64_t v, struct strbuf *out) {
    char text[24];
    char *at = text + sizeof text;
    uint64_t rest = v < 0 ? -(uint64_t)v : (uint64_t)v;
    do {
        *--at = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (v < 0) *--at = '-';
    tide__strbuf_append(out, at, (size_t)(text + sizeof text - at));
}

void tide__value_text(const struct column *column, size_t row, const struct zone *zone, struct strbuf *out) {
    const struct type *type = column->type;
    size_t begin = out->len;
    switch (type->kind) {
    case TYPE_NULL: tide__strbuf_append_c(out, "NULL"); break;
    case TYPE_BOOLEAN: tide__strbuf_append_c(out, column->bools[row] ? "TRUE" : "FALSE"); break;
    case TYPE_TINYINT:
    case TYPE_SMALLINT:
    case TYPE_INT:
    case TYPE_BIGINT: put_integer(column->i64[row], out); break;
    case TYPE_FLOAT: tide__float_print((float)column->f64[row], out); break;
    case TYPE_DOUBLE: tide__double_print(column->f64[row], out); break;
    case TYPE_DECIMAL: tide__decimal_print(tide__decimal_at(column, row), type->scale, out); break;
    case TYPE_CHAR:
    case TYPE_VARCHAR:
    case TYPE_BINARY:
    case TYPE_VARBINARY: tide__strbuf_append_str(out, column->str[row]); break;
    case TYPE_DATE:
        tide__date_print(column->i64[row], out);
        cut_year(out, begin);
        break;
    case TYPE_TIME: put_time(column->i64[row], type->precision, out); break;
    case TYPE_TIMESTAMP:
        tide__timestamp_print(tide__timestamp_at(column, row), type->precision, out);
        cut_year(out, begin);
        break;
    case TYPE_TIMESTAMP_LTZ: {
        struct timestamp t = tide__timestamp_at(column, row);
        t.ms = tide__zone_to_local(zone, t.ms);
        tide__timestamp_print(t, type->precision, out);
        cut_year(out, begin);
        break;
    }
    case TYPE_INTERVAL_MONTHS: put_interval_months(column->i64[row], out); break;
    case TYPE_INTERVAL_MILLIS: put_interval_millis(column->i64[row], out); break;
    case TYPE_ARRAY:
    case TYPE_MULTISET:
    case TYPE_MAP:
    case TYPE_ROW: tide__nested_text(column->str[row], type, zone, out); break;
    }
}

void tide__value_display_in_zone(const struct column *column, size_t row, const struct zone *zone, struct strbuf *out) {
    enum type_kind kind = column->type->kind;
    if (kind == TYPE_BINARY || kind == TYPE_VARBINARY) {
        put_bytes(column->str[row], out);
    } else if (column->type->child_count > 0) {
        tide__nested_display(column->str[row], column->type, zone, out);
    } else {
        tide__value_text(column, row, zone, out);
    }
}

void tide__value_display(const struct column *column, size_t row, struct strbuf *out) {
    tide__value_display_in_zone(column, row, NULL, out);
}
