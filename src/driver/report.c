/* SPDX-License-Identifier: MIT */
#include "driver/report.h"

#include "base/checks.h"
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
    uint64_t hash = 0xcbf29ce484222325;
    for (int i = 0; i < origin->count; i++)
        hash = (hash ^ (uintptr_t)origin->frames[i]) * 0x100000001b3;
    return (size_t)(hash ^ hash >> 32);
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

static void put_head(struct zs_buf *out, const char *kind, bool note, const char *kernel)
{
    zs_buf_printf(out, "%%finding %s %s\n%%kernel ", kind, note ? "note" : "error");
    for (; *kernel; kernel++)
        zs_buf_printf(out, "%c", (unsigned char)*kernel < ' ' ? '?' : *kernel);
    zs_buf_puts(out, "\n");
}

/* Of the source the line itself, not where it was inlined. */
static void put_site(struct zs_buf *out, int64_t offset_B, const char *access, uint32_t size_B,
                     const char *source)
{
    zs_buf_printf(out, "%%site %lld %s %u %.*s\n", (long long)offset_B, access, size_B,
                  source ? (int)strcspn(source, "\n") : 0, source ? source : "");
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
    put_head(&head,
             fault->kind == ZS_GPU_FAULT_SCOREBOARD ? "swsb"
             : fault->kind == ZS_GPU_FAULT_BARRIER  ? "sync"
             : fault->kind == ZS_GPU_FAULT_UNWRITTEN || fault->kind == ZS_GPU_FAULT_SLM_UNWRITTEN
                 ? "init"
                 : "memory",
             false, fault->kernel);
    if (fault->instruction_offset_B != INT64_MIN)
        put_site(&head, fault->instruction_offset_B,
                 !fault->has_access ? "-"
                 : fault->is_write  ? "write"
                                    : "read",
                 fault->access_B, source);
    write_block(&head, ret_text);
    zs_buf_fini(&head);
}

/* ---- findings ----------------------------------------------------------------------------------
 */

static const char *access_of(const struct zs_gpu_site *site)
{
    return site->is_atomic ? "atomic" : site->is_write ? "write" : "read";
}

static const char *finding_kind(const struct zs_gpu_finding *f)
{
    static const char *const kinds[] = {[ZS_GPU_FINDING_RACE] = "race",
                                        [ZS_GPU_FINDING_DIVERGENT] = "sync",
                                        [ZS_GPU_FINDING_DIFFERENT] = "sync",
                                        [ZS_GPU_FINDING_UNDEFINED] = "undefined",
                                        [ZS_GPU_FINDING_LOST] = "race"};
    return kinds[f->kind];
}

static void print_site(struct zs_buf *out, const struct zs_gpu_finding *f, uint32_t i,
                       const char *source)
{
    const struct zs_gpu_site *s = &f->site[i];
    zs_buf_puts(out, "\n  ");
    if (f->kind == ZS_GPU_FINDING_RACE)
        zs_buf_printf(out, "%s of %u bytes", access_of(s), s->size_B);
    else if (f->kind == ZS_GPU_FINDING_UNDEFINED)
        zs_buf_puts(out, i == 1 ? "read" : s->is_write ? "stored" : "used");
    else
        zs_buf_puts(out, i == 0                                ? "barrier"
                         : f->kind == ZS_GPU_FINDING_DIVERGENT ? "not reached"
                                                               : "barrier");
    zs_buf_printf(out, " at instruction %s0x%llx", s->instruction_offset_B < 0 ? "-" : "",
                  (unsigned long long)(s->instruction_offset_B < 0 ? -s->instruction_offset_B
                                                                   : s->instruction_offset_B));
    if (source)
        zs_buf_printf(out, ", %s", source);
    zs_buf_printf(out, "\n    in group (%u, %u, %u)", s->group_id[0], s->group_id[1],
                  s->group_id[2]);
    if (s->has_item)
        zs_buf_printf(out, ", work-item (%llu, %llu, %llu), local (%u, %u, %u)",
                      (unsigned long long)s->global_id[0], (unsigned long long)s->global_id[1],
                      (unsigned long long)s->global_id[2], s->local_id[0], s->local_id[1],
                      s->local_id[2]);
    else
        zs_buf_printf(out, ", hardware thread %u from local (%u, %u, %u) on", s->thread,
                      s->local_id[0], s->local_id[1], s->local_id[2]);
}

static void print_finding(struct zs_buf *out, const struct zs_gpu_finding *f,
                          const char *const sources[2])
{
    static const char *const names[] = {
        [ZS_GPU_FINDING_RACE] = "race",
        [ZS_GPU_FINDING_DIVERGENT] = "barrier that not all work-items reach",
        [ZS_GPU_FINDING_DIFFERENT] = "work-items of a group at different barriers",
        [ZS_GPU_FINDING_UNDEFINED] = "undefined value",
        [ZS_GPU_FINDING_LOST] = "not all was checked",
    };
    static const char *const notes[] = {
        [ZS_GPU_NOTE_NONE] = "",
        [ZS_GPU_NOTE_SAME_VALUE] = " (benign: all write the same value)",
        [ZS_GPU_NOTE_IN_STEP] = " (lanes of one hardware thread, which are in step)",
        [ZS_GPU_NOTE_GUESS] = " (benign: an atomic follows the read)",
    };
    zs_buf_printf(out, "kernel %s: %s", f->kernel, names[f->kind]);
    if (f->kind == ZS_GPU_FINDING_RACE)
        zs_buf_printf(out, " in %s memory at %s0x%llx%s", f->is_local ? "local" : "global",
                      f->is_local ? "offset " : "", (unsigned long long)f->gpu_va, notes[f->note]);
    for (uint32_t i = 0; i < f->site_count; i++)
        print_site(out, f, i, sources[i]);
    const struct zs_gpu_allocation *a = &f->allocation;
    if (f->allocation_count)
        zs_buf_printf(out, "\n  %llu bytes into %s allocation #%llu %.47s of %llu bytes at 0x%llx",
                      (unsigned long long)(f->gpu_va - a->gpu_va), zs_gpu_memory_kind_name(a->kind),
                      (unsigned long long)a->id, a->label, (unsigned long long)a->size_B,
                      (unsigned long long)a->gpu_va);
    if (f->advice)
        zs_buf_printf(out, "\n  %s", f->advice);
    if (f->allocation_count)
        print_origins(out, a);
}

void zs_report_finding(const struct zs_gpu_finding *f, const char *const sources[2])
{
    struct zs_buf text = {0}, head = {0};
    print_finding(&text, f, sources);
    zs_log(f->note ? ZS_LOG_WARN : ZS_LOG_ERROR, "%s", zs_buf_cstr(&text));
    if (state.fd >= 0) {
        put_head(&head, finding_kind(f), f->note || f->kind == ZS_GPU_FINDING_LOST, f->kernel);
        for (uint32_t i = 0; i < f->site_count; i++)
            put_site(&head, f->site[i].instruction_offset_B,
                     f->kind == ZS_GPU_FINDING_RACE ? access_of(&f->site[i]) : "-",
                     f->site[i].size_B, sources[i]);
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
        put_head(&head, kind, false, "");
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
