"""The second referee: DuckDB computes what a generated case must give. It translates the case's stages, not its SQL text.

Values go in as model.py has them (DECIMAL as unscaled HUGEINT, times as integers), so DuckDB checks windows, grouping sets,
aggregates, filters and ranks with code that shares nothing with ours; the watermark before each row is counted here. What DuckDB
does otherwise than Flink by nature is left out, column by column: floating point is compared to 9 digits, MIN and MAX with NaN, sums
that overflow 128 bits and sessions that a late row comes near are not compared (`skipped` counts those cases).
"""
import collections, math
import duckdb
import values

MS = 1_000_000
skipped = collections.Counter()


class Skip(Exception):
    """DuckDB has no word on this case."""


def storage(type_):
    b = values.base(type_)
    return {'FLOAT': 'FLOAT', 'DOUBLE': 'DOUBLE', 'STRING': 'VARCHAR', 'BOOLEAN': 'BOOLEAN'}.get(b, 'HUGEINT')


def watermarks(case):
    """The watermark in force when each row arrives."""
    at, out, seen, sent = [n for n, _ in case['columns']].index('ts'), [], 0, None
    for row in case['rows']:
        out.append(sent)
        t = values.read(case['columns'][at][1], row[at]) // MS
        seen = max(seen, t - case['delay_ms'])
        if seen - (sent or 0) > case['interval_ms']:
            sent = seen
    return out


def load(connection, case):
    columns = ', '.join(f'"{n}" {storage(t)}' for n, t in case['columns'])
    connection.execute(f'CREATE TABLE source ({columns}, n BIGINT, wm BIGINT)')
    rows = [[values.read(t, x) for (_, t), x in zip(case['columns'], row)] + [i, w]
            for i, (row, w) in enumerate(zip(case['rows'], watermarks(case)))]
    if rows:
        connection.executemany(f'INSERT INTO source VALUES ({", ".join("?" * len(rows[0]))})', rows)


def literal(type_, text):
    v = values.read(type_, text)
    return "'" + v.replace("'", "''") + "'" if isinstance(v, str) else str(v)


def condition_sql(condition, types):
    name, op, text = condition
    return f'"{name}" {op}' if text is None else f'"{name}" {op} {literal(types[name], text)}'


class Query:
    """Grows CTEs; `columns` name -> Flink type of the relation reached so far."""
    def __init__(self, case):
        self.case, self.ctes, self.columns = case, [], {n: t.replace('(0)', '(3)') if n == 'ts' else t for n, t in case['columns']}
        self.check_late = None
        self.at = {n: i for i, (n, _) in enumerate(case['columns'])}
        self.now, self.zone, self.dead = 'source', case.get('zone_ms', 0), set()

    def add(self, sql):
        self.now = f's{len(self.ctes)}'
        self.ctes.append(f'{self.now} AS ({sql})')

    def text(self, select):
        return (f'WITH {", ".join(self.ctes)} ' if self.ctes else '') + select

    def windows(self, w):
        """Adds window_start, window_end (ms of the wall clock) and drops what is late for its window."""
        t = f'(("{w["time"]}" // {MS})::BIGINT + {self.zone})'
        if w['kind'] == 'SESSION':
            return self.sessions(w, t)
        size, step, off = w['size'], w.get('slide') or w['size'], w.get('offset') or 0
        floor = lambda by: f'({t} - {off} - ((({t} - {off}) % {by}) + {by}) % {by} + {off})'
        if w['kind'] == 'TUMBLE':
            self.add(f'SELECT *, {floor(size)} AS ws, {floor(size)} + {size} AS we, {floor(step)} AS slice FROM {self.now}')
        elif w['kind'] == 'HOP':
            self.add(f'SELECT *, ws + {size} AS we FROM (SELECT *, {floor(step)} - i * {step} AS ws, {floor(step)} AS slice, {t} AS t '
                     f'FROM {self.now}, range({-(-size // step)}) r(i)) WHERE ws > t - {size}')
        else:
            self.add(f'SELECT * FROM (SELECT *, {floor(size)} AS ws, {floor(size)} + (i + 1) * {step} AS we, {floor(step)} AS slice, {t} AS t '
                     f'FROM {self.now}, range({size // step}) r(i)) WHERE we > t')
        self.close_windows(w)

    def sessions(self, w, t):
        part = ', '.join(f'"{k}"' for k in w['partition'] or w.get('keys', []))
        by = f'PARTITION BY {part} ' if part else ''
        self.add(f'SELECT *, {t} AS t FROM {self.now}')
        self.add(f'SELECT *, CASE WHEN t - lag(t) OVER ({by}ORDER BY t, n) <= {w["gap"]} THEN 0 ELSE 1 END AS first FROM {self.now}')
        self.add(f'SELECT *, sum(first) OVER ({by}ORDER BY t, n) AS island FROM {self.now}')
        window = f'OVER (PARTITION BY {part + ", " if part else ""}island)'
        self.add(f'SELECT *, min(t) {window} AS ws, max(t) {window} + {w["gap"]} AS we, 0 AS slice FROM {self.now}')
        # a row that comes when a part of its island may have fired: arrival decides, not SQL
        self.check_late = f'SELECT count(*) FROM {self.now} WHERE wm IS NOT NULL AND wm + {self.zone} + 1 >= t'
        self.close_windows(w, keep=True)

    def close_windows(self, w, keep=False):
        late = '' if keep else f' WHERE wm IS NULL OR wm < we - 1 - {self.zone}'
        self.add(f'SELECT * EXCLUDE (ws, we), ws::HUGEINT * {MS} AS window_start, we::HUGEINT * {MS} AS window_end, '
                 f'(we - 1 - {self.zone})::HUGEINT * {MS} AS window_time FROM {self.now}{late}')
        self.columns.update(window_start='TIMESTAMP(3)', window_end='TIMESTAMP(3)', window_time=self.columns[w['time']])

    def aggregate_sql(self, a, w, reduced):
        type_ = self.columns.get(a['arg'], 'BIGINT').replace(' NOT NULL', '')
        x, b, out = f'"{a["arg"]}"', values.base(type_), None
        where = [condition_sql(a['filter'], self.columns)] if a.get('filter') else []
        distinct = 'DISTINCT ' if a.get('distinct') else ''
        over = lambda call, more=(): call + (f' FILTER (WHERE {" AND ".join(where + list(more))})' if where or more else '')
        if a['arg'] is None:
            return over('count(*)'), 'BIGINT'
        if a['fn'] == 'COUNT':
            return over(f'count({distinct}{x})'), 'BIGINT'
        if b in ('FLOAT', 'DOUBLE') and (a['fn'] in ('MIN', 'MAX') or distinct):
            self.dead.add(a['name'])        # NaN, -0.0
        if a['fn'] in ('SUM', 'AVG'):
            total, n = over(f'sum({distinct}{x})'), over(f'count({distinct}{x})')
            if b in ('FLOAT', 'DOUBLE'):
                return over(f'{a["fn"].lower()}({x}::DOUBLE)'), type_
            if b == 'DECIMAL':
                if any(len(row[self.at[a['arg']]] or '') > 36 for row in self.case['rows'] if a['arg'] in self.at):
                    self.dead.add(a['name'])    # the sum may pass 38 digits
                scale = values.digits(type_)[1]
                up = 10 ** (max(6, scale) - scale)
                half = f'(abs({total}) * {2 * up} + {n}) // (2 * {n}) * sign({total})::HUGEINT'
                out = f'DECIMAL(38, {scale if a["fn"] == "SUM" else max(6, scale)})'
                return (total if a['fn'] == 'SUM' else f'CASE WHEN {n} > 0 THEN {half} END'), out
            whole, wide = 1 << values.BITS[b], 1 << 64
            wrapped = lambda m: f'((({total} + {m // 2}) % {m}) + {m}) % {m} - {m // 2}'
            return (wrapped(whole) if a['fn'] == 'SUM' else f'CASE WHEN {n} > 0 THEN trunc_div({wrapped(whole if reduced else wide)}, {n}) END'), type_
        if a['fn'] in ('MIN', 'MAX'):
            return over(f'{a["fn"].lower()}({x})'), type_
        if a['fn'] == 'LISTAGG':
            order = {'HOP': 'slice DESC, n', 'CUMULATE': 'slice, n'}.get(w['kind'], 'n')
            if w['kind'] in ('SESSION', 'CUMULATE') or w['legacy']:
                self.dead.add(a['name'])    # joined sessions and late rows have an order of their own
            return over(f"string_agg({x}, '{a['separator']}' ORDER BY {order})"), 'STRING'
        if a['fn'] in ('FIRST_VALUE', 'LAST_VALUE'):
            return over(f'{"arg_min" if a["fn"] == "FIRST_VALUE" else "arg_max"}({x}, n)', [f'{x} IS NOT NULL']), type_
        self.dead.add(a['name'])            # STDDEV, VAR of big numbers: model.py and Flink look after them
        return over(f'count({x})'), 'BIGINT'

    def aggregate(self, w, st):
        self.windows(dict(w, keys=st['keys']))
        reduced = any(a['fn'] in values.VARIANCES for a in st['aggs'])
        made = {a['name']: self.aggregate_sql(a, w, reduced) for a in st['aggs']}
        keys, parts = ['window_start', 'window_end', 'window_time'] + st['keys'], []
        for s in st.get('sets') or [st['keys']]:
            gid = int(''.join('0' if k in s else '1' for k in st['keys']) or '0', 2)
            shown = [k if k in s or k.startswith('window') else f'NULL::{storage(self.columns[k])} AS {k}' for k in keys]
            calls = ''.join(f', {sql} AS "{name}"' for name, (sql, _) in made.items())
            group = [k for k in keys if k in s or k.startswith('window')]
            parts.append(f'SELECT {", ".join(shown)}, {gid} AS gid{calls}, 0 AS n, NULL::BIGINT AS wm FROM {self.now} GROUP BY {", ".join(group)}')
        self.add(' UNION ALL '.join(parts))
        self.columns = {k: self.columns[k] for k in keys}
        self.columns.update(gid='BIGINT', **{name: t for name, (_, t) in made.items()})
        if st.get('having'):
            self.add(f'SELECT * FROM {self.now} WHERE {condition_sql(st["having"], self.columns)}')
        self.project(st['select'])

    def project(self, select):
        pairs = [(s, s) if isinstance(s, str) else tuple(s) for s in select]
        self.add(f'SELECT {", ".join(f"{a} AS {b}" for a, b in pairs)}, n, wm FROM {self.now}')
        self.columns = {b: self.columns[a] for a, b in pairs}
        self.dead = {b for a, b in pairs if a in self.dead} | (self.dead & set(self.columns))

    def join(self, st):
        self.windows(st['window'])
        side = lambda c: f'(SELECT * FROM {self.now}' + (f' WHERE {condition_sql(c, self.columns)}' if c else '') + ')'
        equal = [f'l."{c}" = r."{c}"' for c in st['keys'] + ['window_start', 'window_end']] + (['l.f < r.f'] if st['residual'] else [])
        left = {'lid': 'l.id', 'window_start': 'l.window_start', 'window_end': 'l.window_end', **{f'l{k}': f'l.{k}' for k in st['keys']}}
        right = {'rid': 'r.id', 'rf': 'r.f', 'rs': 'r.window_start', **{f'r{k}': f'r.{k}' for k in st['keys']}}
        shown = left if st['form'] in ('SEMI', 'ANTI') else {**left, **right}
        self.add(f'SELECT {", ".join(f"{v} AS {k}" for k, v in shown.items())} FROM {side(st["left"])} l {st["form"]} JOIN {side(st["right"])} r '
                 f'ON {" AND ".join(equal)}')
        self.columns = {k: self.columns[v[2:]] for k, v in shown.items()}

    def rank(self, st):
        order = [f'"{c}" {"DESC" if d else "ASC"} NULLS {n or ("LAST" if d else "FIRST")}' for c, d, n in st['order']]
        if any(c in self.dead for c, _, _ in st['order']):
            raise Skip('a rank by a column that is not compared')
        order.append('n DESC' if st.get('dedup') and st['order'][0][1] else 'n')
        part = ', '.join(['window_start', 'window_end'] + st['partition'])
        self.add(f'SELECT *, row_number() OVER (PARTITION BY {part} ORDER BY {", ".join(order)}) AS rn FROM {self.now}')
        self.add(f'SELECT * FROM {self.now} WHERE rn BETWEEN {st["low"]} AND {st["high"]}')
        self.columns['rn'] = 'BIGINT'
        self.project(st['select'])


def build(case, connection):
    q, stages, i = Query(case), case['stages'], 0
    while i < len(stages):
        st = stages[i]
        following = stages[i + 1]['op'] if i + 1 < len(stages) else None
        if st['op'] == 'where':
            q.add(f'SELECT * FROM {q.now} WHERE {condition_sql(st["condition"], q.columns)}')
        elif st['op'] == 'window' and following == 'aggregate':
            q.aggregate(st, stages[i + 1]); i += 1
        elif st['op'] == 'window':
            q.windows(st)
            if following == 'project' and st['kind'] != 'SESSION':
                raise Skip('a bare window keeps late rows; there is nothing to compute')
        elif st['op'] == 'rank':
            q.rank(st)
        elif st['op'] == 'join':
            q.join(st)
        elif st['op'] == 'project':
            q.project(st['select'])
        if q.check_late and connection.execute(q.text(q.check_late)).fetchone()[0]:
            raise Skip('late rows near a session')
        i += 1
    return q


def canon(type_, value):
    """One form for both sides; a display string or DuckDB's value."""
    if value is None or value == '<NULL>':
        return None
    if values.base(type_) in ('FLOAT', 'DOUBLE'):
        x = float(value)
        return 'NaN' if math.isnan(x) else f'{x + 0.0:.{5 if values.base(type_) == "FLOAT" else 9}g}'.replace('-0', '0') if x == 0 else f'{x:.{5 if values.base(type_) == "FLOAT" else 9}g}'
    return value


def expected(case):
    """-> (names, compared columns, rows as canonical tuples)"""
    with duckdb.connect(':memory:', config={'threads': 1}) as connection:
        connection.execute('CREATE MACRO trunc_div(a, b) AS CASE WHEN a < 0 THEN -((-a) // b) ELSE a // b END')
        load(connection, case)
        q = build(case, connection)
        names = [c for c in q.columns]
        rows = connection.execute(q.text(f'SELECT {", ".join(names)} FROM {q.now}')).fetchall()
    shown, zone = [n for n in names if n not in q.dead], case.get('zone_ms', 0) * MS
    out = []
    for row in rows:
        line = []
        for n, v in zip(names, row):
            if n in q.dead:
                continue
            t = q.columns[n].replace(' NOT NULL', '')
            line.append(canon(t, v if values.base(t) in ('FLOAT', 'DOUBLE') or v is None else values.show(t, v, zone)))
        out.append(tuple(line))
    return names, shown, out


def difference(case, want):
    """`want`: the block that the model gave and Tidemark gave too. -> why DuckDB says otherwise, or None"""
    try:
        names, shown, rows = expected(case)
    except Skip as e:
        skipped[str(e)] += 1
        return None
    except (duckdb.OutOfRangeException, duckdb.ConversionException, duckdb.InvalidInputException) as e:
        skipped['a sum overflows 128 bits'] += 1
        return None
    at = [(want.names.index(n) + 1, want.types[want.names.index(n)].replace(' NOT NULL', '')) for n in shown]
    ours = collections.Counter(tuple(canon(t, row[i]) for i, t in at) for row in want.rows)
    theirs = collections.Counter(rows)
    if ours != theirs:
        return f'DuckDB has {list((theirs - ours).elements())[:2]} instead of {list((ours - theirs).elements())[:2]} of {shown}'
    return None
