"""What src/calls/api/opencl.def says of the OpenCL API, in the terms of level_zero.Api.

load(api, path) adds the types to an Api, so that its kind() knows them, and returns an OpenCl: `calls` and
`extensions` are (place in the ICD's table or None, name, result type, parameters), parameters are
(type, name, flow, range), `declarations` is the C of the types.
"""
import re

from level_zero import read

LIST = -64  # ZS_API_RANGE_LIST


class OpenCl:
    def __init__(self, api):
        self.api, self.calls, self.extensions, self.declarations, self.results = api, [], [], [], []
        self.numbers = {}  # of enumerators

    def add_handle(self, rest):
        self.api.handles.add(rest)
        self.declarations.append(f'typedef struct _{rest} *{rest};')

    def add_callback(self, rest):
        self.api.callbacks.add(rest)
        self.declarations.append(f'typedef void (*{rest})(void);')

    def add_alias(self, rest):
        name, other = rest.split()
        if name != 'cl_bool':
            self.api.aliases[name] = other
        self.declarations.append(f'typedef {other} {name};')

    def add_values(self, target, rest, plain):
        name, *values = rest.split()
        target[name] = []
        for value, _, number in (v.partition('=') for v in values):
            if number:
                self.declarations.append(f'#define {value} {number}')
                self.numbers[value] = int(number, 0)
            target[name].append((value, self.numbers[value]))
        if plain:
            self.declarations.append(f'typedef {plain} {name};')

    def add_enum(self, rest):
        self.add_values(self.api.enums, rest, 'uint32_t')

    def add_flags(self, rest):
        self.add_values(self.api.bits, rest, 'uint64_t')

    def add_results(self, rest):
        self.add_values(self.api.enums, 'cl_result ' + rest, 'int32_t')

    def add_struct(self, rest):
        name, _, body = rest.partition(' ')
        fields = [field.split() for field in body.split(';')]
        self.api.structs[name] = [(t, n, '', 'ANY') for t, n in fields]
        self.declarations.append(f'typedef struct zs_{name} {{ ' + ' '.join(f'{t} {n};' for t, n in fields) +
                                 f' }} {name};')

    def add_call(self, rest):
        place, _, rest = rest.partition(' ')
        self.calls.append((int(place),) + self.function(rest))

    def add_extension(self, rest):
        self.extensions.append((None,) + self.function(rest))

    def function(self, rest):
        result, name, body = re.match(r'(\S+) (\w+)\((.*)\)$', rest).groups()
        parsed = [re.match(r'(out )?(.*?)(\w+)(?:\[(.*)\])?$', p.strip()).groups() for p in body.split(', ') if p]
        names = [p[2] for p in parsed]
        params = [(t.strip(), n, 'OUT' if out else 'IN', self.range(r, names)) for out, t, n, r in parsed]
        if result not in ('cl_int', 'void'):  # what it returns is shown as one more
            params.append((result + '*', 'returned', 'OUT', -1))
        return name, result, params

    @staticmethod
    def range(text, names):
        if not text:
            return -1
        if text == 'list':
            return LIST
        if text.isdigit():
            return -int(text)
        first, _, second = text.partition('<')
        return names.index(first) + ((names.index(second) + 1) << 8 if second else 0)

    def rows(self, params):
        """As Api.param_rows. What an error is stored to is no more than a pointer: the result is shown."""
        for type_text, name, flow, count in params:
            kind, base = self.api.kind(type_text)
            if name == 'errcode_ret':
                kind = 'PTR'
            yield type_text, name, kind, base, flow, count

    def all(self):
        return self.calls + self.extensions


def load(api, path):
    cl = OpenCl(api)
    rows = re.sub(r'\n\s+', ' ', re.sub(r'#[^\n]*', '', read(path))).split('\n')
    for row in rows:
        kind, _, rest = row.strip().partition(' ')
        if kind:
            getattr(cl, 'add_' + kind)(rest.strip())
    return cl


DISPATCH = '''
/* The ICD loader's table, and functions that are got by their names. */
enum {{ ZS_CL_PLACES = {places}, ZS_CL_DRIVERS = {drivers} }};
'''
DRIVERS = 2  # whose functions of one extension can be told apart


def declared(params):
    return [p for p in params if p[1] != 'returned']


def body(name, result, params, next_function):
    own = declared(params)
    args = ', '.join('&error' if n == 'errcode_ret' else n for _, n, _, _ in own)
    plain = ', '.join(n for _, n, _, _ in own)
    pointers = ', '.join('(void *)&returned_at' if n == 'returned' else f'(void *)&{n}' for _, n, _, _ in params)
    has_error = any(n == 'errcode_ret' for _, n, _, _ in own)
    leave = f'zs_trace_exit(ZS_API_{name}, params, {len(params)}, '
    out = [f'    void *params[] = {{{pointers}}};', '    struct zs_trace_frame frame;']
    if result not in ('cl_int', 'void'):
        out = [f'    {result} returned = NULL, *returned_at = &returned;' if not result.endswith('*') else
               f'    {result}returned = NULL, **returned_at = &returned;'] + out
    out.append(f'    if (!zs_trace_enter(&zs_layer_set, ZS_API_{name}, params, {len(params)}, &frame))')
    if result == 'void':
        return out + ['    {', f'        {next_function}({plain});', '        return;', '    }',
                      f'    {next_function}({args});', f'    (void){leave}0, &frame);']
    out.append(f'        return {next_function}({plain});')
    if result == 'cl_int':
        return out + [f'    return {leave}{next_function}({args}), &frame);']
    if not has_error:
        return out + [f'    returned = {next_function}({args});', f'    (void){leave}0, &frame);', '    return returned;']
    return out + ['    cl_int error = 0;', f'    returned = {next_function}({args});',
                  f'    error = {leave}error, &frame);', '    if (errcode_ret)', '        *errcode_ret = error;',
                  '    return returned;']


def wrapper(name, result, params, drivers):
    decl = ', '.join(f'{t} {n}' for t, n, _, _ in declared(params)) or 'void'
    plain = ', '.join(n for _, n, _, _ in declared(params))
    gap = '' if result.endswith('*') else ' '
    out = []
    if not drivers:
        out += [f'static {result}{gap}(*next_{name})({decl});', f'static {result}{gap}in_{name}({decl})', '{']
        if name.startswith('clGetExtensionFunctionAddress'):
            text = body(name, result, params, f'next_{name}')
            out += [line.replace('return next_', 'return zs_layer_extension(func_name, next_')
                    .replace(f'({plain});', f'({plain}));') if 'return next_' in line else
                    line.replace('return returned', 'return zs_layer_extension(func_name, returned)')
                    for line in text]
        else:
            out += body(name, result, params, f'next_{name}')
        return out + ['}', '']
    out += [f'typedef {result}{gap}(*type_{name})({decl});', f'static type_{name} next_{name}[ZS_CL_DRIVERS];',
            f'static {result}{gap}run_{name}(type_{name} next{", " if plain else ""}{decl})', '{']
    out += body(name, result, params, 'next') + ['}', '']
    for i in range(drivers):
        out += [f'static {result}{gap}in_{name}_{i}({decl})', '{',
                f'    {"" if result == "void" else "return "}run_{name}(next_{name}[{i}]{", " if plain else ""}{plain});',
                '}', '']
    return out


def source(cl):
    """The functions, the table for the ICD loader, and that of the extensions."""
    out = []
    for _, name, result, params in cl.calls:
        out += wrapper(name, result, params, 0)
    for _, name, result, params in cl.extensions:
        out += wrapper(name, result, params, DRIVERS)
    out += ['const struct zs_layer_slot zs_layer_cl_slots[] = {']
    out += [f'    {{{place}, 0, ZS_API_{name}, (void *)in_{name}, &next_{name}}},' for place, name, _, _ in cl.calls]
    out += ['};', 'const size_t zs_layer_cl_slot_count = ZS_ARRAY_LEN(zs_layer_cl_slots);', '']
    out += ['const struct zs_layer_extension zs_layer_extensions[] = {']
    for _, name, _, _ in cl.extensions:
        wrappers = ', '.join(f'(void *)in_{name}_{i}' for i in range(DRIVERS))
        out.append(f'    {{"{name}", {{{wrappers}}}, (void *)next_{name}}},')
    out += ['};', 'const size_t zs_layer_extension_count = ZS_ARRAY_LEN(zs_layer_extensions);', '']
    return out
