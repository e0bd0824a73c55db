"""Lower what IGC emits for Skylake: all of it is modelled.

usage: test_code.py CHECK_CODE FILE.cl... [--sample]
"""
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'isa'))
import modules  # noqa: E402

OPTIONS = ['', '-cl-fast-relaxed-math', '-cl-opt-disable', '-cl-denorms-are-zero',
           '-cl-fp32-correctly-rounded-divide-sqrt -g']


def write_kernels(job):
    number, source, options, out = job
    folder = os.path.join(out, str(number))
    os.mkdir(folder)
    module = modules.compile_module(source, 'skl', folder, '-cl-std=CL2.0 ' + options)
    paths = []
    for name, code in modules.kernels(module):
        path = os.path.join(folder, name + '.isa')
        with open(path, 'wb') as f:
            f.write(code)
        paths.append(path)
    return paths


def main():
    sample = sys.argv[-1] == '--sample'
    check_code, sources = sys.argv[1], [os.path.abspath(p) for p in sys.argv[2:-1 if sample else None]]
    with tempfile.TemporaryDirectory() as out:
        jobs = [(i, s, o, out) for i, (s, o) in
                enumerate((s, o) for k, s in enumerate(sources) for n, o in enumerate(OPTIONS) if not sample or (k + n) % 3 == 0)]
        with ThreadPoolExecutor(2) as pool:
            paths = [p for found in pool.map(write_kernels, jobs) for p in found]
        assert len(paths) > (100 if sample else 300), len(paths)
        run = subprocess.run([check_code] + paths, check=False)
    return run.returncode


if __name__ == '__main__':
    sys.exit(main())
