/* SPDX-License-Identifier: MIT */
#include "cli/options.h"

#include "base/duration.h"
#include "base/vec.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct zs_option zs_common_option_table[] = {
    {"color", 0, ZS_OPTION_CHOICE, offsetof(struct zs_common_options, color), "auto|always|never",
     "colour in text output; auto: on a terminal, unless NO_COLOR is set"},
    {"quiet", 'q', ZS_OPTION_FLAG, offsetof(struct zs_common_options, quiet), NULL,
     "no progress and no notes on stderr"},
    {"demangle", 0, ZS_OPTION_FLAG, offsetof(struct zs_common_options, demangle), NULL,
     "names of C++ and SYCL kernels as they were written (--no-demangle: as compilers have them); "
     "on by default"},
    {"help", 'h', ZS_OPTION_FLAG, offsetof(struct zs_common_options, help), NULL,
     "show this help and exit"},
};
const size_t zs_common_option_count = ZS_ARRAY_LEN(zs_common_option_table);

struct parser {
    const struct zs_command *command;
    void *options;
    uint64_t old_names; /* bit: the option came from a variable without the command's name */
};

static const struct zs_option *option_at(const struct zs_command *command, size_t i)
{
    if (i < command->option_count)
        return &command->options[i];
    i -= command->option_count;
    return i < zs_common_option_count ? &zs_common_option_table[i] : NULL;
}

static const struct zs_option *option_by_name(const struct zs_command *command, const char *name,
                                              size_t length)
{
    const struct zs_option *o;
    for (size_t i = 0; (o = option_at(command, i)); i++)
        if (strlen(o->name) == length && !strncmp(o->name, name, length))
            return o;
    return NULL;
}

static const struct zs_option *option_by_letter(const struct zs_command *command, char letter)
{
    const struct zs_option *o;
    for (size_t i = 0; (o = option_at(command, i)); i++)
        if (o->letter && o->letter == letter)
            return o;
    return NULL;
}

void zs_option_env_name(const char *command, const char *name, char *ret_text, size_t size_B)
{
    int n = snprintf(ret_text, size_B, "ZESCOPE_%s%s%s", command ? command : "", command ? "_" : "",
                     name);
    for (int i = 0; i < n && ret_text[i]; i++)
        ret_text[i] = ret_text[i] == '-' ? '_' : (char)toupper((unsigned char)ret_text[i]);
}

/* Levenshtein distance of two short words, for "did you mean". */
static size_t edit_distance(const char *a, size_t a_length, const char *b)
{
    size_t b_length = strlen(b), row[64];
    if (a_length >= ZS_ARRAY_LEN(row) || b_length >= ZS_ARRAY_LEN(row))
        return SIZE_MAX;
    for (size_t j = 0; j <= b_length; j++)
        row[j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            size_t keep = row[j];
            row[j] = ZS_MIN(ZS_MIN(row[j], row[j - 1]) + 1, diagonal + (a[i - 1] != b[j - 1]));
            diagonal = keep;
        }
    }
    return row[b_length];
}

/* The better of two words: whether `word` is nearer to the name than what was nearest so far. */
static bool is_nearer(const char *name, size_t length, const char *word, size_t *distance)
{
    size_t here = edit_distance(name, length, word);
    if (here >= *distance)
        return false;
    *distance = here;
    return true;
}

/* A word that is further off than this is another one, not the same misspelt. */
static size_t too_far(size_t length)
{
    return length / 3 + 2;
}

const char *zs_nearest_word(const char *name, const char *const *words, size_t count)
{
    const char *best = NULL;
    size_t length = strlen(name), distance = too_far(length);
    for (size_t i = 0; i < count; i++)
        if (is_nearer(name, length, words[i], &distance))
            best = words[i];
    return best;
}

static int unknown_option(const struct zs_command *command, const char *name, size_t length)
{
    const struct zs_option *o, *best = NULL;
    size_t distance = too_far(length);
    for (size_t i = 0; (o = option_at(command, i)); i++)
        if (is_nearer(name, length, o->name, &distance))
            best = o;
    if (best)
        return zs_cli_usage(command, "unknown option --%.*s; did you mean --%s?", (int)length, name,
                            best->name);
    return zs_cli_usage(command, "unknown option --%.*s", (int)length, name);
}

static int choice_index(const char *words, const char *value)
{
    size_t length = strlen(value);
    for (int index = 0;; index++) {
        const char *end = words + strcspn(words, "|");
        if ((size_t)(end - words) == length && !strncmp(words, value, length))
            return index;
        if (!*end)
            return -1;
        words = end + 1;
    }
}

static int push_list(const struct zs_command *command, struct zs_string_list *list,
                     const char *value)
{
    return ZS_VEC_PUSH(list, value) ? 0 : zs_cli_usage(command, "out of memory");
}

static bool is_true(const char *value)
{
    return *value && strcmp(value, "0") != 0 && strcasecmp(value, "no") != 0 &&
           strcasecmp(value, "false") != 0 && strcasecmp(value, "off") != 0;
}

/* `shown` names the option in messages: "--by", "ZESCOPE_BY". */
static int set_option(struct parser *p, const struct zs_option *o, const char *value,
                      const char *shown)
{
    void *target = (char *)p->options + o->offset;
    switch (o->kind) {
    case ZS_OPTION_FLAG:
        *(bool *)target = is_true(value);
        return 0;
    case ZS_OPTION_STRING:
    case ZS_OPTION_OPTIONAL:
        *(const char **)target = value;
        return 0;
    case ZS_OPTION_LIST:
        return push_list(p->command, target, value);
    case ZS_OPTION_U64:
        if (zs_size_parse(value, target))
            return 0;
        return zs_cli_usage(p->command, "%s takes a number, not '%s'", shown, value);
    case ZS_OPTION_CHOICE:
        *(int *)target = choice_index(o->arg, value);
        if (*(int *)target >= 0)
            return 0;
        return zs_cli_usage(p->command, "%s is one of %s, not '%s'", shown, o->arg, value);
    }
    return ZS_EXIT_USAGE;
}

/* A list in the environment: items separated by ';'. */
static int set_list_from_env(struct parser *p, const struct zs_option *o, const char *value)
{
    char *copy = strdup(value), *save = NULL;
    if (!copy)
        return zs_cli_usage(p->command, "out of memory");
    struct zs_string_list *list = (void *)((char *)p->options + o->offset);
    list->environment = copy;
    for (char *item = strtok_r(copy, ";", &save); item; item = strtok_r(NULL, ";", &save)) {
        int status = set_option(p, o, item, o->name);
        if (status)
            return status;
    }
    return 0;
}

static const char *value_of(const char *variable)
{
    const char *value = getenv(variable);
    return value && *value ? value : NULL;
}

/* Variables of the software GPU's driver (docs/driver.md) that options take, too: no old names. */
static bool is_of_driver(const char *variable)
{
    static const char *const names[] = {"ZESCOPE_CHECK", "ZESCOPE_COUNTS", "ZESCOPE_KERNEL_TIMEOUT",
                                        "ZESCOPE_TIMING"};
    for (size_t i = 0; i < ZS_ARRAY_LEN(names); i++) {
        if (!strcmp(names[i], variable))
            return true;
    }
    return false;
}

/* By its name, or the one without the command's; that is noted where it is not for all commands. */
static const char *environment_value(struct parser *p, size_t i, char *ret_name, size_t size_B)
{
    const struct zs_option *o = option_at(p->command, i);
    zs_option_env_name(p->command->name, o->name, ret_name, size_B);
    const char *value = value_of(ret_name);
    if (value)
        return value;
    zs_option_env_name(NULL, o->name, ret_name, size_B);
    value = value_of(ret_name);
    if (value && i < p->command->option_count && !is_of_driver(ret_name))
        p->old_names |= UINT64_C(1) << i;
    return value;
}

static void note_old_names(const struct parser *p)
{
    for (size_t i = 0; i < p->command->option_count; i++) {
        char old[64], name[96];
        if (!(p->old_names >> i & 1))
            continue;
        zs_option_env_name(NULL, p->command->options[i].name, old, sizeof(old));
        zs_option_env_name(p->command->name, p->command->options[i].name, name, sizeof(name));
        zs_cli_note(p->options, "%s is now called %s", old, name);
    }
}

static int parse_environment(struct parser *p)
{
    const struct zs_option *o;
    for (size_t i = 0; (o = option_at(p->command, i)); i++) {
        char name[96];
        const char *value =
            strcmp(o->name, "help") ? environment_value(p, i, name, sizeof(name)) : NULL;
        if (!value)
            continue;
        int status = o->kind == ZS_OPTION_LIST ? set_list_from_env(p, o, value)
                                               : set_option(p, o, value, name);
        if (status)
            return status;
    }
    return 0;
}

/* The word behind an option is its value, unless that is an option, too: then it was forgotten. */
static int take_value(struct parser *p, const struct zs_option *o, const char *shown, int argc,
                      char **argv, int *i)
{
    const char *word = ++*i < argc ? argv[*i] : NULL, *wanted = o->arg ? o->arg : "VALUE";
    if (!word || !strcmp(word, "--"))
        return zs_cli_usage(p->command, "%s needs a value: %s", shown, wanted);
    if (!strncmp(word, "--", 2) && option_by_name(p->command, word + 2, strcspn(word + 2, "=")))
        return zs_cli_usage(p->command,
                            "%s needs a value: %s (%s is an option; if it is meant: --%s=%s)",
                            shown, wanted, word, o->name, word);
    return set_option(p, o, word, shown);
}

/* --name, --name=value, --name value, --no-name. *i is the index of the last word consumed. */
static int parse_long(struct parser *p, int argc, char **argv, int *i)
{
    const char *name = argv[*i] + 2;
    size_t length = strcspn(name, "=");
    const char *value = name[length] ? name + length + 1 : NULL;
    const struct zs_option *o = option_by_name(p->command, name, length);
    char shown[64];
    if (!o && !value && !strncmp(name, "no-", 3)) {
        o = option_by_name(p->command, name + 3, length - 3);
        if (o && (o->kind == ZS_OPTION_FLAG || o->kind == ZS_OPTION_OPTIONAL))
            return set_option(p, o, "0", o->name);
        o = NULL;
    }
    if (!o)
        return unknown_option(p->command, name, length);
    snprintf(shown, sizeof(shown), "--%s", o->name);
    if (o->kind == ZS_OPTION_FLAG) {
        if (value)
            return zs_cli_usage(p->command, "%s takes no value", shown);
        return set_option(p, o, "1", shown);
    }
    if (o->kind == ZS_OPTION_OPTIONAL)
        return set_option(p, o, value ? value : "", shown);
    return value ? set_option(p, o, value, shown) : take_value(p, o, shown, argc, argv, i);
}

/* -q, -o value, -ovalue, -qo value. */
static int parse_short(struct parser *p, int argc, char **argv, int *i)
{
    for (const char *c = argv[*i] + 1; *c; c++) {
        const struct zs_option *o = option_by_letter(p->command, *c);
        char shown[3] = {'-', *c, '\0'};
        if (!o)
            return zs_cli_usage(p->command, "unknown option %s", shown);
        int status;
        if (o->kind == ZS_OPTION_FLAG || o->kind == ZS_OPTION_OPTIONAL) {
            status = set_option(p, o, o->kind == ZS_OPTION_FLAG ? "1" : "", shown);
            if (status)
                return status;
            continue;
        }
        return c[1] ? set_option(p, o, c + 1, shown) : take_value(p, o, shown, argc, argv, i);
    }
    return 0;
}

int zs_options_parse(const struct zs_command *command, int argc, char **argv, void *ret_options,
                     int *ret_operand_count, char ***ret_operands)
{
    struct parser p = {.command = command, .options = ret_options};
    if (command->defaults)
        memcpy(ret_options, command->defaults, command->options_size_B);
    else
        memset(ret_options, 0, command->options_size_B);
    ((struct zs_common_options *)ret_options)->demangle = true;
    int status = parse_environment(&p);
    int kept = 1, i = 1;
    bool ended = false;
    for (; i < argc && !status; i++) {
        char *word = argv[i];
        if (ended || word[0] != '-' || !word[1]) {
            argv[kept++] = word;
            ended = ended || command->takes_app;
        } else if (!strcmp(word, "--")) {
            ended = true;
        } else if (word[1] == '-') {
            status = parse_long(&p, argc, argv, &i);
        } else {
            status = parse_short(&p, argc, argv, &i);
        }
    }
    if (!status)
        note_old_names(&p);
    argv[kept] = NULL;
    *ret_operand_count = kept - 1;
    *ret_operands = argv + 1;
    return status;
}

void zs_options_free(const struct zs_command *command, void *options)
{
    for (size_t i = 0; i < command->option_count; i++) {
        const struct zs_option *o = &command->options[i];
        if (o->kind != ZS_OPTION_LIST)
            continue;
        struct zs_string_list *list = (void *)((char *)options + o->offset);
        free(list->items);
        free(list->environment);
    }
}
