#!/usr/bin/env python3
"""Kill a job that watches a folder while files arrive, let it resume, and compare with a job that reads the folder once.

usage: watch_test.py [--bin PATH] [--seed N] [--seconds S]

Files come whole (renamed into the folder) at random moments, whether the job runs or not. The job ends by SIGKILL or SIGTERM at
random moments. At the end what it has published must be the first part of what one run over all files gives, but for the
windows that no watermark has closed. Last line: `N passed, M failed`.
"""
import argparse, json, os, pathlib, random, shutil, signal, subprocess, tempfile, time

JOB = """CREATE TABLE t (ts TIMESTAMP(3), k STRING, v INT, WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
WITH ('connector'='filesystem','path'='in','format'='json'%s);
CREATE TABLE s (ws TIMESTAMP(3), k STRING, c BIGINT, m INT) WITH ('connector'='filesystem','path'='out','format'='csv');
INSERT INTO s SELECT window_start, k, COUNT(*), SUM(v) FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' SECOND)
GROUP BY window_start, window_end, k;
"""
KEYS = 3


class Feed:
    """Rows ten a second of event time, in files whose names grow."""
    def __init__(self, folder, rng):
        self.folder, self.rng, self.rows, self.files = folder, rng, 0, 0

    def file(self):
        until = self.rows + self.rng.randint(1, 3000)
        coming = self.folder / 'coming'
        with open(coming, 'w') as f:
            for i in range(self.rows, until):
                s, tenth = divmod(i, 10)
                f.write('{"ts":"2024-01-01 %02d:%02d:%02d.%d00","k":"k%d","v":%d}\n' % (s // 3600, s // 60 % 60, s % 60, tenth, i % KEYS, i))
        os.rename(coming, self.folder / 'in' / f'f{self.files:06d}')
        self.rows, self.files = until, self.files + 1


def output(folder):
    return ''.join(f.read_text() for f in sorted((folder / 'out').glob('*')) if not f.name.startswith('.'))


def start(binary, folder, *options):
    return subprocess.Popen([binary, 'run', 'job.sql', '--state-dir', 'state', '--checkpoint-interval', '30ms', *options], cwd=folder,
                            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def check(binary, folder, rng, seconds, done):
    (folder / 'in').mkdir()
    (folder / 'job.sql').write_text(JOB % ",'source.monitor-interval'='10 ms'")
    (folder / 'all.sql').write_text(JOB % '')
    feed, stops, end = Feed(folder, rng), 0, time.monotonic() + seconds
    while time.monotonic() < end and feed.rows < 700000:   # a day's worth is 864,000
        job, stop = start(binary, folder, '--parallelism', '2'), time.monotonic() + rng.uniform(0.02, 0.5)
        while time.monotonic() < stop:
            if rng.random() < 0.5:
                feed.file()
            time.sleep(rng.uniform(0.001, 0.05))
        job.send_signal(rng.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM]))
        if job.wait(60) not in (-signal.SIGKILL, -signal.SIGTERM, 5):
            return f'stop {stops}: exit {job.returncode}'
        stops += 1
    whole = subprocess.run([binary, 'run', 'all.sql'], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if whole.returncode != 0:
        return f'the run over all files: exit {whole.returncode}: {whole.stderr}'
    # Its output came to the same folder, behind the job's: tell them apart by the names' run.
    files = sorted(f.name for f in (folder / 'out').glob('part-*'))
    names = {f for f in files if f.split('-')[1] == files[-1].split('-')[1]}
    want = ''.join((folder / 'out' / f).read_text() for f in sorted(names))
    for f in names:
        (folder / 'out' / f).unlink()
    lines, deadline = want.count('\n'), time.monotonic() + 60
    job = start(binary, folder)
    while output(folder).count('\n') < lines - 2 * KEYS and time.monotonic() < deadline and job.poll() is None:
        time.sleep(0.05)
    job.terminate()
    if job.wait(60) not in (5, -signal.SIGTERM):           # all was out before it could listen for signals
        return f'the last stop: exit {job.returncode}'
    got = output(folder)
    done |= {'runs': stops + 2, 'faults': stops, 'rows': got.count(chr(10))}
    print(f'{stops} stops, {feed.files} files, {feed.rows} rows, {got.count(chr(10))} of {lines} rows out')
    if not want.startswith(got):
        return 'the output is not the first part of that of one run'
    return None if got.count('\n') >= lines - 2 * KEYS else f'only {got.count(chr(10))} of {lines} rows'


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument('--bin', default='build/tidemark'); ap.add_argument('--seed', type=int, default=1)
    ap.add_argument('--seconds', type=float, default=8); ap.add_argument('--json')
    a = ap.parse_args()
    binary = os.path.abspath(a.bin)
    if not os.access(binary, os.X_OK):
        print(f'{a.bin} is not there: ./dev build'); print('0 passed, 1 failed'); return 1
    folder = pathlib.Path(tempfile.mkdtemp(prefix='tide-watch-'))
    try:
        why = check(binary, folder, random.Random(a.seed), a.seconds, done := {})
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if why:
        print(f'FAIL seed {a.seed}: {why}')
    if a.json:
        pathlib.Path(a.json).write_text(json.dumps({**done, 'losses': int(bool(why))}))
    print(f'{int(not why)} passed, {int(bool(why))} failed')
    return int(bool(why))


if __name__ == '__main__':
    raise SystemExit(main())
