/* SPDX-License-Identifier: MIT */
/* A module with the kernels writes(int *, int) and reads(const int *, int *, int). */
#ifndef ZS_FUZZ_MODULE_H
#define ZS_FUZZ_MODULE_H

#include <stdint.h>

__asm__(".section .rodata\n"
        ".balign 16\n"
        "fuzz_module:\n"
        ".incbin \"" FUZZ_MODULE "\"\n"
        "fuzz_module_end:\n"
        ".byte 0\n"
        ".previous\n");
extern const uint8_t fuzz_module[], fuzz_module_end[];

#endif
