"""What program debugging costs kernels.

usage: bench/debug.py BUILD_FOLDER [KERNEL...]

Each kernel of bench/gpu, and an empty one, in five ways: as programs run; with ZET_ENABLE_PROGRAM_DEBUGGING=1; with a
debugger attached; attached, with breakpoints where the threads of all other kernels begin; attached,
with one in the kernel at an instruction that is not executed (where it has such). The module is
SPIR-V, which is compiled with -g where debugging is enabled, as gpu.sh has it.

Two tables of ratios to the first: instructions of the host that a launch takes (valgrind; they do
not depend on what else the machine does), and CPU time of a launch, the least of interleaved runs.
"""
import os
import re
import subprocess
import sys
import tempfile

from gpu import KERNELS, Runner, least_launch

RUNS = 5
COUNTED = (1, 3)  # launches: the difference is what is counted
COUNTED_EMPTY = (100, 600)


def ways(attach, program, idle, kernel, env):
    """A runner for each way."""
    debugged = dict(env, ZET_ENABLE_PROGRAM_DEBUGGING='1')
    runners = [Runner('off', program, env=env),
               Runner('enabled', program, env=debugged),
               Runner('attached', [attach] + program, env=env),
               Runner('elsewhere', [attach, '--others', kernel] + program, env=env)]
    if idle >= 0:
        runners.append(Runner('idle', [attach, '--at', kernel, str(idle)] + program, env=env))
    return runners


def host_instructions(runner, kernel, launches):
    """Of the whole process, by valgrind."""
    at = next(i for i, word in enumerate(runner.command) if word.endswith('gpu_ze'))
    tool = ['valgrind', '--tool=cachegrind', '--cache-sim=no', '--cachegrind-out-file=/dev/null']
    command = runner.command[:at] + tool + runner.command[at:] + [kernel, str(launches)]
    result = subprocess.run(command, env=runner.env, stdout=subprocess.DEVNULL,
                            stderr=subprocess.PIPE, text=True, check=True)
    return int(re.search(r'I\s+refs:\s+([\d,]+)', result.stderr).group(1).replace(',', ''))


def of_launch(runner, kernel):
    runner.run(kernel, 1)  # what is compiled is remembered from then on
    counted = COUNTED_EMPTY if kernel == 'empty' else COUNTED
    few, many = (host_instructions(runner, kernel, n) for n in counted)
    return (many - few) / (counted[1] - counted[0])


def percent(value, base):
    return f'{(value / base - 1) * 100:+.1f} %'


def table(kernels, runners_of, measure, unit):
    print(f'| kernel | {unit} | enabled | attached | breakpoints elsewhere '
          '| breakpoint not reached |\n|---|---|---|---|---|---|')
    worst = {}
    for kernel in kernels:
        values = measure(kernel, runners_of(kernel))
        base = values.pop('off')
        cells = [percent(values[name], base) if name in values else 'n/a'
                 for name in ('enabled', 'attached', 'elsewhere', 'idle')]
        print(f'| {kernel} | {base:.3f} | {" | ".join(cells)} |', flush=True)
        for name, value in values.items():
            worst[name] = max(worst.get(name, 0), value / base)
    print('\nMost: ' + ', '.join(f'{name} {percent(v, 1)}' for name, v in worst.items()) + '\n')


def main():
    build = os.path.abspath(sys.argv[1])
    here = os.path.dirname(os.path.abspath(__file__))
    kernels = [k for k in KERNELS + ['empty'] if not sys.argv[2:] or k in sys.argv[2:]]
    bench = os.path.join(build, 'bench')
    env = {'ZE_ENABLE_ALT_DRIVERS': os.path.join(build, 'src/driver/libze_zescope.so.1'),
           'ZESCOPE_LOG': 'error'}
    with tempfile.TemporaryDirectory() as work:
        subprocess.run(['ocloc', 'compile', '-q', '-file', os.path.join(here, 'gpu', 'kernels.cl'),
                        '-device', 'skl', '-output', 'k', '-out_dir', work], check=True,
                       stdout=subprocess.DEVNULL)
        program = [f'{bench}/gpu_ze', os.path.join(work, 'k_Gen9core.spv')]
        enabled = Runner('enabled', program, env=dict(env, ZET_ENABLE_PROGRAM_DEBUGGING='1'))

        def runners_of(kernel):
            check = [] if kernel == 'empty' else ['--check']
            idle = enabled.run(kernel, 1, '--idle', *check)['instructions']
            return ways(f'{bench}/debug_attach', program, idle, kernel, env)

        def by_instructions(kernel, runners):
            return {r.name: of_launch(r, kernel) / 1e6 for r in runners}

        def by_time(kernel, runners):
            best = least_launch(runners, kernel, RUNS)
            return {name: launch * 1e3 for name, (launch, _) in best.items()}

        tables = os.environ.get('BENCH_TABLES', 'instructions time')
        if 'instructions' in tables:
            table(kernels, runners_of, by_instructions, 'million host instructions of a launch')
        if 'time' in tables:
            table(kernels, runners_of, by_time, 'CPU ms of a launch')


if __name__ == '__main__':
    main()
