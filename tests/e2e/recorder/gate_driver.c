/* SPDX-License-Identifier: MIT */
/*
 * A Level Zero driver that is another one (GATE_DRIVER), but for a gate before the execution of
 * command lists: while it is closed, who submits waits, as behind a full queue.
 */
#include "gate_driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

typedef int (*get_table_fn)(int version, void *table);
typedef int (*execute_fn)(void *queue, unsigned count, void **lists, void *fence);

struct queue_table {
    void *create, *destroy;
    execute_fn execute;
    void *synchronize;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int is_closed, waiting;
static execute_fn next_execute;

EXPORT void gate_close(int closed)
{
    pthread_mutex_lock(&lock);
    is_closed = closed;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

EXPORT void gate_wait_until_somebody_waits(void)
{
    pthread_mutex_lock(&lock);
    while (!waiting)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

static int execute(void *queue, unsigned count, void **lists, void *fence)
{
    pthread_mutex_lock(&lock);
    waiting++;
    pthread_cond_broadcast(&changed);
    while (is_closed)
        pthread_cond_wait(&changed, &lock);
    waiting--;
    pthread_mutex_unlock(&lock);
    return next_execute(queue, count, lists, fence);
}

static int get_table(const char *name, int version, void *table)
{
    static void *driver;
    if (!driver)
        driver = dlopen(getenv("GATE_DRIVER"), RTLD_NOW | RTLD_LOCAL);
    get_table_fn get = driver ? (get_table_fn)dlsym(driver, name) : NULL;
    return get ? get(version, table) : 0x70000001;
}

/* The loader asks for each table by the name of a function. */
#define TABLE(name)                                                                                \
    EXPORT int name(int version, void *table);                                                     \
    EXPORT int name(int version, void *table)                                                      \
    {                                                                                              \
        return get_table(#name, version, table);                                                   \
    }
TABLE(zeGetCommandListExpProcAddrTable)
TABLE(zeGetCommandListProcAddrTable)
TABLE(zeGetContextProcAddrTable)
TABLE(zeGetDeviceExpProcAddrTable)
TABLE(zeGetDeviceProcAddrTable)
TABLE(zeGetDriverProcAddrTable)
TABLE(zeGetEventExpProcAddrTable)
TABLE(zeGetEventPoolProcAddrTable)
TABLE(zeGetEventProcAddrTable)
TABLE(zeGetFabricEdgeExpProcAddrTable)
TABLE(zeGetFabricVertexExpProcAddrTable)
TABLE(zeGetFenceProcAddrTable)
TABLE(zeGetGlobalProcAddrTable)
TABLE(zeGetImageExpProcAddrTable)
TABLE(zeGetImageProcAddrTable)
TABLE(zeGetKernelExpProcAddrTable)
TABLE(zeGetKernelProcAddrTable)
TABLE(zeGetMemExpProcAddrTable)
TABLE(zeGetMemProcAddrTable)
TABLE(zeGetModuleBuildLogProcAddrTable)
TABLE(zeGetModuleProcAddrTable)
TABLE(zeGetPhysicalMemProcAddrTable)
TABLE(zeGetSamplerProcAddrTable)
TABLE(zeGetVirtualMemProcAddrTable)
TABLE(zesGetDeviceProcAddrTable)
TABLE(zesGetDiagnosticsProcAddrTable)
TABLE(zesGetDriverProcAddrTable)
TABLE(zesGetEngineProcAddrTable)
TABLE(zesGetFabricPortProcAddrTable)
TABLE(zesGetFanProcAddrTable)
TABLE(zesGetFirmwareProcAddrTable)
TABLE(zesGetFrequencyProcAddrTable)
TABLE(zesGetLedProcAddrTable)
TABLE(zesGetMemoryProcAddrTable)
TABLE(zesGetPerformanceFactorProcAddrTable)
TABLE(zesGetPowerProcAddrTable)
TABLE(zesGetPsuProcAddrTable)
TABLE(zesGetRasProcAddrTable)
TABLE(zesGetSchedulerProcAddrTable)
TABLE(zesGetStandbyProcAddrTable)
TABLE(zesGetTemperatureProcAddrTable)
TABLE(zetGetCommandListProcAddrTable)
TABLE(zetGetContextProcAddrTable)
TABLE(zetGetDebugProcAddrTable)
TABLE(zetGetDeviceProcAddrTable)
TABLE(zetGetKernelProcAddrTable)
TABLE(zetGetMetricGroupExpProcAddrTable)
TABLE(zetGetMetricGroupProcAddrTable)
TABLE(zetGetMetricProcAddrTable)
TABLE(zetGetMetricQueryPoolProcAddrTable)
TABLE(zetGetMetricQueryProcAddrTable)
TABLE(zetGetMetricStreamerProcAddrTable)
TABLE(zetGetModuleProcAddrTable)
TABLE(zetGetTracerExpProcAddrTable)

EXPORT int zeGetCommandQueueProcAddrTable(int version, void *table);
EXPORT int zeGetCommandQueueProcAddrTable(int version, void *table)
{
    int result = get_table(__func__, version, table);
    struct queue_table *queue = table;
    if (result)
        return result;
    next_execute = queue->execute;
    queue->execute = execute;
    return 0;
}
