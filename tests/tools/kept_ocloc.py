#!/usr/bin/env python3
"""kept_ocloc.py KEPT COMPILER OCLOC ARGUMENTS...: as `OCLOC ARGUMENTS...`, but what was compiled before is there.

For checks, whose builds compile the same kernels. A result in the folder KEPT is of the same COMPILER (which OCLOC
starts), arguments, source, files that the source could include, and variables that tell the compiler something. One that
says in which folder it was made (debug information does) is another's only where the same file is meant, and while that
folder is there. It is kept only if OCLOC succeeded, with a sum of its bytes, by which it is known again. ZS_TEST_OCLOC_KEPT_MB: how much is kept; what was not used for longest goes first. What is unusual (several
sources, no files as a result, variables that make the compiler write more files) is left to OCLOC alone.
"""
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

KNOWN_VARIABLES = {'IGC_UseMTInLLD'}


def parse(words):
    """(source, folder of the results, arguments without that folder), or None."""
    at = {}
    for i, word in enumerate(words):
        if word in ('-file', '-out_dir', '-output'):
            if word in at or i + 1 >= len(words):
                return None
            at[word] = i + 1
    if not words or words[0] != 'compile' or '-file' not in at or '-o' in words:
        return None
    output = words[at['-output']] if '-output' in at else ''
    folder = words[at['-out_dir']] if '-out_dir' in at else ''
    if folder and os.path.dirname(output):
        return None
    rest = list(words)
    if output:
        rest[at['-output']] = os.path.basename(output)
    if folder:
        del rest[at['-out_dir'] - 1:at['-out_dir'] + 1]
    return words[at['-file']], folder or os.path.dirname(output) or '.', rest


def folders_of_includes(source, words):
    yield os.path.dirname(source) or '.'
    for word in words:
        yield from re.findall(r'-I\s*(\S+)', word)


def key_of(real, source, rest):
    h = hashlib.sha256()

    def add(*parts):
        for part in parts:
            part = part if isinstance(part, bytes) else str(part).encode()
            h.update(b'%d:' % len(part))
            h.update(part)

    stat = os.stat(real)
    add(os.path.realpath(real), stat.st_size, stat.st_mtime_ns)
    has_paths = any(re.search(r'(^|\s)-g', word) for word in rest)
    for word in rest:
        add(os.path.basename(word) if word == source and not has_paths else word)
    for name in sorted(KNOWN_VARIABLES & set(os.environ)):
        add(name, os.environ[name])
    with open(source, 'rb') as f:
        text = f.read()
    add(text)
    if b'#include' in text:
        for folder in folders_of_includes(source, rest):
            for name in sorted(os.listdir(folder)):
                path = os.path.join(folder, name)
                if name.endswith(('.h', '.cl')) and os.path.isfile(path):
                    with open(path, 'rb') as f:
                        add(name, f.read())
    return h.hexdigest()


def hand_out(kept, folder):
    os.makedirs(folder, exist_ok=True)
    os.utime(kept)
    for name in os.listdir(os.path.join(kept, 'files')):
        handle, path = tempfile.mkstemp(dir=folder)
        os.close(handle)
        shutil.copyfile(os.path.join(kept, 'files', name), path)
        os.chmod(path, 0o644)
        os.replace(path, os.path.join(folder, name))
    for stream in sys.stdout.buffer, sys.stderr.buffer:
        with open(os.path.join(kept, 'out' if stream is sys.stdout.buffer else 'err'), 'rb') as f:
            stream.write(f.read())
        stream.flush()


def refuse(work, folder, status):
    """Says what the compiler said, with the folder that was asked for, and ends as it ended."""
    files = os.path.join(work, 'files')
    for name in 'out', 'err':
        path = os.path.join(work, name)
        with open(path, 'rb') as f:
            text = f.read()
        with open(path, 'wb') as f:
            f.write(text.replace(files.encode(), folder.encode()))
    hand_out(work, folder)
    sys.exit(status)


def sum_of(kept):
    """Of all that is handed out."""
    h = hashlib.sha256()
    files = os.path.join(kept, 'files')
    where = os.path.join(kept, 'where')
    for path in [os.path.join(kept, 'out'), os.path.join(kept, 'err')] + [where] * os.path.exists(where) + \
            [os.path.join(files, name) for name in sorted(os.listdir(files))]:
        with open(path, 'rb') as f:
            text = f.read()
        h.update(b'%s %d:' % (os.path.basename(path).encode(), len(text)) + text)
    return h.hexdigest()


def is_there(kept):
    """The folder in which it was made, if it says so."""
    try:
        with open(os.path.join(kept, 'where'), encoding='utf-8') as f:
            return os.path.isdir(f.read())
    except FileNotFoundError:
        return True


def is_whole(kept):
    """What is there is what was written, in a folder that there is; what is not goes."""
    try:
        with open(os.path.join(kept, 'sum'), encoding='utf-8') as f:
            if f.read() == sum_of(kept) and is_there(kept):
                return True
    except OSError:
        if not os.path.isdir(kept):
            return False
    shutil.rmtree(kept, ignore_errors=True)
    return False


def size_of(folder):
    return sum(os.lstat(os.path.join(top, name)).st_size for top, _, names in os.walk(folder) for name in names)


def make_room(top, limit_B):
    """Down to three quarters of the limit; looked at by one in four of those that add something."""
    results = []
    for name in os.listdir(top):
        path = os.path.join(top, name)
        try:
            results.append((os.stat(path).st_mtime, size_of(path), path))
        except OSError: # another has removed it
            pass
    total_B = sum(size for _, size, _ in results)
    if total_B <= limit_B:
        return
    for used, size, path in sorted(results):
        if total_B <= limit_B * 3 // 4 or time.time() - used < 60: # somebody may be reading it
            break
        shutil.rmtree(path, ignore_errors=True)
        total_B -= size


def names(work, folders):
    """Whether something in a result names one of these folders."""
    texts = [folder.encode() for folder in folders if folder.startswith('/')]
    for top, _, files in os.walk(work):
        for name in files:
            with open(os.path.join(top, name), 'rb') as f:
                text = f.read()
            if any(t in text for t in texts):
                return True
    return False


def lasts(folder):
    """It is no folder that the next run has under another name."""
    return not os.path.realpath(folder).startswith(os.path.realpath(tempfile.gettempdir()) + '/')


def compile_into(kept, placed, ocloc, source, rest, folder):
    """Hands out what was made; False: it is to be made where it was asked for."""
    work = tempfile.mkdtemp(dir=os.path.dirname(kept))
    try:
        files = os.path.join(work, 'files')
        os.mkdir(files)
        with open(os.path.join(work, 'out'), 'wb') as out, open(os.path.join(work, 'err'), 'wb') as err:
            status = subprocess.run([ocloc, *rest, '-out_dir', files], stdout=out, stderr=err, check=False).returncode
        if status:
            refuse(work, folder, status)
        made = os.listdir(files)
        if not made or not all(os.path.getsize(os.path.join(files, name)) for name in made) or names(work, [work]):
            return False
        hand_out(work, folder)
        if names(work, [os.getcwd(), os.path.dirname(source)]):
            if not lasts(os.getcwd()) or not lasts(source):
                return True
            kept = placed
            with open(os.path.join(work, 'where'), 'w', encoding='utf-8') as f:
                f.write(os.getcwd())
        with open(os.path.join(work, 'sum'), 'w', encoding='utf-8') as f:
            f.write(sum_of(work))
        try:
            os.rename(work, kept)
        except OSError: # somebody else was faster
            pass
        return True
    finally:
        shutil.rmtree(work, ignore_errors=True)


def main():
    top, real, ocloc, words = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
    del os.environ['ZS_TEST_OCLOC_KEPT']
    plan = parse(words)
    try:
        if plan and not any(name.startswith('IGC_') and name not in KNOWN_VARIABLES for name in os.environ):
            source, folder, rest = plan
            os.makedirs(top, exist_ok=True)
            key = key_of(real, source, rest)
            kept = os.path.join(top, key)
            placed = os.path.join(top, hashlib.sha256((key + os.path.realpath(source)).encode()).hexdigest())
            for result in kept, placed:
                if is_whole(result):
                    hand_out(result, folder)
                    return
            # with this variable it may hang behind files that are whole: these are to be had where they were asked for
            if 'IGC_UseMTInLLD' not in os.environ and compile_into(kept, placed, ocloc, source, rest, folder):
                limit_MB = int(os.environ.get('ZS_TEST_OCLOC_KEPT_MB', '0'))
                if limit_MB and int(key[0], 16) < 4:
                    make_room(top, limit_MB << 20)
                return
    except OSError: # what it is about is said by the compiler
        pass
    os.execv(ocloc, [ocloc, *words])


main()
