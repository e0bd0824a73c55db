/* SPDX-License-Identifier: MIT */
/*
 * Schema zescope.module/1 (docs/schema-module.md).
 *
 * Kernels are independent: a window of them is decoded and written in parallel, each into a buffer
 * of its own, and the buffers are handed out in order. A window is bounded by bytes of code, since
 * the text of an instruction takes about fifteen times the bytes of the instruction.
 *
 * Instructions are nearly all of the output, so they are put together by hand here: what depends
 * on the row of the line table alone is rendered once per row.
 */
#include "base/json.h"
#include "base/name_map.h"
#include "base/parallel.h"
#include "base/vec.h"
#include "base/version.h"
#include "report/annotate.h"
#include "report/words.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW_KERNELS = 64, WINDOW_CODE_B = 384 << 10 };

struct writer {
    const struct zs_module_view *view;
    const struct zs_module_json_options *options;
    struct zs_annotation *annotation;
    struct zs_words_memo *words;
    uint32_t what;
    zs_write_fn *write;
    void *user;
};

/* ---- parts of a kernel ---- */

#define PUT_LITERAL(out, text) zs_buf_append((out), (text), sizeof(text) - 1)

static const char *file_path(const struct zs_dwarf_kernel *info, uint32_t file)
{
    return file < info->file_count ? info->files[file].path : NULL;
}

static void put_place(struct zs_json *j, const struct zs_dwarf_kernel *info, const char *file_key,
                      uint32_t file, const char *line_key, uint32_t line)
{
    const char *path = file_path(info, file);
    if (path && line) {
        zs_json_string(j, file_key, path);
        zs_json_u64(j, line_key, line);
    }
}

static void put_ranges(struct zs_json *j, const char *key, const struct zs_dwarf_kernel *info,
                       const struct zs_scope *scope)
{
    if (!scope->range_count)
        return;
    zs_json_array(j, key);
    for (uint32_t r = 0; r < scope->range_count; r++) {
        const struct zs_code_range *range = &info->ranges[scope->range_first + r];
        zs_json_array(j, NULL);
        zs_json_u64(j, NULL, range->begin_B);
        zs_json_u64(j, NULL, range->end_B);
        zs_json_end(j);
    }
    zs_json_end(j);
}

static void put_frames(struct zs_json *j, const struct zs_dwarf_kernel *info)
{
    zs_json_array(j, "inline");
    for (uint32_t i = 0; i < info->frame_count; i++) {
        const struct zs_frame *frame = &info->frames[i];
        zs_json_object(j, NULL);
        zs_json_string(j, "function", frame->function);
        if (frame->parent != ZS_NO_INDEX)
            zs_json_u64(j, "parent", frame->parent);
        put_place(j, info, "call_file", frame->call_file, "call_line", frame->call_line);
        if (frame->call_line)
            zs_json_u64(j, "call_column", frame->call_column);
        put_place(j, info, "decl_file", frame->decl_file, "decl_line", frame->decl_line);
        put_ranges(j, "ranges", info, &info->scopes[frame->scope]);
        zs_json_end(j);
    }
    zs_json_end(j);
}

static void put_lines(struct zs_json *j, const struct zs_code *code)
{
    zs_json_array(j, "lines");
    for (uint32_t i = 0; i < code->join->line_count; i++) {
        const struct zs_join_line *line = &code->join->lines[i];
        const char *path = file_path(code->info, line->file);
        if (!path)
            continue;
        zs_json_object(j, NULL);
        zs_json_string(j, "file", path);
        zs_json_u64(j, "line", line->line);
        zs_json_u64(j, "instructions", line->inst_count);
        zs_json_array(j, "ranges");
        for (uint32_t r = 0; r < line->run_count; r++) {
            const struct zs_join_run *run = &code->join->runs[line->run_first + r];
            zs_json_array(j, NULL);
            zs_json_u64(j, NULL, zs_isa_inst_offset(code->isa, run->first));
            zs_json_u64(j, NULL, zs_isa_inst_offset(code->isa, run->first + run->count));
            zs_json_end(j);
        }
        zs_json_end(j);
        zs_json_end(j);
    }
    zs_json_end(j);
}

/* ---- variables ---- */

static void put_members(struct zs_json *j, const struct zs_dwarf *dwarf, uint32_t type)
{
    struct zs_type_member members[64];
    struct zs_type stripped;
    if (zs_type_get(dwarf, zs_type_strip(dwarf, type), &stripped) ||
        (stripped.kind != ZS_KIND_STRUCT && stripped.kind != ZS_KIND_UNION &&
         stripped.kind != ZS_KIND_CLASS))
        return;
    size_t count = zs_type_members(dwarf, type, members, ZS_ARRAY_LEN(members));
    zs_json_array(j, "members");
    for (size_t i = 0; i < ZS_MIN(count, ZS_ARRAY_LEN(members)); i++) {
        char text[256];
        struct zs_type member;
        zs_type_print(dwarf, members[i].type, text, sizeof(text));
        zs_json_object(j, NULL);
        zs_json_string(j, "name", members[i].name);
        zs_json_string(j, "type", text);
        zs_json_u64(j, "offset", members[i].offset_B);
        if (zs_type_get(dwarf, members[i].type, &member) == 0 && member.size_B)
            zs_json_u64(j, "size", member.size_B);
        zs_json_end(j);
    }
    zs_json_end(j);
}

static void put_const(struct zs_json *j, struct zs_span bytes, uint64_t size_B)
{
    char text[2 + 2 * 64 + 1] = "0x";
    size_t count = ZS_MIN(bytes.size_B, (size_t)64), at = 2;
    if (size_B && size_B < count)
        count = (size_t)size_B;
    for (size_t i = count; i-- > 0;)
        at += (size_t)snprintf(text + at, sizeof(text) - at, "%02x", bytes.data[i]);
    zs_json_string(j, "const", text);
}

static void put_locations(struct zs_json *j, const struct writer *w, const struct zs_code *code,
                          const struct zs_variable *variable, uint64_t size_B)
{
    const struct zs_words_of of = {code->kernel->simd, code->kernel->grf_B, size_B};
    struct zs_location_iterator it = zs_variable_locations(code->info, variable);
    struct zs_location location;
    bool any = false;
    while (zs_location_next(&it, &location)) {
        if (any)
            zs_buf_putc(j->out, ',');
        else
            zs_json_array(j, "locations");
        any = true;
        PUT_LITERAL(j->out, "{\"begin\":");
        zs_buf_put_u64(j->out, location.range.begin_B);
        PUT_LITERAL(j->out, ",\"end\":");
        zs_buf_put_u64(j->out, location.range.end_B);
        zs_words_put(w->words, location.expr, &of, j->out);
        zs_buf_putc(j->out, '}');
    }
    if (any)
        zs_json_end(j);
}

static void put_variable(struct zs_json *j, const struct writer *w, const struct zs_code *code,
                         const struct zs_variable *variable)
{
    const struct zs_dwarf_kernel *info = code->info;
    const struct zs_scope *scope = &info->scopes[variable->scope];
    char type_text[512];
    struct zs_type type;
    uint64_t size_B = zs_type_get(info->dwarf, variable->type, &type) == 0 ? type.size_B : 0;
    zs_type_print(info->dwarf, variable->type, type_text, sizeof(type_text));
    zs_json_object(j, NULL);
    zs_json_string(j, "name", variable->name);
    zs_json_string(j, "type", type_text);
    if (size_B)
        zs_json_u64(j, "size", size_B);
    if (variable->parameter)
        zs_json_bool(j, "parameter", true);
    if (variable->artificial)
        zs_json_bool(j, "artificial", true);
    zs_json_u64(j, "frame", scope->frame);
    put_place(j, info, "file", variable->decl_file, "line", variable->decl_line);
    if (info->frames[scope->frame].scope != variable->scope)
        put_ranges(j, "scope", info, scope);
    struct zs_span constant = zs_variable_const(info, variable);
    if (constant.size_B)
        put_const(j, constant, size_B);
    put_locations(j, w, code, variable, size_B);
    if (w->options->types)
        put_members(j, info->dwarf, variable->type);
    zs_json_end(j);
}

static void put_variables(struct zs_json *j, const struct writer *w, const struct zs_code *code)
{
    zs_json_array(j, "variables");
    for (uint32_t i = 0; i < code->info->variable_count; i++)
        put_variable(j, w, code, &code->info->variables[i]);
    zs_json_end(j);
}

/* ---- instructions ---- */

/* First word behind the predicate of "(W&~f0.0) mov (8|M0) ...". */
static void text_opcode(const char *text, size_t size_B, size_t *ret_at, size_t *ret_size_B)
{
    size_t at = 0;
    if (size_B && text[0] == '(') {
        while (at < size_B && text[at] != ')')
            at++;
        at += at < size_B;
    }
    while (at < size_B && text[at] == ' ')
        at++;
    size_t end = at;
    while (end < size_B && text[end] != ' ' && text[end] != '.')
        end++;
    *ret_at = at;
    *ret_size_B = end - at;
}

/* Whether a text can stand in JSON as it is. Instructions are plain ASCII. */
static bool is_plain(const char *text, size_t size_B)
{
    uint8_t bad = 0;
    for (size_t i = 0; i < size_B; i++) {
        uint8_t c = (uint8_t)text[i];
        bad |= (uint8_t)((c < 0x20) | (c >= 0x7f) | (c == '"') | (c == '\\'));
    }
    return !bad;
}

static void put_text(struct zs_buf *out, const char *text, size_t size_B)
{
    if (!is_plain(text, size_B)) {
        zs_json_escape(out, text, size_B, false);
        return;
    }
    uint8_t *p = zs_buf_reserve(out, size_B + 2);
    if (!p)
        return;
    p[0] = '"';
    memcpy(p + 1, text, size_B);
    p[size_B + 1] = '"';
    out->size_B += size_B + 2;
}

struct inst_writer {
    const struct writer *w;
    const struct zs_code *code;
    struct zs_buf *out;
    struct zs_buf place; /* file, line, column of a row */
    const struct zs_line_row *row;
};

static void put_row(struct inst_writer *iw, const struct zs_line_row *row)
{
    struct zs_buf *place = &iw->place;
    if (row != iw->row) {
        const char *path = file_path(iw->code->info, row->file);
        place->size_B = 0;
        PUT_LITERAL(place, ",\"file\":");
        zs_json_escape(place, path, strlen(path), false);
        PUT_LITERAL(place, ",\"line\":");
        zs_buf_put_u64(place, row->line);
        PUT_LITERAL(place, ",\"column\":");
        zs_buf_put_u64(place, row->column);
        if (row->flags & ZS_ROW_IS_STMT)
            PUT_LITERAL(place, ",\"is_stmt\":true");
        iw->row = row;
    }
    zs_buf_append(iw->out, place->data, place->size_B);
}

/* Where the last instruction of a block may go on to, but for the next one. */
static void put_targets(struct inst_writer *iw, const struct zs_isa_block *block)
{
    const struct zs_isa_kernel *isa = iw->code->isa;
    bool any = false;
    for (uint32_t e = 0; e < block->edge_count; e++) {
        const struct zs_isa_edge *edge = zs_isa_edge(isa, block->edge_first + e);
        if (edge->kind == ZS_EDGE_NEXT)
            continue;
        if (any)
            zs_buf_putc(iw->out, ',');
        else
            PUT_LITERAL(iw->out, ",\"targets\":[");
        any = true;
        zs_buf_put_u64(iw->out, zs_isa_block(isa, edge->to)->offset_B);
    }
    if (any)
        zs_buf_putc(iw->out, ']');
}

/* Numbers of the instruction from elsewhere ("executions": 12), where they were collected. */
static void put_inst_columns(struct inst_writer *iw, uint32_t i)
{
    for (uint32_t c = 0; c < iw->code->column_count; c++) {
        const struct zs_column *column = &iw->code->columns[c];
        double v = column->values[i];
        if (!isfinite(v))
            continue;
        zs_buf_printf(iw->out, ",\"%s\":", column->name);
        if (v >= 0 && v < 9007199254740992.0 && v == floor(v))
            zs_buf_put_u64(iw->out, (uint64_t)v);
        else
            zs_buf_printf(iw->out, "%.9g", v);
    }
}

static void put_message(struct zs_buf *out, const struct zs_isa_message *message)
{
    struct zs_json j = zs_json_make(out, 0);
    struct zs_buf text = {0};
    char surface[32];
    zs_report_message(&text, message);
    PUT_LITERAL(out, ",\"message\":");
    zs_json_object(&j, NULL);
    zs_json_string(&j, "text", zs_buf_cstr(&text));
    if (zs_isa_sfid_name((enum zs_isa_sfid)message->sfid)[0])
        zs_json_string(&j, "function", zs_isa_sfid_name((enum zs_isa_sfid)message->sfid));
    zs_json_string(&j, "kind", zs_isa_message_kind_name((enum zs_isa_message_kind)message->kind));
    if (zs_report_surface(message, surface, sizeof(surface)))
        zs_json_string(&j, "surface", surface);
    if (message->flags & ZS_MSGF_BYTES_KNOWN) {
        zs_json_u64(&j, "read_B", message->read_B);
        zs_json_u64(&j, "write_B", message->written_B);
    }
    zs_json_end(&j);
    zs_buf_fini(&text);
}

static void put_extras(struct inst_writer *iw, uint32_t i)
{
    const struct zs_module_json_options *options = iw->w->options;
    const struct zs_isa_kernel *isa = iw->code->isa;
    struct zs_buf *out = iw->out;
    if (options->operands) {
        PUT_LITERAL(out, ",\"exec_size\":");
        zs_buf_put_u64(out, zs_isa_inst(isa, i)->exec_size);
    }
    if (options->pressure) {
        PUT_LITERAL(out, ",\"live_grfs\":");
        zs_buf_put_u64(out, zs_isa_live_grf(isa, i));
    }
    const struct zs_isa_message *message = options->sends ? zs_isa_inst_message(isa, i) : NULL;
    if (message)
        put_message(out, message);
}

static void put_instruction(struct inst_writer *iw, uint32_t i, uint32_t block_index,
                            const struct zs_isa_block *block)
{
    const struct zs_isa_kernel *isa = iw->code->isa;
    struct zs_buf *out = iw->out;
    uint32_t offset_B = zs_isa_inst_offset(isa, i);
    char text[ZS_ISA_LINE_MAX];
    size_t size_B = zs_isa_inst_text(isa, i, text), opcode_at, opcode_size_B;
    PUT_LITERAL(out, "{\"offset\":");
    zs_buf_put_u64(out, offset_B);
    PUT_LITERAL(out, ",\"size\":");
    zs_buf_put_u64(out, zs_isa_inst_size(isa, i));
    PUT_LITERAL(out, ",\"text\":");
    put_text(out, text, size_B);
    if (zs_isa_inst_has_label(isa, i)) {
        PUT_LITERAL(out, ",\"label\":\"L");
        zs_buf_put_u64(out, offset_B);
        zs_buf_putc(out, '"');
    }
    const struct zs_line_row *row = zs_code_row(iw->code, i);
    if (row)
        put_row(iw, row);
    uint32_t frame = zs_code_frame(iw->code, i);
    if (frame != ZS_NO_INDEX) {
        PUT_LITERAL(out, ",\"frame\":");
        zs_buf_put_u64(out, frame);
    }
    PUT_LITERAL(out, ",\"block\":");
    zs_buf_put_u64(out, block_index);
    PUT_LITERAL(out, ",\"opcode\":");
    text_opcode(text, size_B, &opcode_at, &opcode_size_B);
    put_text(out, text + opcode_at, opcode_size_B);
    if (i + 1 == block->first + block->count)
        put_targets(iw, block);
    if (iw->w->options->operands || iw->w->options->pressure || iw->w->options->sends)
        put_extras(iw, i);
    put_inst_columns(iw, i);
    zs_buf_putc(out, '}');
}

static void put_instructions(struct zs_json *j, const struct writer *w, const struct zs_code *code)
{
    struct inst_writer iw = {.w = w, .code = code, .out = j->out};
    uint32_t block_count = zs_isa_block_count(code->isa);
    bool lines = j->indent > j->depth;
    zs_json_array(j, "instructions");
    for (uint32_t b = 0; b < block_count; b++) {
        const struct zs_isa_block *block = zs_isa_block(code->isa, b);
        for (uint32_t i = block->first; i < block->first + block->count; i++) {
            if (i)
                zs_buf_putc(j->out, ',');
            if (lines)
                zs_buf_putc(j->out, '\n');
            put_instruction(&iw, i, b, block);
        }
    }
    zs_json_end(j);
    if (iw.place.error)
        j->out->error = iw.place.error;
    zs_buf_fini(&iw.place);
}

static void put_blocks(struct zs_json *j, const struct zs_isa_kernel *isa)
{
    zs_json_array(j, "blocks");
    for (uint32_t b = 0; b < zs_isa_block_count(isa); b++) {
        const struct zs_isa_block *block = zs_isa_block(isa, b);
        zs_json_object(j, NULL);
        zs_json_u64(j, "first", block->first);
        zs_json_u64(j, "count", block->count);
        zs_json_u64(j, "offset", block->offset_B);
        zs_json_u64(j, "size", block->size_B);
        zs_json_array(j, "successors");
        for (uint32_t e = 0; e < block->edge_count; e++)
            zs_json_u64(j, NULL, zs_isa_edge(isa, block->edge_first + e)->to);
        zs_json_end(j);
        zs_json_u64(j, "loop_depth", block->loop_depth);
        zs_json_end(j);
    }
    zs_json_end(j);
}

static void put_numbers(struct zs_json *j, const char *name, const double *values, uint32_t count)
{
    zs_json_array(j, name);
    for (uint32_t i = 0; i < count; i++) {
        /* counts are exact up to 2^53 */
        if (values[i] >= 0 && values[i] < 9007199254740992.0 && values[i] == floor(values[i]))
            zs_json_u64(j, NULL, (uint64_t)values[i]);
        else
            zs_json_double(j, NULL, values[i]);
    }
    zs_json_end(j);
}

static void put_columns(struct zs_json *j, const struct zs_code *code)
{
    static const char *const totals[] = {[ZS_TOTAL_SUM] = "sum",
                                         [ZS_TOTAL_MAX] = "max",
                                         [ZS_TOTAL_MEAN] = "mean",
                                         [ZS_TOTAL_MIN] = "min"};
    if (!code->column_count)
        return;
    zs_json_array(j, "columns");
    for (uint32_t c = 0; c < code->column_count; c++) {
        const struct zs_column *column = &code->columns[c];
        zs_json_object(j, NULL);
        zs_json_string(j, "name", column->name);
        if (column->unit && column->unit[0])
            zs_json_string(j, "unit", column->unit);
        if (column->description && column->description[0])
            zs_json_string(j, "description", column->description);
        zs_json_string(j, "total", totals[column->total]);
        zs_json_bool(j, "shown", column->shown);
        if (column->heat)
            zs_json_bool(j, "heat", true);
        put_numbers(j, "values", column->values, zs_isa_kernel_count(code->isa));
        if (column->weights)
            put_numbers(j, "weights", column->weights, zs_isa_kernel_count(code->isa));
        zs_json_end(j);
    }
    zs_json_end(j);
}

/* What a hardware thread and a work-group take; what a kernel does not use is left out. */
static void put_resources(struct zs_json *j, const struct zs_kernel *kernel)
{
    if (kernel->grf_count)
        zs_json_u64(j, "grf_count", kernel->grf_count);
    if (kernel->spill_known)
        zs_json_u64(j, "spill_B", kernel->spill_B);
    const struct {
        const char *key;
        uint32_t value;
    } rows[] = {
        {"scratch_B", kernel->scratch_B[0]},
        {"private_B", kernel->private_per_hw_thread_B},
        {"slm_B", kernel->slm_B},
        {"barriers", kernel->barrier_count},
    };
    for (size_t i = 0; i < ZS_ARRAY_LEN(rows); i++)
        if (rows[i].value)
            zs_json_u64(j, rows[i].key, rows[i].value);
}

static void put_kernel(struct zs_json *j, const struct writer *w, const struct zs_code *code,
                       const struct zs_kernel_ref *ref)
{
    const struct zs_kernel *kernel = code->kernel;
    zs_json_object(j, NULL);
    zs_json_string(j, "name", kernel->name);
    const char *note = zs_kernel_ref_note(ref, code);
    if (ref->module[0])
        zs_json_string(j, "module", ref->module);
    zs_json_u64(j, "simd", kernel->simd);
    zs_json_u64(j, "isa_size_B", kernel->code.size_B);
    zs_json_u64(j, "grf_B", kernel->grf_B);
    put_resources(j, kernel);
    if (code->error)
        zs_json_string(j, "error", code->error);
    zs_json_bool(j, "has_debug_info", code->info != NULL);
    if (note && !w->options->no_source)
        zs_json_string(j, "note", note);
    if (code->isa) {
        put_instructions(j, w, code);
        put_blocks(j, code->isa);
        if (w->options->pressure) {
            uint32_t inst = 0;
            zs_json_u64(j, "peak_live_grfs", zs_isa_live_peak(code->isa, &inst));
            zs_json_u64(j, "peak_offset", zs_isa_inst_offset(code->isa, inst));
        }
        put_columns(j, code);
    } else {
        zs_json_array(j, "instructions");
        zs_json_end(j);
        zs_json_array(j, "blocks");
        zs_json_end(j);
    }
    if (code->join)
        put_lines(j, code);
    if (code->info) {
        put_frames(j, code->info);
        put_variables(j, w, code);
    }
    zs_json_end(j);
}

/* ---- the window ---- */

struct file_list {
    struct zs_dwarf_file *items; /* path owned */
    size_t count, capacity;
};

struct item {
    const struct zs_kernel_ref *ref;
    struct zs_buf out;
    struct file_list files; /* what its debug info names; NULL paths never */
    int error;
};

struct window {
    const struct writer *w;
    uint32_t depth; /* of a kernel in the document */
    struct item items[WINDOW_KERNELS];
    size_t count;
};

static int keep_files(struct item *item, const struct zs_code *code)
{
    for (uint32_t f = 0; code->info && f < code->info->file_count; f++) {
        struct zs_dwarf_file file = code->info->files[f];
        file.path = strdup(file.path);
        if (!file.path || !ZS_VEC_PUSH(&item->files, file)) {
            free((void *)file.path);
            return -ENOMEM;
        }
    }
    return 0;
}

static void write_item(void *ctx, size_t i)
{
    struct window *window = ctx;
    const struct writer *w = window->w;
    struct item *item = &window->items[i];
    struct zs_code *code = NULL;
    item->error = zs_code_open(w->annotation, item->ref->image, item->ref->kernel, w->what, &code);
    if (item->error)
        return;
    if (w->options->no_source) {
        code->info = NULL;
        code->join = NULL;
    }
    const struct zs_column_source *columns = &w->view->columns;
    if (columns->attach)
        item->error = columns->attach(columns->user, code);
    struct zs_json j = zs_json_make(&item->out, w->options->indent);
    /* the commas between kernels are placed by the caller */
    j.depth = window->depth;
    if (!item->error) {
        j.has_member[j.depth - 1] = false;
        put_kernel(&j, w, code, item->ref);
        item->error = item->out.error ? item->out.error : keep_files(item, code);
    }
    if (columns->release)
        columns->release(columns->user, code);
    zs_code_close(code);
}

static void clear_window(struct window *window)
{
    for (size_t i = 0; i < window->count; i++) {
        struct item *item = &window->items[i];
        for (size_t f = 0; f < item->files.count; f++)
            free((void *)item->files.items[f].path);
        free(item->files.items);
        zs_buf_fini(&item->out);
    }
    window->count = 0;
}

/* ---- the document ---- */

/* The union of the kernels' files, by path. */
struct file_set {
    struct file_list list; /* paths owned */
    struct zs_name_map by_path;
};

struct document {
    struct writer w;
    struct zs_buf out;
    struct zs_json j;
    struct window *window;
    struct file_set *files;
};

/* Takes the path over from the item when it is new. */
static int add_file(struct file_set *set, struct zs_dwarf_file *file)
{
    if (zs_name_map_get(&set->by_path, file->path) != ZS_NAME_MAP_NONE)
        return 0;
    if (!ZS_VEC_RESERVE(&set->list, 1) ||
        !zs_name_map_put(&set->by_path, file->path, (uint32_t)set->list.count))
        return -ENOMEM;
    set->list.items[set->list.count++] = *file;
    file->path = NULL;
    return 0;
}

static int flush(struct document *d)
{
    if (d->out.error)
        return d->out.error;
    int error = d->out.size_B ? d->w.write(d->w.user, d->out.data, d->out.size_B) : 0;
    d->out.size_B = 0;
    return error;
}

static int run_window(struct document *d)
{
    struct window *window = d->window;
    window->w = &d->w;
    window->depth = d->j.depth;
    zs_parallel_for(window->count, 0, write_item, window);
    int error = 0;
    for (size_t i = 0; !error && i < window->count; i++) {
        struct item *item = &window->items[i];
        error = item->error;
        if (!error && d->j.has_member[d->j.depth - 1])
            zs_buf_putc(&d->out, ',');
        d->j.has_member[d->j.depth - 1] = true;
        if (!error)
            error = flush(d);
        if (!error)
            error = d->w.write(d->w.user, item->out.data, item->out.size_B);
        for (size_t f = 0; !error && f < item->files.count; f++)
            error = add_file(d->files, &item->files.items[f]);
    }
    clear_window(window);
    return error;
}

static int put_image(struct document *d, const struct zs_kernel_ref *refs, size_t count)
{
    const struct zs_image *image = refs[0].image;
    zs_json_object(&d->j, NULL);
    zs_json_string(&d->j, "device", zs_image_device(image));
    zs_json_string(&d->j, "format", image->format == ZS_CONTAINER_ZEBIN ? "zebin" : "patch-tokens");
    zs_json_array(&d->j, "kernels");
    int error = 0;
    uint64_t code_B = 0;
    for (size_t i = 0; !error && i < count; i++) {
        d->window->items[d->window->count++] = (struct item){.ref = &refs[i]};
        code_B += refs[i].kernel->code.size_B;
        if (d->window->count == WINDOW_KERNELS || code_B >= WINDOW_CODE_B || i + 1 == count) {
            error = run_window(d);
            code_B = 0;
        }
    }
    zs_json_end(&d->j);
    zs_json_end(&d->j);
    return error ? error : flush(d);
}

static int put_files(struct document *d)
{
    int error = 0;
    zs_json_array(&d->j, "files");
    for (size_t i = 0; !error && i < d->files->list.count; i++) {
        const struct zs_dwarf_file *file = &d->files->list.items[i];
        const struct zs_source *source =
            d->w.view->sources ? zs_sources_get(d->w.view->sources, file) : NULL;
        zs_json_object(&d->j, NULL);
        zs_json_string(&d->j, "path", file->path);
        if (source && source->found)
            zs_json_string(&d->j, "found", source->found);
        if (source && source->note)
            zs_json_string(&d->j, "note", source->note);
        if (source && source->found && d->w.options->with_source)
            zs_json_string_n(&d->j, "text",
                             source->text.data ? (const char *)source->text.data : "",
                             source->text.size_B);
        zs_json_end(&d->j);
        error = flush(d);
    }
    zs_json_end(&d->j);
    return error;
}

static void put_notes(struct document *d)
{
    const struct zs_module *module = d->w.view->module;
    zs_json_array(&d->j, "notes");
    for (size_t i = 0; i < d->w.view->note_count; i++)
        zs_json_string(&d->j, NULL, d->w.view->notes[i]);
    for (uint32_t i = 0; module && i < module->note_count; i++)
        zs_json_string(&d->j, NULL, module->notes[i].text);
    zs_json_end(&d->j);
}

static int put_document(struct document *d)
{
    const struct zs_module_view *view = d->w.view;
    zs_json_object(&d->j, NULL);
    zs_json_string(&d->j, "schema", "zescope.module/1");
    zs_json_string(&d->j, "generator", "zescope " ZS_VERSION);
    zs_json_string(&d->j, "input", view->input);
    zs_json_array(&d->j, "devices");
    int error = 0;
    for (size_t i = 0, end; !error && i < view->kernel_count; i = end) {
        end = i + 1;
        while (end < view->kernel_count && view->kernels[end].image == view->kernels[i].image)
            end++;
        error = put_image(d, view->kernels + i, end - i);
    }
    zs_json_end(&d->j);
    if (!error && !d->w.options->no_source)
        error = put_files(d);
    put_notes(d);
    zs_json_end(&d->j);
    zs_buf_putc(&d->out, '\n');
    return error ? error : flush(d);
}

int zs_report_module_json(const struct zs_module_view *view,
                          const struct zs_module_json_options *options, zs_write_fn *write,
                          void *user)
{
    struct document d = {.w = {.view = view, .options = options, .write = write, .user = user}};
    d.w.what = ZS_ISA_TEXT | ZS_ISA_BLOCKS;
    if (options->sends || options->operands)
        d.w.what |= ZS_ISA_INSTS;
    if (options->pressure)
        d.w.what |= ZS_ISA_LIVENESS;
    d.j = zs_json_make(&d.out, options->indent);
    struct file_set files = {0};
    d.files = &files;
    d.window = calloc(1, sizeof(*d.window));
    d.w.words = zs_words_memo_open();
    int error = d.window && d.w.words ? zs_annotation_open(view->module, &d.w.annotation) : -ENOMEM;
    if (!error)
        error = put_document(&d);
    zs_annotation_close(d.w.annotation);
    zs_words_memo_close(d.w.words);
    free(d.window);
    for (size_t i = 0; i < files.list.count; i++)
        free((void *)files.list.items[i].path);
    free(files.list.items);
    zs_name_map_fini(&files.by_path);
    zs_buf_fini(&d.out);
    return error;
}
