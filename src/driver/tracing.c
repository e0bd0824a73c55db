/* SPDX-License-Identifier: MIT */
#include "driver/tracing.h"

#include "driver/driver_priv.h"
#include "driver/object.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct zs_ze_tracer {
    struct zs_object object;
    struct zs_ze_context *context;
    struct zs_tracer *tracer; /* NULL once it is destroyed */
};

bool zs_ddi_is_traced(void)
{
    const char *value = getenv("ZET_ENABLE_API_TRACING_EXP");
    return value && !strcmp(value, "1");
}

static ze_result_t refuse_untraced(void)
{
    return ZS_REFUSE(ZE_RESULT_ERROR_UNINITIALIZED,
                     "tracers need ZET_ENABLE_API_TRACING_EXP=1 in the environment of zeInit");
}

static ze_result_t result_of(int error)
{
    switch (error) {
    case 0:
        return ZE_RESULT_SUCCESS;
    case -ENOMEM:
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    case -EBUSY:
        return ZS_REFUSE(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                         "callbacks can only be set while the tracer is disabled");
    case -EDEADLK:
        return ZS_REFUSE(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE,
                         "a tracer cannot be destroyed inside its own callback");
    default:
        return ZS_REFUSE(ZE_RESULT_ERROR_UNKNOWN, "more than %d tracers are enabled",
                         ZS_TRACERS_MAX);
    }
}

void zs_ze_tracer_fini(struct zs_ze_tracer *tracer)
{
    if (tracer->tracer)
        zs_tracer_free(tracer->tracer);
    zs_object_unref(tracer->context);
}

ze_result_t ZE_APICALL zetTracerExpCreate(zet_context_handle_t hContext,
                                          const zet_tracer_exp_desc_t *desc,
                                          zet_tracer_exp_handle_t *phTracer)
{
    if (!zs_ddi_is_traced())
        return refuse_untraced();
    ZS_OBJECT(context, context, hContext);
    ZS_CHECK_POINTER(desc);
    ZS_CHECK_POINTER(phTracer);
    struct zs_ze_tracer *tracer = zs_object_new(ZS_OBJECT_tracer, sizeof(*tracer));
    ZS_CHECK(tracer, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory");
    tracer->context = zs_object_ref(context);
    if (zs_tracer_new(&zs_driver_tracers, desc->pUserData, &tracer->tracer) ||
        !zs_object_publish(tracer)) {
        zs_object_unref(tracer);
        return ZS_REFUSE(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory or no handle is left");
    }
    *phTracer = tracer->object.handle;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zetTracerExpDestroy(zet_tracer_exp_handle_t hTracer)
{
    ZS_OBJECT(tracer, tracer, hTracer);
    int error = zs_tracer_free(tracer->tracer);
    if (error)
        return result_of(error);
    tracer->tracer = NULL;
    if (!zs_object_retract(tracer))
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    zs_object_unref(tracer);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zetTracerExpSetPrologues(zet_tracer_exp_handle_t hTracer,
                                                zet_core_callbacks_t *pCoreCbs)
{
    ZS_OBJECT(tracer, tracer, hTracer);
    ZS_CHECK_POINTER(pCoreCbs);
    return result_of(zs_ddi_set_callbacks(tracer->tracer, pCoreCbs, zs_tracer_set_enter));
}

ze_result_t ZE_APICALL zetTracerExpSetEpilogues(zet_tracer_exp_handle_t hTracer,
                                                zet_core_callbacks_t *pCoreCbs)
{
    ZS_OBJECT(tracer, tracer, hTracer);
    ZS_CHECK_POINTER(pCoreCbs);
    return result_of(zs_ddi_set_callbacks(tracer->tracer, pCoreCbs, zs_tracer_set_exit));
}

ze_result_t ZE_APICALL zetTracerExpSetEnabled(zet_tracer_exp_handle_t hTracer, ze_bool_t enable)
{
    ZS_OBJECT(tracer, tracer, hTracer);
    return result_of(zs_tracer_enable(tracer->tracer, enable));
}
