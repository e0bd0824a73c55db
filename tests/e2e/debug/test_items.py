#!/usr/bin/env python3
"""Which work-items the lanes of a thread have, as the debugger tells it, against what the kernel itself has computed."""
import os
import re
import subprocess
import sys
import unittest

ZESCOPE, APP, BINARY, DEVICE = sys.argv[1:5]
NAMES = ('x', 'y', 'z', 'gx', 'gy', 'gz')


def debug(*commands):
    env = {k: v for k, v in os.environ.items() if not k.startswith('ZESCOPE') or k == 'ZESCOPE_DRIVER'}
    arguments = [ZESCOPE, 'debug', '-d', DEVICE, '--batch']
    for command in commands:
        arguments += ['--eval-command', command]
    return subprocess.run(arguments + ['--', APP, BINARY], env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          stdin=subprocess.DEVNULL, timeout=120)


def columns(text):
    """Values of print @lanes: a list for each time."""
    return [[int(n) for n in re.findall(r'^[ *] *\d+  (\d+)$', part, re.M)] for part in re.split(r'NEXT\n', text)[1:]]


class Items(unittest.TestCase):
    def test_lanes_and_focus(self):
        tables = [command for name in NAMES for command in ('echo NEXT', f'print {name} @lanes')]
        r = debug('break items.cl:7 if $group0 == 1 && $group1 == 0 && $group2 == 1 && $lid2 == 1', 'run', 'print z', 'echo LANES', 'info lanes',
                  *tables, 'echo NEXT', 'focus group 1,0,1 item 4,2,1', *(f'print {name}' for name in NAMES),
                  'print $gid0 * 10000 + $gid1 * 100 + $gid2', 'print $lid0 * 100 + $lid1 * 10 + $lid2',
                  'print 1?$lid0:0', 'print 0?$gid1:7', 'print 1?$lid1:z', 'print 0?$lane:$group2', 'print 0?$r0.1:6', 'print 0?$r0:ud:5',
                  'print 1?$r0.1:ud:z == $r0.1', 'info lanes',
                  'focus group 1,0,1 item 5', 'focus group 1,0,1 item 4,2,2', 'focus group 0,0,0 item 3,1,0', 'delete',
                  'continue')
        self.assertEqual(r.returncode, 0, r.stdout + r.stderr)
        self.assertEqual(r.stderr.count('not among the threads that are stopped: it has not begun, or has ended; `break LOCATION '
                                        'if $group0 == '), 3, r.stderr)
        self.assertIn('`break LOCATION if $group0 == 0 && $lid0 == 3` stops there', r.stderr)
        # the condition has led to a lane that has it
        self.assertRegex(r.stdout, r'(?m)^Breakpoint 1, thread \d+, group 1,0,1, lane \d+')
        self.assertEqual(r.stdout.split('LANES\n')[0].splitlines()[-1], '1')
        told = re.findall(r'^[ *] lane +(\d+) .*  item (\d+),(\d+),(\d+)  global (\d+),(\d+),(\d+)$',
                          r.stdout.split('LANES\n')[1].split('NEXT\n')[0], re.M)
        computed = columns(r.stdout.split('LANES\n')[1])[:6]
        self.assertGreater(len(told), 3)
        self.assertEqual([[int(row[i + 1]) for row in told] for i in range(6)], computed, r.stdout)
        self.assertNotIn('waits', r.stdout)  # there are no other lanes
        self.assertEqual(computed[3], [x + 5 + 7 for x in computed[0]])
        # the last item of the group, in another thread
        after = re.search(r'\[thread \d+, group 1,0,1, lane \d+\]\n#0 .*items.cl:\d+\n.*\n((?:\d+\n)+)(?s:.*?)^\* lane', r.stdout, re.M)
        self.assertIsNotNone(after, r.stdout)
        values = [int(n) for n in after.group(1).split()]
        self.assertEqual(values, [4, 2, 1, 4 + 5 + 7, 2 + 11, 1 + 2 + 13, 16 * 10000 + 13 * 100 + 16, 421,
                                  4, 7, 2, 1, 6, 5, 1])

    def test_threads_of_all_groups(self):
        """One lane of each thread of the launch."""
        r = debug('set record off', 'dprintf items.cl:7, item {$lid0} {$lid1} {$lid2} {$gid0} {$gid1} {$gid2} = {x} {y} {z} {gx} {gy} {gz}',
                  'run')
        self.assertEqual(r.returncode, 0, r.stdout + r.stderr)
        lines = re.findall(r'^item (.*) = (.*)$', r.stdout, re.M)
        self.assertGreaterEqual(len(lines), 8)
        self.assertEqual(len(lines) % 8, 0)
        for told, computed in lines:
            self.assertEqual(told, computed)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
