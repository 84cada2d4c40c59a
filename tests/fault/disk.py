"""A disk as POSIX promises it and no better: what the shim recorded is replayed, and cut off anywhere.

A file's bytes are safe once the file was synced, a name once its folder was. Until then any of it may be lost, writes and
names independently, and a write may be torn. `Disk.apply` does one recorded call; `Disk.image` says what a power cut may leave.
"""
import posixpath, struct

HEAD = struct.Struct('<BIQII')
SECTOR = 512


def read_record(path, process):
    """-> the calls: (letter, handle, offset, first bytes, second bytes). Handles are one process's."""
    data, at, calls = path.read_bytes(), 0, []
    while at + HEAD.size <= len(data):
        letter, handle, offset, a, b = HEAD.unpack_from(data, at)
        at += HEAD.size
        first, second = data[at:at + a], data[at + a:at + a + b]
        at += a + b
        if chr(letter) not in 'wst':
            first, second = (posixpath.normpath(p.decode()).removeprefix('.') if p else '' for p in (first, second))
            first, second = first.removeprefix('/'), second.removeprefix('/')
        calls.append((chr(letter), (process, handle), offset, first, second))
    return calls


class File:
    def __init__(self):
        self.synced, self.live, self.pending = b'', b'', []

    def write(self, at, data):
        self.live = put(self.live, at, data)
        self.pending.append((at, data))

    def truncate(self, length):
        self.live = cut(self.live, length)
        self.pending.append((length, None))

    def sync(self):
        self.synced, self.pending = self.live, []

    def content(self, how, rng):
        if how in ('strict', 'names'):
            return self.synced
        if how == 'zeros':                              # the length came to the disk, the data did not
            return self.synced + bytes(max(0, len(self.live) - len(self.synced)))
        content = self.synced
        for at, data in self.pending:
            fate = rng.random()
            if data is None:
                content = cut(content, at) if fate < 0.5 else content
            elif fate < 0.4:
                content = put(content, at, data)
            elif fate < 0.8:                            # torn: the first part, or all but the first
                split = rng.randrange(len(data) + 1)
                split -= split % SECTOR if rng.random() < 0.5 else 0
                content = put(content, at, data[:split]) if fate < 0.6 else put(content, at + split, data[split:])
        return content


def put(content, at, data):
    if not data:
        return content
    return content[:at] + bytes(max(0, at - len(content))) + data + content[at + len(data):]


def cut(content, length):
    return content[:length] + bytes(max(0, length - len(content)))


class Folder:
    def __init__(self):
        self.synced, self.live, self.pending = {}, {}, []

    def change(self, *steps):
        """Steps (name, node or None) of one call: all or none of them come to the disk."""
        change(self.live, steps)
        self.pending.append(steps)

    def sync(self):
        self.synced, self.pending = dict(self.live), []

    def names(self, how, rng):
        if how == 'strict':
            return self.synced
        if how in ('names', 'zeros'):
            return self.live
        names = dict(self.synced)
        in_order = rng.random() < 0.5                   # a journal keeps the order; nothing says that there is one
        kept = rng.randrange(len(self.pending) + 1)
        for i, steps in enumerate(self.pending):
            if i < kept if in_order else rng.random() < 0.6:
                change(names, steps)
        return names


def change(names, steps):
    for name, node in steps:
        if node is None:
            names.pop(name, None)
        else:
            names[name] = node


class Disk:
    """The recorded folder. Its own name is safe."""
    def __init__(self):
        self.root, self.handles = Folder(), {}

    def find(self, path):
        node = self.root
        for part in path.split('/') if path else []:
            node = node.live.get(part) if isinstance(node, Folder) else None
        return node

    def place(self, path):
        """-> the folder that a path's last part is in, and that part. A folder that was there before is safe."""
        above, _, name = path.rpartition('/')
        folder = self.root
        for part in above.split('/') if above else []:
            if part not in folder.live:
                folder.live[part] = folder.synced[part] = Folder()
            folder = folder.live[part]
        return folder, name

    def apply(self, call):
        letter, handle, offset, a, b = call
        if letter in 'wst':
            file = self.handles[handle]
            return file.write(offset, b) if letter == 'w' else file.truncate(offset) if letter == 't' else file.sync()
        path = a
        folder, name = self.place(path)
        if letter == 'D':
            (self.find(path) or Folder()).sync()
        elif letter == 'o':
            file = self.find(path)
            if file is None:
                file = File()
                folder.change((name, file))
            elif offset and file.live:
                file.truncate(0)
            self.handles[handle] = file
        elif letter == 'm':
            folder.change((name, Folder()))
        elif letter in 'uU':
            folder.change((name, None))
        else:
            to, to_name = self.place(b)
            node = folder.live[name]
            if letter == 'l':
                to.change((to_name, node))
            elif to is folder:
                folder.change((name, None), (to_name, node))
            else:
                folder.change((name, None)); to.change((to_name, node))

    def image(self, how, rng, leave=lambda path: False):
        """What may be there after a power cut: path -> bytes, None of a folder."""
        out = {}

        def walk(folder, path):
            for name, node in sorted(folder.names(how, rng).items()):
                here = f'{path}{name}'
                if leave(here):
                    continue
                if isinstance(node, Folder):
                    out[here] = None
                    walk(node, here + '/')
                else:
                    out[here] = node.content(how, rng)
        walk(self.root, '')
        return out

    def now(self):
        """What every process sees: path -> bytes."""
        out = {}

        def walk(folder, path):
            for name, node in folder.live.items():
                if isinstance(node, Folder):
                    walk(node, f'{path}{name}/')
                else:
                    out[path + name] = node.live
        walk(self.root, '')
        return out
