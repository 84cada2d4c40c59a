#!/usr/bin/env python3
"""Compares the results of expressions (function_cases.py) on Tidemark with real Flink's: values, types, and what is an error when.

usage: functions.py [--bin PATH] [--record] [--only FAMILY] [--grep TEXT] [--limit N] [--phases] [--write-known] [--flink-lib DIR]
Flink's results are kept in functions/FAMILY.tsv.gz; without --record nothing but Python is needed. --record computes on
Flink what is not there yet (one JVM a family) and drops what is not a case any more. functions/known-differences.txt lists what
differs still or on purpose; a case of it that agrees is named, so that it leaves the list (--write-known writes it anew). An
error is an error: with --phases also its phase must be Flink's. Last line: `N passed, M failed, K known to differ`.
"""
import argparse, collections, gzip, pathlib, re, subprocess, sys, tempfile
import function_cases

HERE = pathlib.Path(__file__).resolve().parent
RECORDS = HERE / 'functions'
TOGETHER = 200


def sections(family):
    """(settings, [case]) in order; a case is `expression` or `expression<TAB>view`."""
    settings, cases, out = [], [], []
    for line in function_cases.lines(family):
        if line.startswith('@set'):
            if cases:
                out.append((list(settings), cases))
                cases = []
            key, value = line.split('\t')[1:]
            settings = [s for s in settings if s[0] != key] + [(key, value)]
        else:
            cases.append(line)
    if cases:
        out.append((list(settings), cases))
    return out


def key(settings, case):
    zone = dict(settings).get('table.local-time-zone', 'UTC')
    expression, _, view = case.partition('\t')
    return f'{zone}\t{expression}\t{view}'


def load(family):
    """Flink's results: key -> `OK<TAB>type<TAB>values` or `ERROR<TAB>phase<TAB>cause`."""
    path = RECORDS / f'{family}.tsv.gz'
    out = {}
    if path.exists():
        for line in gzip.decompress(path.read_bytes()).decode('utf-8').split('\n'):
            if line:
                part = line.split('\t', 3)
                out['\t'.join(part[:3])] = part[3]
    return out


def save(family, results):
    RECORDS.mkdir(exist_ok=True)
    order = [key(settings, case) for settings, cases in sections(family) for case in cases]
    text = ''.join(f'{k}\t{results[k]}\n' for k in order if k in results)
    (RECORDS / f'{family}.tsv.gz').write_bytes(gzip.compress(text.encode('utf-8'), 9, mtime=0))


def read_results(family, path, results):
    """Adds what FunctionsRun wrote, in the order of its spec."""
    lines = path.read_text(encoding='utf-8').split('\n')
    asked = [l for l in path.with_suffix('.spec').read_text(encoding='utf-8').split('\n') if l]
    at, zone = 0, 'UTC'
    for line in asked:
        if line.startswith('@set\ttable.local-time-zone'):
            zone = line.split('\t')[2]
        elif not line.startswith('@'):
            expression, view, result = lines[at].split('\t', 2)
            at += 1
            results[f'{zone}\t{expression}\t{view}'] = result


def record(family, flink_lib):
    import run                                   # installs Flink into .cache/
    results = load(family)
    with tempfile.TemporaryDirectory() as place:
        path = pathlib.Path(place) / f'{family}.out'
        spec, todo = list(function_cases.SETUP), 0
        for settings, cases in sections(family):
            spec += [f'@set\t{k}\t{v}' for k, v in settings]
            new = [c for c in cases if key(settings, c) not in results]
            todo += len(new)
            spec += new
        if todo:
            print(f'== {family}: {todo} expressions on Flink', file=sys.stderr, flush=True)
            jars = ':'.join(str(p) for p in pathlib.Path(flink_lib).glob('*.jar')) if flink_lib else run.flink_class_path()
            subprocess.run(['javac', '-cp', jars, '-d', place, HERE / 'FunctionsRun.java'], check=True)
            path.with_suffix('.spec').write_text('\n'.join(spec) + '\n', encoding='utf-8')
            subprocess.run(['nice', 'java', '-Xmx1g', '-cp', f'{place}:{jars}', 'FunctionsRun', path.with_suffix('.spec'), path],
                           check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            read_results(family, path, results)
    save(family, results)


# --- ours -------------------------------------------------------------------------------------------------------------

class Ours:
    """A script has a SELECT for each case; one that fails ends the script, and the next script begins behind it."""

    def __init__(self, binary, place):
        self.binary, self.script = binary, pathlib.Path(place) / 'query.sql'

    def run(self, settings, cases):
        """Results of the first cases, at least one."""
        views = {c.partition('\t')[2].split(' ')[0] for c in cases}
        sql = [f"SET '{k}' = '{v}';" for k, v in settings]
        sql += [s.split('\t')[1] + ';' for s in function_cases.SETUP if any(v and f' VIEW {v} ' in s for v in views)]
        for case in cases:
            expression, _, view = case.partition('\t')
            sql.append(f"SELECT {'id' if view else '1 AS id'}, {expression} AS x{' FROM ' + view if view else ''};")
        self.script.write_text('\n'.join(sql), encoding='utf-8')
        got = subprocess.run([self.binary, 'run', self.script, '-o', 'tsv', '--types', '--progress', 'never'], capture_output=True)
        out = []
        blocks = got.stdout.decode('utf-8', 'replace').split('\n\n')
        for block in blocks[:-1] if got.returncode else blocks[:len(cases)]:
            lines = [l.split('\t') for l in block.split('\n')]
            last = {int(l[1]): l[2] for l in lines[2:] if l[0] in ('+I', '+U')}      # of each id
            out.append('OK\t' + '\t'.join([lines[1][2]] + [last[id] for id in sorted(last)]))
        if got.returncode != 0 and len(out) < len(cases):
            lines = got.stderr.decode('utf-8', 'replace').strip().split('\n')
            message = next((l for l in lines if 'error' in l), lines[0])[-300:].replace(str(self.script), '')
            phase = {1: 'runtime', 2: 'compile'}.get(got.returncode, f'exit {got.returncode}')
            out.append(f'ERROR\t{phase}\t{message}')
        return out

    def all(self, settings, cases):
        out, at = {}, 0
        while at < len(cases):
            results = self.run(settings, cases[at:at + TOGETHER])
            assert results, cases[at]
            out.update(zip(cases[at:], results))
            at += len(results)
        return out


def same(flink, ours, phases=False):
    if flink.startswith('OK') or ours.startswith('OK'):
        return flink == ours
    if not phases:
        return ours.split('\t')[1] in ('compile', 'runtime')
    early = flink.split('\t')[1] in ('parse', 'validate', 'plan')
    return ours.split('\t')[1] == ('compile' if early else 'runtime')


def known_differences():
    path = RECORDS / 'known-differences.txt'
    lines = path.read_text(encoding='utf-8').split('\n') if path.exists() else []
    return {l for l in lines if l and not l.startswith('#')}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--bin', default='build/tidemark')
    parser.add_argument('--record', action='store_true')
    parser.add_argument('--only', action='append')
    parser.add_argument('--grep')
    parser.add_argument('--limit', type=int, default=1000000)
    parser.add_argument('--phases', action='store_true')
    parser.add_argument('--write-known', action='store_true')
    parser.add_argument('--flink-lib')
    args = parser.parse_args()
    passed, failed, known, differ = 0, 0, known_differences(), []
    with tempfile.TemporaryDirectory() as place:
        ours = Ours(args.bin, place)
        for family in args.only or function_cases.FAMILIES:
            if args.record:
                record(family, args.flink_lib)
            flink = load(family)
            for settings, cases in sections(family):
                cases = [c for c in cases if key(settings, c) in flink and (not args.grep or re.search(args.grep, c))]
                results = ours.all(settings, cases)
                for case in cases:
                    expected, got = flink[key(settings, case)], results[case]
                    zone = key(settings, case).split('\t')[0]
                    name = f"{'' if zone == 'UTC' else zone + ': '}{case}"
                    if same(expected, got, args.phases):
                        passed += 1
                        if name in known:
                            print(f'agrees now, take it off the list: {name}')
                        continue
                    differ.append(name)
                    if name in known and not args.grep:
                        continue
                    failed += 1
                    if failed <= args.limit:
                        print(f'{name}\n    flink {expected}\n    ours  {got}')
    if args.write_known:
        text = '# What functions.py finds to differ from Flink: the result, its type, or whether it is an error.\n'
        (RECORDS / 'known-differences.txt').write_text(text + '\n'.join(differ) + '\n', encoding='utf-8')
    print(f'{passed} passed, {failed} failed, {len(differ) - failed} known to differ')
    return 1 if failed and not args.write_known else 0


if __name__ == '__main__':
    sys.exit(main())
