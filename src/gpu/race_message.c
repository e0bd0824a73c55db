/* SPDX-License-Identifier: MIT */
/*
 * Messages that reach memory, for the check of races: from the data port's form, or as compiled
 * code says what one reaches before it carries it out. Where something conflicts, compiled code
 * gives way to the data port, and it is looked at again.
 */
#include "gpu/race_priv.h"

#include <stdlib.h>

enum { LINE_WORDS = ZS_RACE_LINE_WORDS, LINE_B = ZS_RACE_LINE_B };

/* ---- messages ----------------------------------------------------------------------------------
 */

/* How many pieces from this one on are dwords behind each other, of lanes that follow each other.
 */
static uint32_t run_length(const struct zs_port_access *p, uint32_t count)
{
    uint32_t n = 1;
    while (n < count && p[n].address == p->address + n * 4 && p[n].size_B == 4 &&
           p[n].lane == p->lane + n && p[n].is_slm == p->is_slm)
        n++;
    return n;
}

/* What is known is so of one space. */
static void enter_space(struct zs_race_access *a, bool is_slm)
{
    if (a->is_slm == is_slm)
        return;
    a->known[0].number = a->known[1].number = 0;
    a->is_slm = is_slm;
}

/* Messages of bytes take any address; so does the load/store cache but for atomics, and vectors at
 * one address. */
static uint32_t alignment_of(const struct zs_port_message *m, bool is_atomic)
{
    bool by_dwords =
        m->shape == ZS_PORT_SHAPE_DWORD_OFFSETS ||
        (m->channels && (m->shape == ZS_PORT_SHAPE_OFFSETS || m->shape == ZS_PORT_SHAPE_ADDRESSES));
    bool is_typed = m->shape == ZS_PORT_SHAPE_TYPED;
    bool is_vector = m->shape == ZS_PORT_SHAPE_LSC && !m->lanes && !m->strided;
    return by_dwords || is_vector || (is_atomic && !is_typed) ? ZS_MIN(m->element_B, 4u) : 1;
}

static void tell_unaligned(struct zs_race_access *a, const struct zs_port_access *p)
{
    struct zs_gpu_checks *c = a->at->c;
    a->fails = true;
    if (a->is_quick || !(c->run->launch->flags & ZS_GPU_LAUNCH_STRICT) ||
        !zs_check_is_new(c, a->inst, UINT32_MAX >> 4, 0))
        return;
    struct zs_gpu_finding f = {
        .kind = ZS_GPU_FINDING_UNALIGNED,
        .is_local = p->is_slm,
        .gpu_va = p->address,
        .site_count = 1,
        .advice = "devices need what the pointer's type promises: read parts by vload or as char"};
    zs_check_site(c->run, a->at->group->index, a->at->number, a->inst, (int)a->lane, &f.site[0]);
    f.site[0].is_write = a->record->is_write;
    f.site[0].is_atomic = a->record->is_atomic;
    f.site[0].size_B = p->size_B;
    zs_check_tell(c, &f);
}

static void touch_pieces(struct zs_race_access *a, const struct zs_port_accesses *pieces)
{
    const uint64_t below = alignment_of(a->m, a->record->is_atomic) - 1;
    uint32_t lane_before = UINT32_MAX;
    bool can_run = !a->only && !a->record->is_whole && !a->record->is_atomic;
    for (uint32_t i = 0; i < pieces->count && !(a->is_quick && a->fails); i++) {
        const struct zs_port_access *p = &pieces->pieces[i];
        bool several = p->size_B > a->m->element_B && p->lane != ZS_PORT_NO_LANE && a->values &&
                       p->size_B % a->m->element_B == 0;
        if (!a->record->is_write && i && p->address == p[-1].address && p->size_B == p[-1].size_B)
            continue; /* the lane before stands for it */
        uint32_t run =
            can_run && p->size_B == 4 && !(p->address & 3) ? run_length(p, pieces->count - i) : 1;
        if (!p->is_slm && zs_race_is_own(a->at->c, p->address))
            continue;
        if (p->lane != lane_before)
            a->element = 0;
        lane_before = p->lane;
        a->lane = a->only                      ? (uint32_t)__builtin_ctz(a->only)
                  : p->lane == ZS_PORT_NO_LANE ? 0
                                               : p->lane + a->chan_offset;
        if (p->address & below)
            tell_unaligned(a, p);
        enter_space(a, p->is_slm);
        if (run > 1) {
            zs_race_row(a, p->address, run, true);
            i += run - 1;
            lane_before = pieces->pieces[i].lane;
            continue;
        }
        uint32_t step_B = several ? a->m->element_B : p->size_B;
        for (uint32_t at_B = 0; at_B < p->size_B; at_B += step_B) {
            a->gpu_va = p->address + at_B;
            a->size_B = step_B;
            zs_race_bytes(a);
            a->element++;
        }
    }
}

static bool is_one_row(const struct zs_check_where *at, const struct zs_eu_send *send,
                       const struct zs_port_message *m, bool is_atomic, const uint8_t *payload,
                       uint32_t lane_mask, struct zs_port_row *ret)
{
    bool is_write = m->bytes_written != 0;
    return !is_atomic && !send->d.no_mask && (is_write || !at->c->reads) &&
           zs_port_row(&at->w->port, m, payload, lane_mask, ret) && !(ret->address & 3) &&
           !(is_write && ret->is_one);
}

/* Of this thread, or of so many, of which this one is the second of the group. */
static uint32_t add_records(struct zs_check_where *at, const struct zs_eu_send *send,
                            const struct zs_port_message *m, bool is_atomic, bool is_whole,
                            bool is_scalar, uint32_t size_B, uint32_t passed, uint32_t count)
{
    struct zs_gpu_checks *c = at->c;
    const struct zs_check_thread *thread = at->thread;
    if (!zs_race_make_room(c, count))
        return 0;
    bool is_plain_write = m->bytes_written && !is_atomic;
    at->thread->is_unfenced |= is_plain_write;
    at->of_group->is_loose |= thread->signals > passed;
    struct zs_check_record *r = &c->records[c->record_count];
    uint32_t *whats = &c->whats[c->record_count];
    const struct zs_check_record one = {.group = (uint32_t)at->group->index,
                                        .inst = send->d.inst,
                                        .signals = thread->signals,
                                        .epoch = thread->epoch,
                                        .log_at = (uint32_t)c->order.log.count,
                                        .fences = {thread->fences[0], thread->fences[1]},
                                        .thread = (uint16_t)at->number,
                                        .size_B = (uint8_t)ZS_MIN(size_B, 255u),
                                        .is_write = m->bytes_written != 0 || is_atomic,
                                        .is_atomic = is_atomic,
                                        .is_whole = is_whole,
                                        .by_all = is_scalar && is_whole &&
                                                  (is_atomic || !m->bytes_written)};
    uint32_t what = zs_race_what(&one), number = at->number;
    for (uint32_t i = 0; i < count; i++) {
        r[i] = one;
        r[i].thread = (uint16_t)(number + i);
        whats[i] = what;
    }
    c->record_count += count;
    return c->record_count - count + 1;
}

static uint32_t add_record(struct zs_check_where *at, const struct zs_eu_send *send,
                           const struct zs_port_message *m, bool is_atomic, bool is_whole,
                           bool is_scalar, uint32_t size_B, uint32_t passed)
{
    struct zs_check_block *block = &at->c->blocks[send->d.inst];
    uint32_t count = at->c->run->threads_per_group - at->number;
    bool is_shared = at->number == 1 || (!at->number && block->is_shared);
    if (!is_shared || at->thread->epoch || at->c->logs)
        count = 1;
    uint32_t first =
        add_records(at, send, m, is_atomic, is_whole, is_scalar, size_B, passed, count);
    if (count > 1)
        *block = (struct zs_check_block){.born = first ? at->of_group->born : 0,
                                         .first = at->number,
                                         .base = first - at->number,
                                         .is_whole = is_whole,
                                         .is_shared = at->number};
    return first;
}

/* The record of the thread in what those beside it have; 0: none. */
static inline uint32_t record_beside(const struct zs_check_where *at, uint32_t inst, bool is_whole,
                                     bool is_write)
{
    struct zs_check_block *block = &at->c->blocks[inst];
    bool is = block->born == at->of_group->born && !at->thread->epoch &&
              block->is_whole == is_whole && at->number >= block->first;
    at->thread->is_unfenced |= is && is_write;
    block->is_shared |= is && at->number;
    return is ? block->base + at->number : 0;
}

/* Elements of a lane, dwords of a block, if there are holes between them. */
static uint64_t holes_of(const struct zs_port_message *m)
{
    uint64_t parts = zs_port_parts(m);
    return parts & (parts + 1) ? parts : 0;
}

static uint32_t part_B(const struct zs_port_message *m)
{
    return m->lanes ? m->element_B : 4;
}

/* Where there are no holes. */
static uint32_t size_of(const struct zs_port_message *m)
{
    uint64_t parts = zs_port_parts(m);
    if (parts)
        return part_B(m) * (uint32_t)__builtin_popcountll(parts);
    return m->lanes ? (uint32_t)m->element_B * m->elements : m->block_B;
}

/* What a thread has before it is known. */
static uint32_t passed_by(const struct zs_check_where *at, const struct zs_eu_thread *t)
{
    return at->of_group->releases - ZS_MIN(t->n0[0], at->of_group->releases);
}

/* Of a message whose parts have lanes, or have none. false: no memory. */
static inline bool begin(struct zs_race_access *ret, struct zs_check_where *at, uint32_t passed,
                         const struct zs_eu_thread *t, const struct zs_eu_send *send,
                         const struct zs_port_message *m, uint32_t ce, bool is_atomic,
                         bool has_no_lane, uint32_t size_B)
{
    bool is_scalar = send->d.no_mask && send->d.exec_size == 1;
    bool is_one = is_scalar && ce && !(ce & (ce - 1));
    bool is_whole = !is_one && (send->d.no_mask || has_no_lane);
    struct zs_check_recent *recent = &at->thread->recent[send->d.inst % ZS_CHECK_RECENT];
    bool is_again = recent->stamp == at->thread->stamp && recent->inst == send->d.inst &&
                    recent->record && recent->epoch == at->thread->epoch &&
                    recent->is_whole == is_whole && recent->generation == at->c->generation;
    if (!is_again) {
        uint32_t known = record_beside(at, send->d.inst, is_whole, m->bytes_written && !is_atomic);
        recent->stamp = at->thread->stamp;
        recent->record =
            known ? known : add_record(at, send, m, is_atomic, is_whole, is_scalar, size_B, passed);
        recent->inst = send->d.inst;
        recent->epoch = at->thread->epoch;
        recent->is_whole = is_whole;
        recent->generation = at->c->generation;
    }
    if (at->passed != passed) {
        at->passed = passed;
        zs_check_ask_anew(at);
    }
    at->c->lost |= !recent->record;
    ret->at = at;
    ret->t = t;
    ret->m = m;
    ret->number = recent->record;
    ret->record = recent->record ? zs_race_record(at->c, recent->record) : NULL;
    ret->inst = send->d.inst;
    ret->passed = passed;
    ret->only = is_one ? ce : 0;
    ret->chan_offset = send->d.chan_offset;
    ret->is_slm = recent->is_slm;
    ret->is_quick = ret->is_late = ret->fails = ret->rises = false;
    ret->known[0].number = ret->known[1].number = 0;
    ret->values = NULL;
    ret->pieces = NULL;
    ret->knows_same = false;
    ret->element = 0;
    return ret->record != NULL;
}

static void end(const struct zs_race_access *a)
{
    a->at->thread->recent[a->inst % ZS_CHECK_RECENT].is_slm = a->is_slm;
}

static void go_direct(struct zs_check_where *at);

void zs_check_access(struct zs_check_where *at, const struct zs_eu_thread *t,
                     const struct zs_eu_send *send, const struct zs_port_message *m, bool is_atomic,
                     uint32_t lane_mask)
{
    uint8_t joined_payload[ZS_EU_PAYLOAD_MAX_B];
    struct zs_port_accesses pieces;
    struct zs_port_row row;
    struct zs_race_access a;
    const uint8_t *payload = zs_eu_send_payload(t, send, m, joined_payload);
    bool is_row = is_one_row(at, send, m, is_atomic, payload, lane_mask, &row);
    pieces.count = 0;
    if (!is_row)
        zs_port_accesses(&at->w->port, m, payload, lane_mask, &pieces);
    if (!is_row && !pieces.count)
        return;
    uint64_t first = is_row ? row.address : pieces.pieces[0].address;
    if (!(is_row ? row.is_slm : pieces.pieces[0].is_slm) && zs_race_is_own(at->c, first))
        return; /* the others are, too */
    bool is_local = is_row && row.is_slm;
    for (uint32_t i = 0; i < pieces.count; i++)
        is_local |= pieces.pieces[i].is_slm;
    if (is_local)
        go_direct(at);
    if (!begin(&a, at, passed_by(at, t), t, send, m, t->ce, is_atomic,
               !is_row && pieces.pieces[0].lane == ZS_PORT_NO_LANE,
               is_row ? 4 : pieces.pieces[0].size_B))
        return;
    if (a.record->is_write && !is_atomic)
        zs_race_find_values(&a, send, payload);
    else if (at->c->reads && is_atomic)
        zs_race_find_guesses(&a, &pieces);
    else if (at->c->reads)
        zs_race_note_reads(&a, &pieces);
    if (is_row) {
        enter_space(&a, row.is_slm);
        a.lane = a.chan_offset;
        zs_race_row(&a, row.address, row.is_one ? 1 : row.lanes, true);
    } else {
        a.pieces = &pieces;
        touch_pieces(&a, &pieces);
    }
    end(&a);
    if (is_atomic) /* what it orders is not itself: another one might have come first */
        zs_race_order(at, &pieces);
}

static void add_piece(const struct zs_port_message *m, uint64_t address, uint32_t lane,
                      struct zs_port_accesses *ret)
{
    uint64_t holes = holes_of(m);
    struct zs_port_access piece = {.address = address,
                                   .size_B = size_of(m),
                                   .lane = m->lanes ? (uint8_t)lane : ZS_PORT_NO_LANE,
                                   .is_slm = m->space == ZS_PORT_SPACE_SLM};
    if (!holes)
        ret->pieces[ret->count++] = piece;
    for (; holes && ret->count < ZS_PORT_ACCESSES_MAX; holes &= holes - 1) {
        piece.address = address + (uint64_t)part_B(m) * (unsigned)__builtin_ctzll(holes);
        piece.size_B = part_B(m);
        ret->pieces[ret->count++] = piece;
    }
}

/* Of each lane that is on, of a message in line. */
static void list_lanes(const struct zs_port_message *m, uint32_t lane_mask, enum zs_eu_reach how,
                       uint64_t address, uint32_t first, struct zs_port_accesses *ret)
{
    const uint64_t *addresses = (const uint64_t *)(uintptr_t)address;
    ret->count = 0;
    for (uint32_t rest = lane_mask; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest);
        add_piece(m,
                  how == ZS_EU_REACH_LANES ? addresses[lane - first]
                  : how == ZS_EU_REACH_ROW ? address + (uint64_t)lane * m->element_B
                                           : address,
                  lane, ret);
        if (how == ZS_EU_REACH_ONE || !m->lanes)
            break;
    }
}

/* Rows of dwords of lanes, one for each channel; or what one lane or the thread as a whole reaches.
 */
static bool reach_rows(struct zs_race_access *a, enum zs_eu_reach how, uint64_t address,
                       uint32_t lane_mask)
{
    const struct zs_port_message *m = a->m;
    uint32_t low = (uint32_t)__builtin_ctz(lane_mask), mask = lane_mask >> low;
    uint32_t size_B = size_of(m), lanes = 32 - (uint32_t)__builtin_clz(mask);
    uint64_t holes = holes_of(m);
    uint32_t lane = a->only    ? (uint32_t)__builtin_ctz(a->only)
                    : m->lanes ? a->chan_offset + low
                               : 0;
    if ((address | size_B) & 3 || a->record->is_atomic)
        return false;
    if (how == ZS_EU_REACH_ONE && !holes) {
        a->lane = lane;
        zs_race_row(a, address, size_B / 4, false);
        return true;
    }
    if (how == ZS_EU_REACH_ONE || m->element_B != 4 || mask & (mask + 1))
        return false;
    uint64_t channels = holes ? holes : (1u << size_B / 4) - 1;
    for (; channels; channels &= channels - 1) {
        a->lane = lane;
        zs_race_row(a, address + (low + (uint32_t)__builtin_ctzll(channels)) * 4u, lanes,
                    !a->record->is_whole);
    }
    return true;
}

static bool is_dwords(const struct zs_race_access *a, enum zs_eu_reach how)
{
    const struct zs_port_message *m = a->m;
    return how == ZS_EU_REACH_LANES && m->element_B == 4 && m->elements == 1 && !a->only;
}

/* Lane by lane. */
static void __attribute__((noinline))
reach_lanes(struct zs_race_access *a, enum zs_eu_reach how, uint64_t address, uint32_t lane_mask,
            uint32_t first)
{
    struct zs_port_accesses pieces;
    bool is_atomic = a->record->is_atomic;
    list_lanes(a->m, lane_mask, how, address, first, &pieces);
    if (a->at->c->reads && is_atomic)
        zs_race_find_guesses(a, &pieces);
    else if (a->at->c->reads && !a->record->is_write)
        zs_race_note_reads(a, &pieces);
    touch_pieces(a, &pieces);
    if (is_atomic && !a->fails)
        zs_race_order(a->at, &pieces);
}

/* A message in line. */
struct reach {
    const struct zs_eu_send *send;
    uint32_t lanes, ce, first;
    enum zs_eu_reach how;
    uint64_t address;
    bool was_put_off;
    uint32_t same; /* lanes that store what was there, where it was put off */
};

static bool is_row_of_dwords(const struct zs_race_access *a, const struct reach *r)
{
    uint32_t mask = r->lanes >> __builtin_ctz(r->lanes);
    return r->how == ZS_EU_REACH_ROW && a->m->element_B == 4 && a->m->elements == 1 && !a->only &&
           !holes_of(a->m) && !(mask & (mask + 1)) && !(r->address & 3);
}

/* Where something conflicts: false, and nothing is told, but of what has been put off. */
static bool reach(struct zs_check_where *at, uint32_t passed, const struct zs_eu_thread *t,
                  const struct reach *r)
{
    const struct zs_port_message_row *row = NULL;
    const struct zs_port_message *m = zs_eu_send_message(r->send, &row);
    bool is_slm = m->space == ZS_PORT_SPACE_SLM, is_lanes = r->how == ZS_EU_REACH_LANES;
    bool is_noted = at->c->reads && (row->is_atomic || !m->bytes_written);
    uint32_t lane_mask = m->lanes ? r->lanes & zs_port_read_lanes(m) : r->lanes, first = r->first;
    struct zs_race_access a;
    if (!lane_mask || !at->c->races || r->send->d.is_ahead)
        return true;
    if (is_slm)
        go_direct(at);
    if (!is_slm && (is_lanes || is_noted)) {
        const uint64_t *all = (const uint64_t *)(uintptr_t)r->address;
        uint32_t lane = (uint32_t)__builtin_ctz(lane_mask);
        if (zs_race_is_own(at->c, is_lanes ? all[lane - first] : r->address))
            return true;
    }
    if (!begin(&a, at, passed, t, r->send, m, r->ce, row->is_atomic, !m->lanes,
               holes_of(m) ? part_B(m) : size_of(m)))
        return true;
    a.is_quick = true;
    a.is_late = r->was_put_off;
    a.knows_same = r->was_put_off && m->bytes_written;
    a.same = r->same;
    enter_space(&a, is_slm);
    const uint64_t *addresses = (const uint64_t *)(uintptr_t)r->address;
    if (is_noted && row->is_atomic && is_dwords(&a, r->how)) {
        zs_race_guess_lanes(&a, addresses, lane_mask, first);
        a.fails |= !zs_race_lanes(&a, addresses, lane_mask, first);
        if (!a.fails)
            zs_race_order_lanes(&a, addresses, lane_mask, first);
    } else if (!is_noted && is_dwords(&a, r->how)) {
        a.fails |= !zs_race_lanes(&a, addresses, lane_mask, first);
    } else if (is_noted && !row->is_atomic && is_row_of_dwords(&a, r)) {
        uint32_t low = (uint32_t)__builtin_ctz(lane_mask);
        zs_race_note_row(&a, r->address + low * 4u, (uint32_t)__builtin_popcount(lane_mask));
        (void)reach_rows(&a, r->how, r->address, lane_mask);
    } else if (is_noted || is_lanes || !reach_rows(&a, r->how, r->address, lane_mask)) {
        reach_lanes(&a, r->how, r->address, lane_mask, first);
    }
    if (a.fails && r->was_put_off) {
        a.is_quick = false;
        reach_lanes(&a, r->how, r->address, lane_mask, first);
    }
    end(&a);
    return !a.fails;
}

/* The page of an address, if it was asked for before. */
static inline struct zs_race_page *find_recent(const struct zs_gpu_checks *c, uint64_t address)
{
    uint64_t number = address / ZS_BETWEEN_PAGE_B, slot = zs_race_slot(number);
    return c->recent[slot].number == number ? c->recent[slot].page : NULL;
}

/* What is read is of a page that nothing more is remembered of. */
static inline bool is_quiet(struct zs_gpu_checks *c, struct zs_race_page *page, uint64_t address,
                            uint64_t size_B)
{
    if (!size_B || !page || address % ZS_BETWEEN_PAGE_B + size_B > ZS_BETWEEN_PAGE_B)
        return false;
    if (!zs_race_is_quiet(page) &&
        ++page->reads >= atomic_load_explicit(&page->reads_until, memory_order_relaxed))
        zs_race_look_at(c, page);
    if (!zs_race_is_quiet(page) || c->reads)
        return false;
    c->reaches.quiet[address / ZS_BETWEEN_PAGE_B % ZS_EU_REACHES_QUIET] =
        address / ZS_BETWEEN_PAGE_B;
    return true;
}

static struct zs_check_site *find_site(struct zs_gpu_checks *c, const struct zs_eu_program *program,
                                       uint32_t op)
{
    const struct zs_port_message_row *row;
    struct zs_check_site *site = &c->sites[op % ZS_ARRAY_LEN(c->sites)];
    if (ZS_LIKELY(site->op == op && site->program == program))
        return site;
    const struct zs_eu_send *send = zs_eu_program_send(program, op);
    const struct zs_port_message *m = zs_eu_send_message(send, &row);
    uint32_t size_B = size_of(m);
    bool is_write = m->bytes_written != 0;
    uint64_t holes = holes_of(m);
    bool is = !row->is_atomic && (is_write || !c->reads) && !(size_B & 3) && size_B < 1024 &&
              !(m->lanes && ~zs_port_read_lanes(m));
    bool has_rows = is && m->element_B == 4 && m->lanes && m->elements <= 8;
    *site = (struct zs_check_site){.program = program,
                                   .send = send,
                                   .op = op,
                                   .dwords = is && !holes ? (uint8_t)(size_B / 4) : 0,
                                   .rows = !has_rows ? 0
                                           : holes   ? (uint8_t)holes
                                                     : (uint8_t)((1u << size_B / 4) - 1),
                                   .is_slm = m->space == ZS_PORT_SPACE_SLM,
                                   .is_whole = send->d.no_mask || !m->lanes,
                                   .is_scalar = send->d.no_mask && send->d.exec_size == 1,
                                   .is_write = is_write};
    return site;
}

/* What begin() does, in short. 0: no memory. */
static uint32_t __attribute__((noinline))
make_record(struct zs_race_access *a, const struct zs_check_site *site)
{
    struct zs_check_where *at = a->at;
    const struct zs_eu_send *send = site->send;
    const struct zs_port_message_row *row;
    uint32_t beside = record_beside(at, send->d.inst, site->is_whole, site->is_write);
    if (ZS_LIKELY(beside))
        return beside;
    struct zs_check_recent *recent = &at->thread->recent[send->d.inst % ZS_CHECK_RECENT];
    if (recent->stamp == at->thread->stamp && recent->inst == send->d.inst && recent->record &&
        recent->epoch == at->thread->epoch && recent->is_whole == site->is_whole &&
        recent->generation == at->c->generation)
        return recent->record;
    const struct zs_port_message *m = zs_eu_send_message(send, &row);
    uint32_t number = add_record(at, send, m, false, site->is_whole, site->is_scalar,
                                 site->dwords * 4u, a->passed);
    *recent = (struct zs_check_recent){.inst = send->d.inst,
                                       .stamp = at->thread->stamp,
                                       .epoch = at->thread->epoch,
                                       .generation = at->c->generation,
                                       .record = number,
                                       .is_slm = site->is_slm,
                                       .is_whole = site->is_whole};
    at->c->lost |= !number;
    return number;
}

static inline uint32_t find_record(struct zs_race_access *a, struct zs_check_site *site)
{
    const struct zs_check_thread *thread = a->at->thread;
    if (site->stamp != thread->stamp || site->epoch != thread->epoch ||
        site->generation != a->at->c->generation || !site->record) {
        site->record = make_record(a, site);
        site->stamp = thread->stamp;
        site->epoch = thread->epoch;
        site->generation = a->at->c->generation;
    }
    return site->record;
}

/* Most of what was put off: dwords of lanes that follow each other, or read the same. false: it is
 * something else, or conflicts. */
static inline bool reach_dwords(struct zs_race_access *a, struct zs_check_site *site,
                                uint32_t lane_mask, uint32_t ce, enum zs_eu_reach how,
                                uint64_t address)
{
    uint32_t low = lane_mask ? (uint32_t)__builtin_ctz(lane_mask) : 0, mask = lane_mask >> low;
    bool is_row = how == ZS_EU_REACH_ROW, is_one = site->is_scalar && !(ce & (ce - 1));
    if (!(is_row ? site->rows : site->dwords) || !mask || address & 3 || is_one ||
        (is_row && mask & (mask + 1)))
        return false;
    if (site->is_slm)
        go_direct(a->at);
    a->number = find_record(a, site);
    if (!a->number)
        return true;
    uint32_t lane = site->send->d.chan_offset + low;
    uint32_t count = is_row ? 32 - (uint32_t)__builtin_clz(mask) : site->dwords;
    address += is_row ? low * 4u : 0;
    a->record = zs_race_record(a->at->c, a->number);
    a->known[0].number = a->known[1].number = 0;
    a->is_slm = site->is_slm;
    a->inst = site->send->d.inst;
    a->fails = false;
    a->chan_offset = site->send->d.chan_offset;
    for (uint32_t rows = is_row ? site->rows : 1; rows; rows &= rows - 1) {
        a->lane = lane;
        zs_race_row(a, address + 4 * (unsigned)__builtin_ctz(rows), count,
                    is_row && !site->is_whole);
    }
    return !a->fails;
}

static inline struct zs_check_site *site_of(struct zs_gpu_checks *c,
                                            const struct zs_eu_program *program, const uint64_t *p)
{
    return find_site(c, program, (uint32_t)p[2] & ((1u << ZS_EU_REACHES_HOW_SHIFT) - 1));
}

static inline uint32_t length_of(const uint64_t *p)
{
    return ZS_EU_REACHES_EACH + (p[2] >> ZS_EU_REACHES_MORE_SHIFT & 31);
}

static inline uint32_t thread_of(const uint64_t *p)
{
    return (uint32_t)(p[2] >> ZS_EU_REACHES_THREAD_SHIFT);
}

/* Lines that nobody has touched become `mine`, which rises by a step. false: not all of them are.
 */
static inline bool fill_lines(uint64_t *line, uint32_t count, uint64_t mine, uint64_t step)
{
    for (const uint64_t *end = line + count; line < end; line++, mine += step) {
        if (*line)
            return false;
        *line = mine;
    }
    return true;
}

static inline uint64_t step_of(const struct zs_check_site *site)
{
    return site->is_whole ? 0 : (uint64_t)LINE_WORDS << (ZS_RACE_LANE_SHIFT + 32);
}

/* ... if their page is to know what was stored. */
static inline void note_lines(struct zs_gpu_checks *c, struct zs_race_page *page, const uint64_t *p,
                              uint32_t count)
{
    uint32_t low = (uint32_t)__builtin_ctz((uint32_t)p[1]);
    if (ZS_UNLIKELY(zs_race_is_shared(page)))
        zs_race_note_stored(c, page, p[0] + low * 4u, count * LINE_WORDS,
                            (uint32_t)(p[1] >> 32) >> low);
}

/* The thread goes on where the one before it ended. */
static inline bool goes_on(const struct zs_check_where *at, struct zs_check_site *site,
                           const uint64_t *p)
{
    uint32_t lines = site->next.lines;
    if (p[0] != site->next.address || p[2] != site->next.what ||
        (uint32_t)p[1] != site->next.lanes || site->next.born != at->of_group->born ||
        !site->next.left || at->thread->epoch)
        return false;
    if (!site->is_write) {
        if (!zs_race_list_next(site->next.page, site->next.line, site->next.step_B / 4))
            return false;
    } else if (!fill_lines(site->next.line, lines, site->next.mine, step_of(site))) {
        return false;
    }
    at->thread->is_unfenced |= site->is_write;
    if (site->is_write) {
        note_lines(at->c, site->next.page, p, lines);
        site->next.line += site->next.step_B / LINE_B;
        site->next.mine += UINT64_C(1) << 32;
    }
    site->next.left--;
    site->next.address += site->next.step_B;
    site->next.what += UINT64_C(1) << ZS_EU_REACHES_THREAD_SHIFT;
    return true;
}

/* A row of a page that is only read, or whole lines to write that nobody has touched. false: it is
 * not that. */
static inline bool begin_lines(struct zs_race_access *a, struct zs_check_site *site,
                               struct zs_race_page *page, const uint64_t *p)
{
    enum zs_eu_reach how = p[2] >> ZS_EU_REACHES_HOW_SHIFT & 3;
    uint32_t lanes = (uint32_t)p[1], low = lanes ? (uint32_t)__builtin_ctz(lanes) : 0;
    uint32_t mask = lanes >> low, size_B = mask ? 4 * (32 - (uint32_t)__builtin_clz(mask)) : 0;
    uint32_t in_B = (uint32_t)(p[0] % ZS_BETWEEN_PAGE_B) + low * 4;
    if (how != ZS_EU_REACH_ROW || zs_race_is_list(page) == site->is_write)
        return false;
    if (site->is_write &&
        ((in_B | size_B) % LINE_B || page->lines[in_B / LINE_B % ZS_BETWEEN_LINES]))
        return false;
    if (site->rows != 1 || !mask || mask & (mask + 1) || in_B + size_B > ZS_BETWEEN_PAGE_B ||
        in_B % 4)
        return false;
    uint32_t number = find_record(a, site), lane = site->send->d.chan_offset + low;
    if (!number)
        return true;
    uint64_t mine = number | (unsigned)ZS_RACE_IS_THERE, *line = &page->lines[in_B / LINE_B];
    if (!site->is_whole)
        mine |= (unsigned)ZS_RACE_RISES | lane << ZS_RACE_LANE_SHIFT;
    mine <<= 32;
    if (!site->is_write)
        line =
            zs_race_list(page, zs_race_read(number, lane, !site->is_whole, in_B / 4, size_B / 4));
    else if (!fill_lines(line, size_B / LINE_B, mine, step_of(site)))
        line = NULL;
    if (!line)
        return false;
    if (site->is_write)
        note_lines(a->at->c, page, p, size_B / LINE_B);
    uint64_t step_B = p[0] + site->next.step_B - site->next.address;
    if (p[2] != site->next.what)
        step_B = site->next.step_B;
    site->next.what = p[2] + (UINT64_C(1) << ZS_EU_REACHES_THREAD_SHIFT);
    site->next.step_B = step_B;
    site->next.address = p[0] + step_B;
    site->next.mine = mine + (UINT64_C(1) << 32);
    site->next.line = line + (site->is_write ? step_B / LINE_B : 0);
    site->next.page = page;
    site->next.lanes = lanes;
    site->next.born = a->at->of_group->born;
    site->next.lines = size_B / LINE_B;
    uint32_t behind_B = ZS_BETWEEN_PAGE_B - in_B - size_B;
    bool is_beside =
        number == record_beside(a->at, site->send->d.inst, site->is_whole, site->is_write);
    site->next.left =
        is_beside && step_B && step_B % (site->is_write ? LINE_B : 4) == 0 && step_B <= behind_B
            ? behind_B / (uint32_t)step_B
            : 0;
    return true;
}

static void __attribute__((noinline))
look_slowly(struct zs_race_access *a, const struct zs_check_site *site, const uint64_t *p)
{
    enum zs_eu_reach how = p[2] >> ZS_EU_REACHES_HOW_SHIFT & 3;
    bool is_lanes = how == ZS_EU_REACH_LANES;
    const struct reach r = {.send = site->send,
                            .lanes = (uint32_t)p[1],
                            .ce = site->is_write ? 0 : (uint32_t)(p[1] >> 32),
                            .first = ((uint32_t)p[2] >> ZS_EU_REACHES_FIRST_SHIFT & 3) * 8,
                            .how = how,
                            .address = is_lanes ? (uintptr_t)(p + ZS_EU_REACHES_EACH) : p[0],
                            .was_put_off = true,
                            .same = (uint32_t)(p[1] >> 32)};
    (void)reach(a->at, a->passed, a->t, &r);
}

/* A message that was put off, of the thread `at`. */
static inline void look_at(struct zs_race_access *a, struct zs_check_site *site, const uint64_t *p)
{
    enum zs_eu_reach how = p[2] >> ZS_EU_REACHES_HOW_SHIFT & 3;
    uint32_t ce = site->is_write ? 0 : (uint32_t)(p[1] >> 32);
    a->same = (uint32_t)(p[1] >> 32);
    if (how == ZS_EU_REACH_LANES || !reach_dwords(a, site, (uint32_t)p[1], ce, how, p[0]))
        look_slowly(a, site, p);
}
/* How a thread was when it put off what follows. */
struct later {
    const struct zs_eu_program *program;
    uint32_t epoch, passed, fences[ZS_CHECK_FENCES];
    uint32_t thread, count; /* of qwords */
};
enum { LATER_QWORDS = sizeof(struct later) / 8, LATER_MAX = 1 << 14 };

static void look_at_all(struct zs_check_where *at, const struct later *later)
{
    struct zs_check_thread *thread = at->thread - at->number + later->thread, now = *thread;
    struct zs_race_access a = {
        .at = at, .is_quick = true, .is_late = true, .passed = later->passed};
    const uint64_t *p = (const uint64_t *)(const void *)(later + 1);
    at->thread = thread;
    at->number = later->thread;
    at->passed = later->passed;
    zs_check_ask_anew(at);
    thread->stamp = ++at->c->stamp;
    thread->epoch = later->epoch;
    thread->signals = later->passed;
    memcpy(thread->fences, later->fences, sizeof(thread->fences));
    for (const uint64_t *end = p + later->count; p < end; p += length_of(p))
        look_at(&a, site_of(at->c, later->program, p), p);
    memcpy(thread, &now, offsetof(struct zs_check_thread, recent));
}

/* Until the next barrier the group's local memory is looked at at once. */
static void __attribute__((noinline)) go_direct_now(struct zs_check_where *at)
{
    struct zs_check_group *of_group = at->of_group;
    const struct zs_check_where now = *at;
    uint32_t count = of_group->later_count;
    of_group->is_direct = true;
    of_group->later_count = 0;
    for (uint32_t i = 0; i < count;) {
        const struct later *later = (const struct later *)(const void *)(of_group->later + i);
        look_at_all(at, later);
        i += LATER_QWORDS + later->count;
    }
    *at = now;
    zs_check_ask_anew(at);
}

static inline void go_direct(struct zs_check_where *at)
{
    if (!at->of_group->is_direct)
        go_direct_now(at);
}

/* Of local memory; where it is kept, behind what the thread is like. NULL: it is not. */
static struct later *begin_later(const struct zs_race_access *a,
                                 const struct zs_eu_program *program, uint32_t most)
{
    struct zs_check_group *of_group = a->at->of_group;
    const struct zs_check_thread *thread = a->at->thread;
    if (of_group->is_direct || of_group->is_loose || a->at->c->logs ||
        thread->signals != a->passed || of_group->later_count + LATER_QWORDS + most > LATER_MAX)
        return NULL;
    if (!of_group->later)
        of_group->later = malloc(LATER_MAX * sizeof(*of_group->later));
    if (!of_group->later)
        return NULL;
    struct later *later = (void *)(of_group->later + of_group->later_count);
    *later = (struct later){.program = program,
                            .epoch = thread->epoch,
                            .passed = a->passed,
                            .fences = {thread->fences[0], thread->fences[1]},
                            .thread = a->at->number};
    of_group->later_count += (uint32_t)LATER_QWORDS;
    return later;
}

/* What is read of local memory is kept for the next barrier, where it may be. */
static inline bool keep_later(struct zs_race_access *a, const struct zs_eu_program *program,
                              struct later **later, const uint64_t *p, const uint64_t *end)
{
    const uint64_t which = UINT64_C(1) << ZS_EU_REACHES_LOCAL_SHIFT;
    if ((p[2] & (which | UINT64_C(1) << ZS_EU_REACHES_WRITE_SHIFT)) != which)
        return false;
    if (!*later)
        *later = begin_later(a, program, (uint32_t)(end - p));
    if (!*later)
        return false;
    uint64_t *to = (uint64_t *)(void *)(*later + 1) + (*later)->count;
    uint32_t length = length_of(p);
    for (uint32_t i = 0; i < length; i++)
        to[i] = p[i];
    a->at->of_group->later_count += length;
    (*later)->count += length;
    return true;
}

void zs_check_reached(struct zs_eu_thread *t)
{
    struct zs_check_where *at = zs_check_where(t);
    struct zs_gpu_checks *c = at->c;
    const uint64_t *p = c->reached, *end = c->reaches.at;
    if (ZS_UNLIKELY(c->storing_count))
        zs_race_settle(c);
    if (p == end)
        return;
    struct zs_race_access a; /* what look_at() needs of it */
    struct later *later = NULL;
    a.at = at;
    a.t = t;
    a.is_quick = a.is_late = true;
    a.passed = passed_by(at, t);
    if (a.passed != at->passed) /* as begin() does */
        zs_check_ask_anew(at);
    at->passed = a.passed;
    c->reaches.at = c->reached;
    c->batch++;
    for (; p < end; p += length_of(p)) {
        if (thread_of(p) != at->number || at->thread->born != at->of_group->born) {
            zs_check_turn(at, thread_of(p));
            later = NULL;
        }
        struct zs_check_site *site = site_of(c, t->program, p);
        if (goes_on(at, site, p) || keep_later(&a, t->program, &later, p, end))
            continue;
        struct zs_race_page *page = find_recent(c, p[0]);
        if (is_quiet(c, page, p[0], p[2] >> ZS_EU_REACHES_SIZE_SHIFT & 0xfff) ||
            (page && !site->is_slm && begin_lines(&a, site, page, p)))
            continue;
        look_at(&a, site, p);
        later = at->of_group->is_direct ? NULL : later;
    }
}

bool zs_check_reach(struct zs_eu_thread *t, const struct zs_eu_send *send, uint32_t lane_mask,
                    enum zs_eu_reach how, uint64_t address, uint32_t first)
{
    struct zs_check_where *at = zs_check_where(t);
    const struct reach r = {.send = send,
                            .lanes = lane_mask,
                            .ce = t->ce,
                            .first = first,
                            .how = how,
                            .address = address};
    zs_check_reached(t);
    zs_check_turn_to(at, t->series.at);
    return reach(at, passed_by(at, t), t, &r);
}
