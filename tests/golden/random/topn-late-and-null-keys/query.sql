CREATE TABLE t (
  k STRING,
  v INT,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts
) WITH (
  'connector' = 'filesystem',
  'path' = 't.csv',
  'format' = 'csv',
  'csv.null-literal' = 'NULL'
);
SELECT * FROM (
  SELECT k, v, window_start, window_end, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, k ORDER BY v DESC NULLS FIRST) AS rn
  FROM TABLE(HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '3' SECOND, INTERVAL '5' SECOND))
) WHERE rn <= 2;
