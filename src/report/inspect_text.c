/* SPDX-License-Identifier: MIT */
/*
 * What is inside a module, for people: the tree of containers, what each device gets, a table of
 * kernels, and on demand all about each kernel. Strings of the module may hold anything: control
 * characters are shown as '?', names are cut at NAME_MAX_COLUMNS.
 */
#include "report/inspect.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { FLUSH_B = 1 << 16, NAME_MAX_COLUMNS = 200, TEXT_MAX_B = 4096 };

enum style { STYLE_TITLE, STYLE_HEAD, STYLE_DIM, STYLE_NAME, STYLE_NOTE };

struct inspect_text {
    const struct zs_module *module;
    const struct zs_inspect_options *options;
    zs_write_fn *write;
    void *user;
    struct zs_buf out;
    int error;
};

static void flush(struct inspect_text *w, size_t least_B)
{
    if (w->error || w->out.size_B < least_B || w->out.size_B == 0)
        return;
    w->error = w->out.error ? w->out.error : w->write(w->user, w->out.data, w->out.size_B);
    w->out.size_B = 0;
}

static void begin(struct inspect_text *w, enum style style)
{
    static const char *const codes[] = {"\033[1m", "\033[1;4m", "\033[2m", "\033[36m", "\033[33m"};
    if (w->options->color)
        zs_buf_puts(&w->out, codes[style]);
}

static void end(struct inspect_text *w)
{
    if (w->options->color)
        zs_buf_puts(&w->out, "\033[0m");
}

/* Text of the module on one line; returns the columns that it took (multi-byte characters count
 * once). */
static size_t put_safe(struct inspect_text *w, const char *text, size_t size_B)
{
    size_t columns = 0;
    for (size_t i = 0; i < size_B; i++) {
        uint8_t c = (uint8_t)text[i];
        bool c1 = c == 0xc2 && i + 1 < size_B && (uint8_t)text[i + 1] < 0xa0;
        bool control = c < 0x20 || c == 0x7f || c1;
        i += c1;
        zs_buf_putc(&w->out, control ? '?' : (char)c);
        columns += control || (c & 0xc0) != 0x80;
    }
    return columns;
}

/* Left-aligned in at least `width` columns. */
static void put_name(struct inspect_text *w, const char *name, size_t width)
{
    size_t length = strnlen(name, NAME_MAX_COLUMNS + 1);
    size_t columns = put_safe(w, name, ZS_MIN(length, (size_t)NAME_MAX_COLUMNS));
    if (length > NAME_MAX_COLUMNS) {
        zs_buf_puts(&w->out, "...");
        columns += 3;
    }
    if (columns < width)
        zs_buf_pad(&w->out, ' ', width - columns);
}

static void heading(struct inspect_text *w, int indent, const char *text)
{
    zs_buf_pad(&w->out, ' ', (size_t)indent);
    begin(w, STYLE_HEAD);
    zs_buf_puts(&w->out, text);
    end(w);
    zs_buf_putc(&w->out, '\n');
}

static void ZS_PRINTF(3, 4) fact(struct inspect_text *w, const char *label, const char *format, ...)
{
    va_list args;
    zs_buf_puts(&w->out, "  ");
    begin(w, STYLE_DIM);
    zs_buf_printf(&w->out, "%-18s", label);
    end(w);
    va_start(args, format);
    zs_buf_vprintf(&w->out, format, args);
    va_end(args);
    zs_buf_putc(&w->out, '\n');
}

static void fact_text(struct inspect_text *w, const char *label, const char *text)
{
    if (!text[0])
        return;
    zs_buf_puts(&w->out, "  ");
    begin(w, STYLE_DIM);
    zs_buf_printf(&w->out, "%-18s", label);
    end(w);
    put_safe(w, text, strnlen(text, TEXT_MAX_B));
    zs_buf_putc(&w->out, '\n');
}

/* --- containers --- */

static int depth_of(const struct zs_module *module, uint32_t part)
{
    int depth = 0;
    for (uint32_t p = module->parts[part].parent; p != ZS_NONE; p = module->parts[p].parent)
        depth++;
    return depth;
}

static void put_sections(struct inspect_text *w, const struct zs_part *p, int indent)
{
    for (uint32_t i = 0; i < p->section_count && !w->error; i++) {
        const struct zs_section *s = &p->sections[i];
        if (s->type == 0)
            continue;
        begin(w, STYLE_DIM);
        zs_buf_printf(&w->out, "  0x%08" PRIx64 " %10" PRIu64 " B  ", p->offset_B + s->offset_B,
                      s->size_B);
        end(w);
        zs_buf_pad(&w->out, ' ', (size_t)indent);
        zs_buf_printf(&w->out, "[%u] ", i);
        put_name(w, s->name, 0);
        if (s->type_name[0])
            zs_buf_printf(&w->out, "  %s\n", s->type_name);
        else
            zs_buf_printf(&w->out, "  type 0x%x\n", s->type);
        flush(w, FLUSH_B);
    }
}

static void put_parts(struct inspect_text *w)
{
    const struct zs_module *m = w->module;
    heading(w, 0, "Containers");
    for (uint32_t i = 0; i < m->part_count && !w->error; i++) {
        const struct zs_part *p = &m->parts[i];
        int indent = 2 * depth_of(m, i);
        zs_buf_printf(&w->out, "  0x%08" PRIx64 " %10zu B  ", p->offset_B, p->bytes.size_B);
        zs_buf_pad(&w->out, ' ', (size_t)indent);
        begin(w, STYLE_TITLE);
        zs_buf_puts(&w->out, zs_container_name(p->kind));
        end(w);
        if (p->name[0]) {
            zs_buf_puts(&w->out, "  ");
            put_name(w, p->name, 0);
        }
        zs_buf_puts(&w->out, p->input && p->parent == ZS_NONE ? "  (debug information)\n" : "\n");
        if (w->options->details || w->options->tokens)
            put_sections(w, p, indent + 2);
        flush(w, FLUSH_B);
    }
    zs_buf_putc(&w->out, '\n');
}

/* --- tokens --- */

static bool put_field(void *ctx, const struct zs_token_field *f)
{
    struct inspect_text *w = ctx;
    zs_buf_printf(&w->out, "        %-34s", f->name);
    switch (f->kind) {
    case ZS_FIELD_HEX:
        zs_buf_printf(&w->out, "0x%" PRIx64, f->value);
        break;
    case ZS_FIELD_BOOL:
    case ZS_FIELD_U32:
    case ZS_FIELD_U64:
        zs_buf_printf(&w->out, "%" PRIu64, f->value);
        break;
    case ZS_FIELD_ENUM:
        zs_buf_printf(&w->out, "%" PRIu64 " %s", f->value, f->text);
        break;
    case ZS_FIELD_STRING:
        zs_buf_putc(&w->out, '"');
        put_safe(w, (const char *)f->data.data, f->data.size_B);
        zs_buf_putc(&w->out, '"');
        break;
    case ZS_FIELD_BYTES:
        zs_buf_printf(&w->out, "%zu bytes", f->data.size_B);
        for (size_t i = 0; i < f->data.size_B && i < 16; i++)
            zs_buf_printf(&w->out, "%s%02x", i ? " " : ": ", f->data.data[i]);
        zs_buf_puts(&w->out, f->data.size_B > 16 ? " ..." : "");
        break;
    }
    zs_buf_putc(&w->out, '\n');
    flush(w, FLUSH_B);
    return w->error == 0;
}

static void put_tokens(struct inspect_text *w, const struct zs_token_list *list)
{
    struct zs_token t;
    size_t cursor = 0;
    heading(w, 2, "tokens");
    while (!w->error && zs_token_next(list, &cursor, &t)) {
        begin(w, STYLE_DIM);
        zs_buf_printf(&w->out, "    0x%08" PRIx64 " %5u B  %2u ", t.offset_B, t.size_B, t.number);
        end(w);
        zs_buf_printf(&w->out, "%s\n", t.name[0] ? t.name : "(unknown)");
        zs_token_fields(list, &t, put_field, w);
    }
}

/* --- symbols and relocations --- */

static void put_place(struct inspect_text *w, const struct zs_place *place)
{
    zs_buf_puts(&w->out, zs_inspect_place(place->kind));
    if (place->index != ZS_NONE && place->kind != ZS_PLACE_NONE)
        zs_buf_printf(&w->out, " %u", place->index);
    if (place->kind != ZS_PLACE_NONE)
        zs_buf_printf(&w->out, "+0x%" PRIx64, place->offset_B);
}

static void put_symbols(struct inspect_text *w, const struct zs_symbol *symbols, uint32_t count)
{
    if (!count)
        return;
    heading(w, 2, "symbols");
    for (uint32_t i = 0; i < count && !w->error; i++) {
        zs_buf_printf(&w->out, "    %-18s %8" PRIu64 " B  ", zs_symbol_kind_name(symbols[i].kind),
                      symbols[i].size_B);
        put_name(w, symbols[i].name, 32);
        zs_buf_puts(&w->out, symbols[i].global ? "  global  " : "  local   ");
        put_place(w, &symbols[i].place);
        zs_buf_putc(&w->out, '\n');
        flush(w, FLUSH_B);
    }
}

static void put_relocations(struct inspect_text *w, const struct zs_relocation *relocations,
                            uint32_t count)
{
    if (!count)
        return;
    heading(w, 2, "relocations");
    for (uint32_t i = 0; i < count && !w->error; i++) {
        const struct zs_relocation *r = &relocations[i];
        zs_buf_puts(&w->out, "    ");
        put_place(w, &r->at);
        zs_buf_printf(&w->out, "  %-16s ", zs_relocation_kind_name(r->kind));
        put_name(w, r->symbol, 0);
        zs_buf_puts(&w->out, "  ->  ");
        put_place(w, &r->target);
        if (r->has_addend)
            zs_buf_printf(&w->out, " %+" PRId64, r->addend);
        zs_buf_putc(&w->out, '\n');
        flush(w, FLUSH_B);
    }
}

/* --- kernels --- */

static void put_bits(struct inspect_text *w, uint32_t bits, const char *(*name)(uint32_t index))
{
    bool any = false;
    for (uint32_t i = 0; name(i); i++)
        if (bits >> i & 1) {
            zs_buf_printf(&w->out, "%s%s", any ? " " : "", name(i));
            any = true;
        }
}

static void put_args(struct inspect_text *w, const struct zs_kernel *k)
{
    if (!k->arg_count)
        return;
    heading(w, 2, "arguments");
    for (uint32_t i = 0; i < k->arg_count && !w->error; i++) {
        const struct zs_arg *a = &k->args[i];
        zs_buf_printf(&w->out, "    %3u  %-8s ", i, zs_inspect_arg_kind(a->kind));
        if (a->qualifiers) {
            put_bits(w, a->qualifiers, zs_inspect_qualifier);
            zs_buf_putc(&w->out, ' ');
        }
        begin(w, STYLE_NAME);
        put_name(w, a->type, a->has_info ? 0 : 1);
        zs_buf_putc(&w->out, ' ');
        put_name(w, a->name, 0);
        end(w);
        begin(w, STYLE_DIM);
        if (a->space != ZS_SPACE_UNKNOWN)
            zs_buf_printf(&w->out, "  %s", zs_inspect_space(a->space));
        if (a->access != ZS_ACCESS_NONE)
            zs_buf_printf(&w->out, "  %s", zs_inspect_access(a->access));
        if (a->address_modes) {
            zs_buf_puts(&w->out, "  ");
            put_bits(w, a->address_modes, zs_inspect_mode);
        }
        if (a->value_size_B || a->type_size_B)
            zs_buf_printf(&w->out, "  %u B", ZS_MAX(a->value_size_B, a->type_size_B));
        if (a->image_type)
            zs_buf_printf(&w->out, "  image %s", zs_inspect_image_type(a->image_type));
        if (a->slm_alignment_B)
            zs_buf_printf(&w->out, "  aligned to %u B", a->slm_alignment_B);
        if (a->surface != ZS_NONE && k->surfaces[a->surface].bti != ZS_NONE)
            zs_buf_printf(&w->out, "  bti %u", k->surfaces[a->surface].bti);
        if (a->sampler != ZS_NONE && k->samplers[a->sampler].index != ZS_NONE)
            zs_buf_printf(&w->out, "  sampler %u", k->samplers[a->sampler].index);
        end(w);
        zs_buf_putc(&w->out, '\n');
        flush(w, FLUSH_B);
    }
}

static void put_payload(struct inspect_text *w, const struct zs_kernel *k)
{
    const struct zs_thread_payload *t = &k->thread;
    zs_buf_puts(&w->out, "  ");
    begin(w, STYLE_HEAD);
    zs_buf_puts(&w->out, "payload");
    end(w);
    zs_buf_printf(
        &w->out, "  %u B per thread (local ids:%s%s%s%s), %u B cross-thread", t->per_thread_B,
        t->local_id[0] ? " x" : "", t->local_id[1] ? " y" : "", t->local_id[2] ? " z" : "",
        t->local_id[0] || t->local_id[1] || t->local_id[2] ? "" : " none", t->cross_thread_B);
    if (t->inline_data_B)
        zs_buf_printf(&w->out, ", the first %u B inline", t->inline_data_B);
    zs_buf_putc(&w->out, '\n');
    for (uint32_t i = 0; i < k->payload_count && !w->error; i++) {
        const struct zs_payload *p = &k->payload[i];
        zs_buf_printf(&w->out, "    0x%04x %3u B  %s", p->offset_B, p->size_B,
                      zs_payload_name(p->kind));
        if (p->arg != ZS_NONE)
            zs_buf_printf(&w->out, " of argument %u", p->arg);
        else if (p->kind >= ZS_PAYLOAD_LOCAL_SIZE && p->kind <= ZS_PAYLOAD_REGION_GROUP_BARRIER &&
                 p->kind != ZS_PAYLOAD_WORK_DIMENSIONS)
            zs_buf_printf(&w->out, " %c", "xyz"[p->dim]);
        if (p->kind == ZS_PAYLOAD_ARG_VALUE && p->source_offset_B)
            zs_buf_printf(&w->out, " from byte %u", p->source_offset_B);
        if (!zs_payload_is_patched(p->kind))
            zs_buf_puts(&w->out, " (not written)");
        zs_buf_putc(&w->out, '\n');
        flush(w, FLUSH_B);
    }
}

static void put_surfaces(struct inspect_text *w, const struct zs_kernel *k)
{
    if (k->surface_count)
        heading(w, 2, "surfaces");
    for (uint32_t i = 0; i < k->surface_count && !w->error; i++) {
        const struct zs_surface *s = &k->surfaces[i];
        if (s->bti != ZS_NONE)
            zs_buf_printf(&w->out, "    bti %3u  ", s->bti);
        else
            zs_buf_puts(&w->out, "    bti n/a  ");
        zs_buf_puts(&w->out, zs_surface_kind_name(s->kind));
        if (s->arg != ZS_NONE)
            zs_buf_printf(&w->out, " of argument %u", s->arg);
        if (s->ssh_offset_B != ZS_NONE)
            zs_buf_printf(&w->out, "  state at 0x%x", s->ssh_offset_B);
        zs_buf_puts(&w->out, s->writable ? "\n" : "  read-only\n");
        flush(w, FLUSH_B);
    }
    if (k->sampler_count)
        heading(w, 2, "samplers");
    for (uint32_t i = 0; i < k->sampler_count && !w->error; i++) {
        const struct zs_sampler *s = &k->samplers[i];
        zs_buf_printf(&w->out, "    %3d  ", s->index == ZS_NONE ? -1 : (int)s->index);
        if (s->arg != ZS_NONE)
            zs_buf_printf(&w->out, "argument %u", s->arg);
        else
            zs_buf_puts(&w->out, "inline");
        if (s->has_state)
            zs_buf_printf(&w->out, "  %s %s%s", zs_inspect_sampler_address(s->address),
                          s->linear ? "linear" : "nearest", s->normalized ? " normalized" : "");
        if (s->dsh_offset_B != ZS_NONE)
            zs_buf_printf(&w->out, "  state at 0x%x", s->dsh_offset_B);
        zs_buf_putc(&w->out, '\n');
    }
}

static void put_strings(struct inspect_text *w, const struct zs_kernel *k)
{
    if (k->string_count)
        heading(w, 2, "printf strings");
    for (uint32_t i = 0; i < k->string_count && !w->error; i++) {
        zs_buf_printf(&w->out, "    %3u  \"", k->strings[i].index);
        put_safe(w, k->strings[i].text, strnlen(k->strings[i].text, TEXT_MAX_B));
        zs_buf_puts(&w->out, "\"\n");
        flush(w, FLUSH_B);
    }
}

static void put_flags(struct inspect_text *w, const struct zs_kernel *k)
{
    if (!k->flags)
        return;
    zs_buf_puts(&w->out, "  ");
    begin(w, STYLE_DIM);
    zs_buf_printf(&w->out, "%-18s", "flags");
    end(w);
    bool any = false;
    for (uint32_t bit = 0; bit < 32; bit++)
        if (k->flags >> bit & 1) {
            zs_buf_printf(&w->out, "%s%s", any ? ", " : "",
                          zs_kernel_flag_name(UINT32_C(1) << bit));
            any = true;
        }
    zs_buf_putc(&w->out, '\n');
}

static void put_resources(struct inspect_text *w, const struct zs_image *image,
                          const struct zs_kernel *k)
{
    fact(w, "code", "%zu B at 0x%" PRIx64 ", %zu B with padding", k->code.size_B, k->code_offset_B,
         k->heap.size_B);
    fact(w, "registers", "%u of %u B", k->grf_count, k->grf_B);
    fact(w, "SIMD", "%u", k->simd);
    fact(w, "local memory", "%u B, %u barrier%s", k->slm_B, k->barrier_count,
         zs_plural(k->barrier_count));
    fact(w, "scratch", "%u B per thread%s", k->scratch_B[0], k->scratch_B[1] ? "" : "");
    if (k->scratch_B[1])
        fact(w, "scratch, slot 1", "%u B per thread", k->scratch_B[1]);
    fact(w, "private memory", "%u B per %s, %u B per thread", k->private_B,
         k->private_per_thread ? "thread" : "work-item", k->private_per_hw_thread_B);
    if (k->spill_known)
        fact(w, "spills", "%u B per thread", k->spill_B);
    else
        fact(w, "spills", "n/a (patch tokens count them as scratch)");
    if (k->required_group_size[0])
        fact(w, "group size", "%u x %u x %u required", k->required_group_size[0],
             k->required_group_size[1], k->required_group_size[2]);
    if (k->required_subgroup_size)
        fact(w, "subgroup size", "%u required", k->required_subgroup_size);
    fact_text(w, "attributes", k->attributes);
    fact_text(w, "invalid", k->invalid_reason);
    put_flags(w, k);
    fact(w, "debug information", "%s", zs_inspect_debug(k->debug.kind));
    if (image->format == ZS_CONTAINER_PATCH_TOKENS) {
        bool ok;
        uint32_t checksum = zs_kernel_checksum(image, k, &ok);
        if (ok)
            fact(w, "checksum", "0x%08x", k->checksum);
        else
            fact(w, "checksum", "0x%08x WRONG: 0x%08x expected", k->checksum, checksum);
    }
}

static void put_kernel(struct inspect_text *w, const struct zs_image *image,
                       const struct zs_kernel *k)
{
    zs_buf_putc(&w->out, '\n');
    begin(w, STYLE_TITLE);
    zs_buf_puts(&w->out, k->is_function_holder ? "Functions " : "Kernel ");
    put_name(w, k->name, 0);
    end(w);
    if (image->device[0])
        zs_buf_printf(&w->out, "  (%s)", image->device);
    zs_buf_putc(&w->out, '\n');
    put_resources(w, image, k);
    put_args(w, k);
    put_payload(w, k);
    put_surfaces(w, k);
    put_strings(w, k);
    put_symbols(w, k->symbols, k->symbol_count);
    put_relocations(w, k->relocations, k->relocation_count);
    if (w->options->tokens && image->format == ZS_CONTAINER_PATCH_TOKENS)
        put_tokens(w, &k->tokens);
    flush(w, FLUSH_B);
}

static bool wanted(const struct inspect_text *w, const struct zs_kernel *k)
{
    return !w->options->want_kernel || w->options->want_kernel(w->options->want_user, k);
}

static void put_kernel_table(struct inspect_text *w, const struct zs_image *image)
{
    size_t width = 4;
    for (uint32_t i = 0; i < image->kernel_count; i++)
        if (wanted(w, &image->kernels[i]))
            width = ZS_MAX(width, strnlen(image->kernels[i].name, 60));
    zs_buf_puts(&w->out, "  ");
    begin(w, STYLE_HEAD);
    zs_buf_printf(&w->out,
                  "%-*s  simd   code B  args   slm B  barriers  scratch B  private B  spill B"
                  "  debug",
                  (int)width, "kernel");
    end(w);
    zs_buf_putc(&w->out, '\n');
    for (uint32_t i = 0; i < image->kernel_count && !w->error; i++) {
        const struct zs_kernel *k = &image->kernels[i];
        char spill[16] = "n/a";
        if (!wanted(w, k))
            continue;
        if (k->spill_known)
            snprintf(spill, sizeof(spill), "%u", k->spill_B);
        zs_buf_puts(&w->out, "  ");
        begin(w, STYLE_NAME);
        put_name(w, k->name, width);
        end(w);
        zs_buf_printf(&w->out, "  %4u %8zu %5u %7u %9u %10u %10u %8s  %s\n", k->simd,
                      k->code.size_B, k->arg_count, k->slm_B, k->barrier_count, k->scratch_B[0],
                      k->private_per_hw_thread_B, spill,
                      k->debug.kind == ZS_DEBUG_NONE ? "no" : "yes");
        flush(w, FLUSH_B);
    }
}

static void put_program(struct inspect_text *w, const struct zs_image *image)
{
    for (uint32_t i = 0; i < ZS_BUFFER_COUNT; i++) {
        const struct zs_data_buffer *buffer = &image->buffers[i];
        char label[32];
        snprintf(label, sizeof(label), "%s data", zs_inspect_buffer((enum zs_buffer_kind)i));
        if (buffer->present)
            fact(w, label, "%" PRIu64 " B, %zu B of them initialised, at 0x%" PRIx64,
                 buffer->size_B, buffer->init.size_B, buffer->offset_B);
    }
    for (uint32_t i = 0; i < image->host_access_count && !w->error; i++) {
        zs_buf_puts(&w->out, "  host access       ");
        put_name(w, image->host_access[i].host_name, 0);
        zs_buf_puts(&w->out, " = ");
        put_name(w, image->host_access[i].device_name, 0);
        zs_buf_putc(&w->out, '\n');
    }
    if (!w->options->details && !w->options->tokens)
        return;
    put_symbols(w, image->symbols, image->symbol_count);
    put_relocations(w, image->relocations, image->relocation_count);
    if (w->options->tokens && image->format == ZS_CONTAINER_PATCH_TOKENS)
        put_tokens(w, &image->tokens);
}

static void put_ze_info(struct inspect_text *w, const struct zs_image *image)
{
    struct zs_span text = image->ze_info;
    heading(w, 2, ".ze_info");
    for (size_t from = 0; from < text.size_B && !w->error;) {
        const uint8_t *newline = memchr(text.data + from, '\n', text.size_B - from);
        size_t line_B = newline ? (size_t)(newline - (text.data + from)) : text.size_B - from;
        zs_buf_puts(&w->out, "    ");
        put_safe(w, (const char *)text.data + from, line_B);
        zs_buf_putc(&w->out, '\n');
        from += line_B + 1;
        flush(w, FLUSH_B);
    }
}

static void put_image(struct inspect_text *w, const struct zs_image *image)
{
    begin(w, STYLE_TITLE);
    zs_buf_printf(&w->out, "Device %s", image->device[0] ? image->device : "(not known)");
    end(w);
    zs_buf_putc(&w->out, '\n');
    fact(w, "hardware", "GFXCORE family 0x%x%s, stepping %u, %u-bit pointers", image->gfxcore,
         image->device_exact ? "" : " (the device named stands for the family)", image->stepping,
         8 * image->pointer_B);
    if (image->format == ZS_CONTAINER_ZEBIN)
        fact_text(w, "format", zs_container_name(image->format));
    else
        fact(w, "format", "patch tokens, version %u", image->version);
    fact_text(w, "zebin version", image->zebin_version);
    fact_text(w, "build options", image->build_options);
    if (image->ir_format[0])
        fact(w, "built from", "%s, %zu B", image->ir_format, image->ir.size_B);
    put_program(w, image);
    put_kernel_table(w, image);
    if (w->options->details || w->options->tokens)
        for (uint32_t i = 0; i < image->kernel_count && !w->error; i++)
            if (wanted(w, &image->kernels[i]))
                put_kernel(w, image, &image->kernels[i]);
    if (w->options->tokens && image->format == ZS_CONTAINER_ZEBIN)
        put_ze_info(w, image);
    zs_buf_putc(&w->out, '\n');
    flush(w, FLUSH_B);
}

static void put_end(struct inspect_text *w)
{
    const struct zs_module *m = w->module;
    bool alone = m->image_count == 0;
    if (alone && m->debug_entry_count)
        heading(w, 0, "Debug data");
    for (uint32_t i = 0; i < m->debug_entry_count && !w->error; i++) {
        const struct zs_debug_entry *e = &m->debug_entries[i];
        if (!alone && e->bound)
            continue;
        zs_buf_printf(&w->out, "  0x%08" PRIx64 " %10zu B  ", e->offset_B, e->elf.size_B);
        put_name(w, e->name, 0);
        zs_buf_puts(&w->out, alone ? "\n" : "  (debug data of no kernel here)\n");
        flush(w, FLUSH_B);
    }
    if (m->note_total)
        heading(w, 0, "Notes");
    for (uint32_t i = 0; i < m->note_count && !w->error; i++) {
        begin(w, STYLE_NOTE);
        if (m->notes[i].offset_B != ZS_DIAG_NO_OFFSET)
            zs_buf_printf(&w->out, "  at byte 0x%" PRIx64 ": ", m->notes[i].offset_B);
        else
            zs_buf_puts(&w->out, "  ");
        put_safe(w, m->notes[i].text, strlen(m->notes[i].text));
        end(w);
        zs_buf_putc(&w->out, '\n');
    }
    if (m->note_total > m->note_count)
        zs_buf_printf(&w->out, "  and %u more\n", m->note_total - m->note_count);
}

int zs_report_inspect_text(const struct zs_module *module, const struct zs_inspect_options *options,
                           zs_write_fn *write, void *user)
{
    struct inspect_text w = {.module = module, .options = options, .write = write, .user = user};
    put_safe(&w, options->input, strlen(options->input));
    zs_buf_printf(&w.out, ": %s, %zu bytes\n\n", zs_container_name(module->container),
                  module->bytes.size_B);
    put_parts(&w);
    for (uint32_t i = 0; i < module->image_count && !w.error; i++)
        if (!options->want_image || options->want_image(options->want_user, &module->images[i]))
            put_image(&w, &module->images[i]);
    put_end(&w);
    flush(&w, 1);
    int error = w.error ? w.error : w.out.error;
    zs_buf_fini(&w.out);
    return error;
}
