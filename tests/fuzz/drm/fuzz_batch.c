/* SPDX-License-Identifier: MIT */
/* Batches from anywhere, with the heaps and states that they name: run on the software GPU, and
 * printed. The input is the GPU's memory from CODE on, but for its first byte: the device. */
#include "cs/cs.h"
#include "drm/drm_priv.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#define CODE UINT64_C(0x100000)
#define DATA UINT64_C(0x200000)
enum { DATA_B = 8192, TURNS_MAX = 4, LOOKS_MAX = 16, TIME_LIMIT_NS = 30000000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B);

int zs_drm_real_fstat(int fd, struct stat *ret)
{
    return fstat(fd, ret);
}

void *zs_drm_real_mmap(void *at, size_t size_B, int protection, int flags, int fd, off_t offset_B)
{
    return mmap(at, size_B, protection, flags, fd, offset_B);
}

/* Kernels may loop for ever. */
static _Atomic(bool) cancel;
static timer_t timer;

static void stop(int number)
{
    atomic_store(&cancel, true);
}

static void set_timer(long ns)
{
    atomic_store(&cancel, false);
    timer_settime(timer, 0, &(struct itimerspec){.it_value = {0, ns}}, NULL);
}

static void prepare(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN};
    struct sigaction action = {.sa_handler = stop, .sa_flags = SA_RESTART};
    setenv("ZESCOPE_DEVICES", "skl,tgllp,acm-g10,pvc", 1);
    setenv("ZESCOPE_LOG", "off", 0);
    sigaction(SIGRTMIN, &action, NULL);
    if (timer_create(CLOCK_MONOTONIC, &event, &timer))
        __builtin_trap();
}

struct machine {
    struct zs_drm_node *node;
    struct zs_drm_vm *vm;
    struct zs_gpu_pin pin;
    uint32_t looks;
};

static uint8_t *find_memory(void *ctx, uint64_t gpu_va, uint64_t size_B, bool is_write)
{
    const struct machine *m = ctx;
    return zs_gpu_memory_host(m->vm->memory, zs_drm_canonical(m->vm, gpu_va), size_B, is_write);
}

static uint64_t read_ticks(void *ctx)
{
    return 1000;
}

static int run_walk(void *ctx, const struct zs_cs_walk *walk, struct zs_cs_ran *ret,
                    struct zs_diag *diag)
{
    struct machine *m = ctx;
    struct zs_drm_order order = {.phase = 0};
    int error = zs_drm_walk(m->node, m->vm, walk, &cancel, &m->pin, &order, ret, diag);
    zs_drm_order_fini(&order);
    return error;
}

static bool pause_batch(void *ctx, uint32_t turn)
{
    struct machine *m = ctx;
    zs_gpu_memory_unpin(m->vm->memory, &m->pin);
    zs_gpu_memory_pin(m->vm->memory, &m->pin);
    return turn < TURNS_MAX && ++m->looks < LOOKS_MAX;
}

static int add(struct machine *m, uint64_t gpu_va, uint8_t *host, size_t size_B)
{
    struct zs_gpu_allocation a = {.gpu_va = gpu_va,
                                  .size_B = size_B,
                                  .bias = (uint64_t)(uintptr_t)host - gpu_va,
                                  .kind = ZS_GPU_MEMORY_DEVICE,
                                  .flags = ZS_GPU_ALLOCATION_JOINED};
    return zs_gpu_memory_add(m->vm->memory, &a, NULL);
}

static void run(struct machine *m)
{
    static const struct zs_cs_ops ops = {
        .memory = find_memory, .ticks = read_ticks, .walk = run_walk, .pause = pause_batch};
    const struct zs_gpu_model *model = m->node->model;
    const struct zs_cs_params params = {.is_xe_hpg = model->loads_payload,
                                        .is_xe2 = model->platform >= ZS_ISA_XE2,
                                        .timestamp_bits = model->timestamp_bits};
    struct zs_diag diag = {0};
    struct zs_cs *cs;
    if (zs_cs_create(&ops, m, &params, &cs))
        return;
    zs_gpu_memory_pin(m->vm->memory, &m->pin);
    set_timer(TIME_LIMIT_NS);
    zs_cs_run(cs, CODE, &diag);
    set_timer(0);
    zs_gpu_memory_unpin(m->vm->memory, &m->pin);
    zs_cs_destroy(cs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, prepare);
    if (size_B < 5)
        return 0;
    struct machine m = {.node = zs_drm_node(data[0] % zs_drm_node_count())};
    struct zs_buf text = {0};
    struct zs_diag diag = {0};
    zs_cs_print(zs_span_make(data + 1, size_B - 1), CODE, NULL, &text, &diag);
    zs_cs_print_dump(zs_span_make(data + 1, size_B - 1), &text, &diag);
    zs_buf_fini(&text);
    /* allocations of their own: a sanitizer sees what is read beside them */
    uint8_t *code = aligned_alloc(64, zs_align_up(size_B - 1, 64)), *room = calloc(1, DATA_B);
    m.vm = zs_drm_vm_create(m.node);
    if (code && room && m.vm) {
        memset(code, 0, zs_align_up(size_B - 1, 64));
        memcpy(code, data + 1, size_B - 1);
        if (!add(&m, CODE, code, zs_align_up(size_B - 1, 64)) && !add(&m, DATA, room, DATA_B))
            run(&m);
    }
    zs_drm_vm_put(m.vm);
    free(room);
    free(code);
    return 0;
}
