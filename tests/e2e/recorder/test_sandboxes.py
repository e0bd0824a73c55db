#!/usr/bin/env python3
"""Recordings of programs that are locked up: by a filter of system calls that knows none of the
recorder's, in a namespace of their own where they are process 1, with next to no descriptors or
memory; of many processes at once, and of threads that are cancelled. The program ends as it does by
itself, what was recorded is readable, what was not is counted.

Usage: test_sandboxes.py ZESCOPE DRIVER LISTER SANDBOX CALLS CANCELS
"""
import os
import shutil
import subprocess
import sys
import unittest

from common import Recorder

SANDBOX, CALLS, CANCELS = (os.path.abspath(p) for p in sys.argv[4:7])
SANDBOX_CALLS = 6000  # in sandbox.c; before the filter, and of each of three afterwards


def setUpModule():
    global recorder
    recorder = Recorder(*sys.argv[1:4])


def tearDownModule():
    recorder.close()


def can_unshare():
    return shutil.which('unshare') and not subprocess.run(
        ['unshare', '--user', '--map-root-user', '--pid', '--fork', 'true'], check=False,
        stderr=subprocess.DEVNULL).returncode


class Sandboxes(unittest.TestCase):
    def counts(self, path):
        report = recorder.report(path)
        self.assertEqual(report['damaged_files'], 0)
        return {c['name']: c['count'] for c in report['calls']}, report['lost_calls']

    def check_filter(self, how):
        plain = recorder.run(SANDBOX, how, env=recorder.software(), check=7)
        path, p = recorder.record([], [SANDBOX, how], check=7)
        self.assertEqual(p.stdout, plain.stdout)
        counts, _ = self.counts(path)
        # until the filter all is recorded; the file that is open then takes a part of the rest
        self.assertGreaterEqual(counts['zeMemAllocHost'], SANDBOX_CALLS)
        self.assertLess(counts['zeMemAllocHost'], 4 * SANDBOX_CALLS)
        self.assertLessEqual(abs(counts['zeMemAllocHost'] - counts['zeMemFree']), 1)
        self.assertRegex(p.stderr, r'lost: \d+ beginnings and ends')

    def test_filter_with_errors(self):
        self.check_filter('eperm')

    def test_filter_of_unknown_calls(self):
        self.check_filter('enosys')

    def test_filter_with_signals(self):
        """The handler of SIGSYS answers: it must be let through wherever the recorder asks."""
        self.check_filter('trap')

    @unittest.skipUnless(can_unshare(), 'no namespaces here')
    def test_process_1(self):
        """The application, and zescope itself, in a namespace of its own."""
        calls = [CALLS, '2', '500', 'return']
        inside = ['unshare', '--user', '--map-root-user', '--pid', '--fork']
        path, p = recorder.record([], [*inside, *calls], check=7)
        self.assertEqual(p.stdout, 'made all calls\n')
        counts, lost = self.counts(path)
        self.assertEqual((counts['zeMemAllocHost'], counts['zeMemFree'], lost), (1000, 1000, 0))
        path = recorder.new()
        p = recorder.run(*inside, recorder.zescope, 'record', '-q', '-o', path, '--', *calls, check=7,
                         env=recorder.software())
        self.assertEqual(self.counts(path), (counts, 0))

    @unittest.skipUnless(can_unshare(), 'no namespaces here')
    def test_processes_with_the_same_number(self):
        """Two namespaces: both applications are process 1, neither writes into the other's files."""
        inside = ['unshare', '--user', '--map-root-user', '--pid', '--fork', CALLS, '2', '300', 'return']
        both = ' '.join(inside)
        path, _ = recorder.record([], ['sh', '-c', f'{both} & {both}; status=$?; wait; exit $status'], check=7)
        counts, lost = self.counts(path)
        self.assertEqual((counts['zeMemAllocHost'], counts['zeMemFree'], lost), (1200, 1200, 0))

    def test_many_processes_at_once(self):
        path, _ = recorder.record([], ['sh', '-c', f'for i in $(seq 40); do {CALLS} 1 50 return & done; wait'],
                                  check=0)
        counts, lost = self.counts(path)
        self.assertEqual((counts['zeMemAllocHost'], counts['zeMemFree'], lost), (2000, 2000, 0))

    def test_cancelled_threads(self):
        """Every call of theirs, and nothing of the recorder's is left locked or half written."""
        live = os.path.join(recorder.folder, 'live.log')
        for options in [], ['--backtrace'], [f'--live={live}']:
            path, p = recorder.record(options, [CANCELS, '40'], check=7)
            rounds = int(p.stdout)
            counts, lost = self.counts(path)
            self.assertEqual(lost, 0)
            self.assertEqual([counts.get(name, 0) for name in ('zeMemAllocHost', 'zeMemFree', 'zeCommandListAppendBarrier')],
                             [rounds, rounds, 10 * rounds])

    def test_next_to_no_descriptors(self):
        """As many as the program needs to be started; every file of the recorder's takes one more."""
        path, p = recorder.record([], ['sh', '-c', f'ulimit -n 4; exec {CALLS} 2 3000 return'], check=7)
        self.assertEqual(p.stdout, 'made all calls\n')
        counts, lost = self.counts(path)
        self.assertLessEqual(counts['zeMemAllocHost'] + counts['zeMemFree'], 12000)
        self.assertGreater(2 * (counts['zeMemAllocHost'] + counts['zeMemFree']) + lost, 11000)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
