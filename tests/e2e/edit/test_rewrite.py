#!/usr/bin/env python3
"""test_rewrite.py REWRITE SUITE BINARY...: rewritten modules of the suite's kernels compute the same.

Each suite_<group>_<variant>.bin is rewritten with nops around every instruction, then with every
instruction replaced by what its text assembles to, and run by the suite, which compares with plain C.
"""
import os
import subprocess
import sys
import tempfile

import names

TIME_LIMIT_S = 300


def main():
    rewrite, suite, *binaries = sys.argv[1:]
    bad = 0
    for binary in binaries:
        group, variant, environment = names.of(binary)
        for how in ('same', 'end'):
            subprocess.run([rewrite, how, binary], check=True, timeout=TIME_LIMIT_S, stdout=subprocess.DEVNULL)
        for how in ('nops', 'pairs'):
            with tempfile.TemporaryDirectory() as folder:
                out = os.path.join(folder, 'out.bin')
                said = subprocess.run([rewrite, how, binary, out], check=True, timeout=TIME_LIMIT_S,
                                      capture_output=True, text=True).stdout
                run = subprocess.run([suite, group, out, 'native', variant], timeout=TIME_LIMIT_S,
                                     capture_output=True, text=True, env=environment)
            print(f'{group} {variant} {how}: {said.splitlines()[-1]}, {run.returncode}')
            if run.returncode:
                bad += 1
                print(run.stdout[-2000:] + run.stderr[-2000:])
    assert binaries
    sys.exit(1 if bad else 0)


main()
