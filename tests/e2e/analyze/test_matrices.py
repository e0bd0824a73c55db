#!/usr/bin/env python3
"""Operations of products of matrices (dpas), and their peaks, of kernels of the suite whose sizes are known.

Usage: test_matrices.py ZESCOPE SUITE BINARY...
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'edit'))
import names  # noqa: E402

ZESCOPE, SUITE, *BINARIES = sys.argv[1:]
STEPS, ROWS, DEPTH = 3, 8, 8
# of a kernel: how many elements a dword has, what they are called, what its operations are
GEMMS = {'gemm_f16': (2, 'matrices in half precision', 'flop'), 'gemm_bf16': (2, 'matrices of bfloat16', 'flop'),
         'gemm_s8_u8': (4, 'matrices of bytes', 'ops'), 'gemm_u4_u4': (8, 'matrices of 4 bits and fewer', 'ops')}
FEW_ROWS = (1 + 2 + 4, 2 + 4) # nobody needs the row of the first one: IGC 2 leaves it out
# EUs, GHz, operations of an EU in a cycle with one element in a dword
PEAKS = {'acm-g10': 512 * 2.4 * 64, 'pvc': 512 * 1.6 * 256}


class Matrices(unittest.TestCase):
    def kernels_of(self, binary):
        group, variant, environment = names.of(binary)
        with tempfile.TemporaryDirectory() as top:
            folder = os.path.join(top, 'rec')
            subprocess.run([ZESCOPE, 'record', '--counts', '--no-last', '-o', folder, '--', SUITE, group, binary, 'native', variant],
                           check=True, capture_output=True, env=environment)
            found = subprocess.run([ZESCOPE, 'analyze', '--json', '--limit', '0', folder], check=True, capture_output=True, env=environment)
        return {k['name']: k for k in json.loads(found.stdout)['kernels']}

    def test_operations_and_peaks(self):
        for binary in BINARIES:
            kernels, peak = self.kernels_of(binary), PEAKS[names.device_of(binary)]
            for name, (elements, precision, operations) in GEMMS.items():
                q, r = kernels[name]['quantities'], kernels[name]['roofline']
                expected = q['items'] * 2 * ROWS * DEPTH * elements * STEPS
                self.assertGreater(expected, 0)
                self.assertEqual([q['matrix_ops'], r['count']], [expected, expected], (binary, name))
                self.assertEqual([r['precision'], r['operations']], [precision, operations])
                self.assertAlmostEqual(r['peak'], peak * elements)
                is_float = operations == 'flop'
                self.assertEqual(q['flops'], expected if is_float else 0)
                self.assertEqual(q['flops_half'], expected if is_float else 0)
                self.assertEqual(q['int_ops'] >= expected, not is_float)
            q = kernels['few_rows']['quantities']
            self.assertIn((q['matrix_ops'], q['flops_half']),
                          [tuple(q['items'] * 2 * rows * DEPTH * n for n in (4 + 2, 2)) for rows in FEW_ROWS])


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
