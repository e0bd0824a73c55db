#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""zescope run --check=race,sync: both lines of what is planted, nothing where nothing is; formats and suppressions."""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

ZESCOPE, RACES, BINARY, DEVICE, SOURCE, BETWEEN = sys.argv[1:7]

KINDS = 'memory, race, sync, swsb, init, undefined, leak, api'


def run(kernel, *options, groups=4, items=64, check='--check=race,sync', app=None, how=(), eu='auto'):
    kept = {k: v for k, v in os.environ.items() if not k.startswith('ZESCOPE') or k == 'ZESCOPE_DRIVER'}
    return subprocess.run([ZESCOPE, 'run', '-d', DEVICE, check, *options, '--', *(app or (RACES, BINARY, kernel, str(groups), str(items), *how))],
                          env=dict(kept, ZESCOPE_EU=eu), text=True, capture_output=True, timeout=240)


def lines():
    """Numbers of the lines that are marked, by kernel and mark."""
    found, kernel = {}, None
    with open(SOURCE) as f:
        for number, line in enumerate(f, 1):
            named = re.search(r'void (\w+)\(ARGS\)', line)
            kernel = named[1] if named else kernel
            for mark in re.findall(r'first|second|barrier$', line.split('// ')[1] if '// ' in line else ''):
                found.setdefault((kernel, mark), []).append(number)
    return found


LINES = lines()


class Races(unittest.TestCase):
    def findings(self, kernel, **more):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'found.json')
            r = run(kernel, '--check-format', 'json', '--check-output', path, **more)
            with open(path) as f:
                found = json.load(f)
        self.assertEqual(found['schema'], 'zescope.check/1')
        errors = [f for f in found['findings'] if f['level'] == 'error']
        self.assertEqual(r.returncode, 99 if errors else 0, (kernel, r.stderr, found))
        return found['findings'], errors

    def test_races(self):
        for kernel, groups in (('global_groups', 4), ('global_neighbour', 4), ('local_no_barrier', 1), ('local_reuse', 1),
                               ('one_send', 1), ('atomic_plain', 4), ('late_zero', 4), ('local_atomic_plain', 1), ('chars', 1), ('other_fence', 1),
                               ('merged', 2), ('merged_shuffled', 2), ('merged_local', 1), ('merged_one', 4)):
            with self.subTest(kernel=kernel):
                _, errors = self.findings(kernel, groups=groups)
                self.assertTrue(errors)
                want = {LINES[kernel, 'first'][0], LINES[kernel, 'second'][0]}
                sites = [{int(s['source'].rsplit(':', 1)[1]) for s in f['sites']} for f in errors if f['kind'] == 'race']
                self.assertIn(want, sites, errors)
                self.assertTrue(all(s <= want for s in sites), errors)

    def test_compiled(self):
        """Compiled code's reads are looked at later: what is told is the interpreter's, word for word, where one worker runs all groups."""
        cores = os.sched_getaffinity(0)
        self.addCleanup(os.sched_setaffinity, 0, cores)
        os.sched_setaffinity(0, {min(cores)})
        for kernel, groups, how in (('read_by_all', 6, ()), ('in_rows', 3, ()), ('in_place', 4, ()), ('vectors', 2, ()), ('aliased', 2, ('same',)),
                                    ('aliased', 2, ('inside',)), ('aliased', 2, ()), ('stored', 2, ('stored',)), ('local_rounds', 2, ()), ('local_late', 2, ()),
                                    ('local_reuse', 2, ()), ('global_groups', 4, ()), ('global_neighbour', 4, ()), ('late_zero', 4, ()), ('fine_same', 4, ()), ('other_fence_local', 1, ()), ('lanes_uniform', 1, ()), ('fine_reduction', 4, ()),
                                    ('fine_histogram', 4, ()), ('fine_flags', 4, ()), ('merged', 2, ()),
                                    ('merged_local', 2, ()), ('merged_one', 4, ()), ('fine_merged_one', 4, ())):
            with self.subTest(kernel=kernel, how=how):
                found, errors = self.findings(kernel, groups=groups, how=how, eu='compiled')
                texts = [re.sub(r'0x\w{9,}', 'an address', json.dumps(f)) for f in found]
                again = [re.sub(r'0x\w{9,}', 'an address', json.dumps(f))
                         for f in self.findings(kernel, groups=groups, how=how, eu='interpreter')[0]]
                self.assertEqual(texts, again)
                if kernel.startswith(('fine', 'lanes', 'other')) or (kernel, how) == ('aliased', ()):
                    self.assertEqual(bool(errors), kernel.startswith('other') and DEVICE != 'skl')
                    continue
                want = {LINES[kernel, 'first'][0], LINES[kernel, 'second'][-1]}
                self.assertIn(want, [{int(s['source'].rsplit(':', 1)[1]) for s in f['sites']} for f in errors], errors)

    def test_other_fence(self):
        """A barrier whose fence is of other memory than what was written."""
        _, errors = self.findings('other_fence', groups=1)
        self.assertIn('the barrier between them has no fence of global memory', errors[0]['text'])
        _, errors = self.findings('other_fence_local', groups=1)
        self.assertEqual(['the barrier between them has no fence of local memory' in f['text'] for f in errors], [True] * (DEVICE != 'skl'))

    def test_one_hardware_thread(self):
        for kernel in 'lanes', 'lanes_uniform', 'lanes_atomic':
            with self.subTest(kernel=kernel):
                found, errors = self.findings(kernel, groups=1, items=8)
                self.assertEqual((len(found), errors), (1, []))  # of a binary it is not known that nobody counts on them
                self.assertIn('in step', found[0]['text'])
                self.assertEqual({int(s['source'].rsplit(':', 1)[1]) for s in found[0]['sites']},
                                 {LINES[kernel, 'first'][0], LINES[kernel, 'second'][0]})

    def test_barriers(self):
        for kernel, words, items in (('divergent', 'not all work-items reach', 64), ('different', 'different barriers', 64),
                                     ('left', 'not all threads of the group reach (', 64)):
            with self.subTest(kernel=kernel):
                r = run(kernel, groups=1, items=items)
                self.assertEqual(r.returncode, 99, r.stderr)
                self.assertIn(words, r.stderr)
                found, _ = self.findings(kernel, groups=1, items=items)
                self.assertEqual({f['kind'] for f in found}, {'sync'})
                self.assertTrue(all(s['access'] is None for f in found for s in f['sites']))
                for line in LINES[kernel, 'barrier']:
                    self.assertIn(f'races.cl:{line}', r.stderr)

    def test_unaligned(self):
        """Told where accesses are looked at, of the kind that looks at addresses. Load/store cache messages take any address by lane,
        and those of bytes before."""
        for kernel, told, where in ('unaligned', DEVICE == 'skl', (r'0x\w+[26ae]', '1', '6')), ('unaligned_one', DEVICE != 'skl', (r'0x\w+2', '0', '2')):
            found, _ = self.findings(kernel, check='--check=memory,race')
            self.assertEqual({(f['kind'], f['level']) for f in found}, {('memory', 'error')} if told else set())
            if told:
                self.assertEqual({(s['access'], s['size'], int(s['source'].rsplit(':', 1)[1])) for f in found for s in f['sites']},
                                 {('read', 4, LINES[kernel, 'first'][0])})
                self.assertRegex(found[0]['text'], r'not aligned in global memory at %s\n(.*\n)*.*work-item \(%s, 0, 0\)(.*\n)*.* %s bytes into host' % where)
            self.assertEqual(self.findings(kernel)[0], [])
        self.assertEqual(self.findings('fine_packed', check='--check=memory,race')[0], [])

    def test_silent(self):
        with open(SOURCE) as f:
            kernels = re.findall(r'void (fine_\w+)\(ARGS\)', f.read())
        self.assertEqual(len(kernels), 20)
        notes = {'fine_same': 'the same value', 'fine_compare_loop': 'an atomic follows the read', 'fine_sub_group': 'in step'}
        for kernel in kernels:
            with self.subTest(kernel=kernel):
                found, _ = self.findings(kernel, items=16 if 'small' in kernel else 64)
                self.assertEqual({f['level'] for f in found}, {'note'} if kernel in notes else set(), found)
                self.assertTrue(all(notes[kernel] in f['text'] for f in found), found)

    def test_limits(self):
        """What a launch left out is told once, of all launches of a kernel."""
        said = ''.join(f'%finding race note\n%kernel {name}\nkernel {name}: {what}\n\n' for name, what in (('k', 'the rest'), ('l', 'the rest'), ('k', 'another')))
        found, _ = self.findings(None, app=('sh', '-c', 'printf "%s" "$0" "$0" "$0" >>"$ZESCOPE_CHECK_REPORT"', said))
        self.assertEqual([(f['kernel'], f['times']) for f in found], [('k', 3), ('l', 3), ('k', 3)], found)

    def test_report(self):
        r = run('local_no_barrier', '--gen-suppressions', '--error-exitcode', '5', groups=1)
        self.assertEqual(r.returncode, 5)
        for words in ('race in local memory at offset', r'read of 4 bytes at instruction 0x\w+, .*races.cl:\d+', 'write of 4 bytes',
                      r'in group \(0, 0, 0\), work-item \(\d+, 0, 0\), local \(\d+, 0, 0\)', 'a barrier with a fence of local memory'):
            self.assertRegex(r.stderr, words)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'known')
            with open(path, 'w') as f:
                f.write('\n'.join(re.findall(r'^{.*?^}', r.stderr, re.S | re.M)))
            r = run('local_no_barrier', '--suppressions', path, groups=1)
            self.assertEqual(r.returncode, 0, r.stderr)
            self.assertIn('suppressed', r.stderr)
            self.assertEqual(run('one_send', '--suppressions', path, groups=1).returncode, 99)

    def between(self, first, second, how):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'found.json')
            r = run(first, '--check-format', 'json', '--check-output', path, check='--check=race', app=(BETWEEN, BINARY, first, second, how))
            with open(path) as f:
                found = json.load(f)['findings']
        self.assertEqual(r.returncode, 99 if any(f['level'] == 'error' for f in found) else 0, (first, second, how, r.stderr))
        return found

    def test_host(self):
        """It writes shared memory that a launch has read, which still runs."""
        found = self.between('S', '-', 'host')
        self.assertEqual([(f['kind'], f['level'], f['kernel']) for f in found], [('race', 'note', 'between_host')])
        self.assertEqual([(s['access'], s['size']) for s in found[0]['sites']], [('read', 4), ('write', 4)])
        self.assertEqual(int(found[0]['sites'][0]['source'].rsplit(':', 1)[1]), LINES['between_host', 'first'][0])
        self.assertIn('the host, while the launch ran', found[0]['text'])
        self.assertEqual(self.between('S', '-', 'host-wait'), [])

    def test_between_commands(self):
        """Whether or not they met in time: nothing orders them."""
        write, read = LINES['between_write', 'first'][0], LINES['between_read', 'second'][0]
        for how in 'list', 'event-none', 'queues', 'queues-other', 'immediate':
            with self.subTest(how=how):
                found = self.between('W', 'R', how)
                self.assertEqual([(f['kind'], f['level'], f['kernel']) for f in found], [('race', 'error', 'between_read')])
                self.assertEqual([(s['access'], s['size'], int(s['source'].rsplit(':', 1)[1])) for s in found[0]['sites']],
                                 [('read', 4, read), ('write', 4, write)])
                self.assertEqual([s['offset'] < 0 for s in found[0]['sites']], [False, True])  # which is of another kernel
                self.assertRegex(found[0]['text'], r'between_write was asked for by:\n +#0 .*e2e_between')
        for first, second, words in (('W', 'W', 'between_write'), ('W', 'C', 'read of 1024 bytes: memory copy'), ('R', 'W', 'between_read'),
                                     ('F', 'W', 'write of 1024 bytes: memory fill'), ('A', 'R', 'atomic of 4 bytes'), ('F', 'C', 'memory copy')):
            with self.subTest(first=first, second=second):
                for how in 'list', 'queues':
                    found = self.between(first, second, how)
                    self.assertTrue(any(words in f['text'] for f in found), found)
        found = self.between('W', '-', 'free')
        self.assertEqual([(f['kernel'], [s['access'] for s in f['sites']]) for f in found], [('between_write', ['write', 'write'])])
        self.assertIn('bytes: zeMemFree', found[0]['text'])

    def test_ordered_commands(self):
        for how in ('barrier', 'event', 'event-wait', 'in-order', 'queues-event', 'one-queue', 'queues-fence', 'queues-wait', 'queues-ask',
                    'queues-sync', 'immediate-in-order', 'immediate-synchronous', 'immediate-wait'):
            for pair in 'WR', 'FW', 'WC':
                with self.subTest(how=how, pair=pair):
                    self.assertEqual(self.between(*pair, how), [])
        for pair in 'AA', 'WH', 'RH':
            with self.subTest(pair=pair):
                self.assertEqual(self.between(*pair, 'queues'), [])
        self.assertEqual(self.between('W', '-', 'free-wait'), [])

    def test_stop_at_first(self):
        """The application is ended, unless what is found is suppressed."""
        script = ['-c', '"$@"; while :; do sleep 0.02; done', 'sh', RACES, BINARY, 'one_send', '1', '64']
        kept = {k: v for k, v in os.environ.items() if not k.startswith('ZESCOPE') or k == 'ZESCOPE_DRIVER'}
        r = subprocess.run([ZESCOPE, 'run', '-d', DEVICE, '--check=race', '--stop-at-first', '--', 'sh', *script], env=kept, text=True,
                           capture_output=True, timeout=60)
        self.assertEqual((r.returncode, 'kernel one_send: race' in r.stderr), (99, True), r.stderr)
        with tempfile.NamedTemporaryFile('w') as f:
            f.write('{\n   all\n   zescope:*\n   kernel:*\n}\n')
            f.flush()
            r = run('one_send', '--stop-at-first', '--suppressions', f.name, groups=1)
        self.assertEqual(r.returncode, 0, r.stderr)

    def test_formats(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'found')
            for kernel in 'one_send', 'fine_own':
                run(kernel, '--check-format', 'sarif', '--check-output', path, groups=1, check='--check=race,leak')
                with open(path) as f:
                    ran = json.load(f)['runs'][0]
                rules = ran['tool']['driver']['rules']
                self.assertEqual(sorted(r['id'] for r in rules), sorted(KINDS.split(', ')))
                for rule in rules:  # what code hosts ask for
                    self.assertEqual(rule['defaultConfiguration'], {'level': 'error'})
                    self.assertTrue(all(rule[k]['text'] for k in ('shortDescription', 'fullDescription', 'help')))
                leaks = [r for r in ran['results'] if r['ruleId'] == 'leak']
                notes = [r for r in ran['results'] if r['level'] == 'note']  # of stores that are two sends, in step
                self.assertEqual(len(ran['results']) - len(leaks) - len(notes), kernel == 'one_send')
                for leak in leaks:  # of no line: the program that made it
                    self.assertEqual(leak['locations'], [{'physicalLocation': {'artifactLocation': {'uri': 'file://' + os.path.realpath(RACES)}}}])
                for result in ran['results']:
                    self.assertEqual((rules[result['ruleIndex']]['id'], result in notes or result['level']), (result['ruleId'], result in notes or 'error'))
                    if result in leaks:
                        continue
                    for where, mark in ('locations', 'first'), ('relatedLocations', 'second'):
                        place = result[where][0]['physicalLocation']
                        self.assertEqual(place['region']['startLine'], LINES['one_send', mark][0])
                        self.assertTrue(place['artifactLocation']['uri'].endswith('races.cl'))
            for kernel, failures in ('one_send', '1'), ('fine_own', '0'):
                run(kernel, '--check-format', 'junit', '--check-output', path, groups=1)
                self.assertEqual(xml.etree.ElementTree.parse(path).getroot().get('failures'), failures)

    def test_kinds(self):
        for kinds, says in ('race,no', f"'no' is no check: {KINDS}, all"), ('initial', "'initial' is no check"):
            r = run('fine_own', check='--check=' + kinds)
            self.assertEqual(r.returncode, 2)
            self.assertIn(says, r.stderr)
        self.assertEqual(run('one_send', check='--check', groups=1).returncode, 0)  # memory alone


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
