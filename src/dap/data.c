/* SPDX-License-Identifier: MIT */
/*
 * Going back, and data breakpoints: memory that is watched.
 *
 * The dataId of a variable is an expression and whose it is, "thread/lane/frame/expression". It is
 * evaluated when the breakpoint is set, so it is watched by its address; of private and local
 * memory, in that work-group and launch alone.
 */
#include "dap/dap_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- backwards ---- */

int handle_stepBack(struct zs_dap *dap, const json_t *arguments, struct zs_json *body,
                    struct zs_diag *diag)
{
    const char *granularity = dap_text(arguments, "granularity");
    bool instruction = granularity && !strcmp(granularity, "instruction");
    int error = dap_focus_thread(dap, arguments, "go back", diag);
    if (!error)
        error = zs_debug_reverse_step(
            dap->debug, instruction ? ZS_DEBUG_STEP_INST_NEXT : ZS_DEBUG_STEP_NEXT, diag);
    if (!error)
        dap_forget_stop(dap);
    return error;
}

int handle_reverseContinue(struct zs_dap *dap, const json_t *arguments, struct zs_json *body,
                           struct zs_diag *diag)
{
    int error = dap_focus_thread(dap, arguments, "go back", diag);
    if (!error)
        error = zs_debug_reverse_continue(dap->debug, diag);
    if (!error)
        dap_forget_stop(dap);
    return error;
}

/* ---- data breakpoints ---- */

static const struct {
    const char *name;
    uint32_t access;
} accesses[] = {
    {"write", ZS_DEBUG_WATCH_CHANGE},
    {"read", ZS_DEBUG_WATCH_READ},
    {"readWrite", ZS_DEBUG_WATCH_READ | ZS_DEBUG_WATCH_WRITE},
};

/* `asAddress`: a number of `bytes` at an address. */
static int address_expression(struct zs_dap *dap, const json_t *arguments, const char *name,
                              const char **ret_expression, struct zs_diag *diag)
{
    static const char *const types[] = {[1] = "uchar", [2] = "ushort", [4] = "uint", [8] = "ulong"};
    int64_t bytes = dap_int(arguments, "bytes", 4);
    uint64_t gpu_va;
    char text[64];
    if (!dap_parse_address(name, &gpu_va))
        return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET, "`%.64s` is no address", name);
    if (bytes < 0 || bytes >= (int64_t)ZS_ARRAY_LEN(types) || !types[bytes])
        return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET,
                           "1, 2, 4 or 8 bytes can be watched by an address");
    int length = snprintf(text, sizeof(text), "*(%s *)0x%" PRIx64, types[bytes], gpu_va);
    *ret_expression = zs_arena_strndup(&dap->expressions, text, (size_t)length);
    return *ret_expression ? 0 : -ENOMEM;
}

/* Whose and which; *ret_expression NULL: of no expression. */
static int find_data(struct zs_dap *dap, const json_t *arguments, struct ref *ret_at,
                     const char **ret_expression, struct zs_diag *diag)
{
    const char *name = dap_text(arguments, "name");
    struct frame_ref frame;
    *ret_expression = NULL;
    if (!name || !*name)
        return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET, "`name` names nothing");
    if (dap_int(arguments, "variablesReference", 0) && !dap_flag(arguments, "asAddress", false)) {
        int error = dap_find_ref(dap, arguments, ret_at, diag);
        if (!error && ret_at->kind == REF_LANE)
            *ret_expression = name;
        else if (!error && ret_at->kind == REF_VALUE)
            *ret_expression = dap_child_expression(dap, ret_at->expression, name);
        return error;
    }
    int error = dap_frame(dap, dap_int(arguments, "frameId", 0), &frame, diag);
    if (error)
        return error;
    *ret_at = (struct ref){
        .thread = frame.thread, .lane = dap_lane_of(dap, frame.thread), .frame = frame.frame};
    if (dap_flag(arguments, "asAddress", false))
        return address_expression(dap, arguments, name, ret_expression, diag);
    *ret_expression = name;
    return 0;
}

int handle_dataBreakpointInfo(struct zs_dap *dap, const json_t *arguments, struct zs_json *body,
                              struct zs_diag *diag)
{
    struct zs_debug_value *value;
    const char *expression;
    struct ref at;
    int error = find_data(dap, arguments, &at, &expression, diag);
    if (error)
        return error;
    if (!expression ||
        zs_debug_evaluate(dap->debug, at.thread, at.lane, at.frame, expression, &value, diag) ||
        !value->in_memory) {
        zs_json_null(body, "dataId");
        zs_json_string(body, "description",
                       "It is not in memory here: registers cannot be watched.");
        return 0;
    }
    struct zs_buf id = {0};
    zs_buf_printf(&id, "%u/%u/%u/%s", at.thread, at.lane, at.frame, expression);
    zs_json_string(body, "dataId", zs_buf_cstr(&id));
    zs_json_string(body, "description", expression);
    zs_json_array(body, "accessTypes");
    for (size_t i = 0; i < ZS_ARRAY_LEN(accesses); i++)
        zs_json_string(body, NULL, accesses[i].name);
    zs_json_end(body);
    zs_json_bool(body, "canPersist", false);
    zs_buf_fini(&id);
    return 0;
}

/* "access dataId", which is what breakpoints are told apart by. */
static char *locate_data(const json_t *given, struct zs_diag *why)
{
    const char *id = dap_text(given, "dataId"), *type = dap_text(given, "accessType");
    type = type ? type : "write";
    for (size_t i = 0; id && i < ZS_ARRAY_LEN(accesses); i++)
        if (!strcmp(type, accesses[i].name))
            return dap_print(why, "%u %s", accesses[i].access, id);
    zs_diag_set(why, -EINVAL, ZS_DIAG_NO_OFFSET, "there is no such data");
    return NULL;
}

int handle_setDataBreakpoints(struct zs_dap *dap, const json_t *arguments, struct zs_json *body,
                              struct zs_diag *diag)
{
    return dap_set_all(dap, BREAK_DATA, arguments, body, locate_data);
}
