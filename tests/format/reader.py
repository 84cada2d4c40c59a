"""A reader of savepoints, written from docs/savepoint-format.md alone: it shows that the page says all that is needed.

It needs protobuf, zstandard and xxhash (`./dev test format` installs them into .cache/), and `savepoint_pb2`, which protoc makes of
schemas/savepoint.proto. `Savepoint(path)` checks a file and the chain below it; `entries(table)` gives its entries, decoded.
"""
import pathlib, re, struct

import savepoint_pb2 as pb
import xxhash, zstandard

MAGIC, VERSION, HEADER, FOOTER, MANIFEST_MAX = b'TIDESAVE', 1, 16, 32, 256 << 20
FLAG_DELTA = 1
NONE, END = -2**63, 2**63 - 1


class Refused(Exception):
    pass


def need(ok, why):
    if not ok:
        raise Refused(why)


class Savepoint:
    def __init__(self, path):
        self.path, self.data = pathlib.Path(path), pathlib.Path(path).read_bytes()
        data = self.data
        need(len(data) >= HEADER + FOOTER and data[:8] == MAGIC and data[-8:] == MAGIC, 'not a savepoint')
        self.version, self.flags = struct.unpack_from('<II', data, 8)
        need(self.version == VERSION, f'format version {self.version}, this program reads {VERSION}')
        need(self.flags in (0, FLAG_DELTA), f'unknown flags {self.flags}')
        offset, length, raw, self.checksum = struct.unpack_from('<QIIQ', data, len(data) - FOOTER)
        need(raw <= MANIFEST_MAX and offset >= HEADER and offset + length == len(data) - FOOTER, 'the manifest is not where it should be')
        self.manifest = pb.Manifest.FromString(self.frame(offset, length, raw, self.checksum, 'manifest'))
        self.check_places(offset)
        self.parent = self.open_parent() if self.manifest.HasField('delta') else None

    def frame(self, offset, length, raw, checksum, what):
        bytes_ = self.data[offset:offset + length]
        need(len(bytes_) == length and xxhash.xxh3_64_intdigest(bytes_) == checksum, f'{what}: wrong checksum')
        out = zstandard.ZstdDecompressor().decompress(bytes_, max_output_size=raw)
        need(len(out) == raw, f'{what}: wrong length')
        return out

    def check_places(self, end):
        """There are no gaps."""
        at = HEADER
        for owner in self.manifest.delta.sections if self.flags else self.manifest.tables:
            for chunk in owner.chunks:
                need(chunk.offset == at, f'a chunk at {chunk.offset}, expected at {at}')
                at += chunk.length
        need(at == end, f'the chunks end at {at}, the manifest begins at {end}')

    def open_parent(self):
        delta = self.manifest.delta
        name = f'chk-{delta.parent_id}.' + ('savepoint' if delta.depth == 1 else 'delta')
        parent = Savepoint(self.path.parent / name)
        need(parent.checksum == delta.parent_checksum and parent.manifest.checkpoint_id == delta.parent_id, f'{name} is another file')
        return parent

    def chunk(self, index, table):
        chunk = pb.Chunk.FromString(self.frame(index.offset, index.length, index.raw_length, index.checksum, f'chunk at {index.offset}'))
        need(chunk.table == table and chunk.entries == index.entries, f'chunk at {index.offset}: not what the index says')
        out, key, k, v = [], b'', 0, 0
        for i, (shared, unshared, length) in enumerate(zip(chunk.shared, chunk.unshared, chunk.value_lengths, strict=True)):
            key = key[:shared] + chunk.key_data[k:k + unshared]
            op = 0 if not chunk.ops else chunk.ops[0] if len(chunk.ops) == 1 else chunk.ops[i]
            out.append((op, key, chunk.value_data[v:v + length]))
            k, v = k + unshared, v + length
        need(k == len(chunk.key_data) and v == len(chunk.value_data) and len(out) == chunk.entries, f'chunk at {index.offset}: bytes left')
        # Keys of the index are cut to 1,024 bytes.
        fits = lambda cut, key: cut == (key[:1024] if len(cut) == 1024 else key)
        need(fits(index.first_key, out[0][1]) and fits(index.last_key, out[-1][1]), f'chunk at {index.offset}: other keys than the index says')
        need(all(a[1] < b[1] for a, b in zip(out, out[1:])), f'chunk at {index.offset}: keys do not ascend')
        return out

    def state(self, number):
        """-> the table's entries, key -> value, both raw."""
        if self.parent is None:
            return {key: value for index in self.manifest.tables[number].chunks for _, key, value in self.chunk(index, number)}
        state, fields = self.parent.state(number), self.manifest.tables[number].values
        for section in self.manifest.delta.sections:
            if section.table != number:
                continue
            if section.drop:
                state = {k: v for k, v in state.items() if not (section.lower <= k and (not section.upper or k < section.upper))}
            for index in section.chunks:
                for op, key, value in self.chunk(index, number):
                    if op == 2:
                        state.pop(key, None)
                    else:
                        state[key] = combine(fields, state[key], value) if op == 1 and key in state else value
        return state

    def entries(self, number):
        """-> (window or None, key values, fields) of each entry, in key order."""
        table = self.manifest.tables[number]
        for key, value in sorted(self.state(number).items()):
            window = None
            if table.kind == pb.TABLE_WINDOWED:
                window, key = (ordered(key[:8]), ordered(key[8:16])), key[16:]
            yield window, read_key(key, table.keys, table.name), read_value(value, table.values)


# --- keys ------------------------------------------------------------------------------------------------------------

def ordered(data):
    return int.from_bytes(data, 'big') - (1 << (8 * len(data) - 1))


def digits(type_, default):
    found = re.search(r'\((\d+)', type_)
    return int(found[1]) if found else default


def take(data, n):
    need(len(data) >= n, 'a key is too short')
    return data[:n], data[n:]


def take_text(data, mask):
    out, at = bytearray(), 0
    while True:
        need(at + 1 < len(data), 'a text in a key has no end')
        byte = data[at] ^ mask
        if byte == 0:
            following = data[at + 1] ^ mask
            at += 2
            if following == 0:
                return bytes(out), data[at:]
            need(following == 0xFF, 'a text in a key has a bare zero')
            out.append(0)
        else:
            out.append(byte); at += 1


def take_float(data, width):
    bits = int.from_bytes(data, 'big')
    top = 1 << (8 * width - 1)
    bits = bits ^ top if bits & top else bits ^ (2 * top - 1)
    return struct.unpack('>d' if width == 8 else '>f', bits.to_bytes(width, 'big'))[0]


def is_own(field, table):
    return field.name == 'row number' or (field.name, field.type) == ('arrival', 'BIGINT NOT NULL') or \
        (field.name == 'window_start' and table.endswith('.sessions'))


def read_key(data, fields, table=''):
    out = []
    for i, field in enumerate(fields):
        if i + 1 == len(fields) and is_own(field, table):
            raw, data = take(data, 8)
            out.append(ordered(raw))
            if field.name == 'window_start':
                raw, data = take(data, 8)               # the session's part
            continue
        first, data = take(data, 1)
        mask = 0xFF if first[0] >= 0x80 else 0
        marker, name = first[0] ^ mask, field.type.split('(')[0].split(' ')[0]
        need(marker in (0, 1, 2), f'a key field begins with {first[0]}')
        if marker != 1:
            out.append(None); continue
        if name in ('CHAR', 'VARCHAR', 'STRING', 'BINARY', 'VARBINARY', 'BYTES'):
            value, data = take_text(data, mask)
            out.append(value); continue
        width = 1 if name == 'BOOLEAN' else 16 if name == 'DECIMAL' and digits(field.type, 10) > 18 else 8
        raw, data = take(data, width)
        raw = bytes(b ^ mask for b in raw)
        if name.startswith('TIMESTAMP') and digits(field.type, 6) > 3:
            more, data = take(data, 4)
            out.append((ordered(raw), int.from_bytes(bytes(b ^ mask for b in more), 'big')))
        else:
            out.append(bool(raw[0]) if name == 'BOOLEAN' else take_float(raw, 8) if name in ('FLOAT', 'DOUBLE') else ordered(raw))
    need(not data, 'bytes left behind a key')
    return out


# --- values ----------------------------------------------------------------------------------------------------------

def read_fields(data, fields):
    """-> each field's raw bytes; of BYTES the content."""
    out, at = [], 0
    for field in fields:
        if field.form == pb.FORM_BYTES:
            length = shift = 0
            while True:
                need(at < len(data), 'a value is too short')
                byte = data[at]; at += 1
                length |= (byte & 0x7F) << shift
                shift += 7
                if byte < 0x80:
                    break
        else:
            length = 16 if field.form == pb.FORM_I128 else 8
        need(at + length <= len(data), 'a value is too short')
        out.append(data[at:at + length]); at += length
    need(at == len(data), 'bytes left behind a value')
    return out


def read_value(data, fields):
    read = {pb.FORM_F64: lambda b: struct.unpack('<d', b)[0], pb.FORM_BYTES: bytes}
    signed = lambda b: int.from_bytes(b, 'little', signed=True)
    return {f.name: read.get(f.form, signed)(raw) for f, raw in zip(fields, read_fields(data, fields))}


def take_varint(data):
    for i, byte in enumerate(data):
        if byte < 0x80:
            return sum((b & 0x7F) << 7 * k for k, b in enumerate(data[:i + 1])), data[i + 1:]
    raise Refused('a number has no end')


def read_one(data, field):
    """Of MIN, MAX, FIRST_VALUE, LAST_VALUE."""
    return read_key(data, [field])[0] if data else None


def read_set(data, type_):
    """Of DISTINCT: value -> how often."""
    out, field = {}, pb.Field(type=type_)
    while data:
        count, data = take_varint(data)
        length, data = take_varint(data)
        value, data = read_key(data[:length], [field])[0], data[length:]
        out[value] = out.get(value, 0) + count
    return out


def read_list(data):
    out = []
    while data:
        length, data = take_varint(data)
        out.append(data[:length]); data = data[length:]
    return out


def row_columns(type_):
    """ROW<`a` INT, ...> -> (name, type) pairs."""
    return re.findall(r'`((?:[^`]|``)+)` ((?:[^,(]|\([^)]*\))+)', type_[4:-1])


def read_row(data, type_):
    columns = row_columns(type_)
    nulls, data, out = data[:(len(columns) + 7) // 8], data[(len(columns) + 7) // 8:], {}
    for i, (column, text) in enumerate(columns):
        name = text.split('(')[0].split(' ')[0]
        if nulls[i // 8] >> i % 8 & 1:
            out[column] = None
        elif name in ('FLOAT', 'DOUBLE', 'BOOLEAN') or (name == 'DECIMAL' and digits(text, 10) > 18):
            raw, data = take(data, {'BOOLEAN': 1, 'DECIMAL': 16}.get(name, 8))
            out[column] = bool(raw[0]) if name == 'BOOLEAN' else struct.unpack('<d', raw)[0] if name != 'DECIMAL' else int.from_bytes(raw, 'little', signed=True)
        elif name in ('TINYINT', 'SMALLINT', 'INT', 'BIGINT', 'DATE', 'TIME', 'DECIMAL') or name.startswith('TIMESTAMP'):
            n, data = take_varint(data)
            out[column] = (n >> 1) ^ -(n & 1)
            if name.startswith('TIMESTAMP') and digits(text, 6) > 3:
                nanos, data = take_varint(data)
                out[column] = (out[column], nanos)
        else:
            length, data = take_varint(data)
            out[column], data = data[:length], data[length:]
    need(not data, 'bytes left behind a row')
    return out


def varint(n):
    out = bytearray()
    while n >= 0x80:
        out.append(n & 0x7F | 0x80); n >>= 7
    return bytes(out) + bytes([n])


def combine(fields, old, new):
    out = b''
    for field, a, b in zip(fields, read_fields(old, fields), read_fields(new, fields)):
        how = field.combiner
        if how == pb.COMBINE_ADD:
            value = ((int.from_bytes(a, 'little') + int.from_bytes(b, 'little')) % (1 << 8 * len(a))).to_bytes(len(a), 'little')
        elif how in (pb.COMBINE_MIN, pb.COMBINE_MAX):
            value = a or b if not (a and b) else (min if how == pb.COMBINE_MIN else max)(a, b)
        elif how == pb.COMBINE_CONCAT:
            value = a + b
        else:
            value = (a or b) if how == pb.COMBINE_FIRST else (b or a) if how == pb.COMBINE_LAST else b
        out += (varint(len(value)) if field.form == pb.FORM_BYTES else b'') + value
    return out
