/* SPDX-License-Identifier: MIT */
/* The machine-code layer. Its interface is the public header. */
#ifndef ZS_ISA_ISA_H
#define ZS_ISA_ISA_H

#include "base/compiler.h"
#include "base/diag.h"
#include "base/span.h"

#include <zescope/isa.h>

/* Two EUs run one program in step: a branch is taken for both. */
static inline bool zs_isa_has_fused_eus(enum zs_isa_platform platform)
{
    return platform >= ZS_ISA_XE_LP && platform <= ZS_ISA_XE_HPG;
}

#endif
