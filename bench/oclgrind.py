"""Oclgrind's own tests under `zescope run --check`: what each is known to do wrong, and what is told of it.

usage: bench/oclgrind.py BUILD_FOLDER TESTS [--device=skl] [--flags=-cl-opt-disable] [NAME...]

TESTS: the folder tests/kernels of Oclgrind's sources; NAME: some of them, by their ends. A test agrees when something is
told exactly where Oclgrind tells something. Read-only buffers are virtual memory that is mapped so; OpenCL's others and
groups of several sizes are nothing that Level Zero has. Exit status: the number of tests that do not agree, at most 99.
"""
import ctypes
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

KINDS = 'memory,init,undefined,race,sync,swsb'
CODES = {'char': 'b', 'uchar': 'B', 'short': 'h', 'ushort': 'H', 'int': 'i', 'uint': 'I', 'long': 'q', 'ulong': 'Q',
         'float': 'f', 'double': 'd'}
TYPES = {1: 'uchar', 2: 'ushort', 4: 'int', 8: 'ulong'}


class Argument:
    """One of a .sim file: a header <...> and values behind it."""

    def __init__(self, kind, text, size):
        self.kind, self.words = kind, text.split()
        self.options = dict((w.split('=') + [''])[:2] for w in self.words)
        self.size = int(self.options.get('size', size))
        self.values = []

    def data(self):
        kind = next((w for w in self.words if w in CODES), None)
        size = struct.calcsize(CODES[kind]) if kind else 4 if self.size % 4 == 0 or self.size > 8 else self.size
        code = CODES[kind or TYPES[size]]
        number = float if code in 'fd' else lambda v: int(float(v)) if '.' in v else int(v, 16 if 'hex' in self.words else 10)
        count = self.size // size
        if 'fill' in self.options:
            values = [number(self.options['fill'])] * count
        elif 'range' in self.options:
            start, step, _ = (float(v) for v in self.options['range'].split(':'))
            values = [(float if code in 'fd' else int)(start + i * step) for i in range(count)]
        else:
            values = [number(v) for v in self.values] + [0] * (count - len(self.values))
        return b''.join(struct.pack('<' + (code if v >= 0 or code in 'fd' else code.lower()), v) for v in values)


def parameters(source, kernel):
    """Whether each is local, global or a value."""
    text = re.sub(r'/\*.*?\*/|//[^\n]*', '', source, flags=re.S)
    named = re.search(r'\bkernel\b[^;{]*?\b' + re.escape(kernel) + r'\s*\(([^)]*)\)', text.replace('__kernel', 'kernel'))
    for p in (p.strip() for p in named[1].split(',')):
        if p and p != 'void':
            yield 'value' if '*' not in p else 'local' if re.search(r'\b(__)?local\b', p) else 'global'


def read(path):
    lines = [line.split('#')[0].strip() for line in open(path)]
    lines = [line for line in lines if line]
    folder, (program, kernel) = os.path.dirname(path), lines[:2]
    source = os.path.join(folder, program)
    kinds = list(parameters(open(source).read(), kernel))
    arguments = []
    for line in lines[4:]:
        if line.startswith('<'):
            arguments.append(Argument(kinds[len(arguments)], line[1:line.index('>')], 0))
            line = line[line.index('>') + 1:]
        arguments[-1].values += line.split()
    return source, kernel, *([int(v) for v in line.split()] for line in lines[2:4]), arguments


# ---- the program that is checked ---------------------------------------------------------------

CONTEXT_DESC, QUEUE_DESC, DEVICE_MEM_DESC, MODULE_DESC, KERNEL_DESC, PHYSICAL_MEM_DESC = 0xd, 0xe, 0x15, 0x1b, 0x1d, 0x20


class Desc(ctypes.Structure):
    _fields_ = [('stype', ctypes.c_uint32), ('pad', ctypes.c_uint32), ('next', ctypes.c_void_p)] + \
               [(f'word{i}', ctypes.c_uint64) for i in range(6)]


class Program:
    def __init__(self):
        self.ze = ctypes.CDLL('libze_loader.so.1')
        self.driver, self.device, self.context, self.list = (ctypes.c_void_p() for _ in range(4))
        one = ctypes.c_uint32(1)
        self.call('zeInit', 0)
        self.call('zeDriverGet', ctypes.byref(one), ctypes.byref(self.driver))
        self.call('zeDeviceGet', self.driver, ctypes.byref(one), ctypes.byref(self.device))
        self.call('zeContextCreate', self.driver, ctypes.byref(Desc(CONTEXT_DESC)), ctypes.byref(self.context))
        queue = Desc(QUEUE_DESC, word1=1 << 32)  # flags, mode: synchronous
        self.call('zeCommandListCreateImmediate', self.context, self.device, ctypes.byref(queue), ctypes.byref(self.list))

    def call(self, name, *arguments):
        result = getattr(self.ze, name)(*arguments)
        if result:
            raise SystemExit(f'{name}: {result & 0xffffffff:#x}')

    def read_only(self, data):
        """Virtual memory, mapped once more after it was filled."""
        page, size, memory, va = ctypes.c_size_t(), len(data), ctypes.c_void_p(), ctypes.c_void_p()
        self.call('zeVirtualMemQueryPageSize', self.context, self.device, ctypes.c_size_t(size), ctypes.byref(page))
        size = ctypes.c_size_t(page.value)
        desc = Desc(PHYSICAL_MEM_DESC, word1=page.value)
        self.call('zePhysicalMemCreate', self.context, self.device, ctypes.byref(desc), ctypes.byref(memory))
        self.call('zeVirtualMemReserve', self.context, None, size, ctypes.byref(va))
        self.call('zeVirtualMemMap', self.context, va, size, memory, ctypes.c_size_t(0), 1)
        self.copy(va, data)
        self.call('zeVirtualMemSetAccessAttribute', self.context, va, size, 2)
        return va

    def copy(self, to, data):
        self.call('zeCommandListAppendMemoryCopy', self.list, to, data, ctypes.c_size_t(len(data)), None, 0, None)

    def buffer(self, a):
        if 'null' in a.words or not a.size:
            return ctypes.c_void_p(0)
        if 'ro' in a.words:
            return self.read_only(a.data())
        place = ctypes.c_void_p()
        self.call('zeMemAllocDevice', self.context, ctypes.byref(Desc(DEVICE_MEM_DESC)), ctypes.c_size_t(a.size), ctypes.c_size_t(64), self.device,
                  ctypes.byref(place))
        if 'noinit' not in a.words:
            self.copy(place, a.data())
        return place

    def run(self, spirv, flags, sim):
        source, name, items, group, arguments = read(sim)
        binary, module, kernel = open(spirv, 'rb').read(), ctypes.c_void_p(), ctypes.c_void_p()
        kept = ctypes.create_string_buffer(binary, len(binary)), ctypes.create_string_buffer(flags.encode())
        desc = Desc(MODULE_DESC, word1=len(binary), word2=ctypes.addressof(kept[0]), word3=ctypes.addressof(kept[1]))
        self.call('zeModuleCreate', self.context, self.device, ctypes.byref(desc), ctypes.byref(module), None)
        named = ctypes.create_string_buffer(name.encode())
        self.call('zeKernelCreate', module, ctypes.byref(Desc(KERNEL_DESC, word1=ctypes.addressof(named))),
                  ctypes.byref(kernel))
        for i, a in enumerate(arguments):
            value = self.buffer(a) if a.kind == 'global' else None
            if a.kind == 'value':
                data = a.data()
                self.call('zeKernelSetArgumentValue', kernel, i, ctypes.c_size_t(len(data)), data)
            else:
                size = a.size if a.kind == 'local' else 8
                self.call('zeKernelSetArgumentValue', kernel, i, ctypes.c_size_t(size), ctypes.byref(value) if value else None)
        self.call('zeKernelSetGroupSize', kernel, *group)
        groups = (ctypes.c_uint32 * 3)(*(n // g for n, g in zip(items, group)))
        self.call('zeCommandListAppendLaunchKernel', self.list, kernel, groups, None, 0, None)


# ---- all of them -------------------------------------------------------------------------------

def expects(sim):
    """What Oclgrind tells: lines of the reference. None: it has none."""
    path = sim[:-3] + 'ref'
    return re.findall(r'^ERROR (.*)', open(path).read(), re.M) if os.path.exists(path) else []


def check(build, sim, device, flags, folder):
    """Kinds of what zescope tells, and what it printed."""
    source = read(sim)[0]
    spirv, found = (os.path.join(folder, f) for f in ('kernel.spv', 'found.json'))
    compiled = subprocess.run(['ocloc', 'compile', '-q', '-spv_only', '-file', source, '-device', device, '-output_no_suffix', '-output', spirv[:-4],
                               '-options', '-g -cl-std=CL2.0 ' + flags], text=True, capture_output=True)
    if compiled.returncode:
        return None, compiled.stdout + compiled.stderr
    env = dict(os.environ, ZESCOPE_DRIVER=os.path.join(build, 'src/driver/libze_zescope.so.1'))
    r = subprocess.run([os.path.join(build, 'src/cli/zescope'), 'run', '-d', device, '--check=' + KINDS, '--check-format', 'json',
                        '--check-output', found, '--', sys.executable, os.path.abspath(__file__), '--program', spirv, '-g ' + flags, sim],
                       env=env, text=True, capture_output=True, timeout=120)
    if r.returncode not in (0, 99):
        return None, r.stdout + r.stderr
    told = [f for f in json.load(open(found))['findings'] if f['level'] == 'error']
    return [f['kind'] for f in told], '\n'.join(f['text'] for f in told)


def main(arguments):
    options = dict(a[2:].split('=', 1) for a in arguments if a.startswith('--'))
    build, tests, *names = (a for a in arguments if not a.startswith('--'))
    sims = sorted(os.path.join(at, f) for at, _, files in os.walk(tests) for f in files if f.endswith('.sim'))
    sims = [s for s in sims if not names or any(s[:-4].endswith(n) for n in names)]
    other = 0
    with tempfile.TemporaryDirectory() as folder:
        for sim in sims:
            want = expects(sim)
            kinds, text = check(build, sim, options.get('device', 'skl'), options.get('flags', ''), folder)
            agrees = kinds is not None and bool(kinds) == bool(want)
            other += not agrees
            print(('agrees' if agrees else 'OTHER '), os.path.relpath(sim, tests)[:-4], '|', want[:1], '|', kinds, flush=True)
            if kinds is None or (names and text):
                print('    ' + text.strip().replace('\n', '\n    '))
    print(f'{len(sims) - other} of {len(sims)} agree')
    return min(other, 99)


if __name__ == '__main__':
    if sys.argv[1:2] == ['--program']:
        Program().run(*sys.argv[2:])
    else:
        sys.exit(main(sys.argv[1:]))
