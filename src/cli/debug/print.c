/* SPDX-License-Identifier: MIT */
/* zescope debug: values and memory. */
#include "cli/debug/shell.h"

#include "base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    EXAMINE_MAX = 4096,
    EXAMINED = 8,
    CHILDREN_SHOWN = 64,
    STRING_MAX_B = 200,
    PRETTY_DEPTH = 8
};

/* ---- print ---- */

static const char value_letters[] = "xduotfc";

/* What it assigns is done. NULL after a message. */
static struct zs_debug_value *execute(struct zs_shell *s, const char *expression)
{
    struct zs_shell_focus f = zs_shell_focus(s);
    struct zs_diag diag = NEW_DIAG;
    struct zs_debug_value *v;
    int error = zs_debug_execute(s->debug, f.thread, f.lane, f.frame, expression, &v, &diag);
    return zs_shell_ok(s, error, &diag) ? v : NULL;
}

/* A value that is kept: people who type see its number. */
static void show_kept(struct zs_shell *s, struct zs_debug_value *v,
                      const struct zs_shell_format *format)
{
    uint32_t number = 0;
    if (!v->available && v->in_memory) {
        size_t length = strlen(v->text);
        bool is_why = length > 2 && v->text[0] == '<';
        zs_shell_error(s, "%.*s", (int)(is_why ? length - 2 : length), v->text + is_why);
        return;
    }
    if (v->available && !zs_debug_keep(s->debug, v, &number) && s->interactive)
        zs_shell_say(s, "$%u = ", number);
    zs_shell_put_value(s, v, format);
    zs_buf_putc(&s->out, '\n');
    s->failed |= !v->available;
}

void zs_shell_show_returned(struct zs_shell *s)
{
    struct zs_debug_value *v;
    if (zs_debug_returned(s->debug, &v, NULL) || !v->available)
        return;
    zs_buf_puts(&s->out, "Value returned: ");
    show_kept(s, v, NULL);
}

void zs_shell_do_print(struct zs_shell *s, const char *args)
{
    struct zs_shell_format format;
    struct zs_debug_value *v;
    if (!zs_shell_take_format(s, &args, value_letters, &format))
        return;
    if (!args[0]) {
        zs_shell_error(s, "what is to be printed is missing: print EXPRESSION");
        return;
    }
    const char *at = strstr(args, "@lanes");
    if (at && !at[6]) {
        char *expression = strndup(args, (size_t)(at - args));
        if (expression)
            zs_shell_show_lanes_table(s, expression, &format);
        free(expression);
        return;
    }
    v = execute(s, args);
    if (v)
        show_kept(s, v, &format);
}

void zs_shell_do_whatis(struct zs_shell *s, const char *args)
{
    struct zs_debug_value *v;
    if (!args[0]) {
        zs_shell_error(s, "what is asked about is missing: whatis EXPRESSION");
    } else if (zs_shell_evaluate(s, args, &v)) {
        zs_text_puts(&s->out, v->type[0] ? v->type : "<no type is known>");
        zs_buf_putc(&s->out, '\n');
    }
}

void zs_shell_do_ptype(struct zs_shell *s, const char *args)
{
    struct zs_shell_focus f = zs_shell_focus(s);
    struct zs_diag diag = NEW_DIAG;
    const char *text;
    if (!args[0]) {
        zs_shell_error(s, "what is asked about is missing: ptype EXPRESSION or TYPE");
        return;
    }
    int error = zs_debug_type(s->debug, f.thread, f.lane, f.frame, args, &text, &diag);
    if (zs_shell_ok(s, error, &diag)) {
        for (size_t n; *text; text += n + (text[n] != '\0')) {
            n = strcspn(text, "\n");
            zs_text_put(&s->out, text, n);
            zs_buf_putc(&s->out, '\n');
        }
    }
}

static void set_record(struct zs_shell *s, const char *mode)
{
    static const struct {
        const char *name;
        enum zs_debug_record record;
    } modes[] = {
        {"auto", ZS_DEBUG_RECORD_AUTO}, {"on", ZS_DEBUG_RECORD_ON}, {"off", ZS_DEBUG_RECORD_OFF}};
    struct zs_diag diag = NEW_DIAG;
    for (size_t i = 0; i < ZS_ARRAY_LEN(modes); i++)
        if (!strcmp(mode, modes[i].name)) {
            zs_shell_ok(s, zs_debug_record(s->debug, modes[i].record, &diag), &diag);
            return;
        }
    zs_shell_error(s, "set record on, off or auto");
}

static bool is_on(struct zs_shell *s, const char *name, const char *text, bool *ret)
{
    bool on = !*text || !strcmp(text, "on");
    if (on || !strcmp(text, "off"))
        *ret = on;
    else
        zs_shell_error(s, "set %s on or off", name);
    return on || !strcmp(text, "off");
}

static void set_pretty(struct zs_shell *s, const char *mode)
{
    (void)is_on(s, "print pretty", mode, &s->pretty);
}

static void set_pagination(struct zs_shell *s, const char *mode)
{
    bool on = true;
    if (is_on(s, "pagination", mode, &on))
        s->no_pages = !on;
}

static void set_height(struct zs_shell *s, const char *rows)
{
    uint64_t n;
    if (!zs_shell_number(s, rows, 0, UINT16_MAX, &n))
        return;
    s->page_rows = (uint32_t)n;
    s->no_pages = !n;
}

/* set [var] NAME = EXPRESSION, set record ... */
void zs_shell_do_set(struct zs_shell *s, const char *args)
{
    static const struct {
        const char *name;
        void (*set)(struct zs_shell *s, const char *mode);
    } settings[] = {{"record", set_record},
                    {"print pretty", set_pretty},
                    {"pagination", set_pagination},
                    {"height", set_height}};
    for (size_t i = 0; i < ZS_ARRAY_LEN(settings); i++) {
        size_t n = strlen(settings[i].name);
        const char *rest = args + n;
        rest += !strncmp(args, settings[i].name, n) ? strspn(rest, " ") : 0;
        if (!strncmp(args, settings[i].name, n) && (!args[n] || args[n] == ' ') && *rest != '=') {
            settings[i].set(s, rest);
            return;
        }
    }
    if (!strncmp(args, "variable ", 9))
        args += 9;
    else if (!strncmp(args, "var ", 4))
        args += 4;
    if (strchr(args, '=') || strstr(args, "++") || strstr(args, "--"))
        (void)execute(s, args);
    else
        zs_shell_error(s, "set variable NAME = EXPRESSION; set record on, off or auto; set print "
                          "pretty, pagination, height N");
}

/* ---- display ---- */

static void show_display(struct zs_shell *s, uint32_t i)
{
    struct zs_shell_focus f = zs_shell_focus(s);
    struct zs_debug_value *value;
    struct zs_diag diag = NEW_DIAG;
    const char *expression = s->displays[i].expression;
    zs_shell_say(s, "%u: ", i + 1);
    zs_text_puts(&s->out, expression);
    zs_buf_puts(&s->out, " = ");
    if (zs_debug_evaluate(s->debug, f.thread, f.lane, f.frame, expression, &value, &diag))
        zs_text_puts(&s->out, diag.text);
    else
        zs_shell_put_value(s, value, &s->displays[i].format);
    zs_buf_putc(&s->out, '\n');
}

void zs_shell_show_displays(struct zs_shell *s)
{
    for (uint32_t i = 0; i < s->display_count; i++)
        if (s->displays[i].expression)
            show_display(s, i);
}

void zs_shell_list_displays(struct zs_shell *s)
{
    bool any = false;
    for (uint32_t i = 0; i < s->display_count; i++) {
        if (!s->displays[i].expression)
            continue;
        any = true;
        zs_shell_say(s, "%u: ", i + 1);
        zs_text_puts(&s->out, s->displays[i].expression);
        zs_buf_putc(&s->out, '\n');
    }
    if (!any)
        zs_shell_say(s, "Nothing is displayed: display EXPRESSION adds one.\n");
}

void zs_shell_do_display(struct zs_shell *s, const char *args)
{
    struct zs_shell_format format;
    struct zs_debug_value *v;
    if (!args[0]) {
        if (zs_debug_stopped(s->debug))
            zs_shell_show_displays(s);
        else
            zs_shell_list_displays(s);
        return;
    }
    if (!zs_shell_take_format(s, &args, value_letters, &format))
        return;
    if (s->display_count == ZS_SHELL_DISPLAYS_MAX) {
        zs_shell_error(s, "there are %d displays already", ZS_SHELL_DISPLAYS_MAX);
        return;
    }
    /* where nothing has stopped yet it cannot be known whether it makes sense */
    if (zs_debug_stopped(s->debug) && !zs_shell_evaluate(s, args, &v))
        return;
    s->displays[s->display_count].format = format;
    s->displays[s->display_count++].expression = strdup(args);
    if (zs_debug_stopped(s->debug))
        show_display(s, s->display_count - 1);
    else
        zs_shell_say(s, "%u: shown from the next stop on\n", s->display_count);
}

void zs_shell_do_undisplay(struct zs_shell *s, const char *args)
{
    uint64_t n = 0;
    if (!zs_shell_number(s, args, 0, UINT64_MAX, &n))
        return;
    if (args[0] && (!n || n > s->display_count || !s->displays[n - 1].expression)) {
        zs_shell_error(s, "there is no display %" PRIu64 ": info display shows them", n);
        return;
    }
    for (uint32_t i = 0; i < s->display_count; i++)
        if (!args[0] || i + 1 == n) {
            free(s->displays[i].expression);
            s->displays[i].expression = NULL;
        }
}

/* ---- x ---- */

static bool read_memory(struct zs_shell *s, uint64_t va, void *ret, size_t size_B,
                        struct zs_diag *diag)
{
    return zs_debug_memory_read(s->debug, zs_shell_focus(s).thread, ZS_DEBUG_SPACE_GLOBAL, va, ret,
                                size_B, diag) == 0;
}

static uint64_t examine_text(struct zs_shell *s, uint64_t va)
{
    char text[STRING_MAX_B + 1];
    struct zs_diag diag = NEW_DIAG;
    size_t n = 0;
    while (n < STRING_MAX_B && read_memory(s, va + n, &text[n], 1, &diag) && text[n])
        n++;
    if (!n && diag.text[0]) {
        zs_shell_ok(s, -EFAULT, &diag);
        return 0;
    }
    zs_shell_say(s, "%#" PRIx64 ": \"", va);
    zs_text_put(&s->out, text, n);
    zs_buf_puts(&s->out, n < STRING_MAX_B ? "\"\n" : "\"...\n");
    return n + (n < STRING_MAX_B);
}

/* Numbers in rows of 16 bytes (of bytes 8). How many bytes were shown. */
static uint64_t examine_numbers(struct zs_shell *s, uint64_t va, const struct zs_shell_format *f)
{
    uint32_t in_row = f->size_B == 1 ? 8 : 16 / f->size_B;
    uint64_t shown_B = 0;
    for (uint64_t i = 0; i < f->count; i += in_row) {
        uint8_t bytes[16];
        struct zs_diag diag = NEW_DIAG;
        uint64_t here = ZS_MIN(f->count - i, (uint64_t)in_row);
        if (!read_memory(s, va + shown_B, bytes, here * f->size_B, &diag)) {
            zs_shell_ok(s, -EFAULT, &diag);
            break;
        }
        zs_shell_say(s, "%#" PRIx64 ":", va + shown_B);
        for (uint64_t w = 0; w < here; w++) {
            uint64_t bits = 0;
            memcpy(&bits, bytes + w * f->size_B, f->size_B);
            zs_buf_putc(&s->out, ' ');
            if (f->letter == 'x' || f->letter == 'a')
                zs_shell_say(s, "0x%0*" PRIx64, (int)f->size_B * 2, bits);
            else
                zs_shell_put_bits(&s->out, bits, f->size_B, f->letter);
        }
        zs_buf_putc(&s->out, '\n');
        shown_B += here * f->size_B;
    }
    return shown_B;
}

/* What is not said is as the last time; floats have no bytes. */
static void complete_format(const struct zs_shell *s, const char *args, struct zs_shell_format *f)
{
    const struct zs_shell_format *last = &s->examined.format;
    bool known = s->examined.known;
    if (!f->count)
        f->count = !f->letter && !f->size_B && !args[0] && known ? last->count
                   : f->letter == 'i' || f->letter == 's'        ? 1
                                                                 : EXAMINED;
    if (!f->letter)
        f->letter = known ? last->letter : 'x';
    if (!f->size_B)
        f->size_B = f->letter == 'a' ? 8 : f->letter == 'c' ? 1 : known ? last->size_B : 4;
    if (f->letter == 'f' && f->size_B < 4)
        f->size_B = 4;
}

/* x[/COUNT FORMAT SIZE] [ADDRESS] */
void zs_shell_do_examine(struct zs_shell *s, const char *args)
{
    struct zs_shell_format f;
    struct zs_debug_value *v;
    uint64_t va = s->examined.next_va, shown_B = 0;
    if (!zs_shell_take_format(s, &args, "xduotfcais", &f) || !zs_shell_needs_stop(s))
        return;
    if (!args[0] && !s->examined.known) {
        zs_shell_error(s, "an address is needed: x ADDRESS, x/4f POINTER, x/8i $ip");
        return;
    }
    if (args[0]) {
        if (!zs_shell_evaluate(s, args, &v))
            return;
        bool is_float =
            !strchr(v->type, '*') && (strstr(v->type, "float") || strstr(v->type, "double"));
        bool is_array = v->in_memory && strchr(v->type, '['); /* its address */
        if (!is_array && (!v->available || v->size_B > 8 || !v->bytes || is_float)) {
            zs_shell_error(s, "'%s' is no address%s%s", args, v->available ? "" : ": ",
                           v->available ? "" : v->text);
            return;
        }
        va = is_array ? v->gpu_va : 0;
        if (!is_array)
            memcpy(&va, v->bytes, v->size_B);
    }
    complete_format(s, args, &f);
    if (f.letter == 'i') {
        shown_B = zs_shell_show_code(s, va, 0, (uint32_t)f.count) - va;
    } else if (f.letter == 's') {
        for (uint64_t i = 0, n; i < f.count && (n = examine_text(s, va + shown_B)); i++)
            shown_B += n;
    } else {
        shown_B = examine_numbers(s, va, &f);
    }
    s->examined.known = true;
    s->examined.format = f;
    s->examined.next_va = va + shown_B;
}
