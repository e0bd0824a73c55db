/* SPDX-License-Identifier: MIT */
/* The machine-code layer. Its interface is the public header. */
#ifndef ZS_ISA_ISA_H
#define ZS_ISA_ISA_H

#include "base/compiler.h"
#include "base/diag.h"
#include "base/span.h"

#include <zescope/isa.h>

#endif
