/* SPDX-License-Identifier: MIT */
/*
 * Buffers to tables: the module that a buffer belongs to is found in the recording by its hash and
 * instrumented once more, which gives the same counters and places.
 */
#include "instrument/instrument.h"

#include "base/file.h"
#include "base/reader.h"
#include "base/vec.h"
#include "record/builds.h"
#include "record/counts.h"
#include "store/store.h"
#include "wire/instrument.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES_MAX = 65536 };
#define FILE_MAX_B (ZS_INSTRUMENT_RECORDS_MOST_B + ZS_INSTRUMENT_BUFFER_MAX_B)

struct results {
    const char *path;
    struct zs_recording *recording;
    struct zs_tool_run *run;
    struct zs_instrument_totals totals;
    uint32_t counts_files;
    char hash[ZS_INSTRUMENT_HASH_CHARS + 1]; /* of the module that is open */
    struct zs_span binary, debug;
};

/* ---- the module of a buffer ---- */

static bool has_hash(const struct zs_record_module *module, const char *hash)
{
    return module->binary.file && strstr(module->binary.file, hash);
}

static const struct zs_record_module *find_module(const struct results *r, const char *hash)
{
    uint32_t count;
    if (strlen(hash) != ZS_INSTRUMENT_HASH_CHARS)
        return NULL;
    const struct zs_record_module *modules = zs_recording_modules(r->recording, &count);
    for (uint32_t i = 0; i < count; i++)
        if (has_hash(&modules[i], hash))
            return &modules[i];
    return NULL;
}

static void close_module(struct results *r)
{
    zs_tool_close(r->run);
    zs_recording_blob_free(&r->binary);
    zs_recording_blob_free(&r->debug);
    r->binary = r->debug = (struct zs_span){0};
    r->hash[0] = '\0';
}

static int open_module(struct results *r, const char *hash)
{
    if (!strcmp(r->hash, hash))
        return 0;
    close_module(r);
    const struct zs_record_module *m = find_module(r, hash);
    if (!m)
        return -ENOENT;
    int error = zs_recording_blob_read(r->recording, &m->binary, &r->binary, NULL);
    if (!error && m->debug.file)
        zs_recording_blob_read(r->recording, &m->debug, &r->debug, NULL);
    if (!error)
        error = zs_tool_open(r->run, r->binary, r->debug, NULL, NULL);
    if (error)
        close_module(r);
    else
        memcpy(r->hash, hash, sizeof(r->hash));
    memcpy(r->run->hash, r->hash, sizeof(r->hash));
    return error;
}

/* ---- what is in a buffer ---- */

static void tell_counters(struct zs_tool_run *run, struct zs_span buffer)
{
    for (uint32_t i = 0; run->tool->counter && i < zs_edit_kernel_count(run->edit); i++) {
        struct zs_edit_kernel *kernel = zs_edit_kernel(run->edit, i);
        const struct zs_probe *probe;
        uint32_t inst;
        for (uint32_t p = 0; (probe = zs_edit_probe_at(kernel, p, &inst)); p++) {
            bool counts = probe->kind != ZS_PROBE_CLOCK && probe->kind != ZS_PROBE_TRACE;
            struct zs_span at;
            uint64_t value = 0;
            if (counts && zs_span_sub(buffer, 8 * (uint64_t)probe->counter, 8, &at))
                value = zs_load_u64(at.data);
            if (value)
                run->tool->counter(run, kernel, inst, probe, value);
        }
    }
}

static void tell_records(struct zs_tool_run *run, const struct zs_edit_buffer *layout,
                         struct zs_span buffer)
{
    struct zs_edit_record record;
    uint64_t cursor = 0;
    while (run->tool->record && zs_edit_record_next(layout, buffer, &cursor, &record)) {
        if (record.site >= run->site_count)
            continue;
        const struct zs_tool_site *site = &run->sites[record.site];
        run->tool->record(run, zs_edit_kernel(run->edit, site->kernel), site->inst, &record);
    }
}

/* Values of 0 are not told. Where a tool tells of all that threads executed, whole blocks up to the
 * end of the code, what it said nothing of was not executed; else it is not known. */
static void add_blocks_at_rest(struct zs_edit_kernel *kernel, struct zs_tool_counts *c)
{
    const struct zs_isa_kernel *code = zs_edit_kernel_code(kernel);
    bool whole = true, to_the_end = zs_edit_kernel_info(kernel)->is_function_holder;
    for (uint32_t b = 0; b < zs_isa_block_count(code); b++) {
        const struct zs_isa_block *block = zs_isa_block(code, b);
        const bool *told = c->is_told + block->first;
        for (uint32_t i = 0; i < block->count; i++) {
            whole &= told[i] == told[0];
            to_the_end |= told[i] && zs_isa_inst(code, block->first + i)->flags & ZS_INST_EOT;
        }
    }
    if (whole && to_the_end)
        memset(c->is_told, true, zs_isa_kernel_count(code));
}

/* Of whose process it is. */
static uint64_t process_of(const struct zs_instrument_file *head)
{
    return (uint64_t)(head->ordinal - 1) << 32 | head->pid;
}

/* When the module was built, for recordings without ordinals: pids are used again, and readers of
 * counts ask for the process of that time. */
static uint64_t built_ns(const struct results *r, const struct zs_instrument_file *head)
{
    const struct zs_record_build *build =
        zs_recording_find_build(r->recording, process_of(head), head->build, UINT64_MAX);
    return build ? build->start_ns : 0;
}

static int write_counts(struct results *r, const struct zs_instrument_file *head, uint32_t k)
{
    struct zs_tool_counts *c = &r->run->counts[k];
    struct zs_edit_kernel *kernel = zs_edit_kernel(r->run->edit, k);
    const struct zs_isa_kernel *code = zs_edit_kernel_code(kernel);
    const struct zs_kernel *info = zs_edit_kernel_info(kernel);
    uint32_t rows = zs_isa_kernel_count(code);
    size_t size_B = ZS_COUNTS_HEADER_B + (size_t)rows * ZS_COUNTS_ROW_B;
    uint8_t *file = calloc(1, size_B);
    if (!file)
        return -ENOMEM;
    size_t name_B = ZS_MIN(strlen(info->name), (size_t)ZS_COUNTS_NAME_MAX_B);
    const uint32_t numbers[] = {info->simd, (uint32_t)name_B};
    memcpy(file, ZS_RECORD_COUNTS_MAGIC, 8);
    memcpy(file + 8, &head->pid, 4);
    memcpy(file + 12, &rows, 4);
    zs_store_u64(file + 32, built_ns(r, head));
    memcpy(file + 40, numbers, 8);
    memcpy(file + 48, info->name, name_B);
    memcpy(file + 248, &head->build, 4);
    memcpy(file + 252, &head->ordinal, 4);
    add_blocks_at_rest(kernel, c);
    for (uint32_t i = 0; i < rows; i++) {
        uint8_t *row = file + ZS_COUNTS_HEADER_B + (size_t)i * ZS_COUNTS_ROW_B;
        zs_store_u64(row, zs_isa_inst_offset(code, i));
        zs_store_u64(row + 8, c->is_told[i] ? c->executions[i] : ZS_COUNTS_NOT_KNOWN);
        zs_store_u64(row + 16, c->lanes[i]);
    }
    char dir[4096], name[64];
    snprintf(dir, sizeof(dir), "%s/" ZS_RECORD_COUNTS_DIR, r->path);
    snprintf(name, sizeof(name), "instrument-%u.counts", r->counts_files++);
    int error = mkdir(dir, 0755) && errno != EEXIST ? -errno : 0;
    if (!error)
        error = zs_store_file(dir, name, zs_span_make(file, size_B));
    free(file);
    return error;
}

static int take_buffer(struct results *r, const struct zs_instrument_file *head,
                       struct zs_span buffer)
{
    zs_edit_set_trace_size(r->run->edit, (uint32_t)ZS_MIN(head->trace_B, (uint64_t)UINT32_MAX));
    struct zs_edit_buffer layout = zs_edit_buffer(r->run->edit);
    uint32_t kernels = zs_edit_kernel_count(r->run->edit);
    if (layout.size_B != head->buffer_B || layout.records_size_B != head->trace_B ||
        (!layout.records_size_B && layout.size_B < buffer.size_B))
        return -EINVAL;
    /* a trace that was emptied has more than there was room for at a time */
    if (layout.records_size_B)
        layout.records_size_B = buffer.size_B - ZS_MIN(layout.records_offset_B, buffer.size_B);
    int error = 0;
    r->totals.records_lost += head->lost_units;
    r->totals.partial += !head->is_final;
    r->run->counts = calloc(kernels + 1u, sizeof(*r->run->counts));
    if (!r->run->counts)
        return -ENOMEM;
    tell_counters(r->run, buffer);
    tell_records(r->run, &layout, buffer);
    for (uint32_t k = 0; k < kernels; k++) {
        struct zs_tool_counts *c = &r->run->counts[k];
        if (c->executions && !error)
            error = write_counts(r, head, k);
        free(c->executions);
        free(c->lanes);
        free(c->is_told);
    }
    free(r->run->counts);
    r->run->counts = NULL;
    return error;
}

static int take_file(struct results *r, int dir_fd, const char *name)
{
    struct zs_instrument_file head;
    struct zs_file file;
    char hash[ZS_INSTRUMENT_HASH_CHARS + 1] = {0};
    int error = zs_file_read_at(dir_fd, name, FILE_MAX_B, &file, NULL);
    if (error)
        return error;
    if (file.span.size_B < sizeof(head))
        error = -EINVAL;
    if (!error) {
        memcpy(&head, file.span.data, sizeof(head));
        memcpy(hash, head.hash, sizeof(head.hash));
        if (head.magic != ZS_INSTRUMENT_MAGIC)
            error = -EINVAL;
    }
    if (!error)
        error = open_module(r, hash);
    if (!error)
        error = take_buffer(
            r, &head, zs_span_make(file.span.data + sizeof(head), file.span.size_B - sizeof(head)));
    zs_file_close(&file);
    return error;
}

/* ---- a recording ---- */

static bool is_data(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return length > 5 && length < 128 && !strcmp(entry->d_name + length - 5, ".data");
}

static int take_all(struct results *r, struct zs_diag *diag)
{
    int fd = zs_counts_open_folder(r->path, ZS_INSTRUMENT_DIR, diag);
    if (fd < 0)
        return fd == -ENOENT ? 0 : fd;
    DIR *dir = fdopendir(dup(fd));
    int count = 0, error = 0;
    char(*list)[128] = calloc(FILES_MAX, sizeof(*list));
    for (struct dirent *entry; list && dir && count < FILES_MAX && (entry = readdir(dir));)
        if (is_data(entry))
            memcpy(list[count++], entry->d_name, strlen(entry->d_name) + 1);
    if (list)
        qsort(list, (size_t)count, sizeof(*list), (int (*)(const void *, const void *))strcmp);
    for (int i = 0; i < count && error != -ENOMEM; i++) {
        error = take_file(r, fd, list[i]);
        *(error ? &r->totals.damaged : &r->totals.modules) += 1;
    }
    free(list);
    if (dir)
        closedir(dir);
    close(fd);
    return error == -ENOMEM ? zs_diag_set(diag, error, ZS_DIAG_NO_OFFSET, "out of memory") : 0;
}

static int keep_table(const struct results *r, struct zs_diag *diag)
{
    struct zs_buf json = {0};
    zs_instrument_json(r->run, &r->totals, &json);
    int error = json.error;
    char dir[4096];
    snprintf(dir, sizeof(dir), "%s/" ZS_INSTRUMENT_DIR, r->path);
    if (!error && mkdir(dir, 0755) && errno != EEXIST)
        error = -errno;
    if (!error)
        error = zs_store_file(r->path, ZS_INSTRUMENT_TABLE, zs_buf_span(&json));
    zs_buf_fini(&json);
    if (!error)
        error = zs_tool_beside_write(r->run, r->path);
    return error ? zs_diag_set(diag, error, ZS_DIAG_NO_OFFSET, "the table cannot be kept: %s",
                               strerror(-error))
                 : 0;
}

static uint32_t count_refused(const struct zs_recording *recording)
{
    uint32_t count, refused = 0;
    const struct zs_record_note *notes = zs_recording_notes(recording, &count);
    for (uint32_t i = 0; i < count; i++)
        refused += strstr(notes[i].text, "is not instrumented") != NULL;
    return refused;
}

int zs_instrument_results(const char *recording, const struct zs_tool_ref *tool,
                          struct zs_tool_run *run, struct zs_instrument_totals *ret_totals,
                          struct zs_diag *diag)
{
    struct results r = {.path = recording, .run = run};
    *run = (struct zs_tool_run){.tool = tool->tool, .args = tool->args};
    int error = zs_recording_open(recording, &r.recording, diag);
    if (error)
        return error;
    run->texts = zs_tool_sources_open(r.recording);
    zs_recording_builds(r.recording, &r.totals.builds);
    r.totals.refused = count_refused(r.recording);
    error = take_all(&r, diag);
    if (!error && tool->tool->end)
        tool->tool->end(run);
    close_module(&r);
    r.run->hash[0] = '\0';
    zs_tool_sources_close(run->texts);
    run->texts = NULL;
    zs_recording_close(r.recording);
    if (!error && run->out_of_memory)
        error = zs_diag_set(diag, -ENOMEM, ZS_DIAG_NO_OFFSET, "out of memory");
    if (!error)
        error = keep_table(&r, diag);
    *ret_totals = r.totals;
    return error;
}
