-- Sessions of each supplier: a gap of two minutes without a bid ends one.
CREATE TABLE Bid (
  bidtime TIMESTAMP(3),
  price DECIMAL(10, 2),
  item STRING,
  supplier_id STRING,
  WATERMARK FOR bidtime AS bidtime - INTERVAL '1' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'bid.csv', 'format' = 'csv');

SELECT window_start, window_end, supplier_id, SUM(price) AS total_price, COUNT(*) AS cnt
FROM TABLE(SESSION(TABLE Bid PARTITION BY supplier_id, DESCRIPTOR(bidtime), INTERVAL '2' MINUTES))
GROUP BY window_start, window_end, supplier_id;
