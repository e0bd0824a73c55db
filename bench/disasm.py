"""Disassembly against ocloc, and annotation as JSON against iga64 and llvm-dwarfdump together.

usage: bench/disasm.py ZESCOPE MODULE_FOLDER
"""
import glob
import os
import shutil
import subprocess
import sys
import tempfile

import measure


def dwarfdump():
    return shutil.which('llvm-dwarfdump') or shutil.which('llvm-dwarfdump-14') or 'llvm-dwarfdump'


def debug_elfs(dbg, folder):
    """llvm-dwarfdump reads ELF files: one per kernel, cut out of the debug data."""
    with open(dbg, 'rb') as f:
        data = f.read()
    at, paths = data.find(b'\x7fELF'), []
    while at >= 0:
        following = data.find(b'\x7fELF', at + 4)
        paths.append(os.path.join(folder, f'{len(paths)}.elf'))
        with open(paths[-1], 'wb') as f:
            f.write(data[at:following if following >= 0 else len(data)])
        at = following
    return paths


def has_command(zescope, name):
    return subprocess.run([zescope, name, '--help'], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, check=False).returncode == 0


def main():
    zescope, folder = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    module = os.path.join(folder, 'big.bin')
    code_B = os.path.getsize(os.path.join(folder, 'code.krn'))
    with tempfile.TemporaryDirectory() as work:
        commands = {
            'zescope disasm': [zescope, 'disasm', module],
            'zescope disasm -r -B -M': [zescope, 'disasm', '-r', '-B', '-M', module],
            'zescope disasm -k kern_007': [zescope, 'disasm', '-k', 'kern_007', module],
            'ocloc disasm': ['ocloc', 'disasm', '-file', module, '-device', 'skl', '-dump', work],
            'iga64 -d': ['iga64', '-d', '-p=9', '-o', os.path.join(work, 'out.asm'),
                         os.path.join(folder, 'code.krn')],
            'llvm-dwarfdump': [dwarfdump(), '--debug-line'] +
                              debug_elfs(os.path.join(folder, 'big.dbg'), work),
        }
        if has_command(zescope, 'annotate'):
            commands['zescope annotate --json'] = [zescope, 'annotate', '--json', module]
        best = measure.measure(commands)
    kernels = len(glob.glob(os.path.join(folder, 'code', '*.krn')))
    print(f'{kernels} kernels, {code_B} bytes of code, a file of {os.path.getsize(module)} bytes, '
          f'{os.cpu_count()} cores; least of {measure.RUNS} runs\n')
    print('| command | CPU s | wall s | peak MiB |\n|---|---|---|---|')
    for name, (cpu, wall, peak) in best.items():
        print(f'| {name} | {cpu:.3f} | {wall:.3f} | {peak / 1024:.0f} |')

    ours, ocloc = best['zescope disasm'], best['ocloc disasm']
    print('\n| ratio | measured | goal |\n|---|---|---|')
    print(f'| CPU, disasm to ocloc disasm | {ours[0] / ocloc[0]:.2f} | 1.00 |')
    print(f'| wall, disasm to ocloc disasm | {ours[1] / ocloc[1]:.2f} | 0.60 on two cores |')
    if 'zescope annotate --json' in best:
        peers = best['iga64 -d'][0] + best['llvm-dwarfdump'][0]
        ratio = best['zescope annotate --json'][0] / peers
        print(f'| CPU, annotate --json to iga64 -d and llvm-dwarfdump | {ratio:.2f} | 1.00 |')


if __name__ == '__main__':
    main()
