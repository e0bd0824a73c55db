#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Names of C++: against c++filt's; names that stand for gigabytes cost a second and nothing else.

Usage: test_names.py ZESCOPE
"""
import json
import os
import socket
import struct
import subprocess
import sys
import tempfile
import unittest

ZESCOPE = os.path.abspath(sys.argv[1])
SYCL, PLAIN = '_ZTSZZ4mainENKUlRN4sycl3_V17handlerEE_clES2_E6VecAdd', '_Z6squareILi4EEvPi'
READABLE = 'main::{lambda(sycl::_V1::handler&)#1}::operator()(sycl::_V1::handler&) const::VecAdd'


def run(*words, check=0):
    p = subprocess.run([ZESCOPE, *words], cwd=folder.name, capture_output=True, text=True, timeout=120)
    if p.returncode != check:
        raise AssertionError(f'{words}: exit {p.returncode}\n{p.stdout}{p.stderr}')
    return p.stdout


def setUpModule():
    global folder
    folder = tempfile.TemporaryDirectory()
    with open(os.path.join(folder.name, 'k.cl'), 'w', encoding='utf-8') as f:
        f.write(f'kernel void {SYCL}(global int *a)\n{{ a[get_global_id(0)] += 1; }}\n'
                f'kernel void {PLAIN}(global int *a)\n{{ a[get_global_id(0)] *= 2; }}\n')
    subprocess.run(['ocloc', 'compile', '-q', '-file', 'k.cl', '-device', 'skl', '-output', 'k'], cwd=folder.name,
                   check=True, capture_output=True, timeout=100)
    os.rename(next(os.path.join(folder.name, n) for n in os.listdir(folder.name) if n.endswith('.bin')),
              os.path.join(folder.name, 'k.bin'))


def tearDownModule():
    folder.cleanup()


class Views(unittest.TestCase):
    def test_text(self):
        for words in (['inspect'], ['annotate'], ['compare', '--all', 'k.bin']):
            text = run(*words, 'k.bin')
            self.assertIn(READABLE, text)
            self.assertIn('void square<4>(int*)', text)
            self.assertNotIn('_Z', text)
            self.assertIn(SYCL, run(words[0], '--no-demangle', *words[1:], 'k.bin'))
        # columns stay where they are
        rows = [r for r in run('inspect', 'k.bin').splitlines() if 'square' in r or r.lstrip().startswith('kernel  ')]
        self.assertEqual(rows[0].index('simd') + 4, rows[1].index(' 32 ') + 3)

    def test_for_programs(self):
        names = [k['name'] for k in json.loads(run('inspect', '--json', 'k.bin'))['devices'][0]['kernels']]
        self.assertEqual(sorted(names), sorted([SYCL, PLAIN]))
        self.assertIn(SYCL, run('disasm', 'k.bin'))

    def test_selected_by_either(self):
        for pattern in ('^main::.*VecAdd$', 'VecAdd', '^_ZTS'):
            text = run('annotate', '-k', pattern, 'k.bin')
            self.assertIn(READABLE, text)
            self.assertNotIn('square', text)

    def test_page(self):
        run('annotate', '--html', 'page.html', 'k.bin')
        with open(os.path.join(folder.name, 'page.html'), encoding='utf-8') as f:
            names = json.loads(f.read().split('id="names">')[1].split('</script>')[0])
        self.assertEqual(names, {SYCL: READABLE, PLAIN: 'void square<4>(int*)'})


class Process(unittest.TestCase):
    """The process that reads names, asked as the command asks it."""

    def setUp(self):
        self.end, other = socket.socketpair()
        self.process = subprocess.Popen([ZESCOPE, '--demangle'], stdin=other, stdout=subprocess.DEVNULL)
        other.close()
        self.end.settimeout(60)

    def tearDown(self):
        self.end.close()
        self.process.kill()
        self.process.wait()

    def ask(self, name):
        self.end.sendall(struct.pack('<I', len(name)) + name.encode())
        size, = struct.unpack('<I', self.end.recv(4, socket.MSG_WAITALL))
        return self.end.recv(size, socket.MSG_WAITALL).decode() if size else ''

    def test_against_cppfilt(self):
        names = [SYCL, PLAIN, '_ZNSt6vectorIiSaIiEE9push_backERKi', '_ZN1aC2Ev', '_Znwm', '_ZTVN10__cxxabiv117__class_type_infoE',
                 '_ZN4sycl3_V16detail18RoundedRangeKernelINS0_4itemILi1ELb1EEELi1EZZ4mainENKUlRNS0_7handlerEE_clES6_EUlT_E_EE',
                 '_Z', '_Zx', '_Z3fooPFvPKcE']
        told = subprocess.run(['c++filt', *names], capture_output=True, text=True, check=True).stdout.splitlines()
        for name, readable in zip(names, told):
            self.assertEqual(self.ask(name) or name, readable)

    def test_hostile(self):
        digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ'
        name = '_Z1fSt4pairIiiE' + ''.join('S_IS{0}_S{0}_E'.format(digits[i]) for i in range(35))
        self.end.settimeout(1)
        with self.assertRaises((socket.timeout, OSError, struct.error)):
            self.ask(name)
        with open(f'/proc/{self.process.pid}/status', encoding='ascii') as f:
            peak = [line for line in f if line.startswith('VmHWM')]
        self.assertLess(int(peak[0].split()[1]) if peak else 0, 400 << 10)
        for other in ('F' * 4000 + 'v' + 'E' * 4000, 'P' * 8000 + 'i', 'X' * 8000):
            self.tearDown()
            self.setUp()
            self.assertIsInstance(self.ask('_Z1f' + other), str)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
