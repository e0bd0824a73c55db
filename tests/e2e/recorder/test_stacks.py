#!/usr/bin/env python3
"""Backtraces of calls whose places are known.

Usage: test_stacks.py ZESCOPE DRIVER LISTER STACK_LISTER PROGRAM LIBRARY
"""
import glob
import os
import re
import sys
import unittest

from common import Recorder

STACKS, PROGRAM, LIBRARY = (os.path.abspath(p) for p in sys.argv[4:7])


def setUpModule():
    global recorder, path
    recorder = Recorder(*sys.argv[1:4])
    path, _ = recorder.record(['--backtrace'], [PROGRAM, LIBRARY])


def tearDownModule():
    recorder.close()


def stacks(call):
    return recorder.run(STACKS, path, call).stdout.splitlines()


def line_of(text, file='stacks.c'):
    with open(os.path.join(os.path.dirname(__file__), file), encoding='utf-8') as f:
        return next(i for i, line in enumerate(f, 1) if text in line)


class Stacks(unittest.TestCase):
    def check_places(self):
        free = stacks('zeMemFree')
        self.assertEqual(len(free), 4)
        place = f'outer_function at stacks.c:{line_of("app_alloc is inlined")} | '
        for line in free:
            self.assertTrue(line.startswith(place), line)
        mains = [re.search(r'main at stacks\.c:(\d+)', line) for line in free]
        self.assertEqual({int(m[1]) for m in mains if m}, {line_of('        outer_function();')})
        self.assertEqual(sum(m is not None for m in mains), 3)
        self.assertEqual(sum('in_thread at stacks.c' in line for line in free), 1)

    def test_places(self):
        self.check_places()

    def test_inlined(self):
        first = stacks('zeMemAllocShared')[0].split(' | ')
        self.assertTrue(first[0].startswith('app_alloc at app.h:'), first)
        self.assertTrue(first[0].endswith('(inlined)'), first)
        self.assertEqual(first[1], f'outer_function at stacks.c:{line_of("app_alloc is inlined")}')

    def test_through_libraries(self):
        line = stacks('zeDeviceGetCacheProperties')[0]
        self.assertRegex(line, r'^by_qsort at stacks\.c:\d+ \| .* \| main at stacks\.c')
        line = stacks('zeDeviceGetMemoryProperties')[0]
        self.assertRegex(line, r'^call_from_library at stacks_library\.c:\d+ \| main at stacks\.c')

    def test_frames_of_tracing_are_not_shown(self):
        for call in ('zeInit', 'zeDriverGet', 'zeMemFree'):
            for line in stacks(call):
                self.assertNotRegex(line, 'libzescope|on_call|in_ze')

    def test_without_kept_symbols(self):
        kept = glob.glob(os.path.join(path, 'trace', '*.symbols'))
        self.assertEqual(len(kept), 1)
        os.rename(kept[0], kept[0] + '.away')
        try:
            self.check_places()
            self.test_inlined()
        finally:
            os.rename(kept[0] + '.away', kept[0])

    def test_off_by_default(self):
        plain, _ = recorder.record([], [PROGRAM, LIBRARY])
        self.assertEqual(recorder.run(STACKS, plain, 'zeMemFree').stdout, '\n' * 4)
        self.assertEqual(glob.glob(os.path.join(plain, 'trace', '*.maps')), [])
        self.assertEqual(recorder.counts(plain), recorder.counts(path))


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
