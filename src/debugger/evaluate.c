/* SPDX-License-Identifier: MIT */
/* C's expressions, by descent; precedences in a table. Registers as "$r12:f", "$r12.3:ud". */
#include "debugger/debugger_priv.h"

#include "base/number.h"
#include "dwarf/variables.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_ = 256, DEPTH_MAX = 64 };

struct parser {
    const struct zs_dbg_context *c;
    const char *at;
    uint32_t depth;
    uint32_t unwanted; /* in operands that C does not evaluate: they are only read over */
    bool assigns;      /* else what assigns is refused */
};

static int fail(struct parser *p, const char *what)
{
    return *p->at ? zs_diag_set(p->c->diag, -EINVAL, ZS_DIAG_NO_OFFSET, "%s at '%s'", what, p->at)
                  : zs_diag_set(p->c->diag, -EINVAL, ZS_DIAG_NO_OFFSET, "%s at the end", what);
}

static void skip(struct parser *p)
{
    while (isspace((unsigned char)*p->at))
        p->at++;
}

static bool take(struct parser *p, const char *token)
{
    skip(p);
    size_t length = strlen(token);
    if (strncmp(p->at, token, length) != 0)
        return false;
    p->at += length;
    return true;
}

static bool take_name(struct parser *p, char *ret)
{
    size_t n = 0;
    skip(p);
    if (!isalpha((unsigned char)*p->at) && *p->at != '_')
        return false;
    while ((isalnum((unsigned char)*p->at) || *p->at == '_') && n < NAME_MAX_ - 1)
        ret[n++] = *p->at++;
    ret[n] = '\0';
    return true;
}

/* ---- names ---- */

/* Innermost block first. */
static const struct zs_variable *find_variable(const struct zs_dbg_context *c, const char *name)
{
    const struct zs_dbg_frame *f = c->frame;
    if (!f || f->scope == ZS_NO_INDEX)
        return NULL;
    const struct zs_dwarf_kernel *info = f->call->kernel->info;
    const struct zs_variable *found = NULL;
    for (uint32_t scope = f->scope;
         !found && scope != ZS_NO_INDEX && info->scopes[scope].frame == f->dwarf_frame;
         scope = info->scopes[scope].parent)
        found = zs_scope_variable(info, scope, name);
    return found;
}

int zs_debug_variables(struct zs_debugger *d, uint32_t thread, uint32_t lane, uint32_t frame,
                       struct zs_debug_value ***ret_values, uint32_t *ret_count,
                       struct zs_diag *diag)
{
    struct zs_dbg_context c;
    *ret_count = 0;
    *ret_values = NULL;
    int error = zs_dbg_context_make(d, thread, lane, frame, diag, &c);
    if (error || !c.frame || c.frame->scope == ZS_NO_INDEX)
        return error;
    const struct zs_dwarf_kernel *info = c.frame->call->kernel->info;
    struct zs_debug_value **values =
        ZS_ARENA_ARRAY(c.arena, info->variable_count + 1u, struct zs_debug_value *);
    if (!values)
        return -ENOMEM;
    for (uint32_t scope = c.frame->scope;
         scope != ZS_NO_INDEX && info->scopes[scope].frame == c.frame->dwarf_frame;
         scope = info->scopes[scope].parent)
        for (uint32_t i = 0; i < info->variable_count; i++) {
            struct zs_dbg_value *v;
            if (info->variables[i].scope != scope || !info->variables[i].name[0] ||
                info->variables[i].artificial)
                continue;
            if (zs_dbg_variable_value(&c, &info->variables[i], &v))
                return -ENOMEM;
            values[(*ret_count)++] = &v->shown;
        }
    *ret_values = values;
    return 0;
}

/* ---- ids, registers, values that were printed ---- */

static int unsigned_value(struct parser *p, const char *name, uint64_t number,
                          struct zs_dbg_value **ret)
{
    return zs_dbg_value_of_number(
        p->c, name, (struct zs_dbg_number){.kind = ZS_DBG_UNSIGNED, .u = number}, 8, "ulong", ret);
}

/* "lid0", "gid2": as the driver tells it, or by the variable that compilers may keep for it. */
static int item_id(struct parser *p, const char *name, struct zs_dbg_value **ret)
{
    const struct zs_dbg_context *c = p->c;
    const struct zs_history_items *items = zs_dbg_items(c->d, c->thread);
    uint32_t i = (uint32_t)(name[3] - '0');
    char text[96];
    if (items && c->lane < ZS_HISTORY_LANES_MAX && items->lanes >> c->lane & 1) {
        uint64_t id = items->local_id[c->lane][i];
        if (name[0] == 'g')
            id += (uint64_t)items->group[i] * items->group_size[i] + items->global_offset[i];
        snprintf(text, sizeof(text), "$%s", name);
        return unsigned_value(p, text, id, ret);
    }
    snprintf(text, sizeof(text), "__ocl_dbg_%s", name);
    const struct zs_variable *v = find_variable(c, text);
    return v ? zs_dbg_variable_value(c, v, ret)
             : zs_diag_set(c->diag, -ENODATA, ZS_DIAG_NO_OFFSET,
                           "$%s: not available: neither the driver nor the compiler tells it",
                           name);
}

/* In place of what is not evaluated. */
static int nothing(struct parser *p, struct zs_dbg_value **ret)
{
    return zs_dbg_value_of_number(p->c, "", (struct zs_dbg_number){.kind = ZS_DBG_SIGNED}, 4, "int",
                                  ret);
}

/* No registers: a colon behind one of these is that of a condition. */
static bool has_no_type(const char *name)
{
    static const char *const names[] = {"lane",   "thread", "ip",   "pc",   "group0",
                                        "group1", "group2", "lid0", "lid1", "lid2",
                                        "gid0",   "gid1",   "gid2"};
    for (size_t i = 0; i < ZS_ARRAY_LEN(names); i++)
        if (!strcmp(names[i], name))
            return true;
    return false;
}

/* "lane", "r12", "r12.3:ud": a type begins with a letter, and there is one at most. */
static void take_dollar_name(struct parser *p, char *ret, size_t size_B)
{
    size_t n = 0;
    bool has_type = false;
    for (; n < size_B - 1; p->at++) {
        ret[n] = '\0';
        bool is_typed =
            *p->at == ':' && isalpha((unsigned char)p->at[1]) && !has_type && !has_no_type(ret);
        bool is_part = *p->at == '.' && isalnum((unsigned char)p->at[1]);
        if (!isalnum((unsigned char)*p->at) && *p->at != '_' && !is_typed && !is_part)
            break;
        has_type |= is_typed;
        ret[n++] = *p->at;
    }
    ret[n] = '\0';
}

/* The value of that number, or so many before the last one. */
static int kept_value(const struct zs_dbg_context *c, bool from_last, uint64_t number,
                      struct zs_dbg_value **ret)
{
    size_t count = c->d->kept.count;
    if (!count)
        return zs_diag_set(c->diag, -ENOENT, ZS_DIAG_NO_OFFSET,
                           "no value has been printed yet: print EXPRESSION makes $1");
    if (from_last ? number >= count : !number || number > count)
        return zs_diag_set(c->diag, -ENOENT, ZS_DIAG_NO_OFFSET,
                           "there is no such value: those that were printed are $1 to $%zu", count);
    *ret = zs_dbg_value_new(c, "");
    if (!*ret)
        return -ENOMEM;
    **ret = *c->d->kept.items[from_last ? count - 1 - number : number - 1];
    (*ret)->context = *c;
    if ((*ret)->target)
        (*ret)->target->context = *c;
    return 0;
}

/* "$", "$$", "$3", "$$2" behind the first $. */
static int kept(struct parser *p, struct zs_dbg_value **ret)
{
    uint64_t number = *p->at == '$';
    bool from_last = number || !isdigit((unsigned char)*p->at);
    p->at += number;
    if (isdigit((unsigned char)*p->at)) {
        char *end;
        errno = 0;
        number = strtoull(p->at, &end, 10);
        if (errno)
            return fail(p, "a number that is too large");
        p->at = end;
    }
    return p->unwanted ? nothing(p, ret) : kept_value(p->c, from_last, number, ret);
}

static int dollar(struct parser *p, struct zs_dbg_value **ret)
{
    char name[64];
    const struct zs_dbg_context *c = p->c;
    if (*p->at == '$' || !(isalnum((unsigned char)*p->at) || *p->at == '_') ||
        isdigit((unsigned char)*p->at))
        return kept(p, ret);
    take_dollar_name(p, name, sizeof(name));
    if (p->unwanted)
        return nothing(p, ret);
    if (!strcmp(name, "lane"))
        return unsigned_value(p, "$lane", c->lane, ret);
    if (!strcmp(name, "thread"))
        return unsigned_value(p, "$thread", c->thread->shown.id, ret);
    if (!strcmp(name, "ip") || !strcmp(name, "pc")) {
        int error = unsigned_value(p, "$ip", c->thread->shown.gpu_va, ret);
        if (!error)
            (*ret)->is_ip = (*ret)->shown.writable = true;
        return error;
    }
    if (!strncmp(name, "group", 5) && name[5] >= '0' && name[5] <= '2' && !name[6]) {
        const struct zs_history_items *items = zs_dbg_items(c->d, c->thread);
        if (items)
            return unsigned_value(p, name, items->group[name[5] - '0'], ret);
        if (!c->thread->shown.group_known)
            return zs_diag_set(c->diag, -ENODATA, ZS_DIAG_NO_OFFSET,
                               "$%s: not available: the kernel has overwritten it", name);
        return unsigned_value(p, name, c->thread->shown.group[name[5] - '0'], ret);
    }
    if ((!strncmp(name, "lid", 3) || !strncmp(name, "gid", 3)) && name[3] >= '0' &&
        name[3] <= '2' && !name[4])
        return item_id(p, name, ret);
    return zs_dbg_register_value(c, name, ret);
}

/* ---- expressions ---- */

static int parse(struct parser *p, uint32_t level, struct zs_dbg_value **ret);
static int unary(struct parser *p, struct zs_dbg_value **ret);
static int apply(struct parser *p, enum zs_dbg_binary op, struct zs_dbg_value *left,
                 struct zs_dbg_value *right, struct zs_dbg_value **ret);

/* What is cast to: those of OpenCL C, each signed one in front of the unsigned one. */
static const struct zs_dbg_plain number_types[] = {
    {"char", 1, ZS_DBG_SIGNED},     {"uchar", 1, ZS_DBG_UNSIGNED}, {"short", 2, ZS_DBG_SIGNED},
    {"ushort", 2, ZS_DBG_UNSIGNED}, {"int", 4, ZS_DBG_SIGNED},     {"uint", 4, ZS_DBG_UNSIGNED},
    {"long", 8, ZS_DBG_SIGNED},     {"ulong", 8, ZS_DBG_UNSIGNED}, {"ptrdiff_t", 8, ZS_DBG_SIGNED},
    {"size_t", 8, ZS_DBG_UNSIGNED}, {"float", 4, ZS_DBG_FLOAT},    {"double", 8, ZS_DBG_FLOAT},
};

static int of_type(struct parser *p, struct zs_dbg_number n, const struct zs_dbg_plain *type,
                   struct zs_dbg_value **ret)
{
    return zs_dbg_value_of_number(p->c, "", zs_dbg_convert(n, type), type->size_B, type->name, ret);
}

static int number_literal(struct parser *p, struct zs_dbg_value **ret)
{
    char *end;
    errno = 0;
    unsigned long long u = strtoull(p->at, &end, 0);
    bool hex = p->at[0] == '0' && (p->at[1] == 'x' || p->at[1] == 'X');
    if (!hex && (*end == '.' || *end == 'e' || *end == 'E')) {
        double f = zs_number_parse(p->at, &end);
        p->at = end;
        bool single = *p->at == 'f' || *p->at == 'F';
        p->at += single;
        return zs_dbg_value_of_number(p->c, "",
                                      (struct zs_dbg_number){.kind = ZS_DBG_FLOAT, .f = f},
                                      single ? 4 : 8, single ? "float" : "double", ret);
    }
    if (errno)
        return fail(p, "a number that is too large");
    p->at = end;
    bool wide = false, is_unsigned = false;
    for (; *p->at && strchr("uUlL", *p->at); p->at++) {
        is_unsigned |= *p->at == 'u' || *p->at == 'U';
        wide |= *p->at == 'l' || *p->at == 'L';
    }
    if (isalnum((unsigned char)*p->at) || *p->at == '_')
        return fail(p, "no number");
    /* the first type that has it; of decimal ones without an u those with a sign */
    wide |= u > UINT32_MAX || (u > INT32_MAX && !hex && !is_unsigned);
    is_unsigned |= u > (wide ? (uint64_t)INT64_MAX : INT32_MAX);
    const struct zs_dbg_plain *type =
        zs_dbg_number_type(is_unsigned ? ZS_DBG_UNSIGNED : ZS_DBG_SIGNED, wide);
    return of_type(p, (struct zs_dbg_number){.kind = type->kind, .u = u}, type, ret);
}

/* 'a', '\n', '\x41', '\101': an int, as in C. */
static int character(struct parser *p, struct zs_dbg_value **ret)
{
    static const char names[] = "abfnrtv0\\'\"?", values[] = "\a\b\f\n\r\t\v\0\\'\"?";
    const char *begin = p->at;
    unsigned long value = (unsigned char)*p->at;
    if (value == '\\') {
        const char *name = *++p->at ? strchr(names, *p->at) : NULL;
        bool is_hex = *p->at == 'x', is_octal = *p->at >= '0' && *p->at <= '7';
        char digits[4] = "", *end;
        for (unsigned i = 0; is_octal && i < 3 && p->at[i] >= '0' && p->at[i] <= '7'; i++)
            digits[i] = p->at[i];
        if (is_hex)
            value = strtoul(p->at + 1, &end, 16);
        else if (is_octal)
            value = strtoul(digits, &end, 8);
        else
            value = name ? (unsigned char)values[name - names] : UINT32_MAX;
        if (is_hex)
            p->at = end;
        else
            p->at += is_octal ? strlen(digits) : *p->at != '\0';
    } else if (value && value != '\'') {
        p->at++;
    }
    if (p->at == begin || value > 255 || *p->at != '\'') {
        p->at = begin - 1;
        return fail(p, "no character");
    }
    p->at++;
    const struct zs_dbg_number n = {.kind = ZS_DBG_SIGNED, .i = (signed char)value};
    return of_type(p, n, zs_dbg_number_type(ZS_DBG_SIGNED, false), ret);
}

/* ---- casts ---- */

/* "(int)", "(unsigned char)", "(uint *)": behind it, with the number's type; NULL: it is no cast.
 */
static const struct zs_dbg_plain *take_cast(struct parser *p, bool *ret_pointer)
{
    static const char *const signs[] = {"unsigned", "signed"};
    const char *begin = p->at;
    char name[NAME_MAX_];
    const struct zs_dbg_plain *found = NULL;
    int sign = -1;
    if (!take(p, "("))
        return NULL;
    bool named = take_name(p, name);
    for (int i = 0; named && i < 2 && sign < 0; i++)
        if (!strcmp(name, signs[i])) {
            sign = i;
            if (!take_name(p, name))
                snprintf(name, sizeof(name), "int");
        }
    for (size_t i = 0; named && i < ZS_ARRAY_LEN(number_types); i++)
        if (!strcmp(number_types[i].name, name))
            found = &number_types[i];
    if (found && sign == 0 && found->kind == ZS_DBG_SIGNED)
        found++; /* the unsigned one is behind it */
    *ret_pointer = found && take(p, "*");
    if (found && (!take(p, ")") || (sign >= 0 && found->kind == ZS_DBG_FLOAT)))
        found = NULL;
    if (!found)
        p->at = begin;
    return found;
}

/* An address of such numbers. */
static int make_pointer(struct parser *p, struct zs_dbg_number n, const struct zs_dbg_plain *to,
                        struct zs_dbg_value **ret)
{
    char type[32], text[32];
    if (n.kind == ZS_DBG_FLOAT)
        return fail(p, "a float is no address");
    int type_length = snprintf(type, sizeof(type), "%s *", to->name);
    int text_length = snprintf(text, sizeof(text), "%#" PRIx64, n.u);
    int error = unsigned_value(p, "", n.u, ret);
    if (error)
        return error;
    (*ret)->plain = *to;
    (*ret)->shown.type = zs_arena_strndup(p->c->arena, type, (size_t)type_length);
    (*ret)->shown.text = zs_arena_strndup(p->c->arena, text, (size_t)text_length);
    return (*ret)->shown.type && (*ret)->shown.text ? 0 : -ENOMEM;
}

static int cast(struct parser *p, const struct zs_dbg_plain *to, bool pointer,
                struct zs_dbg_value **ret)
{
    struct zs_dbg_number n;
    if (++p->depth > DEPTH_MAX)
        return fail(p, "too deep");
    int error = unary(p, ret);
    p->depth--;
    if (p->unwanted)
        return error;
    error = error ? error : zs_dbg_value_number(*ret, &n);
    if (!error && pointer)
        return make_pointer(p, n, to, ret);
    return error
               ? error
               : zs_dbg_value_of_number(p->c, "", zs_dbg_convert(n, to), to->size_B, to->name, ret);
}

static int size_of(struct parser *p, struct zs_dbg_value **ret)
{
    bool pointer;
    const struct zs_dbg_plain *type = take_cast(p, &pointer);
    if (type)
        return unsigned_value(p, "sizeof", pointer ? sizeof(uint64_t) : type->size_B, ret);
    int error = unary(p, ret);
    if (error)
        return error;
    uint64_t size_B = (*ret)->shown.size_B;
    if ((*ret)->picked_count == 3) /* a float3 takes the place of a float4 */
        size_B += size_B / 3;
    return unsigned_value(p, "sizeof", size_B, ret);
}

static int primary(struct parser *p, struct zs_dbg_value **ret)
{
    char name[NAME_MAX_];
    bool pointer;
    const struct zs_dbg_plain *type = take_cast(p, &pointer);
    if (type)
        return cast(p, type, pointer, ret);
    if (take(p, "(")) {
        int error = parse(p, 0, ret);
        return error ? error : take(p, ")") ? 0 : fail(p, "')' is missing");
    }
    if (take(p, "$"))
        return dollar(p, ret);
    if (take(p, "'"))
        return character(p, ret);
    skip(p);
    if (isdigit((unsigned char)*p->at) || (*p->at == '.' && isdigit((unsigned char)p->at[1])))
        return number_literal(p, ret);
    if (!take_name(p, name))
        return fail(p, "an expression was expected");
    const struct zs_variable *v = find_variable(p->c, name);
    if (v)
        return p->unwanted ? nothing(p, ret) : zs_dbg_variable_value(p->c, v, ret);
    if (!strcmp(name, "sizeof"))
        return size_of(p, ret);
    if (take(p, "("))
        return zs_diag_set(p->c->diag, -ENOTSUP, ZS_DIAG_NO_OFFSET,
                           "%s(...): functions cannot be called", name);
    return zs_diag_set(p->c->diag, -ENOENT, ZS_DIAG_NO_OFFSET,
                       p->c->frame && p->c->frame->scope != ZS_NO_INDEX
                           ? "no variable %s is visible here"
                           : "%s: there is no debug info here (build the module with -g)",
                       name);
}

static int index_of(struct parser *p, int64_t *ret)
{
    struct zs_dbg_value *v;
    struct zs_dbg_number n;
    int error = parse(p, 0, &v);
    if (!error)
        error = take(p, "]") ? zs_dbg_value_number(v, &n) : fail(p, "']' is missing");
    if (!error && n.kind == ZS_DBG_FLOAT)
        error = fail(p, "an index is no float");
    *ret = error ? 0 : n.i;
    return error;
}

static void rename_part(struct zs_dbg_value *v, const char *from, const char *to)
{
    char name[NAME_MAX_];
    size_t length = ZS_MIN((size_t)(to - from), sizeof(name) - 1);
    memcpy(name, from, length);
    name[length] = '\0';
    const char *copy = zs_arena_strndup(v->context.arena, name, length);
    v->shown.name = copy ? copy : v->shown.name;
}

/* ---- assignments ---- */

static bool take_twice(struct parser *p, char c)
{
    skip(p);
    bool found = p->at[0] == c && p->at[1] == c;
    p->at += found ? 2 : 0;
    return found;
}

/* *ret: what was set, as it is now. */
static int assign(struct parser *p, struct zs_dbg_value *to, struct zs_dbg_value *value,
                  struct zs_dbg_value **ret)
{
    struct zs_dbg_number n;
    if (!p->assigns)
        return zs_diag_set(p->c->diag, -EPERM, ZS_DIAG_NO_OFFSET,
                           "nothing is assigned here ('==' compares): print and set do that");
    if (!to->shown.name[0])
        return fail(p, "what is assigned to is no variable, element or register,");
    int error = zs_dbg_value_number(value, &n);
    error = error ? error : zs_dbg_value_store(to, n);
    return error ? error : zs_dbg_value_again(to, ret);
}

/* "++x": *ret is what it becomes; "x++": what it was. */
static int by_one(struct parser *p, struct zs_dbg_value *v, enum zs_dbg_binary op, bool in_front,
                  struct zs_dbg_value **ret)
{
    struct zs_dbg_value *one, *sum, *before = ZS_ARENA_NEW(p->c->arena, struct zs_dbg_value);
    if (p->unwanted)
        return 0;
    if (!before)
        return -ENOMEM;
    *before = *v;
    before->shown.writable = false;
    int error = of_type(p, (struct zs_dbg_number){.kind = ZS_DBG_SIGNED, .i = 1},
                        zs_dbg_number_type(ZS_DBG_SIGNED, false), &one);
    error = error ? error : apply(p, op, v, one, &sum);
    error = error ? error : assign(p, v, sum, ret);
    if (!error && !in_front)
        *ret = before;
    return error;
}

/* Behind what may be set: "= 5", "+= 2". */
static int assignment(struct parser *p, struct zs_dbg_value **ret)
{
    static const struct {
        const char *text;
        enum zs_dbg_binary op;
    } operators[] = {{"<<=", ZS_DBG_SHL}, {">>=", ZS_DBG_SHR}, {"+=", ZS_DBG_ADD},
                     {"-=", ZS_DBG_SUB},  {"*=", ZS_DBG_MUL},  {"/=", ZS_DBG_DIV},
                     {"%=", ZS_DBG_MOD},  {"&=", ZS_DBG_BAND}, {"|=", ZS_DBG_BOR},
                     {"^=", ZS_DBG_XOR}};
    struct zs_dbg_value *value = NULL, *to = *ret;
    size_t i = 0;
    skip(p);
    while (i < ZS_ARRAY_LEN(operators) &&
           strncmp(p->at, operators[i].text, strlen(operators[i].text)) != 0)
        i++;
    bool plain = p->at[0] == '=' && p->at[1] != '=';
    if (i == ZS_ARRAY_LEN(operators) && !plain)
        return 0;
    p->at += plain ? 1 : strlen(operators[i].text);
    int error = parse(p, 0, &value);
    if (error || p->unwanted)
        return error;
    if (!plain)
        error = apply(p, operators[i].op, to, value, &value);
    return error ? error : assign(p, to, value, ret);
}

static int postfix(struct parser *p, struct zs_dbg_value **ret)
{
    skip(p);
    const char *begin = p->at;
    int error = primary(p, ret);
    char name[NAME_MAX_];
    while (!error) {
        int64_t index;
        bool arrow = false;
        if (take(p, "[")) {
            error = index_of(p, &index);
            if (!error && !p->unwanted)
                error = zs_dbg_value_element(*ret, index, ret);
        } else if (take(p, ".") || (arrow = take(p, "->"))) {
            if (arrow && !p->unwanted)
                error = zs_dbg_value_pointee(*ret, 0, ret);
            if (!error && !take_name(p, name))
                error = fail(p, "a member was expected");
            if (!error && !p->unwanted)
                error = zs_dbg_value_member(*ret, name, ret);
        } else if (take_twice(p, '+')) {
            error = by_one(p, *ret, ZS_DBG_ADD, false, ret);
        } else if (take_twice(p, '-')) {
            error = by_one(p, *ret, ZS_DBG_SUB, false, ret);
        } else {
            break;
        }
        if (!error)
            rename_part(*ret, begin, p->at);
    }
    return error;
}

static int address_of(struct parser *p, struct zs_dbg_value **ret)
{
    char text[320];
    struct zs_dbg_value *target = *ret;
    const struct zs_debug_value *of = &target->shown;
    if (target->picked_count) /* as in OpenCL C */
        return zs_diag_set(p->c->diag, -EINVAL, ZS_DIAG_NO_OFFSET,
                           "%s: elements that were chosen have no address", of->name);
    if (!of->in_memory)
        return zs_diag_set(p->c->diag, -EINVAL, ZS_DIAG_NO_OFFSET,
                           "%s is not in memory: it has no address", of->name);
    snprintf(text, sizeof(text), "%.250s *", of->type);
    const char *type = zs_arena_strndup(p->c->arena, text, strlen(text));
    int n = snprintf(text, sizeof(text), "%#" PRIx64, of->gpu_va);
    const char *shown = zs_arena_strndup(p->c->arena, text, (size_t)n);
    int error = type && shown ? unsigned_value(p, "&", of->gpu_va, ret) : -ENOMEM;
    if (!error) {
        (*ret)->shown.type = type;
        (*ret)->shown.text = shown;
        (*ret)->target = target;
    }
    return error;
}

static int unary(struct parser *p, struct zs_dbg_value **ret)
{
    static const char operators[] = "-!~*&+";
    struct zs_dbg_number n;
    skip(p);
    const char *begin = p->at, *found = *p->at ? strchr(operators, *p->at) : NULL;
    if (!found)
        return postfix(p, ret);
    if (++p->depth > DEPTH_MAX)
        return fail(p, "too deep");
    bool twice = take_twice(p, '+') || take_twice(p, '-');
    p->at += !twice;
    int error = unary(p, ret);
    p->depth--;
    if (twice && !error)
        return by_one(p, *ret, *found == '+' ? ZS_DBG_ADD : ZS_DBG_SUB, true, ret);
    if (error || p->unwanted)
        return error;
    if (*found == '*') {
        error = zs_dbg_value_pointee(*ret, 0, ret);
        if (!error && !(*ret)->dwarf)
            rename_part(*ret, begin, p->at);
        return error;
    }
    if (*found == '&')
        return address_of(p, ret);
    error = zs_dbg_value_number(*ret, &n);
    if (error)
        return error;
    const struct zs_dbg_plain *type = zs_dbg_promoted(*ret, &n);
    if (*found == '~' && n.kind == ZS_DBG_FLOAT)
        return fail(p, "'~' of a float");
    if (*found == '!') {
        n = (struct zs_dbg_number){.kind = ZS_DBG_SIGNED,
                                   .i = n.kind == ZS_DBG_FLOAT ? n.f == 0.0 : n.u == 0};
        type = zs_dbg_number_type(ZS_DBG_SIGNED, false);
    } else if (*found == '-' && n.kind == ZS_DBG_FLOAT) {
        n.f = -n.f;
    } else if (*found == '-') {
        n.u = 0 - n.u;
    } else if (*found == '~') {
        n.u = ~n.u;
    }
    return of_type(p, n, type, ret);
}

/* longer ones first */
static const struct {
    const char *text;
    enum zs_dbg_binary op;
    uint32_t level;
} binaries[] = {
    {"||", ZS_DBG_OR, 1},  {"&&", ZS_DBG_AND, 2},   {"==", ZS_DBG_EQ, 6},  {"!=", ZS_DBG_NE, 6},
    {"<=", ZS_DBG_LE, 7},  {">=", ZS_DBG_GE, 7},    {"<<", ZS_DBG_SHL, 8}, {">>", ZS_DBG_SHR, 8},
    {"|", ZS_DBG_BOR, 3},  {"^", ZS_DBG_XOR, 4},    {"&", ZS_DBG_BAND, 5}, {"<", ZS_DBG_LT, 7},
    {">", ZS_DBG_GT, 7},   {"@", ZS_DBG_REPEAT, 9}, {"+", ZS_DBG_ADD, 10}, {"-", ZS_DBG_SUB, 10},
    {"*", ZS_DBG_MUL, 11}, {"/", ZS_DBG_DIV, 11},   {"%", ZS_DBG_MOD, 11},
};

/* Pointers count in what they point to: p + n is &p[n]. False: it is nothing of the kind. */
static bool point(struct parser *p, enum zs_dbg_binary op, struct zs_dbg_value *left,
                  struct zs_dbg_value *right, struct zs_dbg_value **ret, int *ret_error)
{
    struct zs_dbg_number a, b;
    uint64_t left_B = zs_dbg_value_pointee_B(left), right_B = zs_dbg_value_pointee_B(right);
    if (left_B > INT64_MAX || right_B > INT64_MAX) /* sizes that nothing has */
        return false;
    if ((op != ZS_DBG_ADD && op != ZS_DBG_SUB) || (!left_B && !right_B) ||
        (op == ZS_DBG_ADD && left_B && right_B))
        return false;
    *ret_error = zs_dbg_value_number(left, &a);
    *ret_error = *ret_error ? *ret_error : zs_dbg_value_number(right, &b);
    if (*ret_error)
        return true;
    if (left_B && right_B) {
        a = (struct zs_dbg_number){.kind = ZS_DBG_SIGNED,
                                   .i = (int64_t)(a.u - b.u) / (int64_t)left_B};
        *ret_error = of_type(p, a, zs_dbg_number_type(ZS_DBG_SIGNED, true), ret);
        return true;
    }
    if ((!left_B && op == ZS_DBG_SUB) || (left_B ? b.kind : a.kind) == ZS_DBG_FLOAT) {
        *ret_error = fail(p, "no operation of pointers");
        return true;
    }
    int64_t index = left_B ? b.i : a.i;
    index = op == ZS_DBG_SUB ? (int64_t)(0 - (uint64_t)index) : index;
    *ret_error = zs_dbg_value_pointee(left_B ? left : right, index, ret);
    *ret_error = *ret_error ? *ret_error : address_of(p, ret);
    return true;
}

static int apply(struct parser *p, enum zs_dbg_binary op, struct zs_dbg_value *left,
                 struct zs_dbg_value *right, struct zs_dbg_value **ret)
{
    struct zs_dbg_number a, b, result;
    int error;
    if (op == ZS_DBG_REPEAT) {
        error = zs_dbg_value_number(right, &b);
        if (!error && b.kind == ZS_DBG_FLOAT)
            return fail(p, "a float behind '@'");
        return error ? error : zs_dbg_value_repeat(left, b.i, ret);
    }
    if (point(p, op, left, right, ret, &error))
        return error;
    error = zs_dbg_value_number(left, &a);
    error = error ? error : zs_dbg_value_number(right, &b);
    if (error)
        return error;
    bool shifts = op == ZS_DBG_SHL || op == ZS_DBG_SHR,
         tells = op <= ZS_DBG_AND || (op >= ZS_DBG_EQ && op <= ZS_DBG_GT);
    tells &= !shifts;
    const struct zs_dbg_plain *type = zs_dbg_promoted(left, &a);
    if (!shifts)
        type = zs_dbg_common_type(type, zs_dbg_promoted(right, &b));
    a = zs_dbg_convert(a, type);
    if (shifts) /* as OpenCL C has it */
        b.u &= type->size_B * 8 - 1;
    else
        b = zs_dbg_convert(b, type);
    bool ok = zs_dbg_compute(op, type, a, b, &result);
    return ok ? of_type(p, result, tells ? zs_dbg_number_type(ZS_DBG_SIGNED, false) : type, ret)
              : fail(p, "a division by zero, or no operation of floats");
}

static int is_true(struct zs_dbg_value *v, bool *ret)
{
    struct zs_dbg_number n;
    int error = zs_dbg_value_number(v, &n);
    *ret = !error && (n.kind == ZS_DBG_FLOAT ? n.f != 0.0 : n.u != 0);
    return error;
}

/* The operand behind an operator. What stands in front of "&&" and "||" may decide alone. */
static int right_of(struct parser *p, size_t i, struct zs_dbg_value **ret)
{
    enum zs_dbg_binary op = binaries[i].op;
    struct zs_dbg_value *left = *ret, *right = NULL;
    bool truth, decided = false;
    int error = 0;
    if (op <= ZS_DBG_AND && !p->unwanted) {
        error = is_true(left, &truth);
        decided = truth == (op == ZS_DBG_OR);
    }
    p->unwanted += decided;
    error = error ? error : parse(p, binaries[i].level + 1, &right);
    p->unwanted -= decided;
    if (error || p->unwanted)
        return error;
    if (!decided)
        return apply(p, op, left, right, ret);
    return of_type(p, (struct zs_dbg_number){.kind = ZS_DBG_SIGNED, .i = truth},
                   zs_dbg_number_type(ZS_DBG_SIGNED, false), ret);
}

/* One of the two of a choice. The other one is asked for its type; *ret NULL: it has none here. */
static int either(struct parser *p, bool chosen, struct zs_dbg_value **ret)
{
    struct zs_diag diag;
    struct zs_dbg_context own = *p->c;
    struct parser other = *p;
    if (chosen || p->unwanted)
        return parse(p, 0, ret);
    zs_diag_clear(&diag);
    own.diag = &diag;
    other.c = &own;
    other.assigns = false;
    if (!parse(&other, 0, ret)) {
        p->at = other.at;
        return 0;
    }
    p->unwanted++;
    int error = parse(p, 0, ret);
    p->unwanted--;
    *ret = NULL;
    return error;
}

/* Behind "CONDITION ?". Numbers become what both are converted to. */
static int choice(struct parser *p, struct zs_dbg_value **ret)
{
    struct zs_dbg_value *values[2] = {NULL, NULL};
    struct zs_dbg_number numbers[2];
    bool truth = true;
    int error = p->unwanted ? 0 : is_true(*ret, &truth);
    error = error ? error : either(p, truth, &values[0]);
    if (!error && !take(p, ":"))
        error = fail(p, "':' is missing");
    error = error ? error : either(p, !truth, &values[1]);
    if (error || p->unwanted)
        return error;
    struct zs_dbg_value *chosen = values[!truth], *other = values[truth];
    *ret = chosen;
    if (!other || chosen->scalar == ZS_DBG_NOT_SCALAR || other->scalar == ZS_DBG_NOT_SCALAR ||
        zs_dbg_value_pointee_B(chosen) || zs_dbg_value_pointee_B(other) ||
        zs_dbg_value_number(chosen, &numbers[0]) || !other->data)
        return 0;
    numbers[1].kind = other->scalar;
    return of_type(p, numbers[0],
                   zs_dbg_common_type(zs_dbg_promoted(chosen, &numbers[0]),
                                      zs_dbg_promoted(other, &numbers[1])),
                   ret);
}

static int parse(struct parser *p, uint32_t level, struct zs_dbg_value **ret)
{
    if (++p->depth > DEPTH_MAX)
        return fail(p, "too deep");
    int error = unary(p, ret);
    if (!error && level == 0)
        error = assignment(p, ret);
    while (!error) {
        size_t i = 0;
        skip(p);
        for (; i < ZS_ARRAY_LEN(binaries); i++)
            if (!strncmp(p->at, binaries[i].text, strlen(binaries[i].text)))
                break;
        if (i == ZS_ARRAY_LEN(binaries) || binaries[i].level < level)
            break;
        p->at += strlen(binaries[i].text);
        error = right_of(p, i, ret);
    }
    if (!error && level == 0 && take(p, "?"))
        error = choice(p, ret);
    p->depth--;
    return error;
}

int zs_dbg_context_make(struct zs_debugger *d, uint32_t thread, uint32_t lane, uint32_t frame,
                        struct zs_diag *diag, struct zs_dbg_context *ret)
{
    struct zs_dbg_frame *frames;
    *ret = (struct zs_dbg_context){
        .d = d, .lane = lane, .frame_index = frame, .arena = &d->values, .diag = diag};
    int error = zs_dbg_need_thread(d, thread, &ret->thread, diag);
    if (error)
        return error;
    int count = zs_dbg_frames(d, ret->thread, &d->values, &frames, diag);
    if (count < 0)
        return count;
    if (frame >= (uint32_t)count)
        return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET, "there is no frame %u", frame);
    ret->frame = &frames[frame];
    return 0;
}

static int evaluate(const struct zs_dbg_context *c, const char *expression, bool assigns,
                    struct zs_dbg_value **ret)
{
    struct parser p = {.c = c, .at = expression, .assigns = assigns};
    int error = parse(&p, 0, ret);
    skip(&p);
    if (!error && *p.at)
        error = fail(&p, "the expression should end");
    return error;
}

int zs_dbg_evaluate(const struct zs_dbg_context *c, const char *expression,
                    struct zs_dbg_value **ret)
{
    return evaluate(c, expression, false, ret);
}

int zs_debug_execute(struct zs_debugger *d, uint32_t thread, uint32_t lane, uint32_t frame,
                     const char *expression, struct zs_debug_value **ret_value,
                     struct zs_diag *diag)
{
    struct zs_dbg_context c;
    struct zs_dbg_value *value;
    int error = zs_dbg_context_make(d, thread, lane, frame, diag, &c);
    if (!error)
        error = evaluate(&c, expression, true, &value);
    if (!error)
        *ret_value = &value->shown;
    return error;
}

int zs_debug_evaluate(struct zs_debugger *d, uint32_t thread, uint32_t lane, uint32_t frame,
                      const char *expression, struct zs_debug_value **ret_value,
                      struct zs_diag *diag)
{
    struct zs_dbg_context c;
    struct zs_dbg_value *value;
    int error = zs_dbg_context_make(d, thread, lane, frame, diag, &c);
    if (!error)
        error = zs_dbg_evaluate(&c, expression, &value);
    if (!error)
        *ret_value = &value->shown;
    return error;
}

int zs_debug_assign(struct zs_debugger *d, struct zs_debug_value *value, const char *expression,
                    struct zs_diag *diag)
{
    struct zs_dbg_value *v = (struct zs_dbg_value *)value, *source;
    struct zs_dbg_number number;
    (void)d;
    v->context.diag = diag;
    int error = zs_dbg_evaluate(&v->context, expression, &source);
    if (!error)
        error = zs_dbg_value_number(source, &number);
    return error ? error : zs_dbg_value_store(v, number);
}
