#!/usr/bin/env python3
"""test_containers.py REWRITE ZESCOPE OCLOC BINARY...: other programs read rewritten modules as they read the plain ones.

Each module is rewritten with probes of all kinds at every instruction. readelf must say nothing that it does not say of
the input; ocloc must find the same parts and complain of nothing new; iga64 must read all of the code, as zescope does.
"""
import os
import re
import subprocess
import sys
import tempfile

import names

TIME_LIMIT_S = 120
rewrite, zescope, ocloc, *binaries = map(os.path.abspath, sys.argv[1:])


def run(command, folder):
    return subprocess.run(command, cwd=folder, timeout=TIME_LIMIT_S, capture_output=True, text=True, check=True)


def readelf(path, folder):
    said = run(['readelf', '-aW', path], folder)
    assert said.stdout
    return sorted(set(said.stderr.splitlines()))


def disassemble(path, device, folder):
    os.mkdir(folder)
    said = run([ocloc, 'disasm', '-file', path, '-device', device, '-dump', folder], folder)
    return sorted(os.listdir(folder)), set((said.stdout + said.stderr).splitlines())


def disassembled(path, device, folder):
    """iga64's text of each kernel, compared with zescope's; how many there are."""
    platform = {'skl': '9', 'tgllp': '12p1', 'acm-g10': '12p71', 'pvc': '12p72', 'xe-hp-sdv': '12p5'}[device]
    os.mkdir(folder)
    run([rewrite, 'code', path, folder], folder)
    parts = re.split(r'^// kernel (\S+): .*\n', run([zescope, 'disasm', path], folder).stdout, flags=re.M)[1:]
    for name, text in zip(parts[::2], parts[1::2]):
        said = run(['iga64', '-d', '-p=' + platform, os.path.join(folder, name)], folder)
        assert said.stdout.rstrip('\n') == text.rstrip('\n'), (path, name)
        assert 'illegal' not in said.stdout and 'error' not in said.stderr, (path, name, said.stderr)
    return len(parts) // 2


assert binaries
for binary in binaries:
    device = names.device_of(binary)
    with tempfile.TemporaryDirectory() as top:
        out = os.path.join(top, 'out.bin')
        refused = run([rewrite, 'probes', binary, out], top).stdout.splitlines()[-1]
        kernels, _, count = refused.split()[0], *refused.split()[1:3]
        assert int(count) < int(kernels), refused
        assert readelf(out, top) == readelf(binary, top), binary
        parts, said = disassemble(binary, device, os.path.join(top, 'plain'))
        new_parts, new_said = disassemble(out, device, os.path.join(top, 'new'))
        assert parts == new_parts, (binary, parts, new_parts)
        assert new_said <= said, (binary, new_said - said)
        assert disassembled(out, device, os.path.join(top, 'code')) == int(kernels)
    print(os.path.basename(binary), refused, 'ok')
