"""Random kernels under all checks: what is told of those without a defect, and of the same ones with one planted.

usage: bench/random_checked.py BUILD_FOLDER [--seeds=1-10] [--devices=skl,dg2,pvc] [--least=PERCENT]

Programs are those of random_kernels.py. Each runs as it is, and again with each row of DEFECTS put at the end of its last
function. A finding of the wrong kind, or any of a program as it is, is a false alarm. Exit status: 1 after a false alarm, or
when fewer defects than --least (default 0) were found.
"""
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

import random_kernels as rk

KINDS = 'memory,init,undefined,race,sync,swsb'
# kind of the finding, what it is, statements; V: an integer variable of the work-item's
DEFECTS = [
    ('memory', 'behind an array', 'uint a[8]; for (uint i = 0; i < 8u; i++) a[i] = (uint)V * i; out[gid * OUTS] ^= a[(uint)V % 8u + 8u];'),
    ('memory', 'in front of an array', 'uint a[8]; for (uint i = 0; i < 8u; i++) a[i] = (uint)V * i; out[gid * OUTS] ^= a[(int)((uint)V % 8u) - 8];'),
    ('memory', 'behind a constant array', 'out[gid * OUTS] ^= table_int[(uint)V % 16u + 16u];'),
    ('memory', 'behind a local array', 'out[gid * OUTS] ^= even[GROUP * ROOM];'),
    ('memory', 'behind a buffer', 'out[GROUP * 2u * OUTS + lid] = V;'),
    ('undefined', 'an array in part',
     'uint a[8]; for (uint i = 0; i < 8u; i++) if (((uint)V ^ sums[i]) >> (gid + i) % 5u & 1u) a[i] = lid;'
     ' if (a[gid % 8u] == 3u) out[gid * OUTS] = 7u;'),
    ('race', 'of all work-items', 'out[1] = gid;'),
    ('race', 'in local memory', '((local uint *)sums)[3] = lid;'),
    ('sync', 'a barrier of some', 'if (lid < GROUP / 2u) barrier(CLK_LOCAL_MEM_FENCE);'),
]
# what is told as well, or instead
ALSO = {'behind a local array': ['undefined', 'init'], 'in local memory': ['undefined']}


def planted(p, defect):
    """The program's text; None: it has no place for it."""
    text = p.text()
    variables = [v for v, t in p.variables if t in ('int', 'uint', 'long', 'ulong')]
    head, begin, end = text.rpartition('\nstatic void finish(')
    body, close, rest = end.partition('\n}\n')
    if not variables or (defect[0] != 'memory' and p.maker.group < 2) or not begin or not close:
        return None
    return head + begin + body + '\n    { ' + re.sub(r'\bV\b', variables[0], defect[2]) + ' }' + close + rest


class Checked:
    def __init__(self, names, folder, report):
        self.devices, self.folder, self.report, self.seen = rk.Devices(names), folder, report, 0

    def found(self):
        """Findings since the last call: kinds, and the text."""
        with open(self.report, encoding='utf-8', errors='replace') as f:
            f.seek(self.seen)
            text = f.read()
            self.seen = f.tell()
        return re.findall(r'^%finding (\w+) error', text, re.M), text

    def run(self, p, text, seed, doubles, device):
        """What is told, and the values; None: it was not built."""
        spirv = rk.spirv_of(p, text, self.folder, doubles)
        data = struct.pack(f'{rk.INPUT}I', *rk.input_of(seed))
        got = self.devices.launch(device, spirv, '-cl-fp32-correctly-rounded-divide-sqrt -g', p.maker.group, data, rk.out_size(p),
                                  rk.values_of(seed, p.more))
        kinds, told = self.found()
        return None if isinstance(got, str) and got.startswith('not built') else (kinds, told, got)


def child(names, seeds, report):
    with tempfile.TemporaryDirectory(prefix='zescope-random-') as folder:
        checked = Checked(names, folder, report)
        for seed in seeds:
            make, doubles = rk.program, seed % 3 == 0
            p = make(seed, doubles)
            expected = rk.by_gcc(p, p.text(), folder, seed)
            texts = [(None, p.text())] + [(d, planted(p, d)) for d in DEFECTS]
            for device in names:
                if (doubles and device not in rk.DOUBLES) or rk.is_left_out(p, device, ''):
                    continue
                for defect, text in texts:
                    try:
                        got = checked.run(p, text, seed, doubles, device) if text else None
                    except RuntimeError as error:
                        got, _ = None, print(json.dumps(['failed', seed, device, None, str(error)[:300]]), flush=True)
                    if got and not defect and isinstance(got[2], bytes) and rk.difference(p, expected, got[2]):
                        print(json.dumps(['wrong', seed, device, None, got[0]]), flush=True)
                        break
                    if got:
                        print(json.dumps(['ran', seed, device, defect and defect[:2], got[:2]]), flush=True)


def main():
    if len(sys.argv) < 2 or any(not a.startswith(('--seeds=', '--devices=', '--least=')) for a in sys.argv[2:]):
        sys.exit(__doc__)
    found = dict(a[2:].split('=', 1) for a in sys.argv[2:])
    first, _, last = found.get('seeds', '1-10').partition('-')
    names = found.get('devices', 'skl,dg2,pvc').split(',')
    rates, wrong, clean, miscompiled = {}, 0, 0, 0
    for seed in range(int(first), int(last or first) + 1):
        with tempfile.NamedTemporaryFile(prefix='zescope-checked-') as report:
            env = dict(os.environ, ZE_ENABLE_ALT_DRIVERS=os.path.abspath(sys.argv[1]) + '/src/driver/libze_zescope.so.1',
                       ZESCOPE_DEVICES=','.join(names), ZESCOPE_CACHE='0', ZESCOPE_KERNEL_TIMEOUT='20', ZESCOPE_CHECK=KINDS,
                       ZESCOPE_CHECK_REPORT=report.name, ZESCOPE_LOG='off')
            job = subprocess.run([sys.executable, __file__, '--child', json.dumps([names, [seed], report.name])], env=env,
                                 stdout=subprocess.PIPE, text=True, check=False)
        for line in job.stdout.splitlines():
            what, seed, device, defect, got = json.loads(line)
            if what == 'wrong':
                miscompiled += 1
                print(f'compiled wrongly {seed} {device}: {got}', flush=True)
                continue
            if what != 'ran':
                print(f'failed {seed} {device}: {got}', flush=True)
                continue
            kinds, text = got
            clean += not defect
            is_wrong = [k for k in kinds if not defect or (k != defect[0] and k not in ALSO.get(defect[1], ()))]
            if defect:
                hit = any(k in kinds for k in (defect[0], *ALSO.get(defect[1], ())))
                rates.setdefault(tuple(defect), []).append(hit)
                if not hit:
                    print(f'missed {seed} {device}: {defect[1]}', flush=True)
            if is_wrong:
                wrong += 1
                print(f'false {seed} {device} {defect or "as it is"}: {is_wrong}\n{text}', flush=True)
        if job.returncode:
            wrong += 1
            print(f'false {seed}: the process ended with {job.returncode}', flush=True)
    for (kind, what), hits in sorted(rates.items()):
        print(f'{kind}, {what}: {sum(hits)} of {len(hits)}')
    hits = [h for row in rates.values() for h in row]
    print(f'{sum(hits)} of {len(hits)} defects found; {wrong} false alarms, {clean} programs without a defect, {miscompiled} compiled wrongly')
    return 1 if wrong or 100 * sum(hits) < int(found.get('least', '0')) * len(hits) else 0


if __name__ == '__main__':
    sys.exit(child(*json.loads(sys.argv[2])) if sys.argv[1:2] == ['--child'] else main())
