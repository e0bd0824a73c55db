/* SPDX-License-Identifier: MIT */
/* zescope debug: commands that a breakpoint executes when it stops. */
#include "cli/debug/shell.h"

#include "base/text.h"
#include "base/vec.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct zs_shell_list {
    uint32_t breakpoint;
    struct {
        char **items;
        size_t count, capacity;
    } lines;
};

static struct zs_shell_list *find(struct zs_shell *s, uint32_t breakpoint)
{
    for (size_t i = 0; breakpoint && i < s->lists.count; i++)
        if (s->lists.items[i]->breakpoint == breakpoint)
            return s->lists.items[i];
    return NULL;
}

static void clear(struct zs_shell_list *list)
{
    for (size_t i = 0; i < list->lines.count; i++)
        free(list->lines.items[i]);
    list->lines.count = 0;
}

static bool is_word(const char *line, const char *word)
{
    size_t length = strlen(word);
    line += strspn(line, " \t");
    return !strncmp(line, word, length) && !line[length + strspn(line + length, " \t")];
}

/* commands [NUMBER]: the lines that follow, up to `end`. */
void zs_shell_do_commands(struct zs_shell *s, const char *args)
{
    const struct zs_debug_breakpoint *b, *last = NULL;
    uint64_t wanted;
    if (!zs_shell_number(s, args, 0, UINT32_MAX, &wanted))
        return;
    for (size_t i = 0; (b = zs_debug_break_get(s->debug, i)); i++)
        if (!wanted || b->id == wanted)
            last = b;
    if (!last) {
        zs_shell_error(s, wanted ? "there is no breakpoint %" PRIu64 : "there is no breakpoint",
                       wanted);
        return;
    }
    struct zs_shell_list *list = find(s, last->id);
    if (!list) {
        list = calloc(1, sizeof(*list));
        if (!list || !ZS_VEC_PUSH(&s->lists, list)) {
            free(list);
            zs_shell_error(s, "%s", strerror(ENOMEM));
            return;
        }
        list->breakpoint = last->id;
    }
    clear(list);
    s->collecting = list;
    if (s->interactive)
        zs_shell_say(s, "Commands for when breakpoint %u stops, one a line; `end` ends them.\n",
                     last->id);
}

bool zs_shell_collect(struct zs_shell *s, const char *line)
{
    struct zs_shell_list *list = s->collecting;
    if (!list)
        return false;
    char *own = is_word(line, "end") ? NULL : strdup(line);
    if (!own)
        s->collecting = NULL;
    else if (!ZS_VEC_PUSH(&list->lines, own))
        free(own);
    return true;
}

bool zs_shell_is_silent(struct zs_shell *s, uint32_t breakpoint)
{
    const struct zs_shell_list *list = find(s, breakpoint);
    return list && list->lines.count && is_word(list->lines.items[0], "silent");
}

uint32_t zs_shell_list_lines(struct zs_shell *s, uint32_t breakpoint)
{
    const struct zs_shell_list *list = find(s, breakpoint);
    for (size_t i = 0; list && i < list->lines.count; i++) {
        zs_buf_puts(&s->out, "        ");
        zs_text_puts(&s->out, list->lines.items[i]);
        zs_buf_putc(&s->out, '\n');
    }
    return list ? (uint32_t)list->lines.count : 0;
}

/* What the last command has led to may have commands again: those follow when these are through. A
 * command that makes it run ends its list, and so does one that fails. */
void zs_shell_run_lists(struct zs_shell *s)
{
    while (s->stopped_by && !s->quit) {
        const struct zs_shell_list *list = find(s, s->stopped_by);
        uint32_t errors = s->errors;
        s->stopped_by = 0;
        for (size_t i = 0; list && i < list->lines.count && !s->stopped_by && s->errors == errors;
             i++) {
            char *line = strdup(list->lines.items[i]); /* `commands` may change the list */
            uint32_t waits = s->waits_begun;
            if (line && (i || !is_word(line, "silent")))
                zs_shell_execute_one(s, line);
            free(line);
            if (s->waits_begun != waits || s->collecting)
                break;
        }
    }
}

void zs_shell_free_lists(struct zs_shell *s)
{
    for (size_t i = 0; i < s->lists.count; i++) {
        clear(s->lists.items[i]);
        free(s->lists.items[i]->lines.items);
        free(s->lists.items[i]);
    }
    free(s->lists.items);
}
