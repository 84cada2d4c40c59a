#!/usr/bin/env python3
"""The tour of docs/inspect.md is true: its commands are run, and their output is what the page shows.

usage: tour.py [--bin PATH] [--update]      --update writes the output into the page
What differs each time (wall clock, ages, sizes on disk) is compared with its digits masked. Last line: `N passed, M failed`.
"""
import argparse, os, pathlib, re, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / 'docs/inspect.md'


def masked(text):
    text = re.sub(r'(?!2024)\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}', 'NOW', text)
    text = re.sub(r'[\d.]+ (s|min|h) ago', 'AGE ago', text)
    return '\n'.join(l.rstrip() for l in re.sub(r'[\d.]+ (KB|bytes)', 'SIZE', text).rstrip('\n').split('\n'))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument('--bin', default='build/tidemark'); ap.add_argument('--update', action='store_true')
    a = ap.parse_args()
    parts = re.split(r'(^```(?:console|sql)\n.*?^```\n)', PAGE.read_text(), flags=re.S | re.M)
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix='tide-tour-') as folder:
        env = {**os.environ, 'PATH': folder + '/bin:' + os.environ['PATH'], 'LC_ALL': 'C.UTF-8'}
        os.mkdir(folder + '/bin'); os.symlink(os.path.abspath(a.bin), folder + '/bin/tidemark')
        for n, part in enumerate(parts):
            script = re.match(r'```sql\n-- (\S+)\n', part)
            if script:
                pathlib.Path(folder, script.group(1)).write_text(part[len('```sql\n'):-len('```\n')])
            if not part.startswith('```console\n'):
                continue
            shown = re.split(r'^\$ ', part[len('```console\n'):-len('```\n')], flags=re.M)[1:]
            made = '```console\n'
            for step in shown:
                lines = step.split('\n')
                command = [lines.pop(0)]
                while command[-1].endswith('\\'):
                    command.append(lines.pop(0))
                command = '\n'.join(command)
                p = subprocess.run(['bash', '-c', command], cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                out = p.stdout.rstrip('\n')
                made += f'$ {command}\n' + (out + '\n' if out else '')
                if masked(out) == masked('\n'.join(lines)):
                    passed += 1
                else:
                    failed += 1
                    if not a.update:
                        print(f'FAIL {command}\n--- the page\n' + '\n'.join(lines) + f'\n--- the program\n{out}', flush=True)
            parts[n] = made + '```\n'
    if a.update:
        PAGE.write_text(''.join(parts))
    print(f'{passed} passed, {failed} failed')
    return failed != 0


if __name__ == '__main__':
    sys.exit(main())
