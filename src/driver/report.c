/* SPDX-License-Identifier: MIT */
#include "driver/report.h"

#include "base/checks.h"
#include "base/hash.h"
#include "driver/log.h"
#include "gpu/report.h"

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

enum { FRAMES_MAX = 14, FRAMES_SKIP = 1, ORIGINS_MAX = 1 << 20 };

struct origin {
    int count;
    void *frames[FRAMES_MAX];
    bool told; /* a misuse there */
};

/* Part of the log: where reports go, and who made what. */
static struct {
    pthread_mutex_t lock;
    unsigned checks;
    int fd; /* ZESCOPE_CHECK_REPORT, or -1 */
    struct origin *origins;
    size_t count, capacity;
    uint32_t *ids; /* by hash, 2 * capacity of them; 0: none */
} state = {.lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1};

void zs_report_init(unsigned checks)
{
    pthread_mutex_lock(&state.lock);
    state.checks = checks;
    const char *path = checks ? secure_getenv("ZESCOPE_CHECK_REPORT") : NULL;
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

static size_t hash_of(const struct origin *origin)
{
    return (size_t)zs_hash_bytes(origin->frames, (size_t)origin->count * sizeof(origin->frames[0]));
}

/* Where its id is or goes. */
static uint32_t *id_of(const struct origin *origin)
{
    size_t mask = 2 * state.capacity - 1, at = hash_of(origin) & mask;
    while (state.ids[at] &&
           memcmp(&state.origins[state.ids[at] - 1], origin, offsetof(struct origin, told)) != 0)
        at = (at + 1) & mask;
    return &state.ids[at];
}

/* Room for one more; capacities are powers of two. */
static bool grow(void)
{
    if (state.count < state.capacity || state.capacity >= ORIGINS_MAX)
        return state.count < state.capacity;
    size_t capacity = state.capacity ? state.capacity * 2 : 256;
    uint32_t *ids = calloc(2 * capacity, sizeof(*ids));
    struct origin *grown = ids ? realloc(state.origins, capacity * sizeof(*grown)) : NULL;
    if (!grown) {
        free(ids);
        return false;
    }
    free(state.ids);
    state.ids = ids;
    state.origins = grown;
    state.capacity = capacity;
    for (size_t i = 0; i < state.count; i++)
        *id_of(&grown[i]) = (uint32_t)i + 1;
    return true;
}

bool zs_report_wants(unsigned kinds)
{
    return state.checks & kinds;
}

uint64_t zs_report_origin(unsigned kinds)
{
    if (!zs_report_wants(kinds))
        return 0;
    struct origin origin;
    memset(&origin, 0, sizeof(origin)); /* it is compared as a whole */
    void *frames[FRAMES_MAX + FRAMES_SKIP];
    int count = backtrace(frames, FRAMES_MAX + FRAMES_SKIP);
    for (int i = FRAMES_SKIP; i < count; i++)
        origin.frames[origin.count++] = frames[i];
    uint64_t id = 0;
    pthread_mutex_lock(&state.lock);
    bool room = grow();
    uint32_t *known = state.capacity ? id_of(&origin) : NULL;
    if (known && !*known && room) {
        state.origins[state.count++] = origin;
        *known = (uint32_t)state.count;
    }
    id = known ? *known : 0;
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

static bool find_origin(uint64_t id, struct origin *ret_origin)
{
    pthread_mutex_lock(&state.lock);
    bool found = id > 0 && id <= state.count;
    if (found)
        *ret_origin = state.origins[id - 1];
    pthread_mutex_unlock(&state.lock);
    return found && ret_origin->count;
}

static void print_frames(struct zs_buf *out, const struct origin *origin)
{
    for (int i = 0, shown = 0; i < origin->count; i++)
        shown += print_frame(out, shown, origin->frames[i]);
}

static void print_origin(struct zs_buf *out, const struct zs_gpu_allocation *allocation,
                         uint64_t id, const char *what)
{
    struct origin origin;
    if (!find_origin(id, &origin))
        return;
    zs_buf_printf(out, "\n  0x%llx (%llu bytes, %s%s) was %s by:",
                  (unsigned long long)allocation->gpu_va, (unsigned long long)allocation->size_B,
                  allocation->label, allocation->freed ? ", since freed" : "", what);
    print_frames(out, &origin);
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

static void write_block(const struct zs_buf *head, const struct zs_buf *text)
{
    struct zs_buf block = {0};
    zs_buf_append(&block, head->data, head->size_B);
    zs_buf_append(&block, text->data, text->size_B);
    zs_buf_puts(&block, "\n\n");
    pthread_mutex_lock(&state.lock);
    if (!block.error && !head->error && !text->error)
        write_all(state.fd, block.data, block.size_B);
    pthread_mutex_unlock(&state.lock);
    zs_buf_fini(&block);
}

void zs_report_fault(const struct zs_gpu_fault *fault, const char *source, struct zs_buf *ret_text)
{
    zs_gpu_fault_print(fault, source, ret_text);
    for (uint32_t i = 0; i < fault->nearest_count && i < ZS_ARRAY_LEN(fault->nearest); i++)
        print_origins(ret_text, &fault->nearest[i]);
    zs_log(ZS_LOG_ERROR, "%s", zs_buf_cstr(ret_text));
    if (state.fd < 0)
        return;
    struct zs_buf head = {0};
    zs_gpu_report_fault(fault, source, &head);
    write_block(&head, ret_text);
    zs_buf_fini(&head);
}

/* ---- findings ----------------------------------------------------------------------------------
 */

void zs_report_finding(const struct zs_gpu_finding *f, const char *const sources[2])
{
    struct zs_buf text = {0}, head = {0};
    zs_gpu_finding_print(f, sources, &text);
    struct origin origin;
    for (uint32_t i = 0; i < f->site_count; i++) {
        if (find_origin(f->site[i].origin, &origin)) {
            zs_buf_printf(&text, "\n  %s was asked for by:", f->site[i].by);
            print_frames(&text, &origin);
        }
    }
    if (f->allocation_count)
        print_origins(&text, &f->allocation);
    zs_log(f->note ? ZS_LOG_WARN : ZS_LOG_ERROR, "%s", zs_buf_cstr(&text));
    if (state.fd >= 0) {
        zs_gpu_report_finding(f, sources, &head);
        write_block(&head, &text);
    }
    zs_buf_fini(&head);
    zs_buf_fini(&text);
}

static void write_plain(const char *kind, struct zs_buf *text)
{
    struct zs_buf head = {0};
    zs_log(ZS_LOG_ERROR, "%s", zs_buf_cstr(text));
    if (state.fd >= 0) {
        zs_gpu_report_head(&head, kind, false, "");
        write_block(&head, text);
    }
    zs_buf_fini(&head);
}

/* Whether nobody told of it before. */
static bool tell_once(uint64_t id)
{
    pthread_mutex_lock(&state.lock);
    bool first = !id || !state.origins[id - 1].told;
    if (id)
        state.origins[id - 1].told = true;
    pthread_mutex_unlock(&state.lock);
    return first;
}

void zs_report_misuse(const char *why, const char *what, uint64_t made, uint64_t ended)
{
    uint64_t here = zs_report_origin(ZS_CHECK_API);
    struct origin origin;
    if (!zs_report_wants(ZS_CHECK_API) || !tell_once(here))
        return;
    struct zs_buf text = {0};
    zs_buf_printf(&text, "%s, called by:", why);
    if (find_origin(here, &origin))
        print_frames(&text, &origin);
    if (what && find_origin(made, &origin)) {
        zs_buf_printf(&text, "\n  the %s was made by:", what);
        print_frames(&text, &origin);
    }
    if (what && find_origin(ended, &origin)) {
        zs_buf_printf(&text, "\n  the %s was destroyed by:", what);
        print_frames(&text, &origin);
    }
    write_plain("api", &text);
    zs_buf_fini(&text);
}

void zs_report_leak(const char *what, uint64_t id)
{
    struct zs_buf text = {0};
    struct origin origin;
    zs_buf_puts(&text, what);
    if (find_origin(id, &origin))
        print_frames(&text, &origin);
    write_plain("leak", &text);
    zs_buf_fini(&text);
}
