/* SPDX-License-Identifier: MIT */
/*
 * Expansion of Gen9's compacted (64-bit) instructions. Four fields are indices into tables of the
 * commonest bit patterns; all other bits are copied or zero.
 */
#include "isa/gen9_priv.h"

static const uint32_t control_table[32] = {
    0x2,    0x4000, 0x4001, 0x4002, 0x4003,  0x4004,  0x4005,  0x4007,  0x4008,  0x4009,  0x400d,
    0x6000, 0x6001, 0x6002, 0x6003, 0x6004,  0x6005,  0x6007,  0x6009,  0x600d,  0x6010,  0x6100,
    0x8000, 0x8002, 0x8004, 0x8100, 0x16000, 0x16010, 0x18000, 0x18100, 0x28000, 0x28100,
};

static const uint32_t datatype_table[32] = {
    0x40001, 0x40040, 0x40041, 0x400c1, 0x4015d, 0x405dd, 0x40741, 0x40745,
    0x4075d, 0x41041, 0x43040, 0x43041, 0x45145, 0x47144, 0x47145, 0x5c75d,
    0x5d71d, 0x5d75c, 0x5d75d, 0x5f75c, 0x40c,   0x4005d, 0x40145, 0x41040,
    0x45144, 0x47104, 0x49209, 0x5775d, 0x5f75d, 0x4f34c, 0x49248, 0x4b248,
};

static const uint16_t subreg_table[32] = {
    0x0,    0x1,    0x8,    0xf,    0x10,   0x80,   0x100,  0x180,  0x200,  0x210,  0x280,
    0x1000, 0x1001, 0x1081, 0x1082, 0x1083, 0x1084, 0x1087, 0x1088, 0x108e, 0x108f, 0x1180,
    0x11e8, 0x2000, 0x2180, 0x3000, 0x3c87, 0x4000, 0x5000, 0x6000, 0x7000, 0x701c,
};

static const uint16_t source_table[32] = {
    0x0,   0x2,   0x10,  0x12,  0x18,  0x20,  0x28,  0x48,  0x50,  0x70,  0x78,
    0x300, 0x302, 0x308, 0x310, 0x312, 0x320, 0x328, 0x338, 0x340, 0x342, 0x348,
    0x350, 0x360, 0x368, 0x370, 0x371, 0x378, 0x468, 0x469, 0x46a, 0x588,
};

static const uint32_t control3_table[4] = {0x806001, 0x6001, 0x8001, 0x8021};

static const uint64_t source3_table[4] = {
    0x7272720f000,
    0x7272720f002,
    0x7272720f008,
    0x7272720f020,
};

static uint64_t c_bits(uint64_t c, unsigned hi, unsigned lo)
{
    return (c >> lo) & ((UINT64_C(1) << (hi - lo + 1)) - 1);
}

static void expand_two_source(uint64_t c, uint64_t full[2])
{
    uint64_t control = control_table[c_bits(c, 12, 8)];
    uint64_t datatype = datatype_table[c_bits(c, 17, 13)];
    uint64_t subreg = subreg_table[c_bits(c, 22, 18)];

    zs_gen9_put(full, 33, 31, c_bits(control, 18, 16));
    zs_gen9_put(full, 23, 12, c_bits(control, 15, 4));
    zs_gen9_put(full, 10, 9, c_bits(control, 3, 2));
    zs_gen9_put(full, 34, 34, c_bits(control, 1, 1));
    zs_gen9_put(full, 8, 8, c_bits(control, 0, 0));
    zs_gen9_put(full, 63, 61, c_bits(datatype, 20, 18));
    zs_gen9_put(full, 94, 89, c_bits(datatype, 17, 12));
    zs_gen9_put(full, 46, 35, c_bits(datatype, 11, 0));
    zs_gen9_put(full, 52, 48, c_bits(subreg, 4, 0));
    zs_gen9_put(full, 68, 64, c_bits(subreg, 9, 5));
    zs_gen9_put(full, 28, 28, c_bits(c, 23, 23));
    zs_gen9_put(full, 27, 24, c_bits(c, 27, 24));
    zs_gen9_put(full, 60, 53, c_bits(c, 47, 40));
    zs_gen9_put(full, 76, 69, c_bits(c, 55, 48));
    zs_gen9_put(full, 88, 77, source_table[c_bits(c, 34, 30)]);

    bool immediate = zs_gen9_get(full, 42, 41) == ZS_GEN9_FILE_IMM ||
                     zs_gen9_get(full, 90, 89) == ZS_GEN9_FILE_IMM;
    if (immediate) {
        uint64_t value = c_bits(c, 39, 35) << 8 | c_bits(c, 63, 56);
        if (value & 0x1000)
            value |= 0xffffe000;
        zs_gen9_put(full, 127, 96, value);
    } else {
        zs_gen9_put(full, 100, 96, c_bits(subreg, 14, 10));
        zs_gen9_put(full, 120, 109, source_table[c_bits(c, 39, 35)]);
        zs_gen9_put(full, 108, 101, c_bits(c, 63, 56));
    }
}

static void expand_three_source(uint64_t c, uint64_t full[2])
{
    uint64_t control = control3_table[c_bits(c, 9, 8)];
    uint64_t source = source3_table[c_bits(c, 11, 10)];

    zs_gen9_put(full, 34, 32, c_bits(control, 23, 21));
    zs_gen9_put(full, 28, 8, c_bits(control, 20, 0));
    zs_gen9_put(full, 36, 35, c_bits(control, 25, 24));
    zs_gen9_put(full, 83, 83, c_bits(source, 43, 43));
    zs_gen9_put(full, 114, 107, c_bits(source, 42, 35));
    zs_gen9_put(full, 93, 86, c_bits(source, 34, 27));
    zs_gen9_put(full, 72, 65, c_bits(source, 26, 19));
    zs_gen9_put(full, 55, 37, c_bits(source, 18, 0));
    zs_gen9_put(full, 126, 125, c_bits(source, 48, 47));
    zs_gen9_put(full, 105, 104, c_bits(source, 46, 45));
    zs_gen9_put(full, 84, 84, c_bits(source, 44, 44));
    zs_gen9_put(full, 62, 56, c_bits(c, 18, 12));
    zs_gen9_put(full, 64, 64, c_bits(c, 28, 28));
    zs_gen9_put(full, 31, 31, c_bits(c, 31, 31));
    zs_gen9_put(full, 85, 85, c_bits(c, 32, 32));
    zs_gen9_put(full, 106, 106, c_bits(c, 33, 33));
    zs_gen9_put(full, 75, 73, c_bits(c, 36, 34));
    zs_gen9_put(full, 96, 94, c_bits(c, 39, 37));
    zs_gen9_put(full, 117, 115, c_bits(c, 42, 40));
    zs_gen9_put(full, 82, 76, c_bits(c, 49, 43));
    zs_gen9_put(full, 103, 97, c_bits(c, 56, 50));
    zs_gen9_put(full, 124, 118, c_bits(c, 63, 57));
}

void zs_gen9_uncompact(uint64_t compact, bool three_source, uint64_t ret_full[2])
{
    ret_full[0] = ret_full[1] = 0;
    zs_gen9_put(ret_full, 6, 0, c_bits(compact, 6, 0));
    if (three_source)
        expand_three_source(compact, ret_full);
    else
        expand_two_source(compact, ret_full);
    /* last: control3 covers bit 30 */
    zs_gen9_put(ret_full, 30, 30, three_source ? c_bits(compact, 30, 30) : c_bits(compact, 7, 7));
    zs_gen9_put(ret_full, 29, 29, 0);
}
