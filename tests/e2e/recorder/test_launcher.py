#!/usr/bin/env python3
"""What `zescope record` does around the application: names of recordings, the last one, what it tells.

Usage: test_launcher.py ZESCOPE DRIVER LISTER PROGRAM KERNELS CALLS
"""
import os
import sys
import unittest

from common import Recorder

PROGRAM, KERNELS, CALLS = (os.path.abspath(p) for p in sys.argv[4:7])


def setUpModule():
    global recorder, spirv
    recorder = Recorder(*sys.argv[1:4])
    spirv = recorder.spirv(KERNELS)


def tearDownModule():
    recorder.close()


class Launcher(unittest.TestCase):
    def setUp(self):
        self.folder = recorder.new()
        os.mkdir(self.folder)

    def zescope(self, *words, check=0, env=None):
        return recorder.run(recorder.zescope, *words, cwd=self.folder, check=check, env=recorder.software(env))

    def record(self, *options, env=None, app=None, check=7):
        return self.zescope('record', *options, '--', *(app or (CALLS, '1', '20', 'return')), check=check, env=env)

    def test_names_from_the_environment(self):
        self.record('-o', 'rank-%q{MY_RANK}', env={'MY_RANK': '3'})
        self.record('-o', 'rank-%q{MY_RANK}', env={'MY_RANK': '../a b/$c'})
        self.assertEqual(sorted(os.listdir(self.folder)), ['rank-3', 'rank-_._a_b__c', 'zescope-last'])
        for name in 'x-%q{NOT_SET_HERE}', 'x-%q', 'x-%q{', 'x-%q{}':
            p = self.record('-o', name, check=2)
            self.assertIn('NOT_SET_HERE' if 'NOT' in name else '%q{PMI_RANK}', p.stderr)
        for name, said in ('x-%z', '%z'), ('%Q{HOME}', '%Q'), ('x%', '%'), ('%%%', '%'):
            self.assertIn(said + ' in the name of the recording means nothing', self.record('-o', name, check=2).stderr)
        self.assertEqual(len(os.listdir(self.folder)), 3)
        self.record('-o', '50%%p')
        self.assertTrue(os.path.isdir(os.path.join(self.folder, '50%p')))

    def test_the_last_recording(self):
        p = self.zescope('report', check=2)
        self.assertIn('one recording is needed', p.stderr)
        self.record('-o', 'first')
        self.record('-o', 'second', app=(CALLS, '1', '30', 'return'))
        last = os.path.join(self.folder, 'zescope-last')
        self.assertEqual(os.readlink(last), 'second')
        p = self.zescope('report', '-t', 'calls', '--format', 'csv')
        self.assertIn('second: the last recording here', p.stderr)
        self.assertEqual(p.stdout, self.zescope('report', '-t', 'calls', '--format', 'csv', 'second').stdout)
        self.assertEqual(self.zescope('log').stdout, self.zescope('log', 'second').stdout)
        self.zescope('timeline', '-o', 'x.json')
        self.record('-o', 'third', '--no-last')
        self.assertEqual(os.readlink(last), 'second')
        self.zescope('trace', '-o', 'lines', '--', CALLS, '1', '1', 'return', check=7)
        self.assertEqual(os.readlink(last), 'second')
        # what is not our link stays
        os.remove(last)
        os.mkdir(last)
        self.record('-o', 'fourth')
        self.assertEqual(os.listdir(last), [])

    def test_recordings_elsewhere(self):
        path = recorder.new()
        self.record('-o', path)
        self.assertEqual(os.readlink(os.path.join(self.folder, 'zescope-last')), path)

    def test_the_hottest(self):
        p = self.record('-o', 'hot', app=(PROGRAM, 'launches', spirv), check=9)
        self.assertRegex(p.stderr, r'hottest kernels[^\n]*\n[^\n]* 100% +4  add\n')
        self.assertRegex(p.stderr, r'hottest calls[^\n]*\n(?:[^\n]*  ze[A-Z]\w+\n){5}')
        self.assertNotRegex(p.stderr, r'hottest calls[^\n]*\n(?:[^\n]*  ze[A-Z]\w+\n){6}')
        self.assertEqual(self.record('-q', '-o', 'quiet').stderr, '')

    def test_ranks_as_one(self):
        """A folder of recordings is read as one; its processes are told apart by the recording."""
        os.mkdir(os.path.join(self.folder, 'run'))
        for rank in ('2', '10'):
            self.record('-q', '-o', 'run/rank-%q{RANK}', env={'RANK': rank}, app=(CALLS, '2', rank, 'fork'))
        self.record('-q', '-o', 'run/rank-%q{RANK}', env={'RANK': '0'}, app=(PROGRAM, 'launches', spirv), check=9)
        folder = os.path.join(self.folder, 'run')
        ranks = ['rank-0', 'rank-2', 'rank-10']
        whole = recorder.report(folder)
        parts = [recorder.report(os.path.join(folder, rank)) for rank in ranks]
        counts = {}
        for part in parts:
            for call in part['calls']:
                counts[call['name']] = counts.get(call['name'], 0) + call['count']
        self.assertEqual({c['name']: c['count'] for c in whole['calls']}, counts)
        self.assertEqual(whole['kernels'][0]['name'], 'add')
        self.assertEqual(sum(k['count'] for k in whole['kernels']), 4)
        names = [t['process_name'] for t in whole['threads']]
        self.assertEqual({n.split('/')[0] for n in names}, set(ranks))
        self.assertEqual(len(names), sum(len(part['threads']) for part in parts))
        self.assertEqual(whole['lost_calls'], 0)
        lines = self.zescope('log', 'run').stdout.splitlines()
        self.assertEqual(len(lines), sum(len(self.zescope('log', os.path.join('run', r)).stdout.splitlines())
                                         for r in ranks))
        self.zescope('timeline', '-o', 'x.json', 'run')
        self.assertIn('rank-10/', open(os.path.join(self.folder, 'x.json'), encoding='utf-8').read())
        self.assertIn("Chrome's format", self.zescope('timeline', '-o', 'x.pftrace', 'run', check=1).stderr)
        # links in the folder are not followed; a folder without recordings is none
        os.symlink('/', os.path.join(folder, 'link'))
        self.assertEqual(len(self.zescope('log', 'run').stdout.splitlines()), len(lines))
        self.assertIn('not a recording', self.zescope('report', '.', check=1).stderr)

    def kernels(self, *options):
        """Executions of a program that appends 7 launches of add; the last two of five in lists are
        executed twice. What it sees of its events is the same whatever is recorded."""
        path, p = recorder.record(options, [PROGRAM, 'events', spirv])
        plain = recorder.run(PROGRAM, 'events', spirv, env=recorder.software(), check=9)
        self.assertEqual(p.stdout, plain.stdout)
        found = recorder.executions(path)
        self.assertEqual(found[('barrier', '-')][0], 9)
        return sum(found.get(('kernel', 'add'), [0, 0])), recorder.counts(path)

    def test_launches(self):
        whole, calls = self.kernels()
        self.assertEqual(whole, 9)
        for options, expected in ((['-k', 'ad+'], 9), (['-k', '^scale$'], 0), (['-k', 'scale', '-k', 'add'], 9),
                                  (['--launch-skip', '2'], 7), (['--launch-count', '2'], 2),
                                  (['-k', 'add', '--launch-skip', '2', '--launch-count', '3'], 4),
                                  (['--launch-skip', '100'], 0), (['--launch-count', '0'], 0)):
            found, again = self.kernels(*options)
            self.assertEqual(found, expected, options)
            self.assertEqual(again, calls, options)
        self.assertIn("'('", self.record('-k', '(', check=2).stderr)

    def test_report_at_once(self):
        p = self.record('--report', '-o', 'rec')
        self.assertIn('made all calls\n', p.stdout)
        self.assertEqual(p.stdout.split('made all calls\n')[1], self.zescope('report', 'rec').stdout)
        self.assertNotIn('hottest', p.stderr)

    def test_old_names_of_variables(self):
        p = self.record(env={'ZESCOPE_OUTPUT': 'old'})
        self.assertIn('ZESCOPE_OUTPUT is now called ZESCOPE_RECORD_OUTPUT', p.stderr)
        self.record(env={'ZESCOPE_RECORD_OUTPUT': 'new'})
        self.assertTrue({'old', 'new'} <= set(os.listdir(self.folder)))

    def test_commands_that_are_suggested_can_be_run(self):
        p = self.record('-o', "it's a name", app=(PROGRAM, 'launches', spirv), check=9)
        line = next(line for line in p.stderr.splitlines() if 'next: zescope annotate' in line)
        command = line.split('next: zescope ')[1]
        q = recorder.run('sh', '-c', f'{recorder.zescope} {command}', cwd=self.folder)
        self.assertIn('add', q.stdout)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
