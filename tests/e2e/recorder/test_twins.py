#!/usr/bin/env python3
"""Kernels of one name in two modules are told apart, though the second module has the handle of the first.

Usage: test_twins.py ZESCOPE DRIVER LISTER PROGRAM
"""
import json
import os
import sys
import unittest

from common import Recorder

PROGRAM = os.path.abspath(sys.argv[4])
SOURCE = '''kernel void add(global int *x, int n) { int i = get_global_id(0); if (i < n) x[i] += %s; }
kernel void scale(global int *x, int n) { int i = get_global_id(0); if (i < n) x[i] *= 2; }
'''


def setUpModule():
    global recorder, spirvs
    recorder = Recorder(*sys.argv[1:4])
    spirvs = []
    for name, value in (('one', '1'), ('two', '2')):
        path = os.path.join(recorder.folder, name + '.cl')
        with open(path, 'w', encoding='utf-8') as f:
            f.write(SOURCE % value)
        recorder.run('ocloc', 'compile', '-file', path, '-device', 'skl', '-out_dir', recorder.folder)
        spirvs.append(os.path.join(recorder.folder, name + '_Gen9core.spv'))


def tearDownModule():
    recorder.close()


def executed(kernel):
    """How often the kernel's first instruction ran, and its size."""
    column = next((c for c in kernel.get('columns', []) if c['name'] == 'executions'), None)
    return column and column['values'][0]


class Twins(unittest.TestCase):
    def test_rows_and_counts(self):
        path, p = recorder.record(('--counts',), (PROGRAM, *spirvs))
        rows = [k for k in recorder.report(path)['kernels'] if k['name'] == 'add']
        self.assertEqual(sorted(k['count'] for k in rows), [3, 5])
        modules = {k['count']: k['module'] for k in rows}
        self.assertEqual(len(set(modules.values())), 2)
        for module in modules.values():
            self.assertTrue(any(name.startswith(module) for name in os.listdir(path + '/modules')))
        text = recorder.run(recorder.zescope, 'report', '-t', 'kernels', path).stdout
        for module in modules.values():
            self.assertIn(module, text)
        view = json.loads(recorder.run(recorder.zescope, 'annotate', '--json', path).stdout)
        kernels = {k['module']: k for d in view['devices'] for k in d['kernels'] if k['name'] == 'add'}
        self.assertEqual(set(kernels), set(modules.values()))
        # groups of 32 items in SIMD32, 16 or 8: the ratio of launches is that of the first instructions
        threads = {m: 32 // min(k['simd'], 32) * 32 for m, k in kernels.items()}
        for count, module in modules.items():
            self.assertEqual(executed(kernels[module]), count * threads[module], p.stdout)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
