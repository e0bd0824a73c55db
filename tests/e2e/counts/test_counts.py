#!/usr/bin/env python3
"""Execution counts from the recorder to the views: exact numbers of a kernel with a known loop.

Usage: test_counts.py LOOP.cl ZESCOPE DRIVER PROGRAM DIVIDED.cl [DEVICE]
"""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

SOURCE, ZESCOPE, DRIVER, PROGRAM, DIVIDED = [os.path.abspath(p) for p in sys.argv[1:6]]
DEVICE = sys.argv[6] if len(sys.argv) > 6 else 'skl'
os.environ['ZESCOPE_DEVICES'] = DEVICE
ROUNDS, GROUPS, LAUNCHES = 100, 5, 3


def run(*words, cwd=None, check=0, of='stdout'):
    env = dict(os.environ, ZE_ENABLE_ALT_DRIVERS=DRIVER)
    p = subprocess.run(words, env=env, cwd=cwd, capture_output=True, text=True, timeout=100)
    if p.returncode != check:
        raise AssertionError(f'{words}: exit {p.returncode}\n{p.stdout}{p.stderr}')
    return getattr(p, of)


def last(insts):
    """The one that ends the thread; IGC 2 has text behind it."""
    return next(i for i in reversed(insts) if 'EOT' in i['text'])


def built(source, folder, options):
    # ocloc splits its options at blanks: no paths in them, hence a copy
    name = os.path.basename(source)
    with open(source) as f, open(os.path.join(folder, name), 'w') as g:
        g.write(f.read())
    run('ocloc', 'compile', '-q', '-file', name, '-device', DEVICE, '-options', options, '-output', name[:-3], cwd=folder)
    return glob.glob(os.path.join(folder, name[:-3] + '*.bin'))[0]


class Counts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.rec = os.path.join(cls.folder.name, 'rec')
        binary = cls.binary = built(SOURCE, cls.folder.name, '-g')
        run(ZESCOPE, 'record', '--counts', '-o', cls.rec, '--', PROGRAM, binary, str(ROUNDS),
            str(GROUPS), str(LAUNCHES))
        document = json.loads(run(ZESCOPE, 'annotate', '--json', cls.rec))
        cls.kernel = document['devices'][0]['kernels'][0]

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_straight_code_and_loop(self):
        simd = self.kernel['simd']
        threads = GROUPS * LAUNCHES * 64 // simd
        insts = self.kernel['instructions']
        # later generations begin behind what loads local ids: they are in registers
        begun = [i for i in insts if i['executions']]
        if DEVICE == 'skl':
            self.assertEqual(begun[0]['offset'], 0)
        self.assertEqual(begun[0]['executions'], threads)
        self.assertEqual(last(insts)['executions'], threads)
        counts = {i['executions'] for i in insts}
        self.assertIn(threads * ROUNDS, counts)
        self.assertLessEqual(max(counts), threads * ROUNDS)
        # the multiplication of the loop takes part with all of its lanes
        width = re.compile(r'\((\d+)\|')
        loop = [i for i in insts if i['executions'] == threads * ROUNDS and i['opcode'] == 'mul']
        self.assertTrue(loop)
        for i in loop:
            lanes = int(width.search(i['text']).group(1))
            self.assertEqual(i['active_lanes'], i['executions'] * lanes)
        written = sum(i['written_B'] for i in insts)
        self.assertEqual(written, GROUPS * LAUNCHES * 64 * 4)

    def test_steps_of_macros(self):
        """Those of divisions and roots are executed by as many lanes as what begins them; gone over where none is on."""
        binary = built(DIVIDED, self.folder.name, '-cl-fp32-correctly-rounded-divide-sqrt')
        for eu in ('interpreter', 'compiled'):
            rec = os.path.join(self.folder.name, eu)
            os.environ['ZESCOPE_EU'] = eu
            try:
                run(ZESCOPE, 'record', '--counts', '-o', rec, '--', PROGRAM, binary, str(ROUNDS), str(GROUPS), str(LAUNCHES))
            finally:
                del os.environ['ZESCOPE_EU']
            insts = json.loads(run(ZESCOPE, 'annotate', '--json', rec))['devices'][0]['kernels'][0]['instructions']
            steps, whole = {}, 0
            for i in insts:
                function = re.search(r'math\.(?:invm|rsqtm)', i['text'])
                if function:
                    seed, macro = i, (function.group(), i['text'].split('nomme:')[1].split()[0])
                    steps.setdefault(macro, 0)
                elif i['opcode'] == 'madm':
                    steps[macro] += 1
                    self.assertEqual(i['active_lanes'], seed['active_lanes'], i['text'])
                    width = int(re.search(r'\((\d+)\|', i['text']).group(1))
                    least = seed['executions'] if seed['active_lanes'] == width * seed['executions'] else min(1, seed['active_lanes'])
                    self.assertTrue(least <= i['executions'] <= seed['executions'], i['text'])
                    whole += least > 1
            self.assertEqual(len(steps), 4)
            self.assertTrue(all(steps.values()) and whole, steps)

    def test_columns(self):
        columns = {c['name']: c for c in self.kernel['columns']}
        self.assertEqual(columns['executions']['values'],
                         [i['executions'] for i in self.kernel['instructions']])

    def test_shares_and_lanes_follow_from_the_counts(self):
        columns = {c['name']: c for c in self.kernel['columns']}
        executions = columns['executions']['values']
        for share, n in zip(columns['share']['values'], executions):
            self.assertAlmostEqual(share, 100 * n / sum(executions), places=5)
        width = re.compile(r'\((\d+)\|')
        for i, lanes in zip(self.kernel['instructions'], columns['lanes']['values']):
            channels = width.search(i['text'])
            if channels and i['executions']:
                self.assertAlmostEqual(lanes, 100 * i['active_lanes'] / i['executions'] / int(channels.group(1)), places=5)
        self.assertEqual({c: columns[c]['shown'] for c in columns},
                         {'share': True, 'lanes': True, 'executions': False, 'active_lanes': False,
                          'read_B': False, 'written_B': False})

    def test_text_and_html(self):
        text = run(ZESCOPE, 'annotate', self.rec)
        self.assertRegex(text, r'hottest lines by share .*\n +\d+\.\d%  .*loop.cl:[56]\n')
        # a source line has the total of its code: shares of lines add up to all
        lines = re.findall(r'^[ \u2588-\u258f]{5} +(<?\d+\.\d)% +(?:\d+%)? +\d+ \u2502', text, re.M)
        self.assertAlmostEqual(sum(float(x) for x in lines if not x.startswith('<')), 100, delta=1.5)
        self.assertIn('100%', text)
        self.assertNotIn('executions', run(ZESCOPE, 'annotate', '--columns', 'lanes', self.rec))
        row = [i for i in self.kernel['instructions'] if i['written_B']][0]
        only = run(ZESCOPE, 'annotate', '--columns', 'executions,written_B', self.rec)
        self.assertRegex(only, r'(?m)^ +%d +%d +\u2502 +%x  ' % (row['executions'], row['written_B'], row['offset']))
        # nothing was written by a mov: a blank, no 0
        mov = [i for i in self.kernel['instructions'] if i['opcode'] == 'mov' and i['executions']][0]
        self.assertRegex(only, r'(?m)^ +%d +\u2502 +%x  ' % (mov['executions'], mov['offset']))
        self.assertIn('there is no column speed; there are: share, lanes,',
                      run(ZESCOPE, 'annotate', '--columns', 'share,speed', self.rec, check=2, of='stderr'))
        page = os.path.join(self.folder.name, 'x.html')
        run(ZESCOPE, 'annotate', '--html', page, self.rec)
        with open(page) as f:
            self.assertIn('"name":"active_lanes"', f.read())

    if 'ZESCOPE_DEVICES=' not in os.environ['ZS_TEST_INTEL']: # today's driver counts, too, on an emulated node
        def test_several_drivers(self):
            """Each is asked: the first cannot count, the second can."""
            intel = '/usr/lib/x86_64-linux-gnu/libze_intel_gpu.so.1'
            if not os.path.exists(intel):
                self.skipTest('no other driver is installed')
            rec = os.path.join(self.folder.name, 'two')
            scratch = os.path.join(self.folder.name, 'aub') # Intel's driver writes files there
            os.mkdir(scratch)
            binary = glob.glob(os.path.join(self.folder.name, 'loop*.bin'))[0]
            env = dict(os.environ, ZE_ENABLE_ALT_DRIVERS=f'{intel},{DRIVER}', NEOReadDebugKeys='1',
                       ProductFamilyOverride='skl', SetCommandStreamReceiver='1')
            p = subprocess.run([ZESCOPE, 'record', '--counts', '-o', rec, '--', PROGRAM, binary, '3', '1', '1'],
                               env=env, cwd=scratch, capture_output=True, text=True, timeout=100, check=False)
            self.assertEqual(p.returncode, 0, p.stderr)
            self.assertIn('no execution counts of one driver', p.stderr)
            self.assertEqual(len(glob.glob(os.path.join(rec, 'counts', '*.counts'))), 1)

    def test_some_launches(self):
        """Counts of one launch of three, and of none."""
        binary = glob.glob(os.path.join(self.folder.name, 'loop*.bin'))[0]
        for options, launches in ((['--launch-skip', '1', '--launch-count', '1'], 1), (['-k', 'other'], 0)):
            rec = os.path.join(self.folder.name, f'some{launches}')
            run(ZESCOPE, 'record', '--counts', *options, '-o', rec, '--', PROGRAM, binary, str(ROUNDS),
                str(GROUPS), str(LAUNCHES))
            kernel = json.loads(run(ZESCOPE, 'annotate', '--json', rec))['devices'][0]['kernels'][0]
            threads = GROUPS * launches * 64 // kernel['simd']
            self.assertEqual(last(kernel['instructions']).get('executions', 0), threads)

    def test_damaged_counts_are_left_out(self):
        for path in glob.glob(os.path.join(self.rec, 'counts', '*.counts')):
            with open(path, 'rb') as f:
                whole = f.read()
            try:
                for cut in (0, 7, 100, 300, len(whole) - 1):
                    with open(path, 'wb') as f:
                        f.write(whole[:cut])
                    kernel = json.loads(run(ZESCOPE, 'annotate', '--json', self.rec))
                    self.assertNotIn('executions',
                                     kernel['devices'][0]['kernels'][0]['instructions'][0])
            finally:
                with open(path, 'wb') as f:
                    f.write(whole)

    def test_without_a_driver_that_counts(self):
        """One note says how; there is none where kernels were counted, or counts were not asked for."""
        how = 'zescope record -d skl --counts'
        for words, driver, notes in ((['--counts'], '/no/such.so', 1), ([], '/no/such.so', 0), (['--counts'], DRIVER, 0)):
            with tempfile.TemporaryDirectory() as folder:
                env = dict(os.environ, ZE_ENABLE_ALT_DRIVERS=driver)
                p = subprocess.run([ZESCOPE, 'record', *words, '-o', os.path.join(folder, 'rec'), '--', PROGRAM,
                                    self.binary, '1', '1', '1'], env=env, capture_output=True, text=True, timeout=100)
                self.assertEqual(p.stderr.count(how), notes, p.stderr)
        self.assertIn(how, run(ZESCOPE, 'record', '--help'))


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
