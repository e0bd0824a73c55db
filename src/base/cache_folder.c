/* SPDX-License-Identifier: MIT */
#include "base/cache_folder.h"

#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *user_folder(void)
{
    const char *base = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");
    struct zs_buf path = {0};
    struct stat st;
    if (base && base[0] == '/') {
        zs_buf_puts(&path, base);
    } else if (home && home[0] == '/' && stat(home, &st) == 0 && st.st_uid == geteuid()) {
        zs_buf_printf(&path, "%s/.cache", home);
    }
    if (path.size_B && !path.error)
        mkdir(zs_buf_cstr(&path), 0700); /* as the XDG base directories want it */
    bool ours = path.size_B && stat(zs_buf_cstr(&path), &st) == 0 && S_ISDIR(st.st_mode) &&
                (st.st_uid == geteuid() || (st.st_mode & S_ISVTX));
    zs_buf_puts(&path, "/zescope");
    char *folder = ours && !path.error ? strdup(zs_buf_cstr(&path)) : NULL;
    zs_buf_fini(&path);
    return folder;
}

char *zs_cache_folder(const char *told)
{
    char *folder = NULL;
    if (!told)
        return user_folder();
    if (told[0] == '/')
        return strdup(told);
    char *here = told[0] ? getcwd(NULL, 0) : NULL; /* the application may change its folder later */
    if (!here || asprintf(&folder, "%s/%s", here, told) < 0)
        folder = NULL;
    free(here);
    return folder;
}
