"""One module's kernels with made-up arguments: by Level Zero, or by PoCL. Called by corpus.py, in a process of its own.

usage: corpus_run.py JOB: {"where": "pocl" or a device, "binary" or "source" and "options", "kernels": [...], "out"}

A kernel is its name, the size of groups and how many, and its arguments as `zescope inspect --json` has them. Writes a
line of JSON for each: what its buffers hold afterwards, or why it was not executed.
"""
import array
import base64
import ctypes as c
import json
import math
import random
import sys

BUFFER_B = 1 << 20
LOCAL_B = 8192
PERIOD = 4093  # elements after which data repeats
FLOATS = {'float': 'f', 'double': 'd'}
INTEGERS = {'char': 'b', 'uchar': 'B', 'bool': 'B', 'short': 'h', 'ushort': 'H', 'int': 'i', 'uint': 'I',
            'long': 'q', 'ulong': 'Q', 'size_t': 'Q', 'ptrdiff_t': 'q', 'half': 'H'}


def element(type_name):
    """The scalar of a type name ("const float4*"); structs are dwords."""
    return type_name.rstrip('*').split()[-1].rstrip('0123456789') if type_name.rstrip('*').split() else 'int'


def code_of(type_name):
    name = element(type_name)
    return FLOATS.get(name) or INTEGERS.get(name) or 'i'


def data_of(type_name, seed):
    """Small numbers: sizes, indices and factors that most kernels can do with."""
    rng, name, code = random.Random(seed), element(type_name), code_of(type_name)
    if name in FLOATS:
        values = array.array(code, [rng.random() + 0.125 for _ in range(PERIOD)])
    elif name == 'half':
        values = array.array(code, [rng.randrange(0x3000, 0x3c00) for _ in range(PERIOD)])
    else:
        values = array.array(code, [rng.randrange(32) for _ in range(PERIOD)])
    raw = values.tobytes()
    return (raw * (BUFFER_B // len(raw) + 1))[:BUFFER_B]


def value_of(type_name, size_B):
    name, code = element(type_name), code_of(type_name)
    one = array.array(code, [0.5 if name in FLOATS else 0x3800 if name == 'half' else 16]).tobytes()
    return (one * size_B)[:size_B]


def differ(a, b):
    """None, or what is different between the buffers of two runs of a kernel."""
    for index, (x, y) in enumerate(zip(a['buffers'], b['buffers'])):
        if x == y:
            continue
        code = code_of(a['types'][index])
        left, right = array.array(code), array.array(code)
        left.frombytes(base64.b64decode(x))
        right.frombytes(base64.b64decode(y))
        is_float = code in 'fd'
        wrong = [i for i, (p, q) in enumerate(zip(left, right)) if p != q and not (is_float and near(p, q))]
        if wrong:
            i = wrong[0]
            return (f'buffer {index} ({a["types"][index]}): {len(wrong)} elements, the first at {i}: '
                    f'{left[i]} and {right[i]}')
    return None


def near(p, q):
    if math.isnan(p) or math.isnan(q):
        return math.isnan(p) and math.isnan(q)
    return abs(p - q) <= 1e-4 + 2e-3 * max(abs(p), abs(q)) if not math.isinf(p) else p == q


class LevelZero:
    class ModuleDesc(c.Structure):
        _fields_ = [('stype', c.c_uint), ('next', c.c_void_p), ('format', c.c_uint), ('size', c.c_size_t),
                    ('input', c.c_char_p), ('flags', c.c_char_p), ('constants', c.c_void_p)]

    class KernelDesc(c.Structure):
        _fields_ = [('stype', c.c_uint), ('next', c.c_void_p), ('flags', c.c_uint), ('name', c.c_char_p)]

    class QueueDesc(c.Structure):
        _fields_ = [('stype', c.c_uint), ('next', c.c_void_p), ('ordinal', c.c_uint), ('index', c.c_uint),
                    ('flags', c.c_uint), ('mode', c.c_uint), ('priority', c.c_uint)]

    class MemoryDesc(c.Structure):
        _fields_ = [('stype', c.c_uint), ('next', c.c_void_p), ('flags', c.c_uint)]

    SYNCHRONOUS = 1

    def __init__(self, job):
        self.ze, self.job = c.CDLL('libze_loader.so.1'), job
        self.call('zeInit', 0)
        one = c.c_uint(1)
        self.driver, self.device = c.c_void_p(), c.c_void_p()
        self.call('zeDriverGet', c.byref(one), c.byref(self.driver))
        self.call('zeDeviceGet', self.driver, c.byref(one), c.byref(self.device))

    def call(self, name, *args):
        result = getattr(self.ze, name)(*args)
        if result:
            raise RuntimeError(f'{name} gives 0x{result & 0xffffffff:x}')

    def module(self):
        """A context for each kernel: one that faults takes its own along."""
        with open(self.job['binary'], 'rb') as f:
            binary = f.read()
        self.context, module = c.c_void_p(), c.c_void_p()
        self.call('zeContextCreate', self.driver, c.byref(self.MemoryDesc(0xd)), c.byref(self.context))
        desc = self.ModuleDesc(0x1b, None, 1, len(binary), binary, b'', None)
        self.call('zeModuleCreate', self.context, self.device, c.byref(desc), c.byref(module), None)
        return module

    def run(self, kernel, data):
        module, handle, commands = self.module(), c.c_void_p(), c.c_void_p()
        self.call('zeKernelCreate', module, c.byref(self.KernelDesc(0x1d, None, 0, kernel['name'].encode())),
                  c.byref(handle))
        self.call('zeKernelSetGroupSize', handle, *kernel['group'])
        buffers = []
        for i, arg in enumerate(kernel['args']):
            if arg['kind'] == 'local':
                self.call('zeKernelSetArgumentValue', handle, i, c.c_size_t(LOCAL_B), None)
            elif arg['kind'] == 'value':
                self.call('zeKernelSetArgumentValue', handle, i, c.c_size_t(len(data[i])), data[i])
            else:
                place = c.c_void_p()
                self.call('zeMemAllocShared', self.context, c.byref(self.MemoryDesc(0x15)),
                          c.byref(self.MemoryDesc(0x16)), c.c_size_t(BUFFER_B), c.c_size_t(4096), self.device,
                          c.byref(place))
                c.memmove(place, data[i], BUFFER_B)
                buffers.append(place)
                self.call('zeKernelSetArgumentValue', handle, i, c.c_size_t(8), c.byref(place))
        self.call('zeCommandListCreateImmediate', self.context, self.device,
                  c.byref(self.QueueDesc(0xe, None, 0, 0, 0, self.SYNCHRONOUS, 0)), c.byref(commands))
        groups = (c.c_uint * 3)(*kernel['groups'])
        self.call('zeCommandListAppendLaunchKernel', commands, handle, groups, None, 0, None)
        return [c.string_at(b, BUFFER_B) for b in buffers]


class OpenCL:
    GLOBAL_SIZE = c.c_size_t * 3

    def __init__(self, job):
        self.cl, one, error = c.CDLL('libOpenCL.so.1'), c.c_uint(), c.c_int()
        for name in ('clCreateContext', 'clCreateCommandQueue', 'clCreateProgramWithSource', 'clCreateKernel',
                     'clCreateBuffer'):
            getattr(self.cl, name).restype = c.c_void_p
        platform, self.device = c.c_void_p(), c.c_void_p()
        self.call('clGetPlatformIDs', 1, c.byref(platform), c.byref(one))
        self.call('clGetDeviceIDs', platform, c.c_ulong(0xffffffff), 1, c.byref(self.device), c.byref(one))
        self.context = c.c_void_p(self.cl.clCreateContext(None, 1, c.byref(self.device), None, None, c.byref(error)))
        self.queue = c.c_void_p(self.cl.clCreateCommandQueue(self.context, self.device, c.c_ulong(0), c.byref(error)))
        with open(job['source'], 'rb') as f:
            text = c.c_char_p(f.read())
        self.program = c.c_void_p(self.cl.clCreateProgramWithSource(self.context, 1, c.byref(text), None,
                                                                    c.byref(error)))
        self.call('clBuildProgram', self.program, 1, c.byref(self.device), job['options'].encode(), None, None)

    def call(self, name, *args):
        result = getattr(self.cl, name)(*args)
        if result:
            raise RuntimeError(f'{name} gives {result}')

    def run(self, kernel, data):
        error, read_write = c.c_int(), c.c_ulong(1)
        handle = c.c_void_p(self.cl.clCreateKernel(self.program, kernel['name'].encode(), c.byref(error)))
        if error.value:
            raise RuntimeError(f'clCreateKernel gives {error.value}')
        buffers = []
        for i, arg in enumerate(kernel['args']):
            if arg['kind'] == 'local':
                self.call('clSetKernelArg', handle, i, c.c_size_t(LOCAL_B), None)
            elif arg['kind'] == 'value':
                self.call('clSetKernelArg', handle, i, c.c_size_t(len(data[i])), data[i])
            else:
                buffer = c.c_void_p(self.cl.clCreateBuffer(self.context, read_write, c.c_size_t(BUFFER_B), None,
                                                           c.byref(error)))
                self.call('clEnqueueWriteBuffer', self.queue, buffer, 1, c.c_size_t(0), c.c_size_t(BUFFER_B), data[i],
                          0, None, None)
                buffers.append(buffer)
                self.call('clSetKernelArg', handle, i, c.c_size_t(8), c.byref(buffer))
        items = [n * g for n, g in zip(kernel['groups'], kernel['group'])]
        self.call('clEnqueueNDRangeKernel', self.queue, handle, 3, None, self.GLOBAL_SIZE(*items),
                  self.GLOBAL_SIZE(*kernel['group']), 0, None, None)
        self.call('clFinish', self.queue)
        results = []
        for buffer in buffers:
            got = c.create_string_buffer(BUFFER_B)
            self.call('clEnqueueReadBuffer', self.queue, buffer, 1, c.c_size_t(0), c.c_size_t(BUFFER_B), got, 0, None,
                      None)
            results.append(got.raw)
        return results


def main():
    job = json.loads(sys.argv[1])
    runner = (OpenCL if job['where'] == 'pocl' else LevelZero)(job)
    with open(job['out'], 'w', encoding='utf-8') as out:
        for kernel in job['kernels']:
            types = [a['type'] for a in kernel['args'] if a['kind'] == 'buffer']
            data = [data_of(a['type'], i) if a['kind'] == 'buffer' else value_of(a['type'], a['size_B'])
                    for i, a in enumerate(kernel['args'])]
            line = {'name': kernel['name'], 'types': types}
            try:
                line['buffers'] = [base64.b64encode(b).decode() for b in runner.run(kernel, data)]
            except RuntimeError as error:
                line['why'] = str(error)
            out.write(json.dumps(line) + '\n')
            out.flush()


if __name__ == '__main__':
    main()
