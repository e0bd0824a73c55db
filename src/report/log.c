/* SPDX-License-Identifier: MIT */
#include "report/log.h"

#include "base/filter.h"
#include "base/text.h"
#include "record/merge.h"
#include "symbols/symbols.h"

#include <inttypes.h>
#include <string.h>

struct log {
    const struct zs_log_options *options;
    struct zs_filter filter;
    zs_log_line line;
    void *user;
    struct zs_buf out;
    uint64_t first_ns;
    uint64_t lines;
    bool is_full; /* the limit ended the reading */
    struct zs_activities activities;
    struct zs_symbols *symbols; /* NULL: no backtraces are wanted, or none can be read */
};

static bool wants(const struct log *log, const struct zs_call *call)
{
    if (log->options->failed_only && (!call->finished || call->result == 0 || call->result == 1))
        return false;
    return zs_filter_matches_span(&log->filter, call->name);
}

static void put_result(const struct log *log, const struct zs_call *call, const char *name_of_call,
                       struct zs_buf *out)
{
    const char *red = log->options->color ? "\033[31m" : "";
    const char *plain = log->options->color ? "\033[0m" : "";
    if (!call->finished) {
        zs_buf_printf(out, " %s(never returned)%s", red, plain);
        return;
    }
    const char *name = zs_api_result_name(name_of_call, call->result);
    if (call->result == 0 || call->result == 1)
        red = "";
    if (name)
        zs_buf_printf(out, " = %s%s%s", red, name, *red ? plain : "");
    else
        zs_buf_printf(out, " = %s0x%x%s", red, (unsigned)call->result, *red ? plain : "");
    zs_buf_printf(out, " <%" PRIu64 ".%03u us>", call->duration_ns / 1000,
                  (unsigned)(call->duration_ns % 1000));
}

static void put_line(struct log *log, const struct zs_calls *calls, const struct zs_call *call)
{
    const char *dim = log->options->color ? "\033[2m" : "";
    const char *plain = log->options->color ? "\033[0m" : "";
    uint64_t ns = call->start_ns - (log->options->absolute ? 0 : log->first_ns);
    struct zs_buf *out = &log->out;
    char name[128];
    size_t length_B = ZS_MIN(call->name.size_B, sizeof(name) - 1);
    if (length_B)
        memcpy(name, call->name.data, length_B);
    name[length_B] = '\0';
    zs_buf_printf(out, "%s%6" PRIu64 ".%09u %7u%s ", dim, ns / 1000000000,
                  (unsigned)(ns % 1000000000), calls->tid, plain);
    zs_buf_pad(out, ' ', (size_t)call->depth * 2);
    zs_api_format_call(out, name, &calls->values);
    put_result(log, call, name, out);
    zs_buf_putc(out, '\n');
}

/* Where it was called from, a frame a line. */
static void put_stack(struct log *log, const struct zs_call *call)
{
    if (!log->symbols || !call->where)
        return;
    const struct zs_act_stack *s = &log->activities.stacks.items[call->where - 1];
    for (uint32_t i = 0; i < s->count; i++) {
        const struct zs_symbol_frame *frames;
        uint32_t count = zs_symbols_frames(log->symbols, s->process, s->pcs[i], &frames);
        for (uint32_t k = 0; k < count; k++) {
            char text[512];
            zs_symbol_format(&frames[k], text, sizeof(text));
            zs_buf_pad(&log->out, ' ', 26);
            zs_buf_puts(&log->out, i + k ? "< " : "from ");
            zs_text_puts(&log->out, text);
            zs_buf_putc(&log->out, '\n');
        }
    }
}

static int on_call(void *user, const struct zs_calls *calls, const struct zs_call *call,
                   uint64_t process)
{
    struct log *log = user;
    if (!log->first_ns)
        log->first_ns = call->start_ns;
    if (!wants(log, call))
        return 0;
    log->out.size_B = 0;
    put_line(log, calls, call);
    put_stack(log, call);
    int status = log->out.error ? log->out.error : log->line(log->user, zs_buf_span(&log->out));
    log->is_full = !status && ++log->lines == log->options->limit;
    return log->is_full ? 1 : status;
}

int zs_log_write(const char *recording, const struct zs_log_options *options, zs_log_line line,
                 void *user, struct zs_merge_totals *ret_totals, struct zs_diag *diag)
{
    struct log log = {.options = options, .line = line, .user = user};
    const struct zs_merge_sink sink = {.user = &log, .call = on_call};
    *ret_totals = (struct zs_merge_totals){0};
    int status = zs_filter_compile(&log.filter, options->filters, options->filter_count, diag);
    if (status)
        return status;
    if (options->backtrace && zs_symbols_open(recording, &log.symbols, NULL))
        log.symbols = NULL;
    status = zs_merge(recording, &sink, &log.activities, ret_totals, diag);
    zs_symbols_close(log.symbols);
    zs_activities_free(&log.activities);
    zs_filter_fini(&log.filter);
    zs_buf_fini(&log.out);
    return log.is_full ? 0 : status;
}
