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
SELECT id, AVG(v) OVER (PARTITION BY k ORDER BY ts) AS a, AVG(w) OVER (PARTITION BY k ORDER BY ts) AS b, AVG(f) OVER (PARTITION BY k ORDER BY ts) AS c, AVG(d) OVER (PARTITION BY k ORDER BY ts) AS e, AVG(e) OVER (PARTITION BY k ORDER BY ts) AS g, AVG(s) OVER (PARTITION BY k ORDER BY ts) AS h FROM t;
