// Scripts and the plans they become: what is recognised as a window operation, what is folded, pruned and merged.
#include "bind_tests.h"
#include "bind_text.h"

#include <check.h>
#include <string.h>

static const struct plan_case {
    const char *name, *script, *plan;
} cases[] = {
    // clang-format off
    {"an inner join by equal columns, filters pushed down",
     "SELECT a.id, b.v FROM t a JOIN t b ON a.k = b.k WHERE a.v > 1 AND b.id < 5 AND a.id <> b.id",
     "sink-1\n"
     "  calc-3 [id, v]\n"
     "    join-1 inner k=k on <>(id, id)\n"
     "      calc-1 where >(v, 1) [id, k]\n"
     "        scan-1 t reads=id,k,v,ts [id, k, v, ts] time=ts watermark=-(ts, 1000)\n"
     "      calc-2 where <(id, 5) [id, k, v]\n"
     "        scan-2 t reads=id,k,v,ts [id, k, v, ts] time=ts watermark=-(ts, 1000)\n"},
    {"a comparison of other types is computed below", "SELECT a.id FROM t a JOIN t b ON a.v = b.w",
     "sink-1\n"
     "  calc-2 [id]\n"
     "    join-1 inner $k0=w\n"
     "      calc-1 [id, CAST(v):DOUBLE]\n"
     "        scan-1 t reads=id,v,ts [id, v, ts] time=ts watermark=-(ts, 1000)\n"
     "      scan-2 t reads=w,ts [w, ts] time=ts watermark=-(ts, 1000)\n"},
    {"a filter makes an outer join an inner one", "SELECT a.id FROM t a LEFT JOIN t b ON a.k = b.k WHERE b.v > 1",
     "sink-1\n"
     "  calc-2 [id]\n"
     "    join-1 inner k=k\n"
     "      scan-1 t reads=id,k,ts [id, k, ts] time=ts watermark=-(ts, 1000)\n"
     "      calc-1 where >(v, 1) [k]\n"
     "        scan-2 t reads=k,v,ts [k, v, ts] time=ts watermark=-(ts, 1000)\n"},
    {"a window join",
     "SELECT a.id, b.id FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE) a LEFT JOIN TUMBLE(TABLE t, "
     "DESCRIPTOR(ts), INTERVAL '1' MINUTE) b ON a.k = b.k AND a.window_start = b.window_start AND a.window_end = "
     "b.window_end AND a.v > b.v",
     "sink-1\n"
     "  calc-1 [id, id]\n"
     "    window-join-1 left k=k on >(v, v)\n"
     "      window-tvf-1 TUMBLE(ts, 60000)\n"
     "        scan-1 t reads=id,k,v,ts [id, k, v, ts] time=ts watermark=-(ts, 1000)\n"
     "      window-tvf-2 TUMBLE(ts, 60000)\n"
     "        scan-2 t reads=id,k,v,ts [id, k, v, ts] time=ts watermark=-(ts, 1000)\n"},
    {"an interval join",
     "SELECT a.id FROM t a, t b WHERE a.k = b.k AND a.ts BETWEEN b.ts - INTERVAL '1' MINUTE AND b.ts + INTERVAL '2' SECOND",
     "sink-1\n"
     "  calc-1 [id]\n"
     "    join-1 inner k=k interval ts,ts -60000..2000\n"
     "      scan-1 t reads=id,k,ts [id, k, ts] time=ts watermark=-(ts, 1000)\n"
     "      scan-2 t reads=k,ts [k, ts] time=ts watermark=-(ts, 1000)\n"},
    {"EXISTS and NOT IN", "SELECT id FROM t WHERE EXISTS (SELECT 1 FROM t u WHERE u.k = t.k AND u.v > 3) AND k NOT IN (SELECT g FROM t)",
     "sink-1 updates\n"
     "  calc-4 [id] updates\n"
     "    join-2 anti on OR(OR(=(k, g), IS NULL(k)), IS NULL(g)) updates\n"
     "      calc-2 [id, k]\n"
     "        join-1 semi k=$c0\n"
     "          scan-1 t reads=id,k,ts [id, k, ts] time=ts watermark=-(ts, 1000)\n"
     "          calc-1 where >(v, 3) [k]\n"
     "            scan-2 t reads=k,v,ts [k, v, ts] time=ts watermark=-(ts, 1000)\n"
     "      calc-3 [g]\n"
     "        scan-3 t reads=g,ts [g, ts] time=ts watermark=-(ts, 1000)\n"},
    {"a correlated count", "SELECT id, (SELECT COUNT(*) FROM t u WHERE u.k = t.g) AS n FROM t",
     "sink-1 updates\n"
     "  calc-2 [id, COALESCE(EXPR$0, 0)] updates\n"
     "    join-1 left g=$c0 updates\n"
     "      scan-1 t reads=id,g,ts [id, g, ts] time=ts watermark=-(ts, 1000)\n"
     "      calc-1 [COUNT(*), k] updates\n"
     "        group-aggregate-1 keys=k COUNT(*) updates\n"
     "          scan-2 t reads=k,ts [k, ts] time=ts watermark=-(ts, 1000)\n"},
    {"a correlated value without equality", "SELECT id, (SELECT MAX(v) FROM t u WHERE u.id < t.id) AS n FROM t",
     "sink-1 updates\n"
     "  calc-2 [id, EXPR$0] updates\n"
     "    join-2 left id=$c0 updates\n"
     "      scan-1 t reads=id,ts [id, ts] time=ts watermark=-(ts, 1000)\n"
     "      calc-1 [MAX(v), id] updates\n"
     "        group-aggregate-2 keys=id MAX(v) updates\n"
     "          join-1 inner on <(id, id)\n"
     "            scan-2 t reads=id,v,ts [id, v, ts] time=ts watermark=-(ts, 1000)\n"
     "            group-aggregate-1 keys=id\n"
     "              scan-3 t reads=id,ts [id, ts] time=ts watermark=-(ts, 1000)\n"},
    {"OVER along time", "SELECT id, SUM(v) OVER w AS s, COUNT(*) OVER w AS n FROM t WINDOW w AS (PARTITION BY k ORDER BY ts ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)",
     "sink-1\n"
     "  calc-1 [id, SUM(v) OVER w, COUNT(*) OVER w]\n"
     "    over-aggregate-1 partition=k order=ts rows 2 preceding SUM(v) OVER w COUNT(*) OVER w\n"
     "      scan-1 t reads=id,k,v,ts [id, k, v, ts] time=ts watermark=-(ts, 1000)\n"},
    {"OVER and RANK over a range", "SELECT id, RANK() OVER (ORDER BY ts), LAG(v, 2, 0) OVER (ORDER BY ts) FROM t",
     "sink-1\n"
     "  calc-1 [id, $rank, COALESCE(LAG(v, 2, 0) OVER (ORDER BY ts), -1)]\n"
     "    over-aggregate-1 order=ts range RANK() LAG(v, 2, 0) OVER (ORDER BY ts)\n"
     "      scan-1 t reads=id,v,ts [id, v, ts] time=ts watermark=-(ts, 1000)\n"},
    {"row numbers by value", "SELECT id, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v) FROM t",
     "sink-1 updates\n"
     "  calc-1 [id, $rank] updates\n"
     "    over-aggregate-1 partition=k order=v rows ROW_NUMBER() updates\n"
     "      scan-1 t reads=id,k,v,ts [id, k, v, ts] time=ts watermark=-(ts, 1000)\n"},
    {"two windows in batch mode", "SET 'execution.runtime-mode' = 'batch'; SELECT id, SUM(v) OVER (ORDER BY id), COUNT(*) OVER () FROM t",
     "sink-1\n"
     "  calc-1 [id, SUM(v) OVER (ORDER BY id), COUNT(*) OVER ()]\n"
     "    over-aggregate-2 range COUNT(*) OVER ()\n"
     "      over-aggregate-1 order=id range SUM(v) OVER (ORDER BY id)\n"
     "        scan-1 t reads=id,v [id, v]\n"},
    {"the first rows of a stream", "SELECT id, v AS x FROM t ORDER BY x + 1 DESC LIMIT 3 OFFSET 1",
     "sink-1 updates\n"
     "  calc-2 [id, x] updates\n"
     "    rank-1 order=$s2 desc 2..4 updates\n"
     "      calc-1 [id, v, +(v, 1)]\n"
     "        scan-1 t reads=id,v,ts [id, v, ts] time=ts watermark=-(ts, 1000)\n"},
    {"any rows of a stream", "SELECT id FROM t LIMIT 2",
     "sink-1\n"
     "  calc-1 [id]\n"
     "    rank-1 order= 1..2\n"
     "      scan-1 t reads=id,ts [id, ts] time=ts watermark=-(ts, 1000)\n"},
    {"sorted by time", "SELECT id, ts FROM t ORDER BY ts, id DESC",
     "sink-1\n"
     "  sort-1 order=ts,id desc\n"
     "    scan-1 t reads=id,ts [id, ts] time=ts watermark=-(ts, 1000)\n"},
    {"sorted in batch mode by what is not selected", "SET 'execution.runtime-mode' = 'batch'; SELECT k FROM t GROUP BY k ORDER BY COUNT(*), 1",
     "sink-1\n"
     "  calc-1 [k]\n"
     "    sort-1 order=COUNT(*),k\n"
     "      group-aggregate-1 keys=k COUNT(*)\n"
     "        scan-1 t reads=k [k]\n"},
    {"EXCEPT", "SELECT k FROM t EXCEPT SELECT g FROM t",
     "sink-1 updates\n"
     "  group-aggregate-1 keys=k updates\n"
     "    join-1 anti $k0=$k0 $k1=$k1 updates\n"
     "      calc-1 [k, IS NULL(k), COALESCE(k, '')]\n"
     "        scan-1 t reads=k,ts [k, ts] time=ts watermark=-(ts, 1000)\n"
     "      calc-2 [IS NULL(g), COALESCE(g, '')]\n"
     "        scan-2 t reads=g,ts [g, ts] time=ts watermark=-(ts, 1000)\n"},
    {"INTERSECT ALL", "SELECT k FROM t INTERSECT ALL SELECT g FROM t",
     "sink-1\n"
     "  calc-3 [k]\n"
     "    join-1 semi $k0=$k0 $k1=$k1 $n=$n\n"
     "      calc-1 [k, $n, IS NULL(k), COALESCE(k, '')]\n"
     "        rank-1 partition=k order= 1..2305843009213693951 rank\n"
     "          scan-1 t reads=k,ts [k, ts] time=ts watermark=-(ts, 1000)\n"
     "      calc-2 [$n, IS NULL(g), COALESCE(g, '')]\n"
     "        rank-2 partition=g order= 1..2305843009213693951 rank\n"
     "          scan-2 t reads=g,ts [g, ts] time=ts watermark=-(ts, 1000)\n"},
    {"columns and a filter",
     "SELECT id, v + 1 AS x FROM t WHERE k = 'a'",
     "sink-1\n"
     "  calc-1 where =(k, 'a') [id, +(v, 1)]\n"
     "    scan-1 t reads=id,k,v,ts [id, k, v, ts] time=ts watermark=-(ts, 1000)\n"},
    {"only what is read is parsed",
     "SELECT k FROM (SELECT * FROM t)",
     "sink-1\n"
     "  calc-1 [k]\n"
     "    scan-1 t reads=k,ts [k, ts] time=ts watermark=-(ts, 1000)\n"},
    {"counting rows reads the time column only",
     "SELECT COUNT(*) FROM t",
     "sink-1 updates\n"
     "  group-aggregate-1 COUNT(*) updates\n"
     "    scan-1 t reads=ts [ts] time=ts watermark=-(ts, 1000)\n"},
    {"views and WITH are put in place",
     "CREATE VIEW a AS SELECT id, k AS key1, ts FROM t; WITH b (x, y) AS (SELECT id, key1 FROM "
     "a) SELECT y FROM b WHERE x > 1",
     "sink-1\n"
     "  calc-1 where >(id, 1) [k]\n"
     "    scan-1 t reads=id,k,ts [id, k, ts] time=ts watermark=-(ts, 1000)\n"},
    {"a window function alone",
     "SELECT id, window_start FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' MINUTE)",
     "sink-1\n"
     "  calc-1 [id, window_start]\n"
     "    window-tvf-1 TUMBLE(ts, 600000)\n"
     "      scan-1 t reads=id,ts [id, ts] time=ts watermark=-(ts, 1000)\n"},
    {"folded into its aggregation",
     "SELECT window_start, k, COUNT(*), SUM(v) FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL "
     "'10' MINUTE) GROUP BY window_start, window_end, k",
     "sink-1\n"
     "  calc-1 [window_start, k, COUNT(*), SUM(v)]\n"
     "    window-aggregate-1 TUMBLE(ts, 600000) keys=k COUNT(*) SUM(v) start\n"
     "      scan-1 t reads=k,v,ts [k, v, ts] time=ts watermark=-(ts, 1000)\n"},
    {"renamed window columns",
     "SELECT s, COUNT(*) FROM (SELECT window_start AS s, window_end AS e, k FROM TUMBLE(TABLE "
     "t, DESCRIPTOR(ts), INTERVAL '10' MINUTE)) GROUP BY e, k, s",
     "sink-1\n"
     "  calc-1 [window_start, COUNT(*)]\n"
     "    window-aggregate-1 TUMBLE(ts, 600000) keys=k COUNT(*) start\n"
     "      scan-1 t reads=k,ts [k, ts] time=ts watermark=-(ts, 1000)\n"},
    {"a filter below stays below",
     "SELECT window_start, COUNT(*) FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' MINUTE) "
     "WHERE v > 3 GROUP BY window_start, window_end",
     "sink-1\n"
     "  calc-2 [window_start, COUNT(*)]\n"
     "    window-aggregate-1 TUMBLE(ts, 600000) COUNT(*) start\n"
     "      calc-1 where >(v, 3) [ts]\n"
     "        scan-1 t reads=v,ts [v, ts] time=ts watermark=-(ts, 1000)\n"},
    {"a filter on a window column keeps the function",
     "SELECT COUNT(*) FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' MINUTE) WHERE "
     "window_end > TIMESTAMP '2024-01-01 00:00:00' GROUP BY window_start, window_end",
     "sink-1\n"
     "  window-aggregate-1 TUMBLE(600000) attached COUNT(*)\n"
     "    calc-1 where >(window_end, 1704067200000) [window_start, window_end]\n"
     "      window-tvf-1 TUMBLE(ts, 600000)\n"
     "        scan-1 t reads=ts [ts] time=ts watermark=-(ts, 1000)\n"},
    {"keys in GROUP BY order",
     "SELECT g, k, COUNT(*) FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' MINUTE) GROUP "
     "BY k, window_end, g, window_start",
     "sink-1\n"
     "  calc-1 [g, k, COUNT(*)]\n"
     "    window-aggregate-1 TUMBLE(ts, 600000) keys=k,g COUNT(*)\n"
     "      scan-1 t reads=k,g,ts [k, g, ts] time=ts watermark=-(ts, 1000)\n"},
    {"an aggregate of a window column",
     "SELECT MIN(window_start) FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' MINUTE) "
     "GROUP BY window_start, window_end",
     "sink-1\n"
     "  window-aggregate-1 TUMBLE(600000) attached MIN(window_start)\n"
     "    window-tvf-1 TUMBLE(ts, 600000)\n"
     "      scan-1 t reads=ts [ts] time=ts watermark=-(ts, 1000)\n"},
    {"distinct window columns",
     "SELECT DISTINCT window_start, window_end, k FROM TUMBLE(TABLE t, DESCRIPTOR(ts), "
     "INTERVAL '10' MINUTE)",
     "sink-1\n"
     "  calc-1 [window_start, window_end, k]\n"
     "    window-aggregate-1 TUMBLE(ts, 600000) keys=k start end\n"
     "      scan-1 t reads=k,ts [k, ts] time=ts watermark=-(ts, 1000)\n"},
    {"one aggregate for two spellings",
     "SELECT SUM(v), sum( v ) + 1, COUNT(1) FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' "
     "MINUTE) GROUP BY window_start, window_end",
     "sink-1\n"
     "  calc-1 [SUM(v), +(SUM(v), 1), COUNT(1)]\n"
     "    window-aggregate-1 TUMBLE(ts, 600000) SUM(v) COUNT(1)\n"
     "      scan-1 t reads=v,ts [v, ts] time=ts watermark=-(ts, 1000)\n"},
    {"unneeded aggregates go",
     "SELECT s FROM (SELECT window_start, SUM(v) AS s, COUNT(DISTINCT k) AS d FROM "
     "TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' MINUTE) GROUP BY window_start, window_end)",
     "sink-1\n"
     "  window-aggregate-1 TUMBLE(ts, 600000) SUM(v)\n"
     "    scan-1 t reads=v,ts [v, ts] time=ts watermark=-(ts, 1000)\n"},
    {"a window column forgotten",
     "SELECT window_start, COUNT(*) FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' MINUTE) "
     "GROUP BY window_start",
     "WARNING 2:90 this GROUP BY over window rows does not group by window_end: it runs over all of the stream and updates its results | GROUP BY window_start, window_end makes it a window aggregation with final results\n"
     "sink-1 updates\n"
     "  group-aggregate-1 keys=window_start COUNT(*) updates\n"
     "    window-tvf-1 TUMBLE(ts, 600000)\n"
     "      scan-1 t reads=ts [ts] time=ts watermark=-(ts, 1000)\n"},
    {"grouping sets",
     "SELECT k, g, COUNT(*), GROUPING(k) FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' "
     "MINUTE) GROUP BY window_start, window_end, GROUPING SETS ((k), (g), ())",
     "sink-1\n"
     "  calc-1 [k, g, COUNT(*), CASE(=($e, 0), 0, =($e, 1), 1, 1)]\n"
     "    window-aggregate-1 TUMBLE(ts, 600000) keys=k,g,$e COUNT(*)\n"
     "      expand-1 [k, NULL, 0, ts] [NULL, g, 1, ts] [NULL, NULL, 2, ts]\n"
     "        scan-1 t reads=k,g,ts [k, g, ts] time=ts watermark=-(ts, 1000)\n"},
    {"rollup",
     "SELECT k, g, SUM(v) FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' MINUTE) GROUP BY "
     "window_start, window_end, ROLLUP (k, g)",
     "sink-1\n"
     "  calc-1 [k, g, SUM(v)]\n"
     "    window-aggregate-1 TUMBLE(ts, 600000) keys=k,g,$e SUM(v)\n"
     "      expand-1 [k, g, v, 0, ts] [k, NULL, v, 1, ts] [NULL, NULL, v, 2, ts]\n"
     "        scan-1 t reads=k,g,v,ts [k, g, v, ts] time=ts watermark=-(ts, 1000)\n"},
    {"hop, cumulate, offset",
     "SELECT COUNT(*) FROM HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '5' MINUTE, INTERVAL '10' "
     "MINUTE, INTERVAL '1' MINUTE) GROUP BY window_start, window_end; SELECT COUNT(*) FROM "
     "CUMULATE(DATA => TABLE t, TIMECOL => DESCRIPTOR(ts), STEP => INTERVAL '5' MINUTE, SIZE "
     "=> INTERVAL '10' MINUTE) GROUP BY window_start, window_end",
     "sink-1\n"
     "  window-aggregate-1 HOP(ts, 300000, 600000, offset 60000) COUNT(*)\n"
     "    scan-1 t reads=ts [ts] time=ts watermark=-(ts, 1000)\n"
     "sink-1\n"
     "  window-aggregate-1 CUMULATE(ts, 300000, 600000) COUNT(*)\n"
     "    scan-1 t reads=ts [ts] time=ts watermark=-(ts, 1000)\n"},
    {"sessions with their keys",
     "SELECT k, COUNT(*) FROM SESSION(TABLE t PARTITION BY k, DESCRIPTOR(ts), INTERVAL '1' "
     "MINUTE) GROUP BY k, window_start, window_end",
     "sink-1\n"
     "  window-aggregate-1 SESSION(ts, 60000) partition=k keys=k COUNT(*)\n"
     "    scan-1 t reads=k,ts [k, ts] time=ts watermark=-(ts, 1000)\n"},
    {"sessions with other keys",
     "SELECT COUNT(*) FROM SESSION(TABLE t PARTITION BY k, DESCRIPTOR(ts), INTERVAL '1' "
     "MINUTE) GROUP BY window_start, window_end",
     "WARNING 2:91 the keys of this GROUP BY are not the PARTITION BY keys of its SESSION: it runs over all of the stream and updates its results | group by window_start, window_end and exactly the session's keys\n"
     "sink-1 updates\n"
     "  calc-1 [COUNT(*)] updates\n"
     "    group-aggregate-1 keys=window_start,window_end COUNT(*) updates\n"
     "      window-tvf-1 SESSION(ts, 60000) partition=k\n"
     "        scan-1 t reads=k,ts [k, ts] time=ts watermark=-(ts, 1000)\n"},
    {"a filter between a session and its aggregation goes below both",
     "SELECT COUNT(*) FROM SESSION(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE) WHERE v > 1 "
     "GROUP BY window_start, window_end",
     "sink-1\n"
     "  window-aggregate-1 SESSION(ts, 60000) COUNT(*)\n"
     "    calc-1 where >(v, 1) [ts]\n"
     "      scan-1 t reads=v,ts [v, ts] time=ts watermark=-(ts, 1000)\n"},
    {"the same windows again",
     "SELECT window_start, MAX(n) FROM (SELECT window_start, window_end, k, COUNT(*) AS n FROM "
     "TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' MINUTE) GROUP BY window_start, window_end, "
     "k) GROUP BY window_start, window_end",
     "sink-1\n"
     "  calc-1 [window_start, MAX(n)]\n"
     "    window-aggregate-2 TUMBLE(600000) attached MAX(n) start\n"
     "      window-aggregate-1 TUMBLE(ts, 600000) keys=k COUNT(*) start end\n"
     "        scan-1 t reads=k,ts [k, ts] time=ts watermark=-(ts, 1000)\n"},
    {"cascade",
     "SELECT window_start, SUM(n) FROM TUMBLE((SELECT window_time AS rt, COUNT(*) AS n FROM "
     "TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' MINUTE) GROUP BY window_start, window_end, "
     "window_time), DESCRIPTOR(rt), INTERVAL '1' HOUR) GROUP BY window_start, window_end",
     "sink-1\n"
     "  calc-1 [window_start, SUM(n)]\n"
     "    window-aggregate-2 TUMBLE(window_time, 3600000) SUM(n) start\n"
     "      window-aggregate-1 TUMBLE(ts, 600000) COUNT(*) time\n"
     "        scan-1 t reads=ts [ts] time=ts watermark=-(ts, 1000)\n"},
    {"a group window",
     "SELECT TUMBLE_START(ts, INTERVAL '1' MINUTE), k, COUNT(*) FROM t GROUP BY TUMBLE(ts, "
     "INTERVAL '1' MINUTE), k",
     "sink-1\n"
     "  calc-1 [w$start, k, COUNT(*)]\n"
     "    window-aggregate-1 TUMBLE(ts, 60000) legacy keys=k COUNT(*) start\n"
     "      scan-1 t reads=k,ts [k, ts] time=ts watermark=-(ts, 1000)\n"},
    {"auxiliaries in another spelling",
     "SELECT SESSION_END(t.ts, INTERVAL '60' SECOND), COUNT(*) FROM t GROUP BY SESSION(ts, "
     "INTERVAL '1' MINUTE), k",
     "sink-1\n"
     "  calc-1 [w$end, COUNT(*)]\n"
     "    window-aggregate-1 SESSION(ts, 60000) partition=k legacy keys=k COUNT(*) end\n"
     "      scan-1 t reads=k,ts [k, ts] time=ts watermark=-(ts, 1000)\n"},
    {"Window Top-N",
     "SELECT * FROM (SELECT id, v, window_start, ROW_NUMBER() OVER (PARTITION BY window_start, "
     "window_end, k ORDER BY v DESC, id) AS rn FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL "
     "'10' MINUTE)) WHERE rn <= 3",
     "sink-1\n"
     "  calc-1 [id, v, window_start, $rank]\n"
     "    window-rank-1 window=window_start,window_end partition=k order=v desc,id 1..3 rank\n"
     "      window-tvf-1 TUMBLE(ts, 600000)\n"
     "        scan-1 t reads=id,k,v,ts [id, k, v, ts] time=ts watermark=-(ts, 1000)\n"},
    {"a rank that nobody reads",
     "SELECT id FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER "
     "BY v) AS rn FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' MINUTE)) WHERE rn < 3",
     "sink-1\n"
     "  calc-1 [id]\n"
     "    window-rank-1 window=window_start,window_end order=v 1..2\n"
     "      window-tvf-1 TUMBLE(ts, 600000)\n"
     "        scan-1 t reads=id,v,ts [id, v, ts] time=ts watermark=-(ts, 1000)\n"},
    {"above an aggregation",
     "SELECT k, s FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_end, window_start "
     "ORDER BY s DESC) AS rn FROM (SELECT k, SUM(v) AS s, window_start, window_end FROM "
     "TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' MINUTE) GROUP BY k, window_start, "
     "window_end)) WHERE rn <= 3",
     "sink-1\n"
     "  calc-1 [k, SUM(v)]\n"
     "    window-rank-1 window=window_start,window_end order=SUM(v) desc 1..3 above-aggregate\n"
     "      window-aggregate-1 TUMBLE(ts, 600000) keys=k SUM(v) start end\n"
     "        scan-1 t reads=k,v,ts [k, v, ts] time=ts watermark=-(ts, 1000)\n"},
    {"conditions beside the rank",
     "SELECT id FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER "
     "BY v) AS rn FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' MINUTE)) WHERE 3 >= rn "
     "AND k = 'a' AND rn > 1",
     "sink-1\n"
     "  calc-1 where =(k, 'a') [id]\n"
     "    window-rank-1 window=window_start,window_end order=v 2..3\n"
     "      window-tvf-1 TUMBLE(ts, 600000)\n"
     "        scan-1 t reads=id,k,v,ts [id, k, v, ts] time=ts watermark=-(ts, 1000)\n"},
    {"NOT, BETWEEN, strings",
     "SELECT id FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER "
     "BY v) AS rn FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' MINUTE)) WHERE NOT (rn > "
     "4) AND rn BETWEEN 2 AND 9 AND rn <= '7'",
     "sink-1\n"
     "  calc-1 [id]\n"
     "    window-rank-1 window=window_start,window_end order=v 2..4\n"
     "      window-tvf-1 TUMBLE(ts, 600000)\n"
     "        scan-1 t reads=id,v,ts [id, v, ts] time=ts watermark=-(ts, 1000)\n"},
    {"QUALIFY",
     "SELECT id, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY v) AS rn "
     "FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' MINUTE) QUALIFY rn = 2",
     "sink-1\n"
     "  calc-1 [id, $rank]\n"
     "    window-rank-1 window=window_start,window_end order=v 2..2 rank\n"
     "      window-tvf-1 TUMBLE(ts, 600000)\n"
     "        scan-1 t reads=id,v,ts [id, v, ts] time=ts watermark=-(ts, 1000)\n"},
    {"deduplication",
     "SELECT id FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, k "
     "ORDER BY ts DESC) AS rn FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' MINUTE)) "
     "WHERE rn = 1",
     "sink-1\n"
     "  calc-1 [id]\n"
     "    window-rank-1 window=window_start,window_end partition=k order=ts desc 1..1 deduplicate ties-last\n"
     "      window-tvf-1 TUMBLE(ts, 600000)\n"
     "        scan-1 t reads=id,k,ts [id, k, ts] time=ts watermark=-(ts, 1000)\n"},
    {"regular Top-N",
     "SELECT * FROM (SELECT k, v, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC) AS rn "
     "FROM t) WHERE rn <= 2",
     "sink-1 updates\n"
     "  calc-1 [k, v, $rank] updates\n"
     "    rank-1 partition=k order=v desc 1..2 rank updates\n"
     "      scan-1 t reads=k,v,ts [k, v, ts] time=ts watermark=-(ts, 1000)\n"},
    {"Top-N of an updating input",
     "SELECT k FROM (SELECT k, n, ROW_NUMBER() OVER (ORDER BY n DESC) AS rn FROM (SELECT k, "
     "COUNT(*) AS n FROM t GROUP BY k)) WHERE rn <= 2",
     "sink-1 updates\n"
     "  calc-1 [k] updates\n"
     "    rank-1 order=COUNT(*) desc 1..2 unique=k updates\n"
     "      group-aggregate-1 keys=k COUNT(*) updates\n"
     "        scan-1 t reads=k,ts [k, ts] time=ts watermark=-(ts, 1000)\n"},
    {"a forgotten window column in a Top-N",
     "SELECT id FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start ORDER BY v) AS rn "
     "FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' MINUTE)) WHERE rn <= 3",
     "WARNING 2:27 this Top-N over window rows does not partition by window_end: it ranks all windows together and updates its results | PARTITION BY window_start, window_end makes it a Window Top-N with final results\n"
     "sink-1 updates\n"
     "  calc-1 [id] updates\n"
     "    rank-1 partition=window_start order=v 1..3 updates\n"
     "      window-tvf-1 TUMBLE(ts, 600000)\n"
     "        scan-1 t reads=id,v,ts [id, v, ts] time=ts watermark=-(ts, 1000)\n"},
    {"ranks over aggregates of the same query",
     "SELECT * FROM (SELECT k, SUM(v) AS s, ROW_NUMBER() OVER (PARTITION BY window_start, "
     "window_end ORDER BY SUM(v) DESC) AS rn FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL "
     "'10' MINUTE) GROUP BY window_start, window_end, k) WHERE rn <= 2",
     "sink-1\n"
     "  calc-1 [k, SUM(v), $rank]\n"
     "    window-rank-1 window=window_start,window_end order=SUM(v) desc 1..2 rank above-aggregate\n"
     "      window-aggregate-1 TUMBLE(ts, 600000) keys=k SUM(v) start end\n"
     "        scan-1 t reads=k,v,ts [k, v, ts] time=ts watermark=-(ts, 1000)\n"},
    {"HAVING",
     "SELECT k FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' MINUTE) GROUP BY "
     "window_start, window_end, k HAVING COUNT(*) > 1",
     "sink-1\n"
     "  calc-1 where >(COUNT(*), 1) [k]\n"
     "    window-aggregate-1 TUMBLE(ts, 600000) keys=k COUNT(*)\n"
     "      scan-1 t reads=k,ts [k, ts] time=ts watermark=-(ts, 1000)\n"},
    {"unions",
     "SELECT COUNT(*) FROM TUMBLE((SELECT ts, v FROM t UNION ALL SELECT ts, id FROM t WHERE id "
     "> 3), DESCRIPTOR(ts), INTERVAL '1' MINUTE) GROUP BY window_start, window_end",
     "sink-1\n"
     "  window-aggregate-1 TUMBLE(ts, 60000) COUNT(*)\n"
     "    union-1\n"
     "      scan-1 t reads=ts [ts] time=ts watermark=-(ts, 1000)\n"
     "      calc-1 where >(id, 3) [ts]\n"
     "        scan-2 t reads=id,ts [id, ts] time=ts watermark=-(ts, 1000)\n"},
    {"values",
     "SELECT a FROM (VALUES (1, 'x'), (2, 'yy')) AS t2 (a, b)",
     "sink-1\n"
     "  values-1 2 rows\n"},
    {"insert with casts and missing columns",
     "CREATE TABLE s (a BIGINT, b STRING, c DOUBLE) WITH ('connector' = 'blackhole'); INSERT "
     "INTO s (c, a) SELECT v, id FROM t",
     "sink-1 s\n"
     "  calc-1 [CAST(id):BIGINT, NULL, CAST(v):DOUBLE]\n"
     "    scan-1 t reads=id,v,ts [id, v, ts] time=ts watermark=-(ts, 1000)\n"},
    {"a statement set",
     "CREATE TABLE s (a INT) WITH ('connector' = 'blackhole'); EXECUTE STATEMENT SET BEGIN "
     "INSERT INTO s SELECT id FROM t; INSERT INTO s SELECT v FROM t WHERE v > 1; END",
     "sink-1 s\n"
     "  calc-1 [id]\n"
     "    scan-1 t reads=id,ts [id, ts] time=ts watermark=-(ts, 1000)\n"
     "sink-2 s\n"
     "  calc-2 where >(v, 1) [v]\n"
     "    scan-2 t reads=v,ts [v, ts] time=ts watermark=-(ts, 1000)\n"},
    {"uid",
     "-- uid: top\nSELECT id FROM t WHERE v > 1",
     "top-sink\n"
     "  top-calc where >(v, 1) [id]\n"
     "    top-scan t reads=id,v,ts [id, v, ts] time=ts watermark=-(ts, 1000)\n"},
    {"computed columns and their watermark",
     "CREATE TABLE c (d STRING, n INT, ts AS CAST(d AS TIMESTAMP(3)), WATERMARK FOR ts AS ts - "
     "INTERVAL '5' SECOND) WITH ('connector' = 'filesystem'); SELECT n FROM c",
     "sink-1\n"
     "  calc-1 [n]\n"
     "    scan-1 c reads=d,n [n, CAST(d):TIMESTAMP(3) *ROWTIME*] time=ts watermark=-(CAST(d):TIMESTAMP(3) *ROWTIME*, 5000)\n"},
    // clang-format on
};

START_TEST(scripts_become_these_plans) {
    struct strbuf out = {0};
    bind_text(cases[_i].script, false, &out);
    const char *plan = out.data == NULL ? "" : out.data;
    ck_assert_msg(strcmp(plan, cases[_i].plan) == 0, "%s\n%s\n--- is\n%s--- should be\n%s", cases[_i].name,
                  cases[_i].script, plan, cases[_i].plan);
    tide__strbuf_deinit(&out);
}
END_TEST

Suite *make_bind_plan_suite(void) {
    Suite *suite = suite_create("bind_plan");
    TCase *tcase = tcase_create("plans");
    tcase_add_loop_test(tcase, scripts_become_these_plans, 0, (int)(sizeof(cases) / sizeof(cases[0])));
    suite_add_tcase(suite, tcase);
    return suite;
}
