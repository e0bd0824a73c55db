/* SPDX-License-Identifier: MIT */
/* What a program is lowered from, as bytes: the request to the compiler's process, and what names
 * its result in the caches. */
#include "eu/tier/tier.h"

#include "base/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void put_word(struct zs_buf *buf, uint64_t value)
{
    zs_buf_append(buf, &value, sizeof(value)); /* this machine is little-endian */
}

enum { NUMBERS = 18, MANY = 1 << 20 };

void zs_eu_tier_request_put(const struct zs_eu_lower_params *p,
                            const struct zs_eu_tier_options *options, struct zs_buf *ret)
{
    struct zs_eu_registers none = {0}, r = p->registers ? *p->registers : none;
    const uint64_t numbers[NUMBERS] = {
        p->base_ip_B,
        p->kernel_B,
        p->entry_B,
        p->simd,
        p->payload_B,
        p->flags,
        (uint64_t)p->platform,
        r.grf_B,
        r.grf_count,
        r.flag_count,
        r.acc_count,
        r.a0_count,
        p->segments ? p->segment_count : 0,
        p->target_count,
        p->code.size_B,
        p->host,
        options->keeps_state,
        options->own_B | (uint64_t)options->own << 32,
    };

    for (unsigned i = 0; i < NUMBERS; i++)
        put_word(ret, numbers[i]);
    for (size_t i = 0; p->segments && i < p->segment_count; i++) {
        put_word(ret, p->segments[i].offset_B | (uint64_t)p->segments[i].size_B << 32);
        put_word(ret, p->segments[i].ip_B);
    }
    for (size_t i = 0; i < p->target_count; i++)
        put_word(ret, p->targets_B[i]);
    zs_buf_append(ret, p->code.data, p->code.size_B);
}

void zs_eu_tier_request_fini(struct zs_eu_tier_request *request)
{
    free(request->segments);
    free(request->targets_B);
}

int zs_eu_tier_request_parse(struct zs_span bytes, struct zs_eu_tier_request *ret)
{
    struct zs_reader r = zs_reader_make(bytes, 0, NULL);
    uint64_t n[NUMBERS];

    memset(ret, 0, sizeof(*ret));
    for (unsigned i = 0; i < NUMBERS; i++)
        n[i] = zs_read_u64(&r, "number");
    if (r.error || n[12] > MANY || n[13] > MANY || n[14] > ZS_EU_CODE_MAX_B ||
        n[12] * 16 + n[13] * 8 + n[14] != zs_reader_left(&r))
        return -EBADMSG;
    ret->options.keeps_state = n[16] & 1;
    ret->options.payload_B = (uint32_t)n[4];
    ret->options.own_B = (uint32_t)n[17];
    ret->options.own = (uint32_t)(n[17] >> 32);
    ret->registers = (struct zs_eu_registers){(uint16_t)n[7], (uint16_t)n[8], (uint8_t)n[9],
                                              (uint8_t)n[10], (uint8_t)n[11]};
    ret->segments = calloc((size_t)n[12] + 1, sizeof(*ret->segments));
    ret->targets_B = calloc((size_t)n[13] + 1, sizeof(*ret->targets_B));
    if (!ret->segments || !ret->targets_B) {
        zs_eu_tier_request_fini(ret);
        return -ENOMEM;
    }
    for (uint64_t i = 0; i < n[12]; i++) {
        uint64_t place = zs_read_u64(&r, "segment"), ip_B = zs_read_u64(&r, "address");
        ret->segments[i] =
            (struct zs_eu_segment){(uint32_t)place, (uint32_t)(place >> 32), (uint32_t)ip_B};
    }
    for (uint64_t i = 0; i < n[13]; i++)
        ret->targets_B[i] = (uint32_t)zs_read_u64(&r, "target");
    ret->params = (struct zs_eu_lower_params){
        .code = zs_read_bytes(&r, n[14], "code"),
        .base_ip_B = (uint32_t)n[0],
        .segments = n[12] ? ret->segments : NULL,
        .segment_count = (size_t)n[12],
        .kernel_B = (uint32_t)n[1],
        .entry_B = (uint32_t)n[2],
        .targets_B = ret->targets_B,
        .target_count = (size_t)n[13],
        .simd = (uint32_t)n[3],
        .payload_B = (uint32_t)n[4],
        .flags = (uint32_t)n[5],
        .host = (enum zs_eu_host)n[15],
        .platform = (enum zs_isa_platform)n[6],
        .registers = n[7] ? &ret->registers : NULL,
    };
    return 0;
}
