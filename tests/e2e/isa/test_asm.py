#!/usr/bin/env python3
"""zescope asm: what disasm prints assembles to the same code, as iga64 -a does; what is wrong is told
with its place.

usage: test_asm.py ZESCOPE KERNELS.cl
"""
import os
import re
import subprocess
import sys
import tempfile
import unittest

ZESCOPE, KERNELS = (os.path.abspath(path) for path in sys.argv[1:3])
DEVICES = {'skl': '9', 'icllp': '11', 'tgllp': '12p1', 'dg2': '12p71', 'pvc': '12p72'}


def run(*words, data=None, check=0):
    p = subprocess.run(words, input=data, capture_output=True, timeout=240)
    if p.returncode != check:
        raise AssertionError(f'{words}: exit {p.returncode}\n{p.stderr.decode()}')
    return p


def assemble(text, device='skl', check=0, options=()):
    return run(ZESCOPE, 'asm', '-d', device, *options, data=text.encode(), check=check)


def compile_for(device, folder):
    """ocloc hangs once in a while"""
    for _ in range(3):
        try:
            subprocess.run(['ocloc', 'compile', '-q', '-file', KERNELS, '-device', device, '-output', device,
                            '-options', '-DNO_IMAGES' if device == 'pvc' else '', '-out_dir', folder], capture_output=True, timeout=240)
        except subprocess.TimeoutExpired:
            continue
        found = [f for f in os.listdir(folder) if f.startswith(device) and f.endswith('.bin')]
        if found:
            return os.path.join(folder, found[0])
    raise AssertionError('ocloc: no binary for ' + device)


class Assembler(unittest.TestCase):
    def test_disasm_and_back(self):
        with tempfile.TemporaryDirectory() as folder:
            for device, platform in DEVICES.items():
                listing = run(ZESCOPE, 'disasm', compile_for(device, folder)).stdout.decode()
                kernels = re.split(r'(?m)^(?=// kernel )', listing)[1:]
                self.assertTrue(kernels)
                for kernel in kernels:
                    head, lines = kernel.split('\n', 1)
                    lines = lines.rstrip('\n') + '\n'
                    source, code, theirs = (os.path.join(folder, name) for name in ('k.asm', 'k.code', 'k.iga'))
                    with open(source, 'w', encoding='utf-8') as f:
                        f.write(lines)
                    run(ZESCOPE, 'asm', '-d', device, '-o', code, source)
                    again = run(ZESCOPE, 'disasm', '--raw', device, code).stdout.decode()
                    self.assertEqual(again.split('\n', 1)[1].rstrip('\n') + '\n', lines, (device, head))
                    # iga64 takes types of call and ret for others than are written ("should be omitted")
                    if re.search(r'(?m)^ *(call|ret) .*:ud', lines):
                        continue
                    run('iga64', '-a', '-p=' + platform, source, '-o', theirs)
                    with open(code, 'rb') as ours, open(theirs, 'rb') as iga:
                        self.assertEqual(ours.read(), iga.read(), (device, head))

    def test_labels_and_comments(self):
        text = '''// a loop
        mov (8|M0) r3.0<1>:d 0:w   /* two
        lines */
again:  add (8|M0) r3.0<1>:d r3.0<8;8,1>:d 1:w
        jmpi again
        jmpi behind
behind: nop
'''
        code = assemble(text).stdout
        self.assertEqual(len(code), 5 * 16)
        listing = run(ZESCOPE, 'disasm', '--raw', 'skl', '-', data=code).stdout.decode()
        self.assertEqual(re.findall(r'jmpi +(\w+)', listing), ['L16', 'L64'])
        self.assertEqual(assemble(text, options=['--hex']).stdout.decode().count('\n'), 5)

    def test_errors_have_a_place(self):
        for text, place, words in (
                ('foo (8|M0) r1.0<1>:d', '1:1', 'no instruction of gen9'),
                ('nop\n\n add (8|M0) r1.0<1>:d r2.0<8;8,1>:d 70000:w', '3:37', 'does not fit in 16 bits'),
                ('mov (8|M0) r1.0<1>:d r2.0<8;8,1>:xy', '1:34', "'xy' is no type"),
                ('mov (8|M0) r1.0<1>:d r2.0<8;8,1>', '1:33', 'a type is expected'),
                ('mov (8|M0) r1.0<1>:d', '1:21', 'a register is expected'),
                ('mov (8|M0) r128.0<1>:d r2.0<8;8,1>:d', '1:13', 'has r0 to r127'),
                ('mov (8|M0) r1.0<1>:d r2.0<8;8,1>:d {Fast}', '1:37', "'Fast' is no option"),
                ('mov (8|M0) r1.0<1>:d r2.0<8;8,1>:d r3', '1:36', 'the line should end here'),
                ('jmpi nowhere', '1:1', "there is no label 'nowhere'"),
                ('jmpi Nowhere', '1:1', "there is no label 'Nowhere'"),
                ('a: nop\na: nop', '2:1', 'there already'),
                ('add (8|M0) r1.0<1>:d r2.0<3;8,1>:d r4.0<8;8,1>:d', '1:1', 'cannot be encoded'),
                ('math.foo (8|M0) r1.0<1>:f r2.0<8;8,1>:f', '1:5', 'needs a function'),
                ('(f0.0) sel (8|M0) (lt)f1.0 r1.0<1>:d r2.0<8;8,1>:d 1:w', '1:27', 'one flag register')):
            error = assemble(text, check=1).stderr.decode()
            self.assertIn(f'-:{place}: ', error, text)
            self.assertIn(words, error)
        self.assertIn('--device', run(ZESCOPE, 'asm', data=b'', check=2).stderr.decode())
        self.assertIn('i740', assemble('nop', 'i740', check=2).stderr.decode())
        self.assertEqual(assemble('// nothing\n').stdout, b'')


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
