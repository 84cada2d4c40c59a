#!/usr/bin/env python3
"""Measure CPU time and memory against the targets, all in one run.

usage: run.py [--bin PATH] [--rows N] [--rounds N] [--record] [speed|memory]...

speed: 5 million bids of gen.py; top3.sql (TUMBLE of a minute, COUNT and SUM by auction, Top-3) with a checkpoint every
second, against limit.c (a loop written by hand for just this query) and DuckDB, by turns, best of three in CPU seconds
(user + system of all threads); and the same query over HOP. memory: one TUMBLE of an hour over 4 million keys under
`--memory 64MB`: peak resident memory, peak size of the state directory, and the result checked by DuckDB.
--record writes the table into README.md. DuckDB comes by pip into .cache/bench-venv.
"""
import argparse, os, pathlib, platform, shutil, subprocess, sys, tempfile, threading, time

HERE = pathlib.Path(__file__).resolve().parent
CACHE = HERE.parent / '.cache'
MIB = 1 << 20
KEYS, KEY_ROWS = 4_000_000, 5_000_000
# One entry of keys.sql's state table: window start and end and the key, 8 bytes each and a byte for null; a header, a
# count of 8 bytes and a sum of 16.
ENCODED_STATE = KEYS * (8 + 8 + 9 + 1 + 8 + 16)

DUCK_TOP3 = """SET threads=2;
COPY (SELECT ws, ws + INTERVAL 1 MINUTE AS we, auction, c, s, rk FROM (
  SELECT *, row_number() OVER (PARTITION BY ws ORDER BY c DESC, s DESC) AS rk FROM (
    SELECT date_trunc('minute', ts) AS ws, auction, count(*) AS c, sum(price) AS s FROM {bids} GROUP BY ALL))
  WHERE rk <= 3 ORDER BY ws, rk) TO 'duck.csv' (HEADER false)"""
DUCK_BIDS = """read_csv('{}', header=false, columns={{'ts':'TIMESTAMP','auction':'BIGINT','bidder':'BIGINT',
  'price':'DECIMAL(10,2)','channel':'VARCHAR'}})"""

RUN_SQL = """import duckdb, sys
c = duckdb.connect()
c.execute('SET enable_progress_bar=false')
for s in sys.argv[1].split(';'):
    r = c.execute(s) if s.strip() else None
"""


class Measured:
    def __init__(self, seconds, usage):
        self.wall, self.cpu, self.rss = seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def measure(command, folder, disk=None):
    """Runs it to its end; with `disk`, also the peak size of that folder. Anything but exit 0 ends the benchmark."""
    start, peak, stop = time.monotonic(), [0], threading.Event()
    def watch():
        while not stop.is_set():
            peak[0] = max(peak[0], size_of(disk))
            time.sleep(0.05)
    with open(folder / 'log.txt', 'wb') as log:
        p = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        watcher = threading.Thread(target=watch) if disk else None
        if watcher:
            watcher.start()
        _, status, usage = os.wait4(p.pid, 0)
        p.returncode = os.waitstatus_to_exitcode(status)
    if watcher:
        stop.set(); watcher.join()
    if p.returncode != 0:
        sys.exit(f'{" ".join(map(str, command))}: exit {p.returncode}\n' + (folder / 'log.txt').read_text()[-800:])
    m = Measured(time.monotonic() - start, usage)
    m.disk = peak[0]
    return m


def size_of(folder):
    total = 0
    for path, _, files in os.walk(folder):
        for f in files:
            try:
                total += os.lstat(os.path.join(path, f)).st_blocks * 512
            except FileNotFoundError:
                pass
    return total


def python_with_duckdb():
    python = CACHE / 'bench-venv' / 'bin' / 'python'
    if not python.exists() or subprocess.run([python, '-c', 'import duckdb'], stderr=subprocess.DEVNULL).returncode:
        print('installing duckdb into .cache/bench-venv', flush=True)
        subprocess.run([sys.executable, '-m', 'venv', CACHE / 'bench-venv'], check=True)
        subprocess.run([python, '-m', 'pip', 'install', '--quiet', 'duckdb'], check=True)
    return python


class Bench:
    def __init__(self, a):
        self.binary, self.rounds, self.rows = os.path.abspath(a.bin), a.rounds, a.rows
        self.python = python_with_duckdb()
        self.work = pathlib.Path(tempfile.mkdtemp(prefix='bench-', dir=CACHE))
        self.table = []                              # (what, value, target, ok)

    def duck(self, sql):
        """Runs statements; -> the rows of the last one, as Python writes them."""
        p = subprocess.run([self.python, '-c', RUN_SQL + 'print(r.fetchall())', sql], cwd=self.work, capture_output=True, text=True)
        if p.returncode != 0:
            sys.exit(f'duckdb: {p.stderr.strip().splitlines()[-1]}: {sql}')
        return p.stdout.strip()

    def tidemark(self, script, *options):
        for name in ('out', 'state'):
            shutil.rmtree(self.work / name, ignore_errors=True)
        shutil.copy(HERE / script, self.work / script)
        return measure([self.binary, 'run', script, '--state-dir', 'state', '--progress', 'never', *options], self.work,
                       disk=self.work / 'state')

    def row(self, what, value, target='', ok=None):
        self.table.append((what, value, target, {None: '', True: 'met', False: 'MISSED'}[ok]))
        print(f'{what:58} {value:>16}   {target:26} {self.table[-1][3]}', flush=True)

    def bids(self):
        data = CACHE / f'bid-{self.rows}.csv'
        if not data.exists():
            print(f'generating {self.rows} bids', flush=True)
            subprocess.run([self.python, HERE / 'gen.py', str(self.rows), data.with_suffix('.tmp')], check=True)
            data.with_suffix('.tmp').rename(data)
        (self.work / 'bid.csv').symlink_to(data)
        subprocess.run(['cat', data], stdout=subprocess.DEVNULL)    # into the page cache, for all alike

    def check_top3(self):
        """Our rows are DuckDB's; the auction is left out, since equal counts and sums may stand in any order."""
        view = ("CREATE VIEW {} AS SELECT column0::TIMESTAMP AS ws, column1::TIMESTAMP AS we, column3::BIGINT AS c, "
                "column4::DECIMAL(38,2) AS s, column5::BIGINT AS rk FROM read_csv('{}', header=false, all_varchar=true);")
        wrong = self.duck(view.format('ours', 'out/part-*') + view.format('theirs', 'duck.csv') +
                          'SELECT count(*) FROM (SELECT 1 AS x, * FROM ours) FULL JOIN (SELECT 1 AS y, * FROM theirs) '
                          'USING (ws, we, c, s, rk) WHERE x IS NULL OR y IS NULL')
        if wrong != '[(0,)]':
            sys.exit(f"top3.sql does not give DuckDB's rows: {wrong} differ")

    def speed(self):
        self.bids()
        subprocess.run(['cc', '-O2', '-w', '-o', self.work / 'limit', HERE / 'limit.c'], check=True)
        duck = DUCK_TOP3.format(bids=DUCK_BIDS.format('bid.csv'))
        best = {}
        for _ in range(self.rounds):
            for name, run in (('ours', lambda: self.tidemark('top3.sql', '--checkpoint-interval', '1s')),
                              ('limit', lambda: measure(['./limit', 'bid.csv'], self.work)),
                              ('duck', lambda: measure([self.python, '-c', RUN_SQL, duck], self.work)),
                              ('hop', lambda: self.tidemark('top3-hop.sql', '--checkpoint-interval', '1s'))):
                m = run()
                if name not in best or m.cpu < best[name].cpu:
                    best[name] = m
        self.tidemark('top3.sql', '--checkpoint-interval', '1s')
        self.check_top3()
        ours, limit, duck_cpu, hop = (best[k].cpu for k in ('ours', 'limit', 'duck', 'hop'))
        self.row(f'limit.c, {self.rows / 1e6:g} million bids, CPU', f'{limit:.2f} s')
        self.row('DuckDB, CPU', f'{duck_cpu:.2f} s')
        self.row('tidemark TUMBLE 1 min, Top-3, checkpoint 1 s, CPU', f'{ours:.2f} s')
        self.row('  wall time', f'{best["ours"].wall:.2f} s')
        self.row('  against limit.c', f'{ours / limit:.2f} x', 'at most 3.5 x', ours <= 3.5 * limit)
        self.row('  against DuckDB', f'{ours / duck_cpu:.2f} x', 'at most 0.5 x', ours <= 0.5 * duck_cpu)
        self.row('tidemark HOP 10 s / 1 min, CPU', f'{hop:.2f} s')
        self.row('  against its TUMBLE', f'{hop / ours:.2f} x', 'at most 2.5 x', hop <= 2.5 * ours)

    def memory(self):
        data = CACHE / 'keys.csv'
        if not data.exists():
            print(f'generating {KEY_ROWS} rows of {KEYS} keys', flush=True)
            self.duck(f"COPY (SELECT strftime(TIMESTAMP '2024-01-01' + to_microseconds(CAST(i * 3.6e9 / {KEY_ROWS} AS BIGINT)), "
                      f"'%Y-%m-%d %H:%M:%S.%g'), (i * 2654435761) % {KEYS}, CAST((hash(i) % 1000000) / 100.0 AS DECIMAL(10,2)) "
                      f"FROM range({KEY_ROWS}) t(i)) TO '{data}' (HEADER false)")
        (self.work / 'keys.csv').symlink_to(data)
        for threads in (1, 2):
            m = self.tidemark('keys.sql', '--memory', '64MB', '--parallelism', str(threads), '--checkpoint-interval', '10s')
            wrong = self.duck(
                "CREATE VIEW want AS SELECT 1 AS x, column1::BIGINT AS k, count(*) AS c, sum(column2::DECIMAL(10,2)) AS s "
                "FROM read_csv('keys.csv', header=false, all_varchar=true) GROUP BY ALL;"
                "CREATE VIEW got AS SELECT 1 AS y, column2::BIGINT AS k, column3::BIGINT AS c, column4::DECIMAL(38,2) AS s "
                "FROM read_csv('out/part-*', header=false, all_varchar=true);"
                "SELECT (SELECT count(*) FROM got), (SELECT count(*) FROM want FULL JOIN got USING (k, c, s) WHERE x IS NULL OR y IS NULL)")
            right = wrong == f'[({KEYS}, 0)]'
            self.row(f'{KEYS / 1e6:g} million keys, --memory 64MB, {threads} thread{"s" * (threads > 1)}: result', 'right' if right else wrong, 'right', right)
            self.row('  peak resident memory', f'{m.rss / MIB:.0f} MiB', 'at most 160 MiB', m.rss <= 160 * MIB)
            self.row('  peak temporary disk', f'{m.disk / MIB:.0f} MiB', f'at most {3 * ENCODED_STATE / MIB:.0f} MiB', m.disk <= 3 * ENCODED_STATE)
            self.row('  CPU, wall', f'{m.cpu:.1f} s, {m.wall:.1f} s')

    def record(self):
        text = ['| what | measured | target | |', '|---|---|---|---|'] + [f'| {" | ".join(r)} |' for r in self.table]
        cpu = next((l.split(':')[1].strip() for l in open('/proc/cpuinfo') if l.startswith('model name')), platform.machine())
        text += ['', f'{time.strftime("%Y-%m-%d")}, {os.cpu_count()} cores of {cpu}.']
        readme = HERE / 'README.md'
        head, rest = readme.read_text().split('<!-- recorded -->\n', 1)
        readme.write_text(head + '<!-- recorded -->\n' + '\n'.join(text) + '\n<!-- end -->\n' + rest.split('<!-- end -->\n', 1)[1])


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument('--bin', default='build/tidemark'); ap.add_argument('--rows', type=int, default=5_000_000)
    ap.add_argument('--rounds', type=int, default=3); ap.add_argument('--record', action='store_true')
    ap.add_argument('parts', nargs='*', default=['speed', 'memory'])
    a = ap.parse_args()
    CACHE.mkdir(exist_ok=True)
    bench = Bench(a)
    try:
        for part in a.parts:
            {'speed': bench.speed, 'memory': bench.memory}[part]()
    finally:
        shutil.rmtree(bench.work, ignore_errors=True)
    if a.record:
        bench.record()
    missed = [r for r in bench.table if r[3] == 'MISSED']
    print(f'{sum(r[3] == "met" for r in bench.table)} targets met, {len(missed)} missed')
    return bool(missed)


if __name__ == '__main__':
    sys.exit(main())
