/* SPDX-License-Identifier: MIT */
/* zescope debug: commands, with the names and abbreviations of gdb; running and going back. */
#include "cli/debug/shell.h"
#include "cli/debug/pager.h"

#include "base/diag.h"
#include "base/path.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLACES_MAX = 64, IDLE_MS = 200 };

/* ---- what commands share ---- */

/* What a person can do where nothing is stopped. */
static void add_next_step(const struct zs_shell *s, struct zs_buf *out)
{
    if (s->editor)
        zs_buf_puts(out, zs_debug_pid(s->debug) ? ": pause it first" : "");
    else if (zs_debug_pid(s->debug))
        zs_buf_puts(out, ": `continue` waits for a stop, and Ctrl-C makes one");
    else if (s->app)
        zs_buf_printf(out, ": `run` starts %s%s", s->app[0], s->has_run ? " again" : "");
    else
        zs_buf_puts(out, ": `zescope debug --pid N` attaches to another process");
}

bool zs_shell_ok(struct zs_shell *s, int error, const struct zs_diag *diag)
{
    if (error >= 0)
        return true;
    struct zs_buf text = {0};
    zs_buf_puts(&text, diag->text[0] ? diag->text : strerror(-error));
    if (!zs_debug_pid(s->debug) && (error == -ECHILD || error == -ESRCH))
        add_next_step(s, &text);
    else if (zs_debug_pid(s->debug) && !zs_debug_stopped(s->debug) &&
             (error == -EBUSY || error == -ESRCH))
        add_next_step(s, &text);
    zs_shell_error(s, "%s", zs_buf_cstr(&text));
    zs_buf_fini(&text);
    return false;
}

bool zs_shell_needs_stop(struct zs_shell *s)
{
    struct zs_diag diag = NEW_DIAG;
    if (zs_debug_pid(s->debug) && zs_debug_stopped(s->debug))
        return true;
    zs_diag_set(&diag, -ESRCH, ZS_DIAG_NO_OFFSET, "%s",
                zs_debug_pid(s->debug) ? "it runs" : "nothing is being debugged");
    return zs_shell_ok(s, -ESRCH, &diag);
}

struct zs_shell_focus zs_shell_focus(const struct zs_shell *s)
{
    struct zs_shell_focus f;
    zs_debug_focus(s->debug, &f.thread, &f.lane, &f.frame);
    return f;
}

bool zs_shell_scan_number(struct zs_shell *s, const char **args, uint64_t most, uint64_t *ret)
{
    const char *at = *args;
    char *end = NULL;
    bool is_number = isdigit((unsigned char)*at);
    bool is_hex = at[0] == '0' && (at[1] == 'x' || at[1] == 'X');
    errno = 0;
    *ret = is_number ? strtoull(at, &end, is_hex ? 16 : 10) : 0;
    if (is_number && !errno && *ret <= most) {
        *args = end;
        return true;
    }
    if (is_number)
        zs_shell_error(s, "%.*s is too large: a number up to %" PRIu64 " was expected",
                       (int)(end - at), at, most);
    else
        zs_shell_error(s, "a number was expected, not '%s'", at);
    return false;
}

bool zs_shell_take_number(struct zs_shell *s, const char **args, uint64_t otherwise, uint64_t most,
                          uint64_t *ret)
{
    const char *at = *args;
    *ret = otherwise;
    if (!*at)
        return true;
    if (!zs_shell_scan_number(s, &at, most, ret))
        return false;
    if (*at && !isspace((unsigned char)*at)) {
        zs_shell_error(s, "a number was expected, not '%s'", *args);
        return false;
    }
    while (isspace((unsigned char)*at))
        at++;
    *args = at;
    return true;
}

bool zs_shell_number(struct zs_shell *s, const char *args, uint64_t otherwise, uint64_t most,
                     uint64_t *ret)
{
    const char *at = args;
    if (!zs_shell_take_number(s, &at, otherwise, most, ret))
        return false;
    if (*at)
        zs_shell_error(s, "one number was expected, not '%s'", args);
    return !*at;
}

/* ---- running ---- */

/* False after a message. */
static bool next_event(struct zs_shell *s, struct zs_debug_event *ret)
{
    struct zs_diag diag = NEW_DIAG;
    int error;
    do {
        error = zs_debug_wait(s->debug, s->interactive ? IDLE_MS : UINT32_MAX, ret, &diag);
        zs_shell_idle(s); /* in front of what is said of the event */
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

/* ---- help ---- */

void zs_shell_do_echo(struct zs_shell *s, const char *args)
{
    zs_shell_say(s, "%s\n", args);
}

enum { REPEATS = 1, TERMINAL = 2 };

static const struct command {
    const char *name, *short_name;
    void (*run)(struct zs_shell *s, const char *args); /* NULL: a heading */
    unsigned flags;
    const char *help, *more;
} commands[] = {
#define COMMAND(name, short_name, handler, flags, help, more)                                      \
    {name, short_name, zs_shell_do_##handler, flags, help, more},
#define HEADING(text) {text, NULL, NULL, 0, NULL, NULL},
#include "cli/debug/commands.def"
#undef COMMAND
#undef HEADING
};

static bool is(const char *whole, const char *name, size_t length)
{
    return whole && strlen(whole) == length && !strncmp(whole, name, length);
}

static bool begins(const struct command *c, const char *name, size_t length)
{
    return c->run && !strncmp(c->name, name, length);
}

/* The command that a word means. NULL: none; or several, which ret_several then lists. */
static const struct command *find_command(const char *name, size_t length,
                                          struct zs_buf *ret_several)
{
    const struct command *first = NULL;
    bool several = false;
    for (size_t i = 0; i < ZS_ARRAY_LEN(commands); i++)
        if (commands[i].run &&
            (is(commands[i].name, name, length) || is(commands[i].short_name, name, length)))
            return &commands[i];
    for (size_t i = 0; i < ZS_ARRAY_LEN(commands) && length; i++) {
        if (!begins(&commands[i], name, length))
            continue;
        if (first && strncmp(commands[i].name, first->name, strlen(first->name)) != 0)
            several = true; /* "st" is step, as stepi begins like it */
        first = first ? first : &commands[i];
    }
    for (size_t i = 0; several && ret_several && i < ZS_ARRAY_LEN(commands); i++)
        if (begins(&commands[i], name, length))
            zs_buf_printf(ret_several, "%s%s", ret_several->size_B ? ", " : "", commands[i].name);
    return several ? NULL : first;
}

static size_t command_length(const char *line)
{
    return strcspn(line, " \t/");
}

bool zs_shell_is_command(const char *line)
{
    struct zs_buf several = {0};
    line += strspn(line, " \t");
    bool found = find_command(line, command_length(line), &several) || several.size_B;
    zs_buf_fini(&several);
    return found;
}

static void no_command(struct zs_shell *s, const char *name, size_t length,
                       const struct zs_buf *several)
{
    if (several->size_B)
        zs_shell_error(s, "'%.*s' may be %.*s", (int)length, name, (int)several->size_B,
                       (const char *)several->data);
    else
        zs_shell_error(s, "no command '%.*s': help shows them all", (int)length, name);
}

static void help_of(struct zs_shell *s, const struct command *c)
{
    zs_shell_say(s, "%-16s %-6s %s\n", c->name, c->short_name ? c->short_name : "", c->help);
}

void zs_shell_do_help(struct zs_shell *s, const char *args)
{
    struct zs_buf several = {0};
    size_t length = strcspn(args, " \t");
    const struct command *about = args[0] ? find_command(args, length, &several) : NULL;
    if (about) {
        help_of(s, about);
        zs_shell_say(s, "%s%s", about->more ? "\n" : "", about->more ? about->more : "");
    } else if (args[0]) {
        no_command(s, args, length, &several);
    }
    for (size_t i = 0; !args[0] && i < ZS_ARRAY_LEN(commands); i++) {
        if (commands[i].run && (!s->editor || !(commands[i].flags & TERMINAL)))
            help_of(s, &commands[i]);
        else if (!commands[i].run)
            zs_shell_say(s, "%s%s:\n", i ? "\n" : "", commands[i].name);
    }
    if (!args[0])
        zs_shell_say(s, "\nhelp COMMAND has examples. Abbreviations are gdb's; an empty line does "
                        "the last step again.\n");
    zs_buf_fini(&several);
}

/* ---- lines ---- */

static bool may_run(struct zs_shell *s, const struct command *c)
{
    if (s->editor && c->flags & TERMINAL) {
        zs_shell_error(s, "%s: that is for the editor to do", c->name);
        return false;
    }
    return true;
}

void zs_shell_execute_one(struct zs_shell *s, const char *line)
{
    struct zs_buf several = {0};
    line += strspn(line, " \t");
    if (!*line && s->interactive && s->last)
        line = s->last;
    if (!*line || *line == '#')
        return;
    size_t length = command_length(line);
    const struct command *command = find_command(line, length, &several);
    const char *args = line + length;
    args += strspn(args, " \t");
    if (!command) {
        no_command(s, line, length, &several);
        zs_buf_fini(&several);
        return;
    }
    zs_buf_fini(&several);
    size_t args_length = strlen(args);
    while (args_length && isspace((unsigned char)args[args_length - 1]))
        args_length--;
    char *kept = command->flags & REPEATS ? strdup(command->run == zs_shell_do_examine ? "x"
                                                   : command->run == zs_shell_do_list  ? "list"
                                                                                       : line)
                                          : NULL;
    char *own = strndup(args, args_length);
    if (own && may_run(s, command))
        command->run(s, own);
    free(own);
    free(s->last);
    s->last = kept;
    zs_shell_flush(s);
}

void zs_shell_execute(struct zs_shell *s, const char *line)
{
    zs_shell_begin_page(s);
    if (zs_shell_collect(s, line))
        return;
    zs_shell_execute_one(s, line);
    zs_shell_run_lists(s);
}

/* ---- completion ---- */

enum { COMPLETED_MAX = 1024, MEMBERS_MAX = 128 };

typedef void put_word(void *user, const char *word);

static void put_if(const char *candidate, const char *word, size_t length, put_word *put,
                   void *user)
{
    if (candidate && !strncmp(candidate, word, length))
        put(user, candidate);
}

static void complete_location(struct zs_shell *s, const char *word, size_t length, put_word *put,
                              void *user)
{
    static const char *const others[] = {"barrier", "divergence"};
    struct zs_debug_function *functions = calloc(COMPLETED_MAX, sizeof(*functions));
    const char *paths[64];
    int count = functions ? zs_debug_functions(s->debug, functions, COMPLETED_MAX) : 0;
    for (int i = 0; i < count && i < COMPLETED_MAX; i++)
        put_if(functions[i].name, word, length, put, user);
    free(functions);
    count = zs_debug_sources(s->debug, paths, ZS_ARRAY_LEN(paths));
    for (int i = 0; i < count && i < (int)ZS_ARRAY_LEN(paths); i++) {
        char text[4096];
        snprintf(text, sizeof(text), "%s:", zs_path_base_name(paths[i]));
        put_if(text, word, length, put, user);
    }
    for (size_t i = 0; i < ZS_ARRAY_LEN(others); i++)
        put_if(others[i], word, length, put, user);
}

static void complete_variable(struct zs_shell *s, const char *word, size_t length, put_word *put,
                              void *user)
{
    static const char *const others[] = {"$lane",   "$thread", "$ip",   "$gid0", "$gid1",
                                         "$gid2",   "$lid0",   "$lid1", "$lid2", "$group0",
                                         "$group1", "$group2", "@lanes"};
    struct zs_shell_focus f = zs_shell_focus(s);
    struct zs_debug_value **values;
    uint32_t count;
    if (zs_debug_variables(s->debug, f.thread, f.lane, f.frame, &values, &count, NULL))
        count = 0;
    for (uint32_t i = 0; i < count; i++)
        put_if(values[i]->name, word, length, put, user);
    for (size_t i = 0; length && i < ZS_ARRAY_LEN(others); i++)
        put_if(others[i], word, length, put, user);
}

/* Where the expression begins whose member is named at `end`: "a[i]." and "p->q.". */
static size_t expression_begin(const char *line, size_t first, size_t end)
{
    size_t at = end;
    while (at > first) {
        char c = line[at - 1];
        uint32_t open = 0;
        if (isalnum((unsigned char)c) || strchr("_$.", c)) {
            at--;
        } else if (c == '>' && at - 1 > first && line[at - 2] == '-') {
            at -= 2;
        } else if (c == ']' || c == ')') {
            do {
                c = line[--at];
                open += c == ']' || c == ')';
                open -= c == '[' || c == '(';
            } while (open && at > first);
        } else {
            break;
        }
    }
    return at;
}

/* Members of what stands in front of the "." or "->" that ends at `end`. */
static void complete_member(struct zs_shell *s, const char *line, size_t first, size_t end,
                            const char *word, size_t length, put_word *put, void *user)
{
    static const char *const elements[] = {"x", "y", "z", "w", "lo", "hi", "even", "odd"};
    struct zs_shell_focus f = zs_shell_focus(s);
    struct zs_debug_value *v, *members[MEMBERS_MAX];
    bool arrow = line[end - 1] == '>';
    size_t behind = end - (arrow ? 2 : 1), begin = expression_begin(line, first, behind);
    char *expression = strndup(line + begin, behind - begin);
    int count = 0;
    if (expression && *expression &&
        !zs_debug_evaluate(s->debug, f.thread, f.lane, f.frame, expression, &v, NULL) &&
        v->child_count) {
        if (arrow && (zs_debug_children(s->debug, v, 0, members, 1, NULL) != 1 ||
                      members[0]->name[0] == '['))
            v = NULL;
        else if (arrow)
            v = members[0];
        if (v && v->child_count && !strchr(v->type, '*'))
            count = zs_debug_children(s->debug, v, 0, members, MEMBERS_MAX, NULL);
        bool is_vector = count > 0 && members[0]->name[0] == '[' && !strchr(v->type, '[');
        for (int i = 0; i < count && members[i]->name[0] != '['; i++)
            put_if(members[i]->name, word, length, put, user);
        for (int i = 0; is_vector && i < (int)ZS_ARRAY_LEN(elements); i++)
            if (i >= 4 || i < count)
                put_if(elements[i], word, length, put, user);
    }
    free(expression);
}

static void complete_list(const char *const *names, const char *word, size_t length, put_word *put,
                          void *user)
{
    for (; *names; names++)
        put_if(*names, word, length, put, user);
}

static bool takes_location(const struct command *c)
{
    return c->run == zs_shell_do_break || c->run == zs_shell_do_tbreak ||
           c->run == zs_shell_do_dprintf || c->run == zs_shell_do_advance ||
           c->run == zs_shell_do_until || c->run == zs_shell_do_list || c->run == zs_shell_do_jump;
}

static bool takes_expression(const struct command *c)
{
    static void (*const takers[])(struct zs_shell *, const char *) = {
        zs_shell_do_print,   zs_shell_do_whatis,   zs_shell_do_ptype, zs_shell_do_set,
        zs_shell_do_display, zs_shell_do_examine,  zs_shell_do_watch, zs_shell_do_rwatch,
        zs_shell_do_awatch,  zs_shell_do_who_wrote};
    for (size_t i = 0; i < ZS_ARRAY_LEN(takers); i++)
        if (takers[i] == c->run)
            return true;
    return false;
}

static void complete_argument(struct zs_shell *s, const struct command *c, const char *word,
                              size_t length, put_word *put, void *user)
{
    static const char *const focuses[] = {"thread", "lane", "group", "item", NULL};
    static const char *const gotos[] = {"launch", "step", NULL};
    static const char *const layouts[] = {"src", "asm", "split", "regs", "next", NULL};
    const char *topic;
    if (takes_location(c))
        complete_location(s, word, length, put, user);
    else if (takes_expression(c))
        complete_variable(s, word, length, put, user);
    else if (c->run == zs_shell_do_info)
        for (size_t i = 0; (topic = zs_shell_info_topic(i)); i++)
            put_if(topic, word, length, put, user);
    else if (c->run == zs_shell_do_focus)
        complete_list(focuses, word, length, put, user);
    else if (c->run == zs_shell_do_goto)
        complete_list(gotos, word, length, put, user);
    else if (c->run == zs_shell_do_layout)
        complete_list(layouts, word, length, put, user);
}

void zs_shell_complete(struct zs_shell *s, const char *line, size_t length, size_t *ret_begin,
                       put_word *put, void *user)
{
    size_t begin = length, first = strspn(line, " \t");
    bool is_first = first >= length || !memchr(line + first, ' ', length - first);
    while (begin > first && (isalnum((unsigned char)line[begin - 1]) ||
                             strchr(is_first ? "-_" : "_$@", line[begin - 1])))
        begin--;
    *ret_begin = begin;
    size_t before = first + (is_first ? 0 : command_length(line + first));
    bool of_member = begin > before &&
                     (line[begin - 1] == '.' ||
                      (begin - 1 > before && line[begin - 1] == '>' && line[begin - 2] == '-'));
    if (of_member && (s->editor || !is_first)) {
        complete_member(s, line, before, begin, line + begin, length - begin, put, user);
        return;
    }
    size_t name_length = is_first ? 0 : command_length(line + first);
    const struct command *c =
        is_first ? NULL : find_command(line + first, ZS_MIN(name_length, length - first), NULL);
    if (c && c->run != zs_shell_do_help) {
        complete_argument(s, c, line + begin, length - begin, put, user);
        return;
    }
    if (s->editor && !c) /* an expression, too */
        complete_variable(s, line + begin, length - begin, put, user);
    for (size_t i = 0; (is_first || c) && i < ZS_ARRAY_LEN(commands); i++)
        if (commands[i].run && (!s->editor || !(commands[i].flags & TERMINAL)))
            put_if(commands[i].name, line + begin, length - begin, put, user);
}

void zs_shell_fini(struct zs_shell *s)
{
    for (uint32_t i = 0; i < s->display_count; i++)
        free(s->displays[i].expression);
    zs_shell_free_lists(s);
    free(s->last);
    free(s->list_file);
    zs_buf_fini(&s->out);
}
