/* SPDX-License-Identifier: MIT */
#include "collect/kernels.h"

#include "api_calls.h"
#include "base/filter.h"
#include "collect/launches.h"
#include "collect/own_stack.h"
#include "store/launch_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WANTED_MOST = 64, MEMORY_MOST = 256, COPY_ALIGN_B = 64 };
static const uint64_t LIMIT_B = UINT64_C(1) << 30;

struct wanted {
    struct zs_filter name;
    uint64_t number; /* which launch of a kernel */
};

struct argument {
    uint64_t size_B;
    bool is_set, has_value;
    uint8_t value[ZS_LAUNCH_VALUE_MOST_B];
};

struct kernel {
    struct kernel *next;
    ze_kernel_handle_t handle;
    char *name;
    uint32_t build, size[3], offset[3];
    bool is_indirect, is_wanted;
    uint64_t launches;
    uint32_t argument_count;
    struct argument *arguments[ZS_LAUNCH_ARGUMENTS_MOST]; /* NULL: not set */
};

struct module {
    struct module *next;
    ze_module_handle_t handle;
    uint32_t build;
};

struct list {
    struct list *next;
    ze_command_list_handle_t handle;
    ze_context_handle_t context;
};

/* An image or a sampler. */
struct object {
    struct object *next;
    void *handle;
    uint64_t size_B; /* of an image; 0: a sampler */
    uint32_t words[ZS_LAUNCH_IMAGE_WORDS];
};

struct memory {
    void *address; /* or an image's handle */
    uint64_t size_B;
    uint32_t type, state;
    uint32_t words[ZS_LAUNCH_IMAGE_WORDS]; /* of an image */
    uint8_t *before, *after;               /* host memory of ours */
};

/* A launch whose copies are on their way. */
struct capture {
    struct capture *next;
    struct list *list;
    ze_context_handle_t context;
    ze_event_pool_handle_t pool;
    ze_event_handle_t done, app_event; /* app_event: signalled behind the copies */
    struct zs_buf head;                /* of the file, up to the memory */
    struct memory memory[MEMORY_MOST];
    uint32_t memory_count;
    bool is_written;
    char name[80]; /* for notes */
};

struct zs_kernels {
    struct zs_collector *c;
    pthread_mutex_t lock;
    pid_t pid;
    struct wanted wanted[WANTED_MOST];
    size_t wanted_count;
    uint64_t left_B;
    struct kernel *kernels;
    struct module *modules;
    struct list *lists;
    struct object *objects;
    struct capture *captures;
    unsigned files;
};

#define ARG(type, i) (*(type *)event->params[i])

/* ---- what is wanted ---- */

/* "REGEX[:N]" */
static bool add_wanted(struct zs_kernels *k, char *text)
{
    struct wanted w = {.number = zs_filter_cut_number(text, 1)};
    const char *patterns[] = {text};
    if (zs_filter_compile(&w.name, patterns, 1, NULL))
        return false;
    k->wanted[k->wanted_count++] = w;
    return true;
}

struct zs_kernels *zs_kernels_new(struct zs_collector *c)
{
    const char *text = getenv(ZS_ENV_COLLECT_CAPTURE),
               *limit = getenv(ZS_ENV_COLLECT_CAPTURE_LIMIT);
    char *copy = text && *text ? strdup(text) : NULL, *save = NULL;
    struct zs_kernels *k = copy ? calloc(1, sizeof(*k)) : NULL;
    if (k) {
        k->c = c;
        k->pid = getpid();
        k->left_B = limit && *limit ? strtoull(limit, NULL, 10) : LIMIT_B;
        pthread_mutex_init(&k->lock, NULL);
        for (char *line = strtok_r(copy, "\n", &save); line && k->wanted_count < WANTED_MOST;
             line = strtok_r(NULL, "\n", &save))
            add_wanted(k, line);
    }
    free(copy);
    return k;
}

static bool is_wanted(const struct zs_kernels *k, const char *name, uint64_t number)
{
    for (size_t i = 0; i < k->wanted_count; i++)
        if (zs_launches_name_matches(&k->wanted[i].name, name) &&
            (!number || k->wanted[i].number == number))
            return true;
    return false;
}

/* ---- what is known ---- */

static struct kernel *kernel_of(struct zs_kernels *k, ze_kernel_handle_t handle)
{
    struct kernel *at = k->kernels;
    while (at && at->handle != handle)
        at = at->next;
    return at;
}

static struct list *list_of(struct zs_kernels *k, ze_command_list_handle_t handle)
{
    struct list *at = k->lists;
    while (at && at->handle != handle)
        at = at->next;
    return at;
}

static void forget_kernel(struct zs_kernels *k, ze_kernel_handle_t handle)
{
    for (struct kernel **at = &k->kernels; *at; at = &(*at)->next) {
        struct kernel *gone = *at;
        if (gone->handle != handle)
            continue;
        *at = gone->next;
        for (size_t i = 0; i < ZS_LAUNCH_ARGUMENTS_MOST; i++)
            free(gone->arguments[i]);
        free(gone->name);
        free(gone);
        return;
    }
}

static void module_made(struct zs_kernels *k, ze_module_handle_t handle, uint32_t build)
{
    struct module *m = k->modules;
    while (m && m->handle != handle)
        m = m->next;
    if (!m) {
        m = calloc(1, sizeof(*m));
        if (!m)
            return;
        m->handle = handle;
        m->next = k->modules;
        k->modules = m;
    }
    m->build = build;
}

static void kernel_made(struct zs_kernels *k, ze_module_handle_t module, const char *name,
                        ze_kernel_handle_t handle)
{
    forget_kernel(k, handle);
    struct kernel *new_one = calloc(1, sizeof(*new_one));
    if (!new_one || !(new_one->name = strdup(name))) {
        free(new_one);
        return;
    }
    for (struct module *m = k->modules; m; m = m->next)
        if (m->handle == module)
            new_one->build = m->build;
    new_one->handle = handle;
    new_one->is_wanted = is_wanted(k, name, 0);
    new_one->next = k->kernels;
    k->kernels = new_one;
}

static void list_made(struct zs_kernels *k, ze_context_handle_t context,
                      ze_command_list_handle_t handle)
{
    struct list *l = list_of(k, handle);
    if (!l) {
        l = calloc(1, sizeof(*l));
        if (!l)
            return;
        l->handle = handle;
        l->next = k->lists;
        k->lists = l;
    }
    l->context = context;
}

static void set_argument(struct kernel *kernel, uint32_t index, size_t size_B, const void *value)
{
    if (index >= ZS_LAUNCH_ARGUMENTS_MOST)
        return;
    struct argument *a = kernel->arguments[index];
    if (!a && !(a = kernel->arguments[index] = calloc(1, sizeof(*a))))
        return;
    a->is_set = true;
    a->size_B = size_B;
    a->has_value = value;
    if (value)
        memcpy(a->value, value, ZS_MIN(size_B, (size_t)ZS_LAUNCH_VALUE_MOST_B));
    kernel->argument_count = ZS_MAX(kernel->argument_count, index + 1);
}

/* ---- a launch ---- */

static void put_u32(struct zs_buf *out, uint32_t value)
{
    zs_buf_append(out, &value, sizeof(value));
}

static void put_u64(struct zs_buf *out, uint64_t value)
{
    zs_buf_append(out, &value, sizeof(value));
}

static struct object *object_of(struct zs_kernels *k, const void *handle)
{
    struct object *o = k->objects;
    while (o && o->handle != handle)
        o = o->next;
    return o;
}

/* The number of an allocation or image among those of the launch, or UINT32_MAX. */
static uint32_t add_memory(struct capture *capture, const struct memory *memory)
{
    for (uint32_t i = 0; i < capture->memory_count; i++)
        if (capture->memory[i].address == memory->address)
            return i;
    if (capture->memory_count == MEMORY_MOST)
        return UINT32_MAX;
    capture->memory[capture->memory_count] = *memory;
    return capture->memory_count++;
}

/* The image that an argument of eight bytes is, or the allocation that it points into: its index,
 * or UINT32_MAX. */
static uint32_t memory_of(struct zs_kernels *k, struct capture *capture, const struct argument *a,
                          uint64_t *ret_offset_B)
{
    const struct zs_collect_api *api = &k->c->api;
    ze_memory_allocation_properties_t p = {.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES};
    void *pointer, *base = NULL;
    size_t size_B = 0;
    if (a->size_B != sizeof(pointer) || !a->has_value)
        return UINT32_MAX;
    memcpy(&pointer, a->value, sizeof(pointer));
    const struct object *o = object_of(k, pointer);
    if (o && o->size_B) {
        struct memory image = {.address = pointer, .size_B = o->size_B, .type = ZS_LAUNCH_IMAGE};
        memcpy(image.words, o->words, sizeof(image.words));
        return add_memory(capture, &image);
    }
    if (!pointer || o || api->zeMemGetAllocProperties(capture->context, pointer, &p, NULL) ||
        p.type == ZE_MEMORY_TYPE_UNKNOWN ||
        api->zeMemGetAddressRange(capture->context, pointer, &base, &size_B) || !base)
        return UINT32_MAX;
    *ret_offset_B = (uint64_t)((char *)pointer - (char *)base);
    return add_memory(
        capture, &(struct memory){.address = base, .size_B = size_B, .type = (uint32_t)p.type});
}

static const struct object *sampler_of(struct zs_kernels *k, const struct argument *a)
{
    void *handle;
    if (a->size_B != sizeof(handle) || !a->has_value)
        return NULL;
    memcpy(&handle, a->value, sizeof(handle));
    const struct object *o = object_of(k, handle);
    return o && !o->size_B ? o : NULL;
}

static void put_argument(struct zs_kernels *k, struct capture *capture, uint32_t index,
                         const struct argument *a)
{
    uint64_t offset_B = 0;
    uint32_t memory = memory_of(k, capture, a, &offset_B);
    const struct object *sampler = memory == UINT32_MAX ? sampler_of(k, a) : NULL;
    put_u32(&capture->head, index);
    put_u32(&capture->head, memory != UINT32_MAX ? ZS_LAUNCH_POINTER
                            : sampler            ? ZS_LAUNCH_SAMPLER
                            : a->has_value       ? ZS_LAUNCH_VALUE
                                                 : ZS_LAUNCH_NOTHING);
    put_u64(&capture->head, a->size_B);
    put_u32(&capture->head, memory == UINT32_MAX ? 0 : memory);
    put_u32(&capture->head, 0);
    put_u64(&capture->head, offset_B);
    if (sampler)
        zs_buf_append(&capture->head, sampler->words, ZS_LAUNCH_SAMPLER_B);
    else if (memory == UINT32_MAX && a->has_value && a->size_B <= ZS_LAUNCH_VALUE_MOST_B)
        zs_buf_append(&capture->head, a->value, (size_t)a->size_B);
}

static void put_head(struct zs_kernels *k, struct capture *capture, const struct kernel *kernel,
                     const ze_group_count_t *groups, bool is_cooperative)
{
    struct zs_buf *out = &capture->head;
    uint32_t count = 0, name_B = (uint32_t)strnlen(kernel->name, ZS_LAUNCH_NAME_MOST_B);
    for (uint32_t i = 0; i < kernel->argument_count; i++)
        count += kernel->arguments[i] != NULL;
    zs_buf_append(out, ZS_LAUNCH_MAGIC, 8);
    put_u64(out, kernel->build);
    put_u64(out, zs_collect_now_ns());
    put_u32(out, (uint32_t)kernel->launches);
    put_u32(out, (kernel->is_indirect ? ZS_LAUNCH_INDIRECT : 0u) |
                     (is_cooperative ? ZS_LAUNCH_COOPERATIVE : 0u));
    put_u32(out, groups->groupCountX);
    put_u32(out, groups->groupCountY);
    put_u32(out, groups->groupCountZ);
    zs_buf_append(out, kernel->size, sizeof(kernel->size));
    zs_buf_append(out, kernel->offset, sizeof(kernel->offset));
    put_u32(out, name_B);
    put_u32(out, count);
    size_t memory_at = out->size_B;
    put_u32(out, 0);
    put_u32(out, 0);
    zs_buf_append(out, kernel->name, name_B);
    for (uint32_t i = 0; i < kernel->argument_count; i++)
        if (kernel->arguments[i])
            put_argument(k, capture, i, kernel->arguments[i]);
    if (!out->error)
        memcpy(out->data + memory_at, &capture->memory_count, sizeof(capture->memory_count));
}

/* Host memory for both copies; what goes beyond the limit is left out. */
static void take_room(struct zs_kernels *k, struct capture *capture)
{
    const ze_host_mem_alloc_desc_t host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    for (uint32_t i = 0; i < capture->memory_count; i++) {
        struct memory *m = &capture->memory[i];
        void *room = NULL;
        if (m->size_B > k->left_B / 2) {
            m->state = ZS_LAUNCH_TOO_LARGE;
            continue;
        }
        if (k->c->api.zeMemAllocHost(capture->context, &host, 2 * (size_t)m->size_B, COPY_ALIGN_B,
                                     &room)) {
            m->state = ZS_LAUNCH_NO_COPY;
            continue;
        }
        k->left_B -= 2 * m->size_B;
        m->before = room;
        m->after = m->before + m->size_B;
    }
}

static ze_result_t append_copy(const struct zs_collect_api *api, ze_command_list_handle_t list,
                               void *to, const struct memory *m)
{
    if (m->type != ZS_LAUNCH_IMAGE)
        return api->zeCommandListAppendMemoryCopy(list, to, m->address, (size_t)m->size_B, NULL, 0,
                                                  NULL);
    if (!api->zeCommandListAppendImageCopyToMemory)
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    return api->zeCommandListAppendImageCopyToMemory(list, to, m->address, NULL, NULL, 0, NULL);
}

/* Copies of all memory into the list, whole ones behind all that stands there. */
static void append_copies(struct zs_kernels *k, struct capture *capture, bool is_after,
                          uint32_t wait_count, ze_event_handle_t *waits)
{
    const struct zs_collect_api *api = &k->c->api;
    ze_command_list_handle_t list = capture->list->handle;
    api->zeCommandListAppendBarrier(list, NULL, wait_count, waits);
    for (uint32_t i = 0; i < capture->memory_count; i++) {
        struct memory *m = &capture->memory[i];
        if (m->state == ZS_LAUNCH_WHOLE &&
            append_copy(api, list, is_after ? m->after : m->before, m))
            m->state = ZS_LAUNCH_NO_COPY;
    }
    api->zeCommandListAppendBarrier(list, is_after ? capture->app_event : NULL, 0, NULL);
    if (is_after)
        api->zeCommandListAppendBarrier(list, capture->done, 0, NULL);
}

static bool make_event(struct zs_kernels *k, struct capture *capture)
{
    const ze_event_pool_desc_t pool = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
                                       .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
                                       .count = 1};
    const ze_event_desc_t event = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC,
                                   .signal = ZE_EVENT_SCOPE_FLAG_HOST};
    return !k->c->api.zeEventPoolCreate(capture->context, &pool, 0, NULL, &capture->pool) &&
           !k->c->api.zeEventCreate(capture->pool, &event, &capture->done);
}

/* Before the application's context goes. */
static void free_capture(struct zs_kernels *k, struct capture *capture)
{
    const struct zs_collect_api *api = &k->c->api;
    for (uint32_t i = 0; i < capture->memory_count; i++)
        if (capture->memory[i].before)
            api->zeMemFree(capture->context, capture->memory[i].before);
    if (capture->done)
        api->zeEventDestroy(capture->done);
    if (capture->pool)
        api->zeEventPoolDestroy(capture->pool);
    zs_buf_fini(&capture->head);
    free(capture);
}

static bool can_capture(const struct zs_collect_api *api)
{
    return api->zeMemGetAddressRange && api->zeMemGetAllocProperties && api->zeMemAllocHost &&
           api->zeMemFree && api->zeCommandListAppendMemoryCopy &&
           api->zeCommandListAppendBarrier && api->zeEventPoolCreate && api->zeEventCreate &&
           api->zeEventQueryStatus && api->zeEventDestroy && api->zeEventPoolDestroy;
}

/* ---- files ---- */

static bool write_all(int fd, const void *data, uint64_t size_B)
{
    for (const uint8_t *at = data; size_B;) {
        ssize_t n = write(fd, at, (size_t)ZS_MIN(size_B, UINT64_C(1) << 30));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        size_B -= (uint64_t)n;
    }
    return true;
}

static bool write_memory(int fd, const struct memory *m)
{
    struct zs_buf head = {0};
    put_u64(&head, (uint64_t)(uintptr_t)m->address);
    put_u64(&head, m->size_B);
    put_u32(&head, m->type);
    put_u32(&head, m->state);
    if (m->type == ZS_LAUNCH_IMAGE)
        zs_buf_append(&head, m->words, sizeof(m->words));
    bool ok = !head.error && write_all(fd, head.data, head.size_B);
    zs_buf_fini(&head);
    return ok && (m->state != ZS_LAUNCH_WHOLE ||
                  (write_all(fd, m->before, m->size_B) && write_all(fd, m->after, m->size_B)));
}

static int write_file(struct zs_kernels *k, const struct capture *capture)
{
    char path[ZS_COLLECT_PATH_CHARS], temp[ZS_COLLECT_PATH_CHARS], prefix[ZS_COLLECT_PREFIX_CHARS];
    int error = zs_collect_prefix(k->c, prefix);
    int n = snprintf(path, sizeof(path), "%s/" ZS_LAUNCH_DIR, k->c->dir);
    if (error || n < 0 || n + 96 >= (int)sizeof(path))
        return error ? error : -ENAMETOOLONG;
    if (mkdir(path, 0755) && errno != EEXIST)
        return -errno;
    snprintf(temp, sizeof(temp), "%.*s/.new-%s%u", n, path, prefix, k->files);
    snprintf(path + n, sizeof(path) - (size_t)n, "/%s%u.launch", prefix, k->files);
    int fd = open(temp, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd < 0)
        return -errno;
    k->files++;
    bool ok = !capture->head.error && write_all(fd, capture->head.data, capture->head.size_B);
    for (uint32_t i = 0; i < capture->memory_count && ok; i++)
        ok = write_memory(fd, &capture->memory[i]);
    error = ok ? 0 : errno ? -errno : -ENOMEM;
    if ((close(fd) || (ok && rename(temp, path))) && !error)
        error = -errno;
    if (error)
        unlink(temp);
    return error;
}

/* What is there is written; its memory stays as long as its list, which may be executed again. */
static void look(struct zs_kernels *k)
{
    for (struct capture *at = k->captures; at; at = at->next) {
        if (at->is_written || k->c->api.zeEventQueryStatus(at->done))
            continue;
        at->is_written = true;
        int error = write_file(k, at);
        if (error)
            zs_session_note(k->c, "the captured launch of %s was not kept: %s", at->name,
                            strerror(-error));
    }
}

static void drop_captures(struct zs_kernels *k, const struct list *list,
                          ze_context_handle_t context)
{
    look(k);
    for (struct capture **at = &k->captures; *at;) {
        struct capture *c = *at;
        if ((list && c->list != list) || (context && c->context != context)) {
            at = &c->next;
            continue;
        }
        if (!c->is_written)
            zs_session_note(k->c, "the captured launch of %s was not executed", c->name);
        *at = c->next;
        free_capture(k, c);
    }
}

/* ---- calls ---- */

static void note_uncaptured(struct zs_kernels *k, const struct kernel *kernel, const char *why)
{
    zs_session_note(k->c, "launch %" PRIu64 " of %.60s was not captured: %s", kernel->launches,
                    kernel->name, why);
}

static void launch_enter(struct zs_kernels *k, const struct zs_trace_event *event, void **instance)
{
    struct kernel *kernel = kernel_of(k, ARG(ze_kernel_handle_t, 1));
    struct list *list = list_of(k, ARG(ze_command_list_handle_t, 0));
    const ze_group_count_t *groups = ARG(const ze_group_count_t *, 2);
    if (!kernel || !kernel->is_wanted || !is_wanted(k, kernel->name, ++kernel->launches))
        return;
    struct capture *capture = list && groups ? calloc(1, sizeof(*capture)) : NULL;
    if (!capture || !can_capture(&k->c->api)) {
        note_uncaptured(k, kernel, !list ? "its command list is not known" : "no memory");
        free(capture);
        return;
    }
    capture->list = list;
    capture->context = list->context;
    snprintf(capture->name, sizeof(capture->name), "%.60s", kernel->name);
    put_head(k, capture, kernel, groups,
             event->call == ZS_API_zeCommandListAppendLaunchCooperativeKernel);
    if (capture->head.error || !make_event(k, capture)) {
        note_uncaptured(k, kernel, "no event can be made");
        free_capture(k, capture);
        return;
    }
    take_room(k, capture);
    append_copies(k, capture, false, ARG(uint32_t, 4), ARG(ze_event_handle_t *, 5));
    capture->app_event = ARG(ze_event_handle_t, 3);
    ARG(ze_event_handle_t, 3) = NULL;
    *instance = capture;
}

static void launch_leave(struct zs_kernels *k, const struct zs_trace_event *event, uint32_t build,
                         void *instance)
{
    struct capture *capture = instance;
    if (!capture)
        return;
    ARG(ze_event_handle_t, 3) = capture->app_event;
    capture->next = k->captures; /* even of a failure: the copies of before are under way */
    k->captures = capture;
    capture->is_written = *event->result != 0;
    if (*event->result)
        return;
    append_copies(k, capture, true, 0, NULL);
    if (k->c->at_exit && !atomic_exchange(&k->c->exit_is_watched, true))
        atexit(k->c->at_exit);
    look(k); /* lists may be synchronous */
}

static void other_launch_enter(struct zs_kernels *k, const struct zs_trace_event *event,
                               void **instance)
{
    struct kernel *kernel = kernel_of(k, ARG(ze_kernel_handle_t, 1));
    if (kernel && kernel->is_wanted && is_wanted(k, kernel->name, ++kernel->launches))
        note_uncaptured(k, kernel,
                        event->call == ZS_API_zeCommandListAppendLaunchKernelIndirect
                            ? "its groups are in memory (an indirect launch)"
                            : "its arguments come with the launch");
}

static void module_leave(struct zs_kernels *k, const struct zs_trace_event *event, uint32_t build,
                         void *instance)
{
    ze_module_handle_t *module = ARG(ze_module_handle_t *, 3);
    if (!*event->result && module && build)
        module_made(k, *module, build);
}

static void kernel_leave(struct zs_kernels *k, const struct zs_trace_event *event, uint32_t build,
                         void *instance)
{
    const ze_kernel_desc_t *desc = ARG(const ze_kernel_desc_t *, 1);
    ze_kernel_handle_t *kernel = ARG(ze_kernel_handle_t *, 2);
    if (!*event->result && desc && desc->pKernelName && kernel)
        kernel_made(k, ARG(ze_module_handle_t, 0), desc->pKernelName, *kernel);
}

static void kernel_gone_enter(struct zs_kernels *k, const struct zs_trace_event *event,
                              void **instance)
{
    forget_kernel(k, ARG(ze_kernel_handle_t, 0));
}

static void argument_leave(struct zs_kernels *k, const struct zs_trace_event *event, uint32_t build,
                           void *instance)
{
    struct kernel *kernel = *event->result ? NULL : kernel_of(k, ARG(ze_kernel_handle_t, 0));
    if (kernel && kernel->is_wanted)
        set_argument(kernel, ARG(uint32_t, 1), ARG(size_t, 2), ARG(const void *, 3));
}

static void size_leave(struct zs_kernels *k, const struct zs_trace_event *event, uint32_t build,
                       void *instance)
{
    struct kernel *kernel = *event->result ? NULL : kernel_of(k, ARG(ze_kernel_handle_t, 0));
    uint32_t *to = !kernel                                      ? NULL
                   : event->call == ZS_API_zeKernelSetGroupSize ? kernel->size
                                                                : kernel->offset;
    for (uint32_t i = 0; to && i < 3; i++)
        to[i] = ARG(uint32_t, i + 1);
}

static void indirect_leave(struct zs_kernels *k, const struct zs_trace_event *event, uint32_t build,
                           void *instance)
{
    struct kernel *kernel = *event->result ? NULL : kernel_of(k, ARG(ze_kernel_handle_t, 0));
    if (kernel)
        kernel->is_indirect = ARG(uint32_t, 1) != 0;
}

static void object_made(struct zs_kernels *k, const struct object *like)
{
    struct object *o = malloc(sizeof(*o));
    if (!o)
        return;
    *o = *like;
    o->next = k->objects;
    k->objects = o;
}

/* What is made of other memory is not told here: it has more behind pNext. */
static void image_leave(struct zs_kernels *k, const struct zs_trace_event *event, uint32_t build,
                        void *instance)
{
    const ze_image_desc_t *d = ARG(const ze_image_desc_t *, 2);
    ze_image_handle_t *image = ARG(ze_image_handle_t *, 3);
    if (*event->result || !d || !image || d->pNext || d->miplevels > 1 || d->width > UINT32_MAX)
        return;
    struct object o = {.handle = *image,
                       .words = {[ZS_LAUNCH_IMAGE_FLAGS] = d->flags,
                                 [ZS_LAUNCH_IMAGE_TYPE] = (uint32_t)d->type,
                                 [ZS_LAUNCH_IMAGE_LAYOUT] = (uint32_t)d->format.layout,
                                 [ZS_LAUNCH_IMAGE_FORMAT] = (uint32_t)d->format.type,
                                 [ZS_LAUNCH_IMAGE_SWIZZLE] =
                                     (uint32_t)d->format.x | (uint32_t)d->format.y << 8 |
                                     (uint32_t)d->format.z << 16 | (uint32_t)d->format.w << 24,
                                 [ZS_LAUNCH_IMAGE_WIDTH] = (uint32_t)d->width,
                                 [ZS_LAUNCH_IMAGE_HEIGHT] = d->height,
                                 [ZS_LAUNCH_IMAGE_DEPTH] = d->depth,
                                 [ZS_LAUNCH_IMAGE_LEVELS] = d->arraylevels}};
    o.size_B = zs_launch_image_B(o.words);
    if (o.size_B)
        object_made(k, &o);
}

static void sampler_leave(struct zs_kernels *k, const struct zs_trace_event *event, uint32_t build,
                          void *instance)
{
    const ze_sampler_desc_t *d = ARG(const ze_sampler_desc_t *, 2);
    ze_sampler_handle_t *sampler = ARG(ze_sampler_handle_t *, 3);
    if (!*event->result && d && sampler)
        object_made(k, &(struct object){.handle = *sampler,
                                        .words = {(uint32_t)d->addressMode, (uint32_t)d->filterMode,
                                                  d->isNormalized}});
}

static void object_gone_enter(struct zs_kernels *k, const struct zs_trace_event *event,
                              void **instance)
{
    for (struct object **at = &k->objects; *at; at = &(*at)->next) {
        struct object *o = *at;
        if (o->handle != ARG(void *, 0))
            continue;
        *at = o->next;
        free(o);
        return;
    }
}

static void list_leave(struct zs_kernels *k, const struct zs_trace_event *event, uint32_t build,
                       void *instance)
{
    ze_command_list_handle_t *list = ARG(ze_command_list_handle_t *, 3);
    if (!*event->result && list)
        list_made(k, ARG(ze_context_handle_t, 0), *list);
}

static void list_gone_enter(struct zs_kernels *k, const struct zs_trace_event *event,
                            void **instance)
{
    struct list *list = list_of(k, ARG(ze_command_list_handle_t, 0));
    if (list)
        drop_captures(k, list, NULL);
}

static void context_gone_enter(struct zs_kernels *k, const struct zs_trace_event *event,
                               void **instance)
{
    drop_captures(k, NULL, ARG(ze_context_handle_t, 0));
}

static void wait_leave(struct zs_kernels *k, const struct zs_trace_event *event, uint32_t build,
                       void *instance)
{
    if (!*event->result)
        look(k);
}

struct hooks {
    void (*enter)(struct zs_kernels *k, const struct zs_trace_event *event, void **instance);
    void (*leave)(struct zs_kernels *k, const struct zs_trace_event *event, uint32_t build,
                  void *instance);
};
static const struct hooks hooks[ZS_API_CALL_COUNT] = {
    [ZS_API_zeModuleCreate] = {NULL, module_leave},
    [ZS_API_zeKernelCreate] = {NULL, kernel_leave},
    [ZS_API_zeKernelDestroy] = {kernel_gone_enter, NULL},
    [ZS_API_zeKernelSetArgumentValue] = {NULL, argument_leave},
    [ZS_API_zeKernelSetGroupSize] = {NULL, size_leave},
    [ZS_API_zeKernelSetGlobalOffsetExp] = {NULL, size_leave},
    [ZS_API_zeKernelSetIndirectAccess] = {NULL, indirect_leave},
    [ZS_API_zeImageCreate] = {NULL, image_leave},
    [ZS_API_zeImageDestroy] = {object_gone_enter, NULL},
    [ZS_API_zeSamplerCreate] = {NULL, sampler_leave},
    [ZS_API_zeSamplerDestroy] = {object_gone_enter, NULL},
    [ZS_API_zeCommandListCreate] = {NULL, list_leave},
    [ZS_API_zeCommandListCreateImmediate] = {NULL, list_leave},
    [ZS_API_zeCommandListDestroy] = {list_gone_enter, NULL},
    [ZS_API_zeCommandListReset] = {list_gone_enter, NULL},
    [ZS_API_zeContextDestroy] = {context_gone_enter, NULL},
    [ZS_API_zeCommandListAppendLaunchKernel] = {launch_enter, launch_leave},
    [ZS_API_zeCommandListAppendLaunchCooperativeKernel] = {launch_enter, launch_leave},
    [ZS_API_zeCommandListAppendLaunchKernelIndirect] = {other_launch_enter, NULL},
    [ZS_API_zeCommandListAppendLaunchKernelWithArguments] = {other_launch_enter, NULL},
    [ZS_API_zeCommandListAppendLaunchKernelWithParameters] = {other_launch_enter, NULL},
    [ZS_API_zeCommandQueueSynchronize] = {NULL, wait_leave},
    [ZS_API_zeFenceHostSynchronize] = {NULL, wait_leave},
    [ZS_API_zeEventHostSynchronize] = {NULL, wait_leave},
    [ZS_API_zeCommandListHostSynchronize] = {NULL, wait_leave},
};

/* Inside a guard, on a stack of our own. */
struct task {
    struct zs_kernels *k;
    const struct zs_trace_event *event;
    const struct hooks *h;
    void **instance;
    void *value;
    uint32_t build;
    bool is_enter;
};

static void work(void *arg)
{
    const struct task *t = arg;
    struct zs_collect_guard guard;
    zs_guard_enter(&guard);
    pthread_mutex_lock(&t->k->lock);
    if (!t->event)
        look(t->k);
    else if (t->is_enter)
        t->h->enter(t->k, t->event, t->instance);
    else
        t->h->leave(t->k, t->event, t->build, t->value);
    pthread_mutex_unlock(&t->k->lock);
    zs_guard_leave(&guard);
}

static const struct hooks *hooks_of(const struct zs_kernels *k, const struct zs_trace_event *event)
{
    const struct hooks *h = event->call < ZS_API_CALL_COUNT ? &hooks[event->call] : NULL;
    return h && (h->enter || h->leave) && k->pid == getpid() && !zs_guard_is_entered() ? h : NULL;
}

void zs_kernels_enter(struct zs_kernels *k, const struct zs_trace_event *event, void **instance)
{
    const struct hooks *h = hooks_of(k, event);
    *instance = NULL;
    if (h && h->enter)
        zs_own_stack_run(work, &(struct task){k, event, h, instance, NULL, 0, true});
}

void zs_kernels_leave(struct zs_kernels *k, const struct zs_trace_event *event, uint32_t build,
                      void *instance)
{
    const struct hooks *h = hooks_of(k, event);
    if (h && h->leave)
        zs_own_stack_run(work, &(struct task){k, event, h, NULL, instance, build, false});
}

void zs_kernels_process_ends(struct zs_kernels *k)
{
    if (k->pid == getpid() && !zs_guard_is_entered())
        zs_own_stack_run(work, &(struct task){k, NULL, NULL, NULL, NULL, 0, false});
}
