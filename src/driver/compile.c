/* SPDX-License-Identifier: MIT */
#include "driver/compile.h"

#include "driver/guard.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- Build flags -------------------------------------------------------------------------------
 */

/* A flag of the API: what the compiler calls it, and whether it is an internal option. Other words
 * pass as they are: the compiler knows or refuses them. */
static const struct {
    const char *flag, *option;
    bool internal;
} flag_rows[] = {
    {"-ze-opt-disable", "-cl-opt-disable", false},
    /* the compiler only knows all or nothing; the binary says what was asked for, as Intel's does
     */
    {"-ze-opt-level=0", "-cl-opt-disable -ze-opt-level=O0", false},
    {"-ze-opt-level=1", "-ze-opt-level=O1", false},
    {"-ze-opt-level=2", "-ze-opt-level=O2", false},
    {"-ze-opt-level=O0", "-cl-opt-disable -ze-opt-level=O0", false},
    {"-ze-opt-greater-than-4GB-buffer-required", "-cl-intel-greater-than-4GB-buffer-required",
     true},
    {"-ze-opt-large-register-file", "-cl-intel-256-GRF-per-thread", false},
    {"-ze-opt-has-buffer-offset-arg", "-cl-intel-has-buffer-offset-arg", true},
    {"-ze-take-global-address", "-cl-take-global-address", false},
    {"-ze-intel-has-buffer-offset-arg", "-cl-intel-has-buffer-offset-arg", true},
    {"-ze-intel-greater-than-4GB-buffer-required", "-cl-intel-greater-than-4GB-buffer-required",
     true},
    {"-ze-kernel-debug-enable", "-cl-kernel-debug-enable", true},
};

static void add_flag(const char *word, size_t length, struct zs_buf *options,
                     struct zs_buf *internal)
{
    for (size_t i = 0; i < ZS_ARRAY_LEN(flag_rows); i++) {
        if (strlen(flag_rows[i].flag) == length && !strncmp(flag_rows[i].flag, word, length)) {
            struct zs_buf *out = flag_rows[i].internal ? internal : options;
            zs_buf_puts(out, flag_rows[i].option);
            zs_buf_putc(out, ' ');
            return;
        }
    }
    zs_buf_append(options, word, length);
    zs_buf_putc(options, ' ');
}

void zs_compile_flags(const char *flags, struct zs_buf *ret_options, struct zs_buf *ret_internal)
{
    for (const char *at = flags ? flags : ""; *at;) {
        size_t length = strcspn(at, " \t\n");
        if (length)
            add_flag(at, length, ret_options, ret_internal);
        at += length;
        at += strspn(at, " \t\n");
    }
}

/* ---- The compiler ------------------------------------------------------------------------------
 */

/* C declarations of ocloc_api.h, which only compiles as C++. */
typedef int (*ocloc_invoke_fn)(unsigned argc, const char *argv[], uint32_t source_count,
                               const uint8_t **sources, const uint64_t *source_sizes,
                               const char **source_names, uint32_t header_count,
                               const uint8_t **headers, const uint64_t *header_sizes,
                               const char **header_names, uint32_t *ret_count,
                               uint8_t ***ret_outputs, uint64_t **ret_sizes, char ***ret_names);
typedef int (*ocloc_free_fn)(uint32_t *count, uint8_t ***outputs, uint64_t **sizes, char ***names);

struct ocloc {
    ocloc_invoke_fn invoke;
    ocloc_free_fn free_outputs;
};

/* ocloc loads it when it first compiles; it must be there to be guarded. (The front end, libigdfcl
 * with clang, compiles OpenCL C alone.) */
static void guard_compiler(void)
{
    static const char *const libraries[] = {"libigc.so.1"};
    static const char *const guarded[] = {"libocloc.so", "libigc.so",       "libigdfcl.so",
                                          "libLLVM",     "libopencl-clang", "libLLVMSPIRV"};
    for (size_t i = 0; i < ZS_ARRAY_LEN(libraries); i++)
        (void)!dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);
    zs_guard_libraries(guarded, ZS_ARRAY_LEN(guarded));
}

static bool load(struct ocloc *ret_ocloc)
{
    static const char *const names[] = {"libocloc.so", "libocloc.so.1"};
    for (size_t i = 0; i < ZS_ARRAY_LEN(names); i++) {
        void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        if (!library)
            continue;
        ret_ocloc->invoke = (ocloc_invoke_fn)dlsym(library, "oclocInvoke");
        ret_ocloc->free_outputs = (ocloc_free_fn)dlsym(library, "oclocFreeOutput");
        if (ret_ocloc->invoke && ret_ocloc->free_outputs) {
            guard_compiler();
            return true;
        }
    }
    return false;
}

static bool ends_with(const char *text, const char *end)
{
    size_t a = strlen(text), b = strlen(end);
    return a >= b && strcmp(text + a - b, end) == 0;
}

enum { ARGS_MAX = 64 };
struct call {
    const char *argv[ARGS_MAX];
    unsigned argc;
    uint32_t source_count;
    const uint8_t *sources[ARGS_MAX];
    uint64_t source_sizes[ARGS_MAX];
    const char *source_names[ARGS_MAX];
    const char *want; /* how the name of the output ends */
};

/* One run of the compiler and what it left. */
struct run {
    const struct ocloc *ocloc;
    struct call *call;
    int status;
    uint32_t count;
    uint8_t **outputs;
    uint64_t *sizes;
    char **names;
};

static void run_ocloc(void *ctx)
{
    struct run *r = ctx;
    struct call *call = r->call;
    r->status = r->ocloc->invoke(call->argc, call->argv, call->source_count, call->sources,
                                 call->source_sizes, call->source_names, 0, NULL, NULL, NULL,
                                 &r->count, &r->outputs, &r->sizes, &r->names);
}

/* What the compiler says is appended to the log. */
static bool invoke(const struct ocloc *ocloc, struct call *call, struct zs_buf *ret_output,
                   struct zs_buf *ret_log)
{
    struct run r = {.ocloc = ocloc, .call = call, .status = -1};
    struct zs_buf said = {0};
    int status;
    if (!zs_guard_run(run_ocloc, &r, &said, &status)) {
        if (status < 0)
            zs_buf_printf(ret_log, "the compiler crashed on this input (signal %d)\n", -status);
        else
            zs_buf_printf(ret_log,
                          "the compiler gave up on this input (it wanted to exit with %d)\n",
                          status);
        zs_buf_append(ret_log, said.data, said.size_B);
        zs_buf_fini(&said);
        return false;
    }
    for (uint32_t i = 0; i < r.count; i++) {
        if (strcmp(r.names[i], "stdout.log") == 0)
            zs_buf_append(ret_log, r.outputs[i], (size_t)r.sizes[i]);
        else if (ends_with(r.names[i], call->want) && ret_output->size_B == 0)
            zs_buf_append(ret_output, r.outputs[i], (size_t)r.sizes[i]);
    }
    zs_buf_append(ret_log, said.data, said.size_B); /* the command, when it failed */
    zs_buf_fini(&said);
    if (r.outputs)
        ocloc->free_outputs(&r.count, &r.outputs, &r.sizes, &r.names);
    return r.status == 0 && ret_output->size_B > 0 && !ret_output->error;
}

static void add_arg(struct call *call, const char *arg)
{
    if (call->argc < ARGS_MAX)
        call->argv[call->argc++] = arg;
}

static void add_source(struct call *call, const char *name, struct zs_span bytes)
{
    add_arg(call, "-file");
    add_arg(call, name);
    call->sources[call->source_count] = bytes.data;
    call->source_sizes[call->source_count] = bytes.size_B;
    call->source_names[call->source_count++] = name;
}

static bool link_units(const struct ocloc *ocloc, uint32_t count, const struct zs_buf *units,
                       struct zs_buf *ret_llvm, struct zs_buf *ret_log)
{
    struct call call = {.want = "linked.bc"};
    char names[ARGS_MAX / 4][32];
    add_arg(&call, "ocloc");
    add_arg(&call, "link");
    for (uint32_t i = 0; i < count; i++) {
        snprintf(names[i], sizeof(names[i]), "unit%u.spv", i);
        add_source(&call, names[i], zs_buf_span(&units[i]));
    }
    add_arg(&call, "-out");
    add_arg(&call, "linked.bc");
    add_arg(&call, "-out_format");
    add_arg(&call, "LLVM_BC");
    return invoke(ocloc, &call, ret_llvm, ret_log);
}

static ze_result_t run(const struct ocloc *ocloc, const struct zs_compile *compile,
                       const struct zs_buf *units, struct zs_buf *ret_binary,
                       struct zs_buf *ret_log)
{
    struct zs_buf options = {0}, internal = {0}, llvm = {0};
    struct call call = {.want = ".bin"};
    ze_result_t result = ZE_RESULT_SUCCESS;
    bool linked = compile->unit_count > 1;
    zs_compile_flags(compile->build_flags, &options, &internal);
    for (uint32_t i = 0; i < compile->unit_count; i++) {
        if (zs_spirv_exports_variable(zs_buf_span(&units[i]))) { /* zeModuleGetGlobalPointer */
            zs_buf_puts(&options, "-cl-take-global-address ");
            break;
        }
    }
    if (linked && !link_units(ocloc, compile->unit_count, units, &llvm, ret_log)) {
        result = ZE_RESULT_ERROR_MODULE_LINK_FAILURE;
        goto out;
    }
    add_arg(&call, "ocloc");
    add_arg(&call, "compile");
    add_source(&call, linked ? "module.bc" : "module.spv",
               linked ? zs_buf_span(&llvm) : zs_buf_span(&units[0]));
    add_arg(&call, linked ? "-llvm_input" : "-spirv_input");
    add_arg(&call, "-device");
    add_arg(&call, compile->device);
    add_arg(&call, "-output");
    add_arg(&call, "module");
    if (options.size_B) {
        add_arg(&call, "-options");
        add_arg(&call, zs_buf_cstr(&options));
    }
    if (internal.size_B) {
        add_arg(&call, "-internal_options");
        add_arg(&call, zs_buf_cstr(&internal));
    }
    if (!invoke(ocloc, &call, ret_binary, ret_log))
        result = ZE_RESULT_ERROR_MODULE_BUILD_FAILURE;
out:
    zs_buf_fini(&options);
    zs_buf_fini(&internal);
    zs_buf_fini(&llvm);
    return result;
}

ze_result_t zs_compile(const struct zs_compile *compile, struct zs_buf *ret_binary,
                       struct zs_buf *ret_log)
{
    struct ocloc ocloc;
    if (!load(&ocloc)) {
        zs_buf_puts(ret_log, "libocloc.so cannot be loaded: SPIR-V needs Intel's compiler "
                             "(Debian: intel-opencl-icd, libigc1)");
        return ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE;
    }
    if (compile->unit_count > ARGS_MAX / 4) {
        zs_buf_printf(ret_log, "%u modules are more than can be linked", compile->unit_count);
        return ZE_RESULT_ERROR_MODULE_LINK_FAILURE;
    }
    struct zs_buf units[ARGS_MAX / 4] = {0};
    ze_result_t result = ZE_RESULT_SUCCESS;
    for (uint32_t i = 0; i < compile->unit_count && result == ZE_RESULT_SUCCESS; i++) {
        int error = zs_spirv_specialize(compile->units[i].spirv, compile->units[i].constants,
                                        &units[i], ret_log);
        if (error)
            result = error == -ENOMEM ? ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY
                                      : ZE_RESULT_ERROR_MODULE_BUILD_FAILURE;
    }
    if (result == ZE_RESULT_SUCCESS) {
        pthread_mutex_lock(&compile->driver->compiler_lock);
        result = run(&ocloc, compile, units, ret_binary, ret_log);
        pthread_mutex_unlock(&compile->driver->compiler_lock);
    }
    for (uint32_t i = 0; i < compile->unit_count; i++)
        zs_buf_fini(&units[i]);
    return result;
}
