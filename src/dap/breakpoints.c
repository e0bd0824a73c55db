/* SPDX-License-Identifier: MIT */
/*
 * Clients send all breakpoints of a source (all of functions, of instructions) at once, each time
 * one changes: those that stay the same are kept, with their hits; others are new, and what is not
 * among them any more goes.
 */
#include "dap/dap_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>

static void breakpoint_fini(struct breakpoint *b)
{
    free(b->source);
    free(b->location);
    free(b->condition);
    free(b->log);
}

void dap_breakpoints_fini(struct zs_dap *dap)
{
    for (size_t i = 0; i < dap->breakpoints.count; i++)
        breakpoint_fini(&dap->breakpoints.items[i]);
    free(dap->breakpoints.items);
}

const struct breakpoint *dap_breakpoint(const struct zs_dap *dap, uint32_t id)
{
    for (size_t i = 0; id && i < dap->breakpoints.count; i++) {
        if (dap->breakpoints.items[i].id == id)
            return &dap->breakpoints.items[i];
    }
    return NULL;
}

static const struct zs_debug_breakpoint *find_debugger_s(struct zs_dap *dap, uint32_t id)
{
    const struct zs_debug_breakpoint *b;
    for (size_t i = 0; (b = zs_debug_break_get(dap->debug, i)); i++) {
        if (b->id == id)
            return b;
    }
    return NULL;
}

/* ---- what clients are told ---- */

static void put_breakpoint(struct zs_dap *dap, struct zs_json *json, struct breakpoint *b)
{
    const struct zs_debug_breakpoint *found = find_debugger_s(dap, b->id);
    const struct zs_debug_place *place = found && found->place_count ? found->places : NULL;
    b->verified = place != NULL || (found && found->watch);
    b->line = place ? place->line : 0;
    zs_json_u64(json, "id", b->id);
    zs_json_bool(json, "verified", b->verified);
    if (found && found->watch)
        return;
    if (!place) {
        zs_json_string(json, "message", "No code that has been loaded is of this place.");
        zs_json_string(json, "reason", "pending");
        return;
    }
    dap_put_address(json, "instructionReference", place->gpu_va);
    if (place->file && place->line) {
        dap_put_source(dap, json, place->file, "source");
        zs_json_i64(json, "line", dap_line_out(dap, place->line));
    }
}

void dap_breakpoints_changed(struct zs_dap *dap)
{
    for (size_t i = 0; i < dap->breakpoints.count; i++) {
        struct breakpoint *b = &dap->breakpoints.items[i];
        const struct zs_debug_breakpoint *found = find_debugger_s(dap, b->id);
        bool verified = found && (found->place_count || found->watch);
        struct zs_buf buf;
        if (verified == b->verified &&
            (!verified || found->watch || found->places[0].line == b->line))
            continue;
        struct zs_json json = dap_event_begin(dap, &buf, "breakpoint");
        zs_json_string(&json, "reason", "changed");
        zs_json_object(&json, "breakpoint");
        put_breakpoint(dap, &json, b);
        zs_json_end(&json);
        dap_event_end(dap, &json);
    }
}

/* ---- what the console's commands did ---- */

uint32_t dap_newest_breakpoint(const struct zs_dap *dap)
{
    const struct zs_debug_breakpoint *b;
    uint32_t newest = 0;
    for (size_t i = 0; (b = zs_debug_break_get(dap->debug, i)); i++)
        newest = ZS_MAX(newest, b->id);
    return newest;
}

static void tell_removed(struct zs_dap *dap, uint32_t id)
{
    struct zs_buf buf;
    struct zs_json json = dap_event_begin(dap, &buf, "breakpoint");
    zs_json_string(&json, "reason", "removed");
    zs_json_object(&json, "breakpoint");
    zs_json_u64(&json, "id", id);
    zs_json_bool(&json, "verified", false);
    zs_json_end(&json);
    dap_event_end(dap, &json);
}

static void tell_new(struct zs_dap *dap, struct breakpoint *b)
{
    struct zs_buf buf;
    struct zs_json json = dap_event_begin(dap, &buf, "breakpoint");
    zs_json_string(&json, "reason", "new");
    zs_json_object(&json, "breakpoint");
    put_breakpoint(dap, &json, b);
    zs_json_end(&json);
    dap_event_end(dap, &json);
}

/* One at a line becomes as if the client had set it there: the client will send it among its own.
 */
static void adopt(struct zs_dap *dap, const struct zs_debug_breakpoint *b)
{
    const struct zs_debug_place *place = b->place_count ? &b->places[0] : NULL;
    const struct zs_source *source =
        place && place->file && place->line ? zs_debug_source(dap->debug, place->file) : NULL;
    char path[PATH_MAX];
    if (!source || b->temporary || !source->found || !realpath(source->found, path))
        return;
    struct breakpoint own = {.kind = BREAK_SOURCE,
                             .id = b->id,
                             .ignore_count = b->ignore_count,
                             .source = strdup(path),
                             .condition = b->condition ? strdup(b->condition) : NULL,
                             .log = b->log ? strdup(b->log) : NULL};
    if (asprintf(&own.location, "%s:%" PRIu32, path, place->line) < 0)
        own.location = NULL;
    if (!own.source || !own.location || !ZS_VEC_PUSH(&dap->breakpoints, own))
        breakpoint_fini(&own);
    else
        tell_new(dap, &dap->breakpoints.items[dap->breakpoints.count - 1]);
}

void dap_breakpoints_after_command(struct zs_dap *dap, uint32_t newest)
{
    const struct zs_debug_breakpoint *b;
    size_t kept = 0;
    for (size_t i = 0; i < dap->breakpoints.count; i++) {
        if (find_debugger_s(dap, dap->breakpoints.items[i].id)) {
            dap->breakpoints.items[kept++] = dap->breakpoints.items[i];
            continue;
        }
        tell_removed(dap, dap->breakpoints.items[i].id);
        breakpoint_fini(&dap->breakpoints.items[i]);
    }
    dap->breakpoints.count = kept;
    for (size_t i = 0; (b = zs_debug_break_get(dap->debug, i)); i++)
        if (b->id > newest && !b->watch)
            adopt(dap, b);
}

static void put_refused(struct zs_json *json, const struct zs_diag *diag)
{
    zs_json_bool(json, "verified", false);
    zs_json_string(json, "message", diag->text);
    zs_json_string(json, "reason", "failed");
}

/* ---- the sets ---- */

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

static struct breakpoint *find_stale(struct zs_dap *dap, const struct breakpoint *wanted)
{
    for (size_t i = 0; i < dap->breakpoints.count; i++) {
        struct breakpoint *b = &dap->breakpoints.items[i];
        if (b->stale && b->ignore_count == wanted->ignore_count &&
            same_text(b->location, wanted->location) &&
            same_text(b->condition, wanted->condition) && same_text(b->log, wanted->log))
            return b;
    }
    return NULL;
}

static void mark_stale(struct zs_dap *dap, enum breakpoint_kind kind, const char *source)
{
    for (size_t i = 0; i < dap->breakpoints.count; i++) {
        struct breakpoint *b = &dap->breakpoints.items[i];
        b->stale = b->kind == kind && same_text(b->source, source);
    }
}

static void delete_stale(struct zs_dap *dap)
{
    size_t kept = 0;
    for (size_t i = 0; i < dap->breakpoints.count; i++) {
        struct breakpoint *b = &dap->breakpoints.items[i];
        struct zs_diag diag = {0};
        if (b->stale) {
            zs_debug_break_delete(dap->debug, b->id, &diag);
            breakpoint_fini(b);
        } else {
            dap->breakpoints.items[kept++] = *b;
        }
    }
    dap->breakpoints.count = kept;
}

/* "3" and ">= 3": stop at the third hit and later ones; "> 3": at those behind it. */
static int parse_hits(const char *text, uint64_t *ret_ignore, struct zs_diag *diag)
{
    *ret_ignore = 0;
    if (!text || !*text)
        return 0;
    const char *at = text + strspn(text, " ");
    bool behind = at[0] == '>' && at[1] != '=';
    at += at[0] == '>' ? (behind ? 1 : 2) : 0;
    at += strspn(at, " ");
    char *end;
    errno = 0;
    unsigned long long n = strtoull(at, &end, 10);
    bool digits = *at >= '0' && *at <= '9';
    if (!digits || end[strspn(end, " ")] || errno || (!n && !behind))
        return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET,
                           "a hit condition is N, >= N or > N, not `%.64s`", text);
    *ret_ignore = behind ? n : n - 1;
    return 0;
}

static char *copy(const char *text)
{
    return text && *text ? strdup(text) : NULL;
}

/* Data of a thread, lane and frame: "access thread/lane/frame/expression". */
static int add_watch(struct zs_dap *dap, const struct breakpoint *wanted, uint32_t *ret_id,
                     struct zs_diag *diag)
{
    struct zs_debug_watch_options options = {.size_B = sizeof(options),
                                             .condition = wanted->condition};
    uint32_t thread, lane, frame, before[3];
    int at = 0;
    if (sscanf(wanted->location, "%u %u/%u/%u/%n", &options.access, &thread, &lane, &frame, &at) !=
            4 ||
        !at)
        return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET, "there is no such data");
    options.expression = wanted->location + at;
    zs_debug_focus(dap->debug, &before[0], &before[1], &before[2]);
    int error = zs_debug_set_focus(dap->debug, thread, lane, frame, diag);
    if (!error)
        error = zs_debug_watch_add(dap->debug, &options, ret_id, diag);
    if (!error && wanted->ignore_count)
        error = zs_debug_break_ignore(dap->debug, *ret_id, wanted->ignore_count, diag);
    (void)zs_debug_set_focus(dap->debug, before[0], before[1], before[2], NULL);
    return error;
}

static int add_new(struct zs_dap *dap, struct breakpoint *wanted, struct zs_diag *diag)
{
    struct zs_debug_breakpoint_options options = {.size_B = sizeof(options),
                                                  .location = wanted->location,
                                                  .condition = wanted->condition,
                                                  .log = wanted->log,
                                                  .ignore_count = wanted->ignore_count};
    int error =
        dap->no_debug
            ? zs_diag_set(diag, -ENOTSUP, ZS_DIAG_NO_OFFSET, "this session runs without debugging")
        : wanted->kind == BREAK_DATA ? add_watch(dap, wanted, &wanted->id, diag)
                                     : zs_debug_break_add(dap->debug, &options, &wanted->id, diag);
    if (!error && !ZS_VEC_PUSH(&dap->breakpoints, *wanted)) {
        struct zs_diag ignored = {0};
        zs_debug_break_delete(dap->debug, wanted->id, &ignored);
        error = -ENOMEM;
    }
    return error;
}

/* One of a set: `location` is taken over, NULL after an error in diag. */
static void put_wanted(struct zs_dap *dap, struct zs_json *json, enum breakpoint_kind kind,
                       const char *source, char *location, const json_t *given,
                       struct zs_diag *diag)
{
    struct breakpoint wanted = {.kind = kind,
                                .source = source ? strdup(source) : NULL,
                                .location = location,
                                .condition = copy(dap_text(given, "condition")),
                                .log = copy(dap_text(given, "logMessage"))};
    zs_json_object(json, NULL);
    int error = location ? parse_hits(dap_text(given, "hitCondition"), &wanted.ignore_count, diag)
                         : -ENOMEM;
    struct breakpoint *old = error ? NULL : find_stale(dap, &wanted);
    if (old) {
        breakpoint_fini(&wanted);
        old->stale = false;
        put_breakpoint(dap, json, old);
    } else if (error || (error = add_new(dap, &wanted, diag))) {
        breakpoint_fini(&wanted);
        zs_diag_set(diag, error, ZS_DIAG_NO_OFFSET, "%s", strerror(-error));
        put_refused(json, diag);
    } else {
        put_breakpoint(dap, json, &dap->breakpoints.items[dap->breakpoints.count - 1]);
    }
    zs_json_end(json);
}

int handle_setBreakpoints(struct zs_dap *dap, const json_t *arguments, struct zs_json *body,
                          struct zs_diag *diag)
{
    const char *source = dap_source_path(dap, json_object_get(arguments, "source"));
    const json_t *all = json_object_get(arguments, "breakpoints");
    if (!source)
        return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET, "`source` has no path");
    mark_stale(dap, BREAK_SOURCE, source);
    zs_json_array(body, "breakpoints");
    for (size_t i = 0; i < json_array_size(all); i++) {
        const json_t *given = json_array_get(all, i);
        struct zs_diag why = {0};
        int64_t line = dap_line_in(dap, given, "line");
        char *location = line ? dap_print(&why, "%s:%lld", source, (long long)line) : NULL;
        if (!line)
            zs_diag_set(&why, -EINVAL, ZS_DIAG_NO_OFFSET, "there is no such line");
        put_wanted(dap, body, BREAK_SOURCE, source, location, given, &why);
    }
    zs_json_end(body);
    delete_stale(dap);
    return 0;
}

int dap_set_all(struct zs_dap *dap, enum breakpoint_kind kind, const json_t *arguments,
                struct zs_json *body, dap_locate_fn locate)
{
    const json_t *all = json_object_get(arguments, "breakpoints");
    mark_stale(dap, kind, NULL);
    zs_json_array(body, "breakpoints");
    for (size_t i = 0; i < json_array_size(all); i++) {
        const json_t *given = json_array_get(all, i);
        struct zs_diag why = {0};
        put_wanted(dap, body, kind, NULL, locate(given, &why), given, &why);
    }
    zs_json_end(body);
    delete_stale(dap);
    return 0;
}

static char *locate_function(const json_t *given, struct zs_diag *why)
{
    const char *name = dap_text(given, "name");
    if (name && *name)
        return dap_print(why, "%s", name);
    zs_diag_set(why, -EINVAL, ZS_DIAG_NO_OFFSET, "a function has no name");
    return NULL;
}

static char *locate_instruction(const json_t *given, struct zs_diag *why)
{
    uint64_t gpu_va;
    if (dap_parse_address(dap_text(given, "instructionReference"), &gpu_va)) {
        gpu_va += (uint64_t)dap_int(given, "offset", 0);
        return dap_print(why, "*0x%llx", (unsigned long long)gpu_va);
    }
    zs_diag_set(why, -EINVAL, ZS_DIAG_NO_OFFSET, "an instruction has no address");
    return NULL;
}

int handle_setFunctionBreakpoints(struct zs_dap *dap, const json_t *arguments, struct zs_json *body,
                                  struct zs_diag *diag)
{
    return dap_set_all(dap, BREAK_FUNCTION, arguments, body, locate_function);
}

int handle_setInstructionBreakpoints(struct zs_dap *dap, const json_t *arguments,
                                     struct zs_json *body, struct zs_diag *diag)
{
    return dap_set_all(dap, BREAK_INSTRUCTION, arguments, body, locate_instruction);
}

int handle_setExceptionBreakpoints(struct zs_dap *dap, const json_t *arguments,
                                   struct zs_json *body, struct zs_diag *diag)
{
    const json_t *filters = json_object_get(arguments, "filters");
    bool faults = false;
    for (size_t i = 0; i < json_array_size(filters); i++) {
        const char *name = json_string_value(json_array_get(filters, i));
        if (!name || strcmp(name, "fault") != 0)
            return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET, "there is a filter `fault` alone");
        faults = true;
    }
    dap->faults_pass = !faults;
    return 0;
}

int handle_breakpointLocations(struct zs_dap *dap, const json_t *arguments, struct zs_json *body,
                               struct zs_diag *diag)
{
    const char *source = dap_source_path(dap, json_object_get(arguments, "source"));
    int64_t line = dap_line_in(dap, arguments, "line"),
            end = dap_line_in(dap, arguments, "endLine");
    if (!source || !line)
        return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET, "`source` and `line` say no place");
    zs_json_array(body, "breakpoints");
    for (end = ZS_MIN(ZS_MAX(end, line), line + 9999); line <= end; line++) {
        struct zs_debug_place place;
        if (!zs_debug_line_places(dap->debug, source, (uint32_t)line, &place, 1))
            continue;
        zs_json_object(body, NULL);
        zs_json_i64(body, "line", dap_line_out(dap, (uint32_t)line));
        zs_json_end(body);
    }
    zs_json_end(body);
    return 0;
}
