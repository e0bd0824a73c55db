/* SPDX-License-Identifier: MIT */
/*
 * Which forms of load/store cache messages there are: random descriptors, of which each is carried
 * out, not legal or not modelled, as a list of what is allowed says, written from IGC's
 * verification of vISA and IGA's encoder. What is carried out may fault, and touches nothing but
 * its registers and the memory of the fixture.
 */
#include "fixture.h"

#include <errno.h>

enum { UGM = 15, UGML = 1, SLM_SFID = 14, TGM = 18 };
enum { FLAT, BINDLESS, SURFACE_STATE, TABLE };
enum { ROUNDS = 60000, REGISTERS_B = 64 * 64 };

struct form {
    uint32_t sfid, op, kind, address, data, bits, lanes, grf_B, index, caching;
    bool is_surface_offset;
};

static bool is_block2d(const struct form *f)
{
    return f->op == 3 || f->op == 7;
}

static bool is_quad(const struct form *f)
{
    return f->op == 2 || f->op == 6 || f->op == 0x20;
}

static bool is_atomic(const struct form *f)
{
    return f->op >= 8 && f->op <= 0x1a;
}

static bool has_operation(const struct form *f)
{
    if (f->op > 0x20)
        return false;
    if (is_block2d(f))
        return f->grf_B == 64 && (f->sfid == UGM || f->sfid == UGML);
    return f->sfid != TGM || !(f->op == 0 || f->op == 1 || f->op == 4 || f->op == 5);
}

static bool has_address(const struct form *f)
{
    if (f->kind == TABLE && f->index > 239 && (f->index != 255 || f->sfid == TGM))
        return false;
    if (f->kind == BINDLESS && f->index > 239)
        return false;
    if (is_block2d(f))
        return f->kind == FLAT;
    if (f->sfid == SLM_SFID)
        return f->kind == FLAT && (f->address == 1 || f->address == 2);
    if (f->sfid == TGM)
        return f->kind != FLAT && f->address == 2;
    return f->address == 2 || f->address == 3;
}

/* Bytes of an element in registers and in memory, by code. */
static const uint8_t slots[8] = {1, 2, 4, 8, 4, 4, 4}, elements[8] = {1, 2, 4, 8, 1, 2, 2};
static const uint8_t lengths[8] = {1, 2, 3, 4, 8, 16, 32, 64};

static bool fits(const struct form *f, uint32_t length)
{
    uint32_t row = slots[f->data] * f->lanes / f->grf_B;
    return length * (row ? row : 1) <= 8;
}

static bool has_atomic_data(const struct form *f)
{
    bool sum = f->op == 0x13 || f->op == 0x14, local = f->sfid == SLM_SFID;
    if (f->bits || (f->data != 2 && f->data != 3 && f->data != 5) || (!local && f->caching > 2))
        return false;
    return !(sum && (local || f->sfid == TGM)) && !(local && f->data == 3 && f->op != 0x12) &&
           fits(f, 1);
}

static bool has_data(const struct form *f)
{
    uint32_t length = lengths[f->bits & 7];
    if (f->data == 7)
        return false;
    if (is_block2d(f)) {
        bool transposed = f->bits & 8, vnni = f->address & 1;
        return f->data < 4 && !(f->op == 7 && (transposed || vnni)) && !(transposed && vnni) &&
               !(transposed && f->data < 2) && !(vnni && f->data > 1);
    }
    if (f->sfid == TGM && (f->data != 2 || f->lanes > 8))
        return false;
    if (is_atomic(f))
        return has_atomic_data(f);
    if (is_quad(f)) {
        bool first = f->bits == 1 || f->bits == 3 || f->bits == 7 || f->bits == 15;
        return f->bits && (first || f->op == 2) && fits(f, (uint32_t)__builtin_popcount(f->bits));
    }
    if (f->bits & 8 && f->op == 0x1b)
        return false;
    if (f->bits & 8)
        return f->lanes == 1 && (slots[f->data] == elements[f->data] || length == 1) &&
               length * elements[f->data] <= 8 * f->grf_B;
    if (length > 1 && f->data != 2 && f->data != 3)
        return false;
    if (f->sfid == UGML && (length == 3 || length == 8))
        return false;
    return length <= 8 && (f->op == 0x1b || fits(f, length));
}

static bool is_modelled(const struct form *f)
{
    bool scratch = f->is_surface_offset && f->index == ZS_PORT_SCRATCH_HANDLE >> 10;
    bool typed = f->sfid == TGM;
    if (f->op == 0x1b && (f->kind != FLAT || f->address != 3 || f->sfid == SLM_SFID || typed))
        return false;
    if (f->op == 0x1d || f->op == 0x1e || (typed && f->op == 0x1c))
        return false;
    if ((typed && f->grf_B == 64) || (f->kind == SURFACE_STATE && (typed || !scratch)))
        return false;
    return true;
}

static struct form any_form(uint64_t *seed)
{
    static const uint8_t sfids[] = {UGM, UGM, SLM_SFID, TGM, UGML};
    struct form f = {.grf_B = random_u32(seed) & 1 ? 64 : 32,
                     .op = random_u32(seed) % 0x34,
                     .kind = random_u32(seed) % 4,
                     .address = random_u32(seed) % 4,
                     .data = random_u32(seed) % 8,
                     .bits = random_u32(seed) % 16,
                     .lanes = 1u << random_u32(seed) % 6,
                     .caching = random_u32(seed) % 8,
                     .is_surface_offset = random_u32(seed) & 1};
    f.sfid = sfids[random_u32(seed) % (f.grf_B == 64 ? 5 : 4)];
    f.index = random_u32(seed) % 4 ? random_u32(seed) % 4 : random_u32(seed) % 256;
    if (random_u32(seed) & 1) { /* of most there is much that is wrong with them */
        f.kind = f.sfid == SLM_SFID     ? FLAT
                 : f.sfid == TGM        ? TABLE
                 : random_u32(seed) & 1 ? FLAT
                                        : TABLE;
        f.address = f.kind == FLAT && f.sfid != SLM_SFID ? 3 : 2;
        f.data = 2 + random_u32(seed) % 2;
        f.bits = is_atomic(&f) ? 0 : f.bits;
        f.caching %= 3;
    }
    if (f.op == 0x1f) /* fences have neither of these */
        f.op = 0;
    return f;
}

/* Registers for all that a message may have. */
static struct zs_isa_send send_of(const struct form *f)
{
    bool has_response = f->op < 4 || f->op == 0x1b || is_atomic(f);
    uint32_t mlen = f->sfid == TGM ? 2 : is_block2d(f) ? 1 : 15, xlen = 31, rlen = 31;
    bool one_address = f->op == 1 || f->op == 5 || (!is_quad(f) && !is_atomic(f) && f->bits & 8);
    if (f->sfid != TGM && !is_block2d(f)) {
        uint32_t room = f->lanes < f->grf_B / 4 ? f->grf_B / 4 : f->lanes;
        uint32_t bytes = one_address ? 1 : room << f->address;
        mlen = (bytes + f->grf_B - 1) / f->grf_B;
    }
    return (struct zs_isa_send){
        .sfid = f->sfid,
        .desc = f->op | f->address << 7 | f->data << 9 | f->bits << 12 | f->caching << 17 |
                f->kind << 29,
        .ex_desc = f->kind == TABLE  ? f->index << 24
                   : f->kind == FLAT ? 0
                                     : f->index << (f->is_surface_offset ? 6 : 11),
        .mlen = mlen,
        .xlen = xlen,
        .rlen = has_response ? rlen : 0,
        .generation = later(f->grf_B),
        .exec_size = f->lanes,
        .is_surface_offset = f->is_surface_offset,
    };
}

/* Without "ExBSO" an offset counts 2048 bytes: 32 surface states. */
static void place_index(struct form *f)
{
    if (!f->is_surface_offset && (f->kind == BINDLESS || f->kind == SURFACE_STATE))
        f->index *= 32;
}

/* Some addresses lead somewhere. */
static void plant(struct fixture *f, uint8_t *src0, uint32_t address_B, uint64_t *seed)
{
    for (uint32_t at = 0; address_B && at + address_B <= 32 * 8; at += address_B) {
        uint64_t address = random_u32(seed) % (MEMORY_B + 64);
        if (address_B == 8 && random_u32(seed) % 16)
            address += address_of(f);
        memcpy(src0 + at, &address, address_B);
    }
}

static void execute(struct fixture *f, const struct zs_isa_send *send, uint64_t *seed)
{
    static _Alignas(64) uint8_t src0[REGISTERS_B], src1[REGISTERS_B];
    static struct zs_port_footprint touch;
    static struct zs_port_accesses reach;
    size_t size_B = (size_t)send->rlen * send->generation->grf_B;
    uint8_t *dst = malloc(size_B + 64);
    uint32_t mask = f->message.lanes ? UINT32_MAX >> (32 - f->message.lanes) : UINT32_MAX;
    plant(f, src0, f->message.address_B, seed);
    mask &= random_u32(seed) % 2 ? UINT32_MAX : random_u32(seed) | 1;
    memset(dst, 0x5a, size_B + 64);
    memset(&f->port.fault, 0, sizeof(f->port.fault));
    zs_port_footprint(&f->port, &f->message, src0, mask, &touch);
    zs_port_accesses(&f->port, &f->message, src0, mask, &reach);
    bool done = f->row->run(&f->port, &f->message, dst, src0, src1, mask);
    assert_int_equal(done, f->port.fault.kind == ZS_PORT_FAULT_NONE);
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(dst[size_B + i], 0x5a);
    free(dst);
}

static void any_descriptor(void **state)
{
    static const char *const verdicts[] = {"", "is not legal: ", "is not modelled: "};
    uint64_t seed = 31;
    uint32_t counts[3] = {0};
    struct fixture *f = aligned_alloc(64, (sizeof(*f) + 63) / 64 * 64);
    fixture_init(f, &seed);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct zs_diag diag = {0};
        struct form form = any_form(&seed);
        struct zs_isa_send send = send_of(&form);
        place_index(&form);
        bool legal = has_operation(&form) && has_address(&form) && has_data(&form);
        bool modelled = is_modelled(&form);
        int error = zs_port_message_decode(&send, &f->message, &f->row, &diag);
        int verdict = error == 0 ? 0 : error == -EINVAL ? 1 : 2;
        bool good = verdict == 0 ? legal && modelled : verdict == 1 ? !legal : !modelled;
        if (!good)
            fail_msg("SFID %u, 0x%08x, 0x%08x, %u lanes, registers of %u: %d, %s", send.sfid,
                     send.desc, send.ex_desc, send.exec_size, send.generation->grf_B, error,
                     diag.text);
        if (error && !strstr(diag.text, verdicts[verdict]))
            fail_msg("0x%08x: %s", send.desc, diag.text);
        assert_true(strlen(diag.text) < 150); /* it has room in a thread's fault */
        counts[verdict]++;
        if (!error)
            execute(f, &send, &seed);
    }
    assert_true(counts[0] > ROUNDS / 10 && counts[1] > ROUNDS / 10 && counts[2] > ROUNDS / 100);
    free(f);
}

/* An offset of all addresses, a surface that nobody gave a handle, and what is no surface. */
static void surfaces(void **state)
{
    enum { LOAD_D32 = 2 << 9, A32 = 2 << 7, A64 = 3 << 7 };
    static const struct {
        uint32_t desc, ex_desc;
        bool is_surface_offset;
        int error;
        const char *why;
    } rows[] = {
        {LOAD_D32 | A64, 1 << 12, false, -EINVAL, "an offset of all addresses came with Xe2"},
        {LOAD_D32 | A32 | TABLE << 29, 1 << 12, false, -EINVAL, "an offset of all addresses"},
        {LOAD_D32 | A32 | BINDLESS << 29, 1000 << 6, true, -EINVAL, "no surface state is there"},
        {LOAD_D32 | A32 | BINDLESS << 29, 3 << 6, true, 0, NULL},
        {LOAD_D32 | A32 | SURFACE_STATE << 29, 3 << 6, true, -ENOTSUP, "scratch memory's"},
        {LOAD_D32 | A32, 0, false, 0, NULL},
        {LOAD_D32 | A64 | 0x1b, 0, false, 0, NULL},
        {LOAD_D32 | A32 | 0x1b, 0, false, -ENOTSUP, "is told of 64-bit addresses alone"},
        {LOAD_D32 | A64 | 0x1b | 1 << 15, 0, false, -EINVAL, "has no order of elements"},
        {LOAD_D32 | A32 | BINDLESS << 29, 3 << 6, true, 0, NULL},
    };
    uint64_t seed = 32;
    struct fixture *f = calloc(1, sizeof(*f));
    fixture_init(f, &seed);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct zs_diag diag = {0};
        const struct zs_isa_send send = {.sfid = UGM,
                                         .desc = rows[i].desc,
                                         .ex_desc = rows[i].ex_desc,
                                         .mlen = (rows[i].desc & A64) == A64 ? 4 : 2,
                                         .rlen = 2,
                                         .generation = later(32),
                                         .exec_size = 16,
                                         .is_surface_offset = rows[i].is_surface_offset};
        assert_int_equal(zs_port_message_decode(&send, &f->message, &f->row, &diag), rows[i].error);
        assert_true(!rows[i].why || strstr(diag.text, rows[i].why));
    }
    /* a surface whose allocation is gone */
    assert_int_equal(f->message.bti, 3);
    memset(&f->port.fault, 0, sizeof(f->port.fault));
    assert_false(f->row->run(&f->port, &f->message, f->dst, f->src0, NULL, 0xffff));
    assert_int_equal(f->port.fault.kind, ZS_PORT_FAULT_OUT_OF_BOUNDS);
    free(f);
}

/* Of blocks, and of what there is before load/store cache messages: what XeHPC does not have. */
static void refusals_of_xehpc(void **state)
{
    enum { BLOCK = 3, BLOCK_STORE = 7, D8 = 0, D16 = 1 << 9, D64 = 3 << 9, D8U32 = 4 << 9 };
    enum { TRANSPOSED = 1 << 15, VNNI = 1 << 7, DC1 = 12, SAMPLER = 2, TYPED_WRITE = 13 << 14 };
    enum { SIMD8 = 2 << 12, UNTYPED_READ = 1 << 14 };
    static const struct {
        uint32_t sfid, desc;
        int error;
        const char *why;
    } rows[] = {
        {UGM, BLOCK | D8 | TRANSPOSED, -EINVAL, "transposed blocks are of dwords and qwords"},
        {UGM, BLOCK | D16 | TRANSPOSED, -EINVAL, "transposed blocks are of dwords and qwords"},
        {UGM, BLOCK | D16 | TRANSPOSED | VNNI, -EINVAL, "dwords transposed are that"},
        {UGM, BLOCK | D64 | VNNI, -EINVAL, "blocks packed by columns are of bytes and words"},
        {UGM, BLOCK | D8U32, -EINVAL, "blocks of elements that are widened"},
        {UGM, BLOCK_STORE | D16 | VNNI, -EINVAL, "stores of blocks are row by row"},
        {UGM, BLOCK_STORE | D64 | TRANSPOSED, -EINVAL, "stores of blocks are row by row"},
        {UGM, BLOCK | D16 | VNNI, 0, NULL},
        {UGM, BLOCK | D64 | TRANSPOSED, 0, NULL},
        {TGM, 6 | 2 << 7 | 2 << 9 | 15 << 12 | 3u << 29, -ENOTSUP, "XeHPC has no images"},
        {DC1, TYPED_WRITE | 1 << 12, -ENOTSUP, "XeHPC has no images"},
        {SAMPLER, 0x18 << 12 | 2 << 17, -ENOTSUP, "XeHPC has no images"},
        {DC1, UNTYPED_READ | SIMD8 | 14 << 8, -ENOTSUP, "sixteen lanes"},
    };
    uint64_t seed = 34;
    struct fixture *f = calloc(1, sizeof(*f));
    fixture_init(f, &seed);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        bool is_block = rows[i].sfid == UGM, is_store = (rows[i].desc & 0x3f) == BLOCK_STORE;
        struct zs_diag diag = {0};
        const struct zs_isa_send send = {.sfid = rows[i].sfid,
                                         .desc = rows[i].desc,
                                         .mlen = is_block ? 1 : 4,
                                         .xlen = is_store || !is_block ? 8 : 0,
                                         .rlen = is_store ? 0 : 4,
                                         .generation = later(64),
                                         .exec_size = is_block ? 1 : 8};
        int error = zs_port_message_decode(&send, &f->message, &f->row, &diag);
        if (error != rows[i].error || (error && !strstr(diag.text, rows[i].why)))
            fail_msg("row %zu: %d, %s", i, error, diag.text);
    }
    free(f);
}

/* ---- without a surface ---- */

enum { D32 = 2 << 9, X4 = 3 << 12, BY_32 = 2 << 7, BY_64 = 3 << 7, STATUS = 0x1b, STORE_OP = 4 };

static void must_decode(struct fixture *f, uint32_t desc, uint32_t lanes, uint32_t rlen)
{
    struct zs_diag diag = {0};
    bool is_store = (desc & 0x3f) == STORE_OP;
    const struct zs_isa_send send = {.sfid = UGM,
                                     .desc = desc,
                                     .mlen = lanes * ((desc & BY_64) == BY_64 ? 8 : 4) / 32,
                                     .xlen = is_store ? lanes * 4 / 32 : 0,
                                     .rlen = is_store ? 0 : rlen,
                                     .generation = later(32),
                                     .exec_size = lanes};
    if (zs_port_message_decode(&send, &f->message, &f->row, &diag))
        fail_msg("0x%08x: %s", desc, diag.text);
}

/* Addresses of 32 bits count from general state base: a thread's arguments, which nothing writes.
 */
static void arguments(void **state)
{
    enum { PAYLOAD_AT = 192, PAYLOAD_B = 320 };
    static const uint32_t masks[] = {0xffff, 0x1, 0xa5c3};
    uint64_t seed = 33;
    struct fixture *f = aligned_alloc(64, (sizeof(*f) + 63) / 64 * 64);

    (void)state;
    fixture_init(f, &seed);
    f->port.payload = f->memory + PAYLOAD_AT;
    f->port.payload_B = PAYLOAD_B;
    must_decode(f, D32 | BY_32, 16, 2);
    assert_int_equal(f->message.space, ZS_PORT_SPACE_PAYLOAD);
    for (size_t i = 0; i < sizeof(masks) / sizeof(masks[0]); i++) {
        uint32_t offsets[16], got, untouched;
        memset(f->dst, 0x5a, 64);
        memset(&untouched, 0x5a, 4);
        for (uint32_t lane = 0; lane < 16; lane++)
            offsets[lane] = masks[i] >> lane & 1 ? random_u32(&seed) % (PAYLOAD_B - 3) : UINT32_MAX;
        memcpy(f->src0, offsets, sizeof(offsets));
        assert_true(run(f, masks[i]));
        for (uint32_t lane = 0; lane < 16; lane++) {
            bool on = masks[i] >> lane & 1;
            memcpy(&got, f->dst + lane * 4, 4);
            assert_memory_equal(&got, on ? f->port.payload + offsets[lane] : (uint8_t *)&untouched,
                                4);
        }
    }
    memcpy(f->src0, &(uint32_t){PAYLOAD_B - 3}, 4);
    assert_false(run(f, 1));
    must_decode(f, STORE_OP | D32 | BY_32, 16, 0);
    memcpy(f->src0, &(uint32_t){0}, 4);
    assert_false(run(f, 1));
    assert_int_equal(f->port.fault.kind, ZS_PORT_FAULT_READ_ONLY);
    free(f);
}

/* A bit for each lane that asks, at the register's start; no page, no answer. */
static void page_status(void **state)
{
    static const uint32_t masks[] = {0xffff, 0x8000, 0xa5c3};
    static const uint32_t zeros[15];
    uint64_t seed = 34;
    struct fixture *f = aligned_alloc(64, (sizeof(*f) + 63) / 64 * 64);

    (void)state;
    fixture_init(f, &seed);
    must_decode(f, STATUS | D32 | X4 | BY_64, 16, 1);
    for (size_t i = 0; i < sizeof(masks) / sizeof(masks[0]); i++) {
        uint64_t at[16] = {0};
        for (uint32_t lane = 0; lane < 16; lane++)
            if (masks[i] >> lane & 1)
                at[lane] = address_of(f) + random_u32(&seed) % (MEMORY_B - 15);
        memcpy(f->src0, at, sizeof(at));
        memset(f->dst, 0x5a, 64);
        assert_true(run(f, masks[i]));
        assert_memory_equal(f->dst, &masks[i], 4);
        assert_memory_equal(f->dst + 4, zeros, 28);
        assert_int_equal(f->dst[32], 0x5a);
    }
    memcpy(f->src0 + 9 * 8, &(uint64_t){address_of(f) + MEMORY_B + 64}, 8);
    assert_true(run(f, 1));
    assert_false(run(f, 1 << 9));
    assert_int_equal(f->port.fault.kind, ZS_PORT_FAULT_OUT_OF_BOUNDS);
    assert_int_equal(f->port.fault.lane, 9);
    free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_descriptor),    cmocka_unit_test(surfaces),
        cmocka_unit_test(refusals_of_xehpc), cmocka_unit_test(arguments),
        cmocka_unit_test(page_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
