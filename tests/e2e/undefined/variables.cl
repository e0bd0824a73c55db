// SPDX-License-Identifier: MIT
// Kernels that leave a variable when a group has 64 work-items; lines of it and of the access are marked.
#define ARGS global int *out, global int *in

constant int table[5] = {1, 2, 3, 4, 5}; // constants

struct record {
    int head;
    int values[4];
    char3 triples[2];
};

kernel void registers(ARGS)
{
    int a[8]; // registers
    int i = get_local_id(0);
    for (int k = 0; k < 8; k++)
        a[k] = in[k] + k;
    out[i] = a[i]; // registers
}

kernel void scratch(ARGS)
{
    int a[200]; // scratch
    int i = get_local_id(0);
    for (int k = 0; k < 200; k++)
        a[k] = in[k] + k;
    a[i * 4] = i; // scratch
    out[i] = a[in[i] & 15] + a[i];
}

kernel void before(ARGS)
{
    int a[200]; // before
    int i = get_local_id(0);
    for (int k = 0; k < 200; k++)
        a[k] = in[k] + k;
    out[i] = a[62 - i]; // before
}

kernel void constants(ARGS)
{
    int i = get_local_id(0);
    out[i] = table[i]; // constants
}

kernel void member(ARGS)
{
    struct record one; // member
    int i = get_local_id(0);
    one.head = 3;
    for (int k = 0; k < 4; k++)
        one.values[k] = in[k];
    one.triples[0] = (char3)(in[3]);
    one.triples[1] = (char3)(in[1]);
    out[i] = one.values[i & 3] + one.triples[i].x; // member
}

int element(const int *array, int i)
{
    return array[i]; // passed
}

int deeper(const int *array, int i)
{
    return element(array, i) + 1;
}

kernel void passed(ARGS)
{
    int a[8]; // passed
    int i = get_local_id(0);
    for (int k = 0; k < 8; k++)
        a[k] = in[k] + k;
    out[i] = deeper(a, i);
}

/* Behind an array, in front of the next member. */
kernel void inner(ARGS)
{
    struct record one; // inner
    int i = get_local_id(0);
    one.head = in[0];
    for (int k = 0; k < 4; k++)
        one.values[k] = in[k];
    one.triples[0] = one.triples[1] = (char3)(in[3]);
    out[i] = one.values[i] + one.head + one.triples[i & 1].x; // inner
}

kernel void vectors(ARGS)
{
    int a[16]; // vectors
    int i = get_local_id(0);
    for (int k = 0; k < 16; k++)
        a[k] = in[k] + k;
    vstore4(vload4(i, a), i, out); // vectors
}

/* The end of an array may be pointed to. */
kernel void pointers(ARGS)
{
    local int a[64], b[64]; // pointers
    int i = get_local_id(0);
    local int *p = a + 16;
    a[i & 63] = i;
    if (i < 16)
        a[i + 48] = i;
    b[i & 63] = 2 * i;
    barrier(CLK_LOCAL_MEM_FENCE);
    int sum = p + 48 == a + 64;
    out[i] = p[i] + b[i & 63] + sum; // pointers
}

kernel void walked(ARGS)
{
    int a[64]; // walked
    int i = get_local_id(0), sum = 0, *p = a;
    for (int k = 0; k < 64; k++)
        *p++ = in[k] + k;
    for (p = a + i; p < a + 3 * i; p++)
        sum += *p; // walked
    out[i] = sum;
}

kernel void either(ARGS)
{
    int a[64], i = get_local_id(0);
    int b[24]; // either
    for (int k = 0; k < 64; k++)
        a[k] = b[k % 24] = in[k] + k;
    int *p = in[i] & 1 ? a : b, *q = i > 1000 ? p + 1 : in;
    p += in[i] & 1 ? i : i / 4;
    out[i] = (in[i] > 1000 ? in : p)[i] + *q; // either
}

kernel void alike(ARGS)
{
    int a[8]; // alike
    int i = get_local_id(0);
    for (int k = 0; k < 8; k++)
        a[k] = in[k] + k;
    out[i] = a[get_local_size(0) / 2 + (i >> 8)] + a[in[i] & 7]; // alike
}
