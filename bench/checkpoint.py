#!/usr/bin/env python3
"""Measure what checkpoints cost: how long the job stands still, how large they are, and how fast a restore is.

usage: checkpoint.py [--bin PATH] [--keys N] [--rounds N] [--record] [some|all|many|restore]...

some: 5 million open keys, of which 200,000 change between two checkpoints a second apart (bench/pace.c writes them to the
job's standard input), once with aggregates that add up (COUNT, SUM) and once with one that does not (AVG of a DOUBLE). all: all of
them change. many: 300 checkpoints of a tenth of the keys, a 25th of them changed, whose files are counted all along: chains stay
short, nothing is left behind. restore: 10 million keys of a Top-N's and of an aggregate's state, at parallelism 1 and 2. The times are the
program's own, from its summary; CPU is user + system of all threads. --record writes the table into README.md.
"""
import argparse, os, pathlib, platform, re, shutil, subprocess, sys, tempfile, threading, time

HERE = pathlib.Path(__file__).resolve().parent
TABLE = """CREATE TABLE Bid (ts TIMESTAMP(3), auction BIGINT, price {price},
  WATERMARK FOR ts AS ts - INTERVAL '1' SECOND) WITH ('connector'='filesystem','path'='{path}','format'='csv');
"""
SINK = """CREATE TABLE Sums (ws TIMESTAMP(3), auction BIGINT, c BIGINT, s {price}) WITH ('connector'='blackhole');
"""
ADDS = TABLE.format(price='DECIMAL(10,2)', path='-') + SINK.format(price='DECIMAL(38,2)') + """
INSERT INTO Sums SELECT window_start, auction, COUNT(*), SUM(price)
  FROM TABLE(TUMBLE(TABLE Bid, DESCRIPTOR(ts), INTERVAL '1' DAY)) GROUP BY window_start, window_end, auction;
"""
REPLACES = TABLE.format(price='DOUBLE', path='-') + SINK.format(price='DOUBLE') + """
INSERT INTO Sums SELECT window_start, auction, COUNT(*), AVG(price)
  FROM TABLE(TUMBLE(TABLE Bid, DESCRIPTOR(ts), INTERVAL '1' DAY)) GROUP BY window_start, window_end, auction;
"""
AGGREGATE = ADDS.replace("'path'='-'", "'path'='bid.csv'")
TOP_N = TABLE.format(price='DECIMAL(10,2)', path='bid.csv') + """
CREATE TABLE Best (ws TIMESTAMP(3), auction BIGINT, price DECIMAL(10,2), rk BIGINT) WITH ('connector'='blackhole');
INSERT INTO Best SELECT window_start, auction, price, rk FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, auction ORDER BY price DESC) AS rk
  FROM TABLE(TUMBLE(TABLE Bid, DESCRIPTOR(ts), INTERVAL '1' DAY))) WHERE rk <= 2;
"""
SUMMARY = re.compile(r'(\d+) checkpoints \((\d+) of them deltas, (\d+) bytes in all, the last (\d+); pauses: longest ([\d.]+) ms, '
                     r'99 % at most ([\d.]+) ms; durable after at most ([\d.]+) s\)')


class Bench:
    def __init__(self, a):
        self.binary, self.keys, self.rounds, self.millis, self.table = os.path.abspath(a.bin), a.keys, a.rounds, a.millis, []
        self.work = pathlib.Path(tempfile.mkdtemp(prefix='tide-bench-', dir=a.dir))
        subprocess.run(['cc', '-O2', '-o', self.work / 'pace', HERE / 'pace.c'], check=True)

    def row(self, what, value, target='', ok=None):
        self.table.append((what, value, target, {None: '', True: 'met', False: 'MISSED'}[ok]))
        print(f'{what:66} {value:>18}   {target:22} {self.table[-1][3]}', flush=True)

    def run(self, sql, *options, feed=None, env={}, exit=0):
        """-> stderr, CPU seconds, wall seconds."""
        (self.work / 'job.sql').write_text(sql)
        start = time.monotonic()
        feeder = subprocess.Popen([self.work / 'pace', *map(str, feed)], stdout=subprocess.PIPE) if feed else None
        with open(self.work / 'log.txt', 'w+') as log:
            p = subprocess.Popen([self.binary, 'run', 'job.sql', '--progress', 'never', *options], cwd=self.work, stderr=log, stdout=log,
                                 stdin=feeder.stdout if feeder else subprocess.DEVNULL, env=dict(os.environ, **env))
            if feeder:
                feeder.stdout.close()
            _, status, usage = os.wait4(p.pid, 0)
            log.seek(0); text = log.read()
        if feeder:
            feeder.wait()
        if os.waitstatus_to_exitcode(status) != exit:
            sys.exit(f'exit {os.waitstatus_to_exitcode(status)}: {text[-600:]}')
        return text, usage.ru_utime + usage.ru_stime, time.monotonic() - start

    def sizes(self):
        """Bytes of the full checkpoints and of the deltas that are there."""
        files = list((self.work / 'state').rglob('chk-*'))
        return ([f.stat().st_size for f in files if f.suffix == '.savepoint'], [f.stat().st_size for f in files if f.suffix == '.delta'])

    def pauses(self, name, sql, changed, rounds, millis, p99_max, longest_max):
        shutil.rmtree(self.work / 'state', ignore_errors=True)
        text, cpu, wall = self.run(sql, '--state-dir', 'state', '--memory', '3GB', '--checkpoint-interval', f'{millis}ms', '--retain', '100',
                                   feed=(self.keys, changed, rounds, millis))
        found = SUMMARY.search(text)
        if not found:
            sys.exit(f'no summary of checkpoints: {text[-400:]}')
        count, deltas, total, last, longest, p99, durable = (float(x) for x in found.groups())
        fulls, delta_sizes = self.sizes()
        self.row(f'{name}: {self.keys / 1e6:g} million keys, {changed / 1e6:g} million changed: checkpoints', f'{count:.0f}, {deltas:.0f} deltas')
        self.row('  longest pause', f'{longest:.1f} ms', f'under {longest_max} ms', longest < longest_max)
        if p99_max:
            self.row('  99 % of the pauses', f'{p99:.1f} ms', f'under {p99_max} ms', p99 < p99_max)
        self.row('  largest full checkpoint', f'{max(fulls) / 1e6:.1f} MB')
        if delta_sizes:
            self.row('  mean delta', f'{sum(delta_sizes) / len(delta_sizes) / 1e6:.1f} MB')
        self.row('  durable after, at most', f'{durable:.2f} s')
        self.row('  CPU, wall', f'{cpu:.1f} s, {wall:.1f} s')

    def some(self):
        for name, sql in (('adding', ADDS), ('replacing', REPLACES), ('Top-N', TOP_N.replace("'bid.csv'", "'-'"))):
            self.pauses(name, sql, 200_000, self.rounds, self.millis, 50, 200)

    def all(self):
        self.pauses('adding', ADDS, self.keys, 3, 12000, None, 1000)
        self.pauses('replacing', REPLACES, self.keys, 3, 12000, None, 1000)

    def many(self):
        keys, changed, rounds, millis = self.keys // 10, self.keys // 250, 300, 200
        shutil.rmtree(self.work / 'state', ignore_errors=True)
        done, seen = threading.Event(), []      # (files, bytes, deltas in a chain at most)
        def count():
            while not done.wait(0.1):
                try:
                    files = [(f.name, f.stat().st_size) for f in (self.work / 'state').rglob('*') if f.is_file()]
                except FileNotFoundError:
                    continue
                ids = sorted((int(n.split('-')[1].split('.')[0]), n.endswith('.delta')) for n, _ in files
                             if n.startswith('chk-') and n.endswith(('.delta', '.savepoint')))
                longest = length = 0
                for _, delta in ids:
                    length = length + 1 if delta else 0
                    longest = max(longest, length)
                seen.append((len(files), sum(b for _, b in files), longest))
        counter = threading.Thread(target=count)
        counter.start()
        text, cpu, wall = self.run(ADDS, '--state-dir', 'state', '--memory', '3GB', '--checkpoint-interval', f'{millis}ms', feed=(keys, changed, rounds, millis))
        done.set(); counter.join()
        found = SUMMARY.search(text)
        count, deltas, total = (int(x) for x in found.groups()[:3])
        full = max(s for s in self.sizes()[0])
        third = len(seen) // 3
        early, late = seen[third:2 * third], seen[2 * third:]
        self.row(f'many: {keys / 1e6:g} million keys, {changed / 1e3:g} thousand changed: checkpoints', f'{count}, {deltas} deltas', 'at least 250', count >= 250)
        self.row('  bytes written for one, mean', f'{total / count / 1e6:.2f} MB', f'a full one: {full / 1e6:.1f} MB')
        self.row('  longest chain', f'{max(s[2] for s in seen)} deltas', 'at most 8', max(s[2] for s in seen) <= 8)
        self.row('  files in the state directory, last third', f'at most {max(s[0] for s in late)}', f'second third: {max(s[0] for s in early)}',
                 max(s[0] for s in late) <= 1.2 * max(s[0] for s in early) + 4)
        self.row('  bytes in it, last third', f'at most {max(s[1] for s in late) / 1e6:.1f} MB', f'second third: {max(s[1] for s in early) / 1e6:.1f} MB',
                 max(s[1] for s in late) <= 1.3 * max(s[1] for s in early))
        left = sorted(f.name for f in (self.work / 'state').rglob('*') if f.is_file())
        self.row('  files left at the end', f'{len(left)}', 'at most 16', len(left) <= 16)
        self.row('  CPU, wall', f'{cpu:.1f} s, {wall:.1f} s')

    def restore(self):
        keys = 10_000_000
        with open(self.work / 'bid.csv', 'wb') as f:
            subprocess.run([self.work / 'pace', str(keys), '0', '0', '0'], stdout=f, check=True)
        for name, sql in (('aggregate', AGGREGATE), ('Top-N', TOP_N)):
            self.run(sql, '--stop-with-savepoint', 'a.savepoint', '--after', str(keys), '--memory', '1GB')
            size = (self.work / 'a.savepoint').stat().st_size
            empty = self.run(sql.replace("'bid.csv'", "'none.csv'"), '--stop-with-savepoint', 'none.savepoint', '--after', '0') \
                if (self.work / 'none.csv').write_text('') == 0 else None
            for threads in (1, 2):
                # Stops itself at the point behind the restore, so that nothing else is in the time.
                _, cpu, wall = self.run(sql, '--from', 'a.savepoint', '--parallelism', str(threads), '--memory', '1GB',
                                        env={'TIDE_KILL_POINT': 'restore.done'}, exit=-9)
                rate = keys / (cpu - empty[1])
                self.row(f'restore of {keys / 1e6:g} million keys of {name} state, {size / 1e6:.0f} MB, {threads} thread{"s" * (threads > 1)}',
                         f'{rate / 1e6:.2f} M keys/s CPU', 'at least 1 M', rate >= 1e6)
                self.row('  CPU, wall', f'{cpu:.1f} s, {wall:.1f} s')

    def record(self):
        text = ['| what | measured | target | |', '|---|---|---|---|'] + [f'| {" | ".join(r)} |' for r in self.table]
        cpu = next((l.split(':')[1].strip() for l in open('/proc/cpuinfo') if l.startswith('model name')), platform.machine())
        text += ['', f'{time.strftime("%Y-%m-%d")}, {os.cpu_count()} cores of {cpu}.']
        readme = HERE / 'README.md'
        head, rest = readme.read_text().split('<!-- checkpoints -->\n', 1)
        readme.write_text(head + '<!-- checkpoints -->\n' + '\n'.join(text) + '\n<!-- end of checkpoints -->\n' +
                          rest.split('<!-- end of checkpoints -->\n', 1)[1])


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument('--bin', default='build/tidemark'); ap.add_argument('--keys', type=int, default=5_000_000)
    ap.add_argument('--rounds', type=int, default=30); ap.add_argument('--record', action='store_true')
    ap.add_argument('--millis', type=int, default=1000, help='between two checkpoints: more than one takes, or more changes')
    ap.add_argument('--dir', help='for the files; must have a few GB of room')
    ap.add_argument('parts', nargs='*', default=['some', 'all', 'many', 'restore'])
    a = ap.parse_args()
    bench = Bench(a)
    try:
        for part in a.parts:
            {'some': bench.some, 'all': bench.all, 'many': bench.many, 'restore': bench.restore}[part]()
    finally:
        shutil.rmtree(bench.work, ignore_errors=True)
    if a.record:
        bench.record()
    missed = [r for r in bench.table if r[3] == 'MISSED']
    print(f'{sum(r[3] == "met" for r in bench.table)} targets met, {len(missed)} missed')
    return bool(missed)


if __name__ == '__main__':
    sys.exit(main())
