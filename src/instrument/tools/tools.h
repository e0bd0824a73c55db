/* SPDX-License-Identifier: MIT */
/* The tools that zescope brings, rows of tools.def. Each needs nothing but the public headers. */
#ifndef ZS_INSTRUMENT_TOOLS_H
#define ZS_INSTRUMENT_TOOLS_H

#include <zescope/instrument.h>

#define TOOL(name) extern const struct zs_tool zs_tool_##name;
#include "instrument/tools/tools.def"
#undef TOOL

/* Bytes of a register of a record. */
static inline uint32_t zs_tool_grf_B(const struct zs_isa_kernel *code)
{
    return zs_isa_platform_info(zs_isa_kernel_platform(code))->grf_B;
}

#endif
