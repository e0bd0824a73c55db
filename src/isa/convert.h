/* SPDX-License-Identifier: MIT */
/* Instructions that only turn values into another type. */
#ifndef ZS_ISA_CONVERT_H
#define ZS_ISA_CONVERT_H

#include <zescope/isa.h>

/* Between integers and floats, or floats of different sizes. */
bool zs_isa_converts(const struct zs_isa_inst *inst);
/* INSTS. Instruction i does, or packs small integers otherwise for one that does. */
bool zs_isa_turns(const struct zs_isa_kernel *kernel, uint32_t i);

#endif
