/* SPDX-License-Identifier: MIT */
/* Of programs that tests run: what has to hold. Status 1 where it does not. */
#ifndef E2E_EDIT_CHECK_H
#define E2E_EDIT_CHECK_H

#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "line %d: %s\n", __LINE__, #condition);                                \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

#endif
