/* SPDX-License-Identifier: MIT */
/*
 * The client's console. A line is what begins with a visible variable's name and is an expression;
 * else a command of the debugger, if its first word is one; else an expression. "`" or "-exec" in
 * front of it says that it is a command.
 */
#include "dap/dap_priv.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

enum { COMPLETIONS_MAX = 1000 };

/* Behind what says that it is a command; NULL: nothing does. */
static const char *forced(const char *line)
{
    static const char exec[] = "-exec ";
    line += strspn(line, " ");
    if (*line == '`')
        return line + 1;
    return strncmp(line, exec, sizeof(exec) - 1) ? NULL : line + sizeof(exec) - 1;
}

/* "n" is a command, but of a kernel with a variable n it is that. */
static bool is_of_variable(struct zs_dap *dap, const char *line, const struct frame_ref *at,
                           uint32_t lane)
{
    struct zs_debug_value **values, *value;
    uint32_t count;
    line += strspn(line, " ");
    size_t length = 0;
    while (isalnum((unsigned char)line[length]) || line[length] == '_')
        length++;
    if (!length ||
        zs_debug_variables(dap->debug, at->thread, lane, at->frame, &values, &count, NULL))
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (strlen(values[i]->name) == length && !strncmp(values[i]->name, line, length))
            return !zs_debug_evaluate(dap->debug, at->thread, lane, at->frame, line, &value, NULL);
    return false;
}

struct focus {
    uint32_t thread, lane, frame;
    uint64_t gpu_va;
};

static struct focus focus_of(const struct zs_dap *dap)
{
    struct focus f = {0};
    zs_debug_focus(dap->debug, &f.thread, &f.lane, &f.frame);
    const struct zs_debug_thread *t = zs_debug_thread(dap->debug, f.thread);
    f.gpu_va = t ? t->gpu_va : 0;
    return f;
}

static int run_command(struct zs_dap *dap, const char *line, struct zs_json *body,
                       struct zs_diag *diag)
{
    struct zs_buf out = {0};
    struct focus before = focus_of(dap);
    uint32_t newest = dap_newest_breakpoint(dap);
    int result = dap->options.command(dap->options.user, dap->debug, line, &out, diag);
    if (result != -ENOENT)
        dap_breakpoints_after_command(dap, newest);
    if (result >= 0) {
        zs_json_string_n(body, "result", (const char *)out.data, out.error ? 0 : out.size_B);
        zs_json_u64(body, "variablesReference", 0);
    }
    if (result == ZS_DAP_COMMAND_RUNS) {
        if (dap->stopped)
            dap_tell_continued(dap);
        dap_forget_stop(dap);
    } else if (!result && dap->stopped) {
        struct focus after = focus_of(dap);
        dap_invalidated(dap, before.thread != after.thread || before.lane != after.lane ||
                                 before.frame != after.frame || before.gpu_va != after.gpu_va);
    }
    zs_buf_fini(&out);
    return result > 0 ? 0 : result;
}

int dap_console(struct zs_dap *dap, const json_t *arguments, struct zs_json *body,
                struct zs_diag *diag)
{
    const char *line = dap_text(arguments, "expression");
    const char *command = line ? forced(line) : NULL;
    struct frame_ref at;
    if (!dap->options.command || !line)
        return -ENOENT;
    if (dap->stopped) {
        struct zs_diag ignored = {0};
        bool known = !dap_frame(dap, dap_int(arguments, "frameId", 0), &at, &ignored);
        uint32_t lane = known ? dap_lane_of(dap, at.thread) : 0;
        if (known && !command && is_of_variable(dap, line, &at, lane))
            return -ENOENT;
        /* commands are about what the client shows */
        if (known && dap_int(arguments, "frameId", 0))
            (void)zs_debug_set_focus(dap->debug, at.thread, lane, at.frame, NULL);
    }
    int error = run_command(dap, command ? command : line, body, diag);
    if (error == -ENOENT && command)
        return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET, "there is no command `%.64s`",
                           command);
    return error;
}

/* ---- completions ---- */

struct completions {
    struct zs_json *body;
    const char **words;
    struct zs_arena arena;
    size_t count;
    int64_t column;       /* of the cursor, as the client counts */
    size_t length, begin; /* of the text that is completed; of the word in it, which is ASCII */
};

static void put_completion(void *user, const char *word)
{
    struct completions *c = user;
    for (size_t i = 0; i < c->count; i++)
        if (!strcmp(c->words[i], word))
            return;
    const char *own = zs_arena_strndup(&c->arena, word, strlen(word));
    if (!own || c->count == COMPLETIONS_MAX)
        return;
    int64_t length = (int64_t)(c->length - c->begin);
    c->words[c->count++] = own;
    zs_json_object(c->body, NULL);
    zs_json_string(c->body, "label", word);
    zs_json_i64(c->body, "start", c->column - length);
    zs_json_i64(c->body, "length", length);
    zs_json_end(c->body);
}

/* Columns count in UTF-16: the bytes in front of one. */
static size_t bytes_before(const char *text, int64_t column)
{
    size_t at = 0;
    while (text[at] && column > 0) {
        uint8_t c = (uint8_t)text[at];
        size_t size = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;
        column -= size == 4 ? 2 : 1;
        for (; size && text[at]; size--)
            at++;
    }
    return at;
}

int handle_completions(struct zs_dap *dap, const json_t *arguments, struct zs_json *body,
                       struct zs_diag *diag)
{
    const char *text = dap_text(arguments, "text");
    int64_t first = dap->columns_at_0 ? 0 : 1;
    int64_t column = dap_int(arguments, "column", first) - first;
    struct completions c = {.body = body};
    if (!text)
        return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET, "no text is given");
    const char *command = forced(text);
    size_t skipped = command ? (size_t)(command - text) : 0;
    size_t length = bytes_before(text, column);
    c.words = calloc(COMPLETIONS_MAX, sizeof(*c.words));
    if (!c.words)
        return -ENOMEM;
    zs_arena_init(&c.arena, 0);
    zs_json_array(body, "targets");
    if (dap->options.complete && length >= skipped) {
        c.column = column + first;
        c.length = length - skipped;
        dap->options.complete(dap->options.user, dap->debug, text + skipped, c.length, &c.begin,
                              put_completion, &c);
    }
    zs_json_end(body);
    zs_arena_fini(&c.arena);
    free(c.words);
    return 0;
}
