CREATE TABLE t (
  k1 TIMESTAMP(3),
  k2 INT,
  v5 BIGINT,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '12' HOUR
) WITH (
  'connector' = 'filesystem',
  'path' = 't.csv',
  'format' = 'csv',
  'csv.null-literal' = 'NULL'
);
SELECT window_start, window_end, k1, k2, GROUPING_ID(k1, k2) AS gid, STDDEV_SAMP(v5) AS a6
FROM TABLE(CUMULATE(TABLE t, DESCRIPTOR(ts), INTERVAL '2' HOUR, INTERVAL '6' HOUR))
GROUP BY window_start, window_end, CUBE (k1, k2);
