CREATE TABLE e (id INT, k STRING, u STRING, v INT, b BIGINT, p DECIMAL(10,2), d DOUBLE, f FLOAT, s SMALLINT, flag BOOLEAN, dt DATE, tm TIME, j STRING,
  ts TIMESTAMP(3), pt AS PROCTIME(), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector'='filesystem','path'='e.csv','format'='csv','csv.null-literal'='NULL');
CREATE TABLE w (id INT, k STRING, u STRING, v INT, b BIGINT, p DECIMAL(10,2), d DOUBLE, f FLOAT, s SMALLINT, flag BOOLEAN, dt DATE, tm TIME, j STRING,
  ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' DAY) WITH ('connector'='filesystem','path'='e.csv','format'='csv','csv.null-literal'='NULL');
CREATE TABLE o (oid INT, k STRING, amount DECIMAL(12,3), st STRING, ots TIMESTAMP(3), WATERMARK FOR ots AS ots - INTERVAL '1' DAY)
  WITH ('connector'='filesystem','path'='o.csv','format'='csv','csv.null-literal'='NULL');
CREATE TABLE dim (k STRING, name STRING, n INT) WITH ('connector'='filesystem','path'='k.csv','format'='csv','csv.null-literal'='NULL');
SELECT id, SUM(d) OVER w AS a, SUM(f) OVER w AS b, SUM(p) OVER w AS c, SUM(v) OVER w AS dd, AVG(DISTINCT v) OVER w AS e, SUM(DISTINCT d) OVER w AS f2, AVG(DISTINCT d) OVER w AS g FROM e WINDOW w AS (PARTITION BY k ORDER BY ts);
