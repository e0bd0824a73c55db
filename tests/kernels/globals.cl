// Program-scope variables: constants, zero and non-zero globals, pointers between them.
// Compile with -cl-std=CL2.0.
__constant float weights[5] = {0.1f, 0.2f, 0.4f, 0.2f, 0.1f};
__global int counter = 7;
__global int zeros[100];
__global int *pointer = &counter;
__constant int primes[] = {2, 3, 5, 7};
__constant int *__constant pointers[] = {primes, primes + 2};

__kernel void use_globals(__global float *out, int i)
{
    zeros[i] += *pointer;
    out[get_global_id(0)] = weights[i % 5] + zeros[i] + *pointers[i & 1];
    counter = i;
}
