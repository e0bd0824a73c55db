/* SPDX-License-Identifier: MIT */
/*
 * Commands and their options as tables. One table per command gives parsing, --help, the man page,
 * shell completion and the ZESCOPE_* environment variables.
 *
 *     struct disasm_options { struct zs_common_options common; struct zs_string_list kernels;
 *                             bool json; int by; };
 *     static const struct zs_option options[] = {
 *         {"kernel", 'k', ZS_OPTION_LIST, offsetof(struct disasm_options, kernels), "REGEX",
 *          "only kernels whose name matches; may be given several times"},
 *         {"by", 0, ZS_OPTION_CHOICE, offsetof(struct disasm_options, by), "source|address",
 *          "order of the listing"},
 *     };
 *     const struct zs_command zs_command_disasm = {
 *         .name = "disasm", .summary = "print machine code", .operands = "FILE|DIR...",
 *         .description = "...", .examples = "...",
 *         .options = options, .option_count = ZS_ARRAY_LEN(options),
 *         .options_size_B = sizeof(struct disasm_options), .run = run_disasm};
 *
 * The options struct starts with struct zs_common_options. It is zeroed first; a command sets other
 * defaults through .defaults (a static const struct of the same type).
 */
#ifndef ZS_CLI_OPTIONS_H
#define ZS_CLI_OPTIONS_H

#include "base/compiler.h"

enum zs_exit {
    ZS_EXIT_OK = 0,
    ZS_EXIT_FAILED = 1, /* the work failed: bad file, application could not start */
    ZS_EXIT_USAGE = 2,
    ZS_EXIT_UNMET = 3,            /* what the user asserted does not hold */
    ZS_EXIT_CANNOT_EXECUTE = 126, /* as shells say it of an application */
    ZS_EXIT_NOT_FOUND = 127,
};

enum zs_option_kind {
    ZS_OPTION_FLAG,     /* bool; --no-NAME clears it */
    ZS_OPTION_STRING,   /* const char * */
    ZS_OPTION_OPTIONAL, /* the same, but --NAME alone is ""; a value only as --NAME=VALUE */
    ZS_OPTION_LIST,     /* struct zs_string_list, repeatable; in the environment separated by ';' */
    ZS_OPTION_U64,      /* uint64_t, decimal or 0x hexadecimal, suffixes k M G (powers of 1024) */
    ZS_OPTION_CHOICE,   /* int: index into the words of `arg`, "text|json|html" */
};

struct zs_string_list {
    const char **items;
    size_t count, capacity;
    char *environment; /* what the items from the environment point into, or NULL */
};

struct zs_option {
    const char *name; /* long name without dashes */
    char letter;      /* short name or 0 */
    enum zs_option_kind kind;
    size_t offset;   /* of the target in the options struct */
    const char *arg; /* what --help shows for the value; the words of a choice */
    const char *help;
};

enum zs_color { ZS_COLOR_AUTO, ZS_COLOR_ALWAYS, ZS_COLOR_NEVER };

/* Options that every command has. */
struct zs_common_options {
    int color; /* enum zs_color */
    bool quiet;
    bool demangle;
    bool help;
};

/* Values that --format takes everywhere, in this order; a command says which it offers. */
struct zs_command {
    const char *name;
    const char *summary;     /* one line, lower case, no full stop */
    const char *operands;    /* "FILE|DIR...", "-- app args" */
    const char *description; /* paragraphs separated by blank lines */
    const char *examples;    /* lines "command\n    what it does\n", may be NULL */
    const struct zs_option *options;
    size_t option_count;
    size_t options_size_B;
    const void *defaults; /* or NULL: zeros */
    bool takes_app;       /* the first operand ends the options: everything after is the app's */
    bool prints_code;     /* names stay as they are */
    bool takes_recording; /* without an operand: the last recording (zs_cli_last_recording) */
    /* operands[0..count): what is left after options. Returns an exit status. NULL: the command is
     * for another system. */
    int (*run)(void *options, int operand_count, char **operands);
};

/*
 * Parse argv[1..) of a command into ret_options (options_size_B bytes). Environment variables
 * ZESCOPE_COMMAND_NAME come first, the command line wins. ZESCOPE_NAME, as they were called once,
 * still work, with a note; common options have it as a name for all commands. 0, or ZS_EXIT_USAGE
 * after a message on stderr.
 */
int zs_options_parse(const struct zs_command *command, int argc, char **argv, void *ret_options,
                     int *ret_operand_count, char ***ret_operands);
void zs_options_free(const struct zs_command *command, void *options);
/* The environment variable of an option: "annotate", "source-path" -> ZESCOPE_ANNOTATE_SOURCE_PATH.
 * command NULL: without it. */
void zs_option_env_name(const char *command, const char *name, char *ret_text, size_t size_B);

/* Generated from the tables, on stdout. */
void zs_help_command(const struct zs_command *command);
void zs_help_man(const struct zs_command *command);
void zs_complete_bash(const struct zs_command *const *commands); /* they end in NULL */
void zs_complete_zsh(const struct zs_command *const *commands);
void zs_complete_fish(const struct zs_command *const *commands);

extern const struct zs_option zs_common_option_table[];
extern const size_t zs_common_option_count;

/* The word that was probably meant, for "did you mean"; NULL: none is near. */
const char *zs_nearest_word(const char *name, const char *const *words, size_t count);

/* Says why the application cannot be started (error: a negative errno) and returns the exit status
 * that shells have for it. */
int zs_cli_cannot_start(const char *app, int error);
/* "zescope: ...\n" on stderr; returns ZS_EXIT_FAILED / ZS_EXIT_USAGE for `return`. */
int zs_cli_fail(const char *format, ...) ZS_PRINTF(1, 2);
int zs_cli_usage(const struct zs_command *command, const char *format, ...) ZS_PRINTF(2, 3);
/* A note on stderr, silent with --quiet. */
void zs_cli_note(const struct zs_common_options *common, const char *format, ...) ZS_PRINTF(2, 3);
/* What is missing from a recording's trace, when something is. */
void zs_cli_note_losses(const struct zs_common_options *common, const char *recording,
                        uint64_t calls, uint64_t lost_calls, uint64_t damaged_files);
/* What the collector noted in a recording. */
struct zs_recording;
void zs_cli_print_notes(const struct zs_common_options *common,
                        const struct zs_recording *recording);
/* Of a name that no kernel has, or that was not launched
 * (always): which kernels there were. what: was not done. */
void zs_cli_note_kernels(const struct zs_common_options *common,
                         const struct zs_recording *recording, const char *what, const char *option,
                         const char *pattern, bool always);
/* Whether text on this stream may carry colour (--color, NO_COLOR, TERM, isatty). */
bool zs_cli_color(const struct zs_common_options *common, int fd);
/* Columns of the terminal on fd, or 80; never less than 40. */
unsigned zs_cli_columns(int fd);
/* A progress line on stderr, redrawn in place, only on a terminal; done >= total clears it. */
void zs_cli_progress(const struct zs_common_options *common, const char *what, uint64_t done,
                     uint64_t total);
/* Write all of data to stdout; ZS_EXIT_OK or ZS_EXIT_FAILED after a message (a closed pipe is a
 * quiet success: `zescope disasm x | head`; nothing more is written then). */
int zs_cli_write_stdout(const void *data, size_t size_B);
/* Nobody reads stdout any more: what is left of the work is for nothing. */
bool zs_cli_stdout_closed(void);
/* The same for writers that call back, user an int for the exit status: 0, -EIO after a message,
 * -EPIPE when nobody reads. */
int zs_cli_sink_stdout(void *user, const void *data, size_t size_B);
/* What came of writing so: the status, or that of a message when memory was short. */
int zs_cli_ended(int error, int status);
/* What `put` writes, in a file, or on stdout where the path is "-". Says what was written, unless
 * `common` is NULL. */
typedef int zs_cli_put(const void *what, int (*write)(void *user, const void *data, size_t size_B),
                       void *user);
int zs_cli_write_to(const struct zs_common_options *common, const char *path, zs_cli_put *put,
                    const void *what);
/* The text of a struct zs_buf. */
zs_cli_put zs_cli_put_buf;
/* The same for text, which terminals show: what is in it from files is made harmless (base/text.h).
 * Data (JSON, HTML) is escaped by its writers. */
int zs_cli_write_text(const void *data, size_t size_B);
/* The same where names stay as they are, for programs: code, CSV. */
int zs_cli_write_exact(const void *data, size_t size_B);
int zs_cli_sink_text(void *user, const void *data, size_t size_B);
/* Text on stderr, without the command's name. */
void zs_cli_print_stderr(const char *format, ...) ZS_PRINTF(1, 2);

#endif
