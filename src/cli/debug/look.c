/* SPDX-License-Identifier: MIT */
/* zescope debug: threads, lanes, frames, source text and code. */
#include "cli/debug/shell.h"

#include "base/path.h"
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    CODE_BEFORE = 4,
    CODE_LINES = 12,
    FUNCTIONS_MAX = 1024,
    SOURCES_MAX = 256,
    ARG_MAX = 100,
    LINE_PLACES = 64,
    LINE_INSTS = 512
};

/* ---- focus ---- */

static void set_focus(struct zs_shell *s, struct zs_shell_focus f)
{
    struct zs_diag diag = NEW_DIAG;
    struct zs_shell_focus before = zs_shell_focus(s);
    if (!zs_shell_ok(s, zs_debug_set_focus(s->debug, f.thread, f.lane, f.frame, &diag), &diag))
        return;
    const struct zs_debug_thread *t = zs_debug_thread(s->debug, f.thread);
    if (t && (f.thread != before.thread || f.lane != before.lane)) {
        zs_shell_say(s, "[");
        zs_shell_say_thread(s, t);
        zs_shell_say(s, ", lane %u%s]\n", f.lane,
                     t->running >> f.lane & 1 ? "" : ", which waits elsewhere");
    }
    zs_shell_show_where(s);
}

/* A number that fits, as all of args. */
static bool take(struct zs_shell *s, const char *args, uint32_t otherwise, uint32_t *ret)
{
    uint64_t n;
    if (!zs_shell_number(s, args, otherwise, UINT32_MAX, &n))
        return false;
    *ret = (uint32_t)n;
    return true;
}

/* "a=1, b={1, 2}", of a frame. */
static void put_args(struct zs_shell *s, uint32_t frame, struct zs_buf *out)
{
    struct zs_shell_focus f = zs_shell_focus(s);
    struct zs_debug_value **values;
    uint32_t count;
    if (zs_debug_variables(s->debug, f.thread, f.lane, frame, &values, &count, NULL))
        return;
    for (uint32_t i = 0; i < count; i++) {
        if (!values[i]->parameter)
            continue;
        zs_buf_printf(out, "%s%s=", out->size_B ? ", " : "", values[i]->name);
        if (!values[i]->available)
            zs_buf_puts(out, "<not available>");
        else if (strlen(values[i]->text) <= ARG_MAX)
            zs_buf_puts(out, values[i]->text);
        else
            zs_buf_printf(out, "%.*s...", ARG_MAX, values[i]->text);
    }
}

void zs_shell_do_backtrace(struct zs_shell *s, const char *args)
{
    struct zs_debug_frame frames[ZS_DEBUG_FRAMES_MAX];
    struct zs_diag diag = NEW_DIAG;
    uint32_t most;
    if (!take(s, args, ZS_DEBUG_FRAMES_MAX, &most))
        return;
    int count =
        zs_debug_frames(s->debug, zs_shell_focus(s).thread, frames, ZS_DEBUG_FRAMES_MAX, &diag);
    if (zs_shell_ok(s, count, &diag))
        for (int i = 0; i < count && (uint32_t)i < most; i++) {
            struct zs_buf text = {0};
            put_args(s, (uint32_t)i, &text);
            zs_shell_show_frame(s, (uint32_t)i, &frames[i], zs_buf_cstr(&text));
            zs_buf_fini(&text);
        }
}

void zs_shell_do_frame(struct zs_shell *s, const char *args)
{
    struct zs_shell_focus f = zs_shell_focus(s);
    if (take(s, args, f.frame, &f.frame))
        set_focus(s, f);
}

void zs_shell_do_up(struct zs_shell *s, const char *args)
{
    struct zs_debug_frame frames[ZS_DEBUG_FRAMES_MAX];
    struct zs_shell_focus f = zs_shell_focus(s);
    struct zs_diag diag = NEW_DIAG;
    uint32_t n;
    int count = zs_debug_frames(s->debug, f.thread, frames, ZS_DEBUG_FRAMES_MAX, &diag);
    if (!take(s, args, 1, &n) || !zs_shell_ok(s, count, &diag))
        return;
    if (f.frame + 1 >= (uint32_t)count) {
        zs_shell_error(s, "frame %u is the outermost one", f.frame);
        return;
    }
    f.frame = (uint32_t)ZS_MIN((uint64_t)f.frame + n, (uint64_t)count - 1);
    set_focus(s, f);
}

void zs_shell_do_down(struct zs_shell *s, const char *args)
{
    struct zs_shell_focus f = zs_shell_focus(s);
    uint32_t n;
    if (!zs_shell_needs_stop(s) || !take(s, args, 1, &n))
        return;
    if (!f.frame) {
        zs_shell_error(s, "frame 0 is the innermost one");
        return;
    }
    f.frame -= ZS_MIN(f.frame, n);
    set_focus(s, f);
}

static void look_at_thread(struct zs_shell *s, uint32_t thread)
{
    struct zs_shell_focus f = zs_shell_focus(s);
    const struct zs_debug_thread *t = zs_debug_thread(s->debug, thread);
    f.thread = thread;
    f.frame = 0;
    if (t && !(t->running >> f.lane & 1))
        f.lane = t->running ? (uint32_t)__builtin_ctz(t->running) : 0;
    set_focus(s, f);
}

void zs_shell_do_thread(struct zs_shell *s, const char *args)
{
    uint32_t thread;
    if (zs_shell_needs_stop(s) && take(s, args, zs_shell_focus(s).thread, &thread))
        look_at_thread(s, thread);
}

void zs_shell_do_lane(struct zs_shell *s, const char *args)
{
    struct zs_shell_focus f = zs_shell_focus(s);
    if (zs_shell_needs_stop(s) && take(s, args, f.lane, &f.lane))
        set_focus(s, f);
}

/* "3,0,0" or "17"; what is not given is 0. NULL after a message. */
static const char *take_triple(struct zs_shell *s, const char *text, uint32_t ret[3])
{
    const char *begin = text;
    memset(ret, 0, 3 * sizeof(*ret));
    for (uint32_t i = 0; i < 3 && isdigit((unsigned char)*text); i++) {
        uint64_t n;
        if (!zs_shell_scan_number(s, &text, UINT32_MAX, &n))
            return NULL;
        ret[i] = (uint32_t)n;
        if (*text != ',') {
            while (isspace((unsigned char)*text))
                text++;
            return text;
        }
        text += i < 2;
    }
    zs_shell_error(s, "X, X,Y or X,Y,Z was expected, not '%s'", begin);
    return NULL;
}

static void look_at_group(struct zs_shell *s, const uint32_t group[3])
{
    const struct zs_debug_thread *threads;
    size_t count = zs_debug_threads(s->debug, &threads);
    for (size_t i = 0; i < count; i++)
        if (threads[i].group_known && !memcmp(threads[i].group, group, 3 * sizeof(*group))) {
            look_at_thread(s, threads[i].id);
            return;
        }
    zs_shell_error(s, "no stopped thread is known to be of group %u,%u,%u: info threads shows them",
                   group[0], group[1], group[2]);
}

static void look_at_item(struct zs_shell *s, const uint32_t group[3], const uint32_t item[3])
{
    struct zs_diag diag = NEW_DIAG;
    uint32_t thread, lane;
    int error = zs_debug_find_item(s->debug, group, item, &thread, &lane, &diag);
    if (error == -ENOENT)
        zs_shell_error(s, "%s; `break LOCATION if $group0 == %u && $lid0 == %u` stops there",
                       diag.text, group[0], item[0]);
    else if (zs_shell_ok(s, error, &diag))
        set_focus(s, (struct zs_shell_focus){thread, lane, 0});
}

/* focus thread N | lane N | group X,Y,Z [item X,Y,Z] */
void zs_shell_do_focus(struct zs_shell *s, const char *args)
{
    uint32_t group[3], item[3];
    if (!args[0]) {
        if (zs_shell_needs_stop(s))
            zs_shell_show_where(s);
    } else if (!strncmp(args, "thread ", 7)) {
        zs_shell_do_thread(s, args + 7);
    } else if (!strncmp(args, "lane ", 5)) {
        zs_shell_do_lane(s, args + 5);
    } else if (!strncmp(args, "group ", 6)) {
        const char *rest = take_triple(s, args + 6, group);
        if (!rest || !zs_shell_needs_stop(s))
            return;
        if (!*rest) {
            look_at_group(s, group);
        } else if (strncmp(rest, "item ", 5) != 0) {
            zs_shell_error(s, "'item X,Y,Z' was expected behind the group, not '%s'", rest);
        } else if ((rest = take_triple(s, rest + 5, item)) && *rest) {
            zs_shell_error(s, "nothing was expected behind the item, not '%s'", rest);
        } else if (rest) {
            look_at_item(s, group, item);
        }
    } else {
        zs_shell_error(s, "focus thread N, focus lane N, focus group X,Y,Z [item X,Y,Z]");
    }
}

void zs_shell_do_threads(struct zs_shell *s, const char *args)
{
    (void)args;
    if (zs_shell_needs_stop(s))
        zs_shell_show_threads(s);
}

void zs_shell_do_lanes(struct zs_shell *s, const char *args)
{
    (void)args;
    zs_shell_show_lanes(s);
}

/* ---- source text ---- */

/* The path that debug info has for a file, or ends in it; NULL: it names none. */
static const char *known_source(struct zs_shell *s, const char *file)
{
    const char *paths[SOURCES_MAX];
    int count = zs_debug_sources(s->debug, paths, SOURCES_MAX);
    for (int i = 0; i < count && i < SOURCES_MAX; i++)
        if (zs_path_ends_with(paths[i], file))
            return paths[i];
    return NULL;
}

/* A file that debug info names, or one that is found by its name. */
static bool list_file(struct zs_shell *s, const char *file, uint64_t line)
{
    const char *path = known_source(s, file);
    const struct zs_source *source = zs_debug_source(s->debug, path ? path : file);
    if (path || (source && source->found))
        return zs_shell_set_list(s, path ? path : file, line);
    zs_shell_error(s,
                   zs_debug_modules(s->debug, 0)
                       ? "no code that is loaded is of %s: info sources shows the files"
                       : "%s is not found, and no code is loaded yet that would name its folder",
                   file);
    return false;
}

static bool list_function(struct zs_shell *s, const char *name)
{
    struct zs_debug_function *functions = calloc(FUNCTIONS_MAX, sizeof(*functions));
    int count = functions ? zs_debug_functions(s->debug, functions, FUNCTIONS_MAX) : 0;
    bool found = false, done = false;
    for (int i = 0; i < count && i < FUNCTIONS_MAX && !found; i++) {
        found = !strcmp(functions[i].name, name) && functions[i].file;
        done = found && zs_shell_set_list(s, functions[i].file, functions[i].line);
    }
    free(functions);
    if (!found)
        zs_shell_error(s,
                       zs_debug_modules(s->debug, 0)
                           ? "no function %s is known: info functions shows them"
                           : "no code is loaded yet that would have a function %s",
                       name);
    return done;
}

/* Where nothing has stopped: the first function's file. */
static bool list_anything(struct zs_shell *s)
{
    struct zs_debug_function first;
    if (zs_debug_functions(s->debug, &first, 1) > 0 && first.file)
        return zs_shell_set_list(s, first.file, first.line);
    zs_shell_error(s, zs_debug_modules(s->debug, 0)
                          ? "the code that is loaded has no debug info: build it with -g"
                          : "no file is in focus, and no code is loaded yet: list FILE:LINE");
    return false;
}

/* What args say; *ret_count: lines. */
static bool choose_lines(struct zs_shell *s, const char *args, uint32_t *ret_count)
{
    const char *colon = strrchr(args, ':'), *at = colon ? colon + 1 : args;
    uint64_t line, last;
    if (!isdigit((unsigned char)*at)) {
        if (!colon)
            return list_function(s, args);
        zs_shell_error(s, "the number of a line was expected behind ':', not '%s'", at);
        return false;
    }
    const char *end = at;
    if (!zs_shell_scan_number(s, &end, INT32_MAX, &line))
        return false;
    if (colon) {
        char *file = strndup(args, (size_t)(colon - args));
        bool found = file && list_file(s, file, line);
        free(file);
        if (!found)
            return false;
    } else if ((!s->list_file && !list_anything(s)) || !zs_shell_set_list(s, s->list_file, line)) {
        return false;
    }
    if (*end == ',') {
        if (!zs_shell_number(s, end + 1, line + ZS_SHELL_LIST_LINES - 1, INT32_MAX, &last))
            return false;
        if (last < line) {
            zs_shell_error(s, "the last line, %" PRIu64 ", is in front of the first, %" PRIu64,
                           last, line);
            return false;
        }
        s->list_line = (uint32_t)ZS_MAX(line, 1u);
        *ret_count = (uint32_t)(last - line + 1);
    } else if (*end) {
        zs_shell_error(s, "a line's number was expected, not '%s'", at);
        return false;
    }
    return true;
}

/* [LINE | FIRST,LAST | FILE:LINE | FUNCTION | -] */
void zs_shell_do_list(struct zs_shell *s, const char *args)
{
    uint32_t lines = ZS_SHELL_LIST_LINES;
    if (!strcmp(args, "-")) /* in front of those that were shown */
        s->list_line =
            s->list_line > 2 * ZS_SHELL_LIST_LINES ? s->list_line - 2 * ZS_SHELL_LIST_LINES : 1;
    else if (args[0] && !choose_lines(s, args, &lines))
        return;
    if (!s->list_file && !list_anything(s))
        return;
    struct zs_debug_frame frame = {0};
    int count = zs_debug_frames(s->debug, zs_shell_focus(s).thread, &frame, 1, NULL);
    const struct zs_source *source = zs_debug_source(s->debug, s->list_file);
    if (!source || !source->found) {
        zs_shell_error(s, "%s", source && source->note ? source->note : "no source");
        return;
    }
    if (s->list_line > source->line_count) {
        zs_shell_error(s, "line %u is the last one of %s", source->line_count, s->list_file);
        return;
    }
    for (uint32_t i = 0; i < lines && s->list_line <= source->line_count; i++, s->list_line++)
        zs_shell_show_line(s, s->list_file, s->list_line,
                           count > 0 && frame.file && frame.line == s->list_line &&
                               !strcmp(frame.file, s->list_file));
}

/* ---- code ---- */

void zs_shell_do_disassemble(struct zs_shell *s, const char *args)
{
    const struct zs_debug_thread *t = zs_debug_thread(s->debug, zs_shell_focus(s).thread);
    struct zs_debug_value *v;
    uint64_t va = t ? t->gpu_va : 0;
    if (args[0] == '/') /* "/s", "/m": the source is there anyway */
        args += strcspn(args, " ");
    args += strspn(args, " ");
    if (!zs_shell_needs_stop(s))
        return;
    if (args[0]) {
        if (!zs_shell_evaluate(s, args, &v))
            return;
        if (!v->available || v->size_B > 8 || !v->bytes) {
            zs_shell_error(s, "'%s' is no address", args);
            return;
        }
        va = 0;
        memcpy(&va, v->bytes, v->size_B);
    } else if (!t) {
        zs_shell_error(s, "no kernel runs: disassemble ADDRESS, info modules shows addresses");
        return;
    }
    zs_shell_show_code(s, va, args[0] ? 0 : CODE_BEFORE, CODE_LINES);
}

/* ---- info ---- */

static void put_line(struct zs_shell *s, const char *name, const char *value)
{
    zs_text_puts(&s->out, name);
    zs_buf_puts(&s->out, " = ");
    zs_text_puts(&s->out, value);
    zs_buf_putc(&s->out, '\n');
}

static void show_variables(struct zs_shell *s, bool parameters)
{
    struct zs_shell_focus f = zs_shell_focus(s);
    struct zs_debug_value **values;
    struct zs_diag diag = NEW_DIAG;
    uint32_t count, shown = 0;
    if (!zs_shell_ok(
            s, zs_debug_variables(s->debug, f.thread, f.lane, f.frame, &values, &count, &diag),
            &diag))
        return;
    for (uint32_t i = 0; i < count; i++) {
        if (values[i]->parameter != parameters)
            continue;
        put_line(s, values[i]->name, values[i]->text);
        shown++;
    }
    if (!shown)
        zs_shell_say(s, "%s here.\n",
                     parameters ? "No arguments are known" : "No variables are known");
}

static void show_locals(struct zs_shell *s, const char *args)
{
    (void)args;
    show_variables(s, false);
}

static void show_args(struct zs_shell *s, const char *args)
{
    (void)args;
    show_variables(s, true);
}

static void show_modules(struct zs_shell *s, const char *args)
{
    const struct zs_debug_module *m;
    (void)args;
    for (size_t i = 0; (m = zs_debug_modules(s->debug, i)); i++)
        for (uint32_t k = 0; k < m->kernel_count; k++) {
            zs_shell_say(s, "%u  %#" PRIx64 "  ", m->id, m->load_va);
            zs_text_puts(&s->out, m->kernels[k]);
            zs_shell_say(s, "%s\n", m->has_lines ? "" : "  (no debug info)");
        }
    if (!zs_debug_modules(s->debug, 0))
        zs_shell_say(s, "No code is loaded.\n");
}

static void show_functions(struct zs_shell *s, const char *args)
{
    struct zs_debug_function *all = calloc(FUNCTIONS_MAX, sizeof(*all));
    int count = all ? zs_debug_functions(s->debug, all, FUNCTIONS_MAX) : 0;
    (void)args;
    for (int i = 0; i < count && i < FUNCTIONS_MAX; i++) {
        zs_text_puts(&s->out, all[i].name);
        if (strcmp(all[i].name, all[i].kernel) != 0) {
            zs_buf_puts(&s->out, " in ");
            zs_text_puts(&s->out, all[i].kernel);
        }
        if (all[i].file) {
            zs_buf_puts(&s->out, " at ");
            zs_text_puts(&s->out, all[i].file);
            zs_shell_say(s, ":%u", all[i].line);
        }
        zs_buf_putc(&s->out, '\n');
    }
    if (count > FUNCTIONS_MAX)
        zs_shell_say(s, "... %d more\n", count - FUNCTIONS_MAX);
    if (!count)
        zs_shell_say(s, "No code is loaded.\n");
    free(all);
}

static void show_sources(struct zs_shell *s, const char *args)
{
    const char *paths[SOURCES_MAX];
    int count = zs_debug_sources(s->debug, paths, SOURCES_MAX);
    (void)args;
    for (int i = 0; i < count && i < SOURCES_MAX; i++) {
        const struct zs_source *source = zs_debug_source(s->debug, paths[i]);
        zs_text_puts(&s->out, paths[i]);
        if (source && source->note) {
            zs_buf_puts(&s->out, "  (");
            zs_text_puts(&s->out, source->note);
            zs_buf_putc(&s->out, ')');
        }
        zs_buf_putc(&s->out, '\n');
    }
    if (!count)
        zs_shell_say(s, zs_debug_modules(s->debug, 0) ? "No debug info names sources.\n"
                                                      : "No code is loaded.\n");
}

static void show_frame(struct zs_shell *s, const char *args)
{
    const struct zs_debug_thread *t = zs_debug_thread(s->debug, zs_shell_focus(s).thread);
    (void)args;
    if (!zs_shell_needs_stop(s))
        return;
    if (!t) {
        zs_shell_say(s, "No kernel runs.\n");
        return;
    }
    zs_shell_say(s, "thread %u, lane %u of kernel ", t->id, zs_shell_focus(s).lane);
    zs_text_puts(&s->out, t->kernel ? t->kernel : "??");
    zs_shell_say(s, " at +%#x\n", t->offset_B);
    zs_shell_show_where(s);
}

/* "kernel+0x20", and the function there. */
static void put_symbol(struct zs_shell *s, const struct zs_debug_inst *inst)
{
    zs_text_puts(&s->out, inst->kernel);
    zs_shell_say(s, "+%#x", inst->offset_B);
}

/* info line [LOCATION]: where the code of a line is. */
static void show_line(struct zs_shell *s, const char *args)
{
    struct zs_debug_place places[LINE_PLACES];
    struct zs_diag diag = NEW_DIAG;
    char here[64];
    const struct zs_debug_thread *t = zs_debug_thread(s->debug, zs_shell_focus(s).thread);
    snprintf(here, sizeof(here), "*%#" PRIx64, t ? t->gpu_va : 0);
    if (!args[0] && !zs_shell_needs_stop(s))
        return;
    int count = zs_debug_places(s->debug, args[0] ? args : here, places, LINE_PLACES, &diag);
    struct zs_debug_inst *insts = calloc(LINE_INSTS, sizeof(*insts));
    if (!zs_shell_ok(s, insts ? count : -ENOMEM, &diag))
        count = 0;
    else if (!count)
        zs_shell_error(s, "no code that is loaded has %s", args);
    for (int i = 0; i < ZS_MIN(count, LINE_PLACES); i++) {
        int got = zs_debug_disassemble(s->debug, places[i].gpu_va, 0, insts, LINE_INSTS, NULL);
        int end = 0;
        while (end < got && insts[end].line == insts[0].line)
            end++;
        if (!end)
            continue;
        if (places[i].file) {
            zs_shell_say(s, "Line %u of ", places[i].line);
            zs_text_puts(&s->out, places[i].file);
        } else {
            zs_shell_say(s, "No line");
        }
        zs_shell_say(s, " is at %#" PRIx64 " <", insts[0].gpu_va);
        put_symbol(s, &insts[0]);
        zs_shell_say(s, "> to %#" PRIx64 " (%d instruction%s)\n",
                     insts[end - 1].gpu_va + insts[end - 1].size_B, end, end == 1 ? "" : "s");
    }
    free(insts);
}

/* info symbol ADDRESS: what is there. */
static void show_symbol(struct zs_shell *s, const char *args)
{
    struct zs_shell_focus f = zs_shell_focus(s);
    struct zs_debug_value *v, **all;
    struct zs_debug_inst inst;
    uint64_t va = 0;
    uint32_t count = 0;
    bool found = false;
    if (!args[0]) {
        zs_shell_error(s, "what is asked about is missing: info symbol ADDRESS");
        return;
    }
    if (!zs_shell_needs_stop(s) || !zs_shell_evaluate(s, args, &v))
        return;
    if (!v->available || !v->bytes || v->size_B > 8) {
        zs_shell_error(s, "'%s' is no address", args);
        return;
    }
    memcpy(&va, v->bytes, (size_t)v->size_B);
    if (zs_debug_disassemble(s->debug, va, 0, &inst, 1, NULL) == 1) {
        put_symbol(s, &inst);
        if (inst.file) {
            zs_buf_puts(&s->out, ", line ");
            zs_shell_say(s, "%u of ", inst.line);
            zs_text_puts(&s->out, inst.file);
        }
        zs_buf_putc(&s->out, '\n');
        return;
    }
    if (zs_debug_variables(s->debug, f.thread, f.lane, f.frame, &all, &count, NULL))
        count = 0;
    for (uint32_t i = 0; i < count && !found; i++)
        if (all[i]->in_memory && va - all[i]->gpu_va < all[i]->size_B) {
            found = true;
            zs_text_puts(&s->out, all[i]->name);
            if (va != all[i]->gpu_va)
                zs_shell_say(s, " + %" PRIu64 " bytes", va - all[i]->gpu_va);
            zs_shell_say(s, " of lane %u\n", f.lane);
        }
    if (!found)
        zs_shell_error(s, "neither code nor a variable of this frame is at %#" PRIx64, va);
}

static void show_record(struct zs_shell *s, const char *args)
{
    struct zs_debug_history h;
    struct zs_diag diag = NEW_DIAG;
    (void)args;
    if (!zs_shell_ok(s, zs_debug_history(s->debug, zs_shell_focus(s).thread, &h, &diag), &diag))
        return;
    zs_shell_say(s, "%" PRIu64 " launch%s begun\n", h.launches, h.launches == 1 ? "" : "es");
    if (h.recorded)
        zs_shell_say(s, "launch %" PRIu64 ": recorded, step %" PRIu64 "\n", h.launch, h.position);
    else if (h.launch)
        zs_shell_say(s, "launch %" PRIu64 ": no way back: %s\n", h.launch, h.lack);
}

static void show_breakpoints(struct zs_shell *s, const char *args)
{
    (void)args;
    zs_shell_show_breakpoints(s, false);
}

static void show_watchpoints(struct zs_shell *s, const char *args)
{
    (void)args;
    zs_shell_show_breakpoints(s, true);
}

static void show_displays(struct zs_shell *s, const char *args)
{
    (void)args;
    zs_shell_list_displays(s);
}

/* Of topics with the same beginning the first one is meant. */
static const struct {
    const char *name;
    void (*show)(struct zs_shell *s, const char *args);
    const char *help;
} topics[] = {
    {"breakpoints", show_breakpoints, "and watchpoints, with their places and hits"},
    {"threads", zs_shell_do_threads, "of the device that are stopped"},
    {"locals", show_locals, "variables of the frame in focus"},
    {"lanes", zs_shell_do_lanes, "of the thread in focus, with their work-items"},
    {"registers", zs_shell_show_registers, "[NAME] of the thread in focus"},
    {"record", show_record, "launches, and how far back the present one goes"},
    {"args", show_args, "arguments of the frame in focus"},
    {"modules", show_modules, "code that is loaded"},
    {"functions", show_functions, "of the code that is loaded"},
    {"frame", show_frame, "where the lane in focus is"},
    {"stack", zs_shell_do_backtrace, "the functions that are being executed"},
    {"sources", show_sources, "files of the code that is loaded"},
    {"line", show_line, "[LOCATION]: where the code of a line is"},
    {"symbol", show_symbol, "ADDRESS: which code or variable is there"},
    {"display", show_displays, "expressions that are shown at every stop"},
    {"watchpoints", show_watchpoints, "alone"},
};

const char *zs_shell_info_topic(size_t i)
{
    return i < ZS_ARRAY_LEN(topics) ? topics[i].name : NULL;
}

void zs_shell_do_info(struct zs_shell *s, const char *args)
{
    size_t n = strcspn(args, " ");
    const char *rest = args + n + strspn(args + n, " ");
    for (size_t i = 0; n && i < ZS_ARRAY_LEN(topics); i++)
        if (!strncmp(args, topics[i].name, n)) {
            topics[i].show(s, rest);
            return;
        }
    if (n) {
        zs_shell_error(s, "info does not know '%.*s': info alone shows what there is", (int)n,
                       args);
        return;
    }
    for (size_t i = 0; i < ZS_ARRAY_LEN(topics); i++)
        zs_shell_say(s, "info %-12s %s\n", topics[i].name, topics[i].help);
}
