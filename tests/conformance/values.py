"""Flink's column types in plain Python: reading a CSV field, display, and aggregates, written from Flink's rules, not ours.

A value is None or: an int (integers; DECIMAL: the unscaled digits; DATE: days; TIMESTAMP: nanoseconds since 1970), a float,
a bool or a str. A type is Flink's text, e.g. `DECIMAL(10, 2)`. An aggregate is an object with new, add, merge and
value; accumulators are small lists, so that slices and partial results can be merged in Flink's order.
"""
import datetime, decimal, functools, math, re, struct
import java17

BITS = {'TINYINT': 8, 'SMALLINT': 16, 'INT': 32, 'BIGINT': 64}
DAY_NS = 86_400_000_000_000
EPOCH_ORDINAL = datetime.date(1970, 1, 1).toordinal()
DECIMAL_LIMIT = 10 ** 38


def base(type_):
    return type_.split('(')[0].split(' ')[0]


@functools.lru_cache(None)
def digits(type_):
    """DECIMAL(p, s) -> (p, s); TIMESTAMP(p) -> (p,)"""
    return tuple(int(n) for n in re.findall(r'\d+', type_.split(' NOT NULL')[0]))


def wrap(value, bits):
    return (value + (1 << (bits - 1))) % (1 << bits) - (1 << (bits - 1))


def divide(a, b):
    """Java's integer division: toward zero."""
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


def half_up(a, b):
    """a / b rounded half away from zero."""
    q = (2 * abs(a) + abs(b)) // (2 * abs(b))
    return q if (a < 0) == (b < 0) else -q


def f32(x):
    try:
        return struct.unpack('<f', struct.pack('<f', x))[0]
    except OverflowError:
        return math.copysign(math.inf, x)


def fraction_ns(text):
    return int((text + '000000000')[:9]) if text else 0


def read_timestamp(text):
    m = re.fullmatch(r'(\d+)-(\d+)-(\d+) (\d+):(\d+):(\d+)(?:\.(\d+))?Z?', text)
    y, mo, d, h, mi, s = (int(g) for g in m.groups()[:6])
    days = datetime.date(y, mo, d).toordinal() - EPOCH_ORDINAL
    return ((days * 24 + h) * 60 + mi) * 60_000_000_000 + s * 1_000_000_000 + fraction_ns(m.group(7))


def read(type_, text):
    """A CSV field; None stands for the null literal."""
    if text is None:
        return None
    b = base(type_)
    if b in BITS:
        return int(text)
    if b == 'DECIMAL':
        scale, sign = digits(type_)[1], -1 if text.startswith('-') else 1
        whole, _, part = text.lstrip('-').partition('.')
        return sign * int(whole + (part + '0' * scale)[:scale])
    if b == 'FLOAT':
        return f32(float(text))
    if b == 'DOUBLE':
        return float(text)
    if b == 'BOOLEAN':
        return text == 'true'
    if b == 'DATE':
        return datetime.date.fromisoformat(text).toordinal() - EPOCH_ORDINAL
    if b.startswith('TIMESTAMP'):
        unit = 10 ** (9 - digits(type_)[0])
        return read_timestamp(text) // unit * unit
    return text


def java_float(x, single):
    """Java 17's Double.toString and Float.toString."""
    if math.isnan(x):
        return 'NaN'
    if math.isinf(x):
        return 'Infinity' if x > 0 else '-Infinity'
    if x == 0:
        return '-0.0' if math.copysign(1, x) < 0 else '0.0'
    number, point = java17.digits(abs(x), single)
    sign, exponent = '-' if x < 0 else '', point - 1
    if -3 <= exponent < 0:
        return f'{sign}0.{"0" * (-exponent - 1)}{number}'
    if 0 <= exponent < 7:
        number = number.ljust(exponent + 2, '0')
        return f'{sign}{number[:exponent + 1]}.{number[exponent + 1:]}'
    return f'{sign}{number[0]}.{number[1:] or "0"}E{exponent}'


def show_timestamp(ns, precision):
    days, rest = divmod(ns, DAY_NS)
    seconds, nanos = divmod(rest, 1_000_000_000)
    day = datetime.date.fromordinal(days + EPOCH_ORDINAL)
    text = f'{day.isoformat()} {seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}'
    return text + ('.' + f'{nanos:09}'[:precision] if precision else '')


def show(type_, value, zone_ns=0):
    """Flink's display string; `<NULL>` for None."""
    b = base(type_)
    if value is None:
        return '<NULL>'
    if b == 'DECIMAL':
        scale, sign = digits(type_)[1], '-' if value < 0 else ''
        text = str(abs(value)).rjust(scale + 1, '0')
        return f'{sign}{text[:-scale]}.{text[-scale:]}' if scale else sign + text
    if b in ('FLOAT', 'DOUBLE'):
        return java_float(value, b == 'FLOAT')
    if b == 'BOOLEAN':
        return str(value).upper()
    if b == 'DATE':
        return datetime.date.fromordinal(value + EPOCH_ORDINAL).isoformat()
    if b == 'TIMESTAMP_LTZ':
        return show_timestamp(value + zone_ns, digits(type_)[0])
    if b == 'TIMESTAMP':
        return show_timestamp(value, digits(type_)[0])
    return str(value)


def sort_key(value):
    """Flink's order of one column, NULL lowest; strings by UTF-8 bytes."""
    if value is None:
        return (0,)
    return (1, value.encode() if isinstance(value, str) else value)


# --- aggregates -------------------------------------------------------------------------------------------------------

class Count:
    type, float_order = 'BIGINT NOT NULL', False

    def new(self): return [0]
    def add(self, acc, v): acc[0] += v is not None
    def merge(self, acc, other): acc[0] += other[0]
    def value(self, acc): return acc[0]


class Sum:
    """NULL + x is x: a DECIMAL sum that has overflowed to NULL begins anew with the next value, as in Flink."""
    def __init__(self, type_):
        self.type = f'DECIMAL(38, {digits(type_)[1]})' if base(type_) == 'DECIMAL' else type_
        self.base = base(type_)

    def plus(self, a, b):
        if self.base in BITS:
            return wrap(a + b, BITS[self.base])
        if self.base == 'DECIMAL':
            return a + b if abs(a + b) < DECIMAL_LIMIT else None
        return f32(a + b) if self.base == 'FLOAT' else a + b

    def new(self): return [None]

    def add(self, acc, v):
        if v is not None:
            acc[0] = v if acc[0] is None else self.plus(acc[0], v)

    def merge(self, acc, other): self.add(acc, other[0])
    def value(self, acc): return acc[0]


class Avg:
    """The sum is BIGINT, DOUBLE or DECIMAL(38, s) and begins at 0; NULL stays NULL here."""
    def __init__(self, type_):
        self.base, self.scale = base(type_), digits(type_)[1] if base(type_) == 'DECIMAL' else 0
        self.type = f'DECIMAL(38, {max(6, self.scale)})' if self.base == 'DECIMAL' else type_
        self.sum = Sum('BIGINT' if self.base in BITS else 'DOUBLE' if self.base == 'FLOAT' else type_)

    def new(self): return [0 if self.base in BITS or self.base == 'DECIMAL' else 0.0, 0]

    def add(self, acc, v):
        if v is not None:
            acc[0] = None if acc[0] is None else self.sum.plus(acc[0], v); acc[1] += 1

    def merge(self, acc, other):
        acc[0] = None if acc[0] is None or other[0] is None else self.sum.plus(acc[0], other[0]); acc[1] += other[1]

    def value(self, acc):
        total, n = acc
        if n == 0 or total is None:
            return None
        if self.base in BITS:
            return wrap(divide(total, n), BITS[self.base])
        if self.base == 'DECIMAL':
            out = half_up(total * 10 ** (max(6, self.scale) - self.scale), n)
            return out if abs(out) < DECIMAL_LIMIT else None
        return f32(total / n) if self.base == 'FLOAT' else total / n


class Extreme:
    """MIN and MAX: a value wins by `<` or `>`, so NaN stays only when it came first."""
    def __init__(self, type_, largest):
        self.type, self.largest = type_, largest

    def new(self): return [None]

    def add(self, acc, v):
        a = acc[0]
        if v is None:
            return
        key = (lambda x: x.encode()) if isinstance(v, str) else (lambda x: x)
        if a is None or (key(v) > key(a) if self.largest else key(v) < key(a)):
            acc[0] = v

    def merge(self, acc, other): self.add(acc, other[0])
    def value(self, acc): return acc[0]


class Listagg:
    type = 'STRING'

    def __init__(self, separator): self.separator = separator
    def new(self): return [None]

    def add(self, acc, v):
        if v is not None:
            acc[0] = v if acc[0] is None else acc[0] + self.separator + v

    def merge(self, acc, other): self.add(acc, other[0])
    def value(self, acc): return acc[0]


class Edge:
    """FIRST_VALUE and LAST_VALUE: of what is not NULL, in arrival order."""
    def __init__(self, type_, last): self.type, self.last = type_, last
    def new(self): return [None]

    def add(self, acc, v):
        if v is not None and (self.last or acc[0] is None):
            acc[0] = v

    def merge(self, acc, other): raise AssertionError('Flink refuses this')
    def value(self, acc): return acc[0]


class Zero:
    """$SUM0: a sum that begins at 0; NULL only when no value came."""
    def __init__(self, type_): self.sum, self.type = Sum(type_), Sum(type_).type
    def new(self): return [0.0 if self.sum.base in ('FLOAT', 'DOUBLE') else 0, 0]

    def add(self, acc, v):
        if v is not None:
            acc[0] = None if acc[0] is None else self.sum.plus(acc[0], v); acc[1] += 1

    def merge(self, acc, other):
        acc[0] = None if acc[0] is None or other[0] is None else self.sum.plus(acc[0], other[0]); acc[1] += other[1]

    def value(self, acc): return acc[0] if acc[1] else None


class Quotient:
    """AVG as Calcite rewrites it when the same SELECT has a STDDEV or VAR: SUM / COUNT, the sum in the input's type."""
    def __init__(self, type_, sum_):
        self.type, self.base, self.sum = Avg(type_).type, base(type_), sum_
        self.up = 10 ** (digits(self.type)[1] - digits(type_)[1]) if self.base == 'DECIMAL' else 1

    def new(self): return [self.sum.new(), 0]

    def add(self, acc, v):
        self.sum.add(acc[0], v); acc[1] += v is not None

    def merge(self, acc, other):
        self.sum.merge(acc[0], other[0]); acc[1] += other[1]

    def value(self, acc):
        total, n = self.sum.value(acc[0]), acc[1]
        if total is None or n == 0:
            return None
        if self.base in BITS:
            return wrap(divide(total, n), BITS[self.base])
        if self.base == 'DECIMAL':
            return half_up(total * self.up, n) if abs(total * self.up) < DECIMAL_LIMIT else None
        return f32(total / n) if self.base == 'FLOAT' else total / n


def from_double(type_, x):
    """CAST(x AS type) from DOUBLE, as Java does it."""
    b = base(type_)
    if b == 'DECIMAL':
        if math.isnan(x) or math.isinf(x):
            return None
        sign, number, exponent = decimal.Decimal(java_float(x, False)).as_tuple()
        shift = exponent + digits(type_)[1]
        unscaled = int(''.join(map(str, number)))
        unscaled = unscaled * 10 ** shift if shift >= 0 else half_up(unscaled, 10 ** -shift)
        return (-unscaled if sign else unscaled) if unscaled < DECIMAL_LIMIT else None
    if b in BITS:
        bits = 64 if b == 'BIGINT' else 32                      # shorter ones go by way of INT
        top = (1 << (bits - 1)) - 1
        whole = 0 if math.isnan(x) else top if x >= top else -top - 1 if x <= -top - 1 else int(x)
        return wrap(whole, BITS[b])
    return f32(x) if b == 'FLOAT' else x


class Variance:
    """Welford's M2 in DOUBLE, whatever the type; / n or / (n - 1); STDDEV is its power 0.5; then a cast to the input's type."""
    def __init__(self, type_, sample, root):
        self.arg, self.type, self.sample, self.root = type_, Avg(type_).type, sample, root

    def number(self, v):
        return v / 10 ** digits(self.arg)[1] if base(self.arg) == 'DECIMAL' else float(v)

    def new(self): return [0, 0.0, 0.0]

    def add(self, acc, v):
        if v is not None:
            x = self.number(v)
            acc[0] += 1
            before = x - acc[1]
            acc[1] += before / acc[0]
            acc[2] += before * (x - acc[1])

    def merge(self, acc, other):
        if other[0] <= 0:
            return
        if acc[0] == 0:
            acc[:] = other
            return
        n = acc[0] + other[0]
        apart = other[1] - acc[1]
        mean = acc[1] + other[0] / n * apart
        acc[2] = acc[2] + other[2] + acc[0] * float(other[0]) / n * apart * apart
        acc[0], acc[1] = n, mean

    def value(self, acc):
        n, _, m2 = acc
        if n == 0 or (self.sample and n == 1):
            return None
        x = m2 / (n - 1 if self.sample else n)
        return from_double(self.type, (x ** 0.5 if x >= 0 else math.nan) if self.root else x)


class Distinct:
    """Each value counts once. A value is told apart as a Java object is: NaN equals NaN, 0.0 is not -0.0."""
    def __init__(self, inner): self.inner, self.type = inner, inner.type
    def new(self): return [{}]

    def add(self, acc, v):
        if v is not None:
            acc[0].setdefault(repr(v), v)

    def merge(self, acc, other):
        for k, v in other[0].items():
            acc[0].setdefault(k, v)

    def value(self, acc):
        inner = self.inner.new()
        for v in acc[0].values():
            self.inner.add(inner, v)
        return self.inner.value(inner)


VARIANCES = ('VAR_POP', 'VAR_SAMP', 'STDDEV_POP', 'STDDEV_SAMP')


def aggregate(fn, type_, distinct=False, separator=',', reduced=None):
    """reduced: None; 'AVG' when a STDDEV or VAR stands beside it; 'SUM' when a SUM does too."""
    total = (lambda: Zero(type_)) if reduced == 'SUM' and not distinct else (lambda: Sum(type_))
    one = {'COUNT': lambda: Count(), 'SUM': total, 'AVG': lambda: Quotient(type_, total()) if reduced else Avg(type_),
           'MIN': lambda: Extreme(type_, False), 'MAX': lambda: Extreme(type_, True),
           'LISTAGG': lambda: Listagg(separator), 'FIRST_VALUE': lambda: Edge(type_, False),
           'LAST_VALUE': lambda: Edge(type_, True), 'VAR_POP': lambda: Variance(type_, False, False),
           'VAR_SAMP': lambda: Variance(type_, True, False), 'STDDEV_POP': lambda: Variance(type_, False, True),
           'STDDEV_SAMP': lambda: Variance(type_, True, True)}[fn]()
    return Distinct(one) if distinct else one
