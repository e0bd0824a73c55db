#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""zescope run --check=leak: what is never given back, by the line that made it; nothing where all is."""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

ZESCOPE, LEAKS, BINARY, DEVICE, SOURCE = sys.argv[1:6]
with open(SOURCE) as f:
    LINES = {mark: number for number, line in enumerate(f, 1) for mark in re.findall(r'// leaks: (\w+)', line)}
OBJECTS = {'context': 'zeContextDestroy', 'module': 'zeModuleDestroy', 'kernel': 'zeKernelDestroy', 'pool': 'zeEventPoolDestroy',
           'event': 'zeEventDestroy', 'queue': 'zeCommandQueueDestroy', 'fence': 'zeFenceDestroy', 'list': 'zeCommandListDestroy',
           'immediate': 'zeCommandListDestroy', 'image': 'zeImageDestroy', 'sampler': 'zeSamplerDestroy',
           'physical': 'zePhysicalMemDestroy'}
MEMORY = {'memory': ('device', 4096), 'host': ('host', 100), 'shared': ('shared', 200), 'virtual': ('virtual', 2 << 20)}


def run(mode, *options, check='--check=leak'):
    kept = {k: v for k, v in os.environ.items() if not k.startswith('ZESCOPE') or k == 'ZESCOPE_DRIVER'}
    return subprocess.run([ZESCOPE, 'run', '-d', DEVICE, check, *options, '--', LEAKS, mode, BINARY],
                          env=kept, text=True, capture_output=True, timeout=120)


def findings(text):
    """Of the report: the first line of each finding and the lines of the source in its calls."""
    blocks = [b for b in re.split(r'\n\n', text) if 'made by:' in b]
    return [(b.split('\n')[-1 - b.count('\n    #')], [int(n) for n in re.findall(r'leaks\.c:(\d+)', b)]) for b in blocks]


class Leaks(unittest.TestCase):
    def test_each(self):
        r = run('each')
        self.assertEqual(r.returncode, 99, r.stderr)
        found = findings(r.stderr)
        self.assertEqual(len(found), len(OBJECTS) + len(MEMORY), r.stderr)
        for mark, call in OBJECTS.items():
            said = [words for words, lines in found if lines and lines[0] == LINES[mark]]
            self.assertEqual(len(said), 1, (mark, r.stderr))
            self.assertRegex(said[0], rf'^1 .* was never destroyed \({call}\), made by:$')
        for mark, (kind, size) in MEMORY.items():
            said = [words for words, lines in found if lines and lines[0] == LINES[mark]]
            self.assertEqual(len(said), 1, (mark, r.stderr))
            self.assertRegex(said[0], rf'^1 .* {kind} memory, {size} bytes, was never freed \(ze(Virtual)?MemFree\), made by:$')
        self.assertIn('16 findings', r.stderr)
        self.assertEqual(r.stderr.count(' main at leaks.c:'), 16)  # every one has its calls up to there

    def test_nothing(self):
        for mode in 'clean', 'late', 'fork':
            for check in '--check=leak', '--check=all':
                with self.subTest(mode=mode, check=check):
                    r = run(mode, check=check)
                    self.assertEqual((r.returncode, r.stderr), (0, ''))
        self.assertEqual(run('each', check='--check').returncode, 0)  # it is not among the default ones

    def test_counts(self):
        r = run('loop')
        self.assertEqual(r.returncode, 99, r.stderr)
        said = {lines[0]: words for words, lines in findings(r.stderr)}
        self.assertEqual(set(said), {LINES['context'], LINES['memory'], LINES['pool']}, r.stderr)
        self.assertRegex(said[LINES['context']], '^3 contexts were never destroyed')
        self.assertRegex(said[LINES['memory']], '^3 allocations of device memory, 3000 bytes together, were never freed')
        self.assertRegex(said[LINES['pool']], '^3 event pools were never destroyed')

    def test_ended(self):
        """Memory that a destroyed context still had; two places that share a function are two findings."""
        r = run('ended')
        found = findings(r.stderr)
        self.assertEqual(len(found), 2, r.stderr)
        self.assertEqual({re.search(r'(\d+) bytes', words)[1] for words, _ in found}, {'5000', '6000'})
        self.assertTrue(all('still in a context when it was destroyed (zeMemFree was missing)' in words for words, _ in found))
        self.assertIn(LINES['second'], [n for _, lines in found for n in lines])

    def test_misuse(self):
        """Once for each place, with what became of the object."""
        for check in '--check=api', '--check=all':
            r = run('misuse', check=check)
            self.assertEqual(r.returncode, 99, r.stderr)
            blocks = [b for b in r.stderr.split('\n\n') if 'called by:' in b]
            said = {int(re.search(r'leaks\.c:(\d+)', b)[1]): b for b in blocks}
            self.assertEqual((len(blocks), set(said)), (5, {LINES[m] for m in ('use', 'open', 'null', 'none', 'odd')}), r.stderr)
            use = said[LINES['use']]
            self.assertIn('zeEventHostReset: hEvent is not a live handle of a event: it was destroyed, called by:', use)
            self.assertEqual([int(n) for n in re.findall(r'#0 .* at leaks\.c:(\d+)', use)],
                             [LINES['use'], LINES['event'], LINES['destroyed']], use)
            self.assertRegex(use, r'the event was made by:\n(?s:.*)the event was destroyed by:')
            self.assertIn('hKernel is null', said[LINES['none']])
            self.assertIn('5 findings', r.stderr)
        self.assertEqual(run('misuse', check='--check').returncode, 0)

    def test_child(self):
        r = run('child')
        self.assertEqual(r.returncode, 99, r.stderr)
        self.assertEqual(sorted(lines[0] for _, lines in findings(r.stderr)), sorted([LINES['context'], LINES['memory']]), r.stderr)

    def test_formats(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'found')
            run('ended', '--check-format', 'json', '--check-output', path)
            with open(path) as f:
                found = json.load(f)['findings']
            self.assertEqual([(f['kind'], f['level'], f['kernel'], f['sites']) for f in found], [('leak', 'error', None, [])] * 2)
            run('ended', '--check-format', 'junit', '--check-output', path)
            self.assertEqual(xml.etree.ElementTree.parse(path).getroot().get('failures'), '2')
            r = run('ended', '--gen-suppressions')
            known = re.findall(r'^{.*?^}', r.stderr, re.S | re.M)
            self.assertEqual(len(known), 2)
            for text, status in ('\n'.join(known), 0), (re.sub(r'frame:.*', 'frame:*no_such*', known[0]), 99):
                with open(path, 'w') as f:
                    f.write(text)
                r = run('ended', '--suppressions', path)
                self.assertEqual(r.returncode, status, r.stderr)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
