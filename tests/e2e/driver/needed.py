#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What enters the user's process brings no library with it that a C program does not have already.

Usage: needed.py LIBZE_ZESCOPE LIBZESCOPE_COLLECT LIBZESCOPE_LAYER
"""
import re
import subprocess
import sys

LIBC = {'libc.so.6', 'libdl.so.2', 'libpthread.so.0', 'librt.so.1'}  # all in libc since glibc 2.34
ALLOWED = [LIBC | {'libm.so.6'}, LIBC, LIBC]


def needed(path):
    out = subprocess.run(['readelf', '-dW', path], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r'\(NEEDED\).*\[(.*)\]', out))


def main():
    bad = 0
    for path, allowed in zip(sys.argv[1:], ALLOWED, strict=True):
        names = {name for name in needed(path) if not name.startswith('ld-linux')}
        if 'libc.so.6' not in names or names - allowed:
            print(f'{path}: needs {sorted(names)}, may need {sorted(allowed)}')
            bad += 1
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
