#!/usr/bin/env python3
"""Text, bytes and assembly of instructions against libiga64: every instruction of a corpus that
ocloc compiles, and mutated and random ones.

usage: test_iga.py COMPARE_IGA KNOWN[,KNOWN] FOLDER [--sample | --large]

FOLDER keeps the compiled corpus between runs. With --sample a fifth of the corpus is compiled. With --large the corpus has a million instructions and
ten million encodings of each instruction set are compared, else a few thousand.
"""
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SETS = ('gen8', 'gen9', 'gen11', 'gen12lp', 'xe-hp', 'xe-hpg', 'xe-hpc')


def main():
    compare, known, folder = sys.argv[1:4]
    os.makedirs(folder, exist_ok=True)
    files, known = known.split(','), os.path.join(folder, 'known')
    with open(known, 'w') as f:
        for path in files:
            with open(path) as part:
                f.write(part.read())
    large, sample = '--large' in sys.argv[4:], '--sample' in sys.argv[4:]
    subprocess.run([sys.executable, os.path.join(HERE, 'corpus.py'), folder] +
                   (['--large'] if large else []) + (['--sample'] if sample else []), check=True)
    bad = []
    for name in SETS:
        insts = os.path.join(folder, name + '.insts')
        if name == 'xe-hp' and len(files) > 1: # IGC 2 does not know it any more
            assert not os.path.getsize(insts)
            continue
        kinds = (['--encode', '--assemble'],
                 ['--encode', '--mutate', '5000000' if large else '6000',
                  '--random', '5000000' if large else '3000'])
        for options in kinds:
            print(name, ' '.join(options), flush=True)
            if subprocess.run([compare, name, insts, '--known', known] + options,
                              check=False).returncode:
                bad.append(f'{name} {" ".join(options)}')
    if bad:
        sys.exit('differs from libiga64: ' + '; '.join(bad))


main()
