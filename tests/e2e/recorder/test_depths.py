#!/usr/bin/env python3
"""What recording takes of the stacks of an application's threads, whatever they do.

Usage: test_depths.py ZESCOPE DRIVER LISTER PROGRAM KERNELS
"""
import os
import sys
import unittest

from common import Recorder

PROGRAM, KERNELS = (os.path.abspath(p) for p in sys.argv[4:6])
LIMIT_B = 2048


def setUpModule():
    global recorder, spirv, plain
    recorder = Recorder(*sys.argv[1:4])
    spirv = recorder.spirv(KERNELS)
    plain = depths(recorder.run(PROGRAM, spirv, env=recorder.software()).stdout)


def tearDownModule():
    recorder.close()


def depths(text):
    return {line.split()[0]: int(line.split()[1]) for line in text.splitlines()}


class Depths(unittest.TestCase):
    def check(self, *options, command='record', without=None):
        without = without or plain
        words = ('-o', recorder.new()) if command == 'record' else ()
        p = recorder.run(recorder.zescope, command, *options, *words, '--', PROGRAM, spirv,
                         env=recorder.software())
        more = {name: depth - without[name] for name, depth in depths(p.stdout).items()}
        self.assertEqual(set(more), set(plain))
        self.assertLessEqual(max(more.values()), LIMIT_B, (options, more))

    def test_calls_and_activity(self):
        self.check()

    def test_lines(self):
        self.check('--live', '-')
        self.check('--live', recorder.new() + '.txt')

    def test_trace(self):
        self.check(command='trace')

    def test_modules_alone(self):
        self.check('--no-trace')

    def test_counts(self):
        # the driver itself takes more then
        without = recorder.run(PROGRAM, spirv, env=recorder.software({'ZESCOPE_TIMING': 'model'}))
        self.check('--counts', without=depths(without.stdout))

    def test_backtraces(self):
        self.check('--backtrace')

    def test_metrics(self):
        # the driver itself takes more then
        without = recorder.run(PROGRAM, spirv, env=recorder.software({'ZET_ENABLE_METRICS': '1'}))
        self.check('--metrics', 'ComputeBasic', without=depths(without.stdout))

    def test_instrumented(self):
        self.check('--instrument', 'opcodes')

    def test_pauses(self):
        self.check('--start-at-kernel', 'add', '--stop-after-kernel', 'scale')


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
