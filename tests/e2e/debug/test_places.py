#!/usr/bin/env python3
"""In optimised code the debugger shows every variable that has a place by debug info, wherever a thread stops: as a value
where it is proven, else as what perhaps is one. llvm-dwarfdump says which have a place at which address."""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

STEP, RUN, MODULE, DWARFDUMP = sys.argv[1:5]
KERNELS = ['straight', 'sums', 'branches', 'vectors', 'structures', 'loops', 'shared']
LANE = 1


def elves(folder):
    """The debug info of each kernel, as files."""
    with open(MODULE + '.dbg', 'rb') as f:
        data = f.read()
    starts = [m.start() for m in re.finditer(b'\x7fELF', data)]
    for i, (begin, end) in enumerate(zip(starts, starts[1:] + [len(data)])):
        path = os.path.join(folder, f'{i}.elf')
        with open(path, 'wb') as f:
            f.write(data[begin:end])
        yield path


def dump(path):
    """Entries: depth, tag, attributes (with the lines that follow them)."""
    text = subprocess.run([DWARFDUMP, '--debug-info', path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          timeout=60, check=False).stdout
    entries = []
    for line in text.splitlines():
        m = re.match(r'0x([0-9a-f]+):( +)(DW_TAG_\w+|NULL)', line)
        if m:
            entries.append((len(m[2]), int(m[1], 16), m[3], []))
        elif entries and line.strip():
            entries[-1][3].append(line.strip())
    return entries


def attribute(entry, name):
    lines, found = entry[3], []
    for line in lines:
        if line.startswith('DW_AT_'):
            if found:
                break
            if line.split()[0] == name:
                found.append(line.partition('\t')[2])
        elif found:
            found.append(line)
    return '\n'.join(found)


def places(entries, kernel):
    """name -> [(begin, end)] of the function's own variables with a place; None where a name means several."""
    names = {offset: (attribute(e, 'DW_AT_name') or '').strip('("\')') for e in entries for offset in [e[1]]}
    found, stack, inside = {}, [], None
    for entry in entries:
        depth, offset, tag, _ = entry
        while stack and stack[-1][0] >= depth:
            stack.pop()
        if inside is not None and depth <= inside:
            inside = None
        origin = re.search(r'0x([0-9a-f]+)', attribute(entry, 'DW_AT_abstract_origin'))
        name = names[offset] or (names.get(int(origin[1], 16), '') if origin else '')
        if tag == 'DW_TAG_subprogram' and name == kernel and attribute(entry, 'DW_AT_low_pc'):
            inside = depth
        elif inside is not None and tag in ('DW_TAG_variable', 'DW_TAG_formal_parameter'):
            location = attribute(entry, 'DW_AT_location')
            ranges = [(int(a, 16), int(b, 16)) for a, b in re.findall(r'\[0x([0-9a-f]+), +0x([0-9a-f]+)\):', location)]
            if location and not ranges:
                ranges = [(0, 1 << 60)]
            if attribute(entry, 'DW_AT_const_value'):
                ranges = [(0, 1 << 60)]
            direct = not any(t == 'DW_TAG_inlined_subroutine' and n != kernel for _, t, n in stack)
            found[name] = None if name in found or not direct else ranges
        stack.append((depth, tag, name))
    return found


class Places(unittest.TestCase):
    def check_kernel(self, kernel):
        with tempfile.TemporaryDirectory() as folder:
            known = {}
            for path in elves(folder):
                entries = dump(path)
                known = known or places(entries, kernel)
            seen = os.path.join(folder, 'seen')
            subprocess.run([STEP, seen, kernel, str(LANE), RUN, MODULE, kernel], stdout=subprocess.DEVNULL, timeout=100, check=True)
            with open(seen, encoding='ascii') as f:
                stops = [json.loads(line) for line in f][1:]
        self.assertTrue(known and stops, kernel)
        counts = {'values': 0, 'perhaps': 0, 'none': 0, 'malformed': 0}
        for stop in stops:
            lane = stop['lanes'].get(str(LANE))
            for name, value in (lane['values'] if lane else {}).items():
                if known.get(name) is None:
                    continue
                has_place = any(begin <= stop['offset'] < end for begin, end in known[name])
                perhaps = not isinstance(value, str) and value[0].startswith(('<perhaps ', '{'))
                if not isinstance(value, str) and 'is not understood' in value[0]:
                    counts['malformed'] += 1  # IGC writes operators that do not exist
                    continue
                counts['values' if isinstance(value, str) else 'perhaps' if perhaps else 'none'] += 1
                self.assertEqual(isinstance(value, str) or perhaps, has_place, (kernel, hex(stop['offset']), name, value, known[name]))
        print(kernel, counts, flush=True)
        self.assertGreater(counts['values'] + counts['perhaps'], 10 * counts['malformed'])


def make(kernel):
    return lambda self: self.check_kernel(kernel)


for each in KERNELS:
    setattr(Places, 'test_' + each, make(each))

if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
