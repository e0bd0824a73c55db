#!/usr/bin/env python3
"""Kernels of the SPIR-V extensions SPV_INTEL_joint_matrix and SPV_KHR_cooperative_matrix, which no front end at hand writes.

usage: joint.py bf|half|bytes|used|khr-bf|khr-half|khr-bytes LANES FILE

IGC 1 knows the first one, IGC 2 the second.

Modules are apart by the types of matrices ("used": with the operand that says what they are used for), because IGC
1.0.12504 aborts where one module has products of several types by one operation.

Every work-group is one sub-group of LANES (8 for XeHPG, 16 for XeHPC), which has tiles of its own in the buffers: one of
8 rows of A, one of B, whose rows are packed by dwords, one of 8 x LANES sums. What the kernels compute, joint.c says.
"""
import struct
import sys

ROW_MAJOR, COLUMN_MAJOR, PACKED_B = 0, 1, 3
SUB_GROUP = 3
INPUT, CROSS_WORKGROUP, GENERIC = 1, 5, 8
OPS = {'Capability': 17, 'Extension': 10, 'MemoryModel': 14, 'EntryPoint': 15, 'ExecutionMode': 16, 'Decorate': 71,
       'TypeVoid': 19, 'TypeInt': 21, 'TypeFloat': 22, 'TypeVector': 23, 'TypePointer': 32, 'TypeFunction': 33,
       'Constant': 43, 'Function': 54, 'FunctionParameter': 55, 'FunctionEnd': 56, 'Variable': 59, 'Load': 61,
       'InBoundsPtrAccessChain': 70, 'VectorExtractDynamic': 77, 'VectorInsertDynamic': 78, 'CompositeConstruct': 80,
       'CompositeExtract': 81, 'PtrCastToGeneric': 121, 'IAdd': 128, 'IMul': 132, 'Label': 248, 'Return': 253,
       'TypeJointMatrixINTEL': 6119, 'JointMatrixLoadINTEL': 6120, 'JointMatrixStoreINTEL': 6121, 'ss': 6122,
       'su': 6128, 'us': 6129, 'uu': 6130, 'TypeCooperativeMatrixKHR': 4456, 'CooperativeMatrixLoadKHR': 4457,
       'CooperativeMatrixStoreKHR': 4458, 'CooperativeMatrixMulAddKHR': 4459}
KHR_LAYOUT = {ROW_MAJOR: 0, PACKED_B: 2}
KHR_OPERANDS = {'ss': 15, 'su': 13, 'us': 14, 'uu': 12, 'bf': 0x40, 'half': 0} # who is signed; what 16 bits are
SECTIONS = ('Capability', 'Extension', 'MemoryModel', 'EntryPoint', 'ExecutionMode', 'Decorate', 'types', 'functions')


class Module:
    def __init__(self):
        self.bound, self.known, self.sections = 1, {}, {name: [] for name in SECTIONS}

    def new(self):
        self.bound += 1
        return self.bound - 1

    def emit(self, section, op, *operands):
        words = []
        for operand in operands:
            if isinstance(operand, str):
                raw = operand.encode() + b'\0'
                raw += b'\0' * (-len(raw) % 4)
                words += struct.unpack(f'<{len(raw) // 4}I', raw)
            else:
                words.append(operand)
        self.sections[section] += [(len(words) + 1) << 16 | OPS[op]] + words

    def type(self, op, *operands):
        key = (op, operands)
        if key not in self.known:
            self.known[key] = self.new()
            self.emit('types', op, self.known[key], *operands)
        return self.known[key]

    def constant(self, value, type_id=None):
        type_id = type_id or self.type('TypeInt', 32, 0)
        key = ('Constant', type_id, value)
        if key not in self.known:
            self.known[key] = self.new()
            wide = type_id == self.type('TypeInt', 64, 0)
            self.emit('types', 'Constant', type_id, self.known[key], value, *([0] if wide else []))
        return self.known[key]

    def scalar(self, name):
        bits = int(name[1:])
        return self.type('TypeFloat', bits) if name[0] == 'f' else self.type('TypeInt', bits, 0)

    def value(self, op, type_id, *operands):
        result = self.new()
        self.emit('functions', op, type_id, result, *operands)
        return result

    def bytes(self):
        words = [0x07230203, 0x10000, 0, self.bound, 0]
        for name in SECTIONS:
            words += self.sections[name]
        return struct.pack(f'<{len(words)}I', *words)


class Kernel:
    """Pointers to the tiles of the group, and matrices in them."""

    def __init__(self, module, name, lanes, element, total, depth, uses=False):
        self.m, self.lanes, self.depth, self.uses = module, lanes, depth, uses
        self.pack = 32 // int(element[1:])
        self.element, self.total = element, total
        qword = module.type('TypeInt', 64, 0)
        place = module.type('TypePointer', CROSS_WORKGROUP, module.scalar(element))
        sums = module.type('TypePointer', CROSS_WORKGROUP, module.scalar(total))
        void, function = module.type('TypeVoid'), module.new()
        shape = module.type('TypeFunction', void, place, place, sums)
        module.emit('EntryPoint', 'EntryPoint', 6, function, name, module.group_id)
        module.emit('ExecutionMode', 'ExecutionMode', function, 35, lanes)
        module.emit('functions', 'Function', void, function, 0, shape)
        pointers = [module.value('FunctionParameter', t) for t in (place, place, sums)]
        module.emit('functions', 'Label', module.new())
        vector = module.value('Load', module.type('TypeVector', qword, 3), module.group_id)
        group = module.value('CompositeExtract', qword, vector, 0)
        self.pitch = depth * lanes // 8
        sizes = (8 * self.pitch, depth * lanes, 8 * lanes)
        self.tiles = [self.tile(p, t, group, n)
                      for p, t, n in zip(pointers, (element, element, total), sizes)]

    def tile(self, pointer, element, group, count):
        m, qword = self.m, self.m.type('TypeInt', 64, 0)
        at = m.value('IMul', qword, group, m.constant(count, qword))
        place = m.type('TypePointer', CROSS_WORKGROUP, m.scalar(element))
        there = m.value('InBoundsPtrAccessChain', place, pointer, at)
        if m.khr:
            return there
        return m.value('PtrCastToGeneric', m.type('TypePointer', GENERIC, m.scalar(element)), there)

    def matrix_type(self, use, element, rows, columns, layout):
        c = self.m.constant
        if self.m.khr:
            return self.m.type('TypeCooperativeMatrixKHR', self.m.scalar(element), c(SUB_GROUP), c(rows), c(columns), c(use))
        return self.m.type('TypeJointMatrixINTEL', self.m.scalar(element), c(rows), c(columns), c(layout), c(SUB_GROUP),
                           *([c(use)] if self.uses else []))

    def sums_type(self):
        return self.matrix_type(2, self.total, 8, self.lanes, ROW_MAJOR)

    def load(self, type_id, tile, stride, layout):
        c = self.m.constant
        if self.m.khr:
            return self.m.value('CooperativeMatrixLoadKHR', type_id, self.tiles[tile], c(KHR_LAYOUT[layout]), c(stride))
        return self.m.value('JointMatrixLoadINTEL', type_id, self.tiles[tile], c(stride), c(layout), c(SUB_GROUP))

    def load_sums(self):
        return self.load(self.sums_type(), 2, self.lanes, ROW_MAJOR)

    def product(self, op, sums, by_columns=False):
        """A distance of columns IGC takes for one of dwords."""
        a = self.load(self.matrix_type(0, self.element, 8, self.depth, ROW_MAJOR), 0, self.pitch, ROW_MAJOR)
        stride, layout = ((self.depth // self.pack, COLUMN_MAJOR) if by_columns
                          else (self.lanes * self.pack, PACKED_B))
        b = self.load(self.matrix_type(1, self.element, self.depth, self.lanes, PACKED_B), 1, stride, layout)
        if self.m.khr:
            return self.m.value('CooperativeMatrixMulAddKHR', self.sums_type(), a, b, sums, KHR_OPERANDS[op])
        return self.m.value(op, self.sums_type(), a, b, sums, self.m.constant(SUB_GROUP))

    def store_sums(self, matrix, layout=ROW_MAJOR):
        c, stride = self.m.constant, self.lanes if layout == ROW_MAJOR else 8
        if self.m.khr:
            self.m.emit('functions', 'CooperativeMatrixStoreKHR', self.tiles[2], matrix, c(KHR_LAYOUT[layout]), c(stride))
        else:
            self.m.emit('functions', 'JointMatrixStoreINTEL', self.tiles[2], matrix, c(stride), c(layout), c(SUB_GROUP))
        self.m.emit('functions', 'Return')
        self.m.emit('functions', 'FunctionEnd')


def products(m, lanes, element, total, depth, ops):
    for name, op in ops:
        k = Kernel(m, 'joint_' + name, lanes, element, total, depth)
        k.store_sums(k.product(op, k.load_sums()))


def of_bytes(m, lanes):
    products(m, lanes, 'i8', 'i32', 32, [(op, op) for op in ('ss', 'su', 'us', 'uu')])

    k = Kernel(m, 'joint_filled', lanes, 'i8', 'i32', 32)
    k.store_sums(k.product('ss', m.value('CompositeConstruct', k.sums_type(), m.constant(5))))

    k = Kernel(m, 'joint_twice', lanes, 'i8', 'i32', 32)
    k.store_sums(k.product('uu', k.product('ss', k.load_sums())))

    if m.khr:
        return
    k = Kernel(m, 'joint_elements', lanes, 'i8', 'i32', 32)  # a lane has a column
    matrix, dword = k.load_sums(), m.type('TypeInt', 32, 0)
    for row in range(8):
        old = m.value('VectorExtractDynamic', dword, matrix, m.constant(row))
        new = m.value('IAdd', dword, m.value('IMul', dword, old, m.constant(3)), m.constant(row))
        matrix = m.value('VectorInsertDynamic', k.sums_type(), matrix, new, m.constant(row))
    k.store_sums(matrix)

    if lanes == 8:
        k = Kernel(m, 'joint_columns', lanes, 'i8', 'i32', 32)
        k.store_sums(k.product('ss', k.load_sums(), True), COLUMN_MAJOR)


def build(kind, lanes):
    m = Module()
    m.khr = kind.startswith('khr-')
    kind = kind[4:] if m.khr else kind
    # 6118: JointMatrixINTEL; CooperativeMatrixKHR, Packed...INTEL, ...BFloat16ComponentTypeINTEL
    for capability in (4, 5, 6, 9, 11, 22, 38, 39) + ((6022, 6434, 6437) if m.khr else (6118,)):
        m.emit('Capability', 'Capability', capability)
    if m.khr:
        m.emit('Extension', 'Extension', 'SPV_KHR_cooperative_matrix')
    m.emit('Extension', 'Extension', 'SPV_INTEL_joint_matrix')
    m.emit('MemoryModel', 'MemoryModel', 2, 2)
    three = m.type('TypeVector', m.type('TypeInt', 64, 0), 3)
    place = m.type('TypePointer', INPUT, three)
    m.group_id = m.new()
    m.emit('types', 'Variable', place, m.group_id, INPUT)
    m.emit('Decorate', 'Decorate', m.group_id, 11, 26)  # BuiltIn WorkgroupId
    m.emit('Decorate', 'Decorate', m.group_id, 22)  # Constant

    if kind == 'bytes':
        of_bytes(m, lanes)
    elif kind == 'used':
        k = Kernel(m, 'joint_used', lanes, 'i8', 'i32', 32, True)
        k.store_sums(k.product('ss', k.load_sums()))
    else:
        products(m, lanes, {'bf': 'i16', 'half': 'f16'}[kind], 'f32', 16, [(kind, kind if m.khr else 'ss')])
    return m.bytes()


if __name__ == '__main__':
    with open(sys.argv[3], 'wb') as out:
        out.write(build(sys.argv[1], int(sys.argv[2])))
