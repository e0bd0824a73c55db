#!/usr/bin/env python3
"""Build a page of the HTML view into a C file.

usage: embed.py OUT.c NAME PAGE.html [PART.html] STYLE.css... SCRIPT.js...

NAME is the bundle's in html_assets.h. PART goes where the page says {{PART}}. The scripts become one, in the order given, inside one function: they share names and nothing
leaks. The page names where things go: {{CSP}} {{STYLE}} {{BOOT}} {{SCRIPT}} are filled in here,
{{TITLE}} {{LISTINGS}} {{DATA}} {{RECORD}} {{NAMES}} by the C code when it writes a page.
"""
import base64
import hashlib
import re
import sys

# Runs before the body is read, so that the plain listing never flashes up.
BOOT = "document.documentElement.classList.add('js');"
SLOTS = {'TITLE': 'ZS_HTML_TITLE', 'LISTINGS': 'ZS_HTML_LISTINGS', 'DATA': 'ZS_HTML_DATA',
         'RECORD': 'ZS_HTML_RECORD', 'NAMES': 'ZS_HTML_NAMES'}


def read(path):
    with open(path, encoding='utf-8') as f:
        text = f.read()
    if '\r' in text:
        sys.exit(f'{path}: carriage returns would change the hash')
    return text


def allow(text):
    digest = hashlib.sha256(text.encode()).digest()
    return "'sha256-" + base64.b64encode(digest).decode() + "'"


def array(name, data):
    rows = [', '.join(map(str, data[i:i + 24])) for i in range(0, len(data), 24)]
    return f'static const unsigned char {name}[] = {{\n    ' + ',\n    '.join(rows) + ',\n};\n'


def main():
    out, name, page, *parts = sys.argv[1:]
    style = '\n'.join(read(p) for p in parts if p.endswith('.css'))
    script = "(() => {\n'use strict';\n" + '\n'.join(
        read(p) for p in parts if p.endswith('.js')) + '})();\n'
    for what, text in (('style', style), ('script', script)):
        if re.search(r'</(style|script)|<!--', text, re.I):
            sys.exit(f'{what}: text that would end its element')
    part = '\n'.join(read(p) for p in parts if p.endswith('.html'))
    policy = '; '.join([
        "default-src 'none'", f'script-src {allow(BOOT)} {allow(script)}',
        f'style-src {allow(style)}', 'img-src data:', "base-uri 'none'", "form-action 'none'",
        "require-trusted-types-for 'script'", "trusted-types 'none'"])
    fill = {'CSP': policy, 'STYLE': style, 'BOOT': BOOT, 'SCRIPT': script}
    text = re.sub(r'\{\{(%s)\}\}' % '|'.join(fill), lambda m: fill[m.group(1)],
                  read(page).replace('{{PART}}\n', part))
    pieces = re.split(r'\{\{(%s)\}\}' % '|'.join(SLOTS), text)
    arrays, rows = [], []
    for i in range(0, len(pieces), 2):
        then = SLOTS[pieces[i + 1]] if i + 1 < len(pieces) else 'ZS_HTML_END'
        arrays.append(array(f'piece_{i // 2}', pieces[i].encode()))
        rows.append(f'    {{piece_{i // 2}, sizeof(piece_{i // 2}), {then}}},\n')
    with open(out, 'w', encoding='ascii') as f:
        f.write('/* SPDX-License-Identifier: MIT */\n/* Made by src/report/html/embed.py. */\n'
                '#include "report/html_assets.h"\n\n' + '\n'.join(arrays) +
                '\nstatic const struct zs_html_piece pieces[] = {\n' + ''.join(rows) + '};\n'
                f'const struct zs_html_bundle zs_html_{name} = {{pieces, sizeof(pieces) / '
                'sizeof(pieces[0])};\n')


if __name__ == '__main__':
    main()
