/* SPDX-License-Identifier: MIT */
/*
 * Kernels as SYCL compilers make them of handlers: entry points named by types (_ZTS6AddOne); accessors as a pointer
 * and ranges by value; ids, barriers, atomics and groups as SPIR-V's built-in functions.
 */
#define GLOBAL __attribute__((opencl_global))
#define LOCAL  __attribute__((opencl_local))

typedef __SIZE_TYPE__ size_t;
enum scope { DEVICE = 1, WORKGROUP = 2, SUBGROUP = 3 };
enum { RELAXED = 0, ACQUIRE_RELEASE_LOCAL = 0x108, REDUCE = 0 };

size_t __spirv_BuiltInGlobalInvocationId(int);
size_t __spirv_BuiltInGlobalSize(int);
size_t __spirv_BuiltInLocalInvocationId(int);
size_t __spirv_BuiltInWorkgroupSize(int);
size_t __spirv_BuiltInWorkgroupId(int);
__attribute__((convergent)) void __spirv_ControlBarrier(int execution, int memory, int semantics);
__attribute__((convergent)) int __spirv_GroupIAdd(int scope, int operation, int x);
__attribute__((convergent)) int __spirv_GroupBroadcast(int scope, int x, unsigned lane);
int __spirv_AtomicIAdd(int *p, int scope, int semantics, int x);

template <int N> struct range {
    size_t at[N];
};

template <typename T, int N> struct accessor {
    T *data;
    range<N> size, memory, offset;
    T &operator[](range<N> i) const
    {
        size_t linear = 0;
        for (int d = 0; d < N; d++)
            linear = linear * memory.at[d] + i.at[d] + offset.at[d];
        return data[linear];
    }
};

/* What a handler gives to an entry point, and this to the function that does the work: clang 21 loses braces here. */
#define ACCESSOR(T, N, name) T *name##_data, range<N> name##_size, range<N> name##_memory, range<N> name##_offset
#define TAKE(name)           make(name##_data, name##_size, name##_memory, name##_offset)

template <typename T, int N>
accessor<T, N> make(T *data, range<N> size, range<N> memory, range<N> offset)
{
    return {data, size, memory, offset};
}

/* A range that is rounded up: an item takes what is a step further, too. */
template <typename F> void rounded(range<1> wanted, F each)
{
    size_t step = __spirv_BuiltInGlobalSize(0);
    for (size_t i = __spirv_BuiltInGlobalInvocationId(0); i < wanted.at[0]; i += step)
        each(range<1>{{i}});
}

void add_one(accessor<GLOBAL const int, 1> from, accessor<GLOBAL int, 1> to, range<1> wanted)
{
    rounded(wanted, [=](range<1> i) { to[i] = from[i] + 1; });
}

struct AddOne;
[[clang::sycl_kernel_entry_point(AddOne)]]
void kernel_add_one(ACCESSOR(GLOBAL const int, 1, a), ACCESSOR(GLOBAL int, 1, out), range<1> wanted)
{
    add_one(TAKE(a), TAKE(out), wanted);
}

/* Two dimensions, a tile in local memory, turned. */
void turn(accessor<GLOBAL const int, 2> from, accessor<GLOBAL int, 2> to, LOCAL int *tile)
{
    size_t side = __spirv_BuiltInWorkgroupSize(0);
    size_t x = __spirv_BuiltInLocalInvocationId(0), y = __spirv_BuiltInLocalInvocationId(1);
    size_t left = __spirv_BuiltInWorkgroupId(0) * side, top = __spirv_BuiltInWorkgroupId(1) * side;
    tile[y * side + x] = from[{{top + y, left + x}}];
    __spirv_ControlBarrier(WORKGROUP, WORKGROUP, ACQUIRE_RELEASE_LOCAL);
    to[{{left + y, top + x}}] = tile[x * side + y];
}

struct Turn;
[[clang::sycl_kernel_entry_point(Turn)]]
void kernel_turn(ACCESSOR(GLOBAL const int, 2, a), ACCESSOR(GLOBAL int, 2, out), LOCAL int *tile)
{
    turn(TAKE(a), TAKE(out), tile);
}

/* A sum of groups, by one atomic of each, through a generic pointer in an object. */
struct Total {
    int *sum;
    void add(int x) const { __spirv_AtomicIAdd(sum, DEVICE, RELAXED, x); }
};

void sum(accessor<GLOBAL const int, 1> from, Total total, GLOBAL int *first)
{
    size_t i = __spirv_BuiltInGlobalInvocationId(0);
    int mine = from[{{i}}], together = __spirv_GroupIAdd(WORKGROUP, REDUCE, mine);
    if (__spirv_BuiltInLocalInvocationId(0) == 0)
        total.add(together);
    first[i] = __spirv_GroupBroadcast(SUBGROUP, mine, 0);
}

struct Sum;
[[clang::sycl_kernel_entry_point(Sum)]]
void kernel_sum(ACCESSOR(GLOBAL const int, 1, a), GLOBAL int *, Total total, GLOBAL int *first)
{
    sum(TAKE(a), total, first);
}
