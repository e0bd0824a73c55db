/* SPDX-License-Identifier: MIT */
/*
 * The line table (DWARF 4 and 5, section 6.2): one unit's files, and the rows that lie in one
 * kernel's code.
 *
 * The state machine runs over the whole program, rows outside the kernel are dropped at once.
 * Rows are bounded by the code, not by the program: a kernel keeps at most one row for every four
 * bytes of code (an instruction has at least eight) and a thousand more; beyond that, rows that
 * the next one hides (same offset) give way.
 */
#include "dwarf/dwarf_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { FORMATS_MAX = 32, LINE_RANGE_MIN_CODE_B = 4, LINE_SPARE_ROWS = 1024 };

struct line_format {
    uint64_t content, form;
};

struct line_header {
    uint16_t version;
    uint8_t offset_size_B, address_B;
    uint8_t min_inst_B, max_ops, default_is_stmt, line_range, opcode_base;
    int8_t line_base;
    struct zs_span lengths; /* operand counts of the standard opcodes */
};

struct line_state {
    uint64_t va;
    uint32_t op_index, line, column, discriminator;
    uint64_t file;
    uint8_t flags;
    bool is_stmt;
};

struct line_reader {
    struct zs_kernel_loader *loader;
    const struct zs_unit *unit;
    struct zs_reader r;
    struct line_header header;
    struct {
        const char **items;
        size_t count, capacity;
    } directories;
};

static uint64_t read_offset(struct line_reader *l, const char *what)
{
    return l->header.offset_size_B == 8 ? zs_read_u64(&l->r, what) : zs_read_u32(&l->r, what);
}

/* ---- header ---- */

static const char *directory(const struct line_reader *l, uint64_t index)
{
    return index < l->directories.count ? l->directories.items[index] : "";
}

static int add_file(struct line_reader *l, const char *name, uint64_t directory_index,
                    const uint8_t *md5)
{
    uint32_t index = zs_file_table_add(l->loader->files, l->unit->comp_dir,
                                       directory(l, directory_index), name, md5);
    return ZS_VEC_PUSH(&l->loader->unit_files, index == ZS_NO_INDEX ? 0 : index + 1) ? 0 : -ENOMEM;
}

static int read_tables4(struct line_reader *l)
{
    /* directory 0 is the compilation directory, file 0 is not used */
    if (!ZS_VEC_PUSH(&l->directories, "") || !ZS_VEC_PUSH(&l->loader->unit_files, 0))
        return -ENOMEM;
    for (;;) {
        const char *name = zs_read_cstr(&l->r, "directory name");
        if (!*name)
            break;
        if (!ZS_VEC_PUSH(&l->directories, name))
            return -ENOMEM;
    }
    for (;;) {
        const char *name = zs_read_cstr(&l->r, "file name");
        if (!*name || l->r.error)
            break;
        uint64_t index = zs_read_uleb128(&l->r, "directory of a file");
        zs_read_uleb128(&l->r, "time of a file");
        zs_read_uleb128(&l->r, "size of a file");
        int error = l->r.error ? l->r.error : add_file(l, name, index, NULL);
        if (error)
            return error;
    }
    return l->r.error;
}

struct line_entry {
    const char *path;
    uint64_t directory;
    struct zs_span md5;
};

static void read_entry_value(struct line_reader *l, const struct line_format *format,
                             struct line_entry *entry)
{
    const struct zs_dwarf *debug = l->loader->debug;
    struct zs_attr attr = {0};
    switch (format->form) {
    case DW_FORM_string:
        attr.form_class = ZS_CLASS_STRING;
        attr.bytes = zs_span_make(zs_read_cstr(&l->r, "path"), 0);
        break;
    case DW_FORM_line_strp:
        attr.form_class = ZS_CLASS_LINE_STR;
        attr.value = read_offset(l, "path");
        break;
    case DW_FORM_strp:
        attr.form_class = ZS_CLASS_STR_OFFSET;
        attr.value = read_offset(l, "path");
        break;
    case DW_FORM_udata:
        attr.value = zs_read_uleb128(&l->r, "file entry");
        break;
    case DW_FORM_data1:
        attr.value = zs_read_u8(&l->r, "file entry");
        break;
    case DW_FORM_data2:
        attr.value = zs_read_u16(&l->r, "file entry");
        break;
    case DW_FORM_data4:
        attr.value = zs_read_u32(&l->r, "file entry");
        break;
    case DW_FORM_data8:
        attr.value = zs_read_u64(&l->r, "file entry");
        break;
    case DW_FORM_data16:
        attr.bytes = zs_read_bytes(&l->r, 16, "file checksum");
        break;
    case DW_FORM_block:
        zs_read_skip(&l->r, zs_read_uleb128(&l->r, "block size"), "file entry");
        break;
    default:
        zs_reader_fail(&l->r, -EOPNOTSUPP, "line table: form 0x%" PRIx64 " in a file entry",
                       format->form);
        return;
    }
    if (format->content == DW_LNCT_path)
        entry->path = zs_attr_string(debug, l->unit, &attr);
    else if (format->content == DW_LNCT_directory_index)
        entry->directory = attr.value;
    else if (format->content == DW_LNCT_MD5)
        entry->md5 = attr.bytes;
}

/* A table of directories or files; both are counted from 0. */
static int read_table5(struct line_reader *l, bool files)
{
    struct line_format formats[FORMATS_MAX];
    uint32_t format_count = zs_read_u8(&l->r, "count of entry formats");
    if (format_count > FORMATS_MAX)
        return zs_reader_fail(&l->r, -E2BIG, "line table: %u formats of a file entry",
                              format_count);
    for (uint32_t i = 0; i < format_count; i++) {
        formats[i].content = zs_read_uleb128(&l->r, "entry format");
        formats[i].form = zs_read_uleb128(&l->r, "entry format");
    }
    uint64_t count = zs_read_uleb128(&l->r, "count of entries");
    /* an entry without a field takes no bytes: their number would have no bound */
    if (!l->r.error && count > zs_reader_left(&l->r))
        return zs_reader_fail(&l->r, -EINVAL, "line table: %" PRIu64 " entries do not fit", count);
    for (uint64_t i = 0; i < count && !l->r.error; i++) {
        struct line_entry entry = {.path = ""};
        for (uint32_t f = 0; f < format_count && !l->r.error; f++)
            read_entry_value(l, &formats[f], &entry);
        if (l->r.error)
            break;
        const uint8_t *md5 = entry.md5.size_B == 16 ? entry.md5.data : NULL;
        if (files) {
            int error = add_file(l, entry.path, entry.directory, md5);
            if (error)
                return error;
        } else if (!ZS_VEC_PUSH(&l->directories, entry.path)) {
            return -ENOMEM;
        }
    }
    return l->r.error;
}

static int read_header(struct line_reader *l)
{
    struct line_header *h = &l->header;
    h->offset_size_B = 4;
    uint64_t length_B = zs_read_u32(&l->r, "line table length");
    if (length_B == 0xffffffff) {
        h->offset_size_B = 8;
        length_B = zs_read_u64(&l->r, "line table length");
    }
    struct zs_reader body = zs_read_sub(&l->r, length_B, "line table");
    l->r = body;
    h->version = zs_read_u16(&l->r, "line table version");
    if (!l->r.error && (h->version < 2 || h->version > 5))
        return zs_reader_fail(&l->r, -EOPNOTSUPP, "line table of version %u", h->version);
    h->address_B = l->unit->address_B;
    if (h->version >= 5) {
        h->address_B = zs_read_u8(&l->r, "address size");
        zs_read_u8(&l->r, "segment selector size");
    }
    uint64_t header_B = read_offset(l, "line table header length");
    if (!l->r.error && header_B > zs_reader_left(&l->r))
        return zs_reader_fail(&l->r, -EINVAL, "line table header: %" PRIu64 " bytes expected",
                              header_B);
    size_t program_B = l->r.at_B + (size_t)header_B;
    h->min_inst_B = zs_read_u8(&l->r, "line table header");
    h->max_ops = h->version >= 4 ? zs_read_u8(&l->r, "line table header") : 1;
    h->default_is_stmt = zs_read_u8(&l->r, "line table header");
    h->line_base = (int8_t)zs_read_u8(&l->r, "line table header");
    h->line_range = zs_read_u8(&l->r, "line table header");
    h->opcode_base = zs_read_u8(&l->r, "line table header");
    if (!l->r.error && (!h->line_range || !h->opcode_base))
        return zs_reader_fail(&l->r, -EINVAL, "line table header: line range %u, opcode base %u",
                              h->line_range, h->opcode_base);
    h->lengths = zs_read_bytes(&l->r, (uint64_t)h->opcode_base - 1, "opcode lengths");
    if (h->max_ops == 0)
        h->max_ops = 1;
    int error = l->r.error;
    if (!error && h->version >= 5) {
        error = read_table5(l, false);
        if (!error)
            error = read_table5(l, true);
    } else if (!error) {
        error = read_tables4(l);
    }
    zs_read_seek(&l->r, program_B, "line program");
    return error ? error : l->r.error;
}

/* ---- program ---- */

static struct line_state initial_state(const struct line_header *h)
{
    return (struct line_state){.file = 1, .line = 1, .is_stmt = h->default_is_stmt};
}

static size_t rows_limit(const struct zs_kernel_loader *loader)
{
    return (size_t)(loader->end_va - loader->begin_va) / LINE_RANGE_MIN_CODE_B + LINE_SPARE_ROWS;
}

static int push_row(struct zs_kernel_loader *loader, const struct zs_line_row *row)
{
    struct zs_line_row *last =
        loader->rows.count ? &loader->rows.items[loader->rows.count - 1] : NULL;
    if (last && last->offset_B > row->offset_B)
        loader->rows_sorted = false;
    if (loader->rows.count >= rows_limit(loader)) {
        loader->kernel->truncated = true;
        if (last->offset_B != row->offset_B)
            return 0;
        loader->rows.count--;
    }
    return ZS_VEC_PUSH(&loader->rows, *row) ? 0 : -ENOMEM;
}

/* A row of the matrix, where it lies in the kernel. The end of a sequence may be its end. */
static int emit_row(struct line_reader *l, const struct line_state *s, bool end)
{
    struct zs_kernel_loader *loader = l->loader;
    uint64_t va = s->va;
    bool inside = va >= loader->begin_va && (va < loader->end_va || (end && va == loader->end_va));
    if (!inside)
        return 0;
    struct zs_line_row row = {.offset_B = (uint32_t)(va - loader->begin_va)};
    if (end) {
        row.flags = ZS_ROW_END_SEQUENCE;
    } else {
        row.line = s->line;
        row.column = (uint16_t)ZS_MIN(s->column, (uint32_t)UINT16_MAX);
        row.discriminator = (uint16_t)ZS_MIN(s->discriminator, (uint32_t)UINT16_MAX);
        row.flags = (uint8_t)(s->flags | (s->is_stmt ? ZS_ROW_IS_STMT : 0));
        uint32_t file = zs_load_unit_file(loader, s->file);
        row.file = file == ZS_NO_INDEX ? UINT16_MAX : (uint16_t)file;
        if (file == ZS_NO_INDEX)
            row.line = 0;
    }
    return push_row(loader, &row);
}

static void advance(const struct line_header *h, struct line_state *s, uint64_t operations)
{
    if (h->max_ops == 1) {
        s->va += operations * h->min_inst_B;
        return;
    }
    uint64_t index = s->op_index + operations;
    s->va += index / h->max_ops * h->min_inst_B;
    s->op_index = (uint32_t)(index % h->max_ops);
}

static int emit_and_clear(struct line_reader *l, struct line_state *s)
{
    int error = emit_row(l, s, false);
    s->flags = 0;
    s->discriminator = 0;
    return error;
}

static uint32_t clamp_u32(uint64_t value)
{
    return (uint32_t)ZS_MIN(value, (uint64_t)UINT32_MAX);
}

static int extended_opcode(struct line_reader *l, struct line_state *s)
{
    uint64_t size_B = zs_read_uleb128(&l->r, "extended opcode size");
    struct zs_reader body = zs_read_sub(&l->r, size_B, "extended opcode");
    if (l->r.error || size_B == 0)
        return l->r.error;
    uint8_t opcode = zs_read_u8(&body, "extended opcode");
    int error = 0;
    if (opcode == DW_LNE_end_sequence) {
        error = emit_row(l, s, true);
        *s = initial_state(&l->header);
    } else if (opcode == DW_LNE_set_address) {
        s->va = zs_reader_left(&body) >= 8 ? zs_read_u64(&body, "address")
                                           : zs_read_u32(&body, "address");
        s->op_index = 0;
    } else if (opcode == DW_LNE_define_file) {
        const char *name = zs_read_cstr(&body, "file name");
        uint64_t index = zs_read_uleb128(&body, "directory of a file");
        if (!body.error)
            error = add_file(l, name, index, NULL);
    } else if (opcode == DW_LNE_set_discriminator) {
        s->discriminator = clamp_u32(zs_read_uleb128(&body, "discriminator"));
    }
    if (body.error)
        l->r.error = body.error;
    return error ? error : body.error;
}

static int standard_opcode(struct line_reader *l, struct line_state *s, uint8_t opcode)
{
    const struct line_header *h = &l->header;
    switch (opcode) {
    case DW_LNS_copy:
        return emit_and_clear(l, s);
    case DW_LNS_advance_pc:
        advance(h, s, zs_read_uleb128(&l->r, "address advance"));
        break;
    case DW_LNS_advance_line:
        s->line += (uint32_t)zs_read_sleb128(&l->r, "line advance");
        break;
    case DW_LNS_set_file:
        s->file = zs_read_uleb128(&l->r, "file number");
        break;
    case DW_LNS_set_column:
        s->column = clamp_u32(zs_read_uleb128(&l->r, "column"));
        break;
    case DW_LNS_negate_stmt:
        s->is_stmt = !s->is_stmt;
        break;
    case DW_LNS_set_basic_block:
        s->flags |= ZS_ROW_BASIC_BLOCK;
        break;
    case DW_LNS_const_add_pc:
        advance(h, s, (uint64_t)(255 - h->opcode_base) / h->line_range);
        break;
    case DW_LNS_fixed_advance_pc:
        s->va += zs_read_u16(&l->r, "address advance");
        s->op_index = 0;
        break;
    case DW_LNS_set_prologue_end:
        s->flags |= ZS_ROW_PROLOGUE_END;
        break;
    case DW_LNS_set_epilogue_begin:
        s->flags |= ZS_ROW_EPILOGUE_BEGIN;
        break;
    case DW_LNS_set_isa:
        zs_read_uleb128(&l->r, "instruction set");
        break;
    default:
        break;
    }
    return 0;
}

static int run_program(struct line_reader *l)
{
    const struct line_header *h = &l->header;
    struct line_state s = initial_state(h);
    int error = 0;
    while (!error && zs_reader_left(&l->r)) {
        uint8_t opcode = zs_read_u8(&l->r, "line opcode");
        if (opcode >= h->opcode_base) {
            uint32_t adjusted = (uint32_t)opcode - h->opcode_base;
            advance(h, &s, adjusted / h->line_range);
            s.line += (uint32_t)(h->line_base + (int32_t)(adjusted % h->line_range));
            error = emit_and_clear(l, &s);
        } else if (opcode == 0) {
            error = extended_opcode(l, &s);
        } else if (opcode < DW_LNS_COUNT) {
            error = standard_opcode(l, &s, opcode);
        } else {
            /* an opcode of a later version: its operands are LEB128 numbers */
            for (uint8_t n = h->lengths.data[opcode - 1]; n; n--)
                zs_read_uleb128(&l->r, "operand");
        }
    }
    return error ? error : l->r.error;
}

int zs_load_lines(struct zs_kernel_loader *loader, const struct zs_unit *unit)
{
    loader->unit_files.count = 0;
    if (unit->line_offset_B == UINT64_MAX)
        return 0;
    struct line_reader l = {.loader = loader, .unit = unit};
    l.r = zs_dwarf_reader(loader->debug, ZS_DW_LINE, loader->diag);
    zs_read_seek(&l.r, unit->line_offset_B, "line table");
    int error = l.r.error ? l.r.error : read_header(&l);
    if (!error)
        error = zs_dwarf_charge(loader->debug, l.r.span.size_B, loader->diag);
    if (!error)
        error = run_program(&l);
    free(l.directories.items);
    return error;
}

uint32_t zs_load_unit_file(const struct zs_kernel_loader *loader, uint64_t number)
{
    uint32_t index = number < loader->unit_files.count ? loader->unit_files.items[number] : 0;
    return index ? index - 1 : ZS_NO_INDEX;
}
