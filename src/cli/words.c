/* SPDX-License-Identifier: MIT */
#include "cli/words.h"

#include "cli/input.h"
#include "cli/metrics.h"
#include "cli/paths.h"

#include "base/default_device.h"
#include "base/os.h"
#include "instrument/instrument.h"

#include <zescope/isa.h>

#include <stdio.h>
#include <string.h>

static const struct {
    const char *option, *kind;
} kinds[] = {{"device", "device"},
             {"kernel", "kernel"},
             {"with", "kernel"},
             {"capture", "kernel"},
             {"start-at-kernel", "kernel"},
             {"stop-after-kernel", "kernel"},
             {"metrics", "group"},
             {"group", "group"},
             {"instrument", "tool"}};

const char *zs_words_kind(const char *option)
{
    for (size_t i = 0; i < ZS_ARRAY_LEN(kinds); i++)
        if (!strcmp(kinds[i].option, option))
            return kinds[i].kind;
    return NULL;
}

static void print_devices(void)
{
    const char *name;
    for (size_t i = 0; (name = zs_isa_device_name(i)); i++)
        puts(name);
}

static void print_kernels_of(char *path)
{
    const struct zs_input_select all = {.allow_none = true};
    struct zs_inputs inputs;
    char *operands[] = {path, NULL};
    if (zs_inputs_open(&all, 1, operands, &inputs) == ZS_EXIT_OK)
        for (size_t i = 0; i < inputs.modules.count; i++)
            for (size_t k = 0; k < inputs.modules.items[i].kernel_count; k++)
                puts(inputs.modules.items[i].kernels[k].kernel->name);
    zs_inputs_close(&inputs);
}

/* Of recordings and modules that the line names, else of the last recording; sources are not
 * compiled for it. */
static void print_kernels(int count, char **words)
{
    struct zs_path_info info;
    char last[PATH_MAX];
    bool has_any = false;
    for (int i = 0; i < count; i++) {
        size_t length = strlen(words[i]);
        bool is_module = length > 4 && !strcmp(words[i] + length - 4, ".bin");
        if (zs_os_path_info(words[i], &info) || (!is_module && !zs_recording_probe(words[i])))
            continue;
        print_kernels_of(words[i]);
        has_any = true;
    }
    if (!has_any && zs_cli_last_recording(last))
        print_kernels_of(last);
}

/* Of the drivers that are here, or of the software GPU: as -d says, or where there are none. */
static void print_groups(int count, char **words)
{
    const char *device = NULL;
    for (int i = 0; i + 1 < count; i++)
        if (!strcmp(words[i], "-d") || !strcmp(words[i], "--device"))
            device = words[i + 1];
    if (!device && zs_words_groups())
        return;
    if (zs_cli_use_software_gpu(&zs_command_metrics, device ? device : zs_default_device()) ==
        ZS_EXIT_OK)
        zs_words_groups();
}

int zs_words_print(const char *kind, int given_count, char **given)
{
    if (!strcmp(kind, "device"))
        print_devices();
    else if (!strcmp(kind, "kernel"))
        print_kernels(given_count, given);
    else if (!strcmp(kind, "group"))
        print_groups(given_count, given);
    else if (!strcmp(kind, "tool"))
        for (size_t i = 0; zs_tool_builtin(i); i++)
            puts(zs_tool_builtin(i)->name);
    return ZS_EXIT_OK;
}
