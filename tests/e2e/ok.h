/* SPDX-License-Identifier: MIT */
/* Of programs that tests run: a call of the API that has to succeed. Status 3 where it does not. */
#ifndef E2E_OK_H
#define E2E_OK_H

#include <level_zero/ze_api.h>

#include <stdio.h>
#include <stdlib.h>

#define OK(call)                                                                                   \
    do {                                                                                           \
        ze_result_t ok_result = (call);                                                            \
        if (ok_result) {                                                                           \
            fprintf(stderr, "%s: 0x%x\n", #call, (unsigned)ok_result);                             \
            exit(3);                                                                               \
        }                                                                                          \
    } while (0)

#endif
