/* SPDX-License-Identifier: MIT */
#include "driver/module/module.h"

#include "base/checks.h"
#include "driver/debug/debug.h"
#include "driver/memory/memory.h"
#include "driver/module/compile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { SECTION_DEBUG = (int)0xff000008 };

/* OpenCL C: of Intel's driver (defines_ext.h of compute-runtime), no header of the API has it. */
enum { MODULE_FORMAT_OCLC = 3 };

/* ---- Build logs --------------------------------------------------------------------------------
 */

void zs_ze_build_log_fini(struct zs_ze_build_log *log)
{
    zs_buf_fini(&log->text);
}

/* Hands the text over; frees it when nobody wants it. */
static ze_result_t publish_log(struct zs_buf *text, ze_module_build_log_handle_t *ret_handle)
{
    if (!ret_handle) {
        zs_buf_fini(text);
        return ZE_RESULT_SUCCESS;
    }
    struct zs_ze_build_log *log = zs_object_new(ZS_OBJECT_build_log, sizeof(*log));
    if (!log) {
        zs_buf_fini(text);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    log->text = *text;
    if (!zs_object_publish(log)) {
        zs_object_unref(log);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    *ret_handle = log->object.handle;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeModuleBuildLogDestroy(ze_module_build_log_handle_t hModuleBuildLog)
{
    ZS_OBJECT(build_log, log, hModuleBuildLog);
    if (!zs_object_retract(log))
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    zs_object_unref(log);
    return ZE_RESULT_SUCCESS;
}

/* A string: *size 0 or no place asks for its size with the NUL. */
static ze_result_t give_bytes(const void *data, size_t have_B, size_t *size, void *place)
{
    if (!place || *size == 0) {
        *size = have_B;
        return ZE_RESULT_SUCCESS;
    }
    size_t give_B = ZS_MIN(*size, have_B);
    if (give_B)
        memcpy(place, data, give_B);
    *size = give_B;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeModuleBuildLogGetString(ze_module_build_log_handle_t hModuleBuildLog,
                                                 size_t *pSize, char *pBuildLog)
{
    ZS_OBJECT(build_log, log, hModuleBuildLog);
    ZS_CHECK_POINTER(pSize);
    const char *text = zs_buf_cstr(&log->text);
    return give_bytes(text, strlen(text) + 1, pSize, pBuildLog);
}

/* ---- Making modules ----------------------------------------------------------------------------
 */

static ze_result_t check_units(const ze_module_program_exp_desc_t *program)
{
    if (!program->inputSizes || !program->pInputModules)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    for (uint32_t i = 0; i < program->count; i++) {
        if (!program->pInputModules[i])
            return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
        if (program->inputSizes[i] == 0)
            return ZE_RESULT_ERROR_INVALID_SIZE;
    }
    return program->count ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_SIZE;
}

static struct zs_local_arrays *parted(struct zs_ze_module *module)
{
    const struct zs_ze_driver *driver = module->context->driver;
    return driver->check || driver->checks & (ZS_CHECK_RACE | ZS_CHECK_SYNC) ? &module->local_arrays
                                                                             : NULL;
}

static ze_result_t build_ir(struct zs_ze_module *module, const ze_module_desc_t *desc,
                            struct zs_buf *log)
{
    bool is_source = (uint32_t)desc->format == MODULE_FORMAT_OCLC;
    const ze_module_program_exp_desc_t *program =
        is_source ? NULL : zs_chain_find(desc->pNext, ZE_STRUCTURE_TYPE_MODULE_PROGRAM_EXP_DESC);
    uint32_t count = program ? program->count : 1;
    ze_result_t result = program ? check_units(program) : ZE_RESULT_SUCCESS;
    if (result != ZE_RESULT_SUCCESS)
        return result;
    struct zs_compile_unit *units = calloc(count, sizeof(*units));
    if (!units)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    struct zs_buf flags = {0}, source = {0}, made = {0};
    zs_buf_puts(&flags, desc->pBuildFlags ? desc->pBuildFlags : "");
    for (uint32_t i = 0; i < count; i++) {
        units[i].spirv = program ? zs_span_make(program->pInputModules[i], program->inputSizes[i])
                                 : zs_span_make(desc->pInputModule, desc->inputSize);
        units[i].constants =
            program ? (program->pConstants ? program->pConstants[i] : NULL) : desc->pConstants;
        if (program && program->pBuildFlags && program->pBuildFlags[i])
            zs_buf_printf(&flags, " %s", program->pBuildFlags[i]);
    }
    const struct zs_compile compile = {.driver = module->context->driver,
                                       .device = module->device->model->target,
                                       .unit_count = count,
                                       .units = units,
                                       .build_flags = zs_buf_cstr(&flags),
                                       .local_arrays = parted(module)};
    if (is_source) { /* it comes with its NUL or without */
        zs_buf_printf(&source, "%.*s", (int)ZS_MIN(desc->inputSize, (size_t)INT32_MAX),
                      (const char *)desc->pInputModule);
        zs_buf_putc(&source, 0);
        units[0].spirv = zs_buf_span(&source);
        result = zs_compile_source(&compile, &made, log);
        units[0].spirv = zs_buf_span(&made);
    }
    if (result == ZE_RESULT_SUCCESS)
        result = zs_compile(&compile, &module->binary, log);
    zs_log(ZS_LOG_INFO, "%s of %u units, flags \"%s\": result 0x%x%s%s",
           is_source ? "OpenCL C" : "SPIR-V", count, compile.build_flags, (unsigned)result,
           log->size_B ? "\n" : "", zs_buf_cstr(log));
    zs_buf_fini(&flags);
    zs_buf_fini(&source);
    zs_buf_fini(&made);
    free(units);
    return result;
}

/* A binary without code for this device, but with the source that it was made from. */
static ze_result_t rebuild(struct zs_ze_module *module, struct zs_span ir, const char *options,
                           struct zs_buf *log)
{
    const struct zs_compile_unit unit = {.spirv = ir};
    const struct zs_compile compile = {.driver = module->context->driver,
                                       .device = module->device->model->target,
                                       .unit_count = 1,
                                       .units = &unit,
                                       .build_flags = options,
                                       .local_arrays = parted(module)};
    struct zs_buf binary = {0};
    zs_buf_puts(log, "the native binary was made for another device: compiled again\n");
    ze_result_t result = zs_compile(&compile, &binary, log);
    zs_module_close(module->container);
    module->container = NULL;
    zs_buf_fini(&module->binary);
    module->binary = binary;
    return result;
}

static ze_result_t refuse_binary(struct zs_buf *log, const char *text)
{
    zs_buf_printf(log, "%s\n", text);
    zs_log(ZS_LOG_WARN, "native binary: %s", text);
    return ZE_RESULT_ERROR_INVALID_NATIVE_BINARY;
}

/* Parse module->binary and choose the device's part. */
static ze_result_t open_binary(struct zs_ze_module *module, bool may_rebuild, struct zs_buf *log)
{
    const struct zs_module_options options = {
        .size_B = sizeof(options), .borrow = true, .verify_checksums = true};
    struct zs_diag diag = {0};
    int error =
        zs_module_open_memory(zs_buf_span(&module->binary), &options, &module->container, &diag);
    if (error) {
        char text[600];
        zs_diag_print(&diag, text, sizeof(text));
        if (error != -ENOMEM && error != -EFBIG)
            return refuse_binary(log, text);
        zs_buf_printf(log, "%s\n", text);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    const struct zs_gpu_model *model = module->device->model;
    module->image = zs_module_image(module->container, model->target);
    if (module->image && module->image->pointer_B == 8)
        return ZE_RESULT_SUCCESS;
    for (uint32_t i = 0; may_rebuild && !module->image && i < module->container->image_count; i++) {
        const struct zs_image *other = &module->container->images[i];
        if (other->ir.size_B && zs_container_detect(other->ir) == ZS_CONTAINER_SPIRV) {
            ze_result_t result = rebuild(module, other->ir, other->build_options, log);
            return result == ZE_RESULT_SUCCESS ? open_binary(module, false, log) : result;
        }
    }
    struct zs_buf text = {0};
    if (module->image)
        zs_buf_printf(&text, "the code for %s is not 64 bit", model->name);
    else
        zs_buf_printf(&text, "no code for %s; the binary has", model->name);
    for (uint32_t i = 0; !module->image && i < module->container->image_count; i++)
        zs_buf_printf(&text, " %.40s", module->container->images[i].device);
    ze_result_t result = refuse_binary(log, zs_buf_cstr(&text));
    zs_buf_fini(&text);
    return result;
}

static bool may_profile(struct zs_ze_module *module, const char *flags, struct zs_buf *log)
{
    const char *enabled = zs_env("ZET_ENABLE_PROGRAM_INSTRUMENTATION");
    if (!zs_compile_profile_flags(flags, &module->profile_flags) ||
        (enabled && !strcmp(enabled, "1")))
        return true;
    zs_buf_puts(log, "-zet-profile-flags needs ZET_ENABLE_PROGRAM_INSTRUMENTATION=1 in the "
                     "environment\n");
    return false;
}

static ze_result_t build(struct zs_ze_module *module, const ze_module_desc_t *desc,
                         struct zs_buf *log)
{
    ze_result_t result = ZE_RESULT_SUCCESS;
    if (!may_profile(module, desc->pBuildFlags, log))
        return ZE_RESULT_ERROR_MODULE_BUILD_FAILURE;
    if (desc->format != ZE_MODULE_FORMAT_NATIVE) {
        result = build_ir(module, desc, log);
    } else {
        zs_buf_append(&module->binary, desc->pInputModule, desc->inputSize);
        result = module->binary.error ? ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY : ZE_RESULT_SUCCESS;
    }
    if (result == ZE_RESULT_SUCCESS)
        result = open_binary(module, desc->format == ZE_MODULE_FORMAT_NATIVE, log);
    if (result == ZE_RESULT_SUCCESS) {
        struct zs_diag diag = {0};
        module->lowered = calloc(module->image->kernel_count + 1u, sizeof(*module->lowered));
        bool ready = module->lowered && zs_link_place(module);
        int error = ready ? zs_link_buffers(module, &diag) : -ENOMEM;
        if (error == -EBADMSG)
            result = refuse_binary(log, diag.text);
        else if (error)
            result = ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    if (result == ZE_RESULT_SUCCESS)
        module->has_imports = zs_link_unresolved(module, NULL) > 0;
    struct zs_diag diag = {0};
    if (result == ZE_RESULT_SUCCESS && !module->has_imports && zs_link_publish(module, &diag))
        result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    return result;
}

ze_result_t ZE_APICALL zeModuleCreate(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                                      const ze_module_desc_t *desc, ze_module_handle_t *phModule,
                                      ze_module_build_log_handle_t *phBuildLog)
{
    ZS_OBJECT(context, context, hContext);
    ZS_OBJECT(device, device, hDevice);
    ZS_CHECK_MEMBER(context, device);
    ZS_CHECK_POINTER(desc);
    ZS_CHECK_POINTER(phModule);
    if ((uint32_t)desc->format != MODULE_FORMAT_OCLC)
        ZS_CHECK_ENUM(desc->format, ZE_MODULE_FORMAT_NATIVE);
    bool program = zs_chain_find(desc->pNext, ZE_STRUCTURE_TYPE_MODULE_PROGRAM_EXP_DESC) != NULL;
    if (!program || desc->format != ZE_MODULE_FORMAT_IL_SPIRV) {
        ZS_CHECK_POINTER(desc->pInputModule);
        ZS_CHECK(desc->inputSize > 0, ZE_RESULT_ERROR_INVALID_SIZE, "the module has no bytes");
    }
    struct zs_ze_module *module = zs_object_new(ZS_OBJECT_module, sizeof(*module));
    ZS_CHECK(module, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory");
    pthread_mutex_init(&module->lock, NULL);
    module->context = zs_object_ref(context);
    module->device = device;
    struct zs_buf log = {0};
    ze_result_t result = build(module, desc, &log);
    char reason[200];
    snprintf(reason, sizeof(reason), "%.190s", log.size_B ? zs_buf_cstr(&log) : "no memory");
    ze_result_t logged = publish_log(&log, phBuildLog);
    if (result == ZE_RESULT_SUCCESS)
        result = logged;
    if (result == ZE_RESULT_SUCCESS && !zs_object_publish(module))
        result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    if (result != ZE_RESULT_SUCCESS) {
        zs_object_unref(module);
        return ZS_REFUSE(result, "%s", reason);
    }
    *phModule = module->object.handle;
    if (!module->has_imports)
        zs_debug_module_loaded(module);
    return ZE_RESULT_SUCCESS;
}

static void free_lowered(struct zs_ze_module *module, const struct zs_kernel *kernel,
                         struct zs_lowered *newest)
{
    for (struct zs_lowered *l = newest, *older; l; l = older) {
        older = l->older;
        if (l->gpu) {
            zs_gpu_kernel_destroy(l->gpu);
            zs_link_give_back(module, kernel, l->ip_B);
        }
        if (l != newest)
            free(l);
    }
}

void zs_ze_module_fini(struct zs_ze_module *module)
{
    zs_debug_module_free(module);
    zs_link_withdraw(module);
    for (uint32_t i = 0; module->lowered && i < module->image->kernel_count; i++)
        free_lowered(module, &module->image->kernels[i], &module->lowered[i]);
    free(module->lowered);
    free(module->kernel_ip_B);
    free(module->local_arrays.at);
    free(module->local_arrays.sites.items);
    for (int i = 0; i < ZS_BUFFER_COUNT; i++) {
        if (module->buffers[i])
            zs_memory_free(module->context, module->buffers[i]);
    }
    zs_module_close(module->container);
    zs_buf_fini(&module->binary);
    zs_buf_fini(&module->debug);
    zs_buf_fini(&module->code);
    pthread_mutex_destroy(&module->lock);
    zs_object_unref(module->context);
}

/* ---- Linking -----------------------------------------------------------------------------------
 */

/* A linked module is referenced until the handle of the one that uses it goes: kernels are lowered
 * by then, and modules that import from each other do not keep each other alive. */
static void drop_linked(struct zs_ze_module *module)
{
    pthread_mutex_lock(&module->lock);
    for (uint32_t i = 0; i < module->linked_count; i++)
        zs_object_unref(module->linked[i]);
    free(module->linked);
    module->linked = NULL;
    module->linked_count = 0;
    module->is_linked = false;
    pthread_mutex_unlock(&module->lock);
}

ze_result_t ZE_APICALL zeModuleDestroy(ze_module_handle_t hModule)
{
    ZS_OBJECT(module, module, hModule);
    if (!zs_object_retract(module))
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    zs_debug_module_unloaded(module);
    drop_linked(module);
    zs_object_unref(module);
    return ZE_RESULT_SUCCESS;
}

static ze_result_t link_one(struct zs_ze_module *module, uint32_t count,
                            struct zs_ze_module *const *all)
{
    struct zs_ze_module **linked = calloc(count, sizeof(struct zs_ze_module *));
    if (!linked)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    uint32_t used = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (all[i] != module)
            linked[used++] = zs_object_ref(all[i]);
    }
    module->linked = linked;
    module->linked_count = used;
    module->is_linked = true;
    struct zs_diag diag = {0};
    return zs_link_buffers(module, &diag) ? ZE_RESULT_ERROR_MODULE_LINK_FAILURE : ZE_RESULT_SUCCESS;
}

static ze_result_t link_modules(uint32_t count, struct zs_ze_module *const *modules,
                                struct zs_buf *log)
{
    ze_result_t result = ZE_RESULT_SUCCESS;
    for (uint32_t i = 0; i < count && result == ZE_RESULT_SUCCESS; i++) {
        pthread_mutex_lock(&modules[i]->lock);
        if (modules[i]->has_imports && !modules[i]->is_linked)
            result = link_one(modules[i], count, modules);
        pthread_mutex_unlock(&modules[i]->lock);
    }
    for (uint32_t i = 0; i < count && result == ZE_RESULT_SUCCESS; i++) {
        if (zs_link_unresolved(modules[i], log) > 0) {
            zs_buf_printf(log, "are not defined by any of the %u modules\n", count);
            zs_log(ZS_LOG_WARN, "zeModuleDynamicLink: %s", zs_buf_cstr(log));
            result = ZE_RESULT_ERROR_MODULE_LINK_FAILURE;
        }
    }
    for (uint32_t i = 0; i < count && result != ZE_RESULT_SUCCESS; i++)
        drop_linked(modules[i]); /* as if nothing had been tried */
    for (uint32_t i = 0; i < count && result == ZE_RESULT_SUCCESS; i++) {
        struct zs_diag diag = {0};
        pthread_mutex_lock(&modules[i]->lock);
        if (zs_link_publish(modules[i], &diag)) /* only calls by address need it */
            zs_log(ZS_LOG_WARN, "zeModuleDynamicLink: %s", diag.text);
        pthread_mutex_unlock(&modules[i]->lock);
    }
    for (uint32_t i = 0; i < count && result == ZE_RESULT_SUCCESS; i++)
        zs_debug_module_loaded(modules[i]);
    return result;
}

ze_result_t ZE_APICALL zeModuleDynamicLink(uint32_t numModules, ze_module_handle_t *phModules,
                                           ze_module_build_log_handle_t *phLinkLog)
{
    ZS_CHECK_POINTER(phModules);
    for (uint32_t i = 0; i < numModules; i++)
        ZS_CHECK(zs_ze_module_of(phModules[i]), ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
                 "phModules[%u] is no live module", i);
    struct zs_ze_module **modules = calloc(numModules + 1u, sizeof(*modules));
    ZS_CHECK(modules, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory");
    for (uint32_t i = 0; i < numModules; i++)
        modules[i] = zs_ze_module_of(phModules[i]);
    struct zs_buf log = {0};
    ze_result_t result = link_modules(numModules, modules, &log);
    free(modules);
    ze_result_t logged = publish_log(&log, phLinkLog);
    return result == ZE_RESULT_SUCCESS ? logged : result;
}

ze_result_t ZE_APICALL zeModuleInspectLinkageExt(ze_linkage_inspection_ext_desc_t *pInspectDesc,
                                                 uint32_t numModules, ze_module_handle_t *phModules,
                                                 ze_module_build_log_handle_t *phLog)
{
    ZS_CHECK_POINTER(pInspectDesc);
    ZS_CHECK_POINTER(phModules);
    ZS_CHECK_POINTER(phLog);
    ZS_CHECK_ENUM(pInspectDesc->flags, 0x7);
    struct zs_buf log = {0};
    for (uint32_t i = 0; i < numModules; i++) {
        const struct zs_ze_module *module = zs_ze_module_of(phModules[i]);
        if (!module) {
            zs_buf_fini(&log);
            return ZS_REFUSE(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, "phModules[%u]", i);
        }
        if (pInspectDesc->flags & ZE_LINKAGE_INSPECTION_EXT_FLAG_EXPORTS) {
            for (uint32_t s = 0; s < module->image->symbol_count; s++)
                zs_buf_printf(&log, "export %s\n", module->image->symbols[s].name);
        }
        if (pInspectDesc->flags & ~(uint32_t)ZE_LINKAGE_INSPECTION_EXT_FLAG_EXPORTS) {
            struct zs_buf names = {0};
            zs_link_unresolved(module, &names);
            if (names.size_B)
                zs_buf_printf(&log, "unresolved:\n%s", zs_buf_cstr(&names));
            zs_buf_fini(&names);
        }
    }
    return publish_log(&log, phLog);
}

/* ---- What is in a module -----------------------------------------------------------------------
 */

ze_result_t ZE_APICALL zeModuleGetNativeBinary(ze_module_handle_t hModule, size_t *pSize,
                                               uint8_t *pModuleNativeBinary)
{
    ZS_OBJECT(module, module, hModule);
    ZS_CHECK_POINTER(pSize);
    return give_bytes(module->binary.data, module->binary.size_B, pSize, pModuleNativeBinary);
}

/* IGC's debug data of the part that holds the device's code, or the zebin linked; where programs
 * are debugged at least an ELF of the code. Empty: compiled without -g. */
static struct zs_span debug_data(struct zs_ze_module *module)
{
    const struct zs_image *image = module->image;
    const struct zs_part *outer = &module->container->parts[image->outer_part];
    for (uint32_t i = 0; i < outer->section_count; i++) {
        if (outer->sections[i].type == (uint32_t)SECTION_DEBUG)
            return outer->sections[i].bytes;
    }
    struct zs_span linked = zs_debug_linked(module);
    return linked.size_B ? linked : zs_debug_module_elf(module);
}

ze_result_t ZE_APICALL zetModuleGetDebugInfo(zet_module_handle_t hModule,
                                             zet_module_debug_info_format_t format, size_t *pSize,
                                             uint8_t *pDebugInfo)
{
    ZS_OBJECT(module, module, hModule);
    ZS_CHECK_ENUM(format, ZET_MODULE_DEBUG_INFO_FORMAT_ELF_DWARF);
    ZS_CHECK_POINTER(pSize);
    struct zs_span debug = debug_data(module);
    return give_bytes(debug.data, debug.size_B, pSize, pDebugInfo);
}

ze_result_t ZE_APICALL zeModuleGetKernelNames(ze_module_handle_t hModule, uint32_t *pCount,
                                              const char **pNames)
{
    ZS_OBJECT(module, module, hModule);
    ZS_CHECK_POINTER(pCount);
    const struct zs_image *image = module->image;
    uint32_t have = 0;
    for (uint32_t i = 0; i < image->kernel_count; i++)
        have += !image->kernels[i].is_function_holder;
    uint32_t want = zs_list_count(pCount, have, pNames != NULL);
    for (uint32_t i = 0, n = 0; i < image->kernel_count && n < want; i++) {
        if (!image->kernels[i].is_function_holder)
            pNames[n++] = image->kernels[i].name;
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeModuleGetProperties(ze_module_handle_t hModule,
                                             ze_module_properties_t *pModuleProperties)
{
    ZS_OBJECT(module, module, hModule);
    ZS_CHECK_POINTER(pModuleProperties);
    pModuleProperties->flags = module->has_imports ? ZE_MODULE_PROPERTY_FLAG_IMPORTS : 0;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeModuleGetGlobalPointer(ze_module_handle_t hModule, const char *pGlobalName,
                                                size_t *pSize, void **pptr)
{
    ZS_OBJECT(module, module, hModule);
    ZS_CHECK_POINTER(pGlobalName);
    const struct zs_image *image = module->image;
    const char *name = pGlobalName;
    for (uint32_t i = 0; i < image->host_access_count; i++) {
        if (strcmp(image->host_access[i].host_name, name) == 0)
            name = image->host_access[i].device_name;
    }
    const struct zs_ze_module *owner;
    const struct zs_symbol *symbol = zs_link_find(module, name, &owner);
    uint64_t address = symbol && symbol->place.kind != ZS_PLACE_KERNEL
                           ? zs_link_address(owner, &symbol->place)
                           : 0;
    ZS_CHECK(address, ZE_RESULT_ERROR_INVALID_GLOBAL_NAME, "no variable \"%s\"", pGlobalName);
    if (pSize)
        *pSize = (size_t)symbol->size_B;
    if (pptr)
        *pptr = (void *)(uintptr_t)address;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeModuleGetFunctionPointer(ze_module_handle_t hModule,
                                                  const char *pFunctionName, void **pfnFunction)
{
    ZS_OBJECT(module, module, hModule);
    ZS_CHECK_POINTER(pFunctionName);
    ZS_CHECK_POINTER(pfnFunction);
    const struct zs_kernel *kernel = zs_image_kernel(module->image, pFunctionName);
    const struct zs_ze_module *owner;
    const struct zs_symbol *symbol = zs_link_find(module, pFunctionName, &owner);
    uint64_t address = kernel && !kernel->is_function_holder ? (uintptr_t)kernel->code.data
                       : symbol ? zs_link_address(owner, &symbol->place)
                                : 0;
    ZS_CHECK(address, ZE_RESULT_ERROR_INVALID_FUNCTION_NAME, "no function \"%s\"", pFunctionName);
    *pfnFunction = (void *)(uintptr_t)address;
    return ZE_RESULT_SUCCESS;
}
