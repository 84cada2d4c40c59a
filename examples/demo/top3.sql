-- The three auctions with the most bids of each minute.
CREATE TABLE Bid (
  ts TIMESTAMP(3), auction BIGINT, bidder BIGINT, price DECIMAL(10, 2), channel STRING,
  WATERMARK FOR ts AS ts - INTERVAL '1' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'bid.csv', 'format' = 'csv');

CREATE TABLE Top3 (window_start TIMESTAMP(3), window_end TIMESTAMP(3), auction BIGINT, bids BIGINT, total DECIMAL(38, 2), place BIGINT)
WITH ('connector' = 'filesystem', 'path' = 'top3', 'format' = 'csv');

INSERT INTO Top3
SELECT window_start, window_end, auction, bids, total, place FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY bids DESC, total DESC) AS place FROM (
    SELECT window_start, window_end, auction, COUNT(*) AS bids, SUM(price) AS total
    FROM TABLE(TUMBLE(TABLE Bid, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
    GROUP BY window_start, window_end, auction))
WHERE place <= 3;
