/* SPDX-License-Identifier: MIT */
/*
 * What the programs of random_kernels.py are written in: OpenCL C for a device, plain C for the
 * reference. A program is one source for both; everything that the languages write differently is a
 * macro here, and whatever C leaves undefined (overflow of signed integers, shifts by too much,
 * quotients by zero) is done without it. A kernel is a row of steps: on a device a work-item does
 * them one after the other with barriers between, in C each step is done for all work-items of a
 * group.
 */
#define INTEGERS(X)                                                                                \
    X(char, uchar, 8)                                                                              \
    X(uchar, uchar, 8)                                                                             \
    X(short, ushort, 16)                                                                           \
    X(ushort, ushort, 16)                                                                          \
    X(int, uint, 32)                                                                               \
    X(uint, uint, 32)                                                                              \
    X(long, ulong, 64)                                                                             \
    X(ulong, ulong, 64)

/* 64 bits in local memory, which some programs have. */
#ifdef WIDES
#define WIDES_OF(where) where ulong wides[WIDES];
#define WIDES_BEGIN(first, step)                                                                   \
    for (uint i = first; i < WIDES; i += step)                                                     \
        wides[i] = i * 0x123456789abul;
#else
#define WIDES_OF(where)
#define WIDES_BEGIN(first, step)
#endif

#ifdef __OPENCL_VERSION__
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#ifdef DOUBLES
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#pragma OPENCL EXTENSION cl_intel_subgroups : enable
#pragma OPENCL EXTENSION cl_khr_subgroup_ballot : enable
#pragma OPENCL FP_CONTRACT OFF
#ifdef WIDES
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
#endif

#define ONE(name, T)                                                                               \
    static T name##_##T(T a)                                                                       \
    {                                                                                              \
        return name(a);                                                                            \
    }
#define TWO(name, T)                                                                               \
    static T name##_##T(T a, T b)                                                                  \
    {                                                                                              \
        return name(a, b);                                                                         \
    }
#define THREE(name, T)                                                                             \
    static T name##_##T(T a, T b, T c)                                                             \
    {                                                                                              \
        return name(a, b, c);                                                                      \
    }
#if __OPENCL_C_VERSION__ >= 200
#define COUNT_LOW(T) ONE(ctz, T)
#else
#define COUNT_LOW(T)
#endif
/* clang-format off */
#define OF_ONE_TYPE(T)                                                                             \
    ONE(popcount, T) ONE(clz, T) COUNT_LOW(T) TWO(add_sat, T) TWO(sub_sat, T) TWO(hadd, T)         \
    TWO(rhadd, T) TWO(mul_hi, T) TWO(min, T) TWO(max, T) TWO(rotate, T) THREE(bitselect, T)
/* clang-format on */
#define FUNCTIONS(T, U, BITS)                                                                      \
    OF_ONE_TYPE(T)                                                                                 \
    static U abs_##T(T a)                                                                          \
    {                                                                                              \
        return abs(a);                                                                             \
    }                                                                                              \
    static U abs_diff_##T(T a, T b)                                                                \
    {                                                                                              \
        return abs_diff(a, b);                                                                     \
    }                                                                                              \
    static T sat_##T(long a)                                                                       \
    {                                                                                              \
        return convert_##T##_sat(a);                                                               \
    }                                                                                              \
    static T satf_##T(float a)                                                                     \
    {                                                                                              \
        return convert_##T##_sat(a);                                                               \
    }
INTEGERS(FUNCTIONS)

#define VEC(V, ...)           ((V)(__VA_ARGS__))
#define AS(V, v)              as_##V(v)
#define CONVERT(V, v)         convert_##V(v)
#define SWIZZLE(v, s, ...)    ((v).s)
#define VLOAD(T, N, i, p)     vload##N(i, p)
#define VSTORE(T, N, v, i, p) vstore##N(v, i, p)
/* all NaNs alike; as integers, since unoptimised code of IGC 1.0.12504 has xor of floats otherwise
 */
#define BITS_OF(name, T, U, INFINITE, NOT_A_NUMBER)                                                \
    static U name(T f)                                                                             \
    {                                                                                              \
        U u = as_##U(f);                                                                           \
        return (u & (U)(((U) ~(U)0) >> 1)) > (U)INFINITE ? (U)NOT_A_NUMBER : u;                    \
    }
BITS_OF(FLOAT_BITS, float, uint, 0x7f800000u, 0x7fc00000u)
BITS_OF(HALF_BITS, half, ushort, 0x7c00, 0x7e00)
#ifdef DOUBLES
BITS_OF(DOUBLE_BITS, double, ulong, 0x7ff0000000000000ul, 0x7ff8000000000000ul)
#endif
#define FLOAT_OF(u) as_float(u)
#define NOINLINE    __attribute__((noinline))

#define EACH(...)                                                                                  \
    __VA_ARGS__;                                                                                   \
    barrier(CLK_LOCAL_MEM_FENCE);
#ifdef SUBGROUP
#define SIZED __attribute__((intel_reqd_sub_group_size(SUBGROUP)))
#else
#define SIZED
#endif
#define KERNEL                                                                                     \
    SIZED kernel void random_kernel(global const uint *in, global ulong *out, uint bound,          \
                                    MORE_ARGS)                                                     \
    {                                                                                              \
        struct state own, *s = &own;                                                               \
        local ulong even[GROUP * ROOM], odd[GROUP * ROOM];                                         \
        local uint sums[SUMS];                                                                     \
        WIDES_OF(local)                                                                            \
        uint lid = get_local_id(0), gid = get_global_id(0);                                        \
        for (uint i = lid; i < SUMS; i += GROUP)                                                   \
            sums[i] = i * 77;                                                                      \
        WIDES_BEGIN(lid, GROUP)
#define KERNEL_END              }
#define ADD_TO(p, v)            atomic_add(p, v)
#define XOR_TO(p, v)            atomic_xor(p, v)
#define OR_TO(p, v)             atomic_or(p, v)
#define AND_TO(p, v)            atomic_and(p, v)
#define MIN_TO(p, v)            atomic_min(p, v)
#define MAX_TO(p, v)            atomic_max(p, v)
#define ADD_WIDE(p, v)          atom_add(p, v)
#define XOR_WIDE(p, v)          atom_xor(p, v)
#define OR_WIDE(p, v)           atom_or(p, v)
#define AND_WIDE(p, v)          atom_and(p, v)
#define MIN_WIDE(p, v)          atom_min(p, v)
#define MAX_WIDE(p, v)          atom_max(p, v)
#define SUB_REDUCE(T, f, op)    s->f = sub_group_reduce_##op(s->f);
#define SUB_SCAN(T, f, op)      s->f = sub_group_scan_inclusive_##op(s->f);
#define SUB_EXCLUSIVE(T, f, op) s->f = sub_group_scan_exclusive_##op(s->f);
#define SUB_SHUFFLE(T, f, i)    s->f = intel_sub_group_shuffle(s->f, (uint)(s->i) % SUBGROUP);
#define SUB_XOR(T, f, k)        s->f = intel_sub_group_shuffle_xor(s->f, k);
#define SUB_BROADCAST(T, f, k)  s->f = sub_group_broadcast(s->f, k);
#define SUB_UP(T, f, k)         s->f = intel_sub_group_shuffle_up(s->f, s->f, (uint)k);
#define SUB_DOWN(T, f, k)       s->f = intel_sub_group_shuffle_down(s->f, s->f, (uint)k);
#define SUB_READ(T, f, k)       s->f ^= intel_sub_group_block_read(in + k);
#define SUB_READ2(T, f, k)                                                                         \
    {                                                                                              \
        uint2 two = intel_sub_group_block_read2(in + k);                                           \
        s->f = two.x * 3 ^ two.y;                                                                  \
    }
#define SUB_ANY(T, f, k)                                                                           \
    s->f = sub_group_any((int)(s->f >> k & 1)) * 5 + sub_group_all((int)(s->f >> k & 1));

#else /* plain C */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#undef isnan
#define isnan(f) __builtin_isnan(f)
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned uint;
typedef unsigned long ulong;
typedef _Float16 half;
typedef __int128 wide;
#define kernel
#define global
#define local
#define constant static const
#define NOINLINE
#define WIDTH_1(T, N, M) typedef T T##N __attribute__((vector_size(M * sizeof(T))));
#define WIDTHS(T)                                                                                  \
    WIDTH_1(T, 2, 2) WIDTH_1(T, 3, 4) WIDTH_1(T, 4, 4) WIDTH_1(T, 8, 8) WIDTH_1(T, 16, 16)
#define ACCESS(T, N)                                                                               \
    static T##N vload##N##_##T(size_t i, const T *p)                                               \
    {                                                                                              \
        T##N v = {0};                                                                              \
        memcpy(&v, p + N * i, N * sizeof(T));                                                      \
        return v;                                                                                  \
    }                                                                                              \
    static void vstore##N##_##T(T##N v, size_t i, T *p)                                            \
    {                                                                                              \
        memcpy(p + N * i, &v, N * sizeof(T));                                                      \
    }
#define ACCESSES(T)         ACCESS(T, 2) ACCESS(T, 3) ACCESS(T, 4) ACCESS(T, 8) ACCESS(T, 16)
#define VECTORS(T, U, BITS) WIDTHS(T) ACCESSES(T)
INTEGERS(VECTORS)
VECTORS(float, , )

static wide clamped(wide v, wide low, wide high)
{
    return v < low ? low : v > high ? high : v;
}
static double clampedf(double v, wide low, wide high)
{
    return v != v ? 0 : v < (double)low ? (double)low : v > (double)high ? (double)high : v;
}
#define LOW(T, BITS)        ((T)-1 < (T)1 ? -((wide)1 << (BITS - 1)) : 0)
#define HIGH(T, BITS)       (((wide)1 << (BITS - ((T)-1 < (T)1))) - 1)
#define FUNCTIONS(T, U, BITS)                                                                      \
    static T popcount_##T(T a)                                                                     \
    {                                                                                              \
        return (T)__builtin_popcountl((U)a);                                                       \
    }                                                                                              \
    static T clz_##T(T a)                                                                          \
    {                                                                                              \
        return (T)(a ? __builtin_clzl((U)a) - (64 - BITS) : BITS);                                 \
    }                                                                                              \
    static T ctz_##T(T a)                                                                          \
    {                                                                                              \
        return (T)(a ? __builtin_ctzl((U)a) : BITS);                                               \
    }                                                                                              \
    static T add_sat_##T(T a, T b)                                                                 \
    {                                                                                              \
        return (T)clamped((wide)a + b, LOW(T, BITS), HIGH(T, BITS));                               \
    }                                                                                              \
    static T sub_sat_##T(T a, T b)                                                                 \
    {                                                                                              \
        return (T)clamped((wide)a - b, LOW(T, BITS), HIGH(T, BITS));                               \
    }                                                                                              \
    static T hadd_##T(T a, T b)                                                                    \
    {                                                                                              \
        return (T)(((wide)a + b) >> 1);                                                            \
    }                                                                                              \
    static T rhadd_##T(T a, T b)                                                                   \
    {                                                                                              \
        return (T)(((wide)a + b + 1) >> 1);                                                        \
    }                                                                                              \
    static T mul_hi_##T(T a, T b)                                                                  \
    {                                                                                              \
        return (T)((T)-1 < (T)1 ? (wide)a * b >> BITS                                              \
                                : (wide)((unsigned __int128)a * (unsigned __int128)b >> BITS));    \
    }                                                                                              \
    static T min_##T(T a, T b)                                                                     \
    {                                                                                              \
        return b < a ? b : a;                                                                      \
    }                                                                                              \
    static T max_##T(T a, T b)                                                                     \
    {                                                                                              \
        return a < b ? b : a;                                                                      \
    }                                                                                              \
    static T rotate_##T(T a, T b)                                                                  \
    {                                                                                              \
        uint by = (uint)b % BITS;                                                                  \
        return by ? (T)((ulong)(U)a << by | (U)a >> (BITS - by)) : a;                              \
    }                                                                                              \
    static T bitselect_##T(T a, T b, T c)                                                          \
    {                                                                                              \
        return (T)((a & ~c) | (b & c));                                                            \
    }                                                                                              \
    static U abs_##T(T a)                                                                          \
    {                                                                                              \
        return (U)(a < (T)1 ? -(wide)a : (wide)a);                                                 \
    }                                                                                              \
    static U abs_diff_##T(T a, T b)                                                                \
    {                                                                                              \
        return (U)(a > b ? (wide)a - b : (wide)b - a);                                             \
    }                                                                                              \
    static T sat_##T(long a)                                                                       \
    {                                                                                              \
        return (T)clamped(a, LOW(T, BITS), HIGH(T, BITS));                                         \
    }                                                                                              \
    static T satf_##T(float a)                                                                     \
    {                                                                                              \
        return a >= (float)HIGH(T, BITS) ? (T)HIGH(T, BITS)                                        \
                                         : (T)(wide)clampedf(a, LOW(T, BITS), HIGH(T, BITS));      \
    }
INTEGERS(FUNCTIONS)

#define fma(a, b, c)          _Generic((a), double : fma, default : fmaf)(a, b, c)
#define sqrt(a)               _Generic((a), double : sqrt, default : sqrtf)(a)
#define floor(a)              _Generic((a), double : floor, default : floorf)(a)
#define rint(a)               _Generic((a), double : rint, default : rintf)(a)
#define trunc(a)              _Generic((a), double : trunc, default : truncf)(a)
#define fabs(a)               _Generic((a), double : fabs, default : fabsf)(a)
#define VEC(V, ...)           ((V){__VA_ARGS__})
#define AS(V, v)              ((V)(v))
#define CONVERT(V, v)         __builtin_convertvector(v, V)
#define SWIZZLE(v, s, ...)    __builtin_shufflevector(v, v, __VA_ARGS__)
#define VLOAD(T, N, i, p)     vload##N##_##T(i, p)
#define VSTORE(T, N, v, i, p) vstore##N##_##T(v, i, p)
static uint float_bits(float f)
{
    uint u;
    memcpy(&u, &f, 4);
    return f != f ? 0x7fc00000u : u;
}
static ushort half_bits(half f)
{
    ushort u;
    memcpy(&u, &f, 2);
    return f != f ? 0x7e00 : u;
}
static ulong double_bits(double f)
{
    ulong u;
    memcpy(&u, &f, 8);
    return f != f ? 0x7ff8000000000000ul : u;
}
static float float_of(uint u)
{
    float f;
    memcpy(&f, &u, 4);
    return f;
}
#define FLOAT_BITS(f)         float_bits(f)
#define HALF_BITS(f)          half_bits(f)
#define DOUBLE_BITS(f)        double_bits(f)
#define FLOAT_OF(u)           float_of(u)

#define EACH(...)                                                                                  \
    for (uint lid = 0; lid < GROUP; lid++) {                                                       \
        struct state *s = &states[lid];                                                            \
        uint gid = group * GROUP + lid;                                                            \
        (void)gid;                                                                                 \
        __VA_ARGS__;                                                                               \
    }
#define KERNEL                                                                                     \
    static void one_group(uint group, const uint *in, ulong *out, uint bound, MORE_ARGS)           \
    {                                                                                              \
        static struct state states[GROUP];                                                         \
        static ulong even[GROUP * ROOM], odd[GROUP * ROOM];                                        \
        static uint sums[SUMS];                                                                    \
        WIDES_OF(static)                                                                           \
        for (uint i = 0; i < SUMS; i++)                                                            \
            sums[i] = i * 77;                                                                      \
        WIDES_BEGIN(0, 1)
#define KERNEL_END                                                                                 \
    }                                                                                              \
    void random_kernel(uint groups, const uint *in, ulong *out, uint bound, const void **more)     \
    {                                                                                              \
        for (uint group = 0; group < groups; group++)                                              \
            one_group(group, in, out, bound, MORE_VALUES);                                         \
    }
#define ADD_TO(p, v)   (*(p) += (v))
#define XOR_TO(p, v)   (*(p) ^= (v))
#define OR_TO(p, v)    (*(p) |= (v))
#define AND_TO(p, v)   (*(p) &= (v))
#define MIN_TO(p, v)   (*(p) = min_uint(*(p), v))
#define MAX_TO(p, v)   (*(p) = max_uint(*(p), v))
#define ADD_WIDE(p, v) (*(p) += (v))
#define XOR_WIDE(p, v) (*(p) ^= (v))
#define OR_WIDE(p, v)  (*(p) |= (v))
#define AND_WIDE(p, v) (*(p) &= (v))
#define MIN_WIDE(p, v) (*(p) = min_ulong(*(p), v))
#define MAX_WIDE(p, v) (*(p) = max_ulong(*(p), v))
/* Lanes are work-items in their order, as many as the kernel asks for. */
#define SUB_EACH(T, f, ...)                                                                        \
    for (uint first = 0; first < GROUP; first += SUBGROUP) {                                       \
        struct state *lanes = states + first;                                                      \
        T old[SUBGROUP], so_far = 0;                                                               \
        for (uint i = 0; i < SUBGROUP; i++)                                                        \
            old[i] = lanes[i].f;                                                                   \
        (void)old, (void)so_far;                                                                   \
        __VA_ARGS__                                                                                \
    }
#define LANES           for (uint i = 0; i < SUBGROUP; i++)
#define add_of(T, a, b) (T)((ulong)(a) + (ulong)(b))
#define min_of(T, a, b) ((b) < (a) ? (b) : (a))
#define max_of(T, a, b) ((a) < (b) ? (b) : (a))
#define SUB_REDUCE(T, f, op)                                                                       \
    SUB_EACH(T, f, so_far = old[0];                                                                \
             for (uint i = 1; i < SUBGROUP; i++) so_far = op##_of(T, so_far, old[i]);              \
             LANES lanes[i].f = so_far;)
#define SUB_SCAN(T, f, op)                                                                         \
    SUB_EACH(T, f, so_far = old[0]; lanes[0].f = so_far;                                           \
             for (uint i = 1; i < SUBGROUP; i++) lanes[i].f = so_far =                             \
                 op##_of(T, so_far, old[i]);)
#define LEAST(T)     (T)((T)-1 < (T)1 ? (ulong)1 << (8 * sizeof(T) - 1) : 0)
#define first_add(T) 0
#define first_min(T) (T) ~LEAST(T)
#define first_max(T) LEAST(T)
#define SUB_EXCLUSIVE(T, f, op)                                                                    \
    SUB_EACH(                                                                                      \
        T, f, so_far = first_##op(T); LANES {                                                      \
            lanes[i].f = so_far;                                                                   \
            so_far = op##_of(T, so_far, old[i]);                                                   \
        })
#define SUB_SHUFFLE(T, f, k)                                                                       \
    SUB_EACH(T, f, uint from[SUBGROUP]; LANES from[i] = (uint)lanes[i].k % SUBGROUP;               \
             LANES lanes[i].f = old[from[i]];)
#define SUB_XOR(T, f, k)       SUB_EACH(T, f, LANES lanes[i].f = old[i ^ k];)
#define SUB_BROADCAST(T, f, k) SUB_EACH(T, f, LANES lanes[i].f = old[k];)
/* What comes in at an end is what went out at the other: both operands are the same. */
#define SUB_UP(T, f, k)        SUB_EACH(T, f, LANES lanes[i].f = old[(i + SUBGROUP - k) % SUBGROUP];)
#define SUB_DOWN(T, f, k)      SUB_EACH(T, f, LANES lanes[i].f = old[(i + k) % SUBGROUP];)
#define SUB_READ(T, f, k)      SUB_EACH(T, f, LANES lanes[i].f ^= in[k + i];)
#define SUB_READ2(T, f, k)     SUB_EACH(T, f, LANES lanes[i].f = in[k + i] * 3 ^ in[k + SUBGROUP + i];)
#define SUB_ANY(T, f, k)                                                                           \
    SUB_EACH(                                                                                      \
        T, f, int any = 0, all = 1; LANES {                                                        \
            any |= (int)(old[i] >> k & 1);                                                         \
            all &= (int)(old[i] >> k & 1);                                                         \
        } LANES lanes[i]                                                                           \
                                        .f = (T)(any * 5 + all);)
#endif
