#!/usr/bin/env python3
"""Measure state that is larger than memory: is the result right, and what does it take of memory, disk and CPU.

usage: state.py [--bin PATH] [--rows N] [--dir DIR] [--threads 1,2] [--record] [KIND]...

Each kind is a job whose windows are all open at the end of the input (bench/rows.c makes it). It runs in memory, whose rows
are compared with DuckDB's, and under --memory 64MB with one thread and with two: the same rows, at most 160 MiB resident,
temporary disk of at most 3 times the encoded state (as `inspect` counts it), CPU of at most 4 times. `windows` is a job of
10,000 windows of which 2,000 are open at any time, under --memory 16MB: its last tenth costs at most 1.2 times one near the
beginning, and disk is at most twice the live state and 64 MB. --record writes the table into README.md.
"""
import argparse, hashlib, json, os, pathlib, platform, shutil, subprocess, sys, tempfile, time

from run import HERE, CACHE, MIB, RUN_SQL, measure, python_with_duckdb, size_of

TABLES = """CREATE TABLE R (ts TIMESTAMP(3), k BIGINT, v BIGINT, s STRING,
  WATERMARK FOR ts AS ts - INTERVAL '1' SECOND) WITH ('connector'='filesystem','path'='{path}','format'='csv');
CREATE TABLE O ({columns}) WITH ('connector'='filesystem','path'='out','format'='csv');
INSERT INTO O """
# A sink that takes changes; what it printed is compared. `m` holds many keys.
CHANGES = """CREATE TABLE R (ts TIMESTAMP(3), k BIGINT, v BIGINT, s STRING, p AS PROCTIME(), m AS MOD(k, 5000),
  WATERMARK FOR ts AS ts - INTERVAL '1' SECOND) WITH ('connector'='filesystem','path'='{path}','format'='csv');
CREATE TABLE O ({columns}) WITH ('connector'='print');
INSERT INTO O """
TUMBLE = "FROM TABLE(TUMBLE(TABLE R, DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY window_start, window_end"
SESSION = "TABLE(SESSION(TABLE R PARTITION BY k, DESCRIPTOR(ts), INTERVAL '2' HOUR))"

# What a job is: columns of the sink, the query, DuckDB's (over R(i, ts, k, v, s)), and (rows, keys, values) as shares of --rows.
KINDS = {
    'tumble': ('k BIGINT, c BIGINT, x BIGINT', f'SELECT k, COUNT(*), SUM(v) {TUMBLE}, k',
               'SELECT k, count(*), sum(v) FROM R GROUP BY k', (1.25, 1, 1)),
    'sequential': ('k BIGINT, c BIGINT, x DOUBLE', f'SELECT k, COUNT(*), AVG(CAST(v AS DOUBLE)) {TUMBLE}, k',
                   'SELECT k, count(*), avg(v) FROM R GROUP BY k', (1.25, 1, 1)),
    'session': ('k BIGINT, c BIGINT, x BIGINT', f'SELECT k, COUNT(*), SUM(v) FROM {SESSION} GROUP BY window_start, window_end, k',
                'SELECT k, count(*), sum(v) FROM R GROUP BY k', (1.25, 1, 1)),
    'session-tvf': ('k BIGINT, v BIGINT', f'SELECT k, v FROM {SESSION}', 'SELECT k, v FROM R', (1, 0.5, 1)),
    'distinct': ('k BIGINT, c BIGINT', f'SELECT k, COUNT(DISTINCT v) {TUMBLE}, k',
                 'SELECT k, count(DISTINCT v) FROM R GROUP BY k', (1, 0.25, 1)),
    'distinct-few': ('k BIGINT, c BIGINT', f'SELECT k, COUNT(DISTINCT s) {TUMBLE}, k',
                     'SELECT k, count(DISTINCT s) FROM R GROUP BY k', (1, 0.001, 1)),
    'distinct-one': ('c BIGINT', f'SELECT COUNT(DISTINCT v) {TUMBLE}', 'SELECT count(DISTINCT v) FROM R', (1, 0.5, 1)),
    'distinct-sum': ('c BIGINT', f'SELECT SUM(DISTINCT v) {TUMBLE}', 'SELECT sum(DISTINCT v) FROM R', (1, 0.5, 1)),
    'listagg': ('k BIGINT, x STRING', f'SELECT k, LISTAGG(s) {TUMBLE}, k',
                "SELECT k, string_agg(s, ',' ORDER BY i) FROM R GROUP BY k", (1, 0.25, 1)),
    'listagg-few': ('k BIGINT, x STRING', f'SELECT k, LISTAGG(s) {TUMBLE}, k',
                    "SELECT k, string_agg(s, ',' ORDER BY i) FROM R GROUP BY k", (1, 0.001, 1)),
    'listagg-one': ('x STRING', f'SELECT LISTAGG(s) {TUMBLE}', "SELECT string_agg(s, ',' ORDER BY i) FROM R", (1, 0.5, 1)),
    'topn': ('k BIGINT, v BIGINT, rk BIGINT', """SELECT k, v, rk FROM (SELECT *, ROW_NUMBER() OVER
  (PARTITION BY window_start, window_end, k ORDER BY v DESC, s) AS rk
  FROM TABLE(TUMBLE(TABLE R, DESCRIPTOR(ts), INTERVAL '1' HOUR))) WHERE rk <= 3""",
             """SELECT k, v, rk FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY v DESC, s, i) AS rk FROM R)
  WHERE rk <= 3""", (1, 0.25, 1)),
    'topn-one': ('v BIGINT, rk BIGINT', """SELECT v, rk FROM (SELECT *, ROW_NUMBER() OVER
  (PARTITION BY window_start, window_end ORDER BY v DESC, s) AS rk
  FROM TABLE(TUMBLE(TABLE R, DESCRIPTOR(ts), INTERVAL '1' HOUR))) WHERE rk <= 1000000""",
                 """SELECT v, rk FROM (SELECT *, row_number() OVER (ORDER BY v DESC, s, i) AS rk FROM R)
  WHERE rk <= 1000000""", (1, 0.5, 1)),
    'join': ('k BIGINT, v BIGINT, w BIGINT', 'SELECT a.k, a.v, b.v FROM R a JOIN R b ON a.k = b.k',
             'SELECT a.k, a.v, b.v FROM R a JOIN R b ON a.k = b.k', (0.5, 0.5, 1)),
    'window-join': ('k BIGINT, v BIGINT, w BIGINT', """SELECT a.k, a.v, b.v
  FROM (SELECT * FROM TABLE(TUMBLE(TABLE R, DESCRIPTOR(ts), INTERVAL '1' HOUR))) a
  JOIN (SELECT * FROM TABLE(TUMBLE(TABLE R, DESCRIPTOR(ts), INTERVAL '1' HOUR))) b
  ON a.window_start = b.window_start AND a.window_end = b.window_end AND a.k = b.k""",
                    'SELECT a.k, a.v, b.v FROM R a JOIN R b ON a.k = b.k', (0.5, 0.5, 1)),
}
WINDOWS = ('ws TIMESTAMP(3), k BIGINT, c BIGINT, x BIGINT',
           "SELECT window_start, k, COUNT(*), SUM(v) FROM TABLE(TUMBLE(TABLE R, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) "
           'GROUP BY window_start, window_end, k')
OPEN = 2000                                # of the 10,000 windows of `windows`, by a watermark that lags as many minutes


def number(order, keys, source='R'):
    return f'FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY {keys} ORDER BY {order}) AS rk FROM {source})'


# Jobs without a window, whose rows change: columns of the sink, the query, shares. state_test.py runs them.
COUNTS = '(SELECT k, m, COUNT(*) AS c FROM R GROUP BY k, m)'
UNBOUNDED = {
    'regular-topn': ('k BIGINT, v BIGINT, rk BIGINT', f'SELECT k, v, rk {number("v DESC, s", "k")} WHERE rk <= 3', (1, 0.25, 1)),
    'regular-top1': ('k BIGINT, v BIGINT', f'SELECT k, v {number("v", "k")} WHERE rk = 1', (1, 0.5, 1)),
    'last-row': ('k BIGINT, s STRING', f'SELECT k, s {number("p DESC", "k")} WHERE rk = 1', (1, 0.5, 1)),
    'first-row': ('k BIGINT, s STRING', f'SELECT k, s {number("ts", "k")} WHERE rk = 1', (1, 0.5, 1)),
    'rising-topn': ('k BIGINT, c BIGINT, rk BIGINT', f'SELECT k, c, rk {number("c DESC", "m", COUNTS)} WHERE rk <= 4', (1, 0.5, 1)),
    'changing-topn': ('k BIGINT, c BIGINT, rk BIGINT', f'SELECT k, c, rk {number("c", "m", COUNTS)} WHERE rk <= 4', (1, 0.5, 1)),
    'group': ('k BIGINT, c BIGINT, x BIGINT, d BIGINT', 'SELECT k, COUNT(*), SUM(v), COUNT(DISTINCT s) FROM R GROUP BY k', (1, 0.5, 1)),
    'over': ('k BIGINT, x BIGINT', 'SELECT k, SUM(v) OVER (PARTITION BY k ORDER BY ts) FROM R', (1, 0.5, 1)),
    'over-rows': ('k BIGINT, x BIGINT', 'SELECT k, SUM(v) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) FROM R', (1, 0.5, 1)),
    'over-range': ('k BIGINT, x BIGINT', "SELECT k, SUM(v) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '10' MINUTE PRECEDING AND CURRENT ROW) FROM R",
                   (1, 0.5, 1)),
    'lag': ('k BIGINT, x BIGINT, n BIGINT', 'SELECT k, LAG(v, 2) OVER (PARTITION BY k ORDER BY p), ROW_NUMBER() OVER (PARTITION BY k ORDER BY p) FROM R', (1, 0.5, 1)),
}


class Bench:
    def __init__(self, a):
        self.binary, self.rows, self.threads, self.table = os.path.abspath(a.bin), a.rows, a.threads, []
        self.python = python_with_duckdb()
        self.work = pathlib.Path(tempfile.mkdtemp(prefix='bench-', dir=a.dir or CACHE))
        subprocess.run(['cc', '-O2', '-o', self.work / 'rows', HERE / 'rows.c'], check=True)

    def row(self, what, value, target='', ok=None):
        self.table.append((what, value, target, {None: '', True: 'met', False: 'MISSED'}[ok]))
        print(f'{what:66} {value:>14}   {target:24} {self.table[-1][3]}', flush=True)

    def duck(self, sql):
        p = subprocess.run([self.python, '-c', RUN_SQL + 'print(r.fetchall())', "SET threads=1;SET memory_limit='6GB';" + sql],
                           cwd=self.work, capture_output=True, text=True)
        if p.returncode != 0:
            sys.exit(f'duckdb: {p.stderr.strip().splitlines()[-1]}: {sql}')
        return p.stdout.strip()

    def input(self, rows, keys, values, span):
        with open(self.work / 'rows.csv', 'wb') as f:
            subprocess.run([self.work / 'rows', *(str(max(int(x), 1)) for x in (rows, keys, values, span))], stdout=f, check=True)

    def run(self, memory, *options, script='job.sql'):
        for name in ('out', 'tmp'):
            shutil.rmtree(self.work / name, ignore_errors=True)
        (self.work / 'tmp').mkdir()
        return measure(['env', f'TMPDIR={self.work / "tmp"}', self.binary, 'run', script, '--memory', memory, '--progress', 'never', *options],
                       self.work, disk=self.work / 'tmp')

    def lines(self):
        """sha256 of the visible files in name order, without DuckDB: a line may be very long."""
        digest, count = hashlib.sha256(), 0
        for f in sorted((self.work / 'out').iterdir()):
            with open(f, 'rb') as file:
                while block := file.read(1 << 22):
                    digest.update(block); count += block.count(b'\n')
        return count, digest.hexdigest()

    def is_as_duckdb_says(self, query, columns):
        names = [c.split()[0] for c in columns.split(', ')]
        got = ', '.join(f"'{n}': '{ {'BIGINT': 'BIGINT', 'DOUBLE': 'DOUBLE', 'STRING': 'VARCHAR'}[c.split()[1]] }'" for n, c in zip(names, columns.split(', ')))
        want = ', '.join(names)
        wrong = self.duck(
            "CREATE TABLE R AS SELECT row_number() OVER () AS i, * FROM read_csv('rows.csv', header=false, columns={'ts': 'VARCHAR', "
            "'k': 'BIGINT', 'v': 'BIGINT', 's': 'VARCHAR'}, parallel=false);"
            f"CREATE VIEW got AS SELECT * FROM read_csv('out/part-*', header=false, columns={{{got}}}, max_line_size=200000000);"
            f'CREATE TABLE want({want}) AS {query};'
            f'SELECT (SELECT count(*) FROM got) - (SELECT count(*) FROM want), (SELECT sum(hash({want})::HUGEINT) FROM got) = (SELECT sum(hash({want})::HUGEINT) FROM want)')
        return wrong == '[(0, True)]'

    def encoded(self, rows):
        subprocess.run([self.binary, 'run', 'job.sql', '--memory', '8GB', '--stop-with-savepoint', 'a.savepoint', '--after', str(int(rows)), '-q'],
                       cwd=self.work, check=True)
        text = subprocess.run([self.binary, 'inspect', 'a.savepoint', '--output', 'json'], cwd=self.work, check=True, capture_output=True).stdout
        (self.work / 'a.savepoint').unlink()
        return sum(t['key_bytes'] + t['value_bytes'] for t in json.loads(text)['state'])

    def kind(self, name):
        columns, query, duck, shares = KINDS[name]
        rows, keys, values = (max(int(self.rows * s), 1) for s in shares)
        self.input(rows, keys, values, 3_500_000)
        (self.work / 'job.sql').write_text(TABLES.format(path='rows.csv', columns=columns) + query + ';\n')
        memory = self.run('8GB', '--parallelism', '1')
        want = self.lines()
        right = self.is_as_duckdb_says(duck, columns)
        state = self.encoded(rows)
        self.row(f'{name}: {rows / 1e6:g} million rows, {keys} keys, {state / 1e6:.0f} MB, in memory', 'right' if right else 'WRONG', 'right', right)
        self.row('  resident, CPU, wall', f'{memory.rss / MIB:.0f} MiB, {memory.cpu:.1f} s, {memory.wall:.1f} s')
        for threads in self.threads:
            m = self.run('64MB', '--parallelism', str(threads))
            got = self.lines()
            self.row(f'  --memory 64MB, {threads} thread{"s" * (threads > 1)}', 'the same rows' if got == want else f'{got[0]} other rows', 'the same rows', got == want)
            self.row('    peak resident memory', f'{m.rss / MIB:.0f} MiB', 'at most 160 MiB', m.rss <= 160 * MIB)
            self.row('    peak temporary disk', f'{m.disk / 1e6:.0f} MB', f'at most {3 * state / 1e6:.0f} MB', m.disk <= 3 * state)
            self.row('    CPU', f'{m.cpu:.1f} s', f'at most {4 * memory.cpu:.1f} s', m.cpu <= 4 * memory.cpu)
            self.row('    wall', f'{m.wall:.1f} s')

    def windows(self):
        """CPU of each tenth, as the job reads its input through a pipe."""
        rows = max(self.rows, 1_000_000)
        self.input(rows, rows / 40, 1000, 10_000 * 60_000)
        sql = TABLES.format(path='-', columns=WINDOWS[0]).replace("INTERVAL '1' SECOND", f"INTERVAL '{OPEN}' MINUTE(5)") + WINDOWS[1]
        (self.work / 'job.sql').write_text(sql + ';\n')
        for name in ('out', 'tmp'):
            shutil.rmtree(self.work / name, ignore_errors=True)
        (self.work / 'tmp').mkdir()
        ticks, peak = [], 0
        p = subprocess.Popen([self.binary, 'run', 'job.sql', '--memory', '16MB', '--progress', 'never'], cwd=self.work, stdin=subprocess.PIPE,
                             env={**os.environ, 'TMPDIR': str(self.work / 'tmp')}, stderr=subprocess.DEVNULL)
        size = (self.work / 'rows.csv').stat().st_size
        disk = []
        with open(self.work / 'rows.csv', 'rb') as f:
            for i in range(100):
                p.stdin.write(f.read(size // 100 if i < 99 else size)); p.stdin.flush()
                fields = open(f'/proc/{p.pid}/stat').read().rsplit(')', 1)[1].split()
                ticks.append((int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK'))
                disk.append(size_of(self.work / 'tmp'))
        p.stdin.close()
        _, status, usage = os.wait4(p.pid, 0)
        tenths = [ticks[i + 9] - (ticks[i - 1] if i else 0) for i in range(0, 100, 10)]
        live = OPEN / 10_000 * rows * 50     # keys of a window are distinct
        self.row(f'windows: {rows / 1e6:g} million rows, 10,000 windows, 2,000 open, --memory 16MB', f'exit {os.waitstatus_to_exitcode(status)}', 'exit 0', status == 0)
        self.row('  peak resident memory', f'{usage.ru_maxrss / 1024:.0f} MiB', 'at most 112 MiB', usage.ru_maxrss <= 112 * 1024)
        self.row('  CPU of the tenths', ' '.join(f'{t:.2f}' for t in tenths))
        # No window fires in the first two tenths; what is open at the end fires behind the last one.
        self.row('  the last against the third', f'{tenths[-1] / tenths[2]:.2f} x', 'at most 1.2 x', tenths[-1] <= 1.2 * tenths[2])
        self.row('  peak temporary disk', f'{max(disk) / 1e6:.0f} MB', f'at most {2 * live / 1e6 + 64:.0f} MB', max(disk) <= 2 * live + 64e6)

    def record(self):
        """Puts what was measured into README.md: the blocks of these kinds; the others stay."""
        readme = HERE / 'README.md'
        head, rest = readme.read_text().split('<!-- state -->\n', 1)
        old, tail = rest.split('<!-- end of state -->\n', 1)
        blocks = {}
        today = time.strftime(' (%Y-%m-%d)')
        dated = [(r[0] + (today if r[0].lstrip() == r[0] else ''), *r[1:]) for r in self.table]
        new = [f'| {"&nbsp;" * (len(r[0]) - len(r[0].lstrip()))}{" | ".join(r).lstrip()} |' for r in dated]
        for line in [line for line in old.splitlines() if line.startswith('| ')][1:] + new:
            if not line.startswith('| &nbsp;'):
                kind = line[2:].split(':')[0]
                blocks[kind] = []
            blocks[kind].append(line)
        cpu = next((l.split(':')[1].strip() for l in open('/proc/cpuinfo') if l.startswith('model name')), platform.machine())
        text = ['| what | measured | target | |', '|---|---|---|---|', *(line for block in blocks.values() for line in block), '',
                f'`bench/state.py --threads 1 --record KIND...` (`tumble`: `--rows 20000000 --threads 1,2`; `windows`: `--rows 5000000`), 2 cores of {cpu}, shared with '
                'other work: CPU seconds and ratios count, wall times do not.']
        readme.write_text(head + '<!-- state -->\n' + '\n'.join(text) + '\n<!-- end of state -->\n' + tail)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument('--bin', default='build/tidemark'); ap.add_argument('--rows', type=int, default=4_000_000)
    ap.add_argument('--dir', help='for the files; must have room for some GB'); ap.add_argument('--record', action='store_true')
    ap.add_argument('--threads', type=lambda s: [int(x) for x in s.split(',')], default=[1, 2])
    ap.add_argument('kinds', nargs='*', metavar='KIND', help=f'{", ".join(KINDS)}, windows')
    a = ap.parse_args()
    CACHE.mkdir(exist_ok=True)
    bench = Bench(a)
    try:
        for kind in a.kinds or [*KINDS, 'windows']:
            bench.windows() if kind == 'windows' else bench.kind(kind)
    finally:
        shutil.rmtree(bench.work, ignore_errors=True)
    if a.record:
        bench.record()
    missed = [r for r in bench.table if r[3] == 'MISSED']
    print(f'{sum(r[3] == "met" for r in bench.table)} targets met, {len(missed)} missed')
    return bool(missed)


if __name__ == '__main__':
    sys.exit(main())
