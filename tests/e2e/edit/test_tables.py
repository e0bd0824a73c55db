#!/usr/bin/env python3
"""test_tables.py REWRITE ZESCOPE SUITE PRESSED BINARY... -- VECTOR...: kernels with tables of jumps.

Modules of the suite get one at the entry of each kernel; what tools count then, with registers that are free and with
those that hold nothing at the place, is what the driver counts. Modules of IGC's vector compiler have some of its
own: nops and probes at every instruction leave none of these kernels out.
"""
import os
import subprocess
import sys
import tempfile

import test_counts

TIME_LIMIT_S = 120
rewrite, zescope, suite, pressed, *binaries = map(os.path.abspath, sys.argv[1:])
end = binaries.index(os.path.abspath('--'))
suites, vectors = binaries[:end], binaries[end + 1:]


def rewritten(how, binary, folder):
    """The module, and how many kernels it has and how many were refused."""
    out = os.path.join(folder, os.path.basename(binary))
    said = subprocess.run([rewrite, how, binary, out], check=True, timeout=TIME_LIMIT_S, capture_output=True,
                          text=True).stdout.split()
    return out, int(said[-4]), int(said[-2])


os.environ.pop('ZESCOPE_COUNTS', None)
bad = 0
assert suites and vectors
for suite_binary in suites:
    with tempfile.TemporaryDirectory() as top:
        with_table, kernels, refused = rewritten('tables', suite_binary, top)
        assert refused == 0
        again = os.path.join(top, 'again')
        os.mkdir(again)
        assert rewritten('nops', with_table, again)[1:] == (kernels, 0)
        for tool in ('opcodes', pressed + ':dead'):
            bad += test_counts.compare(zescope, suite, tool, with_table)
for vector in vectors:
    for way in ('nops', 'probes'):
        with tempfile.TemporaryDirectory() as top:
            assert rewritten(way, vector, top)[1:] == (1, 0), (vector, way)
sys.exit(1 if bad else 0)
