/* SPDX-License-Identifier: MIT */
/*
 * ZESCOPE_CHECK and ZESCOPE_CHECK_REPORT under Intel's drivers, as under zescope's
 * (driver/report.h): what kernels do wrong, with names and lines where names.c knows them. Kernels
 * of the driver's own are not told of.
 */
#include "drm/drm_priv.h"

#include "base/checks.h"
#include "base/duration.h"
#include "base/id_map.h"
#include "base/reader.h"
#include "cs/cs.h"
#include "dwarf/place.h"
#include "gpu/report.h"
#include "gpu/walk.h"
#include "module/module.h"

#include <zescope/driver_ext.h>

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PLACE_CHARS = 2048 };

static struct {
    pthread_once_t once;
    pthread_mutex_t lock;
    unsigned kinds;
    uint64_t time_limit_ns;
    int fd; /* of the report; -1: none */
} check = {.once = PTHREAD_ONCE_INIT, .lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1};

static void begin(void)
{
    char why[128];
    const char *words = secure_getenv("ZESCOPE_CHECK");
    const char *path = secure_getenv("ZESCOPE_CHECK_REPORT");
    if (words && !zs_checks_parse(words, &check.kinds, why, sizeof(why)))
        zs_drm_log(ZS_DRM_ERROR, "ZESCOPE_CHECK=%s: %s", words, why);
    const char *limit = secure_getenv("ZESCOPE_KERNEL_TIMEOUT");
    if (limit && !zs_duration_parse(limit, &check.time_limit_ns))
        zs_drm_log(ZS_DRM_ERROR, "ZESCOPE_KERNEL_TIMEOUT=%s is not a time", limit);
    if (check.kinds && path && *path)
        check.fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

unsigned zs_drm_checks(void)
{
    pthread_once(&check.once, begin);
    return check.kinds;
}

uint32_t zs_drm_check_kernel(void)
{
    unsigned kinds = zs_drm_checks();
    const unsigned local = ZS_CHECK_MEMORY | ZS_CHECK_INIT | ZS_CHECK_UNDEFINED;
    return (kinds & local ? ZS_GPU_KERNEL_LOCAL : 0u) |
           (kinds & ZS_CHECK_UNDEFINED ? ZS_GPU_KERNEL_DEFINED : 0u) |
           (kinds & ZS_CHECK_SWSB ? ZS_GPU_KERNEL_SCOREBOARD : 0u) |
           (kinds & ZS_CHECK_RACE ? ZS_GPU_KERNEL_MESSAGES : 0u) |
           (kinds & ZS_CHECK_SYNC ? ZS_GPU_KERNEL_BARRIERS : 0u);
}

void zs_drm_check_allocation(const char *call, uint64_t exact_B, struct zs_gpu_allocation *a)
{
    if (!call || !(zs_drm_checks() & ZS_CHECK_MEMORY))
        return;
    a->size_B = exact_B;
    a->flags &= ~(uint32_t)ZS_GPU_ALLOCATION_JOINED;
    if (strstr(call, ZESCOPE_MEMORY_READ_ONLY))
        a->flags |= ZS_GPU_ALLOCATION_FOR_READS;
    snprintf(a->label, sizeof(a->label), "%s", call);
}

/* ---- words -------------------------------------------------------------------------------------
 */

/* The compiler calls the sources of a process's OpenCL programs "1", "2" and so on, in the current
 * folder. In each line, that is, where it was inlined too. */
static void name_sources(char text[PLACE_CHARS])
{
    char named[PLACE_CHARS];
    int used = 0;
    for (const char *at = text; *at && used < PLACE_CHARS;) {
        int length = (int)strcspn(at, "\n"), path = (int)strcspn(at, "/\n");
        const char *slash = memrchr(at, '/', (size_t)length);
        size_t digits = slash ? strspn(slash + 1, "0123456789") : 0;
        bool is_source = digits && slash[1 + digits] == ':';
        const char *rest = is_source ? slash + 1 + digits : at + path;
        int rest_length = (int)(at + length - rest) + (at[length] == '\n');
        used += snprintf(named + used, (size_t)(PLACE_CHARS - used), "%.*s%s%.*s", path, at,
                         is_source ? "source" : "", rest_length, rest);
        at = rest + rest_length;
    }
    if (used < PLACE_CHARS)
        memcpy(text, named, (size_t)used + 1);
}

static bool place_of(const struct zs_drm_checked *c, int64_t offset_B, char text[PLACE_CHARS])
{
    struct zs_diag diag = {0};
    if (!c->kernel || offset_B < 0 ||
        zs_dwarf_place(c->kernel, (uint64_t)offset_B, text, PLACE_CHARS, &diag))
        return false;
    name_sources(text);
    return true;
}

/* Where a field is in what all threads get; NULL: nowhere. */
static uint8_t *find_field(const struct zs_drm_checked *c, const struct zs_payload *field)
{
    const struct zs_gpu_walk_code *code = zs_gpu_walk_kernel_code(c->walk->kernel);
    uint64_t begin_B = (uint64_t)field->offset_B, end_B;
    begin_B += zs_kernel_implicit_B(c->kernel, code->code, c->skip_B);
    uint64_t have_B = (uint64_t)code->inline_B + code->cross_B;
    if (!zs_add_u64(begin_B, field->size_B, &end_B) || end_B > have_B)
        return NULL;
    return c->payload + begin_B;
}

static uint64_t payload_at(const struct zs_drm_checked *c, const struct zs_payload *field)
{
    const uint8_t *at = find_field(c, field);
    return at && field->size_B == 8   ? zs_load_u64(at)
           : at && field->size_B == 4 ? zs_load_u32(at)
                                      : 0;
}

/* The argument behind an entry of the binding table, or that points into what is nearest. */
static uint32_t argument_of(const struct zs_drm_checked *c, const struct zs_gpu_fault *fault)
{
    const struct zs_kernel *k = c->kernel;
    for (uint32_t i = 0; i < k->surface_count; i++)
        if (k->surfaces[i].bti != ZS_NONE && k->surfaces[i].bti == fault->surface_index)
            return k->surfaces[i].arg;
    for (uint32_t i = 0; i < k->payload_count && fault->nearest_count; i++) {
        const struct zs_payload *field = &k->payload[i];
        bool is_pointer =
            field->kind == ZS_PAYLOAD_ARG_POINTER || field->kind == ZS_PAYLOAD_BUFFER_ADDRESS;
        if (is_pointer &&
            payload_at(c, field) - fault->nearest[0].gpu_va < fault->nearest[0].size_B)
            return field->arg;
    }
    return ZS_NONE;
}

static void put_argument(const struct zs_drm_checked *c, const struct zs_gpu_fault *fault,
                         struct zs_buf *text)
{
    uint32_t arg = c->kernel && fault->has_access && !zs_gpu_fault_is_local(fault->kind)
                       ? argument_of(c, fault)
                       : ZS_NONE;
    if (arg == ZS_NONE || arg >= c->kernel->arg_count)
        return;
    const char *name = c->kernel->args[arg].name;
    zs_buf_printf(text, "\n  reached by argument %" PRIu32 "%s%.100s", arg, *name ? ", " : "",
                  name);
}

static void write_all(const uint8_t *data, size_t size_B)
{
    for (ssize_t n = 1; size_B && n > 0; data += n, size_B -= (size_t)n) {
        n = write(check.fd, data, size_B);
        n = n < 0 ? 0 : n;
    }
}

static void write_block(struct zs_buf *block, const struct zs_buf *text)
{
    zs_buf_append(block, text->data, text->size_B);
    zs_buf_puts(block, "\n\n");
    pthread_mutex_lock(&check.lock);
    if (!block->error && check.fd >= 0)
        write_all(block->data, block->size_B);
    pthread_mutex_unlock(&check.lock);
}

/* ---- what is found -----------------------------------------------------------------------------
 */

void zs_drm_tell_fault(const struct zs_drm_checked *c, const struct zs_gpu_fault *fault)
{
    struct zs_gpu_fault f = *fault;
    char place[PLACE_CHARS];
    struct zs_buf text = {0}, block = {0};
    if (f.instruction_offset_B != INT64_MIN && c->kernel)
        f.instruction_offset_B += (int64_t)c->skip_B;
    const char *source =
        f.instruction_offset_B != INT64_MIN && place_of(c, f.instruction_offset_B, place) ? place
                                                                                          : NULL;
    zs_gpu_fault_print(&f, source, &text);
    put_argument(c, &f, &text);
    zs_drm_log(ZS_DRM_ERROR, "%s", zs_buf_cstr(&text));
    if (zs_drm_checks()) {
        zs_gpu_report_fault(&f, source, &block);
        write_block(&block, &text);
    }
    zs_buf_fini(&block);
    zs_buf_fini(&text);
}

static void tell(const struct zs_gpu_finding *f, const char *const sources[2])
{
    struct zs_buf text = {0}, block = {0};
    zs_gpu_finding_print(f, sources, &text);
    zs_drm_log(f->note ? ZS_DRM_WARN : ZS_DRM_ERROR, "%s", zs_buf_cstr(&text));
    zs_gpu_report_finding(f, sources, &block);
    write_block(&block, &text);
    zs_buf_fini(&block);
    zs_buf_fini(&text);
}

static void on_found(void *context, const struct zs_gpu_finding *finding)
{
    const struct zs_drm_checked *c = context;
    struct zs_gpu_finding f = *finding;
    char places[2][PLACE_CHARS];
    const char *sources[2] = {NULL, NULL};
    for (uint32_t i = 0; i < f.site_count; i++) {
        f.site[i].instruction_offset_B += (int64_t)c->skip_B;
        if (place_of(c, f.site[i].instruction_offset_B, places[i]))
            sources[i] = places[i];
    }
    if (!zs_gpu_finding_is_one_line(&f, sources))
        tell(&f, sources);
}

/* ---- races between commands --------------------------------------------------------------------
 * Launches of an engine that no phase parts (cs/cs.h); launches, copies and fills of different ones
 * that met. Before a batch is what was over when it was submitted. Before what comes behind a look
 * at memory is what the engine that has stored the value there had run; where that may have been
 * the host, all that is over. What the host and the driver's own kernels touch is not compared.
 */

enum { STORES_MAX = 1 << 16 };
struct stored {
    uint32_t value;
    struct zs_past *past;
};

static struct {
    pthread_mutex_t lock;       /* of all pasts, too */
    struct zs_between *between; /* NULL: none yet */
    struct zs_past *over;
    struct zs_id_map stores; /* by host address */
} order_all = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void on_found_between(void *context, const struct zs_gpu_finding *f)
{
    const char *const sources[2] = {f->site[0].source, f->site[1].source};
    tell(f, sources);
}

static bool find_line(void *context, int64_t *offset_B, char *ret_text, size_t size_B)
{
    const struct zs_drm_checked *c = context;
    char place[PLACE_CHARS];
    *offset_B += (int64_t)c->skip_B;
    bool found = place_of(c, *offset_B, place);
    if (found)
        snprintf(ret_text, size_B, "%s", place);
    return found;
}

static void begin_command(struct zs_drm_order *order, bool is_next,
                          struct zs_between_command *command)
{
    struct zs_between *b = order_all.between;
    if (is_next)
        zs_past_join(b, &order->before, order->mine);
    command->between = b;
    command->number = zs_between_number(b);
    command->found = on_found_between;
    command->past = zs_past_ref(order->before);
    zs_past_add(b, &command->past, command->number);
}

/* With the lock held. false: there is no memory, or nobody asks. */
static bool compares(void)
{
    if (!order_all.between && zs_drm_checks() & ZS_CHECK_RACE)
        order_all.between = zs_between_create();
    return order_all.between != NULL;
}

void zs_drm_order_begin(struct zs_drm_order *order, const struct zs_cs_walk *asked,
                        struct zs_gpu_walk *walk, struct zs_between_command *command)
{
    *command = (struct zs_between_command){.memory = walk->memory};
    if (!(walk->flags & ZS_GPU_LAUNCH_CHECK_RACES))
        return;
    pthread_mutex_lock(&order_all.lock);
    if (compares()) {
        begin_command(order, order->phase != asked->phase, command);
        order->phase = asked->phase;
        walk->command = command;
        walk->find_line = find_line;
    }
    pthread_mutex_unlock(&order_all.lock);
}

bool zs_drm_order_copy(struct zs_drm_order *order, const char *name, struct zs_gpu_memory *memory,
                       struct zs_between_command *command)
{
    pthread_mutex_lock(&order_all.lock);
    *command = (struct zs_between_command){.name = name, .memory = memory};
    if (compares())
        begin_command(order, true, command);
    pthread_mutex_unlock(&order_all.lock);
    return command->between != NULL;
}

void zs_drm_order_end(struct zs_drm_order *order, struct zs_between_command *command)
{
    if (!command->between)
        return;
    pthread_mutex_lock(&order_all.lock);
    zs_past_add(command->between, &order->mine, command->number);
    zs_past_add(command->between, &order_all.over, command->number);
    zs_past_unref(command->past);
    command->between = NULL;
    pthread_mutex_unlock(&order_all.lock);
}

static void forget_stores(void)
{
    for (size_t i = 0; i < order_all.stores.capacity; i++) {
        struct stored *stored = order_all.stores.slots[i].value;
        zs_past_unref(stored ? stored->past : NULL);
        free(stored);
    }
    zs_id_map_fini(&order_all.stores);
    order_all.stores = (struct zs_id_map){0};
}

static void put_store(struct zs_drm_order *order, const uint8_t *host, uint32_t value)
{
    struct stored *stored = zs_id_map_get(&order_all.stores, (uintptr_t)host, 0);
    if (!stored && order_all.stores.count >= STORES_MAX)
        forget_stores();
    struct stored *fresh = stored ? NULL : calloc(1, sizeof(*fresh));
    if (!stored && (!fresh || zs_id_map_put(&order_all.stores, (uintptr_t)host, 0, fresh))) {
        free(fresh);
        return;
    }
    stored = stored ? stored : fresh;
    zs_past_unref(stored->past);
    stored->value = value;
    stored->past = zs_past_ref(order->before);
    zs_past_join(order_all.between, &stored->past, order->mine);
}

void zs_drm_order_sync(struct zs_drm_order *order, const uint8_t *host, uint32_t value,
                       bool is_store)
{
    pthread_mutex_lock(&order_all.lock);
    const struct stored *stored =
        is_store ? NULL : zs_id_map_get(&order_all.stores, (uintptr_t)host, 0);
    if (is_store)
        put_store(order, host, value);
    else if (stored && stored->value == value && value) /* 0: hosts signal events with it */
        zs_past_join(order_all.between, &order->before, stored->past);
    else
        zs_past_join(order_all.between, &order->before, order_all.over);
    pthread_mutex_unlock(&order_all.lock);
}

struct zs_past *zs_drm_order_now(void)
{
    pthread_mutex_lock(&order_all.lock);
    struct zs_past *past = zs_past_ref(order_all.over);
    pthread_mutex_unlock(&order_all.lock);
    return past;
}

void zs_drm_order_after(struct zs_drm_order *order, const struct zs_past *past)
{
    pthread_mutex_lock(&order_all.lock);
    zs_past_join(order_all.between, &order->before, past);
    pthread_mutex_unlock(&order_all.lock);
}

void zs_drm_order_waited(struct zs_drm_order *order)
{
    pthread_mutex_lock(&order_all.lock);
    zs_past_join(order_all.between, &order->before, order_all.over);
    pthread_mutex_unlock(&order_all.lock);
}

void zs_drm_order_fini(struct zs_drm_order *order)
{
    zs_past_unref(order->mine);
    zs_past_unref(order->before);
}

/* What its parent has compared is left: somebody may have been at it. */
void zs_drm_order_begin_child(void)
{
    pthread_mutex_init(&order_all.lock, NULL);
    order_all.between = NULL;
    order_all.over = NULL;
    order_all.stores = (struct zs_id_map){0};
}

/* Where hardware threads have memory of their own. */
static uint64_t private_va(const struct zs_drm_checked *c)
{
    const struct zs_kernel *k = c->kernel;
    for (uint32_t i = 0; k && i < k->payload_count; i++)
        if (k->payload[i].kind == ZS_PAYLOAD_PRIVATE_BASE)
            return payload_at(c, &k->payload[i]);
    return 0;
}

/* ---- local arguments ---------------------------------------------------------------------------
 * Drivers place them one behind the other. What threads get is moved, so that there are gaps.
 */

struct local {
    const struct zs_payload *field;
    uint64_t from_B; /* behind the kernel's own arrays */
};

/* Ascending; of fields of 8 bytes the upper ones are 0. 0: there are none, or too many. */
static uint32_t find_locals(const struct zs_drm_checked *c, struct local ret[ZS_DRM_LOCALS_MAX])
{
    const struct zs_kernel *k = c->kernel;
    uint32_t count = 0;
    for (uint32_t i = 0; k && i < k->payload_count; i++) {
        const struct zs_payload *field = &k->payload[i];
        if (field->kind != ZS_PAYLOAD_LOCAL_POINTER)
            continue;
        if (count == ZS_DRM_LOCALS_MAX || field->size_B < 4 || field->arg >= k->arg_count ||
            !find_field(c, field))
            return 0;
        const struct local local = {field, payload_at(c, field)};
        uint32_t at = count++;
        for (; at && ret[at - 1].from_B > local.from_B; at--)
            ret[at] = ret[at - 1];
        ret[at] = local;
    }
    return count;
}

static void part_locals(const struct zs_gpu_model *model, struct zs_gpu_walk *walk,
                        struct zs_drm_checked *c)
{
    struct local locals[ZS_DRM_LOCALS_MAX];
    uint32_t count = find_locals(c, locals), moved_B = 0;
    if (walk->slm_B + (uint64_t)count * ZS_GPU_LOCAL_GAP_B > model->slm_B)
        return;
    for (uint32_t i = 1; i < count; i++) {
        uint64_t size_B = locals[i].from_B - locals[i - 1].from_B;
        const struct zs_payload *below = locals[i - 1].field;
        const char *name = c->kernel->args[below->arg].name;
        struct zs_port_gap *gap = &c->gaps[walk->gap_count];
        if (size_B) {
            gap->begin_B = c->kernel->slm_B + (uint32_t)locals[i].from_B + moved_B;
            moved_B += ZS_GPU_LOCAL_GAP_B;
            gap->end_B = gap->begin_B + ZS_GPU_LOCAL_GAP_B;
            gap->below_B = (uint32_t)size_B;
            zs_gpu_name_local(below->arg, name, gap->below, sizeof(gap->below));
            walk->gap_count++;
        }
        zs_store_u32(find_field(c, locals[i].field), (uint32_t)locals[i].from_B + moved_B);
    }
    walk->gaps = c->gaps;
    walk->slm_B += moved_B;
}

void zs_drm_check_launch(const struct zs_gpu_model *model, struct zs_gpu_walk *walk,
                         struct zs_drm_checked *c)
{
    unsigned kinds = zs_drm_checks();
    c->walk = walk;
    walk->time_limit_ns = check.time_limit_ns;
    walk->private_va = private_va(c);
    walk->private_thread_B = c->kernel ? c->kernel->private_per_hw_thread_B : 0;
    if (!kinds || (!c->kernel && zs_drm_has_names()))
        return;
    walk->flags |=
        (kinds & ZS_CHECK_MEMORY ? ZS_GPU_LAUNCH_CHECK_SURFACES | ZS_GPU_LAUNCH_STRICT : 0u) |
        (kinds & ZS_CHECK_INIT ? ZS_GPU_LAUNCH_CHECK_UNWRITTEN : 0u) |
        (kinds & ZS_CHECK_RACE ? ZS_GPU_LAUNCH_CHECK_RACES : 0u) |
        (kinds & ZS_CHECK_SYNC ? ZS_GPU_LAUNCH_CHECK_SYNC : 0u);
    walk->found = on_found;
    walk->found_context = c;
    if (kinds & ZS_CHECK_MEMORY)
        part_locals(model, walk, c);
}
