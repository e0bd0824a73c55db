#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""zescope run --check: what it says of memory, and that it is silent without a defect."""
import os
import subprocess
import sys
import unittest

ZESCOPE, BOUNDS, BINARY, DEVICE = sys.argv[1:5]
SPIRV = sys.argv[5:] # the same kernels


def run(case, *options, env=None, binary=BINARY):
    kept = {k: v for k, v in os.environ.items() if not k.startswith('ZESCOPE') or k == 'ZESCOPE_DRIVER'}
    return subprocess.run([ZESCOPE, 'run', '-d', DEVICE, *options, '--', BOUNDS, binary, case],
                          env={**kept, **(env or {})}, text=True, capture_output=True, timeout=240)


class Memory(unittest.TestCase):
    def silent(self, case, binary=BINARY):
        r = run(case, '--check', binary=binary)
        self.assertEqual((r.returncode, r.stdout, r.stderr), (0, '', ''), case)

    def found(self, case, *words, binary=BINARY):
        r = run(case, '--check', binary=binary)
        self.assertEqual(r.returncode, 99, r.stderr)
        for word in words:
            self.assertRegex(r.stderr, word)
        self.assertNotIn('the same address', r.stdout)

    def test_guard_zones(self):
        self.silent('inside')
        self.found('behind', 'access out of bounds: write of 4 bytes', r'bounds\.cl:\d+',
                   '0 bytes after the end of device allocation #2 zeMemAllocDevice of 16384 bytes')
        self.found('before', '4 bytes before device allocation #2 zeMemAllocDevice of 16384 bytes')

    def test_quarantine(self):
        self.found('freed', 'use after free: write of 4 bytes', '0 bytes into freed device allocation #1',
                   r'since freed\) was made by:\n    #0 allocate.* at bounds\.c:\d+',
                   r'since freed\) was freed by:\n    #0 freed at bounds\.c:\d+')
        # without it an address is given out again, or is nobody's
        r = run('freed', '--check', env={'ZESCOPE_QUARANTINE': '0'})
        self.assertEqual(r.returncode, 0 if r.stdout else 99, r.stderr)
        r = run('inside', '--check', env={'ZESCOPE_LOG': 'error', 'ZESCOPE_QUARANTINE': 'much'})
        self.assertIn('ZESCOPE_QUARANTINE=much is not a size', r.stderr)

    def test_local_unwritten(self):
        self.silent('local-written')
        self.found('local-unwritten', 'kernel read_local: read of local memory that was never written: read of 4 bytes at offset 0x24',
                   r'bounds\.cl:\d+', r'local \(8, 0, 0\)')
        self.assertEqual(run('local-unwritten').returncode, 0)
        self.assertEqual(run('local-unwritten', '--check=memory').returncode, 0)
        self.assertEqual(run('local-unwritten', '--check=init').returncode, 99)

    def test_unread(self):
        """What a load brings and nobody reads is not read."""
        self.silent('outer')
        self.found('middle', 'kernel read_middle: read of memory that was never written', r'bounds\.cl:\d+')
        self.found('middle-of-all', 'kernel read_middle_of_all: read of memory that was never written')

    def test_between_local_arguments(self):
        self.silent('local-inside')
        self.found('local-behind', 'access between arrays in local memory: write of 4 bytes at offset 0x40',
                   '64 bytes from the start of argument 1(, a)?, which has 64', r'local \(15, 0, 0\)')

    def test_arrays_of_spirv(self):
        """Which the driver compiles, with arrays apart."""
        for spirv in SPIRV:
            for case in 'arrays-inside', 'local-inside', 'local-written':
                self.silent(case, spirv)
            self.found('arrays-behind', 'access outside a variable: read of 4 bytes',
                       r'64 bytes from the start of local_arrays\.first, which has 64', r'local \(14, 0, 0\)', binary=spirv)
            self.found('local-own-behind', 'access outside a variable: read of 4 bytes',
                       r'64 bytes from the start of local_and_argument\.own, which has 64', r'local \(12, 0, 0\)', binary=spirv)
            self.found('local-unwritten', 'read of local memory that was never written', binary=spirv)
        self.silent('arrays-inside', BINARY)

    @unittest.skipIf(DEVICE == 'pvc', 'a device without images')
    def test_images_not_to_be_written(self):
        self.silent('image-written')
        self.found('image-read-only', 'write to read-only memory',
                   r'the image of argument 0(, image)? was made without ZE_IMAGE_FLAG_KERNEL_WRITE', r'bounds\.cl:\d+')
        self.assertEqual(run('image-read-only').returncode, 0)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
