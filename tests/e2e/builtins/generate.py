"""Kernels that call every built-in function of OpenCL C 2.0 and of extensions, with every type and
address space: one source per group. Every kernel takes (global uchar *in, global uchar *out,
local uchar *mem)."""
import os

INTS = ['char', 'uchar', 'short', 'ushort', 'int', 'uint', 'long', 'ulong']
FLOATS = ['half', 'float', 'double']
BITS = {'char': 8, 'uchar': 8, 'short': 16, 'ushort': 16, 'int': 32, 'uint': 32, 'long': 64, 'ulong': 64,
        'half': 16, 'float': 32, 'double': 64}
HEAD = ('#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n'
        '#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\n'
        '#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable\n')
SIGN = '(global uchar *in, global uchar *out, local uchar *mem)'


# the front end of IGC 2 asks the IGC 1 beside it for integers' conversions with rounding that it does not have
BY_NEWER = os.path.exists('/usr/lib/x86_64-linux-gnu/libigdfcl.so.2')
EVERY = 1  # keep one kernel of so many


class Group:
    def __init__(self, name, head=''):
        self.name, self.text, self.count = name, HEAD + head, 0

    def kernel(self, body, label):
        self.count += 1
        if self.count % EVERY != 0:
            return
        label = ''.join(c if c.isalnum() else '_' for c in label)
        self.text += (f'kernel void k{self.count}_{label}{SIGN} {{ size_t i = get_global_id(0), l = get_local_id(0);'
                      f' {body} }}\n')


def load(t, name, slot):
    return f'{t} {name} = ((global {t} *)in)[i + {slot}];'


def store(t, e, slot=0):
    return f'((global {t} *)out)[i + {slot} * 64] = {e};'


def vec(t, n):
    return t if n == 1 else f'{t}{n}'


def signed(t):
    return t[1:] if t in INTS and t[0] == 'u' else t


def unsigned(t):
    return t if t[0] == 'u' else 'u' + t


def math(widths):
    for t in FLOATS:
        g = Group('math_' + t)
        for n in widths:
            v, k = vec(t, n), vec('int', n)
            a, b, c = load(v, 'a', 0), load(v, 'b', 64), load(v, 'c', 128)
            m = load(k, 'm', 64) + ' m %= 40;'
            one = ('acos acosh acospi asin asinh asinpi atan atanh atanpi cbrt ceil cos cosh cospi erfc erf exp exp2 '
                   'exp10 expm1 fabs floor lgamma log log2 log10 log1p logb rint round rsqrt sin sinh sinpi sqrt tan '
                   'tanh tanpi tgamma trunc degrees radians sign').split()
            if t == 'float':
                one += ['half_' + f for f in 'cos exp exp2 exp10 log log2 log10 recip rsqrt sin sqrt tan'.split()]
                one += ['native_' + f for f in 'cos exp exp2 exp10 log log2 log10 recip rsqrt sin sqrt tan'.split()]
            two = ('atan2 atan2pi copysign fdim fmax fmin fmod hypot maxmag minmag nextafter pow powr remainder max min '
                   'step').split()
            if t == 'float':
                two += ['half_divide', 'half_powr', 'native_divide', 'native_powr']
            for f in one:
                g.kernel(a + store(v, f'{f}(a)'), f'{f}_{v}')
            for f in two:
                g.kernel(a + b + store(v, f'{f}(a, b)'), f'{f}_{v}')
            for f in 'fma mad clamp mix smoothstep'.split():
                g.kernel(a + b + c + store(v, f'{f}(a, b, c)'), f'{f}_{v}')
            for f in 'ldexp pown rootn'.split():
                g.kernel(a + m + store(v, f'{f}(a, m)'), f'{f}_{v}')
            g.kernel(a + store(k, 'ilogb(a)'), f'ilogb_{v}')
            for space in ('private', 'local', 'global'):
                p = {'private': f'{v} pv; {k} pk;', 'local': f'local {v} *lv = (local {v} *)mem + l; local {k} *lk = (local {k} *)mem + 64 + l;',
                     'global': f'global {v} *gv = (global {v} *)out + i + 64; global {k} *gk = (global {k} *)out + 256 + i;'}[space]
                rv = {'private': '&pv', 'local': 'lv', 'global': 'gv'}[space]
                rk = {'private': '&pk', 'local': 'lk', 'global': 'gk'}[space]
                for f in 'fract modf sincos'.split():
                    g.kernel(a + p + store(v, f'{f}(a, {rv}) + *({rv})'), f'{f}_{v}_{space}')
                for f in 'frexp lgamma_r'.split():
                    g.kernel(a + p + f'{v} r = {f}(a, {rk});' + store(v, 'r') + store(k, f'*({rk})', 9), f'{f}_{v}_{space}')
                g.kernel(a + b + p + f'{v} r = remquo(a, b, {rk});' + store(v, 'r') + store(k, f'*({rk})', 9), f'remquo_{v}_{space}')
            s = vec({'half': 'short', 'float': 'int', 'double': 'long'}[t], n) if n > 1 else 'int'
            for f in 'isequal isnotequal isgreater isgreaterequal isless islessequal islessgreater isordered isunordered'.split():
                g.kernel(a + b + store(s, f'{f}(a, b)'), f'{f}_{v}')
            for f in 'isfinite isinf isnan isnormal signbit'.split():
                g.kernel(a + store(s, f'{f}(a)'), f'{f}_{v}')
            g.kernel(a + b + c + store(v, 'bitselect(a, b, c)'), f'bitselect_{v}')
            si = vec({'half': 'short', 'float': 'int', 'double': 'long'}[t], n)
            g.kernel(a + b + load(si, 'q', 64) + store(v, 'select(a, b, q)'), f'select_{v}')
            g.kernel(a + load(vec(unsigned(si if n == 1 else si[:-len(str(n))]), n), 'q', 64) + store(v, 'a + nan(q)'), f'nan_{v}')
            if n <= 4:
                for f in ['dot', 'distance'] + (['fast_distance'] if t == 'float' else []):
                    g.kernel(a + b + store(t, f'{f}(a, b)'), f'{f}_{v}')
                for f in ['length'] + (['fast_length'] if t == 'float' else []):
                    g.kernel(a + store(t, f'{f}(a)'), f'{f}_{v}')
                for f in ['normalize'] + (['fast_normalize'] if t == 'float' else []):
                    g.kernel(a + store(v, f'{f}(a)'), f'{f}_{v}')
            if n in (3, 4):
                g.kernel(a + b + store(v, 'cross(a, b)'), f'cross_{v}')
        yield g


def integers(widths):
    for t in INTS:
        g = Group('int_' + t)
        for n in widths:
            v, u = vec(t, n), vec(unsigned(t), n)
            a, b, c = load(v, 'a', 0), load(v, 'b', 64), load(v, 'c', 128)
            for f in 'clz ctz popcount'.split():
                g.kernel(a + store(v, f'{f}(a)'), f'{f}_{v}')
            g.kernel(a + store(u, 'abs(a)'), f'abs_{v}')
            g.kernel(a + b + store(u, 'abs_diff(a, b)'), f'abs_diff_{v}')
            for f in 'add_sat hadd rhadd max min mul_hi rotate sub_sat'.split():
                g.kernel(a + b + store(v, f'{f}(a, b)'), f'{f}_{v}')
            for f in 'mad_hi mad_sat clamp'.split():
                lim = f'{v} lo = min(b, c), hi = max(b, c);' if f == 'clamp' else ''
                g.kernel(a + b + c + lim + store(v, f'{f}(a, {"lo, hi" if lim else "b, c"})'), f'{f}_{v}')
            if BITS[t] == 32:
                g.kernel(a + b + store(v, 'mul24(a, b)'), f'mul24_{v}')
                g.kernel(a + b + c + store(v, 'mad24(a, b, c)'), f'mad24_{v}')
            if BITS[t] < 64:
                w = {8: 'short', 16: 'int', 32: 'long'}[BITS[t]]
                w = vec(w if t[0] != 'u' else 'u' + w, n)
                g.kernel(a + load(u, 'q', 64) + store(w, 'upsample(a, q)'), f'upsample_{v}')
            g.kernel(a + b + c + store(v, 'bitselect(a, b, c)'), f'bitselect_{v}')
            q = vec(signed(t), n)
            g.kernel(a + b + load(q, 'q', 192) + store(v, 'select(a, b, q)'), f'select_{v}')
            if t[0] != 'u':
                g.kernel(a + store('int', 'any(a) + 2 * all(a)'), f'any_all_{v}')
            for op in '+ - * & | ^'.split():
                g.kernel(a + b + store(v, f'a {op} b'), f'op_{v}')
            for op in '/ %'.split():
                g.kernel(a + b + store(v, f'a {op} (b | ({t})1)'), f'div_{v}')
            for op in '<< >>'.split():
                g.kernel(a + b + store(v, f'a {op} (b & ({t}){BITS[t] - 1})'), f'shift_{v}')
            if n == 1:
                rev = ''.join(f' | (({unsigned(t)})(((u >> {k}) & 1) << {BITS[t] - 1 - k}))' for k in range(BITS[t]))
                g.kernel(load(unsigned(t), 'u', 0).replace('((global', '((global') + store(unsigned(t), f'({unsigned(t)})(0{rev})'), f'reverse_{v}')
            if n in (2, 4, 8, 16):
                for m in (2, 4, 16):
                    g.kernel(load(vec(t, m), 'a', 0) + load(vec(unsigned(t), n), 'q', 64) + store(v, 'shuffle(a, q)'), f'shuffle_{v}')
                    g.kernel(load(vec(t, m), 'a', 0) + load(vec(t, m), 'b', 64) + load(vec(unsigned(t), n), 'q', 64) + store(v, 'shuffle2(a, b, q)'), f'shuffle2_{v}')
        yield g


def conversions():
    for f in INTS + FLOATS:
        g = Group('convert_' + f)
        for t in INTS + FLOATS:
            for n in (1, 3):
                for sat in ('', '_sat') if t in INTS else ('',):
                    for mode in ('', '_rte', '_rtz', '_rtp', '_rtn') if not BY_NEWER or f not in INTS or t not in INTS else ('',):
                        g.kernel(load(vec(f, n), 'a', 0) + store(vec(t, n), f'convert_{vec(t, n)}{sat}{mode}(a)'), f'{f}_{t}{n}{sat}{mode}')
        yield g


def memory():
    for t in INTS + FLOATS:
        g = Group('memory_' + t)
        for n in (2, 3, 4, 8, 16):
            for space in ('global', 'local', 'private', 'constant', 'generic'):
                v = vec(t, n)
                where = {'global': f'global {t} *p = (global {t} *)in + 3;', 'generic': f'{t} *p = (i & 1) ? ({t} *)((local {t} *)mem + 1) : ({t} *)((global {t} *)in + 3);',
                         'local': f'local {t} *p = (local {t} *)mem + 1; for (uint k = l; k < 1024; k += get_local_size(0)) p[k] = ((global {t} *)in)[k]; barrier(CLK_LOCAL_MEM_FENCE);',
                         'private': f'{t} p[64]; for (uint k = 0; k < 64; k++) p[k] = ((global {t} *)in)[(k * 7 + i) & 63];',
                         'constant': f'constant {t} *p = (constant {t} *)table;'}[space]
                at = '(i & 1)' if space in ('private', 'constant') else '(l & 31)'
                g.kernel(where + store(v, f'vload{n}({at}, p)'), f'vload_{v}_{space}')
                if space != 'constant':
                    dst = '((i * 3 + 1) & 31)' if space != 'private' else '(i & 1)'
                    p = where.replace('in + 3', 'out + 1') if space in ('global', 'generic') else where
                    back = '' if space in ('global', 'generic') else store(t, 'p[i & 31]', 20)
                    g.kernel(p + load(v, 'a', 0) + f'vstore{n}(a, {dst}, p);' + back, f'vstore_{v}_{space}')
            g.kernel(f'event_t e = async_work_group_copy((local {vec(t, n)} *)mem, (global {vec(t, n)} *)in, 24, 0); wait_group_events(1, &e); barrier(CLK_LOCAL_MEM_FENCE);'
                     + store(vec(t, n), f'((local {vec(t, n)} *)mem)[l % 24]') + f'prefetch((global {vec(t, n)} *)in + i, 3);', f'async_in_{t}{n}')
            g.kernel(f'((local {vec(t, n)} *)mem)[l] = ((global {vec(t, n)} *)in)[i]; barrier(CLK_LOCAL_MEM_FENCE); event_t e = async_work_group_copy((global {vec(t, n)} *)out, (local {vec(t, n)} *)mem, 24, 0); wait_group_events(1, &e);', f'async_out_{t}{n}')
            g.kernel(f'event_t e = async_work_group_strided_copy((local {vec(t, n)} *)mem, (global {vec(t, n)} *)in, 8, 3, 0); wait_group_events(1, &e); barrier(CLK_LOCAL_MEM_FENCE);'
                     + store(vec(t, n), f'((local {vec(t, n)} *)mem)[l % 8]'), f'async_strided_{t}{n}')
        g.text = g.text.replace(HEAD, HEAD + 'constant uchar table[1024] = {' + ', '.join(str(k * 7 % 251) for k in range(1024)) + '};\n')
        yield g
    g = Group('memory_halves')
    for t in ('float', 'double'):
        for n in (1, 2, 3, 4, 8, 16):
            s = '' if n == 1 else n
            for al in ('', 'a'):
                if al and n == 1:
                    continue
                if t == 'float':
                    g.kernel(store(vec(t, n), f'vload{al}_half{s}(i & 31, (global half *)in)'), f'vload{al}_half{n}')
                    g.kernel(f'local half *p = (local half *)mem; for (uint k = l; k < 2048; k += get_local_size(0)) p[k] = ((global half *)in)[k]; barrier(CLK_LOCAL_MEM_FENCE);' + store(vec(t, n), f'vload{al}_half{s}(i & 31, p)'), f'vload{al}_half{n}_local')
                for mode in ('', '_rte', '_rtz', '_rtp', '_rtn'):
                    g.kernel(load(vec(t, n), 'a', 0) + f'vstore{al}_half{s}{mode}(a, i & 63, (global half *)out);', f'vstore{al}_half{n}{mode}_{t}')
                    g.kernel(load(vec(t, n), 'a', 0) + f'vstore{al}_half{s}{mode}(a, l & 31, (local half *)mem); barrier(CLK_LOCAL_MEM_FENCE);' + store('half', '((local half *)mem)[l]'), f'vstore{al}_half{n}{mode}_{t}_local')
    yield g


def atomics():
    g = Group('atomics')
    for space in ('global', 'local'):
        for t in ('int', 'uint', 'long', 'ulong', 'float'):
            p = f'volatile {space} {t} *p = (volatile {space} {t} *){"out" if space == "global" else "mem"} + (l & 3);'
            if space == 'local':
                p += f'if (l < 4) *p = (({t})l); barrier(CLK_LOCAL_MEM_FENCE);'
            x = load(t, 'x', 0) + load(t, 'y', 64)
            pre = 'atom' if BITS[t] == 64 else 'atomic'
            done = 'barrier(CLK_LOCAL_MEM_FENCE);' + store(t, 'r', 2) + store(t, f'(({space} {t} *){"out" if space == "global" else "mem"})[l & 3]', 4)
            ops = ['xchg'] if t == 'float' else 'add sub xchg min max and or xor'.split()
            for f in ops:
                g.kernel(p + x + f'{t} r = {pre}_{f}(p, x);' + done, f'{f}_{t}_{space}')
            if t == 'float':
                continue
            for f in 'inc dec'.split():
                g.kernel(p + x + f'{t} r = {pre}_{f}(p);' + done, f'{f}_{t}_{space}')
            g.kernel(p + x + f'{t} r = {pre}_cmpxchg(p, x, y);' + done, f'cmpxchg_{t}_{space}')
        for t in ('int', 'uint', 'long', 'ulong', 'float', 'double'):
            kinds = ['', 'generic'] if space == 'global' else ['', 'generic']
            for kind in kinds:
                at = f'volatile {"" if kind else space} atomic_{t} *p = ({"" if kind else space} atomic_{t} *)({space} void *){"out" if space == "global" else "mem"} + (l & 3);'
                if kind:
                    at = f'volatile atomic_{t} *p = (volatile atomic_{t} *)((volatile {space} atomic_{t} *){"out" if space == "global" else "mem"} + (l & 3));'
                init = 'if (l < 4) atomic_init(p, (%s)l); barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);' % t
                x = load(t, 'x', 0) + load(t, 'y', 64)
                done = store(t, 'r', 2) + store(t, 'atomic_load(p)', 4)
                ops = [] if t in ('float', 'double') else 'add sub or xor and min max'.split()
                for f in ops:
                    g.kernel(at + init + x + f'{t} r = atomic_fetch_{f}(p, x);' + done, f'fetch_{f}_{t}_{space}{kind}')
                    g.kernel(at + init + x + f'{t} r = atomic_fetch_{f}_explicit(p, x, memory_order_acq_rel, memory_scope_device);' + done, f'fetch_{f}_x_{t}_{space}{kind}')
                g.kernel(at + init + x + f'{t} r = atomic_exchange(p, x);' + done, f'exchange_{t}_{space}{kind}')
                g.kernel(at + init + x + f'atomic_store(p, x); {t} r = atomic_load_explicit(p, memory_order_acquire, memory_scope_work_group);' + done, f'store_{t}_{space}{kind}')
                if t in ('float', 'double'):
                    continue # ocloc fails an assertion
                g.kernel(at + init + x + f'{t} e = x; bool k = atomic_compare_exchange_strong(p, &e, y); {t} r = k ? e : y;' + done, f'strong_{t}_{space}{kind}')
                g.kernel(at + init + x + f'{t} e = x; bool k = atomic_compare_exchange_weak_explicit(p, &e, y, memory_order_seq_cst, memory_order_relaxed, memory_scope_all_svm_devices); {t} r = k ? e : y;' + done, f'weak_{t}_{space}{kind}')
    g.kernel('volatile global atomic_flag *f = (volatile global atomic_flag *)out; bool r = atomic_flag_test_and_set(f + (l & 1)); atomic_flag_clear(f);' + store('int', 'r', 4), 'flag')
    g.kernel('local atomic_flag f; if (l == 0) atomic_flag_clear(&f); barrier(CLK_LOCAL_MEM_FENCE); bool r = atomic_flag_test_and_set_explicit(&f, memory_order_acquire);' + store('int', 'r', 4), 'flag_local')
    for fence in ('mem_fence(CLK_GLOBAL_MEM_FENCE)', 'read_mem_fence(CLK_LOCAL_MEM_FENCE)', 'write_mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)',
                  'atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_seq_cst, memory_scope_device)', 'work_group_barrier(CLK_GLOBAL_MEM_FENCE, memory_scope_device)',
                  'work_group_barrier(CLK_IMAGE_MEM_FENCE)', 'atomic_work_item_fence(CLK_IMAGE_MEM_FENCE, memory_order_acq_rel, memory_scope_work_item)'):
        g.kernel(fence + ';' + store('int', 'in[i]'), 'fence')
    yield g


def groups():
    g = Group('groups')
    for t in ('int', 'uint', 'long', 'ulong', 'half', 'float', 'double'):
        a = load(t, 'a', 0)
        for f in ('reduce_add', 'reduce_min', 'reduce_max', 'scan_exclusive_add', 'scan_exclusive_min', 'scan_exclusive_max', 'scan_inclusive_add',
                  'scan_inclusive_min', 'scan_inclusive_max'):
            g.kernel(a + store(t, f'work_group_{f}(a)'), f'wg_{f}_{t}')
        g.kernel(a + store(t, 'work_group_broadcast(a, 5)'), f'wg_broadcast_{t}')
        g.kernel(a + store(t, 'work_group_broadcast(a, 5, 0, 0)'), f'wg_broadcast3_{t}')
    g.kernel(store('int', 'work_group_all(in[i]) + 2 * work_group_any(in[i] == 3)'), 'wg_all')
    g.kernel(store('ulong', 'get_global_linear_id() + get_local_linear_id() * 3 + get_enqueued_local_size(0) + get_global_offset(0) + get_num_groups(1) + get_work_dim()'), 'ids')
    yield g
    g = Group('subgroups')
    ops = 'add min max'.split()
    for t in INTS + FLOATS:
        a = load(t, 'a', 0)
        for op in ops:
            for f in ('reduce', 'scan_exclusive', 'scan_inclusive'):
                g.kernel(a + store(t, f'sub_group_{f}_{op}(a)'), f'sg_{f}_{op}_{t}')
                g.kernel(a + f'if (i % 3) {{' + store(t, f'sub_group_non_uniform_{f}_{op}(a)') + '}', f'sgn_{f}_{op}_{t}')
        more = ['mul'] + (['and', 'or', 'xor'] if t in INTS else [])
        for op in more:
            for f in ('reduce', 'scan_exclusive', 'scan_inclusive'):
                g.kernel(a + f'if (i % 3) {{' + store(t, f'sub_group_non_uniform_{f}_{op}(a)') + '}', f'sgn_{f}_{op}_{t}')
        for op in ops + more:
            for n in (1, 2, 4, 8):
                g.kernel(a + store(t, f'sub_group_clustered_reduce_{op}(a, {n})'), f'sgc_{op}_{n}_{t}')
        g.kernel(a + store(t, 'sub_group_broadcast(a, 3)'), f'sg_broadcast_{t}')
        g.kernel(a + store(t, 'sub_group_broadcast_first(a)') + store(t, 'sub_group_non_uniform_broadcast(a, 2)', 1), f'sg_first_{t}')
        for f in ('shuffle', 'shuffle_xor', 'shuffle_up', 'shuffle_down'):
            g.kernel(a + store(t, f'sub_group_{f}(a, (uint)(i & 3))'), f'sg_{f}_{t}')
        g.kernel(a + store(t, 'intel_sub_group_shuffle(a, (uint)((i * 3) & 7))'), f'isg_shuffle_{t}')
        g.kernel(a + store(t, 'intel_sub_group_shuffle_xor(a, (uint)((i * 3) & 7))'), f'isg_shuffle_xor_{t}')
        if t != 'double':
            for f in ('up', 'down'):
                g.kernel(a + load(t, 'b', 64) + store(t, f'intel_sub_group_shuffle_{f}(a, b, (uint)(i & 7))'), f'isg_{f}_{t}')
    for n in (2, 4, 8, 16):
        for t in ('int', 'uint', 'float'):
            g.kernel(load(vec(t, n), 'a', 0) + store(vec(t, n), 'intel_sub_group_shuffle(a, (uint)((i * 3) & 7))'), f'isg_shuffle_{t}{n}')
    for t, suf in (('uint', ''), ('uint', '_ui'), ('ushort', '_us'), ('uchar', '_uc'), ('ulong', '_ul')):
        for n in (1, 2, 4, 8) + ((16,) if t == 'uchar' else ()):
            s = '' if n == 1 else n
            g.kernel(f'{vec(t, n)} r = intel_sub_group_block_read{suf}{s}((global {t} *)in + get_sub_group_id() * {64 * n});' + store(vec(t, n), 'r'), f'block_read{suf}{n}')
            g.kernel(load(vec(t, n), 'a', 0) + f'intel_sub_group_block_write{suf}{s}((global {t} *)out + (get_group_id(0) * 8 + get_sub_group_id()) * {64 * n}, a);', f'block_write{suf}{n}')
    g.kernel('uint4 b = sub_group_ballot(i % 3 == 1);' + store('uint4', 'b') + store('uint', 'sub_group_ballot_bit_count(b) + sub_group_ballot_inclusive_scan(b) + sub_group_ballot_exclusive_scan(b) + sub_group_ballot_find_lsb(b) + sub_group_ballot_find_msb(b) + sub_group_inverse_ballot(b) + sub_group_ballot_bit_extract(b, 3)', 20), 'ballot')
    g.kernel(store('int', 'sub_group_all(in[i]) + 2 * sub_group_any(in[i] == 3) + 4 * sub_group_elect() + 8 * sub_group_non_uniform_all(in[i]) + 16 * sub_group_non_uniform_any(in[i] == 9)'), 'votes')
    for t in INTS + FLOATS:
        g.kernel(load(t, 'a', 0) + store('int', 'sub_group_non_uniform_all_equal(a)'), f'all_equal_{t}')
    g.kernel(store('uint4', 'get_sub_group_eq_mask() + get_sub_group_ge_mask() + get_sub_group_gt_mask() + get_sub_group_le_mask() + get_sub_group_lt_mask()'), 'masks')
    g.kernel(store('uint', 'get_sub_group_size() + get_max_sub_group_size() * 3 + get_num_sub_groups() * 5 + get_enqueued_num_sub_groups() * 7 + get_sub_group_id() + get_sub_group_local_id()') + 'sub_group_barrier(CLK_LOCAL_MEM_FENCE);', 'sg_ids')
    yield g


def printing():
    g = Group('printing')
    for t, c in (('char', '%hhd'), ('uchar', '%hhu'), ('short', '%hd'), ('ushort', '%hx'), ('int', '%d'), ('uint', '%o'), ('long', '%ld'), ('ulong', '%lx'), ('float', '%g'), ('double', '%a')):
        g.kernel(load(t, 'a', 0) + f'if (i == 0) printf("{c}\\n", a);', f'printf_{t}')
        for n in (2, 3, 4, 8, 16):
            v = {'char': '%%v%dhhd', 'uchar': '%%v%dhhu', 'short': '%%v%dhd', 'ushort': '%%v%dhx', 'int': '%%v%dhld', 'uint': '%%v%dhlu', 'long': '%%v%dld', 'ulong': '%%v%dlx', 'float': '%%v%dhlf', 'double': '%%v%dlf'}[t] % n
            g.kernel(load(vec(t, n), 'a', 0) + f'if (i == 0) printf("{v}\\n", a);', f'printf_{t}{n}')
    g.kernel('if (i == 0) printf("%s %c %p %5.3f %-8d|%+i %%\\n", "text", 65, in, 1.5f, 3, 4);', 'printf_more')
    yield g


def write(folder, every, widths):
    """Write the sources; every: keep one kernel of so many. Returns their paths."""
    global EVERY
    EVERY = every
    paths = []
    for make in (math(widths), integers(widths), conversions(), memory(), atomics(), groups(), printing()):
        for g in make:
            paths.append(os.path.join(folder, g.name + '.cl'))
            with open(paths[-1], 'w', encoding='ascii') as f:
                f.write(g.text)
    return paths
