# SPDX-License-Identifier: MIT
"""Numbers of a page's timeline (src/report/html_timeline.h): base64 VLQ, as source maps have it."""
DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'


def numbers(text):
    found, value, shift = [], 0, 0
    for digit in map(DIGITS.index, text):
        value |= (digit & 31) << shift
        shift += 5
        if not digit & 32:
            found.append(-(value >> 1) if value & 1 else value >> 1)
            value = shift = 0
    return found


def text(values):
    out = []
    for value in values:
        rest = abs(value) << 1 | (value < 0)
        while rest > 31:
            out.append(DIGITS[rest & 31 | 32])
            rest >>= 5
        out.append(DIGITS[rest])
    return ''.join(out)


def unpacked(timeline):
    """The timeline with the items of its tracks as lists."""
    for track in timeline['tracks']:
        track['items'] = numbers(track['items'])
    return timeline
