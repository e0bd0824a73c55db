/* SPDX-License-Identifier: MIT */
/*
 * --debug-info: the module descriptor with -g added to its build flags.
 *
 * The application's descriptor is const and may lie in read-only memory, so it is copied. A
 * program of several inputs (ze_module_program_exp_desc_t) has flags per input: that extension
 * is copied too where it heads the chain. Behind an extension of unknown size it cannot be
 * reached without writing to the application's memory; then -g is not added, and a note says so.
 */
#include "collect/collect.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* pNext chains start with these two members (Level Zero specification, "Structure Types"). */
struct chain {
    ze_structure_type_t stype;
    const void *pNext;
};

static bool has_word(const char *flags, const char *word)
{
    size_t length = strlen(word);
    for (const char *p = flags; p && (p = strstr(p, word)); p += length)
        if ((p == flags || p[-1] == ' ') && (p[length] == '\0' || p[length] == ' '))
            return true;
    return false;
}

/* flags + " -g", owned by d; flags themselves when they have it. NULL: no memory. */
static const char *with_g(struct zs_debug_desc *d, const char *flags)
{
    if (has_word(flags, "-g"))
        return flags;
    size_t length = flags ? strlen(flags) : 0;
    char *text = malloc(length + 4);
    if (!text)
        return NULL;
    snprintf(text, length + 4, "%s%s-g", flags ? flags : "", length ? " " : "");
    d->owned[d->owned_count++] = text;
    return text;
}

static int copy_program(struct zs_debug_desc *d, const ze_module_program_exp_desc_t *program)
{
    d->program = *program;
    d->program_flags = calloc(program->count + UINT64_C(1), sizeof(*d->program_flags));
    if (!d->program_flags)
        return -ENOMEM;
    for (uint32_t i = 0; i < program->count; i++) {
        d->program_flags[i] = with_g(d, program->pBuildFlags ? program->pBuildFlags[i] : NULL);
        if (!d->program_flags[i])
            return -ENOMEM;
    }
    d->program.pBuildFlags = d->program_flags;
    d->desc.pNext = &d->program;
    return 0;
}

int zs_debug_desc_make(const ze_module_desc_t *desc, struct zs_debug_desc *ret, const char **why)
{
    *ret = (struct zs_debug_desc){.desc = *desc};
    *why = NULL;
    if (desc->format != ZE_MODULE_FORMAT_IL_SPIRV)
        return 1; /* a native binary is not compiled any more */
    const struct chain *head = desc->pNext;
    const ze_module_program_exp_desc_t *program = NULL;
    for (const struct chain *c = head; c; c = c->pNext)
        if (c->stype == ZE_STRUCTURE_TYPE_MODULE_PROGRAM_EXP_DESC)
            program = (const void *)c;
    if (program && (const void *)program != (const void *)head) {
        *why = "-g was not added: the program descriptor is behind an extension of unknown size";
        return 1;
    }
    ret->owned = calloc((program ? program->count : 0) + UINT64_C(1), sizeof(*ret->owned));
    int error = ret->owned ? 0 : -ENOMEM;
    if (!error)
        ret->desc.pBuildFlags = with_g(ret, desc->pBuildFlags);
    if (!error && !ret->desc.pBuildFlags)
        error = -ENOMEM;
    if (!error && program)
        error = copy_program(ret, program);
    if (!error && !ret->owned_count)
        error = 1; /* all of them had it */
    if (error)
        zs_debug_desc_free(ret);
    if (error < 0)
        *why = "-g was not added: out of memory";
    return error;
}

void zs_debug_desc_free(struct zs_debug_desc *d)
{
    for (size_t i = 0; i < d->owned_count; i++)
        free(d->owned[i]);
    free(d->owned);
    free((void *)d->program_flags);
    *d = (struct zs_debug_desc){0};
}
