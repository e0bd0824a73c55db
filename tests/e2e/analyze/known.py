#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What is wrong with each kernel of mended.cl and fresh.cl, as judged by reading it, how it is launched, and where the
tool is known to say something else. Rules and the model were mended by looking at the first; the others were judged
before they were tried."""

from fractions import Fraction

# name: (rule of the first finding, (groups, size, local memory in bytes)), and (groups, size, ...) of the mended one where
# the launch is what is mended. On larger devices there are as many times more groups as SCALE says. The line is that
# which carries the kernel's mark; kernels without a mark are wrong as such.
KNOWN = {
    # lanes of a message are far apart
    'strided': ('uncoalesced', (84, 256, 0)),
    'strided_store': ('uncoalesced', (42, 256, 0)),
    'structures': ('uncoalesced', (84, 256, 0)),
    'columns': ('uncoalesced', (42, 256, 0)),
    'bytewise': ('uncoalesced', (42, 256, 0)),
    # ... as the data say
    'gathered': ('scattered', (42, 256, 0)),
    # each load needs the one before
    'chased': ('message-latency', (90, 32, 0)),
    # lanes meet in a bank of local memory
    'conflicts': ('bank-conflicts', (42, 64, 8192)),
    'conflicts_eight': ('bank-conflicts', (42, 64, 8192)),
    'transposed': ('bank-conflicts', (42, 256, 4608)),
    # half of the lanes, then a quarter ... work
    'halving': ('divergence', (42, 256, 1024)),
    # threads wait for others of their group
    'imbalance': ('barrier-imbalance', (42, 256, 1024)),
    'triangle': ('barrier-imbalance', (42, 256, 1024)),
    # atomics at one place, or a few
    'local_contended': ('atomic-contention', (42, 64, 64)),
    'contended': ('atomic-contention', (42, 256, 0)),
    'histogram': ('atomic-contention', (42, 256, 0)),
    'counter': ('atomic-contention', (42, 256, 0)),
    # lanes are off
    'divergent': ('divergence', (42, 256, 0)),
    'trips': ('divergence', (42, 256, 0)),
    'ways': ('divergence', (42, 256, 0)),
    'odd_groups': ('partial-threads', (672, 10, 0), (210, 32, 0)),
    # arrays and registers in memory
    'private_array': ('private-arrays', (42, 64, 0)),
    'private_table': ('private-arrays', (126, 64, 0)),
    'spilling': ('spills', (21, 64, 0)),
    # types that are slow, and on their way to others
    'wide': ('wide-integers', (42, 256, 0)),
    'wide_products': ('wide-integers', (42, 256, 0)),
    'products': ('wide-integers', (42, 256, 0)),
    'doubles': ('doubles', (42, 256, 0)),
    'double_sums': ('doubles', (42, 256, 0)),
    'conversions': ('conversions', (42, 256, 0)),
    # units and functions that are slow
    'sines': ('extended-math', (42, 256, 0)),
    'divisions': ('extended-math', (42, 256, 0)),
    'precise_sines': ('slow-math', (42, 256, 0)),
    'powers': ('slow-math', (42, 256, 0)),
    'int_divisions': ('integer-division', (42, 256, 0)),
    'modulos': ('integer-division', (42, 256, 0)),
    'wide_modulos': ('integer-division', (42, 256, 0)),
    # the launch leaves the device idle, or is all there is
    'few_groups': ('low-occupancy', (1, 256, 0), (32, 256, 0)),
    'crowded': ('low-occupancy', (42, 32, 40000), (42, 32, 1024)),
    'short_threads': ('dispatch', (1344, 64, 0), (84, 64, 0)),
    # each instruction needs the one before
    'one_chain': ('dependencies', (24, 16, 0)),
    # the instruction cache does not hold a loop; messages that are two halves
    'unrolled': ('instruction-fetch', (10, 256, 0)),
    'bytes_each': ('split-messages', (84, 256, 0)),
    # nothing is wrong
    'clean_sums': (None, (42, 256, 0)),
    'clean_tile': (None, (42, 256, 1024)),
    'clean_copy': ('memory-bound', (84, 256, 0)),
}

FRESH = {
    'byte_counts': ('atomic-contention', (42, 256, 0)),
    'turned': ('uncoalesced', (84, 256, 0), (84, 256, 1088)),
    'row_sums': ('uncoalesced', (42, 256, 0)),
    'interleaved': ('bank-conflicts', (42, 256, 16448)),
    'escapes': ('divergence', (42, 256, 0)),
    'leader': ('barrier-imbalance', (42, 256, 1024)),
    'taps': ('private-arrays', (42, 64, 0)),
    'ring': ('integer-division', (42, 256, 0)),
    'distances': ('slow-math', (42, 256, 0)),
    'thirds': ('doubles', (42, 256, 0)),
    'hashes': ('wide-integers', (42, 256, 0)),
    'hops': ('message-latency', (42, 64, 0)),
    'steps': ('conversions', (42, 256, 0)),
    'two_groups': ('low-occupancy', (2, 256, 0), (32, 256, 0)),
    'votes': ('atomic-contention', (42, 256, 64)),
    'clean_horner': (None, (42, 256, 0)),
    'clean_triad': ('memory-bound', (84, 256, 0)),
}

# Judged before they were tried, too: for large devices, and for skl. At first 7 of 11 held on acm-g10, 8 of 11 on pvc, 9 of
# 10 on skl: they showed what was wrong with gains of lines, of redundant loads, of groups that are too few.
UNSEEN_LARGE = {
    'matvec': ('uncoalesced', (42, 256, 0)),
    'multiply': ('redundant-loads', (42, 256, 0)),
    'energies': ('atomic-contention', (42, 256, 0)),
    'gelu': ('slow-math', (42, 256, 0)),
    'refined': ('barrier-imbalance', (42, 256, 1024)),
    'walked': ('private-arrays', (42, 64, 0)),
    'tile_columns': ('bank-conflicts', (42, 256, 16384)),
    'pixels': ('integer-division', (42, 256, 0)),
    'probed': ('message-latency', (42, 64, 0)),
    'persistent': ('low-occupancy', (8, 256, 0), (128, 256, 0)),
    'clean_steps': (None, (42, 256, 0)),
}
UNSEEN_SKL = {
    'red_black': ('divergence', (42, 256, 0)),
    'norms': ('extended-math', (42, 256, 0)),
    'fixed_point': ('wide-integers', (42, 256, 0)),
    'fading': ('doubles', (42, 256, 0)),
    'planes': ('uncoalesced', (42, 256, 0)),
    'edges': ('scattered', (42, 256, 0)),
    'tickets': ('atomic-contention', (42, 64, 256)),
    'delayed': ('private-arrays', (42, 64, 0)),
    'butterflies': ('bank-conflicts', (42, 64, 8192)),
    'cleared': ('dispatch', (1344, 64, 0), (84, 64, 0)),
    'late_group': ('tail', (22, 256, 0), (21, 256, 0)),
}

# ... for all of them, judged before they were tried.
UNSEEN_ALL = {
    'slopes': ('slow-math', (42, 256, 0)),
    'bins': ('atomic-contention', (42, 256, 64)),
    'ages': ('uncoalesced', (84, 256, 0)),
    'lookups': ('scattered', (42, 256, 0)),
    'scanned': ('barrier-imbalance', (42, 256, 1024)),
    'lengths': ('divergence', (42, 256, 0)),
    'digits': ('integer-division', (42, 256, 0)),
    'quads': ('partial-threads', (1344, 4, 0), (84, 64, 0)),
    'own_rows': ('bank-conflicts', (42, 64, 16384)),
    'lone': ('low-occupancy', (3, 256, 0), (96, 256, 0)),
}

# ... and these, by somebody who had changed neither rules nor model before.
SEALED = {
    'records': ('uncoalesced', (84, 256, 0)),
    'row_peaks': ('uncoalesced', (42, 256, 0)),
    'channels': ('uncoalesced', (42, 256, 0)),
    'neighbours': ('scattered', (42, 256, 0)),
    'borders': ('divergence', (42, 256, 0)),
    'sparse': ('divergence', (42, 256, 0)),
    'twenties': ('partial-threads', (1344, 20, 0), (420, 64, 0)),
    'states': ('bank-conflicts', (42, 64, 4096)),
    'tile_turns': ('bank-conflicts', (42, 256, 4224)),
    'pivots': ('barrier-imbalance', (42, 256, 1024)),
    'peaks': ('atomic-contention', (42, 256, 0)),
    'ballots': ('atomic-contention', (42, 256, 256)),
    'smallest': ('private-arrays', (42, 64, 0)),
    'filtered': ('doubles', (42, 256, 0)),
    'fnv': ('wide-integers', (42, 256, 0)),
    'dates': ('integer-division', (42, 256, 0)),
    'bearings': ('slow-math', (42, 256, 0)),
    'cables': ('slow-math', (42, 256, 0)),
    'normed': ('extended-math', (42, 256, 0)),
    'levels': ('conversions', (42, 256, 0)),
    'linked': ('message-latency', (42, 64, 0)),
    'boxes': ('redundant-loads', (84, 256, 0)),
    'four_groups': ('low-occupancy', (4, 256, 0), (32, 256, 0)),
    'roomy': ('low-occupancy', (84, 64, 30000), (84, 64, 1024)),
    'marks': ('dispatch', (1344, 64, 0), (84, 64, 0)),
    'summed': ('dependencies', (24, 32, 0)),
    'clean_polynomials': (None, (42, 256, 0)),
    'clean_adds': ('memory-bound', (84, 256, 0)),
}

# ... and pairs as somebody from outside brings them. They showed what was wrong with gains of loads, of small elements, of
# arrays, of divisions, of conversions, and that local memory was nobody's finding. in_step and packed_points had been
# judged otherwise; some mended ones had not been mended. sums_so_far is one of EVERYDAY's.
OUTSIDE = {
    'narrow': ('partial-threads', (1344, 8, 0), (42, 256, 0)),
    'shares': ('integer-division', (42, 256, 0)),
    'sparse_rows': ('uncoalesced', (42, 256, 0)),
    'seen': ('private-arrays', (42, 64, 0), (42, 64, 16384)),
    'boxed': ('redundant-loads', (42, 256, 0)),
    'overlaid': ('split-messages', (84, 256, 0), (21, 256, 0)),
    'written_out': ('instruction-fetch', (10, 256, 0)),
    'packed_points': ('memory-bound', (42, 256, 0)),
    'listed': ('atomic-contention', (42, 256, 0), (42, 256, 16)),
    'exchanged': ('atomic-contention', (21, 64, 0)),
    'spectrum': ('bank-conflicts', (42, 64, 4352)),
    'softened': ('doubles', (42, 256, 0)),
    'softplus': ('slow-math', (42, 256, 0)),
    'in_step': ('local-memory', (42, 256, 2048)),
    'sums_so_far': ('barrier-imbalance', (42, 256, 2048)),
    'kept_halves': ('conversions', (42, 256, 0)),
    'filtered_taps': ('redundant-loads', (42, 256, 0)),
    'tensor': ('wide-integers', (42, 256, 0)),
    'many_sums': ('spills', (21, 64, 0)),
    'cells': ('divergence', (42, 256, 0)),
}

# ... and these, judged before they were tried: at first 11 of 18 held on skl, 12 on acm-g10 and pvc. They showed that precise
# divisions were nobody's finding where extended math is quick, and what was wrong with gains of lines and of ranges.
EVERYDAY = {
    'particles': ('uncoalesced', (42, 256, 0)),
    'convolved': ('uncoalesced', (42, 256, 0)),
    'brightness': ('atomic-contention', (42, 256, 0), (42, 256, 256)),
    'softmaxed': ('slow-math', (42, 256, 0)),
    'layer_norm': ('extended-math', (42, 256, 0)),
    'small_products': ('bank-conflicts', (42, 256, 4224)),
    'elements': ('scattered', (42, 256, 0)),
    'searched': ('scattered', (42, 256, 0)),
    'marched': ('divergence', (42, 256, 0)),
    'blended': ('doubles', (42, 256, 0)),
    'gamma_of': ('slow-math', (42, 256, 0)),
    'voxels': ('integer-division', (42, 256, 0)),
    'grey': ('split-messages', (84, 256, 0)),
    'totals': ('uncoalesced', (42, 256, 0)),
    'medians': ('private-arrays', (42, 64, 0)),
    'solver': ('low-occupancy', (2, 256, 0), (64, 256, 0)),
    'fenced': ('barrier-imbalance', (42, 256, 1024), (42, 256, 0)),
    'heated': ('redundant-loads', (42, 256, 0)),
}

# ... and as users' programs have them, judged before they were tried.
PLANTED = {
    'smoothed': ('barrier-imbalance', (42, 256, 1024)),
    'wrapped_at': ('integer-division', (42, 256, 0)),
    'transposed_out': ('uncoalesced', (42, 256, 0), (42, 256, 1088)),
    'above': ('atomic-contention', (42, 256, 0)),
    'windowed': ('private-arrays', (42, 64, 0), (42, 64, 8192)),
    'damped': ('doubles', (42, 256, 0)),
    'triples': ('partial-threads', (1344, 3, 0), (63, 64, 0)),
    'heavy': ('divergence', (42, 256, 0)),
    'sums_of_all': ('low-occupancy', (2, 256, 0), (42, 256, 0)),
    'looked_at': ('dispatch', (2688, 64, 0), (168, 64, 0)),
}

# What is mended otherwise than as NAME_mended.
MENDED = {('sums_so_far', 'barrier-imbalance'): 'in_step_mended', ('softmaxed', 'memory-bound'): 'softmaxed_halves',
          ('icllp', 'steps'): 'steps_floats', ('icllp', 'conversions'): 'conversions_floats',
          ('one_chain', 'low-occupancy'): 'one_chain_shared', ('summed', 'low-occupancy'): 'summed_shared',
          ('chased', 'low-occupancy'): 'chased_shared'}
LAUNCHED = {'clean_copy_mended': (21, 256, 0), 'one_chain_shared': (144, 16, 0), 'summed_shared': (72, 32, 0), 'chased_shared': (360, 32, 0)}


# What limits a kernel.
LIMITED = {('pvc', 'written_out'): 'instruction fetch'}

SCALE = {'skl': 1, 'icllp': Fraction(8, 3), 'tgllp': 4, 'acm-g10': 8, 'pvc': 12}
# Rounds of loops: large devices need threads that live long enough to count.
ROUNDS = {'skl': 4, 'icllp': 8, 'tgllp': 16, 'acm-g10': 8, 'pvc': 16}

# Judged otherwise where the device is another: doubles of pvc are as quick as floats, but for what converts them.
# ... its threads begin one after the other for long: a quarter of them copies as much in two thirds of the time (clean_copy).
# icllp has more EUs for the same memory. Where few threads are there more of them are what helps most.
JUDGED = {'skl': {'one_chain': 'low-occupancy', 'summed': 'low-occupancy', 'grey': None},
          'icllp': {'one_chain': 'low-occupancy', 'softmaxed': 'memory-bound', 'hops': 'memory-bound'},
          'tgllp': {'one_chain': 'low-occupancy', 'summed': 'low-occupancy'},
          'acm-g10': {'one_chain': 'low-occupancy', 'summed': 'low-occupancy', 'chased': 'low-occupancy', 'blended': None, 'softmaxed': 'memory-bound', 'doubles': None, 'thirds': None, 'filtered': None, 'softened': None},
          'pvc': {'clean_copy': 'dispatch', 'one_chain': 'low-occupancy', 'summed': 'low-occupancy', 'chased': 'low-occupancy', 'sparse_rows': None, 'packed_points': None, 'double_sums': None, 'bytes_each': None}}

# Every check tries these; the long tests all, on each of these devices.
FEW_EVERYDAY = {'skl': ('particles', 'searched'), 'acm-g10': ('layer_norm', 'marched')}
FEW_UNSEEN = {'skl': ('edges', 'lone', 'late_group'), 'icllp': ('late_group', 'multiply'), 'acm-g10': ('gelu', 'probed')}
FEW_KNOWN = {'skl': ('strided', 'divergent', 'conflicts', 'private_array', 'wide', 'imbalance', 'doubles', 'contended', 'int_divisions',
               'precise_sines', 'gathered', 'few_groups'), 'icllp': ('products',), 'tgllp': ('odd_groups', 'wide', 'chased')}
FEW = {'mended.cl': FEW_KNOWN, 'unseen.cl': FEW_UNSEEN, 'everyday.cl': FEW_EVERYDAY,
       'planted.cl': {'skl': ('smoothed', 'wrapped_at'), 'pvc': ('triples',)}}

# Left out. acm-g10 has no doubles: one does not build there, of constants the compiler makes floats; replays of spilling
# may take longer there than half a wrap of the device's clock, and then have no time. On pvc these were never tried (matvec:
# not since redundant loads have a gain).
LACKING = {(device, 'double_sums') for device in ('icllp', 'tgllp', 'acm-g10')} | {('acm-g10', 'spilling')} | {
    ('pvc', name) for name in ('spilling', 'matvec')}
LACKING |= {(device, name) for device in ('acm-g10', 'pvc') for name in UNSEEN_SKL} | {('skl', name) for name in UNSEEN_LARGE}
SUITES = {'mended.cl': KNOWN, 'fresh.cl': FRESH, 'unseen.cl': {**UNSEEN_LARGE, **UNSEEN_SKL, **UNSEEN_ALL}, 'sealed.cl': SEALED, 'outside.cl': OUTSIDE,
          'everyday.cl': EVERYDAY, 'planted.cl': PLANTED}
# In a module of its own: compilers make all of one anew, and otherwise, where a kernel spills, as others do on icllp.
APART = ('seen',)
FEW_GROUPS = ('few_groups', 'two_groups', 'persistent', 'lone', 'four_groups', 'solver', 'sums_of_all')  # as many on all devices


def tried(source, device):
    return tuple(name for name in SUITES[source] if (device, name) not in LACKING)


# What does not hold, by device: 'first' (finding), 'line', 'gain'. A test fails when it does.
OFF = {
    'icllp': {
        'smallest': ['gain'],  # integers have one pipe: mended it has nothing else
        'softmaxed': ['gain'],  # mended it has half of the messages, too
        'votes': ['first'],  # the compiler has one lane of a thread do it
        'walked': ['first'],  # branches come first
        'ballots': ['gain'],  # mended, places and sums take as long
        'probed': ['first'],  # its products take more
        'transposed_out': ['gain'],  # mended it has barriers
        'windowed': ['gain'],  # data say where: no constants can, and local memory is slower
    },
    'tgllp': {
        'votes': ['first'],  # the compiler has one lane of a thread do it
        'ways': ['first'],  # branches hold threads up
        'packed_points': ['first'],  # L3 has all of it: each line is asked for three times
        'probed': ['gain'],  # mended it is unrolled, too
        'windowed': ['gain'],
    },
    'skl': {
        # of the fresh ones: at first 12 of 17 held; hops and two_groups showed what was wrong with two rules
        'votes': ['first'],  # the compiler has one lane of a thread do it: its atomics do not meet
        # of the sealed ones: at first 17 of 28 held, 20 on acm-g10 and 15 on pvc (the first finding of 23, 24 and 21). They
        # showed what was wrong with gains of coalescing, of atomics, of groups that are too few or too large, and with
        # arrays in registers; three kernels had not been what they were meant to be
        'peaks': ['first'],  # the compiler has one lane of a thread do it
        'softplus': ['gain'],  # mended it has twice as many lanes
        'windowed': ['gain'],
    },
    'acm-g10': {
        'halving': ['first'],  # mended it gains 6 %: barriers come first
        'private_table': ['first'],  # it is kept in registers, which are reached by addresses
        'bearings': ['gain'],
        'grey': ['gain'],  # mended it has a quarter of the rounds, too
        'walked': ['first'],  # branches come first
    },
    'pvc': {
        'bytewise': ['gain'],  # mended more of what it reads is not in L1 yet
        'gathered': ['gain'],  # mended, L1 has all of it
        'gelu': ['gain'], 'cables': ['gain'], 'softplus': ['gain'],  # floats and integers have pipes of their own
        'wrapped_at': ['gain'],
        'neighbours': ['first'],  # mended it gains 8 %: L1 has most of them
        'filtered_taps': ['first'],  # ports do less than half of what they can
        'clean_adds': ['first'],  # latency
        'transposed_out': ['gain'],  # mended it has barriers
        'walked': ['gain'],  # mended it has fewer branches, too
    },
}
