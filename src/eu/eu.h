/* SPDX-License-Identifier: MIT */
/*
 * One hardware thread of an EU, interpreted.
 *
 *     struct zs_eu_program *program;
 *     zs_eu_lower(&(struct zs_eu_lower_params){.code = isa, .simd = 16}, &program, &diag);
 *     struct zs_eu_thread *t = aligned_alloc(64, sizeof(*t));
 *     zs_eu_thread_init(t, program, 0xffff);      // dispatch mask: which lanes exist
 *     memcpy(t->grf, payload, payload_B);
 *     t->env = my_environment;
 *     while ((status = zs_eu_run(t, program, 1 << 20)) == ZS_EU_BUDGET)
 *         if (cancelled) break;
 *
 * A program is a kernel lowered once; it is immutable and shared by any number of host threads.
 * A thread is the architectural state of one hardware thread and belongs to one host thread at a
 * time; zs_eu_run() may be called again after BARRIER and BUDGET and goes on where it stopped.
 * A fault (bad encoding, unmodelled instruction, refused memory access) ends the thread, never
 * the process.
 *
 * Memory is outside: a send instruction is lowered by zs_eu_send_lower() to a struct zs_eu_send,
 * whose handler moves data between t->grf and whatever t->env stands for.
 */
#ifndef ZS_EU_EU_H
#define ZS_EU_EU_H

#include "base/diag.h"
#include "base/span.h"
#include "eu/checks/scoreboard.h"
#include "isa/generation.h"

#include <zescope/isa.h>

enum {
    ZS_EU_LANES_MAX = 32,
    /* what a thread has room for, whatever struct zs_eu_registers says */
    ZS_EU_GRF_FILE_MAX_B = 512 * 64,
    ZS_EU_FLAGS_MAX = 4,
    ZS_EU_ACC_SLOTS_MAX = 896,
    ZS_EU_A0_MAX = 32,
    /* Bytes behind the register file that wide host loads and stores may touch. Always zero to
     * the program: no operand is lowered that ends behind the last register. */
    ZS_EU_GUARD_B = 256,
    ZS_EU_TEMP_COUNT = 16,
    ZS_EU_TEMP_B = 256 + 64,
    ZS_EU_CONST_B = 4096,
    ZS_EU_SEND_CACHE = 64, /* pairs of descriptors, by instruction */
    ZS_EU_PAIR_B = 256 + 64,
    ZS_EU_DEPTHS = 4096,        /* of calls: deeper ones are a fault */
    ZS_EU_CODE_MAX_B = 8 << 20, /* larger code is refused */
};

struct zs_port;
struct zs_port_message;
struct zs_port_message_row;
struct zs_eu_program;
struct zs_eu_thread;
struct zs_eu_send;
struct zs_eu_op;
struct zs_eu_shadow;

enum zs_eu_status {
    ZS_EU_OK = 0,  /* go on: only handlers of sends return it, zs_eu_run() never does */
    ZS_EU_EOT,     /* the thread ended */
    ZS_EU_BARRIER, /* `wait` found n0.k zero; set t->n0[k] and run again; sync.bar of a named
                      barrier: the same with t->passed_barriers */
    ZS_EU_FAULT,   /* see t->fault; the thread must not be run again */
    ZS_EU_BUDGET,  /* at least `budget` instructions were executed; run again to go on */
    ZS_EU_STOP,    /* a step hook wants it; run again to go on */
    ZS_EU_PAIR,    /* it wants registers of its pair's other thread: zs_eu_thread_pair() */
};

/* ---- Faults ------------------------------------------------------------------------------------
 */

enum zs_eu_fault_kind {
    ZS_EU_FAULT_NONE,
    ZS_EU_FAULT_ILLEGAL,    /* opcode 0 or an encoding that is no instruction */
    ZS_EU_FAULT_UNMODELLED, /* a legal instruction or message that is not implemented */
    ZS_EU_FAULT_OPERAND,    /* a register region that leaves the register file, a bad type */
    ZS_EU_FAULT_TARGET,     /* a jump to what is no instruction (or no block start) */
    ZS_EU_FAULT_RUNAWAY,    /* execution ran past the end of the code */
    ZS_EU_FAULT_STACK,      /* calls nested too deep */
    ZS_EU_FAULT_MEMORY,     /* set by sends: a refused access; details are t->env's business */
    ZS_EU_FAULT_MESSAGE,    /* set by sends: a malformed message */
    ZS_EU_FAULT_SCOREBOARD, /* a register that was not waited for (ZS_EU_LOWER_SCOREBOARD) */
    ZS_EU_FAULT_FOUND,      /* set by hooks of messages: it is not sent, and may be tried again */
    ZS_EU_FAULT_KIND_COUNT
};

struct zs_eu_fault {
    enum zs_eu_fault_kind kind;
    uint32_t inst;     /* index of the instruction in the program */
    uint32_t offset_B; /* its offset in the code */
    uint32_t lanes;    /* channel-enable mask of the thread when it happened */
    uint64_t raw[2];   /* its encoding as it stands in the code (compacted: raw[1] is 0) */
    char text[232];    /* one sentence, names the opcode or message */
};

/*
 * Record a fault of the running instruction (inst, offset, encoding and lanes are filled in) and
 * return ZS_EU_FAULT: `return zs_eu_fault_set(t, ZS_EU_FAULT_MEMORY, "...")`. Keeps the first one.
 */
enum zs_eu_status zs_eu_fault_set(struct zs_eu_thread *t, enum zs_eu_fault_kind kind,
                                  const char *format, ...) ZS_PRINTF(3, 4);

/* Which build of the vector code runs. Results are the same bit by bit. */
enum zs_eu_host {
    ZS_EU_HOST_BEST,   /* the best that this machine can do */
    ZS_EU_HOST_BASE,   /* x86-64-v2 */
    ZS_EU_HOST_AVX2,   /* with FMA and F16C */
    ZS_EU_HOST_AVX512, /* and with VNNI, for dpas */
    ZS_EU_HOST_COUNT
};

/* ---- Sends: the boundary to memory, samplers, gateway ------------------------------------------
 */

/* What a send instruction says, in plain numbers. Registers were checked: [dst, dst + rlen),
 * [src0, src0 + mlen) and [src1, src1 + xlen) lie inside the register file. */
struct zs_eu_send_desc {
    uint32_t inst;    /* index of the instruction in the program */
    uint32_t desc;    /* message descriptor, from the immediate or from a0 */
    uint32_t ex_desc; /* extended descriptor: 5 EOT, up to Gen11 3:0 SFID, 10:6 src1 length */
    uint8_t sfid;
    uint8_t exec_size;        /* channels of the instruction */
    uint8_t chan_offset;      /* first lane of the thread that it covers: 0, 4, ... 28 */
    uint8_t mlen, xlen, rlen; /* registers of src0, src1 (sends only, else 0) and response */
    bool xlen_known;          /* src1's length has a field of its own */
    bool eot;
    bool no_mask;
    bool conditional;       /* sendc/sendsc */
    bool is_surface_offset; /* the extended descriptor is one (ExBSO) */
    bool ex_in_register;    /* it is in a0 ... */
    uint32_t ex_offset;     /* ... and this in the instruction (Xe2 on) */
    bool gathers;           /* bytes of s0 name the payload's registers (Xe3) ... */
    uint8_t gather_at_B;    /* ... from here on; src0 and src1 are not there */
    /* sendg (Xe3P): a descriptor of 47 bits; addresses begin at a qword of s0, or it has the
     * addresses of states, here in ex_desc the surface's */
    bool is_e64, has_base;
    uint8_t base_s0;
    uint32_t desc_high, sampler_state;
    bool has_dst;      /* false: dst is null, the response is dropped */
    bool checks_local; /* ZS_EU_LOWER_LOCAL */
    bool is_ahead;     /* hooked: a load of what is stored next, no read of the program's */
    uint32_t dst_B, src0_B, src1_B; /* byte offsets in t->grf */
    uint64_t unread;                /* as struct zs_port_message has it: of messages for checks */
    const struct zs_isa_generation *generation;
};

/*
 * exec: lane_mask has bit c set when channel c (0 .. exec_size - 1) of the instruction takes part
 * (channel enables, predicate and NoMask are already applied); it is never 0. Returns ZS_EU_OK, or
 * ZS_EU_FAULT after zs_eu_fault_set(). The thread's lane is chan_offset + c. EOT is done by the
 * interpreter after exec returned ZS_EU_OK; the end of a thread as such (a message to
 * the thread spawner, from XeHPG on to the gateway) never reaches exec.
 */
typedef enum zs_eu_status zs_eu_send_fn(struct zs_eu_thread *t, const struct zs_eu_send *send,
                                        uint32_t lane_mask);

struct zs_eu_send {
    zs_eu_send_fn *exec;
    struct zs_eu_send_desc d;
    /* for exec alone: whatever the lowering worked out */
    const void *table;
    bool (*run)(struct zs_port *port, const struct zs_port_message *message, uint8_t *dst,
                const uint8_t *src0, const uint8_t *src1, uint32_t mask);
    uint64_t u[7];
};

/*
 * Turn ret->d into a handler: fill exec, table and u. Must not allocate; it is also called at run
 * time, when the descriptor comes from a0. -ENOTSUP or -EINVAL with a sentence in diag (never
 * NULL) make a fault, ZS_EU_FAULT_UNMODELLED or ZS_EU_FAULT_MESSAGE, when the instruction is
 * executed. src/eu/lower/send_lower.c.
 */
typedef int zs_eu_send_lower_fn(struct zs_eu_send *ret, struct zs_diag *diag);
int zs_eu_send_lower(struct zs_eu_send *ret, struct zs_diag *diag);
/* What it made of a send: the message of the data port and its row; NULL for the thread spawner. */
static inline const struct zs_port_message *
zs_eu_send_message(const struct zs_eu_send *send, const struct zs_port_message_row **ret_row)
{
    *ret_row = send->table;
    return send->table ? (const struct zs_port_message *)(const void *)send->u : NULL;
}
/* The payload as the data port takes it: in the registers, or in `joined` where an operand
 * straddles src0 and src1. */
enum { ZS_EU_PAYLOAD_MAX_B = (31 + 31) * 64 };
const uint8_t *zs_eu_send_payload(const struct zs_eu_thread *t, const struct zs_eu_send *send,
                                  const struct zs_port_message *m,
                                  uint8_t joined[ZS_EU_PAYLOAD_MAX_B]);
/* Where its data stands that is apart from the addresses; payload: what zs_eu_send_payload() gave.
 */
const uint8_t *zs_eu_send_data(const struct zs_eu_thread *t, const struct zs_eu_send *send,
                               const struct zs_port_message *m, const uint8_t *payload);
/* The payload is no row of registers as it is. */
bool zs_eu_send_joins(const struct zs_eu_send *send, const struct zs_port_message *m);

/* The same as the data port takes it. */
struct zs_isa_send;
void zs_eu_send_describe(const struct zs_eu_send_desc *desc, struct zs_isa_send *ret);

/* ---- Programs ----------------------------------------------------------------------------------
 */

bool zs_eu_host_usable(enum zs_eu_host host);
const char *zs_eu_host_name(enum zs_eu_host host);

enum {
    ZS_EU_LOWER_COUNTS = 1u << 0,  /* keep exact counters (t->counters must then be set or NULL) */
    ZS_EU_LOWER_GENERAL = 1u << 1, /* every operand through the general path: for tests */
    /* t->hooks is called, if it is not NULL: see struct zs_eu_hooks */
    ZS_EU_LOWER_HOOK_BLOCKS = 1u << 2,
    ZS_EU_LOWER_HOOK_MESSAGES = 1u << 3,
    ZS_EU_LOWER_HOOK_STEPS = 1u << 4,
    /* ... of messages to the gateway, single bytes that are stored, and what a0 describes */
    ZS_EU_LOWER_HOOK_BARRIERS = 1u << 7,
    /* registers that were not waited for are faults; where there is a software scoreboard */
    ZS_EU_LOWER_SCOREBOARD = 1u << 5,
    /* ... of a product that puts 64-bit integers into the long pipe, as XeHPC's first stepping did
     */
    ZS_EU_LOWER_LONG_INTEGERS = 1u << 6,
    /* each instruction has an operation: threads can stand at all of them, and go on in another
     * program of the same code (zs_eu_thread_switch) */
    ZS_EU_LOWER_PLACES = 1u << 8,
    /* env is a struct zs_port, whose handles are not indices of surfaces */
    ZS_EU_LOWER_HANDLES = 1u << 9,
    /* env is a struct zs_port that checks local memory, where it says so */
    ZS_EU_LOWER_LOCAL = 1u << 11,
    /* t->shadow, where it is not NULL, says which bits are defined: eu/checks/shadow.h; hooks are
     * told of messages that move data */
    ZS_EU_LOWER_DEFINED = 1u << 12,
    /* hooks look at no registers but the payloads of messages: threads begin as they do without */
    ZS_EU_LOWER_HOOKS_BLIND = 1u << 10,
};

enum zs_eu_reach {
    ZS_EU_REACH_ROW,   /* lane i an element at address + i * its size */
    ZS_EU_REACH_ONE,   /* all lanes, or a block, what is at the address */
    ZS_EU_REACH_LANES, /* address: of uint64_t, an address for each lane from `first` on */
};

/*
 * What debuggers and models of time see of a running thread. Each function is called only in
 * programs that were lowered with its flag; others have no trace of it. A hook may read and write
 * the thread's registers (cr0: with zs_eu_thread_set_control); it must not run it.
 */
struct zs_eu_hooks {
    /* BLOCKS: instructions [first, first + count) are about to be executed, one after the other,
     * with the lanes t->ce. Not repeated when the thread goes on in their middle. count is 0 behind
     * the last instruction. */
    void (*block)(struct zs_eu_thread *t, uint32_t first, uint32_t count);
    /* MESSAGES: a message is about to be sent; lane_mask as for zs_eu_send_fn, 0: no lane takes
     * part, which happens only at the end of a thread. */
    void (*message)(struct zs_eu_thread *t, const struct zs_eu_send *send, uint32_t lane_mask);
    /* STEPS: `inst` is about to be executed. true: stop in front of it; zs_eu_run() returns
     * ZS_EU_STOP, and the next run executes it without asking again. With this flag t->ce, too, may
     * be changed, to lanes of t->alive that are not in t->waiting. */
    bool (*step)(struct zs_eu_thread *t, uint32_t inst);
    /* MESSAGES, of compiled code: a message by lanes or of a block is about to reach memory, with
     * addresses as struct zs_port_access has them. false: `message` is to be asked. NULL: always.
     */
    bool (*reach)(struct zs_eu_thread *t, const struct zs_eu_send *send, uint32_t lane_mask,
                  enum zs_eu_reach how, uint64_t address, uint32_t first);
    /* t->reaches is not empty, and what orders the thread's messages may change. */
    void (*reached)(struct zs_eu_thread *t);
};

/*
 * Messages of compiled code that read, or store neighbours, in order, put off until somebody looks:
 * before a thread's next other message that is hooked, the next wait, at the latest when it leaves
 * zs_eu_run() and the environment looks. Each is three qwords, and behind them those of
 * ZS_EU_REACH_LANES. Where there is no room before `end`, `reach` is asked at once.
 */
enum { ZS_EU_REACHES_EACH = 3, ZS_EU_REACHES_MAX = ZS_EU_REACHES_EACH + 16 };
enum {
    ZS_EU_REACHES_HOW_SHIFT = 24,
    ZS_EU_REACHES_FIRST_SHIFT = 26,
    ZS_EU_REACHES_LOCAL_SHIFT = 28,
    ZS_EU_REACHES_WRITE_SHIFT = 29,
    ZS_EU_REACHES_MORE_SHIFT = 30,
    ZS_EU_REACHES_SIZE_SHIFT = 36,
    ZS_EU_REACHES_THREAD_SHIFT = 48,
};
enum { ZS_EU_REACHES_PAGE_B = 4096, ZS_EU_REACHES_QUIET = 512 };
struct zs_eu_reaches {
    uint64_t *at, *end; /* the next one; ZS_EU_REACHES_MAX in front of where the memory ends */
    /* Numbers of pages, each at its lowest bits: reads of global memory inside of one are left out.
     * A store that is put off takes its page's away. UINT64_MAX: none. */
    uint64_t quiet[ZS_EU_REACHES_QUIET];
};
/*
 * 0: the address; 1: the lanes, and in the high half t->ce, of stores which lanes store what was
 * there; 2: the operation's index, how, which eighth lane is the first, whether it is of local
 * memory and a store, how many qwords follow, and t->series.at; of reads of global memory but for
 * ZS_EU_REACH_LANES how many bytes it is from the first one to the last, of all lanes.
 */

/* The register file of a program. Sizes are powers of two. */
struct zs_eu_registers {
    uint16_t grf_B, grf_count; /* 32 or 64 bytes, at most 512 */
    uint8_t flag_count;        /* of 32 bits */
    uint8_t acc_count;         /* accumulators that operands may name */
    uint8_t a0_count;          /* address registers of 16 bits */
};
/* The file of a platform's threads that have grf_count registers; false: there are none such. */
bool zs_eu_registers_of(enum zs_isa_platform platform, uint32_t grf_count,
                        struct zs_eu_registers *ret);

/* Part of the code: what stands at offset_B of it has the address ip_B, as the ip register counts.
 */
struct zs_eu_segment {
    uint32_t offset_B, size_B, ip_B;
};

struct zs_eu_lower_params {
    struct zs_span code; /* instructions only (no padding), after relocations; not kept */
    uint32_t base_ip_B;  /* what `ip` reads at code.data[0], when there are no segments */
    const struct zs_eu_segment
        *segments; /* all of the code, ascending by offset; NULL: one. Copied.
                      Jumps that are not computed stay in their segment */
    size_t segment_count;
    uint32_t kernel_B; /* where the kernel begins: what texts of faults count offsets from */
    uint32_t entry_B;  /* where threads start: there, or behind what loads the payload */
    const uint32_t *targets_B; /* more offsets that computed jumps may reach: exported functions */
    size_t target_count;
    const uint32_t *stops_B; /* offsets of instructions, ascending: in front of these the step hook
                                is called, as HOOK_STEPS has it, in both versions of their blocks;
                                `ce` must not be changed there. Others have no trace of it */
    size_t stop_count;
    uint32_t simd;      /* of the kernel: 8, 16 or 32 */
    uint32_t payload_B; /* so many bytes of the register file, from r0 on, are written by the
                         * environment when a thread starts: restarts do not clear them */
    uint32_t flags;     /* ZS_EU_LOWER_* */
    enum zs_eu_host host;
    zs_eu_send_lower_fn *send_lower;         /* NULL: zs_eu_send_lower */
    enum zs_isa_platform platform;           /* of the encoding; 0: Gen9 */
    const struct zs_eu_registers *registers; /* NULL: 128 of the platform's; copied */
};

/*
 * Any bytes can be lowered: what cannot be decoded or is not modelled becomes a fault when it is
 * executed. -EINVAL: no code, entry_B is no instruction, simd is none of 8, 16, 32, a register file
 * that a thread has no room for; -E2BIG: more
 * than ZS_EU_CODE_MAX_B; -ENOTSUP: host not usable here; -ENOMEM. *ret is untouched on error.
 */
int zs_eu_lower(const struct zs_eu_lower_params *params, struct zs_eu_program **ret,
                struct zs_diag *diag);
void zs_eu_program_destroy(struct zs_eu_program *program); /* NULL is fine */
/* Whether it jumps to addresses from registers, which may lead to any code there is. */
bool zs_eu_program_computes_jumps(const struct zs_eu_program *program);
/* Some message that does something is told to hooks. */
bool zs_eu_program_is_hooked(const struct zs_eu_program *program);
/* Of one that was lowered with SCOREBOARD: no thread can come to an instruction too early, as far
 * as is known without running it; the check finds nothing then. */
bool zs_eu_program_waits(const struct zs_eu_program *program);
/* The address of an offset of its code. */
uint32_t zs_eu_program_ip(const struct zs_eu_program *program, uint32_t offset_B);

struct zs_eu_inst_info {
    uint32_t offset_B, size_B;
    uint64_t raw[2];      /* as it stands in the code */
    const char *mnemonic; /* "add", "math.inv", "send"; "illegal" */
    bool is_send;
    struct zs_eu_send_desc send; /* when is_send; desc is 0 if it comes from a0 */
    bool modelled;               /* false: executing it is a fault, ... */
    const char *why;             /* ... which says this; else NULL */
};
const struct zs_eu_registers *zs_eu_program_registers(const struct zs_eu_program *program);
uint32_t zs_eu_program_inst_count(const struct zs_eu_program *program);
bool zs_eu_program_inst(const struct zs_eu_program *program, uint32_t inst,
                        struct zs_eu_inst_info *ret);
/* Index of the instruction at a byte offset of the code, or UINT32_MAX. */
uint32_t zs_eu_program_inst_at(const struct zs_eu_program *program, uint32_t offset_B);

/*
 * Counters. A worker allocates zs_eu_program_counter_count() zeroed words and points t->counters
 * at them (several threads of one worker share them). Those of several workers are added word by
 * word, after settle was called for each (it brings them to a form that can be added). expand turns
 * them into numbers per instruction: how often it was executed (by a
 * hardware thread), and with how many active lanes in total. Active lanes are those enabled by
 * the channel mask and the predicate; the predicate of sel chooses and does not count, and a
 * branch counts all lanes that reach it. NoMask counts all channels of the instruction. An
 * instruction that faulted, and those after it in its block, count as executed.
 */
size_t zs_eu_program_counter_count(const struct zs_eu_program *program);
void zs_eu_program_counters_settle(const struct zs_eu_program *program, uint64_t *counters);
/* Code of a block is for all lanes on or for any: which of it threads have needed is added to
 * `seen`, a byte a block; behind these there is one for each message, what zs_port_way() said of
 * some of them (0: nobody knows). How many instructions they needed that `known` (NULL: all) has
 * not. */
enum { ZS_EU_SEEN_ANY = 1, ZS_EU_SEEN_ALL = 2 };
size_t zs_eu_program_seen_B(const struct zs_eu_program *program);
uint64_t zs_eu_program_counters_seen(const struct zs_eu_program *program, const uint64_t *counters,
                                     const uint8_t *known, uint8_t *seen);
uint32_t zs_eu_program_block_count(const struct zs_eu_program *program);
void zs_eu_program_counters_expand(const struct zs_eu_program *program, const uint64_t *counters,
                                   uint64_t *ret_executions, uint64_t *ret_lanes);

/* ---- Threads -----------------------------------------------------------------------------------
 */

/* Bits of a thread's own 32 bytes, from there on: words rise by one, are alike, or rise on into the
 * next 32. */
enum zs_eu_rising { ZS_EU_RISING = 0, ZS_EU_RISING_ALIKE = 8, ZS_EU_RISING_ON = 16 };

/*
 * Threads of a group, one after the other in the place of one: who gives a thread this has them
 * follow in one zs_eu_run(), where compiled code can do it (eu/tier/tier.h). What it returns is of
 * thread `at`; those in front of it have ended. Behind the last of a group may come the first of
 * the next one along x, with the same rows.
 */
struct zs_eu_series {
    uint32_t at, end;   /* the thread that runs; behind the last, 0: no other follows */
    uint32_t groups;    /* that follow: fewer, as they begin */
    uint32_t rising;    /* of a thread that is about to start, whether or not others follow */
    const uint8_t *own; /* what is threads' own in registers, from the first of the group on */
    const struct zs_eu_series_row {
        uint32_t r0_2, r0_5; /* dwords of r0 */
        uint32_t sr0_0, msg0;
        uint32_t rising; /* enum zs_eu_rising: of each 32 bytes of its own */
    } * rows;            /* of all */
    /* the environment is to be as thread `at` has it: somebody else than compiled code looks */
    void (*settle)(struct zs_eu_thread *t);
    const void *context; /* settle's */
};

enum { ZS_EU_S0_QWORDS = 8 };
struct zs_eu_thread {
    /* Architectural state. Set what the dispatch needs after zs_eu_thread_init(). */
    _Alignas(64) uint32_t flag[ZS_EU_FLAGS_MAX];
    uint16_t a0[ZS_EU_A0_MAX];
    uint32_t cr0[4], sr0[4], n0[4], tm0[5];
    uint32_t ip_B;                /* what `ip` reads; valid only while an instruction reads it */
    uint32_t ce;                  /* channel enables of the running instruction */
    uint32_t msg0;                /* from Xe2 on: the upper bits of what numbers threads */
    uint64_t s0[ZS_EU_S0_QWORDS]; /* Xe3: scalars, which name registers of payloads */
    /* Named barriers that the environment has let the thread pass, a bit each; sync.bar takes it */
    uint32_t passed_barriers;
    uint32_t awaited_barrier; /* after ZS_EU_BARRIER: which one, 0: n0 */

    /* Owned by the environment (src/gpu, tests): never touched here. */
    void *env;
    const struct zs_eu_hooks *hooks; /* NULL: none */
    struct zs_eu_reaches *reaches;   /* NULL: all are asked at once */

    uint64_t *counters; /* see above; NULL: not counted */
    uint64_t executed;  /* instructions executed since init, exact at every return of zs_eu_run */
    uint64_t clock;     /* tm0 reads clock + executed */
    uint64_t spent;     /* added to at every return: instructions of all threads of a series */
    struct zs_eu_series series;

    /* Internal: per-lane control flow (docs/eu.md), constants and temporaries of the lowered
     * program. */
    const struct zs_eu_program *program;
    const struct zs_eu_op *resume;  /* next operation, NULL: at the entry */
    const struct zs_eu_op *current; /* for faults: the operation that may fail */
    int64_t budget;
    uint64_t budget_start;
    uint32_t status;      /* enum zs_eu_status */
    bool stopped;         /* by the step hook; the next step does not ask */
    bool paired;          /* `pair` has been filled */
    uint32_t waiting;     /* lanes that wait at key[lane] */
    uint32_t alive;       /* lanes of the dispatch mask that did not end */
    uint32_t dispatched;  /* the dispatch mask */
    uint32_t merge_block; /* block where the next waiting lanes join, UINT32_MAX: none */
    uint32_t depth_key;   /* call depth of the running lanes, as the high part of a key */
    uint32_t all_ones;    /* constant, for instructions without mask or predicate */
    uint32_t predicate;   /* result of any/all predicates */
    uint32_t host_csr;    /* host's floating-point control for this thread's cr0 */
    uint32_t host_csr_double;
    uint32_t send_cache_next;
    uint32_t looks;          /* says which messages are looked at (control.c): any number */
    uint32_t follows;        /* jumps that did not return to the loop */
    uint64_t block_count[2]; /* what a block start adds to its counters: follows from ce */
    /* elements of the accumulators, a slot each (zs_eu_acc_slot()); integers sign-extended to 64
     * bits, of which the high halves lie apart: what is no wider than a dword is packed */
    _Alignas(64) uint32_t acc[ZS_EU_ACC_SLOTS_MAX];
    _Alignas(64) uint32_t acc_high[ZS_EU_ACC_SLOTS_MAX];
    struct zs_eu_fault fault;
    /* the register file of the program and the bytes behind it */
    _Alignas(64) uint8_t grf[ZS_EU_GRF_FILE_MAX_B + ZS_EU_GUARD_B];
    _Alignas(64) uint32_t key[ZS_EU_LANES_MAX];
    _Alignas(64) uint8_t temp[ZS_EU_TEMP_COUNT][ZS_EU_TEMP_B];
    _Alignas(64) uint8_t sink[ZS_EU_TEMP_B]; /* what is written to null */
    _Alignas(64) uint8_t pair[ZS_EU_PAIR_B]; /* src2 of dpasw: from both threads of a pair */
    _Alignas(64) uint8_t constant[ZS_EU_CONST_B + 64];
    struct zs_eu_send send_cache[ZS_EU_SEND_CACHE]; /* lowered messages of descriptors in a0 */
    uint64_t send_cached;                           /* which of them there are */
    _Alignas(16) uint8_t mme[8][16][16];            /* of mme operands, by channel: general.c */
    uint32_t return_ip_B[ZS_EU_DEPTHS]; /* by the depth's part of a key: where its call returns */
    struct zs_eu_scoreboard scoreboard; /* of programs that were lowered with it */
    struct zs_eu_shadow *shadow; /* the environment's: NULL, or of one that was lowered with it */
};

/*
 * Reset everything: registers zero, lanes of dispatch_mask enabled (sr0.2), cr0 0, counters and
 * env NULL. dispatch_mask must not be 0 and not exceed the program's simd.
 */
void zs_eu_thread_init(struct zs_eu_thread *t, const struct zs_eu_program *program,
                       uint32_t dispatch_mask);

/*
 * The slot of an accumulator's first element, and where those that follow it end. Of acc0 and acc1
 * it goes by the size of elements (32-byte registers: acc1 begins at slot 8 for dwords, 16 for
 * words), so that element i has one slot whatever its type, as instructions that imply acc0 take
 * it. The others have room of their own for each size: a word of acc3 is not a dword of acc6.
 */
static inline uint32_t zs_eu_acc_slot(const struct zs_eu_registers *r, uint32_t reg,
                                      uint32_t size_B, uint32_t *ret_end)
{
    uint32_t width_B = size_B < 2 ? 2 : size_B, per_reg = r->grf_B / width_B, start = 0;

    if (reg < 2) {
        *ret_end = 2 * per_reg;
        return reg * per_reg;
    }
    for (uint32_t of_B = 2; of_B < width_B; of_B *= 2) /* behind those of narrower ones */
        start += (r->acc_count - 2u) * r->grf_B / of_B;
    start += r->grf_B;
    *ret_end = start + (r->acc_count - 2u) * per_reg;
    return start + (reg - 2) * per_reg;
}

/* An element of the accumulators. */
static inline uint64_t zs_eu_acc(const struct zs_eu_thread *t, uint32_t slot)
{
    return t->acc[slot] | (uint64_t)t->acc_high[slot] << 32;
}

static inline void zs_eu_acc_set(struct zs_eu_thread *t, uint32_t slot, uint64_t value)
{
    t->acc[slot] = (uint32_t)value;
    t->acc_high[slot] = (uint32_t)(value >> 32);
}

/* The message of an operation that was put off. */
const struct zs_eu_send *zs_eu_program_send(const struct zs_eu_program *program, uint32_t op);

/* Somebody looks: what was put off (struct zs_eu_reaches). */
static inline void zs_eu_reached(struct zs_eu_thread *t)
{
    if (__builtin_expect(t->reaches != NULL, 0) && t->hooks && t->hooks->reached)
        t->hooks->reached(t);
}

/* The instruction that a stopped thread goes on with; UINT32_MAX before the first. */
uint32_t zs_eu_thread_inst(const struct zs_eu_thread *t);

/*
 * For debuggers, of a thread that does not run.
 *
 * zs_eu_thread_place: the instruction that it goes on with, also before its first and after a fault
 * (then the one that faulted). The number of instructions: behind the last.
 *
 * zs_eu_thread_switch: go on with another program, which was lowered from code of the same layout:
 * with other hooks, or with instructions replaced. -EINVAL, and nothing has changed: some lane is
 * where `to` has no instruction, or waits where no block of `to` starts (old blocks are known to be
 * ones when they were given as targets). Counters are the caller's to replace.
 *
 * zs_eu_thread_jump: the running lanes go on with another instruction. -EINVAL: there is none, or
 * lanes wait at or in front of it, which would be passed.
 *
 * zs_eu_thread_pass: the step hook is not asked about the place of the thread, when that is next.
 *
 * zs_eu_thread_retry: after a fault, go on with the instruction that faulted.
 */
uint32_t zs_eu_thread_place(const struct zs_eu_thread *t);
int zs_eu_thread_switch(struct zs_eu_thread *t, const struct zs_eu_program *to) ZS_MUST_CHECK;
int zs_eu_thread_jump(struct zs_eu_thread *t, uint32_t inst) ZS_MUST_CHECK;
void zs_eu_thread_pass(struct zs_eu_thread *t);
void zs_eu_thread_retry(struct zs_eu_thread *t);
/* How many instructions it has executed, exactly, also in the middle of a block; one that faulted
 * is not among them. */
uint64_t zs_eu_thread_steps(const struct zs_eu_thread *t);
/* Offset of the instruction at which a lane waits (t->waiting), UINT32_MAX: behind the last. */
uint32_t zs_eu_thread_lane_offset_B(const struct zs_eu_thread *t, uint32_t lane);
/* Offsets of instructions that start blocks; returns how many there are. */
uint32_t zs_eu_program_block_starts(const struct zs_eu_program *program, uint32_t *ret_offsets_B,
                                    uint32_t capacity);
/* Channel of an mme register (0 to 7), rounded. */
double zs_eu_thread_mme(const struct zs_eu_thread *t, uint32_t mme, uint32_t channel);

/*
 * Two threads of which zs_eu_run() left one with ZS_EU_PAIR, and the other one, too, or in front of
 * that instruction; the one with the even number first: give both what dpasw takes from either.
 * Run both again. -EINVAL: they stand at different instructions.
 */
int zs_eu_thread_pair(struct zs_eu_thread *even, struct zs_eu_thread *odd) ZS_MUST_CHECK;

/* Set cr0.0 (rounding, denormals) as if the thread had written it. */
void zs_eu_thread_set_control(struct zs_eu_thread *t, uint32_t cr0);

/*
 * The same for a thread that zs_eu_thread_init() has prepared for this program before: leaves what
 * belongs to the program alone, which is most of the work, and so it does with registers that the
 * program never reads (nor with accumulators; with hooks that look at them it clears all).
 */
void zs_eu_thread_restart(struct zs_eu_thread *t, const struct zs_eu_program *program,
                          uint32_t dispatch_mask);

/*
 * Run until something happens, or about `budget` instructions (checked at block starts) were
 * executed. The host's floating-point environment is restored before it returns. program must be
 * the one of zs_eu_thread_init().
 */
enum zs_eu_status zs_eu_run(struct zs_eu_thread *t, const struct zs_eu_program *program,
                            uint64_t budget);

/*
 * The same for a caller that runs many threads and does no floating-point arithmetic between:
 * zs_eu_host_csr() once, then *host_csr is what the host's control register holds; give the first
 * value back to zs_eu_host_csr_restore() in the end.
 */
uint32_t zs_eu_host_csr(void);
void zs_eu_host_csr_restore(uint32_t csr);
enum zs_eu_status zs_eu_run_among(struct zs_eu_thread *t, const struct zs_eu_program *program,
                                  uint64_t budget, uint32_t *host_csr);

#endif
