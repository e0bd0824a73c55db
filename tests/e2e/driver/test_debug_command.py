#!/usr/bin/env python3
"""zescope debug on the n-body example: sessions from scripts and on a terminal, against the same sums made here."""
import json
import math
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

ZESCOPE, NBODY, FOLDER, OCLOC, MISBEHAVE, DEBUGGED, KERNELS = sys.argv[1:8]
FLAGS = '-g -cl-opt-disable'
BODIES, LAUNCHES = 256, 4
WORK = tempfile.TemporaryDirectory()
DEVICE = os.environ.get('ZESCOPE_DEVICES', 'skl')
SIMD = 16 if DEVICE == 'pvc' else 8  # of code that was not optimised
SPIRV = os.path.join(WORK.name, 'nbody_Gen9core.spv')


LOCAL = '0x(?:a00000000000000|10000000)' # where local memory begins, as compilers have it
FAULTY = """kernel void out_of_bounds(global int *p, int n)
{
    uint here = get_global_id(0);
    global int *at = p + here;

    at[n] = 1;
}
"""


def setUpModule():
    subprocess.run([OCLOC, 'compile', '-file', 'nbody.cl', '-device', 'skl', '-options', FLAGS, '-output', 'nbody',
                    '-out_dir', WORK.name], cwd=FOLDER, check=True, stdout=subprocess.DEVNULL, timeout=120)


def tearDownModule():
    WORK.cleanup()


def environment(**more):
    env = {k: v for k, v in os.environ.items() if not k.startswith('ZESCOPE') or k in ('ZESCOPE_DRIVER', 'ZESCOPE_DEVICES')}
    env['TERM'] = 'dumb'
    return {**env, **more}


def debug(*commands, app=None, options=(), kernels=''):
    arguments = [ZESCOPE, 'debug', '--batch', *options]
    for command in commands:
        arguments += ['--eval-command', command]
    app = [NBODY, SPIRV, FLAGS] if app is None else app
    return subprocess.run(arguments + ['--', *app], env=environment(E2E_KERNELS=kernels), text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=120)


def body(i):
    """What place() of the example makes."""
    turn, radius = 0.37 * i, 0.05 + i / BODIES
    return radius * math.cos(turn), radius * math.sin(turn), 0.1 * math.sin(3 * turn), 1 / BODIES


def acceleration(i):
    with open(os.path.join(FOLDER, 'gravity.h'), encoding='utf-8') as f:
        softening = float(re.search(r'SOFTENING\s+([0-9.]+)', f.read()).group(1))
    total, here = [0.0] * 3, body(i)
    for k in range(BODIES):
        other = body(k)
        way = [other[n] - here[n] for n in range(3)]
        inverse = 1 / math.sqrt(sum(w * w for w in way) + softening * softening)
        for n in range(3):
            total[n] += way[n] * other[3] * inverse ** 3
    return total


def table(text):
    """Rows of print @lanes: lists of numbers."""
    rows = re.findall(r'^[ *] *\d+  (\{.*\}|\S+)$', text, re.M)
    return [[float(x) for x in re.findall(r'-?[0-9.]+(?:e-?\d+)?', row)] for row in rows]


class Running:
    """The application that does what it is told, and a debugger that attaches to it."""

    def __init__(self):
        env = environment(E2E_KERNELS=KERNELS, ZE_ENABLE_ALT_DRIVERS=os.environ['ZESCOPE_DRIVER'],
                          ZET_ENABLE_PROGRAM_DEBUGGING='1')
        self.app = subprocess.Popen([DEBUGGED], env=env, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.debugger = None

    def __enter__(self):
        for command in ('init', 'context', 'queue', 'module'):
            self.tell(command, 0)
            assert self.result() == 0, command
        return self

    def __exit__(self, *_):
        for process in (self.app, self.debugger):
            if process:
                process.kill()
                process.wait()
                process.stdout.close()
        if not self.app.stdin.closed:
            self.app.stdin.close()

    def tell(self, command, number):
        self.app.stdin.write(f'{command} {number}\n')
        self.app.stdin.flush()

    def result(self):
        return int(self.app.stdout.readline().split()[1], 16)

    def attach(self, *commands):
        arguments = [ZESCOPE, 'debug', '--batch', '--pid', str(self.app.pid)]
        for command in commands:
            arguments += ['--eval-command', command]
        self.debugger = subprocess.Popen(arguments, env=environment(), text=True, stdin=subprocess.DEVNULL,
                                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def until(self, text):
        seen = []
        for line in self.debugger.stdout:
            seen.append(line)
            if text in line:
                return line
        raise AssertionError(''.join(seen))


class Debugging(unittest.TestCase):
    def near(self, got, wanted):
        self.assertEqual(len(got), len(wanted))
        for a, b in zip(got, wanted):
            self.assertLess(abs(a - b), 1e-4 * max(1.0, abs(b)), (got, wanted))


class Debug(Debugging):
    def test_values_of_all_lanes(self):
        r = debug('tbreak nbody.cl:29', 'run', 'echo ME', 'print me @lanes', 'echo HERE', 'print here @lanes',
                  'echo SUM', 'print acceleration @lanes', 'echo END', 'continue')
        self.assertEqual(r.returncode, 0, r.stdout + r.stderr)
        parts = re.search('ME\n(.*)HERE\n(.*)SUM\n(.*)END\n', r.stdout, re.S).groups()
        me, here, total = (table(part) for part in parts)
        self.assertEqual(len(me), SIMD)
        for lane in range(SIMD):
            i = int(me[lane][0])
            self.near(here[lane], body(i))
            self.near(total[lane], acceleration(i))
        self.assertIn('largest difference', r.stdout)
        self.assertIn('ended with status 0', r.stdout)

    def test_chosen_elements(self):
        """Of a float4 and a float3, as OpenCL C has it."""
        x, y, z, w = body(3)
        chosen = {'here.xyz': (x, y, z), 'here.wzyx': (w, z, y, x), 'here.s03': (x, w), 'here.S3a0': None, 'here.lo': (x, y),
                  'here.hi': (z, w), 'here.even': (x, z), 'here.odd': (y, w), 'here.hi.lo': (z,), 'here.xyz.odd': None,
                  'here.yzw.even': (y, w), 'here.xyxyxyxy.hi.lo': (x, y), 'here.bgr': (z, y, x), 'here.xxxxx': None,
                  'here.xg': None, 'here.xyz.w': None, 'here.zw[1]': (w,), 'positions[3].wx': (w, x), 'here.s': None,
                  'here.xyz.zy.x': (z,), '(&here)->yy': (y, y), 'acceleration.hi': None, 'acceleration.lo.s1': (acceleration(3)[1],)}
        r = debug('tbreak nbody.cl:29', 'run', 'lane 3', 'echo V', *(f'print {e}' for e in chosen), 'echo T', 'whatis here.xyz',
                  'print sizeof(here.xyz)', 'print sizeof(here.lo)', 'print/x here.wx', 'print &here.xy', 'print here.xy + 1',
                  'print here.xy = 1', 'watch here.zx', 'echo L', 'print here.zx @lanes')
        values, types, lanes = re.split('\n?[VTL]\n', r.stdout)[1:]
        got = [[float(n) for n in re.findall(r'-?[0-9.]+(?:e-?\d+)?', line)] for line in values.splitlines()]
        wanted = [w for w in chosen.values() if w]
        self.assertEqual(len(got), len(wanted), r.stdout + r.stderr)
        for a, b in zip(got, wanted):
            self.near(a, b)
        bits = ', '.join(hex(struct.unpack('<I', struct.pack('<f', n))[0]) for n in (w, x))
        self.assertEqual(types.splitlines(), ['float3', '16', '8', '{' + bits + '}'])
        for lane, row in enumerate(table(lanes)):
            self.near(row, (body(lane)[2], body(lane)[0]))
        says = ['here has no member S3a0', 'here.xyz has no member odd', 'here.xxxxx: no vector has 5', 'here has no member xg',
                'here.xyz has no member w', 'here has no member s', 'acceleration has no member hi', 'have no address', 'is no number',
                'no variable of a simple type', 'here.zx: only elements that lie behind each other']
        self.assertEqual(len(r.stderr.splitlines()), len(says), r.stderr)
        for line, say in zip(r.stderr.splitlines(), says):
            self.assertIn(say, line)

    def test_step_over_the_barrier(self):
        r = debug('tbreak nbody.cl:24', 'run', 'next', 'print lane', 'print tile[lane].w', 'print tile[63].x', 'print first')
        self.assertIn('in nbody_step at', r.stdout, r.stderr)
        stops = re.findall(r'^#0 .*nbody.cl:(\d+)$', r.stdout, re.M)
        self.assertEqual(stops, ['24', '25'], r.stdout + r.stderr)
        lane, mass, last, first = r.stdout.splitlines()[-4:]
        self.near([float(mass), float(last)], [1 / BODIES, body(int(first) + 63)[0]])
        self.assertLess(int(lane), 64)

    def test_calls(self):
        r = debug('tbreak pull', 'run', 'backtrace', 'print there', 'up', 'print i', 'print tile[i]', 'print tile @lanes',
                  'finish')
        frames = re.findall(r'^#(\d) +\S+ in (\w+)(?: \(.*\))? at \S*?(\w+\.\w+):(\d+)$', r.stdout, re.M)
        self.assertEqual([f[1:3] for f in frames[:4]],
                         [('pull', 'gravity.h'), ('pull', 'gravity.h'), ('sum_of_pulls', 'nbody.cl'),
                          ('nbody_step', 'nbody.cl')], r.stdout + r.stderr)
        values = re.findall(r'^\{.*\}$', r.stdout, re.M)
        self.assertEqual(len(values), 2, r.stdout + r.stderr)
        self.assertEqual(values[0], values[1])
        self.assertEqual(frames[-1][1], 'sum_of_pulls')
        self.assertEqual(len(re.findall(rf'(?m)^[ *] *\d+  {LOCAL}$', r.stdout)), SIMD, r.stdout)

    def test_condition_log_and_change(self):
        r = debug('break nbody.cl:32 if me == 77', 'run', 'print me', 'set variable velocity.y = 2.5', 'print velocity.y',
                  'info breakpoints', 'delete', 'continue')
        self.assertRegex(r.stdout, r'(?m)^77$')
        self.assertRegex(r.stdout, r'(?m)^2.5$')
        self.assertIn('if me == 77', r.stdout)
        self.assertIn('hit 1 time', r.stdout)
        self.assertEqual(r.returncode, 1)  # the example finds that it is wrong now
        r = debug('dprintf nbody.cl:29, body {me}', 'run')
        self.assertEqual(r.returncode, 0, r.stderr)
        bodies = sorted(map(int, re.findall(r'^body (\d+)$', r.stdout, re.M)))
        self.assertEqual(bodies, sorted(list(range(0, BODIES, SIMD)) * LAUNCHES))
        self.assertIn('ended with status 0', r.stdout)

    def test_instructions_and_registers(self):
        r = debug('tbreak *nbody_step', 'run', 'stepi', 'disassemble', 'print $r0.1:ud', 'print $group0', 'info registers r0',
                  'x/4 $ip')
        self.assertIn('=>', r.stdout)
        lines = r.stdout.splitlines()
        group = [k for k, line in enumerate(lines) if line.startswith('r0 ')][0]
        self.assertEqual(lines[group - 1], lines[group - 2])
        self.assertEqual(int(lines[group].split()[2], 16), int(lines[group - 1]))

    def test_fault(self):
        with open(os.path.join(WORK.name, 'kernels.cl'), 'w', encoding='utf-8') as f:
            f.write(FAULTY)
        subprocess.run([OCLOC, 'compile', '-file', 'kernels.cl', '-device', 'skl', '-options', FLAGS, '-output', 'kernels',
                        '-out_dir', '.'], cwd=WORK.name, check=True, stdout=subprocess.DEVNULL, timeout=120)
        os.rename(os.path.join(WORK.name, 'kernels_Gen9core.bin'), os.path.join(WORK.name, 'kernels.bin'))
        # the 64th item writes behind the 64 elements
        r = debug('run', 'echo ITEM', 'print here', 'print n', 'continue', app=[MISBEHAVE, 'bounds'], kernels=WORK.name)
        self.assertRegex(r.stdout, r'Fault, thread \d+, group 0,0,0, lane ' + str(SIMD - 1) +
                         r': access out of bounds: a (?:write|read) of 4 bytes: address 0x\w+, at \+ 4 bytes; '  # IGC 2.40 reads first
                         r'0 bytes behind the end of the allocation of 256 bytes at 0x')
        self.assertRegex(r.stdout, r'in out_of_bounds at .*kernels.cl:6\n6\t    at\[n\] = 1;')
        self.assertEqual(r.stdout.split('ITEM\n')[1].split()[:2], ['63', '1'])
        # nothing was mended: the launch ends as without a debugger
        self.assertEqual((r.stdout.count('Fault,'), r.returncode), (1, 7), r.stdout + r.stderr)
        if DEVICE != 'skl':
            return
        # optimised, with offsets from a surface in 16 of 32 lanes
        r = debug('run', 'continue', app=[MISBEHAVE, 'bounds'], kernels=KERNELS)
        self.assertRegex(r.stdout, r'Fault, thread \d+, group 0,0,0, lane 31: ')
        self.assertEqual(r.returncode, 7, r.stdout + r.stderr)

    def test_attach_and_detach(self):
        with Running() as r:
            r.attach('break debugged.cl:14', 'echo READY', 'continue', 'print more', 'echo LANES', 'print i @lanes', 'detach')
            self.assertNotIn('pending', r.until('Breakpoint 1 at '))
            r.until('READY')
            for command in (('steps', 4), ('wait', 0), ('check', 41)):
                r.tell(*command)
            out = r.debugger.communicate(timeout=240)[0]
            self.assertEqual(r.debugger.returncode, 0, out)
            self.assertRegex(out, r'Breakpoint 1, thread \d+, group \d+,0,0, lane')
            values, lanes = out.split('LANES\n')
            self.assertEqual(values.splitlines()[-1], '7')
            items = [int(x) for x in re.findall(r'^[ *] *\d+ +(?:waits +)?(\d+)$', lanes, re.M)]
            self.assertEqual((items, items[0] % SIMD), (list(range(items[0], items[0] + SIMD)), 0), out)
            self.assertEqual([r.result() for _ in range(3)], [0, 0, 0])  # all threads have ended well
            r.app.stdin.close()
            self.assertEqual(r.app.wait(timeout=240), 0)

    def test_interrupt(self):
        with Running() as r:
            r.attach('tbreak debugged.cl:6', 'echo SET', 'continue', 'echo READY', 'continue', 'backtrace', 'echo AGAIN',
                     'continue', 'step', 'detach')
            r.until('SET')
            r.tell('spin', 4)
            self.assertEqual(r.result(), 0)
            for text in ('READY', 'AGAIN'):  # it runs, in its loop: before that nothing would be in focus
                r.until(text)
                r.debugger.send_signal(signal.SIGINT)
            out = r.debugger.stdout.read()  # not communicate(), which does not see what until() has read ahead
            self.assertEqual(r.debugger.wait(timeout=240), 0, out)
            self.assertRegex(out, r'Interrupted, thread \d+, group \d,0,0, lane \d\n#0 .* in spin at .*debugged.cl:[56]\n')
            self.assertIsNone(r.app.poll())
            for command in (('release', 0), ('wait', 0), ('check', 40)):
                r.tell(*command)
            self.assertEqual([r.result() for _ in range(3)], [0, 0, 0])
            r.app.stdin.close()
            self.assertEqual(r.app.wait(timeout=240), 0)

    def test_bad_commands(self):
        for command, says in (('nonsense', "no command 'nonsense'"), ('next', 'nothing is being debugged'),
                              ('delete 7', 'no breakpoint 7'), ('break', 'needs a location'), ('frame 3', 'nothing is being'),
                              ('focus nowhere', 'focus thread'), ('dprintf x', 'text is missing')):
            r = debug(command)
            self.assertIn(says, r.stderr, command)
            self.assertEqual(r.returncode, 1, command)
        r = debug('tbreak nbody.cl:29', 'run', 'print nothing', 'print me +', 'print me / 0', 'print here.q', 'print tile[',
                  'print $r999', 'print 1 ? 2', 'print 0 ? nothing : 2', 'print 0 && (', 'print 0 && me.', 'x/4 8', 'set variable me', 'thread 99', 'lane 31')
        self.assertEqual(len(r.stderr.splitlines()), 14, r.stderr)
        self.assertEqual(debug('run', app=['/no/such/program']).returncode, 127)
        self.assertEqual(subprocess.run([ZESCOPE, 'debug'], env=environment(), stderr=subprocess.PIPE,
                                        timeout=240).returncode, 2)

    def test_next_steps(self):
        """What cannot be done yet says what to do first; what is no number is not taken for one."""
        for command in ('next', 'continue', 'print me', 'disassemble', 'info threads', 'info locals', 'x/4 8', 'thread 1',
                        'focus group 0,0,0 item 1', 'watch me', 'reverse-step', 'who-wrote me', 'finish', 'until', 'kill'):
            r = debug(command)
            self.assertEqual(r.stderr, f'nothing is being debugged: `run` starts {NBODY}\n', command)
        r = debug('run', 'next')
        self.assertEqual(r.stderr, f'nothing is being debugged: `run` starts {NBODY} again\n')
        for command, says in (('w', "'w' may be who-wrote, watch, where, whatis"), ('re 2', "'re' may be reverse-step"),
                              ('break', 'needs a location'), ('info nonsense', "does not know 'nonsense'"),
                              ('list nosuch.cl:3', 'not found'), ('list pull', 'no code is loaded'), ('watch', 'missing'),
                              ('ignore 1', 'missing'), ('delete x', 'number of a breakpoint'), ('undisplay 3', 'no display 3'),
                              ('step abc', "not 'abc'"), ('goto launch', 'goto launch N'), ('set record maybe', 'on, off'),
                              ('until nowhere', 'nothing is being'), ('run now', 'arguments')):
            r = debug(command)
            self.assertIn(says, r.stderr, command)
            self.assertEqual(len(r.stderr.splitlines()), 1, r.stderr)
        r = debug('tbreak nbody.cl:29', 'run', 'thread abc', 'lane abc', 'lane 1 2', 'down', 'up', 'frame x', 'list 99',
                  'list nosuch.cl:1', 'list nosuch', 'list 3x', 'print/z me', 'print', 'print here.', 'print pull(here)', 'x',
                  'x/4z 8', 'x here.x', 'info registers r999', 'focus group 0,0,0 item', 'focus group a', 'focus group 9,9,9',
                  'ignore 1 many', 'continue 3', 'print &me + nothing', 'advance', 'finish 2', 'echo WHERE', 'info frame')
        self.assertEqual(len(r.stderr.splitlines()), 26, r.stderr)
        self.assertRegex(r.stdout.split('WHERE')[1], r'thread 1, lane 0 of kernel nbody_step')

    def test_numbers(self):
        """Too large ones are told as they were typed, whatever they count; numbers in memory are read and written by type."""
        large = {'thread 99999999999999': '4294967295', 'lane 4294967296': '4294967295', 'frame 99999999999999999999': '4294967295',
                 'focus group 1,2,99999999999': '4294967295', 'focus group 0,0,0 item 5000000000': '4294967295',
                 'x/99999b $ip': '4096', 'list 99999999999': '2147483647', 'list 1,99999999999': '2147483647',
                 'ignore 1 99999999999999999999': '18446744073709551615', 'delete 4294967297': '4294967295',
                 'goto step 99999999999999999999': '18446744073709551615', 'step 99999999999999999999': '18446744073709551615'}
        others = {'list 5,3': 'in front of the first', 'break nbody.cl:4294967299': 'no line 4294967299', 'break barrier 0': "not '0'",
                  'break *0x99999999999999999': 'no address', 'break *nbody_step+0x99999999999999999': 'no address',
                  'print *(float)1': 'no pointer', 'set *0x10 = 1': 'cannot be', 'print (int *)0.5': 'no address'}
        r = debug('tbreak nbody.cl:29', 'run', *large, *others, 'list 007', 'print *(float *)&here == here.x',
                  'print ((uint *)&here)[1] == *(uint *)((ulong)&here + 4)', 'set *(float *)&here = 2.5', 'print here.x', 'whatis (ushort *)8',
                  'print sizeof((char *)0)', 'print *(uchar *)$ip == (*$ip & 0xff)')
        lines = r.stderr.splitlines()
        self.assertEqual(len(lines), len(large) + len(others), r.stderr)
        for line, (command, most) in zip(lines, large.items()):
            typed = command.replace(',', ' ').replace('b', ' ').replace('/', ' ').split()
            self.assertIn(line.split()[0], typed, command)
            self.assertTrue(line.endswith(f'is too large: a number up to {most} was expected'), line)
        for line, (command, says) in zip(lines[len(large):], others.items()):
            self.assertIn(says, line, command)
        self.assertIn('7\t', r.stdout)
        self.assertEqual(r.stdout.splitlines()[-6:], ['1', '1', '2.5', 'ushort *', '8', '1'], r.stdout)

    def test_abbreviations_and_lists(self):
        r = debug('tb nbody.cl:29', 'r', 'st', 'echo S', 'i th', 'echo F', 'info functions', 'info sources', 'echo L',
                  'l 16,18', 'l', 'l sum_of_pulls', 'l -', 'echo A', 'until 31', 'bt', 'h', 'help until', 'k')
        self.assertEqual(r.stderr, '')
        self.assertIn('nbody.cl:30\n', r.stdout)
        self.assertRegex(r.stdout.split('\nS\n')[1], r'^\* thread 1, group 0,0,0 ')
        named = r.stdout.split('\nF\n')[1].split('\nL\n')[0]
        self.assertRegex(named, r'(?m)^pull in nbody_step at .*gravity.h:\d+$')
        self.assertRegex(named, r'(?m)^/.*nbody.cl$')
        lines = [int(n) for n in re.findall(r'(?m)^(\d+)\t', r.stdout.split('\nL\n')[1].split('\nA\n')[0])]
        self.assertEqual(lines, [16, 17, 18, *range(19, 29), *range(1, 11), *range(1, 11)])
        after = r.stdout.split('\nA\n')[1]
        self.assertRegex(after, r'^Breakpoint 2 at 31: 1 place, line 31\n\nBreakpoint 2, thread 1, .*\n#0 .*nbody.cl:31\n31\t')
        self.assertIn('until k.cl:29', after)
        self.assertIn('reverse-finish', after)

    def test_formats_and_casts(self):
        i = 3  # the lane in focus has this body
        r = debug('tbreak nbody.cl:29', 'run', 'lane 3', 'echo V', 'print/x me', 'p /t (uchar)me', 'p/d -1 + 0', 'p/c 65',
                  'p (int)-2.75', 'p (unsigned char)257', 'p (float)1 / 3', 'p sizeof(here)', 'p sizeof(ushort)', 'p (2 + 3) * 4',
                  'p/x (short)0x18000', 'whatis &here', 'ptype me', 'p *&me', 'echo X', 'x/4f &positions[3]', 'x/2xg positions',
                  'x/3dw &positions[3]', 'x', 'x/2ub &positions[3].w', 'x/i $ip', 'p/x here', 'p/x me @lanes')
        self.assertEqual(r.stderr, '')
        values, memory = r.stdout.split('\nV\n')[1].split('X\n')
        self.assertEqual(values.splitlines()[:12], ['0x3', '00000011', '-1', "65 'A'", '-2', '1', '0.33333334', '16', '2',
                                                    '20', '0x8000', 'const float4 *'])
        self.assertEqual(values.splitlines()[-1], '3')
        rows = [line.split(': ', 1)[1] if line.startswith('0x') else line for line in memory.splitlines()]
        self.near([float(x) for x in rows[0].split()], body(i))
        bits = [int(x, 16) for x in re.findall('0x[0-9a-f]+', rows[-1 - SIMD])]
        self.near(struct.unpack('<4f', struct.pack('<4I', *bits)), body(i))
        words = struct.unpack('<4i', struct.pack('<4I', *bits))
        self.assertEqual([int(x) for x in rows[2].split()], list(words[:3]))
        following = struct.pack('<3i', *[int(x) for x in rows[3].split()])  # x alone goes on where it was
        self.near(struct.unpack('<3f', following), [body(i)[3], *body(i + 1)[:2]])
        self.assertEqual([int(x) for x in rows[4].split()], list(struct.pack('<f', body(i)[3])[:2]))
        self.assertIn('=>', memory)
        self.assertEqual(rows[-1].split(), [str(SIMD - 1), hex(SIMD - 1)])

    def test_pending(self):
        r = debug('break nosuch.cl:3', 'break nbody.cl:1', 'tbreak nbody.cl:29', 'run', 'delete 2', 'continue', 'continue')
        self.assertIn('Breakpoint 1 at nosuch.cl:3 (pending: until code that has it is loaded)\n', r.stdout)
        self.assertIn('[Breakpoint 1 was not reached: no code that was loaded has nosuch.cl:3]\n', r.stdout)
        self.assertEqual(r.stdout.count('was not reached'), 1, r.stdout)

    def test_processes(self):
        for pid in ('0', '4294967297', '-1', 'one'):
            r = subprocess.run([ZESCOPE, 'debug', '--batch', '--pid', pid], env=environment(), text=True,
                               stderr=subprocess.PIPE, timeout=240)
            self.assertEqual(r.returncode, 2, pid)
            self.assertIn('--pid', r.stderr)
        r = subprocess.run([ZESCOPE, 'debug', '--batch', '--pid', str(os.getpid())], env=environment(), text=True,
                           stderr=subprocess.PIPE, timeout=240)
        self.assertEqual(r.returncode, 1)
        self.assertIn('ZET_ENABLE_PROGRAM_DEBUGGING=1', r.stderr)

    def test_killed(self):
        r = debug('tbreak nbody.cl:29', 'run', 'kill', 'print me', 'run', 'continue')
        self.assertIn('nothing is being debugged', r.stderr)
        r = debug('run', app=['sh', '-c', 'kill -9 $$'])
        self.assertEqual(r.returncode, 137, r.stdout + r.stderr)

    def test_script_file(self):
        with tempfile.NamedTemporaryFile('w', suffix='.zs') as f:
            f.write('# a comment\ntbreak nbody.cl:29\nrun\nprint me\n')
            f.flush()
            r = debug(options=['-x', f.name])
            self.assertRegex(r.stdout, r'(?m)^\d+$')
            # one that fails ends the file
            f.write('echo BEFORE\nprint nothing\necho AFTER\n')
            f.flush()
            r = debug('echo NEXT', options=['-x', f.name])
            self.assertIn('BEFORE\nNEXT\n', r.stdout)
            self.assertRegex(r.stderr, r'no variable nothing .*\nzescope: \S+\.zs:6: this command failed')
            self.assertEqual(r.returncode, 1)

    def test_stdin(self):
        """Commands come from stdin: the application does not get them; with --batch it has its own."""
        app = ['sh', '-c', 'echo "read $(cat)"']
        arguments = {'text': True, 'stdout': subprocess.PIPE, 'timeout': 60, 'env': environment()}
        r = subprocess.run([ZESCOPE, 'debug', '--', *app], input='run\necho LATER\n', **arguments)
        self.assertEqual(r.stdout.split(), ['read', '[The', *'application ended with status 0] LATER'.split()])
        r = subprocess.run([ZESCOPE, 'debug', '--batch', '--eval-command', 'run', '--', *app], input='words', **arguments)
        self.assertIn('read words', r.stdout)

    def test_terminal(self):
        pid, fd = pty.fork()
        if pid == 0:
            os.execve(ZESCOPE, [ZESCOPE, 'debug', '--no-history', '--', NBODY, SPIRV, FLAGS], environment())
        seen = b''
        for line, until in ((b'', b'(zescope) '), (b'tbr nbody.cl:29\n', b'pending'), (b'run\n', b'29\t'),
                            (b'bt\n', b') at '), (b'n\n', b'30\t'), (b'\n', b'31\t'), (b'q\n', None)):
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


class AsInGdb(Debugging):
    """What people know from gdb."""

    def test_commands_of_breakpoints(self):
        r = debug('break pull', 'commands', 'silent', 'print there.w', 'continue', 'end', 'tbreak nbody.cl:29', 'run', 'info breakpoints',
                  'print $', 'delete 1', 'continue')
        self.assertEqual(r.returncode, 0, r.stdout + r.stderr)
        shown = re.findall(r'^([0-9.]+)$', r.stdout, re.M)
        self.assertGreater(len(shown), 64)
        self.assertEqual({float(x) for x in shown}, {1 / BODIES})
        self.assertNotIn('Breakpoint 1, thread', r.stdout)  # it is silent
        self.assertIn('Breakpoint 2, thread', r.stdout)
        self.assertIn('        print there.w\n        continue\n        end\n', r.stdout)
        r = debug('break pull', 'commands 1', 'print nothing', 'echo NEVER', 'end', 'run')
        self.assertNotIn('NEVER', r.stdout)
        r = debug('commands', 'commands 9', 'print 1')
        self.assertEqual(r.stderr.splitlines()[:2], ['there is no breakpoint', 'there is no breakpoint 9'])

    def test_expressions(self):
        (x, y, z, w), second = body(3), body(4)
        values = {'*(positions + 3)@2': (x, y, z, w, *second), 'positions[3].x@6': (x, y, z, w, *second[:2]), '$': (x, y, z, w, *second[:2]),
                  '$[5]': (second[1],), '$1[1].x': (second[0],), '$$3': (x, y, z, w, *second[:2]), "'a' + 1": (98,), "'\\n'": (10,), "'\\x41'": (65,),
                  "'\\101' == 'A'": (1,), 'first = 3': (3,), 'first += 2': (5,), 'first++': (5,), 'first': (6,), '--first': (5,),
                  'first *= 2 + 1': (15,), '*&first': (15,), '(first = 7) + 1': (8,), 'first <<= 2': (28,), 'sizeof(*positions@3)': (48,)}
        r = debug('tbreak nbody.cl:25', 'run', 'lane 3', 'echo V', *(f'print {e}' for e in values), 'echo T', 'whatis *positions@2',
                  'ptype here', 'set variable first = 64', 'print first')
        got, types = re.split('\n?[VT]\n', r.stdout)[1:]
        rows = [[float(n) for n in re.findall(r'-?[0-9.]+(?:e-?\d+)?', line)] for line in got.splitlines()]
        self.assertEqual(len(rows), len(values), r.stdout + r.stderr)
        for (expression, wanted), row in zip(values.items(), rows):
            self.assertEqual(len(row), len(wanted), expression)
            self.near(row, wanted)
        self.assertEqual(types.splitlines(), ['const float4[2]', 'const float4', '64'])
        says = {'print $99': 'no value has been printed', "print ''": 'no character', 'print 1 = 2': 'no variable', 'print here@0': 'from 1 to',
                'print first@2.0': 'float', 'print $lane@2': 'not in memory', 'display first = 2': 'nothing is assigned',
                'print positions[-1]': 'positions[-1] is outside: positions points into an allocation of 4096 bytes',
                'print positions[256].x': 'is outside', 'print *(velocities - 1)': 'is outside'}
        r = debug('tbreak nbody.cl:25', 'run', *says, 'print &positions[255] - positions', 'print first')
        lines = (r.stderr + r.stdout).splitlines()
        for command, text in says.items():
            self.assertTrue(any(text in line for line in lines), (command, r.stdout, r.stderr))
        self.assertEqual(r.stdout.splitlines()[-2:], ['255', '0'])  # what was refused has set nothing

    def test_without_debug_info(self):
        """What is built without -g says how it is built."""
        folder = os.path.join(WORK.name, 'plain')
        subprocess.run([OCLOC, 'compile', '-file', 'nbody.cl', '-device', 'skl', '-output', 'nbody', '-output_no_suffix', '-out_dir', folder],
                       cwd=FOLDER, check=True, stdout=subprocess.DEVNULL, timeout=120)
        r = debug('break nbody.cl:29', 'run', app=[NBODY, os.path.join(folder, 'nbody.spv')])
        self.assertIn('was not reached', r.stdout)
        self.assertIn('-options "-g -cl-opt-disable"', r.stdout)
        self.assertNotIn('-options', debug('break nosuch.cl:29', 'run').stdout)

    def test_places_and_types(self):
        r = debug('tbreak nbody.cl:25', 'run', 'info line nbody.cl:29', 'info line', 'info symbol $ip', 'info symbol (ulong)&here + 4',
                  'info symbol 8', 'info symbol', 'info line nosuch.cl:1')
        self.assertRegex(r.stdout, r'Line 29 of .*nbody.cl is at 0x\w+ <nbody_step\+0x\w+> to 0x\w+ \(\d+ instructions\)')
        self.assertRegex(r.stdout, r'Line 25 of .*nbody.cl is at 0x')
        self.assertRegex(r.stdout, r'(?m)^nbody_step\+0x\w+, line 25 of ')
        self.assertRegex(r.stdout, r'(?m)^here \+ 4 bytes of lane 0$')
        self.assertEqual(len(r.stderr.splitlines()), 3, r.stderr)

    def test_returned_and_arguments(self):
        """Into a function behind its prologue, and what it gives back."""
        r = debug('tbreak pull if $lane == 3', 'run', 'next', 'next', 'next', 'print way', 'print inverse', 'print there.w', 'bt', 'finish')
        way, inverse, mass, *_ = re.findall(r'^(\{.*\}|[-0-9.e]+)$', r.stdout, re.M)
        returned = re.search(r'^Value returned: (\{.*\})$', r.stdout, re.M)
        self.assertTrue(returned, r.stdout + r.stderr)
        numbers = [float(n) for n in re.findall(r'-?[0-9.]+(?:e-?\d+)?', way)]
        self.near([float(n) for n in re.findall(r'-?[0-9.]+(?:e-?\d+)?', returned[1])], [n * float(mass) * float(inverse) ** 3 for n in numbers])
        self.assertRegex(r.stdout, r'#1 .* in sum_of_pulls \(here=\{.*\}, tile=' + LOCAL + r', count=64\) at ')
        r = debug('tbreak nbody.cl:25', 'run', 'step', 'print count', 'bt 1')
        self.assertRegex(r.stdout, r'in sum_of_pulls at .*nbody.cl:7\n')
        self.assertEqual(r.stdout.splitlines()[-2], '64')

    def test_local_memory_of_callers(self):
        for device in ('skl', 'dg2', 'pvc'):
            r = debug('tbreak pull if $lane == 3', 'run', 'frame 2', 'print tile', 'print tile[3]', options=['-d', device])
            self.assertRegex(r.stdout, rf'\n{LOCAL}\n', (device, r.stderr))
            numbers = [float(n) for n in re.findall(r'-?[0-9.]+(?:e-?\d+)?', r.stdout.splitlines()[-1])]
            self.near(numbers, body(3))


class Adapter:
    """zescope dap on a pipe, as an editor has it."""

    def __init__(self):
        self.process = subprocess.Popen([ZESCOPE, 'dap'], env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.number = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def send(self, command, **arguments):
        self.number += 1
        body = json.dumps({'seq': self.number, 'type': 'request', 'command': command, 'arguments': arguments}).encode()
        self.process.stdin.write(b'Content-Length: %d\r\n\r\n' % len(body) + body)
        self.process.stdin.flush()

    def until(self, name):
        """The next event or response of that name."""
        while True:
            length = 0
            while (line := self.process.stdout.readline().strip()):
                if line.startswith(b'Content-Length:'):
                    length = int(line.split()[1])
            message = json.loads(self.process.stdout.read(length))
            if name in (message.get('event'), message.get('command')):
                return message

    def ask(self, command, **arguments):
        self.send(command, **arguments)
        return self.until(command)


class Editor(Debugging):
    def test_members(self):
        """What may stand behind a '.' or '->' is completed."""
        with Adapter() as dap:
            dap.ask('initialize', adapterID='zescope')
            dap.send('launch', program=NBODY, args=[SPIRV, FLAGS], devices=DEVICE)
            dap.until('initialized')
            dap.ask('setFunctionBreakpoints', breakpoints=[{'name': 'pull'}])
            dap.send('configurationDone')
            thread = dap.until('stopped')['body']['threadId']
            frame = dap.ask('stackTrace', threadId=thread)['body']['stackFrames'][0]['id']
            complete = lambda text: [t['label'] for t in dap.ask('completions', text=text, column=len(text) + 1,
                                                                 frameId=frame)['body']['targets']]
            self.assertEqual(complete('print here.'), ['x', 'y', 'z', 'w', 'lo', 'hi', 'even', 'odd'])
            self.assertEqual(complete('here.'), ['x', 'y', 'z', 'w', 'lo', 'hi', 'even', 'odd'])
            self.assertEqual(complete('print 1 + here.o'), ['odd'])
            self.assertEqual(complete('print nothing.'), [])
            self.assertEqual(complete('print way.'), ['x', 'y', 'z', 'lo', 'hi', 'even', 'odd'])
            shown = dap.ask('evaluate', expression='print here.x = 3', context='repl', frameId=frame)
            self.assertEqual(shown['body']['result'].strip(), '3')
            self.assertEqual(dap.ask('evaluate', expression='here.x', context='watch', frameId=frame)['body']['result'], '3')
            self.assertFalse(dap.ask('evaluate', expression='here.x = 4', context='hover', frameId=frame)['success'])


@unittest.skipIf(DEVICE != 'skl', 'they choose their devices')
class Locals(Debugging):
    SOURCE = """typedef struct { int a; float b[3]; } rec_t;
kernel void out_of_bounds(global int *p, int n)
{
    __local int tile[64];
    __local rec_t recs[4];
    uint me = get_local_id(0);
    tile[me] = me + 7;
    if (me < 4) {
        recs[me].a = me * 3;
        recs[me].b[1] = me;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    int sum = 0;
    for (uint i = 0; i < 64; i++)
        sum += tile[i] + recs[i & 3].a;
    p[me] = sum - 3000;
}
"""

    def test_faults(self):
        """Read or write, how large, near what: behind an allocation and in front of it."""
        for name, body, says in (('front', 'p[(int)me - 1] = 1;', r'access out of bounds: a write of 4 bytes: address 0x\w+, p - 4 bytes; '
                                  r'4 bytes in front of the allocation of 256 bytes at 0x'),
                                 ('wide', 'p[0] = ((global long *)p)[me + 32];', r'a read of 8 bytes: address 0x\w+, p \+ 256 bytes; '
                                  r'0 bytes behind the end of the allocation of 256 bytes'),
                                 ('atomic', 'atomic_add(p + me + 64, 1);', r'an atomic access of 4 bytes: address 0x\w+, p \+ 256 bytes; ')):
            folder = os.path.join(WORK.name, 'fault_' + name)
            os.makedirs(folder)
            with open(os.path.join(folder, 'kernels.cl'), 'w', encoding='utf-8') as f:
                f.write('kernel void out_of_bounds(global int *p, int n)\n{\n    uint me = get_local_id(0);\n    ' + body + '\n}\n')
            subprocess.run([OCLOC, 'compile', '-file', 'kernels.cl', '-device', 'skl', '-options', FLAGS, '-output', 'kernels.bin',
                            '-output_no_suffix'], cwd=folder, check=True, stdout=subprocess.DEVNULL, timeout=120)
            r = debug('run', app=[MISBEHAVE, 'bounds'], kernels=folder, options=['-d', 'skl'])
            self.assertRegex(r.stdout, says, name)

    def test_local_arrays(self):
        """They are variables, optimised or not; words say where."""
        for device in ('skl', 'dg2', 'pvc'):
            for how in ('-cl-opt-disable', ''):
                folder = os.path.join(WORK.name, f'locals_{device}{how}')
                os.makedirs(folder)
                with open(os.path.join(folder, 'kernels.cl'), 'w', encoding='utf-8') as f:
                    f.write(self.SOURCE)
                subprocess.run([OCLOC, 'compile', '-file', 'kernels.cl', '-device', device, '-options', '-g ' + how, '-output', 'kernels.bin',
                                '-output_no_suffix'], cwd=folder, check=True, stdout=subprocess.DEVNULL, timeout=120)
                r = debug('tbreak kernels.cl:15', 'run', 'print tile[3]', 'print recs[1]', 'set print pretty on', 'print recs[2]', 'ptype recs',
                          'print *tile@3', 'x/3d tile', 'info locals', app=[MISBEHAVE, 'bounds'], kernels=folder, options=['-d', device])
                self.assertIn('\n10\n{a = 3, b = {0, 1, 0}}\n{\n  a = 6,\n  b = {0, 2, 0}\n}\nstruct {\n    int a;\n    float b[3];\n}[4]\n',
                              r.stdout, (device, how, r.stderr))
                self.assertRegex(r.stdout, rf'(?m)^{LOCAL}: 7 8 9$')
                self.assertRegex(r.stdout, r'(?m)^tile = \{7, 8, 9, ')
                beside = ['--debug', 'kernels.bin.dbg'] if os.path.exists(os.path.join(folder, 'kernels.bin.dbg')) else []  # a zebin has it
                text = subprocess.run([os.path.abspath(ZESCOPE), 'annotate', '--json', 'kernels.bin', *beside], cwd=folder, check=True,
                                      stdout=subprocess.PIPE, text=True, timeout=120).stdout
                words = re.findall(r'"name":"tile".*?"text":"([^"]*)"', text)
                self.assertEqual(set(words), {'local memory at 0x0'})
                self.assertNotRegex(text, r'"text":"DW_OP')


@unittest.skipIf(DEVICE != 'skl', 'they choose their devices')
class Generations(Debugging):
    def test_arrays(self):
        """An index of an array of arrays is for a row."""
        folder = os.path.join(WORK.name, 'arrays')
        os.makedirs(folder)
        with open(os.path.join(folder, 'kernels.cl'), 'w', encoding='utf-8') as f:
            f.write("""kernel void out_of_bounds(global int *p, int n)
{
    int here = get_global_id(0);
    int array[3][2] = {{1, 2}, {3, here}, {5, 6}};
    short deep[2][3][2] = {{{1, 2}, {3, 4}, {5, 6}}, {{7, 8}, {9, 10}, {11, 12}}};
    array[1][0] += here;
    p[here] = array[1][0] + deep[1][2][here & 1];
}
""")
        subprocess.run([OCLOC, 'compile', '-file', 'kernels.cl', '-device', 'skl', '-options', FLAGS, '-output', 'kernels.bin',
                        '-output_no_suffix'], cwd=folder, check=True, stdout=subprocess.DEVNULL, timeout=120)
        wanted = {'array': '{{1, 2}, {6, 3}, {5, 6}}', 'array[1]': '{6, 3}', 'array[here - 1][1]': '6', 'deep[1]': '{{7, 8}, {9, 10}, {11, 12}}',
                  'deep[1][2]': '{11, 12}', 'deep[1][0][1]': '8', '&array[2] - &array[0]': '2', '&deep[1][1][1] - &deep[0][0][0]': '9',
                  '*(&deep[1][0] + 1)': '{9, 10}', 'sizeof(deep[0])': '12', 'sizeof(array)': '24'}
        types = {'deep': 'short[2][3][2]', 'deep[0]': 'short[3][2]', 'deep[0][1]': 'short[2]', 'deep[0][1][1]': 'short'}
        r = debug('tbreak kernels.cl:7', 'run', 'lane 3', 'echo V', *[f'print {e}' for e in wanted], *[f'whatis {e}' for e in types],
                  'set deep[1][2][0] = 77', 'print deep', 'print/x array[1]', 'print array[2][1] @lanes', 'print array[3]', 'print deep[0][3]',
                  'print deep[0][0][0][0]', app=[MISBEHAVE, 'bounds'], kernels=folder,
                  options=['-d', 'skl'])
        self.assertEqual(len(r.stderr.splitlines()), 3, r.stderr)
        got = r.stdout.split('\nV\n')[1].splitlines()
        self.assertEqual(got[:len(wanted)], list(wanted.values()), r.stdout + r.stderr)
        got = got[len(wanted):]
        self.assertEqual(got[:len(types)], list(types.values()))
        self.assertEqual(got[len(types):][:2], ['{{{1, 2}, {3, 4}, {5, 6}}, {{7, 8}, {9, 10}, {77, 12}}}', '{0x6, 0x3}'])

    def test_arithmetic(self):
        """Types and values of expressions are those that C has; the compiler says which."""
        expressions = ['me - 5', '~me', '-me', '(uint)0 - 1', 'me > -1', '-1 < (uint)1', '(uchar)255 + 1', '-8 >> 1',
                       '(uint)0xfffffff8 >> 1', '1.0f / 3', 'me / 2.0f', '1 / 3.0', '5000000000 + me', 'me - 5L', '(ulong)me - 5',
                       '0x80000000 + 1', '-7 / 2', '-7 % 3', '7u / 2 * -1', '!me + !0', '(char)200 + 0', 'me * 1073741824u',
                       '(short)-1 == 65535', '1 == 1.0f', '2147483648', '0xffffffff', '1ul << 40', '(me | 8) ^ -1', 'me && 0.5f',
                       '(float)16777217', '(long)me * 0x100000000', '0 && 1 / 0', '1 || *(uint *)8', 'me || 1 % 0 && 0', 'me ? 1 : 2.5',
                       'me - 3 ? 1 / (me - 3) : 7u', 'me > 2 ? (uchar)200 : 1L', '0 ? 1 : 0 ? 2 : 3', '1 + (me == 3 ? 10 : 20) * 2',
                       'me < 0 || (me ? 0.0f : 1)', '(me ? 1 : 2) ? (short)3 : (char)4']
        source = """#include <stdio.h>
typedef unsigned uint; typedef unsigned long ulong; typedef unsigned char uchar;
#define SAY(e) _Generic((e), int: printf("int %d\\n", (int)(e)), uint: printf("uint %u\\n", (uint)(e)), \\
    long: printf("long %ld\\n", (long)(e)), ulong: printf("ulong %lu\\n", (ulong)(e)), \\
    float: printf("float %.9g\\n", (double)(e)), double: printf("double %.17g\\n", (double)(e)))
int main(void)
{
    uint me = 3;
""" + ''.join(f'    SAY({e});\n' for e in expressions) + '}\n'
        program = os.path.join(WORK.name, 'arithmetic')
        with open(program + '.c', 'w', encoding='utf-8') as f:
            f.write(source)
        subprocess.run(['cc', '-w', '-o', program, program + '.c'], check=True, timeout=120)
        wanted = subprocess.run([program], check=True, stdout=subprocess.PIPE, text=True, timeout=240).stdout.split('\n')
        r = debug('tbreak nbody.cl:29', 'run', 'lane 3', 'echo V', *[c for e in expressions for c in (f'whatis {e}', f'print {e}')])
        self.assertEqual(r.stderr, '')
        got = r.stdout.split('\nV\n')[1].splitlines()
        for e, name, value, c in zip(expressions, got[::2], got[1::2], wanted):
            c_name, c_value = c.split()
            self.assertEqual(name, c_name, e)
            self.assertEqual(*[struct.pack('f', float(x)) if name == 'float' else float(x) if name == 'double' else x
                               for x in (value, c_value)], e)
        # what does not decide is not looked at: a condition that guards an access
        r = debug('break nbody.cl:29 if me > 255 && *(uint *)8 == 1 || me == 77', 'run', 'print me')
        self.assertEqual(r.stdout.splitlines()[-1:], ['77'], r.stdout + r.stderr)
        # pointers count in what they point to
        r = debug('tbreak nbody.cl:29', 'run', 'print positions + 3 == &positions[3]', 'print *(2 + positions) == 0', 'print &positions[3] - positions',
                  'print (ulong)(positions - 1) - (ulong)positions == -16ul', 'print (&here)[0].w == here.w',
                  'print *((float *)positions + 4) == positions[1].x', 'print 1 - positions', 'print positions + 0.5')
        self.assertEqual(r.stdout.splitlines()[-5:], ['1', '3', '1', '1', '1'], r.stdout)
        self.assertEqual(len(r.stderr.splitlines()), 3, r.stderr)  # a vector is no number

    def test_fault_of_each_generation(self):
        for device in ('tgllp', 'dg2'):
            work = os.path.join(WORK.name, device)
            os.mkdir(work)
            with open(os.path.join(work, 'kernels.cl'), 'w', encoding='utf-8') as f:
                f.write(FAULTY)
            subprocess.run([OCLOC, 'compile', '-file', 'kernels.cl', '-device', device, '-options', FLAGS, '-output', 'kernels.bin',
                            '-output_no_suffix', '-out_dir', '.'], cwd=work, check=False, stdout=subprocess.DEVNULL, timeout=120)
            r = debug('run', 'echo ITEM', 'print here', 'print n', 'whatis at', app=[MISBEHAVE, 'bounds'], kernels=work,
                      options=['-d', device])
            self.assertRegex(r.stdout, r'Fault, thread \d+, group 0,0,0, lane 7: .*, at \+ 4 bytes')
            self.assertRegex(r.stdout, r'in out_of_bounds at .*kernels.cl:6\n6\t    at\[n\] = 1;')
            self.assertEqual(r.stdout.split('ITEM\n')[1].splitlines()[:3], ['63', '1', 'int *'])

    def test_devices(self):
        """Later generations: a function, whose code on XeHPG begins with what is not executed, and a line."""
        for device in ('icllp', 'tgllp', 'dg2'):
            r = debug('tbreak nbody_step', 'tbreak nbody.cl:29', 'run', 'continue', 'print me @lanes', 'print tile @lanes',
                      'who-wrote tile[lane]', 'lane 7', 'who-wrote tile[lane].w', 'continue', options=['-d', device])
            self.assertEqual(re.findall(r'^#0 .* in nbody_step at .*nbody.cl:(\d+)$', r.stdout, re.M)[:2], ['16', '29'], r.stdout)
            lanes = [int(row[0]) for row in table(r.stdout)[:8]]
            self.assertEqual(lanes, list(range(lanes[0], lanes[0] + 8)), r.stdout)
            # the pointer to local memory is told for all lanes, and who wrote where it points to
            self.assertEqual(len(re.findall(rf'(?m)^[ *] *\d+  {LOCAL}$', r.stdout)), 8, r.stdout)
            written = re.findall(r'(?m)^tile\[lane\](?:\.w)?: .*, by item (\d+),0,0 of group 0,0,0 \(lane (\d)\)$', r.stdout)
            self.assertEqual([(int(i) % 8, int(lane)) for i, lane in written], [(0, 0), (7, 7)], r.stdout + r.stderr)
            self.assertNotIn('waits', r.stdout)  # there are no more lanes than work-items
            self.assertIn('ended with status 0', r.stdout)

    def test_kernel_without_lines_of_its_head(self):
        """Threads of XeHPG begin behind the code at the kernel's address, which is all that some debug info knows."""
        r = debug('tbreak nbody_step', 'run', 'info frame', 'continue', app=[NBODY, SPIRV, '-g'], options=['-d', 'dg2'])
        self.assertRegex(r.stdout, r'Breakpoint 1, thread 1, group 0,0,0, lane 0\n')
        self.assertRegex(r.stdout, r'of kernel nbody_step at \+0x[1-9a-f]')
        self.assertEqual((r.returncode, r.stderr), (0, ''), r.stdout)

    def test_one_of_several_devices(self):
        for number, is_used in ((0, True), (1, False)):  # the program works on the first one
            r = debug('tbreak nbody_step', 'run', 'info frame', 'continue' if is_used else 'info breakpoints',
                      options=['-d', 'dg2,skl', '--device-number', str(number)])
            self.assertEqual('Breakpoint 1, thread 1' in r.stdout, is_used, r.stdout)
            self.assertEqual('Breakpoint 1 was not reached' in r.stdout, not is_used, r.stdout)
            self.assertIn('ended with status 0', r.stdout)
        r = debug('run', options=['-d', 'dg2,skl', '--device-number', '2'])
        self.assertEqual((r.returncode, r.stdout), (1, ''))
        self.assertRegex(r.stderr, 'device.*2')

    def test_first_and_last_line(self):
        """In front of where threads of XeHPG begin is code of the kernel's head, and of its end: it is not executed."""
        with open(os.path.join(FOLDER, 'nbody.cl'), encoding='utf-8') as f:
            source = f.read().rstrip().split('\n')
        head = [i for i, line in enumerate(source) if '__kernel' in line][0] + 1
        r = debug(f'tbreak nbody.cl:{head}', f'break nbody.cl:{len(source)}', 'run', 'continue', 'print velocity', 'delete', 'continue',
                  options=['-d', 'dg2'])
        stops = re.findall(r'^#0 .* in nbody_step at .*nbody.cl:(\d+)$', r.stdout, re.M)
        self.assertGreaterEqual(int(stops[0]), head, r.stdout)  # of IGC 2 threads begin with the head
        self.assertEqual(stops[1], str(len(source)), r.stdout)
        self.assertIn('ended with status 0', r.stdout)

    def test_what_it_is_for(self):
        """A line of the kernel, acceleration of all lanes, over the barrier, one step back, who wrote a tile's element."""
        with open(os.path.join(FOLDER, 'nbody.cl'), encoding='utf-8') as f:
            source = f.read().split('\n')
        barrier = [i for i, line in enumerate(source) if 'barrier(' in line][0] + 1
        for device in ('skl', 'tgllp', 'dg2'):
            # each thread of the group comes to the breakpoint: the step is of the one in focus
            r = debug(f'break nbody.cl:{barrier}', 'run', 'echo ALL', 'print acceleration @lanes', 'next', 'echo WHO',
                      'who-wrote tile[11]', 'reverse-next', 'who-wrote tile[lane]', 'delete', 'watch acceleration', 'continue', 'finish', 'continue', options=['-d', device])
            stops = re.findall(r'^#0 .* in nbody_step at .*nbody.cl:(\d+)$', r.stdout, re.M)
            self.assertEqual(stops[:3], [str(barrier), str(barrier + 1), str(barrier)], (device, r.stdout, r.stderr))
            self.assertEqual(table(r.stdout.split('ALL\n')[1])[:8], [[0, 0, 0]] * 8, device)
            who = r.stdout.split('WHO\n')[1]
            self.assertRegex(who, r'^tile\[11\]: \{0, 0, 0, 0\} -> \{.*\}, by item 11,0,0 of group 0,0,0 \(lane 3\)\n'
                             rf'step \d+, 0x\w+ in nbody_step at .*nbody.cl:{barrier - 1}\n', device)
            self.assertRegex(who, r'(?m)^tile\[lane\]: .*, by item 0,0,0 of group 0,0,0 \(lane 0\)$', device)
            self.near(table('  0  ' + re.search(r'-> (\{.*?\})', who).group(1))[0], body(11))
            self.assertRegex(who, r'(?m)^Watchpoint 2, thread 1, group 0,0,0, lane 0: acceleration: \{0, 0, 0\} -> \{', device)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
