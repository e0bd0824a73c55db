/* SPDX-License-Identifier: MIT */
#include "walk.h"

#include "module/elf.h"
#include "report/inspect.h"

struct walk {
    const struct zs_module *module;
    const struct zs_image *image;
    uint64_t sum; /* of bytes that were read: the sanitizer sees each access */
};

static int swallow(void *user, const void *data, size_t size_B)
{
    uint64_t *sum = user;
    *sum += size_B ? ((const uint8_t *)data)[size_B - 1] : 0;
    return 0;
}

static void touch(struct walk *w, struct zs_span span)
{
    struct zs_span input = w->module->bytes, debug = w->module->debug_bytes;
    if (span.size_B == 0)
        return;
    uintptr_t at = (uintptr_t)span.data, end = at + span.size_B;
    bool in_input = at >= (uintptr_t)input.data && end <= (uintptr_t)input.data + input.size_B;
    bool in_debug = at >= (uintptr_t)debug.data && end <= (uintptr_t)debug.data + debug.size_B;
    zs_assert(in_input || in_debug);
    w->sum += span.data[0] + (uint64_t)span.data[span.size_B - 1];
}

static void check_text(struct walk *w, const char *text)
{
    zs_assert(text != NULL);
    w->sum += strlen(text);
}

static uint64_t place_size_B(const struct walk *w, const struct zs_place *place)
{
    switch (place->kind) {
    case ZS_PLACE_KERNEL:
        zs_assert(place->index < w->image->kernel_count);
        return w->image->kernels[place->index].heap.size_B;
    case ZS_PLACE_CONSTANT:
        return w->image->buffers[ZS_BUFFER_CONSTANT].size_B;
    case ZS_PLACE_GLOBAL:
        return w->image->buffers[ZS_BUFFER_GLOBAL].size_B;
    case ZS_PLACE_STRINGS:
        return w->image->buffers[ZS_BUFFER_STRINGS].size_B;
    case ZS_PLACE_SECTION:
        zs_assert(place->index < w->module->parts[w->image->part].section_count);
        return UINT64_MAX;
    default:
        return UINT64_MAX;
    }
}

static void check_symbols(struct walk *w, const struct zs_symbol *symbols, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        check_text(w, symbols[i].name);
        check_text(w, zs_symbol_kind_name(symbols[i].kind));
        zs_assert(symbols[i].place.offset_B <= place_size_B(w, &symbols[i].place));
    }
}

static void check_relocations(struct walk *w, const struct zs_relocation *relocations,
                              uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct zs_relocation *r = &relocations[i];
        uint64_t size_B = place_size_B(w, &r->at);
        check_text(w, r->symbol);
        zs_assert(r->at.kind != ZS_PLACE_NONE);
        zs_assert(r->at.offset_B <= size_B &&
                  zs_relocation_size_B(r->kind) <= size_B - r->at.offset_B);
        zs_assert(r->target.offset_B <= place_size_B(w, &r->target));
    }
}

static void check_args(struct walk *w, const struct zs_kernel *k)
{
    for (uint32_t i = 0; i < k->arg_count; i++) {
        const struct zs_arg *a = &k->args[i];
        zs_assert(a->index == i && a->kind < ZS_ARG_KIND_COUNT);
        zs_assert(a->surface == ZS_NONE || a->surface < k->surface_count);
        zs_assert(a->sampler == ZS_NONE || a->sampler < k->sampler_count);
        check_text(w, a->name);
        check_text(w, a->type);
        check_text(w, a->address_qualifier);
        check_text(w, a->access_qualifier);
        check_text(w, a->type_qualifiers);
    }
    for (uint32_t i = 0; i < k->payload_count; i++) {
        const struct zs_payload *p = &k->payload[i];
        uint32_t total_B = k->thread.cross_thread_B;
        zs_assert(p->kind < ZS_PAYLOAD_COUNT && p->dim < 3);
        zs_assert(p->arg == ZS_NONE || p->arg < k->arg_count);
        zs_assert(p->offset_B <= total_B && p->size_B <= total_B - p->offset_B);
        zs_assert(i == 0 || k->payload[i - 1].offset_B <= p->offset_B);
    }
    for (uint32_t i = 0; i < k->surface_count; i++) {
        const struct zs_surface *s = &k->surfaces[i];
        zs_assert(s->kind < ZS_SURFACE_KIND_COUNT);
        zs_assert(s->arg == ZS_NONE || s->arg < k->arg_count);
        zs_assert(s->ssh_offset_B == ZS_NONE ||
                  (s->ssh_offset_B <= k->ssh.size_B && k->ssh.size_B - s->ssh_offset_B >= 64));
        zs_assert(s->bti == ZS_NONE || s->bti < k->binding_table_count);
    }
    for (uint32_t i = 0; i < k->sampler_count; i++) {
        const struct zs_sampler *s = &k->samplers[i];
        zs_assert(s->arg == ZS_NONE || s->arg < k->arg_count);
        zs_assert(s->dsh_offset_B == ZS_NONE ||
                  (s->dsh_offset_B <= k->dsh.size_B && k->dsh.size_B - s->dsh_offset_B >= 16));
    }
}

static void check_kernel(struct walk *w, const struct zs_kernel *k)
{
    bool ok;
    check_text(w, k->name);
    check_text(w, k->attributes);
    check_text(w, k->vec_type_hint);
    check_text(w, k->invalid_reason);
    check_text(w, k->thread_scheduling);
    touch(w, k->heap);
    touch(w, k->gsh);
    touch(w, k->dsh);
    touch(w, k->ssh);
    touch(w, k->debug.elf);
    zs_assert(k->code.size_B <= k->heap.size_B && k->code.data == k->heap.data);
    zs_assert(k->simd == 1 || k->simd == 8 || k->simd == 16 || k->simd == 32);
    zs_assert(k->grf_count > 0 && (k->grf_B == 32 || k->grf_B == 64));
    zs_assert(k->walk_order[0] < 3 && k->walk_order[1] < 3 && k->walk_order[2] < 3);
    zs_assert(k->thread.skip_per_thread_load_B <= k->heap.size_B);
    check_args(w, k);
    check_symbols(w, k->symbols, k->symbol_count);
    check_relocations(w, k->relocations, k->relocation_count);
    for (uint32_t i = 0; i < k->string_count; i++) {
        check_text(w, k->strings[i].text);
        zs_assert(zs_kernel_string(k, k->strings[i].index) != NULL);
    }
    w->sum += zs_kernel_checksum(w->image, k, &ok);
    w->sum += zs_image_kernel(w->image, k->name)->index;
}

static void check_image(struct walk *w, const struct zs_image *image)
{
    w->image = image;
    check_text(w, image->device);
    check_text(w, image->build_options);
    check_text(w, image->ir_format);
    check_text(w, image->zebin_version);
    zs_assert(image->part < w->module->part_count && image->outer_part < w->module->part_count);
    touch(w, image->bytes);
    touch(w, image->ir);
    touch(w, image->ze_info);
    for (uint32_t i = 0; i < ZS_BUFFER_COUNT; i++) {
        touch(w, image->buffers[i].init);
        zs_assert(image->buffers[i].init.size_B <= image->buffers[i].size_B);
    }
    check_symbols(w, image->symbols, image->symbol_count);
    check_relocations(w, image->relocations, image->relocation_count);
    for (uint32_t i = 0; i < image->kernel_count; i++)
        check_kernel(w, &image->kernels[i]);
}

void zs_fuzz_module(struct zs_span bytes, struct zs_span debug)
{
    struct zs_module *module;
    struct zs_diag diag = {0};
    struct zs_module_options options = {.size_B = sizeof(options), .borrow = true, .debug = debug};
    int error = zs_module_open_memory(bytes, &options, &module, &diag);
    if (error) {
        zs_assert(module == NULL && diag.error == error && diag.text[0]);
        return;
    }
    struct walk w = {.module = module};
    for (uint32_t i = 0; i < module->part_count; i++)
        touch(&w, module->parts[i].bytes);
    for (uint32_t i = 0; i < module->image_count; i++)
        check_image(&w, &module->images[i]);
    for (uint32_t i = 0; i < module->debug_entry_count; i++) {
        check_text(&w, module->debug_entries[i].name);
        touch(&w, module->debug_entries[i].elf);
        touch(&w, module->debug_entries[i].genisa);
    }
    struct zs_inspect_options view = {.input = "input", .details = true, .tokens = true};
    zs_assert(zs_report_inspect_text(module, &view, swallow, &w.sum) == 0);
    zs_assert(zs_report_inspect_json(module, &view, swallow, &w.sum) == 0);
    zs_module_close(module);
}
