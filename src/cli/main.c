/* SPDX-License-Identifier: MIT */
/* The zescope command: picks a subcommand from the table and hands over. */
#include "cli/demangle.h"
#include "cli/options.h"
#include "cli/paths.h"
#include "cli/words.h"

#include "base/os.h"
#include "base/version.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMMAND(name)       extern const struct zs_command zs_command_##name;
#define LINUX_COMMAND(name) COMMAND(name)
#include "cli/commands.def"
#undef COMMAND

static const struct zs_command *const commands[] = {
#define COMMAND(name) &zs_command_##name,
#include "cli/commands.def"
#undef COMMAND
    NULL,
};

static const struct zs_command *find_command(const char *name)
{
    if (!strcmp(name, "diff")) /* its older name */
        name = "compare";
    for (size_t i = 0; commands[i]; i++)
        if (!strcmp(commands[i]->name, name))
            return commands[i];
    return NULL;
}

static void print_overview(FILE *out)
{
    fputs("zescope: see, profile and debug the machine code of Intel GPU kernels through Level "
          "Zero\n\nusage: zescope COMMAND [options] ...\n\ncommands:\n",
          out);
    for (size_t i = 0; commands[i]; i++)
        fprintf(out, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
    fputs("\n'zescope COMMAND --help' tells about one; 'zescope --version' the version.\n", out);
}

static void print_man_overview(void)
{
    printf(
        ".\\\" generated from the option tables\n.TH ZESCOPE 1 \"\" \"zescope " ZS_VERSION
        "\" \"zescope manual\"\n.SH NAME\nzescope \\- see, profile and debug the machine code of "
        "Intel GPU kernels\n.SH SYNOPSIS\n.B zescope\nCOMMAND [options] ...\n.SH COMMANDS\n");
    for (size_t i = 0; commands[i]; i++)
        printf(".TP\n.BR zescope\\-%s (1)\n%s\n", commands[i]->name, commands[i]->summary);
}

static void generate_man(const char *name)
{
    const struct zs_command *command = find_command(name);
    if (command)
        zs_help_man(command);
    else
        print_man_overview();
}

static bool generate_completion(const char *option)
{
    static const struct {
        const char *option;
        void (*generate)(const struct zs_command *const *commands);
    } rows[] = {{"--generate-bash", zs_complete_bash},
                {"--generate-zsh", zs_complete_zsh},
                {"--generate-fish", zs_complete_fish}};
    for (size_t i = 0; i < ZS_ARRAY_LEN(rows); i++) {
        if (strcmp(option, rows[i].option) == 0) {
            rows[i].generate(commands);
            return true;
        }
    }
    return false;
}

/* Whoever reads may have gone: no failure. */
static int flush_stdout(void)
{
    if (!fflush(stdout) || errno == EPIPE)
        return ZS_EXIT_OK;
    return zs_cli_fail("cannot write to stdout: %s", strerror(errno));
}

/* No recording is given: the last one, as perf and uftrace do. */
static int run_on_last(const struct zs_command *command, void *options)
{
    char path[PATH_MAX];
    char *operands[] = {path, NULL};
    if (!zs_cli_last_recording(path))
        return command->run(options, 0, operands + 1);
    zs_cli_note(options, "%s: the last recording here", path);
    return command->run(options, 1, operands);
}

static int run_command(const struct zs_command *command, int argc, char **argv)
{
    void *options = calloc(1, command->options_size_B);
    if (!options)
        return zs_cli_fail("out of memory");
    int operand_count;
    char **operands;
    int status = zs_options_parse(command, argc, argv, options, &operand_count, &operands);
    if (command->prints_code || !((struct zs_common_options *)options)->demangle)
        zs_cli_demangle_off();
    if (!status && ((struct zs_common_options *)options)->help)
        zs_help_command(command);
    else if (!status && !operand_count && command->takes_recording)
        status = run_on_last(command, options);
    else if (!status)
        status = command->run(options, operand_count, operands);
    zs_options_free(command, options);
    free(options);
    int flushed = flush_stdout();
    return status ? status : flushed;
}

/* A file in the place of the command is one that somebody wants to look at. */
static int unknown_command(const char *name)
{
    const char *words[ZS_ARRAY_LEN(commands)];
    size_t count = 0;
    for (; commands[count]; count++)
        words[count] = commands[count]->name;
    const char *near = zs_nearest_word(name, words, count);
    zs_cli_print_stderr("zescope: unknown command '%s'", name);
    if (near)
        zs_cli_print_stderr("; did you mean '%s'?\n", near);
    else if (!access(name, R_OK))
        zs_cli_print_stderr("; to look at a file: zescope annotate, inspect, disasm or report %s\n",
                            name);
    else
        zs_cli_print_stderr("; 'zescope --help' lists the commands\n");
    return ZS_EXIT_USAGE;
}

int main(int argc, char **argv)
{
    zs_os_start(&argc, &argv);
    const char *name = argc > 1 ? argv[1] : NULL;
    if (!name) {
        print_overview(stderr);
        return ZS_EXIT_USAGE;
    }
    if (!strcmp(name, "--help") || !strcmp(name, "-h") || !strcmp(name, "help")) {
        const struct zs_command *about = argc > 2 ? find_command(argv[2]) : NULL;
        if (about)
            zs_help_command(about);
        else
            print_overview(stdout);
        return flush_stdout();
    }
    if (!strcmp(name, "--version")) {
        puts("zescope " ZS_VERSION);
        return flush_stdout();
    }
    if (!strcmp(name, "--complete"))
        return argc > 2 ? zs_words_print(argv[2], argc - 3, argv + 3) : ZS_EXIT_USAGE;
    if (!strcmp(name, "--demangle"))
        return zs_cli_demangle_serve();
    if (!strcmp(name, "--generate-man")) {
        generate_man(argc > 2 ? argv[2] : "");
        return flush_stdout();
    }
    if (generate_completion(name))
        return flush_stdout();
    const struct zs_command *command = find_command(name);
    if (command && !command->run)
        return zs_cli_fail("'%s' works on Linux alone", name);
    if (command)
        return run_command(command, argc - 1, argv + 1);
    return unknown_command(name);
}
