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
SELECT id, AVG(v) OVER w AS a, STDDEV_POP(v) OVER w AS s FROM t WINDOW w AS (PARTITION BY k ORDER BY ts);
