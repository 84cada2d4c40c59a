"""Makes random cases from (seed, number): a table with nasty data, a window query, and the cell of the coverage table it fills.

A case is a plain dict (so it can be written as JSON and minimised): columns, rows of CSV texts in arrival order, the stages
that model.py runs, and `meta` for coverage.py. `sql(case)` is its script, `write(case, folder)` the folder that Flink and
Tidemark run. Which window, shape, Top-N form and disorder a case has follows from its number alone, and the (aggregate, type)
pairs are dealt from a shuffled deck for each window, so that a fixed number of cases leaves no cell empty.
"""
import itertools, json, random
import values

WINDOWS = ['TUMBLE', 'HOP', 'CUMULATE', 'SESSION', 'legacy TUMBLE', 'legacy HOP', 'legacy SESSION']
SHAPES = ['agg', 'agg-topn', 'rows-topn', 'agg', 'join', 'sets', 'agg-topn', 'rows-topn', 'cascade', 'agg', 'rows-topn', 'join', 'bare', 'agg']
JOINS = ['INNER', 'LEFT', 'RIGHT', 'FULL', 'SEMI', 'ANTI']
FORMS = ['rn <= N', 'rn < N', 'rn = 1', 'rn = k', 'BETWEEN', 'N >= rn', 'not selected']
DEDUP = ['first by time', 'last by time']
MODES = ['ordered', 'ties', 'bounded', 'late', 'wild']
INTS = ['TINYINT', 'SMALLINT', 'INT', 'BIGINT']
DECIMALS = ['DECIMAL(5, 2)', 'DECIMAL(18, 6)', 'DECIMAL(38, 10)', 'DECIMAL(38, 0)']
FLOATS = ['FLOAT', 'DOUBLE']
OTHERS = ['STRING', 'BOOLEAN', 'DATE', 'TIMESTAMP(0)', 'TIMESTAMP(3)', 'TIMESTAMP(6)']
TYPES = INTS + DECIMALS + FLOATS + OTHERS
KEY_TYPES = ['STRING', 'INT', 'STRING', 'BIGINT', 'DATE', 'BOOLEAN', 'DECIMAL(10, 2)', 'TIMESTAMP(3)', 'SMALLINT']
NUMBERS = INTS + DECIMALS + FLOATS
AGGREGATES = {
    'COUNT(*)': ['*'], 'COUNT': TYPES, 'COUNT DISTINCT': TYPES, 'SUM': NUMBERS, 'SUM DISTINCT': INTS + DECIMALS, 'AVG': NUMBERS,
    'AVG DISTINCT': INTS + DECIMALS, 'MIN': TYPES, 'MAX': TYPES, 'LISTAGG': ['STRING'], 'FIRST_VALUE': TYPES,
    'LAST_VALUE': TYPES, 'STDDEV_POP': NUMBERS, 'STDDEV_SAMP': NUMBERS, 'VAR_POP': NUMBERS, 'VAR_SAMP': NUMBERS,
}
AGGREGATES_A_CASE = 6
UNITS_MS = [100, 250, 1000, 1000, 10_000, 60_000, 60_000, 3_600_000, 86_400_000]
STARTS = ['2023-03-03 10:00:00', '1970-01-01 00:00:00', '1969-07-20 20:17:00', '2038-01-19 03:14:00', '1999-12-31 23:59:00',
          '2024-02-28 23:00:00']


def cells(window):
    """The (aggregate, type) pairs that Flink accepts over a window."""
    for fn, types in AGGREGATES.items():
        if fn in ('FIRST_VALUE', 'LAST_VALUE') and 'TUMBLE' not in window or fn == 'SUM DISTINCT' and window == 'HOP':
            continue
        yield from ((fn, t) for t in types)


def shape_of(window, nth):
    shape = 'agg' if window.startswith('legacy') else SHAPES[nth % len(SHAPES)]
    return 'agg' if shape == 'sets' and window == 'SESSION' else shape


def interval(ms):
    for unit, name in ((86_400_000, 'DAY'), (3_600_000, 'HOUR'), (60_000, 'MINUTE')):
        if ms and ms % unit == 0:
            return f"INTERVAL '{ms // unit}' {name}" + ('(3)' if abs(ms) >= 100 * unit else '')
    if abs(ms) >= 100_000:
        return f"INTERVAL '{ms / 1000:g}' SECOND(3)"        # 999 s is the most
    return f"INTERVAL '{ms / 1000:g}' SECOND"


def pool(type_, rng, nasty):
    """A handful of CSV texts of a type: few, so that there are ties."""
    b = values.base(type_)
    if b in values.BITS:
        top = 1 << (values.BITS[b] - 1)
        return [str(x) for x in ([rng.choice([top - 1, -top, top // 2 + 1]), 0, -1] if nasty else []) + rng.sample(range(-9, 10), 4)]
    if b == 'DECIMAL':
        p, s = values.digits(type_)
        one = lambda: ''.join(rng.choice('0123456789') for _ in range(rng.randint(1, p - s))).lstrip('0') or '0'
        tail = lambda: '.' + ''.join(rng.choice('05') for _ in range(s)) if s else ''
        big = '9' * (p - s) + ('.' + '9' * s if s else '')
        return [rng.choice(['', '-']) + one() + tail() for _ in range(4)] + (['0', big, '-' + big][:rng.randint(1, 3)] if nasty else [])
    if b in FLOATS:
        plain = [str(rng.randint(-20, 20) / 4) for _ in range(4)]
        return plain + (rng.sample(['0.1', '0.3', '-0.0', 'NaN', 'Infinity', '1.5e-5', '1e7', '2.7'] + (['1e16', '-1e16'] if b == 'DOUBLE' else ['1e9', '-1e9']), 3) if nasty else [])
    if b == 'BOOLEAN':
        return ['true', 'false']
    if b == 'DATE':
        return rng.sample(['1969-12-31', '1970-01-01', '2000-02-29', '2023-03-03', '2023-03-04', '0001-01-01', '9999-12-31'], 4)
    if b == 'TIMESTAMP':
        part = ['.5', '.123456', '.000001', ''] if type_ == 'TIMESTAMP(6)' else ['.001', '.999', '.5', ''] if type_ == 'TIMESTAMP(3)' else ['']
        days = ['1969-12-31 23:59:59', '1970-01-01 00:00:00', '2023-03-03 10:00:00', '2023-03-03 10:00:01', '0001-01-01 00:00:00']
        return [rng.choice(days) + rng.choice(part) for _ in range(5)]
    tame = ['a', 'b', 'ab', 'c', 'B']
    wild = ['', ' ', 'a,b', 'say "x"', 'ä', 'Straße', '中文', '😀', '\uffee', 'a\tb', 'back\\slash', 'two\nlines', ' a', 'null']
    return rng.sample(tame, 4) + (rng.sample(wild, 3) if nasty else [])


class Maker:
    """Builds one case; every draw comes from its own generator."""
    def __init__(self, seed, number):
        self.rng = random.Random(f'{seed}/{number}')
        self.window = WINDOWS[number % len(WINDOWS)]
        self.nth, self.seed = number // len(WINDOWS), seed
        self.shape = shape_of(self.window, self.nth)
        turn = self.turn(self.shape) if self.shape.endswith('topn') else self.nth * 8
        self.mode = MODES[(turn + number % len(WINDOWS)) % len(MODES)]      # each Top-N form meets late rows in some window
        self.columns, self.pools, self.nulls = [['id', 'INT']], {}, {}
        self.kind = self.window.replace('legacy ', '')
        self.legacy = self.window.startswith('legacy')
        self.nasty = self.rng.random() < 0.5

    def turn(self, shape):
        """How many cases of this window had this shape before."""
        return sum(shape_of(self.window, n) == shape for n in range(self.nth))

    def column(self, name, type_, nasty=None, nulls=None):
        self.columns.append([name, type_])
        self.pools[name] = pool(type_, self.rng, self.nasty if nasty is None else nasty)
        self.nulls[name] = self.rng.choice([0, 0.1, 0.4]) if nulls is None else nulls
        return name

    def value_column(self, type_, nasty=None):
        """A column of the type; used again if there is one."""
        for name, t in self.columns[1:]:
            if t == type_ and name.startswith('v') and nasty is None:
                return name
        return self.column(f'v{sum(n[0] == "v" for n, _ in self.columns) + 1}', type_, nasty)

    def condition(self, name, type_):
        op = self.rng.choice(['=', '<>', '<', '<=', '>', '>=', '>', '<', 'IS NULL', 'IS NOT NULL'])
        return [name, op, None if 'NULL' in op else self.rng.choice(self.pools[name])]

    def dealt(self):
        """The pairs that this case covers, from the window's deck."""
        deck = list(cells(self.window))
        random.Random(f'{self.seed}/deck/{self.window}').shuffle(deck)
        if self.window == 'HOP':                # beside a STDDEV or VAR, AVG becomes SUM / COUNT, and HOP refuses SUM(DISTINCT)
            deck.sort(key=lambda c: (c[0] in values.VARIANCES) - (c[0] == 'AVG DISTINCT'))
        at = sum(shape_of(self.window, n) in ('agg', 'agg-topn', 'sets') for n in range(self.nth)) * AGGREGATES_A_CASE
        out = [deck[(at + i) % len(deck)] for i in range(AGGREGATES_A_CASE)]
        mixed = self.window == 'HOP' and any(f in values.VARIANCES for f, _ in out)
        return [c for c in out if not (mixed and c[0] == 'AVG DISTINCT')]

    def aggregates(self, pairs):
        out = []
        for n, (fn, type_) in enumerate(pairs, 1):
            arg = None if type_ == '*' else self.value_column(type_)
            a = {'fn': fn.split('(')[0].replace(' DISTINCT', ''), 'arg': arg, 'name': f'a{n}', 'distinct': 'DISTINCT' in fn}
            if fn == 'LISTAGG':
                a['separator'] = self.rng.choice([',', ',', '', '; ', '|'])
            if self.rng.random() < 0.25:
                a['filter'] = self.condition('f', 'INT')
            out.append(a)
        return out

    def window_stage(self, time='ts', unit=None, divisible=True):
        r, unit = self.rng, unit or self.unit
        stage = {'op': 'window', 'kind': self.kind, 'time': time, 'legacy': self.legacy, 'partition': []}
        if self.kind == 'SESSION':
            stage['gap'] = unit * r.randint(1, 3)
        elif self.kind == 'TUMBLE':
            stage['size'] = unit * r.choice([1, 1, 2, 5])
        else:
            stage['slide'] = unit * r.choice([1, 1, 2])
            stage['size'] = stage['slide'] * r.randint(1, 5)
            if not divisible and self.kind == 'HOP' and r.random() < 0.3:
                stage['size'] = unit * r.randint(1, 7)
        if self.kind != 'SESSION' and not self.legacy and r.random() < 0.25:
            part = max(unit // 4 // 50 * 50, 50)            # |offset| < size is asked for TUMBLE only
            most = stage['size'] // part - 1 if self.kind == 'TUMBLE' else 20
            stage['offset'] = part * r.randint(-most, most)
        return stage

    def times(self, window, count):
        """Event times in ms, in arrival order."""
        r, step = self.rng, window.get('slide') or window.get('size') or window['gap']
        starts = [s for s in STARTS if s > '1970-01-02'] if self.mode == 'late' else STARTS     # no watermark before 1970
        t = values.read_timestamp(r.choice(starts)) // 1_000_000
        tick = 1000 if self.time_type == 'TIMESTAMP(0)' else 1
        t += r.choice([0, 0, r.randint(0, step)])
        out = []
        for _ in range(count):
            out.append(t // tick * tick)
            roll = r.random()
            if roll < (0.7 if self.mode == 'ties' else 0.15):
                continue
            t += r.choice([1, step // 2, step - 1, step, step + 1]) if roll > 0.7 else r.randint(0, step)
            if r.random() < 0.05:
                t += step * r.randint(2, 6)
        if self.mode == 'bounded':
            out = [x for _, _, x in sorted((x + r.randint(0, max(self.delay - tick, 0)), i, x) for i, x in enumerate(out))]
        elif self.mode == 'late':
            spread = [(x + (r.randint(1, 4) * step + self.delay if r.random() < 0.25 else 0), i, x) for i, x in enumerate(out)]
            out = [x for _, _, x in sorted(spread)]
        elif self.mode == 'wild':
            r.shuffle(out)
        return out

    def data(self, window):
        count = self.rng.choice([1, 8, 20, 30, 30, 45, 60]) if self.rng.random() > 0.02 else 0
        rows = []
        for n, t in enumerate(self.times(window, count), 1):
            row = [str(n)]
            for name, _ in self.columns[1:-1]:
                row.append(None if self.rng.random() < self.nulls[name] else self.rng.choice(self.pools[name]))
            text = values.show_timestamp(t * 1_000_000, 0 if self.time_type == 'TIMESTAMP(0)' else 3)
            rows.append(row + [text + ('Z' if self.ltz else '')])
        return rows

    def order(self, names):
        r = self.rng
        return [[n, r.random() < 0.6, r.choice([None, None, 'FIRST', 'LAST'])] for n in names]

    def rank_stage(self, form, partition, order, names):
        r = self.rng
        n = r.randint(1, 4)
        low, high, text = {
            'rn <= N': (1, n, f'rn <= {n}'), 'rn < N': (1, n, f'rn < {n + 1}'), 'rn = 1': (1, 1, 'rn = 1'),
            'rn = k': (n + 1, n + 1, f'rn = {n + 1}'), 'BETWEEN': (n, n + 2, f'rn BETWEEN {n} AND {n + 2}'), 'N >= rn': (1, n, f'{n} >= rn'),
            'not selected': (1, n, f'rn <= {n}')}.get(form, (1, 1, r.choice(['rn = 1', 'rn <= 1'])))
        return {'op': 'rank', 'partition': partition, 'order': order, 'low': low, 'high': high, 'text': text, 'ltz': self.ltz,
                'dedup': form in DEDUP, 'select': names + ([] if form == 'not selected' else ['rn'])}

    def with_aggregates(self, window):
        keys = self.keys
        if self.kind == 'SESSION':
            window['partition'] = keys
        stage = {'op': 'aggregate', 'keys': keys, 'aggs': self.aggregates(self.dealt()), 'select': None}
        shown = ['window_start', 'window_end'] + keys
        if self.shape == 'sets' and keys:
            stage['form'] = self.rng.choice(['GROUPING SETS', 'ROLLUP', 'CUBE'])
            every = {'ROLLUP': [keys[:n] for n in range(len(keys), -1, -1)],
                     'CUBE': [keys, keys[:1], keys[1:], []] if len(keys) == 2 else [keys, []]}
            stage['sets'] = every.get(stage['form']) or self.rng.sample([keys, keys[:1], []] + ([keys[1:]] if len(keys) == 2 else []), 2)
            if set().union(*stage['sets']) != set(keys):
                stage['sets'][0] = keys         # GROUPING_ID takes only what some set has
            shown.append('gid')
        shown += [a['name'] for a in stage['aggs']]
        numbers = [a for a in stage['aggs'] if a['fn'] == 'COUNT']
        if numbers and self.rng.random() < 0.3:
            stage['having'] = [self.rng.choice(numbers)['name'], self.rng.choice(['>', '>=', '<']), str(self.rng.randint(0, 4))]
        if self.shape == 'agg':
            if self.rng.random() < 0.2:
                shown.insert(2, 'window_time')
            if self.rng.random() < 0.1:
                shown.remove('window_end')
        stage['select'] = shown
        out = [window, stage]
        if self.shape == 'agg-topn':
            turn = self.turn('agg-topn')
            self.form = FORMS[turn % len(FORMS)]
            types = dict((c[0], c[1]) for c in self.columns)
            calm = [a['name'] for a in stage['aggs'] if a['arg'] is None or a['fn'] == 'COUNT' or types[a['arg']] not in FLOATS]
            first = self.rng.sample(calm, min(len(calm), self.rng.randint(1, 2)))
            part = self.rng.sample(keys, self.rng.randint(0, len(keys))) if self.rng.random() < 0.5 else []
            out.append(self.rank_stage(self.form, part, self.order(first + [k for k in keys if k not in part]), shown))
            self.form = 'agg: ' + self.form
        return out

    def over_rows(self, window):
        if self.kind == 'SESSION':
            window['partition'] = self.keys
        names = ['id'] + self.keys + [n for n, _ in self.columns if n[0] == 'v'][:1] + ['window_start', 'window_end']
        turn = self.turn('rows-topn')
        form = (FORMS + DEDUP)[turn % len(FORMS + DEDUP)]
        order = self.order([self.value_column(self.rng.choice([t for t in TYPES if t not in FLOATS]), True)] + self.rng.choice([[], ['f'], ['id']]))
        if form in DEDUP:
            order = [['ts', form == 'last by time', None]]
        part = list(window['partition']) if self.kind == 'SESSION' else self.rng.sample(self.keys, self.rng.randint(0, len(self.keys)))
        names = names[:-2] + [c for c, _, _ in order if c not in names] + names[-2:]
        self.form = 'rows: ' + form
        return [window, self.rank_stage(form, part, order, names)]

    def cascade(self, window):
        keys, f = self.keys, 'f'
        if self.kind == 'SESSION':              # Flink writes a view's `PARTITION BY (k1, k2)` without the parentheses and cannot read it
            keys = keys[:1]
            window['partition'] = keys
        if self.rng.random() < 0.3:
            order = self.order([f]) + [['id', False, None]]
            inner = self.rank_stage('not selected', list(window['partition']), order, [[k, k] for k in keys] + [['f', 's'], ['window_time', 'rt']])
            args = ['s']
        else:
            v = self.value_column(self.rng.choice(DECIMALS + INTS))
            aggs = [{'fn': 'COUNT', 'arg': None, 'name': 'n'}, {'fn': 'SUM', 'arg': f, 'name': 's'}, {'fn': 'MAX', 'arg': v, 'name': 'm'}]
            inner = {'op': 'aggregate', 'keys': keys, 'aggs': aggs, 'select': keys + ['n', 's', 'm', ['window_time', 'rt']]}
            args = ['n', 's', 'm']
        second = self.window_stage('rt', self.unit * 2)
        outer_keys = keys[:self.rng.randint(0, len(keys))]
        if self.kind == 'SESSION':
            second['partition'] = outer_keys
        aggs = [{'fn': self.rng.choice(['SUM', 'MAX', 'MIN', 'COUNT', 'AVG']), 'arg': a, 'name': f'b{i}'} for i, a in enumerate(args)]
        outer = {'op': 'aggregate', 'keys': outer_keys, 'aggs': aggs, 'select': ['window_start', 'window_end'] + outer_keys + [a['name'] for a in aggs]}
        return [window, inner, second, outer]

    def join(self, window):
        """The table with itself, each side with a filter of its own."""
        if self.kind == 'SESSION':
            window['partition'] = self.keys
        form = JOINS[self.turn('join') % len(JOINS)]
        self.form = 'join: ' + form
        side = lambda: self.condition('f', 'INT') if self.rng.random() < 0.6 else None
        return [{'op': 'join', 'form': form, 'window': window, 'keys': self.keys, 'left': side(), 'right': side(),
                 'residual': self.rng.random() < 0.3, 'spelling': self.rng.random() < 0.5}]

    def bare(self, window):
        if self.kind == 'SESSION':
            window['partition'] = self.keys
        names = ['id'] + self.keys + ['ts', 'window_start', 'window_end', 'window_time']
        if self.turn('bare') % 2 and self.keys:
            return [window, {'op': 'aggregate', 'keys': self.keys, 'aggs': [], 'distinct': True,
                             'select': ['window_start', 'window_end'] + self.keys}]
        return [window, {'op': 'project', 'select': names}]

    def make(self, name):
        r = self.rng
        self.unit = r.choice(UNITS_MS)
        self.ltz = not self.legacy and r.random() < 0.12
        self.time_type = 'TIMESTAMP_LTZ(3)' if self.ltz else 'TIMESTAMP(0)' if self.unit >= 1000 and r.random() < 0.15 else 'TIMESTAMP(3)'
        self.form = 'none'
        self.column('f', 'INT', nasty=False)
        self.keys = [self.column(f'k{n + 1}', r.choice(KEY_TYPES)) for n in range(r.choice([0, 1, 1, 1, 2, 2]))]
        if self.shape == 'sets' and not self.keys:
            self.keys = [self.column('k1', 'STRING')]
        window = self.window_stage(divisible=self.shape not in ('rows-topn', 'bare') or self.turn('bare') % 2)
        base = window.get('size') or window['gap']
        self.delay = {'bounded': r.choice([base, base * 2]), 'late': r.choice([0, 0, base // 2])}.get(self.mode, r.choice([0, base // 2, base, 2 * base]))
        build = {'rows-topn': self.over_rows, 'cascade': self.cascade, 'join': self.join, 'bare': self.bare}.get(self.shape, self.with_aggregates)
        stages = build(window)
        if r.random() < 0.25 and self.shape != 'join':
            view = self.kind == 'SESSION' or r.random() < 0.5
            stages.insert(0, {'op': 'where', 'condition': self.condition('f', 'INT'), 'view': view})
        self.columns.append(['ts', self.time_type])
        rows = self.data(window)
        if self.shape == 'join':                # what a join of late rows gives depends on which input Flink reads first
            at = [values.read(self.time_type, row[-1]) // 1_000_000 for row in rows]
            behind = max([m - t for m, t in zip(itertools.accumulate(at, max), at)] or [0])
            self.delay = max(self.delay, (behind // base + 1) * base)
            if self.delay >= 999_000:           # seconds take three digits at most
                self.delay = -(-self.delay // 60_000) * 60_000
        last = stages[-1]
        covered = self.dealt() if self.shape in ('agg', 'agg-topn', 'sets') else []
        return {'name': name, 'columns': self.columns, 'rows': rows, 'delay_ms': self.delay,
                'interval_ms': r.choice([200] * 8 + [0, 1000]), 'zone': 'Asia/Kolkata' if self.ltz else None,
                'zone_ms': 19_800_000 if self.ltz else 0, 'stages': stages,
                'files': r.choice([1] * 6 + [2, 3]) if len(rows) > 4 else 1,
                'meta': {'window': self.window, 'shape': self.shape, 'form': self.form, 'mode': self.mode, 'cells': covered,
                         'nasty': self.nasty, 'ordered': last['op'] == 'rank'}}


def make(seed, number):
    return Maker(seed, number).make(f'{seed}-{number}')


# --- as SQL and files -------------------------------------------------------------------------------------------------

def literal(type_, text):
    b = values.base(type_)
    if b == 'STRING':
        return "'" + text.replace("'", "''") + "'"
    return f"{b} '{text}'" if b in ('DATE', 'TIMESTAMP') else text


def condition_sql(condition, types):
    name, op, text = condition
    return f'{name} {op}' if text is None else f'{name} {op} {literal(types.get(name, "INT"), text)}'


def tvf_sql(w, table):
    part = ''
    if w['kind'] == 'SESSION':
        if w['partition']:
            part = ' PARTITION BY ' + (w['partition'][0] if len(w['partition']) == 1 else '(' + ', '.join(w['partition']) + ')')
        sizes = [w['gap']]
    else:
        sizes = ([w['size']] if w['kind'] == 'TUMBLE' else [w['slide'], w['size']]) + ([w['offset']] if w.get('offset') else [])
    return f"TABLE({w['kind']}(TABLE {table}{part}, DESCRIPTOR({w['time']}), {', '.join(map(interval, sizes))}))"


def select_sql(select, names=None):
    pairs = [(s, s) if isinstance(s, str) else tuple(s) for s in select]
    out = [((names or {}).get(old, old), old, new) for old, new in pairs]
    return ', '.join(text if text == new else f'{text} AS {new}' for text, _, new in out)


def aggregate_sql(a, types):
    arg = '*' if a['arg'] is None else a['arg']
    text = f"{a['fn']}({'DISTINCT ' if a.get('distinct') else ''}{arg}"
    if a['fn'] == 'LISTAGG' and a['separator'] != ',':
        text += ", '" + a['separator'] + "'"
    return text + ')' + (f" FILTER (WHERE {condition_sql(a['filter'], types)})" if a.get('filter') else '')


def group_sql(w, st, table, condition, types):
    names = {a['name']: aggregate_sql(a, types) for a in st['aggs']}
    where = f'\nWHERE {condition_sql(condition, types)}' if condition else ''
    having = f"\nHAVING {names[st['having'][0]]} {' '.join(st['having'][1:])}" if st.get('having') else ''
    if w['legacy']:
        sizes = [w['gap']] if w['kind'] == 'SESSION' else [w['size']] if w['kind'] == 'TUMBLE' else [w['slide'], w['size']]
        args = '(' + ', '.join([w['time']] + [interval(s) for s in sizes]) + ')'
        for name, suffix in (('window_start', '_START'), ('window_end', '_END'), ('window_time', '_ROWTIME')):
            names[name] = w['kind'] + suffix + args
        return f"SELECT {select_sql(st['select'], names)}\nFROM {table}{where}\nGROUP BY {', '.join([w['kind'] + args] + st['keys'])}{having}"
    if st.get('distinct'):
        return f"SELECT DISTINCT {select_sql(st['select'])}\nFROM {tvf_sql(w, table)}{where}"
    by = ['window_start', 'window_end'] + (['window_time'] if any(s == 'window_time' or s[0] == 'window_time' for s in st['select']) else [])
    names['gid'] = f"GROUPING_ID({', '.join(st['keys'])})"
    if st.get('sets') is None:
        by += st['keys']
    elif st['form'] == 'GROUPING SETS':
        by.append('GROUPING SETS (' + ', '.join('(' + ', '.join(s) + ')' for s in st['sets']) + ')')
    else:
        by.append(st['form'] + ' (' + ', '.join(st['keys']) + ')')
    return f"SELECT {select_sql(st['select'], names)}\nFROM {tvf_sql(w, table)}{where}\nGROUP BY {', '.join(by)}{having}"


def rank_sql(st, source, condition, types):
    order = ', '.join(c + (' DESC' if d else ' ASC') + (f' NULLS {n}' if n else '') for c, d, n in st['order'])
    by = ', '.join(['window_start', 'window_end'] + st['partition'])
    where = f' WHERE {condition_sql(condition, types)}' if condition else ''
    return (f"SELECT {select_sql(st['select'])} FROM (\n  SELECT *, ROW_NUMBER() OVER (PARTITION BY {by} ORDER BY {order}) AS rn\n"
            f"  FROM {source}{where}\n) WHERE {st['text']}")


def join_sql(st, table, types):
    side = lambda c: f"(SELECT * FROM {tvf_sql(st['window'], table)}" + (f' WHERE {condition_sql(c, types)}' if c else '') + ')'
    equal = [f'l.{c} = r.{c}' for c in st['keys'] + ['window_start', 'window_end']] + (['l.f < r.f'] if st['residual'] else [])
    left = 'l.id AS lid, l.window_start, l.window_end' + ''.join(f', l.{k} AS l{k}' for k in st['keys'])
    if st['form'] in ('SEMI', 'ANTI'):
        if st['form'] == 'SEMI' and st['spelling'] and st['keys']:
            k, rest = st['keys'][0], ' AND '.join(equal[1:])
            return f"SELECT {left}\nFROM {side(st['left'])} l\nWHERE l.{k} IN (SELECT {k} FROM {side(st['right'])} r WHERE {rest})"
        no = 'NOT ' if st['form'] == 'ANTI' else ''
        return f"SELECT {left}\nFROM {side(st['left'])} l\nWHERE {no}EXISTS (SELECT 1 FROM {side(st['right'])} r WHERE {' AND '.join(equal)})"
    right = 'r.id AS rid, r.f AS rf, r.window_start AS rs' + ''.join(f', r.{k} AS r{k}' for k in st['keys'])
    return f"SELECT {left}, {right}\nFROM {side(st['left'])} l\n{st['form']} JOIN {side(st['right'])} r\nON {' AND '.join(equal)}"


def sql(case):
    types = {n: t for n, t in case['columns']}
    delay = f"ts - {interval(case['delay_ms'])}" if case['delay_ms'] else 'ts'
    out = []
    if case.get('batch'):
        out.append("SET 'execution.runtime-mode' = 'batch'")
    if case['interval_ms'] != 200:
        out.append(f"SET 'pipeline.auto-watermark-interval' = '{case['interval_ms']} ms'")
    if case['zone']:
        out.append(f"SET 'table.local-time-zone' = '{case['zone']}'")
    columns = ''.join(f'  {n} {t},\n' for n, t in case['columns'])
    path = 't.csv' if case['files'] == 1 else 'in'
    out.append(f"CREATE TABLE t (\n{columns}  WATERMARK FOR ts AS {delay}\n) WITH (\n  'connector' = 'filesystem',\n  'path' = '{path}',\n"
               "  'format' = 'csv',\n  'csv.null-literal' = 'NULL'\n)")
    table, current, source, condition, stages = 't', None, None, None, case['stages']
    for i, st in enumerate(stages):
        if st['op'] == 'where':
            if st['view']:
                out.append(f"CREATE VIEW f1 AS SELECT * FROM t WHERE {condition_sql(st['condition'], types)}"); table = 'f1'
            else:
                condition = st['condition']
        elif st['op'] == 'window':
            if current:
                out.append(f'CREATE VIEW w1 AS {current}'); table = 'w1'
            source, current = tvf_sql(st, table), None
        elif st['op'] == 'join':
            current = join_sql(st, table, types)
        elif st['op'] == 'aggregate':
            current, condition = group_sql(stages[i - 1], st, table, condition, types), None
        elif st['op'] == 'rank':
            current, condition = rank_sql(st, f'(\n{current}\n  )' if current else source, condition, types), None
        elif st['op'] == 'project':
            where = f'\nWHERE {condition_sql(condition, types)}' if condition else ''
            current = f"SELECT {select_sql(st['select'])}\nFROM {source}{where}"
    return ';\n'.join(out + [current]) + ';\n'


def csv_line(row):
    return ','.join('NULL' if v is None else '"' + v.replace('"', '""') + '"' if any(c in v for c in ',"\n\r') else v for v in row) + '\n'


def write(case, folder, one_file=False):
    """Flink reads the files of a folder in an order of its own, so it gets them as one."""
    case = dict(case, files=1) if one_file else case
    folder.mkdir(parents=True, exist_ok=True)
    (folder / 'query.sql').write_text(sql(case))
    lines, n = [csv_line(r) for r in case['rows']], case['files']
    if n == 1:
        (folder / 't.csv').write_text(''.join(lines))
    else:
        (folder / 'in').mkdir(exist_ok=True)
        for i in range(n):
            (folder / 'in' / f'part-{i}.csv').write_text(''.join(lines[len(lines) * i // n:len(lines) * (i + 1) // n]))


def to_json(case):
    return json.dumps(case, ensure_ascii=False, indent=1)
