SET 'execution.runtime-mode' = 'batch';
CREATE TABLE points (k STRING, v INT) WITH ('connector' = 'filesystem', 'path' = 'points.csv', 'format' = 'csv');
SELECT k, SUM(v) AS s, AVG(SUM(v)) OVER (PARTITION BY k) AS a, RANK() OVER (PARTITION BY k ORDER BY k) AS r FROM points GROUP BY k;
