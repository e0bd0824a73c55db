/* SPDX-License-Identifier: MIT */
/* Which device an image is for. */
#include "module/module_priv.h"

#include <stdlib.h>
#include <strings.h>

struct device_row {
    const char *name;
    uint32_t gfxcore, product_family, major, minor;
};

static const struct device_row devices[] = {
#define ZS_DEVICE(name, platform, gfxcore, product, major, minor, ...)                             \
    {name, gfxcore, product, major, minor},
#include "base/devices.def"
#undef ZS_DEVICE
};

static uint32_t config_make(uint32_t major, uint32_t minor, uint32_t revision)
{
    return major << 22 | minor << 14 | revision;
}

static const struct device_row *row_of_image(const struct zs_image *image, bool *ret_exact)
{
    *ret_exact = true;
    for (size_t i = 0; image->product_config && i < ZS_ARRAY_LEN(devices); i++)
        if (config_make(devices[i].major, devices[i].minor, 0) ==
            (image->product_config & ~UINT32_C(0x3fff)))
            return &devices[i];
    for (size_t i = 0; image->product_family && i < ZS_ARRAY_LEN(devices); i++)
        if (devices[i].product_family == image->product_family)
            return &devices[i];
    *ret_exact = false;
    for (size_t i = 0; image->gfxcore && i < ZS_ARRAY_LEN(devices); i++)
        if (devices[i].gfxcore == image->gfxcore)
            return &devices[i];
    return NULL;
}

void zs_image_name_device(struct zs_image *image)
{
    const struct device_row *row = row_of_image(image, &image->device_exact);
    image->device = row ? row->name : "";
    if (row && !image->gfxcore)
        image->gfxcore = row->gfxcore;
}

/* "12.55.8" to a product configuration. */
static uint32_t config_of_version(const char *text)
{
    uint32_t number[3] = {0};
    for (int i = 0; i < 3; i++) {
        char *end;
        if (*text < '0' || *text > '9')
            return 0;
        unsigned long value = strtoul(text, &end, 10);
        if (value > 255 || (i < 2 ? *end != '.' : *end != '\0'))
            return 0;
        number[i] = (uint32_t)value;
        text = end + 1;
    }
    return config_make(number[0], number[1], number[2]);
}

uint32_t zs_device_config_of_member(const char *name)
{
    /* "64.9.0.9": pointer size and version; older ocloc writes "64.skl" or "64.Gen9" */
    if (!strncmp(name, "64.", 3) || !strncmp(name, "32.", 3))
        name += 3;
    uint32_t config = config_of_version(name);
    for (size_t i = 0; !config && i < ZS_ARRAY_LEN(devices); i++)
        if (!strcasecmp(devices[i].name, name))
            config = config_make(devices[i].major, devices[i].minor, 0);
    return config;
}

uint32_t zs_gfxcore_grf_B(uint32_t gfxcore)
{
    return gfxcore >= 0x0c08 ? 64 : 32;
}

/* Code for the first of a line runs on those up to the last, as Intel's driver has it
 * (compatibilityMapping, platforms.h of compute-runtime). */
static bool runs_on(const struct device_row *row, const struct device_row *want)
{
    static const struct {
        uint32_t major, first, last;
    } lines[] = {{12, 55, 57}, {12, 70, 71}, {20, 1, 4}, {30, 0, 5}};
    for (size_t i = 0; i < ZS_ARRAY_LEN(lines); i++)
        if (row->major == lines[i].major && row->minor == lines[i].first &&
            want->major == lines[i].major && want->minor >= row->minor &&
            want->minor <= lines[i].last)
            return true;
    return false;
}

const struct zs_image *zs_module_image(const struct zs_module *module, const char *device)
{
    const struct device_row *want = NULL;
    const struct zs_image *alike = NULL, *family = NULL;
    for (size_t i = 0; !want && i < ZS_ARRAY_LEN(devices); i++)
        if (!strcasecmp(devices[i].name, device))
            want = &devices[i];
    for (uint32_t i = 0; want && i < module->image_count; i++) {
        const struct zs_image *image = &module->images[i];
        bool exact;
        const struct device_row *row = row_of_image(image, &exact);
        if (!row || row->gfxcore != want->gfxcore)
            continue;
        bool same_minor = !image->product_config || row->minor == want->minor;
        if (exact && row->product_family == want->product_family && same_minor)
            return image;
        if (!alike && exact && runs_on(row, want))
            alike = image;
        if (!family && !exact)
            family = image;
    }
    return alike ? alike : family;
}
