/* SPDX-License-Identifier: MIT */
/* Types in full: structures with their members, enumerations, what pointers point to. */
#include "debugger/debugger_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

enum { MEMBERS_MAX = 256, DEPTH_MAX = 8, SEARCHED_MAX = 4096, INDENT = 4 };

static bool has_members(enum zs_type_kind kind)
{
    return kind == ZS_KIND_STRUCT || kind == ZS_KIND_UNION || kind == ZS_KIND_CLASS ||
           kind == ZS_KIND_ENUM;
}

static void put_body(const struct zs_dwarf *dwarf, uint32_t type, uint32_t depth,
                     struct zs_buf *out);

/* "float x[3]": of what has members and no name of its own, the members, too. */
static void put_named(const struct zs_dwarf *dwarf, uint32_t type, const char *name, uint32_t depth,
                      struct zs_buf *out)
{
    char text[512];
    struct zs_type t;
    if (depth < DEPTH_MAX && !zs_type_get(dwarf, type, &t) && has_members(t.kind) && !t.name[0]) {
        put_body(dwarf, type, depth, out);
        zs_buf_printf(out, " %s", name);
        return;
    }
    zs_type_print(dwarf, type, text, sizeof(text));
    char *dimensions = strchr(text, '[');
    if (dimensions && !strchr(dimensions, '*')) {
        size_t length = (size_t)(dimensions - text);
        zs_buf_printf(out, "%.*s %s%s", (int)length, text, name, dimensions);
    } else {
        size_t length = strlen(text);
        zs_buf_printf(out, "%s%s%s", text, length && text[length - 1] == '*' ? "" : " ", name);
    }
}

static void put_body(const struct zs_dwarf *dwarf, uint32_t type, uint32_t depth,
                     struct zs_buf *out)
{
    struct zs_type_member members[MEMBERS_MAX];
    struct zs_type t;
    if (zs_type_get(dwarf, type, &t))
        return;
    const char *word = t.kind == ZS_KIND_UNION   ? "union"
                       : t.kind == ZS_KIND_CLASS ? "class"
                       : t.kind == ZS_KIND_ENUM  ? "enum"
                                                 : "struct";
    size_t count = zs_type_members(dwarf, type, members, MEMBERS_MAX);
    zs_buf_printf(out, "%s %s%s{", word, t.name, t.name[0] ? " " : "");
    if (t.kind != ZS_KIND_ENUM)
        zs_buf_putc(out, '\n');
    for (size_t i = 0; i < count && i < MEMBERS_MAX; i++) {
        const struct zs_type_member *m = &members[i];
        if (t.kind == ZS_KIND_ENUM) {
            zs_buf_printf(out, "%s%s = %" PRId64, i ? ", " : "", m->name, m->value);
            continue;
        }
        zs_buf_printf(out, "%*s", (int)(depth + 1) * INDENT, "");
        put_named(dwarf, m->type, m->name, depth + 1, out);
        if (m->bit_size)
            zs_buf_printf(out, " : %u", m->bit_size);
        zs_buf_puts(out, ";\n");
    }
    if (count > MEMBERS_MAX)
        zs_buf_printf(out, "%*s...\n", (int)(depth + 1) * INDENT, "");
    zs_buf_printf(out, "%*s}", t.kind == ZS_KIND_ENUM ? 0 : (int)depth * INDENT, "");
}

/* Behind the type that pointers and arrays begin with: " *", "[4]". */
static void put_full(const struct zs_dwarf *dwarf, uint32_t type, struct zs_buf *out)
{
    char text[512];
    struct zs_type t;
    uint32_t inner = zs_type_strip(dwarf, type);
    for (uint32_t depth = 0;
         depth < DEPTH_MAX && !zs_type_get(dwarf, inner, &t) &&
         (t.kind == ZS_KIND_POINTER || t.kind == ZS_KIND_REFERENCE || t.kind == ZS_KIND_ARRAY);
         depth++)
        inner = zs_type_strip(dwarf, t.target);
    zs_type_print(dwarf, type, text, sizeof(text));
    if (zs_type_get(dwarf, inner, &t) || !has_members(t.kind)) {
        /* a typedef says what it stands for */
        if (t.kind != ZS_KIND_VECTOR) /* "float4" is its name */
            zs_type_print(dwarf, zs_type_strip(dwarf, type), text, sizeof(text));
        zs_buf_puts(out, text);
        return;
    }
    put_body(dwarf, inner, 0, out);
    const char *behind = strpbrk(text, "*[");
    if (behind)
        zs_buf_printf(out, "%s%s", *behind == '*' ? " " : "", behind);
}

/* ---- types by name ---- */

struct search {
    const struct zs_dwarf *dwarf;
    const char *name; /* "struct body", "body_t" */
    uint32_t seen[SEARCHED_MAX];
    uint32_t count, at;
};

static void add(struct search *s, uint32_t type)
{
    for (uint32_t i = 0; type && i < s->count; i++)
        if (s->seen[i] == type)
            return;
    if (type && s->count < SEARCHED_MAX)
        s->seen[s->count++] = type;
}

/* Among the types of variables and what they are made of. */
static uint32_t find_named(struct search *s)
{
    struct zs_type_member members[MEMBERS_MAX];
    char text[512];
    for (; s->at < s->count; s->at++) {
        struct zs_type t;
        uint32_t type = s->seen[s->at];
        if (zs_type_get(s->dwarf, type, &t))
            continue;
        zs_type_print(s->dwarf, type, text, sizeof(text));
        if (!strcmp(text, s->name))
            return type;
        add(s, t.target);
        if (!has_members(t.kind) || t.kind == ZS_KIND_ENUM)
            continue;
        size_t count = zs_type_members(s->dwarf, type, members, MEMBERS_MAX);
        for (size_t i = 0; i < count && i < MEMBERS_MAX; i++)
            add(s, members[i].type);
    }
    return 0;
}

static uint32_t type_of_name(const struct zs_dbg_context *c, const char *name,
                             const struct zs_dwarf **ret)
{
    const struct zs_dbg_kernel *k = c->frame ? c->frame->call->kernel : NULL;
    struct search *s = k && k->info ? ZS_ARENA_NEW(c->arena, struct search) : NULL;
    if (!s)
        return 0;
    *ret = s->dwarf = k->info->dwarf;
    s->name = name;
    for (uint32_t i = 0; i < k->info->variable_count; i++)
        add(s, k->info->variables[i].type);
    for (uint32_t i = 0; i < k->info->frame_count; i++)
        add(s, k->info->frames[i].return_type);
    return find_named(s);
}

int zs_debug_type(struct zs_debugger *d, uint32_t thread, uint32_t lane, uint32_t frame,
                  const char *what, const char **ret_text, struct zs_diag *diag)
{
    struct zs_dbg_context c;
    struct zs_dbg_value *v = NULL;
    const struct zs_dwarf *dwarf = NULL;
    struct zs_buf out = {0};
    int error = zs_dbg_context_make(d, thread, lane, frame, diag, &c);
    if (error)
        return error;
    uint32_t type = type_of_name(&c, what, &dwarf);
    if (!type)
        error = zs_dbg_evaluate(&c, what, &v);
    if (error)
        return error;
    if (v && v->dwarf && !v->picked_count && !v->dimension && !v->repeated) {
        dwarf = v->dwarf;
        type = v->type;
    }
    if (type)
        put_full(dwarf, type, &out);
    else
        zs_buf_puts(&out, v->shown.type[0] ? v->shown.type : "<no type is known>");
    const char *text = zs_buf_cstr(&out);
    *ret_text = zs_arena_strndup(c.arena, text, strlen(text));
    zs_buf_fini(&out);
    return *ret_text ? 0 : -ENOMEM;
}
