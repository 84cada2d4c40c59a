#!/usr/bin/env python3
"""Run the examples: each script must print what its NAME.out shows, and the orders' answers are computed here once more
from the CSV, the plain way, window by window.

usage: examples.py [--bin PATH] [--update]      --update writes the NAME.out files and report.json
Last line: `N passed, M failed`.
"""
import argparse, collections, datetime, json, os, pathlib, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ORDERS = ROOT / 'examples' / 'orders'
MINUTE = 60_000
EPOCH = datetime.datetime(1970, 1, 1)


def to_ms(text):
    return round((datetime.datetime.fromisoformat(text) - EPOCH) / datetime.timedelta(milliseconds=1))


def show(ms):
    return (EPOCH + datetime.timedelta(milliseconds=ms)).isoformat(' ', 'milliseconds')


def tumble(ms, size):
    start = ms // size * size
    return start, start + size


def hop(ms, slide, size):
    last = ms // slide * slide
    return [(s, s + size) for s in range(last - size + slide, last + 1, slide)]


def cumulate(ms, step, size):
    start = ms // size * size
    return [(start, end) for end in range(start + step, start + size + 1, step) if ms < end]


def sessions(orders, gap):
    by_shop = collections.defaultdict(list)
    for _, shop, _, ms in orders:
        found = by_shop[shop]
        if found and ms <= found[-1][1]:
            found[-1] = (found[-1][0], ms + gap, found[-1][2] + 1)
        else:
            found.append((ms, ms + gap, 1))
    return [(show(s), show(e), shop, n) for shop, found in by_shop.items() for s, e, n in found]


def best(groups, n):
    """{window: [(measure, row)]} -> the rows of the n largest, with their rank"""
    for window, rows in groups.items():
        for rank, (_, row) in enumerate(sorted(rows, reverse=True)[:n], 1):
            yield window, row, rank


def answers():
    orders = []
    for line in (ORDERS / 'windows_orders.csv').read_text().splitlines():
        n, shop, amount, ts = line.split(',')
        orders.append((int(n), shop, int(amount), to_ms(ts)))
    count, revenue, hops, totals = (collections.Counter() for _ in range(4))
    half_hours = collections.defaultdict(list)
    for n, shop, amount, ms in orders:
        window = tumble(ms, 10 * MINUTE)
        count[window, shop] += 1; revenue[window, shop] += amount
        for w in hop(ms, 5 * MINUTE, 10 * MINUTE):
            hops[w] += 1
        for w in cumulate(ms, 10 * MINUTE, 60 * MINUTE):
            totals[w] += amount
        half_hours[tumble(ms, 30 * MINUTE)].append((amount, (n, shop, amount)))
    shops = collections.defaultdict(list)
    for (window, shop), r in revenue.items():
        shops[window].append((r, (shop, r)))
    w = lambda window: (show(window[0]), show(window[1]))
    return {
        'assign': [(n, show(ms), *w(tumble(ms, 10 * MINUTE)), show(tumble(ms, 10 * MINUTE)[1] - 1))
                   for n, _, _, ms in orders if n <= 20],
        'tumble': [(*w(window), shop, c, revenue[window, shop]) for (window, shop), c in count.items()],
        'hop': [(*w(window), c) for window, c in hops.items()],
        'cumulate': [(*w(window), r) for window, r in totals.items()],
        'session': sessions(orders, 5 * MINUTE),
        'top-shops': [(*w(window), *row, rank) for window, row, rank in best(shops, 2)],
        'top-orders': [(*row, *w(window), rank) for window, row, rank in best(half_hours, 3)],
    }


def report(rows):
    return {'orders': sum(r[3] for r in rows['tumble']), 'hop_assignments': sum(r[2] for r in rows['hop']),
            'cumulate_windows': len(rows['cumulate']), 'sessions': len(rows['session']),
            'max_session_orders': max(r[3] for r in rows['session'])}


class Checks:
    def __init__(self, binary):
        self.binary, self.passed, self.failed = binary, 0, 0

    def check(self, name, ok, why=''):
        self.passed += bool(ok); self.failed += not ok
        if not ok:
            print(f'FAIL {name}: {why}')

    def run(self, script, *options):
        return subprocess.run([self.binary, 'run', script, '--progress', 'never', *options], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=60)


def walk(c):
    """Runs the commands of examples/README.md as they stand there, but for the places."""
    block = [l.strip() for l in (ROOT / 'examples/README.md').read_text().splitlines() if l.startswith('    ')]
    with tempfile.TemporaryDirectory() as d:
        script = '\n'.join(f'{l}\necho "=> $?"' for l in block).replace('$PWD/build/tidemark', c.binary).replace('/tmp/bids', d + '/bids')
        p = subprocess.run(['bash', '-c', script], cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        steps = p.stdout.split('=> ')
        codes = [s.split('\n')[0] for s in steps[1:]]
        shown = [s.split('\n')[1:-1] for s in steps[1:]]
        c.check('the walk in examples/README.md', codes == ['0', '0', '0', '0', '0', '0', '0', '4', '0', '0'] and len(shown[1]) == 3 and
                len(shown[4]) == 6 and not os.path.exists(d + '/bids'), f'{codes} {p.stdout[-300:]} {p.stderr[-600:]}')


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument('--bin', default='build/tidemark'); ap.add_argument('--update', action='store_true')
    a = ap.parse_args()
    c = Checks(os.path.abspath(a.bin))
    if not os.access(a.bin, os.X_OK):
        print(f'{a.bin} is not there: ./dev build'); print('0 passed, 1 failed'); return 1
    for script in sorted((ROOT / 'examples').glob('*/*.sql')):
        if script.parent.name == 'demo' or script.name == 'job.sql':
            continue                                     # they write files: ./dev demo, the walk below
        name, p, shown = f'{script.parent.name}/{script.name}', c.run(script), script.with_suffix('.out')
        if a.update and p.returncode == 0:
            shown.write_text(p.stdout)
        c.check(name, p.returncode == 0, p.stderr.strip())
        c.check(f'{name} prints {shown.name}', shown.exists() and p.stdout == shown.read_text(), 'it prints something else')
    rows = answers()
    for name, want in rows.items():
        p = c.run(ORDERS / f'{name}.sql', '--output', 'tsv', '--no-header')
        got = sorted(p.stdout.strip('\n').split('\n'))
        expected = sorted('\t'.join(['+I', *map(str, r)]) for r in want)
        c.check(f'orders/{name}.sql against a plain computation', got == expected,
                f'{len(got)} rows, expected {len(expected)}; extra {sorted(set(got) - set(expected))[:2]}, missing {sorted(set(expected) - set(got))[:2]}')
    if a.update:
        (ORDERS / 'report.json').write_text(json.dumps(report(rows), indent=2) + '\n')
    with tempfile.TemporaryDirectory() as d:
        p = subprocess.run([ORDERS / 'report.sh', d], env={**os.environ, 'TIDEMARK': c.binary}, capture_output=True, text=True)
        written = pathlib.Path(d, 'report.json').read_text() if p.returncode == 0 else p.stderr
        c.check('orders/report.sh', written == (ORDERS / 'report.json').read_text(), written)
        c.check('orders/report.json', json.loads((ORDERS / 'report.json').read_text()) == report(rows), 'not what the rows say')
    walk(c)
    generated = subprocess.run([sys.executable, '-c', 'import make_orders\nfor o in make_orders.orders(): pass'], cwd=ORDERS)
    c.check('orders/make_orders.py runs', generated.returncode == 0)
    print(f'{c.passed} passed, {c.failed} failed')
    return c.failed != 0


if __name__ == '__main__':
    sys.exit(main())
