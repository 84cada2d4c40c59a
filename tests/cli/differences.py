#!/usr/bin/env python3
"""Where we differ from Flink on purpose (docs/flink-differences.md): what is there must be so.

usage: differences.py [--bin PATH]       the scripts are those of tests/golden/quirk, whose records are Flink's answers
Last line: `N passed, M failed`.
"""
import argparse, gzip, os, pathlib, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
QUIRK = ROOT / 'tests' / 'golden' / 'quirk'

# case -> rows that we give
OURS = {
    'least-decimal-int-null': ['1\t1.000', '2\t-2.500', '3\t1.000', '4\t<NULL>'],
    'order-by-nan': ['2\tNaN\t1', '3\t7.0\t2', '1\t1.5\t3', '4\t-1.0\t4'],
}


def run(binary, script, folder):
    p = subprocess.run([binary, 'run', script, '-q', '-o', 'tsv', '--no-header'], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                       timeout=60)
    return p.returncode, [l.split('\t', 1)[1] for l in p.stdout.splitlines() if l], p.stderr


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument('--bin', default='build/tidemark')
    binary = os.path.abspath(ap.parse_args().bin)
    passed = failed = 0

    def check(name, ok, why):
        nonlocal passed, failed
        passed += ok; failed += not ok
        if not ok:
            print(f'FAIL {name}: {why}')

    for case, rows in OURS.items():
        code, got, err = run(binary, 'query.sql', QUIRK / case)
        check(case, code == 0 and got == rows, f'exit {code}, {got} {err}')
    with tempfile.TemporaryDirectory() as d:
        folder = pathlib.Path(d)
        keys = [f'k{i}' for i in range(65)]
        for n, want in ((64, 0), (65, 2)):
            (folder / 'keys.sql').write_text(f'SELECT COUNT(*) FROM (VALUES ({", ".join("1" for _ in keys)})) AS t({", ".join(keys)}) GROUP BY {", ".join(keys[:n])};\n')
            code, _, err = run(binary, 'keys.sql', folder)
            check(f'{n} keys', code == want and (not want or 'more than 64 keys' in err), f'exit {code} {err}')
        for size, want in ((16 << 20) - 8, 0), ((16 << 20) + 8, 1):
            (folder / 'big.csv').write_text('x' * size + '\n')
            (folder / 'big.sql').write_text("CREATE TABLE t (s STRING) WITH ('connector'='filesystem','path'='big.csv','format'='csv');\n"
                                            'SELECT CHAR_LENGTH(s) FROM t;\n')
            code, got, err = run(binary, 'big.sql', folder)
            check(f'a row of {size} bytes', code == want and (got == [str(size)] if not want else '16 MiB' in err), f'exit {code} {got} {err}')
        (folder / 'in.csv.gz').write_bytes(gzip.compress(b'a\n'))
        (folder / 'in.csv').write_text('a\n')
        for name, options, word in (('csv.field-delimiter', "'path'='in.csv','format'='csv','csv.field-delimiter'='\u00a7'", 'ASCII'),
                                    ('compressed files', "'path'='in.csv.gz','format'='csv'", 'compressed'),
                                    ('raw.charset', "'path'='in.csv','format'='raw','raw.charset'='UTF-16'", 'raw.charset')):
            (folder / 'q.sql').write_text(f"CREATE TABLE t (s STRING) WITH ('connector'='filesystem',{options});\nSELECT * FROM t;\n")
            code, got, err = run(binary, 'q.sql', folder)
            check(name, code == 2 and word in err, f'exit {code} {got} {err}')
    print(f'{passed} passed, {failed} failed')
    return failed != 0


sys.exit(main())
