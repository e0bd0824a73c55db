/* SPDX-License-Identifier: MIT */
/*
 * step_lines FILE KERNEL LANE APP ARGS...: the first thread of the kernel that stops is stepped by
 * instructions to its end, where that lane goes. Where another line begins, a line of JSON in the
 * file has the place and each lane's variables as bytes.
 */
#include <zescope/debug.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct zs_diag diag;
static FILE *out;

static int fail(const char *what)
{
    fprintf(stderr, "step_lines: %s: %s\n", what, diag.text);
    return 1;
}

static void put_variables(struct zs_debugger *d, uint32_t thread, uint32_t lane)
{
    struct zs_debug_value **values;
    uint32_t count = 0;
    if (zs_debug_variables(d, thread, lane, 0, &values, &count, &diag))
        count = 0;
    for (uint32_t i = count; i-- > 0;) { /* of two of one name the inner one is the last */
        const struct zs_debug_value *v = values[i];
        fprintf(out, "%s\"%s\": ", i + 1 == count ? "" : ", ", v->name);
        if (v->available) {
            fputc('"', out);
            for (uint64_t b = 0; b < v->size_B; b++)
                fprintf(out, "%02x", v->bytes[b]);
            fputc('"', out);
        } else {
            fprintf(out, "[\"%s\"]", v->text);
        }
    }
}

/* The local ids in x of a thread that has executed nothing, from its payload. */
static void put_items(struct zs_debugger *d, const struct zs_debug_thread *t)
{
    struct zs_debug_value *wide;
    uint32_t words = zs_debug_evaluate(d, t->id, 0, 0, "$r1.31:uw", &wide, &diag) ? 16 : 32;
    fprintf(out, "{\"items\": {");
    for (uint32_t lane = 0, first = 1; lane < 32; lane++) {
        char text[64];
        struct zs_debug_value *value;
        snprintf(text, sizeof(text), "$r%u.%u:uw", 1 + lane / words, lane % words);
        if (!(t->lanes >> lane & 1) || zs_debug_evaluate(d, t->id, lane, 0, text, &value, &diag))
            continue;
        fprintf(out, "%s\"%u\": %s", first ? "" : ", ", lane, value->text);
        first = 0;
    }
    fprintf(out, "}}\n");
}

/* A register is moved to itself, or waited for: compilers put it in front of such a place. */
static bool does_nothing(const char *text)
{
    char to[16], from[16];
    const char *mov = strstr(text, "mov (");
    return strstr(text, "sync.") || strstr(text, "nop") ||
           (mov && sscanf(mov, "mov (%*[^)]) %15[r0-9.]<%*[^ ] %15[r0-9.]", to, from) == 2 &&
            strcmp(to, from) == 0);
}

/* Lanes come together here, or part: the line is that of the statement that they come from. */
static bool is_join(struct zs_debugger *d, uint64_t va)
{
    static const char *const ops[] = {"endif", "else", "while", "join", "cont", "break"};
    struct zs_debug_inst insts[8];
    int count = zs_debug_disassemble(d, va, 0, insts, 8, &diag), first = 0;
    while (first < count && does_nothing(insts[first].text))
        first++;
    for (size_t i = 0; first < count && i < sizeof(ops) / sizeof(*ops); i++)
        if (strstr(insts[first].text, ops[i]))
            return true;
    return false;
}

/* The place of the stop before. */
struct place {
    uint32_t line, offset_B, running;
    char function[64];
};

static void put_stop(struct zs_debugger *d, const struct zs_debug_event *event,
                     struct place *before)
{
    const struct zs_debug_thread *t = zs_debug_thread(d, event->thread);
    struct zs_debug_frame frame = {0};
    struct place here = {.offset_B = t->offset_B, .running = t->running};
    (void)zs_debug_frames(d, event->thread, &frame, 1, &diag);
    here.line = frame.line;
    snprintf(here.function, sizeof(here.function), "%s", frame.function ? frame.function : "");
    bool same = here.line == before->line && strcmp(here.function, before->function) == 0 &&
                here.offset_B > before->offset_B && here.running == before->running;
    *before = here;
    if (same || !here.line)
        return;
    fprintf(out, "{\"line\": %u, \"offset\": %u, \"join\": %u, \"lanes\": {", frame.line,
            t->offset_B, is_join(d, t->gpu_va));
    for (uint32_t lane = 0, first = 1; lane < 32; lane++) {
        if (!(t->lanes >> lane & 1))
            continue;
        fprintf(out, "%s\"%u\": {\"running\": %u, \"values\": {", first ? "" : ", ", lane,
                t->running >> lane & 1);
        put_variables(d, event->thread, lane);
        fprintf(out, "}}");
        first = 0;
    }
    fprintf(out, "}}\n");
}

/* Until it has ended, or after so many steps. */
static int step_on(struct zs_debugger *d, uint32_t lane)
{
    struct place before = {0};
    struct zs_debug_event event = {0};
    uint32_t mine = 0;
    for (;;) {
        if (zs_debug_wait(d, UINT32_MAX, &event, &diag))
            return fail("wait");
        if (event.kind == ZS_DEBUG_EVENT_EXITED)
            return event.status;
        if (event.kind != ZS_DEBUG_EVENT_STOPPED)
            continue;
        bool goes_on = event.reason != ZS_DEBUG_REASON_ENDED && (!mine || event.thread == mine);
        if (!mine) {
            mine = event.thread;
            put_items(d, zs_debug_thread(d, mine));
            if (zs_debug_break_delete(d, 1, &diag) || zs_debug_set_focus(d, mine, lane, 0, &diag))
                return fail("lane");
        } else if (goes_on) {
            put_stop(d, &event, &before);
        }
        zs_debug_forget(d);
        if (goes_on ? zs_debug_step(d, ZS_DEBUG_STEP_INST, &diag) : zs_debug_continue(d, &diag))
            return fail("step");
    }
}

int main(int argc, char **argv)
{
    struct zs_debugger *d;
    uint32_t id;
    char place[128];
    if (argc < 5)
        return 2;
    const struct zs_debug_options options = {.size_B = sizeof(options),
                                             .driver = getenv("ZESCOPE_DRIVER")};
    snprintf(place, sizeof(place), "*%s", argv[2]);
    const struct zs_debug_breakpoint_options where = {.size_B = sizeof(where), .location = place};
    out = fopen(argv[1], "we");
    if (!out)
        return 2;
    if (zs_debug_open(&options, &d, &diag))
        return fail("open");
    int status = 1;
    if (zs_debug_break_add(d, &where, &id, &diag))
        fail("break");
    else if (zs_debug_launch(d, argv + 4, &diag))
        fail("launch");
    else
        status = step_on(d, (uint32_t)atoi(argv[3]));
    zs_debug_close(d);
    return fclose(out) ? 1 : status;
}
