#!/usr/bin/env python3
"""Generate the driver's dispatch tables from the description of the Level Zero API (src/calls/api).

usage: gen_ddi.py --out ddi.c DESCRIPTION INCLUDE SOURCE...     the tables, and a stub per missing function
       gen_ddi.py --table DESCRIPTION INCLUDE SOURCE...         Markdown: which functions do not work
       gen_ddi.py --check DOC DESCRIPTION INCLUDE SOURCE...     exit 1 unless DOC holds that table

Every function of every table gets an entry: the driver's own definition where one of the sources has it,
otherwise a stub that returns ZE_RESULT_ERROR_UNSUPPORTED_FEATURE. A loader gets the entries of its version.
"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'scripts'))
from level_zero import Api, read  # noqa: E402

# Where no result can be returned: a handle that is none, an identifier that nobody has.
NOTHING = {'uint32_t': 'UINT32_MAX'}


def defined(sources):
    names = set()
    for path in sources:
        names.update(re.findall(r'^\w+ ZE_APICALL\s+(ze\w+)\(', read(path), re.M))
    return names


def emit_stub(name, result, params):
    args = ', '.join(f'{p[0]} a{i}' for i, p in enumerate(params)) or 'void'
    value = f'zs_ddi_unsupported("{name}")'
    if result != 'ze_result_t':
        value = f'({value}, {NOTHING.get(result, "NULL")})'
    return [f'static {result} ZE_APICALL none_{name}({args})', '{', f'    return {value};', '}']


def emit_traced(api):
    """A wrapper per call that a tracer can watch, and how a table of callbacks is taken over."""
    out = []
    for i, name in enumerate(api.traced):
        params = api.functions[name][1]
        args = [f'a{k}' for k in range(len(params))]
        decl = ', '.join(f'{p[0]} {a}' for p, a in zip(params, args)) or 'void'
        pointers = ', '.join(f'(void *)&{a}' for a in args) or 'NULL'
        out += [f'static ze_result_t ZE_APICALL traced_{name}({decl})', '{',
                f'    void *params[] = {{{pointers}}};',
                '    struct zs_trace_frame frame;',
                f'    bool traced = zs_trace_enter(&zs_driver_tracers, {i}, params, {len(args)}, &frame);',
                f'    ze_result_t result = {name}({", ".join(args)});',
                f'    return traced ? (ze_result_t)zs_trace_exit({i}, params, {len(args)}, '
                '(int32_t)result, &frame) : result;', '}']
    return out + [
        f'struct zs_trace_set zs_driver_tracers = {{.call_count = {len(api.traced)}}};',
        f'_Static_assert(sizeof(ze_callbacks_t) == {len(api.traced)} * sizeof(void *), "callbacks of all calls");',
        'int zs_ddi_set_callbacks(struct zs_tracer *tracer, const ze_callbacks_t *callbacks,',
        '    int (*set)(struct zs_tracer *tracer, uint32_t call, zs_trace_fn fn))', '{',
        f'    zs_trace_fn fns[{len(api.traced)}];', '    memcpy(fns, callbacks, sizeof(fns));',
        '    int error = 0;', f'    for (uint32_t i = 0; i < {len(api.traced)} && !error; i++)',
        '        error = set(tracer, i, fns[i]);', '    return error;', '}']


def entry(name, have, traced):
    plain = name if name in have else f'none_{name}'
    return f'(void *){plain}, (void *){"traced_" + name if name in traced else plain}'


def emit_named(api, have, traced):
    """Extensions, and what loaders may be too old to know: programs ask for them by name."""
    names = sorted(n for n in api.functions if n in have and
                   (re.search(r'(Ext|Exp\d*)$', n) or api.since[n] > (1, 4)))
    return (['void *zs_ddi_function(const char *name)', '{',
             '    static const struct {', '        const char *name;', '        void *plain, *traced;', '    } rows[] = {'] +
            [f'        {{"{name}", {entry(name, have, traced)}}},' for name in names] +
            ['    };', '    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)',
             '        if (strcmp(rows[i].name, name) == 0)',
             '            return zs_ddi_is_traced() ? rows[i].traced : rows[i].plain;', '    return NULL;', '}'])


def emit_table(table, have, traced):
    get = f'{table.domain}Get{table.name}ProcAddrTable'
    kind = table.type if table.declared else 'void'
    out = [f'ZS_API ze_result_t ZE_APICALL {get}(ze_api_version_t version, {kind} *pDdiTable);',
           f'ze_result_t ZE_APICALL {get}(ze_api_version_t version, {kind} *pDdiTable)', '{',
           '    static const struct zs_ddi_entry entries[] = {']
    for index, (major, minor), name in table.slots:
        moved = [v for v, places in table.moved.items() if index in places]
        not_in = 'ZE_MAKE_VERSION(%d, %d)' % moved[0] if moved else '0'
        out.append(f'        {{{index}, ZE_MAKE_VERSION({major}, {minor}), {not_in}, {entry(name, have, traced)}}},')
    return out + ['    };', '    return zs_ddi_fill(version, (void **)pDdiTable, entries, '
                  'sizeof(entries) / sizeof(entries[0]));', '}']


def emit(api, have):
    out = ['/* Generated by gen_ddi.py: do not edit. */', '#include "driver/ddi.h"',
           '#include "driver/tracing.h"', '', '#include <string.h>', '']
    for _, _, _, name, result, params in api.calls():
        if name not in have:
            out += emit_stub(name, result, params)
    traced = {n for n in api.traced if n in have}
    out += emit_traced(api) + emit_named(api, have, traced)
    for table in api.tables:
        out += emit_table(table, have, traced)
    return '\n'.join(out) + '\n'


def markdown(api, have):
    """What does not work, by table of the API; of a table that is not named all functions work."""
    rows = ['| table | refused with `ZE_RESULT_ERROR_UNSUPPORTED_FEATURE` |', '|---|---|']
    nothing_works, others = {}, {}
    for table in api.tables:
        names = [n for _, _, n in table.slots]
        works = [n[len(table.domain):] for n in names if n in have]
        missing = [n[len(table.domain):] for n in names if n not in have]
        if not works:
            nothing_works.setdefault(table.domain, []).append(table.name)
            continue
        others.setdefault(table.domain, []).append(table.name)
        if missing:
            few = ', '.join(missing) if len(missing) <= len(works) else 'all but ' + ', '.join(works)
            rows.append(f'| {table.domain} {table.name} | {few} |')
    for domain, names in nothing_works.items():
        some = others.get(domain, [])
        rows.append(f'| {domain} {", ".join(names) if len(names) <= len(some) else "but for " + ", ".join(some)} | all |')
    return '\n'.join(rows) + '\n'


def main():
    args = sys.argv[1:]
    mode = args.pop(0)
    path = args.pop(0) if mode in ('--out', '--check') else None
    api = Api.load(args[0], args[1])
    have = defined(args[2:])
    if mode == '--out':
        with open(path, 'w', encoding='utf-8') as f:
            f.write(emit(api, have))
    elif mode == '--table':
        print(markdown(api, have), end='')
    elif markdown(api, have) not in read(path):
        sys.exit(f'{path}: the table of functions is not what the driver has: gen_ddi.py --table')


if __name__ == '__main__':
    main()
