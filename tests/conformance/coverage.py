"""The coverage table of the generated cases: window x aggregate x type, and each of window, aggregate, type and Top-N form with
late rows and disorder. A cell that Flink refuses is not in it. `report` prints the table and gives the empty cells.

usage: coverage.py [SEED [CASES]]  (counts without running anything)
"""
import collections, sys
import generate, model

CASES = 420                             # what CI runs; leaves no cell empty
FORMS = ['agg: ' + f for f in generate.FORMS] + ['rows: ' + f for f in generate.FORMS + generate.DEDUP] + ['join: ' + f for f in generate.JOINS]


def conditions(done):
    """Late is: some window lost a row; disorder: some row came after one with a later time."""
    return ['late' if done.late else 'in time', 'disorder' if done.disorder else 'order']


def wanted():
    """All cells, as tuples whose first part names the table."""
    states = ['late', 'in time', 'disorder', 'order']
    for w in generate.WINDOWS:
        yield from (('window x aggregate x type', w, fn, t) for fn, t in generate.cells(w))
        yield from (('window x state', w, s) for s in states)
        if not w.startswith('legacy'):
            yield from (('window x form', w, f) for f in FORMS)
    for fn, types in generate.AGGREGATES.items():
        yield from (('aggregate x state', fn, s) for s in states)
    yield from (('type x state', t, s) for t in generate.TYPES for s in states)
    yield from (('form x state', f, s) for f in FORMS for s in states if not (f.startswith('join') and s == 'late'))


def filled(done):
    m = done.case['meta']
    for fn, t in m['cells']:
        yield ('window x aggregate x type', m['window'], fn, t)
        for s in conditions(done):
            yield ('aggregate x state', fn, s)
            yield ('type x state', t, s)
    for s in conditions(done):
        yield ('window x state', m['window'], s)
        yield ('form x state', m['form'], s)
    yield ('window x form', m['window'], m['form'])


def count(checked):
    cells = collections.Counter({c: 0 for c in wanted()})
    for done in checked:
        for cell in filled(done):
            if cell in cells:
                cells[cell] += 1
    return cells


def grid(title, rows, columns, value):
    print(f'\n{title}')
    widths = [max(len(str(c)), 4) for c in columns]
    first = max(len(r) for r in rows)
    print(' ' * first, *(str(c).rjust(w) for c, w in zip(columns, widths)))
    for r in rows:
        print(r.ljust(first), *(str(value(r, c)).rjust(w) for c, w in zip(columns, widths)))


def show(cells):
    states = ['late', 'in time', 'disorder', 'order']
    for w in generate.WINDOWS:
        short = [t.replace('TIMESTAMP', 'TS').replace('DECIMAL', 'DEC').replace(' ', '') for t in generate.TYPES]
        names = dict(zip(short, generate.TYPES))
        grid(f'{w}: aggregate x type', list(generate.AGGREGATES), ['*'] + short,
             lambda r, c: cells.get(('window x aggregate x type', w, r, names.get(c, c)), '-'))
    windows = [w for w in generate.WINDOWS if not w.startswith('legacy')]
    grid('Top-N or join form x window', FORMS, windows, lambda r, c: cells[('window x form', c, r)])
    grid('window x state', generate.WINDOWS, states, lambda r, c: cells[('window x state', r, c)])
    grid('aggregate x state', list(generate.AGGREGATES), states, lambda r, c: cells[('aggregate x state', r, c)])
    grid('type x state', generate.TYPES, states, lambda r, c: cells[('type x state', r, c)])
    grid('Top-N or join form x state', FORMS, states, lambda r, c: cells.get(('form x state', r, c), '-'))


def report(checked, print_it):
    """-> one line for each empty cell"""
    cells = count(checked)
    empty = [c for c, n in cells.items() if n == 0]
    if print_it:
        show(cells)
    print(f'coverage: {len(cells) - len(empty)} of {len(cells)} cells')
    return ['empty cell: ' + ', '.join(c) for c in empty]


class Counted:
    def __init__(self, case):
        self.case, result = case, model.run(case)
        self.late, self.disorder = result['late'], result['disorder']


if __name__ == '__main__':
    seed, cases = (sys.argv[1:] + ['1', str(CASES)][len(sys.argv) - 1:])[:2]
    missing = report([Counted(generate.make(seed, n)) for n in range(int(cases))], True)
    print('\n'.join(missing))
    sys.exit(len(missing) != 0)
