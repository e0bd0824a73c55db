/* SPDX-License-Identifier: MIT */
/* The tools that zescope brings, rows of tools.def. Each needs nothing but the public headers. */
#ifndef ZS_INSTRUMENT_TOOLS_H
#define ZS_INSTRUMENT_TOOLS_H

#include <zescope/instrument.h>

#define TOOL(name, args) extern const struct zs_tool zs_tool_##name;
#include "instrument/tools/tools.def"
#undef TOOL

/* Bytes of a register of a record. */
static inline uint32_t zs_tool_grf_B(const struct zs_isa_kernel *code)
{
    return zs_isa_platform_info(zs_isa_kernel_platform(code))->grf_B;
}

/* A number of a type (enum zs_isa_type): values.c. */
double zs_tool_number(uint32_t type, const uint8_t *at);

/* named.c: NAME@kernel.cl:34. */
enum { ZS_NAMED_CHARS = 128, ZS_NAMED_LANES = 32 };
/* The line; NULL: the tool was asked for something else. */
const char *zs_named_split(struct zs_tool_run *run, char ret_name[ZS_NAMED_CHARS]);
int zs_named_probes(struct zs_tool_run *run, struct zs_edit_kernel *kernel, struct zs_diag *diag);
struct zs_named {
    char name[ZS_NAMED_CHARS];
    uint32_t count, missing; /* lanes with a value, and without: `why` */
    double values[ZS_NAMED_LANES];
    struct zs_diag why;
};
void zs_named_values(struct zs_tool_run *run, struct zs_edit_kernel *kernel, uint32_t inst,
                     const struct zs_edit_record *record, struct zs_named *ret);

#endif
