#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The model of time against itself: what a first launch says of its time, beside a replay of all of it
(ZESCOPE_TIMING=exact), and what both cost. A Markdown table with a row for each launch of the kernels of bench/gpu and
bench/timing on each device, then a summary of each device.
With arguments: these devices alone. BUILD: the folder of the build, build/release."""
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
DEVICES = ['skl', 'icllp', 'tgllp', 'acm-g10', 'pvc']
NEAR = 10  # percent: what the estimate aims at
FIELDS = ['instructions', 'replayed', 'exact', 'off', 'says', 'misses', 'lines', 'plain_ns', 'first', 'all']
GPU = 11  # launches of bench/gpu: they come first


def compile_kernels(folder, name, device):
    out = pathlib.Path(folder, f'{name}.{device}')
    subprocess.run([ROOT / 'tests/tools/ocloc', 'compile', '-q', '-file', ROOT / f'bench/{name}/kernels.cl', '-device', device,
                    '-options', '-cl-std=CL2.0', '-output_no_suffix', '-output', out], check=True, stdout=subprocess.DEVNULL)
    return out


def measure(build, folder, device):
    """[(kernel, groups, {field: number})]"""
    files = [compile_kernels(folder, name, device) for name in ('timing', 'gpu')]
    text = subprocess.run([build / 'bench/timing_accuracy', *files, device], check=True, stdout=subprocess.PIPE, text=True).stdout
    rows = [line.split('\t') for line in text.splitlines()]
    return [(kernel, groups, dict(zip(FIELDS, map(float, numbers)))) for kernel, groups, *numbers in rows]


def error(r):
    """In percent of the time that it tells, as what it says of itself; tables have percent of the whole launch's."""
    return 100 * abs(r['off']) / (100 + r['off'])


def quantile(values, share):
    values = sorted(values)
    return values[min(len(values) * share // 100, len(values) - 1)] if values else 0


def summary(rows):
    launches = [r for _, _, r in rows]
    parts = [r for r in launches if r['replayed'] < 100]
    near = sum(abs(r['off']) <= NEAR for r in launches)
    holds = sum(error(r) <= r['says'] + 0.05 for r in launches)
    scale = quantile([error(r) / r['says'] for r in parts], 95)
    first = [r['first'] for r in launches]
    gpu = [r['first'] for r in launches[:GPU]]
    return (f'{len(parts)} of {len(launches)} in part; within {NEAR} %: {near}, most {max(abs(r["off"]) for r in launches):.1f} %; '
            f'bound holds: {holds}, median {quantile([r["says"] for r in parts], 50):.1f} %, for 95 % of those in part if scaled by {scale:.2f}, '
            f'errors of 95 %: {quantile([error(r) for r in parts], 95):.1f} %; '
            f'lines read, most off: {max(abs(r["lines"]) for r in launches):.0f} %; '
            f'first launch, times plain: bench/gpu {quantile(gpu, 50):.1f} (most {max(gpu):.1f}), '
            f'all {quantile(first, 50):.1f} (most {max(first):.1f}); exact {quantile([r["all"] for r in launches], 50):.1f}')


def main():
    devices = sys.argv[1:] or DEVICES
    build = pathlib.Path(os.environ.get('BUILD', ROOT / 'build/release'))
    subprocess.run(['ninja', '-C', build, '--quiet', 'bench/timing_accuracy'], check=True)
    print('| device | kernel | groups | instructions | replayed % | exact, cycles | off % | says % | plain, us | first, times | exact, times |')
    print('|---' * 11 + '|')
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        for device in devices:
            results[device] = measure(build, folder, device)
            for kernel, groups, r in results[device]:
                print(f'| {device} | {kernel} | {groups} | {r["instructions"]:.0f} | {r["replayed"]:.1f} | {r["exact"]:.0f} | {r["off"]:+.1f} '
                      f'| {r["says"]:.1f} | {r["plain_ns"] / 1000:.0f} | {r["first"]:.1f} | {r["all"]:.1f} |')
    print()
    for device in devices:
        print(f'- `{device}`: {summary(results[device])}')


if __name__ == '__main__':
    main()
