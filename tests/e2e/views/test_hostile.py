#!/usr/bin/env python3
"""What a recording says is shown, and obeyed by no terminal: every text command over a recording whose
names, paths, flags, notes, sources and traces hold control sequences.

Usage: test_hostile.py ZESCOPE DRIVER ACTIVITY KERNELS
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

ZESCOPE, DRIVER, ACTIVITY, KERNELS = (os.path.abspath(path) for path in sys.argv[1:5])
ENV = dict(os.environ, ZE_ENABLE_ALT_DRIVERS=DRIVER)
# a colour that we do not use, a title, a clearing of the screen with C1, overrides of direction, ...
HOSTILE = '\x1b[35;45m\x1b]0;title\x07\x9b2J\u202eabc\u2066\u200f\ufeff\x7f\r\x08\ttab\nline'
BAD = re.compile('[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]')
OURS = re.compile('\x1b\\[[0-9;]{1,4}m|\x1b\\[m')


def run(*words, check=0):
    p = subprocess.run(words, env=ENV, capture_output=True, timeout=120)
    if check is not None and p.returncode != check:
        raise AssertionError(f'{words}: exit {p.returncode}\n{p.stdout}{p.stderr}')
    return p


def bytes_of_length(count):
    """Control sequences and bytes that are no UTF-8."""
    return (b'\x1b[35;45m\xc2\x9b\xff\x07\xe2\x80\xae\x1b]2;' * 10)[:count]


def poison(value, key=''):
    """Every string of a JSON value that is shown, but for what other parts refer to."""
    if isinstance(value, dict):
        return {k: poison(v, k) for k, v in value.items()}
    if isinstance(value, list):
        return [poison(v, key) for v in value]
    keep = ('schema', 'blob', 'event', 'handle', 'result', 'format', 'uuid', 'driver_uuid', 'value', 'build_id')
    if isinstance(value, str) and key not in keep and not re.match(r'0x[0-9a-f]+$', value):
        return value + HOSTILE
    return value


def setUpModule():
    global folder, recording, kernels
    folder = tempfile.TemporaryDirectory()
    run('ocloc', 'compile', '-file', KERNELS, '-device', 'skl', '-options', '-g', '-out_dir', folder.name)
    spirv = next(os.path.join(folder.name, name) for name in os.listdir(folder.name) if name.endswith('.spv'))
    plain = os.path.join(folder.name, 'plain')
    recording = os.path.join(folder.name, 'hostile')
    run(ZESCOPE, 'record', '--backtrace', '--debug-info', '--counts', '-o', plain, '--', ACTIVITY, spirv, check=9)
    shutil.copytree(plain, recording)
    report = json.loads(run(ZESCOPE, 'report', '--json', plain).stdout)
    kernels = {k['name'] for k in report['kernels']}
    for path in glob.glob(recording + '/**/*.json', recursive=True):
        with open(path, encoding='utf-8') as f:
            value = json.load(f)
        with open(path, 'w', encoding='utf-8') as f:
            json.dump(poison(value), f, ensure_ascii=False)
    for path in glob.glob(recording + '/**/*.jsonl', recursive=True) + glob.glob(recording + '/trace/*.symbols'):
        with open(path, encoding='utf-8') as f:
            lines = [json.loads(line) for line in f if line.strip()]
        with open(path, 'w', encoding='utf-8') as f:
            f.writelines(json.dumps(poison(v), ensure_ascii=False) + '\n' for v in lines)
    process = os.path.dirname(glob.glob(recording + '/process/*/process.json')[0])
    with open(process + '/notes.jsonl', 'a', encoding='utf-8') as f:
        f.write(json.dumps({'t_ns': 1, 'tid': 1, 'text': 'note ' + HOSTILE}, ensure_ascii=False) + '\n')
    names = [k.encode() for k in kernels] + [b'zeKernelCreate', b'zeContextDestroy', b'zeFenceCreate', b'hKernel',
                                             os.path.basename(ACTIVITY).encode()]
    for path in glob.glob(recording + '/trace/*.pftrace') + glob.glob(recording + '/sources/*'):
        with open(path, 'rb') as f:
            data = f.read()
        for name in names:
            data = data.replace(name, bytes_of_length(len(name)))
        with open(path, 'wb') as f:
            f.write(data)


def tearDownModule():
    folder.cleanup()


class Text(unittest.TestCase):
    def check_clean(self, p, colored=False):
        for data in (p.stdout, p.stderr):
            text = data.decode('utf-8')
            self.assertNotIn('\x1b[35;45m', text)
            text = OURS.sub('', text) if colored else text
            found = BAD.search(text)
            if found:
                around = text[max(0, found.start() - 60):found.end() + 20]
                self.fail(f'{p.args}: {found[0]!r} in {around!r}')
        return p.stdout.decode() + p.stderr.decode()

    def test_every_text_command(self):
        tables = ('calls', 'kernels', 'copies', 'memory', 'allocations', 'builds', 'threads', 'marks', 'pauses')
        commands = [['inspect'], ['inspect', '--kernel', '.'], ['disasm'], ['disasm', '-B', '-r', '-M'], ['annotate'],
                    ['report'], ['report', '--format', 'csv'], ['report', '--tree', 'host'],
                    ['report', '--tree', 'device'], ['report', '--tree', 'host', '--format', 'folded'],
                    ['log'], ['log', '-b']]
        commands += [['report', '-t', t] for t in tables]
        seen = ''
        for words in commands:
            for color in ('never', 'always'):
                with self.subTest(words=words, color=color):
                    p = run(ZESCOPE, *words, '--color', color, recording, check=None)
                    self.assertIn(p.returncode, (0, 1, 2))
                    text = self.check_clean(p, color == 'always')
                    self.assertGreater(len(text), 20)
                    seen += text
        # and what it says is there, written out
        self.assertIn('\\x1b[35;45m', seen)
        self.assertIn('\\u202e', seen)

    def test_diff(self):
        other = os.path.join(folder.name, 'plain')
        for words in ([recording, other], [other, recording], ['--fail-on', 'count>1%', other, recording]):
            self.assertIn('\\x1b[35;45m', self.check_clean(run(ZESCOPE, 'compare', '--threshold', '0', *words, check=None)))

    def test_what_users_give(self):
        bad = '\x1b[35;45m\x9b\u202e\x07'
        for words in (['inspect', bad], ['report', bad], [bad], ['annotate', '-k', '(' + bad, recording],
                      ['report', '--' + bad], ['log', '--limit', bad, recording], ['compare', bad, bad]):
            p = run(ZESCOPE, *words, check=None)
            self.assertNotEqual(p.returncode, 0)
            self.check_clean(p)

    def test_doctor(self):
        p = subprocess.run([ZESCOPE, 'doctor'], env=dict(ENV, ZE_ENABLE_ALT_DRIVERS='/\x1b[35;45m\u202e/x.so'),
                           capture_output=True, timeout=120, check=False)
        self.check_clean(p)

    def test_data_is_escaped(self):
        for words in (['report', '--json'], ['inspect', '--json'], ['disasm', '--json'], ['annotate', '--json']):
            data = run(ZESCOPE, *words, recording, check=None).stdout
            self.assertIsNone(re.search(b'[\x00-\x09\x0b-\x1f]', data), words)
            json.loads(data.decode('utf-8'))
        page = os.path.join(folder.name, 'page.html')
        run(ZESCOPE, 'report', '--html', page, recording)
        with open(page, 'rb') as f:
            data = f.read()
        data.decode('utf-8')
        self.assertNotIn(b'\x1b', data)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
