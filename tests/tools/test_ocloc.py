"""tests/tools/ocloc: hangs and crashes are tried again, everything else is passed on."""
import os
import stat
import subprocess
import sys
import tempfile
import unittest

TOOL = sys.argv.pop(1)


class Ocloc(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def run_as(self, script):
        """The tool over an ocloc that does this; "$n" counts its runs, from 1."""
        path = os.path.join(self.folder, 'ocloc')
        with open(path, 'w', encoding='utf-8') as f:
            f.write(f'#!/bin/sh\necho run >>{self.folder}/runs\nn=$(wc -l <{self.folder}/runs)\n{script}\n')
        os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
        path = ':'.join((os.path.dirname(TOOL), self.folder, os.environ['PATH']))
        done = subprocess.run([TOOL, 'compile', 'a b'], capture_output=True, text=True, check=False,
                              env=dict(os.environ, PATH=path, ZS_TEST_OCLOC_LIMITS='1 1 1'))
        with open(os.path.join(self.folder, 'runs'), encoding='utf-8') as f:
            return done.returncode, len(f.readlines()), done.stdout

    def test_passes_on(self):
        self.assertEqual(self.run_as('echo "$2"'), (0, 1, 'a b\n'))

    def test_refusal(self):
        self.assertEqual(self.run_as('exit 11'), (11, 1, ''))

    def test_crash(self):
        self.assertEqual(self.run_as('[ $n = 3 ] || kill -ABRT $$; echo made'), (0, 3, 'made\n'))

    def test_hang(self):
        self.assertEqual(self.run_as('[ $n = 2 ] || exec sleep 100; echo made'), (0, 2, 'made\n'))

    def test_always(self):
        self.assertEqual(self.run_as('kill -SEGV $$'), (139, 3, ''))


unittest.main()
