#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""zescope run --check=undefined: values that nobody gave, by the line where they decide something."""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

ZESCOPE, PROGRAM, DEVICE, SOURCE = sys.argv[1:5]
BINARIES = sys.argv[5:]
WORDS = {'stored': 'in memory when the kernel ends', 'branch': 'decides where work-items go', 'address': 'part of an address',
         'atomic': 'operand of an atomic', 'passed': 'in memory when the kernel ends', 'parts': 'in memory when the kernel ends',
         'few': 'decides where work-items go', 'fetched': 'in memory when the kernel ends', 'handed': 'decides where work-items go'}


def lines():
    """Numbers of the lines that are marked, by kernel and mark; all kernels."""
    marked, kernels = {}, []
    with open(SOURCE) as f:
        for number, line in enumerate(f, 1):
            named = re.search(r'void (\w+)\(ARGS\)', line)
            if named:
                kernels.append(named[1])
            mark = re.search(r'// (first|second)$', line)
            if mark:
                marked[kernels[-1], mark[1]] = number
    return marked, kernels


LINES, KERNELS = lines()


class Undefined(unittest.TestCase):
    def run_kernel(self, binary, kernel, groups='2', items='64'):
        """Compiled code finds what the interpreter does."""
        r, found = self.run_with('interpreter', binary, kernel, groups, items)
        compiled, same = self.run_with('compiled', binary, kernel, groups, items)
        placed = [{**f, 'text': re.sub(r' at 0x\w+', '', f['text'])} for f in (*found, *same)]
        self.assertEqual((compiled.returncode, placed[len(found):]), (r.returncode, placed[:len(found)]), compiled.stderr)
        return r, found

    def run_with(self, eu, binary, kernel, groups, items, kinds='undefined'):
        kept = {k: v for k, v in os.environ.items() if not k.startswith('ZESCOPE') or k == 'ZESCOPE_DRIVER'}
        kept['ZESCOPE_EU'] = eu
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'found.json')
            r = subprocess.run([ZESCOPE, 'run', '-d', DEVICE, '--check=' + kinds, '--check-format', 'json', '--check-output', path, '--',
                                PROGRAM, binary, kernel, groups, items], env=kept, text=True, capture_output=True, timeout=240)
            with open(path) as f:
                return r, json.load(f)['findings']

    def test_found(self):
        for binary in BINARIES:
            for kernel, words in WORDS.items():
                with self.subTest(kernel=kernel, binary=os.path.basename(binary)):
                    r, found = self.run_kernel(binary, kernel)
                    self.assertEqual((r.returncode, len(found)), (99, 1), (r.stderr, found))
                    self.assertEqual((found[0]['kind'], found[0]['level']), ('undefined', 'error'))
                    self.assertIn(words, found[0]['text'])
                    self.assertRegex(found[0]['text'], r'(work-item|thread 0 from local) \(\d+, 0, 0\)')
                    where = [int(s['source'].rsplit(':', 1)[1]) for s in found[0]['sites']]
                    self.assertEqual(where[0], LINES[kernel, 'first'])
                    self.assertEqual(where[1], LINES.get((kernel, 'second'), where[0]))

    def test_in_turn(self):
        """What a lane stored in another round of a loop is no longer in its register."""
        for binary in BINARIES:
            r, found = self.run_with('interpreter', binary, 'in_turn', '1', '8', kinds='race')
            self.assertEqual((r.returncode, {f['level'] for f in found} - {'note'}), (0, set()), r.stderr)

    def test_silent(self):
        fine = [k for k in KERNELS if k.startswith('fine')]
        self.assertEqual(len(fine), 6)
        for binary in BINARIES:
            for kernel in fine:
                with self.subTest(kernel=kernel, binary=os.path.basename(binary)):
                    r, found = self.run_kernel(binary, kernel, items='27' if kernel == 'fine_few' else '64')
                    self.assertEqual((r.returncode, found), (0, []), r.stderr)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
