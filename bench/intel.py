"""CPU time of launches on Intel's own driver, as a multiple of those on zescope's.

usage: bench/intel.py BUILD_FOLDER [KERNEL...]      DEVICES="skl dg2" chooses devices

Both drivers build the same SPIR-V with the same compiler; outputs are compared with plain C first.
"""
import math
import os
import subprocess
import sys
import tempfile

from gpu import KERNELS, Runner, least_launch, ms

DRIVER = '/usr/lib/x86_64-linux-gnu/libze_intel_gpu.so.1'


def pair(build, spirv, device):
    """The two ways to run a kernel as this device."""
    command = [f'{build}/bench/gpu_ze', spirv]
    env = {'ZESCOPE_DEVICES': device, 'ZESCOPE_LOG': 'error'}
    return [Runner('zescope', command, env={**env, 'ZE_ENABLE_ALT_DRIVERS': f'{build}/src/driver/libze_zescope.so.1'}),
            Runner('Intel', command, env={**env, 'ZE_ENABLE_ALT_DRIVERS': DRIVER,
                                          'LD_PRELOAD': f'{build}/src/drm/libzescope_drm.so'})]


def empty_us(runner, *options):
    return min(runner.run('empty', 2000, *options)['cpu_s'] for _ in range(3)) / 2000 * 1e6


def main():
    build = os.path.abspath(sys.argv[1])
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'gpu', 'kernels.cl')
    kernels = [k for k in KERNELS if k in sys.argv[2:] or len(sys.argv) == 2]
    with tempfile.TemporaryDirectory() as work:
        subprocess.run(['ocloc', 'compile', '-q', '-spv_only', '-file', source, '-device', 'skl', '-output', 'k',
                        '-output_no_suffix', '-out_dir', work], check=True, stdout=subprocess.DEVNULL)
        print('CPU milliseconds of one launch on zescope\'s driver, and how many times as long on Intel\'s\n')
        print('| device | kernel | zescope | Intel\'s, times |\n|---|---|---|---|')
        for device in os.environ.get('DEVICES', 'skl tgllp dg2').split():
            runners, ratios = pair(build, os.path.join(work, 'k.spv'), device), []
            for kernel in kernels:
                for r in runners:
                    r.run(kernel, 1, '--check')
                best = least_launch(runners, kernel, 3)
                ratios.append(best['Intel'][0] / best['zescope'][0])
                print(f'| {device} | {kernel} | {ms(best["zescope"][0])} | {ratios[-1]:.2f} |', flush=True)
            mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
            print(f'| {device} | geometric mean | | {mean:.2f} |')
            for name, options in (('in one submission', ()), ('each waited for', ('--each',))):
                us = [empty_us(r, *options) for r in runners]
                print(f'| {device} | empty, {name} (us) | {us[0]:.2f} | {us[1] / us[0]:.2f} |', flush=True)


if __name__ == '__main__':
    main()
