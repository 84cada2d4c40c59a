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

SELECT shop, COUNT(*) AS n FROM visits GROUP BY shop ORDER BY n DESC LIMIT 2;
SELECT shop, COUNT(*) AS n FROM visits GROUP BY shop ORDER BY n DESC LIMIT 2 OFFSET 1;
SELECT shop, COUNT(*) AS n FROM visits GROUP BY shop ORDER BY n LIMIT 2;
SELECT shop, COUNT(*) AS n FROM visits GROUP BY shop LIMIT 2;
