-- The same three suppliers as a job: its rows go to files in the folder top/ beside this script, and it can be stopped and resumed.
-- ../README.md walks through it.
CREATE TABLE Bid (
  bidtime TIMESTAMP(3),
  price DECIMAL(10, 2),
  item STRING,
  supplier_id STRING,
  WATERMARK FOR bidtime AS bidtime - INTERVAL '1' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'bid.csv', 'format' = 'csv');

CREATE TABLE Top (
  window_start TIMESTAMP(3),
  window_end TIMESTAMP(3),
  supplier_id STRING,
  price DECIMAL(38, 2),
  place BIGINT
) WITH ('connector' = 'filesystem', 'path' = 'top', 'format' = 'csv');

INSERT INTO Top
SELECT window_start, window_end, supplier_id, price, place FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY price DESC) AS place FROM (
    SELECT window_start, window_end, supplier_id, SUM(price) AS price
    FROM TABLE(TUMBLE(TABLE Bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTES))
    GROUP BY window_start, window_end, supplier_id))
WHERE place <= 3;
