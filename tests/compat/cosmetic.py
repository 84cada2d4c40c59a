#!/usr/bin/env python3
"""What is cosmetic raises nothing: each script of tests/golden is rewritten in ways that mean the same, and `tidemark check` must find no
change, under both policies.

usage: cosmetic.py [--bin FILE] [--area AREA...] [--verbose]

A rewriting works on tokens, so that literals and comments stay what they are; one that does not apply to a script is left out, and so is a
rewritten script that the command can't plan (an alias may hide a column). Last line: `N passed, M failed`.
"""
import argparse, json, pathlib, re, subprocess, sys, tempfile
from concurrent.futures import ThreadPoolExecutor

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TOKEN = re.compile(r"--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|`(?:[^`]|``)*`|[A-Za-z_]\w*|\d+(?:\.\d+)?|\s+|<=|>=|<>|!=|\|\||.", re.S)
KEYWORDS = set('select from where group by order partition over as on join left right full inner outer union all and or not between in is null case when '
               'then else end having insert into create table view with values set interval minute minutes second seconds hour hours day days cast '
               'row_number rank sum count min max avg tumble hop cumulate session descriptor window_start window_end asc desc distinct limit offset '
               'execute statement begin temporary for system_time of lateral unnest exists like escape rollup cube grouping sets rows range preceding '
               'current unbounded filter timestamp date time watermark primary key enforced exec true false nulls first last'.split())
MIRROR = {'<': '>', '>': '<', '<=': '>=', '>=': '<=', '=': '=', '<>': '<>'}


def tokens(sql):
    return TOKEN.findall(sql)


def is_blank(token):
    return token.isspace() or token.startswith('--') or (token.startswith('/*') and not token.startswith('/*+'))


def case(sql, upper):
    out = []
    for t in tokens(sql):
        known = t.lower() in KEYWORDS and re.match(r'[A-Za-z]', t) and t.lower() not in ('window_start', 'window_end')
        out.append((t.upper() if upper else t.lower()) if known else t)
    return ''.join(out)


def whitespace(sql):
    return ''.join('\n   ' if t.isspace() and not b else t for t, b in with_directive(sql))


def with_directive(sql):
    """(token, it ends a line comment)"""
    before = ''
    for t in tokens(sql):
        yield t, before.startswith('--')
        before = t


def comments(sql):
    return ''.join(t if not (t.isspace() and not b) else t + '/* it\'s; nothing */ ' for t, b in with_directive(sql))


def line_comments(sql):
    return ''.join(t if not (t.isspace() and '\n' in t and not b) else ' -- "said", once; for all\n' + t for t, b in with_directive(sql))


def ascending(sql):
    """ORDER BY x -> ORDER BY x ASC, for a last plain column of an OVER or a query."""
    return re.sub(r'(ORDER\s+BY\s+[A-Za-z_]\w*)(\s*\)|\s*;)', r'\1 ASC\2', sql, flags=re.I)


def units(sql):
    factor = {'MINUTE': (60, 'SECOND(5)'), 'HOUR': (60, 'MINUTE(5)'), 'DAY': (24, 'HOUR(5)')}
    def other(m):
        n, unit = int(m.group(1)), m.group(2).upper()
        times, name = factor[unit]
        return f"INTERVAL '{n * times}' {name}"
    return re.sub(r"INTERVAL\s+'(\d+)'\s+(MINUTE|HOUR|DAY)(?:S)?\b(?!\s*(?:TO|\())", other, sql, flags=re.I)


def mirrored(sql):
    """x < 3 -> 3 > x, where both sides are one token and nothing binds tighter around them."""
    operand = r"([A-Za-z_]\w*)"
    literal = r"(\d+)"
    edge = r'(?<=[\s(])'
    return re.sub(edge + operand + r'\s*(<=|>=|<>|=|<|>)\s*' + literal + r'(?=\s*(?:\)|;|AND\b|OR\b|GROUP\b|$))',
                  lambda m: f'{m.group(3)} {MIRROR[m.group(2)]} {m.group(1)}', sql, flags=re.I)


def table_wrapper(sql):
    return re.sub(r'\bFROM\s+TABLE\s*\(\s*(TUMBLE|HOP|CUMULATE)\s*\(([^()]*\([^()]*\)[^()]*)\)\s*\)', r'FROM \1(\2)', sql, flags=re.I)


def rank_bound(sql):
    if re.search(r'runtime-mode', sql):  # a plain condition there
        return sql
    return re.sub(r'\b(rk|rn|rownum|row_num)\s*<=\s*(\d+)(?![\d.])', lambda m: f'{m.group(1)} < {int(m.group(2)) + 1}', sql)


def nested(sql):
    """INSERT INTO t SELECT ...; -> INSERT INTO t SELECT * FROM (SELECT ...);"""
    return re.sub(r'(INSERT\s+INTO\s+[\w.`]+\s+)(SELECT\b[^;]*);', r'\1SELECT * FROM (\2);', sql, flags=re.I)


def unused(sql):
    return "CREATE TEMPORARY VIEW nobody_reads_this AS SELECT * FROM (VALUES (1, 'a')) AS v (x, y);\n" + sql


def count_one(sql):
    return re.sub(r'\bCOUNT\s*\(\s*\*\s*\)', 'COUNT(1)', sql, flags=re.I)


def view_extracted(sql):
    """The query of the last INSERT becomes a view."""
    m = re.search(r'(INSERT\s+INTO\s+[\w.`]+\s+)(SELECT\b[^;]*);\s*$', sql, flags=re.I)
    if not m or re.search(r'\bBEGIN\b', sql, flags=re.I):
        return sql
    return sql[:m.start()] + f'CREATE TEMPORARY VIEW taken_out AS {m.group(2)};\n{m.group(1)}SELECT * FROM taken_out;\n'


MUTATIONS = {
    'lower case': lambda s: case(s, False), 'upper case': lambda s: case(s, True), 'white space': whitespace, 'comments': comments,
    'line comments': line_comments, 'ASC': ascending, 'units': units, 'mirrored': mirrored, 'TABLE()': table_wrapper, 'rank bound': rank_bound,
    'nested': nested, 'unused view': unused, 'COUNT(1)': count_one, 'view': view_extracted,
}


def check(binary, old, new):
    run = subprocess.run([binary, 'check', '--policy', 'exact', '--format', 'json', old, new], capture_output=True, text=True, timeout=120)
    if run.returncode in (1, 2, 3):  # a script that is wrong, or fails while its constants are computed
        return None
    report = json.loads(run.stdout)
    changes = [(c['code'], c['message']) for o in report['operators'] for c in o['changes']]
    return [] if report['verdict'] == 'compatible' and not changes else changes or [report['verdict']]


def one(binary, script, folder):
    """-> (passed, [failures])"""
    sql = script.read_text(encoding='utf-8')
    old = folder / 'old.sql'
    old.write_text(sql, encoding='utf-8')
    passed, failures = 0, []
    base = check(binary, old, old)
    if base is None:
        return 0, []
    if base:
        failures.append((script, 'itself', base))
    for name, mutate in MUTATIONS.items():
        changed = mutate(sql)
        if changed == sql:
            continue
        new = folder / 'new.sql'
        new.write_text(changed, encoding='utf-8')
        found = check(binary, old, new)
        if found is None:
            continue
        if found:
            failures.append((script, name, found))
        else:
            passed += 1
    return passed, failures


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--bin', default=str(ROOT / 'build' / 'tidemark'))
    parser.add_argument('--area', nargs='*')
    parser.add_argument('--every', type=int, default=1, help='only each Nth script')
    parser.add_argument('--verbose', action='store_true')
    a = parser.parse_args()
    scripts = sorted(p for p in (ROOT / 'tests' / 'golden').glob('*/*/*.sql') if not a.area or p.parent.parent.name in a.area)[::a.every]
    passed = failed = 0
    with tempfile.TemporaryDirectory() as top, ThreadPoolExecutor(2) as pool:
        def run(item):
            folder = pathlib.Path(top) / str(item[0])
            folder.mkdir()
            return one(a.bin, item[1], folder)
        for ok, failures in pool.map(run, enumerate(scripts)):
            passed += ok
            failed += len(failures)
            for script, name, found in failures:
                print(f'FAIL {script.relative_to(ROOT)}: {name}: {found}')
    print(f'{passed} passed, {failed} failed')
    sys.exit(failed > 0 or passed == 0)


if __name__ == '__main__':
    main()
