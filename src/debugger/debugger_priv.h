/* SPDX-License-Identifier: MIT */
/*
 * The debugger's engine.
 *
 * Files call those below them alone, but for place.c and addresses.c, which find each other's
 * registers:
 *
 *     session.c      open, launch, attach, detach; start.c: an application's process, held in exec
 *     run.c          events: what stops, why, and whether a person wants to know
 *     step.c         what steps do between two stops
 *     reverse.c      steps backwards, last writers
 *     watch.c        watchpoints
 *     history.c      going to a position of a recorded launch
 *     hits.c         whether a breakpoint stops a thread
 *     control.c      what makes threads go on and holds them
 *     returned.c     what a function has returned
 *     lanes.c        lanes, registers and memory of a thread, the focus
 *     evaluate.c     expressions; arithmetic.c: C's conversions and operators of numbers
 *     registers.c    registers as expressions name them
 *     value.c        values by type, as text, members; types.c: types in full
 *     frames.c       the stack with inlined functions
 *     unwind.c       the callers' registers, from .debug_frame
 *     place.c        values of variables: pieces in registers and memory, read and written
 *     addresses.c    addresses of variables whose registers were used again
 *     memory.c       memory as people see it
 *     breakpoints.c  locations and the places that they mean
 *     threads.c      what is stopped
 *     modules.c      code that the process loads, and that is written
 *     bits.c         what stands for breakpoints in the code
 *     code.c         kernels, instructions, lines that are loaded; names.c: sources and functions
 *     ask.c          what the driver keeps of a launch
 *     kept.c         values that were printed, and that go with a stop
 *     calls.c        the loader's calls
 */
#ifndef ZS_DEBUGGER_PRIV_H
#define ZS_DEBUGGER_PRIV_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/vec.h"
#include "wire/history.h"

#include <zescope/annotate.h>
#include <zescope/debug.h>
#include <zescope/debug_ext.h>

#include <level_zero/ze_api.h>
#include <level_zero/zet_api.h>

#include <stdatomic.h>
#include <stdio.h>
#include <sys/types.h>

enum {
    ZS_DBG_PLACES_MAX = 4096,
    ZS_DBG_SETS_MAX = 32,
    ZS_DBG_GRF_MAX_B = 64,
    ZS_DBG_PICKED_MAX = 16, /* elements of a vector */
};

#define ZS_DBG_CALLS(ROW)                                                                          \
    ROW(zeInit)                                                                                    \
    ROW(zeDriverGet)                                                                               \
    ROW(zeDeviceGet)                                                                               \
    ROW(zeDeviceGetProperties)                                                                     \
    ROW(zetDeviceGetDebugProperties)                                                               \
    ROW(zetDebugAttach)                                                                            \
    ROW(zetDebugDetach)                                                                            \
    ROW(zetDebugReadEvent)                                                                         \
    ROW(zetDebugAcknowledgeEvent)                                                                  \
    ROW(zetDebugInterrupt)                                                                         \
    ROW(zetDebugResume)                                                                            \
    ROW(zetDebugReadMemory)                                                                        \
    ROW(zetDebugWriteMemory)                                                                       \
    ROW(zetDebugGetRegisterSetProperties)                                                          \
    ROW(zetDebugReadRegisters)                                                                     \
    ROW(zetDebugWriteRegisters)

struct zs_dbg_calls {
#define ROW(name) __typeof__(name) *name;
    ZS_DBG_CALLS(ROW)
#undef ROW
};

/* ---- code ---- */

/* What debug info knows as one piece of code: a kernel and the functions that it calls. */
struct zs_dbg_kernel {
    char *name;
    uint64_t va, size_B; /* of its code */
    uint64_t entry_B;    /* in it: where its threads begin, as far as is known */
    uint8_t *code;
    struct zs_isa_kernel *isa;    /* NULL: cannot be decoded */
    struct zs_dwarf_kernel *info; /* NULL: no debug info */
    struct zs_join *join;
    bool keeps_r0;                       /* nothing in it writes r0, where the thread's group is */
    uint32_t lanes;                      /* that its instructions can have */
    uint32_t frame_register;             /* r125 or r127: of calls and returns; 0: it has none */
    bool optimised;                      /* variables move about */
    bool written;                        /* code of it, by the debugger */
    struct zs_dbg_address_maker *makers; /* [info->variable_count] or NULL: addresses.c */
};

struct zs_dbg_module {
    struct zs_debug_module shown;
    uint8_t *elf;
    size_t elf_B;
    struct zs_dwarf *dwarf;
    struct zs_span frame_section; /* .debug_frame */
    uint64_t text_va;             /* in the ELF: of the first code */
    struct zs_dbg_kernel *kernels;
    const char **names;
    uint32_t count;
};

/* ---- breakpoints ---- */

enum zs_dbg_scalar { ZS_DBG_NOT_SCALAR, ZS_DBG_SIGNED, ZS_DBG_UNSIGNED, ZS_DBG_FLOAT };

struct zs_dbg_breakpoint {
    struct zs_debug_breakpoint shown;
    char *location, *condition, *log;
    char *file;  /* in focus when it was made: of locations without one */
    bool hidden; /* of a step */
    enum { ZS_DBG_PLACE, ZS_DBG_BARRIER, ZS_DBG_DIVERGENCE } kind;
    uint64_t nth; /* barrier: of each thread, 0: all */
    struct {
        struct zs_dbg_count {
            uint32_t thread;
            uint64_t count;
        } * items;
        size_t count, capacity;
    } counts;                      /* barriers that threads came to */
    struct zs_history_range range; /* watchpoints */
    enum zs_dbg_scalar scalar;     /* of its elements: how they are written */
    uint32_t element_B;
    struct {
        struct zs_debug_place *items;
        size_t count, capacity;
    } places;
};

struct zs_dbg_inserted {
    uint64_t va;
    uint32_t users;
};

/* ---- threads ---- */

struct zs_dbg_thread {
    struct zs_debug_thread shown;
    ze_device_thread_t place;
    const struct zs_dbg_kernel *kernel; /* or NULL */
    bool stopped;
    bool untold;  /* its stop was not told yet */
    uint32_t why; /* cr0.1 */
    bool fault_known;
    uint64_t fault_va;
    enum { ZS_DBG_ITEMS_UNASKED, ZS_DBG_ITEMS_KNOWN, ZS_DBG_ITEMS_NONE } items_state;
    struct zs_history_items items; /* as the driver tells them */
    bool hides_breakpoint;         /* stopped by a watchpoint where there is a breakpoint, too */
};

struct zs_dbg_regset {
    uint32_t type, count, size_B;
    bool writable;
};

enum zs_dbg_state {
    ZS_DBG_IDLE, /* nothing attached */
    ZS_DBG_RUNNING,
    ZS_DBG_HOLDING, /* an interrupt of all is under way */
    ZS_DBG_STOPPED,
};

struct zs_dbg_step {
    bool active;
    enum zs_debug_step kind;
    uint32_t thread, lane;
    const struct zs_dbg_kernel *kernel;
    uint32_t file, line; /* where it began; line 0: not known */
    uint32_t start_B;
    uint32_t depth; /* calls on the stack, and functions inlined there */
    uint32_t inlined;
    bool into_body; /* it is in the prologue of a function that it goes into */
    uint64_t steps;
    uint32_t run_to;    /* id of the hidden breakpoint it runs to, 0: single steps */
    uint64_t target_va; /* of the function that it goes into; 0: none */
    struct zs_dbg_returned {
        const struct zs_dwarf *dwarf;
        uint32_t type; /* 0: nothing, or where it is is not known */
        uint32_t lanes;
        uint64_t va; /* to where */
    } returns;       /* of the function that it leaves */
};

struct zs_debugger {
    struct zs_source_options source_options;
    struct zs_sources *sources;
    struct zs_dbg_calls ze;
    void *loader;
    ze_device_handle_t device;
    ze_device_properties_t properties;
    enum zs_isa_platform platform;
    struct zs_dbg_regset sets[ZS_DBG_SETS_MAX];
    uint32_t set_count;
    uint32_t grf_B;
    bool stop_on_load;

    zet_debug_session_handle_t session;
    pid_t pid;
    bool launched, reaped;
    int exit_status;
    enum zs_dbg_state state;
    atomic_bool interrupt_wanted;
    bool process_gone;

    struct {
        struct zs_dbg_module **items;
        size_t count, capacity;
    } modules;
    struct {
        struct zs_dbg_breakpoint **items;
        size_t count, capacity;
    } breakpoints;
    struct {
        struct zs_dbg_inserted *items;
        size_t count, capacity;
    } inserted;
    struct {
        struct zs_dbg_thread *items;
        size_t count, capacity;
    } threads;
    struct {
        struct zs_debug_thread *items;
        size_t count, capacity;
    } shown_threads;
    struct {
        struct zs_debug_event *items;
        size_t count, capacity;
    } queue;
    size_t queue_at;
    uint32_t last_module, last_breakpoint, last_thread;
    uint32_t focus_thread, focus_lane, focus_frame;
    char *focus_file;           /* of lines without a file */
    uint64_t ip_base;           /* of code, 0: not read yet */
    struct zs_debug_event stop; /* what is told once all is held */
    struct zs_dbg_step step;
    struct zs_dbg_returned returned; /* by the last step, while all stands there */
    struct zs_arena values;
    struct zs_arena kept_arena;
    struct {
        struct zs_dbg_value **items;
        size_t count, capacity;
    } kept; /* values that were printed */
    enum zs_debug_record record;
    bool record_told;                  /* to the driver of this process */
    uint32_t watching;                 /* watchpoints that the driver knows */
    bool launch_wanted;                /* zs_debug_goto_launch */
    struct zs_history_answer *history; /* the last one */
};

/* ---- session.c ---- */

/* The process has gone: the event that tells it, and the end of the session. */
void zs_dbg_process_ended(struct zs_debugger *d, struct zs_debug_event *ret);

/* ---- start.c ---- */

/* Found by PATH, in a process group of its own. *ret_held: it has executed nothing of the program
 * yet, and stands until zs_dbg_let_go, which the same thread has to call. */
int zs_dbg_start(char *const *argv, char **environment, pid_t *ret_pid, bool *ret_held);
void zs_dbg_let_go(pid_t pid);

/* ---- calls.c ---- */

int zs_dbg_load_calls(struct zs_debugger *d, struct zs_diag *diag);
/* -errno for a result, with a sentence that begins with `what`. */
int zs_dbg_result(ze_result_t result, const char *what, struct zs_diag *diag);
int zs_dbg_read_regs(struct zs_debugger *d, ze_device_thread_t thread, uint32_t set, uint32_t first,
                     uint32_t count, void *ret);
int zs_dbg_write_regs(struct zs_debugger *d, ze_device_thread_t thread, uint32_t set,
                      uint32_t first, uint32_t count, const void *data);
const struct zs_dbg_regset *zs_dbg_regset(const struct zs_debugger *d, uint32_t type);
int zs_dbg_access(struct zs_debugger *d, const struct zs_dbg_thread *thread,
                  enum zs_debug_space space, uint64_t va, void *bytes, size_t size_B, bool write);

/* ---- code.c ---- */

const struct zs_dbg_kernel *zs_dbg_kernel_at(const struct zs_debugger *d, uint64_t va);
const struct zs_dbg_module *zs_dbg_module_of(const struct zs_debugger *d,
                                             const struct zs_dbg_kernel *kernel);
/* Index of the instruction at an address, or ZS_NO_INDEX. */
uint32_t zs_dbg_inst_at(const struct zs_dbg_kernel *kernel, uint64_t va);
/* Functions that are inlined at an instruction: how many in one another. 0: none, or not known. */
uint32_t zs_dbg_inlined_at(const struct zs_dbg_kernel *kernel, uint32_t index);
/* Whether it waits for other threads. */
bool zs_dbg_inst_waits(const struct zs_dbg_kernel *kernel, uint32_t index);
/* The same for a function from its first instruction on, with those that it calls. */
bool zs_dbg_call_waits(const struct zs_dbg_kernel *kernel, uint32_t index, uint32_t depth);
/* The row of a line, or NULL where none is known. */
const struct zs_line_row *zs_dbg_row_at(const struct zs_dbg_kernel *kernel, uint64_t va);
/* The function, not inlined, that has the instruction: its frame in the debug info, or ZS_NO_INDEX.
 */
uint32_t zs_dbg_function_at(const struct zs_dbg_kernel *kernel, uint64_t va);

/* ---- bits.c ---- */

/* Another user of the bit at an address, or one less. */
void zs_dbg_insert(struct zs_debugger *d, uint64_t va);
void zs_dbg_take_out(struct zs_debugger *d, uint64_t va);
bool zs_dbg_is_inserted(const struct zs_debugger *d, uint64_t va);
/* The bits in all of a kernel's code are set or taken out, where it has instructions. */
void zs_dbg_put_bits(const struct zs_debugger *d, const struct zs_dbg_kernel *kernel, uint8_t *code,
                     bool on);
/* Breakpoint bits in bytes that were read from `va` on are taken out. */
void zs_dbg_hide_inserted(const struct zs_debugger *d, uint64_t va, uint8_t *bytes, size_t size_B);

/* ---- modules.c ---- */

int zs_dbg_module_add(struct zs_debugger *d, const zet_debug_event_t *event, uint32_t *ret_id);
uint32_t zs_dbg_module_remove(struct zs_debugger *d, const zet_debug_event_t *event);
void zs_dbg_modules_clear(struct zs_debugger *d);
/* Code of a kernel is written: breakpoints stay, what is known of it is found out anew. */
int zs_dbg_code_write(struct zs_debugger *d, struct zs_dbg_kernel *kernel, uint64_t va,
                      const void *bytes, size_t size_B);
/* Kernels whose code was written may have another one now. */
void zs_dbg_code_refresh(struct zs_debugger *d);

/* ---- breakpoints.c ---- */

void zs_dbg_breakpoints_resolve(struct zs_debugger *d);
void zs_dbg_breakpoints_drop(struct zs_debugger *d, uint64_t va, uint64_t size_B);
void zs_dbg_breakpoints_clear(struct zs_debugger *d);
uint32_t zs_dbg_breakpoint_hidden(struct zs_debugger *d, uint64_t va);
struct zs_dbg_breakpoint *zs_dbg_breakpoint_find(const struct zs_debugger *d, uint32_t id);
bool zs_dbg_breakpoint_is_at(const struct zs_dbg_breakpoint *b, uint64_t va);
/* Where the body of the function at an address begins, behind its prologue. */
uint64_t zs_dbg_body_at(const struct zs_dbg_kernel *kernel, uint64_t va);
struct zs_dbg_breakpoint *zs_dbg_breakpoint_new(struct zs_debugger *d, const char *location,
                                                const char *condition);
/* The driver gets the list of watchpoints as it is now; t: the context of new ones, or NULL. */
int zs_dbg_watch_tell(struct zs_debugger *d, const struct zs_dbg_thread *t, struct zs_diag *diag);
void zs_dbg_watch_ranges(struct zs_debugger *d, struct zs_history_request *request);

/* ---- memory.c ---- */

/* What people read and write: code without the breakpoints that are in it, which it keeps. */
int zs_dbg_read(struct zs_debugger *d, const struct zs_dbg_thread *thread,
                enum zs_debug_space space, uint64_t va, void *ret_bytes, size_t size_B);
int zs_dbg_write(struct zs_debugger *d, const struct zs_dbg_thread *thread,
                 enum zs_debug_space space, uint64_t va, void *bytes, size_t size_B);

/* ---- hits.c ---- */

/* Whether its condition holds for a lane; one that cannot be evaluated does. */
bool zs_dbg_breakpoint_holds(struct zs_debugger *d, const struct zs_dbg_breakpoint *b,
                             struct zs_dbg_thread *t, uint32_t lane);
/* As zs_dbg_breakpoint_hit, but nothing is counted, passed over or logged. */
uint32_t zs_dbg_breakpoint_would_stop(struct zs_debugger *d, struct zs_dbg_thread *t,
                                      uint32_t *ret_lane);
/* What the breakpoints at the thread's place want: 0 none stops it, else the id. Hits are counted,
 * logs are queued. */
uint32_t zs_dbg_breakpoint_hit(struct zs_debugger *d, struct zs_dbg_thread *t, uint32_t *ret_lane);

/* ---- control.c, run.c ---- */

/* All is held: the stop is told. */
void zs_dbg_held(struct zs_debugger *d);
int zs_dbg_hold_all(struct zs_debugger *d, struct zs_diag *diag);
void zs_dbg_queue(struct zs_debugger *d, const struct zs_debug_event *event);
/* Sets the bits that let it go on from where it is, over a breakpoint, by one instruction. */
int zs_dbg_prepare(struct zs_debugger *d, struct zs_dbg_thread *t, bool single);
/* The next of the driver's events is worked on. -EAGAIN: none in time. */
int zs_dbg_take_event(struct zs_debugger *d, uint32_t timeout_ms, struct zs_diag *diag);
/* A stop that is to be told when all is held. */
void zs_dbg_stop(struct zs_debugger *d, enum zs_debug_reason reason, const struct zs_dbg_thread *t,
                 uint32_t lane, uint32_t breakpoint);
/* The step that is under way is over. */
void zs_dbg_step_end(struct zs_debugger *d);
int zs_dbg_resume(struct zs_debugger *d, const struct zs_dbg_thread *t, struct zs_diag *diag);

/* ---- ask.c ---- */

struct zs_history_request zs_dbg_history_request(enum zs_history_op op,
                                                 const struct zs_dbg_thread *t);
/* The answer is d->history. 0 or -errno with a sentence; -ENOTSUP: other drivers. */
int zs_dbg_history_ask(struct zs_debugger *d, struct zs_history_request *request,
                       struct zs_diag *diag);
/* Until what was asked for is done; t: whose launch the answer is about, or NULL. */
int zs_dbg_history_wait(struct zs_debugger *d, const struct zs_dbg_thread *t, struct zs_diag *diag);
const char *zs_dbg_history_lack(uint32_t lack);
/* A process has code: its driver is told which launches to record. */
void zs_dbg_history_told(struct zs_debugger *d);
/* The thread's work-items, as zescope's driver tells them; NULL: another driver. */
const struct zs_history_items *zs_dbg_items(struct zs_debugger *d, struct zs_dbg_thread *t);

/* ---- history.c ---- */

/* The launch of a thread goes to a position; threads are found by their places afterwards. */
int zs_dbg_go(struct zs_debugger *d, const struct zs_dbg_thread *t, uint64_t position,
              struct zs_diag *diag);
struct zs_dbg_thread *zs_dbg_history_thread(struct zs_debugger *d, const uint32_t group[3],
                                            uint32_t thread);
/* Tells of d->stop, with its text, that all is at such a place. */
void zs_dbg_history_stopped(struct zs_debugger *d, enum zs_debug_reason reason,
                            struct zs_dbg_thread *t, uint32_t lane, uint32_t breakpoint);

/* ---- watch.c ---- */

/* Whether the thread has stopped by a watchpoint, or where its launch begins, and a person wants to
 * know: d->stop says it. */
bool zs_dbg_watch_hit(struct zs_debugger *d, struct zs_dbg_thread *t);
uint32_t zs_dbg_watch_would_stop(struct zs_debugger *d, struct zs_dbg_thread *t,
                                 const struct zs_history_hit *hit, uint32_t *ret_lane);

/* Scalars of one type, or one; size_B 0: bytes. */
struct zs_dbg_elements {
    enum zs_dbg_scalar scalar;
    uint32_t size_B;
};
struct zs_dbg_elements zs_dbg_elements_of(struct zs_dbg_value *v);
/* The memory that an expression names, in the context of a lane. *ret NULL: "*ADDRESS", which needs
 * no debug info: the dword there. */
int zs_dbg_watch_find(struct zs_debugger *d, struct zs_dbg_thread *t, uint32_t lane, uint32_t frame,
                      const char *expression, struct zs_dbg_value **ret,
                      struct zs_history_range *ret_range, struct zs_diag *diag);
/* What of `name`, which begins at begin_va, was reached by whom. */
void zs_dbg_put_hit(char *text, size_t text_B, const char *name, struct zs_dbg_elements e,
                    uint64_t begin_va, const struct zs_history_hit *hit);

/* ---- returned.c ---- */

/* What the function in which a thread stands returns, if it is called as IGC's stack calls are. */
struct zs_dbg_returned zs_dbg_returns(struct zs_debugger *d, const struct zs_dbg_thread *t);

/* ---- step.c ---- */

/* The stepped thread has stopped after an instruction or at the place it ran to. */
int zs_dbg_step_on(struct zs_debugger *d, struct zs_dbg_thread *t, struct zs_diag *diag);

/* ---- threads.c ---- */

struct zs_dbg_thread *zs_dbg_thread_find(const struct zs_debugger *d, uint32_t id);
/* By place, made when it is new. */
struct zs_dbg_thread *zs_dbg_thread_at(struct zs_debugger *d, ze_device_thread_t place);
/* Where it is and why; false: it is not stopped. */
bool zs_dbg_thread_read(struct zs_debugger *d, struct zs_dbg_thread *t);
/* All that are stopped. */
void zs_dbg_threads_scan(struct zs_debugger *d);
void zs_dbg_threads_clear(struct zs_debugger *d);
uint32_t zs_dbg_pick_lane(const struct zs_debugger *d, const struct zs_dbg_thread *t);
/* Of these lanes, the one in focus, else the first. */
uint32_t zs_dbg_pick_lane_of(const struct zs_debugger *d, const struct zs_dbg_thread *t,
                             uint32_t lanes);
/* -ESRCH, -EBUSY with a sentence; or 0. */
int zs_dbg_need_thread(struct zs_debugger *d, uint32_t id, struct zs_dbg_thread **ret,
                       struct zs_diag *diag);

/* ... that all are stopped. */
int zs_dbg_need_stopped(const struct zs_debugger *d, struct zs_diag *diag);
/* The thread, while all are stopped. */
int zs_dbg_need_thread_among_stopped(struct zs_debugger *d, uint32_t id, struct zs_dbg_thread **ret,
                                     struct zs_diag *diag);

/* ---- unwind.c ---- */

enum { ZS_DBG_REGS = 384, ZS_DBG_CALLS_MAX = 32 };

/* A caller's registers, where they differ from those of the thread. */
struct zs_dbg_saved {
    bool lost;
    bool in_memory;
    uint64_t va;
};
struct zs_dbg_call_frame {
    uint64_t va; /* of the instruction: of callers, the call */
    const struct zs_dbg_kernel *kernel;
    struct zs_dbg_saved *saved; /* [ZS_DBG_REGS] by register of the debug info, or NULL */
    bool cfa_known;
    uint64_t cfa;
};
/* The calls of a thread, innermost first, at most ZS_DBG_CALLS_MAX; in the arena. */
uint32_t zs_dbg_unwind(struct zs_debugger *d, const struct zs_dbg_thread *t, struct zs_arena *arena,
                       struct zs_dbg_call_frame *ret_frames);

/* ---- frames.c ---- */

struct zs_dbg_frame {
    struct zs_debug_frame shown;
    struct zs_dbg_call_frame *call;
    uint32_t level; /* of call */
    uint32_t scope; /* innermost scope in this frame at its place, or ZS_NO_INDEX */
    uint32_t dwarf_frame;
};
int zs_dbg_frames(struct zs_debugger *d, const struct zs_dbg_thread *t, struct zs_arena *arena,
                  struct zs_dbg_frame **ret_frames, struct zs_diag *diag);

/* ---- place.c ---- */

/* In whose context an expression is evaluated. */
struct zs_dbg_context {
    struct zs_debugger *d;
    struct zs_dbg_thread *thread;
    uint32_t lane;
    uint32_t frame_index;
    struct zs_dbg_frame *frame; /* NULL: none is known */
    struct zs_arena *arena;
    struct zs_diag *diag;
};
/* Bits of a register by its number in debug info, in the frame of the context. */
int zs_dbg_read_register(struct zs_debugger *d, const struct zs_dbg_thread *t,
                         const struct zs_dbg_call_frame *call, uint64_t dwarf_register,
                         uint64_t bit_offset, uint32_t bits, uint64_t *ret_value);
/* Addresses of debug info and of pointers: their memory space, and the address in it. */
enum zs_debug_space zs_dbg_space_of(struct zs_debugger *d, const struct zs_dbg_thread *t,
                                    uint64_t address, uint64_t *ret_va);
/* Of a variable in memory: which bytes of the general registers have its address, for lanes 0
 * and 1. False: it is not in memory, or its address is found in another way. */
bool zs_dbg_address_registers(const struct zs_dbg_context *c, const struct zs_variable *v,
                              uint32_t ret_at_B[2]);
/* Where a variable is: 0, or -ENODATA with the reason. Then *ret_perhaps is where debug info says
 * that it is, and nothing proves it; its count is 0 where there is no such place. */
int zs_dbg_locate(const struct zs_dbg_context *c, const struct zs_variable *v,
                  struct zs_eval_result *ret, struct zs_eval_result *ret_perhaps);

/* Whether bytes of the general registers, counted from r0, still hold what is the variable's, for
 * the lane and frame of the context. In doubt they do not. */
bool zs_dbg_holds(const struct zs_dbg_context *c, const struct zs_variable *v, uint32_t begin_B,
                  uint32_t size_B);

/* ... and were written for that lane, by instructions that write elements of several. */
bool zs_dbg_holds_of_lane(const struct zs_dbg_context *c, const struct zs_variable *v,
                          uint32_t begin_B, uint32_t size_B);

/* The frame's function has stored its arguments: what is in memory before that is nobody's. */
bool zs_dbg_has_begun(const struct zs_dbg_context *c, const struct zs_variable *v);

/* ---- addresses.c ---- */

/* The address, for the lane of the context, of a variable that lives in memory and has its address
 * in a register by debug info. 0 or -ENODATA. */
int zs_dbg_variable_address(const struct zs_dbg_context *c, const struct zs_variable *v,
                            uint64_t *ret_address);

/* ---- value.c ---- */

/* A type that needs no debug info. */
struct zs_dbg_plain {
    const char *name; /* "uint" */
    uint32_t size_B;
    enum zs_dbg_scalar kind;
};

struct zs_dbg_value {
    struct zs_debug_value shown;
    struct zs_dbg_context context;
    const struct zs_dwarf *dwarf; /* of the type; NULL: scalar alone */
    uint32_t type;                /* as declared; 0: none */
    enum zs_dbg_scalar scalar;
    struct zs_eval_result place; /* count 0: it is no variable's */
    uint64_t at_bits;            /* its beginning in the place's object */
    uint32_t bit_size;           /* of a bit field, else 0 */
    uint32_t dimension;          /* of an array: how many indices it was given */
    uint32_t picked_count;       /* "v.zyx" of a vector, whose type it has: its elements; or 0 */
    uint8_t picked[ZS_DBG_PICKED_MAX];
    uint8_t *data;               /* NULL: not available */
    const char *why;             /* ... because of this */
    uint64_t repeated;           /* of "x@4": 4, and the element is its type; else 0 */
    struct zs_dbg_plain element; /* ... where that has no debug info */
    struct zs_dbg_value *target; /* of "&x": x; else NULL */
    bool is_kept;                /* it is what it was when it was printed */
    uint8_t nesting;             /* of how many others it is a part, at most 255 */
    bool has_parts;              /* some are available, and `why` shows them */
    bool is_register;            /* of $name: set, index and offset */
    uint32_t reg_set, reg_index, reg_at_B;
    bool is_ip;
    struct zs_dbg_plain plain; /* of what it was cast to: what it points to; size_B 0: nothing */
};

struct zs_dbg_number {
    enum zs_dbg_scalar kind;
    union {
        int64_t i;
        uint64_t u;
        double f;
    };
};

struct zs_dbg_value *zs_dbg_value_new(const struct zs_dbg_context *c, const char *name);
/* Fill in bytes, text and the rest, after dwarf, type, place and at_bits have been set. */
int zs_dbg_value_load(struct zs_dbg_value *v);
int zs_dbg_value_of_number(const struct zs_dbg_context *c, const char *name,
                           struct zs_dbg_number number, uint32_t size_B, const char *type,
                           struct zs_dbg_value **ret);
int zs_dbg_value_number(struct zs_dbg_value *v, struct zs_dbg_number *ret);
/* A number in memory; why: it is not to be read, or NULL. */
int zs_dbg_value_of_memory(const struct zs_dbg_context *c, const char *name, uint64_t gpu_va,
                           struct zs_dbg_plain type, const char *why, struct zs_dbg_value **ret);
int zs_dbg_value_member(struct zs_dbg_value *v, const char *name, struct zs_dbg_value **ret);
int zs_dbg_value_element(struct zs_dbg_value *v, int64_t index, struct zs_dbg_value **ret);
int zs_dbg_value_pointee(struct zs_dbg_value *v, int64_t index, struct zs_dbg_value **ret);
/* "v@n": n of its kind, of which it is the first. */
int zs_dbg_value_repeat(struct zs_dbg_value *v, int64_t count, struct zs_dbg_value **ret);
/* The size of what it points to; 0: it is no pointer, or that has none. */
uint64_t zs_dbg_value_pointee_B(const struct zs_dbg_value *v);
int zs_dbg_variable_value(const struct zs_dbg_context *c, const struct zs_variable *variable,
                          struct zs_dbg_value **ret);
int zs_dbg_value_store(struct zs_dbg_value *v, struct zs_dbg_number number);
/* Bytes of a value from its place: 0 or -errno with a reason. */
int zs_dbg_place_read(const struct zs_dbg_value *v, uint8_t *ret, size_t size_B);
int zs_dbg_place_write(const struct zs_dbg_value *v, const uint8_t *bytes, size_t size_B);

/* ---- arithmetic.c ---- */

enum zs_dbg_binary {
    ZS_DBG_OR,
    ZS_DBG_AND,
    ZS_DBG_BOR,
    ZS_DBG_XOR,
    ZS_DBG_BAND,
    ZS_DBG_EQ,
    ZS_DBG_NE,
    ZS_DBG_LE,
    ZS_DBG_GE,
    ZS_DBG_SHL,
    ZS_DBG_SHR,
    ZS_DBG_LT,
    ZS_DBG_GT,
    ZS_DBG_ADD,
    ZS_DBG_SUB,
    ZS_DBG_MUL,
    ZS_DBG_DIV,
    ZS_DBG_MOD,
    ZS_DBG_REPEAT, /* "x@4": not of numbers */
};

/* C's conversion; what does not fit into an integer is cut off. */
struct zs_dbg_number zs_dbg_convert(struct zs_dbg_number n, const struct zs_dbg_plain *to);
/* int or long, uint or ulong, float or double. */
const struct zs_dbg_plain *zs_dbg_number_type(enum zs_dbg_scalar kind, bool wide);
/* What an operand becomes: small integers are ints. */
const struct zs_dbg_plain *zs_dbg_promoted(const struct zs_dbg_value *v,
                                           const struct zs_dbg_number *n);
const struct zs_dbg_plain *zs_dbg_common_type(const struct zs_dbg_plain *a,
                                              const struct zs_dbg_plain *b);
/* Of numbers that were converted to a type. False: a division by zero, no operation of floats. */
bool zs_dbg_compute(enum zs_dbg_binary op, const struct zs_dbg_plain *type, struct zs_dbg_number a,
                    struct zs_dbg_number b, struct zs_dbg_number *ret);

/* ---- kept.c ---- */

/* What debug info is closed; NULL: all. */
void zs_dbg_kept_drop(struct zs_debugger *d, const struct zs_dwarf *dwarf);
void zs_dbg_kept_free(struct zs_debugger *d);

/* ---- registers.c ---- */

/* "r12", "r12.3:ud", "cr0": what stands behind the $. */
int zs_dbg_register_value(const struct zs_dbg_context *c, const char *text,
                          struct zs_dbg_value **ret);

/* The same place, of a register or not, as it is now. */
int zs_dbg_value_again(struct zs_dbg_value *v, struct zs_dbg_value **ret);

/* ---- evaluate.c ---- */

int zs_dbg_context_make(struct zs_debugger *d, uint32_t thread, uint32_t lane, uint32_t frame,
                        struct zs_diag *diag, struct zs_dbg_context *ret);
int zs_dbg_evaluate(const struct zs_dbg_context *c, const char *expression,
                    struct zs_dbg_value **ret);

#endif
