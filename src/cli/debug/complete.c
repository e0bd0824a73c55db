/* SPDX-License-Identifier: MIT */
/* zescope debug: what the word at the end of a line may become. */
#include "cli/debug/shell.h"

#include "base/path.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COMPLETED_MAX = 1024, MEMBERS_MAX = 128 };

typedef void put_word(void *user, const char *word);

static void put_if(const char *candidate, const char *word, size_t length, put_word *put,
                   void *user)
{
    if (candidate && !strncmp(candidate, word, length))
        put(user, candidate);
}

static void complete_location(struct zs_shell *s, const char *word, size_t length, put_word *put,
                              void *user)
{
    static const char *const others[] = {"barrier", "divergence"};
    struct zs_debug_function *functions = calloc(COMPLETED_MAX, sizeof(*functions));
    const char *paths[64];
    int count = functions ? zs_debug_functions(s->debug, functions, COMPLETED_MAX) : 0;
    for (int i = 0; i < count && i < COMPLETED_MAX; i++)
        put_if(functions[i].name, word, length, put, user);
    free(functions);
    count = zs_debug_sources(s->debug, paths, ZS_ARRAY_LEN(paths));
    for (int i = 0; i < count && i < (int)ZS_ARRAY_LEN(paths); i++) {
        char text[4096];
        snprintf(text, sizeof(text), "%s:", zs_path_base_name(paths[i]));
        put_if(text, word, length, put, user);
    }
    for (size_t i = 0; i < ZS_ARRAY_LEN(others); i++)
        put_if(others[i], word, length, put, user);
}

static void complete_variable(struct zs_shell *s, const char *word, size_t length, put_word *put,
                              void *user)
{
    static const char *const others[] = {"$lane",   "$thread", "$ip",   "$gid0", "$gid1",
                                         "$gid2",   "$lid0",   "$lid1", "$lid2", "$group0",
                                         "$group1", "$group2", "@lanes"};
    struct zs_shell_focus f = zs_shell_focus(s);
    struct zs_debug_value **values;
    uint32_t count;
    if (zs_debug_variables(s->debug, f.thread, f.lane, f.frame, &values, &count, NULL))
        count = 0;
    for (uint32_t i = 0; i < count; i++)
        put_if(values[i]->name, word, length, put, user);
    for (size_t i = 0; length && i < ZS_ARRAY_LEN(others); i++)
        put_if(others[i], word, length, put, user);
}

/* Where the expression begins whose member is named at `end`: "a[i]." and "p->q.". */
static size_t expression_begin(const char *line, size_t first, size_t end)
{
    size_t at = end;
    while (at > first) {
        char c = line[at - 1];
        uint32_t open = 0;
        if (isalnum((unsigned char)c) || strchr("_$.", c)) {
            at--;
        } else if (c == '>' && at - 1 > first && line[at - 2] == '-') {
            at -= 2;
        } else if (c == ']' || c == ')') {
            do {
                c = line[--at];
                open += c == ']' || c == ')';
                open -= c == '[' || c == '(';
            } while (open && at > first);
        } else {
            break;
        }
    }
    return at;
}

/* Members of what stands in front of the "." or "->" that ends at `end`. */
static void complete_member(struct zs_shell *s, const char *line, size_t first, size_t end,
                            const char *word, size_t length, put_word *put, void *user)
{
    static const char *const elements[] = {"x", "y", "z", "w", "lo", "hi", "even", "odd"};
    struct zs_shell_focus f = zs_shell_focus(s);
    struct zs_debug_value *v, *members[MEMBERS_MAX];
    bool arrow = line[end - 1] == '>';
    size_t behind = end - (arrow ? 2 : 1), begin = expression_begin(line, first, behind);
    char *expression = strndup(line + begin, behind - begin);
    int count = 0;
    if (expression && *expression &&
        !zs_debug_evaluate(s->debug, f.thread, f.lane, f.frame, expression, &v, NULL) &&
        v->child_count) {
        if (arrow && (zs_debug_children(s->debug, v, 0, members, 1, NULL) != 1 ||
                      members[0]->name[0] == '['))
            v = NULL;
        else if (arrow)
            v = members[0];
        if (v && v->child_count && !strchr(v->type, '*'))
            count = zs_debug_children(s->debug, v, 0, members, MEMBERS_MAX, NULL);
        bool is_vector = count > 0 && members[0]->name[0] == '[' && !strchr(v->type, '[');
        for (int i = 0; i < count && members[i]->name[0] != '['; i++)
            put_if(members[i]->name, word, length, put, user);
        for (int i = 0; is_vector && i < (int)ZS_ARRAY_LEN(elements); i++)
            if (i >= 4 || i < count)
                put_if(elements[i], word, length, put, user);
    }
    free(expression);
}

static void complete_list(const char *const *names, const char *word, size_t length, put_word *put,
                          void *user)
{
    for (; *names; names++)
        put_if(*names, word, length, put, user);
}

static bool takes_location(const struct zs_shell_command *c)
{
    return c->run == zs_shell_do_break || c->run == zs_shell_do_tbreak ||
           c->run == zs_shell_do_dprintf || c->run == zs_shell_do_advance ||
           c->run == zs_shell_do_until || c->run == zs_shell_do_list || c->run == zs_shell_do_jump;
}

static bool takes_expression(const struct zs_shell_command *c)
{
    static void (*const takers[])(struct zs_shell *, const char *) = {
        zs_shell_do_print,   zs_shell_do_whatis,   zs_shell_do_ptype, zs_shell_do_set,
        zs_shell_do_display, zs_shell_do_examine,  zs_shell_do_watch, zs_shell_do_rwatch,
        zs_shell_do_awatch,  zs_shell_do_who_wrote};
    for (size_t i = 0; i < ZS_ARRAY_LEN(takers); i++)
        if (takers[i] == c->run)
            return true;
    return false;
}

static void complete_argument(struct zs_shell *s, const struct zs_shell_command *c,
                              const char *word, size_t length, put_word *put, void *user)
{
    static const char *const focuses[] = {"thread", "lane", "group", "item", NULL};
    static const char *const gotos[] = {"launch", "step", NULL};
    static const char *const layouts[] = {"src", "asm", "split", "regs", "next", NULL};
    const char *topic;
    if (takes_location(c))
        complete_location(s, word, length, put, user);
    else if (takes_expression(c))
        complete_variable(s, word, length, put, user);
    else if (c->run == zs_shell_do_info)
        for (size_t i = 0; (topic = zs_shell_info_topic(i)); i++)
            put_if(topic, word, length, put, user);
    else if (c->run == zs_shell_do_focus)
        complete_list(focuses, word, length, put, user);
    else if (c->run == zs_shell_do_goto)
        complete_list(gotos, word, length, put, user);
    else if (c->run == zs_shell_do_layout)
        complete_list(layouts, word, length, put, user);
}

void zs_shell_complete(struct zs_shell *s, const char *line, size_t length, size_t *ret_begin,
                       put_word *put, void *user)
{
    size_t begin = length, first = strspn(line, " \t");
    bool is_first = first >= length || !memchr(line + first, ' ', length - first);
    while (begin > first && (isalnum((unsigned char)line[begin - 1]) ||
                             strchr(is_first ? "-_" : "_$@", line[begin - 1])))
        begin--;
    *ret_begin = begin;
    size_t before = first + (is_first ? 0 : zs_shell_command_length(line + first));
    bool of_member = begin > before &&
                     (line[begin - 1] == '.' ||
                      (begin - 1 > before && line[begin - 1] == '>' && line[begin - 2] == '-'));
    if (of_member && (s->editor || !is_first)) {
        complete_member(s, line, before, begin, line + begin, length - begin, put, user);
        return;
    }
    size_t name_length = is_first ? 0 : zs_shell_command_length(line + first);
    const struct zs_shell_command *c =
        is_first ? NULL
                 : zs_shell_find_command(line + first, ZS_MIN(name_length, length - first), NULL);
    if (c && c->run != zs_shell_do_help) {
        complete_argument(s, c, line + begin, length - begin, put, user);
        return;
    }
    if (s->editor && !c) /* an expression, too */
        complete_variable(s, line + begin, length - begin, put, user);
    const struct zs_shell_command *each;
    for (size_t i = 0; (is_first || c) && (each = zs_shell_command(s, i)); i++)
        put_if(each->name, line + begin, length - begin, put, user);
}
