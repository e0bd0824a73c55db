/* SPDX-License-Identifier: MIT */
/*
 * Execution counts per instruction: asked of the driver through zescope's extension, which calls
 * back after each launch, on its own threads. Each kernel of a module has a mapped file that is
 * added to (store/counts_file.h). Drivers without the extension get a note in the recording.
 */
#include "collect/collect.h"
#include "collect/own_stack.h"
#include "collect/walk_metrics.h"

#include "store/counts_file.h"

#include <zescope/driver_ext.h>

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct profile {
    struct profile *next;
    ze_module_handle_t module;
    uint32_t build;
    char *kernel;
    uint32_t rows;
    uint64_t address; /* of the code below, likewise: kernels may have the same */
    size_t code_B;    /* of a kernel below Intel's driver, whose name is not known */
    uint32_t number;  /* of it, from 1 */
    uint8_t *file;    /* mapped */
};

/* The build that a module's handle stands for now. */
struct built {
    struct built *next;
    ze_module_handle_t module;
    uint32_t build;
    bool
        is_rewritten; /* by a tool: its instructions are not those of the module that is recorded */
};

struct zs_counts_keeper {
    struct zs_counts_keeper *next;
    struct zs_collector *collector;
    struct built *built;
    pthread_mutex_t lock;
    struct profile *profiles;
    pid_t pid;
    uint32_t walked; /* kernels */
    struct zs_walk_metrics metrics;
};

static const struct built *built_of(const struct zs_counts_keeper *c, ze_module_handle_t module)
{
    const struct built *b = c->built;
    while (b && b->module != module)
        b = b->next;
    return b;
}

static uint32_t build_of(const struct zs_counts_keeper *c, ze_module_handle_t module)
{
    const struct built *b = built_of(c, module);
    return b ? b->build : 0;
}

static void set_built(struct zs_counts_keeper *c, ze_module_handle_t module, uint32_t build,
                      bool is_rewritten)
{
    struct built *b = c->built;
    while (b && b->module != module)
        b = b->next;
    if (!b && (b = calloc(1, sizeof(*b)))) {
        b->module = module;
        b->next = c->built;
        c->built = b;
    }
    if (!b)
        return;
    b->build = build;
    b->is_rewritten = is_rewritten;
}

void zs_counts_built(struct zs_collector *collector, ze_module_handle_t module, uint32_t build,
                     bool is_rewritten)
{
    for (struct zs_counts_keeper *c = atomic_load(&collector->counts_keepers); c; c = c->next) {
        if (c->pid != getpid())
            continue;
        pthread_mutex_lock(&c->lock);
        set_built(c, module, build, is_rewritten);
        pthread_mutex_unlock(&c->lock);
    }
}

static void put_u32(uint8_t *at, uint32_t value)
{
    memcpy(at, &value, sizeof(value));
}

static void put_u64(uint8_t *at, uint64_t value)
{
    memcpy(at, &value, sizeof(value));
}

static void add_u64(uint8_t *at, uint64_t value)
{
    uint64_t sum;
    memcpy(&sum, at, sizeof(sum));
    put_u64(at, sum + value);
}

static uint8_t *make_file(struct zs_counts_keeper *c, const char *suffix, size_t size_B)
{
    uint32_t number = atomic_fetch_add(&c->collector->counts_files, 1);
    char path[ZS_COLLECT_PATH_CHARS];
    int n = snprintf(path, sizeof(path), "%s/" ZS_RECORD_COUNTS_DIR, c->collector->dir);
    if (n < 0 || (size_t)n + 40 >= sizeof(path))
        return NULL;
    if (mkdir(path, 0755) && errno != EEXIST)
        return NULL;
    char prefix[ZS_COLLECT_PREFIX_CHARS];
    errno = -zs_collect_prefix(c->collector, prefix);
    if (errno)
        return NULL;
    snprintf(path + n, sizeof(path) - (size_t)n, "/%s%u%s", prefix, number, suffix);
    int fd = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0644);
    if (fd < 0)
        return NULL;
    errno = -zs_store_reserve(fd, 0, size_B);
    void *file = errno ? MAP_FAILED : mmap(NULL, size_B, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    return file == MAP_FAILED ? NULL : file;
}

static void put_rows(struct zs_counts_keeper *c, struct profile *p,
                     const zescope_instruction_count_t *rows)
{
    uint32_t ordinal;
    put_u32(p->file + 8, (uint32_t)c->pid);
    put_u32(p->file + 12, p->rows);
    put_u32(p->file + 252, zs_collect_ordinal(c->collector, &ordinal) ? 0 : ordinal + 1);
    for (uint32_t i = 0; i < p->rows; i++)
        put_u64(p->file + ZS_COUNTS_HEADER_B + (size_t)i * ZS_COUNTS_ROW_B,
                (uint64_t)rows[i].offset_B);
}

static struct profile *profile_make(struct zs_counts_keeper *c, const zescope_launch_info_t *info)
{
    struct profile *p = calloc(1, sizeof(*p));
    if (!p || !(p->kernel = strdup(info->kernel_name))) {
        free(p);
        return NULL;
    }
    size_t name_B = ZS_MIN(strlen(p->kernel), (size_t)ZS_COUNTS_NAME_MAX_B);
    p->module = info->module;
    p->build = build_of(c, info->module);
    p->rows = info->instruction_count;
    p->next = c->profiles;
    c->profiles = p;
    p->file = make_file(c, ".counts", ZS_COUNTS_HEADER_B + (size_t)p->rows * ZS_COUNTS_ROW_B);
    if (!p->file) {
        zs_session_note(c->collector, "counts of %s are not kept: %s", p->kernel, strerror(errno));
        return p;
    }
    put_u64(p->file + 16, (uint64_t)(uintptr_t)info->module);
    put_u64(p->file + 32, info->start_ns);
    put_u32(p->file + 40, info->simd);
    put_u32(p->file + 44, (uint32_t)name_B);
    memcpy(p->file + 48, p->kernel, name_B);
    put_u32(p->file + 248, p->build);
    put_rows(c, p, info->instructions);
    memcpy(p->file, ZS_RECORD_COUNTS_MAGIC, 8); /* last: now it is a file of counts */
    return p;
}

static struct profile *profile_find(struct zs_counts_keeper *c, const zescope_launch_info_t *info)
{
    uint32_t build = build_of(c, info->module);
    for (struct profile *p = c->profiles; p; p = p->next)
        if (p->module == info->module && p->build == build && p->rows == info->instruction_count &&
            !strcmp(p->kernel, info->kernel_name))
            return p;
    return profile_make(c, info);
}

/* One more launch. */
static void add_rows(struct profile *p, const zescope_instruction_count_t *rows)
{
    uint8_t *row = p->file + ZS_COUNTS_HEADER_B;
    for (uint32_t i = 0; i < p->rows; i++, row += ZS_COUNTS_ROW_B) {
        add_u64(row + 8, rows[i].executions);
        add_u64(row + 16, rows[i].active_lanes);
        add_u64(row + 24, rows[i].bytes_read);
        add_u64(row + 32, rows[i].bytes_written);
    }
    add_u64(p->file + 24, 1);
}

struct counted {
    struct zs_counts_keeper *keeper;
    const zescope_launch_info_t *info;
    const zescope_walk_info_t *walk;
};

static void add_launch(void *arg)
{
    const zescope_launch_info_t *info = ((struct counted *)arg)->info;
    struct zs_counts_keeper *c = ((struct counted *)arg)->keeper;
    struct zs_collect_guard guard;
    zs_guard_enter(&guard);
    pthread_mutex_lock(&c->lock);
    const struct built *built = built_of(c, info->module);
    struct profile *p = built && built->is_rewritten ? NULL : profile_find(c, info);
    if (p && p->file)
        add_rows(p, info->instructions);
    pthread_mutex_unlock(&c->lock);
    zs_guard_leave(&guard);
}

static void on_launch(const zescope_launch_info_t *info, void *user)
{
    struct counted counted = {user, info, NULL};
    struct zs_collector *collector = counted.keeper->collector;
    struct zs_launches *launches = &collector->launches;
    if (!info->instruction_count || counted.keeper->pid != getpid())
        return;
    if (launches->is_on && (!zs_launches_match(launches, info->kernel_name) ||
                            !zs_launches_take(launches, ZS_LAUNCH_EXECUTED)))
        return;
    zs_own_stack_run(add_launch, &counted);
}

/* ---- Intel's driver on an emulated node --------------------------------------------------------
 *
 * Below the driver nobody knows names: files hold the code, and zescope record finds out whose it
 * is when it has the modules (record/walks.h).
 */

static uint8_t *code_of(const struct profile *p)
{
    return p->file + ZS_COUNTS_HEADER_B + (size_t)p->rows * ZS_COUNTS_ROW_B;
}

static struct profile *find_walk(struct zs_counts_keeper *c, const zescope_walk_info_t *info)
{
    for (struct profile *p = c->profiles; p; p = p->next)
        if (p->rows == info->instruction_count && p->code_B == info->code_B && p->file &&
            p->address == info->address && !memcmp(code_of(p), info->code, info->code_B))
            return p;
    struct profile *p = calloc(1, sizeof(*p));
    if (!p)
        return NULL;
    p->rows = info->instruction_count;
    p->address = info->address;
    p->code_B = info->code_B;
    p->file = make_file(c, ZS_WALKS_SUFFIX,
                        ZS_COUNTS_HEADER_B + (size_t)p->rows * ZS_COUNTS_ROW_B + p->code_B);
    if (!p->file) {
        zs_session_note(c->collector, "counts of a kernel are not kept: %s", strerror(errno));
        free(p);
        return NULL;
    }
    p->next = c->profiles;
    c->profiles = p;
    put_u64(p->file + 16, p->code_B);
    put_u64(p->file + 32, zs_collect_now_ns());
    put_u32(p->file + 40, info->simd);
    put_u32(p->file + 48, p->number = ++c->walked);
    put_rows(c, p, info->instructions);
    memcpy(code_of(p), info->code, p->code_B);
    memcpy(p->file, ZS_WALKS_MAGIC, 8);
    return p;
}

static void add_walk(void *arg)
{
    const struct counted *counted = arg;
    struct zs_counts_keeper *c = counted->keeper;
    struct zs_collect_guard guard;
    zs_guard_enter(&guard);
    pthread_mutex_lock(&c->lock);
    struct profile *p = find_walk(c, counted->walk);
    if (p) {
        add_rows(p, counted->walk->instructions);
        zs_walk_metrics_put(&c->metrics, c->collector, p->number, counted->walk);
    }
    pthread_mutex_unlock(&c->lock);
    zs_guard_leave(&guard);
}

static void on_walk(const zescope_walk_info_t *info, void *user)
{
    struct counted counted = {user, NULL, info};
    if (info->instruction_count && counted.keeper->pid == getpid())
        zs_own_stack_run(add_walk, &counted);
}

static struct zs_counts_keeper *keeper_new(struct zs_collector *c)
{
    struct zs_counts_keeper *keeper = calloc(1, sizeof(*keeper)); /* as long as the process lives */
    if (!keeper)
        return NULL;
    keeper->collector = c;
    keeper->pid = getpid();
    pthread_mutex_init(&keeper->lock, NULL);
    return keeper;
}

bool zs_counts_start_below(struct zs_collector *c)
{
    void *function = dlsym(RTLD_DEFAULT, ZESCOPE_SET_WALK_CALLBACK_NAME);
    zescope_pfnSetWalkCallback_t set_callback;
    if (!function || c->launches.skip || c->launches.count != UINT64_MAX) /* of which kernels? */
        return false;
    if (atomic_exchange(&c->counts_below, getpid()) == getpid())
        return true;
    struct zs_counts_keeper *keeper = keeper_new(c);
    memcpy(&set_callback, &function, sizeof(set_callback));
    zs_walk_metrics_ask(c);
    if (keeper)
        set_callback(on_walk, keeper);
    return keeper != NULL;
}

void zs_counts_start(struct zs_collector *c, ze_driver_handle_t driver)
{
    zescope_pfnDriverSetLaunchCallback_t set_callback = NULL;
    if (!c->count || !c->api.zeDriverGetExtensionFunctionAddress)
        return;
    if (c->api.zeDriverGetExtensionFunctionAddress(driver, ZESCOPE_DRIVER_SET_LAUNCH_CALLBACK_NAME,
                                                   (void **)&set_callback) ||
        !set_callback) {
        if (!zs_counts_start_below(c))
            zs_session_note(c, ZS_NOTE_NO_COUNTS ": it cannot count");
        return;
    }
    struct zs_counts_keeper *counts = keeper_new(c);
    if (!counts)
        return;
    if (set_callback(driver, on_launch, counts, 1)) {
        zs_session_note(c, "no execution counts: the driver refused");
        free(counts);
        return;
    }
    counts->next = atomic_load(&c->counts_keepers);
    while (!atomic_compare_exchange_weak(&c->counts_keepers, &counts->next, counts))
        ;
}
