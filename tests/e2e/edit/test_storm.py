#!/usr/bin/env python3
"""test_storm.py STORM OCLOC SOURCE: see instrument_storm.c. Without address randomisation, which ThreadSanitizer may not take."""
import os
import shutil
import subprocess
import sys
import tempfile

storm, ocloc, source = map(os.path.abspath, sys.argv[1:])
with tempfile.TemporaryDirectory() as top:
    subprocess.run([ocloc, 'compile', '-q', '-file', source, '-device', 'skl', '-output_no_suffix', '-output', 'copy.bin'],
                   check=True, timeout=120, cwd=top)
    for folder in ('modules', 'process'):
        os.mkdir(os.path.join(top, folder))
    command = [storm, 'copy.bin', 'stride4', top]
    if shutil.which('setarch') and not subprocess.run(['setarch', '-R', 'true'], check=False).returncode:
        command = ['setarch', '-R'] + command
    sys.exit(subprocess.run(command, cwd=top, timeout=240, check=False, env=os.environ | {
        'TSAN_OPTIONS': 'halt_on_error=1'}).returncode)
