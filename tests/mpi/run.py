#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Ranks of an MPI program, recorded one by one and viewed as one.

Usage: run.py ZESCOPE DRIVER MPIRUN PROGRAM SPIRV VARIABLE_OF_THE_RANK
"""
import json
import os
import subprocess
import sys
import tempfile

ZESCOPE, DRIVER, MPIRUN, PROGRAM, SPIRV = (os.path.abspath(p) for p in sys.argv[1:6])
RANK = sys.argv[6]
RANKS, LAUNCHES = 3, 10 + 20 + 30
ENVIRONMENT = dict(os.environ, ZE_ENABLE_ALT_DRIVERS=DRIVER, OMPI_ALLOW_RUN_AS_ROOT='1',
                   OMPI_ALLOW_RUN_AS_ROOT_CONFIRM='1', OMPI_MCA_rmaps_base_oversubscribe='1')


def run(*words):
    p = subprocess.run(words, env=ENVIRONMENT, capture_output=True, text=True, timeout=300, check=False)
    if p.returncode:
        sys.exit(f'{words}: exit {p.returncode}\n{p.stdout}{p.stderr}')
    return p.stdout


def expect(what, found, wanted):
    if found != wanted:
        sys.exit(f'{what}: {found}, not {wanted}')


def kernels(path):
    return {k['name']: k['count'] for k in json.loads(run(ZESCOPE, 'report', '--json', path))['kernels']}


def ranks(output, *path):
    """All ranks are recorded with this -o; what the program says is the same as ever."""
    said = run(MPIRUN, '-n', str(RANKS), ZESCOPE, 'record', '--no-last', '-q', '-o',
               os.path.join(*path, output), '--', PROGRAM, SPIRV)
    expect('the sum over the ranks', said.split(), [str(LAUNCHES)])


def by_rank(top):
    folder = os.path.join(top, 'run')
    os.mkdir(folder)
    ranks('rank-%q{' + RANK + '}', folder)
    expect('recordings', sorted(os.listdir(folder)), [f'rank-{i}' for i in range(RANKS)])
    expect('kernels of all ranks', kernels(folder), {'add': LAUNCHES})
    for i in range(RANKS):
        expect(f'kernels of rank {i}', kernels(os.path.join(folder, f'rank-{i}')), {'add': 10 * (i + 1)})
    log = run(ZESCOPE, 'log', folder).splitlines()
    appends = [line for line in log if 'zeCommandListAppendLaunchKernel(' in line]
    expect('launches in the log', len(appends), LAUNCHES)
    timeline = os.path.join(top, 'all.json')
    run(ZESCOPE, 'timeline', folder, '-o', timeline)
    with open(timeline, encoding='utf-8') as f:
        events = json.load(f)
    events = events['traceEvents'] if isinstance(events, dict) else events
    names = {e['args']['name'] for e in events if e.get('name') == 'process_name'}
    for i in range(RANKS):
        if not any(name.startswith(f'rank-{i}/ranks') for name in names):
            sys.exit(f'rank {i} is not in the timeline: {names}')


def one_name(top):
    """Without a name of its own each rank has a folder of its own all the same."""
    folder = os.path.join(top, 'same')
    os.mkdir(folder)
    ranks('rec', folder)
    expect('recordings', sorted(os.listdir(folder)), ['rec', 'rec.2', 'rec.3'])
    expect('kernels of all ranks', kernels(folder), {'add': LAUNCHES})


def around(top):
    """One recording of mpirun and all that it starts."""
    path = os.path.join(top, 'around')
    run(ZESCOPE, 'record', '--no-last', '-q', '-o', path, '--', MPIRUN, '-n', str(RANKS), PROGRAM, SPIRV)
    expect('kernels of all processes', kernels(path), {'add': LAUNCHES})


with tempfile.TemporaryDirectory() as scratch:
    for work in (by_rank, one_name, around):
        work(scratch)
