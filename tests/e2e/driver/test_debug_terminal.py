#!/usr/bin/env python3
"""zescope debug on a terminal, which pyte plays: what a person types, and what is on the screen then."""
import fcntl
import os
import pty
import select
import signal
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

    def __init__(self, *options, rows=24, columns=100, term='xterm', app=None):
        env = {k: v for k, v in os.environ.items() if not k.startswith('ZESCOPE') or k == 'ZESCOPE_DRIVER'}
        env.update({'TERM': term} if term else {}, LC_ALL='C.UTF-8', NO_COLOR='1')
        if not term:
            env.pop('TERM', None)
        arguments = [ZESCOPE, 'debug', *options, '--', *(app or [NBODY, SPIRV, FLAGS])]
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            time.sleep(0.1)  # until the terminal has its size
            os.execve(ZESCOPE, arguments, env)
        self.screen = pyte.Screen(columns, rows)
        self.stream = pyte.ByteStream(self.screen)
        self.raw = b''
        self.status = None
        self.set_size(rows, columns)

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


class Lines(unittest.TestCase):
    def start(self, *options, **more):
        t = Terminal(*options, **more)
        self.addCleanup(t.__exit__)
        t.until(t.prompted, 'the first prompt')
        return t

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
        t.see('\n{')
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


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
