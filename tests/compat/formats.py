#!/usr/bin/env python3
"""`tidemark check` as users and CI have it: its formats, exit codes, waivers, savepoints, uids, rules, and how long it takes.

usage: formats.py [--bin FILE]        last line: `N passed, M failed`
"""
import argparse, json, os, pathlib, re, resource, statistics, subprocess, sys, tempfile, xml.etree.ElementTree

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PAIRS = HERE / 'pairs'
tests = []


def test(function):
    tests.append(function)
    return function


def old_new(name):
    return [str(PAIRS / name / 'old.sql'), str(PAIRS / name / 'new.sql')]


class Run:
    def __init__(self, binary, folder):
        self.binary, self.folder = binary, folder

    def __call__(self, *words, code=None, stdin=None, env=None):
        r = subprocess.run([self.binary, *words], capture_output=True, text=True, cwd=self.folder, timeout=120, input=stdin,
                           env={**os.environ, 'NO_COLOR': '1', **(env or {})})
        assert r.returncode >= 0, f'signal {-r.returncode}: {words}'
        if code is not None:
            assert r.returncode == code, f'exit {r.returncode}, expected {code}: {words}\n{r.stdout}{r.stderr}'
        return r

    def check(self, *words, **more):
        return self('check', *words, **more)

    def report(self, *words, code=None):
        return json.loads(self.check('--format', 'json', *words, code=code).stdout)


def validate(value, schema, root, where='$'):
    """The part of JSON Schema that check.schema.json uses; yields what is wrong."""
    if '$ref' in schema:
        schema = root['$defs'][schema['$ref'].split('/')[-1]]
    known = {'type', 'enum', 'required', 'properties', 'additionalProperties', 'items', 'pattern', 'minimum', 'description', 'title', '$schema', '$defs'}
    assert set(schema) <= known, f'this test does not know {set(schema) - known}'
    kinds = {'object': dict, 'array': list, 'string': str, 'integer': int, 'boolean': bool, 'null': type(None)}
    if 'type' in schema:
        allowed = schema['type'] if isinstance(schema['type'], list) else [schema['type']]
        if not any(type(value) is kinds[k] for k in allowed):
            yield f'{where}: {value!r} is no {allowed}'
            return
    if 'enum' in schema and value not in schema['enum']:
        yield f'{where}: {value!r}'
    if 'pattern' in schema and not re.search(schema['pattern'], value):
        yield f'{where}: {value!r} does not match'
    if 'minimum' in schema and value < schema['minimum']:
        yield f'{where}: {value}'
    if isinstance(value, dict):
        for name in schema.get('required', []):
            if name not in value:
                yield f'{where}: no {name}'
        for name, member in value.items():
            if name in schema.get('properties', {}):
                yield from validate(member, schema['properties'][name], root, f'{where}.{name}')
            elif not schema.get('additionalProperties', True):
                yield f'{where}: {name} is not in the schema'
    if isinstance(value, list) and 'items' in schema:
        for i, item in enumerate(value):
            yield from validate(item, schema['items'], root, f'{where}[{i}]')


@test
def json_is_as_its_schema_says(run):
    schema = json.loads((ROOT / 'schemas' / 'check.schema.json').read_text())
    for pair in sorted(PAIRS.iterdir())[::6]:
        wrong = list(validate(run.report(*old_new(pair.name)), schema, schema))
        assert not wrong, f'{pair.name}: {wrong[:3]}'


@test
def sarif_has_what_github_needs(run):
    log = json.loads(run.check('--format', 'sarif', *old_new('multi-08-topn-limit-and-order'), code=20).stdout)
    assert log['version'] == '2.1.0' and log['$schema'].endswith('sarif-2.1.0.json')
    driver, results = log['runs'][0]['tool']['driver'], log['runs'][0]['results']
    assert {r['ruleId'] for r in results} == {'topn.limit', 'topn.order_by'} == {r['id'] for r in driver['rules']}
    for r in results:
        assert r['level'] in ('none', 'note', 'warning', 'error') and r['message']['text']
        region = r['locations'][0]['physicalLocation']['region']
        assert region['startLine'] > 1 and region['startColumn'] >= 1
        assert r['partialFingerprints'] and r['locations'][0]['physicalLocation']['artifactLocation']['uri']


@test
def junit_counts_what_fails(run):
    root = xml.etree.ElementTree.fromstring(run.check('--format', 'junit', *old_new('wtopn-29-limit-decreased'), code=20).stdout)
    suite = root.find('testsuite')
    assert int(suite.get('failures')) == len(root.findall('.//failure')) == 1
    assert int(suite.get('tests')) == len(root.findall('.//testcase'))
    fine = xml.etree.ElementTree.fromstring(run.check('--format', 'junit', *old_new('ident-01-topn'), code=0).stdout)
    assert fine.find('testsuite').get('failures') == '0' and fine.findall('.//testcase')


@test
def github_annotations_name_the_line(run):
    out = run.check('--format', 'github', *old_new('wtopn-29-limit-decreased'), code=20).stdout
    assert re.search(r'^::error file=[^:]*new\.sql,line=\d+,col=\d+,title=topn\.limit \(incompatible\)::', out, re.M), out
    out = run.check('--format', 'github', *old_new('wagg-01-agg-added'), code=10).stdout
    assert re.search(r'^::warning ', out, re.M), out


@test
def text_points_into_both_files(run):
    out = run.check(*old_new('wtopn-29-limit-decreased'), code=20).stdout
    lines = out.splitlines()
    carets = [i for i, line in enumerate(lines) if set(line.strip()) <= set('^~') and '^' in line]
    assert len(carets) == 2, out
    for i in carets:
        start, length = lines[i].index('^'), len(lines[i].strip())
        assert lines[i - 1][start:start + length].startswith('rk '), lines[i - 1]
    assert 'old.sql:' in out and 'new.sql:' in out and '--policy exact' in out and '\033' not in out


@test
def exit_codes_and_fail_on(run):
    for name, code in [('ident-01-topn', 0), ('wagg-01-agg-added', 10), ('wtopn-28-limit-increased', 20), ('multi-01-sink-and-agg', 30)]:
        run.check(*old_new(name), code=code)
    run.check('--fail-on', 'incompatible', *old_new('wagg-01-agg-added'), code=0)
    run.check('--fail-on', 'incompatible', *old_new('multi-01-sink-and-agg'), code=30)
    run.check('--fail-on', 'incompatible', *old_new('wtopn-28-limit-increased'), code=20)
    run.check('nothing.sql', old_new('ident-01-topn')[1], code=2)
    run.check('--policy', 'soft', *old_new('ident-01-topn'), code=2)
    run.check(code=2)
    (run.folder / 'wrong.sql').write_text('SELECT FROM;')
    wrong = run.check(old_new('ident-01-topn')[0], 'wrong.sql', code=2)
    assert 'wrong.sql:1:' in wrong.stderr


def fingerprint(run, name):
    changes = [c for o in run.report(*old_new(name))['operators'] for c in o['changes'] if c['verdict'] != 'compatible']
    assert len(changes) == 1
    return changes[0]['fingerprint']


@test
def waived_changes_stay_listed_and_do_not_count(run):
    found = fingerprint(run, 'wtopn-28-limit-increased')
    waivers = run.folder / 'waivers.yml'
    waivers.write_text(f'# agreed\n---\n- fingerprint: {found}   # N\n  reason: "the board may begin empty: it is Sunday"\n  until: 2999-12-31\n')
    report = run.report('--waivers', str(waivers), *old_new('wtopn-28-limit-increased'), code=0)
    assert [c['waived'] for o in report['operators'] for c in o['changes']] == [True]
    out = run.check('--waivers', str(waivers), *old_new('wtopn-28-limit-increased'), code=0).stdout
    assert 'waived: the board may begin empty' in out
    waivers.write_text(f'- fingerprint: {found}\n  reason: it was Sunday\n  until: 2020-01-31\n')
    assert 'expired' in run.check('--waivers', str(waivers), *old_new('wtopn-28-limit-increased'), code=20).stdout
    run.check('--waivers', str(waivers), *old_new('wtopn-29-limit-decreased'), code=20)


@test
def a_waiver_file_is_read_strictly(run):
    good = '- fingerprint: 0123456789abcdef\n  reason: x\n'
    for text in ['fingerprint: 0123456789abcdef\n', '- fingerprint: 0123456789abcdef\n', '- reason: x\n', good + '  until: 31.1.2027\n', good + '  why: y\n',
                 '- fingerprint: 12\n  reason: x\n', good + '  reason: y\n', '- {fingerprint: 0123456789abcdef, reason: x}\n', '- fingerprint: 0123456789abcdef\n\treason: x\n',
                 good + 'x\n', '- fingerprint: 0123456789abcdef\n  reason: "x\n', '-fingerprint: 0123456789abcdef\n  reason: x\n']:
        waivers = run.folder / 'waivers.yml'
        waivers.write_text(text)
        r = run.check('--waivers', str(waivers), *old_new('ident-01-topn'), code=2)
        assert 'waivers.yml:' in r.stderr, text


@test
def a_fingerprint_does_not_move_with_the_text(run):
    old, new = old_new('wtopn-28-limit-increased')
    moved = run.folder / 'moved.sql'
    moved.write_text('-- a comment\n\n' + pathlib.Path(new).read_text())
    again = [c['fingerprint'] for o in run.report(old, str(moved))['operators'] for c in o['changes']]
    assert again == [fingerprint(run, 'wtopn-28-limit-increased')]


@test
def every_rule_can_be_explained(run):
    codes = re.findall(r'^([a-z_]+(?:\.[a-z_]+)?) +(?:compatible|partial|unknown|incompatible|depends) ', run.check('--rules', code=0).stdout, re.M)
    assert len(codes) > 90 and len(set(codes)) == len(codes)
    for code in codes[::9] + ['topn.limit']:
        assert code in run.check('--explain', code, code=0).stdout
    assert 'no rule' in run.check('--explain', 'topn.nothing', code=2).stderr
    used = {c for p in PAIRS.iterdir() for c in re.findall(r'^change: (\S+)', (p / 'expect.yaml').read_text(), re.M)}
    missing = {c for c in used if c not in codes and c != 'none' and (not c.startswith('cosmetic.') or c == 'cosmetic.commutative')}
    assert not missing, missing


@test
def the_page_is_made_of_the_rules(run):
    assert run.check('--rules-document', code=0).stdout == (ROOT / 'docs' / 'compatibility.md').read_text(), './dev docs'


SOURCE = """CREATE TABLE t (a INT, b BIGINT, c STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
WITH ('connector' = 'filesystem', 'path' = 'in.csv', 'format' = 'csv');
"""
WINDOW = "FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end, a"


def sink(name, columns='a INT, x BIGINT'):
    return f"CREATE TABLE {name} ({columns}) WITH ('connector' = 'filesystem', 'path' = '{name}', 'format' = 'csv');\n"


def statement_set(*inserts):
    return 'EXECUTE STATEMENT SET BEGIN\n' + ''.join(inserts) + 'END;\n'


@test
def a_uid_names_operators_across_versions(run):
    tables = SOURCE + sink('s1') + sink('s2')
    first, second = f'INSERT INTO s1 SELECT a, SUM(b) {WINDOW};\n', f'INSERT INTO s2 SELECT a, COUNT(c) {WINDOW};\n'
    old = run.folder / 'old.sql'
    old.write_text(tables + statement_set('-- uid: totals_of_t\n' + first, '-- uid: counts\n' + second))
    new = run.folder / 'new.sql'
    # The queries change places and sinks, and one of them its aggregate: the names say which is which.
    new.write_text(tables + statement_set('-- uid: counts\n' + f'INSERT INTO s1 SELECT a, COUNT(b) {WINDOW};\n',
                                          '-- uid: totals_of_t\n' + f'INSERT INTO s2 SELECT a, SUM(b) {WINDOW};\n'))
    report = run.report(str(old), str(new))
    found = {o['name']: [c['code'] for c in o['changes']] for o in report['operators'] if o['kind'] == 'window-aggregate'}
    assert found == {'counts-window-aggregate': ['agg.only_modified'], 'totals-of-t-window-aggregate': []}, found
    assert all(o['matched_by'] == 'uid' for o in report['operators'] if o['kind'] == 'window-aggregate')


@test
def added_and_removed_queries_are_named(run):
    tables = SOURCE + sink('s1') + sink('s2')
    first, second = f'INSERT INTO s1 SELECT a, SUM(b) {WINDOW};\n', f'INSERT INTO s2 SELECT a, COUNT(c) {WINDOW};\n'
    one, both = run.folder / 'one.sql', run.folder / 'both.sql'
    one.write_text(tables + first)
    both.write_text(tables + statement_set(first, second))
    codes = lambda r: sorted(c['code'] for o in r['operators'] for c in o['changes'])
    assert codes(run.report(str(one), str(both), code=20)) == ['sink.added_stateful']
    assert codes(run.report(str(both), str(one), code=0)) == ['sink.removed']


@test
def old_may_be_a_savepoint(run):
    old = run.folder / 'job.sql'
    old.write_text(SOURCE + f'SELECT a, SUM(b) {WINDOW};\n')
    (run.folder / 'in.csv').write_text(''.join(f'{i % 3},{i},x,2026-01-01 00:00:{i:02d}\n' for i in range(50)))
    run('run', 'job.sql', '--stop-with-savepoint', 'job.sp', '--after', '40', code=0)
    run.check('job.sp', 'job.sql', code=0)
    new = run.folder / 'new.sql'
    new.write_text(SOURCE + f'SELECT a, SUM(b), COUNT(*) {WINDOW};\n')
    assert run.report('job.sp', 'new.sql', code=10)['holds']
    new.write_text(SOURCE + f'SELECT a, SUM(b), COUNT(DISTINCT c) {WINDOW};\n')
    hint = run.check('job.sp', 'new.sql', '--policy', 'strict', code=20).stdout
    assert 'tidemark run new.sql --from job.sp --policy exact --on-incompatible partial' in hint, hint
    assert 'or go on in part with --policy exact --on-incompatible partial' in hint, hint
    part = run('run', 'new.sql', '--from', 'job.sp', '--policy', 'exact', '--on-incompatible', 'partial', code=0).stderr
    assert 'results are whole again for windows that begin at 2026-01-01 00:01' in part, part
    new.write_text(SOURCE + f'SELECT a, SUM(b) {WINDOW.replace("1", "2")};\n')
    out = run.check('job.sp', 'new.sql', code=20).stdout
    assert 'the savepoint job.sp holds' in out and '1 open windows' in out and '3 keys' in out, out
    (run.folder / 'broken.sp').write_bytes(b'TIDESAVE' + b'\0' * 100)
    run.check('broken.sp', 'new.sql', code=3)
    # What the check says, a restore does.
    refused = run('run', 'new.sql', '--from', 'job.sp', code=4)
    assert 'window.size' in refused.stderr
    anew = run('run', 'new.sql', '--from', 'job.sp', '--on-incompatible', 'reset', code=0)
    assert 'starts empty' in anew.stderr and 'results are whole again for windows that begin at 2026-01-01 00:01' in anew.stderr, anew.stderr


@test
def ten_queries_are_checked_in_no_time(run):
    tables = SOURCE + ''.join(sink(f's{i}') for i in range(10))
    query = 'INSERT INTO s{i} SELECT a, x FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end\n' \
            '  ORDER BY x DESC) AS rk FROM (\n  SELECT a, SUM(b + {i}) AS x,\n window_start, window_end\n' \
            "  FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE))\n  WHERE b > {i}\n  AND c <> 'x{i}'\n" \
            '  GROUP BY window_start, window_end,\n  a))\n  WHERE rk <= {n}\n;\n\n\n\n\n\n'
    old, new = run.folder / 'old.sql', run.folder / 'new.sql'
    old.write_text(tables + statement_set(*(query.format(i=i, n=3) for i in range(10))))
    new.write_text(tables + statement_set(*(query.format(i=i, n=4) for i in reversed(range(10)))))
    assert 170 < old.read_text().count('\n') < 230
    times = []
    for _ in range(20):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run.check(str(old), str(new), code=20)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    median = statistics.median(times)
    print(f'check of ten queries: {median * 1000:.1f} ms of CPU (median of 20)')
    bound = 0.020 if 'build-asan' not in run.binary and 'build-tsan' not in run.binary else 2
    assert median < 3 * bound, median  # generous: the machine may be busy


@test
def the_hook_refuses_what_loses_state(run):
    repository = run.folder / 'repository'
    repository.mkdir()
    git = lambda *w: subprocess.run(['git', '-c', 'user.name=t', '-c', 'user.email=t@example.org', *w], cwd=repository, capture_output=True, text=True,
                                    env={**os.environ, 'TIDEMARK': run.binary, 'GIT_CONFIG_GLOBAL': '/dev/null'})
    if git('init', '-q').returncode != 0:
        return
    old, new = (pathlib.Path(p).read_text() for p in old_new('wtopn-28-limit-increased'))
    (repository / 'job.sql').write_text(old)
    git('add', 'job.sql')
    assert git('commit', '-qm', 'one').returncode == 0
    hook = repository / '.git' / 'hooks' / 'pre-commit'
    hook.parent.mkdir(exist_ok=True)
    hook.write_text((ROOT / 'examples' / 'ci' / 'pre-commit').read_text())
    hook.chmod(0o755)
    (repository / 'job.sql').write_text(new)
    git('add', 'job.sql')
    refused = git('commit', '-qm', 'two')
    assert refused.returncode != 0 and 'topn.limit' in refused.stdout + refused.stderr, refused
    (repository / 'job.sql').write_text('-- only a comment\n' + old)
    git('add', 'job.sql')
    assert git('commit', '-qm', 'three').returncode == 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--bin', default=str(ROOT / 'build' / 'tidemark'))
    a = parser.parse_args()
    passed = failed = 0
    for function in tests:
        name = function.__name__.replace('_', ' ')
        with tempfile.TemporaryDirectory() as folder:
            try:
                function(Run(str(pathlib.Path(a.bin).resolve()), pathlib.Path(folder)))
                passed += 1
                print(f'ok   {name}')
            except (AssertionError, KeyError, ValueError, subprocess.TimeoutExpired, xml.etree.ElementTree.ParseError) as e:
                failed += 1
                print(f'FAIL {name}: {e}')
    print(f'{passed} passed, {failed} failed')
    sys.exit(failed > 0)


if __name__ == '__main__':
    main()
