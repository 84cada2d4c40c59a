// All scalar functions, sorted by name (strcmp). One line here and one `const struct function tide__fn_...` in a family's
// file make a function.
#ifndef TIDE_ENGINE_FUNCTIONS_LIST_H
#define TIDE_ENGINE_FUNCTIONS_LIST_H

#include "engine/plan.h"

#define FUNCTIONS(X)                                                                                                   \
    X(percent, "%")                                                                                                    \
    X(multiply, "*")                                                                                                   \
    X(add, "+")                                                                                                        \
    X(subtract, "-")                                                                                                   \
    X(divide, "/")                                                                                                     \
    X(lt, "<")                                                                                                         \
    X(le, "<=")                                                                                                        \
    X(ne, "<>")                                                                                                        \
    X(eq, "=")                                                                                                         \
    X(gt, ">")                                                                                                         \
    X(ge, ">=")                                                                                                        \
    X(and, "AND")                                                                                                      \
    X(case, "CASE")                                                                                                    \
    X(cast, "CAST")                                                                                                    \
    X(ceil_to, "CEIL_TO")                                                                                              \
    X(coalesce, "COALESCE")                                                                                            \
    X(convert_tz, "CONVERT_TZ")                                                                                        \
    X(current_date, "CURRENT_DATE")                                                                                    \
    X(current_row_timestamp, "CURRENT_ROW_TIMESTAMP")                                                                  \
    X(current_time, "CURRENT_TIME")                                                                                    \
    X(current_timestamp, "CURRENT_TIMESTAMP")                                                                          \
    X(current_watermark, "CURRENT_WATERMARK")                                                                          \
    X(date_format, "DATE_FORMAT")                                                                                      \
    X(dayofmonth, "DAYOFMONTH")                                                                                        \
    X(dayofweek, "DAYOFWEEK")                                                                                          \
    X(dayofyear, "DAYOFYEAR")                                                                                          \
    X(extract, "EXTRACT")                                                                                              \
    X(floor_to, "FLOOR_TO")                                                                                            \
    X(from_unixtime, "FROM_UNIXTIME")                                                                                  \
    X(greatest, "GREATEST")                                                                                            \
    X(hour, "HOUR")                                                                                                    \
    X(if, "IF")                                                                                                        \
    X(ifnull, "IFNULL")                                                                                                \
    X(in, "IN")                                                                                                        \
    X(is_distinct, "IS DISTINCT FROM")                                                                                 \
    X(is_false, "IS FALSE")                                                                                            \
    X(is_not_distinct, "IS NOT DISTINCT FROM")                                                                         \
    X(is_not_false, "IS NOT FALSE")                                                                                    \
    X(is_not_null, "IS NOT NULL")                                                                                      \
    X(is_not_true, "IS NOT TRUE")                                                                                      \
    X(is_not_unknown, "IS NOT UNKNOWN")                                                                                \
    X(is_null, "IS NULL")                                                                                              \
    X(is_true, "IS TRUE")                                                                                              \
    X(is_unknown, "IS UNKNOWN")                                                                                        \
    X(least, "LEAST")                                                                                                  \
    X(localtime, "LOCALTIME")                                                                                          \
    X(localtimestamp, "LOCALTIMESTAMP")                                                                                \
    X(minus_date, "MINUS_DATE")                                                                                        \
    X(minute, "MINUTE")                                                                                                \
    X(mod, "MOD")                                                                                                      \
    X(month, "MONTH")                                                                                                  \
    X(negate, "NEGATE")                                                                                                \
    X(not, "NOT")                                                                                                      \
    X(now, "NOW")                                                                                                      \
    X(nullif, "NULLIF")                                                                                                \
    X(or, "OR")                                                                                                        \
    X(proctime, "PROCTIME")                                                                                            \
    X(quarter, "QUARTER")                                                                                              \
    X(second, "SECOND")                                                                                                \
    X(timestampadd, "TIMESTAMPADD")                                                                                    \
    X(timestampdiff, "TIMESTAMPDIFF")                                                                                  \
    X(to_date, "TO_DATE")                                                                                              \
    X(to_timestamp, "TO_TIMESTAMP")                                                                                    \
    X(to_timestamp_ltz, "TO_TIMESTAMP_LTZ")                                                                            \
    X(try_cast, "TRY_CAST")                                                                                            \
    X(unix_timestamp, "UNIX_TIMESTAMP")                                                                                \
    X(week, "WEEK")                                                                                                    \
    X(year, "YEAR")

#define DECLARE_FUNCTION(symbol, name) extern const struct function tide__fn_##symbol;
FUNCTIONS(DECLARE_FUNCTION)
#undef DECLARE_FUNCTION

#endif
