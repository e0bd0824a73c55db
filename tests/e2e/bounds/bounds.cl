/* SPDX-License-Identifier: MIT */
/* Kernels that do what they are told, right or wrong: see bounds.c. */

kernel void write_at(ulong where)
{
    *(global int *)where = 1;
}
