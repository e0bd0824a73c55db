/* SPDX-License-Identifier: MIT */
#ifdef SIMD
#define KERNEL __attribute__((intel_reqd_sub_group_size(SIMD))) kernel
#else
#define KERNEL kernel
#endif

/* Integers of every width: arithmetic, division, shifts, built-in functions, vectors, bit-fields. */

#define I get_global_id(0)

/* The compiler's library has mad_sat of long wrong, e.g. for (2, 0x25d233c22d72cdbe, 2^62). */
#define MAD_SAT_char   mad_sat
#define MAD_SAT_uchar  mad_sat
#define MAD_SAT_short  mad_sat
#define MAD_SAT_ushort mad_sat
#define MAD_SAT_int    mad_sat
#define MAD_SAT_uint   mad_sat
#define MAD_SAT_long   bitselect
#define MAD_SAT_ulong  mad_sat

#define BASIC(T)                                                                                   \
    KERNEL void basic_##T(global const T *a, global const T *b, global T *out)                     \
    {                                                                                              \
        T x = a[I], y = b[I];                                                                      \
        global T *o = out + I * 12;                                                                \
        o[0] = (T)(x + y);                                                                         \
        o[1] = (T)(x - y);                                                                         \
        o[2] = (T)(x * y);                                                                         \
        o[3] = (T)(x & y);                                                                         \
        o[4] = (T)(x | ~y);                                                                        \
        o[5] = (T)(x ^ y);                                                                         \
        o[6] = (T)(x << (y & 7));                                                                  \
        o[7] = (T)(x >> (y & 7));                                                                  \
        o[8] = (T)(-x);                                                                            \
        o[9] = x < y ? x : y;                                                                      \
        o[10] = (T)(x == y) + (T)(x <= y) * (T)2 + (T)(x != (T)5) * (T)4;                          \
        o[11] = (T)((x << (y & (T)(sizeof(T) * 8 - 1))) ^ (y >> (x & (T)(sizeof(T) * 8 - 1))));    \
    }

#define DIVIDE(T)                                                                                  \
    KERNEL void divide_##T(global const T *a, global const T *b, global T *out)                    \
    {                                                                                              \
        T x = a[I], y = b[I];                                                                      \
        if (y == 0 || y == (T)-1)                                                                  \
            y = 3;                                                                                 \
        global T *o = out + I * 6;                                                                 \
        o[0] = x / y;                                                                              \
        o[1] = x % y;                                                                              \
        o[2] = x / (T)7;                                                                           \
        o[3] = x % (T)10;                                                                          \
        o[4] = x / (T)16;                                                                          \
        o[5] = x % (T)16;                                                                          \
    }

#define FUNCTION(T, U)                                                                             \
    KERNEL void function_##T(global const T *a, global const T *b, global const T *c,              \
                             global T *out)                                                        \
    {                                                                                              \
        T x = a[I], y = b[I], z = c[I];                                                            \
        global T *o = out + I * 14;                                                                \
        o[0] = add_sat(x, y);                                                                      \
        o[1] = sub_sat(x, y);                                                                      \
        o[2] = hadd(x, y);                                                                         \
        o[3] = rhadd(x, y);                                                                        \
        o[4] = mul_hi(x, y);                                                                       \
        o[5] = mad_hi(x, y, z);                                                                    \
        o[6] = rotate(x, y);                                                                       \
        o[7] = clz(x);                                                                             \
        o[8] = popcount(x);                                                                        \
        o[9] = (T)abs_diff(x, y);                                                                  \
        o[10] = (T)abs(x);                                                                         \
        o[11] = clamp(x, min(y, z), max(y, z));                                                    \
        o[12] = bitselect(x, y, z);                                                                \
        o[13] = MAD_SAT_##T(x, y, z);                                                               \
    }

#define ALL(T, U) BASIC(T) DIVIDE(T) FUNCTION(T, U)

ALL(char, uchar)
ALL(uchar, uchar)
ALL(short, ushort)
ALL(ushort, ushort)
ALL(int, uint)
ALL(uint, uint)
ALL(long, ulong)
ALL(ulong, ulong)

/* Every conversion between integers, with and without saturation. */
#define FROM(T)                                                                                    \
    KERNEL void convert_##T(global const T *a, global char *c, global uchar *uc, global short *s,  \
                            global ushort *us, global int *i, global uint *ui, global long *l,     \
                            global ulong *ul)                                                      \
    {                                                                                              \
        T x = a[I];                                                                                \
        c[2 * I] = convert_char(x), c[2 * I + 1] = convert_char_sat(x);                            \
        uc[2 * I] = convert_uchar(x), uc[2 * I + 1] = convert_uchar_sat(x);                        \
        s[2 * I] = convert_short(x), s[2 * I + 1] = convert_short_sat(x);                          \
        us[2 * I] = convert_ushort(x), us[2 * I + 1] = convert_ushort_sat(x);                      \
        i[2 * I] = convert_int(x), i[2 * I + 1] = convert_int_sat(x);                              \
        ui[2 * I] = convert_uint(x), ui[2 * I + 1] = convert_uint_sat(x);                          \
        l[2 * I] = convert_long(x), l[2 * I + 1] = convert_long_sat(x);                            \
        ul[2 * I] = convert_ulong(x), ul[2 * I + 1] = convert_ulong_sat(x);                        \
    }
FROM(char)
FROM(uchar)
FROM(short)
FROM(ushort)
FROM(int)
FROM(uint)
FROM(long)
FROM(ulong)

KERNEL void mul24_mad24(global const int *a, global const int *b, global int *out)
{
    int x = a[I] >> 8, y = b[I] >> 8;
    uint ux = (uint)a[I] >> 8, uy = (uint)b[I] >> 8;
    out[4 * I] = mul24(x & 0x7ff, y);
    out[4 * I + 1] = mad24(x & 0xfff, y & 0xfff, a[I]);
    out[4 * I + 2] = (int)mul24(ux & 0xff, uy);
    out[4 * I + 3] = (int)mad24(ux & 0xfff, uy & 0xfff, (uint)b[I]);
}

/* uint a:3; int b:7; uint c:12; int d:10, as a compiler lays them out. */
KERNEL void bit_fields(global uint *f, global int *out)
{
    uint x = f[I];
    int a = (int)(x & 7), b = (int)(x << 22) >> 25, c = (int)(x >> 10 & 0xfff), d = (int)x >> 22;
    out[I] = a + b * 3 + c * 5 + d * 7;
    a += 1;
    b = ((b - 5) << 25) >> 25;
    c ^= 0x5a5;
    d = b + d;
    f[I] = (a & 7) | (b & 0x7f) << 3 | (c & 0xfff) << 10 | (uint)(d & 0x3ff) << 22;
}

KERNEL void vectors(global const uchar *a, global const short *b, global int *out)
{
    uchar4 x = vload4(I, a);
    short8 y = vload8(I, b);
    int4 lo = convert_int4(x) * convert_int4(y.lo);
    int4 hi = convert_int4(y.s7531) - convert_int4(x.wzyx);
    int8 both = (int8)(lo, hi.s0123);
    both.even += both.odd;
    vstore8(both, I, out);
}

KERNEL void multiply_wide(global const int *a, global const int *b, global long *out)
{
    out[3 * I] = (long)a[I] * b[I];
    out[3 * I + 1] = (long)((ulong)(uint)a[I] * (uint)b[I]);
    out[3 * I + 2] = (long)a[I] * (uint)b[I] + (long)b[I];
}

/* Carries over 128 bits. */
KERNEL void add_128(global const ulong *a, global const ulong *b, global ulong *out)
{
    ulong lo = a[2 * I] + b[2 * I];
    ulong carry = lo < a[2 * I];
    ulong hi = a[2 * I + 1] + b[2 * I + 1] + carry;
    ulong low = a[2 * I] - b[2 * I];
    ulong borrow = a[2 * I] < b[2 * I];
    out[4 * I] = lo;
    out[4 * I + 1] = hi;
    out[4 * I + 2] = low;
    out[4 * I + 3] = a[2 * I + 1] - b[2 * I + 1] - borrow;
}

KERNEL void integer_mix(global const uint *a, global uint *out, int rounds)
{
    uint h = a[I];
    for (int i = 0; i < rounds; i++) {
        h ^= h >> 16;
        h *= 0x85ebca6bu;
        h ^= h >> 13;
        h *= 0xc2b2ae35u;
        h ^= h >> 16;
        h += rotate(h, 5u) + (uint)i;
    }
    out[I] = h;
}
