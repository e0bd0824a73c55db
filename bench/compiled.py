"""Kernels interpreted and compiled on the software GPU (docs/eu-compiled.md).

usage: bench/compiled.py BUILD_FOLDER [divergent | KERNEL...]

PoCL's CPU device runs the same kernels from their source. Process CPU time of a launch, the least of interleaved runs (gpu.py says how); outputs are compared
with plain C first. Behind it are instructions of the kernel, and CPU time of compiling it for the host.
"""
import math
import os
import subprocess
import sys
import tempfile

from gpu import DIVERGENT, KERNELS, Runner, least_launch, ms

DEVICES = ['skl', 'acm-g10', 'pvc']


def runner(device, eu, build, work):
    env = {'ZE_ENABLE_ALT_DRIVERS': os.path.join(build, 'src/driver/libze_zescope.so.1'),
           'ZESCOPE_LOG': 'error', 'ZESCOPE_DEVICES': device, 'ZESCOPE_EU': eu}
    return Runner(eu, [os.path.join(build, 'bench/gpu_ze'), os.path.join(work, device + '.bin')], env=env)


def main():
    build, kernels = os.path.abspath(sys.argv[1]), sys.argv[2:] or KERNELS
    if kernels == ['divergent']:
        kernels = DIVERGENT
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'gpu',
                          'divergent.cl' if kernels[0] in DIVERGENT else 'kernels.cl')
    print('CPU milliseconds of one launch, interpreted and compiled\n')
    print('| device | kernel | interpreter | compiled | ratio | PoCL | instructions | to compile, all lanes | any | all, neighbours |\n|---|---|---|---|---|---|---|---|---|---|')
    with tempfile.TemporaryDirectory() as work:
        for device in DEVICES:
            subprocess.run(['ocloc', 'compile', '-q', '-file', source, '-device', device, '-output_no_suffix',
                            '-output', device + '.bin'], check=True, cwd=work, stdout=subprocess.DEVNULL)
            slow, fast = (runner(device, eu, build, work) for eu in ('interpreter', 'compiled'))
            pocl = Runner('PoCL', [os.path.join(build, 'bench/gpu_cl'), source],
                          env={'OCL_ICD_VENDORS': 'pocl.icd', 'POCL_CACHE_DIR': work})
            logs = []
            for kernel in kernels:
                for r in (slow, fast):
                    r.run(kernel, 1, '--check')
                best = least_launch([slow, fast, pocl], kernel, 3)
                made = subprocess.run([os.path.join(build, 'bench/host_code'), os.path.join(work, device + '.bin'), device,
                                       kernel], check=True, capture_output=True, text=True).stdout.split()
                a, b = best['interpreter'][0], best['compiled'][0]
                logs.append(math.log(a / b))
                print(f'| {device} | {kernel} | {ms(a)} | {ms(b)} | {a / b:.2f} '
                      f'| {ms(best["PoCL"][0])} | {made[0]} | {made[1]} | {made[2]} | {made[3]} |', flush=True)
            print(f'| {device} | geometric mean | | | {math.exp(sum(logs) / len(logs)):.2f} | | | | | |', flush=True)


if __name__ == '__main__':
    main()
