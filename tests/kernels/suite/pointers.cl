/* SPDX-License-Identifier: MIT */
#ifdef SIMD
#define KERNEL __attribute__((intel_reqd_sub_group_size(SIMD))) kernel
#else
#define KERNEL kernel
#endif
#define I    get_global_id(0)
#define CALL __attribute__((noinline))

/* Calls through addresses. ocloc's OpenCL C refuses them: clang makes the compiler's input. */
#pragma OPENCL EXTENSION __cl_clang_function_pointers : enable

typedef int function(int x);
typedef function *pointer;

CALL int triple(int x)
{
    return x * 3 + 1;
}

CALL int mix(int x)
{
    for (int i = 0; i < (x & 7); i++)
        x = x * 5 + i;
    return x;
}

CALL int less(int x)
{
    return x & 8 ? x - 7 : triple(x) - 7;
}

CALL int twice(int x)
{
    return less(mix(x)) ^ 0x55;
}

/* Lanes call different functions. */
KERNEL void pointers_select(global const int *a, global int *out)
{
    int x = a[I] & 0xffff;
    pointer f = x & 1 ? triple : x & 2 ? mix : x & 4 ? less : twice;
    out[I] = f(x);
}

/* Only zebin has relocations for addresses in constants. */
constant pointer table[4] = {triple, mix, less, twice};

KERNEL void pointers_table(global const int *a, global int *out)
{
    int x = a[I] & 0xffff;
    out[I] = table[x >> 4 & 3](x) + table[x >> 6 & 3](x + 1);
}

#define PICK(i) (((i) & 3) == 0 ? triple : ((i) & 3) == 1 ? mix : ((i) & 3) == 2 ? less : twice)

CALL int apply(pointer f, pointer g, int x, int times)
{
    for (int i = 0; i < times; i++) {
        x = f(x) & 0xffff;
        if (x & 32)
            x = g(x) & 0xffff;
        if ((x & 0x7f) == 0x11)
            break;
    }
    return x;
}

KERNEL void pointers_apply(global const int *a, global int *out)
{
    int x = a[I] & 0xffff;
    out[I] = apply(PICK(x & 3), PICK(x >> 2 & 3), x, x >> 4 & 7);
}

/* Calls behind branches and in loops of different length. */
KERNEL void pointers_flow(global const int *a, global int *out)
{
    int x = a[I] & 0xffff, sum = 0;
    for (int i = 0; i < (x & 15); i++) {
        if ((x >> i) & 1) {
            sum += PICK((x + i) & 3)(sum & 0xfff);
            if (sum & 0x100000)
                break;
        } else if (i & 1) {
            sum ^= triple(i);
            continue;
        }
        x = PICK(i & 3)(x) & 0xffff;
    }
    out[I] = sum + x;
}

struct object {
    pointer call;
    int value;
};

CALL int call_object(const struct object *o, int x)
{
    return o->call(x + o->value);
}

KERNEL void pointers_objects(global const int *a, global int *out)
{
    int x = a[I] & 0xffff;
    struct object objects[3];
    for (int i = 0; i < 3; i++) {
        objects[i].call = PICK((x >> i) & 3);
        objects[i].value = i * 100;
    }
    out[I] = call_object(&objects[(uint)x % 3], x) - call_object(&objects[1], x >> 4);
}

/* An address that the host, or another kernel, has written. */
KERNEL void pointers_store(global ulong *addresses)
{
    if (I < 4)
        addresses[I] = (ulong)PICK(I);
}

KERNEL void pointers_load(global const int *a, global const ulong *addresses, global int *out)
{
    int x = a[I] & 0xffff;
    out[I] = ((pointer)addresses[x & 3])(x);
}
