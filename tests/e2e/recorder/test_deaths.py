#!/usr/bin/env python3
"""Recordings of applications that are killed at random moments, and of full disks: what was recorded
until then is readable, whole and in order.

Usage: test_deaths.py ZESCOPE DRIVER LISTER PROGRAM [KILLS]
"""
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
import unittest

from common import Recorder

PROGRAM = os.path.abspath(sys.argv[4])
KILLS = int(sys.argv[5]) if len(sys.argv) > 5 else 100
ROUND = ['zeMemAllocHost', 'zeMemFree']


def setUpModule():
    global recorder
    recorder = Recorder(*sys.argv[1:4])


def tearDownModule():
    recorder.close()


class Deaths(unittest.TestCase):
    def check(self, path, threads):
        """Each thread's calls alternate between allocating and freeing, without a gap."""
        report = recorder.report(path)
        self.assertEqual(report['damaged_files'], 0, path)
        self.assertEqual(report['lost_calls'], 0, path)
        counts = {}
        p = recorder.run(recorder.zescope, 'report', '--json', '--per-thread', path)
        for row in json.loads(p.stdout)['calls']:
            if row['name'] in ROUND:
                counts.setdefault(row['tid'], {})[row['name']] = row['count']
        self.assertLessEqual(len(counts), threads)
        for row in counts.values():
            allocs, frees = (row.get(name, 0) for name in ROUND)
            self.assertIn(allocs - frees, (0, 1))
        lines = recorder.run(recorder.zescope, 'log', path).stdout.splitlines()
        sizes = {}
        for line in lines:
            if 'zeMemAllocHost(' in line:
                thread = line.split()[1]
                size = int(line.split('size = ')[1].split(',')[0])
                self.assertEqual(size, 4096 + sizes.get(thread, 0))
                sizes[thread] = sizes.get(thread, 0) + 1
        return sum(row.get('zeMemFree', 0) for row in counts.values())

    def kill_once(self, everything, delay):
        path = recorder.new()
        p = subprocess.Popen([recorder.zescope, 'record', '-q', '-o', path, '--', PROGRAM, '2', '1000000',
                              'return'], env=dict(os.environ, **recorder.software()),
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                             start_new_session=True)
        process = os.path.join(path, 'trace', 'p0')
        while not os.path.exists(process) and p.poll() is None:
            time.sleep(0.002) # until the application has begun to make calls
        time.sleep(delay)
        if everything:
            os.killpg(p.pid, signal.SIGKILL)
        else:
            with open(f'/proc/{p.pid}/task/{p.pid}/children', encoding='ascii') as f:
                os.kill(int(f.read().split()[0]), signal.SIGKILL)
        status = p.wait()
        self.assertEqual(status, -9 if everything else 128 + 9)
        return path

    def test_kill(self):
        """Half of the times zescope is killed with the application: nobody cuts the files then."""
        chance = random.Random(1)
        found = 0
        i = 0
        while i < KILLS or not found: # later on busy machines: in some of them calls were made
            path = self.kill_once(i % 2 == 1, chance.random() * 0.02 * (1 + i // KILLS))
            found += self.check(path, 2)
            subprocess.run(['rm', '-r', path], check=True)
            i += 1

    def test_files_may_not_grow(self):
        """Every file ends at a limit: the application goes on, losses are told."""
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (3 << 20, 3 << 20))
        path, p = recorder.record([], [PROGRAM, '2', '80000', 'return'], check=7,
                                  preexec_fn=limit)
        self.assertEqual(p.stdout, 'made all calls\n')
        self.assertRegex(p.stderr, r'lost: \d+ beginnings and ends')
        self.assertGreater(self.check(path, 2), 10000)

    def check_full_disk(self, *mount):
        disk = os.path.join(recorder.folder, 'disk')
        os.makedirs(disk, exist_ok=True)
        if subprocess.run(['mount', *mount, disk], stderr=subprocess.DEVNULL, check=False).returncode:
            self.skipTest(f'mount {" ".join(mount)}: not here')
        try:
            recorder.number += 1
            path = os.path.join(disk, 'rec')
            p = recorder.run(recorder.zescope, 'record', '-q', '-o', path, '--', PROGRAM, '2', '80000',
                             'return', env=recorder.software(), check=7)
            self.assertEqual(p.stdout, 'made all calls\n')
            self.assertGreater(self.check(path, 2), 10000)
        finally:
            subprocess.run(['umount', disk], check=True)

    @unittest.skipUnless(os.geteuid() == 0, 'only root can mount')
    def test_full_disk(self):
        self.check_full_disk('-t', 'tmpfs', '-o', 'size=4m', 'none')

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which('mkfs.ext4'), 'only root can mount')
    def test_full_disk_with_blocks(self):
        """Where room is made by writing: what is mapped is never more than what is there."""
        image = os.path.join(recorder.folder, 'image')
        with open(image, 'wb') as f:
            f.truncate(8 << 20)
        subprocess.run(['mkfs.ext4', '-q', image], check=True)
        self.check_full_disk('-o', 'loop', image)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
