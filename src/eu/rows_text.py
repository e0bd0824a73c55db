#!/usr/bin/env python3
"""rows.ll, as clang made it of rows.c, to a table in C: rows_text.py IN OUT.

Each function becomes a text of its own, without what refers to other parts of the file. Rows that
call the C library, or look at the host's modes, are left out: the interpreter has them.
"""
import re
import sys

FOREIGN = ('@llvm.sin', '@llvm.cos', '@llvm.pow', '@llvm.exp', '@llvm.log', 'stmxcsr')
INLINE_LINES = 100


def clean(line):
    line = re.sub(r', ![a-z.]+ ![0-9]+', '', line)
    line = re.sub(r' #[0-9]+', '', line)
    return line.rstrip()


def main():
    text = open(sys.argv[1]).read().split('\n')
    rows, declares, current = {}, {}, None
    for line in text:
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
    with open(sys.argv[2], 'w') as out:
        out.write('#include "eu/rows_text.h"\n\nconst struct zs_eu_row_text zs_eu_row_texts[ZS_EU_ROW_COUNT] = {\n')
        for name, lines in rows.items():
            body = '\n'.join(lines)
            if any(f in body for f in FOREIGN) or re.search(r'@(?!zs_row_|llvm\.)\w', body):
                continue
            lines = [lines[0] + (' #1 {' if len(lines) > INLINE_LINES else ' #0 {')] + lines[1:]
            uses = sorted(set(re.findall(r'@(llvm\.[\w.]+)\(', body)))
            out.write('    [ZS_EU_ROW_%s] = {\n' % name)
            for line in lines:
                out.write('        "%s\\n"\n' % line.replace('\\', '\\\\').replace('"', '\\"'))
            out.write('        , "%s"},\n' % ' '.join(uses))
        out.write('};\n\nconst struct zs_eu_row_declare zs_eu_row_declares[] = {\n')
        for name, line in sorted(declares.items()):
            out.write('    {"%s", "%s"},\n' % (name, line.replace('"', '\\"')))
        out.write('    {0, 0},\n};\n')


main()
