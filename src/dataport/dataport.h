/* SPDX-License-Identifier: MIT */
/*
 * The data port: what a message to shared functions does (data caches, A64 memory, SLM, scratch,
 * typed surfaces, sampler, gateway).
 *
 * A message is decoded once, when its kernel is lowered: zs_port_message_decode() turns its form
 * (isa/message_form.h) into a row of message.def and a small struct zs_port_message.
 * zs_eu_send_lower() of eu.h is built on it; tests call it directly:
 *
 *     row->run(port, message, dst, src0, src1, mask)
 *
 * The port is what a hardware thread sees outside of its registers: struct zs_eu_thread's `env`.
 * The dispatcher (src/gpu) fills it; one port serves one host thread, and is switched from group
 * to group and from thread to thread. Nothing in a port is an owner.
 */
#ifndef ZS_DATAPORT_DATAPORT_H
#define ZS_DATAPORT_DATAPORT_H

#include "base/diag.h"
#include "dataport/surface.h"
#include "isa/message_form.h"

enum zs_port_fault_kind {
    ZS_PORT_FAULT_NONE,
    ZS_PORT_FAULT_OUT_OF_BOUNDS, /* an address that no live allocation holds */
    ZS_PORT_FAULT_READ_ONLY,
    ZS_PORT_FAULT_MISALIGNED,
    ZS_PORT_FAULT_UNWRITTEN,
    ZS_PORT_FAULT_SURFACE, /* outside a surface of the binding table */
    ZS_PORT_FAULT_SLM,
    ZS_PORT_FAULT_SCRATCH, /* outside the thread's scratch memory */
    ZS_PORT_FAULT_BLOCK2D, /* a surface or a block of two dimensions that messages cannot have */
    ZS_PORT_FAULT_BARRIER, /* a named barrier that there is none of */
    ZS_PORT_FAULT_SAMPLER_HANDLE, /* a sampler that a handle names: no argument has one */
    ZS_PORT_FAULT_SLM_UNWRITTEN,
    ZS_PORT_FAULT_SLM_GAP, /* between arrays in local memory */
};

struct zs_port_fault {
    enum zs_port_fault_kind kind;
    bool has_lane; /* `lane` is the element of the message to blame */
    uint32_t lane; /* element index: add the instruction's channel offset */
    bool has_access;
    bool is_write;
    uint64_t gpu_va; /* or the byte offset in SLM, scratch, a surface of the binding table */
    uint32_t access_B;
    uint32_t bti; /* 255 stateless and A64, 254 SLM, else the index into port->surfaces */
    char detail[160];
};

/* One live allocation, as launches see it. */
struct zs_port_range {
    uint64_t start, end; /* [start, end) */
    uint64_t bias;       /* what to add to its addresses for the host's; 0 for our own driver */
    bool read_only;
    bool is_for_reads; /* says the application: of launches that are strict */
    bool is_joined;    /* with neighbours of the same bias: who reaches over its end finds them */
    uint64_t *written; /* one bit per byte from start; NULL: not tracked. Updated atomically */
};

/* Ranges that do not overlap, as a tree (map.c); what a launch has of it is immutable. */
struct zs_port_node {
    struct zs_port_range range;
    struct zs_port_node *left, *right;
    _Atomic(uint32_t) references; /* of nodes above, and of maps */
    uint32_t priority;
    bool embedded; /* in something of the caller's: not to be freed */
};
struct zs_port_map {
    struct zs_port_node *root; /* NULL: nothing */
};

enum {
    ZS_PORT_CHECK_SURFACES = 1u << 0, /* accesses outside a surface are faults */
    ZS_PORT_TRACK_WRITES = 1u << 1,   /* some range has a `written` bitmap */
    ZS_PORT_CHECK_UNWRITTEN = 1u << 2,
    ZS_PORT_LOCAL_UNDEFINED = 1u << 4, /* local memory that nobody wrote is no fault */
    ZS_PORT_STRICT = 1u << 3,          /* as CHECK_UNWRITTEN does, too: see straddled() */
};

enum { ZS_PORT_CACHE = 16, ZS_PORT_LAUNCH_RANGES = 4 };
enum { ZS_PORT_SURFACES_MAX = 240 }; /* that messages reach, by binding table or handle */
/* In r0.5, from XeHPG on: the surface state of scratch memory, the same for all threads. */
enum { ZS_PORT_SCRATCH_HANDLE = 1 << 10 };
/* The same for sendg: what threads get as the address of the state of scratch memory. */
enum { ZS_PORT_SCRATCH_STATE = 1 << 30 };
/* Where no table of handles is: that of sampler i is this times i + 1. */
enum { ZS_PORT_SAMPLER_HANDLE_B = 32 };
enum { ZS_PORT_LINE_B = 64 }; /* no two allocations share a line */

/*
 * Named barriers of a group (XeHPC): each message says how many producers and consumers its
 * barrier has. When so many producers have signalled, those who consume may pass.
 */
enum { ZS_PORT_NAMED_BARRIERS = 32, ZS_PORT_NAMED_THREADS = 64 };
struct zs_port_named_barriers {
    uint32_t used;      /* bit for each that somebody has signalled: its fields below are good */
    uint32_t completed; /* ... whose producers all have, since the dispatcher looked last */
    struct {
        uint8_t arrived, producers;
        uint64_t consumers; /* bit for each thread of the group */
    } at[ZS_PORT_NAMED_BARRIERS];
};

/* Bytes of local memory that belong to nothing: behind one array, in front of another. */
struct zs_port_gap {
    uint32_t begin_B, end_B;
    uint32_t below_B; /* size of the array below */
    char below[48];   /* its name */
};

struct zs_port {
    /* of the launch */
    struct zs_port_map map;
    struct zs_port_range launch_ranges[ZS_PORT_LAUNCH_RANGES]; /* private memory, printf ... */
    uint32_t launch_range_count;
    const struct zs_port_surface *surfaces; /* by binding table index, or number of a handle */
    uint32_t surface_count;
    /* Handles that a driver which is not ours gave to surfaces: states' numbers in their heap, of
     * which the first has surface handle_base. NULL: handles are indices themselves. */
    const uint32_t *handles;
    uint32_t handle_count, handle_base;
    const struct zs_port_sampler *samplers;
    uint32_t sampler_count;
    /* Handles of samplers: bytes from their heap's base on; the first is of sampler_handle_base. */
    const uint32_t *sampler_handles;
    uint32_t sampler_handle_count, sampler_handle_base;
    uint32_t flags; /* ZS_PORT_* */
    /* Of kernels with ZS_EU_LOWER_DEFINED: what memory has may be undefined, if it is not 0. */
    const _Atomic(uint32_t) *undefined;
    /* of the group */
    uint8_t *slm;
    uint32_t slm_B;
    uint64_t
        *slm_written; /* a bit for each byte of it; NULL: zs_port_check_local() looks at nothing */
    uint32_t slm_filled_B; /* from its start on all is known to be written; 0 is true of any */
    const struct zs_port_gap *gaps;
    uint32_t gap_count;
    /* of the thread: general state base, and the part of it that is this thread's */
    uint8_t *scratch;
    uint64_t scratch_start, scratch_end; /* offsets from general state base that are allowed */
    uint64_t scratch_bias;    /* what headers of scratch blocks have in DW5 for this thread */
    const uint8_t *payload;   /* from XeHPG on general state base is for the payload, and scratch */
    uint64_t payload_B;       /* memory is a surface of its own; else NULL */
    uint32_t barrier_signals; /* barrier messages since the dispatcher looked last */
    uint32_t thread;          /* its number in the group */
    struct zs_port_named_barriers *named_barriers; /* of the group; NULL: it has none */
    struct zs_port_fault fault;                    /* of the first refused access */
    uint8_t mark; /* what is stored to addresses of ZS_PORT_MARK_TAG << 48: nobody reads it */
    /* the ranges hit last, by message->cache_slot: one compare in place of a search */
    struct zs_port_range cache[ZS_PORT_CACHE];
    struct zs_port_range apart; /* the last one that is for reads: none of them is in the cache */
    const struct zs_port_range *tracked[ZS_PORT_CACHE]; /* ... of zs_port_track(), in `map` */
};

enum { ZS_PORT_MARK_TAG = 0x5a5d };

/* What a message reaches: how counters sort it. */
enum zs_port_space {
    ZS_PORT_SPACE_NONE,
    ZS_PORT_SPACE_GLOBAL, /* A64, and buffers of the binding table */
    ZS_PORT_SPACE_SLM,
    ZS_PORT_SPACE_SCRATCH, /* spills; before XeHPG also A32 stateless */
    ZS_PORT_SPACE_TYPED,   /* images by the data port */
    ZS_PORT_SPACE_SAMPLER,
    ZS_PORT_SPACE_GATEWAY,
    ZS_PORT_SPACE_PAYLOAD, /* from XeHPG on: A32 stateless, what threads load of their arguments */
};

enum {
    ZS_PORT_FENCE_NEAR = 1u << 0,  /* of a group, or of one Xe core */
    ZS_PORT_FENCE_LOCAL = 1u << 1, /* of local memory; else of all other */
};

/* A decoded message. Small: it is kept in every send instruction. */
struct zs_port_message {
    uint8_t bti;
    uint8_t lanes;         /* elements: 8 or 16, LSC: up to 32; 0: a block message (see `masked`) */
    uint8_t header_grf;    /* registers before the addresses: 0 or 1 */
    uint8_t rlen;          /* registers that may be written */
    uint8_t element_B;     /* bytes of one element in memory */
    uint8_t elements;      /* elements per lane */
    uint8_t channels;      /* untyped, typed, LSC: mask of enabled channels; of LSC 15: no mask */
    uint8_t op;            /* atomics: operation; gateway: function; fences: ZS_PORT_FENCE_... */
    uint8_t returns;       /* atomics: the old value is wanted */
    uint8_t coordinates;   /* typed, sampler: parameters per lane */
    uint8_t sampler;       /* index of the sampler state */
    uint8_t may_be_handle; /* sampler: bit 0 of the header's state pointer says that it is one */
    uint8_t block_shift;   /* unit of a block's offset: 16 bytes is 4, bytes is 0 */
    uint8_t block_upper;   /* one OWord, in the upper half of the register */
    uint8_t cache_slot;    /* into port->cache: any number below ZS_PORT_CACHE */
    uint8_t data_in_src1;  /* payload data starts at src1; else behind the addresses in src0 */
    uint8_t masked;        /* scratch writes: lanes that are off keep their dwords */
    uint8_t gather;        /* an operand straddles src0 and src1: join them first */
    uint8_t mlen, xlen;
    uint8_t shape;    /* enum zs_port_shape */
    uint16_t block_B; /* block messages: bytes */
    uint8_t strided;  /* LSC: one address and the distance of lanes */
    uint8_t offset64; /* LSC: addresses of 64 bits are offsets in a surface */
    union {
        uint32_t block_offset_B; /* scratch blocks: from the thread's scratch base */
        /* LSC: what the instruction adds to all addresses, or to a block's place */
        int32_t offset_B;
        struct {
            int16_t offset_x, offset_y;
        };
    };
    uint8_t space; /* enum zs_port_space */
    /* for counters: bytes that one active lane (lanes > 0) or one execution (block) moves */
    uint8_t bytes_read, bytes_written;
    uint8_t address_B;    /* of lanes, of a block: 2 (LSC), 4, 8; 0: in the header */
    uint8_t slot_B;       /* of an element in a register */
    uint8_t upper;        /* LSC: words are the upper half of their slots */
    uint16_t component_B; /* registers of an element of all lanes; of blocks: bytes of one */
    /* sendg: addresses are made of a base that s0 has and scale_B times what src0 has */
    uint8_t makes, offset_size_B, is_signed, scale_B;
    uint8_t disabled; /* sampler: mask of channels that do not come */
    /* Loads: of what they bring nobody reads these, which is for checks alone. A bit each: dwords
     * of a block, elements of lanes or, where there is one of each, lanes. */
    uint64_t unread;
};

/* Where the lanes that run of a load or store are: neighbours, at one place, two to four dwords
 * apart (if all run), or anywhere, groups of sixteen each for themselves; where some are off, those
 * are anywhere, too. 0: it is another message. */
enum { ZS_PORT_WAY_ROW = 1, ZS_PORT_WAY_ONE = 2, ZS_PORT_WAY_ANY = 4, ZS_PORT_WAY_APART = 0x38 };
static inline unsigned zs_port_way_apart(uint32_t dwords)
{
    return 2u << dwords;
}
unsigned zs_port_way(const struct zs_port_message *m, const uint8_t *src0, uint32_t mask);

/* A message whose extended descriptor has a handle gets the index of its surface there, or one that
 * is none. Others stay as they are. */
void zs_port_send_place_handle(const struct zs_port *port, struct zs_isa_send *send);
/* Whether it names its surface by a handle. */
bool zs_port_send_has_handle(const struct zs_isa_send *send);

/*
 * Of a row of message.def: run() returns false when the access was refused:
 * port->fault says why. dst has room for rlen registers and may overlap src0 and src1. mask has a
 * bit per element of the message. Registers were validated by the caller.
 */
typedef bool zs_port_run_fn(struct zs_port *port, const struct zs_port_message *message,
                            uint8_t *dst, const uint8_t *src0, const uint8_t *src1, uint32_t mask);

struct zs_port_message_row {
    uint8_t shape, kind; /* enum zs_message_shape, enum zs_isa_message_kind */
    uint8_t address_B;   /* 0: any */
    uint8_t payload;     /* enum zs_port_shape */
    uint8_t is_atomic, is_fence;
    zs_port_run_fn *run;
};

/*
 * 0; -ENOTSUP (not modelled) or -EINVAL (the payload does not fit the message) with a sentence
 * that names SFID, descriptor and message. Lengths in a decoded message count 32 bytes.
 */
int zs_port_message_decode(const struct zs_isa_send *send, struct zs_port_message *ret_message,
                           const struct zs_port_message_row **ret_row, struct zs_diag *diag);
/* What it is called in faults: "untyped read", "atomic iadd". */
void zs_port_message_name(const struct zs_isa_send *send, char *ret, size_t size);

/* Bytes of registers that an element of all lanes takes in what a load brings: the next one's are
 * behind it. 0: it is none of loads by lanes. */
uint32_t zs_port_message_element_B(const struct zs_port_message *message);

/* ---- what a message touches: for models of time -------------------------------------------------
 */

/* How its addresses stand in the payload. */
enum zs_port_shape {
    ZS_PORT_SHAPE_NONE, /* it has none */
    ZS_PORT_SHAPE_OFFSETS,
    ZS_PORT_SHAPE_DWORD_OFFSETS,
    ZS_PORT_SHAPE_ADDRESSES,
    ZS_PORT_SHAPE_BLOCK,
    ZS_PORT_SHAPE_SCRATCH,
    ZS_PORT_SHAPE_A64_BLOCK,
    ZS_PORT_SHAPE_TYPED,
    ZS_PORT_SHAPE_MEDIA,
    ZS_PORT_SHAPE_SAMPLE,
    ZS_PORT_SHAPE_TEXEL,
    ZS_PORT_SHAPE_LSC,
    ZS_PORT_SHAPE_BLOCK2D,
};

/* Add what the instruction says to addresses in a copy of the payload, which run() and all others
 * here then take. */
static inline bool zs_port_moves(const struct zs_port_message *message)
{
    return (message->shape == ZS_PORT_SHAPE_LSC || message->shape == ZS_PORT_SHAPE_BLOCK2D) &&
           message->offset_B;
}
void zs_port_move(const struct zs_port_message *message, uint8_t *payload);
/* Of a message that makes them: its addresses in a payload, of what src0 has. */
void zs_port_make_addresses(const struct zs_port_message *message, uint64_t base,
                            const uint8_t *src0, uint8_t *ret_payload);

enum { ZS_PORT_FOOTPRINT_LINES = 128 };
struct zs_port_footprint {
    /* Lines of 64 bytes, each once, in the order of lanes: addresses, of scratch memory offsets in
     * the thread's own part, divided by 64. */
    uint64_t lines[ZS_PORT_FOOTPRINT_LINES];
    uint32_t line_count;
    uint16_t slm_cycles;    /* local memory: dwords of the fullest of its 16 banks */
    uint16_t slm_conflicts; /* ... how many fewer it had if they were spread evenly */
    uint16_t atomic_lanes;  /* atomics: lanes at the location that most lanes share */
    uint16_t texels;        /* sampler: that were looked up */
    uint16_t dwords;        /* lanes far apart: which dwords of lines they touch, a bit each */
};
/* mask: lanes that take part, as for run(). src0: the whole payload, joined if `gather` says so. */
void zs_port_footprint(const struct zs_port *port, const struct zs_port_message *message,
                       const uint8_t *src0, uint32_t mask, struct zs_port_footprint *ret);

/* ---- the bytes that a message moves: for debuggers ----------------------------------------------
 */

enum { ZS_PORT_ACCESSES_MAX = 128, ZS_PORT_NO_LANE = 255 };
struct zs_port_access {
    uint64_t address; /* in memory, the host's; or the offset in local memory */
    uint32_t size_B;
    uint8_t lane; /* element of the message; ZS_PORT_NO_LANE: it is no lane's own */
    bool is_slm;
};
struct zs_port_accesses {
    struct zs_port_access
        pieces[ZS_PORT_ACCESSES_MAX]; /* in the order of lanes, the last one wins */
    uint32_t count;
    bool whole; /* false: there was no room for all */
};
/* As zs_port_footprint(). What samplers read is not told. Addresses of 64 bits may lead anywhere.
 */
/* All that a message moves, where it is a dword for each lane from the first one on, behind each
 * other or at one place. */
struct zs_port_row {
    uint64_t address; /* as in zs_port_access */
    uint32_t lanes;
    bool is_slm, is_one; /* place */
};
/* false: something else. */
bool zs_port_row(const struct zs_port *port, const struct zs_port_message *message,
                 const uint8_t *src0, uint32_t lane_mask, struct zs_port_row *ret_row);
void zs_port_accesses(const struct zs_port *port, const struct zs_port_message *message,
                      const uint8_t *src0, uint32_t mask, struct zs_port_accesses *ret);

/* In front of a message, when local memory is checked; arguments as of run(). false: refused. */
bool zs_port_check_local(struct zs_port *port, const struct zs_port_message_row *row,
                         const struct zs_port_message *message, const uint8_t *src0, uint32_t mask);
/* All of the group's local memory has been written. */
bool zs_port_local_is_full(struct zs_port *port);
/* The gap that has some of the bytes; NULL: none. */
const struct zs_port_gap *zs_port_gap_at(const struct zs_port *port, uint64_t offset_B,
                                         uint64_t size_B);

/* Of a message by lanes the elements of each, where they stand in memory, of a block its dwords: a
 * bit for each that is moved and not unread. 0: all from the first one on. */
uint64_t zs_port_parts(const struct zs_port_message *message);
/* The first of them that follow each other: how many, and which is the first. They are taken away.
 */
uint32_t zs_port_next_parts(uint64_t *parts, uint32_t *ret_first);
/* The lanes whose elements are not unread. */
static inline uint32_t zs_port_read_lanes(const struct zs_port_message *message)
{
    return message->elements == 1 ? ~(uint32_t)message->unread : UINT32_MAX;
}

/* The bytes of registers that a load of a block of two dimensions writes, by its descriptor and
 * payload; 0: it is not allowed. */
uint32_t zs_port_block2d_load_B(uint32_t desc, uint32_t grf_B, const uint8_t *src0);

/* The range that holds gpu_va, and as many of those joined to it as [gpu_va, gpu_va + size) needs.
 * false: they do not hold all of it; *ret is what there is, its end 0 when nothing is. */
bool zs_port_map_reach(const struct zs_port_map *map, uint64_t gpu_va, uint64_t size_B,
                       struct zs_port_range *ret);
/* The range that holds [gpu_va, gpu_va + size), or NULL. For the dispatcher and for faults. */
const struct zs_port_range *zs_port_map_find(const struct zs_port_map *map, uint64_t gpu_va,
                                             uint64_t size_B);
/* The last one that starts at the address or before, and the first one that starts behind it. */
const struct zs_port_range *zs_port_map_floor(const struct zs_port_map *map, uint64_t gpu_va);
const struct zs_port_range *zs_port_map_above(const struct zs_port_map *map, uint64_t gpu_va);
/*
 * Another map of the same ranges: changes of either do not show in the other. Changes give false
 * when there is no memory: the map is empty then. Without other references to its nodes changing
 * needs no memory, but for the node that insert() makes.
 */
struct zs_port_map zs_port_map_ref(const struct zs_port_map *map);
void zs_port_map_drop(struct zs_port_map *map);
bool zs_port_map_insert(struct zs_port_map *map, const struct zs_port_range *range);
bool zs_port_map_remove(struct zs_port_map *map, uint64_t start);
/* With a node of the caller's. */
void zs_port_node_init(struct zs_port_node *node, const struct zs_port_range *range, bool embedded);
bool zs_port_map_put(struct zs_port_map *map, struct zs_port_node *fresh);

#endif
