CREATE TABLE t (
  v3 FLOAT,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts
) WITH (
  'connector' = 'filesystem',
  'path' = 't.csv',
  'format' = 'csv',
  'csv.null-literal' = 'NULL'
);
SELECT SESSION_START(ts, INTERVAL '30' SECOND) AS window_start, SESSION_END(ts, INTERVAL '30' SECOND) AS window_end, SESSION_ROWTIME(ts, INTERVAL '30' SECOND) AS window_time, VAR_POP(v3) AS a3
FROM t
GROUP BY SESSION(ts, INTERVAL '30' SECOND);
