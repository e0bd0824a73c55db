// Kernels that the tests of program debugging stop in.
kernel void spin(volatile global int *p, global int *out)
{
    int n = 0;
    while (p[0] == 0)
        n++;
    out[get_global_id(0)] = p[1] + (n >= 0);
}

kernel void steps(global const int *in, global int *out, int more)
{
    int i = get_global_id(0), sum = more;
    for (int k = 0; k < in[i]; k++)
        sum += in[k] * 3 + k;
    if (sum & 1)
        sum = sum * 5 + 1;
    out[i] = sum;
}

kernel void share(global const int *in, global int *out)
{
    local int tile[64];
    int l = get_local_id(0), n = get_local_size(0);
    tile[l] = in[get_global_id(0)] + 100;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = tile[(l + 1) % n] * 2;
}

kernel void wild(global int *p, global int *out, long offset)
{
    int i = get_global_id(0);
    global int *q = (global int *)((global char *)p + (i == 5 ? offset : 0));
    out[i] = q[i] + 1;
}

// Where its group is of several threads not all of them come to the barrier.
kernel void part(global const int *in, global int *out)
{
    if (get_local_id(0) < 32)
        barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = in[get_global_id(0)] + 1;
}
