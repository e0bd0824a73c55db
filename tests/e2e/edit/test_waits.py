#!/usr/bin/env python3
"""test_waits.py ZESCOPE SUITE BAD-TOOL PRESSED-TOOL RANDOM-TOOL BINARY...: what probes are made of waits for what it needs.

Under ZESCOPE_CHECK a register that was not waited for is a fault, from Gen12LP on: none may come of probes in registers, in
windows that are saved, of traces, and of random ones. Two instructions of BAD-TOOL's that do not wait must be found.
"""
import os
import subprocess
import sys
import tempfile

import names

TIME_LIMIT_S = 300
zescope, suite, bad_tool, pressed_tool, random_tool, *binaries = map(os.path.abspath, sys.argv[1:])
os.environ |= {'ZESCOPE_CHECK': '1', 'ZESCOPE_LOG': 'error'}


def run(tool, binary):
    group, variant, environment = names.of(binary)
    with tempfile.TemporaryDirectory() as top:
        return subprocess.run([zescope, 'record', '--no-trace', '--no-last', '-o', os.path.join(top, 'r'), '--instrument', tool,
                               '--', suite, group, binary, 'native', variant], timeout=TIME_LIMIT_S, capture_output=True,
                              text=True, env=environment)


assert binaries
for binary in binaries:
    done = run(bad_tool + ':hazard', binary)
    assert done.returncode and 'was not waited for' in done.stdout + done.stderr, (binary, done)
    for tool in ('opcodes', 'memtrace', pressed_tool + ':none', random_tool + ':3'):
        done = run(tool, binary)
        assert done.returncode == 0, (binary, tool, done.stdout[-2000:] + done.stderr[-2000:])
    print(os.path.basename(binary), 'ok')
