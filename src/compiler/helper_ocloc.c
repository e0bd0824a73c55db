/* SPDX-License-Identifier: MIT */
#include "compiler/helper.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* ---- Loading -----------------------------------------------------------------------------------
 */

bool zs_ocloc_load(struct zs_ocloc *ocloc, struct zs_buf *ret_why)
{
    static const char *const names[] = {"libocloc.so", "libocloc.so.1"};
    void *library = NULL;
    for (size_t i = 0; i < ZS_ARRAY_LEN(names) && !library; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *reason = dlerror();
        zs_buf_printf(ret_why,
                      "Intel's compiler cannot be loaded (%s): SPIR-V needs it (Debian: "
                      "intel-opencl-icd, libigc1)\n",
                      reason ? reason : "libocloc.so");
        return false;
    }
    *(void **)&ocloc->invoke = dlsym(library, "oclocInvoke");
    *(void **)&ocloc->free_outputs = dlsym(library, "oclocFreeOutput");
    if (!ocloc->invoke || !ocloc->free_outputs) {
        zs_buf_puts(ret_why, "libocloc.so has no oclocInvoke: it is too old\n");
        *ocloc = (struct zs_ocloc){0};
        return false;
    }
    return true;
}

/* ---- One call of ocloc -------------------------------------------------------------------------
 */

enum { ARGS_MAX = 64 };

struct call {
    const char *argv[ARGS_MAX];
    unsigned argc;
    uint32_t source_count;
    const uint8_t *sources[ZS_COMPILER_UNITS_MAX];
    uint64_t source_sizes[ZS_COMPILER_UNITS_MAX];
    const char *source_names[ZS_COMPILER_UNITS_MAX];
    const char *want; /* how the name of the output ends */
};

static bool ends_with(const char *text, const char *end)
{
    size_t a = strlen(text), b = strlen(end);
    return a >= b && strcmp(text + a - b, end) == 0;
}

/* What the compiler says is appended to the log. */
static bool invoke(const struct zs_ocloc *ocloc, struct call *call, struct zs_buf *ret_output,
                   struct zs_buf *ret_log)
{
    uint32_t count = 0;
    uint8_t **outputs = NULL;
    uint64_t *sizes = NULL;
    char **names = NULL;
    int status =
        ocloc->invoke(call->argc, call->argv, call->source_count, call->sources, call->source_sizes,
                      call->source_names, 0, NULL, NULL, NULL, &count, &outputs, &sizes, &names);
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(names[i], "stdout.log") == 0)
            zs_buf_append(ret_log, outputs[i], strnlen((const char *)outputs[i], (size_t)sizes[i]));
        else if (ends_with(names[i], call->want) && ret_output->size_B == 0)
            zs_buf_append(ret_output, outputs[i], (size_t)sizes[i]);
    }
    if (outputs)
        ocloc->free_outputs(&count, &outputs, &sizes, &names);
    return status == 0 && ret_output->size_B > 0 && !ret_output->error;
}

static void add_arg(struct call *call, const char *arg)
{
    zs_assert(call->argc < ARGS_MAX);
    call->argv[call->argc++] = arg;
}

bool zs_ocloc_knows(const struct zs_ocloc *ocloc, const char *device)
{
    const char *argv[] = {"ocloc", "ids", device};
    uint32_t count = 0;
    uint8_t **outputs = NULL;
    uint64_t *sizes = NULL;
    char **names = NULL;
    int status = ocloc->invoke(ZS_ARRAY_LEN(argv), argv, 0, NULL, NULL, NULL, 0, NULL, NULL, NULL,
                               &count, &outputs, &sizes, &names);
    if (outputs)
        ocloc->free_outputs(&count, &outputs, &sizes, &names);
    return status == 0;
}

static void add_source(struct call *call, const char *name, struct zs_span bytes)
{
    add_arg(call, "-file");
    add_arg(call, name);
    call->sources[call->source_count] = bytes.data;
    call->source_sizes[call->source_count] = bytes.size_B;
    call->source_names[call->source_count++] = name;
}

static bool link_units(const struct zs_ocloc *ocloc, const struct zs_compiler_request *request,
                       struct zs_buf *ret_llvm, struct zs_buf *ret_log)
{
    struct call call = {.want = "linked.bc"};
    char names[ZS_COMPILER_UNITS_MAX][32];
    add_arg(&call, "ocloc");
    add_arg(&call, "link");
    for (uint32_t i = 0; i < request->unit_count; i++) {
        snprintf(names[i], sizeof(names[i]), "unit%u.spv", i);
        add_source(&call, names[i], request->units[i]);
    }
    add_arg(&call, "-out");
    add_arg(&call, "linked.bc");
    add_arg(&call, "-out_format");
    add_arg(&call, "LLVM_BC");
    return invoke(ocloc, &call, ret_llvm, ret_log);
}

enum zs_compiler_status zs_ocloc_build(const struct zs_ocloc *ocloc,
                                       const struct zs_compiler_request *request,
                                       struct zs_buf *ret_binary, struct zs_buf *ret_log)
{
    bool linked = request->unit_count > 1;
    struct call call = {.want = request->is_source ? ".spv" : ".bin"};
    struct zs_buf llvm = {0};
    if (linked && !link_units(ocloc, request, &llvm, ret_log)) {
        zs_buf_fini(&llvm);
        return ZS_COMPILER_LINK_FAILED;
    }
    add_arg(&call, "ocloc");
    add_arg(&call, "compile");
    add_source(&call,
               linked               ? "module.bc"
               : request->is_source ? "module.cl"
                                    : "module.spv",
               linked ? zs_buf_span(&llvm) : request->units[0]);
    add_arg(&call, linked ? "-llvm_input" : request->is_source ? "-spv_only" : "-spirv_input");
    add_arg(&call, "-device");
    add_arg(&call, request->device);
    add_arg(&call, "-output");
    add_arg(&call, "module");
    if (request->options[0]) {
        add_arg(&call, "-options");
        add_arg(&call, request->options);
    }
    if (request->internal_options[0]) {
        add_arg(&call, "-internal_options");
        add_arg(&call, request->internal_options);
    }
    bool done = invoke(ocloc, &call, ret_binary, ret_log);
    zs_buf_fini(&llvm);
    return done ? ZS_COMPILER_OK : ZS_COMPILER_BUILD_FAILED;
}
