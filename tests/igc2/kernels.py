"""Zebins as the tests see them: sections, the code of kernels, what a listing says in a hash.

Written apart from src/module on purpose.
"""
import hashlib
import re
import struct

DIGITS = 12


def sections(elf):
    """name, header's place, type, contents of every section."""
    table, = struct.unpack_from('<Q', elf, 0x28)
    size, count, names = struct.unpack_from('<HHH', elf, 0x3A)
    rows = [struct.unpack_from('<IIQQQQ', elf, table + i * size) for i in range(count)]
    strings = elf[rows[names][4]:rows[names][4] + rows[names][5]]
    for i, row in enumerate(rows):
        yield (strings[row[0]:strings.index(b'\0', row[0])].decode(), table + i * size, row[1],
               elf[row[4]:row[4] + row[5]])


def without(elf, name):
    """The file with that section empty, and what lies behind it moved up."""
    out = bytearray(elf)
    for section, header, _, body in sections(elf):
        if section != name or not body:
            continue
        at, = struct.unpack_from('<Q', elf, header + 24)
        cut = len(body) & ~15  # alignment of all else stays
        del out[at:at + cut]
        table, = struct.unpack_from('<Q', out, 0x28)
        count, = struct.unpack_from('<H', out, 0x3C)
        table -= cut if table > at else 0
        struct.pack_into('<Q', out, 0x28, table)
        for i in range(count):
            offset, = struct.unpack_from('<Q', out, table + 64 * i + 24)
            if offset > at:
                struct.pack_into('<Q', out, table + 64 * i + 24, offset - cut)
        struct.pack_into('<Q', out, (header - cut if header > at else header) + 32, 0)
    return bytes(out)


def codes(elf):
    """Name and code of each .text section, up to the end of the last function in it."""
    rows = list(sections(elf))
    ends = {}
    for _, _, kind, body in rows:
        for at in range(0, len(body) - 23 if kind == 2 else 0, 24):
            _, info, _, index, value, size = struct.unpack_from('<IBBHQQ', body, at)
            if info & 15 == 2 and 0 < index < len(rows) and rows[index][0].startswith('.text.'):
                ends[index] = max(ends.get(index, 0), value + size)
    for index, end in ends.items():
        yield rows[index][0][len('.text.'):], rows[index][3][:end]


def same(one, other):
    """Whether two modules say the same. Which names of symbols IGC 2 loses, and so where sections are, differs from run to
    run."""
    told = [{name: body for name, _, kind, body in sections(elf) if kind not in (2, 3, 4, 9)} for elf in (one, other)]
    return told[0] == told[1]


def digest(text):
    """Of a listing: instructions and labels, whatever the space between words. Version 2 of libiga64 writes regions
    behind .nomme, which version 1 did not, and takes a sendgx without a second payload for none."""
    lines = [' '.join(line.split('//')[0].split()).replace('.nomme<1;1,0>', '.nomme') for line in text.split('\n')]
    lines = ['illegal' if ' sendgx.' in ' ' + line and ' null:0 ' in line else line for line in lines]
    return hashlib.sha256('\n'.join(line for line in lines if line).encode()).hexdigest()[:DIGITS]
