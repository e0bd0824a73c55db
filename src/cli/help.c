/* SPDX-License-Identifier: MIT */
/* --help and man pages, both from the option tables. */
#include "base/version.h"
#include "cli/options.h"

#include <stdio.h>
#include <string.h>

/* Words of `text` wrapped to the width, the first line starting at column `at`. */
static void print_wrapped(const char *text, unsigned at, unsigned indent, unsigned width)
{
    while (*text) {
        size_t length = strcspn(text, " \n");
        if (at > indent && at + 1 + length > width) {
            printf("\n%*s", (int)indent, "");
            at = indent;
        } else if (at > indent) {
            putchar(' ');
            at++;
        }
        printf("%.*s", (int)length, text);
        at += (unsigned)length;
        text += length;
        if (text[0] == '\n' && text[1] == '\n') {
            printf("\n\n%*s", (int)indent, "");
            at = indent;
        }
        text += strspn(text, " \n");
    }
    putchar('\n');
}

static void print_option(const struct zs_option *o, unsigned width)
{
    const char *arg = o->kind == ZS_OPTION_FLAG ? NULL : o->arg ? o->arg : "VALUE";
    const unsigned indent = 30;
    bool optional = o->kind == ZS_OPTION_OPTIONAL;
    int n = printf("  %c%c%s --%s%s%s%s", o->letter ? '-' : ' ', o->letter ? o->letter : ' ',
                   o->letter ? "," : " ", o->name,
                   optional ? "[="
                   : arg    ? " "
                            : "",
                   arg ? arg : "", optional ? "]" : "");
    if (n < 0 || (unsigned)n >= indent)
        printf("\n%*s", (int)indent, "");
    else
        printf("%*s", (int)indent - n, "");
    print_wrapped(o->help, indent, indent, width);
}

void zs_help_command(const struct zs_command *command)
{
    unsigned width = ZS_MIN(zs_cli_columns(1), 100u);
    printf("usage: zescope %s%s%s\n\n", command->name, command->option_count ? " [options] " : " ",
           command->operands);
    print_wrapped(command->description ? command->description : command->summary, 0, 0, width);
    if (command->option_count)
        printf("\noptions:\n");
    for (size_t i = 0; i < command->option_count; i++)
        print_option(&command->options[i], width);
    printf("\ncommon options:\n");
    for (size_t i = 0; i < zs_common_option_count; i++)
        print_option(&zs_common_option_table[i], width);
    printf("\nEvery option is also an environment variable: --source-path of annotate is\n"
           "ZESCOPE_ANNOTATE_SOURCE_PATH; --quiet is ZESCOPE_QUIET for all commands.\n");
    if (command->examples)
        printf("\nexamples:\n%s", command->examples);
}

/* roff text: a backslash and a leading dot or quote are escaped, '-' is a real hyphen-minus. */
static void print_roff(const char *text)
{
    bool start = true;
    for (; *text; text++) {
        if (start && (*text == '.' || *text == '\''))
            fputs("\\&", stdout);
        start = *text == '\n';
        if (*text == '\\')
            fputs("\\e", stdout);
        else if (*text == '-')
            fputs("\\-", stdout);
        else if (*text == '\n' && text[1] == '\n')
            fputs("\n.PP", stdout);
        else
            putchar(*text);
    }
}

static void print_roff_options(const char *command, const struct zs_option *options, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct zs_option *o = &options[i];
        char env[96];
        printf(".TP\n\\fB");
        if (o->letter)
            printf("\\-%c\\fR, \\fB", o->letter);
        printf("\\-\\-");
        print_roff(o->name);
        printf("\\fR");
        if (o->kind != ZS_OPTION_FLAG) {
            printf(o->kind == ZS_OPTION_OPTIONAL ? "[=\\fI" : " \\fI");
            print_roff(o->arg ? o->arg : "VALUE");
            printf(o->kind == ZS_OPTION_OPTIONAL ? "\\fR]" : "\\fR");
        }
        putchar('\n');
        print_roff(o->help);
        zs_option_env_name(command, o->name, env, sizeof(env));
        printf(" [%s]\n", env);
    }
}

void zs_help_man(const struct zs_command *command)
{
    printf(".\\\" generated from the option tables\n.TH ZESCOPE\\-%s 1 \"\" \"zescope " ZS_VERSION
           "\" \"zescope manual\"\n.SH NAME\nzescope\\-%s \\- ",
           command->name, command->name);
    print_roff(command->summary);
    printf("\n.SH SYNOPSIS\n.B zescope %s\n[options] ", command->name);
    print_roff(command->operands);
    printf("\n.SH DESCRIPTION\n");
    print_roff(command->description ? command->description : command->summary);
    printf("\n.SH OPTIONS\nEach option is also read from the environment variable in brackets; the "
           "command line wins. Lists are separated by ';' there.\n");
    print_roff_options(command->name, command->options, command->option_count);
    print_roff_options(NULL, zs_common_option_table, zs_common_option_count);
    if (command->examples) {
        printf(".SH EXAMPLES\n.nf\n");
        print_roff(command->examples);
        printf(".fi\n");
    }
    printf(".SH EXIT STATUS\n0: done. 1: the work failed. 2: wrong usage.\n"
           ".SH SEE ALSO\n.BR zescope (1)\n");
}
