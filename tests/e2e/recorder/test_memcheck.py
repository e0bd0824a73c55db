#!/usr/bin/env python3
"""Recorded programs under Valgrind's memcheck: nobody reads memory of theirs before it is written.

Usage: test_memcheck.py ZESCOPE DRIVER LISTER VALGRIND UNWRITTEN ACTIVITY KERNELS [TEST...]
"""
import glob
import os
import re
import sys
import unittest

from common import Recorder

VALGRIND, UNWRITTEN, ACTIVITY, KERNELS = (os.path.abspath(p) for p in sys.argv[4:8])


def setUpModule():
    global recorder, spirv
    recorder = Recorder(*sys.argv[1:4])
    spirv = recorder.spirv(KERNELS)


def tearDownModule():
    recorder.close()


class Memcheck(unittest.TestCase):
    def errors(self, options, *app):
        """What memcheck says of the application's processes, and the number of their calls."""
        name = recorder.new()
        path, _ = recorder.record(options, [VALGRIND, '-q', '--error-exitcode=99', '--exit-on-first-error=no',
                                            f'--log-file={name}.%p', *app], check=None)
        said = ''
        for log in glob.glob(f'{name}.*'):
            with open(log, encoding='utf-8', errors='replace') as f:
                said += f.read()
        report = recorder.report(path)
        self.assertEqual(report['damaged_files'], 0)
        return said, {c['name']: c['count'] for c in report['calls']}

    def check_clean(self, options, *app):
        said, counts = self.errors(options, *app)
        self.assertEqual(re.findall(r'(?:Conditional jump|Use of uninit|Syscall param|Invalid ).*', said), [], said)
        self.assertGreater(counts['zeCommandListAppendLaunchKernel'], 0)
        return counts

    def test_memory_as_malloc_gives_it(self):
        counts = self.check_clean([], UNWRITTEN, 'out', spirv)
        self.assertEqual(counts['zeKernelGetName'], 3)

    def test_with_backtraces(self):
        self.check_clean(['--backtrace'], UNWRITTEN, 'out', spirv)

    def test_events_and_lists(self):
        self.check_clean([], ACTIVITY, spirv)

    def test_the_check_finds_something(self):
        """A number that the program never wrote is seen where it is recorded."""
        said, _ = self.errors([], UNWRITTEN, 'in', spirv)
        self.assertRegex(said, r'uninitialised value(.|\n)*zs_codec_encode')


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1] + sys.argv[8:])
