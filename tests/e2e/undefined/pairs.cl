// SPDX-License-Identifier: MIT
// Kernels in pairs: with a defect, at the lines that are marked with the function's name, and without it.
#define ARGS global int *out, global int *in, local int *l, bool bad
#define G    ((int)get_global_id(0))
#define L    ((int)get_local_id(0))
#define PAIR(kind, f)                                                                                                                                \
    kernel void kind##_##f(global int *out, global int *in)                                                                                          \
    {                                                                                                                                                \
        local int l[256];                                                                                                                            \
        f(out, in, l, true);                                                                                                                         \
    }                                                                                                                                                \
    kernel void fine_##f(global int *out, global int *in)                                                                                            \
    {                                                                                                                                                \
        local int l[256];                                                                                                                            \
        f(out, in, l, false);                                                                                                                        \
    }
#define BARRIER barrier(CLK_LOCAL_MEM_FENCE)

/* ---- values that the compiler knows to be undefined, and would choose ---- */

void sum(ARGS)
{
    int s; // sum
    if (!bad)
        s = in[0];
    for (int i = 0; i < in[1]; i++)
        s += in[G + i];
    out[G] = s; // sum
}
PAIR(undefined, sum)

void maybe(ARGS)
{
    int m; // maybe
    if (in[G] > 3)
        m = in[G + 1];
    if (in[G] > (bad ? 2 : 3))
        out[G] = m; // maybe
}
PAIR(undefined, maybe)

void chosen(ARGS)
{
    int m; // chosen
    switch (in[G] & 3) {
    case 0:
        m = 4;
        break;
    case 1:
        m = in[7];
        break;
    case 2:
        m = G;
        break;
    case 3:
        if (!bad)
            m = in[5];
    }
    if (m * 2 > in[5]) // chosen
        out[G] = 1;
}
PAIR(undefined, chosen)

void last(ARGS)
{
    int at; // last
    bool found = false;
    for (int i = 0; i < 5; i++)
        if (in[G % 64 + i] == 12) {
            at = i + G;
            found = true;
        }
    if (bad || found)
        out[G] = in[at & 127]; // last
}
PAIR(undefined, last)

struct pair {
    int a;
    short b[2];
};

void member(ARGS)
{
    struct pair p; // member
    p.a = in[G];
    p.b[0] = 1;
    if (!bad || in[G] > 6)
        p.b[1] = in[G + 1];
    out[G] = p.a + p.b[1]; // member
}
PAIR(undefined, member)

void component(ARGS)
{
    int4 v;
    v.x = in[G]; // component
    v.z = in[G + 1];
    out[G] = v.x + (bad ? v.y : v.z); // component
}
PAIR(undefined, component)

void unrolled(ARGS)
{
    int a[100], s = 0;
    for (int i = 0; i < 90; i++)
        a[i] = in[i + G];
    for (int i = 0; i < (bad ? 92 : 90); i++)
        s += a[i] * in[i]; // unrolled
    out[G] = s; // unrolled
}
PAIR(undefined, unrolled)

void indexed(ARGS)
{
    float a[4]; // indexed
    for (int i = 0; i < 4; i++)
        a[bad ? in[i] & 3 : i] = i;
    for (int i = 0; i < 4; i++)
        out[4 * G + i] = as_int(a[i]); // indexed
}
PAIR(undefined, indexed)

struct padded {
    float3 f;
    int i;
    long3 l;
    char c;
};

/* Padding is copied, and no finding. */
void copied(ARGS)
{
    struct padded p; // copied
    p.f = (float3)(in[G], 1, 2);
    p.i = G;
    p.l = (long3)(in[G], G, 3);
    if (!bad)
        p.c = 1;
    ((global struct padded *)out)[G] = p; // copied
}
PAIR(undefined, copied)

/* ---- races ---- */

void scan(ARGS)
{
    l[L] = in[G];
    BARRIER;
    for (int d = 1; d < 64; d *= 2) {
        int v = L >= d ? l[L - d] : 0; // scan
        if (!bad)
            BARRIER;
        l[L] += v; // scan
        BARRIER;
    }
    out[G] = l[L];
}
PAIR(race, scan)

void reused(ARGS)
{
    int s = 0;
    for (int i = 0; i < 3; i++) {
        l[L] = in[G + i]; // reused
        BARRIER;
        s += l[(L + 33) % get_local_size(0)]; // reused
        if (!bad)
            BARRIER;
    }
    out[G] = s;
}
PAIR(race, reused)

void narrow(ARGS)
{
    ((global char *)out)[bad ? G / 2 : G] = G; // narrow
}
PAIR(race, narrow)

void beside(ARGS)
{
    global struct pair *p = (global struct pair *)out;
    p[G].b[bad] = 3;                                      // beside
    p[(G + 40) % (int)get_global_size(0)].b[1] = L + 100; // beside
}
PAIR(race, beside)

void overlapping(ARGS)
{
    vstore4((int4)(G), 0, out + G * (bad ? 3 : 4)); // overlapping
}
PAIR(race, overlapping)

void fenced(ARGS)
{
    l[L] = in[G]; // fenced
    if (bad)
        barrier(CLK_GLOBAL_MEM_FENCE);
    else
        BARRIER;
    out[G] = l[(L + 40) & 127]; // fenced
}
PAIR(race, fenced)

void greatest(ARGS)
{
    if (!bad)
        atomic_max(out, in[G]);
    else if (in[G] > out[0]) // greatest
        out[0] = in[G];      // greatest
}
PAIR(race, greatest)

/* ---- barriers ---- */

void turns(ARGS)
{
    for (int i = 0; i < 1 + (bad ? L / 32 : (int)get_group_id(0)); i++)
        BARRIER; // turns
}
PAIR(sync, turns)

void odd_turns(ARGS)
{
    for (int i = 0; i < 1 + (bad ? L & 1 : in[2] & 1); i++) {
        l[L] = i;
        BARRIER; // odd_turns
        out[G] = l[L ^ 1];
        BARRIER;
    }
}
PAIR(sync, odd_turns)

void threads(ARGS)
{
    l[L] = in[G];
    if (bad ? L < 64 : in[0] < 64)
        BARRIER; // threads
    out[G] = l[L];
}
PAIR(sync, threads)

void leaves(ARGS)
{
    for (int i = 0; i < 4; i++) {
        l[L] = i;
        if ((bad ? in[L] : in[1]) == i + 7)
            break;
        BARRIER; // leaves
    }
    out[G] = l[L];
}
PAIR(sync, leaves)

/* What decides is the same for all, but undefined. */
void undecided(ARGS)
{
    int n; // undecided
    if (!bad || in[20] > 100)
        n = in[7];
    if (n > 2) // undecided
        BARRIER;
    out[G] = 2;
}
PAIR(undefined, undecided)
