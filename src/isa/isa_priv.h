/* SPDX-License-Identifier: MIT */
/*
 * Shared by the files of src/isa only.
 *
 * How a kernel is decoded. Sizes of instructions are read from the compaction bit, so where each
 * one starts is known without libiga64. Everything else that libiga64 tells about an instruction
 * depends on its own bytes alone, branches' label names excepted; so each distinct instruction is
 * decoded once and kept in a cache by its bytes (struct zs_isa_entry), and a kernel is an array of
 * pointers to entries. Instructions that are not in the cache yet are put behind each other into
 * small batches which libiga64 decodes as if they were a kernel. This bounds libiga64's memory
 * (about 600 bytes an instruction) whatever the size of the code.
 *
 * A branch's text holds absolute offsets: it is made per occurrence (struct zs_isa_branch).
 */
#ifndef ZS_ISA_PRIV_H
#define ZS_ISA_PRIV_H

#include "base/arena.h"
#include "isa/isa.h"

enum { ZS_ISA_BATCH_MAX = 512 }; /* instructions that libiga64 is given at once */

/* Fields of the raw encoding that are the same for all platforms. */
enum { ZS_ISA_COMPACTED_BYTE = 3, ZS_ISA_COMPACTED_BIT = 0x20 };
static inline uint32_t zs_isa_raw_size_B(const uint8_t *inst)
{
    return inst[ZS_ISA_COMPACTED_BYTE] & ZS_ISA_COMPACTED_BIT ? 8 : 16;
}
/* Opcodes 0x20..0x2f branch, 0x31..0x34 send, on every platform that we know. */
static inline bool zs_isa_raw_is_branch(const uint8_t *inst)
{
    return (inst[0] & 0x70) == 0x20;
}
static inline bool zs_isa_raw_is_send(const uint8_t *inst)
{
    uint32_t op = inst[0] & 0x7f;
    return op >= 0x31 && op <= 0x34;
}

enum zs_isa_entry_flags {
    ZS_ENTRY_BRANCH = 1 << 0,
    ZS_ENTRY_SEND = 1 << 1,
    ZS_ENTRY_PRIVATE = 1 << 2, /* of one kernel, not in the cache */
};

enum zs_isa_text_flags {
    ZS_TEXT_ILLEGAL = 1 << 0,
    ZS_TEXT_EOT = 1 << 1,
};

/* What INSTS adds. Offsets inside are relative: targets to the instruction's start. */
struct zs_isa_template {
    struct zs_isa_inst inst;
    struct zs_isa_message message; /* when inst.message is 0 */
    int32_t jip_rel_B, uip_rel_B;
    bool has_jip, has_uip;
};

struct zs_isa_entry {
    struct zs_isa_entry *next; /* in its hash chain */
    uint8_t bytes[16];         /* zero-padded */
    uint8_t size_B;
    uint8_t flags;      /* enum zs_isa_entry_flags; never changes */
    uint8_t text_flags; /* enum zs_isa_text_flags; set with line */
    uint16_t lead_B, text_size_B, line_size_B;
    uint64_t batch; /* which batch wants it: each batch takes it once */
    const char *line;
    const struct zs_isa_template *template;
};

struct zs_isa_branch {
    uint32_t inst;
    uint32_t jip_B, uip_B; /* ZS_ISA_NO_INDEX where there is none */
    uint16_t lead_B, text_size_B, line_size_B;
    bool illegal;
    const char *line;
};

struct zs_isa_kernel {
    enum zs_isa_platform platform;
    struct zs_span code;
    uint32_t grf_count, grf_B;
    uint32_t done; /* enum zs_isa_what */
    uint32_t count, illegal_count;
    uint32_t *offsets_B;           /* count + 1 */
    struct zs_isa_entry **entries; /* count */
    struct zs_isa_cache *cache;
    bool owns_cache;
    struct zs_arena arena;          /* text of branches, entries that the cache has no room for */
    struct zs_isa_branch *branches; /* in code order, after control flow was asked for */
    uint32_t branch_count;
    bool has_branches;
    /* INSTS */
    struct zs_isa_inst *insts;
    struct zs_isa_message *messages;
    uint32_t message_count;
    /* BLOCKS */
    struct zs_isa_block *blocks;
    struct zs_isa_edge *edges;
    struct zs_isa_loop *loops;
    uint32_t block_count, edge_count, loop_count;
    uint8_t *label_bits; /* TEXT: bit i: a label line before instruction i; count + 1 bits */
    /* LIVENESS: see live.c */
    uint16_t *live_grf;
    uint16_t *live_out; /* per block: grf_count masks of register parts */
    uint16_t *parked;   /* per block: the same */
    uint32_t live_peak, live_peak_inst;
    bool live_exact;
};

/* platform.c: iga_gen_t of a platform, 0 for none. */
uint32_t zs_isa_iga_gen(enum zs_isa_platform platform);

/* cache.c. The entry for these bytes, a new one when there is none yet; NULL when the cache is full
 * or there is no memory. *ret_take: it lacks some of `want` (TEXT, INSTS) and this batch has not
 * taken it yet. */
struct zs_isa_entry *zs_isa_cache_get(struct zs_isa_cache *cache, const uint8_t *bytes,
                                      uint32_t size_B, uint32_t want, uint64_t batch,
                                      bool *ret_take);
uint64_t zs_isa_cache_new_batch(struct zs_isa_cache *cache);
/* Publish what was decoded; what another thread published first stays. -ENOMEM or 0. */
int zs_isa_cache_put_text(struct zs_isa_cache *cache, struct zs_isa_entry *entry, const char *line,
                          size_t size_B);
int zs_isa_cache_put_template(struct zs_isa_cache *cache, struct zs_isa_entry *entry,
                              const struct zs_isa_template *template);
/* Whether the entry lacks some of `want`. */
bool zs_isa_cache_lacks(struct zs_isa_cache *cache, const struct zs_isa_entry *entry,
                        uint32_t want);
enum zs_isa_platform zs_isa_cache_platform(const struct zs_isa_cache *cache);
/* A blank entry for these bytes. */
void zs_isa_entry_init(struct zs_isa_entry *entry, const uint8_t *bytes, uint32_t size_B);
/* Text and the flags that follow from it; `line` must stay valid. */
void zs_isa_entry_set_text(struct zs_isa_entry *entry, const char *line, size_t size_B);

/* kernel.c: publish into the cache, or into an entry of the kernel's own. 0 or -ENOMEM. */
int zs_isa_put_text(struct zs_isa_kernel *kernel, struct zs_isa_entry *entry, const char *line,
                    size_t size_B);
int zs_isa_put_template(struct zs_isa_kernel *kernel, struct zs_isa_entry *entry,
                        const struct zs_isa_template *template);

/* text.c: text of the batch's entries, one after the other. */
int zs_isa_text_batch(struct zs_isa_kernel *kernel, struct zs_isa_entry *const *entries,
                      uint32_t count, struct zs_diag *diag);
/* text.c: text and targets of all branches of the kernel. */
int zs_isa_text_branches(struct zs_isa_kernel *kernel, struct zs_diag *diag);
/* kernel.c: the branch record of instruction i, or NULL. */
const struct zs_isa_branch *zs_isa_branch_of(const struct zs_isa_kernel *kernel, uint32_t i);

/* text.c: where `iga64 -d` prints labels. */
int zs_isa_make_labels(struct zs_isa_kernel *kernel);

/* insts.c: templates of the batch's entries, and with TEXT in `want` also text that is missing. */
int zs_isa_template_batch(struct zs_isa_kernel *kernel, struct zs_isa_entry *const *entries,
                          uint32_t count, uint32_t want, struct zs_diag *diag);
/* insts.c: the kernel's array from the templates. */
int zs_isa_make_insts(struct zs_isa_kernel *kernel);

/* How the descriptor of a load/store cache message continues: column of lsc.def. */
enum zs_lsc_shape {
    ZS_LSC_VECTOR,
    ZS_LSC_QUAD,
    ZS_LSC_BLOCK2D,
    ZS_LSC_STRIDED,
    ZS_LSC_STATUS,
    ZS_LSC_CCS,
    ZS_LSC_STATE,
    ZS_LSC_FENCE,
};

/* message.c: what a send does. `inst` is filled but for its message. */
void zs_isa_decode_message(enum zs_isa_platform platform, const struct zs_isa_inst *inst,
                           struct zs_isa_message *message);

/* cfg.c, live.c */
int zs_isa_make_blocks(struct zs_isa_kernel *kernel);
int zs_isa_make_liveness(struct zs_isa_kernel *kernel, struct zs_diag *diag);

#endif
