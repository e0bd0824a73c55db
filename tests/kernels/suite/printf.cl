/* SPDX-License-Identifier: MIT */
#ifdef SIMD
#define KERNEL __attribute__((intel_reqd_sub_group_size(SIMD))) kernel
#else
#define KERNEL kernel
#endif
#define I get_global_id(0)
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

/* printf: each line begins with its item, as the order of items is not defined. */

KERNEL void printf_integers(global const int *a, global const long *b)
{
    int v = a[I];
    long w = b[I];
    printf("%d integers [%d] [%i] [%u] [%o] [%x] [%X]\n", (int)I, v, v, v, v, v, v);
    printf("%d flags [%+d] [% d] [%#x] [%#o] [%08d] [%-12d] [%12.7d] [%.3d] [%+-8d]\n", (int)I, v, v,
           v, v, v, v, v, v, v);
    printf("%d long [%ld] [%li] [%lu] [%lx] [%#lX] [%lo] [%24ld] [%-24ld]\n", (int)I, w, w, w, w, w,
           w, w, w);
}

KERNEL void printf_lengths(global const int *a)
{
    int v = a[I];
    char c = (char)v;
    short s = (short)v;
    printf("%d lengths [%hhd] [%hhu] [%hhx] [%hd] [%hu] [%hX]\n", (int)I, c, (uchar)c, (uchar)c, s,
           (ushort)s, (ushort)s);
    printf("%d promoted [%d] [%u] [%x] [%d] [%u]\n", (int)I, c, c, c, s, s);
    printf("%d cut [%hhd] [%hhu] [%hhx] [%hd] [%hu] [%ho]\n", (int)I, v, v, v, v, v, v);
    printf("%d mixed %c%c%c [%3c] [%-3c] %ld %d\n", (int)I, 'a' + (v & 15), 'B', '%', 'x', 'y',
           (long)v << 20, 7);
}

#ifdef cl_khr_fp64
#define REAL double
#define REAL4 double4
#else
#define REAL float
#define REAL4 float4
#endif

KERNEL void printf_floats(global const float *a, global const REAL *b)
{
    float x = a[I];
    REAL y = b[I];
    printf("%d floats [%f] [%e] [%g] [%a]\n", (int)I, x, x, x, x);
    printf("%d capitals [%F] [%E] [%G] [%A]\n", (int)I, x, x, x, x);
#ifdef cl_khr_fp64
    printf("%d doubles [%f] [%.15e] [%.17g] [%a]\n", (int)I, y, y, y, y);
#endif
    printf("%d shaped [%+.2f] [% 12.3e] [%-12.1f] [%012.4f] [%#.0f] [%.0f]\n", (int)I, x, x, x, x, x,
           y);
}

KERNEL void printf_vectors(global const int16 *a, global const float16 *b, global const REAL4 *c)
{
    int16 v = a[I];
    float16 x = b[I];
    printf("%d int [%v2hld] [%v3hlx] [%v4hlu] [%v8hld] [%v16hli]\n", (int)I, v.s01, v.s012, v.lo.lo,
           v.lo, v);
    printf("%d short [%v2hd] [%v4hu] [%v8hx] char [%v4hhd] [%v16hhu] [%v3hhx]\n", (int)I,
           convert_short2(v.s01), convert_ushort4(v.lo.lo), convert_ushort8(v.lo),
           convert_char4(v.lo.lo), convert_uchar16(v), convert_uchar3(v.s123));
    printf("%d long [%v2ld] [%v4lx]\n", (int)I, convert_long2(v.s01) << 10,
           convert_ulong4(v.lo.lo));
    printf("%d float [%v2hlf] [%v4hlg] [%.2v8hle] [%.1v16hlf] [%+8.3v4hlf]\n", (int)I, x.s01, x.lo.lo,
           x.lo, x, x.hi.hi);
#ifdef cl_khr_fp64
    printf("%d double [%v2lf] [%v4la]\n", (int)I, c[I].xy, c[I]);
#endif
}

KERNEL void printf_strings(global const int *a)
{
    int v = a[I];
    printf("%d strings [%s] [%8s] [%-8s] [%.2s] [%5.1s] 100%%%s\n", (int)I, "plain", "right", "left",
           "cut off", "cut", "!");
    printf("%d choice %s%s\n", (int)I, v & 1 ? "odd" : "even", v & 2 ? ", second bit" : "");
    if (I == 0) {
        printf("nothing but text\n");
        printf("a line in ");
        printf("%s", "several ");
        printf("%d%s\n", 2 + 2, " parts");
        printf("tab\there, \"quotes\", a \\ and\ntwo lines\n");
        printf("%%d is not a conversion, %s is a string\n", "%d");
        printf("\n");
    }
}

KERNEL void printf_pointers(global int *a, local int *b)
{
    printf("%d pointers [%p] [%24p] %d\n", (int)I, a + I, a, b != 0);
}

void report(int item, float value, constant char *what)
{
    printf("%d reports %s, %.3f\n", item, what, value);
}

KERNEL void printf_divergent(global const int *a)
{
    int v = a[I];
    switch (v & 3) {
    case 0:
        printf("%d takes the first way\n", (int)I);
        break;
    case 1:
        for (int i = 0; i < (v >> 2 & 7); i++)
            printf("%d goes round, time %d of %d\n", (int)I, i, v >> 2 & 7);
        break;
    case 2:
        if (v & 4)
            report((int)I, v * 0.5f, "from afar");
        else
            report((int)I, v * 0.25f, "from here");
    default:
        printf("%d ends at %ld\n", (int)I, (long)v * v);
    }
}

KERNEL void printf_groups(global const int *a)
{
    local int sum;
    if (get_local_id(0) == 0)
        sum = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&sum, a[I] & 0xffff);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == get_local_size(0) - 1)
        printf("group %d sums to %d; %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d\n",
               (int)get_group_id(0), sum, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
}

/* More than the buffer takes: what is printed is whole. */
KERNEL void printf_overflow(global uint *out)
{
    ulong16 v = I;
    printf("%d fills %v16lu\n", (int)I, v);
    printf("%d again %v16lx\n", (int)I, v);
    out[I] = (uint)I + 1;
}
