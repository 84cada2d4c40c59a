#!/usr/bin/env python3
"""Proof by replay of the verdicts of `check --policy exact`: what NEW prints when it goes on from OLD's savepoint against NEW from the start.

usage: replay.py [--bin FILE] [--quick] [--seeds A-B] [--families NAME,...] [--streams N] [--splits N] [--jobs N] [--report] [--keep]

Without --seeds: all pairs of tests/compat/pairs. With it: mutations of the scripts in mutations.py, that many seeds a family. --quick: all pairs and
four mutations a family, two streams each. Streams are made from a seed: ties, NULLs, disorder, late rows, DOUBLEs whose sums depend on their order.
A replay that gives other rows fails, and so does an error; a refused restore is no failure, for the verdict was not compatible. --report
counts the verdicts by label, and of the changes after which OLD prints what NEW prints those that are refused. What differs is kept (and named).
Last line: `N passed, M failed`.
"""
import argparse, collections, concurrent.futures, datetime, json, os, pathlib, random, re, shutil, subprocess, sys, tempfile

import mutations

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
EPOCH = datetime.datetime(2024, 1, 1)
UNITS = {'SECOND': 1, 'MINUTE': 60, 'HOUR': 3600, 'DAY': 86400}
VERDICTS = {0: 'compatible', 10: 'partial', 20: 'incompatible', 30: 'unknown'}

# Pairs that can't be replayed, with the reason.
NOT_REPLAYED = {
    'source-03-unused-column-in-the-middle': 'the file would have to change with the script',
    'source-04-columns-permuted-csv': 'the file would have to change with the script',
    'source-16-format-delimiter': 'the file would have to change with the script',
}

# Mutations that have shown a fault: their seeds are part of the quick form.
FOUND = [('window', 8), ('window', 48), ('window', 56), ('source', 10), ('gsets', 6), ('gsets', 31), ('dedup', 19), ('dedup', 20), ('join', 3), ('join', 18),
         ('cascade', 39), ('cascade', 56)]


# --- streams -----------------------------------------------------------------------------------------------------------------

def value(rng, name, kind, ms, ties):
    kind = kind.upper()
    if kind.startswith('TIMESTAMP'):
        text = (EPOCH + datetime.timedelta(milliseconds=ms)).strftime('%Y-%m-%d %H:%M:%S.%f')[:-3]
        return text + 'Z' if 'LTZ' in kind or 'LOCAL' in kind else text
    if rng.random() < 0.1 and 'NOT NULL' not in kind:
        return None
    if re.match(r'(TINY|SMALL|BIG)?INT', kind):
        return rng.randint(0, ties)
    if kind.startswith(('DOUBLE', 'FLOAT')):
        return rng.choice([0.1, 0.2, 0.3, 1e16, -1e16, 2.5, 1 / 3])
    if kind.startswith('DECIMAL'):
        return f'{rng.randint(0, 400) / 100:.2f}'
    if kind.startswith('BOOLEAN'):
        return rng.random() < 0.5
    if kind.startswith('DATE'):
        return f'2024-01-0{rng.randint(1, 9)}'
    return rng.choice('uvwx')


def write_stream(path, columns, form, rng, rows, step, disorder):
    """One file; times go on by `step` ms on average and back by up to `disorder`."""
    ms, ties = rng.randint(0, 5 * step), rng.choice([1, 3, 6])
    with open(path, 'w') as f:
        for _ in range(rows):
            ms += rng.randint(0, 2 * step)
            at = max(0, ms - (rng.randint(0, disorder) if rng.random() < 0.4 else 0))
            row = [value(rng, n, k, at, ties) for n, k in columns]
            if form == 'json':
                f.write(json.dumps({n: v for (n, _), v in zip(columns, row)}) + '\n')
            else:
                f.write(','.join('n/a' if v is None else str(v).lower() if isinstance(v, bool) else str(v) for v in row) + '\n')


# --- the tables of a script ----------------------------------------------------------------------------------------------------

def source_tables(sql):
    """{name: (columns, format, path)} of the tables that are read."""
    tables = {}
    for m in re.finditer(r'CREATE\s+TABLE\s+`?(\w+)`?\s*\((.*?)\)\s*WITH\s*\((.*?)\)\s*;', sql, re.S | re.I):
        name, body, options = m.groups()
        if not re.search(r"'connector'\s*=\s*'filesystem'", options) or re.search(rf'INSERT\s+INTO\s+`?{name}\b', sql, re.I):
            continue
        columns = []
        for part in re.split(r',(?![^()]*\))', re.sub(r'--[^\n]*|/\*.*?\*/', '', body, flags=re.S)):
            column = re.match(r'\s*`?(\w+)`?\s+(.+?)\s*$', part, re.S)
            if column and column.group(1).upper() not in ('WATERMARK', 'PRIMARY', 'CONSTRAINT') and not column.group(2).upper().startswith('AS '):
                columns.append((column.group(1), ' '.join(column.group(2).split())))
        form = re.search(r"'format'\s*=\s*'(\w+)'", options)
        path = re.search(r"'path'\s*=\s*'([^']+)'", options)
        tables[name] = (columns, form.group(1) if form else 'csv', path.group(1).replace('/', '-') if path else name)
    return tables


def with_nulls(sql):
    return re.sub(r"'format'\s*=\s*'csv'", "'format' = 'csv', 'csv.null-literal' = 'n/a'", sql) if 'null-literal' not in sql else sql


def largest_interval(sql):
    sizes = [int(n) * UNITS[u.upper()] for n, u in re.findall(r"INTERVAL\s+'(\d+)'\s+(SECOND|MINUTE|HOUR|DAY)", sql, re.I)]
    return max(sizes, default=10) * 1000


# --- one change ----------------------------------------------------------------------------------------------------------------

class Change:
    def __init__(self, name, old, new, labels, calm=False):
        self.name, self.old, self.new, self.labels, self.calm = name, with_nulls(old), with_nulls(new), labels, calm
        self.verdicts, self.failures, self.unchanged, self.refused, self.partial = set(), [], True, 0, 0

    def write_inputs(self, folder, seed):
        rng = random.Random(f'{self.name} {seed}')
        olds, news = source_tables(self.old), source_tables(self.new)
        window = largest_interval(self.old)
        rows, inputs = rng.randint(40, 120), []
        for name in {**olds, **news}:
            # A column more at the end is read by one of them only: the shorter table must read the file too.
            columns, form, _ = min((t[name] for t in (olds, news) if name in t), key=lambda t: len(t[0]))
            path = folder / f'{(olds.get(name) or news[name])[2]}-{seed}'
            if any(i.endswith(f'={path}') for i in inputs):  # a table by another name
                inputs.append(f'{name}={path}')
                continue
            step = max(1, window // rng.choice([30, 15, 7]))
            write_stream(path, columns, form, rng, rows, step, 0 if self.calm else rng.choice([0, window // 10, window // 3]))
            inputs.append(f'{name}={path}')
        return inputs, rows, rng

    def replay(self, args, folder):
        folder.mkdir()
        old, new = folder / 'old.sql', folder / 'new.sql'
        old.write_text(self.old)
        new.write_text(self.new)
        for seed in range(args.streams):
            inputs, rows, rng = self.write_inputs(folder, seed)
            after = sorted({rng.randint(1, max(1, rows - 1)) for _ in range(args.splits)})
            command = [args.bin, 'check', '--policy', 'exact', '--replay', *(f'--replay-after={n}' for n in after), old, new, *inputs]
            run = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ, TMPDIR=str(folder)))
            self.note(run, seed)
        if not self.failures and not args.keep:
            shutil.rmtree(folder)

    def note(self, run, seed):
        summary = re.search(r'replay: (\d+) savepoints the same, (\d+) differ, (\d+) refused, (\d+) not compared; .* after (\d+)$', run.stdout, re.M)
        verdict = re.search(r'^(\w+): .* policy exact$', run.stdout, re.M)
        refused_before = verdict is not None and verdict.group(1) in ('incompatible', 'unknown')
        # What can't be run, or not over these files, and is not promised either.
        if run.returncode != 1 and summary is None and (refused_before or 'is not supported' in run.stderr):
            return
        if summary is None and refused_before:
            return
        if run.returncode not in VERDICTS or summary is None:
            self.failures.append(f'stream {seed}: exit {run.returncode}\n{run.stdout[-2500:]}{run.stderr[-800:]}')
            return
        same, differ, refused, skipped, unchanged = map(int, summary.groups())
        self.verdicts.add(VERDICTS[run.returncode])
        self.refused += refused
        self.unchanged &= unchanged == same + differ + refused + skipped
        # A verdict that promises something, and a restore that refuses it: the steps are not all there.
        if refused and run.returncode in (0, 10):
            self.failures.append(f'stream {seed}: {VERDICTS[run.returncode]}, but the restore is refused\n{run.stdout[-1500:]}')


def pairs(folder, names):
    for path in sorted(folder.iterdir()):
        if path.name in NOT_REPLAYED or (names and path.name not in names):
            continue
        expect = (path / 'expect.yaml').read_text()
        old, new = (path / 'old.sql').read_text(), (path / 'new.sql').read_text()
        if 'PROCTIME()' in old + new and re.search(r'DESCRIPTOR\(\s*(pt|proctime)', old + new, re.I):
            continue  # windows of the clock
        change = re.search(r'^change: *(\S+)', expect, re.M).group(1)
        yield Change(path.name, old, new, [change], calm=change.startswith('union.order'))


def generated(families, low, high):
    for family in families:
        for seed in range(low, high):
            old, new, labels = mutations.pair(family, random.Random(f'{family} {seed}'))
            yield Change(f'{family}-{seed}', mutations.sql(old), mutations.sql(new), labels, calm=any('UNION' in l for l in labels))


# --- all -----------------------------------------------------------------------------------------------------------------------

def report(changes):
    table = collections.defaultdict(collections.Counter)
    harmless_refused = []
    for change in changes:
        verdict = max(change.verdicts, key=list(VERDICTS.values()).index, default='not run')
        table[', '.join(sorted(set(change.labels)))][verdict] += 1
        if change.unchanged and verdict in ('incompatible', 'unknown', 'partial'):
            harmless_refused.append((', '.join(change.labels), verdict))
    print('| change | ' + ' | '.join(VERDICTS.values()) + ' | not run |\n|---|' + '---|' * 5)
    for label in sorted(table):
        print(f'| {label} | ' + ' | '.join(str(table[label][v] or '') for v in [*VERDICTS.values(), 'not run']) + ' |')
    count = sum(c.unchanged and bool(c.verdicts) for c in changes)
    print(f'\n{count} of {len(changes)} changes made no difference in any stream; of these {len(harmless_refused)} are not called compatible:')
    for (label, verdict), n in sorted(collections.Counter(harmless_refused).items(), key=lambda x: -x[1]):
        print(f'  {n:4} {verdict}: {label}')


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument('--bin', default=ROOT / 'build' / 'tidemark')
    ap.add_argument('--quick', action='store_true')
    ap.add_argument('--seeds')
    ap.add_argument('--families', default=','.join(mutations.MUTATIONS))
    ap.add_argument('--streams', type=int, default=2)
    ap.add_argument('--splits', type=int, default=2)
    ap.add_argument('--jobs', type=int, default=min(4, os.cpu_count() or 1))
    ap.add_argument('--report', action='store_true')
    ap.add_argument('--keep', action='store_true')
    ap.add_argument('names', nargs='*')
    args = ap.parse_args()
    args.bin = str(pathlib.Path(args.bin).resolve())
    memory = pathlib.Path('/dev/shm')
    args.work = pathlib.Path(tempfile.mkdtemp(prefix='tidemark-compat-', dir=memory if memory.is_dir() else None))
    changes, families = [], args.families.split(',')
    if args.quick or not args.seeds:
        changes += pairs(HERE / 'pairs', args.names)
    if args.quick or args.seeds:
        low, high = map(int, args.seeds.split('-')) if args.seeds else (0, 4)
        changes += generated(families, low, high)
    if args.quick:
        for family, seed in FOUND:
            changes += generated([family], seed, seed + 1)
    changes = list({c.name: c for c in changes}.values())
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        list(pool.map(lambda c: c.replay(args, args.work / c.name), changes))
    failed = [c for c in changes if c.failures]
    for change in failed:
        print(f'FAIL {change.name} ({", ".join(change.labels)}), in {args.work / change.name}:\n{change.failures[0]}')
    if args.report:
        report(changes)
    if not failed and not args.keep:
        shutil.rmtree(args.work)
    print(f'{len(changes) - len(failed)} passed, {len(failed)} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
