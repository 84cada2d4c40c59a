#!/usr/bin/env python3
"""The man pages and completions: every option of the tables of getopt is in the help text, on its man page and in the completions.

usage: pages.py [--bin PATH] [-v] [NAME]...      as run.py
"""
import pathlib, re, subprocess, sys

import run
from run import need

TABLES = {'run.c': {'': ['run']}, 'explain.c': {'': ['explain']}, 'inspect.c': {'': ['inspect']}, 'savepoint.c': {'': ['savepoint']}, 'check.c': {'': ['check']},
          'status.c': {'status_options': ['status'], 'query_options': ['query']}}
HIDDEN = {'rules-document'}  # for our own pages only


def options_of(file, table):
    text = (run.ROOT / 'tools' / file).read_text()
    name = table or 'long_options'
    body = re.search(r'struct option ' + name + r'\[\] = \{(.*?)\};', text, re.S).group(1)
    return [o for o in re.findall(r'\{"([a-z-]+)",', body) if o not in HIDDEN]


def make(p):
    (p.folder / 'pages').mkdir()
    subprocess.run([sys.executable, str(run.ROOT / 'tools/pages.py'), p.binary, str(p.folder / 'pages')], check=True)
    return {f.name: f.read_text() for f in (p.folder / 'pages').iterdir()}


def test_every_option_is_on_every_page(p):
    pages = make(p)
    subcommands = pages['pages.stamp'].split()
    listed = re.findall(r'^  ([a-z]+) {2,}\S', p.run('--help', exit=0).stdout.split('Help topics')[0], re.M)
    need(subcommands == listed and len(listed) >= 7, f'{subcommands} {listed}')
    for file, tables in TABLES.items():
        for table, names in tables.items():
            for name in names:
                help_text = p.run(name, '--help', exit=0).stdout
                for option in options_of(file, table):
                    word = f'--{option}'
                    need(re.search(re.escape(word) + r'(?![a-z-])', help_text), f'{name} --help does not tell {word}')
                    need(word.replace('-', '\\-') in pages[f'tidemark-{name}.1'], f'the man page of {name} does not tell {word}')
                    need(re.search(re.escape(word) + r'(?![a-z-])', pages['tidemark.bash']), f'bash: {name} {word}')
                    need(f"'{word}[" in pages['_tidemark'], f'zsh: {name} {word}')
                    need(re.search(rf"from {name}'.* -l {option} ", pages['tidemark.fish']), f'fish: {name} {word}')


def test_bash_completes(p):
    make(p)
    def complete(*words):
        script = f'source pages/tidemark.bash; COMP_WORDS=({" ".join(repr(w) for w in words)}); COMP_CWORD={len(words) - 1}; _tidemark; printf "%s\\n" "${{COMPREPLY[@]}}"'
        return subprocess.run(['bash', '-c', script], cwd=p.folder, capture_output=True, text=True, check=True).stdout.split()
    need(complete('tidemark', 'ins') == ['inspect'], 'a subcommand')
    need(complete('tidemark', 'status', '--w') == ['--watch', '--why'], complete('tidemark', 'status', '--w'))
    need(complete('tidemark', 'inspect', '-o', 't') == ['table', 'tsv'], 'a format')
    p.write('x.savepoint', '')
    need(complete('tidemark', 'inspect', 'x.s') == ['x.savepoint'], 'a file')


def test_help_topics(p):
    topics = re.findall(r'^  ([a-z]+) ', p.run('--help', exit=0).stdout.split('Help topics')[1], re.M)
    need(set(topics) >= {'exit', 'formats', 'state', 'watermarks'}, topics)
    for topic in topics:
        need(len(p.run('help', topic, exit=0).stdout) > 80, topic)
    p.run('help', 'nothing', exit=2)
    need('usage: tidemark run' in p.run('help', 'run', exit=0).stdout, 'help run')


if __name__ == '__main__':
    sys.exit(run.main(globals()))
