CREATE TABLE t (ts TIMESTAMP(3), k STRING, v INT, WATERMARK FOR ts AS ts) WITH ('connector'='filesystem','path'='t.csv','format'='csv');
SET 'table.exec.state.ttl' = '1 h';
SELECT window_start, COUNT(*) FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE) GROUP BY window_start, window_end;
SET 'table.exec.state.ttl' = '0 ms';
SELECT k, COUNT(*) FROM t GROUP BY k;
