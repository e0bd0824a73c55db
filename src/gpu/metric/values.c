/* SPDX-License-Identifier: MIT */
/* Raw reports, and values from them. What comes back from the program is hostile. */
#include "gpu/metric/metric.h"

#include <math.h>
#include <string.h>

static const uint64_t BYTES_PER_CYCLE = 64; /* of a subslice, between its EUs and L3 or SLM */

/* ---- Raw reports -------------------------------------------------------------------------------
 */

static void put(uint8_t **at, uint64_t value, size_t size_B)
{
    for (size_t i = 0; i < size_B; i++)
        *(*at)++ = (uint8_t)(value >> (8 * i));
}

void zs_metric_report_write(const struct zs_metric_report *r, uint8_t *ret_bytes)
{
    uint8_t *at = ret_bytes;
    put(&at, ZS_RAW_MAGIC, 4);
    put(&at, ZS_RAW_VERSION, 2);
    put(&at, r->sampling, 2);
    put(&at, zs_metric_report_B(r->set), 4);
    put(&at, zs_metric_counters_of(r->set), 4);
    put(&at, r->set, 4);
    put(&at, r->flags, 4);
    put(&at, r->marker, 4);
    put(&at, 0, 4);
    put(&at, r->begin_ticks, 8);
    put(&at, r->end_ticks, 8);
    put(&at, r->elapsed_ns, 8);
    put(&at, r->cycles, 8);
    for (uint32_t i = 0; i < zs_metric_counters_of(r->set); i++)
        put(&at, r->counters[zs_metric_counter_at(r->set, i)], 8);
    memset(at, 0, zs_metric_report_B(r->set) - zs_metric_used_B(r->set));
}

/* False: not a report of the set that this version wrote. */
static bool read_report(struct zs_reader *r, uint32_t set, struct zs_metric_report *ret)
{
    uint32_t magic = zs_read_u32(r, "magic"), version = zs_read_u16(r, "version");
    ret->sampling = zs_read_u16(r, "sampling");
    uint32_t size_B = zs_read_u32(r, "size"), counters = zs_read_u32(r, "counters");
    ret->set = zs_read_u32(r, "set");
    ret->flags = zs_read_u32(r, "flags");
    ret->marker = zs_read_u32(r, "marker");
    zs_read_skip(r, 4, "reserved");
    ret->begin_ticks = zs_read_u64(r, "begin");
    ret->end_ticks = zs_read_u64(r, "end");
    ret->elapsed_ns = zs_read_u64(r, "time");
    ret->cycles = zs_read_u64(r, "cycles");
    for (uint32_t i = 0; i < zs_metric_counters_of(set); i++)
        ret->counters[zs_metric_counter_at(set, i)] = zs_read_u64(r, "counter");
    zs_read_skip(r, zs_metric_report_B(set) - zs_metric_used_B(set), "room");
    return !r->error && magic == ZS_RAW_MAGIC && version == ZS_RAW_VERSION && ret->set == set &&
           size_B == zs_metric_report_B(set) && counters == zs_metric_counters_of(set);
}

bool zs_metric_report_read(struct zs_span bytes, uint32_t set, struct zs_metric_report *ret)
{
    struct zs_reader reader = zs_reader_make(bytes, 0, NULL);
    return read_report(&reader, set, ret);
}

/* ---- Values ------------------------------------------------------------------------------------
 */

/* What a value is made from. */
struct source {
    const struct zs_gpu_model *model;
    const struct zs_metric_report *report;
    const struct zs_metric_row *row;
};

static double part(double of, double all)
{
    double percent = all > 0 ? 100 * of / all : 0;
    return percent > 100 ? 100 : percent;
}

static double subslices(const struct zs_gpu_model *model)
{
    return (double)model->slices * model->subslices_per_slice;
}

static double all_eus(const struct source *s)
{
    return (double)zs_gpu_model_eus(s->model) * (double)s->report->cycles;
}

static double sum(const struct source *s)
{
    uint64_t value = 0;
    for (const uint16_t *c = s->row->counters; *c; c++)
        if (zs_metric_has_counter(s->report->set, *c - 1u))
            value += s->report->counters[*c - 1];
    return (double)value;
}

static double time_ns(const struct source *s)
{
    return (double)s->report->elapsed_ns;
}

static double clocks(const struct source *s)
{
    return (double)s->report->cycles;
}

static double frequency(const struct source *s)
{
    const struct zs_metric_report *r = s->report;
    double MHz = (double)s->model->core_clock_MHz, ns = (double)r->elapsed_ns;
    /* times are whole nanoseconds: that is no other clock */
    bool same = fabs((double)r->cycles - ns * MHz / 1000) <= MHz / 1000 + 1;
    return same ? MHz : ns > 0 ? (double)r->cycles * 1000 / ns : MHz;
}

static double frequency_max(const struct source *s)
{
    return (double)s->model->core_clock_MHz;
}

/* The first counter less the others. */
static double less(const struct source *s)
{
    double first = (double)s->report->counters[s->row->counters[0] - 1];
    return 2 * first > sum(s) ? 2 * first - sum(s) : 0;
}

static double less_of_eus(const struct source *s)
{
    return part(less(s), all_eus(s));
}

static double part_of_clocks(const struct source *s)
{
    return part(sum(s), (double)s->report->cycles);
}

static double part_of_eus(const struct source *s)
{
    return part(sum(s), all_eus(s));
}

static double part_of_threads(const struct source *s)
{
    return part(sum(s), (double)zs_gpu_model_threads(s->model) * (double)s->report->cycles);
}

static double stall_cycles(const struct source *s)
{
    const uint64_t *c = s->report->counters;
    uint64_t loaded = c[ZS_METRIC_eu_loaded_cycles], active = c[ZS_METRIC_eu_active_cycles];
    return loaded > active ? (double)(loaded - active) : 0;
}

static double stall(const struct source *s)
{
    return part(stall_cycles(s), all_eus(s));
}

static double hundred(const struct source *s)
{
    (void)s;
    return 100;
}

static double lanes(const struct source *s)
{
    const uint64_t *c = s->report->counters;
    return c[ZS_METRIC_instructions]
               ? (double)c[ZS_METRIC_active_lanes] / (double)c[ZS_METRIC_instructions]
               : 0;
}

static double lanes_max(const struct source *s)
{
    (void)s;
    return 16;
}

static double sectors(const struct source *s)
{
    return sum(s) * 64;
}

static double per_ns(const struct source *s, double value)
{
    return s->report->elapsed_ns ? value / (double)s->report->elapsed_ns : 0;
}

static double rate(const struct source *s)
{
    return per_ns(s, sum(s));
}

static double sector_rate(const struct source *s)
{
    return per_ns(s, sectors(s));
}

static double part_of_slices(const struct source *s)
{
    return part(sum(s), (double)s->report->cycles * s->model->slices);
}

static double ipc(const struct source *s)
{
    const uint64_t *c = s->report->counters;
    double both = (double)c[ZS_METRIC_fpu_both_active];
    double any = (double)c[ZS_METRIC_fpu0_active] + (double)c[ZS_METRIC_fpu1_active] - both;
    return any > 0 ? 1 + both / any : 0;
}

static double two(const struct source *s)
{
    (void)s;
    return 2;
}

static double any(const struct source *s)
{
    return sum(s) > 0 ? 1 : 0;
}

static double one(const struct source *s)
{
    (void)s;
    return 1;
}

static double sector_use(const struct source *s)
{
    const uint64_t *c = s->report->counters;
    uint64_t asked = c[ZS_METRIC_untyped_bytes_read] + c[ZS_METRIC_untyped_bytes_written] +
                     c[ZS_METRIC_typed_bytes_read] + c[ZS_METRIC_typed_bytes_written] +
                     c[ZS_METRIC_scratch_bytes_read] + c[ZS_METRIC_scratch_bytes_written];
    double moved = sum(s) * 64; /* lanes that share a dword ask for more than is moved */
    return moved > 0 ? 100 * (double)asked / moved : 0;
}

static double replayed(const struct source *s)
{
    const uint64_t *c = s->report->counters;
    uint64_t all = c[ZS_METRIC_instructions]; /* of none nothing is missing */
    return all ? part((double)c[ZS_METRIC_replayed], (double)all) : 100;
}

static double estimate_error(const struct source *s)
{
    const uint64_t *c = s->report->counters;
    return part((double)c[ZS_METRIC_doubt_cycles], (double)c[ZS_METRIC_busy_cycles]);
}

#define TEST_COUNTER(a, b)                                                                         \
    static double test_##a##_##b(const struct source *s)                                           \
    {                                                                                              \
        return (double)s->report->cycles * (a) / (b);                                              \
    }
TEST_COUNTER(0, 1)
TEST_COUNTER(1, 1)
TEST_COUNTER(1, 2)
TEST_COUNTER(1, 3)
TEST_COUNTER(1, 6)
TEST_COUNTER(2, 3)

/* Throughputs: what the subslices could move; others have no largest value but their own. */
static double sum_max(const struct source *s)
{
    return s->row->type == ZET_METRIC_TYPE_THROUGHPUT
               ? (double)s->report->cycles * (double)BYTES_PER_CYCLE * subslices(s->model)
               : sum(s);
}

/* Tools cut an event's timestamps to the bits that this has, and look up which kernel ran then. */
uint64_t zs_metric_time_ns(const struct zs_gpu_model *model, uint64_t ticks)
{
    ticks &= UINT64_MAX >> (64 - model->metric_timestamp_bits + model->metric_timer_shift);
    return (uint64_t)((__uint128_t)ticks * 1000000000u / model->timer_Hz);
}

static double timestamp(const struct source *s)
{
    return (double)zs_metric_time_ns(s->model, s->report->begin_ticks);
}

static double address_8(const struct source *s)
{
    return (double)(s->report->counters[0] >> 3 & 0x1fffffff);
}

static double marker(const struct source *s)
{
    return s->report->flags & ZS_RAW_MARKER ? (double)s->report->marker : 0;
}

static const struct {
    double (*value)(const struct source *s);
    double (*max)(const struct source *s); /* NULL: the value itself */
    zet_value_type_t type;
} hows[ZS_HOWS] = {
    [ZS_HOW_TIME] = {time_ns, NULL, ZET_VALUE_TYPE_UINT64},
    [ZS_HOW_CLOCKS] = {clocks, NULL, ZET_VALUE_TYPE_UINT64},
    [ZS_HOW_FREQUENCY] = {frequency, frequency_max, ZET_VALUE_TYPE_UINT64},
    [ZS_HOW_SUM] = {sum, sum_max, ZET_VALUE_TYPE_UINT64},
    [ZS_HOW_LESS] = {less, NULL, ZET_VALUE_TYPE_UINT64},
    [ZS_HOW_LESS_OF_EUS] = {less_of_eus, hundred, ZET_VALUE_TYPE_FLOAT32},
    [ZS_HOW_PART_OF_CLOCKS] = {part_of_clocks, hundred, ZET_VALUE_TYPE_FLOAT32},
    [ZS_HOW_PART_OF_EUS] = {part_of_eus, hundred, ZET_VALUE_TYPE_FLOAT32},
    [ZS_HOW_PART_OF_THREADS] = {part_of_threads, hundred, ZET_VALUE_TYPE_FLOAT32},
    [ZS_HOW_STALL] = {stall, hundred, ZET_VALUE_TYPE_FLOAT32},
    [ZS_HOW_STALL_CYCLES] = {stall_cycles, NULL, ZET_VALUE_TYPE_UINT64},
    [ZS_HOW_LANES] = {lanes, lanes_max, ZET_VALUE_TYPE_FLOAT32},
    [ZS_HOW_SECTORS] = {sectors, sum_max, ZET_VALUE_TYPE_UINT64},
    [ZS_HOW_PART_OF_SLICES] = {part_of_slices, hundred, ZET_VALUE_TYPE_FLOAT32},
    [ZS_HOW_IPC] = {ipc, two, ZET_VALUE_TYPE_FLOAT32},
    [ZS_HOW_ANY] = {any, one, ZET_VALUE_TYPE_UINT64},
    [ZS_HOW_SECTOR_USE] = {sector_use, NULL, ZET_VALUE_TYPE_FLOAT32},
    [ZS_HOW_REPLAYED] = {replayed, hundred, ZET_VALUE_TYPE_FLOAT32},
    [ZS_HOW_ESTIMATE_ERROR] = {estimate_error, hundred, ZET_VALUE_TYPE_FLOAT32},
    [ZS_HOW_ADDRESS] = {sum, NULL, ZET_VALUE_TYPE_UINT64}, /* value_of() takes it as it is */
    [ZS_HOW_ADDRESS_8] = {address_8, NULL, ZET_VALUE_TYPE_UINT64},
    [ZS_HOW_TEST_0_1] = {test_0_1, NULL, ZET_VALUE_TYPE_UINT64},
    [ZS_HOW_TEST_1_1] = {test_1_1, NULL, ZET_VALUE_TYPE_UINT64},
    [ZS_HOW_TEST_1_2] = {test_1_2, NULL, ZET_VALUE_TYPE_UINT64},
    [ZS_HOW_TEST_1_3] = {test_1_3, NULL, ZET_VALUE_TYPE_UINT64},
    [ZS_HOW_TEST_1_6] = {test_1_6, NULL, ZET_VALUE_TYPE_UINT64},
    [ZS_HOW_TEST_2_3] = {test_2_3, NULL, ZET_VALUE_TYPE_UINT64},
    [ZS_HOW_TIMESTAMP] = {timestamp, NULL, ZET_VALUE_TYPE_UINT64},
    [ZS_HOW_MARKER] = {marker, NULL, ZET_VALUE_TYPE_UINT64},
    [ZS_HOW_RATE] = {rate, NULL, ZET_VALUE_TYPE_FLOAT32},
    [ZS_HOW_SECTOR_RATE] = {sector_rate, NULL, ZET_VALUE_TYPE_FLOAT32},
};

zet_value_type_t zs_metric_value_type(const struct zs_metric_row *row)
{
    return hows[row->how].type;
}

static zet_typed_value_t value_of(const struct source *s, bool max)
{
    zet_typed_value_t typed = {.type = hows[s->row->how].type};
    double (*function)(const struct source *) =
        max && hows[s->row->how].max ? hows[s->row->how].max : hows[s->row->how].value;
    double value = function(s);
    if (s->row->how == ZS_HOW_ADDRESS) /* every bit of it */
        typed.value.ui64 = s->report->counters[0];
    else if (typed.type == ZET_VALUE_TYPE_FLOAT32)
        typed.value.fp32 = (float)value;
    else if (value < 0x1p64)
        typed.value.ui64 = (uint64_t)value;
    else
        typed.value.ui64 = UINT64_MAX;
    return typed;
}

zet_typed_value_t zs_metric_value(const struct zs_gpu_model *model,
                                  const struct zs_metric_report *report,
                                  const struct zs_metric_row *row)
{
    const struct source s = {model, report, row};
    return value_of(&s, false);
}

zet_typed_value_t zs_metric_value_max(const struct zs_gpu_model *model,
                                      const struct zs_metric_report *report,
                                      const struct zs_metric_row *row)
{
    const struct source s = {model, report, row};
    return value_of(&s, true);
}
