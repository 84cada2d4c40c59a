SET 'execution.runtime-mode' = 'batch';
CREATE TABLE t (ts TIMESTAMP(3), k STRING, v INT, WATERMARK FOR ts AS ts) WITH ('connector'='filesystem','path'='t.csv','format'='csv');
SELECT k, MAX(DISTINCT v) AS n FROM t GROUP BY k, TUMBLE(ts, INTERVAL '1' MINUTE);
