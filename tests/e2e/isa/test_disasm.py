"""zescope disasm on modules from ocloc: listings, selection, columns, JSON, errors.

usage: test_disasm.py ZESCOPE KERNELS.CL [no-tier]: with it, this build compiles nothing for the host
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import modules  # noqa: E402

ZESCOPE, SOURCE = (os.path.abspath(path) for path in sys.argv[1:3])
ARGUMENTS = sys.argv[3:]
NAMES = ['atomics', 'calls', 'control', 'images', 'local_sum', 'maths', 'private_array', 'saxpy',
         'types']


def disasm(*arguments, **how):
    return subprocess.run([ZESCOPE, 'disasm', *arguments], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False, **how)


class Disasm(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.files = {}
        for device in ('skl', 'pvc'):
            data = modules.compile_module(SOURCE, device, cls.folder.name)
            cls.files[device] = os.path.join(cls.folder.name, device + '.module')
            with open(cls.files[device], 'wb') as f:
                f.write(data)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def lowered(self, device, step):
        result = disasm('--lowered', step, '-k', '^saxpy$', self.files[device])
        self.assertEqual((result.returncode, result.stderr), (0, ''))
        return result.stdout

    def test_lowered_operations(self):
        """The instructions of the listing in their order, and below each what it became."""
        for device in ('skl', 'pvc'):
            listed = disasm('--offsets', '-k', '^saxpy$', self.files[device]).stdout.splitlines()
            wanted = [(int(m[1], 16), m[2].split('//')[0].split()) for m in
                      (re.match(r'([0-9a-f]+): (.*)', line) for line in listed) if m]
            text = self.lowered(device, 'operations')
            self.assertTrue(text.startswith('// kernel saxpy\n'))
            found, operations = [], []
            for line in text.splitlines():
                m = re.match(r'  ([0-9a-f]{5}) (.*)', line)
                if m:
                    found.append((int(m[1], 16), m[2].split('//')[0].split()))
                    operations.append([])
                elif line.startswith('        ') and operations:
                    operations[-1].append(line.split()[0])
            self.assertTrue(set(map(repr, found)) <= set(map(repr, wanted)))
            self.assertGreater(len(found), len(wanted) / 2)  # others leave nothing to be done
            self.assertEqual([at for at, _ in found], sorted(at for at, _ in found))
            self.assertTrue(all(operations))
            self.assertEqual([name for name in sum(operations, []) if 'SEND' in name].count('SEND'),
                             sum('send' in ' '.join(words) for _, words in found))

    def test_lowered_host(self):
        """What LLVM and the assembler take."""
        if 'no-tier' in ARGUMENTS:
            result = disasm('--lowered', 'llvm', '-k', '^saxpy$', self.files['skl'])
            self.assertEqual((result.returncode, result.stdout), (1, ''))
            self.assertIn('kernel saxpy never becomes that: zescope was built without', result.stderr)
            return
        for device in ('skl', 'pvc'):
            module = self.lowered(device, 'llvm')
            self.assertRegex(module, r'(?m)^; kernel saxpy\n(?s:.*)^define i8\* @e0\(')
            code = os.path.join(self.folder.name, 'host.s')
            with open(code, 'w', encoding='utf-8') as f:
                f.write(self.lowered(device, 'host'))
            subprocess.run(['as', code, '-o', code + '.o'], check=True)
            symbols = subprocess.run(['nm', code + '.o'], check=True, stdout=subprocess.PIPE, text=True).stdout
            self.assertRegex(symbols, r' T e0\n')
            self.assertNotIn(' U ', symbols)  # it calls by its table of helpers alone

    @unittest.skipIf('no-tier' in ARGUMENTS, 'compiles nothing for the host')
    def test_lowered_halves(self):
        """Hosts compare vectors of floats, which halves are made; LLVM would take it back, for one each."""
        source = os.path.join(self.folder.name, 'halves.cl')
        with open(source, 'w', encoding='utf-8') as f:
            f.write('__kernel void least(__global half *a)\n'
                    '{\n    size_t i = get_global_id(0);\n    a[i] = fmin(a[i], a[i + 1000]);\n}\n')
        for device in ('skl', 'pvc'):
            module = os.path.join(self.folder.name, 'halves.module')
            with open(module, 'wb') as f:
                f.write(modules.compile_module(source, device, self.folder.name))
            result = disasm('--lowered', 'host', module)
            self.assertEqual((result.returncode, result.stderr), (0, ''))
            self.assertIn('vcmp', result.stdout)
            self.assertNotIn('comiss', result.stdout)

    def test_lowered_errors(self):
        for arguments, status, why in (
                (['--lowered', 'thing', self.files['skl']], 2, 'none of operations, llvm, host'),
                (['--lowered', 'llvm', '--json', self.files['skl']], 2, 'prints text')):
            result = disasm(*arguments)
            self.assertEqual((result.returncode, result.stdout), (status, ''))
            self.assertIn(why, result.stderr)

    def iga64(self, platform, code):
        path = os.path.join(self.folder.name, 'code')
        with open(path, 'wb') as f:
            f.write(code)
        return subprocess.run(['iga64', '-d', f'-p={platform}', path], stdout=subprocess.PIPE,
                              text=True, check=True).stdout

    def test_listing_is_facts_and_iga64_text(self):
        for device, platform in (('skl', '9'), ('pvc', '12p72')):
            result = disasm(self.files[device])
            self.assertEqual(result.returncode, 0, result.stderr)
            parts = re.split(r'^// kernel (\w+): .*\n', result.stdout, flags=re.M)[1:]
            listings = dict(zip(parts[::2], parts[1::2]))
            self.assertEqual(sorted(n for n in listings if n in NAMES), [n for n in NAMES if n != 'images' or device != 'pvc'])
            with open(self.files[device], 'rb') as f:
                for name, code in modules.kernels(f.read()):
                    self.assertEqual(listings[name].rstrip('\n'),
                                     self.iga64(platform, code).rstrip('\n'), name)

    def test_selection(self):
        result = disasm('-k', '^sax', '--kernel', '^mat', self.files['skl'], self.files['pvc'])
        self.assertEqual(result.returncode, 0)
        found = re.findall(r'^// kernel (\w+): (\w+),', result.stdout, flags=re.M)
        self.assertEqual(sorted(found), [('maths', 'pvc'), ('maths', 'skl'), ('saxpy', 'pvc'),
                                         ('saxpy', 'skl')])
        result = disasm('-k', 'nothing_like_it', self.files['skl'])
        self.assertEqual((result.returncode, result.stdout), (1, ''))
        self.assertIn('nothing_like_it', result.stderr)
        result = disasm('--device', 'pvc', self.files['skl'])
        self.assertEqual(result.returncode, 1)
        self.assertIn('skl', result.stderr)
        self.assertEqual(disasm('-k', '(', self.files['skl']).returncode, 2)
        self.assertEqual(disasm(cwd='/').returncode, 2)  # no last recording

    def test_columns_and_comments(self):
        plain = disasm('-k', '^control$', self.files['skl']).stdout.split('\n')
        full = disasm('-k', '^control$', '-rMB', '--offsets', '--encoding',
                      self.files['skl']).stdout.split('\n')
        self.assertRegex(full[0], r'at most \d+ of 128 registers live')
        self.assertTrue(any('// block' in line and 'loop 0' in line for line in full))
        self.assertTrue(any(re.match(r' +// .*(read|write)', line) for line in full))
        rows = [line for line in full if re.match(r'[0-9a-f]{4}: ', line)]
        bare = [line for line in plain[1:] if line and not re.match(r'L\d+:', line)]
        self.assertEqual(len(rows), len(bare))
        for row, line in zip(rows, bare):
            self.assertTrue(row.endswith(line))
            self.assertRegex(row[:len(row) - len(line)],
                             r'^[0-9a-f]{4}: [0-9a-f]{8} [0-9a-f]{8} [0-9a-f ]{9}[0-9a-f ]{8}  +\d+ $')

    def test_json(self):
        result = disasm('--json', self.files['skl'])
        self.assertEqual(result.returncode, 0, result.stderr)
        document = json.loads(result.stdout)
        self.assertEqual(document['schema'], 'zescope.module/1')
        self.assertEqual([d['device'] for d in document['devices']], ['skl'])
        with open(self.files['skl'], 'rb') as f:
            codes = dict(modules.kernels(f.read()))
        for kernel in document['devices'][0]['kernels']:
            code = codes[kernel['name']]
            lines = [line.strip() for line in self.iga64('9', code).split('\n')]
            lines = [line for line in lines if line and not re.fullmatch(r'L\d+:', line)]
            self.assertEqual([i['text'] for i in kernel['instructions']], lines)
            self.assertEqual(kernel['isa_size_B'], len(code))
            self.assertEqual(sum(i['size'] for i in kernel['instructions']), len(code))
            at = 0
            for inst in kernel['instructions']:
                self.assertEqual(inst['offset'], at)
                self.assertNotIn('line', inst)
                at += inst['size']

    def test_errors(self):
        path = os.path.join(self.folder.name, 'garbage')
        with open(path, 'wb') as f:
            f.write(b'garbage' * 100)
        for bad in (path, path + '.missing', self.folder.name):
            result = disasm(bad)
            self.assertEqual((result.returncode, result.stdout), (1, ''), bad)
            self.assertTrue(result.stderr.startswith('zescope'), result.stderr)


if __name__ == '__main__':
    unittest.main(argv=[sys.argv[0], '-v'])
