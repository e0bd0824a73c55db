#!/usr/bin/env python3
"""OpenCL programs recorded: calls in pairs, modules with source, activities with times and sizes, failed builds.

Usage: test_opencl.py ZESCOPE DEVICE PROGRAM DIES; DEVICE is emulated for Intel's own driver, or "pocl"; DIES is a layer in which
no compiler survives -g.
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ZESCOPE, DEVICE, PROGRAM, DIES = os.path.abspath(sys.argv[1]), sys.argv[2], *map(os.path.abspath, sys.argv[3:5])
INTEL = DEVICE != 'pocl'
ICD = '/usr/lib/x86_64-linux-gnu/intel-opencl/libigdrcl.so' if INTEL else '/etc/OpenCL/vendors/pocl.icd'
SIZE_B = 4096 * 4


def run(*words, check=0):
    p = subprocess.run(words, capture_output=True, text=True, timeout=150, check=False, cwd=folder,
                       env=dict(os.environ, OCL_ICD_VENDORS=ICD, POCL_CACHE_DIR=folder))
    if check is not None and p.returncode != check:
        raise AssertionError(f'{words}: exit {p.returncode}\n{p.stdout[-3000:]}{p.stderr[-3000:]}')
    return p


def record(mode, options='-g', check=0, more=()):
    path = os.path.join(folder, f'{mode}{len(os.listdir(folder))}')
    words = [ZESCOPE, 'record', '--no-last', *more, '-o', path, '--', PROGRAM, mode, options]
    if INTEL:
        words = [ZESCOPE, 'run', '--intel', '-d', DEVICE, '--', *words]
    return path, run(*words, check=check)


def report(path):
    return json.loads(run(ZESCOPE, 'report', '--json', path).stdout)


def events(path, kind):
    found = []
    for name in glob.glob(path + '/process/*/modules.jsonl'):
        with open(name, encoding='utf-8') as f:
            found += [e for e in map(json.loads, f) if e['event'] == kind]
    return found


def setUpModule():
    global folder
    folder = tempfile.mkdtemp()


def tearDownModule():
    shutil.rmtree(folder)


class OpenCl(unittest.TestCase):
    def check_calls(self, r):
        self.assertEqual((r['lost_calls'], r['damaged_files']), (0, 0))
        for call in r['calls']:
            self.assertEqual(call['unfinished'], 0, call['name'])
        return {c['name']: c for c in r['calls']}

    def test_all(self):
        path, p = record('all')
        self.assertEqual(p.stdout, 'event references 1\n')
        r = report(path)
        calls = self.check_calls(r)
        self.assertEqual(calls['clEnqueueNDRangeKernel']['count'], 2)
        self.assertEqual(calls['clBuildProgram']['failed'], 0)
        kernels = {k['name']: k for k in r['kernels']}
        self.assertEqual(sorted(kernels), ['add', 'twice'])
        for k in kernels.values():
            self.assertEqual((k['count'], k['timed']), (1, 1), k)
            self.assertEqual((k['groups'], k['group_size']), ([64, 1, 1], [64, 1, 1]))
            self.assertGreater(k['total_ns'], 0)
            self.assertTrue(k['device'].endswith('(OpenCL)'), k['device'])
        copies = {c['direction']: c for c in r['copies']}
        self.assertEqual({d: c['total_B'] for d, c in copies.items()},
                         {'system-to-device': SIZE_B, 'device-to-device': SIZE_B,
                          'device-to-system': SIZE_B, 'fill-device': SIZE_B // 2})
        self.assertEqual({b['name']: b['count'] for b in r['barriers']}, {'barrier': 1, 'map': 1, 'unmap': 1})
        self.assertEqual([(a['kind'], a['size'], a['allocations'], a['frees']) for a in r['allocations']],
                         [('device memory', SIZE_B, 2, 2)])
        self.assertEqual([leak['type'] for leak in r['leaks']], ['context'])
        log = run(ZESCOPE, 'log', path).stdout
        self.assertRegex(log, r'clCreateBuffer\(context = 0x\w+, flags = CL_MEM_READ_WRITE, size = 16384, .*'
                              r'returned = 0x\w+\) = CL_SUCCESS')
        self.assertIn('global_work_size = 4096, local_work_size = 64', log)
        page = os.path.join(folder, 'page.html')
        run(ZESCOPE, 'report', '--html', page, path)
        with open(page, encoding='utf-8') as f:
            self.assertIn('clEnqueueNDRangeKernel', f.read())
        trace = os.path.join(folder, 'trace.json')
        run(ZESCOPE, 'timeline', '-o', trace, path)
        with open(trace, encoding='utf-8') as f:
            names = [e.get('name') for e in json.load(f)['traceEvents']]
        self.assertEqual(names.count('add'), 1)
        self.check_module(path, p.stderr)

    def check_module(self, path, said):
        begin, end = events(path, 'begin'), events(path, 'end')
        self.assertEqual(([e['format'] for e in begin], [e['result'] for e in end]), (['source'], ['0x0']))
        self.assertEqual(begin[0]['app_flags'], '-g')
        self.assertEqual(sorted(end[0]['kernels']), ['add', 'twice'])
        if not INTEL:
            self.assertIn('other_binary', end[0])
            self.assertIn("none for Intel's GPUs", said)
            return
        text = run(ZESCOPE, 'annotate', '-k', 'add', path).stdout
        self.assertIn('t[get_local_id(0)] = a[i];', text)
        after = text.split('t[get_local_id(0)] = a[i];')[1].split('a[i] = t[')[0]
        self.assertRegex(after, r'\bsend')
        self.assertIn('add', run(ZESCOPE, 'inspect', path).stdout)

    def test_failed_build(self):
        path, p = record('fail')
        failed = report(path)['failed_builds']
        self.assertEqual([f['result'] for f in failed], ['CL_BUILD_PROGRAM_FAILURE'])
        if INTEL:
            self.assertIn('nonsense', failed[0]['log'])
        self.assertIn('CL_BUILD_PROGRAM_FAILURE', p.stderr)

    def test_crash(self):
        path, _ = record('crash', check=134)
        self.assertEqual([(k['name'], k['timed']) for k in report(path)['kernels']], [('add', 1)])
        self.assertEqual(len(events(path, 'end')), 1)

    def test_threads(self):
        path, _ = record('threads')
        r = report(path)
        self.check_calls(r)
        self.assertEqual([(k['name'], k['count'], k['timed']) for k in r['kernels']], [('add', 200, 200)])

    def test_nobody_waits(self):
        path, _ = record('exit')
        self.assertEqual([(k['name'], k['timed']) for k in report(path)['kernels']], [('add', 1)])

    def test_builds(self):
        """With a callback, and in two steps."""
        path, _ = record('async')
        self.assertEqual([e['result'] for e in events(path, 'end')], ['0x0'])
        self.assertEqual([k['name'] for k in report(path)['kernels']], ['add'])
        path, _ = record('link')
        end = events(path, 'end')
        self.assertEqual([e['result'] for e in end], ['0x0'] * 3)
        self.assertEqual(['binary' in e or 'other_binary' in e for e in end], [False, False, True])
        self.assertEqual([k['name'] for k in report(path)['kernels']], ['thrice'])

    @unittest.skipUnless(INTEL, "PoCL of Debian 12 has none of Intel's extensions")
    def test_extensions(self):
        path, _ = record('usm')
        r = report(path)
        calls = self.check_calls(r)
        self.assertEqual(calls['clEnqueueMemcpyINTEL']['count'], 1)
        self.assertEqual({c['direction']: c['total_B'] for c in r['copies']},
                         {'fill-device': SIZE_B, 'device-to-host': SIZE_B})

    def test_options(self):
        """Lines are added to the build, calls are told as they happen, nothing is recorded without traces."""
        path, _ = record('all', options='', more=['--debug-info'])
        flags = events(path, 'begin')[0]['flags']
        self.assertEqual(flags.split()[0], '-g')
        words = [ZESCOPE, 'trace', '-i', 'clFinish', '--', PROGRAM, 'all']
        p = run(*([ZESCOPE, 'run', '--intel', '-d', DEVICE, '--'] if INTEL else []), *words)
        self.assertEqual(len(re.findall(r'clFinish\(command_queue = 0x\w+\) = CL_SUCCESS', p.stderr)), 1)

    def instrumented(self, mode, check=0):
        start = [ZESCOPE, 'run', '--intel', '-d', DEVICE, '--'] if INTEL else []
        p = run(*start, ZESCOPE, 'instrument', '-o', os.path.join(folder, 'i-' + mode), '--json', 'opcodes', '--', PROGRAM,
                mode, check=check)
        rows = json.loads(p.stdout[p.stdout.index('{'):])['rows']
        return {(r['kernel'], r['opcode']): (r['executions'], r['lanes']) for r in rows}, p

    @unittest.skipUnless(INTEL, "PoCL's device is no GPU of Intel's")
    def test_instrumented(self):
        """Probes count each launch, whoever creates kernels."""
        one, _ = self.instrumented('exit')
        self.assertEqual({kernel for kernel, _ in one}, {'add'})
        self.assertGreaterEqual(one['add', 'send'][1], 4096)
        many, _ = self.instrumented('threads')
        self.assertEqual(many, {key: (n * 200, lanes * 200) for key, (n, lanes) in one.items()})
        self.assertEqual(self.instrumented('async')[0], one)
        self.assertEqual({kernel for kernel, _ in self.instrumented('link')[0]}, {'thrice'})
        self.assertEqual({kernel for kernel, _ in self.instrumented('usm')[0]}, {'twice'})
        path, p = record('all', more=['--instrument', 'opcodes', '--counts'])
        self.assertEqual(sorted(k['name'] for k in report(path)['kernels']), ['add', 'twice'])
        with open(path + '/instrument/table.json', encoding='utf-8') as f:
            self.assertEqual({r['kernel'] for r in json.load(f)['rows']}, {'add', 'twice'})
        self.assertIn('of no module that was recorded', p.stderr)
        self.assertEqual([f for f in glob.glob(path + '/counts/*') if 'instrument' not in f], [])

    @unittest.skipUnless(INTEL, "PoCL's device is no GPU of Intel's")
    def test_captures_are_refused(self):
        _, p = record('exit', more=['--capture', 'add'])
        self.assertIn("OpenCL's launches are not captured", p.stderr)

    @unittest.skipUnless(INTEL, "PoCL's device is no GPU of Intel's")
    def test_counts(self):
        """Below the driver: as probes count."""
        path, _ = record('exit', more=['--counts'])
        names, executions = set(), 0
        for file in glob.glob(path + '/counts/*'):
            with open(file, 'rb') as f:
                data = f.read()
            names.add(data[48:48 + int.from_bytes(data[44:48], 'little')].decode())
            executions += sum(int.from_bytes(data[at + 8:at + 16], 'little') for at in range(256, len(data), 40))
        self.assertEqual(names, {'add'})
        self.assertEqual(executions, sum(n for n, _ in self.instrumented('exit')[0].values()))

    def test_profile(self):
        """What limits its kernels where they ran on the software GPU; else how to get them there."""
        words = ['--intel', '-d', DEVICE] if INTEL else []
        p = run(ZESCOPE, 'profile', *words, '-o', os.path.join(folder, 'profile'), '--', PROGRAM, 'all', '-g')
        rows = p.stdout.splitlines()
        self.assertTrue(any(line.split()[-1:] == ['add'] for line in rows), p.stdout)
        self.assertNotIn('n/a', [line.split()[0] for line in rows if line.split()[-1:] == ['add']], p.stdout)
        self.assertTrue(os.path.getsize(os.path.join(folder, 'profile.html')) > 10000)
        self.assertEqual('zescope profile --intel' in p.stderr, not INTEL, p.stderr)
        for options in (['--intel', '--system'], ['--intel', '-d', 'foo']):
            self.assertEqual(run(ZESCOPE, 'profile', *options, '--', 'true', check=None).returncode, 2, options)

    @unittest.skipUnless(INTEL, 'PoCL gets no -g')
    def test_compiler_that_dies_of_lines(self):
        """The program is profiled without them, then and from then on."""
        below = {'OPENCL_LAYERS': DIES, 'ZESCOPE_CACHE_DIR': os.path.join(folder, 'dies')}
        os.environ.update(below)
        try:
            for name, first in ('first', True), ('second', False):
                done = run(ZESCOPE, 'profile', '--intel', '-d', DEVICE, '--quick', '-o', name, '--', PROGRAM, 'all', '')
                self.assertEqual('did not survive -g' in done.stderr, first, done.stderr)
                self.assertIn('limited by', done.stdout)
                begin = events(os.path.join(folder, name + '-again' * first), 'begin')
                self.assertTrue(begin and all(e['flags'] == e['app_flags'] for e in begin), begin)
                self.assertIn('has no lines', done.stderr)
        finally:
            for variable in below:
                del os.environ[variable]

    @unittest.skipIf(INTEL, "PoCL's device is no GPU of Intel's")
    def test_not_instrumented(self):
        rows, p = self.instrumented('all')
        self.assertEqual(rows, {})
        self.assertIn('no module was instrumented', p.stderr)

    def test_clinfo(self):
        clinfo = shutil.which('clinfo')
        if not clinfo:
            return
        start = [ZESCOPE, 'run', '--intel', '-d', DEVICE, '--'] if INTEL else []
        plain = run(*start, clinfo).stdout
        path = os.path.join(folder, 'clinfo')
        seen = run(*start, ZESCOPE, 'record', '--no-last', '-o', path, '--', clinfo).stdout
        # Intel's driver leaves the bytes of the LUID as they were in memory
        self.assertEqual(*([line for line in text.splitlines() if 'LUID' not in line] for text in (seen, plain)))
        self.check_calls(report(path))
        said = run(*start, ZESCOPE, 'record', '--no-last', '-o', path + '-l', '--', clinfo, '-l').stderr
        self.assertNotIn('used neither', said)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
