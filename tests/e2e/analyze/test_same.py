#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A kernel's times and counts are the same whoever runs it: alone; with other devices; in contexts of several threads at
once, on one device and on two; on one host core.

Usage: test_same.py KINDS_CL ZESCOPE DRIVER PROGRAM
"""
import json
import os
import sys
import tempfile
import unittest

from kinds import Kinds

SOURCE, ZESCOPE, DRIVER, PROGRAM = map(os.path.abspath, sys.argv[1:5])
del sys.argv[1:]
KERNELS = ('clean', 'strided', 'divergent', 'scattered', 'imbalanced', 'contended', 'chased', 'spilling')
TICK_NS = 84


class Same(unittest.TestCase):
    def test_whoever_runs_it(self):
        with tempfile.TemporaryDirectory() as folder:
            kinds = Kinds(SOURCE, ZESCOPE, DRIVER, PROGRAM, folder)
            shapes = {'clean': (42, 256, 0, 1)}  # launched once: what a launch leaves the next one may see

            def numbers(name, devices, clients):
                kinds.env.update(ZESCOPE_DEVICES=devices, CLIENTS=str(clients))
                status, out, err = kinds.run('analyze', '--json', '--limit', '0', kinds.record(name, '--counts', kernels=KERNELS, **shapes))
                self.assertEqual(status, 0, err)
                kernels = json.loads(out)['kernels']
                self.assertEqual({k['name'] for k in kernels}, set(KERNELS))
                self.assertEqual(sum(k['quantities']['launches'] for k in kernels), clients * len(KERNELS))
                return kernels

            alone = {k['name']: k['quantities'] for k in numbers('alone', 'skl', 1)}
            others = [numbers('devices', 'skl,skl', 1), numbers('contexts', 'skl', 4), numbers('both', 'skl,skl', 4)]
            cores = os.sched_getaffinity(0)
            os.sched_setaffinity(0, {min(cores)})
            others.append(numbers('core', 'skl', 3))
            os.sched_setaffinity(0, cores)
            for kernel in sum(others, []):
                of, q = alone[kernel['name']], kernel['quantities']
                with self.subTest(kernel['name']):
                    for time in ('time_min', 'time_max'):
                        self.assertLessEqual(abs(q[time] - of[time]), TICK_NS, time)
                    for count in ('instructions', 'lanes', 'global_read', 'global_written', 'messages', 'atomics', 'threads'):
                        self.assertEqual(q[count], of[count] * q['launches'], count)


if __name__ == '__main__':
    unittest.main()
