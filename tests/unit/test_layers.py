#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""scripts/check-layers finds includes that point up, private and public headers among them.

Usage: test_layers.py CHECK-LAYERS
"""
import os
import subprocess
import sys
import tempfile

CASES = [
    # file, its text, what is said of it (None: nothing)
    ('src/record/a.c', '#include "base/buf.h"', None),
    ('src/base/a.c', '#include "record/merge.h"', 'base may not include record/merge.h'),
    ('src/base/a.c', '#include <zescope/record.h>', 'base may not include <zescope/record.h>'),
    ('src/base/a.c', '#include <zescope/common.h>', None),
    ('src/gpu/a.c', '#  include <zescope/trace.h>', 'gpu may not include <zescope/trace.h>'),
    ('src/collect/a.c', '#include <zescope/driver_ext.h>', None),
    ('src/collect/a.c', '#include "record/counts.h"', 'collect may not include record/counts.h'),
    ('src/store/a.c', '#include <zescope/new.h>', '<zescope/new.h>: not a header that'),
    ('src/report/a.c', '#include "record/recording_priv.h"', 'is private to src/record'),
    ('src/eu/a.c', 'exit(1);', 'only src/cli may exit'),
    ('src/driver/a.c', '#include <zescope/dwarf.h>', None),
    ('src/driver/a.c', '#include <zescope/correlate.h>', 'driver may not include <zescope/correlate.h>'),
    ('src/dwarf/a.c', '#include "correlate/md5.h"', 'dwarf may not include correlate/md5.h'),
    ('src/other/a.c', '', 'of no layer that'),
    ('include/zescope/module.h', '#include <zescope/common.h>', None),
    ('include/zescope/module.h', '#include <zescope/record.h>', 'module may not include <zescope/record.h>'),
    ('include/zescope/new.h', '', 'of no layer that'),
]


def said_of(script, name, text):
    with tempfile.TemporaryDirectory() as root:
        path = os.path.join(root, name)
        os.makedirs(os.path.dirname(path))
        with open(path, 'w', encoding='utf-8') as f:
            f.write(text + '\n')
        done = subprocess.run([sys.executable, script, root], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout


def main():
    bad = 0
    for name, text, want in CASES:
        status, out = said_of(sys.argv[1], name, text)
        if (status != 0) != (want is not None) or (want and want not in out):
            print(f'{name}: {text}: exit {status}, said: {out.strip()}')
            bad += 1
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
