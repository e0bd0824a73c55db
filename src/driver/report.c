/* SPDX-License-Identifier: MIT */
#include "driver/report.h"

#include "driver/log.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FRAMES_MAX = 12, FRAMES_SKIP = 3, ORIGINS_MAX = 1 << 20 };

struct origin {
    int count;
    void *frames[FRAMES_MAX];
};

/* Part of the log: where reports go, and who allocated what. */
static struct {
    pthread_mutex_t lock;
    bool check;
    int fd; /* ZESCOPE_CHECK_REPORT, or -1 */
    struct origin *origins;
    size_t count, capacity;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1};

void zs_report_init(bool check)
{
    pthread_mutex_lock(&state.lock);
    state.check = check;
    const char *path = check ? secure_getenv("ZESCOPE_CHECK_REPORT") : NULL;
    if (path && *path && state.fd < 0) {
        state.fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        if (state.fd < 0)
            zs_log(ZS_LOG_ERROR, "ZESCOPE_CHECK_REPORT=%s: %s", path, strerror(errno));
    }
    pthread_mutex_unlock(&state.lock);
}

void zs_report_after_fork(void)
{
    pthread_mutex_init(&state.lock, NULL);
}

uint64_t zs_report_origin(void)
{
    if (!state.check)
        return 0;
    struct origin origin = {0};
    void *frames[FRAMES_MAX + FRAMES_SKIP];
    int count = backtrace(frames, FRAMES_MAX + FRAMES_SKIP);
    for (int i = FRAMES_SKIP; i < count; i++)
        origin.frames[origin.count++] = frames[i];
    uint64_t id = 0;
    pthread_mutex_lock(&state.lock);
    if (state.count == state.capacity && state.count < ORIGINS_MAX) {
        size_t capacity = state.capacity ? state.capacity * 2 : 256;
        struct origin *grown = realloc(state.origins, capacity * sizeof(*grown));
        if (grown) {
            state.origins = grown;
            state.capacity = capacity;
        }
    }
    if (state.count < state.capacity) {
        state.origins[state.count++] = origin;
        id = state.count;
    }
    pthread_mutex_unlock(&state.lock);
    return id;
}

/* "    #0 /path/of/app+0x1234 (main)": the offset is what the file's symbols say, so that the words
 * can be found later (zescope run --check does). The driver's own frames are left out. */
static int print_frame(struct zs_buf *out, int number, void *pc)
{
    Dl_info info;
    struct link_map *map = NULL;
    char path[PATH_MAX];
    if (!dladdr1(pc, &info, (void **)&map, RTLD_DL_LINKMAP) || !map || !info.dli_fname) {
        zs_buf_printf(out, "\n    #%d %p", number, pc);
        return 1;
    }
    if (strstr(info.dli_fname, "libze_zescope.so"))
        return 0;
    ssize_t length = map->l_name[0] ? -1 : readlink("/proc/self/exe", path, sizeof(path) - 1);
    if (length > 0)
        path[length] = '\0';
    zs_buf_printf(out, "\n    #%d %s+0x%llx", number, length > 0 ? path : info.dli_fname,
                  (unsigned long long)((uintptr_t)pc - map->l_addr));
    if (info.dli_sname)
        zs_buf_printf(out, " (%s)", info.dli_sname);
    return 1;
}

static void print_origin(struct zs_buf *out, const struct zs_gpu_allocation *allocation,
                         uint64_t id, const char *what)
{
    struct origin origin = {0};
    pthread_mutex_lock(&state.lock);
    if (id > 0 && id <= state.count)
        origin = state.origins[id - 1];
    pthread_mutex_unlock(&state.lock);
    if (!origin.count)
        return;
    zs_buf_printf(out, "\n  0x%llx (%llu bytes, %s%s) was %s by:",
                  (unsigned long long)allocation->gpu_va, (unsigned long long)allocation->size_B,
                  allocation->label, allocation->freed ? ", since freed" : "", what);
    for (int i = 0, shown = 0; i < origin.count; i++)
        shown += print_frame(out, shown, origin.frames[i]);
}

static void print_origins(struct zs_buf *out, const struct zs_gpu_allocation *allocation)
{
    print_origin(out, allocation, allocation->origin, "made");
    if (allocation->freed)
        print_origin(out, allocation, allocation->freed_by, "freed");
}

static void write_all(int fd, const uint8_t *data, size_t size_B)
{
    while (size_B > 0) {
        ssize_t n = write(fd, data, size_B);
        if (n <= 0)
            return;
        data += n;
        size_B -= (size_t)n;
    }
}

void zs_report_fault(const struct zs_gpu_fault *fault, const char *source, struct zs_buf *ret_text)
{
    zs_gpu_fault_print(fault, source, ret_text);
    for (uint32_t i = 0; i < fault->nearest_count && i < ZS_ARRAY_LEN(fault->nearest); i++)
        print_origins(ret_text, &fault->nearest[i]);
    zs_log(ZS_LOG_ERROR, "%s", zs_buf_cstr(ret_text));
    if (state.fd >= 0) {
        struct zs_buf block = {0};
        zs_buf_append(&block, ret_text->data, ret_text->size_B);
        zs_buf_puts(&block, "\n\n");
        pthread_mutex_lock(&state.lock);
        if (!block.error)
            write_all(state.fd, block.data, block.size_B);
        pthread_mutex_unlock(&state.lock);
        zs_buf_fini(&block);
    }
}
