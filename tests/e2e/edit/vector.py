#!/usr/bin/env python3
"""vector.py OCLOC SOURCE DEVICE OUT: OpenCL C that works on scalars, by IGC's vector compiler.

That takes SPIR-V of ESIMD and CM, which marks its functions: so is the kernel that ocloc translates.
"""
import os
import struct
import subprocess
import sys
import tempfile

TIME_LIMIT_S = 120
HEADER_WORDS = 5
OP_EXTENSION, OP_ENTRY_POINT, OP_CAPABILITY, OP_DECORATE, OP_MEMBER_DECORATE = 10, 15, 17, 71, 72
VECTOR_COMPUTE, VECTOR_COMPUTE_FUNCTION = 5617, 5626  # SPV_INTEL_vector_compute


def instructions(words):
    at = HEADER_WORDS
    while at < len(words):
        size = words[at] >> 16
        yield words[at:at + size]
        at += size


def mark(data):
    words = struct.unpack(f'<{len(data) // 4}I', data)
    name = b'SPV_INTEL_vector_compute'
    name += b'\0' * (4 - len(name) % 4)
    extension = struct.unpack(f'<{len(name) // 4}I', name)
    kernel = next(i[2] for i in instructions(words) if i[0] & 0xffff == OP_ENTRY_POINT)
    out, told, marked = list(words[:HEADER_WORDS]), False, False
    for inst in instructions(words):
        op = inst[0] & 0xffff
        if op != OP_CAPABILITY and not told:
            told = True
            out += [2 << 16 | OP_CAPABILITY, VECTOR_COMPUTE, (1 + len(extension)) << 16 | OP_EXTENSION, *extension]
        if op in (OP_DECORATE, OP_MEMBER_DECORATE) and not marked:
            marked = True
            out += [3 << 16 | OP_DECORATE, kernel, VECTOR_COMPUTE_FUNCTION]
        out += inst
    assert told and marked
    return struct.pack(f'<{len(out)}I', *out)


def main():
    ocloc, source, device, result = sys.argv[1:]
    with tempfile.TemporaryDirectory() as top:
        plain, marked = os.path.join(top, 'plain'), os.path.join(top, 'marked.spv')
        subprocess.run([ocloc, 'compile', '-q', '-file', source, '-device', device, '-spv_only', '-output_no_suffix',
                        '-output', plain], check=True, timeout=TIME_LIMIT_S)
        with open(plain + '.spv', 'rb') as f:
            data = mark(f.read())
        with open(marked, 'wb') as f:
            f.write(data)
        subprocess.run([ocloc, 'compile', '-q', '-file', marked, '-spirv_input', '-device', device, '-options',
                        '-vc-codegen', '-output_no_suffix', '-output', os.path.abspath(result)], check=True,
                       timeout=TIME_LIMIT_S)


main()
