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
    prefix = ['setarch', '-R'] if shutil.which('setarch') and not subprocess.run(['setarch', '-R', 'true'], check=False).returncode else []
    for tool in ('blocks', 'memtrace'):
        for folder in ('', 'modules', 'process'):
            os.mkdir(os.path.join(top, tool, folder))
        command = [*prefix, storm, 'copy.bin', 'stride4', os.path.join(top, tool), tool]
        subprocess.run(command, cwd=top, timeout=240, check=True, env=os.environ | {'TSAN_OPTIONS': 'halt_on_error=1:atexit_sleep_ms=50'})
