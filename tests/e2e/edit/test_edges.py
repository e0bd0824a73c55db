#!/usr/bin/env python3
"""test_edges.py ZESCOPE SUITE TOOL BINARY...: a caller's own code on edges of threads that jump counts what probes count there.

Or (TOOL:clocks) times of parts are together most of the whole: a part ends where a clock is read, and the next begins
where it is read again, some instructions of probes later. A clock that was lost, not read again or another
thread's is far off. Kernels compute what they compute plainly: the suite
compares with plain C. And no kernel is refused by tools that need more than probes which count.
"""
import json
import os
import sys
import tempfile

import names
import test_counts

# They leave no registers; one has 128 KiB of scratch memory.
FULL = {'acm-g10:zebin': ('flow_structs', 'flow_quicksort')}
# Arrays in registers: behind 128 KiB nothing is known there to save others by.
NOT_FAR = {'acm-g10:zebin': ('flow_stack', 'flow_tally')}


def instrumented(tool, binary, kernel=()):
    """Rows of the tool's table, and what it says of kernels that were refused."""
    group, variant, environment = names.of(binary)
    with tempfile.TemporaryDirectory() as top:
        folder = os.path.join(top, 'r')
        test_counts.record(zescope, folder, ['--instrument', tool], [suite, group, binary, 'native', variant, *kernel],
                           environment)
        said = [text for text in test_counts.notes(folder) if 'is not instrumented' in text]
        with open(os.path.join(folder, 'instrument', 'table.json'), encoding='utf-8') as f:
            return json.load(f)['rows'], said


def is_wrong(row):
    parts, whole = row['probe'], row['text']
    return not parts <= whole <= 3 * parts if ':clocks' in tool_of_ours else parts != whole


zescope, suite, tool_of_ours, *binaries = map(os.path.abspath, sys.argv[1:])
assert binaries
for b in binaries:
    rows, refused = instrumented(tool_of_ours, b)
    expected = NOT_FAR.get(names.of(b)[1], ()) if ',far' in tool_of_ours else ()
    missed = [name for name in expected if not any(f'kernel {name} is not' in text for text in refused)]
    assert not missed, missed
    refused = [text for text in refused if test_counts.is_surprise(text) and not any(f'kernel {name} is not' in text for name in expected)]
    wrong = [row for row in rows if is_wrong(row)]
    taken = sum(row['probe'] > 0 for row in rows)
    print(f'{os.path.basename(b)}: {len(rows)} rows, {taken} of them taken, {len(wrong)} wrong, {len(refused)} kernels refused')
    if wrong or refused or not taken:
        sys.exit('\n'.join(map(str, wrong + refused)))
    for name in FULL.get(names.of(b)[1], ()) if tool_of_ours.endswith(':') else ():
        for other in ('latency', 'values'):
            rows, refused = instrumented(other, b, [name])
            refused = [text for text in refused if test_counts.is_surprise(text)]
            print(f'{name}: {len(rows)} rows of {other}, {len(refused)} kernels refused')
            assert rows and not refused and {row['kernel'] for row in rows} == {name}, refused
