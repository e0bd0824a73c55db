/* SPDX-License-Identifier: MIT */
/*
 * Which devices there are: ZESCOPE_DEVICES names them, ZE_AFFINITY_MASK hides some,
 * ZE_FLAT_DEVICE_HIERARCHY says whether tiles are sub-devices or devices.
 *
 *     ZESCOPE_DEVICES=skl,kbl:2      a Skylake, and a Kaby Lake of two tiles
 *
 * No Gen9 has tiles; a software one may: each is a whole GPU of its model, a sub-device of the root
 * device. The root has their EUs and memory together, and work on it runs on all of them.
 */
#include "driver/debug/debug.h"
#include "driver/metrics/metrics.h"

#include "base/buf.h"
#include "base/default_device.h"

#include <zescope/common.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { TILES_MAX = ZS_SUB_DEVICES_MAX };

enum hierarchy { COMPOSITE, FLAT, COMBINED };

/* One name in ZESCOPE_DEVICES. */
struct card {
    const struct zs_gpu_model *model;
    uint32_t tile_count; /* 1: no tiles */
    uint32_t visible;    /* bit per tile */
};

struct topology {
    enum hierarchy hierarchy;
    uint32_t count;
    struct card cards[ZS_DEVICES_MAX];
};

/* ---- What the environment says ---- */

static void put_names(struct zs_buf *out)
{
    zs_buf_puts(out, "; the devices are:");
    for (size_t i = 0; zs_gpu_model_at(i); i++)
        zs_buf_printf(out, " %s", zs_gpu_model_at(i)->name);
}

/* "skl", "skl:2" */
static bool parse_card(char *name, struct topology *t, struct zs_buf *why)
{
    char *colon = strchr(name, ':');
    unsigned long tiles = 1;
    if (colon) {
        char *end;
        tiles = colon[1] >= '0' && colon[1] <= '9' ? strtoul(colon + 1, &end, 10) : 0;
        if (tiles == 0 || tiles > TILES_MAX || *end) {
            zs_buf_printf(why, "%s: behind the colon stands a number of tiles, 1 to %d", name,
                          TILES_MAX);
            return false;
        }
        *colon = '\0';
    }
    const struct zs_gpu_model *model = zs_gpu_model_find(name);
    if (model && model->tiles_max && tiles > model->tiles_max) {
        zs_buf_printf(why, "%s:%lu: it has at most %u tiles", name, tiles, model->tiles_max);
        return false;
    }
    if (model && t->count < ZS_DEVICES_MAX) {
        t->cards[t->count++] = (struct card){model, (uint32_t)tiles, (1u << tiles) - 1};
        return true;
    }
    zs_buf_puts(why, name);
    zs_buf_puts(why, model ? " is one device too many" : " is not known");
    return false;
}

/* Where it is false, `why` says what is wrong, and which devices there are. */
static bool parse_cards(const char *list, struct topology *t, struct zs_buf *why)
{
    char *names = strdup(list && *list ? list : zs_default_device()), *rest = names;
    bool ok = names != NULL;
    for (char *part; ok && (part = strsep(&rest, ","));) {
        char *state = NULL, *name = strtok_r(part, " ", &state);
        if (!name) {
            zs_buf_printf(why, "\"%s\" has an empty name", list);
            ok = false;
        }
        for (; name && ok; name = strtok_r(NULL, " ", &state))
            ok = parse_card(name, t, why);
    }
    free(names);
    if (!ok)
        put_names(why);
    return ok;
}

/* zescope_pfnCheckDevices_t */
ZS_API int zescope_check_devices(const char *list, char *ret_why, size_t size_B);
int zescope_check_devices(const char *list, char *ret_why, size_t size_B)
{
    struct zs_buf why = {0};
    struct topology *t = calloc(1, sizeof(*t));
    bool ok = t && parse_cards(list, t, &why);
    snprintf(ret_why, size_B, "%s", ok ? "" : zs_buf_cstr(&why));
    zs_buf_fini(&why);
    free(t);
    return ok ? 0 : -EINVAL;
}

static enum hierarchy parse_hierarchy(const char *text)
{
    if (text && strcmp(text, "FLAT") == 0)
        return FLAT;
    return text && strcmp(text, "COMBINED") == 0 ? COMBINED : COMPOSITE;
}

/* Make a tile visible, or with `all` each one of the card; numbers of what is not there are
 * ignored, as the specification has it. */
static void show(struct topology *t, unsigned long card, unsigned long tile, bool all)
{
    if (card < t->count && (all || tile < t->cards[card].tile_count))
        t->cards[card].visible |= all ? (1u << t->cards[card].tile_count) - 1 : (uint32_t)1 << tile;
}

/* Tiles are devices: the mask counts them through all cards. */
static void show_flat(struct topology *t, unsigned long number)
{
    for (uint32_t i = 0; i < t->count; i++) {
        if (number < t->cards[i].tile_count) {
            show(t, i, number, false);
            return;
        }
        number -= t->cards[i].tile_count;
    }
}

/* "0,1.2": device 0 whole, of device 1 the sub-device 2. */
static void apply_mask(struct topology *t, const char *mask)
{
    if (!mask || !*mask)
        return;
    for (uint32_t i = 0; i < t->count; i++)
        t->cards[i].visible = 0;
    for (const char *at = mask; *at;) {
        size_t length = strcspn(at, ",");
        char *end;
        unsigned long card = strtoul(at, &end, 10), tile = 0;
        bool number = end > at && at[0] != '-', whole = *end != '.';
        if (number && !whole) {
            const char *second = end + 1;
            tile = strtoul(second, &end, 10);
            number = end > second && second[0] != '-';
        }
        end += strspn(end, " \t");
        if (!number || end != at + length)
            zs_log(ZS_LOG_WARN, "ZE_AFFINITY_MASK: %.*s is no device", (int)length, at);
        else if (t->hierarchy == COMPOSITE)
            show(t, card, tile, whole);
        else
            show_flat(t, card);
        at += length + (at[length] == ',');
    }
}

/* ---- Making devices ---- */

struct builder {
    struct zs_ze_driver *driver;
    uint64_t host_B;
};

/* The hardware threads of a tile are those of its root's slices. */
static int make_debuggable(struct zs_ze_device *device, const struct zs_ze_device *root)
{
    int error = 0;
    if (root) {
        device->debug_card = root->debug_card;
        device->first_slice = root->sub_count * device->model->slices;
    } else {
        error = zs_gpu_debug_card_add(zs_debug_gpu(device->driver->debug), device->model,
                                      device->model->slices, &device->debug_card);
    }
    if (!error)
        zs_gpu_device_debug(device->gpu, device->debug_card, device->first_slice);
    return error;
}

/* `tiles` of the model as one device; root: whose tile it is, or NULL. */
static struct zs_ze_device *make_device(const struct builder *b, const struct zs_ze_device *root,
                                        const struct zs_gpu_model *model, uint32_t card,
                                        uint32_t tiles)
{
    struct zs_ze_device *device = zs_object_new(ZS_OBJECT_device, sizeof(*device));
    if (!device)
        return NULL;
    device->driver = b->driver;
    device->own_model = zs_gpu_model_of_tiles(model, tiles);
    device->model = &device->own_model;
    device->card = card;
    pthread_mutex_init(&device->engines_lock, NULL);
    pthread_mutex_init(&device->metric_look.lock, NULL);
    device->memory_B = ZS_MIN(device->model->memory_B, b->host_B);
    int error = zs_gpu_device_create(device->model, 0, &device->gpu);
    if (!error && b->driver->debug)
        error = make_debuggable(device, root);
    if (!error && !zs_object_publish(device))
        error = -ENOMEM;
    if (error) {
        zs_log(ZS_LOG_ERROR, "device %s cannot be made: %s", model->name, strerror(-error));
        zs_object_unref(device);
        return NULL;
    }
    return device;
}

static bool list_device(struct zs_ze_driver *driver, struct zs_ze_device *device)
{
    if (driver->device_count == ZS_DEVICES_MAX)
        return false;
    device->index = driver->device_count;
    driver->devices[driver->device_count++] = device;
    zs_log(ZS_LOG_INFO, "device %u: %s (%s)%s", device->index, device->model->marketing,
           device->model->name, device->parent ? ", a tile" : "");
    return true;
}

/* The root device, which owns its tiles; NULL: no memory. */
static struct zs_ze_device *make_root(const struct builder *b, const struct card *card,
                                      uint32_t number, uint32_t tiles)
{
    struct zs_ze_device *root = make_device(b, NULL, card->model, number, tiles);
    if (!root)
        return NULL;
    for (uint32_t i = 0; i < card->tile_count; i++) {
        if (!(card->visible & (1u << i)))
            continue;
        struct zs_ze_device *tile = make_device(b, root, card->model, number, 1);
        if (!tile) {
            zs_object_unref(root);
            return NULL;
        }
        tile->parent = root;
        tile->tile = i + 1;
        tile->sub_index = root->sub_count;
        root->subs[root->sub_count++] = tile;
    }
    return root;
}

static bool own(struct zs_ze_driver *driver, struct zs_ze_device *device)
{
    if (device)
        driver->owned[driver->owned_count++] = device;
    return device != NULL;
}

static bool add_card(const struct builder *b, const struct card *card, uint32_t number,
                     enum hierarchy hierarchy)
{
    struct zs_ze_driver *driver = b->driver;
    uint32_t tiles = (uint32_t)__builtin_popcount(card->visible);
    if (tiles == 0)
        return true;
    /* one tile alone is reported as a device */
    if (tiles == 1 && hierarchy != COMBINED) {
        struct zs_ze_device *device = make_device(b, NULL, card->model, number, 1);
        if (!own(driver, device))
            return false;
        device->tile = card->tile_count > 1 ? (uint32_t)__builtin_ctz(card->visible) + 1 : 0;
        return list_device(driver, device);
    }
    if (card->tile_count == 1) {
        struct zs_ze_device *device = make_device(b, NULL, card->model, number, 1);
        return own(driver, device) && list_device(driver, device);
    }
    struct zs_ze_device *root = make_root(b, card, number, tiles);
    if (!own(driver, root))
        return false;
    root->hidden = hierarchy != COMPOSITE;
    if (!root->hidden && !list_device(driver, root))
        return false;
    for (uint32_t i = 0; i < root->sub_count; i++) {
        struct zs_ze_device *tile = root->subs[i];
        tile->flat = hierarchy == FLAT;
        tile->index = root->index;
        if (root->hidden && !list_device(driver, tile))
            return false;
    }
    return true;
}

bool zs_topology_make(struct zs_ze_driver *driver)
{
    struct topology *t = calloc(1, sizeof(*t));
    driver->devices = calloc(ZS_DEVICES_MAX, sizeof(struct zs_ze_device *));
    driver->owned = calloc(ZS_DEVICES_MAX, sizeof(struct zs_ze_device *));
    struct zs_buf why = {0};
    bool ok =
        t && driver->devices && driver->owned && parse_cards(zs_env("ZESCOPE_DEVICES"), t, &why);
    if (why.size_B)
        zs_log(ZS_LOG_ERROR, "ZESCOPE_DEVICES: %s", zs_buf_cstr(&why));
    zs_buf_fini(&why);
    if (ok) {
        t->hierarchy = parse_hierarchy(zs_env("ZE_FLAT_DEVICE_HIERARCHY"));
        apply_mask(t, zs_env("ZE_AFFINITY_MASK"));
    }
    const struct builder b = {.driver = driver,
                              .host_B = (uint64_t)sysconf(_SC_PHYS_PAGES) *
                                        (uint64_t)sysconf(_SC_PAGESIZE)};
    for (uint32_t i = 0; ok && i < t->count; i++)
        ok = add_card(&b, &t->cards[i], i, t->hierarchy);
    if (ok && driver->device_count == 0)
        zs_log(ZS_LOG_ERROR, "ZE_AFFINITY_MASK=%s hides all devices", zs_env("ZE_AFFINITY_MASK"));
    free(t);
    return ok && driver->device_count > 0;
}

void zs_ze_device_fini(struct zs_ze_device *device)
{
    for (uint32_t i = 0; i < device->sub_count; i++) {
        (void)zs_object_retract(device->subs[i]);
        zs_object_unref(device->subs[i]);
    }
    zs_metrics_free(device);
    if (device->gpu)
        zs_gpu_device_destroy(device->gpu);
    pthread_mutex_destroy(&device->metric_look.lock);
    pthread_mutex_destroy(&device->engines_lock);
}

void zs_topology_free(struct zs_ze_driver *driver)
{
    for (uint32_t i = 0; i < driver->owned_count; i++) {
        (void)zs_object_retract(driver->owned[i]);
        zs_object_unref(driver->owned[i]);
    }
    free(driver->owned);
    free(driver->devices);
}

static const struct zs_ze_device *root_of(const struct zs_ze_device *device)
{
    return device->parent && !device->flat ? device->parent : device;
}

bool zs_devices_share(const struct zs_ze_device *a, const struct zs_ze_device *b)
{
    return root_of(a) == root_of(b);
}
