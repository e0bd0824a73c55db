/* SPDX-License-Identifier: MIT */
/*
 * Messages in and out. A message is a header, "Content-Length: N" and perhaps others, an empty
 * line, and N bytes of JSON. Requests are answered in the order in which they came, but for
 * `cancel`, which looks at those that wait.
 */
#include "dap/dap_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

enum { HEADER_MAX_B = 4096 };

/* ---- out ---- */

static void send_message(struct zs_dap *dap, struct zs_buf *message)
{
    struct zs_buf out = {0};
    zs_buf_printf(&out, "Content-Length: %zu\r\n\r\n", message->size_B);
    zs_buf_append(&out, message->data, message->size_B);
    if (message->error || out.error || dap->options.write(dap->options.user, out.data, out.size_B))
        dap->ended = true;
    zs_buf_fini(&out);
    zs_buf_fini(message);
}

static struct zs_json begin_message(struct zs_dap *dap, struct zs_buf *buf, const char *type)
{
    *buf = (struct zs_buf){0};
    struct zs_json json = zs_json_make(buf, 0);
    zs_json_object(&json, NULL);
    zs_json_u64(&json, "seq", ++dap->sequence);
    zs_json_string(&json, "type", type);
    return json;
}

struct zs_json dap_event_begin(struct zs_dap *dap, struct zs_buf *buf, const char *name)
{
    struct zs_json json = begin_message(dap, buf, "event");
    zs_json_string(&json, "event", name);
    zs_json_object(&json, "body");
    return json;
}

void dap_event_end(struct zs_dap *dap, struct zs_json *json)
{
    zs_json_end(json);
    zs_json_end(json);
    send_message(dap, json->out);
}

void dap_say(struct zs_dap *dap, const char *category, const char *format, ...)
{
    struct zs_buf text = {0}, buf;
    va_list args;
    va_start(args, format);
    zs_buf_vprintf(&text, format, args);
    va_end(args);
    zs_buf_putc(&text, '\n');
    struct zs_json json = dap_event_begin(dap, &buf, "output");
    zs_json_string(&json, "category", category);
    zs_json_string_n(&json, "output", (const char *)text.data, text.error ? 0 : text.size_B);
    dap_event_end(dap, &json);
    zs_buf_fini(&text);
}

void dap_answer(struct zs_dap *dap, const json_t *request, const char *error_word,
                const struct zs_diag *diag, const struct zs_buf *body)
{
    struct zs_buf buf;
    struct zs_json json = begin_message(dap, &buf, "response");
    const char *command = dap_text(request, "command");
    zs_json_i64(&json, "request_seq", dap_int(request, "seq", 0));
    zs_json_string(&json, "command", command ? command : "");
    zs_json_bool(&json, "success", !diag);
    if (diag) {
        zs_json_string(&json, "message", error_word ? error_word : diag->text);
        zs_json_object(&json, "body");
        zs_json_object(&json, "error");
        zs_json_i64(&json, "id", -(int64_t)diag->error);
        zs_json_string(&json, "format", "{text}");
        zs_json_object(&json, "variables");
        zs_json_string(&json, "text", diag->text);
        zs_json_end(&json);
        zs_json_bool(&json, "showUser", !error_word);
        zs_json_end(&json);
        zs_json_end(&json);
    }
    if (body) {
        zs_buf_puts(&buf, ",\"body\":");
        zs_buf_append(&buf, body->data, body->size_B);
    }
    zs_json_end(&json);
    send_message(dap, &buf);
}

void dap_answer_later(struct zs_dap *dap, json_t *request, const struct zs_diag *diag)
{
    dap_answer(dap, request, NULL, diag, NULL);
    json_decref(request);
}

/* ---- arguments ---- */

const char *dap_text(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

int64_t dap_int(const json_t *object, const char *key, int64_t otherwise)
{
    const json_t *value = json_object_get(object, key);
    return json_is_integer(value) ? json_integer_value(value) : otherwise;
}

bool dap_flag(const json_t *object, const char *key, bool otherwise)
{
    const json_t *value = json_object_get(object, key);
    return json_is_boolean(value) ? json_is_true(value) : otherwise;
}

bool dap_parse_address(const char *text, uint64_t *ret_va)
{
    *ret_va = 0;
    if (!text || text[0] < '0' || text[0] > '9')
        return false;
    char *end;
    errno = 0;
    *ret_va = strtoull(text, &end, text[1] == 'x' ? 16 : 10);
    return !*end && !errno;
}

void dap_put_address(struct zs_json *json, const char *key, uint64_t gpu_va)
{
    char text[24];
    snprintf(text, sizeof(text), "0x%" PRIx64, gpu_va);
    zs_json_string(json, key, text);
}

char *dap_print(struct zs_diag *diag, const char *format, ...)
{
    struct zs_buf text = {0};
    va_list args;
    va_start(args, format);
    zs_buf_vprintf(&text, format, args);
    va_end(args);
    char *location = text.error ? NULL : strdup(zs_buf_cstr(&text));
    zs_buf_fini(&text);
    if (!location)
        zs_diag_set(diag, -ENOMEM, ZS_DIAG_NO_OFFSET, "out of memory");
    return location;
}

/* ---- in ---- */

static void lose(struct zs_dap *dap, const char *why)
{
    dap_say(dap, "important", "%s: the session ends", why);
    dap->ended = true;
}

static bool read_length(const char *text, const char *end, uint64_t *ret_length)
{
    uint64_t length = 0;
    while (text < end && *text == ' ')
        text++;
    const char *first = text;
    for (; text < end && *text >= '0' && *text <= '9' && text - first < 18; text++)
        length = length * 10 + (uint64_t)(*text - '0');
    while (text > first && text < end && *text == ' ')
        text++;
    *ret_length = length;
    return text > first && text == end;
}

/* The length that a header gives; false after a message. */
static bool parse_header(struct zs_dap *dap, const char *header, size_t size_B,
                         uint64_t *ret_length)
{
    static const char name[] = "Content-Length:";
    bool found = false;
    for (const char *line = header, *end; line < header + size_B; line = end + 2) {
        end = memmem(line, (size_t)(header + size_B - line), "\r\n", 2);
        if (!end)
            end = header + size_B;
        if ((size_t)(end - line) < sizeof(name) - 1 || strncasecmp(line, name, sizeof(name) - 1))
            continue;
        uint64_t length = 0;
        if (!read_length(line + sizeof(name) - 1, end, &length) ||
            (found && length != *ret_length)) {
            lose(dap, "a header's Content-Length is no number");
            return false;
        }
        *ret_length = length;
        found = true;
    }
    if (!found)
        lose(dap, "a header has no Content-Length");
    else if (*ret_length > ZS_DAP_MESSAGE_MAX_B)
        lose(dap, "a message is larger than 16 MiB");
    return found && *ret_length <= ZS_DAP_MESSAGE_MAX_B;
}

static void refuse_message(struct zs_dap *dap, json_t *json, const char *why)
{
    struct zs_diag diag = {.error = -EBADMSG};
    snprintf(diag.text, sizeof(diag.text), "%s", why);
    dap_answer(dap, json, NULL, &diag, NULL);
}

static void cancel_queued(struct zs_dap *dap, const json_t *cancel)
{
    int64_t id = dap_int(json_object_get(cancel, "arguments"), "requestId", 0);
    for (size_t i = 0; i < dap->queue.count; i++) {
        if (dap_int(dap->queue.items[i].json, "seq", 0) == id)
            dap->queue.items[i].cancelled = true;
    }
    if (dap->current && dap_int(dap->current, "seq", 0) == id)
        dap->current_cancelled = true;
}

static void take_message(struct zs_dap *dap, const char *text, size_t size_B)
{
    json_error_t error;
    json_t *json = json_loadb(text, size_B, 0, &error);
    const char *type = dap_text(json, "type"), *command = dap_text(json, "command");
    if (!json) {
        char why[sizeof(error.text) + 64];
        snprintf(why, sizeof(why), "the message is no JSON: at byte %d: %s", error.position,
                 error.text);
        refuse_message(dap, NULL, why);
        return;
    }
    if (type && !strcmp(type, "response")) {
        json_decref(json); /* nothing was asked of the client */
        return;
    }
    if (!type || strcmp(type, "request") != 0 || !command ||
        !json_is_integer(json_object_get(json, "seq"))) {
        refuse_message(dap, json, "the message is no request with a number and a command");
        json_decref(json);
        return;
    }
    if (!strcmp(command, "cancel"))
        cancel_queued(dap, json);
    if (!ZS_VEC_PUSH(&dap->queue, ((struct request){.json = json}))) {
        json_decref(json);
        dap->ended = true;
    }
}

void zs_dap_feed(struct zs_dap *dap, const void *data, size_t size_B)
{
    zs_buf_append(&dap->in, data, size_B);
    size_t at = 0;
    while (!dap->ended && !dap->in.error) {
        const char *text = (const char *)dap->in.data + at;
        size_t left = dap->in.size_B - at;
        const char *end = left ? memmem(text, left, "\r\n\r\n", 4) : NULL;
        uint64_t length = 0;
        if (end ? end - text > HEADER_MAX_B : left > HEADER_MAX_B) {
            lose(dap, "a header is longer than 4096 bytes");
            break;
        }
        if (!end || !parse_header(dap, text, (size_t)(end - text), &length))
            break;
        size_t header_B = (size_t)(end - text) + 4;
        if (left - header_B < length)
            break;
        take_message(dap, text + header_B, (size_t)length);
        at += header_B + (size_t)length;
    }
    dap->ended |= dap->in.error != 0;
    if (at) {
        memmove(dap->in.data, dap->in.data + at, dap->in.size_B - at);
        dap->in.size_B -= at;
    }
}

bool zs_dap_full(const struct zs_dap *dap)
{
    return dap->queue.count >= ZS_DAP_QUEUE_MAX;
}

bool dap_cancelled(struct zs_dap *dap)
{
    if (dap->options.poll && !dap->ended && !zs_dap_full(dap))
        dap->options.poll(dap->options.user);
    return dap->current_cancelled;
}
