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
  SELECT *, ROW_NUMBER() OVER (PARTITION BY city ORDER BY n DESC) AS rn
  FROM (SELECT city, shop, COUNT(*) AS n FROM visits GROUP BY city, shop HAVING COUNT(*) > 1)
) WHERE rn <= 2;
SELECT * FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY city ORDER BY n DESC) AS rn
  FROM (SELECT city, shop, COUNT(*) AS n FROM visits GROUP BY city, shop) WHERE shop <> 'b'
) WHERE rn <= 2;
SELECT * FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY shop ORDER BY n DESC) AS rn
  FROM (SELECT shop, amount, COUNT(*) AS n FROM visits GROUP BY shop, amount)
) WHERE rn <= 1;
SELECT * FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY m ORDER BY n DESC) AS rn
  FROM (SELECT shop, MAX(amount) AS m, COUNT(*) AS n FROM visits GROUP BY shop)
) WHERE rn <= 1;
SELECT * FROM (
  SELECT *, ROW_NUMBER() OVER (ORDER BY n DESC, a DESC) AS rn
  FROM (SELECT shop, AVG(amount) AS a, COUNT(*) AS n FROM visits GROUP BY shop)
) WHERE rn <= 2;
SELECT * FROM (
  SELECT *, ROW_NUMBER() OVER (ORDER BY c DESC) AS rn
  FROM (SELECT n, COUNT(*) AS c FROM (SELECT shop, COUNT(*) AS n FROM visits GROUP BY shop) GROUP BY n)
) WHERE rn <= 2;
