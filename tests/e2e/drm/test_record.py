#!/usr/bin/env python3
"""Tools over Intel's own driver: a recording has the kernels' times and code, probes count, and what each
instruction did, and the page, are what they are on zescope's driver.

Usage: test_record.py ZESCOPE ZESCOPES-DRIVER DEVICE PROGRAM [ARGS...]
"""
import csv
import glob
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../tools'))
from page_items import unpacked  # noqa: E402

zescope, driver, device = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3]
app = [os.path.abspath(arg) if os.path.exists(arg) else arg for arg in sys.argv[4:]]


def run(folder, *command):
    """What a command prints; it must succeed."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, cwd=folder, check=False)
    assert done.returncode == 0, f'{command}: {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}'
    return done.stdout


def counts(recording):
    """{kernel: {offset: [launches, executions, lanes, bytes read, bytes written]}}, of what was executed."""
    kernels = {}
    for path in glob.glob(os.path.join(recording, 'counts', '*.counts')):
        with open(path, 'rb') as f:
            data = f.read()
        rows, launches = struct.unpack_from('<I8xQ', data, 12)
        name = data[48:48 + struct.unpack_from('<I', data, 44)[0]].decode()
        for at in range(256, 256 + rows * 40, 40):
            offset, *values = struct.unpack_from('<qQQQQ', data, at)
            if values[0]:
                known = kernels.setdefault(name, {}).setdefault(offset, [0] * 5)
                kernels[name][offset] = [a + b for a, b in zip(known, [launches, *values])]
    return kernels


def metrics(folder, recording):
    """{(kernel, group, metric): value}, sums of launches."""
    rows = csv.DictReader(run(folder, zescope, 'metrics', 'show', '--by', 'kernel', '--csv', recording).splitlines())
    return {(row['kernel'], row['group'], row['metric']): float(row['value']) for row in rows}


def page(folder, recording):
    """What the page of a recording has, without times, numbers of the process and the device's name."""
    path = os.path.join(folder, 'page.html')
    run(folder, zescope, 'report', recording, '--html', path)
    with open(path) as f:
        text = f.read()
    data, recorded = (json.loads(re.search(f'id="{part}">(.*?)</script>', text, re.S)[1]) for part in ('data', 'recording'))
    del data['input']
    data['notes'] = [note for note in data.get('notes', []) if 'modelled' not in note]
    for kernel in (k for d in data['devices'] for k in d['kernels']):
        kernel.pop('note', None)  # of a module's input, which drivers keep differently
        columns = [column for column in kernel.get('columns', []) if not column['name'][0].isupper()]  # metrics are compared apart
        kernel['columns'] = [{**column, 'values': [value or 0 for value in column['values']]} for column in columns]
        for inst in kernel['instructions']:
            for key in [key for key in inst if key[0].isupper()]:
                del inst[key]
        for inst in kernel['instructions']:  # below Intel's driver what stands before a thread's start is not there
            if inst.get('executions') == 0:
                for key in ('share', 'lanes', 'executions', 'active_lanes', 'read_B', 'written_B'):
                    inst.pop(key, None)
    report, timeline = recorded['report'], unpacked(recorded['timeline'])
    kernels = [{key: row[key] for key in ('name', 'module', 'shape', 'simd', 'count', 'timed')} for row in report['kernels']]
    calls = {row['name']: (row['count'], row['failed']) for row in report['calls']}
    tracks = [(sorted(set(track) - {'device'}), len(track['items'])) for track in timeline['tracks']]
    return {'listing': data, 'kernels': sorted(kernels, key=str), 'calls': calls, 'tracks': tracks}


with tempfile.TemporaryDirectory() as folder:
    recording = os.path.join(folder, 'run')
    run(folder, zescope, 'record', '--intel', '-d', device, '--no-last', '-o', recording, '--', *app)
    report = run(folder, zescope, 'report', recording)
    assert 'zeCommandListAppendLaunchKernel' in report
    kernels = report.split('\nkernels\n')[1].split('\n\n')[0].splitlines()[1:]
    assert kernels, report
    for line in kernels:
        time = line.split('%')[1].split()[0]
        assert float(time) > 0, f'a kernel without a time: {line}'
    assert 'SIMD' in run(folder, zescope, 'annotate', recording)
    counted = run(folder, zescope, 'run', '--intel', '-d', device, '--', zescope, 'instrument', 'opcodes', '--', *app)
    assert any(line.split()[1:2] == ['mov'] for line in counted.splitlines()), counted[-2000:]
    profile = run(folder, zescope, 'profile', '--intel', '-d', device, '--quiet', '-o', 'profiled', '--', *app)
    assert 'modelled' in profile and profile.count('limited by') >= len({line.split()[-1] for line in kernels}) and 'not measured' not in profile, profile
    groups = ('--metrics', 'ZscopeMemory,ZscopeMemoryByAddress')
    run(folder, zescope, 'record', '--intel', '-d', device, '--no-last', '--counts', *groups, '-o', 'a', '--', *app)
    os.environ.update(ZE_ENABLE_ALT_DRIVERS=driver, ZESCOPE_DEVICES=device)
    run(folder, zescope, 'record', '--no-last', '--counts', *groups, '-o', 'b', '--', *app)
    intels, ours = (counts(os.path.join(folder, name)) for name in 'ab')
    assert len(ours) > 5 and intels.keys() == ours.keys(), f'{sorted(intels)} {sorted(ours)}'
    skips_less = False
    for kernel, rows in ours.items():
        differ = {at: (row, intels[kernel].get(at)) for at, row in rows.items() if intels[kernel].get(at) != row}
        # what loads local ids, in front, is skipped by one driver or the other
        more = [at for at in intels[kernel] if at not in rows]
        assert not differ and all(at < min(rows) for at in more), f'{kernel}: {differ} {more}'
        skips_less |= bool(more)
    theirs, mine = (metrics(folder, name) for name in 'ab')
    assert len(mine) > 200 and theirs.keys() == mine.keys(), mine.keys() ^ theirs.keys()
    of_kernels = ('Global', 'Scratch', 'Slm', 'Typed', 'Sampler')  # whatever loads local ids
    apart = {key: (theirs[key], value) for key, value in mine.items()
             if abs(theirs[key] - value) > 0.1 * value + 20 and (key[2].startswith(of_kernels) or not skips_less)}
    assert not apart, apart
    pages = page(folder, 'a'), page(folder, 'b')
    for part, value in pages[1].items():
        if part != 'listing' or not skips_less:
            assert pages[0][part] == value, f'{part}: {str(pages[0][part])[:2000]}\n{str(value)[:2000]}'
    one = sorted(ours)[0]
    run(folder, zescope, 'run', '--intel', '-d', device, '--', zescope, 'record', '--no-last', '--counts', '-k', f'^{one}$', '-o', 'c', '--',
        *app)
    assert counts(os.path.join(folder, 'c')) == {one: ours[one]}
    assert 'lanes' in run(folder, zescope, 'annotate', os.path.join(folder, 'a'))
print('recorded, counted, annotated, instrumented')
