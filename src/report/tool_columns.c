/* SPDX-License-Identifier: MIT */
/*
 * The file is wire/instrument.h's, and hostile: counts are bounded by the bytes that there are.
 * A kernel has the columns of the first tool that says something of it.
 */
#include "report/tool_columns.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/os.h"
#include "base/reader.h"
#include "base/vec.h"
#include "report/columns.h"
#include "report/counts.h"
#include "wire/instrument.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zescope/instrument.h>

enum { COLUMNS_MAX = 64, NAME_MAX_B = 256, FILE_MAX_B = 1 << 30, SHOWN_COLUMNS = 4 };

struct tool {
    uint32_t count;
    struct zs_column *columns; /* no values */
    uint32_t *below;           /* ratios: which column is the weight; else ZS_NONE */
};

struct kernel_rows {
    const struct zs_kernel *kernel;
    struct tool tool;
    uint32_t row_count;
    uint32_t *offsets_B; /* ascending */
    double *values;      /* by row, then column */
};

/* Where a kernel's rows stand in the file. */
struct entry {
    struct zs_span hash, name, rows;
    uint32_t row_count;
};

struct zs_tool_columns {
    struct zs_arena arena;
    struct zs_column_source inner;
    char *path; /* of the file that was read last, which is of all modules of a recording */
    struct zs_file file;
    struct tool tool;
    struct {
        struct entry *items;
        size_t count, capacity;
    } entries; /* up to where the file is damaged */
    struct {
        struct kernel_rows *items;
        size_t count, capacity;
    } kernels;
};

struct zs_tool_columns *zs_tool_columns_new(void)
{
    struct zs_tool_columns *c = calloc(1, sizeof(*c));
    if (c)
        zs_arena_init(&c->arena, 0);
    return c;
}

static void close_file(struct zs_tool_columns *c)
{
    free(c->path);
    c->path = NULL;
    zs_file_close(&c->file);
    c->entries.count = 0;
}

void zs_tool_columns_free(struct zs_tool_columns *c)
{
    if (!c)
        return;
    free(c->kernels.items);
    close_file(c);
    free(c->entries.items);
    zs_arena_fini(&c->arena);
    free(c);
}

static const struct kernel_rows *find(const struct zs_tool_columns *c,
                                      const struct zs_kernel *kernel)
{
    for (size_t i = 0; i < c->kernels.count; i++)
        if (c->kernels.items[i].kernel == kernel)
            return &c->kernels.items[i];
    return NULL;
}

/* ---- the file ---- */

static struct zs_span read_text(struct zs_reader *r, const char *what)
{
    uint32_t size_B = zs_read_u32(r, what);
    if (!r->error && size_B > NAME_MAX_B)
        zs_reader_fail(r, -EINVAL, "%s: %u bytes", what, size_B);
    return zs_read_bytes(r, r->error ? 0 : size_B, what);
}

/* "memtrace.sectors": counts have names like "lanes", too. */
static const char *make_name(struct zs_tool_columns *c, struct zs_span tool, struct zs_span name)
{
    char text[2 * NAME_MAX_B + 2];
    int n = snprintf(text, sizeof(text), "%.*s.%.*s", (int)tool.size_B, (const char *)tool.data,
                     (int)name.size_B, (const char *)name.data);
    return n < 0 ? NULL : zs_arena_strndup(&c->arena, text, (size_t)n);
}

static enum zs_column_total total_of(uint32_t kind)
{
    return kind == ZS_TOOL_MIN     ? ZS_TOTAL_MIN
           : kind == ZS_TOOL_MAX   ? ZS_TOTAL_MAX
           : kind == ZS_TOOL_RATIO ? ZS_TOTAL_MEAN
                                   : ZS_TOTAL_SUM;
}

static int read_tool(struct zs_tool_columns *c, struct zs_reader *r, struct tool *ret)
{
    struct zs_span magic = zs_read_bytes(r, 8, "magic");
    if (!r->error && memcmp(magic.data, ZS_INSTRUMENT_COLUMNS_MAGIC, 8) != 0)
        return zs_reader_fail(r, -EINVAL, "no file of a tool's columns");
    struct zs_span name = read_text(r, "tool's name");
    ret->count = zs_read_u32(r, "columns");
    if (!r->error && ret->count > COLUMNS_MAX)
        return zs_reader_fail(r, -EINVAL, "%u columns", ret->count);
    ret->columns = ZS_ARENA_ARRAY(&c->arena, COLUMNS_MAX, struct zs_column);
    ret->below = ZS_ARENA_ARRAY(&c->arena, COLUMNS_MAX, uint32_t);
    if (!ret->columns || !ret->below)
        return -ENOMEM;
    for (uint32_t i = 0; !r->error && i < ret->count; i++) {
        uint32_t kind = zs_read_u32(r, "kind of a column"), below = zs_read_u32(r, "its divisor");
        struct zs_span text = read_text(r, "name of a column");
        if (r->error)
            break;
        ret->below[i] = kind == ZS_TOOL_RATIO && below < ret->count ? below : ZS_NONE;
        ret->columns[i] = (struct zs_column){.name = make_name(c, name, text),
                                             .unit = "",
                                             .description = "by the instrumentation tool",
                                             .total = total_of(kind),
                                             .shown = i < SHOWN_COLUMNS};
        if (!ret->columns[i].name)
            return -ENOMEM;
    }
    return r->error;
}

static size_t row_B(const struct tool *tool)
{
    return sizeof(uint32_t) + (size_t)tool->count * sizeof(double);
}

static int check_order(struct zs_reader rows, const struct tool *tool, uint32_t count)
{
    uint32_t before = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t offset_B = zs_read_u32(&rows, "offset");
        zs_read_skip(&rows, row_B(tool) - sizeof(uint32_t), "values");
        if (!rows.error && i && offset_B <= before)
            return zs_reader_fail(&rows, -EINVAL, "rows are not in order");
        before = offset_B;
    }
    return rows.error;
}

/* Where the rows of each kernel are. What stands before the damage of a file is kept. */
static int read_entries(struct zs_tool_columns *c, struct zs_reader *r)
{
    int error = 0;
    while (!error && zs_reader_left(r)) {
        struct entry e = {.hash = zs_read_bytes(r, ZS_INSTRUMENT_HASH_CHARS, "module"),
                          .name = read_text(r, "kernel"),
                          .row_count = zs_read_count(r, row_B(&c->tool), "rows")};
        struct zs_reader rows = *r;
        e.rows = zs_read_bytes(r, e.row_count * (uint64_t)row_B(&c->tool), "rows");
        error = r->error ? r->error : check_order(rows, &c->tool, e.row_count);
        if (!error && !ZS_VEC_PUSH(&c->entries, e))
            error = -ENOMEM;
    }
    return error;
}

static int read_file(struct zs_tool_columns *c, struct zs_diag *diag)
{
    struct zs_path_info info;
    if (!zs_os_path_info(c->path, &info) &&
        info.kind != ZS_PATH_FILE) /* a pipe would be waited for */
        return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET, "%s is not a regular file", c->path);
    int error = zs_file_read(c->path, FILE_MAX_B, &c->file, diag);
    if (error)
        return error == -ENOENT ? 0 : error;
    struct zs_reader r = zs_reader_make(c->file.span, 0, diag);
    error = read_tool(c, &r, &c->tool);
    return error ? error : read_entries(c, &r);
}

/* What is wrong with a file is told once. */
static int open_file(struct zs_tool_columns *c, const char *path, struct zs_diag *diag)
{
    if (c->path && !strcmp(c->path, path))
        return 0;
    close_file(c);
    c->path = strdup(path);
    int error = c->path ? read_file(c, diag) : -ENOMEM;
    return error == -ENOMEM ? zs_diag_set(diag, error, ZS_DIAG_NO_OFFSET, "out of memory") : error;
}

static int take_rows(struct zs_tool_columns *c, const struct entry *e,
                     const struct zs_kernel *kernel)
{
    struct zs_reader r = zs_reader_make(e->rows, 0, NULL);
    struct kernel_rows k = {.kernel = kernel, .tool = c->tool, .row_count = e->row_count};
    k.offsets_B = ZS_ARENA_ARRAY(&c->arena, k.row_count + 1u, uint32_t);
    k.values = ZS_ARENA_ARRAY(&c->arena, (size_t)k.row_count * c->tool.count + 1u, double);
    if (!k.offsets_B || !k.values)
        return -ENOMEM;
    for (uint32_t i = 0; i < k.row_count; i++) {
        k.offsets_B[i] = zs_read_u32(&r, "offset");
        for (uint32_t n = 0; n < c->tool.count; n++) {
            uint64_t bits = zs_read_u64(&r, "value");
            memcpy(&k.values[(size_t)i * c->tool.count + n], &bits, sizeof(bits));
        }
    }
    return ZS_VEC_PUSH(&c->kernels, k) ? 0 : -ENOMEM;
}

static bool is_of(const struct entry *e, const struct zs_record_module *record)
{
    char hash[ZS_INSTRUMENT_HASH_CHARS + 1] = {0};
    memcpy(hash, e->hash.data, ZS_INSTRUMENT_HASH_CHARS);
    return strlen(hash) == ZS_INSTRUMENT_HASH_CHARS && strstr(record->binary.file, hash);
}

int zs_tool_columns_add(struct zs_tool_columns *c, const char *recording_path,
                        const struct zs_record_module *record, const struct zs_module *module,
                        size_t *ret_found, struct zs_diag *diag)
{
    char path[4096];
    size_t before = c->kernels.count;
    int n = snprintf(path, sizeof(path), "%s/" ZS_INSTRUMENT_COLUMNS, recording_path);
    if (n < 0 || (size_t)n >= sizeof(path) || !record->binary.file)
        return 0;
    int told = open_file(c, path, diag), error = 0;
    for (size_t i = 0; i < c->entries.count && !error; i++) {
        const struct entry *e = &c->entries.items[i];
        char name[NAME_MAX_B + 1] = {0};
        memcpy(name, e->name.data, e->name.size_B);
        const struct zs_kernel *kernel =
            is_of(e, record) ? zs_count_kernel_named(module, name) : NULL;
        if (kernel && !find(c, kernel))
            error = take_rows(c, e, kernel);
    }
    if (error)
        zs_diag_set(diag, error, ZS_DIAG_NO_OFFSET, "out of memory");
    *ret_found += c->kernels.count - before;
    return error ? error : told;
}

/* ---- beside the code ---- */

static void fill(const struct kernel_rows *k, const struct zs_isa_kernel *isa, uint32_t column,
                 double *values)
{
    uint32_t row = 0, count = zs_isa_kernel_count(isa);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at_B = zs_isa_inst_offset(isa, i);
        while (row < k->row_count && k->offsets_B[row] < at_B)
            row++;
        bool known = row < k->row_count && k->offsets_B[row] == at_B;
        values[i] = known ? k->values[(size_t)row * k->tool.count + column] : NAN;
    }
}

static int attach_rows(const struct kernel_rows *k, struct zs_code *code)
{
    uint32_t count = zs_isa_kernel_count(code->isa), own = k->tool.count;
    struct zs_attached_columns to;
    int error = zs_columns_attach(code, 0, own, (size_t)own * count, &to);
    for (uint32_t c = 0; c < own && !error; c++) {
        struct zs_column *column = &to.behind[c];
        fill(k, code->isa, c, to.values + (size_t)c * count);
        *column = k->tool.columns[c];
        column->values = to.values + (size_t)c * count;
        if (k->tool.below[c] != ZS_NONE)
            column->weights = to.values + (size_t)k->tool.below[c] * count;
    }
    return error;
}

static int attach(void *user, struct zs_code *code)
{
    const struct zs_tool_columns *c = user;
    int error = c->inner.attach ? c->inner.attach(c->inner.user, code) : 0;
    const struct kernel_rows *k = code->isa && !error ? find(c, code->kernel) : NULL;
    if (!k)
        return error;
    error = attach_rows(k, code);
    if (error && c->inner.release)
        c->inner.release(c->inner.user, code);
    return error;
}

static void release(void *user, struct zs_code *code)
{
    const struct zs_tool_columns *c = user;
    if (code->isa && find(c, code->kernel) && code->columns)
        zs_columns_detach(code);
    if (c->inner.release)
        c->inner.release(c->inner.user, code);
}

struct zs_column_source zs_tool_columns_source(struct zs_tool_columns *c,
                                               struct zs_column_source inner)
{
    c->inner = inner;
    return (struct zs_column_source){.user = c, .attach = attach, .release = release};
}
