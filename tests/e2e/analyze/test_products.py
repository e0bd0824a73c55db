#!/usr/bin/env python3
"""Metrics of one product of each generation, of kernels whose bytes, lines and threads are known.

Usage: test_products.py KINDS.cl ZESCOPE DRIVER PROGRAM
"""
import json
import os
import re
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from kinds import Kinds  # noqa: E402

PATHS = [os.path.abspath(p) for p in sys.argv[1:5]]
KERNELS = ['clean', 'strided', 'conflicts']
CLOCKS = {'skl': 1150, 'icllp': 1100, 'tgllp': 1300, 'dg2': 2400, 'pvc': 1600}
LINE = 64
# of all launches of a kernel: work-items, lines that they read and write
ITEMS = {'clean': 2 * 42 * 256, 'strided': 168 * 256, 'conflicts': 42 * 64}
READ_LINES = {'clean': ITEMS['clean'] * 4 // LINE, 'strided': ITEMS['strided']} # one for each item: 128 bytes apart
WRITE_LINES = {name: ITEMS[name] * 4 // LINE for name in ('clean', 'strided')}


def threads_of(groups):
    basic = groups['ComputeBasic']
    return basic.get('CsThreads') or basic['XVE_COMPUTE_THREAD_COUNT']


class Products(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        with open(PATHS[0]) as f: # these alone: others take long to compile
            pieces = re.split('(?m)^(?=__kernel)', f.read())
        cls.source = os.path.join(cls.folder.name, 'few.cl')
        with open(cls.source, 'w') as f:
            f.write(pieces[0] + ''.join(p for p in pieces[1:] if re.match(r'__kernel void (\w+)', p)[1] in KERNELS))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def measure(self, device, *groups):
        """Values by kernel, group and metric."""
        kinds = Kinds(self.source, *PATHS[1:], self.folder.name, device)
        runs = ['--runs'] if len(groups) > 2 else [] # of one domain
        rec = kinds.record('rec_' + device, '--no-last', *runs, '--metrics', ','.join(groups), kernels=KERNELS)
        document = json.loads(kinds.run('metrics', 'show', '--json', rec)[1])
        self.assertEqual([document['not_measured'], document['runs_mismatch']], [0, ''])
        found = {}
        for row in document['kernels']:
            group = document['groups'][row['group']]
            values = found.setdefault(row['kernel'], {}).setdefault(group['name'], {})
            for metric, value in zip(group['metrics'], row['values']):
                values[metric['name']] = value
                if metric['units'] == 'percent':
                    self.assertTrue(0 <= value <= 100, (device, row['kernel'], metric['name'], value))
        for launch in document['launches']: # of each launch alone: nothing but the device's clock
            for report in launch['reports']:
                names = [m['name'] for m in document['groups'][report['group']]['metrics']]
                if 'AvgGpuCoreFrequencyMHz' in names:
                    self.assertEqual(report['values'][names.index('AvgGpuCoreFrequencyMHz')], CLOCKS[device])
        self.assertEqual(set(found), set(KERNELS))
        return found

    def check_common(self, device, found, active, stall):
        for kernel, groups in found.items():
            basic, memory = groups['ComputeBasic'], groups['ZscopeMemory']
            self.assertAlmostEqual(basic['GpuTime'] * CLOCKS[device] / 1000, basic['GpuCoreClocks'], delta=2 * CLOCKS[device])
            self.assertTrue(0 < basic[active] and basic[active] + basic[stall] <= 100.001, (device, kernel))
            # scratch memory is what spills; arguments that threads load are none
            self.assertEqual([memory['ScratchMessages'], memory['ScratchBytesAsked']], [0, 0], (device, kernel))
            self.assertEqual(memory['SlmMessages'] > 0, kernel == 'conflicts')
            self.assertEqual(memory['SlmConflictCycles'] > 0, kernel == 'conflicts')
        for kernel in ('clean', 'strided'):
            memory = found[kernel]['ZscopeMemory']
            self.assertEqual(memory['GlobalSectors'], READ_LINES[kernel] + WRITE_LINES[kernel])
            self.assertEqual('ArgumentMessages' in memory, device in ('dg2', 'pvc'))
            if device in ('dg2', 'pvc'):
                threads = threads_of(found[kernel])
                self.assertIn(memory['ArgumentSectors'] / threads, (1, 2, 3), device)
                self.assertIn(memory['ArgumentMessages'] / threads, (1, 2, 3))
            # all lines once a launch from memory, and of the arguments a few, which all threads share
            few = memory['MemoryBytesRead'] // LINE - READ_LINES[kernel]
            self.assertTrue(0 <= few <= 64, (device, kernel, few))

    def test_gen9(self):
        """Local memory is in L3 there."""
        found = self.measure('skl', 'ComputeBasic', 'ZscopeMemory')
        self.check_common('skl', found, 'EuActive', 'EuStall')
        basic = found['conflicts']['ComputeBasic']
        local = basic['SlmBytesRead'] + basic['SlmBytesWritten']
        self.assertGreater(local, 0)
        self.assertEqual(basic['L3ShaderThroughput'], LINE * basic['ShaderMemoryAccesses'] + local)

    def check_shaders(self, device, *groups):
        found = self.measure(device, 'ZscopeMemory', *groups)
        self.check_common(device, found, 'EuActive', 'EuStall')
        for kernel, all_groups in found.items():
            memory = all_groups['ZscopeMemory']
            for group in groups:
                values = all_groups[group]
                self.assertEqual(values['L3ShaderThroughput'], LINE * values['ShaderMemoryAccesses'], (device, kernel, group))
                self.assertAlmostEqual(values['ShaderMemoryAccesses'], memory['GlobalSectors'] + memory['ScratchSectors'],
                                       delta=1e-3 * values['ShaderMemoryAccesses'])
        for kernel in ('clean', 'strided'):
            self.assertEqual(found[kernel]['ComputeBasic']['ShaderMemoryAccesses'], READ_LINES[kernel] + WRITE_LINES[kernel])
        return found

    def test_gen11(self):
        found = self.check_shaders('icllp', 'ComputeBasic', 'ComputeL3Cache')
        for groups in found.values(): # no sampler: what shaders move is all that L3 does
            l3 = groups['ComputeL3Cache']
            self.assertAlmostEqual(l3['L3TotalThroughput'], l3['L3ShaderThroughput'], delta=1e-3 * l3['L3TotalThroughput'])

    def test_xe_lp(self):
        self.check_shaders('tgllp', 'ComputeBasic')

    def check_lsc(self, device, active, stall):
        found = self.measure(device, 'ComputeBasic', 'L1ProfileReads', 'ZscopeMemory')
        self.check_common(device, found, active, stall)
        for kernel in ('clean', 'strided'): # threads load their arguments through the same cache
            memory = found[kernel]['ZscopeMemory']
            self.assertEqual(found[kernel]['L1ProfileReads']['LOAD_STORE_CACHE_BYTE_READ'],
                             ITEMS[kernel] * 4 + memory['ArgumentBytesAsked'])
        has_images = device != 'pvc'
        memory = found['clean']['ZscopeMemory']
        for name in ('TypedMessages', 'TypedBytesAsked', 'TypedSectors', 'SamplerMessages', 'SamplerTexelsAsked', 'SamplerSectors',
                     'SamplerCacheHits', 'SamplerCacheMisses'):
            self.assertEqual(name in memory, has_images, (device, name))

    def test_xe_hpg(self):
        self.check_lsc('dg2', 'XveActive', 'XveStall')

    def test_xe_hpc(self):
        self.check_lsc('pvc', 'XVE_ACTIVE', 'XVE_STALL')


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
