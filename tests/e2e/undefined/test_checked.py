#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""zescope run --check=all: a race, an undefined value, a divergent barrier and an overflow are named by their lines;
kernels without a defect are not."""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

ZESCOPE, PROGRAM, DEVICE, SOURCE, VARIABLES, PLANTED, FINE, VARIABLES_SPIRV, TOGETHER, PAIRS, PLAIN_PAIRS = sys.argv[1:12]


def marked(word, path=SOURCE):
    with open(path) as f:
        return {number for number, line in enumerate(f, 1) if line.rstrip().endswith('// ' + word)}


class Checked(unittest.TestCase):
    def check(self, spirv, *launches, kinds='all', eu='auto'):
        kept = {k: v for k, v in os.environ.items() if not k.startswith('ZESCOPE') or k == 'ZESCOPE_DRIVER'}
        kept['ZESCOPE_EU'] = eu
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'found.json')
            r = subprocess.run([ZESCOPE, 'run', '-d', DEVICE, '--check=' + kinds, '--check-format', 'json', '--check-output', path, '--',
                                PROGRAM, spirv, *launches], env=kept, text=True, capture_output=True, timeout=400)
            with open(path) as f:
                return r, json.load(f)['findings']

    def test_planted(self):
        for eu in ('interpreter', 'compiled'):
            with self.subTest(eu=eu):
                self.check_planted(eu)

    def check_planted(self, eu):
        r, found = self.check(PLANTED, 'race:1:64', 'undefined:1:64', 'divergent:1:64', 'overflow:1:64', eu=eu)
        self.assertEqual(r.returncode, 99, r.stderr)
        lines = {}
        for f in found:
            self.assertEqual(f['level'], 'error', f)
            lines.setdefault((f['kernel'], f['kind']), set()).update(int(s['source'].rsplit(':', 1)[1]) for s in f['sites'])
        lines.pop(('race', 'undefined'), None) # who reads too early may find nothing
        self.assertEqual(set(lines), {('race', 'race'), ('undefined', 'undefined'), ('divergent', 'sync'), ('overflow', 'memory')}, found)
        self.assertEqual(lines['race', 'race'], marked('race'))
        self.assertEqual(lines['undefined', 'undefined'], marked('undefined'))
        self.assertLessEqual(marked('barrier'), lines['divergent', 'sync'])
        self.assertEqual(lines['overflow', 'memory'], marked('overflow'))
        self.assertIn('the start of overflow.first', next(f['text'] for f in found if f['kind'] == 'memory'))

    def test_variables(self):
        """In registers, scratch memory, local memory and at program scope."""
        inside = {'registers': 8, 'scratch': 50, 'before': 63, 'constants': 5, 'member': 2, 'passed': 8, 'inner': 4, 'vectors': 4, 'pointers': 48, 'walked': 22, 'either': 19, 'alike': 8}
        r, found = self.check(VARIABLES_SPIRV, *(f'{kernel}:1:{items}' for kernel, items in inside.items()))
        self.assertEqual((r.returncode, found), (0, []), r.stderr)
        for kernel in inside:
            kinds = 'memory' if kernel == 'pointers' else 'memory,race' # accesses outside are no race; that one has another
            r, found = self.check(VARIABLES_SPIRV, kernel + ':1:64', kinds=kinds)
            self.assertEqual((r.returncode, [f['kind'] for f in found]), (99, ['memory']), r.stderr)
            self.assertIn('access outside a variable', found[0]['text'])
            lines = {int(s['source'].rsplit(':', 1)[1]) for s in found[0]['sites']}
            self.assertEqual((lines, len(lines)), (marked(kernel, VARIABLES), 2), r.stderr)

    def test_lanes(self):
        r, found = self.check(PLANTED, 'lanes:1:8')
        self.assertEqual((r.returncode, [f['kind'] for f in found]), (99, ['race']), r.stderr)
        self.assertEqual({int(s['source'].rsplit(':', 1)[1]) for s in found[0]['sites']}, marked('lanes'))

    def test_together(self):
        """Asynchronous copies that not all work-items make, that are not waited for, that are none; functions that not all call."""
        for kernel, words in (('copies', 'different asynchronous copies'), ('left', 'different asynchronous copies'),
                              ('other_event', 'different asynchronous copies'), ('other_count', 'different asynchronous copies'),
                              ('unwaited', 'nobody waits for'), ('no_event', 'the event of no asynchronous copy')):
            with self.subTest(kernel=kernel):
                r, found = self.check(PLANTED, kernel + ':2:64', kinds='sync')
                found = [f for f in found if 'barrier' not in f['text']]
                self.assertEqual((r.returncode, [f['kind'] for f in found]), (99, ['sync']), r.stderr)
                self.assertIn(words, found[0]['text'])
                self.assertLessEqual(marked(kernel), {int(s['source'].rsplit(':', 1)[1]) for s in found[0]['sites']}, r.stderr)
        together = os.path.join(os.path.dirname(SOURCE), 'together.cl')
        for kernel, words in (('reduces', 'different functions of the group'), ('broadcasts', 'different functions of the group'),
                              ('sub_reduces', 'different functions of the sub-group'), ('sub_others', 'different functions of the sub-group')):
            with self.subTest(kernel=kernel):
                r, found = self.check(TOGETHER, kernel + ':1:8', kinds='sync')
                found = [f for f in found if 'barrier' not in f['text']]
                self.assertEqual((r.returncode, [f['kind'] for f in found]), (99, ['sync']), r.stderr)
                self.assertIn(words, found[0]['text'])
                self.assertEqual({int(s['source'].rsplit(':', 1)[1]) for s in found[0]['sites']}, marked(kernel, together), r.stderr)
        r, found = self.check(TOGETHER, 'together:2:100')
        self.assertEqual((r.returncode, found), (0, []), r.stderr)
        r, found = self.check(PLANTED, 'copied_over:1:64', kinds='race')
        self.assertEqual((r.returncode, {f['kind'] for f in found}), (99, {'race'}), r.stderr)
        self.assertIn(max(marked('copied_over')), {int(s['source'].rsplit(':', 1)[1]) for s in found[0]['sites']}, r.stderr)
        r, found = self.check(PLANTED, 'copies:2:64', kinds='memory')  # not asked for
        self.assertEqual((r.returncode, found), (0, []), r.stderr)

    def test_fine(self):
        for eu in ('interpreter', 'compiled'):
            r, found = self.check(FINE, 'gemm:4:256', 'reduction:8:256', 'histogram:4:128', 'scan:4:256', 'transpose:4:256', 'nbody:2:64',
                                  'spmv:2:100', 'jacobi:4:256', 'sort:2:256', 'quantized:2:64', 'records:2:96', 'copied:5:64', eu=eu)
            self.assertEqual((r.returncode, found), (0, []), (eu, r.stderr))

    def test_pairs(self):
        """All in one process, but for barriers that leave others waiting."""
        source = os.path.join(os.path.dirname(SOURCE), 'pairs.cl')
        with open(source) as f:
            pairs = re.findall(r'^PAIR\((\w+), (\w+)\)', f.read(), re.M)
        self.assertEqual(len(pairs), 21)
        self.assertEqual(self.check(PAIRS, *(f'fine_{name}:2:128' for _, name in pairs))[1], [])
        self.assertEqual(self.check(PLAIN_PAIRS, *(f'fine_{name}:2:128' for _, name in pairs[:9]), kinds='undefined')[1], [])
        together = [f'{kind}_{name}:2:128' for kind, name in pairs if kind != 'sync']
        _, found = self.check(PAIRS, *together)
        for kind, name in pairs:
            with self.subTest(name=name):
                told = self.check(PAIRS, f'{kind}_{name}:2:128', kinds=kind)[1] if kind == 'sync' else found
                told = [f for f in told if f['kernel'] == f'{kind}_{name}']
                self.assertEqual({(f['kind'], f['level']) for f in told}, {(kind, 'error')}, told)
                lines = {int(s['source'].rsplit(':', 1)[1]) for f in told for s in f['sites']}
                if kind == 'sync':
                    lines &= marked(name, source)  # and where others are
                wanted = marked(name, source)
                if name == 'copied':  # where it stays in memory, its bytes are read before they were written
                    wanted &= lines | {max(wanted)}
                self.assertEqual(lines, wanted, told)

    def run_tool(self, *command):
        kept = {k: v for k, v in os.environ.items() if not k.startswith('ZESCOPE') or k == 'ZESCOPE_DRIVER'}
        return subprocess.run([ZESCOPE, *command], env=kept, text=True, capture_output=True, timeout=400)

    def test_recorded(self):
        with tempfile.TemporaryDirectory() as folder:
            r = self.run_tool('record', '-d', DEVICE, '--no-last', '--check=race', '-o', folder + '/kept', '--', PROGRAM,
                              PLANTED, 'race:1:64')
            self.assertEqual(r.returncode, 0, r.stderr)
            self.assertIn('kernel race: race in local memory', r.stderr)
            kept = self.run_tool('report', '--checks', '--json', folder + '/kept')
            found = json.loads(kept.stdout)['findings']
            self.assertEqual([(f['kernel'], f['kind'], {int(s['source'].rsplit(':', 1)[1]) for s in f['sites']}) for f in found],
                             [('race', 'race', marked('race'))])
            self.assertIn('kernel race: race in local memory', self.run_tool('report', '--checks', folder + '/kept').stdout)
            self.assertEqual(self.run_tool('report', '--html', folder + '/page.html', folder + '/kept').returncode, 0)
            with open(folder + '/page.html', encoding='utf-8') as f:
                self.assertRegex(f.read(), r'"checks":\s*\[\{"kind":\s*"race"')
            r = self.run_tool('record', '--check=nothing', '--', PROGRAM)
            self.assertEqual((r.returncode, 'nothing' in r.stderr), (2, True), r.stderr)

    def test_debugged(self):
        r = self.run_tool('debug', '-d', DEVICE, '--check', '--batch', '--eval-command', 'run', '--eval-command', 'kill', '--',
                          PROGRAM, PLANTED, 'overflow:1:64')
        self.assertRegex(r.stdout + r.stderr, r'planted\.cl:%d\b' % max(marked('overflow')))
        self.assertIn('256 bytes from the start of overflow.first, which has 256', r.stdout + r.stderr)
        r = self.run_tool('debug', '--check=leak', '--', PROGRAM)
        self.assertEqual((r.returncode, 'memory, init, undefined' in r.stderr), (2, True), r.stderr)

    def test_debugged_nowhere(self):
        """Accesses that race where no memory is: the debugger tells both, and the application lives."""
        r = self.run_tool('debug', '-d', DEVICE, '--check=race', '--batch', *['--eval-command=run'] + ['--eval-command=continue'] * 3, '--',
                          PROGRAM, PLANTED, 'nowhere:1:64')
        text = r.stdout + r.stderr
        self.assertRegex(text, r'race in global memory: a write of 4 bytes: address 0\n#0 .*planted\.cl:%d\b' % max(marked('nowhere')))
        self.assertIn('access through a null pointer', text)
        self.assertIn('ended with status 0', text)

    def test_debugged_goes_on(self):
        """A race, a barrier and an undefined value stop at the work-item; the program goes on, and back where it was recorded."""
        for kernel, kind, word in (('race', 'race', 'race in local memory: a (?:read|write) of 4 bytes'),
                                   ('divergent', 'sync', 'a barrier that not all'),
                                   ('undefined', 'undefined', r'undefined value \(it ')):
            with self.subTest(kernel=kernel):
                commands = ['set record on', 'run', 'reverse-step', 'continue'] + ['continue'] * 4
                r = self.run_tool('debug', '-d', DEVICE, '--check=' + kind, '--batch', *(f'--eval-command={c}' for c in commands), '--',
                                  PROGRAM, PLANTED, kernel + ':1:64')
                text = r.stdout + r.stderr
                self.assertRegex(text, r'Fault, thread \d+, group 0,0,0, lane \d+.*: ' + word)
                lines = {int(n) for n in re.findall(r'^#0 .*planted\.cl:(\d+)', text, re.M)}
                self.assertTrue(lines & marked('barrier' if kernel == 'divergent' else kernel, SOURCE), text)
                self.assertNotIn('there is no way back', text)
                self.assertIn('ended with status 0', text)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
