/* SPDX-License-Identifier: MIT */
/*
 * Load/store cache messages as vISA writes them, one form a kernel; lsc.c says what they are. LANES: eight, sixteen
 * with registers of 64 bytes.
 */
#define KERNEL      kernel __attribute__((intel_reqd_sub_group_size(LANES)))
#define TEXT_(x)    #x
#define TEXT(x)     TEXT_(x)
#define SIMD        "(M1, " TEXT(LANES) ") "
#define I           get_global_id(0)
/* Elements of a vector type's suffix: 1 where there is none. */
#define N(V)        N_##V
#define N_          1
#define N_2         2
#define N_3         3
#define N_4         4
#define N_8         8
#define N_16        16
#define ON          (I % 5 != 1) /* lanes that take part */
#define GROUP       sub_group_broadcast((uint)I / LANES, 0)

/* ---- Vectors of lanes: `count` slots of type T ---- */

#define LOAD(name, message, T, V)                                                                  \
    KERNEL void lsc_load_##name(global const uchar *a, global const uint *at, global T *out)       \
    {                                                                                              \
        global const uchar *p = a + at[I];                                                         \
        union {                                                                                    \
            T##V v;                                                                                \
            T s[16];                                                         \
        } r = {.v = (T##V)7};                                                                      \
        if (ON) {                                                                                  \
            T##V v;                                                                                \
            __asm__ volatile("lsc_" message SIMD "%0:" name##_SHAPE " flat[%1]:a64"                \
                             : "=rw"(v)                                                            \
                             : "rw"(p));                                                           \
            r.v = v;                                                                               \
        }                                                                                          \
        for (uint c = 0; c < N(V); c++)                                        \
            out[I * (N(V)) + c] = r.s[c];                                      \
    }
#define STORE(name, message, T, V)                                                                 \
    KERNEL void lsc_store_##name(global const T##V *a, global const uint *at, global uchar *out)   \
    {                                                                                              \
        global uchar *p = out + at[I];                                                             \
        T##V v = a[I];                                                                             \
        if (ON)                                                                                    \
            __asm__ volatile("lsc_" message SIMD "flat[%0]:a64 %1:" name##_SHAPE                   \
                             :                                                                     \
                             : "rw"(p), "rw"(v));                                                  \
    }
/* In local memory, by offsets of 32 and of 16 bits, from one array into another. */
#define LOCAL(name, T, V, bits, O)                                                                 \
    KERNEL void lsc_local_##name##_a##bits(global const uchar *a, global const uint *at,           \
                                           global T *out, global uchar *stored)                    \
    {                                                                                              \
        local uchar near[64 * 64], own[64 * 64]; /* groups of up to 64 items */                    \
        uint lane = get_local_id(0);                                                               \
        for (uint c = 0; c < 64; c++) {                                                            \
            near[lane * 64 + c] = a[I * 64 + c];                                                   \
            own[lane * 64 + c] = 0x5a;                                                             \
        }                                                                                          \
        barrier(CLK_LOCAL_MEM_FENCE);                                                              \
        O from = (O)((uint)(size_t)near + at[I]), to = (O)((uint)(size_t)own + lane * 64);         \
        union {                                                                                    \
            T##V v;                                                                                \
            T s[16];                                                         \
        } r = {.v = (T##V)7};                                                                      \
        if (ON) {                                                                                  \
            T##V v;                                                                                \
            __asm__ volatile("lsc_load.slm " SIMD "%0:" name##_SHAPE " flat[%1]:a" #bits           \
                             : "=rw"(v)                                                            \
                             : "rw"(from));                                                        \
            r.v = v;                                                                               \
            __asm__ volatile("lsc_store.slm " SIMD "flat[%0]:a" #bits " %1:" name##_SHAPE          \
                             :                                                                     \
                             : "rw"(to), "rw"(v));                                                 \
        }                                                                                          \
        barrier(CLK_LOCAL_MEM_FENCE);                                                              \
        for (uint c = 0; c < N(V); c++)                                        \
            out[I * (N(V)) + c] = r.s[c];                                      \
        for (uint c = 0; c < 64; c++)                                                              \
            stored[I * 64 + c] = own[lane * 64 + c];                                               \
    }
#define d8_SHAPE      "d8"
#define d16_SHAPE     "d16"
#define d8c32_SHAPE   "d8c32"
#define d16c32_SHAPE  "d16c32"
#define d16c32h_SHAPE "d16c32h"
#define d32_SHAPE     "d32"
#define d32x2_SHAPE   "d32x2"
#define d32x3_SHAPE   "d32x3"
#define d32x4_SHAPE   "d32x4"
#define d32x8_SHAPE   "d32x8"
#define d64_SHAPE     "d64"
#define d64x2_SHAPE   "d64x2"
#define d64x3_SHAPE   "d64x3"
#define d64x4_SHAPE   "d64x4"
#define SHAPES(X)                                                                                  \
    X(d8, uchar, )                                                                                 \
    X(d16, ushort, )                                                                               \
    X(d8c32, uint, )                                                                               \
    X(d16c32, uint, )                                                                              \
    X(d16c32h, uint, )                                                                             \
    X(d32, uint, )                                                                                 \
    X(d32x2, uint, 2)                                                                              \
    X(d32x3, uint, 3)                                                                              \
    X(d32x4, uint, 4)                                                                              \
    X(d32x8, uint, 8)                                                                              \
    X(d64, ulong, )                                                                                \
    X(d64x2, ulong, 2)                                                                             \
    X(d64x3, ulong, 3)                                                                             \
    X(d64x4, ulong, 4)
#define GLOBAL(name, T, V) LOAD(name, "load.ugm ", T, V) STORE(name, "store.ugm ", T, V)
#define NEAR(name, T, V)   LOCAL(name, T, V, 32, uint) LOCAL(name, T, V, 16, ushort)
SHAPES(GLOBAL)
SHAPES(NEAR)

/* ---- Channels of quads: these loads, and stores of the first ones ---- */

#define x_SHAPE    "d32.x"
#define w_SHAPE    "d32.w"
#define xz_SHAPE   "d32.xz"
#define yzw_SHAPE  "d32.yzw"
#define xyzw_SHAPE "d32.xyzw"
#define xw64_SHAPE "d64.xw"
#define yz16_SHAPE "d16c32.yz"
#define xy_SHAPE   "d32.xy"
#define xyz_SHAPE  "d32.xyz"
LOAD(x, "load_quad.ugm ", uint, )
LOAD(w, "load_quad.ugm ", uint, )
LOAD(xz, "load_quad.ugm ", uint, 2)
LOAD(yzw, "load_quad.ugm ", uint, 3)
LOAD(xyzw, "load_quad.ugm ", uint, 4)
LOAD(xw64, "load_quad.ugm ", ulong, 2)
LOAD(yz16, "load_quad.ugm ", uint, 2)
STORE(x, "store_quad.ugm ", uint, )
STORE(xy, "store_quad.ugm ", uint, 2)
STORE(xyz, "store_quad.ugm ", uint, 3)
STORE(xyzw, "store_quad.ugm ", uint, 4)

/* ---- Other ways to say it: caches, what is not compressed, the memory of other tiles ---- */

#define streamed_SHAPE "d32x2"
#define plain_SHAPE    "d32x2"
LOAD(streamed, "load.ugm.st.ca ", uint, 2)
STORE(streamed, "store.ugm.wt.wb ", uint, 2)
STORE(plain, "store_uncompressed.ugm ", uint, 2)
#if LANES == 16
#define far_SHAPE "d32x2"
LOAD(far, "load.ugml ", uint, 2)
STORE(far, "store.ugml ", uint, 2)
#endif

/* ---- One vector over the lanes ---- */

#if LANES == 8
#define ROW_NAME(shape) lsc_row8_##shape
#else
#define ROW_NAME(shape) lsc_row16_##shape
#endif
#define TRANSPOSED(shape, T, V)                                                                    \
    KERNEL void ROW_NAME(shape)(global const uchar *a, global T *out, global uchar *stored)        \
    {                                                                                              \
        global const uchar *p = a + GROUP * 520;                                         \
        global uchar *to = stored + GROUP * 520;                                         \
        union {                                                                                    \
            T##V v;                                                                                \
            T s[16];                                                         \
        } r;                                                                                       \
        T##V v = (T##V)0;                                                                          \
        __asm__ volatile("lsc_load.ugm (M1_NM, 1) %0:" #shape " flat[%1]:a64"                      \
                         : "+rw"(v)                                                                \
                         : "rw"(p));                                                               \
        r.v = v;                                                                                   \
        for (uint c = 0; c < N(V); c++)                                        \
            out[I * (N(V)) + c] = r.s[c];                                      \
        __asm__ volatile("lsc_store.ugm (M1_NM, 1) flat[%0]:a64 %1:" #shape                        \
                         :                                                                         \
                         : "rw"(to), "rw"(v));                                                     \
    }
#if LANES == 8
#define ROWS(X)                                                                                    \
    X(d32x1t, uint, )                                                                              \
    X(d32x4t, uint, )                                                                              \
    X(d32x8t, uint, )                                                                              \
    X(d32x16t, uint, 2)                                                                            \
    X(d32x64t, uint, 8)                                                                            \
    X(d64x3t, ulong, )                                                                             \
    X(d64x32t, ulong, 4)                                                                           \
    X(d8x16t, uint, )                                                                              \
    X(d16x32t, uint, 2)
#else
#define ROWS(X)                                                                                    \
    X(d32x1t, uint, )                                                                              \
    X(d32x3t, uint, )                                                                              \
    X(d32x16t, uint, )                                                                             \
    X(d32x32t, uint, 2)                                                                            \
    X(d32x64t, uint, 4)                                                                            \
    X(d64x8t, ulong, )                                                                             \
    X(d64x64t, ulong, 4)                                                                           \
    X(d8x64t, uint, )                                                                              \
    X(d16x64t, uint, 2)
#endif
ROWS(TRANSPOSED)

/* ---- A base and a distance: those that the first lane has, which therefore takes part ---- */

#define ON_OR_FIRST (I % LANES == 0 || ON)

#define STRIDED(shape, T, V)                                                                       \
    KERNEL void lsc_strided_##shape(global const uchar *a, uint from, uint to, global T *out,      \
                                    global uchar *stored)                                          \
    {                                                                                              \
        global const uchar *p = a + GROUP * 32;                                          \
        global uchar *q = stored + GROUP * 4096;                                         \
        union {                                                                                    \
            T##V v;                                                                                \
            T s[16];                                                         \
        } r = {.v = (T##V)7};                                                                      \
        if (ON_OR_FIRST) {                                                                         \
            T##V v;                                                                                \
            __asm__ volatile("lsc_load_strided.ugm " SIMD "%0:" #shape " flat[%1, %2]:a64"         \
                             : "=rw"(v)                                                            \
                             : "rw"(p), "rw"(from));                                               \
            r.v = v;                                                                               \
            __asm__ volatile("lsc_store_strided.ugm " SIMD "flat[%0, %1]:a64 %2:" #shape           \
                             :                                                                     \
                             : "rw"(q), "rw"(to), "rw"(v));                                        \
        }                                                                                          \
        for (uint c = 0; c < N(V); c++)                                        \
            out[I * (N(V)) + c] = r.s[c];                                      \
    }
STRIDED(d32, uint, )
STRIDED(d32x3, uint, 3)
STRIDED(d64x2, ulong, 2)
STRIDED(d8c32, uint, )
STRIDED(d16, ushort, )

/* ---- Atomics: four operands each, the first of which is memory ---- */

#define ATOMIC(name, operands)                                                                     \
    KERNEL void lsc_atomic_##name(global const uint *at, global const uint *b,                     \
                                  global const uint *c, global uint *memory, global uint *old)     \
    {                                                                                              \
        global uint *p = memory + at[I];                                                           \
        uint x = b[I], y = c[I], r = 7;                                                            \
        if (ON) {                                                                                  \
            uint v;                                                                                \
            __asm__ volatile("lsc_atomic_" #name ".ugm " SIMD "%0:d32 flat[%1]:a64 " operands      \
                             : "=rw"(v)                                                            \
                             : "rw"(p), "rw"(x), "rw"(y));                                         \
            r = v;                                                                                 \
        }                                                                                          \
        old[I] = r;                                                                                \
    }
#define NONE "%%null %%null"
#define ONE  "%2 %%null"
#define BOTH "%2 %3"
ATOMIC(iinc, NONE)
ATOMIC(idec, NONE)
ATOMIC(load, NONE)
ATOMIC(store, ONE)
ATOMIC(iadd, ONE)
ATOMIC(isub, ONE)
ATOMIC(smin, ONE)
ATOMIC(smax, ONE)
ATOMIC(umin, ONE)
ATOMIC(umax, ONE)
ATOMIC(and, ONE)
ATOMIC(or, ONE)
ATOMIC(xor, ONE)
ATOMIC(icas, BOTH)

/* ... and of floats; each lane's own memory, as above. */
#define FLOAT_ATOMIC(name, T, shape, operands)                                                     \
    KERNEL void lsc_atomic_##name##_##T(global const uint *at, global const T *b,                  \
                                        global const T *c, global T *memory, global T *old)        \
    {                                                                                              \
        global T *p = memory + at[I];                                                              \
        T x = b[I], y = c[I], r = 7;                                                               \
        if (ON) {                                                                                  \
            T v;                                                                                   \
            __asm__ volatile("lsc_atomic_" #name ".ugm " SIMD "%0:" shape " flat[%1]:a64 " operands \
                             : "=rw"(v)                                                            \
                             : "rw"(p), "rw"(x), "rw"(y));                                         \
            r = v;                                                                                 \
        }                                                                                          \
        old[I] = r;                                                                                \
    }
#define FLOAT_ATOMICS(T, shape)                                                                    \
    FLOAT_ATOMIC(fadd, T, shape, ONE)                                                              \
    FLOAT_ATOMIC(fsub, T, shape, ONE)                                                              \
    FLOAT_ATOMIC(fmin, T, shape, ONE)                                                              \
    FLOAT_ATOMIC(fmax, T, shape, ONE)                                                              \
    FLOAT_ATOMIC(fcas, T, shape, BOTH)
FLOAT_ATOMICS(float, "d32")
#if LANES == 16
FLOAT_ATOMICS(double, "d64")
#endif

/* ---- Fences of every scope ---- */

KERNEL void lsc_fences(global const uint *a, global uint *out)
{
    out[I] = a[I];
    __asm__ volatile("lsc_fence.ugm.none.group");
    __asm__ volatile("lsc_fence.ugm.evict.tile");
    __asm__ volatile("lsc_fence.ugm.invalidate.gpu");
    __asm__ volatile("lsc_fence.ugm.clean.sysrel");
    __asm__ volatile("lsc_fence.ugm.discard.local");
    __asm__ volatile("lsc_fence.ugm.flushl3.gpus");
    __asm__ volatile("lsc_fence.slm.none.group");
    __asm__ volatile("lsc_fence.tgm.evict.sysacq");
    out[I] += 3;
}

/* ---- Whether pages are there: a bit for each lane that asks, in the first lane's slot ---- */

KERNEL void lsc_status(global const uchar *a, global const uint *at, global uint *out)
{
    global const uchar *p = a + at[I];
    uint bits = 7;
    if (I % LANES * 3 % 5 != 1)
        __asm__ volatile("lsc_load_status.ugm " SIMD "%0:d32x4 flat[%1]:a64" : "=rw"(bits) : "rw"(p));
    out[I] = sub_group_broadcast(bits, 0);
}

#if LANES == 8
/* ---- By binding table, by the numbers that the compiler gives the first and the fourth buffer ---- */

#define BY_TABLE(bits, T)                                                                          \
    KERNEL void lsc_table_a##bits(global const uint *a, global const uint *at, global uint2 *out,  \
                                  global uint *stored, int never)                                  \
    {                                                                                              \
        T from = at[I] * 4, to = I * 4;                                                            \
        uint2 v = (uint2)7;                                                                        \
        if (ON) {                                                                                  \
            uint2 r;                                                                               \
            __asm__ volatile("lsc_load.ugm (M1, 8) %0:d32x2 bti(0x0)[%1]:a" #bits                  \
                             : "=rw"(r)                                                            \
                             : "rw"(from));                                                        \
            __asm__ volatile("lsc_store.ugm (M1, 8) bti(0x3)[%0]:a" #bits " %1:d32"                \
                             :                                                                     \
                             : "rw"(to), "rw"(r.y));                                               \
            v = r;                                                                                 \
        }                                                                                          \
        out[I] = v;                                                                                \
        if (never)                                                                                 \
            stored[I] = a[I];                                                                      \
    }
BY_TABLE(32, uint)
BY_TABLE(64, ulong)

/* ---- Texels, by the numbers that the compiler gives these images ---- */

#ifdef IN_ORDER /* a zebin, by binding table */
#define TO   "bti(0x1)"
#define SUMS "bti(0x0)"
#else
#define TO   "bti(0x5)"
#define SUMS "bti(0x3)"
#endif

KERNEL void lsc_texels(read_only image2d_t from, write_only image2d_t to, global const int2 *at,
                       global uint4 *out)
{
    int x = at[I].x, y = at[I].y, column = get_global_id(0), row = get_image_width(from) & 1;
    uint4 v = (uint4)7;
    uint2 some;
    if (ON) {
        uint4 r;
        __asm__ volatile("lsc_load_quad.tgm (M1, 8) %0:d32.xyzw bti(0x0)[%1, %2]:a32"
                         : "=rw"(r)
                         : "rw"(x), "rw"(y));
        __asm__ volatile("lsc_store_quad.tgm (M1, 8) " TO "[%0, %1]:a32 %2:d32.xyzw"
                         :
                         : "rw"(column), "rw"(row), "rw"(r));
        v = r;
    }
    __asm__ volatile("lsc_load_quad.tgm (M1, 8) %0:d32.yw bti(0x0)[%1, %2]:a32"
                     : "=rw"(some)
                     : "rw"(x), "rw"(y));
    v.yw += some;
    out[I] = v;
    if (get_image_height(to) == 0)
        write_imageui(to, (int2)(0, 0), read_imageui(from, (int2)(0, 0)));
}

KERNEL void lsc_texel_sums(read_write image2d_t sums, global const int *at, global const uint *b)
{
    int x = at[I], y = 0;
    uint v = b[I], r;
    __asm__ volatile("lsc_atomic_iadd.tgm (M1, 8) %0:d32 " SUMS "[%1, %2]:a32 %3 %%null"
                     : "=rw"(r)
                     : "rw"(x), "rw"(y), "rw"(v));
    if (get_image_height(sums) == 0)
        write_imageui(sums, (int2)(0, 0), (uint4)r);
}
#else
/* ---- Blocks of two dimensions: every shape that fills the lanes ---- */

#define BLOCK(name, shape, T, V)                                                                   \
    KERNEL void lsc_block_##name(global const uchar *src, int width, int height, int pitch,        \
                                 int2 place, int2 step, global T *out)                             \
    {                                                                                              \
        union {                                                                                    \
            T##V v;                                                                                \
            T s[16];                                                         \
        } r;                                                                                       \
        T##V v;                                                                                    \
        int g = (int)GROUP, x = place.x + step.x * g, y = place.y + step.y * g;          \
        int w = width - 1, h = height - 1, n = pitch - 1;                                          \
        __asm__ volatile("lsc_load_block2d.ugm (M1_NM, 1) %0:" shape " flat[%1,%2,%3,%4,%5,%6]"    \
                         : "=rw"(v)                                                                \
                         : "rw"(src), "rw"(w), "rw"(h), "rw"(n), "rw"(x), "rw"(y));                \
        r.v = v;                                                                                   \
        for (uint c = 0; c < N(V); c++)                                        \
            out[I * (N(V)) + c] = r.s[c];                                      \
    }
BLOCK(d8_4x16x16nn, "d8.4x16x16nn", uint, 16)
BLOCK(d8_1x64x8nn, "d8.1x64x8nn", uint, 8)
BLOCK(d16_2x16x32nn, "d16.2x16x32nn", ulong, 16)
BLOCK(d16_1x16x32nn, "d16.1x16x32nn", ulong, 8)
BLOCK(d32_1x16x32nn, "d32.1x16x32nn", ulong, 16)
BLOCK(d64_1x8x16nn, "d64.1x8x16nn", uint, 16)
BLOCK(d16_2x16x32nt, "d16.2x16x32nt", ulong, 16)
BLOCK(d8_4x16x32nt, "d8.4x16x32nt", ulong, 16)
BLOCK(d32_1x8x16tn, "d32.1x8x16tn", uint, 8)
BLOCK(d64_1x4x8tn, "d64.1x4x8tn", uint, 4)
#endif
