/* SPDX-License-Identifier: MIT */
/* What Windows does not have: commands that start programs or read recordings, and recordings. */
#include "cli/demangle.h"
#include "cli/lowered.h"
#include "cli/options.h"
#include "cli/paths.h"
#include "cli/scratch.h"
#include "cli/source.h"
#include "cli/words.h"
#include "report/failed_builds.h"

#define COMMAND(name_)
#define LINUX_COMMAND(name_)                                                                       \
    extern const struct zs_command zs_command_##name_;                                             \
    const struct zs_command zs_command_##name_ = {                                                 \
        .name = #name_,                                                                            \
        .summary = "(works on Linux alone)",                                                       \
        .operands = "...",                                                                         \
        .description = "This command works on Linux alone.",                                       \
        .options_size_B = sizeof(struct zs_common_options),                                        \
    };
#include "cli/commands.def"

bool zs_cli_last_recording(char ret_path[PATH_MAX])
{
    ret_path[0] = '\0';
    return false;
}

int zs_cli_print_lowered(const struct zs_command *command, const struct zs_input *input,
                         const char *step)
{
    return zs_cli_fail("there is a software GPU on Linux alone");
}

bool zs_cli_is_source(const char *path)
{
    return false;
}

int zs_cli_compile(const char *path, const char *device, const char *options,
                   char ret_folder[PATH_MAX], char ret_path[PATH_MAX])
{
    return zs_cli_fail("sources are compiled on Linux alone");
}

void zs_cli_scratch_remove(const char *folder)
{
}

void zs_cli_demangle_off(void)
{
}

const char *zs_cli_demangle(const char *name, size_t size_B)
{
    return NULL;
}

struct zs_span zs_cli_readable(struct zs_buf *scratch, struct zs_span text)
{
    return text;
}

const char *zs_words_kind(const char *option)
{
    return NULL;
}

int zs_words_print(const char *kind, int given_count, char **given)
{
    return ZS_EXIT_USAGE;
}

int zs_cli_demangle_serve(void)
{
    return ZS_EXIT_USAGE;
}

size_t zs_failed_builds_text(const struct zs_recording *recording, uint32_t lines_max,
                             struct zs_buf *out)
{
    return 0;
}
