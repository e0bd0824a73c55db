#!/usr/bin/env python3
"""zescope debug: going back, watched memory, who wrote, launches by number; against logs of the way forward and sums
made here."""
import os
import pty
import re
import select
import subprocess
import sys
import time
import unittest

sys.dont_write_bytecode = True
import test_debug_command as common  # its arguments are ours, too

debug, body, table = common.debug, common.body, common.table
setUpModule, tearDownModule = common.setUpModule, common.tearDownModule

# Eight threads in a group, barriers, lanes that part, atomics whose results depend on the order of all work-items.
MIXED = """kernel void out_of_bounds(global int *p, int n)
{
    local int total;
    int here = get_global_id(0), order;
    if (get_local_id(0) == 0)
        total = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (here % 3 == 0)
        order = atomic_add(p, here);
    else
        order = atomic_inc(&p[1]) * n;
    for (int k = 0; k < here % 4; k++)
        order += k;
    atomic_add(&total, order);
    barrier(CLK_LOCAL_MEM_FENCE);
    p[2 + here % 32] = total + order;
}
"""

# A million instructions between what is written and what is asked.
LONG = """kernel void out_of_bounds(global int *p, int n)
{
    int here = get_global_id(0), sum = here;
    p[here] = here * 3 + n;
    for (int k = 0; k < n * 16000; k++)
        sum = sum * 5 + (sum >> 3 ^ k);
    p[here] ^= sum;
    p[here] += sum;
}
"""


def near(got, wanted):
    return len(got) == len(wanted) and all(abs(a - b) <= 1e-4 * max(1.0, abs(b)) for a, b in zip(got, wanted))


def pulls(i, bodies):
    """What bodies add to the acceleration of body i."""
    with open(os.path.join(common.FOLDER, 'gravity.h'), encoding='utf-8') as f:
        softening = float(re.search(r'SOFTENING\s+([0-9.]+)', f.read()).group(1))
    total, here = [0.0] * 3, body(i)
    for k in bodies:
        way = [body(k)[n] - here[n] for n in range(3)]
        inverse = (sum(w * w for w in way) + softening * softening) ** -0.5
        for n in range(3):
            total[n] += way[n] * body(k)[3] * inverse ** 3
    return total


def numbers(text):
    return [float(x) for x in re.findall(r'-?[0-9.]+(?:e-?\d+)?', text)]


class Back(unittest.TestCase):
    def there_and_back(self, first, prints, count, forward, backward, **more):
        """What is seen at each stop of `count` steps, and the same in reverse on the way back."""
        look = [f'print {e}' for e in prints]
        commands = [first, 'run', 'delete', 'echo STOP', *look]
        commands += [c for _ in range(count) for c in (forward, 'echo STOP', *look)]
        commands += ['echo TURN']
        commands += [c for _ in range(count) for c in (backward, 'echo STOP', *look)]
        r = debug(*commands, 'info record', 'delete', 'continue', **more)
        onward, back = r.stdout.split('TURN\n')
        back, rest = back.split('recorded, ')
        place = r'^#0\s+0x(\w+) .*:(\d+)$'
        on_places, back_places = re.findall(place, onward, re.M), re.findall(place, back, re.M)
        self.assertEqual(len(on_places), count + 1, r.stdout + r.stderr)
        self.assertEqual(on_places[:-1][::-1], back_places, r.stdout + r.stderr)
        values = [re.sub(place + '\n.*\n', '', part, flags=re.M) for part in onward.split('STOP\n')[1:]]
        again = [re.sub(place + '\n.*\n|\\d+ launch.*\n.*', '', part, flags=re.M) for part in back.split('STOP\n')[1:]]
        self.assertEqual([v.strip() for v in values[:-1][::-1]], [v.strip() for v in again], r.stdout + r.stderr)
        return r, rest

    def test_lines_of_a_whole_work_item(self):
        r, _ = self.there_and_back('tbreak nbody.cl:22', ['acceleration @lanes', 'first', 'tile[63]', 'lane'], 22, 'next',
                                   'reverse-next')
        self.assertEqual(r.returncode, 0, r.stdout + r.stderr)
        self.assertIn('largest difference', r.stdout)  # the host finds what it computes itself

    def test_instructions(self):
        self.there_and_back('tbreak nbody.cl:21', ['$r3:ud', '$f0', 'first', '$ce0'], 40, 'stepi', 'reverse-stepi')

    def build(self, source):
        """What debug() takes to run it."""
        with open(os.path.join(common.WORK.name, 'kernels.cl'), 'w', encoding='utf-8') as f:
            f.write(source)
        subprocess.run([common.OCLOC, 'compile', '-file', 'kernels.cl', '-device', 'skl', '-options', common.FLAGS,
                        '-output', 'kernels', '-out_dir', '.'], cwd=common.WORK.name, check=True,
                       stdout=subprocess.DEVNULL, timeout=120)
        os.rename(os.path.join(common.WORK.name, 'kernels_Gen9core.bin'), os.path.join(common.WORK.name, 'kernels.bin'))
        return {'app': [common.MISBEHAVE, 'bounds'], 'kernels': common.WORK.name}

    def test_far_back(self):
        """What lies further back than what is looked at first."""
        r = debug('tbreak kernels.cl:7', 'set record on', 'run', 'print here', 'info record', 'who-wrote p[here]', 'break kernels.cl:4',
                  'reverse-next', 'reverse-continue', 'print p[here]', 'reverse-continue', 'info record', **self.build(LONG))
        here = int(re.search(r'^(\d+)$', r.stdout, re.M).group(1))
        step = int(re.search(r'recorded, step (\d+)', r.stdout).group(1))
        self.assertGreater(step, 1 << 20, r.stdout + r.stderr)
        self.assertRegex(r.stdout, rf'p\[here\]: -?\d+ -> {here * 3 + 1}, by item {here},0,0 of group 0,0,0 .*\n.* at .*kernels.cl:4\n')
        places = re.findall(r'^#0 .*kernels.cl:(\d+)$', r.stdout, re.M)
        self.assertEqual(places[0], '7', r.stdout + r.stderr)
        self.assertIn(places[1], ('5', '6'), r.stdout + r.stderr)
        self.assertEqual(places[2], '4', r.stdout + r.stderr)
        self.assertNotIn('further back', r.stderr)
        self.assertEqual(r.returncode, 0, r.stdout + r.stderr)

    def test_atomics_and_divergence(self):
        mixed = self.build(MIXED)
        self.there_and_back('tbreak kernels.cl:8', ['order @lanes', 'here', 'p[0]', 'p[1]'], 5, 'next',
                            'reverse-next', **mixed)
        r = debug('break divergence', 'run', 'print here @lanes', 'info lanes', 'reverse-step', **mixed)
        self.assertRegex(r.stdout, r'Breakpoint 1, thread \d+, group 0,0,0')
        # behind the second barrier all have added: those that can be divided by three, in the order of threads
        r = debug('tbreak kernels.cl:16', 'run', 'who-wrote p[0]', 'who-wrote p[1]', 'who-wrote p[60]', **mixed)
        wrote = dict((int(k), (int(a), int(b), int(item))) for k, a, b, item in re.findall(
            r'p\[(\d+)\]: (-?\d+) -> (-?\d+), by item (\d+),0,0 of group 0,0,0', r.stdout))
        self.assertEqual(sorted(wrote), [0, 1], r.stdout + r.stderr)
        self.assertEqual(wrote[0][2], 63)
        self.assertEqual(wrote[1][2], 62)
        self.assertIn('has written p[60] so far', r.stderr)

    def test_nbody_session(self):
        """The session of docs/debugging.md."""
        r = debug('tbreak nbody.cl:24', 'run', 'print acceleration @lanes', 'next', 'print tile[11]', 'reverse-next',
                  'who-wrote tile[3]', 'next', 'who-wrote tile[11]', 'who-wrote acceleration', 'who-wrote *0x10000000',
                  'x/4f 0x10000000')
        self.assertEqual(table(r.stdout)[:8], [[0, 0, 0]] * 8, r.stdout + r.stderr)
        stops = re.findall(r'^#0 .*nbody.cl:(\d+)$', r.stdout, re.M)
        self.assertEqual(stops, ['24', '25', '24', '25'], r.stdout + r.stderr)
        wrote = re.findall(r'^tile\[(\d+)\]: (.*) -> (.*), by item (\d+),0,0 of group 0,0,0 \(lane (\d+)\)\n'
                           r'step \d+, 0x\w+ in nbody_step at .*nbody.cl:23\n23\t', r.stdout, re.M)
        self.assertEqual([w[0] for w in wrote], ['3', '11'], r.stdout + r.stderr)
        for element, before, after, item, lane in wrote:
            self.assertEqual(numbers(before), [0, 0, 0, 0])
            self.assertTrue(near(numbers(after), body(int(element))), after)
            self.assertEqual((item, lane), (element, str(int(element) % common.SIMD)))
        self.assertRegex(r.stdout, r'acceleration: .* -> \{0, 0, 0\}, by item 0,0,0 of group 0,0,0')
        # the tile by the address that later compilers give it
        self.assertRegex(r.stdout, r'\*0x10000000: 0 -> \d+, by item 0,0,0 of group 0,0,0')
        self.assertRegex(r.stdout, r'(?m)^0x10000000: 0\.05 0 0 0\.0039')

    def test_watch(self):
        r = debug('tbreak nbody.cl:21', 'run', 'watch acceleration', 'info breakpoints', 'continue', 'continue', 'continue',
                  'reverse-continue', 'reverse-continue', 'print acceleration', 'reverse-continue', 'reverse-continue',
                  'delete', 'continue')
        hits = re.findall(r'Watchpoint 2, .*: acceleration: (\{.*\}) -> (\{.*\}), by item 0,0,0 of group 0,0,0 \(lane 0\)', r.stdout)
        self.assertEqual(len(hits), 6, r.stdout + r.stderr)
        for i, (old, new) in enumerate(hits[:3]):
            self.assertTrue(near(numbers(old), pulls(0, range(64 * i))), (i, old))
            self.assertTrue(near(numbers(new), pulls(0, range(64 * (i + 1)))), (i, new))
        self.assertEqual(hits[3:], hits[2::-1])
        self.assertEqual(r.stdout.count('Beginning of the launch'), 1, r.stdout)
        self.assertIn('12 bytes at', r.stdout)
        self.assertEqual(r.returncode, 0, r.stdout + r.stderr)
        r = debug('tbreak nbody.cl:21', 'run', 'rwatch positions[200].w if lane == 8', 'continue', 'print lane', 'print first',
                  'awatch velocities[me]', 'delete 2', 'continue', 'continue')
        self.assertRegex(r.stdout, r'Watchpoint 2, .*: positions\[200\].w: 0.00390625 read, by item 8,0,0 of group \d,0,0 \(lane ' + str(8 % common.SIMD) + r'\)')
        self.assertRegex(r.stdout, r'velocities\[me\]: \{.*\} (read|->)')
        self.assertIn('Watchpoint 3: velocities[me] (what samplers read is not available)\n', r.stdout)
        self.assertRegex(debug('tbreak nbody.cl:21', 'run', 'watch velocities[me]').stdout, r'(?m)^Watchpoint 2: velocities\[me\]$')

    def test_launches(self):
        r = debug('goto launch 1', 'tbreak nbody_step', 'run', 'info record', 'goto launch 3', 'info record', 'next',
                  'goto launch 3', 'goto launch 2', 'goto nowhere', 'continue')
        self.assertRegex(r.stdout, r'launch 1: recorded, step \d+')
        self.assertRegex(r.stdout, r'Launch, thread \d+, group 0,0,0, lane 0: launch 3 begins')
        self.assertIn('launch 3: recorded, step 0', r.stdout)
        self.assertIn('Beginning of the launch', r.stdout)
        self.assertIn('launch 2 has been: 3 have begun', r.stderr)
        self.assertIn('goto launch N, goto step N', r.stderr)

    def test_barriers(self):
        r = debug('break barrier 3', 'run', 'print first', 'continue', 'continue')
        self.assertEqual(len(re.findall(r'^Breakpoint 1, thread (\d+), group 0,0,0', r.stdout, re.M)), 3, r.stdout)
        self.assertRegex(r.stdout, r'(?m)^64$')  # the third: one in front of the sums and one behind, of each tile

    def test_refused(self):
        r = debug('set record off', 'tbreak nbody.cl:24', 'run', 'reverse-step', 'who-wrote tile[0]', 'set record what',
                  'info record', 'watch lane + 1', 'watch *0x10', 'who-wrote', 'goto launch 1')
        lines = r.stderr.splitlines()
        self.assertEqual(len(lines), 7, r.stderr)
        self.assertIn('was not recorded', lines[0])
        self.assertIn('was not recorded', lines[1])
        self.assertIn('no way back', r.stdout)
        self.assertIn('there is no memory at 0x10', r.stderr)

    def test_written(self):
        """What is set is undone by going back across it, and is there again when only what comes behind it is."""
        r = debug('tbreak nbody.cl:24', 'run', 'print tile_size', 'print first', 'set variable first = 640', 'print first',
                  'next', 'print first', 'reverse-next', 'print first', 'reverse-next', 'print first', 'next', 'print first')
        values = [int(x) for x in re.findall(r'^(\d+)$', r.stdout, re.M)]
        self.assertEqual(values, [64, 0, 640, 640, 640, 0, 0], r.stdout + r.stderr)
        self.assertEqual(re.findall(r'^#0 .*nbody.cl:(\d+)$', r.stdout, re.M)[:5], ['24', '25', '24', '23', '24'])

    def test_code_written(self):
        """An instruction that is written is shown and is what runs; going back across it, it is what it was, and runs so."""
        source = """kernel void out_of_bounds(global int *p, int n)
{
    int here = get_global_id(0);
    p[here] = here + 100;
    p[here] += n;
}
"""
        wide = 1000 << 16 | 1000  # a word, twice
        r = debug('tbreak kernels.cl:4', 'set record on', 'run', 'stepi', 'x/i $ip', f'set *($ip + 12) = {wide}', 'x/i $ip',
                  'print *($ip + 12)', 'tbreak kernels.cl:5', 'continue', 'print p[here]', 'who-wrote p[here]', 'reverse-stepi 3',
                  'tbreak kernels.cl:5', 'continue', 'print p[here]', 'reverse-continue', 'x/200i $ip', 'tbreak kernels.cl:5',
                  'continue', 'print p[here]', **self.build(source))
        self.assertEqual(r.returncode, 0, r.stdout + r.stderr)
        self.assertRegex(r.stdout, r'\badd .* 100:w\b.*\n(?:.*\n)?.*\badd .* 1000:w\b.*\n', r.stdout)
        values = re.findall(r'^(\d+)$', r.stdout, re.M)
        self.assertEqual(values, [str(wide), '1000', '1000', '100'], r.stdout + r.stderr)
        self.assertRegex(r.stdout, r'p\[here\]: -?\d+ -> 1000, by item 0,0,0 of group 0,0,0')
        beginning = r.stdout.split('Beginning of the launch')[1]
        self.assertIn(' 100:w', beginning)
        self.assertNotIn('1000:w', beginning)

    def test_jump(self):
        """Over a line; what is seen behind it and in front of it is seen again in reverse."""
        r = debug('tbreak nbody.cl:25', 'run', 'print acceleration @lanes', 'tbreak nbody.cl:29', 'jump nbody.cl:29', 'print $ip',
                  'next', 'print acceleration @lanes', 'reverse-next', 'print $ip', 'reverse-next', 'next', 'next',
                  'jump nowhere.cl:3', 'jump', 'set $ip = 3', 'set $ip = 0.5')
        # in front of the jump it is forgotten: line 25 is executed then
        self.assertEqual(re.findall(r'^#0 .*nbody.cl:(\d+)$', r.stdout, re.M), ['25', '29', '30', '29', '24', '25', '26'],
                         r.stdout + r.stderr)
        rows = table(r.stdout)
        self.assertEqual(rows, [[0, 0, 0]] * len(rows), r.stdout + r.stderr)
        places = re.findall(r'^(\d{10,})$', r.stdout, re.M)
        self.assertEqual(places[0], places[1], r.stdout)
        self.assertEqual(len(r.stderr.splitlines()), 4, r.stderr)
        self.assertIn('no instruction of the code', r.stderr)

    def test_terminal(self):
        pid, fd = pty.fork()
        if pid == 0:
            os.execve(common.ZESCOPE, [common.ZESCOPE, 'debug', '--no-history', '--', common.NBODY, common.SPIRV, common.FLAGS],
                      common.environment())
        seen = b''
        for line, until in ((b'', b'(zescope) '), (b'tbr nbody.cl:24\n', b'pending'), (b'run\n', b'24\t'), (b'n\n', b'25\t'),
                            (b'rn\n', b'24\t'), (b'\n', b'23\t'), (b'who-wrote tile[0]\n', b'so far'), (b'q\n', None)):
            os.write(fd, line)
            part, end = b'', time.monotonic() + 240
            while until is None or until not in part:
                if not select.select([fd], [], [], max(0, end - time.monotonic()))[0]:
                    self.fail((line, part))
                try:
                    data = os.read(fd, 4096)
                except OSError:
                    data = b''
                if not data:
                    break
                part += data
            seen += part
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0, seen)
        os.close(fd)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
