#!/usr/bin/env python3
"""Processes that come and go in unusual ways: what they did is recorded, nothing is counted twice, and
none of them is harmed.

Usage: test_processes.py ZESCOPE DRIVER LISTER PROGRAM LIBRARY KERNELS
"""
import os
import shutil
import subprocess
import sys
import time
import unittest

from common import Recorder

# a program without the loader
OPENS = '''
import ctypes, os, sys
library = ctypes.CDLL(sys.argv[1], mode=os.RTLD_NOW | os.RTLD_LOCAL | os.RTLD_DEEPBIND)
words = [w.encode() for w in ('program', 'here', sys.argv[2])]
sys.exit(library.run(3, (ctypes.c_char_p * 4)(*words, None)))
'''
PROGRAM, LIBRARY, KERNELS = (os.path.abspath(p) for p in sys.argv[4:7])


def setUpModule():
    global recorder, spirv
    recorder = Recorder(*sys.argv[1:4])
    spirv = recorder.spirv(KERNELS)


def tearDownModule():
    recorder.close()


def wait_for(path):
    while not os.path.exists(path):
        time.sleep(0.01)


def instrumented(text):
    """Executions of the first row of `zescope instrument opcodes`."""
    return int(text.splitlines()[1].split()[2])


class Processes(unittest.TestCase):
    def record(self, *words, options=(), check=0, env=None):
        path, self.said = recorder.record(options, words, check=check, env=env)
        return path

    def kernels(self, path):
        return {k['name']: k['count'] for k in recorder.report(path)['kernels']}

    def outliving(self, command, *options):
        """How it ended that the application left behind."""
        folder = recorder.new()
        os.mkdir(folder)
        status = os.path.join(folder, 'status')
        script = f'("$0" outlive "$1" {folder}; echo $? >{status}.new; mv {status}.new {status}) ' \
                 f'>/dev/null 2>&1 & until [ -s {folder}/ready ]; do sleep 0.01; done'
        recorder.run(recorder.zescope, *command, *options, '--', 'sh', '-c', script, PROGRAM, spirv,
                     env=recorder.software({'TMPDIR': folder}))
        open(os.path.join(folder, 'go'), 'w', encoding='utf-8').close()
        wait_for(status)
        with open(status, encoding='utf-8') as f:
            self.assertEqual(f.read(), '0\n')
        with open(os.path.join(folder, 'done'), encoding='utf-8') as f:
            self.assertEqual(f.read(), '3010\n')

    def test_outlives_record(self):
        path = recorder.new()
        self.outliving(('record', '--no-last'), '-o', path)
        self.assertEqual(self.kernels(path), {'add': 3010})

    def test_outlives_trace(self):
        self.outliving(('trace', '-o', recorder.new()))

    def test_trace_keeps_nothing(self):
        """... in the temporary folder, however long the application runs."""
        folder, lines = recorder.new(), recorder.new()
        os.mkdir(folder)
        script = f'"$0" again "$1" 3; cd {folder} && find . -type f -size +4k | wc -l; ' \
                 'find . -type f | wc -l; find . -name "*.pftrace" -o -name "*.bin" | wc -l'
        p = recorder.run(recorder.zescope, 'trace', '-o', lines, '--', 'sh', '-c', script, PROGRAM,
                         spirv, env=recorder.software({'TMPDIR': folder}))
        large, files, traces = (int(n) for n in p.stdout.split())
        self.assertEqual((large, traces), (0, 0))
        self.assertGreater(files, 0)
        with open(lines, encoding='utf-8') as f:
            calls = sum('zeCommandListAppendLaunchKernel(' in line for line in f)
        self.assertEqual(calls, 1020)
        self.assertEqual(os.listdir(folder), [])

    def test_executes_itself_again(self):
        path = self.record(PROGRAM, 'again', spirv, '3', options=('--counts',))
        self.assertEqual(self.kernels(path), {'add': 1020})
        listing = recorder.run(recorder.zescope, 'annotate', '-k', 'add', path, check=None).stdout
        self.assertEqual(len(os.listdir(os.path.join(path, 'counts'))), 3, listing)
        judged = recorder.run(recorder.zescope, 'check', '--min', 'launches=1020', '--max',
                              'launches=1020', path, check=None)
        self.assertEqual(judged.returncode, 0, judged.stdout + judged.stderr)

    def instrument(self, *app):
        path = recorder.new()
        p = recorder.run(recorder.zescope, 'instrument', '-o', path, 'opcodes', '--', *app,
                         env=recorder.software())
        return path, instrumented(p.stdout)

    def test_instrumented_again(self):
        _, once = self.instrument(PROGRAM, 'again', spirv, '1')
        path, thrice = self.instrument(PROGRAM, 'again', spirv, '3')
        self.assertEqual(thrice, 3 * once)
        names = [n for n in os.listdir(os.path.join(path, 'instrument')) if n.endswith('.data')]
        self.assertEqual(len(names), 3)

    def test_namespaces_with_the_same_pids(self):
        space = ['unshare', '-p', '-f', '-U', '-r']
        if subprocess.run([*space, 'true'], capture_output=True, check=False).returncode:
            space = ['unshare', '-p', '-f']
        self.assertTrue(shutil.which('unshare'))
        if subprocess.run([*space, 'true'], capture_output=True, check=False).returncode:
            raise unittest.SkipTest('no namespaces of process ids here')
        words = ' '.join(space)
        script = f'for i in 1 2 3; do {words} "$0" again "$1" 1 & done; wait'
        path = self.record('sh', '-c', script, PROGRAM, spirv, options=('--counts',))
        self.assertEqual(self.kernels(path), {'add': 1020})
        self.assertEqual(len(os.listdir(os.path.join(path, 'counts'))), 3)
        judged = recorder.run(recorder.zescope, 'check', '--min', 'launches=1020', path, check=None)
        self.assertEqual(judged.returncode, 0, judged.stdout + judged.stderr)

    def test_children_by_hand(self):
        for how in ('clone', 'fork'):
            for calls in (0, 5000):
                with self.subTest(how=how, calls=calls):
                    path = self.record(PROGRAM, 'raw', spirv, how, str(calls))
                    self.assertEqual(self.said.stdout, '0 1040\n')
                    self.assertEqual(self.kernels(path), {'add': 1040})
                    counts = recorder.counts(path)
                    self.assertEqual(counts['zeCommandListAppendLaunchKernel'], 1040)
                    self.assertEqual(counts.get('zeMemGetAllocProperties', 0), calls)

    def test_deep_bindings(self):
        where = os.path.dirname(LIBRARY)
        for name, env in ((LIBRARY, {}), (os.path.basename(LIBRARY), {'LD_LIBRARY_PATH': where})):
            with self.subTest(name=name):
                path = self.record(sys.executable, '-c', OPENS, name, spirv, env=env)
                self.assertEqual(self.kernels(path), {'add': 10})
                self.assertEqual(recorder.counts(path)['zeCommandListAppendLaunchKernel'], 10)

    def memory_of_view(self, path):
        """Bytes that showing the metrics of a recording takes at most."""
        view = os.posix_spawn(recorder.zescope, [recorder.zescope, 'metrics', 'show', path], os.environ,
                              file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])
        _, status, usage = os.wait4(view, 0)
        self.assertEqual(status, 0)
        return usage.ru_maxrss * 1024

    def test_views_of_many_launches(self):
        """What views hold does not grow with launches."""
        few, many = 2000, 32000
        memory = [self.memory_of_view(self.record(PROGRAM, 'many', spirv, str(count), options=(
            '--metrics', 'ComputeBasic'))) for count in (few, many)]
        self.assertLess(memory[1] - memory[0], 6 << 20) # 48 MB in arrays

    def test_other_spaces_are_told(self):
        self.record(PROGRAM, 'spaced', spirv)
        self.assertIn('libze_loader.so.1 was opened with dlmopen', self.said.stderr)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
