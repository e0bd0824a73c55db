/* SPDX-License-Identifier: MIT */
/*
 * The helper: rewrites modules for applications, one request after the other. Modules are kept by
 * content, so that the same one costs only its writing the next time, for another buffer.
 *
 * Who asks is the user's own application, but may be wrong or slow: sizes have limits, and a peer
 * that says nothing for a while is left. So may the tool be: SIGALRM ends the process when it works
 * too long, and applications keep their own modules.
 */
#include "instrument/instrument.h"

#include "base/sha256.h"
#include "base/socket.h"
#include "wire/instrument.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { PEER_TIMEOUT_S = 20, KEPT_MAX = 64 };

struct kept {
    struct zs_tool_run run;
    char hash[ZS_SHA256_HEX_CHARS + 1];
    struct zs_buf notes; /* of instrumenting */
    int error;
    char text[256];
    uint64_t used; /* when, in requests */
};

struct server {
    const struct zs_tool_ref *tool;
    struct kept kept[KEPT_MAX];
    uint64_t requests;
};

/* ---- modules that were rewritten ---- */

static void drop(struct kept *k)
{
    zs_tool_fini(&k->run);
    zs_buf_fini(&k->notes);
    *k = (struct kept){0};
}

static void fill(struct kept *k, const struct zs_tool_ref *tool, struct zs_span module,
                 struct zs_span debug, bool narrow_atomics)
{
    struct zs_diag diag = {0};
    k->run = (struct zs_tool_run){
        .tool = tool->tool, .args = tool->args, .narrow_atomics = narrow_atomics};
    k->error = zs_tool_open(&k->run, module, debug, &k->notes, &diag);
    if (k->error)
        snprintf(k->text, sizeof(k->text), "%.250s", diag.text);
}

static struct kept *keep(struct server *s, struct zs_span module, struct zs_span debug,
                         bool narrow_atomics)
{
    char hash[ZS_SHA256_HEX_CHARS + 1];
    struct kept *oldest = &s->kept[0];
    zs_sha256_hex(module, hash);
    for (size_t i = 0; i < KEPT_MAX; i++) {
        if (!strcmp(s->kept[i].hash, hash) && s->kept[i].run.narrow_atomics == narrow_atomics) {
            s->kept[i].used = ++s->requests;
            return &s->kept[i];
        }
        if (s->kept[i].used < oldest->used)
            oldest = &s->kept[i];
    }
    drop(oldest);
    memcpy(oldest->hash, hash, sizeof(hash));
    oldest->used = ++s->requests;
    fill(oldest, s->tool, module, debug, narrow_atomics);
    return oldest;
}

/* ---- one application ---- */

static void put_refusals(const struct kept *k, struct zs_buf *notes)
{
    zs_buf_append(notes, k->notes.data, k->notes.size_B);
    for (uint32_t i = 0; i < zs_edit_kernel_count(k->run.edit); i++) {
        const struct zs_edit_kernel *kernel = zs_edit_kernel(k->run.edit, i);
        if (zs_edit_refusal(kernel))
            zs_tool_put_refusal(notes, kernel, zs_edit_refusal(kernel));
    }
    notes->size_B = ZS_MIN(notes->size_B, (size_t)ZS_INSTRUMENT_TEXT_MAX_B);
}

static void answer_module(int fd, struct kept *k, uint64_t gpu_va)
{
    struct zs_instrument_module head = {0};
    struct zs_diag diag = {0};
    struct zs_buf notes = {0};
    uint8_t *bytes = NULL;
    size_t size_B = 0;
    head.status = zs_edit_write(k->run.edit, gpu_va, &bytes, &size_B, &diag);
    snprintf(head.text, sizeof(head.text), "%.250s", diag.text);
    put_refusals(k, &notes);
    head.size_B = size_B;
    head.notes_B = (uint32_t)notes.size_B;
    if (!zs_socket_send(fd, &head, sizeof(head)) && !zs_socket_send(fd, bytes, size_B))
        zs_socket_send(fd, notes.data, notes.size_B);
    zs_buf_fini(&notes);
    zs_isa_code_free(bytes);
}

static void first_line(const struct zs_buf *notes, char ret_text[static 256])
{
    const char *end = memchr(notes->data, '\n', notes->size_B);
    int size = end ? (int)ZS_MIN(end - (const char *)notes->data, 255) : 0;
    snprintf(ret_text, 256, "%.*s", size, (const char *)notes->data);
}

static void serve_one(struct server *s, int fd)
{
    struct zs_instrument_ask ask;
    struct zs_instrument_answer answer = {0};
    struct zs_instrument_place place;
    if (zs_socket_receive(fd, &ask, sizeof(ask)) || ask.magic != ZS_INSTRUMENT_MAGIC ||
        ask.size_B > ZS_INSTRUMENT_MODULE_MAX_B || ask.debug_B > ZS_INSTRUMENT_MODULE_MAX_B)
        return;
    uint8_t *module = malloc((size_t)(ask.size_B + ask.debug_B) + 1);
    struct kept *k = NULL;
    bool is_there = module && !zs_socket_receive(fd, module, (size_t)(ask.size_B + ask.debug_B));
    alarm(zs_instrument_limit_s());
    if (is_there)
        k = keep(s, zs_span_make(module, (size_t)ask.size_B),
                 zs_span_make(module + ask.size_B, (size_t)ask.debug_B), ask.narrow_atomics);
    free(module);
    if (!k)
        return;
    answer.status = k->error;
    memcpy(answer.hash, k->hash, sizeof(answer.hash));
    snprintf(answer.text, sizeof(answer.text), "%s", k->text);
    if (!k->error) {
        zs_edit_set_trace_size(k->run.edit, (uint32_t)ZS_MIN(ask.trace_B, (uint64_t)UINT32_MAX));
        struct zs_edit_buffer layout = zs_edit_buffer(k->run.edit);
        answer.buffer_B = layout.size_B;
        answer.counter_count = layout.counter_count;
        answer.trace_offset_B = layout.trace_offset_B;
        answer.records_offset_B = layout.records_offset_B;
        answer.records_size_B = layout.records_size_B;
    }
    if (!answer.status && !answer.buffer_B && k->notes.size_B) { /* all that it did was to refuse */
        answer.status = -ENOTSUP;
        first_line(&k->notes, answer.text);
    }
    if (zs_socket_send(fd, &answer, sizeof(answer)) || answer.status)
        return;
    /* a buffer that cannot be used is told, and another one may be offered */
    while (!zs_socket_receive(fd, &place, sizeof(place)))
        answer_module(fd, k, place.gpu_va);
}

int zs_instrument_serve(int listen_fd, const struct zs_tool_ref *tool)
{
    struct server *s = calloc(1, sizeof(*s));
    const struct timeval timeout = {.tv_sec = PEER_TIMEOUT_S};
    int error = s ? 0 : -ENOMEM;
    if (s)
        s->tool = tool;
    while (!error) {
        int fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0) {
            error = errno == EINTR || errno == ECONNABORTED || errno == EMFILE ? 0 : -errno;
            continue;
        }
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
        serve_one(s, fd);
        alarm(0);
        close(fd);
    }
    for (size_t i = 0; s && i < KEPT_MAX; i++)
        drop(&s->kept[i]);
    free(s);
    return error;
}
