/* SPDX-License-Identifier: MIT */
#ifdef SIMD
#define KERNEL __attribute__((intel_reqd_sub_group_size(SIMD))) kernel
#else
#define KERNEL kernel
#endif
#define I    get_global_id(0)
#define CALL __attribute__((noinline))

/* Control flow in which lanes part and meet again, and calls in the middle of it. */

KERNEL void flow_nested_if(global const int *a, global int *out)
{
    int x = a[I], r = 0;
    if (x & 1) {
        r += 3;
        if (x & 2) {
            r *= 5;
            if (x & 4)
                r -= x >> 8;
            else if (x & 8)
                r ^= 0x1234;
            else
                r += out[I];
        } else {
            r -= 7;
            if ((x & 12) == 12)
                out[I] = r;
        }
        r += 100;
    } else if (x & 16) {
        r = x >> 5;
    } else {
        if (x & 32)
            r = -x;
    }
    out[I] = r + (x & 3);
}

KERNEL void flow_break_continue(global const int *a, global int *out)
{
    int x = a[I], sum = 0;
    for (int i = 0; i < (x & 31); i++) {
        if ((x >> (i & 15)) & 1)
            continue;
        sum += i * 3;
        if (sum > (x & 255))
            break;
        if (i == 7)
            continue;
        sum ^= i;
    }
    out[I] = sum;
}

KERNEL void flow_do_while(global const int *a, global int *out)
{
    uint x = (uint)a[I] & 0xffff;
    int steps = 0;
    do {
        x = x & 1 ? x * 3 + 1 : x / 2;
        steps++;
    } while (x > 1 && steps < 200);
    out[I] = steps * 65536 + (int)(x & 0xffff);
}

KERNEL void flow_switch(global const int *a, global int *out)
{
    int x = a[I], r = x >> 4;
    switch (x & 15) {
    case 0:
        r = 17;
        break;
    case 1:
        r += 5; /* falls through */
    case 2:
        r *= 3;
        break;
    case 4:
    case 5:
        if (r & 1)
            break;
        r -= 9; /* falls through */
    case 6:
        r ^= 0xff;
        break;
    case 9:
        for (int i = 0; i < (r & 7); i++)
            r += i;
        break;
    case 11:
        out[I] = r;
        return;
    case 13:
        r = ~r;
        break;
    default:
        r = -1;
    }
    out[I] = r;
}

/* A machine of states: a switch in a loop, left by break, continue and return. */
KERNEL void flow_states(global const uchar *text, global int *out, int length)
{
    int state = 0, words = 0, digits = 0;
    global const uchar *line = text + I * (uint)length;
    for (int i = 0; i < length; i++) {
        uchar c = line[i];
        switch (state) {
        case 0:
            if (c < 64)
                continue;
            state = c < 160 ? 1 : 2;
            break;
        case 1:
            if (c < 40) {
                words++;
                state = 0;
            }
            break;
        case 2:
            digits += c & 15;
            if (digits > 200) {
                out[I] = -digits;
                return;
            }
            state = c < 100 ? 0 : c > 240 ? 3 : 2;
            break;
        default:
            state = (c & 3) ? 3 : 1;
            i++;
        }
    }
    out[I] = words * 1000 + digits * 4 + state;
}

/* Jumps into the middle of a loop: no structure is left. */
KERNEL void flow_irreducible(global const int *a, global int *out)
{
    int x = a[I], n = 0, r = 0;
    if (x & 1)
        goto middle;
top:
    r += x & 7;
    if (r > 300)
        goto end;
    if (x & 2) {
        x = (x >> 1) ^ n;
        goto bottom;
    }
middle:
    r = r * 3 + n;
    if ((r & 0xf0) == 0x50)
        goto top;
bottom:
    n++;
    x ^= r << 1;
    if (n < 20)
        goto top;
end:
    out[I] = r;
}

KERNEL void flow_return(global const int *a, global int *out, int n)
{
    int x = a[I];
    if (x < 0)
        return;
    out[I] = 1;
    if ((x & 7) == 3)
        return;
    for (int i = 0; i < n; i++) {
        if (((x >> i) & 3) == 3) {
            out[I] = 100 + i;
            return;
        }
        for (int j = 0; j < i; j++) {
            if (((x >> i) & 15) == j + 5) {
                out[I] = 200 + i * 16 + j;
                return;
            }
        }
    }
    out[I] = 2;
}

KERNEL void flow_nested_loops(global const int *a, global int *out)
{
    int x = a[I], r = 0;
    for (int i = 0; i <= (x & 3); i++) {
        for (int j = i; j < ((x >> 2) & 7); j++) {
            int k = 0;
            while (k < ((x >> 5) & 3)) {
                r += i * 100 + j * 10 + k;
                if ((r & 31) == 17)
                    goto next;
                if (r > 2500)
                    goto out_of_all;
                k += 1 + (r & 1);
            }
        next:
            r ^= j;
        }
    }
out_of_all:
    out[I] = r;
}

/* Follows links until they end: the condition itself writes. */
KERNEL void flow_chase(global const int *next, global int *visits, global int *out, int n)
{
    int at = (int)I % n, steps = 0;
    while ((at = next[at]) >= 0 && atomic_inc(&visits[at]) >= 0 && ++steps < 100)
        ;
    out[I] = steps;
}

KERNEL void flow_short_circuit(global const int *a, global int *out)
{
    int x = a[I], n = 0;
    bool p = (x & 1 && ++n) || (x & 2 && (n += 2)) || ((x & 4) == 0 && (n += 4) && x & 8);
    bool q = (x & 16 ? ++n > 1 : n == 0) && (n += 8);
    int before = n;
    out[I] = (p ? 1000 : 0) + (q ? 100 : 0) + before +
             (x & 32 ? p ? x >> 8 & 15 : n++ : q ? n-- : 3);
}

/* Duff's device: a loop whose body is entered anywhere. */
KERNEL void flow_duff(global const int *a, global int *out)
{
    int count = (a[I] & 31) + 1, r = a[I] >> 5;
    int rounds = (count + 3) / 4;
    switch (count & 3) {
    case 0:
        do {
            r = r * 5 + 1;
        case 3:
            r ^= r >> 3;
        case 2:
            r += 7;
        case 1:
            r -= rounds;
        } while (--rounds > 0);
    }
    out[I] = r;
}

KERNEL void flow_search(global const int *sorted, global const int *keys, global int *out, int n)
{
    int low = 0, high = n, key = keys[I];
    while (low < high) {
        int middle = (low + high) / 2;
        if (sorted[middle] == key) {
            low = middle;
            break;
        }
        if (sorted[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    out[I] = low;
}

/* Branches on what all lanes have alike, around ones that they have not. */
KERNEL void flow_uniform(global const int *a, global int *out, int mode, int n)
{
    int x = a[I], r = 0;
    for (int i = 0; i < n; i++) {
        if (mode & 1) {
            if (x > i)
                r += x;
        } else if (mode & 2) {
            r -= i;
            if (i == 3)
                break;
        }
        mode = mode * 5 + 1;
        x = (int)((uint)x >> 1);
    }
    out[I] = r;
}

/* Only some lanes of each width, so that whole channels groups are off. */
KERNEL void flow_lanes(global int *out)
{
    uint lane = get_local_id(0), r = 0;
    if (lane >= 8)
        r |= 1;
    if (lane >= 16)
        r |= 2;
    if (lane % 16 == 15)
        for (uint i = 0; i < lane; i++)
            r += i << 4;
    if (lane == 0)
        r |= 0x10000;
    if (lane < 5 || lane > 27)
        r ^= 0x20000;
    out[I] = (int)r;
}

/* Arrays that are small enough for registers: what lanes write is found through a0. */
KERNEL void flow_stack(global const int *a, global int *out)
{
    uint stack[12], top = 0, sum = 0;
    uint x = (uint)a[I];
    for (int k = 0; k < 24; k++) {
        x = x * 1664525u + 1013904223u;
        if ((x >> 24 & 3) && top < 12)
            stack[top++] = x >> 8;
        else if (top > 0)
            sum = sum * 5 + stack[--top];
    }
    out[I] = (int)(sum * 13 + top);
}

KERNEL void flow_tally(global const int *a, global int *out)
{
    uint tally[8] = {0}, sum = 0;
    uint x = (uint)a[I];
    for (uint k = 0; k < 20; k++) {
        x = x * 1664525u + 1013904223u;
        tally[x >> 28 & 7] += k;
    }
    for (uint k = 0; k < 8; k++)
        sum = sum * 31 + tally[k];
    out[I] = (int)sum;
}

/* 64-bit and floating conditions. */
KERNEL void flow_conditions(global const long *a, global const float *f, global int *out)
{
    long x = a[I];
    float y = f[I];
    int r = 0;
    while (x > 1000000007L) {
        x >>= 3;
        r++;
    }
    if (y > 0.0f) {
        while (y < 1000.0f && r < 64) {
            y = y * 1.5f + 1.0f;
            r++;
        }
    } else if (isnan(y) || y == -INFINITY) {
        r = -1;
    } else {
        r += y < -2.0f ? (x < 0 ? 5 : 6) : (x >= 77 ? 7 : 8);
    }
    out[I] = r;
}

/* ---- Calls ---- */

CALL int add_three(int a, int b, int c)
{
    return a + b * 2 + c * 3;
}

CALL int mix(int x)
{
    if (x & 1)
        return add_three(x, x >> 3, 9);
    for (int i = 0; i < (x & 7); i++)
        x = add_three(x, i, 1) ^ 5;
    return x;
}

CALL int outer(int x, int depth)
{
    int r = depth;
    if (x & 4)
        r += mix(x + 1);
    r = add_three(r, mix(r), x & 15);
    return x & 8 ? r : mix(r);
}

KERNEL void flow_calls(global const int *a, global int *out)
{
    int x = a[I] & 0xfffff;
    int r = outer(x, 1);
    if (x & 16)
        r ^= outer(x >> 3, 2);
    else if (x & 32)
        r -= mix(x);
    out[I] = r;
}

KERNEL void flow_calls_in_loop(global const int *a, global int *out)
{
    int x = a[I] & 0xffff, r = 0;
    for (int i = 0; i < 12; i++) {
        if (x & 1) {
            r += outer(x, i);
            if ((r & 63) == 5)
                break;
        } else if (x & 2) {
            x = x * 3 + 2;
            continue;
        }
        x = (x >> 1) + mix(i);
        if (r > 1 << 20)
            break;
    }
    out[I] = r ^ x;
}

#ifdef cl_khr_fp64
#define REAL double
#else
#define REAL float
#endif

/* More than fit in registers. Bytes come first: on the stack the compiler takes them as uniform. */
CALL int many_arguments(char x, ushort y, int a, int b, int c, int d, int e, int f, int g, int h,
                        int i, int j, int k, int l, int m, int n, int o, int p, int q, int r, int s,
                        int t, long u, REAL v, float4 w, global const int *z)
{
    return a - b + c * d - e + f * g - h + i * j - k + l * m - n + o * p - q + r * s - t +
           (int)(u >> 3) + (int)v + (int)w.x - (int)w.w + x - y + z[a & 3];
}

KERNEL void flow_many_arguments(global const int *a, global int *out)
{
    int i = a[I] & 1023;
    out[I] = many_arguments((char)i, (ushort)(i * 77), i, i + 1, i + 2, i + 3, i + 4, i + 5, i + 6,
                            i + 7, i + 8, i + 9, i + 10, i + 11, i + 12, i + 13, i + 14, i + 15,
                            i + 16, i + 17, i + 18, i + 19, (long)i * 5 - 9, (REAL)i * 3,
                            (float4)(i, 1, 2, i * 7), a);
}

struct pair {
    int least, most;
    float sum;
    long product[2];
};

/* By address: the compiler drops stores to a struct that an uninlined function returns. */
CALL void join_pairs(struct pair *to, const struct pair *x, const struct pair *y)
{
    to->least = min(x->least, y->least);
    to->most = max(x->most, y->most);
    to->sum = x->sum + y->sum;
    long swap = x->product[0] * y->product[1];
    to->product[1] = x->product[1] + y->product[0];
    to->product[0] = swap;
}

CALL void widen(struct pair *p, int by)
{
    p->least -= by;
    p->most += by;
    if (by & 1)
        p->product[by >> 1 & 1] = by;
}

KERNEL void flow_structs(global const int *a, global long *out)
{
    int x = a[I] & 0xff, y = a[I] >> 8 & 0xff;
    struct pair p = {x, y, x * 0.5f, {x, y}}, q = {y, x + y, 1.0f, {3, x}};
    join_pairs(&p, &p, &q);
    if (x > y)
        widen(&p, x);
    else
        join_pairs(&p, &q, &p);
    out[4 * I] = p.least - p.most;
    out[4 * I + 1] = (long)(p.sum * 2.0f);
    out[4 * I + 2] = p.product[0];
    out[4 * I + 3] = p.product[1];
}

/* ---- Recursion ---- */
#ifndef POCL /* which refuses it */
CALL int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

KERNEL void flow_fibonacci(global const int *a, global int *out)
{
    out[I] = fibonacci(a[I] & 7) + fibonacci((int)I % 5);
}

CALL int is_odd(uint n, global int *calls);

CALL int is_even(uint n, global int *calls)
{
    calls[0]++;
    return n == 0 ? 1 : is_odd(n - 1, calls);
}

CALL int is_odd(uint n, global int *calls)
{
    calls[1] += 2;
    return n == 0 ? 0 : is_even(n - 1, calls);
}

KERNEL void flow_mutual(global const int *a, global int *calls, global int *out)
{
    out[I] = is_even((uint)a[I] & 31, calls + 2 * I);
}

CALL uint ackermann(uint m, uint n)
{
    if (m == 0)
        return n + 1;
    if (n == 0)
        return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}

KERNEL void flow_ackermann(global const int *a, global uint *out)
{
    uint x = (uint)a[I];
    out[I] = ackermann(x & 1, x >> 1 & 7) + (x & 64 ? ackermann(2, x >> 4 & 3) : 0);
}

/* A frame with an array in each level. */
CALL void sort_range(global int *a, int low, int high)
{
    int counts[4] = {0, 0, 0, 0};
    if (high - low < 1)
        return;
    int pivot = a[(low + high) / 2], i = low, j = high;
    while (i <= j) {
        while (a[i] < pivot) {
            i++;
            counts[a[i] & 3]++;
        }
        while (a[j] > pivot) {
            j--;
            counts[a[j] & 3]++;
        }
        if (i <= j) {
            int swap = a[i];
            a[i++] = a[j];
            a[j--] = swap;
        }
    }
    sort_range(a, low, j);
    if (counts[0] + counts[1] + counts[2] + counts[3] >= 0)
        sort_range(a, i, high);
}

KERNEL void flow_quicksort(global int *a, int length)
{
    sort_range(a + (int)I * length, 0, length - 1);
}
#endif
