#!/usr/bin/env python3
"""The tools on today's GPUs, as a user calls them: the n-body kernel as IGC 2 compiled it (tests/igc2), recorded, measured,
instrumented, analysed, checked and debugged. What it does follows from its source.

usage: test_tools.py ZESCOPE DRIVER NBODY SOURCES FOLDER     FOLDER: the archives, unpacked
"""
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import unittest

ZESCOPE, DRIVER, NBODY, SOURCES, FOLDER = (os.path.abspath(path) for path in sys.argv[1:6])
BODIES, LAUNCHES, GROUPS, TILES, LANES = 256, 4, 4, 4, 32
THREADS = BODIES // LANES
# published peaks of floats (Gflop/s) and of memory (GB/s)
PEAKS = {'mtl': (1900, 119.5), 'bmg': (13670, 456), 'lnl': (4000, 136.5), 'ptl': (7680, 153.6)}
BY_ADDRESS = ('bmg', 'ptl')
CHECKS = {'mtl': 'memory', 'bmg': 'all', 'lnl': 'memory', 'ptl': 'all'}


def run(*words, device='bmg', check=0):
    env = {**os.environ, 'ZE_ENABLE_ALT_DRIVERS': DRIVER, 'ZESCOPE_DRIVER': DRIVER, 'ZESCOPE_DEVICES': device, 'ZESCOPE_LOG': 'error'}
    p = subprocess.run((ZESCOPE,) + words, env=env, capture_output=True, text=True, timeout=100, check=False)
    if p.returncode != check:
        raise AssertionError(f'{words}: exit {p.returncode}\n{p.stdout}{p.stderr}')
    return p.stdout


def app(device):
    return '--', NBODY, os.path.join(FOLDER, f'{device}-nbody-default.bin')


def position(i):
    """Where nbody.c puts that body."""
    turn, radius = 0.37 * i, 0.05 + i / BODIES
    return radius * math.cos(turn), radius * math.sin(turn), 0.1 * math.sin(3 * turn), 1 / BODIES


def metrics(how, device, *groups):
    """Values by name, of all launches."""
    found = json.loads(run('metrics', how, '--json', '-d', device, '-g', ','.join(groups), *app(device)))
    sums = {}
    for kernel in found['kernels'] or found['samples']:
        names = [m['name'] for m in found['groups'][kernel['group']]['metrics']]
        sums.update(zip(names, kernel['values']))
    return sums


class Tools(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.path = os.path.join(scratch.name, 'run')

    def for_each(self, check):
        for device in PEAKS:
            with self.subTest(device=device):
                check(device)

    def check_counts(self, device):
        path = self.path + device
        run('profile', '-q', '-d', device, '-o', path, *app(device))
        kernel = json.loads(run('analyze', '--json', path))['kernels'][0]
        q, roofline = kernel['quantities'], kernel['roofline']
        self.assertEqual((q['threads'], q['groups'], q['items']), (LAUNCHES * THREADS, LAUNCHES * GROUPS, LAUNCHES * BODIES))
        # each item reads its position and velocity and a position of each tile; threads load arguments, too
        read = LAUNCHES * BODIES * 16 * (2 + TILES)
        self.assertGreaterEqual(q['global_read'], read)
        self.assertLessEqual(q['global_read'], read + LAUNCHES * THREADS * 128)
        self.assertEqual(q['global_written'], LAUNCHES * BODIES * 32)
        memory = next(r for r in roofline['roofs'] if r['name'] == 'memory')
        for peak, published in zip((roofline['peak'], memory['peak_rate']), PEAKS[device]): # is what the vendor tells
            self.assertLess(abs(peak / published - 1), 0.15)
        listed = json.loads(run('annotate', '--json', path))['devices'][0]
        self.assertIn(device, listed['device'] if isinstance(listed['device'], str) else json.dumps(listed['device']))
        # the same instructions, counted by probes in the code
        out = run('instrument', '--json', '-q', '-n', '0', '-o', path + 'i', 'opcodes', *app(device), device=device)
        rows = json.loads(out[out.index('{'):])['rows']
        self.assertEqual(sum(row['executions'] for row in rows), q['instructions'])
        return q

    def test_counts(self):
        self.for_each(self.check_counts)

    def check_traced(self, device):
        """Addresses of memory accesses: what they move, wherever the compiler has buffers."""
        out = run('instrument', '--json', '-q', '-n', '0', '-o', self.path + device, 'memtrace', *app(device), device=device)
        rows = json.loads(out[out.index('{'):])['rows']
        for kind, per_item in (('load', 16 * (2 + TILES)), ('store', 32)):
            moved = sum(row['bytes'] for row in rows if re.match(f'{kind} 16 B (memory|surface)', row['access']))
            self.assertEqual(moved, LAUNCHES * BODIES * per_item, kind)

    def test_traced(self):
        self.for_each(self.check_traced)

    def test_probed(self):
        """Xe3P: each instruction is executed as often as the software GPU counts; of addresses without a base in s0."""
        for device in ('nvl-p', 'cri'):
            with self.subTest(device=device):
                path = self.path + device
                run('record', '-q', '--no-last', '--counts', '-o', path, *app(device), device=device)
                kernel = json.loads(run('annotate', '--json', path))['devices'][0]['kernels'][0]
                counted = sum(inst.get('executions') or 0 for inst in kernel['instructions'])
                out = run('instrument', '--json', '-q', '-n', '0', '-o', path + 'o', 'opcodes', *app(device), device=device)
                rows = json.loads(out[out.index('{'):])['rows']
                self.assertEqual(sum(row['executions'] for row in rows), counted)
                out = run('instrument', '--json', '-q', '-n', '0', '-o', path + 'm', 'memtrace', *app(device), device=device)
                rows = json.loads(out[out.index('{'):])['rows']
                self.assertEqual({row['access']: row['bytes'] for row in rows if row['access'].startswith('store')},
                                 {'store 16 B local': LAUNCHES * BODIES * TILES * 16})

    def test_metrics(self):
        for device in BY_ADDRESS:
            with self.subTest(device=device):
                intels, ours = metrics('query', device, 'ComputeBasic'), metrics('query', device, 'ZscopeInstructions')
                self.assertEqual(intels['XVE_INST_ISSUED_ALL'], ours['Instructions'])
                self.assertEqual((intels['GPGPU_THREADGROUP_COUNT'], ours['Groups'], ours['Threads']),
                                 (LAUNCHES * GROUPS, LAUNCHES * GROUPS, LAUNCHES * THREADS))
                self.assertEqual(intels['COMMAND_PARSER_COMPUTE_ENGINE_DISPATCH_KERNEL_COUNT'], LAUNCHES)
                # a position of each tile a thread, and each item puts one there
                self.assertEqual(intels['SLM_BYTE_READ'], LAUNCHES * THREADS * BODIES * 16)
                self.assertEqual(intels['SLM_BYTE_WRITE'], LAUNCHES * BODIES * TILES * 16)
                intels, ours = metrics('stream', device, 'EuStallSampling'), metrics('stream', device, 'ZscopeStallSampling')
                self.assertEqual([name for name in intels if name != 'IP'],
                                 ['Active', 'PSDepStall', 'ControlStall', 'PipeStall', 'SendStall', 'DistStall', 'SbidStall',
                                  'SyncStall', 'InstrFetchStall', 'OtherStall'])
                same = [name for name in intels if name in ours and name != 'IP']
                self.assertEqual([intels[n] for n in same], [ours[n] for n in same])
                self.assertGreater(intels['Active'], 0)

    def check_debugged(self, device):
        """An element of a vector in all lanes."""
        commands = ('break nbody.cl:23', 'run', 'info threads', 'print here.y @lanes', 'backtrace', 'delete', 'continue')
        words = [w for c in commands for w in ('--eval-command', c)]
        out = run('debug', '-d', device, '--batch', '-S', SOURCES, *words, *app(device))
        self.assertIn(' in nbody_step ', out)
        self.assertIn('lanes 0xffffffff of 0xffffffff', out)
        lanes = re.findall(r'^[* ] *\d+  (-?[\d.e-]+)$', out, re.M)
        self.assertEqual(len(lanes), LANES, out)
        for lane in range(LANES):
            self.assertLess(abs(float(lanes[lane]) - position(lane)[1]), 1e-6, (lane, lanes))

    def test_debugged(self):
        self.for_each(self.check_debugged)

    def test_checked(self):
        """Nothing is found in a kernel without faults."""
        self.for_each(lambda device: run('run', '--check=' + CHECKS[device], '-d', device, *app(device)))


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
