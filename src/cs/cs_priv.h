/* SPDX-License-Identifier: MIT */
#ifndef ZS_CS_CS_PRIV_H
#define ZS_CS_CS_PRIV_H

#include "cs/cs.h"

#include <errno.h>
#include <string.h>

enum { DEPTH_MAX = 8, LENGTH_MAX = 1024, REGISTER_PAGE_B = 0x1000 };
#define ZS_CS_ADDRESS_BITS ((1ull << 57) - 1)

/* A command in execution: its dwords, copied out of memory that others may write. */
typedef int zs_cs_handler(struct zs_cs *cs, const uint32_t *dw, uint32_t count,
                          struct zs_diag *diag);

enum zs_cs_long { ZS_CS_LONG_FLAG = 0x100 };
#define ZS_CS_LONG(bits) (ZS_CS_LONG_FLAG | (bits))
struct zs_cs_command {
    uint32_t mask, value;
    const char *name;
    uint16_t length;
    zs_cs_handler *run;
};

#define ZS_CS_COMMAND(mask, value, name, length, handler) zs_cs_handler zs_cs_##handler;
#include "cs/commands.def"
#undef ZS_CS_COMMAND

enum { ZS_CS_L3 = 0xb100, ZS_CS_L3_END = 0xb200 };
struct zs_cs {
    const struct zs_cs_ops *ops;
    void *ctx;
    struct zs_cs_params params;
    /* where it is */
    uint64_t at_va, next_va;
    const char *command; /* its name */
    uint64_t returns[DEPTH_MAX];
    uint32_t depth;
    uint64_t phase; /* batches, and what waits in them for all that is before */
    bool ended;
    bool is_off;    /* by MI_SET_PREDICATE */
    bool has_moved; /* the command was a copy or a fill */
    uint64_t ticks; /* the engine's own time: never ahead of the clock by more than a copy's tick */
    uint64_t moved_B; /* by copies, since it looked around */
    /* registers of an engine, from its base on; general ones from 0x600 */
    uint32_t registers[REGISTER_PAGE_B / 4];
    uint32_t l3[(ZS_CS_L3_END - ZS_CS_L3) / 4]; /* kept for who reads them again */
    /* state */
    uint64_t general_va, surface_va, dynamic_va, indirect_va, instruction_va, table_pool_va,
        bindless_va, bindless_sampler_va;
    uint32_t descriptors_offset_B, curbe_offset_B, curbe_B;
    uint32_t scratch_B, scratch_offset_B;
    bool large_grf;
};

static inline uint64_t zs_cs_qword(const uint32_t *dw)
{
    return (uint64_t)dw[0] | (uint64_t)dw[1] << 32;
}
static inline uint32_t zs_cs_bits(uint32_t value, uint32_t high, uint32_t low)
{
    return value >> low & (uint32_t)((2ull << (high - low)) - 1);
}
/* "at 0x...: NAME 0x...: " and what is wrong. */
int zs_cs_fail(struct zs_cs *cs, struct zs_diag *diag, int error, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Memory of the engine; NULL and a sentence in diag. */
uint8_t *zs_cs_memory(struct zs_cs *cs, uint64_t gpu_va, uint64_t size_B, bool is_write,
                      struct zs_diag *diag);
int zs_cs_load32(struct zs_cs *cs, uint64_t gpu_va, uint32_t *ret, struct zs_diag *diag);
int zs_cs_store32(struct zs_cs *cs, uint64_t gpu_va, uint32_t value, struct zs_diag *diag);
int zs_cs_store64(struct zs_cs *cs, uint64_t gpu_va, uint64_t value, struct zs_diag *diag);
/* ... for a copy or a fill. */
uint8_t *zs_cs_touch(struct zs_cs *cs, uint64_t gpu_va, uint64_t size_B, bool is_write,
                     struct zs_diag *diag);
/* So much was copied: now and then others are let in, and what memory() gave is let go. */
int zs_cs_moved(struct zs_cs *cs, uint64_t size_B, struct zs_diag *diag);
/* Which part of a walk is this tile's (WPARID), and how far from its address it writes when a bit
 * of the command says so: 0 unless somebody set these registers. */
enum { ZS_CS_PARTITION = 0x21c, ZS_CS_PARTITION_OFFSET = 0x3b4 };
static inline uint64_t zs_cs_tile_offset_B(const struct zs_cs *cs, uint32_t is_asked)
{
    uint64_t offset_B = cs->registers[ZS_CS_PARTITION_OFFSET / 4];
    return is_asked ? cs->registers[ZS_CS_PARTITION / 4] * offset_B : 0;
}
/* A command that has a bit for it is not to be run: MI_PREDICATE's result is 0. */
bool zs_cs_is_predicated_off(const struct zs_cs *cs, uint32_t is_asked);
/* memory >, >=, <, <=, ==, != data; how: up to 5 */
bool zs_cs_compares(uint32_t how, uint32_t memory, uint32_t data);
uint64_t zs_cs_timestamp(const struct zs_cs *cs);

#endif
