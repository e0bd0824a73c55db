"""The suite's binaries by their names: suite_[<device>_]<group>_<variant>.bin."""
import os

DEVICES = ('icllp', 'tgllp', 'acm-g10', 'pvc', 'xe-hp-sdv')


def of(binary):
    """Its group, its variant as the suite takes it, and an environment with its device."""
    parts = os.path.basename(binary)[len('suite_'):-len('.bin')].split('_')
    if parts[0] == 'pointers' and parts[1] in DEVICES:
        return 'pointers', 'default', os.environ | {'ZESCOPE_DEVICES': parts[1]}
    if parts[0] not in DEVICES:
        return parts[0], '_'.join(parts[1:]), dict(os.environ)
    return parts[1], f"{parts[0]}:{'_'.join(parts[2:])}", os.environ | {'ZESCOPE_DEVICES': parts[0]}


def device_of(binary):
    """Which device it is for, as ocloc names it."""
    parts = os.path.basename(binary).split('_')
    found = [device for device in DEVICES if device in parts or device + '.bin' in parts]
    return found[0] if found else 'skl'
