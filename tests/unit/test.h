/* SPDX-License-Identifier: MIT */
/* cmocka with the headers that it forgets to include. */
#ifndef ZS_TESTS_TEST_H
#define ZS_TESTS_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* after the four above */
#include <cmocka.h>

#endif
