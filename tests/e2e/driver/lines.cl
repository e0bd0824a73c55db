/* Faults whose lines are known: test_lines.c names them. */
kernel void writes(global int *p, int n)
{
    int i = get_global_id(0);
    p[i] = i;
    p[i + n] = 2; /* line 6 */
}

kernel void reads(global const int *p, global int *out, int n)
{
    int i = get_global_id(0);
    int sum = 0;
    for (int k = 0; k < 4; k++)
        sum += p[i * n + k]; /* line 14 */
    out[i] = sum;
}

static void store(global int *p, int at)
{
    p[at] = 3; /* line 20 */
}

kernel void inlines(global int *p, int n)
{
    int i = get_global_id(0);
    store(p, i);
    store(p, i + n); /* line 27 */
}
