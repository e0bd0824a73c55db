/* SPDX-License-Identifier: MIT */
/* Callbacks of the loader's tracing layer. The layer does not trace what a callback calls. */
#include "collect/collect.h"
#include "collect/instrument.h"
#include "collect/own_stack.h"

#include <level_zero/layers/zel_tracing_api.h>

#include <dlfcn.h>
#include <unistd.h>

/* zel_tracer_dditable_t of layers/zel_tracing_ddi.h, which as installed includes itself by a path
 * that only the loader's own build knows. */
struct tracer_table {
    ze_result_t (*create)(const zel_tracer_desc_t *desc, zel_tracer_handle_t *ret_tracer);
    ze_result_t (*destroy)(zel_tracer_handle_t tracer);
    ze_result_t (*set_prologues)(zel_tracer_handle_t tracer, zel_core_callbacks_t *callbacks);
    ze_result_t (*set_epilogues)(zel_tracer_handle_t tracer, zel_core_callbacks_t *callbacks);
    ze_result_t (*set_enabled)(zel_tracer_handle_t tracer, ze_bool_t enable);
};
typedef ze_result_t (*get_table_fn)(ze_api_version_t version, struct tracer_table *ret_table);

/* A callback, inside a guard and on a stack of our own. */
struct callback {
    void (*work)(const struct callback *c);
    struct zs_collector *collector;
    void *params;
    ze_result_t result;
    void **instance;
};

static void call_guarded(void *arg)
{
    const struct callback *c = arg;
    struct zs_collect_guard guard;
    zs_guard_enter(&guard);
    c->work(c);
    zs_guard_leave(&guard);
}

static void call_back(void (*work)(const struct callback *c), void *params, ze_result_t result,
                      void *user, void **instance)
{
    struct callback c = {work, user, params, result, instance};
    zs_own_stack_run(call_guarded, &c);
}

static void begin_capture(const struct callback *c)
{
    *c->instance = zs_capture_begin(c->collector, c->params);
}

static void end_capture(const struct callback *c)
{
    *c->instance =
        (void *)(uintptr_t)zs_capture_end(c->collector, *c->instance, c->params, c->result);
}

static void begin_link(const struct callback *c)
{
    *c->instance = zs_capture_link_begin(c->collector, c->params);
}

static void end_link(const struct callback *c)
{
    zs_capture_link_end(c->collector, *c->instance, c->params, c->result);
}

static void module_is_gone(const struct callback *c)
{
    const ze_module_destroy_params_t *params = c->params;
    zs_instrument_module_ends(c->collector, *params->phModule);
    zs_capture_destroy(c->collector, *params->phModule);
}

static void context_goes(const struct callback *c)
{
    const ze_context_destroy_params_t *params = c->params;
    zs_instrument_context_ends(c->collector, *params->phContext);
}

static void have_waited(const struct callback *c)
{
    zs_instrument_synchronized(c->collector);
}

static void start_counts(const struct callback *c)
{
    zs_counts_start(c->collector, c->params);
}

static void module_create_enter(ze_module_create_params_t *params, ze_result_t result, void *user,
                                void **instance)
{
    call_back(begin_capture, params, result, user, instance);
}

static void module_create_exit(ze_module_create_params_t *params, ze_result_t result, void *user,
                               void **instance)
{
    if (*instance)
        call_back(end_capture, params, result, user, instance);
}

static void module_link_enter(ze_module_dynamic_link_params_t *params, ze_result_t result,
                              void *user, void **instance)
{
    call_back(begin_link, params, result, user, instance);
}

static void module_link_exit(ze_module_dynamic_link_params_t *params, ze_result_t result,
                             void *user, void **instance)
{
    if (*instance)
        call_back(end_link, params, result, user, instance);
}

static void module_destroy_exit(ze_module_destroy_params_t *params, ze_result_t result, void *user,
                                void **instance)
{
    if (!result)
        call_back(module_is_gone, params, result, user, instance);
}

static void context_destroy_enter(ze_context_destroy_params_t *params, ze_result_t result,
                                  void *user, void **instance)
{
    call_back(context_goes, params, result, user, instance);
}

/* A part of an object, or of the user's memory: only who emulates the device wants to know. */
#define ALLOCATES(X)                                                                               \
    X(pfnAllocDeviceCb, mem_alloc_device, "zeMemAllocDevice")                                      \
    X(pfnAllocHostCb, mem_alloc_host, "zeMemAllocHost")                                            \
    X(pfnAllocSharedCb, mem_alloc_shared, "zeMemAllocShared")
#define X(member, name, call)                                                                      \
    static void name##_enter(ze_##name##_params_t *params, ze_result_t result, void *user,         \
                             void **instance)                                                      \
    {                                                                                              \
        const struct zs_collector *c = user;                                                       \
        zs_below_makes(&c->below, call, *params->psize);                                           \
    }                                                                                              \
    static void name##_done(ze_##name##_params_t *params, ze_result_t result, void *user,          \
                            void **instance)                                                       \
    {                                                                                              \
        const struct zs_collector *c = user;                                                       \
        zs_below_made(&c->below, result || !*params->ppptr ? NULL : **params->ppptr);              \
    }
ALLOCATES(X)
#undef X

/* Something to free for drivers that want it in place of what is kept. */
static void make_nothing(const struct callback *c)
{
    const ze_mem_free_params_t *params = c->params;
    const ze_host_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    if (c->collector->api.zeMemAllocHost)
        c->collector->api.zeMemAllocHost(*params->phContext, &desc, 1, 1, params->pptr);
}

static void mem_free_enter(ze_mem_free_params_t *params, ze_result_t result, void *user,
                           void **instance)
{
    const struct zs_collector *c = user;
    *instance = *params->pptr;
    *params->pptr = zs_below_frees(&c->below, *params->phContext, *params->pptr);
    if (*instance && !*params->pptr)
        call_back(make_nothing, params, result, user, instance);
}

static void mem_free_done(ze_mem_free_params_t *params, ze_result_t result, void *user,
                          void **instance)
{
    *params->pptr = *instance;
}

/* Of all calls behind which the device may have got further: what instrumented kernels found out is
 * kept, so that little is lost with a process that is killed. */
static void wait_left(void *params, ze_result_t result, void *user, void **instance)
{
    if (!result && zs_instrument_is_due(user))
        call_back(have_waited, params, result, user, instance);
}

/* Callbacks of the tracing layer, each with its own type of parameters. */
#define WAITS(X)                                                                                   \
    X(CommandQueue, pfnSynchronizeCb, command_queue_synchronize, "zeCommandQueueSynchronize")      \
    X(CommandQueue, pfnExecuteCommandListsCb, command_queue_execute_command_lists,                 \
      "zeCommandQueueExecuteCommandLists")                                                         \
    X(Fence, pfnHostSynchronizeCb, fence_host_synchronize, "zeFenceHostSynchronize")               \
    X(Fence, pfnQueryStatusCb, fence_query_status, "zeFenceQueryStatus")                           \
    X(Event, pfnHostSynchronizeCb, event_host_synchronize, "zeEventHostSynchronize")               \
    X(Event, pfnQueryStatusCb, event_query_status, "zeEventQueryStatus")                           \
    X(CommandList, pfnAppendLaunchKernelCb, command_list_append_launch_kernel,                     \
      "zeCommandListAppendLaunchKernel")                                                           \
    X(CommandList, pfnAppendLaunchCooperativeKernelCb,                                             \
      command_list_append_launch_cooperative_kernel, "zeCommandListAppendLaunchCooperativeKernel") \
    X(CommandList, pfnAppendLaunchKernelIndirectCb, command_list_append_launch_kernel_indirect,    \
      "zeCommandListAppendLaunchKernelIndirect")
#define X(group, member, name, call)                                                               \
    static void name##_left(ze_##name##_params_t *params, ze_result_t result, void *user,          \
                            void **instance)                                                       \
    {                                                                                              \
        wait_left(params, result, user, instance);                                                 \
    }
WAITS(X)
#undef X

/* Whether nobody has asked the driver in this process; then the caller has to. */
static bool is_new_driver(struct zs_collector *c, ze_driver_handle_t driver)
{
    pid_t pid = getpid();
    for (size_t i = 0; i < ZS_ARRAY_LEN(c->counting); i++) {
        struct zs_counting *counting = &c->counting[i];
        if (!atomic_exchange(&counting->is_taken, true)) {
            atomic_store(&counting->pid, pid);
            atomic_store(&counting->driver, driver);
            return true;
        }
        if (atomic_load(&counting->driver) == driver && atomic_load(&counting->pid) == pid)
            return false;
    }
    return false;
}

/* The first that is heard of a driver: before it can launch anything. */
static void count_once(struct zs_collector *c, ze_driver_handle_t driver)
{
    if (c->count && driver && is_new_driver(c, driver))
        call_back(start_counts, driver, ZE_RESULT_SUCCESS, c, NULL);
}

/* Drivers may say how many devices there are where there was room for fewer: the room is kept. */
static void device_get_enter(ze_device_get_params_t *params, ze_result_t result, void *user,
                             void **instance)
{
    uint32_t room = *params->pphDevices && *params->ppCount ? **params->ppCount : 0;
    *instance = (void *)(uintptr_t)room;
}

static void device_get_exit(ze_device_get_params_t *params, ze_result_t result, void *user,
                            void **instance)
{
    uint32_t room = (uint32_t)(uintptr_t)*instance;
    if (!result)
        count_once(user, *params->phDriver);
    if (!result && room)
        zs_capture_devices(user, *params->phDriver, ZS_MIN(room, **params->ppCount),
                           *params->pphDevices);
}

static void sub_devices_get_enter(ze_device_get_sub_devices_params_t *params, ze_result_t result,
                                  void *user, void **instance)
{
    uint32_t room = *params->pphSubdevices && *params->ppCount ? **params->ppCount : 0;
    *instance = (void *)(uintptr_t)room;
}

static void sub_devices_get_exit(ze_device_get_sub_devices_params_t *params, ze_result_t result,
                                 void *user, void **instance)
{
    uint32_t room = (uint32_t)(uintptr_t)*instance;
    if (!result && room)
        zs_capture_devices(user, zs_collect_driver_of(user, *params->phDevice),
                           ZS_MIN(room, **params->ppCount), *params->pphSubdevices);
}

static void resolve_api(struct zs_collect_api *api, void *loader)
{
#define API(type, name) api->name = (ze_result_t(*) type)(uintptr_t)dlsym(loader, #name);
#include "collect/api.def"
#undef API
}

void zs_tracer_install(struct zs_collector *c, void *layer, void *loader)
{
    struct tracer_table table = {0};
    get_table_fn get = (get_table_fn)(uintptr_t)dlsym(layer, "zelGetTracerApiProcAddrTable");
    zel_tracer_handle_t tracer = NULL;
    const zel_tracer_desc_t desc = {.stype = ZEL_STRUCTURE_TYPE_TRACER_DESC, .pUserData = c};
    /* the layer refuses versions above its own, and has had this table since the first */
    if (!get || get(ZE_API_VERSION_1_0, &table) || !table.create || table.create(&desc, &tracer)) {
        zs_session_note(c, "the loader's tracing layer offers no tracer: nothing is captured");
        zs_session_lost(c, 0);
        return;
    }
    resolve_api(&c->api, loader);
    zel_core_callbacks_t enter = {0}, leave = {0};
    enter.Module.pfnCreateCb = module_create_enter;
    leave.Module.pfnCreateCb = module_create_exit;
    enter.Module.pfnDynamicLinkCb = module_link_enter;
    leave.Module.pfnDynamicLinkCb = module_link_exit;
    leave.Module.pfnDestroyCb = module_destroy_exit;
    enter.Context.pfnDestroyCb = context_destroy_enter;
    enter.Device.pfnGetCb = device_get_enter;
    leave.Device.pfnGetCb = device_get_exit;
    enter.Device.pfnGetSubDevicesCb = sub_devices_get_enter;
    leave.Device.pfnGetSubDevicesCb = sub_devices_get_exit;
#define X(member, name, call)                                                                      \
    enter.Mem.member = name##_enter;                                                               \
    leave.Mem.member = name##_done;
    if (c->below.memory_free) {
        ALLOCATES(X)
        enter.Mem.pfnFreeCb = mem_free_enter;
        leave.Mem.pfnFreeCb = mem_free_done;
    }
#undef X
#define X(group, member, name, call) leave.group.member = name##_left;
    if (c->instrument_socket) {
        WAITS(X)
    }
#undef X
    if (table.set_prologues(tracer, &enter) || table.set_epilogues(tracer, &leave) ||
        table.set_enabled(tracer, !atomic_load(&c->layer_captures)))
        zs_session_note(c, "the loader's tracing layer refuses a tracer: nothing is captured");
    c->disable_tracer = table.set_enabled;
    atomic_store(&c->tracer, tracer);
    if (atomic_load(&c->layer_captures))
        table.set_enabled(tracer, 0);
}

void zs_tracer_retire(struct zs_collector *c)
{
    zel_tracer_handle_t tracer;
    atomic_store(&c->layer_captures, true);
    tracer = atomic_load(&c->tracer);
    if (tracer)
        c->disable_tracer(tracer, 0);
}

/* The same callbacks for whoever sees all calls. */
static const struct zs_capture_hook hooks[] = {
    {"zeModuleCreate", (zs_capture_fn)module_create_enter, (zs_capture_fn)module_create_exit},
    {"zeModuleDynamicLink", (zs_capture_fn)module_link_enter, (zs_capture_fn)module_link_exit},
    {"zeModuleDestroy", NULL, (zs_capture_fn)module_destroy_exit},
    {"zeContextDestroy", (zs_capture_fn)context_destroy_enter, NULL},
    {"zeDeviceGet", (zs_capture_fn)device_get_enter, (zs_capture_fn)device_get_exit},
    {"zeDeviceGetSubDevices", (zs_capture_fn)sub_devices_get_enter,
     (zs_capture_fn)sub_devices_get_exit},
#define X(member, name, call) {call, (zs_capture_fn)name##_enter, (zs_capture_fn)name##_done},
    ALLOCATES(X)
#undef X
        {"zeMemFree", (zs_capture_fn)mem_free_enter, (zs_capture_fn)mem_free_done},
/* while modules are instrumented only */
#define X(group, member, name, call) {call, NULL, wait_left},
    WAITS(X)
#undef X
        {"zeCommandListHostSynchronize", NULL, wait_left},
};
enum {
#define X(group, member, name, call) +1
    WAIT_COUNT = 1 WAITS(X)
#undef X
};

const struct zs_capture_hook *zs_capture_hooks(const struct zs_collector *c, size_t *ret_count)
{
    *ret_count = ZS_ARRAY_LEN(hooks) - (c->instrument_socket ? 0 : WAIT_COUNT);
    return hooks;
}
