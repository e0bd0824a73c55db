#!/usr/bin/env python3
"""test_tools.py ZESCOPE APP OCLOC SOURCE OWN-TOOL BAD-TOOL: tools on kernels whose numbers are known.

copy_even and stride4 run in 4 groups of 16 items in 3 turns of 2 threads of the application, each with a module of its
own: 24 groups, 384 items.
"""
import collections
import json
import os
import subprocess
import sys
import tempfile

TIME_LIMIT_S = 120
THREADS = 2
MODULES = 3 * THREADS
ITEMS = 64 * MODULES
zescope, app, ocloc, source, own_tool, bad_tool = map(os.path.abspath, sys.argv[1:])


def run(tool, kernel, folder, expect=0, more=(), limit_s=100):
    done = subprocess.run([zescope, 'instrument', *more, '--json', '-o', f'{folder}-{device}', tool, '--', app, binary, kernel, str(THREADS)],
                          timeout=TIME_LIMIT_S, capture_output=True, text=True, cwd=top,
                          env=os.environ | {'ZESCOPE_DEVICES': device, 'ZESCOPE_INSTRUMENT_LIMIT': str(limit_s)})
    assert done.returncode == expect, (tool, done.returncode, done.stdout, done.stderr)
    return json.loads(done.stdout) if done.stdout else None, done.stderr


def rows(table, **keys):
    return [r for r in table['rows'] if all(r[k] == v for k, v in keys.items())]


def check_own():
    table, said = run(own_tool, 'copy_even', 'own')
    assert table['tool'] == 'count_sends' and table['modules'] == MODULES and not table['damaged'], table
    sent = {r['message']: r['sent'] for r in table['rows']}
    threads = ITEMS // 16
    assert sent['end of thread'] == threads, sent
    assert sum(sent.values()) >= 3 * threads, (sent, said)


def check_memtrace():
    table, _ = run('memtrace', 'stride4', 'mem')
    # from XeHPG on threads load their payload, too: blocks of 32 bytes
    loads = [r for r in table['rows'] if r['access'].startswith('load 4 B')]
    stores = [r for r in table['rows'] if r['access'].startswith('store')]
    assert sum(r['lanes'] for r in loads) == ITEMS and sum(r['bytes'] for r in loads) == 4 * ITEMS, loads
    assert sum(r['strided'] for r in loads) == sum(r['messages'] for r in loads), loads
    assert sum(r['unit'] for r in stores) == sum(r['messages'] for r in stores), stores
    # 16 lanes at a distance of 16 bytes are 4 cache lines and 8 sectors; neighbours are 1 and 2
    assert all(r['cachelines'] * 16 == r['lanes'] * 4 for r in loads), loads
    assert all(r['sectors'] * 16 == r['lanes'] * 8 for r in loads), loads
    assert all(r['cachelines'] * 16 == r['lanes'] for r in stores), stores
    assert any(r['line'].startswith('copy.cl:') for r in loads), loads
    table, _ = run('memtrace', 'copy_even', 'mem2')
    loads = [r for r in table['rows'] if r['access'].startswith('load')]
    assert sum(r['lanes'] for r in loads) >= ITEMS // 2, loads
    assert table['lost_B'] == 0, table
    # from XeHPG on lane 0 of a block has its address
    table, _ = run('memtrace', 'local_uniform', 'mem3')
    with open(source, encoding='utf-8') as f:
        line = [n for n, text in enumerate(f, 1) if 'get_group_id' in text][0]
    loads = rows(table, access='load 4 B local', line=f'copy.cl:{line}')
    assert sum(r['footprint'] for r in loads) == 4 * 64 * len(loads) and loads, table


def check_branches():
    table, _ = run('branches', 'copy_even', 'br')
    assert sum(r['lanes'] for r in table['rows']) >= ITEMS, table
    assert any(abs(r['bias'] - 0.5) < 1e-9 for r in table['rows']), table
    # each thread has lanes for both ways: none jumps
    assert all(r['jumps'] == 0 for r in table['rows'] if 0 < r['bias'] < 1 and r['branch'] == 'if'), table
    # of 16 rounds, 15 times back
    table, _ = run('branches', 'rounds', 'br2')
    back = [r for r in rows(table, kernel='rounds') if r['threads'] == ITEMS]
    assert [r['jumps'] for r in back] == [ITEMS - ITEMS // 16], table
    if device in ('skl', 'icllp'):  # there the loop's end goes back by a branch for lanes, eight times and always
        table, _ = run('branches', 'leaves', 'br3')
        assert [r['jumps'] for r in rows(table, kernel='leaves', threads=8 * ITEMS // 16)] == [8 * ITEMS // 16], table


def check_loops():
    """Groups of 16 items: each thread goes round 16 times."""
    table, _ = run('loops', 'rounds', 'loops')
    found = rows(table, kernel='rounds', depth='1')
    assert sum(r['entries'] for r in found) == ITEMS // 16 * len(found), table
    assert found and sum(r['iterations'] for r in found) == ITEMS, table


def check_values():
    with open(source, encoding='utf-8') as f:
        line = [n for n, text in enumerate(f, 1) if '+ 1.0f' in text][0]
    table, _ = run(f'values:copy.cl:{line}', 'stride4', 'val')
    adds = [r for r in table['rows'] if r['instruction'].endswith(':f')]
    assert adds and sum(r['values'] for r in adds) == ITEMS, table
    assert all(r['min'] == 1 and r['max'] == 1 and r['nan'] == 0 for r in adds), adds
    assert {r['line'] for r in table['rows']} == {f'copy.cl:{line}'}, table


def line_of(text):
    with open(source, encoding='utf-8') as f:
        return [n for n, line in enumerate(f, 1) if text in line][0]


def range_of(value):
    if value in (0, 1):
        return str(value)
    low = 1 << value.bit_length() - 1
    return f'[{low}, {2 * low})'


def check_named():
    """Variables of optimised code: right, or not available."""
    line = line_of('x = x * x') - 1
    for name, expected in (('x', [3 * i + 1 for i in range(64)]), ('i', range(64))):
        table, _ = run(f'values:{name}@copy.cl:{line}', 'named', 'named-' + name)
        found = rows(table, instruction=name)
        assert found and all(r['values'] == ITEMS and r['min'] == min(expected) and r['max'] == max(expected) and
                             r['zero'] == MODULES * (name == 'i') for r in found), table
        table, _ = run(f'histogram:{name}@copy.cl:{line}', 'named', 'histogram-' + name)
        wanted = collections.Counter(range_of(v) for v in expected)
        for offset in {r['offset'] for r in table['rows']}:
            counted = {r['value']: r['count'] for r in rows(table, offset=offset)}
            assert counted in ({'not available': ITEMS}, {k: v * ITEMS // 64 for k, v in wanted.items()}), table
    # computed in the same block, some of it behind the line's first instruction
    table, _ = run(f'values:x@copy.cl:{line_of("out[i & 63] = x")}', 'named', 'named-late')
    squares = [(3 * i + 1) ** (1 + i % 2) for i in range(64)]
    assert all(r['max'] == max(squares) for r in rows(table, instruction='x')) and table['rows'], table
    table, said = run(f'values:nothing@copy.cl:{line}', 'named', 'named-nothing')
    assert not table['rows'] and 'nothing: no variable of that name is visible there' in said, said
    table, said = run('values:x@copy.cl:9999', 'named', 'named-nowhere')
    assert not table['rows'] and 'need debug information' in said, said


def check_twice_named():
    """Two variables of one name in one block, as a block without code of its own makes them: the last one counts."""
    text = ('kernel void two(global const float *in, global int *out)\n{\n    int earlier = (int)get_global_id(0);\n'
            '    int further = 3 * earlier + 1;\n    out[earlier & 63] = further;\n}\n')
    two = os.path.join(top, 'two.cl')
    with open(two, 'w', encoding='utf-8') as f:
        f.write(text)
    compile_source(two + '.bin', file=two)
    with open(two, 'w', encoding='utf-8') as f:
        f.write(text.replace('further', 'earlier'))
    with open(two + '.bin', 'rb+') as f:
        made = f.read().replace(b'further\0', b'earlier\0')
        f.seek(0)
        f.write(made)
    done = subprocess.run([zescope, 'instrument', '--json', '-o', 'two', 'values:earlier@two.cl:5', '--', app, two + '.bin',
                           'two', '1'], capture_output=True, text=True, cwd=top, check=True, timeout=TIME_LIMIT_S)
    found = rows(json.loads(done.stdout), instruction='earlier')
    assert found and all((r['min'], r['max']) == (1, 3 * 63 + 1) for r in found), done.stdout


def check_many_records():
    """As many as fit, from two places in turn: where a variable is must not be forgotten meanwhile."""
    rounds = 1500
    many = os.path.join(top, 'many.cl')
    with open(many, 'w', encoding='utf-8') as f:
        f.write('kernel void many(global const float *in, global float *out)\n{\n    float sum = 0;\n'
                '    int i = (int)get_global_id(0);\n    __attribute__((opencl_unroll_hint(1)))\n'
                f'    for (int k = 0; k < {rounds}; k++)\n        sum += in[(i + k) & 63];\n    out[i & 63] = sum;\n}}\n')
    compile_source(many + '.bin', file=many)
    done = subprocess.run([zescope, 'instrument', '--json', '-o', 'many', 'values:i@many.cl:7', '--', app, many + '.bin',
                           'many', '1'], capture_output=True, text=True, cwd=top, check=True, timeout=TIME_LIMIT_S)
    found = json.loads(done.stdout)
    assert found['lost_B'] == 0 and found['rows'], done.stdout
    assert all(r['instruction'] == 'i' and r['values'] == 3 * 64 * rounds and r['max'] == 63 for r in found['rows']), done.stdout


def check_latency():
    table, _ = run('latency', 'stride4', 'lat')
    assert sum(r['executions'] for r in table['rows']) >= ITEMS // 16, table
    assert all(r['ticks'] >= r['executions'] for r in table['rows']), table  # an instruction at least
    table, said = run('calls', 'stride4', 'none')
    assert not table['rows'] and 'the tool found nothing in the kernels' in said, (table, said)


def check_failures():
    _, said = run(bad_tool + ':abort', 'stride4', 'bad1')
    assert 'is not instrumented' in said and 'the tool crashed (Aborted)' in said, said
    assert 'the notes say why' in said and 'debug information' not in said, said
    _, said = run(bad_tool + ':refuse', 'stride4', 'bad2')
    assert 'no module was instrumented' in said, said
    done = subprocess.run([zescope, 'instrument', 'nonsense', '--', app], capture_output=True, text=True, cwd=top)
    assert done.returncode == 1 and 'nonsense' in done.stderr and '--list' in done.stderr, done
    for tool, said in (('opcodes:all', 'takes nothing'), ('histogram', 'NAME@'), ('histogram:k.cl:3', 'NAME@'),
                       ('values:34', 'values:kernel.cl:34'), ('values:x@34', 'NAME@'), ('values:@k.cl:3', 'NAME@')):
        done = subprocess.run([zescope, 'instrument', tool, '--', app], capture_output=True, text=True, cwd=top)
        assert done.returncode == 1 and said in done.stderr, (tool, done)
    done = subprocess.run([zescope, 'instrument', 'opcodes', '-o', 'idle', '--', 'true'], capture_output=True, text=True, cwd=top)
    assert done.returncode == 0 and 'the application built none' in done.stderr, done
    done = subprocess.run([zescope, 'instrument', 'opcodes', '-o', '/proc/idle', '--', 'true'], capture_output=True, text=True)
    assert done.returncode == 1 and '/proc/idle' in done.stderr, done
    done = subprocess.run([zescope, 'instrument', './none.so', '--', app], capture_output=True, text=True, cwd=top)
    assert done.returncode == 1, done
    # six modules, and the application does not wait for each of them
    _, said = run(bad_tool + ':loop', 'stride4', 'bad3', limit_s=1)
    assert 'more than 1 s and was ended' in said and 'no module was instrumented' in said, said
    _, said = run(bad_tool + ':stop', 'stride4', 'bad4', limit_s=1)
    assert 'did not answer within 2 s; it is not asked again' in said and 'no module was instrumented' in said, said
    table, said = run(bad_tool + ':print', 'stride4', 'bad5')
    assert table['modules'] == MODULES and 'noise' in said, (table, said)
    table, said = run(bad_tool + ':fork', 'stride4', 'bad6')  # copies of the process answer nothing
    assert table['modules'] == MODULES and 'not instrumented' not in said, (table, said)
    for way, word in (('abort-later', 'the tool crashed as it made its table (Aborted)'),
                      ('exit-later', 'ended its process as it made its table (exit status 3)')):
        table, said = run(f'{bad_tool}:{way}', 'stride4', way, expect=1)
        assert table is None and word in said, (way, table, said)
    # a pipe in a recording is not waited for
    run('lanes', 'stride4', 'pipe')
    columns = os.path.join(top, 'pipe-skl', 'instrument', 'columns')
    os.unlink(columns)
    os.mkfifo(columns)
    done = subprocess.run([zescope, 'annotate', 'pipe-skl'], capture_output=True, text=True, cwd=top, timeout=TIME_LIMIT_S)
    assert done.returncode == 0 and 'columns is not a regular file' in done.stderr, done.stderr
    # the application's status passes
    done = subprocess.run([zescope, 'instrument', 'blocks', '-o', 'status', '--', 'sh', '-c', 'exit 7'],
                          capture_output=True, text=True, cwd=top)
    assert done.returncode == 7, done


def check_views():
    table, _ = run('opcodes', 'stride4', 'views')
    assert table['rows'], table
    shown = subprocess.run([zescope, 'annotate', '--json', 'views-skl'], capture_output=True, text=True, cwd=top)
    assert shown.returncode == 0 and 'executions' in shown.stdout, shown.stderr
    record = [zescope, 'record', '--instrument', 'lanes', '-o', 'recorded', '--', app, binary, 'stride4', '2']
    done = subprocess.run(record, capture_output=True, text=True, cwd=top, timeout=TIME_LIMIT_S)
    assert done.returncode == 0, done
    with open(os.path.join(top, 'recorded', 'instrument', 'table.json'), encoding='utf-8') as f:
        assert json.load(f)['tool'] == 'lanes'


def check_columns():
    """What a tool says of an instruction stands beside it."""
    for tool, kernel, column in (('memtrace', 'stride4', 'sectors'), ('values', 'stride4', 'max'), ('branches', 'copy_even', 'lanes'),
                                 ('latency', 'stride4', 'executions'), ('lanes', 'stride4', 'lanes'), ('blocks', 'stride4', 'executions')):
        table, _ = run(tool, kernel, 'col-' + tool)
        shown = subprocess.run([zescope, 'annotate', '--json', '-k', kernel, f'col-{tool}-skl'], capture_output=True, text=True,
                               cwd=top, check=True)
        kernels = [k for d in json.loads(shown.stdout)['devices'] for k in d['kernels']]
        found = [c for k in kernels for c in k.get('columns', ()) if c['name'] == f'{tool}.{column}']
        assert found, (tool, shown.stdout[:2000])
        values = [v for v in found[0]['values'] if v is not None]
        wanted = [r[column] for r in rows(table, kernel=kernel)]
        if found[0]['total'] == 'sum':
            assert sum(values) == sum(wanted), (tool, values, wanted)
        else:
            assert max(values) == max(wanted), (tool, values, wanted)
        page = subprocess.run([zescope, 'annotate', '--html', f'{tool}.html', f'col-{tool}-skl'], capture_output=True, text=True, cwd=top)
        assert page.returncode == 0, page
        with open(os.path.join(top, tool + '.html'), encoding='utf-8') as f:
            assert f'{tool}.{column}' in f.read(), tool


def columns_of(folder, kernel):
    shown = subprocess.run([zescope, 'annotate', '--json', '-k', kernel, folder], capture_output=True, text=True, cwd=top, check=True)
    kernels = [k for d in json.loads(shown.stdout)['devices'] for k in d['kernels']]
    return {c['name']: c['values'] for c in kernels[0]['columns']}


def check_what_is_not_known():
    """What a tool did not look at is null, and so is what the driver says of the code with the probes in it."""
    def record(name, *options):
        done = subprocess.run([zescope, 'record', *options, '-o', name + device, '--', app, binary, 'stride4', str(THREADS)], text=True,
                              capture_output=True, cwd=top, timeout=TIME_LIMIT_S, env=os.environ | {'ZESCOPE_DEVICES': device})
        assert done.returncode == 0, done
        return columns_of(name + device, 'stride4'), done.stderr
    known, _ = record('k-driver', '--counts')
    executions = known['executions']
    assert any(executions) and abs(sum(known['share']) - 100) < 1e-6 and any(known['read_B']), known
    own = ('--counts', '--metrics', 'ZscopeStallSampling', '--instrument')
    whole, said = record('k-opcodes', *own, 'opcodes')
    assert 'the driver counts the code with its probes' in said, said
    assert whole['executions'] == executions and whole['active_lanes'] == known['active_lanes'], (whole, known)
    assert whole['share'] == known['share'] and whole['read_B'] == [None] * len(executions), whole
    assert not any(whole.get('stalls', ())), whole
    blocks, _ = record('k-blocks', '--instrument', 'blocks')
    assert blocks['executions'] == executions and blocks['active_lanes'] == [None] * len(executions), blocks
    parts, _ = record('k-memtrace', *own, 'memtrace')
    messages = parts['memtrace.messages']
    assert any(messages) and parts['executions'] == messages and parts['share'] == [None] * len(executions), parts
    assert all(m in (None, n) for m, n in zip(messages, executions)), (messages, executions)
    assert not any(parts.get('stalls', ())), parts
    # each of several modules has its own
    other = os.path.join(top, 'unoptimised.bin')
    compile_source(other, device=device, build='-g -cl-opt-disable')
    both = f'{app} {binary} stride4 1 && {app} {other} stride4 1'
    subprocess.run([zescope, 'record', '--instrument', 'opcodes', '-o', 'k-both' + device, '--', 'sh', '-c', both], capture_output=True,
                   cwd=top, check=True, timeout=TIME_LIMIT_S, env=os.environ | {'ZESCOPE_DEVICES': device})
    shown = subprocess.run([zescope, 'annotate', '--json', '-k', 'stride4', 'k-both' + device], capture_output=True, text=True, cwd=top,
                           check=True)
    ends = [max(c['values']) for d in json.loads(shown.stdout)['devices'] for k in d['kernels'] for c in k['columns'] if c['name'] == 'executions']
    assert len(ends) == 2 and max(executions) // THREADS in ends and all(ends), (ends, executions)


def check_damaged_columns():
    """What stands before the damage of the file counts, of each module; what is wrong is said once."""
    other = os.path.join(top, 'other.bin')
    compile_source(other, build='-g -cl-opt-disable')
    both = f'{app} {binary} stride4 1 && {app} {other} stride4 1'
    subprocess.run([zescope, 'instrument', '-o', 'damaged', 'lanes', '--', 'sh', '-c', both], capture_output=True, cwd=top,
                   check=True, timeout=TIME_LIMIT_S)
    with open(os.path.join(top, 'damaged', 'instrument', 'columns'), 'ab') as f:
        f.write(b'damage')
    shown = subprocess.run([zescope, 'annotate', '--json', '-k', 'stride4', 'damaged'], capture_output=True, text=True,
                           cwd=top, check=True)
    kernels = [k for d in json.loads(shown.stdout)['devices'] for k in d['kernels']]
    found = [c for k in kernels for c in k.get('columns', ()) if c['name'] == 'lanes.lanes']
    assert len(kernels) == len(found) == 2, shown.stdout[:2000]
    assert shown.stderr.count('columns of instrumentation: module: 64 bytes expected') == 1, shown.stderr


def check_device_without_atomics():
    """A device that adds only 32 bits atomically counts the same."""
    module = os.path.join(top, 'bxt.bin')
    compile_source(module, device='bxt')
    tables = []
    for made_for, file in (('bxt', module), ('skl', binary)):
        for tool in ('opcodes', 'memtrace'):
            done = subprocess.run([zescope, 'instrument', '--json', tool, '-o', tool + made_for, '--', app, file, 'stride4', str(THREADS)],
                                  timeout=TIME_LIMIT_S, capture_output=True, text=True, cwd=top,
                                  env=os.environ | {'ZESCOPE_DEVICES': made_for})
            assert done.returncode == 0 and 'is not instrumented' not in done.stderr, done
            tables.append(json.loads(done.stdout)['rows'])
    assert tables[:2] == tables[2:] and all(tables), tables


def check_intel():
    """Intel's driver, without a GPU, takes what was rewritten; kernels do nothing where it has not even an emulated one."""
    variables = dict(variable.split('=', 1) for variable in os.environ['ZS_TEST_INTEL'].split())
    emulated = 'pvc' if 'ZESCOPE_DEVICES' in variables else None
    variables.update({'ZESCOPE_DEVICES': emulated} if emulated else {})
    environment = {k: v for k, v in os.environ.items() if k != 'ZE_ENABLE_ALT_DRIVERS'} | variables
    for kind in ('zebin',) if emulated else ('patch', 'zebin'):
        module = os.path.join(top, kind + '.bin')
        compile_source(module, [] if emulated else ['--format', kind], device=emulated or 'skl')
        done = subprocess.run([zescope, 'instrument', 'opcodes', '--json', '-o', 'intel-' + kind, '--', app, module,
                               'copy_even', '1'], timeout=TIME_LIMIT_S, capture_output=True, text=True, cwd=top,
                              env=environment)
        assert done.returncode == 0 and 'is not instrumented' not in done.stderr, (kind, done.stdout, done.stderr)
        table = json.loads(done.stdout)
        assert table['modules'] == 3 and bool(table['rows']) == bool(emulated) and not table['damaged'], table


def compile_source(output, options=(), device='skl', build='-g', file=None):
    subprocess.run([ocloc, 'compile', '-q', '-file', file or source, '-device', device, '-options', build, '-output_no_suffix',
                    '-output', output, *options], check=True, timeout=TIME_LIMIT_S)


with tempfile.TemporaryDirectory() as top:
    for device in ('icllp', 'tgllp', 'acm-g10', 'pvc'):
        binary = os.path.join(top, device + '.bin')
        compile_source(binary, device=device)
        for check in (check_memtrace, check_branches, check_loops, check_values, check_latency):
            check()
            print(device, check.__name__, 'ok')
        if device in ('tgllp', 'pvc'):
            check_named()
        if device == 'pvc':
            check_what_is_not_known()
    device = 'skl'
    binary = os.path.join(top, 'copy.bin')
    compile_source(binary)
    for check in (check_own, check_memtrace, check_branches, check_values, check_named, check_twice_named, check_many_records,
                  check_latency, check_failures, check_views, check_columns, check_what_is_not_known, check_damaged_columns, check_device_without_atomics,
                  check_intel):
        check()
        print(check.__name__, 'ok')
