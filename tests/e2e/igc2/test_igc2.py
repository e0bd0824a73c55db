#!/usr/bin/env python3
"""Modules that IGC 2 made (tests/igc2): containers, listings, debug information.

Listings are those of libiga64 of the same IGC, whose hashes the archives have; containers are held against readelf and
PyYAML, debug information against llvm-dwarfdump and readelf.

usage: test_igc2.py ZESCOPE DEBUG_DUMP FOLDER [--sample]     FOLDER: the archives, unpacked
--sample: containers of one source a device only
"""
import concurrent.futures
import glob
import lzma
import os
import re
import shutil
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ('../../igc2', '../module', '../../unit/correlate'):
    sys.path.insert(0, os.path.join(HERE, folder))
import kernels  # noqa: E402
import oracle  # noqa: E402
import zebin  # noqa: E402

ZESCOPE, DUMP, FOLDER = (os.path.abspath(path) for path in sys.argv[1:4])
SAMPLE = '--sample' in sys.argv[4:]

GRF_B = {'tgllp': 32, 'dg2': 32, 'mtl': 32, 'arl-h': 32, 'pvc': 64, 'bmg': 64, 'lnl': 64, 'ptl': 64,
         'nvl-p': 64, 'cri': 64}


def modules():
    """(device, source, variant, path), by name."""
    for path in sorted(glob.glob(os.path.join(FOLDER, '*.bin'))):
        m = re.match(f'({"|".join(GRF_B)})-(\\w+)-(\\w+)\\.bin$', os.path.basename(path))
        yield m[1], m[2], m[3], path


def listed(path):
    out = zebin.run(ZESCOPE, 'disasm', path)
    parts = re.split(r'^// kernel (\S+): .*\n', out.stdout.decode('latin-1'), flags=re.M)
    return {name: kernels.digest(text) for name, text in zip(parts[1::2], parts[2::2])}


class Igc2(zebin.ZebinCase):
    def test_listing(self):
        expected = {}
        for path in glob.glob(os.path.join(FOLDER, '*.iga64')):
            with open(path, encoding='utf-8') as f:
                for line in f:
                    module, kernel, digest = line.split()
                    expected.setdefault(module, {})[kernel] = digest
        self.assertGreater(len(expected), 50)
        paths = {os.path.basename(path)[:-4]: path for *_, path in modules()}
        self.assertEqual(sorted(paths), sorted(expected))
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for module, ours in zip(expected, pool.map(lambda m: listed(paths[m]), expected)):
                with self.subTest(module=module):
                    self.assertEqual({k: d for k, d in expected[module].items() if ours.get(k) != d}, {})
        print(sum(map(len, expected.values())), 'kernels of', len(expected), 'modules')

    def test_containers(self):
        picked = list(modules())
        if SAMPLE:
            names = sorted({source for _, source, _, _ in picked})
            devices = list(GRF_B)
            picked = [m for m in picked if names.index(m[1]) % len(devices) == devices.index(m[0])]
        for device, source, variant, path in picked:
            with self.subTest(device=device, source=source, variant=variant):
                d = zebin.inspect(ZESCOPE, path)
                self.check_zebin(device, path, d)
                self.assertEqual(d['devices'][0]['zebin_version'], '1.73')

    def test_archive(self):
        """Of several devices, by name and by version: `ocloc compile -device tgllp,dg2,mtl,arl-h,bmg-g21,...`."""
        with lzma.open(os.path.join(HERE, '../../igc2/archive.xz')) as f, tempfile.NamedTemporaryFile(suffix='.bin') as out:
            out.write(f.read())
            out.flush()
            d = zebin.inspect(ZESCOPE, out.name)
            self.assertEqual([device['device'] for device in d['devices']],
                             ['tgllp', 'dg2', 'mtl', 'arl-h', 'bmg', 'lnl', 'ptl', 'wcl', 'nvl-s', 'cri'])
            self.assertEqual({device['zebin_version'] for device in d['devices']}, {'1.73'})
            for device in ('mtl', 'ptl', 'nvl-s'):
                listing = zebin.run(ZESCOPE, 'disasm', '-d', device, out.name).stdout.decode()
                self.assertRegex(listing, rf'^// kernel add: {device}, SIMD32, ')

    def test_debug(self):
        for device, source, _, path in modules():
            if source != 'debug':
                continue
            with open(path, 'rb') as f:
                data = f.read()
            temp = tempfile.mkdtemp(prefix='zescope-igc2-')
            try:
                linked = [os.path.join(temp, name) for name in ('linked.elf', 'lost.elf')]
                for name, loses in zip(linked, (False, True)):
                    oracle.write_linked(name, data, loses)
                for kernel in oracle.KERNELS:
                    size = oracle.Elf(data).section_size('.text.' + kernel)
                    relocated = os.path.join(temp, kernel)
                    oracle.write_relocated(relocated, data, '.text.' + kernel)
                    rows, dump = oracle.check_kernel(f'{device} {kernel}', DUMP, path, relocated, kernel, size, GRF_B[device])
                    self.assertGreater(len(rows), 5)
                    for name in linked:
                        self.assertEqual(zebin.run(DUMP, name, kernel, str(size)).stdout,
                                         zebin.run(DUMP, path, kernel, str(size)).stdout)
            finally:
                shutil.rmtree(temp)
        self.assertEqual(oracle.failures, [])


if __name__ == '__main__':
    del sys.argv[1:]
    unittest.main(verbosity=2)
