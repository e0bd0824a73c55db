#!/usr/bin/env python3
"""test_garbage.py ZESCOPE MODULES OCLOC SOURCE: a helper that gives back garbage, and eight threads that build modules at once.

The application goes on with modules of its own, and the recording says why. `test_garbage.py --proxy WAY APP ARGS` stands
between the application's recorder and the helper, and makes something else of what that answers.
"""
import json
import os
import random
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading

TIME_LIMIT_S = 120
ASK, ANSWER, HEAD = '<IIQQQ', '<iIQQQQQ64s256s', '<iIQ256s'
THREADS, TURNS, ITEMS = 8, 3, 64


def receive(peer, size):
    data = b''
    while len(data) < size:
        part = peer.recv(size - len(data))
        if not part:
            raise ConnectionError
        data += part
    return data


def spoil_answer(way, answer, chance):
    fields = list(struct.unpack(ANSWER, answer))
    if way == 'random':
        return chance.randbytes(len(answer))
    if way == 'status':
        fields[0] = chance.choice([7, 1 << 30, -(1 << 31), -4096])
    if way == 'layout':
        which = chance.randrange(2, 7)
        fields[which] = chance.choice([1 << 62, (1 << 64) - 1, 1 << 40, (1 << 64) - 8])
    if way == 'unaligned':
        fields[5] += 4
    return struct.pack(ANSWER, *fields)


def spoil_module(way, head, rest, chance):
    fields = list(struct.unpack(HEAD, head))
    if way == 'head':
        return chance.randbytes(len(head)), rest
    if way == 'size':
        fields[2] = chance.choice([1 << 62, (1 << 30) + 1])
    if way == 'notes':
        fields[1] = (1 << 32) - 1
    if way == 'failure':
        fields[0] = chance.choice([9, -(1 << 31)])
    if way == 'module':
        rest = chance.randbytes(len(rest))
    if way == 'nothing':
        fields[1:3], rest = (0, 0), b''
    if way == 'half':
        rest = rest[:len(rest) // 2]
    return struct.pack(HEAD, *fields), rest


def stand_between(way, app, helper, chance):
    with app, socket.socket(socket.AF_UNIX) as peer:
        peer.connect(helper)
        ask = receive(app, struct.calcsize(ASK))
        _, _, module_B, debug_B, _ = struct.unpack(ASK, ask)
        peer.sendall(ask + receive(app, module_B + debug_B))
        answer = receive(peer, struct.calcsize(ANSWER))
        if way == 'cut':
            app.sendall(answer[:100])
            return
        app.sendall(spoil_answer(way, answer, chance))
        while True:
            peer.sendall(receive(app, 8))
            head = receive(peer, struct.calcsize(HEAD))
            _, notes_B, size_B, _ = struct.unpack(HEAD, head)
            head, rest = spoil_module(way, head, receive(peer, size_B + notes_B), chance)
            app.sendall(head + rest)
            if way in ('half', 'notes', 'size', 'head'):
                return


def serve(way, listener, helper):
    number = 0
    while True:
        app, _ = listener.accept()
        number += 1
        chance = random.Random(f'{way}{number}')

        def one(app=app, chance=chance):
            try:
                stand_between(way, app, helper, chance)
            except OSError:
                pass
        threading.Thread(target=one, daemon=True).start()


def proxy(way, *command):
    folder = tempfile.mkdtemp(prefix='zs-garbage-', dir='/tmp')
    path = os.path.join(folder, 's')
    helper = os.environ['ZESCOPE_COLLECT_INSTRUMENT']
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen(64)
        threading.Thread(target=serve, args=(way, listener, helper), daemon=True).start()
        done = subprocess.run(command, env=os.environ | {'ZESCOPE_COLLECT_INSTRUMENT': path}, timeout=TIME_LIMIT_S, check=False)
    shutil.rmtree(folder)
    return done.returncode


def run(way, threads, *between, tool='opcodes', options=()):
    done = subprocess.run([zescope, 'instrument', tool, '--json', '-o', os.path.join(top, way), *options, '--', *between, modules, binary,
                           'stride4', str(threads)], timeout=TIME_LIMIT_S, capture_output=True, text=True,
                          env=os.environ | {'ZESCOPE_INSTRUMENT_LIMIT': '20'})
    assert done.returncode == 0, (way, done)
    return json.loads(done.stdout), done.stderr


def check_garbage():
    for way, said in (('pass', ''), ('random', 'makes no sense'), ('status', 'makes no sense'), ('layout', 'makes no sense'),
                      ('unaligned', 'makes no sense'), ('cut', 'ended'), ('head', ''), ('size', 'makes no sense'),
                      ('notes', 'makes no sense'), ('failure', 'makes no sense'), ('module', 'does not take it'),
                      ('nothing', 'does not take it'), ('half', 'ended')):
        table, _ = run(way, 2, sys.executable, os.path.abspath(__file__), '--proxy', way, tool='memtrace')
        notes = ''
        for folder, _, names in os.walk(os.path.join(top, way, 'process')):
            if 'notes.jsonl' in names:
                with open(os.path.join(folder, 'notes.jsonl'), encoding='utf-8') as f:
                    notes += f.read()
        assert table['modules'] == (2 * TURNS if way == 'pass' else 0) and not table['damaged'], (way, table, notes)
        # of a random head its status may be anything
        assert notes.count('is not instrumented') == (0 if way == 'pass' else 2 * TURNS), (way, notes)
        assert said in notes, (way, notes)
        print(way, 'ok')


def check_threads():
    table, _ = run('threads', THREADS)
    ends = {r['opcode']: r for r in table['rows']}
    assert table['modules'] == THREADS * TURNS and not table['damaged'], table
    assert min(r['executions'] for r in ends.values()) == THREADS * TURNS * ITEMS // 16, table


def check_full_disk():
    """Files may not grow, and a full file system: the application goes on, and losses are told."""
    command = [zescope, 'instrument', 'memtrace', '--json', '-o']
    app = [modules, binary, 'stride4', '2']
    limited = ['sh', '-c', 'ulimit -f 8; exec "$@"', 'sh']
    done = subprocess.run([*command, os.path.join(top, 'limited'), '--', *limited, *app], timeout=TIME_LIMIT_S,
                          capture_output=True, text=True)
    assert done.returncode == 0 and 'File too large' in done.stderr, done
    disk = os.path.join(top, 'disk')
    os.mkdir(disk)
    if os.geteuid() or subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=256k', 'none', disk], capture_output=True).returncode:
        print('full disk: nothing can be mounted here')
        return
    try:
        fill = ['sh', '-c', f'cat /dev/zero >{disk}/full; exec "$@"', 'sh']
        done = subprocess.run([*command, os.path.join(disk, 'r'), '--', *fill, *app], timeout=TIME_LIMIT_S, capture_output=True,
                              text=True)
        assert 'No space left' in done.stderr and 'SIG' not in done.stderr and 'signal' not in done.stderr, done
        assert done.returncode in (0, 1), done
    finally:
        subprocess.run(['umount', '-l', disk], check=True)


if sys.argv[1] == '--proxy':
    sys.exit(proxy(*sys.argv[2:]))
zescope, modules, ocloc, source = map(os.path.abspath, sys.argv[1:])
with tempfile.TemporaryDirectory() as top:
    binary = os.path.join(top, 'copy.bin')
    subprocess.run([ocloc, 'compile', '-q', '-file', source, '-device', 'skl', '-options', '-g', '-output_no_suffix', '-output',
                    binary], check=True, timeout=TIME_LIMIT_S)
    for check in (check_garbage, check_threads, check_full_disk):
        check()
        print(check.__name__, 'ok')
