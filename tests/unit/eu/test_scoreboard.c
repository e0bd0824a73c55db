/* SPDX-License-Identifier: MIT */
/*
 * The check of the software scoreboard: code that waits for what it uses is clean; with one wait
 * deleted it is a fault that names the instruction, the register and what was missing. Messages do
 * nothing here.
 */
#include "assembled.h"

static enum zs_eu_status nothing(struct zs_eu_thread *t, const struct zs_eu_send *send,
                                 uint32_t lane_mask)
{
    return ZS_EU_OK;
}

static int any_send(struct zs_eu_send *ret, struct zs_diag *diag)
{
    ret->exec = nothing;
    return 0;
}

/* The wait is where %s is. */
struct row {
    enum zs_isa_platform platform;
    const char *text;
    const char *waits, *without;
    const char *fault; /* how it begins without */
};

#define LOAD_LP  "send.dc1 (8|M0) r10 r20 null 0x0 0x02106E01 {$3}\n"
#define LOAD_HPG "send.ugm (8|M0) r10 r20 null:0 0x0 0x04100580 {$3}\n"

/* A load of a block of two dimensions, of 16 dwords in each of some rows: registers r30 on. The
 * descriptor says 31 of them, which is what it says of 32. */
#define LOAD_2D(rows)                                                                              \
    "mov (8|M0) r20.0<1>:ud 0:ud\n"                                                                \
    "mov (1|M0) r20.2<1>:ud 63:ud\n"                                                               \
    "mov (1|M0) r20.4<1>:ud 63:ud\n"                                                               \
    "mov (1|M0) r20.7<1>:ud " rows ":ud\n"                                                         \
    "send.ugm (1|M0) r30 r20 null:0 0x0 0x03F00403 {I@1,$3}\n"
#define ROWS_32 "0x1f0f"
#define ROWS_31 "0x1e0f"

static const struct row rows[] = {
    {ZS_ISA_XE_LP, LOAD_LP "add (8|M0) r12.0<1>:d r10.0<8;8,1>:d 1:w {%s}", "$3.dst", "@1",
     "add reads r10, which send at 0x0 writes: $3.dst was not waited for"},
    {ZS_ISA_XE_LP, LOAD_LP "mov (8|M0) r10.0<1>:d 1:d {%s}", "$3.dst", "$3.src",
     "mov writes r10, which send at 0x0 writes: $3.dst was not waited for"},
    {ZS_ISA_XE_LP, LOAD_LP "mov (8|M0) r20.0<1>:d 1:d {%s}", "$3.src", "$2.src",
     "mov writes r20, which send at 0x0 reads: $3.src was not waited for"},
    {ZS_ISA_XE_LP,
     LOAD_LP "sync.nop null {%s}\n"
             "math.inv (8|M0) r20.0<1>:f r40.0<8;8,1>:f {$4}",
     "$3.src", "$5.src", "math.inv writes r20, which send at 0x0 reads: $3.src was not waited for"},
    {ZS_ISA_XE_LP,
     LOAD_LP "sync.allwr (%s)\n"
             "add (8|M0) r12.0<1>:d r10.0<8;8,1>:d 1:w",
     "$3", "$4", "add reads r10, which send at 0x0 writes: $3.dst was not waited for"},
    {ZS_ISA_XE_LP,
     LOAD_LP "sync.allrd (%s)\n"
             "mov (8|M0) r20.0<1>:d 1:d",
     "$1,$3", "$4", "mov writes r20, which send at 0x0 reads: $3.src was not waited for"},
    {ZS_ISA_XE_LP,
     "mov (8|M0) r10.0<1>:d 1:d\n"
     "mov (8|M0) r12.0<1>:d 1:d\n"
     "add (8|M0) r14.0<1>:d r10.0<8;8,1>:d 1:w {%s}",
     "@2", "@3", "add reads r10, which mov at 0x0 writes: F@2 was not waited for"},
    {ZS_ISA_XE_LP,
     "mov (8|M0) r20.0<1>:d 1:d\n"
     "send.dc1 (8|M0) r10 r20 null 0x0 0x02106E01 {%s}",
     "@1,$2", "$2", "send reads r20, which mov at 0x0 writes: F@1 was not waited for"},
    {ZS_ISA_XE_HPG,
     "mov (8|M0) r10.0<1>:f 1.0:f\n"
     "mov (8|M0) r12.0<1>:d 1:d\n"
     "add (8|M0) r14.0<1>:d r10.0<8;8,1>:d 1:w {%s}",
     "F@1", "I@1", "add reads r10, which mov at 0x0 writes: F@1 was not waited for"},
    {ZS_ISA_XE_HPG,
     "mov (8|M0) r10.0<1>:f 1.0:f\n"
     "mov (8|M0) r10.0<1>:d 1:d {%s}",
     "A@1", "I@1", "mov writes r10, which mov at 0x0 writes: F@1 was not waited for"},
    {ZS_ISA_XE_HPG, LOAD_HPG "add (8|M0) r12.0<1>:d r10.0<8;8,1>:d 1:w {%s}", "$3.dst", "$3.src",
     "add reads r10, which send at 0x0 writes: $3.dst was not waited for"},
    {ZS_ISA_XE_HPC, LOAD_2D(ROWS_32) "add (16|M0) r10.0<1>:d r61.0<1;1,0>:d 1:w {%s}", "$3.dst",
     "$2.dst", "add reads r61, which send at 0x40 writes: $3.dst was not waited for"},
    {ZS_ISA_XE_HPC, LOAD_2D(ROWS_31) "add (16|M0) r10.0<1>:d r60.0<1;1,0>:d 1:w {%s}", "$3.dst",
     "$2.dst", "add reads r60, which send at 0x40 writes: $3.dst was not waited for"},
};

/* What is found to wait whatever the way is no fault on any. */
static void hold(const struct zs_eu_program *program, enum zs_eu_status status)
{
    if (status == ZS_EU_FAULT && zs_eu_program_waits(program))
        fail_msg("a fault where all waits are said to be there");
}

/* Compact forms would move the offsets; the first instruction is where the fault says. */
static enum zs_eu_status run(const struct row *row, const char *wait, uint32_t flags,
                             struct zs_eu_fault *ret)
{
    char text[400];

    snprintf(text, sizeof(text), row->text, wait);
    struct zs_eu_program *program = assembled(
        row->platform, text, (struct zs_eu_lower_params){.flags = flags, .send_lower = any_send});
    struct zs_eu_thread *t = assembled_thread(program);
    enum zs_eu_status status = zs_eu_run(t, program, 1000);
    if (flags & ZS_EU_LOWER_SCOREBOARD)
        hold(program, status);
    *ret = t->fault;
    free(t);
    zs_eu_program_destroy(program);
    return status;
}

/* It is the last instruction that uses too early what the first one, or the fifth, has. */
static uint32_t last_of(const char *text)
{
    uint32_t lines = 0;
    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

static void waits(void **state)
{
    struct zs_eu_fault fault;

    for (unsigned i = 0; i < ZS_ARRAY_LEN(rows); i++) {
        if (run(&rows[i], rows[i].waits, ZS_EU_LOWER_SCOREBOARD, &fault) != ZS_EU_EOT)
            fail_msg("row %u: %s", i, fault.text);
        assert_int_equal(run(&rows[i], rows[i].without, 0, &fault), ZS_EU_EOT);
        assert_int_equal(run(&rows[i], rows[i].without, ZS_EU_LOWER_SCOREBOARD, &fault),
                         ZS_EU_FAULT);
        assert_int_equal(fault.kind, ZS_EU_FAULT_SCOREBOARD);
        assert_string_equal(fault.text, rows[i].fault);
        assert_int_equal(fault.inst, last_of(rows[i].text));
    }
}

/* Offsets count from the kernel's start: functions that it calls may stand in front of it, and its
 * threads may start behind it. */
static void behind_functions(void **state)
{
    const char *text = "mov (8|M0) r30.0<1>:d 1:d\n" /* a function, the kernel's start, its entry */
                       "mov (8|M0) r31.0<1>:d 1:d\n" LOAD_LP "mov (8|M0) r11.0<1>:d 1:d\n"
                       "add (8|M0) r12.0<1>:d r10.0<8;8,1>:d 1:w";
    struct zs_eu_lower_params params = {
        .flags = ZS_EU_LOWER_SCOREBOARD, .send_lower = any_send, .kernel_B = 16, .entry_B = 32};
    struct zs_eu_program *program = assembled(ZS_ISA_XE_LP, text, params);
    struct zs_eu_thread *t = assembled_thread(program);

    assert_int_equal(zs_eu_run(t, program, 1000), ZS_EU_FAULT);
    assert_int_equal(t->fault.inst, 4);
    assert_int_equal(t->fault.offset_B, 64);
    assert_string_equal(t->fault.text,
                        "add reads r10, which send at 0x10 writes: $3.dst was not waited for");
    free(t);
    zs_eu_program_destroy(program);
}

/* What needs no wait: other bytes of the register, results that are long there, sources of messages
 * to one function, lanes that the message does not have, a token that is set again, what is
 * dropped. */
static void clean(void **state)
{
    static const struct row free_rows[] = {
        {ZS_ISA_XE_LP,
         "mov (4|M0) r10.0<1>:d 1:d\n"
         "add (4|M0) r14.0<1>:d r10.4<4;4,1>:d 1:w",
         NULL, NULL, NULL},
        {ZS_ISA_XE_LP, LOAD_LP "mov (8|M0) null<1>:ud r10.0<8;8,1>:ud", NULL, NULL, NULL},
        {ZS_ISA_XE_LP, LOAD_LP "send.dc1 (8|M0) r20 r40 null 0x0 0x02106E01 {$4}", NULL, NULL,
         NULL},
        {ZS_ISA_XE_LP,
         "mov (1|M0) f0.0<1>:uw 0x55:uw\n"
         "(f0.0) send.dc1 (8|M0) r10 r20 null 0x0 0x02106E01 {$3}\n"
         "(~f0.0) send.dc1 (8|M0) r10 r20 null 0x0 0x02106E01 {$4}",
         NULL, NULL, NULL},
        {ZS_ISA_XE_LP,
         LOAD_LP "send.dc1 (8|M0) r30 r40 null 0x0 0x02106E01 {$3}\n"
                 "mov (8|M0) r10.0<1>:d 1:d",
         NULL, NULL, NULL},
        {ZS_ISA_XE_LP,
         "mov (8|M0) r10.0<1>:d 1:d\n"
         "mov (8|M0) r10.0<1>:d 2:d\n"
         "add (8|M0) r14.0<1>:d r10.0<8;8,1>:d 1:w {@1}\n"
         "add (8|M0) r14.0<1>:d r10.0<8;8,1>:d 1:w",
         NULL, NULL, NULL},
    };
    static const struct row no_last_register = {
        .platform = ZS_ISA_XE_HPC,
        .text = LOAD_2D(ROWS_31) "add (16|M0) r10.0<1>:d r61.0<1;1,0>:d 1:w"};
    struct zs_eu_fault fault;
    char text[2000] = "mov (8|M0) r10.0<1>:d 1:d\n";

    for (unsigned i = 0; i < ZS_ARRAY_LEN(free_rows); i++)
        if (run(&free_rows[i], "", ZS_EU_LOWER_SCOREBOARD, &fault) != ZS_EU_EOT)
            fail_msg("row %u: %s", i, fault.text);
    assert_int_equal(run(&no_last_register, "", ZS_EU_LOWER_SCOREBOARD, &fault), ZS_EU_EOT);
    for (unsigned i = 0; i < 10; i++)
        strcat(text, "mov (8|M0) r12.0<1>:d 1:d\n");
    strcat(text, "add (8|M0) r14.0<1>:d r10.0<8;8,1>:d 1:w");
    struct zs_eu_program *program =
        assembled(ZS_ISA_XE_LP, text, (struct zs_eu_lower_params){.flags = ZS_EU_LOWER_SCOREBOARD});
    struct zs_eu_thread *t = assembled_thread(program);
    assert_int_equal(zs_eu_run(t, program, 1000), ZS_EU_EOT);
    /* a thread that starts anew has nothing under way */
    zs_eu_thread_restart(t, program, 0xffff);
    assert_int_equal(zs_eu_run(t, program, 1000), ZS_EU_EOT);
    free(t);
    zs_eu_program_destroy(program);
}

/* Messages that are decoded, and do nothing. */
static int decoded_send(struct zs_eu_send *ret, struct zs_diag *diag)
{
    int error = zs_eu_send_lower(ret, diag);
    ret->exec = nothing;
    return error;
}

/* A lane's second dword, where a load brings others theirs: the lanes of either side of a branch.
 */
static void elements(void **state)
{
    static const struct {
        enum zs_isa_platform platform;
        const char *text;
        bool is_clean;
    } cases[] = {
        {ZS_ISA_XE_LP,
         "(f0.0) send.dc1 (8|M0) r10 r20 null 0x0 0x02206C01 {$3}\n"
         "(~f0.0) mov (8|M0) r12.0<1>:d r11.0<8;8,1>:d",
         true},
        {ZS_ISA_XE_LP,
         "(f0.0) send.dc1 (16|M0) r10 r20 null 0x0 0x084415FF {$3}\n"
         "(~f0.0) mov (16|M0) r20.0<1>:d r12.0<8;8,1>:d {$3.src}",
         true},
        {ZS_ISA_XE_LP,
         "(f0.0) send.dc1 (16|M0) r10 r20 null 0x0 0x084415FF {$3}\n"
         "(~f0.0) mov (16|M0) r20.0<1>:d r11.0<8;8,1>:d {$3.src}",
         false},
        {ZS_ISA_XE_HPG,
         "(f0.0) send.ugm (8|M0) r10 r20 null:0 0x0 0x04382580 {$3}\n"
         "(~f0.0) mov (8|M0) r12.0<1>:d 1:d",
         true},
        {ZS_ISA_XE_HPG,
         "(f0.0) send.ugm (8|M0) r10 r20 null:0 0x0 0x04382580 {$3}\n"
         "mov (8|M0) r14.0<1>:d r12.0<8;8,1>:d",
         false},
        {ZS_ISA_XE_HPG,
         "(f0.0) send.ugm (8|M0) r10 r20 null:0 0x0 0x04382580 {$3}\n"
         "(~f0.0) mov (4|M4) r14.0<1>:d r11.4<4;4,1>:d",
         false},
        {ZS_ISA_XE_HPG,
         "(f0.0) mad (8|M0) r10.0<1>:df r20.0<1;0>:df r22.0<1;0>:df r24.0<1>:df {$3}\n"
         "(~f0.0) mov (8|M0) r14.0<1>:d r10.1<2;1,0>:d",
         true},
        {ZS_ISA_XE_HPG,
         "(f0.0) mad (8|M0) r10.0<1>:df r20.0<1;0>:df r22.0<1;0>:df r24.0<1>:df {$3}\n"
         "(~f0.0) mov (8|M0) r14.0<1>:d r10.1<1;1,0>:d",
         false},
        {ZS_ISA_XE_HPG,
         "(f0.0) mad (8|M0) r10.0<1>:df r20.0<1;0>:df r22.0<1;0>:df r24.0<1>:df {$3}\n"
         "mov (8|M0) r14.0<1>:d r10.1<2;1,0>:d",
         false},
    };

    for (unsigned i = 0; i < ZS_ARRAY_LEN(cases); i++) {
        char text[400];
        snprintf(text, sizeof(text), "mov (1|M0) f0.0<1>:uw 0x5555:uw\n%s", cases[i].text);
        struct zs_eu_program *program =
            assembled(cases[i].platform, text,
                      (struct zs_eu_lower_params){
                          .flags = ZS_EU_LOWER_SCOREBOARD, .simd = 16, .send_lower = decoded_send});
        struct zs_eu_thread *t = assembled_thread(program);
        enum zs_eu_status status = zs_eu_run(t, program, 1000);
        if (status != (cases[i].is_clean ? ZS_EU_EOT : ZS_EU_FAULT) ||
            (!cases[i].is_clean && t->fault.kind != ZS_EU_FAULT_SCOREBOARD))
            fail_msg("case %u: %s", i, t->fault.text);
        hold(program, status);
        free(t);
        zs_eu_program_destroy(program);
    }
}

/* Waits that are there on all ways, or missing on one that this thread does not go. */
static void ways(void **state)
{
    static const struct {
        const char *text, *waits, *without;
    } cases[] = {
        {LOAD_HPG "add (8|M0) r12.0<1>:d r10.0<8;8,1>:d 1:w {%s}", "$3.dst", "$3.src"},
        /* round a loop */
        {"L0:\nadd (8|M0) r12.0<1>:d r10.0<8;8,1>:d 1:w {%s}\n" LOAD_HPG "(W&f0.0) jmpi L0\n",
         "$3.dst", "$3.src"},
        /* over a jump */
        {"(W&~f0.0) jmpi L0\n" LOAD_HPG "L0:\nadd (8|M0) r12.0<1>:d r10.0<8;8,1>:d 1:w {%s}",
         "$3.dst", "$3.src"},
        /* messages to one function read in order, if there was one */
        {LOAD_HPG "send.ugm (8|M0) r14 r24 null:0 0x0 0x04100580 {$4}\n"
                  "mov (8|M0) r20.0<1>:d 1:d {%s}",
         "$4.src", "$5.src"},
        {LOAD_HPG "(W&f0.0) jmpi L0\n"
                  "send.ugm (8|M0) r14 r24 null:0 0x0 0x04100580 {$4}\n"
                  "L0:\nmov (8|M0) r20.0<1>:d 1:d {%s}",
         "$3.src", "$4.src"},
        /* lanes of the other side wait, and run next */
        {"(f0.0) goto (8|M0) L1 L1\n" LOAD_HPG "goto (8|M0) L1 L2\n"
         "L1:\njoin (8|M0) L2\nadd (8|M0) r12.0<1>:d r10.0<8;8,1>:d 1:w {%s}\n"
         "L2:\njoin (8|M0) L3\nL3:\n",
         "$3.dst", "$3.src"},
    };

    for (unsigned i = 0; i < 2 * ZS_ARRAY_LEN(cases); i++) {
        char text[500];
        snprintf(text, sizeof(text), cases[i / 2].text,
                 i % 2 ? cases[i / 2].without : cases[i / 2].waits);
        struct zs_eu_program *program = assembled(
            ZS_ISA_XE_HPG, text,
            (struct zs_eu_lower_params){.flags = ZS_EU_LOWER_SCOREBOARD, .send_lower = any_send});
        if (zs_eu_program_waits(program) == i % 2)
            fail_msg("case %u, %s waits", i / 2, i % 2 ? "without" : "with");
        zs_eu_program_destroy(program);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(waits), cmocka_unit_test(behind_functions),
                                       cmocka_unit_test(clean), cmocka_unit_test(elements),
                                       cmocka_unit_test(ways)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
