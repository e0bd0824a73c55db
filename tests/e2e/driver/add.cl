// What every device can compile: no doubles, no 64-bit atomics.
kernel void add_atomic(global int *p)
{
    atomic_inc(p);
}
