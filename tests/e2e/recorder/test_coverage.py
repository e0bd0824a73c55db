#!/usr/bin/env python3
"""Every function that the loader exports passes the layer and is recorded in pairs, on the software
GPU and on Intel's driver without a GPU.

Usage: test_coverage.py ZESCOPE DRIVER LISTER PROGRAM LAYER WAYS KERNELS
"""
import glob
import os
import re
import subprocess
import sys
import unittest

from common import Recorder

PROGRAM, LAYER, WAYS, KERNELS = (os.path.abspath(p) for p in sys.argv[4:8])
VALIDATION = {'ZE_ENABLE_VALIDATION_LAYER': '1', 'ZE_ENABLE_PARAMETER_VALIDATION': '1'}
INTEL = dict(variable.split('=', 1) for variable in os.environ['ZS_TEST_INTEL'].split())


def exports(path):
    p = subprocess.run(['nm', '-D', '--defined-only', path], capture_output=True, text=True, check=True)
    names = (line.split()[-1].split('@')[0] for line in p.stdout.splitlines())
    # zeLoaderInit and its kin are the loader's own, no calls of the API
    return sorted(name for name in names if re.match(r'(ze|zet|zes)(?!Loader)[A-Z]', name))


def setUpModule():
    global recorder, loader
    recorder = Recorder(*sys.argv[1:4])
    p = subprocess.run(['ldd', PROGRAM], capture_output=True, text=True, check=True)
    loader = re.search(r'=> (\S*libze_loader\S*)', p.stdout)[1]


def tearDownModule():
    recorder.close()


class Coverage(unittest.TestCase):
    def test_tables(self):
        known = [name for name in exports(LAYER) if name.endswith('ProcAddrTable')]
        # tables of later specifications than the loader's are known, too
        self.assertGreater(len(known), 70)

    def check_all(self, env, dies=()):
        names = [name for name in exports(loader) if not name.endswith('ProcAddrTable') and name not in dies]
        path = recorder.new()
        p = recorder.run(recorder.zescope, 'record', '-o', path, '--', PROGRAM, check=9,
                         env=dict(env, **VALIDATION), input='\n'.join(names) + '\n',
                         cwd=recorder.folder)
        results = dict(line.split() for line in p.stdout.splitlines() if ' ' in line
                       and line != 'no driver')
        self.assertEqual(sorted(results), names)
        report = recorder.report(path)
        self.assertEqual((report['lost_calls'], report['damaged_files']), (0, 0))
        found = {c['name']: c for c in report['calls']}
        self.assertEqual([name for name in names if name not in found], [])
        for name, call in found.items():
            self.assertEqual(call['unfinished'], 0, name)
            if name in results and name != 'zeInit':
                self.assertEqual(call['count'], 1, name)
                self.assertEqual(call['failed'], int(results[name] != '0'), name)
        log = recorder.run(recorder.zescope, 'log', path).stdout
        for name in found:
            self.assertIn(f' {name}(', log)

    def test_software_gpu(self):
        self.check_all(recorder.software())

    def test_intel_without_a_gpu(self):
        # today's driver looks at no handle there
        self.check_all(INTEL, ['zeDriverGetDefaultContext'] if 'ZESCOPE_DEVICES' in INTEL else [])

    def test_intel_without_a_device(self):
        """zeInit fails: it is recorded, and the application goes its way."""
        path = recorder.new()
        plain = recorder.run(WAYS, 'threads', KERNELS, check=None)
        p = recorder.run(recorder.zescope, 'record', '-o', path, '--', WAYS, 'threads', KERNELS,
                         check=None)
        if plain.returncode == 9:
            self.skipTest('there is a GPU')
        self.assertEqual(p.returncode, plain.returncode)
        if glob.glob(os.path.join(path, 'trace', '*.pftrace')):
            report = recorder.report(path)
            self.assertEqual((report['lost_calls'], report['damaged_files']), (0, 0))
            self.assertTrue(all(not c['unfinished'] for c in report['calls']))


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
