"""zescope.exe under Wine against zescope on Linux: the same bytes, the same exit status.

Usage: run.py ZESCOPE ZESCOPE.EXE. Wine keeps its files in build/windows/wine, beside the program.
"""
import glob
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
MODULES = [
    os.path.join(TESTS, 'golden/annotate/skl.bin'),
    *[path for kind in ('ar', 'neo_elf', 'patch_tokens', 'zebin')
      for path in sorted(glob.glob(os.path.join(TESTS, 'fuzz/corpus', kind, '*')))],
]
COMPILED = [('tests/kernels/inlining.cl', 'skl'), ('tests/kernels/structs.cl', 'dg2'),
            ('tests/kernels/doubles.cl', 'skl')]
COMMANDS = [
    ['disasm'],
    ['disasm', '--offsets', '--encoding', '--pressure', '--blocks', '--sends'],
    ['disasm', '--json', '--pressure', '--sends'],
    ['inspect'],
    ['inspect', '--tokens', '--color=always'],
    ['inspect', '--json'],
    ['annotate', '--source-path', 'src', '--color=always'],
    ['annotate', '--source-path', 'src', '--by', 'address', '--pressure', '--mix', '--sends'],
    ['annotate', '--json', '--types', '--pressure', '--sends', '--with-source', '--source-path', 'src'],
    ['annotate', '--html', '-'],
]
# POSIX extended regular expressions, good and bad, on names k1, k2, dec, main
PATTERNS = ['k', '^k[12]$', 'k1|k2', '(k)(1|x)', 'k{1}2', '[[:alpha:]][[:digit:]]', '.+2', '^(a|)k', 'K',
            'k[^1]', '\\bk2\\>', '(', '[', '*k', 'k{2,1}', '[[:nope:]]', 'k\\', 'a{1', '[z-a]']


class Runner:
    def __init__(self, native, windows, folder):
        prefix = os.path.join(os.path.dirname(windows), '..', '..', 'wine')
        self.native, self.windows, self.folder = native, windows, folder
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(('ZESCOPE_', 'DISPLAY'))}
        self.env.update(WINEPREFIX=os.path.abspath(prefix), WINEDEBUG='-all', LC_ALL='C.UTF-8',
                        WINEDLLOVERRIDES='mscoree,mshtml=')
        self.failed = self.passed = 0

    def call(self, *arguments, native=False):
        """Into files: the services that Wine starts beside the first program keep its pipes open."""
        command = [self.native] if native else ['wine', self.windows]
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            done = subprocess.run(command + list(arguments), cwd=self.folder, env=self.env, timeout=120,
                                  stdin=subprocess.DEVNULL, stdout=out, stderr=err)
            for f in (out, err):
                f.seek(0)
            done.stdout, done.stderr = out.read(), err.read()
        return done

    def check(self, name, fine, why=''):
        if fine:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAIL {name}: {why}", flush=True)

    def same(self, *arguments, other=None):
        """`other`: the arguments for Windows, where they are not the same."""
        linux, windows = self.call(*arguments, native=True), self.call(*(other or arguments))
        name = ' '.join(arguments)
        for what in ('returncode', 'stdout', 'stderr'):
            left, right = getattr(linux, what), getattr(windows, what)
            if left != right:
                self.check(name, False, f'{what} differs: Linux {str(left)[:300]}, Windows {str(right)[:300]}')
                return linux
        self.check(name, True)
        return linux


def compiled(folder):
    """Names of modules with debug info, made by ocloc."""
    names = []
    for source, device in COMPILED:
        name = os.path.splitext(os.path.basename(source))[0] + '-' + device
        done = subprocess.run(['ocloc', 'compile', '-q', '-file', os.path.join(TESTS, '..', source), '-device', device,
                               '-options', '-g', '-output', name, '-output_no_suffix', '-out_dir', folder],
                              capture_output=True)
        if done.returncode or not os.path.exists(os.path.join(folder, name)):
            sys.exit(f'ocloc cannot compile {source}: {done.stdout.decode()}{done.stderr.decode()}')
        names.append(name)
    return names


def check_listings(r, names):
    for name in names:
        for command in COMMANDS:
            r.same(*command, name)
    listing = r.call('disasm', 'skl.bin')
    r.check('a listing is there', listing.stdout.count(b'\n') > 50 and b'send' in listing.stdout)


def check_arguments(r):
    for pattern in PATTERNS:
        r.same('disasm', '-k', pattern, 'skl.bin')
    r.same('disasm', 'no-such-file.bin')
    r.same('disasm', '--no-such-option', 'skl.bin')
    r.same('disasm', 'empty.bin')
    r.same('inspect', 'skl.bin', 'größe-核.bin')
    r.same('disasm', '-k', 'ß核', 'skl.bin')
    listing = r.call('disasm', 'skl.bin', native=True).stdout
    drive = 'Z:' + os.path.join(r.folder, 'skl.bin').replace('/', '\\')
    r.check('a path with a drive letter', r.call('disasm', drive).stdout == listing)
    r.check('a path with slashes', r.call('disasm', drive.replace('\\', '/')).stdout == listing)
    r.check('a folder is no module', b'recordings are read on Linux alone' in r.call('disasm', 'src').stderr)
    for command in ('record', 'run', 'report'):
        done = r.call(command, '--trace', 'x')
        r.check(command, done.returncode == 1 and b'works on Linux alone' in done.stderr, str(done))


def check_files(r):
    """Pages are written over what is there, and names may hold any character."""
    page = os.path.join(r.folder, 'página.html')
    for _ in range(2):
        done = r.call('annotate', '-q', '--html', 'página.html', 'skl.bin')
        r.check('--html', done.returncode == 0 and not done.stderr, str(done.stderr))
    with open(page, 'rb') as f:
        windows = f.read()
    os.remove(page)
    r.call('annotate', '-q', '--html', 'página.html', 'skl.bin', native=True)
    with open(page, 'rb') as f:
        r.check('the page', f.read() == windows)
    r.check('nothing is left beside it', not [n for n in os.listdir(r.folder) if 'html.' in n])
    done = r.call('annotate', '--html', 'no-such-folder\\x.html', 'skl.bin')
    r.check('no folder for the page', done.returncode == 1 and b'No such file' in done.stderr, str(done.stderr))


def check_environment(r):
    r.env['ZESCOPE_ANNOTATE_SOURCE_PATH'] = 'quellen-ö'
    found = r.same('annotate', 'skl.bin')
    del r.env['ZESCOPE_ANNOTATE_SOURCE_PATH']
    r.check('the source is found', b'kernel void' in found.stdout, str(found.stdout[:300]))


def main():
    native, windows = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    folder = tempfile.mkdtemp(prefix='zescope-windows-')
    try:
        r = Runner(native, windows, folder)
        # one server for all calls: to begin one for each costs seconds
        os.makedirs(r.env['WINEPREFIX'], exist_ok=True)
        subprocess.run(['wineserver', '-p'], env=r.env, check=True)
        # the first program of all makes Wine's files, and Wine says so
        subprocess.run(['wine', windows, '--version'], env=r.env, check=True, timeout=300, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        names = compiled(folder)
        for i, path in enumerate(MODULES):
            name = os.path.basename(path) if path.endswith('skl.bin') else f'module{i}'
            shutil.copy(path, os.path.join(folder, name))
            names.append(name)
        open(os.path.join(folder, 'empty.bin'), 'wb').close()
        shutil.copy(os.path.join(folder, 'skl.bin'), os.path.join(folder, 'größe-核.bin'))
        for target in ('src', 'quellen-ö'):
            shutil.copytree(os.path.join(TESTS, 'golden/annotate/src'), os.path.join(folder, target))
        check_listings(r, names)
        check_arguments(r)
        check_files(r)
        check_environment(r)
    finally:
        subprocess.run(['wineserver', '-k'], env=r.env, check=False)
        shutil.rmtree(folder)
    print(f'{r.passed} passed, {r.failed} failed, {len(names)} modules')
    return 1 if r.failed or not r.passed else 0


if __name__ == '__main__':
    sys.exit(main())
