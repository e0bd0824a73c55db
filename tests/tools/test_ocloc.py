"""tests/tools/ocloc: hangs and crashes are tried again, everything else is passed on. With ZS_TEST_OCLOC_KEPT
nothing is compiled twice that is the same."""
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
        self.environ = {k: v for k, v in os.environ.items() if k != 'ZS_TEST_OCLOC_KEPT'}

    def run_as(self, script, limits='100 100 100', words=('a b',), **env):
        """The tool over an ocloc that does this; "$n" counts its runs, from 1."""
        path = os.path.join(self.folder, 'ocloc')
        with open(path, 'w', encoding='utf-8') as f:
            f.write(f'#!/bin/sh\necho run >>{self.folder}/runs\nn=$(wc -l <{self.folder}/runs)\n{script}\n')
        os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
        path = ':'.join((os.path.dirname(TOOL), self.folder, os.environ['PATH']))
        done = subprocess.run([TOOL, 'compile', *words], capture_output=True, text=True, check=False,
                              cwd=self.folder,
                              env=dict(self.environ, PATH=path, ZS_TEST_OCLOC_LIMITS=limits, **env))
        with open(os.path.join(self.folder, 'runs'), encoding='utf-8') as f:
            return done.returncode, len(f.readlines()), done.stdout

    def test_passes_on(self):
        self.assertEqual(self.run_as('echo "$2"'), (0, 1, 'a b\n'))

    def test_refusal(self):
        self.assertEqual(self.run_as('exit 11'), (11, 1, ''))

    def test_build_that_fails(self):
        self.assertEqual(self.run_as('exit 245'), (245, 1, ''))

    def test_crash(self):
        self.assertEqual(self.run_as('[ $n = 3 ] || kill -ABRT $$; echo made'), (0, 3, 'made\n'))

    def test_hang(self):
        self.assertEqual(self.run_as('[ $n = 2 ] || exec sleep 100; echo made', '1 100 100'), (0, 2, 'made\n'))

    def test_always(self):
        self.assertEqual(self.run_as('kill -SEGV $$'), (139, 3, ''))


# makes OUTPUT.bin of a file and says so; fails, and tells where it is, if the file's text says so
MAKES = """#!/bin/sh
echo run >>RUNS
while [ $# -gt 0 ]; do
    case $1 in
    -file) file=$2 ;;
    -out_dir) folder=$2 ;;
    -output) name=$2 ;;
    esac
    shift
done
[ -f "$file" ] || exit 1
cat "$file" >"${folder:-.}/$name.bin"
grep -q where "$file" && pwd >>"${folder:-.}/$name.bin"
echo "made $name"
! grep -q fail "$file"
"""


class Kept(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.runs = self.path('runs')
        self.write('ocloc', MAKES.replace('RUNS', self.runs))
        self.write('runs', '')
        os.chmod(self.path('ocloc'), 0o755)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), 'w', encoding='utf-8') as f:
            f.write(text)

    def make(self, text, *more, output='to/k', place='.', **env):
        """How often the compiler has run after this; what is made is always the same."""
        where = os.path.normpath(self.path(place))
        os.makedirs(os.path.join(where, 'to'), exist_ok=True)
        self.write(os.path.join(where, 'one.cl'), text)
        path = ':'.join((os.path.dirname(TOOL), self.folder, os.environ['PATH']))
        done = subprocess.run([TOOL, 'compile', '-file', 'one.cl', *more, '-output', output], capture_output=True,
                              text=True, check=False, cwd=where,
                              env=dict(os.environ, PATH=path, ZS_TEST_OCLOC_KEPT=self.path('kept'), **env))
        self.assertEqual(done.returncode, 'fail' in text)
        self.assertRegex(done.stdout, r'^made (to/)?k\n$')
        made = os.path.join(where, 'to/k.bin')
        with open(made, encoding='utf-8') as f:
            self.assertEqual(f.read(), text + (where + '\n' if 'where' in text else ''))
        os.unlink(made)
        with open(self.runs, encoding='utf-8') as f:
            return len(f.readlines())

    def test_once(self):
        for output in 'to/k', 'k':
            folder = [] if '/' in output else ['-out_dir', 'to']
            self.assertEqual(self.make('a', *folder, output=output), 1)
        self.assertEqual(self.make('b'), 2)
        self.assertEqual(self.make('b', '-options', '-cl-opt-disable'), 3)
        self.assertEqual(self.make('b', IGC_UseMTInLLD='1'), 4)
        self.assertEqual(self.make('b'), 4)

    def test_includes(self):
        self.write('x.h', '1')
        self.assertEqual([self.make('#include "x.h"') for _ in range(2)], [1, 1])
        self.write('x.h', '2')
        self.assertEqual([self.make('#include "x.h"') for _ in range(2)], [2, 2])

    def test_not_kept(self):
        """What failed, says in which temporary folder, or has more to show."""
        self.assertEqual([self.make('fail') for _ in range(2)], [1, 2])
        self.assertEqual([self.make('where') for _ in range(2)], [3, 4])
        self.assertEqual([self.make('a', IGC_ShaderDumpEnable='1') for _ in range(2)], [5, 6])

    def test_placed(self):
        """What says where it was made is kept for the same file."""
        os.mkdir(self.path('temporary'))

        def make(place):
            return self.make('where', place=place, TMPDIR=self.path('temporary'))

        self.assertEqual([make('x'), make('x'), make('y'), make('x'), make('y')], [1, 1, 2, 2, 2])
        for kept in self.kept():
            with open(os.path.join(kept, 'where'), encoding='utf-8') as f:
                self.assertIn(f.read(), (self.path('x'), self.path('y')))

    def kept(self):
        return [os.path.join(self.path('kept'), name) for name in os.listdir(self.path('kept'))]

    def test_damaged(self):
        """What is not what was kept is compiled again."""
        self.assertEqual(self.make('a'), 1)
        with open(os.path.join(self.kept()[0], 'files', 'k.bin'), 'a', encoding='utf-8') as f:
            f.write('more')
        self.assertEqual([self.make('a') for _ in range(2)], [2, 2])
        os.unlink(os.path.join(self.kept()[0], 'sum'))
        self.assertEqual([self.make('a') for _ in range(2)], [3, 3])

    def test_limit(self):
        """Beyond the limit what was not used for longest goes."""
        half = 'x' * (600 << 10)
        self.assertEqual([self.make(half), self.make('second')], [1, 2])
        for kept in self.kept():
            os.utime(kept, (1000, 1000))
        self.assertEqual(self.make('second'), 2)
        texts = iter(range(1000))
        while self.make(f'{half} {next(texts)}', ZS_TEST_OCLOC_KEPT_MB='1') and \
                any(os.stat(kept).st_mtime == 1000 for kept in self.kept()):
            pass
        runs = self.make('second')
        self.assertEqual(self.make(half), runs + 1)
        self.assertEqual(self.make('second'), runs + 1)

    def test_another_compiler(self):
        self.assertEqual(self.make('a'), 1)
        with open(self.path('ocloc'), 'a', encoding='utf-8') as f:
            f.write('true\n')
        self.assertEqual(self.make('a'), 2)


unittest.main()
