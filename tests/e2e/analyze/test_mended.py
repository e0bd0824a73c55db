#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Gains that are told, against what mending the source gains: both kernels run on the software GPU."""
import json
import os
import sys
import tempfile
import unittest

from kinds import Kinds

SOURCE, ZESCOPE, DRIVER, PROGRAM = map(os.path.abspath, sys.argv[1:5])
del sys.argv[1:5]

# name: (groups, size, local memory in bytes, launches), the finding that tells the gain.
PAIRS = {
    'strided': ((84, 256, 0, 1), 'uncoalesced'),
    'divergent': ((42, 256, 0, 1), 'divergence'),
    'conflicts': ((42, 64, 8192, 1), 'bank-conflicts'),
    'private_array': ((42, 64, 0, 1), 'private-arrays'),
    'wide': ((42, 256, 0, 1), 'wide-integers'),
    'imbalance': ((42, 256, 1024, 1), 'barrier-imbalance'),
    'doubles': ((42, 256, 0, 1), 'doubles'),
    'contended': ((42, 256, 0, 1), 'atomic-contention'),
}
# ... on a large device, with as many more groups as fill it
LARGE = {name: ((8 * shape[0], *shape[1:]), rule) for name, (shape, rule) in PAIRS.items()
         if name in ('conflicts', 'private_array', 'imbalance')}


class Mended(unittest.TestCase):
    def test_gains(self):
        self.check(PAIRS, 'skl')

    def test_gains_of_a_large_device(self):
        self.check(LARGE, 'acm-g10')

    def check(self, pairs, device):
        with tempfile.TemporaryDirectory() as folder:
            kinds = Kinds(SOURCE, ZESCOPE, DRIVER, PROGRAM, folder, device)
            shapes = {name + tail: shape for name, (shape, _) in pairs.items() for tail in ('', '_mended')}
            rec = kinds.record('rec', '--counts', '--metrics', 'ZscopeGains', kernels=shapes, **shapes)
            status, out, err = kinds.run('analyze', '--json', '--limit', '0', rec)
            self.assertEqual(status, 0, err)
        kernels = {k['name']: k for k in json.loads(out)['kernels']}
        for name, (_, rule) in pairs.items():
            kernel = kernels[name]
            times = [kernels[n]['quantities']['time_mean'] for n in (name, name + '_mended')]
            times = [t['value'] if isinstance(t, dict) else t for t in times]
            measured = 100 * (1 - times[1] / times[0])
            told = {f['rule']: f['gain'] for f in kernel['findings']}
            with self.subTest(name):
                self.assertEqual(kernel['findings'][0]['rule'], rule, told)
                self.assertLessEqual(abs(told[rule] - measured), measured / 3, told)


if __name__ == '__main__':
    unittest.main()
