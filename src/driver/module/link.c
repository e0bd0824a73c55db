/* SPDX-License-Identifier: MIT */
/*
 * Linking. Functions of a module and kernels have an address in their context each, which nobody
 * else has; `ip` is that address, and function pointers are. What a kernel may execute is one block
 * of code:
 *
 *     [functions of other modules] [functions of its module][functions of each linked module] [the
 * kernel]
 *
 * those of other modules only when it calls functions by address: they may be anybody's. Variables
 * are memory of the context, and have one address for all.
 */
#include "driver/module/module.h"

#include "base/reader.h"
#include "base/vec.h"
#include "driver/memory/memory.h"

#include <errno.h>
#include <stdlib.h>

/* No more than a compacted instruction: padding must not be taken for one. */
enum { HOLDER_ALIGN_B = 8 };

static const struct zs_kernel *holder_of(const struct zs_image *image)
{
    for (uint32_t i = 0; i < image->kernel_count; i++) {
        if (image->kernels[i].is_function_holder)
            return &image->kernels[i];
    }
    return NULL;
}

static uint64_t holder_B(const struct zs_ze_module *module)
{
    const struct zs_kernel *holder = holder_of(module->image);
    return holder ? zs_align_up(holder->code.size_B, HOLDER_ALIGN_B) : 0;
}

/* ---- Places ------------------------------------------------------------------------------------
 */

/* Those of functions, and of kernels that debuggers know, are not used again: an old pointer leads
 * nowhere. Those of kernels, which nobody else has, are once their code is gone. */

/* For debuggers each kernel has one place, whatever is made of it. */
static bool place_kernels(struct zs_ze_module *module)
{
    struct zs_ze_context *context = module->context;
    const struct zs_image *image = module->image;
    bool ok = true;
    module->kernel_ip_B = calloc(image->kernel_count + 1u, sizeof(*module->kernel_ip_B));
    if (!module->kernel_ip_B)
        return false;
    pthread_mutex_lock(&context->code_lock);
    for (uint32_t i = 0; i < image->kernel_count && ok; i++) {
        if (!image->kernels[i].is_function_holder)
            module->kernel_ip_B[i] =
                zs_code_place_take(&context->places, image->kernels[i].code.size_B);
        ok = module->kernel_ip_B[i] || image->kernels[i].is_function_holder;
    }
    pthread_mutex_unlock(&context->code_lock);
    return ok;
}

bool zs_link_place(struct zs_ze_module *module)
{
    struct zs_ze_context *context = module->context;
    uint64_t size_B = holder_B(module);
    if (context->code_base_va && !place_kernels(module))
        return false;
    if (!size_B)
        return true;
    pthread_mutex_lock(&context->code_lock);
    module->ip_B = zs_code_place_take(&context->places, size_B);
    module->holder_size_B = module->ip_B ? (uint32_t)size_B : 0;
    if (module->ip_B) {
        module->code_next = context->code_modules;
        if (module->code_next)
            module->code_next->code_at = &module->code_next;
        module->code_at = &context->code_modules;
        context->code_modules = module;
    }
    pthread_mutex_unlock(&context->code_lock);
    return module->ip_B != 0;
}

void zs_link_withdraw(struct zs_ze_module *module)
{
    if (!module->ip_B)
        return;
    pthread_mutex_lock(&module->context->code_lock);
    *module->code_at = module->code_next;
    if (module->code_next)
        module->code_next->code_at = module->code_at;
    pthread_mutex_unlock(&module->context->code_lock);
}

uint64_t zs_link_address(const struct zs_ze_module *owner, const struct zs_place *place)
{
    static const int buffer_of[ZS_PLACE_COUNT] = {[ZS_PLACE_CONSTANT] = ZS_BUFFER_CONSTANT + 1,
                                                  [ZS_PLACE_GLOBAL] = ZS_BUFFER_GLOBAL + 1,
                                                  [ZS_PLACE_STRINGS] = ZS_BUFFER_STRINGS + 1};
    if (buffer_of[place->kind]) {
        const void *base = owner->buffers[buffer_of[place->kind] - 1];
        return base ? (uintptr_t)base + place->offset_B : 0;
    }
    if (place->kind != ZS_PLACE_KERNEL || place->index >= owner->image->kernel_count)
        return 0;
    if (!owner->image->kernels[place->index].is_function_holder)
        return 0;
    return owner->ip_B ? owner->ip_B + place->offset_B : 0;
}

static const struct zs_symbol *find_in(const struct zs_symbol *symbols, uint32_t count,
                                       const char *name)
{
    for (uint32_t i = 0; i < count; i++) {
        if (symbols[i].place.kind != ZS_PLACE_NONE && strcmp(symbols[i].name, name) == 0)
            return &symbols[i];
    }
    return NULL;
}

static const struct zs_symbol *find_own(const struct zs_ze_module *module, const char *name)
{
    const struct zs_image *image = module->image;
    const struct zs_symbol *symbol = find_in(image->symbols, image->symbol_count, name);
    for (uint32_t k = 0; k < image->kernel_count && !symbol; k++)
        symbol = find_in(image->kernels[k].symbols, image->kernels[k].symbol_count, name);
    return symbol;
}

const struct zs_symbol *zs_link_find(const struct zs_ze_module *module, const char *name,
                                     const struct zs_ze_module **ret_owner)
{
    const struct zs_symbol *symbol = find_own(module, name);
    *ret_owner = module;
    for (uint32_t i = 0; i < module->linked_count && !symbol; i++) {
        *ret_owner = module->linked[i];
        symbol = find_own(module->linked[i], name);
    }
    return symbol;
}

/* Values that the driver defines: none of our kernels has implicit arguments or tiles. */
static bool is_special(const char *name)
{
    return strcmp(name, "__INTEL_PATCH_CROSS_THREAD_OFFSET_OFF_R0") == 0 ||
           strcmp(name, "__SubDeviceID") == 0;
}

/* Where rows of local ids begin: behind all cross-thread data, or by the symbol (Xe3P) behind what
 * of it is not inline. */
static bool is_behind_inline(const struct zs_relocation *relocation)
{
    return strcmp(relocation->symbol, "__INTEL_PER_THREAD_OFF") == 0;
}

static bool is_per_thread(const struct zs_relocation *relocation)
{
    return relocation->kind == ZS_RELOCATION_PER_THREAD_PAYLOAD || is_behind_inline(relocation);
}

static uint32_t per_thread_offset_B(const struct zs_relocation *relocation,
                                    const struct zs_kernel *kernel)
{
    uint32_t inline_B = is_behind_inline(relocation) ? kernel->thread.inline_data_B : 0;
    return kernel->thread.cross_thread_B - ZS_MIN(inline_B, kernel->thread.cross_thread_B);
}

/* What a relocation of `owner` writes into code that `user` runs. */
static bool resolve(const struct zs_ze_module *user, const struct zs_ze_module *owner,
                    const struct zs_relocation *relocation, uint64_t *ret_value)
{
    *ret_value = 0;
    if (relocation->target.kind != ZS_PLACE_NONE) {
        *ret_value = zs_link_address(owner, &relocation->target);
        return *ret_value != 0;
    }
    if (is_special(relocation->symbol))
        return true;
    const struct zs_ze_module *definer;
    const struct zs_symbol *symbol = zs_link_find(user, relocation->symbol, &definer);
    if (!symbol && user != owner)
        symbol = zs_link_find(owner, relocation->symbol, &definer);
    if (symbol)
        *ret_value = zs_link_address(definer, &symbol->place);
    return *ret_value != 0;
}

static uint64_t load(const uint8_t *at, uint32_t size_B)
{
    uint64_t value = 0;
    for (uint32_t i = 0; i < size_B; i++)
        value |= (uint64_t)at[i] << (8 * i);
    return value;
}

static void store(uint8_t *at, uint32_t size_B, uint64_t value)
{
    for (uint32_t i = 0; i < size_B; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

/* Patch `bytes`, which hold the place that the relocation names. */
static int apply(const struct zs_ze_module *user, const struct zs_ze_module *owner,
                 const struct zs_relocation *relocation, const struct zs_kernel *kernel,
                 uint8_t *bytes, size_t bytes_B, struct zs_diag *diag)
{
    uint32_t size_B = zs_relocation_size_B(relocation->kind);
    uint64_t at_B = relocation->at.offset_B, value;
    if (size_B == 0)
        return 0;
    if (at_B > bytes_B || size_B > bytes_B - at_B)
        return zs_diag_set(diag, -EBADMSG, at_B, "a relocation lies outside its section");
    if (is_per_thread(relocation)) {
        store(bytes + at_B, size_B, kernel ? per_thread_offset_B(relocation, kernel) : 0);
        return 0;
    }
    if (!resolve(user, owner, relocation, &value))
        return zs_diag_set(diag, -ENOENT, ZS_DIAG_NO_OFFSET, "%s is not defined",
                           relocation->symbol);
    if (relocation->has_addend)
        value += (uint64_t)relocation->addend;
    if (relocation->kind == ZS_RELOCATION_ADDRESS_HI)
        value >>= 32;
    if (relocation->adds_in_place)
        value += load(bytes + at_B, size_B);
    store(bytes + at_B, size_B, value);
    return 0;
}

/* ---- Buffers -----------------------------------------------------------------------------------
 */

static int make_buffer(struct zs_ze_module *module, enum zs_buffer_kind kind)
{
    static const char *const labels[] = {"program constants", "program variables",
                                         "program strings"};
    const struct zs_data_buffer *buffer = &module->image->buffers[kind];
    if (!buffer->present || buffer->size_B == 0)
        return 0;
    const struct zs_range_desc desc = {.device = module->device,
                                       .kind = kind == ZS_BUFFER_GLOBAL ? ZS_GPU_MEMORY_GLOBAL
                                                                        : ZS_GPU_MEMORY_CONSTANT,
                                       .size_B = buffer->size_B,
                                       .label = labels[kind],
                                       .fd = -1,
                                       .relaxed = true};
    if (zs_memory_alloc(module->context, &desc, &module->buffers[kind]) != ZE_RESULT_SUCCESS)
        return -ENOMEM;
    size_t init_B = (size_t)ZS_MIN((uint64_t)buffer->init.size_B, buffer->size_B);
    if (init_B)
        memcpy(module->buffers[kind], buffer->init.data, init_B);
    return 0;
}

int zs_link_buffers(struct zs_ze_module *module, struct zs_diag *diag)
{
    static const int buffer_of[ZS_PLACE_COUNT] = {[ZS_PLACE_CONSTANT] = ZS_BUFFER_CONSTANT + 1,
                                                  [ZS_PLACE_GLOBAL] = ZS_BUFFER_GLOBAL + 1,
                                                  [ZS_PLACE_STRINGS] = ZS_BUFFER_STRINGS + 1};
    const struct zs_image *image = module->image;
    for (int kind = 0; kind < ZS_BUFFER_COUNT; kind++) {
        int error = module->buffers[kind] ? 0 : make_buffer(module, (enum zs_buffer_kind)kind);
        if (error)
            return zs_diag_set(diag, error, ZS_DIAG_NO_OFFSET, "no memory for %llu bytes of data",
                               (unsigned long long)image->buffers[kind].size_B);
    }
    for (uint32_t i = 0; i < image->relocation_count; i++) {
        const struct zs_relocation *relocation = &image->relocations[i];
        int buffer = buffer_of[relocation->at.kind];
        if (!buffer || !module->buffers[buffer - 1])
            continue;
        struct zs_diag ignored = {0};
        int error = apply(module, module, relocation, NULL, module->buffers[buffer - 1],
                          (size_t)image->buffers[buffer - 1].size_B, &ignored);
        /* what is not defined yet comes with dynamic linking */
        if (error && error != -ENOENT)
            return zs_diag_set(diag, error, ignored.offset_B, "%s", ignored.text);
    }
    return 0;
}

/* ---- Code --------------------------------------------------------------------------------------
 */

/* Where the functions of a holder start. */
static bool add_functions(const struct zs_symbol *symbols, uint32_t count,
                          const struct zs_kernel *holder, size_t at_B,
                          struct zs_linked_code *linked)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct zs_place *place = &symbols[i].place;
        if (symbols[i].kind == ZS_SYMBOL_FUNCTION && place->kind == ZS_PLACE_KERNEL &&
            place->index == holder->index && place->offset_B < holder->code.size_B &&
            !ZS_VEC_PUSH(&linked->functions, (uint32_t)(at_B + place->offset_B)))
            return false;
    }
    return true;
}

static bool add_holder_functions(const struct zs_ze_module *owner, const struct zs_kernel *holder,
                                 size_t at_B, struct zs_linked_code *linked)
{
    return add_functions(owner->image->symbols, owner->image->symbol_count, holder, at_B, linked) &&
           add_functions(holder->symbols, holder->symbol_count, holder, at_B, linked);
}

static bool add_segment(struct zs_linked_code *linked, size_t at_B, uint32_t ip_B)
{
    const struct zs_gpu_segment segment = {(uint32_t)at_B, (uint32_t)(linked->code.size_B - at_B),
                                           ip_B};
    return !linked->code.error && linked->code.size_B < UINT32_MAX &&
           ZS_VEC_PUSH(&linked->segments, segment);
}

static int relocate(const struct zs_ze_module *user, const struct zs_ze_module *owner,
                    const struct zs_kernel *kernel, uint8_t *code, struct zs_diag *diag)
{
    int error = 0;
    for (uint32_t i = 0; i < kernel->relocation_count && !error; i++)
        error =
            apply(user, owner, &kernel->relocations[i], kernel, code, kernel->code.size_B, diag);
    return error;
}

static int add_code(const struct zs_ze_module *user, const struct zs_ze_module *owner,
                    const struct zs_kernel *kernel, uint32_t ip_B, struct zs_linked_code *linked,
                    struct zs_diag *diag)
{
    struct zs_buf *code = &linked->code;
    size_t at_B = code->size_B, align_B = kernel->is_function_holder ? HOLDER_ALIGN_B : 1;
    zs_buf_append(code, kernel->code.data, kernel->code.size_B);
    if (code->size_B % align_B)
        zs_buf_pad(code, 0, align_B - code->size_B % align_B);
    if (!add_segment(linked, at_B, ip_B) ||
        (kernel->is_function_holder && !add_holder_functions(owner, kernel, at_B, linked)))
        return zs_diag_set(diag, -ENOMEM, ZS_DIAG_NO_OFFSET, "no memory for the code");
    return relocate(user, owner, kernel, code->data + at_B, diag);
}

int zs_link_publish(struct zs_ze_module *module, struct zs_diag *diag)
{
    struct zs_ze_context *context = module->context;
    const struct zs_kernel *holder = holder_of(module->image);
    struct zs_buf code = {0};
    if (!module->ip_B || module->code.size_B)
        return 0;
    zs_buf_append(&code, holder->code.data, holder->code.size_B);
    zs_buf_pad(&code, 0, module->holder_size_B - holder->code.size_B);
    int error = code.error ? zs_diag_set(diag, -ENOMEM, ZS_DIAG_NO_OFFSET, "no memory")
                           : relocate(module, module, holder, code.data, diag);
    if (error) {
        zs_buf_fini(&code);
        return error;
    }
    pthread_mutex_lock(&context->code_lock);
    module->code = code;
    context->code_generation++;
    pthread_mutex_unlock(&context->code_lock);
    return 0;
}

static bool is_linked_with(const struct zs_ze_module *user, const struct zs_ze_module *other)
{
    bool found = user == other;
    for (uint32_t i = 0; i < user->linked_count && !found; i++)
        found = user->linked[i] == other;
    return found;
}

/* Under code_lock: functions that only a computed jump leads to. */
static bool add_others(const struct zs_ze_module *user, struct zs_linked_code *linked)
{
    for (const struct zs_ze_module *m = user->context->code_modules; m; m = m->code_next) {
        size_t at_B = linked->code.size_B;
        if (m->code.size_B == 0 || is_linked_with(user, m))
            continue;
        zs_buf_append(&linked->code, m->code.data, m->code.size_B);
        if (!add_segment(linked, at_B, m->ip_B) ||
            !add_holder_functions(m, holder_of(m->image), at_B, linked))
            return false;
    }
    return true;
}

int zs_link_code(struct zs_ze_module *module, const struct zs_kernel *kernel, bool all,
                 struct zs_linked_code *ret_linked, struct zs_diag *diag)
{
    struct zs_ze_context *context = module->context;
    pthread_mutex_lock(&context->code_lock);
    ret_linked->generation = context->code_generation;
    uint32_t ip_B = module->kernel_ip_B ? module->kernel_ip_B[kernel->index]
                                        : zs_code_place_take(&context->places, kernel->code.size_B);
    ret_linked->ip_B = module->kernel_ip_B ? 0 : ip_B;
    int error = !ip_B || (all && !add_others(module, ret_linked)) ? -ENOMEM : 0;
    pthread_mutex_unlock(&context->code_lock);
    if (error)
        return zs_diag_set(diag, error, ZS_DIAG_NO_OFFSET, "no memory for the code");
    const struct zs_kernel *holder = holder_of(module->image);
    if (holder)
        error = add_code(module, module, holder, module->ip_B, ret_linked, diag);
    for (uint32_t i = 0; i < module->linked_count && !error; i++) {
        const struct zs_ze_module *linked = module->linked[i];
        holder = holder_of(linked->image);
        if (holder)
            error = add_code(module, linked, holder, linked->ip_B, ret_linked, diag);
    }
    ret_linked->entry_B = (uint32_t)ret_linked->code.size_B;
    return error ? error : add_code(module, module, kernel, ip_B, ret_linked, diag);
}

const struct zs_kernel *zs_link_locate(struct zs_ze_kernel *kernel, int64_t offset_B,
                                       struct zs_ze_module **ret_owner, uint64_t *ret_offset_B)
{
    struct zs_ze_context *context = kernel->module->context;
    *ret_offset_B = (uint64_t)offset_B;
    *ret_owner = NULL;
    if (offset_B >= 0) {
        *ret_owner = zs_object_ref(kernel->module);
        return kernel->kernel;
    }
    uint32_t ip_B = zs_gpu_kernel_ip(kernel->gpu, offset_B);
    const struct zs_kernel *holder = NULL;
    pthread_mutex_lock(&context->code_lock);
    struct zs_ze_module *m = context->code_modules;
    while (m && ip_B - m->ip_B >= m->holder_size_B)
        m = m->code_next;
    if (m && zs_object_ref_live(m)) { /* not one that is just going */
        *ret_owner = m;
        *ret_offset_B = ip_B - m->ip_B;
        holder = holder_of(m->image);
    }
    pthread_mutex_unlock(&context->code_lock);
    return holder;
}

void zs_link_give_back(struct zs_ze_module *module, const struct zs_kernel *kernel, uint32_t ip_B)
{
    pthread_mutex_lock(&module->context->code_lock);
    zs_code_place_give_back(&module->context->places, ip_B, kernel->code.size_B);
    pthread_mutex_unlock(&module->context->code_lock);
}

void zs_linked_code_fini(struct zs_linked_code *linked)
{
    zs_buf_fini(&linked->code);
    free(linked->functions.items);
    free(linked->segments.items);
}

/* ---- What is missing ---------------------------------------------------------------------------
 */

static uint32_t unresolved_in(const struct zs_ze_module *module,
                              const struct zs_relocation *relocations, uint32_t count,
                              struct zs_buf *out)
{
    uint32_t missing = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct zs_relocation *relocation = &relocations[i];
        const struct zs_ze_module *owner;
        if (relocation->target.kind != ZS_PLACE_NONE || !relocation->symbol[0] ||
            is_per_thread(relocation) || zs_relocation_size_B(relocation->kind) == 0 ||
            is_special(relocation->symbol) || zs_link_find(module, relocation->symbol, &owner))
            continue;
        if (out)
            zs_buf_printf(out, "%s\n", relocation->symbol);
        missing++;
    }
    return missing;
}

uint32_t zs_link_unresolved(const struct zs_ze_module *module, struct zs_buf *out)
{
    const struct zs_image *image = module->image;
    uint32_t missing = unresolved_in(module, image->relocations, image->relocation_count, out);
    for (uint32_t k = 0; k < image->kernel_count; k++)
        missing += unresolved_in(module, image->kernels[k].relocations,
                                 image->kernels[k].relocation_count, out);
    return missing;
}
