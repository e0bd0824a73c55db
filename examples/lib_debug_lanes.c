/* SPDX-License-Identifier: MIT */
/*
 * What does a line of a kernel do to a variable, lane by lane, and who wrote it?
 *
 *     cc lib_debug_lanes.c $(pkg-config --cflags --libs zescope) -o debug_lanes
 *     ./debug_lanes /usr/lib/x86_64-linux-gnu/libze_zescope.so.1 nbody.cl:23 'tile[lane]' ./nbody
 * nbody.spv -g
 *
 * Stops at the line, shows the expression in all lanes before and after it, who wrote it last, and
 * goes back to where it was. Then the application runs on to its end. `-` as the driver: the
 * system's.
 */
#include <zescope/debug.h>

#include <stdio.h>
#include <string.h>

static struct zs_diag diag;

static int fail(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, diag.text);
    return 1;
}

/* Events up to the next stop: 0; 1: the application has ended, with *ret_status. */
static int wait_for_stop(struct zs_debugger *debug, struct zs_debug_event *ret_event,
                         int *ret_status)
{
    do {
        int error = zs_debug_wait(debug, UINT32_MAX, ret_event, &diag);
        if (error)
            return error;
        if (ret_event->kind == ZS_DEBUG_EVENT_EXITED || ret_event->kind == ZS_DEBUG_EVENT_LOST) {
            *ret_status = ret_event->status;
            return 1;
        }
    } while (ret_event->kind != ZS_DEBUG_EVENT_STOPPED);
    return 0;
}

static void print_place(struct zs_debugger *debug, uint32_t thread)
{
    struct zs_debug_frame frame;
    if (zs_debug_frames(debug, thread, &frame, 1, &diag) > 0)
        printf("%s, line %u\n", frame.function, frame.line);
}

static void print_lanes(struct zs_debugger *debug, uint32_t thread, const char *expression)
{
    struct zs_debug_lane lanes[32];
    struct zs_debug_value *values[32];
    int count = zs_debug_lanes(debug, thread, lanes, &diag);
    if (count > 0)
        count = zs_debug_evaluate_lanes(debug, thread, 0, expression, values, &diag);
    for (int i = 0; i < count; i++)
        printf("  item %u,%u,%u: %s\n", lanes[i].global_id[0], lanes[i].global_id[1],
               lanes[i].global_id[2], values[i]->text);
}

/* From a stop at the line over it and back again. */
static int look(struct zs_debugger *debug, const struct zs_debug_event *stop,
                const char *expression, int *ret_status)
{
    struct zs_debug_event event;
    struct zs_debug_writer writer;
    print_place(debug, stop->thread);
    print_lanes(debug, stop->thread, expression);
    int error = zs_debug_step(debug, ZS_DEBUG_STEP_NEXT, &diag);
    error = error ? error : wait_for_stop(debug, &event, ret_status);
    if (error)
        return error;
    print_place(debug, event.thread);
    print_lanes(debug, event.thread, expression);
    /* -ENOENT: nobody has; -EINVAL: it is not in memory; -ENOTSUP: another driver */
    error = zs_debug_who_wrote(debug, event.thread, event.lane, 0, expression, &writer, &diag);
    printf("%s\n", error ? diag.text : writer.text);
    error = zs_debug_reverse_step(debug, ZS_DEBUG_STEP_NEXT, &diag);
    error = error ? error : wait_for_stop(debug, &event, ret_status);
    if (!error)
        print_place(debug, event.thread);
    return error;
}

int main(int argc, char **argv)
{
    struct zs_debug_options options = {.size_B = sizeof(options)};
    struct zs_debug_breakpoint_options where = {.size_B = sizeof(where), .temporary = true};
    struct zs_debug_event event;
    struct zs_debugger *debug;
    uint32_t id;
    int status = 0;
    if (argc < 5)
        return 2;
    options.driver = strcmp(argv[1], "-") ? argv[1] : NULL;
    where.location = argv[2];
    if (zs_debug_open(&options, &debug, &diag))
        return fail("no debugger");
    int error = zs_debug_break_add(debug, &where, &id, &diag);
    error = error ? error : zs_debug_launch(debug, argv + 4, &diag);
    error = error ? error : wait_for_stop(debug, &event, &status);
    error = error ? error : look(debug, &event, argv[3], &status);
    while (!error && !(error = zs_debug_continue(debug, &diag)))
        error = wait_for_stop(debug, &event, &status);
    zs_debug_close(debug);
    return error < 0 ? fail(argv[4]) : status;
}
