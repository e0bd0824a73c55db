"""The description of the Level Zero API (src/calls/api/*.def), as the generators read it.

Api.load(folder, include_dir) gives enums, flags, structs, functions and tables of every version up to
`known`. Of the installed headers only the identifiers count: `forward`, `later` and `prototypes` are the
C declarations of what they lack, so that any headers will do.

One fact a row; rows that begin with blanks go on with the one before:
  version 1.17                      the last one that is known
  handle NAME [SAME AS]             callback NAME       alias NAME TYPE      union NAME TYPE FIELD; ...
  enum NAME VALUE=N ...             flags NAME BIT=N ...
  struct 1.6 NAME in TYPE FIELD; ...                    any: goes with what the structure is in
  table ze TYPE NAME                zeGetNAMEProcAddrTable hands it out
  moved 1.11 TYPE PLACE ...         a version whose table has something else at these places
  call 1.6 TYPE[PLACE] RESULT NAME(inout TYPE PARAMETER[COUNT], in! TYPE PARAMETER, ...)
                                    ! is never followed: memory of the device, or written later
  traced NAME ...                   what zetTracerExp can watch, in the order of its callbacks
"""
import os
import re

SCALARS = {'uint8_t': 'U8', 'uint16_t': 'U16', 'uint32_t': 'U32', 'uint64_t': 'U64',
           'int32_t': 'I32', 'int64_t': 'I64', 'size_t': 'SIZE', 'float': 'F32', 'double': 'F64',
           'ze_bool_t': 'BOOL', 'cl_bool': 'BOOL', 'zet_bool_t': 'BOOL', 'zes_bool_t': 'BOOL', 'char': 'I8', 'int': 'I32',
           'uintptr_t': 'U64'}
SIZES_B = {'U8': 1, 'I8': 1, 'BOOL': 1, 'U16': 2, 'U32': 4, 'I32': 4, 'F32': 4, 'ENUM': 4, 'FLAGS': 4}
HEADERS = ['ze_api.h', 'ze_ddi.h', 'zet_api.h', 'zet_ddi.h', 'zes_api.h', 'zes_ddi.h', 'zer_api.h', 'zer_ddi.h']


def read(path):
    with open(path, encoding='utf-8', errors='replace') as f:
        return f.read()


def strip_comments(text):
    return re.sub(r'/\*.*?\*/', '', re.sub(r'//[^\n]*', '', text), flags=re.S)


def version_of(text):
    major, minor = text.split('.')
    return int(major), int(minor)


def header_words(folder):
    """Every identifier of the installed headers; {} of {Name: ...} pairs: which headers there are."""
    if os.path.isdir(os.path.join(folder, 'level_zero')):
        folder = os.path.join(folder, 'level_zero')
    present = [h for h in HEADERS if os.path.exists(os.path.join(folder, h))]
    words = set()
    for header in present:
        words |= set(re.findall(r'\w+', strip_comments(read(os.path.join(folder, header)))))
    return words, present


class Table:
    def __init__(self, domain, type_name, name, declared):
        self.domain, self.type, self.name, self.declared = domain, type_name, name, declared
        self.slots = []  # (index, version, function)
        self.moved = {}  # version: places that hold something else there


class Api:
    def __init__(self):
        self.enums, self.flags, self.structs, self.functions = {}, {}, {}, {}
        self.bits = {}  # flags of types that are named otherwise
        self.handles, self.aliases, self.callbacks, self.unions = set(), {}, set(), {}
        self.since, self.raw = {}, set()
        self.tables, self.traced, self.known = [], [], (0, 0)
        self.words, self.headers = set(), []
        self.forward, self.later, self.prototypes = [], [], []  # declarations of what the headers lack

    @classmethod
    def load(cls, folder, include):
        api = cls()
        api.words, api.headers = header_words(include)
        for name in ('ze', 'zet', 'zes', 'zer'):
            rows = re.sub(r'\n\s+', ' ', re.sub(r'#[^\n]*', '', read(os.path.join(folder, name + '.def'))))
            for row in rows.split('\n'):
                kind, _, rest = row.strip().partition(' ')
                if kind:
                    getattr(api, 'row_' + kind)(rest.strip())
        for table in api.tables:
            table.slots.sort()
        return api

    def lacks(self, name):
        return name not in self.words

    def row_version(self, rest):
        self.known = version_of(rest)

    def row_handle(self, rest):
        name, _, same = rest.partition(' ')
        self.handles.add(name)
        if self.lacks(name):
            self.later.append(f'typedef {same} {name};' if same else f'typedef struct zs_later_{name} *{name};')

    def row_callback(self, rest):
        self.callbacks.add(rest)
        if self.lacks(rest):
            self.later.append(f'typedef void (*{rest})(void *);')

    def row_alias(self, rest):
        name, other = rest.split()
        self.aliases[name] = other
        if self.lacks(name):
            self.later.append(f'typedef {other} {name};')
        if other in self.structs:
            self.structs[name] = self.structs[other]

    @staticmethod
    def fields(body, pattern):
        rows = (re.match(pattern + r'(.*?)(\w+)((?:\[\w+\])*)$', field.strip()) for field in body.split(';'))
        return [(m[2].replace(' *', '*').strip(), m[3], m[4], m[1].upper()) for m in rows]

    def row_union(self, rest):
        name, _, body = rest.partition(' ')
        self.unions[name] = self.fields(body, '()')
        if self.lacks(name):
            self.later.append(f'typedef union zs_later_{name} {{ ' +
                              ' '.join(f'{t} {n}{a};' for t, n, a, _ in self.unions[name]) + f' }} {name};')

    def values(self, target, name, values, plain):
        known = target.setdefault(name, [])
        if self.lacks(plain) and plain not in self.aliases:
            self.later.append(f'typedef uint32_t {plain};')
            self.aliases[plain] = 'uint32_t'
        for value, _, number in (v.partition('=') for v in values):
            known.append((value, int(number, 0)))
            if self.lacks(value):
                self.later.append(f'#define {value} (({plain}){number})')

    def row_enum(self, rest):
        name, *values = rest.split()
        self.values(self.enums, name, values, name)

    def row_flags(self, rest):
        name, *values = rest.split()
        self.values(self.flags, name + '_flag_t', values, name + '_flags_t')

    def row_struct(self, rest):
        version, name, body = rest.split(' ', 2)
        fields = self.fields(body, '(in|out|inout|any) ')
        self.structs[name], self.since[name] = fields, version_of(version)
        if self.lacks(name):
            self.forward.append(f'typedef struct zs_later_{name} {name};')
            self.later.append(f'struct zs_later_{name} {{ ' +
                              ' '.join(f'{t} {n}{a};' for t, n, a, _ in fields) + ' };')

    def row_table(self, rest):
        domain, type_name, name = rest.split()
        self.tables.append(Table(domain, type_name, name, not self.lacks(type_name)))

    def row_moved(self, rest):
        version, name, *places = rest.split()
        self.table(name).moved[version_of(version)] = [int(p) for p in places]

    def row_traced(self, rest):
        self.traced += rest.split()

    def table(self, type_name):
        return next(t for t in self.tables if t.type == type_name)

    def row_call(self, rest):
        m = re.match(r'([\d.]+) (\w+)\[(\d+)\] (\w+) (\w+)\((.*)\)$', rest)
        name, params = m[5], []
        for param in filter(None, (p.strip() for p in m[6].split(','))):
            p = re.match(r'(in|out|inout)(!?) (.*?)(\w+)(?:\[(\w+)\])?$', param)
            params.append((p[3].replace(' *', '*').strip(), p[4], p[1].upper(), p[5]))
            if p[2]:
                self.raw.add((name, p[4]))
        self.table(m[2]).slots.append((int(m[3]), version_of(m[1]), name))
        self.functions[name], self.since[name] = (m[4], params), version_of(m[1])
        if self.lacks(name):
            decl = ', '.join(f'{t} {n}' for t, n, _, _ in params) or 'void'
            self.prototypes.append(f'{m[4]} ZE_APICALL {name}({decl});')

    def calls(self):
        """(table, index, version, function, result type, params) of all, in a fixed order."""
        for table in self.tables:
            for index, version, name in table.slots:
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
        for _ in range(8):
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
            base = self.aliases[base]
        return 'OPAQUE'

    def size(self, type_text, array=''):
        """(bytes, alignment) of a field, in the ABIs of 64 bits."""
        base = re.sub(r'\bconst\b', '', type_text).replace(' ', '')
        kind = self.value_kind(base)
        if base.endswith('*') or base in self.callbacks:
            size_B = align_B = 8
        elif base in self.unions:
            sizes = [self.size(t, a) for t, _, a, _ in self.unions[base]]
            size_B, align_B = max(s for s, _ in sizes), max(a for _, a in sizes)
        elif kind == 'STRUCT':
            size_B, align_B = self.layout(base)[1:]
        elif kind == 'OPAQUE':
            raise SystemExit(f'the description says nothing of {type_text}')
        else:
            same = SCALARS.get(self.aliases.get(base), kind)
            size_B = align_B = SIZES_B.get(same, 8)
        for count in re.findall(r'\[(\d+)\]', array):
            size_B *= int(count)
        return size_B, align_B

    def layout(self, name):
        """([(offset, bytes) of each field], bytes, alignment) of a structure."""
        offset, most, places = 0, 1, []
        while name not in self.structs:
            name = self.aliases[name]
        for type_text, _, array, _ in self.structs[name]:
            size_B, align_B = self.size(type_text, array)
            offset = -(-offset // align_B) * align_B
            places.append((offset, size_B))
            offset, most = offset + size_B, max(most, align_B)
        return places, -(-offset // most) * most, most

    def param_rows(self, name):
        """(type, name, kind, base, flow, index of the range, or -1) of a call's parameters."""
        params = self.functions[name][1]
        names = [p[1] for p in params]
        for type_text, param, flow, count in params:
            kind, base = self.kind(type_text)
            if (name, param) in self.raw:
                kind = 'PTR'
            yield type_text, param, kind, base, flow, names.index(count) if count in names else -1
