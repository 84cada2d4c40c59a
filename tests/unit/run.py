#!/usr/bin/env python3
"""Run the unit tests of a build folder and count their checks.

usage: run.py BUILD [--suite NAME]... [NAME]...
Meson runs the test programs; the checks are counted from Check's closing line ("100%: Checks: 12, Failures: 0,
Errors: 0"). A program without such a line counts as one test by its exit status. A Check runner that ran no check at
all fails: a misspelt case name must not look like success. Last line: `N passed, M failed`.
"""
import argparse, json, pathlib, re, subprocess, sys

CLOSING = re.compile(r'^\d+%: Checks: (\d+), Failures: (\d+), Errors: (\d+)$', re.M)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument('build'); ap.add_argument('--suite', action='append', default=[]); ap.add_argument('names', nargs='*')
    a = ap.parse_args()
    listed = subprocess.run(['meson', 'test', '-C', a.build, '--list', '--no-rebuild'], capture_output=True, text=True).stdout
    tests = [l.strip() for l in listed.splitlines() if l.strip() and not l.startswith('ninja')]
    suites = {s.split(':')[-1].strip() for t in tests if ' / ' in t for s in t.split(' / ')[0].split('+')}
    # a name may be a suite or a test
    suite_args = [x for n in a.names + a.suite if n in suites for x in ('--suite', n)]
    names = [n for n in a.names if n not in suites]
    if a.suite and not suite_args:
        print('no such suite: ' + ', '.join(a.suite)); print('0 passed, 1 failed'); return 1
    log = pathlib.Path(a.build) / 'meson-logs' / 'testlog.json'
    log.unlink(missing_ok=True)
    p = subprocess.run(['meson', 'test', '-C', a.build, '--no-rebuild', '--quiet', '--print-errorlogs', '--timeout-multiplier', '4',
                        *suite_args, *names], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    passed = failed = 0
    for line in log.read_text().splitlines() if log.exists() else []:
        t = json.loads(line)
        bad = t['result'] not in ('OK', 'EXPECTEDFAIL')
        found = [tuple(map(int, m)) for m in CLOSING.findall(t.get('stdout') or '')]
        checks, failures = sum(c for c, _, _ in found), sum(f + e for _, f, e in found)
        if not found:
            checks, failures = 1, int(bad)
        elif checks == 0:
            failures = 1; print(f"{t['name']}: ran no check at all")
        elif bad:
            failures = max(failures, 1)
        passed += max(checks - failures, 0); failed += failures
        print(f"{t['name']:40} {checks - failures if not bad else max(checks - failures, 0):5} passed {failures:4} failed")
    if failed or (p.returncode and not passed):
        print(p.stdout)
    if passed + failed == 0:
        print('no test was run'); failed = 1
    print(f'{passed} passed, {failed} failed')
    return failed != 0


sys.exit(main())
