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
    X(abs, "ABS")                                                                                                      \
    X(acos, "ACOS")                                                                                                    \
    X(and, "AND")                                                                                                      \
    X(ascii, "ASCII")                                                                                                  \
    X(asin, "ASIN")                                                                                                    \
    X(atan, "ATAN")                                                                                                    \
    X(atan2, "ATAN2")                                                                                                  \
    X(bin, "BIN")                                                                                                      \
    X(btrim, "BTRIM")                                                                                                  \
    X(case, "CASE")                                                                                                    \
    X(cast, "CAST")                                                                                                    \
    X(ceil, "CEIL")                                                                                                    \
    X(ceiling, "CEILING")                                                                                              \
    X(ceil_to, "CEIL_TO")                                                                                              \
    X(character_length, "CHARACTER_LENGTH")                                                                            \
    X(char_length, "CHAR_LENGTH")                                                                                      \
    X(chr, "CHR")                                                                                                      \
    X(coalesce, "COALESCE")                                                                                            \
    X(concat, "CONCAT")                                                                                                \
    X(concat_ws, "CONCAT_WS")                                                                                          \
    X(convert_tz, "CONVERT_TZ")                                                                                        \
    X(cos, "COS")                                                                                                      \
    X(cosh, "COSH")                                                                                                    \
    X(cot, "COT")                                                                                                      \
    X(current_date, "CURRENT_DATE")                                                                                    \
    X(current_row_timestamp, "CURRENT_ROW_TIMESTAMP")                                                                  \
    X(current_time, "CURRENT_TIME")                                                                                    \
    X(current_timestamp, "CURRENT_TIMESTAMP")                                                                          \
    X(current_watermark, "CURRENT_WATERMARK")                                                                          \
    X(date_format, "DATE_FORMAT")                                                                                      \
    X(dayofmonth, "DAYOFMONTH")                                                                                        \
    X(dayofweek, "DAYOFWEEK")                                                                                          \
    X(dayofyear, "DAYOFYEAR")                                                                                          \
    X(degrees, "DEGREES")                                                                                              \
    X(e, "E")                                                                                                          \
    X(elt, "ELT")                                                                                                      \
    X(endswith, "ENDSWITH")                                                                                            \
    X(exp, "EXP")                                                                                                      \
    X(extract, "EXTRACT")                                                                                              \
    X(floor, "FLOOR")                                                                                                  \
    X(floor_to, "FLOOR_TO")                                                                                            \
    X(from_unixtime, "FROM_UNIXTIME")                                                                                  \
    X(greatest, "GREATEST")                                                                                            \
    X(hex, "HEX")                                                                                                      \
    X(hour, "HOUR")                                                                                                    \
    X(if, "IF")                                                                                                        \
    X(ifnull, "IFNULL")                                                                                                \
    X(in, "IN")                                                                                                        \
    X(initcap, "INITCAP")                                                                                              \
    X(instr, "INSTR")                                                                                                  \
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
    X(left, "LEFT")                                                                                                    \
    X(like, "LIKE")                                                                                                    \
    X(ln, "LN")                                                                                                        \
    X(localtime, "LOCALTIME")                                                                                          \
    X(localtimestamp, "LOCALTIMESTAMP")                                                                                \
    X(locate, "LOCATE")                                                                                                \
    X(log, "LOG")                                                                                                      \
    X(log10, "LOG10")                                                                                                  \
    X(log2, "LOG2")                                                                                                    \
    X(lower, "LOWER")                                                                                                  \
    X(lpad, "LPAD")                                                                                                    \
    X(ltrim, "LTRIM")                                                                                                  \
    X(minus_date, "MINUS_DATE")                                                                                        \
    X(minute, "MINUTE")                                                                                                \
    X(mod, "MOD")                                                                                                      \
    X(month, "MONTH")                                                                                                  \
    X(negate, "NEGATE")                                                                                                \
    X(not, "NOT")                                                                                                      \
    X(now, "NOW")                                                                                                      \
    X(nullif, "NULLIF")                                                                                                \
    X(octet_length, "OCTET_LENGTH")                                                                                    \
    X(or, "OR")                                                                                                        \
    X(overlay, "OVERLAY")                                                                                              \
    X(pi, "PI")                                                                                                        \
    X(position, "POSITION")                                                                                            \
    X(power, "POWER")                                                                                                  \
    X(proctime, "PROCTIME")                                                                                            \
    X(quarter, "QUARTER")                                                                                              \
    X(radians, "RADIANS")                                                                                              \
    X(rand, "RAND")                                                                                                    \
    X(rand_integer, "RAND_INTEGER")                                                                                    \
    X(repeat, "REPEAT")                                                                                                \
    X(replace, "REPLACE")                                                                                              \
    X(reverse, "REVERSE")                                                                                              \
    X(right, "RIGHT")                                                                                                  \
    X(round, "ROUND")                                                                                                  \
    X(rpad, "RPAD")                                                                                                    \
    X(rtrim, "RTRIM")                                                                                                  \
    X(second, "SECOND")                                                                                                \
    X(sign, "SIGN")                                                                                                    \
    X(sin, "SIN")                                                                                                      \
    X(sinh, "SINH")                                                                                                    \
    X(split_index, "SPLIT_INDEX")                                                                                      \
    X(sqrt, "SQRT")                                                                                                    \
    X(startswith, "STARTSWITH")                                                                                        \
    X(substr, "SUBSTR")                                                                                                \
    X(substring, "SUBSTRING")                                                                                          \
    X(tan, "TAN")                                                                                                      \
    X(tanh, "TANH")                                                                                                    \
    X(timestampadd, "TIMESTAMPADD")                                                                                    \
    X(timestampdiff, "TIMESTAMPDIFF")                                                                                  \
    X(to_date, "TO_DATE")                                                                                              \
    X(to_timestamp, "TO_TIMESTAMP")                                                                                    \
    X(to_timestamp_ltz, "TO_TIMESTAMP_LTZ")                                                                            \
    X(translate, "TRANSLATE")                                                                                          \
    X(trim, "TRIM")                                                                                                    \
    X(trim_both, "TRIM_BOTH")                                                                                          \
    X(trim_leading, "TRIM_LEADING")                                                                                    \
    X(trim_trailing, "TRIM_TRAILING")                                                                                  \
    X(truncate, "TRUNCATE")                                                                                            \
    X(try_cast, "TRY_CAST")                                                                                            \
    X(unix_timestamp, "UNIX_TIMESTAMP")                                                                                \
    X(upper, "UPPER")                                                                                                  \
    X(uuid, "UUID")                                                                                                    \
    X(week, "WEEK")                                                                                                    \
    X(year, "YEAR")                                                                                                    \
    X(concat_operator, "||")

#define DECLARE_FUNCTION(symbol, name) extern const struct function tide__fn_##symbol;
FUNCTIONS(DECLARE_FUNCTION)
#undef DECLARE_FUNCTION

#endif
