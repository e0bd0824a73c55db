#!/usr/bin/env python3
"""Kernels of one name in two modules are told apart, though the second module has the handle of the first.

Usage: test_twins.py ZESCOPE DRIVER LISTER PROGRAM
"""
import json
import os
import re
import shutil
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../tools'))
from page_items import unpacked  # noqa: E402

from common import Recorder

PROGRAM = os.path.abspath(sys.argv[4])
SOURCE = '''kernel void add(global int *x, int n) { int i = get_global_id(0); if (i < n) x[i] += %s; }
kernel void scale(global int *x, int n) { int i = get_global_id(0); if (i < n) x[i] *= 2; }
'''


def setUpModule():
    global recorder, spirvs
    recorder = Recorder(*sys.argv[1:4])
    spirvs = []
    for name, value in (('one', '1'), ('two', '2')):
        path = os.path.join(recorder.folder, name + '.cl')
        with open(path, 'w', encoding='utf-8') as f:
            f.write(SOURCE % value)
        recorder.run('ocloc', 'compile', '-file', path, '-device', 'skl', '-out_dir', recorder.folder)
        spirvs.append(os.path.join(recorder.folder, name + '_Gen9core.spv'))


def tearDownModule():
    recorder.close()


def executed(kernel):
    """How often the kernel's first instruction ran, and its size."""
    column = next((c for c in kernel.get('columns', []) if c['name'] == 'executions'), None)
    return column and column['values'][0]


class Twins(unittest.TestCase):
    def test_rows_and_counts(self):
        path, p = recorder.record(('--counts',), (PROGRAM, *spirvs))
        rows = [k for k in recorder.report(path)['kernels'] if k['name'] == 'add']
        self.assertEqual(sorted(k['count'] for k in rows), [3, 5])
        modules = {k['count']: k['module'] for k in rows}
        self.assertEqual(len(set(modules.values())), 2)
        for module in modules.values():
            self.assertTrue(any(name.startswith(module) for name in os.listdir(path + '/modules')))
        text = recorder.run(recorder.zescope, 'report', '-t', 'kernels', path).stdout
        for module in modules.values():
            self.assertIn(module, text)
        view = json.loads(recorder.run(recorder.zescope, 'annotate', '--json', path).stdout)
        kernels = {k['module']: k for d in view['devices'] for k in d['kernels'] if k['name'] == 'add'}
        self.assertEqual(set(kernels), set(modules.values()))
        # groups of 32 items in SIMD32, 16 or 8: the ratio of launches is that of the first instructions
        threads = {m: 32 // min(k['simd'], 32) * 32 for m, k in kernels.items()}
        for count, module in modules.items():
            self.assertEqual(executed(kernels[module]), count * threads[module], p.stdout)

    def page(self, path):
        """The two documents of the page of a recording."""
        html = os.path.join(recorder.folder, 'page.html')
        recorder.run(recorder.zescope, 'report', '--html', html, path)
        with open(html, encoding='utf-8') as f:
            text = f.read()
        record, data = [json.loads(re.search(f'<script type="application/json" id="{name}">(.*?)</script>', text, re.S)[1]) for name in ('recording', 'data')]
        unpacked(record['timeline'])
        return record, data

    def executed_modules(self, record, name):
        """Modules of the executions of a kernel on the timeline, counted."""
        timeline, found = record['timeline'], {}
        for track in timeline['tracks']:
            for at in range(0, len(track['items']), 11) if track['kind'] == 'queue' else ():
                if timeline['names'][track['items'][at + 2]] == name:
                    module = timeline['modules'][track['items'][at + 10]]
                    found[module] = found.get(module, 0) + 1
        return found

    def test_page_leads_to_the_right_one(self):
        path, _ = recorder.record(('--backtrace',), (PROGRAM, *spirvs))
        modules = {k['module']: k['count'] for k in recorder.report(path)['kernels'] if k['name'] == 'add'}
        record, code = self.page(path)
        self.assertEqual(self.executed_modules(record, 'add'), modules)
        nodes = [n for n in record['device_tree'] if n['name'] == 'add']
        self.assertEqual({m: sum(n['count'] for n in nodes if n['module'] == m) for m in modules}, modules)
        self.assertLessEqual(set(modules), {k['module'] for d in code['devices'] for k in d['kernels']})
        tree = recorder.run(recorder.zescope, 'report', '--tree', 'device', path).stdout
        self.assertEqual('add of module' in tree, len({n['parent'] for n in nodes}) < len(nodes))

    def test_page_of_ranks(self):
        """The code of all ranks, each module once, with what all of them counted."""
        folder = os.path.join(recorder.folder, 'ranks')
        os.mkdir(folder)
        for rank, words in (('1', spirvs), ('2', spirvs), ('3', spirvs[::-1])):
            recorder.run(recorder.zescope, 'record', '--counts', '-o', os.path.join(folder, rank), '--', PROGRAM, *words,
                         env=recorder.software(), check=9)
        record, code = self.page(folder)
        kernels = {k['module']: k for d in code['devices'] for k in d['kernels'] if k['name'] == 'add'}
        self.assertEqual(sum(k['name'] == 'add' for d in code['devices'] for k in d['kernels']), 2)
        counts = {}
        for rank in '123':
            for k in recorder.report(os.path.join(folder, rank))['kernels']:
                if k['name'] == 'add':
                    counts[k['module']] = counts.get(k['module'], 0) + k['count']
        self.assertEqual(self.executed_modules(record, 'add'), counts)
        self.assertEqual(set(kernels), set(counts))
        for module, kernel in kernels.items():
            self.assertEqual(executed(kernel), counts[module] * (32 // min(kernel['simd'], 32) * 32))
        self.assertEqual(record['recording']['recordings'], 3)
        self.assertNotIn('code_note', record['recording'])
        shutil.rmtree(os.path.join(folder, '2', 'modules'))
        self.assertEqual(self.executed_modules(self.page(folder)[0], 'add').keys(), counts.keys())

    def test_advice_is_what_helps(self):
        """SPIR-V without source lines: --debug-info was given, or would not help."""
        for options in (), ('--debug-info',):
            path, _ = recorder.record(options, (PROGRAM, *spirvs))
            text = recorder.run(recorder.zescope, 'annotate', path).stdout
            self.assertIn('has no source lines, and --debug-info cannot add them', text)
            self.assertNotIn('or record', text)
        # as other compilers and applications may have it
        for change, said in (({'inputs': [{'debug_info': True}]}, 'built without -g; give it in pBuildFlags, or record with `zescope record --debug-info`'),
                             ({'inputs': [{'debug_info': True}], 'flags': '-O2 -g'}, 'the driver gave none, though the module was built with -g'),
                             ({'format': 'native', 'inputs': []}, 'the application brought machine code without it')):
            self.change_builds(path, change)
            self.assertIn(said, recorder.run(recorder.zescope, 'annotate', path).stdout)

    def change_builds(self, path, change):
        for name in os.listdir(os.path.join(path, 'process')):
            events = os.path.join(path, 'process', name, 'modules.jsonl')
            with open(events, encoding='utf-8') as f:
                lines = [json.loads(line) for line in f]
            with open(events, 'w', encoding='utf-8') as f:
                for line in lines:
                    if line['event'] == 'begin':
                        line.update({'flags': '', **change})
                    f.write(json.dumps(line) + '\n')

    def test_page_without_code_says_so(self):
        path, _ = recorder.record((), (PROGRAM, *spirvs))
        for name in os.listdir(os.path.join(path, 'process')):
            os.remove(os.path.join(path, 'process', name, 'modules.jsonl'))
        self.assertEqual(self.page(path)[0]['recording']['code_note'], 'no code: no modules were recorded')


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
