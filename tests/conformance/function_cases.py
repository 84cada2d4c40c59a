"""The expressions that functions.py computes on Tidemark and on real Flink: families of SQL expressions, and views for them.

A family is a list of lines: an expression, or (expression, view). Lists of arguments are crossed by `each`. A failing expression
hides no other one, so what fails is welcome. Expressions hold no tab and no newline.
"""
import itertools, zlib

NULL_S, NULL_I, NULL_D = 'CAST(NULL AS STRING)', 'CAST(NULL AS INT)', 'CAST(NULL AS DOUBLE)'

SETUP = [
    "@table\tCREATE TEMPORARY VIEW S AS SELECT id, CAST(s AS STRING) AS s, CAST(p AS STRING) AS p, n, m FROM (VALUES "
    "(1, 'Hello World', 'o', 1, 3), (2, '', '', 0, 0), (3, 'äöü ß', 'ö', 2, -1), (4, '😀x😀', 'x', -1, 2), (5, 'a,b,,c', ',', -3, 100), "
    "(6, '  x  ', ' ', 2147483647, 1), (7, CAST(NULL AS STRING), 'a', 1, 1), (8, 'abc', CAST(NULL AS STRING), 1, 1), "
    "(9, 'abcabc', 'bc', CAST(NULL AS INT), 2), (10, 'aXbX', 'X', 4, CAST(NULL AS INT)), (11, '12', '1', -2147483648, -2147483648)) "
    "AS v(id, s, p, n, m)",
    "@table\tCREATE TEMPORARY VIEW N AS SELECT id, CAST(ti AS TINYINT) AS ti, CAST(si AS SMALLINT) AS si, CAST(i AS INT) AS i, "
    "CAST(l AS BIGINT) AS l, CAST(f AS FLOAT) AS f, CAST(d AS DOUBLE) AS d, CAST(c AS DECIMAL(10, 2)) AS c, CAST(b AS DECIMAL(38, 10)) "
    "AS b FROM (VALUES (1, 1, 2, 3, 4, 1.5, 2.25, 12.34, '123456789.123456789'), (2, 0, 0, 0, 0, 0.0, 0.0, 0.00, '0.0'), "
    "(3, -1, -2, -3, -4, -1.5, -2.5, -12.35, '-0.5'), (4, 127, 32767, 2147483647, 9223372036854775807, 3.4e38, 1.7e308, 99999999.99, "
    "'9999999999999999999999999999.9999999999'), (5, -128, -32768, -2147483648, CAST('-9223372036854775808' AS BIGINT), 1.0e-10, -1.0e-300, -99999999.99, "
    "'-9999999999999999999999999999.9999999999'), (6, CAST(NULL AS INT), CAST(NULL AS INT), CAST(NULL AS INT), CAST(NULL AS BIGINT), "
    "CAST(NULL AS DOUBLE), CAST(NULL AS DOUBLE), CAST(NULL AS DECIMAL(10, 2)), CAST(NULL AS STRING)), "
    "(7, 7, 7, 7, 7, 0.1, 0.1, 0.10, '0.1')) AS v(id, ti, si, i, l, f, d, c, b)",
    "@table\tCREATE TEMPORARY VIEW D AS SELECT id, CAST(x AS TIMESTAMP(3)) AS ts, CAST(x AS TIMESTAMP(9)) AS tn, CAST(x AS DATE) AS dt, "
    "CAST(CAST(x AS TIMESTAMP(3)) AS TIME) AS tm, CAST(CAST(x AS TIMESTAMP(3)) AS TIMESTAMP_LTZ(3)) AS lz, CAST(x AS STRING) AS s FROM (VALUES "
    "(1, '2024-02-29 12:34:56.789123456'), (2, '1970-01-01 00:00:00'), (3, '1969-12-31 23:59:59.999'), (4, '2000-12-31 23:59:59.5'), "
    "(5, '1900-03-01 06:07:08.001'), (6, '2024-12-30 00:00:00.1'), (7, '9999-12-31 23:59:59.999'), (8, CAST(NULL AS STRING)), "
    "(9, '2023-01-01 01:02:03.000000001')) AS v(id, x)",
    "@table\tCREATE TEMPORARY VIEW A AS SELECT id, CAST(i AS INT) AS i, CAST(i AS TINYINT) AS ti, CAST(l AS BIGINT) AS l, CAST(d AS FLOAT) AS f, "
    "CAST(d AS DOUBLE) AS d, CAST(c AS DECIMAL(10, 2)) AS c, CAST(s AS STRING) AS s, CAST(s AS CHAR(2)) AS ch, CAST(b AS BOOLEAN) AS b, "
    "CAST(x AS DATE) AS dt, CAST(x AS TIMESTAMP(3)) AS ts, CAST(x AS STRING) AS x FROM (VALUES "
    "(1, '1', '10', '1.5', '1.25', 'a', 'true', '2024-01-01 00:00:01'), (1, '2', '20', '0.1', '2.50', 'b', 'false', '2024-01-02 00:00:02'), "
    "(1, CAST(NULL AS STRING), CAST(NULL AS STRING), CAST(NULL AS STRING), CAST(NULL AS STRING), CAST(NULL AS STRING), CAST(NULL AS STRING), '2023-01-01 00:00:03'), "
    "(1, '2', '20', '0.2', '3.75', 'b', 'true', '2024-01-01 00:00:04'), (2, '100', '7', '7.0', '99999999.99', 'é', 'true', '1969-12-31 23:59:59.999'), "
    "(3, CAST(NULL AS STRING), CAST(NULL AS STRING), CAST(NULL AS STRING), CAST(NULL AS STRING), CAST(NULL AS STRING), CAST(NULL AS STRING), '2024-01-01 00:00:06'), "
    "(4, '127', '9223372036854775807', '1e308', '99999999.99', '', 'false', '2024-01-01 00:00:07'), (4, '127', '9223372036854775807', '1e308', '99999999.99', 'Z', 'false', '2024-01-01 00:00:08')) "
    "AS v(id, i, l, d, c, s, b, x)",
]

TYPES = ['BOOLEAN', 'TINYINT', 'SMALLINT', 'INT', 'BIGINT', 'FLOAT', 'DOUBLE', 'DECIMAL(5, 2)', 'DECIMAL(38, 18)', 'CHAR(3)',
         'VARCHAR(5)', 'STRING', 'BINARY(2)', 'VARBINARY(5)', 'BYTES', 'DATE', 'TIME', 'TIME(3)', 'TIMESTAMP(0)', 'TIMESTAMP(3)',
         'TIMESTAMP(9)', 'TIMESTAMP_LTZ(0)', 'TIMESTAMP_LTZ(3)', 'TIMESTAMP_LTZ(9)', 'INTERVAL YEAR TO MONTH',
         'INTERVAL DAY TO SECOND(3)', 'ARRAY<INT>', 'ARRAY<STRING>', 'MAP<STRING, INT>', 'ROW<a INT, b STRING>', 'MULTISET<INT>']
SAMPLES = ['TRUE', 'CAST(-128 AS TINYINT)', 'CAST(32767 AS SMALLINT)', '42', '-7', '2147483648', '-9223372036854775808', 'CAST(1.5 AS FLOAT)',
           'CAST(-3.99 AS DOUBLE)', '1.0e20', 'CAST(12.345 AS DECIMAL(5, 3))', '-99999999999999999.5', "'abcdef'", "'12'", "'TRUE'",
           "CAST(' 7 ' AS STRING)", "CAST('2024-02-29' AS STRING)", "CAST('2024-02-29 12:34:56.789' AS STRING)", "CAST('12:34:56' AS STRING)",
           "CAST('' AS STRING)", "X'4142'", "X'61626364656667'", "DATE '2024-02-29'", "DATE '1969-12-31'", "TIME '12:34:56'",
           "TIME '12:34:56.789'", "TIMESTAMP '2024-02-29 12:34:56'", "TIMESTAMP '2024-02-29 12:34:56.123456789'",
           "TIMESTAMP '1969-12-31 23:59:59.999'", "TO_TIMESTAMP_LTZ(1234567890123, 3)", "TO_TIMESTAMP_LTZ(-1, 0)",
           "INTERVAL '14' MONTH", "INTERVAL '-1 02:03:04.5' DAY TO SECOND", 'ARRAY[1, 2]', "ARRAY['a', CAST(NULL AS STRING)]", "MAP['k', 1]",
           "ROW(1, 'x')", 'NULL']
SIMPLE = ['TRUE', 'CAST(1 AS TINYINT)', 'CAST(2 AS SMALLINT)', '3', 'CAST(4 AS BIGINT)', 'CAST(1.5 AS FLOAT)', '2.5e0', '12.34',
          "'a'", "CAST('b' AS STRING)", "X'41'", "DATE '2024-02-29'", "TIME '12:34:56'", "TIMESTAMP '2024-02-29 12:34:56'",
          "TO_TIMESTAMP_LTZ(1000, 3)", "INTERVAL '1' YEAR", "INTERVAL '1' DAY", 'ARRAY[1]', "MAP['k', 1]", "ROW(1, 'x')", 'NULL']


# Of a product of more than 24 expressions one in so many is taken.
STEP = {'aggregates': 1, 'strings': 2, 'numbers': 3, 'conditions': 10, 'casts': 3, 'times': 4, 'zones': 1, 'json': 3, 'collections': 4}
step = 1


def each(template, *lists):
    out = [template.format(*args) for args in itertools.product(*lists)]
    return out if len(out) <= 24 else [e for e in out if zlib.crc32(e.encode('utf-8')) % step == 0]


def over(view, expressions):
    return [(e, view) for e in expressions]


STRINGS = ["''", "'a'", "'Hello World'", "'äöü'", "'😀x'", NULL_S]
SMALL = ['0', '1', '-1', '2', '100', NULL_I]


def strings():
    out = []
    for f in ['UPPER', 'LOWER', 'INITCAP', 'REVERSE', 'CHAR_LENGTH', 'CHARACTER_LENGTH', 'OCTET_LENGTH', 'ASCII', 'TRIM', 'LTRIM', 'RTRIM', 'BTRIM',
              'MD5', 'SHA1', 'SHA224', 'SHA256', 'SHA384', 'SHA512', 'TO_BASE64', 'FROM_BASE64', 'HEX', 'UNHEX', 'URL_ENCODE', 'URL_DECODE',
              'IS_ALPHA', 'IS_DECIMAL', 'IS_DIGIT', 'HASH_CODE', 'JSON_QUOTE', 'JSON_UNQUOTE', 'JSON_STRING', 'LENGTH', 'BIT_LENGTH', 'STR_TO_MAP',
              'UCASE', 'LCASE', 'SPACE', 'SOUNDEX', 'CHR', 'INET_ATON', 'INET_NTOA', 'TO_NUMBER', 'CONV', 'QUOTE', 'KEYVALUE']:
        out += each(f + '({})', STRINGS + ["'4142'", "'a b&c=%41'", "'12.5'", '65', "X'6162'"])
        out += over('S', [f + '(s)'])
    out += over('S', ["s || p", "s || 'x' || p", 'CONCAT(s, p)', 'CONCAT(s)', "CONCAT_WS(p, s, 'x', p)", "CONCAT_WS('-', s, p)", 'LEFT(s, n)', 'RIGHT(s, n)',
                      'LEFT(s, m)', 'RIGHT(s, m)', 'SUBSTRING(s, n)', 'SUBSTRING(s, n, m)', 'SUBSTR(s, n, m)', 'SUBSTR(s, m)', 'SUBSTRING(s FROM m FOR 2)',
                      'POSITION(p IN s)', 'LOCATE(p, s)', 'LOCATE(p, s, n)', 'LOCATE(p, s, m)', 'INSTR(s, p)', 'INSTR(s, p, m)', 'INSTR(s, p, 1, m)',
                      'REPLACE(s, p, \'Z\')', "REPLACE(s, p, '')", 'REPEAT(p, m)', 'LPAD(s, m, p)', 'RPAD(s, m, p)', "LPAD(s, 8, '😀ab')", "RPAD(s, 8, 'äb')",
                      "LPAD(s, 8, '')", 'STARTSWITH(s, p)', 'ENDSWITH(s, p)', 'SPLIT(s, p)', 'SPLIT_INDEX(s, p, 1)', 'SPLIT_INDEX(s, p, n)', "SPLIT_INDEX(s, ',', 2)",
                      'SPLIT_INDEX(s, 44, 1)', "TRANSLATE(s, p, 'Z')", "TRANSLATE(s, 'abo', 'xy')", 'ELT(n, s, p)', 'ELT(m, s, p)', 'TRIM(BOTH p FROM s)',
                      'TRIM(LEADING p FROM s)', 'TRIM(TRAILING p FROM s)', 'LTRIM(s, p)', 'RTRIM(s, p)', 'BTRIM(s, p)', "BTRIM(s, ' xa')", "TRIM(BOTH 'Hd' FROM s)",
                      "OVERLAY(s PLACING p FROM 2)", "OVERLAY(s PLACING 'ZZ' FROM 2 FOR 3)", "OVERLAY(s PLACING 'ZZ' FROM n FOR m)", 's LIKE p', "s LIKE '%' || p || '%'",
                      "s LIKE '_b%'", "s NOT LIKE 'a%'", "s LIKE 'a!%%' ESCAPE '!'", "s SIMILAR TO '[a-c]+'", "s SIMILAR TO '%(b|o)%'", "s NOT SIMILAR TO 'a%'",
                      'REGEXP(s, p)', "REGEXP_REPLACE(s, '[a-c]', '<$0>')", 'REGEXP_REPLACE(s, p, \'\')', "REGEXP_EXTRACT(s, '(b)(c)', 2)", 'REGEXP_COUNT(s, p)',
                      'REGEXP_SUBSTR(s, p)', 'REGEXP_INSTR(s, p)', "REGEXP_EXTRACT_ALL(s, '(.)(.)', n)", 'REGEXP_EXTRACT_ALL(s, p)', "PRINTF('%s-%d', s, n)",
                      "PRINTF(s, n)", "ENCODE(s, 'UTF-8')", "DECODE(ENCODE(s, 'UTF-16'), 'UTF-16')", "ENCODE(s, 'US-ASCII')", "ENCODE(s, 'UTF-16LE')", "ENCODE(s, 'ISO-8859-1')",
                      'SHA2(s, 256)', 'SHA2(s, 224)', 'SHA2(s, n)', 's = p', 's < p', 's > p', 's BETWEEN p AND \'z\'', "s IN ('abc', p)", 'GREATEST(s, p)', 'LEAST(s, p)',
                      'NULLIF(s, p)', 'COALESCE(s, p)', "IFNULL(s, 'none')", "CASE s WHEN 'abc' THEN 1 WHEN '' THEN 2 ELSE 3 END", 'CAST(s AS CHAR(4))', 'CAST(s AS VARCHAR(4))',
                      'CAST(s AS BYTES)', 'CAST(s AS BINARY(4))', 'TRY_CAST(s AS INT)', 'TRY_CAST(s AS BOOLEAN)', 'TRY_CAST(s AS DOUBLE)', 'TRY_CAST(s AS DATE)',
                      'PARSE_URL(s, p)', 'TYPEOF(s)', "STR_TO_MAP(s, p, 'X')", "s || CAST(n AS STRING)", 'CHR(n)', 'CHR(m)', 'BIN(n)', 'BIN(m)', 'HEX(n)', 'REPEAT(s, n * 0 + 2)'])
    out += each('SUBSTRING({}, {})', STRINGS[1:4], SMALL + ['-2', '-100', '2147483647'])
    out += each('SUBSTRING({}, {}, {})', ["'Hello'"], ['0', '1', '-2', '5', '6', '-10'], ['0', '1', '-1', '3', '2147483647', NULL_I])
    out += each('{}({}, {})', ['LEFT', 'RIGHT', 'REPEAT', 'ELT', 'CHR', 'SPLIT_INDEX'], STRINGS[1:5], SMALL)
    out += each("{}({}, {}, {})", ['LPAD', 'RPAD'], ["'hi'", "''", "'äö'"], ['0', '1', '5', '-1', NULL_I], ["'??'", "''", "'é'", NULL_S])
    out += each("{}({}, {})", ['STARTSWITH', 'ENDSWITH', 'INSTR', 'LOCATE', 'REGEXP', 'LTRIM', 'RTRIM', 'BTRIM', 'SPLIT', 'CONCAT', 'POSITION', 'REGEXP_COUNT',
                                 'REGEXP_SUBSTR', 'REGEXP_INSTR', 'REGEXP_EXTRACT', 'REGEXP_EXTRACT_ALL', 'CONCAT_WS', 'JSON_EXISTS', 'CONTAINS', 'LIKE', 'DECODE', 'ENCODE', 'PARSE_URL', 'SHA2'],
                ["'banana'", "''", NULL_S], ["'an'", "''", "'a'", "'['", NULL_S])
    out += each("{}({}, {})", ['STARTSWITH', 'ENDSWITH'], ["X'414243'", "X''", "'A'"], ["X'41'", "X'43'", "X''", "'A'"])
    out += each("OVERLAY({} PLACING {} FROM {})", ["'xxxxxtest'", "''"], ["'xxxx'", "''", NULL_S], ['6', '0', '-1', '100', '1'])
    out += each("OVERLAY('xxxxxtest' PLACING {} FROM {} FOR {})", ["'xxxx'", "''"], ['6', '0', '-1', '100', '1'], ['2', '0', '-1', '100'])
    out += each("LOCATE('aa', 'aaads', {})", ['0', '1', '2', '3', '-1', '100', NULL_I])
    out += each("INSTR('Corporate Floor', 'or', {}, {})", ['0', '1', '3', '-3', '100'], ['1', '2', '0', '-1', '10'])
    out += each("{} LIKE {}", ["'abc'", "'a%c'", "'a\\bc'", "''", "'aXc'", "'a_c'"], ["'a%'", "'a\\%c'", "'%'", "'_'", "'a_c'", "'%b%'", "''", "'a\\\\bc'", "'abc%%'", "'__%'", "'%_%c'"])
    out += each("'a%c' LIKE {} ESCAPE {}", ["'a!%c'", "'a%'", "'a!c'", "'!a!%c'"], ["'!'", "''", "'!!'"])
    out += each("{} SIMILAR TO {}", ["'abc'", "'test'", "''", "'a.c'"], ["'a.c'", "'(a|t)%'", "'[a-z]*'", "'a_c'", "'^test$'", "'te?s+t'", "'%b{1,2}%'", "'[^x]*'", "'[[:ALPHA:]]*'", "'('"])
    out += each("REGEXP_REPLACE('foobar', {}, {})", ["'oo|ar'", "'o'", "'('", "''", "'(o)(b)'", "'^f'", "'\\bfoo'", "'(?i)FOO'"], ["''", "'X'", "'$1'", "'$2$1'", "'\\$'", "'$9'", NULL_S])
    out += each("REGEXP_EXTRACT('foothebar', {}, {})", ["'foo(.*?)(bar)'", "'foo([\\w]+)'", "'x'", "'('", "'o+'"], ['0', '1', '2', '3', '-1', NULL_I])
    out += each("REGEXP_EXTRACT_ALL('abcdeabde', {}, {})", ["'ab((c)|(.?))de'", "'(b)'", "'x'", "'('"], ['0', '1', '2', '4', '-1', NULL_I])
    out += each("REGEXP_SUBSTR('100-200, 300-400', {})", ["'(\\d+)-(\\d+)$'", "'\\d+'", "'x'", "'('", "''"])
    out += each("REGEXP_INSTR('hello world! Hello everyone!', {})", ["'Hello'", "'o'", "'x'", "'('", "''", "'😀'"])
    out += each("REGEXP_COUNT('hello world! Hello everyone!', {})", ["'Hello'", "'o'", "'x'", "'('", "''", "'[a-z]+'"])
    out += each("'{}' LIKE '{}'", ['a\u0301', '😀', 'İ'], ['_', '__', '%'])
    out += each("SPLIT({}, {})", ["'AQIDBA=='", "'a,b,,c'", "'123'", "''", "',,'"], ["','", "''", "'x'", "'123'", NULL_S, "'|'"])
    out += each("SPLIT_INDEX({}, {}, {})", ["'AQIDBA=='", "'a,b,,c'"], ["'I'", "','", "''", '44'], ['0', '1', '2', '9', '-1'])
    out += each("TRANSLATE({}, {}, {})", ["'www.apache.org'", "'😀aab'", NULL_S], ["'wapcheorg'", "'😀a'", "''", NULL_S], ["' APCHEcom'", "'x'", "''", NULL_S])
    out += each("STR_TO_MAP({})", ["'k1=v1,k2=v2'", "''", "'a'", "'a=b=c,d'", "',,'", NULL_S]) + each("STR_TO_MAP('k1:v1;k2:v2;k1:v3', {}, {})", ["';'", "','", "''"], ["':'", "'='", "''"])
    for part in ['HOST', 'PATH', 'QUERY', 'REF', 'PROTOCOL', 'FILE', 'AUTHORITY', 'USERINFO', 'host', 'X']:
        out += each("PARSE_URL({}, '%s')" % part, ["'http://user:pw@host.com:8080/a/b.html?x=1&y=a%20b#frag'", "'http://h'", "'no url'", "'file:///etc/x'", "'https://h/p?q'", "''", NULL_S])
    out += each("PARSE_URL('http://h/p?x=1&y=&z=3&xx=4', 'QUERY', {})", ["'x'", "'y'", "'q'", "'xx'", "''", NULL_S]) + ["PARSE_URL('http://h/p?x=1', 'PATH', 'x')"]
    out += each("URL_DECODE({})", ["'a%20b'", "'a+b'", "'%'", "'%zz'", "'%E4%B8%AD'", "'%ff'"]) + each("URL_ENCODE({})", ["'a b/c?d=e&f'", "'中😀'", "'*-._~'"])
    out += each("CHR({})", ['0', '65', '97', '233', '256', '321', '-1', '2147483648', "'a'"]) + each("ASCII({})", ["'é'", "'😀'", "'中'", "'1'"])
    out += each("BIN({})", ['12', '-12', '9223372036854775807', 'CAST(-7 AS TINYINT)', '0', "'1'", '1.5'])
    out += each("HEX({})", ['255', '-1', '9223372036854775807', 'CAST(-7 AS TINYINT)', '0', "'hello'", '1.5', "'中'", "X'01'"])
    out += each("UNHEX({})", ["'61'", "'616'", "'xy'", "'C3A4'", "''", 'NULL', "'4D7953514C'"])
    out += each("FROM_BASE64({})", ["'aGVsbG8gd29ybGQ='", "'aGVsbG8'", "'!'", "'5Lit'"]) + each("TO_BASE64({})", ["'hello world'", "'中'", "''", '1'])
    out += each("INITCAP({})", ["'heLLo wORLD'", "'a-b_c d1e'", "'ÄÖ é'", "'123abc'"]) + each("REVERSE({})", ["'a😀b'", "'é'", "'ab'"])
    out += each("UPPER({})", ["'straße'", "'ı'", "'ﬁ'"]) + each("LOWER({})", ["'İ'", "'ΑΣ'", "'ÀÉ'"])
    out += ["PRINTF('%s %s', 'a', 1)", "PRINTF('%5.2f|%-5s|%05d', 3.14159e0, 'x', 42)", "PRINTF('%d', 'x')", "PRINTF('%d%%', 5)", "PRINTF('%x %X %o', 255, 255, 8)", "PRINTF('%c', 65)", "PRINTF('%b', TRUE)",
            "PRINTF('%e', 12345.678e0)", "PRINTF('%s', CAST(NULL AS STRING))", "PRINTF(CAST(NULL AS STRING), 1)", "PRINTF('%,d', 1234567)", "PRINTF('%+d', 5)", "PRINTF('%s')", "PRINTF('abc')", "PRINTF('%2$s %1$s', 'a', 'b')",
            "PRINTF('%s', 1.50)", "PRINTF('%s', DATE '2024-02-29')", "PRINTF('%s', TIMESTAMP '2024-02-29 12:34:56')", "PRINTF('%s', ARRAY[1])", "PRINTF('%10s|', 'ab')", "PRINTF('%.1s|', 'ab')", "PRINTF('%d', CAST(5 AS BIGINT))", "PRINTF('%f', 1.5)",
            "PRINTF('%g', 0.0001e0)", "PRINTF('%n')", "PRINTF('%S', 'abc')", "PRINTF('%h', 'abc')", "PRINTF('%s', 1.0e10)", "PRINTF('%q', 1)", "PRINTF('%f', 1)", "PRINTF('%d', CAST(NULL AS INT))", "PRINTF('%(d', -5)", "PRINTF('% d', 5)", "PRINTF('%#x', 255)", "PRINTF('%s', TRUE)", "PRINTF('%.3f', 2.0005e0)"]
    out += ["INET_ATON('127.0.0.1')", "INET_ATON('255.255.255.255')", "INET_ATON('1.2')", "INET_ATON('256.0.0.1')", "INET_ATON('a')", "INET_NTOA(2130706433)", "INET_NTOA(4294967295)", "INET_NTOA(-1)", "INET_NTOA(4294967296)", "INET_NTOA(0)", "INET_ATON('0.0.0.0')", "INET_ATON('1.2.3.4.5')", "INET_ATON(' 1.2.3.4')", "INET_ATON('10.1')", "INET_ATON('1.2.3')", "INET_ATON('010.0.0.1')", "INET_ATON('')", "INET_NTOA(CAST(5 AS BIGINT))", "INET_NTOA('1')"]
    out += ["ELT(1, 'a', 'b')", "ELT(3, 'a', 'b')", "ELT(0, 'a')", "ELT(-1, 'a')", "ELT(2, 'a', NULL)", "ELT(NULL, 'a')", "ELT(1, X'41', X'42')", "ELT(1, 'a', X'42')", "ELT(CAST(1 AS BIGINT), 'a')", "ELT(9223372036854775807, 'a')", "ELT(1.0, 'a')", "ELT(1, 2, 3)", "ELT(1)"]
    out += ["CONCAT('a', NULL)", "CONCAT('a', 1)", "CONCAT()", "CONCAT_WS('~', 'a', NULL, 'b')", "CONCAT_WS(NULL, 'a')", "CONCAT_WS('~')", "CONCAT_WS('~', CAST(NULL AS STRING))", "CONCAT_WS(',', 'a', 1)", "'a' || NULL", "X'41' || X'42'", "'a' || 1", "CONCAT(X'41', X'42')",
            "'a' || CAST('b' AS VARCHAR(5))", "CAST('a' AS CHAR(3)) || 'b'", "CAST('a' AS CHAR(3)) = 'a'", "CHAR_LENGTH(CAST('a' AS CHAR(3)))", "CAST('a' AS CHAR(3)) || '|'", "'it''s'", "U&'\\00e4'", "_UTF8'x'", "N'x'", "'a' 'b'", "'' IS NULL",
            "CHAR_LENGTH('😀')", "OCTET_LENGTH('😀')", "'ab' < 'abc'", "'Z' < 'a'", "'é' > 'z'", "'😀' > '\uffee'", "MD5(X'6162')", "SHA2('abc', 1)", "SHA2('abc', CAST(256 AS BIGINT))", "SHA2('abc', 0)", "SHA2('', 512)", "TRIM('x' FROM 'xax')", "TRIM(BOTH FROM ' a ')", "TRIM(LEADING FROM ' a ')", "TRIM(TRAILING ' ' FROM ' a ')", "TRIM('ab' FROM 'abcab')", "TRIM(BOTH '' FROM 'a')",
            "SUBSTRING('abc' FROM 2)", "SUBSTRING('abc' FROM 0 FOR 2)", "SUBSTRING(X'414243', 2)", "LEFT(X'4142', 1)", "POSITION('b' IN 'abc')", "POSITION('' IN 'abc')", "POSITION('b' IN NULL)", "POSITION('b' IN 'abcb' FROM 3)", "REPLACE('aaa', 'a', 'aa')", "REPLACE('abc', '', 'x')", "REPEAT('x', 0)", "REPEAT('', 5)", "JSON_QUOTE('a\"b\\c/\u00e9😀')", "JSON_UNQUOTE('\"a\\u00e9\\n\"')", "JSON_UNQUOTE('[1]')", "JSON_UNQUOTE('\"\\u0')", "JSON_UNQUOTE('abc')"]
    return out


def numbers():
    out = []
    columns = ['ti', 'si', 'i', 'l', 'f', 'd', 'c', 'b']
    for f in ['ABS', 'CEIL', 'FLOOR', 'SIGN', 'ROUND', 'TRUNCATE', 'SQRT', 'EXP', 'LN', 'LOG10', 'LOG2', 'LOG', 'SIN', 'COS', 'TAN', 'COT', 'ASIN', 'ACOS', 'ATAN', 'SINH', 'COSH', 'TANH', 'DEGREES', 'RADIANS', 'BIN', 'HEX', '-', '+', 'CBRT', 'EXP2', 'LOG1P', 'FACTORIAL', 'BITNOT', 'CEILING', 'POSITIVE', 'NEGATIVE', 'UNHEX', 'TRUNC', 'COSEC', 'SEC', 'NOT']:
        out += over('N', each(f + '({})', columns)) + [f + '(NULL)', f + '()', f + "('1')", f + '(TRUE)']
    for op in '+-*/%':
        out += over('N', each('{} ' + op + ' {}', columns, ['ti', 'l', 'f', 'd', 'c', 'b', '2', '1.5']) if op in '+-*' else each('{} ' + op + ' 3', columns) + each('{} ' + op + ' NULLIF(c, 0)', columns) + each('{} ' + op + ' d', ['i', 'f', 'd', 'c', 'b']) + each('{} ' + op + ' NULLIF(b, 0)', columns) + each('{} ' + op + ' 2.50', columns))
    for op in ['=', '<>', '<', '>', '<=', '>=']:
        out += over('N', each('{} ' + op + ' {}', columns, columns + ['1', '0.1', '0.1e0', '2147483648']))
    for n in ['0', '1', '-1', '2', '5', '-3', '20']:
        out += over('N', each('ROUND({}, %s)' % n, columns) + each('TRUNCATE({}, %s)' % n, columns))
    out += over('N', ['ROUND(c, ti)', 'ROUND(d, ti)', 'TRUNCATE(d, ti)', 'ROUND(d, NULL)', 'ROUND(i, l)', 'ROUND(c, l)', 'POWER(ti, 2)', 'POWER(d, 2)', 'POWER(2, i)', 'POWER(c, c)', 'POWER(d, 0.5)', 'ATAN2(d, f)', 'ATAN2(c, i)', 'MOD(i, 3)', 'MOD(l, 3)', 'MOD(c, 3)', 'MOD(ti, 2)', 'MOD(-7, 2)', 'MOD(c, 2.5)', 'MOD(d, 2)', 'LOG(2, d)', 'LOG(d, 2)', 'LOG(10, c)', 'i BETWEEN ti AND l', 'c BETWEEN 0 AND 10', 'i IN (1, 2, 3)', 'd IN (2.25, 0)', 'c IN (12.34, 0)', 'GREATEST(i, l)', 'GREATEST(i, d)', 'GREATEST(c, i)', 'LEAST(c, 5)', 'LEAST(f, d)', 'LEAST(c, b)', 'COALESCE(i, l)', 'COALESCE(c, i)', 'COALESCE(c, d)', 'COALESCE(ti, 1.5)', 'NULLIF(i, 3)', 'NULLIF(c, 12.34)', 'NULLIF(i, l)', 'IF(i > 0, i, l)', 'IF(i > 0, c, d)', 'CASE WHEN i > 0 THEN ti ELSE c END', 'CASE WHEN i > 0 THEN 1 WHEN i < 0 THEN 2.5 END', 'CASE i WHEN 3 THEN d WHEN 0 THEN f ELSE l END', 'IFNULL(i, l)', 'IFNULL(ti, 5)', 'IFNULL(d, c)', '-ti', '-l', '-c', '-b', 'i IS DISTINCT FROM l', 'i IS NOT DISTINCT FROM 3', 'CEIL(c) + 1', 'i & 1', 'TYPEOF(c * b)', 'TYPEOF(c / b)', 'TYPEOF(b / c)', 'TYPEOF(b * b)', 'TYPEOF(c % b)', 'TYPEOF(ti + si)', 'TYPEOF(ti / si)', 'TYPEOF(i * l)', 'TYPEOF(f + i)', 'TYPEOF(f + c)', 'TYPEOF(d - f)'])
    pairs = ['DECIMAL(5, 2)', 'DECIMAL(10, 0)', 'DECIMAL(38, 0)', 'DECIMAL(38, 18)', 'DECIMAL(38, 38)', 'DECIMAL(18, 9)', 'DECIMAL(1, 1)']
    for op in ['+', '-', '*', '/', '%']:
        out += [f'CAST(0.5 AS {a}) {op} CAST(0.{"3" if "38, 0" not in b and "10, 0" not in b else "9"} AS {b})' for a in pairs for b in pairs]
    for t in pairs[:4]:
        out += each('{}(CAST(2.5 AS ' + t + '))', ['CEIL', 'FLOOR', 'ROUND', 'ABS', 'SIGN', '-', 'TYPEOF', 'TRUNCATE', 'SQRT', 'EXP', 'LN'])
        out += each('ROUND(CAST(-2.55 AS ' + t + '), {})', ['0', '1', '2', '-1', '-5', '18', '50']) + each('TRUNCATE(CAST(-2.55 AS ' + t + '), {})', ['0', '1', '2', '-1', '-5', '18'])
        out += each('CAST(CAST(7 AS ' + t + ') AS {})', TYPES)
    out += ['1 / 0', '1 % 0', '1 / 0.0', '1.0 / 0', '1 / 0e0', '0e0 / 0', '-1e0 / 0', 'MOD(5, 0)', '1e0 % 0', 'MOD(1.5, 0)', '5 % 3', '-5 % 3', '5 % -3', '5.5 % 2', '5.5e0 % 2', '2147483647 + 1', '-2147483648 - 1', '9223372036854775807 + 1', 'CAST(127 AS TINYINT) + CAST(1 AS TINYINT)', '-CAST(-128 AS TINYINT)', 'ABS(CAST(-128 AS TINYINT))', 'ABS(-2147483648)', '7 / 2', '-7 / 2', '7 / 2.0', '7 / 2e0', '1.0 / 3', '2 / 3.0', '1.00 * 1.00', '99999999999999999999.9 * 99999999999999999999.9', '99999999999999999999999999999999999999 + 1', '-99999999999999999999999999999999999999 - 1', '0.1 + 0.2', '0.1e0 + 0.2e0', '1.5 + 1', '1 - 0.5', '2.5 * 2', 'CAST(1 AS DECIMAL(38, 0)) / 3', 'CAST(1 AS FLOAT) / 3', 'CAST(1 AS FLOAT) / CAST(3 AS DOUBLE)', 'CAST(3 AS DOUBLE) / CAST(1 AS FLOAT)', "1 + '1'", "'1' * 2", '1 + TRUE', '1 + NULL', 'NULL + NULL', '- NULL', '1.5e0 = 1.5', '0.1e0 = 0.1', '0.1 = CAST(0.1 AS FLOAT)', '16777217 = CAST(16777216 AS FLOAT)', '9007199254740993 = 9007199254740992e0', "1 = '1'", "1 = 'a'", "'1' < 2", "TRUE = 'true'", 'TRUE = 1', 'TRUE > FALSE', '1 IN (1.0, 2)', "1 IN ('1', '2')", "'1' IN (1, 2)", '1 BETWEEN 0.5 AND 1.5', "1 BETWEEN '0' AND '2'", '1 BETWEEN SYMMETRIC 2 AND 0', '5 NOT BETWEEN 1 AND 4', 'NULL BETWEEN 1 AND 2', 'NULL = NULL', 'NULL IN (1)', '1 IN (NULL, 2)', '1 NOT IN (NULL, 2)', '1 IN (1, NULL)', '1 IS NULL', 'NULL IS NULL', 'NULL IS NOT DISTINCT FROM NULL', 'TRUE AND NULL', 'FALSE AND NULL', 'TRUE OR NULL', 'NOT NULL', 'NULL IS UNKNOWN', 'TRUE IS NOT FALSE', '(1 = 1) IS TRUE', '1 AND TRUE', "NOT 'true'", 'E()', 'PI()', 'PI', 'E', 'RAND(1)', 'RAND_INTEGER(1, 10)', 'RAND(1) < 1', 'RAND_INTEGER(10) < 10', 'TYPEOF(RAND())', 'TYPEOF(RAND_INTEGER(3))', 'TYPEOF(UUID())', 'CHAR_LENGTH(UUID())', 'SQRT(-1)', 'LN(0)', 'LN(-1)', 'LOG10(0)', 'LOG2(0)', 'LOG2(-1)', 'LOG(0)', 'LOG(1, 5)', 'LOG(-2, 5)', 'LOG(2, -5)', 'LOG(2, 0)', 'ASIN(2)', 'ACOS(-2)', 'EXP(1000)', 'POWER(0, 0)', 'POWER(-1, 0.5)', 'POWER(2, -1)', 'POWER(10, 400)', 'COT(0)', 'TAN(1.5707963267948966e0)', 'ROUND(2.5)', 'ROUND(-2.5)', 'ROUND(2.5e0)', 'ROUND(-2.5e0)', 'ROUND(0.5e0)', 'ROUND(1.005e0, 2)', 'ROUND(125.315, 2)', 'ROUND(125.315e0, -1)', 'ROUND(12345, -2)', 'ROUND(12355, -2)', 'ROUND(CAST(2147483647 AS INT), -1)', 'ROUND(9223372036854775807, -1)', 'ROUND(CAST(\'NaN\' AS DOUBLE))', "ROUND(CAST('Infinity' AS DOUBLE), 1)", "CAST('NaN' AS DOUBLE) = CAST('NaN' AS DOUBLE)", "CAST('NaN' AS DOUBLE) > 1", "CAST('NaN' AS DOUBLE) < 1", "GREATEST(CAST('NaN' AS DOUBLE), 1e0)", "LEAST(CAST('NaN' AS DOUBLE), 1e0)", "-0e0 = 0e0", "-0e0", "0e0 * -1", "FLOOR(-0.5e0)", "CEIL(-0.5e0)", "CEIL(-0.5)", "FLOOR(-0.5)", "SIGN(-0e0)", "SIGN(CAST('NaN' AS DOUBLE))", "SIGN(-5)", "SIGN(0.0)", "SIGN(CAST(-2 AS FLOAT))", "CAST('Infinity' AS DOUBLE) - CAST('Infinity' AS DOUBLE)", "CAST('-Infinity' AS FLOAT)", "CAST('1e400' AS DOUBLE)", "CAST('1e40' AS FLOAT)", '1e40', '1e308 * 10', '1.0E-5', '123456789.0e0', '0.001e0', '0.0001e0', '1e7', '9999999e0', '12345678e0', '1.0E10', 'CAST(0.1 AS FLOAT)', 'CAST(1e10 AS FLOAT)', 'CAST(16777216 AS FLOAT)', 'CAST(3.4028235e38 AS FLOAT)', '4.9e-324', '1.7976931348623157e308', 'TRUNCATE(42.324, 2)', 'TRUNCATE(42.324e0, -1)', 'TRUNCATE(-42.999)', 'TRUNCATE(1234, -2)', 'TRUNCATE(CAST(42.324 AS FLOAT), 2)', 'GREATEST(1, 2.5, 3e0)', "GREATEST(1, 'a')", "GREATEST('a', 'b')", 'GREATEST(1, NULL)', 'LEAST(NULL, NULL)', 'GREATEST(1)', 'GREATEST()', "GREATEST(DATE '2024-01-01', DATE '2023-01-01')", "LEAST(TIMESTAMP '2024-01-01 00:00:00', DATE '2023-01-01')", 'GREATEST(TRUE, FALSE)', 'GREATEST(ARRAY[1], ARRAY[2])', "GREATEST(X'01', X'02')", "GREATEST(INTERVAL '1' DAY, INTERVAL '2' DAY)", 'GREATEST(CAST(1 AS TINYINT), 300)', 'UUID() = UUID()', '1 <> 2', '1 != 2', '1 == 1', '2 ** 3', '5 DIV 2', '1 | 2', '~1', '1 ^ 2', '1 << 2', 'BIT_AND(1)', 'CONV(10, 10, 2)', "1 IS OF (INT)", 'ABS(1.5)', 'ABS(-1.5e0)', "ABS(INTERVAL '-1' DAY)", '-INTERVAL \'1\' DAY', '+5', '- -5', '1.', '.5', '1e', '1E5', '1e-3', '00012', '1_000', '0x1F', "x'1'", '12345678901234567890', '123456789012345678901234567890123456789', '1234567890123456789.1', '0.00000000000000000001']
    return out


def conditions():
    out = []
    for t in ['COALESCE({}, {})', 'IF(TRUE, {}, {})', 'CASE WHEN FALSE THEN {} ELSE {} END', 'NULLIF({}, {})', 'IFNULL({}, {})']:
        out += each(t, SIMPLE, SIMPLE)
    for op in ['=', '<', '+', '||', 'IN', 'IS DISTINCT FROM', '-', '/']:
        out += each('{} ' + op + (' ({})' if op == 'IN' else ' {}'), SIMPLE, SIMPLE)
    out += each('ARRAY[{}, {}]', SIMPLE[:17], SIMPLE[:17])
    out += each('{} IS NULL', SIMPLE) + each('{} BETWEEN {} AND {}', SIMPLE[:16], SIMPLE[3:4] + SIMPLE[8:9] + SIMPLE[11:15], SIMPLE[3:4] + SIMPLE[12:15])
    out += each('GREATEST({}, {})', SIMPLE[:17], SIMPLE[:17]) + each('TYPEOF({})', SIMPLE) + each("TYPEOF({}, TRUE)", SIMPLE)
    out += ["COALESCE(NULL, NULL, 3)", "COALESCE(1)", "COALESCE()", "COALESCE(CAST(NULL AS INT), 2)", "COALESCE(NULL, 'a', 'bcd')", "CASE WHEN 1=2 THEN 'a' END", "CASE 1 WHEN 1 THEN 'abc' ELSE 'd' END", "CASE 1 WHEN '1' THEN 2 END", "CASE WHEN NULL THEN 1 ELSE 2 END", "CASE WHEN 1 THEN 1 ELSE 2 END", "CASE WHEN TRUE THEN NULL ELSE NULL END", "IF(NULL, 1, 2)", "IF(1 = 1, 'a', 'bcd')", "IF(1, 2, 3)", "IF(TRUE, 1)", "NULLIF(1, 1)", "NULLIF(NULL, 1)", "NULLIF('a', 'b')", "NULLIF(1.0, 1)", "IFNULL(NULL, 'x')", "IFNULL(1, 2.5)", "IFNULL('a', 1)", "TYPEOF(NULL)", "TYPEOF('a' || 'b')", "TYPEOF(COALESCE(1, 2.5))", "TYPEOF(CASE WHEN TRUE THEN 1 ELSE 2.55 END)", "TYPEOF(CURRENT_TIMESTAMP)", "TYPEOF(LOCALTIME)", "TYPEOF(CURRENT_TIME)", "TYPEOF(CURRENT_DATE)", "TYPEOF(LOCALTIMESTAMP)", "TYPEOF(NOW())", "TYPEOF(PROCTIME())", "TYPEOF(CURRENT_ROW_TIMESTAMP())", "TYPEOF(UNIX_TIMESTAMP())", "TYPEOF(PI())", "TYPEOF(CURRENT_DATABASE())", "CURRENT_DATABASE()", "CURRENT_USER", "TYPEOF(SPLIT('a', ','))", "TYPEOF(ARRAY['a', 'bcd'])", "TYPEOF(MAP['a', 1, 'bcd', 2.5])", "TYPEOF(ROW(1, 'a', NULL))", "1 = 1 = 1", "(1 = 1) = TRUE", "NOT 1 = 2", "TRUE AND FALSE OR TRUE", "NOT TRUE AND FALSE", "TRUE IS NULL", "(1, 2) = (1, 2)", "(1, 2) IN ((1, 2), (3, 4))", "1 < ALL (SELECT 1)", "EXISTS (SELECT 1)", "CAST(NULL AS BOOLEAN) IS NOT TRUE", "DATE '2024-02-29' IN ('2024-02-29', '2024-03-01')", "DATE '2024-02-29' = '2024-02-29'", "'2024-02-29' = DATE '2024-02-29'", "TIMESTAMP '2024-02-29 00:00:00' = DATE '2024-02-29'", "TIME '12:00:00' > '11:00:00'", "TIMESTAMP '2024-02-29 00:00:00' > '2024-02-28'", "DATE '2024-02-29' BETWEEN '2024-01-01' AND '2024-12-31'", "TIMESTAMP '2024-02-29 00:00:00' = TIMESTAMP '2024-02-29 00:00:00.000'", "TO_TIMESTAMP_LTZ(0, 3) = TIMESTAMP '1970-01-01 00:00:00'", "TO_TIMESTAMP_LTZ(0, 3) = '1970-01-01 00:00:00'", "TO_TIMESTAMP_LTZ(0, 3) = TO_TIMESTAMP_LTZ(0, 0)", "INTERVAL '1' DAY = INTERVAL '24' HOUR", "INTERVAL '1' YEAR = INTERVAL '12' MONTH", "INTERVAL '1' YEAR > INTERVAL '1' DAY", "ARRAY[1] = ARRAY[1]", "ARRAY[1] <> ARRAY[2]", "ARRAY[1] < ARRAY[2]", "MAP['a', 1] = MAP['a', 1]", "ROW(1, 'a') = ROW(1, 'a')", "ROW(1, 2) < ROW(1, 3)", "X'41' = X'41'", "X'41' < X'42'", "X'41' = 'A'", "TRUE > NULL", "1 IN (SELECT 1)"]
    return out


def casts():
    out = each('CAST({} AS {})', SAMPLES, TYPES) + each('TRY_CAST({} AS {})', SAMPLES[:34], TYPES[:24])
    texts = {
        'BOOLEAN': ['true', 'FALSE', 't', 'F', 'yes', 'No', 'y', 'n', '1', '0', 'on', 'off', ' true ', '', '2', 'tru'],
        'INT': ['1', '-1', '+1', ' 5 ', '1.9', '-1.9', '1e3', '', ' ', '2147483648', '-2147483648', '0x1', 'abc', '1 2', '１', '.5', '5.', '00012', '1_0', '-', '1.x', '--1'],
        'TINYINT': ['127', '128', '-128', '-129', '1.5'], 'SMALLINT': ['32767', '32768', '1.5'],
        'BIGINT': ['9223372036854775807', '9223372036854775808', '-9223372036854775808', '1.5', ' 1'],
        'DOUBLE': ['1.5', '-1.5e3', 'NaN', 'nan', 'Infinity', '-Infinity', 'inf', ' 1 ', '1d', '1f', '0x1p3', '', '1e400', '1e-400', '.5', '5.', '1,5', 'abc', '+1.5', '1e', '1E5'],
        'FLOAT': ['1.5', '3.5e38', 'NaN', '1.1', '16777217', '1d', ''],
        'DECIMAL(5, 2)': ['1.5', '1.555', '-1.555', '1.545', '999.99', '999.995', '1000', '1e2', '1e-1', '', ' 1 ', 'abc', '.5', '5.', '+1', '0.001', '-0.001', '1E+2', '1_0', 'NaN'],
        'DECIMAL(38, 0)': ['99999999999999999999999999999999999999', '100000000000000000000000000000000000000', '0.5', '1.5', '-0.5'],
        'DATE': ['2024-02-29', '2023-02-29', '2024-2-9', '2024-02', '2024', '24-02-29', '2024-02-29 12:00:00', '2024-02-29T12:00:00', '2024-02-30', '2024-13-01', '2024-00-10', '0000-01-01', '0001-01-01', '9999-12-31', '10000-01-01', '-0001-01-01', ' 2024-02-29 ', '', '2024/02/29', '20240229', '2024-02-29x', '2024-02-29 x', '1582-10-10', '2024-04-31', '2024-02-29 25:00:00'],
        'TIME': ['12:34:56', '12:34', '12', '1:2:3', '24:00:00', '23:59:60', '12:34:56.789', '12:60:00', '', ' 12:34:56 ', '12:34:56.1234567899', 'abc', '-1:00:00', '12:34:5', '12:34:56Z'],
        'TIME(3)': ['12:34:56.789', '12:34:56.7', '12:34:56.7899'],
        'TIMESTAMP(3)': ['2024-02-29 12:34:56.789', '2024-02-29 12:34:56', '2024-02-29 12:34', '2024-02-29 12', '2024-02-29', '2024-02-29T12:34:56', '2024-02-29 12:34:56.7899', '2024-02-29 12:34:56.1', '2024-02-30 00:00:00', '2024-2-9 1:2:3', '1969-12-31 23:59:59.999', '0001-01-01 00:00:00', '9999-12-31 23:59:59.999', '10000-01-01 00:00:00', '', 'abc', ' 2024-02-29 12:34:56 ', '2024-02-29 24:00:00', '2024-02-29 12:34:56Z', '2024-02-29 12:34:56+01:00', '2024-02-29 12:34:60', '2024-13-01 00:00:00', '2023-02-29 00:00:00', '2024-04-31 00:00:00', '2024-02-29 12:34:56.', '2024-02-29  12:34:56', '2024', '2024-02'],
        'TIMESTAMP(0)': ['2024-02-29 12:34:56.789', '1969-12-31 23:59:59.999'],
        'TIMESTAMP(9)': ['2024-02-29 12:34:56.123456789', '2024-02-29 12:34:56.1234567891', '1969-12-31 23:59:59.123456789'],
        'TIMESTAMP_LTZ(3)': ['2024-02-29 12:34:56.789', '2024-02-29', '2024-02-29 12:34:56Z', 'abc', '1900-01-01 00:00:00', '2024-02-29T12:34:56'],
        'BYTES': ['abc', '', 'ä'], 'BINARY(2)': ['abc', 'a', ''], 'VARBINARY(2)': ['abc', 'a'], 'CHAR(3)': ['abcd', 'a', '', '😀😀😀😀', 'äöüß'], 'VARCHAR(3)': ['abcd', 'a', '', '😀😀😀😀'],
        'ARRAY<INT>': ['[1, 2]', ''], 'INTERVAL DAY TO SECOND(3)': ['1 00:00:00.000', '+1 00:00:00'], 'INTERVAL YEAR TO MONTH': ['1-2', '+1-02'],
    }
    for t, values in texts.items():
        out += [f"CAST(CAST('{v}' AS STRING) AS {t})" for v in values] + [f"TRY_CAST(CAST('{v}' AS STRING) AS {t})" for v in values]
    for t in ['TINYINT', 'SMALLINT', 'INT', 'BIGINT', 'FLOAT', 'DOUBLE', 'DECIMAL(5, 2)', 'DECIMAL(38, 0)', 'BOOLEAN', 'STRING', 'TIMESTAMP(3)', 'DATE']:
        out += each('{}({} AS ' + t + ')', ['CAST', 'TRY_CAST'], ['1e0', '-1.5e0', '1e10', '-1e20', "CAST('NaN' AS DOUBLE)", "CAST('Infinity' AS DOUBLE)", "CAST('-Infinity' AS FLOAT)", '0.5', '-0.5', '99.999', '128', '-129', '40000', '3000000000', '99999999999999999999', '1e-10', 'CAST(1e30 AS FLOAT)', '0', 'FALSE', '1234.567'])
    out += over('N', each('CAST({} AS STRING)', ['ti', 'si', 'i', 'l', 'f', 'd', 'c', 'b']) + each('CAST({} AS DOUBLE)', ['ti', 'l', 'f', 'c', 'b']) + each('CAST({} AS FLOAT)', ['l', 'd', 'c', 'b']) + each('TRY_CAST({} AS INT)', ['l', 'd', 'f', 'c', 'b']) + each('CAST({} AS INT)', ['l', 'd', 'f', 'c', 'b']) + each('CAST({} AS BIGINT)', ['d', 'f', 'c', 'b']) + each('CAST({} AS TINYINT)', ['i', 'd', 'c']) + each('CAST({} AS DECIMAL(4, 1))', ['ti', 'i', 'l', 'f', 'd', 'c', 'b']) + each('TRY_CAST({} AS DECIMAL(4, 1))', ['ti', 'l', 'd', 'c']) + each('CAST({} AS BOOLEAN)', ['ti', 'l', 'f', 'd', 'c']) + each('CAST({} AS CHAR(3))', ['i', 'd']) + each('CAST({} AS VARCHAR(3))', ['i', 'd', 'c']) + each('CAST({} AS TIMESTAMP(3))', ['i', 'c']))
    out += over('D', each('CAST(ts AS {})', TYPES[9:28]) + each('CAST(dt AS {})', TYPES[9:28]) + each('CAST(tm AS {})', TYPES[9:28]) + each('CAST(lz AS {})', TYPES[9:28]) + each('CAST(tn AS {})', TYPES[9:28]) + ['CAST(ts AS BIGINT)', 'CAST(lz AS BIGINT)', 'CAST(dt AS INT)', 'CAST(s AS DATE)', 'CAST(s AS TIMESTAMP(6))', 'CAST(s AS TIMESTAMP_LTZ(6))', 'TRY_CAST(s AS TIME)'])
    out += ["CAST(ARRAY[1, 2] AS ARRAY<STRING>)", "CAST(ARRAY[1, 2] AS ARRAY<BIGINT>)", "CAST(ARRAY['1', 'x'] AS ARRAY<INT>)", "TRY_CAST(ARRAY['1', 'x'] AS ARRAY<INT>)", "CAST(MAP['a', '1'] AS MAP<STRING, INT>)", "CAST(ROW(1, '2') AS ROW<a STRING, b INT>)", "CAST(ROW(1, 2) AS ROW<a INT>)", "CAST(ROW(1, 2) AS STRING)", "CAST(ARRAY[ARRAY[1]] AS STRING)", "CAST(MAP['a', ARRAY[1]] AS STRING)", "CAST(ROW(1, NULL, 'x', TRUE, 1.5, DATE '2024-02-29') AS STRING)", "CAST(ARRAY[TRUE, NULL] AS STRING)", "CAST(ARRAY[1.5e0, 1e10] AS STRING)", "CAST(ARRAY[X'41'] AS STRING)", "CAST(INTERVAL '1-2' YEAR TO MONTH AS STRING)", "CAST(INTERVAL '1 02:03:04.567' DAY TO SECOND AS STRING)", "CAST(INTERVAL '-5' MINUTE AS STRING)", "CAST(5 AS INTERVAL DAY)", "CAST(INTERVAL '5' DAY AS INT)", "CAST(INTERVAL '5' DAY AS BIGINT)", "CAST(INTERVAL '5' MONTH AS INT)", "CAST(5 AS INTERVAL MONTH)", "CAST('a' AS INT)", "TRY_CAST('a' AS INT)", "CAST(1 AS FOO)", "CAST(1 AS VARCHAR)", "CAST('abc' AS CHAR)", "CAST('abc' AS VARCHAR)", "CAST(X'41' AS STRING)", "CAST(X'FF' AS STRING)", "CAST(X'C3A4' AS STRING)", "CAST(1 AS DECIMAL)", "CAST(1.5 AS NUMERIC(5, 1))", "CAST(1.5 AS DEC(5, 1))", "CAST(1 AS INTEGER)", "CAST(1.5 AS REAL)", "CAST(1 AS DOUBLE PRECISION)", "CAST('12:00:00' AS TIME(0))", "CAST('2024-01-01 00:00:00' AS TIMESTAMP)", "CAST('2024-01-01 00:00:00' AS TIMESTAMP WITHOUT TIME ZONE)", "CAST('2024-01-01 00:00:00' AS TIMESTAMP WITH LOCAL TIME ZONE)", "CAST('2024-01-01 00:00:00' AS TIMESTAMP_LTZ)", "CAST('2024-01-01 00:00:00' AS TIMESTAMP WITH TIME ZONE)", "CAST(NULL AS ROW<a INT>)", "CAST(NULL AS ARRAY<INT NOT NULL>)", "CAST(NULL AS INT NOT NULL)", "TYPEOF(CAST(NULL AS ARRAY<INT NOT NULL>))", "CAST(1 AS DECIMAL(39, 0))", "CAST(1 AS DECIMAL(5, 6))", "CAST(1 AS DECIMAL(0))", "CAST('a' AS VARCHAR(0))", "CAST('a' AS TIMESTAMP(10))", "CAST(1.5 AS DECIMAL(3, 2)) = 1.5", "CAST(128 AS TINYINT)", "CAST(-129 AS TINYINT)", "CAST(1e20 AS INT)", "CAST(1e20 AS BIGINT)", "CAST(12345.678 AS DECIMAL(5, 2))", "CAST(2147483648 AS INT)", "CAST(3.7 AS INT)", "CAST(-3.7 AS INT)", "CAST(3.7e0 AS INT)", "CAST(0.5 AS BOOLEAN)", "CAST(2 AS BOOLEAN)", "CAST('Flink' AS BYTES)", "CAST(12 AS BYTES)", "CAST(12 AS BINARY(4))", "CAST(TRUE AS BINARY(1))", "CAST(X'00000001' AS INT)", "CAST(DATE '2024-02-29' AS TIMESTAMP)", "CAST(TIMESTAMP '2024-02-29 12:34:56' AS DATE)", "CAST(TIMESTAMP '2024-02-29 12:34:56' AS TIME)", "CAST(TIME '12:34:56' AS TIMESTAMP)", "CAST(DATE '2024-02-29' AS TIME)", "CAST(TIME '12:34:56' AS DATE)", "CAST(1 AS TIMESTAMP_LTZ)", "CAST(CURRENT_TIMESTAMP AS BIGINT) > 0"]
    return out


PATTERNS = ['yyyy-MM-dd HH:mm:ss', 'yyyy-MM-dd', 'yyyy/MM/dd', 'yy-M-d', 'yyyyMMdd', 'yyyyMMddHHmmss', 'HH:mm', 'hh:mm a', 'K k', 'H:m:s', 'E', 'EEE', 'EEEE', 'EEEEE', 'e', 'ee', 'c', 'MMM', 'MMMM', 'MMMMM', 'LLL', 'L',
            'D', 'DDD', 'G', 'GGGG', 'u', 'uuuu', 'Q', 'QQQ', 'QQQQ', 'q', 'w', 'ww', 'W', 'Y', 'YYYY', 'F', 'S', 'SSS', 'SSSSSS', 'SSSSSSSSS', 'n', 'N', 'A', 'z', 'zzzz', 'Z', 'ZZZZ', 'ZZZZZ', 'X', 'XX', 'XXX', 'x', 'xxx', 'O', 'OOOO',
            'VV', "''", "yyyy'T'HH", "'at' HH", 'yyyy-MM-dd''T''HH', '[yyyy]', 'pppd', 'y', 'yyy', 'yyyyy', 'B', 'g', 'M', 'd', 'dd', 'ddd', 'HHH', 'mmm', '', ' ', '{', '#', 'b', 'l', 'yyyy-MM-dd HH:mm:ss.SSS', "yyyy年MM月dd日", 'a', 'aa', 'T', "EEE, d MMM yyyy HH:mm:ss Z"]


def times():
    q = lambda text: "'" + text.replace("'", "''") + "'"
    out = []
    units = ['YEAR', 'QUARTER', 'MONTH', 'WEEK', 'DAY', 'DOW', 'ISODOW', 'DOY', 'ISOYEAR', 'HOUR', 'MINUTE', 'SECOND', 'MILLISECOND', 'MICROSECOND', 'NANOSECOND', 'EPOCH', 'DECADE', 'CENTURY', 'MILLENNIUM', 'FOO']
    for c in ['ts', 'tn', 'dt', 'tm', 'lz', 's']:
        out += over('D', each('EXTRACT({} FROM %s)' % c, units))
        out += over('D', each('{}(%s TO {})' % c, ['FLOOR', 'CEIL'], [u for u in units if u not in ('DOW', 'ISODOW', 'DOY', 'ISOYEAR', 'EPOCH')]))
        out += over('D', each('{}(%s)' % c, ['YEAR', 'QUARTER', 'MONTH', 'WEEK', 'DAYOFYEAR', 'DAYOFMONTH', 'DAYOFWEEK', 'HOUR', 'MINUTE', 'SECOND', 'TO_DATE', 'TO_TIMESTAMP', 'UNIX_TIMESTAMP', 'TO_TIMESTAMP_LTZ', 'FLOOR', 'CEIL', 'DATE', 'DAY', 'TYPEOF', 'HEX', 'LAST_DAY', 'DAYNAME', 'JSON_STRING']))
        out += over('D', each('TIMESTAMPADD({}, {}, %s)' % c, units[:5] + units[9:15], ['1', '-1', '100', '13']))
        out += over('D', each("%s {} {}" % c, '+-', ["INTERVAL '1' YEAR", "INTERVAL '13' MONTH", "INTERVAL '1' DAY", "INTERVAL '90' MINUTE", "INTERVAL '0.001' SECOND", "INTERVAL '1 02:03:04.567' DAY TO SECOND", '1', "INTERVAL '10' WEEK", "INTERVAL '1' QUARTER"]))
        for c2 in ['ts', 'dt', 'lz', 'tm', 'tn', 's']:
            out += over('D', each('TIMESTAMPDIFF({}, %s, %s)' % (c, c2), ['YEAR', 'MONTH', 'DAY', 'SECOND']) + [f'{c} = {c2}', f'{c} < {c2}', f'{c} - {c2}', f'({c} - {c2}) DAY', f'COALESCE({c}, {c2})', f'IF({c} IS NULL, {c2}, {c})'])
        out += over('D', each('TIMESTAMPDIFF({}, {}, %s)' % c, units[:5] + units[9:15], ["TIMESTAMP '2000-01-31 10:20:30'", "DATE '2000-01-31'"]))
        out += over('D', ['DATE_FORMAT(%s, %s)' % (c, q(p)) for p in (PATTERNS if c in ('ts', 'lz', 's') else PATTERNS[:8])])
        out += over('D', [f"CAST({c} AS STRING)", f'GREATEST({c}, {c})', f"{c} IN ({c})", f"{c} BETWEEN {c} AND {c}", f"{c} > '2000-01-01'", f"NULLIF({c}, {c})"])
    for f in ['TO_DATE', 'TO_TIMESTAMP', 'UNIX_TIMESTAMP', 'TO_TIMESTAMP_LTZ', 'DATE_FORMAT', 'CONVERT_TZ', 'FROM_UNIXTIME']:
        out += each(f + '({}, {})', ["'2024-02-29'", "'2024-02-29 12:34:56'", "'2024-02-29 12:34:56.789'", "''", "'x'"], ["'yyyy-MM-dd'", "'yyyy-MM-dd HH:mm:ss'", "'yyyy-MM-dd HH:mm:ss.SSS'", "''", "'Q'"])
        out += each(f + '({})', ["'2024-02-29'", "'2024-02-29 12:34:56'", "'2024-02-29 12:34:56.7'", "'2024-2-9'", "'2024-02-30'", "'2023-02-29'", "'2024-02-29T12:34:56'", "'2024-02'", "'2024'", "''", "' 2024-02-29 '", "'abc'", "NULL", '0', '44', '-1', '1e3', "'9999-12-31'", "'10000-01-01'", "'0001-01-01'", "'-0001-01-01'", "'2024-02-29 24:00:00'", "'2024-02-29 12:34'", "'2024-02-29 12:34:56.123456789'", "'20240229'"])
    parse = [('29/02/2024', 'dd/MM/yyyy'), ('29.2.24', 'd.M.yy'), ('20240229', 'yyyyMMdd'), ('20240229123456', 'yyyyMMddHHmmss'), ('20240229123456789', 'yyyyMMddHHmmssSSS'), ('Feb 29 2024', 'MMM dd yyyy'), ('February 29, 2024', 'MMMM dd, yyyy'), ('Thu Feb 29 2024', 'EEE MMM dd yyyy'), ('12:34 PM', 'hh:mm a'), ('2024-02-29 01:02 pm', 'yyyy-MM-dd hh:mm a'), ('2024-02-29 12', 'yyyy-MM-dd HH'), ('2024-060', 'yyyy-DDD'), ('2024-02-29T12:34:56Z', "yyyy-MM-dd'T'HH:mm:ss'Z'"), ('2024-02-29T12:34:56Z', "yyyy-MM-dd'T'HH:mm:ssX"), ('2024-02-29 12:34:56 +0200', 'yyyy-MM-dd HH:mm:ss Z'), ('2024-02-29 12:34:56 UTC', 'yyyy-MM-dd HH:mm:ss z'), ('2024-02-29 12:34:56+02:00', 'yyyy-MM-dd HH:mm:ssXXX'), ('2024-13-01', 'yyyy-MM-dd'), ('2024-02-29 25:00:00', 'yyyy-MM-dd HH:mm:ss'), ('2024-2-9', 'yyyy-M-d'), ('2024-02-09', 'yyyy-M-d'), ('2024-2-9', 'yyyy-MM-dd'), ('02-29', 'MM-dd'), ('2024', 'yyyy'), ('24', 'yy'), ('70', 'yy'), ('2024-02', 'yyyy-MM'), ('12:34:56', 'HH:mm:ss'), ('2024-02-29 12:34:56.7', 'yyyy-MM-dd HH:mm:ss.S'), ('2024-02-29 12:34:56.7', 'yyyy-MM-dd HH:mm:ss.SSS'), ('2024-02-29 12:34:56.789', 'yyyy-MM-dd HH:mm:ss.SS'), ('2024-02-29 12:34:56.123456', 'yyyy-MM-dd HH:mm:ss.SSSSSS'), ('2024-02-29 extra', 'yyyy-MM-dd'), (' 2024-02-29', 'yyyy-MM-dd'), ('2024-W09', "YYYY-'W'ww"), ('1709210096', 'A'), ('29 02 2024', 'dd MM uuuu'), ('AD 2024', 'G yyyy'), ('0 2024-02-29', 'K yyyy-MM-dd'), ('24 2024-02-29', 'k yyyy-MM-dd'), ('2024 1', 'yyyy Q'), ('Thursday 2024-02-29', 'EEEE yyyy-MM-dd'), ('Friday 2024-02-29', 'EEEE yyyy-MM-dd'), ('2024-02-29 [x]', 'yyyy-MM-dd [x]'), ('2024-04-31', 'yyyy-MM-dd'), ('2024-02-30', 'yyyy-MM-dd'), ('2023-02-29', 'yyyy-MM-dd'), ('2024-02-29', 'yyyy-MM-dd HH:mm:ss'), ('99999-01-01', 'yyyy-MM-dd'), ('-2024-02-29', 'yyyy-MM-dd'), ('0000-01-01', 'yyyy-MM-dd'), ('1582-10-10', 'yyyy-MM-dd'), ('1900-01-01 00:00:00', 'yyyy-MM-dd HH:mm:ss')]
    for f in ['TO_DATE', 'TO_TIMESTAMP', 'UNIX_TIMESTAMP', 'TO_TIMESTAMP_LTZ']:
        out += [f'{f}({q(a)}, {q(b)})' for a, b in parse]
    out += [f'DATE_FORMAT({x}, {q(p)})' for p in PATTERNS for x in ["TIMESTAMP '2024-02-29 02:34:56.789'"]]
    out += [f'FROM_UNIXTIME(1709210096, {q(p)})' for p in PATTERNS] + [f'FROM_UNIXTIME({n})' for n in ['0', '-1', '2147483647', '4102444800', '-62135596800', '253402300799', '253402300800', '1e0', "'1'", 'CAST(5 AS BIGINT)', 'NULL', '1.5']]
    out += each('TO_TIMESTAMP_LTZ({}, {})', ['0', '1234567890', '1234567890123', '-1', '1.5', '1.5e0', '-1.5', 'CAST(1.5 AS FLOAT)', 'NULL', '253402300799', '253402300799999', '9223372036854775807', '-62135596800'], ['0', '3', '6', '9', 'NULL', '-1'])
    out += each('TO_TIMESTAMP_LTZ({})', ['0', '1234567890123', '1.5', '1e0', 'CAST(5 AS TINYINT)', "'2023-01-01 00:00:00'", "'2023-01-01'", "'2023-01-01T00:00:00Z'", "'x'"])
    out += ["TO_TIMESTAMP_LTZ('2023-01-01 08:00:00', 'yyyy-MM-dd HH:mm:ss', 'Asia/Shanghai')", "TO_TIMESTAMP_LTZ('2023-01-01', 'yyyy-MM-dd', 'UTC')", "TO_TIMESTAMP_LTZ('2023-01-01 00:00:00', 'yyyy-MM-dd HH:mm:ss', 'America/New_York')", "TO_TIMESTAMP_LTZ('2023-01-01 00:00:00', 'yyyy-MM-dd HH:mm:ss', 'nowhere')", "TO_TIMESTAMP_LTZ('x', 'yyyy', 'UTC')"]
    out += each("CONVERT_TZ({}, {}, {})", ["'2024-02-29 12:34:56'", "'1970-01-01 00:00:00'", "'2024-03-31 02:30:00'", "'x'", "''", NULL_S], ["'UTC'", "'America/Los_Angeles'", "'Europe/Berlin'", "'nowhere'", "'GMT+08:00'"], ["'UTC'", "'Asia/Shanghai'", "'Europe/Berlin'", "'+08:00'"])
    lits = ["DATE '2024-02-29'", "DATE '2024-2-9'", "DATE '2023-02-29'", "DATE '0001-01-01'", "DATE '9999-12-31'", "DATE '2024-02-29 00:00:00'", "DATE 'x'", "TIME '12:34:56'", "TIME '12:34'", "TIME '12:34:56.7'", "TIME '24:00:00'", "TIME '1:2:3'", "TIMESTAMP '2024-02-29 12:34:56'", "TIMESTAMP '2024-02-29'", "TIMESTAMP '2024-02-29 12:34:56.1'", "TIMESTAMP '2024-02-29 12:34:56.123456789'", "TIMESTAMP '2024-02-29 12:34:56.1234567891'", "TIMESTAMP '2024-02-29 12:34'", "TIMESTAMP '2024-02-29T12:34:56'", "TIMESTAMP '1500-01-01 00:00:00'", "TIMESTAMP '0001-01-01 00:00:00'", "TIMESTAMP_LTZ '2024-02-29 12:34:56'", "TIMESTAMP WITH LOCAL TIME ZONE '2024-02-29 12:34:56'", "{d '2024-02-29'}", "{t '12:34:56'}", "{ts '2024-02-29 12:34:56'}"]
    ivs = ["INTERVAL '1' YEAR", "INTERVAL '-1' YEAR", "INTERVAL '1-2' YEAR TO MONTH", "INTERVAL '-1-2' YEAR TO MONTH", "INTERVAL '14' MONTH", "INTERVAL '100' MONTH", "INTERVAL '100' MONTH(3)", "INTERVAL '9999-11' YEAR(4) TO MONTH", "INTERVAL '1' DAY", "INTERVAL '10' DAY", "INTERVAL '100' DAY", "INTERVAL '100' DAY(3)", "INTERVAL '1 02' DAY TO HOUR", "INTERVAL '1 02:03' DAY TO MINUTE", "INTERVAL '1 02:03:04' DAY TO SECOND", "INTERVAL '1 02:03:04.567' DAY TO SECOND", "INTERVAL '-1 02:03:04.567' DAY TO SECOND(3)", "INTERVAL '02:03' HOUR TO MINUTE", "INTERVAL '02:03:04' HOUR TO SECOND", "INTERVAL '03:04' MINUTE TO SECOND", "INTERVAL '1' HOUR", "INTERVAL '1' MINUTE", "INTERVAL '1' SECOND", "INTERVAL '1.5' SECOND", "INTERVAL '1.567' SECOND", "INTERVAL '1.5678' SECOND", "INTERVAL '0.001' SECOND", "INTERVAL '59.999' SECOND", "INTERVAL '1' WEEK", "INTERVAL '1' QUARTER", "INTERVAL 'x' DAY", "INTERVAL '1 2' DAY", "INTERVAL 1 DAY", "INTERVAL '+1' DAY", "INTERVAL -'1' DAY", "-INTERVAL '1' DAY", "INTERVAL '0' DAY", "INTERVAL '99' HOUR", "INTERVAL '1' MILLISECOND", "INTERVAL '5' DAYS", "INTERVAL '2' HOURS", "INTERVAL '25:61' HOUR TO MINUTE"]
    out += lits + ivs + each('CAST({} AS STRING)', lits + ivs) + each('{} + {}', ["DATE '2024-01-31'", "TIMESTAMP '2024-01-31 23:59:59.999'", "TIME '23:59:59'", "TO_TIMESTAMP_LTZ(0, 3)"], ivs[:24]) + each('{} - {}', ["DATE '2024-03-31'", "TIMESTAMP '2024-03-31 00:00:00.001'", "TIME '00:00:01'"], ivs[:24])
    some = ["INTERVAL '1' YEAR", "INTERVAL '3' MONTH", "INTERVAL '1' DAY", "INTERVAL '1.5' SECOND", "INTERVAL '1 02:03:04.567' DAY TO SECOND"]
    out += each('{} {} {}', some, '+-', some) + each('{} * {}', some, ['2', '1.5', '0.5e0', 'CAST(2 AS BIGINT)', 'NULL', '-1']) + each('{} * {}', ['2', '1.5'], some) + each('{} / {}', some, ['2', '1.5', '0']) + each('EXTRACT({} FROM {})', units[:5] + units[9:13], some) + each('{} + ' + "TIMESTAMP '2024-01-31 00:00:00'", some) + each('{} < {}', some, some)
    out += each("({} - {}) {}", ["TIMESTAMP '2024-02-29 12:34:56.789'", "DATE '2024-02-29'", "TIME '12:00:00'"], ["TIMESTAMP '2023-01-31 10:00:00'", "DATE '2023-01-31'", "TIME '10:30:00'"], ['YEAR', 'MONTH', 'DAY', 'HOUR', 'MINUTE', 'SECOND', 'DAY TO SECOND', 'YEAR TO MONTH', 'WEEK', 'QUARTER'])
    out += each("TIMESTAMPDIFF({}, {}, {})", units[:5] + units[9:15], ["TIMESTAMP '2024-01-31 10:00:00'", "DATE '2023-02-28'"], ["TIMESTAMP '2024-02-29 09:59:59'", "TIMESTAMP '2020-02-29 23:59:59.999'", "DATE '2024-03-01'", 'NULL', "TIME '12:00:00'", "'2024-02-29'"])
    out += each("TIMESTAMPADD({}, {}, {})", units[:5] + units[9:15], ['1', '-25', 'NULL', 'CAST(2 AS BIGINT)', '1.5', '2147483647'], ["TIMESTAMP '2024-02-29 12:34:56'", "DATE '2024-02-29'", "TIME '12:34:56'", "'2024-02-29'"])
    out += each("({}, {}) OVERLAPS ({}, {})", ["TIME '2:55:00'"], ["INTERVAL '1' HOUR", "TIME '3:00:00'"], ["TIME '3:30:00'", "TIME '4:00:00'"], ["INTERVAL '2' HOUR", "TIME '5:00:00'"])
    out += each("{} OVERLAPS {}", ["(TIMESTAMP '2024-01-01 00:00:00', INTERVAL '1' DAY)", "(DATE '2024-01-02', DATE '2024-01-01')", "(DATE '2024-01-01', INTERVAL '1' MONTH)"], ["(TIMESTAMP '2024-01-01 12:00:00', INTERVAL '1' DAY)", "(DATE '2024-01-02', INTERVAL '1' DAY)", "(DATE '2024-02-02', INTERVAL '-1' DAY)", "(DATE '2024-01-02', CAST(NULL AS DATE))"])
    out += each('{}({} TO {})', ['FLOOR', 'CEIL'], ["TIMESTAMP '2024-02-29 12:34:56.789'", "DATE '2024-02-29'", "TIME '12:34:56'", "TIMESTAMP '1969-12-31 23:59:59.999'", "DATE '1969-12-31'", "TIMESTAMP '2018-12-31 23:59:59.999999999'"], [u for u in units if u not in ('DOW', 'ISODOW', 'DOY', 'ISOYEAR', 'EPOCH')])
    out += ["CURRENT_TIMESTAMP IS NULL", "CURRENT_DATE = CAST(LOCALTIMESTAMP AS DATE)", "LOCALTIME = CURRENT_TIME", "CURRENT_TIMESTAMP(3) IS NULL", "LOCALTIMESTAMP(3) IS NULL", "LOCALTIME(0) IS NULL", "NOW IS NULL", "SYSDATE", "UNIX_TIMESTAMP() > 1600000000", "CURRENT_WATERMARK(TIMESTAMP '2024-01-01 00:00:00')", "DATE_ADD('2024-01-01', 1)", "DATEDIFF(DATE '2024-01-01', DATE '2023-01-01')", "DATE_SUB(DATE '2024-01-01', 1)", "DATE_TRUNC('DAY', TIMESTAMP '2024-01-01 01:00:00')", "ADD_MONTHS(DATE '2024-01-01', 1)", "MAKE_DATE(2024, 1, 1)", "TO_CHAR(DATE '2024-01-01', 'yyyy')", "TIMESTAMPADD(DAY, 1, '2024-01-01')", "TIMESTAMPADD('DAY', 1, DATE '2024-01-01')", "EXTRACT('DAY' FROM DATE '2024-01-01')", "DATE_FORMAT(DATE '2024-01-01', 'yyyy')", "DATE_FORMAT(TIME '12:00:00', 'HH')", "DATE_FORMAT('2024-01-01 10:00:00', 'HH:mm')", "DATE_FORMAT('2024-01-01', 'yyyy')", "DATE_FORMAT('2024-01-01T10:00:00', 'yyyy')", "DATE_FORMAT('2024-01-01 10:00:00.5', 'SSS')", "DATE_FORMAT(NULL, 'yyyy')", "DATE_FORMAT(TIMESTAMP '2024-01-01 00:00:00', NULL)", "DATE_FORMAT(1, 'yyyy')", "DATE '2024-01-01' - DATE '2023-01-01'", "TIMESTAMP '2024-01-01 00:00:00' - TIMESTAMP '2023-01-01 00:00:00'", "DATE '2024-01-01' + 1", "DATE '2024-01-01' + DATE '2024-01-01'", "YEAR('2024-01-01')", "YEAR(NULL)", "TO_DATE(NULL)", "TO_DATE(20240101)", "TO_DATE(DATE '2024-01-01')", "TO_TIMESTAMP(1)", "TO_TIMESTAMP(DATE '2024-01-01')", "TO_TIMESTAMP(TIMESTAMP '2024-01-01 00:00:00')", "TO_TIMESTAMP('2024-01-01 00:00:00', CAST(NULL AS STRING))", "UNIX_TIMESTAMP(TIMESTAMP '2024-01-01 00:00:00')", "UNIX_TIMESTAMP(1)", "AT TIME ZONE", "TIMESTAMP '2024-01-01 00:00:00' AT TIME ZONE 'UTC'"]
    return out


def zones():
    out = []
    for z in ['America/Los_Angeles', 'Asia/Kolkata', 'Europe/Berlin', 'GMT+03:30']:
        out += [f'@set\ttable.local-time-zone\t{z}']
        out += over('D', ['lz', 'CAST(lz AS STRING)', 'CAST(lz AS TIMESTAMP(3))', 'CAST(lz AS DATE)', 'CAST(lz AS TIME)', 'CAST(ts AS TIMESTAMP_LTZ(3))', 'CAST(dt AS TIMESTAMP_LTZ(3))', 'CAST(s AS TIMESTAMP_LTZ(3))', "DATE_FORMAT(lz, 'yyyy-MM-dd HH:mm:ss XXX z VV')", 'EXTRACT(HOUR FROM lz)', 'EXTRACT(DAY FROM lz)', 'EXTRACT(EPOCH FROM lz)', 'FLOOR(lz TO DAY)', 'FLOOR(lz TO HOUR)', 'CEIL(lz TO DAY)', 'CEIL(lz TO MONTH)', 'UNIX_TIMESTAMP(s)', "lz + INTERVAL '1' DAY", "lz + INTERVAL '1' MONTH", 'TIMESTAMPADD(MONTH, 1, lz)', 'TIMESTAMPDIFF(DAY, lz, TO_TIMESTAMP_LTZ(0, 3))', 'TIMESTAMPDIFF(HOUR, ts, lz)', 'lz = ts', 'lz < ts', 'YEAR(lz)', 'DAYOFWEEK(lz)', 'WEEK(lz)', 'COALESCE(lz, ts)', 'JSON_STRING(lz)', 'TO_TIMESTAMP_LTZ(s)'])
        out += each("TO_TIMESTAMP_LTZ({}, 3)", ['0', '1710064800000', '1710068400000', '1711846800000', '1711850400000', '1730595600000', '-1', '-5364662400000'])
        out += each("CAST(TO_TIMESTAMP_LTZ({}, 3) AS STRING)", ['1729990800000', '1729994400000', '1730622600000', '1730626200000'])
        out += each("CAST(TIMESTAMP '{}' AS TIMESTAMP_LTZ(3))", ['2024-03-10 02:30:00', '2024-03-31 02:30:00', '2024-11-03 01:30:00', '2024-10-27 02:30:00', '1900-01-01 00:00:00'])
        out += each("UNIX_TIMESTAMP('{}')", ['2024-03-10 02:30:00', '2024-03-31 02:30:00', '2024-11-03 01:30:00', '2024-10-27 02:30:00', '1970-01-01 00:00:00', '1900-01-01 00:00:00'])
        out += each("FROM_UNIXTIME({})", ['0', '1710064800', '1711846800', '1730622600', '-2208988800'])
        out += ["CAST('2024-02-29 12:00:00Z' AS TIMESTAMP_LTZ(3))", "CAST('2024-02-29 12:00:00+02:00' AS TIMESTAMP_LTZ(3))", "TO_TIMESTAMP_LTZ('2023-01-01 00:00:00')", "TO_TIMESTAMP_LTZ('2023-01-01', 'yyyy-MM-dd')", "TO_TIMESTAMP('2023-01-01 00:00:00')", "TO_TIMESTAMP('2023-01-01 00:00:00 Z', 'yyyy-MM-dd HH:mm:ss X')", "TO_TIMESTAMP_LTZ('2023-01-01 00:00:00 Z', 'yyyy-MM-dd HH:mm:ss X')", "UNIX_TIMESTAMP('2023-01-01 00:00:00 Z', 'yyyy-MM-dd HH:mm:ss X')", "FROM_UNIXTIME(0, 'yyyy-MM-dd HH:mm:ss z Z')", "TIMESTAMP_LTZ '2024-02-29 12:34:56'", "TO_TIMESTAMP_LTZ(0, 3) = '1970-01-01 00:00:00'", "CAST(CURRENT_TIMESTAMP AS DATE) = CURRENT_DATE", "CONVERT_TZ('2024-02-29 12:34:56', 'UTC', 'Asia/Shanghai')", "DATE_FORMAT('2024-02-29 12:34:56', 'z')", "FLOOR(TO_TIMESTAMP_LTZ(1710064800000, 3) TO HOUR)", "CEIL(TO_TIMESTAMP_LTZ(1710068400001, 3) TO DAY)"]
    out += ['@set\ttable.local-time-zone\tUTC']
    return out


def json():
    doc = """'{"a": 1, "b": [1, 2, {"c": "x"}], "d": {"e": null, "f": 1.50, "g": true}, "h.i": "q", "s": "t\\"u", "n": null, "l": 12345678901234567890, "big": 1e400, "u": "ä😀"}'"""
    paths = ['$', '$.a', '$.b', '$.b[0]', '$.b[2].c', '$.b[*]', '$.b[9]', '$.b[-1]', '$.d', '$.d.e', '$.d.f', '$.d.g', '$.x', "$[\"a\"]", "$.[''a'']", "$[''h.i'']", '$.s', '$.n', '$.l', '$.big', '$.u', '$..c', '$.*', '$.d.*', '$.b[0,1]', '$.b[0:2]', '$.b[1:]', '$.b[?(@.c)]', '$.b[?(@ > 1)]', '$.b.length()', 'lax $.a', 'strict $.a', 'lax $.x', 'strict $.x', 'strict $.b[9]', 'lax $.a.b', 'strict $.a.b', '', 'a', '$.', '$[', '$a', '$.a ', '$.b[ 0 ]', "$.d[''f'',''g'']", '$.b[last]', '$.b[*].c', 'LAX $.a', 'lax  $.a']
    out = []
    for p in paths:
        out += [f"JSON_VALUE({doc}, '{p}')", f"JSON_QUERY({doc}, '{p}')", f"JSON_EXISTS({doc}, '{p}')", f"JSON_QUERY({doc}, '{p}' WITH WRAPPER)", f"JSON_QUERY({doc}, '{p}' WITH CONDITIONAL WRAPPER)", f"JSON_VALUE({doc}, '{p}' ERROR ON EMPTY ERROR ON ERROR)", f"JSON_QUERY({doc}, '{p}' ERROR ON EMPTY ERROR ON ERROR)", f"JSON_EXISTS({doc}, '{p}' ERROR ON ERROR)"]
    for t in ['STRING', 'INT', 'INTEGER', 'BIGINT', 'DOUBLE', 'BOOLEAN', 'DECIMAL(5, 2)', 'VARCHAR(3)', 'DATE', 'FLOAT', 'SMALLINT', 'TIMESTAMP(3)', 'CHAR(2)']:
        out += [f"JSON_VALUE({doc}, '{p}' RETURNING {t})" for p in ['$.a', '$.d.f', '$.d.g', '$.s', '$.n', '$.x', '$.b', '$.l']] + [f"JSON_VALUE({doc}, '{p}' RETURNING {t} DEFAULT {d} ON EMPTY DEFAULT {d} ON ERROR)" for p in ['$.x', 'strict $.x', '$.b'] for d in ['NULL', '5', "'7'", 'TRUE', '1.5e0']]
    for v in ['NULL', 'ERROR', "DEFAULT 'd'"]:
        for w in ['NULL', 'ERROR', "DEFAULT 'e'"]:
            out += [f"JSON_VALUE({doc}, '{p}' {v} ON EMPTY {w} ON ERROR)" for p in ['$.a', '$.x', 'strict $.x', '$.b', '$.n']] + [f"JSON_VALUE('bad', '$.a' {v} ON EMPTY {w} ON ERROR)"]
    for v in ['NULL', 'ERROR', 'EMPTY ARRAY', 'EMPTY OBJECT', 'EMPTY']:
        for w in ['NULL', 'ERROR', 'EMPTY ARRAY', 'EMPTY OBJECT']:
            out += [f"JSON_QUERY({doc}, '{p}' {v} ON EMPTY {w} ON ERROR)" for p in ['$.a', '$.x', 'strict $.x', '$.b']]
    for t in ['ARRAY<STRING>', 'ARRAY<INT>', 'STRING', 'VARCHAR(5)', 'ARRAY<STRING NOT NULL>', 'INT']:
        out += [f"JSON_QUERY({doc}, '{p}' RETURNING {t})" for p in ['$.b', '$.a', '$.x', '$.d']] + [f"JSON_QUERY({doc}, '{p}' RETURNING {t} WITH WRAPPER)" for p in ['$.b', '$.a', '$.b[*]']] + [f"JSON_QUERY({doc}, '$.x' RETURNING {t} EMPTY ARRAY ON EMPTY)", f"JSON_QUERY({doc}, '$.x' RETURNING {t} EMPTY OBJECT ON EMPTY)", f"JSON_QUERY('bad', '$.x' RETURNING {t} EMPTY ARRAY ON ERROR)", f"JSON_QUERY('[1, \"a\", null, {{\"x\": [1]}}, 1.5, true]', '$' RETURNING {t})"]
    for v in ['TRUE', 'FALSE', 'UNKNOWN', 'ERROR']:
        out += [f"JSON_EXISTS({j}, '{p}' {v} ON ERROR)" for j in [doc, "'bad'", "''", NULL_S] for p in ['$.a', 'strict $.x', '$.n', 'lax $.x']]
    texts = ["'{}'", "'[]'", "'1'", "'1.5e3'", "'\"a\"'", "'null'", "'true'", "'abc'", "''", "' '", "'{\"a\":1'", "'{\"a\":1}x'", "'{a:1}'", "'[1,]'", "'[1 2]'", "'{\"a\":1,\"a\":2}'", "'{\"a\":}'", "' {\"a\" : 1 } '", "'01'", "'-'", "'NaN'", "'\"\\x\"'", "'\"a'", "'{''a'':1}'", "'1 2'", "'[1][2]'", "'tru'", NULL_S]
    for t in texts:
        out += [f'{t} IS JSON', f'{t} IS JSON OBJECT', f'{t} IS JSON ARRAY', f'{t} IS JSON SCALAR', f'{t} IS JSON VALUE', f'{t} IS NOT JSON', f"JSON_VALUE({t}, '$')", f"JSON_QUERY({t}, '$')", f"JSON_EXISTS({t}, '$')", f"JSON_VALUE({t}, '$.a')", f"JSON_EXISTS({t}, '$.a')", f'JSON_UNQUOTE({t})', f'JSON_QUOTE({t})', f'JSON({t})', f'PARSE_JSON({t})', f'TRY_PARSE_JSON({t})', f"JSON_OBJECT('k' VALUE JSON({t}))"]
    values = SAMPLES + ["'a\"b\\c/d'", "CHR(9) || CHR(10) || CHR(1)", "'ä😀'", "CAST('NaN' AS DOUBLE)", '1e100', '1e-7', 'CAST(1e7 AS FLOAT)', '1.50', '0.00', '100000000000000000000.0', "MAP[1, 2]", "MAP['a', ARRAY[1, NULL]]", "ROW(ROW(1), ARRAY['x'])", "CAST(ROW(1, 'x') AS ROW<a INT, b STRING>)", "CAST(NULL AS ROW<a INT>)", "X'00ff'", "TIMESTAMP '2024-02-29 12:34:56.1'", "TIME '00:00:00'", "JSON_OBJECT('x' VALUE 1)", "JSON_ARRAY(1)", "CAST(JSON_ARRAY(1) AS STRING)"]
    out += each('JSON_STRING({})', values) + each("JSON_OBJECT('k' VALUE {})", values) + each('JSON_ARRAY({})', values) + each("JSON_OBJECT(KEY 'k' VALUE {} ABSENT ON NULL)", values[-8:] + ['NULL', NULL_S]) + each('JSON_ARRAY({} NULL ON NULL)', values[-8:] + ['NULL', NULL_S])
    out += ["JSON_OBJECT()", "JSON_ARRAY()", "JSON_OBJECT('a' VALUE 1, 'b' VALUE 'x')", "JSON_OBJECT('a': 1, 'b': 2)", "JSON_OBJECT(KEY 'a' VALUE NULL)", "JSON_OBJECT('a' VALUE NULL NULL ON NULL)", "JSON_OBJECT('a' VALUE NULL ABSENT ON NULL)", "JSON_OBJECT('a' VALUE 1, 'a' VALUE 2)", "JSON_OBJECT(1 VALUE 2)", "JSON_OBJECT(NULL VALUE 2)", "JSON_OBJECT('b' VALUE 1, 'a' VALUE 2)", "JSON_OBJECT('a' VALUE JSON_OBJECT('b' VALUE JSON_ARRAY(1, 2)))", "JSON_OBJECT('a' VALUE JSON_QUERY('{\"x\":[1]}', '$.x'))", "JSON_OBJECT('a' VALUE '{\"x\":1}')", "JSON_OBJECT('a' VALUE JSON_VALUE('{\"x\":1}', '$.x'))", "JSON_OBJECT('a' VALUE JSON_STRING(1))", "JSON_OBJECT('a' VALUE CAST(JSON_OBJECT('x' VALUE 1) AS STRING))", "JSON_OBJECT('é' VALUE 'ü')", "JSON_OBJECT('a\"b' VALUE 1)", "JSON_ARRAY(1, 'a', TRUE, NULL, 1.5)", "JSON_ARRAY(1, NULL NULL ON NULL)", "JSON_ARRAY(1, NULL ABSENT ON NULL)", "JSON_ARRAY(JSON_ARRAY(1), JSON_OBJECT('a' VALUE 1))", "JSON_ARRAY(JSON_STRING('a'))", "JSON_ARRAY(ARRAY[1, 2], MAP['a', 1], ROW(1, 2))", "JSON('[1]')", "JSON_ARRAY(JSON('{\"a\": 1}'))", "JSON_STRING(JSON_OBJECT('a' VALUE 1))", "JSON_OBJECT('a' VALUE JSON('bad'))", "JSON_LENGTH('[1]')", "JSON_VALUE(1, '$')", "JSON_VALUE('{}', 1)", "JSON_VALUE('{}')", "JSON_QUERY('[1, 2, 3]', '$' RETURNING ARRAY<INT>)", "JSON_VALUE('{\"a\":\"\"}', '$.a')", "JSON_VALUE('{\"a\":\"null\"}', '$.a')", "JSON_VALUE('[\"x\"]', '$[0]')", "JSON_VALUE('\"x\"', '$')", "JSON_VALUE('{\"a\": 1.0}', '$.a')", "JSON_VALUE('{\"a\": 1e2}', '$.a')", "JSON_VALUE('{\"a\": 100000000000000000000}', '$.a')", "JSON_VALUE('{\"a\": 0.1e-10}', '$.a')", "JSON_VALUE('{\"a\": 123456789.123456789}', '$.a')", "JSON_QUERY('{\"a\": {\"z\": 1, \"b\": 1.0, \"c\": 1e2}}', '$.a')", "JSON_QUERY('{\"a\": [1.10, 1e400, 123456789012345678901234567890]}', '$.a')", "JSON_QUERY('{\"a\": {\"u\": \"\\u00e4\\n/\\/\"}}', '$.a')", "JSON_OBJECTAGG(KEY 'a' VALUE 1)", "JSON_ARRAYAGG(1)"]
    return out


def collections():
    arrays = ['ARRAY[1, 2, 3]', 'ARRAY[3, 1, CAST(NULL AS INT), 1]', "ARRAY['b', 'a', 'b', CAST(NULL AS STRING)]", 'ARRAY[1.5, 2]', 'ARRAY[1.5e0, -0e0, 0e0]', 'CAST(NULL AS ARRAY<INT>)', 'ARRAY[ARRAY[1], ARRAY[2, 3]]', "ARRAY[TRUE, FALSE]", "ARRAY[DATE '2024-02-29', DATE '1970-01-01']", "ARRAY[ROW(1, 'a'), ROW(1, 'a'), ROW(0, 'b')]", 'ARRAY[CAST(NULL AS INT)]', "ARRAY[MAP['a', 1]]", "ARRAY[X'41', X'40']", 'ARRAY[NULL]', "ARRAY[INTERVAL '1' DAY]", "ARRAY[TIMESTAMP '2024-02-29 12:00:00']", 'ARRAY[CAST(1 AS TINYINT)]']
    out = []
    for f in ['CARDINALITY', 'ELEMENT', 'ARRAY_DISTINCT', 'ARRAY_MAX', 'ARRAY_MIN', 'ARRAY_SORT', 'ARRAY_REVERSE', 'ARRAY_CONCAT', 'ARRAY_COMPACT', 'ARRAY_SIZE', 'ARRAY_SUM', 'ARRAY_SHUFFLE', 'JSON_STRING', 'TYPEOF', 'ARRAY_FLATTEN']:
        out += each(f + '({})', arrays + ['1', 'NULL', "MAP['a', 1]"])
    out += each('{}[{}]', arrays, ['1', '2', '0', '-1', '9', NULL_I, "'a'", 'CAST(1 AS BIGINT)', 'CAST(1 AS TINYINT)'])
    args = ['1', '2', 'CAST(NULL AS INT)', 'NULL', "'b'", '1.5', '1e0', 'CAST(1 AS BIGINT)', 'ARRAY[1]', 'TRUE', "DATE '1970-01-01'", "ROW(1, 'a')"]
    for f in ['ARRAY_CONTAINS', 'ARRAY_POSITION', 'ARRAY_REMOVE', 'ARRAY_APPEND', 'ARRAY_PREPEND']:
        out += each(f + '({}, {})', arrays[:10], args)
    for f in ['ARRAY_UNION', 'ARRAY_INTERSECT', 'ARRAY_EXCEPT', 'ARRAY_CONCAT', 'MAP_FROM_ARRAYS']:
        out += each(f + '({}, {})', arrays[:11], arrays[:7] + ['ARRAY[1, 1, 5]', 'ARRAY[]', 'NULL'])
    out += each('ARRAY_SLICE({}, {}, {})', arrays[:3] + arrays[5:6], ['1', '2', '0', '-2', '5', NULL_I], ['1', '2', '0', '-1', '9', '-9', NULL_I]) + each('ARRAY_SLICE({}, {})', arrays[:3], ['1', '0', '-2', '9', '-9', NULL_I])
    out += each('ARRAY_SORT({}, {})', arrays[:5], ['TRUE', 'FALSE', 'CAST(NULL AS BOOLEAN)', '1']) + each('ARRAY_SORT({}, {}, {})', arrays[1:3], ['TRUE', 'FALSE'], ['TRUE', 'FALSE', 'CAST(NULL AS BOOLEAN)'])
    out += each('ARRAY_JOIN({}, {})', arrays[:3] + ["ARRAY['', 'x']"], ["','", "''", NULL_S, '1']) + each('ARRAY_JOIN({}, {}, {})', arrays[2:3], ["','", "''"], ["'n'", "''", NULL_S])
    maps = ["MAP['a', 1, 'b', 2]", "MAP['a', CAST(NULL AS INT)]", "CAST(NULL AS MAP<STRING, INT>)", "MAP[1, 'x', 1, 'y']", "MAP[CAST(NULL AS INT), 2]", "MAP['a', ARRAY[1]]", "MAP['b', 2.5, 'c', 1]", "MAP[]", "MAP[1.5, TRUE]", "MAP[DATE '2024-02-29', 1]", "MAP[ROW(1, 2), 3]", "MAP['a']"]
    for f in ['CARDINALITY', 'MAP_KEYS', 'MAP_VALUES', 'MAP_ENTRIES', 'MAP_UNION', 'JSON_STRING', 'TYPEOF', 'MAP_FROM_ENTRIES', 'ELEMENT']:
        out += each(f + '({})', maps)
    out += each('MAP_UNION({}, {})', maps, maps[:7]) + each('{}[{}]', maps, ["'a'", "'z'", '1', '1.5', NULL_S, 'NULL', "DATE '2024-02-29'", 'ROW(1, 2)', 'CAST(1 AS BIGINT)']) + maps
    out += ['ARRAY[1, 2.5]', "ARRAY[1, 'a']", 'ARRAY[]', 'ARRAY[NULL]', 'ARRAY[1, NULL]', "ARRAY['a', 'bcd']", 'ARRAY[1, 2][1] + 1', "ROW(1, 'x', TRUE)", 'ROW(NULL)', 'ROW()', 'ROW(1, ROW(2, 3))', '(1, 2)', 'CARDINALITY(MAP[])', "ROW(1, 2).EXPR$0", "CAST(ROW(1, 'x') AS ROW<a INT, b STRING>).a", "CAST(ROW(1, 'x') AS ROW<a INT, b STRING>).b", "CAST(ROW(1, 'x') AS ROW<a INT, b STRING>).c", "CAST(NULL AS ROW<a INT, b STRING>).a", "CAST(ROW(1, CAST(NULL AS STRING)) AS ROW<a INT, b STRING>).b", "ARRAY[ROW(1, 2)][1]", "CAST(ARRAY[ROW(1, 2)] AS ARRAY<ROW<a INT, b INT>>)[1].b", "CAST(ARRAY[ROW(1, 2)] AS ARRAY<ROW<a INT, b INT>>)[2].b", "MAP['a', MAP['b', 3]]['a']['b']", "ELEMENT(ARRAY[1, 2])", "ELEMENT(ARRAY[1])", "ELEMENT(CAST(ARRAY[1] AS ARRAY<INT>))", "ARRAY_MAX(ARRAY[CAST(NULL AS INT)])", "ARRAY_CONTAINS(ARRAY['a', 'b'], 'a')", "ARRAY_CONTAINS(ARRAY['a', NULL], NULL)", "ARRAY_APPEND(ARRAY['a'], 'bcd')", "ARRAY_APPEND(ARRAY[1], 2.5)", "ARRAY_APPEND(ARRAY[CAST(1 AS TINYINT)], 300)", "ARRAY_CONCAT(ARRAY[1], ARRAY[2.5], ARRAY[CAST(NULL AS INT)])", "ARRAY_CONCAT()", "ARRAY_UNION(ARRAY['a'], ARRAY['bcd'])", "MAP_FROM_ARRAYS(ARRAY[1, 1], ARRAY['a', 'b'])", "MAP_FROM_ARRAYS(ARRAY[1, 2], ARRAY['a'])", "MAP_FROM_ARRAYS(ARRAY['a', NULL], ARRAY[1, 2])", "MAP_KEYS(MAP_FROM_ARRAYS(ARRAY[1, 2], ARRAY['a', 'b']))", "MAP_UNION(MAP['a', 1], MAP['b', 2], MAP['a', 3])", "MAP_UNION()", "TYPEOF(MAP_ENTRIES(MAP['a', 1]))", "MAP_ENTRIES(MAP['a', 1])[1].key", "MAP_ENTRIES(MAP['a', 1])[1].`value`", "ARRAY[1, 2] || ARRAY[3]", "1 = ANY(ARRAY[1])", "1 MEMBER OF MULTISET[1]", "MULTISET[1, 1]", "CARDINALITY(MULTISET[1, 1])", "FLATTEN(ROW(1, 2))", "OBJECT_OF('a')", "ARRAY_CONTAINS(ARRAY[1, 2], CAST(NULL AS INT))", "ARRAY_POSITION(ARRAY[1, NULL], NULL)", "ARRAY_REMOVE(ARRAY[1, NULL, 1], NULL)"]
    for b in ["BITMAP_BUILD(ARRAY[1, 2, 3])", "BITMAP_BUILD(CAST(NULL AS ARRAY<INT>))", "BITMAP_BUILD(ARRAY[-1, 0])"]:
        out += each('{}(' + b + ')', ['BITMAP_CARDINALITY', 'BITMAP_TO_ARRAY', 'BITMAP_TO_BYTES', 'BITMAP_TO_STRING', 'TYPEOF'])
    return out


def aggregates():
    out, columns = [], ['i', 'ti', 'l', 'f', 'd', 'c', 's', 'b', 'dt', 'ts', 'ch']
    for f in ['COUNT', 'SUM', 'AVG', 'MIN', 'MAX', 'STDDEV_POP', 'STDDEV_SAMP', 'VAR_POP', 'VAR_SAMP', 'FIRST_VALUE', 'LAST_VALUE', 'COLLECT', 'ARRAY_AGG', 'LISTAGG', 'JSON_ARRAYAGG', 'STDDEV', 'VARIANCE']:
        out += each(f + '({})', columns) + [f'{f}(DISTINCT i)', f'{f}(DISTINCT s)', f'{f}(i) FILTER (WHERE b)', f'{f}(s) FILTER (WHERE b)']
    out += ["LISTAGG(s, '-')", "LISTAGG(s, '')", "LISTAGG(i, '-')", "LISTAGG(s, s)", "LISTAGG(s, CAST(NULL AS STRING))", 'COUNT(*)', 'COUNT(1)', 'COUNT(DISTINCT i, s)', 'COUNT(i, s)', 'COUNT(NULL)', 'SUM(1)', 'SUM(NULL)', 'AVG(1)', "MIN('a')", 'JSON_OBJECTAGG(KEY s VALUE i)', 'JSON_OBJECTAGG(KEY x VALUE s)', 'JSON_OBJECTAGG(KEY x VALUE s NULL ON NULL)', 'JSON_OBJECTAGG(KEY x VALUE s ABSENT ON NULL)', "JSON_OBJECTAGG('k' || x VALUE d)", 'JSON_OBJECTAGG(KEY i VALUE s)', 'JSON_ARRAYAGG(s NULL ON NULL)', 'JSON_ARRAYAGG(s ABSENT ON NULL)', 'JSON_ARRAYAGG(s ORDER BY s)',
            'JSON_ARRAYAGG(ARRAY[i])', 'JSON_ARRAYAGG(JSON_OBJECT(KEY \'a\' VALUE i))', 'PERCENTILE(i, 0.5)', 'PERCENTILE(d, 0.5)', 'PERCENTILE(c, 0.25)', 'PERCENTILE(ti, 0)', 'PERCENTILE(l, 1)', 'PERCENTILE(i, 0.5, i)', 'PERCENTILE(i, ARRAY[0.5, 0.1])', 'PERCENTILE(i, 1.5)', 'PERCENTILE(i, -1)', 'PERCENTILE(s, 0.5)', 'PERCENTILE(i, NULL)', 'PERCENTILE(i, 0.5, -1)', 'PERCENTILE(i, 0.5, 0)', "PERCENTILE(i, '0.5')", 'PERCENTILE(i, 0.5, 1.5)', 'PERCENTILE(DISTINCT i, 0.5)', 'PERCENTILE(i, ARRAY[0.5e0])', 'PERCENTILE(f, 0.3)', 'PERCENTILE(i, CAST(0.3 AS FLOAT))', 'APPROX_COUNT_DISTINCT(s)', 'GROUP_CONCAT(s)', 'EVERY(b)', 'ANY_VALUE(i)', 'MEDIAN(i)', 'SUM(c * i)', 'SUM(i) / COUNT(*)', 'AVG(c) + 1', 'MAX(i) - MIN(i)',
            'SUM(CASE WHEN b THEN 1 ELSE 0 END)', 'COUNT(DISTINCT CASE WHEN b THEN s END)', 'SINGLE_VALUE(i)', 'MAX(ARRAY[i])', 'MIN(ROW(i))', 'COUNT(ARRAY[i])', 'FIRST_VALUE(ARRAY[i])', 'COLLECT(ARRAY[i])', "MAX(X'41')", "MIN(INTERVAL '1' DAY)", "SUM(INTERVAL '1' DAY)", "AVG(INTERVAL '1' DAY)", 'FIRST_VALUE(i) FILTER (WHERE i > 1)', 'COUNT(*) FILTER (WHERE i > 1)', 'ARRAY_AGG(i) FILTER (WHERE i IS NOT NULL)', 'BITMAP_BUILD_CARDINALITY_AGG(i)', 'COUNT(DISTINCT f)', 'SUM(DISTINCT c)', 'AVG(DISTINCT d)', 'MAX(ts) - MIN(ts)', 'CORR(i, d)', 'COVAR_POP(i, d)']
    return over('A GROUP BY id', out)


FAMILIES = {'aggregates': aggregates, 'strings': strings, 'numbers': numbers, 'conditions': conditions, 'casts': casts, 'times': times, 'zones': zones, 'json': json, 'collections': collections}


def lines(family):
    """The lines of a family as text: settings and cases, without repetitions."""
    global step
    step = STEP[family]
    seen, out = set(), []
    for line in FAMILIES[family]():
        text = '\t'.join(line) if isinstance(line, tuple) else line
        assert '\n' not in text, text
        if text.startswith('@set'):
            seen = set()
        elif text in seen:
            continue
        seen.add(text)
        out.append(text)
    return out


if __name__ == '__main__':
    for name in FAMILIES:
        print(name, len(lines(name)))
