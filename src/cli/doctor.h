/* SPDX-License-Identifier: MIT */
/* What `zescope doctor` finds out, apart from how it shows it. */
#ifndef ZS_CLI_DOCTOR_H
#define ZS_CLI_DOCTOR_H

#include "base/compiler.h"

#include <stdio.h>

enum doctor_status { DOCTOR_OK, DOCTOR_WARN, DOCTOR_FAIL, DOCTOR_INFO };

struct doctor_item {
    const char *group; /* a heading; items of a group follow each other */
    char *name;
    enum doctor_status status;
    char *value;  /* version, device names, why not */
    char *path;   /* of the file, or "" */
    char *advice; /* what to do about it, or "" */
};

struct doctor_report {
    struct doctor_item *items;
    size_t count, capacity;
    unsigned timeout_ms; /* for each question */
};

/* `advice` and `path` may be NULL. */
void doctor_add(struct doctor_report *report, const char *group, const char *name,
                enum doctor_status status, const char *path, const char *advice,
                const char *value_format, ...) ZS_PRINTF(7, 8);
void doctor_free(struct doctor_report *report);

/* How a question that was asked in a process of its own ended. */
struct doctor_answer {
    bool asked;      /* false: no process could be made */
    bool timed_out;  /* it was killed */
    int status;      /* exit status, or 128 + signal */
    char text[8192]; /* what it wrote: lines "key=value" */
};

/*
 * Run `ask` in a child process, in a scratch folder, with stdout and stderr thrown away: drivers
 * crash, hang and write files. `out` goes to ret_answer->text.
 */
void doctor_ask(int (*ask)(const void *question, FILE *out), const void *question,
                unsigned timeout_ms, struct doctor_answer *ret_answer);
/* The value of the first line "key=...", copied into ret_value; false: there is none. */
bool doctor_value(const struct doctor_answer *answer, const char *key, char *ret_value,
                  size_t size_B);
/* "crashed (signal 11)", "did not answer within 20 s", ... */
void doctor_describe_end(const struct doctor_answer *answer, char *ret_text, size_t size_B);

/* Fill the report: libraries, drivers, machine, environment, and what works with them. */
void doctor_examine(struct doctor_report *report);

#endif
