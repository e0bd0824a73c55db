/* SPDX-License-Identifier: MIT */
/*
 * zescope/trace.h over both of its backends. Arguments: "layer" or "loader" (the loader's own
 * tracing layer, with ZE_ENABLE_TRACING_LAYER=1 in the environment), and the layer's path.
 */
#include <zescope/trace.h>

#include <level_zero/ze_api.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static ze_context_handle_t context;
static ze_device_handle_t device;

struct seen {
    atomic_long enters, exits;
    bool change_size, change_result, makes_calls;
    char last[1024];
};

static void on_call(const struct zs_api_event *event, void *user_data, void **instance_data)
{
    struct seen *s = user_data;
    CHECK(!strcmp(event->name, zs_api_call_name(event->call)));
    if (!event->is_exit) {
        CHECK(!*instance_data && !event->result);
        *instance_data = s;
        atomic_fetch_add(&s->enters, 1);
        if (s->change_size && !strcmp(event->name, "zeMemAllocHost"))
            *(size_t *)event->params[2] = 1 << 20;
        return;
    }
    CHECK(*instance_data == s);
    atomic_fetch_add(&s->exits, 1);
    if (s->makes_calls) {
        uint32_t count = 0;
        CHECK(!zeDeviceGetMemoryProperties(device, &count, NULL));
    }
    zs_api_event_format(event, s->last, sizeof(s->last));
    if (s->change_result)
        *event->result = ZE_RESULT_ERROR_DEVICE_LOST;
}

static void *alloc(size_t size_B, ze_result_t expected)
{
    const ze_host_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    void *p = NULL;
    CHECK(zeMemAllocHost(context, &desc, size_B, 64, &p) == expected);
    return p;
}

static size_t size_of(void *p)
{
    void *base;
    size_t size_B = 0;
    CHECK(!zeMemGetAddressRange(context, p, &base, &size_B));
    return size_B;
}

static void start(void)
{
    const ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ze_driver_handle_t driver;
    uint32_t one = 1;
    CHECK(!zeInit(0) && !zeDriverGet(&one, &driver));
    one = 1;
    CHECK(!zeDeviceGet(driver, &one, &device) && !zeContextCreate(driver, &desc, &context));
}

static atomic_bool stop;

static void *caller(void *arg)
{
    long *calls = arg;
    for (; !atomic_load(&stop); *calls += 2)
        CHECK(!zeMemFree(context, alloc(64, ZE_RESULT_SUCCESS)));
    return NULL;
}

/* Tracers come and go while threads make calls: pairs stay pairs. */
static long storm(void)
{
    pthread_t threads[3];
    long calls[3] = {0}, pairs = 0;
    unsigned seed = 3;
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, caller, &calls[i]);
    for (int round = 0; round < 200 || pairs < 2000; round++) {
        struct seen s = {0};
        struct zs_api_tracer *tracer;
        CHECK(!zs_api_tracer_create(on_call, &s, &tracer));
        for (int i = rand_r(&seed) % 4; i >= 0; i--)
            CHECK(!zs_api_tracer_enable(tracer, rand_r(&seed) % 2));
        CHECK(!zs_api_tracer_enable(tracer, true));
        for (volatile int spin = rand_r(&seed) % 100000; spin > 0; spin--)
            ;
        CHECK(!zs_api_tracer_destroy(tracer));
        CHECK(atomic_load(&s.enters) == atomic_load(&s.exits));
        pairs += atomic_load(&s.exits);
    }
    atomic_store(&stop, true);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return pairs;
}

int main(int argc, char **argv)
{
    bool is_layer = argc > 1 && !strcmp(argv[1], "layer");
    struct zs_api_trace_options options = {sizeof(options), argc > 2 ? argv[2] : NULL};
    struct zs_api_tracer *tracer, *other;
    struct seen seen = {0}, watching = {0};
    struct zs_diag diag = {0};
    const char *only[] = {"^zeMemAlloc"}, *bad[] = {"("};
    if (is_layer)
        CHECK(!zs_api_trace_init(&options, &diag));
    start();
    CHECK(!zs_api_tracer_create(on_call, &seen, &tracer));
    CHECK(zs_api_trace_backend() == (is_layer ? ZS_API_BACKEND_LAYER : ZS_API_BACKEND_LOADER));
    void *before = alloc(64, ZE_RESULT_SUCCESS);
    CHECK(!atomic_load(&seen.enters));
    CHECK(zs_api_tracer_filter(tracer, bad, 1, NULL, 0, &diag) == -22);
    CHECK(!zs_api_tracer_filter(tracer, only, 1, NULL, 0, &diag));
    CHECK(!zs_api_tracer_enable(tracer, true));
    seen.change_size = seen.makes_calls = true;
    void *changed = alloc(64, ZE_RESULT_SUCCESS); /* made before it existed: the context */
    CHECK(size_of(changed) >= 1 << 20 && size_of(before) < 1 << 20);
    CHECK(atomic_load(&seen.enters) == 1 && atomic_load(&seen.exits) == 1);
    CHECK(strstr(seen.last, "zeMemAllocHost(") && strstr(seen.last, "= ZE_RESULT_SUCCESS"));
    /* a second one sees the calls that the first one's callback makes */
    CHECK(!zs_api_tracer_create(on_call, &watching, &other) && !zs_api_tracer_enable(other, true));
    void *again = alloc(64, ZE_RESULT_SUCCESS);
    if (is_layer) /* the loader does not trace what is called in its callbacks */
        CHECK(atomic_load(&watching.enters) == 2);
    CHECK(atomic_load(&watching.enters) == atomic_load(&watching.exits));
    CHECK(atomic_load(&seen.exits) == 2);
    CHECK(!zs_api_tracer_destroy(other));
    if (is_layer) {
        seen.change_result = true;
        alloc(64, ZE_RESULT_ERROR_DEVICE_LOST);
        seen.change_result = false;
    }
    CHECK(!zs_api_tracer_enable(tracer, false));
    long count = atomic_load(&seen.enters);
    CHECK(!zeMemFree(context, again) && !zeMemFree(context, changed) &&
          !zeMemFree(context, before));
    alloc(64, ZE_RESULT_SUCCESS);
    CHECK(atomic_load(&seen.enters) == count);
    CHECK(!zs_api_tracer_destroy(tracer));
    CHECK(storm() > 0);
    CHECK(!zs_api_untraced_count());
    puts("done");
    return 0;
}
