/* SPDX-License-Identifier: MIT */
/* zescope debug: running, stepping, going back. */
#include "cli/debug/shell.h"
#include "cli/debug/tui.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

enum { PLACES_MAX = 64, IDLE_MS = 200 };

/* False after a message. */
static bool next_event(struct zs_shell *s, struct zs_debug_event *ret)
{
    struct zs_diag diag = NEW_DIAG;
    int error;
    do {
        error = zs_debug_wait(s->debug, s->interactive ? IDLE_MS : UINT32_MAX, ret, &diag);
        zs_tui_idle(s); /* in front of what is said of the event */
    } while (error == -EAGAIN && s->interactive);
    return zs_shell_ok(s, error, &diag);
}

void zs_shell_wait(struct zs_shell *s)
{
    struct zs_debug_event event;
    if (s->editor) { /* it tells its stops itself */
        s->runs = true;
        return;
    }
    zs_shell_flush(s);
    s->waits = true;
    s->waits_begun++;
    do {
        if (!next_event(s, &event))
            break;
        zs_shell_show_event(s, &event);
    } while (event.kind != ZS_DEBUG_EVENT_STOPPED && event.kind != ZS_DEBUG_EVENT_EXITED &&
             event.kind != ZS_DEBUG_EVENT_LOST);
    s->waits = false;
}

void zs_shell_do_run(struct zs_shell *s, const char *args)
{
    struct zs_diag diag = NEW_DIAG;
    if (!s->app) {
        zs_shell_error(s, "no application was given: zescope debug -- APP [ARGS...]");
        return;
    }
    if (args[0]) {
        zs_shell_error(s, "the application's arguments are those of the command line: "
                          "zescope debug -- APP [ARGS...]");
        return;
    }
    if (zs_debug_pid(s->debug)) {
        if (!zs_shell_ok(s, zs_debug_kill(s->debug, &diag), &diag))
            return;
        if (s->interactive)
            zs_shell_say(s, "[The application was ended, and is started anew]\n");
    }
    s->exit_status = -1;
    s->resolved_count = 0;
    if (!zs_shell_ok(s, zs_debug_launch(s->debug, s->app, &diag), &diag))
        return;
    s->has_run = true;
    zs_shell_wait(s);
}

void zs_shell_do_continue(struct zs_shell *s, const char *args)
{
    struct zs_diag diag = NEW_DIAG;
    if (args[0]) {
        zs_shell_error(s, "continue takes no number: ignore NUMBER COUNT passes over hits");
        return;
    }
    bool runs = zs_debug_pid(s->debug) && !zs_debug_stopped(s->debug); /* just attached to */
    if (runs || zs_shell_ok(s, zs_debug_continue(s->debug, &diag), &diag))
        zs_shell_wait(s);
}

/* How often; false: it is nothing that can be done. */
static bool take_count(struct zs_shell *s, const char *args, uint64_t *ret)
{
    if (!zs_shell_number(s, args, 1, UINT64_MAX, ret))
        return false;
    if (s->editor && *ret != 1)
        zs_shell_error(s, "one step at a time, in an editor");
    return *ret == 1 || !s->editor;
}

static void steps(struct zs_shell *s, const char *args, enum zs_debug_step kind, bool back)
{
    uint64_t n;
    if (!take_count(s, args, &n))
        return;
    for (; n; n--) {
        struct zs_debug_event event = {.kind = ZS_DEBUG_EVENT_NONE};
        struct zs_diag diag = NEW_DIAG;
        int error = back ? zs_debug_reverse_step(s->debug, kind, &diag)
                         : zs_debug_step(s->debug, kind, &diag);
        if (!zs_shell_ok(s, error, &diag))
            return;
        s->runs = s->editor;
        if (s->editor)
            return;
        while (event.kind != ZS_DEBUG_EVENT_STOPPED) {
            if (!next_event(s, &event))
                return;
            if (n == 1 || event.kind != ZS_DEBUG_EVENT_STOPPED ||
                event.reason != ZS_DEBUG_REASON_STEP)
                zs_shell_show_event(s, &event);
            if (event.kind == ZS_DEBUG_EVENT_EXITED || event.kind == ZS_DEBUG_EVENT_LOST)
                return;
        }
        if (event.reason != ZS_DEBUG_REASON_STEP)
            return;
    }
}

#define STEP_COMMAND(name, kind, back)                                                             \
    void zs_shell_do_##name(struct zs_shell *s, const char *args)                                  \
    {                                                                                              \
        steps(s, args, ZS_DEBUG_STEP_##kind, back);                                                \
    }
STEP_COMMAND(step, IN, false)
STEP_COMMAND(next, NEXT, false)
STEP_COMMAND(stepi, INST, false)
STEP_COMMAND(nexti, INST_NEXT, false)
STEP_COMMAND(reverse_step, IN, true)
STEP_COMMAND(reverse_next, NEXT, true)
STEP_COMMAND(reverse_stepi, INST, true)
STEP_COMMAND(reverse_nexti, INST_NEXT, true)

static void finish(struct zs_shell *s, const char *args, bool back)
{
    if (args[0]) {
        zs_shell_error(s, "%sfinish takes no arguments", back ? "reverse-" : "");
        return;
    }
    steps(s, args, ZS_DEBUG_STEP_OUT, back);
    if (!back && !s->editor)
        zs_shell_show_returned(s);
}

void zs_shell_do_finish(struct zs_shell *s, const char *args)
{
    finish(s, args, false);
}

void zs_shell_do_reverse_finish(struct zs_shell *s, const char *args)
{
    finish(s, args, true);
}

void zs_shell_do_advance(struct zs_shell *s, const char *args)
{
    if (!args[0])
        zs_shell_error(s, "advance LOCATION: where to is missing");
    else if (zs_shell_needs_stop(s) && zs_shell_break(s, args, true, NULL))
        zs_shell_do_continue(s, "");
}

void zs_shell_do_until(struct zs_shell *s, const char *args)
{
    if (args[0])
        zs_shell_do_advance(s, args);
    else
        steps(s, args, ZS_DEBUG_STEP_UNTIL, false);
}

/* The one place of a location in the code that the thread in focus executes; 0 after a message. */
static uint64_t place_of(struct zs_shell *s, const char *location)
{
    struct zs_debug_place places[PLACES_MAX];
    struct zs_diag diag = NEW_DIAG;
    const struct zs_debug_thread *t = zs_debug_thread(s->debug, zs_shell_focus(s).thread);
    int count = zs_debug_places(s->debug, location, places, PLACES_MAX, &diag), found = 0;
    struct zs_buf all = {0};
    uint64_t va = 0;
    if (!zs_shell_ok(s, count, &diag))
        return 0;
    for (int i = 0; t && i < ZS_MIN(count, PLACES_MAX); i++) {
        if (!places[i].kernel || !t->kernel || strcmp(places[i].kernel, t->kernel) != 0)
            continue;
        va = places[i].gpu_va;
        zs_buf_printf(&all, "%s*%#" PRIx64, found++ ? ", " : "", va);
    }
    if (!t)
        zs_shell_error(s, "no thread is in focus");
    else if (!found)
        zs_shell_error(s, "the kernel that the thread executes has no such place");
    else if (found > 1)
        zs_shell_error(s, "there are several such places: say which of %s", zs_buf_cstr(&all));
    zs_buf_fini(&all);
    return found == 1 ? va : 0;
}

void zs_shell_do_jump(struct zs_shell *s, const char *args)
{
    struct zs_diag diag = NEW_DIAG;
    if (!args[0]) {
        zs_shell_error(s, "jump LOCATION: where to is missing");
        return;
    }
    if (!zs_shell_needs_stop(s))
        return;
    uint64_t va = place_of(s, args);
    if (va && zs_shell_ok(s, zs_debug_jump(s->debug, zs_shell_focus(s).thread, va, &diag), &diag))
        zs_shell_do_continue(s, "");
}

void zs_shell_do_detach(struct zs_shell *s, const char *args)
{
    struct zs_diag diag = NEW_DIAG;
    (void)args;
    uint32_t pid = zs_debug_pid(s->debug);
    if (zs_shell_ok(s, zs_debug_detach(s->debug, &diag), &diag) && s->interactive)
        zs_shell_say(s, "[Process %u goes on without a debugger]\n", pid);
}

void zs_shell_do_kill(struct zs_shell *s, const char *args)
{
    struct zs_diag diag = NEW_DIAG;
    (void)args;
    if (zs_shell_ok(s, zs_debug_kill(s->debug, &diag), &diag) && s->interactive)
        zs_shell_say(s, "[The process was ended]\n");
}

void zs_shell_do_quit(struct zs_shell *s, const char *args)
{
    (void)args;
    s->quit = true;
}

/* ---- backwards ---- */

void zs_shell_do_reverse_continue(struct zs_shell *s, const char *args)
{
    struct zs_diag diag = NEW_DIAG;
    (void)args;
    if (zs_shell_ok(s, zs_debug_reverse_continue(s->debug, &diag), &diag))
        zs_shell_wait(s);
}

/* goto launch N | goto step N */
void zs_shell_do_goto(struct zs_shell *s, const char *args)
{
    struct zs_diag diag = NEW_DIAG;
    bool launch = !strncmp(args, "launch ", 7);
    uint64_t n = 0;
    if ((!launch && strncmp(args, "step ", 5) != 0) || !args[launch ? 7 : 5]) {
        zs_shell_error(s, "goto launch N, goto step N");
        return;
    }
    if (!zs_shell_number(s, args + (launch ? 7 : 5), 0, UINT64_MAX, &n))
        return;
    int error = launch ? zs_debug_goto_launch(s->debug, n, &diag)
                       : zs_debug_goto_position(s->debug, n, &diag);
    if (zs_shell_ok(s, error, &diag))
        zs_shell_wait(s);
}
