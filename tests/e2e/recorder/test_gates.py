#!/usr/bin/env python3
"""Device activity of threads that submit while others wait: a wait proves nothing of what was not yet
submitted, and a submission that is held up holds no other thread up.

Usage: test_gates.py ZESCOPE DRIVER LISTER PROGRAM GATE_DRIVER
"""
import os
import sys
import unittest

from common import Recorder

PROGRAM, GATE_DRIVER = (os.path.abspath(p) for p in sys.argv[4:6])


def setUpModule():
    global recorder
    recorder = Recorder(*sys.argv[1:4])


def tearDownModule():
    recorder.close()


class Gates(unittest.TestCase):
    def executions(self, way):
        """Of appends that were executed: (kind, kernel) -> [with times, without]."""
        env = {'ZE_ENABLE_ALT_DRIVERS': GATE_DRIVER, 'GATE_DRIVER': recorder.driver}
        path, p = recorder.record([], [PROGRAM, way], env=env)
        self.assertTrue(p.stdout.endswith('done\n'))
        starts = [int(words[4]) for words in recorder.lines(path) if words[:2] == ['execute', 'fill']]
        self.assertEqual(len(set(starts)), len(starts), 'timestamps are handed on')
        return recorder.executions(path)

    def test_wait_while_another_thread_submits(self):
        self.assertEqual(self.executions('proof'), {('fill', '-'): [3, 0], ('barrier', '-'): [3, 0]})

    def test_append_while_a_submission_is_held_up(self):
        self.assertEqual(self.executions('held'), {('fill', '-'): [2, 0], ('barrier', '-'): [2, 0]})


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
