CREATE TABLE t (
  k1 INT,
  v1 BIGINT,
  ts TIMESTAMP(0),
  WATERMARK FOR ts AS ts - INTERVAL '10' SECOND
) WITH (
  'connector' = 'filesystem',
  'path' = 't.csv',
  'format' = 'csv',
  'csv.null-literal' = 'NULL'
);
SELECT window_start, window_end, k1, GROUPING_ID(k1) AS gid, STDDEV_POP(v1) AS a1
FROM TABLE(HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '1' SECOND, INTERVAL '5' SECOND))
GROUP BY window_start, window_end, CUBE (k1);
