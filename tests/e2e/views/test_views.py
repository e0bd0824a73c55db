#!/usr/bin/env python3
"""Tables of recordings grouped, sorted, filtered; their page; logs and pages with backtraces.

Usage: test_views.py ZESCOPE DRIVER CALLS ACTIVITY KERNELS
"""
import csv
import glob
import html.parser
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../tools'))
from page_items import unpacked  # noqa: E402

ZESCOPE, DRIVER, CALLS, ACTIVITY, KERNELS = (os.path.abspath(path) for path in sys.argv[1:6])
ENV = dict(os.environ, ZE_ENABLE_ALT_DRIVERS=DRIVER)


def run(*words, check=0):
    p = subprocess.run(words, env=ENV, capture_output=True, text=True, timeout=120)
    if p.returncode != check:
        raise AssertionError(f'{words}: exit {p.returncode}\n{p.stdout}{p.stderr}')
    return p


def setUpModule():
    global folder, threads, device, spirv
    folder = tempfile.TemporaryDirectory()
    run('ocloc', 'compile', '-file', KERNELS, '-device', 'skl', '-options', '-g', '-out_dir', folder.name)
    spirv = next(os.path.join(folder.name, name) for name in os.listdir(folder.name) if name.endswith('.spv'))
    threads, device = (os.path.join(folder.name, name) for name in ('threads', 'device'))
    run(ZESCOPE, 'record', '-o', threads, '--', CALLS, '3', '100', 'return', check=7)
    run(ZESCOPE, 'record', '--backtrace', '--debug-info', '--counts', '-o', device, '--', ACTIVITY, spirv, check=9)


def tearDownModule():
    folder.cleanup()


def report(path, *options):
    return json.loads(run(ZESCOPE, 'report', '--json', *options, path).stdout)


def rows(path, table, *options):
    text = run(ZESCOPE, 'report', '--format', 'csv', '-t', table, *options, path).stdout
    return list(csv.DictReader(io.StringIO(text)))


class Groups(unittest.TestCase):
    def test_calls_by_result(self):
        found = {(r['name'], r['result']): int(r['count']) for r in rows(threads, 'calls', '--group-by', 'call,result')}
        self.assertEqual(found['zeMemFree', 'ZE_RESULT_SUCCESS'], 300)
        self.assertEqual(found['zeMemAllocDevice', 'ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT'], 1)
        by_result = {r['result']: int(r['count']) for r in rows(threads, 'calls', '--group-by', 'result')}
        self.assertEqual(sum(by_result.values()), report(threads)['call_count'])

    def test_by_thread(self):
        free = [r for r in rows(threads, 'calls', '--group-by', 'call,thread') if r['name'] == 'zeMemFree']
        self.assertEqual([r['count'] for r in free], ['100'] * 3)
        self.assertEqual(len({r['tid'] for r in free}), 3)
        memory = rows(threads, 'memory', '--per-thread', '-w', 'allocations>0')
        self.assertEqual([r['allocations'] for r in memory], ['100'] * 3)
        self.assertEqual(len({(r['pid'], r['tid']) for r in memory}), 3)
        listed = rows(threads, 'threads')
        self.assertEqual(sum(int(r['count']) for r in listed), report(threads)['call_count'])
        self.assertEqual(len(listed), 4)

    def test_kernels(self):
        whole = {r['name']: r for r in rows(device, 'kernels', '--group-by', 'kernel')}
        self.assertEqual({name: int(r['count']) for name, r in whole.items()}, {'add': 18, 'scale': 2})
        self.assertEqual(list(whole['add']).index('name'), 0)
        for key in ('queue', 'list', 'engine', 'device', 'shape', 'thread'):
            parts = rows(device, 'kernels', '--group-by', 'kernel,' + key)
            self.assertEqual(sum(int(r['count']) for r in parts), 20, key)
            self.assertEqual(sum(int(r['total_ns']) for r in parts), sum(int(r['total_ns']) for r in whole.values()), key)
        self.assertGreater(len(rows(device, 'kernels', '--group-by', 'queue')), 1)

    def test_append_to_submit_to_start(self):
        for r in report(device)['kernels']:
            self.assertLessEqual(r['append_to_submit_ns'], r['append_to_submit_max_ns'])
            self.assertLessEqual(r['submit_to_start_ns'], r['submit_to_start_max_ns'])

    def test_copies_by_size(self):
        found = {(r['direction'], r['size']): r['count'] for r in rows(device, 'copies', '--group-by', 'direction,size')}
        self.assertEqual(found, {(d, '4096'): '1' for d in ('host-to-device', 'device-to-device', 'device-to-host', 'fill-shared')})

    def test_allocations_and_lifetimes(self):
        found = {(r['kind'], int(r['size'])): r for r in rows(threads, 'allocations')}
        self.assertEqual(len(found), 100)  # each size once a thread
        self.assertEqual(found['host memory', 4099]['allocations'], '3')
        self.assertEqual(found['host memory', 4099]['left_B'], '0')
        self.assertGreater(int(found['host memory', 4099]['lifetime_ns']), 0)

    def test_leaks_grouped(self):
        found = {r['type']: (r['count'], r['total_B']) for r in rows(device, 'leaks', '--group-by', 'kind')}
        self.assertEqual(found, {'context': ('1', 'n/a'), 'device memory': ('1', '4096'), 'event pool': ('1', 'n/a')})

    def test_backtraces(self):
        callers = {r['caller']: int(r['count']) for r in rows(device, 'kernels', '--group-by', 'caller')}
        self.assertTrue(all('activity.c:' in caller for caller in callers), callers)
        self.assertEqual(sum(callers.values()), 20)
        traces = [r['backtrace'] for r in rows(device, 'calls', '--group-by', 'call,backtrace', '-w', 'name=zeModuleCreate')]
        self.assertEqual(len(traces), 1)
        self.assertRegex(traces[0], r'^load at .*activity\.c:\d+ < main at .*activity\.c:\d+')
        self.assertTrue(all('activity.c' in leak['caller'] for leak in report(device)['leaks']))
        self.assertTrue(all(leak['caller'] is None for leak in report(threads)['leaks']))
        log = run(ZESCOPE, 'log', '--backtrace', '-f', 'zeModuleCreate', device).stdout.splitlines()
        self.assertIn('zeModuleCreate(', log[0])
        self.assertRegex(log[1], r'^ +from load at ')
        self.assertRegex(log[2], r'^ +< main at ')

    def test_call_tree(self):
        tree = json.loads(run(ZESCOPE, 'report', '--tree', 'device', '--json', device).stdout)['device_tree']
        kernels = {r['name']: int(r['total_ns']) for r in rows(device, 'kernels', '--group-by', 'kernel')}
        for name, total in kernels.items():
            self.assertEqual(sum(n['total_ns'] for n in tree if n['name'] == name), total)
        self.assertIn('main', [n['name'] for n in tree])
        for i, node in enumerate(tree):  # parents hold what is below them
            self.assertGreaterEqual(node['total_ns'], sum(n['total_ns'] for n in tree if n.get('parent') == i))
        folded = run(ZESCOPE, 'report', '--tree', 'host', '--format', 'folded', device).stdout.splitlines()
        calls = sum(int(line.rsplit(' ', 1)[1]) for line in folded)
        host = json.loads(run(ZESCOPE, 'report', '--tree', 'host', '--json', device).stdout)['host_tree']
        self.assertEqual(calls, host[0]['total_ns'])
        self.assertTrue(any(re.search(r'(^|;)main;load;.*zeModuleCreate \d+$', line) for line in folded), folded)
        text = run(ZESCOPE, 'report', '--tree', 'host', device).stdout
        self.assertRegex(text, r'(?m)^ +\d+\.\d% .* (\u2502 )+zeModuleCreate$')
        self.assertIn('record with --backtrace', run(ZESCOPE, 'report', '--tree', 'host', threads, check=1).stderr)
        run(ZESCOPE, 'report', '--format', 'folded', device, check=2)

    def test_histograms_hold_all_executions(self):
        for kernel in report(device)['kernels']:
            buckets = kernel['histogram']
            self.assertEqual(sum(b[2] for b in buckets), kernel['timed'])
            self.assertTrue(buckets[0][0] <= kernel['min_ns'] < buckets[0][1])
            self.assertTrue(buckets[-1][0] <= kernel['max_ns'] < buckets[-1][1])

    def test_limits_of_a_comparison(self):
        run(ZESCOPE, 'compare', '--fail-on', 'time>0%', '--fail-on', 'count>0', device, device)
        p = run(ZESCOPE, 'compare', '--fail-on', '^call zeMemFree$:count>10', device, threads, check=3)
        self.assertRegex(p.stderr, r'call zeMemFree: count \d+ -> 300 .*limit \^call zeMemFree\$:count>10')
        self.assertEqual(len(p.stderr.splitlines()), 1)
        run(ZESCOPE, 'compare', '--fail-on', '^call zeMemFree$:count>1000000', device, threads)
        for wrong in ('x', 'speed>1', 'time>', 'time>-1', 'time>1kg', 'count>1ms', '(:time>1'):
            self.assertIn('--fail-on', run(ZESCOPE, 'compare', '--fail-on', wrong, device, device, check=2).stderr)
        page = os.path.join(folder.name, 'diff.html')
        run(ZESCOPE, 'compare', '--html', page, device, threads)
        with open(page, encoding='utf-8') as f:
            self.assertIn('zescope.compare/1', f.read())

    def test_wrong_keys(self):
        self.assertIn("'colour'", run(ZESCOPE, 'report', '--group-by', 'call,colour', threads, check=2).stderr)
        self.assertIn('call, result, caller', run(ZESCOPE, 'report', '-t', 'calls', '--group-by', 'kernel', threads, check=2).stderr)
        self.assertIn("'kernel'", run(ZESCOPE, 'report', '-t', 'calls', '--group-by', 'kernel', threads, check=2).stderr)


    def test_wrong_options_are_usage_whatever_the_recording(self):
        for words in (['report', '-w', 'count'], ['report', '-s', 'colour'], ['report', '--group-by', 'colour'], ['report', '-f', '('],
                      ['report', '--html', '-', '-w', 'name~('], ['log', '-f', '(']):
            for path in threads, '/no/such/recording':
                self.assertIn("zescope " + words[0] + " --help", run(ZESCOPE, *words, path, check=2).stderr)

    def test_what_was_not_collected_is_not_empty(self):
        for option in '--no-activity', '--no-trace':
            path = os.path.join(folder.name, 'without' + option)
            run(ZESCOPE, 'record', option, '--no-last', '-o', path, '--', ACTIVITY, spirv, check=9)
            for table in 'kernels', 'copies', 'barriers':
                self.assertEqual(run(ZESCOPE, 'report', '-t', table, path).stdout, f'n/a: recorded with {option}\n')
                p = run(ZESCOPE, 'report', '--format', 'csv', '-t', table, path)
                self.assertIn(f'{table} are n/a: recorded with {option}', p.stderr)
            self.assertIn(f'kernels, copies, barriers: n/a (recorded with {option})\n', run(ZESCOPE, 'report', path).stdout)
        for words in [], ['-t', 'kernels'], ['-t', 'calls']:
            self.assertNotIn('n/a:', run(ZESCOPE, 'report', *words, device).stdout)


class Views(unittest.TestCase):
    def test_sort(self):
        for column in ('total', 'count', 'mean_ns', 'max'):
            key = {'total': 'total_ns', 'max': 'max_ns'}.get(column, column)
            values = [int(r[key]) for r in rows(threads, 'calls', '-s', column)]
            self.assertEqual(values, sorted(values, reverse=True), column)
            values = [int(r[key]) for r in rows(threads, 'calls', '-s', column + ':asc')]
            self.assertEqual(values, sorted(values), column)
        names = [r['name'] for r in rows(threads, 'calls', '-s', 'name')]
        self.assertEqual(names, sorted(names))
        sizes = [int(r['size']) for r in rows(threads, 'allocations', '-s', 'size')]
        self.assertEqual(sizes, sorted(sizes, reverse=True))
        listed = run(ZESCOPE, 'report', '-t', 'calls', '-s', 'colour', threads, check=2).stderr
        self.assertTrue({'count,', 'total,', 'mean,', 'failed,'} <= set(listed.split()), listed)
        listed = run(ZESCOPE, 'report', '-s', 'colour', threads, check=2).stderr
        self.assertTrue({'count,', 'allocations,', 'reason\n'} <= set(re.split(r'(?<=[,\n])\s?', listed.split('has ')[1])), listed)
        run(ZESCOPE, 'report', '-s', 'total:up', threads, check=2)

    def test_where(self):
        everything = rows(threads, 'calls')
        for condition, test in (('count>=300', lambda r: int(r['count']) >= 300), ('failed!=0', lambda r: r['failed'] != '0'),
                                ('name~^zeMem', lambda r: r['name'].startswith('zeMem')), ('name!~Mem', lambda r: 'Mem' not in r['name']),
                                ('share>2', lambda r: float(r['share']) > 2), ('share<=0.5%', lambda r: float(r['share']) <= .5),
                                ('max<1ms', lambda r: int(r['max_ns']) < 1000000), ('name=zeInit', lambda r: r['name'] == 'zeInit')):
            self.assertEqual(rows(threads, 'calls', '-w', condition), [r for r in everything if test(r)], condition)
        self.assertEqual(len(rows(threads, 'calls', '-w', 'count>1', '-w', 'name~Mem')), 2)
        for wrong in ('count', 'colour=3', 'name>3', 'count=x', 'name~('):
            run(ZESCOPE, 'report', '-w', wrong, threads, check=2)

    def test_filter_and_limit(self):
        r = report(device, '-f', '^scale$')
        self.assertEqual([k['name'] for k in r['kernels']], ['scale'])
        self.assertEqual(r['calls'], [])
        r = report(threads, '-n', '2')
        self.assertEqual(len(r['calls']), 2)
        self.assertEqual(r['left_out']['calls'], len(rows(threads, 'calls')) - 2)
        self.assertIn('more)', run(ZESCOPE, 'report', '-t', 'calls', '-n', '2', threads).stdout)

    def test_csv_is_json(self):
        for path in (threads, device):
            r = report(path)
            for table in ('calls', 'kernels', 'copies', 'barriers', 'allocations', 'leaks', 'builds', 'threads'):
                for row, item in zip(rows(path, table), r[table] or [], strict=True):
                    for key, value in item.items():
                        if key in ('groups', 'group_size', 'results', 'histogram', 'handle', 'list', 'share') or key.endswith('_s'):
                            continue
                        self.assertEqual(row[key], 'n/a' if value is None else str(value), (table, key))

    def test_times_count_from_the_first_call(self):
        build, first = report(device)['builds'][0], run(ZESCOPE, 'log', '-f', 'zeModuleCreate', device).stdout.split()[0]
        self.assertEqual(f"{build['time_ns'] / 1e9:.9f}", first)
        self.assertIn(f' {first} ', run(ZESCOPE, 'report', '-t', 'builds', device).stdout)
        r = report(device)
        self.assertEqual(min(t['first_ns'] for t in r['threads']), 0)
        self.assertEqual(max(t['last_ns'] for t in r['threads']), r['last_ns'] - r['first_ns'])

    def test_shares(self):
        self.assertAlmostEqual(sum(c['share'] for c in report(threads)['calls']), 100, delta=.3)

    def test_text_has_every_table(self):
        text = run(ZESCOPE, 'report', device).stdout
        for title in ('calls', 'kernels', 'copies', 'barriers', 'memory', 'allocations', 'leaks', 'builds', 'threads'):
            self.assertIn(f'\n{title}\n', '\n' + text)


def damaged(path, name, pattern, size):
    """A copy of a recording, files of it cut to so many bytes, or in the middle."""
    copy = os.path.join(folder.name, name)
    shutil.copytree(path, copy)
    files = glob.glob(os.path.join(copy, pattern))
    assert files, pattern
    for file in files:
        os.truncate(file, os.path.getsize(file) // 2 if size is None else size)
        if size is None:  # half of a file may end with a whole packet, or lack just a few bytes of
            with open(file, 'ab') as f:  # one: wherever it goes on, what follows is none
                f.write(b'\n\x7f' * 200)
    return copy


class Damage(unittest.TestCase):
    LIMITS = ('--fail-on', 'failed>0', '--fail-on', 'time>10%', '--fail-on', 'count>1000000')

    def test_limits_are_not_judged_by_what_is_not_there(self):
        empty = damaged(device, 'empty', 'trace/*.pftrace', 0)
        half = damaged(device, 'half', 'trace/*.pftrace', None)
        # a process that is killed leaves files of no bytes: these are no damage
        for bad, why, said in ((empty, 'it holds no API calls', r'holds no API calls'),
                               (half, 'its trace is damaged', r'[1-9]\d* trace files? damaged')):
            for words in ((bad, device), (device, bad)):
                p = run(ZESCOPE, 'compare', *self.LIMITS, *words, check=1)
                self.assertRegex(p.stderr, rf'{bad}.* {said}')
                self.assertIn(f'{bad}: {why}: --fail-on cannot be judged', p.stderr)
                self.assertRegex(run(ZESCOPE, 'compare', *words).stderr, rf'{bad}.* {said}')
            self.assertRegex(run(ZESCOPE, 'report', bad).stderr, said)

    def test_no_calls_are_no_measure(self):
        """Whatever the reason is: only what is known is told."""
        def path(name):
            return os.path.join(folder.name, name)
        for name, options, why in (('untraced', ['--no-trace'], 'it has no trace files'), ('paused', ['--paused'], 'there are none in its trace files'),
                                   ('excluded', ['--include', 'nothing'], 'there are none in its trace files')):
            run(ZESCOPE, 'record', *options, '-o', path(name), '--', CALLS, '1', '1', 'return', check=7)
            for words in (['report', path(name)], ['compare', path(name), threads]):
                said = run(ZESCOPE, *words).stderr
                self.assertIn(f'holds no API calls: {why}', said)
                self.assertNotIn('damaged', said)
            p = run(ZESCOPE, 'compare', *self.LIMITS, path(name), threads, check=1)
            self.assertIn(f'{path(name)}: it holds no API calls: --fail-on cannot be judged', p.stderr)
        run(ZESCOPE, 'record', '-o', path('unused'), '--', 'true')
        said = run(ZESCOPE, 'report', path('unused')).stderr
        self.assertIn('no process in it used Level Zero', said)
        self.assertNotIn('--no-trace', said)

    def test_limits_on_nothing_are_noted(self):
        p = run(ZESCOPE, 'compare', '--fail-on', '^kernel ad:time>900000000%', '--fail-on', '^kernel gemm:time>1%', device, device)
        self.assertEqual(p.stderr, 'zescope: --fail-on ^kernel gemm:time>1%: nothing in either recording matches\n')

    def test_nothing_changed(self):
        self.assertEqual(run(ZESCOPE, 'compare', device, device).stdout, 'no differences\n')
        other = run(ZESCOPE, 'compare', '-k', 'add', '--with', 'scale', device, device).stdout
        self.assertIn('add  \u2192  scale', other)
        self.assertNotIn('no differences', other)

    def test_modules(self):
        bad = damaged(device, 'cut_modules', 'modules/*.bin', 500)
        missing = damaged(device, 'no_modules', 'modules/*.bin', 0)
        for file in glob.glob(os.path.join(missing, 'modules', '*.bin')):
            os.remove(file)
        page = os.path.join(folder.name, 'bad.html')
        for path, why in ((bad, r'is not as it was recorded: 500 bytes of \d+'), (missing, 'is missing')):
            for words, status in ((['annotate'], 1), (['disasm'], 1), (['inspect'], 1), (['report', '--html', page], 0)):
                said = run(ZESCOPE, *words, path, check=status).stderr
                self.assertRegex(said, rf'{path}: modules/[0-9a-f]+\.bin {why}')
                self.assertNotIn('no modules', said)

    def test_counts(self):
        bad = damaged(device, 'cut_counts', 'counts/*.counts', 40)
        for words in (['annotate'], ['report', '--html', os.path.join(folder.name, 'bad.html')]):
            self.assertRegex(run(ZESCOPE, *words, bad).stderr, rf'{bad}: [1-9]\d* damaged files? of execution counts left out')
            self.assertNotIn('counts', run(ZESCOPE, *words, device).stderr)

    def test_debug_file_is_named(self):
        binary = glob.glob(os.path.join(folder.name, '*.bin'))[0]
        debug = os.path.join(folder.name, 'wrong.dbg')
        with open(debug, 'w', encoding='utf-8') as f:
            f.write('this is no debug info')
        for command in ('annotate', 'inspect'):
            said = run(ZESCOPE, command, '--debug', debug, binary, check=1).stderr
            self.assertRegex(said, rf'^zescope: {debug}: ')
            self.assertNotIn(binary, said)
        self.assertRegex(run(ZESCOPE, 'annotate', '--debug', binary, debug, check=1).stderr, rf'^zescope: {debug}: ')


class Contradictions(unittest.TestCase):
    def test_no_option_is_ignored(self):
        page = os.path.join(folder.name, 'contradiction.html')
        for words in (['report', '-t', 'all', '--format', 'csv'], ['report', '--html', page, '--json'], ['report', '--html', page, '-t', 'kernels'],
                      ['report', '--html', page, '--format', 'csv'], ['report', '--json', '--format', 'csv'],
                      ['report', '--tree', 'host', '-t', 'calls'], ['disasm', '-k', 'x', '--raw', 'skl'], ['disasm', '-d', 'skl', '--raw', 'skl']):
            p = run(ZESCOPE, *words, device, check=2)
            self.assertEqual(p.stdout, '')
            self.assertFalse(os.path.exists(page))
        run(ZESCOPE, 'compare', '--html', page, '--json', device, device, check=2)
        self.assertFalse(os.path.exists(page))
        self.assertEqual(run(ZESCOPE, 'report', '-t', 'all', '--json', device).stdout, run(ZESCOPE, 'report', '--json', device).stdout)


class Documents(html.parser.HTMLParser):
    """The JSON documents of a page."""

    def __init__(self, text):
        super().__init__()
        self.found, self.at = {}, None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.at = dict(attrs).get('id') if tag == 'script' else None

    def handle_data(self, data):
        if self.at:
            self.found[self.at] = self.found.get(self.at, '') + data

    def handle_endtag(self, tag):
        self.at = None


class Page(unittest.TestCase):
    def page(self, path, *options):
        out = os.path.join(folder.name, 'page.html')
        run(ZESCOPE, 'report', '--html', out, *options, path)
        with open(out, encoding='utf-8') as f:
            text = f.read()
        documents = Documents(text).found
        record = json.loads(documents['recording'])
        unpacked(record['timeline'])
        return text, record, json.loads(documents['data'])

    def test_everything_is_there(self):
        _, record, code = self.page(device)
        timeline, r = record['timeline'], report(device)
        self.assertEqual(record['report']['calls'], r['calls'])
        thread, *queues = timeline['tracks']
        self.assertEqual(thread['kind'], 'thread')
        self.assertEqual(len(thread['items']), 7 * r['call_count'])
        self.assertEqual(sum(len(q['items']) for q in queues) // 11, sum(row['count'] for t in ('kernels', 'copies', 'barriers') for row in r[t]))
        kernels = 0
        for q in queues:
            start = 0
            for at in range(0, len(q['items']), 11):
                step, took, name, kind, track, since_append, since_submit, call, size_B, shape, module = q['items'][at:at + 11]
                self.assertGreaterEqual(step if at else 0, 0)
                start += step
                self.assertGreaterEqual(start + took, 0)
                self.assertLessEqual(start + timeline['start_ns'] + took, timeline['end_ns'])
                self.assertEqual(track, 0)
                self.assertGreaterEqual(since_append, since_submit)
                if kind == 1:
                    kernels += 1
                    self.assertIn(timeline['names'][name], ('add', 'scale'))
                    self.assertEqual(timeline['shapes'][shape], [32, 1, 1, 32, 1, 1])
                    self.assertEqual(timeline['modules'][module], next(k['module'] for k in r['kernels']))
                if kind == 2:
                    self.assertEqual(size_B, 4096)
        self.assertEqual(kernels, 20)
        times, levels = timeline['memory'][0]['points'][0::2], timeline['memory'][0]['points'][1::2]
        self.assertTrue(all(t >= 0 for t in times))
        self.assertEqual(max(levels), 4 * 4096)
        self.assertEqual(levels[-1], 4096)
        stacks = [[timeline['names'][n] for n in stack] for stack in timeline['stacks']]
        self.assertTrue(any(s[0].startswith('load at') for s in stacks))
        self.assertEqual({k['name'] for d in code['devices'] for k in d['kernels']}, {'add', 'scale'})
        self.assertIn('executions', json.dumps(code))  # counts of the software GPU are columns

    def test_only_the_longest_are_kept(self):
        _, record, _ = self.page(threads, '--html-items', '50')
        whole = self.page(threads)[1]['timeline']
        timeline = record['timeline']
        kept = sorted(d for t in timeline['tracks'] for d in t['items'][1::7])
        every = sorted(d for t in whole['tracks'] for d in t['items'][1::7])
        # the longest; of those within a sixteenth some by chance, spread over the time
        edge = every[-50]
        self.assertEqual(len(kept), 50)
        self.assertEqual([d for d in kept if d > edge * 17 / 16], [d for d in every if d > edge * 17 / 16])
        self.assertGreaterEqual(kept[0], edge * 15 / 16)
        self.assertEqual(timeline['left_out']['calls'], len(every) - 50)
        self.assertEqual(sum(t['left_out'] for t in timeline['tracks']), len(every) - 50)
        counted = sum(sum(t['bins']['count']) for t in timeline['tracks'] if 'bins' in t)
        busy = sum(sum(t['bins']['busy_ns']) for t in timeline['tracks'] if 'bins' in t)
        self.assertEqual(counted, len(every) - 50)
        self.assertEqual(busy, sum(every) - sum(kept))
        _, record, _ = self.page(threads, '--html-items', '200')
        timeline = record['timeline']
        at = [sum(t['items'][0:7 * i + 1:7]) for t in timeline['tracks'] for i in range(len(t['items']) // 7)]
        self.assertTrue(any(x > (timeline['end_ns'] - timeline['start_ns']) * 0.7 for x in at), at)

    def test_without_scripts_there_are_the_tables(self):
        text, _, _ = self.page(threads)
        self.assertIn('zeMemAllocHost', text.split('<main id="plain">')[1].split('</main>')[0])

    def test_nothing_of_a_network(self):
        text, _, _ = self.page(device)
        self.assertNotIn('http://', text.replace('http://www.w3.org/2000/svg', ''))
        self.assertNotIn('https://', text)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
