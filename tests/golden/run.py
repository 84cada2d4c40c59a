#!/usr/bin/env python3
"""Run the golden cases and compare with what Apache Flink 2.3.0 gave (README.md has the rules).

usage: run.py [--bin PATH] [--jobs N] [--variants SET] [--report] [-v] [AREA | AREA/CASE]...

Without names: the finished areas (AREAS). A case passes if the plain run agrees with Flink and every variant of the run
gives the very bytes of the plain one. A variant changes what must never matter: rows a batch, threads, checkpoints, memory, and
being stopped with a savepoint at a random row and resumed. The row is drawn from the case's name, so a failure repeats.
known-missing.txt names cases that may fail; one that passes must leave the list. `--report` runs all areas plain,
prints a line an area and exits 0. Last line: `N passed, M failed`.
"""
import argparse, collections, concurrent.futures, os, pathlib, random, re, shutil, subprocess, sys, tempfile

HERE = pathlib.Path(__file__).resolve().parent
AREAS = ['seed', 'tvf', 'agg', 'topn', 'late', 'join', 'dedup', 'legacy', 'extra', 'scalar', 'ddl', 'csv', 'json', 'batch', 'random', 'functions',
         'error', 'quirk']
WHOLE = ['seed', 'late']                            # no case of these may be on the list of missing ones
MISSING_MAX = 40
TIMEOUT_S = 120

SHORT = 'TIDE_SHORT_OF_MEMORY=1'                     # all state goes to disk after every batch
# name -> (options of `run` and variables, with a state directory?). Those that begin with 'stop' are stopped at a random row and resumed.
VARIANTS = {
    'batch-1': (['--batch-rows', '1'], False),
    'batch-7': (['--batch-rows', '7'], False),
    'batch-1024': (['--batch-rows', '1024'], False),
    'one-thread': (['--parallelism', '1'], False),
    'two-threads': (['--parallelism', '2'], False),
    'checkpoints': (['--checkpoint-every', '3'], True),
    'stop': ([], True),
    'mixed': (['--parallelism', '2', '--batch-rows', '2', '--checkpoint-every', '3'], True),
    'stop-mixed': (['--parallelism', '2', '--batch-rows', '1', '--checkpoint-every', '5'], True),
    'short': ([SHORT, '--batch-rows', '1'], False),
    'stop-short': ([SHORT, '--parallelism', '2', '--batch-rows', '3', '--checkpoint-every', '4'], True),
    'four-threads': (['--parallelism', '4', '--batch-rows', '1'], False),
    'threads-checkpoints': (['--parallelism', '3', '--batch-rows', '2', '--checkpoint-every', '2'], True),
}
SETS = {
    'none': [],
    'all': ['batch-1', 'batch-7', 'batch-1024', 'one-thread', 'two-threads', 'checkpoints', 'stop', 'mixed', 'stop-mixed',
            'short', 'stop-short'],
    'mixed': ['mixed', 'stop-mixed'],
    'short': ['short', 'stop-short'],
    'threads': ['four-threads', 'threads-checkpoints'],
}


class Block:
    """One printed result: names, types, rows (kind first) and how strictly the order counts."""
    def __init__(self, names, types=None, order='any'):
        self.names, self.types, self.order, self.rows = names, types, order, []


def unescape(value):
    return re.sub(r'\\(.)', lambda m: {'t': '\t', 'n': '\n', 'r': '\r'}.get(m.group(1), m.group(1)), value)


def read_expected(text):
    """-> (blocks, the ERROR line or None)"""
    blocks, error, types_next = [], None, False
    for line in text.split('\n'):
        if line.startswith('-- order:'):
            blocks[-1].order = line[9:].strip()
        elif line.startswith('-- ') and types_next:
            blocks[-1].types = line[3:].split('\t'); types_next = False
        elif line.startswith('-- '):
            blocks.append(Block(line[3:].split('\t'))); types_next = True
        elif line.startswith('ERROR'):
            error = line
        elif line:
            blocks[-1].rows.append(tuple(unescape(v) for v in line.split('\t')))
    return blocks, error


def read_actual(text):
    """`--output tsv --types`: a line `op...`, a line `type...`, rows; an empty line ends a block."""
    blocks, current = [], None
    for line in text.split('\n'):
        values = line.split('\t')
        if line == '':
            current = None
        elif current is None:
            current = Block(values[1:]); blocks.append(current)
        elif current.types is None and values[0] == 'type':
            current.types = values[1:]
        else:
            current.rows.append(tuple(unescape(v) for v in values))
    return blocks


def final_table(rows):
    count = collections.Counter()
    for row in rows:
        count[row[1:]] += 1 if row[0] in ('+I', '+U') else -1
    return {k: n for k, n in count.items() if n}


def runs_by(block, rows, column):
    at, out = block.names.index(column) + 1, []
    for row in rows:
        if not out or out[-1][0] != row[at]:
            out.append((row[at], collections.Counter()))
        out[-1][1][row] += 1
    return out


def block_difference(want, got):
    if want.names != got.names:
        return f'columns {got.names}, expected {want.names}'
    if want.types != got.types:
        return f'types {got.types}, expected {want.types}'
    if want.order == 'any (final)':
        if final_table(want.rows) == final_table(got.rows):
            return None
    a, b = collections.Counter(want.rows), collections.Counter(got.rows)
    if a != b:
        return (f'{len(got.rows)} rows, expected {len(want.rows)}; missing {list((a - b).elements())[:2]}, '
                f'extra {list((b - a).elements())[:2]}')
    if want.order == 'time' and want.rows != got.rows:
        return 'right rows in a wrong order'
    if want.order.startswith('time ') and runs_by(want, want.rows, want.order[5:]) != runs_by(want, got.rows, want.order[5:]):
        return f'right rows in a wrong order of {want.order[5:]}'
    return None


def difference(want, got):
    if len(want) != len(got):
        return f'{len(got)} results, expected {len(want)}'
    return next((d for d in map(block_difference, want, got) if d), None)


class Run:
    """What one or two runs of the program left behind."""
    def __init__(self, process, folder, inputs):
        self.status, self.out, self.err = process.returncode, process.stdout, process.stderr
        self.files = written(folder, inputs)


def visible(path):
    return not any(part.startswith(('.', '_')) for part in path.parts)


def written(folder, inputs):
    """What stands in the visible new files, one text a folder: the files of a folder joined in name order."""
    out = collections.defaultdict(bytes)
    for f in sorted(folder.rglob('*')):
        rel = f.relative_to(folder)
        if f.is_file() and visible(rel) and rel not in inputs:
            out[str(rel.parent) if str(rel.parent) != '.' else str(rel)] += f.read_bytes()
    return dict(out)


def sink_difference(case, folder):
    for want in sorted(case.glob('expected.sink-*.txt')):
        place, text, before = folder / want.name[14:-4], '', None
        if not place.exists():
            return f'sink {place.name} was not written'
        for f in [place] if place.is_file() else sorted(place.rglob('*')):
            rel = f.relative_to(place) if f != place else pathlib.Path(f.name)
            if not f.is_file() or not visible(rel):
                continue
            if rel.parent != before and str(rel.parent) != '.':
                text += f'## {rel.parent}\n'
            before = rel.parent; text += f.read_text(errors='replace')
        if sorted(text.splitlines()) != sorted(want.read_text().splitlines()):
            return f'content of sink {place.name} differs'
    return None


def short(text):
    return ' '.join(text.split())[:240]


class Case:
    def __init__(self, path, binary):
        self.path, self.binary = path, binary
        self.name = f'{path.parent.name}/{path.name}'
        self.inputs = {f.relative_to(path) for f in path.rglob('*') if f.is_file()}

    def start(self, folder, options):
        env = dict(option.split('=') for option in options if option == SHORT)
        options = [option for option in options if option != SHORT]
        return subprocess.run([self.binary, 'run', 'query.sql', '--output', 'tsv', '--types', *options], cwd=folder, env={**os.environ, **env},
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, errors='replace', timeout=TIMEOUT_S)

    def run(self, scratch, options):
        folder = pathlib.Path(tempfile.mkdtemp(dir=scratch)) / 'case'
        shutil.copytree(self.path, folder)
        return Run(self.start(folder, options), folder, self.inputs), folder

    def judge_error(self, run, error, want):
        phase = error.split(':')[0].split()[-1]
        if run.status == 0:
            return 'accepted; Flink: ' + error[:160]
        if not run.err.strip():
            return 'failed without a message'
        status = 1 if phase == 'runtime' else 2
        if phase in ('parse', 'validate', 'plan', 'runtime') and run.status != status:
            return f'exit {run.status}, expected {status} ({phase}): {short(run.err)}'
        if phase in ('parse', 'validate') and not re.search(r'query\.sql:\d+:\d+', run.err):
            return 'message without query.sql:LINE:COLUMN: ' + short(run.err)
        done = want[:-1] if phase == 'runtime' and want else want
        why = difference(done, read_actual(run.out)[:len(done)])
        return why and 'before the error: ' + why

    def judge_plain(self, run, folder):
        """The best verdict over expected.out and, where Flink itself is at fault, expected-right.out."""
        if run.status < 0 or run.status >= 126 or run.status in (66, 99):
            return f'CRASH, exit {run.status}: {run.err[-400:]}'
        why = 'no expected.out'
        for f in sorted(self.path.glob('expected*.out')):
            want, error = read_expected(f.read_text())
            if error is not None:
                why = self.judge_error(run, error, want)
            elif run.status != 0:
                why = f'exit {run.status}: {short(run.err)}'
            else:
                why = difference(want, read_actual(run.out)) or sink_difference(self.path, folder)
            if why is None:
                break
        return why

    def stopped_and_resumed(self, scratch, options, plain):
        """Stop at a random row, resume from the savepoint in the same folder; the two outputs joined."""
        lines = sum((self.path / f).read_bytes().count(b'\n') for f in self.inputs
                    if not f.name.startswith('expected') and f.suffix not in ('.sql', '.md'))
        seed = random.Random(self.name + ' '.join(map(str, options)))
        rows = seed.randint(1, max(1, lines * max(1, len(read_actual(plain.out)))))
        folder = pathlib.Path(tempfile.mkdtemp(dir=scratch)) / 'case'
        shutil.copytree(self.path, folder)
        savepoint, states = folder.parent / 'stop.sp', [folder.parent / 'state-1', folder.parent / 'state-2']
        first = self.start(folder, [*options, '--state-dir', states[0], '--stop-with-savepoint', savepoint, '--after', str(rows)])
        if first.returncode != 0:
            return None, f'stopping after {rows} rows: exit {first.returncode}: {short(first.stderr)}'
        if 'starts no job' in first.stderr:
            return Run(first, folder, self.inputs), 'nothing to stop'
        if not savepoint.exists():
            return None, f'stopping after {rows} rows: exit 0 but no savepoint'
        second = self.start(folder, [*options, '--state-dir', states[1], '--from', savepoint])
        if second.returncode != 0:
            return None, f'resuming after {rows} rows: exit {second.returncode}: {short(second.stderr)}'
        second.stdout = join_outputs(first.stdout, second.stdout, plain.out)
        return Run(second, folder, self.inputs), f'stopped after {rows} rows and resumed'

    def check_variant(self, name, scratch, plain):
        options, state = VARIANTS[name]
        if name.startswith('stop'):
            run, note = self.stopped_and_resumed(scratch, options, plain)
            if run is None:
                return f'{name}: {note}'
        else:
            note = ' '.join(options)
            run, _ = self.run(scratch, options + (['--state-dir', '../state'] if state else []))
        if run.status != 0:
            return f'{name} ({note}): exit {run.status}: {short(run.err)}'
        if run.out != plain.out:
            return f'{name} ({note}): other output, ' + first_difference(plain.out, run.out)
        if run.files != plain.files:
            return f'{name} ({note}): other content of files in {sorted(set(run.files) | set(plain.files))}'
        return None

    def check(self, variants):
        """-> (why it failed or None, number of runs)"""
        with tempfile.TemporaryDirectory(prefix='tide-golden-') as scratch:
            try:
                plain, folder = self.run(scratch, [])
                why = self.judge_plain(plain, folder)
                if why is None and plain.status == 0:
                    why = next((w for w in (self.check_variant(v, scratch, plain) for v in variants) if w), None)
                return why
            except subprocess.TimeoutExpired as e:
                return f'still running after {TIMEOUT_S} s: {" ".join(map(str, e.cmd[2:]))}'


def blocks_of(text):
    """Splits tsv output after each empty line; the last piece may be without one."""
    return re.findall(r'(?:[^\n]+\n)*\n|(?:[^\n]+\n?)+$', text)


def join_outputs(first, second, plain):
    """A resumed run prints the header of the result that it goes on with again (or not at all): once is enough."""
    a, b = blocks_of(first), blocks_of(second)
    if not a or not b or (len(a) + len(b) <= len(blocks_of(plain)) and b[0].startswith('op\t')):
        return first + second
    header = ''.join(re.match(r'(op\t.*\n)?(type\t.*\n)?', b[0]).groups(''))
    if header and not a[-1].startswith(header):
        return first + second
    return ''.join(a[:-1]) + a[-1].rstrip('\n') + '\n' + b[0][len(header):] + ''.join(b[1:])


def first_difference(a, b):
    for n, (x, y) in enumerate(zip(a.split('\n'), b.split('\n')), 1):
        if x != y:
            return f'line {n}: {y!r} instead of {x!r}'
    return 'one is longer'


def known_missing():
    lines = (HERE / 'known-missing.txt').read_text().splitlines()
    return {l.split('#')[0].strip() for l in lines} - {''}


def list_problems(missing):
    if len(missing) > MISSING_MAX:
        yield f'known-missing.txt has {len(missing)} names, at most {MISSING_MAX} are allowed'
    for name in sorted(missing):
        if name.split('/')[0] in WHOLE:
            yield f'known-missing.txt: {name}: no case of {", ".join(WHOLE)} may be missing'
        if not (HERE / name / 'query.sql').exists():
            yield f'known-missing.txt: {name}: there is no such case'


def pick(names):
    cases = []
    for name in names:
        path = HERE / name.removeprefix('tests/golden/').strip('/')
        found = [path] if (path / 'query.sql').exists() else sorted(p.parent for p in path.glob('*/query.sql'))
        if not found:
            print(f'no case or area {name}'); print('0 passed, 1 failed'); sys.exit(1)
        cases += found
    return cases


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument('--bin', default='build/tidemark'); ap.add_argument('--jobs', type=int, default=os.cpu_count())
    ap.add_argument('--variants', choices=SETS, default='none'); ap.add_argument('--report', action='store_true')
    ap.add_argument('--list-fails', action='store_true', help='print only the names of the failed cases')
    ap.add_argument('names', nargs='*')
    a = ap.parse_args()
    every = sorted(p.parent.name for p in HERE.glob('*/*/query.sql'))
    names = a.names or (AREAS + sorted(set(every) - set(AREAS)) if a.report else AREAS)
    missing = known_missing()
    cases = [Case(p, os.path.abspath(a.bin)) for p in pick(names)]
    if not os.access(a.bin, os.X_OK):
        print(f'{a.bin} is not there: ./dev build'); print(f'0 passed, {len(cases)} failed'); return 1
    areas, problems, known = collections.defaultdict(lambda: [0, 0]), list(list_problems(missing)), 0
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        jobs = pool.map(lambda c: c.check(SETS[a.variants] if c.path.parent.name in AREAS else []), cases)
        for case, why in zip(cases, jobs):
            if case.name in missing:
                known += why is not None
                why = 'passes now: remove it from known-missing.txt' if why is None else None
                if why is None:
                    continue
            areas[case.path.parent.name][why is not None] += 1
            if why:
                problems.append(f'FAIL {case.name}: {why}')
                print(case.name if a.list_fails else problems[-1], flush=True)
    for p in problems:
        if not p.startswith('FAIL '):
            print(p)
    for area, (ok, bad) in areas.items():
        print(f'{area:12} {ok:4} passed {bad:4} failed')
    if known:
        print(f'{known} cases are known to be missing (known-missing.txt)')
    print(f'{sum(ok for ok, _ in areas.values())} passed, {len(problems)} failed')
    return 0 if a.report else len(problems) != 0


if __name__ == '__main__':
    sys.exit(main())
