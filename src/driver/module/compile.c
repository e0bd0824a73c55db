/* SPDX-License-Identifier: MIT */
#include "driver/module/compile.h"

#include "base/checks.h"
#include "compiler/compiler.h"
#include "eu/tier/tier.h"

#include <errno.h>
#include <level_zero/zet_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PROFILE_KNOWN = ZET_PROFILE_FLAG_REGISTER_REALLOCATION | ZET_PROFILE_FLAG_FREE_REGISTER_INFO
};

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

static const char profile_flag[] = "-zet-profile-flags";

static bool is_word(const char *at, size_t length, const char *word)
{
    return strlen(word) == length && !strncmp(at, word, length);
}

bool zs_compile_profile_flags(const char *flags, uint32_t *ret_flags)
{
    bool found = false;
    *ret_flags = 0;
    for (const char *at = flags ? flags : ""; *at;) {
        size_t length = strcspn(at, " \t\n");
        bool is_it = is_word(at, length, profile_flag);
        at += length;
        at += strspn(at, " \t\n");
        if (!is_it)
            continue;
        char *end;
        unsigned long value = strtoul(at, &end, 16);
        bool number = end != at && (!*end || strchr(" \t\n", *end)) && value <= PROFILE_KNOWN;
        *ret_flags = number ? (uint32_t)value : 0;
        found = true;
    }
    return found;
}

/* The flag is no word of the compiler's, nor is what is behind it. */
static const char *skip_profile_flag(const char *at)
{
    at += strspn(at, " \t\n");
    return *at == '-' ? at : at + strcspn(at, " \t\n");
}

static void add_profile_options(const char *flags, struct zs_buf *options)
{
    uint32_t profile;
    zs_compile_profile_flags(flags, &profile);
    if (profile & ZET_PROFILE_FLAG_REGISTER_REALLOCATION)
        zs_buf_puts(options, "-ze-gtpin-rera ");
    if (profile & ZET_PROFILE_FLAG_FREE_REGISTER_INFO)
        zs_buf_puts(options, "-ze-gtpin-grf-info ");
}

void zs_compile_flags(const char *flags, struct zs_buf *ret_options, struct zs_buf *ret_internal)
{
    for (const char *at = flags ? flags : ""; *at;) {
        size_t length = strcspn(at, " \t\n");
        bool is_profile = is_word(at, length, profile_flag);
        if (length && !is_profile)
            add_flag(at, length, ret_options, ret_internal);
        at = is_profile ? skip_profile_flag(at + length) : at + length;
        at += strspn(at, " \t\n");
    }
    add_profile_options(flags, ret_options);
}

/* ---- The compiler ------------------------------------------------------------------------------
 */

struct zs_compiler *zs_compile_start(void)
{
    return zs_compiler_create_as_set(zs_log_setting);
}

enum zs_gpu_compiled zs_compile_for_host(void *context, const struct zs_gpu_compile *what,
                                         struct zs_buf *ret_blob)
{
    struct zs_ze_driver *driver = context;
    struct zs_compiler_request asked = zs_compiler_for_host(&what->request);
    struct zs_buf log = {0};
    asked.hint = what->seen;
    asked.is_anew = what->is_anew;
    asked.only_known = what->only_known;
    asked.is_background = driver->eu == ZS_DRIVER_EU_AUTO;
    enum zs_compiler_status status = zs_compiler_build(driver->compiler, &asked, ret_blob, &log);
    if (status != ZS_COMPILER_OK && !what->only_known)
        zs_log(ZS_LOG_INFO, "a kernel is interpreted, not compiled: %s", zs_buf_cstr(&log));
    zs_buf_fini(&log);
    return status == ZS_COMPILER_OK       ? ZS_GPU_COMPILED
           : status == ZS_COMPILER_WANTED ? ZS_GPU_COMPILED_WANTED
                                          : ZS_GPU_COMPILED_NOT;
}

bool zs_describe_for_host(struct zs_ze_driver *driver, struct zs_span request, bool is_host,
                          struct zs_buf *ret_text)
{
    struct zs_buf log = {0};
    struct zs_compiler_request asked = zs_compiler_for_host(&request);
    asked.internal_options = is_host ? ZS_COMPILER_HOST_ASSEMBLY : ZS_COMPILER_HOST_MODULE;
    const char *why;
    bool ok = zs_eu_tier_possible(&why) && request.size_B &&
              zs_compiler_build(driver->compiler, &asked, ret_text, &log) == ZS_COMPILER_OK;
    if (!ok)
        zs_buf_puts(ret_text, log.size_B ? zs_buf_cstr(&log) : why ? why : "it is interpreted");
    zs_buf_fini(&log);
    return ok;
}

/* or cr0.0 ... 0x4c0; add (8) r10 r11 r12; end of thread, of Gen9 */
static const uint32_t shortest_kernel[] = {
    0x00000006, 0x30000004, 0x16001000, 0x04c004c0, 0x00600040, 0x21400a28,
    0x0a8d0160, 0x008d0180, 0x07600031, 0x20000204, 0x06000e00, 0x82000010,
};

static int try_host(struct zs_compiler *compiler, struct zs_buf *ret_why)
{
    const struct zs_eu_lower_params params = {
        .code = zs_span_make(shortest_kernel, sizeof(shortest_kernel)),
        .simd = 8,
        .flags = ZS_EU_TIER_LOWER,
        .platform = ZS_ISA_GEN9};
    struct zs_buf request = {0}, blob = {0};
    zs_eu_tier_request_put(&params, &(struct zs_eu_tier_options){0}, &request);
    struct zs_span unit = zs_buf_span(&request);
    struct zs_compiler_request asked = zs_compiler_for_host(&unit);
    asked.is_background = true;
    enum zs_compiler_status status = zs_compiler_build(compiler, &asked, &blob, ret_why);
    if (status != ZS_COMPILER_OK && !ret_why->size_B)
        zs_buf_puts(ret_why, "no process can be started for it here");
    zs_buf_fini(&request);
    zs_buf_fini(&blob);
    return status == ZS_COMPILER_OK ? 0 : -ENOTSUP;
}

/* zescope_pfnCheckCompiled_t */
ZS_API int zescope_check_compiled(char *ret_why, size_t size_B);
int zescope_check_compiled(char *ret_why, size_t size_B)
{
    const char *eu = zs_env("ZESCOPE_EU"), *impossible = NULL;
    struct zs_buf why = {0};
    int error = -ENOTSUP;
    if (eu && strcmp(eu, "interpreter") == 0) {
        zs_buf_puts(&why, "ZESCOPE_EU=interpreter");
    } else if (!zs_eu_tier_possible(&impossible)) {
        zs_buf_puts(&why, impossible);
    } else {
        struct zs_compiler *compiler = zs_compile_start();
        error = compiler ? try_host(compiler, &why) : -ENOMEM;
        zs_compiler_destroy(compiler);
    }
    const char *text = error ? zs_buf_cstr(&why) : "";
    snprintf(ret_why, size_B, "%.*s", (int)strcspn(text, "\n"), text);
    zs_buf_fini(&why);
    return error;
}

static bool has_flag(const char *flags, const char *word)
{
    for (const char *at = flags ? flags : ""; *at;) {
        size_t length = strcspn(at, " \t\n");
        if (is_word(at, length, word))
            return true;
        at += length;
        at += strspn(at, " \t\n");
    }
    return false;
}

enum asked { CODE, CODE_WITH_EXPORTS, SPIRV_OF_SOURCE };
static ze_result_t ask(const struct zs_compile *compile, const struct zs_span *units,
                       enum asked asked, struct zs_buf *ret_binary, struct zs_buf *ret_log)
{
    static const ze_result_t results[] = {
        [ZS_COMPILER_OK] = ZE_RESULT_SUCCESS,
        [ZS_COMPILER_BUILD_FAILED] = ZE_RESULT_ERROR_MODULE_BUILD_FAILURE,
        [ZS_COMPILER_LINK_FAILED] = ZE_RESULT_ERROR_MODULE_LINK_FAILURE,
        [ZS_COMPILER_UNAVAILABLE] = ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE,
        [ZS_COMPILER_NO_MEMORY] = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY,
    };
    struct zs_buf options = {0}, internal = {0};
    zs_compile_flags(compile->build_flags, &options, &internal);
    if (compile->driver->debug && !has_flag(compile->build_flags, "-g"))
        zs_buf_puts(&options, "-g "); /* as Intel's driver does where programs are debugged */
    if (asked == CODE_WITH_EXPORTS)   /* zeModuleGetGlobalPointer */
        zs_buf_puts(&options, "-cl-take-global-address ");
    const struct zs_compiler_request request = {.device = compile->device,
                                                .options = zs_buf_cstr(&options),
                                                .internal_options = zs_buf_cstr(&internal),
                                                .unit_count = compile->unit_count,
                                                .units = units,
                                                .is_source = asked == SPIRV_OF_SOURCE};
    enum zs_compiler_status status =
        options.error || internal.error
            ? ZS_COMPILER_NO_MEMORY
            : zs_compiler_build(compile->driver->compiler, &request, ret_binary, ret_log);
    zs_buf_fini(&options);
    zs_buf_fini(&internal);
    return results[status];
}

ze_result_t zs_compile_source(const struct zs_compile *compile, struct zs_buf *ret_spirv,
                              struct zs_buf *ret_log)
{
    return ask(compile, &compile->units[0].spirv, SPIRV_OF_SOURCE, ret_spirv, ret_log);
}

static ze_result_t build(const struct zs_compile *compile, const struct zs_buf *units,
                         struct zs_buf *ret_binary, struct zs_buf *ret_log)
{
    struct zs_span spans[ZS_COMPILER_UNITS_MAX];
    bool exports = false;
    for (uint32_t i = 0; i < compile->unit_count; i++) {
        spans[i] = zs_buf_span(&units[i]);
        exports = exports || zs_spirv_exports_variable(spans[i]);
    }
    return ask(compile, spans, exports ? CODE_WITH_EXPORTS : CODE, ret_binary, ret_log);
}

/* What is rewritten takes the unit's place. */
static int replace(int error, struct zs_buf *unit, struct zs_buf *by)
{
    if (error || !by->size_B) {
        zs_buf_fini(by);
        return error;
    }
    zs_buf_fini(unit);
    *unit = *by;
    return 0;
}

static int rewrite(const struct zs_compile *compile, struct zs_buf *unit)
{
    struct zs_buf compared = {0}, apart = {0}, marked = {0}, seeded = {0};
    struct zs_local_arrays *arrays = compile->local_arrays;
    bool is_whole =
        compile->unit_count == 1 && !has_flag(compile->build_flags, "-library-compilation");
    int error =
        compile->driver->checks & ZS_CHECK_MEMORY
            ? zs_spirv_compare_bounds(zs_buf_span(unit), is_whole, &arrays->sites, &compared)
            : 0;
    error = replace(error, unit, &compared);
    if (!error && compile->driver->check)
        error = replace(zs_spirv_part_locals(zs_buf_span(unit), arrays, &apart), unit, &apart);
    if (!error && compile->driver->checks & (ZS_CHECK_SYNC | ZS_CHECK_RACE)) {
        error = zs_spirv_mark_copies(zs_buf_span(unit), compile->driver->checks & ZS_CHECK_SYNC,
                                     compile->driver->checks & ZS_CHECK_RACE, &marked);
        arrays->has_marks |= marked.size_B != 0;
        error = replace(error, unit, &marked);
    }
    if (!error && compile->driver->checks & ZS_CHECK_UNDEFINED) {
        error = zs_spirv_seed_undefined(zs_buf_span(unit), &seeded);
        arrays->has_marks |= seeded.size_B != 0;
        error = replace(error, unit, &seeded);
    }
    return error;
}

static ze_result_t compile_units(const struct zs_compile *compile, struct zs_buf *ret_binary,
                                 struct zs_buf *ret_log)
{
    if (compile->unit_count > ZS_COMPILER_UNITS_MAX) {
        zs_buf_printf(ret_log, "%u modules are more than can be linked\n", compile->unit_count);
        return ZE_RESULT_ERROR_MODULE_LINK_FAILURE;
    }
    struct zs_buf units[ZS_COMPILER_UNITS_MAX] = {0};
    ze_result_t result = ZE_RESULT_SUCCESS;
    for (uint32_t i = 0; i < compile->unit_count && result == ZE_RESULT_SUCCESS; i++) {
        int error = zs_spirv_specialize(compile->units[i].spirv, compile->units[i].constants,
                                        &units[i], ret_log);
        if (!error && compile->local_arrays)
            error = rewrite(compile, &units[i]);
        if (error)
            result = error == -ENOMEM ? ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY
                                      : ZE_RESULT_ERROR_MODULE_BUILD_FAILURE;
    }
    if (result == ZE_RESULT_SUCCESS)
        result = build(compile, units, ret_binary, ret_log);
    for (uint32_t i = 0; i < compile->unit_count; i++)
        zs_buf_fini(&units[i]);
    return result;
}

ze_result_t zs_compile(const struct zs_compile *compile, struct zs_buf *ret_binary,
                       struct zs_buf *ret_log)
{
    ze_result_t result = compile_units(compile, ret_binary, ret_log);
    struct zs_local_arrays *arrays = compile->local_arrays;
    if (result == ZE_RESULT_SUCCESS || !arrays ||
        (!arrays->count && !arrays->sites.count && !arrays->has_marks))
        return result;
    struct zs_compile plain = *compile;
    arrays->count = arrays->sites.count = 0;
    arrays->has_marks = false;
    plain.local_arrays = NULL;
    zs_buf_fini(ret_binary);
    zs_buf_fini(ret_log);
    *ret_binary = *ret_log = (struct zs_buf){0};
    return compile_units(&plain, ret_binary, ret_log);
}
