"""What `zescope annotate` prints for a committed module, against committed text.

Usage: run.py ZESCOPE [--update]; with --update the expected text is rewritten: review the diff.
"""
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
# name, arguments; SRC is the folder with the sources
CASES = [
    ('by-source', ['--source-path', 'SRC', '-k', 'k1']),
    ('by-address', ['--path-map', '/src/cl0=SRC', '-k', 'k1', '--by', 'address', '-pmx']),
    ('no-source', ['-k', 'k2']),
    ('context', ['--source-path', 'SRC', '-k', 'k2', '--context', '0']),
    ('newer-source', ['--source-path', 'NEW', '-k', 'k2']),
    ('color', ['--source-path', 'SRC', '-k', 'k2', '--color', 'always']),
    ('json', ['--json', '--types', '-px', '--source-path', 'SRC', '-k', 'k2']),
]


def main():
    zescope, update = os.path.abspath(sys.argv[1]), '--update' in sys.argv
    folder = tempfile.mkdtemp(prefix='zescope-golden-')
    failed = 0
    try:
        shutil.copy(os.path.join(HERE, 'skl.bin'), folder)
        os.utime(os.path.join(folder, 'skl.bin'), (1000000000, 1000000000))
        for name, time in (('SRC', 900000000), ('NEW', 1100000000)):
            shutil.copytree(os.path.join(HERE, 'src'), os.path.join(folder, name))
            for f in os.listdir(os.path.join(folder, name)):
                os.utime(os.path.join(folder, name, f), (time, time))
        env = {k: v for k, v in os.environ.items() if not k.startswith('ZESCOPE_')}
        env.pop('NO_COLOR', None)
        env['TERM'] = 'xterm'
        for name, arguments in CASES:
            out = subprocess.run([zescope, 'annotate', *arguments, 'skl.bin'], cwd=folder, env=env,
                                 capture_output=True)
            text = out.stdout.decode().replace('},{', '},\n{') if name == 'json' else \
                out.stdout.decode()
            path = os.path.join(HERE, name + '.txt')
            if update:
                with open(path, 'w') as f:
                    f.write(text)
                continue
            with open(path) as f:
                expected = f.read()
            if out.returncode or out.stderr or text != expected:
                failed += 1
                print(f'FAIL {name}: status {out.returncode} {out.stderr.decode()}')
                for a, b in zip(text.splitlines(), expected.splitlines()):
                    if a != b:
                        print(f'  got      {a}\n  expected {b}')
                        break
    finally:
        shutil.rmtree(folder)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
