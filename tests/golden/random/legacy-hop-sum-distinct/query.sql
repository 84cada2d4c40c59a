CREATE TABLE t (
  k STRING,
  v INT,
  e DECIMAL(10, 2),
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts
) WITH (
  'connector' = 'filesystem',
  'path' = 't.csv',
  'format' = 'csv',
  'csv.null-literal' = 'NULL'
);
SELECT HOP_START(ts, INTERVAL '5' SECOND, INTERVAL '10' SECOND) AS window_start, HOP_END(ts, INTERVAL '5' SECOND, INTERVAL '10' SECOND) AS window_end, k,
  SUM(DISTINCT v) AS sv, SUM(DISTINCT e) FILTER (WHERE v > 1) AS se, COUNT(*) AS n
FROM t
GROUP BY HOP(ts, INTERVAL '5' SECOND, INTERVAL '10' SECOND), k;
