/* SPDX-License-Identifier: MIT */
/* Registers as expressions name them: "$r12:f", "$r12.3:ud". */
#include "debugger/debugger_priv.h"

#include "base/buf.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int none(const struct zs_dbg_context *c, const char *text, const char *what)
{
    return zs_diag_set(c->diag, -EINVAL, ZS_DIAG_NO_OFFSET, "%s: $%s", what, text);
}

static const struct {
    const char *name;
    uint32_t size_B;
    enum zs_dbg_scalar scalar;
} register_types[] = {
    {"f", 4, ZS_DBG_FLOAT},     {"df", 8, ZS_DBG_FLOAT},    {"hf", 2, ZS_DBG_FLOAT},
    {"ud", 4, ZS_DBG_UNSIGNED}, {"d", 4, ZS_DBG_SIGNED},    {"uw", 2, ZS_DBG_UNSIGNED},
    {"w", 2, ZS_DBG_SIGNED},    {"ub", 1, ZS_DBG_UNSIGNED}, {"b", 1, ZS_DBG_SIGNED},
    {"uq", 8, ZS_DBG_UNSIGNED}, {"q", 8, ZS_DBG_SIGNED},
};

static const struct {
    const char *name;
    uint32_t set;
    const char *type;
} register_files[] = {
    {"r", ZESCOPE_DEBUG_REGSET_GRF, "ud"},        {"a", ZESCOPE_DEBUG_REGSET_ADDR, "uw"},
    {"f", ZESCOPE_DEBUG_REGSET_FLAG, "ud"},       {"acc", ZESCOPE_DEBUG_REGSET_ACC, "ud"},
    {"sr", ZESCOPE_DEBUG_REGSET_SR, "ud"},        {"cr", ZESCOPE_DEBUG_REGSET_CR, "ud"},
    {"ce", ZESCOPE_DEBUG_REGSET_CE, "ud"},        {"n", ZESCOPE_DEBUG_REGSET_NOTIFICATION, "ud"},
    {"tm", ZESCOPE_DEBUG_REGSET_TIMESTAMP, "ud"}, {"sba", ZESCOPE_DEBUG_REGSET_SBA, "uq"},
};

static struct zs_dbg_number number_at(const uint8_t *bytes, uint32_t size_B,
                                      enum zs_dbg_scalar scalar, struct zs_dbg_value **ret,
                                      const struct zs_dbg_context *c)
{
    /* as a value of a type without debug info */
    struct zs_dbg_value *v = zs_dbg_value_new(c, "");
    struct zs_dbg_number n = {.kind = scalar};
    *ret = v;
    if (!v || !(v->data = zs_arena_alloc(c->arena, 16)))
        return n;
    memcpy(v->data, bytes, size_B);
    v->scalar = scalar;
    v->shown.size_B = size_B;
    (void)zs_dbg_value_number(v, &n);
    return n;
}

int zs_dbg_register_value(const struct zs_dbg_context *c, const char *text,
                          struct zs_dbg_value **ret)
{
    char file[8] = "", type[8] = "", *end;
    size_t n = 0;
    const char *at = text;
    while (isalpha((unsigned char)*at) && n < sizeof(file) - 1)
        file[n++] = *at++;
    const char *digits = at;
    unsigned long index = strtoul(at, &end, 10), sub = 0;
    bool has_sub = *end == '.', has_index = end != digits;
    if (has_sub)
        sub = strtoul(end + 1, &end, 10);
    if (*end == ':')
        snprintf(type, sizeof(type), "%s", end + 1);
    else if (*end)
        return none(c, text, "no such register");
    for (size_t i = 0; i < ZS_ARRAY_LEN(register_files); i++) {
        const struct zs_dbg_regset *set = zs_dbg_regset(c->d, register_files[i].set);
        if (strcmp(register_files[i].name, file) != 0 || !set)
            continue;
        if ((!has_index && strcmp(file, "ce") != 0) || index >= set->count || !c->thread)
            break;
        const char *wanted = type[0] ? type : register_files[i].type;
        for (size_t t = 0; t < ZS_ARRAY_LEN(register_types); t++) {
            uint8_t bytes[ZS_DBG_GRF_MAX_B];
            uint32_t size_B = register_types[t].size_B, count = set->size_B / size_B;
            if (strcmp(register_types[t].name, wanted) != 0 || sub >= ZS_MAX(count, 1u) ||
                set->size_B > sizeof(bytes) || size_B > set->size_B)
                continue;
            if (zs_dbg_read_regs(c->d, c->thread->place, set->type, (uint32_t)index, 1, bytes))
                return none(c, text, "the register cannot be read");
            struct zs_buf out = {0};
            struct zs_dbg_value *first = NULL, *v;
            for (uint32_t e = 0; e < count; e++) {
                struct zs_dbg_value *unused;
                struct zs_dbg_number number =
                    number_at(bytes + e * size_B, size_B, register_types[t].scalar, &unused, c);
                if (zs_dbg_value_of_number(c, text, number, size_B, register_types[t].name, &v))
                    return -ENOMEM;
                zs_buf_printf(&out, "%s%s", e ? ", " : "{", v->shown.text);
                if (e == sub) {
                    first = v;
                    memcpy(first->data, bytes + e * size_B, size_B);
                }
            }
            zs_buf_putc(&out, '}');
            first->is_register = true;
            first->reg_set = set->type;
            first->reg_index = (uint32_t)index;
            first->reg_at_B = (uint32_t)sub * size_B;
            first->shown.writable = set->writable;
            if (!has_sub && count > 1) {
                const char *copy = zs_buf_cstr(&out);
                first->shown.text = zs_arena_strndup(c->arena, copy, strlen(copy));
            }
            zs_buf_fini(&out);
            *ret = first;
            return first->shown.text ? 0 : -ENOMEM;
        }
        return none(c, text, "no such type or part of the register");
    }
    return none(c, text, "no such register");
}

int zs_dbg_value_again(struct zs_dbg_value *v, struct zs_dbg_value **ret)
{
    struct zs_dbg_plain plain = {v->shown.type, (uint32_t)v->shown.size_B, v->scalar};
    if (v->is_register)
        return zs_dbg_register_value(&v->context, v->shown.name, ret);
    *ret = v;
    if (!v->dwarf)
        return v->shown.in_memory ? zs_dbg_value_of_memory(&v->context, v->shown.name,
                                                           v->shown.gpu_va, plain, NULL, ret)
                                  : 0;
    v->data = NULL;
    return zs_dbg_value_load(v);
}
