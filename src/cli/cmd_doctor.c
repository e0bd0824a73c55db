/* SPDX-License-Identifier: MIT */
/* zescope doctor: what is installed, what works here, and what to do about what does not. */
#include "cli/doctor.h"

#include "cli/options.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/text.h"
#include "base/vec.h"
#include "base/version.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct doctor_options {
    struct zs_common_options common;
    bool json;
    uint64_t timeout_s;
};

enum { TIMEOUT_MAX_S = 3600 };

static char *keep(const char *text)
{
    char *copy = strdup(text ? text : "");
    return copy;
}

void doctor_add(struct doctor_report *report, const char *group, const char *name,
                enum doctor_status status, const char *path, const char *advice,
                const char *value_format, ...)
{
    char value[1024];
    va_list args;
    va_start(args, value_format);
    vsnprintf(value, sizeof(value), value_format, args);
    va_end(args);
    struct doctor_item item = {group, keep(name), status, keep(value), keep(path), keep(advice)};
    if (!item.name || !item.value || !item.path || !item.advice || !ZS_VEC_PUSH(report, item)) {
        free(item.name);
        free(item.value);
        free(item.path);
        free(item.advice);
    }
}

void doctor_free(struct doctor_report *report)
{
    for (size_t i = 0; i < report->count; i++) {
        free(report->items[i].name);
        free(report->items[i].value);
        free(report->items[i].path);
        free(report->items[i].advice);
    }
    free(report->items);
}

static const struct {
    const char *word, *mark, *color;
} looks[] = {
    [DOCTOR_OK] = {"ok", "ok  ", "\033[32m"},
    [DOCTOR_WARN] = {"warn", "warn", "\033[33m"},
    [DOCTOR_FAIL] = {"fail", "FAIL", "\033[31m"},
    [DOCTOR_INFO] = {"info", "-   ", "\033[2m"},
};

static void print_text(struct zs_buf *out, const struct doctor_report *report, bool color)
{
    const char *group = "";
    const char *reset = color ? "\033[0m" : "";
    int width = 0;
    for (size_t i = 0; i < report->count; i++)
        width = ZS_MAX(width, (int)ZS_MIN(strlen(report->items[i].name), (size_t)34));
    for (size_t i = 0; i < report->count; i++) {
        const struct doctor_item *item = &report->items[i];
        if (strcmp(group, item->group) != 0) {
            zs_buf_printf(out, "%s%s%s%s\n", *group ? "\n" : "", color ? "\033[1m" : "",
                          item->group, reset);
            group = item->group;
        }
        zs_buf_printf(out, "  %s%s%s ", color ? looks[item->status].color : "",
                      looks[item->status].mark, reset);
        size_t name_B = out->size_B;
        zs_text_puts(out, item->name);
        name_B = out->size_B - name_B;
        zs_buf_pad(out, ' ', name_B < (size_t)width ? (size_t)width - name_B : 0);
        zs_buf_puts(out, "  ");
        zs_text_puts(out, item->value);
        zs_buf_putc(out, '\n');
        const char *const more[] = {item->path, item->advice};
        for (size_t k = 0; k < ZS_ARRAY_LEN(more); k++) {
            if (!more[k][0])
                continue;
            zs_buf_printf(out, "  %*s%s", width + 7, "", color ? "\033[2m" : "");
            zs_text_puts(out, more[k]);
            zs_buf_printf(out, "%s\n", reset);
        }
    }
}

static void print_json(struct zs_buf *out, const struct doctor_report *report)
{
    struct zs_json j = zs_json_make(out, 2);
    zs_json_object(&j, NULL);
    zs_json_string(&j, "schema", "zescope.doctor/1");
    zs_json_string(&j, "version", ZS_VERSION);
    zs_json_array(&j, "checks");
    for (size_t i = 0; i < report->count; i++) {
        const struct doctor_item *item = &report->items[i];
        zs_json_object(&j, NULL);
        zs_json_string(&j, "group", item->group);
        zs_json_string(&j, "name", item->name);
        zs_json_string(&j, "status", looks[item->status].word);
        zs_json_string(&j, "value", item->value);
        if (item->path[0])
            zs_json_string(&j, "path", item->path);
        if (item->advice[0])
            zs_json_string(&j, "advice", item->advice);
        zs_json_end(&j);
    }
    zs_json_end(&j);
    zs_json_end(&j);
    zs_buf_putc(out, '\n');
}

static int run_doctor(void *options, int operand_count, char **operands);

static const struct zs_option options_table[] = {
    {"json", 'j', ZS_OPTION_FLAG, offsetof(struct doctor_options, json), NULL,
     "JSON (schema zescope.doctor/1) instead of text"},
    {"timeout", 0, ZS_OPTION_U64, offsetof(struct doctor_options, timeout_s), "SECONDS",
     "how long a driver or library may take to answer (10)"},
};

static const struct doctor_options defaults = {.timeout_s = 10};

const struct zs_command zs_command_doctor = {
    .name = "doctor",
    .summary = "what is installed, what works here, what to do about what does not",
    .operands = "",
    .description =
        "Looks for the Level Zero loader, its drivers, the compiler and its tools, their versions "
        "and paths, access to GPUs, and environment variables that matter; then says what of "
        "zescope works with them.\n\n"
        "Each library and driver is tried in a process of its own: one that crashes or hangs is "
        "reported like any other that does not work.\n\n"
        "Exit status: 0 when nothing failed (a missing GPU is no failure), else 1.",
    .examples = "zescope doctor\n    as text\n"
                "zescope doctor --json | jq '.checks[] | select(.status == \"fail\")'\n"
                "    for scripts\n",
    .options = options_table,
    .option_count = ZS_ARRAY_LEN(options_table),
    .options_size_B = sizeof(struct doctor_options),
    .defaults = &defaults,
    .run = run_doctor,
};

static int run_doctor(void *options, int operand_count, char **operands)
{
    const struct doctor_options *o = options;
    if (operand_count)
        return zs_cli_usage(&zs_command_doctor, "no operand expected, '%s' given", operands[0]);
    if (o->timeout_s == 0 || o->timeout_s > TIMEOUT_MAX_S)
        return zs_cli_usage(&zs_command_doctor, "--timeout: 1 to %d seconds", TIMEOUT_MAX_S);
    struct doctor_report report = {.timeout_ms = (unsigned)o->timeout_s * 1000};
    struct zs_buf out = {0};
    doctor_examine(&report);
    if (o->json)
        print_json(&out, &report);
    else
        print_text(&out, &report, zs_cli_color(&o->common, STDOUT_FILENO));
    int (*write)(const void *, size_t) = o->json ? zs_cli_write_stdout : zs_cli_write_text;
    int status = out.error ? zs_cli_fail("out of memory") : write(out.data, out.size_B);
    for (size_t i = 0; !status && i < report.count; i++)
        if (report.items[i].status == DOCTOR_FAIL)
            status = ZS_EXIT_FAILED;
    zs_buf_fini(&out);
    doctor_free(&report);
    return status;
}
