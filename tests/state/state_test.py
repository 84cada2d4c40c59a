#!/usr/bin/env python3
"""State larger than memory, the quick form of bench/state.py: the rows are those of a run in memory, and memory and disk stay within
their limits. And checkpoints: chains stay short, nothing is left behind; and state that can't go to disk ends with an error that
loses nothing. Usage: state_test.py [--bin PATH] [NAME...]; prints `N passed, M failed` last.
"""
import argparse, hashlib, json, os, pathlib, random, re, shutil, subprocess, sys, tempfile, threading, time

HERE = pathlib.Path(__file__).resolve().parent
BENCH = HERE.parent.parent / 'bench'
sys.path.insert(0, str(BENCH))
import state as bench                      # the jobs
from run import size_of

MIB = 1 << 20
MEMORY = 4                                 # MB; the program itself and what is outside of the budget may take 96 more
# Kinds of job with rows enough to be larger than that.
KINDS = {'tumble': 150_000, 'sequential': 100_000, 'session': 80_000, 'session-tvf': 100_000, 'distinct': 150_000, 'distinct-few': 150_000, 'distinct-one': 300_000,
         'distinct-sum': 200_000, 'listagg': 150_000, 'listagg-one': 300_000, 'topn': 60_000, 'topn-one': 100_000, 'join': 100_000, 'window-join': 100_000}
UNBOUNDED_KINDS = {'regular-topn': 80_000, 'regular-top1': 120_000, 'last-row': 120_000, 'first-row': 200_000, 'rising-topn': 80_000, 'changing-topn': 80_000,
                   'group': 150_000, 'over': 150_000, 'over-rows': 80_000, 'over-range': 80_000, 'lag': 100_000}
UNBOUNDED = """CREATE TABLE R (ts TIMESTAMP(3), k BIGINT, v BIGINT, s STRING, WATERMARK FOR ts AS ts - INTERVAL '1' HOUR) WITH ('connector'='filesystem','path'='rows.csv','format'='csv');
CREATE TABLE O (k BIGINT, c BIGINT) WITH ('connector'='blackhole');
INSERT INTO O SELECT k, v FROM R ORDER BY ts;
"""


class Failed(Exception):
    pass


def check(ok, text):
    if not ok:
        raise Failed(text)


class Tests:
    def __init__(self, binary, work):
        self.binary, self.work = binary, work
        subprocess.run(['cc', '-O2', '-o', work / 'rows', BENCH / 'rows.c'], check=True)

    def input(self, rows, keys, values, span=3_500_000):
        with open(self.work / 'rows.csv', 'wb') as f:
            subprocess.run([self.work / 'rows', *(str(max(int(x), 1)) for x in (rows, keys, values, span))], stdout=f, check=True)

    def run(self, *options, exit=0):
        """-> stderr, peak resident bytes, peak bytes of the temporary folder."""
        tmp = self.work / 'tmp'
        for name in ('out', 'tmp'):
            shutil.rmtree(self.work / name, ignore_errors=True)
        tmp.mkdir()
        peak, done = [0], threading.Event()
        def watch():
            while not done.wait(0.01):
                peak[0] = max(peak[0], size_of(tmp))
        watcher = threading.Thread(target=watch)
        watcher.start()
        with open(self.work / 'log.txt', 'w+') as log:
            p = subprocess.Popen([self.binary, 'run', 'job.sql', '--progress', 'never', *options], cwd=self.work, stderr=log, stdout=log,
                                 stdin=subprocess.DEVNULL, env={**os.environ, 'TMPDIR': str(tmp)})
            _, status, usage = os.wait4(p.pid, 0)
            p.returncode = os.waitstatus_to_exitcode(status)
            done.set(); watcher.join()
            log.seek(0); text = log.read()
        check(p.returncode == exit, f'exit {p.returncode}, not {exit}: {text[-300:]}')
        return text, usage.ru_maxrss * 1024, peak[0]

    def printed(self):
        """What a print sink wrote: lines that begin with the kind of change."""
        digest, count = hashlib.sha256(), 0
        with open(self.work / 'log.txt', 'rb') as f:
            for line in f:
                if line[:1] in b'+-':
                    digest.update(line); count += 1
        return count, digest.hexdigest()

    def unbounded(self, name):
        columns, query, shares = bench.UNBOUNDED[name]
        rows, keys, values = (UNBOUNDED_KINDS[name] * s for s in shares)
        self.input(rows, keys, values)
        (self.work / 'job.sql').write_text(bench.CHANGES.format(path='rows.csv', columns=columns) + query + ';\n')
        self.run('--memory', '1GB', '--parallelism', '1')
        want = self.printed()
        check(want[0] >= keys, f'{want[0]} rows')
        _, rss, disk = self.run('--memory', f'{MEMORY}MB')
        check(self.printed() == want, f'{self.printed()[0]} other rows than the {want[0]} in memory')
        check(disk > 0, 'nothing went to disk: the job is too small to show anything')
        check(rss <= (MEMORY + 96) * MIB, f'{rss / MIB:.0f} MiB resident')
        # What was let go before a savepoint and what comes after it.
        self.run('--memory', f'{MEMORY}MB', '--stop-with-savepoint', 'a.savepoint', '--after', str(int(rows * 0.7)))
        first, seen = self.printed()[0], set()
        for memory in (f'{MEMORY}MB', '1GB'):
            self.run('--memory', memory, '--from', 'a.savepoint')
            rest = self.printed()
            check(first + rest[0] == want[0], f'{first} rows and {rest[0]} with --memory {memory}, not {want[0]}')
            seen.add(rest)
        check(len(seen) == 1, 'other rows after a restore with more memory')

    def rows_of(self):
        digest = hashlib.sha256()
        for f in sorted((self.work / 'out').iterdir()):
            digest.update(f.read_bytes())
        return digest.hexdigest()

    def kind(self, name):
        columns, query, _, shares = bench.KINDS[name]
        rows, keys, values = (KINDS[name] * s for s in shares)
        self.input(rows, keys, values)
        (self.work / 'job.sql').write_text(bench.TABLES.format(path='rows.csv', columns=columns) + query + ';\n')
        self.run('--memory', '1GB', '--parallelism', '1')
        want = self.rows_of()
        self.run('--memory', '1GB', '--stop-with-savepoint', 'a.savepoint', '--after', str(int(rows)))
        text = subprocess.run([self.binary, 'inspect', 'a.savepoint', '--output', 'json'], cwd=self.work, check=True, capture_output=True).stdout
        encoded = sum(t['key_bytes'] + t['value_bytes'] for t in json.loads(text)['state'])
        text, rss, disk = self.run('--memory', f'{MEMORY}MB')
        check(self.rows_of() == want, 'other rows than in memory')
        check(disk > 0, 'nothing went to disk: the job is too small to show anything')
        # Small tables are merged late (below 48 MiB), which bench/state.py does not see.
        check(disk <= 3 * encoded + 12 * MIB, f'{disk / 1e6:.1f} MB of disk for {encoded / 1e6:.1f} MB of state')
        check(rss <= (MEMORY + 96) * MIB, f'{rss / MIB:.0f} MiB resident')

    def restored(self):
        """What was evicted before a savepoint and what comes after it make the same windows."""
        for name in ('distinct-one', 'topn', 'session', 'window-join'):
            columns, query, _, shares = bench.KINDS[name]
            rows, keys, values = (KINDS[name] // 2 * s for s in shares)
            self.input(rows, keys, values)
            (self.work / 'job.sql').write_text(bench.TABLES.format(path='rows.csv', columns=columns) + query + ';\n')
            self.run('--memory', '1GB')
            want = self.rows_of()
            self.run('--memory', f'{MEMORY}MB', '--stop-with-savepoint', 'a.savepoint', '--after', str(int(rows * 0.7)))
            text = subprocess.run([self.binary, 'savepoint', 'verify', 'a.savepoint'], cwd=self.work, capture_output=True, text=True)
            check(text.returncode == 0, f'{name}: {text.stdout}{text.stderr}')
            for memory in (f'{MEMORY}MB', '1GB'):
                self.run('--memory', memory, '--from', 'a.savepoint')
                check(self.rows_of() == want, f'{name}: other rows after a restore with --memory {memory}')

    def restored_join(self):
        """Rows go out at once: what goes out after a savepoint does not depend on the memory before and after it."""
        columns, query, _, shares = bench.KINDS['join']
        rows, keys, values = (KINDS['join'] // 2 * s for s in shares)
        self.input(rows, keys / 3, values)
        (self.work / 'job.sql').write_text(bench.TABLES.format(path='rows.csv', columns=columns) + query + ';\n')
        want = None
        for before, after in (('1GB', '1GB'), ('1GB', '1MB'), ('1MB', '1MB'), ('1MB', '1GB')):
            self.run('--memory', before, '--stop-with-savepoint', 'a.savepoint', '--after', str(int(rows)))
            self.run('--memory', after, '--from', 'a.savepoint')
            want = want or self.rows_of()
            check(self.rows_of() == want, f'other rows after a savepoint with --memory {before} and a restore with {after}')

    def restored_topn(self):
        """Rows of many partitions are put before the barrier comes; what leaves a heap afterwards is deleted."""
        columns, query, _, _ = bench.KINDS['topn']
        self.input(400_000, 60_000, 400_000)
        (self.work / 'job.sql').write_text(bench.TABLES.format(path='rows.csv', columns=columns) + query + ';\n')
        self.run('--memory', '1GB')
        want = self.rows_of()
        shutil.rmtree(self.work / 'state', ignore_errors=True)
        self.run('--state-dir', 'state', '--memory', '1GB', '--checkpoint-every', '90000', '--stop-with-savepoint', 'a.savepoint', '--after', '333333')
        self.run('--from', 'a.savepoint', '--memory', '1GB')
        check(self.rows_of() == want, 'other rows after a restore')

    def checkpoints(self):
        """Sixty checkpoints of a state of which little changes: deltas, in short chains; nothing is left."""
        self.input(600_000, 20_000, 1000)
        columns, query, _, _ = bench.KINDS['tumble']
        (self.work / 'job.sql').write_text(bench.TABLES.format(path='rows.csv', columns=columns) + query + ';\n')
        shutil.rmtree(self.work / 'state', ignore_errors=True)
        chains, done = [], threading.Event()
        def watch():
            while not done.wait(0.02):
                names = [f.name for f in (self.work / 'state').rglob('chk-*') if f.suffix in ('.delta', '.savepoint')]
                length = longest = 0
                for _, delta in sorted((int(re.search(r'\d+', n)[0]), n.endswith('.delta')) for n in names):
                    length = length + 1 if delta else 0
                    longest = max(longest, length)
                chains.append(longest)
        watcher = threading.Thread(target=watch)
        watcher.start()
        try:
            text, _, _ = self.run('--state-dir', 'state', '--checkpoint-every', '10000', '--retain', '2')
        finally:
            done.set(); watcher.join()
        found = re.search(r'(\d+) checkpoints \((\d+) of them deltas', text)
        check(found and int(found[1]) >= 50, text)
        check(max(chains) <= 8, f'a chain of {max(chains)} deltas')
        left = [str(f.relative_to(self.work / 'state')) for f in (self.work / 'state').rglob('*') if f.is_file()]
        check(len(left) <= 2 * 9 + 4, f'left behind: {left}')
        check(not any('tmp' in f or f.endswith('.sst') for f in left), f'left behind: {left}')

    def killed(self):
        """SIGKILL while state goes to disk and comes back: the same files."""
        random.seed(5)
        for name in 'over-rows', 'first-row':
            columns, query, shares = bench.UNBOUNDED[name]
            rows, keys, values = (UNBOUNDED_KINDS[name] * s for s in shares)
            self.input(rows, keys, values)
            job = (bench.CHANGES.format(path='rows.csv', columns=columns) + query + ';\n').replace("'connector'='print'", "'connector'='filesystem','path'='out','format'='csv'")
            (self.work / 'job.sql').write_text(job)
            start = time.monotonic()
            self.run('--memory', f'{MEMORY}MB')
            seconds, want = time.monotonic() - start, self.rows_of()
            for folder in 'out', 'state':
                shutil.rmtree(self.work / folder, ignore_errors=True)
            command = [self.binary, 'run', 'job.sql', '-q', '--memory', f'{MEMORY}MB', '--state-dir', 'state', '--checkpoint-every', str(int(rows) // 20)]
            status, kills = None, 0
            while status is None:
                p = subprocess.Popen(command, cwd=self.work, stdin=subprocess.DEVNULL)
                try:
                    status = p.wait(timeout=random.uniform(0.1, seconds) if kills < 4 else 300)
                except subprocess.TimeoutExpired:
                    p.kill(); p.wait(); kills += 1
            check(status == 0, f'{name}: exit {status} after {kills} kills')
            check(self.rows_of() == want, f'{name}: other rows after {kills} kills')

    def too_large(self):
        """Rows that wait for the watermark in an ORDER BY stay in memory: an error, the checkpoint stays, and with more memory it goes on."""
        self.input(1_300_000, 700_000, 1000)
        (self.work / 'job.sql').write_text(UNBOUNDED)
        shutil.rmtree(self.work / 'state', ignore_errors=True)
        text, rss, _ = self.run('--state-dir', 'state', '--memory', '1MB', '--checkpoint-every', '100000', exit=1)
        check('does not fit' in text and '--memory 1 MB' in text and 'hint' in text, text)
        check(rss <= 200 * MIB, f'{rss / MIB:.0f} MiB resident')
        check(list((self.work / 'state').rglob('chk-*')), 'no checkpoint was kept')
        text, _, _ = self.run('--state-dir', 'state', '--memory', '1GB')
        check(re.search(r'goes on from .*, after row [1-9]', text), text)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument('--bin', default='build/tidemark')
    ap.add_argument('names', nargs='*')
    a = ap.parse_args()
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix='tide-state-') as folder:
        tests = Tests(os.path.abspath(a.bin), pathlib.Path(folder))
        for name in a.names or [*KINDS, *UNBOUNDED_KINDS, 'restored', 'restored_topn', 'restored_join', 'checkpoints', 'killed', 'too_large']:
            start = time.monotonic()
            try:
                if name in KINDS:
                    tests.kind(name)
                elif name in UNBOUNDED_KINDS:
                    tests.unbounded(name)
                else:
                    getattr(tests, name)()
            except Failed as failure:
                print(f'FAIL {name}: {failure}', flush=True)
                failed += 1
                continue
            print(f'ok   {name} ({time.monotonic() - start:.1f} s)', flush=True)
            passed += 1
    print(f'{passed} passed, {failed} failed')
    return bool(failed)


if __name__ == '__main__':
    sys.exit(main())
