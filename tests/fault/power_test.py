#!/usr/bin/env python3
"""Cut the power at any moment: what was not synced is lost or torn; start again from what is left; compare.

usage: power_test.py [--bin PATH] [--full | --points N] [--job NAME] [--seed N] [--keep]

The shim records every write, sync and change of names of a run (state directory and sinks), of a second one also those of an
attempt that was killed and of the one after it. For each prefix of the record, the folder is built as the power cut may leave it
(disk.py): nothing that was not synced; all names and no data; names and zeros; any part of both, torn. The job is started there.
It must end well and give the output of the run left alone, every file that a reader could see before the cut must be there with
the same bytes, and what is visible right after the cut is whole. By default some moments, `--full` all of them, each in several
ways. Last line: `N passed, M failed`.
"""
import argparse, concurrent.futures, hashlib, json, os, pathlib, random, shutil, sys, tempfile, threading
import jobs
from disk import Disk, read_record
from jobs import Failure, Place

HISTORIES = [('topn', []), ('sets', []), ('topn', ['sink.before-rename:2']), ('sets', ['savepoint.after-rename:2', 'restore.middle']),
             ('two', []), ('deltas', []), ('deltas', ['delta.before-rename:3'])]
WORK = lambda path: path.endswith('/work')              # the working state: thrown away at each start, so mostly left out
UNSEEN = ('LOCK', 'lock')                               # made by what the shim does not see, or of no content that counts


def is_visible(path):
    folders = path.split('/')
    return folders[0] == 'out' and not folders[-1].startswith(('.', '_'))


class Test:
    def __init__(self, a, scratch):
        self.a, self.scratch, self.binary = a, scratch, os.path.abspath(a.bin)
        self.shim = jobs.build_shim(scratch)
        self.lock, self.count, self.images, self.rows = threading.Lock(), 0, 0, 0
        self.failures = []

    def record(self, name, kills):
        """-> calls, the place's last output. Attempts are killed at the points in turn; the last one runs to the end."""
        place, calls = Place(self.binary, self.scratch / f'{name}-recorded-{len(kills)}', name), []
        for process, point in enumerate([*kills, None]):
            file = self.scratch / f'record-{process}'
            p = place.run({'LD_PRELOAD': str(self.shim), 'TIDE_SHIM_UNDER': str(place.folder), 'TIDE_SHIM_RECORD': str(file),
                           **({'TIDE_KILL_POINT': point} if point else {})})
            if not (jobs.was_killed(p.returncode) if point else p.returncode == 0):
                raise Failure(f'{name}, recorded, to be killed at {point}: exit {p.returncode}: {p.stderr[-300:]}')
            calls += read_record(file, process)
        disk = Disk()
        for call in calls:
            disk.apply(call)
        there = {str(f.relative_to(place.folder)): f.read_bytes() for f in place.folder.rglob('*') if f.is_file() and f.name not in ('job.sql', 'bid.csv')}
        recorded = disk.now()
        for path in sorted({*there, *recorded}):
            if not path.rpartition('/')[2].startswith(UNSEEN) and there.get(path) != recorded.get(path):
                raise Failure(f'{name}: the record does not give {path}: the shim misses calls')
        output = place.output()
        place.remove()
        return calls, output

    def check(self, what, name, image, seen, want):
        with self.lock:
            self.count += 1
            n = self.count
        place = Place(self.binary, self.scratch / f'{name}-{n}', name)
        for path, content in image.items():
            target = place.folder / path
            if content is None:
                target.mkdir(mode=0o700, exist_ok=True)
            else:
                target.write_bytes(content)
        for path, content in image.items():
            if is_visible(path) and content is not None and seen.get(path) != content:
                raise Failure(f'{what}: {path} is visible and not what it was')
        p = place.run()
        if p.returncode != 0:
            raise Failure(f'{what}: started again: exit {p.returncode}: {p.stderr.strip()[:500]}')
        got = place.output()
        if got != want:
            raise Failure(f'{what}: started again: {jobs.first_difference(want, got)}')
        for path, content in seen.items():
            file = place.folder / path
            if not file.exists() or file.read_bytes() != content:
                raise Failure(f'{what}: a reader saw {path}, and now it is ' + ('another' if file.exists() else 'gone'))
        with self.lock:
            self.images += 1
            self.rows += sum(v.count(b'\n') for v in got.values())
        place.remove()

    def moments(self, calls):
        """After how many calls the power goes. A sample prefers what follows a change of names or a sync of one."""
        every = range(len(calls) + 1)
        if self.a.full:
            return list(every)
        rng = random.Random(self.a.seed)
        sharp = [i + 1 for i, c in enumerate(calls) if c[0] in 'rmDuU' and '/work/' not in c[3]]
        return sorted({*rng.sample(sharp, min(len(sharp), self.a.points * 2 // 3)), *rng.sample(every, self.a.points // 3)})

    def history(self, name, kills, want):
        calls, output = self.record(name, kills)
        if output != want:
            raise Failure(f'{name}, recorded: {jobs.first_difference(want, output)}')
        disk, done, seen_images, work, before = Disk(), 0, set(), [], {}
        for moment in self.moments(calls):
            for call in calls[done:moment]:
                disk.apply(call)
            done = moment
            seen = {k: v for k, v in disk.now().items() if is_visible(k)}
            for path, content in before.items():
                if seen.get(path) != content:
                    raise Failure(f'{name}: after call {moment} the visible file {path} has changed or is gone')
            before = seen
            for way in ['strict', 'names', 'zeros'] + ['torn'] * (self.a.torn or 1):
                rng = random.Random(f'{self.a.seed} {name} {moment} {len(work)}')
                image = disk.image(way, rng, (lambda p: False) if way == 'torn' and rng.random() < 0.2 else WORK)
                key = hashlib.sha256(repr(sorted(image.items())).encode()).digest()
                if key not in seen_images:
                    seen_images.add(key)
                    work.append((f'{name}{" killed at " + ", ".join(kills) if kills else ""}: power cut after call {moment} of {len(calls)} ({way})', image, seen))
        with concurrent.futures.ThreadPoolExecutor(self.a.jobs) as pool:
            futures = [pool.submit(self.check, what, name, image, seen, want) for what, image, seen in work]
            for future in futures:
                try:
                    future.result()
                except Failure as e:
                    self.failures.append(str(e))
                    if len(self.failures) <= 20:
                        print(f'FAIL {e}', flush=True)
        print(f'{name}{" killed at " + ", ".join(kills) if kills else ""}: {len(calls)} calls, {len(work)} different power cuts', flush=True)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument('--bin', default='build/tidemark')
    ap.add_argument('--full', action='store_true'); ap.add_argument('--points', type=int, default=18)
    ap.add_argument('--torn', type=int, help='how many torn images a moment')
    ap.add_argument('--job', choices=sorted(jobs.JOBS)); ap.add_argument('--seed', type=int, default=1)
    ap.add_argument('--keep', action='store_true')
    ap.add_argument('--jobs', type=int, default=os.cpu_count()); ap.add_argument('--json')
    a = ap.parse_args()
    scratch = pathlib.Path(tempfile.mkdtemp(prefix='tide-power-'))
    histories = [h for h in HISTORIES if a.job in (None, h[0])]
    try:
        test, want = Test(a, scratch), {}
        for name, kills in histories:
            want[name] = want.get(name) or jobs.left_alone(test.binary, scratch, name)
            before = len(test.failures)
            test.history(name, kills, want[name])
        failures = test.failures
        print(f'{test.images} power cuts, {test.rows} rows compared')
        if a.json:
            pathlib.Path(a.json).write_text(json.dumps({'runs': test.images, 'faults': test.images, 'rows': test.rows, 'losses': len(failures)}))
    except Failure as e:
        failures = [str(e)]; print(f'FAIL {e}')
    finally:
        if a.keep:
            print(f'kept: {scratch}')
        else:
            shutil.rmtree(scratch, ignore_errors=True)
    print(f'{max(0, len(histories) - len(failures))} passed, {len(failures)} failed')
    return int(bool(failures))


if __name__ == '__main__':
    sys.exit(main())
