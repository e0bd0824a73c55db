/* SPDX-License-Identifier: MIT */
/*
 * Operations that are not one formula over packed lanes: irregular and indirect regions, reduced
 * predicates, carries and the accumulator, state registers. Lane by lane, for any region.
 */
#include "base/small_float.h"
#include "eu/eu_priv.h"
#include "isa/inst.h"

#include <string.h>
#include <xmmintrin.h>

/* ---- predicates ---- */

/* Combine each aligned group of `width` bits and give the result to the whole group. */
static uint32_t reduce(uint32_t bits, unsigned width, bool all)
{
    uint32_t group = width == 32 ? UINT32_MAX : (1u << width) - 1;
    uint32_t result = 0;

    for (unsigned at = 0; at < 32; at += width) {
        uint32_t mask = group << at;
        if (all ? (bits & mask) == mask : (bits & mask) != 0)
            result |= mask;
    }
    return result;
}

/* arg: predicate control. The inverse is up to the users of t->predicate. */
const struct zs_eu_op *zs_eu_op_predicate(struct zs_eu_thread *t, const struct zs_eu_op *op)
{
    uint32_t bits = zs_eu_word(t, op->predicate) >> op->pred_shift;

    if (op->arg == ZS_PRED_ANYV)
        bits = (t->flag[0] | t->flag[1]) >> op->pred_shift;
    else if (op->arg == ZS_PRED_ALLV)
        bits = (t->flag[0] & t->flag[1]) >> op->pred_shift;
    else if (op->arg == ZS_PRED_ANY)
        bits = bits & op->lanes ? UINT32_MAX : 0;
    else if (op->arg == ZS_PRED_ALL)
        bits = (bits & op->lanes) == op->lanes ? UINT32_MAX : 0;
    else {
        unsigned index = op->arg - ZS_PRED_ANY2H;
        bits = reduce(bits, 2u << index / 2, index & 1);
    }
    t->predicate = bits;
    ZS_EU_NEXT(t, op);
}

/* ---- flags ---- */

/* The word at src[0] has the bits, channel 0 first. */
const struct zs_eu_op *zs_eu_op_flag_copy(struct zs_eu_thread *t, const struct zs_eu_op *op)
{
    zs_eu_write_flag(t, op, zs_eu_active(t, op), zs_eu_word(t, op->src[0]));
    ZS_EU_NEXT(t, op);
}

/* ---- any region ---- */

/* Indirect addresses wrap at the end of the register file, which may have any number of registers.
 */
static uint32_t wrapped(const struct zs_eu_thread *t, uint32_t address)
{
    uint32_t file_B = zs_eu_file_B(t->program);
    return ZS_LIKELY(address < file_B) ? address : address % file_B;
}

uint32_t zs_eu_region_element(const struct zs_eu_thread *t, const struct zs_eu_region *region,
                              uint32_t base, unsigned c)
{
    if (base != UINT32_MAX)
        return base + region->offset_B[c];
    uint32_t address =
        t->a0[region->a0_step[c] & (ZS_EU_A0_MAX - 1)] + (uint32_t)region->indirect_B;
    return ZS_EU_OFFSET(grf) + wrapped(t, address + region->offset_B[c]);
}

/* src[0]: base or UINT32_MAX for indirect, aux: region, arg: log2 of the element size. */
const struct zs_eu_op *zs_eu_op_gather_region(struct zs_eu_thread *t, const struct zs_eu_op *op)
{
    const struct zs_eu_region *region = &t->program->regions.items[op->aux];
    uint32_t active = zs_eu_active(t, op);
    uint64_t value[ZS_EU_LANES_MAX];
    size_t size_B = (size_t)1 << op->arg;

    for (uint32_t m = active; m; m &= m - 1) {
        unsigned c = (unsigned)__builtin_ctz(m);
        memcpy(&value[c], ZS_EU_AT(t, zs_eu_region_element(t, region, op->src[0], c)), size_B);
    }
    for (uint32_t m = active; m; m &= m - 1) {
        unsigned c = (unsigned)__builtin_ctz(m);
        memcpy(ZS_EU_AT(t, op->dst) + c * size_B, &value[c], size_B);
    }
    ZS_EU_NEXT(t, op);
}

/* dst: base or UINT32_MAX for indirect, src[0]: packed elements, which the result may overlap. */
const struct zs_eu_op *zs_eu_op_scatter_region(struct zs_eu_thread *t, const struct zs_eu_op *op)
{
    const struct zs_eu_region *region = &t->program->regions.items[op->aux];
    size_t size_B = (size_t)1 << op->arg;
    uint8_t value[ZS_EU_LANES_MAX * 8];

    memcpy(value, ZS_EU_AT(t, op->src[0]), (size_t)op->count << op->arg);
    for (uint32_t m = zs_eu_active(t, op); m; m &= m - 1) {
        unsigned c = (unsigned)__builtin_ctz(m);
        memcpy(ZS_EU_AT(t, zs_eu_region_element(t, region, op->dst, c)), value + c * size_B,
               size_B);
    }
    ZS_EU_NEXT(t, op);
}

/* src[0]: what is added to the addresses, aux: the first address register, arg: log2 of the element
 * size. The register is that of the first address, the bytes in it are each channel's own. */
const struct zs_eu_op *zs_eu_op_movi(struct zs_eu_thread *t, const struct zs_eu_op *op)
{
    uint32_t grf_B = t->program->regs.grf_B, size_B = 1u << op->arg;
    uint32_t reg_B = wrapped(t, t->a0[op->aux & (ZS_EU_A0_MAX - 1)] + op->src[0]);
    uint64_t value[ZS_EU_LANES_MAX];

    reg_B &= ~(grf_B - 1);
    for (unsigned c = 0; c < op->count; c++) {
        uint32_t subreg_B = t->a0[(op->aux + c) & (ZS_EU_A0_MAX - 1)] & (grf_B - 1);
        memcpy(&value[c], t->grf + reg_B + subreg_B, size_B);
    }
    for (unsigned c = 0; c < op->count; c++)
        memcpy(ZS_EU_AT(t, op->dst) + c * size_B, &value[c], size_B);
    ZS_EU_NEXT(t, op);
}

/* ---- accumulator ---- */

/* Element c of a packed source; arg has bit i set when source i is one element. */
static uint32_t source32(const struct zs_eu_thread *t, const struct zs_eu_op *op, unsigned i,
                         unsigned c)
{
    return zs_eu_word(t, op->src[i] + (op->arg >> i & 1 ? 0 : c * 4));
}

static void set32(struct zs_eu_thread *t, const struct zs_eu_op *op, unsigned c, uint32_t value)
{
    memcpy(ZS_EU_AT(t, op->dst) + c * 4, &value, 4);
}

/* Differences of pairs of dwords (arg: bit i: source i is one element) into the first of each pair
 * of dst; aux: bit 0: on top of acc, whose words are signed when bit 1 says so. */
const struct zs_eu_op *zs_eu_op_sad(struct zs_eu_thread *t, const struct zs_eu_op *op)
{
    for (unsigned c = 0; c + 1 < op->count; c += 2) {
        int32_t word = (int16_t)t->acc[c];
        int32_t sum = !(op->aux & 1) ? 0 : op->aux & 2 ? word : word & 0xffff;
        for (unsigned i = c; i < c + 2; i++) {
            int32_t x = (int32_t)source32(t, op, 0, i), y = (int32_t)source32(t, op, 1, i);
            sum += x < y ? y - x : x - y;
        }
        set32(t, op, c, (uint32_t)sum);
        set32(t, op, c + 1, 0);
    }
    ZS_EU_NEXT(t, op);
}

/* ---- numbers of four bits ---- */

/* To the nearest of 0, 0.5, 1, 1.5, 2, 3, 4, 6 or of -8 to 7, to even where two are as near; what
 * is beyond is the greatest, and so is what is no number (of integers: 0). */
static uint32_t downscaled(uint32_t bits, unsigned function)
{
    static const float least[] = {0.25f, 0.75f, 1.25f, 1.75f, 2.5f, 3.5f, 5.0f};
    uint32_t negative = bits >> 15 & 1, wide = (bits & 0x7fff) << 16, code = 0;
    float magnitude;

    if (!(function & ZS_DNSCL_BF))
        wide = zs_small_to_float(bits & 0x7fff, ZS_HALF_MANTISSA);
    memcpy(&magnitude, &wide, sizeof(magnitude));
    if (function & ZS_DNSCL_E2M1) {
        while (code < 7 && !(magnitude < least[code] || (magnitude == least[code] && !(code & 1))))
            code++;
        return code | negative << 3;
    }
    while (code < 8 &&
           (magnitude > (float)code + 0.5f || (magnitude == (float)code + 0.5f && code & 1)))
        code++;
    return (negative ? 0 - code : ZS_MIN(code, 7u)) & 15;
}

/* Four of them, in bytes that the mode names. aux: what dnscl does. */
const struct zs_eu_op *zs_eu_op_downscale(struct zs_eu_thread *t, const struct zs_eu_op *op)
{
    unsigned mode = op->aux >> 4 & 3;

    for (unsigned c = 0; c < op->count; c++) {
        uint32_t x = source32(t, op, 0, c), y = source32(t, op, 1, c);
        uint32_t a = downscaled(x & 0xffff, op->aux), b = downscaled(x >> 16, op->aux);
        uint32_t d = downscaled(y & 0xffff, op->aux), e = downscaled(y >> 16, op->aux);
        uint32_t low = mode & 1 ? a | d << 4 : a | b << 4,
                 high = mode & 1 ? b | e << 4 : d | e << 4;
        set32(t, op, c, (low | high << 16) << (mode & 2 ? 8 : 0));
    }
    ZS_EU_NEXT(t, op);
}

/* src[0]: a table of 16 dwords. Each four bits of src[1] choose one; of it comes what stands where
 * the result does. aux: bits of that, 8 or 16. */
const struct zs_eu_op *zs_eu_op_look_up(struct zs_eu_thread *t, const struct zs_eu_op *op)
{
    for (unsigned c = 0; c < op->count; c++) {
        uint32_t indices = source32(t, op, 1, c), result = 0, entry;
        for (unsigned at = 0; at < 32; at += op->aux, indices >>= 4) {
            memcpy(&entry, ZS_EU_AT(t, op->src[0]) + (indices & 15) * 4, sizeof(entry));
            result |= entry & ((1u << op->aux) - 1) << at;
        }
        set32(t, op, c, result);
    }
    ZS_EU_NEXT(t, op);
}

/* ---- stochastic rounding ---- */

/* A number is added to the mantissa, as many bits of it as a result has fewer, and the rest is cut
 * off. */
static uint32_t half_of_float(uint32_t magnitude, uint32_t number)
{
    if (magnitude >= 0x7f800000)
        return 0x7c00 | (magnitude & 0x7fffff ? 0x200 | (magnitude >> 13 & 0x3ff) : 0);
    magnitude += number & 0x1fff;
    if (magnitude >= 0x47800000) /* 65536 and more */
        return 0x7c00;
    if (magnitude >= 0x38800000) /* no denormal of halves */
        return (magnitude - (112u << 23)) >> 13;
    uint32_t shift = 126 - (magnitude >> 23);
    return shift > 24 ? 0 : ((magnitude & 0x7fffff) | 0x800000) >> shift;
}

/* Eight bits are the upper ones of a half. */
static uint32_t byte_of_half(uint32_t magnitude, uint32_t number)
{
    if (magnitude >= 0x7c00)
        return magnitude >> 8 | (magnitude & 0x3ff ? 2 : 0);
    return (magnitude + (number & 0xff)) >> 8;
}

/* Bits of floats (aux: of halves) to those of halves (bf8), by the numbers in src[1]. */
const struct zs_eu_op *zs_eu_op_round_randomly(struct zs_eu_thread *t, const struct zs_eu_op *op)
{
    for (unsigned c = 0; c < op->count; c++) {
        uint32_t x = source32(t, op, 0, c), number = source32(t, op, 1, c);
        set32(t, op, c,
              op->aux ? byte_of_half(x & 0x7fff, number) | (x >> 8 & 0x80)
                      : half_of_float(x & 0x7fffffff, number) | (x >> 16 & 0x8000));
    }
    ZS_EU_NEXT(t, op);
}

/* ---- constants ---- */

/* src[0]: bytes from more_constants + aux. */
const struct zs_eu_op *zs_eu_op_constant(struct zs_eu_thread *t, const struct zs_eu_op *op)
{
    memcpy(ZS_EU_AT(t, op->dst), t->program->more_constants.items + op->aux, op->src[0]);
    ZS_EU_NEXT(t, op);
}

/* ---- state registers ---- */

const struct zs_eu_op *zs_eu_op_read_ip(struct zs_eu_thread *t, const struct zs_eu_op *op)
{
    t->ip_B = op->aux;
    ZS_EU_NEXT(t, op);
}

/* tm0: executed instructions on top of what the environment says. aux: those of the block that are
 * not, this one among them; all were taken from the budget as it began. */
const struct zs_eu_op *zs_eu_op_read_tm(struct zs_eu_thread *t, const struct zs_eu_op *op)
{
    uint64_t now = t->clock + t->executed + (t->budget_start - (uint64_t)t->budget) - op->aux;

    t->tm0[0] = (uint32_t)now;
    t->tm0[1] = (uint32_t)(now >> 32);
    t->tm0[4] = 0; /* no pause lasts so long */
    ZS_EU_NEXT(t, op);
}

void zs_eu_host_modes(uint32_t cr0, uint32_t ret_csr[2])
{
    /* rounding: Gen counts nearest, up, down, zero; the host nearest, down, up, zero */
    static const uint32_t rounding[4] = {_MM_ROUND_NEAREST, _MM_ROUND_UP, _MM_ROUND_DOWN,
                                         _MM_ROUND_TOWARD_ZERO};
    enum { DENORMALS_ARE_ZERO = 0x40 };
    uint32_t csr = _MM_MASK_MASK | rounding[cr0 >> 4 & 3];
    uint32_t flush = _MM_FLUSH_ZERO_ON | DENORMALS_ARE_ZERO;

    ret_csr[0] = csr | (cr0 & 0x80 ? 0 : flush);
    ret_csr[1] = csr | (cr0 & 0x40 ? 0 : flush);
}

void zs_eu_control_register_changed(struct zs_eu_thread *t)
{
    uint32_t csr[2];

    zs_eu_host_modes(t->cr0[0], csr);
    t->host_csr = csr[0];
    t->host_csr_double = csr[1];
}

/* After a write to cr0. */
const struct zs_eu_op *zs_eu_op_control_register(struct zs_eu_thread *t, const struct zs_eu_op *op)
{
    if (t->cr0[0] & 5) {
        t->current = op;
        t->status = zs_eu_fault_set(t, ZS_EU_FAULT_UNMODELLED,
                                    "cr0 0x%08x: alternative float mode and single program flow "
                                    "are not modelled",
                                    (unsigned)t->cr0[0]);
        return NULL;
    }
    uint32_t before = t->host_csr;
    zs_eu_control_register_changed(t);
    if (t->host_csr != before)
        _mm_setcsr(t->host_csr);
    ZS_EU_NEXT(t, op);
}

/*
 * After a write to sr0.2 or sr0.3. Kernels of 8 lanes that call functions set the bits of lanes
 * that they do not have (on Gen12LP); which of their own lanes there are does not change.
 */
const struct zs_eu_op *zs_eu_op_state_register(struct zs_eu_thread *t, const struct zs_eu_op *op)
{
    uint32_t own = t->program->simd_mask;

    if ((t->sr0[2] & own) != t->dispatched || (t->sr0[3] & own) != t->dispatched) {
        t->current = op;
        t->status = zs_eu_fault_set(t, ZS_EU_FAULT_UNMODELLED,
                                    "sr0: a change of the lanes that the dispatch started is not "
                                    "modelled");
        return NULL;
    }
    ZS_EU_NEXT(t, op);
}
