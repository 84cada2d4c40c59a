"""Makes a failing case smaller while it still fails: fewer rows, aggregates, conditions, keys and columns."""
import copy, json

TRIES_MAX = 250


def used(case):
    """Every word that the stages mention; a column that is not among them may go."""
    return set(json.dumps(case['stages'], ensure_ascii=False).replace('"', ' ').replace(',', ' ').replace('[', ' ').replace(']', ' ').split())


def without_column(case, name):
    c = copy.deepcopy(case)
    at = [n for n, _ in c['columns']].index(name)
    del c['columns'][at]
    for row in c['rows']:
        del row[at]
    return c


def simpler(case):
    """Cases with one thing less, the largest steps first."""
    for i, st in enumerate(case['stages']):
        if st['op'] == 'where':
            c = copy.deepcopy(case); del c['stages'][i]
            yield c
        for key in ('having', 'offset'):
            if st.get(key):
                c = copy.deepcopy(case); c['stages'][i][key] = None
                yield c
        for j, a in enumerate(st.get('aggs', [])):
            following = json.dumps(case['stages'][i + 1:] + [st.get('having')])
            if f'"{a["name"]}"' not in following and len(st['aggs']) > 1:
                c = copy.deepcopy(case); del c['stages'][i]['aggs'][j]; c['stages'][i]['select'].remove(a['name'])
                yield c
            if a.get('filter'):
                c = copy.deepcopy(case); c['stages'][i]['aggs'][j]['filter'] = None
                yield c
        if st['op'] == 'rank' and len(st['order']) > 1:
            for j in range(len(st['order'])):
                c = copy.deepcopy(case); del c['stages'][i]['order'][j]
                yield c
    if case['files'] > 1:
        yield dict(case, files=1)
    if case['interval_ms'] != 200:
        yield dict(case, interval_ms=200)
    names = used(case)
    for name, _ in case['columns']:
        if name not in names and name != 'ts':
            yield without_column(case, name)


def fewer_rows(case, fails, tries):
    size = max(1, len(case['rows']) // 2)
    while size and tries[0] > 0:
        at, cut = 0, False
        while at < len(case['rows']) and tries[0] > 0:
            c = dict(case, rows=case['rows'][:at] + case['rows'][at + size:])
            tries[0] -= 1
            if c['rows'] and fails(c):
                case, cut = c, True
            else:
                at += size
        size = size // 2 if size > 1 or not cut else size
    return case


def minimise(case, fails):
    tries = [TRIES_MAX]
    case = fewer_rows(case, fails, tries)
    again = True
    while again and tries[0] > 0:
        again = False
        for c in simpler(case):
            tries[0] -= 1
            try:
                if fails(c):
                    case, again = c, True
                    break
            except (ValueError, KeyError, IndexError, StopIteration):
                continue                        # it does not make sense without that
    return fewer_rows(case, fails, [TRIES_MAX // 3])
