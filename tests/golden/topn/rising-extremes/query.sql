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
  SELECT *, ROW_NUMBER() OVER (PARTITION BY city ORDER BY best DESC, shop) AS rn
  FROM (SELECT city, shop, MAX(amount) AS best FROM visits GROUP BY city, shop)
) WHERE rn <= 3;
SELECT * FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY city ORDER BY least) AS rn
  FROM (SELECT city, shop, MIN(amount) AS least FROM visits GROUP BY city, shop)
) WHERE rn <= 2;
SELECT city, shop, least FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY city ORDER BY least DESC) AS rn
  FROM (SELECT city, shop, MIN(amount) AS least FROM visits GROUP BY city, shop)
) WHERE rn <= 2;
SELECT city, n, top FROM (
  SELECT *, ROW_NUMBER() OVER (ORDER BY top DESC) AS rn
  FROM (SELECT city, COUNT(DISTINCT shop) AS n, MAX(amount) AS top FROM visits GROUP BY city)
) WHERE rn = 1;
