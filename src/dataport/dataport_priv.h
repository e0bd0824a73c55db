/* SPDX-License-Identifier: MIT */
/* Shared by the send units: lanes, areas of memory, bounds, faults. */
#ifndef ZS_DATAPORT_DATAPORT_PRIV_H
#define ZS_DATAPORT_DATAPORT_PRIV_H

#include "dataport/dataport.h"

#include <string.h>

enum {
    GRF_B = 32,
    LANES_MAX = 32,
    BTI_STATELESS = 255,
    BTI_SLM = 254,
    BTI_STATELESS_NON_COHERENT = 253,
    BTI_BINDLESS = 252,
    /* no indices, but what messages reach in other ways: */
    BTI_SCRATCH = 251,                   /* scratch blocks, from what their header has in DW5 */
    BTI_SCRATCH_SURFACE = 250,           /* scratch memory as a surface */
    BTI_LAST = ZS_PORT_SURFACES_MAX - 1, /* of the binding table; above it LSC has none */
    /* IGC sets bit 28 of pointers to local memory, so that offset 0 is not a null pointer. The
     * hardware keeps 16 bits; keeping 28 finds overruns in both directions. */
    SLM_OFFSET_MASK = 0x0fffffff,
    /* `op` of blocks of two dimensions: bits */
    ZS_PORT_BLOCK_TRANSPOSED = 1,
    ZS_PORT_BLOCK_VNNI = 2,
};

/* Where a message's addresses lead, relative to one base. */
struct zs_port_area {
    uint8_t *base;
    uint64_t size_B;
    uint64_t bias; /* subtracted from offsets first */
    uint32_t mask; /* and-ed to offsets before that */
    bool read_only;
    bool drops;    /* out of bounds: reads give 0, writes vanish (surfaces); else a fault */
    uint8_t fault; /* enum zs_port_fault_kind of an access outside */
};

/* The pointers of a message's lanes after bounds were checked. */
struct zs_port_lanes {
    uint8_t *pointer[LANES_MAX];
    uint32_t valid;   /* lanes whose whole access is inside */
    uint32_t outside; /* lanes that reach outside an area that drops */
};

/* Fault helpers: record the first fault and return false. */
bool zs_port_fail(struct zs_port *port, const struct zs_port_message *message,
                  enum zs_port_fault_kind kind, int lane, uint64_t gpu_va, uint32_t access_B,
                  bool is_write);

/* The area of a binding table index. false: fault. */
bool zs_port_area(struct zs_port *port, const struct zs_port_message *message, bool is_write,
                  struct zs_port_area *ret_area);

/* The live range that holds the bytes, also through the cache; NULL and a fault when none does. */
const struct zs_port_range *zs_port_range(struct zs_port *port,
                                          const struct zs_port_message *message, uint64_t gpu_va,
                                          uint64_t size_B, int lane, bool is_write);

/* Of a message whose surface is an image; else NULL. */
static inline const struct zs_port_surface *zs_port_image(const struct zs_port *port,
                                                          const struct zs_port_message *message)
{
    bool is_image = message->bti < port->surface_count &&
                    port->surfaces[message->bti].kind == ZS_PORT_SURFACE_IMAGE;
    return is_image ? &port->surfaces[message->bti] : NULL;
}

/* Where the host has what a range has at gpu_va. */
static inline uint8_t *zs_port_host(const struct zs_port_range *range, uint64_t gpu_va)
{
    return (uint8_t *)(uintptr_t)(gpu_va + range->bias);
}

/* A buffer of the binding table or local memory: what most messages reach. */
struct zs_port_quick {
    uint8_t *base;
    uint64_t size_B;
    uint32_t mask; /* and-ed to offsets */
};
/* Surfaces end at a multiple of 4 bytes. The compiler reads dwords where a program asks for single
 * bytes of them; a byte or a word behind the last one is what the program asked for, so it is found
 * where surfaces are checked. */
static inline uint64_t zs_port_surface_B(const struct zs_port *port,
                                         const struct zs_port_message *message,
                                         const struct zs_port_surface *surface)
{
    bool small = message->lanes && message->element_B < 4;
    bool exact = small && (port->flags & ZS_PORT_CHECK_SURFACES);
    return surface->size_B - (exact ? surface->pad_B : 0);
}
/* false: anything else, writes to read-only memory, writes that are tracked. No fault yet. */
static inline bool zs_port_quick(const struct zs_port *port, const struct zs_port_message *message,
                                 bool is_write, struct zs_port_quick *ret)
{
    if (ZS_UNLIKELY(port->flags & ZS_PORT_TRACK_WRITES))
        return false;
    if (message->bti < port->surface_count) {
        const struct zs_port_surface *surface = &port->surfaces[message->bti];
        ret->base = surface->base;
        ret->size_B = zs_port_surface_B(port, message, surface);
        ret->mask = UINT32_MAX;
        return surface->kind == ZS_PORT_SURFACE_BUFFER && !(is_write && surface->read_only);
    }
    ret->base = port->slm;
    ret->size_B = port->slm_B;
    ret->mask = SLM_OFFSET_MASK;
    return message->bti == BTI_SLM;
}
/* Resolve lanes: span_B bytes from each active lane's offset or address, of which four are read at
 * once. false: fault. */
bool zs_port_lanes(struct zs_port *port, const struct zs_port_message *message,
                   const uint8_t *addresses, uint32_t mask, uint32_t span_B, bool is_write,
                   struct zs_port_lanes *ret);

/* Bytes of registers that a coordinate or a channel of all lanes takes. */
static inline uint32_t zs_port_typed_B(const struct zs_port_message *message)
{
    return message->lanes * 4u;
}
/* Texels of a typed surface at integer coordinates. Lanes outside the image: ret->outside. */
bool zs_port_lanes_typed(struct zs_port *port, const struct zs_port_message *message,
                         const uint8_t *src0, uint32_t mask, bool is_write,
                         struct zs_port_lanes *ret);
/* Byte x_B of a row of a surface without slices. */
static inline uint8_t *zs_port_surface_byte(const struct zs_port_surface *surface, uint64_t x_B,
                                            uint64_t row)
{
    return surface->base + zs_tiled(surface->tiling, surface->row_pitch_B, x_B, row, 0);
}
/* Addresses of texels; returns which lanes are inside. u, v, r: dimensions first, then the layer of
 * an array. */
uint32_t zs_port_surface_texels(const struct zs_port_surface *surface,
                                const int32_t at[3][ZS_PORT_TEXELS], uint32_t mask, uint8_t **ret);
/* Of one; NULL outside. */
uint8_t *zs_port_surface_texel(const struct zs_port_surface *surface, const int64_t coordinate[3]);

/* NULL: it is named by a handle that is not known. header: of the message, if it has one. */
const struct zs_port_sampler *zs_port_sampler_of(const struct zs_port *port,
                                                 const struct zs_port_message *message,
                                                 const uint8_t *header);

/* Of a line of an image, the byte that a media block reads at x_B; outside the edge texels repeat.
 */
static inline uint64_t zs_port_media_byte(const struct zs_port_surface *surface, int64_t x_B)
{
    int64_t texel_B = surface->format->texel_B, line_B = surface->width * texel_B;
    if (x_B < 0)
        return (uint64_t)(texel_B - 1 - (-x_B - 1) % texel_B);
    return (uint64_t)(x_B < line_B ? x_B : line_B - texel_B + x_B % texel_B);
}
static inline int64_t zs_port_media_line(const struct zs_port_surface *surface, int64_t y)
{
    int64_t last = (int64_t)surface->height - 1;
    return y < 0 ? 0 : y > last ? last : y;
}

/* Never-written memory: note a write, check a read. Only called when the port tracks. */
bool zs_port_track(struct zs_port *port, const struct zs_port_message *message,
                   const uint8_t *pointer, uint64_t size_B, int lane, bool is_write);
static inline bool zs_port_tracks(const struct zs_port *port)
{
    return ZS_UNLIKELY(port->flags & ZS_PORT_TRACK_WRITES);
}

typedef bool zs_port_run_fn(struct zs_port *port, const struct zs_port_message *message,
                            uint8_t *dst, const uint8_t *src0, const uint8_t *src1, uint32_t mask);

/*
 * Run a message that computes with floats: to nearest and with denormals, as the units do, whatever
 * rounding and denormals the thread's cr0 has set on the host.
 */
bool zs_port_with_own_floats(zs_port_run_fn *run, struct zs_port *port,
                             const struct zs_port_message *message, uint8_t *dst,
                             const uint8_t *src0, const uint8_t *src1, uint32_t mask);

/* ---- decoding ----------------------------------------------------------------------------------
 */

static inline uint32_t zs_port_bits(uint32_t value, uint32_t high, uint32_t low)
{
    return value >> low & ((2u << (high - low)) - 1);
}

/* The data operand, once addresses are known to be in src0. */
static inline const uint8_t *zs_port_data(const struct zs_port_message *message,
                                          const uint8_t *src0, const uint8_t *src1,
                                          uint32_t address_grf)
{
    if (message->data_in_src1)
        return src1;
    return src0 + (size_t)(message->header_grf + address_grf) * GRF_B;
}

/* Copied to where the number of lanes is a constant. */
#define ZS_PORT_ALWAYS __attribute__((always_inline))

/* Accesses of kernels to memory race when the kernels do: that is no bug of ours. */
#define ZS_PORT_KERNEL_ACCESS __attribute__((no_sanitize("thread")))

/* ---- lanes -------------------------------------------------------------------------------------
 */

/* lanes: 1 to 32 */
static inline uint32_t zs_port_lane_mask(uint32_t lanes)
{
    return UINT32_MAX >> (32 - lanes);
}
#define ZS_PORT_FOR_LANES(lane, mask)                                                              \
    for (uint32_t lane##_left = (mask), lane;                                                      \
         lane##_left && ((lane = (uint32_t)__builtin_ctz(lane##_left)), true);                     \
         lane##_left &= lane##_left - 1)

static inline uint32_t zs_port_load32(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof(v));
    return v;
}
/* The same from memory that other threads may write. */
ZS_PORT_KERNEL_ACCESS static inline uint32_t zs_port_load32_shared(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof(v));
    return v;
}
static inline uint64_t zs_port_load64(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof(v));
    return v;
}
static inline void zs_port_store32(uint8_t *p, uint32_t v)
{
    memcpy(p, &v, sizeof(v));
}
static inline void zs_port_store64(uint8_t *p, uint64_t v)
{
    memcpy(p, &v, sizeof(v));
}
/* A dword of each lane; from: NULL: zeros */
static inline void zs_port_store_lanes(uint8_t *to, const uint32_t *from, uint32_t mask)
{
    enum { EIGHT_B = 32 };
    for (; from && (mask & 255) == 255; mask >>= 8, to += EIGHT_B, from += 8)
        memcpy(to, from, EIGHT_B);
    ZS_PORT_FOR_LANES(lane, mask)
    zs_port_store32(to + (size_t)lane * 4, from ? from[lane] : 0);
}

/* Each against where it should be, a vector at a time: hosts forward what was stored as wide, and
 * aligned. */
#define ZS_PORT_RISE(name, type, count, load)                                                      \
    static inline ZS_PORT_ALWAYS bool name(const uint8_t *addresses, uint32_t lanes,               \
                                           type *ret_step)                                         \
    {                                                                                              \
        typedef type vector __attribute__((vector_size(16)));                                      \
        type first = load(addresses), step = load(addresses + sizeof(type)) - first;               \
        vector own, expected = {first, first + step}, off = {0};                                   \
        uint64_t any[2];                                                                           \
        for (uint32_t i = 2; i < (count); i++)                                                     \
            expected[i] = first + i * step;                                                        \
        _Pragma("GCC unroll 8") for (uint32_t i = 0; i < lanes; i += (count))                      \
        {                                                                                          \
            memcpy(&own, addresses + i * sizeof(type), sizeof(own));                               \
            off |= own ^ expected;                                                                 \
            expected += (count)*step;                                                              \
        }                                                                                          \
        memcpy(any, &off, sizeof(any));                                                            \
        *ret_step = step;                                                                          \
        return !(any[0] | any[1]);                                                                 \
    }
ZS_PORT_RISE(zs_port_rise32, uint32_t, 4, zs_port_load32)
ZS_PORT_RISE(zs_port_rise64, uint64_t, 2, zs_port_load64)
#undef ZS_PORT_RISE

/* Whether addresses, of 4 or 8 bytes each, rise by the same step, below 2^32, from each lane to the
 * next, modulo their size. lanes: a multiple of 4. */
static inline ZS_PORT_ALWAYS bool zs_port_rise(const uint8_t *addresses, uint32_t address_B,
                                               uint32_t lanes, uint32_t *ret_step_B)
{
    uint64_t step;
    if (address_B == 4)
        return zs_port_rise32(addresses, lanes, ret_step_B);
    bool even = zs_port_rise64(addresses, lanes, &step);
    *ret_step_B = (uint32_t)step;
    return even && step <= UINT32_MAX;
}

/* Dwords of so many lanes, of eight at once. */
static inline void zs_port_copy_lanes(void *to, const void *from, uint32_t lanes)
{
    typedef uint32_t eight[8];
    for (uint32_t i = 0; i < (lanes + 7) / 8; i++)
        memcpy((eight *)to + i, (const eight *)from + i, sizeof(eight));
}
/* A parameter of all lanes; zeros: there are fewer. */
static inline void zs_port_parameters(const struct zs_port_message *message, const uint8_t *src0,
                                      uint32_t index, void *ret)
{
    const uint8_t *at = src0 + (size_t)message->header_grf * GRF_B;
    if (index < message->coordinates)
        zs_port_copy_lanes(ret, at + (size_t)index * zs_port_typed_B(message), message->lanes);
    else
        memset(ret, 0, sizeof(uint32_t) * ZS_PORT_TEXELS);
}
/* Of texels: u, v, r; of those that the sampler loads the level may stand behind the first. */
static inline void zs_port_coordinates(const struct zs_port_message *message, const uint8_t *src0,
                                       int32_t ret[3][ZS_PORT_TEXELS])
{
    uint32_t level = message->shape == ZS_PORT_SHAPE_TEXEL && message->returns;
    for (uint32_t i = 0; i < 3; i++)
        zs_port_parameters(message, src0, i ? i + level : 0, ret[i]);
}

/* block.c: where a block starts in its area. header: the payload. */
uint64_t zs_port_block_offset(const struct zs_port_message *message,
                              const struct zs_port_area *area, const uint8_t *header);

/* What the payload of a media block says. In load/store cache messages (which have address_B) it
 * stands where blocks of memory have it. Source: lscBuildTypedBlock2DPayload() of IGC. */
struct zs_port_media {
    int32_t x_B, y;
    uint32_t width_B, height;
};
static inline struct zs_port_media zs_port_media(const struct zs_port_message *message,
                                                 const uint8_t *payload)
{
    const uint8_t *at = payload + (message->address_B ? 20 : 0);
    uint32_t size = zs_port_load32(at + 8), height_bit = message->address_B ? 8 : 16;
    return (struct zs_port_media){.x_B = (int32_t)zs_port_load32(at),
                                  .y = (int32_t)zs_port_load32(at + 4),
                                  .width_B = (size & 63) + 1,
                                  .height = (size >> height_bit & 63) + 1};
}

/* ---- rows of message.def -----------------------------------------------------------------------
 */

#define ZS_PORT_MESSAGE(shape, kind, address_B, payload, run) zs_port_run_fn zs_port_run_##run;
#include "dataport/message.def"

/* lsc_special.c: messages whose payload is not what vector.c takes. */
static inline bool zs_port_lsc_is_special(const struct zs_port_message *message)
{
    return message->address_B == 2 || message->offset64 || message->strided ||
           (message->lanes && message->slot_B < 4);
}
zs_port_run_fn zs_port_run_lsc_special;
/* The same message with an address of 32 or 64 bits for each lane, and slots of dwords. */
enum { ZS_PORT_PLAIN_ROW_B = 32 * 4 };
struct zs_port_plain {
    struct zs_port_message message;
    uint32_t far;                   /* lanes that are outside of any surface, whatever its size */
    uint8_t addresses[32 * 8 + 16]; /* vectors of them are read to the end */
};
void zs_port_lsc_plain(const struct zs_port_message *message, const uint8_t *src0,
                       struct zs_port_plain *ret);
/* block2d.c: the bytes of memory of a message's row, all blocks of which lie side by side;
 * *ret_size_B is 0 outside the surface. false: there are no more rows, or it is not allowed. */
bool zs_port_block2d_row(const struct zs_port_message *message, const uint8_t *src0, uint32_t index,
                         uint64_t *ret_gpu_va, uint32_t *ret_size_B);
/* A load without a response is a prefetch: it moves nothing, wherever its addresses lead. */
static inline bool zs_port_is_prefetch(const struct zs_port_message *message)
{
    return message->rlen == 0;
}
/* atomic.c: operands of a lane; -1: there is no such operation on elements of its size. */
int zs_port_atomic_operands(const struct zs_message_form *form);

#endif
