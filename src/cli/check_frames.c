/* SPDX-License-Identifier: MIT */
/* The driver's text of findings, with the application's calls in words. */
#include "cli/check_report.h"

#include "symbols/symbolizer.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* The files that frames lie in, each opened once. */
struct files {
    struct zs_arena arena;
    uint32_t count;
    struct {
        char *path;
        struct zs_symbolizer *symbolizer; /* NULL: not readable */
    } file[64];
};

static struct zs_symbolizer *find_file(struct files *files, const char *path)
{
    for (uint32_t i = 0; i < files->count; i++) {
        if (!strcmp(files->file[i].path, path))
            return files->file[i].symbolizer;
    }
    if (files->count == ZS_ARRAY_LEN(files->file))
        return NULL;
    char *name = zs_arena_strndup(&files->arena, path, strlen(path));
    if (!name)
        return NULL;
    files->file[files->count].path = name;
    return files->file[files->count++].symbolizer = zs_symbolizer_open(path, 0, NULL);
}

/* "    #0 /path/of/app+0x1234 ...": where the call was made, in words when the file has them. */
static bool put_frame(struct zs_buf *out, struct files *files, const char *line, int length)
{
    int number, path_at = 0, path_end = 0;
    char text[PATH_MAX + 64], words[1024];
    unsigned long long offset_B;
    snprintf(text, sizeof(text), "%.*s", length, line);
    if (sscanf(text, " #%d %n", &number, &path_at) < 1 || text[path_at] != '/')
        return false;
    char *plus = strrchr(text, '+');
    if (!plus || sscanf(plus, "+0x%llx%n", &offset_B, &path_end) < 1 || !offset_B)
        return false;
    *plus = '\0';
    struct zs_symbolizer *symbolizer = find_file(files, text + path_at);
    if (!symbolizer)
        return false;
    struct zs_symbol_frame frames[ZS_SYMBOL_INLINE_MAX];
    /* a return address: the call is before it */
    uint32_t count = zs_symbolizer_frames(symbolizer, offset_B - 1, &files->arena, frames);
    bool known = false;
    for (uint32_t i = 0; i < count; i++) {
        if (!frames[i].function)
            continue;
        frames[i].module = text + path_at;
        zs_symbol_format(&frames[i], words, sizeof(words));
        zs_buf_printf(out, "    #%d %s (%s+0x%llx)\n", number, words, text + path_at, offset_B);
        known = true;
    }
    return known;
}

void zs_check_put_text(struct zs_buf *out, struct zs_span report)
{
    const char *at = (const char *)report.data, *end = at + report.size_B;
    struct files files = {.count = 0};
    zs_arena_init(&files.arena, 64 << 20);
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *next = newline ? newline + 1 : end;
        int length = (int)(next - at);
        if (strncmp(at, "    #", ZS_MIN((size_t)(end - at), 5)) != 0 ||
            !put_frame(out, &files, at, length))
            zs_buf_printf(out, "%.*s", length, at);
        at = next;
    }
    for (uint32_t i = 0; i < files.count; i++)
        zs_symbolizer_close(files.file[i].symbolizer);
    zs_arena_fini(&files.arena);
}
