CREATE TABLE Bid (ts TIMESTAMP(3), auction BIGINT, price DECIMAL(10,2),
  WATERMARK FOR ts AS ts - INTERVAL '1' SECOND) WITH ('connector'='filesystem','path'='keys.csv','format'='csv');
CREATE TABLE Sums (ws TIMESTAMP(3), we TIMESTAMP(3), auction BIGINT, c BIGINT, s DECIMAL(38,2))
  WITH ('connector'='filesystem','path'='out','format'='csv');
INSERT INTO Sums SELECT window_start, window_end, auction, COUNT(*), SUM(price)
  FROM TABLE(TUMBLE(TABLE Bid, DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY window_start, window_end, auction;
