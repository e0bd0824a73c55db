/* SPDX-License-Identifier: MIT */
/* zescope debug: the table of commands, with the names and abbreviations of gdb; help. */
#include "cli/debug/shell.h"
#include "cli/debug/pager.h"

#include "base/diag.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- help ---- */

void zs_shell_do_echo(struct zs_shell *s, const char *args)
{
    zs_shell_say(s, "%s\n", args);
}

enum { REPEATS = 1, TERMINAL = 2 };

static const struct zs_shell_command commands[] = {
#define COMMAND(name, short_name, handler, flags, help, more)                                      \
    {name, short_name, zs_shell_do_##handler, flags, help, more},
#define HEADING(text) {text, NULL, NULL, 0, NULL, NULL},
#include "cli/debug/commands.def"
#undef COMMAND
#undef HEADING
};

static bool is(const char *whole, const char *name, size_t length)
{
    return whole && strlen(whole) == length && !strncmp(whole, name, length);
}

static bool begins(const struct zs_shell_command *c, const char *name, size_t length)
{
    return c->run && !strncmp(c->name, name, length);
}

const struct zs_shell_command *zs_shell_find_command(const char *name, size_t length,
                                                     struct zs_buf *ret_several)
{
    const struct zs_shell_command *first = NULL;
    bool several = false;
    for (size_t i = 0; i < ZS_ARRAY_LEN(commands); i++)
        if (commands[i].run &&
            (is(commands[i].name, name, length) || is(commands[i].short_name, name, length)))
            return &commands[i];
    for (size_t i = 0; i < ZS_ARRAY_LEN(commands) && length; i++) {
        if (!begins(&commands[i], name, length))
            continue;
        if (first && strncmp(commands[i].name, first->name, strlen(first->name)) != 0)
            several = true; /* "st" is step, as stepi begins like it */
        first = first ? first : &commands[i];
    }
    for (size_t i = 0; several && ret_several && i < ZS_ARRAY_LEN(commands); i++)
        if (begins(&commands[i], name, length))
            zs_buf_printf(ret_several, "%s%s", ret_several->size_B ? ", " : "", commands[i].name);
    return several ? NULL : first;
}

size_t zs_shell_command_length(const char *line)
{
    return strcspn(line, " \t/");
}

bool zs_shell_is_command(const char *line)
{
    struct zs_buf several = {0};
    line += strspn(line, " \t");
    bool found =
        zs_shell_find_command(line, zs_shell_command_length(line), &several) || several.size_B;
    zs_buf_fini(&several);
    return found;
}

static void no_command(struct zs_shell *s, const char *name, size_t length,
                       const struct zs_buf *several)
{
    if (several->size_B)
        zs_shell_error(s, "'%.*s' may be %.*s", (int)length, name, (int)several->size_B,
                       (const char *)several->data);
    else
        zs_shell_error(s, "no command '%.*s': help shows them all", (int)length, name);
}

static void help_of(struct zs_shell *s, const struct zs_shell_command *c)
{
    zs_shell_say(s, "%-16s %-6s %s\n", c->name, c->short_name ? c->short_name : "", c->help);
}

void zs_shell_do_help(struct zs_shell *s, const char *args)
{
    struct zs_buf several = {0};
    size_t length = strcspn(args, " \t");
    const struct zs_shell_command *about =
        args[0] ? zs_shell_find_command(args, length, &several) : NULL;
    if (about) {
        help_of(s, about);
        zs_shell_say(s, "%s%s", about->more ? "\n" : "", about->more ? about->more : "");
    } else if (args[0]) {
        no_command(s, args, length, &several);
    }
    for (size_t i = 0; !args[0] && i < ZS_ARRAY_LEN(commands); i++) {
        if (commands[i].run && (!s->editor || !(commands[i].flags & TERMINAL)))
            help_of(s, &commands[i]);
        else if (!commands[i].run)
            zs_shell_say(s, "%s%s:\n", i ? "\n" : "", commands[i].name);
    }
    if (!args[0])
        zs_shell_say(s, "\nhelp COMMAND has examples. Abbreviations are gdb's; an empty line does "
                        "the last step again.\n");
    zs_buf_fini(&several);
}

/* ---- lines ---- */

static bool may_run(struct zs_shell *s, const struct zs_shell_command *c)
{
    if (s->editor && c->flags & TERMINAL) {
        zs_shell_error(s, "%s: that is for the editor to do", c->name);
        return false;
    }
    return true;
}

static void execute_one(struct zs_shell *s, const char *line)
{
    struct zs_buf several = {0};
    line += strspn(line, " \t");
    if (!*line && s->interactive && s->last)
        line = s->last;
    if (!*line || *line == '#')
        return;
    size_t length = zs_shell_command_length(line);
    const struct zs_shell_command *command = zs_shell_find_command(line, length, &several);
    const char *args = line + length;
    args += strspn(args, " \t");
    if (!command) {
        no_command(s, line, length, &several);
        zs_buf_fini(&several);
        return;
    }
    zs_buf_fini(&several);
    size_t args_length = strlen(args);
    while (args_length && isspace((unsigned char)args[args_length - 1]))
        args_length--;
    char *kept = command->flags & REPEATS ? strdup(command->run == zs_shell_do_examine ? "x"
                                                   : command->run == zs_shell_do_list  ? "list"
                                                                                       : line)
                                          : NULL;
    char *own = strndup(args, args_length);
    if (own && may_run(s, command))
        command->run(s, own);
    free(own);
    free(s->last);
    s->last = kept;
    zs_shell_flush(s);
}

/* What the last command has led to may have commands again: those follow when these are through. A
 * command that makes it run ends its list, and so does one that fails. */
static void run_lists(struct zs_shell *s)
{
    while (s->stopped_by && !s->quit) {
        uint32_t errors = s->errors, breakpoint = s->stopped_by;
        const char *next;
        s->stopped_by = 0;
        for (size_t i = 0;
             (next = zs_shell_list_line(s, breakpoint, i)) && !s->stopped_by && s->errors == errors;
             i++) {
            char *line = strdup(next); /* `commands` may change the list */
            uint32_t waits = s->waits_begun;
            if (line && (i || !zs_shell_is_word(line, "silent")))
                execute_one(s, line);
            free(line);
            if (s->waits_begun != waits || s->collecting)
                break;
        }
    }
}

void zs_shell_execute(struct zs_shell *s, const char *line)
{
    zs_shell_begin_page(s);
    if (zs_shell_collect(s, line))
        return;
    execute_one(s, line);
    run_lists(s);
}

const struct zs_shell_command *zs_shell_command(const struct zs_shell *s, size_t i)
{
    for (size_t k = 0; k < ZS_ARRAY_LEN(commands); k++)
        if (commands[k].run && (!s->editor || !(commands[k].flags & TERMINAL)) && !i--)
            return &commands[k];
    return NULL;
}

void zs_shell_fini(struct zs_shell *s)
{
    for (uint32_t i = 0; i < s->display_count; i++)
        free(s->displays[i].expression);
    zs_shell_free_lists(s);
    free(s->last);
    free(s->list_file);
    zs_buf_fini(&s->out);
}
