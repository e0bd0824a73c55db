/* SPDX-License-Identifier: MIT */
/*
 * Any descriptor with any payload against a small memory: every access stays inside what the port
 * allows (the sanitizer and the guard bytes see the others), and nothing hangs.
 *
 * Input: messages of 16 bytes (descriptor, lane mask, SFID with flags: registers of 64 bytes,
 * "ExBSO", load/store cache; lengths, places in the register file), then the register file; missing
 * bytes are 0.
 */
#include "dataport/dataport.h"

#include <stdlib.h>
#include <string.h>

enum { FILE_B = 4096, MEMORY_B = 1024, MESSAGES_MAX = 8, MESSAGE_B = 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B);

struct state {
    struct zs_port port;
    struct zs_port_node node;
    struct zs_port_surface surfaces[6];
    struct zs_port_sampler samplers[2];
    uint64_t written[MEMORY_B / 64 + 1];
};

static void set_up(struct state *s, uint8_t *memory, uint8_t *slm, uint8_t *scratch, uint8_t flags,
                   uint8_t format)
{
    memset(s, 0, sizeof(*s));
    s->node.range = (struct zs_port_range){.start = (uint64_t)(uintptr_t)memory,
                                           .end = (uint64_t)(uintptr_t)memory + MEMORY_B,
                                           .read_only = flags & 16,
                                           .written = flags & 2 ? s->written : NULL};
    s->surfaces[0] = (struct zs_port_surface){
        .kind = ZS_PORT_SURFACE_BUFFER, .base = memory, .size_B = MEMORY_B - 3};
    s->surfaces[1].kind = ZS_PORT_SURFACE_NULL;
    s->surfaces[2].kind = ZS_PORT_SURFACE_FREED;
    for (uint8_t i = 3; i < 6; i++) {
        s->surfaces[i] =
            (struct zs_port_surface){.kind = ZS_PORT_SURFACE_IMAGE,
                                     .dimensions = (uint8_t)(i - 2),
                                     .is_array = i < 5 && flags & 32,
                                     .swizzle = {4, 5, 6, 7},
                                     .base = memory,
                                     .format = zs_port_format_at(format % zs_port_format_count()),
                                     .width = 4,
                                     .height = i > 3 ? 3 : 1,
                                     .depth = i == 5 || flags & 32 ? 2 : 1,
                                     .row_pitch_B = 64,
                                     .slice_pitch_B = 256};
        s->surfaces[i].size_B = MEMORY_B;
    }
    s->samplers[1] = (struct zs_port_sampler){
        .wrap = {ZS_PORT_WRAP_REPEAT, ZS_PORT_WRAP_MIRROR, ZS_PORT_WRAP_BORDER},
        .linear = true,
        .normalized = flags & 64};
    s->port = (struct zs_port){.map = {&s->node},
                               .surfaces = s->surfaces,
                               .surface_count = 6,
                               .samplers = s->samplers,
                               .sampler_count = 2,
                               .flags = flags & 7,
                               .slm = slm,
                               .slm_B = MEMORY_B,
                               .scratch = scratch,
                               .scratch_start = MEMORY_B,
                               .scratch_bias = MEMORY_B,
                               .scratch_end = 2 * MEMORY_B};
}

/* Addresses that lead somewhere: a marker byte in a payload becomes the memory's address. */
static void plant_addresses(uint8_t *file, const uint8_t *memory)
{
    for (size_t at = 0; at + 8 <= FILE_B; at += 8) {
        uint64_t va;
        memcpy(&va, file + at, 8);
        if (va >> 56 != 0xa5)
            continue;
        va = (uint64_t)(uintptr_t)memory + (va & 0xffff);
        memcpy(file + at, &va, 8);
    }
}

static void execute(struct state *s, const uint8_t *bytes, uint8_t *file)
{
    uint32_t desc, mask;
    memcpy(&desc, bytes, 4);
    memcpy(&mask, bytes + 4, 4);
    uint32_t mlen = bytes[9] & 15, xlen = bytes[10] & 15, rlen = bytes[11] & 31;
    bool wide = bytes[8] & 0x20;
    enum zs_isa_platform platform = wide                ? ZS_ISA_XE_HPC
                                    : (bytes[8] & 0x80) ? ZS_ISA_XE_HPG
                                                        : ZS_ISA_GEN9;
    uint32_t grf_B = wide ? 64 : 32, grfs = FILE_B / grf_B;
    uint32_t dst = bytes[12] % grfs, src0 = bytes[13] % grfs, src1 = bytes[14] % grfs;
    if (dst + rlen > grfs || src0 + mlen > grfs || src1 + xlen > grfs)
        return;
    struct zs_port_message message;
    const struct zs_port_message_row *row;
    struct zs_diag diag = {0};
    const struct zs_isa_send send = {.sfid = bytes[8] & 31,
                                     .desc = desc,
                                     .ex_desc = (bytes[10] & 0xf0u) << 24 |
                                                (bytes[15] & 0xf0u) << 20 |
                                                (bytes[11] >> 5 & 7u) << 6,
                                     .mlen = mlen,
                                     .xlen = xlen,
                                     .rlen = rlen,
                                     .generation = zs_isa_generation(platform),
                                     .exec_size = 1u << (bytes[9] >> 4) % 6,
                                     .is_surface_offset = bytes[8] & 0x40};
    if (zs_port_message_decode(&send, &message, &row, &diag))
        return;
    message.cache_slot = bytes[15] % ZS_PORT_CACHE;
    uint8_t joined[32 * 64], response[32 * 64] = {0};
    const uint8_t *first = file + src0 * grf_B, *second = file + src1 * grf_B;
    if (message.gather) {
        memcpy(joined, first, mlen * grf_B);
        memcpy(joined + mlen * grf_B, second, xlen * grf_B);
        first = joined;
    }
    uint32_t lanes = message.lanes ? UINT32_MAX >> (32 - message.lanes) : UINT32_MAX;
    uint8_t *exact = malloc(rlen * grf_B + 1); /* the sanitizer sees responses that are too long */
    if (!exact)
        return;
    memcpy(exact, response, rlen * grf_B);
    row->run(&s->port, &message, exact, first, second, mask & lanes);
    memcpy(file + dst * grf_B, exact, rlen * grf_B);
    free(exact);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B)
{
    uint8_t file[FILE_B] = {0};
    uint8_t *memory = aligned_alloc(64, MEMORY_B), *slm = aligned_alloc(64, MEMORY_B);
    uint8_t *scratch = aligned_alloc(64, 2 * MEMORY_B);
    struct state s;
    size_t used = 0;
    if (memory && slm && scratch && size_B > 3) {
        memset(memory, 0x11, MEMORY_B);
        memset(slm, 0x22, MEMORY_B);
        memset(scratch, 0x33, 2 * MEMORY_B);
        size_t count = data[0] % MESSAGES_MAX + 1u;
        set_up(&s, memory, slm, scratch, data[1], data[2]);
        const uint8_t *messages = data + 3;
        used = 3 + count * MESSAGE_B;
        if (used < size_B) {
            memcpy(file, data + used, ZS_MIN(size_B - used, (size_t)FILE_B));
            plant_addresses(file, memory);
            for (size_t i = 0; i < count; i++) {
                memset(&s.port.fault, 0, sizeof(s.port.fault));
                execute(&s, messages + i * MESSAGE_B, file);
            }
        }
    }
    free(memory);
    free(slm);
    free(scratch);
    return 0;
}
