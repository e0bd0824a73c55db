/* SPDX-License-Identifier: MIT */
/* zescope debug: values, and how they are written. */
#include "cli/debug/shell.h"

#include "base/number.h"
#include "base/text.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

enum { CHILDREN_SHOWN = 64, PRETTY_DEPTH = 8, COUNT_MAX = 4096 };

bool zs_shell_evaluate(struct zs_shell *s, const char *text, struct zs_debug_value **ret)
{
    struct zs_shell_focus f = zs_shell_focus(s);
    struct zs_diag diag = NEW_DIAG;
    return zs_shell_ok(s, zs_debug_evaluate(s->debug, f.thread, f.lane, f.frame, text, ret, &diag),
                       &diag);
}

bool zs_shell_take_format(struct zs_shell *s, const char **args, const char *letters,
                          struct zs_shell_format *ret)
{
    static const char sizes[] = "bhwg";
    const char *at = *args;
    *ret = (struct zs_shell_format){0};
    if (*at != '/')
        return true;
    at++;
    if (isdigit((unsigned char)*at) && !zs_shell_scan_number(s, &at, COUNT_MAX, &ret->count))
        return false;
    for (; *at && !isspace((unsigned char)*at); at++) {
        const char *size = strchr(sizes, *at);
        if (size && strchr(letters, 'i')) {
            ret->size_B = 1u << (size - sizes);
        } else if (strchr(letters, *at)) {
            ret->letter = *at;
        } else {
            zs_shell_error(s, "no format '%c': there are %s", *at, letters);
            return false;
        }
    }
    while (isspace((unsigned char)*at))
        at++;
    *args = at;
    return true;
}

static void put_float(struct zs_buf *out, double value, uint32_t size_B)
{
    char text[ZS_NUMBER_CHARS];
    zs_number_shortest(text, value, size_B);
    zs_buf_puts(out, text);
}

void zs_shell_put_bits(struct zs_buf *out, uint64_t bits, uint32_t size_B, char letter)
{
    uint32_t width = size_B * 8;
    int64_t number = width < 64 ? (int64_t)(bits << (64 - width)) >> (64 - width) : (int64_t)bits;
    uint32_t low = (uint32_t)bits;
    float f;
    double d;
    memcpy(&f, &low, sizeof(f));
    memcpy(&d, &bits, sizeof(d));
    if (letter == 'd')
        zs_buf_printf(out, "%" PRId64, number);
    else if (letter == 'u')
        zs_buf_printf(out, "%" PRIu64, bits);
    else if (letter == 'o')
        zs_buf_printf(out, "%#" PRIo64, bits);
    else if (letter == 'f' && size_B >= 4)
        put_float(out, size_B == 4 ? (double)f : d, size_B);
    else if (letter == 't')
        for (uint32_t bit = width; bit-- > 0;)
            zs_buf_putc(out, bits >> bit & 1 ? '1' : '0');
    else if (letter == 'c' && bits >= ' ' && bits < 0x7f)
        zs_buf_printf(out, "%" PRId64 " '%c'", number, (char)bits);
    else if (letter == 'c')
        zs_buf_printf(out, "%" PRId64 " '\\%03o'", number, (unsigned)(bits & 0xff));
    else
        zs_buf_printf(out, "0x%" PRIx64, bits);
}

static void put_formatted(struct zs_shell *s, struct zs_debug_value *v, char letter, unsigned depth)
{
    struct zs_debug_value *children[CHILDREN_SHOWN];
    struct zs_diag diag = NEW_DIAG;
    bool is_pointer = v->size_B == 8 && strchr(v->type, '*');
    int count = 0;
    if (v->available && v->child_count && !is_pointer && depth)
        count = zs_debug_children(s->debug, v, 0, children, CHILDREN_SHOWN, &diag);
    if (count > 0) {
        for (int i = 0; i < count; i++) {
            zs_buf_puts(&s->out, i ? ", " : "{");
            put_formatted(s, children[i], letter, depth - 1);
        }
        zs_buf_puts(&s->out, (uint32_t)count < v->child_count ? ", ...}" : "}");
        return;
    }
    uint64_t bits = 0;
    if (!v->available || !v->bytes || v->size_B > 8 || v->child_count > 1 ||
        (letter == 'f' && v->size_B < 4)) {
        zs_text_puts(&s->out, v->text);
        return;
    }
    memcpy(&bits, v->bytes, v->size_B);
    zs_shell_put_bits(&s->out, bits, (uint32_t)v->size_B, letter);
}

/* A structure with a line for each member. False: it is none. */
static bool put_pretty(struct zs_shell *s, struct zs_debug_value *v, uint32_t depth)
{
    struct zs_debug_value *members[CHILDREN_SHOWN];
    int count = 0;
    if (v->available && v->child_count && !strchr(v->type, '*') && depth < PRETTY_DEPTH)
        count = zs_debug_children(s->debug, v, 0, members, CHILDREN_SHOWN, NULL);
    if (count <= 0 || members[0]->name[0] == '[')
        return false;
    zs_buf_puts(&s->out, "{\n");
    for (int i = 0; i < count; i++) {
        zs_shell_say(s, "%*s", (int)(depth + 1) * 2, "");
        zs_text_puts(&s->out, members[i]->name);
        zs_buf_puts(&s->out, " = ");
        if (!put_pretty(s, members[i], depth + 1))
            zs_text_puts(&s->out, members[i]->text);
        zs_buf_puts(&s->out, i + 1 < count ? ",\n" : "\n");
    }
    zs_shell_say(s, "%*s}", (int)depth * 2, "");
    return true;
}

void zs_shell_put_value(struct zs_shell *s, struct zs_debug_value *value,
                        const struct zs_shell_format *format)
{
    if (format && format->letter)
        put_formatted(s, value, format->letter, 4);
    else if (!s->pretty || !put_pretty(s, value, 0))
        zs_text_puts(&s->out, value->text);
}
