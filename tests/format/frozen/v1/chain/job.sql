CREATE TABLE Bid (ts TIMESTAMP(3), auction BIGINT, bidder BIGINT, price DECIMAL(10,2), channel STRING,
  WATERMARK FOR ts AS ts - INTERVAL '1' SECOND) WITH ('connector'='filesystem','path'='bid.csv','format'='csv');
CREATE TABLE S (auction BIGINT, channel STRING, c BIGINT, s DECIMAL(38,2), m STRING)
  WITH ('connector'='filesystem','path'='out','format'='csv');
INSERT INTO S SELECT auction, channel, COUNT(*), SUM(price), MAX(channel) FROM TABLE(TUMBLE(TABLE Bid, DESCRIPTOR(ts), INTERVAL '1' HOUR))
  GROUP BY window_start, window_end, auction, channel;
