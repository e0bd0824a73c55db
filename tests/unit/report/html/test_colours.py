#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Text can be read: 4.5 to 1 against every background that it stands on, light and dark.

Usage: test_colours.py STYLE.css
"""
import re
import sys

TEXTS = 'text text-dim text-faint accent bad warn kw type fn str num com pre op reg arf rgn pred msg'.split()
BACKGROUNDS = 'bg bg-bar bg-sunk bg-raised accent-soft pin-bg pin-bg-weak hover-bg hover-bg-weak hit'.split()


def luminance(colour):
    parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(a, b):
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


def main():
    with open(sys.argv[1], encoding='utf-8') as f:
        colours = {m[1]: (m[2], m[3]) for m in re.finditer(r'--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)', f.read())}
    bad = [(text, ground, ('light', 'dark')[i], round(contrast(colours[text][i], colours[ground][i]), 2))
           for text in TEXTS for ground in BACKGROUNDS for i in (0, 1) if contrast(colours[text][i], colours[ground][i]) < 4.5]
    print(*bad, sep='\n')
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
