/* SPDX-License-Identifier: MIT */
/* Debugging: the table of hardware threads, sessions, interrupting and resuming. */
#include "gpu/debug/debug_priv.h"

#include <errno.h>
#include <stdlib.h>

/* ---- making ------------------------------------------------------------------------------------
 */

int zs_gpu_debug_create(struct zs_gpu_debug **ret_debug)
{
    struct zs_gpu_debug *debug = calloc(1, sizeof(*debug));
    if (!debug)
        return -ENOMEM;
    pthread_mutex_init(&debug->lock, NULL);
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&debug->wake, &attr);
    pthread_condattr_destroy(&attr);
    *ret_debug = debug;
    return 0;
}

int zs_gpu_debug_card_add(struct zs_gpu_debug *debug, const struct zs_gpu_model *model,
                          uint32_t slices, struct zs_gpu_debug_card **ret_card)
{
    struct zs_gpu_debug_card *card = calloc(1, sizeof(*card));
    if (!card)
        return -ENOMEM;
    card->debug = debug;
    card->slices = slices;
    card->subslices = model->subslices_per_slice;
    card->eus = model->eus_per_subslice;
    card->threads_per_eu = model->threads_per_eu;
    card->count = slices * card->subslices * card->eus * card->threads_per_eu;
    card->threads = calloc(card->count, sizeof(*card->threads));
    if (!card->threads) {
        free(card);
        return -ENOMEM;
    }
    *ret_card = card;
    return 0;
}

void zs_gpu_device_debug(struct zs_gpu_device *device, struct zs_gpu_debug_card *card,
                         uint32_t first_slice)
{
    device->debug = card;
    device->first_slice = first_slice;
}

/* ---- places ------------------------------------------------------------------------------------
 */

struct zs_gpu_hw_thread zs_gpu_debug_id(const struct zs_gpu_debug_card *card, uint32_t index)
{
    struct zs_gpu_hw_thread id;
    id.thread = index % card->threads_per_eu;
    index /= card->threads_per_eu;
    id.eu = index % card->eus;
    index /= card->eus;
    id.subslice = index % card->subslices;
    id.slice = index / card->subslices;
    return id;
}

/* ids of a session: slices count from its first one. */
static bool matches(const struct zs_gpu_debug_session *s, uint32_t index,
                    const struct zs_gpu_hw_thread *threads)
{
    struct zs_gpu_hw_thread id = zs_gpu_debug_id(s->card, index);
    return id.slice >= s->first_slice && id.slice - s->first_slice < s->slice_count &&
           (threads->slice == UINT32_MAX || threads->slice == id.slice - s->first_slice) &&
           (threads->subslice == UINT32_MAX || threads->subslice == id.subslice) &&
           (threads->eu == UINT32_MAX || threads->eu == id.eu) &&
           (threads->thread == UINT32_MAX || threads->thread == id.thread);
}

static bool is_all(const struct zs_gpu_hw_thread *threads)
{
    return (threads->slice & threads->subslice & threads->eu & threads->thread) == UINT32_MAX;
}

static bool exists(const struct zs_gpu_debug_session *s, const struct zs_gpu_hw_thread *threads)
{
    const struct zs_gpu_debug_card *card = s->card;
    return (threads->slice == UINT32_MAX || threads->slice < s->slice_count) &&
           (threads->subslice == UINT32_MAX || threads->subslice < card->subslices) &&
           (threads->eu == UINT32_MAX || threads->eu < card->eus) &&
           (threads->thread == UINT32_MAX || threads->thread < card->threads_per_eu);
}

struct zs_gpu_debug_session *zs_gpu_debug_session_of(const struct zs_gpu_debug_card *card,
                                                     uint32_t index)
{
    uint32_t slice = zs_gpu_debug_id(card, index).slice;
    struct zs_gpu_debug_session *s = card->sessions;
    while (s && slice - s->first_slice >= s->slice_count)
        s = s->next;
    return s;
}

/* Threads spread over the EUs, as the hardware's dispatcher does it: one thread of each first. */
struct zs_gpu_debug_thread *zs_gpu_debug_place(struct zs_gpu_debug_card *card, uint32_t first_slice,
                                               uint32_t slice_count)
{
    uint32_t per_eu = card->threads_per_eu, eus = card->subslices * card->eus;
    for (uint32_t thread = 0; thread < per_eu; thread++) {
        for (uint32_t eu = first_slice * eus; eu < (first_slice + slice_count) * eus; eu++) {
            struct zs_gpu_debug_thread *place = &card->threads[eu * per_eu + thread];
            if (place->state == ZS_GPU_DEBUG_FREE)
                return place;
        }
    }
    return NULL;
}

int zs_gpu_debug_held(struct zs_gpu_debug_session *session, const struct zs_gpu_hw_thread *id,
                      struct zs_gpu_debug_thread **ret_thread)
{
    struct zs_gpu_debug_card *card = session->card;
    if (!exists(session, id) || id->slice == UINT32_MAX || id->subslice == UINT32_MAX ||
        id->eu == UINT32_MAX || id->thread == UINT32_MAX)
        return -EINVAL;
    uint32_t index =
        (((session->first_slice + id->slice) * card->subslices + id->subslice) * card->eus +
         id->eu) *
            card->threads_per_eu +
        id->thread;
    struct zs_gpu_debug_thread *thread = &card->threads[index];
    if (!zs_gpu_debug_is_stopped(thread))
        return -EAGAIN;
    *ret_thread = thread;
    return 0;
}

int zs_gpu_debug_check_stopped(struct zs_gpu_debug_session *session,
                               const struct zs_gpu_hw_thread *id)
{
    struct zs_gpu_debug_thread *thread;
    pthread_mutex_lock(&session->card->debug->lock);
    int error = zs_gpu_debug_held(session, id, &thread);
    pthread_mutex_unlock(&session->card->debug->lock);
    return error;
}

size_t zs_gpu_debug_held_map(struct zs_gpu_debug_session *session, uint8_t *ret_bits, size_t size_B)
{
    struct zs_gpu_debug_card *card = session->card;
    uint32_t per_slice = card->count / card->slices;
    uint32_t first = session->first_slice * per_slice, count = session->slice_count * per_slice;
    if ((count + 7u) / 8 > size_B)
        return 0;
    memset(ret_bits, 0, (count + 7u) / 8);
    pthread_mutex_lock(&card->debug->lock);
    for (uint32_t i = 0; i < count; i++) {
        if (zs_gpu_debug_is_stopped(&card->threads[first + i]))
            ret_bits[i / 8] |= (uint8_t)(1u << i % 8);
    }
    pthread_mutex_unlock(&card->debug->lock);
    return (count + 7u) / 8;
}

/* ---- events ------------------------------------------------------------------------------------
 */

void zs_gpu_debug_tell(struct zs_gpu_debug_session *session, enum zs_gpu_debug_event_kind kind,
                       uint32_t index)
{
    struct zs_gpu_debug_event event = {.kind = kind,
                                       .thread = zs_gpu_debug_id(session->card, index)};
    event.thread.slice -= session->first_slice;
    session->sink(session->ctx, &event);
}

/* Every worker of the card has looked since then. */
static bool all_looked(const struct zs_gpu_debug_card *card, uint64_t epoch)
{
    if (atomic_load(&card->active) != card->registered)
        return false;
    for (const struct zs_gpu_debug_worker *w = card->workers; w; w = w->next) {
        if (w->epoch < epoch)
            return false;
    }
    return true;
}

static void finish_interrupt(struct zs_gpu_debug_session *s,
                             const struct zs_gpu_debug_interrupt *interrupt)
{
    bool any = false;
    for (uint32_t i = 0; i < s->card->count && !any; i++)
        any = zs_gpu_debug_is_stopped(&s->card->threads[i]) && matches(s, i, &interrupt->threads);
    const struct zs_gpu_debug_event event = {.kind = any ? ZS_GPU_DEBUG_STOPPED
                                                         : ZS_GPU_DEBUG_UNAVAILABLE,
                                             .thread = interrupt->threads};
    if (!any && is_all(&interrupt->threads)) {
        s->halted = false;
        pthread_cond_broadcast(&s->card->debug->wake);
    }
    s->sink(s->ctx, &event);
}

void zs_gpu_debug_settle(struct zs_gpu_debug_card *card)
{
    for (struct zs_gpu_debug_session *s = card->sessions; s; s = s->next) {
        while (s->interrupts && all_looked(card, s->interrupts->epoch)) {
            struct zs_gpu_debug_interrupt *interrupt = s->interrupts;
            s->interrupts = interrupt->next;
            finish_interrupt(s, interrupt);
            free(interrupt);
        }
    }
}

bool zs_gpu_debug_poll(struct zs_gpu_debug_session *session)
{
    pthread_mutex_lock(&session->card->debug->lock);
    zs_gpu_debug_settle(session->card);
    bool pending = session->interrupts != NULL;
    pthread_mutex_unlock(&session->card->debug->lock);
    return pending;
}

/* ---- interrupt and resume ----------------------------------------------------------------------
 */

bool zs_gpu_debug_is_wanted(const struct zs_gpu_debug_card *card, uint32_t index)
{
    for (const struct zs_gpu_debug_session *s = card->sessions; s; s = s->next) {
        for (const struct zs_gpu_debug_interrupt *i = s->interrupts; i; i = i->next) {
            if (matches(s, index, &i->threads))
                return true;
        }
    }
    return false;
}

bool zs_gpu_debug_is_halted(const struct zs_gpu_debug_card *card, uint32_t first_slice,
                            uint32_t slice_count)
{
    for (const struct zs_gpu_debug_session *s = card->sessions; s; s = s->next) {
        if (s->halted && s->first_slice < first_slice + slice_count &&
            first_slice < s->first_slice + s->slice_count)
            return true;
    }
    return false;
}

void zs_gpu_debug_change_epoch(struct zs_gpu_debug *debug)
{
    atomic_fetch_add(&debug->epoch, 1);
    pthread_cond_broadcast(&debug->wake);
}

static bool all_held(const struct zs_gpu_debug_session *s, const struct zs_gpu_hw_thread *threads)
{
    for (uint32_t i = 0; i < s->card->count; i++) {
        if (matches(s, i, threads) && !zs_gpu_debug_is_stopped(&s->card->threads[i]))
            return false;
    }
    return true;
}

static int add_interrupt(struct zs_gpu_debug_session *s, const struct zs_gpu_hw_thread *threads)
{
    struct zs_gpu_debug_interrupt **end = &s->interrupts;
    if (all_held(s, threads))
        return -EALREADY;
    for (; *end; end = &(*end)->next) {
        if (memcmp(&(*end)->threads, threads, sizeof(*threads)) == 0)
            return -EINPROGRESS;
    }
    *end = calloc(1, sizeof(**end));
    if (!*end)
        return -ENOMEM;
    (*end)->threads = *threads;
    s->halted |= is_all(threads);
    zs_gpu_debug_change_epoch(s->card->debug);
    (*end)->epoch = atomic_load(&s->card->debug->epoch);
    return 0;
}

int zs_gpu_debug_interrupt(struct zs_gpu_debug_session *session,
                           const struct zs_gpu_hw_thread *threads)
{
    if (!exists(session, threads))
        return -EINVAL;
    pthread_mutex_lock(&session->card->debug->lock);
    int error = add_interrupt(session, threads);
    pthread_mutex_unlock(&session->card->debug->lock);
    return error;
}

int zs_gpu_debug_resume(struct zs_gpu_debug_session *session,
                        const struct zs_gpu_hw_thread *threads, void (*before)(void *ctx),
                        void *ctx)
{
    struct zs_gpu_debug_card *card = session->card;
    uint32_t resumed = 0, left = 0;
    if (!exists(session, threads))
        return -EINVAL;
    pthread_mutex_lock(&card->debug->lock);
    for (uint32_t i = 0; i < card->count; i++) {
        struct zs_gpu_debug_thread *thread = &card->threads[i];
        if (!zs_gpu_debug_is_stopped(thread) || zs_gpu_debug_session_of(card, i) != session)
            continue;
        if (matches(session, i, threads)) {
            thread->resuming = true;
            resumed++;
        } else {
            left++;
        }
    }
    if (resumed && (left == 0 || is_all(threads)))
        session->halted = false;
    if (resumed && before)
        before(ctx);
    pthread_cond_broadcast(&card->debug->wake);
    pthread_mutex_unlock(&card->debug->lock);
    return resumed ? 0 : -EALREADY;
}

/* ---- sessions ----------------------------------------------------------------------------------
 */

int zs_gpu_debug_attach(struct zs_gpu_debug_card *card, uint32_t first_slice, uint32_t slice_count,
                        zs_gpu_debug_sink *sink, void *ctx,
                        struct zs_gpu_debug_session **ret_session)
{
    struct zs_gpu_debug *debug = card->debug;
    struct zs_gpu_debug_session *s = calloc(1, sizeof(*s));
    int error = s ? 0 : -ENOMEM;
    if (first_slice + slice_count > card->slices || slice_count == 0)
        error = -EINVAL;
    pthread_mutex_lock(&debug->lock);
    for (struct zs_gpu_debug_session *o = card->sessions; o && !error; o = o->next) {
        if (o->first_slice < first_slice + slice_count &&
            first_slice < o->first_slice + o->slice_count)
            error = -EBUSY;
    }
    if (!error) {
        *s = (struct zs_gpu_debug_session){.next = card->sessions,
                                           .card = card,
                                           .first_slice = first_slice,
                                           .slice_count = slice_count,
                                           .sink = sink,
                                           .ctx = ctx};
        card->sessions = s;
        atomic_fetch_add(&card->session_count, 1);
        zs_gpu_debug_change_epoch(debug);
    }
    pthread_mutex_unlock(&debug->lock);
    if (error)
        free(s);
    else
        *ret_session = s;
    return error;
}

void zs_gpu_debug_detach(struct zs_gpu_debug_session *session)
{
    struct zs_gpu_debug_card *card = session->card;
    struct zs_gpu_debug_session **at = &card->sessions;
    pthread_mutex_lock(&card->debug->lock);
    for (uint32_t i = 0; i < card->count; i++) {
        struct zs_gpu_debug_thread *thread = &card->threads[i];
        if (thread->state != ZS_GPU_DEBUG_FREE && zs_gpu_debug_session_of(card, i) == session) {
            thread->cr0_1 = 0;
            thread->step = thread->is_lost = false;
            thread->resuming = thread->state == ZS_GPU_DEBUG_HELD;
        }
    }
    while (*at != session)
        at = &(*at)->next;
    *at = session->next;
    atomic_fetch_sub(&card->session_count, 1);
    if (!card->sessions) {
        zs_gpu_debug_code_clean(card->debug);
        card->mode = ZS_HISTORY_OFF;
        card->watch_count = 0;
        card->stop_launch = card->launches = 0;
    }
    zs_gpu_debug_change_epoch(card->debug);
    pthread_mutex_unlock(&card->debug->lock);
    while (session->interrupts) {
        struct zs_gpu_debug_interrupt *interrupt = session->interrupts;
        session->interrupts = interrupt->next;
        free(interrupt);
    }
    free(session);
}
