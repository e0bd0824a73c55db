#!/usr/bin/env python3
"""Calls of later specifications than the installed headers are recorded, and what devices do for a program
that submits and waits with them alone.

Usage: test_later.py ZESCOPE DRIVER LISTER PROGRAM KERNELS
"""
import os
import sys
import unittest

from common import Recorder

PROGRAM, KERNELS = (os.path.abspath(p) for p in sys.argv[4:6])


def setUpModule():
    global recorder, spirv
    recorder = Recorder(*sys.argv[1:4])
    spirv = recorder.spirv(KERNELS)


def tearDownModule():
    recorder.close()


class Later(unittest.TestCase):
    def test_without_a_recorder(self):
        p = recorder.run(PROGRAM, recorder.driver, spirv, env=recorder.software(), check=9)
        self.assertEqual(p.stdout, 'ordinal 0\n')

    def test_recorded(self):
        path, p = recorder.record((), (PROGRAM, recorder.driver, spirv))
        self.assertEqual(p.stdout, 'ordinal 0\n')
        counts = recorder.counts(path)
        self.assertEqual(counts['zeCommandListHostSynchronize'], 7)
        self.assertEqual(counts['zeCommandListImmediateAppendCommandListsExp'], 4)
        self.assertEqual(recorder.executions(path), {('kernel', 'add'): [3, 0], ('kernel', 'scale'): [8, 0]})
        log = recorder.run(recorder.zescope, 'log', path).stdout
        self.assertIn('numCommandLists = 1, phCommandLists = 0x', log)
        self.assertIn('timeout = 18446744073709551615', log)
        self.assertIn('pOrdinal = 0)', log)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
