#!/usr/bin/env python3
"""Savepoints read by another program (reader.py, written from docs/savepoint-format.md) and savepoints of earlier versions.

usage: format_test.py [--bin PATH] [NAME]...     [--freeze: makes the folder of this version in frozen/ anew]

It compares what reader.py finds with what `tidemark inspect` says, with the input rows themselves, and a chain of deltas with the
full file that `tidemark savepoint take` makes of it. Then each savepoint in frozen/ is started from and must give the rows that
stand beside it: for ever. Last line: `N passed, M failed`.
"""
import argparse, collections, csv, decimal, json, os, pathlib, shutil, subprocess, sys, tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
VENV, PACKAGES = ROOT / '.cache' / 'format-venv', ['protobuf==4.25.*', 'zstandard', 'xxhash']
sys.path.insert(0, str(HERE.parent / 'fault'))
import jobs
from jobs import Failure

if __name__ == '__main__' and sys.prefix != str(VENV):
    if not (VENV / 'ready').exists():
        subprocess.run([sys.executable, '-m', 'venv', VENV], check=True)
        subprocess.run([VENV / 'bin' / 'pip', 'install', '-q', '--disable-pip-version-check', *PACKAGES], check=True)
        (VENV / 'ready').touch()
    os.execv(VENV / 'bin' / 'python', [VENV / 'bin' / 'python', __file__, *sys.argv[1:]])

COUNTS = jobs.BID + """CREATE TABLE S (auction BIGINT, channel STRING, c BIGINT, s DECIMAL(38,2), m STRING)
  WITH ('connector'='filesystem','path'='out','format'='csv');
INSERT INTO S SELECT auction, channel, COUNT(*), SUM(price), MAX(channel) FROM TABLE(TUMBLE(TABLE Bid, DESCRIPTOR(ts), INTERVAL '1' HOUR))
  GROUP BY window_start, window_end, auction, channel;
"""
TYPES = """CREATE TABLE t (ts TIMESTAMP(3), a TINYINT, b INT, c BIGINT, d DECIMAL(10,2), e DECIMAL(30,4), f DATE, g TIME, h TIMESTAMP(6),
  i BOOLEAN, j STRING, k DOUBLE, WATERMARK FOR ts AS ts) WITH ('connector'='filesystem','path'='bid.csv','format'='csv','csv.null-literal'='NULL');
CREATE TABLE s (c BIGINT) WITH ('connector'='filesystem','path'='out','format'='csv');
INSERT INTO s SELECT COUNT(*) FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR))
  GROUP BY window_start, window_end, a, b, c, d, e, f, g, h, i, j, k;
"""
TYPE_ROWS = [
    ['2024-01-01 00:00:00.000', '-128', '5', '-9223372036854775808', '-1.05', '12345678901234567890.1234', '1969-12-31', '00:00:01', '1969-12-31 23:59:59.999999', 'true', 'a', '-1.5'],
    ['2024-01-01 00:00:01.000', '127', '-5', '9223372036854775807', '99999999.99', '-0.0001', '2024-02-29', '23:59:59', '2024-01-01 00:00:00.000001', 'false', 'ü,"x', '2.25'],
    ['2024-01-01 00:00:02.000'] + ['NULL'] * 11]


def load_reader(scratch):
    subprocess.run(['protoc', f'--python_out={scratch}', '-I', ROOT / 'schemas', ROOT / 'schemas' / 'savepoint.proto'], check=True)
    sys.path[:0] = [str(scratch), str(HERE)]
    import reader
    return reader


class Test:
    def __init__(self, a, scratch):
        self.binary, self.scratch = os.path.abspath(a.bin), scratch
        self.reader = load_reader(scratch)

    def tool(self, *args, exit=0, cwd=None):
        p = subprocess.run([self.binary, *map(str, args)], cwd=cwd or self.scratch, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120)
        if p.returncode != exit:
            raise Failure(f'{" ".join(map(str, args))}: exit {p.returncode}, expected {exit}: {p.stderr[-400:]}')
        return p

    def place(self, name, sql, rows=None):
        place = jobs.Place(self.binary, self.scratch / name, 'topn')
        (place.folder / 'job.sql').write_text(sql)
        if rows is not None:
            with open(place.folder / 'bid.csv', 'w', newline='') as f:
                csv.writer(f, lineterminator='\n').writerows(rows)
        return place

    def stop_after(self, place, rows):
        self.tool('run', 'job.sql', '--stop-with-savepoint', 'x.savepoint', '--after', rows, '--progress', 'never', cwd=place.folder)
        return place.folder / 'x.savepoint'


def same(what, got, want):
    if got != want:
        raise Failure(f'{what}: {str(got)[:300]}, expected {str(want)[:300]}')


def compare_with_inspect(test, file):
    """-> the entries that were read."""
    sp, told = test.reader.Savepoint(file), json.loads(test.tool('inspect', file, '--output', 'json').stdout)
    m = sp.manifest
    file_bytes = lambda s: len(s.data) + (file_bytes(s.parent) if s.parent else 0)
    same('bytes', file_bytes(sp), told['bytes'])
    for ours, theirs in [('format_version', 'format_version'), ('writer_version', 'writer_version'), ('job_name', 'job'), ('checkpoint_id', 'checkpoint'),
                         ('run_id', 'run_id'), ('rows_before', 'rows_before')]:
        same(theirs, getattr(m, ours), told[theirs])
    same('sql', m.sql.decode(), told['sql']); same('rows', m.snapshot.rows, told['rows']); same('ended', m.snapshot.ended, told['ended'])
    said = {o['name']: o for o in told['sources'] + told['operators'] + told['sinks']}
    same('parts', sorted(p.operator_id for p in m.snapshot.parts), sorted(said))
    for part in m.snapshot.parts:
        if part.watermark in (test.reader.NONE, test.reader.END):
            same(f'{part.operator_id}: watermark', said[part.operator_id]['watermark'], None if part.watermark == test.reader.NONE else 'end')
        same(f'{part.operator_id}: late rows', part.late_rows, said[part.operator_id]['late_rows'])
        same(f'{part.operator_id}: saved', len(part.saved), said[part.operator_id]['saved_bytes'])
    for operator in m.operators:
        same(f'{operator.operator_id}: clauses', [(c.code, c.text) for c in operator.clauses], [(c['code'], c['text']) for c in said[operator.operator_id]['clauses']])
        same(f'{operator.operator_id}: fingerprint', f'{operator.fingerprint:016x}', said[operator.operator_id]['fingerprint'])
        import xxhash
        text = b''.join(c.code.encode() + b'\0' + c.text.encode() + b'\0' for c in operator.clauses)
        same(f'{operator.operator_id}: fingerprint by the page', xxhash.xxh3_64_intdigest(text), operator.fingerprint)
    total = 0
    same('tables', [t.name for t in m.tables], [t['name'] for t in told['state']])
    for n, table in enumerate(m.tables):
        raw, says, windows = sp.state(n), told['state'][n], collections.Counter()
        for window, _, _ in sp.entries(n):
            windows[window] += 1
        if sp.parent is None:
            same(f'{table.name}: keys, key and value bytes', [len(raw), sum(map(len, raw)), sum(map(len, raw.values()))], [says['keys'], says['key_bytes'], says['value_bytes']])
            same(f'{table.name}: chunks', len(table.chunks), says['chunks'])
            if table.kind == test.reader.pb.TABLE_WINDOWED:
                same(f'{table.name}: windows', [windows[w] for w in sorted(windows)], [w['keys'] for w in says['windows']])
                same(f'{table.name}: bounds', sorted(windows), list(zip(table.window_starts, table.window_ends)))
        same(f'{table.name}: fields', [f.name for f in table.keys] + [f.name for f in table.values], [f['name'] for f in says['key_fields'] + says['value_fields']])
        total += len(raw)
    return total


def check_jobs_agree_with_inspect(test):
    total = 0
    for name in jobs.JOBS:
        place = test.place(f'inspect-{name}', jobs.JOBS[name])
        for rows in (10, 130, 300, 1400) if name == 'sets' else (10, 300):
            total += compare_with_inspect(test, test.stop_after(place, rows))
    if total < 60:
        raise Failure(f'only {total} entries')


def check_entries_are_those_of_the_input(test):
    place = test.place('counts', COUNTS)
    sp = test.reader.Savepoint(test.stop_after(place, 333))
    want = collections.defaultdict(lambda: [0, 0])
    for row in list(csv.reader(open(place.folder / 'bid.csv')))[:333]:
        want[(0, 3600000), int(row[1]), row[4].encode()][0] += 1
        want[(0, 3600000), int(row[1]), row[4].encode()][1] += int(decimal.Decimal(row[3]) * 100)
    base = 1704067200000
    got = {}
    for (start, end), (auction, channel), value in sp.entries(0):
        got[(start - base, end - base), auction, channel] = [value['COUNT(*)'], value['SUM(price)']]
        same('MAX(channel)', test.reader.read_one(value['MAX(channel)'], test.reader.pb.Field(type='STRING')), channel)
    same('entries', got, dict(want))


def check_sets_lists_and_rows_are_those_of_the_input(test):
    sql = COUNTS.split('CREATE TABLE S')[0] + """CREATE TABLE S (channel STRING, d BIGINT, l STRING) WITH ('connector'='filesystem','path'='out','format'='csv');
CREATE TABLE B (auction BIGINT, bidder BIGINT, rk BIGINT) WITH ('connector'='filesystem','path'='best','format'='csv');
EXECUTE STATEMENT SET BEGIN
INSERT INTO S SELECT channel, COUNT(DISTINCT bidder), LISTAGG(CAST(auction AS STRING)) FROM TABLE(TUMBLE(TABLE Bid, DESCRIPTOR(ts), INTERVAL '1' HOUR))
  GROUP BY window_start, window_end, channel;
INSERT INTO B SELECT auction, bidder, rk FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, auction ORDER BY price DESC) AS rk
  FROM TABLE(TUMBLE(TABLE Bid, DESCRIPTOR(ts), INTERVAL '1' HOUR))) WHERE rk <= 2;
END;
"""
    place = test.place('sets', sql)
    rows = list(csv.reader(open(place.folder / 'bid.csv')))[:300]
    with open(place.folder / 'bid.csv', 'w', newline='') as f:
        csv.writer(f, lineterminator='\n').writerows(rows * 5)
    sp = test.reader.Savepoint(test.stop_after(place, 1400))     # 1,024 of one source, then the other's turn
    tables = {t.name.split('.')[0]: n for n, t in enumerate(sp.manifest.tables)}
    sides = {p.operator_id: p.rows for p in sp.manifest.snapshot.parts if p.kind == test.reader.pb.PART_SOURCE}
    of = {o.operator_id: o.inputs[0] for o in sp.manifest.operators if o.inputs and o.inputs[0] in sides}
    if not sp.state(tables['window-aggregate-1']) or not sp.state(tables['window-rank-1']):
        raise Failure('one of the tables is empty')
    want = collections.defaultdict(lambda: (collections.Counter(), []))
    for row in (rows * 5)[:sides[of['window-aggregate-1']]]:
        want[row[4].encode()][0][int(row[2])] += 1
        want[row[4].encode()][1].append(row[1].encode())
    got = {keys[0]: (test.reader.read_set(v['COUNT(DISTINCT bidder) values'], 'BIGINT'), test.reader.read_list(v['LISTAGG(CAST(auction AS STRING))']))
           for _, keys, v in sp.entries(tables['window-aggregate-1'])}
    same('sets and lists', got, {k: (dict(a), b) for k, (a, b) in want.items()})
    best = collections.defaultdict(list)
    for n, row in enumerate((rows * 5)[:sides[of['window-rank-1']]]):
        best[int(row[1])].append((-int(decimal.Decimal(row[3]) * 100), n, int(row[2])))
    want = sorted((auction, -price, bidder) for auction, all_ in best.items() for price, _, bidder in sorted(all_)[:2])
    table = sp.manifest.tables[tables['window-rank-1']]
    found = [(keys, test.reader.read_row(v['row'], table.values[0].type)) for _, keys, v in sp.entries(tables['window-rank-1'])]
    same('rows', sorted((r['auction'], r['price'], r['bidder']) for _, r in found), want)
    same('keys of rows', [k[:2] for k, _ in found], [[r['auction'], r['price']] for _, r in found])


def check_keys_of_every_type(test):
    place = test.place('types', TYPES, TYPE_ROWS)
    sp = test.reader.Savepoint(test.stop_after(place, 3))
    got = sorted((tuple(keys) for _, keys, _ in sp.entries(0)), key=repr)
    day = 86400000
    want = [(-128, 5, -2**63, -105, 123456789012345678901234, -1, 1000, (-1, 999000), True, b'a', -1.5),
            (127, -5, 2**63 - 1, 9999999999, -1, 19782, day - 1000, (1704067200000, 1000), False, 'ü,"x'.encode(), 2.25), (None,) * 11]
    same('keys', got, sorted(want, key=repr))
    same('fields', [f.type for f in sp.manifest.tables[0].keys][:3], ['TINYINT', 'INT', 'BIGINT'])


def check_chain_of_deltas_is_its_full_file(test):
    place = test.place('chain', COUNTS.replace('auction, channel, COUNT', 'auction, channel, COUNT'), None)
    jobs.write_rows(place.folder / 'bid.csv', 6000, auctions=4000)
    place.every = 150
    p = place.run({'TIDE_KILL_POINT': 'delta.after-rename:6'})
    if not jobs.was_killed(p.returncode):
        raise Failure(f'no six deltas: exit {p.returncode}: {p.stderr}')
    newest = max(place.state.glob('job-1/checkpoints/chk-*.delta'), key=lambda f: int(f.stem[4:]))
    test.tool('savepoint', 'take', place.state, '-o', place.folder / 'full.savepoint')
    chain, full = test.reader.Savepoint(newest), test.reader.Savepoint(place.folder / 'full.savepoint')
    same('checkpoint', chain.manifest.checkpoint_id, full.manifest.checkpoint_id)
    if chain.parent is None or not full.state(0):
        raise Failure('no chain')
    same('entries', chain.state(0), full.state(0))
    compare_with_inspect(test, place.folder / 'full.savepoint')
    compare_with_inspect(test, newest)


def check_nothing_tells_of_the_machine(test):
    """v23: no absolute path is in a savepoint."""
    place = test.place('moved', jobs.JOBS['sets'])
    sp = test.reader.Savepoint(test.stop_after(place, 700))
    text = sp.manifest.SerializeToString()
    if str(test.scratch).encode() in text or b'/tmp' in text or os.uname().nodename.encode() in text:
        raise Failure('the manifest holds a path or a name of this machine')


# --- forged ----------------------------------------------------------------------------------------------------------

def forge(test, sp, change, file):
    """The savepoint with another manifest, all checksums right."""
    import struct, xxhash, zstandard
    manifest = test.reader.pb.Manifest()
    manifest.CopyFrom(sp.manifest)
    change(manifest)
    raw = manifest.SerializeToString()
    frame = zstandard.ZstdCompressor(level=1).compress(raw)
    offset = struct.unpack_from('<Q', sp.data, len(sp.data) - 32)[0]
    file.write_bytes(sp.data[:offset] + frame + struct.pack('<QIIQ', offset, len(frame), len(raw), xxhash.xxh3_64_intdigest(frame)) + b'TIDESAVE')


def pending(test, run, folder, name_bytes=0):
    text = lambda b: test.reader.varint(len(b)) + b
    return b'\x02' + text(run) + b'\x09' + b'\x01' + text(folder) + b'\x00' + b'\x05' + bytes(8) + test.reader.varint(0)


def check_a_hostile_savepoint_writes_nowhere_else(test):
    """Names that lead out of the sink's folder and the state directory, in a file whose checksums are right."""
    place = test.place('hostile', jobs.JOBS['topn'])
    sp = test.reader.Savepoint(test.stop_after(place, 300))
    forge(test, sp, lambda m: None, place.folder / 'same.savepoint')
    test.tool('run', 'job.sql', '--from', 'same.savepoint', '--state-dir', 'same', '--progress', 'never', cwd=place.folder)
    sink = next(i for i, p in enumerate(sp.manifest.snapshot.parts) if p.kind == test.reader.pb.PART_SINK)

    def set_sink(run, folder):
        def change(m):
            m.snapshot.parts[sink].saved = pending(test, run, folder)
        return change

    def set_field(owner, name, value):
        return lambda m: setattr(owner(m), name, value)
    run = sp.manifest.run_id.encode()
    changes = {f'folder {f!r}': set_sink(run, f) for f in (b'../', b'../../evil/', b'/tmp/evil/', b'a=1/../../', b'./', b'a=1//', b'no-slash', b'a\0b/', b'..//')}
    changes |= {f'run {r!r} of the sink': set_sink(r, b'') for r in (b'../../evil', b'/tmp/evil', b'x/y')}
    changes |= {f'run {r!r}': set_field(lambda m: m, 'run_id', r) for r in ('../../evil', '/tmp/evil', '', 'a/b', 'x' * 300, 'A')}
    changes |= {f'table {n!r}': set_field(lambda m: m.tables[0], 'name', n) for n in ('../../evil', '/tmp/evil', 'a/b', '')}
    changes |= {f'operator {n!r}': set_field(lambda m: m.tables[0], 'operator_id', n) for n in ('../../evil', '/tmp/evil')}
    outside = lambda: sorted(str(f) for f in place.folder.parent.rglob('*') if '/victim' not in str(f))
    for n, (what, change) in enumerate(changes.items()):
        victim = place.folder / f'victim-{n}'
        victim.mkdir()
        for name in ('job.sql', 'bid.csv'):
            shutil.copy(place.folder / name, victim)
        forge(test, sp, change, victim / 'x.savepoint')
        before = outside()
        p = subprocess.run([test.binary, 'run', 'job.sql', '--from', 'x.savepoint', '--state-dir', 'D', '--progress', 'never'], cwd=victim,
                           capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)
        harmless = what.startswith('run ') and ('of the sink' in what or '/' not in what)    # names of files that are not here
        if p.returncode != 3 and not (harmless and p.returncode == 0):
            raise Failure(f'{what}: exit {p.returncode}: {p.stderr[-300:]}')
        if outside() != before or {f.name for f in victim.iterdir()} - {'job.sql', 'bid.csv', 'x.savepoint', 'D', 'out'} or pathlib.Path('/tmp/evil').exists():
            raise Failure(f'{what}: something was written elsewhere: {sorted(set(outside()) - set(before))}')


# --- frozen ----------------------------------------------------------------------------------------------------------

def run_from(test, folder, place, savepoint):
    for f in folder.iterdir():
        shutil.copy(f, place)
    test.tool('run', 'job.sql', '--from', savepoint, '--progress', 'never', cwd=place)
    return {k or 'out': v.decode() for k, v in jobs.joined(jobs.tree(place / 'out')).items()}


def check_frozen(test, folder):
    """Each: job.sql, bid.csv, what to start from (`from`: its name) and the rows that come then (rest.json)."""
    place = test.scratch / f'frozen-{folder.parent.name}-{folder.name}'
    place.mkdir()
    start = (folder / 'from').read_text().strip()
    same('rows', run_from(test, folder, place, start), json.loads((folder / 'rest.json').read_text()))
    before = (folder / start).read_bytes()
    test.tool('savepoint', 'verify', place / start)
    test.reader.Savepoint(folder / start)
    same('the savepoint', (place / start).read_bytes(), before)


def check_newer_versions_are_refused_by_name(test):
    folder = next(iter(sorted(HERE.glob('frozen/v*/topn'))))
    data = bytearray((folder / 'x.savepoint').read_bytes())
    for version in (0, 2, 7, 255, 2**31):
        data[8:12] = version.to_bytes(4, 'little')
        file = test.scratch / f'version-{version}.savepoint'
        file.write_bytes(data)
        for args in (['run', folder / 'job.sql', '--from', file], ['inspect', file], ['savepoint', 'verify', file]):
            p = test.tool(*args, exit=3)
            text = p.stderr + p.stdout
            if str(version) not in text or ('reads' not in text):
                raise Failure(f'version {version}, {args[0]}: the message names no versions: {p.stderr}')


def freeze(test):
    """Makes frozen/v1 anew; only before the version is released."""
    for name in ['topn', 'sets', 'chain']:
        folder = HERE / 'frozen' / 'v1' / name
        folder.mkdir(parents=True, exist_ok=True)
        place = test.place(f'freeze-{name}', COUNTS if name == 'chain' else jobs.JOBS[name])
        if name == 'chain':
            jobs.write_rows(place.folder / 'bid.csv', 1300, auctions=10**6)
            place.every = 50
            place.run({'TIDE_KILL_POINT': 'delta.after-rename:2'})
            files = sorted(place.state.glob('job-1/checkpoints/chk-*'), key=lambda f: int(f.name[4:].split('.')[0]))
            files = files[max(i for i, f in enumerate(files) if f.suffix == '.savepoint'):]
            start = files[-1].name
            if not start.endswith('.delta'):
                raise Failure(f'no chain: {files}')
        else:
            files, start = [test.stop_after(place, {'topn': 300, 'sets': 1300}[name])], 'x.savepoint'
        for f in [*files, place.folder / 'job.sql', place.folder / 'bid.csv']:
            shutil.copy(f, folder)
        (folder / 'from').write_text(start + '\n')
        rest = test.scratch / f'rest-{name}'
        rest.mkdir()
        (folder / 'rest.json').write_text(json.dumps(run_from(test, folder, rest, start), indent=0))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument('--bin', default='build/tidemark'); ap.add_argument('--freeze', action='store_true')
    ap.add_argument('names', nargs='*')
    a = ap.parse_args()
    scratch = pathlib.Path(tempfile.mkdtemp(prefix='tide-format-'))
    passed = failed = 0
    try:
        test = Test(a, scratch)
        if a.freeze:
            freeze(test); return 0
        checks = [(n[6:].replace('_', ' '), lambda f=f: f(test)) for n, f in globals().items() if n.startswith('check_') and n != 'check_frozen']
        checks += [(f'{f.parent.name} {f.name} is started from', lambda f=f: check_frozen(test, f)) for f in sorted(HERE.glob('frozen/v*/*'))]
        for name, check in checks:
            if a.names and not any(n in name for n in a.names):
                continue
            try:
                check(); passed += 1; print(f'ok {name}', flush=True)
            except (Failure, test.reader.Refused) as e:
                failed += 1; print(f'FAIL {name}: {e}', flush=True)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    print(f'{passed} passed, {failed} failed')
    return int(failed != 0 or passed == 0)


if __name__ == '__main__':
    sys.exit(main())
