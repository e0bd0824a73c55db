#!/usr/bin/env python3
"""The recorder and the descriptors of its application: none is kept, none of the application's is
touched; where there are none, or no folder, what is lost is told.

Usage: test_descriptors.py ZESCOPE DRIVER LISTER PROGRAM
"""
import glob
import json
import os
import sys
import unittest

from common import Recorder

PROGRAM = os.path.abspath(sys.argv[4])
CALLS = 12000
TOTAL = 7 * CALLS # twice main's and its thread's, thrice in the child


def setUpModule():
    global recorder
    recorder = Recorder(*sys.argv[1:4])


def tearDownModule():
    recorder.close()


class Descriptors(unittest.TestCase):
    def app(self, how, *more, calls=CALLS):
        folder = recorder.new() + '.own'
        os.mkdir(folder)
        return [PROGRAM, folder, str(calls), how, *more]

    def test_files_of_the_application(self):
        """Closed and opened anew: files stay what they were, and no call is lost."""
        path, p = recorder.record([], self.app('files'))
        self.assertEqual(p.stdout, 'made all calls\n')
        counts = recorder.counts(path)
        self.assertEqual((counts['zeMemAllocHost'], counts['zeMemFree']), (TOTAL, TOTAL))
        self.assertEqual(recorder.report(path)['lost_calls'], 0)

    def test_with_backtraces_and_counts(self):
        path, p = recorder.record(['--backtrace', '--counts'], self.app('files', calls=2000))
        self.assertEqual(p.stdout, 'made all calls\n')
        self.assertEqual(recorder.counts(path)['zeMemFree'], 7 * 2000)

    def test_live_lines_into_a_file(self):
        """All of them, relative to where the command was started."""
        lines = os.path.join(recorder.folder, 'lines')
        p = recorder.run(recorder.zescope, 'trace', '-o', 'lines', '-i', 'zeMemFree', '--',
                         *self.app('files', calls=300), env=recorder.software(), check=9,
                         cwd=recorder.folder)
        self.assertEqual(p.stdout, 'made all calls\n')
        with open(lines, encoding='utf-8') as f:
            self.assertEqual(len(f.readlines()), 7 * 300)

    def test_live_lines_on_stderr(self):
        """Another file became the application's standard error: it gets no line of ours."""
        p = recorder.run(recorder.zescope, 'trace', '-i', 'zeMemFree', '--',
                         *self.app('stderr', calls=300), env=recorder.software(), check=9)
        self.assertEqual(p.stdout, 'made all calls\n')
        self.assertEqual(p.stderr.count('zeMemFree('), 2 * 300)

    def modules_in(self, path):
        events = []
        for name in glob.glob(os.path.join(path, 'process', '*', 'modules.jsonl')):
            with open(name, encoding='utf-8') as f:
                events += [json.loads(line)['event'] for line in f]
        return events

    def test_no_descriptors(self):
        """A child that can open nothing: what it builds is counted as lost."""
        _, p = recorder.record([], self.app('none', calls=100))
        self.assertEqual(p.stdout, 'made all calls\n')
        self.assertRegex(p.stderr, r'lost: [1-9]\d* module')

    def test_no_folder(self):
        """A child that cannot make its trace: its modules are captured all the same."""
        trace = os.path.join(recorder.folder, f'rec{recorder.number + 2}', 'trace')
        path, p = recorder.record([], self.app('no-folder', trace, calls=100), cwd=recorder.folder)
        self.assertEqual(p.stdout, 'made all calls\n')
        self.assertEqual(self.modules_in(path), ['begin', 'end'])


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
