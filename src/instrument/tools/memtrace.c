/* SPDX-License-Identifier: MIT */
/*
 * What memory instructions touch: addresses by lane, from the registers that a message carries them
 * in. Blocks are one access of all their bytes, but for those of two dimensions, which are left
 * out. Addresses are virtual ones (a64), or offsets in a surface, whatever names it, or in local
 * memory.
 */
#include "instrument/tools/tools.h"

#include <stdio.h>
#include <string.h>

enum { LINE_B = 64, SECTOR_B = 32, LANES = 32 };

static const struct zs_tool_column columns[] = {
    {.name = "kernel", .kind = ZS_TOOL_KEY},
    {.name = "line", .kind = ZS_TOOL_KEY},
    {.name = "offset", .kind = ZS_TOOL_KEY},
    {.name = "access", .kind = ZS_TOOL_KEY},
    {.name = "messages", .kind = ZS_TOOL_SUM},
    {.name = "lanes", .kind = ZS_TOOL_SUM},
    {.name = "bytes", .kind = ZS_TOOL_SUM},
    {.name = "sectors", .kind = ZS_TOOL_SUM},
    {.name = "cachelines", .kind = ZS_TOOL_SUM},
    {.name = "same", .kind = ZS_TOOL_SUM},
    {.name = "unit", .kind = ZS_TOOL_SUM},
    {.name = "strided", .kind = ZS_TOOL_SUM},
    {.name = "scattered", .kind = ZS_TOOL_SUM},
    {.name = "footprint", .kind = ZS_TOOL_SUM},
    {.name = "cachelines/message", .kind = ZS_TOOL_RATIO, .above = 8, .below = 4},
};

/* A block by the load/store unit: lane 0 has its address. */
static bool is_lane_block(const struct zs_isa_message *m)
{
    return m->flags & ZS_MSGF_TRANSPOSE;
}

/* Xe3P: behind a base in s0, which records do not have. */
static bool has_base(const struct zs_isa_inst *inst)
{
    return inst->flags & ZS_INST_INDIRECT0;
}

static bool is_traced(const struct zs_isa_message *m)
{
    bool memory = m->kind == ZS_MSG_LOAD || m->kind == ZS_MSG_STORE || m->kind == ZS_MSG_ATOMIC;
    bool place = m->surface == ZS_SURFACE_BTI || m->surface == ZS_SURFACE_STATELESS ||
                 m->surface == ZS_SURFACE_SLM || m->surface == ZS_SURFACE_BINDLESS;
    return memory && place && !(m->flags & ZS_MSGF_TYPED) && m->flags & ZS_MSGF_BYTES_KNOWN &&
           (m->flags & ZS_MSGF_BLOCK || (m->address_bits >= 32 && !(m->flags & ZS_MSGF_HEADER)));
}

/* What a constant before the instruction put into that byte of s0, in the same block; or -1. */
static int named_by(const struct zs_isa_kernel *code, uint32_t i, uint32_t byte)
{
    while (i-- > 0) {
        const struct zs_isa_inst *inst = zs_isa_inst(code, i);
        const struct zs_isa_operand *to = &inst->dst;
        uint32_t size_B = zs_isa_type_bits((enum zs_isa_type)to->type) / 8;
        if (zs_isa_op_flags((enum zs_isa_op)inst->op) & ZS_OPF_BRANCH)
            return -1;
        if (to->file != ZS_FILE_S || byte < to->subreg_B || byte >= to->subreg_B + size_B)
            continue;
        bool constant = inst->op == ZS_OP_MOV && inst->src[0].kind == ZS_OPERAND_IMM;
        return constant ? (int)(inst->src[0].imm >> (byte - to->subreg_B) * 8 & 0xff) : -1;
    }
    return -1;
}

/* Where the addresses stand: in the payload, or (Xe3) in registers that s0 names, if these stand
 * side by side. false: elsewhere. */
static bool find_addresses(const struct zs_isa_kernel *code, uint32_t i, uint32_t count,
                           uint32_t *ret_reg)
{
    const struct zs_isa_operand *payload = &zs_isa_inst(code, i)->src[0];
    if (payload->file == ZS_FILE_S) {
        int first = named_by(code, i, payload->subreg * 2u), next = first;
        for (uint32_t k = 1; k < count && next == first + (int)k - 1; k++)
            next = named_by(code, i, payload->subreg * 2u + k);
        *ret_reg = (uint32_t)first;
        return first >= 0 && next == first + (int)count - 1;
    }
    *ret_reg = payload->reg;
    return payload->file == ZS_FILE_GRF;
}

static int instrument(struct zs_tool_run *run, struct zs_edit_kernel *kernel, struct zs_diag *diag)
{
    const struct zs_isa_kernel *code = zs_edit_kernel_code(kernel);
    int error = 0;
    for (uint32_t i = 0; code && i < zs_isa_kernel_count(code) && !error; i++) {
        const struct zs_isa_inst *inst = zs_isa_inst(code, i);
        const struct zs_isa_message *m = zs_isa_inst_message(code, i);
        if (!m || !is_traced(m) || has_base(inst))
            continue;
        uint32_t grf_B = zs_tool_grf_B(code), size_B = m->address_bits / 8u * inst->exec_size, reg;
        size_B = m->flags & ZS_MSGF_BLOCK ? grf_B : size_B;
        if (find_addresses(code, i, (size_B + grf_B - 1) / grf_B, &reg))
            error = zs_tool_trace(run, kernel, i, ZS_EDIT_BEFORE, reg, (size_B + grf_B - 1) / grf_B,
                                  diag);
    }
    return error;
}

/* Addresses of the lanes that are on, in order; how many. */
static uint32_t addresses(const struct zs_isa_inst *inst, const struct zs_isa_message *m,
                          const struct zs_edit_record *r, uint32_t grf_B, uint64_t ret[LANES])
{
    uint32_t size_B = m->address_bits / 8u, count = 0;
    if (is_lane_block(m)) {
        ret[0] = 0;
        memcpy(ret, r->grf, size_B);
        ret[0] += (uint64_t)(int64_t)m->offset_B;
        return 1;
    }
    if (m->flags & ZS_MSGF_BLOCK) {
        uint32_t dword2;
        memcpy(&dword2, r->grf + 8, 4);
        ret[0] = dword2;
        if (m->surface == ZS_SURFACE_STATELESS && m->address_bits == 64)
            memcpy(ret, r->grf, 8);
        else if (!strstr(m->name, "unaligned") || m->kind == ZS_MSG_STORE)
            ret[0] = (uint64_t)dword2 * 16;
        return 1;
    }
    for (uint32_t c = 0; c < inst->exec_size && c < LANES; c++) {
        uint64_t address = 0;
        if (!(r->lanes >> (inst->channel_offset + c) & 1) ||
            (c + 1) * size_B > r->grf_count * grf_B)
            continue;
        memcpy(&address, r->grf + (size_t)c * size_B, size_B);
        bool wraps = m->surface == ZS_SURFACE_SLM && m->sfid != ZS_SFID_SLM;
        ret[count++] = wraps ? address & 0xffff : address + (uint64_t)(int64_t)m->offset_B;
    }
    return count;
}

static uint32_t distinct(const uint64_t *address, uint32_t count, uint32_t size_B, uint32_t unit_B)
{
    uint64_t seen[LANES * 4];
    uint32_t total = 0;
    for (uint32_t i = 0; i < count; i++)
        for (uint64_t u = address[i] / unit_B; u <= (address[i] + size_B - 1) / unit_B; u++) {
            uint32_t s = 0;
            while (s < total && seen[s] != u)
                s++;
            if (s == total && total < LANES * 4)
                seen[total++] = u;
        }
    return total;
}

static void record(struct zs_tool_run *run, struct zs_edit_kernel *kernel, uint32_t i,
                   const struct zs_edit_record *r)
{
    const struct zs_isa_kernel *code = zs_edit_kernel_code(kernel);
    const struct zs_isa_inst *inst = zs_isa_inst(code, i);
    const struct zs_isa_message *m = zs_isa_inst_message(code, i);
    uint64_t address[LANES];
    uint32_t count = r->grf_count ? addresses(inst, m, r, zs_tool_grf_B(code), address) : 0;
    if (!count)
        return;
    uint32_t bytes = m->read_B > m->written_B ? m->read_B : m->written_B;
    uint32_t size_B = m->flags & ZS_MSGF_BLOCK ? bytes : bytes / (m->lanes ? m->lanes : 1u);
    double touched_B = 0;
    bool even = true;
    for (uint32_t a = 0; a < count; a++) {
        even &= a < 2 || address[a] - address[a - 1] == address[1] - address[0];
        for (uint64_t l = address[a] / LINE_B; l <= (address[a] + size_B - 1) / LINE_B; l++)
            if (zs_tool_is_new(run, r->site, l))
                touched_B += LINE_B;
    }
    uint64_t stride = count > 1 ? address[1] - address[0] : size_B;
    char offset[32], access[96];
    snprintf(offset, sizeof(offset), "0x%04x", inst->offset_B);
    static const char *const spaces[] = {[ZS_SURFACE_BTI] = "surface",
                                         [ZS_SURFACE_STATELESS] = "memory",
                                         [ZS_SURFACE_SLM] = "local",
                                         [ZS_SURFACE_BINDLESS] = "surface"};
    snprintf(access, sizeof(access), "%s %u B %s", zs_isa_message_kind_name(m->kind), size_B,
             spaces[m->surface]);
    const char *keys[] = {zs_edit_kernel_info(kernel)->name, zs_tool_line(run, kernel, i), offset,
                          access};
    zs_tool_row_at(run, kernel, i, keys,
                   (const double[]){1, count, (double)count * size_B,
                                    distinct(address, count, size_B, SECTOR_B),
                                    distinct(address, count, size_B, LINE_B), even && stride == 0,
                                    even && stride == size_B, even && stride && stride != size_B,
                                    !even, touched_B});
    zs_tool_executed(run, kernel, i, 1, (uint64_t)__builtin_popcount(r->lanes));
}

const struct zs_tool zs_tool_memtrace = {
    .size_B = sizeof(struct zs_tool),
    .name = "memtrace",
    .summary = "addresses of memory accesses: strides, sectors, cache lines, footprints",
    .columns = columns,
    .column_count = sizeof(columns) / sizeof(*columns),
    .instrument = instrument,
    .record = record,
};
