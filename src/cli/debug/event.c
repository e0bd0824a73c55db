/* SPDX-License-Identifier: MIT */
/* zescope debug: what people see when something happens. */
#include "cli/debug/shell.h"

#include "base/text.h"

static void show_stop(struct zs_shell *shell, const struct zs_debug_event *e)
{
    const struct zs_debug_thread *t = zs_debug_thread(shell->debug, e->thread);
    static const char *const words[] = {"",
                                        "Breakpoint",
                                        "",
                                        "Interrupted",
                                        "Fault",
                                        "Watchpoint",
                                        "Loaded",
                                        "Ended",
                                        "Beginning of the launch",
                                        "Launch"};
    if (e->reason == ZS_DEBUG_REASON_INTERRUPT && !t) {
        zs_shell_say(shell, "Interrupted: no kernel runs\n");
        return;
    }
    if (e->reason == ZS_DEBUG_REASON_ENDED) {
        zs_shell_say(shell, "The thread has ended.\n");
        return;
    }
    if (e->reason != ZS_DEBUG_REASON_STEP) {
        zs_shell_say(shell, "\n%s%s", zs_shell_tone(shell, TONE_STRONG),
                     words[e->reason < ZS_ARRAY_LEN(words) ? e->reason : 0]);
        if (e->breakpoint)
            zs_shell_say(shell, " %u", e->breakpoint);
        zs_shell_say(shell, "%s, ", zs_shell_tone(shell, TONE_END));
        if (t)
            zs_shell_say_thread(shell, t);
        zs_shell_say(shell, ", lane %u", e->lane);
        if (t && t->running != t->lanes)
            zs_shell_say(shell, " (%d of %d lanes)", __builtin_popcount(t->running),
                         __builtin_popcount(t->lanes));
        if (e->text[0]) {
            zs_buf_puts(&shell->out, ": ");
            zs_text_puts(&shell->out, e->text);
        }
        zs_buf_putc(&shell->out, '\n');
    }
    zs_shell_show_where(shell);
    zs_shell_show_displays(shell);
}

static bool is_resolved(const struct zs_shell *shell, uint32_t id)
{
    for (uint32_t i = 0; i < shell->resolved_count; i++)
        if (shell->resolved[i] == id)
            return true;
    return false;
}

/* Breakpoints that were pending until this code was loaded. */
static void show_resolved(struct zs_shell *shell)
{
    const struct zs_debug_breakpoint *b;
    for (size_t i = 0; (b = zs_debug_break_get(shell->debug, i)); i++) {
        if (!b->place_count || is_resolved(shell, b->id) ||
            shell->resolved_count == ZS_SHELL_RESOLVED_MAX)
            continue;
        shell->resolved[shell->resolved_count++] = b->id;
        if (shell->common->quiet || !shell->interactive || !b->places[0].line)
            continue;
        zs_shell_say(shell, "[Breakpoint %u is at line %u", b->id, b->places[0].line);
        if (b->places[0].file) {
            zs_buf_puts(&shell->out, " of ");
            zs_text_puts(&shell->out, b->places[0].file);
        }
        if (b->place_count > 1)
            zs_shell_say(shell, ", and %u more place%s", b->place_count - 1,
                         zs_plural(b->place_count - 1));
        zs_buf_puts(&shell->out, "]\n");
    }
}

/* Flags of the module alone do not help where its SPIR-V names no lines. */
static const char how_to_build[] =
    "[Code without debug info was loaded. It has lines and variables when it is built with -g, "
    "SPIR-V "
    "as well as the module made of it:\n"
    " ocloc compile -file K.cl -device skl -options \"-g -cl-opt-disable\"; the same flags in "
    "ze_module_desc_t.pBuildFlags, clBuildProgram or icpx -g]\n";

static void note_lines(struct zs_shell *shell, const struct zs_debug_event *e)
{
    const struct zs_debug_module *m;
    for (size_t i = 0; (m = zs_debug_modules(shell->debug, i)); i++)
        shell->lacks_lines |= m->id == e->module && !m->has_lines;
}

static void show_module(struct zs_shell *shell, const struct zs_debug_event *e)
{
    const struct zs_debug_module *m;
    bool shown = !shell->common->quiet && shell->interactive;
    for (size_t i = 0; shown && (m = zs_debug_modules(shell->debug, i)); i++) {
        if (m->id != e->module)
            continue;
        for (uint32_t k = 0; k < m->kernel_count; k++) {
            zs_buf_puts(&shell->out, "[Loaded ");
            zs_text_puts(&shell->out, m->kernels[k]);
            zs_shell_say(shell, "%s]\n", m->has_lines ? "" : ", which has no debug info");
        }
    }
    note_lines(shell, e);
    show_resolved(shell);
}

/* Those that never were anywhere: a name that is not there, code that was not built with -g. */
static void show_pending(struct zs_shell *shell)
{
    const struct zs_debug_breakpoint *b;
    bool any = false;
    for (size_t i = 0; (b = zs_debug_break_get(shell->debug, i)); i++)
        if (!b->watch && !is_resolved(shell, b->id)) {
            zs_shell_say(shell, "[Breakpoint %u was not reached: no code that was loaded has ",
                         b->id);
            zs_text_puts(&shell->out, b->location);
            zs_buf_puts(&shell->out, "]\n");
            any = true;
        }
    if (any && shell->lacks_lines)
        zs_buf_puts(&shell->out, how_to_build);
    shell->lacks_lines = false;
    shell->resolved_count = 0;
}

void zs_shell_show_event(struct zs_shell *shell, const struct zs_debug_event *e)
{
    switch (e->kind) {
    case ZS_DEBUG_EVENT_STOPPED:
        shell->stopped_by = e->breakpoint;
        if (!zs_shell_is_silent(shell, e->breakpoint))
            show_stop(shell, e);
        break;
    case ZS_DEBUG_EVENT_MODULE_LOADED:
        show_module(shell, e);
        break;
    case ZS_DEBUG_EVENT_LOG:
        zs_text_puts(&shell->out, e->text);
        zs_buf_putc(&shell->out, '\n');
        break;
    case ZS_DEBUG_EVENT_EXITED:
        shell->exit_status = e->status;
        if (e->status < 0)
            zs_shell_say(shell, "[The process has ended]\n");
        else if (e->status > 128)
            zs_shell_say(shell, "[The application was ended by signal %d]\n", e->status - 128);
        else
            zs_shell_say(shell, "[The application ended with status %d]\n", e->status);
        show_pending(shell);
        break;
    case ZS_DEBUG_EVENT_LOST:
        zs_shell_error(shell, "%s", e->text);
        break;
    default:
        break;
    }
    zs_shell_flush(shell);
}
