/* SPDX-License-Identifier: MIT */
/* The exchange with the helper (wire/instrument.h). */
#include "collect/instrument.h"

#include "base/socket.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

enum { BUFFER_TRIES = 4 };

/* ---- the helper ---- */

static int connect_helper(const struct zs_collector *c)
{
    const char *path = c->instrument_socket;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const struct timeval timeout = {.tv_sec = c->instrument_limit_s};
    size_t length = strlen(path);
    if (length >= sizeof(address.sun_path))
        return -ENAMETOOLONG;
    memcpy(address.sun_path, path, length + 1);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
    if (!connect(fd, (const struct sockaddr *)&address, sizeof(address)))
        return fd;
    int error = -errno;
    close(fd);
    return error;
}

/* Waiting once is long enough for an application, however many modules it has. */
static const char *why_helper_fails(struct zs_collector *c, int error, char *text, size_t text_B)
{
    bool timed_out = error == -EAGAIN || error == -EWOULDBLOCK || error == -EINPROGRESS;
    if (timed_out) {
        atomic_store(&c->instrument_is_over, true);
        snprintf(text, text_B,
                 "the tool's process did not answer within %u s; it is not asked again",
                 c->instrument_limit_s);
    } else if (error == -ECONNRESET || error == -EPIPE || error == -ECONNREFUSED) {
        snprintf(text, text_B, "the tool's process ended: the tool crashed, or took too long");
    } else if (error == -EPROTO) {
        snprintf(text, text_B, "what the tool's process answered makes no sense");
    } else {
        snprintf(text, text_B, "%s", strerror(-error));
    }
    return text;
}

/* ---- one module on its way ---- */

struct exchange {
    struct zs_collector *c;
    const struct zs_instrument_request *request;
    int fd;
    uint64_t trace_B;   /* room for records that is asked for, and was taken */
    uint64_t no_room_B; /* so large a buffer could not be had; 0: not tried */
    struct zs_instrument_answer answer;
    void *memory; /* the buffer */
    struct zs_instrument_module head;
    uint8_t *module;
    char *notes;
};

/* What the helper says went wrong. */
static int status_of(int32_t status)
{
    enum { ERRNO_MAX = 4095 };
    return status <= 0 && status >= -ERRNO_MAX ? status : -EPROTO;
}

static int ask(struct exchange *x)
{
    const struct zs_instrument_request *r = x->request;
    struct zs_instrument_ask ask = {
        .magic = ZS_INSTRUMENT_MAGIC, .narrow_atomics = r->narrow_atomics, .trace_B = x->trace_B};
    size_t size_B = 0, debug_B = 0;
    uint8_t *bytes = r->ops->bytes(r->ctx, false, &size_B);
    if (!bytes)
        return -ENODATA;
    uint8_t *debug = r->ops->bytes(r->ctx, true, &debug_B);
    ask.size_B = size_B;
    ask.debug_B = debug ? debug_B : 0;
    int error = zs_socket_send(x->fd, &ask, sizeof(ask));
    if (!error)
        error = zs_socket_send(x->fd, bytes, size_B);
    if (!error && debug)
        error = zs_socket_send(x->fd, debug, debug_B);
    free(bytes);
    free(debug);
    return error ? error : zs_socket_receive(x->fd, &x->answer, sizeof(x->answer));
}

static bool is_zero(const uint8_t *at, size_t size_B)
{
    return !at[0] && !memcmp(at, at + 1, size_B - 1);
}

/* Drivers' new memory mostly is zeros that nobody touched, and only to look leaves it so: a page
 * that is written costs more, and a trace is large. */
static void clear(uint8_t *at, size_t size_B)
{
    enum { PAGE_B = 4096 };
#ifdef MADV_POPULATE_READ
    /* page by page, as below without these, it takes ten times as long; not all memory has large
     * ones, or may be asked for */
    madvise(at, size_B, MADV_HUGEPAGE);
    madvise(at, size_B, MADV_POPULATE_READ);
#endif
    for (uint8_t *end = at + size_B; at < end; at += PAGE_B) {
        size_t part_B = ZS_MIN((size_t)(end - at), (size_t)PAGE_B);
        if (!is_zero(at, part_B))
            memset(at, 0, part_B);
    }
}

static void *allocate(const struct exchange *x)
{
    size_t size_B = (size_t)x->answer.buffer_B;
    void *memory = x->request->ops->allocate(x->request->ctx, size_B);
    if (memory)
        clear(memory, size_B);
    return memory;
}

/* Offer a buffer until the helper can use it: one may cross a border of 4 GiB. */
static int offer(struct exchange *x)
{
    void *unused[BUFFER_TRIES];
    int count = 0, error = -ERANGE;
    while (error == -ERANGE && count < BUFFER_TRIES) {
        struct zs_instrument_place place;
        x->memory = allocate(x);
        if (!x->memory) {
            x->no_room_B = x->answer.buffer_B;
            error = -ENOMEM;
            break;
        }
        place.gpu_va = (uint64_t)(uintptr_t)x->memory;
        error = zs_socket_send(x->fd, &place, sizeof(place));
        if (!error)
            error = zs_socket_receive(x->fd, &x->head, sizeof(x->head));
        if (!error)
            error = status_of(x->head.status);
        if (error) {
            unused[count++] = x->memory;
            x->memory = NULL;
        }
    }
    for (int i = 0; i < count; i++)
        x->request->ops->release(x->request->ctx, unused[i]);
    return error;
}

static int receive_module(struct exchange *x)
{
    if (x->head.size_B > ZS_INSTRUMENT_MODULE_MAX_B || x->head.notes_B > ZS_INSTRUMENT_TEXT_MAX_B)
        return -EPROTO;
    x->module = malloc((size_t)x->head.size_B + 1);
    x->notes = calloc(1, x->head.notes_B + 1u);
    if (!x->module || !x->notes)
        return -ENOMEM;
    int error = zs_socket_receive(x->fd, x->module, (size_t)x->head.size_B);
    return error ? error : zs_socket_receive(x->fd, x->notes, x->head.notes_B);
}

static void tell_notes(const struct exchange *x)
{
    char *rest = x->notes;
    for (char *line; rest && (line = strsep(&rest, "\n"));)
        if (*line)
            zs_session_note(x->c, "module %u: %s", x->request->build, line);
}

/* Without an error, answer.buffer_B 0: there is nothing to be found out in it. */
static int agree(struct exchange *x, const char **ret_why)
{
    int error = ask(x);
    if (!error && x->answer.status) {
        error = status_of(x->answer.status);
        *ret_why = error == -EPROTO ? NULL : x->answer.text;
    }
    if (error || !x->answer.buffer_B)
        return error;
    if (!zs_instrument_fits(&x->answer))
        return -EPROTO;
    if (x->no_room_B && x->answer.buffer_B >= x->no_room_B)
        return -ENOMEM;
    return offer(x);
}

/* There was no memory for so much room: then the least, for later modules, too, unless the user
 * gave the size. */
static int agree_on_less(struct exchange *x, const char **ret_why)
{
    struct zs_collector *c = x->c;
    unsigned long long records_B = x->answer.records_size_B;
    uint64_t none_B = 0;
    atomic_compare_exchange_strong(&c->instrument_trace_B, &none_B, ZS_INSTRUMENT_ROOM_LEAST_B);
    zs_instrument_give_room(c, x->trace_B - ZS_INSTRUMENT_ROOM_LEAST_B);
    x->trace_B = ZS_INSTRUMENT_ROOM_LEAST_B;
    x->answer = (struct zs_instrument_answer){0};
    x->head = (struct zs_instrument_module){0};
    close(x->fd); /* the helper listens to one at a time */
    x->fd = connect_helper(c);
    int error = x->fd < 0 ? x->fd : agree(x, ret_why);
    if (!error)
        zs_session_note(c, "module %u: no memory for %llu bytes of records: it has room for %llu",
                        x->request->build, records_B, (unsigned long long)x->answer.records_size_B);
    return error;
}

static void *exchange(struct exchange *x)
{
    const struct zs_instrument_request *r = x->request;
    const char *why = NULL;
    char text[160];
    int error = agree(x, &why);
    if (error && x->no_room_B && x->trace_B > ZS_INSTRUMENT_ROOM_LEAST_B)
        error = agree_on_less(x, &why);
    if (!error && !x->answer.buffer_B)
        return NULL;
    if (error && error != -EPROTO && x->head.text[0])
        why = x->head.text;
    if (!error)
        error = receive_module(x);
    if (error) {
        zs_session_note(x->c, "module %u is not instrumented: %.250s", r->build,
                        why && why[0] ? why : why_helper_fails(x->c, error, text, sizeof(text)));
        return NULL;
    }
    tell_notes(x);
    void *instrumented = r->ops->build(r->ctx, zs_span_make(x->module, (size_t)x->head.size_B));
    if (!instrumented)
        return NULL;
    const struct zs_instrument_place_of place = {r->context, instrumented, x->memory,
                                                 r->sharing, x->trace_B,   r->build};
    if (zs_instrument_keep(x->c, &place, &x->answer))
        return instrumented;
    r->ops->drop(r->ctx, instrumented);
    return NULL;
}

void *zs_instrument_exchange(struct zs_collector *c, const struct zs_instrument_request *request)
{
    struct exchange x = {.c = c, .request = request};
    if (atomic_load(&c->instrument_is_over))
        return NULL; /* a note says so */
    x.trace_B = zs_instrument_take_room_B(c, request->memory_part_B);
    x.fd = connect_helper(c);
    if (x.fd < 0) {
        char text[160];
        zs_session_note(c, "module %u is not instrumented: %s", request->build,
                        why_helper_fails(c, x.fd, text, sizeof(text)));
        zs_instrument_give_room(c, x.trace_B);
        return NULL;
    }
    void *instrumented = exchange(&x);
    if (x.fd >= 0)
        close(x.fd);
    if (!instrumented)
        zs_instrument_give_room(c, x.trace_B);
    if (!instrumented && x.memory)
        request->ops->release(request->ctx, x.memory);
    free(x.module);
    free(x.notes);
    return instrumented;
}
