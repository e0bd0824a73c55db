"""Public OpenCL programs on all generations: what the compiler makes of them decodes, assembles back and is
modelled; kernels with simple arguments compute the same on each of them, and what PoCL does.

usage: bench/corpus.py BUILD_FOLDER FOLDER_OR_FILE.cl... [--devices=skl,tgllp,dg2,pvc] [--options=-DX=1]
                       [--include=FOLDER] [--run] [--without-pocl]

A file that starts with a line "// corpus: OPTIONS" is compiled with these options, too. What a compiler refuses is
counted and not looked at. Kernels are executed by corpus_run.py, each device's in a process of its own; what has
arguments other than buffers, numbers and local memory is left out, and so is what faults or does not end with
arguments that are made up. The last line says how many were compared. A complaint is not yet a defect: arguments and
sizes are not what the kernel's author meant, so that its work-items may race. Exit status: 1 when something differs.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

from corpus_run import differ

HERE = os.path.dirname(os.path.abspath(__file__))

COMPILE_LIMIT_S, RUN_LIMIT_S, KERNEL_LIMIT_S = 180, 120, 10
GROUP, GROUPS = (64, 1, 1), (4, 1, 1)  # of one dimension: most look at one, and would do the same work several times


def sources(paths):
    for path in paths:
        if os.path.isfile(path):
            yield os.path.abspath(path)
        for folder, _, files in sorted(os.walk(path)):
            for name in sorted(files):
                if name.endswith(('.cl', '.opencl')):
                    yield os.path.abspath(os.path.join(folder, name))


def own_options(source):
    with open(source, encoding='utf-8', errors='replace') as f:
        found = re.match(r'// corpus: (.*)', f.readline())
    return found.group(1) if found else ''


def compile_for(device, source, options, folder):
    """The module's path, or None."""
    binary = os.path.join(folder, device + '.bin')
    try:
        subprocess.run(['ocloc', 'compile', '-q', '-file', source, '-device', device, '-options', options,
                        '-output_no_suffix', '-output', binary], cwd=folder, timeout=COMPILE_LIMIT_S,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    except subprocess.TimeoutExpired:
        return None
    return binary if os.path.exists(binary) else None


def assembles_back(zescope, device, binary, folder):
    """Kernels whose listing, assembled, has another listing. (Bits that mean nothing are not in it.)"""
    wrong = []
    path, code = os.path.join(folder, 'k.asm'), os.path.join(folder, 'k.code')
    listed = subprocess.run([zescope, 'disasm', binary], capture_output=True, check=False)
    listing = listed.stdout.decode()
    if listed.returncode and 'no kernels' not in listed.stderr.decode():
        wrong.append(listed.stderr.decode().strip())
    for text in re.split(r'(?m)^(?=// kernel )', listing)[1:]:
        head, lines = text.split('\n', 1)
        with open(path, 'w', encoding='utf-8') as f:
            f.write(lines)
        made = subprocess.run([zescope, 'asm', '-d', device, '-o', code, path], capture_output=True, check=False)
        if made.returncode:
            wrong.append(f'{head}: {made.stderr.decode().strip()}')
            continue
        again = subprocess.run([zescope, 'disasm', '--raw', device, code], capture_output=True, check=True)
        if again.stdout.decode().split('\n', 1)[1].rstrip('\n') != lines.rstrip('\n'):
            wrong.append(head + ': another listing')
    return wrong


def reasons(text):
    """The list of check_modules: each kernel's each reason once."""
    found = dict.fromkeys(re.findall(r'(?m)^[^:\n]*: ([^:\n]*): 0x[0-9a-f]+: (.*)', text))
    return '; '.join(f'{kernel}: {why}' for kernel, why in found) or text.strip()


class Corpus:
    def __init__(self, build, devices, options, run, pocl):
        self.zescope = os.path.join(build, 'src/cli/zescope')
        self.check = os.path.join(build, 'tests/e2e/suite/check_modules')
        self.driver = os.path.join(build, 'src/driver/libze_zescope.so.1')
        self.devices, self.options, self.run, self.pocl = devices, options, run, pocl
        self.files, self.refused, self.bad, self.compared, self.left_out = 0, 0, 0, 0, {}
        self.counts = {d: [0, 0] for d in devices}

    def complain(self, text):
        self.bad += 1
        print(text, flush=True)

    def leave_out(self, why):
        self.left_out[why] = self.left_out.get(why, 0) + 1

    def static(self, device, source, binary, folder):
        checked = subprocess.run([self.check, binary], capture_output=True, check=False)
        out = checked.stdout.decode()
        found = re.search(r'(?m)^(\d+) kernels, (\d+) instructions', out)
        if found:
            self.counts[device][0] += int(found.group(1))
            self.counts[device][1] += int(found.group(2))
        if checked.returncode and not (found and found.group(1) == '0'):
            self.complain(f'{source}: {device}: {reasons(out)}')
        for text in assembles_back(self.zescope, device, binary, folder):
            self.complain(f'{source}: {device}: {text}')

    def kernels(self, binary):
        """Those that can be executed with made-up arguments."""
        inspected = subprocess.run([self.zescope, 'inspect', '--json', binary], capture_output=True, check=True)
        found = []
        for kernel in json.loads(inspected.stdout)['devices'][0]['kernels']:
            args = [{'kind': a['kind'], 'type': a.get('type', 'int'), 'size_B': a.get('value_size_B', 0)}
                    for a in kernel.get('arguments', [])]
            others = {a['kind'] for a in args} - {'buffer', 'value', 'local'}
            group = kernel.get('required_group_size') or GROUP
            if others:
                self.leave_out('arguments of kind ' + ', '.join(sorted(others)))
            else:
                found.append({'name': kernel['name'], 'args': args, 'group': list(group), 'groups': GROUPS})
        return found

    def execute(self, source, options, binaries, folder):
        """What kernels leave in their buffers, by device. PoCL has those that fault nowhere: it would crash."""
        results = {}
        kernels = self.kernels(next(iter(binaries.values())))
        for where in list(binaries) + ['pocl'] * self.pocl:
            out = os.path.join(folder, where + '.json')
            env = dict(os.environ, ZE_ENABLE_ALT_DRIVERS=self.driver, ZESCOPE_DEVICES=where, ZESCOPE_LOG='off',
                       ZESCOPE_KERNEL_TIMEOUT=str(KERNEL_LIMIT_S), OCL_ICD_VENDORS='pocl.icd')
            if where == 'pocl':
                kernels = [k for k in kernels if all('buffers' in r.get(k['name'], {}) for r in results.values())]
            job = {'where': where, 'binary': binaries.get(where), 'source': source, 'options': options, 'out': out,
                   'kernels': kernels}
            try:
                subprocess.run([sys.executable, os.path.join(HERE, 'corpus_run.py'), json.dumps(job)], env=env,
                               timeout=RUN_LIMIT_S, check=False, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
            except subprocess.TimeoutExpired:
                self.leave_out('no end on ' + where)
            results[where] = {}
            if os.path.exists(out):
                with open(out, encoding='utf-8') as f:
                    results[where] = {k['name']: k for k in map(json.loads, f)}
        return results

    def compare(self, source, results):
        for name in sorted(set().union(*[set(r) for r in results.values()])):
            have = {w: r[name] for w, r in results.items() if name in r}
            good = {w: k for w, k in have.items() if 'buffers' in k}
            for where, k in have.items():
                if 'why' in k:
                    self.leave_out(('PoCL: ' if where == 'pocl' else '') + k['why'])
            if good and len({'buffers' in k for w, k in have.items() if w != 'pocl'}) > 1:
                self.complain(f'{source}: {name}: runs on some devices alone: {", ".join(good)}')
            if len(good) < 2:
                continue
            self.compared += 1
            first = next(iter(good))
            for where, k in good.items():
                text = differ(good[first], k)
                if text:
                    self.complain(f'{source}: {name}: {first} and {where}: {text}')

    def file(self, source):
        options = ' '.join(o for o in [own_options(source), self.options] if o)
        with tempfile.TemporaryDirectory() as folder:
            binaries = {}
            for device in self.devices:
                binary = compile_for(device, source, options, folder)
                if not binary:
                    self.refused += 1
                    continue
                binaries[device] = binary
                self.static(device, source, binary, folder)
            self.files += bool(binaries)
            if self.run and binaries:
                self.compare(source, self.execute(source, options, binaries, folder))


def main():
    words = [a for a in sys.argv[1:] if not a.startswith('--')]
    flags = dict(a[2:].split('=', 1) if '=' in a else (a[2:], '1') for a in sys.argv[1:] if a.startswith('--'))
    if len(words) < 2 or set(flags) - {'devices', 'options', 'include', 'run', 'without-pocl'}:
        sys.exit(__doc__)
    options = '-cl-kernel-arg-info ' + flags.get('options', '-cl-std=CL2.0')
    if 'include' in flags:
        options += ' -I ' + os.path.abspath(flags['include'])
    corpus = Corpus(os.path.abspath(words[0]), flags.get('devices', 'skl,tgllp,dg2,pvc').split(','), options,
                    'run' in flags, 'without-pocl' not in flags)
    try:
        for source in sources(words[1:]):
            corpus.file(source)
    except KeyboardInterrupt:
        print('interrupted')
    for device, (kernels, instructions) in corpus.counts.items():
        print(f'{device}: {kernels} kernels, {instructions} instructions')
    for why, count in sorted(corpus.left_out.items()):
        print(f'not executed: {why}: {count}')
    print(f'{corpus.files} files; {corpus.refused} times the compiler refused one; '
          f'{corpus.compared} kernels compared; {corpus.bad} complaints')
    sys.exit(1 if corpus.bad else 0)


if __name__ == '__main__':
    main()
