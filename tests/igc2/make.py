#!/usr/bin/env python3
"""Make the modules of this folder with the IGC 2 of this system, or hold them against it.

usage: make.py WORK FOLDER [NAME...]            compile into WORK, pack into FOLDER
       make.py --check WORK FOLDER [NAME...]    compile into WORK, compare with FOLDER

Run by scripts/igc2-modules on Debian forky. FOLDER has an archive for each source, SOURCE.tar.xz, of its modules
as the compiler wrote them but for the SPIR-V, with a file SOURCE.iga64 that has a line for each kernel: module,
kernel, and the hash of what libiga64 of the same IGC prints for its code (hash.py); and modules.txt, which says what there is.
What the compiler refuses stands in modules.txt, too. NAME: those sources alone.
"""
import concurrent.futures
import ctypes
import hashlib
import io
import lzma
import os
import re
import subprocess
import sys
import tarfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import kernels  # noqa: E402

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..')
DEVICES = ('tgllp', 'dg2', 'mtl', 'arl-h', 'pvc', 'bmg', 'lnl', 'ptl', 'nvl-p', 'cri')
LANES16 = ('pvc', 'bmg', 'lnl', 'ptl', 'nvl-p', 'cri')  # the fewest there
# what libiga64 calls their instruction sets
IGA = {'tgllp': 0x1000000, 'dg2': 0x1000002, 'mtl': 0x1000002, 'arl-h': 0x1000002, 'pvc': 0x1000004,
       'bmg': 0x2000000, 'lnl': 0x2000000, 'ptl': 0x3000000, 'nvl-p': 0x3000003, 'cri': 0x3000003}
SUITE = 'arith extremes real half wide flow memory sync subgroup shape program data image printf dot localblock'
LATER = {'matrix': 'dg2 arl-h pvc bmg lnl ptl nvl-p cri', 'lsc': 'dg2 mtl pvc bmg lnl ptl nvl-p cri',
         'xehpc': 'pvc bmg lnl ptl nvl-p cri', 'floatatomic': 'dg2 mtl pvc bmg lnl ptl nvl-p cri', 'xe3p': 'nvl-p cri'}
VARIANTS = {'unoptimised': '-cl-opt-disable', 'simd32': '-DSIMD=32', 'large': '-cl-intel-256-GRF-per-thread',
            'numbered': '-DIN_ORDER'}
# what of each there is beside the default, for which devices
MORE = {'flow': {'unoptimised': DEVICES}, 'memory': {'unoptimised': ('bmg', 'ptl')},
        'subgroup': {'simd32': ('bmg', 'ptl')}, 'sync': {'simd32': ('bmg', 'ptl')},
        'real': {'simd32': ('pvc', 'bmg', 'ptl')}, 'program': {'large': ('dg2', 'bmg', 'ptl', 'cri')},
        'lsc': {'numbered': ('dg2', 'mtl')}}
OPTIONS = '-cl-std=CL2.0 -cl-fp32-correctly-rounded-divide-sqrt'
LIMIT_S = 600
STEPPED = ('mtl', 'bmg', 'ptl')  # where values are compared in the debugger


def jobs():
    """(source's name, device, variant, source, options)"""
    for name in SUITE.split() + list(LATER):
        source = os.path.join(TESTS, 'kernels', 'suite', name + '.cl')
        for device in LATER.get(name, ' '.join(DEVICES)).split():
            if (device, name) in (('pvc', 'image'), ('cri', 'image'), ('arl-h', 'image')):
                continue  # two have none; is mtl's
            more = OPTIONS
            if device in LANES16:
                more += ' -DNO_SIMD8'
            if name == 'image':
                more += ' -DNO_GRADIENT_OF_UINTS'
            if name == 'xe3p':
                more += ' -cl-intel-512-GRF-per-thread'
            if name in ('matrix', 'lsc'):
                more += ' -DLANES=16' if device in LANES16 else ' -DLANES=8'
            yield name, device, 'default', source, more
            for variant, where in MORE.get(name, {}).items():
                if device in where:
                    yield name, device, variant, source, more + ' ' + VARIANTS[variant]
    for name, source in (('debug', 'tests/unit/correlate/kernels/kernels.cl'), ('nbody', 'examples/nbody/nbody.cl')):
        for device in DEVICES:
            yield name, device, 'default', os.path.join(TESTS, '..', source), '-g -I.'
    for kind in ('bytes', 'bf', 'half'):
        for device in ('dg2', 'pvc', 'bmg', 'ptl', 'cri'):
            lanes = 16 if device in LANES16 else 8
            yield f'joint_{kind}_{lanes}', device, 'khr', os.path.join(TESTS, 'e2e', 'suite', 'joint.py'), f'{kind} {lanes}'
    for device in STEPPED:
        source = os.path.join(TESTS, 'e2e', 'debug', 'stepped.cl')
        yield 'stepped', device, 'default', source, '-g'
        yield 'stepped', device, 'unoptimised', source, '-g -cl-opt-disable'


def called(job):
    return f'{job[1]}-{job[0]}-{job[2]}'


def key_of(job, compiler):
    digest = hashlib.sha256(repr((job[1], job[4], compiler)).encode())
    folder = os.path.dirname(job[3])
    for name in sorted(os.listdir(folder)) if '-I.' in job[4] else [os.path.basename(job[3])]:
        with open(os.path.join(folder, name), 'rb') as f:
            digest.update(f.read())
    return digest.hexdigest()


def compile_one(work, compiler, job):
    """The module without its SPIR-V, or what the compiler says. Kept in WORK while nothing of it changes."""
    out = os.path.join(work, called(job))
    key = key_of(job, compiler)
    if os.path.exists(out + '.key'):
        with open(out + '.key', encoding='utf-8') as f:
            was, *said = f.read().split('\n', 1)
        if was == key and not said[0]:
            with open(out + '.bin', 'rb') as f:
                return f.read()
        if was == key:
            return said[0]
    result = compile_afresh(out, job)
    with open(out + '.key', 'w', encoding='utf-8') as f:
        f.write(key + '\n' + (result if isinstance(result, str) else ''))
    return result


def compile_afresh(out, job):
    _, device, _, source, options = job
    if os.path.basename(source) == 'stepped.cl':  # without what notes its variables down
        with open(source, encoding='utf-8') as f:
            text = re.sub(r'\b[LQ]\([a-z0-9, ]*\) ?', '', f.read())
        source = out + '.cl'
        with open(source, 'w', encoding='utf-8') as f:
            f.write(text)
    if os.path.basename(source) == 'joint.py':  # which writes SPIR-V
        kind, lanes = options.split()
        subprocess.run(['python3', source, 'khr-' + kind, lanes, out + '.spv'], check=True)
        source, options = out + '.spv', ''
    command = ['ocloc', 'compile', '-q', '-file', os.path.basename(source), '-device', device, '-options', options,
               '-output_no_suffix', '-output', out]
    if source.endswith('.spv'):
        command += ['-spirv_input']
    if '-DIN_ORDER' in options:  # images by binding table
        command += ['-stateful_address_mode', 'bindful']
    if os.path.exists(out + '.bin'):
        os.remove(out + '.bin')
    try:
        done = subprocess.run(command, cwd=os.path.dirname(source), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, errors='replace', timeout=LIMIT_S, check=False)
    except subprocess.TimeoutExpired:
        return f'no end within {LIMIT_S} s'
    if not os.path.exists(out + '.bin'):
        said = re.search(r'error:? *(.*)', done.stdout)
        return (said[1] if said else done.stdout[-60:]).strip() or f'status {done.returncode}'
    with open(out + '.bin', 'rb') as f:
        module = kernels.without(f.read(), '.spv')
    with open(out + '.bin', 'wb') as f:
        f.write(module)
    return module


class Options(ctypes.Structure):
    _fields_ = [('cb', ctypes.c_size_t), ('gen', ctypes.c_int)]


class Listing(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint32) for name in ('cb', 'formatting', 'r0', 'r1', 'decoder', 'base')]


class Iga:
    def __init__(self):
        self.library = ctypes.CDLL('libiga64.so.2')
        self.contexts = {}

    def text(self, device, code):
        """What it prints, or None where it reports an error."""
        if device not in self.contexts:
            context = self.contexts[device] = ctypes.c_void_p()
            options = Options(ctypes.sizeof(Options), IGA[device])
            if self.library.iga_context_create(ctypes.byref(options), ctypes.byref(context)):
                sys.exit(f'libiga64 does not know {device}')
        listing, text = Listing(cb=ctypes.sizeof(Listing), formatting=0x80), ctypes.c_char_p()
        status = self.library.iga_context_disassemble(self.contexts[device], ctypes.byref(listing), code,
                                                      len(code), None, None, ctypes.byref(text))
        said = (text.value or b'').decode('latin-1')
        return said if status == 0 or set(re.findall('illegal +// (\\w+)', said)) == {'sendgx'} else None


def archive(work, name, modules, iga):
    """SOURCE.tar.xz as bytes: the same for the same modules."""
    files, lines = [], []
    for module, device, data in modules:
        files.append((module + '.bin', data))
        for kernel, code in kernels.codes(data):
            text = iga.text(device, code)
            lines.append(f'{module} {kernel} {kernels.digest(text) if text is not None else "refused"}\n')
            if text is not None:
                with open(os.path.join(work, f'{module}.{kernel}.iga64'), 'w', encoding='latin-1') as f:
                    f.write(text)
    files.append((name + '.iga64', ''.join(lines).encode()))
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode='w', format=tarfile.USTAR_FORMAT) as tar:
        for path, data in files:
            info = tarfile.TarInfo(path)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return lzma.compress(out.getvalue(), preset=9 | lzma.PRESET_EXTREME)


def several(work):
    """ARCHIVE.xz: a kernel for several devices, in one file."""
    out, source = os.path.join(work, 'several'), os.path.join(work, 'add.cl')
    with open(source, 'w', encoding='utf-8') as f:
        f.write('__kernel void add(__global int *a, __global const int *b, int n) '
                '{ int i = get_global_id(0); if (i < n) a[i] += b[i] * 3; }\n')
    subprocess.run(['ocloc', 'compile', '-q', '-file', source, '-device',
                    'tgllp,dg2,mtl,arl-h,bmg-g21,lnl-m,ptl-h,wcl,nvl-s,cri', '-output', out], check=True)
    with open(out, 'rb') as f:
        return lzma.compress(f.read(), preset=9 | lzma.PRESET_EXTREME)


def compiler():
    return subprocess.run(['dpkg-query', '-W', '-f=${Package} ${Version}, ', 'intel-ocloc', 'libigc2'],
                          stdout=subprocess.PIPE, text=True, check=True).stdout.strip(', ')


def main():
    arguments = sys.argv[1:]
    check = arguments[:1] == ['--check']
    work, folder, *names = (os.path.abspath(a) if i < 2 else a for i, a in enumerate(arguments[check:]))
    os.makedirs(work, exist_ok=True)
    os.makedirs(folder, exist_ok=True)
    wanted = [job for job in jobs() if not names or job[0] in names]
    iga, made, refused, rows, version = Iga(), {}, [], [], compiler()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for job, module in zip(wanted, pool.map(lambda job: compile_one(work, version, job), wanted)):
            row = ' '.join(job[:3])
            if isinstance(module, str):
                refused.append(f'{row} refused: {module}')
                print(refused[-1], flush=True)
            else:
                made.setdefault(job[0], []).append((called(job), job[1], module))
                rows.append(row)
                print(row, len(module), flush=True)
    differ, total_B = [], 0
    index = os.path.join(folder, 'modules.txt')
    before = open(index, encoding='utf-8').read().splitlines() if os.path.exists(index) else []
    for name, modules in made.items():
        packed = archive(work, name, modules, iga)
        total_B += len(packed)
        path = os.path.join(folder, name + '.tar.xz')
        if check:
            with tarfile.open(path) as tar:
                for member in tar:
                    with open(os.path.join(work, 'committed-' + member.name), 'wb') as f:
                        f.write(tar.extractfile(member).read())
                    now = dict((m + '.bin', d) for m, _, d in modules).get(member.name)
                    if now and not kernels.same(now, tar.extractfile(member).read()):
                        differ.append(member.name)
        else:
            with open(path, 'wb') as f:
                f.write(packed)
    if not check and not names:
        with open(os.path.join(folder, 'archive.xz'), 'wb') as f:
            f.write(several(work))
    if check:
        print(f'# here: {version}; {before[1] if len(before) > 1 else ""}')
        missing = [r for r in before if r and r[0] != '#' and r not in rows + refused and
                   (not names or r.split()[0] in names)]
        print('\n'.join([f'differs: {name}' for name in differ] + [f'not made: {row}' for row in missing]))
        print(f'{sum(map(len, made.values()))} modules, {len(differ)} differ, {len(missing)} missing')
        sys.exit(1 if differ or missing else 0)
    kept = [r for r in before if r and r[0] != '#' and names and r.split()[0] not in names]
    with open(index, 'w', encoding='utf-8') as f:
        f.write('# Made by scripts/igc2-modules: source, device, variant; "refused" with what the compiler says.\n')
        f.write(f'# compiled by: {version}\n')
        f.write('\n'.join(sorted(kept + rows + refused)) + '\n')
    print(f'{sum(map(len, made.values()))} modules, {len(refused)} refused, {total_B} bytes')


if __name__ == '__main__':
    main()
