// All scalar functions, sorted by name (strcmp). One line here and one `const struct function tide__fn_...` in a
// family's file make a function.
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
    X(array, "ARRAY")                                                                                                  \
    X(array_append, "ARRAY_APPEND")                                                                                    \
    X(array_concat, "ARRAY_CONCAT")                                                                                    \
    X(array_contains, "ARRAY_CONTAINS")                                                                                \
    X(array_distinct, "ARRAY_DISTINCT")                                                                                \
    X(array_except, "ARRAY_EXCEPT")                                                                                    \
    X(array_intersect, "ARRAY_INTERSECT")                                                                              \
    X(array_join, "ARRAY_JOIN")                                                                                        \
    X(array_max, "ARRAY_MAX")                                                                                          \
    X(array_min, "ARRAY_MIN")                                                                                          \
    X(array_position, "ARRAY_POSITION")                                                                                \
    X(array_prepend, "ARRAY_PREPEND")                                                                                  \
    X(array_remove, "ARRAY_REMOVE")                                                                                    \
    X(array_reverse, "ARRAY_REVERSE")                                                                                  \
    X(array_slice, "ARRAY_SLICE")                                                                                      \
    X(array_sort, "ARRAY_SORT")                                                                                        \
    X(array_union, "ARRAY_UNION")                                                                                      \
    X(ascii, "ASCII")                                                                                                  \
    X(asin, "ASIN")                                                                                                    \
    X(atan, "ATAN")                                                                                                    \
    X(atan2, "ATAN2")                                                                                                  \
    X(bin, "BIN")                                                                                                      \
    X(btrim, "BTRIM")                                                                                                  \
    X(cardinality, "CARDINALITY")                                                                                      \
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
    X(current_database, "CURRENT_DATABASE")                                                                            \
    X(current_date, "CURRENT_DATE")                                                                                    \
    X(current_row_timestamp, "CURRENT_ROW_TIMESTAMP")                                                                  \
    X(current_time, "CURRENT_TIME")                                                                                    \
    X(current_timestamp, "CURRENT_TIMESTAMP")                                                                          \
    X(current_watermark, "CURRENT_WATERMARK")                                                                          \
    X(date_format, "DATE_FORMAT")                                                                                      \
    X(dayofmonth, "DAYOFMONTH")                                                                                        \
    X(dayofweek, "DAYOFWEEK")                                                                                          \
    X(dayofyear, "DAYOFYEAR")                                                                                          \
    X(decode, "DECODE")                                                                                                \
    X(degrees, "DEGREES")                                                                                              \
    X(e, "E")                                                                                                          \
    X(element, "ELEMENT")                                                                                              \
    X(elt, "ELT")                                                                                                      \
    X(encode, "ENCODE")                                                                                                \
    X(endswith, "ENDSWITH")                                                                                            \
    X(exp, "EXP")                                                                                                      \
    X(extract, "EXTRACT")                                                                                              \
    X(field, "FIELD")                                                                                                  \
    X(floor, "FLOOR")                                                                                                  \
    X(floor_to, "FLOOR_TO")                                                                                            \
    X(from_base64, "FROM_BASE64")                                                                                      \
    X(from_unixtime, "FROM_UNIXTIME")                                                                                  \
    X(greatest, "GREATEST")                                                                                            \
    X(hash_code, "HASH_CODE")                                                                                          \
    X(hex, "HEX")                                                                                                      \
    X(hour, "HOUR")                                                                                                    \
    X(if, "IF")                                                                                                        \
    X(ifnull, "IFNULL")                                                                                                \
    X(in, "IN")                                                                                                        \
    X(inet_aton, "INET_ATON")                                                                                          \
    X(inet_ntoa, "INET_NTOA")                                                                                          \
    X(initcap, "INITCAP")                                                                                              \
    X(instr, "INSTR")                                                                                                  \
    X(is_distinct, "IS DISTINCT FROM")                                                                                 \
    X(is_false, "IS FALSE")                                                                                            \
    X(is_json, "IS JSON")                                                                                              \
    X(is_not_distinct, "IS NOT DISTINCT FROM")                                                                         \
    X(is_not_false, "IS NOT FALSE")                                                                                    \
    X(is_not_null, "IS NOT NULL")                                                                                      \
    X(is_not_true, "IS NOT TRUE")                                                                                      \
    X(is_not_unknown, "IS NOT UNKNOWN")                                                                                \
    X(is_null, "IS NULL")                                                                                              \
    X(is_true, "IS TRUE")                                                                                              \
    X(is_unknown, "IS UNKNOWN")                                                                                        \
    X(is_alpha, "IS_ALPHA")                                                                                            \
    X(is_decimal, "IS_DECIMAL")                                                                                        \
    X(is_digit, "IS_DIGIT")                                                                                            \
    X(item, "ITEM")                                                                                                    \
    X(json, "JSON")                                                                                                    \
    X(json_array, "JSON_ARRAY")                                                                                        \
    X(json_exists, "JSON_EXISTS")                                                                                      \
    X(json_object, "JSON_OBJECT")                                                                                      \
    X(json_query, "JSON_QUERY")                                                                                        \
    X(json_quote, "JSON_QUOTE")                                                                                        \
    X(json_string, "JSON_STRING")                                                                                      \
    X(json_unquote, "JSON_UNQUOTE")                                                                                    \
    X(json_value, "JSON_VALUE")                                                                                        \
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
    X(map, "MAP")                                                                                                      \
    X(map_entries, "MAP_ENTRIES")                                                                                      \
    X(map_from_arrays, "MAP_FROM_ARRAYS")                                                                              \
    X(map_keys, "MAP_KEYS")                                                                                            \
    X(map_union, "MAP_UNION")                                                                                          \
    X(map_values, "MAP_VALUES")                                                                                        \
    X(md5, "MD5")                                                                                                      \
    X(minus_date, "MINUS_DATE")                                                                                        \
    X(minute, "MINUTE")                                                                                                \
    X(mod, "MOD")                                                                                                      \
    X(month, "MONTH")                                                                                                  \
    X(negate, "NEGATE")                                                                                                \
    X(not, "NOT")                                                                                                      \
    X(now, "NOW")                                                                                                      \
    X(nullif, "NULLIF")                                                                                                \
    X(or, "OR")                                                                                                        \
    X(overlaps, "OVERLAPS")                                                                                            \
    X(overlay, "OVERLAY")                                                                                              \
    X(parse_url, "PARSE_URL")                                                                                          \
    X(pi, "PI")                                                                                                        \
    X(position, "POSITION")                                                                                            \
    X(power, "POWER")                                                                                                  \
    X(printf, "PRINTF")                                                                                                \
    X(proctime, "PROCTIME")                                                                                            \
    X(quarter, "QUARTER")                                                                                              \
    X(radians, "RADIANS")                                                                                              \
    X(rand, "RAND")                                                                                                    \
    X(rand_integer, "RAND_INTEGER")                                                                                    \
    X(regexp, "REGEXP")                                                                                                \
    X(regexp_count, "REGEXP_COUNT")                                                                                    \
    X(regexp_extract, "REGEXP_EXTRACT")                                                                                \
    X(regexp_extract_all, "REGEXP_EXTRACT_ALL")                                                                        \
    X(regexp_instr, "REGEXP_INSTR")                                                                                    \
    X(regexp_replace, "REGEXP_REPLACE")                                                                                \
    X(regexp_substr, "REGEXP_SUBSTR")                                                                                  \
    X(repeat, "REPEAT")                                                                                                \
    X(replace, "REPLACE")                                                                                              \
    X(reverse, "REVERSE")                                                                                              \
    X(right, "RIGHT")                                                                                                  \
    X(round, "ROUND")                                                                                                  \
    X(row, "ROW")                                                                                                      \
    X(rpad, "RPAD")                                                                                                    \
    X(rtrim, "RTRIM")                                                                                                  \
    X(second, "SECOND")                                                                                                \
    X(sha1, "SHA1")                                                                                                    \
    X(sha2, "SHA2")                                                                                                    \
    X(sha224, "SHA224")                                                                                                \
    X(sha256, "SHA256")                                                                                                \
    X(sha384, "SHA384")                                                                                                \
    X(sha512, "SHA512")                                                                                                \
    X(sign, "SIGN")                                                                                                    \
    X(similar, "SIMILAR TO")                                                                                           \
    X(sin, "SIN")                                                                                                      \
    X(sinh, "SINH")                                                                                                    \
    X(split, "SPLIT")                                                                                                  \
    X(split_index, "SPLIT_INDEX")                                                                                      \
    X(sqrt, "SQRT")                                                                                                    \
    X(startswith, "STARTSWITH")                                                                                        \
    X(str_to_map, "STR_TO_MAP")                                                                                        \
    X(substr, "SUBSTR")                                                                                                \
    X(substring, "SUBSTRING")                                                                                          \
    X(tan, "TAN")                                                                                                      \
    X(tanh, "TANH")                                                                                                    \
    X(timestampadd, "TIMESTAMPADD")                                                                                    \
    X(timestampdiff, "TIMESTAMPDIFF")                                                                                  \
    X(to_base64, "TO_BASE64")                                                                                          \
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
    X(typeof, "TYPEOF")                                                                                                \
    X(unhex, "UNHEX")                                                                                                  \
    X(unix_timestamp, "UNIX_TIMESTAMP")                                                                                \
    X(upper, "UPPER")                                                                                                  \
    X(url_decode, "URL_DECODE")                                                                                        \
    X(url_encode, "URL_ENCODE")                                                                                        \
    X(uuid, "UUID")                                                                                                    \
    X(week, "WEEK")                                                                                                    \
    X(year, "YEAR")                                                                                                    \
    X(concat_operator, "||")

#define DECLARE_FUNCTION(symbol, name) extern const struct function tide__fn_##symbol;
FUNCTIONS(DECLARE_FUNCTION)
#undef DECLARE_FUNCTION

#endif
