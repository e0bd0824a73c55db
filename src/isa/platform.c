/* SPDX-License-Identifier: MIT */
/* Devices and instruction sets: look-ups over platforms.def and base/devices.def. */
#include "isa/isa_priv.h"

#include <stdlib.h>
#include <strings.h>

struct platform_row {
    struct zs_isa_platform_info info;
    uint32_t gfxcore;
    uint32_t release_first, release_last;
};

static const struct platform_row platforms[ZS_ISA_PLATFORM_COUNT] = {
#define ZS_ISA_PLATFORM(id, text, iga, core, grf, count, count_max, swsb, lsc, first, last)        \
    [ZS_ISA_##id] = {{text, iga, grf, count, count_max, swsb, lsc}, core, first, last},
#include "isa/platforms.def"
#undef ZS_ISA_PLATFORM
};

static const struct device_row {
    const char *name;
    uint32_t platform;
    uint32_t product;
} devices[] = {
#define ZS_DEVICE(name, platform, gfxcore, product, major, minor, ...)                             \
    {name, ZS_ISA_##platform, product},
#include "base/devices.def"
#undef ZS_DEVICE
};

const struct zs_isa_platform_info *zs_isa_platform_info(enum zs_isa_platform platform)
{
    if (platform <= ZS_ISA_NONE || platform >= ZS_ISA_PLATFORM_COUNT)
        return NULL;
    return &platforms[platform].info;
}

/* "12.55.8": the release that ocloc prints; the revision does not matter here. */
static enum zs_isa_platform platform_from_release(const char *name)
{
    char *end;
    unsigned long major = strtoul(name, &end, 10);
    if (end == name || *end != '.' || major > 99)
        return ZS_ISA_NONE;
    const char *minor_text = end + 1;
    unsigned long minor = strtoul(minor_text, &end, 10);
    if (end == minor_text || (*end != '\0' && *end != '.') || minor > 999)
        return ZS_ISA_NONE;
    unsigned long release = major * 1000 + minor;
    for (uint32_t i = ZS_ISA_NONE + 1; i < ZS_ISA_PLATFORM_COUNT; i++)
        if (release >= platforms[i].release_first && release <= platforms[i].release_last)
            return (enum zs_isa_platform)i;
    return ZS_ISA_NONE;
}

enum zs_isa_platform zs_isa_platform_from_device(const char *name)
{
    if (!name)
        return ZS_ISA_NONE;
    for (size_t i = 0; i < ZS_ARRAY_LEN(devices); i++)
        if (strcasecmp(devices[i].name, name) == 0)
            return (enum zs_isa_platform)devices[i].platform;
    for (uint32_t i = ZS_ISA_NONE + 1; i < ZS_ISA_PLATFORM_COUNT; i++)
        if (strcasecmp(platforms[i].info.name, name) == 0)
            return (enum zs_isa_platform)i;
    return name[0] >= '0' && name[0] <= '9' ? platform_from_release(name) : ZS_ISA_NONE;
}

enum zs_isa_platform zs_isa_platform_from_gfxcore(uint32_t gfxcore)
{
    for (uint32_t i = ZS_ISA_NONE + 1; i < ZS_ISA_PLATFORM_COUNT; i++)
        if (platforms[i].gfxcore == gfxcore)
            return (enum zs_isa_platform)i;
    return ZS_ISA_NONE;
}

enum zs_isa_platform zs_isa_platform_from_product(uint32_t product)
{
    for (size_t i = 0; i < ZS_ARRAY_LEN(devices); i++)
        if (devices[i].product == product)
            return (enum zs_isa_platform)devices[i].platform;
    return ZS_ISA_NONE;
}

const char *zs_isa_device_from_product(uint32_t product)
{
    for (size_t i = 0; i < ZS_ARRAY_LEN(devices); i++)
        if (devices[i].product == product)
            return devices[i].name;
    return NULL;
}

const char *zs_isa_device_from_gfxcore(uint32_t gfxcore)
{
    enum zs_isa_platform platform = zs_isa_platform_from_gfxcore(gfxcore);
    for (size_t i = 0; platform && i < ZS_ARRAY_LEN(devices); i++)
        if (devices[i].platform == (uint32_t)platform)
            return devices[i].name;
    return NULL;
}

const char *zs_isa_device_name(size_t index)
{
    /* those without an instruction set stand last */
    return index < ZS_ARRAY_LEN(devices) && devices[index].platform ? devices[index].name : NULL;
}
