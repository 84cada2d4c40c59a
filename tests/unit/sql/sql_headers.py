#!/usr/bin/env python3
"""Every golden script compiles to the columns that Flink gives it, or fails in the phase in which Flink fails.

usage: sql_headers.py COMPILE_FILE GOLDEN_FOLDER [AREA...]

Compares names and types of all result headers, and the word after ERROR (parse, validate, plan). Cases that need what is not
there yet are listed in sql_headers.skip, one AREA/CASE a line; a listed case that passes is reported, so that the list shrinks.
"""
import os
import subprocess
import sys


def expected(path):
    lines = []
    with open(path, encoding='utf-8') as f:
        for line in f.read().split('\n'):
            if line.startswith('-- ') and not line.startswith('-- order: '):
                lines.append(line)
            elif line.startswith('ERROR') and not line.startswith('ERROR runtime'):
                lines.append(line.split(':')[0])
    return lines


def actual(tool, script):
    run = subprocess.run([tool, script], capture_output=True, timeout=60)
    lines = []
    for line in run.stdout.decode('utf-8', 'replace').split('\n'):
        if line.startswith('ERROR'):
            lines.append(line.split(':')[0])
        elif line.startswith('-- '):
            lines.append(line)
    if run.returncode not in (0, 2):
        lines.append('crashed: %d' % run.returncode)
    return lines


def main():
    tool, golden, areas = sys.argv[1], sys.argv[2], sys.argv[3:]
    skip_file = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'sql_headers.skip')
    with open(skip_file, encoding='utf-8') as f:
        skip = {line.strip() for line in f if line.strip() and not line.startswith('#')}
    bad = passed = 0
    for area in areas or sorted(os.listdir(golden)):
        if not os.path.isdir(os.path.join(golden, area)):
            continue
        area_passed = total = 0
        for case in sorted(os.listdir(os.path.join(golden, area))):
            folder = os.path.join(golden, area, case)
            script = os.path.join(folder, 'query.sql')
            if not os.path.exists(script):
                continue
            total += 1
            want, got = expected(os.path.join(folder, 'expected.out')), actual(tool, script)
            name = area + '/' + case
            if want == got:
                area_passed += 1
                if name in skip:
                    print('%s passes: take it out of sql_headers.skip' % name)
            elif name not in skip or any(line.startswith('crashed') for line in got):
                bad += 1
                differs = [(w, g) for w, g in zip(want + ['-'] * len(got), got + ['-'] * len(want)) if w != g][0]
                print('%s\n  expected %s\n  got      %s' % ((name,) + differs))
        passed += area_passed
        print('%-8s %d of %d' % (area, area_passed, total))
    return 1 if bad > 0 or passed == 0 else 0


sys.exit(main())
