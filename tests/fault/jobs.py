"""The small jobs that the fault tests run: 500 rows, three checkpoints, one with deltas; how they are started and what they give."""
import hashlib, os, pathlib, random, shutil, signal, subprocess

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BID = """CREATE TABLE Bid (ts TIMESTAMP(3), auction BIGINT, bidder BIGINT, price DECIMAL(10,2), channel STRING,
  WATERMARK FOR ts AS ts - INTERVAL '1' SECOND) WITH ('connector'='filesystem','path'='bid.csv','format'='csv');
"""
JOBS = {
    # Windows that close all along: a file at each checkpoint.
    'topn': BID + """CREATE TABLE Top2 (ws TIMESTAMP(3), auction BIGINT, c BIGINT, s DECIMAL(38,2), rk BIGINT)
  WITH ('connector'='filesystem','path'='out','format'='csv');
INSERT INTO Top2 SELECT window_start, auction, c, s, rk FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY c DESC, s DESC) AS rk FROM (
    SELECT window_start, window_end, auction, COUNT(*) AS c, SUM(price) AS s
    FROM TABLE(HOP(TABLE Bid, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '20' SECOND)) GROUP BY window_start, window_end, auction)) WHERE rk <= 2;
""",
    # Two sinks, one of them in partitions; sets, sessions and rows as state; much of it lives to the end.
    'sets': BID + """CREATE TABLE Chan (channel STRING, ws TIMESTAMP(3), d BIGINT, l STRING) PARTITIONED BY (channel)
  WITH ('connector'='filesystem','path'='out/chan','format'='csv','sink.partition-commit.policy.kind'='success-file');
CREATE TABLE Best (auction BIGINT, price DECIMAL(10,2), bidder BIGINT, rk BIGINT) WITH ('connector'='filesystem','path'='out/deep/best','format'='json');
CREATE TABLE Sess (bidder BIGINT, ws TIMESTAMP(3), we TIMESTAMP(3), c BIGINT, a DOUBLE) WITH ('connector'='filesystem','path'='out/sess','format'='csv');
EXECUTE STATEMENT SET BEGIN
INSERT INTO Chan SELECT channel, window_start, COUNT(DISTINCT bidder), LISTAGG(CAST(price AS STRING))
  FROM TABLE(TUMBLE(TABLE Bid, DESCRIPTOR(ts), INTERVAL '30' SECOND)) GROUP BY window_start, window_end, channel;
INSERT INTO Best SELECT auction, price, bidder, rk FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, auction
    ORDER BY price DESC) AS rk FROM TABLE(TUMBLE(TABLE Bid, DESCRIPTOR(ts), INTERVAL '1' HOUR))) WHERE rk <= 2;
INSERT INTO Sess SELECT bidder, window_start, window_end, COUNT(*), AVG(CAST(price AS DOUBLE))
  FROM TABLE(SESSION(TABLE Bid PARTITION BY bidder, DESCRIPTOR(ts), INTERVAL '3' SECOND)) GROUP BY bidder, window_start, window_end;
END;
""",
    # Two jobs, one after the other.
    'two': BID + """CREATE TABLE A (auction BIGINT, c BIGINT) WITH ('connector'='filesystem','path'='out/a','format'='csv');
CREATE TABLE B (bidder BIGINT, ws TIMESTAMP(3), m STRING) WITH ('connector'='filesystem','path'='out/b','format'='csv');
INSERT INTO A SELECT auction, COUNT(*) FROM TABLE(TUMBLE(TABLE Bid, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end, auction;
INSERT INTO B SELECT bidder, window_start, MAX(channel) FROM TABLE(TUMBLE(TABLE Bid, DESCRIPTOR(ts), INTERVAL '20' SECOND))
  GROUP BY window_start, window_end, bidder;
""",
    # Every row is a key: much state, of which little changes between checkpoints, so that most of them are deltas.
    'deltas': BID + """CREATE TABLE Sums (auction BIGINT, p STRING, c BIGINT, s DECIMAL(38,2)) WITH ('connector'='filesystem','path'='out','format'='csv');
INSERT INTO Sums SELECT auction, p, COUNT(*), SUM(price) FROM (SELECT *, CAST(price AS STRING) AS p FROM
  TABLE(TUMBLE(TABLE Bid, DESCRIPTOR(ts), INTERVAL '1' HOUR))) GROUP BY window_start, window_end, auction, p;
""",
}
ROWS, EVERY = {'deltas': 1100}, {'topn': 150, 'sets': 450, 'two': 200, 'deltas': 100}     # `sets` reads its input three times
AUCTIONS, TIMEOUT_S = {'deltas': 10**6}, 240


class Failure(Exception):
    pass


def build_shim(scratch):
    library = scratch / 'shim.so'
    subprocess.run(['cc', '-O1', '-g', '-Wall', '-Wextra', '-Werror', '-shared', '-fPIC', '-o', library, HERE / 'shim.c', '-ldl'], check=True)
    return library


def write_rows(path, rows, seed=1, auctions=12):
    """Out of order, and some of them late. Ten rows a second."""
    rng = random.Random(seed)
    with open(path, 'w') as f:
        for i in range(rows):
            ms = max(0, i * 100 - rng.choice([0] * 9 + [300, 900, 1500, 31000]))
            s, ms = divmod(ms, 1000)
            f.write(f'2024-01-01 {s // 3600:02d}:{s // 60 % 60:02d}:{s % 60:02d}.{ms:03d},{rng.randrange(auctions)},{rng.randrange(40)},'
                    f'{rng.randrange(100, 99999) / 100:.2f},{rng.choice("abc")}\n')


def tree(folder):
    """Visible output files below a folder -> their bytes."""
    return {str(f.relative_to(folder)): f.read_bytes() for f in sorted(folder.rglob('*')) if f.is_file() and not f.name.startswith(('.', '_'))}


def joined(files):
    """What a reader of each folder gets: its files in name order. Run ids differ from run to run, so names do not count."""
    out = {}
    for name in sorted(files):
        folder = name.rpartition('/')[0]
        out[folder] = out.get(folder, b'') + files[name]
    return out


class Place:
    """A folder with one of the jobs. `options` of run come on top."""
    def __init__(self, binary, folder, name, rows=None, every=None, data=None):
        self.binary, self.folder, self.every = binary, folder, every or EVERY[name]
        self.state, self.out = folder / 'state', folder / 'out'
        folder.mkdir()
        (folder / 'job.sql').write_text(JOBS[name])
        if data:
            (folder / 'bid.csv').hardlink_to(data)
        else:
            write_rows(folder / 'bid.csv', rows or ROWS.get(name, 500), auctions=AUCTIONS.get(name, 12))

    def run(self, env=None, threads=1, extra=()):
        full = {k: v for k, v in os.environ.items() if not k.startswith(('TIDE_', 'LD_PRELOAD'))}
        try:
            return subprocess.run([self.binary, 'run', 'job.sql', '--state-dir', 'state', '--checkpoint-every', str(self.every), '--parallelism',
                                   str(threads), '--progress', 'never', *extra], cwd=self.folder, env={**full, **(env or {})},
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True, errors='replace', timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired as e:
            raise Failure(f'hangs: still running after {TIMEOUT_S} s; {(e.stderr or b"")[-300:]}')

    def output(self):
        return joined(tree(self.out)) if self.out.exists() else {}

    def hidden(self):
        return [str(f.relative_to(self.folder)) for f in self.out.rglob('.part-*')]

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)


def left_alone(binary, scratch, name, rows=None, every=None, data=None):
    """-> the output that every other run must give."""
    place = Place(binary, scratch / f'{name}-alone', name, rows, every, data)
    p = place.run()
    if p.returncode != 0:
        raise Failure(f'{name}, left alone: exit {p.returncode}: {p.stderr}')
    want = place.output()
    checkpoints = p.stderr.count('checkpoint')
    if name == 'deltas' and '(0 of them' in p.stderr:
        raise Failure(f'{name} makes no deltas: {p.stderr}')
    if sum(map(len, want.values())) < 500 or not checkpoints:
        raise Failure(f'{name}, left alone, gives only {want}: {p.stderr}')
    place.remove()
    return want


def first_difference(want, got):
    if sorted(want) != sorted(got):
        return f'folders {sorted(got)} instead of {sorted(want)}'
    for folder in sorted(want):
        a, b = want[folder].splitlines(), got[folder].splitlines()
        if a != b:
            n = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
            return f'{folder or "out"}: {len(b)} rows, expected {len(a)}; first difference in line {n + 1}: {b[n:n + 1]} instead of {a[n:n + 1]}'
    return 'line ends differ'


def digest(data):
    return hashlib.sha256(data).hexdigest()


def was_killed(status):
    return status == -signal.SIGKILL
