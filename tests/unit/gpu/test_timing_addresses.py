#!/usr/bin/env python3
"""The model of time gives the same numbers with and without randomised addresses.

Usage: test_timing_addresses.py PROGRAM. Ends with 77 where addresses cannot be fixed.
"""
import subprocess
import sys

FIXED = ['setarch', '-R']


def numbers(prefix):
    return subprocess.run([*prefix, sys.argv[1], 'print'], check=True, stdout=subprocess.PIPE).stdout


try:
    if subprocess.run([*FIXED, 'true'], stderr=subprocess.DEVNULL).returncode:
        raise FileNotFoundError
except FileNotFoundError:
    print('setarch -R cannot be had here')
    sys.exit(77)
runs = [numbers([]), numbers([]), numbers(FIXED), numbers(FIXED)]
assert len(runs[0]) > 1000, 'no numbers'
assert all(run == runs[0] for run in runs), 'numbers differ between runs'
