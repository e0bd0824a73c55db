"""Kernels on the software GPU, on Oclgrind and on PoCL.

usage: bench/gpu.py BUILD_FOLDER [--checks [--device=skl]] [KERNEL...]

Every measured number is process CPU time (user and system, all threads), the least of RUNS runs
that are interleaved over the implementations. "A launch" is the difference between 1 + N launches
and one launch, taken inside the process with getrusage() and divided by N: it has no start of the
process, no compilation (each implementation finishes it in its first launch), no check of results.
N is chosen for each implementation so that the difference lasts long enough. "Process" is the
whole process with two launches, from fork to wait4().

Before anything is measured each implementation's outputs are compared with plain C.
"""
import glob
import json
import math
import os
import subprocess
import sys
import tempfile

RUNS = 7
WANTED_S = 0.12  # of one measured run
LAUNCHES_MAX = 20000
KERNELS = ['gemm_naive', 'gemm_tiled', 'nbody', 'stencil', 'reduction', 'histogram', 'mandelbrot',
           'saxpy', 'black_scholes', 'integer_mix', 'transpose']
DIVERGENT = ['spmv', 'bfs', 'queens', 'quicksort', 'search', 'collatz', 'chase', 'gcd']  # of divergent.cl


class Runner:
    """One way to run a kernel: a command and its environment."""

    def __init__(self, name, command, options=(), env=None):
        self.name, self.command, self.options = name, command, list(options)
        self.env = dict(os.environ, **(env or {}))

    def run(self, kernel, launches, *options):
        """The program's JSON, with the CPU time of the whole process as process_s."""
        command = self.command + [kernel, str(launches)] + self.options + list(options)
        process = subprocess.Popen(command, stdout=subprocess.PIPE, env=self.env)
        text = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise RuntimeError(f'{" ".join(command)}: status {process.returncode}')
        result = json.loads(text)
        result['process_s'] = usage.ru_utime + usage.ru_stime
        result['peak_MiB'] = usage.ru_maxrss / 1024
        return result

    def calibrate(self, kernel, *options):
        """How many launches last about WANTED_S."""
        launches = 1
        while True:
            used_s = self.run(kernel, launches, *options)['cpu_s']
            if used_s > WANTED_S / 5 or launches >= LAUNCHES_MAX:
                break
            launches *= 8
        return max(1, min(LAUNCHES_MAX, round(launches * WANTED_S / max(used_s, 1e-6))))


def least_launch(runners, kernel, runs=RUNS, options=()):
    """Least CPU seconds of a launch, and of a process with two of them: {name: (launch, process)}"""
    launches = {r.name: r.calibrate(kernel, *options) for r in runners}
    best = {}
    for _ in range(runs):
        for r in runners:
            count = launches[r.name]
            result = r.run(kernel, count, *options)
            launch_s = result['cpu_s'] / count
            process = result if count == 1 else r.run(kernel, 1, *options)
            old = best.get(r.name, (launch_s, process['process_s']))
            best[r.name] = (min(old[0], launch_s), min(old[1], process['process_s']))
    return best


def ms(seconds):
    return f'{seconds * 1e3:.3f}' if seconds < 0.1 else f'{seconds * 1e3:.0f}'


def against_peers(ours, peers, kernels):
    print('CPU milliseconds of one launch, and ratios to ours; million Gen instructions a second and '
          'core; CPU milliseconds of a whole process with two launches, compilation included\n')
    print('| kernel | instructions | zescope | Oclgrind | ratio | PoCL | ratio | Minst/s '
          '| process: zescope | Oclgrind | PoCL |\n|---|---|---|---|---|---|---|---|---|---|---|')
    worst = None
    for kernel in kernels:
        counted = ours.run(kernel, 1, '--check', '--instructions')['instructions']
        for peer in peers:
            peer.run(kernel, 1, '--check')
        best = least_launch([ours] + peers, kernel)
        us, oclgrind, pocl = (best[r.name][0] for r in [ours] + peers)
        print(f'| {kernel} | {counted} | {ms(us)} | {ms(oclgrind)} | {oclgrind / us:.0f} '
              f'| {ms(pocl)} | {pocl / us:.2f} | {counted / us * 1e-6:.0f} '
              f'| {" | ".join(ms(best[r.name][1]) for r in [ours] + peers)} |', flush=True)
        worst = min(worst or oclgrind / us, oclgrind / us)
    print(f'\nLeast ratio of Oclgrind: {worst:.0f} (goal: 30)\n')


def parts(runners, kernels):
    """What counts cost, and the speed without AVX2."""
    print('CPU milliseconds of one launch without driver and loader; what is left out costs, in '
          'percent of the launch without it\n')
    print('| kernel | all | no counts | cost of counts | x86-64-v2 | Minst/s |\n|---|---|---|---|---|---|')
    for kernel in kernels:
        counted = runners[0].run(kernel, 1, '--check', '--instructions')['instructions']
        for r in runners[1:]:
            r.run(kernel, 1, '--check')
        best = least_launch(runners, kernel, 9)
        full, uncounted, base = (best[r.name][0] for r in runners)
        print(f'| {kernel} | {ms(full)} | {ms(uncounted)} | {(full / uncounted - 1) * 100:.1f} % '
              f'| {ms(base)} | {counted / base * 1e-6:.0f} |', flush=True)
    print()


def checks(ours, kernels):
    """What kinds of `zescope run --check` cost, and the interpreter without, in times compiled code without."""
    ours.env['ZESCOPE_EU'] = 'compiled'
    kinds = os.environ.get('KINDS', 'memory,init,sync,race,undefined,swsb').split(',')
    runners = [ours, Runner('interpreter', ours.command, env=dict(ours.env, ZESCOPE_EU='interpreter'))] + [
        Runner(k, ours.command, env=dict(ours.env, ZESCOPE_CHECK=k, ZESCOPE_LOG='off')) for k in kinds]
    names = [r.name for r in runners[1:]]
    logs = dict.fromkeys(names, 0.0)
    print(f'| kernel | ms | {" | ".join(names)} |\n|---|---|{"---|" * len(names)}')
    for kernel in kernels:
        best = least_launch(runners, kernel, 3)
        plain = best[ours.name][0]
        ratios = {n: best[n][0] / plain for n in names}
        logs = {n: logs[n] + math.log(ratios[n]) for n in names}
        print(f'| {kernel} | {ms(plain)} | {" | ".join(f"{r:.2f}" for r in ratios.values())} |', flush=True)
    print(f'| geometric mean | | {" | ".join(f"{math.exp(v / len(kernels)):.2f}" for v in logs.values())} |')


def empty_launches(ours, peers):
    print('Launches of an empty kernel, CPU microseconds each (all threads of the process)\n')
    print('| implementation | 10,000 in one submission | 10,000 handed over one by one '
          '| each waited for |\n|---|---|---|---|')
    for r in [ours] + peers:
        cells = []
        for options in [(), ('--immediate',), ('--each',)]:
            best = min(r.run('empty', 10000, *options)['cpu_s'] for _ in range(RUNS))
            cells.append(f'{best * 100:.2f}')
        print(f'| {r.name} | {" | ".join(cells)} |', flush=True)
    print()


def start_up(ours, native):
    print('Start: process that compiles a module, launches an empty kernel twice and ends\n')
    print('| module | CPU ms | peak MiB |\n|---|---|---|')
    for r in (ours, native):
        results = [r.run('empty', 1) for _ in range(RUNS)]
        print(f'| {r.name} | {ms(min(x["process_s"] for x in results))} '
              f'| {min(x["peak_MiB"] for x in results):.0f} |', flush=True)


def main():
    build = os.path.abspath(sys.argv[1])
    here = os.path.dirname(os.path.abspath(__file__))
    wanted = [a for a in sys.argv[2:] if not a.startswith('--')]
    device = next((a[9:] for a in sys.argv if a.startswith('--device=')), 'skl')
    kernels = [k for k in KERNELS if not wanted or k in wanted]
    source = os.path.join(here, 'gpu', 'kernels.cl')
    bench = os.path.join(build, 'bench')
    with tempfile.TemporaryDirectory() as work:
        subprocess.run(['ocloc', 'compile', '-q', '-file', source, '-device', device, '-output', 'k',
                        '-out_dir', work], check=True, stdout=subprocess.DEVNULL)
        binary, spirv = (glob.glob(os.path.join(work, 'k_*.' + kind))[0] for kind in ('bin', 'spv'))
        icd = os.path.join(work, 'oclgrind.icd')
        with open(icd, 'w', encoding='utf-8') as f:
            f.write('/usr/lib/oclgrind/liboclgrind-rt-icd.so\n')
        ze = {'ZE_ENABLE_ALT_DRIVERS': os.path.join(build, 'src/driver/libze_zescope.so.1'),
              'ZESCOPE_LOG': 'error', 'ZESCOPE_EU': 'interpreter', 'ZESCOPE_DEVICES': device}
        ours = Runner('zescope', [f'{bench}/gpu_ze', spirv], env=ze)
        native = Runner('native binary', [f'{bench}/gpu_ze', binary], env=ze)
        if '--checks' in sys.argv:
            checks(native, kernels)
            return
        peers = [Runner('Oclgrind', [f'{bench}/gpu_cl', source], env={'OCL_ICD_VENDORS': icd}),
                 Runner('PoCL', [f'{bench}/gpu_cl', source],
                        env={'OCL_ICD_VENDORS': 'pocl.icd', 'POCL_CACHE_DIR': work})]
        direct = [f'{bench}/gpu_direct', binary]
        variants = [Runner('all', direct), Runner('uncounted', direct, ['--no-counts']),
                    Runner('x86-64-v2', direct, ['--host=x86-64-v2'])]
        print(f'{os.cpu_count()} cores; least of {RUNS} runs or more\n')
        against_peers(ours, peers, kernels)
        parts(variants, kernels)
        if not wanted:
            empty_launches(ours, peers)
            ours.name = 'SPIR-V'
            start_up(ours, native)


if __name__ == '__main__':
    main()
