"""Cost of recording: see trace.sh.

usage: trace.py BUILD [rounds] [quick]

Per call: CPU nanoseconds (user and system) of the calling threads, the least of several rounds in
which all tools take turns. The plain program's cost is subtracted; "above the layer" also that of
the loader's tracing layer with empty callbacks.
"""
import glob
import os
import shutil
import subprocess
import sys
import tempfile

from measure import measure

BUILD = os.path.abspath(sys.argv[1])
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 5
QUICK = len(sys.argv) > 3
HERE = os.path.dirname(os.path.abspath(__file__))
ZESCOPE = os.path.join(BUILD, 'src/cli/zescope')
PROGRAM = os.path.join(BUILD, 'bench/trace_calls')
DRIVER = os.path.join(BUILD, 'src/driver/libze_zescope.so.1')
CALLS = 1000000
SLOW_CALLS = 20000  # under tracers that stop the program at every call
FUNCTIONS = {'version': 'zeDriverGetApiVersion', 'query': 'zeEventQueryStatus',
             'barrier': 'zeCommandListAppendBarrier'}


def record(folder, *options):
    return [ZESCOPE, 'record', '-q', *options, '-o', os.path.join(folder, 'rec'), '--']


def tools(folder, call):
    """name: (command in front of the program, calls, program's last argument, environment)"""
    layer = {'ZE_ENABLE_TRACING_LAYER': '1'}
    found = {'plain': ([], CALLS, None, {}),
             'layer': ([], CALLS, 'tracer', layer),
             'record --no-activity': (record(folder, '--no-activity'), CALLS, None, {}),
             'record': (record(folder), CALLS, None, {})}
    if shutil.which('uftrace'):
        found['uftrace'] = (['uftrace', 'record', '--force', '--no-event', '-d', os.path.join(folder, 'uftrace')],
                            CALLS, None, {})
    if shutil.which('sotruss'):
        found['sotruss'] = (['sotruss', '-f', '-T', 'libze_loader.so.1', '-o', os.path.join(folder, 'sotruss')],
                            SLOW_CALLS, None, {})
    if shutil.which('ltrace'):
        found['ltrace'] = (['ltrace', '-e', f'{FUNCTIONS[call]}@*', '-o', os.path.join(folder, 'ltrace')],
                           SLOW_CALLS, None, {})
    return found


def run(tool, call, threads, folder):
    front, calls, last, more = tool
    for path in glob.glob(os.path.join(folder, '*')):
        shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)
    env = dict(os.environ, ZE_ENABLE_ALT_DRIVERS=DRIVER, **more)
    words = [*front, PROGRAM, call, str(threads), str(calls), *([last] if last else [])]
    p = subprocess.run(words, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                       timeout=300, check=False)
    lines = [line.split() for line in p.stdout.splitlines()]
    numbers = [line for line in lines if len(line) == 2 and line[0].replace('.', '').isdigit()]
    if not numbers:
        return None
    written_B = sum(os.path.getsize(f) for f in glob.glob(os.path.join(folder, 'rec/trace/*')))
    ptraced = front and front[0] == 'ltrace'  # the tracer's own time is the program's wall time
    return float(numbers[0][1 if ptraced else 0]), written_B / calls


def calls_table(folder):
    print('| call | threads | ' + ' | '.join(tools(folder, 'version')) +
          ' | record above the layer | of sotruss | of ltrace | bytes a call |')
    print('|---' * (len(tools(folder, 'version')) + 6) + '|')
    for call in FUNCTIONS:
        for threads in (1, 2, 8):
            best, size_B = {}, 0
            for r in range(ROUNDS):
                for name, tool in tools(folder, call).items():
                    if name in ('ltrace', 'sotruss') and (r or threads > 1 or QUICK):
                        continue
                    got = run(tool, call, threads, folder)
                    if got:
                        best[name] = min(best.get(name, got[0]), got[0])
                        size_B = got[1] if name == 'record' else size_B
            plain = best['plain']
            cells = [f'{best[n] - (plain if n != "plain" else 0):.0f}' if n in best else 'n/a'
                     for n in tools(folder, call)]
            over = best['record'] - best['layer']
            shares = [f'{(best["record"] - plain) / (best[n] - plain):.4f}' if n in best else 'n/a'
                      for n in ('sotruss', 'ltrace')]
            print(f'| {call} | {threads} | ' + ' | '.join(cells) + f' | {over:.0f} | ' + ' | '.join(shares) +
                  f' | {size_B:.1f} |', flush=True)


def application_table(folder):
    """The nbody example, whole process: CPU seconds."""
    example = os.path.join(HERE, '../examples/nbody')
    subprocess.run(['ocloc', 'compile', '-file', os.path.join(example, 'nbody.cl'), '-device', 'skl', '-output', 'nbody',
                    '-out_dir', folder], check=True, stdout=subprocess.DEVNULL, cwd=example)
    program = os.path.join(folder, 'nbody')
    spirv = glob.glob(os.path.join(folder, '*.spv'))[0]
    subprocess.run(['cc', '-O2', os.path.join(example, 'nbody.c'), '-o', program, '-lze_loader', '-lm'], check=True)
    os.environ['ZE_ENABLE_ALT_DRIVERS'] = DRIVER
    out = os.path.join(folder, 'rec-%p')
    plain = [program, spirv]
    best = measure({'plain': plain,
                    'record': [ZESCOPE, 'record', '-q', '-o', out, '--', *plain],
                    **({'uftrace': ['uftrace', 'record', '--force', '--no-event', '-d', os.path.join(folder, 'u'), *plain]}
                       if shutil.which('uftrace') else {}),
                    **({'ltrace': ['ltrace', '-o', os.path.join(folder, 'l'), '-e', 'ze*@*', *plain]}
                       if shutil.which('ltrace') and not QUICK else {})}, ROUNDS)
    print('\n| nbody | CPU s | wall s | of plain |')
    print('|---|---|---|---|')
    for name, (cpu, wall, _) in best.items():
        print(f'| {name} | {cpu:.3f} | {wall:.3f} | {cpu / best["plain"][0]:.2f} |', flush=True)


def views_table(folder):
    """Ten million calls of 8 threads: time and memory of the views."""
    rec = os.path.join(folder, 'big')
    env = dict(os.environ, ZE_ENABLE_ALT_DRIVERS=DRIVER)
    calls = 1000000 if QUICK else 10000000
    subprocess.run([ZESCOPE, 'record', '-q', '-o', rec, '--', PROGRAM, 'mixed', '8', str(calls)],
                   env=env, check=True, stdout=subprocess.DEVNULL)
    commands = {'report': [ZESCOPE, 'report', rec],
                'report --json': [ZESCOPE, 'report', '--json', rec],
                'report --html': [ZESCOPE, 'report', rec, '--html', os.path.join(folder, 'big.html')],
                'log': [ZESCOPE, 'log', rec],
                'timeline, Perfetto': [ZESCOPE, 'timeline', rec, '-o', os.path.join(folder, 'big.pftrace')],
                'timeline, Chrome': [ZESCOPE, 'timeline', rec, '-o', os.path.join(folder, 'big.json')]}
    size = sum(os.path.getsize(f) for f in glob.glob(os.path.join(rec, 'trace/*')))
    print(f'\n{calls} calls of 8 threads, {size / 2**20:.0f} MiB:\n')
    print('| command | CPU s | wall s | peak MiB |')
    print('|---|---|---|---|')
    for name, command in commands.items():
        cpu, wall, peak = measure({name: command}, 2)[name]
        print(f'| `zescope {name}` | {cpu:.2f} | {wall:.2f} | {peak / 1024:.0f} |', flush=True)


def main():
    with tempfile.TemporaryDirectory() as folder:
        calls_table(folder)
    with tempfile.TemporaryDirectory() as folder:
        application_table(folder)
    with tempfile.TemporaryDirectory() as folder:
        views_table(folder)


if __name__ == '__main__':
    main()
