/* SPDX-License-Identifier: MIT */
/* Lines for the debugger: from a terminal with editing, history and completion (libedit), else as
 * they come. */
#include "cli/debug_shell.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef ZS_HAVE_LIBEDIT
#include <histedit.h>

enum { HISTORY_LINES = 1000, NAME_MAX_ = 64 };

static char *prompt(EditLine *editor)
{
    static char text[] = "(zescope) ";
    (void)editor;
    return text;
}

/* The first word, as far as all commands that begin like it agree. */
static unsigned char complete(EditLine *editor, int key)
{
    const LineInfo *line = el_line(editor);
    size_t typed = (size_t)(line->cursor - line->buffer), common = 0;
    const char *found = NULL, *name;
    (void)key;
    if (!typed || memchr(line->buffer, ' ', typed))
        return CC_ERROR;
    for (size_t i = 0; (name = zs_shell_command_name(i)); i++) {
        if (strncmp(name, line->buffer, typed) != 0)
            continue;
        size_t same = 0;
        while (found && same < common && name[same] == found[same])
            same++;
        common = found ? same : strlen(name);
        found = found ? found : name;
    }
    char rest[NAME_MAX_];
    if (!found || common <= typed)
        return CC_ERROR;
    snprintf(rest, sizeof(rest), "%.*s", (int)(common - typed), found + typed);
    return el_insertstr(editor, rest) ? CC_ERROR : CC_REFRESH;
}

static void edit_lines(struct zs_shell *shell)
{
    EditLine *editor = el_init("zescope", stdin, stdout, stderr);
    History *lines = history_init();
    HistEvent event;
    int count;
    const char *line;
    if (lines)
        history(lines, &event, H_SETSIZE, HISTORY_LINES);
    if (editor) {
        el_set(editor, EL_PROMPT, prompt);
        el_set(editor, EL_EDITOR, "emacs");
        el_set(editor, EL_SIGNAL, 0);
        if (lines)
            el_set(editor, EL_HIST, history, lines);
        el_set(editor, EL_ADDFN, "zs-complete", "complete a command", complete);
        el_set(editor, EL_BIND, "^I", "zs-complete", NULL);
    }
    while (editor && !shell->quit && (line = el_gets(editor, &count)) && count > 0) {
        char *own = strndup(line, strcspn(line, "\n"));
        if (own && *own && lines)
            history(lines, &event, H_ENTER, own);
        if (own)
            zs_shell_execute(shell, own);
        free(own);
    }
    if (lines)
        history_end(lines);
    if (editor)
        el_end(editor);
}
#endif

static void plain_lines(struct zs_shell *shell)
{
    char *line = NULL;
    size_t capacity = 0;
    while (!shell->quit) {
        if (shell->interactive) {
            fputs("(zescope) ", stdout);
            fflush(stdout);
        }
        if (getline(&line, &capacity, stdin) < 0)
            break;
        line[strcspn(line, "\n")] = '\0';
        zs_shell_execute(shell, line);
    }
    free(line);
}

void zs_shell_interact(struct zs_shell *shell)
{
    shell->interactive = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
#ifdef ZS_HAVE_LIBEDIT
    if (shell->interactive) {
        edit_lines(shell);
        return;
    }
#endif
    plain_lines(shell);
}
