#!/usr/bin/env python3
"""Tools over Intel's own driver: a recording has the kernels' times and code, probes count.

Usage: test_record.py ZESCOPE DEVICE PROGRAM [ARGS...]
"""
import os
import subprocess
import sys
import tempfile

zescope, device = os.path.abspath(sys.argv[1]), sys.argv[2]
app = [os.path.abspath(arg) if os.path.exists(arg) else arg for arg in sys.argv[3:]]


def run(folder, *command):
    """What a command prints; it must succeed."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, cwd=folder, check=False)
    assert done.returncode == 0, f'{command}: {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}'
    return done.stdout


with tempfile.TemporaryDirectory() as folder:
    recording = os.path.join(folder, 'run')
    run(folder, zescope, 'run', '--intel', '-d', device, '--', zescope, 'record', '--no-last', '-o', recording, '--', *app)
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
print('recorded, annotated, instrumented')
