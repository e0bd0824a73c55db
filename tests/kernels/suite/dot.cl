/* SPDX-License-Identifier: MIT */
/* Dot products of four bytes, by the compiler's own names: one instruction each (dp4a). */
int __builtin_IB_dp4a_ss(int, int, int, bool);
int __builtin_IB_dp4a_uu(int, int, int, bool);
int __builtin_IB_dp4a_su(int, int, int, bool);
int __builtin_IB_dp4a_us(int, int, int, bool);

kernel void dot_bytes(global const int *a, global const int *b, global int *c)
{
    size_t i = get_global_id(0);
    int x = a[i], y = b[i], z = c[4 * i];
    c[4 * i] = __builtin_IB_dp4a_ss(z, x, y, false);
    c[4 * i + 1] = __builtin_IB_dp4a_uu(z, x, y, false);
    c[4 * i + 2] = __builtin_IB_dp4a_su(z, x, y, false);
    c[4 * i + 3] = __builtin_IB_dp4a_us(z, x, y, false);
}

kernel void dot_long(global const int *a, global const int *b, global int *c, int n)
{
    size_t i = get_global_id(0);
    int sum = c[i];
    for (int k = 0; k < n; k++)
        sum = __builtin_IB_dp4a_ss(sum, a[i + k], b[k], false);
    c[i] = sum;
}

/* In plain C, which the compiler makes the same instruction of: with sums that are numbers or none. */
#define PRODUCTS(x, y) (x.s0 * y.s0 + x.s1 * y.s1 + x.s2 * y.s2 + x.s3 * y.s3)
kernel void dot_plain(global const int *a, global const int *b, global int *c)
{
    size_t i = get_global_id(0);
    char4 x = as_char4(a[i]), y = as_char4(b[i]);
    uchar4 u = as_uchar4(x), v = as_uchar4(y);
    int z = c[6 * i];
    c[6 * i] = PRODUCTS(x, y);
    c[6 * i + 1] = PRODUCTS(u, v);
    c[6 * i + 2] = PRODUCTS(x, v);
    c[6 * i + 3] = PRODUCTS(u, y) + z;
    c[6 * i + 4] = PRODUCTS(x, y) - 1000;
    c[6 * i + 5] = PRODUCTS(u, v) + 40000;
}
