#!/usr/bin/env python3
"""test_deaths.py ZESCOPE DIES OCLOC SOURCE: what probes found out is there however the application ends.

dies launches stride4 or copy_even in 4 threads a time, waits, and is gone.
"""
import json
import os
import signal
import subprocess
import sys
import tempfile

TIME_LIMIT_S = 120
THREADS, ITEMS, LAUNCHES = 4, 64, 5
zescope, dies, ocloc, source = map(os.path.abspath, sys.argv[1:])
ENDS = {'kill': signal.SIGKILL, 'destroy': signal.SIGKILL, 'abort': signal.SIGABRT, 'segv': signal.SIGSEGV, '_exit': 0,
        'exit': 0}


def run(tool, how, recorded, folder, kernel='stride4'):
    command = [zescope, 'record', '--instrument', tool, '--no-last', *recorded, '-o', folder, '--', dies,
               os.path.join(top, 'copy.bin'), kernel, str(LAUNCHES), how]
    done = subprocess.run(command, timeout=TIME_LIMIT_S, capture_output=True, text=True, cwd=top)
    with open(os.path.join(folder, 'instrument', 'table.json'), encoding='utf-8') as f:
        return done, json.load(f)


def check(how, status, recorded):
    name = how + str(len(recorded))
    done, table = run('opcodes', how, recorded, os.path.join(top, name))
    assert done.returncode in (status, 128 + status if status else 0), (how, done.returncode, done.stderr)
    ends = [r for r in table['rows'] if r['opcode'] == 'send' or r['opcode'] == 'sends']
    assert not table['damaged'] and table['modules'] == 1 and ends, (how, table)
    # killed before it had freed its module: not final
    assert table['partial'] == (how not in ('exit', 'destroy')), (how, table)
    once = min(r['executions'] for r in table['rows'])
    assert once == THREADS * LAUNCHES, (how, table)
    done, table = run('memtrace', how, recorded, os.path.join(top, name + 'm'))
    lanes = {r['access'].split()[0]: r['lanes'] for r in table['rows']}
    assert lanes == {'load': ITEMS * LAUNCHES, 'store': ITEMS * LAUNCHES}, (how, table)
    print(how, recorded, 'ok')


with tempfile.TemporaryDirectory() as top:
    subprocess.run([ocloc, 'compile', '-q', '-file', source, '-device', 'skl', '-output_no_suffix', '-output',
                    os.path.join(top, 'copy.bin')], check=True, timeout=TIME_LIMIT_S)
    for how, status in ENDS.items():
        check(how, status, [])
        if how in ('kill', 'exit'): # the loader's tracing layer calls the recorder then
            check(how, status, ['--no-trace', '--no-activity'])
    # killed while a kernel runs: what its threads had counted by then
    for tool, number in (('opcodes', 'executions'), ('memtrace', 'messages')):
        done, table = run(tool, 'run', [], os.path.join(top, 'run-' + tool), 'endless')
        assert done.returncode in (signal.SIGKILL, 128 + signal.SIGKILL) and table['partial'] == 1, (done, table)
        assert 'had come when somebody last looked' in done.stderr, done
        assert table['rows'] and min(r[number] for r in table['rows']) > 100 * THREADS * LAUNCHES, table
    # exit in a signal's handler, while the other thread may be anywhere in the recorder
    # (the loader's tracing layer may crash then: its destructors run while that thread is in it)
    for attempt in range(3):
        done, table = run('opcodes', 'hang', [], os.path.join(top, f'hang{attempt}'))
        if done.returncode != 128 + signal.SIGSEGV:
            break
    assert done.returncode == 0 and table['modules'] == 1, (done, table)
