/* SPDX-License-Identifier: MIT */
#ifdef SIMD
#define KERNEL __attribute__((intel_reqd_sub_group_size(SIMD))) kernel
#else
#define KERNEL kernel
#endif
#define I get_global_id(0)
#define L get_local_id(0)
#define N get_local_size(0)

/* Barriers, fences, atomics, functions of the work-group. */
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable

/* ---- Barriers ---- */

KERNEL void sync_reverse(global const int *a, global int *out, local int *tmp)
{
    tmp[L] = a[I];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[I] = tmp[N - 1 - L];
}

/* Sums of all before, in log2 steps with two barriers each. */
KERNEL void sync_scan(global const int *a, global int *out, local int *tmp)
{
    tmp[L] = a[I];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = 1; step < N; step *= 2) {
        int add = L >= step ? tmp[L - step] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        tmp[L] += add;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[I] = tmp[L];
}

/* Flow that all items take alike, with barriers in it. */
KERNEL void sync_uniform(global const int *a, global int *out, local int *tmp, int mode, int rounds)
{
    int x = a[I];
    tmp[L] = x;
    for (int r = 0; r < rounds; r++) {
        if (mode & 1) {
            barrier(CLK_LOCAL_MEM_FENCE);
            x += tmp[(L + 1) % N];
            barrier(CLK_LOCAL_MEM_FENCE);
        } else if (mode == 6) {
            break;
        } else {
            work_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
            x ^= tmp[(L * 3) % N] >> 1;
            work_group_barrier(CLK_LOCAL_MEM_FENCE);
            if (x & 1)
                x += r;
        }
        tmp[L] = x;
        mode = mode * 3 + 1;
    }
    out[I] = x;
}

KERNEL void sync_global(global int *a, global int *out)
{
    uint base = get_group_id(0) * N;
    a[base + L] += (int)L;
    barrier(CLK_GLOBAL_MEM_FENCE);
    int x = a[base + (L + N / 2) % N];
    barrier(CLK_GLOBAL_MEM_FENCE);
    a[base + L] = x * 2;
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    out[I] = a[base + L] + x;
}

/* Each item hands its value around the whole group. */
KERNEL void sync_ring(global const int *a, global int *out, local int *ring)
{
    int sum = 0;
    ring[L] = a[I];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = 0; i < N; i++) {
        int x = ring[(L + i) % N];
        sum = sum * 3 + x;
        barrier(CLK_LOCAL_MEM_FENCE);
        ring[L] += (int)i;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[I] = sum;
}

KERNEL void sync_transpose(global const int *a, global int *out, local int *tile)
{
    uint w = get_local_size(0), h = get_local_size(1), x = get_local_id(0), y = get_local_id(1);
    uint width = get_global_size(0);
    tile[y * w + x] = a[get_global_id(1) * width + get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    uint k = x * h + y; /* any other place of the tile */
    out[get_global_id(1) * width + get_global_id(0)] = tile[k] + (int)get_num_groups(1);
}

/* Items that have ended do not hold the others up. */
KERNEL void sync_early_end(global const int *a, global int *out, int rounds)
{
    local int tmp[64];
    tmp[L] = a[I];
    barrier(CLK_LOCAL_MEM_FENCE);
    int x = tmp[63 - L];
    if (x & 1) {
        out[I] = x;
        return;
    }
    for (int i = 0; i < rounds; i++)
        x = x * 5 + (int)L;
    out[I] = x;
}

/* ---- Atomics ---- */

#define ATOMICS(name, T, space, ptr)                                                               \
    atomic_add(ptr + 0, x);                                                                        \
    atomic_sub(ptr + 1, x);                                                                        \
    atomic_inc(ptr + 2);                                                                           \
    atomic_dec(ptr + 3);                                                                           \
    atomic_min(ptr + 4, x);                                                                        \
    atomic_max(ptr + 5, x);                                                                        \
    atomic_and(ptr + 6, x | (T)0xff);                                                              \
    atomic_or(ptr + 7, x & (T)0x11111111);                                                         \
    atomic_xor(ptr + 8, x);                                                                        \
    T old = ptr[9];                                                                                \
    for (T seen = old + 1; seen != old;) {                                                         \
        seen = old;                                                                                \
        old = atomic_cmpxchg(ptr + 9, seen, seen * (T)5);                                          \
    }                                                                                              \
    T mine = atomic_xchg(ptr + 10, x);                                                             \
    atomic_add(ptr + 11, mine);

KERNEL void sync_atomic_int(global const int *a, global volatile int *v)
{
    int x = a[I];
    ATOMICS(int, int, global, v)
}

KERNEL void sync_atomic_uint(global const uint *a, global volatile uint *v)
{
    uint x = a[I];
    ATOMICS(uint, uint, global, v)
}

KERNEL void sync_atomic_local_int(global const int *a, global int *out, global const int *initial)
{
    local volatile int v[12];
    for (uint i = L; i < 12; i += N)
        v[i] = initial[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    int x = a[I];
    {
        ATOMICS(int, int, local, v)
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = L; i < 12; i += N)
        out[get_group_id(0) * 12 + i] = v[i];
}

KERNEL void sync_atomic_local_uint(global const uint *a, global uint *out,
                                   global const uint *initial)
{
    local volatile uint v[12];
    for (uint i = L; i < 12; i += N)
        v[i] = initial[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    uint x = a[I];
    {
        ATOMICS(uint, uint, local, v)
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = L; i < 12; i += N)
        out[get_group_id(0) * 12 + i] = v[i];
}

#define LONG_ATOMICS_OF(T)                                                                         \
    atom_add(v + 0, x);                                                                        \
    atom_sub(v + 1, x);                                                                        \
    atom_inc(v + 2);                                                                           \
    atom_dec(v + 3);                                                                           \
    atom_min(v + 4, x);                                                                        \
    atom_max(v + 5, x);                                                                        \
    atom_and(v + 6, x | (T)0xff);                                                              \
    atom_or(v + 7, x & (T)0x1111111111111111);                                                 \
    atom_xor(v + 8, x);                                                                        \
    T old = v[9];                                                                              \
    for (T seen = old + 1; seen != old;) {                                                     \
        seen = old;                                                                            \
        old = atom_cmpxchg(v + 9, seen, seen * (T)5);                                          \
    }                                                                                          \
    T mine = atom_xchg(v + 10, x);                                                             \
    atom_add(v + 11, mine);
#define LONG_ATOMICS(T)                                                                            \
    KERNEL void sync_atomic_##T(global const T *a, global volatile T *v)                           \
    {                                                                                              \
        T x = a[I];                                                                                \
        LONG_ATOMICS_OF(T)                                                                         \
    }                                                                                              \
    /* by a lock in memory, which a loop waits for */                                              \
    KERNEL void sync_atomic_local_##T(global const T *a, global T *out, global const T *initial)   \
    {                                                                                              \
        local volatile T v[12];                                                                    \
        for (uint i = L; i < 12; i += N)                                                           \
            v[i] = initial[i];                                                                     \
        barrier(CLK_LOCAL_MEM_FENCE);                                                              \
        T x = a[I];                                                                                \
        LONG_ATOMICS_OF(T)                                                                         \
        barrier(CLK_LOCAL_MEM_FENCE);                                                              \
        for (uint i = L; i < 12; i += N)                                                           \
            out[get_group_id(0) * 12 + i] = v[i];                                                  \
    }
LONG_ATOMICS(long)
LONG_ATOMICS(ulong)

/* What atomics return: each ticket is drawn once. */
KERNEL void sync_tickets(global int *next, global int *drawn, global uint *down, global int *out)
{
    int ticket = atomic_inc(next);
    drawn[ticket] += 1;
    uint other = atomic_sub(down, 2u);
    out[other / 2 - 1] = 7;
    if (ticket & 1)
        atomic_add(next + 1, ticket);
}

KERNEL void sync_float(global const float *a, global volatile uint *v, global volatile float *x)
{
    float mine = a[I];
    uint old = v[0], seen;
    do {
        seen = old;
        old = atomic_cmpxchg(v, seen, as_uint(as_float(seen) + mine));
    } while (old != seen);
    old = v[1];
    do {
        seen = old;
        if (as_float(seen) >= mine)
            break;
        old = atomic_cmpxchg(v + 1, seen, as_uint(mine));
    } while (old != seen);
    float before = atomic_xchg(x, mine);
    old = v[2]; /* the sum of what was there before: all but the last, in any order */
    do {
        seen = old;
        old = atomic_cmpxchg(v + 2, seen, as_uint(as_float(seen) + before));
    } while (old != seen);
}

/* ---- Atomics of C11 ---- */

#define C11(T, A)                                                                                  \
    KERNEL void sync_atomic_c11_##T(global const T *a, global A *v)                                       \
    {                                                                                              \
        T x = a[I];                                                                                \
        atomic_fetch_add(v, x);                                                                    \
        atomic_fetch_sub_explicit(v + 1, x, memory_order_relaxed);                                 \
        atomic_fetch_or_explicit(v + 2, x & (T)0x1111, memory_order_acquire);                      \
        atomic_fetch_xor_explicit(v + 3, x, memory_order_release, memory_scope_device);            \
        atomic_fetch_and(v + 4, x | (T)0xff);                                                      \
        atomic_fetch_min(v + 5, x);                                                                \
        atomic_fetch_max_explicit(v + 6, x, memory_order_acq_rel,                                  \
                                  memory_scope_all_svm_devices);                                   \
        T mine = atomic_exchange(v + 7, x);                                                        \
        atomic_fetch_add(v + 8, mine);                                                             \
        T want = atomic_load_explicit(v + 9, memory_order_acquire);                                \
        while (!atomic_compare_exchange_weak(v + 9, &want, want * (T)3 + (T)1))                    \
            ;                                                                                      \
        want = atomic_load(v + 10);                                                                \
        while (!atomic_compare_exchange_strong_explicit(                                           \
            v + 10, &want, want ^ x, memory_order_acq_rel, memory_order_relaxed))                  \
            ;                                                                                      \
        if (I == 0)                                                                                \
            atomic_store_explicit(v + 11, (T)77, memory_order_release);                            \
    }
C11(int, atomic_int)
C11(uint, atomic_uint)
C11(long, atomic_long)
C11(ulong, atomic_ulong)

KERNEL void sync_c11_local(global const int *a, global int *out)
{
    local atomic_int sum, most;
    local atomic_uint bits;
    if (L == 0) {
        atomic_init(&sum, 5);
        atomic_init(&most, INT_MIN);
        atomic_store(&bits, 0u);
    }
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    atomic_fetch_add_explicit(&sum, a[I], memory_order_relaxed, memory_scope_work_group);
    atomic_fetch_max(&most, a[I]);
    atomic_fetch_or(&bits, (uint)a[I] & 0xff00ffu);
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    out[I] = atomic_load(&sum) + (atomic_load(&most) ^ (int)atomic_load(&bits));
}

/* One item of each group at a time is inside. */
KERNEL void sync_lock(global atomic_flag *lock, global int *data)
{
    if (L == 0) {
        while (atomic_flag_test_and_set_explicit(lock, memory_order_acquire))
            ;
        int x = data[0];
        data[1] = data[1] * 3 - x;
        data[0] = x + 1;
        data[1] = (data[1] + x) / 3 + 1;
        atomic_flag_clear_explicit(lock, memory_order_release);
    }
}

/* Groups pass a value on in their order. */
KERNEL void sync_chain(global atomic_int *turn, global int *value, global int *out)
{
    int group = (int)get_group_id(0);
    if (L == 0) {
        while (atomic_load_explicit(turn, memory_order_acquire) != group)
            ;
        value[0] = value[0] * 5 + group;
        out[group] = value[0];
        atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_release, memory_scope_device);
        atomic_store_explicit(turn, group + 1, memory_order_release);
    }
}

/* The group that ends last adds up what the others left. */
KERNEL void sync_last_group(global const int *a, global int *partial, global int *done,
                            global int *out)
{
    local int is_last;
    int sum = work_group_reduce_add(a[I]);
    if (L == 0) {
        partial[get_group_id(0)] = sum;
        write_mem_fence(CLK_GLOBAL_MEM_FENCE);
        is_last = atomic_inc(done) == (int)get_num_groups(0) - 1;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (is_last && L == 0) {
        read_mem_fence(CLK_GLOBAL_MEM_FENCE);
        int all = 0;
        for (uint i = 0; i < get_num_groups(0); i++)
            all += ((volatile global int *)partial)[i];
        out[0] = all;
    }
}

KERNEL void sync_histogram(global const uchar *a, global uint *out, int per_item)
{
    local uint bins[64];
    for (uint i = L; i < 64; i += N)
        bins[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < per_item; i++)
        atomic_inc(&bins[a[I * (uint)per_item + (uint)i] & 63]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = L; i < 64; i += N) {
        if (bins[i])
            atomic_add(&out[i], bins[i]);
    }
}

/* ---- Functions of the work-group ---- */

#define GROUP(T)                                                                                   \
    KERNEL void sync_group_##T(global const T *a, global T *out, int from)                         \
    {                                                                                              \
        T x = a[I];                                                                                \
        global T *o = out + I * 10;                                                                \
        o[0] = work_group_reduce_add(x);                                                           \
        o[1] = work_group_reduce_min(x);                                                           \
        o[2] = work_group_reduce_max(x);                                                           \
        o[3] = work_group_scan_inclusive_add(x);                                                   \
        o[4] = work_group_scan_exclusive_add(x);                                                   \
        o[5] = work_group_scan_inclusive_min(x);                                                   \
        o[6] = work_group_scan_exclusive_min(x);                                                   \
        o[7] = work_group_scan_inclusive_max(x);                                                   \
        o[8] = work_group_scan_exclusive_max(x);                                                   \
        o[9] = work_group_broadcast(x, (uint)from % N);                                            \
    }
GROUP(int)
GROUP(uint)
GROUP(long)
GROUP(ulong)
GROUP(float)

KERNEL void sync_group_votes(global const int *a, global int *out)
{
    int x = a[I];
    out[I] = (work_group_all(x != 0) ? 1 : 0) + (work_group_any(x < 0) ? 2 : 0) +
             (work_group_all((x & 0x40000000) == (x & 0x40000000)) ? 4 : 0) +
             (work_group_any(x == 12345) ? 8 : 0);
}

KERNEL void sync_group_2d(global const int *a, global int *out)
{
    size_t at = get_global_id(1) * get_global_size(0) + get_global_id(0);
    out[2 * at] = work_group_scan_inclusive_add(a[at]);
    out[2 * at + 1] = work_group_broadcast(a[at], get_local_size(0) - 1, get_local_size(1) / 2);
}
