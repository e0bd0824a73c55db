#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Compiled kernels with one wait deleted: the check of the software scoreboard must find each.

usage: test_scoreboard.py ZESCOPE SUITE GROUP BINARY DEVICE KERNEL...

Every instruction of a kernel that waits for a token ($3.dst, $3.src) is assembled again without
that, put in place in the module, and the kernel is run under ZESCOPE_CHECK: the launch must end in
a fault that says what was not waited for. The module as it is must run. Some waits for sources are
needless: who has waited for a later message to the same function knows that they were read.
"""
import os
import re
import subprocess
import sys
import tempfile

zescope, suite, group, binary, device = sys.argv[1:6]
LINE = re.compile(r'^((?:[0-9a-f]{8} )*[0-9a-f]{8})\s+(.*)$')
TOKEN = re.compile(r'(\$\d+)\.(?:dst|src)')
SETS = re.compile(r'(\$\d+)[,}]')
PROLOGUE_B = 0x140 # loads the payload, ends in nops; the software GPU starts behind it


def run(module, kernel):
    env = dict(os.environ, ZESCOPE_CHECK='1')
    done = subprocess.run([suite, group, module, 'native', device + ':zebin', kernel], env=env,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
    return done.returncode, done.stdout.decode(errors='replace')


def as_bytes(dwords):
    return b''.join(int(word, 16).to_bytes(4, 'little') for word in dwords.split())


def instructions(kernel):
    listing = subprocess.run([zescope, 'disasm', '--encoding', '-k', '^%s$' % kernel, binary],
                             check=True, stdout=subprocess.PIPE).stdout.decode()
    for line in listing.splitlines():
        found = LINE.match(line)
        if found:
            yield as_bytes(found[1]), found[2].split('//')[0].strip()


def without(text, token):
    plain = re.sub(r',?' + re.escape(token), '', text).replace('{,', '{')
    plain = plain.replace('{}', '').strip()
    with tempfile.NamedTemporaryFile('w', suffix='.asm') as source:
        source.write(plain + '\n')
        source.flush()
        done = subprocess.run([zescope, 'asm', '-d', device, '--hex', source.name],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return as_bytes(done.stdout.decode()) if done.returncode == 0 else None


def main():
    module = open(binary, 'rb').read()
    failures = deleted = needless = 0
    for kernel in sys.argv[6:]:
        status, output = run(binary, kernel)
        if status:
            print('%s, unchanged: %s' % (kernel, output))
            failures += 1
        code = list(instructions(kernel))
        start = module.find(b''.join(raw for raw, _ in code))
        if not code or start < 0:
            sys.exit('%s: its code is not in the module' % kernel)
        at = start
        nops = [sum(len(raw) for raw, _ in code[:i + 1]) for i, (_, text) in enumerate(code)
                if text == 'nop']
        first = start + max([end for end in nops if end <= PROLOGUE_B], default=0)
        is_set = set() # tokens, behind the prologue
        for raw, text in code:
            token = TOKEN.search(text)
            waits = token and token[1] in is_set
            new = without(text, token[0]) if waits and 'L' not in text.split()[-1] else None
            if at >= first:
                is_set.update(SETS.findall(text))
            if new and len(new) == len(raw):
                with tempfile.NamedTemporaryFile(suffix='.bin') as patched:
                    patched.write(module[:at] + new + module[at + len(raw):])
                    patched.flush()
                    status, output = run(patched.name, kernel)
                deleted += 1
                found = status and 'was not waited for' in output
                needless += not found
                if not found and token[0].endswith('.dst'):
                    print('%s at 0x%x, without %s: %s' % (kernel, at - start, text, output[-300:]))
                    failures += 1
            at += len(raw)
    print('%u waits deleted, %u not missed, %u failures' % (deleted, needless, failures))
    sys.exit(1 if failures or not deleted or needless > deleted // 4 else 0)


main()
