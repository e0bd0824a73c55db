kernel void add(global int *a, int n)
{
    a[get_global_id(0)] += n;
}

kernel void scale(global int *a, int n)
{
    a[get_global_id(0)] *= n;
}
