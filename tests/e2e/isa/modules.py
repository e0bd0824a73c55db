"""Compile kernels with ocloc, and take their code out of the patch-token container, or out of IGC 2's zebins.

Written apart from src/module on purpose: it is the tests' own opinion on where code lies.
"""
import os
import struct
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'igc2'))
import kernels as zebin # noqa: E402, pylint: disable=wrong-import-position

DEVICE_BINARY = 0xFF000005


def compile_module(source, device, out_dir, options=''):
    """The bytes that ocloc makes of an OpenCL file."""
    name = f'{device}_{abs(hash(options)) % 10000}'
    run = subprocess.run(
        ['ocloc', 'compile', '-file', source, '-device', device, '-output', name, '-out_dir',
         out_dir, '-output_no_suffix', '-options', (options or '-cl-std=CL2.0') + ' -DNO_IMAGES' * (device == 'pvc')],
        cwd=out_dir, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    for ending in ('', '.bin'):
        path = os.path.join(out_dir, name + ending)
        if os.path.exists(path):
            with open(path, 'rb') as f:
                return f.read()
    raise RuntimeError(f'ocloc failed for {device}: {run.stdout}')


def device_binary(elf):
    """The section of an ocloc ELF that holds patch tokens."""
    shoff, = struct.unpack_from('<Q', elf, 0x28)
    size, count = struct.unpack_from('<HH', elf, 0x3A)
    for i in range(count):
        kind, = struct.unpack_from('<I', elf, shoff + i * size + 4)
        at, length = struct.unpack_from('<QQ', elf, shoff + i * size + 0x18)
        if kind == DEVICE_BINARY:
            return elf[at:at + length]
    return None


def kernels(module):
    """(name, code without padding) of each kernel."""
    tokens = device_binary(module)
    if tokens is None:
        return list(zebin.codes(module))
    count, patch_list = struct.unpack_from('<I4xI', tokens, 16)
    at = 28 + patch_list
    found = []
    for _ in range(count):
        name_size, patches, heap, gsh, dsh, ssh, unpadded = struct.unpack_from('<7I', tokens,
                                                                               at + 12)
        at += 40
        name = tokens[at:at + name_size].split(b'\0')[0].decode()
        at += (name_size + 3) & ~3
        if unpadded:
            found.append((name, tokens[at:at + unpadded]))
        at += heap + gsh + dsh + ssh + patches
    return found
