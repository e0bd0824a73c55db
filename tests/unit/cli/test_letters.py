#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A letter stands for the same option in all commands that have it, and an option has the same letter.

Usage: test_letters.py ZESCOPE

Letters that people know from elsewhere may differ, named here.
"""
import re
import subprocess
import sys

KNOWN = {('debug', 'p', 'pid'), ('debug', 'x', 'command'),  # as gdb's
         ('metrics', 'g', 'group')}


def run(*words):
    return subprocess.run([sys.argv[1], *words], capture_output=True, text=True, check=True).stdout


def main():
    commands = re.findall(r'^ +([a-z]+) ', run('--help'), re.M)
    assert {'record', 'report', 'annotate', 'run'} <= set(commands), commands
    names, bad = {}, 0
    for command in commands:
        page = run('--generate-man', command)
        for letter, name in re.findall(r'^\\fB\\-(\w)\\fR, \\fB\\-\\-([\w\\-]+)\\fR', page, re.M):
            name = name.replace('\\', '')
            if (command, letter, name) in KNOWN:
                continue
            first = names.setdefault(letter, (name, command))
            if first[0] != name:
                print(f'-{letter} is --{first[0]} of {first[1]} and --{name} of {command}')
                bad += 1
    assert names['o'][0] == 'output' and names['k'][0] == 'kernel', names
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
