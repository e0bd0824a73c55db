"""What `zescope inspect` says of a zebin, against readelf (sections, symbols, relocations) and PyYAML (.ze_info)."""
import json
import re
import subprocess
import unittest

import yaml


def run(*command, timeout=120, **how):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                          timeout=timeout, **how)


def inspect(zescope, *args):
    result = run(zescope, 'inspect', '--json', '--tokens', *args)
    if result.returncode:
        raise AssertionError(f'{args}: {result.stderr.decode()}')
    return json.loads(result.stdout)


def readelf_sections(path):
    out = run('readelf', '-SW', path).stdout.decode()
    sections = []
    for line in out.splitlines():
        m = re.match(r'\s*\[ *(\d+)\] (.*?)\s+(\S+)\s+([0-9a-f]{16}) ([0-9a-f]{6,}) ([0-9a-f]{6,}) ',
                     line)
        if m:
            sections.append((int(m[1]), m[2].strip(), int(m[5], 16), int(m[6], 16)))
    return sections


def readelf_symbols(path):
    out = run('readelf', '-sW', path).stdout.decode()
    rows = re.findall(r'^ *(\d+): ([0-9a-f]{16}) +(\S+) (\S+) +(\S+) +\S+ +(\S+) ?(.*)$', out, re.M)
    return [(name.strip(), int(value, 16), int(size, 0), kind, bind, section)
            for _, value, size, kind, bind, section, name in rows]


def readelf_relocations(path):
    """{section: [(offset, type, symbol)]}"""
    out = run('readelf', '-rW', path).stdout.decode()
    found, current = {}, None
    for line in out.splitlines():
        m = re.match(r"Relocation section '(.*?)'", line)
        if m:
            current = found.setdefault(m[1], [])
            continue
        m = re.match(r'([0-9a-f]{16})  ([0-9a-f]{16}) .*?  +[0-9a-f]{16} +(\S+)', line)
        if m and current is not None:
            current.append((int(m[1], 16), int(m[2], 16) & 0xFFFFFFFF, m[3]))
    return found


class ZebinCase(unittest.TestCase):
    maxDiff = None

    def check_sections(self, path, part):
        want = readelf_sections(path)
        have = [(s['index'], s['name'], s['offset'], s['size_B']) for s in part['sections']]
        self.assertEqual(want, have)

    def check_zebin_kernel(self, want, misc, kernel):
        env = want['execution_env']
        self.assertEqual(kernel['simd'], env['simd_size'])
        self.assertEqual(kernel['grf_count'], env['grf_count'])
        self.assertEqual(kernel['slm_B'], env.get('slm_size', 0))
        self.assertEqual(kernel['barriers'], env.get('barrier_count', 0))
        self.assertEqual(kernel.get('required_group_size', [0, 0, 0]),
                         env.get('required_work_group_size', [0, 0, 0]))
        self.assertEqual('global atomics' in kernel['flags'], env.get('has_global_atomics', False))
        fields = []
        for p in want.get('payload_arguments', []):
            kind = p['arg_type']
            if kind in ('local_size', 'global_size', 'group_count', 'global_id_offset',
                        'enqueued_local_size'):
                fields += [(p['offset'] + i, 4, kind, None) for i in range(0, p['size'], 4)]
            elif p['size']:
                if kind in ('const_base', 'global_base') and p.get('addrmode') == 'bindless':
                    kind = kind.replace('base', 'handle')
                if kind == 'arg_bypointer' and p['addrspace'] == 'local':
                    kind = 'local_pointer'
                elif kind == 'arg_bypointer' and p['addrmode'] == 'bindless':
                    kind = 'bindless_handle'
                fields.append((p['offset'], p['size'], kind, p.get('arg_index')))
        self.assertEqual(sorted(fields, key=str),
                         sorted(((p['offset'], p['size_B'], p['kind'], p.get('argument'))
                                 for p in kernel['payload']), key=str))
        bindings = sorted((b['bti_value'], b['arg_index'])
                          for b in want.get('binding_table_indices', []))
        self.assertEqual(bindings, sorted((s['bti'], s['argument']) for s in kernel['surfaces'] if 'argument' in s))
        scratch = [m['size'] for m in want.get('per_thread_memory_buffers', [])
                   if m['type'] == 'scratch' and not m.get('slot')]
        self.assertEqual(kernel['scratch_B'], scratch[0] if scratch else 0)
        for info in (misc or {}).get('args_info') or []:
            argument = kernel['arguments'][info['index']]
            self.assertEqual(argument.get('name', ''), info.get('name', '')) # SPIR-V may have none
            self.assertEqual(argument['type'], info['type_name'].rsplit(';', 1)[0])
            self.assertEqual(argument['access_qualifier'], info['access_qualifier'])
            self.assertEqual(argument['type_qualifiers'], info['type_qualifiers'])

    def check_zebin(self, device, path, d):
        self.assertEqual(d['container'], 'zebin')
        self.check_sections(path, d['containers'][0])
        image, = d['devices']
        self.assertEqual(image['device'], device)
        self.assertTrue(image['device_exact'])
        sections = {name: (offset, size) for _, name, offset, size in readelf_sections(path)}
        with open(path, 'rb') as f:
            data = f.read()
        offset, size = sections['.ze_info']
        text = data[offset:offset + size].decode()
        self.assertEqual(image['ze_info'], text)
        info = yaml.load(text, Loader=getattr(yaml, 'CSafeLoader', yaml.SafeLoader))
        misc = {k['name']: k for k in info.get('kernels_misc_info', [])}
        symbols = readelf_symbols(path)
        self.assertEqual([s[0] for s in symbols], [s['name'] for s in image['symbols']])
        self.assertEqual([s[2] for s in symbols], [s['size_B'] for s in image['symbols']])
        relocations = readelf_relocations(path)
        self.assertEqual([k['name'] for k in info['kernels']], [k['name'] for k in image['kernels']])
        for want, kernel in zip(info['kernels'], image['kernels']):
            name = want['name']
            self.check_zebin_kernel(want, misc.get(name), kernel)
            section, = {s[5] for s in symbols if s[0] == name and s[3] == 'FUNC'}
            self.assertEqual(kernel['code']['size_B'],
                             max(s[1] + s[2] for s in symbols if s[3] == 'FUNC' and s[5] == section))
            self.assertEqual((kernel['code']['offset'], kernel['code']['heap_B']),
                             sections['.text.' + name])
            have = [(r['offset'], r['symbol']) for r in kernel['relocations']]
            self.assertEqual([(o, s) for o, _, s in relocations.get('.rel.text.' + name, [])], have)
            self.assertTrue(all(r['target']['in'] != 'unresolved' for r in kernel['relocations']
                                if not r['symbol'].startswith('__INTEL')), name)
        self.assertEqual(d['notes'], [])
        return info
