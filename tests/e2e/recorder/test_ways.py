#!/usr/bin/env python3
"""Device activity in every way there is, from a program that says how much: nothing is lost, nothing
attributed wrongly, and the application sees what it sees without the recorder.

Usage: test_ways.py ZESCOPE DRIVER LISTER PROGRAM KERNELS
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


class Ways(unittest.TestCase):
    def record(self, way, env=None, options=()):
        """The executions: (kind, kernel) -> count. All have times."""
        plain = recorder.run(PROGRAM, way, spirv, env=recorder.software(env), check=9)
        self.path, p = recorder.record(options, [PROGRAM, way, spirv], env=env)
        self.assertEqual(p.stdout, plain.stdout)
        found = recorder.executions(self.path)
        self.assertEqual(sum(others for _, others in found.values()), 0, found)
        for words in recorder.lines(self.path):
            if words[0] == 'execute' and words[-1] == 'timed':
                submit, start, end = (int(w) for w in words[3:6])
                self.assertLessEqual(submit, start)
                self.assertLessEqual(start, end)
        return {key: timed for key, (timed, _) in found.items()}

    def test_queues(self):
        found = self.record('queues', env={'ZESCOPE_DEVICES': 'skl,skl'})
        self.assertEqual(found, {('copy', '-'): 6, ('barrier', '-'): 2})
        copies = recorder.report(self.path)['copies']
        self.assertEqual(sum(c['total_B'] for c in copies), 6 * 512)
        self.assertEqual({c['direction'] for c in copies}, {'shared-to-shared'})

    def test_images(self):
        self.assertEqual(self.record('images'), {('copy', '-'): 4})
        copies = {c['direction']: (c['count'], c['total_B'])
                  for c in recorder.report(self.path)['copies']}
        self.assertEqual(copies, {'shared-to-image': (1, 512), 'image-to-image': (2, 512 + 32),
                                  'image-to-shared': (1, 512)})

    def test_launches(self):
        self.assertEqual(self.record('launches'), {('kernel', 'add'): 4})
        rows = {tuple(k['groups'] or ()): k['count'] for k in recorder.report(self.path)['kernels']}
        self.assertEqual(rows, {(4, 1, 1): 1, (): 3})

    def test_events(self):
        found = self.record('events')
        self.assertEqual(found, {('kernel', 'add'): 9, ('barrier', '-'): 9})

    def test_threads(self):
        self.assertEqual(self.record('threads'), {('barrier', '-'): 40})

    def test_forks(self):
        found = self.record('forks')
        self.assertEqual(found, {('kernel', 'add'): 3, ('barrier', '-'): 3 + 2 + 40})

    def test_disorder(self):
        self.assertEqual(self.record('disorder'), {('barrier', '-'): 1})

    def test_opened(self):
        self.assertEqual(self.record('opened'), {('barrier', '-'): 1})


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
