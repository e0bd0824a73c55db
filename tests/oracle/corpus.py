#!/usr/bin/env python3
"""Make the corpus of compiled instructions that the instruction set is compared on.

usage: corpus.py FOLDER [--sample | --large]

Compiles the kernels of the tests for devices of ocloc, in patch tokens and zebin, and writes the
distinct instructions of each instruction set to FOLDER/<set>.insts, 16 bytes each (a compacted
instruction is 8 bytes and 8 of zeros), sorted. What is compiled is named in PLAN and, with --large,
in LARGE and by a generator of programs; with --sample every fifth of PLAN, so that each device and each source
occurs. A compiled module is kept in FOLDER and not compiled again
while its source, options and compiler stay the same. Fails when a set has no instructions.
"""
import concurrent.futures
import hashlib
import os
import random
import struct
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'e2e', 'isa'))
import modules  # noqa: E402

KERNELS = os.path.join(HERE, '..', 'kernels')
SUITE = os.path.join(KERNELS, 'suite')

# device of ocloc -> instruction set
DEVICES = {
    'bdw': 'gen8', 'skl': 'gen9', 'kbl': 'gen9', 'bxt': 'gen9', 'glk': 'gen9', 'icllp': 'gen11',
    'ehl': 'gen11', 'tgllp': 'gen12lp', 'rkl': 'gen12lp', 'adl-s': 'gen12lp', 'dg1': 'gen12lp',
    'xe_hp_sdv': 'xe-hp', 'dg2': 'xe-hpg', 'acm-g10': 'xe-hpg', 'acm-g11': 'xe-hpg',
    'acm-g12': 'xe-hpg', 'pvc': 'xe-hpc',
}
SETS = ('gen8', 'gen9', 'gen11', 'gen12lp', 'xe-hp', 'xe-hpg', 'xe-hpc')
FIRST_DEVICES = ('bdw', 'skl', 'icllp', 'tgllp', 'xe_hp_sdv', 'dg2', 'pvc')
DPAS_SETS = ('xe-hp', 'xe-hpg', 'xe-hpc')
# what IGC 2 crashes at
LACKING = {'image': ' -DNO_GRADIENT_OF_UINTS'} if os.path.exists('/usr/lib/x86_64-linux-gnu/libigdfcl.so.2') else {}
NO_DOUBLES = ('gen11', 'gen12lp', 'xe-hpg')
LARGE_REGISTERS = '-cl-intel-256-GRF-per-thread'
TIME_LIMIT_S = 120


def suite(name):
    return os.path.join(SUITE, name + '.cl')


def own(name):
    return os.path.join(HERE, 'kernels', name + '.cl')


def dpas_options(device):
    return '-DSIMD=16 ' if DEVICES[device] == 'xe-hpc' else '-DSIMD=8 '


def plan():
    """(source, device, options, format) of every run of the tests."""
    jobs = []
    for device in FIRST_DEVICES:
        widths = (16, 32) if DEVICES[device] == 'xe-hpc' else (8, 16, 32)
        names = ('arith', 'data', 'subgroup', 'image') if DEVICES[device] in NO_DOUBLES else \
            ('arith', 'memory', 'wide', 'image')
        for i, name in enumerate(names):
            jobs.append((suite(name), device, f'-DSIMD={widths[i % len(widths)]}' + LACKING.get(name, ''),
                         'zebin' if i == 1 else 'patch'))
        jobs.append((os.path.join(KERNELS, 'printf.cl'), device, '', 'zebin'))
        jobs.append((os.path.join(KERNELS, 'private_arrays.cl'), device, '', 'patch'))
        jobs.append((own('blocks'), device, f'-DSIMD={widths[0]}', 'patch'))
        if DEVICES[device] in DPAS_SETS:
            jobs.append((own('dpas'), device, dpas_options(device) + LARGE_REGISTERS, 'patch'))
        if DEVICES[device] not in NO_DOUBLES:
            jobs.append((suite('real'), device, '', 'patch'))
    for name in ('types', 'flow'):  # what the interpreter is asked to model, for its instruction set
        source = os.path.join(HERE, '..', 'e2e', 'eu', name + '.cl')
        jobs += [(source, 'skl', '-cl-std=CL2.0 ' + o, 'patch') for o in ('', '-cl-opt-disable')]
    return jobs


def sample(jobs):
    """Every fifth of each device, from another one on for each; then the first of each source that is missing."""
    taken = []
    for number, device in enumerate(FIRST_DEVICES):
        taken += [job for job in jobs if job[1] == device][number % 5::5]
    for job in jobs:
        if job[0] not in {source for source, *_ in taken}:
            taken.append(job)
    return taken


def large_plan(folder):
    """What --large adds: every source for every device, SIMD width and container, and programs made
    up at random (the same ones every time)."""
    jobs = []
    sources = sorted(os.path.join(SUITE, f) for f in os.listdir(SUITE) if f.endswith('.cl'))
    sources += [own('blocks'), own('spill')]
    for device, name in DEVICES.items():
        for i, source in enumerate(sources):
            widths = (16, 32) if name == 'xe-hpc' else (8, 16, 32)
            for width in widths:
                jobs.append((source, device, f'-DSIMD={width}', 'zebin' if i % 2 else 'patch'))
        if name in DPAS_SETS:
            jobs.append((own('dpas'), device, dpas_options(device), 'patch'))
            jobs += [(s, device, LARGE_REGISTERS, 'patch') for s in sources]
    for device in FIRST_DEVICES:
        for seed in range(24):
            jobs.append((made_up(folder, seed), device, '', 'zebin' if seed % 2 else 'patch'))
    return jobs


# ---- programs made up at random ----

STATEMENTS = (
    'f{a} = fma(f{b}, f{c}, {k}.5f);', 'f{a} += native_sqrt(fabs(f{b}) + {k}.0f);',
    'f{a} = native_exp2(f{b} * {k}.25f);', 'f{a} = mix(f{b}, f{c}, f{d});',
    'i{a} = (i{b} << {s}) ^ (i{c} >> {s});', 'i{a} += i{b} * {k} - i{c};',
    'i{a} = rotate(i{b}, {k}) + popcount(i{c});', 'l{a} += l{b} * {k} + l{c};',
    'l{a} = (l{b} >> {s}) | (l{c} << {s});', 'h{a} = (short)(h{b} * h{c} + {k});',
    'i{a} = mul_hi(i{b}, i{c}) + clz(i{d});', 'i{a} += convert_int_sat(f{b});',
    'f{a} += convert_float(l{b});', 'if (i{a} > {k}) f{b} -= f{c}; else i{d} ^= i{b};',
    'for (int j = 0; j < i{a} % {k}; j++) {{ f{b} = f{b} * f{c} + {k}.0f; if (f{b} > f{d}) break; }}',
    'p[(i{a} & 0xfff) + {k}] = f{b};', 'f{a} = p[(i{b} & 0xfff) + {k}];',
    'i{a} = q[(i{b} & 0x3ff) * {s} + {k}];', 'q[i * {s} + {k}] = i{a};',
    'atomic_add(&q[{k}], i{a});', 'i{a} = atomic_max(&loc[i{b} & 63], i{c});',
    'barrier(CLK_LOCAL_MEM_FENCE); loc[i & 63] = i{a};', 'b[i + {k}] = (uchar)i{a};',
    'i{a} += b[i * {s} + {k}];', 'l{a} = r[(i{b} & 255) + {k}];', 'r[i + {k}] = l{a};',
    'i{a} = sub_group_reduce_add(i{b});', 'f{a} = intel_sub_group_shuffle(f{b}, {s});',
    'i{a} = i{b} / (i{c} | 1);', 'l{a} = l{b} % (l{c} | 3);', 'f{a} = sin(f{b}) + log(fabs(f{c}));',
    'arr[i{a} & 31] = i{b}; i{c} += arr[i{d} & 31];',
    'i{a} = select(i{b}, i{c}, i{d} < {k});', 'h{a} = add_sat(h{b}, h{c});',
)


def made_up(folder, seed):
    path = os.path.join(folder, f'made_up_{seed}.cl')
    rng = random.Random(seed)
    width = rng.choice((8, 16, 32))
    lines = ['#pragma OPENCL EXTENSION cl_intel_subgroups : enable', '']
    for k in range(40):
        lines.append(f'kernel __attribute__((intel_reqd_sub_group_size({max(width, 16)}))) '
                     f'void k{k}(global float *p, global int *q, global uchar *b, global long *r)')
        lines.append('{ local int loc[64]; int i = (int)get_global_id(0); int arr[32];')
        lines.append('  for (int n = 0; n < 32; n++) arr[n] = n * i;')
        for v in range(6):
            lines.append(f'  float f{v} = p[i + {v}]; int i{v} = q[i * {v}]; long l{v} = r[i ^ {v}];'
                         f' short h{v} = (short)i{v};')
        for _ in range(rng.randrange(10, 120)):
            a, b, c, d = (rng.randrange(6) for _ in range(4))
            lines.append('  ' + rng.choice(STATEMENTS).format(
                a=a, b=b, c=c, d=d, k=rng.randrange(1, 3000), s=rng.randrange(1, 16)))
        lines.append('  p[i] = ' + ' + '.join(f'f{v}' for v in range(6)) + ';')
        lines.append('  r[i] = ' + ' + '.join(f'l{v} + i{v} + h{v}' for v in range(6)) + '; }')
    text = '\n'.join(lines) + '\n'
    if not os.path.exists(path):
        with open(path, 'w', encoding='utf-8') as f:
            f.write(text)
    return path


# ---- compiling ----

def compiler_identity():
    path = '/usr/bin/ocloc'
    stat = os.stat(path)
    return f'{stat.st_size} {int(stat.st_mtime)}'


def compile_one(folder, identity, job):
    """The module's bytes, or None where the compiler refuses the source for the device."""
    source, device, options, kind = job
    with open(source, 'rb') as f:
        key = hashlib.sha256(f.read() + repr((identity, device, options, kind)).encode())
    path = os.path.join(folder, key.hexdigest()[:24])
    if os.path.exists(path + '.refused'):
        return None
    if not os.path.exists(path + '.bin'):
        command = ['timeout', str(TIME_LIMIT_S), 'ocloc', 'compile', '-q', '-file', source, '-device',
                   device, '-output', path + '.new', '-output_no_suffix', '-options',
                   '-cl-std=CL2.0 ' + options]
        if kind == 'zebin':
            command += ['--format', 'zebin']
        subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       check=False)
        made = [path + '.new' + e for e in ('', '.bin') if os.path.exists(path + '.new' + e)]
        if not made:
            with open(path + '.refused', 'w', encoding='utf-8') as f:
                f.write(f'{source} {device} {options} {kind}\n')
            return None
        os.replace(made[0], path + '.bin')
        for name in os.listdir(folder):
            if name.startswith(os.path.basename(path)) and not name.endswith('.bin'):
                os.remove(os.path.join(folder, name))
    with open(path + '.bin', 'rb') as f:
        return f.read()


# ---- code ----

def elf_sections(elf):
    """name, type, contents, link of every section."""
    shoff, = struct.unpack_from('<Q', elf, 0x28)
    size, count, names = struct.unpack_from('<HHH', elf, 0x3A)
    rows = [struct.unpack_from('<IIQQQQI', elf, shoff + i * size) for i in range(count)]
    table = elf[rows[names][4]:rows[names][4] + rows[names][5]]
    for row in rows:
        yield table[row[0]:table.index(b'\0', row[0])].decode(), row[1], elf[row[4]:row[4] + row[5]]


def zebin_code(elf):
    """The code of each symbol in a .text section, without the section's padding."""
    sections = list(elf_sections(elf))
    for name, kind, body in sections:
        if kind != 2:
            continue
        for at in range(0, len(body) - 23, 24):
            _, info, _, index, value, size = struct.unpack_from('<IBBHQQ', body, at)
            if info & 15 == 2 and 0 < index < len(sections) and \
                    sections[index][0].startswith('.text.'):
                yield sections[index][2][value:value + size]


def codes_of(module):
    if module[:4] == b'\x7fELF' and any(n.startswith('.text.') for n, _, _ in elf_sections(module)):
        return list(zebin_code(module))
    return [code for _, code in modules.kernels(module)]


def instructions(code):
    at = 0
    while at + 8 <= len(code):
        size = 8 if code[at + 3] & 0x20 else 16
        yield code[at:at + size].ljust(16, b'\0')
        at += size


def main():
    folder = os.path.abspath(sys.argv[1])
    os.makedirs(folder, exist_ok=True)
    jobs = plan() + (large_plan(folder) if '--large' in sys.argv[2:] else [])
    if '--sample' in sys.argv[2:]:
        jobs = sample(jobs)
    found = {name: set() for name in SETS}
    identity, refused, total = compiler_identity(), [], 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for job, module in zip(jobs, pool.map(lambda j: compile_one(folder, identity, j), jobs)):
            if module is None:
                refused.append(job)
                continue
            for code in codes_of(module):
                before = list(instructions(code))
                total += len(before)
                found[DEVICES[job[1]]].update(before)
    for name, insts in found.items():
        path = os.path.join(folder, name + '.insts')
        with open(path + '.new', 'wb') as f:
            f.write(b''.join(sorted(insts)))
        os.replace(path + '.new', path)
        print(f'{name}: {len(insts)} distinct instructions')
    print(f'{len(jobs)} modules, {len(refused)} refused by the compiler; {total} instructions, '
          f'{sum(map(len, found.values()))} distinct')
    for source, device, options, kind in refused:
        print(f'  refused: {os.path.basename(source)} {device} {options} {kind}')
    # beside IGC 2 ocloc has not all of these devices
    enough = any if os.path.exists('/usr/lib/x86_64-linux-gnu/libigdfcl.so.2') else all
    if not enough(found.values()) or len(refused) * 4 > len(jobs):
        sys.exit('the corpus is not complete')


main()
