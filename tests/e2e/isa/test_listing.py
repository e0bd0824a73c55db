"""Our listing of compiled kernels is iga64's, line by line, for every instruction set.

usage: test_listing.py LIST_CODE KERNELS.CL [--sample]
"""
import os
import random
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import modules  # noqa: E402

# device, what iga64 calls its instruction set, compiler options
BUILDS = [
    ('bdw', '8', ''), ('skl', '9', ''), ('skl', '9', '-cl-opt-disable -g'),
    ('skl', '9', '-cl-fp32-correctly-rounded-divide-sqrt'), ('glk', '9', ''),
    ('icllp', '11', ''), ('ehl', '11', ''), ('tgllp', '12p1', ''), ('adl-p', '12p1', ''),
    ('dg1', '12p1', '-cl-opt-disable -g'), ('xe_hp_sdv', '12p5', ''), ('dg2', '12p71', ''),
    ('acm-g11', '12p71', '-cl-opt-disable -g'), ('pvc', '12p72', ''),
    ('pvc', '12p72', '-cl-opt-disable -g'),
]
# each instruction set, and what the compiler leaves as it is
SAMPLE = [build for build in BUILDS if build[0] in ('bdw', 'skl', 'icllp', 'tgllp', 'xe_hp_sdv', 'dg2', 'pvc') and 'rounded' not in build[2]]
FLIPS = 40


# libiga64 beside IGC 2: it appends ??? to messages of shapes that it doubts, and names more of the reserved ones
IS_LATER = os.path.exists('/usr/lib/x86_64-linux-gnu/libigdfcl.so.2')


def run(command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)


def iga64(platform, path, out):
    """Its lines, and where instructions are that it refuses."""
    result = run(['iga64', '-d', '-q', f'-p={platform}', '--output-on-fail', '-o', out, path])
    refused = {int(at, 16) for at, why in re.findall(rb'byte offset 0x([0-9a-f]+): error: (.*)',
                                                     result.stderr) if b'target' not in why}
    with open(out, 'rb') as f:
        return f.read().replace(b'; ???', b'').split(b'\n'), refused


def compare(what, ours, theirs):
    for i, (a, b) in enumerate(zip(ours, theirs)):
        if a != b:
            return f'{what}: line {i + 1}:\n  ours   {a!r}\n  iga64  {b!r}'
    if len(ours) != len(theirs):
        return f'{what}: {len(ours)} lines, iga64 has {len(theirs)}'
    return None


def damage(code, rng):
    """Flip bits of instructions, keeping sizes; labels of damaged branches are not compared."""
    data = bytearray(code)
    for _ in range(FLIPS):
        bit = rng.randrange(len(data) * 8)
        if bit % 64 != 29:
            data[bit // 8] ^= 1 << bit % 8
    return bytes(data)


def compare_damaged(what, code, ours, theirs, refused):
    """The same text, or both refuse; damaged branches may point anywhere."""
    ours, theirs = ([line for line in lines if line and not line.startswith(b'L')]
                    for lines in (ours, theirs))
    at = 0
    for a, b in zip(ours, theirs):
        no_instruction = b'illegal' in a and b'//' in a
        branch = b' L' in a.split(b'//')[0]
        if IS_LATER:
            a, b = (line.split(b'//')[0].rstrip() for line in (a, b))
        if re.search(rb' -?\d+:b ', a):  # iga64 prints such an immediate as a character
            a = b
        if no_instruction != (at in refused) or not (no_instruction or branch or a == b):
            return f'{what}: at {at:#x}:\n  ours   {a!r}\n  iga64  {b!r}'
        at += 8 if code[at + 3] & 0x20 else 16
    return None if at == len(code) else f'{what}: {at} of {len(code)} bytes listed'


def check_build(build, list_code, source, folder):
    device, platform, options = build
    errors = []
    work = tempfile.mkdtemp(dir=folder)
    try:
        module = modules.compile_module(source, device, work, options)
    except RuntimeError as error:
        return [str(error)], 0
    lines = 0
    rng = random.Random(f'{device}{options}')
    for name, code in modules.kernels(module):
        path = os.path.join(work, name)
        for damaged in (False, True):
            if damaged:
                code = damage(code, rng)
            with open(path, 'wb') as f:
                f.write(code)
            theirs, refused = iga64(platform, path, path + '.asm')
            for mode in ([], ['all']):
                result = run([list_code, device, path] + mode)
                ours = result.stdout.split(b'\n')
                what = f'{device} {options} {name}{" damaged" if damaged else ""} {mode}'
                if result.returncode:
                    errors.append(f'{what}: status {result.returncode}: {result.stderr}')
                elif damaged:
                    errors.append(compare_damaged(what, code, ours, theirs, refused))
                else:
                    errors.append(compare(what, ours, theirs))
                    lines += len(ours)
    return [e for e in errors if e], lines


def main():
    list_code, source = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    builds = [b for b in (SAMPLE if '--sample' in sys.argv else BUILDS) if not IS_LATER or b[0] != 'xe_hp_sdv'] # IGC 2 has it no more
    failed = 0
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        results = pool.map(lambda b: check_build(b, list_code, source, folder), builds)
        for build, (errors, lines) in zip(builds, results):
            print(f'{" ".join(build)}: {lines} lines compared, {len(errors)} differences')
            for error in errors[:5]:
                print(error)
            failed += len(errors) + (lines < 1000)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
