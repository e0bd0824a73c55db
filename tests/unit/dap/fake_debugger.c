/* SPDX-License-Identifier: MIT */
#include "fake_debugger.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BREAKPOINTS_MAX = 64,
    CODE_VA = 0x4000,
    LINES = 20,
    MEMORY_VA = 0x10000,
    MEMORY_B = 8192,
    NO_PROCESS = 0x7ffffff0,
    STEPS_MAX = 1000
};

struct fake_breakpoint {
    struct zs_debug_breakpoint b;
    struct zs_debug_place place;
    char location[300], condition[300], log[300];
};

struct zs_debugger {
    struct zs_debug_options options;
    uint32_t pid, next_id, line, focus_thread, focus_lane, focus_frame;
    bool loaded, stopped, interrupted, fault_told;
    char program[64];
    struct fake_breakpoint breakpoints[BREAKPOINTS_MAX];
    size_t breakpoint_count;
    struct zs_debug_event next;
    bool has_next;
    int32_t i_of_lane[3][4];
    uint8_t memory[MEMORY_B];
    struct owned {
        struct owned *next;
        struct zs_debug_value value;
        struct zs_debug_value *list[8];
        char name[64], text[64];
        uint32_t thread, lane;
    } * values;
};

struct fake_record fake;

static int fail(struct zs_diag *diag, int error, const char *text)
{
    if (diag) {
        diag->error = error;
        snprintf(diag->text, sizeof(diag->text), "%s", text);
    }
    return error;
}

int zs_debug_open(const struct zs_debug_options *options, struct zs_debugger **ret_debug,
                  struct zs_diag *diag)
{
    if (options->devices && !strcmp(options->devices, "none"))
        return fail(diag, -ENODEV, "no device offers debugging");
    struct zs_debugger *d = *ret_debug = calloc(1, sizeof(*d));
    if (!d)
        return -ENOMEM;
    fake = (struct fake_record){.opened = 1};
    d->options = *options;
    d->next_id = 1;
    d->line = 5;
    for (int t = 0; t < 3; t++)
        for (int lane = 0; lane < 4; lane++)
            d->i_of_lane[t][lane] = 100 * t + 10 * lane;
    for (size_t i = 0; i < MEMORY_B; i++)
        d->memory[i] = (uint8_t)i;
    return 0;
}

void zs_debug_forget(struct zs_debugger *d)
{
    for (struct owned *v; (v = d->values);) {
        d->values = v->next;
        free(v);
    }
}

void zs_debug_close(struct zs_debugger *d)
{
    fake.closed++;
    fake.breakpoint_count = d->breakpoint_count;
    zs_debug_forget(d);
    free(d);
}

int zs_debug_launch(struct zs_debugger *d, char *const *argv, struct zs_diag *diag)
{
    size_t at = 0;
    if (!strcmp(argv[0], "missing"))
        return fail(diag, -ENOENT, "missing: no such program");
    snprintf(d->program, sizeof(d->program), "%s", argv[0]);
    for (; *argv && at < sizeof(fake.argv); argv++)
        at +=
            (size_t)snprintf(fake.argv + at, sizeof(fake.argv) - at, "%s%s", at ? " " : "", *argv);
    d->pid = NO_PROCESS;
    return 0;
}

int zs_debug_attach(struct zs_debugger *d, uint32_t pid, struct zs_diag *diag)
{
    if (pid == 1)
        return fail(diag, -EPERM, "the process is another user's");
    snprintf(d->program, sizeof(d->program), "waits");
    d->pid = NO_PROCESS; /* not the one that hostile input says: it may be sent signals */
    return 0;
}

int zs_debug_detach(struct zs_debugger *d, struct zs_diag *diag)
{
    fake.detached++;
    d->pid = 0;
    d->stopped = d->loaded = d->has_next = false;
    return 0;
}

int zs_debug_kill(struct zs_debugger *d, struct zs_diag *diag)
{
    fake.killed++;
    d->pid = 0;
    d->stopped = d->loaded = d->has_next = false;
    return 0;
}

uint32_t zs_debug_pid(const struct zs_debugger *d)
{
    return d->pid;
}

/* ---- events ---- */

static int tell(struct zs_debugger *d, struct zs_debug_event *ret, struct zs_debug_event event)
{
    *ret = event;
    d->stopped = event.kind == ZS_DEBUG_EVENT_STOPPED;
    if (d->stopped && event.thread) {
        d->focus_thread = event.thread;
        d->focus_lane = event.lane;
        d->focus_frame = 0;
    }
    return 0;
}

static void place(struct zs_debugger *d, struct fake_breakpoint *b)
{
    const char *colon = strrchr(b->location, ':');
    uint32_t line = colon ? (uint32_t)atoi(colon + 1) : 1;
    bool known = colon ? strstr(b->location, "k.cl:") && line <= LINES
                       : b->location[0] == '*' || !strcmp(b->location, "kernel_k");
    b->place = (struct zs_debug_place){CODE_VA + 16 * line, "kernel_k", "/src/k.cl", line};
    b->b.places = &b->place;
    b->b.place_count = d->loaded && known;
}

static int run(struct zs_debugger *d, struct zs_debug_event *ret)
{
    bool waits = !strcmp(d->program, "waits");
    for (size_t i = 0; i < d->breakpoint_count; i++) {
        struct fake_breakpoint *b = &d->breakpoints[i];
        if (!b->b.place_count || b->b.hits)
            continue;
        b->b.hits++;
        if (b->b.log)
            return tell(d, ret,
                        (struct zs_debug_event){.kind = ZS_DEBUG_EVENT_LOG, .text = "i = 30"});
        d->line = b->place.line;
        return tell(d, ret,
                    (struct zs_debug_event){.kind = ZS_DEBUG_EVENT_STOPPED,
                                            .reason = ZS_DEBUG_REASON_BREAKPOINT,
                                            .thread = 1,
                                            .lane = 3,
                                            .breakpoint = b->b.id});
    }
    if (!strcmp(d->program, "faults") && !d->fault_told) {
        d->fault_told = true;
        return tell(d, ret,
                    (struct zs_debug_event){.kind = ZS_DEBUG_EVENT_STOPPED,
                                            .reason = ZS_DEBUG_REASON_FAULT,
                                            .thread = 1,
                                            .lane = 3,
                                            .fault_va = 0x1234,
                                            .fault_va_known = true,
                                            .text = "read of 4 bytes at 0x1234 by `p`"});
    }
    if (waits && !d->interrupted)
        return -EAGAIN;
    if (waits) {
        d->interrupted = false;
        return tell(d, ret,
                    (struct zs_debug_event){.kind = ZS_DEBUG_EVENT_STOPPED,
                                            .reason = ZS_DEBUG_REASON_INTERRUPT});
    }
    d->pid = 0;
    return tell(d, ret, (struct zs_debug_event){.kind = ZS_DEBUG_EVENT_EXITED, .status = 7});
}

int zs_debug_wait(struct zs_debugger *d, uint32_t timeout_ms, struct zs_debug_event *ret_event,
                  struct zs_diag *diag)
{
    if (!d->pid)
        return fail(diag, -ECHILD, "nothing is attached");
    if (d->stopped)
        return -EAGAIN;
    if (d->has_next) {
        d->has_next = false;
        return tell(d, ret_event, d->next);
    }
    if (d->loaded)
        return run(d, ret_event);
    d->loaded = true;
    for (size_t i = 0; i < d->breakpoint_count; i++)
        place(d, &d->breakpoints[i]);
    d->has_next = d->options.stop_on_load;
    d->next = (struct zs_debug_event){
        .kind = ZS_DEBUG_EVENT_STOPPED, .reason = ZS_DEBUG_REASON_LOADED, .module = 1};
    return tell(d, ret_event,
                (struct zs_debug_event){.kind = ZS_DEBUG_EVENT_MODULE_LOADED, .module = 1});
}

int zs_debug_continue(struct zs_debugger *d, struct zs_diag *diag)
{
    if (!d->stopped)
        return fail(diag, -EBUSY, "it runs");
    fake.continued++;
    d->stopped = false;
    zs_debug_forget(d);
    return 0;
}

int zs_debug_step(struct zs_debugger *d, enum zs_debug_step step, struct zs_diag *diag)
{
    int error = fake.stepped < STEPS_MAX ? zs_debug_continue(d, diag)
                                         : fail(diag, -EINVAL, "that was far enough");
    if (error)
        return error;
    fake.continued--;
    fake.stepped++;
    fake.step = step;
    fake.step_thread = d->focus_thread;
    d->line++;
    d->has_next = true;
    d->next = (struct zs_debug_event){.kind = ZS_DEBUG_EVENT_STOPPED,
                                      .reason = ZS_DEBUG_REASON_STEP,
                                      .thread = d->focus_thread,
                                      .lane = d->focus_lane};
    return 0;
}

int zs_debug_step_targets(struct zs_debugger *d, uint32_t thread,
                          struct zs_debug_target *ret_targets, uint32_t capacity,
                          struct zs_diag *diag)
{
    if (!zs_debug_thread(d, thread) || capacity < 2)
        return fail(diag, -ESRCH, "there is no such thread");
    ret_targets[0] = (struct zs_debug_target){"pull", CODE_VA + 16 * 3};
    ret_targets[1] = (struct zs_debug_target){"", CODE_VA + 16 * 5};
    return 2;
}

int zs_debug_step_into(struct zs_debugger *d, uint64_t gpu_va, struct zs_diag *diag)
{
    fake.step_va = gpu_va;
    return zs_debug_step(d, ZS_DEBUG_STEP_IN, diag);
}

int zs_debug_jump(struct zs_debugger *d, uint32_t thread, uint64_t gpu_va, struct zs_diag *diag)
{
    if (thread != 1)
        return fail(diag, -EINVAL, "other lanes wait there");
    fake.jump_va = gpu_va;
    d->line = (uint32_t)(gpu_va - CODE_VA) / 16;
    return 0;
}

void zs_debug_interrupt(struct zs_debugger *d)
{
    d->interrupted = true;
}

bool zs_debug_stopped(const struct zs_debugger *d)
{
    return d->stopped;
}

/* ---- breakpoints ---- */

/* ---- backwards, and memory ---- */

int zs_debug_reverse_step(struct zs_debugger *d, enum zs_debug_step step, struct zs_diag *diag)
{
    if (d->stopped && d->line <= 1)
        return fail(diag, -ENODATA, "the lane is at its beginning");
    int error = zs_debug_step(d, step, diag);
    if (!error)
        d->line -= 2;
    return error;
}

int zs_debug_reverse_continue(struct zs_debugger *d, struct zs_diag *diag)
{
    int error = zs_debug_step(d, ZS_DEBUG_STEP_NEXT, diag);
    if (error)
        return error;
    d->line = 1;
    d->next.reason = ZS_DEBUG_REASON_BEGINNING;
    return 0;
}

int zs_debug_watch_add(struct zs_debugger *d, const struct zs_debug_watch_options *options,
                       uint32_t *ret_id, struct zs_diag *diag)
{
    if (d->breakpoint_count == BREAKPOINTS_MAX)
        return fail(diag, -ENOSPC, "too many breakpoints");
    struct fake_breakpoint *b = &d->breakpoints[d->breakpoint_count++];
    *b = (struct fake_breakpoint){
        .b = {.id = *ret_id = d->next_id++, .enabled = true, .watch = options->access}};
    snprintf(b->location, sizeof(b->location), "%s", options->expression);
    return 0;
}

int zs_debug_break_ignore(struct zs_debugger *d, uint32_t id, uint64_t count, struct zs_diag *diag)
{
    for (uint32_t i = 0; i < d->breakpoint_count; i++) {
        if (d->breakpoints[i].b.id == id) {
            d->breakpoints[i].b.ignore_count = count;
            return 0;
        }
    }
    return fail(diag, -ENOENT, "there is no such breakpoint");
}

int zs_debug_break_add(struct zs_debugger *d, const struct zs_debug_breakpoint_options *options,
                       uint32_t *ret_id, struct zs_diag *diag)
{
    if (d->breakpoint_count == BREAKPOINTS_MAX)
        return fail(diag, -ENOSPC, "too many breakpoints");
    if (options->condition && !strcmp(options->condition, "bad("))
        return fail(diag, -EINVAL, "`bad(` is no expression");
    struct fake_breakpoint *b = &d->breakpoints[d->breakpoint_count++];
    *b = (struct fake_breakpoint){.b = {.id = *ret_id = d->next_id++,
                                        .ignore_count = options->ignore_count,
                                        .enabled = !options->disabled,
                                        .temporary = options->temporary,
                                        .log = options->log ? "" : NULL}};
    snprintf(b->location, sizeof(b->location), "%s", options->location);
    place(d, b);
    return 0;
}

int zs_debug_break_delete(struct zs_debugger *d, uint32_t id, struct zs_diag *diag)
{
    for (size_t i = 0; i < d->breakpoint_count; i++) {
        if (d->breakpoints[i].b.id != id)
            continue;
        d->breakpoints[i] = d->breakpoints[--d->breakpoint_count];
        for (i = 0; i < d->breakpoint_count; i++)
            d->breakpoints[i].b.places = &d->breakpoints[i].place;
        return 0;
    }
    return fail(diag, -ENOENT, "there is no such breakpoint");
}

const struct zs_debug_breakpoint *zs_debug_break_get(const struct zs_debugger *d, size_t index)
{
    struct fake_breakpoint *b = (struct fake_breakpoint *)(uintptr_t)&d->breakpoints[index];
    if (index >= d->breakpoint_count)
        return NULL;
    b->b.location = b->location;
    return &b->b;
}

/* ---- threads and frames ---- */

static const struct zs_debug_thread threads[] = {
    {.id = 1,
     .kernel = "kernel_k",
     .lanes = 0xf,
     .running = 0xd,
     .group_known = true,
     .group = {3, 0, 0}},
    {.id = 2, .eu = 1, .kernel = "kernel_k", .lanes = 0x3, .running = 0x2},
};

size_t zs_debug_threads(struct zs_debugger *d, const struct zs_debug_thread **ret_threads)
{
    *ret_threads = threads;
    return d->stopped && d->focus_thread ? 2 : 0;
}

const struct zs_debug_thread *zs_debug_thread(struct zs_debugger *d, uint32_t thread)
{
    return d->stopped && (thread == 1 || thread == 2) ? &threads[thread - 1] : NULL;
}

int zs_debug_lanes(struct zs_debugger *d, uint32_t thread, struct zs_debug_lane *ret_lanes,
                   struct zs_diag *diag)
{
    const struct zs_debug_thread *t = zs_debug_thread(d, thread);
    if (!t)
        return fail(diag, -ESRCH, "there is no such thread");
    int count = __builtin_popcount(t->lanes);
    for (uint32_t i = 0; i < (uint32_t)count; i++)
        ret_lanes[i] = (struct zs_debug_lane){.lane = i,
                                              .running = t->running >> i & 1,
                                              .item_known = true,
                                              .local_id = {i, 0, 0},
                                              .global_id = {48 + i, 0, 0}};
    return count;
}

int zs_debug_set_focus(struct zs_debugger *d, uint32_t thread, uint32_t lane, uint32_t frame,
                       struct zs_diag *diag)
{
    const struct zs_debug_thread *t = zs_debug_thread(d, thread);
    if (!t || lane > 31 || !(t->lanes >> lane & 1) || frame > 1)
        return fail(diag, -ESRCH, "there is no such thread, lane or frame");
    d->focus_thread = thread;
    d->focus_lane = lane;
    d->focus_frame = frame;
    return 0;
}

void zs_debug_focus(const struct zs_debugger *d, uint32_t *ret_thread, uint32_t *ret_lane,
                    uint32_t *ret_frame)
{
    if (ret_thread)
        *ret_thread = d->focus_thread;
    if (ret_lane)
        *ret_lane = d->focus_lane;
    if (ret_frame)
        *ret_frame = d->focus_frame;
}

int zs_debug_frames(struct zs_debugger *d, uint32_t thread, struct zs_debug_frame *ret_frames,
                    uint32_t capacity, struct zs_diag *diag)
{
    if (!zs_debug_thread(d, thread) || capacity < 2)
        return fail(diag, -ESRCH, "there is no such thread");
    ret_frames[0] =
        (struct zs_debug_frame){CODE_VA + 16 * d->line, "helper", "/src/k.cl", d->line, 3, true};
    ret_frames[1] =
        (struct zs_debug_frame){CODE_VA + 16 * d->line, "kernel_k", "/src/k.cl", 12, 9, false};
    return 2;
}

const struct zs_source *zs_debug_source(struct zs_debugger *d, const char *path)
{
    static const char text[] = "kernel void kernel_k() {}\n";
    static const struct zs_source source = {.path = "/src/k.cl",
                                            .text = {(const uint8_t *)text, sizeof(text) - 1}};
    return !strcmp(path, "/src/k.cl") ? &source : NULL;
}

/* ---- values ---- */

static struct owned *new_value(struct zs_debugger *d, uint32_t thread, uint32_t lane,
                               const char *name, const char *type)
{
    struct owned *v = calloc(1, sizeof(*v));
    if (!v)
        abort();
    v->next = d->values;
    d->values = v;
    v->thread = thread;
    v->lane = lane;
    snprintf(v->name, sizeof(v->name), "%s", name);
    v->value = (struct zs_debug_value){
        .name = v->name, .type = type, .text = v->text, .available = true, .writable = true};
    return v;
}

static struct zs_debug_value *make(struct zs_debugger *d, uint32_t thread, uint32_t lane,
                                   const char *name)
{
    struct owned *v;
    if (!strcmp(name, "i")) {
        v = new_value(d, thread, lane, name, "int");
        snprintf(v->text, sizeof(v->text), "%d", d->i_of_lane[thread][lane]);
    } else if (!strcmp(name, "acc")) {
        v = new_value(d, thread, lane, name, "float4");
        snprintf(v->text, sizeof(v->text), "{1, 2, 3, 4}");
        v->value.child_count = 4;
    } else if (!strcmp(name, "table")) {
        v = new_value(d, thread, lane, name, "int[1000]");
        snprintf(v->text, sizeof(v->text), "{0, 1, 2, ...}");
        v->value.child_count = 1000;
        v->value.in_memory = true;
        v->value.gpu_va = MEMORY_VA;
    } else if (!strcmp(name, "gone")) {
        v = new_value(d, thread, lane, name, "int");
        snprintf(v->text, sizeof(v->text), "<not available here: optimised out>");
        v->value.available = v->value.writable = false;
    } else {
        return NULL;
    }
    return &v->value;
}

int zs_debug_variables(struct zs_debugger *d, uint32_t thread, uint32_t lane, uint32_t frame,
                       struct zs_debug_value ***ret_values, uint32_t *ret_count,
                       struct zs_diag *diag)
{
    static const char *const names[] = {"i", "acc", "table", "gone"};
    const struct zs_debug_thread *t = zs_debug_thread(d, thread);
    if (!t || lane > 31 || !(t->lanes >> lane & 1) || frame > 1)
        return fail(diag, -ESRCH, "there is no such thread, lane or frame");
    struct owned *list = new_value(d, thread, lane, "", "");
    for (*ret_count = 0; *ret_count < 4; ++*ret_count)
        list->list[*ret_count] = make(d, thread, lane, names[*ret_count]);
    *ret_values = list->list;
    return 0;
}

int zs_debug_evaluate(struct zs_debugger *d, uint32_t thread, uint32_t lane, uint32_t frame,
                      const char *expression, struct zs_debug_value **ret_value,
                      struct zs_diag *diag)
{
    if (!strcmp(expression, "gone"))
        return fail(diag, -ENODATA, "`gone` is not available here: optimised out");
    if (!zs_debug_thread(d, thread) || !(*ret_value = make(d, thread, lane, expression)))
        return fail(diag, -EINVAL, "nothing here has such a name");
    return 0;
}

int zs_debug_execute(struct zs_debugger *d, uint32_t thread, uint32_t lane, uint32_t frame,
                     const char *expression, struct zs_debug_value **ret_value,
                     struct zs_diag *diag)
{
    const char *equals = strchr(expression, '=');
    char name[16];
    if (!equals)
        return zs_debug_evaluate(d, thread, lane, frame, expression, ret_value, diag);
    snprintf(name, sizeof(name), "%.*s", (int)strcspn(expression, " ="), expression);
    int error = zs_debug_evaluate(d, thread, lane, frame, name, ret_value, diag);
    error =
        error ? error : zs_debug_assign(d, *ret_value, equals + 1 + strspn(equals + 1, " "), diag);
    return error ? error : zs_debug_evaluate(d, thread, lane, frame, name, ret_value, diag);
}

int zs_debug_keep(struct zs_debugger *d, const struct zs_debug_value *value, uint32_t *ret_number)
{
    (void)d;
    (void)value;
    *ret_number = 1;
    return 0;
}

int zs_debug_returned(struct zs_debugger *d, struct zs_debug_value **ret_value,
                      struct zs_diag *diag)
{
    (void)d;
    (void)ret_value;
    return fail(diag, -ENODATA, "nothing was returned");
}

int zs_debug_type(struct zs_debugger *d, uint32_t thread, uint32_t lane, uint32_t frame,
                  const char *what, const char **ret_text, struct zs_diag *diag)
{
    struct zs_debug_value *v;
    int error = zs_debug_evaluate(d, thread, lane, frame, what, &v, diag);
    *ret_text = error ? NULL : v->type;
    return error;
}

int zs_debug_children(struct zs_debugger *d, struct zs_debug_value *value, uint32_t first,
                      struct zs_debug_value **ret_children, uint32_t capacity, struct zs_diag *diag)
{
    static const char *const members[] = {"x", "y", "z", "w"};
    uint32_t count = 0;
    for (uint32_t i = first; i < value->child_count && count < capacity; i++) {
        char name[16];
        snprintf(name, sizeof(name), "[%u]", i);
        struct owned *v =
            new_value(d, 1, 0, value->child_count == 4 ? members[i] : name, "element");
        snprintf(v->text, sizeof(v->text), "%u", i + (value->child_count == 4));
        ret_children[count++] = &v->value;
    }
    return (int)count;
}

int zs_debug_assign(struct zs_debugger *d, struct zs_debug_value *value, const char *expression,
                    struct zs_diag *diag)
{
    struct owned *v = (struct owned *)((char *)value - offsetof(struct owned, value));
    if (expression[0] < '0' || expression[0] > '9')
        return fail(diag, -EINVAL, "that is no number");
    snprintf(v->text, sizeof(v->text), "%d", atoi(expression));
    if (!strcmp(v->name, "i"))
        d->i_of_lane[v->thread][v->lane] = atoi(expression);
    return 0;
}

/* ---- memory, registers, code ---- */

int zs_debug_memory_read(struct zs_debugger *d, uint32_t thread, enum zs_debug_space space,
                         uint64_t gpu_va, void *ret_bytes, size_t size_B, struct zs_diag *diag)
{
    if (gpu_va < MEMORY_VA || gpu_va - MEMORY_VA > MEMORY_B ||
        size_B > MEMORY_B - (gpu_va - MEMORY_VA))
        return fail(diag, -EFAULT, "no memory is there");
    memcpy(ret_bytes, d->memory + (gpu_va - MEMORY_VA), size_B);
    return 0;
}

int zs_debug_memory_write(struct zs_debugger *d, uint32_t thread, enum zs_debug_space space,
                          uint64_t gpu_va, const void *bytes, size_t size_B, struct zs_diag *diag)
{
    if (gpu_va < MEMORY_VA || gpu_va - MEMORY_VA > MEMORY_B ||
        size_B > MEMORY_B - (gpu_va - MEMORY_VA))
        return fail(diag, -EFAULT, "no memory is there");
    memcpy(d->memory + (gpu_va - MEMORY_VA), bytes, size_B);
    return 0;
}

int zs_debug_registers(struct zs_debugger *d, uint32_t thread,
                       struct zs_debug_register *ret_registers, uint32_t capacity,
                       struct zs_diag *diag)
{
    static const struct zs_debug_register all[] = {
        {.name = "r0", .size_B = 32, .writable = true, .bytes = {1, 2, 3, 4, [31] = 0xff}},
        {.name = "f0.0", .size_B = 2, .writable = true, .bytes = {0x0f, 0x80}},
    };
    if (!zs_debug_thread(d, thread))
        return fail(diag, -ESRCH, "there is no such thread");
    for (uint32_t i = 0; i < capacity && i < 2; i++)
        ret_registers[i] = all[i];
    return 2;
}

int zs_debug_disassemble(struct zs_debugger *d, uint64_t gpu_va, uint32_t before,
                         struct zs_debug_inst *ret_insts, uint32_t capacity, struct zs_diag *diag)
{
    if (!d->loaded || gpu_va < CODE_VA || gpu_va >= CODE_VA + 16 * LINES)
        return fail(diag, -ENOENT, "no known code is there");
    uint32_t here = (uint32_t)(gpu_va - CODE_VA) / 16;
    uint32_t first = here > before ? here - before : 0, count = 0;
    for (uint32_t i = first; i < LINES && count < capacity; i++) {
        struct zs_debug_inst *inst = &ret_insts[count++];
        *inst = (struct zs_debug_inst){.gpu_va = CODE_VA + 16 * i,
                                       .size_B = 16,
                                       .bytes = {0x61, (uint8_t)i},
                                       .kernel = "kernel_k",
                                       .offset_B = 16 * i,
                                       .file = "/src/k.cl",
                                       .line = i + 1};
        snprintf(inst->text, sizeof(inst->text), "mov (8) r%u:d r0:d", i);
    }
    return (int)count;
}

int zs_debug_line_places(struct zs_debugger *d, const char *path, uint32_t line,
                         struct zs_debug_place *ret_places, uint32_t capacity)
{
    if (!d->loaded || !strstr(path, "k.cl") || line > LINES || line % 2 == 0)
        return 0;
    if (capacity)
        ret_places[0] = (struct zs_debug_place){CODE_VA + 16 * line, "kernel_k", "/src/k.cl", line};
    return 1;
}

int zs_debug_sources(struct zs_debugger *d, const char **ret_paths, uint32_t capacity)
{
    if (d->loaded && capacity)
        ret_paths[0] = "/src/k.cl";
    return d->loaded;
}

const struct zs_debug_module *zs_debug_modules(const struct zs_debugger *d, size_t index)
{
    static const char *const kernels[] = {"kernel_k"};
    static const struct zs_debug_module module = {.id = 1,
                                                  .load_va = CODE_VA,
                                                  .size_B = 0x1000,
                                                  .kernel_count = 1,
                                                  .kernels = kernels,
                                                  .has_lines = true};
    return d->loaded && !index ? &module : NULL;
}

/* ---- what the shell asks besides ---- */

int zs_debug_places(struct zs_debugger *d, const char *location, struct zs_debug_place *ret_places,
                    uint32_t capacity, struct zs_diag *diag)
{
    struct fake_breakpoint b = {.b = {.id = 0}};
    snprintf(b.location, sizeof(b.location), "%s", location);
    place(d, &b);
    if (b.b.place_count && capacity)
        ret_places[0] = b.place;
    return (int)b.b.place_count;
}

int zs_debug_break_condition(struct zs_debugger *d, uint32_t id, const char *condition,
                             struct zs_diag *diag)
{
    return zs_debug_break_ignore(d, id, 0, diag);
}

int zs_debug_break_enable(struct zs_debugger *d, uint32_t id, bool enabled, struct zs_diag *diag)
{
    return zs_debug_break_ignore(d, id, 0, diag);
}

int zs_debug_find_item(struct zs_debugger *d, const uint32_t group[3], const uint32_t local_id[3],
                       uint32_t *ret_thread, uint32_t *ret_lane, struct zs_diag *diag)
{
    if (group[0] != 3 || local_id[0] > 3)
        return fail(diag, -ENOENT, "that work-item has not begun");
    *ret_thread = 1;
    *ret_lane = local_id[0];
    return 0;
}

int zs_debug_functions(struct zs_debugger *d, struct zs_debug_function *ret_functions,
                       uint32_t capacity)
{
    if (d->loaded && capacity)
        ret_functions[0] = (struct zs_debug_function){"kernel_k", "kernel_k", "/src/k.cl", 1};
    return d->loaded;
}

int zs_debug_goto_position(struct zs_debugger *d, uint64_t position, struct zs_diag *diag)
{
    return position > LINES ? fail(diag, -ENODATA, "that was not passed")
                            : zs_debug_reverse_continue(d, diag);
}

int zs_debug_goto_launch(struct zs_debugger *d, uint64_t launch, struct zs_diag *diag)
{
    return zs_debug_goto_position(d, launch, diag);
}

int zs_debug_history(struct zs_debugger *d, uint32_t thread, struct zs_debug_history *ret_history,
                     struct zs_diag *diag)
{
    *ret_history = (struct zs_debug_history){.launches = 1, .launch = thread, .recorded = true};
    return 0;
}

int zs_debug_record(struct zs_debugger *d, enum zs_debug_record record, struct zs_diag *diag)
{
    return 0;
}

int zs_debug_who_wrote(struct zs_debugger *d, uint32_t thread, uint32_t lane, uint32_t frame,
                       const char *expression, struct zs_debug_writer *ret_writer,
                       struct zs_diag *diag)
{
    *ret_writer =
        (struct zs_debug_writer){.file = "/src/k.cl", .line = 3, .kernel = "kernel_k", .text = "0"};
    return zs_debug_thread(d, thread) ? 0 : fail(diag, -ESRCH, "there is no such thread");
}
