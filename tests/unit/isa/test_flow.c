/* SPDX-License-Identifier: MIT */
/* Blocks, edges, loops and live registers of small programs; expected results are by hand. */
#include "../test.h"

#include "assemble.h"
#include "isa/reaching.h"
#include "isa/register_use.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EOT "(W) send (8|M0) null r127 0x27 0x02000010 {EOT}\n"

/* "0>1 0>2u 1>2j-": every edge in order; j, u, c, r: kind; -: no lane takes it. */
static void check_edges(const struct zs_isa_kernel *k, const char *expected)
{
    char text[1024] = "";
    for (uint32_t e = 0; e < zs_isa_edge_count(k); e++) {
        const struct zs_isa_edge *edge = zs_isa_edge(k, e);
        size_t used = strlen(text);
        snprintf(text + used, sizeof(text) - used, "%s%u>%u%.*s%s", e ? " " : "", edge->from,
                 edge->to, edge->kind == ZS_EDGE_NEXT ? 0 : 1, &" jucr"[edge->kind],
                 edge -> lane ? "" : "-");
    }
    assert_string_equal(text, expected);
}

static void check_live(const struct zs_isa_kernel *k, const uint32_t *expected)
{
    for (uint32_t i = 0; i < zs_isa_kernel_count(k); i++) {
        if (zs_isa_live_grf(k, i) != expected[i])
            print_message("instruction %u\n", i);
        assert_int_equal(zs_isa_live_grf(k, i), expected[i]);
        uint64_t set[ZS_ISA_GRF_WORDS];
        zs_isa_live_set(k, i, set);
        uint32_t count = 0;
        for (uint32_t w = 0; w < 4; w++)
            count += (uint32_t)__builtin_popcountll(set[w]);
        assert_int_equal(count, expected[i]);
    }
}

static void if_else(void **state)
{
    struct zs_isa_kernel *k = assemble(ZS_ISA_GEN9,
                                       "mov (8|M0) r10.0<1>:d 1:w\n" /* block 0 */
                                       "(f0.0) if (8|M0) L_ELSE L_END\n"
                                       "mov (8|M0) r10.0<1>:d r11.0<8;8,1>:d\n" /* block 1 */
                                       "else (8|M0) L_END L_END\n"
                                       "L_ELSE:\n"
                                       "add (8|M0) r10.0<1>:d r10.0<8;8,1>:d 2:w\n" /* block 2 */
                                       "L_END:\n"
                                       "endif (8|M0) L_OUT\n" /* block 3 */
                                       "L_OUT:\n"
                                       "mov (8|M0) r127.0<1>:d r10.0<8;8,1>:d\n" EOT, /* block 4 */
                                       ZS_ISA_TEXT | ZS_ISA_LIVENESS);
    assert_int_equal(zs_isa_block_count(k), 5);
    check_edges(k, "0>1 0>2j 1>2- 1>3j 2>3 3>4");
    assert_int_equal(zs_isa_loop_count(k), 0);
    /* r11 until the then part; while that runs, lanes of the else part still need their r10 */
    static const uint32_t live[] = {1, 2, 2, 1, 1, 1, 1, 1};
    check_live(k, live);
    uint64_t set[ZS_ISA_GRF_WORDS];
    zs_isa_live_set(k, 2, set);
    assert_int_equal(set[0], 1 << 10 | 1 << 11);
    assert_true(zs_isa_live_exact(k));
    release(k);
}

static void loop_with_break(void **state)
{
    struct zs_isa_kernel *k =
        assemble(ZS_ISA_GEN9,
                 "mov (8|M0) r10.0<1>:d 0:w\n" /* block 0 */
                 "L_LOOP:\n"
                 "add (8|M0) r10.0<1>:d r10.0<8;8,1>:d r12.0<8;8,1>:d\n" /* block 1 */
                 "(f0.0) break (8|M0) L_WHILE L_WHILE\n"
                 "add (8|M0) r12.0<1>:d r12.0<8;8,1>:d 1:w\n" /* block 2 */
                 "L_WHILE:\n"
                 "(f1.0) while (8|M0) L_LOOP\n"                 /* block 3 */
                 "mov (8|M0) r127.0<1>:d r10.0<8;8,1>:d\n" EOT, /* block 4 */
                 ZS_ISA_TEXT | ZS_ISA_LIVENESS);
    assert_int_equal(zs_isa_block_count(k), 5);
    check_edges(k, "0>1 1>2 1>3j 2>3 3>4 3>1j");
    assert_int_equal(zs_isa_loop_count(k), 1);
    const struct zs_isa_loop *loop = zs_isa_loop(k, 0);
    assert_int_equal(loop->header, 1);
    assert_int_equal(loop->depth, 1);
    assert_int_equal(loop->block_count, 3);
    assert_int_equal(loop->inst_count, 4);
    assert_int_equal(zs_isa_block(k, 2)->loop, 0);
    assert_int_equal(zs_isa_block(k, 4)->loop, ZS_ISA_NO_INDEX);
    assert_true(zs_isa_block(k, 1)->flags & ZS_BLOCK_LOOP_HEADER);
    static const uint32_t live[] = {1, 2, 2, 2, 2, 1, 1};
    check_live(k, live);
    release(k);
}

static void nested_loops(void **state)
{
    struct zs_isa_kernel *k = assemble(ZS_ISA_GEN9,
                                       "(W) mov (1|M0) r2.0<1>:d 0:w\n" /* 0 */
                                       "L_A:\n"
                                       "(W) mov (1|M0) r3.0<1>:d 0:w\n" /* 1 */
                                       "L_B:\n"
                                       "(W) add (1|M0) r3.0<1>:d r3.0<0;1,0>:d 1:w\n" /* 2 */
                                       "(W&f0.0) jmpi L_B\n"
                                       "(W) add (1|M0) r2.0<1>:d r2.0<0;1,0>:d 1:w\n" /* 3 */
                                       "(W&f0.1) jmpi L_A\n"
                                       "(W) jmpi L_END\n" /* 4 */
                                       "nop\n"            /* 5 */
                                       "L_END:\n" EOT,    /* 6 */
                                       ZS_ISA_LIVENESS);
    assert_int_equal(zs_isa_block_count(k), 7);
    check_edges(k, "0>1 1>2 2>3 2>2j 3>4 3>1j 4>6j 5>6");
    assert_int_equal(zs_isa_loop_count(k), 2);
    assert_int_equal(zs_isa_loop(k, 0)->header, 1);
    assert_int_equal(zs_isa_loop(k, 0)->block_count, 3);
    assert_int_equal(zs_isa_loop(k, 1)->header, 2);
    assert_int_equal(zs_isa_loop(k, 1)->parent, 0);
    assert_int_equal(zs_isa_loop(k, 1)->depth, 2);
    assert_int_equal(zs_isa_block(k, 2)->loop_depth, 2);
    assert_int_equal(zs_isa_block(k, 3)->loop_depth, 1);
    assert_false(zs_isa_block(k, 5)->flags & ZS_BLOCK_REACHABLE);
    assert_true(zs_isa_block(k, 6)->flags & ZS_BLOCK_ENDS_THREAD);
    /* r127 from the start; r2 once written; r3 inside the inner loop */
    static const uint32_t live[] = {1, 2, 3, 3, 2, 2, 1, 1, 1};
    check_live(k, live);
    release(k);
}

/* From Gen11 on, lanes whose predicate is true jump. */
static void goto_join(void **state)
{
    struct zs_isa_kernel *k = assemble(ZS_ISA_XE_LP,
                                       "(f0.0) goto (16|M0) L_JOIN L_JOIN\n"     /* 0 */
                                       "mov (16|M0) r10.0<1>:d r20.0<8;8,1>:d\n" /* 1 */
                                       "L_JOIN:\n"
                                       "join (16|M0) L_NEXT\n" /* 2 */
                                       "L_NEXT:\n"
                                       "mov (16|M0) r30.0<1>:d r10.0<8;8,1>:d\n" /* 3 */
                                       "(W) send.ts (8|M0) null r30 null 0x0 0x02000010 {EOT}\n",
                                       ZS_ISA_LIVENESS);
    check_edges(k, "0>1 0>2j 1>2 2>3");
    /* r10 and r11 of the lanes that jump live through the mov */
    static const uint32_t live[] = {4, 4, 2, 2, 1};
    check_live(k, live);
    release(k);
}

static bool is_live(const struct zs_isa_kernel *k, uint32_t inst, uint32_t reg)
{
    uint64_t set[ZS_ISA_GRF_WORDS];
    zs_isa_live_set(k, inst, set);
    return set[reg / 64] >> reg % 64 & 1;
}

/* Lanes that leave a loop for a place further on than behind it wait while others go round, which
 * write r30 anew at its start, and behind it. */
static void waiting_beyond_the_loop(void **state)
{
    struct zs_isa_kernel *k = assemble(ZS_ISA_XE_LP,
                                       "L_LOOP:\n"
                                       "add (8|M0) r11.0<1>:d r11.0<8;8,1>:d 1:w\n" /* 0 */
                                       "mov (8|M0) r30.0<1>:d r11.0<8;8,1>:d\n"     /* 1 */
                                       "(f0.0) goto (8|M0) L_NEXT L_OUT\n"          /* 2 */
                                       "mov (8|M0) r12.0<1>:d 7:w\n"                /* 3 */
                                       "L_NEXT:\n"
                                       "join (8|M0) L_BEHIND\n"                 /* 4 */
                                       "(f1.0) goto.b (8|M0) L_BEHIND L_LOOP\n" /* 5 */
                                       "L_BEHIND:\n"
                                       "join (8|M0) L_OUT\n"         /* 6 */
                                       "mov (8|M0) r30.0<1>:d 5:w\n" /* 7 */
                                       "L_OUT:\n"
                                       "join (8|M0) L_END\n" /* 8 */
                                       "L_END:\n"
                                       "mov (8|M0) r127.0<1>:d r30.0<8;8,1>:d\n" /* 9 */
                                       "(W) send.ts (8|M0) null r127 null 0x0 0x02000010 {EOT}\n",
                                       ZS_ISA_LIVENESS);
    for (uint32_t i = 0; i < 10; i++)
        assert_true(is_live(k, i, 30));
    assert_false(is_live(k, 10, 30));
    assert_int_equal(zs_isa_live_grf(k, 0), 2); /* r11, r30 */
    release(k);
}

/* Lanes that skip a call wait behind it while others are in the subroutine. */
static void waiting_for_a_subroutine(void **state)
{
    static const char *const calls[] = {"(~f0.0) goto (8|M0) L_JOIN L_JOIN\n"
                                        "call (8|M0) r5.0 L_FUN\n"
                                        "mov (8|M0) r30.0<1>:d r9.0<8;8,1>:d\n"
                                        "L_JOIN:\n"
                                        "join (8|M0) L_END\n",
                                        "nop\n"
                                        "(f0.0) call (8|M0) r5.0 L_FUN\n"
                                        "(f0.0) mov (8|M0) r30.0<1>:d r9.0<8;8,1>:d\n"
                                        "nop\n"};
    for (uint32_t n = 0; n < ZS_ARRAY_LEN(calls); n++) {
        char text[1024];
        snprintf(text, sizeof(text),
                 "mov (8|M0) r30.0<1>:d 1:w\n" /* 0; calls: 1 to 4 */
                 "%sL_END:\n"
                 "mov (8|M0) r127.0<1>:d r30.0<8;8,1>:d\n"                  /* 5 */
                 "(W) send.ts (8|M0) null r127 null 0x0 0x02000010 {EOT}\n" /* 6 */
                 "L_FUN:\n"
                 "mov (8|M0) r9.0<1>:d 3:w\n" /* 7 */
                 "call (8|M0) r6.0 L_INNER\n" /* 8 */
                 "ret (8|M0) r5.0\n"          /* 9 */
                 "L_INNER:\n"
                 "(f1.0) mov (8|M0) r9.0<1>:d 4:w\n" /* 10 */
                 "ret (8|M0) r6.0\n",                /* 11 */
                 calls[n]);
        struct zs_isa_kernel *k = assemble(ZS_ISA_XE_LP, text, ZS_ISA_LIVENESS);
        assert_int_equal(zs_isa_kernel_count(k), 12);
        for (uint32_t i = 1; i < 12; i++)
            assert_true(i == 6 || is_live(k, i, 30));
        release(k);
    }
}

/* Lanes that return early wait for the others with what they will use. */
static void waiting_behind_a_return(void **state)
{
    struct zs_isa_kernel *k = assemble(ZS_ISA_XE_LP,
                                       "call (8|M0) r5.0 L_FUN\n"               /* 0 */
                                       "mov (8|M0) r127.0<1>:d r9.0<8;8,1>:d\n" /* 1 */
                                       "(W) send.ts (8|M0) null r127 null 0x0 0x02000010 {EOT}\n"
                                       "L_FUN:\n"
                                       "mov (8|M0) r9.0<1>:d 3:w\n"  /* 3 */
                                       "(f0.0) ret (8|M0) r5.0\n"    /* 4 */
                                       "mov (8|M0) r10.0<1>:d 4:w\n" /* 5 */
                                       "mov (8|M0) r9.0<1>:d r10.0<8;8,1>:d\n"
                                       "ret (8|M0) r5.0\n",
                                       ZS_ISA_LIVENESS);
    assert_false(is_live(k, 3, 9));
    assert_true(is_live(k, 5, 9) && is_live(k, 6, 9));
    release(k);
}

static void table(enum zs_isa_platform platform, const char *scale, const char *edges)
{
    char text[1024];
    snprintf(text, sizeof(text),
             "%s"
             "(W) jmpi (1|M0) r5.2\n"
             "(W) jmpi (1|M0) L_A\n"
             "(W) jmpi (1|M0) L_B\n"
             "(W) jmpi (1|M0) L_C\n"
             "L_A:\n"
             "mov (8|M0) r30.0<1>:d 1:w\n"
             "L_B:\n"
             "mov (8|M0) r31.0<1>:d 2:w\n"
             "L_C:\n"
             "mov (8|M0) r32.0<1>:d 3:w\n",
             scale);
    struct zs_isa_kernel *k = assemble(platform, text, ZS_ISA_LIVENESS);
    check_edges(k, edges);
    release(k);
}

/* Jumps by a number: what a compiler makes of a switch. */
static void tables_of_jumps(void **state)
{
#define SHIFT(by)   "(W) shl (1|M0) r5.2<1>:d r2.7<0;1,0>:ud " by ":uw\n"
#define ADD(number) "(W) add (1|M0) r5.2<1>:d r5.2<0;1,0>:d " number ":uw\n"
    static const char known[] = "0>1 0>2j 0>3j 1>4j 2>5j 3>6j 4>5 5>6",
                      unknown[] = "0>1 1>4j 2>5j 3>6j 4>5 5>6";
    table(ZS_ISA_GEN9, SHIFT("0x4"), known);
    table(ZS_ISA_GEN11, SHIFT("0x4") "mov (8|M0) r6.0<1>:d 0:w\n", known);
    table(ZS_ISA_XE_HPC, SHIFT("0x4") ADD("0x10"), known);
    table(ZS_ISA_XE_HPC, SHIFT("0x4"), unknown);
    table(ZS_ISA_XE_HPC, SHIFT("0x4") ADD("0x20"), unknown);
    table(ZS_ISA_GEN9, SHIFT("0x4") ADD("0x10"), unknown);
    table(ZS_ISA_GEN9, SHIFT("0x3"), unknown);
    table(ZS_ISA_GEN9, SHIFT("0x4") "(W) mov (8|M0) r5.0<1>:d r6.0<8;8,1>:d\n", unknown);
    table(ZS_ISA_GEN9, SHIFT("0x4") "(W) mov (1|M0) r[a0.0,0]<1>:d 1:w\n", unknown);
}

static void call_and_return(void **state)
{
    struct zs_isa_kernel *k = assemble(ZS_ISA_GEN9,
                                       "call (8|M0) r5.0<1>:ud L_FUN\n"         /* 0 */
                                       "mov (8|M0) r127.0<1>:d r9.0<8;8,1>:d\n" /* 1 */
                                       EOT "L_FUN:\n"
                                       "mov (8|M0) r9.0<1>:d 3:w\n" /* 2 */
                                       "ret (8|M0) r5.0<0;1,0>:ud\n",
                                       ZS_ISA_TEXT | ZS_ISA_BLOCKS);
    assert_int_equal(zs_isa_block_count(k), 3);
    check_edges(k, "0>1 0>2c 2>1r");
    release(k);
}

/* What a write kills: whole parts without a predicate only; scalars share a register. */
static void partial_writes(void **state)
{
    struct zs_isa_kernel *k =
        assemble(ZS_ISA_GEN9,
                 "(W) mov (1|M0) r4.0<1>:d 1:w\n"                            /* 0 */
                 "(W) mov (1|M0) r4.1<1>:d 2:w\n"                            /* 1 */
                 "(W) add (1|M0) r5.0<1>:d r4.0<0;1,0>:d r4.1<0;1,0>:d\n"    /* 2 */
                 "(f0.0) mov (8|M0) r6.0<1>:d r5.0<0;1,0>:d\n"               /* 3 */
                 "(f0.0) sel (8|M0) r7.0<1>:d r6.0<8;8,1>:d r5.0<0;1,0>:d\n" /* 4 */
                 "mov (8|M0) r8.0<2>:w r7.0<8;8,1>:d\n"                      /* 5 */
                 "mov (8|M0) r127.0<1>:d r8.0<16;8,2>:w\n" EOT,              /* 6, 7 */
                 ZS_ISA_LIVENESS);
    /* r6 is live from the start, because the predicated write may leave it as it is */
    static const uint32_t live[] = {1, 2, 2, 2, 2, 1, 1, 1};
    check_live(k, live);
    uint32_t inst;
    assert_int_equal(zs_isa_live_peak(k, &inst), 2);
    assert_int_equal(inst, 1);
    release(k);
}

static void sends_read_their_payload(void **state)
{
    struct zs_isa_kernel *k =
        assemble(ZS_ISA_GEN9,
                 "(W) mov (1|M0) r3.0<1>:d 16:w\n"
                 "(W) send (1|M0) r14 r3 0xA 0x02110801\n" /* reads one dword of r3 */
                 "mov (16|M0) r20.0<1>:d r14.0<0;1,0>:d\n"
                 "sends (16|M0) null:w r30 r20 0x8C 0x04025E00\n" /* r30 r31, r20 r21 */
                 EOT,
                 ZS_ISA_LIVENESS);
    static const uint32_t live[] = {3, 4, 4, 5, 1};
    check_live(k, live);
    release(k);
}

/* Dwords of r14 that are live behind the first instruction. */
static void see_first(void *context, uint32_t inst, const struct zs_isa_live_state *behind)
{
    uint32_t *dwords = context;
    for (uint32_t i = 0; inst == 0 && i < 8; i++)
        *dwords |= (uint32_t)zs_isa_is_live(behind, 14 * 32 + 4 * i, 14 * 32 + 4 * i + 4) << i;
}

static void check_values(const char *last, uint32_t of_lanes, uint32_t across)
{
    char text[512];
    snprintf(text, sizeof(text), "%s%s" EOT,
             "(W) send (1|M0) r14 r3 0xA 0x02110801\n"
             "(W) mov (2|M0) r4.0<1>:d r14.0<2;2,1>:d\n"
             "mov (8|M0) r14.0<1>:d r5.0<8;8,1>:d\n"
             "add (8|M0) r6.0<1>:d r4.0<0;1,0>:d 1:w\n",
             last);
    struct zs_isa_kernel *k = assemble(ZS_ISA_GEN9, text, ZS_ISA_INSTS | ZS_ISA_BLOCKS);
    for (int i = 0; i < 2; i++) {
        uint32_t dwords = 0;
        assert_int_equal(zs_isa_make_liveness_of_values(k, i), 0);
        zs_isa_visit_live(k, 0, see_first, &dwords);
        assert_int_equal(dwords, i ? across : of_lanes);
    }
    release(k);
}

/* Nobody reads the second one of the copied; what is written under the mask leaves what lanes have
 * that are off, which the last two of these read. */
static void values_that_are_read(void **state)
{
    check_values("mov (8|M0) r127.0<1>:d r14.0<8;8,1>:d\n", 0x1, 0x1);
    check_values("(W) mov (8|M0) r127.0<1>:d r14.0<8;8,1>:d\n", 0x1, 0xff);
    check_values("mov (8|M0) r127.0<1>:d r14.3<0;1,0>:d\n", 0x1, 0x9);
}

static void indirect_is_said(void **state)
{
    struct zs_isa_kernel *k =
        assemble(ZS_ISA_GEN9, "mov (8|M0) r2.0<1>:d r[a0.0,0]<8;8,1>:d\n" EOT, ZS_ISA_LIVENESS);
    assert_false(zs_isa_live_exact(k));
    release(k);
}

static void ids_without_use(void **state)
{
    struct zs_isa_kernel *k = assemble(ZS_ISA_GEN9,
                                       "mov (8|M0) r10.0<1>:d r1.0<8;8,1>:uw\n"
                                       "mov (8|M0) r11.0<1>:d r2.1<0;1,0>:d\n"
                                       "mov (8|M0) r12.0<1>:d r3.0<0;1,0>:uw\n"
                                       "mov (8|M0) r4.0<1>:d 1:w\n"
                                       "mov (8|M0) r13.0<1>:d r4.0<8;8,1>:uw\n" /* no longer ids */
                                       "mov (8|M0) r14.0<1>:d r5.0<8;8,1>:d\n"
                                       "mov (8|M0) r14.0<1>:d r[a0.0,0]<8;8,1>:d\n" EOT,
                                       ZS_ISA_INSTS | ZS_ISA_BLOCKS);
    assert_int_equal(zs_isa_unused_ids(k, 0), 0);
    assert_int_equal(zs_isa_unused_ids(k, 6), 0x2a);
    release(k);
    k = assemble(ZS_ISA_GEN9, "mov (8|M0) r2.0<1>:w r[a0.0,0]<8;8,1>:w\n" EOT,
                 ZS_ISA_INSTS | ZS_ISA_BLOCKS);
    assert_int_equal(zs_isa_unused_ids(k, 3), 0); /* any of them */
    release(k);
    k = assemble(ZS_ISA_GEN9,
                 "(f0.0) mov (8|M0) r1.0<1>:d 1:w\n" /* leaves some */
                 "(f0.0) if (8|M0) L_ELSE L_END\n"
                 "mov (8|M0) r2.0<1>:d 1:w\n"
                 "mov (8|M0) r3.0<1>:d 1:w\n"
                 "else (8|M0) L_END L_END\n"
                 "L_ELSE:\n"
                 "mov (8|M0) r3.0<1>:d 2:w\n"
                 "L_END:\n"
                 "endif (8|M0) L_OUT\n"
                 "L_OUT:\n"
                 "mov (8|M0) r10.0<1>:d r1.0<8;8,1>:uw\n"
                 "mov (8|M0) r11.0<1>:d r2.0<8;8,1>:uw\n"
                 "mov (8|M0) r12.0<1>:d r3.0<8;8,1>:uw\n" EOT, /* on both ways something else */
                 ZS_ISA_INSTS | ZS_ISA_BLOCKS);
    assert_int_equal(zs_isa_unused_ids(k, 4), 0xc);
    release(k);
}

/* Reads far behind a write: each of them walked back to it. */
static void ids_of_long_code(void **state)
{
    static const char write[] = "mov (8|M0) r1.0<1>:d 1:w\n",
                      read[] = "mov (8|M0) r10.0<1>:d r1.0<8;8,1>:uw\n";
    enum { READS = 40000 };
    char *text = malloc(sizeof(write) + READS * sizeof(read) + sizeof(EOT)), *at = text;
    assert_non_null(text);
    at = stpcpy(at, write);
    for (int i = 0; i < READS; i++)
        at = stpcpy(at, read);
    stpcpy(at, EOT);
    struct zs_isa_kernel *k = assemble(ZS_ISA_GEN9, text, ZS_ISA_INSTS | ZS_ISA_BLOCKS);
    clock_t start = clock();
    assert_int_equal(zs_isa_unused_ids(k, 2), 3);
    assert_true(clock() - start < 2 * CLOCKS_PER_SEC);
    release(k);
    free(text);
}

/* "2 5" and "entry", "unknown". */
static void check_reaching(const struct zs_isa_kernel *k, uint32_t inst, uint32_t begin_B,
                           uint32_t size_B, const char *expected)
{
    struct zs_isa_reaching found;
    char text[128] = "";
    zs_isa_reaching(k, inst, begin_B, size_B, &found);
    for (uint32_t i = 0; i < zs_isa_kernel_count(k); i++)
        for (uint32_t f = 0; f < found.count; f++)
            if (found.insts[f] == i)
                snprintf(text + strlen(text), sizeof(text) - strlen(text), "%u ", i);
    assert_true(strlen(text) < sizeof(text) - 16);
    strcat(text, found.entry ? "entry " : "");
    strcat(text, found.unknown ? "unknown " : "");
    assert_string_equal(text, expected);
}

static void writes_that_reach(void **state)
{
    struct zs_isa_kernel *k =
        assemble(ZS_ISA_GEN9,
                 "mov (8|M0) r10.0<1>:d 1:w\n"     /* 0 */
                 "(W) mov (1|M0) r11.2<1>:d 2:w\n" /* 1 */
                 "L_LOOP:\n"
                 "(f0.0) mov (8|M0) r10.0<1>:d 3:w\n"      /* 2: may leave it */
                 "mov (8|M0) r12.0<2>:w r10.0<16;8,2>:w\n" /* 3: every other word */
                 "(f0.1) break (8|M0) L_WHILE L_END\n"     /* 4 */
                 "(W) send (1|M0) r14 r3 0xA 0x02110801\n" /* 5 */
                 "L_WHILE:\n"
                 "while (8|M0) L_LOOP\n" /* 6 */
                 "L_END:\n"
                 "mov (8|M0) r127.0<1>:d r10.0<8;8,1>:d\n" EOT, /* 7, 8 */
                 ZS_ISA_TEXT | ZS_ISA_INSTS | ZS_ISA_BLOCKS);
    check_reaching(k, 0, 320, 4, "entry ");
    check_reaching(k, 2, 320, 4, "0 2 ");
    check_reaching(k, 7, 320, 32, "0 2 ");
    check_reaching(k, 7, 352 + 8, 4, "1 ");
    check_reaching(k, 7, 352 + 8, 8, "1 entry ");
    check_reaching(k, 7, 384, 2, "3 ");
    check_reaching(k, 7, 386, 2, "entry ");
    check_reaching(k, 7, 448, 64, "5 entry ");
    check_reaching(k, 7, 128 * 32 - 4, 8, "unknown ");
    release(k);
    k = assemble(ZS_ISA_GEN9,
                 "mov (8|M0) r10.0<1>:d 1:w\n"
                 "mov (8|M0) r[a0.0,0]<1>:d 2:w\n" EOT,
                 ZS_ISA_TEXT | ZS_ISA_INSTS | ZS_ISA_BLOCKS);
    check_reaching(k, 2, 320, 4, "0 unknown ");
    check_reaching(k, 1, 320, 4, "0 ");
    release(k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_without_use),
        cmocka_unit_test(ids_of_long_code),
        cmocka_unit_test(writes_that_reach),
        cmocka_unit_test(if_else),
        cmocka_unit_test(loop_with_break),
        cmocka_unit_test(nested_loops),
        cmocka_unit_test(goto_join),
        cmocka_unit_test(call_and_return),
        cmocka_unit_test(partial_writes),
        cmocka_unit_test(sends_read_their_payload),
        cmocka_unit_test(values_that_are_read),
        cmocka_unit_test(indirect_is_said),
        cmocka_unit_test(waiting_beyond_the_loop),
        cmocka_unit_test(waiting_for_a_subroutine),
        cmocka_unit_test(waiting_behind_a_return),
        cmocka_unit_test(tables_of_jumps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
