#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Launches captured and run again: contents against what the application computed, and differences.

Usage: test_replay.py ZESCOPE DRIVER ACTIVITY KERNELS IMAGES_PROGRAM IMAGES_KERNEL
"""
import glob
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

ZESCOPE, DRIVER, ACTIVITY, KERNELS, IMAGES, BLEND = (os.path.abspath(path) for path in sys.argv[1:7])
ENV = dict(os.environ, ZE_ENABLE_ALT_DRIVERS=DRIVER)


def run(*words, check=0):
    p = subprocess.run(words, env=ENV, cwd=folder.name, capture_output=True, text=True, timeout=120)
    if p.returncode != check:
        raise AssertionError(f'{words}: exit {p.returncode}\n{p.stdout}{p.stderr}')
    return p


def replay(*words, check=0):
    return json.loads(run(ZESCOPE, 'replay', '--json', *words, check=check).stdout)['launches']


def setUpModule():
    global folder, rec
    folder = tempfile.TemporaryDirectory()
    rec = os.path.join(folder.name, 'rec')
    run('ocloc', 'compile', '-q', '-file', KERNELS, '-device', 'skl', '-options', '-g', '-output', 'k')
    spirv = glob.glob(os.path.join(folder.name, 'k_*.spv'))[0]
    # its own checks of results hold beside the copies
    run(ZESCOPE, 'record', '--capture', '^add$:2', '--capture', 'scale', '-o', rec, '--', ACTIVITY, spirv, check=9)


def tearDownModule():
    folder.cleanup()


def parse(path):
    """As src/store/launch_file.h has it, read without the reader."""
    with open(path, 'rb') as f:
        data = f.read()
    assert data[:8] == b'zslaunc1'
    _, _, number, _ = struct.unpack_from('<QQII', data, 8)
    groups, size = struct.unpack_from('<3I', data, 32), struct.unpack_from('<3I', data, 44)
    name_B, arguments, memories = struct.unpack_from('<3I', data, 68)
    name, at = data[84:84 + name_B].decode(), 84 + name_B
    values, memory = {}, []
    for _ in range(arguments):
        index, kind, size_B, _, _, _ = struct.unpack_from('<IIQIIQ', data, at)
        values[index] = (kind, data[at + 32:at + 32 + {0: size_B, 3: 12}.get(kind, 0)])  # a value, a sampler
        at += 32 + len(values[index][1])
    for _ in range(memories):
        _, size_B, kind, state = struct.unpack_from('<QQII', data, at)
        at += 36 if kind == 16 else 0  # an image's words
        memory.append((state, data[at + 24:at + 24 + size_B], data[at + 24 + size_B:at + 24 + 2 * size_B]))
        at += 24 + 2 * size_B
    assert at == len(data)
    return name, number, groups, size, values, memory


class Capture(unittest.TestCase):
    def test_no_such_kernel(self):
        p = run(ZESCOPE, 'record', '--capture', 'ad+$:3', '--capture', 'skale:2', '--kernel', 'none',
                '--kernel', 'x' * 300 + '|ad+$', '--kernel', 'ad+$:3', '-o', rec + '-none', '--', ACTIVITY,
                glob.glob(os.path.join(folder.name, 'k_*.spv'))[0], check=9)
        self.assertRegex(p.stderr, r"no launch was captured: .*--capture 'skale' was launched \(none matches; modules have: add, ")
        self.assertRegex(p.stderr, "nothing was counted: .*--kernel 'none' was launched")
        self.assertNotIn('xxx', p.stderr)
        self.assertEqual(p.stderr.count("'ad+$"), 1)  # the number is a capture's
        self.assertIn("--kernel 'ad+$:3' was launched", p.stderr)
        p = run(ZESCOPE, 'profile', '-d', 'skl', '-k', 'skale', '-o', rec + '-profile', '--', ACTIVITY,
                glob.glob(os.path.join(folder.name, 'k_*.spv'))[0], check=9)
        self.assertRegex(p.stderr, r"nothing was measured: .*--kernel 'skale' .*modules have: add, ")

    def test_contents(self):
        found = {}
        for path in glob.glob(rec + '/launches/*.launch'):
            name, number, groups, size, values, memory = parse(path)
            found[name] = number
            self.assertEqual((groups, size), ((32, 1, 1), (32, 1, 1)))
            n = struct.unpack('<i', values[1][1])[0]
            (state, before, after), = memory
            self.assertEqual((state, values[0][0], len(before)), (0, 1, 4096))
            x, y = (struct.unpack('<1024i', part) for part in (before, after))
            self.assertEqual(y, tuple(v + n for v in x) if name == 'add' else tuple(v * n for v in x))
        self.assertEqual(found, {'add': 2, 'scale': 1})

    def test_limit(self):
        spirv = glob.glob(os.path.join(folder.name, 'k_*.spv'))[0]
        small = os.path.join(folder.name, 'small')
        run(ZESCOPE, 'record', '--capture', 'scale', '--capture-limit', '4096', '-o', small, '--', ACTIVITY, spirv, check=9)
        launch, = replay(small, check=3)
        self.assertIn('--capture-limit', launch['memory'][0]['not_compared'])
        run(ZESCOPE, 'record', '--capture', '(', '-o', small + '2', '--', ACTIVITY, spirv, check=2)


class Replay(unittest.TestCase):
    def test_same(self):
        for words, built in (([], 'the recorded binary'), (['-d', 'dg2'], 'the recorded SPIR-V'),
                             (['--build-options=-cl-opt-disable'], 'the recorded SPIR-V')):
            launches = replay(*words, rec)
            self.assertEqual(sorted(r['kernel'] for r in launches), ['add', 'scale'])
            for r in launches:
                self.assertTrue(r['same'], r)
                self.assertEqual(r['built_from'], built)
                self.assertEqual((r['memory'][0]['element'], r['memory'][0]['elements'], r['memory'][0]['changed']), ('int', 1024, 1024))
                self.assertGreater(r['time_ns'], 0)
                self.assertEqual(r['clock'], 'modelled')

    def test_other_build(self):
        with open(KERNELS, encoding='utf-8') as f, open(os.path.join(folder.name, 'other.cl'), 'w', encoding='utf-8') as g:
            g.write(f.read().replace('*= n;', '*= get_global_id(0) == 7 ? n + 1 : n;'))
        launch, = replay('-k', 'scale', '--build', 'other.cl', rec, check=3)
        path = next(p for p in glob.glob(rec + '/launches/*') if parse(p)[0] == 'scale')
        memory = parse(path)[5][0]
        before, after = (struct.unpack('<1024i', part)[7] for part in memory[1:])
        self.assertEqual(launch['memory'][0]['differ'], 1)
        self.assertEqual(launch['memory'][0]['differences'],
                         [{'offset_B': 28, 'original': str(after), 'now': str(after + before), 'ulp': None}])
        text = run(ZESCOPE, 'replay', '-k', 'scale', '--build', 'other.cl', rec, check=3).stdout
        self.assertIn('1024 changed by the original, 1 differ now', text)

    def test_counts(self):
        again = os.path.join(folder.name, 'again')
        p = run(ZESCOPE, 'replay', '-k', 'scale', '--counts', '-o', again, rec)
        self.assertIn('the same now', p.stdout)
        kernels = json.loads(run(ZESCOPE, 'analyze', '--json', '-k', 'scale', again).stdout)['kernels']
        self.assertEqual(kernels[0]['quantities']['launches'], 1)

    def test_refused(self):
        run(ZESCOPE, 'replay', '-k', 'none', rec, check=1)
        run(ZESCOPE, 'replay', rec, rec, check=2)
        run(ZESCOPE, 'replay', '--build', 'missing.spv', rec, check=1)
        with open(os.path.join(folder.name, 'nothing.spv'), 'wb') as f:
            f.write(b'nothing')
        self.assertIn('nothing.spv gives', replay('-k', 'add', '--build', 'nothing.spv', rec, check=1)[0]['failed'])

    def test_damaged(self):
        """Any damage is told by the file's name; the other launch is replayed all the same."""
        bad = os.path.join(folder.name, 'bad')
        shutil.copytree(rec, bad)
        path = next(p for p in glob.glob(bad + '/launches/*') if parse(p)[0] == 'scale')
        with open(path, 'rb') as f:
            data = f.read()
        pointer = data.index(b'scale') + 5 + 24  # the first argument's offset
        for broken in (data[:50], data[:-1], b'x' + data[1:], data[:pointer] + b'\xff' * 8 + data[pointer + 8:]):
            with open(path, 'wb') as f:
                f.write(broken)
            p = run(ZESCOPE, 'replay', '--json', bad, check=1)
            self.assertIn(os.path.basename(path), p.stderr)
            self.assertEqual([r['kernel'] for r in json.loads(p.stdout)['launches']], ['add'])

    def test_images(self):
        """Two images, a sampler and a buffer; here what the kernel makes of them."""
        images = os.path.join(folder.name, 'images')
        run('ocloc', 'compile', '-q', '-file', BLEND, '-device', 'skl', '-output', 'blend')
        spirv = glob.glob(os.path.join(folder.name, 'blend_*.spv'))[0]
        run(ZESCOPE, 'record', '--capture', 'blend', '-o', images, '--', IMAGES, spirv)
        path, = glob.glob(images + '/launches/*.launch')
        values, memory = parse(path)[4:]
        self.assertEqual([values[i][0] for i in range(4)], [1, 3, 1, 1])
        (_, first, same), (_, _, second), (_, _, sums) = memory
        pixels = bytes((7 * i) & 127 for i in range(16 * 8 * 4))
        self.assertEqual((first, same, second), (pixels, pixels, bytes(v + 1 for v in pixels)))
        self.assertEqual(struct.unpack('<128i', sums), tuple(pixels[4 * i] + pixels[4 * i + 3] for i in range(128)))
        for words in ([], ['-d', 'dg2']):
            launch, = replay(*words, images)
            self.assertTrue(launch['same'], launch)
        with open(path, 'rb') as f:
            data = f.read()
        at = data.index(struct.pack('<III', 16, 8, 1))  # an image larger than what is kept of it
        with open(path, 'wb') as f:
            f.write(data[:at] + struct.pack('<I', 17) + data[at + 4:])
        self.assertIn('other size', run(ZESCOPE, 'replay', images, check=1).stderr)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
