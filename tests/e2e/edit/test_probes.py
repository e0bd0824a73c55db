#!/usr/bin/env python3
"""test_probes.py SUITE quick|all|random BINARY...: the suite's kernels with probes in them (tests/e2e/suite/each.c).

One at each single instruction, one after the other: of `quick` at a few, of `all` at every one, in one of the ways in turn;
EDIT_WAYS=lLtTaAjJ: in each of them. `random`: random ones at random places; EDIT_SEEDS=FIRST-LAST tries more than one
arrangement.
"""
import os
import subprocess
import sys

import names

TIME_LIMIT_S = 3600
IN_TURN, QUICK_WAYS = '/lLtTaAjJ', 'LtaJ'
QUICK_TURNS = 6
# A record in a loop, which lanes had left that waited with what they held.
FOUND = {('flow', 'stateless'): 1147}


def arguments(how, number, group, variant):
    first, last = map(int, os.environ.get('EDIT_SEEDS', '1-1').split('-'))
    if how == 'all':
        return [['each', os.environ.get('EDIT_WAYS', IN_TURN), '0', '1']]
    if how == 'quick':
        return [['each', QUICK_WAYS, str(1 + number), 'few']]
    seeds = [seed * 100 + number % 100 for seed in range(first, last + 1)]
    if (group, variant) in FOUND:
        seeds[0] = FOUND[(group, variant)]
    return [['random', str(seed), str(seed)] for seed in seeds]


def main():
    suite, how, *binaries = sys.argv[1:]
    bad = 0
    assert binaries
    for number, binary in enumerate(binaries):
        group, variant, environment = names.of(binary)
        for args in arguments(how, number, group, variant):
            if args[-1] == 'few':
                args[-1] = '/' + str(QUICK_TURNS)
            run = subprocess.run([suite, group, binary, 'native', variant, *args], timeout=TIME_LIMIT_S, capture_output=True,
                                 text=True, env=environment)
            print(os.path.basename(binary), run.stdout.strip(), flush=True)
            if run.returncode:
                bad += 1
                print(f'exit {run.returncode}\n{run.stdout[-3000:]}{run.stderr[-3000:]}', flush=True)
    sys.exit(1 if bad else 0)


main()
