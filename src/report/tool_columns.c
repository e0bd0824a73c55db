/* SPDX-License-Identifier: MIT */
/*
 * The file is store/instrument.h's, and hostile: counts are bounded by the bytes that there are.
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
#include "store/instrument.h"

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

struct zs_tool_columns {
    struct zs_arena arena;
    struct zs_column_source inner;
    char *path; /* of the file that was read last, which is of all modules of a recording */
    struct zs_file file;
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

void zs_tool_columns_free(struct zs_tool_columns *c)
{
    if (!c)
        return;
    free(c->kernels.items);
    free(c->path);
    zs_file_close(&c->file);
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

static int read_rows(struct zs_tool_columns *c, struct zs_reader *r, const struct tool *tool,
                     const struct zs_kernel *kernel)
{
    size_t row_B = sizeof(uint32_t) + (size_t)tool->count * sizeof(double);
    struct kernel_rows k = {.kernel = kernel, .tool = *tool};
    k.row_count = zs_read_count(r, row_B, "rows");
    if (r->error)
        return r->error;
    if (!kernel || find(c, kernel)) {
        zs_read_skip(r, k.row_count * (uint64_t)row_B, "rows");
        return r->error;
    }
    k.offsets_B = ZS_ARENA_ARRAY(&c->arena, k.row_count + 1u, uint32_t);
    k.values = ZS_ARENA_ARRAY(&c->arena, (size_t)k.row_count * tool->count + 1u, double);
    if (!k.offsets_B || !k.values)
        return -ENOMEM;
    for (uint32_t i = 0; !r->error && i < k.row_count; i++) {
        k.offsets_B[i] = zs_read_u32(r, "offset");
        for (uint32_t n = 0; !r->error && n < tool->count; n++) {
            uint64_t bits = zs_read_u64(r, "value");
            memcpy(&k.values[(size_t)i * tool->count + n], &bits, sizeof(bits));
        }
        if (!r->error && i && k.offsets_B[i] <= k.offsets_B[i - 1])
            return zs_reader_fail(r, -EINVAL, "rows are not in order");
    }
    return r->error ? r->error : ZS_VEC_PUSH(&c->kernels, k) ? 0 : -ENOMEM;
}

static int open_file(struct zs_tool_columns *c, const char *path, struct zs_diag *diag)
{
    if (c->path && !strcmp(c->path, path))
        return 0;
    free(c->path);
    zs_file_close(&c->file);
    c->path = NULL;
    struct zs_path_info info;
    if (!zs_os_path_info(path, &info) && info.kind != ZS_PATH_FILE) /* reading a pipe would wait */
        return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET, "%s is not a regular file", path);
    int error = zs_file_read(path, FILE_MAX_B, &c->file, diag);
    if (error)
        return error;
    c->path = strdup(path);
    return c->path ? 0 : zs_diag_set(diag, -ENOMEM, ZS_DIAG_NO_OFFSET, "out of memory");
}

int zs_tool_columns_add(struct zs_tool_columns *c, const char *recording_path,
                        const struct zs_record_module *record, const struct zs_module *module,
                        size_t *ret_found, struct zs_diag *diag)
{
    char path[4096], hash[ZS_INSTRUMENT_HASH_CHARS + 1] = {0};
    size_t before = c->kernels.count;
    int n = snprintf(path, sizeof(path), "%s/" ZS_INSTRUMENT_COLUMNS, recording_path);
    if (n < 0 || (size_t)n >= sizeof(path) || !record->binary.file)
        return 0;
    int error = open_file(c, path, diag);
    if (error)
        return error == -ENOENT ? 0 : error;
    struct zs_reader r = zs_reader_make(c->file.span, 0, diag);
    struct tool tool = {0};
    error = read_tool(c, &r, &tool);
    while (!error && zs_reader_left(&r)) {
        char name[NAME_MAX_B + 1] = {0};
        struct zs_span hash_text = zs_read_bytes(&r, ZS_INSTRUMENT_HASH_CHARS, "module");
        struct zs_span text = read_text(&r, "kernel");
        error = r.error;
        if (error)
            break;
        memcpy(hash, hash_text.data, ZS_INSTRUMENT_HASH_CHARS);
        memcpy(name, text.data, text.size_B);
        bool ours = strlen(hash) == ZS_INSTRUMENT_HASH_CHARS && strstr(record->binary.file, hash);
        error = read_rows(c, &r, &tool, ours ? zs_count_kernel_named(module, name) : NULL);
    }
    *ret_found += c->kernels.count - before;
    return error;
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
