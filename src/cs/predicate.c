/* SPDX-License-Identifier: MIT */
/*
 * Commands that are run, or not, by what registers or memory say. Two states: MI_PREDICATE's
 * result, which commands ask for that have a bit for it (walkers, MI_STORE_REGISTER_MEM), and
 * MI_SET_PREDICATE's, under which nothing is run but what leads out of it again.
 */
#include "cs/cs_priv.h"

enum { SRC0 = 0x400, SRC1 = 0x408, DATA = 0x410, RESULT = 0x418, RESULT_2 = 0x3bc };

static uint64_t pair(const struct zs_cs *cs, uint32_t offset)
{
    return zs_cs_qword(&cs->registers[offset / 4]);
}

bool zs_cs_is_predicated_off(const struct zs_cs *cs, uint32_t is_asked)
{
    return is_asked && !(cs->registers[RESULT / 4] & 1);
}

int zs_cs_predicate(struct zs_cs *cs, const uint32_t *dw, uint32_t count, struct zs_diag *diag)
{
    enum { KEEP, LOAD = 2, LOAD_INVERTED };
    uint32_t load = zs_cs_bits(dw[0], 7, 6), combine = zs_cs_bits(dw[0], 4, 3);
    uint64_t delta = pair(cs, SRC0) - pair(cs, SRC1);
    const bool compared[4] = {true, false, delta == 0, delta == pair(cs, DATA)};
    if (load != KEEP && load != LOAD && load != LOAD_INVERTED)
        return zs_cs_refuse(cs, dw, count, diag);
    if (load == KEEP)
        return 0;
    bool old = cs->registers[RESULT / 4] & 1;
    bool now = compared[dw[0] & 3] ^ (load == LOAD_INVERTED);
    const bool combined[4] = {now, old && now, old || now, old != now};
    cs->registers[RESULT / 4] = combined[combine];
    return 0;
}

/* By a register's bit, from XeHPG on by this tile's part of a walk, too. */
int zs_cs_set_predicate(struct zs_cs *cs, const uint32_t *dw, uint32_t count, struct zs_diag *diag)
{
    enum { NEVER, RESULT_2_CLEAR, RESULT_2_SET, RESULT_CLEAR, RESULT_SET, ALWAYS = 15 };
    enum { PART_ANY, PART_ZERO, PART_NOT_ZERO };
    bool result = cs->registers[RESULT / 4] & 1, result_2 = cs->registers[RESULT_2 / 4] & 1;
    uint32_t part = cs->registers[ZS_CS_PARTITION / 4];
    uint32_t how = dw[0] & 15, how_part = zs_cs_bits(dw[0], 5, 4);
    const bool by_result[] = {[NEVER] = false,
                              [RESULT_2_CLEAR] = !result_2,
                              [RESULT_2_SET] = result_2,
                              [RESULT_CLEAR] = !result,
                              [RESULT_SET] = result};
    const bool by_part[] = {[PART_ANY] = false, [PART_ZERO] = !part, [PART_NOT_ZERO] = part};
    if ((how >= ZS_ARRAY_LEN(by_result) && how != ALWAYS) || how_part >= ZS_ARRAY_LEN(by_part))
        return zs_cs_refuse(cs, dw, count, diag);
    cs->is_off = how == ALWAYS || by_result[how] || by_part[how_part];
    return 0;
}

bool zs_cs_compares(uint32_t how, uint32_t memory, uint32_t data)
{
    const bool results[8] = {memory > data,  memory >= data, memory < data,
                             memory <= data, memory == data, memory != data};
    return results[how & 7];
}

/* Goes on where the comparison holds. The mask is the dword behind the one that is compared. */
int zs_cs_conditional_end(struct zs_cs *cs, const uint32_t *dw, uint32_t count,
                          struct zs_diag *diag)
{
    enum { LEVEL = 1 << 18, MASKED = 1 << 19, COMPARES = 1 << 21 };
    uint32_t how = zs_cs_bits(dw[0], 14, 12), memory = 0, mask = UINT32_MAX;
    uint64_t at_va = zs_cs_qword(dw + 2) & ~7ull;
    if (!(dw[0] & COMPARES) || how > 5)
        return zs_cs_refuse(cs, dw, count, diag);
    int error = zs_cs_load32(cs, at_va, &memory, diag);
    if (!error && dw[0] & MASKED)
        error = zs_cs_load32(cs, at_va + 4, &mask, diag);
    if (error || zs_cs_compares(how, memory & mask, dw[1]))
        return error;
    if (!(dw[0] & LEVEL))
        cs->depth = 0;
    return zs_cs_batch_end(cs, dw, count, diag);
}
