"""Whether registers that are spilled whole (docs/compiler-faults.md) make a random kernel differ: its machine code is tried without the
(W) of each write to scratch memory. Used by random_kernels.py --spills.
"""
import os
import re
import struct
import subprocess
import sys

MAGIC_B = 256  # of code, by which it is found in its module


class Code:
    """A kernel's machine code in a module."""

    def __init__(self, zescope, device, binary, folder):
        self.zescope, self.device, self.binary, self.folder = zescope, device, binary, folder
        path = os.path.join(folder, 'spill.bin')
        with open(path, 'wb') as f:
            f.write(binary)
        listed = subprocess.run([zescope, 'disasm', '--encoding', '--offsets', path], capture_output=True, check=True)
        listing = listed.stdout.decode()
        self.lines, begin = [], b''
        for line in listing[listing.index('kernel random_kernel'):].split('\n')[1:]:
            found = re.match(r'([0-9a-f]{4,}): ((?:[0-9a-f]{8} )+) *(.*)', line)
            if line.startswith('// kernel'):
                break
            if found:
                raw = b''.join(struct.pack('<I', int(w, 16)) for w in found[2].split())
                begin += raw if len(begin) < MAGIC_B else b''
                self.lines.append((int(found[1], 16), raw, found[3]))
        self.at = binary.index(begin)
        if binary.count(begin) != 1:
            raise RuntimeError('the code is there more than once')

    def assemble(self, text):
        source, code = (os.path.join(self.folder, n) for n in ('spill.asm', 'spill.code'))
        with open(source, 'w', encoding='utf-8') as f:
            f.write(text + '\n')
        subprocess.run([self.zescope, 'asm', '-d', self.device, '-o', code, source], check=True)
        with open(code, 'rb') as f:
            return f.read()

    def writes(self):
        """Of those to scratch memory that have (W): where they stand in the module, and what they are without it."""
        for offset, raw, text in self.lines:
            if text.startswith('(W) ') and 'scratch block write' in text:
                text = text.split('//')[0]
                if self.assemble(text) != raw:
                    raise RuntimeError(f'assembles to something else: {text}')
                yield offset, self.at + offset, self.assemble(text[4:])


def with_checksum(binary, complaint):
    """The module with the checksum that its contents have, as the driver says; None: that is not what is wrong."""
    found = re.search(r'byte 0x([0-9a-f]+): .*checksum 0x([0-9a-f]+), its contents give 0x([0-9a-f]+)', complaint)
    if not found:
        return None
    old, new = (struct.pack('<I', int(found[i], 16)) for i in (2, 3))
    place = binary.index(old, int(found[1], 16))
    return binary[:place] + new + binary[place + 4:]


def count_of(wrong):
    """Values that differ."""
    return int(wrong.split()[0]) if wrong[0].isdigit() else sys.maxsize


def culprits(zescope, device, binary, folder, differs):
    """Offsets of writes without whose (W) the kernel is right: of each that makes less of it wrong. None: it is still wrong.
    differs(binary): what differs, in words, or None."""
    left, found = differs(binary), []
    for offset, place, other in Code(zescope, device, binary, folder).writes():
        changed = binary[:place] + other + binary[place + len(other):]
        wrong = differs(changed)
        repaired = with_checksum(changed, wrong) if wrong else None
        if repaired:
            changed, wrong = repaired, differs(repaired)
        if not wrong or count_of(wrong) < count_of(left):
            found.append(offset)
            binary, left = changed, wrong
        if not left:
            return found
    return None
