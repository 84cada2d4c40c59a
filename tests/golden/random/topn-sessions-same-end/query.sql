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
  SELECT window_start, window_end, k, n, s, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY s DESC, k) AS rn
  FROM (
    SELECT window_start, window_end, k, COUNT(*) AS n, SUM(v) AS s
    FROM TABLE(SESSION(TABLE t PARTITION BY k, DESCRIPTOR(ts), INTERVAL '5' SECOND))
    GROUP BY window_start, window_end, k)
) WHERE rn <= 2;
