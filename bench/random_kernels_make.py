"""Random OpenCL C kernels without races and without anything undefined, as random_kernels.h has them: one source for
devices and for a C compiler. The same seed gives the same program.
"""
import random
import re

INTS = ['char', 'uchar', 'short', 'ushort', 'int', 'uint', 'long', 'ulong']
BITS = {'char': 8, 'uchar': 8, 'short': 16, 'ushort': 16, 'int': 32, 'uint': 32, 'long': 64, 'ulong': 64}
FLOATS = ['float', 'half', 'double']
BITS_OF = {'float': ('FLOAT_BITS', 'uint'), 'half': ('HALF_BITS', 'ushort'), 'double': ('DOUBLE_BITS', 'ulong')}
WIDTHS = [2, 3, 4, 8, 16]
TABLE, ARRAY, ROOM, SUMS, INPUT, WIDES = 16, 8, 4, 16, 1024, 12  # elements; of INPUT: uints that kernels read
# what IGC 1.0.12504 gets wrong (docs/compiler-faults.md); where there are rotations it loses the sign of their distance as well
WRONG = {('add_sat', 'long'), ('rhadd', 'ulong')}


def unsigned(t):
    return t if t[0] == 'u' else 'u' + t


def wide(t):
    """The unsigned type that arithmetic of t is done in."""
    return 'ulong' if BITS[t] == 64 else 'uint'


class Block:
    """Statements in a frame, and whether they may stand without it."""

    def __init__(self, head, body, tail='}', bare=False):
        self.head, self.body, self.tail, self.bare = head, body, tail, bare

    def text(self, depth=0):
        pad = '    ' * depth
        lines = [pad + self.head]
        for s in self.body:
            lines.append(s.text(depth + 1) if isinstance(s, Block) else pad + '    ' + s)
        return '\n'.join(lines + [pad + self.tail])


class Several(Block):
    """An if with its else, the cases of a switch: blocks that belong together."""

    def __init__(self, blocks, tail=''):
        super().__init__('', blocks, tail)

    def text(self, depth=0):
        return '\n'.join(b.text(depth) for b in self.body) + ('\n' + '    ' * depth + self.tail if self.tail else '')


class Scope:
    """What expressions may read and statements may write: text of the lvalue, and its type."""

    def __init__(self, variables, arrays, structs, depth=0):
        self.variables, self.arrays, self.structs = list(variables), list(arrays), list(structs)
        self.depth, self.in_loop, self.in_phase, self.constants = depth, False, False, []

    def inner(self):
        s = Scope(self.variables, self.arrays, self.structs, self.depth + 1)
        s.in_loop, s.in_phase, s.constants = self.in_loop, self.in_phase, list(self.constants)
        return s


class Maker:
    def __init__(self, seed, doubles, has_floats=True):
        self.r = random.Random(seed)
        self.doubles = doubles
        self.floats = [f for f in FLOATS if f != 'double' or doubles] if has_floats else []
        self.subgroup = self.r.choice([0, 0, 8, 16, 16, 32])
        self.group = self.r.choice([32, 64, 96]) if self.subgroup else self.r.choice([1, 7, 16, 37, 64, 100])
        self.std = self.r.choice(['CL1.2', 'CL2.0'])
        self.narrow = self.r.random() < 0.6
        self.calls = self.r.random() < 0.3  # functions that are not inlined
        self.count = 0
        self.helpers = []
        self.later = random.Random(seed * 11 + 3)  # of what came later, so that programs stay as they were
        self.has_wides = self.later.random() < 0.25  # atomics on 64 bits of local memory
        self.wide_param, self.wide_arg = (', local ulong *wides', ', wides') if self.has_wides else ('', '')

    def name(self, prefix):
        self.count += 1
        return f'{prefix}{self.count}'

    def one_in(self, n):
        return self.r.randrange(n) == 0

    def int_type(self):
        return self.r.choice(INTS if self.narrow else INTS[4:])

    def vector_type(self):
        return (self.r.choice(INTS + (['float'] if self.floats else []) + ['int', 'uint']), self.r.choice(WIDTHS))

    # ---- Expressions ----
    def literal(self, t):
        if t in FLOATS:
            v = self.r.choice(['1.0', '0.25', '-1.0', '0.5', '3.0', '-7.25', '1024.0', '0.0009765625', '100.0', '-0.375'])
            return {'float': f'{v}f', 'half': f'((half){v}f)', 'double': v}[t]
        bits = BITS[t]
        v = self.r.choice([0, 1, 2, 3, 5, 7, 15, 31, 100, (1 << (bits - 1)) - 1, (1 << bits) - 1, 1 << (bits - 1),
                           self.r.getrandbits(bits), self.r.getrandbits(bits), self.r.getrandbits(7)])
        return f'(({t}){v}u{"l" if v >> 32 else ""})' if bits < 64 or v < 1 << 32 else f'(({t}){v}ul)'

    def leaf(self, t, scope):
        r = self.r
        if r.random() < 0.15:
            return self.literal(t)
        pick = r.random()
        if pick < 0.12 and scope.arrays:
            a, at = r.choice(scope.arrays)
            return self.cast(t, f'{a}[{r.randrange(ARRAY)}]' if self.one_in(3) else f'{a}[{self.small(scope)} % {ARRAY}u]', at)
        if pick < 0.17:
            return self.cast(t, f'table_{r.choice(["int", "uchar", "ulong"])}[{self.small(scope)} % {TABLE}u]', 'ulong')
        if pick < 0.22 and scope.in_phase:
            return self.cast(t, f'in[{self.small(scope)} % {INPUT}u]', 'uint')
        if pick < 0.27 and scope.in_phase:
            return self.cast(t, f'read[{self.small(scope)} % (GROUP * {ROOM}u)]', 'ulong')
        kind = [v for v in scope.variables if not isinstance(v[1], tuple)]
        same = [v for v in kind if v[1] == t]
        vectors = [v for v in scope.variables if isinstance(v[1], tuple)]
        if pick < 0.4 and vectors:
            v, (et, n) = r.choice(vectors)
            k = str(r.randrange(n)) if n == 3 or not self.one_in(3) else f'{self.small(scope)} % {n}u'
            return self.cast(t, f'{v}[{k}]', et)
        if pick < 0.5 and scope.constants:
            return self.cast(t, r.choice(scope.constants), 'uint')
        if same and not self.one_in(3):
            return r.choice(same)[0]
        v, vt = r.choice(kind)
        return self.cast(t, v, vt)

    def small(self, scope):
        """An index: uint."""
        ints = [v for v in scope.variables if v[1] in INTS]
        v = self.r.choice(ints)
        return self.r.choice([f'(uint){v[0]}', f'((uint){v[0]} + {self.r.randrange(9)}u)'] +
                             ([self.r.choice(scope.constants)] if scope.constants else []))

    def cast(self, t, text, of):
        """A value of one type in another: every step is defined."""
        if t == of:
            return f'({text})' if ' ' in text else text
        if of in FLOATS and t in INTS:
            if of == 'float':
                return f'satf_{t}({text})' if self.one_in(2) else f'(({t})FLOAT_BITS({text}))'
            return f'(({t}){BITS_OF[of][0]}({text}))'
        if of in FLOATS:
            return f'((half)(float)({text}))' if t == 'half' else f'(({t})({text}))'
        if t == 'half':
            return f'((half)(float)(short)({text}))'
        if t == 'float' and self.one_in(6):
            return f'FLOAT_OF((uint)({text}))'
        return f'(({t})({text}))'

    def expr(self, t, scope, depth=3):
        if depth <= 0 or self.one_in(6):
            return self.leaf(t, scope)
        return self.real(t, scope, depth - 1) if t in FLOATS else self.integer(t, scope, depth - 1)

    def real(self, t, scope, d):
        a = self.expr(t, scope, d)
        pick = self.r.randrange(12)
        if pick < 5:
            return f'(({t})({a} {self.r.choice("+-**")} {self.expr(t, scope, d)}))'
        if pick == 5:
            return f'(({t})-({a}))'
        if pick == 6:
            return f'({self.condition(scope, d)} ? {a} : {self.expr(t, scope, d)})'
        if pick == 7 and t != 'half':
            return f'fma({a}, {self.expr(t, scope, d)}, {self.expr(t, scope, d)})'
        if pick == 8 and t != 'half':
            # IGC's of doubles make 0 of what is -0
            f = 'fabs' if t == 'double' else self.r.choice(['floor', 'trunc', 'rint', 'fabs'])
            return f'{f}({self.magnitude(t, a) if f == "fabs" else a})'
        if pick == 9 and t != 'half':
            return f'({a} / {self.expr(t, scope, d)})'
        if pick == 10 and t != 'half':
            return f'sqrt(fabs({self.magnitude(t, a)}))'
        other = self.r.choice(self.floats + self.ints_for(t))
        return self.cast(t, self.expr(other, scope, d), other)

    def magnitude(self, t, a):
        """What fabs is taken of: not a negation, of whose 0 IGC makes -0 without optimisation."""
        negation = f'(({t})-('
        while a.startswith(negation):
            a = a[len(negation):-2]
        return a

    def ints_for(self, t):
        return ['short'] if t == 'half' else ['int', 'uint', 'short', 'ulong', 'long']

    def condition(self, scope, d):
        pick = self.r.randrange(8)
        if pick == 0:
            return f'({self.condition(scope, d - 1)} {self.r.choice(["&&", "||"])} {self.condition(scope, d - 1)})' \
                if d > 0 else f'({self.leaf("uint", scope)} & 1)'
        if pick == 1:
            return f'!{self.condition(scope, d - 1)}' if d > 0 else f'({self.leaf("int", scope)} < 0)'
        t = self.r.choice(self.floats) if self.floats and self.one_in(4) else self.r.choice(['int', 'uint', 'long', 'ulong'])
        return f'({self.expr(t, scope, d - 1)} {self.r.choice(["<", "<=", ">", ">=", "==", "!="])} {self.expr(t, scope, d - 1)})'

    def integer(self, t, scope, d):
        w, bits, r = wide(t), BITS[t], self.r
        pick = r.randrange(20)
        a = self.expr(t, scope, d)
        if pick < 6:
            return f'(({t})(({w}){a} {r.choice("+-*&|^")} ({w}){self.expr(t, scope, d)}))'
        if pick == 6:
            return f'(({t})(({w}){a} << {self.distance(bits, scope, d)}))'
        if pick == 7:
            return f'(({t})({a} >> {self.distance(bits, scope, d)}))'
        if pick == 8:
            # a negation that is cut to a narrow type may be exact in IGC's code
            return f'(({t}){r.choice("-~") if bits >= 32 else "~"}({w}){a})'
        if pick == 9:
            return f'({self.condition(scope, d)} ? {a} : {self.expr(t, scope, d)})'
        if pick == 10:
            return f'(({t}){self.condition(scope, d)})'
        if pick == 11:  # quotients of what is not negative: neither by zero nor beyond the type
            u = unsigned(t)
            by = r.choice([f'({u})({self.expr(u, scope, d)} | 1)', f'({u}){r.choice([3, 7, 10, 100, 127])}'])
            return f'(({t})(({u}){a} {r.choice("/%")} {by}))'
        if pick == 12 and t[0] != 'u':  # signed ones
            return f'(({t})({a} {r.choice("/%")} ({t}){r.choice([2, 3, 5, 10, 16, 77, -3, -16])}))'
        if pick == 13:
            other = r.choice(INTS if self.narrow else INTS[4:])
            return self.cast(t, self.expr(other, scope, d), other)
        if pick == 14 and self.floats:
            other = r.choice(self.floats)
            return self.cast(t, self.expr(other, scope, d), other)
        if pick == 15:
            f = r.choice(['popcount', 'clz', 'ctz' if self.std == 'CL2.0' else 'clz'])
            return f'{f}_{t}({a})'
        if pick == 16:
            return f'(({t})abs_{t}({a}))' if self.one_in(2) else self.difference_of(t, a, self.expr(t, scope, d))
        if pick == 17:
            f = r.choice(['hadd', 'rhadd', 'mul_hi', 'min', 'max', 'rotate', 'add_sat', 'sub_sat'])
            b = self.expr(t, scope, d) if f != 'rotate' else self.literal(t)
            return f'{f}_{t}({a}, {b})' if (f, t) not in WRONG else a
        if pick == 18:
            return f'bitselect_{t}({a}, {self.expr(t, scope, d)}, {self.expr(t, scope, d)})'
        other = r.choice(['long', 'int'])
        return f'sat_{t}({self.expr(other, scope, d)})'

    def difference_of(self, t, a, b):
        """Of int and long IGC takes it for less than half of the unsigned type's range."""
        u = unsigned(t) if BITS[t] >= 32 else t
        return f'(({t})abs_diff_{u}({self.cast(u, a, t)}, {self.cast(u, b, t)}))'

    def distance(self, bits, scope, d):
        """Of a shift. Without optimisation IGC gets shifts of longs by a constant 0 wrong."""
        text = self.expr('uint', scope, d)
        constant = re.fullmatch(r'\(\(uint\)(\d+)u\)', text)
        if bits == 64 and constant and int(constant.group(1)) % 64 == 0:
            text = '((uint)1u)'
        return f'({text} % {bits}u)'

    def vector(self, vt, scope, d=2):
        t, n = vt
        r = self.r
        same = [v for v, other in scope.variables if other == vt]
        if d <= 0 or self.one_in(4):
            if same and not self.one_in(3):
                return r.choice(same)
            if scope.in_phase and self.one_in(3) and t != 'float':
                most = INPUT * 4 // (BITS[t] // 8) // n
                return f'VLOAD({t}, {n}, {self.small(scope)} % {most}u, (global const {t} *)in)'
            return f'VEC({t}{n}, {", ".join(self.expr(t, scope, 1) for _ in range(n))})'
        a, name = self.vector(vt, scope, d - 1), f'{t}{n}'
        pick = r.randrange(6)
        if pick < 3 and t == 'float':
            return f'({a} {r.choice("+-*")} {self.vector(vt, scope, d - 1)})'
        if pick < 2:
            u = unsigned(t)
            return f'AS({name}, AS({u}{n}, {a}) {r.choice("+-*&|^")} AS({u}{n}, {self.vector(vt, scope, d - 1)}))'
        if pick == 2:
            u = unsigned(t)
            by = f'(AS({u}{n}, {self.vector(vt, scope, d - 1)}) & ({u}){BITS[t] - 1})'
            return f'AS({name}, AS({u}{n}, {a}) {r.choice(["<<", ">>"])} {by})'
        if pick == 3:
            of = [v for v in scope.variables if isinstance(v[1], tuple) and v[1][0] == t]
            if of:
                v, (_, m) = r.choice(of)
                ks = [r.randrange(m) for _ in range(n)]
                text = 's' + ''.join('0123456789abcdef'[k] for k in ks)
                return f'SWIZZLE({v}, {text}, {", ".join(map(str, ks + ([0] if n == 3 else [])))})'
        if pick == 4 and t != 'float':
            of = [v for v in scope.variables if isinstance(v[1], tuple) and v[1][1] == n and v[1][0] != 'float']
            if of:
                return f'CONVERT({name}, {r.choice(of)[0]})'
        if pick == 5 and t not in ('float',):
            s = t if t[0] != 'u' else t[1:]
            b = self.vector(vt, scope, d - 1)
            return f'AS({name}, AS({s}{n}, {a}) & ({a} {r.choice(["<", ">=", "=="])} {b}))'
        return f'VEC({name}, {", ".join(self.expr(t, scope, 1) for _ in range(n))})'

    # ---- Statements ----
    def assign(self, scope):
        r = self.r
        if scope.arrays and self.one_in(5):
            a, t = r.choice(scope.arrays)
            return f'{a}[{self.small(scope)} % {ARRAY}u] = {self.expr(t, scope)};'
        v, t = r.choice(scope.variables)
        if isinstance(t, tuple):
            if self.one_in(3):
                # vectors of longs: IGC's code for 32 lanes of pvc writes those of lanes 24 to 31 elsewhere
                known = t[1] == 3 or t[0] in ('long', 'ulong') or self.one_in(2)
                k = str(r.randrange(t[1])) if known else f'{self.small(scope)} % {t[1]}u'
                return f'{v}[{k}] = {self.expr(t[0], scope, 2)};'
            return f'{v} = {self.vector(t, scope)};'
        if t in INTS and self.one_in(4):
            return f'{v} {r.choice("&|^")}= {self.expr(t, scope)};'
        return f'{v} = {self.expr(t, scope)};'

    def body(self, scope, count):
        return [self.statement(scope) for _ in range(count)]

    def statement(self, scope):
        r = self.r
        pick = r.random()
        if scope.depth >= 3 or pick < 0.5:
            return self.assign(scope)
        if pick < 0.62:
            yes = Block(f'if ({self.condition(scope, 2)}) {{', self.body(scope.inner(), r.randrange(1, 4)), bare=True)
            if self.one_in(2):
                return yes
            yes.tail = '} else {'
            return Several([yes, Block('', self.body(scope.inner(), r.randrange(1, 3)))])
        if pick < 0.70:
            return self.loop(scope)
        if pick < 0.74:
            return self.switch(scope)
        if pick < 0.77 and scope.in_loop:
            return f'if ({self.condition(scope, 1)}) {r.choice(["break", "continue"])};'
        if pick < 0.79 and scope.depth > 0 and scope.in_phase:
            return f'if ({self.condition(scope, 1)} && {self.condition(scope, 1)}) return;'
        if pick < 0.83 and scope.in_phase:
            place = f'write[lid * {ROOM}u + {self.small(scope)} % {ROOM}u]'
            if self.std == 'CL2.0' and self.one_in(2):  # one of two memories, by a generic pointer
                p = self.name('p')
                return Block('{', [f'ulong *{p} = {self.condition(scope, 1)} ? (ulong *)&s->l0 : (ulong *)&{place};',
                                   f'*{p} = *{p} * 3 + {self.expr("ulong", scope)};'])
            return f'{place} = {self.expr("ulong", scope)};'
        if pick < 0.87:
            return self.pointer(scope)
        if pick < 0.90:
            return self.temporary(scope)
        if pick < 0.92:
            return self.jumps(scope)
        if pick < 0.97 and self.helpers:
            return self.call(scope)
        return self.struct_copy(scope)

    def loop(self, scope):
        r = self.r
        inner = scope.inner()
        inner.in_loop = True
        i = self.name('i')
        limit = r.choice([str(r.randrange(1, 6)), f'{self.small(scope)} % {r.randrange(2, 6)}u',
                          'bound' if scope.in_phase else '3'])
        if self.one_in(2):
            inner.constants.append(i)
            return Block(f'for (uint {i} = 0; {i} < {limit}; {i}++) {{', self.body(inner, r.randrange(1, 5)))
        guard = f'if ({i}++ >= {limit}) break;'
        if self.one_in(2):
            head = f'uint {i} = 0; while ({self.condition(scope, 1)}) {{ {guard}'
            return Several([Block(head, self.body(inner, r.randrange(1, 4)))])
        return Several([Block(f'uint {i} = 0; do {{ {guard}', self.body(inner, r.randrange(1, 4)),
                              f'}} while ({self.condition(scope, 1)});')])

    def switch(self, scope):
        r = self.r
        inner = scope.inner()
        inner.in_loop = False  # its breaks are the switch's
        count = r.choice([3, 5, 9, 17])
        cases = r.sample(range(count + 3), count)
        blocks = []
        for c in cases:
            label = 'default: {' if c == count + 2 else f'case {c}: {{'
            blocks.append(Block(label, self.body(inner, 1), '}' if self.one_in(4) else 'break; }'))
        blocks[0].head = f'switch ({self.expr("uint", scope, 2)} % {count + 4}u) {{ ' + blocks[0].head
        return Several(blocks, '}')

    def jumps(self, scope):
        r = self.r
        fuel, labels = self.name('fuel'), [self.name('at') for _ in range(r.randrange(2, 4))]
        inner = scope.inner()
        inner.in_loop = False
        blocks, back = [], []  # back: first and last block of the loops so far, from behind
        targets = [r.randrange(len(labels)) for _ in labels]
        for k in reversed(range(len(labels))):
            # IGC gets loops wrong that are entered in their middle (docs/compiler-faults.md)
            if any(k < first < targets[k] <= last for first, last in back):
                targets[k] = k
            if targets[k] <= k:
                back.append((targets[k], k))
        for k, label in enumerate(labels):
            head = f'{label}: {{' if k else f'uint {fuel} = 0; {label}: {{'
            to = labels[targets[k]]
            blocks.append(Block(head, self.body(inner, r.randrange(1, 3)),
                                f'}} if ({fuel}++ < 5 && {self.condition(scope, 1)}) goto {to};'))
        return Several(blocks)

    def pointer(self, scope):
        r = self.r
        by_type = {}
        for v, t in scope.variables:
            by_type.setdefault(t, []).append(v)
        t, vs = r.choice([(t, vs) for t, vs in by_type.items() if not isinstance(t, tuple)])
        vs = r.sample(vs, min(len(vs), 4))
        choice = ''.join(f'{self.condition(scope, 1)} ? &{v} : ' for v in vs[1:]) + '&' + vs[0]
        p = self.name('p')
        return Block('{', [f'{t} *{p} = {choice};', f'*{p} = {self.expr(t, scope)};'])

    def temporary(self, scope):
        t, n = self.int_type(), self.name('t')
        inner = scope.inner()
        inner.variables.append((n, t))
        array, at = self.name('a'), self.int_type()
        inner.arrays.append((array, at))
        return Block(f'{{ {t} {n} = {self.expr(t, scope)}; {at} {array}[{ARRAY}]; '
                     f'for (uint i = 0; i < {ARRAY}u; i++) {array}[i] = ({at})({self.leaf("uint", scope)} * i);',
                     self.body(inner, self.r.randrange(2, 5)))

    def call(self, scope):
        name, ret, params, struct = self.r.choice(self.helpers)
        args = [self.expr(p, scope, 2) for p in params]
        mine = [v for v, t in scope.structs if t == struct]
        if struct and not mine:
            return self.assign(scope)
        targets = [v for v, t in scope.variables if t == ret]
        call = f'{name}({", ".join(args + (["&" + self.r.choice(mine)] if struct else []))})'
        if not targets:
            return f'(void){call};'
        return f'{self.r.choice(targets)} = {call};'

    def struct_copy(self, scope):
        if len(scope.structs) < 2:
            return self.assign(scope)
        a, t = self.r.choice(scope.structs)
        b = self.r.choice([v for v, other in scope.structs if other == t])
        return f'{a} = {b};' if a != b else self.assign(scope)

    # ---- A program ----
    def struct(self, k):
        fields = []
        for i in range(self.r.randrange(2, 6)):
            t = self.r.choice(self.floats) if self.floats and self.one_in(4) else self.vector_type() if self.one_in(4) else self.int_type()
            fields.append((f'm{i}', t))
        packed = self.one_in(4) and not any(isinstance(t, tuple) for _, t in fields)
        decl = f'struct s{k} {{\n' + ''.join(f'    {self.spell(t)} {n};\n' for n, t in fields)
        tail = ' __attribute__((packed))' if packed else ''
        return f'{decl}    {self.int_type()} a[{ARRAY}];\n}}{tail};\n', fields, packed

    @staticmethod
    def spell(t):
        return f'{t[0]}{t[1]}' if isinstance(t, tuple) else t

    def members(self, v, k, scope):
        text, fields, packed = self.structs[k]
        if not packed:
            scope.variables += [(f'{v}{n}', t) for n, t in fields]
        else:  # no addresses of members
            scope.variables += [(f'{v}{n}', t) for n, t in fields if t in ('uchar', 'char')]
        array_type = text.split(' a[')[0].split()[-1]
        if not packed:
            scope.arrays.append((f'{v}a', array_type))

    def helper(self):
        r = self.r
        outlined = self.calls and self.one_in(2)
        types = ['int', 'uint', 'long', 'ulong'] + (['float'] if self.floats else []) if outlined else INTS + self.floats
        params, ret = [r.choice(types) for _ in range(r.randrange(1, 5))], r.choice(types)
        struct = r.randrange(len(self.structs)) if self.one_in(2) else None
        scope = Scope([(f'x{i}', t) for i, t in enumerate(params)] + [('ret', ret), ('local_int', 'int')], [], [])
        if struct is not None:
            self.members('p->', struct, scope)
        name = self.name('f')
        spelled = [f'{t} x{i}' for i, t in enumerate(params)] + ([f'struct s{struct} *p'] if struct is not None else [])
        head = (f'{"NOINLINE " if outlined else ""}static {ret} {name}({", ".join(spelled)})\n'
                f'{{\n    {ret} ret = 0; int local_int = 3;')
        block = Block(head, self.body(scope, r.randrange(2, 6)), '    return ret;\n}\n')
        self.helpers.append((name, ret, params, f's{struct}' if struct is not None else None))
        return block

    def phase(self, k, fields):
        scope = Scope(fields[0], fields[1], fields[2])
        scope.in_phase = True
        scope.constants = ['lid', 'gid', 'turn', 'bound'] + (['sums[%d]' % self.r.randrange(SUMS)] if k % 2 else [])
        body = self.body(scope, self.r.randrange(4, 10))
        if k % 2 == 0:
            for _ in range(self.r.randrange(3)):
                # of different ones on a sum the order matters
                op, at, count = self.r.choice([('ADD', 0, 4), ('XOR', 4, 4), ('OR', 8, 2), ('AND', 10, 2), ('MIN', 12, 2),
                                               ('MAX', 14, 2)])
                body.append(f'{op}_TO(&sums[{at}u + {self.small(scope)} % {count}u], {self.expr("uint", scope)});')
        if self.has_wides and k % 2 == 0:
            self.r, kept = self.later, self.r
            body += [self.wide_atomic(scope) for _ in range(self.r.randrange(1, 4))]
            self.r = kept
        head = (f'static void phase{k}(struct state *s, uint lid, uint gid, uint turn, uint bound, global const uint *in,\n'
                f'                   local const ulong *read, local ulong *write, local uint *sums{self.wide_param})\n{{')
        return Block(head, body, '}\n')

    def wide_atomic(self, scope):
        """As of sums: of different operations on one the order matters."""
        op, at = self.r.choice([('ADD', 0), ('XOR', 2), ('OR', 4), ('AND', 6), ('MIN', 8), ('MAX', 10)])
        text = f'{op}_WIDE(&wides[{at}u + {self.small(scope)} % 2u], {self.expr("ulong", scope)});'
        return Block(f'if ({self.condition(scope, 1)}) {{', [text], bare=True) if self.one_in(2) else text

    def fields(self):
        r, variables, arrays, structs = self.r, [], [], []
        for i in range(r.randrange(5, 10)):
            variables.append((f's->v{i}', self.int_type()))
        variables += [('s->u0', 'uint'), ('s->n0', 'int'), ('s->l0', 'ulong')]
        for i, t in enumerate(self.floats):
            if not self.one_in(3):
                variables.append((f's->r{i}', t))
        for i in range(r.randrange(0, 4)):
            variables.append((f's->w{i}', self.vector_type()))
        for i in range(r.randrange(0, 3)):
            arrays.append((f's->a{i}', self.int_type()))
        for i in range(r.randrange(0, 4)):
            structs.append((f's->s{i}', f's{r.randrange(len(self.structs))}'))
        return variables, arrays, structs

    def subgroup_step(self):
        r = self.r
        f, t = r.choice([('u0', 'uint'), ('n0', 'int'), ('l0', 'ulong')])
        op = r.choice(['add', 'min', 'max'])
        if self.subgroup < 32 and self.one_in(6):  # of 32 lanes XeHPC's compiler alone reads blocks
            return f'{r.choice(["SUB_READ", "SUB_READ2"])}({t}, {f}, {4 * r.randrange(200)})'
        return r.choice([f'SUB_REDUCE({t}, {f}, {op})', f'SUB_SCAN({t}, {f}, {op})', f'SUB_EXCLUSIVE({t}, {f}, {op})',
                         f'SUB_SHUFFLE({t}, {f}, {r.choice(["u0", "n0"])})', f'SUB_XOR({t}, {f}, {r.randrange(1, min(16, self.subgroup))})',
                         f'SUB_BROADCAST({t}, {f}, {r.randrange(self.subgroup)})', f'SUB_ANY({t}, {f}, {r.randrange(32)})',
                         f'SUB_UP({t}, {f}, {r.randrange(self.subgroup)})', f'SUB_DOWN({t}, {f}, {r.randrange(self.subgroup)})'])

    def make(self):
        r = self.r
        self.structs = [self.struct(k) for k in range(r.randrange(1, 4))]
        tables = ''.join(f'constant {t} table_{t}[{TABLE}] = {{{", ".join(self.literal(t) for _ in range(TABLE))}}};\n'
                         for t in ('int', 'uchar', 'ulong'))
        helpers = [self.helper() for _ in range(r.randrange(0, 4))]
        variables, arrays, structs = self.fields()
        state = 'struct state {\n' + ''.join(f'    {self.spell(t)} {v[3:]};\n' for v, t in variables) + \
            ''.join(f'    {t} {v[3:]}[{ARRAY}];\n' for v, t in arrays) + \
            ''.join(f'    struct {t} {v[3:]};\n' for v, t in structs) + '};\n'
        scope = Scope(variables, arrays, structs)
        for v, t in structs:
            self.members(v + '.', int(t[1:]), scope)
        everything = (scope.variables, scope.arrays, structs)
        more = [r.choice(['int', 'ulong', 'short', 'uchar', 'float', 'int4']) for _ in range(r.randrange(1, 6))]
        phases = [self.phase(k, everything) for k in range(r.randrange(1, 4))]
        steps = Block('KERNEL', self.steps(len(phases)), 'KERNEL_END\n')
        return Program(self, self.structs, tables, state, everything, more, helpers, phases, steps)

    def steps(self, count):
        r = self.r
        steps = ['EACH(start(s, lid, gid, in, even, odd, MORE_PASSED))']
        for k in range(count):
            a, b = ('odd', 'even') if k % 2 == 0 else ('even', 'odd')
            step = f'EACH(phase{k}(s, lid, gid, turn, bound, in, {a}, {b}, sums{self.wide_arg}))'
            body = [step] + ([self.subgroup_step()] if self.subgroup and not self.one_in(3) else [])
            turns = r.choice(['1', '2', '3', 'bound'])
            steps.append(Block(f'for (uint turn = 0; turn < {turns}; turn++) {{', body))
        return steps + [f'EACH(finish(s, gid, out, even, odd, sums, lid{self.wide_arg}))']


class Program:
    def __init__(self, maker, structs, tables, state, everything, more, helpers, phases, steps):
        self.maker, self.structs, self.tables, self.state = maker, structs, tables, state
        self.variables, self.arrays, self.struct_fields = everything
        self.more, self.helpers, self.phases, self.steps = more, helpers, phases, steps
        self.names, self.fixed = [], (steps.body[0], steps.body[-1])
        self.finish = self.make_finish()
        self.start = self.make_start()
        self.outs = len(self.names)

    def make_start(self):
        lines, r = [], self.maker.r
        k = 0
        for v, t in self.variables:
            k += 1
            source = f'in[(gid * 31u + {k * 7}u) % {INPUT}u]'
            if isinstance(t, tuple):
                et, n = t
                one = '(float)(short)' if et == 'float' else f'({et})'
                values = [f'{one}in[(gid * 31u + {k * 7 + j}u) % {INPUT}u]' for j in range(n)]
                lines.append(f'{v} = VEC({et}{n}, {", ".join(values)});')
            elif t in FLOATS:
                lines.append(f'{v} = ({t})(float)(short){source};')
            elif BITS[t] == 64:
                lines.append(f'{v} = ({t})((ulong){source} << 32 | in[(gid * 31u + {k * 7 + 1}u) % {INPUT}u]);')
            else:
                lines.append(f'{v} = ({t}){source};')
        for a, t in self.arrays:
            lines.append(f'for (uint i = 0; i < {ARRAY}u; i++) {a}[i] = ({t})in[(gid + i * 5u) % {INPUT}u];')
        for i, t in enumerate(self.more):
            value = {'float': f'FLOAT_BITS(p{i})', 'int4': f'p{i}[{r.randrange(4)}]'}.get(t, f'p{i}')
            lines.append(f's->l0 = s->l0 * 3 + (ulong){value};')
        for j in range(ROOM):
            lines.append(f'even[lid * {ROOM}u + {j}u] = in[(gid + {j}u) % {INPUT}u];')
            lines.append(f'odd[lid * {ROOM}u + {j}u] = lid * {j + 3}u;')
        head = ('static void start(struct state *s, uint lid, uint gid, global const uint *in,\n'
                '                  local ulong *even, local ulong *odd, MORE_ARGS)\n{')
        clear = [f'{{ uchar *b = (uchar *)&{v}; for (uint i = 0; i < sizeof({v}); i++) b[i] = (uchar)(i * 3u); }}'
                 for v, _ in self.struct_fields]
        return Block(head, clear + lines, '}\n')

    def make_finish(self):
        lines = []

        def put(name, value):
            lines.append(f'out[gid * OUTS + {len(self.names)}u] = (ulong)({value});')
            self.names.append(name)
        for v, t in self.variables:
            et, elements = t if isinstance(t, tuple) else (t, 0)
            for k in range(elements or 1):
                text = f'{v}[{k}]' if elements else v
                put(text, f'{BITS_OF[et][0]}({text})' if et in FLOATS else text)
        for a, _ in self.arrays:
            for k in range(ARRAY):
                put(f'{a}[{k}]', f'{a}[{k}]')
        for j in range(ROOM):
            put(f'even[{j}]', f'even[lid * {ROOM}u + {j}u]')
            put(f'odd[{j}]', f'odd[lid * {ROOM}u + {j}u]')
        put('sums', ' + '.join(f'sums[{k}] * {2 * k + 1}u' for k in range(SUMS)))
        if self.maker.has_wides:
            put('wides', ' + '.join(f'wides[{k}] * {2 * k + 1}u' for k in range(WIDES)))
        return Block('static void finish(struct state *s, uint gid, global ulong *out, local const ulong *even,\n'
                     f'                   local const ulong *odd, local const uint *sums, uint lid{self.maker.wide_param})\n{{',
                     lines, '}\n')

    def text(self):
        m = self.maker
        heads = f'#define GROUP {m.group}\n#define ROOM {ROOM}\n#define SUMS {SUMS}\n#define OUTS {self.outs}u\n'
        if m.subgroup:
            heads += f'#define SUBGROUP {m.subgroup}\n'
        if m.doubles:
            heads += '#define DOUBLES\n'
        if m.has_wides:
            heads += f'#define WIDES {WIDES}u\n'
        names = [f'p{i}' for i in range(len(self.more))]
        heads += '#define MORE_ARGS ' + ', '.join(f'{t} {n}' for t, n in zip(self.more, names)) + '\n'
        heads += '#define MORE_PASSED ' + ', '.join(names) + '\n'
        heads += '#define MORE_VALUES ' + ', '.join(f'*(const {t} *)more[{i}]' for i, t in enumerate(self.more)) + '\n'
        heads += '#include "random_kernels.h"\n\n'
        parts = [s[0] for s in self.structs] + [self.state, self.tables]
        parts += [b.text() for b in self.helpers + [self.start] + self.phases + [self.finish, self.steps]]
        return heads + '\n'.join(parts)

    def blocks(self):
        """Lists of statements that may be shortened."""
        def below(block):
            yield block.body
            for b in block.body:
                if isinstance(b, Block):
                    yield from below(b)
        for b in [self.steps] + self.phases[::-1] + self.helpers:
            yield from below(b)


def program(seed, doubles, has_floats=True):
    return Maker(seed, doubles, has_floats).make()
