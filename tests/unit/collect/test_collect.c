/* SPDX-License-Identifier: MIT */
/* The collector against a driver that is played by this file. */
#include "../test.h"

#include "base/file.h"
#include "collect/collect.h"
#include "record/counts.h"
#include "record/writer.h"

#include <zescope/driver_ext.h>
#include <zescope/record.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- the driver ------------------------------------------------------------------------------ */

/* A module handle is the address of one of these. */
struct fake_module {
    char binary[64];
    char debug[64];
};

static struct fake_module modules[4096];
static _Atomic unsigned module_count;
static _Atomic unsigned logs_alive;

static ze_result_t copy_out(const char *text, size_t *size_B, uint8_t *data)
{
    size_t length = strlen(text);
    if (data)
        memcpy(data, text, length);
    *size_B = length;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t fake_binary(ze_module_handle_t module, size_t *size_B, uint8_t *data)
{
    return copy_out(((struct fake_module *)module)->binary, size_B, data);
}

static ze_result_t fake_debug(zet_module_handle_t module, zet_module_debug_info_format_t format,
                              size_t *size_B, uint8_t *data)
{
    return copy_out(((struct fake_module *)module)->debug, size_B, data);
}

static ze_result_t fake_kernels(ze_module_handle_t module, uint32_t *count, const char **names)
{
    if (names) {
        names[0] = "first";
        names[1] = "se\"cond\xff";
    }
    *count = 2;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t fake_log_string(ze_module_build_log_handle_t log, size_t *size_B, char *text)
{
    static const char message[] = "error: no such kernel";
    if (text)
        memcpy(text, message, sizeof(message));
    *size_B = sizeof(message);
    return ZE_RESULT_SUCCESS;
}

static ze_result_t fake_log_destroy(ze_module_build_log_handle_t log)
{
    atomic_fetch_sub(&logs_alive, 1);
    return ZE_RESULT_SUCCESS;
}

static ze_result_t fake_device(ze_device_handle_t device, ze_device_properties_t *p)
{
    snprintf(p->name, sizeof(p->name), "Fake");
    p->vendorId = 0x8086;
    p->deviceId = 0x1902;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t fake_driver(ze_driver_handle_t driver, ze_driver_properties_t *p)
{
    p->driverVersion = 77;
    return ZE_RESULT_SUCCESS;
}

static ze_device_handle_t the_device(void)
{
    return (ze_device_handle_t)(uintptr_t)0x1000;
}

/* What the loader's tracing layer does around a call of zeModuleCreate. */
static ze_result_t create(struct zs_collector *c, const ze_module_desc_t *desc, const char *binary,
                          const char *debug, ze_result_t result, const ze_module_desc_t **ret_seen,
                          ze_module_handle_t *ret_module)
{
    ze_context_handle_t context = NULL;
    ze_device_handle_t device = the_device();
    ze_module_handle_t module = NULL, *module_at = &module;
    ze_module_build_log_handle_t *log_at = NULL;
    const ze_module_desc_t *passed = desc;
    ze_module_create_params_t params = {&context, &device, &passed, &module_at, &log_at};
    struct zs_collect_guard guard;
    zs_guard_enter(&guard);
    struct zs_capture *capture = zs_capture_begin(c, &params);
    zs_guard_leave(&guard);
    if (ret_seen)
        *ret_seen = passed;
    if (log_at) {
        *log_at = (ze_module_build_log_handle_t)(uintptr_t)0x10;
        atomic_fetch_add(&logs_alive, 1);
    }
    if (!result) {
        struct fake_module *m = &modules[atomic_fetch_add(&module_count, 1)];
        snprintf(m->binary, sizeof(m->binary), "%s", binary);
        snprintf(m->debug, sizeof(m->debug), "%s", debug);
        module = (ze_module_handle_t)m;
    }
    zs_guard_enter(&guard);
    if (capture)
        zs_capture_end(c, capture, &params, result);
    zs_guard_leave(&guard);
    assert_ptr_equal(passed, desc);
    assert_null(log_at);
    if (ret_module)
        *ret_module = module;
    return result;
}

/* --- fixture --------------------------------------------------------------------------------- */

struct fixture {
    char dir[64];
    struct zs_recording_writer *writer;
    struct zs_collector collector;
    struct zs_recording *recording;
};

static const char *const app_argv[] = {"./app", "arg", NULL};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    struct zs_diag diag = {0};
    snprintf(f->dir, sizeof(f->dir), "/tmp/zs-collect-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    const struct zs_recording_plan plan = {.path = f->dir,
                                           .argv = (char *const *)(uintptr_t)app_argv};
    assert_int_equal(zs_recording_create(&plan, &f->writer, &diag), 0);
    assert_int_equal(zs_collector_init(&f->collector, zs_recording_writer_path(f->writer), false),
                     0);
    f->collector.api = (struct zs_collect_api){
        .zeModuleGetNativeBinary = fake_binary,
        .zeModuleGetKernelNames = fake_kernels,
        .zeModuleBuildLogGetString = fake_log_string,
        .zeModuleBuildLogDestroy = fake_log_destroy,
        .zeDeviceGetProperties = fake_device,
        .zeDriverGetProperties = fake_driver,
        .zetModuleGetDebugInfo = fake_debug,
    };
    ze_device_handle_t device = the_device();
    zs_capture_devices(&f->collector, (ze_driver_handle_t)(uintptr_t)0x2000, 1, &device);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    char command[256];
    zs_recording_close(f->recording);
    if (f->writer)
        zs_recording_finish(f->writer, &(struct zs_recording_result){0}, NULL);
    snprintf(command, sizeof(command), "chmod -R u+rwx %s; rm -rf %s", f->dir, f->dir);
    assert_int_equal(system(command), 0);
    free(atomic_load(&f->collector.session));
    free(f);
    return 0;
}

static struct zs_recording *reopen(struct fixture *f)
{
    struct zs_diag diag = {0};
    zs_recording_close(f->recording);
    f->recording = NULL;
    if (f->writer)
        zs_recording_finish(f->writer, &(struct zs_recording_result){.exit_status = 3}, &diag);
    f->writer = NULL;
    assert_int_equal(zs_recording_open(f->dir, &f->recording, &diag), 0);
    return f->recording;
}

static void assert_blob(const struct fixture *f, const struct zs_record_blob *blob,
                        const char *text)
{
    struct zs_span span;
    assert_int_equal(zs_recording_blob_read(f->recording, blob, &span, NULL), 0);
    assert_int_equal(span.size_B, strlen(text));
    assert_memory_equal(span.data, text, span.size_B);
    zs_recording_blob_free(&span);
}

static ze_module_desc_t desc_of(const char *input, const char *flags)
{
    return (ze_module_desc_t){
        .stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
        .format = ZE_MODULE_FORMAT_IL_SPIRV,
        .inputSize = strlen(input),
        .pInputModule = (const uint8_t *)input,
        .pBuildFlags = flags,
    };
}

/* --- captures -------------------------------------------------------------------------------- */

static void test_one_module(void **state)
{
    struct fixture *f = *state;
    const ze_module_desc_t desc = desc_of("input", "-O1");
    create(&f->collector, &desc, "BINARY", "DEBUG", ZE_RESULT_SUCCESS, NULL, NULL);
    struct zs_recording *r = reopen(f);
    uint32_t count;
    const struct zs_record_build *build = zs_recording_builds(r, &count);
    assert_int_equal(count, 1);
    assert_true(build->finished);
    assert_int_equal(build->result, 0);
    assert_int_equal(build->format, ZS_RECORD_FORMAT_SPIRV);
    assert_string_equal(build->flags, "-O1");
    assert_string_equal(build->app_flags, "-O1");
    assert_int_equal(build->input_count, 1);
    assert_blob(f, &build->inputs[0].blob, "input");
    const struct zs_record_module *module = zs_recording_modules(r, &count);
    assert_int_equal(count, 1);
    assert_blob(f, &module->binary, "BINARY");
    assert_blob(f, &module->debug, "DEBUG");
    assert_int_equal(module->kernel_count, 2);
    assert_string_equal(module->kernels[0], "first");
    assert_string_equal(module->kernels[1], "se\"cond\xef\xbf\xbd");
    const struct zs_record_device *device = zs_recording_devices(r, &count);
    assert_int_equal(count, 1);
    assert_string_equal(device->name, "Fake");
    assert_string_equal(device->ocloc_name, "skl");
    assert_int_equal(device->driver_version, 77);
    const struct zs_record_process *process = zs_recording_processes(r, &count);
    assert_int_equal(count, 1);
    assert_int_equal(process->pid, getpid());
    assert_true(process->argc >= 1);
    assert_int_equal(zs_recording_info(r)->exit_status, 3);
    assert_true(zs_recording_info(r)->finished);
    assert_int_equal(zs_recording_info(r)->drops.modules, 0);
    zs_recording_notes(r, &count);
    assert_int_equal(count, 0);
    assert_int_equal(atomic_load(&logs_alive), 0);
}

static void test_same_module_is_kept_once(void **state)
{
    struct fixture *f = *state;
    const ze_module_desc_t desc = desc_of("input", NULL);
    for (unsigned i = 0; i < 5; i++)
        create(&f->collector, &desc, "BINARY", "", ZE_RESULT_SUCCESS, NULL, NULL);
    create(&f->collector, &desc, "OTHER", "", ZE_RESULT_SUCCESS, NULL, NULL);
    struct zs_recording *r = reopen(f);
    uint32_t count;
    zs_recording_builds(r, &count);
    assert_int_equal(count, 6);
    const struct zs_record_module *m = zs_recording_modules(r, &count);
    assert_int_equal(count, 2);
    assert_int_equal(m[0].build_count, 5);
    assert_int_equal(m[1].build_count, 1);
    assert_int_equal(m[1].first_build, 5);
    assert_null(m[0].debug.file);
}

static void test_failed_build_keeps_input_and_log(void **state)
{
    struct fixture *f = *state;
    const ze_module_desc_t desc = desc_of("input", NULL);
    create(&f->collector, &desc, "", "", ZE_RESULT_ERROR_MODULE_BUILD_FAILURE, NULL, NULL);
    uint32_t count;
    const struct zs_record_build *build = zs_recording_builds(reopen(f), &count);
    assert_int_equal(count, 1);
    assert_int_equal(build->result, ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
    assert_int_equal(build->module, ZS_RECORD_NONE);
    assert_string_equal(build->log, "error: no such kernel");
    assert_blob(f, &build->inputs[0].blob, "input");
    assert_int_equal(atomic_load(&logs_alive), 0);
}

static void test_build_that_never_returned(void **state)
{
    struct fixture *f = *state;
    const ze_module_desc_t desc = desc_of("fatal", NULL);
    const ze_module_desc_t *at = &desc;
    ze_context_handle_t context = NULL;
    ze_device_handle_t device = the_device();
    ze_module_handle_t module = NULL, *module_at = &module;
    ze_module_build_log_handle_t *log_at = NULL;
    ze_module_create_params_t params = {&context, &device, &at, &module_at, &log_at};
    struct zs_capture *capture = zs_capture_begin(&f->collector, &params);
    uint32_t count;
    const struct zs_record_build *build = zs_recording_builds(reopen(f), &count);
    assert_int_equal(count, 1);
    assert_false(build->finished);
    assert_blob(f, &build->inputs[0].blob, "fatal");
    zs_recording_notes(f->recording, &count);
    assert_int_equal(count, 1);
    zs_capture_end(&f->collector, capture, &params, ZE_RESULT_ERROR_UNKNOWN);
}

/* Calls that fail may leave alone what they would have written: neither is it used, nor changed. */
static void test_handles_that_nobody_wrote(void **state)
{
    struct fixture *f = *state;
    const ze_module_desc_t desc = desc_of("input", NULL);
    const ze_module_desc_t *at = &desc;
    ze_context_handle_t context = NULL;
    ze_device_handle_t device = the_device();
    ze_module_handle_t module = (void *)0x5a5a5a5a, *module_at = &module;
    ze_module_build_log_handle_t log = (void *)0xa5a5a5a5, *log_at = &log;
    ze_module_create_params_t params = {&context, &device, &at, &module_at, &log_at};
    struct zs_capture *capture = zs_capture_begin(&f->collector, &params);
    zs_capture_end(&f->collector, capture, &params, ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_ptr_equal(log_at, &log);
    assert_ptr_equal(log, (void *)0xa5a5a5a5);
    uint32_t none = 0;
    ze_module_handle_t *no_modules = NULL;
    ze_module_dynamic_link_params_t link = {&none, &no_modules, &log_at};
    struct zs_capture_log *kept = zs_capture_link_begin(&f->collector, &link);
    zs_capture_link_end(&f->collector, kept, &link, ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_ptr_equal(log_at, &log);
    assert_ptr_equal(log, (void *)0xa5a5a5a5);
    /* one that was written reaches the application */
    capture = zs_capture_begin(&f->collector, &params);
    *log_at = (ze_module_build_log_handle_t)(uintptr_t)0x10;
    zs_capture_end(&f->collector, capture, &params, ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
    assert_ptr_equal(log, (void *)0x10);
    uint32_t count;
    const struct zs_record_build *builds = zs_recording_builds(reopen(f), &count);
    assert_int_equal(count, 2);
    assert_string_equal(builds[0].log, "");
    assert_string_equal(builds[1].log, "error: no such kernel");
}

/* --- counts ---------------------------------------------------------------------------------- */

static zescope_launch_callback_t launch_callback;
static void *launch_user;

static ze_result_t fake_set_callback(ze_driver_handle_t driver, zescope_launch_callback_t callback,
                                     void *user, ze_bool_t counts)
{
    launch_callback = callback;
    launch_user = user;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t fake_extension(ze_driver_handle_t driver, const char *name, void **ret)
{
    if (strcmp(name, ZESCOPE_DRIVER_SET_LAUNCH_CALLBACK_NAME) != 0)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    zescope_pfnDriverSetLaunchCallback_t set = fake_set_callback;
    memcpy(ret, &set, sizeof(set));
    return ZE_RESULT_SUCCESS;
}

static void launch(ze_module_handle_t module, uint64_t executions)
{
    const zescope_instruction_count_t row = {.executions = executions};
    const zescope_launch_info_t info = {.size_B = sizeof(info),
                                        .module = module,
                                        .kernel_name = "k",
                                        .start_ns = zs_collect_now_ns(),
                                        .instruction_count = 1,
                                        .instructions = &row};
    launch_callback(&info, launch_user);
}

/* A handle that is used again: what its next module counts is added to nothing of the first. */
static void test_counts_of_a_handle_used_again(void **state)
{
    struct fixture *f = *state;
    ze_module_handle_t handle = (void *)0x7000, other = (void *)0x8000;
    f->collector.count = true;
    f->collector.api.zeDriverGetExtensionFunctionAddress = fake_extension;
    zs_counts_start(&f->collector, NULL);
    zs_counts_built(&f->collector, handle, 1, false);
    zs_counts_built(&f->collector, other, 2, false);
    launch(handle, 10);
    launch(handle, 10);
    launch(other, 5);
    zs_counts_built(&f->collector, handle, 3, false);
    launch(handle, 1);
    launch(other, 5);
    zs_counts_built(&f->collector, other, 4, true); /* of a tool's code nothing is kept */
    launch(other, 7);
    struct zs_counts_list list;
    size_t damaged;
    assert_int_equal(
        zs_counts_load(zs_recording_writer_path(f->writer), &list, &damaged, &(struct zs_diag){0}),
        0);
    assert_int_equal(damaged, 0);
    assert_int_equal(list.count, 3);
    static const uint64_t executions[] = {[1] = 20, [2] = 10, [3] = 1};
    uint64_t seen = 0;
    for (size_t i = 0; i < list.count; i++) {
        assert_true(list.items[i].build >= 1 && list.items[i].build <= 3);
        assert_int_equal(list.items[i].rows[0].executions, executions[list.items[i].build]);
        seen |= UINT64_C(1) << list.items[i].build;
    }
    assert_int_equal(seen, 14);
    zs_counts_free(&list);
}

static void link_pair(struct fixture *f, ze_module_dynamic_link_params_t *params,
                      ze_result_t result)
{
    struct zs_capture_log *log = zs_capture_link_begin(&f->collector, params);
    zs_capture_link_end(&f->collector, log, params, result);
}

static void test_link_gives_new_code(void **state)
{
    struct fixture *f = *state;
    const ze_module_desc_t desc = desc_of("input", NULL);
    ze_module_handle_t pair[2];
    create(&f->collector, &desc, "A", "", ZE_RESULT_SUCCESS, NULL, &pair[0]);
    create(&f->collector, &desc, "B", "", ZE_RESULT_SUCCESS, NULL, &pair[1]);
    snprintf(((struct fake_module *)pair[0])->binary, 64, "A linked");
    uint32_t two = 2;
    ze_module_handle_t *pair_at = pair;
    ze_module_build_log_handle_t *no_log = NULL;
    ze_module_dynamic_link_params_t params = {&two, &pair_at, &no_log};
    link_pair(f, &params, ZE_RESULT_SUCCESS);
    zs_capture_destroy(&f->collector, pair[0]);
    link_pair(f, &params, ZE_RESULT_ERROR_INVALID_ARGUMENT);
    struct zs_recording *r = reopen(f);
    uint32_t count;
    const struct zs_record_module *m = zs_recording_modules(r, &count);
    assert_int_equal(count, 3);
    assert_true(m[2].linked);
    assert_int_equal(m[2].kernel_count, 2);
    assert_blob(f, &m[2].binary, "A linked");
    const struct zs_record_build *b = zs_recording_builds(r, &count);
    assert_int_equal(b[0].module, 2);
    assert_int_equal(b[1].module, 1);
}

/* --- threads and processes ------------------------------------------------------------------- */

enum { THREADS = 8, PER_THREAD = 40 };

struct worker {
    struct zs_collector *collector;
    unsigned number;
    pthread_t thread;
};

static void *work(void *argument)
{
    struct worker *w = argument;
    for (unsigned i = 0; i < PER_THREAD; i++) {
        char binary[32], input[32];
        snprintf(input, sizeof(input), "input %u", i);
        /* every other one is the same in all threads */
        snprintf(binary, sizeof(binary), "%u of %u", i, i % 2 ? w->number : 99);
        const ze_module_desc_t desc = desc_of(input, "");
        create(w->collector, &desc, binary, "d", ZE_RESULT_SUCCESS, NULL, NULL);
    }
    return NULL;
}

static void test_threads(void **state)
{
    struct fixture *f = *state;
    struct worker workers[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.collector = &f->collector, .number = i};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(workers[i].thread, NULL);
    struct zs_recording *r = reopen(f);
    uint32_t count;
    const struct zs_record_build *builds = zs_recording_builds(r, &count);
    assert_int_equal(count, THREADS * PER_THREAD);
    for (uint32_t i = 0; i < count; i++)
        assert_true(builds[i].finished && builds[i].module != ZS_RECORD_NONE);
    zs_recording_modules(r, &count);
    assert_int_equal(count, PER_THREAD / 2 + THREADS * PER_THREAD / 2);
    zs_recording_processes(r, &count);
    assert_int_equal(count, 1);
    zs_recording_notes(r, &count);
    assert_int_equal(count, 0);
}

/* --- things that fail ------------------------------------------------------------------------ */

static void test_no_modules_folder(void **state)
{
    struct fixture *f = *state;
    const ze_module_desc_t desc = desc_of("input", NULL);
    assert_int_equal(rmdir(f->collector.modules_dir), 0);
    create(&f->collector, &desc, "BINARY", "DEBUG", ZE_RESULT_SUCCESS, NULL, NULL);
    struct zs_recording *r = reopen(f);
    uint32_t count;
    zs_recording_modules(r, &count);
    assert_int_equal(count, 0);
    zs_recording_builds(r, &count);
    assert_int_equal(count, 1);
    const struct zs_record_note *notes = zs_recording_notes(r, &count);
    assert_true(count >= 3);
    assert_non_null(strstr(notes[0].text, "No such file"));
    assert_int_equal(zs_recording_info(r)->drops.modules, 1);
    assert_int_equal(zs_recording_info(r)->drops.last_errno, ENOENT);
}

static void test_no_process_folder(void **state)
{
    struct fixture *f = *state;
    const ze_module_desc_t desc = desc_of("input", NULL);
    char path[256];
    snprintf(path, sizeof(path), "%s/process", f->dir);
    assert_int_equal(rmdir(path), 0);
    errno = 42;
    create(&f->collector, &desc, "BINARY", "DEBUG", ZE_RESULT_SUCCESS, NULL, NULL);
    assert_int_equal(errno, 42);
    const struct zs_recording_info *info = zs_recording_info(reopen(f));
    assert_true(info->drops.modules >= 1);
    assert_true(info->drops.notes >= 1);
}

/* Beyond RLIMIT_FSIZE the kernel sends a signal that would end the application. */
static void test_file_size_limit(void **state)
{
    struct fixture *f = *state;
    const ze_module_desc_t desc = desc_of("input", NULL);
    create(&f->collector, &desc, "BEFORE", "", ZE_RESULT_SUCCESS, NULL, NULL);
    struct rlimit old, none;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    none = (struct rlimit){.rlim_cur = 0, .rlim_max = old.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
    create(&f->collector, &desc, "AFTER", "", ZE_RESULT_SUCCESS, NULL, NULL);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    struct zs_recording *r = reopen(f);
    uint32_t count;
    const struct zs_record_module *m = zs_recording_modules(r, &count);
    assert_int_equal(count, 1);
    assert_blob(f, &m->binary, "BEFORE");
    assert_true(zs_recording_info(r)->drops.modules >= 1);
    assert_int_equal(zs_recording_info(r)->drops.last_errno, EFBIG);
}

static void test_driver_that_answers_nothing(void **state)
{
    struct fixture *f = *state;
    const ze_module_desc_t desc = desc_of("input", NULL);
    f->collector.api = (struct zs_collect_api){0};
    create(&f->collector, &desc, "BINARY", "DEBUG", ZE_RESULT_SUCCESS, NULL, NULL);
    struct zs_recording *r = reopen(f);
    uint32_t count;
    const struct zs_record_build *build = zs_recording_builds(r, &count);
    assert_int_equal(count, 1);
    assert_int_equal(build->device, ZS_RECORD_NONE);
    assert_int_equal(build->module, ZS_RECORD_NONE);
    assert_true(build->finished);
    zs_recording_notes(r, &count);
    assert_int_equal(count, 2);
}

/* --- --debug-info ---------------------------------------------------------------------------- */

static void test_debug_info_flag(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *given, *passed;
    } cases[] = {
        {NULL, "-g"},
        {"", "-g"},
        {"-O1", "-O1 -g"},
        {"-g", "-g"},
        {"-O1 -g -x", "-O1 -g -x"},
        {"-gline", "-gline -g"},
        {"x-g", "x-g -g"},
    };
    f->collector.add_debug_info = true;
    for (size_t i = 0; i < ZS_ARRAY_LEN(cases); i++) {
        ze_module_desc_t desc = desc_of("input", cases[i].given);
        const ze_module_desc_t *seen;
        create(&f->collector, &desc, "B", "", ZE_RESULT_SUCCESS, &seen, NULL);
        /* what was passed on is freed by now: the recording tells what it was */
        assert_int_equal(seen == &desc, cases[i].given && !strcmp(cases[i].given, cases[i].passed));
    }
    ze_module_desc_t native = desc_of("input", NULL);
    native.format = ZE_MODULE_FORMAT_NATIVE;
    create(&f->collector, &native, "B", "", ZE_RESULT_SUCCESS, NULL, NULL);
    uint32_t count;
    const struct zs_record_build *b = zs_recording_builds(reopen(f), &count);
    assert_int_equal(count, ZS_ARRAY_LEN(cases) + 1);
    for (size_t i = 0; i < ZS_ARRAY_LEN(cases); i++) {
        assert_string_equal(b[i].flags, cases[i].passed);
        assert_string_equal(b[i].app_flags, cases[i].given ? cases[i].given : "");
    }
    assert_string_equal(b[count - 1].flags, "");
    assert_int_equal(b[count - 1].format, ZS_RECORD_FORMAT_NATIVE);
}

/* SPIR-V with a 16-bit, a 64-bit and a boolean specialization constant (ids 3, 4, 5). */
static const uint32_t spirv_words[] = {
    0x07230203,    0x00010000, 0,  100, 0, 4u << 16 | 71, 50, 1, 3, /* OpDecorate %50 SpecId 3 */
    4u << 16 | 71, 51,         1,  4,                               /* OpDecorate %51 SpecId 4 */
    4u << 16 | 71, 52,         1,  5,                               /* OpDecorate %52 SpecId 5 */
    4u << 16 | 21, 10,         16, 0,                               /* %10 = OpTypeInt 16 0 */
    3u << 16 | 22, 11,         64,                                  /* %11 = OpTypeFloat 64 */
    2u << 16 | 20, 12,                                              /* %12 = OpTypeBool */
    4u << 16 | 50, 10,         50, 1,                               /* %50 = OpSpecConstant %10 1 */
    5u << 16 | 50, 11,         51, 0,   0, /* %51 = OpSpecConstant %11 0.0 */
    3u << 16 | 48, 12,         52,         /* %52 = OpSpecConstantTrue %12 */
};

static void test_spirv(void **state)
{
    const struct zs_span spirv = zs_span_make(spirv_words, sizeof(spirv_words));
    assert_int_equal(zs_spirv_constant_size(spirv, 3), 2);
    assert_int_equal(zs_spirv_constant_size(spirv, 4), 8);
    assert_int_equal(zs_spirv_constant_size(spirv, 5), 1);
    assert_int_equal(zs_spirv_constant_size(spirv, 6), 0);
    assert_true(zs_spirv_scan(spirv).is_spirv);
    assert_false(zs_spirv_scan(spirv).has_debug_info);
    uint32_t with_line[ZS_ARRAY_LEN(spirv_words) + 4];
    memcpy(with_line, spirv_words, sizeof(spirv_words));
    with_line[ZS_ARRAY_LEN(spirv_words)] = 4u << 16 | 8; /* OpLine */
    assert_true(zs_spirv_scan(zs_span_make(with_line, sizeof(with_line))).has_debug_info);
    assert_false(zs_spirv_scan(zs_span_make("short", 5)).is_spirv);
    /* cut anywhere, and with words that count nothing or too much */
    for (size_t size_B = 0; size_B < sizeof(spirv_words); size_B++) {
        uint8_t *cut = malloc(size_B + 1);
        memcpy(cut, spirv_words, size_B);
        zs_spirv_scan(zs_span_make(cut, size_B));
        zs_spirv_constant_size(zs_span_make(cut, size_B), 4);
        free(cut);
    }
    for (uint32_t bad = 0; bad < 2; bad++) {
        with_line[5] = bad ? 0xffffu << 16 | 71 : 71;
        assert_int_equal(zs_spirv_constant_size(zs_span_make(with_line, sizeof(with_line)), 3), 0);
    }
}

static void test_program_of_several_inputs(void **state)
{
    struct fixture *f = *state;
    const uint16_t small = 0x1234;
    const double wide = 1.0;
    const bool yes = true;
    const uint32_t ids[] = {3, 4, 5, 6};
    const void *values[] = {&small, &wide, &yes, &yes};
    const ze_module_constants_t constants = {4, ids, values};
    const ze_module_constants_t *constants_at[] = {NULL, &constants};
    const uint8_t *inputs[] = {(const uint8_t *)"first", (const uint8_t *)spirv_words};
    const size_t sizes[] = {5, sizeof(spirv_words)};
    const char *flags[] = {"-O1", NULL};
    const ze_module_program_exp_desc_t program = {
        .stype = ZE_STRUCTURE_TYPE_MODULE_PROGRAM_EXP_DESC,
        .count = 2,
        .inputSizes = sizes,
        .pInputModules = inputs,
        .pBuildFlags = flags,
        .pConstants = constants_at,
    };
    ze_module_desc_t desc = desc_of("", NULL);
    desc.pNext = &program;
    f->collector.add_debug_info = true;
    create(&f->collector, &desc, "B", "", ZE_RESULT_SUCCESS, NULL, NULL);
    /* behind an extension that is not known */
    const ze_base_desc_t unknown = {.stype = (ze_structure_type_t)0x12345, .pNext = &program};
    desc.pNext = &unknown;
    create(&f->collector, &desc, "B", "", ZE_RESULT_SUCCESS, NULL, NULL);
    uint32_t count;
    const struct zs_record_build *b = zs_recording_builds(reopen(f), &count);
    assert_int_equal(count, 2);
    assert_int_equal(b[0].input_count, 2);
    assert_string_equal(b[0].inputs[0].flags, "-O1 -g");
    assert_string_equal(b[0].inputs[1].flags, "-g");
    assert_blob(f, &b[0].inputs[0].blob, "first");
    assert_int_equal(b[0].inputs[1].blob.size_B, sizeof(spirv_words));
    assert_int_equal(b[0].inputs[0].constant_count, 0);
    const struct zs_record_constant *c = b[0].inputs[1].constants;
    assert_int_equal(b[0].inputs[1].constant_count, 4);
    assert_int_equal(c[0].value, 0x1234);
    assert_int_equal(c[1].value, 0x3ff0000000000000);
    assert_int_equal(c[2].value, 1);
    assert_int_equal(c[3].size_B, 0);
    assert_string_equal(b[1].inputs[0].flags, "-O1");
    const struct zs_record_note *notes = zs_recording_notes(f->recording, &count);
    assert_int_equal(count, 1);
    assert_non_null(strstr(notes[0].text, "-g was not added"));
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(test_one_module),
        CASE(test_same_module_is_kept_once),
        CASE(test_failed_build_keeps_input_and_log),
        CASE(test_build_that_never_returned),
        CASE(test_handles_that_nobody_wrote),
        CASE(test_counts_of_a_handle_used_again),
        CASE(test_link_gives_new_code),
        CASE(test_threads),
        CASE(test_no_modules_folder),
        CASE(test_no_process_folder),
        CASE(test_file_size_limit),
        CASE(test_driver_that_answers_nothing),
        CASE(test_debug_info_flag),
        CASE(test_program_of_several_inputs),
        cmocka_unit_test(test_spirv),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
