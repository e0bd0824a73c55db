#!/usr/bin/env python3
"""Device activity recorded from a program whose activities are known, and what views make of it.

Usage: test_activity.py ZESCOPE DRIVER PROGRAM KERNELS
"""
import csv
import glob
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

ZESCOPE, DRIVER, PROGRAM, KERNELS = (os.path.abspath(path) for path in sys.argv[1:5])
SOFTWARE = {'ZE_ENABLE_ALT_DRIVERS': DRIVER}
INTEL = dict(variable.split('=', 1) for variable in os.environ['ZS_TEST_INTEL'].split())
BLIND = 'ZESCOPE_DEVICES' not in INTEL # today's driver has an emulated GPU: nothing is without times there
BARRIERS = 7 + 4 + 3 * 2 + 6 + 2


def run(*words, env=None, check=0, folder=None):
    p = subprocess.run(words, env=dict(os.environ, **(env or {})), capture_output=True, text=True,
                       timeout=240, cwd=folder)
    if p.returncode != check:
        raise AssertionError(f'{words}: exit {p.returncode}\n{p.stdout}{p.stderr}')
    return p


def setUpModule():
    global folder, spirv, software, intel
    folder = tempfile.TemporaryDirectory()
    run('ocloc', 'compile', '-file', KERNELS, '-device', 'skl', '-out_dir', folder.name)
    spirv = next(os.path.join(folder.name, name) for name in os.listdir(folder.name)
                 if name.endswith('.spv'))
    software, intel = (os.path.join(folder.name, name) for name in ('software', 'intel'))
    p = run(ZESCOPE, 'record', '-o', software, '--', PROGRAM, spirv, env=SOFTWARE, check=9)
    assert p.stdout == 'done\n', p.stdout
    aub = os.path.join(folder.name, 'aub')
    os.mkdir(aub)
    run(ZESCOPE, 'record', '-o', intel, '--', PROGRAM, spirv, '--no-results', env=INTEL, check=9,
        folder=aub)


def tearDownModule():
    folder.cleanup()


def report(recording):
    r = json.loads(run(ZESCOPE, 'report', '--json', recording).stdout)
    assert r['schema'] == 'zescope.report/1'
    return r


class Report(unittest.TestCase):
    def check_counts(self, r):
        kernels = {k['name']: k for k in r['kernels']}
        self.assertEqual({name: k['count'] for name, k in kernels.items()}, {'add': 18, 'scale': 2})
        for k in kernels.values():
            self.assertEqual(k['groups'], [32, 1, 1])
            self.assertEqual(k['group_size'], [32, 1, 1])
            self.assertIn(k['simd'], (8, 16, 32))
        copies = {c['direction']: (c['count'], c['total_B']) for c in r['copies']}
        self.assertEqual(copies, {'host-to-device': (1, 4096), 'device-to-device': (1, 4096),
                                  'device-to-host': (1, 4096), 'fill-shared': (1, 4096)})
        self.assertEqual(sum(b['count'] for b in r['barriers']), BARRIERS)

    def test_software_gpu(self):
        r = report(software)
        self.check_counts(r)
        for row in r['kernels'] + r['copies'] + r['barriers']:
            self.assertEqual(row['timed'], row['count'], row)
            self.assertLessEqual(row['min_ns'], row['mean_ns'])
            self.assertLessEqual(row['mean_ns'], row['max_ns'])
            self.assertLessEqual(row['max_ns'], row['total_ns'])
            self.assertTrue(row['device'])

    def test_timestamps_that_never_arrive(self):
        """Intel's driver without a GPU; over an emulated one they do."""
        r = report(intel)
        self.check_counts(r)
        if not BLIND:
            self.assertTrue(all(row['timed'] for row in r['kernels']), r['kernels'])
            return
        for row in r['kernels']:
            self.assertEqual(row['timed'], 0)
            self.assertIsNone(row['total_ns'])
        self.assertIn(' n/a ', run(ZESCOPE, 'report', '-t', 'kernels', intel).stdout)

    def test_memory_and_leaks(self):
        r = report(software)
        memory = {m['name']: m for m in r['memory']['kinds']}
        self.assertEqual(memory['device memory']['peak_B'], 8192)
        self.assertEqual(memory['device memory']['left_B'], 4096)
        self.assertEqual(memory['host memory']['allocations'], 1)
        self.assertEqual(memory['shared memory']['left_B'], 0)
        self.assertEqual(r['memory']['peak_B'], 4 * 4096)
        self.assertEqual(sorted(leak['type'] for leak in r['leaks']),
                         ['context', 'device memory', 'event pool'])
        log = run(ZESCOPE, 'log', software).stdout.splitlines()
        for leak in r['leaks']:
            self.assertIn(f'0x{leak["handle"]:x}', log[leak['call'] - 1])
        self.assertEqual([b['result'] for b in r['builds']], ['ZE_RESULT_SUCCESS'])

    def test_csv(self):
        for table, first in (('kernels', 'name'), ('copies', 'direction'), ('memory', 'name'), ('barriers', 'name'),
                             ('allocations', 'kind'), ('threads', 'pid'),
                             ('leaks', 'type'), ('builds', 'pid'), ('calls', 'name')):
            text = run(ZESCOPE, 'report', '--format', 'csv', '-t', table, software).stdout
            rows = list(csv.reader(io.StringIO(text)))
            self.assertEqual(rows[0][0], first)
            self.assertGreater(len(rows), 1)
            self.assertEqual({len(row) for row in rows}, {len(rows[0])})

    def test_without_activity(self):
        path = os.path.join(folder.name, 'calls')
        run(ZESCOPE, 'record', '--no-activity', '-o', path, '--', PROGRAM, spirv, env=SOFTWARE,
            check=9)
        r = report(path)
        self.assertIsNone(r['kernels'])
        self.assertEqual({c['name']: c['count'] for c in r['calls']},
                         {c['name']: c['count'] for c in report(software)['calls']})


def decode(path):
    """Packets of a Perfetto trace as protoc reads them: lists of (field, text or list)."""
    with open(path, 'rb') as file:
        p = subprocess.run(['protoc', '--decode_raw'], stdin=file, capture_output=True, text=True,
                           timeout=120)
    if p.returncode:
        raise AssertionError(p.stderr)
    stack = [[]]
    for line in p.stdout.splitlines():
        word = line.strip()
        if word.endswith('{'):
            inner = []
            stack[-1].append((int(word.split()[0]), inner))
            stack.append(inner)
        elif word == '}':
            stack.pop()
        else:
            field, value = word.split(': ', 1)
            stack[-1].append((int(field), value))
    return [packet for field, packet in stack[0] if field == 1]


def get(message, field):
    return next((value for number, value in message if number == field), None)


class Timeline(unittest.TestCase):
    def make(self, recording, name):
        path = os.path.join(folder.name, name)
        run(ZESCOPE, 'timeline', recording, '-o', path)
        return path

    def test_outputs(self):
        """Standard output; what stands at the output's name stays where there is nothing to write."""
        with open(self.make(software, 'whole.pftrace'), 'rb') as f:
            whole = f.read()
        p = subprocess.run([ZESCOPE, 'timeline', software, '-o', '-'], capture_output=True,
                           timeout=240, check=True)
        self.assertEqual(p.stdout, whole)
        with open('/dev/full', 'wb') as full:
            p = subprocess.run([ZESCOPE, 'timeline', software, '-o', '-'], stdout=full,
                               stderr=subprocess.PIPE, text=True, timeout=240, check=False)
        self.assertEqual((p.returncode, 'No space left' in p.stderr), (1, True))
        empty, kept = (os.path.join(folder.name, name) for name in ('empty', 'kept.json'))
        os.mkdir(empty)
        with open(kept, 'w', encoding='utf-8') as f:
            f.write('mine')
        run(ZESCOPE, 'timeline', empty, '-o', kept, check=1)
        with open(kept, encoding='utf-8') as f:
            self.assertEqual(f.read(), 'mine')

    def test_damage_is_told(self):
        """By every view of the trace; what stands before the damage is shown."""
        damaged = os.path.join(folder.name, 'damaged')
        shutil.copytree(software, damaged)
        for path in glob.glob(os.path.join(damaged, 'trace', '*.pftrace')):
            half = os.path.getsize(path) // 2
            with open(path, 'r+b') as f:
                f.seek(half)
                f.write(b'\xff' * half)
        out = os.path.join(folder.name, 'damaged.json')
        for words in ['report', damaged], ['log', damaged], ['timeline', damaged, '-o', out]:
            self.assertRegex(run(ZESCOPE, *words).stderr, r'[1-9]\d* trace files? damaged', words)
        self.assertIn('zeInit', run(ZESCOPE, 'log', damaged).stdout)
        self.assertEqual(run(ZESCOPE, 'log', software).stderr, '')

    def test_other_folders_are_refused(self):
        with tempfile.TemporaryDirectory() as other:
            for words in (['report', other], ['log', other], ['compare', other, software],
                          ['annotate', other], ['disasm', other], ['inspect', other]):
                p = run(ZESCOPE, *words, check=1)
                self.assertEqual(p.stdout, '', words)
                self.assertIn('is not a recording', p.stderr, words)
                self.assertEqual(p.stderr.count(other), 1, words)

    def test_perfetto(self):
        packets = decode(self.make(software, 'x.pftrace'))
        tracks = {}
        for packet in packets:
            track = get(packet, 60)
            if track:
                tracks[get(track, 1)] = get(track, 2)
        events = [(packet, get(packet, 11)) for packet in packets if get(packet, 11)]
        begun = {'"add"': 0, '"scale"': 0}
        flows, depth, last = {}, {}, {}
        for packet, event in events:
            track, name, flow = get(event, 11), get(event, 23), get(event, 47)
            if get(event, 9) == '3':
                flows[flow] = name
            if track not in tracks or get(event, 9) not in '12':
                continue
            self.assertEqual(get(packet, 58), '3')
            time = int(get(packet, 8))
            self.assertLessEqual(last.get(track, 0), time)
            last[track] = time
            depth[track] = depth.get(track, 0) + (1 if get(event, 9) == '1' else -1)
            self.assertIn(depth[track], (0, 1))
            if name in begun:
                begun[name] += 1
            if flow:
                self.assertEqual(flows[flow], name)
        self.assertEqual(begun, {'"add"': 18, '"scale"': 2})
        self.assertEqual(set(depth.values()), {0})
        self.assertTrue(any('queue' in (name or '') for name in tracks.values()))
        self.assertTrue(any('immediate' in (name or '') for name in tracks.values()))
        counters = [int(get(e, 30)) for _, e in events if get(e, 9) == '4']
        self.assertEqual(max(counters), 4 * 4096)
        self.assertEqual(counters[-1], 4096)

    def test_chrome(self):
        with open(self.make(software, 'x.json'), encoding='utf-8') as file:
            events = json.load(file)['traceEvents']
        threads = {e['tid']: e['args']['name'] for e in events if e['name'] == 'thread_name'}
        slices = [e for e in events if e['ph'] == 'X' and e.get('cat') == 'kernel']
        self.assertEqual(len(slices), 20)
        for e in slices:
            self.assertIn(e['tid'], threads)
            a = e['args']
            self.assertLessEqual(a['append_ns'], a['submit_ns'] + 1000000)
            self.assertLessEqual(a['submit_ns'], a['start_ns'])
            self.assertLessEqual(a['start_ns'], a['end_ns'])
            self.assertEqual(a['groups'], [32, 1, 1])
        calls = [e for e in events if e['ph'] == 'X' and e.get('cat') == 'api']
        self.assertEqual(len(calls), sum(c['count'] for c in report(software)['calls']))
        starts = {e['id']: e['ts'] for e in events if e['ph'] == 's'}
        ends = {e['id']: e['ts'] for e in events if e['ph'] == 'f'}
        self.assertEqual(set(starts), set(ends))
        self.assertEqual(len(starts), 20 + 4 + BARRIERS)
        self.assertEqual(max(e['args']['bytes'] for e in events if e['ph'] == 'C'), 4 * 4096)

    def test_devices_of_one_name(self):
        """Tiles and devices of a kind say which they are; a device that is alone has its name."""
        skl, max_1550 = 'Intel(R) HD Graphics 530', 'Intel(R) Data Center GPU Max 1550'
        for devices, hierarchy, names in (
                ('skl,pvc:2', 'COMPOSITE', [skl, max_1550, max_1550 + ', tile 0', max_1550 + ', tile 1']),
                ('skl,pvc:2', 'FLAT', [skl, max_1550 + ' #1', max_1550 + ' #2']),
                ('skl:2,skl:2', 'COMPOSITE',
                 [f'{skl} #{n}' for n in (1, 2)] +
                 [f'{skl} #{n}, tile {tile}' for n in (1, 2) for tile in (0, 1)])):
            path = os.path.join(folder.name, 'devices-' + hierarchy + devices)
            run(ZESCOPE, 'record', '-o', path, '--', PROGRAM, '--devices', check=9,
                env={**SOFTWARE, 'ZESCOPE_DEVICES': devices, 'ZE_FLAT_DEVICE_HIERARCHY': hierarchy})
            with open(self.make(path, 'devices.json'), encoding='utf-8') as file:
                events = json.load(file)['traceEvents']
            tracks = [e['args']['name'] for e in events if e['name'] == 'thread_name' and 'immediate' in e['args']['name']]
            self.assertEqual([t.split(': ')[0] for t in tracks], names)
            self.assertEqual([e['args']['device'] for e in events if e['ph'] == 'X' and 'device' in e['args']], names)
            rows = report(path)['copies']
            self.assertEqual(sorted((row['device'], row['count']) for row in rows),
                             sorted((name, 1) for name in names))

    if BLIND:
        def test_without_times(self):
            packets = decode(self.make(intel, 'intel.pftrace'))
            self.assertFalse([p for p in packets if get(p, 11) and get(get(p, 11), 9) == '4'
                              and int(get(get(p, 11), 30)) < 0])
            with open(self.make(intel, 'intel.json'), encoding='utf-8') as file:
                events = json.load(file)['traceEvents']
            self.assertFalse([e for e in events if e.get('cat') == 'kernel'])


class Live(unittest.TestCase):
    def test_lines(self):
        path = os.path.join(folder.name, 'lines')
        p = run(ZESCOPE, 'trace', '-o', path, '-i', 'Append', '-e', 'Barrier', '--', PROGRAM, spirv,
                env=SOFTWARE, check=9)
        self.assertEqual(p.stdout, 'done\n')
        with open(path, encoding='utf-8') as file:
            lines = file.read().splitlines()
        counts = {c['name']: c['count'] for c in report(software)['calls']}
        self.assertEqual(len(lines), sum(count for name, count in counts.items()
                                         if 'Append' in name and 'Barrier' not in name))
        self.assertTrue(all('ZE_RESULT_SUCCESS <' in line for line in lines))
        p = run(ZESCOPE, 'trace', '-i', 'zeInit', '--', PROGRAM, spirv, env=SOFTWARE, check=9)
        self.assertIn('zeInit(flags = 0) = ZE_RESULT_SUCCESS', p.stderr)

    def test_filters(self):
        path = os.path.join(folder.name, 'filtered')
        run(ZESCOPE, 'record', '-i', 'Append', '-o', path, '--', PROGRAM, spirv, env=SOFTWARE,
            check=9)
        r = report(path)
        self.assertTrue(all('Append' in c['name'] for c in r['calls']))
        self.assertEqual(sum(k['count'] for k in r['kernels']), 20)
        run(ZESCOPE, 'record', '-i', '(', '-o', path + '2', '--', PROGRAM, check=2)


class Diff(unittest.TestCase):
    def test_same(self):
        p = run(ZESCOPE, 'compare', '--threshold', '0', '--json', software, software)
        self.assertEqual(json.loads(p.stdout), {'schema': 'zescope.compare/1', 'a': software, 'b': software, 'changes': [], 'kernels': []})

    if BLIND:
        def test_changes(self):
            p = run(ZESCOPE, 'compare', '--json', software, intel)
            changes = {(c['kind'], c['name'].split()[0]): c for c in json.loads(p.stdout)['changes']}
            self.assertEqual(changes['kernel', 'add']['a']['count'], 18)
            self.assertIsNone(changes['kernel', 'add']['b']['total_ns'])
            self.assertIsNone(changes['call', 'zeEventHostSynchronize']['b'])
            self.assertIn('gone', run(ZESCOPE, 'compare', software, intel).stdout)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
