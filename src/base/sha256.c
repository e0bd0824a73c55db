/* SPDX-License-Identifier: MIT */
#include "base/sha256.h"

/* FIPS 180-4, 4.2.2: the first 32 bits of the fractional parts of the cube roots of primes. */
static const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotr(uint32_t x, unsigned n)
{
    return x >> n | x << (32 - n);
}

static uint32_t load_be32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | (uint32_t)p[3];
}

static void add_block(uint32_t state[8], const uint8_t *block)
{
    uint32_t w[64];
    for (unsigned t = 0; t < 16; t++)
        w[t] = load_be32(block + 4 * t);
    for (unsigned t = 16; t < 64; t++) {
        uint32_t s0 = rotr(w[t - 15], 7) ^ rotr(w[t - 15], 18) ^ w[t - 15] >> 3;
        uint32_t s1 = rotr(w[t - 2], 17) ^ rotr(w[t - 2], 19) ^ w[t - 2] >> 10;
        w[t] = w[t - 16] + s0 + w[t - 7] + s1;
    }
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    for (unsigned t = 0; t < 64; t++) {
        uint32_t t1 = h + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) + ((e & f) ^ (~e & g)) +
                      round_constants[t] + w[t];
        uint32_t t2 = (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
    }
    const uint32_t sum[8] = {a, b, c, d, e, f, g, h};
    for (unsigned i = 0; i < 8; i++)
        state[i] += sum[i];
}

void zs_sha256(struct zs_span span, uint8_t ret_digest[ZS_SHA256_B])
{
    uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    size_t whole = span.size_B / 64;
    for (size_t i = 0; i < whole; i++)
        add_block(state, span.data + 64 * i);
    uint8_t tail[128] = {0};
    size_t rest = span.size_B % 64, tail_B = rest < 56 ? 64 : 128;
    if (rest)
        memcpy(tail, span.data + 64 * whole, rest);
    tail[rest] = 0x80;
    for (unsigned i = 0; i < 8; i++)
        tail[tail_B - 1 - i] = (uint8_t)((uint64_t)span.size_B * 8 >> 8 * i);
    for (size_t at = 0; at < tail_B; at += 64)
        add_block(state, tail + at);
    for (unsigned i = 0; i < ZS_SHA256_B; i++)
        ret_digest[i] = (uint8_t)(state[i / 4] >> (24 - 8 * (i % 4)));
}

void zs_sha256_hex(struct zs_span span, char ret_hex[ZS_SHA256_HEX_CHARS + 1])
{
    uint8_t digest[ZS_SHA256_B];
    zs_sha256(span, digest);
    for (unsigned i = 0; i < ZS_SHA256_HEX_CHARS; i++)
        ret_hex[i] = "0123456789abcdef"[digest[i / 2] >> (4 - 4 * (i % 2)) & 15];
    ret_hex[ZS_SHA256_HEX_CHARS] = '\0';
}
