#!/usr/bin/env python3
"""Make one call to the file system, or one allocation, fail; let the job resume; compare with the run left alone.

usage: fault_test.py [--bin PATH] [--full | --every STEP] [--job NAME] [--op OP] [--error ERROR] [--keep] [-v]

For each call that the job makes on its folder (write, fsync, open, rename, ...; RocksDB's too) and each error, the first, the
second, ... call fails until a run passes untouched (`--full`; by default a sample of them). The same for each allocation through
base/; and before each call that changes something, the process is killed. A failed run ends with a message and exit 1, 3 or 6; one that got over the failure gives the whole output. Whatever it was,
starting it again without the fault gives the output of the run left alone, byte for byte. Last line: `N passed, M failed`.
"""
import argparse, concurrent.futures, json, os, pathlib, shutil, signal, subprocess, sys, tempfile, threading
import jobs
from jobs import Failure, Place

# EINTR stands for what must go unnoticed where POSIX allows it: reads and writes. SHORT likewise.
FAULTS = [(op, error) for op in ('write', 'read', 'open', 'fsync', 'fdatasync', 'rename', 'link', 'unlink', 'ftruncate', 'mkdir', 'close')
          for error in ('EIO', 'ENOSPC', 'EINTR', 'SHORT')
          if (error != 'SHORT' or op in ('write', 'read')) and (error != 'ENOSPC' or op in ('write', 'fsync', 'open', 'rename', 'link', 'mkdir', 'close'))
          and (error != 'EINTR' or op in ('write', 'read', 'open', 'fsync'))]
KILL = ('any', 'KILL')
# Commands that write a savepoint; `state` is a state directory with deltas, DAMAGED a savepoint with a broken chunk.
SAVEPOINTS = {'take': ['savepoint', 'take', 'state', '-o', 'OUT'], 'salvage': ['savepoint', 'salvage', 'DAMAGED', '-o', 'OUT'],
              'stop': ['run', 'job.sql', '--stop-with-savepoint', 'OUT', '--after', '777', '--progress', 'never']}
TEXTS = {'EIO': 'Input/output error', 'ENOSPC': 'No space left on device', 'EINTR': 'Interrupted system call'}


class Test:
    def __init__(self, a, scratch):
        self.scratch, self.binary, self.verbose = scratch, os.path.abspath(a.bin), a.verbose
        self.shim = jobs.build_shim(scratch)
        self.count, self.lock = 0, threading.Lock()
        self.runs = self.injected = self.rows = 0
        self.failures = []
        self.codes = {}

    def place(self, name):
        with self.lock:
            self.count += 1
            n = self.count
        return Place(self.binary, self.scratch / f'{name}-{n}', name)

    def resume(self, place, want, what, p):
        again = place.run()
        if again.returncode != 0:
            raise Failure(f'{what}: exit {p.returncode} ({" ".join(p.stderr.split())[:200]}), then resumed: exit {again.returncode}: {again.stderr.strip()[:400]}')
        got = place.output()
        if got != want:
            raise Failure(f'{what}: exit {p.returncode}, then resumed: {jobs.first_difference(want, got)}')
        if place.hidden():
            raise Failure(f'{what}: hidden files left: {place.hidden()}')
        with self.lock:
            self.rows += sum(v.count(b'\n') for v in got.values())

    def check_end(self, p, what, allowed):
        if p.returncode not in allowed:
            raise Failure(f'{what}: exit {p.returncode}: {p.stderr.strip()[-400:]}')
        if p.returncode > 0 and 'error' not in p.stderr and 'out of memory' not in p.stderr:
            raise Failure(f'{what}: exit {p.returncode} and no message: {p.stderr!r}')
        with self.lock:
            self.codes[p.returncode] = self.codes.get(p.returncode, 0) + 1

    def one_call(self, name, want, op, error, n):
        """-> False if the run made fewer calls."""
        place, what = self.place(name), f'{name}: {op} {n} fails with {error}'
        done = place.folder.with_suffix('.done')
        p = place.run({'LD_PRELOAD': str(self.shim), 'TIDE_SHIM_UNDER': str(place.folder), 'TIDE_SHIM_FAULT': f'{op}:{error}:{n}',
                       'TIDE_SHIM_DONE': str(done)})
        injected = done.exists()
        where = done.read_text().split('/')[-1].strip() if injected else ''
        done.unlink(missing_ok=True)
        what += f' ({where})'
        with self.lock:
            self.runs += 1 + injected
            self.injected += injected
        # Two things of RocksDB's: it asserts that reading its files works, and takes a CURRENT that can't be opened for another error.
        asserts = op == 'read' and p.returncode == -signal.SIGABRT and 'rocksdb::' in p.stderr
        self.check_end(p, what, (-signal.SIGKILL,) if injected and error == 'KILL' else (0, 1, 3, 6, -signal.SIGABRT if asserts else 1) if injected else (0,))
        if asserts or error == 'KILL' or (op == 'open' and where == 'CURRENT'):
            pass
        elif p.returncode != 0 and TEXTS.get(error, '') not in p.stderr and error != 'SHORT':
            raise Failure(f'{what}: the message does not say {TEXTS[error]}: {p.stderr.strip()[-300:]}')
        if p.returncode != 0 and error in ('EINTR', 'SHORT') and op in ('write', 'read'):
            raise Failure(f'{what}: exit {p.returncode}, but nothing was wrong: {p.stderr.strip()[-300:]}')
        if p.returncode == 0 and place.output() != want:
            raise Failure(f'{what}: exit 0 but {jobs.first_difference(want, place.output())}')
        if injected:
            self.resume(place, want, what, p)
        place.remove()
        if self.verbose:
            print(f'{what}: exit {p.returncode} {" ".join(p.stderr.split())[:160] if p.returncode else ""}', flush=True)
        return injected

    def one_savepoint(self, made, name, op, error, n):
        """Of a command that writes a savepoint: afterwards the file is whole or absent, and nothing else is new."""
        with self.lock:
            self.count += 1
            folder = self.scratch / f'{name}-{self.count}'
        what = f'{name}: {op} {n} fails with {error}'
        shutil.copytree(made, folder, ignore=shutil.ignore_patterns('control'))
        before, done = {f for f in folder.rglob('*')}, folder.with_suffix('.done')
        env = {k: v for k, v in os.environ.items() if not k.startswith('TIDE_')}
        call = lambda extra={}: subprocess.run([self.binary, *SAVEPOINTS[name]], cwd=folder, env={**env, **extra}, capture_output=True, text=True,
                                               stdin=subprocess.DEVNULL, timeout=jobs.TIMEOUT_S)
        p = call({'LD_PRELOAD': str(self.shim), 'TIDE_SHIM_UNDER': str(folder), 'TIDE_SHIM_FAULT': f'{op}:{error}:{n}', 'TIDE_SHIM_DONE': str(done)})
        injected, out = done.exists(), folder / 'OUT'
        done.unlink(missing_ok=True)
        with self.lock:
            self.runs += 1 + injected
            self.injected += injected
        self.check_end(p, what, ((-signal.SIGKILL,) if error == 'KILL' else (0, 1, 3, 6)) if injected else (0,))
        whole = lambda: subprocess.run([self.binary, 'savepoint', 'verify', 'OUT'], cwd=folder, capture_output=True).returncode == 0
        if out.exists() and not whole() or p.returncode == 0 and not out.exists():
            raise Failure(f'{what}: exit {p.returncode}, and the savepoint is ' + ('not whole' if out.exists() else 'not there'))
        left = sorted(str(f.relative_to(folder)) for f in folder.rglob('*') if f not in before and f != out and 'OUT' in f.name)
        if left and error != 'KILL' and op != 'unlink':
            raise Failure(f'{what}: left over: {left}')
        out.unlink(missing_ok=True)
        again = call()
        if again.returncode != 0 or not whole():
            raise Failure(f'{what}: again: exit {again.returncode}: {again.stderr[-300:]}')
        shutil.rmtree(folder)
        return injected

    def one_allocation(self, name, want, n):
        place, what = self.place(name), f'{name}: allocation {n} fails'
        p = place.run({'TIDE_FAULT_ALLOC': str(n)})
        injected = 'out of memory' in p.stderr
        with self.lock:
            self.runs += 1 + injected
            self.injected += injected
        self.check_end(p, what, (1,) if injected else (0,))
        if injected:
            self.resume(place, want, what, p)
        place.remove()
        return injected

    def all_of(self, title, one, step, first, workers):
        """Calls one(n) for n = first, first + step, ... until one says that there are no more."""
        before, n = self.injected, first
        with concurrent.futures.ThreadPoolExecutor(workers) as pool:
            while True:
                numbers = [n + i * step for i in range(workers * 2)]
                n = numbers[-1] + step
                more = True
                for future in [pool.submit(one, number) for number in numbers]:
                    try:
                        more &= future.result()
                    except Failure as e:
                        self.failures.append(str(e)); print(f'FAIL {e}', flush=True)
                if not more or len(self.failures) > 40:
                    break
        if self.verbose or step == 1:
            print(f'{title}: {self.injected - before} failures', flush=True)


def savepoint_commands(test, a):
    """-> how many groups."""
    made = Place(test.binary, test.scratch / 'made', 'deltas')
    p = made.run({'TIDE_KILL_POINT': 'delta.after-rename:2'})
    if not jobs.was_killed(p.returncode):
        raise Failure(f'no two deltas: exit {p.returncode}: {p.stderr}')
    shutil.rmtree(made.out)
    whole = max(made.state.glob('job-1/checkpoints/*.savepoint'), key=lambda f: int(f.stem[4:]))
    data = bytearray(whole.read_bytes())
    data[len(data) // 3] ^= 1
    (made.folder / 'DAMAGED').write_bytes(data)
    faults = [f for f in [*FAULTS, KILL] if f[0] in ('write', 'read', 'open', 'fsync', 'rename', 'unlink', 'any', 'mkdir')]
    step = 1 if a.full else a.every // 2
    for name in SAVEPOINTS:
        for i, (op, error) in enumerate(faults):
            if a.op in (None, op) and a.error in (None, error):
                test.all_of(f'savepoint {name} {op} {error}', lambda n: test.one_savepoint(made.folder, name, op, error, n), step, 1 + i % step, a.jobs)
    return len(SAVEPOINTS)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument('--bin', default='build/tidemark')
    ap.add_argument('--full', action='store_true'); ap.add_argument('--every', type=int, default=41)
    ap.add_argument('--job', choices=sorted(jobs.JOBS)); ap.add_argument('--op'); ap.add_argument('--error')
    ap.add_argument('--keep', action='store_true'); ap.add_argument('-v', '--verbose', action='store_true')
    ap.add_argument('--allocations', type=int, help='every so many-th; 0: none')
    ap.add_argument('--jobs', type=int, default=os.cpu_count()); ap.add_argument('--json')
    a = ap.parse_args()
    scratch = pathlib.Path(tempfile.mkdtemp(prefix='tide-fault-'))
    groups = 0
    try:
        test = Test(a, scratch)
        for name in [a.job] if a.job else list(jobs.JOBS):
            want = jobs.left_alone(test.binary, scratch, name)
            step = 1 if a.full else a.every if name != 'deltas' else 3 * a.every
            for i, (op, error) in enumerate(FAULTS):
                if a.op not in (None, op) or a.error not in (None, error):
                    continue
                groups += 1
                # In a sample each error looks at other calls.
                test.all_of(f'{name} {op} {error}', lambda n: test.one_call(name, want, op, error, n), step, 1 + i % step, a.jobs)
            if a.op in (None, 'any'):
                groups += 1
                test.all_of(f'{name} kills', lambda n: test.one_call(name, want, *KILL, n), max(1, step // 6), 1, a.jobs)
            allocations = a.allocations if a.allocations is not None else 1 if a.full else 199
            if allocations and a.op in (None, 'allocation'):
                groups += 1
                test.all_of(f'{name} allocations', lambda n: test.one_allocation(name, want, n), allocations, 1, a.jobs)
        if a.op != 'allocation' and a.job is None:
            groups += savepoint_commands(test, a)
        failures = test.failures
        print(f'{test.runs} runs, {test.injected} faults injected, {test.rows} rows compared; exits ' +
              ', '.join(f'{k}: {v}' for k, v in sorted(test.codes.items())))
        if a.json:
            pathlib.Path(a.json).write_text(json.dumps({'runs': test.runs, 'faults': test.injected, 'rows': test.rows, 'losses': len(failures)}))
    except Failure as e:
        failures = [str(e)]; print(f'FAIL {e}')
    finally:
        if a.keep:
            print(f'kept: {scratch}')
        else:
            shutil.rmtree(scratch, ignore_errors=True)
    print(f'{max(0, groups - len(failures))} passed, {len(failures)} failed')
    return int(bool(failures))


if __name__ == '__main__':
    sys.exit(main())
