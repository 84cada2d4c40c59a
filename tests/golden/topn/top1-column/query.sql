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

SELECT * FROM (SELECT city, shop, amount, ROW_NUMBER() OVER (PARTITION BY city ORDER BY amount DESC) AS rn FROM visits) WHERE rn = 1;
SELECT * FROM (SELECT city, shop, amount, ROW_NUMBER() OVER (PARTITION BY city ORDER BY amount) AS rn FROM visits) WHERE rn = 1;
SELECT city, amount FROM (SELECT city, shop, amount, ROW_NUMBER() OVER (PARTITION BY city ORDER BY amount DESC) AS rn FROM visits) WHERE rn = 1;
SELECT city, amount FROM (SELECT city, shop, amount, ROW_NUMBER() OVER (PARTITION BY city ORDER BY amount DESC, shop) AS rn FROM visits) WHERE rn = 1;
SELECT shop, amount FROM visits ORDER BY amount DESC LIMIT 1;
SELECT shop, amount FROM visits ORDER BY amount LIMIT 1;
