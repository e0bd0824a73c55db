#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the docs name is there, and every place that says the version says the same.

Usage: test_docs.py ROOT VERSION
"""
import os
import re
import sys

# files of the repository in backticks or links; not those with a placeholder
NAMED = re.compile(r'`((?:src|tests|scripts|include|bench|examples|docs)/[\w./-]+[\w])`')
LINK = re.compile(r'\]\(([^)#:]+)(?:#[^)]*)?\)')


def pages(root):
    top = [f for f in os.listdir(root) if f.endswith('.md')]
    return sorted(top) + sorted('docs/' + f for f in os.listdir(os.path.join(root, 'docs')) if f.endswith('.md'))


def missing_in(root, page):
    with open(os.path.join(root, page), encoding='utf-8') as f:
        text = f.read()
    names = [(name, name) for name in NAMED.findall(text)]
    names += [(link, os.path.join(os.path.dirname(page), link)) for link in LINK.findall(text)]
    return [f'{page}: {name}' for name, path in names if not os.path.exists(os.path.join(root, path))]


def version_of(root, page, pattern):
    with open(os.path.join(root, page), encoding='utf-8') as f:
        found = re.search(pattern, f.read(), re.M)
    return found.group(1) if found else 'none'


def main():
    root, version = sys.argv[1:3]
    bad = [f'{text}: is not there' for page in pages(root) for text in missing_in(root, page)]
    for page, pattern in (('debian/changelog', r'\Azescope \((\S+)\)'), ('CHANGELOG.md', r'^## (\S+)')):
        said = version_of(root, page, pattern)
        if said != version:
            bad.append(f'{page}: its newest version is {said}, the project\'s {version}')
    print('\n'.join(bad))
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
