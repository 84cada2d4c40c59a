CREATE TABLE t (
  id INT,
  k STRING,
  v INT,
  w DECIMAL(8, 2),
  f FLOAT,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts
) WITH (
  'connector' = 'filesystem',
  'path' = 't.csv',
  'format' = 'csv',
  'csv.null-literal' = 'NULL'
);
SELECT k, AVG(v) AS a, AVG(f) AS af, STDDEV_POP(v) AS s FROM t GROUP BY k;
