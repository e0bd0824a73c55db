#!/usr/bin/env python3
"""test_queues.py ZESCOPE QUEUES OCLOC SOURCE: records of launches on two queues at once.

More of them than there is memory for are all there when each round finds room; where it does not, what is lost and what is
there make up the whole, and later modules have as much room as was asked for. A kernel of 16 items loads and stores once in each group.
"""
import json
import os
import struct
import subprocess
import sys
import tempfile

TIME_LIMIT_S = 120
HEAD = '<IIQQQ64sQQ'
SLACK_B = 32 + 16 * 64
QUEUES = 2
zescope, queues, ocloc, source = map(os.path.abspath, sys.argv[1:])


def run(device, name, modules, rounds, groups, *options):
    """The table, and (room, bytes kept, bytes lost) of each buffer, in the order in which modules were built."""
    folder = os.path.join(top, f'{device}-{name}')
    done = subprocess.run([zescope, 'instrument', 'memtrace', '--json', '-o', folder, *options, '--', queues, binary, 'endless',
                           str(modules), str(rounds), str(groups)], timeout=TIME_LIMIT_S, capture_output=True, text=True,
                          env=os.environ | {'ZESCOPE_DEVICES': device})
    assert done.returncode == 0, done
    table = json.loads(done.stdout)
    assert table['modules'] == modules and not table['damaged'] and not table['partial'], table
    found = []
    for entry in os.scandir(os.path.join(folder, 'instrument')):
        if entry.name.endswith('.data'):
            with open(entry.path, 'rb') as f:
                data = f.read()
            _, _, build, buffer_B, trace_B, _, is_final, lost_units = struct.unpack_from(HEAD, data)
            offset_B = buffer_B - trace_B - SLACK_B
            kept_B = len(data) - struct.calcsize(HEAD) - offset_B
            units, = struct.unpack_from('<Q', data, struct.calcsize(HEAD) + offset_B - 64)
            # a record that ends behind the room may have been in the file before it was known to
            assert is_final and 0 <= kept_B - units * 32 < SLACK_B, (entry.name, kept_B, units)
            kept_B = units * 32
            found.append((build, trace_B, kept_B, lost_units * 32))
    assert table['lost_B'] == sum(lost for *_, lost in found), (table, found)
    return table, [numbers[1:] for numbers in sorted(found)], done.stderr


def check(device):
    rounds, groups = 24, 500
    threads = QUEUES * rounds * groups
    table, (plain,), said = run(device, 'large', 1, rounds, groups)
    assert 16 << 20 < plain[0] <= 256 << 20, plain  # all that is kept, or what a device with little memory has
    for way, options in (('large', ()), ('small', ('--records-buffer', '1048576'))):
        if options:
            table, (buffer,), said = run(device, way, 1, rounds, groups, *options)
            # a round takes much of the room, and less than three quarters: at a quarter a trace is emptied
            assert buffer[0] == 1 << 20 and buffer[0] / 4 < buffer[1] / rounds < buffer[0] * 3 / 4, buffer
            assert buffer[1:] == plain[1:], (buffer, plain)
        rows = [r for r in table['rows'] if r['access'].startswith(('load 4 B', 'store 4 B')) and r['line']]
        assert {r['access'].split()[0] for r in rows} == {'load', 'store'}, table
        assert all(r['messages'] == threads and r['lanes'] == 16 * threads for r in rows), (way, table)
        assert table['lost_B'] == 0 and 'lost' not in said, (table, said)
    # far more than fits
    table, found, said = run(device, 'tiny', 3, 1, rounds * groups, '--records-buffer', '8192')
    assert '--records-buffer' in said and table['lost_B'], (table, said)
    assert all(kept + lost == plain[1] for _, kept, lost in found), (found, plain)
    assert [room for room, *_ in found] == [8192] * 3, found
    # what is kept ends at the limit
    table, (buffer,), said = run(device, 'short', 1, rounds, groups, '--records-buffer', '1048576', '--records-limit', '2097152')
    assert buffer[1] <= 2 << 20 < buffer[1] + (1 << 20) and buffer[1] + buffer[2] == plain[1], buffer
    print(device, 'ok')


with tempfile.TemporaryDirectory() as top:
    for device in ('skl', 'pvc'):
        binary = os.path.join(top, device + '.bin')
        subprocess.run([ocloc, 'compile', '-q', '-file', source, '-device', device, '-options', '-g', '-output_no_suffix', '-output',
                        binary], check=True, timeout=TIME_LIMIT_S)
        check(device)
