CREATE TABLE t (
  id INT,
  k STRING,
  v INT,
  w DECIMAL(8, 2),
  f FLOAT,
  d DOUBLE,
  e DECIMAL(38, 10),
  s SMALLINT,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts
) WITH (
  'connector' = 'filesystem',
  'path' = 't.csv',
  'format' = 'csv',
  'csv.null-literal' = 'NULL'
);
SELECT id, STDDEV_POP(v) OVER (PARTITION BY k ORDER BY ts) AS a, STDDEV_SAMP(w) OVER (PARTITION BY k ORDER BY ts) AS b, VAR_POP(f) OVER (PARTITION BY k ORDER BY ts) AS c, VAR_SAMP(d) OVER (PARTITION BY k ORDER BY ts) AS e, STDDEV_POP(d) OVER (PARTITION BY k ORDER BY ts) AS g, VAR_SAMP(s) OVER (PARTITION BY k ORDER BY ts) AS h FROM t;
