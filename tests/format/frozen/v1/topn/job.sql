CREATE TABLE Bid (ts TIMESTAMP(3), auction BIGINT, bidder BIGINT, price DECIMAL(10,2), channel STRING,
  WATERMARK FOR ts AS ts - INTERVAL '1' SECOND) WITH ('connector'='filesystem','path'='bid.csv','format'='csv');
CREATE TABLE Top2 (ws TIMESTAMP(3), auction BIGINT, c BIGINT, s DECIMAL(38,2), rk BIGINT)
  WITH ('connector'='filesystem','path'='out','format'='csv');
INSERT INTO Top2 SELECT window_start, auction, c, s, rk FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY c DESC, s DESC) AS rk FROM (
    SELECT window_start, window_end, auction, COUNT(*) AS c, SUM(price) AS s
    FROM TABLE(HOP(TABLE Bid, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '20' SECOND)) GROUP BY window_start, window_end, auction)) WHERE rk <= 2;
