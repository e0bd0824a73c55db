#!/usr/bin/env python3
"""test_each.py ZESCOPE SUITE TOOL BINARY...: a probe at every single instruction, one by one.

In turn N each kernel that is as long has one probe, at its instruction N: lanes that are counted in registers, the same
with registers saved, a record. The suite compares results with plain C, lanes are compared with the driver's exact ones.
EDIT_EACH=FIRST:LAST:STEP says which N; not set, a few of each module.
"""
import json
import os
import sys
import tempfile

import names
import test_counts

WAYS = ('', ',pressed', ',trace')
FEW = 6
zescope, suite, tool, *binaries = map(os.path.abspath, sys.argv[1:])


def lanes_at(folder):
    """Rows of the tool's table: kernel, offset, lanes."""
    with open(os.path.join(folder, 'instrument', 'table.json'), encoding='utf-8') as f:
        return [(r['kernel'], int(r['offset']), r['lanes']) for r in json.load(f)['rows']]


def difference(expected, rows):
    """The first place with other lanes than the driver counted."""
    for kernel, offset, lanes in rows:
        known = expected.get(kernel)
        if known and not test_counts.RACES.match(kernel) and known.get(offset, (0, 0))[1] != lanes:
            return f'{kernel}+{offset:#x}: {lanes} lanes, not {known.get(offset)}'
    return ''


def try_all(binary):
    group, variant, environment = names.of(binary)
    app = [suite, group, binary, 'native', variant]
    turns = probed = 0
    with tempfile.TemporaryDirectory() as top:
        plain = os.path.join(top, 'plain')
        test_counts.record(zescope, plain, ['--counts'], app, environment)
        expected = test_counts.counts(plain)
    most = max((len(rows) for rows in expected.values()), default=0)
    wanted = os.environ.get('EDIT_EACH')
    turns_at = range(*map(int, wanted.split(':'))) if wanted else range(1, most, most // FEW + 1)
    for n in turns_at:
        for way in WAYS:
            with tempfile.TemporaryDirectory() as top:
                folder = os.path.join(top, 'r')
                test_counts.record(zescope, folder, ['--instrument', f'{tool}:{n}{way}'], app, environment)
                rows, said = lanes_at(folder), test_counts.notes(folder)
            turns += 1
            probed += len(rows)
            wrong = difference(expected, rows)
            if wrong:
                sys.exit(f'{group} {variant} {n}{way}: {wrong}')
            if said and os.environ.get('SHOW_NOTES'):
                print(n, way, said)
    print(f'{group} {variant}: {turns} turns, lanes compared in {probed} kernels')
    assert turns and probed


assert binaries
for b in binaries:
    try_all(b)
