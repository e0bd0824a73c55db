#pragma OPENCL EXTENSION __cl_clang_function_pointers : enable
#define I    get_global_id(0)
#define CALL __attribute__((noinline))
typedef int function(int x);

#ifndef TOOL
/* The application: its kernel calls one of two functions. */
CALL int one(int x)
{
    return x + 1;
}

CALL int ten(int x)
{
    return x * 10;
}

kernel void run(global const int *in, global int *out)
{
    int x = in[I];
    function *f = x & 1 ? one : ten;
    out[I] = f(x);
}
#else
/* The tool's: it counts its calls. */
global int calls;

CALL int hundred(int x)
{
    atomic_inc((volatile global int *)&calls);
    return x * 100;
}

kernel void exports(global ulong *out)
{
    out[0] = (ulong)(function *)hundred;
}

kernel void told(global int *out)
{
    out[0] = calls;
}
#endif
