#!/usr/bin/env python3
"""zescope inspect on modules compiled now, against what others say about the same files.

Patch tokens: `ocloc disasm -dump` lists every token with its bytes (PTM.txt) and writes the heaps.
zebin: readelf lists sections, symbols and relocations, PyYAML reads .ze_info.
Usage: test_inspect.py ZESCOPE KERNELS_DIR [--sample] DEVICE...
--sample: all kernels as patch tokens for the first device, and some of each other device and container.
"""
import concurrent.futures
import glob
import os
import re
import struct
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import zebin  # noqa: E402
from zebin import run  # noqa: E402

ZESCOPE, KERNELS = (os.path.abspath(path) for path in sys.argv[1:3])
IGC2 = os.path.exists('/usr/lib/x86_64-linux-gnu/libigdfcl.so.2')
SAMPLE = '--sample' in sys.argv[3:]
DEVICES = [word for word in sys.argv[3:] if word != '--sample']
UNSUPPORTED = {('doubles', 'icllp'), ('doubles', 'tgllp'), ('doubles', 'dg2'), ('images', 'pvc'),
               ('subgroups', 'pvc')}
OPTIONS = {'globals': '-cl-std=CL2.0', 'subgroups': '-cl-std=CL2.0'}
FIELDS_OF_8 = {'GlobalPointerOffset', 'ConstantPointerOffset', 'SIMDInfo'}


def is_taken(number, source, device, container):
    first = device == DEVICES[0]
    return not SAMPLE or first and (container == 'tokens' or source in ('atomics', 'includes')) or \
        number % 4 == DEVICES.index(device) % 4


def inspect(*args):
    return zebin.inspect(ZESCOPE, *args)


def compile_one(out_dir, source, device, container, extra=()):
    """Path of what ocloc writes; its exit status tells nothing (it may abort after writing)."""
    name = f'{source}-{device}-{container}'
    command = ['ocloc', 'compile', '-q', '-file', source + '.cl', '-device', device, '-output', name,
               '-out_dir', out_dir, *extra]
    if container == 'zebin':
        command += ['--format', 'zebin']
    options = OPTIONS.get(source, '')
    if '-g' in extra:
        command.remove('-g')
        options += ' -g'
    if options:
        command += ['-options', options]
    log = ''
    for limit_s in (30, 60, 240):
        # debug information of several kernels in one zebin needs it; ocloc then rarely hangs
        env = dict(os.environ, IGC_UseMTInLLD='1') if container == 'zebin' else None
        try:
            log = run(*command, env=env, cwd=KERNELS, timeout=limit_s).stdout  # #include is relative
        except zebin.subprocess.TimeoutExpired:
            log = 'it hangs'
        found = glob.glob(os.path.join(out_dir, glob.escape(name) + '_*.bin')) or \
            glob.glob(os.path.join(out_dir, glob.escape(name)))
        if found:
            return found[0]
    raise AssertionError(f'ocloc made nothing of {source} for {device}: {log}')


# --- oracles ---

class PatchList:
    """PTM.txt: blocks "Title:" of lines "size name value", bodies of unknown tokens in hex."""

    def __init__(self, path):
        self.header, self.program, self.kernels = {}, [], []
        block, tokens = None, self.program
        with open(path, encoding='latin-1') as f:
            for line in f:
                line = line.rstrip('\n')
                if line.startswith('Kernel #'):
                    tokens = []
                    self.kernels.append(({}, tokens))
                    block = None
                elif line.endswith(':') and not line.startswith('\t'):
                    if line == 'ProgramBinaryHeader:':
                        block = self.header
                    elif line == 'KernelBinaryHeader:':
                        block = self.kernels[-1][0]
                    else:
                        block = {'body': b''}
                        tokens.append(block)
                else:
                    self.field(block, line.strip())

    @staticmethod
    def field(block, line):
        if line.startswith('Hex'):
            data = bytes(int(x, 16) for x in line.split()[1:])
            if 'body' in block:
                block['body'] += data
            return
        words = line.split(' ', 2)
        if words[0] == 'KernelName':
            block['KernelName'] = line[len('KernelName '):]
        elif words[0].isdigit():
            size, name, value = int(words[0]), words[1], int(words[2])
            block[name] = value
            if 'body' in block and name not in ('Token', 'Size'):
                block['body'] += value.to_bytes(size, 'little')


# --- the test ---

class Inspect(zebin.ZebinCase):
    @classmethod
    def setUpClass(cls):
        cls.temp = tempfile.TemporaryDirectory(prefix='zescope-inspect-')
        cls.dir = cls.temp.name
        sources = sorted(os.path.basename(p)[:-3] for p in glob.glob(os.path.join(KERNELS, '*.cl')))
        jobs = {(s, d, c): None for i, s in enumerate(sources) for d in DEVICES for c in ('tokens', 'zebin')
                if (s, d) not in UNSUPPORTED and is_taken(i, s, d, c)}
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            futures = {key: pool.submit(compile_one, cls.dir, *key) for key in jobs}
            cls.files = {key: future.result() for key, future in futures.items()}
        assert len(sources) >= 13 and len(cls.files) >= (20 if not SAMPLE else 6) * len(DEVICES) > 0

    @classmethod
    def tearDownClass(cls):
        cls.temp.cleanup()

    def of_container(self, container):
        for (source, device, kind), path in self.files.items():
            if kind == container:
                with self.subTest(source=source, device=device, container=container):
                    yield source, device, path, inspect(path)

    def check_token(self, oracle, token):
        """The fields that are shown are, in order, the bytes of the token."""
        self.assertEqual(oracle['Token'], token['number'])
        self.assertEqual(oracle['Size'], token['size_B'])
        self.assertNotEqual(token['name'], '', token)
        body, at = oracle['body'], 0
        for field in token['fields']:
            if 'text' in field and 'value' not in field:
                text = field['text'].encode()
                self.assertIn(text, body)
                if field['name'] != 'String':
                    at = max(at, body.index(text, at) + len(text)) if text else at
                continue
            if 'bytes' in field:
                self.assertIn(bytes.fromhex(field['bytes']), body)
                continue
            size = 8 if field['name'] in FIELDS_OF_8 else 4
            if 'entry' not in field:
                value = int.from_bytes(body[at:at + size], 'little')
                self.assertEqual(value, field['value'], (token['name'], field))
            at += size

    def check_tokens(self, oracle, tokens):
        self.assertEqual([(t['Token'], t['Size']) for t in oracle],
                         [(t['number'], t['size_B']) for t in tokens])
        for one, other in zip(oracle, tokens):
            self.check_token(one, other)

    if not IGC2: # whose ocloc takes no patch tokens apart
        def test_patch_tokens(self):
            seen = set()
            for _, device, path, d in self.of_container('tokens'):
                self.assertEqual(d['container'], 'NEO ELF')
                self.check_sections(path, d['containers'][0])
                dump = path + '.dump'
                os.mkdir(dump)
                run('ocloc', 'disasm', '-file', path, '-device', device, '-dump', dump)
                oracle = PatchList(os.path.join(dump, 'PTM.txt'))
                image, = d['devices']
                self.assertEqual(image['device'], device)
                self.assertEqual(image['gfxcore'], oracle.header['Device'])
                self.assertEqual(image['stepping'], oracle.header['SteppingId'])
                self.assertEqual(image['version'], oracle.header['Version'])
                self.assertEqual(len(image['kernels']), oracle.header['NumberOfKernels'])
                self.check_tokens(oracle.program, image['tokens'])
                for (header, tokens), kernel in zip(oracle.kernels, image['kernels']):
                    self.assertEqual(kernel['name'], header['KernelName'])
                    self.assertEqual(kernel['header']['checksum'], header['CheckSum'])
                    self.assertTrue(kernel['header']['checksum_ok'])
                    self.assertEqual(kernel['header']['shader_hash'], header['ShaderHashCode'])
                    self.assertEqual(kernel['code']['size_B'], header['KernelUnpaddedSize'])
                    self.assertEqual(kernel['code']['heap_B'], header['KernelHeapSize'])
                    self.assertEqual(kernel['header']['dsh_B'], header['DynamicStateHeapSize'])
                    self.assertEqual(kernel['header']['ssh_B'], header['SurfaceStateHeapSize'])
                    self.check_tokens(tokens, kernel['tokens'])
                    self.check_normalised(kernel)
                    seen.update(t['number'] for t in kernel['tokens'])
                seen.update(t['number'] for t in image['tokens'])
                self.assertEqual(d['notes'], [])
            # the kernels bring about what compilers emit today
            self.assertLessEqual({5, 8, 12, 15, 16, 17, 19, 21, 22, 23, 25, 26, 27, 28, 30, 33, 38, 41,
                                  42, 43}, seen)

    def check_normalised(self, kernel):
        """Every token that stands for a field of the payload, an argument, a surface is there."""
        tokens = [(t['number'], {f['name']: f.get('value', f.get('text')) for f in t['fields']})
                  for t in kernel['tokens']]
        slots = sorted((f['Offset'], f['DataSize']) for n, f in tokens if n == 17)
        for n, f in tokens:
            if n in (30, 31, 33, 36, 38, 43, 44, 45, 46, 56, 58):
                slots.append((f['DataParamOffset'], f['DataParamSize']))
        self.assertEqual(sorted(slots), sorted((p['offset'], p['size_B']) for p in kernel['payload']))
        for n, f in tokens:
            if n == 26:
                argument = kernel['arguments'][f['ArgumentNumber']]
                self.assertEqual(argument['name'], f['ArgumentName'])
                self.assertEqual(argument['type'], f['TypeName'].rsplit(';', 1)[0])
                self.assertEqual(argument['address_qualifier'], f['AddressQualifier'])
            elif n == 23:
                self.assertEqual(kernel['simd'], f['LargestCompiledSIMDSize'])
                self.assertEqual(kernel['grf_count'], f['NumGRFRequired'])
                self.assertEqual(kernel['barriers'], f['HasBarriers'])
            elif n == 15:
                self.assertEqual(kernel['slm_B'], f['TotalInlineLocalMemorySize'])
            elif n == 18:
                self.assertEqual(kernel['scratch_B'], f['PerThreadScratchSpace'])
            elif n == 25:
                self.assertEqual(kernel['thread_payload']['cross_thread_B'],
                                 f['DataParameterStreamSize'])
        strings = {f['Index']: f['String'] for n, f in tokens if n == 28}
        self.assertEqual(strings, {s['index']: s['text'] for s in kernel['strings']})

    def test_zebin(self):
        for _, device, path, d in self.of_container('zebin'):
            self.check_zebin(device, path, d)

    def test_both_formats_agree(self):
        """Names, types and kinds of arguments do not depend on the container."""
        for (source, device, kind), path in self.files.items():
            if kind != 'tokens' or (source, device, 'zebin') not in self.files:
                continue
            with self.subTest(source=source, device=device):
                one = inspect(path)['devices'][0]['kernels']
                other = inspect(self.files[source, device, 'zebin'])['devices'][0]['kernels']
                other = {k['name']: k for k in other}
                for kernel in one:
                    # only zebin always has names
                    if kernel['name'].startswith('Intel_'):
                        continue
                    self.assertEqual([a['kind'] for a in kernel['arguments']],
                                     [a['kind'] for a in other[kernel['name']]['arguments']])
                    for a, b in zip(kernel['arguments'], other[kernel['name']]['arguments']):
                        if 'name' in a:
                            self.assertEqual((a['name'], a['type']), (b['name'], b['type']))

    def test_debug_data(self):
        for container in ('tokens', 'zebin'):
            plain = self.files['includes', 'skl', container]
            folder = os.path.join(self.dir, 'debug-' + container)
            os.mkdir(folder)
            path = compile_one(folder, 'includes', 'skl', container, ['-g'])
            kernels = inspect(path)['devices'][0]['kernels']
            want = 'kernel ELF' if container == 'tokens' else 'zebin'
            self.assertEqual(kernels[0]['debug']['kind'], want)
            with open(path, 'rb') as f:
                f.seek(kernels[0]['debug']['offset'])
                self.assertEqual(f.read(4), b'\x7fELF')
            self.assertNotIn('debug', inspect(plain)['devices'][0]['kernels'][0])
            if container == 'tokens':
                dbg = path[:-4] + '.dbg'
                alone = inspect(dbg)
                self.assertEqual(alone['container'], 'IGC debug data')
                self.assertEqual([e['name'] for e in alone['debug_entries']], ['shade_points'])
                both = inspect('--debug', dbg, plain)
                self.assertEqual(both['devices'][0]['kernels'][0]['debug']['input'], 'debug')
                self.assertTrue(both['debug_entries'][0]['bound'])

    def test_archive(self):
        name = os.path.join(self.dir, 'fat')
        devices = ['tgllp', 'bmg', 'dg2'] if IGC2 else ['skl', 'icllp', 'tgllp']
        run('ocloc', 'compile', '-q', '-file', os.path.join(KERNELS, 'halves.cl'), '-device',
            ','.join(devices), '-output', 'fat', '-out_dir', self.dir)
        members = [m for m in run('ar', 't', name).stdout.decode().split()
                   if not m.startswith('pad_')]
        d = inspect(name)
        self.assertEqual(sorted(i['device'] for i in d['devices']), sorted(devices))
        self.assertEqual([c['name'] for c in d['containers'] if c['kind'] in ('NEO ELF', 'zebin')], members)
        one = inspect('--device', devices[1], name)
        self.assertEqual([i['device'] for i in one['devices']], [devices[1]])
        self.assertEqual(run(ZESCOPE, 'inspect', '--device', 'pvc', name).returncode, 1)

    def test_text(self):
        path = self.files['atomics', 'skl', 'tokens']
        text = run(ZESCOPE, 'inspect', path).stdout.decode()
        self.assertRegex(text, r'histogram_local\s+\d+\s+\d+\s+3\s+1024')
        self.assertNotIn('\033', text)
        self.assertNotIn('arguments', text)
        text = run(ZESCOPE, 'inspect', '-k', '^compare', path).stdout.decode()
        self.assertIn('arguments', text)
        self.assertIn('Kernel compare_exchange', text)
        self.assertNotIn('Kernel histogram_local', text)
        text = run(ZESCOPE, 'inspect', '--tokens', '--color', 'always', path).stdout.decode()
        self.assertIn('\033[', text)
        self.assertIn('EXECUTION_ENVIRONMENT', text)
        self.assertIn('LargestCompiledSIMDSize', text)
        text = run(ZESCOPE, 'inspect', '-T', self.files['atomics', 'skl', 'zebin']).stdout.decode()
        self.assertIn('- name:            histogram_local', text)

    def test_refusals(self):
        path = os.path.join(self.dir, 'bad.bin')
        with open(self.files['atomics', 'skl', 'tokens'], 'rb') as f:
            data = f.read()
        for contents, text in ((b'', 'not a module'), (data[:1000], 'lies outside the ELF'),
                               (struct.pack('<6I', 0x07230203, 0x10000, 0, 8, 0, 0xffffffff), '(SPIR-V) cannot be compiled')):
            with open(path, 'wb') as f:
                f.write(contents)
            result = run(ZESCOPE, 'inspect', path)
            self.assertEqual(result.returncode, 1)
            self.assertEqual(result.stdout, b'')
            self.assertIn(text, result.stderr.decode())
        self.assertEqual(run(ZESCOPE, 'inspect', '/nonexistent').returncode, 1)
        self.assertEqual(run(ZESCOPE, 'inspect', cwd='/').returncode, 2)  # no last recording


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
