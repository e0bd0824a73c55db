"""Modules of schema zescope.module/1 for the tests of the HTML view, made up but like real ones."""
import json
import re

HELPERS = """\
static inline float sq(float x) { return x * x; }
static inline float dist(float4 a, float4 b) {
    float4 d = a - b;
    return sqrt(sq(d.x) + sq(d.y)); /* a comment
    over two lines */
}
"""
# A kernel behind 60 lines without code: they fold
NBODY = '#include "common.h"\n' + ''.join(f'// line {n}\n' for n in range(2, 62)) + """\
__kernel void force(__global const float4 *pos, __global float4 *acc, int n)
{
    int i = get_global_id(0);
    for (int j = 0; j < n; j++) {
        float r = dist(pos[i], pos[j]);
        acc[i] += r;
    }
}
"""
# These are compiled
REAL_H = """\
static inline float sq(float x) { return x * x; }
static inline float dist(float4 a, float4 b)
{
    float4 d = a - b;
    return sqrt(sq(d.x) + sq(d.y) + sq(d.z));
}
"""
REAL_CL = """\
#include "common.h"
__kernel void force(__global const float4 *pos, __global float4 *acc, int n)
{
    int i = get_global_id(0);
    float4 sum = (float4)(0.0f);
    for (int j = 0; j < n; j++) {
        float r = dist(pos[i], pos[j]) + 1e-3f;
        sum += (pos[j] - pos[i]) * (1.0f / (r * r * r));
    }
    acc[i] = sum;
}
__kernel void scale(__global float *x, float a) { x[get_global_id(0)] *= a; }
"""
FIRST = 62  # of the kernel
CL, H = '/src/nbody.cl', '/src/common.h'


def insn(text, file=None, line=None, size=16, **more):
    out = {'size': size, 'text': text, 'opcode': re.sub(r'^\(.*?\)\s', '', text).split()[0].split('.')[0]}
    if file:
        out.update(file=file, line=line, column=0)
    out.update(more)
    return out


def place(instructions):
    offset = 0
    for i in instructions:
        i['offset'] = offset
        offset += i['size']
    return instructions


def force():
    read = {'text': 'untyped surface read with xyzw', 'function': 'hdc1', 'surface': 'bti 0', 'read_B': 512}
    write = {'text': 'untyped surface write with x', 'function': 'hdc1', 'surface': 'bti 1', 'write_B': 64}
    code = place([
        insn('(W)     mov (8|M0)               r3.0<1>:ud    r0.0<1;1,0>:ud', CL, FIRST, frame=0, live_grfs=10),
        insn('        add (16|M0)              r4.0<1>:d     r1.0<8;8,1>:uw    r2.0<0;1,0>:d    {Compacted}', CL, FIRST + 2, 8, frame=0, live_grfs=14),
        insn('(W&f1.0) jmpi                                L0128', CL, FIRST + 3, frame=0, live_grfs=16, targets=[0x80]),
        insn('        send (16|M0)             r104:w   r112    0xC            0x04805000           // wr:2+0, rd:8; hdc.dc1; untyped surface read', CL, FIRST + 4, frame=0, live_grfs=60, label='L0040', message=read),
        insn('        add (16|M0)              r39.0<1>:f    r104.0<8;8,1>:f   -r95.0<0;1,0>:f', H, 3, frame=1, live_grfs=120),
        insn('        mul (16|M0)              r39.0<1>:f    r39.0<8;8,1>:f    r39.0<8;8,1>:f', H, 1, frame=2, live_grfs=118),
        insn('        mul (16|M0)              r41.0<1>:f    r40.0<8;8,1>:f    r40.0<8;8,1>:f', H, 1, frame=3, live_grfs=118),
        insn('        math.sqt (16|M0)         r49.0<1>:f    r39.0<8;8,1>:f                   {Compacted}', H, 4, 8, frame=1, live_grfs=100),
        insn('(W&f0.0) jmpi                                L0040', CL, FIRST + 3, frame=0, live_grfs=80, targets=[0x38]),
        insn('        sends (16|M0)            null:w   r63     r12     0x20C            0x04025001', CL, FIRST + 5, frame=0, live_grfs=40, label='L0128', message=write),
        insn('(W)     send (8|M0)              null     r127    0x27            0x02000010           {EOT}', CL, FIRST + 7, frame=0, live_grfs=2, message={'text': 'end of thread', 'function': 'ts'}),
    ])
    code[2]['targets'] = [code[9]['offset']]
    code[8]['targets'] = [code[3]['offset']]
    for n, i in enumerate(code):
        i['block'] = 0 if n < 3 else 1 if n < 9 else 2
    return {
        'name': 'force', 'simd': 16, 'isa_size_B': sum(i['size'] for i in code), 'grf_B': 32, 'has_debug_info': True,
        'instructions': code, 'peak_live_grfs': 120, 'spill_B': 256,
        'blocks': [{'first': 0, 'count': 3, 'offset': 0, 'size': 40, 'successors': [1, 2], 'loop_depth': 0},
                   {'first': 3, 'count': 6, 'offset': 40, 'size': 88, 'successors': [1, 2], 'loop_depth': 1},
                   {'first': 9, 'count': 2, 'offset': 128, 'size': 32, 'successors': [], 'loop_depth': 0}],
        'inline': [{'function': 'force', 'decl_file': CL, 'decl_line': FIRST},
                   {'function': 'dist', 'parent': 0, 'call_file': CL, 'call_line': FIRST + 4},
                   {'function': 'sq', 'parent': 1, 'call_file': H, 'call_line': 4},
                   {'function': 'sq', 'parent': 1, 'call_file': H, 'call_line': 4}],
        'variables': [{'name': 'r', 'type': 'float', 'size': 4, 'frame': 0, 'locations': [{'begin': 0, 'end': 400, 'text': 'lane i: r39.0:f + i'}]}],
        'columns': [{'name': 'executions', 'unit': 'times', 'values': [64, 64, 64, 6400, 6400, 6400, 6400, None, 6400, 64, 64]}],
    }


def counted():
    """A kernel with the columns of recorded counts: two are shown, one as a bar."""
    executions = [64, 64, 64, 6400, 6400, 6400, 6400, 0, 6400, 64, None]
    known = [e or 0 for e in executions]
    kernel = force()
    kernel['columns'] = [
        {'name': 'share', 'unit': '%', 'total': 'sum', 'shown': True, 'heat': True, 'description': 'of all',
         'values': [None if e is None else 100 * e / sum(known) for e in executions]},
        {'name': 'lanes', 'unit': '%', 'total': 'mean', 'shown': True, 'weights': [16 * e for e in known],
         'values': [100, 100, 100, 100, 50, 100, 100, 0, 25, 100, None]},
        {'name': 'executions', 'unit': '', 'total': 'sum', 'shown': False, 'values': executions},
    ]
    return kernel


def crowded():
    """A kernel with more columns than there is room for."""
    kernel = dict(counted(), name='crowded')
    kernel['columns'] += [{'name': f'memtrace.{name}', 'unit': '', 'total': 'sum', 'shown': True, 'values': kernel['columns'][2]['values']}
                          for name in ('messages', 'lanes', 'bytes', 'sectors', 'lines', 'footprint')]
    return kernel


def stalled():
    """A kernel with samples of where its threads waited."""
    active, waits = [10] * 11, [0, 0, 30, 0, 0, 90, 0, 0, 0, 0, 0]
    all_ = sum(active) + sum(waits)
    kernel = dict(force(), name='stalled')
    kernel['columns'] = [
        {'name': 'stalls', 'unit': '%', 'total': 'sum', 'shown': True, 'heat': True, 'values': [100 * (a + w) / all_ for a, w in zip(active, waits)]},
        {'name': 'Active', 'unit': 'cycles', 'total': 'sum', 'shown': False, 'values': active},
        {'name': 'SbidStall', 'unit': 'cycles', 'total': 'sum', 'shown': False, 'values': waits},
    ]
    return kernel


def bare(name, n):
    return {'name': name, 'simd': 8, 'isa_size_B': 16 * n, 'grf_B': 32, 'has_debug_info': False,
            'note': 'compiled without -g', 'blocks': [],
            'instructions': place([insn(f'        mov (8|M0)               r{k % 128}.0<1>:ud    r0.0<1;1,0>:ud', block=0) for k in range(n)])}


def opcodes(name, n):
    """One instruction of each of n opcodes."""
    kernel = bare(name, n)
    for k, i in enumerate(kernel['instructions']):
        i['opcode'] = f'op{k}'
    return kernel


def module(kernels, files, name='nbody.bin'):
    return {'schema': 'zescope.module/1', 'generator': 'zescope', 'input': name, 'notes': [],
            'devices': [{'device': 'skl', 'format': 'patch-tokens', 'kernels': kernels}],
            'files': [{'path': p, 'found': p, 'text': t} for p, t in files.items()]}


def loops(n):
    """Many blocks: nested loops and branches over several layers."""
    kernel = bare('loops', 2 * n)
    kernel['blocks'] = [{'first': 2 * b, 'count': 2, 'offset': 32 * b, 'size': 32, 'loop_depth': 0,
                         'successors': [s for s in (b + 1, b + 1 + b % 5, b - b % 7) if 0 <= s < n]} for b in range(n)]
    return kernel


def basic():
    out = module([force(), bare('reduce_sum', 5), bare('reduce_max', 9), bare('scan', 200)], {CL: NBODY, H: HELPERS})
    out['notes'] = ['scan: its time may be off', 'force: its time may be off, too', 'of all of them']
    return out


ATTACKS = [
    '</script><script>window.pwned=1</script>', '<img src=x onerror="window.pwned=1">', '<!--<script>', '-->', '"><svg onload=window.pwned=1>',
    "' onmouseover='window.pwned=1", '\u202e\u2066reversed\u2069', 'nul\x00in\x01side', '&lt;script&gt;&amp;', '${window.pwned=1}', 'javascript:window.pwned=1',
    '__proto__', 'constructor', ']]>', '\u2028\u2029', '{{DATA}}', '\ud800'.encode('utf-16', 'surrogatepass').decode('utf-16', 'replace'),
]


def hostile():
    kernels = []
    for a in ATTACKS:
        code = place([insn(f'        mov (8|M0)   {a} {b}', a, 1 + n, frame=0, opcode=a, label=a, message={'text': b, 'function': a, 'surface': b}, block=0)
                      for n, b in enumerate(ATTACKS)])
        code[0]['targets'] = [16, 7, -1, 1e99, 'x', None]
        blocks = [{}, {'first': -1, 'count': 5, 'successors': [0, 0, 1, 2, 99, -1, 1.5, a, None]}, {'first': 1, 'count': 1e9, 'successors': a}, a]
        kernels.append({'name': a, 'simd': 8, 'isa_size_B': 16, 'instructions': code, 'note': a, 'blocks': blocks,
                        'inline': [{'function': a, 'parent': 0, 'call_file': a, 'call_line': 1}],  # its own parent
                        'variables': [{'name': a, 'type': a, 'locations': [{'begin': 0, 'end': 999, 'text': a}]}],
                        'columns': [{'name': a, 'unit': a, 'description': a, 'values': [1, 'x', None, 1e300]}]})
    kernels += [{}, {'name': 'none', 'instructions': []}, {'name': None, 'instructions': None, 'blocks': 7, 'inline': {}, 'error': ATTACKS[0]},
                {'name': 'odd', 'instructions': [{}, {'offset': 'x', 'text': 5, 'file': 3, 'line': 'a', 'live_grfs': 'many', 'frame': 99}]}]
    out = module(kernels, {a: '\n'.join(ATTACKS) for a in ATTACKS}, ATTACKS[0])
    out['notes'] = ATTACKS
    out['devices'].append({'device': ATTACKS[1], 'kernels': [{'name': ATTACKS[1], 'instructions': []}]})
    out['files'].append({'path': 'missing.cl', 'note': ATTACKS[1]})
    return out


def big(n=50000, lines=5000):
    text = ''.join(f'    x[{k}] = a * {k} + b; // statement {k}\n' for k in range(lines))
    code = []
    for k in range(n):
        op = ('mad', 'add', 'mul', 'mov')[k % 4]
        i = insn(f'        {op} (16|M0)             r{k % 120}.0<1>:f    r{(k + 7) % 120}.0<8;8,1>:f    r{(k + 31) % 120}.0<8;8,1>:f', '/src/big.cl',
                 1 + (k * 7919) // 80 % lines, frame=0, live_grfs=20 + k * 13 % 100, block=k // 50)
        code.append(i)
    place(code)
    for k in range(100, n, 50):
        code[k]['targets'] = [code[k - 37]['offset']]
        code[k]['text'] = f'(W&f0.0) jmpi                L{code[k - 37]["offset"]}'
    kernel = {'name': 'big', 'simd': 16, 'isa_size_B': 16 * n, 'instructions': code, 'inline': [{'function': 'big'}], 'blocks': [],
              'columns': [{'name': 'executions', 'values': [k * k % 1009 for k in range(n)]}]}
    return module([kernel], {'/src/big.cl': text}, 'big.bin')


def dump(document, path):
    with open(path, 'w', encoding='utf-8', errors='replace') as f:
        json.dump(document, f, ensure_ascii=False)
