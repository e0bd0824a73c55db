/* SPDX-License-Identifier: MIT */
#include "gpu/gpu.h"

#include <strings.h>

static const struct zs_gpu_model models[] = {
#define ZS_GPU_MODEL(...) {.vendor_id = 0x8086, __VA_ARGS__},
#include "gpu/model.def"
#undef ZS_GPU_MODEL
};

size_t zs_gpu_model_count(void)
{
    return ZS_ARRAY_LEN(models);
}

const struct zs_gpu_model *zs_gpu_model_at(size_t index)
{
    return index < ZS_ARRAY_LEN(models) ? &models[index] : NULL;
}

const struct zs_gpu_model *zs_gpu_model_find(const char *name)
{
    static const char *const aliases[][2] = {
        {"skl-gt2", "skl"},     {"kbl-gt2", "kbl"},     {"cfl-gt2", "cfl"},
        {"apl", "bxt"},         {"bxt-3x6", "bxt"},     {"glk-3x6", "glk"},
        {"jsl", "ehl"},         {"icllp-1x8", "icllp"}, {"tgllp-1x6", "tgllp"},
        {"adls", "adl-s"},      {"adlp", "adl-p"},      {"adln", "adl-n"},
        {"dg2", "acm-g10"},     {"dg2-g10", "acm-g10"}, {"dg2-g11", "acm-g11"},
        {"dg2-g12", "acm-g12"}, {"mtl-u", "mtl"},       {"arl", "arl-h"},
        {"bmg-g21", "bmg"},     {"lnl-m", "lnl"},       {"ptl-h", "ptl"},
        {"nvl-hx", "nvl-s"},    {"nvl-ul", "nvl-s"},    {"nvl-h", "nvl-u"},
    };
    for (size_t i = 0; i < ZS_ARRAY_LEN(aliases); i++) {
        if (strcasecmp(aliases[i][0], name) == 0)
            name = aliases[i][1];
    }
    for (size_t i = 0; i < ZS_ARRAY_LEN(models); i++) {
        if (strcasecmp(models[i].name, name) == 0)
            return &models[i];
    }
    return NULL;
}

struct zs_gpu_model zs_gpu_model_of_tiles(const struct zs_gpu_model *tile, uint32_t tiles)
{
    struct zs_gpu_model model = *tile;
    model.tiles = tiles;
    model.slices *= tiles;
    model.l3_cache_B *= tiles;
    model.memory_bus_bits *= tiles;
    model.memory_B *= tiles;
    return model;
}

uint32_t zs_gpu_model_eus(const struct zs_gpu_model *model)
{
    return model->slices * model->subslices_per_slice * model->eus_per_subslice;
}

uint32_t zs_gpu_model_threads_per_eu(const struct zs_gpu_model *model, uint32_t grf_count)
{
    static const struct {
        uint32_t grf_count, threads;
    } steps[] = {{96, 10}, {128, 8}, {160, 6}, {192, 5}, {256, 4}, {320, 3}, {512, 2}};
    for (size_t i = 0; model->platform >= ZS_ISA_XE3 && i < ZS_ARRAY_LEN(steps); i++) {
        if (grf_count <= steps[i].grf_count)
            return ZS_MIN(ZS_MAX(steps[i].threads, model->threads_least), model->threads_per_eu);
    }
    return grf_count > model->grf_count ? model->threads_per_eu / 2 : model->threads_per_eu;
}

uint32_t zs_gpu_model_threads_for(const struct zs_gpu_model *model, uint32_t grf_count)
{
    return zs_gpu_model_eus(model) * zs_gpu_model_threads_per_eu(model, grf_count);
}

uint32_t zs_gpu_model_threads(const struct zs_gpu_model *model)
{
    return zs_gpu_model_threads_for(model, model->grf_count);
}
