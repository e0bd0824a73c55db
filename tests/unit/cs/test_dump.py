"""zescope batch of what others dump: an error state of i915, a coredump of xe, AUB files. Made here, small.

test_dump.py ZESCOPE
"""
import struct
import subprocess
import sys
import tempfile
import zlib

ZESCOPE = sys.argv[1]
NOOP, END = 0, 0x0a << 23


def dwords(*values):
    return struct.pack('<%dI' % len(values), *values)


def start(va, second=False):
    return (0x31 << 23 | second << 22 | 1 << 8 | 1, va & 0xffffffff, va >> 32)


def store(value):
    return (0x20 << 23 | 2, 0x5000, 0, value)


def ascii85(data):
    text = ''
    for (value,) in struct.iter_unpack('<I', data):
        digits = ''.join(chr(33 + value // 85**k % 85) for k in (4, 3, 2, 1, 0))
        text += digits if value else 'z'
    return text


def packed(data):
    data = zlib.compress(data)
    return ':' + ascii85(data + bytes(-len(data) % 4))


def batch(data, status=0):
    with tempfile.NamedTemporaryFile() as f:
        f.write(data if isinstance(data, bytes) else data.encode())
        f.flush()
        done = subprocess.run([ZESCOPE, 'batch', f.name], capture_output=True, text=True, check=False)
    assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
    return done.stdout, done.stderr


FIRST, SECOND, THIRD = 0x1234000, 0x7f0012340000, 0x7f0012350040
first = dwords(*store(7), *start(SECOND, second=True), *start(THIRD))
second = dwords(*store(8), NOOP, END, 0xffffffff)
third = bytes(0x40) + dwords(*store(9), END)


def check_walk(out, name):
    """Each batch once, with those that it leads to."""
    places = [out.index(line) for line in (f'{name} at 0x{FIRST:x}\n', f'0x{FIRST:012x}  MI_STORE_DATA_IMM', f'to 0x{SECOND:x}  second level',
                                           f'batch at 0x{SECOND:x}\n', f'0x{SECOND + 20:012x}  MI_BATCH_BUFFER_END',
                                           f'batch at 0x{THIRD:x}\n', f'0x{THIRD + 16:012x}  MI_BATCH_BUFFER_END')]
    assert places == sorted(places), out
    assert out.count('MI_STORE_DATA_IMM') == 3 and 'ffffffff' not in out, out


ERROR = f'''GPU HANG: ecode 9:1:0x85dffffb, in app [1234]
Kernel: 6.1.0-18-amd64 x86_64
rcs0 command stream:
  START: 0x00001000
rcs0 --- batch = 0x{FIRST >> 32:08x} {FIRST & 0xffffffff:08x}
{packed(first)}
rcs0 --- user = 0x{SECOND >> 32:08x} {SECOND & 0xffffffff:08x}
~{ascii85(second)}
rcs0 --- user = 0x{THIRD >> 32:08x} {THIRD - 0x40 & 0xffffffff:08x}
{packed(third)}
rcs0 --- ring = 0x00000000 00001000
{packed(dwords(NOOP, NOOP))}
'''
check_walk(batch(ERROR)[0], 'rcs0 --- batch')
# what is cut off or no zlib stream is not there
out, err = batch(ERROR.replace(packed(first), ':zzzz'))
assert f'batch at 0x{FIRST:x}: it is not in the dump' in out, out

XE = f'''**** Xe Device Coredump ****
kernel: 6.12.0
module: xe

**** Job ****
batch_addr[0]: 0x{FIRST:016x}

**** HW Engines ****
rcs0 (physical), logical instance=0

**** VM state ****
[{FIRST:x}].length: 0x{len(first):x}
[{FIRST:x}].data: {ascii85(first)}
[{SECOND:x}].length: 0x{len(second):x}
[{SECOND:x}].data: {ascii85(second)}
[{THIRD - 0x40:x}].length: 0x{len(third):x}
[{THIRD - 0x40:x}].data: {ascii85(third)}
[1000].error: -14
'''
check_walk(batch(XE)[0], 'batch of the job')
out, err = batch(XE.replace(ascii85(second), ascii85(dwords(*store(8), 0x7fffffff))), status=1)
assert '0x7fffffff is no command that is known' in out and 'not all of it could be printed' in err, (out, err)
assert f'batch at 0x{THIRD:x}\n' in out, out  # all others are printed
out, err = batch(XE.replace('batch_addr', 'other'))
assert 'this dump has no batch' in out, out

# ---- AUB: a memory trace, with page tables, a context and a ring
GGTT, SYSTEM, ENTRIES = 0, 2, 4
RECORD = 7 << 29 | 0x2e << 23


def record(what, *values, data=b''):
    body = dwords(*values) + data
    return dwords(RECORD | what << 16 | len(body) // 4) + body


def write(space, va, data):
    return record(6, va & 0xffffffff, va >> 32, space << 28, len(data), data=data)


def register(offset, value):
    return record(3, offset, 0, 0, 0, value)


class Memory:
    """Pages in the order in which they are asked for."""

    def __init__(self):
        self.frames, self.tables, self.out = 0x100000, {}, b''

    def frame(self):
        self.frames += 0x1000
        return self.frames - 0x1000

    def entry(self, table, index):
        if (table, index) not in self.tables:
            self.tables[table, index] = self.frame()
            self.out += write(SYSTEM, table + index * 8, struct.pack('<Q', self.tables[table, index] | 3))
        return self.tables[table, index]

    def put(self, root, va, data):
        table = root
        for shift in (39, 30, 21, 12):
            table = self.entry(table, va >> shift & 511)
        self.out += write(SYSTEM, table + va % 4096, data)

    def put_global(self, va, data):
        frame = self.frame()
        self.out += write(ENTRIES, va // 4096 * 8, struct.pack('<Q', frame | 1)) + write(GGTT, va, data)


memory = Memory()
root = memory.frame()
for va, data in ((FIRST, first), (SECOND, second), (THIRD - 0x40, third)):
    memory.put(root, va, data)
CONTEXT, RING, HEAD = 0x200000, 0x300000, 0x40
ring = bytes(HEAD) + dwords(*start(FIRST), NOOP, *store(1)[:3], 1)
state = [0] * 52
state[5], state[7], state[9], state[49], state[51] = HEAD, len(ring), RING, root >> 32, root & 0xffffffff
memory.put_global(CONTEXT + 4096, dwords(*state))
memory.put_global(RING, ring)
version = record(0x0e, 0, 0, 0, 0, data=b'zescope\0')
port = b''.join(register(0x2230, value) for value in (0, 0, 0, CONTEXT | 0x19))
queue = register(0x22510, CONTEXT | 0x19) + register(0x22514, 0) + register(0x22550, 1)
for submission in port, queue:
    out = batch(version + memory.out + submission)[0]
    assert f'ring at 0x{RING + HEAD:x}\n' in out and f'to 0x{FIRST:x}' in out, out
    assert f'0x{RING + HEAD + 16:012x}  MI_STORE_DATA_IMM' in out, out  # a ring goes on behind a batch
    check_walk(out[out.index('\n\n') + 2:], 'batch')
# what is written later is not what was submitted
out = batch(version + memory.out + port + write(GGTT, RING + HEAD, dwords(END)))[0]
assert f'to 0x{FIRST:x}' in out, out
out, err = batch(version + memory.out[:-4], status=1)
assert 'record' in err, err
out, err = batch(dwords(7 << 29 | 1 << 23 | 5 << 16, 0), status=1)
assert 'begins no record of a memory trace' in err, err
print('dumps are read')
