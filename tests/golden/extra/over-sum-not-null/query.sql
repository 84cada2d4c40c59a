
CREATE TABLE t (id INT, v INT NOT NULL, d DOUBLE NOT NULL, p DECIMAL(5,1) NOT NULL, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector'='filesystem','path'='t.csv','format'='csv');
SELECT id, AVG(v) OVER w AS a, SUM(v) OVER w AS s, VAR_POP(v) OVER w AS vp, STDDEV_SAMP(d) OVER w AS sd, AVG(p) OVER w AS ap, AVG(d) OVER w AS ad, AVG(DISTINCT v) OVER w AS dv, SUM(d) OVER w AS sdd FROM t WINDOW w AS (ORDER BY ts ROWS BETWEEN 2 PRECEDING AND CURRENT ROW);
