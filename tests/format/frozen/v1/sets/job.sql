CREATE TABLE Bid (ts TIMESTAMP(3), auction BIGINT, bidder BIGINT, price DECIMAL(10,2), channel STRING,
  WATERMARK FOR ts AS ts - INTERVAL '1' SECOND) WITH ('connector'='filesystem','path'='bid.csv','format'='csv');
CREATE TABLE Chan (channel STRING, ws TIMESTAMP(3), d BIGINT, l STRING) PARTITIONED BY (channel)
  WITH ('connector'='filesystem','path'='out/chan','format'='csv','sink.partition-commit.policy.kind'='success-file');
CREATE TABLE Best (auction BIGINT, price DECIMAL(10,2), bidder BIGINT, rk BIGINT) WITH ('connector'='filesystem','path'='out/deep/best','format'='json');
CREATE TABLE Sess (bidder BIGINT, ws TIMESTAMP(3), we TIMESTAMP(3), c BIGINT, a DOUBLE) WITH ('connector'='filesystem','path'='out/sess','format'='csv');
EXECUTE STATEMENT SET BEGIN
INSERT INTO Chan SELECT channel, window_start, COUNT(DISTINCT bidder), LISTAGG(CAST(price AS STRING))
  FROM TABLE(TUMBLE(TABLE Bid, DESCRIPTOR(ts), INTERVAL '30' SECOND)) GROUP BY window_start, window_end, channel;
INSERT INTO Best SELECT auction, price, bidder, rk FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, auction
    ORDER BY price DESC) AS rk FROM TABLE(TUMBLE(TABLE Bid, DESCRIPTOR(ts), INTERVAL '1' HOUR))) WHERE rk <= 2;
INSERT INTO Sess SELECT bidder, window_start, window_end, COUNT(*), AVG(CAST(price AS DOUBLE))
  FROM TABLE(SESSION(TABLE Bid PARTITION BY bidder, DESCRIPTOR(ts), INTERVAL '3' SECOND)) GROUP BY bidder, window_start, window_end;
END;
