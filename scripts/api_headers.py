"""What the Level Zero headers declare, and what src/calls/later.def says of specifications after them.

Api.load(include_dir, later_path) gives enums, flags, structs, functions and tables. What the headers
have is taken from them; the facts only add. `forward` and `later` are the C declarations of what they add.
"""
import os
import re

HEADERS = [('ze', 'ze_api.h', 'ze_ddi.h'), ('zet', 'zet_api.h', 'zet_ddi.h'),
           ('zes', 'zes_api.h', 'zes_ddi.h')]
SCALARS = {'uint8_t': 'U8', 'uint16_t': 'U16', 'uint32_t': 'U32', 'uint64_t': 'U64',
           'int32_t': 'I32', 'int64_t': 'I64', 'size_t': 'SIZE', 'float': 'F32', 'double': 'F64',
           'ze_bool_t': 'BOOL', 'cl_bool': 'BOOL', 'zet_bool_t': 'BOOL', 'zes_bool_t': 'BOOL', 'char': 'I8', 'int': 'I32',
           'uintptr_t': 'U64'}

# The headers do not say which parameter counts these.
RANGES = {('zeModuleBuildLogGetString', 'pBuildLog'): 'pSize',
          ('zeKernelGetName', 'pName'): 'pSize',
          ('zeKernelGetSourceAttributes', 'pString'): 'pSize',
          ('zeKernelGetBinaryExp', 'pKernelBinary'): 'pSize',
          ('zeModuleGetNativeBinary', 'pModuleNativeBinary'): 'pSize',
          ('zetModuleGetDebugInfo', 'pDebugInfo'): 'pSize',
          ('zeDeviceGetRuntimeRequirements', 'pRequirements'): 'pSize',
          ('zesFirmwareGetConsoleLogs', 'pFirmwareLog'): 'pSize',
          ('zetMetricProgrammableGetParamInfoExp', 'pParameterInfo'): 'pParameterCount',
          ('zetMetricProgrammableGetParamValueInfoExp', 'pValueInfo'): 'pValueInfoCount',
          ('zetMetricCreateFromProgrammableExp', 'phMetricHandles'): 'pMetricHandleCount',
          ('zetMetricCreateFromProgrammableExp2', 'phMetricHandles'): 'pMetricHandleCount',
          ('zetDeviceGetConcurrentMetricGroupsExp', 'phMetricGroups'): 'metricGroupCount',
          ('zetDeviceCreateMetricGroupsFromMetricsExp', 'phMetricGroup'): 'pMetricGroupCount'}
# Memory of the device, or written later than on return, or on failure only: never to be followed.
POINTERS = {('zeCommandListAppendWriteGlobalTimestamp', 'dstptr'),
            ('zeCommandListAppendLaunchKernelIndirect', 'pLaunchArgumentsBuffer'),
            ('zeCommandListAppendLaunchMultipleKernelsIndirect', 'pCountBuffer'),
            ('zeCommandListAppendLaunchMultipleKernelsIndirect', 'pLaunchArgumentsBuffer'),
            ('zetMetricGroupAddMetricExp', 'pErrorString')}
# Structures of which everything comes out, though their fields are marked otherwise.
OUTPUTS = {('zeRTASBuilderBuildExp', 'pBounds'), ('zeRTASBuilderBuildExt', 'pBounds')}


def read(path):
    with open(path, encoding='utf-8', errors='replace') as f:
        return f.read()


def strip_comments(text):
    return re.sub(r'/\*.*?\*/', '', re.sub(r'//[^\n]*', '', text), flags=re.S)


def flow_of(doc, default):
    if '[in,out]' in doc or ('[in]' in doc and '[out]' in doc):
        return 'INOUT'
    return 'OUT' if '[out]' in doc else 'IN' if '[in]' in doc else default


def table_name(domain, type_name):
    """ze_command_list_dditable_t -> CommandList"""
    words = type_name[len(domain) + 1:-len('_dditable_t')].split('_')
    return ''.join(w[:1].upper() + w[1:] for w in words)


def function_of(pfn):
    """ze_pfnDeviceGet_t -> zeDeviceGet"""
    return pfn.partition('_pfn')[0] + pfn.partition('_pfn')[2][:-2]


class Table:
    def __init__(self, domain, type_name, name, declared):
        self.domain, self.type, self.name, self.declared = domain, type_name, name, declared
        self.slots = []  # (index, version or None for the headers' own, function)
        self.moved = []  # versions whose layout differs


class Api:
    def __init__(self):
        self.enums, self.flags, self.structs, self.functions = {}, {}, {}, {}
        self.bits = {}  # flags of types that are named otherwise
        self.handles, self.aliases, self.callbacks, self.unions = set(), {}, set(), set()
        self.tables, self.base = [], (1, 4)
        self.forward, self.later = [], []  # declarations of what the headers lack
        self.version = (1, 4)  # of the headers
        self.known = (0, 0)  # later.def goes up to here

    @classmethod
    def load(cls, folder, later=None):
        if os.path.isdir(os.path.join(folder, 'level_zero')):
            folder = os.path.join(folder, 'level_zero')
        api = cls()
        for _, header, _ in HEADERS:
            api.parse_types(read(os.path.join(folder, header)))
        for domain, header, ddi in HEADERS:
            api.parse_functions(read(os.path.join(folder, header)))
            api.parse_tables(domain, read(os.path.join(folder, ddi)))
        m = re.search(r'ZE_API_VERSION_CURRENT = ZE_MAKE_VERSION\( (\d+), (\d+) \)',
                      read(os.path.join(folder, 'ze_api.h')))
        api.version = (int(m[1]), int(m[2]))
        if later:
            api.add_later(read(later))
        return api

    def parse_types(self, text):
        self.handles |= set(re.findall(r'typedef struct _\w+ \*(\w+);', text))
        self.handles |= {b for a, b in re.findall(r'typedef (\w+_handle_t) (\w+_handle_t);', text)}
        self.callbacks |= set(re.findall(r'typedef void \((?:\w+ )?\*(\w+)\)', text))
        plain = strip_comments(text)
        self.unions |= set(re.findall(r'typedef union _\w+\s*\{.*?\}\s*(\w+);', plain, flags=re.S))
        for a, b in re.findall(r'typedef (\w+) (\w+);', plain):
            self.aliases[b] = a
        for body, name in re.findall(r'typedef enum _\w+\s*\{(.*?)\}\s*(\w+);', plain, flags=re.S):
            values = [v for v in re.findall(r'^\s*(\w+)\s*(?:=[^,\n]*)?,?\s*$', body, flags=re.M)
                      if not v.endswith('FORCE_UINT32')]
            target = self.flags if name.endswith('_flag_t') else self.enums
            target[name] = values
        for body, name in re.findall(r'typedef struct _\w+\s*\{(.*?)\n\}\s*(\w+);', text, flags=re.S):
            if not name.endswith(('_params_t', '_callbacks_t', 'dditable_t')):
                self.structs[name] = self.parse_fields(body)

    @staticmethod
    def parse_fields(body):
        """(type, name, array, flow): what is not marked goes with what the structure is in."""
        fields = []
        for line in body.split('\n'):
            m = re.match(r'\s*(const\s+)?(\w+)\s*(\**)\s*(\w+)(\[[^\]]*\])?\s*;(.*)', line)
            if m:
                doc = m[6]
                fields.append([(m[1] or '') + m[2] + m[3], m[4], m[5] or '', doc])
            elif fields and re.match(r'\s*///<', line):
                fields[-1][3] += line
        return [(t, n, a, flow_of(doc, 'ANY')) for t, n, a, doc in fields]

    def parse_functions(self, text):
        pattern = r'ZE_APIEXPORT (\w+) ZE_APICALL\s+(\w+)\((.*?)\n\s*\);'
        for result, name, body in re.findall(pattern, text, flags=re.S):
            params = []
            # a parameter's comment may go on over several lines that hold only a comment
            entries = re.split(r'\n(?=\s*[^\s/])', '\n' + body)
            for entry in entries:
                decl = strip_comments(entry).strip().rstrip(',').strip()
                doc = ' '.join(re.findall(r'///<(.*)', entry))
                m = re.match(r'(.*?)(\w+)$', decl, flags=re.S)
                if not decl or decl == 'void' or not m:
                    continue
                r = re.search(r'\[range\(0, \*?(\w+)\)\]', doc)
                params.append((' '.join(m.group(1).split()), m.group(2), flow_of(doc, 'IN'),
                               r.group(1) if r else None))
            self.functions[name] = (result, params)

    def parse_tables(self, domain, text):
        plain = strip_comments(text)
        getters = dict((t, n) for n, t in re.findall(
            r'\bze[ts]?Get(\w+)ProcAddrTable\(\s*ze_api_version_t version,\s*(\w+)\s*\*', plain))
        for body, name in re.findall(r'typedef struct _\w+\s*\{(.*?)\}\s*(\w+_dditable_t);', plain,
                                     flags=re.S):
            members = re.findall(r'(\w+_pfn\w+_t)\s+(\w+);', body)
            if members:
                table = Table(domain, name, getters.get(name) or table_name(domain, name), True)
                table.slots = [(i, None, function_of(pfn)) for i, (pfn, _) in enumerate(members)]
                self.tables.append(table)

    # later.def: one fact a row, rows that begin with blanks go on with the one before.
    def add_later(self, text):
        rows = re.sub(r'\n\s+', ' ', re.sub(r'#[^\n]*', '', text)).split('\n')
        for row in rows:
            kind, _, rest = row.strip().partition(' ')
            if kind:
                getattr(self, 'later_' + kind)(rest.strip())

    def later_base(self, rest):
        self.base, self.known = (tuple(int(n) for n in v.split('.')) for v in rest.split())

    def later_handle(self, rest):
        name, _, same = rest.partition(' ')
        if name in self.handles:
            return
        self.handles.add(name)
        self.later.append(f'typedef {same} {name};' if same else f'typedef struct zs_later_{name} *{name};')

    def later_alias(self, rest):
        name, other = rest.split()
        if name not in self.aliases and name not in self.structs:
            self.aliases[name] = other
            self.later.append(f'typedef {other} {name};')
            if other in self.structs:
                self.structs[name] = self.structs[other]

    def later_callback(self, rest):
        if rest not in self.callbacks:
            self.callbacks.add(rest)
            self.later.append(f'typedef void (*{rest})(void *);')

    def later_union(self, rest):
        name, size_B = rest.split()
        if name not in self.unions:
            self.unions.add(name)
            self.later.append(f'typedef struct zs_later_{name} {{ uint64_t words[{int(size_B) // 8}]; }} {name};')

    def later_values(self, target, name, values, plain):
        known = target.setdefault(name, None)
        if known is None:
            target[name] = known = []
            if plain not in self.aliases:
                self.later.append(f'typedef uint32_t {plain};')
                self.aliases[plain] = 'uint32_t'
        new = [v.partition('=') for v in values if v.partition('=')[0] not in known]
        known += [n for n, _, _ in new]
        if new:
            self.later.append('enum { ' + ', '.join(f'{n} = {v}' for n, _, v in new) + ' };')

    def later_enum(self, rest):
        name, *values = rest.split()
        self.later_values(self.enums, name, values, name)

    def later_flags(self, rest):
        name, *values = rest.split()
        self.later_values(self.flags, name + '_flag_t', values, name + '_flags_t')

    def later_struct(self, rest):
        name, _, body = rest.partition(' ')
        fields = []
        for field in body.split(';'):
            m = re.match(r'\s*(in|out|inout|any) (.*?)(\w+)(\[\w+\])?$', field.strip())
            if m:
                fields.append((m[2].replace(' *', '*').strip(), m[3], m[4] or '', m[1].upper()))
        if name in self.structs:
            return
        self.structs[name] = fields
        self.forward.append(f'typedef struct zs_later_{name} {name};')
        self.later.append(f'struct zs_later_{name} {{ ' +
                          ' '.join(f'{t} {n}{a};' for t, n, a, _ in fields) + ' };')

    def later_moved(self, rest):
        version, name = rest.split()
        for table in self.tables:
            if table.type == name:
                table.moved.append(tuple(int(n) for n in version.split('.')))

    def later_table(self, rest):
        domain, type_name, name = rest.split()
        if type_name not in [t.type for t in self.tables]:
            self.tables.append(Table(domain, type_name, name, False))

    def later_call(self, rest):
        m = re.match(r'(\d+)\.(\d+) (\w+)\[(\d+)\] (\w+) (\w+)\((.*)\)$', rest)
        version, index, name = (int(m[1]), int(m[2])), int(m[4]), m[6]
        table = next(t for t in self.tables if t.type == m[3])
        own = [s for s in table.slots if s[2] == name]
        table.slots = [s for s in table.slots if s[2] != name]
        if own and own[0][0] != index:
            raise SystemExit(f'later.def: {name} stands elsewhere in the headers')
        table.slots.append((index, version, name))
        if name in self.functions:
            return
        params = []
        for param in filter(None, (p.strip() for p in m[7].split(','))):
            p = re.match(r'(in|out|inout) (.*?)(\w+)(?:\[(\w+)\])?$', param)
            params.append((p[2].replace(' *', '*').strip(), p[3], p[1].upper(), p[4]))
        self.functions[name] = (m[5], params)

    def calls(self):
        """(table, index, version or None, function, result type, params) of all, in a fixed order."""
        for table in self.tables:
            for index, version, name in sorted(table.slots):
                result, params = self.functions[name]
                yield table, index, version, name, result, params

    def kind(self, type_text, array=''):
        t = re.sub(r'\bconst\b', '', type_text).replace(' ', '')
        base, stars = t.rstrip('*'), len(t) - len(t.rstrip('*'))
        if array:
            return ('STRING' if base == 'char' else 'ARRAY'), base
        if base in self.callbacks:
            return 'FUNC', base
        if stars == 0:
            return self.value_kind(base), base
        if stars == 1:
            if base == 'char':
                return 'STRING', base
            if base in self.structs:
                return 'STRUCT_PTR', base
            if base in self.handles:
                return 'HANDLE_PTR', base
            return ('PTR' if base == 'void' else 'VALUE_PTR'), base
        return ('HANDLE_PTR' if stars == 2 and base == 'void' else 'PTR'), base

    def value_kind(self, base):
        seen = 0
        while seen < 8:
            if base in self.handles:
                return 'HANDLE'
            if base in self.enums:
                return 'ENUM'
            if base.endswith('_flags_t') or base in self.bits:
                return 'FLAGS'
            if base in self.structs:
                return 'STRUCT'
            if base in SCALARS:
                return SCALARS[base]
            if base not in self.aliases:
                break
            base, seen = self.aliases[base], seen + 1
        return 'OPAQUE'

    def param_rows(self, name):
        """(type, name, kind, base, flow, index of the range, or -1) of a call's parameters.

        The headers mark what is pointed to as [in,out] where the pointer goes in and all else comes
        out. Only counts and structures (stype, pNext, ...) have a value before the call: memory of
        the other kinds may not be initialised yet, so it is OUT."""
        params = self.functions[name][1]
        names = [p[1] for p in params]
        counts = {RANGES.get((name, p[1]), p[3]) for p in params}
        rows = []
        for type_text, param, flow, count in params:
            kind, base = self.kind(type_text)
            if (name, param) in POINTERS:
                kind = 'PTR'
            if flow == 'INOUT' and kind in ('STRING', 'HANDLE_PTR', 'VALUE_PTR') and param not in counts:
                flow = 'OUT'
            if (name, param) in OUTPUTS:
                flow = 'OUT'
            count = RANGES.get((name, param), count)
            rows.append((type_text, param, kind, base, flow, names.index(count) if count in names else -1))
        return rows
