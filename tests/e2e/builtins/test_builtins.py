"""Every built-in function of OpenCL C 2.0 and of Intel's extensions, with every type and address space,
compiled for Skylake and executed by the driver: none may fault, whatever the values.

usage: test_builtins.py RUN_BUILTINS EVERY WIDTHS: one kernel of EVERY is run, of every other source where that
is not 1; vectors of WIDTHS, as 1,3
"""
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import generate  # noqa: E402


def compile_source(job):
    source, options = job
    out = source.replace('.cl', '') + ('.unoptimised' if options else '') + '.bin'
    run = subprocess.run(['ocloc', 'compile', '-q', '-file', source, '-device', 'skl', '-output_no_suffix', '-output',
                          out, '-options', '-cl-std=CL2.0 ' + options], check=False, capture_output=True, text=True,
                         cwd=os.path.dirname(source))
    assert run.returncode == 0 and os.path.exists(out), (source, run.stdout[-2000:], run.stderr[-2000:])
    return out


def main():
    run_builtins, every, widths = sys.argv[1], int(sys.argv[2]), [int(w) for w in sys.argv[3].split(',')]
    with tempfile.TemporaryDirectory() as folder:
        sources = generate.write(folder, every, widths)[::1 if every == 1 else 2]
        jobs = [(s, options) for s in sources for options in ('', '-cl-opt-disable')[:2 if every == 1 else 1]]
        with ThreadPoolExecutor(2) as pool:
            binaries = list(pool.map(compile_source, jobs))
        run = subprocess.run([run_builtins] + binaries, check=False, capture_output=True)
        told = run.stderr.decode(errors='replace')
        print(told[-6000:])
        assert run.returncode == 0, run.returncode
        total = int(told.rsplit('kernels: ', 1)[1].split()[0])
        assert total * every > (4000 if every == 1 else 1500), total
    return 0


if __name__ == '__main__':
    sys.exit(main())
