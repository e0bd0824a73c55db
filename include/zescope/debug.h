/* SPDX-License-Identifier: MIT */
/*
 * zescope: a debugger of GPU kernels, over Level Zero's zetDebug* functions of any driver.
 *
 *     struct zs_debugger *debug;
 *     struct zs_debug_event event;
 *     int error = zs_debug_open(&options, &debug, &diag);
 *     error = error ? error : zs_debug_launch(debug, argv, &diag);
 *     error = error ? error : zs_debug_break_add(debug, &where, &id, &diag);
 *     while (!error && !(error = zs_debug_wait(debug, UINT32_MAX, &event, &diag)) &&
 *            event.kind != ZS_DEBUG_EVENT_EXITED)
 *         if (event.kind == ZS_DEBUG_EVENT_STOPPED) {
 *             struct zs_debug_value *value;
 *             if (!zs_debug_evaluate(debug, event.thread, event.lane, 0, "acc.x", &value, &diag))
 *                 printf("%s\n", value->text);
 *             error = zs_debug_continue(debug, &diag);
 *         }
 *     zs_debug_close(debug);
 *
 * All stops together: when a thread stops (breakpoint, step, fault, interrupt), all threads of the
 * device are held before the stop is told. Work that runs goes on when it is told to.
 *
 * A thread here is a thread of the device: its lanes are work-items. Threads have numbers, which
 * count up from 1 and are not used again; 0 stands for none. What a call is asked of a running
 * thread is -EBUSY, of one that is gone -ESRCH. Frame 0 is the innermost.
 *
 * examples/lib_debug_lanes.c is a whole client.
 *
 * Values are never guessed: what debug info does not give at a place is not available, and its text
 * says why.
 *
 * Errors: 0 or -errno with a sentence in diag. Threads: one at a time, but for zs_debug_interrupt.
 */
#ifndef ZESCOPE_DEBUG_H
#define ZESCOPE_DEBUG_H

#include <zescope/correlate.h>

#ifdef __cplusplus
extern "C" {
#endif

struct zs_debugger;

struct zs_debug_options {
    size_t size_B; /* sizeof(struct zs_debug_options) */
    /* Path of a Level Zero driver for this process and those that it launches; NULL: the system's.
     * Goes into the environment, as do devices (ZESCOPE_DEVICES; NULL: as it is). */
    const char *driver, *devices;
    uint32_t device; /* number of the device that is debugged, among all drivers' */
    struct zs_source_options sources;
    bool stop_on_load; /* MODULE_LOADED events stop until zs_debug_continue */
};

/* Initialises Level Zero. -ENODEV: no device offers debugging. */
ZS_API int zs_debug_open(const struct zs_debug_options *options, struct zs_debugger **ret_debug,
                         struct zs_diag *diag);
/* Detaches; an application that was launched is killed when it has not ended. */
ZS_API void zs_debug_close(struct zs_debugger *debug);

/* Start an application (argv[0] is looked up in PATH, NULL at the end) and attach to it before it
 * does anything. -EBUSY: there is one. */
ZS_API int zs_debug_launch(struct zs_debugger *debug, char *const *argv, struct zs_diag *diag);
/* -EPERM, -ESRCH, -EBUSY (has a debugger), -ENOTSUP (not started with
 * ZET_ENABLE_PROGRAM_DEBUGGING=1, or does not have this device) */
ZS_API int zs_debug_attach(struct zs_debugger *debug, uint32_t pid, struct zs_diag *diag);
/* Takes breakpoints out and lets all go on. */
ZS_API int zs_debug_detach(struct zs_debugger *debug, struct zs_diag *diag);
/* SIGKILL. */
ZS_API int zs_debug_kill(struct zs_debugger *debug, struct zs_diag *diag);
ZS_API uint32_t zs_debug_pid(const struct zs_debugger *debug); /* 0: none */

/* ---- events ---- */

enum zs_debug_event_kind {
    ZS_DEBUG_EVENT_NONE,
    ZS_DEBUG_EVENT_MODULE_LOADED,   /* `module`; pending breakpoints have been set */
    ZS_DEBUG_EVENT_MODULE_UNLOADED, /* `module` */
    ZS_DEBUG_EVENT_STOPPED,         /* all is held */
    ZS_DEBUG_EVENT_LOG,             /* `text` of a breakpoint with a log; nothing stops */
    ZS_DEBUG_EVENT_EXITED,          /* the application ended: `status` where it was launched */
    ZS_DEBUG_EVENT_LOST,            /* the session ended otherwise; `text` says how */
};

enum zs_debug_reason {
    ZS_DEBUG_REASON_NONE,
    ZS_DEBUG_REASON_BREAKPOINT, /* `breakpoint` */
    ZS_DEBUG_REASON_STEP,       /* a step is done */
    ZS_DEBUG_REASON_INTERRUPT,  /* thread 0: nothing runs on the device */
    ZS_DEBUG_REASON_FAULT,      /* `text`: what, where, which variable */
    ZS_DEBUG_REASON_WATCHPOINT, /* `breakpoint` */
    ZS_DEBUG_REASON_LOADED,     /* stop_on_load */
    ZS_DEBUG_REASON_ENDED,      /* the stepped thread has ended; nothing of it is left to show */
    ZS_DEBUG_REASON_BEGINNING,  /* going back, the beginning of the launch was reached */
    ZS_DEBUG_REASON_LAUNCH,     /* zs_debug_goto_launch: the launch begins */
};

struct zs_debug_event {
    enum zs_debug_event_kind kind;
    enum zs_debug_reason reason;
    uint32_t thread, lane; /* of the stop; the focus has been set to it */
    uint32_t breakpoint;
    uint32_t module; /* for zs_debug_modules */
    int status;      /* as a shell shows it: 128 + n for signal n; -1: not known */
    uint64_t fault_va;
    bool fault_va_known;
    char text[480];
};

/* The next event. Steps, conditions and logs of breakpoints are worked on in here. -EAGAIN: none
 * within timeout_ms (UINT32_MAX: waits for ever). -ECHILD: nothing is attached. */
ZS_API int zs_debug_wait(struct zs_debugger *debug, uint32_t timeout_ms,
                         struct zs_debug_event *ret_event, struct zs_diag *diag);

/* ---- run control: what follows is told by zs_debug_wait ---- */

enum zs_debug_step {
    ZS_DEBUG_STEP_IN,    /* to another line, into calls */
    ZS_DEBUG_STEP_NEXT,  /* to another line of this function or its callers */
    ZS_DEBUG_STEP_OUT,   /* until the function returns, inlined ones too */
    ZS_DEBUG_STEP_UNTIL, /* like NEXT, not back to where it came from */
    ZS_DEBUG_STEP_INST,
    ZS_DEBUG_STEP_INST_NEXT, /* one instruction, over a call */
};

ZS_API int zs_debug_continue(struct zs_debugger *debug, struct zs_diag *diag);
/* Steps follow the lane in focus: where other lanes of its thread run without it, it goes on. Other
 * threads stand still but for barriers, which they come to. */
ZS_API int zs_debug_step(struct zs_debugger *debug, enum zs_debug_step step, struct zs_diag *diag);
/* Functions that the line at which a thread stands may still go into, inlined ones too:
 * ret_targets[capacity]. Pointers are valid until modules change. Returns how many there are, or
 * -errno. */
struct zs_debug_target {
    const char *function;
    uint64_t gpu_va; /* where it begins */
};
ZS_API int zs_debug_step_targets(struct zs_debugger *debug, uint32_t thread,
                                 struct zs_debug_target *ret_targets, uint32_t capacity,
                                 struct zs_diag *diag);
/* Like NEXT, but into the function that begins at an address. */
ZS_API int zs_debug_step_into(struct zs_debugger *debug, uint64_t gpu_va, struct zs_diag *diag);
/* At once, and not told by an event: the lanes of a thread that run stand at another instruction of
 * its code, and go on from there; a breakpoint at it stops them. -EINVAL: no instruction begins
 * there, or other lanes wait there or before. */
ZS_API int zs_debug_jump(struct zs_debugger *debug, uint32_t thread, uint64_t gpu_va,
                         struct zs_diag *diag);
/* Stop at the next chance. May be called from any thread and from signal handlers. */
ZS_API void zs_debug_interrupt(struct zs_debugger *debug);
ZS_API bool zs_debug_stopped(const struct zs_debugger *debug);

/* ---- going back: what follows is told by zs_debug_wait, too ----
 *
 * Within a launch, on zescope's software GPU; -ENOTSUP with other drivers. A launch that is
 * recorded is executed by one host thread. Going back puts the memory that it wrote into its first
 * state and executes it again, all of its work-items, up to the place; what was ahead is forgotten,
 * and executed anew. -ENODATA: there is no way back, and why: the launch was not recorded, the
 * debugger or somebody else has changed what it works with, it does not reach as far.
 */

enum zs_debug_record {
    ZS_DEBUG_RECORD_AUTO = 1, /* the default: launches of kernels with breakpoints, and all while
                                 memory is watched */
    ZS_DEBUG_RECORD_OFF = 0,
    ZS_DEBUG_RECORD_ON = 2,
};
/* For launches that begin later. */
ZS_API int zs_debug_record(struct zs_debugger *debug, enum zs_debug_record record,
                           struct zs_diag *diag);

struct zs_debug_history {
    uint64_t launches; /* that have begun since the debugger attached */
    uint64_t launch;   /* the thread's, counted from 1; 0: no thread */
    uint64_t position; /* instructions that its threads have executed, each one step */
    bool recorded;
    const char *lack; /* why not, or NULL */
};
/* thread 0: none, for `launches`. */
ZS_API int zs_debug_history(struct zs_debugger *debug, uint32_t thread,
                            struct zs_debug_history *ret_history, struct zs_diag *diag);

/* The lane in focus goes back by what a step of the same kind goes over: IN, NEXT and UNTIL to the
 * beginning of the line that was executed last; OUT to the call of the function. */
ZS_API int zs_debug_reverse_step(struct zs_debugger *debug, enum zs_debug_step step,
                                 struct zs_diag *diag);
/* To the last place where a breakpoint or watchpoint would have stopped any thread, else to the
 * beginning of the launch. */
ZS_API int zs_debug_reverse_continue(struct zs_debugger *debug, struct zs_diag *diag);
/* To a position that was passed. */
ZS_API int zs_debug_goto_position(struct zs_debugger *debug, uint64_t position,
                                  struct zs_diag *diag);
/* To the beginning of a launch by its number: of the one that is stopped back, to later ones on.
 * -ENODATA: it has been; earlier launches are not executed again. */
ZS_API int zs_debug_goto_launch(struct zs_debugger *debug, uint64_t launch, struct zs_diag *diag);

/* ---- breakpoints ---- */

struct zs_debug_breakpoint_options {
    size_t size_B; /* sizeof(struct zs_debug_breakpoint_options) */
    /* "file:line", "line" (of the file in focus), "function" (kernels too, inlined ones too),
     * "*address", "*kernel+offset"; "barrier" or "barrier N": in front of barriers, of each thread
     * the Nth; "divergence": in front of branches that part the lanes of their thread */
    const char *location;
    const char *condition; /* expression; stops where it is not 0 for a running lane; or NULL */
    const char *log;       /* text with {expressions}: told instead of a stop; or NULL */
    uint64_t ignore_count; /* that many hits are passed over */
    bool temporary;        /* deleted when it stops */
    bool disabled;
};

struct zs_debug_place {
    uint64_t gpu_va;
    const char *kernel; /* or NULL */
    const char *file;   /* as the debug info names it, or NULL */
    uint32_t line;
};

struct zs_debug_breakpoint {
    uint32_t id;
    const char *location, *condition, *log; /* as they were given; NULL: none */
    uint64_t ignore_count, hits;            /* hits: with the condition true */
    bool enabled, temporary;
    uint32_t place_count; /* 0: pending */
    const struct zs_debug_place *places;
    uint32_t watch;          /* enum zs_debug_watch_access, of watchpoints; they have no places */
    uint64_t gpu_va, size_B; /* of watchpoints */
};

/* 0 also where there is no such code yet: it is pending. -EINVAL: no location. */
ZS_API int zs_debug_break_add(struct zs_debugger *debug,
                              const struct zs_debug_breakpoint_options *options, uint32_t *ret_id,
                              struct zs_diag *diag);
ZS_API int zs_debug_break_delete(struct zs_debugger *debug, uint32_t id, struct zs_diag *diag);
ZS_API int zs_debug_break_enable(struct zs_debugger *debug, uint32_t id, bool enabled,
                                 struct zs_diag *diag);
/* NULL: no condition. */
ZS_API int zs_debug_break_condition(struct zs_debugger *debug, uint32_t id, const char *condition,
                                    struct zs_diag *diag);
ZS_API int zs_debug_break_ignore(struct zs_debugger *debug, uint32_t id, uint64_t count,
                                 struct zs_diag *diag);
/* What a location (as of breakpoints) means in the code that is loaded: ret_places[capacity].
 * Returns how many there are, or -EINVAL: no location. */
ZS_API int zs_debug_places(struct zs_debugger *debug, const char *location,
                           struct zs_debug_place *ret_places, uint32_t capacity,
                           struct zs_diag *diag);
/* In the order of ids; NULL behind the last one. Valid until breakpoints or modules change. */
ZS_API const struct zs_debug_breakpoint *zs_debug_break_get(const struct zs_debugger *debug,
                                                            size_t index);

/* ---- watchpoints: on zescope's software GPU ---- */

enum zs_debug_watch_access {
    ZS_DEBUG_WATCH_READ = 1,
    ZS_DEBUG_WATCH_WRITE = 2,
    ZS_DEBUG_WATCH_CHANGE = 4, /* writes that change it */
};
struct zs_debug_watch_options {
    size_t size_B; /* sizeof(struct zs_debug_watch_options) */
    /* of what is in memory, in the context of the focus; or an address, of a dword */
    const char *expression;
    const char *condition; /* as of breakpoints, for the lane that did it; or NULL */
    uint32_t access;       /* enum zs_debug_watch_access */
    bool temporary;
};
/* The thread stops behind the instruction; `text` of the event has the values before and after it,
 * and the work-item. Its id is among those of breakpoints, and so are enable, ignore, condition and
 * delete. Local memory, and private memory, are those of the focus and of its launch alone. What
 * samplers read is not seen. At most 16. */
ZS_API int zs_debug_watch_add(struct zs_debugger *debug,
                              const struct zs_debug_watch_options *options, uint32_t *ret_id,
                              struct zs_diag *diag);

struct zs_debug_writer {
    uint64_t position; /* in front of the instruction, for zs_debug_goto_position */
    uint64_t ip_va;
    const char *kernel; /* or NULL */
    uint32_t offset_B;
    const char *file; /* or NULL */
    uint32_t line;
    uint32_t group[3], item[3]; /* item: local id */
    uint32_t lane;              /* UINT32_MAX: a block of the thread, item says nothing */
    uint64_t gpu_va;            /* the first byte of it that was written */
    uint32_t size_B;            /* of old and now */
    uint8_t old[16], now[16];
    char text[480];
};
/* The last write of the launch to the memory of an expression, up to now. -ENOENT: none. */
ZS_API int zs_debug_who_wrote(struct zs_debugger *debug, uint32_t thread, uint32_t lane,
                              uint32_t frame, const char *expression,
                              struct zs_debug_writer *ret_writer, struct zs_diag *diag);

/* ---- threads and lanes ---- */

struct zs_debug_thread {
    uint32_t id;
    uint32_t slice, subslice, eu, thread;
    enum zs_debug_reason reason;
    uint64_t gpu_va;    /* of the instruction it stands at */
    const char *kernel; /* NULL: code of no known module */
    uint32_t offset_B;  /* in the kernel */
    uint32_t lanes;     /* bits: lanes that have work-items */
    uint32_t running;   /* bits: those that go on from here; others wait elsewhere */
    bool group_known;
    uint32_t group[3];
};

struct zs_debug_lane {
    uint32_t lane;
    bool running;
    bool item_known;
    uint32_t local_id[3], global_id[3];
};

/* Those that are stopped, in order of ids; valid until something runs. */
ZS_API size_t zs_debug_threads(struct zs_debugger *debug,
                               const struct zs_debug_thread **ret_threads);
ZS_API const struct zs_debug_thread *zs_debug_thread(struct zs_debugger *debug, uint32_t thread);
/* The lanes of a thread: ret_lanes[32]. Returns how many, or -errno. */
ZS_API int zs_debug_lanes(struct zs_debugger *debug, uint32_t thread,
                          struct zs_debug_lane *ret_lanes, struct zs_diag *diag);
ZS_API int zs_debug_set_focus(struct zs_debugger *debug, uint32_t thread, uint32_t lane,
                              uint32_t frame, struct zs_diag *diag);
/* Thread 0: none. Pointers may be NULL. */
ZS_API void zs_debug_focus(const struct zs_debugger *debug, uint32_t *ret_thread,
                           uint32_t *ret_lane, uint32_t *ret_frame);
/* The thread and lane of a work-item, by group and local id. -ENOENT: it is not among those that
 * are stopped. */
ZS_API int zs_debug_find_item(struct zs_debugger *debug, const uint32_t group[3],
                              const uint32_t local_id[3], uint32_t *ret_thread, uint32_t *ret_lane,
                              struct zs_diag *diag);

/* ---- frames ---- */

enum { ZS_DEBUG_FRAMES_MAX = 64 };

struct zs_debug_frame {
    uint64_t gpu_va;
    const char *function; /* "" for none */
    const char *file;     /* as the debug info names it, or NULL */
    uint32_t line, column;
    bool inlined; /* into the next one */
};

/* The stack of a thread: ret_frames[capacity]. Returns how many, or -errno. */
ZS_API int zs_debug_frames(struct zs_debugger *debug, uint32_t thread,
                           struct zs_debug_frame *ret_frames, uint32_t capacity,
                           struct zs_diag *diag);
/* A source by its path in the debug info, or the end of it; NULL: nobody knows it. */
ZS_API const struct zs_source *zs_debug_source(struct zs_debugger *debug, const char *path);

/* ---- values ---- */

/* Lives until something runs or the debugger is told to forget (zs_debug_forget). */
struct zs_debug_value {
    const char *name; /* "acc", "x", "[3]"; of an expression: its text */
    const char *type; /* "float4", "" when not known */
    const char *text; /* as C writes it, or why it is not available */
    bool available;
    bool writable;
    bool in_memory; /* gpu_va is where, for zs_debug_memory_* */
    bool parameter;
    uint64_t gpu_va;
    uint64_t size_B;
    uint32_t child_count; /* members, elements (the first 65,536), what a pointer points to: 1 */
    const uint8_t *bytes; /* size_B, or NULL */
    /* Of what is not available in optimised code: what stands in the place that debug info names,
     * which may be something else by now; or NULL. The text has it, too. */
    const char *perhaps;
};

/* Parameters and variables that are visible in a frame; innermost blocks first. */
ZS_API int zs_debug_variables(struct zs_debugger *debug, uint32_t thread, uint32_t lane,
                              uint32_t frame, struct zs_debug_value ***ret_values,
                              uint32_t *ret_count, struct zs_diag *diag);
/* C's expressions over variables, members, elements ("v.zyx" of vectors, too), pointers, numbers;
 * registers as "$r12:f", "$f0.0:uw", "$ip"; "$lane", "$gid0", "$lid0", "$group0". -ENODATA: not
 * available, and why. */
ZS_API int zs_debug_evaluate(struct zs_debugger *debug, uint32_t thread, uint32_t lane,
                             uint32_t frame, const char *expression,
                             struct zs_debug_value **ret_value, struct zs_diag *diag);
/* The same, and what it assigns ("x = 5", "x += 2", "x++") is done; zs_debug_evaluate refuses that
 * with -EPERM. */
ZS_API int zs_debug_execute(struct zs_debugger *debug, uint32_t thread, uint32_t lane,
                            uint32_t frame, const char *expression,
                            struct zs_debug_value **ret_value, struct zs_diag *diag);
/* What the function has returned that the last step (ZS_DEBUG_STEP_OUT) has left, for the lane in
 * focus. -ENODATA: nothing, or not known. */
ZS_API int zs_debug_returned(struct zs_debugger *debug, struct zs_debug_value **ret_value,
                             struct zs_diag *diag);
/* The type of an expression, or a type by its name ("struct body", "body_t"), in full: with the
 * members of structures, one a line. As long-lived as values. */
ZS_API int zs_debug_type(struct zs_debugger *debug, uint32_t thread, uint32_t lane, uint32_t frame,
                         const char *what, const char **ret_text, struct zs_diag *diag);
/* A value is kept as it is, for later expressions: as "$3" by its number, the last one as "$", the
 * one before it as "$$". -ENOMEM: all together they are too large. */
ZS_API int zs_debug_keep(struct zs_debugger *debug, const struct zs_debug_value *value,
                         uint32_t *ret_number);
/* A table: the expression in each lane of a thread, in the order of zs_debug_lanes; ret_values[32].
 * Where it cannot be evaluated the value is not available, and its text says why. Returns how many,
 * or -errno. */
ZS_API int zs_debug_evaluate_lanes(struct zs_debugger *debug, uint32_t thread, uint32_t frame,
                                   const char *expression, struct zs_debug_value **ret_values,
                                   struct zs_diag *diag);
/* ret_children[capacity], from `first` on. Returns how many, or -errno. */
ZS_API int zs_debug_children(struct zs_debugger *debug, struct zs_debug_value *value,
                             uint32_t first, struct zs_debug_value **ret_children,
                             uint32_t capacity, struct zs_diag *diag);
/* Evaluate `expression` as in the context of `value` and store it there, in its type. */
ZS_API int zs_debug_assign(struct zs_debugger *debug, struct zs_debug_value *value,
                           const char *expression, struct zs_diag *diag);
/* Values that were handed out are gone. */
ZS_API void zs_debug_forget(struct zs_debugger *debug);

/* ---- memory, registers, code ---- */

enum zs_debug_space { ZS_DEBUG_SPACE_GLOBAL, ZS_DEBUG_SPACE_LOCAL };

/* thread 0: memory that belongs to no launch alone. Else global addresses may be pointers of the
 * thread's, whose upper bits say that they mean local memory. All or nothing; -EFAULT. */
ZS_API int zs_debug_memory_read(struct zs_debugger *debug, uint32_t thread,
                                enum zs_debug_space space, uint64_t gpu_va, void *ret_bytes,
                                size_t size_B, struct zs_diag *diag);
ZS_API int zs_debug_memory_write(struct zs_debugger *debug, uint32_t thread,
                                 enum zs_debug_space space, uint64_t gpu_va, const void *bytes,
                                 size_t size_B, struct zs_diag *diag);

struct zs_debug_register {
    char name[16];
    uint32_t size_B;
    bool writable;
    uint8_t bytes[64]; /* size_B of them, lowest first */
};
/* ret_registers[capacity]; returns how many there are, or -errno. */
ZS_API int zs_debug_registers(struct zs_debugger *debug, uint32_t thread,
                              struct zs_debug_register *ret_registers, uint32_t capacity,
                              struct zs_diag *diag);

struct zs_debug_inst {
    uint64_t gpu_va;
    uint32_t size_B;
    uint8_t bytes[16];
    const char *kernel;
    uint32_t offset_B;
    const char *file; /* or NULL */
    uint32_t line;
    char text[256];
};
/* Code of a known module around an address: from `before` instructions before it on, as far as its
 * kernel goes. Returns how many, or -errno. */
ZS_API int zs_debug_disassemble(struct zs_debugger *debug, uint64_t gpu_va, uint32_t before,
                                struct zs_debug_inst *ret_insts, uint32_t capacity,
                                struct zs_diag *diag);
/* Where the code of a line is: ret_places[capacity]. Returns how many there are. */
ZS_API int zs_debug_line_places(struct zs_debugger *debug, const char *path, uint32_t line,
                                struct zs_debug_place *ret_places, uint32_t capacity);

/* What debug info names, each once, of the code that is loaded: sources as it has their paths, and
 * functions (of each kernel, inlined ones too; kernels without debug info as well). Pointers are
 * valid until modules change. Returns how many there are. */
ZS_API int zs_debug_sources(struct zs_debugger *debug, const char **ret_paths, uint32_t capacity);
struct zs_debug_function {
    const char *name, *kernel; /* the kernel that it is part of */
    const char *file;          /* or NULL */
    uint32_t line;             /* where it is declared; 0: not known */
};
ZS_API int zs_debug_functions(struct zs_debugger *debug, struct zs_debug_function *ret_functions,
                              uint32_t capacity);

struct zs_debug_module {
    uint32_t id;
    uint64_t load_va, size_B;
    uint32_t kernel_count;
    const char *const *kernels;
    bool has_lines;
};
/* In the order of ids; NULL behind the last one. Valid until modules change. */
ZS_API const struct zs_debug_module *zs_debug_modules(const struct zs_debugger *debug,
                                                      size_t index);

#ifdef __cplusplus
}
#endif

#endif
