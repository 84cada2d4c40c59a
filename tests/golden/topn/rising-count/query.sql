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

SELECT city, shop, n, rn FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY city ORDER BY n DESC) AS rn
  FROM (SELECT city, shop, COUNT(*) AS n FROM visits GROUP BY city, shop)
) WHERE rn <= 2;
SELECT city, shop, n FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY city ORDER BY n DESC) AS rn
  FROM (SELECT city, shop, COUNT(*) AS n, MAX(amount) AS m FROM visits GROUP BY city, shop)
) WHERE rn <= 2;
SELECT city, shop, n, m, rn FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY city ORDER BY n DESC) AS rn
  FROM (SELECT city, shop, COUNT(*) AS n, MAX(amount) AS m FROM visits GROUP BY city, shop)
) WHERE rn BETWEEN 2 AND 3;
SELECT city, shop, n FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY city ORDER BY n DESC) AS rn
  FROM (SELECT city, shop, COUNT(*) AS n FROM visits GROUP BY city, shop)
) WHERE rn = 1;
