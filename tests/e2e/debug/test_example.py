#!/usr/bin/env python3
"""examples/lib_debug_lanes.c: the debugger by its interface in C, on the n-body example."""
import math
import os
import re
import subprocess
import sys
import tempfile
import unittest

EXAMPLE, DRIVER, NBODY, FOLDER, OCLOC = sys.argv[1:6]
FLAGS = '-g -cl-opt-disable'


def body(i):
    turn, radius = 0.37 * i, 0.05 + i / 256
    return radius * math.cos(turn), radius * math.sin(turn), 0.1 * math.sin(3 * turn), 1 / 256


class Example(unittest.TestCase):
    def test_lanes(self):
        with open(os.path.join(FOLDER, 'nbody.cl'), encoding='utf-8') as f:
            line = ['tile[lane] = positions' in text for text in f].index(True) + 1
        with tempfile.TemporaryDirectory() as work:
            subprocess.run([OCLOC, 'compile', '-file', 'nbody.cl', '-device', 'skl', '-options', FLAGS, '-output', 'nbody',
                            '-output_no_suffix', '-out_dir', work], cwd=FOLDER, check=False, stdout=subprocess.DEVNULL, timeout=120)
            env = dict(os.environ, ZESCOPE_DEVICES='skl')
            arguments = [EXAMPLE, DRIVER, f'nbody.cl:{line}', 'tile[lane]', NBODY, os.path.join(work, 'nbody.spv'), FLAGS]
            r = subprocess.run(arguments, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
        self.assertEqual((r.returncode, r.stderr), (0, ''), r.stdout)
        places = re.findall(r'^nbody_step, line (\d+)$', r.stdout, re.M)
        self.assertEqual(places, [str(line), str(line + 1), str(line)])
        before, after = [re.findall(r'^  item (\d+),0,0: \{(.*)\}$', part, re.M)
                         for part in re.split(r'^nbody_step, line \d+\n', r.stdout, flags=re.M)[1:3]]
        self.assertEqual([(int(item), value) for item, value in before], [(i, '0, 0, 0, 0') for i in range(8)])
        for item, value in after:
            for got, wanted in zip(map(float, value.split(', ')), body(int(item))):
                self.assertLess(abs(got - wanted), 1e-4)
        self.assertEqual([int(item) for item, _ in after], list(range(8)))
        self.assertRegex(r.stdout, r'(?m)^tile\[lane\]: \{0, 0, 0, 0\} -> \{.*\}, by item 0,0,0 of group 0,0,0 \(lane 0\)$')


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
