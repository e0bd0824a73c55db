/* SPDX-License-Identifier: MIT */
/*
 * Completion for bash, zsh and fish, from the option tables: commands, options, the words of
 * choices; devices, kernels, metric groups and tools as the command itself knows them (words.h);
 * file names for the rest.
 */
#include "cli/options.h"
#include "cli/words.h"

#include <stdio.h>
#include <string.h>

/* Both tables of a command, one option after the other. */
static const struct zs_option *option_at(const struct zs_command *command, size_t i)
{
    return i < command->option_count ? &command->options[i]
                                     : &zs_common_option_table[i - command->option_count];
}

static size_t option_total(const struct zs_command *command)
{
    return command->option_count + zs_common_option_count;
}

/* Between single quotes: '...'\''...' in sh and zsh; what stands in `escaped` gets a backslash. */
static void print_quoted(const char *text, const char *quote, const char *escaped)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs(quote, stdout);
        else if (*text == '\n')
            putchar(' ');
        else if (strchr(escaped, *text))
            printf("\\%c", *text);
        else
            putchar(*text);
    }
}

static void print_choices(const char *words)
{
    for (; *words; words++)
        putchar(*words == '|' ? ' ' : *words);
}

/* ---- bash ---- */

void zs_complete_bash(const struct zs_command *const *commands)
{
    printf("# bash completion for zescope; generated from the option tables\n_zescope() {\n"
           "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} words=\n"
           "    local last=${cur##*,} # of a list\n    local before=${cur%%\"$last\"}\n"
           "    COMPREPLY=()\n"
           "    if [ \"$COMP_CWORD\" = 1 ]; then\n        words=\"");
    for (size_t i = 0; commands[i]; i++)
        printf("%s ", commands[i]->name);
    printf("--help --version\"\n    else\n        case ${COMP_WORDS[1]}:$prev in\n");
    for (size_t i = 0; commands[i]; i++) {
        for (size_t k = 0; k < option_total(commands[i]); k++) {
            const struct zs_option *o = option_at(commands[i], k);
            const char *kind = zs_words_kind(o->name);
            if (o->kind != ZS_OPTION_CHOICE && !kind)
                continue;
            printf("        %s:--%s", commands[i]->name, o->name);
            if (o->letter)
                printf("|%s:-%c", commands[i]->name, o->letter);
            printf(") COMPREPLY=($(compgen -P \"$before\" -W \"");
            if (kind)
                printf("$(zescope --complete %s \"${COMP_WORDS[@]:2}\" 2>/dev/null)", kind);
            else
                print_choices(o->arg);
            printf("\" -- \"$last\")); return 0 ;;\n");
        }
    }
    printf("        instrument:instrument) words=$(zescope --complete tool 2>/dev/null) ;;\n"
           "        esac\n        case ${COMP_WORDS[1]} in\n");
    for (size_t i = 0; commands[i]; i++) {
        printf("        %s) words+=\"", commands[i]->name);
        for (size_t k = 0; k < option_total(commands[i]); k++)
            printf(" --%s", option_at(commands[i], k)->name);
        printf("\" ;;\n");
    }
    printf("        esac\n    fi\n"
           "    case $COMP_CWORD:$cur in 1:*|*:-*) ;; *) words=${words%%%% --*} ;; esac\n"
           "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
           "    return 0\n}\ncomplete -o default -F _zescope zescope\n");
}

/* ---- zsh ---- */

static void print_zsh_option(const struct zs_option *o)
{
    const char *repeats = o->kind == ZS_OPTION_LIST ? "*" : "";
    if (o->letter && *repeats)
        printf(" \\\n            '*'{-%c,--%s}'[", o->letter, o->name);
    else if (o->letter)
        printf(" \\\n            '(-%c --%s)'{-%c,--%s}'[", o->letter, o->name, o->letter, o->name);
    else
        printf(" \\\n            '%s--%s[", repeats, o->name);
    print_quoted(o->help, "'\\''", "[]:\\");
    putchar(']');
    if (o->kind == ZS_OPTION_CHOICE) {
        printf(":%s:(", o->name);
        print_choices(o->arg);
        putchar(')');
    } else if (zs_words_kind(o->name)) {
        printf(":%s:{compadd -- ${(f)\"$(zescope --complete %s ${words[2,-1]} 2>/dev/null)\"}}",
               o->name, zs_words_kind(o->name));
    } else if (o->kind != ZS_OPTION_FLAG && o->kind != ZS_OPTION_OPTIONAL) {
        putchar(':');
        print_quoted(o->arg ? o->arg : "VALUE", "'\\''", "[]:\\");
        printf(":_files");
    }
    putchar('\'');
}

void zs_complete_zsh(const struct zs_command *const *commands)
{
    printf("#compdef zescope\n# generated from the option tables\n_zescope() {\n"
           "    local -a commands\n    commands=(\n");
    for (size_t i = 0; commands[i]; i++) {
        printf("        '%s:", commands[i]->name);
        print_quoted(commands[i]->summary, "'\\''", ":\\");
        printf("'\n");
    }
    printf("    )\n    if (( CURRENT == 2 )); then\n        _describe command commands\n"
           "        _arguments '--help[show help]' '--version[show the version]'\n"
           "        return\n    fi\n    shift words\n    (( CURRENT-- ))\n    case $words[1] in\n");
    for (size_t i = 0; commands[i]; i++) {
        printf("    %s)\n        _arguments -s", commands[i]->name);
        for (size_t k = 0; k < option_total(commands[i]); k++)
            print_zsh_option(option_at(commands[i], k));
        if (!strcmp(commands[i]->name, "instrument"))
            printf(" \\\n            '1:tool:{compadd -- ${(f)\"$(zescope --complete tool)\"}}'");
        printf(" \\\n            '%s'\n        ;;\n",
               commands[i]->takes_app ? "*::application:_normal" : "*:file:_files");
    }
    printf("    esac\n}\n_zescope \"$@\"\n");
}

/* ---- fish ---- */

void zs_complete_fish(const struct zs_command *const *commands)
{
    printf("# fish completion for zescope; generated from the option tables\n");
    for (size_t i = 0; commands[i]; i++) {
        printf("complete -c zescope -n __fish_use_subcommand -f -a %s -d '", commands[i]->name);
        print_quoted(commands[i]->summary, "\\'", "\\");
        printf("'\n");
        if (!strcmp(commands[i]->name, "instrument"))
            printf("complete -c zescope -n '__fish_seen_subcommand_from instrument' -a '(zescope "
                   "--complete tool)'\n");
        for (size_t k = 0; k < option_total(commands[i]); k++) {
            const struct zs_option *o = option_at(commands[i], k);
            printf("complete -c zescope -n '__fish_seen_subcommand_from %s' -l %s",
                   commands[i]->name, o->name);
            if (o->letter)
                printf(" -s %c", o->letter);
            if (o->kind == ZS_OPTION_CHOICE) {
                printf(" -x -a '");
                print_choices(o->arg);
                putchar('\'');
            } else if (zs_words_kind(o->name)) {
                printf(" -x -a '(zescope --complete %s (commandline -opc) 2>/dev/null)'",
                       zs_words_kind(o->name));
            } else if (o->kind != ZS_OPTION_FLAG && o->kind != ZS_OPTION_OPTIONAL) {
                printf(" -r");
            }
            printf(" -d '");
            print_quoted(o->help, "\\'", "\\");
            printf("'\n");
        }
    }
}
