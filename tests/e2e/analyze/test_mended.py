#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What is told of kernels whose defects are known (known.py): the first finding, its line, and its gain against what
mending the source gains; both kernels run on the software GPU."""
import json
import os
import re
import sys
import tempfile
import unittest

from kinds import Kinds
from known import APART, FEW, FEW_GROUPS, JUDGED, LAUNCHED, LIMITED, MENDED, OFF, ROUNDS, SCALE, SUITES, tried

SOURCE, ZESCOPE, DRIVER, PROGRAM = map(os.path.abspath, sys.argv[1:5])
DEVICES = sys.argv[5:]  # those of which all kernels are tried; none: a few kernels
del sys.argv[1:]


# Percent: what mending gains no more than that costs nothing on this device. Then the tool need not tell it, and must
# not say that it costs.
COSTLESS = 5
FILLS = 'filled'  # the kernel that runs first, in sources that have it


def mended_of(name, rule, device):
    return MENDED.get((device, name)) or MENDED.get((name, rule), name + '_mended')


def words_of(device, name, rule, kernel, kernels, kinds):
    """What does not hold of it: '' (first finding), 'line', 'gain'; and what was told."""
    findings = [f for f in kernel['findings'] if f['gain'] is None or f['gain'] >= 5]
    told = [(f['rule'], f['gain'] and round(f['gain_least']), f['gain'] and round(f['gain'])) for f in findings]
    mended = kernels.get(mended_of(name, rule, device))
    gained = 100 * (1 - mended['quantities']['time_mean'] / kernel['quantities']['time_mean']) if mended else None
    seen = f'{told[:4]}, measured {gained and round(gained)}, {kernel["limit_text"]}'
    first = findings[0] if findings else None
    if gained is not None and gained < COSTLESS:
        costly = [f for f in findings if f['rule'] == rule and (f['gain'] or 0) >= 2 * COSTLESS]
        return ['gain'] if costly else [], seen
    if not rule:
        costly = [f for f in findings if (f['gain_least'] or 0) >= 25 and f['rule'] not in ('message-latency', 'dependencies')]
        return ['first'] if costly else [], seen
    if not first or first['rule'] != rule:
        return ['first'], seen
    off = []
    with open(kinds.source) as f:
        lines = {mark: n for n, text in enumerate(f, 1) for mark in re.findall(r'MARK (.*?) \*/', text)}
    line = lines.get(f'{name} {rule}', lines.get(name))
    lines = [p['line'] for p in first['places']]
    first_line = rule == 'integer-division' or name == 'smoothed'
    if line and (line not in lines or first_line and line != lines[0]):
        off.append('line')
    third = abs(gained) / 3 if gained is not None else 0
    if gained is not None and (first['gain'] is None or not first['gain_least'] - third <= gained <= first['gain'] + third):
        off.append('gain')
    return off, seen


class Known(unittest.TestCase):
    def test_kernels(self):
        source = os.path.basename(SOURCE)
        for device, names in ({d: tried(source, d) for d in DEVICES} or FEW[source]).items():
            with self.subTest(device):
                for part in ([n for n in names if n not in APART], [n for n in names if n in APART]):
                    if part:
                        self.check(device, part)

    def check(self, device, names):
        with tempfile.TemporaryDirectory() as folder:
            kinds = Kinds(self.part(folder, names, device), ZESCOPE, DRIVER, PROGRAM, folder, device)
            known = SUITES[os.path.basename(SOURCE)]
            shapes = {FILLS: (8, 256, 0, 1)} if self.has_filled() else {}
            for name in names:
                shape, mended = (*known[name][1:], known[name][-1])[:2]
                rule = JUDGED[device].get(name, known[name][0])
                to = mended_of(name, rule, device)
                for kernel, (groups, size, local) in ((name, shape), (to, LAUNCHED.get(to, mended))):
                    if kernel == name or {known[name][0], rule} - {None, 'memory-bound'}:
                        few = name in FEW_GROUPS and kernel == name
                        shapes[kernel] = (groups if few else int(groups * SCALE[device]), size, local, 1)
            rec = kinds.record('rec', '--counts', '--metrics', 'ZscopeGains,ZscopeMemory,ZscopeStallSampling,ZscopeMemoryByAddress',
                               kernels=shapes,
                               rounds=ROUNDS[device], **shapes)
            status, out, err = kinds.run('analyze', '--json', '--limit', '0', rec)
            self.assertEqual(status, 0, err)
            kernels = {k['name']: k for k in json.loads(out)['kernels']}
            for k in kernels.values():  # where nothing does much it is not what limits
                self.assertFalse('of what it can do' in k['limit_text'] and k['limit'] < 55 and k['occupancy_achieved'] < 50, (k['name'], k['limit_text']))
            for name in names:
                rule = JUDGED[device].get(name, known[name][0])
                off, seen = words_of(device, name, rule, kernels[name], kernels, kinds)
                if os.environ.get('VERBOSE'):
                    print(device, name, 'OK' if not off else off, rule, seen)
                with self.subTest(name):
                    self.assertIn(LIMITED.get((device, name), ''), kernels[name]['limited_by'] or '')
                    self.assertEqual(off, OFF[device].get(name, []), seen)

    @staticmethod
    def has_filled():
        with open(SOURCE) as f:
            return f'void {FILLS}(' in f.read()

    @staticmethod
    def part(folder, names, device):
        """The source with these kernels alone, each on its line: others need not be compiled."""
        with open(SOURCE) as f:
            pieces = re.split('(?m)^(?=__kernel|struct)', f.read())
        known, judged = SUITES[os.path.basename(SOURCE)], JUDGED[device]
        wanted = {FILLS, *names, *(mended_of(n, judged.get(n, known[n][0]), device) for n in names)}
        keep = [p if not p.startswith('__kernel') or re.match(r'__kernel.* (\w+)\(', p)[1] in wanted else '\n' * p.count('\n')
                for p in pieces]
        os.mkdir(os.path.join(folder, 'source'))
        path = os.path.join(folder, 'source', 'kinds.cl')
        with open(path, 'w') as f:
            f.write(''.join(keep))
        return path


if __name__ == '__main__':
    unittest.main()
