#!/usr/bin/env python3
"""test_counts.py ZESCOPE SUITE TOOL BINARY...: what a tool counts is what the driver counts.

The suite runs each module plainly, with the driver's exact counts, and with its kernels
instrumented; both compare results with plain C. Of `opcodes` no kernels may be refused; of other tools those that are
are named. At least one kernel of a module must have been compared.
"""
import collections
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

import names

TIME_LIMIT_S = 600
# On XeHPG calls by address ask which EU of a pair their thread runs on.
BY_PLACE = {('acm-g10', 'pointers')}
HOLDER = 'Intel_Symbol_Table_Void_Program'
# What these execute depends on the order in which threads come: how often one waits in vain, or tries again. All come
# in, so what is counted of the first instruction is the same.
RACES = re.compile('sync_atomic_|sync_chain|sync_float|sync_lock|printf_overflow')


def counts(folder):
    """{kernel: {offset: (executions, lanes)}} of a recording."""
    found = collections.defaultdict(lambda: collections.defaultdict(lambda: (0, 0)))
    path = os.path.join(folder, 'counts')
    for name in os.listdir(path) if os.path.isdir(path) else []:
        with open(os.path.join(path, name), 'rb') as f:
            data = f.read()
        rows, = struct.unpack_from('<I', data, 12)
        length, = struct.unpack_from('<I', data, 44)
        kernel = data[48:48 + length].decode()
        for row in range(rows):
            offset, executions, lanes = struct.unpack_from('<qQQ', data, 256 + 40 * row)
            before = found[kernel][offset]
            found[kernel][offset] = (before[0] + executions, before[1] + lanes)
    return found


def notes(folder):
    texts = []
    for top, _, names in os.walk(os.path.join(folder, 'process')):
        for name in names:
            if name == 'notes.jsonl':
                with open(os.path.join(top, name), encoding='utf-8') as f:
                    texts += [json.loads(line)['text'] for line in f]
    return texts


# of the suite's code that writes registers that a0 chooses: which others are free is not known
UNKNOWN = re.compile(r'(kernel flow_(tally|quicksort)|code of exported functions) is not .*(registers that a0 chooses|are free for clocks is not known)')


def is_surprise(note):
    """What is refused is a fault, but for that."""
    return 'is not instrumented' in note and not UNKNOWN.search(note)


def refused_kernel(note):
    """Exported functions have a kernel's place in a module, which is nobody's name."""
    assert HOLDER not in note, note
    return HOLDER if 'exported functions' in note else re.search(r'kernel (\S+) is not', note)[1]


def record(zescope, folder, options, app, environment):
    run = subprocess.run([zescope, 'record', '--no-trace', '--no-last', '-o', folder, *options, '--', *app],
                         timeout=TIME_LIMIT_S, capture_output=True, text=True, env=environment)
    if run.returncode:
        sys.exit(f'{options} {app}: exit {run.returncode}\n{run.stdout[-3000:]}{run.stderr[-3000:]}')


def compare(zescope, suite, tool, binary):
    group, variant, environment = names.of(binary)
    app = [suite, group, binary, 'native', variant]
    with tempfile.TemporaryDirectory() as top:
        plain, tooled = os.path.join(top, 'plain'), os.path.join(top, 'tooled')
        record(zescope, plain, ['--counts'], app, environment)
        record(zescope, tooled, ['--instrument', tool], app, environment)
        expected, got, said = counts(plain), counts(tooled), notes(tooled)
    refused = {refused_kernel(text) for text in said if 'is not instrumented' in text}
    device = names.device_of(binary)
    by_place = (device, group) in BY_PLACE
    wrong = [f'{k}: nothing was counted' for k in set(expected) - refused if not got[k]]
    for kernel, rows in expected.items():
        if kernel in refused or by_place:
            continue
        first = min(offset for offset in rows if offset >= 0)
        for offset, numbers in rows.items():
            if RACES.match(kernel) and offset != first:
                continue
            if got[kernel][offset] != numbers and offset >= 0:
                wrong.append(f'{kernel}+{offset:#x}: {got[kernel][offset]}, not {numbers}')
    compared = len({k for k in expected if not RACES.match(k)} - refused)
    print(f'{group} {variant}: {compared} kernels compared, {len(refused)} refused, {len(wrong)} wrong')
    for text in wrong[:8]:
        print('  ' + text)
    if os.environ.get('SHOW_NOTES'):
        print('\n'.join(said))
    not_done = [text for text in said if is_surprise(text)]
    if tool == 'opcodes' and not_done:
        print('  ' + '\n  '.join(not_done))
        return True
    return bool(wrong) or not compared


def main():
    zescope, suite, tool, *binaries = sys.argv[1:]
    os.environ.pop('ZESCOPE_COUNTS', None)
    sys.exit(1 if sum([compare(zescope, suite, tool, b) for b in binaries]) else 0)


if __name__ == '__main__':
    main()
