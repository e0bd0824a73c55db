"""Kernels of the suite by the interpreter and by compiled code: the same bits, the same counts.

usage: test_compiled.py SUITE GROUP FILE native|spirv VARIANT [KERNEL]
"""
import os
import subprocess
import sys
import tempfile

# their memory has addresses in it, which are others in each process
ADDRESSES = ('memory_indirect', 'printf_pointers')


def digests(mode, path):
    env = dict(os.environ, ZESCOPE_EU=mode, SUITE_DIGEST=path)
    subprocess.run(sys.argv[1:], env=env, check=True)
    with open(path, encoding='ascii') as file:
        return [line.split('  ' if line.startswith(ADDRESSES) else '\n')[0] for line in file]


def main():
    with tempfile.TemporaryDirectory() as folder:
        both = [digests(mode, os.path.join(folder, mode)) for mode in ('interpreter', 'compiled')]
    assert both[0] and len(both[0]) == len(both[1]), [len(lines) for lines in both]
    unlike = [(a, b) for a, b in zip(*both) if a != b]
    for a, b in unlike:
        print('interpreted', a, '\ncompiled   ', b)
    print(len(both[0]), 'launches compared,', len(unlike), 'differ')
    return 1 if unlike else 0


if __name__ == '__main__':
    sys.exit(main())
