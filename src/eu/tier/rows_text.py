#!/usr/bin/env python3
"""rows.ll, as clang made it of rows.c, to a table in C, with clang's version: rows_text.py IN OUT.

A row that is straight code becomes lines which the emitter puts where the row is used: `%7` is a
value of the row's own, `$1` to `$3` are its sources with their types, `$4` and `$5` cr0 and aux, `$d`
is the result. Where each lane is by itself there is a second text for sixteen lanes. Longer ones and
those with branches stay functions of eight lanes on memory. Rows that call the C library, or look at
the host's modes, are left out: the interpreter has them.
"""
import re
import sys

FOREIGN = ('@llvm.sin', '@llvm.cos', '@llvm.pow', '@llvm.exp', '@llvm.log', 'stmxcsr')
INLINE_LINES = 64
# Behind halves made wider: of comparisons LLVM would make those of halves, which hosts do one by one.
FENCE = 'llvm.arithmetic.fence.v8f32'
ROUND = {'0': 'roundeven', '8': 'roundeven', '9': 'floor', '1': 'floor', '10': 'ceil', '2': 'ceil', '11': 'trunc',
         '3': 'trunc', '12': 'rint', '4': 'rint'}


def clean(line):
    line = re.sub(r', ![a-z.]+ ![0-9]+', '', line)
    line = re.sub(r' #[0-9]+', '', line)
    line = re.sub(r'@llvm\.x86\.avx\.round\.ps\.256\((.*), i32 (\d+)\)',
                  lambda m: '@llvm.%s.v8f32(%s)' % (ROUND[m.group(2)], m.group(1)), line)
    line = re.sub(r'@llvm\.x86\.avx512\.mask\.rndscale\.pd\.512\((.*?), i32 (\d+), .*, i8 -1, i32 4\)',
                  lambda m: '@llvm.%s.v8f64(%s)' % (ROUND[m.group(2)], m.group(1)), line)
    return line.rstrip()


def element_bits(vector):
    count, kind = re.match(r'<(\d+) x (\w+)>', vector).groups()
    return int(count) * {'float': 32, 'double': 64}.get(kind, int(kind[1:]) if kind[0] == 'i' else 0)


def straight(lines):
    """The lines of a row without branches, or None."""
    pointers, out, result = {'%' + n: n for n in '0123'}, [], None
    for line in lines[1:-1]:
        line = line.strip()
        if line.endswith(':') or ' alloca ' in line or line.startswith('br '):
            return None
        if m := re.match(r'(%\d+) = bitcast i8\* %([0-3]) to ', line): # until LLVM 14
            pointers[m.group(1)] = m.group(2)
        elif m := re.match(r'(%\d+) = load (<.*?>), (?:<.*>\*|ptr) (%\d+), align \d+', line):
            out.append('%s = bitcast $%s to %s' % (m.group(1), pointers[m.group(3)], m.group(2)))
        elif m := re.match(r'store (<.*?>) (\S+), (?:<.*>\*|ptr) (%\d+), align', line):
            if result or pointers[m.group(3)] != '0':
                return None
            result = '$d = bitcast %s %s to <8 x i%d>' % (m.group(1), m.group(2), element_bits(m.group(1)) // 8)
        elif m := re.match(r'%(\d+)( = fpext <8 x half> .* to <8 x float>)', line):
            made = int(m.group(1)) + 2 * INLINE_LINES
            out += ['%%%d%s' % (made, m.group(2)), '%%%s = call <8 x float> @%s(<8 x float> %%%d)' %
                    (m.group(1), FENCE, made)]
        elif not line.startswith('ret '):
            if ' load ' in line or ' store ' in line:
                return None
            out.append(line)
    if not result:
        return None
    needed, kept = set(re.findall(r'%\d+', result)), []
    for line in reversed(out):
        name, value = line.split(' = ', 1)
        if name in needed:
            kept.append(line)
            needed |= set(re.findall(r'%\d+', value))
    text = '\n'.join(kept[::-1] + [result])
    return re.sub(r'%([0-5])(?!\d)', r'$\1', text)


def widened(text):
    """The same for sixteen lanes, or None."""
    if re.search(r'shufflevector|extractelement|insertelement|@llvm\.x86|<(?!8 x )\d+ x| i8 |\bi4\b', text):
        return None

    def constant(m):
        each = m.group(1).split(', ')
        if len(each) != 8 or len(set(each)) > 1:
            raise ValueError
        return '<' + ', '.join(each * 2) + '>'
    try:
        text = re.sub(r'<((?:\w+ [-+\w.]+, )+\w+ [-+\w.]+)>', constant, text)
    except ValueError:
        return None
    return text.replace('<8 x ', '<16 x ').replace('.v8', '.v16')


def quoted(text):
    return ''.join('\n        "%s\\n"' % line.replace('\\', '\\\\').replace('"', '\\"') for line in text.split('\n'))


def main():
    text = open(sys.argv[1]).read().split('\n')
    rows, declares, current, version = {}, {}, None, 0
    for line in text:
        if m := re.search(r'!"[^"]*clang version (\d+)', line):
            version = int(m.group(1))
        if line.startswith('define '):
            name = re.search(r'@zs_row_(\w+)\(', line).group(1)
            head = re.sub(r'^define (dso_local )?', 'define internal ', line)
            head = head.replace(' local_unnamed_addr', '').replace(' {', '')
            current = (name, [clean(head)])
        elif line.startswith('declare '):
            declares[re.search(r'@([\w.]+)\(', line).group(1)] = clean(line)
        elif current:
            current[1].append(clean(line))
            if line == '}':
                rows[current[0]] = current[1]
                current = None
    for kind in set(ROUND.values()):
        declares['llvm.%s.v8f32' % kind] = 'declare <8 x float> @llvm.%s.v8f32(<8 x float>)' % kind
        declares['llvm.%s.v8f64' % kind] = 'declare <8 x double> @llvm.%s.v8f64(<8 x double>)' % kind
    declares[FENCE] = 'declare <8 x float> @%s(<8 x float>)' % FENCE
    for name, line in list(declares.items()):
        if '.v8' in name and 'x86' not in name:
            declares[name.replace('.v8', '.v16')] = line.replace('<8 x ', '<16 x ').replace('.v8', '.v16')
    with open(sys.argv[2], 'w') as out:
        out.write('#include "eu/tier/rows_text.h"\n\nconst struct zs_eu_row_text zs_eu_row_texts[ZS_EU_ROW_COUNT] = {\n')
        for name, lines in rows.items():
            body = '\n'.join(lines)
            if any(f in body for f in FOREIGN) or re.search(r'@(?!zs_row_|llvm\.)\w', body):
                continue
            code = straight(lines) if len(lines) <= INLINE_LINES else None
            wide = widened(code) if code else None
            uses = set(re.findall(r'@(llvm\.[\w.]+)\(', (code or body) + (wide or '')))
            out.write('    [ZS_EU_ROW_%s] = {\n' % name)
            if code:
                out.write('        .code = %s,\n' % quoted(code))
                if wide:
                    out.write('        .wide = %s,\n' % quoted(wide))
                values = [int(v) for v in re.findall(r'%(\d+)', code)]
                out.write('        .values = %d,\n' % (max(values, default=0) + 1))
                if real := re.search(r'\$d = bitcast <8 x (float|double)>', code):
                    out.write('        .real = "%s",\n' % real.group(1))
                if logic := re.search(r'(%\d+) = (?:and|or|xor) (.*)\n(?:%\d+ = bitcast .* \1 .*\n)?\$d = bitcast .* %\d+ to', code):
                    has_constant = re.search(r', <i\d+ (?!-1\b)', logic.group(2))
                    out.write('        .logic = %d,\n' % (2 if has_constant else 1))
            else:
                lines = [lines[0] + (' #1 {' if len(lines) > 2 * INLINE_LINES else ' #0 {')] + lines[1:]
                out.write('        .function = %s,\n' % quoted('\n'.join(lines)))
            out.write('        .uses = " %s "},\n' % ' '.join(sorted(uses)))
        out.write('};\n\nconst struct zs_eu_row_declare zs_eu_row_declares[] = {\n')
        for name, line in sorted(declares.items()):
            out.write('    {" %s ", "%s"},\n' % (name, line.replace('"', '\\"')))
        out.write('    {0, 0},\n};\n\nconst unsigned zs_eu_rows_llvm = %d;\n' % version)


main()
