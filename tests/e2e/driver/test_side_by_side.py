#!/usr/bin/env python3
"""Two drivers in one process: Intel's and ours. Intel's computes nothing without a GPU; later ones want an emulated one.

Usage: test_side_by_side.py ZESCOPE DRIVER PROGRAM SPIRV
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

ZESCOPE, DRIVER, PROGRAM, SPIRV = (os.path.abspath(path) for path in sys.argv[1:5])
INTEL = 'libze_intel_gpu.so.1'
WITHOUT_GPU = dict(variable.split('=', 1) for variable in os.environ['ZS_TEST_INTEL'].split())
OURS, THEIRS = 'Intel(R) HD Graphics 530: 128, event 0x0', 'Intel(R) Graphics [0x1902]: 0, '
if 'ZESCOPE_DEVICES' in WITHOUT_GPU:
    OURS = THEIRS = 'Intel(R) Arc(TM) B580 Graphics: 128, event 0x0'


class SideBySide(unittest.TestCase):
    def setUp(self):
        # Intel's driver writes what it would have sent to the GPU where it runs
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def run_both(self, drivers, *before, **env):
        env = dict(os.environ, **WITHOUT_GPU | {'ZE_ENABLE_ALT_DRIVERS': ','.join(drivers)}, **env)
        p = subprocess.run([*before, PROGRAM, SPIRV], env=env, cwd=self.folder.name, timeout=120,
                           capture_output=True, text=True)
        self.assertEqual(p.returncode, 0, p.stdout + p.stderr)
        lines = [line for line in p.stdout.splitlines() if line.startswith('driver ')] # loaders speak there, too
        self.assertEqual(len(lines), len(drivers), p.stdout + p.stderr)
        for number, (driver, line) in enumerate(zip(drivers, lines)):
            self.assertTrue(line.startswith(f'driver {number}, {OURS if driver == DRIVER else THEIRS}'),
                            line)
        return p

    def test_either_order(self):
        self.run_both([DRIVER, INTEL])
        self.run_both([INTEL, DRIVER])

    def test_through_the_layers(self):
        self.run_both([DRIVER, INTEL], ZE_ENABLE_TRACING_LAYER='1', ZET_ENABLE_API_TRACING_EXP='1',
                      ZE_ENABLE_VALIDATION_LAYER='1', ZE_ENABLE_PARAMETER_VALIDATION='1')

    def test_recorded(self):
        recording = os.path.join(self.folder.name, 'recording')
        self.run_both([DRIVER, INTEL], ZESCOPE, 'record', '-o', recording, '--')
        report = json.loads(subprocess.run([ZESCOPE, 'report', '--json', recording], check=True,
                                           capture_output=True, text=True).stdout)
        kernels = [k for k in report['kernels'] if k['name'] == 'add_atomic']
        self.assertEqual(sum(k['count'] for k in kernels), 2)
        text = subprocess.run([ZESCOPE, 'annotate', recording], check=True, capture_output=True,
                              text=True).stdout
        self.assertIn('add_atomic', text)

    def test_traced(self):
        p = self.run_both([DRIVER, INTEL], ZESCOPE, 'trace', '--')
        self.assertIn('zeCommandListAppendLaunchKernel', p.stderr)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
