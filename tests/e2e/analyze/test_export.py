#!/usr/bin/env python3
"""zescope export: what stands in the database is what the views show, and the queries of the page run.

Usage: test_export.py KINDS.cl ZESCOPE DRIVER PROGRAM DOCS
"""
import json
import os
import re
import shutil
import sqlite3
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from kinds import Kinds  # noqa: E402

PATHS = [os.path.abspath(p) for p in sys.argv[1:5]]
with open(os.path.join(sys.argv[5], 'export.md'), encoding='utf-8') as f:
    PAGE = f.read()
KERNELS = ('clean', 'strided', 'divergent')


def contents(folder):
    files = {}
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), 'rb') as f:
            files[name] = f.read()
    return files


class Export(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.kinds = Kinds(*PATHS, cls.folder.name)
        cls.rec = cls.kinds.record('rec', '--counts', kernels=KERNELS)
        cls.path = os.path.join(cls.folder.name, 'rec.db')
        cls.export(cls.rec, '--sqlite', cls.path)
        cls.db = sqlite3.connect(cls.path)

    @classmethod
    def tearDownClass(cls):
        cls.db.close()
        cls.folder.cleanup()

    @classmethod
    def export(cls, *words):
        status, out, err = cls.kinds.run('export', *words)
        assert status == 0, err
        assert not out
        return err

    def view(self, *words):
        status, out, err = self.kinds.run(*words)
        self.assertEqual(status, 0, err)
        return json.loads(out)

    def rows(self, sql, *values, path=None):
        if not path:
            return self.db.execute(sql, values).fetchall()
        db = sqlite3.connect(path)
        rows = db.execute(sql, values).fetchall()
        db.close()
        return rows

    def test_calls(self):
        table = self.view('report', '--json', self.rec)['calls']
        expected = {row['name']: (row['count'], row['failed']) for row in table}
        self.assertEqual({name: (calls, failed) for name, calls, failed in self.rows(
            'SELECT name, count(*), sum(result <> 0) FROM call GROUP BY name')}, expected)
        self.assertEqual(self.rows('SELECT count(*) FROM call WHERE duration_ns IS NULL OR start_ns IS NULL'), [(0,)])

    def test_activities(self):
        table = self.view('report', '--json', self.rec)['kernels']
        expected = {}
        for row in table:
            count, ns = expected.get(row['name'], (0, 0))
            expected[row['name']] = (count + row['count'], ns + row['total_ns'])
        self.assertEqual({name: (count, ns) for name, count, ns in self.rows(
            "SELECT name, count(*), sum(end_ns - start_ns) FROM activity WHERE kind = 'kernel' GROUP BY name")}, expected)
        self.assertEqual(self.rows("SELECT DISTINCT size_x, size_y, size_z FROM activity WHERE name = 'clean'"),
                         [(256, 1, 1)])
        names = {name for name, in self.rows('SELECT name FROM module')}
        self.assertEqual({name for name, in self.rows("SELECT module FROM activity WHERE kind = 'kernel'")}, names)

    def test_kernels(self):
        document = {k['name']: k for k in self.view('analyze', '--json', '-n', '0', '--quantities', self.rec)['kernels']}
        self.assertEqual(set(document), set(KERNELS))
        for kernel, name, launches, time_ns in self.rows('SELECT id, name, launches, time_ns FROM kernel'):
            k = document.pop(name)
            values = dict(self.rows('SELECT name, value FROM value WHERE kernel = ?', kernel))
            shown = {q: v for q, v in k['quantities'].items() if v is not None}
            self.assertEqual((shown['launches'], shown['time_total']), (launches, time_ns))
            for quantity, value in shown.items():
                self.assertAlmostEqual(values[quantity], value, msg=quantity, delta=abs(value) * 1e-6)
            self.assertEqual(self.rows('SELECT rule, path, line FROM finding WHERE kernel = ?', kernel),
                             [(f['rule'], f['places'][0]['path'], f['places'][0]['line']) for f in k['findings']])
        self.assertFalse(document)

    def test_instructions(self):
        document = self.view('annotate', '--json', self.rec)
        kernels = {k['name']: k for m in document['devices'] for k in m['kernels']}
        for kernel, name in self.rows('SELECT id, name FROM kernel'):
            k = kernels[name]
            rows = self.rows('SELECT offset_B, text, line, executions FROM instruction WHERE kernel = ? ORDER BY offset_B',
                             kernel)
            self.assertEqual([(i['offset'], i['text'], i.get('line')) for i in k['instructions']],
                             [(offset, text, line) for offset, text, line, _ in rows])
            executed = sum(executions or 0 for _, _, _, executions in rows)
            values = dict(self.rows('SELECT name, value FROM value WHERE kernel = ?', kernel))
            self.assertEqual(executed, values['instructions'])

    def test_page(self):
        """Every table and column is in the page, with its name, and every query of the page gives rows or none."""
        documented = {}
        for table, columns in re.findall(r'^\| `(\w+)` \| [^|]+ \| (.*) \|$', PAGE, re.M):
            documented[table] = re.findall(r'(?:^|; )`(\w+)`', columns)
        real = {table: [c[1] for c in self.rows(f'PRAGMA table_info({table})')] for table, in self.rows(
            "SELECT name FROM sqlite_master WHERE type = 'table'")}
        self.assertEqual(documented, real)
        queries = re.findall(r'```sql\n(.*?)```', PAGE, re.S)
        self.assertEqual(len(queries), 10)
        counts = [len(self.rows(query)) for query in queries]
        self.assertEqual(counts[0], len(KERNELS))
        self.assertEqual(counts[2], len(KERNELS))
        self.assertTrue(all(counts[i] for i in (1, 3, 4, 5, 6, 7)), counts)
        self.assertFalse([row for row in self.rows(queries[5]) if row[2].startswith('(W')])  # which are one lane's

    def test_append(self):
        path = os.path.join(self.folder.name, 'all.db')
        self.export(self.rec, self.rec, '--sqlite', path)
        self.export(self.rec, '--append', '--sqlite', path)
        one = self.rows('SELECT count(*), sum(duration_ns) FROM call')
        self.assertEqual(self.rows('SELECT recording, count(*), sum(duration_ns) FROM call GROUP BY recording', path=path),
                         [(i, *one[0]) for i in (1, 2, 3)])
        self.assertEqual(self.rows('SELECT count(*) FROM recording', path=path), [(3,)])
        self.export(self.rec, '--sqlite', path)  # a new one takes its place
        self.assertEqual(self.rows('SELECT count(*) FROM recording', path=path), [(1,)])

    def test_folder(self):
        folder = os.path.join(self.folder.name, 'ranks')
        for rank in ('r0', 'r1'):
            shutil.copytree(self.rec, os.path.join(folder, rank))
        path = os.path.join(self.folder.name, 'ranks.db')
        self.export(folder, '--sqlite', path)
        self.assertEqual(self.rows('SELECT DISTINCT clock FROM recording'), [('model',)])
        self.assertEqual(self.rows('SELECT path FROM recording ORDER BY id', path=path),
                         [(os.path.join(folder, 'r0'),), (os.path.join(folder, 'r1'),)])
        self.assertEqual(self.rows('SELECT count(DISTINCT kernel.recording) FROM kernel', path=path), [(2,)])

    def test_refused(self):
        """What fails leaves the file as it was, and nothing beside it."""
        folder = os.path.join(self.folder.name, 'refused')
        os.mkdir(folder)
        foreign = os.path.join(folder, 'foreign.db')
        db = sqlite3.connect(foreign)
        db.execute('CREATE TABLE call(mine)')
        db.commit()
        db.close()
        text = os.path.join(folder, 'text.db')
        with open(text, 'w', encoding='utf-8') as out:
            out.write('not a database\n' * 100)
        newer = os.path.join(folder, 'newer.db')
        shutil.copy(self.path, newer)
        db = sqlite3.connect(newer)
        db.execute('PRAGMA user_version=99')
        db.close()
        rows = [
            ([self.rec, '--append', '--sqlite', foreign], 'is a database of something else'),
            ([self.rec, '--append', '--sqlite', text], 'not a database'),
            ([self.rec, '--append', '--sqlite', newer], 'has version 99 of the tables, this zescope writes 2'),
            ([self.rec, '--sqlite', os.path.join(folder, 'none/rec.db')], 'unable to open database file'),
            ([self.rec, '--sqlite', folder], 'is no file'),
            ([self.rec, '/nonexistent', '--append', '--sqlite', self.path], 'nonexistent'),
            ([self.rec, '/nonexistent', '--sqlite', foreign], 'nonexistent'),
            ([self.rec], '--sqlite FILE says where to write'),
        ]
        before = contents(folder)
        for words, why in rows:
            status, out, err = self.kinds.run('export', *words)
            self.assertIn(status, (1, 2), words)
            self.assertIn(why, err, words)
            self.assertFalse(out)
        self.assertEqual(contents(folder), before)
        self.assertEqual(self.rows('SELECT count(*) FROM recording'), [(1,)])


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1], verbosity=2)
