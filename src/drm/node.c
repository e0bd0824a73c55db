/* SPDX-License-Identifier: MIT */
/* Devices, and the open files of their nodes. */
#include "drm/drm_priv.h"

#include "base/default_device.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { FILE_GB = 64 };

static struct {
    pthread_once_t once;
    uint32_t count;
    struct zs_drm_node nodes[ZS_DRM_NODES_MAX];
    pthread_mutex_t lock; /* of the list */
    struct zs_drm_file *files;
    _Atomic(bool) has_files;
    bool is_inherited; /* by the child that is being made */
} all = {.once = PTHREAD_ONCE_INIT, .lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- devices -----------------------------------------------------------------------------------
 */

static const struct zs_drm_device devices[] = {
#define ZS_DRM_DEVICE(...) {__VA_ARGS__},
#include "drm/device.def"
#undef ZS_DRM_DEVICE
};

static const struct zs_drm_device *find_device(const struct zs_gpu_model *model)
{
    for (size_t i = 0; i < ZS_ARRAY_LEN(devices); i++) {
        const struct zs_drm_device *d = &devices[i];
        if (d->name ? !strcmp(d->name, model->name) : d->platform == model->platform)
            return d;
    }
    return NULL;
}

/* ZESCOPE_DRM_INTERFACE, else i915 as long as it knows the device. 0: neither. */
static enum zs_drm_interface choose_interface(const struct zs_drm_device *device)
{
    const char *text = secure_getenv("ZESCOPE_DRM_INTERFACE");
    uint32_t wanted = !text || !*text         ? ZS_DRM_I915 | ZS_DRM_XE
                      : !strcmp(text, "xe")   ? ZS_DRM_XE
                      : !strcmp(text, "i915") ? ZS_DRM_I915
                                              : 0;
    wanted &= device->interfaces;
    return wanted & ZS_DRM_I915 ? ZS_DRM_I915 : wanted & ZS_DRM_XE ? ZS_DRM_XE : 0;
}

static const char *why_not(const struct zs_gpu_model *model)
{
    if (!model)
        return "is not known";
    if (!find_device(model))
        return "is of no kernel driver that is emulated";
    return choose_interface(find_device(model)) ? NULL : "is not in this ZESCOPE_DRM_INTERFACE";
}

/* "pvc:2": so many tiles, as hardware has them. */
static const char *take_tiles(char *name, uint32_t *ret_tiles)
{
    char *colon = strchr(name, ':'), *end;
    *ret_tiles = 0;
    if (!colon)
        return NULL;
    *colon = '\0';
    const struct zs_gpu_model *model = zs_gpu_model_find(name);
    unsigned long tiles = strtoul(colon + 1, &end, 10);
    if (!model || *end || !tiles || tiles > model->tiles_max)
        return "does not have so many tiles";
    *ret_tiles = tiles > 1 ? (uint32_t)tiles : 0;
    return NULL;
}

static void add_node(char *name)
{
    uint32_t tiles;
    const char *why = take_tiles(name, &tiles);
    const struct zs_gpu_model *model = zs_gpu_model_find(name);
    if (!why)
        why = why_not(model);
    if (!why && all.count == ZS_DRM_NODES_MAX)
        why = "is one device too many";
    if (why) {
        zs_drm_log(ZS_DRM_ERROR, "ZESCOPE_DEVICES: %s %s: it has no node", name, why);
        return;
    }
    struct zs_drm_node *node = &all.nodes[all.count];
    if (tiles)
        node->of_tiles = zs_gpu_model_of_tiles(model, tiles);
    node->model = tiles ? &node->of_tiles : model;
    node->says = find_device(model);
    node->interface = choose_interface(node->says);
    node->index = all.count;
    pthread_mutex_init(&node->lock, NULL);
    snprintf(node->bdf, sizeof(node->bdf), "0000:%02x:%02x.0",
             all.count ? 2 + (unsigned)all.count : 0, all.count ? 0 : 2);
    all.count++;
}

uint32_t zs_drm_engines(const struct zs_drm_node *node,
                        struct zs_drm_engine ret[ZS_DRM_ENGINES_MAX])
{
    enum { RENDER, COPY, COMPUTE = 4 };
    const uint32_t counts[][2] = {
        {RENDER, node->says->render}, {COPY, node->says->copy}, {COMPUTE, node->says->compute}};
    uint32_t count = 0;
    for (size_t c = 0; c < ZS_ARRAY_LEN(counts); c++) {
        for (uint32_t i = 0; i < counts[c][1] && count < ZS_DRM_ENGINES_MAX; i++)
            ret[count++] = (struct zs_drm_engine){(uint16_t)counts[c][0], (uint16_t)i};
    }
    return count;
}

bool zs_drm_has_engine(const struct zs_drm_node *node, struct zs_drm_engine engine)
{
    struct zs_drm_engine engines[ZS_DRM_ENGINES_MAX];
    uint32_t count = zs_drm_engines(node, engines);
    for (uint32_t i = 0; i < count; i++) {
        if (engines[i].class == engine.class && engines[i].instance == engine.instance)
            return true;
    }
    return false;
}

/* ---- fork() ------------------------------------------------------------------------------------
 * Files are locked meanwhile, so that the child finds them whole.
 */

static void before_fork(void)
{
    pthread_mutex_lock(&all.lock);
    all.is_inherited = true;
    for (struct zs_drm_file *file = all.files; file; file = file->next) {
        pthread_mutex_lock(&file->lock);
        all.is_inherited = all.is_inherited && !file->jobs;
    }
    for (struct zs_drm_file *file = all.files; file && all.is_inherited; file = file->next)
        all.is_inherited = zs_drm_objects_share(file);
}

static void go_on(void)
{
    for (struct zs_drm_file *file = all.files; file; file = file->next)
        pthread_mutex_unlock(&file->lock);
    pthread_mutex_unlock(&all.lock);
}

static void init_lock(struct zs_drm_file *file)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&file->lock, NULL);
    pthread_cond_init(&file->idle, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

static void begin_child(void)
{
    pthread_mutex_init(&all.lock, NULL);
    if (!all.is_inherited) { /* batches are under way, which are the parent's */
        all.files = NULL;
        all.has_files = false;
    }
    for (struct zs_drm_file *file = all.files; file; file = file->next) {
        init_lock(file);
        zs_drm_objects_inherit(file);
        zs_drm_contexts_inherit(file);
    }
    zs_drm_compile_begin_child();
    zs_drm_names_begin_child();
    zs_drm_order_begin_child();
    for (uint32_t i = 0; i < all.count; i++) {
        pthread_mutex_init(&all.nodes[i].lock, NULL);
        all.nodes[i].device = NULL;
        all.nodes[i].kernels = NULL;
    }
}

static void read_devices(void)
{
    const char *text = secure_getenv("ZESCOPE_DEVICES");
    char *names = strdup(text && *text ? text : zs_default_intel_device()), *rest = NULL;
    for (char *name = names ? strtok_r(names, ",", &rest) : NULL; name;
         name = strtok_r(NULL, ",", &rest))
        add_node(name);
    free(names);
    pthread_atfork(before_fork, go_on, begin_child);
}

uint32_t zs_drm_node_count(void)
{
    pthread_once(&all.once, read_devices);
    return all.count;
}

struct zs_drm_node *zs_drm_node(uint32_t index)
{
    return index < zs_drm_node_count() ? &all.nodes[index] : NULL;
}

struct zs_gpu_device *zs_drm_node_device(struct zs_drm_node *node)
{
    pthread_mutex_lock(&node->lock);
    if (!node->device && zs_gpu_device_create(node->model, 0, &node->device))
        node->device = NULL;
    struct zs_gpu_device *device = node->device;
    pthread_mutex_unlock(&node->lock);
    return device;
}

/* ---- open files --------------------------------------------------------------------------------
 */

static struct zs_drm_file *file_create(struct zs_drm_node *node, int fd)
{
    struct stat st;
    struct zs_drm_file *file = calloc(1, sizeof(*file));
    uint32_t id;
    if (!file || zs_drm_real_fstat(fd, &st) || ftruncate(fd, (off_t)FILE_GB << 30)) {
        free(file);
        return NULL;
    }
    init_lock(file);
    file->node = node;
    file->device = st.st_dev;
    file->inode = st.st_ino;
    file->memory_fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    struct zs_drm_vm *vm = zs_drm_vm_create(node);
    if (vm && !zs_drm_context_create(file, vm, &id)) { /* the one that is always there: number 0 */
        zs_drm_vm_put(vm);
        return file;
    }
    zs_drm_vm_put(vm);
    free(file);
    return NULL;
}

int zs_drm_open(struct zs_drm_node *node, int flags)
{
    int fd = memfd_create("zescope-drm", flags & O_CLOEXEC ? MFD_CLOEXEC : 0);
    if (fd < 0)
        return -errno;
    struct zs_drm_file *file = file_create(node, fd);
    if (!file) {
        close(fd);
        return -ENOMEM;
    }
    pthread_mutex_lock(&all.lock);
    file->next = all.files;
    all.files = file;
    all.has_files = true;
    pthread_mutex_unlock(&all.lock);
    zs_drm_log(ZS_DRM_DEBUG, "%s opened as descriptor %d", node->model->name, fd);
    return fd;
}

struct zs_drm_file *zs_drm_file_of(int fd)
{
    struct stat st;
    if (!all.has_files || fd < 0 || zs_drm_real_fstat(fd, &st) || !S_ISREG(st.st_mode))
        return NULL;
    pthread_mutex_lock(&all.lock);
    struct zs_drm_file *file = all.files;
    while (file && (file->inode != st.st_ino || file->device != st.st_dev))
        file = file->next;
    pthread_mutex_unlock(&all.lock);
    return file;
}

/* What is behind it stays. */
static struct zs_drm_file *first_file(void)
{
    pthread_mutex_lock(&all.lock);
    struct zs_drm_file *file = all.files;
    pthread_mutex_unlock(&all.lock);
    return file;
}

void zs_drm_wait_pages(const struct zs_drm_pages *pages)
{
    for (struct zs_drm_file *file = first_file(); file; file = file->next) {
        pthread_mutex_lock(&file->lock);
        for (uint32_t i = 1; i < file->objects.count; i++) {
            if (file->objects.items[i] && file->objects.items[i]->pages == pages)
                zs_drm_wait(file->objects.items[i], NULL);
        }
        pthread_mutex_unlock(&file->lock);
    }
}

void zs_drm_withdraw(uint64_t gpu_va)
{
    for (struct zs_drm_file *file = first_file(); file; file = file->next) {
        pthread_mutex_lock(&file->lock);
        for (uint32_t i = 0; i < file->contexts.count; i++) {
            const struct zs_drm_context *context = file->contexts.items[i];
            struct zs_gpu_allocation a;
            if (context && zs_gpu_memory_find(context->vm->memory, gpu_va, &a) &&
                a.gpu_va == gpu_va && a.label[0])
                zs_gpu_memory_remove(context->vm->memory, a.gpu_va, NULL, NULL);
        }
        pthread_mutex_unlock(&file->lock);
    }
}

uint32_t zs_drm_file_minor(const struct zs_drm_file *file)
{
    return ZS_DRM_RENDER_MINOR + file->node->index;
}

void zs_drm_node_stat(uint32_t minor, struct stat *ret)
{
    ret->st_mode = S_IFCHR | 0666;
    ret->st_rdev = makedev(ZS_DRM_MAJOR, minor);
    ret->st_size = 0;
}
