#!/usr/bin/env python3
"""Recordings that are paused and resumed, from programs whose calls are known.

Usage: test_pauses.py ZESCOPE DRIVER LISTER PROGRAM KERNELS
"""
import sys
import unittest

from common import Recorder

PROGRAM, KERNELS = sys.argv[4:6]


def setUpModule():
    global recorder, spirv
    recorder = Recorder(*sys.argv[1:4])
    spirv = recorder.spirv(KERNELS)


def tearDownModule():
    recorder.close()


def pauses(path):
    return [words[1:3] for words in recorder.lines(path) if words[0] == 'pause']


class Pauses(unittest.TestCase):
    def test_api(self):
        path, p = recorder.record(['--paused'], [PROGRAM, 'api', spirv])
        report = recorder.report(path)
        self.assertEqual([hex(leak['handle']) for leak in report['leaks']], [p.stdout.split()[1]])
        counts = recorder.counts(path)
        self.assertEqual(counts['zeMemAllocShared'], 7 + 2)
        self.assertEqual(counts['zeCommandQueueExecuteCommandLists'], 4)
        self.assertEqual(counts['zeCommandListAppendLaunchKernel'], 2)
        self.assertNotIn('zeCommandListClose', counts)
        self.assertEqual(recorder.executions(path), {('kernel', 'add'): [4, 0], ('barrier', '-'): [6, 0],
                                                     ('kernel', 'scale'): [2, 0]})
        self.assertEqual(pauses(path), [['start', 'API'], ['API', 'API'], ['API', 'unknown']])
        said = [words for words in recorder.lines(path) if words[0] in ('mark', 'range')]
        self.assertEqual(said, [['range', '0', 'outer'], ['range', '1', 'inner'],
                                ['mark', '2', 'waited']])
        appends = [words for words in recorder.lines(path) if words[:3] == ['append', 'kernel', 'add']]
        self.assertEqual(appends, [['append', 'kernel', 'add', 'unknown-to-unknown', '4', 'call', '0']])
        rows = {k['name']: k for k in recorder.report(path)['kernels']}
        self.assertEqual((rows['add']['count'], rows['add']['groups']), (4, [32, 1, 1]))

    def test_not_paused_and_without_a_recorder(self):
        path, _ = recorder.record(['--duration', '1000'], [PROGRAM, 'kernels', spirv])
        self.assertEqual(recorder.counts(path)['zeMemAllocShared'], 7)
        self.assertEqual(pauses(path), [])

    def test_signal(self):
        path, _ = recorder.record(['--paused', '--toggle-signal', 'usr2'], [PROGRAM, 'signal', spirv])
        self.assertEqual(recorder.counts(path)['zeMemAllocShared'], 20 + 100)
        self.assertEqual(sorted(pauses(path)), [['signal', 'unknown'], ['signal', 'unknown'],
                                                ['start', 'signal']])
        path, _ = recorder.record(['--toggle-signal', 'SIGUSR2'], [PROGRAM, 'signal', spirv])
        self.assertEqual(recorder.counts(path)['zeMemAllocShared'], 1 + 10 + 5 + 3)

    def test_kernels(self):
        path, _ = recorder.record(['--start-at-kernel', '^scale', '--stop-after-kernel', 'add$'],
                                  [PROGRAM, 'kernels', spirv])
        self.assertEqual(recorder.executions(path)['kernel', 'add'], [2, 0])
        self.assertEqual(recorder.executions(path)['kernel', 'scale'], [2, 0])
        self.assertEqual(recorder.counts(path)['zeMemAllocShared'], 2)
        self.assertEqual(pauses(path), [['start', 'kernel'], ['kernel', 'kernel'],
                                        ['kernel', 'unknown']])

    def test_kernels_in_lists_that_are_executed_later(self):
        path, p = recorder.record(['--start-at-kernel', '^scale', '--stop-after-kernel', '^scale'],
                                  [PROGRAM, 'lists', spirv])
        self.assertEqual(recorder.executions(path), {('kernel', 'add'): [1, 0], ('kernel', 'scale'): [2, 0],
                                                     ('barrier', '-'): [3, 0]})
        counts = recorder.counts(path)
        self.assertEqual(counts['zeCommandQueueExecuteCommandLists'], 3)
        self.assertEqual(counts['zeCommandListAppendLaunchKernel'], 1)
        self.assertNotIn('zeMemAllocShared', counts)
        self.assertEqual(pauses(path), [['start', 'kernel'], ['kernel', 'kernel'],
                                        ['kernel', 'unknown']])
        self.assertNotIn('nothing was recorded', p.stderr)

    def test_what_never_happened_is_told(self):
        for options, said in ((['--start-at-kernel', 'skale'], r"'skale' was launched \(none matches; modules have: add, "),
                              (['--start-at-kernel', '^ad'], r"'\^ad' was launched \(modules have: add\)"),
                              (['--delay', '1000'], 'after the --delay of 1000 was over'),
                              (['--paused'], '--paused, and nothing resumed it')):
            _, p = recorder.record(options, [PROGRAM, 'time', spirv])
            self.assertRegex(p.stderr, 'nothing was recorded: .*' + said)

    def test_time(self):
        path, _ = recorder.record(['--delay', '200ms', '--duration', '0.2s'], [PROGRAM, 'time', spirv])
        self.assertEqual(pauses(path), [['start', 'time'], ['time', 'unknown']])
        first, second = [words for words in recorder.lines(path) if words[0] == 'pause']
        self.assertEqual(int(second[3]) - int(first[4]), 200000000)
        self.assertLess(recorder.counts(path).get('zeMemAllocShared', 0), 25)

    def test_modules_are_captured_while_paused(self):
        path, _ = recorder.record(['--paused'], [PROGRAM, 'time', spirv])
        self.assertEqual(recorder.counts(path), {})
        self.assertIn('add', recorder.run(recorder.zescope, 'inspect', path).stdout)

    def test_usage(self):
        for options in (['--delay', 'soon'], ['--delay', '1e3'], ['--duration', '0x10'], ['--toggle-signal', 'KILL'], ['--toggle-signal', 'nonsense'],
                        ['--start-at-kernel', '('], ['--paused', '--no-trace']):
            recorder.run(recorder.zescope, 'record', *options, '--', PROGRAM, check=2)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
