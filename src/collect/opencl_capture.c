/* SPDX-License-Identifier: MIT */
/*
 * Builds of OpenCL programs as module events (docs/recording.md): one for each device. The begin
 * is written before the driver's compiler runs, the end when it has: as the call returns, or in the
 * callback of a build that goes on.
 */
#include "collect/opencl_priv.h"

#include "base/json.h"
#include "collect/lines.h"
#include "collect/own_stack.h"
#include "store/counts_file.h"
#include "store/launch_file.h"
#include "store/store.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    LOG_MAX_B = 256 << 10,
    INPUTS_MAX = 1024,
    TEXT_MAX_B = 64 << 20, /* of a source, a program in SPIR-V */
    BINARY_MAX_B = 1 << 30,
    BINARY_TYPE_COMPILED = 1, /* CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT */
    BINARY_TYPE_LIBRARY = 2,
    BUILD_IN_PROGRESS = -3, /* of CL_PROGRAM_BUILD_STATUS; -2: error */
};

enum build_kind { BUILD, COMPILE, LINK };

/* A build under way. One with a callback is never freed: drivers differ in how often they call. */
struct cl_build {
    struct zs_cl *cl;
    cl_program program;
    enum build_kind kind;
    uint64_t begin_ns;
    cl_device_id devices[CL_DEVICES_MAX];
    uint32_t ids[CL_DEVICES_MAX];
    uint32_t count;
    atomic_bool is_over;
    char *options; /* with what was added; NULL: as the application gave them */
    struct zs_lines lines;
    const char *app_options;
    void (*notify)(cl_program program, void *user_data); /* the application's */
    void *user_data;
};

/* ---- what the driver says of a device ---- */

static void put_device(struct zs_cl *cl, struct zs_json *j, cl_device_id device)
{
    char text[256] = "";
    cl_uint number = 0;
    size_t group = 0;
    cl_ulong bytes = 0;
    zs_json_object(j, "device");
    cl->api.clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof(text) - 1, text, NULL);
    zs_json_string(j, "name", text);
    if (CL_ASK(cl->api.clGetDeviceInfo, device, CL_DEVICE_VENDOR_ID, &number))
        zs_json_u64(j, "vendor_id", number);
    /* of Intel's extension cl_intel_device_attribute_query */
    static const struct {
        cl_uint what;
        const char *name;
    } numbers[] = {
        {0x4251, "device_id"},           {0x4252, "slices"},
        {0x4253, "subslices_per_slice"}, {0x4254, "eus_per_subslice"},
        {0x4255, "threads_per_eu"},      {CL_DEVICE_MAX_CLOCK_FREQUENCY, "core_clock_MHz"},
    };
    for (size_t i = 0; i < ZS_ARRAY_LEN(numbers); i++)
        if (CL_ASK(cl->api.clGetDeviceInfo, device, numbers[i].what, &number))
            zs_json_u64(j, numbers[i].name, number);
    if (CL_ASK(cl->api.clGetDeviceInfo, device, CL_DEVICE_MAX_WORK_GROUP_SIZE, &group))
        zs_json_u64(j, "group_items_max", group);
    if (CL_ASK(cl->api.clGetDeviceInfo, device, CL_DEVICE_LOCAL_MEM_SIZE, &bytes))
        zs_json_u64(j, "group_local_max_B", bytes);
    zs_json_end(j);
}

/* ---- inputs ---- */

static void *program_bytes(struct zs_cl *cl, cl_program program, cl_uint what, size_t *ret_size_B)
{
    size_t size_B = 0;
    void *data = NULL;
    if (cl->api.clGetProgramInfo(program, what, 0, NULL, &size_B) || !size_B || size_B > TEXT_MAX_B)
        return NULL;
    data = malloc(size_B);
    if (data && cl->api.clGetProgramInfo(program, what, size_B, data, NULL)) {
        free(data);
        return NULL;
    }
    *ret_size_B = size_B;
    return data;
}

/* The source or SPIR-V of a program; returns the name of its format. */
static const char *put_input(struct zs_cl *cl, struct zs_json *j, cl_program program,
                             const char *flags)
{
    const char *format = "source", *extension = "cl";
    size_t size_B = 0;
    bool has_lines = true; /* a source has them */
    char *data = program_bytes(cl, program, CL_PROGRAM_SOURCE, &size_B);
    if (data)
        size_B = strnlen(data, size_B);
    if (data && !size_B) {
        free(data);
        data = NULL;
    }
    if (!data && (data = program_bytes(cl, program, CL_PROGRAM_IL, &size_B))) {
        struct zs_spirv_info info = zs_spirv_scan(zs_span_make(data, size_B));
        format = info.is_spirv ? "spirv" : "other";
        extension = info.is_spirv ? "spv" : "in";
        has_lines = info.has_debug_info;
    }
    if (!data)
        return "native";
    zs_json_object(j, NULL);
    int error = zs_session_blob(cl->collector, j, "input", extension, zs_span_make(data, size_B));
    zs_json_string(j, "flags", flags ? flags : "");
    zs_json_bool(j, "debug_info", has_lines);
    zs_json_end(j);
    free(data);
    if (error)
        zs_session_note(cl->collector, "an OpenCL program was not kept: %s", strerror(-error));
    return format;
}

static void put_begin(struct cl_build *b, uint32_t device, const cl_program *others, uint32_t count)
{
    struct zs_cl *cl = b->cl;
    struct zs_buf line = {0};
    struct zs_json j = zs_session_event_begin(&line, "begin");
    const char *flags = b->options ? b->options : b->app_options;
    const char *format = b->kind == LINK ? "other" : "native";
    zs_json_u64(&j, "id", b->ids[device]);
    zs_json_string(&j, "api", "opencl");
    zs_json_string(&j, "app_flags", b->app_options ? b->app_options : "");
    zs_json_string(&j, "flags", flags ? flags : "");
    put_device(cl, &j, b->devices[device]);
    zs_json_array(&j, "inputs");
    if (b->program)
        format = put_input(cl, &j, b->program, flags);
    for (uint32_t i = 0; i < ZS_MIN(count, (uint32_t)INPUTS_MAX); i++)
        if (others[i])
            put_input(cl, &j, others[i], "");
    zs_json_end(&j);
    zs_json_string(&j, "format", format);
    zs_session_event_end(cl->collector, &j, &line);
}

/* ---- results ---- */

static void put_log(struct zs_cl *cl, struct zs_json *j, cl_program program, cl_device_id device)
{
    size_t size_B = 0;
    if (cl->api.clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size_B) ||
        size_B < 2 || size_B > TEXT_MAX_B)
        return;
    char *text = calloc(1, size_B + 1);
    if (text &&
        !cl->api.clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size_B, text, NULL) &&
        text[0])
        zs_json_string_n(j, "log", text, strnlen(text, ZS_MIN(size_B, (size_t)LOG_MAX_B)));
    free(text);
}

/* A driver for another device has a format of its own, which nobody here reads. */
static bool is_intels(const unsigned char *data, size_t size_B)
{
    static const char *const begins[] = {"\177ELF", "!<ar", "CTNI"};
    for (size_t i = 0; i < ZS_ARRAY_LEN(begins); i++)
        if (size_B >= 4 && !memcmp(data, begins[i], 4))
            return true;
    return false;
}

bool cl_is_intel_gpu(struct zs_cl *cl, cl_device_id device)
{
    enum { INTEL = 0x8086 };
    cl_uint vendor = 0;
    cl_device_type type = 0;
    return CL_ASK(cl->api.clGetDeviceInfo, device, CL_DEVICE_VENDOR_ID, &vendor) &&
           CL_ASK(cl->api.clGetDeviceInfo, device, CL_DEVICE_TYPE, &type) && vendor == INTEL &&
           type & CL_DEVICE_TYPE_GPU;
}

static int put_kept(struct zs_cl *cl, struct zs_json *j, cl_device_id device, const char *key,
                    const unsigned char *data, size_t size_B)
{
    bool is_debug = !strcmp(key, "debug");
    bool is_other = !is_debug && !(cl_is_intel_gpu(cl, device) && is_intels(data, size_B));
    return zs_session_blob(cl->collector, j, is_other ? "other_binary" : key,
                           is_debug   ? "dbg"
                           : is_other ? "other"
                                      : "bin",
                           zs_span_make(data, size_B));
}

/* The driver gives bytes for each device of a program: those of one of them. */
uint8_t *cl_program_bytes_of(struct zs_cl *cl, cl_program program, cl_device_id device,
                             cl_uint what_size, cl_uint what, size_t *ret_size_B, int *ret_error)
{
    cl_device_id devices[CL_DEVICES_MAX];
    size_t sizes[CL_DEVICES_MAX] = {0}, got_B = 0;
    unsigned char *data[CL_DEVICES_MAX] = {NULL};
    *ret_error = -ENODEV;
    if (cl->api.clGetProgramInfo(program, CL_PROGRAM_DEVICES, sizeof(devices), devices, &got_B))
        return NULL;
    size_t count = got_B / sizeof(*devices), at = 0;
    while (at < count && devices[at] != device)
        at++;
    if (at == count ||
        cl->api.clGetProgramInfo(program, what_size, count * sizeof(*sizes), sizes, NULL))
        return NULL;
    /* drivers may write all of them, whatever is NULL */
    *ret_error = !sizes[at] || sizes[at] > BINARY_MAX_B ? -ENODATA : 0;
    for (size_t i = 0; i < count && !*ret_error; i++)
        if (sizes[i] && (sizes[i] > BINARY_MAX_B || !(data[i] = malloc(sizes[i]))))
            *ret_error = -ENOMEM;
    if (!*ret_error && cl->api.clGetProgramInfo(program, what, count * sizeof(*data), data, NULL))
        *ret_error = -EIO;
    for (size_t i = 0; i < count; i++)
        if (i != at || *ret_error)
            free(data[i]);
    *ret_size_B = sizes[at];
    return *ret_error ? NULL : data[at];
}

/* *ret: what was kept, the caller's; NULL without it. */
static int put_bytes(struct zs_cl *cl, struct zs_json *j, cl_program program, cl_device_id device,
                     cl_uint what_size, cl_uint what, const char *key, struct zs_span *ret)
{
    size_t size_B = 0;
    int error;
    uint8_t *data = cl_program_bytes_of(cl, program, device, what_size, what, &size_B, &error);
    if (!error)
        error = put_kept(cl, j, device, key, data, size_B);
    *ret = (struct zs_span){data, data ? size_B : 0};
    return error;
}

static void put_kernels(struct zs_cl *cl, struct zs_json *j, cl_program program)
{
    size_t size_B = 0;
    char *names = program_bytes(cl, program, CL_PROGRAM_KERNEL_NAMES, &size_B);
    zs_json_array(j, "kernels");
    for (char *at = names, *end = names ? names + strnlen(names, size_B) : NULL; at < end;) {
        size_t length_B = strcspn(at, ";");
        if (length_B)
            zs_json_string_n(j, NULL, at, length_B);
        at += length_B + 1;
        if (at > end)
            break;
    }
    zs_json_end(j);
    free(names);
}

static void put_module(struct cl_build *b, struct zs_json *j, cl_program program, uint32_t i)
{
    struct zs_cl *cl = b->cl;
    cl_uint type = 0;
    cl->api.clGetProgramBuildInfo(program, b->devices[i], CL_PROGRAM_BINARY_TYPE, sizeof(type),
                                  &type, NULL);
    if (b->kind == COMPILE || type == BINARY_TYPE_COMPILED || type == BINARY_TYPE_LIBRARY)
        return; /* what is linked later is the module */
    struct zs_span binary, debug = {0};
    int error = put_bytes(cl, j, program, b->devices[i], CL_PROGRAM_BINARY_SIZES,
                          CL_PROGRAM_BINARIES, "binary", &binary);
    if (!error) {
        put_bytes(cl, j, program, b->devices[i], CL_DEBUG_SIZES_INTEL, CL_PROGRAM_DEBUG_INFO_INTEL,
                  "debug", &debug);
        if (cl_is_intel_gpu(cl, b->devices[i]))
            zs_below_module(&cl->collector->below, binary, debug);
    }
    free((void *)(uintptr_t)binary.data);
    free((void *)(uintptr_t)debug.data);
    if (error) {
        zs_session_note(cl->collector, "module %u: its binary was not kept: %s", b->ids[i],
                        strerror(-error));
        zs_session_lost(cl->collector, error);
        return;
    }
    put_kernels(cl, j, program);
}

static int32_t result_of(struct cl_build *b, cl_program program, uint32_t device, int32_t result)
{
    static const int32_t failures[] = {CL_BUILD_PROGRAM_FAILURE, CL_COMPILE_PROGRAM_FAILURE,
                                       CL_LINK_PROGRAM_FAILURE};
    cl_int status = 0;
    if (result || !program)
        return result;
    b->cl->api.clGetProgramBuildInfo(program, b->devices[device], CL_PROGRAM_BUILD_STATUS,
                                     sizeof(status), &status, NULL);
    return status == -2 ? failures[b->kind] : 0;
}

static void put_end(struct cl_build *b, cl_program program, uint32_t i, int32_t result,
                    uint64_t now_ns)
{
    struct zs_buf line = {0};
    struct zs_json j = zs_session_event_begin(&line, "end");
    char text[24];
    zs_json_u64(&j, "id", b->ids[i]);
    zs_json_u64(&j, "duration_ns", now_ns - b->begin_ns);
    result = result_of(b, program, i, result);
    snprintf(text, sizeof(text), "0x%" PRIx32, (uint32_t)result);
    zs_json_string(&j, "result", text);
    if (program && !result)
        put_module(b, &j, program, i);
    if (program)
        put_log(b->cl, &j, program, b->devices[i]);
    zs_session_event_end(b->cl->collector, &j, &line);
}

/* With the lock held. NULL: no memory. */
static struct cl_program_entry *entry_of(struct zs_cl *cl, cl_program program)
{
    struct cl_program_entry *e = zs_id_map_get(&cl->programs, (uintptr_t)program, 0);
    if (!e && (e = calloc(1, sizeof(*e))) &&
        zs_id_map_put(&cl->programs, (uintptr_t)program, 0, e)) {
        free(e);
        e = NULL;
    }
    return e;
}

static void remember(struct cl_build *b, cl_program program)
{
    struct zs_cl *cl = b->cl;
    pthread_mutex_lock(&cl->lock);
    struct cl_program_entry *e = entry_of(cl, program);
    for (uint32_t i = 0; e && i < b->count; i++) {
        uint32_t at = 0;
        while (at < e->count && e->devices[at] != b->devices[i])
            at++;
        if (at == CL_DEVICES_MAX)
            continue;
        e->devices[at] = b->devices[i];
        e->builds[at] = b->ids[i];
        e->count = ZS_MAX(e->count, at + 1);
    }
    pthread_mutex_unlock(&cl->lock);
}

static bool is_executable(const struct cl_build *b, cl_program program, uint32_t i)
{
    enum { EXECUTABLE = 4 };
    cl_uint type = 0;
    b->cl->api.clGetProgramBuildInfo(program, b->devices[i], CL_PROGRAM_BINARY_TYPE, sizeof(type),
                                     &type, NULL);
    return b->kind != COMPILE && type == EXECUTABLE;
}

static void instrument(struct cl_build *b, cl_program program, int32_t result)
{
    struct zs_cl *cl = b->cl;
    cl_program other = NULL;
    if (b->count > 1)
        zs_session_note(cl->collector,
                        "module %u is not instrumented: its program is for several devices",
                        b->ids[0]);
    else if (b->count && !result_of(b, program, 0, result) && is_executable(b, program, 0))
        other = cl_instrument(cl, program, b->devices[0], b->ids[0]);
    pthread_mutex_lock(&cl->lock);
    struct cl_program_entry *e = entry_of(cl, program),
                            *of_other = other ? entry_of(cl, other) : NULL;
    if (e)
        e->instrumented = of_other ? other : NULL;
    if (e && of_other) {
        *of_other = *e;
        of_other->instrumented = NULL;
        of_other->original = program;
    }
    pthread_mutex_unlock(&cl->lock);
}

static void finish(struct cl_build *b, cl_program program, int32_t result)
{
    uint64_t now_ns = zs_collect_now_ns();
    if (atomic_exchange(&b->is_over, true))
        return;
    zs_lines_end(&b->lines);
    for (uint32_t i = 0; i < b->count; i++)
        put_end(b, program, i, result, now_ns);
    if (program)
        remember(b, program);
    if (program && b->cl->collector->instrument_socket)
        instrument(b, program, result);
}

void cl_program_created(struct zs_cl *cl, cl_program program)
{
    pthread_mutex_lock(&cl->lock);
    free(zs_id_map_remove(&cl->programs, (uintptr_t)program, 0));
    pthread_mutex_unlock(&cl->lock);
}

cl_program cl_program_instrumented(struct zs_cl *cl, cl_program program)
{
    pthread_mutex_lock(&cl->lock);
    const struct cl_program_entry *e = zs_id_map_get(&cl->programs, (uintptr_t)program, 0);
    cl_program other = e ? e->instrumented : NULL;
    pthread_mutex_unlock(&cl->lock);
    return other;
}

cl_program cl_program_original(struct zs_cl *cl, cl_program program)
{
    pthread_mutex_lock(&cl->lock);
    const struct cl_program_entry *e = zs_id_map_get(&cl->programs, (uintptr_t)program, 0);
    cl_program other = e && e->original ? e->original : program;
    pthread_mutex_unlock(&cl->lock);
    return other;
}

uint32_t cl_program_build(struct zs_cl *cl, cl_program program, cl_device_id device)
{
    const struct cl_program_entry *e = zs_id_map_get(&cl->programs, (uintptr_t)program, 0);
    for (uint32_t i = 0; e && i < e->count; i++)
        if (e->devices[i] == device)
            return e->builds[i];
    return 0;
}

/* ---- around the calls ---- */

/* Parameters by kind of build: the program or context comes first. */
static const struct {
    uint8_t devices, options, others, notify; /* others: how many; the programs follow */
} params_of[] = {
    [BUILD] = {1, 3, 0, 4},
    [COMPILE] = {1, 3, 4, 7},
    [LINK] = {1, 3, 4, 6},
};

static enum build_kind kind_of(uint32_t call)
{
    return call == ZS_API_clBuildProgram ? BUILD : call == ZS_API_clCompileProgram ? COMPILE : LINK;
}

#define ARG(type, i) (*(type *)event->params[i])

static uint32_t take_devices(struct zs_cl *cl, const struct zs_trace_event *event,
                             struct cl_build *b)
{
    uint32_t at = params_of[b->kind].devices, given = ARG(cl_uint, at);
    const cl_device_id *list = ARG(const cl_device_id *, at + 1);
    size_t size_B = 0;
    if (list && given) {
        given = ZS_MIN(given, (uint32_t)CL_DEVICES_MAX);
        memcpy(b->devices, list, given * sizeof(*list));
        return given;
    }
    bool failed = b->kind == LINK
                      ? cl->api.clGetContextInfo(ARG(cl_context, 0), CL_CONTEXT_DEVICES,
                                                 sizeof(b->devices), b->devices, &size_B)
                      : cl->api.clGetProgramInfo(ARG(cl_program, 0), CL_PROGRAM_DEVICES,
                                                 sizeof(b->devices), b->devices, &size_B);
    return failed ? 0 : (uint32_t)(size_B / sizeof(*list));
}

struct notified {
    struct cl_build *build;
    cl_program program;
};

static void notified(void *arg)
{
    struct notified *n = arg;
    struct zs_collect_guard guard;
    zs_guard_enter(&guard);
    finish(n->build, n->program, 0);
    zs_guard_leave(&guard);
}

/* In the place of the application's callback. */
static void on_built(cl_program program, void *user_data)
{
    struct cl_build *b = user_data;
    struct notified n = {b, program};
    zs_own_stack_run(notified, &n);
    b->notify(program, b->user_data);
}

static bool has_word(const char *options, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = options; at && (at = strstr(at, word)); at += length)
        if ((at == options || at[-1] == ' ') && (!at[length] || at[length] == ' '))
            return true;
    return false;
}

/* The file with the source, which debug information is to name: Intel's compiler calls it "1". */
static bool source_path(struct cl_build *b, char *ret_path, size_t size_B)
{
    struct zs_cl *cl = b->cl;
    char file[ZS_STORE_FILE_CHARS];
    size_t text_B = 0;
    if (cl->collector->names_only || !b->count || !cl_is_intel_gpu(cl, b->devices[0]) ||
        has_word(b->app_options, "-s"))
        return false;
    char *text = program_bytes(cl, b->program, CL_PROGRAM_SOURCE, &text_B);
    text_B = text ? strnlen(text, text_B) : 0;
    bool kept = text_B &&
                !zs_store_blob(cl->collector->modules_dir, "cl", zs_span_make(text, text_B), file);
    free(text);
    int n = kept ? snprintf(ret_path, size_B, "%s/%s", cl->collector->modules_dir, file) : 0;
    return n > 0 && (size_t)n < size_B && !strchr(ret_path, '"');
}

static bool may_have_lines(struct cl_build *b)
{
    size_t size_B = 0;
    char *text = program_bytes(b->cl, b->program, CL_PROGRAM_SOURCE, &size_B);
    if (text && !strnlen(text, size_B)) {
        free(text);
        text = program_bytes(b->cl, b->program, CL_PROGRAM_IL, &size_B);
    }
    bool may = zs_lines_begin(b->cl->collector, zs_span_make(text, text ? size_B : 0), &b->lines);
    free(text);
    return may;
}

/* Lines are asked for by -g, the application's or --debug-info's, and then lead to the source. */
static void add_options(const struct zs_trace_event *event, struct cl_build *b)
{
    char path[ZS_COLLECT_PATH_CHARS];
    const char *given = b->app_options ? b->app_options : "";
    bool has_g = has_word(given, "-g");
    if (b->kind == LINK || (!has_g && !b->cl->collector->add_debug_info))
        return;
    bool has_source = source_path(b, path, sizeof(path));
    if ((has_g && !has_source) || (!has_g && !may_have_lines(b)))
        return;
    if (asprintf(&b->options, "%s%s%s%s%s%s", given, *given ? " " : "", has_g ? "" : "-g ",
                 has_source ? "-s \"" : "", has_source ? path : "", has_source ? "\"" : "") < 0)
        b->options = NULL;
    else
        ARG(const char *, params_of[b->kind].options) = b->options;
}

static void tell(struct zs_cl *cl)
{
    const char *capture = getenv(ZS_ENV_COLLECT_CAPTURE);
    bool is_measured = cl->activity && cl->activity->meter, captures = capture && *capture;
    if (!(cl->collector->count || is_measured || captures) || atomic_exchange(&cl->has_told, true))
        return;
    if (captures)
        zs_session_note(cl->collector, "OpenCL's launches are not captured: only Level Zero's are");
    if (cl->collector->count && !zs_counts_start_below(cl->collector))
        zs_session_note(cl->collector, ZS_NOTE_NO_COUNTS
                        ": OpenCL's cannot count; zescope instrument opcodes can");
    if (is_measured)
        zs_session_note(cl->collector, ZS_NOTE_NO_METRICS ": OpenCL's kernels are not measured");
}

void cl_build_enter(struct zs_cl *cl, const struct zs_trace_event *event, struct zs_cl_call *call)
{
    struct zs_session *session = zs_session_get(cl->collector);
    enum build_kind kind = kind_of(event->call);
    struct cl_build *b = session ? calloc(1, sizeof(*b)) : NULL;
    if (!b) {
        zs_session_lost(cl->collector, -ENOMEM);
        return;
    }
    uint32_t notify = params_of[kind].notify, others = params_of[kind].others;
    b->cl = cl;
    b->kind = kind;
    b->program = kind == LINK ? NULL : ARG(cl_program, 0);
    b->app_options = ARG(const char *, params_of[kind].options);
    b->count = take_devices(cl, event, b);
    add_options(event, b);
    if (b->count && cl_is_intel_gpu(cl, b->devices[0]))
        tell(cl);
    for (uint32_t i = 0; i < b->count; i++) {
        b->ids[i] = atomic_fetch_add(&session->next_build, 1) + 1;
        put_begin(b, i, others ? ARG(const cl_program *, others + 1) : NULL,
                  others && ARG(const cl_program *, others + 1) ? ARG(cl_uint, others) : 0);
    }
    b->notify = (void (*)(cl_program, void *))ARG(cl_callback, notify);
    b->user_data = ARG(void *, notify + 1);
    if (b->notify) {
        ARG(cl_callback, notify) = (cl_callback)on_built;
        ARG(void *, notify + 1) = b;
    }
    b->begin_ns = zs_collect_now_ns();
    call->build = b;
}

static bool is_under_way(struct cl_build *b, cl_program program)
{
    for (uint32_t i = 0; program && i < b->count; i++) {
        cl_int status = 0;
        b->cl->api.clGetProgramBuildInfo(program, b->devices[i], CL_PROGRAM_BUILD_STATUS,
                                         sizeof(status), &status, NULL);
        if (status == BUILD_IN_PROGRESS)
            return true;
    }
    return false;
}

void cl_build_exit(struct zs_cl *cl, const struct zs_trace_event *event, struct zs_cl_call *call)
{
    struct cl_build *b = call->build;
    enum build_kind kind = kind_of(event->call);
    uint32_t notify = params_of[kind].notify;
    call->build = NULL;
    if (!b)
        return;
    ARG(const char *, params_of[kind].options) = b->app_options;
    ARG(cl_callback, notify) = (cl_callback)b->notify;
    ARG(void *, notify + 1) = b->user_data;
    cl_program program = kind == LINK ? *ARG(cl_program *, event->param_count - 1) : b->program;
    if (kind == LINK && program)
        cl_program_created(cl, program);
    bool waits = b->notify && !*event->result && is_under_way(b, program);
    if (!waits)
        finish(b, program, *event->result);
    if (!b->notify) {
        free(b->options);
        free(b);
    }
}
