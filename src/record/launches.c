/* SPDX-License-Identifier: MIT */
#include "record/launches.h"

#include "base/reader.h"
#include "base/vec.h"
#include "record/counts.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILES_MOST = 10000 };
static const uint64_t FILE_MOST_B = UINT64_C(16) << 30;

static bool is_launch(const char *name)
{
    size_t length = strlen(name), suffix = strlen(".launch");
    return length > suffix && length < 128 && name[0] != '.' &&
           !strcmp(name + length - suffix, ".launch");
}

static int by_name(const void *a, const void *b)
{
    return strverscmp(*(char *const *)a, *(char *const *)b);
}

int zs_launches_list(const char *recording, char ***ret_names, size_t *ret_count,
                     struct zs_diag *diag)
{
    struct {
        char **items;
        size_t count, capacity;
    } names = {0};
    int error = 0, fd = zs_counts_open_folder(recording, ZS_LAUNCH_DIR, diag);
    *ret_names = NULL;
    *ret_count = 0;
    if (fd < 0)
        return fd == -ENOENT ? 0 : fd;
    DIR *dir = fdopendir(fd);
    for (struct dirent *entry; dir && !error && (entry = readdir(dir));) {
        if (!is_launch(entry->d_name) || names.count == FILES_MOST)
            continue;
        char *name = strdup(entry->d_name);
        if (!name || !ZS_VEC_PUSH(&names, name)) {
            free(name);
            error = -ENOMEM;
        }
    }
    if (dir)
        closedir(dir);
    else
        close(fd);
    if (names.count)
        qsort(names.items, names.count, sizeof(*names.items), by_name);
    *ret_names = names.items;
    *ret_count = names.count;
    return error;
}

void zs_launches_free(char **names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    free((void *)names);
}

/* ---- one file ---- */

static void read_three(struct zs_reader *r, uint32_t ret[3], const char *what)
{
    for (int i = 0; i < 3; i++)
        ret[i] = zs_read_u32(r, what);
}

static int read_argument(struct zs_reader *r, struct zs_launch_argument *ret)
{
    ret->index = zs_read_u32(r, "argument's index");
    ret->kind = zs_read_u32(r, "argument's kind");
    ret->size_B = zs_read_u64(r, "argument's size");
    ret->memory = zs_read_u32(r, "argument's allocation");
    zs_read_skip(r, 4, "argument");
    ret->offset_B = zs_read_u64(r, "argument's offset");
    if (!r->error && (ret->kind > ZS_LAUNCH_SAMPLER || ret->index >= ZS_LAUNCH_ARGUMENTS_MOST))
        return zs_reader_fail(r, -EINVAL, "argument %u of kind %u", ret->index, ret->kind);
    if (ret->kind == ZS_LAUNCH_VALUE && ret->size_B <= ZS_LAUNCH_VALUE_MOST_B)
        ret->value = zs_read_bytes(r, ret->size_B, "argument's value");
    else if (ret->kind == ZS_LAUNCH_SAMPLER)
        ret->value = zs_read_bytes(r, ZS_LAUNCH_SAMPLER_B, "sampler");
    return r->error;
}

static int read_memory(struct zs_reader *r, struct zs_launch_memory *ret)
{
    ret->gpu_va = zs_read_u64(r, "allocation's address");
    ret->size_B = zs_read_u64(r, "allocation's size");
    ret->type = zs_read_u32(r, "allocation's type");
    ret->state = zs_read_u32(r, "allocation's state");
    for (uint32_t i = 0; i < ZS_LAUNCH_IMAGE_WORDS && ret->type == ZS_LAUNCH_IMAGE; i++)
        ret->image[i] = zs_read_u32(r, "image");
    if (r->error)
        return r->error;
    if (ret->type == ZS_LAUNCH_IMAGE && zs_launch_image_B(ret->image) != ret->size_B)
        return zs_reader_fail(r, -EINVAL, "an image of other size than %llu bytes",
                              (unsigned long long)ret->size_B);
    if (ret->state > ZS_LAUNCH_NO_COPY || !ret->size_B || ret->size_B > FILE_MOST_B)
        return zs_reader_fail(r, -EINVAL, "an allocation of %llu bytes in state %u",
                              (unsigned long long)ret->size_B, ret->state);
    if (ret->state == ZS_LAUNCH_WHOLE) {
        ret->before = zs_read_bytes(r, ret->size_B, "memory before the launch");
        ret->after = zs_read_bytes(r, ret->size_B, "memory after the launch");
    }
    return r->error;
}

static int read_head(struct zs_reader *r, struct zs_launch *l)
{
    struct zs_span magic = zs_read_bytes(r, 8, "magic");
    if (!r->error && memcmp(magic.data, ZS_LAUNCH_MAGIC, 8))
        return zs_reader_fail(r, -EINVAL, "this is no captured launch");
    l->build_id = zs_read_u64(r, "build");
    l->time_ns = zs_read_u64(r, "time");
    l->number = zs_read_u32(r, "number");
    l->flags = zs_read_u32(r, "flags");
    read_three(r, l->groups, "groups");
    read_three(r, l->size, "group size");
    read_three(r, l->offset, "global offset");
    uint32_t name_B = zs_read_u32(r, "size of the name");
    l->argument_count = zs_read_count(r, ZS_LAUNCH_ARGUMENT_B, "number of arguments");
    l->memory_count = zs_read_count(r, ZS_LAUNCH_MEMORY_B, "number of allocations");
    zs_read_skip(r, 4, "head");
    struct zs_span name = zs_read_bytes(r, ZS_MIN(name_B, ZS_LAUNCH_NAME_MOST_B + 1u), "name");
    if (!r->error &&
        (name_B > ZS_LAUNCH_NAME_MOST_B || l->argument_count > ZS_LAUNCH_ARGUMENTS_MOST))
        return zs_reader_fail(r, -EINVAL, "a name of %u bytes, %u arguments", name_B,
                              l->argument_count);
    if (r->error)
        return r->error;
    l->kernel = strndup((const char *)name.data, name.size_B);
    l->arguments = calloc((size_t)l->argument_count + 1, sizeof(*l->arguments));
    l->memory = calloc((size_t)l->memory_count + 1, sizeof(*l->memory));
    return l->kernel && l->arguments && l->memory ? 0 : -ENOMEM;
}

static int parse(struct zs_launch *l, struct zs_diag *diag)
{
    struct zs_reader r = zs_reader_make(l->content.span, 0, diag);
    int error = read_head(&r, l);
    for (uint32_t i = 0; i < l->argument_count && !error; i++)
        error = read_argument(&r, &l->arguments[i]);
    for (uint32_t i = 0; i < l->memory_count && !error; i++)
        error = read_memory(&r, &l->memory[i]);
    for (uint32_t i = 0; i < l->argument_count && !error; i++) {
        const struct zs_launch_argument *a = &l->arguments[i];
        if (a->kind == ZS_LAUNCH_POINTER &&
            (a->memory >= l->memory_count || a->offset_B > l->memory[a->memory].size_B))
            error = zs_reader_fail(&r, -EINVAL, "argument %u points into no allocation", a->index);
    }
    return error;
}

int zs_launch_open(const char *recording, const char *name, struct zs_launch *ret_launch,
                   struct zs_diag *diag)
{
    char *end;
    *ret_launch = (struct zs_launch){.file = strdup(name)};
    int fd = zs_counts_open_folder(recording, ZS_LAUNCH_DIR, diag);
    if (fd < 0)
        return fd;
    int error = zs_file_read_at(fd, name, FILE_MOST_B, &ret_launch->content, diag);
    close(fd);
    if (!error)
        error = parse(ret_launch, diag);
    uint64_t pid = strtoul(name, &end, 10), ordinal = *end == '-' ? strtoul(end + 1, &end, 10) : 0;
    if (!error && *end == '-' && pid <= UINT32_MAX && ordinal <= UINT32_MAX)
        ret_launch->process = ordinal << 32 | pid;
    return error;
}

void zs_launch_close(struct zs_launch *l)
{
    free(l->file);
    free(l->kernel);
    free(l->arguments);
    free(l->memory);
    zs_file_close(&l->content);
    *l = (struct zs_launch){0};
}
