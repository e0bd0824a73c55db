/* SPDX-License-Identifier: MIT */
/*
 * Exported metric data: raw reports and what is needed to calculate their values elsewhere, by this
 * driver without the device, or by a reader of docs/metrics.md. All little-endian:
 *
 *   0  u32  magic "ZSME"
 *   4  u16  version, 1
 *   6  u16  flags: bit 0, the model of time was on
 *   8  u32  bytes of this header, 128
 *  12  u32  sampling type (zet_metric_group_sampling_type_flag_t)
 *  16  char[32]  device model ("skl"), filled with zeros
 *  48  char[64]  metric group, filled with zeros
 * 112  u32  slices of the device
 * 116  u32  0
 * 120  u64  bytes of raw reports, which follow
 */
#include "driver/ddi.h"
#include "driver/metrics/metrics.h"

#include <stdlib.h>
#include <string.h>

enum {
    EXPORT_MAGIC = 0x454d535a,
    EXPORT_VERSION = 1,
    EXPORT_TIMED = 1,
    EXPORT_HEADER_B = 128,
    EXPORT_MODEL_B = 32,
    EXPORT_GROUP_B = 64,
    SLICES_MOST = 1024,
};

static void put(uint8_t *at, uint64_t value, size_t size_B)
{
    for (size_t i = 0; i < size_B; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

ze_result_t ZE_APICALL zetMetricGroupGetExportDataExp(zet_metric_group_handle_t hMetricGroup,
                                                      const uint8_t *pRawData, size_t rawDataSize,
                                                      size_t *pExportDataSize, uint8_t *pExportData)
{
    ZS_OBJECT_REF(metric_group, group, hMetricGroup);
    ZS_CHECK_POINTER(pRawData);
    ZS_CHECK_POINTER(pExportDataSize);
    ZS_CHECK(!group->user, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
             "the data of a group that the program made has no description that outlives it");
    ZS_CHECK(rawDataSize <= SIZE_MAX - EXPORT_HEADER_B, ZE_RESULT_ERROR_INVALID_SIZE,
             "%zu bytes of raw data", rawDataSize);
    size_t need_B = EXPORT_HEADER_B + rawDataSize;
    if (*pExportDataSize == 0 || !pExportData) {
        *pExportDataSize = need_B;
        return ZE_RESULT_SUCCESS;
    }
    ZS_CHECK(*pExportDataSize >= need_B, ZE_RESULT_ERROR_INVALID_SIZE,
             "room for %zu bytes, %zu are needed", *pExportDataSize, need_B);
    const struct zs_gpu_model *model = group->device->model;
    const struct zs_metrics *m = group->device->metrics;
    uint8_t *at = pExportData;
    memset(at, 0, EXPORT_HEADER_B);
    put(at, EXPORT_MAGIC, 4);
    put(at + 4, EXPORT_VERSION, 2);
    put(at + 6, m->timed ? EXPORT_TIMED : 0, 2);
    put(at + 8, EXPORT_HEADER_B, 4);
    put(at + 12, group->sampling, 4);
    memcpy(at + 16, model->name, strnlen(model->name, EXPORT_MODEL_B - 1));
    const char *name = zs_metric_set_name(group->set);
    memcpy(at + 48, name, strnlen(name, EXPORT_GROUP_B - 1));
    put(at + 112, model->slices, 4);
    put(at + 120, rawDataSize, 8);
    memmove(at + EXPORT_HEADER_B, pRawData, rawDataSize);
    *pExportDataSize = need_B;
    return ZE_RESULT_SUCCESS;
}

/* A text of a fixed field; false: it does not end there. */
static bool read_text(struct zs_reader *r, char *ret, size_t size_B)
{
    for (size_t i = 0; i < size_B; i++)
        ret[i] = (char)zs_read_u8(r, "text");
    return !ret[size_B - 1];
}

static bool find_set(const struct zs_gpu_model *model, const char *name, enum zs_metric_set *ret)
{
    for (uint32_t set = 0; set < ZS_METRIC_SETS; set++) {
        if (zs_metric_set_is_of(model, (enum zs_metric_set)set, true) &&
            strcmp(zs_metric_set_name((enum zs_metric_set)set), name) == 0) {
            *ret = (enum zs_metric_set)set;
            return true;
        }
    }
    return false;
}

/* NULL, or what is wrong with the data. `model` becomes the device's. */
static const char *read_export(struct zs_span data, struct zs_gpu_model *model,
                               struct zs_metric_calculation *ret)
{
    struct zs_reader r = zs_reader_make(data, 0, NULL);
    char name[EXPORT_MODEL_B], group[EXPORT_GROUP_B];
    uint32_t magic = zs_read_u32(&r, "magic"), version = zs_read_u16(&r, "version");
    uint32_t flags = zs_read_u16(&r, "flags"), header_B = zs_read_u32(&r, "header");
    uint32_t sampling = zs_read_u32(&r, "sampling");
    bool ends = read_text(&r, name, sizeof(name));
    ends = read_text(&r, group, sizeof(group)) && ends;
    uint32_t slices = zs_read_u32(&r, "slices");
    zs_read_skip(&r, 4, "reserved");
    uint64_t raw_B = zs_read_u64(&r, "raw data");
    if (r.error || magic != EXPORT_MAGIC || version != EXPORT_VERSION ||
        header_B != EXPORT_HEADER_B)
        return "no data that this version of the driver exported";
    if (raw_B != data.size_B - EXPORT_HEADER_B)
        return "data of another size than its header says";
    const struct zs_gpu_model *known = ends ? zs_gpu_model_find(name) : NULL;
    if (!known || slices == 0 || slices > SLICES_MOST)
        return "data of a device that this driver does not know";
    if (!find_set(known, group, &ret->set) ||
        (sampling == ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EXP_TRACER_BASED) !=
            zs_metric_is_traced(ret->set) ||
        (sampling != ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED &&
         sampling != ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED &&
         sampling != ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EXP_TRACER_BASED))
        return "data of a metric group that this driver does not know";
    *model = *known;
    model->slices = slices;
    ret->model = model;
    ret->row_count = zs_metric_rows(model, ret->set, sampling, flags & EXPORT_TIMED, ret->rows);
    ret->data = zs_span_make((const uint8_t *)data.data + EXPORT_HEADER_B, (size_t)raw_B);
    return NULL;
}

ze_result_t ZE_APICALL zetMetricGroupCalculateMetricExportDataExp(
    ze_driver_handle_t hDriver, zet_metric_group_calculation_type_t type, size_t exportDataSize,
    const uint8_t *pExportData, zet_metric_calculate_exp_desc_t *pCalculateDescriptor,
    uint32_t *pSetCount, uint32_t *pTotalMetricValueCount, uint32_t *pMetricCounts,
    zet_typed_value_t *pMetricValues)
{
    ZS_OBJECT(driver, driver, hDriver);
    ZS_CHECK_ENUM(type, ZET_METRIC_GROUP_CALCULATION_TYPE_MAX_METRIC_VALUES);
    ZS_CHECK_POINTER(pExportData);
    ZS_CHECK_POINTER(pCalculateDescriptor);
    ZS_CHECK_POINTER(pSetCount);
    ZS_CHECK_POINTER(pTotalMetricValueCount);
    (void)driver;
    struct zs_gpu_model model;
    struct zs_metric_calculation c = {
        .function = __func__, .max = type == ZET_METRIC_GROUP_CALCULATION_TYPE_MAX_METRIC_VALUES};
    const char *wrong = read_export(zs_span_make(pExportData, exportDataSize), &model, &c);
    ZS_CHECK(!wrong, ZE_RESULT_ERROR_INVALID_ARGUMENT, "pExportData is %s", wrong);
    uint64_t skip_B =
        (uint64_t)pCalculateDescriptor->rawReportSkipCount * zs_metric_report_B(c.set);
    ZS_CHECK(skip_B == 0 || skip_B < c.data.size_B, ZE_RESULT_ERROR_INVALID_ARGUMENT,
             "there are no %u reports to skip", pCalculateDescriptor->rawReportSkipCount);
    c.data = zs_span_make((const uint8_t *)c.data.data + skip_B, c.data.size_B - (size_t)skip_B);
    return zs_metric_calculate_sets(&c, pSetCount, pTotalMetricValueCount, pMetricCounts,
                                    pMetricValues);
}
