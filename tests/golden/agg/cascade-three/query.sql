CREATE TABLE e (id INT, k STRING, u STRING, v INT, b BIGINT, p DECIMAL(10,2), d DOUBLE, f FLOAT, s SMALLINT, flag BOOLEAN, dt DATE, tm TIME, j STRING,
  ts TIMESTAMP(3), pt AS PROCTIME(), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector'='filesystem','path'='e.csv','format'='csv','csv.null-literal'='NULL');
CREATE TABLE w (id INT, k STRING, u STRING, v INT, b BIGINT, p DECIMAL(10,2), d DOUBLE, f FLOAT, s SMALLINT, flag BOOLEAN, dt DATE, tm TIME, j STRING,
  ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' DAY) WITH ('connector'='filesystem','path'='e.csv','format'='csv','csv.null-literal'='NULL');
CREATE TABLE o (oid INT, k STRING, amount DECIMAL(12,3), st STRING, ots TIMESTAMP(3), WATERMARK FOR ots AS ots - INTERVAL '1' DAY)
  WITH ('connector'='filesystem','path'='o.csv','format'='csv','csv.null-literal'='NULL');
CREATE TABLE dim (k STRING, name STRING, n INT) WITH ('connector'='filesystem','path'='k.csv','format'='csv','csv.null-literal'='NULL');
WITH m AS (SELECT window_start AS ws, window_end AS we, window_time AS wt, k, SUM(v) AS s FROM TABLE(TUMBLE(TABLE e, DESCRIPTOR(ts), INTERVAL '1' MINUTES)) GROUP BY window_start, window_end, window_time, k),
n AS (SELECT window_start AS ws, window_end AS we, window_time AS wt, k, MAX(s) AS s, COUNT(*) AS c FROM TABLE(TUMBLE(TABLE m, DESCRIPTOR(wt), INTERVAL '5' MINUTES)) GROUP BY window_start, window_end, window_time, k)
SELECT window_start, window_end, SUM(s) AS s, SUM(c) AS c FROM TABLE(CUMULATE(TABLE n, DESCRIPTOR(wt), INTERVAL '5' MINUTES, INTERVAL '15' MINUTES)) GROUP BY window_start, window_end;
