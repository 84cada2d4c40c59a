CREATE TABLE t (
  id INT,
  k STRING,
  v INT,
  w DECIMAL(8, 2),
  f FLOAT,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts
) WITH (
  'connector' = 'filesystem',
  'path' = 't.csv',
  'format' = 'csv',
  'csv.null-literal' = 'NULL'
);
SELECT window_start, window_end, k, LISTAGG(CAST(id AS STRING)) AS l FROM TABLE(HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND)) GROUP BY window_start, window_end, ROLLUP (k);
