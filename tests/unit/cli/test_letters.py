#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A letter stands for the same option in all commands that have it, and an option has the same letter.

Usage: test_letters.py ZESCOPE
"""
import re
import subprocess
import sys



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
            first = names.setdefault(letter, (name, command))
            if first[0] != name:
                print(f'-{letter} is --{first[0]} of {first[1]} and --{name} of {command}')
                bad += 1
    # an option that has a letter has it everywhere
    letters = {name: letter for letter, (name, _) in names.items()}
    for command in commands:
        page = run('--generate-man', command).replace('\\-', '-')
        for name in re.findall(r'^\\fB--([\w-]+)\\fR', page, re.M):
            if name in letters:
                print(f'--{name} of {command} has no -{letters[name]}')
                bad += 1
    assert names['o'][0] == 'output' and names['k'][0] == 'kernel', names
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
