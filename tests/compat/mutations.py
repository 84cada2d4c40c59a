"""Scripts for replays: base queries of each family as plain data, and the changes that people make to them.

A script is a dict; sql(script) writes it. A mutation is a function (script, random) -> label, which changes a copy in place; labels that begin with
`harmless:` can't change what the query prints.
"""
import copy

COLUMNS = [('a', 'INT'), ('b', 'BIGINT'), ('c', 'VARCHAR'), ('d', 'INT'), ('x', 'DOUBLE'), ('p', 'DECIMAL(10, 2)'), ('ts', 'TIMESTAMP(3)')]
AGGS = ['COUNT(*)', 'SUM(b)', 'SUM(p)', 'MAX(d)', 'MIN(c)', 'AVG(b)', 'COUNT(d)', 'SUM(x)', 'AVG(x)', 'COUNT(DISTINCT d)', 'SUM(DISTINCT b)',
        'AVG(p)', 'MIN(p)', 'MAX(x)', 'LAST_VALUE(c)', 'STDDEV_POP(d)', 'COUNT(c) FILTER (WHERE d > 2)', 'SUM(d)', 'AVG(d)', 'LISTAGG(c)']
# LAST_VALUE and LISTAGG are order-dependent; HOP and CUMULATE refuse what can't be merged.
MERGEABLE = [a for a in AGGS if not a.startswith(('LAST_VALUE', 'LISTAGG', 'SUM(DISTINCT'))]
RETRACTABLE_NUMBERS = ['COUNT(*)', 'SUM(b)', 'MAX(d)', 'MIN(p)', 'COUNT(d)']


def table(script, name='T'):
    cols = script.get('columns', COLUMNS)
    body = ',\n'.join(f'  {n} {t}' for n, t in cols)
    return (f"CREATE TABLE {name} (\n{body},\n  WATERMARK FOR ts AS ts - INTERVAL '{script.get('delay', 2)}' SECOND\n) WITH (\n  'connector' = 'filesystem', "
            f"'path' = 'in/{name}.csv',\n  'format' = 'csv', 'csv.null-literal' = 'n/a'\n);\n")


def window(script, source):
    w = script['window']
    d = lambda s: f"INTERVAL '{s}' SECOND" if s < 100 else f"INTERVAL '{s // 60}' MINUTE"
    if w[0] == 'TUMBLE':
        return f"TABLE(TUMBLE({source}, DESCRIPTOR(ts), {d(w[1])}))"
    if w[0] in ('HOP', 'CUMULATE'):
        return f"TABLE({w[0]}({source}, DESCRIPTOR(ts), {d(w[1])}, {d(w[2])}))"
    keys = script.get('session_keys', [])
    by = f" PARTITION BY {', '.join(keys) if len(keys) == 1 else '(' + ', '.join(keys) + ')'}" if keys else ''
    return f"TABLE(SESSION({source}{by}, DESCRIPTOR(ts), {d(w[1])}))"


def names(script):
    return [f'v{i}' for i in range(len(script['aggs']))]


def where(script):
    return f"\nWHERE {script['where']}" if script.get('where') else ''


def group_keys(script):
    keys = list(script['keys'])
    at = script.get('window_at', 'end')
    win = ['window_end', 'window_start'] if script.get('window_swapped') else ['window_start', 'window_end']
    return win + keys if at == 'front' else keys + win


def aggregate(script, source='T'):
    cols = (['window_start', 'window_end'] if not script.get('window_time') else []) + list(script['keys']) + [f'{a} AS {n}' for a, n in zip(script['aggs'], names(script))]
    if script.get('window_time'):
        cols.append('window_time AS ts')
    by = group_keys(script) + (['window_time'] if script.get('window_time') else [])
    if script.get('sets'):
        used = [k for k in script['keys'] if any(k in x for x in script['sets'])]
        cols = ['window_start', 'window_end'] + used + [f'{a} AS {n}' for a, n in zip(script['aggs'], names(script))]
        by = ['window_start', 'window_end', 'GROUPING SETS (' + ', '.join('(' + ', '.join(s) + ')' for s in script['sets']) + ')']
    text = f"SELECT {', '.join(cols)}\nFROM {window(script, 'TABLE ' + source) if not script.get('where_inside') else window(script, 'TABLE V0')}"
    if not script.get('where_inside'):
        text += where(script)
    text += f"\nGROUP BY {', '.join(by)}"
    if script.get('having'):
        text += f"\nHAVING {script['having']}"
    return text


def ranked(script, inner, inner_columns):
    t = script['top']
    part = list(t['partition']) + ['window_start', 'window_end'] if t.get('windowed') else list(t['partition'])
    if t.get('window_first') and t.get('windowed'):
        part = ['window_start', 'window_end'] + list(t['partition'])
    bound = {'<=': f"rk <= {t['n']}", '<': f"rk < {t['n'] + 1}", 'mirror': f"{t['n']} >= rk"}[t.get('spelling', '<=')]
    if t.get('first', 1) > 1:
        bound = f"rk BETWEEN {t['first']} AND {t['n']}"
    out = list(script['out']) if script.get('out') else inner_columns
    if t.get('rank'):
        out = out + ['rk']
    order = ', '.join(t['order'])
    by = f"PARTITION BY {', '.join(part)} " if part else ''
    return (f"SELECT {', '.join(out)} FROM (\n  SELECT *, ROW_NUMBER() OVER ({by}ORDER BY {order}) AS rk\n  FROM ({inner})\n) WHERE {bound}"
            + (f" AND {script['after']}" if script.get('after') else ''))


def body(script):
    k = script['kind']
    if k in ('wagg', 'session', 'gsets'):
        cols = script.get('out')
        return f"SELECT {', '.join(cols or '*')} FROM (\n{aggregate(script)}\n)" + (f" WHERE {script['after']}" if script.get('after') else '') if cols or script.get('after') else aggregate(script)
    if k == 'legacy':
        w = script['window']
        call = f"TUMBLE(ts, INTERVAL '{w[1]}' SECOND)" if w[0] == 'TUMBLE' else f"HOP(ts, INTERVAL '{w[1]}' SECOND, INTERVAL '{w[2]}' SECOND)"
        start = call.replace('TUMBLE(', 'TUMBLE_START(').replace('HOP(', 'HOP_START(')
        cols = [f'{start} AS ws'] + list(script['keys']) + [f'{a} AS {n}' for a, n in zip(script['aggs'], names(script))]
        return f"SELECT {', '.join(cols)}\nFROM T{where(script)}\nGROUP BY {', '.join(list(script['keys']) + [call])}"
    if k == 'wtopn':
        return ranked(script, aggregate(script), ['window_start', 'window_end'] + list(script['keys']) + names(script))
    if k == 'wtopnr':
        cols = list(script['stored'])
        return ranked(script, f"SELECT {', '.join(cols)}, window_start, window_end FROM {window(script, 'TABLE T')}{where(script)}", cols + ['window_start'])
    if k == 'gagg':
        keys = list(script['keys'])
        cols = keys + [f'{a} AS {n}' for a, n in zip(script['aggs'], names(script))]
        return f"SELECT {', '.join(cols)}\nFROM T{where(script)}" + (f"\nGROUP BY {', '.join(keys)}" if keys else '') + (f"\nHAVING {script['having']}" if script.get('having') else '')
    if k in ('topn', 'dedup'):
        cols = list(script['stored'])
        return ranked(script, f"SELECT {', '.join(cols)} FROM T{where(script)}", [c.split(' AS ')[-1] for c in cols])
    if k == 'wjoin':
        j = script['join']
        side = lambda name, cols: f"(SELECT {', '.join(cols)}, window_start, window_end FROM {window(script, 'TABLE ' + name)})"
        on = ['L.window_start = R.window_start', 'L.window_end = R.window_end'] + [f'L.{k} = R.{k}' for k in j['keys']] + list(j.get('on', []))
        cols = script.get('out') or [f'L.{c} AS l{c}' for c in j['left']] + [f'R.{c} AS r{c}' for c in j['right']]
        if j['type'] in ('SEMI', 'ANTI'):
            no = 'NOT ' if j['type'] == 'ANTI' else ''
            return f"SELECT {', '.join('L.' + c for c in j['left'])} FROM {side('T', j['left'])} L WHERE {no}EXISTS (SELECT * FROM {side('U', j['right'])} R WHERE {' AND '.join(on)})"
        return f"SELECT {', '.join(cols)}\nFROM {side('T', j['left'])} L\n{j['type']} JOIN {side('U', j['right'])} R\nON {' AND '.join(on)}"
    if k == 'casc':
        outer = script['outer']
        cols = ['window_start', 'window_end'] + list(outer['keys']) + [f'{a} AS o{i}' for i, a in enumerate(outer['aggs'])]
        return (f"SELECT {', '.join(cols)}\nFROM TABLE(TUMBLE(TABLE V1, DESCRIPTOR(ts), INTERVAL '{outer['size']}' SECOND))\n"
                f"GROUP BY {', '.join(list(outer['keys']) + ['window_start', 'window_end'])}")
    if k == 'union':
        keys, aggs = list(script['keys']), script['aggs']
        cols = keys + [f'{a} AS {n}' for a, n in zip(aggs, names(script))]
        return f"SELECT {', '.join(['window_start', 'window_end'] + cols)}\nFROM {window(script, 'TABLE V2')}\nGROUP BY {', '.join(keys + ['window_start', 'window_end'])}"
    raise ValueError(k)


def sql(script):
    """The whole script: one SELECT, or INSERTs into sinks with the right columns."""
    text = script.get('head', '') + table(script)
    if script['kind'] in ('wjoin',) or script.get('two'):
        text += table(dict(script, columns=[('a', 'INT'), ('e', 'INT'), ('f', 'VARCHAR'), ('ts', 'TIMESTAMP(3)')]), 'U')
    if script.get('where_inside'):
        text += f"CREATE VIEW V0 AS SELECT * FROM T{where(script)};\n"
    if script['kind'] == 'casc':
        inner = dict(script, window_time=True)
        text += f"CREATE VIEW V1 AS\n{aggregate(inner)};\n"
    if script['kind'] == 'union':
        branches = [f"SELECT a, b, c, d, x, p, ts FROM T WHERE {w}" for w in script['branches']]
        text += 'CREATE VIEW V2 AS\n' + '\nUNION ALL\n'.join(branches) + ';\n'
    q = body(script)
    for f in script.get('cosmetics', []):
        q = f(q)
    if script.get('view'):
        text += f"CREATE VIEW {script['view']} AS\n{q};\n"
        q = f"SELECT * FROM {script['view']}"
    text += (f"-- uid: {script['uid']}\n" if script.get('uid') else '') + q + ';\n'
    return text


# --- base scripts ---------------------------------------------------------------------------------------------------------

def some(rng, items, low, high):
    return rng.sample(items, rng.randint(low, min(high, len(items))))


def windows(rng):
    return rng.choice([('TUMBLE', 10), ('TUMBLE', 20), ('HOP', 5, 20), ('HOP', 10, 20), ('HOP', 5, 10), ('CUMULATE', 5, 20), ('CUMULATE', 10, 30)])


def base(family, rng):
    keys = some(rng, ['a', 'c', 'd'], 1, 2)
    s = {'kind': 'wagg', 'window': windows(rng), 'keys': keys, 'aggs': some(rng, MERGEABLE, 1, 4)}
    if family in ('agg', 'group_by', 'window', 'filter', 'output', 'source', 'cosmetic', 'sink', 'uid'):
        if family in ('agg', 'group_by', 'filter', 'source') and rng.random() < 0.35:
            s = {'kind': 'gagg', 'keys': keys, 'aggs': some(rng, [a for a in AGGS if not a.startswith('LISTAGG')], 1, 4)}
        if family == 'filter' and rng.random() < 0.7:
            s['where'] = rng.choice(['d > 1', 'a = 1', 'c <> \'u\'', 'b < 6', 'd > 1 AND b < 8'])
        if family == 'filter' and rng.random() < 0.3:
            s['having'] = 'COUNT(*) > 1'
        if family == 'window' and rng.random() < 0.25:
            s = dict(s, kind='legacy', window=rng.choice([('TUMBLE', 10), ('TUMBLE', 20), ('HOP', 5, 20)]))
        return s
    if family == 'topn':
        if rng.random() < 0.6:
            s.update(kind='wtopn', top={'partition': [], 'windowed': True, 'order': ['v0 DESC', s['keys'][0]], 'n': rng.choice([1, 2, 3])})
            s['aggs'] = some(rng, ['COUNT(*)', 'SUM(b)', 'MAX(d)', 'SUM(p)', 'SUM(x)', 'MIN(c)'], 1, 3)
            if len(s['keys']) > 1 and rng.random() < 0.5:
                s['top']['partition'] = [s['keys'][1]]
            return s
        if rng.random() < 0.6:
            return {'kind': 'wtopnr', 'window': windows(rng), 'stored': ['a', 'b', 'c', 'd', 'x', 'ts'],
                    'top': {'partition': some(rng, ['a', 'c'], 0, 2), 'windowed': True, 'order': some(rng, ['b DESC', 'd', 'x DESC', 'ts'], 1, 2), 'n': rng.choice([1, 2, 3])}}
        return {'kind': 'topn', 'stored': ['a', 'b', 'c', 'd'],
                'top': {'partition': some(rng, ['a', 'c'], 0, 2), 'order': some(rng, ['b DESC', 'd', 'c'], 1, 2), 'n': rng.choice([1, 2, 3])}}
    if family == 'dedup':
        return {'kind': 'dedup', 'stored': ['a', 'b', 'c', 'd', 'ts'],
                'top': {'partition': some(rng, ['a', 'c'], 1, 2), 'order': [rng.choice(['ts', 'ts DESC'])], 'n': 1}}
    if family == 'wdedup':
        return {'kind': 'wtopnr', 'window': windows(rng), 'stored': ['a', 'b', 'c', 'd', 'ts'],
                'top': {'partition': some(rng, ['a', 'c'], 1, 2), 'windowed': True, 'order': [rng.choice(['ts', 'ts DESC'])], 'n': 1}}
    if family == 'join':
        return {'kind': 'wjoin', 'window': rng.choice([('TUMBLE', 10), ('TUMBLE', 20), ('HOP', 10, 20)]),
                'join': {'type': rng.choice(['INNER', 'LEFT', 'RIGHT', 'FULL', 'SEMI', 'ANTI']), 'keys': ['a'], 'left': ['a', 'b', 'c', 'd'], 'right': ['a', 'e', 'f'],
                         'on': rng.choice([[], ['L.b > R.e']])}}
    if family == 'session':
        return {'kind': 'session', 'window': ('SESSION', rng.choice([3, 5])), 'session_keys': list(keys), 'keys': keys, 'aggs': some(rng, MERGEABLE, 1, 3)}
    if family == 'gsets':
        return {'kind': 'gsets', 'window': rng.choice([('TUMBLE', 10), ('TUMBLE', 20)]), 'keys': ['a', 'c'], 'sets': rng.choice([[['a'], ['c']], [['a', 'c'], ['a']], [['a', 'c'], ['a'], []]]),
                'aggs': some(rng, ['COUNT(*)', 'SUM(b)', 'MAX(d)', 'COUNT(DISTINCT d)'], 1, 3)}
    if family == 'cascade':
        aggs = some(rng, ['COUNT(*)', 'SUM(b)', 'MAX(d)'], 1, 3)
        return {'kind': 'casc', 'window': ('TUMBLE', 5), 'keys': keys, 'aggs': aggs,
                'outer': {'size': rng.choice([10, 20]), 'keys': [keys[0]] if rng.random() < 0.5 else [], 'aggs': some(rng, [f'SUM(v{i})' if not aggs[i].startswith('MAX') else f'MAX(v{i})' for i in range(len(aggs))] + ['COUNT(*)'], 1, 3)}}
    if family == 'union':
        return {'kind': 'union', 'window': ('TUMBLE', 10), 'keys': ['a'], 'aggs': some(rng, ['COUNT(*)', 'SUM(b)', 'MAX(d)'], 1, 3), 'branches': ['d > 2', 'd <= 2']}
    raise ValueError(family)


# --- mutations ------------------------------------------------------------------------------------------------------------

def agg_add(s, r):
    pool = [a for a in (MERGEABLE if s['kind'] != 'gagg' else AGGS[:-1]) if a not in s['aggs']]
    s['aggs'] = s['aggs'] + [r.choice(pool)]
    return 'agg.added'


def agg_add_front(s, r):
    agg_add(s, r)
    s['aggs'] = s['aggs'][-1:] + s['aggs'][:-1]
    return 'agg.added in front'


def agg_drop(s, r):
    if len(s['aggs']) < 2: return None
    del s['aggs'][r.randrange(len(s['aggs']))]
    return 'agg.removed'


def agg_swap(s, r):
    if len(s['aggs']) < 2: return None
    i, j = r.sample(range(len(s['aggs'])), 2)
    s['aggs'][i], s['aggs'][j] = s['aggs'][j], s['aggs'][i]
    return 'agg.order'


def agg_change(s, r):
    i = r.randrange(len(s['aggs']))
    s['aggs'][i] = r.choice([a for a in MERGEABLE if a not in s['aggs']])
    return 'agg.modified'


def agg_derive(s, r):
    pairs = [('SUM(b)', 'AVG(b)'), ('AVG(b)', 'SUM(b)'), ('AVG(p)', 'COUNT(p)'), ('SUM(p)', 'AVG(p)'), ('COUNT(DISTINCT d)', 'SUM(DISTINCT d)'), ('SUM(DISTINCT b)', 'COUNT(DISTINCT b)'),
             ('AVG(d)', 'COUNT(d)'), ('SUM(d)', 'COUNT(d)'), ('SUM(x)', 'AVG(x)'), ('AVG(x)', 'SUM(x)'), ('STDDEV_POP(d)', 'VAR_SAMP(d)')]
    for i, a in enumerate(s['aggs']):
        for old, new in pairs:
            if a == old:
                s['aggs'][i] = new
                return 'agg.derived'
    return None


def key_swap(s, r):
    if len(s['keys']) < 2: return None
    s['keys'] = s['keys'][::-1]
    return 'group_by.order'


def key_drop(s, r):
    if len(s['keys']) < 2: return None
    s['keys'] = s['keys'][:1] if r.random() < 0.5 else s['keys'][1:]
    return 'group_by.removed'


def key_drop_all(s, r):
    s['keys'] = []
    return 'group_by.removed'


def key_add(s, r):
    s['keys'] = s['keys'] + [k for k in ['a', 'c', 'd'] if k not in s['keys']][:1]
    return 'group_by.added'


def window_front(s, r):
    s['window_at'] = 'front'
    return 'harmless: window columns first'


def window_swap(s, r):
    s['window_swapped'] = True
    return 'harmless: window columns swapped'


def window_same(s, r):
    w = s['window']
    if w[0] != 'TUMBLE': return None
    s['window'] = ('HOP', w[1], w[1]) if r.random() < 0.5 else ('CUMULATE', w[1], w[1])
    return 'harmless: window in other clothes'


def window_size(s, r):
    w = s['window']
    s['window'] = w[:-1] + (w[-1] * 2,)
    return 'window.size'


def window_smaller(s, r):
    w = s['window']
    if w[0] != 'HOP' or w[2] // 2 < w[1]: return None
    s['window'] = (w[0], w[1], w[2] // 2)
    return 'window.size smaller'


def window_coarser(s, r):
    w = s['window']
    if w[0] not in ('HOP', 'CUMULATE') or w[1] * 2 > w[2] or w[2] % (w[1] * 2): return None
    s['window'] = (w[0], w[1] * 2, w[2])
    return 'window.slide coarser'


def window_finer(s, r):
    w = s['window']
    if w[0] not in ('HOP', 'CUMULATE'): return None
    s['window'] = (w[0], 1 if w[1] == 5 else w[1] // 2, w[2])
    return 'window.slide finer'


def window_tumble(s, r):
    w = s['window']
    if w[0] not in ('HOP', 'CUMULATE'): return None
    s['window'] = ('TUMBLE', w[2] if r.random() < 0.5 else w[1])
    return 'window.type'


def legacy_to_tvf(s, r):
    if s['kind'] != 'legacy' or s['window'][0] != 'TUMBLE': return None
    s['kind'] = 'wagg'
    s['out'] = ['window_start AS ws'] + s['keys'] + names(s)
    return 'window.syntax'


def where_add(s, r):
    s['where'] = (s['where'] + ' AND ' if s.get('where') else '') + r.choice(['d > 2', 'b <> 3', 'a < 3'])
    return 'filter.added'


def where_key(s, r):
    if not s.get('keys'): return None
    k = s['keys'][0]
    s['where'] = (s['where'] + ' AND ' if s.get('where') else '') + {'a': 'a = 1', 'c': "c = 'v'", 'd': 'd < 3'}[k]
    return 'filter.key_narrowed'


def where_drop(s, r):
    if not s.get('where'): return None
    s['where'] = None
    return 'filter.removed'


def having(s, r):
    s['having'] = r.choice(['COUNT(*) > 1', 'COUNT(*) > 2'])
    return 'having.changed'


def having_kept(s, r):
    for a in s['aggs']:
        if a.startswith(('COUNT', 'SUM(b)', 'MAX(d)')):
            s['having'] = f'{a} > 1'
            return 'having on a kept metric'
    return None


def commuted(s, r):
    if not s.get('where') or ' AND ' not in s['where']: return None
    a, b = s['where'].split(' AND ', 1)
    s['where'] = f'{b} AND {a}'
    return 'harmless: AND in another order'


def out_drop(s, r):
    cols = (['window_start', 'window_end'] if s['kind'] != 'gagg' else []) + list(s['keys']) + names(s)
    if s['kind'] not in ('wagg', 'wtopn', 'session'): return None
    s['out'] = some(r, cols, 1, len(cols))
    return 'output.columns'


def out_after(s, r):
    if s['kind'] not in ('wagg', 'wtopn') or not s['keys']: return None
    s['after'] = {'a': 'a > 1', 'c': "c > 'u'", 'd': 'd > 1'}[s['keys'][0]] if r.random() < 0.5 else 'v0 IS NOT NULL'
    return 'output.filter'


def cos_case(s, r):
    s['cosmetics'] = s.get('cosmetics', []) + [lambda q: q.replace('SELECT', 'select').replace('GROUP BY', 'group  by').replace('FROM', '\n from ')]
    return 'harmless: letter case'


def cos_view(s, r):
    s['view'] = 'W9'
    return 'harmless: through a view'


def cos_comment(s, r):
    s['cosmetics'] = s.get('cosmetics', []) + [lambda q: '/* new */ ' + q + ' -- end\n']
    return 'harmless: comments'


def cos_where_inside(s, r):
    if not s.get('where') or s['kind'] != 'wagg': return None
    s['where_inside'] = True
    return 'harmless: WHERE in a view below'


def top_n(s, r):
    n = s['top']['n']
    s['top']['n'] = max(s['top'].get('first', 1), n + r.choice([-1, 1, 2]))
    return 'topn.limit' if s['top']['n'] != n else None


def top_less(s, r):
    if s['top']['n'] < 2: return None
    s['top']['n'] -= 1
    return 'topn.limit'


def top_order(s, r):
    o = s['top']['order']
    if s['kind'] == 'wtopn':
        s['top']['order'] = r.choice([['v0'], [f'v{len(s["aggs"]) - 1}', s['keys'][0]], [s['keys'][0] + ' DESC', 'v0']])
    else:
        s['top']['order'] = [c[:-5] if c.endswith(' DESC') else c + ' DESC' for c in o]
    return 'topn.order_by' if s['top']['order'] != o else None


def top_asc(s, r):
    s['top']['order'] = [c if c.endswith('DESC') else c + ' ASC' for c in s['top']['order']]
    return 'harmless: explicit ASC'


def top_spelling(s, r):
    s['top']['spelling'] = r.choice(['<', 'mirror'])
    return 'harmless: rank bound'


def top_offset(s, r):
    if s['top']['n'] < 2: return None
    s['top']['first'] = 2
    return 'topn.offset'


def top_rank(s, r):
    s['top']['rank'] = True
    return 'topn.rank_output'


def top_part_order(s, r):
    t = s['top']
    if len(t['partition']) > 1 and r.random() < 0.7:
        t['partition'] = t['partition'][::-1]
    elif t.get('windowed'):
        t['window_first'] = True
    else:
        return None
    return 'harmless: order of PARTITION BY'


def top_part_drop(s, r):
    if not s['top']['partition']: return None
    s['top']['partition'] = s['top']['partition'][1:]
    return 'topn.partition_removed'


def top_part_add(s, r):
    pool = [k for k in (s.get('keys') or ['a', 'c', 'd']) if k not in s['top']['partition']]
    if not pool: return None
    s['top']['partition'] = s['top']['partition'] + pool[:1]
    return 'topn.partition_added'


def stored_drop(s, r):
    used = {c.split()[0] for c in s['top']['order']} | set(s['top']['partition'])
    pool = [c for c in s['stored'] if c not in used and c != 'ts']
    if not pool: return None
    s['stored'] = [c for c in s['stored'] if c != pool[0]]
    return 'topn.input: column dropped'


def stored_add(s, r):
    if 'p' in s['stored']: return None
    s['stored'] = s['stored'] + ['p']
    return 'topn.input: column added'


def stored_compute(s, r):
    if s['kind'] not in ('topn', 'dedup') or 'd' in s['top']['partition'] or any(o.split()[0] == 'd' for o in s['top']['order']): return None
    s['stored'] = ['d + 1 AS d' if c == 'd' else c for c in s['stored']]
    return 'topn.input: column computed'


def join_type(s, r):
    if s['join']['type'] in ('SEMI', 'ANTI'): return None
    s['join']['type'] = r.choice([t for t in ['INNER', 'LEFT', 'RIGHT', 'FULL'] if t != s['join']['type']])
    return 'join.type'


def join_on(s, r):
    s['join']['on'] = ['L.d <> R.e'] if not s['join']['on'] else []
    return 'join.condition_nonequi'


def join_column_drop(s, r):
    s['join']['left'] = [c for c in s['join']['left'] if c != 'c']
    return 'join.input_schema: column dropped'


def join_column_add(s, r):
    if s['join']['type'] in ('SEMI', 'ANTI'): return None
    s['join']['left'] = s['join']['left'] + ['p']
    return 'join.input_schema: column added'


def join_out(s, r):
    j = s['join']
    if j['type'] in ('SEMI', 'ANTI'): return None
    s['out'] = [f'R.{j["right"][1]} AS q'] + [f'L.{c} AS l{c}' for c in j['left'][:2]]
    return 'output.columns'


def source_unread(s, r):
    s['columns'] = COLUMNS + [('z', 'VARCHAR')]
    return 'source.column_added'


def source_delay(s, r):
    s['delay'] = r.choice([1, 4])
    return 'source.watermark_delay'


def gap(s, r):
    s['window'] = ('SESSION', s['window'][1] + 2)
    return 'window.session_gap'


def session_order(s, r):
    if len(s['session_keys']) < 2: return None
    s['session_keys'] = s['session_keys'][::-1]
    return 'harmless: order of session keys'


def set_drop(s, r):
    s['sets'] = s['sets'][:-1] if r.random() < 0.5 else s['sets'][1:]
    return 'group_by.grouping_sets'


def set_add(s, r):
    s['sets'] = s['sets'] + [x for x in [['a', 'c'], ['c'], [], ['a']] if x not in s['sets']][:1]
    return 'group_by.grouping_sets'


def set_order(s, r):
    s['sets'] = s['sets'][::-1]
    return 'harmless: order of grouping sets'


def outer_size(s, r):
    s['outer']['size'] *= 2
    return 'window.size (outer)'


def outer_agg(s, r):
    s['outer']['aggs'] = s['outer']['aggs'] + ['COUNT(*)' if 'COUNT(*)' not in s['outer']['aggs'] else 'MAX(v0)']
    return 'agg.added (outer)'


def union_order(s, r):
    s['branches'] = s['branches'][::-1]
    return 'harmless: order of UNION ALL'


def union_drop(s, r):
    s['branches'] = s['branches'][:1]
    return 'union.removed'


def union_branch(s, r):
    s['branches'] = [s['branches'][0], 'd <= 1']
    return 'filter.changed (branch)'


def uid_given(s, r):
    s['uid'] = 'mine'
    return 'harmless: uid added'


COSMETIC = [cos_case, cos_view, cos_comment]
MUTATIONS = {
    'agg': [agg_add, agg_add_front, agg_drop, agg_swap, agg_change, agg_derive] + COSMETIC,
    'group_by': [key_swap, key_drop, key_drop_all, key_add, window_front, window_swap] + COSMETIC,
    'window': [window_same, window_size, window_smaller, window_coarser, window_finer, window_tumble, legacy_to_tvf, window_front, cos_view],
    'filter': [where_add, where_key, where_drop, having, having_kept, commuted, cos_where_inside, cos_comment],
    'output': [out_drop, out_after, having_kept] + COSMETIC,
    'source': [source_unread, source_delay, cos_case],
    'topn': [top_n, top_less, top_order, top_asc, top_spelling, top_offset, top_rank, top_part_order, top_part_drop, top_part_add, stored_drop, stored_add, stored_compute,
             agg_add, agg_drop, agg_swap, key_swap, where_add, out_drop, cos_view, having],
    'dedup': [top_order, top_part_order, top_part_drop, top_part_add, stored_drop, stored_add, stored_compute, top_rank, cos_view, top_spelling, top_asc],
    'wdedup': [top_order, top_part_order, top_part_drop, stored_drop, stored_add, top_rank, cos_view, top_asc],
    'join': [join_type, join_on, join_column_drop, join_column_add, join_out, window_size, cos_case, cos_view, cos_comment],
    'session': [agg_add, agg_drop, agg_swap, key_drop, gap, session_order, out_drop, cos_view, cos_case],
    'gsets': [set_drop, set_add, set_order, agg_add, agg_drop, agg_swap, cos_view],
    'cascade': [agg_add, agg_swap, key_swap, outer_size, outer_agg, cos_view, cos_comment],
    'union': [union_order, union_drop, union_branch, agg_add, agg_drop, cos_view],
    'cosmetic': COSMETIC + [window_front, window_swap],
    'uid': [uid_given, agg_add, agg_drop],
}


def applies(mutation, s):
    need = {'aggs': mutation.__name__.startswith('agg_'), 'keys': mutation.__name__.startswith('key_'), 'stored': mutation.__name__.startswith('stored_'),
            'window': mutation.__name__.startswith('window_')}
    return all(k in s for k, wanted in need.items() if wanted)


def pair(family, rng):
    """(old script, new script, labels); about one in six has two changes."""
    while True:
        old = base(family, rng)
        new = copy.deepcopy(old)
        labels = []
        for mutation in rng.sample(MUTATIONS[family], 2 if rng.random() < 0.17 else 1):
            if not applies(mutation, new): continue
            try:
                label = mutation(new, rng)
            except (IndexError, KeyError):
                label = None
            if label: labels.append(label)
        if labels and sql(old) != sql(new):
            return old, new, labels
