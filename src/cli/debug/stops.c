/* SPDX-License-Identifier: MIT */
/* zescope debug: breakpoints and watchpoints. */
#include "cli/debug/shell.h"

#include "base/text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "X if CONDITION": the X, to be freed; *ret_condition points behind it, or is NULL. */
static char *split_condition(const char *args, const char **ret_condition)
{
    char *own = strdup(args);
    char *condition = !own ? NULL : !strncmp(own, "if ", 3) ? own : strstr(own, " if ");
    *ret_condition = NULL;
    if (condition) {
        *ret_condition = condition + (*condition == ' ' ? 4 : 3);
        *condition = '\0';
    }
    for (size_t n = own ? strlen(own) : 0; n && isspace((unsigned char)own[n - 1]);)
        own[--n] = '\0';
    return own;
}

/* ---- watchpoints ---- */

static void watch(struct zs_shell *s, const char *args, uint32_t access)
{
    struct zs_debug_watch_options o = {.size_B = sizeof(o), .access = access};
    struct zs_diag diag = NEW_DIAG;
    uint32_t id;
    if (!args[0]) {
        zs_shell_error(s, "what is to be watched is missing: watch EXPRESSION or ADDRESS");
        return;
    }
    char *expression = split_condition(args, &o.condition);
    o.expression = expression;
    if (expression && zs_shell_ok(s, zs_debug_watch_add(s->debug, &o, &id, &diag), &diag)) {
        zs_shell_say(s, "Watchpoint %u: ", id);
        zs_text_puts(&s->out, expression);
        zs_buf_puts(&s->out, o.access & ZS_DEBUG_WATCH_READ
                                 ? " (what samplers read is not available)\n"
                                 : "\n");
    }
    free(expression);
}

void zs_shell_do_watch(struct zs_shell *s, const char *args)
{
    watch(s, args, ZS_DEBUG_WATCH_CHANGE);
}

void zs_shell_do_rwatch(struct zs_shell *s, const char *args)
{
    watch(s, args, ZS_DEBUG_WATCH_READ);
}

void zs_shell_do_awatch(struct zs_shell *s, const char *args)
{
    watch(s, args, ZS_DEBUG_WATCH_READ | ZS_DEBUG_WATCH_WRITE);
}

void zs_shell_do_who_wrote(struct zs_shell *s, const char *args)
{
    struct zs_debug_writer w;
    struct zs_diag diag = NEW_DIAG;
    struct zs_shell_focus f = zs_shell_focus(s);
    if (!args[0]) {
        zs_shell_error(s, "who-wrote EXPRESSION or ADDRESS");
        return;
    }
    if (!zs_shell_ok(s, zs_debug_who_wrote(s->debug, f.thread, f.lane, f.frame, args, &w, &diag),
                     &diag))
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

static const struct zs_debug_breakpoint *find(const struct zs_shell *s, uint32_t id)
{
    const struct zs_debug_breakpoint *b;
    for (size_t i = 0; (b = zs_debug_break_get(s->debug, i)); i++)
        if (b->id == id)
            return b;
    return NULL;
}

bool zs_shell_break(struct zs_shell *s, const char *args, bool temporary, const char *log)
{
    struct zs_debug_breakpoint_options o = {
        .size_B = sizeof(o), .temporary = temporary, .log = log};
    struct zs_diag diag = NEW_DIAG;
    char here[64];
    uint32_t id;
    char *location = split_condition(args, &o.condition);
    const struct zs_debug_thread *t = zs_debug_thread(s->debug, zs_shell_focus(s).thread);
    if (!location)
        return false;
    snprintf(here, sizeof(here), "*%#" PRIx64, t ? t->gpu_va : 0);
    o.location = location[0] || !t ? location : here;
    bool made = false;
    if (!o.location[0])
        zs_shell_error(s, "a breakpoint needs a location: FILE:LINE, a function or a kernel (help "
                          "break shows all)");
    else
        made = zs_shell_ok(s, zs_debug_break_add(s->debug, &o, &id, &diag), &diag);
    const struct zs_debug_breakpoint *b = made ? find(s, id) : NULL;
    if (b) {
        if (b->place_count && s->resolved_count < ZS_SHELL_RESOLVED_MAX)
            s->resolved[s->resolved_count++] = id;
        zs_shell_say(s, "Breakpoint %u at ", id);
        zs_text_puts(&s->out, o.location);
        if (!b->place_count)
            zs_shell_say(s, zs_debug_modules(s->debug, 0)
                                ? " (pending: no code that is loaded has it)\n"
                                : " (pending: until code that has it is loaded)\n");
        else if (b->place_count == 1 && b->places[0].line)
            zs_shell_say(s, ": 1 place, line %u\n", b->places[0].line);
        else
            zs_shell_say(s, ": %u place%s\n", b->place_count, zs_plural(b->place_count));
    }
    free(location);
    return made;
}

void zs_shell_do_break(struct zs_shell *s, const char *args)
{
    zs_shell_break(s, args, false, NULL);
}

void zs_shell_do_tbreak(struct zs_shell *s, const char *args)
{
    zs_shell_break(s, args, true, NULL);
}

/* dprintf LOCATION, TEXT WITH {EXPRESSIONS} */
void zs_shell_do_dprintf(struct zs_shell *s, const char *args)
{
    const char *comma = strchr(args, ',');
    char location[1024];
    if (!comma) {
        zs_shell_error(s, "dprintf LOCATION, TEXT: the text is missing");
        return;
    }
    snprintf(location, sizeof(location), "%.*s", (int)ZS_MIN(comma - args, 1000), args);
    comma++;
    while (*comma == ' ')
        comma++;
    zs_shell_break(s, location, false, comma);
}

/* The number of a breakpoint at the beginning of *args. */
static bool take_id(struct zs_shell *s, const char **args, uint32_t *ret)
{
    uint64_t n = 0;
    if (!isdigit((unsigned char)**args)) {
        zs_shell_error(s, "the number of a breakpoint is needed: info breakpoints shows them");
        return false;
    }
    bool taken = zs_shell_take_number(s, args, 0, UINT32_MAX, &n);
    *ret = (uint32_t)n;
    return taken;
}

static void forget(struct zs_shell *s, uint32_t id)
{
    for (uint32_t i = 0; i < s->resolved_count; i++)
        if (s->resolved[i] == id)
            s->resolved[i] = s->resolved[--s->resolved_count];
}

void zs_shell_do_delete(struct zs_shell *s, const char *args)
{
    const struct zs_debug_breakpoint *b;
    struct zs_diag diag = NEW_DIAG;
    uint32_t id;
    while (!args[0] && (b = zs_debug_break_get(s->debug, 0)))
        if (zs_debug_break_delete(s->debug, b->id, &diag))
            break;
    while (args[0] && take_id(s, &args, &id) &&
           zs_shell_ok(s, zs_debug_break_delete(s->debug, id, &diag), &diag))
        forget(s, id);
}

static void set_enabled(struct zs_shell *s, const char *args, bool on)
{
    struct zs_diag diag = NEW_DIAG;
    uint32_t id;
    const struct zs_debug_breakpoint *b;
    for (size_t i = 0; !args[0] && (b = zs_debug_break_get(s->debug, i)); i++)
        (void)zs_debug_break_enable(s->debug, b->id, on, &diag);
    while (args[0] && take_id(s, &args, &id) &&
           zs_shell_ok(s, zs_debug_break_enable(s->debug, id, on, &diag), &diag))
        continue;
}

void zs_shell_do_enable(struct zs_shell *s, const char *args)
{
    set_enabled(s, args, true);
}

void zs_shell_do_disable(struct zs_shell *s, const char *args)
{
    set_enabled(s, args, false);
}

void zs_shell_do_condition(struct zs_shell *s, const char *args)
{
    struct zs_diag diag = NEW_DIAG;
    uint32_t id;
    if (take_id(s, &args, &id))
        zs_shell_ok(s, zs_debug_break_condition(s->debug, id, args[0] ? args : NULL, &diag), &diag);
}

void zs_shell_do_ignore(struct zs_shell *s, const char *args)
{
    struct zs_diag diag = NEW_DIAG;
    uint64_t count;
    uint32_t id;
    if (!take_id(s, &args, &id))
        return;
    if (!args[0])
        zs_shell_error(s, "how many hits of breakpoint %u are to be passed over is missing", id);
    else if (zs_shell_number(s, args, 0, UINT64_MAX, &count))
        zs_shell_ok(s, zs_debug_break_ignore(s->debug, id, count, &diag), &diag);
}
