/* SPDX-License-Identifier: MIT */
/* A client of the debug adapter over the scripted debugger: the input is what it sends. */
#include "base/compiler.h"
#include "dap/dap.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B);

struct counter {
    size_t messages;
};

static int count(void *user, const void *data, size_t size_B)
{
    struct counter *c = user;
    zs_assert(data && size_B > 20);
    c->messages++;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B)
{
    struct counter counter = {0};
    struct zs_dap_options options = {.user = &counter, .write = count};
    struct zs_dap *dap;
    if (zs_dap_open(&options, &dap))
        return 0;
    /* in pieces of two sizes, with some of the debugger's time between them */
    for (size_t at = 0, part = 256; at < size_B && !zs_dap_ended(dap); at += part) {
        part = ZS_MIN(part == 256 ? (size_t)1000 : (size_t)256, size_B - at);
        zs_dap_feed(dap, data + at, part);
        for (int i = 0; i < 64 && zs_dap_busy(dap); i++)
            zs_dap_work(dap, 0);
    }
    zs_dap_close(dap);
    return 0;
}
