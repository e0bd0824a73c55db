# SPDX-License-Identifier: MIT
"""What somebody types who has never used zescope: each mistake ends in a sentence that helps.

usage: test_first_contact.py ZESCOPE BUILD_FAILS ADD_CL [unittest options]
"""
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

ZESCOPE, BUILD_FAILS, ADD_CL = (os.path.abspath(a) for a in sys.argv[1:4])


class FirstContact(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def run_in(self, *words, status=0):
        env = {k: v for k, v in os.environ.items() if k != 'ZE_ENABLE_ALT_DRIVERS'}
        done = subprocess.run([ZESCOPE, *words], cwd=self.folder, env=env, capture_output=True, timeout=300, check=False)
        self.assertEqual(done.returncode, status, (done.stdout, done.stderr))
        return done.stdout.decode(), done.stderr.decode()

    def put(self, name, text):
        with open(os.path.join(self.folder, name), 'w', encoding='utf-8') as f:
            f.write(text)

    def test_commands_that_are_misspelt(self):
        self.assertIn("did you mean 'record'", self.run_in('recrod', status=2)[1])
        self.assertIn('--help', self.run_in('qwertyuiop', status=2)[1])
        self.put('here.bin', '')
        self.assertIn('zescope annotate', self.run_in('here.bin', status=2)[1])

    def test_applications_that_are_not_there(self):
        for command in (['run'], ['record'], ['trace'], ['record', '-d', 'skl'], ['profile', '-d', 'skl'], ['debug'],
                        ['debug', '--batch', '--eval-command', 'break k.cl:1'], ['instrument', 'opcodes'],
                        ['metrics', '-d', 'skl', '-g', 'ComputeBasic', 'query'], ['metrics', '-d', 'skl', '-g', 'ComputeBasic', 'stream']):
            out, err = self.run_in(*command, '--', '/no/such/program', status=127)
            self.assertEqual(out, '')
            self.assertIn('cannot start /no/such/program', err)
        self.put('not-executable', '#!/bin/sh\n')
        self.run_in('run', '--', './not-executable', status=126)
        self.run_in('debug', './not-executable', status=126)
        self.assertIn('not in PATH', self.run_in('debug', 'no-such-program', status=127)[1])
        self.run_in('debug', '--batch', '--', 'true')

    def test_devices_that_are_none(self):
        for command in ('run', 'record', 'profile', 'debug', 'dap'):
            err = self.run_in(command, '-d', 'pvc:9', *([] if command == 'dap' else ['--', 'true']), status=2)[1]
            self.assertIn('pvc:9', err)
        shutil.copy(ADD_CL, os.path.join(self.folder, 'add.cl'))
        for command in (['annotate'], ['disasm'], ['inspect'], ['compare', 'add.cl']):
            for device in ('pvc:9', 'nosuch', 'dg1,dg2'):
                out, err = self.run_in(*command, '-d', device, 'add.cl', status=2)
                self.assertEqual(out, '')
                self.assertRegex(err, rf'^zescope: --device {device}: no device of this name [^\n]*\n$')
        self.assertIn('pvc:9', self.run_in('asm', '-d', 'pvc:9', 'add.cl', status=2)[1])

    def test_groups_that_no_device_has(self):
        err = self.run_in('record', '-d', 'skl', '--metrics', 'ComputBasic', '--', 'touch', 'started', status=2)[1]
        self.assertIn('did you mean ComputeBasic', err)
        self.assertFalse(os.path.exists(os.path.join(self.folder, 'started')))
        self.run_in('metrics', 'query', '-d', 'skl', '-g', 'ComputeBasic,Foo', '--', 'touch', 'started', status=2)
        self.assertFalse(os.path.exists(os.path.join(self.folder, 'started')))

    def test_sources_in_the_place_of_modules(self):
        shutil.copy(ADD_CL, os.path.join(self.folder, 'add.cl'))
        out, err = self.run_in('annotate', '-d', 'tgllp', 'add.cl')
        self.assertIn('get_global_id', out)
        self.assertIn('send', out)
        self.assertEqual(err, '')
        devices = json.loads(self.run_in('annotate', '-d', 'dg2', '--json', 'add.cl')[0])['devices']
        self.assertEqual([d['device'] if 'device' in d else d['name'] for d in devices], ['dg2'])
        self.put('wrong.cl', 'kernel void f(global int *o) { o[0] = MISSING; }\n')
        out, err = self.run_in('disasm', 'wrong.cl', status=1)
        self.assertEqual(out, '')
        self.assertIn('MISSING', err)
        self.assertNotIn('Command was', err)
        self.put('define.cl', 'kernel void f(global int *o) { o[0] = N; }\n')
        self.run_in('disasm', 'define.cl', status=1)
        self.run_in('disasm', '--build-options', '-DN=4', 'define.cl')

    def test_sources_that_are_not_there(self):
        out, err = self.run_in('annotate', 'none.cl', status=1)
        self.assertEqual((out, err), ('', 'zescope: cannot open none.cl: No such file or directory\n'))

    def test_watching_a_source(self):
        self.put('k.cl', 'kernel void first_name(global int *o) { o[0] = 1; }\n')
        with subprocess.Popen([ZESCOPE, 'annotate', '--watch', 'k.cl'], cwd=self.folder, stdout=subprocess.PIPE) as shown:
            try:
                self.wait_for(shown, b'first_name')
                self.put('k.cl', 'kernel void second_name(global int *o) { o[0] = 22; }\n')
                self.wait_for(shown, b'second_name')
            finally:
                shown.kill()

    def wait_for(self, process, text, limit_s=120):
        seen, end = b'', time.monotonic() + limit_s
        while text not in seen:
            self.assertLess(time.monotonic(), end, seen)
            if select.select([process.stdout], [], [], 1)[0]:
                chunk = os.read(process.stdout.fileno(), 65536)
                self.assertTrue(chunk, seen)
                seen += chunk

    def test_columns_that_there_are_not(self):
        shutil.copy(ADD_CL, os.path.join(self.folder, 'add.cl'))
        for way in ([], ['--by', 'address']):
            out, err = self.run_in('annotate', '--columns', 'foo', *way, 'add.cl', status=2)
            self.assertEqual(out, '')
            self.assertIn('--columns foo: there is no column foo', err)
        self.assertIn('get_global_id', self.run_in('annotate', '--columns', 'none', 'add.cl')[0])

    def test_builds_that_failed(self):
        err = self.run_in('record', '-d', 'skl', '-o', 'rec', '--', BUILD_FAILS)[1]
        self.assertIn('ZE_RESULT_ERROR_MODULE_BUILD_FAILURE', err)
        self.assertIn('-DIT_FAILS', err)
        inspected = self.run_in('inspect', 'rec')[0]
        self.assertIn('a build failed', inspected)
        self.assertIn('a build failed', self.run_in('report', 'rec')[0])
        build, = json.loads(self.run_in('report', '--json', 'rec')[0])['failed_builds']
        self.assertEqual((build['result'], build['flags']), ('ZE_RESULT_ERROR_MODULE_BUILD_FAILURE', '-DIT_FAILS'))
        first = build['log'].splitlines()[0]
        self.assertTrue(first)
        for text in (err, inspected):
            self.assertIn(first, text)

    def test_profile_of_what_fails(self):
        os.mkdir(os.path.join(self.folder, 'zescope-last'))  # so that there is no link to the recording
        err = self.run_in('profile', '-d', 'skl', '-o', 'rec', '--', BUILD_FAILS, status=1)[1]
        self.assertIn('-DIT_FAILS', err)
        self.assertIn('rec: no kernels ran; OpenCL programs need --intel', err)
        err = self.run_in('profile', '-d', 'skl', '-o', 'ended', '--', 'sh', '-c', 'kill -SEGV $$', status=139)[1]
        self.assertIn('ended by a signal (Segmentation fault)', err)

    def test_traces_and_code_are_not_for_terminals(self):
        self.run_in('record', '-d', 'skl', '-o', 'rec', '--', BUILD_FAILS)
        self.put('nop.asm', 'nop\n')
        for words in (['timeline', '-o', '-', 'rec'], ['asm', '-d', 'skl', '-o', '-', 'nop.asm'], ['asm', '-d', 'skl', 'nop.asm']):
            ours, theirs = os.openpty()
            done = subprocess.run([ZESCOPE, *words], cwd=self.folder, stdout=theirs,
                                  stderr=subprocess.PIPE, text=True, timeout=100, check=False)
            os.close(theirs)
            os.close(ours)
            self.assertEqual(done.returncode, 1, words)
            self.assertIn('not for a terminal', done.stderr)
        done = subprocess.run([ZESCOPE, 'asm', '-d', 'skl', '-o', '-', 'nop.asm'], cwd=self.folder, capture_output=True, timeout=100, check=True)
        self.assertEqual(len(done.stdout), 16)

    def test_a_dash_is_standard_output(self):
        self.run_in('record', '-d', 'skl', '-o', 'rec', '--', BUILD_FAILS)
        for words in (['check', '--write-baseline', '-', 'rec'], ['run', '-d', 'skl', '--check', '--check-format', 'json', '--check-output', '-', '--', 'true']):
            self.assertIn('schema', json.loads(self.run_in(*words)[0]))
        self.assertIn('<testsuites', self.run_in('check', '--junit', '-', '--max', 'spills=0', 'rec', status=3)[0])
        self.assertIn('<html', self.run_in('report', '--html', '-', 'rec')[0])
        self.run_in('export', 'rec', '--sqlite', '-', status=2)
        self.run_in('profile', '--html', '-', '--', 'true', status=2)
        self.assertFalse(os.path.exists(os.path.join(self.folder, '-')))

    def test_no_driver_at_all(self):
        shutil.copy(ADD_CL, os.path.join(self.folder, 'add.cl'))
        err = self.run_in('record', '-o', 'rec', '--', BUILD_FAILS, status=2)[1]
        self.assertIn(f'\n  zescope record -d skl -- {BUILD_FAILS}\n', err)
        self.assertIn('doctor', self.run_in('profile', '--system', '-o', 'rec', '--', BUILD_FAILS, status=2)[1])

    def test_values_that_there_are_not(self):
        self.run_in('record', '-d', 'skl', '-o', 'rec', '--', BUILD_FAILS)
        err = self.run_in('check', '--max', 'spils=1', 'rec', status=2)[1]
        self.assertIn('nearest: spills', err)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
