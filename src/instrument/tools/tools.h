/* SPDX-License-Identifier: MIT */
/* The tools that zescope brings, rows of tools.def. Each needs nothing but the public headers. */
#ifndef ZS_INSTRUMENT_TOOLS_H
#define ZS_INSTRUMENT_TOOLS_H

#include <zescope/instrument.h>

#define TOOL(name) extern const struct zs_tool zs_tool_##name;
#include "instrument/tools/tools.def"
#undef TOOL

#endif
