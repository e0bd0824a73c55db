/* SPDX-License-Identifier: MIT */
/* The parts of a session (dap.h). */
#ifndef ZS_DAP_PRIV_H
#define ZS_DAP_PRIV_H

#include "dap/dap.h"

#include "base/arena.h"
#include "base/diag.h"
#include "base/json.h"
#include "base/vec.h"

#include <jansson.h>

/* A request's answer comes later: it has been kept. */
enum { DAP_LATER = 1 };

/* What `variablesReference` stands for: index + 1 into refs. */
enum ref_kind { REF_LANE, REF_LANES, REF_LANES_OF, REF_REGISTERS, REF_VALUE };
struct ref {
    enum ref_kind kind;
    uint32_t thread, lane, frame;
    uint32_t index;               /* REF_LANES_OF: of the variable in its frame */
    struct zs_debug_value *value; /* REF_VALUE */
    const char *expression;       /* what evaluates to it, or NULL */
};
struct frame_ref {
    uint32_t thread, frame;
};

enum breakpoint_kind { BREAK_SOURCE, BREAK_FUNCTION, BREAK_INSTRUCTION, BREAK_DATA };
struct breakpoint {
    enum breakpoint_kind kind;
    char *source; /* BREAK_SOURCE: the client's path; else NULL */
    char *location, *condition, *log;
    uint64_t ignore_count;
    uint32_t id;   /* the debugger's */
    bool verified; /* as the client was told last */
    uint32_t line; /* likewise */
    bool stale;
};

struct request {
    json_t *json;
    bool cancelled;
};

struct zs_dap {
    struct zs_dap_options options;
    struct zs_debugger *debug; /* NULL before launch or attach */
    struct zs_buf in;
    struct {
        struct request *items;
        size_t count, capacity;
    } queue;
    json_t *current; /* the request that is being answered */
    bool current_cancelled;
    uint64_t sequence;
    bool initialized, live, stopped, exited, ended;
    bool end_after;    /* `disconnect` is being answered */
    bool invalidates;  /* the client knows the event `invalidated` */
    bool tells_memory; /* ... and `memory` */
    bool lines_at_0, columns_at_0;
    bool terminated_told;

    /* launch and attach */
    json_t *launch;  /* the request, until it is answered */
    json_t *started; /* its arguments, for `restart` */
    bool attached;   /* not launched: goes on when the session ends */
    bool no_debug, stop_on_entry, faults_pass;
    const char **search_dirs; /* point into `strings` */
    struct zs_path_map *path_maps;
    struct zs_arena strings; /* live as long as the session */

    struct {
        struct breakpoint *items;
        size_t count, capacity;
    } breakpoints;
    struct {
        uint32_t *items; /* temporary ones at kernels' starts, of stopOnEntry */
        size_t count, capacity;
    } entries;
    struct {
        const char **items; /* sourceReference - 1: paths as debug info names them */
        size_t count, capacity;
    } sources;

    /* of the stop: gone when something runs */
    struct zs_debug_event stop;
    bool entry_stop;
    struct {
        uint64_t *items; /* targetId - 1: addresses to step into, and to go to */
        size_t count, capacity;
    } targets;
    struct {
        struct ref *items;
        size_t count, capacity;
    } refs;
    struct {
        struct frame_ref *items;
        size_t count, capacity;
    } frames;
    struct zs_arena expressions;

    struct {
        uint8_t bytes[4];
        size_t count;
    } partial[2]; /* of an output's last character */
};

/* ---- session.c ---- */

typedef int dap_handler(struct zs_dap *dap, const json_t *arguments, struct zs_json *body,
                        struct zs_diag *diag);
#define REQUEST(name, when) dap_handler handle_##name;
#include "dap/requests.def"
#undef REQUEST

/* ---- message.c: messages, and what is in them ---- */

/* An event: what is put between begin and end is its body. */
struct zs_json dap_event_begin(struct zs_dap *dap, struct zs_buf *buf, const char *name);
void dap_event_end(struct zs_dap *dap, struct zs_json *json);
/* The client's console: "console", "important". */
void dap_say(struct zs_dap *dap, const char *category, const char *format, ...) ZS_PRINTF(3, 4);
/* body: of what succeeded, or NULL */
void dap_answer(struct zs_dap *dap, const json_t *request, const char *error_word,
                const struct zs_diag *diag, const struct zs_buf *body);
/* The answer of a request that was kept (DAP_LATER). */
void dap_answer_later(struct zs_dap *dap, json_t *request, const struct zs_diag *diag);
/* Looks whether the request that is being answered has been cancelled meanwhile. */
bool dap_cancelled(struct zs_dap *dap);

/* Members of arguments, with what they are when they are not there or of another type. */
const char *dap_text(const json_t *object, const char *key);
int64_t dap_int(const json_t *object, const char *key, int64_t otherwise);
bool dap_flag(const json_t *object, const char *key, bool otherwise);
/* "0x1234" or decimal. */
bool dap_parse_address(const char *text, uint64_t *ret_va);
void dap_put_address(struct zs_json *json, const char *key, uint64_t gpu_va);
/* A text that is printed, with a sentence where there is no memory for it. */
char *dap_print(struct zs_diag *diag, const char *format, ...) ZS_PRINTF(2, 3);

/* ---- stop.c ---- */

/* A new variablesReference, or 0: out of memory. */
uint64_t dap_ref(struct zs_dap *dap, struct ref ref);
/* The one that arguments name. */
int dap_find_ref(const struct zs_dap *dap, const json_t *arguments, struct ref *ret_ref,
                 struct zs_diag *diag);
/* The address of a targetId of this stop. */
int dap_target(const struct zs_dap *dap, int64_t id, uint64_t *ret_va, struct zs_diag *diag);
/* The thread and frame of a frameId; 0 (no frame): the focus. */
int dap_frame(struct zs_dap *dap, int64_t id, struct frame_ref *ret_frame, struct zs_diag *diag);
/* The lane of a thread that is looked at: in focus, or the first one that runs. */
uint32_t dap_lane_of(struct zs_dap *dap, uint32_t thread);
/* The thread that a request of execution names, with its lane in focus. `what` ends the sentence of
 * an error. */
int dap_focus_thread(struct zs_dap *dap, const json_t *arguments, const char *what,
                     struct zs_diag *diag);

int64_t dap_line_out(const struct zs_dap *dap, uint32_t line);
/* ... and a client's line; 0: none. */
int64_t dap_line_in(const struct zs_dap *dap, const json_t *object, const char *key);
/* `source` of a frame, breakpoint, instruction. */
void dap_put_source(struct zs_dap *dap, struct zs_json *json, const char *path, const char *key);
/* The path of a `source`: a client's, or one that we gave a reference. */
const char *dap_source_path(const struct zs_dap *dap, const json_t *source);

/* What clients show of memory that has changed is old. */
void dap_invalidated(struct zs_dap *dap, bool focus_too);
/* Views of memory are. */
void dap_memory_changed(struct zs_dap *dap, uint64_t gpu_va, uint64_t size_B);
/* The client did not ask for it, and what it shows of the stop is gone. */
void dap_tell_continued(struct zs_dap *dap);
/* Everything that was asked of the stop is gone. */
void dap_forget_stop(struct zs_dap *dap);
void dap_tell_end(struct zs_dap *dap);

/* ---- breakpoints.c ---- */

void dap_breakpoints_fini(struct zs_dap *dap);
/* Tell which have been found, or are gone, since they were told last. */
void dap_breakpoints_changed(struct zs_dap *dap);
const struct breakpoint *dap_breakpoint(const struct zs_dap *dap, uint32_t id);
/* A command of the console may have made and deleted some: the client is told. `newest`: the
 * largest id before it. */
uint32_t dap_newest_breakpoint(const struct zs_dap *dap);
void dap_breakpoints_after_command(struct zs_dap *dap, uint32_t newest);

/* Where one is to be, for the debugger; NULL with the reason. */
typedef char *(*dap_locate_fn)(const json_t *given, struct zs_diag *why);
/* All breakpoints of a kind, in place of those that were. */
int dap_set_all(struct zs_dap *dap, enum breakpoint_kind kind, const json_t *arguments,
                struct zs_json *body, dap_locate_fn locate);

/* ---- console.c ---- */

/* A line that is typed. -ENOENT: it is an expression. */
int dap_console(struct zs_dap *dap, const json_t *arguments, struct zs_json *body,
                struct zs_diag *diag);

/* ---- variables.c ---- */

/* What evaluates to a child; NULL: nothing known does, or out of memory. */
const char *dap_child_expression(struct zs_dap *dap, const char *parent, const char *name);

/* ---- events.c ---- */

void dap_wait(struct zs_dap *dap, uint32_t timeout_ms);

#endif
