#!/usr/bin/env python3
"""instrument.py ZESCOPE FEW MANY SPIRV: what probes cost kernels, on the software GPU.

FEW and MANY are the same program with few and many steps: processor time of the one less that of
the other, least of the turns, over the same without probes.
"""
import os
import resource
import shutil
import subprocess
import sys
import tempfile

TURNS = 7
zescope, few, many, spirv = sys.argv[1:]


def user_s(tool, app, folder):
    shutil.rmtree(folder, ignore_errors=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    options = ['--instrument', tool] if tool else []
    subprocess.run([zescope, 'record', '--no-trace', '--no-activity', '--no-last', '-o', folder, *options, '--', app, spirv],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


best = {}
with tempfile.TemporaryDirectory() as top:
    for _ in range(TURNS):
        for tool in ('', 'opcodes', 'blocks', 'lanes'):
            for app in (few, many):
                took = user_s(tool, app, os.path.join(top, 'r'))
                best[tool, app] = min(best.get((tool, app), took), took)
print('| tool | times the plain kernels |\n|---|---|')
plain = best['', many] - best['', few]
for tool in ('opcodes', 'blocks', 'lanes'):
    print(f'| `{tool}` | {(best[tool, many] - best[tool, few]) / plain:.2f} |')
