CREATE TABLE t (
  k STRING,
  f FLOAT,
  d DOUBLE,
  e DECIMAL(38, 0),
  i INT,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts
) WITH (
  'connector' = 'filesystem',
  'path' = 't.csv',
  'format' = 'csv',
  'csv.null-literal' = 'NULL'
);
SELECT window_start, window_end, k, SUM(f) AS sf, SUM(d) AS sd, SUM(e) AS se, SUM(i) AS si, AVG(d) AS ad, AVG(e) AS ae, STDDEV_SAMP(i) AS s
FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' SECOND))
GROUP BY window_start, window_end, k;
