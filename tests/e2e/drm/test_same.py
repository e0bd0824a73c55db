"""The same questions to the software GPU's driver and to Intel's: the answers are the same, but for those named here.

test_same.py ASK DRIVER DRM DEVICE MODULE...
"""
import collections
import os
import re
import subprocess
import sys

# Whose answer differs, and why: a pattern of keys. What stands here is shown in docs/intel-stack.md.
OWN = 'what the software GPU is'
LATER = "what later releases of Intel's driver answer"
WIDER = 'the software GPU can'
LENIENT = "Intel's driver looks at nothing here"
DIFFERENT = [
    (r'driver\.(api|uuid|driverVersion|extension\.\w+|freePolicies|ipc\.flags)', LATER),
    (r'device\.(uuid|name|numTotalEUs|rays\.\w+|status|debug\.flags|p2p\.flags|maxMemAllocSize)', OWN),
    (r'memory\.(totalSize|max\w+|name|ext\.\w+)', OWN),
    (r'cache\.cacheSize', OWN),  # with what stands beside L3; Intel's knows no size of dg2's here
    (r'pci\.maxSpeed\.\w+', OWN),
    (r'access\.\w+', WIDER),  # atomics from both sides
    (r'external\.\w+', WIDER),  # descriptors of files, too
    (r'queue_group.*', OWN),  # compute and copy; Intel's has render on its own on dg2, no copy engine on skl
    (r'module\.(flags|float_atomics\.\w+)', LATER),
    (r'module\.nativeKernelSupported', "all zeros: Intel's leaves 15 of 16 bytes as they are"),
    (r'image\.maxImageBufferSize', WIDER),
    (r'image\.format\.\d+\.\d+\.samplerFilterFlags', "Intel's says linear of integers, too"),
    (r'image\.format\.\d+\.\d+\.create', "Intel's makes images of formats that no sampler knows"),
    (r'kernel\..*\.argument\.\d+\.size_\d+', LENIENT),
    (r'kernel\..*\.suggest\..*\.is', "fewer idle lanes than Intel's; none has groups of one"),
    (r'kernel\..*\.cooperative\..*\.is', 'of another suggested size, or of 16 barriers a subslice where Intel counts 32'),
]
# ... of its releases from 2025 on
OF_LATER = [
    (r'module\.spirvVersionSupported', LATER),
    (r'image\.format\.\d+\.\d+\.properties', LENIENT),  # where there are no images
    (r'device\.luid.*', OWN),  # it has none on Linux
    (r'device\.metric_groups', "without a metrics library there are none"),
    (r'cache\.maxCacheReservationSize', 'no part of a cache can be reserved'),
    (r'kernel\..*\.Intel_Symbol_Table_Void_Program\..*|module\..*\.names\.count', "IGC 2's kernel that is none"),
    (r'kernel\..*\.privateMemSize', "Intel's later driver adds what stands in scratch memory"),
]


def ask(program, modules, extra):
    env = dict(os.environ, **extra)
    done = subprocess.run([program] + modules, env=env, stdout=subprocess.PIPE, check=True)
    answers = {}
    for line in done.stdout.decode(errors='replace').splitlines():
        key, _, value = line.partition(' = ')
        answers.setdefault(key, value)
    assert answers.get('end') == 'reached', 'the questions ended early'
    return answers


def main():
    program, driver, drm, device = sys.argv[1:5]
    modules = sys.argv[5:]
    ours = ask(program, modules, {'ZE_ENABLE_ALT_DRIVERS': driver, 'ZESCOPE_DEVICES': device, 'ZESCOPE_LOG': 'off'})
    theirs = ask(program, modules, {'LD_PRELOAD': drm, 'ZESCOPE_DEVICES': device, 'ZESCOPE_LOG': 'error'})
    assert theirs['driver.uuid'] != ours['driver.uuid'], 'one driver answered twice'
    is_later = int(theirs['module.spirvVersionSupported'], 0) > 0x10002
    patterns = [(re.compile(pattern), why) for pattern, why in DIFFERENT + (OF_LATER if is_later else [])]
    known, wrong = collections.Counter(), 0
    for key in sorted(set(ours) | set(theirs)):
        if ours.get(key) == theirs.get(key):
            known['the same'] += 1
            continue
        why = next((why for pattern, why in patterns if pattern.fullmatch(key)), None)
        if why is None:
            wrong += 1
            print('%s: %s, Intel\'s driver: %s' % (key, ours.get(key), theirs.get(key)))
        else:
            known[why] += 1
    for why, count in known.most_common():
        print('%6d  %s' % (count, why))
    assert known['the same'] > 1000
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
