#!/usr/bin/env python3
"""Kill a Top-N job again and again, let it resume, and compare its output with that of a run left alone.

usage: kill_test.py --quick | --full | --points | --damage | --point NAME  [--bin PATH] [--seed N] [--keep]

The rows are out of order and partly late, so that what was late before a kill must be late after it. SIGKILL comes at
random moments between the job's first row and its end; a kill that comes too late does not count. Then, once for each
named point, the program kills itself there (TIDE_KILL_POINT=NAME:N kills at the Nth passing). After each kill: a visible
file never changes or disappears. At the end: the visible files, joined in name order, are byte for byte those of the run
left alone. In another run the newest checkpoint is damaged after each kill (cut, a bit flipped, deleted), now and then all
but the oldest are deleted: the job falls back to what is left, makes again what is visible already, and the bytes are the
same. If all of them are deleted, the job refuses to begin, until what says that there were some is deleted too. `--full` is 2 million rows, a checkpoint every 20,000 and 50 kills, 20 with damage; `--quick` a tenth
of that; `--points` only the points, `--damage` only the damage, on few rows. Last line: `N passed, M failed`.
"""
import argparse, hashlib, json, os, pathlib, random, re, shutil, signal, subprocess, sys, tempfile, time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
POINTS = ['savepoint.before-rename', 'savepoint.after-rename', 'savepoint.before-dirsync', 'sink.before-rename',
          'sink.after-rename', 'sink.after-prepare', 'state.sealing', 'state.ingesting', 'restore.begin', 'restore.middle', 'restore.done']
JOB = """CREATE TABLE Bid (ts TIMESTAMP(3), auction BIGINT, bidder BIGINT, price DECIMAL(10,2), channel STRING,
  WATERMARK FOR ts AS ts - INTERVAL '1' SECOND) WITH ('connector'='filesystem','path'='bid.csv','format'='csv');
CREATE TABLE Top3 (ws TIMESTAMP(3), we TIMESTAMP(3), auction BIGINT, c BIGINT, s DECIMAL(38,2), rk BIGINT)
  WITH ('connector'='filesystem','path'='out','format'='csv');
INSERT INTO Top3 SELECT window_start, window_end, auction, c, s, rk FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY c DESC, s DESC) AS rk FROM (
    SELECT window_start, window_end, auction, COUNT(*) AS c, SUM(price) AS s
    FROM TABLE(TUMBLE(TABLE Bid, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end, auction)) WHERE rk <= 3;
"""
# Much state, of which little changes between two checkpoints: most of them are deltas. Added up, and put and deleted by row.
LONG = JOB.split('CREATE TABLE Top3')[0] + """CREATE TABLE Sums (auction BIGINT, c BIGINT, s DECIMAL(38,2), m STRING)
  WITH ('connector'='filesystem','path'='out/sums','format'='csv');
CREATE TABLE Best (auction BIGINT, price DECIMAL(10,2), bidder BIGINT, rk BIGINT) WITH ('connector'='filesystem','path'='out/best','format'='csv');
EXECUTE STATEMENT SET BEGIN
INSERT INTO Sums SELECT auction, COUNT(*), SUM(price), MAX(channel) FROM TABLE(TUMBLE(TABLE Bid, DESCRIPTOR(ts), INTERVAL '1' HOUR))
  GROUP BY window_start, window_end, auction;
INSERT INTO Best SELECT auction, price, bidder, rk FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, auction
    ORDER BY price DESC) AS rk FROM TABLE(TUMBLE(TABLE Bid, DESCRIPTOR(ts), INTERVAL '1' HOUR))) WHERE rk <= 2;
END;
"""
LONG_POINTS = ['delta.writing', 'delta.before-rename', 'delta.after-rename', 'checkpoint.compacting', 'retain.before-remove',
               'retain.after-remove', 'restore.middle']
DEADLINE_S = 300
TOTAL = {'runs': 0, 'faults': 0, 'rows': 0}    # what was done: starts, kills, rows compared


class Failure(Exception):
    pass


class Job:
    """The job over a private copy of its folder; `bid.csv` is shared."""
    def __init__(self, test, name):
        self.test, self.folder = test, test.scratch / name
        self.folder.mkdir()
        (self.folder / 'job.sql').write_text(test.sql)
        (self.folder / 'bid.csv').hardlink_to(test.data)
        self.state, self.out = self.folder / 'state', self.folder / 'out'
        self.seen, self.damaged = {}, set()

    def start(self, point=None, threads=None):
        env = dict(os.environ)
        env.pop('TIDE_KILL_POINT', None)
        if point:
            env['TIDE_KILL_POINT'] = point
        threads = threads or self.test.random.choice([1, 2])
        TOTAL['runs'] += 1
        self.log = open(self.folder / 'stderr.txt', 'ab')
        return subprocess.Popen([self.test.binary, 'run', 'job.sql', '--state-dir', 'state', '--checkpoint-every', str(self.test.every),
                                 '--parallelism', str(threads), '--progress', 'never'], cwd=self.folder, env=env,
                                stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)

    def finish(self, process):
        """Waits; -> exit status. Checks what must hold after any end."""
        try:
            status = process.wait(DEADLINE_S)
        except subprocess.TimeoutExpired:
            process.kill(); process.wait()
            raise Failure(f'still running after {DEADLINE_S} s')
        finally:
            self.log.close()
        if status not in (0, -signal.SIGKILL):
            raise Failure(f'exit {status}: ' + (self.folder / 'stderr.txt').read_text(errors='replace')[-600:])
        self.check_visible()
        TOTAL['faults'] += status == -signal.SIGKILL
        return status

    def check_refused(self):
        """All checkpoints are gone, and that is noticed. Then the note of them goes too, and the job may begin again."""
        process = self.start()
        status = process.wait(DEADLINE_S)
        self.log.close()
        if status != 3 or b'are gone' not in (self.folder / 'stderr.txt').read_bytes():
            raise Failure(f'all checkpoints deleted: exit {status}, expected 3')
        for f in self.state.glob('job-*/newest'):
            f.unlink()

    def visible(self):
        return sorted(f for f in self.out.rglob('*') if f.is_file() and not f.name.startswith(('.', '_'))) if self.out.exists() else []

    def check_visible(self):
        now = {str(f.relative_to(self.out)): hashlib.sha256(f.read_bytes()).hexdigest() for f in self.visible()}
        for name, digest in self.seen.items():
            if now.get(name) != digest:
                raise Failure(f'visible file {name} ' + ('changed' if name in now else 'disappeared'))
        self.seen = now

    def output(self):
        return b''.join(f.read_bytes() for f in self.visible())

    def checkpoints(self):
        """Names of the checkpoints that are whole: only their number tells how far the job has come."""
        return {f for folder, _, files in os.walk(self.state) for f in files
                if f.startswith('chk-') and f.endswith(('.savepoint', '.delta'))}

    def remove(self):
        if not self.test.keep:
            shutil.rmtree(self.folder, ignore_errors=True)


class Test:
    sql = JOB

    def __init__(self, a, scratch, rows, every):
        scratch.mkdir(exist_ok=True)
        self.binary, self.keep, self.scratch, self.every = os.path.abspath(a.bin), a.keep, scratch, every
        self.random = random.Random(a.seed)
        self.data, self.rows = scratch / 'bid.csv', rows
        subprocess.run(['cc', '-O2', '-o', scratch / 'bids', ROOT / 'bench' / 'bids.c'], check=True)
        with open(self.data, 'wb') as f:
            subprocess.run([scratch / 'bids', str(rows), '20000', '3600', '3000'], stdout=f, check=True)
        start = time.monotonic()
        alone = Job(self, 'alone')
        if alone.finish(alone.start()) != 0:
            raise Failure('the run that was left alone was killed')
        self.want, self.seconds = alone.output(), time.monotonic() - start
        if self.want.count(b'\n') < 100:
            raise Failure(f'the run left alone gave only {len(self.want)} bytes')
        print(f'{rows} rows, a checkpoint every {every}; left alone: {self.seconds:.1f} s, {self.want.count(10)} rows out, '
              f'{len(alone.visible())} files', flush=True)
        alone.remove()

    def compare(self, job):
        got = job.output()
        TOTAL['rows'] += got.count(b'\n')
        if got != self.want:
            a, b = self.want.splitlines(), got.splitlines()
            n = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
            raise Failure(f'{len(b)} rows, expected {len(a)}; first difference in line {n + 1}: {b[n:n + 1]} instead of {a[n:n + 1]}')
        hidden = [f.name for f in job.out.rglob('.part-*')]
        if hidden:
            raise Failure(f'hidden files left: {hidden[:3]}')

    def kill_once(self, job, process, checkpoints, interval_s):
        """Kills after so many new checkpoints and a random moment; True if the job was still running."""
        before, start = job.checkpoints(), time.monotonic()
        new = set()
        while len(new) < checkpoints and process.poll() is None and time.monotonic() - start < DEADLINE_S:
            new |= job.checkpoints() - before
            time.sleep(0.0005)
        time.sleep(self.random.uniform(0, interval_s))
        process.send_signal(signal.SIGKILL)
        return job.finish(process) == -signal.SIGKILL, len(new)

    def random_kills(self, kills):
        """One run, killed `kills` times. How far each attempt may come is drawn so that the run lasts for all of them."""
        done, rounds, total = 0, 0, self.rows // self.every
        interval_s = self.seconds / total
        while done < kills:
            rounds += 1
            if rounds > 5:
                raise Failure(f'only {done} kills out of {kills} came in time')
            job, come = Job(self, f'killed-{rounds}'), 0
            while True:
                allowed = (total - 2 - come) / max(1, kills - done)
                # Waiting for checkpoints costs one or two more until they are seen, so that is done only where there is room.
                want = 1 if not come else int(self.random.uniform(0, max(0.0, allowed - 2)))
                process = job.start()
                if done < kills:
                    counted, seen = self.kill_once(job, process, want, interval_s + 0.02 if allowed > 1 else interval_s / 2)
                else:
                    counted, seen = job.finish(process) == -signal.SIGKILL, 0
                come += seen
                done += counted
                if not counted:
                    break
            self.compare(job)
            job.remove()
        print(f'{done} random kills in {rounds} run{"s" if rounds > 1 else ""}: the same bytes', flush=True)

    def damage(self, job):
        """Damages the newest whole checkpoint, or deletes several; -> what it did. A whole one stays, or none is left at all."""
        files = sorted((f for f in job.state.glob('job-*/checkpoints/chk-*') if f.suffix in ('.savepoint', '.delta')),
                       key=lambda f: int(f.stem.split('-')[1]))
        whole = [f for f in files if f not in job.damaged]
        how = self.random.choice(['cut', 'cut', 'flip', 'flip', 'delete', 'delete', 'delete all but one', 'delete all'])
        if len(whole) < 2:
            return 'nothing'
        if how == 'delete all':
            for f in files:
                f.unlink()
            job.damaged.clear()
            job.check_refused()
            return how
        for f in whole[1:] if how == 'delete all but one' else whole[-1:]:
            data = bytearray(f.read_bytes())
            if how == 'cut':
                f.write_bytes(data[:self.random.randrange(len(data))])
            elif how == 'flip':
                data[self.random.randrange(len(data))] ^= 1 << self.random.randrange(8)
                f.write_bytes(data)
            else:
                f.unlink()
            if f.exists():
                job.damaged.add(f)
        return how

    def damage_after_kills(self, kills):
        """Kills a few checkpoints after each start; after each kill the job loses checkpoints. At the end it runs on undisturbed."""
        done, runs, count = {}, 0, 0
        while count < kills:
            runs += 1
            if runs > 10:
                raise Failure(f'only {count} kills out of {kills} came in time')
            job = Job(self, f'damaged-{runs}')
            while True:
                before = {f: f.stat().st_mtime_ns for f in job.damaged}
                process = job.start()
                if count < kills:
                    killed, _ = self.kill_once(job, process, self.random.choice([1, 2, 3]), self.seconds * self.every / self.rows)
                else:
                    killed = job.finish(process) == -signal.SIGKILL
                if not killed:
                    break
                # What this attempt has written over a damaged one is whole.
                job.damaged = {f for f in job.damaged if f.exists() and f.stat().st_mtime_ns == before[f]}
                how = self.damage(job)
                done[how] = done.get(how, 0) + 1
                count += how != 'nothing'
            self.compare(job)
            job.remove()
        what = ', '.join(f'{k} {v}x' for k, v in sorted(done.items()))
        print(f'{count} kills with damaged checkpoints ({what}) in {runs} run{"s" if runs > 1 else ""}: the same bytes', flush=True)

    def kill_at(self, point):
        """The program kills itself at the point; a restore's points are passed by the attempt after a first kill."""
        job, times = Job(self, point), self.random.randint(1, 3)
        if point.startswith('restore.'):
            if job.finish(job.start('savepoint.after-rename:3')) == 0:
                raise Failure('savepoint.after-rename was never passed three times')
            times = 1
        if job.finish(job.start(f'{point}:{times}')) == 0:
            raise Failure(f'the point was not passed {times} times')
        if job.finish(job.start()) != 0:
            raise Failure('the resumed run was killed')
        self.compare(job)
        job.remove()
        print(f'killed at {point}, passing {times}: the same bytes', flush=True)


class LongTest(Test):
    sql = LONG

    def count_deltas(self):
        """The job makes deltas and full checkpoints, in chains that it bounds; no file is left over."""
        job = Job(self, 'counted')
        if job.finish(job.start()) != 0:
            raise Failure('the run was killed')
        summary = (job.folder / 'stderr.txt').read_text()
        found = re.search(r'(\d+) checkpoints \((\d+) of them deltas', summary)
        if not found or not 0 < int(found[2]) < int(found[1]) - 1:
            raise Failure(f'not both deltas and full checkpoints: {summary[-300:]}')
        files = [f.name for f in job.state.rglob('chk-*')]
        if len(files) > 20 or any('tmp' in f for f in files):
            raise Failure(f'left over: {sorted(files)}')
        self.compare(job)
        job.remove()
        print(f'{found[1]} checkpoints, {found[2]} of them deltas', flush=True)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument('--quick', action='store_true'); ap.add_argument('--full', action='store_true')
    ap.add_argument('--points', action='store_true'); ap.add_argument('--damage', action='store_true')
    ap.add_argument('--point', action='append', default=[])
    ap.add_argument('--bin', default='build/tidemark'); ap.add_argument('--seed', type=int, default=1)
    ap.add_argument('--keep', action='store_true', help='keep the folders and say where'); ap.add_argument('--json')
    ap.add_argument('--kills', type=int, help='random kills of each job, instead of 50 or 8')
    a = ap.parse_args()
    rows, every, kills = (2000000, 20000, 50) if a.full else (200000, 5000, 8) if a.quick else (60000, 3000, 0)
    kills = a.kills if a.kills and kills else kills
    passed = failed = 0
    scratch = pathlib.Path(tempfile.mkdtemp(prefix='tide-kill-'))
    try:
        test = Test(a, scratch, rows, every)
        checks = [(f'{kills} random kills', lambda: test.random_kills(kills))] if kills else []
        if not a.damage:
            checks += [(p, lambda p=p: test.kill_at(p)) for p in a.point or POINTS]
        damages = 20 if a.full else 8
        if a.damage or kills:
            checks.append(('damaged checkpoints', lambda: test.damage_after_kills(damages)))
        if not a.damage and not a.point:
            long = LongTest(a, scratch / 'long', min(rows, 200000), min(every, 5000))
            checks.append(('deltas', long.count_deltas))
            if kills:
                checks.append((f'{kills} random kills with deltas', lambda: long.random_kills(kills)))
            checks += [(f'{p} with deltas', lambda p=p: long.kill_at(p)) for p in LONG_POINTS]
            if kills:
                checks.append(('damaged checkpoints with deltas', lambda: long.damage_after_kills(damages)))
        for name, check in checks:
            try:
                check(); passed += 1
            except Failure as e:
                failed += 1; print(f'FAIL {name}: {e}', flush=True)
    except (Failure, OSError, subprocess.CalledProcessError) as e:
        failed += 1; print(f'FAIL: {e}')
    if a.keep:
        print(f'kept: {scratch}')
    else:
        shutil.rmtree(scratch, ignore_errors=True)
    if a.json:
        pathlib.Path(a.json).write_text(json.dumps({**TOTAL, 'losses': failed}))
    print(f'{passed} passed, {failed} failed')
    return failed != 0


if __name__ == '__main__':
    sys.exit(main())
