/* SPDX-License-Identifier: MIT */
/* zescope metrics list: which metric groups the devices here have. */
#include "cli/ask.h"
#include "cli/metrics.h"
#include "cli/paths.h"
#include "cli/words.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/text.h"
#include "base/vec.h"

#include <dlfcn.h>
#include <errno.h>
#include <level_zero/zet_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum {
    ANSWER_MAX_B = 64 << 20,
    OBJECTS_MAX = 1 << 16, /* groups of a device, metrics of a group: what a driver may claim */
};

static const char *const metric_types[] = {
    [ZET_METRIC_TYPE_DURATION] = "duration",
    [ZET_METRIC_TYPE_EVENT] = "event",
    [ZET_METRIC_TYPE_EVENT_WITH_RANGE] = "event with range",
    [ZET_METRIC_TYPE_THROUGHPUT] = "throughput",
    [ZET_METRIC_TYPE_TIMESTAMP] = "timestamp",
    [ZET_METRIC_TYPE_FLAG] = "flag",
    [ZET_METRIC_TYPE_RATIO] = "ratio",
    [ZET_METRIC_TYPE_RAW] = "raw",
};
static const char *const value_types[] = {
    [ZET_VALUE_TYPE_UINT32] = "uint32",   [ZET_VALUE_TYPE_UINT64] = "uint64",
    [ZET_VALUE_TYPE_FLOAT32] = "float32", [ZET_VALUE_TYPE_FLOAT64] = "float64",
    [ZET_VALUE_TYPE_BOOL8] = "bool8",
};

/* The name in a table, or the number of what a later specification added. */
#define WORD(table, value) find_word(table, ZS_ARRAY_LEN(table), (uint32_t)(value), (char[16]){0})
static const char *find_word(const char *const *table, size_t count, uint32_t value, char *scratch)
{
    if (value < count && table[value])
        return table[value];
    snprintf(scratch, 16, "%#x", value);
    return scratch;
}

/* ---- asking, in the child process ---- */

/* name, type: the calls of the loader that are needed */
#define CALLS(ROW)                                                                                 \
    ROW(zeInit)                                                                                    \
    ROW(zeDriverGet)                                                                               \
    ROW(zeDeviceGet)                                                                               \
    ROW(zeDeviceGetProperties)                                                                     \
    ROW(zetMetricGroupGet)                                                                         \
    ROW(zetMetricGroupGetProperties)                                                               \
    ROW(zetMetricGet)                                                                              \
    ROW(zetMetricGetProperties)

struct asked {
    const struct metrics_options *o;
    bool names_only;   /* of all groups, one a line */
    struct zs_buf out; /* text, or JSON */
    struct zs_json json;
    struct zs_buf why_not; /* one sentence, when nothing was listed */
    uint32_t devices, groups, shown;
    struct {
#define ROW(name) __typeof__(name) *name;
        CALLS(ROW)
#undef ROW
    } ze;
};

static bool load(struct asked *a)
{
    void *loader = dlopen("libze_loader.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!loader) {
        zs_buf_printf(&a->why_not, "%s; the Level Zero loader is the package libze1", dlerror());
        return false;
    }
#define ROW(name)                                                                                  \
    a->ze.name = (__typeof__(name) *)(uintptr_t)dlsym(loader, #name);                              \
    if (!a->ze.name)                                                                               \
        zs_buf_puts(&a->why_not, "the Level Zero loader has no " #name);
    CALLS(ROW)
#undef ROW
    return !a->why_not.size_B;
}

/* Handles of one kind: counted, then fetched. NULL with *ret_count 0: none, or an error. */
#define GET_ALL(type, ret_count, call)                                                             \
    ({                                                                                             \
        uint32_t *count_ = (ret_count);                                                            \
        type *all_ = NULL;                                                                         \
        *count_ = 0;                                                                               \
        if (call(count_, all_) || !*count_ || *count_ > OBJECTS_MAX ||                             \
            !(all_ = calloc(*count_, sizeof(*all_))) || call(count_, all_)) {                      \
            free(all_);                                                                            \
            all_ = NULL;                                                                           \
            *count_ = 0;                                                                           \
        }                                                                                          \
        all_;                                                                                      \
    })

static bool is_asked_for(const struct metrics_options *o, const char *name)
{
    for (size_t i = 0; i < o->groups.count; i++) {
        if (!strcasecmp(o->groups.items[i], name))
            return true;
    }
    return !o->groups.count;
}

/* of later specifications: groups of the metric tracer */
static const zet_metric_group_sampling_type_flags_t SAMPLING_BY_TRACER = 4;

static const char *sampling_word(zet_metric_group_sampling_type_flags_t type)
{
    bool by_event = type & ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED;
    bool by_time = type & ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED;
    return by_event && by_time         ? "both"
           : by_event                  ? "event"
           : by_time                   ? "time"
           : type & SAMPLING_BY_TRACER ? "tracer"
                                       : "other";
}

static void put_metric(struct asked *a, const zet_metric_properties_t *p)
{
    if (a->o->json) {
        zs_json_object(&a->json, NULL);
        zs_json_string(&a->json, "name", p->name);
        zs_json_string(&a->json, "description", p->description);
        zs_json_string(&a->json, "component", p->component);
        zs_json_string(&a->json, "type", WORD(metric_types, p->metricType));
        zs_json_string(&a->json, "value_type", WORD(value_types, p->resultType));
        zs_json_string(&a->json, "units", p->resultUnits);
        zs_json_u64(&a->json, "tier", p->tierNumber);
        zs_json_end(&a->json);
        return;
    }
    zs_buf_printf(&a->out, "    %-28s %-9s %-16s %-8s ", p->name,
                  p->resultUnits[0] ? p->resultUnits : "-", WORD(metric_types, p->metricType),
                  WORD(value_types, p->resultType));
    zs_buf_printf(&a->out, "%s\n", p->description);
}

static void put_group(struct asked *a, zet_metric_group_handle_t group)
{
    zet_metric_group_properties_t p = {.stype = ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES};
    if (a->ze.zetMetricGroupGetProperties(group, &p))
        return;
    p.name[sizeof(p.name) - 1] = p.description[sizeof(p.description) - 1] = '\0';
    a->groups++;
    if (a->names_only) {
        zs_buf_printf(&a->out, "%s\n", p.name);
        return;
    }
    if (!is_asked_for(a->o, p.name))
        return;
    a->shown++;
    if (a->o->json) {
        zs_json_object(&a->json, NULL);
        zs_json_string(&a->json, "name", p.name);
        zs_json_string(&a->json, "description", p.description);
        zs_json_u64(&a->json, "domain", p.domain);
        zs_json_string(&a->json, "sampling", sampling_word(p.samplingType));
        zs_json_u64(&a->json, "metric_count", p.metricCount);
        zs_json_array(&a->json, "metrics");
    } else {
        zs_buf_printf(&a->out, "  %-24s %6u %-8s %7u  %s\n", p.name, p.domain,
                      sampling_word(p.samplingType), p.metricCount, p.description);
    }
    uint32_t count = 0;
    bool wanted = a->o->json || a->o->groups.count;
#define METRICS(count, all) a->ze.zetMetricGet(group, count, all)
    zet_metric_handle_t *metrics = wanted ? GET_ALL(zet_metric_handle_t, &count, METRICS) : NULL;
    for (uint32_t i = 0; i < count; i++) {
        zet_metric_properties_t m = {.stype = ZET_STRUCTURE_TYPE_METRIC_PROPERTIES};
        if (a->ze.zetMetricGetProperties(metrics[i], &m))
            continue;
        m.name[sizeof(m.name) - 1] = m.description[sizeof(m.description) - 1] = '\0';
        m.component[sizeof(m.component) - 1] = m.resultUnits[sizeof(m.resultUnits) - 1] = '\0';
        put_metric(a, &m);
    }
    free(metrics);
    if (a->o->json) {
        zs_json_end(&a->json);
        zs_json_end(&a->json);
    }
}

static void put_device(struct asked *a, ze_device_handle_t device)
{
    ze_device_properties_t p = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    uint32_t count;
    if (a->ze.zeDeviceGetProperties(device, &p))
        return;
    p.name[sizeof(p.name) - 1] = '\0';
#define GROUPS(count, all) a->ze.zetMetricGroupGet(device, count, all)
    zet_metric_group_handle_t *groups = GET_ALL(zet_metric_group_handle_t, &count, GROUPS);
    if (a->names_only) {
        ;
    } else if (a->o->json) {
        zs_json_object(&a->json, NULL);
        zs_json_u64(&a->json, "index", a->devices);
        zs_json_string(&a->json, "name", p.name);
        zs_json_array(&a->json, "groups");
    } else {
        zs_buf_printf(&a->out, "%sdevice %u: %s\n", a->devices ? "\n" : "", a->devices, p.name);
        if (count)
            zs_buf_printf(&a->out, "  %-24s %6s %-8s %7s\n", "group", "domain", "sampling",
                          "metrics");
        else
            zs_buf_puts(&a->out, "  has no metric groups\n");
    }
    for (uint32_t i = 0; i < count; i++)
        put_group(a, groups[i]);
    if (a->o->json) {
        zs_json_end(&a->json);
        zs_json_end(&a->json);
    }
    free(groups);
    a->devices++;
}

static void list(struct asked *a)
{
    setenv("ZET_ENABLE_METRICS", "1", 1);
    if (!load(a))
        return;
    if (a->o->json) {
        zs_json_object(&a->json, NULL);
        zs_json_string(&a->json, "schema", "zescope.metric-groups/1");
        zs_json_array(&a->json, "devices");
    }
    ze_result_t result = a->ze.zeInit(0);
    uint32_t driver_count = 0;
    ze_driver_handle_t *drivers =
        result ? NULL : GET_ALL(ze_driver_handle_t, &driver_count, a->ze.zeDriverGet);
    for (uint32_t i = 0; i < driver_count; i++) {
        uint32_t count;
#define DEVICES(count, all) a->ze.zeDeviceGet(drivers[i], count, all)
        ze_device_handle_t *devices = GET_ALL(ze_device_handle_t, &count, DEVICES);
        for (uint32_t k = 0; k < count; k++)
            put_device(a, devices[k]);
        free(devices);
    }
    free(drivers);
    if (a->o->json) {
        zs_json_end(&a->json);
        zs_json_end(&a->json);
        zs_buf_putc(&a->out, '\n');
    }
    if (!a->devices && a->o->device)
        zs_buf_printf(&a->why_not,
                      "the software GPU cannot be %s (zeInit gives %#x); zescope run --help says "
                      "which devices it can be",
                      a->o->device, (unsigned)result);
    else if (!a->devices)
        zs_buf_printf(&a->why_not,
                      "no Level Zero driver here has a device that offers metrics (zeInit gives "
                      "%#x); --device skl asks the software GPU, zescope doctor says what is "
                      "installed",
                      (unsigned)result);
    else if (a->o->groups.count && !a->shown)
        zs_buf_printf(&a->why_not,
                      "no group of this name among the %u that there are; zescope "
                      "metrics list shows them",
                      a->groups);
}

/* "." and the list, or "!" and why there is none. */
static int answer(const void *question, FILE *out)
{
    struct asked a = {.o = question};
    a.json = zs_json_make(&a.out, 5);
    list(&a);
    const struct zs_buf *told = a.why_not.size_B ? &a.why_not : &a.out;
    if (a.out.error || a.why_not.error || fputc(a.why_not.size_B ? '!' : '.', out) == EOF)
        return 1;
    return fwrite(told->data, 1, told->size_B, out) == told->size_B ? 0 : 1;
}

/* The names alone; an answer that is not whole is none. */
static int answer_names(const void *question, FILE *out)
{
    static const struct metrics_options nothing;
    struct asked a = {.o = &nothing, .names_only = true};
    list(&a);
    return a.out.error || fwrite(a.out.data, 1, a.out.size_B, out) != a.out.size_B;
}

/* ---- whether groups exist ---- */

struct names {
    const char **items;
    size_t count, capacity;
};

/* The lines of a text, each ended by a zero. */
static bool split_lines(struct zs_buf *text, struct names *ret)
{
    char *rest = (char *)text->data, *line;
    bool ok = true;
    while (ok && (line = strsep(&rest, "\n")))
        ok = !*line || ZS_VEC_PUSH(ret, (const char *)line);
    return ok;
}

static bool is_name(const struct names *names, const char *name)
{
    for (size_t i = 0; i < names->count; i++)
        if (!strcasecmp(names->items[i], name))
            return true;
    return false;
}

static int check_groups(const struct names *names, const struct zs_string_list *asked)
{
    for (size_t i = 0; i < asked->count; i++) {
        char *words = strdup(asked->items[i]), *rest = words, *name;
        int status = words ? ZS_EXIT_OK : zs_cli_fail("out of memory");
        while (status == ZS_EXIT_OK && (name = strsep(&rest, ","))) {
            if (!*name || is_name(names, name))
                continue;
            const char *near = zs_nearest_word(name, names->items, names->count);
            zs_cli_fail("no device here has a metric group %s%s%s; zescope metrics list "
                        "shows the %zu that there are",
                        name, near ? ": did you mean " : "", near ? near : "", names->count);
            status = ZS_EXIT_USAGE;
        }
        free(words);
        if (status != ZS_EXIT_OK)
            return status;
    }
    return ZS_EXIT_OK;
}

int zs_cli_check_metric_groups(const struct zs_string_list *groups, bool *ret_told)
{
    enum { TIMEOUT_MS = 30 * 1000 };
    struct zs_buf told = {0};
    struct names names = {0};
    struct zs_asked asked = zs_cli_ask(answer_names, NULL, NULL, TIMEOUT_MS, ANSWER_MAX_B, &told);
    zs_buf_putc(&told, '\0');
    bool whole = asked.asked && !asked.timed_out && !asked.cut && !asked.status && !told.error &&
                 split_lines(&told, &names);
    /* a driver that does not tell, or has none: what the recording finds out is said at its end */
    *ret_told = whole && names.count;
    int status = *ret_told ? check_groups(&names, groups) : ZS_EXIT_OK;
    free(names.items);
    zs_buf_fini(&told);
    return status;
}

bool zs_words_groups(void)
{
    enum { TIMEOUT_MS = 5 * 1000 };
    struct zs_buf told = {0};
    struct zs_asked asked = zs_cli_ask(answer_names, NULL, NULL, TIMEOUT_MS, ANSWER_MAX_B, &told);
    bool has_any = asked.asked && !asked.status && told.size_B;
    if (has_any)
        fputs(zs_buf_cstr(&told), stdout);
    zs_buf_fini(&told);
    return has_any;
}

/* ---- the verb ---- */

static int show(const struct metrics_options *o, const struct zs_buf *told,
                const struct zs_asked *asked)
{
    if (!asked->asked)
        return zs_cli_fail("no process can be made: %s", strerror(errno));
    if (asked->timed_out)
        return zs_cli_fail("the driver did not answer within %llu s and was stopped (--timeout)",
                           (unsigned long long)o->timeout_s);
    if (asked->status > 128)
        return zs_cli_fail("the driver crashed (%s); zescope doctor tries each driver alone",
                           strsignal(asked->status - 128));
    if (asked->cut)
        return zs_cli_fail("the driver has more to say of its metrics than %zu bytes",
                           (size_t)ANSWER_MAX_B);
    if (asked->status || told->error || !told->size_B)
        return zs_cli_fail("the driver ended the process that asked it (status %d)", asked->status);
    const char *text = (const char *)told->data + 1;
    if (told->data[0] == '!')
        return zs_cli_fail("%.*s", (int)(told->size_B - 1), text);
    return (o->json ? zs_cli_write_stdout : zs_cli_write_text)(text, told->size_B - 1);
}

int zs_cli_list_metrics(const struct metrics_options *o)
{
    struct zs_buf told = {0};
    struct zs_asked asked = zs_cli_ask(answer, o, NULL, o->timeout_s * 1000, ANSWER_MAX_B, &told);
    int status = show(o, &told, &asked);
    zs_buf_fini(&told);
    return status;
}
