#!/usr/bin/env python3
"""API calls recorded from a program whose calls are known, and what report and log make of them.

Usage: test_trace.py ZESCOPE DRIVER PROGRAM
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

ZESCOPE, DRIVER, PROGRAM = (os.path.abspath(p) for p in sys.argv[1:4])


def run(*words, env=None, check=None):
    e = dict(os.environ, ZE_ENABLE_ALT_DRIVERS=DRIVER, **(env or {}))
    p = subprocess.run(words, env=e, capture_output=True, text=True, timeout=120)
    if check is not None and p.returncode != check:
        raise AssertionError(f'{words}: exit {p.returncode}\n{p.stdout}{p.stderr}')
    return p


class Trace(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.rec = os.path.join(self.folder.name, 'rec')

    def tearDown(self):
        self.folder.cleanup()

    def record(self, threads, calls, end, status, *options, env=None):
        p = run(ZESCOPE, 'record', *options, '-o', self.rec, '--', PROGRAM, str(threads),
                str(calls), end, env=env, check=status)
        self.assertEqual(p.stdout, 'made all calls\n')

    def report(self, *options):
        p = run(ZESCOPE, 'report', '--json', *options, self.rec, check=0)
        report = json.loads(p.stdout)
        self.assertEqual(report['schema'], 'zescope.report/1')
        return report

    def counts(self):
        return {c['name']: c['count'] for c in self.report()['calls']}

    def check_known(self, threads, calls, factor=1):
        report = self.report()
        counts = {c['name']: c['count'] for c in report['calls']}
        self.assertEqual(counts['zeMemAllocHost'], threads * calls * factor)
        self.assertEqual(counts['zeMemFree'], threads * calls * factor)
        for name in ('zeDriverGet', 'zeDeviceGet', 'zeContextCreate', 'zetMetricGroupGet',
                     'zeMemAllocDevice'):
            again = factor > 1 and name in ('zeDriverGet', 'zeDeviceGet', 'zeContextCreate')
            self.assertEqual(counts[name], factor if again else 1, name)
        failed = next(c for c in report['calls'] if c['name'] == 'zeMemAllocDevice')
        self.assertEqual(failed['failed'], 1)
        self.assertEqual(failed['results'], {'ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT': 1})
        for c in report['calls']:
            self.assertLessEqual(c['min_ns'], c['median_ns'])
            self.assertLessEqual(c['median_ns'], c['p99_ns'])
            self.assertLessEqual(c['p99_ns'], c['max_ns'])
            self.assertLessEqual(c['max_ns'], c['total_ns'])
        self.assertEqual(report['lost_calls'], 0)
        self.assertEqual(report['damaged_files'], 0)
        return counts

    def test_counts(self):
        self.record(3, 1000, 'return', 7)
        self.assertEqual(self.check_known(3, 1000)['zeContextDestroy'], 1)
        rows = self.report('--per-thread', '--filter', '^zeMemFree$')['calls']
        self.assertEqual(sorted(r['count'] for r in rows), [1000, 1000, 1000])
        self.assertEqual(len({r['tid'] for r in rows}), 3)

    def test_killed_process_keeps_every_call(self):
        self.record(2, 3000, 'kill', 128 + 9)
        self.check_known(2, 3000)

    def test_aborted_process_keeps_every_call(self):
        self.record(1, 10, 'abort', 128 + 6)
        self.check_known(1, 10)

    def test_fork(self):
        self.record(2, 500, 'fork', 7)
        self.check_known(2, 500, factor=2)
        rows = self.report('--per-thread', '--filter', '^zeMemFree$')['calls']
        self.assertEqual(len({r['pid'] for r in rows}), 2)

    def test_log(self):
        self.record(2, 5, 'return', 7)
        lines = run(ZESCOPE, 'log', self.rec, check=0).stdout.splitlines()
        times = [float(line.split()[0]) for line in lines]
        self.assertEqual(times, sorted(times))
        allocs = [line for line in lines if 'zeMemAllocHost(' in line]
        self.assertEqual(len(allocs), 10)
        self.assertTrue(all('ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC' in line for line in allocs))
        self.assertEqual(sum('size = 4099' in line for line in allocs), 2)
        failed = run(ZESCOPE, 'log', '--failed', '-f', 'zeMem', self.rec, check=0).stdout
        self.assertIn('alignment = 1099511627776', failed)
        self.assertIn('= ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT <', failed)
        self.assertEqual(len(failed.splitlines()), 1)

    def test_peak_of_processes_that_ended(self):
        """Memory is gone with its process; that of processes side by side adds up. All stays a leak."""
        many = self.rec + '.many'
        os.mkdir(many)
        for rank in '01':
            run(ZESCOPE, 'record', '-q', '-o', os.path.join(many, 'rank-' + rank), '--', PROGRAM, '0', '0', 'leave', check=7)
        self.record_silent('waits')
        for self.rec, peak_B in (many, 1 << 20), (self.rec, 2 << 20):
            report = self.report()
            self.assertEqual(report['memory']['peak_B'], peak_B)
            host = next(k for k in report['memory']['kinds'] if k['name'] == 'host memory')
            self.assertEqual((host['peak_B'], host['left_B']), (peak_B, 2 << 20))
            self.assertEqual(sum(o['size_B'] == 1 << 20 for o in report['leaks']), 2, report['leaks'])

    def record_silent(self, end):
        run(ZESCOPE, 'record', '-q', '-o', self.rec, '--', PROGRAM, '0', '0', end, check=7)

    def test_limit_of_lines(self):
        self.record(1, 5, 'return', 7)
        for view, words in ('log', []), ('report', ['-t', 'calls', '--format', 'csv']):
            whole = run(ZESCOPE, view, *words, self.rec, check=0).stdout
            self.assertEqual(run(ZESCOPE, view, *words, '-n', '0', self.rec, check=0).stdout, whole)
            few = run(ZESCOPE, view, *words, '-n', '2', self.rec, check=0).stdout
            self.assertEqual(len(few.splitlines()), 3 if view == 'report' else 2)
            self.assertRegex(run(ZESCOPE, view, '--help', check=0).stdout, r'--limit[^-]*0: all')

    def test_csv_and_text(self):
        self.record(1, 5, 'return', 7)
        rows = run(ZESCOPE, 'report', '--format', 'csv', self.rec, check=0).stdout.splitlines()
        self.assertTrue(rows[0].startswith('name,share,total_ns,count,failed'))
        self.assertTrue(any(r.startswith('zeMemAllocHost,') and r.split(',')[3:6] == ['5', '0', '0'] for r in rows))
        self.assertIn('zeMemAllocHost', run(ZESCOPE, 'report', self.rec, check=0).stdout)

    def test_limit_drops_and_says_so(self):
        self.record(1, 60000, 'return', 7, '--trace-limit', '2M')
        self.assertLess(self.counts()['zeMemFree'], 60000)
        for words in (['report'], ['log'], ['timeline', '-o', os.devnull]):
            self.assertRegex(run(ZESCOPE, *words, self.rec, check=0).stderr, r' [1-9]\d* beginnings .* were lost', words)
        # where nothing fitted in, --no-trace is not to blame
        shutil.rmtree(os.path.join(self.rec, 'trace'))
        said = run(ZESCOPE, 'report', self.rec, check=0).stderr
        self.assertRegex(said, 'were lost .*it holds no API calls')
        self.assertNotIn('--no-trace', said)

    def test_log_stops_when_nobody_reads(self):
        self.record(1, 60000, 'return', 7)
        reader, writer = os.pipe()
        p = subprocess.Popen([ZESCOPE, 'log', self.rec], stdout=writer, stderr=subprocess.PIPE)
        os.close(writer)
        os.read(reader, 10)
        os.close(reader)
        self.assertEqual((p.communicate(timeout=240)[1], p.returncode), (b'', 0))

    def test_no_trace(self):
        self.record(1, 5, 'return', 7, '--no-trace')
        self.assertEqual(self.counts(), {})

    def test_validation_layer_stays(self):
        self.record(1, 5, 'return', 7, env={'ZE_ENABLE_VALIDATION_LAYER': '1',
                                            'ZE_ENABLE_PARAMETER_VALIDATION': '1'})
        self.check_known(1, 5)

    def test_lines_that_cannot_be_written(self):
        """A place that cannot be opened is an error before the application starts; later is told."""
        shut = os.path.join(self.folder.name, 'file')
        with open(shut, 'w', encoding='utf-8'):
            pass
        os.mkfifo(self.rec + '.pipe')
        bad = ['/nonexist/x', os.path.join(shut, 'x'), self.folder.name, self.rec + '.pipe']
        if os.geteuid():
            os.mkdir(self.rec + '.ro', 0o555)
            bad.append(os.path.join(self.rec + '.ro', 'x'))
        for path in bad:
            for words in (['trace', '-o', path], ['record', '-o', self.rec, '--live', path],
                          ['trace', '-q', '-o', path]):
                p = run(ZESCOPE, *words, '--', PROGRAM, '1', '1', 'return', check=1)
                self.assertEqual(p.stdout, '', words)
                self.assertIn(path, p.stderr)
                self.assertFalse(os.path.exists(self.rec))
        for words in (['trace', '-o', '/dev/full'], ['record', '-o', self.rec, '--live', '/dev/full']):
            p = run(ZESCOPE, *words, '--', PROGRAM, '1', '2', 'return', check=7)
            self.assertEqual(p.stderr.count('/dev/full can no longer be written: No space'), 1, p.stderr)

    def test_lines_of_an_application_elsewhere(self):
        """Relative to where the command was started, wherever the application goes."""
        os.mkdir(self.rec + '.there')
        words = ['sh', '-c', 'cd "$1" && shift && exec "$@"', 'sh', self.rec + '.there', PROGRAM, '1', '3', 'return']
        env = dict(os.environ, ZE_ENABLE_ALT_DRIVERS=DRIVER)
        p = subprocess.run([ZESCOPE, 'trace', '-o', 'lines', '-i', 'zeMemFree', '--', *words], env=env,
                           cwd=self.folder.name, capture_output=True, text=True, timeout=120)
        self.assertEqual((p.returncode, p.stderr), (7, ''))
        with open(os.path.join(self.folder.name, 'lines'), encoding='utf-8') as f:
            self.assertEqual(len(f.readlines()), 3)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
