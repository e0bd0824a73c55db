#!/usr/bin/env python3
"""zescope run: exit statuses, --check and its report, time limits, devices, messages."""
import os
import subprocess
import sys
import tempfile
import unittest

ZESCOPE, MISBEHAVE = sys.argv[1:3]


def run(*options, app, check_env=None):
    env = {k: v for k, v in os.environ.items() if not k.startswith('ZESCOPE')}
    env['ZESCOPE_DRIVER'] = os.environ['ZESCOPE_DRIVER']
    env.update(check_env or {})
    return subprocess.run([ZESCOPE, 'run', *options, '--', *app], env=env, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)


class Run(unittest.TestCase):
    def test_status_passes_through(self):
        self.assertEqual(run(app=['sh', '-c', 'exit 3']).returncode, 3)
        self.assertEqual(run('--check', app=['sh', '-c', 'exit 3']).returncode, 3)
        self.assertEqual(run('--check', app=['sh', '-c', 'kill -9 $$']).returncode, 137)

    def test_no_app(self):
        self.assertEqual(run(app=[]).returncode, 2)
        self.assertEqual(run(app=['/no/such/program']).returncode, 127)
        self.assertEqual(run('--check', app=['/no/such/program']).returncode, 127)

    def test_limit_of_files(self):
        """What zescope cannot write is an error, not its end; the application has the signal as it was."""
        with tempfile.TemporaryDirectory() as folder:
            r = subprocess.run(['sh', '-c', 'ulimit -f 0; exec "$@"', 'sh', ZESCOPE, 'record', '-o', os.path.join(folder, 'r'), '--',
                                'true'], text=True, capture_output=True, timeout=240)
            self.assertEqual(r.returncode, 1, r.stderr)
            self.assertIn('File too large', r.stderr)
        for before, ignored in ('', 0), ('trap "" XFSZ; ', 1):
            r = subprocess.run(['sh', '-c', before + 'exec "$@"', 'sh', ZESCOPE, 'run', '--', 'grep', 'SigIgn', '/proc/self/status'],
                               text=True, capture_output=True, timeout=240)
            self.assertEqual(int(r.stdout.split()[1], 16) >> 24 & 1, ignored)

    def test_good_program(self):
        for what in 'fine', 'written':
            r = run('--check', app=[MISBEHAVE, what])
            self.assertEqual((r.returncode, r.stderr), (0, ''))

    def test_settings_that_mean_nothing(self):
        for env, says in (({'ZESCOPE_LOG': 'bogus'}, 'off, error, warn, info, debug'),
                          ({'ZESCOPE_LOG': 'warn:/no/such/folder/x'}, 'No such file')):
            r = run(app=[MISBEHAVE, 'fine'], check_env=env)
            self.assertEqual((r.returncode, len(r.stderr.splitlines())), (0, 1), r.stderr)
            self.assertIn(says, r.stderr)
        env = dict(os.environ, ZE_ENABLE_ALT_DRIVERS=os.environ['ZESCOPE_DRIVER'], ZESCOPE_CHECK='7')
        r = subprocess.run([MISBEHAVE, 'fine'], env=env, text=True, capture_output=True, timeout=120)
        self.assertEqual(r.returncode, 0)
        self.assertIn('0 or 1', r.stderr)
        for devices in ('skl,,skl', 'skl,', ','):
            r = run(app=[MISBEHAVE, 'fine'], check_env={'ZESCOPE_DEVICES': devices})
            self.assertNotEqual(r.returncode, 0)
            self.assertIn(f'"{devices}" has an empty name', r.stderr)

    def test_bounds(self):
        r = run(app=[MISBEHAVE, 'bounds'])
        self.assertEqual(r.returncode, 7)
        self.assertIn('out_of_bounds', r.stderr)
        self.assertIn('kernels.cl:', r.stderr)
        r = run('--check', app=[MISBEHAVE, 'bounds'])
        self.assertEqual(r.returncode, 99)
        self.assertIn('1 launch failed', r.stderr)
        self.assertIn('out_of_bounds', r.stderr)
        self.assertIn('zeMemAllocDevice', r.stderr)
        self.assertRegex(r.stderr, r'was made by:\n    #\d allocate\S* at .*misbehave.c:\d+ \(')
        self.assertRegex(r.stderr, r'    #\d main at .*misbehave.c:\d+ \(')
        # the C library's, in a gap between pieces of the program's code: of no line of the program
        self.assertRegex(r.stderr, r'    #\d _start ')
        self.assertNotRegex(r.stderr, r'_start at misbehave')
        with tempfile.TemporaryDirectory() as folder:  # of symbols alone
            plain = os.path.join(folder, 'plain')
            subprocess.run(['strip', '-g', '-o', plain, MISBEHAVE], check=True, timeout=240)
            r = run('--check', app=[plain, 'bounds'])
            self.assertEqual(r.returncode, 99)
            self.assertRegex(r.stderr, r'    #\d main in plain \(/')
            self.assertRegex(r.stderr, r'    #\d _start in plain \(/')
            self.assertNotRegex(r.stderr, r'#\d+ 0x')

    def test_report_is_kept_where_told(self):
        with tempfile.TemporaryDirectory() as folder:
            r = run('--check', app=[MISBEHAVE, 'bounds'], check_env={'TMPDIR': folder})
            self.assertEqual((r.returncode, os.listdir(folder)), (99, []))
            nowhere = os.path.join(folder, 'nowhere')
            r = run('--check', app=[MISBEHAVE, 'bounds'], check_env={'TMPDIR': nowhere})
            self.assertEqual(r.returncode, 1)
            self.assertIn(nowhere, r.stderr)

    def test_hardware_bounds(self):
        """What the hardware does: beyond a surface writes are dropped."""
        r = run(app=[MISBEHAVE, 'bounds'], check_env={'ZESCOPE_CHECK': '0'})
        self.assertEqual((r.returncode, r.stderr), (0, ''))

    def test_unwritten(self):
        self.assertEqual(run(app=[MISBEHAVE, 'unwritten']).returncode, 0)
        r = run('--check', app=[MISBEHAVE, 'unwritten'])
        self.assertEqual(r.returncode, 99)
        self.assertIn('never written', r.stderr)

    def test_compiler_is_silent(self):
        """The compiler prints the command that failed: not to the application's stdout."""
        r = run(app=[MISBEHAVE, 'unbuildable'])
        self.assertEqual((r.returncode, r.stdout), (0, ''))

    def test_bad_time(self):
        for time in 'soon', '-5', '0', '5x', '':
            r = run('--kernel-timeout=' + time, app=[MISBEHAVE, 'fine'])
            self.assertEqual(r.returncode, 2, time)
            self.assertIn('--kernel-timeout', r.stderr)

    def test_time_limit(self):
        r = run('--kernel-timeout', '500ms', app=[MISBEHAVE, 'forever'])
        self.assertEqual(r.returncode, 7)
        self.assertIn('time limit', r.stderr)
        self.assertRegex(r.stderr, r'at instruction 0x[0-9a-f]+, .*kernels.cl:\d+')

    def test_devices(self):
        self.assertEqual(run('-d', 'skl,skl', app=[MISBEHAVE, 'written']).returncode, 0)
        with tempfile.TemporaryDirectory() as folder:
            ran = os.path.join(folder, 'ran')
            for devices, says in (('unheard', 'unheard is not known'),
                                  ('skl,bdw', 'bdw'), ('skl:0', 'number of tiles'), ('skl,', 'empty name')):
                for options, env in ((['-d', devices], {}), (['--check', '-d', devices], {}),
                                     ([], {'ZESCOPE_DEVICES': devices})):
                    r = run(*options, app=['touch', ran], check_env=env)
                    self.assertEqual((r.returncode, r.stdout), (2, ''), devices)
                    self.assertIn(says, r.stderr)
                    self.assertRegex(r.stderr, r'the devices are:.* skl .*kbl.*\bglk\b')
                    self.assertFalse(os.path.exists(ran))
            self.assertEqual(run('-d', 'kbl:2', app=['touch', ran]).returncode, 0)
            self.assertTrue(os.path.exists(ran))
        self.assertEqual(run('-d', 'skl-gt4,bxt:2', app=[MISBEHAVE, 'written']).returncode, 0)

    def test_log_file(self):
        with tempfile.TemporaryDirectory() as folder:
            log = os.path.join(folder, 'log-%p')
            r = run(app=[MISBEHAVE, 'bounds'], check_env={'ZESCOPE_LOG': 'debug:' + log})
            self.assertEqual((r.returncode, r.stderr), (7, ''))
            names = os.listdir(folder)
            self.assertEqual(len(names), 1)
            with open(os.path.join(folder, names[0]), encoding='utf-8') as f:
                text = f.read()
            self.assertIn('error: ', text)
            self.assertIn('debug: ', text)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
