/* SPDX-License-Identifier: MIT */
/*
 * Undefined values of a launch: shadows of its threads' registers (eu/checks/shadow.h), and of
 * memory.
 *
 * Scratch and private memory is undefined when a thread begins, so are local ids that nobody asks
 * for, local memory where nobody has written. Other memory is defined (what nobody wrote is refused
 * by the data port) but where undefined bits were stored: pages of shadow exist for these alone,
 * keyed by host address, local memory included. What is still undefined in global memory when the
 * launch ends is told, for then others may read it; so is what decides about a branch, an address
 * or an atomic. Structures have padding, and are copied with it: that is no finding.
 */
#include "gpu/check.h"

#include "base/hash.h"
#include "eu/checks/shadow.h"

#include <errno.h>
#include <stdlib.h>

enum {
    PAGE_B = 4096,
    ALIGNED_B = 32,
    FOUND_MAX = 64,
    PAGES_MAX = 1 << 16,
    SLOTS = 2 * PAGES_MAX,
    UNIT_B = 32
};

/* Beside where a value came from: it is what a variable is before anybody writes it. */
#define DECLARED (1u << 31)

/* Who stored a dword that is not defined. */
struct writer {
    uint32_t inst, from; /* 1 + instruction, each */
    uint32_t group;
    uint16_t thread;
    uint8_t lane;   /* ZS_PORT_NO_LANE: none in particular */
    bool is_partly; /* some of the number that it stored is defined */
    bool is_apart;  /* what its lanes stored has room between: members of records */
};

struct page {
    struct page *next;
    uint64_t number;
    uint8_t bits[PAGE_B];
    struct writer writer[PAGE_B / 4];
};

/* Memory of threads: as much for each of them, one after the other. */
struct area {
    uint64_t start, size_B, each_B;
    uint8_t *bits;
    uint32_t *from;
};

struct zs_gpu_undefined {
    struct zs_gpu_run *run;
    struct area scratch, private_memory;
    /* by a hash of their number, or behind that: looked for without the lock. NULL: none yet */
    _Atomic(_Atomic(struct page *) *) slots;
    pthread_mutex_t lock; /* of what follows, and of what becomes of pages */
    struct page *pages;
    uint64_t told[FOUND_MAX]; /* pairs of instructions */
    uint32_t told_count;
    bool lost;
    _Atomic(uint32_t) page_count;
};

/* ---- findings ----------------------------------------------------------------------------------
 */

static const char *const advice[ZS_EU_USE_COUNT] = {
    [ZS_EU_USE_BRANCH] = "it decides where work-items go",
    [ZS_EU_USE_MASK] = "it decides which work-items take part in a message",
    [ZS_EU_USE_REGISTER] = "it is an index into an array in registers",
    [ZS_EU_USE_JUMP] = "it is where a jump leads",
    [ZS_EU_USE_MESSAGE] = "it says what a message does",
    [ZS_EU_USE_ADDRESS] = "it is part of an address",
    [ZS_EU_USE_ATOMIC] = "it is an operand of an atomic",
    [ZS_EU_USE_STORED] = "it is in memory when the kernel ends",
};

/* Once for each pair of instructions, and never again when the launch has gone back. */
static bool is_new(struct zs_gpu_undefined *d, uint32_t inst, uint32_t from)
{
    uint64_t key = (uint64_t)inst << 32 | from;
    for (uint32_t i = 0; i < d->told_count; i++)
        if (d->told[i] == key)
            return false;
    if (d->told_count == FOUND_MAX) {
        d->lost = true;
        return false;
    }
    d->told[d->told_count++] = key;
    return true;
}

struct user {
    uint64_t group, gpu_va;
    uint32_t thread;
    uint32_t size_B;
};

/* false: it was told before. */
static bool found(struct zs_gpu_undefined *d, const struct zs_eu_undefined *u,
                  const struct user *who)
{
    const struct zs_gpu_launch *launch = d->run->launch;
    uint32_t from = u->from & ~DECLARED;
    struct zs_gpu_finding f = {.kind = ZS_GPU_FINDING_UNDEFINED,
                               .gpu_va = who->gpu_va,
                               .site_count = from && from - 1 != u->inst ? 2 : 1,
                               .advice = advice[u->use]};
    pthread_mutex_lock(&d->lock);
    bool fresh = launch->found && is_new(d, u->inst, from);
    pthread_mutex_unlock(&d->lock);
    if (!fresh)
        return false;
    zs_check_site(d->run, who->group, who->thread, u->inst, u->lane, &f.site[0]);
    f.site[0].size_B = who->size_B;
    f.site[0].is_write = u->use == ZS_EU_USE_STORED;
    f.site[0].is_atomic = u->use == ZS_EU_USE_ATOMIC;
    if (f.site_count == 2)
        zs_check_site(d->run, who->group, who->thread, from - 1, u->lane, &f.site[1]);
    f.site[1].is_write = u->from & DECLARED;
    pthread_mutex_lock(&d->lock);
    zs_check_print(d->run, &f);
    bool stops =
        u->use != ZS_EU_USE_STORED && zs_check_stop(d->run, &f, (uint32_t)ZS_MAX(u->lane, 0));
    pthread_mutex_unlock(&d->lock);
    return stops;
}

static struct zs_gpu_worker *worker_of(const struct zs_eu_thread *t)
{
    return (struct zs_gpu_worker *)(void *)((char *)t->env - offsetof(struct zs_gpu_worker, port));
}

static void report(struct zs_eu_thread *t, const struct zs_eu_undefined *u)
{
    const struct zs_gpu_worker *w = worker_of(t);
    const struct user who = {.group = w->checked->index, .thread = w->port.thread};
    if (found(t->shadow->context, u, &who))
        (void)zs_eu_fault_set(t, ZS_EU_FAULT_FOUND, "a check has found something");
}

/* ---- shadows of memory -------------------------------------------------------------------------
 */

static _Atomic(struct page *) *slot_of(struct zs_gpu_undefined *d, uint64_t number)
{
    _Atomic(struct page *) *slots = atomic_load_explicit(&d->slots, memory_order_acquire);
    if (!slots)
        return NULL;
    for (uint64_t i = zs_hash_u64(number, 0);; i++) {
        struct page *page = atomic_load_explicit(&slots[i % SLOTS], memory_order_acquire);
        if (!page || page->number == number)
            return &slots[i % SLOTS];
    }
}

static struct page *make_page(struct zs_gpu_undefined *d, uint64_t number)
{
    struct page *page = NULL;
    pthread_mutex_lock(&d->lock);
    if (!atomic_load(&d->slots))
        atomic_store(&d->slots, calloc(SLOTS, sizeof(_Atomic(struct page *))));
    _Atomic(struct page *) *slot = slot_of(d, number);
    if (slot)
        page = atomic_load(slot);
    if (slot && !page && atomic_load(&d->page_count) < PAGES_MAX &&
        (page = calloc(1, sizeof(*page)))) {
        page->number = number;
        page->next = d->pages;
        d->pages = page;
        atomic_store_explicit(slot, page, memory_order_release);
        atomic_fetch_add(&d->page_count, 1);
    }
    d->lost |= !page;
    pthread_mutex_unlock(&d->lock);
    return page;
}

static struct page *page_of(struct zs_gpu_undefined *d, uint64_t host, bool make)
{
    _Atomic(struct page *) *slot = slot_of(d, host / PAGE_B);
    struct page *page = slot ? atomic_load_explicit(slot, memory_order_acquire) : NULL;
    return page || !make ? page : make_page(d, host / PAGE_B);
}

static const struct area *area_of(const struct zs_gpu_undefined *d, uint64_t host)
{
    if (host - d->scratch.start < d->scratch.size_B)
        return &d->scratch;
    return host - d->private_memory.start < d->private_memory.size_B ? &d->private_memory : NULL;
}

static bool is_unwritten(const struct zs_port *port, uint64_t host)
{
    uint64_t at = host - (uint64_t)(uintptr_t)port->slm;
    return port->slm_written && at < port->slm_B && !(port->slm_written[at / 64] >> at % 64 & 1);
}

/* One byte's bits that are not defined, and where from; 0: from here, of which DECLARED may be
 * said.
 */
static uint8_t load(struct zs_gpu_undefined *d, const struct zs_port *port, uint64_t host,
                    uint32_t *ret_from)
{
    const struct area *area = area_of(d, host);
    *ret_from = 0;
    if (host >> 48 == ZS_PORT_MARK_TAG)
        *ret_from = DECLARED;
    if (*ret_from || is_unwritten(port, host))
        return 0xff;
    if (area) {
        uint8_t bits = area->bits[host - area->start];
        *ret_from = bits ? area->from[(host - area->start) / 4] : 0;
        return bits;
    }
    const struct page *page = page_of(d, host, false);
    uint8_t bits = page ? page->bits[host % PAGE_B] : 0;
    *ret_from = bits ? page->writer[host % PAGE_B / 4].inst : 0;
    return bits;
}

/* Nobody but a writer, of a message with something undefined, makes pages: it is noted beside what
 * is undefined. */
static void store(struct zs_gpu_undefined *d, uint64_t host, uint8_t bits, const struct writer *w)
{
    const struct area *area = area_of(d, host);
    if (area) {
        area->bits[host - area->start] = bits;
        if (bits) /* of arrays there it is told who reads them */
            area->from[(host - area->start) / 4] = w->from & DECLARED ? 0 : w->from;
        return;
    }
    struct page *page = page_of(d, host, w->inst != 0);
    if (page) {
        page->bits[host % PAGE_B] = bits;
        page->writer[host % PAGE_B / 4] = *w;
    }
}

/* ---- payloads ----------------------------------------------------------------------------------
 */

struct message {
    struct zs_gpu_undefined *d;
    struct zs_eu_thread *t;
    const struct zs_eu_send *send;
    const struct zs_port_message *m;
    uint32_t mask;
    uint32_t number_B; /* of what is stored: bytes of a number, as far as it is known */
    bool is_told;
};

/* Offset in the thread of a byte of a payload whose registers scalars name. */
static uint32_t named_at(const struct message *g, uint32_t at_B)
{
    uint32_t grf_B = g->d->run->kernel->module->grf_B,
             grf = (uint32_t)offsetof(struct zs_eu_thread, grf);
    const uint8_t *names = (const uint8_t *)g->t->s0 + g->send->d.gather_at_B;
    uint32_t number = ZS_MIN(at_B / grf_B, g->send->d.mlen ? g->send->d.mlen - 1u : 0);
    return grf + names[number] * grf_B % ZS_EU_GRF_FILE_MAX_B + at_B % grf_B;
}

/* Offset in the thread of a byte of the payload, or of a byte of src1. */
static uint32_t payload_at(const struct message *g, uint32_t at_B)
{
    if (g->send->d.gathers)
        return named_at(g, at_B);
    uint32_t src0_B = g->m->mlen * (uint32_t)UNIT_B,
             grf = (uint32_t)offsetof(struct zs_eu_thread, grf);
    if (g->m->gather && at_B >= src0_B)
        return grf + g->send->d.src1_B + at_B - src0_B;
    return grf + g->send->d.src0_B + at_B;
}

/* These bytes of the payload decide where it goes. */
static void check_bytes(const struct message *g, uint32_t at_B, uint32_t size_B, int lane)
{
    uint32_t at = payload_at(g, at_B);
    struct zs_eu_shadow *s = g->t->shadow;
    if (!zs_eu_shadow_some(s->bits + at, size_B))
        return;
    const struct zs_eu_undefined u = {
        .use = ZS_EU_USE_ADDRESS, .inst = g->send->d.inst, .lane = lane, .from = s->from[at / 4]};
    report(g->t, &u);
    memset(s->bits + at, 0, size_B);
}

/* Bytes of an address, or of what addresses are made of. */
static uint32_t lsc_address_B(const struct zs_port_message *m)
{
    return m->makes ? m->offset_size_B : m->address_B;
}

/* How many bytes of an address a lane has in a slot of its own; 0: another shape. */
static uint32_t address_B(const struct zs_port_message *m)
{
    switch ((enum zs_port_shape)m->shape) {
    case ZS_PORT_SHAPE_OFFSETS:
    case ZS_PORT_SHAPE_DWORD_OFFSETS:
    case ZS_PORT_SHAPE_ADDRESSES:
        return m->address_B;
    case ZS_PORT_SHAPE_LSC:
        return m->strided || !m->lanes ? 0 : lsc_address_B(m);
    default:
        return 0;
    }
}

/* Bytes of headers that say where: of shapes without addresses by lanes. */
static const struct {
    uint8_t at_B, size_B;
} headers[] = {
    [ZS_PORT_SHAPE_BLOCK] = {8, 4},
    [ZS_PORT_SHAPE_A64_BLOCK] = {0, 8},
    [ZS_PORT_SHAPE_MEDIA] = {0, 8},
    [ZS_PORT_SHAPE_BLOCK2D] = {0, 8},
};

static void check_addresses(const struct message *g)
{
    const struct zs_port_message *m = g->m;
    uint32_t size_B = address_B(m), first_B = m->header_grf * (uint32_t)UNIT_B;
    int offset = g->send->d.no_mask ? -1 : g->send->d.chan_offset;
    if (m->shape == ZS_PORT_SHAPE_LSC)
        first_B = 0;
    bool looks = size_B && (m->gather || g->send->d.gathers ||
                            zs_eu_shadow_some(g->t->shadow->bits + payload_at(g, first_B),
                                              size_B * m->lanes));
    for (uint32_t rest = looks ? g->mask : 0; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest);
        check_bytes(g, first_B + lane * size_B, size_B, offset < 0 ? -1 : offset + (int)lane);
    }
    if (m->shape == ZS_PORT_SHAPE_LSC && !size_B)
        check_bytes(g, 0, lsc_address_B(m), -1);
    else if (m->shape == ZS_PORT_SHAPE_MEDIA && m->address_B) /* of Xe2: behind a surface's state */
        check_bytes(g, 20, 8, -1);
    else if (m->shape < ZS_ARRAY_LEN(headers) && headers[m->shape].size_B)
        check_bytes(g, headers[m->shape].at_B, headers[m->shape].size_B, -1);
}

/* ---- data --------------------------------------------------------------------------------------
 */

/* Where lanes' elements stand in registers. */
struct layout {
    bool known, by_lanes;
    bool is_named;                 /* `at` is in a payload whose registers scalars name */
    uint32_t at;                   /* in the thread */
    uint32_t slot_B, component_B;  /* of a lane, of an element of all lanes */
    uint32_t element_B, in_slot_B; /* the element's first byte in its slot */
};

static struct layout layout_of(const struct message *g, bool is_load)
{
    const struct zs_port_message *m = g->m;
    uint32_t grf = (uint32_t)offsetof(struct zs_eu_thread, grf);
    bool is_named = g->send->d.gathers && !is_load;
    uint32_t names_B = g->send->d.mlen * (uint32_t)g->d->run->kernel->module->grf_B;
    uint32_t after_B = m->makes ? names_B - m->xlen * (uint32_t)UNIT_B : m->mlen * (uint32_t)UNIT_B;
    uint32_t data_at = is_named ? after_B : grf + g->send->d.src1_B;
    struct layout l = {.known = true,
                       .by_lanes = m->lanes && !(m->shape == ZS_PORT_SHAPE_SCRATCH),
                       .is_named = is_named,
                       .at = is_load ? grf + g->send->d.dst_B : data_at,
                       .element_B = m->element_B,
                       .slot_B = m->slot_B,
                       .component_B = m->component_B,
                       .in_slot_B = m->upper ? 2 : 0};
    if (m->shape == ZS_PORT_SHAPE_LSC)
        return l;
    uint32_t behind_B = m->header_grf * (uint32_t)UNIT_B + m->lanes * address_B(m);
    if (!l.by_lanes)
        behind_B = UNIT_B;
    if (!is_load && !m->data_in_src1)
        l.at = is_named ? behind_B : payload_at(g, behind_B);
    l.known = m->shape == ZS_PORT_SHAPE_OFFSETS || m->shape == ZS_PORT_SHAPE_DWORD_OFFSETS ||
              m->shape == ZS_PORT_SHAPE_ADDRESSES || m->shape == ZS_PORT_SHAPE_BLOCK ||
              m->shape == ZS_PORT_SHAPE_A64_BLOCK || m->shape == ZS_PORT_SHAPE_SCRATCH;
    l.known = l.known && !(m->shape == ZS_PORT_SHAPE_BLOCK && m->block_upper);
    return l;
}

/* All that a load may write has a value. */
static void define_response(const struct message *g, const struct layout *l)
{
    struct zs_eu_shadow *s = g->t->shadow;
    const struct zs_port_message *m = g->m;
    uint32_t at = (uint32_t)offsetof(struct zs_eu_thread, grf) + g->send->d.dst_B;
    uint32_t all = m->lanes ? UINT32_MAX >> (32 - m->lanes) : 0;
    if (!g->send->d.has_dst)
        return;
    if (!l->known || !l->by_lanes || (g->mask & all) == all) {
        zs_eu_shadow_zero(s->bits + at, m->rlen * (uint32_t)UNIT_B);
        return;
    }
    for (uint32_t e = 0; (e + 1) * l->component_B <= m->rlen * (uint32_t)UNIT_B; e++)
        for (uint32_t rest = g->mask; rest; rest &= rest - 1)
            memset(s->bits + at + e * l->component_B + (size_t)__builtin_ctz(rest) * l->slot_B, 0,
                   l->slot_B);
}

typedef void byte_fn(struct message *g, uint64_t host, uint32_t at, const struct writer *w);

static void load_byte(struct message *g, uint64_t host, uint32_t at, const struct writer *w)
{
    struct zs_eu_shadow *s = g->t->shadow;
    uint32_t from;
    uint8_t bits = load(g->d, &worker_of(g->t)->port, host, &from);
    if (!bits)
        return;
    s->bits[at] = bits;
    s->from[at / 4] = from & ~DECLARED ? from : w->inst | from;
    s->has_from = true;
}

/* An atomic reads what is there. */
static void check_memory(struct message *g, uint64_t host, uint32_t at, const struct writer *w)
{
    uint32_t from;
    (void)at;
    if (g->is_told || !load(g->d, &worker_of(g->t)->port, host, &from))
        return;
    const struct zs_eu_undefined u = {.use = ZS_EU_USE_ATOMIC,
                                      .inst = g->send->d.inst,
                                      .lane = w->lane == ZS_PORT_NO_LANE ? -1 : w->lane,
                                      .from = from};
    report(g->t, &u);
    g->is_told = true;
}

/* Bits of numbers may be padding, too; but what is undefined may have been shifted a little. */
static bool is_partly(const struct zs_eu_shadow *s, uint32_t at, uint32_t number_B)
{
    uint32_t bits = 0;
    memcpy(&bits, s->bits + at, number_B);
    uint32_t count = (uint32_t)__builtin_popcount(bits);
    return count && count + (number_B > 1 ? number_B : 0) < 8 * number_B;
}

static void store_byte(struct message *g, uint64_t host, uint32_t at, const struct writer *w)
{
    struct writer by = *w;
    const struct zs_eu_shadow *s = g->t->shadow;
    if (s->bits[at])
        by.from = s->from[at / 4];
    by.is_partly = is_partly(s, at & ~(g->number_B - 1), g->number_B);
    store(g->d, host, s->bits[at], &by);
}

static bool are_apart(const struct zs_port_message *m, const struct zs_port_accesses *pieces)
{
    const struct zs_port_access *first = &pieces->pieces[0],
                                *last = &pieces->pieces[pieces->count ? pieces->count - 1 : 0];
    uint64_t distance =
        ZS_MAX(last->address, first->address) - ZS_MIN(last->address, first->address);
    return m->lanes && pieces->count && last->lane > first->lane &&
           distance > (uint64_t)(last->lane - first->lane + 1) * m->element_B * m->elements;
}

/* Every byte of memory with its byte in the registers. */
static void for_bytes(struct message *g, const struct layout *l, byte_fn *fn)
{
    struct zs_gpu_worker *w = worker_of(g->t);
    uint8_t joined[ZS_EU_PAYLOAD_MAX_B];
    struct zs_port_accesses pieces;
    struct writer by = {.inst = g->send->d.inst + 1,
                        .group = (uint32_t)w->checked->index,
                        .thread = (uint16_t)w->port.thread};
    uint32_t lane_before = UINT32_MAX, element = 0;
    zs_port_accesses(&w->port, g->m, zs_eu_send_payload(g->t, g->send, g->m, joined), g->mask,
                     &pieces);
    by.is_apart = are_apart(g->m, &pieces);
    for (uint32_t i = 0; i < pieces.count; i++) {
        const struct zs_port_access *p = &pieces.pieces[i];
        uint64_t host = p->is_slm ? (uint64_t)(uintptr_t)w->port.slm + p->address : p->address;
        if (p->lane != lane_before && l->by_lanes)
            element = 0;
        lane_before = p->lane;
        if (g->m->masked) /* a dword for each lane, as far as they are on */
            element += ((p->lane - element / 4) & 15) * 4;
        by.lane = p->lane == ZS_PORT_NO_LANE || g->send->d.no_mask
                      ? ZS_PORT_NO_LANE
                      : (uint8_t)(p->lane + g->send->d.chan_offset);
        for (uint32_t k = 0; k < p->size_B; k++) {
            uint32_t e = l->by_lanes ? element + k / l->element_B : 0;
            uint32_t at = l->by_lanes ? l->at + e * l->component_B + p->lane * l->slot_B +
                                            l->in_slot_B + k % l->element_B
                                      : l->at + element + k;
            if (l->is_named)
                at = named_at(g, at);
            if (at < offsetof(struct zs_eu_thread, grf) + ZS_EU_GRF_FILE_MAX_B)
                fn(g, host + k, at, &by);
        }
        element += l->by_lanes ? p->size_B / l->element_B : p->size_B;
    }
}

static bool is_written(const struct zs_port *port, uint64_t from, uint64_t end)
{
    for (uint64_t count; from < end && from < port->slm_B; from += count) {
        count = ZS_MIN(64 - from % 64, end - from);
        uint64_t bits = (count == 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1) << from % 64;
        if (~port->slm_written[from / 64] & bits)
            return false;
    }
    return true;
}

/* Shadows of memory that has some: where they are of neighbouring bytes; NULL: all are defined. */
static uint8_t *shadow_of(struct zs_gpu_undefined *d, uint64_t host, uint32_t *size_B)
{
    const struct area *area = area_of(d, host);
    if (area) {
        *size_B = (uint32_t)ZS_MIN(*size_B, area->start + area->size_B - host);
        return area->bits + (host - area->start);
    }
    struct page *page = page_of(d, host, false);
    *size_B = (uint32_t)ZS_MIN(*size_B, PAGE_B - host % PAGE_B);
    return page ? page->bits + host % PAGE_B : NULL;
}

/* All that it reaches is defined; or made so. */
static bool are_defined(const struct message *g, bool define)
{
    const struct zs_port *port = &worker_of(g->t)->port;
    uint8_t joined[ZS_EU_PAYLOAD_MAX_B];
    struct zs_port_accesses pieces;
    zs_port_accesses(port, g->m, zs_eu_send_payload(g->t, g->send, g->m, joined), g->mask, &pieces);
    for (uint32_t i = 0; i < pieces.count; i++) {
        const struct zs_port_access *p = &pieces.pieces[i];
        uint64_t host = p->address + (p->is_slm ? (uint64_t)(uintptr_t)port->slm : 0);
        if (!define && p->is_slm && port->slm_written &&
            !is_written(port, p->address, p->address + p->size_B))
            return false;
        for (uint32_t at = 0, count; at < p->size_B; at += count) {
            count = p->size_B - at;
            uint8_t *bits = shadow_of(g->d, host + at, &count);
            if (bits && define)
                memset(bits, 0, count);
            else if (bits && zs_eu_shadow_some(bits, count))
                return false;
        }
    }
    return true;
}

static bool may_be_undefined(const struct message *g)
{
    if (atomic_load_explicit(&g->d->page_count, memory_order_relaxed))
        return true;
    if (g->m->space == ZS_PORT_SPACE_SLM)
        return !zs_port_local_is_full(&worker_of(g->t)->port);
    return g->m->space == ZS_PORT_SPACE_SCRATCH || g->d->private_memory.bits;
}

/* It loads what the compiler was not to know. */
static bool loads_undefined(const struct message *g)
{
    const struct zs_port_message *m = g->m;
    bool is_block = m->shape == ZS_PORT_SHAPE_A64_BLOCK ||
                    (m->shape == ZS_PORT_SHAPE_LSC && !m->lanes && lsc_address_B(m) == 8);
    if (m->space != ZS_PORT_SPACE_GLOBAL || (!is_block && address_B(m) != 8))
        return false;
    uint32_t first_B = m->shape == ZS_PORT_SHAPE_ADDRESSES ? m->header_grf * (uint32_t)UNIT_B : 0;
    bool found = false;
    for (uint32_t rest = is_block ? 1 : g->mask; rest && !found; rest &= rest - 1) {
        uint64_t address;
        uint32_t at = payload_at(g, first_B + 8 * (uint32_t)__builtin_ctz(rest));
        memcpy(&address, (const uint8_t *)g->t + at, sizeof(address));
        found = address >> 48 == ZS_PORT_MARK_TAG;
    }
    return found;
}

static bool is_stored_undefined(const struct message *g)
{
    const struct zs_eu_shadow *s = g->t->shadow;
    uint32_t grf = (uint32_t)offsetof(struct zs_eu_thread, grf);
    if (g->send->d.gathers) {
        uint32_t grf_B = g->d->run->kernel->module->grf_B;
        bool any = false;
        for (uint32_t i = 0; i < g->send->d.mlen; i++)
            any |= zs_eu_shadow_some(s->bits + named_at(g, i * grf_B), grf_B);
        return any;
    }
    return (zs_eu_shadow_some(s->bits + grf + g->send->d.src0_B, g->m->mlen * (uint32_t)UNIT_B) ||
            zs_eu_shadow_some(s->bits + grf + g->send->d.src1_B, g->m->xlen * (uint32_t)UNIT_B));
}

static void check_atomic(const struct message *g)
{
    const struct layout of_operands = layout_of(g, false), *l = &of_operands;
    struct zs_eu_shadow *s = g->t->shadow;
    uint32_t count = l->known && l->by_lanes ? g->m->elements : 0;
    bool in_src1 = g->m->shape == ZS_PORT_SHAPE_LSC || g->m->data_in_src1;
    uint32_t data_B = in_src1 ? g->m->xlen * (uint32_t)UNIT_B
                              : g->m->mlen * (uint32_t)UNIT_B - (l->at - payload_at(g, 0));
    for (uint32_t e = 0; e < ZS_MAX(count, 2u) && (e + 1) * l->component_B <= data_B; e++)
        for (uint32_t rest = g->mask; rest; rest &= rest - 1) {
            uint32_t lane = (uint32_t)__builtin_ctz(rest);
            uint32_t at = l->at + e * l->component_B + lane * l->slot_B + l->in_slot_B;
            if (l->is_named)
                at = named_at(g, at);
            if (!zs_eu_shadow_some(s->bits + at, l->element_B))
                continue;
            const struct zs_eu_undefined u = {.use = ZS_EU_USE_ATOMIC,
                                              .inst = g->send->d.inst,
                                              .lane = (int)lane + g->send->d.chan_offset,
                                              .from = s->from[at / 4]};
            report(g->t, &u);
            memset(s->bits + at, 0, l->element_B);
        }
}

static void on_message(struct zs_eu_thread *t, const struct zs_eu_send *send, uint32_t lane_mask)
{
    const struct zs_port_message_row *row = NULL;
    const struct zs_port_message *m = zs_eu_send_message(send, &row);
    if (!m || !row || row->is_fence || m->space == ZS_PORT_SPACE_GATEWAY)
        return;
    struct message g = {.d = t->shadow->context,
                        .t = t,
                        .send = send,
                        .m = m,
                        .mask = m->lanes ? lane_mask & UINT32_MAX >> (32 - m->lanes) : lane_mask};
    check_addresses(&g);
    if (row->is_atomic)
        check_atomic(&g);
    if (t->fault.kind != ZS_EU_FAULT_NONE)
        return;
    if (row->is_atomic) {
        struct layout operands = layout_of(&g, false), old = layout_of(&g, true);
        if (operands.known && m->bytes_read && m->op != ZS_ATOMIC_MOV && may_be_undefined(&g) &&
            !are_defined(&g, false))
            for_bytes(&g, &operands, check_memory);
        define_response(&g, &old);
    } else if (m->bytes_written || (m->shape == ZS_PORT_SHAPE_SCRATCH && m->op)) {
        struct layout data = layout_of(&g, false);
        bool is_undefined = data.known && is_stored_undefined(&g);
        g.number_B = data.by_lanes ? ZS_MIN(data.element_B, 4u) : 4;
        bool is_local = m->space == ZS_PORT_SPACE_SLM && !atomic_load(&g.d->page_count);
        if (is_undefined)
            for_bytes(&g, &data, store_byte);
        else if (data.known && may_be_undefined(&g) && !is_local)
            are_defined(&g, true);
    } else {
        struct layout data = layout_of(&g, true);
        define_response(&g, &data);
        if (data.known && g.send->d.has_dst &&
            (loads_undefined(&g) || (may_be_undefined(&g) && !are_defined(&g, false))))
            for_bytes(&g, &data, load_byte);
    }
}

/* A thread without a shadow: it gets one if the message brings it something undefined. */
static void on_clean(struct zs_eu_thread *t, const struct zs_eu_send *send, uint32_t lane_mask)
{
    struct zs_gpu_worker *w = worker_of(t);
    struct zs_eu_shadow *s = &w->shadows[t - w->threads];
    if (t->shadow || !lane_mask)
        return;
    t->shadow = s;
    on_message(t, send, lane_mask);
    s->is_zero = !s->has_from;
    if (s->is_zero)
        t->shadow = NULL;
}

static void on_both(struct zs_eu_thread *t, const struct zs_eu_send *send, uint32_t lane_mask)
{
    zs_gpu_checks_message(t, send, lane_mask);
    if (t->fault.kind == ZS_EU_FAULT_NONE)
        on_clean(t, send, lane_mask);
}

/* ---- threads and launches ----------------------------------------------------------------------
 */

static void forget(const struct area *area, uint32_t number)
{
    uint64_t at = number * area->each_B;
    if (area->bits && at + area->each_B <= area->size_B) {
        memset(area->bits + at, 0xff, area->each_B);
        memset(area->from + at / 4, 0, area->each_B);
    }
}

void zs_gpu_undefined_thread(struct zs_gpu_run *run, struct zs_gpu_worker *w,
                             struct zs_eu_thread *t, uint32_t slot, uint32_t number, bool clean)
{
    static const struct zs_eu_hooks alone = {.message = on_clean},
                                    among = {.message = on_both,
                                             .reach = zs_check_reach,
                                             .reached = zs_check_reached};
    struct zs_eu_shadow *s = &w->shadows[slot];
    forget(&run->undefined->scratch, number + 1);
    forget(&run->undefined->private_memory, number);
    s->context = run->undefined;
    s->report = report;
    s->message = on_message;
    if (clean) {
        zs_eu_shadow_clear(s);
        t->hooks = run->checks ? &among : &alone;
        return;
    }
    uint32_t grf_B = run->kernel->module->grf_B;
    zs_eu_shadow_begin(t, s,
                       grf_B + run->kernel->per_thread_B +
                           (uint32_t)zs_align_up(run->kernel->inline_B, grf_B));
    uint8_t *ids = s->bits + offsetof(struct zs_eu_thread, grf) + grf_B;
    for (uint32_t rest = run->kernel->unused_ids; rest; rest &= rest - 1)
        memset(ids + (size_t)grf_B * (uint32_t)__builtin_ctz(rest), 0xff, grf_B);
}

/* A group begins: its local memory has nothing of another's. */
void zs_gpu_undefined_group(struct zs_gpu_run *run, const struct zs_gpu_group *group)
{
    uint64_t at = (uint64_t)(uintptr_t)group->slm, end = at + run->slm_B;
    while (at < end && atomic_load_explicit(&run->undefined->page_count, memory_order_relaxed)) {
        uint64_t to = ZS_MIN(end, (at & ~(uint64_t)(PAGE_B - 1)) + PAGE_B);
        struct page *page = page_of(run->undefined, at, false);
        if (page)
            memset(page->bits + at % PAGE_B, 0, to - at);
        at = to;
    }
}

bool zs_gpu_undefined_is_clean(const struct zs_gpu_run *run, uint32_t mask)
{
    return run->kernel->is_clean[mask == run->mask];
}

const _Atomic(uint32_t) *zs_gpu_undefined_pages(const struct zs_gpu_run *run)
{
    return run->undefined ? &run->undefined->page_count : NULL;
}

bool zs_gpu_undefined_is_loose(const struct zs_gpu_run *run)
{
    return !run->undefined ||
           (zs_gpu_undefined_is_clean(run, run->mask) && !run->undefined->scratch.bits &&
            !run->undefined->private_memory.bits);
}

/* Of count threads. data: NULL: there is none */
static bool make_area(struct area *area, const uint8_t *data, uint64_t count, uint64_t each_B)
{
    uint64_t size_B = count * each_B;
    if (!size_B || !data)
        return true;
    *area = (struct area){.start = (uint64_t)(uintptr_t)data,
                          .size_B = size_B,
                          .each_B = each_B,
                          .bits = malloc(size_B),
                          .from = malloc(size_B + 4)};
    return area->bits && area->from;
}

/* Private memory is ours, or has been allocated by the driver that launches. */
static bool make_private(struct zs_gpu_run *run, struct area *area)
{
    const struct zs_gpu_launch *launch = run->launch;
    const uint8_t *data = run->private_memory.data;
    uint64_t each_B = data ? run->kernel->module->private_per_hw_thread_B : 0;
    if (!data && launch->private_va) {
        each_B = launch->private_thread_B;
        data = zs_gpu_memory_host(launch->memory, launch->private_va, each_B * run->slots, false);
    }
    return make_area(area, data, run->slots, each_B);
}

int zs_gpu_undefined_begin(struct zs_gpu_run *run)
{
    if (!run->kernel->tracks_undefined)
        return 0;
    struct zs_gpu_undefined *d = calloc(1, sizeof(*d));
    if (!d)
        return -ENOMEM;
    run->undefined = d;
    d->run = run;
    pthread_mutex_init(&d->lock, NULL);
    bool made = make_area(&d->scratch, run->scratch.data, run->slots + 1ull, run->scratch_B) &&
                make_private(run, &d->private_memory);
    return made ? 0 : -ENOMEM;
}

static void free_pages(struct zs_gpu_undefined *d)
{
    for (struct page *page = d->pages, *next; page; page = next) {
        next = page->next;
        free(page);
    }
    d->pages = NULL;
    free((void *)atomic_exchange(&d->slots, NULL));
    atomic_store(&d->page_count, 0);
}

void zs_gpu_undefined_rewind(struct zs_gpu_run *run)
{
    if (run->undefined)
        free_pages(run->undefined);
}

void zs_gpu_undefined_define(struct zs_gpu_run *run, const void *host, size_t size_B)
{
    static const struct writer nobody;
    for (size_t i = 0; run->undefined && i < size_B; i++)
        store(run->undefined, (uint64_t)(uintptr_t)host + i, 0, &nobody);
}

/* The same work-item has stored both. */
static bool is_by(const struct page *page, uint32_t at, const struct writer *by)
{
    const struct writer *other = &page->writer[at / 4];
    return other->inst && other->group == by->group && other->thread == by->thread &&
           other->lane == by->lane;
}

static bool is_gap(const struct page *page, uint32_t at)
{
    return page->bits[at] && !page->writer[at / 4].is_partly;
}

/* It is a member of the same struct: by the same work-item; nobody noted it if all of the message
 * was defined. */
static bool is_member(const struct page *page, uint32_t at, const struct writer *by)
{
    return is_by(page, at, by) || (by->is_apart && page->writer[at / 4].inst != by->inst);
}

/* Of a struct: it begins behind a member and ends where something may begin that is aligned, to
 * more than it is long. */
static bool is_padding(const struct page *page, uint32_t at)
{
    const struct writer *by = &page->writer[at / 4];
    uint32_t first = at, end = at + 1;
    while (first % ALIGNED_B && is_gap(page, first - 1) && is_by(page, first - 1, by))
        first--;
    while (end % PAGE_B && is_gap(page, end) && is_by(page, end, by))
        end++;
    return first % ALIGNED_B && is_member(page, first - 1, by) &&
           end - first < ZS_MIN(end & -end, (uint32_t)ALIGNED_B);
}

/* A number that is not defined at all, in memory that outlives the launch. */
static void tell_page(struct zs_gpu_undefined *d, uint64_t host, const struct page *page)
{
    for (uint32_t at = 0; at < PAGE_B; at++) {
        const struct writer *by = &page->writer[at / 4];
        if (!is_gap(page, at) || is_padding(page, at))
            continue;
        at &= ~3u;
        const struct zs_eu_undefined u = {.use = ZS_EU_USE_STORED,
                                          .inst = by->inst - 1,
                                          .lane = by->lane == ZS_PORT_NO_LANE ? -1 : by->lane,
                                          .from = by->from};
        const struct user who = {
            .group = by->group, .thread = by->thread, .gpu_va = host + at, .size_B = 4};
        found(d, &u, &who);
        at += 3;
    }
}

static bool is_allocated(const struct zs_gpu_run *run, uint64_t host)
{
    struct zs_gpu_allocation a;
    return zs_gpu_memory_of_host(run->launch->memory, host, &a) &&
           !(run->launch->private_va - a.gpu_va < a.size_B);
}

void zs_gpu_undefined_end(struct zs_gpu_run *run)
{
    struct zs_gpu_undefined *d = run->undefined;
    if (!d)
        return;
    for (const struct page *page = d->pages; page; page = page->next) {
        uint64_t host = page->number * PAGE_B;
        if (is_allocated(run, host) || is_allocated(run, host + PAGE_B - 1))
            tell_page(d, host, page);
    }
    if (d->lost) {
        struct zs_gpu_finding f = {.kind = ZS_GPU_FINDING_LOST,
                                   .advice = "more than 64 undefined values in one launch, or too "
                                             "many of them in memory: the rest is not shown"};
        zs_check_print(run, &f);
    }
    free_pages(d);
    free(d->scratch.bits);
    free(d->scratch.from);
    free(d->private_memory.bits);
    free(d->private_memory.from);
    pthread_mutex_destroy(&d->lock);
    free(d);
    run->undefined = NULL;
}
