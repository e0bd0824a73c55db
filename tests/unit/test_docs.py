#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the docs name is there, they stay short, and every place that says the version says the same.

Usage: test_docs.py ROOT VERSION
"""
import os
import re
import sys

# files of the repository in backticks or links; not those with a placeholder
NAMED = re.compile(r'`((?:src|tests|scripts|include|bench|examples|docs)/[\w./-]+[\w])`')
CALL = re.compile(r'`((?:zs|ze|zet)_?\w+|finish_submission|run_one)\(\)`')
LINK = re.compile(r'\]\(([^)#:]+)(?:#[^)]*)?\)')


# words of all pages together: whoever adds some takes others out
WORDS_MAX = 35000


def pages(root):
    top = [f for f in os.listdir(root) if f.endswith('.md')] + ['bench/README.md']
    return sorted(top) + sorted('docs/' + f for f in os.listdir(os.path.join(root, 'docs')) if f.endswith('.md'))


def missing_in(root, page):
    with open(os.path.join(root, page), encoding='utf-8') as f:
        text = f.read()
    names = [(name, name) for name in NAMED.findall(text)]
    names += [(link, os.path.join(os.path.dirname(page), link)) for link in LINK.findall(text)]
    return [f'{page}: {name}' for name, path in names if not is_there(os.path.join(root, path))]


def is_there(path):
    """The file, the folder, or what is built of a source of that name."""
    return os.path.exists(path) or os.path.exists(path + '.c')


def functions_missing_in(root, page):
    """Of the tour, which leads from function to function."""
    with open(os.path.join(root, page), encoding='utf-8') as f:
        wanted = set(CALL.findall(f.read()))
    for folder, _, names in os.walk(os.path.join(root, 'src')):
        for name in names:
            if wanted and name.endswith(('.c', '.h')):
                with open(os.path.join(folder, name), encoding='utf-8') as f:
                    text = f.read()
                wanted = {w for w in wanted if not re.search(rf'\b{w}\(', text)}
    return [f'{page}: {name}()' for name in sorted(wanted)]


def words_in(root, page):
    with open(os.path.join(root, page), encoding='utf-8') as f:
        return len(f.read().split())


def version_of(root, page, pattern):
    with open(os.path.join(root, page), encoding='utf-8') as f:
        found = re.search(pattern, f.read(), re.M)
    return found.group(1) if found else 'none'


def main():
    root, version = sys.argv[1:3]
    bad = [f'{text}: is not there' for page in pages(root) for text in missing_in(root, page)]
    bad += [f'{text}: is not there' for text in functions_missing_in(root, 'docs/tour.md')]
    words = sum(words_in(root, page) for page in pages(root))
    if words > WORDS_MAX:
        bad.append(f'the pages have {words} words, more than {WORDS_MAX}')
    for page, pattern in (('debian/changelog', r'\Azescope \((\S+)\)'), ('CHANGELOG.md', r'^## (\S+)')):
        said = version_of(root, page, pattern)
        if said != version:
            bad.append(f'{page}: its newest version is {said}, the project\'s {version}')
    print('\n'.join(bad))
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
