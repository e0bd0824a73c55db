"""zescope.exe under Wine against zescope on Linux: the same bytes, the same exit status.

Usage: run.py ZESCOPE ZESCOPE.EXE. Wine keeps its files in build/windows/wine, beside the program.
"""
import fcntl
import glob
import os
import re
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import time

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

    def on_terminal(self, *command, rows=200, columns=300):
        """What the command writes when all its streams are a terminal, and its exit status."""
        terminal, streams = os.openpty()
        fcntl.ioctl(streams, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))
        child = subprocess.Popen(command, cwd=self.folder, env={**self.env, 'TERM': 'xterm'}, start_new_session=True,
                                 stdin=streams, stdout=streams, stderr=streams)
        os.close(streams)
        out, limit = b'', time.monotonic() + 120
        while time.monotonic() < limit:
            if not select.select([terminal], [], [], 1)[0]:
                if child.poll() is not None:
                    break
                continue
            try:
                out += os.read(terminal, 65536)
            except OSError:  # nobody has it open any more
                break
        if child.poll() is None and time.monotonic() >= limit:
            child.kill()
        status = child.wait()
        os.close(terminal)
        # the ends of lines are the terminal's, hiding the cursor is Wine's
        return status, re.sub(rb'\x1b\[\?25[lh]', b'', out).replace(b'\r', b'')

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


def check_debug_paths(r):
    """Debug info with drive letters and backslashes: the same sources are found on both systems."""
    with open(os.path.join(r.folder, 'skl.bin'), 'rb') as f:
        module = f.read()
    drive = module.replace(b'/src/cl0/.', b'C:\\s\\cl0\\.').replace(b'/src/cl0', b'C:\\s\\cl0')
    with open(os.path.join(r.folder, 'drive.bin'), 'wb') as f:
        f.write(drive)
    for source in (['--source-path', 'src'], ['--path-map', 'c:\\S\\cl0\\=src'], []):
        found = r.same('annotate', *source, 'drive.bin')
        r.check(f'sources {source}', (b'kernel void' in found.stdout) == bool(source), str(found.stdout[:300]))
    r.same('annotate', '--json', '--source-path', 'src', 'drive.bin')
    # a file that is there as it stands, on Windows alone
    place = os.path.join(r.env['WINEPREFIX'], 'drive_c', 's', 'cl0')
    shutil.copytree(os.path.join(TESTS, 'golden/annotate/src'), place)
    try:
        there = r.call('annotate', 'drive.bin').stdout
        r.check('as it stands', b'kernel void' in there and b'note: source not found' not in there, str(there[:300]))
    finally:
        shutil.rmtree(place)


def check_console(r):
    """On a console there are colours, UTF-8 and its width, and it is left as it was."""
    for command in (['inspect', 'skl.bin'], ['annotate', '-k', 'k2', '--source-path', 'src', 'skl.bin'],
                    ['inspect', '--color=never', 'skl.bin'], ['asm', '-d', 'skl', 'kein-größe-核.asm']):
        linux = r.on_terminal(r.native, *command)
        windows = r.on_terminal('wine', r.windows, *command)
        r.check(f'console: {command}', linux == windows, f'Linux {linux}, Windows {windows}')
        r.check(f'colour: {command}', (b'\x1b[' in windows[1]) == (command[0] != 'asm' and len(command) != 3))
    r.env['NO_COLOR'] = '1'
    r.check('NO_COLOR', b'\x1b[' not in r.on_terminal('wine', r.windows, 'inspect', 'skl.bin')[1])
    del r.env['NO_COLOR']
    shell = f'chcp & {r.windows} inspect skl.bin & chcp'
    pages = re.findall(rb'code page: (\d+)', r.on_terminal('wine', 'cmd', '/c', shell)[1])
    r.check('the code page', len(pages) == 2 and pages[0] == pages[1] != b'65001', str(pages))


def check_asm(r):
    """Text to bytes and back, from a file and from a stream, and what is wrong with text."""
    for name, device, kernel in (('skl.bin', 'skl', 'k1'), ('structs-dg2', 'dg2', 'by_value')):
        text = r.call('disasm', '-k', f'^{kernel}$', name, native=True).stdout
        for end, lines in (('\n', text), ('\r\n', text.replace(b'\n', b'\r\n'))):
            with open(os.path.join(r.folder, 'text-ö.asm'), 'wb') as f:
                f.write(lines)
            made = [r.call('asm', '-d', device, '-o', 'made.bin', 'text-ö.asm', native=native) for native in (True, False)]
            r.check(f'asm {name} {end!r}', made[0].returncode == made[1].returncode == 0, str(made))
            with open(os.path.join(r.folder, 'made.bin'), 'rb') as f:
                windows = f.read()
            linux = r.same('asm', '-d', device, 'text-ö.asm').stdout
            r.check(f'asm {name} {end!r}: bytes', len(windows) > 200 and windows == linux)
            r.same('disasm', '--raw', device, 'made.bin')
    with open(os.path.join(r.folder, 'wrong.asm'), 'wb') as f:
        f.write(b'mov (8|M0) r1.0<1>:d r2.0<8;8,1>:d\r\n  mov (8|M0) r1.0<1>:q0 \xc3\xb6\r\n')
    done = r.same('asm', '-d', 'skl', 'wrong.asm')
    r.check('asm of what is wrong', done.returncode == 1 and b'wrong.asm:2:' in done.stderr, str(done.stderr))


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
        check_debug_paths(r)
        check_console(r)
        check_asm(r)
        check_files(r)
        check_environment(r)
    finally:
        subprocess.run(['wineserver', '-k'], env=r.env, check=False)
        shutil.rmtree(folder)
    print(f'{r.passed} passed, {r.failed} failed, {len(names)} modules')
    return 1 if r.failed or not r.passed else 0


if __name__ == '__main__':
    sys.exit(main())
