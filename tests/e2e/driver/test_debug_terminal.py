#!/usr/bin/env python3
"""zescope debug on a terminal, which pyte plays: what a person types, and what is on the screen then."""
import fcntl
import os
import pty
import select
import shlex
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

import pyte

ZESCOPE, NBODY, FOLDER, OCLOC = sys.argv[1:5]
FLAGS = '-g -cl-opt-disable'
WORK = tempfile.TemporaryDirectory()
SPIRV = os.path.join(WORK.name, 'nbody_Gen9core.spv')
PROMPT = '(zescope) '
LIMIT_S = 120


def setUpModule():
    subprocess.run([OCLOC, 'compile', '-file', 'nbody.cl', '-device', 'skl', '-options', FLAGS, '-output', 'nbody',
                    '-out_dir', WORK.name], cwd=FOLDER, check=True, stdout=subprocess.DEVNULL, timeout=120)


def tearDownModule():
    WORK.cleanup()


class Terminal:
    """A session, and the screen that it draws."""

    def __init__(self, *options, rows=24, columns=100, term='xterm', app=None, state='state', shell=False, **more):
        env = {k: v for k, v in os.environ.items() if not k.startswith('ZESCOPE') or k == 'ZESCOPE_DRIVER'}
        env.update({'TERM': term} if term else {}, LC_ALL='C.UTF-8', NO_COLOR='1', PS1='$ ',
                   XDG_STATE_HOME=os.path.join(WORK.name, state), **more)
        env.pop('ENV', None)
        if not term:
            env.pop('TERM', None)
        self.arguments = [ZESCOPE, 'debug', *options, '--', *(app or [NBODY, SPIRV, FLAGS])]
        go, started = os.pipe()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.read(go, 1)  # until the terminal has its size
            if shell:
                os.execve('/bin/sh', ['sh', '-i'], env)
            os.execve(ZESCOPE, self.arguments, env)
        self.set_size(rows, columns)
        self.first_modes = termios.tcgetattr(self.fd)
        os.write(started, b'x')
        os.close(go)
        os.close(started)
        self.screen = pyte.Screen(columns, rows)
        self.stream = pyte.ByteStream(self.screen)
        self.raw = b''
        self.status = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.status is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.fd)

    def set_size(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))

    def resize(self, rows, columns):
        self.screen.resize(rows, columns)
        self.set_size(rows, columns)

    def type(self, text):
        os.write(self.fd, text.encode())

    def read(self, seconds):
        """Whether there was something."""
        if not select.select([self.fd], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            data = b''
        if not data:
            self.status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
            return False
        self.raw += data
        self.stream.feed(data)
        return True

    def lines(self):
        return [line.rstrip() for line in self.screen.display]

    def text(self):
        return '\n'.join(self.lines())

    def until(self, condition, what):
        end = time.monotonic() + LIMIT_S
        while not condition():
            if self.status is not None or time.monotonic() > end:
                raise AssertionError(f'{what} was not seen:\n{self.text()}')
            self.read(0.5)
        return self.text()

    def prompted(self):
        """The cursor stands behind an empty prompt."""
        line = self.screen.display[self.screen.cursor.y]
        return line.rstrip() == PROMPT.strip() and self.screen.cursor.x == len(PROMPT)

    def see(self, text):
        return self.until(lambda: text in self.text(), repr(text))

    def do(self, command):
        """Until the prompt is there again, with something written since."""
        before = len(self.raw)
        self.type(command + '\n')
        return self.until(lambda: len(self.raw) > before + len(command) and self.prompted(), 'a prompt after ' + command)

    def end(self):
        self.until_ended()
        return self.status

    def until_ended(self):
        end = time.monotonic() + LIMIT_S
        while self.status is None and time.monotonic() < end:
            self.read(0.5)


class Session(unittest.TestCase):
    def start(self, *options, **more):
        t = Terminal(*options, **more)
        self.addCleanup(t.__exit__)
        t.until(t.prompted, 'the first prompt')
        return t


class Lines(Session):
    def test_editing(self):
        t = self.start()
        self.assertIn(f'`run` starts {NBODY}', t.text().replace('\n', ''))
        t.type('tbre\t')
        t.see(PROMPT + 'tbreak')
        t.type('nbody.cl:29\n')
        t.see('Breakpoint 1 at nbody.cl:29')
        t.do('run')
        self.assertIn('29\t'.expandtabs(), t.text())
        t.type('print acc\t')
        t.see('print acceleration')
        t.type('\n')
        t.see('$1 = {')
        t.until(t.prompted, 'a prompt')
        t.type('\x1b[A')  # what was typed last
        t.see(PROMPT + 'print acceleration')
        t.type('\x15')
        t.until(t.prompted, 'an empty line')
        t.type('info re\t\t')
        t.see('record     registers')
        t.type('\x03')
        t.until(t.prompted, 'a new prompt')
        t.type('q\n')
        self.assertEqual(t.end(), 0)

    def test_pages(self):
        """What is longer than the screen comes by pages; commands of a breakpoint have a prompt of their own."""
        question = '--RET for more, q to quit'
        t = self.start()
        t.type('help\n')
        t.see(question)
        self.assertNotIn(b'undisplay', t.raw)
        t.type('\n')
        t.until(lambda: t.raw.count(question.encode()) == 2, 'the second page')
        t.type('q\n')
        t.until(t.prompted, 'a prompt')
        self.assertNotIn(b'help COMMAND has examples', t.raw)
        t.type('help\n')
        t.until(lambda: t.raw.count(question.encode()) == 3, 'a page')
        t.type('c\n')
        t.until(lambda: b'help COMMAND has examples' in t.raw and t.prompted(), 'all of it')
        t.type('help\n')
        t.until(lambda: t.raw.count(question.encode()) == 4, 'a page')
        t.type('\x03')
        t.until(t.prompted, 'a prompt')
        t.do('set pagination off')
        t.do('help')
        self.assertEqual(t.raw.count(question.encode()), 4)
        t.do('tbreak nbody.cl:29')
        t.type('commands\n')
        t.see('\n>')
        t.type('print me\nend\n')
        t.until(t.prompted, 'a prompt')
        t.type('run\n')
        t.see('\n$1 = ')
        t.until(t.prompted, 'a prompt')
        t.type('q\n')
        self.assertEqual(t.end(), 0)

    def test_interrupt_at_the_prompt(self):
        """The line is given up; what runs next is not stopped by it."""
        for term in ('xterm', 'dumb', None):
            t = self.start(term=term)
            t.type('print nonsense')
            t.see('print nonsense')
            t.type('\x03')
            t.see('^C')
            t.until(t.prompted, 'a new prompt')
            t.do('run')
            self.assertNotIn('nonsense is', t.text())
            self.assertNotIn('Interrupted', t.text())
            self.assertIn('ended with status 0', t.text())
            t.do('next')
            self.assertIn(f'nothing is being debugged: `run` starts {NBODY} again', t.text().replace('\n', ''))
            t.type('\x04')
            self.assertEqual(t.end(), 0)

    def test_interrupt_while_typing(self):
        """What was typed and not yet read is thrown away by the terminal; that it came is not lost."""
        t = self.start()
        for _ in range(30):
            before = len(t.raw)
            t.type('print ' + 'nonsense ' * 7)
            t.type('\x03')
            t.until(lambda: b'^C' in t.raw[before:] and t.prompted(), 'a new prompt')
        self.assertNotIn(b'nothing is being debugged', t.raw)
        t.type('\x04')
        self.assertEqual(t.end(), 0)

    def test_end_typed_ahead(self):
        """Control and D that came while a command ran, when the terminal collected lines."""
        t = self.start()
        t.until(t.prompted, 'a prompt')
        t.type('run\n')
        t.until(lambda: not t.prompted() and t.raw.endswith(b'\n'), 'the line taken')
        t.type('\x04')
        self.assertEqual(t.end(), 0)

    def test_status(self):
        t = self.start(app=['sh', '-c', 'exit 7'])
        t.do('run')
        self.assertIn('ended with status 7', t.text())
        t.type('quit\n')
        self.assertEqual(t.end(), 7)

    def test_resize(self):
        t = self.start()
        t.resize(30, 60)
        t.do('print ' + '1 + ' * 20 + '1')
        self.assertIn('nothing is being debugged', t.text())
        t.type('\x04')
        self.assertEqual(t.end(), 0)


class Kept(Session):
    """Lines that were typed, in later sessions."""

    def lines(self, state):
        path = os.path.join(WORK.name, state, 'zescope', 'debug_history')
        if not os.path.exists(path):
            return None
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)
        with open(path, encoding='utf-8') as f:
            return f.read().splitlines()

    def session(self, *lines, **more):
        t = self.start(app=['true'], **more)
        for line in lines:
            t.do(line)
        t.type('q\n')
        self.assertEqual(t.end(), 0)

    def test_kept(self):
        self.session('info display', 'echo a \u00e4', 'echo a \u00e4', state='kept')
        self.assertEqual(self.lines('kept'), ['info display', 'echo a \u00e4', 'q'])
        t = self.start(app=['true'], state='kept')
        t.type('\x1b[A\x1b[A')
        t.see(PROMPT + 'echo a \u00e4')
        t.type('\x1b[A')
        t.see(PROMPT + 'info display')
        t.type('\n')
        t.until(t.prompted, 'a prompt')
        t.type('q\n')
        self.assertEqual(t.end(), 0)
        self.assertEqual(self.lines('kept')[2:], ['q', 'info display', 'q'])

    def test_not_kept(self):
        t = self.start('--no-history', app=['true'], state='off')
        t.do('echo one')
        t.type('q\n')
        self.assertEqual(t.end(), 0)
        self.session('echo two', state='off', ZESCOPE_DEBUG_HISTORY='0')
        self.assertIsNone(self.lines('off'))
        # what scripts do is not typed
        script = os.path.join(WORK.name, 'script')
        with open(script, 'w', encoding='utf-8') as f:
            f.write('echo three\n')
        with Terminal('--batch', '-x', script, '--eval-command', 'echo four', app=['true'], state='off') as t:
            self.assertEqual(t.end(), 0)
        self.assertIsNone(self.lines('off'))
        t = self.start('-x', script, app=['true'], state='off')
        t.type('q\n')
        self.assertEqual(t.end(), 0)
        self.assertEqual(self.lines('off'), ['q'])

    def test_bounded(self):
        folder = os.path.join(WORK.name, 'many', 'zescope')
        os.makedirs(folder)
        with open(os.path.join(folder, 'debug_history'), 'w', encoding='utf-8') as f:
            f.write(''.join(f'echo {i}\n' for i in range(1500)) + 'echo \x1b]0;title\n' + 'x' * 5000 + '\necho end\n')
        t = self.start(app=['true'], state='many')
        t.type('\x1b[A')
        t.see(PROMPT + 'echo end')
        t.type('\x1b[A')
        t.see(PROMPT + 'echo 1499')
        t.type('\x15q\n')
        self.assertEqual(t.end(), 0)
        kept = self.lines('many')
        self.assertEqual(kept, [f'echo {i}' for i in range(503, 1500)] + ['echo end', 'q'])

    def test_no_place(self):
        """Where nothing can be kept a session is as any other."""
        def large(path):
            with open(path, 'wb') as f:
                f.write(b'x' * (2 << 20))
        for state, make in (('a pipe', os.mkfifo), ('a folder', os.mkdir), ('too much', large), ('a file', None)):
            path = os.path.join(WORK.name, state)
            os.makedirs(path if make else WORK.name, exist_ok=True)
            if make:
                os.mkdir(os.path.join(path, 'zescope'))
                make(os.path.join(path, 'zescope', 'debug_history'))
            else:
                with open(path, 'wb'):
                    pass
            t = self.start(app=['true'], state=state)
            before = t.text()
            self.assertNotIn('history', before)
            t.do('echo one')
            t.type('\x1b[A')
            t.see(PROMPT + 'echo one')
            t.type('\x15q\n')
            self.assertEqual(t.end(), 0)


class Jobs(Session):
    """In a shell that has jobs: Ctrl-Z gives the terminal back, fg draws all again."""

    def begin(self, *options, **more):
        t = Terminal(*options, shell=True, **more)
        self.addCleanup(t.__exit__)
        self.at_shell(t)
        modes = termios.tcgetattr(t.fd)
        t.type(shlex.join(t.arguments) + '\n')
        t.until(t.prompted, 'the first prompt')
        self.edited(t, modes)
        return t, modes

    def edited(self, t, modes):
        """The prompt is there before the modes are: what is typed between them is the terminal's."""
        t.until(lambda: termios.tcgetattr(t.fd) != modes, 'the modes of editing')

    def at_shell(self, t):
        t.until(lambda: t.screen.display[t.screen.cursor.y].rstrip() == '$' and t.screen.cursor.x == 2, "the shell's prompt")

    def stop(self, t, modes):
        t.type('\x1a')
        self.at_shell(t)
        self.assertIn('Stopped', t.text())
        self.assertEqual(termios.tcgetattr(t.fd), modes)

    def test_line(self):
        t, modes = self.begin(app=['true'])
        t.type('echo one')
        t.see(PROMPT + 'echo one')
        self.stop(t, modes)
        t.type('fg\n')
        t.until(lambda: t.screen.display[t.screen.cursor.y].rstrip() == PROMPT + 'echo one', 'the line, again')
        t.type(' two\n')
        t.see('\none two')
        t.until(t.prompted, 'a prompt')
        t.type('q\n')
        self.at_shell(t)

    def test_panes(self):
        other, back = b'\x1b[?1049h', b'\x1b[?1049l'
        t, modes = self.begin()
        t.do('tbreak nbody.cl:29')
        t.do('run')
        t.do('tui enable')
        self.edited(t, modes)
        t.type('print la')
        t.see(PROMPT + 'print la')
        for i in range(2):
            self.stop(t, modes)
            self.assertEqual(t.raw.count(back), i + 1)
            self.assertGreater(t.raw.rindex(back), t.raw.rindex(other))
            if i:
                t.resize(30, 90)
            t.type('fg\n')
            rows = 30 if i else 24
            t.until(lambda: t.lines()[rows * 2 // 3 - 1].startswith(' layout src') and
                    t.screen.display[t.screen.cursor.y].rstrip() == PROMPT + 'print la', 'panes and the line')
            self.assertIn('>   29  ', t.text())
        t.type('ne\n')
        t.until(t.prompted, 'a prompt')
        t.type('q\n')
        self.at_shell(t)
        self.assertEqual(termios.tcgetattr(t.fd), modes)

    def test_running(self):
        """While kernels run; they do, meanwhile."""
        t, modes = self.begin(app=['sleep', '1000'])
        t.do('tui enable')
        t.type('run\n')
        t.until(lambda: termios.tcgetattr(t.fd) == modes, 'the modes of the application')
        time.sleep(0.5)
        self.stop(t, modes)
        self.assertEqual(t.raw.count(b'\x1b[?1049l'), 1)
        t.type('fg\n')
        # the screen of this test does not know the other one: its panes would have been there all the time
        t.until(lambda: t.raw.count(b'\x1b[?1049h') == 2, 'panes')
        t.type('\x03')
        t.until(t.prompted, 'a prompt')
        self.assertIn('Interrupted', t.text())
        t.type('q\n')
        self.at_shell(t)
        self.assertEqual(termios.tcgetattr(t.fd), modes)


class Panes(Session):
    def source_line(self, part):
        with open(os.path.join(FOLDER, 'nbody.cl'), encoding='utf-8') as f:
            return [part in line for line in f].index(True) + 1

    def pane(self, t):
        """What stands above the bar, left and right of the edge."""
        bar = [i for i, line in enumerate(t.lines()) if line.startswith(' layout ')][0]
        rows = [line.split('|', 1) for line in t.screen.display[:bar]]
        return [row[0].rstrip() for row in rows], [row[1].rstrip() for row in rows]

    def current(self, t):
        return [row.split()[1] for row in self.pane(t)[0] if row[1:2] == '>']

    def test_panes(self):
        added = self.source_line('acceleration += sum_of_pulls')
        t = self.start()
        t.do('tui enable')
        self.assertIn('  Nothing is being debugged: `run` starts the application.', self.pane(t)[0])
        t.do(f'break nbody.cl:{added}')
        t.do('run')
        left, right = self.pane(t)
        self.assertEqual(self.current(t), [str(added)])
        self.assertTrue(left[0].endswith('nbody.cl'), left[0])
        self.assertTrue([row for row in left if row.startswith(f'B>   {added}          acceleration += sum_of_pulls(here')], left)
        self.assertTrue([row for row in left if row.startswith(f'     {added - 1}          barrier(')], left)
        self.assertEqual(right[:3], [' thread 1, group 0,0,0', 'nbody_step', 'lanes [0] 1 2 3 4 5 6 7'])
        self.assertIn('acceleration = {0, 0, 0}', right)
        self.assertEqual(len(left), 15)  # of 24 rows a third is for lines
        # what is written below does not touch them
        t.do('next')
        self.assertEqual(self.current(t), [str(added + 1)])
        self.assertNotIn('acceleration = {0, 0, 0}', self.pane(t)[1])
        self.assertTrue([row for row in self.pane(t)[1] if row.startswith('acceleration = {-0.79')])
        t.do('lane 3')
        self.assertIn('lanes  0 1 2[3] 4 5 6 7', self.pane(t)[1])
        self.assertIn('me = 3', self.pane(t)[1])
        t.do('disable 1')
        self.assertTrue([row for row in self.pane(t)[0] if row.startswith(f'b    {added} ')])
        t.do('list 1,33')
        self.assertEqual(self.current(t), [str(added + 1)])
        t.type('\x1b[5~')
        t.until(lambda: not self.current(t), 'the source, scrolled')
        self.assertIn('     16      const uint me = get_global_id(0);', self.pane(t)[0])
        t.type('\x1b[6~')
        t.until(lambda: self.current(t), 'the line, again')

    def test_layouts(self):
        t = self.start('--eval-command', 'tbreak nbody.cl:29', '--eval-command', 'run', '--eval-command', 'layout asm')
        left, _ = self.pane(t)
        self.assertEqual(left[0], ' nbody_step')
        self.assertRegex(self.current(t)[0], r'^\+0x[0-9a-f]+$')
        t.do('layout split')
        self.assertEqual([c[0] for c in self.current(t)], ['2', '+'])
        t.do('layout regs')
        self.assertEqual(self.current(t), ['29'])
        self.assertTrue([row for row in self.pane(t)[1] if row.startswith('r0    ')])
        t.do('layout nonsense')
        self.assertIn('layout src, asm, split, regs or next', t.text())
        t.do('stepi')
        t.do('layout src')
        t.resize(40, 80)
        t.until(lambda: t.lines()[26].startswith(' layout src') and t.prompted(), 'panes of another size')
        self.assertEqual(self.current(t), ['29'])
        t.resize(10, 80)
        t.see('too small')
        t.resize(24, 100)
        t.do('tui enable')
        self.assertEqual(self.current(t), ['29'])
        t.do('continue')
        self.assertIn('ended with status 0', t.text())
        self.assertIn('  Nothing is being debugged: `run` starts the application.', self.pane(t)[0])

    def modes(self, modes):
        return modes[:4] + [[c for i, c in enumerate(modes[6]) if i not in (termios.VMIN, termios.VTIME)]]

    def test_restored(self):
        """The terminal is as it was: by the key, at the end, by signals."""
        other, back, region = b'\x1b[?1049h', b'\x1b[?1049l', b'\x1b[1;24r'
        for leave, status in ((b'\x18a', 0), (b'q\n', 0), (b'\x04', 0), (signal.SIGTERM, -15), (signal.SIGSEGV, -11),
                              (signal.SIGHUP, -1)):
            t = Terminal(app=['true'])
            self.addCleanup(t.__exit__)
            before = self.modes(t.first_modes)
            t.until(t.prompted, 'the first prompt')
            t.until(lambda: self.modes(termios.tcgetattr(t.fd)) != before, 'the modes of editing')
            t.do('tui enable')
            self.assertEqual((t.raw.count(other), t.raw.count(back)), (1, 0))
            if isinstance(leave, bytes):
                os.write(t.fd, leave)
            else:
                os.kill(t.pid, leave)
            t.until(lambda: back in t.raw, f'the other screen after {leave}')
            self.assertGreater(t.raw.index(back), t.raw.rindex(region))
            if leave == b'\x18a':
                t.until(t.prompted, 'a prompt')
                os.write(t.fd, b'q\n')
            t.until_ended()
            self.assertEqual(t.status, status, leave)
            self.assertEqual(t.raw.count(back), 1)
            self.assertEqual(self.modes(termios.tcgetattr(t.fd)), before, leave)

    def test_no_panes(self):
        r = subprocess.run([ZESCOPE, 'debug', '--', 'true'], input='tui enable\nlayout src\ntui disable\nrefresh\n', text=True,
                           env=dict(os.environ, TERM='xterm'), stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=240)
        self.assertEqual(r.stderr, 'no panes can be shown: stdout is no terminal\n' * 2)
        self.assertEqual(r.stdout, '')
        with Terminal('--batch', '--eval-command', 'tui enable') as t:
            self.assertEqual(t.end(), 1)
            self.assertIn('no panes can be shown: with --batch', t.text())
        for more, says in (({'term': 'dumb'}, 'cannot keep a part of its screen'), ({'rows': 8}, 'the terminal has 100 columns and 8'),
                           ({'term': 'nonsense'}, 'TERM names none'), ({'term': None}, 'no panes can be shown: ')):
            t = self.start(app=['true'], **more)
            t.do('tui enable')
            self.assertIn(says, t.text())
            t.type('q\n')
            self.assertEqual(t.end(), 0)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
