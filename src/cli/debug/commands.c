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

static struct zs_shell_list *find(const struct zs_shell *s, uint32_t breakpoint)
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

bool zs_shell_is_word(const char *line, const char *word)
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
    char *own = zs_shell_is_word(line, "end") ? NULL : strdup(line);
    if (!own)
        s->collecting = NULL;
    else if (!ZS_VEC_PUSH(&list->lines, own))
        free(own);
    return true;
}

bool zs_shell_is_silent(struct zs_shell *s, uint32_t breakpoint)
{
    const struct zs_shell_list *list = find(s, breakpoint);
    return list && list->lines.count && zs_shell_is_word(list->lines.items[0], "silent");
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

const char *zs_shell_list_line(const struct zs_shell *s, uint32_t breakpoint, size_t i)
{
    const struct zs_shell_list *list = find(s, breakpoint);
    return list && i < list->lines.count ? list->lines.items[i] : NULL;
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
