#!/usr/bin/env python3
"""What the debugger shows at every line of ten kernels, lane by lane, against the same kernels as plain C: a value is right
or not available; in code that was not optimised it is right."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

STEP, RUN, REFERENCE, MODULE, HOW = sys.argv[1:6]
KERNELS = ['straight', 'sums', 'branches', 'vectors', 'longs', 'structures', 'arrays', 'loops', 'calls', 'shared']
FOCUS = [1, 4]  # lanes that go different ways
SHOWN = 3
DEVICE = os.environ['ZESCOPE_DEVICES']
# In code that was not optimised: variables that IGC's debug info gives no place at all (IGC 2: no certain one), and two whose addresses cannot be
# computed in front of some instructions.
NO_PLACE = {(device, 'arrays', 'a') for device in ('icllp', 'tgllp', 'acm-g10', 'mtl', 'bmg', 'ptl')}
HARD = {('tgllp', 'branches', 'u', 0xd80), ('tgllp', 'branches', 'k', 0xd80), ('tgllp', 'branches', 'u', 0x1090)}


def trace(folder, item):
    """Lines that a work-item executes in C, with the variables before each and after it."""
    with open(os.path.join(folder, str(item)), encoding='ascii') as f:
        events = [json.loads(line) for line in f]
    lines = [e.pop('line') for e in events]
    return [(line, before, after) for line, before, after in zip(lines, events, events[1:] + [{}])]


def fits(values, before, after, strict):
    """Whether all values that are available are those before the line, or (not strict) after it."""
    for name, value in values.items():
        known = [e[name] for e in (before,) + (() if strict else (after,)) if name in e]
        if isinstance(value, str) and known and value not in known:
            return False
    return True


class Values(unittest.TestCase):
    def check_lane(self, place, line, lane, history):
        """line: None where it says nothing about what has been executed."""
        values, strict = lane['values'], HOW == 'unoptimised'
        here = [e for e in history if e[0] == line] if lane['running'] else []
        events = here or history  # it waits, or has not come to its first statement
        if not any(fits(values, before, after, strict and here) for _, before, after in events):
            self.wrong.append((place, line, {n: v for n, v in values.items() if isinstance(v, str)}, 'in C:', here))
        for name, value in values.items():
            if any(name in before for _, before, _ in here):
                self.shown[isinstance(value, str)] += 1
                known = (DEVICE, place[0], name) in NO_PLACE or (DEVICE, place[0], name, int(place[2], 16)) in HARD
                if strict and not known and not isinstance(value, str):
                    self.missing.append((place, line, name, value))

    def step(self, kernel, focus, folder, wanted):
        seen = os.path.join(folder, 'seen')
        r = subprocess.run([STEP, seen, kernel, str(focus), RUN, MODULE, kernel], stdout=subprocess.PIPE, text=True, timeout=100)
        self.assertEqual((r.returncode, r.stdout), (0, wanted))
        with open(seen, encoding='ascii') as f:
            stops = [json.loads(line) for line in f]
        history = {lane: trace(folder, item) for lane, item in stops.pop(0)['items'].items()}
        for stop in stops:
            for number, lane in stop['lanes'].items():
                place = (kernel, focus, hex(stop['offset']), number)
                self.check_lane(place, None if stop['join'] else stop['line'], lane, history[number])
        return stops

    def check_kernel(self, kernel):
        self.wrong, self.missing, self.shown = [], [], [0, 0]
        with tempfile.TemporaryDirectory() as folder:
            wanted = subprocess.run([REFERENCE, kernel, folder], stdout=subprocess.PIPE, text=True, check=True).stdout
            stops = sum((self.step(kernel, focus, folder, wanted) for focus in FOCUS), [])
        print(f'{kernel}: {len(stops)} stops, {self.shown[1]} values available, {self.shown[0]} not', flush=True)
        self.assertGreater(len({stop['line'] for stop in stops}), 5)
        for wrong in self.wrong[:SHOWN]:
            print('wrong:', *wrong)
        for missing in self.missing[:SHOWN]:
            print('missing:', *missing)
        self.assertEqual((len(self.wrong), len(self.missing)), (0, 0))


def make(kernel):
    return lambda self: self.check_kernel(kernel)


for name in KERNELS:
    setattr(Values, 'test_' + name, make(name))

if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1] + sys.argv[6:])
