#!/usr/bin/env python3
"""Looking into savepoints, from outside: entries against the truth, every kind of state, damaged files, nothing written.

usage: inspecting.py [--bin PATH] [-v] [NAME]...      as run.py
"""
import collections, hashlib, html.parser, json, subprocess, sys

import run
from run import Place, need

TABLE = """CREATE TABLE t (ts TIMESTAMP(3), k STRING, v INT, d DECIMAL(10,2), f DOUBLE, WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
WITH ('connector'='filesystem','path'='t.csv','format'='csv');
"""
KEYS = ['a', 'b', "it's", '', 'x y', 'quote"', 'tab\there', 'line\nfeed', 'né', 'back\\slash']


def quote(text):
    return '"' + text.replace('"', '""') + '"'


def row(i):
    return {'t': i, 'k': KEYS[i % len(KEYS)], 'v': i % 17, 'd': i * 14, 'f': i * 0.25}


def stamp(seconds):
    return f'2024-01-01 {seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}.000'


def write_rows(p, n):
    lines = []
    for i in range(n):
        r = row(i)
        lines.append(f"{stamp(r['t'])[:19]},{quote(r['k'])},{r['v']},{r['d'] / 100:.2f},{r['f']}\n")
    p.write('t.csv', ''.join(lines))


def savepoint(p, select, after, n=2000, name='a.sp'):
    write_rows(p, n)
    p.write('job.sql', TABLE + select + ';\n')
    p.run('run', 'job.sql', '--stop-with-savepoint', name, '--after', after, '-o', 'tsv', exit=0)


def entries(p, *args, exit=0):
    out = p.run('inspect', *args, '-o', 'json', exit=exit).stdout
    return [json.loads(line) for line in out.split('\n') if line]


def window(kind, extra=''):
    return f"TABLE({kind}(TABLE t{extra}, DESCRIPTOR(ts), "


TUMBLE = window('TUMBLE') + "INTERVAL '1' MINUTE))"


def test_accumulators_are_the_truth(p):
    savepoint(p, 'SELECT window_start, k, COUNT(*), SUM(v), AVG(d), AVG(v), COUNT(DISTINCT v), MIN(k), MAX(f), SUM(d), LISTAGG(k), MIN(v), ARRAY_AGG(v), '
                 f'FIRST_VALUE(v), COUNT(*) FILTER (WHERE v > 10), JSON_ARRAYAGG(v) FROM {TUMBLE} GROUP BY window_start, window_end, k', 777)
    got = entries(p, 'a.sp', '--operator', 'window-aggregate-1')
    groups = collections.defaultdict(list)
    for i in range(720, 777):
        groups[row(i)['k']].append(row(i))
    need(sorted(e['k'] for e in got) == sorted(groups), f'keys {[e["k"] for e in got]}')
    for e in got:
        rows = groups[e['k']]
        vs = [r['v'] for r in rows]
        want = {'window_start': stamp(720), 'window_end': stamp(780), 'COUNT(*)': len(rows), 'SUM(v)': sum(vs), 'SUM(d)': sum(r['d'] for r in rows) / 100,
                'COUNT(DISTINCT v) elements': len(set(vs)), 'MIN(k)': e['k'], 'MAX(f)': max(r['f'] for r in rows), 'MIN(v)': min(vs),
                'COUNT(DISTINCT v) values': '{' + ', '.join(f'{v}={c}' for v, c in sorted(collections.Counter(vs).items())) + '}',
                'ARRAY_AGG(v)': str(vs), 'FIRST_VALUE(v)': vs[0], 'COUNT(*) FILTER (WHERE v > 10)': sum(v > 10 for v in vs),
                'JSON_ARRAYAGG(v)': str(vs).replace(' ', ''), 'LISTAGG(k)': '[' + ', '.join(r['k'] for r in rows) + ']'}
        for name, value in want.items():
            need(e.get(name) == value, f'{e["k"]!r}: {name} is {e.get(name)!r}, not {value!r}')


def test_keys_and_windows_are_found_alone(p):
    savepoint(p, "SELECT window_start, k, v, COUNT(*) FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY window_start, window_end, k, v", 7000, n=9000)
    everything = entries(p, 'a.sp', '--operator', 'window_aggregate_1')
    for k in KEYS:
        need(entries(p, 'a.sp', '--operator', 'window_aggregate_1', '--key', 'k=' + k) == [e for e in everything if e['k'] == k], f'--key k={k!r}')
    need(entries(p, 'a.sp', '--operator', 'window_aggregate_1', '--key', 'v=3') == [e for e in everything if e['v'] == 3], '--key v=3')
    need(entries(p, 'a.sp', '--key', 'v=3', '--key', 'k=b') == [{'operator': 'window_aggregate_1', **e} for e in everything if e['v'] == 3 and e['k'] == 'b'], 'two keys')
    need(entries(p, 'a.sp', '--window', '2024-01-01T01:00', '--limit', '5') == [{'operator': 'window_aggregate_1', **e} for e in everything][:5], 'a window')
    need(entries(p, 'a.sp', '--window', '2024-01-01 00:00:00') == [], 'a window that has fired')
    need('has no column "w"' in p.run('inspect', 'a.sp', '--operator', 'window_aggregate_1', '--key', 'w=1', exit=2).stderr, 'an unknown key')
    need('is no INT' in p.run('inspect', 'a.sp', '--operator', 'window_aggregate_1', '--key', 'v=x', exit=2).stderr, 'a key of another type')
    need('window_aggregate_1' in p.run('inspect', 'a.sp', '--operator', 'nothing', exit=2).stderr, 'the operators are not named')
    p.run('inspect', 'a.sp', '--window', 'today', exit=2)


def test_ranks_are_rows_with_their_place(p):
    savepoint(p, 'SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, k ORDER BY v DESC, f) AS rk '
                 f'FROM {TUMBLE}) WHERE rk <= 3', 777)
    got = entries(p, 'a.sp', '--operator', 'window-rank-1')
    for k in KEYS:
        best = sorted((r for r in map(row, range(720, 777)) if r['k'] == k), key=lambda r: (-r['v'], r['f']))[:3]
        mine = [e for e in got if e['k'] == k]
        need([(e['rank'], e['v'], e['f']) for e in mine] == [(i + 1, r['v'], r['f']) for i, r in enumerate(best)], f'{k!r}: {mine}')
        need(entries(p, 'a.sp', '--operator', 'window-rank-1', '--key', 'k=' + k) == mine, f'{k!r} alone')


def test_sessions_have_both_bounds(p):
    lines = [f'{stamp(s)[:19]},k{k},{s},1.00,0\n' for s in (0, 3, 9, 30, 31, 60, 64) for k in range(3)]
    p.write('t.csv', ''.join(lines))
    p.write('job.sql', TABLE + "SELECT window_start, window_end, k, COUNT(*) FROM TABLE(SESSION(TABLE t PARTITION BY k, DESCRIPTOR(ts), INTERVAL '5' SECOND)) "
            "GROUP BY window_start, window_end, k;\n")
    p.run('run', 'job.sql', '--stop-with-savepoint', 'a.sp', '--after', 21, '-o', 'tsv', exit=0)
    got = entries(p, 'a.sp', '--operator', 'window-aggregate-1')
    need([(e['k'], e['window_start'], e['window_end'], e['COUNT(*)']) for e in got] == [(f'k{k}', stamp(60), stamp(69), 2) for k in range(3)], got)
    need(entries(p, 'a.sp', '--operator', 'window-aggregate-1', '--window', stamp(60) + ',' + stamp(69), '--key', 'k=k1') == [got[1]], 'a session by its window')


def test_slices_of_hops_are_shown_as_slices(p):
    savepoint(p, f"SELECT window_start, window_end, k, COUNT(*) FROM {window('HOP')}INTERVAL '1' MINUTE, INTERVAL '5' MINUTE)) GROUP BY window_start, window_end, k", 777)
    got = entries(p, 'a.sp', '--operator', 'window-aggregate-1', '--window', '2024-01-01 00:10:00')
    need({e['slice_start'] for e in got} == {stamp(600), stamp(660), stamp(720)}, 'the slices of a window')
    need(sum(e['COUNT(*)'] for e in got) == 177, 'rows of the slices')


def test_damage_is_said_and_the_rest_shown(p):
    savepoint(p, "SELECT window_start, k, f, COUNT(*) FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' DAY)) GROUP BY window_start, window_end, k, f", 80000, n=80000)
    whole = entries(p, 'a.sp', '--operator', 'window_aggregate_1')
    chunks = int(next(l.split('\t')[3] for l in p.run('inspect', 'a.sp', '-o', 'tsv', exit=0).stdout.splitlines() if '\tchunks\t' in l))
    need(chunks >= 2 and len(whole) == 80000, f'{chunks} chunks, {len(whole)} entries')
    bad = bytearray((p.folder / 'a.sp').read_bytes())
    bad[40] ^= 1
    (p.folder / 'bad.sp').write_bytes(bad)
    done = p.run('inspect', 'bad.sp', '--operator', 'window_aggregate_1', '-o', 'json', exit=3)
    rest = [json.loads(line) for line in done.stdout.splitlines()]
    need(0 < len(rest) < len(whole) and rest == whole[-len(rest):], f'{len(rest)} of {len(whole)} entries')
    need(f'not shown: {len(whole) - len(rest)} entries' in done.stderr, done.stderr)


def test_a_chain_of_checkpoints_is_merged(p):
    write_rows(p, 3000)
    p.write('job.sql', TABLE + "SELECT window_start, k, f, COUNT(*), SUM(d) FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '30' MINUTE)) "
            'GROUP BY window_start, window_end, k, f;\n')
    p.run('run', 'job.sql', '--state-dir', 'state', '--retain', 50, '--checkpoint-every', 100, '--stop-with-savepoint', 'a.sp', '--after', 1550, '-o', 'tsv', exit=0)
    before = p.tree('state')
    deltas = sorted((f for f in (p.folder / 'state').rglob('*.delta')), key=lambda f: f.stat().st_mtime_ns)
    need(deltas, 'there is no delta')
    rows = entries(p, deltas[-1], '--entries')
    read = next(int(l.split('\t')[3]) for l in p.run('inspect', deltas[-1], '-o', 'tsv', exit=0).stdout.splitlines() if l.startswith('savepoint\t\trows\t'))
    need(sorted(e['f'] for e in rows) == [row(i)['f'] for i in range(read)] and read > 1000, f'{len(rows)} entries of {read} rows')
    need(entries(p, 'state', '--entries') == entries(p, 'a.sp', '--entries'), 'the state directory')
    need(p.tree('state') == before, 'inspect changed the state directory')


def test_every_byte_of_a_key_comes_back(p):
    keys = ['\0', 'a\0b', '\x01', '"', "'", '\\', '\n', '\r\t', '\u2028', '\U0001F600', '', ' ']
    p.write('t.json', ''.join(json.dumps({'ts': f'2024-01-01 00:00:{i:02d}', 'k': k}) + '\n' for i, k in enumerate(keys)))
    p.write('job.sql', """CREATE TABLE t (ts TIMESTAMP(3), k STRING, WATERMARK FOR ts AS ts) WITH ('connector'='filesystem','path'='t.json','format'='json');
SELECT k, COUNT(*) FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end, k;
""")
    p.run('run', 'job.sql', '--stop-with-savepoint', 'a.sp', '--after', len(keys), '-o', 'tsv', exit=0)
    need(sorted(e['k'] for e in entries(p, 'a.sp', '--entries')) == sorted(keys), 'JSON')
    unescape = lambda s: s.replace('\\\\', '\ue000').replace('\\t', '\t').replace('\\n', '\n').replace('\\r', '\r').replace('\ue000', '\\')
    lines = p.run('inspect', 'a.sp', '--operator', 'window-aggregate-1', '-o', 'tsv', '--no-header', exit=0).stdout.split('\n')
    need(sorted(unescape(l.split('\t')[2]) for l in lines if l) == sorted(keys), 'TSV')


def sql(p, path, query, *args, exit=0):
    return [json.loads(line) for line in p.run('inspect', path, '--sql', query, '-o', 'json', *args, exit=exit).stdout.split('\n') if line]


def test_sql_over_state(p):
    savepoint(p, f'SELECT window_start, k, v, COUNT(*) FROM {TUMBLE} GROUP BY window_start, window_end, k, v', 777)
    everything = entries(p, 'a.sp', '--entries')
    got = sql(p, 'a.sp', 'SELECT k, COUNT(*) AS n, SUM(`COUNT(*)`) AS c FROM window_aggregate_1 GROUP BY k ORDER BY k')
    want = collections.Counter()
    for e in everything:
        want[e['k']] += e['COUNT(*)']
    need({g['k']: g['c'] for g in got} == want and sum(g['n'] for g in got) == len(everything), got)
    got = sql(p, 'a.sp', 'SELECT o.kind, o.state_entries, w.entries, s.file, s.rows_read, c.entries AS ce FROM operators o JOIN windows w ON o.name = w.operator '
              "CROSS JOIN sources s JOIN chunks c ON c.operator = o.name")
    need(got == [{'kind': 'window-aggregate', 'state_entries': len(everything), 'entries': len(everything), 'file': 't.csv', 'rows_read': 777, 'ce': len(everything)}], got)
    got = sql(p, 'a.sp', 'DESCRIBE window_aggregate_1')
    need([(g['name'], g['type']) for g in got][2:] == [('k', 'STRING'), ('v', 'INT'), ('COUNT(*)', 'BIGINT')], got)
    failed = p.run('inspect', 'a.sp', '--sql', 'SELECT 1;\nSELECT kk FROM window_aggregate_1', exit=2).stderr
    need('sql:2:8' in failed, failed)
    before = p.tree('.')
    sql(p, 'a.sp', 'SELECT * FROM window_aggregate_1')
    need(p.tree('.') == before, 'SQL changed a file')


def test_the_connector_reads_a_savepoint_and_goes_on(p):
    savepoint(p, f'SELECT window_start, k, f, COUNT(*) FROM {TUMBLE.replace("1", "30")} GROUP BY window_start, window_end, k, f', 1700)
    want = sorted(e['f'] for e in entries(p, 'a.sp', '--entries'))
    table = "CREATE TABLE s (f DOUBLE) WITH ('connector'='tidemark-savepoint','path'='%s','table'='%s');\n"
    p.write('x.sql', table % ('a.sp', 'window-aggregate-1') + "CREATE TABLE o (f DOUBLE) WITH ('connector'='filesystem','path'='out','format'='csv');\nINSERT INTO o SELECT f FROM s;\n")
    p.run('run', 'x.sql', exit=0)
    need(sorted(map(float, p.output().split())) == want, 'INSERT INTO')
    p.write('y.sql', table % ('a.sp', 'window-aggregate-1') + 'SELECT f FROM s;\n')
    read = lambda *args: [float(l.split('\t')[1]) for l in p.run('run', 'y.sql', '-o', 'tsv', '--no-header', *args, exit=0).stdout.splitlines() if l]
    first = read('--stop-with-savepoint', 'b.sp', '--after', 777, '--batch-rows', 10)
    need(len(first) == 777 and sorted(first + read('--from', 'b.sp')) == want, 'stopped and resumed')
    for path, name, code in ('a.sp', 'nothing', 2), ('b.csv', 'x', 3), ('a.sp', 'windows', 2):
        p.write('z.sql', table % (path, name) + 'SELECT * FROM s;\n')
        p.run('run', 'z.sql', exit=code)
    p.write('z.sql', table.replace('DOUBLE', 'INT') % ('a.sp', 'window_aggregate_1') + 'SELECT * FROM s;\n')
    need('is DOUBLE, not INT' in p.run('run', 'z.sql', exit=2).stderr, 'a wrong type')


def test_a_running_job_can_be_asked(p):
    p.write('job.sql', run.WATCHED.replace('c BIGINT', 'k STRING, c BIGINT').replace('window_start, COUNT(*)', 'window_start, k, COUNT(*)').replace('window_end;', 'window_end, k;'))
    run.arrives(p, 'a', 0, 25)
    job = subprocess.Popen([p.binary, 'run', 'job.sql', '--state-dir', 'state'], cwd=p.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    status = lambda: json.loads(p.run('status', 'state', '-o', 'json', exit=0).stdout)
    query = lambda text: [json.loads(l) for l in p.run('query', 'state', text, '-o', 'json', exit=0).stdout.splitlines()]
    try:
        run.wait_for(lambda: p.run('status', 'state', '-o', 'json').returncode == 0 and status()['job'].get('rows') == 25, 'the job did not read its rows')
        s = status()
        need(s['job']['running'] and s['job']['windows_fired'] == 2 and s['job']['windows_open'] == 1 and s['job']['late_rows'] == 0, s['job'])
        need(s['sources'] == [{'name': 'scan-1', 'rows': 25, 'watermark': '2024-01-01 00:00:23.000', 'reached': '2024-01-01 00:00:23.000', 'waiting': True, 'idle': False, 'ended': False,
                               'holds_back': True}], s['sources'])
        need(s['operators'][0]['next_window_end'] == '2024-01-01 00:00:30.000', s['operators'])
        need('no checkpoint yet' in p.run('status', 'state', '--why', '2024-01-01 00:00:20', exit=2).stderr, 'why without a plan')
        early = lambda: {(e['k'], e['window_start'][17:19], e['COUNT(*)']) for e in query('SELECT * FROM window_aggregate_1')}
        need(early() == {('k0', '20', 3), ('k1', '20', 2)}, early())
        taken = status()['checkpoint']['taken']
        need(early() and early() and status()['checkpoint']['taken'] == taken, 'a query takes a checkpoint though nothing has come')
        run.arrives(p, 'b', 25, 28)
        run.wait_for(lambda: status()['job']['rows'] == 28, 'the job did not go on')
        need(early() == {('k0', '20', 4), ('k1', '20', 4)}, early())
        need(status()['checkpoint']['taken'] >= 2 and job.poll() is None, 'a query takes a checkpoint and the job goes on')
        for none in ('2024-01-01 00:00:21', '2024-01-01 00:00:20,2024-01-01 00:00:25', '2024-01-01 00:00:30,2024-01-01 00:00:20'):
            said = p.run('status', 'state', '--why', none, exit=2).stderr
            need('no operator of the job has such windows' in said and "'2024-01-01 00:00:" in said, said)
        p.run('status', 'state', '--why', '2024-01-01 00:00:20', '-o', 'json', exit=2)
        why = p.run('status', 'state', '--why', '2024-01-01 00:00:20', 'k=k1', exit=0).stdout
        need('reaches 2024-01-01 00:00:29.999; the watermark here is 2024-01-01 00:00:26.000' in why and 'lacks 3.999 s' in why and 'COUNT(*)=4' in why, why)
        run.arrives(p, 'c', 5, 6)                     # late
        run.arrives(p, 'd', 31, 32)
        run.wait_for(lambda: status()['job']['windows_fired'] == 3, 'the window did not fire')
        need(status()['job']['late_rows'] == 1, status()['job'])
        why = p.run('status', 'state', '--why', '2024-01-01 00:00:20', exit=0).stdout
        need('It has fired' in why and 'so far: 1' in why, why)
        need('idle' in p.run('status', 'state', '-o', 'csv', exit=0).stdout, 'csv')
        watch = subprocess.run(['timeout', '2', p.binary, 'status', 'state', '--watch'], cwd=p.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True).stdout
        need(watch.count('running, process') >= 1, watch)
    finally:
        p.run('stop', 'state'); job.wait(60)
    need(job.returncode == 5, f'exit {job.returncode}')
    s = status()
    need(not s['job']['running'] and s['job']['rows'] == 30 and s['windows'][0]['end'] == '2024-01-01 00:00:40.000', s)
    need('stopped' in p.run('status', 'state', exit=0).stdout, 'it does not say that the job is stopped')
    done = p.run('query', 'state', 'SELECT COUNT(*) AS n FROM window_aggregate_1', '-o', 'json', exit=0)
    need(json.loads(done.stdout) == {'n': 1} and 'no job runs' in done.stderr, done)
    p.run('status', 'in', exit=3); p.run('status', 'nothing', exit=1); p.run('query', 'in', 'SELECT 1', exit=3); p.run('status', exit=2); p.run('query', 'state', exit=2)


def test_two_savepoints_are_compared(p):
    select = f'SELECT window_start, k, COUNT(*), SUM(v), COUNT(DISTINCT v) FROM {TUMBLE} GROUP BY window_start, window_end, k'
    savepoint(p, select, 767, name='a.sp')
    p.run('run', 'job.sql', '--stop-with-savepoint', 'b.sp', '--after', 773, '--parallelism', 3, '-o', 'tsv', exit=0)
    p.run('run', 'job.sql', '--stop-with-savepoint', 'c.sp', '--after', 787, '-o', 'tsv', exit=0)
    old, new = ({e['k']: e for e in entries(p, f, '--operator', 'window-aggregate-1')} for f in ('a.sp', 'b.sp'))
    rows = entries(p, 'a.sp', '--diff', 'b.sp')
    changed = {k for k in old if old[k] != new[k]}
    need([r for r in rows if 'added' in r and 'window' not in r] == [{'operator': 'window_aggregate_1', 'old_entries': 10, 'new_entries': 10, 'added': 0, 'removed': 0,
                                                                       'changed': len(changed)}], rows)
    strip = lambda r: {k: v for k, v in r.items() if k not in ('change', 'operator')}
    need(0 < len(changed) < 10 and {r['k']: strip(r) for r in rows if r.get('change') == 'old'} == {k: old[k] for k in changed}, 'old values')
    need({r['k']: strip(r) for r in rows if r.get('change') == 'new'} == {k: new[k] for k in changed}, 'new values')
    need({'what': 'savepoint', 'name': 'rows', 'old': '767', 'new': '773'} in rows, 'facts')
    rows = entries(p, 'a.sp', '--diff', 'c.sp', '--limit', '3')
    need([(r['window'], r['window_start']) for r in rows if 'window' in r] == [('removed', stamp(720)), ('added', stamp(780))], rows)
    need([r['change'] for r in rows if 'change' in r] == ['removed'] * 3, rows)
    p.run('run', 'job.sql', '--stop-with-savepoint', 'd.sp', '--after', 767, '--parallelism', 2, '--batch-rows', 7, '-o', 'tsv', exit=0)
    need(not any(r.get('changed') or r.get('added') for r in entries(p, 'a.sp', '--diff', 'd.sp')), 'the same state twice')
    p.write('other.sql', TABLE + select.replace('SUM(v), ', '').replace(' AS', '') + ';\n')
    p.run('run', 'other.sql', '--stop-with-savepoint', 'e.sp', '--after', 767, '-o', 'tsv', exit=0)
    rows = entries(p, 'a.sp', '--diff', 'e.sp')
    need(any(r.get('what') == 'clauses' for r in rows) and not any(r.get('changed') or r.get('added') for r in rows), 'a compatible plan')
    p.write('other.sql', TABLE + select.replace(' k,', ' v,').replace(', k', ', v') + ';\n')
    p.run('run', 'other.sql', '--stop-with-savepoint', 'f.sp', '--after', 767, '-o', 'tsv', exit=0)
    need('are not compared' in p.run('inspect', 'a.sp', '--diff', 'f.sp', exit=0).stderr, 'other keys')
    p.run('inspect', 'a.sp', '--diff', 'none.sp', exit=3)


def test_what_does_not_go_together_is_refused(p):
    savepoint(p, f'SELECT window_start, k, COUNT(*) FROM {TUMBLE} GROUP BY window_start, window_end, k', 100)
    p.run('inspect', 'a.sp', '--window', '2024-01-01 00:01:00,2024-01-01 00:00:00', exit=2)
    for both in (['--sql', 'SELECT 1', '--html', 'x.html'], ['--sql', 'SELECT 1', '--diff', 'a.sp'], ['--html', 'x.html', '--diff', 'a.sp'],
                 ['--html', 'x.html', '--limit', '3']):
        p.run('inspect', 'a.sp', *both, exit=2)
    need(not (p.folder / 'x.html').exists(), 'a report of a refused command')
    said = p.run('inspect', 'a.sp', '--sql', 'INSERT INTO operators SELECT * FROM operators', exit=2).stderr
    need('can only be read from' in said, said)
    p.run('inspect', '-', '--diff', '-', exit=2)
    with open(p.folder / 'a.sp') as saved:
        diff = subprocess.run([p.binary, 'inspect', 'a.sp', '--diff', '-'], cwd=p.folder, stdin=saved, capture_output=True, text=True)
    need(diff.returncode == 0, diff.stderr)


def test_a_key_filter_spares_chunks(p):
    keys = [hashlib.md5(str(i).encode()).hexdigest() for i in range(80000)]
    p.write('t.csv', ''.join(f'{stamp(i)[:19]},{k},{i},1.00,0\n' for i, k in enumerate(keys)))
    p.write('job.sql', TABLE.replace("'1' SECOND", "'2' DAY") + f'SELECT window_start, k, COUNT(*), SUM(v) FROM {TUMBLE.replace("1", "10")} GROUP BY window_start, window_end, k;\n')
    p.run('run', 'job.sql', '--stop-with-savepoint', 'a.sp', '--after', 80000, '-o', 'tsv', exit=0)
    p.run('savepoint', 'verify', 'a.sp', exit=0)
    chunks = sql(p, 'a.sp', 'SELECT chunk, file_offset, frame_bytes, first_key FROM chunks ORDER BY chunk')
    need(len(chunks) >= 4, f'{len(chunks)} chunks')
    for i in (0, 5, 39999, 79999):
        need([(e['SUM(v)'], e['window_start']) for e in entries(p, 'a.sp', '--key', 'k=' + keys[i])] == [(i, stamp(i // 600 * 600))], f'key {i}')
    need(entries(p, 'a.sp', '--key', 'k=none') == [], 'a key that is not there')
    data = (p.folder / 'a.sp').read_bytes()

    def spoiled(at):
        bad = bytearray(data); bad[at] ^= 1
        (p.folder / 'bad.sp').write_bytes(bad)
    spoiled(chunks[0]['file_offset'] + 40)            # only what may hold the key is read
    need(len(entries(p, 'bad.sp', '--key', 'k=' + keys[79999])) == 1, 'another chunk was read')
    behind = chunks[-1]['file_offset'] + chunks[-1]['frame_bytes']
    spoiled(behind + 100)                             # the filter: found by verify, and not needed
    need('key filter' in p.run('savepoint', 'verify', 'bad.sp', exit=3).stderr, 'verify')
    need(len(entries(p, 'bad.sp', '--key', 'k=' + keys[79999])) == 1, 'a broken filter loses a key')
    p.run('savepoint', 'salvage', 'bad.sp', '-o', 'new.sp', exit=0)
    p.run('savepoint', 'verify', 'new.sp', exit=0)
    need((p.folder / 'new.sp').stat().st_size == len(data), 'salvage makes the filter anew')
    p.run('run', 'job.sql', '--from', 'a.sp', '-o', 'tsv', exit=0)


class Tags(html.parser.HTMLParser):
    """Checks that tags are closed in order; keeps what is shown and where links go."""
    def __init__(self, text):
        super().__init__()
        self.open, self.count, self.text, self.links = [], collections.Counter(), '', []
        self.feed(text); self.close()
        need(not self.open, f'not closed: {self.open}')

    def handle_starttag(self, tag, attrs):
        self.count[tag] += 1
        self.links += [v for k, v in attrs if k in ('src', 'href')]
        if tag != 'meta':
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.count[tag] += 1

    def handle_endtag(self, tag):
        if tag != 'meta':
            need(self.open and self.open.pop() == tag, f'</{tag}> closes nothing')

    def handle_data(self, data):
        self.text += data


def test_the_report_is_one_whole_page(p):
    savepoint(p, f"SELECT window_start, k, COUNT(*) FROM {window('HOP')}INTERVAL '1' MINUTE, INTERVAL '5' MINUTE)) WHERE k <> '<script>' GROUP BY window_start, window_end, k", 777)
    p.run('inspect', 'a.sp', '--html', 'a.html', exit=0)
    text = (p.folder / 'a.html').read_text()
    page = Tags(text)
    slices = len(sql(p, 'a.sp', 'SELECT * FROM windows'))
    need(page.count['svg'] == 2 and page.count['rect'] >= 3 + slices, f'{page.count} with {slices} slices')
    need(not page.links and 'url(http' not in text and '@import' not in text, f'it needs {page.links}')
    for word in ('window-aggregate-1', 't.csv', "k='line", "k <> '<script>'", 'prefers-color-scheme:dark', '777', '2024-01-01 00:12:00.000'):
        need(word in page.text or word in text, f'{word} is not in it')
    need(p.run('inspect', 'a.sp', '--html', '-', exit=0).stdout == text, 'standard output')
    p.run('inspect', 'a.sp', '--html', 'a.html', exit=0)      # an older report may be replaced
    p.write('kept.sql', 'SELECT 1;\n')
    for kept in ('a.sp', 'kept.sql'):                         # and nothing else
        before = (p.folder / kept).read_bytes()
        p.run('inspect', 'a.sp', '--html', kept, exit=2)
        need((p.folder / kept).read_bytes() == before, f'{kept} was overwritten')
    p.run('inspect', 'a.sp', '--html', 'no/a.html', exit=1)
    bad = bytearray((p.folder / 'a.sp').read_bytes()); bad[40] ^= 1
    (p.folder / 'bad.sp').write_bytes(bad)
    p.run('inspect', 'bad.sp', '--html', 'bad.html', exit=3)
    need('Not all of it can be read' in Tags((p.folder / 'bad.html').read_text()).text, 'damage is not said')


if __name__ == '__main__':
    sys.exit(run.main(globals()))
