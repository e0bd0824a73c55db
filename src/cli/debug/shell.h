/* SPDX-License-Identifier: MIT */
/*
 * The debugger's commands as people type them: in a terminal, from scripts, in an editor's console.
 *
 * Files call those below them alone:
 *
 *     line.c      lines from a terminal; typed.c: kept for later sessions
 *     complete.c  what the word at a line's end may become
 *     shell.c     the table of commands, help
 *     run.c       running and going back
 *     stops.c     breakpoints and watchpoints
 *     look.c      threads, lanes, frames, source, code
 *     event.c     what people see when something happens
 *     print.c     values and memory
 *     show.c      what people see of threads, frames, lists
 *     commands.c  what breakpoints execute when they stop
 *     value.c     values as they are written
 *     tui.c       panes
 *     say.c       words and errors, numbers
 *     pager.c     long output of a command, by pages
 *     signals.c, screen.c, term.c  the terminal
 */
#ifndef ZS_CLI_DEBUG_SHELL_H
#define ZS_CLI_DEBUG_SHELL_H

#include "base/buf.h"
#include "cli/options.h"

#include <zescope/debug.h>

#include <stdio.h>

enum { ZS_SHELL_DISPLAYS_MAX = 32, ZS_SHELL_RESOLVED_MAX = 256, ZS_SHELL_LIST_LINES = 10 };

/* "/4xw": how values and memory are written. */
struct zs_shell_format {
    uint64_t count;  /* 0: none was given */
    char letter;     /* x d u o t f c a i s, 0: as its type says */
    uint32_t size_B; /* 0: none was given */
};

struct zs_shell_list;

struct zs_shell {
    const struct zs_common_options *common;
    struct zs_debugger *debug;
    FILE *in;   /* lines */
    char **app; /* argv of `run`, NULL: none */
    struct zs_buf out;
    struct zs_buf *capture; /* what would be written, errors too; NULL: stdout and stderr */
    bool color;
    bool interactive;
    bool keeps_lines; /* that are typed, for later sessions */
    bool editor;      /* an editor's console: what makes it run returns at once */
    bool runs;        /* ... and has done so */
    bool quit;
    bool failed;     /* a command failed, or showed what is not available */
    uint32_t errors; /* messages of commands that failed */
    bool has_run;    /* an application was started */
    int exit_status; /* of the application; -1: has not ended */
    char *last;      /* what an empty line repeats */
    struct {
        char *expression; /* NULL: deleted */
        struct zs_shell_format format;
    } displays[ZS_SHELL_DISPLAYS_MAX];
    uint32_t display_count;
    char *list_file;
    uint32_t list_line;
    struct {
        struct zs_shell_format format;
        uint64_t next_va;
        bool known;
    } examined;
    uint32_t resolved[ZS_SHELL_RESOLVED_MAX]; /* breakpoints that have been found in code */
    uint32_t resolved_count;
    struct {
        struct zs_shell_list **items;
        size_t count, capacity;
    } lists;                          /* commands of breakpoints */
    struct zs_shell_list *collecting; /* the lines that come are for it */
    uint32_t stopped_by;              /* a breakpoint whose commands are to be executed */
    uint32_t waits_begun;             /* how often something was made to run */
    bool waits;                       /* it runs */
    bool lacks_lines;                 /* of code that was loaded, some */
    bool pretty;                      /* structures with a line for each member */
    bool no_pages, no_pages_now, page_dropped;
    uint32_t page_rows, page_shown; /* rows: 0: those of the terminal */
};

/* One line. What it prints is written. */
void zs_shell_execute(struct zs_shell *shell, const char *line);
/* Whether the line's first word is a command, or stands for one. */
bool zs_shell_is_command(const char *line);
/* What the word at the end of a line may become, one call each: whole words, and where in the line
 * the word begins. */
void zs_shell_complete(struct zs_shell *shell, const char *line, size_t length, size_t *ret_begin,
                       void (*put)(void *user, const char *word), void *user);
/* Lines from the terminal, until it ends or a command says so. */
void zs_shell_interact(struct zs_shell *shell);
void zs_shell_fini(struct zs_shell *shell);

/* ---- commands.c ---- */

/* Whether the line belongs to the commands of a breakpoint: then it is kept. */
bool zs_shell_collect(struct zs_shell *shell, const char *line);
/* Its first command is `silent`: the stop is not shown. */
bool zs_shell_is_silent(struct zs_shell *shell, uint32_t breakpoint);
/* The commands, one a line; how many. */
uint32_t zs_shell_list_lines(struct zs_shell *shell, uint32_t breakpoint);
/* The one of a number, from 0; NULL behind the last. */
const char *zs_shell_list_line(const struct zs_shell *shell, uint32_t breakpoint, size_t i);
/* The line is that word alone. */
bool zs_shell_is_word(const char *line, const char *word);
void zs_shell_free_lists(struct zs_shell *shell);

/* ---- for commands ---- */

#define NEW_DIAG                                                                                   \
    {                                                                                              \
        .offset_B = ZS_DIAG_NO_OFFSET                                                              \
    }

#define COMMAND(name, short_name, handler, flags, help, more)                                      \
    void zs_shell_do_##handler(struct zs_shell *shell, const char *args);
#define HEADING(text)
#include "cli/debug/commands.def"
#undef COMMAND
#undef HEADING

struct zs_shell_command {
    const char *name, *short_name;
    void (*run)(struct zs_shell *shell, const char *args); /* NULL: a heading */
    unsigned flags;
    const char *help, *more;
};
/* The command that a word means. NULL: none; or several, which ret_several then lists. */
const struct zs_shell_command *zs_shell_find_command(const char *name, size_t length,
                                                     struct zs_buf *ret_several);
/* Of a line's first word. */
size_t zs_shell_command_length(const char *line);
/* The one of a number, from 0, of those that can be used here; NULL behind the last. */
const struct zs_shell_command *zs_shell_command(const struct zs_shell *shell, size_t i);

struct zs_shell_focus {
    uint32_t thread, lane, frame;
};
struct zs_shell_focus zs_shell_focus(const struct zs_shell *shell);
/* False after a message: error < 0. It ends in what to do next where nothing is stopped. */
bool zs_shell_ok(struct zs_shell *shell, int error, const struct zs_diag *diag);
/* False after a message: no thread is stopped. */
bool zs_shell_needs_stop(struct zs_shell *shell);
/* Events until it stops or has ended. */
void zs_shell_wait(struct zs_shell *shell);
/* A number at the beginning of *args, which moves behind it. False after a message: it is none, or
 * larger than `most`. All numbers of commands are read by it. */
bool zs_shell_scan_number(struct zs_shell *shell, const char **args, uint64_t most, uint64_t *ret);
/* The same, and moves behind spaces; empty: `otherwise`. False after a message also where something
 * else follows it at once. */
bool zs_shell_take_number(struct zs_shell *shell, const char **args, uint64_t otherwise,
                          uint64_t most, uint64_t *ret);
/* The same as all of args. */
bool zs_shell_number(struct zs_shell *shell, const char *args, uint64_t otherwise, uint64_t most,
                     uint64_t *ret);
bool zs_shell_evaluate(struct zs_shell *shell, const char *text, struct zs_debug_value **ret);
/* LOCATION [if CONDITION]. */
bool zs_shell_break(struct zs_shell *shell, const char *args, bool temporary, const char *log);
/* "/4xw" at the beginning of *args, which moves behind it. False after a message. */
bool zs_shell_take_format(struct zs_shell *shell, const char **args, const char *letters,
                          struct zs_shell_format *ret);
/* The bits of a number of 1, 2, 4 or 8 bytes. */
void zs_shell_put_bits(struct zs_buf *out, uint64_t bits, uint32_t size_B, char letter);
void zs_shell_put_value(struct zs_shell *shell, struct zs_debug_value *value,
                        const struct zs_shell_format *format);
void zs_shell_show_displays(struct zs_shell *shell);
/* What a function has returned that was just left. */
void zs_shell_show_returned(struct zs_shell *shell);
/* What `list` shows next: lines around that one. False without memory. */
bool zs_shell_set_list(struct zs_shell *shell, const char *file, uint64_t line);
/* The topics of `info`; NULL behind the last. */
const char *zs_shell_info_topic(size_t i);
void zs_shell_list_displays(struct zs_shell *shell);

/* ---- say.c, show.c, event.c: appended to shell->out ---- */

enum zs_shell_tone { TONE_END, TONE_STRONG, TONE_PLACE, TONE_NAME };
/* What switches to it; "" without colour. */
const char *zs_shell_tone(const struct zs_shell *shell, enum zs_shell_tone tone);

void zs_shell_say(struct zs_shell *shell, const char *format, ...) ZS_PRINTF(2, 3);
void zs_shell_error(struct zs_shell *shell, const char *format, ...) ZS_PRINTF(2, 3);
void zs_shell_say_thread(struct zs_shell *shell, const struct zs_debug_thread *thread);
void zs_shell_flush(struct zs_shell *shell);
void zs_shell_show_event(struct zs_shell *shell, const struct zs_debug_event *event);
/* args: "a=1, b=2", or NULL */
void zs_shell_show_frame(struct zs_shell *shell, uint32_t number,
                         const struct zs_debug_frame *frame, const char *args);
void zs_shell_show_line(struct zs_shell *shell, const char *file, uint32_t line, bool current);
void zs_shell_show_where(struct zs_shell *shell);
void zs_shell_show_lanes_table(struct zs_shell *shell, const char *expression,
                               const struct zs_shell_format *format);
void zs_shell_show_threads(struct zs_shell *shell);
void zs_shell_show_lanes(struct zs_shell *shell);
void zs_shell_show_breakpoints(struct zs_shell *shell, bool watchpoints_alone);
void zs_shell_show_registers(struct zs_shell *shell, const char *prefix);
/* Returns the address behind what was shown. */
uint64_t zs_shell_show_code(struct zs_shell *shell, uint64_t gpu_va, uint32_t before,
                            uint32_t count);

#endif
