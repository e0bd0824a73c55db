/* SPDX-License-Identifier: MIT */
#include "report/failed_builds.h"

#include <zescope/trace.h>

#include <stdio.h>
#include <string.h>

static bool has_failed(const struct zs_record_build *b)
{
    return b->finished && b->result;
}

static const char *result_name(const struct zs_record_build *b, char ret_number[24])
{
    const char *name = zs_api_result_name(NULL, b->result);
    snprintf(ret_number, 24, "0x%x", (unsigned)b->result);
    return name ? name : ret_number;
}

static void put_log(const char *log, uint32_t lines_max, struct zs_buf *out)
{
    uint32_t lines = 0;
    for (const char *at = log; *at;) {
        size_t size_B = strcspn(at, "\n");
        if (lines_max && lines++ == lines_max) {
            zs_buf_puts(out, "  ...\n");
            return;
        }
        zs_buf_printf(out, "  %.*s\n", (int)size_B, at);
        at += size_B + (at[size_B] == '\n');
    }
}

static void put_build(const struct zs_record_build *b, uint32_t lines_max, struct zs_buf *out)
{
    char number[24];
    zs_buf_printf(out, "a build failed: %s", result_name(b, number));
    if (b->flags && *b->flags)
        zs_buf_printf(out, ", flags '%s'", b->flags);
    zs_buf_putc(out, '\n');
    if (b->log && *b->log)
        put_log(b->log, lines_max, out);
    else
        zs_buf_puts(out, "  the driver gave no log\n");
}

size_t zs_failed_builds_text(const struct zs_recording *recording, uint32_t lines_max,
                             struct zs_buf *out)
{
    uint32_t count;
    size_t failed = 0;
    const struct zs_record_build *builds = zs_recording_builds(recording, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (!has_failed(&builds[i]))
            continue;
        failed++;
        put_build(&builds[i], lines_max, out);
    }
    return failed;
}

void zs_failed_builds_json(const struct zs_recording *recording, struct zs_json *json)
{
    uint32_t count;
    char number[24];
    const struct zs_record_build *builds = zs_recording_builds(recording, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (!has_failed(&builds[i]))
            continue;
        zs_json_object(json, NULL);
        zs_json_u64(json, "build", builds[i].id);
        zs_json_string(json, "result", result_name(&builds[i], number));
        zs_json_string(json, "flags", builds[i].flags ? builds[i].flags : "");
        zs_json_string(json, "log", builds[i].log ? builds[i].log : "");
        zs_json_end(json);
    }
}
