#!/usr/bin/env python3
"""Compares Tidemark with its referees: a model in Python always, DuckDB and real Flink 2.3.0 when asked.

usage: run.py [--bin PATH] [--seed S] [--model N | --random N | --random-flink N | --corpus [AREA...]] [--only K] [--variants SET]
  --model N          N generated cases against the model alone: needs nothing but Python (CI runs this)
  --random N         the same and DuckDB, which is installed into .cache/ if it is missing
  --random-flink N   the same and real Flink, in one JVM for each 100 cases; installed into .cache/ too
  --corpus [AREA..]  the golden cases on real Flink and on Tidemark; prints what differs from each other and from the record
  --batch            in batch mode (with --random-flink)
  --only K           just the case with number K
Every case is also run with other batches, threads and checkpoints, and stopped at a random row and resumed: the same bytes.
A case that fails is made smaller and put into the failures folder with what each side gave. A case where Flink differs but does
what model.py knows of its two phases is counted as explained. Last line: `N passed, M failed`.
"""
import argparse, collections, concurrent.futures, glob, importlib.util, os, pathlib, re, shutil, subprocess, sys, tempfile
import coverage, generate, minimise, model

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CACHE = ROOT / '.cache' / 'conformance'
FAILURES = pathlib.Path(os.environ.get('CONFORMANCE_FAILURES', '/tmp/conformance-failures'))
FLINK = 'apache-flink-libraries==2.3.0'
BATCH = 100                              # cases a JVM

spec = importlib.util.spec_from_file_location('golden_run', HERE.parent / 'golden' / 'run.py')
golden = importlib.util.module_from_spec(spec)
spec.loader.exec_module(golden)

VARIANTS = {'none': [], 'turn': ['turn'], 'all': ['batch-1', 'batch-7', 'one-thread', 'mixed', 'stop', 'stop-mixed']}
TURNS = ['stop-mixed', 'batch-7', 'mixed', 'stop', 'batch-1']


# --- the referees -----------------------------------------------------------------------------------------------------

def venv(name, package):
    """A virtual environment in .cache/ that has the package (without what it depends on)."""
    place = CACHE / name
    if not (place / 'done').exists():
        print(f'== installing {package} into {place.relative_to(ROOT)}', file=sys.stderr, flush=True)
        subprocess.run([sys.executable, '-m', 'venv', place], check=True)
        subprocess.run([place / 'bin' / 'pip', 'install', '--quiet', '--no-deps', package], check=True)
        (place / 'done').touch()
    return place


def flink_class_path():
    jars = glob.glob(str(venv('flink', FLINK) / 'lib/python3*/site-packages/pyflink/lib/*.jar'))
    classes = CACHE / 'classes'
    if not (classes / 'FlinkRun.class').exists() or \
            (classes / 'FlinkRun.class').stat().st_mtime < (HERE / 'FlinkRun.java').stat().st_mtime:
        classes.mkdir(parents=True, exist_ok=True)
        subprocess.run(['javac', '-cp', ':'.join(jars), '-d', classes, HERE / 'FlinkRun.java'], check=True)
    return ':'.join([str(classes)] + jars)


def run_flink(folders):
    """Leaves flink.out in each folder."""
    path = flink_class_path()
    for i in range(0, len(folders), BATCH):
        part = folders[i:i + BATCH]
        subprocess.run(['nice', 'java', '-Xmx1g', '-cp', path, 'FlinkRun', *map(str, part)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        print(f'== flink: {min(i + BATCH, len(folders))} of {len(folders)}', file=sys.stderr, flush=True)


def model_block(case, flink=False):
    result = model.run(case, flink)
    block = golden.Block(result['names'], result['types'], result['order'])
    block.rows = result['rows']
    return block


def rounded(block, digits_max):
    """The block with fewer digits where arithmetic in floating point ends in a different last digit."""
    out = golden.Block(block.names, block.types, block.order)
    for row in block.rows:
        out.rows.append(row[:1] + tuple(f'{float(v):.{5 if "FLOAT" in t else digits_max}g}' if re.match('DECIMAL|DOUBLE|FLOAT', t) and v != '<NULL>' else v
                                        for t, v in zip(block.types, row[1:])))
    return out


def compared(want, run, digits_max=None):
    """Why a run of Tidemark is not the wanted block, or None."""
    if run.status != 0:
        return f'exit {run.status}: {golden.short(run.err)}'
    got = golden.read_actual(run.out)
    if digits_max and got:
        want, got = rounded(want, digits_max), [rounded(b, digits_max) for b in got]
    return golden.difference([want], got)


def inexact(case):
    """May the last digits differ? With STDDEV and VAR, and sums of what binary fractions cannot hold."""
    return any(a['fn'] in model.values.VARIANCES or any(t in generate.FLOATS for n, t in case['columns'] if n == a['arg'])
               for st in case['stages'] for a in st.get('aggs', []))


def overflows_by_order(case):
    """Does the order of a set decide whether a sum overflows? With DISTINCT sums of nearly 38 digits, whose sets Flink keeps by hash."""
    types = dict(case['columns'])
    return any(a.get('distinct') and a['fn'] in ('SUM', 'AVG') and re.match(r'DECIMAL\(3[6-8],', types.get(a['arg'], ''))
               for st in case['stages'] for a in st.get('aggs', []))


def rank_order(case, block):
    """Rows of one window and partition must stand in the order of their rank."""
    last = case['stages'][-1]
    if last['op'] != 'rank' or 'rn' not in block.names:
        return None
    at = [block.names.index(n) + 1 for n in ['window_start', 'window_end'] + last['partition']]
    seen, rn = {}, block.names.index('rn') + 1
    for row in block.rows:
        key, n = tuple(row[i] for i in at), int(row[rn])
        if seen.get(key, 0) >= n:
            return f'rank {n} of {key} comes after {seen[key]}'
        seen[key] = n
    return None


class Checked:
    """A case and what came of it."""
    def __init__(self, case, number):
        self.case, self.number, self.why, self.kind, self.outputs, self.late, self.disorder = case, number, None, None, {}, 0, False
        self.explained, self.rounding, self.sets = False, False, False


class Tester:
    def __init__(self, binary, variants, scratch, duckdb=None):
        self.binary, self.variants, self.scratch, self.duckdb = os.path.abspath(binary), variants, pathlib.Path(scratch), duckdb

    def plain(self, case, folder):
        generate.write(case, folder)
        g = golden.Case(folder, self.binary)
        run, _ = g.run(self.scratch, [])
        return g, run

    def variants_of(self, number):
        return [TURNS[number // 7 % len(TURNS)]] if self.variants == ['turn'] else self.variants

    def check(self, case, number):
        done, folder = Checked(case, number), self.scratch / case['name']
        result = model.run(case)
        done.late, done.disorder = result['late'], result['disorder']
        want = golden.Block(result['names'], result['types'], result['order'])
        want.rows = result['rows']
        try:
            g, run = self.plain(case, folder)
            done.outputs['tidemark'] = run.out + run.err if run.status else run.out
            done.why, done.kind = None if case.get('batch') else compared(want, run), 'model'
            if done.why and inexact(case) and compared(want, run, 12) is None:
                done.why, done.rounding = None, True
            if done.why is None and run.status == 0 and not case.get('batch'):
                done.why, done.kind = rank_order(case, golden.read_actual(run.out)[0]), 'rank order'
            if done.why is None and self.duckdb:
                done.why, done.kind = self.duckdb.difference(case, want), 'duckdb'
            for v in self.variants_of(number) if done.why is None and run.status == 0 else []:
                done.why, done.kind = g.check_variant(v, self.scratch, run), v
                if done.why:
                    break
        except subprocess.TimeoutExpired as e:
            done.why, done.kind = f'still running after {golden.TIMEOUT_S} s: {" ".join(map(str, e.cmd[2:]))}', 'time'
        return done

    def still_fails(self, kind, number):
        """The test that the minimiser repeats."""
        def test(case):
            with tempfile.TemporaryDirectory(prefix='tide-conf-') as scratch:
                one = Tester(self.binary, [kind] if kind in golden.VARIANTS else [], scratch, self.duckdb if kind == 'duckdb' else None)
                done = one.check(case, number)
                return done.why is not None and done.kind == kind
        return test


def expected_text(block):
    lines = ['-- ' + '\t'.join(block.names), '-- ' + '\t'.join(block.types), '-- order: ' + block.order]
    escape = lambda v: v.replace('\\', '\\\\').replace('\t', '\\t').replace('\n', '\\n').replace('\r', '\\r')
    return '\n'.join(lines + ['\t'.join(escape(v) for v in row) for row in block.rows]) + '\n'


def keep_failure(done, tester, small):
    """Writes the failing case, made smaller, with the outputs of all sides; -> its folder."""
    case = minimise.minimise(done.case, tester.still_fails(done.kind, done.number)) if small else done.case
    folder = FAILURES / case['name']
    shutil.rmtree(folder, ignore_errors=True)
    g, run = tester.plain(case, folder)
    (folder / 'case.json').write_text(generate.to_json(case))
    (folder / 'expected.out').write_text(expected_text(model_block(case)))
    (folder / 'tidemark.out').write_text(run.out + run.err)
    for name, text in done.outputs.items():
        if name != 'tidemark':
            (folder / f'{name}.whole.out').write_text(text)
    if done.kind == 'model':
        done.why = compared(model_block(case), run) or done.why
    (folder / 'why.txt').write_text(f'{done.kind}: {done.why}\n')
    return folder


# --- the runs ---------------------------------------------------------------------------------------------------------

def judge_flink(done, folder):
    """Compares Flink's output with Tidemark's; a difference that the model of its two phases foretells is explained."""
    want, error = golden.read_expected((folder / 'flink.out').read_text())
    done.outputs['flink'] = (folder / 'flink.out').read_text()
    if done.why is not None:
        return
    if error is not None:
        refused = done.outputs['tidemark'].startswith('query.sql:')
        done.why, done.kind = None if refused else f'Flink: {error}', 'flink'
        return
    want[0].order = 'any' if done.case.get('batch') else model_block(done.case).order
    if done.case['stages'][0]['op'] == 'join' and done.case['stages'][0]['window']['kind'] == 'SESSION':
        want[0].order = 'any (final)'   # Flink plans some of these as regular joins, with a changelog of the same table
    if any(st.get('sets') and len(set(map(str, st['sets']))) < len(st['sets']) for st in done.case['stages']):
        want[0].order = 'any'           # a set that is repeated is an aggregation of its own there, joined by a union
    got = golden.read_actual(done.outputs['tidemark'])
    why = golden.difference(want, got)
    if why and golden.difference([model_block(done.case, True)], want) is None:
        done.explained = True
    elif why and inexact(done.case) and golden.difference([rounded(want[0], 12)], [rounded(b, 12) for b in got]) is None:
        done.rounding = True
    elif why and overflows_by_order(done.case):
        done.sets = True
    elif why:
        done.why, done.kind = 'Flink: ' + why, 'flink'


def known_cases(path):
    """The names in a list of differences that are known: `NAME reason`, one a line."""
    lines = pathlib.Path(path).read_text().splitlines() if path else []
    return {l.split()[0] for l in lines if l.strip() and not l.startswith('#')}


def run_random(args, tester, flink):
    numbers = [args.only] if args.only is not None else range(args.count)
    cases = [(generate.make(args.seed, n), n) for n in numbers]
    if args.batch:                      # SESSION table functions are for streaming only
        cases = [(dict(c, batch=True), n) for c, n in cases if c['meta']['window'] != 'SESSION' and c['meta']['shape'] != 'bare']
    checked, failed = [], 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        checked = list(pool.map(lambda c: tester.check(*c), cases))
    if flink:
        folders = [tester.scratch / 'flink' / c['name'] for c, _ in cases]
        for (case, _), folder in zip(cases, folders):
            generate.write(case, folder, one_file=True)
        run_flink(folders)
        for done, folder in zip(checked, folders):
            judge_flink(done, folder)
    known = known_cases(args.known)
    for done in checked:
        name = done.case['name']
        if name in known and done.why is None:
            failed += 1
            print(f'FAIL {name}: passes now: remove it from {args.known}')
        if done.why and name in known:
            print(f'known {name}: {done.kind}: {done.why[:120]}')
        elif done.why:
            failed += 1
            place = keep_failure(done, tester, small=done.kind != 'flink' and failed <= args.minimise)
            m = done.case['meta']
            print(f"FAIL {done.case['name']} ({m['window']}, {m['shape']}, {m['form']}, {m['mode']}) {done.kind}: {done.why[:300]}  -> {place}", flush=True)
    rounding = sum(d.rounding for d in checked)
    if rounding:
        print(f'{rounding} cases differ in the last digits of floating point only')
    sets = sum(d.sets for d in checked)
    if sets:
        print(f'{sets} cases differ from Flink in DISTINCT sums of 36 digits and more, which overflow or not by the order of a set')
    for why, n in sorted(tester.duckdb.skipped.items()) if tester.duckdb else []:
        print(f'{n} cases not compared with DuckDB: {why}')
    explained = sum(d.explained for d in checked)
    if explained:
        print(f'{explained} cases differ from Flink as its two phases explain')
    if args.only is None and not args.batch:
        problems = coverage.report(checked, args.coverage)
        failed += len(problems) if args.strict_coverage else 0
        if args.strict_coverage:
            for p in problems:
                print(p)
    passed = sum(d.why is None and d.case['name'] not in known for d in checked)
    print(f'{passed} passed, {failed} failed')
    return failed != 0


def run_corpus(args, scratch):
    """Every golden case on real Flink and on Tidemark."""
    cases = [golden.Case(p, os.path.abspath(args.bin)) for p in golden.pick(args.areas or sorted(p.name for p in golden.HERE.iterdir() if p.is_dir()))]
    folders = []
    for c in cases:
        folder = pathlib.Path(scratch) / c.name
        shutil.copytree(c.path, folder)
        folders.append(folder)
    run_flink(folders)
    failed = 0
    for c, folder in zip(cases, folders):
        want, error = golden.read_expected((c.path / 'expected.out').read_text())
        now, now_error = golden.read_expected((folder / 'flink.out').read_text())
        for a, b in zip(want, now):
            b.order = a.order
        why = golden.difference(want, now) if (error is None) == (now_error is None) else f'{now_error} instead of {error}'
        if why:
            print(f'note {c.name}: Flink today is not as recorded: {why}')
        run, place = c.run(scratch, [])
        why = c.judge_plain(run, place)
        if why:
            failed += 1
            print(f'FAIL {c.name}: {why}', flush=True)
    print(f'{len(cases) - failed} passed, {failed} failed')
    return failed != 0


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument('--bin', default='build/tidemark'); ap.add_argument('--seed', default='1')
    ap.add_argument('--model', type=int); ap.add_argument('--random', type=int); ap.add_argument('--random-flink', type=int)
    ap.add_argument('--corpus', action='store_true'); ap.add_argument('--only', type=int)
    ap.add_argument('--variants', choices=VARIANTS, default='all'); ap.add_argument('--jobs', type=int, default=os.cpu_count())
    ap.add_argument('--minimise', type=int, default=20, help='how many failing cases are made smaller')
    ap.add_argument('--coverage', action='store_true', help='print the coverage tables')
    ap.add_argument('--strict-coverage', action='store_true', help='an empty cell is a failure')
    ap.add_argument('--batch', action='store_true', help="batch mode; only Flink knows what is right there")
    ap.add_argument('--known', help='a list of cases that fail')
    ap.add_argument('areas', nargs='*')
    args = ap.parse_args()
    if not os.access(args.bin, os.X_OK):
        print(f'{args.bin} is not there: ./dev build'); print('0 passed, 1 failed'); return 1
    with tempfile.TemporaryDirectory(prefix='tide-conf-') as scratch:
        if args.corpus:
            return run_corpus(args, scratch)
        args.count = next((n for n in (args.random, args.random_flink, args.model) if n is not None), coverage.CASES)
        duckdb = None
        if args.random is not None:
            sys.path[:0] = glob.glob(str(venv('duckdb', 'duckdb') / 'lib/python3*/site-packages'))
            import duckdb_referee as duckdb
        return run_random(args, Tester(args.bin, VARIANTS[args.variants], scratch, duckdb), args.random_flink is not None)


if __name__ == '__main__':
    sys.exit(main())
