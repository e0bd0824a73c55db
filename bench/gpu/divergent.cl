/* SPDX-License-Identifier: MIT */
/* Kernels whose work-items go different ways; their data and plain C versions are in divergent.c. */

__kernel void spmv(__global const uint *rows, __global const uint *columns, __global const uint *values,
                   __global const uint *x, __global uint *y)
{
    uint row = get_global_id(0), sum = 0;
    for (uint i = rows[row]; i < rows[row + 1]; i++)
        sum += values[i] * x[columns[i]];
    y[row] = sum;
}

/* A level of a breadth-first search. */
__kernel void bfs(__global const uint *rows, __global const uint *columns, __global int *level, int depth)
{
    uint v = get_global_id(0);
    if (level[v] != depth)
        return;
    for (uint i = rows[v]; i < rows[v + 1]; i++) {
        uint u = columns[i];
        if (level[u] < 0)
            level[u] = depth + 1;
    }
}

/* Ways to place n queens, of which the first two are where the work-item says. */
__kernel void queens(__global uint *out, int n)
{
    uint id = get_global_id(0), all = (1u << n) - 1, ways = 0;
    uint a = 1u << id % n, b = 1u << id / n % n;
    uint columns[16], left[16], right[16], open[16];
    int depth = 2;
    columns[2] = a | b, left[2] = (a << 1 | b) << 1, right[2] = (a >> 1 | b) >> 1;
    if (id >= n * n || (a | a << 1 | a >> 1) & b)
        depth = 0;
    open[2] = all & ~(columns[2] | left[2] | right[2]);
    while (depth >= 2) {
        uint place = open[depth] & -open[depth];
        if (!place) {
            depth--;
            continue;
        }
        open[depth] ^= place;
        if (depth == n - 1) {
            ways++;
            continue;
        }
        columns[depth + 1] = columns[depth] | place;
        left[depth + 1] = (left[depth] | place) << 1;
        right[depth + 1] = (right[depth] | place) >> 1;
        depth++;
        open[depth] = all & ~(columns[depth] | left[depth] | right[depth]);
    }
    out[id] = ways;
}

/* Each work-item sorts a piece of its own. */
__kernel void quicksort(__global const uint *in, __global uint *out, int count)
{
    __global uint *v = out + get_global_id(0) * count;
    int from[16], to[16], depth = 1;
    for (int i = 0; i < count; i++)
        v[i] = in[get_global_id(0) * count + i];
    from[0] = 0, to[0] = count - 1;
    while (depth > 0) {
        int low = from[--depth], high = to[depth];
        while (low < high) {
            uint pivot = v[(low + high) / 2];
            int i = low, j = high;
            while (i <= j) {
                while (v[i] < pivot)
                    i++;
                while (v[j] > pivot)
                    j--;
                if (i <= j) {
                    uint t = v[i];
                    v[i++] = v[j];
                    v[j--] = t;
                }
            }
            int keep_low = j - low < high - i; /* the longer part waits */
            from[depth] = keep_low ? i : low;
            to[depth++] = keep_low ? high : j;
            if (keep_low)
                high = j;
            else
                low = i;
        }
    }
}

/* How often a pattern stands in a piece of a text. */
__kernel void search(__global const uchar *text, __global const uchar *pattern, __global uint *out, int length,
                     int piece)
{
    uint from = get_global_id(0) * piece, found = 0;
    for (int at = 0; at < piece; at++) {
        int i = 0;
        while (i < length && text[from + at + i] == pattern[i])
            i++;
        found += i == length;
    }
    out[get_global_id(0)] = found;
}

__kernel void collatz(__global uint *out)
{
    uint n = get_global_id(0) + 1, steps = 0;
    while (n != 1) {
        n = n & 1 ? 3 * n + 1 : n / 2;
        steps++;
    }
    out[get_global_id(0)] = steps;
}

/* What follows in a list, from where each work-item begins until a key is found. */
__kernel void chase(__global const uint *next, __global const uint *keys, __global uint *out, int limit)
{
    uint at = get_global_id(0), key = at * 2654435761u >> 27;
    int steps = 0;
    while (steps < limit && keys[at] != key) {
        at = next[at];
        steps++;
    }
    out[get_global_id(0)] = at * 64 + steps;
}

__kernel void gcd(__global const uint *in, __global uint *out)
{
    uint i = get_global_id(0), a = in[2 * i] & 0xffff, b = (in[2 * i + 1] & 0xffff) + 1;
    while (b) {
        uint r = a % b;
        a = b;
        b = r;
    }
    out[i] = a;
}
