#!/usr/bin/env python3
"""Generate the driver's dispatch tables from the installed Level Zero headers.

usage: gen_ddi.py --out ddi.c HEADER... -- SOURCE...     the tables, and a stub per missing function
       gen_ddi.py --table HEADER... -- SOURCE...         Markdown: which functions do not work
       gen_ddi.py --check DOC HEADER... -- SOURCE...     exit 1 unless DOC holds that table

Every function that a table of {ze,zet,zes}_ddi.h names gets an entry: the driver's own definition
where one of the sources has it, otherwise a stub that returns ZE_RESULT_ERROR_UNSUPPORTED_FEATURE.
So a header with more functions than this driver knows still builds and still fills its tables.
"""
import re
import sys

# Functions of later specifications, which newer loaders ask for: they follow, in this order, the
# members that the installed header has. Each row: table, its member count in the header the rows
# were written against, and (version, function or None for one that this driver does not have).
LATER = {
    'ze_global_dditable_t': (1, [((1, 10), 'zeInitDrivers')]),
    'ze_driver_dditable_t': (6, [((1, 6), 'zeDriverGetLastErrorDescription')]),
    'ze_device_dditable_t': (18, [((1, 7), 'zeDeviceGetRootDevice')]),
    'ze_command_queue_dditable_t': (4, [((1, 9), 'zeCommandQueueGetOrdinal'),
                                        ((1, 9), 'zeCommandQueueGetIndex')]),
    'ze_command_list_dditable_t': (28, [((1, 6), 'zeCommandListHostSynchronize'),
                                        ((1, 9), 'zeCommandListGetDeviceHandle'),
                                        ((1, 9), 'zeCommandListGetContextHandle'),
                                        ((1, 9), 'zeCommandListGetOrdinal'),
                                        ((1, 9), 'zeCommandListImmediateGetIndex'),
                                        ((1, 9), 'zeCommandListIsImmediate')]),
    'ze_event_pool_dditable_t': (5, [((1, 6), 'zeEventPoolPutIpcHandle'),
                                     ((1, 9), 'zeEventPoolGetContextHandle'),
                                     ((1, 9), 'zeEventPoolGetFlags')]),
    'ze_event_dditable_t': (7, [((1, 6), 'zeEventQueryKernelTimestampsExt'),
                                ((1, 9), 'zeEventGetEventPool'),
                                ((1, 9), 'zeEventGetSignalScope'),
                                ((1, 9), 'zeEventGetWaitScope'),
                                ((1, 15), 'zeEventCounterBasedCreate'),
                                ((1, 15), 'zeEventCounterBasedGetIpcHandle'),
                                ((1, 15), 'zeEventCounterBasedOpenIpcHandle'),
                                ((1, 15), 'zeEventCounterBasedCloseIpcHandle'),
                                ((1, 15), None),  # zeEventCounterBasedGetDeviceAddress
                                ((1, 17), 'zeEventGetCounterBasedFlags')]),
    'ze_mem_dditable_t': (10, [((1, 6), 'zeMemPutIpcHandle'),
                                ((1, 9), None),  # zeMemGetPitchFor2dImage
                                ((1, 15), 'zeMemGetIpcHandleWithProperties')]),
    'ze_image_dditable_t': (4, [((1, 5), 'zeImageViewCreateExt')]),
    'zet_debug_dditable_t': (11, [((1, 5), 'zetDebugGetThreadRegisterSetProperties')]),
    # tables of their own
    'ze_mem_exp_dditable_t': (0, [((1, 6), 'zeMemGetIpcHandleFromFileDescriptorExp'),
                                  ((1, 6), 'zeMemGetFileDescriptorFromIpcHandleExp'),
                                  ((1, 7), 'zeMemSetAtomicAccessAttributeExp'),
                                  ((1, 7), 'zeMemGetAtomicAccessAttributeExp')]),
    'ze_command_list_exp_dditable_t': (0, [
        ((1, 9), None), ((1, 9), 'zeCommandListImmediateAppendCommandListsExp')]),
    'zet_metric_group_exp_dditable_t': (1, [
        ((1, 6), 'zetMetricGroupGetGlobalTimestampsExp'),
        ((1, 7), 'zetMetricGroupGetExportDataExp'),
        ((1, 7), 'zetMetricGroupCalculateMetricExportDataExp'),
        ((1, 9), 'zetMetricGroupCreateExp'),
        ((1, 9), 'zetMetricGroupAddMetricExp'),
        ((1, 9), 'zetMetricGroupRemoveMetricExp'),
        ((1, 9), 'zetMetricGroupCloseExp'),
        ((1, 9), 'zetMetricGroupDestroyExp')]),
    'zet_metric_exp_dditable_t': (0, [((1, 9), 'zetMetricCreateFromProgrammableExp'),
                                      ((1, 9), 'zetMetricDestroyExp'),
                                      ((1, 12), 'zetMetricCreateFromProgrammableExp2')]),
    'zet_device_exp_dditable_t': (0, [((1, 11), 'zetDeviceGetConcurrentMetricGroupsExp'),
                                      ((1, 11), 'zetDeviceCreateMetricGroupsFromMetricsExp'),
                                      ((1, 13), 'zetDeviceEnableMetricsExp'),
                                      ((1, 13), 'zetDeviceDisableMetricsExp')]),
    'zet_command_list_exp_dditable_t': (0, [((1, 13), 'zetCommandListAppendMarkerExp')]),
    'zet_metric_tracer_exp_dditable_t': (0, [
        ((1, 11), 'zetMetricTracerCreateExp'),
        ((1, 11), 'zetMetricTracerDestroyExp'),
        ((1, 11), 'zetMetricTracerEnableExp'),
        ((1, 11), 'zetMetricTracerDisableExp'),
        ((1, 11), 'zetMetricTracerReadDataExp'),
        ((1, 11), 'zetMetricTracerDecodeExp')]),
    'zet_metric_decoder_exp_dditable_t': (0, [
        ((1, 11), 'zetMetricDecoderCreateExp'),
        ((1, 11), 'zetMetricDecoderDestroyExp'),
        ((1, 11), 'zetMetricDecoderGetDecodableMetricsExp')]),
    'zet_metric_programmable_exp_dditable_t': (0, [
        ((1, 9), 'zetMetricProgrammableGetExp'),
        ((1, 9), 'zetMetricProgrammableGetPropertiesExp'),
        ((1, 9), 'zetMetricProgrammableGetParamInfoExp'),
        ((1, 9), 'zetMetricProgrammableGetParamValueInfoExp')]),
}


def read(path):
    with open(path, encoding='utf-8') as f:
        return f.read()


def function_of(pfn_type):
    """ze_pfnDeviceGet_t -> zeDeviceGet"""
    m = re.match(r'(ze[ts]?)_pfn(\w+)_t$', pfn_type)
    return m.group(1) + m.group(2)


class Headers:
    def __init__(self, paths):
        text = re.sub(r'///.*', '', '\n'.join(read(p) for p in paths))
        self.params = {}  # function -> parameter types
        self.returns = {}  # function -> what it returns: ze_result_t, but for very few
        for result, name, args in re.findall(
                r'typedef (\w+) \(ZE_APICALL \*(\w+_pfn\w+_t)\)\(\s*(.*?)\s*\);', text, re.S):
            self.params[name] = [a.strip() for a in args.split(',')] if args.strip() else []
            self.returns[name] = result
        self.tables = []  # (table type, [(member, pfn type)])
        for name, body in re.findall(r'typedef struct _(\w+_dditable_t)\s*\{(.*?)\}', text, re.S):
            members = [(m, t) for t, m in re.findall(r'(\w+_pfn\w+_t)\s+(pfn\w+);', body)]
            if members:
                self.tables.append((name, members))
        self.getter = {}
        for name, table in re.findall(
                r'\b(ze[ts]?Get\w+ProcAddrTable)\(\s*ze_api_version_t version,\s*'
                r'(\w+_dditable_t)\* pDdiTable\s*\)', text):
            self.getter[table] = name


def callbacks_of(ddi_paths):
    """(member of ze_callbacks_t, member of its table, function) for every call that zetTracerExp
    can watch: from ze_api.h, which stands beside ze_ddi.h."""
    text = re.sub(r'///.*', '', read(next(p for p in ddi_paths if p.endswith('ze_ddi.h'))
                                     .replace('ze_ddi.h', 'ze_api.h')))
    tables = {name: re.findall(r'(ze_pfn\w+Cb_t)\s+(pfn\w+Cb);', body) for name, body in
              re.findall(r'typedef struct _(ze_\w+_callbacks_t)\s*\{(.*?)\}', text, re.S)}
    whole = re.search(r'typedef struct _ze_callbacks_t\s*\{(.*?)\}', text, re.S).group(1)
    rows = []
    for table, member in re.findall(r'(ze_\w+_callbacks_t)\s+(\w+);', whole):
        rows += [(member, cb, 'ze' + re.match(r'ze_pfn(\w+)Cb_t', pfn).group(1))
                 for pfn, cb in tables[table]]
    return rows


def defined(sources):
    names = set()
    for path in sources:
        names.update(re.findall(r'^ze_result_t ZE_APICALL\s+(ze\w+)\(', read(path), re.M))
    return names


def emit_traced(headers, watched):
    """A wrapper per call that a tracer can watch, and how a table of callbacks is taken over."""
    out, params = [], {function_of(pfn): headers.params[pfn]
                       for _, members in headers.tables for _, pfn in members}
    for i, (_, _, name) in enumerate(watched):
        args = [f'a{k}' for k in range(len(params[name]))]
        decl = ', '.join(f'{t} {a}' for t, a in zip(params[name], args)) or 'void'
        pointers = ', '.join(f'(void *)&{a}' for a in args) or 'NULL'
        out += [f'static ze_result_t ZE_APICALL traced_{name}({decl})', '{',
                f'    void *params[] = {{{pointers}}};',
                '    struct zs_trace_frame frame;',
                f'    bool traced = zs_trace_enter(&zs_driver_tracers, {i}, params, {len(args)}, &frame);',
                f'    ze_result_t result = {name}({", ".join(args)});',
                f'    return traced ? (ze_result_t)zs_trace_exit({i}, params, {len(args)}, '
                '(int32_t)result, &frame) : result;', '}']
    out += [f'struct zs_trace_set zs_driver_tracers = {{.call_count = {len(watched)}}};',
            'int zs_ddi_set_callbacks(struct zs_tracer *tracer, const ze_callbacks_t *callbacks,',
            '    int (*set)(struct zs_tracer *tracer, uint32_t call, zs_trace_fn fn))', '{',
            '    int error = 0;']
    for i, (table, member, _) in enumerate(watched):
        out.append(f'    error = error ? error : set(tracer, {i}, (zs_trace_fn)callbacks->{table}.{member});')
    return out + ['    return error;', '}']


def emit_named(headers, have, traceable):
    """Extensions, and what loaders may be too old to know: programs ask for them by name."""
    names = {function_of(pfn) for _, members in headers.tables for _, pfn in members}
    names = {n for n in names if re.search(r'(Ext|Exp\d*)$', n)} | {n for _, rows in LATER.values() for _, n in rows}
    out = ['void *zs_ddi_function(const char *name)', '{',
           '    static const struct {', '        const char *name;', '        void *plain, *traced;', '    } rows[] = {']
    for name in sorted(n for n in names if n in have):
        out.append(f'        {{"{name}", (void *){name}, (void *){"traced_" + name if name in traceable else name}}},')
    return out + ['    };', '    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)',
                  '        if (strcmp(rows[i].name, name) == 0)',
                  '            return zs_ddi_is_traced() ? rows[i].traced : rows[i].plain;', '    return NULL;', '}']


def emit(headers, have, watched):
    out = ['/* Generated by gen_ddi.py: do not edit. */', '#include "driver/ddi.h"',
           '#include "driver/tracing.h"', '', '#include <string.h>', '']
    for table, members in headers.tables:
        for _, pfn in members:
            name = function_of(pfn)
            if name in have:
                continue
            args = ', '.join(f'{t} a{i}' for i, t in enumerate(headers.params[pfn])) or 'void'
            unsupported = f'zs_ddi_unsupported("{name}")'
            # where no result can be returned, a handle that is none says it
            if headers.returns[pfn] != 'ze_result_t':
                unsupported = f'({unsupported}, NULL)'
            out += [f'{headers.returns[pfn]} ZE_APICALL {name}({args})', '{', f'    return {unsupported};', '}']
    out += emit_traced(headers, watched)
    traceable = {name for _, _, name in watched}
    out += emit_named(headers, have, traceable)
    for table, members in headers.tables:
        out += [f'ZS_API ze_result_t ZE_APICALL {headers.getter[table]}('
                f'ze_api_version_t version, {table} *pDdiTable)', '{',
                '    ze_result_t result = zs_ddi_check(version, pDdiTable);',
                '    if (result != ZE_RESULT_SUCCESS)', '        return result;']
        for member, pfn in members:
            name = function_of(pfn)
            value = f'zs_ddi_is_traced() ? traced_{name} : {name}' if name in traceable else name
            out.append(f'    pDdiTable->{member} = {value};')
        count, later = LATER.get(table, (0, []))
        for i, (version, name) in enumerate(later):
            if name in have and count + i >= len(members):
                out += [f'    if (version >= ZE_MAKE_VERSION({version[0]}, {version[1]}))',
                        f'        ((void **)pDdiTable)[{count + i}] = (void *){name};']
        out += ['    return ZE_RESULT_SUCCESS;', '}']
    for table in later_tables(headers):
        prefix, name = table_name(table)
        out += [f'ZS_API ze_result_t ZE_APICALL {prefix}Get{name}ProcAddrTable('
                'ze_api_version_t version, void **pDdiTable);',
                f'ze_result_t ZE_APICALL {prefix}Get{name}ProcAddrTable('
                'ze_api_version_t version, void **pDdiTable)', '{',
                '    ze_result_t result = zs_ddi_check(version, pDdiTable);',
                '    if (result != ZE_RESULT_SUCCESS)', '        return result;']
        for i, (version, name) in enumerate(LATER[table][1]):
            if name in have:
                out += [f'    if (version >= ZE_MAKE_VERSION({version[0]}, {version[1]}))',
                        f'        pDdiTable[{i}] = (void *){name};']
        out += ['    return ZE_RESULT_SUCCESS;', '}']
    return '\n'.join(out) + '\n'


def later_tables(headers):
    """Tables that the installed headers do not have at all."""
    return [t for t in LATER if t not in {table for table, _ in headers.tables}]


def table_name(table):
    """ze_command_list_dditable_t -> ('ze', 'CommandList')"""
    prefix, rest = re.match(r'(ze[ts]?)_(.*)_dditable_t$', table).groups()
    return prefix, ''.join(word.capitalize() for word in rest.split('_'))


def markdown(headers, have):
    """What does not work, by table of the API; of a table that is not named all functions work."""
    rows = ['| table | refused with `ZE_RESULT_ERROR_UNSUPPORTED_FEATURE` |', '|---|---|']
    nothing_works = []
    for table, members in headers.tables + [(t, []) for t in later_tables(headers)]:
        prefix, name = table_name(table)
        names = [function_of(pfn) for _, pfn in members]
        names += [n for _, n in LATER.get(table, (0, []))[1] if n and n not in names]
        works = [n[len(prefix):] for n in names if n in have]
        missing = [n[len(prefix):] for n in names if n not in have]
        if not works:
            nothing_works.append(f'{prefix} {name}')
        elif missing:
            few = ', '.join(missing) if len(missing) <= len(works) else 'all but ' + ', '.join(works)
            rows.append(f'| {prefix} {name} | {few} |')
    rows.append(f'| {", ".join(nothing_works)} | all |')
    return '\n'.join(rows) + '\n'


def main():
    args = sys.argv[1:]
    mode = args.pop(0)
    path = args.pop(0) if mode in ('--out', '--check') else None
    split = args.index('--')
    headers = Headers(args[:split])
    have = defined(args[split + 1:])
    if mode == '--out':
        with open(path, 'w', encoding='utf-8') as f:
            f.write(emit(headers, have, callbacks_of(args[:split])))
        return 0
    if mode == '--check':
        if markdown(headers, have) in read(path):
            return 0
        print(f'{path}: the table of functions is not what the driver has: gen_ddi.py --table')
        return 1
    print(markdown(headers, have), end='')
    return 0


if __name__ == '__main__':
    sys.exit(main())
