/* SPDX-License-Identifier: MIT */
/* What stepped.cl needs to be C: each work-item is a thread, and writes down what its variables
 * hold. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef unsigned char uchar;
typedef unsigned long ulong;
typedef float float4 __attribute__((ext_vector_type(4)));
typedef int int2 __attribute__((ext_vector_type(2)));
typedef long long2 __attribute__((ext_vector_type(2)));

#define kernel
#define global
#define local               static
#define CLK_LOCAL_MEM_FENCE 1
enum { ITEMS = 32 };

static _Thread_local int item;
static _Thread_local FILE *log_to;
static pthread_barrier_t all;
#define get_global_id(d) item
#define get_local_id(d)  item
#define barrier(flags)   pthread_barrier_wait(&all)

static void put(const char *name, const void *bytes, size_t size)
{
    fprintf(log_to, ", \"%s\": \"", name);
    for (size_t i = 0; i < size; i++)
        fprintf(log_to, "%02x", ((const uint8_t *)bytes)[i]);
    fputc('"', log_to);
}
static void begin(int line)
{
    fprintf(log_to, "{\"line\": %d", line);
}
static void end(void)
{
    fprintf(log_to, "}\n");
}

#define P(v)                                put(#v, &(v), sizeof(v))
#define E1(a)                               P(a)
#define E2(a, ...)                          (P(a), E1(__VA_ARGS__))
#define E3(a, ...)                          (P(a), E2(__VA_ARGS__))
#define E4(a, ...)                          (P(a), E3(__VA_ARGS__))
#define E5(a, ...)                          (P(a), E4(__VA_ARGS__))
#define E6(a, ...)                          (P(a), E5(__VA_ARGS__))
#define E7(a, ...)                          (P(a), E6(__VA_ARGS__))
#define E8(a, ...)                          (P(a), E7(__VA_ARGS__))
#define NTH(a, b, c, d, e, f, g, h, n, ...) n
#define EACH(...)                           NTH(__VA_ARGS__, E8, E7, E6, E5, E4, E3, E2, E1, )(__VA_ARGS__)
#define Q(...)                              (begin(__LINE__), EACH(__VA_ARGS__), end()),
#define L(...)                              (begin(__LINE__), EACH(__VA_ARGS__), end());
