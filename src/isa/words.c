/* SPDX-License-Identifier: MIT */
#include "isa/words.h"

const struct zs_isa_word zs_isa_predicate_words[ZS_ISA_PREDICATE_WORDS] = {
    [ZS_PRED_NONE] = ZS_ISA_WORD(""),          [ZS_PRED_SEQ] = ZS_ISA_WORD(""),
    [ZS_PRED_ANYV] = ZS_ISA_WORD(".anyv"),     [ZS_PRED_ALLV] = ZS_ISA_WORD(".allv"),
    [ZS_PRED_ANY2H] = ZS_ISA_WORD(".any2h"),   [ZS_PRED_ALL2H] = ZS_ISA_WORD(".all2h"),
    [ZS_PRED_ANY4H] = ZS_ISA_WORD(".any4h"),   [ZS_PRED_ALL4H] = ZS_ISA_WORD(".all4h"),
    [ZS_PRED_ANY8H] = ZS_ISA_WORD(".any8h"),   [ZS_PRED_ALL8H] = ZS_ISA_WORD(".all8h"),
    [ZS_PRED_ANY16H] = ZS_ISA_WORD(".any16h"), [ZS_PRED_ALL16H] = ZS_ISA_WORD(".all16h"),
    [ZS_PRED_ANY32H] = ZS_ISA_WORD(".any32h"), [ZS_PRED_ALL32H] = ZS_ISA_WORD(".all32h"),
    [ZS_PRED_ANY] = ZS_ISA_WORD(".any"),       [ZS_PRED_ALL] = ZS_ISA_WORD(".all"),
};

const struct zs_isa_word zs_isa_condition_words[ZS_ISA_CONDITION_WORDS] = {
    [ZS_COND_NONE] = ZS_ISA_WORD(""),   [ZS_COND_EQ] = ZS_ISA_WORD("(eq)"),
    [ZS_COND_NE] = ZS_ISA_WORD("(ne)"), [ZS_COND_GT] = ZS_ISA_WORD("(gt)"),
    [ZS_COND_GE] = ZS_ISA_WORD("(ge)"), [ZS_COND_LT] = ZS_ISA_WORD("(lt)"),
    [ZS_COND_LE] = ZS_ISA_WORD("(le)"), [ZS_COND_OV] = ZS_ISA_WORD("(ov)"),
    [ZS_COND_UN] = ZS_ISA_WORD("(un)"),
};

#define W ZS_ISA_WORD
#define MATH(f9, f10, f11, f12, f13)                                                               \
    {                                                                                              \
        W(""), W(".inv"), W(".log"), W(".exp"), W(".sqt"), W(".rsqt"), W(".sin"), W(".cos"),       \
            W(""), W(f9), W(f10), W(f11), W(f12), W(f13), W(".invm"), W(".rsqtm")                  \
    }
const struct zs_isa_word zs_isa_math_words[2][16] = {
    MATH(".fdiv", ".pow", ".idiv", ".iqot", ".irem"),
    MATH(".tanh", ".sigm", "", "", ""),
};
#undef MATH
#undef W

const struct zs_isa_word zs_isa_sync_words[16] = {
    [0] = ZS_ISA_WORD(".nop"),    [2] = ZS_ISA_WORD(".allrd"),  [3] = ZS_ISA_WORD(".allwr"),
    [12] = ZS_ISA_WORD(".flush"), [13] = ZS_ISA_WORD(".fence"), [14] = ZS_ISA_WORD(".bar"),
    [15] = ZS_ISA_WORD(".host"),
};

const char *const zs_isa_bfn_words[256] = {
#define ZS_BFN(expression) expression,
#include "isa/bfn.def"
#undef ZS_BFN
};

const char *const zs_isa_lfsr_words[4] = {".b32", ".b16v2", ".b8v4", ""};

const struct zs_isa_option_word zs_isa_option_words[ZS_ISA_OPTION_WORDS] = {
    {ZS_INST_ACCWREN, "AccWrEn"},
    {ZS_INST_ATOMIC, "Atomic"},
    {ZS_INST_BREAKPOINT, "Breakpoint"},
    {ZS_INST_COMPACTED, "Compacted"},
    {ZS_INST_EOT, "EOT"},
    {ZS_INST_FWD, "Fwd"},
    {ZS_INST_NODDCHK, "NoDDChk"},
    {ZS_INST_NODDCLR, "NoDDClr"},
    {ZS_INST_NOPREEMPT, "NoPreempt"},
    {ZS_INST_NOSRCDEPSET, "NoSrcDepSet"},
    {ZS_INST_SWITCH, "Switch"},
    {ZS_INST_SERIALIZE, "Serialize"},
    {ZS_INST_EXBSO, "ExBSO"},
    {ZS_INST_CPS, "CPS"},
};
