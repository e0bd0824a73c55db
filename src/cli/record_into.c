/* SPDX-License-Identifier: MIT */
#include "cli/record_into.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct zs_command zs_command_record;

int zs_cli_run_with(const struct zs_command *command, const char *const *words, size_t count,
                    int app_count, char **app)
{
    char **argv = calloc(count + (size_t)app_count + 3, sizeof(*argv));
    void *parsed = calloc(1, command->options_size_B);
    int argc = 0, status = ZS_EXIT_FAILED, operand_count;
    char **operands;
    if (!argv || !parsed) {
        free(parsed);
        free(argv);
        return zs_cli_fail("out of memory");
    }
    argv[argc++] = (char *)(uintptr_t)command->name;
    for (size_t i = 0; i < count; i++)
        argv[argc++] = (char *)(uintptr_t)words[i];
    if (app_count)
        argv[argc++] = (char *)(uintptr_t) "--";
    for (int i = 0; i < app_count; i++)
        argv[argc++] = app[i];
    status = zs_options_parse(command, argc, argv, parsed, &operand_count, &operands);
    if (!status)
        status = command->run(parsed, operand_count, operands);
    zs_options_free(command, parsed);
    free(parsed);
    free(argv);
    return status;
}

int zs_cli_record_with(const char *const *words, size_t count, int app_count, char **app)
{
    return zs_cli_run_with(&zs_command_record, words, count, app_count, app);
}
