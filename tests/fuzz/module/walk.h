/* SPDX-License-Identifier: MIT */
/* What every harness of the module layer does with an input that opened. */
#ifndef ZS_TESTS_FUZZ_MODULE_WALK_H
#define ZS_TESTS_FUZZ_MODULE_WALK_H

#include "module/module.h"

/*
 * Open the bytes, check what the model promises (spans inside the input, indexes inside their
 * arrays), and render both views. Aborts when a promise is broken. debug may be empty.
 */
void zs_fuzz_module(struct zs_span bytes, struct zs_span debug);

#endif
