CREATE TABLE t (
  s STRING,
  e DECIMAL(38, 10),
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '30' SECOND
) WITH (
  'connector' = 'filesystem',
  'path' = 't.csv',
  'format' = 'csv',
  'csv.null-literal' = 'NULL'
);
SELECT HOP_START(ts, INTERVAL '2' SECOND, INTERVAL '6' SECOND) AS window_start, HOP_END(ts, INTERVAL '2' SECOND, INTERVAL '6' SECOND) AS window_end,
  LISTAGG(s) AS l, SUM(e) AS se, AVG(DISTINCT e) AS ae
FROM t
GROUP BY HOP(ts, INTERVAL '2' SECOND, INTERVAL '6' SECOND);
