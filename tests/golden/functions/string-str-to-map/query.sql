CREATE TEMPORARY VIEW S AS SELECT id, CAST(s AS STRING) AS s, CAST(p AS STRING) AS p, n, m FROM (VALUES (1, 'Hello World', 'o', 1, 3), (2, '', '', 0, 0), (3, 'äöü ß', 'ö', 2, -1), (4, '😀x😀', 'x', -1, 2), (5, 'a,b,,c', ',', -3, 100), (6, '  x  ', ' ', 2147483647, 1), (7, CAST(NULL AS STRING), 'a', 1, 1), (8, 'abc', CAST(NULL AS STRING), 1, 1), (9, 'abcabc', 'bc', CAST(NULL AS INT), 2), (10, 'aXbX', 'X', 4, CAST(NULL AS INT)), (11, '12', '1', -2147483648, -2147483648)) AS v(id, s, p, n, m);
SELECT 1 AS id,
  STR_TO_MAP('') AS c0,
  STR_TO_MAP('a') AS c1,
  STR_TO_MAP('Hello World') AS c2,
  STR_TO_MAP('äöü') AS c3,
  STR_TO_MAP('😀x') AS c4,
  STR_TO_MAP(CAST(NULL AS STRING)) AS c5,
  STR_TO_MAP('4142') AS c6,
  STR_TO_MAP('a b&c=%41') AS c7,
  STR_TO_MAP('12.5') AS c8,
  STR_TO_MAP('k1=v1,k2=v2') AS c9,
  STR_TO_MAP('a=b=c,d') AS c10,
  STR_TO_MAP(',,') AS c11;
SELECT 1 AS id,
  STR_TO_MAP('k1:v1;k2:v2;k1:v3', ';', ':') AS c0,
  STR_TO_MAP('k1:v1;k2:v2;k1:v3', ';', '=') AS c1,
  STR_TO_MAP('k1:v1;k2:v2;k1:v3', ';', '') AS c2,
  STR_TO_MAP('k1:v1;k2:v2;k1:v3', ',', ':') AS c3,
  STR_TO_MAP('k1:v1;k2:v2;k1:v3', ',', '=') AS c4,
  STR_TO_MAP('k1:v1;k2:v2;k1:v3', ',', '') AS c5,
  STR_TO_MAP('k1:v1;k2:v2;k1:v3', '', ':') AS c6,
  STR_TO_MAP('k1:v1;k2:v2;k1:v3', '', '=') AS c7;
SELECT id,
  STR_TO_MAP(s) AS c0,
  STR_TO_MAP(s, p, 'X') AS c1
FROM S;
