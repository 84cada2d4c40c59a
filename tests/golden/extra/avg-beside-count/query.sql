CREATE TABLE e (id INT, k STRING, u STRING, v INT, b BIGINT, p DECIMAL(10,2), d DOUBLE, f FLOAT, s SMALLINT, flag BOOLEAN, dt DATE, tm TIME, j STRING,
  ts TIMESTAMP(3), pt AS PROCTIME(), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector'='filesystem','path'='e.csv','format'='csv','csv.null-literal'='NULL');
CREATE TABLE w (id INT, k STRING, u STRING, v INT, b BIGINT, p DECIMAL(10,2), d DOUBLE, f FLOAT, s SMALLINT, flag BOOLEAN, dt DATE, tm TIME, j STRING,
  ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' DAY) WITH ('connector'='filesystem','path'='e.csv','format'='csv','csv.null-literal'='NULL');
CREATE TABLE o (oid INT, k STRING, amount DECIMAL(12,3), st STRING, ots TIMESTAMP(3), WATERMARK FOR ots AS ots - INTERVAL '1' DAY)
  WITH ('connector'='filesystem','path'='o.csv','format'='csv','csv.null-literal'='NULL');
CREATE TABLE dim (k STRING, name STRING, n INT) WITH ('connector'='filesystem','path'='k.csv','format'='csv','csv.null-literal'='NULL');
SELECT AVG(v) AS a, COUNT(v) AS c FROM e;
