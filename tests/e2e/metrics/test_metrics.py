#!/usr/bin/env python3
"""Metrics of kernel launches from the recorder to the views, against exact counts.

Usage: test_metrics.py ZESCOPE DRIVER PROGRAM LISTER LOOP.cl
"""
import csv
import glob
import io
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

ZESCOPE, DRIVER, PROGRAM, LISTER, SOURCE = [os.path.abspath(p) for p in sys.argv[1:6]]
GROUPS, SIZE, ROUNDS = 3, 64, 7
LONG = 1024, 100 # groups and rounds of a launch that is replayed in part
EXCLUSIVE = 'ZscopeInstructions,ZscopeMemory' # of one domain


def run(*words, check=0, env=None, cwd=None):
    full = {**os.environ, 'ZE_ENABLE_ALT_DRIVERS': DRIVER, **(env or {})}
    p = subprocess.run(words, env=full, cwd=cwd, capture_output=True, text=True, timeout=200, check=False)
    if p.returncode != check:
        raise AssertionError(f'{words}: exit {p.returncode}, not {check}\n{p.stdout}{p.stderr}')
    return p


def varint(n):
    out = b''
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def field(number, value):
    """Of a protocol-buffer message: a number, text or bytes."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def record(type_, **fields):
    """A packet with a record of src/store/activity.h."""
    numbers = {'id': 2, 'name': 3, 'build': 31, 'submit_ns': 24, 'count': 19, 'device': 5, 'description': 32, 'units': 34,
               'group': 35, 'domain': 36, 'sampling': 37, 'metric_type': 38, 'value_type': 39, 'values': 42, 'lost': 43, 'part': 44, 'base': 45}
    message = field(1, type_) + b''.join(field(numbers[k], v) for k, v in fields.items())
    return field(1, field(58, 3) + field(8, 5) + field(10, 77) + field(2046, message))


class Metrics(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = cls.scratch.name
        cls.number = 0
        # ocloc splits its options at blanks: no paths in them, hence a copy
        shutil.copy(SOURCE, os.path.join(cls.folder, 'loop.cl'))
        run('ocloc', 'compile', '-q', '-file', 'loop.cl', '-device', 'skl', '-options', '-g',
            '-output', 'loop', cwd=cls.folder)
        cls.binary = glob.glob(os.path.join(cls.folder, 'loop*.bin'))[0]

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def record(self, way, count, *options, check=9, env=None, groups='ZscopeInstructions', size=()):
        Metrics.number += 1
        path = os.path.join(self.folder, f'rec{self.number}')
        p = run(ZESCOPE, 'record', '--no-last', '--metrics', groups, *options, '-o', path, '--', PROGRAM, self.binary,
                way, str(count), *map(str, size), check=check, env=env)
        return path, p.stderr

    def show(self, path):
        return json.loads(run(ZESCOPE, 'metrics', 'show', '--json', path).stdout)

    def value(self, document, report, name):
        names = [m['name'] for m in document['groups'][report['group']]['metrics']]
        return report['values'][names.index(name)]

    def values(self, document, name):
        return [self.value(document, r, name) for launch in document['launches'] for r in launch['reports']]

    def check_each(self, path, count):
        """Every launch was measured, and each value is of one launch alone."""
        document = self.show(path)
        self.assertEqual(len(document['launches']), count)
        self.assertEqual(document['measured'], count)
        self.assertEqual(document['not_measured'], 0, document['not_measured_reason'])
        self.assertEqual([document['damaged'], document['orphans']], [0, 0])
        self.assertEqual(self.values(document, 'Launches'), [1] * count)
        self.assertEqual(self.values(document, 'Groups'), [GROUPS] * count)
        self.assertEqual(len(set(self.values(document, 'Instructions'))), 1)
        for launch in document['launches']:
            self.assertEqual(launch['kernel'], 'loop')
            self.assertEqual([launch['groups'], launch['group_size']], [[GROUPS, 1, 1], [SIZE, 1, 1]])
        return document

    def test_totals_are_the_exact_counts(self):
        path, _ = self.record('immediate', 5, '--counts', groups='ComputeBasic,ZscopeInstructions')
        document = self.show(path)
        kernel = json.loads(run(ZESCOPE, 'annotate', '--json', path).stdout)['devices'][0]['kernels'][0]
        insts = kernel['instructions']
        totals = {}
        for row in document['kernels']:
            for metric, value in zip(document['groups'][row['group']]['metrics'], row['values']):
                totals[metric['name']] = value
            self.assertEqual([row['kernel'], row['reports'], row['launches']], ['loop', 5, 5])
        self.assertEqual(totals['Instructions'], sum(i['executions'] for i in insts))
        self.assertEqual(totals['ActiveLanes'], sum(i['active_lanes'] for i in insts))
        self.assertEqual(totals['UntypedBytesWritten'], sum(i['written_B'] for i in insts))
        self.assertEqual(totals['Messages'], sum(i['executions'] for i in insts if i['opcode'].startswith('send')))
        self.assertEqual(totals['CsThreads'], 5 * GROUPS * SIZE // kernel['simd'])
        self.assertEqual(totals['Threads'], totals['CsThreads'])
        self.assertEqual(totals['Launches'], 5)

    def test_a_thousand_launches(self):
        self.check_each(self.record('immediate', 1000)[0], 1000)

    def test_asynchronous_lists(self):
        self.check_each(self.record('async', 100)[0], 100)

    def test_regular_lists_executed_again(self):
        self.check_each(self.record('list', 20)[0], 40)

    def test_regular_lists_reset_behind_an_event(self):
        self.check_each(self.record('reset', 30)[0], 30)

    def test_threads(self):
        self.check_each(self.record('threads', 25)[0], 100)

    def test_two_processes(self):
        document = self.check_each(self.record('fork', 4)[0], 8)
        self.assertEqual(len({launch['pid'] for launch in document['launches']}), 2)

    def test_killed(self):
        self.check_each(self.record('killed', 10, check=137)[0], 10)

    def test_executed_again_before_it_was_read(self):
        """What the device wrote over is not shown as something else: it is counted."""
        path, said = self.record('again', 50)
        document = self.show(path)
        self.assertEqual(len(document['launches']), 100)
        self.assertEqual(document['measured'] + document['not_measured'], 100)
        self.assertGreaterEqual(document['measured'], 2)
        self.assertEqual(set(self.values(document, 'Launches')), {1})
        if document['not_measured']:
            self.assertIn('kernel launches could not be measured', said)
            self.assertIn('executed again', document['not_measured_reason'])

    def test_an_application_that_measures(self):
        path, _ = self.record('own', 1)
        document = self.show(path)
        self.assertEqual([len(launch['reports']) for launch in document['launches']], [1, 0, 1])
        self.assertEqual(document['not_measured'], 1)
        self.assertIn('application', document['not_measured_reason'])
        # without us it measures the same
        run(PROGRAM, self.binary, 'own', '1', check=9, env={'ZET_ENABLE_METRICS': '1'})
        stream, _ = self.record('own', 1, '--metrics-period', '1ms')
        self.assertEqual(self.show(stream)['damaged'], 0)

    def test_groups_that_exclude_each_other(self):
        names = lambda document: [[document['groups'][r['group']]['name'] for r in launch['reports']]
                                  for launch in document['launches']]
        # turns: each launch has one of the two
        document = self.show(self.record('immediate', 8, groups=EXCLUSIVE)[0])
        self.assertEqual(names(document), [[name] for name in EXCLUSIVE.split(',')] * 4)
        # with a third of another domain that they share it with
        document = self.show(self.record('immediate', 2, groups='ComputeBasic,' + EXCLUSIVE)[0])
        self.assertEqual(names(document), [['ComputeBasic', EXCLUSIVE.split(',')[0]], EXCLUSIVE.split(',')[1:]])
        # a list keeps the set that it began with
        path, said = self.record('list', 2, groups=EXCLUSIVE)
        self.assertEqual(names(self.show(path)), [[EXCLUSIVE.split(',')[0]]] * 4)
        self.assertIn(f'nothing was measured with {EXCLUSIVE.split(",")[1]}: groups of one domain take turns', said)
        self.assertIn('--runs', said)
        _, said = self.record('immediate', 2, '--metrics-period', '200us', groups=EXCLUSIVE)
        self.assertIn(f'nothing was measured with {EXCLUSIVE.split(",")[1]}: of a domain one group at a time', said)
        path, _ = self.record('immediate', 3, '--runs', groups=EXCLUSIVE)
        document = self.show(path)
        self.assertEqual(document['runs'], 2)
        self.assertEqual(len(document['launches']), 3)
        self.assertEqual([[r['run'] for r in launch['reports']] for launch in document['launches']], [[1, 2]] * 3)
        self.assertEqual(document['runs_mismatch'], '')

    def test_runs_that_differ_are_said(self):
        path, _ = self.record('immediate', 3, '--runs', groups=EXCLUSIVE)
        other, _ = self.record('immediate', 2)
        shutil.rmtree(os.path.join(path, 'runs', '2'))
        shutil.copytree(other, os.path.join(path, 'runs', '2'))
        document = self.show(path)
        self.assertIn('run 2 launched another number', document['runs_mismatch'])
        self.assertEqual({r['run'] for launch in document['launches'] for r in launch['reports']}, {1})

    def test_some_kernels_and_pauses(self):
        path, _ = self.record('immediate', 10, '--launch-skip', '2', '--launch-count', '3')
        self.check_each(path, 3)
        path, _ = self.record('immediate', 3, '--paused')
        self.assertEqual(self.show(path)['launches'], [])

    def test_streams_tell_what_queries_tell(self):
        queries = self.show(self.record('immediate', 20, groups='ComputeBasic,ZscopeInstructions')[0])
        stream = self.show(self.record('immediate', 20, '--metrics-period', '100us',
                                       groups='ComputeBasic,ZscopeInstructions')[0])
        names = lambda document, row: [m['name'] for m in document['groups'][row['group']]['metrics']]
        exact = {}
        for row in queries['kernels']:
            exact.update(zip(names(queries, row), row['values']))
        totals = {}
        for row in stream['kernels']: # a launch at the edge of a report may be without one of its own
            for metric, value in zip(stream['groups'][row['group']]['metrics'], row['values']):
                if metric['total'] == 'sum':
                    totals[metric['name']] = totals.get(metric['name'], 0) + value
        for name in ('CsThreads', 'Instructions', 'ActiveLanes', 'Messages', 'Groups', 'Launches', 'UntypedBytesWritten'):
            self.assertAlmostEqual(totals[name], exact[name], delta=1e-6 * exact[name], msg=name)
        ran = [row for row in stream['kernels'] if row['kernel'] == 'loop']
        self.assertTrue(ran, 'no report was attributed to the kernel')
        for group in range(2): # there is one kernel, which a report has none or several launches of
            self.assertEqual(sum(row['reports'] for row in stream['kernels'] if row['group'] == group),
                             sum(s['group'] == group for s in stream['samples']))
        samples = [s for s in stream['samples'] if s['group'] == 0]
        self.assertTrue(all(a['end_ns'] <= b['start_ns'] + 1000 for a, b in zip(samples, samples[1:])))

    def test_query_and_stream(self):
        """What the commands print: text, CSV and JSON say the same."""
        words = ['-g', 'ZscopeInstructions', '--', PROGRAM, self.binary, 'immediate', '4']
        text = run(ZESCOPE, 'metrics', 'query', *words, check=9).stdout
        self.assertRegex(text, r'(?m)^measured launches +4 of 4$')
        self.assertRegex(text, rf'(?m)^Groups +events +{4 * GROUPS}$')
        document = json.loads(run(ZESCOPE, 'metrics', 'query', '--json', *words, check=9).stdout)
        self.assertEqual(document['schema'], 'zescope.metrics/1')
        for by, rows in (('launch', 4), ('shape', 1), ('kernel', 1)):
            out = run(ZESCOPE, 'metrics', 'query', '--csv', '--by', by, *words, check=9).stdout
            found = [row for row in csv.DictReader(io.StringIO(out)) if row['metric'] == 'Groups']
            self.assertEqual([int(row['value']) for row in found], [4 * GROUPS // rows] * rows)
        one = run(ZESCOPE, 'metrics', 'query', '--metric', '^Groups$', '--by', 'launch', *words, check=9).stdout
        self.assertNotIn('Instructions ', one.split('\n', 1)[1])
        stream = run(ZESCOPE, 'metrics', 'stream', '--period', '100us', *words, check=9).stdout
        self.assertIn('ZscopeInstructions on', stream)
        self.assertIn('(over time)', stream)

    def test_the_recording_can_be_kept(self):
        path = os.path.join(self.folder, 'kept')
        words = ['query', '-o', path, '-g', 'ComputeBasic', '--', PROGRAM, self.binary, 'immediate', '2']
        out = run(ZESCOPE, 'metrics', *words, check=9).stdout
        self.assertEqual(run(ZESCOPE, 'metrics', 'show', path).stdout, out)
        self.assertIn('is there already', run(ZESCOPE, 'metrics', *words, check=1).stderr)

    def test_the_library_says_the_same(self):
        path, _ = self.record('list', 3)
        document = self.show(path)
        lines = [line.split() for line in run(LISTER, path).stdout.splitlines()]
        values = [float(line[5]) for line in lines if line[0] == 'value' and line[4] == 'Instructions']
        self.assertEqual(values, self.values(document, 'Instructions'))
        sums = [line for line in lines if line[0] == 'sum' and line[7] == 'Instructions']
        self.assertEqual([(line[5], line[6], float(line[8])) for line in sums], [('6', '6', sum(values))])

    def test_data_stands_alone_on_standard_output(self):
        """What the application writes there goes beside it; its exit status is passed through."""
        app = ['--', 'sh', '-c', 'echo of the application; "$@"; s=$?; echo last; exit $s', 'sh', PROGRAM, self.binary,
               'immediate', '1']
        for option in ('--json', '--csv'):
            p = run(ZESCOPE, 'metrics', 'query', '-g', 'ZscopeInstructions', option, *app, check=9)
            self.assertNotIn('application', p.stdout)
            self.assertTrue(json.loads(p.stdout) if option == '--json' else list(csv.DictReader(io.StringIO(p.stdout))))
            self.assertIn('of the application\n', p.stderr)
            self.assertIn('last\n', p.stderr)
        p = run(ZESCOPE, 'metrics', 'query', '-g', 'ZscopeInstructions', *app, check=9)
        self.assertTrue(p.stdout.startswith('of the application\n'))

    def test_reports_that_overflow_are_said(self):
        """Data of a streamer in a trace that says that some before it were lost."""
        path, _ = self.record('immediate', 2)
        self.assertEqual(self.show(path)['overflows'], 0)
        self.assertNotIn('were lost', run(ZESCOPE, 'metrics', 'show', path).stderr)
        file = sorted(glob.glob(os.path.join(path, 'trace', '*.pftrace')))[0]
        with open(file.rsplit('-', 1)[0] + '-900.pftrace', 'wb') as f:
            f.write(b''.join(record(16, group=1, lost=lost) for lost in (1, 0, 1)))
        self.assertEqual(self.show(path)['overflows'], 2)
        self.assertIn('reports over time were lost 2 times', run(ZESCOPE, 'metrics', 'show', path).stderr)

    def test_wrong_usage(self):
        app = ['--', PROGRAM, self.binary, 'immediate', '1']
        for words in (['query', *app], ['query', '-g', 'ComputeBasic'], ['stream', '-g', 'X', '--runs', *app],
                      ['measure', '-g', 'X', *app], ['query', '-g', 'X', '--json', '--csv', *app], ['show', 'a', 'b'],
                      ['query', '-g', 'X', '--period', '1ms', *app], ['stream', '-g', 'X', '--period', 'soon', *app],
                      ['stream', '-g', 'X', '--period', '50', *app]):
            self.assertIn('try \'zescope metrics', run(ZESCOPE, 'metrics', *words, check=2).stderr)
        for options in (['--runs'], ['--metrics-period', '1ms'], ['--metrics', 'X', '--no-trace'],
                        ['--metrics', 'X', '--metrics-period', 'soon'], ['--metrics', 'X', '--metrics-period', '50']):
            run(ZESCOPE, 'record', *options, *app, check=2, cwd=self.folder)

    def test_where_metrics_cannot_be_had(self):
        app = ['--', PROGRAM, self.binary, 'immediate', '1']
        p = run(ZESCOPE, 'metrics', 'query', '-g', 'NoSuchGroup', *app, check=2)
        self.assertRegex(p.stderr, r'no device here has a metric group NoSuchGroup; zescope metrics list shows the \d+ that there are')
        self.assertEqual(p.stdout, '')
        p = run(ZESCOPE, 'metrics', 'query', '-g', 'ComputeBasic', '--', 'true', check=1)
        self.assertIn('there are no metrics: no kernel was launched', p.stderr)
        for words in (['metrics', 'query', '-g'], ['record', '--metrics']):
            p = run(ZESCOPE, *words, 'ComputeBasic', '--', 'echo', 'started', check=2,
                    env={'ZE_ENABLE_ALT_DRIVERS': '/no/such/driver.so'})
            self.assertIn('no Level Zero driver starts; --device skl', p.stderr)
            self.assertEqual(p.stdout, '')
        p = run(ZESCOPE, 'metrics', 'stream', '-g', 'ComputeBasic', '--period', '1000s', *app, check=9)
        self.assertIn('there are no metrics: the device ran for less than one period', p.stderr)
        # the application turns them off
        p = run(ZESCOPE, 'metrics', 'query', '-g', 'ComputeBasic', '--', 'env', '-u', 'ZET_ENABLE_METRICS', *app[1:],
                check=9)
        self.assertIn('ZET_ENABLE_METRICS is not 1', p.stderr)

    def test_a_driver_that_fails_with_metrics_enabled(self):
        """Intel's without a GPU: the application is not started only to fail."""
        intel = '/usr/lib/x86_64-linux-gnu/libze_intel_gpu.so.1'
        if not os.path.exists(intel) or os.path.exists('/usr/lib/x86_64-linux-gnu/libigdfcl.so.2'):
            self.skipTest('no driver that runs without a GPU is installed')
        scratch = os.path.join(self.folder, 'aub') # Intel's driver writes files there
        os.mkdir(scratch)
        env = {'ZE_ENABLE_ALT_DRIVERS': intel, 'NEOReadDebugKeys': '1', 'ProductFamilyOverride': 'skl',
               'SetCommandStreamReceiver': '1'}
        p = subprocess.run([ZESCOPE, 'metrics', 'query', '-g', 'ComputeBasic', '--', 'touch', 'started'],
                           env=dict(os.environ, **env), cwd=scratch, capture_output=True, text=True, timeout=100,
                           check=False)
        self.assertEqual(p.returncode, 2, p.stderr)
        self.assertRegex(p.stderr, 'zescope: the driver here does not (start|survive)')
        self.assertFalse(os.path.exists(os.path.join(scratch, 'started')))

    def test_report_and_timeline(self):
        path, _ = self.record('immediate', 4, groups='ComputeBasic,ZscopeInstructions')
        document = self.show(path)
        rows = json.loads(run(ZESCOPE, 'report', '--json', path).stdout)['metrics']
        expected = [(m['name'], v) for row in document['shapes']
                    for m, v in zip(document['groups'][row['group']]['metrics'], row['values']) if v is not None]
        self.assertEqual([(row['metric'], row['value']) for row in rows], expected)
        self.assertEqual({(row['name'], row['reports'], row['launches']) for row in rows}, {('loop', 4, 4)})
        text = run(ZESCOPE, 'report', '-t', 'metrics', '-w', 'metric=Groups', path).stdout
        self.assertRegex(text, rf'(?m)^ *{4 * GROUPS} .*loop .*ZscopeInstructions +Groups +events$')
        self.assertEqual(len(text.splitlines()), 2)
        out = run(ZESCOPE, 'report', '-t', 'metrics', '--format', 'csv', '-s', 'value:asc', path).stdout
        values = [float(row['value']) for row in csv.DictReader(io.StringIO(out))]
        self.assertEqual(values, sorted(values))
        plain = os.path.join(self.folder, 'plain')
        run(ZESCOPE, 'record', '--no-last', '-o', plain, '--', PROGRAM, self.binary, 'immediate', '1', check=9)
        self.assertEqual(json.loads(run(ZESCOPE, 'report', '--json', plain).stdout)['metrics'], [])
        # counters: a launch's values from its start to its end
        file = os.path.join(self.folder, 'x.json')
        run(ZESCOPE, 'timeline', '-o', file, path)
        with open(file) as f:
            events = [e for e in json.load(f)['traceEvents'] if e['ph'] == 'C']
        groups = [e for e in events if e['name'].startswith('Groups (events), ZscopeInstructions')]
        self.assertEqual([e['args']['value'] for e in groups], [GROUPS, 0] * 4)
        self.assertEqual([e['ts'] for e in groups], [t / 1000 for launch in document['launches']
                                                     for t in (launch['start_ns'], launch['end_ns'])])
        # a counter is put again when it changes, and only then
        puts = {}
        for e in events:
            puts.setdefault(e['name'], []).append(e['args'].get('value'))
        self.assertEqual(puts['SamplerTexels (texels), ComputeBasic'], [0])
        for name, values in puts.items():
            if not name.startswith('Level Zero'):
                self.assertNotIn(True, [a == b for a, b in zip(values, values[1:])], name)
        file = os.path.join(self.folder, 'x.pftrace')
        run(ZESCOPE, 'timeline', '-o', file, path)
        with open(file, 'rb') as f:
            self.assertEqual(f.read().count(b'EuActive (percent), ComputeBasic'), 1)

    def test_samples_of_addresses_stand_beside_the_code(self):
        """A group of several reports a query, each of an address: packets as a recorder writes them."""
        path, _ = self.record('immediate', 2, '--counts')
        launches = self.show(path)['launches']
        kernel = json.loads(run(ZESCOPE, 'annotate', '--json', path).stdout)['devices'][0]['kernels'][0]
        offsets = [i['offset'] for i in kernel['instructions']]
        reasons = ['Active', 'SendStall']
        packets = record(13, id=99, name='Sampled', domain=2, sampling=1, count=3, device=1)
        packets += record(14, id=1, group=99, name='IP', units='Address', metric_type=0x7ffffffe, value_type=1)
        for i, name in enumerate(reasons):
            packets += record(14, id=2 + i, group=99, name=name, units='cycles', metric_type=1, value_type=1)
        base = 0x10000
        packets += record(3, id=50, name='loop', build=launches[0]['build'], base=base)
        for n, launch in enumerate(launches):
            sets = [(base + at, 10 + n, 3 * i) for i, at in enumerate(offsets)]
            sets.append((base + (1 << 40), 5, 5)) # nowhere
            for part, some in enumerate((sets[:4], sets[4:])):
                packets += record(15, id=launch['append'], submit_ns=launch['submit_ns'], group=99, part=part,
                                  values=b''.join(v.to_bytes(8, 'little') for one in some for v in one))
        file = sorted(glob.glob(os.path.join(path, 'trace', '*.pftrace')))[0]
        with open(file.rsplit('-', 1)[0] + '-900.pftrace', 'wb') as f:
            f.write(packets)
        document = self.show(path)
        self.assertEqual([document['damaged'], document['orphans']], [0, 0])
        group = [g['name'] for g in document['groups']].index('Sampled')
        self.assertEqual([len([r for r in launch['reports'] if r['group'] == group]) for launch in document['launches']],
                         [len(offsets) + 1] * 2)
        kernel = json.loads(run(ZESCOPE, 'annotate', '--json', path).stdout)['devices'][0]['kernels'][0]
        columns = {c['name']: c for c in kernel['columns']}
        self.assertEqual(columns['Active']['values'], [21] * len(offsets))
        self.assertEqual(columns['SendStall']['values'], [6 * i for i in range(len(offsets))])
        each = [21 + 6 * i for i in range(len(offsets))]
        for found, n in zip(columns['stalls']['values'], each):
            self.assertAlmostEqual(found, 100 * n / sum(each), places=4)
        self.assertIn('executions', columns) # the counts are there, too
        self.assertEqual(columns['SendStall']['unit'], 'cycles')
        text = run(ZESCOPE, 'annotate', '--columns', 'stalls,SendStall', path).stdout
        self.assertRegex(text, rf' {6 * (len(offsets) - 1)} +\u2502 .*EOT')
        # of each line: what its instructions have together
        page = os.path.join(self.folder, 'sampled.html')
        run(ZESCOPE, 'annotate', '--html', page, path)
        with open(page) as f:
            self.assertIn('"name":"SendStall"', f.read())

    def test_stalls_by_address_of_the_driver(self):
        """What is beside the code adds up to what the kernel has as a whole."""
        path, _ = self.record('immediate', 3, groups='ZscopeStallSampling,ZscopeStalls')
        totals = {}
        document = self.show(path)
        for row in document['kernels']:
            group = document['groups'][row['group']]
            totals[group['name']] = dict(zip([m['name'] for m in group['metrics']], row['values']))
        kernel = json.loads(run(ZESCOPE, 'annotate', '--json', path).stdout)['devices'][0]['kernels'][0]
        columns = {c['name']: c for c in kernel['columns']}
        for reason in ('Active', 'ControlStall', 'DistStall', 'SendStall', 'SbidStall'):
            beside = sum(v for v in columns[reason]['values'] if v is not None)
            self.assertEqual(beside, totals['ZscopeStallSampling'][reason], reason)
            self.assertEqual(beside, totals['ZscopeStalls'][reason], reason)
        self.assertGreater(totals['ZscopeStalls']['Active'], 0)
        self.assertAlmostEqual(sum(v for v in columns['stalls']['values'] if v is not None), 100, places=3)
        stream, _ = self.record('immediate', 3, '--metrics-period', '200us', groups='ZscopeStallSampling')
        kernel = json.loads(run(ZESCOPE, 'annotate', '--json', stream).stdout)['devices'][0]['kernels'][0]
        columns = {c['name']: c for c in kernel['columns']}
        self.assertEqual(sum(v for v in columns['Active']['values'] if v is not None), totals['ZscopeStalls']['Active'])

    def test_stalls_by_address_as_intel_has_them(self):
        """Addresses in units of 8 bytes, of which 29 bits are kept, lead to the same instructions."""
        os.mkdir(os.path.join(self.folder, 'pvc'))
        run('ocloc', 'compile', '-q', '-file', 'loop.cl', '-device', 'pvc', '-options', '-g', '-output', 'loop',
            '-out_dir', 'pvc', cwd=self.folder)
        binary = glob.glob(os.path.join(self.folder, 'pvc', 'loop*.bin'))[0]
        seen = {}
        for group in ('ZscopeStallSampling', 'EuStallSampling'):
            path = os.path.join(self.folder, 'pvc-' + group)
            run(ZESCOPE, 'record', '--no-last', '-d', 'pvc', '--metrics', group, '--metrics-period', '200us', '-o', path, '--',
                PROGRAM, binary, 'immediate', '3', check=9)
            kernel = json.loads(run(ZESCOPE, 'annotate', '--json', path).stdout)['devices'][0]['kernels'][0]
            seen[group] = {c['name']: c['values'] for c in kernel['columns']}
        for reason in ('Active', 'ControlStall', 'SendStall', 'SbidStall'):
            self.assertEqual(seen['EuStallSampling'][reason], seen['ZscopeStallSampling'][reason], reason)
        self.assertGreater(sum(v for v in seen['EuStallSampling']['Active'] if v), 0)
        said = run(ZESCOPE, 'record', '--no-last', '-d', 'pvc', '--metrics', 'EuStallSampling', '-o', path + '-launches', '--',
                   PROGRAM, binary, 'immediate', '1', check=9).stderr
        self.assertIn('zescope metrics stream -g EuStallSampling', said)
        self.assertNotIn('needs a GPU', said)

    def test_names_of_generations(self):
        """Each generation has its own groups and metrics, as Intel's driver names them there."""
        gen9 = {'ComputeBasic', 'ComputeExtended', 'ComputeL3Cache', 'MemoryReads', 'MemoryWrites', 'L3_1', 'L3_2', 'L3_3', 'TestOa',
                'RenderBasic', 'ComputeExtra', 'GpuBusyness', 'AsyncCompute'}
        one_slice = gen9 | {'Sampler', 'HDCAndSF', 'TDL_1'}
        gen11 = {'ComputeBasic', 'ComputeL3Cache', 'TestOa', 'RenderBasic', 'Sampler_1', 'TDL_2', 'GpuBusyness', 'AsyncCompute'}
        xe_lp = {'ComputeBasic', 'TestOa', 'RenderBasic', 'HDCAndSF', 'Sampler_1', 'TDL_1'}
        l1 = {'L1ProfileReads', 'L1ProfileWrites', 'L1ProfileSlmBankConflicts'}
        xe_hpg = l1 | {'ComputeBasic', 'ComputeOverview', 'GpuBusyness', 'TestOa', 'RenderBasic', 'AsyncCompute', 'Ext1000', 'Ext1005'}
        xe_hpc = l1 | {'ComputeBasic', 'TestOa', 'GpuOffload', 'MemProfile', 'DataportProfile', 'Ext9', 'Ext10', 'Ext1000'}
        xe2 = {'ComputeBasic', 'DeviceCacheProfile', 'MemoryProfile', 'VectorEngineProfile', 'TestOa', 'EuStallSampling'}
        expected = {
            'bmg': (xe2, 'ComputeBasic', {'XVE_INST_EXECUTED_ALU2_ALL', 'XVE_INST_ISSUED_ALL', 'LOAD_STORE_CACHE_HIT', 'L3_MISS'},
                    {'XVE_INST_EXECUTED_XMX_ALL', 'ICACHE_HIT', 'TLB_MISS'}),
            'ptl': (xe2, 'VectorEngineProfile', {'XVE_INST_EXECUTED_FP32', 'XVE_INST_EXECUTED_INT32'}, {'XVE_INST_EXECUTED_BITCONV'}),
            'acm-g11': (xe_hpg, 'AsyncCompute', {'FpuActive', 'CsFpuActive', 'CsEmActive'}, {'PsFpuActive', 'AsyncCsFpuActive'}),
            'skl': (one_slice, 'ComputeBasic', {'EuActive', 'Fpu0Active', 'UntypedBytesRead'}, {'XveActive', 'XVE_ACTIVE'}),
            'skl-gt3': (gen9, 'GpuBusyness', {'RenderBusy', 'GpuTime'}, {'BlitterBusy', 'AnyRingBusy', 'Vdbox0Busy'}),
            'skl-gt4': (gen9, 'RenderBasic', {'EuActive', 'CsThreads', 'SamplerL1Misses', 'GtiReadThroughput', 'L3Misses'},
                        {'PsThreads', 'RasterizedPixels', 'SamplerTexelMisses', 'SamplersBusy'}),
            'kbl': (one_slice, 'AsyncCompute', {'CsFpu0Active', 'CsFpu1Active', 'Fpu0Active', 'EuThreadOccupancy'}, {'PsFpu0Active', 'VsThreads'}),
            'cfl': (one_slice, 'ComputeExtra', {'Fpu1ActiveAdjusted', 'Fpu1Active'}, {'EuActive'}),
            'skl-gt1': (one_slice, 'Sampler', {'Sampler00InputAvailable', 'Sampler01InputAvailable'}, {'Sampler02InputAvailable'}),
            'ehl': (gen11, 'TDL_2', {'NonPSThread00ReadyForDispatch', 'NonPSThread02ReadyForDispatch'}, {'NonPSThread03ReadyForDispatch', 'VsThreads'}),
            'dg1': (xe_lp, 'HDCAndSF', {'NonSamplerShader00AccessStalledOnL3'}, {'PolyDataReady', 'EuFpuBothActive', 'NonSamplerShader03AccessStalledOnL3'}),
            'icllp': (gen11, 'ComputeL3Cache', {'SamplerAccesses', 'L3Accesses'}, {'L3Bank00Accesses'}),
            'tgllp': (xe_lp, 'ComputeBasic', {'EuActive', 'EuStall', 'SlmBytesRead'}, {'Fpu0Active', 'UntypedBytesRead'}),
            'dg2': (xe_hpg, 'ComputeOverview',
                    {'XVE_ACTIVE', 'XVE_STALL', 'XVE_THREADS_OCCUPANCY_ALL', 'XVE_INST_EXECUTED_ALU0_ALL_UTILIZATION'}, {'EuActive'}),
            'pvc': (xe_hpc | {'EuStallSampling'}, 'ComputeBasic',
                    {'XVE_ACTIVE', 'XVE_INST_EXECUTED_XMX_ALL', 'L3_BYTE_READ', 'GPU_MEMORY_BYTE_READ', 'AvgGpuSliceFrequencyMHz',
                     'XVE_PIPE_ALU0_AND_XMX_ACTIVE'}, {'EuActive', 'XveActive', 'SCALEUP_DATA_BYTE_RECEIVE'}),
            'pvc-sdv': (xe_hpc, 'Ext10', {'XVE_ACTIVE_CCS', 'XVE_STALL_CYCLES_CCS', 'COMMAND_PARSER_COMPUTE_ENGINE_BUSY_CCS0'},
                       {'XVE_ACTIVE_CCCS', 'COMMAND_PARSER_COMPUTE_ENGINE_BUSY_CCS1'}),
        }
        for device, (groups, group, names, others) in expected.items():
            def list_groups(*options):
                return json.loads(run(ZESCOPE, 'metrics', 'list', '-d', device, '--json', *options).stdout)['devices'][0]['groups']
            self.assertEqual({g['name'] for g in list_groups() if not g['name'].startswith('Zscope')}, groups, device)
            listed = list_groups('-g', group, '-g', 'ZscopeMemory', '-g', 'ZscopeStalls')
            for found in [g for g in listed if g['name'] == group]:
                metrics = {m['name'] for m in found['metrics']}
                self.assertLessEqual(names, metrics, device)
                self.assertFalse(others & metrics, device)
            memory = {m['name'] for g in listed if g['name'] == 'ZscopeMemory' for m in g['metrics']}
            self.assertEqual('L1Hits' in memory, groups in (xe_hpg, xe2) or 'pvc' in device, device)
            stalls = {m['name'] for g in listed if g['name'] == 'ZscopeStalls' for m in g['metrics']}
            self.assertEqual('XmxActive' in stalls, groups in (xe_hpg, xe2) or 'pvc' in device, device)

    def test_sets_of_a_generation_agree(self):
        """What has the same name is the same in each of Intel's sets, and follows from our own."""
        sets = ['ComputeBasic', 'RenderBasic', 'AsyncCompute', 'GpuBusyness', 'ComputeExtra']
        path, _ = self.record('immediate', len(sets), groups=','.join(sets + ['ZscopeMemory']))
        document, found = self.show(path), {}
        for launch in document['launches']: # each is measured with the next of the sets
            for report in launch['reports']:
                group = document['groups'][report['group']]
                found[group['name']] = dict(zip([m['name'] for m in group['metrics']], report['values']))
        self.assertEqual(set(found), set(sets + ['ZscopeMemory']))
        basic, render = found['ComputeBasic'], found['RenderBasic']
        for group in sets:
            for name in set(found[group]) & set(basic):
                self.assertAlmostEqual(found[group][name], basic[name], delta=1e-6 * abs(basic[name]), msg=f'{group}.{name}')
        self.assertEqual(render['L3Misses'], found['ZscopeMemory']['L3Misses'])
        self.assertEqual(render['SamplerL1Misses'], found['ZscopeMemory']['SamplerCacheMisses'])
        self.assertGreater(render['L3Misses'], 0)
        self.assertEqual(found['AsyncCompute']['CsFpu0Active'], basic['Fpu0Active'])
        self.assertEqual(found['ComputeExtra']['Fpu1ActiveAdjusted'], basic['Fpu1Active'])
        self.assertGreater(basic['Fpu1Active'], 0)
        self.assertEqual(found['GpuBusyness']['RenderBusy'], 100)

    def totals_on(self, device, groups, launches=3):
        run('ocloc', 'compile', '-q', '-file', 'loop.cl', '-device', device, '-output', f'later-{device}', cwd=self.folder)
        binary, path = glob.glob(os.path.join(self.folder, f'later-{device}*.bin'))[0], os.path.join(self.folder, f'rec-{device}')
        run(ZESCOPE, 'run', '-d', device, '--', ZESCOPE, 'record', '--no-last', '--metrics', groups,
            '-o', path, '--', PROGRAM, binary, 'immediate', str(launches), check=9)
        document, totals = self.show(path), {}
        for row in document['kernels']:
            totals.update(zip([m['name'] for m in document['groups'][row['group']]['metrics']], row['values']))
        return path, totals

    def test_pipes_of_xehpc_by_type_of_data(self):
        _, totals = self.totals_on('pvc', 'Ext1000,Ext9', 2) # the same launch, one with each
        executed = lambda name: totals['XVE_INST_EXECUTED_' + name]
        self.assertEqual(executed('FP16') + executed('FP32') + executed('FP64'), executed('ALU0_ALL'))
        self.assertLessEqual(executed('INT16') + executed('INT32') + executed('MATH'), executed('ALU1_ALL'))
        self.assertGreater(executed('INT32'), 0)
        self.assertEqual(executed('ALU2_ALL'), 0)
        self.assertGreater(totals['XVE_ACTIVE_CYCLES'], 0)
        self.assertAlmostEqual(totals['XVE_STALL_CYCLES'] / totals['XVE_ACTIVE_CYCLES'], totals['XVE_STALL'] / totals['XVE_ACTIVE'], 4)

    def test_groups_of_xehpg_agree_with_our_own(self):
        path, totals = self.totals_on('dg2', 'ComputeOverview,ZscopeMemory')
        self.assertEqual(totals['L3_BYTE_READ'] + totals['L3_BYTE_WRITE'], 64 * (totals['L3Hits'] + totals['L3Misses']))
        self.assertEqual(totals['GPU_MEMORY_BYTE_READ'], totals['MemoryBytesRead'])
        self.assertGreaterEqual(totals['XVE_COMPUTE_THREAD_COUNT'], 3 * GROUPS)
        self.assertGreater(totals['XVE_INST_EXECUTED_ALU0_ALL'] + totals['XVE_INST_EXECUTED_ALU1_ALL'], 0)
        self.assertGreater(totals['XVE_ACTIVE'], 0)
        self.assertLessEqual(totals['XVE_ACTIVE'] + totals['XVE_STALL'], 100)
        text = run(ZESCOPE, 'metrics', 'show', path).stdout
        self.assertRegex(text, r'XVE_INST_EXECUTED_ALU0_ALL_UTILIZATION +percent ')

    def totals(self, path):
        document, found = self.show(path), {}
        for row in document['kernels']:
            group = document['groups'][row['group']]
            found[group['name']] = dict(zip([m['name'] for m in group['metrics']], row['values']))
        return found

    def listed(self, group, sampling='event'):
        listed = json.loads(run(ZESCOPE, 'metrics', 'list', '-d', 'skl', '--json', '-g', group).stdout)
        return [[m['name'] for m in g['metrics']] for g in listed['devices'][0]['groups']
                if g['name'] == group and g['sampling'] == sampling][0]

    def test_groups_of_intels_tell_how_far_they_may_be_off(self):
        """A launch that is replayed in part says so in each group, in every view; lists of groups stay Intel's."""
        doubts = ['ReplayedShare', 'EstimateError']
        path, _ = self.record('immediate', 2, groups='ComputeBasic,ZscopeMemory,ZscopeStallSampling', size=LONG)
        basic, own = self.totals(path)['ComputeBasic'], self.totals(path)['ZscopeMemory']
        self.assertEqual(list(basic)[-2:], doubts)
        self.assertEqual(list(basic)[:-2], self.listed('ComputeBasic'))
        self.assertEqual(list(own), self.listed('ZscopeMemory')) # it had them before
        self.assertEqual([basic[name] for name in doubts], [own[name] for name in doubts])
        self.assertTrue(0 < basic["ReplayedShare"] < 90, basic)
        self.assertTrue(0.1 < basic['EstimateError'] < 20, basic)
        words = f'{basic["ReplayedShare"]:.3g} % replayed, may be {basic["EstimateError"]:.2g} % off'
        self.assertRegex(run(ZESCOPE, 'metrics', 'show', path).stdout, r'EstimateError +percent +[0-9.]+')
        rows = json.loads(run(ZESCOPE, 'report', '--json', path).stdout)['metrics']
        self.assertIn(('ComputeBasic', 'EstimateError'), [(row['group'], row['metric']) for row in rows])
        self.assertIn(f'note: loop: times and what follows from them are modelled: {words}', run(ZESCOPE, 'annotate', path).stdout)
        document = json.loads(run(ZESCOPE, 'annotate', '--json', path).stdout)
        self.assertTrue(any(words in note for note in document['notes']), document['notes'])
        self.assertEqual(run(ZESCOPE, 'annotate', '-k', 'loop', path).stdout.count(words), 1)
        self.assertIn(f'(modelled: {words})', run(ZESCOPE, 'analyze', path).stdout)
        page = os.path.join(self.folder, 'doubt.html')
        for command in (['annotate', '--html', page], ['report', '--html', page]):
            run(ZESCOPE, *command, path)
            with open(page) as f:
                self.assertIn(words if command[0] == 'annotate' else 'EstimateError', f.read())
        run(ZESCOPE, 'check', '--max', 'EstimateError=0.01', path, check=3)
        # what was executed without being replayed stands beside the code
        kernel = document['devices'][0]['kernels'][0]
        columns = {c['name']: [v or 0 for v in c['values']] for c in kernel['columns']}
        reasons = [name for name in columns if name == 'Active' or name.endswith('Stall')]
        whole = [sum(columns[name][i] for name in reasons) for i in range(len(kernel['instructions']))]
        self.assertTrue(all(0 <= part <= most for part, most in zip(columns['Estimated'], whole)))
        left = 100 * sum(columns['Estimated']) / sum(whole)
        self.assertAlmostEqual(left, 100 - basic['ReplayedShare'], delta=10)
        text = run(ZESCOPE, 'annotate', '--by', 'address', '--columns', 'Estimated', path).stdout
        self.assertRegex(text, r'(?m)^ *Estimated ')
        self.assertEqual([int(n) for n in re.findall(r'(?m)^ *(\d+) +\u2502 +[0-9a-f]+ ', text)],
                         [v for v in columns['Estimated'] if v])

    def test_what_is_replayed_whole_has_no_doubt(self):
        path, _ = self.record('immediate', 2, groups='ComputeBasic,ZscopeStallSampling')
        basic = self.totals(path)['ComputeBasic']
        self.assertEqual([basic['ReplayedShare'], basic['EstimateError']], [100, 0])
        self.assertNotIn('replayed', run(ZESCOPE, 'annotate', path).stdout)
        self.assertIn('(modelled)', run(ZESCOPE, 'analyze', path).stdout)
        kernel = json.loads(run(ZESCOPE, 'annotate', '--json', path).stdout)['devices'][0]['kernels'][0]
        estimated = next(c for c in kernel['columns'] if c['name'] == 'Estimated')
        self.assertFalse(any(estimated['values']))
        # a formula has nothing of it to tell
        path, _ = self.record('immediate', 1, groups='ComputeBasic', env={'ZESCOPE_TIMING': 'formula'})
        self.assertNotIn('EstimateError', self.totals(path)['ComputeBasic'])
        # reports of a streamer tell it, too
        path, _ = self.record('immediate', 2, '--metrics-period', '100us', groups='ComputeBasic', size=LONG)
        rows = [r for r in self.show(path)['kernels'] if r['kernel'] == 'loop']
        names = [m['name'] for m in self.show(path)['groups'][rows[0]['group']]['metrics']]
        self.assertEqual(names[:-2], self.listed('ComputeBasic', 'time'))
        self.assertGreater(rows[0]['values'][names.index('EstimateError')], 0.1)

    def test_far_off_is_not_to_be_trusted(self):
        """Values of another driver, or a later one: packets as a recorder writes them."""
        path, _ = self.record('immediate', 1, groups='ZscopeInstructions', env={'ZESCOPE_TIMING': 'formula'})
        launch = self.show(path)['launches'][0]
        packets = record(13, id=99, name='Far', domain=0, sampling=1, count=2, device=1)
        for i, name in enumerate(('ReplayedShare', 'EstimateError')):
            packets += record(14, id=1 + i, group=99, name=name, units='percent', metric_type=6, value_type=3)
        packets += record(15, id=launch['append'], submit_ns=launch['submit_ns'], group=99,
                          values=struct.pack('<dd', 3.0, 24.5))
        file = sorted(glob.glob(os.path.join(path, 'trace', '*.pftrace')))[0]
        with open(file.rsplit('-', 1)[0] + '-900.pftrace', 'wb') as f:
            f.write(packets)
        words = '3 % replayed, may be 24 % off, not to be trusted: ZESCOPE_TIMING=exact replays all'
        self.assertIn(f': {words})', run(ZESCOPE, 'analyze', path).stdout)
        self.assertIn(words, run(ZESCOPE, 'annotate', path).stdout)

    def test_memory_by_address(self):
        """Sums over instructions are the kernel's totals; lines have the shares of their instructions."""
        path, _ = self.record('immediate', 3, groups='ZscopeMemoryByAddress,ZscopeStallSampling,ZscopeMemory')
        document = self.show(path)
        totals = {}
        for row in document['kernels']:
            group = document['groups'][row['group']]
            totals[group['name']] = dict(zip([m['name'] for m in group['metrics']], row['values']))
        kernel = json.loads(run(ZESCOPE, 'annotate', '--json', path).stdout)['devices'][0]['kernels'][0]
        columns = {c['name']: c for c in kernel['columns']}
        whole = totals['ZscopeMemory']
        for name, of in (('L3Hits', 'L3Hits'), ('L3Misses', 'L3Misses'), ('LlcMisses', 'LlcMisses'),
                         ('MemoryBytesRead', 'MemoryBytesRead'), ('Sectors', 'GlobalSectors')):
            self.assertEqual(sum(columns[name]['values']), whole[of], name)
        self.assertGreater(whole['GlobalSectors'], 0)
        self.assertNotIn('L1Hits', columns) # there is none
        sends = [i['opcode'].startswith('send') for i in kernel['instructions']]
        for is_send, value in zip(sends, columns['Sectors']['values']):
            self.assertTrue(is_send or value == 0)
        rates = columns['L3MissRate']
        self.assertEqual(rates['total'], 'mean')
        for hits, misses, rate, weight in zip(columns['L3Hits']['values'], columns['L3Misses']['values'],
                                              rates['values'], rates['weights']):
            self.assertEqual(weight, hits + misses)
            self.assertAlmostEqual(rate, 100 * misses / weight if weight else 0, places=4)
        # reasons alone make the share
        self.assertAlmostEqual(sum(v for v in columns['stalls']['values'] if v is not None), 100, places=3)
        text = run(ZESCOPE, 'annotate', path).stdout
        for name in ('stalls', 'Sectors', 'L3MissRate'):
            self.assertIn(name, text)

    def test_damaged_recordings(self):
        """Whatever is cut or changed: an answer, and no value that was not measured."""
        path, _ = self.record('immediate', 30)
        exact = self.values(self.show(path), 'Instructions')[0]
        for file in glob.glob(os.path.join(path, 'trace', '*.pftrace')):
            with open(file, 'rb') as f:
                whole = f.read()
            for part in range(1, 12):
                with open(file, 'wb') as f:
                    f.write(whole[:len(whole) * part // 12])
                document = self.show(path)
                self.assertLessEqual(set(self.values(document, 'Instructions')), {exact})
            for at in range(40, len(whole), len(whole) // 60):
                with open(file, 'wb') as f:
                    f.write(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1:])
                self.show(path)
            with open(file, 'wb') as f:
                f.write(whole)

    def test_what_is_missing_is_said(self):
        """Numbers of a trace that is cut, or of a module that is gone, are shown with a word about that."""
        path, _ = self.record('immediate', 12, '--counts', groups='ZscopeStallSampling')
        views = (['metrics', 'show'], ['metrics', 'show', '--csv'], ['annotate'], ['annotate', '--json'], ['analyze'])
        for words in views:
            self.assertEqual(run(ZESCOPE, *words, path).stderr, '', words)
        self.assertEqual(self.show(path)['damaged_files'], 0)
        for file in glob.glob(os.path.join(path, 'trace', '*.pftrace')):
            os.truncate(file, os.path.getsize(file) * 7 // 8)
        self.assertEqual(self.show(path)['damaged_files'], 1)
        for words in views:
            self.assertIn('damaged', run(ZESCOPE, *words, path).stderr, words)
        path, said = self.record('immediate', 400, '--trace-limit', '200000')
        self.assertIn('events were lost while recording', said)
        self.assertGreater(self.show(path)['events_lost'], 0)
        self.assertIn('events were lost while recording', run(ZESCOPE, 'metrics', 'show', path).stderr)
        path, _ = self.record('immediate', 2, '--counts')
        for file in glob.glob(os.path.join(path, 'modules', '*.bin')):
            os.truncate(file, 0)
        p = run(ZESCOPE, 'analyze', path)
        self.assertIn('is not as it was recorded: 0 bytes of', p.stderr)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
