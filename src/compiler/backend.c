/* SPDX-License-Identifier: MIT */
#include "compiler/backend.h"

#include "compiler/request.h"

#include "base/file.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int put_object(struct dl_phdr_info *info, size_t size_B, void *ctx)
{
    (void)size_B;
    if (strchr(info->dlpi_name, '/'))
        zs_put_file(ctx, info->dlpi_name);
    return 0;
}

/* The name of IGC's library stands in libocloc, which loads it when it first compiles: here,
 * workers share what its loading takes. */
static void load_ocloc_igc(struct zs_backends *backends)
{
    static const char start[] = "libigc.so.";
    char name[sizeof(start) + 3];
    struct link_map *map = NULL;
    struct zs_file file = {0};
    struct zs_diag diag = {0};
    Dl_info info;
    if (!dladdr((const void *)(uintptr_t)backends->ocloc.invoke, &info) ||
        zs_file_read(info.dli_fname, 0, &file, &diag) != 0)
        return;
    const char *end = (const char *)file.span.data + file.span.size_B;
    const char *found = memmem(file.span.data, file.span.size_B, start, strlen(start));
    if (found && (size_t)(end - found) >= sizeof(name)) {
        memcpy(name, found, sizeof(name));
        name[sizeof(name) - 1] = 0;
        backends->is_old_known = strcmp(name, "libigc.so.1") == 0;
        void *library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
        if (library && dlinfo(library, RTLD_DI_LINKMAP, &map) == 0)
            backends->ocloc_igc = realpath(map->l_name, NULL);
    } else {
        backends->is_old_known = true;
    }
    zs_file_close(&file);
}

bool zs_backends_load(struct zs_backends *backends, struct zs_buf *ret_identity,
                      struct zs_buf *ret_why)
{
    static const char *const libraries[] = {"libigc.so.1", "libigc.so.2"};
    const char *choice = getenv("ZESCOPE_IGC");
    struct zs_buf no_ocloc = {0}, no_igc = {0};
    *backends = (struct zs_backends){0};
    if (choice && !*choice)
        choice = NULL;
    bool only_ocloc = choice && strcmp(choice, "ocloc") == 0;
    if (choice && !only_ocloc) {
        zs_buf_printf(&no_ocloc, "ZESCOPE_IGC=%s: ", choice);
        zs_igc_load(&backends->igc, choice, &no_ocloc);
    } else if (zs_ocloc_load(&backends->ocloc, &no_ocloc)) {
        load_ocloc_igc(backends);
    }
    for (size_t i = 0; !choice && !backends->is_old_known && !backends->igc.main &&
                       i < (backends->ocloc.invoke ? 1 : ZS_ARRAY_LEN(libraries));
         i++)
        zs_igc_load(&backends->igc, libraries[i], &no_igc);
    bool any = backends->ocloc.invoke || backends->igc.main;
    if (!any)
        zs_buf_append(ret_why, no_ocloc.data, no_ocloc.size_B);
    zs_buf_fini(&no_ocloc);
    zs_buf_fini(&no_igc);
    dl_iterate_phdr(put_object, ret_identity);
    return any;
}

enum zs_compiler_status zs_backends_build(const struct zs_backends *backends,
                                          const struct zs_compiler_request *request,
                                          struct zs_buf *ret_binary, struct zs_buf *ret_log)
{
    bool by_ocloc = backends->ocloc.invoke != NULL;
    if (by_ocloc && backends->igc.main && zs_igc_knows(request->device))
        by_ocloc = zs_ocloc_knows(&backends->ocloc, request->device);
    if (!by_ocloc && request->is_source) {
        zs_buf_printf(ret_log, "OpenCL C for %s needs a libocloc that knows it: pass SPIR-V\n",
                      request->device);
        return ZS_COMPILER_BUILD_FAILED;
    }
    enum zs_compiler_status status =
        by_ocloc ? zs_ocloc_build(&backends->ocloc, request, ret_binary, ret_log)
                 : zs_igc_build(&backends->igc, request, ret_binary, ret_log);
    const char *igc = by_ocloc ? backends->ocloc_igc : backends->igc.path;
    if (ret_log->size_B && ret_log->data[ret_log->size_B - 1] != '\n')
        zs_buf_puts(ret_log, "\n");
    if (igc)
        zs_buf_printf(ret_log, "compiler: %s%s\n", igc, by_ocloc ? " by libocloc" : "");
    return status;
}
