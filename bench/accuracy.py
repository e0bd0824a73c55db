#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How far the modelled time of a launch of which parts are replayed is off the whole launch's: a Markdown
table of the kernels of bench/gpu and bench/timing, a column for each device. A cell: how much was replayed, how
far it is off, how far it says that it may be; then a summary for each device.
With arguments: these devices alone. BUILD: the folder of the build, build/release."""
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
DEVICES = ['skl', 'icllp', 'tgllp', 'acm-g10', 'pvc']
SUSPECT = 20  # percent: from here on a time is not to be trusted


def compile_kernels(folder, name, device):
    out = pathlib.Path(folder, f'{name}.{device}')
    subprocess.run([ROOT / 'tests/tools/ocloc', 'compile', '-q', '-file', ROOT / f'bench/{name}/kernels.cl', '-device', device,
                    '-options', '-cl-std=CL2.0', '-output_no_suffix', '-output', out], check=True, stdout=subprocess.DEVNULL)
    return out


def measure(build, folder, device):
    """{(kernel, groups, which of these): [numbers]}"""
    files = [compile_kernels(folder, name, device) for name in ('timing', 'gpu')]
    text = subprocess.run([build / 'bench/timing_accuracy', *files, device], check=True, stdout=subprocess.PIPE, text=True).stdout
    rows = {}
    for line in text.splitlines():
        kernel, groups, *numbers = line.split('\t')
        again = sum(k[:2] == (kernel, groups) for k in rows)
        rows[kernel, groups, again] = [float(n) for n in numbers]
    return rows


def cell(numbers):
    replayed, _, off, says, _, _ = numbers
    return f'{replayed:.0f}: {off:+.1f} ({says:.0f})' if replayed < 100 else 'whole'


def error(numbers):
    """In percent of the time that it tells, as what it says of itself; cells have percent of the whole launch's."""
    return 100 * abs(numbers[2]) / (100 + numbers[2])


def summary(rows):
    sampled = [r for r in rows.values() if r[0] < 100]
    off = sorted(abs(r[2]) for r in sampled)
    if not off:
        return 'none is sampled'
    more = [(k, r) for k, r in rows.items() if r[0] < 100 and error(r) > r[3]]
    text = (f'{len(off)} sampled of {len(rows)}; off: median {off[len(off) // 2]:.1f} %, 90 % of them less than '
            f'{off[len(off) * 9 // 10]:.1f} %, most {off[-1]:.1f} %; more than it says: {len(more)}; says {SUSPECT} % or more: '
            f'{sum(r[3] >= SUSPECT for r in sampled)}')
    lines = sorted(abs(r[5]) for r in sampled)
    misses = sorted(abs(r[4]) for r in sampled)
    text += (f"; L3's misses off: median {misses[len(misses) // 2]:.1f} %, most {misses[-1]:.0f} %; lines read from memory: "
             f'median {lines[len(lines) // 2]:.1f} %, most {lines[-1]:.0f} %')
    return text + ''.join(f'; {k[0]} {k[1]}: {error(r):.1f} % of its time, says {r[3]:.0f} %' for k, r in more)


def main():
    devices = sys.argv[1:] or DEVICES
    build = pathlib.Path(os.environ.get('BUILD', ROOT / 'build/release'))
    subprocess.run(['ninja', '-C', build, '--quiet', 'bench/timing_accuracy'], check=True)
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        for device in devices:
            results[device] = measure(build, folder, device)
    print('| kernel | groups | ' + ' | '.join(devices) + ' |\n' + '|---' * (len(devices) + 2) + '|')
    for key in results[devices[0]]:
        print(f'| {key[0]} | {key[1]} | ' + ' | '.join(cell(results[d][key]) if key in results[d] else '' for d in devices) + ' |')
    print()
    for device in devices:
        print(f'- `{device}`: {summary(results[device])}')


if __name__ == '__main__':
    main()
