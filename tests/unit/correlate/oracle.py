"""What src/dwarf reads, against llvm-dwarfdump and readelf, on modules that ocloc makes.

Usage: oracle.py DEBUG_DUMP ANNOTATE_ELF KERNELS_FOLDER
"""
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

DEVICES = {'skl': (12, 32), 'icllp': (15, 32), 'tgllp': (18, 32), 'dg2': (0xC07, 32),
           'pvc': (0xC08, 64)}
KERNELS = ['first', 'second', 'third']
failures = []


def check(what, ours, theirs):
    if ours != theirs:
        failures.append(what)
        print(f'FAIL {what}')
        for a, b in zip(ours, theirs):
            if a != b:
                print(f'  ours   {a}\n  theirs {b}')
                break
        print(f'  {len(ours)} against {len(theirs)}')


def run(*command, **kw):
    return subprocess.run(command, capture_output=True, text=True, errors='replace', **kw)


def compile_module(folder, device, zebin, only_zebin=False):
    """None: the compiler has no other container than zebins."""
    out = os.path.join(folder, ('zebin-' if zebin else '') + device)
    command = ['ocloc', 'compile', '-file', 'kernels.cl', '-device', device, '-options',
               '-g -I.', '-out_dir', out, '-output', 'k']
    if zebin and not only_zebin:
        command[2:2] = ['--format', 'zebin']
    for limit_s in (30, 60, 240):
        # several kernels in one zebin keep their debug info only this way; it may abort, or rarely
        # hang, after the files are written as before
        env = dict(os.environ, IGC_UseMTInLLD='1') if zebin else None
        try:
            run(*command, cwd=folder, env=env, timeout=limit_s)
        except subprocess.TimeoutExpired:
            print(f'ocloc hangs: {device}')
        for name in os.listdir(out) if os.path.isdir(out) else []:
            if name.endswith('.bin' if zebin else '.dbg'):
                with open(os.path.join(out, name), 'rb') as f:
                    return f.read(), out
        if os.path.isdir(out) and any(name.endswith('.bin') for name in os.listdir(out)):
            return None
    raise SystemExit(f'ocloc made nothing for {device}')


def split_debug_data(data):
    count = struct.unpack_from('<7I', data, 0)[6]
    at = 28
    for _ in range(count):
        name_size, visa, gen = struct.unpack_from('<3I', data, at)
        at += 12
        name = data[at:at + name_size].split(b'\0')[0].decode()
        at += (name_size + 3) & ~3
        yield name, data[at:at + visa]
        at += visa + gen


class Elf:
    def __init__(self, data):
        self.data = bytearray(data)
        table, = struct.unpack_from('<Q', data, 40)
        count, names = struct.unpack_from('<2H', data, 60)
        self.sections = []
        for i in range(count):
            f = struct.unpack_from('<2I4Q2I2Q', data, table + 64 * i)
            self.sections.append(dict(zip(('name', 'type', 'flags', 'addr', 'offset', 'size',
                                           'link', 'info', 'align', 'entry'), f)))
        strings = self.sections[names]['offset']
        for s in self.sections:
            at = strings + s['name']
            s['name'] = bytes(data[at:data.index(b'\0', at)]).decode()

    def relocate(self, text, base=None, loses=False):
        """Apply the relocations as if `text` started at 0 and all other code far away; loses: symbols without a name are 0."""
        base = base or {s['name']: 0 if s['name'] == text else 1 << 32 for s in self.sections
                if s['name'].startswith('.text')}
        for s in self.sections:
            if s['type'] != 4:
                continue
            symbols = self.sections[s['link']]
            lost = {} if loses else self.nameless(s, symbols)
            strings = self.sections[symbols['link']]['offset']
            for at in range(s['offset'], s['offset'] + s['size'], 24):
                offset, info, addend = struct.unpack_from('<2Qq', self.data, at)
                symbol = symbols['offset'] + 24 * (info >> 32)
                name, = struct.unpack_from('<I', self.data, symbol)
                value, = struct.unpack_from('<Q', self.data, symbol + 8)
                at_name = strings + name
                text_name = bytes(self.data[at_name:self.data.index(b'\0', at_name)]).decode()
                target = self.sections[s['info']]['offset'] + offset
                value += base.get(lost.get(at, text_name), 0) + addend
                size = 8 if info & 0xffffffff == 1 else 4
                self.data[target:target + size] = (value & (256 ** size - 1)).to_bytes(size,
                                                                                       'little')
            s['type'] = 1  # done: the oracles shall not try

    def nameless(self, table, symbols):
        """What relocations by nameless symbols mean (IGC 2 loses names): units are in the order of the code's sections."""
        texts = [s['name'] for s in self.sections if s['name'].startswith('.text.')]
        target, strings = self.sections[table['info']], self.sections[symbols['link']]['offset']
        ends = [0]
        while ends[-1] < target['size']:
            ends.append(ends[-1] + 4 + struct.unpack_from('<I', self.data, target['offset'] + ends[-1])[0])
        found = {}
        for at in range(table['offset'], table['offset'] + table['size'], 24):
            offset, info = struct.unpack_from('<2Q', self.data, at)
            name, kind = struct.unpack_from('<IB', self.data, symbols['offset'] + 24 * (info >> 32))
            if kind == 1 and self.data[strings + name] == 0 and info & 0xffffffff == 1:
                found[at] = texts[sum(end <= offset for end in ends) - 1]
        return found if len(ends) == len(texts) + 1 else {}

    def section_size(self, name):
        return next(s['size'] for s in self.sections if s['name'] == name)


def write_relocated(path, data, text):
    elf = Elf(data)
    elf.relocate(text)
    table, = struct.unpack_from('<Q', elf.data, 40)
    for i, s in enumerate(elf.sections):
        struct.pack_into('<I', elf.data, table + 64 * i + 4, s['type'])
    with open(path, 'wb') as f:
        f.write(elf.data)


def write_linked(path, data, loses=False):
    """As the driver does for zetModuleGetDebugInfo: load addresses, relocated, ET_EXEC. loses: as 26.27 does."""
    elf = Elf(data)
    table, = struct.unpack_from('<Q', elf.data, 40)
    base = {}
    for i, s in enumerate(elf.sections):
        if s['name'].startswith('.text'):
            base[s['name']] = 0x8000_0000_0000 + 0x10000 * i
            struct.pack_into('<Q', elf.data, table + 64 * i + 16, base[s['name']])
    elf.relocate(None, base, loses)
    struct.pack_into('<H', elf.data, 16, 2)
    with open(path, 'wb') as f:
        f.write(elf.data)


def normal(path):
    return os.path.normpath(path)


def oracle_lines(path, size, comp_dir):
    """(offset, file, line, column, is_stmt, prologue_end) of rows inside [0, size]."""
    text = run('llvm-dwarfdump', '--debug-line', path).stdout
    rows, directories, files, name, number = [], {}, {}, None, None
    for line in text.splitlines():
        if line.startswith('debug_line['):
            directories, files = {}, {}
        m = re.match(r'include_directories\[ *(\d+)\] = "(.*)"', line)
        if m:
            directories[int(m[1])] = m[2]
        m = re.match(r'file_names\[ *(\d+)\]', line)
        if m:
            number = int(m[1])
        m = re.match(r' +name: "(.*)"', line)
        if m:
            name = m[1]
        m = re.match(r' +dir_index: (\d+)', line)
        if m:
            files[number] = normal(os.path.join(comp_dir, directories.get(int(m[1]), ''), name))
        m = re.match(r'0x([0-9a-f]{16}) +(\d+) +(\d+) +(\d+) +\d+ +(\d+) +(.*)', line)
        if m and int(m[1], 16) <= size:
            flags = m[6].split()
            if 'end_sequence' in flags:
                rows.append((int(m[1], 16), 'end'))
            elif int(m[1], 16) < size:
                rows.append((int(m[1], 16), files[int(m[4])], int(m[2]), int(m[3]), int(m[5]),
                             'is_stmt' in flags, 'prologue_end' in flags))
    return rows


def our_lines(dump):
    rows = []
    for line in dump.splitlines():
        m = re.match(r'row 0x([0-9a-f]+) end', line)
        if m:
            rows.append((int(m[1], 16), 'end'))
        m = re.match(r'row 0x([0-9a-f]+) (.*?) (\d+) (\d+) (\d+)( is_stmt)?( prologue_end)?$', line)
        if m:
            rows.append((int(m[1], 16), m[2], int(m[3]), int(m[4]), int(m[5]), bool(m[6]),
                         bool(m[7])))
    return rows


def readelf_lines(path):
    """(offset, line) pairs of readelf's decoded line table."""
    text = run('readelf', '--debug-dump=decodedline', path).stdout
    return {(int(m[2], 16), int(m[1]))
            for m in re.finditer(r'^\S+ +(\d+) +(0x[0-9a-f]+|0)\b', text, re.M)}


def parse_dies(path):
    """The DIE tree that llvm-dwarfdump shows, as a list of dicts with depth."""
    text = run('llvm-dwarfdump', '--debug-info', path).stdout
    dies, die, key = [], None, None
    for line in text.splitlines():
        m = re.match(r'0x[0-9a-f]{8}:( +)(DW_TAG_\w+|NULL)', line)
        if m:
            die = {'tag': m[2], 'depth': len(m[1]) // 2, 'ranges': [], 'locations': []}
            if m[2] != 'NULL':
                dies.append(die)
            continue
        m = re.match(r' +(DW_AT_\w+)\t\((.*)', line)
        if m:
            key = m[1]
            die[key] = m[2].rstrip(')')
        m = re.match(r' +\[0x([0-9a-f]+), 0x([0-9a-f]+)\)(: )?', line)
        if m and die is not None:
            kind = 'ranges' if key == 'DW_AT_ranges' else 'locations'
            die[kind].append((int(m[1], 16), int(m[2], 16)))
    for die in dies:
        if 'DW_AT_low_pc' in die and 'DW_AT_high_pc' in die:
            die['ranges'] = [(int(die['DW_AT_low_pc'], 16), int(die['DW_AT_high_pc'], 16))]
    return dies


def quoted(text):
    m = re.search(r'"(.*)"', text or '')
    return m[1] if m else ''


def oracle_frames(dies, size):
    """(function, parent, call line, call file, ranges) in their order, of code in [0, size)."""
    frames, stack = [], []
    for die in dies:
        while stack and stack[-1][0] >= die['depth']:
            stack.pop()
        outer = stack[-1][1] if stack else None
        inside = [(max(a, 0), min(b, size)) for a, b in die['ranges'] if a < size and b > a]
        if die['tag'] == 'DW_TAG_subprogram':
            if inside:
                frames.append((quoted(die.get('DW_AT_name')), -1, 0, '-', inside))
                outer = len(frames) - 1
            else:
                outer = None
        elif die['tag'] == 'DW_TAG_inlined_subroutine' and outer is not None:
            frames.append((quoted(die['DW_AT_abstract_origin']), outer,
                           int(die['DW_AT_call_line']),
                           normal(quoted(die['DW_AT_call_file'])), inside))
            outer = len(frames) - 1
        stack.append((die['depth'], outer))
    return frames


def our_frames(dump):
    frames = []
    for m in re.finditer(r'^frame \d+ (\S+) parent (-?\d+) call (\S+):(\d+):\d+ decl \S+ simd \d+'
                         r'(.*)$', dump, re.M):
        ranges = [(int(a, 16), int(b, 16))
                  for a, b in re.findall(r'\[0x([0-9a-f]+),0x([0-9a-f]+)\)', m[5])]
        frames.append((m[1], int(m[2]), int(m[4]), m[3], ranges))
    return frames


def oracle_variables(dies, size):
    """(name, kind, location ranges, type) of variables in code of [0, size)."""
    out, stack, by_name = [], [], {}
    for die in dies:
        while stack and stack[-1][0] >= die['depth']:
            stack.pop()
        live = stack[-1][1] if stack else False
        if die['tag'] == 'DW_TAG_subprogram':
            live = any(a < size and b > a for a, b in die['ranges'])
        if die['tag'] in ('DW_TAG_variable', 'DW_TAG_formal_parameter'):
            name = quoted(die.get('DW_AT_name') or die.get('DW_AT_abstract_origin'))
            if live:
                places = [r for r in die['locations'] if r[0] < size and r[1] > r[0]]
                out.append((name, die['tag'] == 'DW_TAG_formal_parameter', places,
                            quoted(die.get('DW_AT_type'))))
            live = False
        stack.append((die['depth'], live))
    return out


def our_variables(dump):
    out = []
    for line in dump.splitlines():
        m = re.match(r"variable (\S+) type '(.*)' size \d+ scope \d+( parameter)? line \d+ kind (\d)",
                     line)
        if m:
            out.append([m[1], bool(m[3]), [], m[2], int(m[4])])
        m = re.match(r'  location \[0x([0-9a-f]+),0x([0-9a-f]+)\)', line)
        if m:
            out[-1][2].append((int(m[1], 16), int(m[2], 16)))
    return out


def check_kernel(what, dump_tool, ours_path, oracle_path, kernel, size, grf_B):
    dump = run(dump_tool, ours_path, kernel, str(size), str(grf_B)).stdout
    comp_dir = re.search(r"comp_dir '(.*?)'", dump)[1]
    rows = our_lines(dump)
    check(f'{what}: rows', rows, oracle_lines(oracle_path, size, comp_dir))
    pairs = {(r[0], r[2]) for r in rows if len(r) > 2}
    missing = pairs - readelf_lines(oracle_path)
    check(f'{what}: rows that readelf does not show', sorted(missing), [])
    dies = parse_dies(oracle_path)
    check(f'{what}: frames', our_frames(dump), oracle_frames(dies, size))
    theirs = oracle_variables(dies, size)
    ours = our_variables(dump)
    # a single expression holds in all of the kernel and has no range for the oracle
    check(f'{what}: variables', [(v[0], v[1], [] if v[4] == 1 else v[2]) for v in ours],
          [(v[0], v[1], v[2]) for v in theirs])
    named = [(o[3], t[3]) for o, t in zip(ours, theirs) if t[3] and 'structure' not in t[3]]
    check(f'{what}: types', [re.sub(r'\b(struct|enum) ', '', a) for a, _ in named],
          [re.sub(r'\b(struct|enum) ', '', b) for _, b in named])
    return rows, dump


def check_annotated(what, tool, path, kernel, device, simd, rows):
    gfxcore, grf_B = DEVICES[device]
    out = run(tool, str(gfxcore), str(grf_B), str(simd), path, kernel, 'json', 'pressure', 'sends')
    module = json.loads(out.stdout)
    k = module['devices'][0]['kernels'][0]
    check(f'{what}: schema', [module['schema'], k['name'], k['simd']],
          ['zescope.module/1', kernel, simd])
    for inst in k['instructions']:
        row = next((r for r in reversed(rows) if r[0] <= inst['offset']), (0, 'end'))
        expected = list(row[1:4]) if row[1] != 'end' else [None, None, None]
        if expected[1] == 0:
            expected = [None, None, None]
        got = [inst.get('file'), inst.get('line'), inst.get('column')]
        if got != expected:
            check(f'{what}: line of instruction {inst["offset"]}', got, expected)
            break
    ends = [i['offset'] + i['size'] for i in k['instructions']]
    check(f'{what}: instructions are contiguous', [i['offset'] for i in k['instructions']],
          [0] + ends[:-1])
    check(f'{what}: lines cover what instructions say',
          sum(l['instructions'] for l in k['lines']),
          sum('line' in i for i in k['instructions']))
    check(f'{what}: bytes of lines',
          sum(e - b for l in k['lines'] for b, e in l['ranges']),
          sum(i['size'] for i in k['instructions'] if 'line' in i))
    paths = {f['path'] for f in module['files']}
    check(f'{what}: files', sorted({i['file'] for i in k['instructions'] if 'file' in i} - paths),
          [])
    frames = k['inline']
    for inst in k['instructions']:
        inside = [n for n, f in enumerate(frames)
                  if any(b <= inst['offset'] < e for b, e in f.get('ranges', []))]
        expected = max(inside) if inside else None  # nested: the last one is the innermost
        if inst.get('frame') != expected:
            check(f'{what}: frame of {inst["offset"]}', [inst.get('frame')], [expected])
            break


def main():
    dump_tool, annotate_tool, kernels = sys.argv[1:4]
    folder = tempfile.mkdtemp(prefix='zescope-oracle-')
    try:
        for name in os.listdir(kernels):
            shutil.copy(os.path.join(kernels, name), folder)
        kernel_count = 0
        only_zebin = set()
        for device, (_, grf_B) in DEVICES.items():
            made = compile_module(folder, device, False)
            if not made:
                only_zebin.add(device)
                continue
            data, out = made
            for kernel, elf in split_debug_data(data):
                path = os.path.join(out, kernel + '.elf')
                with open(path, 'wb') as f:
                    f.write(elf)
                size = Elf(elf).section_size('.text')
                rows, dump = check_kernel(f'{device} {kernel}', dump_tool, path, path, kernel,
                                          size, grf_B)
                simd = int(re.search(r'^frame 0 .* simd (\d+)', dump, re.M)[1])
                check_annotated(f'{device} {kernel}', annotate_tool, path, kernel, device, simd,
                                rows)
                kernel_count += 1
        check('kernels', [kernel_count], [(len(DEVICES) - len(only_zebin)) * len(KERNELS)])
        for device in ('skl', 'dg2', 'pvc'):
            data, out = compile_module(folder, device, True, device in only_zebin)
            path = os.path.join(out, 'module.zebin')
            with open(path, 'wb') as f:
                f.write(data)
            linked = os.path.join(out, 'linked.elf')
            write_linked(linked, data)
            for kernel in KERNELS:
                size = Elf(data).section_size('.text.' + kernel)
                check(f'linked {device} {kernel}',
                      run(dump_tool, linked, kernel, str(size)).stdout.splitlines(),
                      run(dump_tool, path, kernel, str(size)).stdout.splitlines())
                text = '.text.' + kernel
                oracle = os.path.join(out, kernel + '.relocated')
                write_relocated(oracle, data, text)
                check_kernel(f'zebin {device} {kernel}', dump_tool, path, oracle, kernel,
                             Elf(data).section_size(text), DEVICES[device][1])
    finally:
        shutil.rmtree(folder)
    print(f'{len(failures)} differences')
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
