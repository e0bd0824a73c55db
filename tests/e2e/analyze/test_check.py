#!/usr/bin/env python3
"""zescope check: what it says of kernels whose numbers are known, and its exit status.

Usage: test_check.py KINDS.cl ZESCOPE DRIVER PROGRAM CLIENT
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ET

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from kinds import Kinds, SHAPES  # noqa: E402

PATHS = [os.path.abspath(p) for p in sys.argv[1:5]]
CLIENT = os.path.abspath(sys.argv[5])


class Check(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.kinds = Kinds(*PATHS, cls.folder.name)
        cls.rec = cls.kinds.record('rec', '--counts')

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def check(self, *words, rec=None):
        return self.kinds.run('check', *words, rec or self.rec)

    def results(self, *words, rec=None):
        status, out, err = self.check('--json', *words, rec=rec)
        self.assertIn(status, (0, 3), err)
        document = json.loads(out)
        self.assertEqual(document['schema'], 'zescope.check/1')
        self.assertEqual(document['failed'] == 0, status == 0)
        return document['results']

    def write(self, name, text):
        path = os.path.join(self.folder.name, name)
        with open(path, 'w') as f:
            f.write(text)
        return path

    def test_quantities_that_are_known_by_construction(self):
        def value(kernel, name):
            (result,) = self.results('--max', f'{kernel}:{name}=1e18')
            return result['value']
        for kernel, (groups, size, local_B, launches) in SHAPES.items():
            items = groups * size * launches
            self.assertEqual(value(kernel, 'launches'), launches)
            self.assertEqual(value(kernel, 'items'), items)
            self.assertEqual(value(kernel, 'groups'), groups * launches)
            self.assertEqual(value(kernel, 'group_items'), size)
            self.assertEqual(value(kernel, 'slm'), local_B)
            self.assertEqual(value(kernel, 'threads'), groups * launches * -(-size // value(kernel, 'simd')))
        items = 168 * 256
        self.assertEqual(value('streaming', 'global_read'), 4 * items)
        self.assertEqual(value('streaming', 'global_written'), 4 * items)
        self.assertEqual(value('streaming', 'global_moved'), 8 * items)
        self.assertEqual(value('streaming', 'flops'), items)
        self.assertEqual(value('streaming', 'intensity'), 1 / 8)
        self.assertEqual(value('streaming', 'lane_use'), 100)
        # 64 * 4 rounds of two mads, an addition before and one behind
        self.assertEqual(value('clean', 'flops'), 2 * 42 * 256 * (256 * 4 + 2))
        self.assertEqual(value('clean', 'flops_single'), value('clean', 'flops'))
        self.assertEqual(value('clean', 'flops_double'), 0)
        self.assertEqual(value('clean', 'spills'), 0)
        self.assertGreater(value('spilling', 'spills'), 0)
        self.assertGreater(value('spilling', 'scratch_moved'), 0)
        self.assertEqual(value('crowded', 'slm_moved'), 42 * 32 * 8)
        # 40000 bytes take the 64 KiB of a subslice, a group has two threads or more
        threads = -(-32 // value('crowded', 'simd'))
        self.assertAlmostEqual(value('crowded', 'occupancy'), 100 * threads / 56)

    def test_status_and_text(self):
        status, out, err = self.check('--max', 'spills=0')
        self.assertEqual(status, 3)
        self.assertRegex(out, r'FAILED  spilling: spills is \d+ B, at most 0 B is allowed \[--max spills=0\]\n')
        self.assertRegex(out, rf'kinds.cl:{self.kinds.line("spilling")}: v\[k\] = mad')
        self.assertEqual(out.count('FAILED'), 1)
        self.assertIn(f'1 of {len(SHAPES)} checks failed', err)
        status, out, err = self.check('--max', '[!s]*:spills=0', '--min', 'clean:lane_use>99%', '--assert',
                                      'str*: flops > 0 and spills == 0 B')
        self.assertEqual((status, out), (0, ''), err)
        self.assertIn(f'all {len(SHAPES) - 1} checks hold', err)
        status, out, _ = self.check('--all', '--min', 'clean:lane_use>99%')
        self.assertEqual(status, 0)
        self.assertIn('passed  clean: lane_use is 100 %, at least 99 % is wanted', out)
        self.assertEqual(self.check('--min', 'clean:lane_use>1', '--min', 'clean:lane_use>=100')[0], 0)
        self.assertEqual(self.check('--min', 'clean:lane_use>101')[0], 3)

    def test_colours(self):
        self.assertIn('\x1b[1;31mFAILED', self.check('--color', 'always', '--max', 'spills=0')[1])
        self.assertNotIn('\x1b', self.check('--max', 'spills=0')[1])

    def test_what_is_not_there_fails(self):
        for words, text in ((['--max', 'nothing:spills=0'], "no kernel that ran is called 'nothing'"),
                            (['--max', 'clean:XVE_ACTIVE=100%'], "there is no 'XVE_ACTIVE' in this recording"),
                            (['--assert', 'clean: nowhere > 0 or spills == 3 B'], "there is no 'nowhere'")):
            status, out, _ = self.check(*words)
            self.assertEqual(status, 3, words)
            self.assertIn(text, out)
        self.assertEqual(self.check('--assert', 'clean: nowhere > 0 or spills == 0 B')[0], 0)
        bare = self.kinds.record('bare', kernels=['clean'])
        status, out, _ = self.check('--max', 'instructions=1e9', rec=bare)
        self.assertEqual(status, 3)
        self.assertIn('--counts` (or', out)
        status, out, _ = self.check('--max', 'spills=0', '--max', 'time_mean=1s', rec=bare)
        self.assertEqual(status, 0, out)

    def test_wrong_usage_and_recordings_that_cannot_be_read(self):
        for words, text in ((['--max', 'spills'], "column 7: '=' and the limit is expected"),
                            (['--max', 'spills>0'], "column 7: '>' does not go with max"),
                            (['--min', 'clean:instuctions=0'], 'nearest: instructions'),
                            (['--max', 'spills=3 us'], 'the limit is in time and the value in bytes'),
                            (['--assert', 'spills + time_mean > 0'], 'column 8: a sum of bytes and time'),
                            (['--assert', 'lane_use > 90'], "write '60%' for 60 %"),
                            (['--max', 'spills=0', '--tolerance', 'spills=1'], '--tolerance is for --baseline'),
                            (['--baseline', self.rec, '--tolerance', 'spills'], 'is no tolerance'),
                            ([], 'nothing to check')):
            status, out, err = self.check(*words)
            self.assertEqual((status, out), (2, ''), words)
            self.assertIn(text, err)
        self.assertEqual(self.check('--max', 'spills=0', rec='/no/such')[0], 1)
        self.assertEqual(self.check('--file', '/no/such', '--max', 'spills=0')[0], 1)
        damaged = os.path.join(self.folder.name, 'damaged')
        shutil.copytree(self.rec, damaged)
        counts = os.path.join(damaged, 'counts')
        with open(os.path.join(counts, sorted(os.listdir(counts))[0]), 'r+b') as f:
            f.truncate(300)
        status, _, err = self.check('--max', 'clean:time_mean=1s', rec=damaged)
        self.assertEqual(status, 1)
        self.assertIn('counts are damaged', err)

    def test_files(self):
        path = self.write('limits.zsm', '# What an item executes.\n'
                          'per_item = instructions / items\n'
                          'moved [MB] = global_moved + slm_moved\n'
                          'max streaming: per_item = 100\n'
                          'min streaming: moved = 300 kB # 344064 bytes\n'
                          'assert clean: per_item > 1e6\n')
        status, out, _ = self.check('--file', path)
        self.assertEqual(status, 3)
        self.assertEqual(out.count('FAILED'), 1)
        self.assertIn('FAILED  clean: does not hold: per_item > 1e6 [', out)
        self.assertIn('limits.zsm:6 clean: per_item > 1e6]', out)
        (result,) = self.results('--file', path, '--min', 'streaming:moved=0')[-1:]
        self.assertAlmostEqual(result['value'], 0.344064)
        self.assertEqual(result['unit'], 'MB')
        status, _, err = self.check('--file', self.write('nothing.zsm', 'x = launches\n# max spills = 0\n'))
        self.assertEqual((status, 'no --file asserts anything' in err), (2, True), err)
        for text, error in (('x = spills + time_mean\n', '1:12: a sum of bytes and time'),
                            ('\nx [ns] = spills\n', "2:1: the unit of 'x' does not fit: its formula gives bytes"),
                            ('spills = 3\n', "1:1: 'spills' is a quantity already"),
                            ('x = (1 +\n', "2:1: a number, a name or '(' is expected, not the end"),
                            ('max clean: spills\n', "1:18: '=' and the limit is expected, not the end of the line")):
            path = self.write('wrong.zsm', text)
            status, _, err = self.check('--file', path)
            self.assertEqual(status, 2, text)
            self.assertIn(f'wrong.zsm:{error}', err)

    def test_junit(self):
        path = os.path.join(self.folder.name, 'results.xml')
        status, _, _ = self.check('--junit', path, '--max', 'spills=0', '--max', 'a<&"\ufffe*:spills=0')
        self.assertEqual(status, 3)
        suites = ET.parse(path).getroot()
        self.assertEqual((suites.tag, suites.get('tests'), suites.get('failures')), ('testsuites', str(len(SHAPES) + 1), '2'))
        cases = {c.get('classname'): c for c in suites.iter('testcase')}
        self.assertEqual(set(cases), set(SHAPES) | {'a<&"\ufffd*'})
        self.assertIsNone(cases['clean'].find('failure'))
        failure = cases['spilling'].find('failure')
        self.assertEqual(failure.get('type'), 'failed')
        self.assertRegex(failure.get('message'), r'spills is \d+ B')
        self.assertEqual(cases['spilling'].get('line'), str(self.kinds.line('spilling')))
        status, _, _ = self.check('--junit', path, '--max', 'clean:spills=0')
        self.assertEqual((status, ET.parse(path).getroot().get('failures')), (0, '0'))

    def test_launches_differ(self):
        """Sums of more launches are no difference of the kernel: those of a launch are compared."""
        once = self.kinds.record('once', '--counts', kernels=('clean',))
        thrice = self.kinds.record('thrice', '--counts', kernels=('clean',) * 3)
        status, out, err = self.kinds.run('compare', '--all', '--json', once, thrice)
        self.assertEqual(status, 0, err)
        kernel = next(k for k in json.loads(out)['kernels'] if k['name'] == 'clean')
        values = {v['name']: v for v in kernel['values']}
        self.assertIs(kernel['per_launch'], True)
        self.assertEqual(values['launches']['b'], 3 * values['launches']['a'])
        for name in ('instructions', 'groups', 'items', 'global_read', 'messages'):
            self.assertGreater(values[name]['a'], 0)
            self.assertEqual(values[name]['a'], values[name]['b'], name)
            self.assertFalse(values[name]['changed'])
        self.assertIn('launches differ: ', self.kinds.run('compare', once, thrice)[1])

    def test_clocks(self):
        """Estimated and replayed times are not held against each other, in whatever view; the same kinds are."""
        plain, again = self.kinds.record('estimated', kernels=('clean',)), self.kinds.record('replayed', '--counts', kernels=('clean',))
        clocks = {}
        for name, rec in (('estimated', plain), ('replayed', again)):
            with open(os.path.join(rec, 'meta.json'), encoding='utf-8') as f:
                clocks[name] = json.load(f)['timing']
        self.assertEqual(clocks, {'estimated': 'formula', 'replayed': 'model'})
        status, out, err = self.kinds.run('compare', plain, again)
        self.assertEqual((status, out), (1, ''))
        self.assertIn('estimated from counts of instructions', err)
        self.assertIn('replayed by the model of time', err)
        self.assertIn('record both with --counts, or both without', err)
        self.assertEqual(self.kinds.run('compare', '--unlike-clocks', plain, again)[0], 0)
        self.assertEqual(self.kinds.run('compare', again, self.rec)[0], 0)
        base = os.path.join(self.kinds.folder, 'estimated.json')
        self.assertEqual(self.check('--write-baseline', base, rec=plain)[0], 0)
        for baseline in (plain, base):
            status, out, err = self.check('--baseline', baseline, rec=again)
            self.assertEqual(status, 1, out)
            self.assertIn("its times are of another kind (formula) than the recording's (model)", err)

    def test_baseline(self):
        base = os.path.join(self.folder.name, 'base.json')
        self.assertEqual(self.check('--write-baseline', base)[0], 0)
        with open(base) as f:
            document = json.load(f)
        self.assertEqual(document['schema'], 'zescope.baseline/1')
        self.assertEqual({k['name'] for k in document['kernels']}, set(SHAPES))
        same = self.kinds.record('same', '--counts')
        for other in (base, self.rec):
            status, out, err = self.check('--baseline', other, rec=same)
            self.assertEqual((status, out), (0, ''), err)
        # more rounds: more instructions
        more = self.kinds.record('more', '--counts', rounds=5)
        status, out, _ = self.check('--baseline', base, rec=more)
        self.assertEqual(status, 3)
        self.assertRegex(out, r'FAILED  clean: instructions is .*, in the baseline .* \(\+\d')
        self.assertNotIn('streaming', out)
        for tolerance, expected in (('clean:instructions=30%', 0), ('clean:instructions=10%', 3),
                                    ('clean:instructions=-1%', 0), ('clean:flops=0', 3), ('clean:flops=+-30%', 0),
                                    ('clean:spills=0', 0), ('nothing:spills=0', 3), ('clean:nowhere=5%', 3),
                                    ('streaming:instructions=0%', 0)):
            status, out, _ = self.check('--baseline', base, '--tolerance', tolerance, rec=more)
            self.assertEqual(status, expected, (tolerance, out))
        # less is better of these, and worse of others
        self.assertEqual(self.check('--baseline', more, '--tolerance', 'clean:instructions=0')[0], 0)
        few = self.kinds.record('few', '--counts', kernels=['clean'])
        status, out, _ = self.check('--baseline', base, rec=few)
        self.assertEqual(status, 3)
        self.assertIn('streaming: kernel cannot be judged: it is in the baseline and did not run', out)

    def client(self, *words, check=0):
        """Facts that a program gets through <zescope/analyze.h>, by their first word."""
        p = subprocess.run([CLIENT, *words], capture_output=True, text=True, timeout=100, check=False)
        self.assertEqual(p.returncode, check, p.stdout + p.stderr)
        facts = [line.split('\t') for line in p.stdout.splitlines()]
        return lambda kind: [f[1:] for f in facts if f[0] == kind]

    def test_a_client_of_the_library(self):
        facts = self.client(self.rec, 'max', 'spills=0', 'min', 'gone*:lane_use>90%', 'max', 'spills=',
                            'define', 'twice [B] = 2 * spills\nnone = spills / (spills - spills)\nmax twice = 0',
                            'value', 'spilling', 'twice',
                            'value', 'spilling', 'spills', 'value', 'spilling', 'spils')
        status, out, err = self.kinds.run('analyze', '--json', '-n', '0', self.rec)
        self.assertEqual(status, 0, err)
        document = json.loads(out)
        self.assertEqual(facts('recording'), [['1', str(len(SHAPES)), '1', '1', '']])
        self.assertEqual([[k['name'], '', k['module']] for k in document['kernels']], [f[:3] for f in facts('kernel')])
        for kernel, fact in zip(document['kernels'], facts('kernel')):
            self.assertEqual(fact[5], kernel['roofline']['bound'])
        said = [[k['name'], f['rule'], str(f['places'][0]['line'] if f['places'] else 0), f['text']]
                for k in document['kernels'] for f in k['findings']]
        self.assertEqual(facts('finding'), said)
        self.assertTrue(said)
        self.assertEqual(facts('empty'), [])
        self.assertEqual(facts('not judged'), [[k['name'], n['rule']] for k in document['kernels'] for n in k['not_judged']])
        expected = self.results('--max', 'spills=0', '--min', 'gone*:lane_use>90%')
        found = facts('result')
        self.assertEqual([[f[0], f[1], f[3]] for f in found[:len(expected)]],
                         [[r['status'], r['kernel'] or '', r['what']] for r in expected])
        self.assertEqual(len(found), len(expected) + len(SHAPES)) # and of the text
        self.assertEqual(facts('results')[0][0], str(len(found)))
        self.assertEqual(facts('wrong')[0][0], '8')
        spills = next(k['quantities']['spills'] for k in document['kernels'] if k['name'] == 'spilling')
        self.assertGreater(spills, 0)
        self.assertEqual(facts('value'), [['', 'twice', str(2 * spills), 'B', '1'], ['', 'spills', str(spills), 'B', '1']])
        self.assertIn('spills', facts('no value')[0][1]) # the nearest
        self.assertEqual(facts('another'), []) # names and reasons are the same ones each time
        # a definition that comes after a value of that kernel was asked for
        facts = self.client(self.rec, 'value', 'spilling', 'spills', 'define', 'twice [B] = 2 * spills', 'value', 'spilling',
                            'twice')
        self.assertEqual(facts('value')[1:], [['', 'twice', str(2 * spills), 'B', '1']])
        self.assertTrue(self.client(self.folder.name + '/nowhere', check=1)('cannot open')[0][0])

    def test_ranks(self):
        """A folder of recordings: every kernel of each of them is judged."""
        folder = os.path.join(self.folder.name, 'ranks')
        os.makedirs(os.path.join(folder, 'no recording'))
        for number, options in enumerate(({}, {'rounds': 5})):
            shutil.copytree(self.kinds.record(f'rank{number}', '--counts', **options), os.path.join(folder, f'rank-{number}'))
        status, out, err = self.kinds.run('analyze', '--json', '-n', '0', folder)
        self.assertEqual(status, 0, err)
        kernels = json.loads(out)['kernels']
        self.assertEqual(sorted((k['name'], k['rank']) for k in kernels),
                         sorted((n, f'rank-{r}') for n in SHAPES for r in range(2)))
        times = [k['quantities']['time_total'] for k in kernels]
        self.assertEqual(times, sorted(times, reverse=True))
        self.assertIn('of rank-1', self.kinds.run('analyze', folder)[1])
        few, many = [{k['name']: k['quantities'] for k in kernels if k['rank'] == f'rank-{r}'} for r in range(2)]
        self.assertLess(few['clean']['instructions'], many['clean']['instructions'])
        limit = (few['clean']['instructions'] + many['clean']['instructions']) / 2
        results = self.results('--max', f'clean:instructions={limit}', rec=folder)
        self.assertEqual([(r['rank'], r['status']) for r in results], [('rank-0', 'passed'), ('rank-1', 'failed')])
        status, out, _ = self.check('--max', f'clean:instructions={limit}', rec=folder)
        self.assertEqual(status, 3)
        self.assertIn('clean of rank-1: instructions is', out)
        # a pattern needs a kernel in one of them
        self.assertEqual(self.check('--max', 'nothing:spills=0', rec=folder)[0], 3)
        self.assertEqual(len(self.results('--max', 'nothing:spills=0', rec=folder)), 1)
        self.check_baseline_of_ranks(folder, few['clean']['instructions'], many['clean']['instructions'])
        page = os.path.join(self.folder.name, 'ranks.html')
        status, _, err = self.kinds.run('report', '--html', page, folder)
        self.assertEqual(status, 0, err)
        with open(page) as f:
            text = f.read()
        start = text.index('>', text.index('id="recording"')) + 1
        self.assertEqual(json.loads(text[start:text.index('</script>', start)])['analysis']['kernels'], kernels)
        self.assertEqual(self.client(folder)('recording'), [['2', str(2 * len(SHAPES)), '1', '1', '']])
        # in the order of their numbers
        os.rename(os.path.join(folder, 'rank-1'), os.path.join(folder, 'rank-10'))
        os.rename(os.path.join(folder, 'rank-0'), os.path.join(folder, 'rank-9'))
        self.assertEqual([r['rank'] for r in self.results('--max', 'clean:spills=0', rec=folder)], ['rank-9', 'rank-10'])

    def check_baseline_of_ranks(self, folder, few, many):
        """Each recording is held against the one of its name, and all together against all."""
        for baseline, rec, said in ((self.rec, folder, 'is of one recording'), (folder, self.rec, 'is of a folder')):
            status, _, err = self.check('--baseline', baseline, rec=rec)
            self.assertEqual(status, 1)
            self.assertIn(said, err)
        base = os.path.join(self.folder.name, 'ranks.json')
        self.assertEqual(self.check('--write-baseline', base, rec=folder)[0], 0)
        with open(base) as f:
            document = json.load(f)
        self.assertEqual(sorted((k['name'], k['rank']) for k in document['kernels']),
                         sorted((n, f'rank-{r}') for n in SHAPES for r in range(2)))
        for baseline in (base, folder):
            status, out, err = self.check('--baseline', baseline, rec=folder)
            self.assertEqual((status, out), (0, ''), err)
        # the other way round, and a third that the baseline does not have: the sums grow
        swapped = os.path.join(self.folder.name, 'swapped')
        os.makedirs(swapped)
        for name, of in (('rank-0', 'rank-1'), ('rank-1', 'rank-0'), ('rank-2', 'rank-0')):
            os.symlink(os.path.join(folder, of), os.path.join(swapped, name))
        results = self.results('--baseline', base, '--tolerance', 'clean:instructions=0', rec=swapped)
        self.assertEqual([(r.get('rank'), r.get('summed'), r['value'], r['baseline'], r['status']) for r in results],
                         [('rank-0', None, many, few, 'failed'), ('rank-1', None, few, many, 'passed'),
                          (None, 3, 2 * few + many, few + many, 'failed')])
        self.assertIn('clean of all 3 recordings: instructions is', self.check('--baseline', base, rec=swapped)[1])
        # what does not add up is compared in each alone
        results = self.results('--baseline', base, '--tolerance', 'clean:lane_use=0', rec=swapped)
        self.assertEqual([r.get('rank') for r in results], ['rank-0', 'rank-1'])
        os.unlink(os.path.join(swapped, 'rank-1'))
        status, out, _ = self.check('--baseline', base, '--tolerance', 'clean:spills=0', rec=swapped)
        self.assertEqual(status, 3)
        self.assertEqual(out.count('FAILED'), 1, out)
        self.assertIn('rank-1 cannot be judged: the baseline has a recording of that name', out)
        mixed = '{"schema": "zescope.baseline/1", "kernels": [{"name": "a", "values": {}}, {"name": "a", "rank": "r", "values": {}}]}'
        status, _, err = self.check('--baseline', self.write('mixed.json', mixed), rec=folder)
        self.assertEqual(status, 1)
        self.assertIn('each kernel has a "rank"', err)
        # one that cannot be read is named: limits are not judged without it, a page is made
        shutil.copytree(os.path.join(folder, 'rank-1'), os.path.join(swapped, 'rank-1'))
        with open(os.path.join(swapped, 'rank-1', 'meta.json'), 'w') as f:
            f.write('x')
        status, _, err = self.check('--max', 'spills=0', rec=swapped)
        self.assertEqual(status, 1)
        self.assertIn('rank-1: meta.json: ', err)
        status, _, err = self.kinds.run('report', '--html', os.path.join(self.folder.name, 'swapped.html'), swapped)
        self.assertEqual(status, 0, err)
        self.assertIn('the page has no analysis of kernels: rank-1: meta.json: ', err)

    def test_hostile_baselines(self):
        kernel = '{"schema": "zescope.baseline/1", "kernels": [{"name": "clean", "values": %s}]}'
        for text in ('', '{', '[]', '{"schema": "zescope.check/1", "kernels": []}', '{"schema": "zescope.baseline/1"}',
                     '{"schema": "zescope.baseline/1", "kernels": [3]}', kernel % '[]', kernel % '{"spills": 3}',
                     kernel % '{"spills": {"value": "x", "unit": "B"}}', '[' * 100000):
            status, _, err = self.check('--baseline', self.write('hostile.json', text))
            self.assertEqual(status, 1, text[:80])
            self.assertIn('no baseline', err)
            self.assertNotIn('line -1', err)
        path = self.write('other.json', kernel % '{"spills": {"value": 0, "unit": "ns"}}')
        status, out, _ = self.check('--baseline', path)
        self.assertEqual(status, 3)
        self.assertIn('in another unit', out)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
