#!/usr/bin/env python3
"""run --intel --check: what kernels on Intel's own drivers do wrong is told with kernel, line and argument.

Usage: test_check.py ZESCOPE DEVICE PLANTED RACES RACES-BINARY RACES-SOURCE BOUNDS BOUNDS-BINARY
"""
import json
import os
import re
import subprocess
import sys
import tempfile

ZESCOPE, DEVICE, PLANTED, RACES, BINARY, SOURCE, BOUNDS, OF_BOUNDS = sys.argv[1:9]


def run(kinds, *app):
    """(exit status, findings, stderr)"""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'found.json')
        done = subprocess.run([ZESCOPE, 'run', '--intel', '-d', DEVICE, f'--check={kinds}', '--check-format', 'json', '--check-output', path,
                               '--', *app], capture_output=True, text=True, timeout=120, check=False)
        if not os.path.exists(path):
            return done.returncode, None, done.stderr
        with open(path) as f:
            return done.returncode, json.load(f)['findings'], done.stderr


def line_of(site):
    return int(site['source'].rsplit(':', 1)[1])


for kernel, kinds, kind, lines in (('over', 'memory', 'memory', {4}), ('races', 'race', 'race', {8, 9}),
                                   ('diverges', 'sync', 'sync', {13}), ('branches', 'undefined', 'undefined', {21}),
                                   ('partly', 'undefined', 'undefined', {59})):
    status, found, err = run(kinds, PLANTED, kernel)
    assert status == 99, f'{kernel}: {status} {found} {err}'
    assert {f['kernel'] for f in found} == {kernel} and {f['kind'] for f in found} == {kind}, found
    assert lines & {line_of(s) for f in found for s in f['sites']}, found
    assert all(s['source'].startswith('source:') for f in found for s in f['sites']), found  # the compiler's names are numbers
    if kernel == 'over':
        assert '256 bytes' in found[0]['text'] and 'argument 1' in found[0]['text'], found
for kernel in 'fine', 'own':
    status, found, err = run('memory,init,swsb,race,sync,undefined', PLANTED, kernel)
    assert (status, found) == (0, []), f'{kernel}: {status} {found} {err}'
# wherever memory is for the host: what is there already is compared, and the buffer is named
status, found, err = run('memory,race', PLANTED, 'same')
assert (status, {f['level'] for f in found}) == (0, {'note'}), f'{status} {found} {err}'
assert 'write the same value' in found[0]['text'] and 'clCreateBuffer of 256 bytes' in found[0]['text'], found

# buffers that are not to be written: the application's kernels are held to it, the driver's own fill them. Reads of others are not
# told: compilers write an element of a vector by reading all of it
status, found, err = run('memory', PLANTED, 'fine', 'only-reads', 'only-reads')
assert (status, [f['kernel'] for f in found]) == (99, ['fine']) and line_of(found[0]['sites'][0]) == 28, f'{status} {found} {err}'
assert 'write to read-only memory' in found[0]['text'] and 'clCreateBuffer(CL_MEM_READ_ONLY) of 256 bytes' in found[0]['text'], found
for first in 'reads', 'writes':
    assert run('memory', PLANTED, 'fine', f'only-{first}', 'only-writes')[:2] == (0, [])

# launches that nothing orders
status, found, err = run('race', PLANTED, 'between', 'nothing')
assert (status, [f['kernel'] for f in found]) == (99, ['reads']), f'{status} {found} {err}'
assert [(s['access'], line_of(s)) for s in found[0]['sites']] == [('read', 47), ('write', 44)], found
for how in 'in-order', 'event', 'barrier', 'finish':
    status, found, err = run('race', PLANTED, 'between', how)
    assert (status, found) == (0, []), f'{how}: {status} {found} {err}'
# and by two engines, of devices that have them
if DEVICE == 'acm-g10':
    for second, sites, how in (('reads', [('read', 47), ('write', 53)], 'event'), ('copy', [('read', None), ('write', 53)], 'finish')):
        status, found, err = run('race', PLANTED, 'engines', second, 'nothing')
        assert (status, len(found)) == (99, 1), f'{status} {found} {err}'
        assert sorted((s['access'], s['source'] and line_of(s)) for s in found[0]['sites']) == sites, found
        status, found, err = run('race', PLANTED, 'engines', second, how)
        assert (status, found) == (0, []), f'{second} {how}: {status} {found} {err}'

with open(SOURCE) as f:
    source = f.read().splitlines()
first = next(n for n, text in enumerate(source, 1) if re.search('// first *$', text) and 'tile[LID]' in text)
# local arguments are told apart, wherever the driver has placed them
status, found, err = run('memory', BOUNDS, OF_BOUNDS, 'local-inside')
assert (status, found) == (0, []), f'{status} {found} {err}'
status, found, err = run('memory', BOUNDS, OF_BOUNDS, 'local-behind')
assert (status, [(f['kind'], f['kernel']) for f in found]) == (99, [('memory', 'local_arguments')]), f'{status} {found} {err}'
assert 'bytes from the start of argument 1, a, which has 64' in found[0]['text'] and 'bounds.cl' in found[0]['text'], found
status, found, err = run('race', RACES, BINARY, 'local_no_barrier', '1', '64')
assert status == 99 and found[0]['kernel'] == 'local_no_barrier', f'{status} {found} {err}'
assert first in {line_of(s) for s in found[0]['sites']}, found
for kernel, items in ('fine_own', '64'), ('fine_small_group', '16'):  # ... whose compiler leaves barriers out
    status, found, err = run('race,sync', RACES, BINARY, kernel, '4', items)
    assert (status, found) == (0, []), f'{status} {found} {err}'

assert run('memory', BOUNDS, OF_BOUNDS, 'inside')[:2] == (0, [])
for case, place in ('behind', '0 bytes after the end of device allocation'), ('before', '4 bytes before device allocation'):
    status, found, err = run('memory', BOUNDS, OF_BOUNDS, case)
    assert status == 99 and found[0]['kernel'] == 'write_at' and line_of(found[0]['sites'][0]) == 6, f'{status} {found} {err}'
    assert place in found[0]['text'] and 'zeMemAllocDevice of 16384 bytes' in found[0]['text'], found
# the driver gives freed memory out again: later, while memory is checked
for app, kernel, line, of in ((PLANTED, 'freed'), 'freed', 34, 'clSVMAlloc of 256 bytes'), ((BOUNDS, OF_BOUNDS, 'freed'), 'write_at', 6, 'zeMemAllocDevice'):
    status, found, err = run('memory', *app)
    assert status == 99 and found[0]['kernel'] == kernel and line_of(found[0]['sites'][0]) == line, f'{status} {found} {err}'
    assert 'use after free' in found[0]['text'] and '0 bytes into freed' in found[0]['text'] and of in found[0]['text'], found
for how in 'frees', 'copied':
    assert run('memory', PLANTED, 'fine', how)[:2] == (0, [])

# a recording keeps what is found, with the kernel's line
with tempfile.TemporaryDirectory() as folder:
    kept = os.path.join(folder, 'kept')
    done = subprocess.run([ZESCOPE, 'run', '--intel', '-d', DEVICE, '--', ZESCOPE, 'record', '--no-last', '--check=race', '-o', kept, '--',
                           PLANTED, 'races'], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0 and 'kernel races: race in local memory' in done.stderr, f'{done}'
    report = subprocess.run([ZESCOPE, 'report', '--checks', '--json', kept], capture_output=True, text=True, timeout=120, check=True)
    found = json.loads(report.stdout)['findings']
    assert {(f['kernel'], f['kind']) for f in found} == {('races', 'race')}, found
    assert {8, 9} & {line_of(s) for f in found for s in f['sites']}, found

status, found, err = run('leak', PLANTED, 'fine')
assert status == 2 and 'zescope record tells what leaks' in err, f'{status} {err}'
app = subprocess.run([ZESCOPE, 'run', '--intel', '-d', DEVICE, '--', PLANTED, 'fine', 'fork'], capture_output=True, text=True, timeout=120,
                     check=False)
assert app.returncode == 0 and 'child: 4' in app.stdout, f'{app}'
print('all planted defects were found')
