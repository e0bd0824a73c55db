"""Kernels of the suite by the interpreter and by compiled code: the same bits, the same counts; of one kernel in each
of several runs, wherever their threads may be.

usage: test_compiled.py SUITE GROUP FILE native|spirv VARIANT [KERNEL]
"""
import os
import subprocess
import sys
import tempfile

# their memory has addresses in it, which are others in each process
ADDRESSES = ('memory_indirect', 'printf_pointers')


def digests(mode, path):
    env = dict(os.environ, ZESCOPE_EU=mode, SUITE_DIGEST=path, ZESCOPE_LOG='info:' + path + '.log')
    subprocess.run(sys.argv[1:], env=env, check=True)
    with open(path + '.log', encoding='utf-8') as log: # what cannot be compiled is a fault, if it is not too long
        left = [line for line in log if 'is interpreted, not compiled' in line and 'within' not in line]
    assert not left, left
    with open(path, encoding='ascii') as file:
        return [line.split('  ' if line.startswith(ADDRESSES) else '\n')[0] for line in file]


def main():
    with tempfile.TemporaryDirectory() as folder:
        modes = ('interpreter', 'compiled') * (4 if sys.argv[6:] else 1)
        runs = [digests(mode, os.path.join(folder, mode)) for mode in modes]
    assert runs[0] and len({len(lines) for lines in runs}) == 1, [len(lines) for lines in runs]
    unlike = [lines for lines in zip(*runs) if len(set(lines)) > 1]
    for lines in unlike:
        print(*map(' '.join, zip(modes, lines)), sep='\n')
    print(len(runs[0]), 'launches compared,', len(unlike), 'differ')
    return 1 if unlike else 0


if __name__ == '__main__':
    sys.exit(main())
