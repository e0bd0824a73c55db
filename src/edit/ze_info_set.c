/* SPDX-License-Identifier: MIT */
/*
 * Numbers in the text of .ze_info. All else stays as it is, byte for byte: lines are found by the
 * reader of module/yaml.h. Kernels are items of the list `kernels:`; an item goes on until a line
 * that is indented no deeper than its dash.
 */
#include "edit/edit_priv.h"

#include "module/yaml.h"

#include <errno.h>
#include <string.h>

/* Lines of the text, and whether they are of one kernel. */
struct walk {
    struct zs_yaml y;
    const char *kernel;
    bool in_kernels, in_kernel;
    uint32_t dash, indent; /* columns of its dash and of its keys */
};

static struct walk walk_of(const struct zs_buf *text, const char *kernel)
{
    struct walk w = {.kernel = kernel};
    zs_yaml_init(&w.y, zs_buf_span(text), 0);
    return w;
}

static bool is_item(const struct zs_yaml_line *line)
{
    return line->dash != ZS_YAML_NO_DASH;
}

static bool is_text(struct zs_span value, const char *text)
{
    size_t size_B = strlen(text);
    if (value.size_B == size_B + 2 && (value.data[0] == '\'' || value.data[0] == '"') &&
        value.data[0] == value.data[value.size_B - 1])
        value = zs_span_make(value.data + 1, size_B);
    return value.size_B == size_B && !memcmp(value.data, text, size_B);
}

/* Of the line at hand, once for each: its name's line is the first. */
static bool is_of_kernel(struct walk *w)
{
    const struct zs_yaml_line *line = &w->y.line;
    if (!is_item(line) && line->indent == 0) {
        w->in_kernels = zs_yaml_key_is(line, "kernels");
        w->in_kernel = false;
        return false;
    }
    if ((is_item(line) ? line->dash : line->indent) <= w->dash)
        w->in_kernel = false;
    if (!w->in_kernel && w->in_kernels && is_item(line) && zs_yaml_key_is(line, "name") &&
        is_text(line->value, w->kernel)) {
        w->in_kernel = true;
        w->dash = line->dash;
        w->indent = line->indent;
    }
    return w->in_kernel;
}

/* Something else in the place of `removed_B` bytes. */
static int splice(struct zs_buf *text, size_t at_B, size_t removed_B, const struct zs_buf *what)
{
    struct zs_buf out = {0};
    zs_buf_append(&out, text->data, at_B);
    zs_buf_append(&out, what->data, what->size_B);
    zs_buf_append(&out, text->data + at_B + removed_B, text->size_B - at_B - removed_B);
    if (out.error || what->error) {
        zs_buf_fini(&out);
        return -ENOMEM;
    }
    zs_buf_fini(text);
    *text = out;
    return 0;
}

static int replace(struct zs_buf *text, struct zs_span value, uint64_t number)
{
    struct zs_buf digits = {0};
    zs_buf_put_u64(&digits, number);
    int error = splice(text, (size_t)(value.data - text->data), value.size_B, &digits);
    zs_buf_fini(&digits);
    return error;
}

int zs_ze_info_set(struct zs_buf *text, const char *kernel, const char *key, uint64_t value)
{
    struct walk w = walk_of(text, kernel);
    for (; !w.y.line.end; zs_yaml_next(&w.y))
        if (is_of_kernel(&w) && zs_yaml_key_is(&w.y.line, key) && w.y.line.value.size_B)
            return replace(text, w.y.line.value, value);
    return -EINVAL;
}

/* ---- scratch memory ---- */

/* What a kernel has of a list of buffers. */
struct buffers {
    size_t begin_B;      /* where an item may go: behind the list's line, or the kernel's first */
    bool has_list;       /* there is the line */
    uint32_t dash;       /* the column of its items, or of those that there may be */
    struct zs_span size; /* of the item of scratch memory */
};

static bool find_buffers(const struct zs_buf *text, const char *kernel, struct walk *ret_walk,
                         struct buffers *ret)
{
    struct walk w = walk_of(text, kernel);
    bool in_list = false, is_scratch = false;
    *ret = (struct buffers){0};
    for (; !w.y.line.end; zs_yaml_next(&w.y)) {
        const struct zs_yaml_line *line = &w.y.line;
        if (!is_of_kernel(&w))
            continue;
        if (!ret->begin_B)
            *ret = (struct buffers){.begin_B = w.y.at_B, .dash = w.indent + 2};
        if (line->indent == w.indent && !is_item(line)) {
            in_list = zs_yaml_key_is(line, "per_thread_memory_buffers");
            if (in_list && line->value.size_B)
                return false;
            if (in_list)
                *ret = (struct buffers){w.y.at_B, true, w.indent + 2, ret->size};
            continue;
        }
        if (is_item(line) && in_list)
            ret->dash = line->dash;
        if (is_item(line))
            is_scratch = false;
        is_scratch |= in_list && zs_yaml_key_is(line, "type") && is_text(line->value, "scratch");
        if (is_scratch && zs_yaml_key_is(line, "size"))
            ret->size = line->value;
    }
    *ret_walk = w;
    return ret->begin_B && text->data[ret->begin_B - 1] == '\n';
}

/* An item of the list behind its key's line, or the key and the item behind the kernel's name. */
int zs_ze_info_set_scratch(struct zs_buf *text, const char *kernel, uint64_t size_B)
{
    struct zs_buf lines = {0};
    struct buffers b;
    struct walk w;
    if (!find_buffers(text, kernel, &w, &b))
        return -EINVAL;
    if (b.size.size_B)
        return replace(text, b.size, size_B);
    if (!b.has_list) {
        zs_buf_pad(&lines, ' ', w.indent);
        zs_buf_puts(&lines, "per_thread_memory_buffers:\n");
    }
    zs_buf_pad(&lines, ' ', b.dash);
    zs_buf_puts(&lines, "- type: scratch\n");
    zs_buf_pad(&lines, ' ', b.dash + 2);
    zs_buf_puts(&lines, "usage: single_space\n");
    zs_buf_pad(&lines, ' ', b.dash + 2);
    zs_buf_printf(&lines, "size: %llu\n", (unsigned long long)size_B);
    int error = splice(text, b.begin_B, 0, &lines);
    zs_buf_fini(&lines);
    return error;
}
