#!/usr/bin/env python3
"""The command line, tested from outside: exit codes, messages, and that bad input loses nothing (docs/cli.md).

usage: run.py [--bin PATH] [-v] [NAME]...      each test is a function named test_*; the name may be a part of it
Each test gets an empty folder. Last line: `N passed, M failed`.
"""
import argparse, json, os, pathlib, re, shutil, signal, subprocess, sys, tempfile, time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TABLE = """CREATE TABLE t (ts TIMESTAMP(3), k STRING, v INT, WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
WITH ('connector'='filesystem','path'='t.csv','format'='csv'%s);
"""
SINK = "CREATE TABLE s (ws TIMESTAMP(3), k STRING, c BIGINT, rk BIGINT) WITH ('connector'='filesystem','path'='out','format'='csv');\n"
QUERY = """SELECT window_start, k, c, rk FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY c DESC, k) AS rk FROM (
    SELECT window_start, window_end, k, COUNT(*) AS c FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
    GROUP BY window_start, window_end, k)) WHERE rk <= 2"""
SELECT = TABLE % '' + QUERY + ';\n'
INSERT = TABLE % '' + SINK + 'INSERT INTO s ' + QUERY + ';\n'


class Broken(Exception):
    pass


def need(ok, why):
    if not ok:
        raise Broken(why)


class Place:
    """An empty folder with the program at hand."""
    def __init__(self, binary, folder):
        self.binary, self.folder = binary, pathlib.Path(folder)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def rows(self, n, name='t.csv'):
        step = 1000 if n <= 80000 else 100           # all within a day
        lines = []
        for i in range(n):
            s, ms = divmod(i * step, 1000)
            lines.append(f'2024-01-01 {s // 3600:02d}:{s // 60 % 60:02d}:{s % 60:02d}.{ms:03d},k{i * 7919 % 13},{i}\n')
        self.write(name, ''.join(lines))

    def run(self, *args, exit=None, env=None, timeout=120):
        p = subprocess.run([self.binary, *map(str, args)], cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                           timeout=timeout, env={**os.environ, **(env or {})}, errors='replace')
        if exit is not None:
            need(p.returncode == exit, f'{" ".join(map(str, args))}: exit {p.returncode}, expected {exit}: {" ".join((p.stderr or p.stdout).split())[:400]}')
        if exit:
            need(p.stderr.strip(), f'{" ".join(map(str, args))}: exit {exit} without a message')
        return p

    def output(self, name='out'):
        return ''.join(f.read_text() for f in sorted((self.folder / name).glob('*')) if not f.name.startswith(('.', '_')))

    def tree(self, name):
        return {str(f.relative_to(self.folder)): (f.stat().st_mtime_ns, f.stat().st_size) for f in sorted((self.folder / name).rglob('*')) if f.is_file()}


def test_help_and_version_are_on_standard_output(p):
    for args in (['--help'], ['--version'], ['run', '--help'], ['stop', '--help'], ['inspect', '--help'], ['savepoint', '--help'],
                 ['explain', '--help']):
        need(p.run(*args, exit=0).stdout.strip(), f'{args} printed nothing')


def test_reset_undoes_what_set_did(p):
    p.rows(10)
    p.write('q.sql', TABLE % '' + "SET 'table.exec.state.ttl' = '1 h';\nRESET 'table.exec.state.ttl';\nSELECT k, COUNT(*) FROM t GROUP BY k;\n")
    p.run('run', 'q.sql', exit=0)
    p.write('q.sql', TABLE % '' + "SET 'table.exec.state.ttl' = '1 h';\nSELECT k, COUNT(*) FROM t GROUP BY k;\n")
    p.run('run', 'q.sql', exit=2)


def test_check_says_what_run_does(p):
    """Of a savepoint, under both policies; AVG beside SUM and COUNT is kept as those two. What goes on has no header."""
    p.rows(5000)
    query = "SELECT window_start, k, %s FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY window_start, window_end, k;\n"
    lists = {'all': 'AVG(v), SUM(v), COUNT(v)', 'average': 'AVG(v)', 'sum': 'SUM(v)', 'two': 'SUM(v), COUNT(v)', 'other': 'AVG(v), SUM(v)',
             'more': 'AVG(v), SUM(v), COUNT(v), MAX(v)', 'rows': 'AVG(v), SUM(v), COUNT(*)'}
    whole = {}
    for name, calls in lists.items():
        p.write(f'{name}.sql', TABLE % '' + query % calls)
        whole[name] = p.run('run', f'{name}.sql', '-o', 'tsv', exit=0).stdout.split('\n', 1)[1]
        p.run('run', f'{name}.sql', '--stop-with-savepoint', f'{name}.sp', '--after', 1000, exit=0)
    for old in lists:
        for new in lists:
            for policy in 'strict', 'exact':
                said = p.run('check', f'{old}.sp', f'{new}.sql', '--policy', policy).returncode
                ran = p.run('run', f'{new}.sql', '--from', f'{old}.sp', '--policy', policy, '-o', 'tsv')
                what = f'{old} to {new}, {policy}: check {said}, run {ran.returncode}'
                need((said, ran.returncode) in ((0, 0), (10, 4), (20, 4), (30, 4)), what + ran.stderr)
                need(ran.returncode or ran.stdout == whole[new], what + ': other rows')


def test_watching_ends_when_nobody_reads(p):
    p.rows(100)
    p.write('q.sql', INSERT)
    p.run('run', 'q.sql', '--state-dir', 'st', exit=0)
    watch = subprocess.Popen([p.binary, 'status', 'st', '--watch'], cwd=p.folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    watch.stdout.readline()
    watch.stdout.close()
    try:
        need(watch.wait(timeout=20) == 1, 'another exit code')
    finally:
        watch.kill()


def test_help_starts_at_once(p):
    if 'asan' in p.binary or 'tsan' in p.binary:
        return
    more = min(processor_time([p.binary, '--help']) for _ in range(20)) - min(processor_time(['/bin/true']) for _ in range(20))
    need(more < 0.005, f'--help takes {more * 1000:.1f} ms of CPU more than /bin/true')


def processor_time(command):
    """Of one process, in seconds: a busy machine must not matter."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    usage = os.wait4(process.pid, 0)[2]
    process.returncode = 0
    return usage.ru_utime + usage.ru_stime


def test_wrong_options_are_named(p):
    p.write('job.sql', SELECT); p.rows(10)
    for args in (['nonsense'], ['run'], ['run', 'job.sql', '--nonsense'], ['run', 'job.sql', '--parallelism', '0'], ['run', 'job.sql', '--parallelism', 'x'],
                 ['run', 'job.sql', '--memory', 'lots'], ['run', 'job.sql', '--output', 'xml'], ['run', 'job.sql', '--checkpoint-interval', 'soon']):
        err = p.run(*args, exit=2).stderr
        need(args[-1] in err or args == ['run'], f'{args}: the message does not name it: {err!r}')


def test_what_was_meant_is_named(p):
    for args, near in ((['rnu'], 'run'), (['run', '--state-dri', 'x'], '--state-dir'), (['inspect', '--outptu=tsv', 'x'], '--output'),
                       (['explain', '--fromat', 'dot', 'x'], '--format'), (['savepoint', 'tak', 'x'], 'take')):
        err = p.run(*args, exit=2).stderr
        need(f'did you mean {near}?' in err, f'{args}: {err!r}')
    need(p.run('help', 'run', exit=0).stdout == p.run('run', '--help', exit=0).stdout, 'help run is not run --help')


def test_what_is_no_savepoint_is_refused(p):
    p.write('empty.sql', ''); p.write('t.csv', ''); (p.folder / 'folder').mkdir()
    for args, code in ((['explain', 'empty.sql'], 2), (['explain', 'folder'], 2), (['savepoint', 'list', 't.csv'], 3), (['savepoint', 'list', 'folder'], 3),
                       (['savepoint', 'list', 'none'], 3), (['savepoint', 'verify', 't.csv'], 3), (['inspect', 'folder'], 3)):
        out = p.run(*args, exit=code)
        need(out.stderr.count(args[-1]) == 1 and not out.stdout, f'{args}: {out.stdout!r} {out.stderr!r}')


def test_savepoints_go_through_pipes(p):
    p.rows(200)
    p.write('job.sql', SELECT)
    whole = p.run('run', 'job.sql', '-o', 'tsv', exit=0).stdout
    first = p.run('run', 'job.sql', '-o', 'tsv', '--stop-with-savepoint', 'a.sp', '--after', 90, exit=0).stdout
    p.run('run', 'job.sql', '-q', '--from', 'a.sp', '--state-dir', 'state', exit=0)
    through = lambda data, *args: subprocess.run([p.binary, *args], cwd=p.folder, input=data, capture_output=True)
    data = (p.folder / 'a.sp').read_bytes()
    need(b'job' in through(data, 'inspect', '-').stdout, 'inspect - shows nothing')
    rest = through(data, 'run', 'job.sql', '-q', '-o', 'tsv', '--from', '-')
    need(first + rest.stdout.decode() == whole, f'--from - gives other rows: {rest.stderr!r}')
    taken = subprocess.run([p.binary, 'savepoint', 'take', 'state', '-o', '-'], cwd=p.folder, capture_output=True)
    need(taken.returncode == 0 and taken.stdout.startswith(b'TIDESAVE'), f'take -o -: {taken.stderr!r}')
    need(not (p.folder / '-').exists(), 'a file named -')


def test_a_missing_script_is_one_message(p):
    err = p.run('run', 'none.sql', exit=2).stderr if p.run('run', 'none.sql').returncode == 2 else p.run('run', 'none.sql', exit=1).stderr
    need('none.sql' in err, err)


def test_a_script_error_names_file_line_and_column(p):
    p.rows(10)
    p.write('job.sql', TABLE % '' + 'SELECT k,\n       vv FROM t;\n')
    err = p.run('run', 'job.sql', exit=2).stderr
    need(re.search(r'job\.sql:4:8', err), f'no job.sql:4:8 in {err!r}')
    need("vv" in err and '^' in err, f'no excerpt with a caret in {err!r}')
    p.write('job.sql', TABLE % '' + 'SELECT k FORM t;\n')
    need(re.search(r'job\.sql:3:\d+', p.run('run', 'job.sql', exit=2).stderr), 'no place in a syntax error')


def test_what_earlier_statements_finished_stays(p):
    p.rows(10)
    p.write('job.sql', TABLE % '' + "SELECT k FROM t WHERE v = 1;\nSELECT nothing FROM t;\n")
    out = p.run('run', 'job.sql', '--output', 'tsv', exit=2).stdout
    need(out.startswith('op\tk\n+I\tk'), f'{out!r}')


def test_a_bad_row_stops_the_job_with_its_place(p):
    p.rows(3)
    with open(p.folder / 't.csv', 'a') as f:
        f.write('2024-01-01 00:00:03.000,a,seven\n')
    p.write('job.sql', TABLE % '' + 'SELECT k, v FROM t;\n')
    err = p.run('run', 'job.sql', exit=1).stderr
    need(re.search(r't\.csv:4', err) and 'seven' in err or re.search(r't\.csv:4:\d+', err), f'no file and line in {err!r}')
    p.write('job.sql', TABLE % ",'csv.ignore-parse-errors'='true'" + 'SELECT k, v FROM t;\n')
    need(p.run('run', 'job.sql', '--output', 'tsv', '--no-header', exit=0).stdout.count('+I') >= 3, 'rows are missing')


def test_a_header_line_is_taken_for_one(p):
    p.write('job.sql', TABLE % '' + 'SELECT k, v FROM t;\n')
    for text, word in (('ts,k,v\n', 'header line'), ('2024-01-01T00:00:00,a,1\n', 'blank between'), ('2024-01-01 00:00:00;a;1,2,3\n', 'field-delimiter')):
        p.write('t.csv', text)
        need(word in p.run('run', 'job.sql', exit=1).stderr, f'{text!r}: no hint of {word}')


def test_a_failed_job_leaves_no_output_that_looks_whole(p):
    p.rows(500)
    with open(p.folder / 't.csv', 'a') as f:
        f.write('2024-01-01 01:00:00.000,a\n')
    p.write('job.sql', INSERT.replace('COUNT(*)', 'COUNT(v)'))
    p.run('run', 'job.sql', exit=1)
    need(p.output() == '', f'visible output of a failed job: {p.output()[:80]!r}')


def test_a_missing_input_is_named(p):
    p.write('job.sql', SELECT)
    q = p.run('run', 'job.sql')
    need(q.returncode in (1, 2) and 't.csv' in q.stderr, f'exit {q.returncode}: {q.stderr!r}')


def test_outputs_have_their_formats(p):
    p.rows(3)
    p.write('job.sql', TABLE % '' + 'SELECT k, v FROM t;\n')
    need(p.run('run', 'job.sql', exit=0).stdout.startswith('+----+') or '| +I |' in p.run('run', 'job.sql').stdout, 'table')
    need(p.run('run', 'job.sql', '-o', 'tsv', '--types', exit=0).stdout == 'op\tk\tv\ntype\tSTRING\tINT\n+I\tk0\t0\n+I\tk2\t1\n+I\tk4\t2\n\n', 'tsv')
    need(len(p.run('run', 'job.sql', '-o', 'csv', exit=0).stdout.strip().splitlines()) == 4, 'csv')
    lines = [json.loads(l) for l in p.run('run', 'job.sql', '-o', 'json', exit=0).stdout.splitlines() if l]
    need(len(lines) == 3 and any(2 in (l.values() if isinstance(l, dict) else l) for l in lines), f'json: {lines}')


def test_a_script_may_come_from_standard_input(p):
    p.rows(3)
    q = subprocess.run([p.binary, 'run', '-', '-o', 'tsv', '--no-header'], input=TABLE % '' + 'SELECT v FROM t;\n', cwd=p.folder, capture_output=True, text=True)
    need(q.returncode == 0 and q.stdout.count('+I') == 3, f'exit {q.returncode}: {q.stderr!r}')


def test_a_finished_job_says_so_and_touches_nothing(p):
    p.rows(1000); p.write('job.sql', INSERT)
    p.run('run', 'job.sql', '--state-dir', 'state', exit=0)
    before, files = p.output(), p.tree('out')
    err = p.run('run', 'job.sql', '--state-dir', 'state', exit=0).stderr
    need('finished' in err or 'done' in err, f'it does not say that the job is finished: {err!r}')
    need(p.tree('out') == files and before, 'the output was touched')
    p.run('run', 'job.sql', '--state-dir', 'state', '--restart', exit=0)
    need(p.output() == before * 2 or p.output() == before, 'the restarted job gave other rows')


def test_stop_with_savepoint_and_go_on(p):
    p.rows(1000); p.write('job.sql', INSERT)
    p.run('run', 'job.sql', exit=0); whole = p.output()
    shutil.rmtree(p.folder / 'out')
    p.run('run', 'job.sql', '--stop-with-savepoint', 'a.sp', '--after', '517', exit=0)
    half = p.output()
    need(half and whole.startswith(half) and half != whole, 'not the first part of the output')
    p.run('savepoint', 'verify', 'a.sp', exit=0)
    behind = p.run('run', 'job.sql', '--from', 'a.sp', '--stop-with-savepoint', 'b.sp', '--after', '516', exit=2).stderr
    need('goes on from row 517' in behind and p.output() == half, behind)
    said = p.run('run', 'job.sql', '--from', 'a.sp', exit=0).stderr
    need('are there twice where another run has written them into the same folder' in said, said)
    need(p.output() == whole, 'the two parts are not the whole')


def test_a_savepoint_of_the_end_says_so(p):
    p.rows(100); p.write('job.sql', INSERT)
    err = p.run('run', 'job.sql', '--stop-with-savepoint', 'a.sp', '--after', '5000', exit=0).stderr
    need('end' in err, f'{err!r}')
    need((p.folder / 'a.sp').exists(), 'no savepoint')


def test_a_savepoint_overwrites_nothing_else(p):
    p.rows(100); p.write('job.sql', INSERT)
    for path in 't.csv', 'job.sql', '/dev/null', 'missing/a.sp':
        before = (p.folder / path).read_bytes() if path[-3:] in ('csv', 'sql') else b''
        p.run('run', 'job.sql', '--stop-with-savepoint', path, '--after', '50', exit=2)
        need(path[-3:] not in ('csv', 'sql') or (p.folder / path).read_bytes() == before, f'{path} was changed')
    p.run('run', 'job.sql', '--stop-with-savepoint', 'a.sp', '--after', '50', exit=0)
    p.run('run', 'job.sql', '--stop-with-savepoint', 'a.sp', '--after', '60', exit=0)


def test_a_second_signal_stops_at_once(p):
    p.rows(1)
    p.write('job.sql', TABLE % '' + "SELECT COUNT(*) FROM HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '0.001' SECOND, INTERVAL '9999' DAY(4)) "
            "GROUP BY window_start, window_end;\n")
    q = subprocess.Popen([p.binary, 'run', 'job.sql'], cwd=p.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    time.sleep(0.5)
    q.send_signal(signal.SIGTERM); time.sleep(0.1); q.send_signal(signal.SIGTERM)
    try:
        need(q.wait(timeout=20) == 6, f'exit {q.returncode}')
    finally:
        q.kill()


def test_a_full_disk_ends_the_job_with_a_message(p):
    """No hang: the barrier that can't be taken is not waited for."""
    small = p.folder / 'small'
    small.mkdir()
    if os.geteuid() != 0 or subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=100k', 'tmpfs', small], capture_output=True).returncode != 0:
        return
    try:
        p.rows(20000); p.write('job.sql', INSERT)
        p.run('run', 'job.sql', '--checkpoint-every', '500', exit=0)
        want = p.output()
        shutil.rmtree(p.folder / 'out')
        for _ in range(3):
            r = p.run('run', 'job.sql', '--state-dir', 'small/state', '--checkpoint-every', '500', timeout=60)
            need(r.returncode in (0, 1, 6) and r.stderr.strip(), f'exit {r.returncode}: {r.stderr}')
        subprocess.run(['mount', '-o', 'remount,size=20m', small], check=True)
        p.run('run', 'job.sql', '--state-dir', 'small/state', '--checkpoint-every', '500', exit=0)
        need(p.output() == want, 'the resumed output differs')
    finally:
        subprocess.run(['umount', '-l', small], check=True)


def test_late_rows_are_kept_where_the_script_says(p):
    """Each once, also over a stop in the middle."""
    p.rows(1000)
    late = [f'2024-01-01 00:0{i}:30.000,late,{i}\n' for i in range(4)]
    with open(p.folder / 't.csv', 'a') as f:
        f.writelines(late)
    p.write('job.sql', "SET 'tidemark.late-data.path' = 'late';\n" + INSERT)
    r = p.run('run', 'job.sql', exit=0)
    need('4 late rows dropped' in r.stderr, r.stderr)
    want = p.output('late')
    need(want.count('\n') == 4 and 'window-aggregate-1' in want and '2024-01-01 00:03:00' in want and 'late' in want, want)
    shutil.rmtree(p.folder / 'late'); shutil.rmtree(p.folder / 'out')
    p.run('run', 'job.sql', '--stop-with-savepoint', 'a.sp', '--after', '1002', exit=0)
    need(p.output('late').count('\n') == 2, p.output('late'))
    p.run('run', 'job.sql', '--from', 'a.sp', '--checkpoint-every', '1', exit=0)
    need(p.output('late') == want, p.output('late'))


def test_a_changed_operator_may_start_empty(p):
    p.rows(1000); p.write('job.sql', INSERT); p.write('new.sql', INSERT.replace('rk <= 2', 'rk <= 3'))
    p.run('run', 'job.sql', '--stop-with-savepoint', 'a.sp', '--after', '517', exit=0)
    p.run('run', 'new.sql', '--from', 'a.sp', exit=4)
    r = p.run('run', 'new.sql', '--from', 'a.sp', '--on-incompatible', 'reset', exit=0)
    need('topn.limit' in r.stderr and 'starts empty' in r.stderr, r.stderr)
    need('goes on from' in r.stderr, r.stderr)


def test_explain_in_a_script_is_shown_whole(p):
    p.rows(3)
    p.write('job.sql', TABLE % '' + 'EXPLAIN SELECT k, v FROM t;\n')
    out = p.run('run', 'job.sql', exit=0).stdout
    need('table t, reads ts, k, v' in out and '...' not in out, out)


def test_a_reader_that_stops_early_is_no_error(p):
    p.rows(50000); p.write('job.sql', TABLE % '' + 'SELECT * FROM t;\n')
    q = subprocess.run(f'{p.binary} run job.sql -o tsv -q | head -n 1', shell=True, cwd=p.folder, capture_output=True, text=True)
    need(q.stdout.startswith('op\t') and q.stderr == '', f'{q.stdout!r} {q.stderr!r}')


def test_a_changed_query_is_refused(p):
    p.rows(1000); p.write('job.sql', INSERT); p.write('new.sql', INSERT.replace('rk <= 2', 'rk <= 3'))
    p.run('run', 'job.sql', '--stop-with-savepoint', 'a.sp', '--after', '517', exit=0)
    files = p.tree('out')
    err = p.run('run', 'new.sql', '--from', 'a.sp', exit=4).stderr
    need('2' in err and '3' in err, f'the reason is missing: {err!r}')
    need(p.tree('out') == files, 'the refused job wrote')


def test_damaged_savepoints_are_refused(p):
    p.rows(1000); p.write('job.sql', INSERT)
    p.run('run', 'job.sql', '--stop-with-savepoint', 'a.sp', '--after', '517', exit=0)
    whole = (p.folder / 'a.sp').read_bytes()
    files = p.tree('out')
    for name, data in {'cut': whole[:-7], 'short': whole[:20], 'empty': b'', 'text': b'hello, this is no savepoint\n' * 10,
                       **{f'flip-{at}': whole[:at] + bytes([whole[at] ^ 0x40]) + whole[at + 1:] for at in
                          (0, 9, len(whole) // 3, len(whole) // 2, len(whole) - 20, len(whole) - 1)}}.items():
        (p.folder / 'bad.sp').write_bytes(data)
        for args in (['savepoint', 'verify', 'bad.sp'], ['run', 'job.sql', '--from', 'bad.sp']):
            q = p.run(*args)
            need(q.returncode == 3 and 'bad.sp' in q.stderr + q.stdout, f'{name}: {args[0]}: exit {q.returncode}: {q.stderr!r}')
        need(p.tree('out') == files, f'{name}: the output was touched')
    p.run('run', 'job.sql', '--from', 'none.sp', exit=3)


def test_state_directories_of_other_jobs_are_not_harmed(p):
    p.rows(1000); p.write('job.sql', INSERT); p.write('other.sql', INSERT.replace('COUNT(*)', 'SUM(v)').replace('c BIGINT', 'c INT'))
    p.run('run', 'job.sql', '--state-dir', 'one', '--stop-with-savepoint', 'a.sp', '--after', '300', '--checkpoint-every', '100', exit=0)
    p.run('run', 'job.sql', '--state-dir', 'two', '--stop-with-savepoint', 'b.sp', '--after', '500', '--checkpoint-every', '100', exit=0)
    before = p.tree('two')
    q = p.run('run', 'other.sql', '--state-dir', 'two', '--from', 'a.sp')
    need(q.returncode in (2, 4) and q.stderr.strip(), f'exit {q.returncode}: {q.stderr!r}')
    need({k: v for k, v in p.tree('two').items() if k.endswith('.savepoint')} == {k: v for k, v in before.items() if k.endswith('.savepoint')}, 'checkpoints were touched')


def test_a_signal_stops_with_a_checkpoint(p):
    p.rows(400000); p.write('job.sql', INSERT)
    p.run('run', 'job.sql', exit=0); whole = p.output(); shutil.rmtree(p.folder / 'out')
    for attempt in range(8):
        q = subprocess.Popen([p.binary, 'run', 'job.sql', '--state-dir', f'state-{attempt}', '--batch-rows', '16', '--checkpoint-every', '20000'], cwd=p.folder,
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        while q.poll() is None and not list((p.folder / f'state-{attempt}').rglob('chk-*.savepoint')):
            time.sleep(0.001)
        q.send_signal(signal.SIGTERM); err = q.communicate()[1]
        if q.returncode == 5:
            break
        need(q.returncode == 0, f'exit {q.returncode}: {err!r}')
        shutil.rmtree(p.folder / 'out')
    need(q.returncode == 5, 'it always ended before the signal')
    need(whole.startswith(p.output()), 'not the first part of the output')
    p.run('run', 'job.sql', '--state-dir', f'state-{attempt}', exit=0)
    need(p.output() == whole, 'the resumed job gave other rows')


def test_a_changed_input_stops_a_resumed_job(p):
    p.rows(1000); p.write('job.sql', INSERT)
    p.run('run', 'job.sql', '--stop-with-savepoint', 'a.sp', '--after', '517', exit=0)
    text = (p.folder / 't.csv').read_text()
    for name, changed in {'shorter': text[:3000], 'edited': text.replace('00:00:01.000,', '00:00:02.000,', 1)}.items():
        p.write('t.csv', changed)
        q = p.run('run', 'job.sql', '--from', 'a.sp')
        need(q.returncode in (1, 2, 4) and 't.csv' in q.stderr, f'{name}: exit {q.returncode}: {q.stderr!r}')
    p.write('t.csv', text + '2024-01-01 09:00:00.000,k1,5\n')
    p.run('run', 'job.sql', '--from', 'a.sp', exit=0)
    need('09:00' in p.output(), 'the rows that the file has grown by are missing')


def test_a_state_directory_is_used_by_one_process(p):
    p.rows(400000); p.write('job.sql', INSERT)
    q = subprocess.Popen([p.binary, 'run', 'job.sql', '--state-dir', 'state', '--batch-rows', '4'], cwd=p.folder, stdin=subprocess.DEVNULL,
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while q.poll() is None and not list((p.folder / 'state').rglob('*')):
        time.sleep(0.001)
    time.sleep(0.05)
    second = p.run('run', 'job.sql', '--state-dir', 'state')
    alive = q.poll() is None
    q.kill(); q.wait()
    if alive:
        need(second.returncode in (1, 2) and 'state' in second.stderr, f'exit {second.returncode}: {second.stderr!r}')


def test_state_can_be_read_with_stock_ldb(p):
    if not shutil.which('ldb'):
        return
    p.rows(2000); p.write('job.sql', INSERT)
    killed = p.run('run', 'job.sql', '--state-dir', 'state', '--checkpoint-every', '100', env={'TIDE_KILL_POINT': 'savepoint.after-rename:7'})
    need(killed.returncode == -signal.SIGKILL, f'exit {killed.returncode}: {killed.stderr}')
    databases = [c.parent for c in (p.folder / 'state').rglob('CURRENT')]
    need(databases, 'no RocksDB folder in the state directory of a killed job')
    entries = 0
    for db in databases:
        listed = subprocess.run(['ldb', f'--db={db}', 'list_column_families'], capture_output=True, text=True)
        for family in re.findall(r'[{,] ?([^{},]+)', listed.stdout.split(':', 1)[-1]):
            scan = subprocess.run(['ldb', f'--db={db}', f'--column_family={family.strip()}', 'dump', '--count_only'], capture_output=True, text=True)
            entries += int((re.search(r'Keys in range: (\d+)', scan.stdout) or [0, 0])[1])
    need(entries >= 10, f'stock ldb sees only {entries} entries')


def test_explain_shows_the_plan(p):
    p.rows(3); p.write('job.sql', SELECT)
    need('rank' in p.run('explain', 'job.sql', exit=0).stdout.lower(), 'no rank in the plan')
    json.loads(p.run('explain', 'job.sql', '--format', 'json', exit=0).stdout)
    need('digraph' in p.run('explain', 'job.sql', '--format', 'dot', exit=0).stdout, 'no digraph')


def test_inspect_summarises_a_savepoint(p):
    p.rows(1000); p.write('job.sql', INSERT)
    p.run('run', 'job.sql', '--stop-with-savepoint', 'a.sp', '--after', '517', exit=0)
    before = p.tree('.')
    need('517' in p.run('inspect', 'a.sp', exit=0).stdout, 'the source offset is not shown')
    need(p.tree('.') == before, 'inspect changed a file')


def test_memory_and_threads_change_nothing(p):
    p.rows(20000); p.write('job.sql', SELECT)
    want = p.run('run', 'job.sql', '-o', 'tsv', '--parallelism', '1', exit=0).stdout
    for options in (['--parallelism', '2'], ['--parallelism', '8'], ['--memory', '16MB'], ['--batch-rows', '7'], ['--memory', '16MB', '--parallelism', '3', '--checkpoint-every', '999', '--state-dir', 'st']):
        need(p.run('run', 'job.sql', '-o', 'tsv', *options, exit=0).stdout == want, f'{options}: other output')


def test_lateness_minds_the_watermarks_of_all_sources(p):
    """b's last row is late only because of what a let out after b's own last watermark had gone through."""
    time = lambda s: f'2024-01-01 {s // 3600:02d}:{s // 60 % 60:02d}:{s % 60:02d}.000'
    p.write('a.csv', ''.join(f'1,{time(i)}\n' for i in range(2048)))
    p.write('b.csv', f'8,{time(5000)}\n' * 1024 + f'9,{time(40)}\n')
    table = "CREATE TABLE %s (k INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector'='filesystem','path'='%s.csv','format'='csv');\n"
    p.write('job.sql', table % ('a', 'a') + table % ('b', 'b') + """CREATE VIEW u AS SELECT * FROM a UNION ALL SELECT * FROM b;
SELECT k, COUNT(*) AS n FROM SESSION(TABLE u PARTITION BY k, DESCRIPTOR(ts), INTERVAL '2000' SECOND(4)) GROUP BY window_start, window_end, k;
""")
    for rows in '1', '7', '2048':
        out = p.run('run', 'job.sql', '-o', 'tsv', '--no-header', '--batch-rows', rows, exit=0).stdout
        need(out == '+I\t1\t2048\n+I\t8\t1024\n\n', f'{rows} rows a batch: {out!r}')


def wait_for(condition, why, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        need(time.monotonic() < end, why)
        time.sleep(0.01)


WATCHED = """CREATE TABLE t (ts TIMESTAMP(3), k STRING, v INT, WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
WITH ('connector'='filesystem','path'='in','format'='csv','source.monitor-interval'='20 ms');
CREATE TABLE s (ws TIMESTAMP(3), c BIGINT) WITH ('connector'='filesystem','path'='out','format'='csv');
INSERT INTO s SELECT window_start, COUNT(*) FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' SECOND) GROUP BY window_start, window_end;
"""


def seconds_of_rows(start, end):
    return ''.join(f'2024-01-01 00:{i // 60:02d}:{i % 60:02d}.000,k{i % 2},{i}\n' for i in range(start, end))


def arrives(p, name, start, end):
    """A file comes whole, as a watched folder wants it: written beside, then renamed."""
    p.write('coming', seconds_of_rows(start, end))
    (p.folder / 'in').mkdir(exist_ok=True)
    os.rename(p.folder / 'coming', p.folder / 'in' / name)


def test_a_watched_folder_is_read_as_files_come(p):
    p.write('job.sql', WATCHED)
    arrives(p, 'b', 0, 25)
    start = lambda: subprocess.Popen([p.binary, 'run', 'job.sql', '--state-dir', 'state', '--checkpoint-interval', '100ms'], cwd=p.folder,
                                     stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    windows = lambda: [l.split(',')[1] for l in p.output().splitlines()]

    def stop(q):
        q.send_signal(signal.SIGTERM); err = q.communicate(timeout=60)[1]
        need(q.returncode == 5, f'exit {q.returncode}: {err!r}')
    q = start()
    wait_for(lambda: windows() == ['10', '10'], f'the first file gave {windows()}')
    arrives(p, 'a', 25, 47)                          # sorts before what was read
    wait_for(lambda: windows() == ['10'] * 4, f'the second file gave {windows()}')
    need(q.poll() is None, 'a job that watches a folder ended')
    stop(q)
    before = p.output()
    (p.folder / 'in' / 'b').unlink()                 # what is finished may be archived
    arrives(p, '0', 47, 62)
    q = start()
    wait_for(lambda: windows() == ['10'] * 6, f'after resuming: {windows()}')
    need(p.output().startswith(before), 'what was published has changed')
    stop(q)
    p.write('job.sql', "SET 'execution.runtime-mode'='batch';\n" + WATCHED)
    need('never ends' in p.run('run', 'job.sql', exit=2).stderr, 'batch mode read a watched folder')


def test_a_watching_job_answers_while_it_waits(p):
    p.write('job.sql', WATCHED); arrives(p, 'a', 0, 25)
    q = subprocess.Popen([p.binary, 'run', 'job.sql', '--state-dir', 'state'], cwd=p.folder, stdin=subprocess.DEVNULL,
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: p.run('savepoint', 'take', 'state', '-o', 'a.sp').returncode == 0, 'no savepoint of a waiting job')
        p.run('savepoint', 'verify', 'a.sp', exit=0)
        wait_for(lambda: 'out' in os.listdir(p.folder) and p.output().count('\n') == 2, f'the savepoint did not publish: {p.output()!r}')
    finally:
        q.terminate(); q.wait(60)
    need(q.returncode == 5, f'exit {q.returncode}')


STDIN = """CREATE TABLE t (ts TIMESTAMP(3), k STRING, v INT, WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
WITH ('connector'='filesystem','path'='-','format'='csv');
SELECT window_start, COUNT(*) AS c FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' SECOND) GROUP BY window_start, window_end;
"""


def test_standard_input_is_read_as_it_comes(p):
    p.write('job.sql', STDIN)
    q = subprocess.Popen([p.binary, 'run', 'job.sql', '-o', 'tsv', '--no-header', '-q'], cwd=p.folder, stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    q.stdin.write(seconds_of_rows(0, 25)); q.stdin.flush()
    first = [q.stdout.readline() for _ in range(2)]   # while the input is open
    need(all(l.endswith('\t10\n') for l in first), f'{first}')
    q.stdin.write(seconds_of_rows(25, 32)); q.stdin.close()
    rest = q.stdout.read(); err = q.stderr.read()
    need(q.wait(60) == 0, f'exit {q.returncode}: {err!r}')
    need([l.split('\t')[2] for l in rest.splitlines() if l] == ['10', '2'], f'{rest!r}')


def test_standard_input_is_fed_again_to_resume(p):
    p.write('job.sql', STDIN)
    whole = seconds_of_rows(0, 60)
    feed = lambda text, *options: subprocess.run([p.binary, 'run', 'job.sql', '-o', 'tsv', '--no-header', '-q', *options], cwd=p.folder,
                                                 input=text, capture_output=True, text=True, timeout=60)
    plain = feed(whole).stdout
    first = feed(whole, '--stop-with-savepoint', 'a.sp', '--after', '33')
    need(first.returncode == 0, first.stderr)
    second = feed(whole, '--from', 'a.sp')
    need(second.returncode == 0 and first.stdout + second.stdout == plain, f'{first.stdout!r} {second.stdout!r} {second.stderr!r}')
    other = feed(seconds_of_rows(33, 60), '--from', 'a.sp')
    need(other.returncode == 4 and '--accept-changed-input' in other.stderr, f'exit {other.returncode}: {other.stderr!r}')
    # The rows that had been read ahead are in the savepoint: what follows is enough.
    follows = feed(seconds_of_rows(60, 75), '--from', 'a.sp', '--accept-changed-input')
    need(follows.returncode == 0 and first.stdout + follows.stdout == feed(whole + seconds_of_rows(60, 75)).stdout, f'{follows.stdout!r}')


def test_patterns_name_input_files(p):
    for name, text in {'in/a1.log': 'x\n', 'in/b.log': 'y\n', 'in/deep/a2.log': 'z\n', 'in/.a3.log': 'no\n', 'in/a4.txt': 'no\n'}.items():
        p.write(name, text)
    table = "CREATE TABLE t (l STRING) WITH ('connector'='filesystem','path'='%s','format'='raw'%s);\nSELECT l FROM t;\n"
    read = lambda: p.run('run', 'job.sql', '-o', 'tsv', '--no-header', exit=0).stdout.split()[1::2]
    p.write('job.sql', table % ('in/*.log', ''))
    need(read() == ['x', 'y'], f'{read()}')
    p.write('job.sql', table % ('in', ",'source.path.regex-pattern'='.*/a[0-9]\\.log'"))
    need(read() == ['x', 'z'], f'{read()}')
    p.write('job.sql', table % ('in/*.none', ''))
    need('no file matches' in p.run('run', 'job.sql', exit=1).stderr, 'no message')


def test_idle_sources_do_not_hold_others_up(p):
    table = """CREATE TABLE %s (ts TIMESTAMP(3), k STRING, v INT, WATERMARK FOR ts AS ts)
WITH ('connector'='filesystem','path'='%s','format'='csv','source.monitor-interval'='20 ms');\n"""
    p.write('a/1', seconds_of_rows(0, 25)); (p.folder / 'b').mkdir()
    query = "SELECT window_start, COUNT(*) AS c FROM TUMBLE(TABLE u, DESCRIPTOR(ts), INTERVAL '10' SECOND) GROUP BY window_start, window_end;\n"
    view = 'CREATE VIEW u AS SELECT * FROM a UNION ALL SELECT * FROM b;\n'
    for setting, rows in ("SET 'table.exec.source.idle-timeout'='50 ms';\n", 2), ('', 0):
        p.write('job.sql', setting + table % ('a', 'a') + table % ('b', 'b') + view + query)
        q = subprocess.Popen([p.binary, 'run', 'job.sql', '-o', 'tsv', '--no-header', '-q'], cwd=p.folder, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            if rows:
                need([q.stdout.readline().split('\t')[2] for _ in range(rows)] == ['10\n'] * rows, 'other rows')
            else:
                time.sleep(0.5)
        finally:
            q.terminate()
        rest = q.communicate(timeout=60)[0]
        need(rows or '+I' not in rest, f'the window fired though a source may still have rows: {rest!r}')


def main(functions=None):
    ap = argparse.ArgumentParser()
    ap.add_argument('--bin', default='build/tidemark'); ap.add_argument('-v', action='store_true'); ap.add_argument('names', nargs='*')
    a = ap.parse_args()
    binary = os.path.abspath(a.bin)
    if not os.access(binary, os.X_OK):
        print(f'{a.bin} is not there: ./dev build'); print('0 passed, 1 failed'); return 1
    passed = failed = 0
    for name, test in [(n, f) for n, f in (functions or globals()).items() if n.startswith('test_')]:
        if a.names and not any(n in name for n in a.names):
            continue
        with tempfile.TemporaryDirectory(prefix='tide-cli-') as folder:
            try:
                test(Place(binary, folder)); passed += 1
                if a.v:
                    print(f'ok {name}')
            except (Broken, subprocess.TimeoutExpired, OSError, ValueError) as e:
                failed += 1; print(f'FAIL {name[5:].replace("_", " ")}: {e}', flush=True)
    print(f'{passed} passed, {failed} failed')
    return failed != 0


if __name__ == '__main__':
    sys.exit(main())
