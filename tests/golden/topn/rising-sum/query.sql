CREATE TABLE visits (
  city STRING,
  shop STRING,
  amount INT,
  price DOUBLE
) WITH (
  'connector' = 'filesystem',
  'path' = 'visits.csv',
  'format' = 'csv',
  'csv.null-literal' = 'NULL'
);

SELECT * FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY city ORDER BY s DESC) AS rn
  FROM (SELECT city, shop, SUM(price) AS s FROM visits WHERE price > 0 GROUP BY city, shop)
) WHERE rn <= 2;
SELECT * FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY city ORDER BY s DESC) AS rn
  FROM (SELECT city, shop, SUM(price) AS s FROM visits GROUP BY city, shop)
) WHERE rn <= 2;
SELECT * FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY city ORDER BY s DESC) AS rn
  FROM (SELECT city, shop, SUM(CASE WHEN amount > 2 THEN 1 ELSE 0 END) AS s FROM visits GROUP BY city, shop)
) WHERE rn <= 2;
SELECT * FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY city ORDER BY s) AS rn
  FROM (SELECT city, shop, SUM(price) AS s FROM visits WHERE price < 0 GROUP BY city, shop)
) WHERE rn <= 2;
SELECT * FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY city ORDER BY s DESC) AS rn
  FROM (SELECT city, shop, SUM(price) FILTER (WHERE price >= 1) AS s FROM visits GROUP BY city, shop)
) WHERE rn <= 2;
