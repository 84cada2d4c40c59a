"""The referee in plain Python: what Flink 2.3.0 gives for a generated case, written from Flink's rules and not from our C.

A case (generate.py) is a table, its rows in arrival order and a list of stages. Each stage takes a relation, i.e. columns and a
stream of events ('r', row) and ('w', watermark in ms), and gives one. The points that matter:
  watermark  looked at after every row, let out when it has moved by more than the interval since it was last let out
  late       a row is late for a window when watermark >= window_end - 1 ms; HOP and CUMULATE look at each window
  slices     HOP merges its slices newest first, CUMULATE into its first slice; a late row goes there too
  two phases partial accumulators are made ahead of the exchange and merged when a slice boundary passes
`dropped` in the result counts the rows that some window lost by being late.
"""
import values

FINAL = 1 << 62
MS = 1_000_000


class Relation:
    """Columns (name, type) and events; `late` counts what was dropped so far on the way."""
    def __init__(self, columns, events, late):
        self.columns, self.events, self.late = columns, events, late

    def index(self, name):
        return [n for n, _ in self.columns].index(name)

    def type(self, name):
        return self.columns[self.index(name)][1]


def source(case):
    columns = [tuple(c) for c in case['columns']]
    at = [n for n, _ in columns].index('ts')
    columns[at] = ('ts', columns[at][1].replace('(0)', '(3)') + ' *ROWTIME*')
    events, current, last = [], 0, 0            # Flink's assigner begins at 0, so no watermark leaves before 1970
    for texts in case['rows']:
        row = tuple(values.read(t, x) for (_, t), x in zip(case['columns'], texts))
        events.append(('r', row))
        current = max(current, row[at] // MS - case['delay_ms'])
        if current - last > case['interval_ms']:
            last = current
            events.append(('w', current))
    events.append(('w', FINAL))
    return Relation(columns, events, [0])


def holds(condition, relation, row):
    """A condition is [column, operator, value as CSV text]; unknown is not true."""
    name, op, text = condition
    v = row[relation.index(name)]
    if op in ('IS NULL', 'IS NOT NULL'):
        return (v is None) == (op == 'IS NULL')
    if v is None:
        return False
    a, b = values.sort_key(v), values.sort_key(values.read(relation.type(name).replace(' NOT NULL', ''), text))
    return {'=': a == b, '<>': a != b, '<': a < b, '<=': a <= b, '>': a > b, '>=': a >= b}[op]


def where(relation, condition):
    events = [e for e in relation.events if e[0] == 'w' or holds(condition, relation, e[1])]
    return Relation(relation.columns, events, relation.late)


class Windows:
    """The arithmetic of one window stage over its time column; all in ms of the session's wall clock."""
    def __init__(self, stage, relation, zone_ms):
        self.kind, self.size, self.slide = stage['kind'], stage.get('size'), stage.get('slide')
        self.offset, self.gap = stage.get('offset') or 0, stage.get('gap')
        self.at = relation.index(stage['time'])
        self.time_type = relation.columns[self.at][1].split(' ')[0]
        self.null = '' if stage.get('legacy') else ' NOT NULL'
        self.zone = zone_ms if self.time_type.startswith('TIMESTAMP_LTZ') else 0

    def time(self, row):
        return row[self.at] // MS + self.zone

    def fired(self, end, watermark):
        return watermark >= end - 1 - self.zone

    def floor(self, t, step):
        return (t - self.offset) // step * step + self.offset

    def of(self, t):
        """The windows of a time: HOP latest first, CUMULATE shortest first."""
        if self.kind == 'TUMBLE':
            start = self.floor(t, self.size)
            return [(start, start + self.size)]
        if self.kind == 'HOP':
            start, out = self.floor(t, self.slide), []
            while start > t - self.size:
                out.append((start, start + self.size)); start -= self.slide
            return out
        start = self.floor(t, self.size)
        return [(start, e) for e in range(start + self.slide, start + self.size + 1, self.slide) if e > t]

    def slice_end(self, t):
        step = self.size if self.kind == 'TUMBLE' else self.slide
        return self.floor(t, step) + step

    def ends_of_slice(self, slice_end):
        if self.kind == 'TUMBLE':
            return [slice_end]
        if self.kind == 'HOP':
            return list(range(slice_end, slice_end + self.size, self.slide))
        first = self.floor(slice_end - 1, self.size)
        return list(range(slice_end, first + self.size + 1, self.slide))

    def start_of(self, end):
        return self.floor(end - 1, self.size) if self.kind == 'CUMULATE' else end - self.size

    def columns(self):
        return [('window_start', 'TIMESTAMP(3) NOT NULL'), ('window_end', 'TIMESTAMP(3) NOT NULL'),
                ('window_time', f'{self.time_type}{self.null} *ROWTIME*')]

    def row(self, start, end):
        return (start * MS, end * MS, (end - 1 - self.zone) * MS)


def window_tvf(relation, stage, zone_ms):
    w = Windows(stage, relation, zone_ms)
    columns = relation.columns + w.columns()
    if w.kind == 'SESSION':
        at = [relation.index(k) for k in stage['partition']]
        pick = lambda row: [(0, tuple(row[i] for i in at))]
        events = sessions(relation, w, pick, lambda: [], lambda acc, row: acc.append(row), lambda acc, other: acc.extend(other))
        out = []
        for e in events:
            out += [e] if e[0] == 'w' else [('r', row + w.row(e[2], e[3])) for row in e[4]]
        return Relation(columns, out, relation.late)
    out = []
    for kind, x in relation.events:
        out += [(kind, x)] if kind == 'w' else [('r', x + w.row(*window)) for window in w.of(w.time(x))]
    return Relation(columns, out, relation.late)


def sessions(relation, w, keys_of, new, add, merge):
    """Events ('w', ms) and ('s', key, start, end, accumulator) in the order of the session ends."""
    states, out, watermark = {}, [], None
    for kind, x in relation.events:
        if kind == 'w':
            watermark = x
            ready = [(end, start, k) for k, l in states.items() for start, end, _ in l if w.fired(end, x)]
            for end, start, k in sorted(ready, key=lambda r: r[:2]):
                at = next(i for i, s in enumerate(states[k]) if s[1] == end)
                out.append(('s', k, start, end, states[k].pop(at)[2]))
            out.append(('w', x))
            continue
        t = w.time(x)
        for k in keys_of(x):
            mine = states.setdefault(k, [])
            near = sorted((s for s in mine if s[0] <= t + w.gap and s[1] >= t), key=lambda s: s[0])
            start, end = min([t] + [s[0] for s in near]), max([t + w.gap] + [s[1] for s in near])
            if watermark is not None and w.fired(end, watermark):
                relation.late[0] += 1
                continue
            acc = new()
            for s in merge_order(near):
                merge(acc, s[2]); mine.remove(s)
            add(acc, x)
            mine.append((start, end, acc))
    return out


def window_hash(start, end):
    """TimeWindow.hashCode of Flink, as the bucket of a small HashSet."""
    x = (2 * end + 1) & 0xffffffff
    inverse = x ** 3 & 0xffffffff
    for _ in range(3):
        inverse = inverse * (2 - x * inverse) & 0xffffffff
    code = (start + inverse) & 0xffffffff
    return (code ^ code >> 16) & 15


def merge_order(near):
    """A row that joins two sessions: Flink takes them out of a HashSet, into which the later one went first."""
    if len(near) < 2:
        return near
    return sorted(near[::-1], key=lambda s: window_hash(s[0], s[1]))


class Aggregation:
    """The keys, grouping sets and aggregates of one stage."""
    def __init__(self, relation, stage):
        self.relation, self.keys, self.sets = relation, stage['keys'], stage.get('sets')
        self.at = [relation.index(k) for k in self.keys]
        self.aggs = stage['aggs']
        self.fns, self.args, self.filters = [], [], []
        fns = [(a['fn'], a.get('distinct', False)) for a in self.aggs]
        reduced = None
        if any(f in values.VARIANCES for f, _ in fns):
            reduced = 'SUM' if ('SUM', False) in fns else 'AVG'
        for a in self.aggs:
            i = None if a['arg'] is None else relation.index(a['arg'])
            self.args.append(i)
            self.fns.append(values.aggregate(a['fn'], 'BIGINT' if i is None else relation.columns[i][1].replace(' NOT NULL', ''),
                                             a.get('distinct', False), a.get('separator', ','), reduced))
            self.filters.append(a.get('filter'))
        self.mergeable = not any(a['fn'] in ('FIRST_VALUE', 'LAST_VALUE') for a in self.aggs)

    def keys_of(self, row):
        """(set number, key values) for each grouping set."""
        key = tuple(row[i] for i in self.at)
        if self.sets is None:
            return [(0, key)]
        return [(n, tuple(v if k in s else None for k, v in zip(self.keys, key))) for n, s in enumerate(self.sets)]

    def new(self):
        return [f.new() for f in self.fns]

    def add(self, acc, row):
        for f, a, i, condition in zip(self.fns, acc, self.args, self.filters):
            if condition is None or holds(condition, self.relation, row):
                f.add(a, 1 if i is None else row[i])

    def merge(self, acc, other):
        for f, a, b in zip(self.fns, acc, other):
            f.merge(a, b)

    def value(self, acc):
        return tuple(f.value(a) for f, a in zip(self.fns, acc))

    def null_of(self, agg):
        """An aggregate of a NOT NULL column is NOT NULL itself."""
        plain = agg['arg'] and not agg.get('filter') and agg['fn'] != 'COUNT'
        return ' NOT NULL' if plain and self.relation.type(agg['arg']).endswith(' NOT NULL') else ''

    def gid(self, n):
        bits = ''.join('0' if self.sets is None or k in self.sets[n] else '1' for k in self.keys)
        return int(bits or '0', 2)


class Slices:
    """Window aggregation over TUMBLE, HOP and CUMULATE: Flink's local and global operator, or the global one alone."""
    def __init__(self, w, aggregation, late, two_phases):
        self.w, self.a, self.late, self.two_phases = w, aggregation, late, two_phases and aggregation.mergeable
        self.local, self.oldest, self.trigger = {}, None, 0
        self.state, self.pending, self.watermark = {}, {}, None

    def put(self, key, slice_end, acc, weight):
        """One partial accumulator (or a row's own) arrives at the global operator."""
        ends, target = self.w.ends_of_slice(slice_end), slice_end
        if self.watermark is not None and self.w.fired(slice_end, self.watermark):
            ends = [e for e in ends if not self.w.fired(e, self.watermark)]
            if not ends:
                self.late[0] += weight
                return None
            if self.w.kind == 'CUMULATE':
                target = self.w.floor(slice_end - 1, self.w.size) + self.w.slide
        for e in ends:
            self.pending.setdefault(e, set()).add(key)
        slices = self.state.setdefault(key, {})
        if target not in slices:
            slices[target] = self.a.new()
        return slices[target]

    def row(self, row):
        slice_end = self.w.slice_end(self.w.time(row))
        for key in self.a.keys_of(row):
            if self.two_phases:
                acc = self.local.setdefault((key, slice_end), [self.a.new(), 0])
                self.a.add(acc[0], row); acc[1] += 1
                self.oldest = slice_end if self.oldest is None else min(self.oldest, slice_end)
            else:
                acc = self.put(key, slice_end, None, 1)
                if acc is not None:
                    self.a.add(acc, row)

    def flush(self, watermark):
        """The local operator lets go of its partials when the oldest slice is done. It looks when a multiple of the slide has
        passed in UTC, even if the windows are cut in another zone: then the global one has fired without them."""
        if watermark < self.trigger:
            return
        step = self.w.slide or self.w.size
        start = (watermark - self.w.offset) // step * step + self.w.offset
        self.trigger = start + step - 1 if start + step - 1 > watermark else start + 2 * step - 1
        if self.oldest is None or not self.w.fired(self.oldest, watermark):
            return
        for (key, slice_end), (acc, n) in self.local.items():
            target = self.put(key, slice_end, acc, n)
            if target is not None:
                self.a.merge(target, acc)
        self.local, self.oldest = {}, None

    def fire(self, watermark):
        """-> [(start, end, key, accumulator)] of the windows that are done, by end."""
        self.flush(watermark)
        self.watermark, out = watermark, []
        for end in sorted(e for e in self.pending if self.w.fired(e, watermark)):
            for key in sorted(self.pending.pop(end), key=lambda k: (k[0], [values.sort_key(v) for v in k[1]])):
                out.append((self.w.start_of(end), end, key, self.window(self.state[key], end)))
        return out

    def window(self, slices, end):
        if self.w.kind == 'TUMBLE':
            return slices.pop(end)
        if self.w.kind == 'HOP':
            acc = self.a.new()
            for s in range(end, end - self.w.size, -self.w.slide):
                if s in slices:
                    self.a.merge(acc, slices[s])
            slices.pop(end - self.w.size + self.w.slide, None)
            return acc
        first = self.w.start_of(end) + self.w.slide
        acc = slices.setdefault(first, self.a.new())
        if end != first and end in slices:
            self.a.merge(acc, slices.pop(end))
        return copy_of(acc)


def copy_of(acc):
    return [([dict(p) if isinstance(p, dict) else list(p) if isinstance(p, list) else p for p in a]) for a in acc]


def panes(relation, w, a):
    """The legacy operator: an accumulator for each pane of a HOP (a TUMBLE is one), merged oldest first."""
    state, pending, out, watermark = {}, set(), [], None
    for kind, x in relation.events:
        if kind == 'r':
            slice_end = w.slice_end(w.time(x))
            ends = [e for e in w.ends_of_slice(slice_end) if watermark is None or not w.fired(e, watermark)]
            relation.late[0] += not ends
            for key in a.keys_of(x) if ends else []:
                pending.update((e, key) for e in ends)
                a.add(state.setdefault((slice_end, key), a.new()), x)
            continue
        watermark = x
        for end, key in sorted((p for p in pending if w.fired(p[0], x)), key=lambda p: p[0]):
            pending.discard((end, key))
            parts = [state[e, key] for e in range(end - w.size + (w.slide or w.size), end + 1, w.slide or w.size) if (e, key) in state]
            acc = parts[0] if w.kind == 'TUMBLE' else a.new()
            for part in parts if w.kind == 'HOP' else []:
                a.merge(acc, part)
            out.append(('s', key, end - w.size, end, copy_of(acc)))
        out.append(('w', x))
    return out


def aggregate(relation, window, stage, zone_ms, flink):
    w, a = Windows(window, relation, zone_ms), Aggregation(relation, stage)
    if w.kind == 'SESSION':
        fired = sessions(relation, w, a.keys_of, a.new, a.add, a.merge)
    elif window.get('legacy'):
        fired = panes(relation, w, a)
    else:
        fired, slices = [], Slices(w, a, relation.late, flink)
        for kind, x in relation.events:
            if kind == 'r':
                slices.row(x)
            else:
                fired += [('s', key, start, end, acc) for start, end, key, acc in slices.fire(x)] + [('w', x)]
    columns = w.columns() + [(k, relation.type(k)) for k in stage['keys']] + [('gid', 'BIGINT NOT NULL')]
    columns += [(g['name'], f.type + a.null_of(g)) for g, f in zip(stage['aggs'], a.fns)]
    events = [e if e[0] == 'w' else ('r', w.row(e[2], e[3]) + e[1][1] + (a.gid(e[1][0]),) + a.value(e[4])) for e in fired]
    out = Relation(columns, events, relation.late)
    if stage.get('having'):
        out = where(out, stage['having'])
    return project(out, stage['select'])


def project(relation, select):
    """select: names, or [name, new name]"""
    pairs = [(s, s) if isinstance(s, str) else tuple(s) for s in select]
    at = [relation.index(old) for old, _ in pairs]
    columns = [(new, relation.columns[i][1]) for i, (_, new) in zip(at, pairs)]
    events = [e if e[0] == 'w' else ('r', tuple(e[1][i] for i in at)) for e in relation.events]
    return Relation(columns, events, relation.late)


def ranked(rows, order):
    """order: [index, descending, nulls 'FIRST' | 'LAST' | None]; ties keep arrival order."""
    for i, descending, nulls in reversed(order):
        first = (nulls == 'FIRST') if nulls else not descending
        rows = sorted(rows, key=lambda r: values.sort_key(r[i]), reverse=descending)
        rows = sorted(rows, key=lambda r: (r[i] is None) != first)
    return rows


def rank(relation, stage, zone_ms, flink):
    start, end = relation.index('window_start'), relation.index('window_end')
    at = [relation.index(k) for k in stage['partition']]
    order = [(relation.index(c), d, n) for c, d, n in stage['order']]
    zone = zone_ms if stage.get('ltz') else 0
    state, out, watermark = {}, [], None
    for kind, x in relation.events:
        if kind == 'r':
            if watermark is not None and watermark >= x[end] // MS - 1 - zone:
                relation.late[0] += 1
                continue
            # Flink tells windows apart by their end only: sessions that end together are ranked together
            state.setdefault((x[end], 0 if flink else x[start], tuple(x[i] for i in at)), []).append(x)
            continue
        watermark = x
        ready = [k for k in state if x >= k[0] // MS - 1 - zone]
        for k in sorted(ready, key=lambda k: (k[0], k[1], [values.sort_key(v) for v in k[2]])):
            rows = state.pop(k)
            if stage.get('dedup') and order[0][1]:
                rows = rows[::-1]               # the last arrival among equal times is kept
            for n, row in enumerate(ranked(rows, order), 1):
                if stage['low'] <= n <= stage['high']:
                    out.append(('r', row + (n,)))
        out.append(('w', x))
    ranked_ = Relation(relation.columns + [('rn', 'BIGINT NOT NULL')], out, relation.late)
    return project(ranked_, stage['select'])


def join(relation, stage, zone_ms):
    """The window join of the relation with itself; NULL keys match nothing."""
    tvf = window_tvf(relation, stage['window'], zone_ms)
    sides, keys = [], stage['keys']
    columns = [('id', tvf.type('id'))] + [(c, tvf.type(c)) for c in ['window_start', 'window_end']] + [(k, tvf.type(k)) for k in keys]
    end, zone = tvf.index('window_end'), zone_ms if tvf.type('window_time').startswith('TIMESTAMP_LTZ') else 0
    for condition in (stage['left'], stage['right']):
        rows, watermark = [], None
        for kind, x in tvf.events:
            if kind == 'w':
                watermark = x
            elif condition is None or holds(condition, tvf, x):
                if watermark is not None and watermark >= x[end] // MS - 1 - zone:
                    relation.late[0] += 1
                else:
                    rows.append(x)
        sides.append(rows)
    at, f = [tvf.index(c) for c in ['window_start', 'window_end'] + keys], tvf.index('f')

    def match(l, r):
        return all(l[i] is not None and l[i] == r[i] for i in at) and \
            not (stage['residual'] and not (l[f] is not None and r[f] is not None and l[f] < r[f]))

    left = [tvf.index(n) for n, _ in columns]
    right = [tvf.index(n) for n in ['id', 'f', 'window_start'] + keys]
    pick = lambda row, where_: tuple(None if row is None else row[i] for i in where_)
    form, out, used = stage['form'], [], set()
    for l in sides[0]:
        found = [r for r in sides[1] if match(l, r)]
        used.update(id(r) for r in found)
        if form in ('SEMI', 'ANTI'):
            out += [pick(l, left)] if bool(found) == (form == 'SEMI') else []
            continue
        out += [pick(l, left) + pick(r, right) for r in (found or ([None] if form in ('LEFT', 'FULL') else []))]
    if form in ('RIGHT', 'FULL'):
        out += [pick(None, left) + pick(r, right) for r in sides[1] if id(r) not in used]
    bare = lambda t: t.replace(' NOT NULL', '')
    names = [('lid', columns[0][1])] + columns[1:3] + [('l' + k, t) for k, t in columns[3:]]
    if form in ('RIGHT', 'FULL'):
        names = [(n, bare(t)) for n, t in names]
    if form not in ('SEMI', 'ANTI'):
        more = [('rid', tvf.type('id')), ('rf', tvf.type('f')), ('rs', columns[1][1])] + [('r' + k, t) for k, t in columns[3:]]
        names += [(n, bare(t)) for n, t in more] if form in ('LEFT', 'FULL') else more
    out.sort(key=lambda row: values.sort_key(row[2]))
    return Relation(names, [('r', row) for row in out] + [('w', FINAL)], relation.late)


def run(case, flink=False):
    """-> {'names', 'types', 'rows' of display strings, 'order', 'late', 'disorder'}. flink: also what Flink's two phases do:
    partial sums in floating point, and rows lost where a zone's windows do not end at multiples of their size in UTC; and sessions
    with the same end ranked as one window."""
    relation = source(case)
    zone, stages = case.get('zone_ms', 0), case['stages']
    times = [e[1][relation.index('ts')] for e in relation.events if e[0] == 'r']
    disorder = any(b < a for a, b in zip(times, times[1:]))
    i = 0
    while i < len(stages):
        stage = stages[i]
        if stage['op'] == 'where':
            relation = where(relation, stage['condition'])
        elif stage['op'] == 'window' and i + 1 < len(stages) and stages[i + 1]['op'] == 'aggregate':
            relation = aggregate(relation, stage, stages[i + 1], zone, flink); i += 1
        elif stage['op'] == 'window':
            relation = window_tvf(relation, stage, zone)
        elif stage['op'] == 'join':
            relation = join(relation, stage, zone)
        elif stage['op'] == 'rank':
            relation = rank(relation, stage, zone, flink)
        elif stage['op'] == 'project':
            relation = project(relation, stage['select'])
        i += 1
    types = [t for _, t in relation.columns]
    rows = [tuple(values.show(t, v, zone * MS) for t, v in zip(types, x)) for kind, x in relation.events if kind == 'r']
    names = [n for n, _ in relation.columns]
    order = 'time window_end' if 'window_end' in names and stages[-1].get('form') not in ('RIGHT', 'FULL') else 'any'
    if [s['op'] for s in stages if s['op'] != 'where'][:2] in (['window'], ['window', 'project']) and stages[-1]['op'] != 'rank':
        order = order if any(s.get('kind') == 'SESSION' for s in stages) else 'time'
    return {'names': names, 'types': types, 'rows': [('+I',) + r for r in rows], 'order': order,
            'late': relation.late[0], 'disorder': disorder}
