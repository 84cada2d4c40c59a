#!/usr/bin/env python3
"""How many lines of what a fuzz target aims at its corpus reaches. Each file of the corpus is run once, unchanged.

usage: coverage.py [TARGET]... [-v]       (./dev fuzz --coverage builds build-cov/ first)

-v lists the lines that were not reached. Last line: `N passed, M failed`; a target below 80 % fails.
"""
import argparse, collections, fnmatch, json, pathlib, subprocess, sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD, LEAST = ROOT / 'build-cov', 80
FUZZ = 'tests/fuzz/'
# Target -> (corpora, sources that it aims at).
TARGETS = {
    'sql_parse': ([FUZZ + 'corpus', 'tests/golden'], ['sql/parse*.c', 'sql/scan*', 'sql/ast.c']),
    'sql_compile': ([FUZZ + 'corpus', 'tests/golden'], ['sql/*.c', '!sql/parse*.c']),
    'csv_read': ([FUZZ + 'csv-corpus'], ['engine/formats/csv_read.c', 'engine/formats/csv_split.c', 'engine/formats/csv_cell.c']),
    'json_read': ([FUZZ + 'json-corpus'], ['engine/formats/json_read.c', 'engine/formats/json_scan.c', 'engine/formats/json_value.c', 'engine/formats/json_nested.c']),
    'savepoint_read': ([FUZZ + 'savepoint-corpus'], ['checkpoint/open.c', 'checkpoint/frame.c', 'checkpoint/chunk.c', 'checkpoint/entries.c', 'checkpoint/merge.c',
                                                     'checkpoint/manifest_unpack.c', 'checkpoint/verify.c', 'checkpoint/key_ranges.c']),
    'keys': ([FUZZ + 'keys-corpus'], ['engine/codec/key.c', 'engine/codec/row.c']),
}


def lines_of(wanted):
    """source -> line -> how often, of all objects that were run."""
    counts = collections.defaultdict(dict)
    notes = [f for f in BUILD.rglob('*.gcda')]
    for f in notes:
        out = subprocess.run(['gcov', '--json-format', '--stdout', f], cwd=BUILD, capture_output=True, text=True).stdout
        for file in json.loads(out)['files'] if out.startswith('{') else []:
            path = (BUILD / file['file']).resolve()
            name = str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else ''
            if any(fnmatch.fnmatch(name, w) for w in wanted if w[0] != '!') and not any(fnmatch.fnmatch(name, w[1:]) for w in wanted if w[0] == '!'):
                for line in file['lines']:
                    counts[name][line['line_number']] = counts[name].get(line['line_number'], 0) + line['count']
    return counts


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument('targets', nargs='*'); ap.add_argument('-v', action='store_true', dest='verbose')
    a = ap.parse_args()
    passed = failed = 0
    for target, (corpora, wanted) in TARGETS.items():
        if a.targets and target not in a.targets:
            continue
        for f in BUILD.rglob('*.gcda'):
            f.unlink()
        subprocess.run([BUILD / 'tests/fuzz' / f'fuzz_{target}', '-n', '0', *(ROOT / c for c in corpora)], check=True, stdout=subprocess.DEVNULL)
        counts = lines_of(wanted)
        total = sum(len(c) for c in counts.values())
        hit = sum(1 for c in counts.values() for n in c.values() if n)
        share = 100 * hit / max(1, total)
        print(f'{target}: {hit} of {total} lines, {share:.1f} %', flush=True)
        for name, lines in sorted(counts.items()):
            missed = [n for n, count in sorted(lines.items()) if not count]
            print(f'  {name}: {100 - 100 * len(missed) // max(1, len(lines))} %' + (f', not {missed}' if a.verbose else ''))
        passed, failed = passed + (share >= LEAST), failed + (share < LEAST)
    print(f'{passed} passed, {failed} failed')
    return int(failed != 0 or passed == 0)


if __name__ == '__main__':
    sys.exit(main())
