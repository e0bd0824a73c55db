"""Generations on the software GPU: how fast instructions of each are, the same kernels.

usage: bench/generations.py BUILD_FOLDER [KERNEL...]

Process CPU time of a launch without driver and loader, the least of RUNS interleaved runs (gpu.py
says how); outputs are compared with plain C first.
"""
import os
import subprocess
import sys
import tempfile

from gpu import KERNELS, Runner, least_launch, ms

DEVICES = ['skl', 'icllp', 'tgllp', 'acm-g10', 'pvc']


def runner(device, build, work):
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'gpu', 'kernels.cl')
    binary = os.path.join(work, device + '.bin')
    subprocess.run(['ocloc', 'compile', '-q', '-file', source, '-device', device, '-output_no_suffix', '-output',
                    binary], check=True, cwd=work, stdout=subprocess.DEVNULL)
    return Runner(device, [os.path.join(build, 'bench/gpu_direct'), binary], ['--device=' + device])


def main():
    build, kernels = os.path.abspath(sys.argv[1]), sys.argv[2:] or KERNELS
    print('Million instructions a second and core, and CPU milliseconds of one launch\n')
    print('| kernel | ' + ' | '.join(f'{d} | ms' for d in DEVICES) + ' |')
    print('|---|' + '---|' * 2 * len(DEVICES))
    with tempfile.TemporaryDirectory() as work:
        runners = [runner(device, build, work) for device in DEVICES]
        for kernel in kernels:
            counted = {r.name: r.run(kernel, 1, '--check', '--instructions')['instructions'] for r in runners}
            best = least_launch(runners, kernel)
            cells = [f'{counted[d] / best[d][0] * 1e-6:.0f} | {ms(best[d][0])}' for d in DEVICES]
            print(f'| {kernel} | {" | ".join(cells)} |', flush=True)


if __name__ == '__main__':
    main()
