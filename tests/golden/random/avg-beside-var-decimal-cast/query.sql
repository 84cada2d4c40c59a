CREATE TABLE t (
  v4 DECIMAL(38, 0),
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '2' DAY
) WITH (
  'connector' = 'filesystem',
  'path' = 't.csv',
  'format' = 'csv',
  'csv.null-literal' = 'NULL'
);
SELECT window_start, window_end, VAR_POP(v4) AS a5, AVG(v4) AS a6
FROM TABLE(CUMULATE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' DAY, INTERVAL '2' DAY))
GROUP BY window_start, window_end;
