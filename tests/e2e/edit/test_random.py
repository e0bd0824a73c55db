#!/usr/bin/env python3
"""test_random.py ZESCOPE SUITE TOOL BINARY...: kernels with random probes compute what they compute plainly.

The suite compares with plain C. EDIT_SEEDS=FIRST-LAST tries more than one arrangement of probes.
"""
import os
import subprocess
import sys
import tempfile

import names

TIME_LIMIT_S = 300
# A record in a loop, which lanes had left that waited with what they held.
FOUND = {('flow', 'stateless'): 1147}
zescope, suite, tool, *binaries = map(os.path.abspath, sys.argv[1:])
first, last = map(int, os.environ.get('EDIT_SEEDS', '1-1').split('-'))
bad = 0
assert binaries
for seed in range(first, last + 1):
    for number, binary in enumerate(binaries):
        group, variant, environment = names.of(binary)
        chosen = FOUND.get((group, variant), seed * 100 + number)
        with tempfile.TemporaryDirectory() as top:
            run = subprocess.run([zescope, 'record', '--no-trace', '--no-last', '-o', os.path.join(top, 'r'), '--instrument',
                                  f'{tool}:{chosen}', '--', suite, group, binary, 'native', variant],
                                 timeout=TIME_LIMIT_S, capture_output=True, text=True, env=environment)
            made = os.listdir(os.path.join(top, 'r', 'instrument')) if run.returncode == 0 else []
        ok = run.returncode == 0 and any(name.endswith('.data') for name in made)
        print(group, variant, seed, 'ok' if ok else 'bad')
        if not ok:
            bad += 1
            print(run.stdout[-2000:] + run.stderr[-2000:])
sys.exit(1 if bad else 0)
