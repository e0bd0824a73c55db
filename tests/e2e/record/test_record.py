# SPDX-License-Identifier: MIT
"""zescope record on Intel's own driver without a GPU: what is kept must be what the program gets.

usage: test_record.py ZESCOPE LINKED OPENED NO_LEVEL_ZERO PLUGIN OTHER_PRELOAD [unittest options]
"""
import glob
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

NAMES = ('ZESCOPE', 'LINKED', 'OPENED', 'NO_LEVEL_ZERO', 'PLUGIN', 'OTHER')
(ZESCOPE, LINKED, OPENED, NO_LEVEL_ZERO, PLUGIN, OTHER) = (os.path.abspath(a) for a in sys.argv[1:7])
WITHOUT_GPU = dict(variable.split('=', 1) for variable in os.environ['ZS_TEST_INTEL'].split())
EMULATED = 'ZESCOPE_DEVICES' in WITHOUT_GPU # today's driver, on a node that is descriptors and files of the program
# no shell: dash loses a signal that comes while it starts a command
ENDS_ON_TERM = '''
import signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
print('ready', flush=True)
signal.sigwait({signal.SIGTERM})
print('got', flush=True)
sys.exit(5)
'''
KERNELS = '''
static int helper(int x) { return x * 3 + 1; }
__kernel void first(__global int *a) { a[get_global_id(0)] = helper(a[get_global_id(0)]); }
__kernel void second(__global int *a) { a[get_global_id(0)] -= 5; }
'''


def read(path):
    with open(path, 'rb') as f:
        return f.read()


class Recording:
    """The files themselves, read without any of zescope's code."""

    def __init__(self, path):
        self.path = path
        with open(os.path.join(path, 'meta.json'), encoding='utf-8') as f:
            self.meta = json.load(f)
        self.processes = {}
        for folder in sorted(glob.glob(os.path.join(path, 'process', '*'))):
            with open(os.path.join(folder, 'process.json'), encoding='utf-8') as f:
                info = json.load(f)
            info['events'] = self.lines(folder, 'modules.jsonl')
            info['notes'] = self.lines(folder, 'notes.jsonl')
            self.processes[os.path.basename(folder)] = info

    @staticmethod
    def lines(folder, name):
        try:
            with open(os.path.join(folder, name), encoding='utf-8') as f:
                return [json.loads(line) for line in f]
        except FileNotFoundError:
            return []

    def events(self, kind):
        return [e for p in self.processes.values() for e in p['events'] if e['event'] == kind]

    def notes(self):
        return [n['text'] for p in self.processes.values() for n in p['notes']]

    def blob(self, ref):
        data = read(os.path.join(self.path, 'modules', ref['blob']))
        assert hashlib.sha256(data).hexdigest() == ref['blob'].split('.')[0]
        assert len(data) == ref['size_B']
        return data


class RecordTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.top = tempfile.mkdtemp(prefix='zs e2e:record-')  # a blank and a colon: must do no harm
        cls.spirv = os.path.join(cls.top, 'k.spv')
        source = os.path.join(cls.top, 'k.cl')
        with open(source, 'w', encoding='utf-8') as f:
            f.write(KERNELS)
        # without blanks for ocloc, which splits its options at them
        with tempfile.TemporaryDirectory(prefix='zs-ocloc-') as folder:
            shutil.copy(source, folder)
            subprocess.run(['ocloc', 'compile', '-q', '-file', 'k.cl', '-device', 'skl', '-options', '-g',
                            '-output', 'k', '-output_no_suffix'], cwd=folder, check=True,
                           stdout=subprocess.DEVNULL, timeout=120)
            shutil.copy(os.path.join(folder, 'k.spv'), cls.spirv)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.top, ignore_errors=True)

    def setUp(self):
        self.work = tempfile.mkdtemp(dir=self.top)
        self.got = os.path.join(self.work, 'got')
        os.mkdir(self.got)
        self.out = os.path.join(self.work, 'recording')

    def tearDown(self):
        shutil.rmtree(self.work, ignore_errors=True)

    def run_in(self, argv, env=None, **more):
        full = {k: v for k, v in os.environ.items() if not k.startswith('ZESCOPE_')}
        full.update(WITHOUT_GPU)
        full.update(env or {})
        return subprocess.run(argv, cwd=self.work, env=full, capture_output=True, timeout=120,
                              check=False, **more)

    def record(self, app, options=(), env=None, out=None, **more):
        out = out or self.out
        return self.run_in([ZESCOPE, 'record', '-o', out, *options, '--', *app], env, **more)

    def linked(self, mode, flags='', *more):
        return [LINKED, mode, self.spirv, flags, self.got, *more]

    def check_same(self, recording, names):
        """Each binary and debug info that the program wrote is in the recording, under its name."""
        binaries = sorted(recording.blob(e['binary']) for e in recording.events('end'))
        debug = sorted(recording.blob(e['debug']) for e in recording.events('end') if 'debug' in e)
        self.assertEqual(binaries, sorted(read(os.path.join(self.got, n + '.bin')) for n in names))
        written = [os.path.join(self.got, n + '.dbg') for n in names]
        self.assertEqual(debug, sorted(read(p) for p in written if os.path.exists(p)))
        for event in recording.events('begin'):
            self.assertEqual([recording.blob(i['input']) for i in event['inputs']], [read(self.spirv)])
        self.assertEqual(recording.notes(), [])

    def test_patch_tokens(self):
        done = self.record(self.linked('plain', '-g'))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, b"app's own output\n")
        self.assertIn(b'1 module (2 kernels)', done.stderr)
        r = Recording(self.out)
        self.check_same(r, ['plain'])
        self.assertEqual(len(r.events('end')), 1)
        end, begin = r.events('end')[0], r.events('begin')[0]
        self.assertEqual(end['kernels'], ['first', 'second'])
        self.assertIn('debug', end)
        if not EMULATED: # zebins have their own test
            self.assertIn(b'CTNI', r.blob(end['binary']))
        self.assertEqual(begin['flags'], '-g')
        self.assertTrue(begin['inputs'][0]['debug_info'])
        self.assertEqual(begin['device']['vendor_id'], 0x8086)
        self.assertGreater(begin['device']['driver_version'], 0)
        self.assertTrue(r.meta['finished'])
        self.assertEqual(r.meta['exit_status'], 0)

    def test_zebin(self):
        done = self.record(self.linked('plain', '-g'), env={'IGC_EnableZEBinary': '1'})
        self.assertEqual(done.returncode, 0, done.stderr)
        r = Recording(self.out)
        self.check_same(r, ['plain'])
        self.assertIn(b'.ze_info', r.blob(r.events('end')[0]['binary']))

    def test_recording_changes_nothing(self):
        """The program gets the same bytes with and without us, in both formats."""
        for zebin in ('0', '1'):
            with self.subTest(zebin=zebin):
                env = {'IGC_EnableZEBinary': zebin}
                self.assertEqual(self.run_in(self.linked('plain', '-g'), env).returncode, 0)
                alone = read(os.path.join(self.got, 'plain.bin'))
                self.assertEqual(self.record(self.linked('plain', '-g'), env=env).returncode, 0)
                self.assertEqual(read(os.path.join(self.got, 'plain.bin')), alone)

    def test_own_calls_are_not_recorded(self):
        """Captures ask the driver themselves: that is not among the application's calls."""
        done = self.record(self.linked('plain', '-g'))
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(self.run_in([ZESCOPE, 'report', '--format', 'json', self.out]).stdout)
        calls = {c['name']: c['count'] for c in report['calls']}
        self.assertEqual(calls['zeModuleCreate'], 1)
        self.assertEqual(calls['zeModuleGetNativeBinary'], 2)  # the program's: size, then bytes
        self.assertEqual(calls['zetModuleGetDebugInfo'], 2)
        for name in ('zeModuleGetKernelNames', 'zeDeviceGetProperties', 'zeDriverGetProperties',
                     'zeModuleBuildLogDestroy'):
            self.assertNotIn(name, calls)

    def test_debug_info_is_added(self):
        done = self.record(self.linked('plain', '-ze-opt-disable'), ['--debug-info'])
        self.assertEqual(done.returncode, 0, done.stderr)
        r = Recording(self.out)
        self.check_same(r, ['plain'])
        begin = r.events('begin')[0]
        self.assertEqual(begin['app_flags'], '-ze-opt-disable')
        self.assertEqual(begin['flags'], '-ze-opt-disable -g')
        self.assertTrue(r.meta['debug_info'])
        # the compiler saw it: the binary states its options
        self.assertIn(b'-g', read(os.path.join(self.got, 'plain.bin')))

    def test_compiler_that_did_not_come_back(self):
        """With -g before: the program is built without. A file in the cache stands while a build with it is under way."""
        with tempfile.TemporaryDirectory() as cache:
            gone = subprocess.Popen(['true'])
            gone.wait()
            left = os.path.join(cache, 'without-lines', hashlib.sha256(read(self.spirv)).hexdigest())
            for pid, flags in (None, '-ze-opt-disable -g'), (gone.pid, '-ze-opt-disable'), (os.getpid(), '-ze-opt-disable -g'):
                if pid:
                    with open(left, 'w', encoding='utf-8') as f:
                        f.write(f'{pid}\n')
                shutil.rmtree(self.out, ignore_errors=True)
                done = self.record(self.linked('plain', '-ze-opt-disable'), ['--debug-info'], env={'ZESCOPE_CACHE_DIR': cache})
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(Recording(self.out).events('begin')[0]['flags'], flags)
                self.assertEqual(b'has no lines' in done.stderr, pid == gone.pid, done.stderr)
                self.assertEqual(os.listdir(os.path.dirname(left)), [os.path.basename(left)] if pid == gone.pid else [])

    def test_sources_are_copied(self):
        """Those that the debug info names, under the names it has for them, in both formats."""
        folder = tempfile.mkdtemp(prefix='zs-sources-')
        try:
            for name, text in (('part.h', 'static int part(int x) { return x * 7; }\n'),
                               ('s.cl', '#include "part.h"\n__kernel void k(__global int *a)\n'
                                        '{ a[get_global_id(0)] = part(a[0]); }\n')):
                with open(os.path.join(folder, name), 'w', encoding='utf-8') as f:
                    f.write(text)
            subprocess.run(['ocloc', 'compile', '-q', '-file', 's.cl', '-device', 'skl', '-options', '-g',
                            '-output', 's', '-output_no_suffix'], cwd=folder, check=True,
                           stdout=subprocess.DEVNULL, timeout=120)
            for zebin in ('0', '1'):
                out = self.out + zebin
                app = self.linked('plain')
                app[2] = os.path.join(folder, 's.spv')
                done = self.record(app, ['--debug-info'], env={'IGC_EnableZEBinary': zebin}, out=out)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn(b'2 source files', done.stderr)
                with open(os.path.join(out, 'sources.json'), encoding='utf-8') as f:
                    sources = json.load(f)['sources']
                self.assertEqual({s['path'] for s in sources},
                                 {os.path.join(folder, n) for n in ('s.cl', 'part.h')})
                for source in sources:
                    self.assertEqual(read(os.path.join(out, 'sources', source['blob'])),
                                     read(source['path']))
        finally:
            shutil.rmtree(folder)

    def test_threads(self):
        done = self.record(self.linked('threads', '-g'))
        self.assertEqual(done.returncode, 0, done.stderr)
        r = Recording(self.out)
        self.check_same(r, [f'thread{t}-{i}' for t in range(8) for i in range(2)])
        self.assertEqual(len({e['tid'] for e in r.events('begin')}), 8)
        self.assertEqual(len(glob.glob(os.path.join(self.out, 'modules', '*.bin'))), 1)

    def test_fork(self):
        for mode in ('fork', 'early-fork'):
            with self.subTest(mode=mode):
                out = self.out + mode
                done = self.record(self.linked(mode, '-g'), out=out)
                self.assertEqual(done.returncode, 0, done.stderr)
                r = Recording(out)
                self.check_same(r, ['parent', 'child'])
                self.assertEqual(len(r.processes), 2)

    def test_exec(self):
        done = self.record(self.linked('exec', '-g', *self.linked('plain')))
        self.assertEqual(done.returncode, 0, done.stderr)
        r = Recording(self.out)
        self.assertEqual(len(r.processes), 2)
        self.assertEqual(len({p['pid'] for p in r.processes.values()}), 1)
        self.assertEqual(len(r.events('end')), 2)

    def test_shell_and_children(self):
        script = '"$@" & "$@"; wait'
        done = self.record(['sh', '-c', script, 'sh', *self.linked('plain')])
        self.assertEqual(done.returncode, 0, done.stderr)
        r = Recording(self.out)
        self.assertEqual(len(r.events('end')), 2)
        self.assertEqual(len({p['pid'] for p in r.processes.values()}), 2)

    def test_death_by_signal(self):
        for mode, number in (('segv', signal.SIGSEGV), ('kill', signal.SIGKILL)):
            with self.subTest(mode=mode):
                out = self.out + mode
                done = self.record(self.linked(mode, '-g'), out=out)
                self.assertEqual(done.returncode, 128 + number)
                r = Recording(out)
                self.check_same(r, [mode])
                self.assertEqual(r.meta['exit_status'], 128 + number)

    def test_exit_status(self):
        self.assertEqual(self.record(self.linked('exit', '', '23')).returncode, 23)

    def test_zescope_itself_is_ended(self):
        """SIGTERM goes to the application; the recording is finished."""
        full = dict(os.environ, **WITHOUT_GPU)
        # often: a signal right at the start must not be lost
        for i in range(10):
            self.end_once(f'{self.out}{i}', full)

    def end_once(self, out, full):
        with subprocess.Popen([ZESCOPE, 'record', '-o', out, '--', sys.executable, '-c', ENDS_ON_TERM],
                              cwd=self.work, env=full, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as p:
            self.assertEqual(p.stdout.readline(), b'ready\n')
            p.terminate()
            self.assertEqual(p.stdout.read(), b'got\n')
            self.assertEqual(p.wait(timeout=240), 5)
        self.assertTrue(Recording(out).meta['finished'])

    def test_zescope_itself_is_killed(self):
        """What the application captured by then can be read."""
        full = dict(os.environ, **WITHOUT_GPU)
        done_file = os.path.join(self.work, 'done')
        with subprocess.Popen([ZESCOPE, 'record', '-o', self.out, '--', 'sh', '-c',
                               '"$@"; echo >' + "'" + done_file + "'" + '; exec sleep 1000', 'sh',
                               *self.linked('plain', '-g')], cwd=self.work, env=full,
                              stdout=subprocess.DEVNULL, start_new_session=True) as p:
            while not os.path.exists(done_file) and p.poll() is None:
                time.sleep(0.05)
            os.killpg(p.pid, signal.SIGKILL)
            p.wait()
        r = Recording(self.out)
        self.assertFalse(r.meta['finished'])
        self.check_same(r, ['plain'])

    def test_users_of_dlopen(self):
        loader = 'libze_loader.so.1'
        path = subprocess.run(['sh', '-c', 'ldconfig -p 2>/dev/null || /sbin/ldconfig -p'],
                              capture_output=True, text=True, check=True).stdout
        full_path = [l.split('=>')[1].strip() for l in path.splitlines() if loader in l][0]
        for mode, library in (('dlopen', loader), ('dlopen', full_path), ('deepbind', full_path),
                              ('plugin', PLUGIN), ('plugin-deepbind', PLUGIN)):
            with self.subTest(mode=mode, library=library):
                out = f'{self.out}-{mode}-{len(library)}'
                done = self.record([OPENED, mode, self.spirv, '-g', self.got, library], out=out)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.check_same(Recording(out), [mode])

    def test_calls_without_modules_are_told(self):
        done = self.record([OPENED, 'deepbind-init', self.spirv, '-g', self.got, 'libze_loader.so.1'])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b'zeContextCreate', done.stderr)
        self.assertNotIn(b'nothing was recorded', done.stderr)

    def test_existing_preload_is_kept(self):
        says = os.path.join(self.work, 'says')
        folder = tempfile.mkdtemp(prefix='zs-preload-')
        try:
            other = shutil.copy(OTHER, folder)
            done = self.record(self.linked('plain', '-g'),
                               env={'LD_PRELOAD': ':'.join([other] + WITHOUT_GPU.get('LD_PRELOAD', '').split()),
                                    'OTHER_PRELOAD_SAYS': says})
        finally:
            shutil.rmtree(folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(read(says), b'here\n')
        self.check_same(Recording(self.out), ['plain'])

    def test_program_without_level_zero(self):
        done = self.record([NO_LEVEL_ZERO])
        self.assertEqual((done.returncode, done.stdout), (7, b'out\n'))
        self.assertTrue(done.stderr.startswith(b'err\n'))
        self.assertIn(b'used neither Level Zero nor OpenCL', done.stderr)
        self.assertEqual(Recording(self.out).processes, {})

    def test_dlopen_sees_its_real_caller(self):
        folder = os.path.join(os.path.dirname(NO_LEVEL_ZERO), 'found-by-runpath')
        os.makedirs(folder, exist_ok=True)
        shutil.copy(OTHER, os.path.join(folder, 'libonly_by_runpath.so'))
        try:
            done = self.record([NO_LEVEL_ZERO, 'libonly_by_runpath.so'])
        finally:
            shutil.rmtree(folder)
        self.assertEqual((done.returncode, done.stdout), (7, b'out\n'), done.stderr)

    def test_failed_build(self):
        with open(os.path.join(self.work, 'broken.spv'), 'wb') as f:
            f.write(read(self.spirv)[:20] + b'this is no SPIR-V at all ' * 8)
        app = self.linked('log')
        app[2] = 'broken.spv'
        done = self.record(app)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b'1 build failed', done.stderr)
        r = Recording(self.out)
        end = r.events('end')[0]
        self.assertNotEqual(end['result'], '0x0')
        self.assertNotIn('binary', end)
        log = os.path.join(self.got, 'logged.log')
        if os.path.exists(log) and len(read(log)) > 1:
            self.assertEqual(end['log'].encode(), read(log).rstrip(b'\0'))

    if not EMULATED:
        def test_closed_descriptors(self):
            """A program that closes all descriptors before it builds (as daemons do)."""
            done = self.record(self.linked('closeall', '-g'))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.check_same(Recording(self.out), ['closeall'])

        def test_small_file_size_limit(self):
            """Files may not grow: the captures fail, the program does not. (The signal is ignored here,
            since the driver writes files too; the unit tests have it at its default.)"""
            done = self.record(['sh', '-c', 'trap "" XFSZ; ulimit -f 0; exec "$@"', 'sh',
                                *self.linked('exit', '-g', '0')])
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(b'lost:', done.stderr)
            self.assertIn(b'File too large', done.stderr)

    def test_full_disk(self):
        disk = os.path.join(tempfile.mkdtemp(prefix='zs-disk-'))
        try:
            mounted = os.geteuid() == 0 and subprocess.run(
                ['mount', '-t', 'tmpfs', '-o', 'size=64k', 'none', disk], capture_output=True,
                check=False).returncode == 0
            if not mounted:
                self.skipTest('cannot mount a small file system')
            try:
                full = os.path.join(disk, 'full')
                done = self.record(['sh', '-c', f'head -c 100000 /dev/zero >{full}; exec "$@"', 'sh',
                                    *self.linked('plain', '-g')], out=os.path.join(disk, 'r'))
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(done.stdout, b"app's own output\n")
                self.assertTrue(os.path.exists(os.path.join(self.got, 'plain.bin')))
                self.assertIn(b'lost:', done.stderr)
                self.assertIn(b'No space left', done.stderr)
            finally:
                subprocess.run(['umount', '-l', disk], check=False)
        finally:
            shutil.rmtree(disk, ignore_errors=True)

    def test_recording_disappears(self):
        done = self.record(['sh', '-c', f"rm -rf '{self.out}'/*; exec \"$@\"", 'sh',
                            *self.linked('plain', '-g')])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, b"app's own output\n")

    def test_refusals(self):
        os.mkdir(self.out)
        with open(os.path.join(self.out, 'mine'), 'w', encoding='utf-8') as f:
            f.write('x')
        done = self.record(['true'])
        self.assertEqual(done.returncode, 1)
        self.assertIn(b'is not a recording', done.stderr)
        self.assertEqual(os.listdir(self.out), ['mine'])
        done = self.record(['/no/such/program'], out=self.out + '2')
        self.assertEqual(done.returncode, 127)
        self.assertIn(b'cannot start', done.stderr)
        self.assertFalse(os.path.exists(self.out + '2'))
        self.assertEqual(self.run_in([ZESCOPE, 'record', '-o', 'x']).returncode, 2)
        done = self.record(['true'], env={'ZESCOPE_COLLECT': '/no/such/library.so'}, out=self.out + '3')
        self.assertEqual(done.returncode, 1)
        self.assertIn(b'ZESCOPE_COLLECT', done.stderr)

    def test_quiet_and_default_name(self):
        done = self.run_in([ZESCOPE, 'record', '-q', '--', 'true'])
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b'', b''))
        self.assertEqual(len(glob.glob(os.path.join(self.work, 'zescope-true-*', 'meta.json'))), 1)


if __name__ == '__main__':
    unittest.main(argv=[sys.argv[0]] + sys.argv[7:])
