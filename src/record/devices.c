/* SPDX-License-Identifier: MIT */
#include <zescope/record.h>

#include "base/compiler.h"

enum { VENDOR_INTEL = 0x8086, FAMILY_IDS_MAX = 48 };

struct family {
    const char *name;
    uint16_t ids[FAMILY_IDS_MAX]; /* 0 ends them */
};

static const struct family families[] = {
#define ZS_DEVICE(text, platform, gfxcore, product, major, minor, ...)                             \
    {.name = (text), .ids = {__VA_ARGS__}},
#include "base/devices.def"
#undef ZS_DEVICE
};

const char *zs_device_ocloc_name(uint32_t vendor_id, uint32_t device_id)
{
    if (vendor_id != VENDOR_INTEL)
        return "";
    for (size_t i = 0; i < ZS_ARRAY_LEN(families); i++)
        for (size_t k = 0; k < FAMILY_IDS_MAX && families[i].ids[k]; k++)
            if (families[i].ids[k] == device_id)
                return families[i].name;
    return "";
}
