"""What zeModuleCreate costs: compiled, remembered, by many threads; ocloc compiles the same SPIR-V."""
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from measure import RUNS

BUILD = sys.argv[1]
THREADS, MODULES = 16, 2000


def times(spirv, cache, *args):
    """The numbers of build_modules: start to first module, that module, all threads, in ms; wall."""
    env = dict(os.environ, ZESCOPE_CACHE_DIR=cache or '', ZESCOPE_CACHE='1' if cache else '0',
               ZE_ENABLE_ALT_DRIVERS=os.path.abspath(f'{BUILD}/src/driver/libze_zescope.so.1'))
    done = subprocess.run([f'{BUILD}/bench/build_modules', spirv, *map(str, args)], env=env,
                          capture_output=True, text=True, check=True, timeout=600)
    return [float(x) for x in done.stdout.split()]


def ocloc(spirv, folder):
    start = time.monotonic()
    subprocess.run(['ocloc', 'compile', '-q', '-file', spirv, '-spirv_input', '-device', 'skl',
                    '-output', 'out', '-out_dir', folder], check=True, timeout=60,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return (time.monotonic() - start) * 1e3


def process_costs(spirv):
    """What a process of its own adds to a first build, in ms: rounds of both in turns."""
    done = subprocess.run([f'{BUILD}/bench/compiler_process', os.path.abspath(f'{BUILD}/src/compiler/zescope-compiler'),
                           spirv, str(3 * RUNS)], capture_output=True, text=True, check=True, timeout=600)
    rounds = [[float(x) for x in line.split()] for line in done.stdout.splitlines()]
    here, apart = zip(*rounds)
    print(f'| first build, the compiler in the application | {min(here):.3f} |')
    print(f'| first build, the compiler in a process of its own | {min(apart):.3f} |')
    print(f'| median of the differences of {len(rounds)} rounds | '
          f'{statistics.median(b - a for a, b in rounds):.3f} |')


def main():
    with tempfile.TemporaryDirectory() as folder:
        # its exit status is not always 0 when all went well
        subprocess.run(['ocloc', 'compile', '-q', '-file', 'nbody.cl', '-device', 'skl', '-spv_only',
                        '-output_no_suffix', '-output', 'nbody', '-out_dir', folder], check=False,
                       cwd='examples/nbody', timeout=60, stdout=subprocess.DEVNULL)
        spirv, cache = f'{folder}/nbody.spv', f'{folder}/cache'
        rows = {'`ocloc compile -spirv_input`': [], 'first module, nothing remembered': [],
                'first module, from a file': [], 'another one, from memory': []}
        names = list(rows)
        for _ in range(RUNS):
            rows[names[0]].append(ocloc(spirv, folder))
            rows[names[1]].append(times(spirv, None)[1])
            shutil.rmtree(cache, ignore_errors=True)
            times(spirv, cache)
            rows[names[2]].append(times(spirv, cache)[1])
            rows[names[3]].append(times(spirv, cache, 1, 200)[2] / 200)
        print('| what | wall ms |\n|---|---|')
        for name, values in rows.items():
            print(f'| {name} | {min(values):.3f} |')
        process_costs(spirv)
        for distinct in 1, 64:
            shutil.rmtree(cache, ignore_errors=True)
            both = [times(spirv, cache, THREADS, MODULES, distinct)[2] / 1e3 for _ in range(2)]
            print(f'| {THREADS} threads, {MODULES} modules each, {distinct} different ones | '
                  f'{both[0] * 1e3:.0f}; at the second start {both[1] * 1e3:.0f} |')


main()
