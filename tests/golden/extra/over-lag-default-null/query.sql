CREATE TABLE e (id INT, k STRING, u STRING, v INT, b BIGINT, p DECIMAL(10,2), d DOUBLE, f FLOAT, s SMALLINT, flag BOOLEAN, dt DATE, tm TIME, j STRING,
  ts TIMESTAMP(3), pt AS PROCTIME(), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector'='filesystem','path'='e.csv','format'='csv','csv.null-literal'='NULL');
CREATE TABLE w (id INT, k STRING, u STRING, v INT, b BIGINT, p DECIMAL(10,2), d DOUBLE, f FLOAT, s SMALLINT, flag BOOLEAN, dt DATE, tm TIME, j STRING,
  ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' DAY) WITH ('connector'='filesystem','path'='e.csv','format'='csv','csv.null-literal'='NULL');
CREATE TABLE o (oid INT, k STRING, amount DECIMAL(12,3), st STRING, ots TIMESTAMP(3), WATERMARK FOR ots AS ots - INTERVAL '1' DAY)
  WITH ('connector'='filesystem','path'='o.csv','format'='csv','csv.null-literal'='NULL');
CREATE TABLE dim (k STRING, name STRING, n INT) WITH ('connector'='filesystem','path'='k.csv','format'='csv','csv.null-literal'='NULL');
SELECT id, LAG(v, 1, -5) OVER w AS a, LAG(b, 1, CAST(77 AS BIGINT)) OVER w AS b, LAG(d, 1, 7.5e0) OVER w AS c, LAG(u, 1, 'dflt') OVER w AS dd, LAG(s, 1, CAST(3 AS SMALLINT)) OVER w AS ff, LAG(flag, 1, TRUE) OVER w AS g, LAG(f, 1, CAST(1.5 AS FLOAT)) OVER w AS h FROM e WINDOW w AS (PARTITION BY k ORDER BY ts);
