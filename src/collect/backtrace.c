/* SPDX-License-Identifier: MIT */
#include "collect/backtrace.h"

#include "base/buf.h"
#include "base/json.h"
#include "store/pb.h"

#include <errno.h>
#include <execinfo.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct zs_map_range {
    uint64_t start, end;
    bool is_tracing; /* the loader, its layers, and us: not shown at the inner end */
};

enum { NODES_MAX = 1 << 20 };

void zs_backtrace_init(void)
{
    void *pcs[2];
    (void)backtrace(pcs, 2);
}

void zs_maps_init(struct zs_maps *maps, const struct zs_trace_process *process)
{
    pthread_mutex_init(&maps->lock, NULL);
    maps->process = process;
}

/* --- what is mapped --- */

static bool is_tracing(const char *path)
{
    static const char *const names[] = {"libze_loader.so", "libze_tracing_layer.so",
                                        "libze_validation_layer", "libzescope_collect.so",
                                        "libzescope_layer.so"};
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    for (size_t i = 0; i < ZS_ARRAY_LEN(names); i++)
        if (!strncmp(name, names[i], strlen(names[i])))
            return true;
    return false;
}

/* The build id out of the notes that are mapped; "" where there is none. */
static void build_id(const struct dl_phdr_info *info, char *ret_hex, size_t size_B)
{
    ret_hex[0] = '\0';
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
        const char *at = (const char *)(info->dlpi_addr + ph->p_vaddr); /* NOLINT */
        size_t left = ph->p_memsz;
        while (ph->p_type == PT_NOTE && left >= sizeof(ElfW(Nhdr))) {
            ElfW(Nhdr) note;
            memcpy(&note, at, sizeof(note));
            size_t name_B = ((size_t)note.n_namesz + 3) & ~(size_t)3;
            size_t desc_B = ((size_t)note.n_descsz + 3) & ~(size_t)3;
            if (name_B > left - sizeof(note) || desc_B > left - sizeof(note) - name_B)
                break;
            const uint8_t *desc = (const uint8_t *)at + sizeof(note) + name_B;
            if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
                !memcmp(at + sizeof(note), "GNU", 4) && 2 * (size_t)note.n_descsz < size_B)
                for (size_t k = 0; k < note.n_descsz; k++)
                    snprintf(ret_hex + 2 * k, 3, "%02x", desc[k]);
            at += sizeof(note) + name_B + desc_B;
            left -= sizeof(note) + name_B + desc_B;
        }
    }
}

static bool is_known(const struct zs_maps *maps, uint64_t start, uint64_t end)
{
    for (size_t i = maps->count; i-- > 0;) {
        const struct zs_map_range *r = &maps->known[i];
        if (r->start == start && r->end == end)
            return true;
        if (r->start < end && start < r->end)
            return false; /* something else was there later */
    }
    return false;
}

static bool keep_range(struct zs_maps *maps, const struct zs_map_range *range)
{
    if (maps->count == maps->capacity) {
        size_t capacity = maps->capacity ? 2 * maps->capacity : 64;
        struct zs_map_range *bigger = realloc(maps->known, capacity * sizeof(*bigger));
        if (!bigger)
            return false;
        maps->known = bigger;
        maps->capacity = capacity;
    }
    maps->known[maps->count++] = *range;
    return true;
}

static void write_map(const struct zs_maps *maps, const struct dl_phdr_info *info,
                      const struct zs_map_range *range, const char *path)
{
    struct zs_buf line = {0};
    struct zs_json j = zs_json_make(&line, 0);
    char id[130], path_of_maps[ZS_TRACE_PATH_CHARS + 64];
    build_id(info, id, sizeof(id));
    zs_json_object(&j, NULL);
    zs_json_u64(&j, "start", range->start);
    zs_json_u64(&j, "end", range->end);
    zs_json_u64(&j, "base", info->dlpi_addr);
    zs_json_string(&j, "path", path);
    if (id[0])
        zs_json_string(&j, "build_id", id);
    zs_json_end(&j);
    int n = snprintf(path_of_maps, sizeof(path_of_maps), "%s/%u-%u.maps", maps->process->dir,
                     maps->process->pid, maps->process->ordinal);
    if (!line.error && n > 0 && (size_t)n < sizeof(path_of_maps))
        zs_store_line(path_of_maps, zs_buf_span(&line));
    zs_buf_fini(&line);
}

static uint64_t changes_of(const struct dl_phdr_info *info)
{
    return info->dlpi_adds + info->dlpi_subs;
}

static int take_map(struct dl_phdr_info *info, size_t size_B, void *user)
{
    struct zs_maps *maps = user;
    char exe[ZS_COLLECT_PATH_CHARS];
    const char *path = info->dlpi_name;
    struct zs_map_range range = {.start = UINT64_MAX};
    maps->changes = changes_of(info);
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
        if (ph->p_type != PT_LOAD)
            continue;
        range.start = ZS_MIN(range.start, info->dlpi_addr + ph->p_vaddr);
        range.end = ZS_MAX(range.end, info->dlpi_addr + ph->p_vaddr + ph->p_memsz);
    }
    if (range.start >= range.end || is_known(maps, range.start, range.end))
        return 0;
    if (!path || !path[0]) { /* the program itself */
        ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
        exe[n > 0 ? n : 0] = '\0';
        path = exe;
    }
    range.is_tracing = is_tracing(path);
    if (keep_range(maps, &range))
        write_map(maps, info, &range, path);
    return 0;
}

static int ask_changes(struct dl_phdr_info *info, size_t size_B, void *user)
{
    *(uint64_t *)user = changes_of(info);
    return 1;
}

/* Note what came in since the last time. */
static void maps_look(struct zs_maps *maps)
{
    uint64_t changes = 0;
    if (atomic_load(&maps->process->claim) != ZS_TRACE_CLAIMED)
        return; /* its file has no name yet */
    dl_iterate_phdr(ask_changes, &changes);
    if (changes == maps->changes)
        return;
    struct zs_collect_guard guard;
    zs_guard_enter(&guard);
    dl_iterate_phdr(take_map, maps);
    zs_guard_leave(&guard);
}

static bool is_in_tracing(const struct zs_maps *maps, uint64_t pc)
{
    for (size_t i = maps->count; i-- > 0;)
        if (pc >= maps->known[i].start && pc < maps->known[i].end)
            return maps->known[i].is_tracing;
    return false;
}

/* --- the tree --- */

void zs_stack_tree_clear(struct zs_stack_tree *t)
{
    zs_id_map_fini(&t->nodes);
}

void zs_stack_tree_free(struct zs_stack_tree *t)
{
    zs_id_map_fini(&t->nodes);
    *t = (struct zs_stack_tree){0};
}

/* New nodes of one stack as the file holds them. */
struct addition {
    uint8_t bytes[ZS_BACKTRACE_NODES_B];
    struct zs_pb pb;
    uint64_t last_pc;
};

static bool add_node(struct zs_stack_tree *t, struct addition *a, uint64_t pc, uint32_t parent)
{
    if (t->next_id >= NODES_MAX)
        return false;
    uint32_t id = t->next_id + 1;
    int64_t delta = (int64_t)(pc - a->last_pc);
    if (!a->pb.at) {
        a->pb = zs_pb_make(a->bytes, sizeof(a->bytes));
        zs_pb_varint(&a->pb, id);
    }
    zs_pb_varint(&a->pb, parent);
    zs_pb_varint(&a->pb, (uint64_t)delta << 1 ^ (uint64_t)(delta >> 63));
    if (a->pb.full)
        return false;
    a->last_pc = pc;
    t->next_id = id;
    /* without memory it is written again the next time it is met */
    return !zs_id_map_put(&t->nodes, parent, pc, (void *)(uintptr_t)id);
}

static void write_nodes(struct zs_trace_file *file, const struct addition *a)
{
    uint8_t bytes[ZS_BACKTRACE_NODES_B + 16];
    struct zs_pb packet = zs_pb_make(bytes, sizeof(bytes));
    zs_pb_bytes(&packet, ZS_TRACE_FIELD_STACK_NODES, a->bytes, (size_t)(a->pb.at - a->bytes));
    zs_trace_packet(file, file->last_ns, bytes, (size_t)(packet.at - bytes));
}

/* Frames of tracing are the innermost few: how many. */
static size_t tracing_frames(struct zs_maps *maps, void *const *pcs, size_t count, bool is_new)
{
    size_t skipped = 0;
    pthread_mutex_lock(&maps->lock);
    if (is_new)
        maps_look(maps);
    while (skipped < count && is_in_tracing(maps, (uintptr_t)pcs[skipped] - 1))
        skipped++;
    pthread_mutex_unlock(&maps->lock);
    return skipped;
}

uint32_t zs_backtrace_take(struct zs_stack_tree *t, struct zs_maps *maps,
                           struct zs_trace_file *file)
{
    enum { OURS_MAX = 12 };
    void *pcs[ZS_BACKTRACE_DEPTH_MAX + OURS_MAX];
    int depth = backtrace(pcs, (int)ZS_ARRAY_LEN(pcs));
    size_t count = depth > 0 ? (size_t)depth : 0;
    uint32_t parent = 0;
    struct addition a;
    a.pb = (struct zs_pb){0};
    a.last_pc = 0;
    /* the outer end is where stacks agree: the tree grows from there */
    size_t inner = tracing_frames(maps, pcs, count, !t->next_id);
    for (size_t i = count; i-- > inner;) {
        uint64_t pc = (uintptr_t)pcs[i];
        uint32_t known = (uint32_t)(uintptr_t)zs_id_map_get(&t->nodes, parent, pc);
        if (known) {
            parent = known;
            continue;
        }
        if (!a.pb.at)
            tracing_frames(maps, pcs, count, true);
        if (!add_node(t, &a, pc, parent))
            break;
        parent = t->next_id;
    }
    if (a.pb.at)
        write_nodes(file, &a);
    return parent;
}
