/* SPDX-License-Identifier: MIT */
/* Questions that are asked in a process of their own. */
#include "cli/ask.h"
#include "cli/doctor.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void remove_folder(const char *folder)
{
    DIR *dir = folder[0] ? opendir(folder) : NULL;
    const struct dirent *entry;
    while (dir && (entry = readdir(dir)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlinkat(dirfd(dir), entry->d_name, 0);
    if (dir)
        closedir(dir);
    rmdir(folder);
}

void doctor_ask(int (*ask)(const void *question, FILE *out), const void *question,
                unsigned timeout_ms, struct doctor_answer *ret)
{
    char folder[] = "/tmp/zescope-doctor-XXXXXX";
    struct zs_buf text = {0};
    memset(ret, 0, sizeof(*ret));
    if (!mkdtemp(folder))
        folder[0] = '\0';
    struct zs_asked asked = zs_cli_ask(ask, question, folder[0] ? folder : NULL, timeout_ms,
                                       sizeof(ret->text) - 1, &text);
    ret->asked = asked.asked;
    ret->timed_out = asked.timed_out;
    ret->status = asked.status;
    snprintf(ret->text, sizeof(ret->text), "%.*s", (int)text.size_B, (const char *)text.data);
    zs_buf_fini(&text);
    remove_folder(folder);
}

bool doctor_value(const struct doctor_answer *from, const char *key, char *ret_value, size_t size_B)
{
    size_t length = strlen(key);
    for (const char *line = from->text; line && *line;) {
        const char *end = strchr(line, '\n');
        if (!strncmp(line, key, length) && line[length] == '=') {
            size_t value_B = (end ? (size_t)(end - line) : strlen(line)) - length - 1;
            snprintf(ret_value, size_B, "%.*s", (int)value_B, line + length + 1);
            return true;
        }
        line = end ? end + 1 : NULL;
    }
    if (size_B)
        ret_value[0] = '\0';
    return false;
}

void doctor_describe_end(const struct doctor_answer *from, char *ret_text, size_t size_B)
{
    if (!from->asked)
        snprintf(ret_text, size_B, "could not be asked: no process could be made");
    else if (from->timed_out)
        snprintf(ret_text, size_B, "did not answer in time and was stopped");
    else if (from->status > 128)
        snprintf(ret_text, size_B, "crashed (%s)", strsignal(from->status - 128));
    else
        snprintf(ret_text, size_B, "ended with status %d", from->status);
}
