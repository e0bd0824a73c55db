// SPDX-License-Identifier: MIT
// A defect of each kind, at the lines that are marked.
#define ARGS global int *out, global int *in

kernel void race(ARGS)
{
    local int l[64];
    l[get_local_id(0)] = in[get_global_id(0)];           // race
    out[get_global_id(0)] = l[get_local_id(0) ^ 32] + 1; // race
}

/* Of one hardware thread. */
kernel void lanes(ARGS)
{
    out[get_local_id(0)] = in[get_global_id(0)]; // lanes
    if (get_local_id(0) == 0)
        out[100] = out[3]; // lanes
}

/* Through no pointer at all. */
kernel void nowhere(ARGS)
{
    global int *p = (global int *)(size_t)(in[0] > 1000000);
    p[get_local_id(0) & 3] = get_global_id(0); // nowhere
}

kernel void undefined(ARGS)
{
    int a[64]; // undefined
    for (int i = 0; i < in[0] + 32; i++)
        a[i * 2] = i;
    int x = a[in[get_global_id(0)] | 1];
    if (x > 3) // undefined
        out[get_global_id(0)] = in[x & 7] * 3;
}

kernel void divergent(ARGS)
{
    local int l[64];
    l[get_local_id(0)] = in[get_global_id(0)];
    if (in[get_local_id(0)] > 5) {
        barrier(CLK_LOCAL_MEM_FENCE); // barrier
        out[get_global_id(0)] = l[in[get_local_id(0)]];
    }
}

kernel void overflow(ARGS)
{
    local int first[64], second[64]; // overflow
    first[get_local_id(0)] = 1;
    second[get_local_id(0)] = 2;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = first[get_local_id(0) + in[0] + 1] + second[get_local_id(0)]; // overflow
}

kernel void copies(ARGS)
{
    local int l[64];
    event_t e = async_work_group_copy(l, in + 64 * get_group_id(0), 64, 0);
    for (int i = 0; i < 3; i++)
        e = async_work_group_copy(out + 64 * (get_local_id(0) == 40 && i == 2 ? 0 : i), l, 64, e); // copies
    wait_group_events(1, &e);
}

kernel void unwaited(ARGS)
{
    local int l[64];
    async_work_group_copy(l, in, 64, 0); // unwaited
}

kernel void no_event(ARGS)
{
    event_t e = 0;
    wait_group_events(1, &e); // no_event
}

kernel void left(ARGS)
{
    local int l[64];
    event_t e = async_work_group_copy(l, in, 64, 0);
    wait_group_events(1, &e);
    if (get_local_id(0) < 32)
        e = async_work_group_copy(out, l, 64, 0); // left
    wait_group_events(1, &e);
}

kernel void other_event(ARGS)
{
    local int l[64];
    event_t e[2];
    e[0] = async_work_group_copy(l, in, 64, 0);
    e[1] = async_work_group_copy(out, l, 64, 0);
    wait_group_events(1, e + (get_local_id(0) & 1)); // other_event
    wait_group_events(2, e);
}

kernel void other_count(ARGS)
{
    local int l[64];
    event_t e[2];
    e[0] = async_work_group_copy(l, in, 64, 0);
    e[1] = async_work_group_copy(out, l, 64, 0);
    wait_group_events(1 + (get_local_id(0) > 50), e); // other_count
    wait_group_events(2, e);
}

kernel void copied_over(ARGS)
{
    out[get_local_id(0)] = 0; // copied_over
    local int l[64];
    event_t e = async_work_group_copy(l, in, 64, 0);
    wait_group_events(1, &e);
    e = async_work_group_copy(out + 64, l, 64, 0);
    out[64 + get_local_id(0)] = 1; // copied_over
    wait_group_events(1, &e);
}
