/* SPDX-License-Identifier: MIT */
/*
 * Numbers in the text of .ze_info. All else stays as it is, byte for byte: lines are found by what
 * they begin with. Kernels are items of the list `kernels:`; an item goes on until a line that is
 * indented no deeper than its dash.
 */
#include "edit/edit_priv.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

struct line {
    size_t begin_B, end_B; /* without the newline */
    size_t indent;         /* blanks, and the dash of an item */
    bool is_item;
    struct zs_span key, value;
};

static struct zs_span trimmed(const uint8_t *from, const uint8_t *to)
{
    while (from < to && isspace(*from))
        from++;
    while (to > from && isspace(to[-1]))
        to--;
    return zs_span_make(from, (size_t)(to - from));
}

/* The line at *cursor, which moves on; false at the end. */
static bool next_line(const struct zs_buf *text, size_t *cursor, struct line *ret)
{
    if (*cursor >= text->size_B)
        return false;
    const uint8_t *at = text->data + *cursor, *last = text->data + text->size_B;
    const uint8_t *newline = memchr(at, '\n', (size_t)(last - at));
    const uint8_t *end = newline ? newline : last, *key = at;
    *ret = (struct line){.begin_B = *cursor, .end_B = (size_t)(end - text->data)};
    *cursor = ret->end_B + 1;
    while (key < end && *key == ' ')
        key++;
    ret->indent = (size_t)(key - at);
    ret->is_item = key + 1 < end && key[0] == '-' && key[1] == ' ';
    key += ret->is_item ? 2 : 0;
    const uint8_t *colon = memchr(key, ':', (size_t)(end - key));
    ret->key = trimmed(key, colon ? colon : end);
    ret->value = trimmed(colon ? colon + 1 : end, end);
    return true;
}

static bool is_text(struct zs_span span, const char *text)
{
    size_t size_B = strlen(text);
    if (span.size_B == size_B + 2 && (span.data[0] == '\'' || span.data[0] == '"') &&
        span.data[0] == span.data[span.size_B - 1])
        span = zs_span_make(span.data + 1, size_B);
    return span.size_B == size_B && !memcmp(span.data, text, size_B);
}

static int replace(struct zs_buf *text, struct zs_span value, uint64_t number)
{
    struct zs_buf out = {0};
    size_t at_B = (size_t)(value.data - text->data);
    zs_buf_append(&out, text->data, at_B);
    zs_buf_put_u64(&out, number);
    zs_buf_append(&out, value.data + value.size_B, text->size_B - at_B - value.size_B);
    if (out.error) {
        zs_buf_fini(&out);
        return -ENOMEM;
    }
    zs_buf_fini(text);
    *text = out;
    return 0;
}

/* Lines of one kernel, one behind the other. */
struct walk {
    const char *kernel;
    bool in_kernels, in_kernel;
    size_t cursor, dash;
};

/* The next line of the kernel, its first included; false at the end of the text. */
static bool next_of_kernel(const struct zs_buf *text, struct walk *w, struct line *ret)
{
    while (next_line(text, &w->cursor, ret)) {
        if (!ret->key.size_B || ret->key.data[0] == '#')
            continue;
        if (ret->indent == 0 && !ret->is_item) {
            w->in_kernels = is_text(ret->key, "kernels");
            w->in_kernel = false;
            continue;
        }
        if (w->in_kernel && ret->indent <= w->dash)
            w->in_kernel = false;
        if (!w->in_kernel && w->in_kernels && ret->is_item && is_text(ret->key, "name") &&
            is_text(ret->value, w->kernel)) {
            w->in_kernel = true;
            w->dash = ret->indent;
        }
        if (w->in_kernel)
            return true;
    }
    return false;
}

int zs_ze_info_set(struct zs_buf *text, const char *kernel, const char *key, uint64_t value)
{
    struct walk w = {.kernel = kernel};
    struct line line;
    while (next_of_kernel(text, &w, &line))
        if (is_text(line.key, key) && line.value.size_B)
            return replace(text, line.value, value);
    return -EINVAL;
}

static int insert(struct zs_buf *text, size_t at_B, const struct zs_buf *what)
{
    struct zs_buf out = {0};
    zs_buf_append(&out, text->data, at_B);
    zs_buf_append(&out, what->data, what->size_B);
    zs_buf_append(&out, text->data + at_B, text->size_B - at_B);
    if (out.error || what->error) {
        zs_buf_fini(&out);
        return -ENOMEM;
    }
    zs_buf_fini(text);
    *text = out;
    return 0;
}

/* An item of the list behind its key's line, or the key and the item behind the kernel's name. */
static int add_scratch(struct zs_buf *text, const struct line *after, size_t dash, bool has_list,
                       uint64_t size_B)
{
    static const char *const keys[] = {"type: scratch", "usage: single_space"};
    struct zs_buf lines = {0};
    if (after->end_B >= text->size_B)
        return -EINVAL;
    if (!has_list) {
        zs_buf_pad(&lines, ' ', dash + 2);
        zs_buf_puts(&lines, "per_thread_memory_buffers:\n");
    }
    zs_buf_pad(&lines, ' ', dash + 4);
    zs_buf_printf(&lines, "- %s\n", keys[0]);
    zs_buf_pad(&lines, ' ', dash + 6);
    zs_buf_printf(&lines, "%s\n", keys[1]);
    zs_buf_pad(&lines, ' ', dash + 6);
    zs_buf_printf(&lines, "size: %llu\n", (unsigned long long)size_B);
    int error = insert(text, after->end_B + 1, &lines);
    zs_buf_fini(&lines);
    return error;
}

int zs_ze_info_set_scratch(struct zs_buf *text, const char *kernel, uint64_t size_B)
{
    struct walk w = {.kernel = kernel};
    struct line line, first = {0}, list = {0};
    struct zs_span size = {0};
    bool in_list = false, is_scratch = false;
    while (next_of_kernel(text, &w, &line)) {
        if (!first.end_B)
            first = line;
        if (line.indent == w.dash + 2 && !line.is_item) {
            in_list = is_text(line.key, "per_thread_memory_buffers");
            list = in_list ? line : list;
            continue;
        }
        if (line.is_item)
            is_scratch = false;
        is_scratch |= in_list && is_text(line.key, "type") && is_text(line.value, "scratch");
        if (is_scratch && is_text(line.key, "size"))
            size = line.value;
    }
    if (!first.end_B)
        return -EINVAL;
    if (size.size_B)
        return replace(text, size, size_B);
    return add_scratch(text, list.end_B ? &list : &first, w.dash, list.end_B != 0, size_B);
}
