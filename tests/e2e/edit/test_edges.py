#!/usr/bin/env python3
"""test_edges.py ZESCOPE SUITE TOOL BINARY...: a caller's own code on edges of threads that jump counts what probes count there.

Or (TOOL:clocks) times of parts are together that of the whole. Kernels compute what they compute plainly: the suite compares with plain C.
"""
import json
import os
import sys
import tempfile

import names
import test_counts

zescope, suite, tool, *binaries = map(os.path.abspath, sys.argv[1:])
assert binaries
for binary in binaries:
    group, variant, environment = names.of(binary)
    with tempfile.TemporaryDirectory() as top:
        folder = os.path.join(top, 'r')
        test_counts.record(zescope, folder, ['--instrument', tool], [suite, group, binary, 'native', variant], environment)
        said = [text for text in test_counts.notes(folder) if 'is not instrumented' in text]
        with open(os.path.join(folder, 'instrument', 'table.json'), encoding='utf-8') as f:
            rows = json.load(f)['rows']
    wrong = [row for row in rows if row['probe'] != row['text']]
    taken = sum(row['probe'] > 0 for row in rows)
    print(f"{group} {variant}: {len(rows)} rows, {taken} of them taken, {len(wrong)} wrong, {len(said)} kernels refused")
    if wrong or said or not taken:
        sys.exit('\n'.join(map(str, wrong + said)))
