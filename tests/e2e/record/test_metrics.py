# SPDX-License-Identifier: MIT
"""zescope metrics: text and JSON say the same; drivers that are broken, devices that are not.

usage: test_metrics.py ZESCOPE CRASHING_DRIVER HANGING_DRIVER FAILING_DRIVER [unittest options]
"""
import json
import os
import re
import subprocess
import sys
import unittest

ZESCOPE, CRASH, HANG, FAIL = (os.path.abspath(a) for a in sys.argv[1:5])


def metrics(*options, **env):
    full = {k: v for k, v in os.environ.items() if not k.startswith(('ZE', 'NEO'))}
    full.update(env)
    return subprocess.run([ZESCOPE, 'metrics', *options], env=full, capture_output=True, text=True,
                          timeout=240, check=False)


class MetricsTest(unittest.TestCase):
    def test_json(self):
        done = metrics('list', '--device', 'skl,bxt', '--json')
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        document = json.loads(done.stdout)
        self.assertEqual(document['schema'], 'zescope.metric-groups/1')
        self.assertEqual([d['index'] for d in document['devices']], [0, 1])
        self.assertNotEqual(document['devices'][0]['name'], document['devices'][1]['name'])
        for device in document['devices']:
            names = [(g['name'], g['sampling']) for g in device['groups']]
            self.assertEqual(len(set(names)), len(names))
            for sampling in ('event', 'time'):
                self.assertIn(('ComputeBasic', sampling), names)
            self.assertGreaterEqual(len({g['domain'] for g in device['groups']}), 2)
            for group in device['groups']:
                self.assertEqual(len(group['metrics']), group['metric_count'])
                self.assertTrue(all(m['name'] and m['description'] for m in group['metrics']))
        basic = document['devices'][0]['groups'][0]['metrics']
        time_ns = next(m for m in basic if m['name'] == 'GpuTime')
        # as Intel's sets for Gen9 have it
        self.assertEqual((time_ns['units'], time_ns['type'], time_ns['value_type']),
                         ('ns', 'duration', 'uint64'))

    def test_text(self):
        groups = json.loads(metrics('list', '-d', 'skl', '--json').stdout)['devices'][0]['groups']
        short = metrics('list', '-d', 'skl').stdout
        self.assertEqual(re.findall(r'^  (\w+) +(\d) (event|time|tracer) +(\d+)  ', short, flags=re.M),
                         [(g['name'], str(g['domain']), g['sampling'], str(g['metric_count']))
                          for g in groups])
        full = metrics('list', '-d', 'skl', '--group', 'computebasic').stdout
        self.assertEqual(re.findall(r'^    (\w+) ', full, flags=re.M),
                         [m['name'] for g in groups if g['name'] == 'ComputeBasic'
                          for m in g['metrics']])
        self.assertNotIn('ZscopeInstructions', full)

    def test_errors(self):
        for arguments, status, says in (
                (['list', '-d', 'skl', '--group', 'NoSuch'], 1, 'no group of this name'),
                (['list', '-d', 'no_such_gpu'], 2, 'no_such_gpu is not known; the devices are:'),
                (['list', '-d', 'skl:0'], 2, 'number of tiles'),
                ([], 2, 'list, query, stream or show is expected'), (['query'], 2, 'needs a metric group'),
                (['measure'], 2, 'not measure'),
                (['list', '--timeout', '0'], 2, '--timeout')):
            done = metrics(*arguments)
            self.assertEqual((done.returncode, done.stdout), (status, ''), arguments)
            self.assertIn(says, done.stderr)

    def test_broken_drivers(self):
        for driver, says in ((CRASH, 'crashed'), (HANG, 'did not answer within 1 s'),
                             (FAIL, 'zeInit gives'), ('/no/such.so', 'zeInit gives')):
            done = metrics('list', '--timeout', '1' if driver == HANG else '3600',
                           ZE_ENABLE_ALT_DRIVERS=driver)
            self.assertEqual((done.returncode, done.stdout), (1, ''), driver)
            self.assertIn(says, done.stderr)


if __name__ == '__main__':
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]], verbosity=2)
