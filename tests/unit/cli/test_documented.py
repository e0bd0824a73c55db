#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What pages say of commands exists: options and letters. And what completion in bash gives.

Usage: test_documented.py ZESCOPE ROOT
"""
import glob
import os
import re
import subprocess
import sys
import tempfile
import unittest

ZESCOPE, ROOT = os.path.abspath(sys.argv[1]), sys.argv[2]


def run(*words):
    return subprocess.run([ZESCOPE, *words], capture_output=True, text=True, check=True).stdout


COMMANDS = re.findall(r'^  ([a-z]+) ', run('--help'), re.M)


class Pages(unittest.TestCase):
    def test_options_exist(self):
        pages = {c: run('--generate-man', c).replace('\\-', '-') for c in COMMANDS}
        options = {c: set(re.findall(r'--([\w-]+)', page)) for c, page in pages.items()}
        letters = {c: set(re.findall(r'\\fB-(\w)\\fR', page)) for c, page in pages.items()}
        wrong, seen = [], 0
        for path in glob.glob(ROOT + '/docs/*.md') + glob.glob(ROOT + '/*.md') + [ROOT + '/bench/README.md']:
            with open(path, encoding='utf-8') as f:
                text = f.read()
            for m in re.finditer(r'(zescope |`)(%s)((?: +[^\n`|;&]*)?)' % '|'.join(COMMANDS), text):
                rest = m[3].split(' -- ')[0]
                if m[1] == '`' and not rest.startswith(' -'):
                    continue
                for name in re.findall(r'(?<![\w-])--([a-z][\w-]*)', rest):
                    seen += 1
                    if name not in options[m[2]] and name.removeprefix('no-') not in options[m[2]]:
                        wrong.append((os.path.basename(path), m[2], '--' + name))
                wrong += [(os.path.basename(path), m[2], '-' + letter)
                          for letter in re.findall(r'(?<![\w-])-([a-zA-Z])(?= |$)', rest) if letter not in letters[m[2]]]
        self.assertEqual(wrong, [])
        self.assertGreater(seen, 60)
        # those that stand alone, and the letters beside them; these pages have options of other programs
        others = {'coverage.md', 'compiler-faults.md', 'isa.md', 'conformance.md'}
        every = set().union(*options.values(), re.findall(r'--([\w-]+)', run('--help')))
        names = dict(pair for page in pages.values() for pair in re.findall(r'\\fB-(\w)\\fR, \\fB--([\w-]+)', page))
        for path in {*glob.glob(ROOT + '/docs/*.md'), ROOT + '/README.md', ROOT + '/CHANGELOG.md'}:
            with open(path, encoding='utf-8') as f:
                for name, letter in re.findall(r'`--([a-z][\w-]*)[^`]*`(?:,? (?:or )?`-(\w)`)?', f.read()):
                    known = name in every or name.removeprefix('no-') in every or os.path.basename(path) in others
                    self.assertTrue(known and (not letter or names.get(letter) == name), (path, name, letter))


class Completion(unittest.TestCase):
    def complete(self, *words):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, 'c'), 'w', encoding='utf-8') as f:
                f.write(run('--generate-bash'))
            script = f'. {folder}/c; zescope() {{ {ZESCOPE} "$@"; }}; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _zescope; echo "${{COMPREPLY[@]}}"'
            return subprocess.run(['bash', '-c', script, 'bash', 'zescope', *words], capture_output=True, text=True, check=True, cwd=folder).stdout.split()

    def test_words(self):
        self.assertEqual(self.complete('compa'), ['compare'])
        self.assertIn('acm-g10', self.complete('record', '-d', 'acm'))
        self.assertIn('pvc', self.complete('run', '--device', 'p'))
        self.assertEqual(self.complete('instrument', 'opc'), ['opcodes'])
        self.assertIn('opcodes', self.complete('instrument', ''))
        self.assertEqual(self.complete('annotate', ''), [])  # then files are
        self.assertEqual(self.complete('record', '--instrument', 'opc'), ['opcodes'])
        self.assertEqual(self.complete('record', '--metrics', 'A,ZscopeGa')[:1], ['A,ZscopeGains'])
        self.assertEqual(self.complete('compare', '--by', 'a'), ['address'])
        self.assertEqual(self.complete('annotate', '-k', 'x'), [])  # no recording here
        self.assertIn("--demangle", ' '.join(self.complete('report', '--dem')))

    def test_kernels(self):
        module = os.path.join(ROOT, 'tests/fuzz/corpus/driver/lines')
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'k.bin')
            with open(module, 'rb') as f, open(path, 'wb') as g:
                g.write(f.read())
            names = re.findall(r'kernel (\w+):', run('disasm', path))
            self.assertTrue(names)
            self.assertEqual(self.complete('annotate', path, '-k', names[0][:2]), [n for n in names if n.startswith(names[0][:2])])

    def test_shells_take_it(self):
        for shell, words in (('bash', ['-n']),):
            subprocess.run([shell, *words], input=run('--generate-' + shell), text=True, check=True)
        for shell in ('zsh', 'fish'):
            self.assertIn('--complete kernel', run('--generate-' + shell))


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
