/* SPDX-License-Identifier: MIT */
#include "cli/scratch.h"
#include "cli/options.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool zs_cli_scratch_make(char ret_folder[PATH_MAX])
{
    const char *temp = getenv("TMPDIR");
    snprintf(ret_folder, PATH_MAX, "%.3000s/zescope-XXXXXX",
             temp && temp[0] == '/' ? temp : "/tmp");
    if (mkdtemp(ret_folder))
        return true;
    zs_cli_fail("%s: %s", ret_folder, strerror(errno));
    return false;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    return remove(path) && errno != ENOENT ? -1 : 0;
}

void zs_cli_scratch_remove(const char *folder)
{
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
