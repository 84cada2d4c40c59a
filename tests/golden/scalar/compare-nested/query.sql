CREATE TABLE parts (
  id INT,
  tags ARRAY<STRING>,
  size ROW<w INT, unit STRING>,
  seen MAP<STRING, INT>
) WITH (
  'connector' = 'filesystem',
  'path' = 'rows.json',
  'format' = 'json'
);
SELECT id, tags = ARRAY['red', 'blue'] AS a1, ARRAY['red', 'bluish'] <> tags AS a2, size = ROW(2, 'cm') AS r1,
  size <> ROW(2, 'cm') AS r2, seen = MAP['a', 1, 'b', 2] AS m1, TRIM(BOTH ' x ') AS t1, TRIM(LEADING '  y') AS t2 FROM parts;
