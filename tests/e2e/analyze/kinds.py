#!/usr/bin/env python3
"""A recording of the kernels of kinds.cl, for the tests of this folder."""
import glob
import os
import subprocess

# name: groups, size, local memory in bytes, launches
SHAPES = {
    'clean': (42, 256, 0, 2),
    'streaming': (168, 256, 0, 1),
    'strided': (168, 256, 0, 1),
    'scattered': (168, 256, 0, 1),
    'divergent': (42, 256, 0, 1),
    'spilling': (21, 64, 0, 1),
    'conflicts': (42, 64, 8192, 1),
    'crowded': (42, 32, 40000, 1),
    'imbalanced': (42, 256, 1024, 1),
    'hidden': (42, 64, 8192, 1),
    'uneven': (42, 256, 1024, 1),
}
# What only a replay without it tells: gains (ZscopeGains).
OF_GAINS = {
    'chased': (42, 256, 0, 1),
    'contended': (42, 256, 0, 1),
    'private_array': (42, 64, 0, 1),
    'sines': (42, 256, 0, 1),
    'doubled': (42, 256, 0, 1),
    'again': (42, 256, 0, 1),
    'hashed': (42, 256, 0, 1),
    'wrapped': (42, 256, 0, 1),
}
ROUNDS = 4


class Kinds:
    def __init__(self, source, zescope, driver, program, folder, device='skl', options='-g'):
        self.zescope, self.program, self.folder = zescope, program, folder
        self.env = dict(os.environ, ZE_ENABLE_ALT_DRIVERS=driver, ZESCOPE_DEVICES=device)
        self.source = source
        # ocloc splits its options at blanks: no paths in them, hence a copy
        with open(source) as f, open(os.path.join(folder, 'kinds.cl'), 'w') as g:
            g.write(f.read())
        subprocess.run(['ocloc', 'compile', '-q', '-file', 'kinds.cl', '-device', device, '-options', options,
                        '-output', f'kinds_{device}'], cwd=folder, check=True, capture_output=True, timeout=250)
        self.binary = glob.glob(os.path.join(folder, f'kinds_{device}_*.bin'))[0]

    def run(self, *words):
        """Exit status, standard output, standard error."""
        p = subprocess.run([self.zescope, *words], env=self.env, cwd=self.folder, capture_output=True, text=True,
                           timeout=500, check=False)
        return p.returncode, p.stdout, p.stderr

    def record(self, name, *options, kernels=tuple(SHAPES), rounds=ROUNDS, **shapes):
        path = os.path.join(self.folder, name)
        all_shapes = {**SHAPES, **OF_GAINS, **shapes}
        what = [':'.join(map(str, (k, *all_shapes[k]))) for k in kernels]
        status, _, err = self.run('record', *options, '-o', path, '--', self.program, self.binary, str(rounds), *what)
        if status:
            raise AssertionError(err)
        return path

    def line(self, mark):
        with open(self.source) as f:
            return next(n for n, text in enumerate(f, 1) if f'MARK {mark}' in text)
