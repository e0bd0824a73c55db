/* SPDX-License-Identifier: MIT */
/* zescope debug: commands, with the names and abbreviations of gdb. */
#include "cli/debug_shell.h"

#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIST_LINES = 10, CODE_BEFORE = 4, CODE_LINES = 12, EXAMINE_MAX = 4096, WORDS_IN_ROW = 4 };

#define NEW_DIAG                                                                                   \
    {                                                                                              \
        .offset_B = ZS_DIAG_NO_OFFSET                                                              \
    }

static bool ok(struct zs_shell *s, int error, const struct zs_diag *diag)
{
    if (error >= 0)
        return true;
    zs_shell_error(s, "%s", diag->text[0] ? diag->text : strerror(-error));
    return false;
}

/* Events until it stops or has ended. */
static void wait_for_stop(struct zs_shell *s)
{
    struct zs_debug_event event;
    do {
        struct zs_diag diag = NEW_DIAG;
        if (!ok(s, zs_debug_wait(s->debug, UINT32_MAX, &event, &diag), &diag))
            return;
        zs_shell_show_event(s, &event);
    } while (event.kind != ZS_DEBUG_EVENT_STOPPED && event.kind != ZS_DEBUG_EVENT_EXITED &&
             event.kind != ZS_DEBUG_EVENT_LOST);
}

static void do_run(struct zs_shell *s, const char *args)
{
    struct zs_diag diag = NEW_DIAG;
    (void)args;
    if (!s->app) {
        zs_shell_error(s, "no application was given: zescope debug -- APP [ARGS...]");
        return;
    }
    if (zs_debug_pid(s->debug) && !ok(s, zs_debug_kill(s->debug, &diag), &diag))
        return;
    if (ok(s, zs_debug_launch(s->debug, s->app, &diag), &diag))
        wait_for_stop(s);
}

static uint64_t count_of(const char *args)
{
    char *end;
    unsigned long long n = strtoull(args, &end, 0);
    return end == args ? 1 : n;
}

static void do_continue(struct zs_shell *s, const char *args)
{
    struct zs_diag diag = NEW_DIAG;
    (void)args;
    bool runs = zs_debug_pid(s->debug) && !zs_debug_stopped(s->debug); /* just attached to */
    if (runs || ok(s, zs_debug_continue(s->debug, &diag), &diag))
        wait_for_stop(s);
}

static void steps(struct zs_shell *s, const char *args, enum zs_debug_step kind)
{
    for (uint64_t n = count_of(args); n; n--) {
        struct zs_debug_event event = {.kind = ZS_DEBUG_EVENT_NONE};
        struct zs_diag diag = NEW_DIAG;
        if (!ok(s, zs_debug_step(s->debug, kind, &diag), &diag))
            return;
        while (event.kind != ZS_DEBUG_EVENT_STOPPED) {
            if (!ok(s, zs_debug_wait(s->debug, UINT32_MAX, &event, &diag), &diag))
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

#define STEP_COMMAND(name, kind)                                                                   \
    static void do_##name(struct zs_shell *s, const char *args)                                    \
    {                                                                                              \
        steps(s, args, ZS_DEBUG_STEP_##kind);                                                      \
    }
STEP_COMMAND(step, IN)
STEP_COMMAND(next, NEXT)
STEP_COMMAND(finish, OUT)
STEP_COMMAND(until, UNTIL)
STEP_COMMAND(stepi, INST)
STEP_COMMAND(nexti, INST_NEXT)

/* ---- backwards ---- */

static void reverse_steps(struct zs_shell *s, const char *args, enum zs_debug_step kind)
{
    for (uint64_t n = count_of(args); n; n--) {
        struct zs_debug_event event = {.kind = ZS_DEBUG_EVENT_NONE};
        struct zs_diag diag = NEW_DIAG;
        if (!ok(s, zs_debug_reverse_step(s->debug, kind, &diag), &diag) ||
            !ok(s, zs_debug_wait(s->debug, UINT32_MAX, &event, &diag), &diag))
            return;
        if (n == 1)
            zs_shell_show_event(s, &event);
    }
}

#define REVERSE_COMMAND(name, kind)                                                                \
    static void do_reverse_##name(struct zs_shell *s, const char *args)                            \
    {                                                                                              \
        reverse_steps(s, args, ZS_DEBUG_STEP_##kind);                                              \
    }
REVERSE_COMMAND(step, IN)
REVERSE_COMMAND(next, NEXT)
REVERSE_COMMAND(finish, OUT)
REVERSE_COMMAND(stepi, INST)
REVERSE_COMMAND(nexti, INST_NEXT)

static void do_reverse_continue(struct zs_shell *s, const char *args)
{
    struct zs_diag diag = NEW_DIAG;
    (void)args;
    if (ok(s, zs_debug_reverse_continue(s->debug, &diag), &diag))
        wait_for_stop(s);
}

/* goto launch N | goto step N */
static void do_goto(struct zs_shell *s, const char *args)
{
    struct zs_diag diag = NEW_DIAG;
    int error;
    if (!strncmp(args, "launch ", 7)) {
        error = zs_debug_goto_launch(s->debug, count_of(args + 7), &diag);
    } else if (!strncmp(args, "step ", 5)) {
        error = zs_debug_goto_position(s->debug, count_of(args + 5), &diag);
    } else {
        zs_shell_error(s, "goto launch N, goto step N");
        return;
    }
    if (ok(s, error, &diag))
        wait_for_stop(s);
}

static void show_record(struct zs_shell *s)
{
    struct zs_debug_history h;
    struct zs_diag diag = NEW_DIAG;
    uint32_t thread;
    zs_debug_focus(s->debug, &thread, NULL, NULL);
    if (!ok(s, zs_debug_history(s->debug, thread, &h, &diag), &diag))
        return;
    zs_shell_say(s, "%" PRIu64 " launch%s begun\n", h.launches, h.launches == 1 ? "" : "es");
    if (h.recorded)
        zs_shell_say(s, "launch %" PRIu64 ": recorded, step %" PRIu64 "\n", h.launch, h.position);
    else if (h.launch)
        zs_shell_say(s, "launch %" PRIu64 ": no way back: %s\n", h.launch, h.lack);
}

static void set_record(struct zs_shell *s, const char *mode)
{
    static const struct {
        const char *name;
        enum zs_debug_record record;
    } modes[] = {
        {"auto", ZS_DEBUG_RECORD_AUTO}, {"on", ZS_DEBUG_RECORD_ON}, {"off", ZS_DEBUG_RECORD_OFF}};
    struct zs_diag diag = NEW_DIAG;
    for (size_t i = 0; i < ZS_ARRAY_LEN(modes); i++)
        if (!strcmp(mode, modes[i].name)) {
            ok(s, zs_debug_record(s->debug, modes[i].record, &diag), &diag);
            return;
        }
    zs_shell_error(s, "set record on, off or auto");
}

/* ---- watchpoints ---- */

/* EXPRESSION [if CONDITION] */
static void watch(struct zs_shell *s, const char *args, uint32_t access)
{
    struct zs_debug_watch_options o = {.size_B = sizeof(o), .access = access};
    struct zs_diag diag = NEW_DIAG;
    char *expression = strdup(args), *condition = expression ? strstr(expression, " if ") : NULL;
    uint32_t id;
    if (condition) {
        *condition = '\0';
        o.condition = condition + 4;
    }
    o.expression = expression;
    if (expression && ok(s, zs_debug_watch_add(s->debug, &o, &id, &diag), &diag)) {
        zs_shell_say(s, "Watchpoint %u: ", id);
        zs_text_puts(&s->out, expression);
        zs_buf_putc(&s->out, '\n');
    }
    free(expression);
}

static void do_watch(struct zs_shell *s, const char *args)
{
    watch(s, args, ZS_DEBUG_WATCH_CHANGE);
}

static void do_rwatch(struct zs_shell *s, const char *args)
{
    watch(s, args, ZS_DEBUG_WATCH_READ);
}

static void do_awatch(struct zs_shell *s, const char *args)
{
    watch(s, args, ZS_DEBUG_WATCH_READ | ZS_DEBUG_WATCH_WRITE);
}

static void do_who_wrote(struct zs_shell *s, const char *args)
{
    struct zs_debug_writer w;
    struct zs_diag diag = NEW_DIAG;
    uint32_t thread, lane, frame;
    zs_debug_focus(s->debug, &thread, &lane, &frame);
    if (!args[0]) {
        zs_shell_error(s, "who-wrote EXPRESSION or ADDRESS");
        return;
    }
    if (!ok(s, zs_debug_who_wrote(s->debug, thread, lane, frame, args, &w, &diag), &diag))
        return;
    zs_text_puts(&s->out, w.text);
    zs_shell_say(s, "\nstep %" PRIu64 ", %#" PRIx64 " in ", w.position, w.ip_va);
    zs_text_puts(&s->out, w.kernel ? w.kernel : "??");
    if (w.file) {
        zs_buf_puts(&s->out, " at ");
        zs_text_puts(&s->out, w.file);
        zs_shell_say(s, ":%u", w.line);
    }
    zs_buf_putc(&s->out, '\n');
    if (w.file)
        zs_shell_show_line(s, w.file, w.line, false);
}

/* ---- breakpoints ---- */

/* LOCATION [if CONDITION] */
static void add_breakpoint(struct zs_shell *s, const char *args, bool temporary, const char *log)
{
    struct zs_debug_breakpoint_options o = {
        .size_B = sizeof(o), .temporary = temporary, .log = log};
    struct zs_diag diag = NEW_DIAG;
    char *location = strdup(args), *condition = location ? strstr(location, " if ") : NULL;
    uint32_t id;
    if (condition) {
        *condition = '\0';
        o.condition = condition + 4;
    }
    for (size_t n = location ? strlen(location) : 0; n && isspace((unsigned char)location[n - 1]);)
        location[--n] = '\0';
    o.location = location;
    if (location && ok(s, zs_debug_break_add(s->debug, &o, &id, &diag), &diag)) {
        const struct zs_debug_breakpoint *b;
        for (size_t i = 0; (b = zs_debug_break_get(s->debug, i)) && b->id != id; i++)
            continue;
        zs_shell_say(s, "Breakpoint %u at ", id);
        zs_text_puts(&s->out, location);
        zs_shell_say(s, b && b->place_count ? ": %u place%s\n" : " (pending)\n",
                     b ? b->place_count : 0, b && b->place_count == 1 ? "" : "s");
    }
    free(location);
}

static void do_break(struct zs_shell *s, const char *args)
{
    char here[64];
    uint32_t thread;
    zs_debug_focus(s->debug, &thread, NULL, NULL);
    const struct zs_debug_thread *t = zs_debug_thread(s->debug, thread);
    if (!args[0] && t) {
        snprintf(here, sizeof(here), "*%#" PRIx64, t->gpu_va);
        args = here;
    }
    add_breakpoint(s, args, false, NULL);
}

static void do_tbreak(struct zs_shell *s, const char *args)
{
    add_breakpoint(s, args, true, NULL);
}

/* dprintf LOCATION, TEXT WITH {EXPRESSIONS} */
static void do_dprintf(struct zs_shell *s, const char *args)
{
    const char *comma = strchr(args, ',');
    char location[1024];
    if (!comma) {
        zs_shell_error(s, "dprintf LOCATION, TEXT: the text is missing");
        return;
    }
    snprintf(location, sizeof(location), "%.*s", (int)(comma - args), args);
    comma++;
    while (*comma == ' ')
        comma++;
    add_breakpoint(s, location, false, comma);
}

static bool take_id(struct zs_shell *s, const char **args, uint32_t *ret)
{
    char *end;
    unsigned long n = strtoul(*args, &end, 10);
    if (end == *args) {
        zs_shell_error(s, "the number of a breakpoint is needed");
        return false;
    }
    while (isspace((unsigned char)*end))
        end++;
    *args = end;
    *ret = (uint32_t)n;
    return true;
}

static void do_delete(struct zs_shell *s, const char *args)
{
    const struct zs_debug_breakpoint *b;
    struct zs_diag diag = NEW_DIAG;
    uint32_t id;
    if (!args[0])
        while ((b = zs_debug_break_get(s->debug, 0)))
            (void)zs_debug_break_delete(s->debug, b->id, &diag);
    while (args[0] && take_id(s, &args, &id) &&
           ok(s, zs_debug_break_delete(s->debug, id, &diag), &diag))
        continue;
}

static void set_enabled(struct zs_shell *s, const char *args, bool on)
{
    struct zs_diag diag = NEW_DIAG;
    uint32_t id;
    const struct zs_debug_breakpoint *b;
    for (size_t i = 0; !args[0] && (b = zs_debug_break_get(s->debug, i)); i++)
        (void)zs_debug_break_enable(s->debug, b->id, on, &diag);
    while (args[0] && take_id(s, &args, &id) &&
           ok(s, zs_debug_break_enable(s->debug, id, on, &diag), &diag))
        continue;
}

static void do_enable(struct zs_shell *s, const char *args)
{
    set_enabled(s, args, true);
}

static void do_disable(struct zs_shell *s, const char *args)
{
    set_enabled(s, args, false);
}

static void do_condition(struct zs_shell *s, const char *args)
{
    struct zs_diag diag = NEW_DIAG;
    uint32_t id;
    if (take_id(s, &args, &id))
        ok(s, zs_debug_break_condition(s->debug, id, args[0] ? args : NULL, &diag), &diag);
}

static void do_ignore(struct zs_shell *s, const char *args)
{
    struct zs_diag diag = NEW_DIAG;
    uint32_t id;
    if (take_id(s, &args, &id))
        ok(s, zs_debug_break_ignore(s->debug, id, count_of(args), &diag), &diag);
}

/* ---- looking ---- */

struct focus {
    uint32_t thread, lane, frame;
};

static struct focus focus_of(const struct zs_shell *s)
{
    struct focus f;
    zs_debug_focus(s->debug, &f.thread, &f.lane, &f.frame);
    return f;
}

static void do_backtrace(struct zs_shell *s, const char *args)
{
    struct zs_debug_frame frames[ZS_DEBUG_FRAMES_MAX];
    struct zs_diag diag = NEW_DIAG;
    (void)args;
    int count = zs_debug_frames(s->debug, focus_of(s).thread, frames, ZS_DEBUG_FRAMES_MAX, &diag);
    if (ok(s, count, &diag))
        for (int i = 0; i < count; i++)
            zs_shell_show_frame(s, (uint32_t)i, &frames[i]);
}

static void set_focus(struct zs_shell *s, struct focus f)
{
    struct zs_diag diag = NEW_DIAG;
    if (ok(s, zs_debug_set_focus(s->debug, f.thread, f.lane, f.frame, &diag), &diag))
        zs_shell_show_where(s);
}

static void do_frame(struct zs_shell *s, const char *args)
{
    struct focus f = focus_of(s);
    if (args[0])
        f.frame = (uint32_t)count_of(args);
    set_focus(s, f);
}

static void do_up(struct zs_shell *s, const char *args)
{
    struct focus f = focus_of(s);
    f.frame += (uint32_t)count_of(args);
    set_focus(s, f);
}

static void do_down(struct zs_shell *s, const char *args)
{
    struct focus f = focus_of(s);
    f.frame -= ZS_MIN(f.frame, (uint32_t)count_of(args));
    set_focus(s, f);
}

static void do_thread(struct zs_shell *s, const char *args)
{
    struct focus f = focus_of(s);
    if (args[0])
        f.thread = (uint32_t)count_of(args);
    const struct zs_debug_thread *t = zs_debug_thread(s->debug, f.thread);
    f.frame = 0;
    if (t && !(t->running >> f.lane & 1))
        f.lane = t->running ? (uint32_t)__builtin_ctz(t->running) : 0;
    set_focus(s, f);
}

static void do_lane(struct zs_shell *s, const char *args)
{
    struct focus f = focus_of(s);
    if (args[0])
        f.lane = (uint32_t)count_of(args);
    set_focus(s, f);
}

static const char *take_triple(const char *text, uint32_t ret[3])
{
    memset(ret, 0, 3 * sizeof(*ret));
    for (uint32_t i = 0; i < 3; i++) {
        char *end;
        ret[i] = (uint32_t)strtoul(text, &end, 10);
        text = end;
        if (*text != ',')
            break;
        text++;
    }
    while (isspace((unsigned char)*text))
        text++;
    return text;
}

/* focus thread N | lane N | group X,Y,Z [item X,Y,Z] */
static void do_focus(struct zs_shell *s, const char *args)
{
    uint32_t group[3], item[3], thread, lane;
    struct zs_diag diag = NEW_DIAG;
    if (!strncmp(args, "thread ", 7)) {
        do_thread(s, args + 7);
    } else if (!strncmp(args, "lane ", 5)) {
        do_lane(s, args + 5);
    } else if (!strncmp(args, "group ", 6)) {
        const char *rest = take_triple(args + 6, group);
        if (!strncmp(rest, "item ", 5)) {
            take_triple(rest + 5, item);
            if (ok(s, zs_debug_find_item(s->debug, group, item, &thread, &lane, &diag), &diag))
                set_focus(s, (struct focus){thread, lane, 0});
            return;
        }
        const struct zs_debug_thread *threads;
        size_t count = zs_debug_threads(s->debug, &threads);
        for (size_t i = 0; i < count; i++)
            if (threads[i].group_known && !memcmp(threads[i].group, group, sizeof(group))) {
                char number[16];
                snprintf(number, sizeof(number), "%u", threads[i].id);
                do_thread(s, number);
                return;
            }
        zs_shell_error(s, "no stopped thread is known to be of that group");
    } else {
        zs_shell_error(s, "focus thread N, focus lane N, focus group X,Y,Z [item X,Y,Z]");
    }
}

/* [LINE] or [FILE:LINE] */
static void do_list(struct zs_shell *s, const char *args)
{
    const char *colon = strrchr(args, ':');
    if (colon) {
        free(s->list_file);
        s->list_file = strndup(args, (size_t)(colon - args));
        args = colon + 1;
    }
    if (args[0]) {
        uint64_t line = count_of(args);
        s->list_line = line > LIST_LINES / 2 ? (uint32_t)line - LIST_LINES / 2 : 1;
    }
    struct zs_debug_place place;
    if (colon &&
        zs_debug_line_places(s->debug, s->list_file, (uint32_t)count_of(args), &place, 1)) {
        free(s->list_file);
        s->list_file = strdup(place.file);
    }
    if (!s->list_file) {
        zs_shell_error(s, "no file is in focus: list FILE:LINE");
        return;
    }
    struct zs_debug_frame frame = {0};
    struct focus f = focus_of(s);
    int count = zs_debug_frames(s->debug, f.thread, &frame, 1, NULL);
    const struct zs_source *source = zs_debug_source(s->debug, s->list_file);
    for (uint32_t i = 0; i < LIST_LINES; i++, s->list_line++) {
        if (source && source->found && s->list_line > source->line_count)
            break;
        zs_shell_show_line(s, s->list_file, s->list_line,
                           count > 0 && frame.file && frame.line == s->list_line &&
                               !strcmp(frame.file, s->list_file));
    }
}

static bool evaluate(struct zs_shell *s, const char *text, struct zs_debug_value **ret)
{
    struct focus f = focus_of(s);
    struct zs_diag diag = NEW_DIAG;
    return ok(s, zs_debug_evaluate(s->debug, f.thread, f.lane, f.frame, text, ret, &diag), &diag);
}

/* EXPRESSION [@lanes], /x for hexadecimal */
static void do_print(struct zs_shell *s, const char *args)
{
    struct zs_debug_value *v;
    bool hex = !strncmp(args, "/x ", 3);
    args += hex ? 3 : 0;
    const char *at = strstr(args, "@lanes");
    if (at && !at[6]) {
        char *expression = strndup(args, (size_t)(at - args));
        if (expression)
            zs_shell_show_lanes_table(s, expression);
        free(expression);
        return;
    }
    const char *assign = strchr(args, '=');
    if (assign && assign > args && assign[1] != '=' && !strchr("=!<>", assign[-1])) {
        char *name = strndup(args, (size_t)(assign - args));
        struct zs_diag diag = NEW_DIAG;
        if (name && evaluate(s, name, &v))
            ok(s, zs_debug_assign(s->debug, v, assign + 1, &diag), &diag);
        if (name && !diag.text[0] && evaluate(s, name, &v))
            zs_shell_say(s, "%s\n", v->text);
        free(name);
        return;
    }
    if (!evaluate(s, args, &v))
        return;
    uint64_t number = 0;
    if (hex && v->bytes && v->size_B <= 8) {
        memcpy(&number, v->bytes, v->size_B);
        zs_shell_say(s, "%#" PRIx64, number);
    } else {
        zs_text_puts(&s->out, v->text);
    }
    zs_buf_putc(&s->out, '\n');
    s->failed |= !v->available;
}

/* set [var] NAME = EXPRESSION */
static void do_set(struct zs_shell *s, const char *args)
{
    if (!strncmp(args, "record ", 7)) {
        set_record(s, args + 7);
        return;
    }
    if (!strncmp(args, "variable ", 9))
        args += 9;
    else if (!strncmp(args, "var ", 4))
        args += 4;
    const char *assign = strchr(args, '=');
    struct zs_debug_value *v;
    struct zs_diag diag = NEW_DIAG;
    if (!assign) {
        zs_shell_error(s, "set variable NAME = EXPRESSION");
        return;
    }
    char *name = strndup(args, (size_t)(assign - args));
    if (name && evaluate(s, name, &v))
        ok(s, zs_debug_assign(s->debug, v, assign + 1, &diag), &diag);
    free(name);
}

static void do_display(struct zs_shell *s, const char *args)
{
    if (!args[0]) {
        for (uint32_t i = 0; i < s->display_count; i++)
            if (s->displays[i])
                zs_shell_say(s, "%u: %s\n", i + 1, s->displays[i]);
        return;
    }
    if (s->display_count == ZS_SHELL_DISPLAYS_MAX) {
        zs_shell_error(s, "there are %d displays already", ZS_SHELL_DISPLAYS_MAX);
        return;
    }
    s->displays[s->display_count++] = strdup(args);
    do_print(s, args);
}

static void do_undisplay(struct zs_shell *s, const char *args)
{
    uint64_t n = count_of(args);
    for (uint32_t i = 0; i < s->display_count; i++)
        if (!args[0] || i + 1 == n) {
            free(s->displays[i]);
            s->displays[i] = NULL;
        }
}

/* x[/COUNT] ADDRESS: dwords */
static void do_examine(struct zs_shell *s, const char *args)
{
    uint64_t count = 8, va = 0;
    struct zs_debug_value *v;
    struct zs_diag diag = NEW_DIAG;
    uint32_t words[WORDS_IN_ROW];
    if (args[0] == '/') {
        char *end;
        count = strtoull(args + 1, &end, 10);
        args = end;
        while (isalpha((unsigned char)*args))
            args++;
    }
    if (!evaluate(s, args, &v))
        return;
    if (!v->available || v->size_B > 8) {
        zs_shell_error(s, "that is no address");
        return;
    }
    memcpy(&va, v->bytes, v->size_B);
    count = ZS_MIN(ZS_MAX(count, 1u), (uint64_t)EXAMINE_MAX);
    for (uint64_t i = 0; i < count; i += WORDS_IN_ROW) {
        uint64_t here = ZS_MIN(count - i, (uint64_t)WORDS_IN_ROW), at = va + i * 4;
        enum zs_debug_space space = at >> 56 == 0x0a ? ZS_DEBUG_SPACE_LOCAL : ZS_DEBUG_SPACE_GLOBAL;
        if (!ok(s,
                zs_debug_memory_read(s->debug, focus_of(s).thread, space,
                                     space == ZS_DEBUG_SPACE_LOCAL ? at & UINT32_MAX : at, words,
                                     here * 4, &diag),
                &diag))
            return;
        zs_shell_say(s, "%#" PRIx64 ":", at);
        for (uint64_t w = 0; w < here; w++)
            zs_shell_say(s, " 0x%08x", words[w]);
        zs_buf_putc(&s->out, '\n');
    }
}

static void do_disassemble(struct zs_shell *s, const char *args)
{
    const struct zs_debug_thread *t = zs_debug_thread(s->debug, focus_of(s).thread);
    struct zs_debug_value *v;
    uint64_t va = t ? t->gpu_va : 0;
    if (args[0]) {
        if (!evaluate(s, args, &v) || !v->available || v->size_B > 8)
            return;
        memcpy(&va, v->bytes, v->size_B);
    }
    zs_shell_show_code(s, va, args[0] ? 0 : CODE_BEFORE, CODE_LINES);
}

static void show_variables(struct zs_shell *s, bool parameters)
{
    struct focus f = focus_of(s);
    struct zs_debug_value **values;
    struct zs_diag diag = NEW_DIAG;
    uint32_t count;
    if (!ok(s, zs_debug_variables(s->debug, f.thread, f.lane, f.frame, &values, &count, &diag),
            &diag))
        return;
    for (uint32_t i = 0; i < count; i++) {
        if (values[i]->parameter != parameters)
            continue;
        zs_text_puts(&s->out, values[i]->name);
        zs_buf_puts(&s->out, " = ");
        zs_text_puts(&s->out, values[i]->text);
        zs_buf_putc(&s->out, '\n');
    }
}

static void show_modules(struct zs_shell *s)
{
    const struct zs_debug_module *m;
    for (size_t i = 0; (m = zs_debug_modules(s->debug, i)); i++)
        for (uint32_t k = 0; k < m->kernel_count; k++) {
            zs_shell_say(s, "%u  %#" PRIx64 "  ", m->id, m->load_va);
            zs_text_puts(&s->out, m->kernels[k]);
            zs_shell_say(s, "%s\n", m->has_lines ? "" : "  (no debug info)");
        }
}

static void do_info(struct zs_shell *s, const char *args)
{
    size_t n = strcspn(args, " ");
    const char *rest = args + n + strspn(args + n, " ");
    if (!n)
        zs_shell_error(s,
                       "info threads, lanes, registers [NAME], breakpoints, locals, args, modules, "
                       "record");
    else if (!strncmp(args, "threads", n))
        zs_shell_show_threads(s);
    else if (n > 1 && !strncmp(args, "lanes", n))
        zs_shell_show_lanes(s);
    else if (!strncmp(args, "registers", n))
        zs_shell_show_registers(s, rest);
    else if (!strncmp(args, "breakpoints", n))
        zs_shell_show_breakpoints(s);
    else if (!strncmp(args, "locals", n))
        show_variables(s, false);
    else if (!strncmp(args, "args", n))
        show_variables(s, true);
    else if (!strncmp(args, "modules", n))
        show_modules(s);
    else if (n > 2 && !strncmp(args, "record", n))
        show_record(s);
    else if (!strncmp(args, "watchpoints", n))
        zs_shell_show_breakpoints(s);
    else
        zs_shell_error(s,
                       "info knows threads, lanes, registers, breakpoints, locals, args, modules, "
                       "record");
}

static void do_detach(struct zs_shell *s, const char *args)
{
    struct zs_diag diag = NEW_DIAG;
    (void)args;
    ok(s, zs_debug_detach(s->debug, &diag), &diag);
}

static void do_kill(struct zs_shell *s, const char *args)
{
    struct zs_diag diag = NEW_DIAG;
    (void)args;
    ok(s, zs_debug_kill(s->debug, &diag), &diag);
}

static void do_quit(struct zs_shell *s, const char *args)
{
    (void)args;
    s->quit = true;
}

static void do_echo(struct zs_shell *s, const char *args)
{
    zs_shell_say(s, "%s\n", args);
}

static void do_help(struct zs_shell *s, const char *args);

/* ---- the table: of commands with the same beginning the first one is meant ---- */

static const struct command {
    const char *name, *short_name;
    void (*run)(struct zs_shell *s, const char *args);
    bool repeats; /* an empty line does it again */
    const char *help;
} commands[] = {
    {"run", "r", do_run, false, "start the application, anew when it runs"},
    {"continue", "c", do_continue, true, "let all go on to the next stop"},
    {"step", "s", do_step, true, "[N] to another line, into functions; by the lane in focus"},
    {"next", "n", do_next, true, "[N] to another line, over functions"},
    {"finish", "fin", do_finish, false, "until the function returns, inlined ones too"},
    {"until", "u", do_until, true, "like next, but not back to the beginning of a loop"},
    {"stepi", "si", do_stepi, true, "[N] one instruction"},
    {"nexti", "ni", do_nexti, true, "[N] one instruction, over calls"},
    {"reverse-step", "rs", do_reverse_step, true, "[N] back to the beginning of a line"},
    {"reverse-next", "rn", do_reverse_next, true, "[N] the same, over functions"},
    {"reverse-stepi", "rsi", do_reverse_stepi, true, "[N] back by one instruction"},
    {"reverse-nexti", "rni", do_reverse_nexti, true, "[N] the same, over calls"},
    {"reverse-finish", NULL, do_reverse_finish, false, "back to the call of the function"},
    {"reverse-continue", "rc", do_reverse_continue, true,
     "back to the last breakpoint or watchpoint, or the launch's beginning"},
    {"goto", NULL, do_goto, false,
     "launch N: on to its beginning, of the present one back | step N: back to it"},
    {"break", "b", do_break, false,
     "[FILE:LINE | LINE | FUNCTION | *ADDRESS | *KERNEL+OFFSET | barrier [N] | divergence] "
     "[if CONDITION]"},
    {"tbreak", "tb", do_tbreak, false, "the same, once"},
    {"dprintf", NULL, do_dprintf, false, "LOCATION, TEXT {EXPRESSION}: print it, do not stop"},
    {"watch", NULL, do_watch, false, "EXPRESSION | ADDRESS [if CONDITION]: stop where it changes"},
    {"rwatch", NULL, do_rwatch, false, "the same, where it is read"},
    {"awatch", NULL, do_awatch, false, "the same, where it is read or written"},
    {"who-wrote", NULL, do_who_wrote, false,
     "EXPRESSION | ADDRESS: the last work-item of the launch that wrote it"},
    {"delete", "d", do_delete, false, "[NUMBERS] of breakpoints"},
    {"enable", NULL, do_enable, false, "[NUMBERS] of breakpoints"},
    {"disable", NULL, do_disable, false, "[NUMBERS] of breakpoints"},
    {"condition", NULL, do_condition, false, "NUMBER [CONDITION]: without one, none"},
    {"ignore", NULL, do_ignore, false, "NUMBER COUNT: pass over that many hits"},
    {"backtrace", "bt", do_backtrace, false, "the functions that are being executed"},
    {"where", NULL, do_backtrace, false, "the same"},
    {"frame", "f", do_frame, false, "[N] look at that function of the backtrace"},
    {"up", NULL, do_up, false, "[N] to the caller"},
    {"down", NULL, do_down, false, "[N] to what was called"},
    {"thread", "t", do_thread, false, "[N] look at that thread"},
    {"lane", NULL, do_lane, false, "[N] look at that lane"},
    {"focus", NULL, do_focus, false, "thread N | lane N | group X,Y,Z [item X,Y,Z]"},
    {"list", "l", do_list, true, "[LINE | FILE:LINE] source text"},
    {"print", "p", do_print, false, "[/x] EXPRESSION [@lanes] | NAME = EXPRESSION"},
    {"set", NULL, do_set, false, "[variable] NAME = EXPRESSION | record on, off or auto"},
    {"display", NULL, do_display, false, "[EXPRESSION] shown at every stop"},
    {"undisplay", NULL, do_undisplay, false, "[NUMBER]"},
    {"x", NULL, do_examine, false, "[/COUNT] ADDRESS: memory in dwords"},
    {"disassemble", "disas", do_disassemble, false, "[ADDRESS] machine code with its source"},
    {"info", "i", do_info, false,
     "threads, lanes, registers, breakpoints, locals, args, modules, record"},
    {"echo", NULL, do_echo, false, "TEXT"},
    {"detach", NULL, do_detach, false, "let the process go on without a debugger"},
    {"kill", "k", do_kill, false, "end the process"},
    {"help", "h", do_help, false, "[COMMAND]"},
    {"quit", "q", do_quit, false, "end the debugger; what it started is killed"},
};

const char *zs_shell_command_name(size_t index)
{
    return index < ZS_ARRAY_LEN(commands) ? commands[index].name : NULL;
}

static const struct command *find_command(const char *name, size_t length)
{
    for (size_t i = 0; i < ZS_ARRAY_LEN(commands); i++)
        if ((strlen(commands[i].name) == length && !strncmp(commands[i].name, name, length)) ||
            (commands[i].short_name && strlen(commands[i].short_name) == length &&
             !strncmp(commands[i].short_name, name, length)))
            return &commands[i];
    for (size_t i = 0; i < ZS_ARRAY_LEN(commands) && length; i++)
        if (!strncmp(commands[i].name, name, length))
            return &commands[i];
    return NULL;
}

static void do_help(struct zs_shell *s, const char *args)
{
    const struct command *about = args[0] ? find_command(args, strcspn(args, " ")) : NULL;
    if (args[0] && !about) {
        zs_shell_error(s, "no command '%s'", args);
        return;
    }
    for (size_t i = 0; i < ZS_ARRAY_LEN(commands); i++)
        if (!about || about == &commands[i])
            zs_shell_say(s, "%-12s %-6s %s\n", commands[i].name,
                         commands[i].short_name ? commands[i].short_name : "", commands[i].help);
}

void zs_shell_execute(struct zs_shell *shell, const char *line)
{
    line += strspn(line, " \t");
    if (!*line && shell->interactive && shell->last)
        line = shell->last;
    if (!*line || *line == '#')
        return;
    size_t length = strcspn(line, " \t/");
    const struct command *command = find_command(line, length);
    const char *args = line + length;
    args += strspn(args, " \t");
    if (!command) {
        zs_shell_error(shell, "no command '%.*s': help shows them all", (int)length, line);
        return;
    }
    char *kept = command->repeats ? strdup(line) : NULL, *own = strdup(args);
    if (own)
        command->run(shell, own);
    free(own);
    free(shell->last);
    shell->last = kept;
    zs_shell_flush(shell);
}

void zs_shell_fini(struct zs_shell *shell)
{
    for (uint32_t i = 0; i < shell->display_count; i++)
        free(shell->displays[i]);
    free(shell->last);
    free(shell->list_file);
    zs_buf_fini(&shell->out);
}
