/* SPDX-License-Identifier: MIT */
/* Shared by the files of src/isa only. */
#ifndef ZS_ISA_PRIV_H
#define ZS_ISA_PRIV_H

#include "isa/isa.h"

/* iga_gen_t of a platform, 0 for none. */
uint32_t zs_isa_iga_gen(enum zs_isa_platform platform);

#endif
