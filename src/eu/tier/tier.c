/* SPDX-License-Identifier: MIT */
/*
 * Compiled code in the process that runs it: the blob is checked, mapped, and its entries become
 * handlers. A blob is trusted no further than its header, checksum and the table of entries say:
 * whoever can write the user's cache can run code as the user anyway, but a file that is old, cut
 * or of another build is never run.
 */
#include "eu/checks/shadow_priv.h"
#include "eu/tier/tier_priv.h"

#include "base/reader.h"
#include "base/sha256.h"
#include "dataport/dataport.h"
#include "eu/control.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char magic[8] = "zsEUhd7";

/* ---- helpers ---- */

static const struct zs_eu_op *end_of_one(struct zs_eu_thread *t, const struct zs_eu_op *op)
{
    (void)t, (void)op;
    return NULL;
}

/* Compiled code runs in the modes that its program starts with, the interpreter in those of cr0. */
static void enter_modes(const struct zs_eu_thread *t)
{
    if (ZS_UNLIKELY(t->host_csr != t->program->host_csr[0]))
        zs_eu_host_csr_restore(t->host_csr);
}

static void leave_modes(const struct zs_eu_thread *t)
{
    if (ZS_UNLIKELY(t->host_csr != t->program->host_csr[0]))
        zs_eu_host_csr_restore(t->program->host_csr[0]);
}

static uint32_t modes(const struct zs_eu_thread *t)
{
    enter_modes(t);
    return 0;
}

static const struct zs_eu_op *original(struct zs_eu_thread *t, const struct zs_eu_op *op)
{
    zs_eu_strayed(t);
    enter_modes(t);
    return t->program->tier->originals[op - t->program->ops](t, op);
}

static void place_again(struct zs_eu_thread *t, const struct zs_eu_op pair[2], uint32_t index)
{
    const struct zs_eu_op *op = &t->program->ops[index];

    if (t->current == pair)
        t->current = op;
    if (t->resume == pair || t->resume == pair + 1)
        t->resume = op + (t->resume - pair);
}

/* 0: t->status says what stopped it. */
static uint32_t one(struct zs_eu_thread *t, uint32_t index)
{
    struct zs_eu_op pair[2];

    zs_eu_strayed(t);
    pair[0] = t->program->ops[index];
    pair[0].fn = t->program->shadows ? t->program->shadows->plain[index]
                                     : t->program->tier->originals[index];
    pair[1] = (struct zs_eu_op){.fn = end_of_one};
    enter_modes(t);
    pair[0].fn(t, pair);
    leave_modes(t);
    place_again(t, pair, index);
    return t->status == ZS_EU_OK;
}

/* Where only some ways of a message are in line it comes here by others. */
static void note_way(struct zs_eu_thread *t, const struct zs_eu_op *op,
                     const struct zs_eu_send *send, uint32_t active)
{
    struct zs_eu_tier *tier = t->program->tier;
    size_t number = (size_t)(op->send - t->program->sends.items);
    unsigned known = tier->seen ? tier->seen[t->program->block_count + number] : 0;

    if (!known || known & ZS_PORT_WAY_ANY)
        return;
    zs_eu_send_look(t, op, send, active);
    atomic_fetch_add_explicit(&tier->strays, 1, memory_order_relaxed);
}

static uint32_t send_message(struct zs_eu_thread *t, uint32_t index, uint32_t active)
{
    const struct zs_eu_op *op = &t->program->ops[index];

    zs_eu_strayed(t);
    const struct zs_eu_send *send = zs_eu_send_of(t, op);
    if (send)
        note_way(t, op, send, active);
    if (ZS_UNLIKELY(op->cls) && send && t->hooks && t->hooks->message)
        t->hooks->message(t, send, active);
    enter_modes(t);
    enum zs_eu_status status = !send || t->fault.kind != ZS_EU_FAULT_NONE ? ZS_EU_FAULT
                               : send->exec && active ? send->exec(t, send, active)
                                                      : ZS_EU_OK;
    leave_modes(t);
    if (ZS_LIKELY(status == ZS_EU_OK && !send->d.eot))
        return 1;
    t->status = status == ZS_EU_OK ? ZS_EU_EOT : status;
    t->resume = op + 1;
    return 0;
}

static uint32_t reach(struct zs_eu_thread *t, uint32_t index, uint32_t active, enum zs_eu_reach how,
                      uint64_t address, uint32_t first)
{
    const struct zs_eu_op *op = &t->program->ops[index];
    const struct zs_eu_send *send = &op->send->send;

    if (ZS_UNLIKELY(!t->hooks || !t->hooks->reach))
        return !t->hooks;
    if (ZS_UNLIKELY(op->send->ex_desc_is_reg))
        send = zs_eu_send_of(t, op);
    return send && t->hooks->reach(t, send, active, how, address, first);
}

/* ---- blobs ---- */

static void put_word(struct zs_buf *buf, uint64_t value)
{
    zs_buf_append(buf, &value, sizeof(value)); /* this machine is little-endian */
}

static void mix(uint64_t *hash, uint64_t value)
{
    *hash = (*hash ^ value) * UINT64_C(0x100000001b3);
}

uint64_t zs_eu_tier_layout(void)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    const uint64_t parts[] = {
        sizeof(struct zs_eu_thread),
        sizeof(struct zs_eu_op),
        sizeof(struct zs_eu_program),
        ZS_EU_OFFSET(grf),
        ZS_EU_OFFSET(temp),
        ZS_EU_OFFSET(constant),
        ZS_EU_OFFSET(budget),
        ZS_EU_OFFSET(status),
        ZS_EU_OFFSET(series),
        sizeof(struct zs_eu_series_row),
        offsetof(struct zs_eu_program, tier),
        ZS_EU_ROW_COUNT,
        offsetof(struct zs_port, cache),
        offsetof(struct zs_port, surfaces),
        offsetof(struct zs_port, undefined),
        ZS_EU_OFFSET(shadow),
        ZS_EU_OFFSET(reaches),
        sizeof(struct zs_port_range),
        sizeof(struct zs_port_surface),
        ZS_EU_KIND_COUNT,
        ZS_EU_TIER_HELPERS,
    };

    for (size_t i = 0; i < ZS_ARRAY_LEN(parts); i++)
        mix(&hash, parts[i]);
    return hash;
}

/* Of what the operations are: two lowerings that differ have other numbers. */
static uint64_t program_hash(const struct zs_eu_program *p)
{
    uint64_t hash = zs_eu_tier_layout();
    const uint64_t parts[] = {p->op_count,    p->inst_count,  p->block_count,    p->entry_block,
                              p->full_ce,     p->host_csr[0], p->host_csr[1],    p->code_B,
                              p->sends.count, p->constant_B,  p->shadows != NULL};

    for (size_t i = 0; i < ZS_ARRAY_LEN(parts); i++)
        mix(&hash, parts[i]);
    for (uint32_t i = 0; i < p->inst_count; i++) {
        mix(&hash, p->insts[i].raw[0]);
        mix(&hash, p->insts[i].raw[1]);
    }
    for (size_t i = 0; i < p->op_count; i++) {
        mix(&hash, p->ops[i].kind | (uint64_t)p->ops[i].inst << 32);
        mix(&hash, p->ops[i].lanes | (uint64_t)p->ops[i].cls << 32);
    }
    return hash;
}

void zs_eu_tier_blob_put(const struct zs_eu_program *program,
                         const struct zs_eu_tier_module *module, struct zs_span code,
                         struct zs_buf *ret)
{
    uint8_t sum[ZS_SHA256_B];

    zs_buf_append(ret, magic, sizeof(magic));
    put_word(ret, program_hash(program));
    put_word(ret, module->entry_count);
    put_word(ret, code.size_B);
    put_word(ret, module->seen.size_B);
    zs_buf_append(ret, module->seen.data, module->seen.size_B);
    zs_buf_append(ret, module->read, sizeof(module->read));
    for (uint32_t i = 0; i < module->entry_count; i++)
        put_word(ret, module->entries[i].op | (uint64_t)module->entries[i].code_B << 32);
    zs_buf_append(ret, code.data, code.size_B);
    zs_sha256(zs_buf_span(ret), sum);
    zs_buf_append(ret, sum, sizeof(sum));
}

/* Pages with the code that are never writable and executable at once. */
static int map_code(struct zs_eu_tier *tier, struct zs_span code)
{
    size_t page_B = (size_t)sysconf(_SC_PAGESIZE);

    tier->code_B = zs_align_up(code.size_B, page_B);
    void *at = mmap(NULL, tier->code_B, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return -ENOMEM;
    memcpy(at, code.data, code.size_B);
    if (mprotect(at, tier->code_B, PROT_READ | PROT_EXEC) != 0) {
        munmap(at, tier->code_B);
        return -EACCES;
    }
    tier->code = at;
    return 0;
}

static int refuse(struct zs_diag *diag, const char *why)
{
    return zs_diag_set(diag, -EBADMSG, ZS_DIAG_NO_OFFSET, "compiled code: %s", why);
}

struct blob {
    uint64_t entry_count, code_B;
    struct zs_span seen, read, entries, code;
};

static int parse(const struct zs_eu_program *program, struct zs_span bytes, struct blob *ret,
                 struct zs_diag *diag)
{
    uint8_t sum[ZS_SHA256_B];

    if (bytes.size_B < sizeof(magic) + 4 * 8 + ZS_SHA256_B)
        return refuse(diag, "cut off");
    size_t size_B = bytes.size_B - ZS_SHA256_B;
    zs_sha256(zs_span_make(bytes.data, size_B), sum);
    if (memcmp(sum, bytes.data + size_B, sizeof(sum)) != 0)
        return refuse(diag, "the checksum is another");
    struct zs_reader r = zs_reader_make(zs_span_make(bytes.data, size_B), 0, NULL);
    struct zs_span head = zs_read_bytes(&r, sizeof(magic), "magic");
    if (r.error || memcmp(head.data, magic, sizeof(magic)) != 0)
        return refuse(diag, "another format");
    if (zs_read_u64(&r, "program") != program_hash(program))
        return refuse(diag, "of another program, or another build of zescope");
    ret->entry_count = zs_read_u64(&r, "entries");
    ret->code_B = zs_read_u64(&r, "bytes of code");
    uint64_t seen_B = zs_read_u64(&r, "blocks");
    if (r.error || ret->entry_count > ZS_EU_TIER_ENTRIES_MAX ||
        ret->code_B > ZS_EU_TIER_CODE_MAX_B || ret->code_B == 0 ||
        (seen_B && seen_B != zs_eu_program_seen_B(program)))
        return refuse(diag, "sizes that cannot be");
    ret->seen = zs_read_bytes(&r, seen_B, "blocks");
    ret->read = zs_read_bytes(&r, sizeof(uint64_t[2][ZS_EU_TIER_READ_WORDS]), "registers");
    ret->entries = zs_read_bytes(&r, ret->entry_count * 8, "entries");
    ret->code = zs_read_bytes(&r, ret->code_B, "code");
    if (r.error || zs_reader_left(&r))
        return refuse(diag, "sizes that do not fit");
    return 0;
}

/* Each of them is an operation where threads may come in, and code. */
static int check_entries(const struct zs_eu_program *p, const struct blob *blob,
                         struct zs_diag *diag)
{
    for (uint64_t i = 0; i < blob->entry_count; i++) {
        struct zs_eu_tier_entry entry;
        memcpy(&entry, blob->entries.data + i * sizeof(entry), sizeof(entry));
        if (entry.op >= 2 * p->op_count || entry.code_B >= blob->code_B)
            return refuse(diag, "an entry outside");
        uint16_t kind = p->ops[entry.op].kind;
        uint16_t before = entry.op ? p->ops[entry.op - 1].kind : ZS_EU_KIND_END;
        if (kind != ZS_EU_KIND_BLOCK && before != ZS_EU_KIND_WAIT &&
            before != ZS_EU_KIND_WAIT_NAMED)
            return refuse(diag, "an entry in the middle of a block");
    }
    return 0;
}

void zs_eu_tier_destroy(struct zs_eu_tier *tier)
{
    if (!tier)
        return;
    if (tier->code)
        munmap(tier->code, tier->code_B);
    free(tier->originals);
    free(tier->seen);
    free(tier);
}

/* Of what a new thread must find zero what compiled code reads. */
static int clear_less(struct zs_eu_program *p, struct zs_eu_tier *tier, const struct blob *blob,
                      unsigned all)
{
    struct zs_eu_clear *fewer = calloc(ZS_EU_GRF_FILE_MAX_B / 32, sizeof(*fewer));
    uint64_t read[2][ZS_EU_TIER_READ_WORDS];
    uint32_t count = 0;

    if (!fewer)
        return -ENOMEM;
    memcpy(read, blob->read.data, sizeof(read));
    for (uint32_t i = 0; i < p->clear_count[all]; i++) {
        for (uint32_t at = p->clear[all][i].start_B; at < p->clear[all][i].end_B; at += 32) {
            if (!(read[all][at / 32 / 64] >> at / 32 % 64 & 1))
                continue;
            if (!count || fewer[count - 1].end_B != at)
                fewer[count++].start_B = (uint16_t)at;
            fewer[count - 1].end_B = (uint16_t)(at + 32);
        }
    }
    free(p->clear[all]);
    p->clear[all] = fewer;
    p->clear_count[all] = count;
    tier->overwrites = read[all][ZS_EU_TIER_READ_ACC] & ZS_EU_TIER_OVERWRITES;
    if (!((read[0][ZS_EU_TIER_READ_ACC] | read[1][ZS_EU_TIER_READ_ACC]) & 1))
        p->read_acc_slots = 0;
    return 0;
}

static void enter_all(struct zs_eu_program *p, const struct blob *blob)
{
    const struct zs_eu_op *start = &p->ops[p->block_op[p->entry_block] + p->op_count];

    for (uint64_t i = 0; i < blob->entry_count; i++) {
        struct zs_eu_tier_entry entry;
        memcpy(&entry, blob->entries.data + i * sizeof(entry), sizeof(entry));
        uint8_t *at = (uint8_t *)p->tier->code + entry.code_B;
        memcpy(&p->ops[entry.op].fn, &at, sizeof(at));
        if (&p->ops[entry.op] == start)
            p->tier->start = start;
    }
}

int zs_eu_tier_install(struct zs_eu_program *p, struct zs_span bytes, struct zs_diag *diag)
{
    struct blob blob = {0};

    if (!p->full_ce || p->tier)
        return refuse(diag, "the program takes none");
    int error = parse(p, bytes, &blob, diag);
    if (!error)
        error = check_entries(p, &blob, diag);
    if (error)
        return error;
    struct zs_eu_tier *tier = calloc(1, sizeof(*tier));
    zs_eu_op_fn **originals = calloc(2 * p->op_count, sizeof(*originals));
    if (!tier || !originals) {
        free(originals);
        free(tier);
        return zs_diag_set(diag, -ENOMEM, ZS_DIAG_NO_OFFSET, "out of memory");
    }
    for (size_t i = 0; i < 2 * p->op_count; i++)
        originals[i] = p->ops[i].fn;
    tier->originals = originals;
    *(const struct zs_eu_op *(**)(struct zs_eu_thread *, const struct zs_eu_op *))(
         void *)&tier->helpers[ZS_EU_TIER_ORIGINAL] = original;
    *(uint32_t(**)(struct zs_eu_thread *, uint32_t))(void *)&tier->helpers[ZS_EU_TIER_ONE] = one;
    *(uint32_t(**)(struct zs_eu_thread *, uint32_t, uint32_t))(
         void *)&tier->helpers[ZS_EU_TIER_SEND] = send_message;
    *(uint32_t(**)(struct zs_eu_thread *, uint32_t, uint32_t, enum zs_eu_reach, uint64_t,
                   uint32_t))(void *)&tier->helpers[ZS_EU_TIER_REACH] = reach;
    *(uint32_t(**)(const struct zs_eu_thread *))(void *)&tier->helpers[ZS_EU_TIER_MODES] = modes;
    *(uint32_t(**)(struct zs_eu_thread *, uint32_t *, const uint32_t *, uint32_t, uint64_t *))(
         void *)&tier->helpers[ZS_EU_TIER_ABSORB] = zs_eu_lanes_absorb;
    *(uint32_t(**)(struct zs_eu_thread *, const uint32_t *, const uint32_t *, uint32_t,
                   const uint64_t *))(void *)&tier->helpers[ZS_EU_TIER_SETTLE] = zs_eu_lanes_settle;
    tier->seen = blob.seen.size_B ? malloc(blob.seen.size_B) : NULL;
    if (tier->seen)
        memcpy(tier->seen, blob.seen.data, blob.seen.size_B);
    error = tier->seen || !blob.seen.size_B ? map_code(tier, blob.code) : -ENOMEM;
    for (unsigned all = 0; all < 2 && !error; all++)
        error = clear_less(p, tier, &blob, all);
    if (error) {
        zs_eu_tier_destroy(tier);
        return zs_diag_set(diag, error, ZS_DIAG_NO_OFFSET, "no memory for compiled code");
    }
    p->tier = tier;
    enter_all(p, &blob);
    return 0;
}

uint64_t zs_eu_tier_strays(const struct zs_eu_program *program, uint8_t *seen)
{
    enum { EACH = 64 }; /* instructions that run while one message does */
    struct zs_eu_tier *tier = program->tier;
    uint64_t strays = tier ? atomic_exchange_explicit(&tier->strays, 0, memory_order_relaxed) : 0;

    for (size_t i = 0; i < program->sends.count && strays; i++) {
        uint8_t way = __atomic_load_n(&program->ways[i], __ATOMIC_RELAXED);
        /* those in line did not do, whatever it looked like */
        seen[program->block_count + i] |= way ? (uint8_t)(way | ZS_PORT_WAY_ANY) : 0;
    }
    return strays * EACH;
}

const uint8_t *zs_eu_tier_seen(const struct zs_eu_program *program)
{
    return program->tier ? program->tier->seen : NULL;
}

uint64_t zs_eu_tier_code_B(const struct zs_eu_program *program)
{
    return program->tier ? program->tier->code_B : 0;
}

bool zs_eu_tier_possible(const char **ret_why)
{
    size_t page_B = (size_t)sysconf(_SC_PAGESIZE);
    bool done = false;

    *ret_why = NULL;
#if !defined(__x86_64__) || defined(ZS_EU_NO_TIER)
    *ret_why = "zescope was built without clang, with sanitizers, or for another machine";
    return false;
#endif
    if (!zs_eu_host_usable(ZS_EU_HOST_AVX2)) {
        *ret_why = "the machine has no AVX2";
        return false;
    }
    void *at = mmap(NULL, page_B, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at != MAP_FAILED) {
        done = mprotect(at, page_B, PROT_READ | PROT_EXEC) == 0;
        munmap(at, page_B);
    }
    if (!done)
        *ret_why = "memory may not be executed here";
    return done;
}
