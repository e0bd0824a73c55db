/* SPDX-License-Identifier: MIT */
/* Tools by name: those of tools/, and users' shared libraries. */
#include "instrument/instrument.h"

#include "instrument/tools/tools.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define ZS_TOOL_SYMBOL "zescope_tool"

enum args { NOTHING, LINE_OR_VARIABLE /* or nothing: of all lines */, VARIABLE };

static const struct {
    const struct zs_tool *tool;
    enum args args;
} builtin[] = {
#define TOOL(name, args) {&zs_tool_##name, args},
#include "instrument/tools/tools.def"
#undef TOOL
};

const struct zs_tool *zs_tool_builtin(size_t index)
{
    return index < ZS_ARRAY_LEN(builtin) ? builtin[index].tool : NULL;
}

/* "kernel.cl:34" */
static bool is_line(const char *text)
{
    const char *colon = strrchr(text, ':');
    return colon && colon > text && colon[1] &&
           strspn(colon + 1, "0123456789") == strlen(colon + 1);
}

static int check_args(const char *name, enum args kind, const char *args, struct zs_diag *diag)
{
    const char *at = strchr(args, '@');
    bool line = is_line(args) && !at, variable = at && at > args && is_line(at + 1);
    if (kind == NOTHING)
        return !args[0] ? 0
                        : zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET,
                                      "%s takes nothing behind a colon: \"%s\"", name, args);
    if (variable || (kind == LINE_OR_VARIABLE && (line || !args[0])))
        return 0;
    return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET,
                       "%s: it was asked \"%s\"; write %s:NAME@kernel.cl:34 for a variable as "
                       "threads come to a line%s%s%s",
                       name, args, name, kind == VARIABLE ? "" : ", ", kind == VARIABLE ? "" : name,
                       kind == VARIABLE ? "" : ":kernel.cl:34 for what a line computes");
}

static int check(const struct zs_tool *tool, const char *name, struct zs_diag *diag)
{
    uint32_t keys = 0;
    bool ok = tool->size_B >= sizeof(*tool) && tool->name && tool->columns && tool->instrument &&
              tool->column_count && tool->column_count <= ZS_TOOL_COLUMNS_MAX;
    for (uint32_t i = 0; ok && i < tool->column_count; i++) {
        ok = tool->columns[i].name && tool->columns[i].kind <= ZS_TOOL_RATIO &&
             (tool->columns[i].kind != ZS_TOOL_KEY || keys == i);
        keys += tool->columns[i].kind == ZS_TOOL_KEY;
    }
    return ok ? 0
              : zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET,
                            "%s: its " ZS_TOOL_SYMBOL " is incomplete, or has a key behind numbers",
                            name);
}

static int open_library(const char *path, struct zs_tool_ref *ret, struct zs_diag *diag)
{
    ret->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!ret->library)
        return zs_diag_set(diag, -ENOENT, ZS_DIAG_NO_OFFSET, "%s", dlerror());
    ret->tool = dlsym(ret->library, ZS_TOOL_SYMBOL);
    if (!ret->tool)
        return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET, "%s has no " ZS_TOOL_SYMBOL, path);
    return check(ret->tool, path, diag);
}

int zs_tool_find(const char *text, struct zs_tool_ref *ret, struct zs_diag *diag)
{
    char name[ZS_TOOL_ARGS_MAX_B];
    *ret = (struct zs_tool_ref){0};
    const char *colon = strchr(text, ':');
    size_t length = colon ? (size_t)(colon - text) : strlen(text);
    if (length >= sizeof(name) || strlen(text) >= sizeof(ret->args))
        return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET, "the tool's name is too long");
    snprintf(name, sizeof(name), "%.*s", (int)length, text);
    snprintf(ret->args, sizeof(ret->args), "%s", colon ? colon + 1 : "");
    int error = 0;
    if (strchr(name, '/')) {
        error = open_library(name, ret, diag);
        if (error)
            zs_tool_drop(ret);
        return error;
    }
    for (size_t i = 0; i < ZS_ARRAY_LEN(builtin); i++) {
        if (strcmp(builtin[i].tool->name, name) != 0)
            continue;
        ret->tool = builtin[i].tool;
        return check_args(name, builtin[i].args, ret->args, diag);
    }
    return zs_diag_set(
        diag, -ENOENT, ZS_DIAG_NO_OFFSET,
        "'%s' is no tool: zescope instrument --list shows them; one of one's own is a "
        "path (./%s.so)",
        name, name);
}

void zs_tool_drop(struct zs_tool_ref *ref)
{
    if (ref->library)
        dlclose(ref->library);
    *ref = (struct zs_tool_ref){0};
}
