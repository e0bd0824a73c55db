/* SPDX-License-Identifier: MIT */
#include "correlate/md5.h"

#include <math.h>

static uint32_t rotate(uint32_t x, uint32_t n)
{
    return x << n | x >> (32 - n);
}

/* RFC 1321, 3.4: K[i] = floor(2^32 * |sin(i + 1)|). */
static void make_constants(uint32_t k[64])
{
    for (uint32_t i = 0; i < 64; i++)
        k[i] = (uint32_t)(int64_t)floor(fabs(sin(i + 1.0)) * 4294967296.0);
}

static void md5_block(const uint32_t k[64], const uint8_t *p, uint32_t state[4])
{
    static const uint8_t shifts[4][4] = {
        {7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
    uint32_t words[16], a = state[0], b = state[1], c = state[2], d = state[3];
    for (uint32_t i = 0; i < 16; i++)
        words[i] = (uint32_t)p[4 * i] | (uint32_t)p[4 * i + 1] << 8 | (uint32_t)p[4 * i + 2] << 16 |
                   (uint32_t)p[4 * i + 3] << 24;
    for (uint32_t i = 0; i < 64; i++) {
        uint32_t round = i / 16, f, g;
        if (round == 0) {
            f = (b & c) | (~b & d);
            g = i;
        } else if (round == 1) {
            f = (d & b) | (~d & c);
            g = (5 * i + 1) % 16;
        } else if (round == 2) {
            f = b ^ c ^ d;
            g = (3 * i + 5) % 16;
        } else {
            f = c ^ (b | ~d);
            g = 7 * i % 16;
        }
        uint32_t next = b + rotate(a + f + k[i] + words[g], shifts[round][i % 4]);
        a = d;
        d = c;
        c = b;
        b = next;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
}

void zs_md5(struct zs_span text, uint8_t ret_md5[16])
{
    uint32_t k[64], state[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
    make_constants(k);
    size_t whole_B = text.size_B / 64 * 64, rest_B = text.size_B - whole_B;
    for (size_t i = 0; i < whole_B; i += 64)
        md5_block(k, text.data + i, state);
    uint8_t tail[128] = {0};
    if (rest_B)
        memcpy(tail, text.data + whole_B, rest_B);
    tail[rest_B] = 0x80;
    size_t tail_B = rest_B < 56 ? 64 : 128;
    for (uint32_t i = 0; i < 8; i++)
        tail[tail_B - 8 + i] = (uint8_t)((uint64_t)text.size_B * 8 >> (8 * i));
    for (size_t i = 0; i < tail_B; i += 64)
        md5_block(k, tail + i, state);
    for (uint32_t i = 0; i < 16; i++)
        ret_md5[i] = (uint8_t)(state[i / 4] >> (8 * (i % 4)));
}
