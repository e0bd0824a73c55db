/* SPDX-License-Identifier: MIT */
/* Messages and kinds of instructions in words. */
#include "report/annotate.h"

#include <stdio.h>
#include <string.h>

const char *zs_report_inst_class(const struct zs_isa_inst *inst)
{
    static const struct {
        uint32_t flag;
        const char *name;
    } rows[] = {
        {ZS_OPF_SEND, "send"}, {ZS_OPF_BRANCH, "flow"}, {ZS_OPF_SYNC, "sync"},
        {ZS_OPF_MATH, "math"}, {ZS_OPF_DPAS, "dpas"},
    };
    if (inst->flags & ZS_INST_ILLEGAL)
        return "illegal";
    uint32_t flags = zs_isa_op_flags((enum zs_isa_op)inst->op);
    for (size_t i = 0; i < ZS_ARRAY_LEN(rows); i++)
        if (flags & rows[i].flag)
            return rows[i].name;
    const char *mnemonic = zs_isa_op_mnemonic((enum zs_isa_op)inst->op);
    return strncmp(mnemonic, "mov", 3) == 0 ? "mov" : "alu";
}

bool zs_report_surface(const struct zs_isa_message *message, char *ret_text, size_t size_B)
{
    static const char *const names[] = {
        [ZS_SURFACE_NONE] = NULL,
        [ZS_SURFACE_BTI] = "bti",
        [ZS_SURFACE_STATELESS] = "stateless",
        [ZS_SURFACE_SLM] = "slm",
        [ZS_SURFACE_SCRATCH] = "scratch",
        [ZS_SURFACE_BINDLESS] = "bindless",
        [ZS_SURFACE_STATE] = "surface state",
        [ZS_SURFACE_REGISTER] = "bti in register",
    };
    if (message->surface >= ZS_ARRAY_LEN(names) || !names[message->surface])
        return false;
    if (message->surface == ZS_SURFACE_BTI)
        snprintf(ret_text, size_B, "bti %u", message->surface_index);
    else
        snprintf(ret_text, size_B, "%s", names[message->surface]);
    return true;
}

void zs_report_message(struct zs_buf *out, const struct zs_isa_message *message)
{
    char surface[32];
    zs_buf_puts(out, message->name && message->name[0] ? message->name : "unknown message");
    if (message->detail && message->detail[0])
        zs_buf_printf(out, " %s", message->detail);
    if (zs_report_surface(message, surface, sizeof(surface)))
        zs_buf_printf(out, ", %s", surface);
    if (message->flags & ZS_MSGF_BYTES_KNOWN) {
        if (message->read_B)
            zs_buf_printf(out, ", reads %u B", message->read_B);
        if (message->written_B)
            zs_buf_printf(out, ", writes %u B", message->written_B);
    }
}
