CREATE TABLE points (k STRING, v INT) WITH ('connector' = 'filesystem', 'path' = 'points.csv', 'format' = 'csv');
SELECT k, PERCENTILE(v, 0.3) AS p3, PERCENTILE(v, ARRAY[0.1, 0.6, 0.9]) AS ps FROM points GROUP BY k;
SELECT PERCENTILE(v, ARRAY[0.5, 1.5]) AS p FROM points;
