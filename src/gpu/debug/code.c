/* SPDX-License-Identifier: MIT */
/*
 * Code that a debugger reads and writes.
 *
 * The bytes of each piece of code, a kernel's or the functions of a module, stand once, at its
 * place; kernels that contain it are lowered from there. What runs is lowered again when bytes have
 * changed: an instruction whose breakpoint bit is set gets a stop in front of it, all others stay
 * as they were; where an instruction itself was replaced the whole kernel is what it says now,
 * keeps the block starts it had (lanes may wait there), and is not counted. Versions that a record
 * has are kept with it: going back puts their bytes where they were.
 */
#include "gpu/debug/debug_priv.h"

#include "base/reader.h"
#include "base/vec.h"

#include <errno.h>
#include <stdlib.h>

enum { COMPACT_BIT = 29, FULL_BREAKPOINT_BIT = 30, COMPACT_BREAKPOINT_BIT = 7 };

struct zs_gpu_debug_code {
    struct zs_gpu_debug_code *next;
    uint64_t gpu_va;
    size_t size_B;
    uint8_t bytes[];
};

/* ---- pieces ------------------------------------------------------------------------------------
 */

int zs_gpu_debug_code_add(struct zs_gpu_debug *debug, uint64_t gpu_va, struct zs_span bytes,
                          struct zs_gpu_debug_code **ret_code)
{
    struct zs_gpu_debug_code *code = malloc(sizeof(*code) + bytes.size_B);
    if (!code)
        return -ENOMEM;
    code->gpu_va = gpu_va;
    code->size_B = bytes.size_B;
    if (bytes.size_B)
        memcpy(code->bytes, bytes.data, bytes.size_B);
    pthread_mutex_lock(&debug->lock);
    code->next = debug->codes;
    debug->codes = code;
    pthread_mutex_unlock(&debug->lock);
    *ret_code = code;
    return 0;
}

void zs_gpu_debug_code_remove(struct zs_gpu_debug *debug, struct zs_gpu_debug_code *code)
{
    struct zs_gpu_debug_code **at = &debug->codes;
    if (!code)
        return;
    pthread_mutex_lock(&debug->lock);
    while (*at != code)
        at = &(*at)->next;
    *at = code->next;
    pthread_mutex_unlock(&debug->lock);
    free(code);
}

static struct zs_gpu_debug_code *find(const struct zs_gpu_debug *debug, uint64_t gpu_va)
{
    struct zs_gpu_debug_code *code = debug->codes;
    while (code && gpu_va - code->gpu_va >= code->size_B)
        code = code->next;
    return code;
}

/* Under the lock. */
static int find_range(const struct zs_gpu_debug *debug, uint64_t gpu_va, size_t size_B,
                      uint8_t **ret_bytes)
{
    struct zs_gpu_debug_code *code = find(debug, gpu_va);
    if (!code)
        return -ENOENT;
    size_t at_B = (size_t)(gpu_va - code->gpu_va);
    if (size_B > code->size_B - at_B)
        return -EINVAL;
    *ret_bytes = code->bytes + at_B;
    return 0;
}

int zs_gpu_debug_code_read(struct zs_gpu_debug *debug, uint64_t gpu_va, void *ret_bytes,
                           size_t size_B)
{
    uint8_t *from = NULL;
    pthread_mutex_lock(&debug->lock);
    int error = find_range(debug, gpu_va, size_B, &from);
    if (!error && size_B)
        memcpy(ret_bytes, from, size_B);
    pthread_mutex_unlock(&debug->lock);
    return error;
}

int zs_gpu_debug_code_write(struct zs_gpu_debug *debug, uint64_t gpu_va, const void *bytes,
                            size_t size_B)
{
    uint8_t *to = NULL;
    pthread_mutex_lock(&debug->lock);
    int error = find_range(debug, gpu_va, size_B, &to);
    if (!error && size_B && memcmp(to, bytes, size_B) != 0) {
        memcpy(to, bytes, size_B);
        debug->code_generation++;
        atomic_store(&debug->written, true);
        zs_gpu_debug_change_epoch(debug);
    }
    pthread_mutex_unlock(&debug->lock);
    return error;
}

/* ---- breakpoints -------------------------------------------------------------------------------
 */

/* Size of the instruction at `bytes` and where its breakpoint bit is; 0: cut off. */
static uint32_t measure(const uint8_t *bytes, size_t left_B, uint32_t *ret_bit)
{
    if (left_B < 8)
        return 0;
    bool compact = zs_load_u32(bytes) >> COMPACT_BIT & 1;
    *ret_bit = compact ? COMPACT_BREAKPOINT_BIT : FULL_BREAKPOINT_BIT;
    if (!compact && left_B < 16)
        return 0;
    return compact ? 8 : 16;
}

/* The same, and the bit is taken out. */
static uint32_t strip(uint8_t *bytes, size_t left_B, bool *ret_breakpoint)
{
    uint32_t bit, size_B = measure(bytes, left_B, &bit);
    if (!size_B)
        return 0;
    *ret_breakpoint = bytes[bit / 8] >> bit % 8 & 1;
    bytes[bit / 8] &= (uint8_t) ~(1u << bit % 8);
    return size_B;
}

void zs_gpu_debug_code_clean(struct zs_gpu_debug *debug)
{
    for (struct zs_gpu_debug_code *code = debug->codes; code; code = code->next) {
        bool breakpoint;
        uint32_t size_B;
        for (size_t at_B = 0;
             (size_B = strip(code->bytes + at_B, code->size_B - at_B, &breakpoint)) != 0;
             at_B += size_B)
            debug->code_generation += breakpoint;
    }
}

struct stops {
    uint32_t *items;
    size_t count, capacity;
};

static bool find_stops(struct zs_buf *code, struct stops *stops)
{
    bool breakpoint;
    uint32_t size_B;
    for (size_t at_B = 0;
         (size_B = strip(code->data + at_B, code->size_B - at_B, &breakpoint)) != 0;
         at_B += size_B) {
        if (breakpoint && !ZS_VEC_PUSH(stops, (uint32_t)at_B))
            return false;
    }
    return true;
}

/* ---- kernels -----------------------------------------------------------------------------------
 */

static bool copy(void *ret, const void *items, size_t count, size_t item_B)
{
    void **to = ret;
    *to = malloc(count * item_B + 1);
    if (*to && count)
        memcpy(*to, items, count * item_B);
    return *to != NULL;
}

int zs_gpu_kernel_debug_make(struct zs_gpu_kernel *kernel, const struct zs_eu_lower_params *params,
                             uint64_t base_va)
{
    struct zs_gpu_kernel_debug *debug = calloc(1, sizeof(*debug));
    kernel->debug = debug;
    if (!debug)
        return -ENOMEM;
    debug->base_va = base_va;
    debug->params = *params;
    zs_buf_append(&debug->code, params->code.data, params->code.size_B);
    bool ok = !debug->code.error &&
              copy(&debug->targets_B, params->targets_B, params->target_count, sizeof(uint32_t)) &&
              copy(&debug->segments, params->segments, params->segments ? params->segment_count : 0,
                   sizeof(struct zs_eu_segment));
    debug->params.code = zs_buf_span(&debug->code);
    debug->params.targets_B = debug->targets_B;
    if (params->registers) {
        debug->registers = *params->registers;
        debug->params.registers = &debug->registers;
    }
    debug->params.segments = params->segments ? debug->segments : NULL;
    return ok ? 0 : -ENOMEM;
}

static void free_code(const struct zs_gpu_kernel *kernel, struct zs_gpu_code *code)
{
    if (code->program != kernel->program)
        zs_eu_program_destroy(code->program);
    zs_eu_program_destroy(code->stepper);
    zs_eu_program_destroy(code->runner);
    zs_eu_program_destroy(code->listening[0]);
    zs_eu_program_destroy(code->listening[1]);
    free(code->stops_B);
    zs_buf_fini(&code->bytes);
    zs_buf_fini(&code->plain);
    free(code);
}

void zs_gpu_kernel_debug_free(struct zs_gpu_kernel *kernel)
{
    struct zs_gpu_kernel_debug *debug = kernel->debug;
    if (!debug)
        return;
    for (struct zs_gpu_code *code = debug->codes, *next; code; code = next) {
        next = code->next;
        free_code(kernel, code);
    }
    zs_buf_fini(&debug->code);
    free(debug->segments);
    free(debug->targets_B);
    free(debug);
}

/* The kernel's code with what the debugger wrote. */
static void assemble(const struct zs_gpu_debug *debug, const struct zs_gpu_kernel_debug *kernel,
                     struct zs_buf *out)
{
    zs_buf_append(out, kernel->code.data, kernel->code.size_B);
    for (size_t i = 0; kernel->params.segments && i < kernel->params.segment_count; i++) {
        const struct zs_eu_segment *segment = &kernel->segments[i];
        const struct zs_gpu_debug_code *code = find(debug, kernel->base_va + segment->ip_B);
        if (code && code->gpu_va == kernel->base_va + segment->ip_B && !out->error)
            memcpy(out->data + segment->offset_B, code->bytes,
                   ZS_MIN((size_t)segment->size_B, code->size_B));
    }
}

static int lower(struct zs_gpu_kernel *kernel, const struct zs_gpu_code *code, uint32_t flags,
                 const struct stops *stops, struct zs_eu_program **ret)
{
    struct zs_eu_lower_params params = kernel->debug->params;
    struct zs_diag diag = {0};
    uint32_t starts = code->replaced ? zs_eu_program_block_starts(kernel->program, NULL, 0) : 0;
    uint32_t *targets_B = malloc((params.target_count + starts + 1) * sizeof(*targets_B));
    if (!targets_B)
        return -ENOMEM;
    if (params.target_count)
        memcpy(targets_B, params.targets_B, params.target_count * sizeof(*targets_B));
    zs_eu_program_block_starts(kernel->program, targets_B + params.target_count, starts);
    params.targets_B = targets_B;
    params.target_count += starts;
    params.code = zs_buf_span(&code->plain);
    params.flags |= flags;
    if (code->replaced)
        params.flags &= ~(uint32_t)ZS_EU_LOWER_COUNTS;
    if (stops) {
        params.stops_B = stops->items;
        params.stop_count = stops->count;
    }
    int error = zs_eu_lower(&params, ret, &diag);
    free(targets_B);
    return error;
}

/* Versions that nobody runs any more. */
static void prune(struct zs_gpu_kernel *kernel)
{
    struct zs_gpu_code **at = &kernel->debug->codes;
    while (*at) {
        struct zs_gpu_code *code = *at;
        if (code->refs) {
            at = &code->next;
            continue;
        }
        *at = code->next;
        free_code(kernel, code);
    }
}

static struct zs_gpu_code *make(struct zs_gpu_kernel *kernel, struct zs_buf *bytes)
{
    struct zs_gpu_code *code = calloc(1, sizeof(*code));
    struct stops stops = {0};
    struct zs_buf original = {0};
    if (!code)
        return NULL;
    code->bytes = *bytes;
    *bytes = (struct zs_buf){0};
    zs_buf_append(&code->plain, code->bytes.data, code->bytes.size_B);
    zs_buf_append(&original, kernel->debug->code.data, kernel->debug->code.size_B);
    bool ok = !code->plain.error && !original.error && find_stops(&original, &stops);
    stops.count = 0;
    ok = ok && find_stops(&code->plain, &stops);
    if (ok) {
        code->replaced = memcmp(code->plain.data, original.data, original.size_B) != 0;
        code->program = kernel->program;
        if (code->replaced || stops.count)
            ok = lower(kernel, code, 0, &stops, &code->program) == 0;
    }
    zs_buf_fini(&original);
    code->prologue_stop_B = UINT32_MAX;
    for (size_t i = stops.count; i-- > 0;)
        if (stops.items[i] >= kernel->entry_B && stops.items[i] < kernel->start_B)
            code->prologue_stop_B = stops.items[i];
    code->stops_B = stops.items;
    code->stop_count = (uint32_t)stops.count;
    if (!ok) {
        code->program = kernel->program;
        free_code(kernel, code);
        return NULL;
    }
    prune(kernel);
    code->next = kernel->debug->codes;
    kernel->debug->codes = code;
    return code;
}

static struct zs_gpu_code *look_up(struct zs_gpu_kernel *kernel, const struct zs_buf *bytes)
{
    struct zs_gpu_code *code = kernel->debug->codes;
    while (code && (code->bytes.size_B != bytes->size_B ||
                    memcmp(code->bytes.data, bytes->data, bytes->size_B) != 0))
        code = code->next;
    return code;
}

struct zs_gpu_code *zs_gpu_code_get(struct zs_gpu_kernel *kernel)
{
    struct zs_gpu_debug *debug = kernel->device->debug->debug;
    struct zs_gpu_code *code = kernel->debug->codes;
    while (code && code->generation != debug->code_generation)
        code = code->next;
    if (!code) {
        struct zs_buf bytes = {0};
        assemble(debug, kernel->debug, &bytes);
        code = bytes.error ? NULL : look_up(kernel, &bytes);
        if (!code && !bytes.error)
            code = make(kernel, &bytes);
        zs_buf_fini(&bytes);
    }
    if (!code)
        return NULL;
    code->generation = debug->code_generation;
    code->refs++;
    return code;
}

/* Kept, for the next launch: the next change prunes. */
void zs_gpu_code_put(struct zs_gpu_code *code)
{
    code->refs--;
}

const struct zs_eu_program *zs_gpu_code_stepper(struct zs_gpu_kernel *kernel,
                                                struct zs_gpu_code *code)
{
    uint32_t flags = ZS_EU_LOWER_HOOK_STEPS | ZS_EU_LOWER_HOOK_MESSAGES;
    if (!code->stepper && lower(kernel, code, flags, NULL, &code->stepper) != 0)
        return NULL;
    return code->stepper;
}

const struct zs_eu_program *zs_gpu_code_runner(struct zs_gpu_kernel *kernel,
                                               struct zs_gpu_code *code)
{
    if (!code->replaced)
        return kernel->program;
    if (!code->runner && lower(kernel, code, 0, NULL, &code->runner) != 0)
        return NULL;
    return code->runner;
}

/* ---- code in which messages are seen -----------------------------------------------------------
 */

static int compare_offsets(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static bool has_stop(const uint32_t *stops_B, size_t count, uint32_t offset_B)
{
    return count && bsearch(&offset_B, stops_B, count, sizeof(uint32_t), compare_offsets);
}

bool zs_gpu_code_breaks(const struct zs_gpu_code *code, uint32_t offset_B)
{
    return has_stop(code->stops_B, code->stop_count, offset_B);
}

/* Breakpoints where the code has instructions. */
static void put_stops(struct zs_buf *code, const struct stops *stops)
{
    uint32_t bit, size_B;
    for (size_t at_B = 0; (size_B = measure(code->data + at_B, code->size_B - at_B, &bit)) != 0;
         at_B += size_B) {
        if (has_stop(stops->items, stops->count, (uint32_t)at_B))
            code->data[at_B + bit / 8] |= (uint8_t)(1u << bit % 8);
    }
}

void zs_gpu_code_restore(struct zs_gpu_kernel *kernel, const struct zs_gpu_code *code)
{
    struct zs_gpu_debug *debug = kernel->device->debug->debug;
    const struct zs_gpu_kernel_debug *k = kernel->debug;
    struct zs_buf now = {0}, then = {0};
    struct stops stops = {0};
    assemble(debug, k, &now);
    zs_buf_append(&then, code->plain.data, code->plain.size_B);
    bool ok = !now.error && !then.error && find_stops(&now, &stops);
    if (ok)
        put_stops(&then, &stops);
    for (size_t i = 0; ok && k->params.segments && i < k->params.segment_count; i++) {
        const struct zs_eu_segment *segment = &k->segments[i];
        struct zs_gpu_debug_code *piece = find(debug, k->base_va + segment->ip_B);
        if (piece && piece->gpu_va == k->base_va + segment->ip_B)
            memcpy(piece->bytes, then.data + segment->offset_B,
                   ZS_MIN((size_t)segment->size_B, piece->size_B));
    }
    free(stops.items);
    zs_buf_fini(&now);
    zs_buf_fini(&then);
    debug->code_generation++;
    atomic_store(&debug->written, true);
    zs_gpu_debug_change_epoch(debug);
}

/* The breakpoints, and what comes behind messages. */
static bool stops_behind(const struct zs_gpu_code *code, const struct zs_eu_program *program,
                         struct stops *stops)
{
    struct zs_eu_inst_info info;
    bool behind = false;
    for (uint32_t i = 0; zs_eu_program_inst(program, i, &info); i++) {
        if ((behind || zs_gpu_code_breaks(code, info.offset_B)) &&
            !ZS_VEC_PUSH(stops, info.offset_B))
            return false;
        behind = info.is_send;
    }
    return true;
}

const struct zs_eu_program *zs_gpu_code_listening(struct zs_gpu_kernel *kernel,
                                                  struct zs_gpu_code *code, bool stops)
{
    struct zs_eu_program **program = &code->listening[stops];
    struct stops own = {0};
    const struct stops breaks = {code->stops_B, code->stop_count, code->stop_count};
    if (*program)
        return *program;
    bool ok = !stops || stops_behind(code, code->program, &own);
    if (!ok || lower(kernel, code, ZS_EU_LOWER_HOOK_MESSAGES, stops ? &own : &breaks, program) != 0)
        *program = NULL;
    free(own.items);
    return *program;
}
