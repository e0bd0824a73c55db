# SPDX-License-Identifier: MIT
"""zescope doctor: sound drivers, broken ones, and what it says of them.

usage: test_doctor.py ZESCOPE CRASHING_DRIVER HANGING_DRIVER FAILING_DRIVER [unittest options]
"""
import json
import os
import subprocess
import sys
import unittest

ZESCOPE, CRASH, HANG, FAIL = (os.path.abspath(a) for a in sys.argv[1:5])
# the sanitizers' runtimes refuse the way in which Intel's driver opens its compiler
with open(ZESCOPE, 'rb') as binary:
    SANITIZED = b'__asan_init' in binary.read()


def doctor(*options, **env):
    full = {k: v for k, v in os.environ.items() if not k.startswith(('ZE', 'NEO'))}
    full.update(env)
    return subprocess.run([ZESCOPE, 'doctor', *options], env=full, capture_output=True, text=True,
                          timeout=240, check=False)


class DoctorTest(unittest.TestCase):
    def checks(self, *options, **env):
        done = doctor('--json', *options, **env)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual(report['schema'], 'zescope.doctor/1')
        failed = any(c['status'] == 'fail' for c in report['checks'])
        self.assertEqual(done.returncode, 1 if failed else 0)
        for check in report['checks']:
            self.assertIn(check['status'], ('ok', 'warn', 'fail', 'info'))
            if check['status'] == 'fail':
                self.assertTrue(check.get('advice'), check)
        return {c['name']: c for c in report['checks']}

    def test_what_is_installed_is_found(self):
        checks = self.checks('--timeout', '200')
        for name in ('loader', 'tracing layer', 'collector', 'ocloc', 'libocloc'):
            self.assertEqual(checks[name]['status'], 'ok', checks[name])
            self.assertTrue(os.path.exists(checks[name]['path']), checks[name])
        self.assertRegex(checks['ocloc']['value'], r'^\d+\.\d+')
        self.assertEqual(checks['inspect, disasm, annotate']['status'], 'ok')
        compiled = checks['kernels compiled for this machine']
        self.assertIn(compiled['status'], ('ok', 'warn'))
        self.assertEqual(compiled['value'] == 'yes', compiled['status'] == 'ok')
        off = self.checks('--timeout', '200', ZESCOPE_EU='interpreter')['kernels compiled for this machine']
        self.assertEqual((off['status'], off['value']), ('warn', 'ZESCOPE_EU=interpreter'))
        if not os.path.exists('/dev/dri') and not SANITIZED:
            self.assertEqual(checks['record']['status'], 'ok')
            # today's wants a GPU
            later = os.path.exists('/usr/lib/x86_64-linux-gnu/libigdfcl.so.2')
            self.assertEqual(checks["Intel's driver without a GPU"]['status'], 'warn' if later else 'ok')
            self.assertIn('zeInit' if later else 'API 1.', checks["Intel's driver without a GPU"]['value'])

    def test_time_limits_that_mean_nothing(self):
        for seconds in '0', '3601':
            done = doctor('--timeout', seconds)
            self.assertEqual((done.returncode, done.stdout), (2, ''))
            self.assertIn('--timeout: 1 to 3600', done.stderr)

    def test_broken_drivers(self):
        no_such = '/no/such.so'
        for seconds, drivers, expected in (
                ('200', (CRASH, FAIL, no_such),
                 {CRASH: 'crashed', FAIL: 'zeInit gives 0x', no_such: 'No such file'}),
                # on a busy machine others may not answer in time either
                ('2', (CRASH, HANG, FAIL, no_such), {HANG: 'did not answer'})):
            checks = self.checks('--timeout', seconds, ZE_ENABLE_ALT_DRIVERS=','.join(drivers))
            for driver, says in expected.items():
                self.assertEqual(checks[driver]['status'], 'fail')
                self.assertIn(says, checks[driver]['value'])
            self.assertEqual(checks['ZE_ENABLE_ALT_DRIVERS']['status'], 'info')

    def test_text(self):
        done = doctor('--color', 'never', LD_LIBRARY_PATH='/x\033[31mred')
        for group in ('level zero', 'drivers', 'compiler', 'machine', 'environment',
                      'what works here'):
            self.assertIn(group + '\n', done.stdout)
        self.assertNotIn('\033', done.stdout)
        self.assertIn('\033[', doctor('--color', 'always').stdout)

    def test_missing_parts(self):
        checks = self.checks(ZESCOPE_COLLECT='/no/such/file', PATH='/nowhere')
        self.assertEqual(checks['collector']['status'], 'fail')
        self.assertEqual(checks['record']['status'], 'fail')
        self.assertEqual(checks['ocloc']['status'], 'warn')

    def test_no_scratch_folders_are_left(self):
        before = set(n for n in os.listdir('/tmp') if n.startswith('zescope-doctor-'))
        doctor()
        after = set(n for n in os.listdir('/tmp') if n.startswith('zescope-doctor-'))
        self.assertEqual(after - before, set())


if __name__ == '__main__':
    unittest.main(argv=[sys.argv[0]] + sys.argv[5:])
