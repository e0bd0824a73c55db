/* SPDX-License-Identifier: MIT */
/* Faults and findings as text, and as blocks of a report. */
#include "gpu/report.h"

#include <string.h>

void zs_gpu_report_head(struct zs_buf *out, const char *kind, bool note, const char *kernel)
{
    zs_buf_printf(out, "%%finding %s %s\n%%kernel ", kind, note ? "note" : "error");
    for (; *kernel; kernel++)
        zs_buf_printf(out, "%c", (unsigned char)*kernel < ' ' ? '?' : *kernel);
    zs_buf_puts(out, "\n");
}

/* Of the source the line itself, not where it was inlined. */
static void put_site(struct zs_buf *out, int64_t offset_B, const char *access, uint32_t size_B,
                     const char *source)
{
    zs_buf_printf(out, "%%site %lld %s %u %.*s\n", (long long)offset_B, access, size_B,
                  source ? (int)strcspn(source, "\n") : 0, source ? source : "");
}

static const char *access_of(const struct zs_gpu_site *site)
{
    return site->is_atomic ? "atomic" : site->is_write ? "write" : "read";
}

static const char *finding_kind(const struct zs_gpu_finding *f)
{
    static const char *const kinds[] = {
        [ZS_GPU_FINDING_RACE] = "race",        [ZS_GPU_FINDING_DIVERGENT] = "sync",
        [ZS_GPU_FINDING_DIFFERENT] = "sync",   [ZS_GPU_FINDING_COPY] = "sync",
        [ZS_GPU_FINDING_GROUP] = "sync",       [ZS_GPU_FINDING_SUB_GROUP] = "sync",
        [ZS_GPU_FINDING_UNWAITED] = "sync",    [ZS_GPU_FINDING_NO_EVENT] = "sync",
        [ZS_GPU_FINDING_UNALIGNED] = "memory", [ZS_GPU_FINDING_UNDEFINED] = "undefined",
        [ZS_GPU_FINDING_LOST] = "race"};
    return kinds[f->kind];
}

static bool has_access(const struct zs_gpu_finding *f)
{
    return f->kind == ZS_GPU_FINDING_RACE || f->kind == ZS_GPU_FINDING_UNALIGNED;
}

/* Of two commands. */
static void print_access(struct zs_buf *out, const struct zs_gpu_site *s)
{
    zs_buf_printf(out, "\n  %s of %u bytes", access_of(s), s->size_B);
    if (s->instruction_offset_B < 0)
        zs_buf_printf(out, ": %s", s->by);
    else
        zs_buf_printf(out, " at instruction 0x%llx%s%s\n    in a launch of %s",
                      (unsigned long long)s->instruction_offset_B, s->source ? ", " : "",
                      s->source ? s->source : "", s->by);
}

static void print_site(struct zs_buf *out, const struct zs_gpu_finding *f, uint32_t i,
                       const char *source)
{
    const struct zs_gpu_site *s = &f->site[i];
    if (s->by) {
        print_access(out, s);
        return;
    }
    zs_buf_puts(out, "\n  ");
    if (has_access(f))
        zs_buf_printf(out, "%s of %u bytes", access_of(s), s->size_B);
    else if (f->kind == ZS_GPU_FINDING_UNDEFINED)
        zs_buf_puts(out, i == 0 ? (s->is_write ? "stored" : "used")
                                : (s->is_write ? "declared" : "read"));
    else if (f->kind == ZS_GPU_FINDING_COPY || f->kind == ZS_GPU_FINDING_UNWAITED ||
             f->kind == ZS_GPU_FINDING_NO_EVENT)
        zs_buf_puts(out, s->is_write ? "copy" : "wait");
    else if (f->kind == ZS_GPU_FINDING_GROUP || f->kind == ZS_GPU_FINDING_SUB_GROUP)
        zs_buf_puts(out, s->is_write ? "call" : "not reached");
    else
        zs_buf_puts(out, i == 0                                ? "barrier"
                         : f->kind == ZS_GPU_FINDING_DIVERGENT ? "not reached"
                                                               : "barrier");
    zs_buf_printf(out, " at instruction %s0x%llx", s->instruction_offset_B < 0 ? "-" : "",
                  (unsigned long long)(s->instruction_offset_B < 0 ? -s->instruction_offset_B
                                                                   : s->instruction_offset_B));
    if (source)
        zs_buf_printf(out, ", %s", source);
    zs_buf_printf(out, "\n    in group (%u, %u, %u)", s->group_id[0], s->group_id[1],
                  s->group_id[2]);
    if (s->has_item)
        zs_buf_printf(out, ", work-item (%llu, %llu, %llu), local (%u, %u, %u)",
                      (unsigned long long)s->global_id[0], (unsigned long long)s->global_id[1],
                      (unsigned long long)s->global_id[2], s->local_id[0], s->local_id[1],
                      s->local_id[2]);
    else
        zs_buf_printf(out, ", hardware thread %u from local (%u, %u, %u) on", s->thread,
                      s->local_id[0], s->local_id[1], s->local_id[2]);
}

void zs_gpu_finding_print(const struct zs_gpu_finding *f, const char *const sources[2],
                          struct zs_buf *out)
{
    static const char *const names[] = {
        [ZS_GPU_FINDING_RACE] = "race",
        [ZS_GPU_FINDING_DIVERGENT] = "barrier that not all work-items reach",
        [ZS_GPU_FINDING_DIFFERENT] = "work-items of a group at different barriers",
        [ZS_GPU_FINDING_COPY] = "work-items of a group at different asynchronous copies",
        [ZS_GPU_FINDING_GROUP] = "work-items of a group at different functions of the group",
        [ZS_GPU_FINDING_SUB_GROUP] =
            "work-items of a sub-group at different functions of the sub-group",
        [ZS_GPU_FINDING_UNWAITED] = "asynchronous copy that nobody waits for",
        [ZS_GPU_FINDING_NO_EVENT] = "wait for the event of no asynchronous copy",
        [ZS_GPU_FINDING_UNALIGNED] = "access that is not aligned",
        [ZS_GPU_FINDING_UNDEFINED] = "undefined value",
        [ZS_GPU_FINDING_LOST] = "not all was checked",
    };
    static const char *const notes[] = {
        [ZS_GPU_NOTE_NONE] = "",
        [ZS_GPU_NOTE_SAME_VALUE] = " (benign: all write the same value)",
        [ZS_GPU_NOTE_IN_STEP] = " (lanes of one hardware thread, which are in step)",
        [ZS_GPU_NOTE_GUESS] = " (benign: an atomic follows the read)",
        [ZS_GPU_NOTE_HOST] = " (benign if the kernel waits for it)",
    };
    zs_buf_printf(out, "%s%s%s%s", f->kernel[0] ? "kernel " : "", f->kernel,
                  f->kernel[0] ? ": " : "", names[f->kind]);
    if (has_access(f))
        zs_buf_printf(out, " in %s memory at %s0x%llx%s", f->is_local ? "local" : "global",
                      f->is_local ? "offset " : "", (unsigned long long)f->gpu_va, notes[f->note]);
    for (uint32_t i = 0; i < f->site_count; i++)
        print_site(out, f, i, sources[i]);
    const struct zs_gpu_allocation *a = &f->allocation;
    if (f->allocation_count)
        zs_buf_printf(out, "\n  %llu bytes into %s allocation #%llu %.47s of %llu bytes at 0x%llx",
                      (unsigned long long)(f->gpu_va - a->gpu_va), zs_gpu_memory_kind_name(a->kind),
                      (unsigned long long)a->id, a->label, (unsigned long long)a->size_B,
                      (unsigned long long)a->gpu_va);
    if (f->advice)
        zs_buf_printf(out, "\n  %s", f->advice);
}

bool zs_gpu_finding_is_one_line(const struct zs_gpu_finding *f, const char *const sources[2])
{
    return f->kind == ZS_GPU_FINDING_DIFFERENT &&
           (!sources[0] || !sources[1] || !strcmp(sources[0], sources[1]));
}

/* Offsets are the finding's kernel's. */
static bool is_of_other_kernel(const struct zs_gpu_finding *f, uint32_t i)
{
    return f->site[i].by && strcmp(f->site[i].by, f->kernel) != 0;
}

void zs_gpu_report_finding(const struct zs_gpu_finding *f, const char *const sources[2],
                           struct zs_buf *out)
{
    zs_gpu_report_head(out, finding_kind(f), f->note || f->kind == ZS_GPU_FINDING_LOST, f->kernel);
    for (uint32_t i = 0; i < f->site_count; i++)
        put_site(out, is_of_other_kernel(f, i) ? -1 : f->site[i].instruction_offset_B,
                 has_access(f) ? access_of(&f->site[i]) : "-", f->site[i].size_B, sources[i]);
}

void zs_gpu_report_fault(const struct zs_gpu_fault *fault, const char *source, struct zs_buf *out)
{
    zs_gpu_report_head(
        out,
        fault->kind == ZS_GPU_FAULT_SCOREBOARD                                         ? "swsb"
        : fault->kind == ZS_GPU_FAULT_BARRIER || fault->kind == ZS_GPU_FAULT_DIVERGENT ? "sync"
        : fault->kind == ZS_GPU_FAULT_RACE || fault->kind == ZS_GPU_FAULT_SLM_RACE     ? "race"
        : fault->kind == ZS_GPU_FAULT_UNWRITTEN || fault->kind == ZS_GPU_FAULT_SLM_UNWRITTEN
            ? "init"
            : "memory",
        false, fault->kernel);
    if (fault->instruction_offset_B != INT64_MIN)
        put_site(out, fault->instruction_offset_B,
                 !fault->has_access ? "-"
                 : fault->is_write  ? "write"
                                    : "read",
                 fault->access_B, source);
    if (fault->declared[0])
        put_site(out, -1, "declared", 0, fault->declared);
}
