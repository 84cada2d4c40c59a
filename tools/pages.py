#!/usr/bin/env python3
"""Man pages and shell completions, made from what the program says of itself. meson runs this at build time and installs what it makes.

usage: pages.py BINARY OUT_DIR
OUT_DIR gets tidemark.1, tidemark-SUBCOMMAND.1, tidemark.bash, _tidemark (zsh) and tidemark.fish. The help texts are the one source: tests/cli/pages.py
checks that they have every option that the tables of getopt have.
"""
import pathlib, re, subprocess, sys

OPTION = re.compile(r'^ {2,6}((?:-\w, )?--[a-z][a-z-]*.*?)(?: {2,}(\S.*))?$')
FILES = ('run', 'explain', 'check')  # the other subcommands take savepoints and folders


def said(binary, *args):
    return subprocess.run([binary, *args], capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL).stdout


class Page:
    """A help text taken apart: usage, paragraphs, options, what follows."""
    def __init__(self, name, text):
        self.name, self.options, self.before, self.after = name, [], [], []
        lines = text.rstrip('\n').split('\n')
        self.usage = []
        while lines and lines[0].strip():
            self.usage.append(re.sub(r'^(usage:)?\s*', '', lines.pop(0)))
        in_option = False
        for at, line in enumerate(lines):
            found = OPTION.match(line)
            heading = line[:1].strip() and at + 1 < len(lines) and OPTION.match(lines[at + 1])
            if heading:
                continue
            if found:
                words = found.group(1)
                names = re.findall(r'--[a-z][a-z-]*|(?<!\S)-\w\b', words)
                self.options.append([names, words, found.group(2) or ''])
                in_option = True
            elif in_option and line.startswith(' ' * 8):
                self.options[-1][2] += ' ' + line.strip()
            else:
                in_option = False
                (self.after if self.options else self.before).append(line)

    def takes_value(self, option):
        return bool(re.search(r'--[a-z-]+[ =]\S*[A-Z|]', option[1]))


def roff(text):
    text = text.replace('\\', '\\e').replace('-', '\\-')
    return '\n'.join('\\&' + l if l[:1] in ".'" else l for l in text.split('\n'))


def paragraphs(lines):
    out = []
    for line in lines:
        if line.startswith('  '):
            out.append('.br\n' + roff(line.strip()))
        else:
            out.append(roff(line) if line.strip() else '.PP')
    return '\n'.join(out).strip()


def man(page, summary, version):
    title = 'tidemark' + ('-' + page.name if page.name else '')
    out = [f'.TH {title.upper()} 1 "" "Tidemark {version}"', '.SH NAME', f'{roff(title)} \\- {roff(summary)}', '.SH SYNOPSIS']
    out += ['.br\n' + roff(u) for u in page.usage]
    out += ['.SH DESCRIPTION', paragraphs(page.before)]
    if page.options:
        out.append('.SH OPTIONS')
        for names, words, text in page.options:
            out += ['.TP', '.B ' + roff(words), roff(text)]
    if any(l.strip() for l in page.after):
        out += ['.SH NOTES', paragraphs(page.after)]
    return '\n'.join(out) + '\n'


def bash(pages):
    cases = []
    for name, page in pages.items():
        words = ' '.join(n for o in page.options for n in o[0])
        values = '|'.join(n for o in page.options if page.takes_value(o) for n in o[0])
        pick = f'''case "$previous" in -o|--output|--format) COMPREPLY=($(compgen -W "table tsv csv json" -- "$word")); return;; {values + ') COMPREPLY=($(compgen -f -- "$word")); return;;' if values else ''} esac'''
        cases.append(f'    {name})\n      {pick}\n      words="{words}";;')
    return f'''# bash completion for tidemark
_tidemark() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} words=
  if [ "$COMP_CWORD" -eq 1 ]; then COMPREPLY=($(compgen -W "{' '.join(pages)} help --help --version" -- "$word")); return; fi
  case "${{COMP_WORDS[1]}}" in
    help) words="{' '.join(pages)}";;
{chr(10).join(cases)}
  esac
  case "$word" in
    -*) COMPREPLY=($(compgen -W "$words" -- "$word"));;
    *) if [ "${{COMP_WORDS[1]}}" = help ]; then COMPREPLY=($(compgen -W "$words" -- "$word")); else COMPREPLY=($(compgen -f -- "$word")); fi;;
  esac
}}
complete -o filenames -F _tidemark tidemark
'''


def quoted(text):
    return text.replace("'", "'\\''")


def zsh(pages, summaries):
    lines = ['#compdef tidemark', '_tidemark() {', '  local -a subcommands', '  subcommands=(']
    lines += [f"    '{name}:{quoted(summaries[name])}'" for name in pages]
    lines += ['  )', "  if (( CURRENT == 2 )); then _describe subcommand subcommands; return; fi", '  local subcommand=${words[2]}', '  shift words; (( CURRENT-- ))',
              '  case $subcommand in', '    help) _describe subcommand subcommands;;']
    for name, page in pages.items():
        specs = []
        for o in page.options:
            text = quoted(re.sub(r'[\[\]:]', ' ', o[2]))[:70]
            value = ':value:_files' if page.takes_value(o) else ''
            specs += [f"'{n}[{text}]{value}'" for n in o[0]]
        lines.append(f"    {name}) _arguments {' '.join(specs)} '*:file:_files';;")
    return '\n'.join(lines + ['  esac', '}', '_tidemark "$@"']) + '\n'


def fish(pages, summaries):
    lines = ['# fish completion for tidemark']
    for name in pages:
        lines.append(f"complete -c tidemark -n __fish_use_subcommand -f -a {name} -d '{quoted(summaries[name])}'")
    for name, page in pages.items():
        for o in page.options:
            words = ''.join(f' -l {n[2:]}' if n.startswith('--') else f' -s {n[1:]}' for n in o[0])
            lines.append(f"complete -c tidemark -n '__fish_seen_subcommand_from {name}'{words}{' -r' if page.takes_value(o) else ''} -d '{quoted(o[2])[:70]}'")
    return '\n'.join(lines) + '\n'


def main():
    binary, out = sys.argv[1], pathlib.Path(sys.argv[2])
    top = said(binary, '--help')
    summaries = dict(re.findall(r'^  ([a-z]+) {2,}(\S.*)$', top.split('\n\nHelp topics')[0], re.M))
    version = said(binary, '--version').split()[1]
    pages = {name: Page(name, said(binary, name, '--help')) for name in summaries}
    (out / 'tidemark.1').write_text(man(Page('', top), 'Flink SQL window queries as one native process', version))
    for name, page in pages.items():
        (out / f'tidemark-{name}.1').write_text(man(page, summaries[name], version))
    (out / 'tidemark.bash').write_text(bash(pages))
    (out / '_tidemark').write_text(zsh(pages, summaries))
    (out / 'tidemark.fish').write_text(fish(pages, summaries))
    (out / 'pages.stamp').write_text('\n'.join(pages) + '\n')


if __name__ == '__main__':
    main()
