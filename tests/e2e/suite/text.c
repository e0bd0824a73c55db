/* SPDX-License-Identifier: MIT */
/* What kernels print, against what a case expects of it. */
#include "suite_priv.h"

#include <stdarg.h>
#include <unistd.h>

void *suite_copy(const void *bytes, size_t size_B)
{
    void *copy = malloc(size_B ? size_B : 1);
    if (!copy)
        exit(2);
    return memcpy(copy, bytes, size_B);
}

void suite_text(struct suite *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (s->text_room_B - s->text_size_B < 4096) {
        s->text_room_B = 2 * s->text_room_B + 65536;
        s->text = realloc(s->text, s->text_room_B);
        if (!s->text)
            exit(2);
    }
    int size_B = vsnprintf(s->text + s->text_size_B, 4096, format, args);
    va_end(args);
    if (size_B < 0 || size_B >= 4096)
        exit(2);
    s->text_size_B += (size_t)size_B;
}

/* Standard output goes to a file until end_text(). */
FILE *suite_begin_text(int *ret_stdout)
{
    FILE *file = tmpfile();
    fflush(stdout);
    *ret_stdout = dup(1);
    if (!file || *ret_stdout < 0 || dup2(fileno(file), 1) < 0) {
        fprintf(stderr, "standard output cannot be taken\n");
        exit(2);
    }
    return file;
}

char *suite_end_text(FILE *file, int standard)
{
    fflush(stdout);
    dup2(standard, 1);
    close(standard);
    long size_B = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    char *text = size_B >= 0 ? calloc(1, (size_t)size_B + 1) : NULL;
    rewind(file);
    if (!text || fread(text, 1, (size_t)size_B, file) != (size_t)size_B)
        exit(2);
    fclose(file);
    return text;
}

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorted; what follows the last newline is a line, too. */
static char **lines_of(char *text, size_t *ret_count)
{
    size_t count = 1;
    for (const char *at = text; *at; at++)
        count += *at == '\n';
    char **lines = calloc(count, sizeof(*lines));
    if (!lines)
        exit(2);
    for (size_t i = 0; i < count; i++) {
        lines[i] = text;
        text = strchrnul(text, '\n');
        if (*text)
            *text++ = 0;
    }
    qsort(lines, count, sizeof(*lines), compare_lines);
    *ret_count = count;
    return lines;
}

bool suite_report_text(struct suite *s, char *got)
{
    size_t got_count, count, i = 0, k = 0;
    char *text = suite_copy(s->text, s->text_size_B + 1);
    char **expected = lines_of(text, &count), **printed = lines_of(got, &got_count);
    bool part = s->most_lines > 0, right = true;
    for (; right && k < got_count; k++) {
        while (part && i < count && strcmp(expected[i], printed[k]) < 0)
            i++;
        right = i < count && strcmp(expected[i], printed[k]) == 0;
        i += right;
    }
    if (!right)
        fprintf(stderr, "  it printed \"%s\"\n  expected   \"%s\"\n", printed[k - 1],
                i < count ? expected[i] : "(nothing)");
    if (right && !part && i < count) {
        fprintf(stderr, "  it did not print \"%s\"\n", expected[i]);
        right = false;
    }
    if (part && (got_count - 1 < s->least_lines || got_count - 1 > s->most_lines)) {
        fprintf(stderr, "  it printed %zu lines, expected %zu to %zu\n", got_count - 1,
                s->least_lines, s->most_lines);
        right = false;
    }
    free(text);
    free(expected);
    free(printed);
    return right;
}
