#!/usr/bin/env python3
"""The long forms of the crash, fault and damage tests, and a table of what was done.

usage: torture.py [--bin PATH] [--minutes M] [--fuzz-seconds S] [--record] [PART]...

Parts, in their order: see PARTS. A part that would begin after M minutes is left out, and that is said. --record puts what was run
into the table in docs/reliability.md, with the time. Last line: `N passed, M failed`.
"""
import argparse, datetime, json, os, pathlib, re, subprocess, sys, tempfile, time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE, BEGIN, END = ROOT / 'docs/reliability.md', '<!-- torture: begin -->\n', '<!-- torture: end -->\n'
KEPT = ROOT / '.cache/torture.json'
FUZZ = ['sql_parse', 'sql_compile', 'csv_read', 'json_read', 'savepoint_read', 'keys']
# name -> (what the table says, script, options, has --json)
PARTS = {
    'kills': ('SIGKILL at random moments and at every named point, damaged checkpoints; 2 million rows', 'tests/crash/kill_test.py', ['--full'], True),
    'kills-small': ('the same, 200,000 rows, 100 random kills a job', 'tests/crash/kill_test.py', ['--quick', '--kills', '100', '--seed', '2'], True),
    'kills-calls': ('SIGKILL before every call that changes a file', 'tests/fault/fault_test.py', ['--full', '--op', 'any'], True),
    'watching': ('SIGKILL and SIGTERM of a job that watches a folder', 'tests/crash/watch_test.py', ['--seconds', '60'], True),
    'calls': ('every write, read, open, fsync, rename, ... of a job of 500 rows fails: EIO, ENOSPC, EINTR, short', 'tests/fault/fault_test.py',
              ['--full', '--allocations', '0', '--job', 'topn'], True),
    'calls-more': ('the same, each 11th call, of larger jobs too and of the commands that write savepoints', 'tests/fault/fault_test.py',
                   ['--every', '11', '--allocations', '0'], True),
    'allocations': ('every allocation of a job of 500 rows fails', 'tests/fault/fault_test.py', ['--full', '--op', 'allocation', '--job', 'topn'], True),
    'allocations-more': ('the same, each 7th, of larger jobs too', 'tests/fault/fault_test.py', ['--allocations', '7', '--op', 'allocation'], True),
    'power': ('power cut after every call: nothing, names only, zeros, torn', 'tests/fault/power_test.py', ['--full', '--torn', '3'], True),
    'restores': ('restores, damage, changed input, full disk, state that must not grow', 'tests/crash/restore_test.py', ['--full'], False),
    'format': ('savepoints read by another program; hostile and frozen ones', 'tests/format/format_test.py', [], False),
    'bits': ('every truncation and bit flip of a small savepoint, 5,000 samples of a large one', 'tests/unit/run.py', None, False),
    'fuzz': ('libFuzzer, ASan and UBSan', 'tests/fuzz/fuzz.sh', None, False),
}


def run(command, env=None):
    print('==', ' '.join(map(str, command)), flush=True)
    p = subprocess.Popen(list(map(str, command)), cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                         errors='replace', env={**os.environ, **(env or {})})
    out = []
    for line in p.stdout:
        out.append(line); sys.stdout.write(line); sys.stdout.flush()
    return p.wait(), ''.join(out)


def last_counts(out):
    found = re.findall(r'^(\d+) passed, (\d+) failed$', out, re.M)
    return (int(found[-1][0]), int(found[-1][1])) if found else (0, 1)


def fuzz(seconds, scratch):
    """-> inputs, crashes."""
    inputs = crashes = 0
    for target in FUZZ:
        status, out = run(['tests/fuzz/fuzz.sh', target, seconds])
        done = re.search(r'stat::number_of_executed_units:\s*(\d+)', out)
        inputs += int(done[1]) if done else 0
        crashes += status != 0 or not done
    return inputs, crashes


def part(name, a, scratch):
    """-> runs, faults, rows, losses, checks passed, checks failed; None where there is no such number."""
    _, script, options, counts = PARTS[name]
    if name == 'fuzz':
        inputs, crashes = fuzz(a.fuzz_seconds, scratch)
        return inputs, None, None, crashes, len(FUZZ) - crashes, crashes
    if name == 'bits':
        status, out = run(['python3', script, 'build', 'checkpoint'], {'TIDE_TEST_SAMPLES': '5000'})
        passed, failed = last_counts(out)
        return None, None, None, failed, passed, failed + (status != 0 and failed == 0)
    result = scratch / f'{name}.json'
    status, out = run(['python3', script, '--bin', a.bin, *options, *(['--json', result] if counts else [])])
    passed, failed = last_counts(out)
    failed += status != 0 and failed == 0
    if not counts or not result.exists():
        return None, None, None, failed, passed, failed
    told = json.loads(result.read_text())
    return told.get('runs'), told.get('faults'), told.get('rows'), told['losses'], passed, failed


def table(results):
    show = lambda n: '' if n is None else f'{n:,}'
    lines = ['| part | what | runs | faults injected | rows compared | losses | checks | s | when |', '|---|---|--:|--:|--:|--:|---|--:|---|']
    for name, (what, *_) in PARTS.items():
        if name not in results:
            continue
        runs, faults, compared, losses, passed, failed = results[name]['result']
        lines.append(f'| {name} | {what} | {show(runs)} | {show(faults)} | {show(compared)} | {losses} | {passed} passed, {failed} failed | '
                     f'{results[name]["seconds"]:.0f} | {results[name]["when"]} |')
    total = [sum(r['result'][i] or 0 for r in results.values()) for i in range(6)]
    lines.append(f'| **all** | | **{total[0]:,}** | **{total[1]:,}** | **{total[2]:,}** | **{total[3]}** | {total[4]} passed, {total[5]} failed | '
                 f'{sum(r["seconds"] for r in results.values()):.0f} | |')
    return '\n'.join(lines) + '\n', total


def record(results):
    """What was run last of each part, today or before."""
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    kept |= results
    KEPT.write_text(json.dumps(kept))
    page = PAGE.read_text()
    PAGE.write_text(page[:page.index(BEGIN) + len(BEGIN)] + table(kept)[0] + page[page.index(END):])


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument('--bin', default='build/tidemark'); ap.add_argument('--minutes', type=float, default=600)
    ap.add_argument('--fuzz-seconds', type=int, default=600); ap.add_argument('--record', action='store_true')
    ap.add_argument('parts', nargs='*', metavar='PART', help=', '.join(PARTS))
    a = ap.parse_args()
    unknown = [p for p in a.parts if p not in PARTS]
    if unknown:
        print(f'no part {unknown[0]}; there are: {", ".join(PARTS)}'); print('0 passed, 1 failed'); return 2
    begin, results = time.monotonic(), {}
    with tempfile.TemporaryDirectory(prefix='tide-torture-') as scratch:
        for name in a.parts or PARTS:
            start = time.monotonic()
            if start - begin >= a.minutes * 60:
                print(f'left out, no time: {name}'); continue
            results[name] = {'result': part(name, a, pathlib.Path(scratch)), 'seconds': time.monotonic() - start,
                             'when': f'{datetime.datetime.now():%Y-%m-%d %H:%M}'}
    text, total = table(results)
    print(text)
    if a.record:
        record(results)
    print(f'{total[4]} passed, {total[5]} failed')
    return int(total[5] != 0 or total[4] == 0)


if __name__ == '__main__':
    sys.exit(main())
