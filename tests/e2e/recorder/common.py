"""Shared by the tests of this folder."""
import json
import os
import subprocess
import tempfile


class Recorder:
    """Programs recorded on the software GPU."""

    def __init__(self, zescope, driver, lister):
        self.zescope, self.driver, self.lister = (os.path.abspath(p)
                                                  for p in (zescope, driver, lister))
        self.scratch = tempfile.TemporaryDirectory()
        self.folder = self.scratch.name
        self.number = 0

    def close(self):
        self.scratch.cleanup()

    def run(self, *words, env=None, check=0, **more):
        p = subprocess.run(words, env=dict(os.environ, **(env or {})), capture_output=True, text=True,
                           timeout=240, **more)
        if check is not None and p.returncode != check:
            raise AssertionError(f'{words}: exit {p.returncode}\n{p.stdout}{p.stderr}')
        return p

    def spirv(self, source):
        self.run('ocloc', 'compile', '-file', source, '-device', 'skl', '-out_dir', self.folder)
        return next(os.path.join(self.folder, name) for name in os.listdir(self.folder)
                    if name.endswith('.spv'))

    def new(self):
        self.number += 1
        return os.path.join(self.folder, f'rec{self.number}')

    def software(self, env=None):
        return dict({'ZE_ENABLE_ALT_DRIVERS': self.driver}, **(env or {}))

    def record(self, options, app, check=9, env=None, **more):
        """The recording, and what the command said."""
        path = self.new()
        p = self.run(self.zescope, 'record', *options, '-o', path, '--', *app,
                     env=self.software(env), check=check, **more)
        return path, p

    def report(self, path):
        return json.loads(self.run(self.zescope, 'report', '--json', path).stdout)

    def counts(self, path):
        return {c['name']: c['count'] for c in self.report(path)['calls']}

    def lines(self, path):
        """Words of the lines of list_activity."""
        return [line.split() for line in self.run(self.lister, path).stdout.splitlines()]

    def executions(self, path):
        """(kind, kernel) -> [timed, others]"""
        found = {}
        for words in self.lines(path):
            if words[0] == 'execute':
                found.setdefault((words[1], words[2]), [0, 0])[words[-1] == 'unknown'] += 1
        return found
