#!/usr/bin/env python3
"""The random tester as CI runs it: a fixed number of seeded cases against the model in Python, each also in one variant
(batches, threads, checkpoints, stop and resume). Needs nothing but Python and the binary. An empty cell of the coverage table is
a failure; so is a case of known.txt that passes. usage: ci.py [--bin PATH]. Last line: `N passed, M failed`.
"""
import os, sys

HERE = os.path.dirname(os.path.abspath(__file__))
SEED = '8'                              # one whose cases leave no cell of the coverage table empty

if __name__ == '__main__':
    os.execv(sys.executable, [sys.executable, os.path.join(HERE, 'run.py'), '--seed', SEED, '--variants', 'turn', '--strict-coverage', '--known',
                              os.path.join(HERE, 'known.txt'), '--minimise', '0', *sys.argv[1:]])
