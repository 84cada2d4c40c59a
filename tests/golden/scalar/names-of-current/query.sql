CREATE VIEW clock AS SELECT a, current_date, LocalTime, CURRENT_TIMESTAMP, NOW(), CURRENT_DATE AS d FROM (VALUES (1)) AS t(a);
DESCRIBE clock;
SELECT a, Current_Date FROM (VALUES (1)) AS t(a) WHERE a > 1;
