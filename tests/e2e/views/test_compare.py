#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Two builds of a kernel side by side, against listings of each and Python's difflib.

Usage: test_compare.py ZESCOPE
"""
import difflib
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

ZESCOPE = os.path.abspath(sys.argv[1])
SOURCE = '''__kernel void scale(__global float *a, float by)
{
    int i = get_global_id(0);
    a[i] = a[i] * by;
}
__kernel void alike(__global int *a)
{
    a[get_global_id(0)] += 1;
}
'''
OTHER = SOURCE.replace('    a[i] = a[i] * by;\n', '    float x = a[i] * by;\n    a[i] = x + 3.0f * x * x;\n')


def run(*words, check=0):
    p = subprocess.run([ZESCOPE, *words], cwd=folder.name, capture_output=True, text=True, timeout=120)
    if p.returncode != check:
        raise AssertionError(f'{words}: exit {p.returncode}\n{p.stdout}{p.stderr}')
    return p.stdout


def setUpModule():
    global folder, found
    folder = tempfile.TemporaryDirectory()
    for name, text in (('a.cl', SOURCE), ('b.cl', OTHER)):
        with open(os.path.join(folder.name, name), 'w', encoding='utf-8') as f:
            f.write(text)
        subprocess.run(['ocloc', 'compile', '-q', '-file', name, '-device', 'skl', '-options', '-g', '-output', name[0]],
                       cwd=folder.name, check=True, capture_output=True, timeout=100)
        os.rename(glob.glob(os.path.join(folder.name, name[0] + '_*.bin'))[0], os.path.join(folder.name, name[0] + '.bin'))
    found = json.loads(run('compare', '--json', '--all', 'a.bin', 'b.bin'))


def tearDownModule():
    folder.cleanup()


def kernel(name):
    return next(k for k in found['kernels'] if k['name'] == name)


def plain(text):
    return re.sub(r'\bL\d+', 'L', re.sub(' +', ' ', text.split('//')[0])).strip()


class Code(unittest.TestCase):
    def test_kernels(self):
        self.assertEqual(found['schema'], 'zescope.compare/1')
        self.assertIsNone(found['changes'])
        self.assertEqual({k['name']: (k['changed'], k['same_code']) for k in found['kernels']},
                         {'scale': (True, False), 'alike': (False, True)})

    def test_instructions_are_those_of_listings(self):
        for side in 'ab':
            listing = json.loads(run('disasm', '--json', '-k', 'scale', side + '.bin'))['devices'][0]['kernels'][0]
            self.assertEqual([plain(i['text']) for i in kernel('scale')['instructions'][side]],
                             [plain(i['text']) for i in listing['instructions']])

    def test_aligned(self):
        """Each instruction stands once, in its order; pairs of one text are as many as difflib finds, or more."""
        k = kernel('scale')
        texts = {s: [plain(i['text']) for i in k['instructions'][s]] for s in 'ab'}
        for side in 'ab':
            self.assertEqual([p[side] for p in k['aligned'] if p[side] is not None], list(range(len(texts[side]))))
        same = 0
        for p in k['aligned']:
            alone = {'a': p['b'] is None, 'b': p['a'] is None}
            self.assertEqual([s for s in 'ab' if alone[s]], [p['change']] if p['change'] in 'ab' else [])
            if p['change'] == 'same':
                self.assertEqual(texts['a'][p['a']], texts['b'][p['b']])
                same += 1
        blocks = difflib.SequenceMatcher(None, texts['a'], texts['b'], autojunk=False).get_matching_blocks()
        self.assertGreaterEqual(same, sum(b.size for b in blocks))
        self.assertEqual(k['tally']['same'], same)
        self.assertEqual(sum(k['tally'].values()), len(k['aligned']))

    def test_lines(self):
        lines = {(n['a'] or {}).get('line'): n for n in kernel('scale')['files'][0]['lines'] if n['a']}
        texts = {s: t.splitlines() for s, t in (('a', SOURCE), ('b', OTHER))}
        for n in lines.values():
            for s in 'ab':
                if n[s]:
                    self.assertEqual(n[s]['text'], texts[s][n[s]['line'] - 1])
        self.assertEqual((lines[5]['b']['line'], lines[5]['change']), (6, 'same'))  # the brace moved down
        self.assertEqual((lines[3]['change'], lines[3]['same_code']), ('same', True))
        own = [n['change'] for n in kernel('scale')['files'][0]['lines'] if not n['a'] or n['a']['line'] == 4]
        self.assertTrue(set(own) <= {'a', 'b', 'changed'}, own)

    def test_renamed(self):
        """A file that each has alone is the other's, beside one of the same name."""
        for name, text in (('h.h', 'inline float twice(float x) { return x + x; }\n'),
                           ('c.cl', '#include "h.h"\n' + SOURCE.replace('a[i] * by', 'twice(a[i] * by)')),
                           ('d.cl', '#include "h.h"\n' + SOURCE.replace('a[i] * by', 'twice(a[i] - by)'))):
            with open(os.path.join(folder.name, name), 'w', encoding='utf-8') as f:
                f.write(text)
        told = json.loads(run('compare', '--json', '-k', 'scale', '-d', 'skl', 'c.cl', 'd.cl'))
        files = next(k for k in told['kernels'] if k['name'] == 'scale')['files']
        self.assertEqual(sorted((os.path.basename(f['a']), os.path.basename(f['b'])) for f in files),
                         [('c.cl', 'd.cl'), ('h.h', 'h.h')])

    def test_values(self):
        values = {v['name']: v for v in kernel('scale')['values']}
        inspected = {s: json.loads(run('inspect', '--json', s + '.bin'))['devices'][0]['kernels'] for s in 'ab'}
        for side, kernels in inspected.items():
            own = next(k for k in kernels if k['name'] == 'scale')
            self.assertEqual(values['simd'][side], own['simd'])
            self.assertEqual(values['code'][side], own['code_size'] if 'code_size' in own else values['code'][side])
            self.assertEqual(values['code_instructions'][side], len(kernel('scale')['instructions'][side]))
        self.assertTrue(values['code_instructions']['changed'])


class Text(unittest.TestCase):
    def test_side_by_side(self):
        wide = run('compare', '-k', 'scale', '--width', '120', 'a.bin', 'b.bin')
        row = next(r for r in wide.splitlines() if '3.0f * x * x' in r)
        self.assertTrue(row.split('\u2502')[1].lstrip().startswith(('+', '~')), row)
        self.assertTrue(all(len(r) <= 120 for r in wide.splitlines()), wide)
        narrow = run('compare', '-k', 'scale', '--width', '80', 'a.bin', 'b.bin')
        self.assertNotIn('\u2502', narrow)
        self.assertRegex(narrow, r'(?m)^-.*a\[i\] = a\[i\] \* by')
        self.assertRegex(narrow, r'(?m)^\+.*float x = a\[i\] \* by')
        self.assertTrue(all(len(r) <= 80 for r in narrow.splitlines()), narrow)
        self.assertRegex(wide, r'code_instructions +\d+ +\d+ +\+\d')
        self.assertIn('\033[3', run('compare', '--color', 'always', 'a.bin', 'b.bin'))

    def test_sources(self):
        """They are compiled, and their code is that of the modules."""
        self.assertEqual(run('compare', '-d', 'skl', '--build-options', '-g', 'a.cl', 'b.bin').splitlines()[1:6],
                         run('compare', 'a.bin', 'b.bin').splitlines()[1:6])

    def test_much_more(self):
        """From ten times on a factor is said, which a reader can hold."""
        with open(os.path.join(folder.name, 'long.cl'), 'w', encoding='utf-8') as f:
            f.write(SOURCE.replace('    a[get_global_id(0)] += 1;\n', '    int x = a[get_global_id(0)];\n' +
                                   '    x = x * (x ^ 0x1234567) + 77;\n' * 100 + '    a[get_global_id(0)] = x;\n'))
        text = run('compare', '-d', 'skl', '-k', 'alike', 'a.bin', 'long.cl')
        before, after, times = re.search(r'code_instructions +(\d+) +(\d+) +(\S+) times\n', text).groups()
        self.assertGreater(int(after), 10 * int(before))
        self.assertEqual(times, f'{int(after) / int(before):.3g}')
        self.assertRegex(run('compare', '-d', 'skl', '-k', 'alike', 'long.cl', 'a.bin'), r'code_instructions +\d+ +\d+ +-9\d\.\d %')

    def test_alike(self):
        self.assertEqual(run('diff', 'a.bin', 'a.bin'), '2 kernels alike\n')  # by its older name
        self.assertIn('scale  \u2192  alike', run('compare', '-k', 'scale', '--with', 'alike', 'a.bin', 'b.bin'))
        self.assertIn('by address', run('compare', '--help').replace('addresses', 'by address'))
        addresses = run('compare', '--by', 'address', '-k', 'scale', 'a.bin', 'b.bin')
        self.assertNotIn('__kernel', addresses)
        self.assertRegex(addresses, r'(?m)^\+ +[0-9a-f]+  ')

    def test_refused(self):
        for words in (['a.bin'], ['--fail-on', 'time>1%', 'a.bin', 'b.bin'], ['--calls', 'a.bin', 'b.bin'],
                      ['--html', 'x', '--json', 'a.bin', 'b.bin']):
            run('compare', *words, check=2)
        run('compare', 'a.bin', 'none.bin', check=1)

    def test_page(self):
        run('compare', '--html', 'page.html', 'a.bin', 'b.bin')
        with open(os.path.join(folder.name, 'page.html'), encoding='utf-8') as f:
            text = f.read()
        self.assertIn('zescope.compare/1', text)
        self.assertIn('3.0f * x * x', text)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
