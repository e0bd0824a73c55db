/* SPDX-License-Identifier: MIT */
/* A kernel's code: where instructions start, and the order in which parts of it are decoded. */
#include "base/options.h"
#include "isa/isa_priv.h"

#include <errno.h>
#include <stdlib.h>

enum { CODE_LIMIT_B = 256 << 20 };

static int count_instructions(struct zs_isa_kernel *k, struct zs_diag *diag)
{
    size_t at_B = 0;
    uint32_t count = 0;
    while (at_B < k->code.size_B) {
        size_t left_B = k->code.size_B - at_B;
        uint32_t size_B = left_B >= 8 ? zs_isa_raw_size_B(k->code.data + at_B) : 8;
        if (size_B > left_B)
            return zs_diag_set(diag, -EINVAL, at_B,
                               "code ends inside an instruction: %u bytes expected, %zu remain",
                               size_B, left_B);
        at_B += size_B;
        count++;
    }
    k->count = count;
    return 0;
}

static int find_instructions(struct zs_isa_kernel *k, struct zs_diag *diag)
{
    int error = count_instructions(k, diag);
    if (error)
        return error;
    k->offsets_B = malloc(((size_t)k->count + 1) * sizeof(*k->offsets_B));
    if (!k->offsets_B)
        return zs_diag_set(diag, -ENOMEM, ZS_DIAG_NO_OFFSET, "no memory for %u instructions",
                           k->count);
    uint32_t at_B = 0;
    for (uint32_t i = 0; i < k->count; i++) {
        k->offsets_B[i] = at_B;
        at_B += zs_isa_raw_size_B(k->code.data + at_B);
    }
    k->offsets_B[k->count] = at_B;
    return 0;
}

static int take_cache(struct zs_isa_kernel *k, struct zs_isa_cache *cache, struct zs_diag *diag)
{
    zs_assert(!cache || zs_isa_cache_platform(cache) == k->platform);
    k->cache = cache ? cache : zs_isa_cache_open(k->platform);
    k->owns_cache = !cache;
    return k->cache ? 0 : zs_diag_set(diag, -ENOMEM, ZS_DIAG_NO_OFFSET, "no memory for a cache");
}

int zs_isa_kernel_open(enum zs_isa_platform platform, struct zs_span code,
                       const struct zs_isa_options *given, struct zs_isa_kernel **ret_kernel,
                       struct zs_diag *diag)
{
    struct zs_isa_options options;
    int refused = ZS_OPTIONS_TAKE(&options, given, diag);
    if (refused)
        return refused;
    const struct zs_isa_platform_info *info = zs_isa_platform_info(platform);
    if (!info)
        return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET, "instruction set %d is not known",
                           (int)platform);
    if (code.size_B > CODE_LIMIT_B)
        return zs_diag_set(diag, -E2BIG, ZS_DIAG_NO_OFFSET,
                           "%zu bytes of code in one kernel: more than the limit of %u",
                           code.size_B, CODE_LIMIT_B);
    struct zs_isa_kernel *k = calloc(1, sizeof(*k));
    if (!k)
        return zs_diag_set(diag, -ENOMEM, ZS_DIAG_NO_OFFSET, "no memory for a kernel");
    k->platform = platform;
    k->code = code;
    k->grf_B = info->grf_B;
    k->grf_count =
        options.grf_count ? ZS_MIN(options.grf_count, info->grf_count_max) : info->grf_count;
    zs_arena_init(&k->arena, 0);
    int error = take_cache(k, options.cache, diag);
    if (!error)
        error = find_instructions(k, diag);
    if (error) {
        zs_isa_kernel_close(k);
        return error;
    }
    *ret_kernel = k;
    return 0;
}

void zs_isa_kernel_close(struct zs_isa_kernel *k)
{
    if (!k)
        return;
    if (k->owns_cache)
        zs_isa_cache_close(k->cache);
    zs_arena_fini(&k->arena);
    free(k->offsets_B);
    free(k->entries);
    free(k->branches);
    free(k->insts);
    free(k->messages);
    free(k->blocks);
    free(k->edges);
    free(k->loops);
    free(k->label_bits);
    free(k->live_grf);
    free(k->live_out);
    free(k->parked);
    free(k);
}

/* ---- what libiga64 decodes ---- */

struct batch {
    struct zs_isa_entry *entries[ZS_ISA_BATCH_MAX];
    uint32_t count;
    uint64_t id;
};

static int flush_batch(struct zs_isa_kernel *k, struct batch *batch, uint32_t want,
                       struct zs_diag *diag)
{
    int error = 0;
    if (batch->count && want & ZS_ISA_INSTS)
        error = zs_isa_template_batch(k, batch->entries, batch->count, want, diag);
    else if (batch->count)
        error = zs_isa_text_batch(k, batch->entries, batch->count, diag);
    batch->count = 0;
    batch->id = zs_isa_cache_new_batch(k->cache);
    return error;
}

/* An entry for when the cache is full: the kernel's own. */
static struct zs_isa_entry *private_entry(struct zs_isa_kernel *k, const uint8_t *bytes,
                                          uint32_t size_B)
{
    struct zs_isa_entry *entry = ZS_ARENA_NEW(&k->arena, struct zs_isa_entry);
    if (entry) {
        zs_isa_entry_init(entry, bytes, size_B);
        entry->flags |= ZS_ENTRY_PRIVATE;
    }
    return entry;
}

static struct zs_isa_entry *entry_of(struct zs_isa_kernel *k, uint32_t i, uint32_t want,
                                     uint64_t batch, bool *ret_take)
{
    const uint8_t *bytes = k->code.data + k->offsets_B[i];
    uint32_t size_B = zs_isa_inst_size(k, i);
    struct zs_isa_entry *entry = k->entries[i];
    if (!entry || !(entry->flags & ZS_ENTRY_PRIVATE)) {
        entry = zs_isa_cache_get(k->cache, bytes, size_B, want, batch, ret_take);
        if (entry)
            return entry;
        entry = private_entry(k, bytes, size_B);
    }
    if (entry)
        *ret_take =
            (want & ZS_ISA_TEXT && !entry->line) || (want & ZS_ISA_INSTS && !entry->template);
    return entry;
}

/* What of `want` one instruction needs: a branch's text is made elsewhere, and without TEXT only
 * sends need theirs, which says whether they end the thread. */
static uint32_t wanted_of(const uint8_t *bytes, uint32_t want)
{
    uint32_t wanted = want & (ZS_ISA_INSTS | ZS_ISA_TEXT);
    if (zs_isa_raw_is_branch(bytes))
        wanted &= ~(uint32_t)ZS_ISA_TEXT;
    else if (want & ZS_ISA_BLOCKS && zs_isa_raw_is_send(bytes))
        wanted |= ZS_ISA_TEXT;
    return wanted;
}

static int decode_entries(struct zs_isa_kernel *k, uint32_t want, struct zs_diag *diag)
{
    struct batch *batch = malloc(sizeof(*batch));
    if (!k->entries)
        k->entries = calloc((size_t)k->count + 1, sizeof(struct zs_isa_entry *));
    if (!batch || !k->entries) {
        free(batch);
        return zs_diag_set(diag, -ENOMEM, ZS_DIAG_NO_OFFSET, "no memory for %u instructions",
                           k->count);
    }
    batch->count = 0;
    batch->id = zs_isa_cache_new_batch(k->cache);
    int error = 0;
    for (uint32_t i = 0; i < k->count && !error; i++) {
        uint32_t wanted = wanted_of(k->code.data + k->offsets_B[i], want);
        bool take = false;
        k->entries[i] = entry_of(k, i, wanted, batch->id, &take);
        if (!k->entries[i])
            error = zs_diag_set(diag, -ENOMEM, k->offsets_B[i], "no memory for an instruction");
        else if (take)
            batch->entries[batch->count++] = k->entries[i];
        if (!error && batch->count == ZS_ISA_BATCH_MAX)
            error = flush_batch(k, batch, want, diag);
    }
    if (!error)
        error = flush_batch(k, batch, want, diag);
    free(batch);
    return error;
}

int zs_isa_put_text(struct zs_isa_kernel *k, struct zs_isa_entry *entry, const char *line,
                    size_t size_B)
{
    size_B = ZS_MIN(size_B, (size_t)UINT16_MAX);
    if (!(entry->flags & ZS_ENTRY_PRIVATE))
        return zs_isa_cache_put_text(k->cache, entry, line, size_B);
    char *copy = zs_arena_alloc(&k->arena, size_B);
    if (!copy)
        return -ENOMEM;
    memcpy(copy, line, size_B);
    zs_isa_entry_set_text(entry, copy, size_B);
    return 0;
}

int zs_isa_put_template(struct zs_isa_kernel *k, struct zs_isa_entry *entry,
                        const struct zs_isa_template *template)
{
    if (!(entry->flags & ZS_ENTRY_PRIVATE))
        return zs_isa_cache_put_template(k->cache, entry, template);
    struct zs_isa_template *copy = ZS_ARENA_NEW(&k->arena, struct zs_isa_template);
    if (!copy)
        return -ENOMEM;
    *copy = *template;
    entry->template = copy;
    return 0;
}

/* ---- stages ---- */

static void count_illegal(struct zs_isa_kernel *k)
{
    uint32_t count = 0, branch = 0;
    for (uint32_t i = 0; i < k->count; i++) {
        if (k->done & ZS_ISA_INSTS)
            count += k->insts[i].flags & ZS_INST_ILLEGAL ? 1 : 0;
        else if (k->entries[i]->flags & ZS_ENTRY_BRANCH)
            count += k->branches[branch++].illegal ? 1 : 0;
        else
            count += k->entries[i]->text_flags & ZS_TEXT_ILLEGAL ? 1 : 0;
    }
    k->illegal_count = count;
}

static int decode_missing(struct zs_isa_kernel *k, uint32_t want, struct zs_diag *diag)
{
    int error = 0;
    if (want & (ZS_ISA_TEXT | ZS_ISA_INSTS | ZS_ISA_BLOCKS))
        error = decode_entries(k, want, diag);
    if (!error && want & (ZS_ISA_TEXT | ZS_ISA_BLOCKS) && !k->has_branches)
        error = zs_isa_text_branches(k, diag);
    if (!error && want & ZS_ISA_TEXT)
        error = zs_isa_make_labels(k);
    if (!error && want & ZS_ISA_INSTS)
        error = zs_isa_make_insts(k);
    if (error)
        return error;
    k->done |= want & (ZS_ISA_TEXT | ZS_ISA_INSTS);
    if (want & (ZS_ISA_TEXT | ZS_ISA_INSTS))
        count_illegal(k);
    if (want & ZS_ISA_BLOCKS)
        error = zs_isa_make_blocks(k);
    if (!error) {
        k->done |= want & ZS_ISA_BLOCKS;
        if (want & ZS_ISA_LIVENESS)
            error = zs_isa_make_liveness(k, diag);
    }
    if (!error)
        k->done |= want & ZS_ISA_LIVENESS;
    return error;
}

int zs_isa_kernel_decode(struct zs_isa_kernel *k, uint32_t what, struct zs_diag *diag)
{
    if (what & ZS_ISA_LIVENESS)
        what |= ZS_ISA_INSTS | ZS_ISA_BLOCKS;
    int error = decode_missing(k, what & ~k->done, diag);
    if (error && (!diag || !diag->error))
        zs_diag_set(diag, error, ZS_DIAG_NO_OFFSET, "no memory to decode %u instructions",
                    k->count);
    return error;
}

/* ---- accessors ---- */

enum zs_isa_platform zs_isa_kernel_platform(const struct zs_isa_kernel *k)
{
    return k->platform;
}

uint32_t zs_isa_kernel_size_B(const struct zs_isa_kernel *k)
{
    return (uint32_t)k->code.size_B;
}

uint32_t zs_isa_kernel_count(const struct zs_isa_kernel *k)
{
    return k->count;
}

uint32_t zs_isa_kernel_illegal_count(const struct zs_isa_kernel *k)
{
    return k->illegal_count;
}

uint32_t zs_isa_inst_offset(const struct zs_isa_kernel *k, uint32_t i)
{
    zs_assert(i <= k->count);
    return k->offsets_B[i];
}

uint32_t zs_isa_inst_size(const struct zs_isa_kernel *k, uint32_t i)
{
    zs_assert(i < k->count);
    return k->offsets_B[i + 1] - k->offsets_B[i];
}

uint32_t zs_isa_inst_find(const struct zs_isa_kernel *k, uint32_t offset_B)
{
    if (offset_B >= k->code.size_B)
        return ZS_ISA_NO_INDEX;
    uint32_t low = 0, high = k->count; /* offsets_B[low] <= offset_B < offsets_B[high] */
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (k->offsets_B[middle] <= offset_B)
            low = middle;
        else
            high = middle;
    }
    return low;
}

const struct zs_isa_branch *zs_isa_branch_of(const struct zs_isa_kernel *k, uint32_t i)
{
    uint32_t low = 0, high = k->branch_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (k->branches[middle].inst < i)
            low = middle + 1;
        else
            high = middle;
    }
    return low < k->branch_count && k->branches[low].inst == i ? &k->branches[low] : NULL;
}

const char *zs_isa_inst_line(const struct zs_isa_kernel *k, uint32_t i, size_t *ret_size_B)
{
    zs_assert(k->done & ZS_ISA_TEXT && i < k->count);
    const struct zs_isa_entry *entry = k->entries[i];
    if (!(entry->flags & ZS_ENTRY_BRANCH)) {
        *ret_size_B = entry->line_size_B;
        return entry->line;
    }
    const struct zs_isa_branch *branch = zs_isa_branch_of(k, i);
    *ret_size_B = branch->line_size_B;
    return branch->line;
}

const char *zs_isa_inst_text(const struct zs_isa_kernel *k, uint32_t i, size_t *ret_size_B)
{
    zs_assert(k->done & ZS_ISA_TEXT && i < k->count);
    const struct zs_isa_entry *entry = k->entries[i];
    if (!(entry->flags & ZS_ENTRY_BRANCH)) {
        *ret_size_B = entry->text_size_B;
        return entry->line + entry->lead_B;
    }
    const struct zs_isa_branch *branch = zs_isa_branch_of(k, i);
    *ret_size_B = branch->text_size_B;
    return branch->line + branch->lead_B;
}

bool zs_isa_inst_has_label(const struct zs_isa_kernel *k, uint32_t i)
{
    zs_assert(k->done & ZS_ISA_TEXT && i <= k->count);
    return k->label_bits[i / 8] >> i % 8 & 1;
}

const struct zs_isa_inst *zs_isa_inst(const struct zs_isa_kernel *k, uint32_t i)
{
    zs_assert(k->done & ZS_ISA_INSTS && i < k->count);
    return &k->insts[i];
}

uint32_t zs_isa_message_count(const struct zs_isa_kernel *k)
{
    return k->message_count;
}

const struct zs_isa_message *zs_isa_message(const struct zs_isa_kernel *k, uint32_t message)
{
    zs_assert(message < k->message_count);
    return &k->messages[message];
}

const struct zs_isa_message *zs_isa_inst_message(const struct zs_isa_kernel *k, uint32_t i)
{
    uint32_t message = zs_isa_inst(k, i)->message;
    return message == ZS_ISA_NO_INDEX ? NULL : &k->messages[message];
}
