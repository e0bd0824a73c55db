/* SPDX-License-Identifier: MIT */
/*
 * Variables of a lane, of all lanes, members and elements, registers. References live until
 * something runs, as the debugger's values do.
 */
#include "dap/dap_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

enum {
    PAGED_FROM = 100, /* children: a client asks for them in parts */
    CHUNK = 256,
};

/* ---- values ---- */

const char *dap_child_expression(struct zs_dap *dap, const char *parent, const char *name)
{
    struct zs_buf text = {0};
    if (!parent)
        return NULL;
    if (name[0] == '*')
        zs_buf_printf(&text, "(*%s)", parent);
    else
        zs_buf_printf(&text, name[0] == '[' ? "%s%s" : "%s.%s", parent, name);
    const char *kept =
        text.error ? NULL : zs_arena_strndup(&dap->expressions, text.data, text.size_B);
    zs_buf_fini(&text);
    return kept;
}

/* The members that `evaluate`, `setVariable` and a variable have in common. */
static void put_value(struct zs_dap *dap, struct zs_json *json, const char *text_key,
                      struct zs_debug_value *value, const struct ref *at, const char *expression)
{
    struct ref ref = {.kind = REF_VALUE,
                      .thread = at->thread,
                      .lane = at->lane,
                      .frame = at->frame,
                      .value = value,
                      .expression = expression};
    zs_json_string(json, text_key, value->text);
    if (value->type[0])
        zs_json_string(json, "type", value->type);
    zs_json_u64(json, "variablesReference", value->child_count ? dap_ref(dap, ref) : 0);
    if (value->child_count >= PAGED_FROM)
        zs_json_u64(json, "indexedVariables", value->child_count);
    if (value->available && value->in_memory)
        dap_put_address(json, "memoryReference", value->gpu_va);
}

static void put_variable(struct zs_dap *dap, struct zs_json *json, const char *name,
                         struct zs_debug_value *value, const struct ref *at, const char *expression)
{
    zs_json_object(json, NULL);
    zs_json_string(json, "name", name);
    put_value(dap, json, "value", value, at, expression);
    if (expression)
        zs_json_string(json, "evaluateName", expression);
    if (!value->writable) {
        zs_json_object(json, "presentationHint");
        zs_json_array(json, "attributes");
        zs_json_string(json, NULL, "readOnly");
        zs_json_end(json);
        zs_json_end(json);
    }
    zs_json_end(json);
}

/* ---- lists of them ---- */

/* The part of a list that a client asks for. */
struct window {
    uint64_t first, end;
};

static struct window window_of(const json_t *arguments)
{
    uint64_t first = (uint64_t)ZS_MAX(dap_int(arguments, "start", 0), 0);
    uint64_t count = (uint64_t)ZS_MAX(dap_int(arguments, "count", 0), 0);
    return (struct window){first, count ? first + count : UINT64_MAX};
}

static int put_lane(struct zs_dap *dap, struct zs_json *json, const struct ref *at,
                    struct window window, struct zs_diag *diag)
{
    struct zs_debug_value **values;
    uint32_t count;
    int error =
        zs_debug_variables(dap->debug, at->thread, at->lane, at->frame, &values, &count, diag);
    for (uint32_t i = 0; !error && i < count; i++) {
        if (i >= window.first && i < window.end)
            put_variable(dap, json, values[i]->name, values[i], at, values[i]->name);
    }
    return error;
}

/* A row for each variable; its children are the lanes. */
static int put_lanes(struct zs_dap *dap, struct zs_json *json, const struct ref *at,
                     struct window window, struct zs_diag *diag)
{
    struct zs_debug_value **values;
    uint32_t count;
    const struct zs_debug_thread *t = zs_debug_thread(dap->debug, at->thread);
    int lanes = t ? __builtin_popcount(t->lanes) : 0;
    int error =
        zs_debug_variables(dap->debug, at->thread, at->lane, at->frame, &values, &count, diag);
    for (uint32_t i = 0; !error && i < count; i++) {
        struct ref ref = *at;
        char text[32];
        if (i < window.first || i >= window.end)
            continue;
        ref.kind = REF_LANES_OF;
        ref.index = i;
        snprintf(text, sizeof(text), "%d lane%s", lanes, lanes == 1 ? "" : "s");
        zs_json_object(json, NULL);
        zs_json_string(json, "name", values[i]->name);
        zs_json_string(json, "value", text);
        zs_json_string(json, "type", values[i]->type);
        zs_json_u64(json, "variablesReference", dap_ref(dap, ref));
        zs_json_end(json);
    }
    return error;
}

/* The value of a variable in one lane. */
static int value_of_lane(struct zs_dap *dap, const struct ref *at, uint32_t lane,
                         struct zs_debug_value **ret_value, struct zs_diag *diag)
{
    struct zs_debug_value **values;
    uint32_t count;
    int error = zs_debug_variables(dap->debug, at->thread, lane, at->frame, &values, &count, diag);
    if (!error && at->index >= count)
        error = zs_diag_set(diag, -ENODATA, ZS_DIAG_NO_OFFSET, "the lane has no such variable");
    if (!error)
        *ret_value = values[at->index];
    return error;
}

static void name_lane(const struct zs_debug_lane *lane, char *ret_name, size_t size_B)
{
    snprintf(ret_name, size_B, "lane %" PRIu32, lane->lane);
}

static int put_lanes_of(struct zs_dap *dap, struct zs_json *json, const struct ref *at,
                        struct window window, struct zs_diag *diag)
{
    struct zs_debug_lane lanes[32];
    int count = zs_debug_lanes(dap->debug, at->thread, lanes, diag);
    int error = ZS_MIN(count, 0);
    for (int i = 0; !error && i < count; i++) {
        struct ref ref = *at;
        struct zs_debug_value *value;
        char name[32];
        if ((uint64_t)i < window.first || (uint64_t)i >= window.end)
            continue;
        if ((error = value_of_lane(dap, at, lanes[i].lane, &value, diag)))
            break;
        name_lane(&lanes[i], name, sizeof(name));
        ref.lane = lanes[i].lane;
        /* an expression would be evaluated for the lane in focus */
        put_variable(dap, json, name, value, &ref, NULL);
    }
    return error;
}

static int put_children(struct zs_dap *dap, struct zs_json *json, const struct ref *at,
                        struct window window, struct zs_diag *diag)
{
    struct zs_debug_value *children[CHUNK];
    uint64_t end = ZS_MIN(window.end, at->value->child_count);
    for (uint64_t first = window.first; first < end;) {
        uint32_t wanted = (uint32_t)ZS_MIN(end - first, (uint64_t)CHUNK);
        if (dap_cancelled(dap))
            return -ECANCELED;
        int got = zs_debug_children(dap->debug, at->value, (uint32_t)first, children, wanted, diag);
        if (got <= 0)
            return got;
        for (int i = 0; i < got; i++)
            put_variable(dap, json, children[i]->name, children[i], at,
                         dap_child_expression(dap, at->expression, children[i]->name));
        first += (uint32_t)got;
    }
    return 0;
}

/* ---- registers ---- */

/* Up to eight bytes as a number, more as dwords, lowest first. */
static void put_register(struct zs_json *json, const struct zs_debug_register *r)
{
    char text[160] = "", name[24];
    size_t at = 0;
    uint32_t size_B = ZS_MIN(r->size_B, (uint32_t)sizeof(r->bytes));
    uint32_t unit_B = size_B <= 8 ? size_B : 4;
    for (uint32_t i = 0; unit_B && i + unit_B <= size_B; i += unit_B) {
        uint64_t value = 0;
        for (uint32_t b = unit_B; b--;)
            value = value << 8 | r->bytes[i + b];
        at += (size_t)snprintf(text + at, sizeof(text) - at, "%s0x%0*" PRIx64, i ? " " : "",
                               (int)(2 * unit_B), value);
        at = ZS_MIN(at, sizeof(text) - 1);
    }
    snprintf(name, sizeof(name), "$%.16s", r->name);
    zs_json_object(json, NULL);
    zs_json_string(json, "name", name + 1);
    zs_json_string(json, "value", text);
    zs_json_string(json, "evaluateName", name);
    zs_json_u64(json, "variablesReference", 0);
    zs_json_end(json);
}

static int put_registers(struct zs_dap *dap, struct zs_json *json, const struct ref *at,
                         struct window window, struct zs_diag *diag)
{
    int count = zs_debug_registers(dap->debug, at->thread, NULL, 0, diag);
    if (count <= 0)
        return count;
    struct zs_debug_register *registers = calloc((size_t)count, sizeof(*registers));
    if (!registers)
        return -ENOMEM;
    int got = zs_debug_registers(dap->debug, at->thread, registers, (uint32_t)count, diag);
    for (int i = 0; i < ZS_MIN(got, count); i++) {
        if ((uint64_t)i >= window.first && (uint64_t)i < window.end)
            put_register(json, &registers[i]);
    }
    free(registers);
    return ZS_MIN(got, 0);
}

int handle_variables(struct zs_dap *dap, const json_t *arguments, struct zs_json *body,
                     struct zs_diag *diag)
{
    static int (*const put[])(struct zs_dap * dap, struct zs_json * json, const struct ref *at,
                              struct window window, struct zs_diag *diag) = {
        [REF_LANE] = put_lane,           [REF_LANES] = put_lanes,    [REF_LANES_OF] = put_lanes_of,
        [REF_REGISTERS] = put_registers, [REF_VALUE] = put_children,
    };
    struct ref at;
    int error = dap_find_ref(dap, arguments, &at, diag);
    const char *filter = dap_text(arguments, "filter");
    if (error)
        return error;
    /* what is paged has indexed children alone, the rest has named ones */
    bool paged = at.kind == REF_VALUE && at.value->child_count >= PAGED_FROM;
    bool none = filter && (paged ? !strcmp(filter, "named") : !strcmp(filter, "indexed"));
    zs_json_array(body, "variables");
    if (!none)
        error = put[at.kind](dap, body, &at, window_of(arguments), diag);
    if (!error)
        zs_json_end(body);
    return error;
}

/* ---- changes ---- */

static int find_in_lane(struct zs_dap *dap, const struct ref *at, const char *name,
                        struct zs_debug_value **ret_value, struct zs_diag *diag)
{
    struct zs_debug_value **values;
    uint32_t count;
    int error =
        zs_debug_variables(dap->debug, at->thread, at->lane, at->frame, &values, &count, diag);
    for (uint32_t i = 0; !error && i < count; i++) {
        if (!strcmp(values[i]->name, name)) {
            *ret_value = values[i];
            return 0;
        }
    }
    return error ? error : -ENOENT;
}

static int find_lane(struct zs_dap *dap, struct ref *at, const char *name,
                     struct zs_debug_value **ret_value, struct zs_diag *diag)
{
    struct zs_debug_lane lanes[32];
    int count = zs_debug_lanes(dap->debug, at->thread, lanes, diag);
    for (int i = 0; i < count; i++) {
        char lane_name[32];
        name_lane(&lanes[i], lane_name, sizeof(lane_name));
        if (!strcmp(lane_name, name)) {
            at->lane = lanes[i].lane;
            return value_of_lane(dap, at, at->lane, ret_value, diag);
        }
    }
    return count < 0 ? count : -ENOENT;
}

static int find_child(struct zs_dap *dap, struct ref *at, const char *name,
                      struct zs_debug_value **ret_value, struct zs_diag *diag)
{
    struct zs_debug_value *children[CHUNK];
    int got = 0;
    for (uint32_t first = 0; first < at->value->child_count; first += (uint32_t)got) {
        got = zs_debug_children(dap->debug, at->value, first, children, CHUNK, diag);
        if (got <= 0)
            return got ? got : -ENOENT;
        for (int i = 0; i < got; i++) {
            if (!strcmp(children[i]->name, name)) {
                *ret_value = children[i];
                at->expression = dap_child_expression(dap, at->expression, name);
                return 0;
            }
        }
    }
    return -ENOENT;
}

/* A variable of a reference by its name; *at becomes where it is. */
static int find_variable(struct zs_dap *dap, struct ref *at, const char *name,
                         struct zs_debug_value **ret_value, struct zs_diag *diag)
{
    int error = -ENOENT;
    if (at->kind == REF_LANE) {
        error = find_in_lane(dap, at, name, ret_value, diag);
        at->expression = zs_arena_strndup(&dap->expressions, name, strlen(name));
    } else if (at->kind == REF_LANES_OF) {
        error = find_lane(dap, at, name, ret_value, diag);
    } else if (at->kind == REF_VALUE) {
        error = find_child(dap, at, name, ret_value, diag);
    } else if (at->kind == REF_REGISTERS) {
        char text[64];
        snprintf(text, sizeof(text), "$%.60s", name);
        error =
            zs_debug_evaluate(dap->debug, at->thread, at->lane, at->frame, text, ret_value, diag);
    }
    if (error)
        return zs_diag_set(diag, error, ZS_DIAG_NO_OFFSET, "there is no `%.64s` to be set", name);
    return 0;
}

/* Where the thread in focus is. */
static uint64_t place_of_focus(struct zs_dap *dap)
{
    uint32_t thread = 0;
    zs_debug_focus(dap->debug, &thread, NULL, NULL);
    const struct zs_debug_thread *t = zs_debug_thread(dap->debug, thread);
    return t ? t->gpu_va : 0;
}

static int assign(struct zs_dap *dap, struct zs_debug_value *value, const char *text,
                  struct zs_diag *diag)
{
    if (!text)
        return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET, "no value is given");
    if (!value->writable)
        return zs_diag_set(diag, -EPERM, ZS_DIAG_NO_OFFSET, "`%.64s` cannot be written: %.300s",
                           value->name, value->available ? "it is read only" : value->text);
    uint64_t before_va = place_of_focus(dap);
    int error = zs_debug_assign(dap->debug, value, text, diag);
    if (error)
        return error;
    if (value->in_memory)
        dap_memory_changed(dap, value->gpu_va, value->size_B);
    dap_invalidated(dap, place_of_focus(dap) != before_va);
    return 0;
}

int handle_setVariable(struct zs_dap *dap, const json_t *arguments, struct zs_json *body,
                       struct zs_diag *diag)
{
    struct zs_debug_value *value = NULL;
    struct ref of, at;
    const char *name = dap_text(arguments, "name");
    int error = dap_find_ref(dap, arguments, &of, diag);
    if (!error && !name)
        error = zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET, "no name is given");
    at = of;
    error = error ? error : find_variable(dap, &at, name, &value, diag);
    error = error ? error : assign(dap, value, dap_text(arguments, "value"), diag);
    at = of; /* as it is now */
    error = error ? error : find_variable(dap, &at, name, &value, diag);
    if (!error)
        put_value(dap, body, "value", value, &at, at.expression);
    return error;
}

/* ---- expressions ---- */

static int evaluate(struct zs_dap *dap, const json_t *arguments, struct ref *ret_at,
                    struct zs_debug_value **ret_value, struct zs_diag *diag)
{
    const char *expression = dap_text(arguments, "expression");
    struct frame_ref frame;
    int error = dap_frame(dap, dap_int(arguments, "frameId", 0), &frame, diag);
    if (!error && !expression)
        error = zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET, "no expression is given");
    if (error)
        return error;
    *ret_at = (struct ref){.thread = frame.thread,
                           .lane = dap_lane_of(dap, frame.thread),
                           .frame = frame.frame,
                           .expression =
                               zs_arena_strndup(&dap->expressions, expression, strlen(expression))};
    return zs_debug_evaluate(dap->debug, ret_at->thread, ret_at->lane, ret_at->frame, expression,
                             ret_value, diag);
}

int handle_setExpression(struct zs_dap *dap, const json_t *arguments, struct zs_json *body,
                         struct zs_diag *diag)
{
    struct zs_debug_value *value;
    struct ref at;
    int error = evaluate(dap, arguments, &at, &value, diag);
    error = error ? error : assign(dap, value, dap_text(arguments, "value"), diag);
    error = error ? error : evaluate(dap, arguments, &at, &value, diag); /* as it is now */
    if (!error)
        put_value(dap, body, "value", value, &at, at.expression);
    return error;
}

int handle_evaluate(struct zs_dap *dap, const json_t *arguments, struct zs_json *body,
                    struct zs_diag *diag)
{
    const char *context = dap_text(arguments, "context");
    struct zs_debug_value *value;
    struct ref at;
    int error =
        context && !strcmp(context, "repl") ? dap_console(dap, arguments, body, diag) : -ENOENT;
    if (error != -ENOENT)
        return error;
    if (!dap->stopped)
        return zs_diag_set(diag, -EBUSY, ZS_DIAG_NO_OFFSET,
                           dap->live ? "the device runs: pause it first"
                                     : "the application has not been started, or has ended");
    error = evaluate(dap, arguments, &at, &value, diag);
    if (!error)
        put_value(dap, body, "result", value, &at, at.expression);
    return error;
}
