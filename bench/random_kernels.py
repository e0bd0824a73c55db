"""Random OpenCL C kernels on all generations, compared with the same source as C, compiled by gcc.

usage: bench/random_kernels.py BUILD_FOLDER [--seeds=1-40] [--devices=skl,icllp,tgllp,dg2,pvc] [--options=A,B]
                               [--keep=FOLDER] [--reduce] [--spills] [--seconds=N] [--check]

A seed is a program (random_kernels_make.py): structs, loops, switches, jumps, pointers, vectors, integers of all types,
halves, floats and doubles with exact operations, local memory and barriers, sub-groups; its kernel writes all of its
work-items' variables. ocloc makes SPIR-V of it, the driver compiles that for each device with each of the options (of
`zeModuleCreate`; default: none, -ze-opt-disable, and one of the others by the seed's number), and what it leaves is what C
leaves, to the bit. Options that allow floats to be computed in other ways are for programs of integers alone. --check
runs with ZESCOPE_CHECK=1: code that reads registers before they were waited for is a fault, too. A complaint names seed,
device, options and the first variables that differ; --reduce then leaves out statements as long as something
differs and writes what remains into the folder of --keep; --spills looks whether it is one of the compiler's faults, that of
registers which are spilled whole (docs/compiler-faults.md). Whether the compiler is wrong or the execution of its code is otherwise
for the reader to find out. Exit status: 1 when something differs for another reason than that.
"""
import ctypes as c
import json
import os
import random
import struct
import subprocess
import sys
import tempfile
import time

from corpus_run import LevelZero
import random_kernels_spill
from random_kernels_make import INPUT, program

HERE = os.path.dirname(os.path.abspath(__file__))
GROUPS, BOUND, MORE_MAX = 2, 3, 6
DOUBLES = {'skl', 'pvc', 'mtl', 'bmg', 'lnl', 'ptl'}
FRONT = [('skl', 'tgllp'), ('mtl', 'tgllp')]  # with doubles and without: of IGC 1, of IGC 2, which knows no Gen9
GCC = ['gcc', '-O1', '-fwrapv', '-fno-strict-aliasing', '-ffp-contract=off', '-fexcess-precision=16', '-w',
       '-shared', '-fPIC', '-I', HERE]
COMPILE_LIMIT_S, SEED_LIMIT_S = 120, 600
EACH, LARGE = ['', '-ze-opt-disable'], '-ze-opt-large-register-file'
LOOSE = ['-cl-denorms-are-zero', '-cl-fast-relaxed-math', '-cl-mad-enable', '-cl-unsafe-math-optimizations']
IN_TURN = [LARGE, '-ze-opt-greater-than-4GB-buffer-required', '-cl-opt-disable', LARGE + ' -ze-opt-disable', *LOOSE]


def input_of(seed):
    r = random.Random(seed * 7 + 1)
    ends = [0, 1, 2, 0xffffffff, 0x80000000, 0x7fffffff, 0x8000, 0x7fff, 0xff80, 0x80, 0x7f]
    return [r.choice(ends) if r.random() < 0.3 else r.getrandbits(r.choice([3, 8, 16, 32])) for _ in range(INPUT)]


def values_of(seed, types):
    r, values = random.Random(seed * 5 + 2), []
    for t in types:
        size = {'int': 4, 'ulong': 8, 'short': 2, 'uchar': 1, 'float': 4, 'int4': 16}[t]
        values.append(struct.pack('f', r.randrange(-100, 100) / 4) if t == 'float' else r.randbytes(size))
    return values


class Devices(LevelZero):
    """All devices of one process."""

    def __init__(self, names):
        super().__init__({})
        count = c.c_uint(0)
        self.call('zeDeviceGet', self.driver, c.byref(count), None)
        handles = (c.c_void_p * count.value)()
        self.call('zeDeviceGet', self.driver, c.byref(count), handles)
        self.handles = dict(zip(names, handles))

    def module(self, context, device, code, options, log, is_native):
        module = c.c_void_p()
        desc = self.ModuleDesc(0x1b, None, 1 if is_native else 0, len(code), code, options.encode(), None)
        self.call('zeModuleCreate', context, device, c.byref(desc), c.byref(module), c.byref(log))
        return module

    def native(self, name, spirv, options):
        """The module in machine code."""
        context, size = c.c_void_p(), c.c_size_t()
        self.call('zeContextCreate', self.driver, c.byref(self.MemoryDesc(0xd)), c.byref(context))
        try:
            module = self.module(context, c.c_void_p(self.handles[name]), spirv, options, c.c_void_p(), False)
            self.call('zeModuleGetNativeBinary', module, c.byref(size), None)
            binary = c.create_string_buffer(size.value)
            self.call('zeModuleGetNativeBinary', module, c.byref(size), binary)
            return binary.raw
        finally:
            self.call('zeContextDestroy', context)

    def launch(self, name, code, options, group, data, out_B, values, is_native=False):
        """What the kernel leaves, or a string: why there is nothing. code: SPIR-V, or a native module."""
        device, context, log = c.c_void_p(self.handles[name]), c.c_void_p(), c.c_void_p()
        self.call('zeContextCreate', self.driver, c.byref(self.MemoryDesc(0xd)), c.byref(context))
        try:
            kernel, commands = c.c_void_p(), c.c_void_p()
            try:
                module = self.module(context, device, code, options, log, is_native)
            except RuntimeError:
                return 'not built: ' + self.log_text(log)
            self.call('zeKernelCreate', module, c.byref(self.KernelDesc(0x1d, None, 0, b'random_kernel')), c.byref(kernel))
            self.call('zeKernelSetGroupSize', kernel, group, 1, 1)
            places = [self.memory(context, device, len(data)), self.memory(context, device, out_B)]
            c.memmove(places[0], data, len(data))
            c.memset(places[1], 0xa5, out_B)
            for i, value in enumerate([struct.pack('Q', p.value) for p in places] + [struct.pack('I', BOUND)] + values):
                self.call('zeKernelSetArgumentValue', kernel, i, c.c_size_t(len(value)), value)
            self.call('zeCommandListCreateImmediate', context, device,
                      c.byref(self.QueueDesc(0xe, None, 0, 0, 0, self.SYNCHRONOUS, 0)), c.byref(commands))
            try:
                self.call('zeCommandListAppendLaunchKernel', commands, kernel, (c.c_uint * 3)(GROUPS, 1, 1), None, 0, None)
            except RuntimeError as error:
                return 'launch: ' + str(error)
            return c.string_at(places[1], out_B)
        finally:
            self.call('zeContextDestroy', context)

    def memory(self, context, device, size_B):
        place = c.c_void_p()
        self.call('zeMemAllocShared', context, c.byref(self.MemoryDesc(0x15)), c.byref(self.MemoryDesc(0x16)),
                  c.c_size_t(size_B), c.c_size_t(4096), device, c.byref(place))
        return place

    def log_text(self, log):
        size = c.c_size_t()
        self.call('zeModuleBuildLogGetString', log, c.byref(size), None)
        text = c.create_string_buffer(size.value + 1)
        self.call('zeModuleBuildLogGetString', log, c.byref(size), text)
        return ' '.join(text.value.decode(errors='replace').split())[:200]


def by_gcc(p, text, folder, seed):
    """What the program leaves as C; in a process of its own, should it fail."""
    source, library, result = (os.path.join(folder, n) for n in ('k.c', 'k.so', 'k.out'))
    with open(source, 'w', encoding='utf-8') as f:
        f.write(text)
    made = subprocess.run(GCC + [source, '-o', library, '-lm'], capture_output=True, timeout=COMPILE_LIMIT_S, check=False)
    if made.returncode:
        raise RuntimeError('gcc: ' + made.stderr.decode()[:600])
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            out = c.create_string_buffer(b'\xa5' * out_size(p), out_size(p))
            values = [c.create_string_buffer(v + bytes(16), 32) for v in values_of(seed, p.more)]
            aligned = (c.c_void_p * MORE_MAX)(*[c.addressof(v) for v in values])
            data = input_of(seed)
            c.CDLL(library).random_kernel(GROUPS, (c.c_uint * INPUT)(*data), out, BOUND, aligned)
            with open(result, 'wb') as f:
                f.write(out.raw)
            status = 0
        finally:
            os._exit(status)
    if os.waitpid(pid, 0)[1] != 0:
        raise RuntimeError('the program as C failed')
    with open(result, 'rb') as f:
        return f.read()


def out_size(p):
    return p.maker.group * GROUPS * p.outs * 8


def spirv_of(p, text, folder, doubles):
    """The front end's output, or its complaint."""
    source, output = os.path.join(folder, 'k.cl'), os.path.join(folder, 'k')
    with open(source, 'w', encoding='utf-8') as f:
        f.write(text)
    if os.path.exists(output + '.spv'):
        os.unlink(output + '.spv')
    for devices in FRONT:
        made = subprocess.run(['ocloc', 'compile', '-q', '-file', source, '-device', devices[not doubles], '-spv_only',
                               '-options', f'-cl-std={p.maker.std} -cl-fp32-correctly-rounded-divide-sqrt -I {HERE}',
                               '-output_no_suffix', '-output', output], capture_output=True, timeout=COMPILE_LIMIT_S, check=False)
        if os.path.exists(output + '.spv'):
            break
    else:
        raise RuntimeError('ocloc: ' + (made.stdout + made.stderr).decode()[:2000])
    with open(output + '.spv', 'rb') as f:
        return f.read()


def difference(p, expected, got):
    """What differs first, in words; None: nothing."""
    if isinstance(got, str):
        return got
    if expected == got:
        return None
    a, b = (struct.unpack(f'{len(x) // 8}Q', x) for x in (expected, got))
    wrong = [i for i, (x, y) in enumerate(zip(a, b)) if x != y]
    names = dict.fromkeys(p.names[i % p.outs] for i in wrong)
    i = wrong[0]
    return (f'{len(wrong)} values of {len(names)} variables ({", ".join(list(names)[:4])}); work-item {i // p.outs}, '
            f'{p.names[i % p.outs]}: {b[i]:#x}, not {a[i]:#x}')


class Trial:
    """One program on one device, or more."""

    def __init__(self, devices, folder, zescope):
        self.devices, self.folder, self.zescope = devices, folder, zescope

    def outcomes(self, p, seed, doubles, where):
        text = p.text()
        expected, spirv = by_gcc(p, text, self.folder, seed), spirv_of(p, text, self.folder, doubles)
        data = struct.pack(f'{INPUT}I', *input_of(seed))
        for device, options in where:
            all_options = '-cl-fp32-correctly-rounded-divide-sqrt ' + options
            got = self.devices.launch(device, spirv, all_options, p.maker.group, data, out_size(p), values_of(seed, p.more))
            yield device, options, difference(p, expected, got)

    def spills(self, p, seed, doubles, device, options):
        """Writes to scratch memory that are to blame, or None."""
        text, folder = p.text(), self.folder
        expected, spirv = by_gcc(p, text, folder, seed), spirv_of(p, text, folder, doubles)
        data, values = struct.pack(f'{INPUT}I', *input_of(seed)), values_of(seed, p.more)

        def differs(binary):
            got = self.devices.launch(device, binary, '', p.maker.group, data, out_size(p), values, is_native=True)
            return difference(p, expected, got)
        native = self.devices.native(device, spirv, '-cl-fp32-correctly-rounded-divide-sqrt ' + options)
        return random_kernels_spill.culprits(self.zescope, device, native, folder, differs)

    def differs(self, p, seed, doubles, where):
        try:
            return any(d and not d.startswith('not built') for _, _, d in self.outcomes(p, seed, doubles, [where]))
        except (RuntimeError, subprocess.SubprocessError):
            return False

    def reduce(self, p, seed, doubles, where):
        """Leaves out steps, then statements: all of a list, halves, single ones, until nothing more goes."""
        gone = True
        while gone:
            gone = False
            for body in p.blocks():
                size = len(body)
                while size >= 1:
                    gone |= self.thin_out(p, seed, doubles, where, body, size)
                    size //= 2

    def thin_out(self, p, seed, doubles, where, body, size):
        at, gone = len(body) - size, False
        while at >= 0:
            kept = body[at:at + size]
            if not any(s in p.fixed for s in kept):
                del body[at:at + size]
                if self.differs(p, seed, doubles, where):
                    gone = True
                else:
                    body[at:at] = kept
            at -= size
        return gone


def is_left_out(p, device, options):
    """pvc has no 8 lanes; the compiler gives kernels that call functions 16 of 32 that they ask for."""
    return (p.maker.subgroup == 8 and device == 'pvc') or \
        (p.maker.subgroup == 32 and (p.maker.calls or 'opt-disable' in options))


def programs(seed, options):
    """Each with the options that it is for, and whether it has doubles."""
    chosen = options or EACH + [IN_TURN[seed % len(IN_TURN)]]
    exact, loose = [o for o in chosen if o not in LOOSE], [o for o in chosen if o in LOOSE]
    if exact:
        yield lambda: program(seed, seed % 3 == 0), exact, seed % 3 == 0
    if loose:
        yield lambda: program(seed, False, has_floats=False), loose, False


def spilled(trial, p, seed, doubles, device, option):
    """A remark: which writes of spilled registers are to blame; or nothing."""
    try:
        found = trial.spills(p, seed, doubles, device, option)
    except (RuntimeError, ValueError, subprocess.SubprocessError) as error:
        return f' (spills: {error})'
    return f' (right without the (W) of {", ".join(hex(o) for o in found)})' if found else ''


def try_program(trial, names, seed, make, options, doubles, keep, look_at_spills):
    """keep: where to leave what is left of a program that differs."""
    p = make()
    where = [(d, o) for d in names if not doubles or d in DOUBLES for o in options if not is_left_out(p, d, o)]
    for device, option, wrong in trial.outcomes(p, seed, doubles, where):
        kind = 'same' if not wrong else 'refused' if wrong.startswith('not built') else 'WRONG'
        if kind == 'WRONG' and look_at_spills:
            remark = spilled(trial, p, seed, doubles, device, option)
            kind, wrong = 'spilled' if remark.startswith(' (right') else kind, wrong + remark
        print(f'{kind} {seed} {device} {option or "-"} {wrong or ""}', flush=True)
        if kind == 'WRONG' and keep:
            less = make()
            trial.reduce(less, seed, doubles, (device, option))
            os.makedirs(keep, exist_ok=True)
            with open(os.path.join(keep, f'{seed}-{device}{option.replace(" ", "")}.cl'), 'w', encoding='utf-8') as f:
                f.write(less.text())


def child(names, seeds, all_options, keep, reducing, zescope):
    """Tries the seeds; lines on stdout for the parent: begin, counts, what differs."""
    devices = Devices(names)
    with tempfile.TemporaryDirectory(prefix='zescope-random-') as folder:
        trial = Trial(devices, folder, zescope)
        for seed in seeds:
            print(f'begin {seed}', flush=True)
            try:
                for make, options, doubles in programs(seed, all_options):
                    try_program(trial, names, seed, make, options, doubles, keep if reducing else None,
                                bool(zescope))
            except (RuntimeError, subprocess.SubprocessError) as error:
                print(f'WRONG {seed} - - {error}', flush=True)


def arguments(argv):
    found = {'seeds': '1-40', 'devices': 'skl,icllp,tgllp,dg2,pvc', 'options': 'in turn', 'keep': '.',
             'seconds': '1e9'}
    for a in argv:
        if a in ('--reduce', '--check', '--spills'):
            found[a[2:]] = True
        elif a.startswith('--') and '=' in a and a[2:].split('=')[0] in found:
            found[a[2:].split('=')[0]] = a.split('=', 1)[1]
        else:
            sys.exit(__doc__)
    first, _, last = found['seeds'].partition('-')
    found['seeds'] = list(range(int(first), int(last or first) + 1))
    return found


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    if sys.argv[1] == '--child':
        return child(*json.loads(sys.argv[2]))
    found, counts = arguments(sys.argv[2:]), {}
    env = dict(os.environ, ZE_ENABLE_ALT_DRIVERS=os.path.abspath(sys.argv[1]) + '/src/driver/libze_zescope.so.1',
               ZESCOPE_DEVICES=found['devices'], ZESCOPE_CACHE='0', ZESCOPE_KERNEL_TIMEOUT='10')
    if 'check' in found:
        env['ZESCOPE_CHECK'] = '1'
    options = found['options'].split(',') if found['options'] != 'in turn' else []
    seeds, end = found['seeds'], time.monotonic() + float(found['seconds'])
    while seeds and time.monotonic() < end:
        spec = (found['devices'].split(','), seeds[:8], options, found['keep'], 'reduce' in found,
                os.path.abspath(sys.argv[1]) + '/src/cli/zescope' if 'spills' in found else '')
        job = subprocess.Popen([sys.executable, __file__, '--child', json.dumps(spec)], env=env,
                               stdout=subprocess.PIPE, text=True)
        begun = None
        for line in job.stdout:
            kind = line.split()[0]
            if kind == 'begin':
                begun = int(line.split()[1])
                continue
            counts[kind] = counts.get(kind, 0) + 1
            if kind != 'same':
                print(line, end='', flush=True)
        if job.wait():
            print(f'WRONG {begun} - - the process ended with {job.returncode}', flush=True)
            counts['WRONG'] = counts.get('WRONG', 0) + 1
            seeds = [s for s in seeds if s > begun]
        else:
            seeds = seeds[8:]
    print(', '.join(f'{n} {k}' for k, n in sorted(counts.items())))
    return 1 if counts.get('WRONG') else 0


if __name__ == '__main__':
    sys.exit(main())
