#!/usr/bin/env python3
"""The house rules that a machine can check. Each function named check_* is one rule; it yields what breaks it.

usage: lint.py [--build DIR] [--tidy] [--rule NAME]
--tidy also runs clang-tidy over all C files (needs clang-tidy).
The lists beside this file hold the exceptions, each with its reason; they may only shrink: an entry that is not needed
any more is an error too. Last line: `N passed, M failed`.
"""
import argparse, concurrent.futures, os, pathlib, re, subprocess, sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HERE = pathlib.Path(__file__).resolve().parent
FOLDERS = ['base', 'state', 'engine', 'sql', 'checkpoint', 'api', 'tools', 'include', 'schemas']
LINES_MAX, FUNCTION_MAX = 900, 70

# Who may include what, beside its own folder: a folder, or single headers of it.
ARROWS = {
    'base': ['include'],
    'state': ['base', 'include'],
    'engine': ['base', 'include', 'state/state.h', 'state/memtable.h'],
    'sql': ['base', 'include', 'engine/plan.h'],
    'checkpoint': ['base', 'include', 'state/state.h', 'engine/plan.h', 'engine/snapshot.h', 'schemas'],
    'api': ['base', 'include', 'sql', 'engine', 'checkpoint', 'state'],
    'tools': ['include'],
    'include': [],
    'schemas': [],
}
# Third-party headers that only one place may see.
LIBRARIES = {'rocksdb/': 'state/backends/rocksdb', 'protobuf-c/': 'checkpoint', 'zstd.h': 'checkpoint', 'zstd_errors.h': 'checkpoint'}

BANNED = {
    'strcpy': 'copies without a limit', 'strcat': 'copies without a limit', 'sprintf': 'use snprintf or the string buffer',
    'vsprintf': 'use vsnprintf', 'gets': 'reads without a limit', 'strtok': 'keeps global state', 'atoi': 'hides errors',
    'atol': 'hides errors', 'atof': 'hides errors', 'scanf': 'hides errors', 'sscanf': 'hides errors', 'rand': 'keeps global state',
    'localtime': 'keeps global state', 'gmtime': 'keeps global state', 'asctime': 'keeps global state', 'setlocale': 'global state',
    'malloc': 'use tide__alloc', 'calloc': 'use tide__alloc', 'realloc': 'use tide__realloc', 'free': 'use tide__free',
    'strdup': 'use the arena', 'alloca': 'no limit', 'exit': 'a library never ends its process', 'abort': 'a library never ends its process',
}


def sources(*suffixes, folders=FOLDERS):
    return sorted(f for d in folders for f in (ROOT / d).rglob('*') if f.suffix in suffixes and f.is_file())


def name_of(path):
    return str(path.relative_to(ROOT))


def bare(text):
    """The text without comments and with empty strings, line by line the same."""
    keep_lines = lambda m: '""' if m.group(0)[0] in '"\'' else re.sub(r'[^\n]', ' ', m.group(0))
    return re.sub(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|//[^\n]*|/\*.*?\*/', keep_lines, text, flags=re.S)


class Exceptions:
    """A list `KEY REASON`, one a line; which entries were needed is remembered."""
    def __init__(self, file):
        self.file, self.used = file, set()
        lines = [l.split('#')[0].split() for l in (HERE / file).read_text().splitlines()]
        self.entries = {l[0]: l[1:] for l in lines if l}

    def __contains__(self, key):
        if key in self.entries:
            self.used.add(key)
        return key in self.entries

    def stale(self):
        return [f'tests/lint/{self.file}: {k} is not needed any more: remove it' for k in self.entries if k not in self.used]


def includes(path):
    for n, line in enumerate(path.read_text().splitlines(), 1):
        m = re.match(r'\s*#\s*include\s+([<"])([^>"]+)[>"]', line)
        if m:
            yield n, m.group(2)


def check_include_arrows(a):
    for f in sources('.c', '.h', '.y', '.re', folders=list(ARROWS)):
        folder = name_of(f).split('/')[0]
        for n, header in includes(f):
            for prefix, place in LIBRARIES.items():
                if header.startswith(prefix) and not name_of(f).startswith(place + '/'):
                    yield f'{name_of(f)}:{n}: only {place}/ may include <{header}>'
            if header == 'tidemark.h':
                header = 'include/tidemark.h'
            if (ROOT / f.parent / header).exists() and '/' not in header:
                continue
            top = header.split('/')[0]
            if top not in ARROWS or top == folder:
                continue
            if not any(header == ok or header.startswith(ok + '/') for ok in ARROWS[folder]):
                yield f'{name_of(f)}:{n}: {folder}/ must not include {header}'


def archives(build):
    return sorted(p for d in FOLDERS for p in (ROOT / build / d).rglob('*.a')) if (ROOT / build).is_dir() else []


def symbols(archive):
    """-> (name, class letter, section) of what the objects define"""
    out = subprocess.run(['nm', '-f', 'sysv', '--defined-only', archive], capture_output=True, text=True).stdout
    for line in out.splitlines():
        v = [x.strip() for x in line.split('|')]
        if len(v) == 7 and v[2]:
            yield v[0], v[2], v[6]


def check_exported_names(a):
    if not archives(a.build):
        yield f'no libraries in {a.build}/: ./dev build'
    for archive in archives(a.build):
        for name, kind, _ in symbols(archive):
            if kind.isupper() and not name.startswith('tide_'):
                yield f'{archive.name}: {name} is visible across files: make it static, or call it tide__...'


def check_no_global_state(a):
    allowed = Exceptions('globals.txt')
    for archive in archives(a.build):
        for name, kind, section in symbols(archive):
            if section.startswith(('.data', '.bss')) and not section.startswith('.data.rel.ro') and f'{archive.parent.name}:{name}' not in allowed:
                yield f'{archive.parent.name}:{name} is mutable global state'
    yield from allowed.stale() if archives(a.build) else []


def check_headers_stand_alone(a):
    def compile_one(job):
        path, language = job
        p = subprocess.run(['cc', '-fsyntax-only', '-x', language, '-std=gnu17' if language == 'c' else '-std=c++17', '-D_GNU_SOURCE',
                            '-Wall', '-Wno-unused-function', '-Wno-unused-variable', '-Wno-unused-const-variable', '-I', ROOT, '-I', ROOT / 'include',
                            '-I', ROOT / a.build, '-include', path, '/dev/null'], capture_output=True, text=True)
        return None if p.returncode == 0 else f'{name_of(path)} does not compile alone as {language}: ' + p.stderr.strip().split('\n')[0]
    jobs = [(f, 'c') for f in sources('.h')] + [(ROOT / 'include' / 'tidemark.h', 'c++')]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        yield from filter(None, pool.map(compile_one, jobs))


def check_banned_functions(a):
    allowed = Exceptions('banned-functions.txt')
    pattern = re.compile(r'(?<![\w.>])(' + '|'.join(BANNED) + r')\s*\(')
    for f in sources('.c', '.h', '.y', '.re'):
        if f.parts[-2] == 'tools' and f.suffix == '.c':
            skip = {'exit', 'abort', 'malloc', 'calloc', 'realloc', 'free', 'strdup'}  # sees no engine header
        else:
            skip = set()
        for n, line in enumerate(bare(f.read_text()).splitlines(), 1):
            for word in pattern.findall(line):
                if word not in skip and f'{name_of(f)}:{word}' not in allowed:
                    yield f'{name_of(f)}:{n}: {word}: {BANNED[word]}'
    yield from allowed.stale()


def functions(path):
    """-> (name, first line, lines) of each function; a body begins with { and ends with } in the first column or line end."""
    lines, start = bare(path.read_text()).splitlines(), None
    for n, line in enumerate(lines, 1):
        if start is None:
            m = re.match(r'^(?!struct\b[^(]*$|enum\b|union\b|typedef\b|#|\s|\}|\{|%)[\w*].*?(\w+)\s*\(', line)
            if m and "attribute" not in m.group(1) and not line.rstrip().endswith(';') and '=' not in line.split('(')[0]:
                start, name, opened = n, m.group(1), False
        if start is not None:
            opened = opened or line.startswith('{') or (line.rstrip().endswith('{') and n - start < 12)
            if not opened and line.rstrip().endswith(';'):
                start = None
            elif opened and line.startswith('}'):
                yield name, start, n - start + 1
                start = None


def check_function_length(a):
    allowed = Exceptions('long-functions.txt')
    for f in sources('.c', '.h'):
        for name, line, length in functions(f):
            key = f'{name_of(f)}:{name}'
            if length > FUNCTION_MAX and (key not in allowed or length > int(allowed.entries[key][0])):
                yield f'{name_of(f)}:{line}: {name} has {length} lines, at most {FUNCTION_MAX} are allowed'
    yield from allowed.stale()


def check_file_length(a):
    tracked = subprocess.run(['git', 'ls-files', '-z'], cwd=ROOT, capture_output=True, text=True).stdout.split('\0')
    for f in tracked:
        if re.search(r'\.(c|h|y|re|py|sh)$', f) and not f.startswith('tests/golden/') and (ROOT / f).exists():
            n = (ROOT / f).read_text(errors='replace').count('\n')
            if n > LINES_MAX:
                yield f'{f} has {n} lines, at most {LINES_MAX} are allowed: one subject a file'


def check_readmes(a):
    code = {f.parent for f in sources('.c', '.h', '.proto')} | {ROOT / d for d in ('tests', 'bench', 'docs', 'examples')}
    for folder in sorted(code):
        if not (folder / 'README.md').exists():
            yield f'{name_of(folder)}/ has no README.md'
    for readme in [ROOT / 'README.md', ROOT / 'CONTRIBUTING.md', *sorted(ROOT.glob('docs/*.md')), *sorted(p for d in [*FOLDERS, 'bench', 'examples', 'tests']
                   for p in (ROOT / d).rglob('README.md'))]:
        if not readme.exists():
            yield f'{readme.name} is missing'; continue
        for n, line in enumerate(readme.read_text().splitlines(), 1):
            for word in re.findall(r'`([\w./-]+\.(?:c|h|y|re|py|sh|sql|md|proto|csv|txt|json))`|`([\w./-]+/)`', line):
                word = word[0] or word[1]
                if re.search(r'\b[A-Z]{3,}\b(?!\.md)', word) or word.startswith(('/', 'build', '.cache')):
                    continue
                if not any((base / word).exists() for base in (readme.parent, ROOT, ROOT / 'build')) and not next(readme.parent.rglob(word), None):
                    yield f'{name_of(readme)}:{n}: there is no {word}'


def check_command_line_page(a):
    """docs/cli.md and the help texts name the same options."""
    page = (ROOT / 'docs/cli.md').read_text().split('## Not there yet')[0]
    documented = set(re.findall(r'--[a-z][a-z-]+', page)) - {'--help', '--version'}
    helped = set()
    for f in (ROOT / 'tools').glob('*.c'):
        for text in re.findall(r'static const char (?:\w+_)?help\[\] =(.*?);\n\n', f.read_text(), re.S):
            helped |= set(re.findall(r'--[a-z][a-z-]+', text)) - {'--help', '--version'}
    yield from (f'docs/cli.md: no help text has {o}' for o in sorted(documented - helped))
    yield from (f'docs/cli.md does not have {o}' for o in sorted(helped - documented))


def check_golden_cases_are_whole(a):
    for case in sorted({p.parent for p in (ROOT / 'tests/golden').glob('*/*/*')}):
        for need in ('query.sql', 'expected.out', 'notes.md'):
            if not (case / need).exists():
                yield f'{name_of(case)} has no {need}'
        text = (case / 'query.sql').read_text() if (case / 'query.sql').exists() else ''
        for sink in case.glob('expected.sink-*.txt'):
            if sink.name[14:-4] not in text:
                yield f'{name_of(sink)}: no sink of that name in query.sql'


def check_kill_points_are_listed(a):
    """The crash test lists all kill points that the code passes, and no others."""
    test = (ROOT / 'tests/crash/kill_test.py').read_text()
    listed = set(re.findall(r"'([a-z]+\.[a-z-]+)'", ''.join(re.findall(r'^(?:LONG_)?POINTS = \[.*?\]', test, re.M | re.S))))
    code = ''.join(f.read_text() for f in sources('.c', '.h') if f.stem != 'killpoint')
    calls = re.findall(r'tide__kill_point\(([^;]*)\);', code)
    passed = {point for call in calls for point in re.findall(r'"([^"]+)"', call)}
    yield from (f'tests/crash/kill_test.py: no code passes the kill point {p}' for p in sorted(listed - passed))
    yield from (f'tests/crash/kill_test.py does not list the kill point {p}' for p in sorted(passed - listed))
    yield from (f'a kill point without a name: tide__kill_point({c})' for c in calls if '"' not in c)


def check_no_places_of_a_machine(a):
    out = subprocess.run(['git', 'grep', '-nIE', r'/(work|home)/[a-z]+', '--', ':!tests/golden', ':!tests/lint'], cwd=ROOT, capture_output=True, text=True).stdout
    yield from out.splitlines()


def check_clang_tidy(a):
    if not a.tidy:
        return
    database = ROOT / a.build / 'compile_commands.json'
    files = [name_of(f) for f in sources('.c')]
    p = subprocess.run(['clang-tidy', '--quiet', '-p', database.parent, *files], cwd=ROOT, capture_output=True, text=True)
    yield from (l for l in p.stdout.splitlines() if re.search(r': (warning|error): ', l))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument('--build', default='build'); ap.add_argument('--tidy', action='store_true'); ap.add_argument('--rule')
    a = ap.parse_args()
    passed = failed = 0
    for name, rule in [(n[6:].replace('_', '-'), f) for n, f in globals().items() if n.startswith('check_')]:
        if a.rule and a.rule != name:
            continue
        broken = list(rule(a))
        passed += not broken; failed += bool(broken)
        if broken:
            print(f'{name}: {len(broken)}')
            for line in broken:
                print('  ' + line)
    print(f'{passed} passed, {failed} failed')
    return failed != 0


if __name__ == '__main__':
    sys.exit(main())
