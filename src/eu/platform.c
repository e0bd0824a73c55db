/* SPDX-License-Identifier: MIT */
/*
 * What generations have of their own: the register file of a thread, and rules of instructions.
 * Sources: registers.def of src/isa; intel-graphics-compiler, visa/HWCaps.inc (gotoJumpOnTrue,
 * hasMacMacl, encodeAccWrEn, getNumFlagRegisters, predCtrlHasWidth); volume 2 of the PRMs.
 */
#include "eu/lower/lower.h"

static const struct zs_eu_platform rows[] = {
    {
        .first = ZS_ISA_GEN8,
        .last = ZS_ISA_GEN9,
        .registers = {.grf_B = 32, .flag_count = 2, .acc_count = 2, .a0_count = 16},
        .mach_is_high = true,
        .goto_when_false = true,
        .sfid_in_exdesc = true,
    },
    {
        .first = ZS_ISA_GEN11,
        .last = ZS_ISA_GEN11,
        .registers = {.grf_B = 32, .flag_count = 2, .acc_count = 2, .a0_count = 16},
        .sfid_in_exdesc = true,
    },
    {
        .first = ZS_ISA_XE_LP,
        .last = ZS_ISA_XE_LP,
        .jumps_from_itself = true,
        .one_pipe = true,
        .registers = {.grf_B = 32, .flag_count = 2, .acc_count = 8, .a0_count = 16},
        .macros_in_align1 = true,
    },
    {
        .first = ZS_ISA_XE_HPG,
        .last = ZS_ISA_XE_HPG,
        .jumps_from_itself = true,
        .doubles_are_math = true,
        .registers = {.grf_B = 32, .flag_count = 2, .acc_count = 8, .a0_count = 16},
        .macros_in_align1 = true,
    },
    {
        .first = ZS_ISA_XE_HPC,
        .last = ZS_ISA_XE_HPC,
        .jumps_from_itself = true,
        .registers = {.grf_B = 64, .flag_count = 4, .acc_count = 16, .a0_count = 16},
        .mach_writes_acc = true,
        .has_math_pipe = true,
        .doubles_are_long = true,
        .has_named_barriers = true,
        .macros_in_align1 = true,
    },
    {
        .first = ZS_ISA_XE2,
        .last = ZS_ISA_XE3,
        .has_msg0 = true,
        .jumps_from_itself = true,
        .registers = {.grf_B = 64, .flag_count = 4, .acc_count = 16, .a0_count = 16},
        .mach_writes_acc = true,
        .has_math_pipe = true,
        .doubles_are_long = true,
        .has_named_barriers = true,
        .exdesc_is_state = true,
        .macros_in_align1 = true,
    },
    {
        .first = ZS_ISA_XE3P,
        .last = ZS_ISA_XE3P,
        .has_msg0 = true,
        .jumps_from_itself = true,
        .registers = {.grf_B = 64, .flag_count = 4, .acc_count = 16, .a0_count = 32},
        .mach_writes_acc = true,
        .has_math_pipe = true,
        .converts_as_int = true,
        .doubles_are_long = true,
        .has_named_barriers = true,
        .macros_in_align1 = true,
    },
};

const struct zs_eu_platform *zs_eu_platform_of(enum zs_isa_platform platform)
{
    for (size_t i = 0; i < ZS_ARRAY_LEN(rows); i++) {
        if (platform >= rows[i].first && platform <= rows[i].last)
            return &rows[i];
    }
    return NULL;
}

bool zs_eu_registers_of(enum zs_isa_platform platform, uint32_t grf_count,
                        struct zs_eu_registers *ret)
{
    const struct zs_eu_platform *row = zs_eu_platform_of(platform);
    const struct zs_isa_platform_info *info = zs_isa_platform_info(platform);

    /* from Xe3 on allotted in steps (GRFMode in IGC's G4_Kernel.cpp, NEO's getSupportedNumGrfs())
     */
    bool in_steps = platform >= ZS_ISA_XE3 && grf_count &&
                    ((grf_count <= 256 && grf_count % 32 == 0 && grf_count != 224) ||
                     grf_count == 320 || grf_count == 448);
    bool exists = info && (grf_count == info->grf_count || grf_count == info->grf_count_max ||
                           (in_steps && grf_count < info->grf_count_max));

    if (!row || !exists)
        return false;
    *ret = row->registers;
    ret->grf_count = (uint16_t)grf_count;
    return true;
}
