/* SPDX-License-Identifier: MIT */
/* zescope.inspect/1: everything of the module model, member by member (docs/schema-inspect.md). */
#include "base/json.h"
#include "report/inspect.h"

#include <errno.h>
#include <string.h>

enum { FLUSH_B = 1 << 16 };

struct inspect_json {
    const struct zs_module *module;
    const struct zs_inspect_options *options;
    zs_write_fn *write;
    void *user;
    struct zs_buf buf;
    struct zs_json j;
    int error;
};

/* Hand out what is there when it is much. */
static void flush(struct inspect_json *w, size_t least_B)
{
    if (w->error || w->buf.size_B < least_B || w->buf.size_B == 0)
        return;
    w->error = w->buf.error ? w->buf.error : w->write(w->user, w->buf.data, w->buf.size_B);
    w->buf.size_B = 0;
}

/* Members that stand for "none" are left out. */
static void put_index(struct zs_json *j, const char *key, uint32_t value)
{
    if (value != ZS_NONE)
        zs_json_u64(j, key, value);
}

static void put_text(struct zs_json *j, const char *key, const char *text)
{
    if (text[0])
        zs_json_string(j, key, text);
}

static void put_u32(struct zs_json *j, const char *key, uint32_t value)
{
    if (value)
        zs_json_u64(j, key, value);
}

static void put_flag(struct zs_json *j, const char *key, bool value)
{
    if (value)
        zs_json_bool(j, key, true);
}

static void put_x3(struct zs_json *j, const char *key, const uint32_t *values)
{
    if (!values[0] && !values[1] && !values[2])
        return;
    zs_json_array(j, key);
    for (int i = 0; i < 3; i++)
        zs_json_u64(j, NULL, values[i]);
    zs_json_end(j);
}

/* --- containers --- */

static void put_sections(struct inspect_json *w, const struct zs_part *part)
{
    struct zs_json *j = &w->j;
    zs_json_array(j, "sections");
    for (uint32_t i = 0; i < part->section_count && !w->error; i++) {
        const struct zs_section *s = &part->sections[i];
        zs_json_object(j, NULL);
        zs_json_u64(j, "index", i);
        zs_json_string(j, "name", s->name);
        zs_json_u64(j, "type", s->type);
        put_text(j, "type_name", s->type_name);
        zs_json_u64(j, "flags", s->flags);
        zs_json_u64(j, "address", s->address);
        zs_json_u64(j, "offset", s->offset_B);
        zs_json_u64(j, "size_B", s->size_B);
        zs_json_u64(j, "link", s->link);
        zs_json_u64(j, "info", s->info);
        zs_json_end(j);
        flush(w, FLUSH_B);
    }
    zs_json_end(j);
}

static void put_parts(struct inspect_json *w)
{
    struct zs_json *j = &w->j;
    zs_json_array(j, "containers");
    for (uint32_t i = 0; i < w->module->part_count && !w->error; i++) {
        const struct zs_part *p = &w->module->parts[i];
        zs_json_object(j, NULL);
        zs_json_u64(j, "index", i);
        zs_json_string(j, "kind", zs_container_name(p->kind));
        zs_json_string(j, "name", p->name);
        put_index(j, "parent", p->parent);
        zs_json_string(j, "input", p->input ? "debug" : "module");
        zs_json_u64(j, "offset", p->offset_B);
        zs_json_u64(j, "size_B", p->bytes.size_B);
        if (p->section_count) {
            zs_json_u64(j, "elf_type", p->elf_type);
            zs_json_u64(j, "elf_machine", p->elf_machine);
            put_sections(w, p);
        }
        zs_json_end(j);
    }
    zs_json_end(j);
}

static void put_notes(struct inspect_json *w)
{
    zs_json_array(&w->j, "notes");
    for (uint32_t i = 0; i < w->module->note_count; i++) {
        zs_json_object(&w->j, NULL);
        if (w->module->notes[i].offset_B != ZS_DIAG_NO_OFFSET)
            zs_json_u64(&w->j, "offset", w->module->notes[i].offset_B);
        zs_json_string(&w->j, "text", w->module->notes[i].text);
        zs_json_end(&w->j);
    }
    zs_json_end(&w->j);
}

/* --- tokens --- */

static void put_hex(struct inspect_json *w, const char *key, struct zs_span data)
{
    static const char digits[] = "0123456789abcdef";
    char text[2 * 64];
    size_t shown_B = ZS_MIN(data.size_B, sizeof(text) / 2);
    for (size_t i = 0; i < shown_B; i++) {
        text[2 * i] = digits[data.data[i] >> 4];
        text[2 * i + 1] = digits[data.data[i] & 15];
    }
    zs_json_string_n(&w->j, key, text, 2 * shown_B);
}

static bool put_field(void *ctx, const struct zs_token_field *f)
{
    struct inspect_json *w = ctx;
    struct zs_json *j = &w->j;
    zs_json_object(j, NULL);
    zs_json_string(j, "name", f->name);
    put_index(j, "entry", f->entry);
    if (f->kind == ZS_FIELD_STRING) {
        zs_json_string_n(j, "text", (const char *)f->data.data, f->data.size_B);
    } else if (f->kind == ZS_FIELD_BYTES) {
        zs_json_u64(j, "size_B", f->data.size_B);
        put_hex(w, "bytes", f->data);
    } else {
        zs_json_u64(j, "value", f->value);
        put_text(j, "text", f->text);
    }
    zs_json_end(j);
    flush(w, FLUSH_B);
    return w->error == 0;
}

static void put_tokens(struct inspect_json *w, const struct zs_token_list *list)
{
    struct zs_json *j = &w->j;
    struct zs_token t;
    size_t cursor = 0;
    zs_json_array(j, "tokens");
    while (!w->error && zs_token_next(list, &cursor, &t)) {
        zs_json_object(j, NULL);
        zs_json_u64(j, "number", t.number);
        zs_json_string(j, "name", t.name);
        zs_json_u64(j, "offset", t.offset_B);
        zs_json_u64(j, "size_B", t.size_B);
        zs_json_array(j, "fields");
        zs_token_fields(list, &t, put_field, w);
        zs_json_end(j);
        zs_json_end(j);
        flush(w, FLUSH_B);
    }
    zs_json_end(j);
}

/* --- symbols and relocations --- */

/* A kernel is named by its index: a hostile name would be repeated for every symbol. */
static void put_place(struct zs_json *j, const char *key, const struct zs_place *place)
{
    zs_json_object(j, key);
    zs_json_string(j, "in", zs_inspect_place(place->kind));
    put_index(j, "index", place->index);
    if (place->kind != ZS_PLACE_NONE)
        zs_json_u64(j, "offset", place->offset_B);
    zs_json_end(j);
}

static void put_symbols(struct inspect_json *w, const struct zs_symbol *symbols, uint32_t count)
{
    struct zs_json *j = &w->j;
    zs_json_array(j, "symbols");
    for (uint32_t i = 0; i < count && !w->error; i++) {
        zs_json_object(j, NULL);
        zs_json_string(j, "name", symbols[i].name);
        zs_json_string(j, "kind", zs_symbol_kind_name(symbols[i].kind));
        put_flag(j, "global", symbols[i].global);
        zs_json_u64(j, "size_B", symbols[i].size_B);
        put_place(j, "place", &symbols[i].place);
        zs_json_end(j);
        flush(w, FLUSH_B);
    }
    zs_json_end(j);
}

static void put_relocations(struct inspect_json *w, const struct zs_relocation *relocations,
                            uint32_t count)
{
    struct zs_json *j = &w->j;
    zs_json_array(j, "relocations");
    for (uint32_t i = 0; i < count && !w->error; i++) {
        const struct zs_relocation *r = &relocations[i];
        zs_json_object(j, NULL);
        zs_json_string(j, "kind", zs_relocation_kind_name(r->kind));
        zs_json_u64(j, "offset", r->at.offset_B);
        if (r->at.kind != ZS_PLACE_KERNEL)
            zs_json_string(j, "in", zs_inspect_place(r->at.kind));
        put_text(j, "symbol", r->symbol);
        put_place(j, "target", &r->target);
        if (r->has_addend)
            zs_json_i64(j, "addend", r->addend);
        zs_json_end(j);
        flush(w, FLUSH_B);
    }
    zs_json_end(j);
}

/* --- kernels --- */

static void put_bits(struct zs_json *j, const char *key, uint32_t bits,
                     const char *(*name)(uint32_t index))
{
    zs_json_array(j, key);
    for (uint32_t i = 0; name(i); i++)
        if (bits >> i & 1)
            zs_json_string(j, NULL, name(i));
    zs_json_end(j);
}

static void put_args(struct inspect_json *w, const struct zs_kernel *k)
{
    struct zs_json *j = &w->j;
    zs_json_array(j, "arguments");
    for (uint32_t i = 0; i < k->arg_count && !w->error; i++) {
        const struct zs_arg *a = &k->args[i];
        zs_json_object(j, NULL);
        zs_json_u64(j, "index", a->index);
        zs_json_string(j, "kind", zs_inspect_arg_kind(a->kind));
        if (a->has_info) {
            zs_json_string(j, "name", a->name);
            zs_json_string(j, "type", a->type);
            zs_json_string(j, "address_qualifier", a->address_qualifier);
            zs_json_string(j, "access_qualifier", a->access_qualifier);
            zs_json_string(j, "type_qualifiers", a->type_qualifiers);
        }
        put_u32(j, "type_size_B", a->type_size_B);
        put_u32(j, "value_size_B", a->value_size_B);
        put_text(j, "address_space", zs_inspect_space(a->space));
        put_text(j, "access", zs_inspect_access(a->access));
        put_bits(j, "qualifiers", a->qualifiers, zs_inspect_qualifier);
        put_bits(j, "address_modes", a->address_modes, zs_inspect_mode);
        put_index(j, "surface", a->surface);
        put_index(j, "sampler", a->sampler);
        put_text(j, "image_type", zs_inspect_image_type(a->image_type));
        put_u32(j, "slm_alignment_B", a->slm_alignment_B);
        put_flag(j, "transformable", a->transformable);
        put_flag(j, "vme", a->vme);
        put_flag(j, "emulation", a->emulation);
        zs_json_end(j);
        flush(w, FLUSH_B);
    }
    zs_json_end(j);
}

static void put_thread(struct zs_json *j, const struct zs_thread_payload *t)
{
    static const char *const dims[] = {"x", "y", "z"};
    zs_json_object(j, "thread_payload");
    zs_json_array(j, "local_ids");
    for (int i = 0; i < 3; i++)
        if (t->local_id[i])
            zs_json_string(j, NULL, dims[i]);
    zs_json_end(j);
    zs_json_u64(j, "per_thread_B", t->per_thread_B);
    zs_json_u64(j, "cross_thread_B", t->cross_thread_B);
    zs_json_u64(j, "inline_data_B", t->inline_data_B);
    put_u32(j, "skip_per_thread_load", t->skip_per_thread_load_B);
    put_u32(j, "skip_set_ffid", t->skip_set_ffid_B);
    put_flag(j, "local_id_flattened", t->local_id_flattened);
    put_flag(j, "packed_local_ids", t->packed_local_ids);
    put_flag(j, "unused_per_thread", t->unused_per_thread);
    put_flag(j, "indirect", t->indirect);
    put_flag(j, "generate_local_id", t->generate_local_id);
    put_flag(j, "emit_local_mask", t->emit_local_mask);
    put_flag(j, "rt_stack_id", t->rt_stack_id);
    put_u32(j, "walk_order", t->walk_order);
    zs_json_end(j);
}

static void put_payload(struct inspect_json *w, const struct zs_kernel *k)
{
    struct zs_json *j = &w->j;
    zs_json_array(j, "payload");
    for (uint32_t i = 0; i < k->payload_count && !w->error; i++) {
        const struct zs_payload *p = &k->payload[i];
        zs_json_object(j, NULL);
        zs_json_string(j, "kind", zs_payload_name(p->kind));
        zs_json_u64(j, "offset", p->offset_B);
        zs_json_u64(j, "size_B", p->size_B);
        put_index(j, "argument", p->arg);
        if (p->kind == ZS_PAYLOAD_ARG_VALUE)
            zs_json_u64(j, "source_offset", p->source_offset_B);
        put_u32(j, "dimension", p->dim);
        put_u32(j, "index", p->index);
        if (!zs_payload_is_patched(p->kind))
            zs_json_bool(j, "patched", false);
        zs_json_end(j);
        flush(w, FLUSH_B);
    }
    zs_json_end(j);
}

static void put_surfaces(struct inspect_json *w, const struct zs_kernel *k)
{
    struct zs_json *j = &w->j;
    zs_json_array(j, "surfaces");
    for (uint32_t i = 0; i < k->surface_count && !w->error; i++) {
        const struct zs_surface *s = &k->surfaces[i];
        zs_json_object(j, NULL);
        zs_json_string(j, "kind", zs_surface_kind_name(s->kind));
        put_index(j, "argument", s->arg);
        put_index(j, "bti", s->bti);
        put_index(j, "ssh_offset", s->ssh_offset_B);
        zs_json_bool(j, "writable", s->writable);
        zs_json_end(j);
        flush(w, FLUSH_B);
    }
    zs_json_end(j);
    zs_json_array(j, "samplers");
    for (uint32_t i = 0; i < k->sampler_count && !w->error; i++) {
        const struct zs_sampler *s = &k->samplers[i];
        zs_json_object(j, NULL);
        put_index(j, "argument", s->arg);
        put_index(j, "index", s->index);
        put_index(j, "dsh_offset", s->dsh_offset_B);
        if (s->has_state) {
            zs_json_string(j, "address", zs_inspect_sampler_address(s->address));
            zs_json_string(j, "filter", s->linear ? "linear" : "nearest");
            zs_json_bool(j, "normalized", s->normalized);
        }
        zs_json_end(j);
    }
    zs_json_end(j);
}

static void put_strings(struct inspect_json *w, const struct zs_kernel *k)
{
    zs_json_array(&w->j, "strings");
    for (uint32_t i = 0; i < k->string_count && !w->error; i++) {
        zs_json_object(&w->j, NULL);
        zs_json_u64(&w->j, "index", k->strings[i].index);
        zs_json_string(&w->j, "text", k->strings[i].text);
        zs_json_end(&w->j);
        flush(w, FLUSH_B);
    }
    zs_json_end(&w->j);
}

static void put_resources(struct zs_json *j, const struct zs_kernel *k)
{
    zs_json_u64(j, "simd", k->simd);
    zs_json_u64(j, "grf_count", k->grf_count);
    zs_json_u64(j, "grf_B", k->grf_B);
    put_u32(j, "eu_thread_count", k->eu_thread_count);
    zs_json_u64(j, "slm_B", k->slm_B);
    zs_json_u64(j, "barriers", k->barrier_count);
    zs_json_u64(j, "scratch_B", k->scratch_B[0]);
    put_u32(j, "scratch_slot1_B", k->scratch_B[1]);
    zs_json_u64(j, "private_B", k->private_B);
    zs_json_string(j, "private_per", k->private_per_thread ? "thread" : "work-item");
    zs_json_u64(j, "private_per_thread_B", k->private_per_hw_thread_B);
    if (k->spill_known)
        zs_json_u64(j, "spill_B", k->spill_B);
    put_u32(j, "system_thread_B", k->system_thread_B);
    put_x3(j, "required_group_size", k->required_group_size);
    put_u32(j, "required_subgroup_size", k->required_subgroup_size);
    put_x3(j, "group_size_hint", k->group_size_hint);
    put_u32(j, "subgroup_count", k->subgroup_count);
    put_text(j, "attributes", k->attributes);
    put_text(j, "vec_type_hint", k->vec_type_hint);
    put_text(j, "invalid_reason", k->invalid_reason);
    put_text(j, "thread_scheduling", k->thread_scheduling);
    if (k->stateless_writes_known)
        zs_json_u64(j, "stateless_writes", k->stateless_writes);
    zs_json_u64(j, "indirect_stateless", k->indirect_stateless);
    zs_json_array(j, "flags");
    for (uint32_t bit = 0; bit < 32; bit++)
        if (k->flags >> bit & 1)
            zs_json_string(j, NULL, zs_kernel_flag_name(UINT32_C(1) << bit));
    zs_json_end(j);
}

static void put_code(struct zs_json *j, const struct zs_image *image, const struct zs_kernel *k)
{
    zs_json_object(j, "code");
    zs_json_u64(j, "offset", k->code_offset_B);
    zs_json_u64(j, "size_B", k->code.size_B);
    zs_json_u64(j, "heap_B", k->heap.size_B);
    put_index(j, "section", k->section);
    zs_json_end(j);
    if (image->format == ZS_CONTAINER_PATCH_TOKENS) {
        bool ok;
        uint32_t checksum = zs_kernel_checksum(image, k, &ok);
        zs_json_object(j, "header");
        zs_json_u64(j, "offset", k->header_offset_B);
        zs_json_u64(j, "checksum", k->checksum);
        zs_json_bool(j, "checksum_ok", ok);
        if (!ok)
            zs_json_u64(j, "checksum_expected", checksum);
        zs_json_u64(j, "shader_hash", k->shader_hash);
        zs_json_u64(j, "gsh_B", k->gsh.size_B);
        zs_json_u64(j, "dsh_B", k->dsh.size_B);
        zs_json_u64(j, "ssh_B", k->ssh.size_B);
        zs_json_end(j);
    }
    if (k->debug.kind != ZS_DEBUG_NONE) {
        zs_json_object(j, "debug");
        zs_json_string(j, "kind", zs_inspect_debug(k->debug.kind));
        zs_json_string(j, "input", k->debug.input ? "debug" : "module");
        zs_json_u64(j, "offset", k->debug.offset_B);
        zs_json_u64(j, "size_B", k->debug.elf.size_B);
        put_index(j, "section", k->debug.section);
        if (k->debug.kind == ZS_DEBUG_LINKED)
            zs_json_u64(j, "address", k->debug.address);
        zs_json_end(j);
    }
}

static void put_kernel(struct inspect_json *w, const struct zs_image *image,
                       const struct zs_kernel *k)
{
    struct zs_json *j = &w->j;
    zs_json_object(j, NULL);
    zs_json_u64(j, "index", k->index);
    zs_json_string(j, "name", k->name);
    put_flag(j, "function_holder", k->is_function_holder);
    put_resources(j, k);
    put_code(j, image, k);
    put_thread(j, &k->thread);
    put_args(w, k);
    put_payload(w, k);
    put_surfaces(w, k);
    zs_json_u64(j, "binding_table_entries", k->binding_table_count);
    put_symbols(w, k->symbols, k->symbol_count);
    put_relocations(w, k->relocations, k->relocation_count);
    put_strings(w, k);
    if (w->options->tokens && image->format == ZS_CONTAINER_PATCH_TOKENS)
        put_tokens(w, &k->tokens);
    zs_json_end(j);
}

/* --- images --- */

static void put_program(struct inspect_json *w, const struct zs_image *image)
{
    struct zs_json *j = &w->j;
    zs_json_object(j, "buffers");
    for (uint32_t i = 0; i < ZS_BUFFER_COUNT; i++) {
        const struct zs_data_buffer *buffer = &image->buffers[i];
        if (!buffer->present)
            continue;
        zs_json_object(j, zs_inspect_buffer((enum zs_buffer_kind)i));
        zs_json_u64(j, "offset", buffer->offset_B);
        zs_json_u64(j, "init_B", buffer->init.size_B);
        zs_json_u64(j, "size_B", buffer->size_B);
        zs_json_end(j);
    }
    zs_json_end(j);
    put_symbols(w, image->symbols, image->symbol_count);
    put_relocations(w, image->relocations, image->relocation_count);
    zs_json_array(j, "host_access");
    for (uint32_t i = 0; i < image->host_access_count; i++) {
        zs_json_object(j, NULL);
        zs_json_string(j, "device_name", image->host_access[i].device_name);
        zs_json_string(j, "host_name", image->host_access[i].host_name);
        zs_json_end(j);
        flush(w, FLUSH_B);
    }
    zs_json_end(j);
    zs_json_array(j, "functions");
    for (uint32_t i = 0; i < image->function_count; i++) {
        const struct zs_function *f = &image->functions[i];
        zs_json_object(j, NULL);
        zs_json_string(j, "name", f->name);
        zs_json_u64(j, "simd", f->simd);
        zs_json_u64(j, "grf_count", f->grf_count);
        zs_json_u64(j, "barriers", f->barrier_count);
        zs_json_end(j);
        flush(w, FLUSH_B);
    }
    zs_json_end(j);
}

static void put_image(struct inspect_json *w, const struct zs_image *image)
{
    struct zs_json *j = &w->j;
    zs_json_object(j, NULL);
    zs_json_string(j, "device", image->device);
    zs_json_bool(j, "device_exact", image->device_exact);
    zs_json_u64(j, "gfxcore", image->gfxcore);
    put_u32(j, "product_family", image->product_family);
    put_u32(j, "product_config", image->product_config);
    zs_json_u64(j, "stepping", image->stepping);
    zs_json_u64(j, "pointer_B", image->pointer_B);
    zs_json_string(j, "format", image->format == ZS_CONTAINER_ZEBIN ? "zebin" : "patch tokens");
    zs_json_u64(j, "container", image->part);
    put_u32(j, "version", image->version);
    put_text(j, "zebin_version", image->zebin_version);
    zs_json_string(j, "build_options", image->build_options);
    if (image->ir_format[0]) {
        zs_json_object(j, "ir");
        zs_json_string(j, "format", image->ir_format);
        zs_json_u64(j, "size_B", image->ir.size_B);
        zs_json_end(j);
    }
    put_program(w, image);
    if (w->options->tokens && image->format == ZS_CONTAINER_PATCH_TOKENS)
        put_tokens(w, &image->tokens);
    if (w->options->tokens && image->format == ZS_CONTAINER_ZEBIN)
        zs_json_string_n(j, "ze_info", (const char *)image->ze_info.data, image->ze_info.size_B);
    zs_json_array(j, "kernels");
    for (uint32_t i = 0; i < image->kernel_count && !w->error; i++) {
        const struct zs_kernel *k = &image->kernels[i];
        if (!w->options->want_kernel || w->options->want_kernel(w->options->want_user, k))
            put_kernel(w, image, k);
        flush(w, FLUSH_B);
    }
    zs_json_end(j);
    zs_json_end(j);
}

static void put_debug_entries(struct inspect_json *w)
{
    struct zs_json *j = &w->j;
    zs_json_array(j, "debug_entries");
    for (uint32_t i = 0; i < w->module->debug_entry_count && !w->error; i++) {
        const struct zs_debug_entry *e = &w->module->debug_entries[i];
        zs_json_object(j, NULL);
        zs_json_string(j, "name", e->name);
        zs_json_string(j, "input", e->input ? "debug" : "module");
        zs_json_u64(j, "offset", e->offset_B);
        zs_json_u64(j, "size_B", e->elf.size_B);
        zs_json_bool(j, "bound", e->bound);
        zs_json_end(j);
        flush(w, FLUSH_B);
    }
    zs_json_end(j);
}

int zs_report_inspect_json(const struct zs_module *module, const struct zs_inspect_options *options,
                           zs_write_fn *write, void *user)
{
    struct inspect_json w = {.module = module, .options = options, .write = write, .user = user};
    w.j = zs_json_make(&w.buf, 4);
    zs_json_object(&w.j, NULL);
    zs_json_string(&w.j, "schema", "zescope.inspect/1");
    zs_json_string(&w.j, "input", options->input);
    zs_json_string(&w.j, "container", zs_container_name(module->container));
    zs_json_u64(&w.j, "size_B", module->bytes.size_B);
    put_parts(&w);
    zs_json_array(&w.j, "devices");
    for (uint32_t i = 0; i < module->image_count && !w.error; i++)
        if (!options->want_image || options->want_image(options->want_user, &module->images[i]))
            put_image(&w, &module->images[i]);
    zs_json_end(&w.j);
    put_debug_entries(&w);
    put_notes(&w);
    if (module->note_total > module->note_count)
        zs_json_u64(&w.j, "notes_not_kept", module->note_total - module->note_count);
    zs_json_end(&w.j);
    zs_buf_putc(&w.buf, '\n');
    flush(&w, 1);
    int error = w.error ? w.error : w.buf.error;
    zs_buf_fini(&w.buf);
    return error;
}
