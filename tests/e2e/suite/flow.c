/* SPDX-License-Identifier: MIT */
/* Control flow: lanes that part and meet, calls, recursion. */
#include "suite.h"

static void case_nested_if(struct suite *s)
{
    const int32_t *a = suite_in(s, S_I32, s->n);
    int32_t *o = suite_out(s, S_I32, s->n, 0);
    for (size_t i = 0; i < s->n; i++) {
        int32_t x = a[i], b = 3;
        if (!(x & 1)) {
            o[i] = ((x & 16) ? x >> 5 : (x & 32) ? -x : 0) + (x & 3);
            continue;
        }
        if (x & 2)
            b = x & 4 ? 15 - (x >> 8) : x & 8 ? 15 ^ 0x1234 : 15 + o[i];
        else
            b = -4;
        o[i] = b + 100 + (x & 3);
    }
}

static void case_break_continue(struct suite *s)
{
    const int32_t *a = suite_in(s, S_I32, s->n);
    int32_t *o = suite_out(s, S_I32, s->n, 0);
    for (size_t i = 0; i < s->n; i++) {
        int32_t sum = 0;
        for (int k = 0; k < (a[i] & 31); k++) {
            if (!(a[i] >> (k & 15) & 1)) {
                sum += 3 * k;
                if (sum > (a[i] & 255))
                    break;
                sum ^= k == 7 ? 0 : k;
            }
        }
        o[i] = sum;
    }
}

static void case_do_while(struct suite *s)
{
    const int32_t *a = suite_in(s, S_I32, s->n);
    int32_t *o = suite_out(s, S_I32, s->n, 0);
    for (size_t i = 0; i < s->n; i++) {
        uint32_t x = (uint32_t)a[i] & 0xffff;
        int steps = 0;
        while (steps == 0 || (x > 1 && steps < 200)) {
            x = x & 1 ? 3 * x + 1 : x >> 1;
            steps++;
        }
        o[i] = steps * 65536 + (int)(x & 0xffff);
    }
}

static int32_t switched(int32_t x)
{
    int32_t r = x >> 4;
    unsigned which = x & 15;
    if (which == 0)
        return 17;
    if (which == 1)
        return (r + 5) * 3;
    if (which == 2)
        return r * 3;
    if (which == 4 || which == 5)
        return r & 1 ? r : (r - 9) ^ 0xff;
    if (which == 6)
        return r ^ 0xff;
    if (which == 9) {
        int i = 0;
        while (i < (r & 7))
            r += i++;
        return r;
    }
    return which == 11 ? r : which == 13 ? ~r : -1;
}

static void case_switch(struct suite *s)
{
    const int32_t *a = suite_in(s, S_I32, s->n);
    int32_t *o = suite_out(s, S_I32, s->n, 0);
    for (size_t i = 0; i < s->n; i++)
        o[i] = switched(a[i]);
}

static int32_t states(const uint8_t *line, int length)
{
    int state = 0, words = 0, digits = 0;
    for (int i = 0; i < length; i++) {
        uint8_t c = line[i];
        if (state == 0) {
            state = c < 64 ? 0 : c < 160 ? 1 : 2;
        } else if (state == 1) {
            words += c < 40;
            state = c >= 40;
        } else if (state == 2) {
            digits += c & 15;
            if (digits > 200)
                return -digits;
            state = c < 100 ? 0 : c > 240 ? 3 : 2;
        } else {
            state = (c & 3) ? 3 : 1;
            i++;
        }
    }
    return words * 1000 + digits * 4 + state;
}

static void case_states(struct suite *s)
{
    enum { LENGTH = 60 };
    const uint8_t *text = suite_in(s, S_U8, LENGTH * s->n);
    int32_t *o = suite_out(s, S_I32, s->n, 0);
    suite_int(s, LENGTH);
    for (size_t i = 0; i < s->n; i++)
        o[i] = states(text + i * LENGTH, LENGTH);
}

/* The machine of the kernel's labels. */
static int32_t irreducible(int32_t x)
{
    enum { TOP, MIDDLE, BOTTOM, END } at = x & 1 ? MIDDLE : TOP;
    int32_t n = 0, r = 0;
    while (at != END) {
        switch (at) {
        case TOP:
            r += x & 7;
            at = r > 300 ? END : x & 2 ? BOTTOM : MIDDLE;
            if (at == BOTTOM)
                x = (x >> 1) ^ n;
            break;
        case MIDDLE:
            r = r * 3 + n;
            at = (r & 0xf0) == 0x50 ? TOP : BOTTOM;
            break;
        default:
            n++;
            x ^= r << 1;
            at = n < 20 ? TOP : END;
        }
    }
    return r;
}

static void case_irreducible(struct suite *s)
{
    const int32_t *a = suite_in(s, S_I32, s->n);
    int32_t *o = suite_out(s, S_I32, s->n, 0);
    for (size_t i = 0; i < s->n; i++)
        o[i] = irreducible(a[i]);
}

static int32_t returned(int32_t x, int n)
{
    if ((x & 7) == 3)
        return 1;
    for (int i = 0; i < n; i++) {
        int bits = x >> i & 15;
        if ((bits & 3) == 3)
            return 100 + i;
        if (bits >= 5 && bits - 5 < i)
            return 200 + i * 16 + bits - 5;
    }
    return 2;
}

static void case_return(struct suite *s)
{
    const int32_t *a = suite_in(s, S_I32, s->n);
    int32_t *o = suite_out(s, S_I32, s->n, 0);
    suite_int(s, 14);
    for (size_t i = 0; i < s->n; i++) {
        if (a[i] >= 0)
            o[i] = returned(a[i], 14);
    }
}

static int32_t nested_loops(int32_t x)
{
    int32_t r = 0;
    for (int i = 0; i <= (x & 3); i++) {
        for (int j = i; j < (x >> 2 & 7); j++) {
            bool next = false;
            for (int k = 0; k < (x >> 5 & 3) && !next; k += 1 + (r & 1)) {
                r += i * 100 + j * 10 + k;
                next = (r & 31) == 17;
                if (!next && r > 2500)
                    return r;
            }
            r ^= j;
        }
    }
    return r;
}

static void case_nested_loops(struct suite *s)
{
    const int32_t *a = suite_in(s, S_I32, s->n);
    int32_t *o = suite_out(s, S_I32, s->n, 0);
    for (size_t i = 0; i < s->n; i++)
        o[i] = nested_loops(a[i]);
}

static void case_chase(struct suite *s)
{
    enum { N = 64 };
    int32_t *next = suite_in(s, S_I32, N);
    for (int i = 0; i < N; i++)
        next[i] = i % 7 == 3 ? -1 : (i * 29 + 11) % N;
    suite_upload(s, next);
    int32_t *visits = suite_zeroed(s, S_I32, N, 0);
    int32_t *o = suite_out(s, S_I32, s->n, 0);
    suite_int(s, N);
    for (size_t i = 0; i < s->n; i++) {
        int steps = 0;
        for (int at = next[i % N]; at >= 0; at = next[at]) {
            visits[at]++;
            if (++steps >= 100)
                break;
        }
        o[i] = steps;
    }
}

static void case_short_circuit(struct suite *s)
{
    const int32_t *a = suite_in(s, S_I32, s->n);
    int32_t *o = suite_out(s, S_I32, s->n, 0);
    for (size_t i = 0; i < s->n; i++) {
        int32_t x = a[i];
        int n = x & 1 ? 1 : x & 2 ? 2 : x & 4 ? 0 : 4;
        bool p = x & 3 || (!(x & 4) && x & 8);
        bool q = x & 16 ? n + 1 > 1 : n == 0;
        n += (x & 16) != 0;
        n += q ? 8 : 0;
        int added = x & 32 ? p ? x >> 8 & 15 : n : q ? n : 3;
        o[i] = (p ? 1000 : 0) + (q ? 100 : 0) + n + added;
    }
}

static void case_duff(struct suite *s)
{
    const int32_t *a = suite_in(s, S_I32, s->n);
    int32_t *o = suite_out(s, S_I32, s->n, 0);
    for (size_t i = 0; i < s->n; i++) {
        int count = (a[i] & 31) + 1, r = a[i] >> 5, rounds = (count + 3) / 4;
        for (int left = count; left > 0; left--) {
            switch (left & 3) {
            case 0:
                r = (int32_t)((uint32_t)r * 5 + 1);
                break;
            case 3:
                r ^= r >> 3;
                break;
            case 2:
                r += 7;
                break;
            default:
                r -= rounds--;
            }
        }
        o[i] = r;
    }
}

static int compare_ints(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static void case_search(struct suite *s)
{
    enum { N = 100 };
    int32_t *sorted = suite_in(s, S_I32, N), *keys = suite_in(s, S_I32, s->n);
    for (int i = 0; i < N; i++)
        sorted[i] = i * 7 - 200;
    qsort(sorted, N, sizeof(*sorted), compare_ints);
    suite_upload(s, sorted);
    for (size_t i = 0; i < s->n; i++)
        keys[i] = keys[i] % 600;
    suite_upload(s, keys);
    int32_t *o = suite_out(s, S_I32, s->n, 0);
    suite_int(s, N);
    for (size_t i = 0; i < s->n; i++) {
        o[i] = 0;
        while (o[i] < N && sorted[o[i]] < keys[i])
            o[i]++;
    }
}

static void case_uniform(struct suite *s)
{
    enum { MODE = 0x2e6, N = 9 };
    const int32_t *a = suite_in(s, S_I32, s->n);
    int32_t *o = suite_out(s, S_I32, s->n, 0);
    suite_int(s, MODE);
    suite_int(s, N);
    for (size_t i = 0; i < s->n; i++) {
        int32_t mode = MODE, x = a[i];
        uint32_t r = 0;
        for (int k = 0; k < N; k++) {
            if (mode & 1)
                r += x > k ? (uint32_t)x : 0;
            else if (mode & 2)
                r -= (uint32_t)k;
            if (!(mode & 1) && mode & 2 && k == 3)
                break;
            mode = (int32_t)((uint32_t)mode * 5 + 1);
            x = (int32_t)((uint32_t)x >> 1);
        }
        o[i] = (int32_t)r;
    }
}

static void case_lanes(struct suite *s)
{
    int32_t *o = suite_out(s, S_I32, s->n, 0);
    for (uint32_t i = 0; i < s->n; i++) {
        uint32_t lane = i % s->local[0], r = (lane >= 8) | (lane >= 16) << 1;
        if (lane % 16 == 15)
            r += lane * (lane - 1) / 2 << 4;
        r |= lane == 0 ? 0x10000 : 0;
        o[i] = (int32_t)(lane < 5 || lane > 27 ? r ^ 0x20000 : r);
    }
}

static void case_conditions(struct suite *s)
{
    s->special = true;
    const int64_t *a = suite_in(s, S_I64, s->n);
    const float *f = suite_in(s, S_F32, s->n);
    int32_t *o = suite_out(s, S_I32, s->n, 0);
    for (size_t i = 0; i < s->n; i++) {
        int64_t x = a[i];
        float y = f[i];
        int r = 0;
        for (; x > 1000000007; x >>= 3)
            r++;
        if (isnan(y) || y == -INFINITY)
            r = -1;
        else if (y <= 0.0f)
            r += y < -2.0f ? 5 + (x >= 0) : 8 - (x >= 77);
        else
            for (; y < 1000.0f && r < 64; r++)
                y = y * 1.5f + 1.0f;
        o[i] = r;
    }
}

/* ---- Calls ---- */

static int32_t add_three(int32_t a, int32_t b, int32_t c)
{
    return a + b * 2 + c * 3;
}

static int32_t mix(int32_t x)
{
    if (x & 1)
        return x + (x >> 3) * 2 + 27;
    int i = 0;
    while (i < (x & 7))
        x = (x + 2 * i++ + 3) ^ 5;
    return x;
}

static int32_t outer(int32_t x, int32_t depth)
{
    int32_t r = depth + (x & 4 ? mix(x + 1) : 0);
    r = add_three(r, mix(r), x & 15);
    return x & 8 ? r : mix(r);
}

static void case_calls(struct suite *s)
{
    const int32_t *a = suite_in(s, S_I32, s->n);
    int32_t *o = suite_out(s, S_I32, s->n, 0);
    for (size_t i = 0; i < s->n; i++) {
        int32_t x = a[i] & 0xfffff, r = outer(x, 1);
        o[i] = x & 16 ? r ^ outer(x >> 3, 2) : x & 32 ? r - mix(x) : r;
    }
}

static void case_calls_in_loop(struct suite *s)
{
    const int32_t *a = suite_in(s, S_I32, s->n);
    int32_t *o = suite_out(s, S_I32, s->n, 0);
    for (size_t n = 0; n < s->n; n++) {
        int32_t x = a[n] & 0xffff, r = 0;
        for (int i = 0; i < 12; i++) {
            if ((x & 3) == 2) {
                x = 3 * x + 2;
                continue;
            }
            if (x & 1)
                r += outer(x, i);
            if (x & 1 && (r & 63) == 5)
                break;
            x = (x >> 1) + mix(i);
            if (r > 1 << 20)
                break;
        }
        o[n] = r ^ x;
    }
}

static void case_many_arguments(struct suite *s)
{
    const int32_t *a = suite_in(s, S_I32, s->n < 4 ? 4 : s->n);
    int32_t *o = suite_out(s, S_I32, s->n, 0);
    for (size_t n = 0; n < s->n; n++) {
        int i = a[n] & 1023;
        int products = i - (i + 1);
        for (int k = 2; k < 18; k += 3)
            products += (i + k) * (i + k + 1) - (i + k + 2);
        int64_t u = (int64_t)i * 5 - 9;
        o[n] = products + (int)(u >> 3) + i * 3 + i - i * 7 + (int8_t)i - (uint16_t)(i * 77) +
               a[i & 3];
    }
}

struct pair {
    int32_t least, most;
    float sum;
    int64_t product[2];
};

static struct pair join_pairs(const struct pair *x, const struct pair *y)
{
    return (struct pair){
        x->least < y->least ? x->least : y->least,
        x->most > y->most ? x->most : y->most,
        x->sum + y->sum,
        {x->product[0] * y->product[1], x->product[1] + y->product[0]},
    };
}

static void case_structs(struct suite *s)
{
    const int32_t *a = suite_in(s, S_I32, s->n);
    int64_t *o = suite_out(s, S_I64, 4 * s->n, 0);
    for (size_t i = 0; i < s->n; i++, o += 4) {
        int32_t x = a[i] & 255, y = a[i] >> 8 & 255;
        struct pair p = {x, y, (float)x * 0.5f, {x, y}}, q = {y, x + y, 1.0f, {3, x}};
        p = join_pairs(&p, &q);
        if (x > y) {
            p.least -= x;
            p.most += x;
            if (x & 1)
                p.product[x >> 1 & 1] = x;
        } else {
            p = join_pairs(&q, &p);
        }
        o[0] = p.least - p.most;
        o[1] = (int64_t)(p.sum * 2.0f);
        o[2] = p.product[0];
        o[3] = p.product[1];
    }
}

static void case_fibonacci(struct suite *s)
{
    static const int32_t numbers[] = {0, 1, 1, 2, 3, 5, 8, 13};
    const int32_t *a = suite_in(s, S_I32, s->n);
    int32_t *o = suite_out(s, S_I32, s->n, 0);
    for (size_t i = 0; i < s->n; i++)
        o[i] = numbers[a[i] & 7] + numbers[i % 5];
}

static void case_mutual(struct suite *s)
{
    const int32_t *a = suite_in(s, S_I32, s->n);
    int32_t *calls = suite_zeroed(s, S_I32, 2 * s->n, 0);
    int32_t *o = suite_out(s, S_I32, s->n, 0);
    for (size_t i = 0; i < s->n; i++) {
        int n = a[i] & 31;
        calls[2 * i] = n / 2 + 1;
        calls[2 * i + 1] = (n + 1) / 2 * 2;
        o[i] = n % 2 == 0;
    }
}

static void case_ackermann(struct suite *s)
{
    const int32_t *a = suite_in(s, S_I32, s->n);
    uint32_t *o = suite_out(s, S_U32, s->n, 0);
    for (size_t i = 0; i < s->n; i++) {
        uint32_t x = (uint32_t)a[i], n = x >> 1 & 7;
        o[i] = (x & 1 ? n + 2 : n + 1) + (x & 64 ? 2 * (x >> 4 & 3) + 3 : 0);
    }
}

static void case_quicksort(struct suite *s)
{
    enum { LENGTH = 24 };
    int32_t *a = suite_inout(s, S_I32, LENGTH * s->n, 0);
    suite_int(s, LENGTH);
    for (size_t i = 0; i < s->n; i++)
        qsort(a + i * LENGTH, LENGTH, sizeof(*a), compare_ints);
}

static void case_stack(struct suite *s)
{
    const int32_t *a = suite_in(s, S_I32, s->n);
    int32_t *o = suite_out(s, S_I32, s->n, 0);
    for (size_t i = 0; i < s->n; i++) {
        uint32_t x = (uint32_t)a[i], stack[12], top = 0, sum = 0;
        for (uint32_t k = 0; k < 24; k++) {
            x = x * 1664525u + 1013904223u;
            if ((x >> 24 & 3) && top < 12)
                stack[top++] = x >> 8;
            else if (top > 0)
                sum = sum * 5 + stack[--top];
        }
        o[i] = (int32_t)(sum * 13 + top);
    }
}

static void case_tally(struct suite *s)
{
    const int32_t *a = suite_in(s, S_I32, s->n);
    int32_t *o = suite_out(s, S_I32, s->n, 0);
    for (size_t i = 0; i < s->n; i++) {
        uint32_t x = (uint32_t)a[i], tally[8] = {0}, sum = 0;
        for (uint32_t k = 0; k < 20; k++) {
            x = x * 1664525u + 1013904223u;
            tally[x >> 28 & 7] += k;
        }
        for (uint32_t k = 0; k < 8; k++)
            sum = sum * 31 + tally[k];
        o[i] = (int32_t)sum;
    }
}

static const struct suite_case cases[] = {
    {"flow_nested_if", case_nested_if, NULL, NULL},
    {"flow_break_continue", case_break_continue, NULL, NULL},
    {"flow_do_while", case_do_while, NULL, NULL},
    {"flow_switch", case_switch, NULL, NULL},
    {"flow_states", case_states, NULL, NULL},
    {"flow_irreducible", case_irreducible, NULL, NULL},
    {"flow_return", case_return, NULL, NULL},
    {"flow_nested_loops", case_nested_loops, NULL, NULL},
    {"flow_chase", case_chase, NULL, NULL},
    {"flow_short_circuit", case_short_circuit, NULL, NULL},
    {"flow_duff", case_duff, NULL, NULL},
    {"flow_search", case_search, NULL, NULL},
    {"flow_uniform", case_uniform, NULL, NULL},
    {"flow_lanes", case_lanes, NULL, NULL},
    {"flow_stack", case_stack, NULL, NULL},
    {"flow_tally", case_tally, NULL, NULL},
    {"flow_conditions", case_conditions, NULL, NULL},
    {"flow_calls", case_calls, NULL, NULL},
    {"flow_calls_in_loop", case_calls_in_loop, NULL, NULL},
    {"flow_many_arguments", case_many_arguments, NULL, NULL},
    {"flow_structs", case_structs, NULL, NULL},
    {"flow_fibonacci", case_fibonacci, NULL, NULL},
    {"flow_mutual", case_mutual, NULL, NULL},
    {"flow_ackermann", case_ackermann, NULL, NULL},
    {"flow_quicksort", case_quicksort, NULL, NULL},
};

/* PoCL does not compile recursion. */
const struct suite_group suite_flow = {"flow", cases, SUITE_COUNT(cases),
                                       "flow_ackermann flow_fibonacci flow_mutual flow_quicksort"};
