/* SPDX-License-Identifier: MIT */
/* Names of opcodes, types, register files, SFIDs and message kinds. */
#include "isa/isa_priv.h"

static const struct op_row {
    const char *mnemonic;
    uint32_t flags;
} ops[ZS_OP_COUNT] = {
#define ZS_ISA_OP(value, upper, mnemonic, flags) [value] = {mnemonic, flags},
#include <zescope/isa_ops.def>
#undef ZS_ISA_OP
};

static const struct type_row {
    const char *name;
    uint32_t bits;
} types[ZS_TYPE_COUNT] = {
    [ZS_TYPE_U1] = {"u1", 1},      [ZS_TYPE_U2] = {"u2", 2},     [ZS_TYPE_U4] = {"u4", 4},
    [ZS_TYPE_S2] = {"s2", 2},      [ZS_TYPE_S4] = {"s4", 4},     [ZS_TYPE_UB] = {"ub", 8},
    [ZS_TYPE_B] = {"b", 8},        [ZS_TYPE_UW] = {"uw", 16},    [ZS_TYPE_W] = {"w", 16},
    [ZS_TYPE_UD] = {"ud", 32},     [ZS_TYPE_D] = {"d", 32},      [ZS_TYPE_UQ] = {"uq", 64},
    [ZS_TYPE_Q] = {"q", 64},       [ZS_TYPE_HF] = {"hf", 16},    [ZS_TYPE_QF] = {"qf", 8},
    [ZS_TYPE_BF] = {"bf", 16},     [ZS_TYPE_HF8] = {"hf8", 8},   [ZS_TYPE_BF8] = {"bf8", 8},
    [ZS_TYPE_TF32] = {"tf32", 32}, [ZS_TYPE_F] = {"f", 32},      [ZS_TYPE_DF] = {"df", 64},
    [ZS_TYPE_NF] = {"nf", 64},     [ZS_TYPE_V] = {"v", 32},      [ZS_TYPE_UV] = {"uv", 32},
    [ZS_TYPE_VF] = {"vf", 32},     [ZS_TYPE_E2M1] = {"e2m1", 4},
};

static const char *const files[ZS_FILE_COUNT] = {
    [ZS_FILE_NULL] = "null", [ZS_FILE_A] = "a",   [ZS_FILE_ACC] = "acc", [ZS_FILE_MME] = "mme",
    [ZS_FILE_F] = "f",       [ZS_FILE_CE] = "ce", [ZS_FILE_MSG] = "msg", [ZS_FILE_SP] = "sp",
    [ZS_FILE_SR] = "sr",     [ZS_FILE_CR] = "cr", [ZS_FILE_N] = "n",     [ZS_FILE_IP] = "ip",
    [ZS_FILE_TDR] = "tdr",   [ZS_FILE_TM] = "tm", [ZS_FILE_FC] = "fc",   [ZS_FILE_DBG] = "dbg",
    [ZS_FILE_GRF] = "r",     [ZS_FILE_S] = "s",
};

static const char *const sfids[ZS_SFID_COUNT] = {
    [ZS_SFID_NULL] = "null", [ZS_SFID_UGML] = "ugml", [ZS_SFID_SMPL] = "smpl",
    [ZS_SFID_GTWY] = "gtwy", [ZS_SFID_DC2] = "dc2",   [ZS_SFID_RC] = "rc",
    [ZS_SFID_URB] = "urb",   [ZS_SFID_TS] = "ts",     [ZS_SFID_VME] = "vme",
    [ZS_SFID_DCRO] = "dcro", [ZS_SFID_DC0] = "dc0",   [ZS_SFID_PIXI] = "pixi",
    [ZS_SFID_DC1] = "dc1",   [ZS_SFID_CRE] = "cre",   [ZS_SFID_SLM] = "slm",
    [ZS_SFID_UGM] = "ugm",   [ZS_SFID_BTD] = "btd",   [ZS_SFID_RTA] = "rta",
    [ZS_SFID_TGM] = "tgm",
};

static const char *const message_kinds[ZS_MSG_KIND_COUNT] = {
    [ZS_MSG_UNKNOWN] = "unknown", [ZS_MSG_LOAD] = "load",       [ZS_MSG_STORE] = "store",
    [ZS_MSG_ATOMIC] = "atomic",   [ZS_MSG_SAMPLE] = "sample",   [ZS_MSG_QUERY] = "query",
    [ZS_MSG_FENCE] = "fence",     [ZS_MSG_BARRIER] = "barrier", [ZS_MSG_EOT] = "eot",
    [ZS_MSG_OTHER] = "other",
};

/* An enum's value may come from the outside: "" beyond the table and in its holes. */
static const char *name_at(const char *const *names, size_t count, uint32_t value)
{
    return value < count && names[value] ? names[value] : "";
}

uint32_t zs_isa_op_flags(enum zs_isa_op op)
{
    return (uint32_t)op < ZS_OP_COUNT ? ops[op].flags : 0;
}

const char *zs_isa_op_mnemonic(enum zs_isa_op op)
{
    return (uint32_t)op < ZS_OP_COUNT && ops[op].mnemonic ? ops[op].mnemonic : "";
}

const char *zs_isa_type_name(enum zs_isa_type type)
{
    return (uint32_t)type < ZS_TYPE_COUNT && types[type].name ? types[type].name : "";
}

uint32_t zs_isa_type_bits(enum zs_isa_type type)
{
    return (uint32_t)type < ZS_TYPE_COUNT ? types[type].bits : 0;
}

const char *zs_isa_file_name(enum zs_isa_file file)
{
    return name_at(files, ZS_ARRAY_LEN(files), (uint32_t)file);
}

const char *zs_isa_sfid_name(enum zs_isa_sfid sfid)
{
    return name_at(sfids, ZS_ARRAY_LEN(sfids), (uint32_t)sfid);
}

const char *zs_isa_message_kind_name(enum zs_isa_message_kind kind)
{
    return name_at(message_kinds, ZS_ARRAY_LEN(message_kinds), (uint32_t)kind);
}
