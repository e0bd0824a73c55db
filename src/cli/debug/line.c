/* SPDX-License-Identifier: MIT */
/*
 * Lines for the debugger: from a terminal with editing, history and completion (libedit), else as
 * they come. At the prompt Ctrl-C gives up the line; handlers of signals wake the reading of a key
 * through a pipe.
 */
#include "cli/debug/screen.h"
#include "cli/debug/signals.h"
#include "cli/debug/tui.h"

#include "base/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const char more_text[] = ">";

static int keys_fd; /* the terminal; reading it does not wait */

#ifdef ZS_HAVE_LIBEDIT
#include "cli/debug/typed.h"

#include <histedit.h>
#include <locale.h>
#include <wchar.h>

enum { CANCEL_KEY = 3, END_KEY = 4 };

static int typed_ahead; /* bytes of what is read next that came before the terminal was raw */

static struct zs_shell *shell_of(EditLine *editor)
{
    struct zs_shell *shell = NULL;
    el_get(editor, EL_CLIENTDATA, &shell);
    return shell;
}

static char *prompt(EditLine *editor)
{
    const struct zs_shell *shell = shell_of(editor);
    return (char *)(uintptr_t)(shell && shell->collecting ? more_text : zs_prompt_text);
}

/* ---- completion ---- */

struct words {
    char **items;
    size_t count, capacity;
};

static void add_word(void *user, const char *word)
{
    struct words *w = user;
    for (size_t i = 0; i < w->count; i++)
        if (!strcmp(w->items[i], word))
            return;
    char *own = strdup(word);
    if (own && !ZS_VEC_PUSH(w, own))
        free(own);
}

static int compare_words(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void free_words(struct words *w)
{
    for (size_t i = 0; i < w->count; i++)
        free(w->items[i]);
    free(w->items);
}

static size_t common_length(const struct words *w)
{
    size_t same = w->count ? strlen(w->items[0]) : 0;
    for (size_t i = 1; i < w->count; i++)
        for (size_t n = 0; n < same; n++)
            if (w->items[i][n] != w->items[0][n])
                same = n;
    return same;
}

static void list_words(struct words *w)
{
    size_t widest = 0, columns;
    qsort(w->items, w->count, sizeof(*w->items), compare_words);
    for (size_t i = 0; i < w->count; i++)
        widest = ZS_MAX(widest, strlen(w->items[i]));
    columns = ZS_MAX(zs_cli_columns(STDOUT_FILENO) / (widest + 2), (size_t)1);
    for (size_t i = 0; i < w->count; i++)
        printf("%s%-*s", i % columns ? "" : "\n", (int)widest + 2, w->items[i]);
    printf("\n");
    fflush(stdout);
}

/* The word in front of the cursor, as far as all that begin like it agree; else they are shown. */
static unsigned char complete(EditLine *editor, int key)
{
    const LineInfo *line = el_line(editor);
    struct zs_shell *shell = NULL;
    struct words words = {0};
    size_t begin, length = (size_t)(line->cursor - line->buffer);
    unsigned char result = CC_ERROR;
    (void)key;
    el_get(editor, EL_CLIENTDATA, &shell);
    char *text = strndup(line->buffer, length);
    if (!text)
        return CC_ERROR;
    zs_shell_complete(shell, text, length, &begin, add_word, &words);
    size_t typed = length - begin, common = common_length(&words);
    if (common > typed) {
        bool whole = words.count == 1 && words.items[0][common - 1] != ':';
        char *rest = NULL;
        if (asprintf(&rest, "%.*s%s", (int)(common - typed), words.items[0] + typed,
                     whole ? " " : "") >= 0 &&
            !el_insertstr(editor, rest))
            result = CC_REFRESH;
        free(rest);
    } else if (words.count > 1) {
        list_words(&words);
        result = CC_REDISPLAY;
    }
    free_words(&words);
    free(text);
    return result;
}

/* Ctrl-C: the line is given up. */
static unsigned char cancel(EditLine *editor, int key)
{
    const LineInfo *line = el_line(editor);
    (void)key;
    el_cursor(editor, (int)(line->lastchar - line->cursor));
    line = el_line(editor);
    el_deletestr(editor, (int)(line->lastchar - line->buffer));
    zs_signals.interrupted = 2;
    fputs("^C\n", stdout);
    fflush(stdout);
    return CC_NEWLINE;
}

static void drain_wakes(void)
{
    char bytes[64];
    while (read(zs_signals.wake_fds[0], bytes, sizeof(bytes)) > 0)
        continue;
}

/* What signals have asked for; true: the line is to be given up. */
static bool take_signals(EditLine *editor, struct zs_shell *shell)
{
    drain_wakes();
    if (zs_signals.suspended) {
        zs_signals.suspended = 0;
        el_set(editor, EL_PREP_TERM, 0);
        fputs("\n", stdout);
        fflush(stdout);
        zs_signals_suspend();
    }
    if (zs_signals.continued) { /* from the shell, which has its own modes */
        zs_signals.continued = 0;
        el_set(editor, EL_PREP_TERM, 1);
        zs_tui_draw(shell, true);
        el_set(editor, EL_REFRESH);
    }
    if (zs_signals.resized) {
        zs_signals.resized = 0;
        el_resize(editor);
        zs_tui_draw(shell, true);
        if (zs_screen_is_split())
            el_set(editor, EL_REFRESH);
    }
    if (!zs_signals.interrupted)
        return false;
    zs_signals.interrupted = 0;
    return true;
}

/* The terminal opened anew, so that nobody else's reading of it is changed. With Ctrl-C it throws
 * away what was typed and not yet read: what poll has seen may be gone when it is read. */
static int open_keys(int fd)
{
    char path[32];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    int keys = open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    return keys < 0 ? fd : keys;
}

/* One character; a key, or a signal that has one. */
static int get_key(EditLine *editor, wchar_t *ret)
{
    struct zs_shell *shell = NULL;
    mbstate_t state = {0};
    el_get(editor, EL_CLIENTDATA, &shell);
    for (;;) {
        struct pollfd fds[] = {{.fd = keys_fd, .events = POLLIN},
                               {.fd = zs_signals.wake_fds[0], .events = POLLIN}};
        char byte;
        if (poll(fds, 2, -1) < 0 && errno != EINTR)
            return -1;
        if (fds[1].revents && take_signals(editor, shell)) {
            *ret = CANCEL_KEY;
            return 1;
        }
        if (!fds[0].revents)
            continue;
        ssize_t n = read(keys_fd, &byte, 1);
        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (n <= 0)
            return (int)n;
        if (typed_ahead > 0 && typed_ahead-- && !byte)
            byte = END_KEY; /* a terminal that collects lines keeps Ctrl-D as a zero */
        size_t got = mbrtowc(ret, &byte, 1, &state);
        if (got == (size_t)-1)
            memset(&state, 0, sizeof(state)); /* no character of this locale */
        else if (got != (size_t)-2)
            return 1;
    }
}

static unsigned char toggle_panes(EditLine *editor, int key)
{
    (void)key;
    zs_tui_toggle(shell_of(editor));
    return CC_REDISPLAY;
}

static unsigned char page_up(EditLine *editor, int key)
{
    (void)key;
    zs_tui_scroll(shell_of(editor), -1);
    return CC_NORM;
}

static unsigned char page_down(EditLine *editor, int key)
{
    (void)key;
    zs_tui_scroll(shell_of(editor), 1);
    return CC_NORM;
}

static unsigned char redraw(EditLine *editor, int key)
{
    (void)key;
    if (zs_screen_is_split())
        zs_tui_draw(shell_of(editor), true);
    else
        (void)!write(STDOUT_FILENO, "\n", 1);
    return CC_REDISPLAY;
}

static const struct {
    const char *name, *help, *keys[4];
    unsigned char (*run)(EditLine *editor, int key);
} key_commands[] = {
    {"zs-complete", "complete a word", {"^I"}, complete},
    {"zs-cancel", "give up the line", {"^C"}, cancel},
    {"zs-panes", "panes on and off", {"^Xa", "^XA", "^X^A"}, toggle_panes},
    {"zs-page-up", "scroll the source up", {"\\e[5~"}, page_up},
    {"zs-page-down", "scroll the source down", {"\\e[6~"}, page_down},
    {"zs-redraw", "draw the panes again", {"^L"}, redraw},
};

static void set_up(EditLine *editor, History *lines, struct zs_shell *shell)
{
    el_set(editor, EL_CLIENTDATA, shell);
    el_set(editor, EL_PROMPT, prompt);
    el_set(editor, EL_EDITOR, "emacs");
    el_set(editor, EL_SIGNAL, 0);
    el_set(editor, EL_GETCFN, get_key);
    if (lines)
        el_set(editor, EL_HIST, history, lines);
    for (size_t i = 0; i < ZS_ARRAY_LEN(key_commands); i++) {
        el_set(editor, EL_ADDFN, key_commands[i].name, key_commands[i].help, key_commands[i].run);
        for (size_t k = 0; k < 4 && key_commands[i].keys[k]; k++)
            el_set(editor, EL_BIND, key_commands[i].keys[k], key_commands[i].name, NULL);
    }
    el_set(editor, EL_BIND, "^R", "em-inc-search-prev", NULL);
}

static void put_typed(void *user, const char *line)
{
    HistEvent event;
    history(user, &event, H_ENTER, line);
}

/* Lines of earlier sessions, and those that come. */
static History *open_history(const struct zs_shell *shell, struct zs_typed *ret_typed)
{
    History *lines = history_init();
    HistEvent event;
    if (lines) {
        history(lines, &event, H_SETSIZE, ZS_TYPED_LINES);
        history(lines, &event, H_SETUNIQUE, 1);
    }
    zs_typed_open(ret_typed, lines && shell->keeps_lines ? put_typed : NULL, lines);
    return lines;
}

static void edit_lines(struct zs_shell *shell)
{
    struct zs_typed typed;
    setlocale(LC_CTYPE, "");
    zs_screen_init(fileno(shell->in));
    EditLine *editor = el_init("zescope", shell->in, stdout, stderr);
    History *lines = open_history(shell, &typed);
    zs_signals.is_edited = true;
    keys_fd = open_keys(fileno(shell->in));
    zs_signals_watch();
    if (editor)
        set_up(editor, lines, shell);
    while (editor && !shell->quit) {
        int count = 0;
        if (zs_signals.resized)
            el_resize(editor);
        zs_tui_idle(shell);
        zs_tui_draw(shell, false);
        zs_signals.at_prompt = 1;
        el_set(editor, EL_PREP_TERM, 1); /* el_gets does it behind the prompt: too late for keys */
        if (ioctl(keys_fd, FIONREAD, &typed_ahead))
            typed_ahead = 0;
        const char *line = el_gets(editor, &count);
        zs_signals.at_prompt = 0;
        bool given_up = zs_signals.interrupted; /* before or right after the line has ended */
        zs_signals.interrupted = 0;
        if (given_up)
            continue;
        if (!line || count <= 0) {
            fputs("\n", stdout); /* Ctrl-D */
            break;
        }
        char *own = strndup(line, strcspn(line, "\n"));
        if (own && *own && lines) {
            put_typed(lines, own);
            zs_typed_add(&typed, own);
        }
        if (own)
            zs_shell_execute(shell, own);
        free(own);
    }
    zs_typed_close(&typed);
    if (lines)
        history_end(lines);
    if (editor)
        el_end(editor);
    if (keys_fd != fileno(shell->in))
        close(keys_fd);
    signal(SIGTSTP, SIG_DFL);
    zs_tui_disable();
    zs_screen_fini();
}
#endif

static void plain_lines(struct zs_shell *shell)
{
    char *line = NULL;
    size_t capacity = 0;
    if (shell->interactive) {
        zs_signals_plain();
        zs_signals_watch();
    }
    while (!shell->quit) {
        if (shell->interactive) {
            zs_tui_idle(shell);
            zs_tui_draw(shell, false);
            fputs(shell->collecting ? more_text : zs_prompt_text, stdout);
            fflush(stdout);
        }
        zs_signals.at_prompt = shell->interactive;
        ssize_t got = getline(&line, &capacity, shell->in);
        zs_signals.at_prompt = 0;
        if (got < 0)
            break;
        line[strcspn(line, "\n")] = '\0';
        zs_shell_execute(shell, line);
    }
    if (shell->interactive)
        signal(SIGTSTP, SIG_DFL);
    free(line);
}

static void greet(struct zs_shell *s)
{
    if (s->common->quiet || s->has_run)
        return;
    if (zs_debug_pid(s->debug))
        zs_shell_say(s,
                     "[Process %u is attached to and runs: `continue` waits for a stop, Ctrl-C "
                     "makes one; `help` for all]\n",
                     zs_debug_pid(s->debug));
    else if (s->app)
        zs_shell_say(s,
                     "[`run` starts %s; first `break KERNEL` or `break FILE:LINE`; `help` for "
                     "all]\n",
                     s->app[0]);
    zs_shell_flush(s);
}

void zs_shell_interact(struct zs_shell *shell)
{
    shell->interactive = isatty(fileno(shell->in)) && isatty(STDOUT_FILENO);
    if (shell->interactive)
        greet(shell);
#ifdef ZS_HAVE_LIBEDIT
    if (shell->interactive && !pipe2(zs_signals.wake_fds, O_CLOEXEC | O_NONBLOCK)) {
        edit_lines(shell);
        return;
    }
#endif
    plain_lines(shell);
}
