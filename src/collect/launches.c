/* SPDX-License-Identifier: MIT */
#include "collect/launches.h"

#include "store/store.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* One expression a line; the command has refused what is none. */
static bool compile(struct zs_filter *filter, const char *lines)
{
    char *copy = strdup(lines), *save = NULL;
    const char **patterns = calloc(strlen(lines) + 1, sizeof(*patterns));
    size_t count = 0;
    for (char *line = copy && patterns ? strtok_r(copy, "\n", &save) : NULL; line;
         line = strtok_r(NULL, "\n", &save))
        patterns[count++] = line;
    bool ok = count && !zs_filter_compile(filter, patterns, count, NULL);
    free((void *)patterns);
    free(copy);
    return ok;
}

static uint64_t number(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text && text[0] ? strtoull(text, NULL, 10) : otherwise;
}

void zs_launches_init(struct zs_launches *l)
{
    const char *names = getenv(ZS_ENV_COLLECT_KERNELS);
    l->has_names = names && names[0] && compile(&l->names, names);
    l->skip = number(ZS_ENV_COLLECT_LAUNCH_SKIP, 0);
    l->count = number(ZS_ENV_COLLECT_LAUNCH_COUNT, UINT64_MAX);
    l->is_on = l->has_names || l->skip || l->count != UINT64_MAX;
}

/* As it was written; freed by the caller. The process has a demangler where it has anything of C++,
 * such as the Level Zero loader. NULL: it has none, or it is no such name. */
static char *written(const char *name)
{
    typedef char *demangle_fn(const char *name, char *buffer, size_t *size_B, int *status);
    int status;
    void *library =
        strncmp(name, "_Z", 2) ? NULL : dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD);
    demangle_fn *demangle =
        library ? (demangle_fn *)(uintptr_t)dlsym(library, "__cxa_demangle") : NULL;
    char *text = demangle ? demangle(name, NULL, NULL, &status) : NULL;
    if (library)
        dlclose(library);
    return text;
}

bool zs_launches_name_matches(const struct zs_filter *names, const char *kernel)
{
    /* of a SYCL kernel it is that of a type */
    static const char prefix[] = "typeinfo name for ";
    if (zs_filter_matches(names, kernel))
        return true;
    char *text = written(kernel);
    bool typed = text && !strncmp(text, prefix, sizeof(prefix) - 1);
    bool found = text && zs_filter_matches(names, text + (typed ? sizeof(prefix) - 1 : 0));
    free(text);
    return found;
}

bool zs_launches_match(const struct zs_launches *l, const char *kernel)
{
    return !l->has_names || zs_launches_name_matches(&l->names, kernel);
}

bool zs_launches_take(struct zs_launches *l, enum zs_launch_step step)
{
    uint64_t number_of_it = atomic_fetch_add(&l->seen[step], 1);
    return number_of_it >= l->skip && number_of_it - l->skip < l->count;
}
