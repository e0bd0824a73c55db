"""What `zescope annotate` prints for a committed module, against committed text.

The same module with paths of Windows must give the same text with those paths.

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
    ('by-address', ['--path-map', '/src/cl0=SRC', '-k', 'k1', '--by', 'address', '-rmM']),
    ('no-source', ['-k', 'k2']),
    ('context', ['--source-path', 'SRC', '-k', 'k2', '--context', '0']),
    ('newer-source', ['--source-path', 'NEW', '-k', 'k2']),
    ('color', ['--source-path', 'SRC', '-k', 'k2', '--color', 'always']),
    ('json', ['--json', '--types', '-rM', '--source-path', 'SRC', '-k', 'k2']),
]
# IGC 2.40 lost the name of a kernel's code, in debug info that has a unit for functions, too
LOST = ('lost-names', ['--json', '-k', 'second'])
# (in the module and in its text, ...): the module built on Windows, and on a share; as long as what they replace
PLACE = '/src/cl0'
OTHERS = (('C:\\s\\cl0', 'C:/s/cl0', 'c:/S\\CL0\\'), ('\\\\s\\cl00', '\\\\s/cl00', '//S/cl00'))


def text_of(zescope, folder, env, arguments, module):
    out = subprocess.run([zescope, 'annotate', *arguments, module], cwd=folder, env=env, capture_output=True)
    text = out.stdout.decode()
    return out, text.replace('},{', '},\n{') if '--json' in arguments else text


def report(name, out, text, expected):
    """1 where they differ."""
    if not out.returncode and not out.stderr and text == expected:
        return 0
    print(f'FAIL {name}: status {out.returncode} {out.stderr.decode()}')
    for a, b in zip(text.splitlines(), expected.splitlines()):
        if a != b:
            print(f'  got      {a}\n  expected {b}')
            break
    return 1


def check_others(zescope, folder, env, name, arguments, expected):
    """By the maps of the case and by search; what the module names stands in the text with slashes."""
    failed = 0
    with open(os.path.join(HERE, 'skl.bin'), 'rb') as f:
        module = f.read()
    for there, shown, typed in OTHERS:
        assert len(there) == len(PLACE) == len(shown)
        changed = module.replace((PLACE + '/.').encode(), (there + '\\.').encode())
        changed = changed.replace(PLACE.encode(), there.encode())
        assert changed != module
        os.makedirs(os.path.join(folder, 'windows'), exist_ok=True)
        path = os.path.join(folder, 'windows', 'skl.bin')
        with open(path, 'wb') as f:
            f.write(changed)
        os.utime(path, (1000000000, 1000000000))
        for kind in ('as it is', 'by map'):
            options = [a.replace(PLACE, there) for a in arguments]
            if kind == 'by map':
                options = [f'{typed}={a}' if options[i - 1] == '--source-path' else
                           '--path-map' if a == '--source-path' else a for i, a in enumerate(options)]
            out, text = text_of(zescope, folder, env, options, os.path.join('windows', 'skl.bin'))
            json = '--json' in arguments
            wanted = expected.replace(PLACE, shown.replace('\\', '\\\\') if json else shown)
            wanted = wanted.replace('"skl.bin"', '"windows/skl.bin"')
            failed += report(f'{name} of {there}, {kind}', out, text, wanted)
    return failed


def main():
    zescope, update = os.path.abspath(sys.argv[1]), '--update' in sys.argv
    folder = tempfile.mkdtemp(prefix='zescope-golden-')
    failed = 0
    try:
        for module in ('skl.bin', 'lost.bin'):
            shutil.copy(os.path.join(HERE, module), folder)
        os.utime(os.path.join(folder, 'skl.bin'), (1000000000, 1000000000))
        for name, time in (('SRC', 900000000), ('NEW', 1100000000)):
            shutil.copytree(os.path.join(HERE, 'src'), os.path.join(folder, name))
            for f in os.listdir(os.path.join(folder, name)):
                os.utime(os.path.join(folder, name, f), (time, time))
        env = {k: v for k, v in os.environ.items() if not k.startswith('ZESCOPE_')}
        env.pop('NO_COLOR', None)
        env['TERM'] = 'xterm'
        for name, arguments in [*CASES, LOST]:
            out, text = text_of(zescope, folder, env, arguments, 'lost.bin' if name == LOST[0] else 'skl.bin')
            path = os.path.join(HERE, name + '.txt')
            if update:
                with open(path, 'w') as f:
                    f.write(text)
                continue
            with open(path) as f:
                expected = f.read()
            failed += report(name, out, text, expected)
            if name != LOST[0]:
                failed += check_others(zescope, folder, env, name, arguments, expected)
    finally:
        shutil.rmtree(folder)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
