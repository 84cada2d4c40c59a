#!/usr/bin/env python3
"""meson install: the pages that tools/pages.py made. usage: install_pages.py BUILD_DIR MANDIR DATADIR (below MESON_INSTALL_DESTDIR_PREFIX)"""
import os, pathlib, shutil, sys

build, mandir, datadir = sys.argv[1:4]
prefix = pathlib.Path(os.environ['MESON_INSTALL_DESTDIR_PREFIX'])
names = (pathlib.Path(build) / 'pages.stamp').read_text().split()
places = {f'{n}.1': prefix / mandir / 'man1' / f'{n}.1' for n in ['tidemark'] + [f'tidemark-{n}' for n in names]}
places['tidemark.bash'] = prefix / datadir / 'bash-completion' / 'completions' / 'tidemark'
places['_tidemark'] = prefix / datadir / 'zsh' / 'site-functions' / '_tidemark'
places['tidemark.fish'] = prefix / datadir / 'fish' / 'vendor_completions.d' / 'tidemark.fish'
for name, place in places.items():
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(pathlib.Path(build) / name, place)
