CREATE TABLE t (
  k STRING,
  a TINYINT,
  b SMALLINT,
  c INT,
  d BIGINT,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts
) WITH (
  'connector' = 'filesystem',
  'path' = 't.csv',
  'format' = 'csv',
  'csv.null-literal' = 'NULL'
);
SELECT window_start, window_end, k, AVG(a) AS aa, AVG(b) AS ab, AVG(c) AS ac, AVG(d) AS ad, AVG(DISTINCT a) AS da, STDDEV_POP(c) AS s
FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' SECOND))
GROUP BY window_start, window_end, k;
