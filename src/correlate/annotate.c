/* SPDX-License-Identifier: MIT */
/* A kernel's instructions joined with its debug info. */
#include "correlate/join.h"

#include "base/diag.h"
#include "base/path.h"
#include "base/vec.h"

#include <zescope/annotate.h>

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* One ELF for several kernels (zebin), opened by the first one that asks. */
struct shared_dwarf {
    const uint8_t *elf;
    struct zs_dwarf *dwarf; /* NULL: could not be opened */
    struct zs_diag diag;
};

struct zs_annotation {
    const struct zs_module *module;
    pthread_mutex_t lock;
    struct {
        struct shared_dwarf *items;
        size_t count, capacity;
    } shared;
};

struct code_owner {
    struct zs_code code;
    struct zs_dwarf *dwarf; /* of this kernel alone */
    struct zs_dwarf_kernel *info;
    struct zs_join *join;
    char *error, *note;
};

static const char no_debug_note[] =
    "no debug info, so no source: build the module with -g (ocloc: -options \"-g\"; Level Zero: "
    "\"-g\" in pBuildFlags; SYCL: -g), or record the program with `zescope record --debug-info`";

int zs_annotation_open(const struct zs_module *module, struct zs_annotation **ret)
{
    struct zs_annotation *annotation = calloc(1, sizeof(*annotation));
    *ret = annotation;
    if (!annotation)
        return -ENOMEM;
    annotation->module = module;
    pthread_mutex_init(&annotation->lock, NULL);
    return 0;
}

void zs_annotation_close(struct zs_annotation *annotation)
{
    if (!annotation)
        return;
    for (size_t i = 0; i < annotation->shared.count; i++)
        zs_dwarf_close(annotation->shared.items[i].dwarf);
    free(annotation->shared.items);
    pthread_mutex_destroy(&annotation->lock);
    free(annotation);
}

static int open_shared(struct zs_annotation *annotation, struct zs_span elf,
                       struct zs_dwarf **ret_dwarf, struct zs_diag *diag)
{
    int error = 0;
    pthread_mutex_lock(&annotation->lock);
    struct shared_dwarf *shared = NULL;
    for (size_t i = 0; i < annotation->shared.count && !shared; i++)
        if (annotation->shared.items[i].elf == elf.data)
            shared = &annotation->shared.items[i];
    if (!shared) {
        struct shared_dwarf new_one = {.elf = elf.data};
        zs_diag_clear(&new_one.diag);
        /* a failure is kept too: it is not tried again for each kernel */
        if (zs_dwarf_open(elf, &new_one.dwarf, &new_one.diag) == 0)
            new_one.diag.error = 0;
        if (ZS_VEC_PUSH(&annotation->shared, new_one))
            shared = &annotation->shared.items[annotation->shared.count - 1];
        else
            zs_dwarf_close(new_one.dwarf);
    }
    if (!shared) {
        error = -ENOMEM;
    } else {
        *ret_dwarf = shared->dwarf;
        *diag = shared->diag;
        error = shared->dwarf ? 0 : shared->diag.error ? shared->diag.error : -ENOMEM;
    }
    pthread_mutex_unlock(&annotation->lock);
    return error;
}

static char *diag_text(const struct zs_diag *diag, const char *prefix)
{
    char text[600], *copy;
    zs_diag_print(diag, text, sizeof(text));
    size_t size_B = strlen(prefix) + strlen(text) + 1;
    copy = malloc(size_B);
    if (copy) {
        memcpy(copy, prefix, strlen(prefix));
        memcpy(copy + strlen(prefix), text, strlen(text) + 1);
    }
    return copy;
}

static int open_info(struct zs_annotation *annotation, struct code_owner *owner)
{
    const struct zs_kernel *kernel = owner->code.kernel;
    struct zs_diag diag;
    zs_diag_clear(&diag);
    if (kernel->debug.kind == ZS_DEBUG_NONE) {
        owner->code.note = no_debug_note;
        return 0;
    }
    struct zs_dwarf *dwarf = NULL;
    int error = kernel->debug.kind == ZS_DEBUG_KERNEL_ELF
                    ? zs_dwarf_open(kernel->debug.elf, &owner->dwarf, &diag)
                    : open_shared(annotation, kernel->debug.elf, &dwarf, &diag);
    if (owner->dwarf)
        dwarf = owner->dwarf;
    if (!error)
        error = zs_dwarf_kernel_load(dwarf, kernel->name, kernel->code.size_B, &owner->info, &diag);
    if (error == -ENOMEM && !diag.error)
        return error;
    if (error) {
        bool missing = error == -ENODATA || error == -ENOENT;
        owner->note =
            missing ? strdup(no_debug_note) : diag_text(&diag, "the debug info cannot be read: ");
        owner->code.note = owner->note;
        return owner->note ? 0 : -ENOMEM;
    }
    owner->code.info = owner->info;
    if (owner->info->truncated)
        owner->code.note = "the debug info is larger than its code can need: parts were left out";
    return 0;
}

static int open_code(struct zs_annotation *annotation, struct code_owner *owner, uint32_t what)
{
    struct zs_code *code = &owner->code;
    struct zs_diag diag;
    zs_diag_clear(&diag);
    enum zs_isa_platform platform = zs_image_platform(code->image);
    struct zs_isa_options options = {.size_B = sizeof(options),
                                     .grf_count = code->kernel->grf_count};
    int error = zs_isa_kernel_open(platform, code->kernel->code, &options, &code->isa, &diag);
    if (!error)
        error = zs_isa_kernel_decode(code->isa, what, &diag);
    if (!error)
        return 0;
    if (error == -ENOMEM && !diag.error)
        return error;
    owner->error = diag_text(&diag, "the code cannot be read: ");
    code->error = owner->error;
    zs_isa_kernel_close(code->isa);
    code->isa = NULL;
    return owner->error ? 0 : -ENOMEM;
}

/* Up to Xe LP integers are divided eight lanes at a time. IGC says of the first of each two such
 * instructions that it is of the function's last line; the other one, which follows soon, has its
 * own. */
static uint32_t other_half(const struct zs_isa_kernel *isa, uint32_t i, uint32_t count)
{
    enum { NEAR = 16 };
    const struct zs_isa_inst *a = zs_isa_inst(isa, i), *b;
    if (a->op != ZS_OP_MATH || a->exec_size != 8 || a->channel_offset % 16)
        return i;
    for (uint32_t next = i + 1; next < count && next <= i + NEAR; next++) {
        b = zs_isa_inst(isa, next);
        if (b->op == ZS_OP_MATH && b->subfunction == a->subfunction && b->exec_size == 8 &&
            b->channel_offset == a->channel_offset + 8)
            return next;
    }
    return i;
}

static int join_code(struct code_owner *owner)
{
    struct zs_isa_kernel *isa = owner->code.isa;
    if (!isa || !owner->info)
        return 0;
    bool halves = zs_isa_kernel_platform(isa) <= ZS_ISA_XE_LP;
    uint32_t count = zs_isa_kernel_count(isa);
    uint32_t *offsets = malloc(((size_t)count + 1) * sizeof(*offsets));
    uint32_t *as = malloc(((size_t)count + 1) * sizeof(*as));
    struct zs_diag diag;
    zs_diag_clear(&diag);
    int error = !offsets || !as ? -ENOMEM
                : halves        ? zs_isa_kernel_decode(isa, ZS_ISA_INSTS, &diag)
                                : 0;
    for (uint32_t i = 0; !error && i < count; i++) {
        offsets[i] = zs_isa_inst_offset(isa, i);
        as[i] = halves ? other_half(isa, i, count) : i;
    }
    if (!error)
        error = zs_join_as(owner->info, offsets, as, count, &owner->join);
    owner->code.join = owner->join;
    free(offsets);
    free(as);
    return error;
}

int zs_code_open(struct zs_annotation *annotation, const struct zs_image *image,
                 const struct zs_kernel *kernel, uint32_t what, struct zs_code **ret_code)
{
    *ret_code = NULL;
    struct code_owner *owner = calloc(1, sizeof(*owner));
    if (!owner)
        return -ENOMEM;
    owner->code.image = image;
    owner->code.kernel = kernel;
    int error = open_code(annotation, owner, what);
    if (!error)
        error = open_info(annotation, owner);
    if (!error)
        error = join_code(owner);
    if (error)
        zs_code_close(&owner->code);
    else
        *ret_code = &owner->code;
    return error;
}

void zs_code_close(struct zs_code *code)
{
    if (!code)
        return;
    struct code_owner *owner = (struct code_owner *)code;
    zs_join_free(owner->join);
    zs_dwarf_kernel_unload(owner->info);
    zs_dwarf_close(owner->dwarf);
    zs_isa_kernel_close(code->isa);
    free(owner->error);
    free(owner->note);
    free(owner);
}

const struct zs_line_row *zs_code_row(const struct zs_code *code, uint32_t i)
{
    if (!code->join || i >= code->join->count || code->join->row[i] == ZS_NO_INDEX)
        return NULL;
    const struct zs_line_row *row = &code->info->rows[code->join->row[i]];
    return row->line && row->file < code->info->file_count ? row : NULL;
}

uint32_t zs_code_frame(const struct zs_code *code, uint32_t i)
{
    if (!code->join || i >= code->join->count || code->join->scope[i] == ZS_NO_INDEX)
        return ZS_NO_INDEX;
    return code->info->scopes[code->join->scope[i]].frame;
}

const struct zs_join_line *zs_code_find_line(const struct zs_code *code, const char *path,
                                             uint32_t line)
{
    for (uint32_t f = 0; code->join && f < code->info->file_count; f++) {
        const struct zs_join_line *found = zs_path_ends_with(code->info->files[f].path, path)
                                               ? zs_join_find_line(code->join, f, line)
                                               : NULL;
        if (found)
            return found;
    }
    return NULL;
}

enum zs_isa_platform zs_image_platform(const struct zs_image *image)
{
    enum zs_isa_platform platform = zs_isa_platform_from_gfxcore(image->gfxcore);
    if (platform == ZS_ISA_NONE)
        platform = zs_isa_platform_from_product(image->product_family);
    if (platform == ZS_ISA_NONE && image->device[0])
        platform = zs_isa_platform_from_device(image->device);
    return platform;
}

const char *zs_image_device(const struct zs_image *image)
{
    if (image->device[0])
        return image->device;
    const char *device = zs_isa_device_from_gfxcore(image->gfxcore);
    return device ? device : "unknown";
}
