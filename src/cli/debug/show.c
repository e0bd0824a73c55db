/* SPDX-License-Identifier: MIT */
/* zescope debug: what people see. Names, sources and values are cleaned as they are written. */
#include "cli/debug/pager.h"
#include "cli/debug/shell.h"

#include "base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REGISTERS_MAX = 512, BYTES_IN_ROW = 32 };

void zs_shell_show_line(struct zs_shell *shell, const char *file, uint32_t line, bool current)
{
    const struct zs_source *source = zs_debug_source(shell->debug, file);
    struct zs_span text = {0};
    if (source && source->found)
        text = zs_source_line(source, line);
    if (!source || !source->found) {
        zs_shell_say(shell, "%u\t(%s)\n", line,
                     source && source->note ? source->note : "no source");
        return;
    }
    zs_shell_say(shell, "%s%u\t", current ? zs_shell_tone(shell, TONE_STRONG) : "", line);
    for (size_t i = 0; i < text.size_B; i++) /* tabs stay readable */
        if (text.data[i] == '\t')
            zs_buf_puts(&shell->out, "    ");
        else
            zs_buf_putc(&shell->out, (char)text.data[i]);
    zs_shell_say(shell, "%s\n", current ? zs_shell_tone(shell, TONE_END) : "");
}

void zs_shell_show_frame(struct zs_shell *shell, uint32_t number,
                         const struct zs_debug_frame *frame, const char *args)
{
    zs_shell_say(shell, "#%-2u %#" PRIx64 " in %s", number, frame->gpu_va,
                 zs_shell_tone(shell, TONE_NAME));
    zs_text_puts(&shell->out, frame->function[0] ? frame->function : "??");
    zs_shell_say(shell, "%s%s", zs_shell_tone(shell, TONE_END), frame->inlined ? " (inlined)" : "");
    if (args) {
        zs_buf_puts(&shell->out, " (");
        zs_text_puts(&shell->out, args);
        zs_buf_putc(&shell->out, ')');
    }
    if (frame->file) {
        zs_shell_say(shell, " at %s", zs_shell_tone(shell, TONE_PLACE));
        zs_text_puts(&shell->out, frame->file);
        zs_shell_say(shell, ":%u%s", frame->line, zs_shell_tone(shell, TONE_END));
    }
    zs_buf_putc(&shell->out, '\n');
}

void zs_shell_say_thread(struct zs_shell *shell, const struct zs_debug_thread *t)
{
    zs_shell_say(shell, "thread %u", t->id);
    if (t->group_known)
        zs_shell_say(shell, ", group %u,%u,%u", t->group[0], t->group[1], t->group[2]);
}

bool zs_shell_set_list(struct zs_shell *s, const char *file, uint64_t line)
{
    char *own = strdup(file);
    if (!own)
        return false;
    free(s->list_file);
    s->list_file = own;
    s->list_line = line > ZS_SHELL_LIST_LINES / 2
                       ? (uint32_t)ZS_MIN(line, (uint64_t)INT32_MAX) - ZS_SHELL_LIST_LINES / 2
                       : 1;
    return true;
}

void zs_shell_show_where(struct zs_shell *shell)
{
    struct zs_debug_frame frames[ZS_DEBUG_FRAMES_MAX];
    uint32_t thread, lane, frame;
    zs_debug_focus(shell->debug, &thread, &lane, &frame);
    int count = zs_debug_frames(shell->debug, thread, frames, ZS_DEBUG_FRAMES_MAX, NULL);
    if (count <= 0 || frame >= (uint32_t)count)
        return;
    zs_shell_show_frame(shell, frame, &frames[frame], NULL);
    if (!frames[frame].file)
        return;
    zs_shell_show_line(shell, frames[frame].file, frames[frame].line, true);
    (void)zs_shell_set_list(shell, frames[frame].file, frames[frame].line);
}

void zs_shell_show_lanes_table(struct zs_shell *shell, const char *expression,
                               const struct zs_shell_format *format)
{
    uint32_t thread, focus, frame;
    struct zs_debug_lane lanes[32];
    struct zs_diag diag = {.offset_B = ZS_DIAG_NO_OFFSET};
    zs_debug_focus(shell->debug, &thread, &focus, &frame);
    int count = zs_debug_lanes(shell->debug, thread, lanes, &diag);
    zs_shell_ok(shell, count, &diag);
    for (int i = 0; i < count; i++) {
        struct zs_debug_value *value;
        struct zs_diag why = {.offset_B = ZS_DIAG_NO_OFFSET};
        int error =
            zs_debug_evaluate(shell->debug, thread, lanes[i].lane, frame, expression, &value, &why);
        zs_shell_say(shell, "%c%2u%s  ", lanes[i].lane == focus ? '*' : ' ', lanes[i].lane,
                     lanes[i].running ? "" : " waits");
        if (error)
            zs_text_puts(&shell->out, why.text);
        else
            zs_shell_put_value(shell, value, format);
        zs_buf_putc(&shell->out, '\n');
    }
}

void zs_shell_show_threads(struct zs_shell *shell)
{
    const struct zs_debug_thread *threads;
    uint32_t focus;
    size_t count = zs_debug_threads(shell->debug, &threads);
    zs_debug_focus(shell->debug, &focus, NULL, NULL);
    if (!count)
        zs_shell_say(shell, "No kernel runs.\n");
    for (size_t i = 0; i < count; i++) {
        const struct zs_debug_thread *t = &threads[i];
        struct zs_debug_frame frame = {0};
        zs_shell_say(shell, "%c ", t->id == focus ? '*' : ' ');
        zs_shell_say_thread(shell, t);
        zs_shell_say(shell, " (slice %u subslice %u EU %u thread %u), lanes %#x of %#x, ", t->slice,
                     t->subslice, t->eu, t->thread, t->running, t->lanes);
        zs_text_puts(&shell->out, t->kernel ? t->kernel : "??");
        if (zs_debug_frames(shell->debug, t->id, &frame, 1, NULL) > 0 && frame.file)
            zs_shell_say(shell, ":%u", frame.line);
        zs_shell_say(shell, "\n");
    }
}

void zs_shell_show_lanes(struct zs_shell *shell)
{
    uint32_t thread, focus;
    struct zs_debug_lane lanes[32];
    struct zs_diag diag = {.offset_B = ZS_DIAG_NO_OFFSET};
    zs_debug_focus(shell->debug, &thread, &focus, NULL);
    int count = zs_debug_lanes(shell->debug, thread, lanes, &diag);
    zs_shell_ok(shell, count, &diag);
    for (int i = 0; i < count; i++) {
        const struct zs_debug_lane *l = &lanes[i];
        zs_shell_say(shell, "%c lane %2u  %s", l->lane == focus ? '*' : ' ', l->lane,
                     l->running ? "goes on from here" : "waits elsewhere");
        if (l->item_known)
            zs_shell_say(shell, "  item %u,%u,%u  global %u,%u,%u", l->local_id[0], l->local_id[1],
                         l->local_id[2], l->global_id[0], l->global_id[1], l->global_id[2]);
        zs_buf_putc(&shell->out, '\n');
    }
}

void zs_shell_show_breakpoints(struct zs_shell *shell, bool watchpoints_alone)
{
    const struct zs_debug_breakpoint *b;
    bool any = false;
    for (size_t i = 0; (b = zs_debug_break_get(shell->debug, i)); i++) {
        if (watchpoints_alone && !b->watch)
            continue;
        any = true;
        zs_shell_say(shell, "%-3u %s%s ", b->id, b->enabled ? "on " : "off",
                     b->temporary ? " once" : "");
        zs_text_puts(&shell->out, b->location);
        if (b->watch)
            zs_shell_say(shell, ", %" PRIu64 " bytes at %#" PRIx64, b->size_B, b->gpu_va);
        else
            zs_shell_say(shell, b->place_count ? ", %u place%s" : ", pending", b->place_count,
                         b->place_count == 1 ? "" : "s");
        zs_shell_say(shell, ", hit %" PRIu64 " time%s\n", b->hits, b->hits == 1 ? "" : "s");
        if (b->condition)
            zs_shell_say(shell, "      if %s\n", b->condition);
        if (b->log)
            zs_shell_say(shell, "      log %s\n", b->log);
        if (b->ignore_count)
            zs_shell_say(shell, "      the next %" PRIu64 " hits are passed over\n",
                         b->ignore_count);
        if (zs_shell_list_lines(shell, b->id))
            zs_buf_puts(&shell->out, "        end\n");
        for (uint32_t p = 0; p < b->place_count; p++) {
            const struct zs_debug_place *place = &b->places[p];
            zs_shell_say(shell, "      %#" PRIx64 " in ", place->gpu_va);
            zs_text_puts(&shell->out, place->kernel ? place->kernel : "??");
            if (place->file)
                zs_shell_say(shell, ", line %u", place->line);
            zs_buf_putc(&shell->out, '\n');
        }
    }
    if (!any)
        zs_shell_say(shell, watchpoints_alone ? "No watchpoints.\n" : "No breakpoints.\n");
}

void zs_shell_show_registers(struct zs_shell *shell, const char *prefix)
{
    uint32_t thread;
    struct zs_diag diag = {.offset_B = ZS_DIAG_NO_OFFSET};
    struct zs_debug_register *all = calloc(REGISTERS_MAX, sizeof(*all));
    zs_debug_focus(shell->debug, &thread, NULL, NULL);
    int count = all ? zs_debug_registers(shell->debug, thread, all, REGISTERS_MAX, &diag) : -ENOMEM;
    bool found = !zs_shell_ok(shell, count, &diag) || !prefix[0];
    prefix += prefix[0] == '$';
    for (int i = 0; i < count && i < REGISTERS_MAX; i++) {
        if (prefix[0] && strcmp(prefix, all[i].name) != 0)
            continue;
        found = true;
        zs_shell_say(shell, "%-6s", all[i].name);
        for (uint32_t b = 0; b + 4 <= all[i].size_B && b < BYTES_IN_ROW * 2; b += 4) {
            uint32_t word;
            memcpy(&word, all[i].bytes + b, 4);
            zs_shell_say(shell, " %08x", word);
        }
        zs_buf_putc(&shell->out, '\n');
    }
    if (!found)
        zs_shell_error(shell, "no register %s: info registers shows them all", prefix);
    free(all);
}

uint64_t zs_shell_show_code(struct zs_shell *shell, uint64_t gpu_va, uint32_t before,
                            uint32_t count)
{
    struct zs_debug_inst *insts = calloc(count, sizeof(*insts));
    struct zs_diag diag = {.offset_B = ZS_DIAG_NO_OFFSET};
    int got =
        insts ? zs_debug_disassemble(shell->debug, gpu_va, before, insts, count, &diag) : -ENOMEM;
    const char *file = NULL;
    uint32_t line = 0;
    zs_shell_ok(shell, got, &diag);
    for (int i = 0; i < got; i++) {
        const struct zs_debug_inst *inst = &insts[i];
        if (inst->file && (inst->line != line || inst->file != file))
            zs_shell_show_line(shell, inst->file, inst->line, false);
        file = inst->file;
        line = inst->line;
        zs_shell_say(shell, "%s %#" PRIx64 " <+%#x>  ", inst->gpu_va == gpu_va ? "=>" : "  ",
                     inst->gpu_va, inst->offset_B);
        zs_text_puts(&shell->out, inst->text);
        zs_buf_putc(&shell->out, '\n');
    }
    uint64_t end = got > 0 ? insts[got - 1].gpu_va + insts[got - 1].size_B : gpu_va;
    free(insts);
    return end;
}
