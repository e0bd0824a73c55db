#!/usr/bin/env python3
"""zescope analyze: kernels that are built for one finding each have it, at its line; others do not.

Usage: test_analyze.py KINDS.cl ZESCOPE DRIVER PROGRAM NBODY NBODY_SOURCES MOCK_GPU
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from kinds import Kinds, OF_GAINS, SHAPES  # noqa: E402

PATHS = [os.path.abspath(p) for p in sys.argv[1:5]]
NBODY, NBODY_SOURCES, MOCK_GPU = [os.path.abspath(p) for p in sys.argv[5:8]]


# What is judged by a replay alone.
BY_GAIN = {'message-latency', 'atomic-contention', 'private-arrays', 'extended-math', 'doubles', 'wide-integers',
           'dependencies', 'dispatch', 'redundant-loads', 'issue-bound', 'instruction-fetch', 'split-messages',
           'local-memory'}


class Analyze(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.kinds = Kinds(*PATHS, cls.folder.name)
        cls.rec = cls.kinds.record('rec', '--counts')
        cls.document = cls.analyze(cls.rec)
        cls.kernels = {k['name']: k for k in cls.document['kernels']}

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def analyze(cls, rec, *words):
        status, out, err = cls.kinds.run('analyze', '--json', '-n', '0', *words, rec)
        if status:
            raise AssertionError(err)
        document = json.loads(out)
        assert document['schema'] == 'zescope.analysis/1'
        return document

    def findings(self, kernel):
        return {f['rule']: f for f in self.kernels[kernel]['findings']}

    def check_finding(self, kernel, rule):
        finding = self.findings(kernel).get(rule)
        self.assertIsNotNone(finding, (kernel, rule, list(self.findings(kernel))))
        place = finding['places'][0]
        self.assertEqual(os.path.basename(place['path']), 'kinds.cl')
        self.assertTrue(finding['text'] and finding['advice'] and finding['numbers'])
        return finding, place['line']

    def number(self, finding, name):
        return next(n['value'] for n in finding['numbers'] if n['name'] == name)

    def test_gains(self):
        """What holds a kernel up is found by replaying it without that: first, at its line; a kernel that has it
        not gains nothing."""
        rec = self.kinds.record('gains', '--counts', '--metrics', 'ZscopeGains,ZscopeMemory,ZscopeStallSampling',
                                kernels=(*SHAPES, *OF_GAINS))
        kernels = {k['name']: k for k in self.analyze(rec)['kernels']}
        first = {'chased': 'scattered', 'private_array': 'private-arrays', 'sines': 'extended-math',
                 'doubled': 'doubles', 'hidden': 'bank-conflicts', 'imbalanced': 'barrier-imbalance',
                 'uneven': 'barrier-imbalance', 'divergent': 'divergence', 'spilling': 'spills',
                 'strided': 'uncoalesced', 'scattered': 'uncoalesced', 'conflicts': 'bank-conflicts',
                 'wrapped': 'uncoalesced'}
        for name, rule in first.items():
            finding = kernels[name]['findings'][0]
            self.assertEqual(finding['rule'], rule, name)
            self.assertGreater(finding['gain'], 20, name)
            self.assertLessEqual(finding['gain'], 100, name)
            self.assertTrue(kernels[name]['limited_by'], name)
            lines = [p['line'] for p in finding['places']]
            if name not in ('imbalanced', 'uneven'):
                self.assertIn(self.kinds.line(name), lines, name)
            # by half of it where it is what all kinds of causes look like
            gains = [f['gain'] for f in kernels[name]['findings'] if f['gain'] is not None and
                     f['rule'] not in ('message-latency', 'dependencies', 'low-occupancy')]
            self.assertEqual(gains, sorted(gains, reverse=True), name)
        for rule, has in (('redundant-loads', 'again'), ('issue-bound', 'hashed')):
            for name in (has, 'clean', 'streaming'):
                found = [f for f in kernels[name]['findings'] if f['rule'] == rule]
                self.assertEqual(len(found), name == has, (rule, name))
                if found:
                    self.assertIn(self.kinds.line(has), [p['line'] for p in found[0]['places']])
                if found and rule == 'redundant-loads':
                    self.assertGreater(found[0]['gain'], 1)
        self.assertEqual(kernels['clean']['findings'], [])
        self.assertEqual(kernels['clean']['limited_by'], 'issue of pipe FPU0')
        self.assertGreater(kernels['clean']['limit'], 80)
        # one sentence, with what it is percent of; what works and what threads do
        self.assertRegex(kernels['contended']['limit_text'], r'^atomics at few places: \d+ % of what it can do$')
        self.assertRegex(kernels['chased']['limit_text'], r'^bandwidth of reads from beyond L3: \d+ % of what it can do$')
        self.assertEqual(kernels['imbalanced']['limited_by'], 'barriers')
        self.assertEqual(kernels['contended']['limited_by'], 'atomics at few places')
        self.assertRegex(kernels['crowded']['limit_text'], r'^too little work: EUs have threads \d+ % of the time$')
        for kernel in kernels.values():
            self.assertAlmostEqual(sum(s['percent'] for s in kernel['stalls']), 100, delta=.1)
            self.assertTrue(all(0 < u['percent'] <= 100 for u in kernel['units']), kernel['units'])
            self.assertLessEqual(kernel['occupancy_achieved'], kernel['quantities']['occupancy'] + .1)

    def test_profile(self):
        status, out, err = self.kinds.run('profile', '-d', 'skl', '-o', 'profiled', '--html', 'page.html', '--',
                                          self.kinds.program, self.kinds.binary, '4', 'doubled:42:256:0:1', 'clean:42:256:0:2')
        self.assertEqual(status, 0, err)
        self.assertRegex(out, r'doubled\n +limited by issue of pipe FPU1: \d+ % of what it can do; \d+ % of thread places are taken\n +first: double precision, gain \d+ %, '
                              f'kinds.cl:{self.kinds.line("doubled")}')
        self.assertRegex(out, r'clean\n +limited by issue of pipe FPU0: \d+ % of what it can do; \d+ % of thread places are taken\n +first: nothing')
        with open(os.path.join(self.kinds.folder, 'page.html')) as page:
            self.assertIn('doubled', page.read())
        status, out, err = self.kinds.run('profile', '--', './no-such-application')
        self.assertEqual((status, out), (127, ''), err)  # not the table of the recording before
        status, out, err = self.kinds.run('profile', '-d', 'foo', '--', 'true')
        self.assertEqual((status, out, 'software GPU as' in err, 'zescope profile --help' in err), (2, '', False, True), err)
        status, out, err = self.kinds.run('profile', '-k', 'none', '--', self.kinds.program, self.kinds.binary, '1', 'clean:1:16:0:1')
        self.assertEqual((status, out), (1, ''))
        self.assertIn('no kernels ran of names that match --kernel', err)
        status, _, err = self.kinds.run('profile')
        self.assertEqual((status, 'no application' in err), (2, True))

    def test_profile_of_names_as_they_were_written(self):
        """Kernels of C++ are found by what is shown, and by what compilers have."""
        square, sycl = '_Z6squareILi4EEvPi', '_ZTSZ4mainE6VecAdd'
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, 'names.cl')
            with open(source, 'w') as f:
                f.write(''.join(f'__kernel void {n}(__global float *a, __global float *b, int rounds) '
                                '{ b[get_global_id(0)] += a[get_global_id(0)]; }\n' for n in (square, sycl)))
            kinds = Kinds(source, *PATHS[1:], folder)
            launch = [kinds.program, kinds.binary, '1', square + ':1:64:0:3', sycl + ':1:64:0:5']
            for pattern, name, launches in (('square<4>', square, 3), ('6square', square, 3), ('^main::VecAdd$', sycl, 5)):
                for words in (('record', '--counts'), ('profile', '--quick')):
                    rec = os.path.join(folder, 'rec')
                    shutil.rmtree(rec, ignore_errors=True)
                    status, _, err = kinds.run(*words, '-k', pattern, '-o', rec, '--', *launch)
                    self.assertEqual((status, 'no kernel that matches' in err), (0, False), err)
                    ran = {k['name']: k['quantities']['launches'] for k in self.analyze(rec)['kernels']}
                    self.assertEqual({n: c for n, c in ran.items() if c}, {name: launches}, (pattern, words))

    def test_profile_takes_the_gpu_that_is_there(self):
        app = ['--', self.kinds.program, self.kinds.binary, '1', 'clean:1:16:0:1']
        own = self.kinds.env
        self.addCleanup(setattr, self.kinds, 'env', own)
        self.kinds.env = {**own, 'ZE_ENABLE_ALT_DRIVERS': MOCK_GPU}
        status, out, err = self.kinds.run('profile', '-o', 'on_gpu', *app)
        self.assertEqual(status, 0, err)
        self.assertRegex(err, r"on this machine's Intel.*Graphics.*: times are measured")
        self.assertRegex(out, r'1  clean\n +limited by too little work')
        status, _, err = self.kinds.run('profile', '-d', 'skl', '-o', 'on_software', *app)
        self.assertEqual((status, 'on the software GPU as skl' in err), (0, True), err)
        self.kinds.env = {**own, 'ZE_ENABLE_ALT_DRIVERS': os.path.join(self.folder.name, 'none.so')}
        status, _, err = self.kinds.run('profile', '-o', 'without_gpu', *app)
        self.assertEqual((status, 'on the software GPU as skl' in err), (0, True), err)

    def test_clean_kernel(self):
        self.assertEqual(self.findings('clean'), {})
        roofline = self.kernels['clean']['roofline']
        self.assertEqual(roofline['bound'], 'compute')
        # HD 530: 24 EUs, 8 lanes, 2 operations, 1.15 GHz
        self.assertAlmostEqual(roofline['peak'], 24 * 8 * 2 * 1.15)
        self.assertGreater(roofline['rate'], 0.5 * roofline['peak'])
        self.assertLessEqual(roofline['rate'], roofline['peak'])

    def test_memory_bound(self):
        finding, line = self.check_finding('streaming', 'memory-bound')
        self.assertEqual(line, self.kinds.line('streaming'))
        self.assertEqual(self.number(finding, 'intensity'), 1 / 8)
        roofline = self.kernels['streaming']['roofline']
        (l3,) = roofline['roofs']
        self.assertEqual((l3['name'], roofline['bound']), ('L3', 'L3'))
        self.assertAlmostEqual(l3['peak_rate'], 3 * 64 * 1.15)
        self.assertAlmostEqual(l3['attainable'], l3['peak_rate'] / 8)
        self.assertNotIn('uncoalesced', self.findings('streaming'))

    def test_uncoalesced(self):
        finding, line = self.check_finding('strided', 'uncoalesced')
        self.assertEqual(line, self.kinds.line('strided'))
        self.assertEqual(self.number(finding, 'stride'), 128)
        # every lane of the load touches a line of its own; the store does not waste any
        messages = 168 * 256 / 16
        self.assertEqual(self.number(finding, 'lines_touched'), messages * (16 + 1))
        self.assertEqual(self.number(finding, 'lines_needed'), messages * 2)

    def test_what_the_code_does_not_tell_is_measured(self):
        (why,) = [n['why'] for n in self.kernels['scattered']['not_judged'] if n['rule'] == 'uncoalesced']
        self.assertIn('record --metrics ZscopeMemory', why)
        rec = self.kinds.record('memory', '--counts', '--metrics', 'ZscopeMemory', kernels=['scattered', 'streaming'])
        kernels = {k['name']: k for k in self.analyze(rec)['kernels']}
        finding = next(f for f in kernels['scattered']['findings'] if f['rule'] == 'uncoalesced')
        self.assertEqual(finding['places'][0]['line'], self.kinds.line('scattered'))
        self.assertLess(self.number(finding, 'SectorUse'), 20)
        self.assertNotIn('uncoalesced', [f['rule'] for f in kernels['streaming']['findings']])
        # what moved beyond the caches has a roof of its own
        roofs = {r['name']: r for r in kernels['streaming']['roofline']['roofs']}
        self.assertAlmostEqual(roofs['memory']['peak_rate'], 2133 * 128 / 8 / 1000)

    def test_divergence(self):
        finding, line = self.check_finding('divergent', 'divergence')
        self.assertIn(line, (self.kinds.line('divergent'), self.kinds.line('divergent') - 1))
        self.assertLess(self.number(finding, 'lane_use'), 30)

    def test_spills(self):
        finding, line = self.check_finding('spilling', 'spills')
        self.assertEqual(line, self.kinds.line('spilling'))
        self.assertGreater(self.number(finding, 'scratch_moved'), 0)

    def test_bank_conflicts(self):
        finding, line = self.check_finding('conflicts', 'bank-conflicts')
        self.assertEqual(line, self.kinds.line('conflicts'))
        # sixteen lanes 64 bytes apart meet in one bank
        self.assertGreater(self.number(finding, 'bank_cycles'), 4 * self.number(finding, 'bank_cycles_without'))
        self.assertNotIn('bank-conflicts', self.findings('crowded'))
        self.assertNotIn('bank-conflicts', [n['rule'] for n in self.kernels['conflicts']['not_judged']])
        self.assertNotIn('bank-conflicts', self.findings('imbalanced'))

    def test_bank_conflicts_that_the_code_does_not_tell_are_measured(self):
        (why,) = [n['why'] for n in self.kernels['hidden']['not_judged'] if n['rule'] == 'bank-conflicts']
        self.assertIn('record --metrics ZscopeMemory', why)
        for device in ('skl', 'dg2'):
            kinds = self.kinds if device == 'skl' else self.few('dg2', 'hidden', 'conflicts', 'crowded')
            rec = kinds.record('hidden', '--counts', '--metrics', 'ZscopeMemory,ZscopeMemoryByAddress',
                               kernels=['hidden', 'conflicts', 'crowded'])
            kernels = {k['name']: k for k in self.analyze(rec)['kernels']}
            for name in ('hidden', 'conflicts'):
                (finding,) = [f for f in kernels[name]['findings'] if f['rule'] == 'bank-conflicts']
                self.assertEqual(finding['places'][0]['line'], kinds.line(name))
            # a thread's 16 lanes, 64 bytes apart: one bank has all of them, once a round
            (finding,) = [f for f in kernels['hidden']['findings'] if f['rule'] == 'bank-conflicts']
            rounds, messages = 16 * 4, 42 * 64 // 16
            self.assertGreaterEqual(self.number(finding, 'SlmConflictCycles'), .9 * 15 * rounds * messages)
            self.assertLessEqual(self.number(finding, 'SlmConflictCycles'), 1.1 * 15 * rounds * messages)
            self.assertEqual([f for f in kernels['crowded']['findings'] if f['rule'] == 'bank-conflicts'], [])

    def few(self, device, *names):
        """These kernels alone, for another device: all take long to compile."""
        with open(PATHS[0]) as f:
            pieces = re.split('(?m)^(?=__kernel)', f.read())
        # the lines stay where they are
        text = pieces[0] + ''.join(p if re.match(r'__kernel void (\w+)', p)[1] in names else '\n' * p.count('\n')
                                   for p in pieces[1:])
        folder = tempfile.mkdtemp(dir=self.folder.name)
        with open(os.path.join(folder, 'few.cl'), 'w') as f:
            f.write(text)
        return Kinds(os.path.join(folder, 'few.cl'), *PATHS[1:], folder, device)

    def test_other_generations(self):
        """Threads that load their local ids, sums of three, devices without published rates of caches."""
        kinds = self.few('dg2', 'streaming', 'strided')
        rec = kinds.record('plain', '--counts', kernels=['streaming', 'strided'])
        kernels = {k['name']: k for k in self.analyze(rec)['kernels']}
        (finding,) = [f for f in kernels['strided']['findings'] if f['rule'] == 'uncoalesced']
        self.assertEqual(self.number(finding, 'stride'), 128)
        self.assertEqual(finding['places'][0]['line'], kinds.line('strided'))
        self.assertNotIn('uncoalesced', [f['rule'] for f in kernels['streaming']['findings']])
        self.assertEqual([n['rule'] for n in kernels['streaming']['not_judged'] if 'is published' in n['why']],
                         ['memory-bound'])
        for groups in ('ZscopeMemory', 'ComputeOverview'):
            rec = kinds.record('moved_' + groups, '--counts', '--metrics', groups, kernels=['streaming'])
            (kernel,) = self.analyze(rec)['kernels']
            (finding,) = [f for f in kernel['findings'] if f['rule'] == 'memory-bound']
            self.assertEqual(finding['places'][0]['line'], kinds.line('streaming'))
            roof = {r['name']: r for r in kernel['roofline']['roofs']}['memory']
            # four bytes read and four written for each item, and what threads load as arguments
            self.assertGreaterEqual(roof['moved_B'], 168 * 256 * 8)
            self.assertLess(roof['moved_B'], 168 * 256 * 8 * 1.1)

    def test_groups_that_take_turns(self):
        """Each measures half of the launches: bytes of memory are those of all."""
        whole = self.kinds.record('whole', '--counts', '--metrics', 'ZscopeMemory', kernels=['streaming'],
                                  streaming=(168, 256, 0, 4))
        turns = self.kinds.record('turns', '--counts', '--metrics', 'ZscopeMemory,ZscopeStalls', kernels=['streaming'],
                                  streaming=(168, 256, 0, 4))
        roofs = [{r['name']: r for r in self.analyze(rec)['kernels'][0]['roofline']['roofs']} for rec in (whole, turns)]
        self.assertEqual(roofs[0]['memory']['moved_B'], 4 * 168 * 256 * 4)
        self.assertEqual(roofs[1]['memory']['moved_B'], roofs[0]['memory']['moved_B'])

    def test_low_occupancy(self):
        finding, _ = self.check_finding('crowded', 'low-occupancy')
        self.assertIn('local memory limits', finding['text'])
        self.assertEqual(self.kernels['crowded']['limiter'], 'local memory')
        self.assertLess(self.number(finding, 'occupancy'), 10)

    def test_partial_threads_and_tail(self):
        rec = self.kinds.record('partial', '--counts', kernels=['clean'], clean=(22, 250, 0, 1))
        (kernel,) = self.analyze(rec)['kernels']
        self.assertEqual([f['rule'] for f in kernel['findings']], ['tail'])
        finding = kernel['findings'][0]
        # 22 groups of 8 threads in places for 168
        self.assertAlmostEqual(self.number(finding, 'waves'), 22 * 8 / 168)
        rec = self.kinds.record('few', '--counts', kernels=['clean'], clean=(84, 10, 0, 1))
        (kernel,) = self.analyze(rec)['kernels']
        self.assertIn('partial-threads', [f['rule'] for f in kernel['findings']])
        self.assertNotIn('divergence', [f['rule'] for f in kernel['findings']])
        for rules, kernel in ((['divergence', 'partial-threads'], 'divergent'), (['partial-threads'], 'streaming')):
            rec = self.kinds.record('few_' + kernel, '--counts', kernels=[kernel], **{kernel: (168, 8, 0, 1)})
            found = [f['rule'] for f in self.analyze(rec)['kernels'][0]['findings']]
            self.assertEqual([r for r in sorted(found) if r in ('divergence', 'partial-threads')], rules)
        rec = self.kinds.record('small', '--counts', kernels=['clean'], clean=(1, 256, 0, 1))
        (kernel,) = self.analyze(rec)['kernels']
        (finding,) = [f for f in kernel['findings'] if f['rule'] == 'low-occupancy']
        self.assertIn('too few work-groups', finding['text'])

    def test_own_memory(self):
        """What threads have of their own lies in all banks of L3: a part of the device is as quick as all of it."""
        times = {}
        for timing in ('model', 'exact'):
            with tempfile.TemporaryDirectory() as folder:
                kinds = Kinds(*PATHS, folder, 'acm-g10')
                kinds.env['ZESCOPE_TIMING'] = timing
                rec = kinds.record('rec', '--counts', kernels=['private_array'], private_array=(336, 64, 0, 1))
                times[timing] = json.loads(kinds.run('analyze', '--json', rec)[1])['kernels'][0]['quantities']['time_mean']
        self.assertLess(times['exact'], 1.2 * times['model'])
        self.assertLess(times['model'], 1.2 * times['exact'])

    def test_barrier_imbalance(self):
        """One thread of a group works, the others wait for it: with stall cycles of the timing model."""
        rec = self.kinds.record('stalls', '--counts', '--metrics', 'ZscopeStalls', kernels=['imbalanced', 'crowded', 'clean'])
        kernels = {k['name']: k for k in self.analyze(rec)['kernels']}
        finding = next(f for f in kernels['imbalanced']['findings'] if f['rule'] == 'barrier-imbalance')
        self.assertEqual(finding['places'][0]['line'], self.kinds.line('imbalanced'))
        # seven of eight threads, or fifteen of sixteen, wait nearly all of their time
        self.assertGreater(finding['severity'], .6)
        self.assertEqual({n['rule'] for n in kernels['imbalanced']['not_judged']}, BY_GAIN)
        for name in ('crowded', 'clean'):
            self.assertNotIn('barrier-imbalance', [f['rule'] for f in kernels[name]['findings']])
        # what few do while the others wait comes first, then where they wait: of several barriers the one with most stall cycles
        rec = self.kinds.record('waits', '--counts', '--metrics', 'ZscopeStalls,ZscopeStallSampling', kernels=['uneven'])
        (finding,) = [f for f in self.analyze(rec)['kernels'][0]['findings'] if f['rule'] == 'barrier-imbalance']
        self.assertEqual([p['line'] for p in finding['places']][:2], [self.kinds.line('few'), self.kinds.line('uneven')])
        self.assertIn('few', finding['text'])
        rec = os.path.join(self.folder.name, 'stalls')
        # what was recorded has names in formulas: of the group, and alone, in any case
        for name in ('ZscopeStalls.SyncStall', 'SyncStall', 'zscopestalls.syncstall'):
            self.assertEqual(self.kinds.run('check', '--min', f'imbalanced:{name}=1', rec)[0], 0)
            self.assertEqual(self.kinds.run('check', '--assert', f'imbalanced: {name} / ThreadCycles > 60%', rec)[0], 0)
            self.assertEqual(self.kinds.run('check', '--max', f'imbalanced:{name}=1', rec)[0], 3)
        status, _, err = self.kinds.run('check', '--assert', 'SyncStall + GpuTime > 1 ns', rec)
        self.assertEqual(status, 2)
        self.assertIn('a sum of cycles and time', err)

    def test_without_optimisation(self):
        """Its private arrays are nobody's; the options of the build tell."""
        folder = os.path.join(self.folder.name, 'unoptimised')
        os.mkdir(folder)
        source = os.path.join(folder, 'plain.cl')
        with open(source, 'w') as f:
            f.write('__kernel void plain(__global float *a, __global float *b, int rounds)\n'
                    '{ float x = a[get_global_id(0)];\n  for (int k = 0; k < 8 * rounds; k++) x = x * 0.5f + 1.0f;\n'
                    '  b[get_global_id(0)] = x; }\n')
        for options, told in (('-g -cl-opt-disable', True), ('-g', False)):
            kinds = Kinds(source, *PATHS[1:], folder, options=options)
            rec = kinds.record(f'rec{told}', '--counts', '--metrics', 'ZscopeGains', kernels=('plain',), plain=(42, 64, 0, 1))
            rules = [f['rule'] for f in self.analyze(rec)['kernels'][0]['findings']]
            self.assertEqual(rules[:1] == ['unoptimised'], told, rules)
            self.assertFalse({'private-arrays', 'spills'} & set(rules), rules)

    def test_large_registers(self):
        """Half of the threads fit, which patch tokens do not say; and what it gains to build without."""
        folder, found = os.path.join(self.folder.name, 'large'), {}
        os.mkdir(folder)
        source = os.path.join(folder, 'plain.cl')
        with open(source, 'w') as f:
            f.write('__kernel void plain(__global float *a, __global float *b, int rounds)\n'
                    '{ float x = a[get_global_id(0)], y = 0.0f;\n  for (int k = 0; k < 16 * rounds; k++) { y = mad(y, x, 1.0f); x *= 0.99f; }\n'
                    '  b[get_global_id(0)] = y; }\n')
        for options in ('-g -cl-intel-256-GRF-per-thread', '-g'):
            kinds = Kinds(source, *PATHS[1:], folder, device='acm-g10', options=options)
            rec = kinds.record(f'rec{len(found)}', '--counts', '--metrics', 'ZscopeGains', kernels=('plain',), plain=(336, 256, 0, 1))
            found[options] = self.analyze(rec)['kernels'][0]
        large, small = found.values()
        self.assertEqual((large['quantities']['occupancy'], small['quantities']['occupancy']), (50, 100))
        self.assertEqual((large['quantities']['registers'], large['limiter']), (256, 'large register files'))
        gained = 100 * (1 - small['quantities']['time_mean'] / large['quantities']['time_mean'])
        self.assertGreater(gained, 10)
        first = large['findings'][0]
        self.assertEqual(first['rule'], 'large-registers', large['findings'])
        self.assertLess(abs(first['gain'] - gained), gained / 3)
        self.assertNotIn('large-registers', [f['rule'] for f in small['findings']])

    def test_what_was_not_recorded(self):
        whys = {n['rule']: n['why'] for n in self.kernels['imbalanced']['not_judged']}
        self.assertEqual(set(whys), {'barrier-imbalance', *BY_GAIN})
        self.assertIn('record --metrics ZscopeGains', whys['doubles'])
        self.assertIn('record --metrics ZscopeStalls', whys['barrier-imbalance'])
        self.assertEqual({n['rule'] for n in self.kernels['clean']['not_judged']}, BY_GAIN)
        bare = self.kinds.record('bare', kernels=['clean', 'spilling'])
        status, out, err = self.kinds.run('analyze', bare)
        self.assertEqual(status, 0)
        self.assertIn('instructions were not counted', err)
        self.assertIn('roofline    n/a', out)
        self.assertRegex(out, r'register spills: \d+ bytes of registers of each thread are spilled\n')
        self.assertIn('record -d DEVICE --counts', out)
        self.assertIn('nothing found of what was judged', out)
        kernel = self.analyze(bare)['kernels'][0]
        self.assertIsNone(kernel['roofline']['count'])

    def test_text(self):
        status, out, _ = self.kinds.run('analyze', '--color', 'always', '-k', '^str', self.rec)
        self.assertEqual(status, 0)
        self.assertIn('\x1b[1;33muncoalesced access\x1b[0m: neighbouring work-items are 128 bytes apart', out)
        self.assertIn(f'kinds.cl:{self.kinds.line("strided")}: float x = a[i * 32];', out)
        self.assertNotIn('clean', out)
        self.assertIn('(modelled)', out)
        status, out, _ = self.kinds.run('analyze', '-n', '1', self.rec)
        self.assertIn('10 more kernels: --limit 0 shows all', out)
        self.assertEqual(self.kinds.run('analyze', '-k', 'nothing', self.rec)[0], 1)
        self.assertEqual(self.kinds.run('analyze', '-k', '(', self.rec)[0], 2)
        self.assertEqual(self.kinds.run('analyze', '/no/such')[0], 1)

    def test_definitions_and_quantities(self):
        path = os.path.join(self.folder.name, 'x.zsm')
        with open(path, 'w') as f:
            f.write('# For each item.\nper_item = instructions / items\nper_byte [flop/B] = flops / global_moved\n')
        document = self.analyze(self.rec, '--file', path)
        for kernel in document['kernels']:
            values = {d['name']: d for d in kernel['definitions']}
            q = kernel['quantities']
            self.assertAlmostEqual(values['per_item']['value'], q['instructions'] / q['items'])
            self.assertEqual(values['per_item']['description'], 'For each item.')
            self.assertEqual(values['per_byte']['unit'], 'flop/B')
        status, out, _ = self.kinds.run('analyze', '--file', path, '--quantities', '-k', 'streaming', self.rec)
        self.assertRegex(out, r'(?m)^    per_byte +0.125 flop/B$')
        self.assertRegex(out, r'(?m)^    global_read +172 kB$')
        with open(path, 'w') as f:
            f.write('x = spills + time_mean\n')
        status, _, err = self.kinds.run('analyze', '--file', path, self.rec)
        self.assertEqual(status, 2)
        self.assertIn('x.zsm:1:12: a sum of bytes and time', err)

    def test_nbody(self):
        """The example: four groups are too few for the device; a limit below that fails a build."""
        folder = os.path.join(self.folder.name, 'nbody')
        shutil.copytree(NBODY_SOURCES, folder)
        subprocess.run(['ocloc', 'compile', '-q', '-file', 'nbody.cl', '-device', 'skl', '-options', '-g', '-output',
                        'nbody'], cwd=folder, check=True, capture_output=True, timeout=100)
        rec = os.path.join(folder, 'rec')
        status, _, err = self.kinds.run('record', '--counts', '--debug-info', '-o', rec, '--', NBODY,
                                        glob.glob(os.path.join(folder, '*.spv'))[0])
        self.assertEqual(status, 0, err)
        (kernel,) = self.analyze(rec)['kernels']
        (finding,) = kernel['findings']
        self.assertEqual(finding['rule'], 'low-occupancy')
        self.assertIn('too few work-groups', finding['text'])
        with open(os.path.join(folder, 'nbody.cl')) as f:
            line = next(n for n, text in enumerate(f, 1) if '__kernel' in text)
        self.assertEqual(finding['places'][0]['line'], line)
        # 256 bodies pull each at each other, four times; the multiplications and additions of pull()
        self.assertGreater(kernel['quantities']['flops'], 4 * 256 * 256 * 15)
        self.assertLess(kernel['quantities']['flops'], 4 * 256 * 256 * 25)
        self.assertEqual(self.kinds.run('check', '--min', 'nbody*:fill=50', rec)[0], 3)
        self.assertEqual(self.kinds.run('check', '--max', 'spills=0', '--min', 'lane_use=100', rec)[0], 0)

    def test_page(self):
        """The page of a recording holds the same analysis."""
        page = os.path.join(self.folder.name, 'rec.html')
        status, _, err = self.kinds.run('report', '--html', page, self.rec)
        self.assertEqual(status, 0, err)
        with open(page) as f:
            text = f.read()
        start = text.index('>', text.index('id="recording"')) + 1
        record = json.loads(text[start:text.index('</script>', start)])
        self.assertEqual(record['analysis']['kernels'], self.document['kernels'])

    def test_shapes(self):
        self.assertEqual(set(self.kernels), set(SHAPES))


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
