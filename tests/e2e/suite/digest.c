/* SPDX-License-Identifier: MIT */
/*
 * A line for each launch: what it left in memory, and how often each instruction was executed, by
 * how many lanes. Two runs by different code of the driver's are compared by these lines
 * (test_compiled.py).
 */
#include "suite_priv.h"

#include <zescope/driver_ext.h>

struct suite_digest {
    FILE *file;
    zescope_pfnKernelGetCounts_t get_counts;
};

static uint64_t mix(uint64_t hash, uint64_t value)
{
    return (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15) >> 7 ^ hash << 57;
}

static uint64_t of_bytes(uint64_t hash, const uint8_t *bytes, size_t size_B)
{
    for (size_t i = 0; i < size_B; i++)
        hash = mix(hash, bytes[i]);
    return hash;
}

/* One NaN is as good as the other. */
static uint64_t element(const struct suite_buffer *b, size_t i)
{
    size_t size_B = suite_type_size(b->type);
    uint64_t value = 0;
    memcpy(&value, (const uint8_t *)b->device + i * size_B, size_B);
    if ((b->type == S_F16 && (value & 0x7fff) > 0x7c00) ||
        (b->type == S_F32 && (value & 0x7fffffff) > 0x7f800000) ||
        (b->type == S_F64 && (value & INT64_MAX) > UINT64_C(0x7ff0000000000000)))
        return UINT64_MAX;
    return value;
}

static uint64_t of_buffer(const struct suite_buffer *b)
{
    uint64_t hash = b->count;
    for (size_t i = 0; i < b->count; i++) {
        if (i - b->ignored >= b->ignored_count)
            hash = mix(hash, element(b, i));
    }
    return hash;
}

static bool of_counts(struct suite *s, uint32_t *ret_count, uint64_t *ret_hash)
{
    uint32_t count = 0;
    bool good = SUITE_CHECK(s, s->digest->get_counts(s->kernel, &count, NULL));
    zescope_instruction_count_t *rows = calloc(count + 1, sizeof(*rows));
    good = good && rows && SUITE_CHECK(s, s->digest->get_counts(s->kernel, &count, rows));
    if (good)
        *ret_hash = of_bytes(0, (const uint8_t *)rows, count * sizeof(*rows));
    *ret_count = count;
    free(rows);
    return good;
}

struct suite_digest *suite_digest_open(ze_driver_handle_t driver, const char *path)
{
    struct suite_digest *d = calloc(1, sizeof(*d));
    d->file = fopen(path, "w");
    if (d->file &&
        zeDriverGetExtensionFunctionAddress(driver, ZESCOPE_KERNEL_GET_COUNTS_NAME,
                                            (void **)&d->get_counts) == ZE_RESULT_SUCCESS)
        return d;
    fprintf(stderr, "%s: no file, or a driver that does not count\n", path);
    free(d);
    return NULL;
}

bool suite_digest_launch(struct suite *s, const char *kernel, const char *text, bool counts_alike)
{
    uint32_t rows = 0;
    uint64_t counts = 0;
    if (!of_counts(s, &rows, &counts))
        return false;
    fprintf(s->digest->file, "%s %ux%ux%u of %ux%ux%u turn %u", kernel, s->groups[0], s->groups[1],
            s->groups[2], s->local[0], s->local[1], s->local[2], s->turn);
    if (counts_alike)
        fprintf(s->digest->file, " counts %u %016llx", rows, (unsigned long long)counts);
    fprintf(s->digest->file, " "); /* what follows is memory */
    for (size_t i = 0; i < s->buffer_count; i++) {
        if (s->buffers[i].compared)
            fprintf(s->digest->file, " %zu:%016llx", i,
                    (unsigned long long)of_buffer(&s->buffers[i]));
    }
    if (text)
        fprintf(s->digest->file, " text %016llx",
                (unsigned long long)of_bytes(0, (const uint8_t *)text, strlen(text)));
    return fprintf(s->digest->file, "\n") == 1;
}

bool suite_digest_close(struct suite_digest *d)
{
    bool good = !d || fclose(d->file) == 0;
    free(d);
    return good;
}
