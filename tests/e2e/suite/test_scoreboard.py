#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Compiled kernels with one wait deleted: the check of the software scoreboard must find each.

usage: test_scoreboard.py ZESCOPE SUITE GROUP BINARY DEVICE KERNEL...

Every instruction of a kernel that waits for a token ($3.dst, $3.src) or for a distance (I@2) is
assembled again without that, put in place in the module, and the kernel is run under ZESCOPE_CHECK:
the launch must end in a fault that says what was not waited for. The module as it is must run. Some
waits for sources are needless: who has waited for a later message to the same function knows that
they were read. So are distances in front of architecture registers and of the end, and long ones.
"""
import os
import re
import subprocess
import sys
import tempfile

zescope, suite, group, binary, device = sys.argv[1:6]
LINE = re.compile(r'^((?:[0-9a-f]{8} )*[0-9a-f]{8})\s+(.*)$')
TOKEN = re.compile(r'(\$\d+)\.(?:dst|src)')
DISTANCE = re.compile(r'[AFILM]?@\d')
DROPS = re.compile(r'^(\(W\)\s+)?mov \(\d+\|M\d+\)\s+null') # waits, and needs nothing of what it reads
SETS = re.compile(r'(\$\d+)[,}]')
LEAVES = {'token': 1 / 4, 'distance': 2 / 5} # the most that may be needless


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


def skipped_B(kernel, module):
    """What loads local ids, which the software GPU gives, stands in front; the zebin says where threads begin."""
    said = re.search(rb'name: +%s\n(?:(?!\n  - name:).)*?offset_to_skip_per_thread_data_load: (\d+)' % kernel.encode(), module, re.S)
    return int(said[1]) if said else 0


def code_of(kernel, module):
    """Instructions with their places in the module; where what the software GPU skips ends."""
    code = list(instructions(kernel))
    start = at = module.find(b''.join(raw for raw, _ in code))
    if not code or start < 0:
        sys.exit('%s: its code is not in the module' % kernel)
    placed = []
    for raw, text in code:
        placed.append((at, raw, text))
        at += len(raw)
    first = start + skipped_B(kernel, module)
    return start, first, placed


def waits(first, placed):
    """Of instructions that are executed: what they wait for, and is not only waited for in front."""
    is_set = set() # tokens
    for at, raw, text in placed:
        token, distance = TOKEN.search(text), DISTANCE.search(text)
        if token and token[1] in is_set and 'L' not in text.split()[-1] and not DROPS.match(text):
            yield at, raw, text, token[0]
        if at >= first:
            if distance:
                yield at, raw, text, distance[0]
            is_set.update(SETS.findall(text))


def main():
    module = open(binary, 'rb').read()
    failures = 0
    deleted, needless = {'token': 0, 'distance': 0}, {'token': 0, 'distance': 0}
    for kernel in sys.argv[6:]:
        status, output = run(binary, kernel)
        if status:
            print('%s, unchanged: %s' % (kernel, output))
            failures += 1
        start, first, placed = code_of(kernel, module)
        for at, raw, text, wait in waits(first, placed):
            new = without(text, wait)
            if not new or len(new) != len(raw):
                continue
            with tempfile.NamedTemporaryFile(suffix='.bin') as patched:
                patched.write(module[:at] + new + module[at + len(raw):])
                patched.flush()
                status, output = run(patched.name, kernel)
            kind = 'token' if wait[0] == '$' else 'distance'
            deleted[kind] += 1
            found = status and 'was not waited for' in output
            needless[kind] += not found
            if not found and wait.endswith('.dst'):
                print('%s at 0x%x, without %s: %s' % (kernel, at - start, text, output[-300:]))
                failures += 1
    for kind in deleted:
        print('%s: %u waits deleted, %u not missed' % (kind, deleted[kind], needless[kind]))
        failures += not deleted[kind] or needless[kind] > deleted[kind] * LEAVES[kind]
    print('%u failures' % failures)
    sys.exit(1 if failures else 0)


main()
