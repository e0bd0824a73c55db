"""Recordings for the tests of their page, made up but like real ones (src/report/html_timeline.h)."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../tools'))
from page_items import text  # noqa: E402
import sample  # noqa: E402

START = 5_000_000_000  # CLOCK_MONOTONIC of the first call


def deltas(items):
    """Items (start, ...) flat, each start as the difference to the one before."""
    out, before = [], 0
    for item in sorted(items):
        out += [item[0] - before, *item[1:]]
        before = item[0]
    return text(out)


def row(name, count, total, **more):
    mean = total // count
    return {'name': name, 'share': 50.0, 'total_ns': total, 'count': count, 'failed': 0, 'unfinished': 0, 'mean_ns': mean, 'min_ns': mean,
            'median_ns': mean, 'p90_ns': mean, 'p99_ns': mean, 'max_ns': mean, 'results': {}, **more}


def node(name, us, parent=None):
    n = {'name': name, 'total_ns': int(us * 1000), 'count': 1}
    return n if parent is None else {'parent': parent, **n}


def analysis():
    """One kernel under the roof of a memory, one under that of its operations, one without counts."""
    def kernel(name, rate, intensity, bound, findings, time=1000):
        attainable = 441.6 if bound == 'compute' else 220.8 * intensity
        return {'name': name, 'module': '', 'quantities': {'time_total': time, 'occupancy': 50}, 'limiter': 'local memory', 'findings': findings, 'not_judged': [],
                'roofline': {'operations': 'flop', 'precision': 'single precision', 'rate': rate, 'peak': 441.6, 'attainable': attainable, 'bound': bound,
                             'roofs': [{'name': 'L3', 'moved_B': 1e6, 'intensity': intensity, 'rate': 20, 'peak_rate': 220.8, 'attainable': attainable},
                                       {'name': 'local memory', 'moved_B': 1e5, 'intensity': 10 * intensity, 'rate': 2, 'peak_rate': 220.8, 'attainable': attainable}]}}
    harmless = {'rule': 'tail', 'title': 'tail effect', 'severity': .1, 'gain': .2, 'text': 'few groups are left', 'advice': 'nothing', 'numbers': [], 'places': []}
    finding = {'rule': 'uncoalesced', 'title': 'uncoalesced access', 'severity': .5, 'gain': 41.5, 'text': 'messages touch 8 times the lines', 'advice': 'change the layout',
               'numbers': [{'name': 'stride', 'value': 128, 'unit': 'B'}, {'name': 'lines_touched', 'value': 1344, 'unit': 'lines'}], 'places': [{'path': '/src/nbody.cl', 'line': 66, 'offset': 64, 'amount': 3, 'text': 'x = a[i * 32];'}]}
    bare = {'name': 'bare', 'module': '', 'quantities': {'time_total': 5}, 'roofline': {'count': None, 'rate': None, 'roofs': []}, 'limiter': 'nothing', 'findings': [],
            'not_judged': [{'rule': 'spills', 'title': 'spills', 'why': 'its module was not recorded'},
                           {'rule': 'tail', 'title': 'tail effect', 'why': 'its module was not recorded'}]}
    measured = {'ZscopeMemory.L3Hits': 300,
                'ZscopeMemory.L3Misses': 100, 'ZscopeMemory.LlcHits': 25, 'ZscopeMemory.LlcMisses': 75, 'ZscopeMemory.MemoryBytesRead': 4800,
                'ZscopeMemory.MemoryBytesWritten': 0, 'ZscopeMemory.GlobalBytesAsked': 12800, 'ZscopeMemory.SectorUse': 50, 'ZscopeMemory.SlmConflictCycles': 12}
    measured = {'metrics': [{'name': n, 'value': v} for n, v in measured.items()],
                'occupancy_if': [{'what': 'groups of 64', 'occupancy': 25, 'now': True}, {'what': 'groups of 256', 'occupancy': 100, 'now': False}]}
    return {'schema': 'zescope.analysis/1', 'recording': 'rec', 'modelled': True,
            'kernels': [{**kernel('force', 20, .125, 'L3', [finding, harmless], 3000), **measured, 'limited_by': 'bandwidth of memory', 'limit': 62,
                         'limit_text': 'bandwidth of memory: 62 % of what it can do', 'occupancy_achieved': 40,
                         'units': [{'metric': 'ZscopeGains.MemoryBusy', 'text': 'bandwidth of memory', 'percent': 62}],
                         'stalls': [{'metric': 'SbidStall', 'text': 'responses of messages', 'percent': 62.5}, {'metric': 'Active', 'text': 'issuing', 'percent': 25},
                                    {'metric': 'SyncStall', 'text': 'barriers and fences', 'percent': 12.5}]}, {**kernel('solve', 400, 100, 'compute', []), 'rank': 'rank-3'}, bare]}


def basic():
    names = ['zeInit', 'zeCommandListAppendLaunchKernel', 'zeMemAllocDevice', 'force', 'copy host-to-device', 'zeEventHostSynchronize',
             'launch at app.c:7', 'main at app.c:3']
    us = 1000
    # start, duration, name, depth, result, number of the call, stack
    main = [(0, 300 * us, 0, 0, 0, 1, -1), (310 * us, 5 * us, 2, 0, 0x78000004, 2, -1), (320 * us, 4 * us, 1, 0, 0, 3, 0),
            (330 * us, 4 * us, 1, 0, 0, 4, -1), (340 * us, 400 * us, 5, 0, 0, 5, -1), (900 * us, -1, 5, 0, 0, 6, -1)]
    worker = [(100 * us, 2 * us, 1, 0, 0, 1, -1)]
    # start, duration, name, kind, track of the thread, start - append, start - submit, call, bytes, shape, module
    queue = [(400 * us, 100 * us, 3, 1, 0, 80 * us, 20 * us, 3, -1, 0, -1), (450 * us, 100 * us, 3, 1, 0, 120 * us, 30 * us, 4, -1, 0, -1),
             (700 * us, 50 * us, 4, 2, 1, 600 * us, 10 * us, 1, 4096, -1, -1)]
    timeline = {
        'start_ns': START, 'end_ns': START + 1000 * us, 'names': names, 'results': {'2013265924': 'ZE_RESULT_ERROR_INVALID_ARGUMENT'},
        'stacks': [[6, 7]], 'shapes': [[32, 1, 1, 64, 1, 1]],
        'tracks': [
            {'kind': 'thread', 'pid': 77, 'tid': 77, 'name': 'main', 'process': 'app', 'items': deltas(main), 'left_out': 0},
            {'kind': 'thread', 'pid': 77, 'tid': 78, 'name': 'worker', 'process': 'app', 'items': deltas(worker), 'left_out': 5,
             'bins': {'start_ns': START, 'width_ns': 100 * us, 'busy_ns': [0, 0, 90 * us], 'count': [0, 0, 5]}},
            {'kind': 'queue', 'pid': 77, 'queue': 1, 'immediate': False, 'engine': '0.0', 'device': 'A GPU', 'items': deltas(queue), 'left_out': 0}],
        'memory': [{'pid': 77, 'peak_B': 8192, 'changes_a_point': 1, 'points': [315 * us, 8192, 500 * us, 0]}],
        'counters': [{'pid': 77, 'group': 'Basics', 'sampling': 'event', 'reports_a_point': 1, 'start_ns': START + 400 * us, 'starts': [0, 300 * us],
                      'lengths': [100 * us, 50 * us],
                      'metrics': [{'name': 'Active', 'units': 'percent', 'most': 80, 'values': [80, 40.5]}, {'name': 'Never', 'units': 'x', 'most': 0, 'values': [0, 0]}]}],
        'marks': [{'track': 0, 'name': 'step one', 'start_ns': START + 300 * us, 'end_ns': START + 800 * us, 'depth': 0}],
        'pauses': [{'pid': 77, 'start_ns': START + 800 * us, 'end_ns': START + 880 * us, 'reason': 'API'}],
        'left_out': {'calls': 5, 'executions': 0, 'untimed': 2, 'marks': 0}}
    calls = [row('zeInit', 1, 300 * us), row('zeEventHostSynchronize', 2, 400 * us, failed=0), row('zeCommandListAppendLaunchKernel', 3, 10 * us),
             row('zeMemAllocDevice', 1, 5 * us, failed=1, results={'ZE_RESULT_ERROR_INVALID_ARGUMENT': 1})]
    kernels = [{'name': 'force', 'device': 'A GPU', 'shape': '32x1x1 of 64x1x1', 'groups': [32, 1, 1], 'group_size': [64, 1, 1], 'simd': 16,
                'share': 100.0, 'total_ns': 200 * us, 'count': 2, 'timed': 2, 'mean_ns': 100 * us, 'min_ns': 100 * us, 'median_ns': 100 * us,
                'histogram': [[90112, 98304, 1], [106496, 114688, 1]],
                'p90_ns': 100 * us, 'p99_ns': 100 * us, 'max_ns': 100 * us, 'append_to_submit_ns': 60 * us, 'submit_to_start_ns': 25 * us},
               {'name': 'no_code', 'device': 'A GPU', 'shape': 'n/a of n/a', 'groups': None, 'group_size': None, 'simd': None, 'share': None,
                'total_ns': None, 'count': 2, 'timed': 0, 'mean_ns': None, 'min_ns': None}]
    report = {'schema': 'zescope.report/1', 'first_ns': START, 'last_ns': START + 1000 * us, 'call_count': 12, 'lost_calls': 0,
              'damaged_files': 0, 'left_out': {'leaks': 7}, 'calls': calls, 'kernels': kernels, 'copies': [], 'barriers': None,
              'memory': {'peak_B': 8192, 'kinds': [{'name': 'device memory', 'allocations': 1, 'frees': 1, 'total_B': 8192, 'peak_B': 8192, 'left_B': 0}]},
              'allocations': [], 'leaks': [{'type': 'event', 'handle': 0x7f01, 'size_B': None, 'pid': 77, 'tid': 77, 'call': 9, 'time_ns': 5000}],
              'builds': [], 'threads': [], 'marks': [], 'pauses': [],
              'metrics': [{'name': 'force', 'device': 'A GPU', 'shape': '32x1x1 of 64x1x1', 'group': 'Basics', 'metric': m, 'value': v, 'units': u, 'reports': 2, 'launches': 2}
                          for m, v, u in (('Active', 60.25, 'percent'), ('Threads', 1234567, 'threads'))]}
    return {'recording': {'argv': ['/opt/app', '--fast'], 'host': 'box', 'start_time': '2026-01-02T03:04:05Z', 'finished': True, 'exit_status': 3},
            'report': report, 'timeline': timeline, 'analysis': analysis(),
            'host_tree': [node('API calls', 800), node('main', 800, 0), node('solve', 600, 1), node('zeInit', 200, 1), node('zeEventHostSynchronize', 600, 2),
                          node('too short', 0.2, 1)],
            'device_tree': [node('device time', 250), node('main', 250, 0), node('force', 200, 1), node('copy host-to-device', 50, 1)]}


TWINS = ('1111aaaa2222', '3333bbbb4444')


def twins():
    """Kernels of one name in two modules, on the timeline and in the flame graph."""
    r, us = basic(), 1000
    r['recording'].update(recordings=3, code_note='1 of 3 recordings are without their code')
    # many near a roof, one over it
    usual = r['analysis']['kernels'][0]
    r['analysis']['kernels'] = [dict(usual, name=f'kernel_{i}', metrics=[m for m in usual['metrics'] if 'Llc' not in m['name']],
                                     roofline=dict(usual['roofline'], rate=(40, 20, 30)[i % 3] * 1.3 ** i, roofs=[dict(usual['roofline']['roofs'][0], intensity=.2 * 1.3 ** i)]))
                                for i in range(9)]
    r['timeline']['modules'] = list(TWINS)
    r['timeline']['tracks'][2]['items'] = deltas([(400 * us, 100 * us, 3, 1, 0, 80 * us, 20 * us, 3, -1, 0, 1), (600 * us, 100 * us, 3, 1, 0, 80 * us, 20 * us, 4, -1, 0, 0)])
    r['report']['kernels'] = [dict(r['report']['kernels'][0], module=m) for m in TWINS]
    r['device_tree'] = [node('device time', 200), dict(node('force', 100, 0), module=TWINS[1]), dict(node('force', 100, 0), module=TWINS[0])]
    return r


def hostile():
    """Nothing is as it should be."""
    a = sample.ATTACKS
    track = {'kind': 'thread', 'pid': a[0], 'tid': a[1], 'name': a[0], 'process': a[0], 'items': 'C*\u00e9<\U0001f600g//////////////////////////ABCD' + a[0], 'bins': 7}
    queue = {'kind': 'queue', 'pid': 1, 'queue': a[0], 'device': a[0], 'engine': a[1], 'items': text([1, 2, 0, 1, 99, 1, 1, 1, -1, 99, 7] * 3), 'bins': {'busy_ns': [1], 'width_ns': 0}}
    rows = [{'name': b, 'count': b, 'total_ns': 'x', 'results': {b: 1}, 'share': 50} for b in a]
    return {'recording': {'argv': a, 'host': a[0]}, 'timeline': {'start_ns': 'x', 'end_ns': 9, 'names': a, 'tracks': [track, queue, None, 5], 'memory': [{'points': ['x']}, None],
            'counters': [None, 7, {'pid': 1, 'group': a[0], 'starts': ['x', -1e300, 5], 'lengths': 'y', 'metrics': [None, {'name': a[1], 'units': a[2], 'most': 1e300, 'values': {}}]}],
            'marks': [{'track': 0, 'name': a[0], 'start_ns': 1}, {'track': 99}], 'pauses': [None], 'shapes': [7], 'modules': a[0]},
            'host_tree': [node(a[0], 5), {'parent': 7, 'name': a[1], 'total_ns': 5}, node(a[2], 9, 0), node(a[3], -1, 0), {'parent': -1}, None, 7, node(a[4], 5, 2)],
            'device_tree': 'x',
            'analysis': {'kernels': [None, 7, {'name': a[0], 'roofline': {'rate': 1e300, 'peak': a[1], 'roofs': [None, {'name': a[2], 'intensity': 1e-300, 'peak_rate': 1e300}]},
                                      'findings': [None, {'title': a[3], 'text': a[4], 'places': [None, {'path': a[0], 'line': 'x', 'text': a[1]}], 'numbers': [7]}], 'not_judged': 'x'}]},
            'report': {'calls': rows, 'kernels': [dict(rows[0], histogram=[[1, 2], [5, 4, 3], [0, 1e300, 1], 7, None, [a[0], a[1], a[2]]])] + rows, 'leaks': [None, 7, {'handle': a[0], 'type': a[1]}], 'memory': 5}}


def big(n=150000):
    """Many items on several threads and queues."""
    tracks = [{'kind': 'thread', 'pid': 1, 'tid': 10 + t, 'name': f'worker {t}', 'process': 'app',
               'items': text(x for i in range(n // 8) for x in (900, 400 + i % 300, i % 5, 0, 0, i + 1, -1)), 'left_out': 0} for t in range(8)]
    tracks += [{'kind': 'queue', 'pid': 1, 'queue': 1, 'immediate': True, 'engine': '0.0', 'device': 'A GPU', 'left_out': 0,
                'items': text(x for i in range(n) for x in (110, 90, 5 + i % 3, 1, i % 8, 500, 50, i // 8 + 1, -1, -1, -1))}]
    names = ['zeInit', 'zeEventQueryStatus', 'zeMemFree', 'zeCommandListAppendBarrier', 'zeMemAllocHost', 'force', 'scale', 'reduce']
    return {'timeline': {'start_ns': 0, 'end_ns': n * 120, 'names': names, 'tracks': tracks, 'left_out': {'executions': 20}},
            'report': {'barriers': [{'name': 'barrier', 'count': 1000}], 'calls': [row(f'call {i}', i + 1, i * 1000 + 1) for i in range(3000)]}}
