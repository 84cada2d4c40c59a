CREATE TABLE t (
  k1 STRING,
  v3 STRING,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '0.2' SECOND
) WITH (
  'connector' = 'filesystem',
  'path' = 't.csv',
  'format' = 'csv',
  'csv.null-literal' = 'NULL'
);
SELECT window_start, window_end, k1, GROUPING_ID(k1) AS gid, LISTAGG(v3) AS a3
FROM TABLE(HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '0.1' SECOND, INTERVAL '0.2' SECOND))
GROUP BY window_start, window_end, CUBE (k1);
