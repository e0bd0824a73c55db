/* SPDX-License-Identifier: MIT */
/* Kernels that have run for a while become code of the host, made by the compiler's process. */
#include "drm/drm_priv.h"

#include "compiler/compiler.h"
#include "eu/tier/tier.h"
#include "gpu/walk.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static struct {
    pthread_once_t once;
    bool possible, first; /* as ZESCOPE_EU says: before anything runs */
    pthread_mutex_t lock;
    struct zs_compiler *compiler; /* made by whoever asks first */
} the = {.once = PTHREAD_ONCE_INIT, .lock = PTHREAD_MUTEX_INITIALIZER};

static void ZS_PRINTF(1, 2) complain(const char *format, ...)
{
    struct zs_buf text = {0};
    va_list args;
    va_start(args, format);
    zs_buf_vprintf(&text, format, args);
    va_end(args);
    zs_drm_log(ZS_DRM_ERROR, "%s", zs_buf_cstr(&text));
    zs_buf_fini(&text);
}

static struct zs_compiler *take_compiler(void)
{
    pthread_mutex_lock(&the.lock);
    if (!the.compiler)
        the.compiler = zs_compiler_create_as_set(complain);
    struct zs_compiler *compiler = the.compiler;
    pthread_mutex_unlock(&the.lock);
    return compiler;
}

void zs_drm_compile_begin_child(void)
{
    zs_compiler_abandon(the.compiler);
    the.compiler = NULL;
    pthread_mutex_init(&the.lock, NULL);
}

static enum zs_gpu_compiled compile(void *context, const struct zs_gpu_compile *what,
                                    struct zs_buf *ret_blob)
{
    struct zs_compiler *compiler = take_compiler();
    struct zs_compiler_request request = zs_compiler_for_host(&what->request);
    struct zs_buf log = {0};
    if (!compiler)
        return ZS_GPU_COMPILED_NOT;
    request.hint = what->seen;
    request.is_anew = what->is_anew;
    request.only_known = what->only_known;
    request.is_background = !the.first;
    enum zs_compiler_status status = zs_compiler_build(compiler, &request, ret_blob, &log);
    if (status != ZS_COMPILER_OK && !what->only_known)
        zs_drm_log(ZS_DRM_INFO, "a kernel is interpreted, not compiled: %s", zs_buf_cstr(&log));
    zs_buf_fini(&log);
    return status == ZS_COMPILER_OK       ? ZS_GPU_COMPILED
           : status == ZS_COMPILER_WANTED ? ZS_GPU_COMPILED_WANTED
                                          : ZS_GPU_COMPILED_NOT;
}

static void read_settings(void)
{
    const char *eu = secure_getenv("ZESCOPE_EU"), *why;
    the.first = eu && !strcmp(eu, "compiled");
    the.possible = !(eu && !strcmp(eu, "interpreter")) && zs_eu_tier_possible(&why);
}

void zs_drm_compile_choose(struct zs_gpu_walk_code *code)
{
    pthread_once(&the.once, read_settings); /* this is asked at each launch */
    if (!the.possible)
        return;
    code->compile = compile;
    code->flags |= the.first ? ZS_GPU_KERNEL_COMPILED : 0;
}
