/* SPDX-License-Identifier: MIT */
/*
 * The rewriter's parts.
 *
 * open.c keeps what callers want to be inserted. zs_edit_write then goes kernel by kernel:
 *  1. plan.c chooses registers for the probes (struct zs_plan) or refuses the kernel,
 *  2. emit.c makes machine code of each insertion (struct zs_pieces): rows of text per instruction
 *     set, which the assembler reads,
 *  3. place.c puts original instructions and pieces one behind the other, corrects branches and
 *     knows where everything went (struct zs_placed),
 *  4. patch_write.c or zebin_write.c make the container: code, symbols, relocations.
 */
#ifndef ZS_EDIT_PRIV_H
#define ZS_EDIT_PRIV_H

#include "base/buf.h"
#include "base/diag.h"
#include "base/reader.h"

#include <zescope/edit.h>

enum { ZS_EDIT_COUNTERS_MAX = 1 << 20, ZS_EDIT_INSERTIONS_MAX = 1 << 22 };
enum { ZS_GROUP_COUNTERS = 8, ZS_COUNTER_B = 8, ZS_GROUP_B = 64, ZS_UNIT_B = 32 };
enum { ZS_WINDOW_GRFS = 4, ZS_GRFS_MAX = 256, ZS_GRF_CLOCKS = 8 };

/* What a caller wants at a place: a probe, or bytes of `pool`. */
struct zs_insertion {
    uint32_t inst;
    uint8_t where; /* enum zs_edit_where */
    bool is_probe;
    uint8_t guard;  /* else, where code is guarded: the flag register that it asks */
    uint32_t index; /* probe: in probes; else the first byte in pool */
    uint32_t size_B;
};

struct zs_probe_at {
    struct zs_probe probe;
    uint32_t inst;
};

/* Where what windows held is kept meanwhile. Scratch messages need what r0 had as the thread began:
 * it is kept in a register that nobody names; or in acc0, and acc1 keeps the one it is moved to
 * (from XeHP on acc2 and acc3 may stand for these); or in a0.7, what matters of it, and a0.5 and
 * a0.6 keep the dwords that it is moved to; or the code itself leaves it in r0, and a0.7 keeps the
 * dword that is another one meanwhile; or the code keeps a copy (header.c). */
enum zs_plan_scratch {
    ZS_SCRATCH_NONE,
    ZS_SCRATCH_BY_GRF,
    ZS_SCRATCH_BY_ACC,
    ZS_SCRATCH_BY_A0,
    ZS_SCRATCH_BY_CODE
};
enum {
    ZS_SCRATCH_MIN_B = 1024,
    ZS_SCRATCH_MAX_B = 2 << 20,      /* that a thread may have; ... */
    ZS_SCRATCH_MAX_XE_B = 256 << 10, /* ... from XeHP on, as Intel's driver limits it */
    ZS_SCRATCH_END_B = 4096 * 32,    /* what scratch messages reach */
};

/* Registers for one probe. */
struct zs_window {
    uint32_t first;  /* of ZS_WINDOW_GRFS */
    bool is_lent;    /* they are the kernel's elsewhere ... */
    bool is_saved;   /* ... and here */
    uint32_t header; /* is_saved: register for what r0 had */
};

/* Where a kernel's probes keep what they need. */
struct zs_plan {
    bool in_registers; /* counters; else each probe adds to memory */
    uint32_t window;   /* ZS_WINDOW_GRFS registers for everybody; ZS_NONE: chosen at each place */
    uint32_t mask;     /* register whose first dword is the dispatch mask */
    uint32_t clocks;   /* first register of the clocks, a dword each; ZS_NONE: none */
    uint32_t clock_slots; /* or in scratch memory behind what is saved, a register each: how many */
    uint32_t scratch;     /* enum zs_plan_scratch */
    uint32_t header;      /* register that has what r0 had, for ZS_SCRATCH_BY_GRF and _BY_CODE */
    uint32_t header_at;   /* the instruction that copies it there from r0; ZS_NONE: none does */
    bool is_far; /* behind what scratch messages reach: by stateless ones, or to the surface */
    uint32_t scratch_offset_B,
        scratch_size_B; /* of a thread: where windows are kept, of how much */
    uint32_t group_count;
    uint32_t *groups;   /* counter / ZS_GROUP_COUNTERS, ascending */
    uint8_t *group_grf; /* the register that counts for it */
};

/* Machine code of the insertions, in the order of the table. */
struct zs_pieces {
    struct zs_buf code;
    uint32_t *begin_B;                   /* of each insertion, and the end of the last */
    uint32_t entry_begin_B, entry_end_B; /* what the plan needs as the thread begins ... */
    uint32_t exit_begin_B, exit_end_B;   /* ... and ends */
    uint32_t scratch_B;                  /* what a thread needs of it; 0: as much as before */
};

/* The new code and where things went: arrays of instruction count + 1. */
struct zs_placed {
    struct zs_buf code;
    uint32_t *label_B;  /* where jumps to the instruction go */
    uint32_t *inst_B;   /* where it stands itself */
    uint32_t entry_B;   /* where threads start whose local ids need not be loaded; 0: nowhere */
    uint32_t scratch_B; /* of a thread, where it is more than it was; 0: as it was */
};

struct zs_edit_kernel {
    struct zs_edit *edit;
    const struct zs_kernel *info;
    struct zs_isa_kernel *code; /* NULL until asked for */
    int code_error;
    bool free_known, free_computed;
    bool dead_known;         /* liveness knows all that is read and written */
    bool writes_known;       /* ... all that is written */
    bool is_closed;          /* it runs no code but its own, and nobody else runs it */
    const char *unknown_why; /* of registers: what an instruction does, or NULL */
    uint32_t unknown_at_B;
    uint16_t code_acc, code_address; /* what the code uses: bit n for accumulator n, word n of a0 */
    uint16_t text_acc, text_address; /* ... and callers' text */
    bool text_writes_header;         /* callers' text may write r0 */
    uint32_t acc; /* of the last plan: the first of two accumulators that nobody uses, or ZS_NONE */
    uint64_t free_grf[4];
    /* of the instructions of block live_block; NULL: of none */
    uint64_t (*live_grf)[ZS_ISA_GRF_WORDS];
    uint32_t live_block;
    uint64_t named_grf[4];    /* by the code, or they come with the thread */
    uint64_t shared_grf[4];   /* lanes read what other lanes wrote */
    uint64_t reserved_grf[4]; /* the caller's */
    uint64_t guarded_grf[4];  /* what guarded code touches */
    struct zs_insertion *insertions;
    size_t insertion_count, insertion_capacity;
    struct zs_probe_at *probes;
    size_t probe_count, probe_capacity;
    struct zs_buf pool;
    /* of the last writing */
    char refusal[256];
    struct zs_placed placed;
};

/* A function that is to be another one. */
struct zs_redirect {
    char *from, *to;
    uint32_t symbol; /* of `to` in a zebin */
    bool is_new;     /* which has none yet */
};

struct zs_edit {
    struct zs_module *module;
    const struct zs_image *image;
    enum zs_isa_platform platform;
    struct zs_edit_kernel *kernels;
    uint32_t kernel_count;
    uint32_t counter_count;
    uint32_t trace_B;
    bool traces;
    bool narrow_atomics;
    struct {
        struct zs_redirect *items;
        size_t count, capacity;
    } redirects;
};

/* Registers that a thread of the kernel has. */
static inline uint32_t zs_edit_grf_count(const struct zs_edit_kernel *k)
{
    const struct zs_isa_platform_info *info = zs_isa_platform_info(k->edit->platform);
    uint32_t count = k->info->grf_count ? k->info->grf_count : info->grf_count;
    return ZS_MIN(ZS_MIN(count, info->grf_count_max), (uint32_t)ZS_GRFS_MAX);
}

static inline bool zs_grf_has(const uint64_t bits[4], uint32_t reg)
{
    return reg < ZS_GRFS_MAX && bits[reg / 64] >> reg % 64 & 1;
}
static inline void zs_grf_set(uint64_t bits[4], uint32_t reg)
{
    bits[reg / 64] |= UINT64_C(1) << reg % 64;
}
static inline void zs_grf_clear(uint64_t bits[4], uint32_t reg)
{
    bits[reg / 64] &= ~(UINT64_C(1) << reg % 64);
}
/* The lowest of `count` registers in a row, all in the set; ZS_NONE: there are none. */
uint32_t zs_grf_find(const uint64_t bits[4], uint32_t count);

/* A sentence for zs_edit_refusal; returns -ENOTSUP. The first one is kept. */
int zs_edit_refuse(struct zs_edit_kernel *k, const char *format, ...) ZS_PRINTF(2, 3);

/* plan.c: 0, -ENOTSUP (refused), -ENOMEM. */
int zs_plan_make(struct zs_edit_kernel *k, struct zs_plan *ret);
void zs_plan_fini(struct zs_plan *plan);
/* Registers for a probe at an instruction, or for what asks before an insertion that is none;
 * false: there are none. */
bool zs_plan_window(struct zs_edit_kernel *k, const struct zs_plan *plan,
                    const struct zs_insertion *insertion, struct zs_window *ret);

/* header.c: the register where code that writes registers through a0 keeps what r0 had, and the
 * instruction that copies it there (ZS_NONE: it is r0); false: nobody knows. */
bool zs_header_find(const struct zs_edit_kernel *k, uint32_t *ret_grf, uint32_t *ret_copied_at);
/* It gives a register what that has: csel r0 = r0 == 0 ? r0 : r0. */
bool zs_header_is_kept(const struct zs_isa_inst *inst);

/* emit.c: 0, -ENOTSUP, -ENOMEM, or -EINVAL for text that our own assembler refuses. */
int zs_pieces_make(struct zs_edit_kernel *k, const struct zs_plan *plan, uint64_t gpu_va,
                   struct zs_pieces *ret);
void zs_pieces_fini(struct zs_pieces *pieces);
/* Whether probes can be made for an instruction set. */
bool zs_emit_has(enum zs_isa_platform platform);
/* Whether its stateless messages reach all of a thread's scratch memory. */
bool zs_emit_reaches_near(enum zs_isa_platform platform);
bool zs_emit_reaches_far(enum zs_isa_platform platform);
/* A predicate that looks at neighbouring lanes: how many, if all of the instruction's see the same.
 * 0: it is no such one. */
uint32_t zs_emit_pred_width(const struct zs_isa_inst *inst);

/* jump.c: when a thread that comes to a branch jumps from there. */
enum zs_jump_when {
    ZS_JUMP_UNKNOWN,
    ZS_JUMP_ALWAYS,
    ZS_JUMP_BY_PREDICATE, /* of a jmpi: its lane 0 tells */
    ZS_JUMP_ANY_LEAVES,   /* one of its lanes that are on, at least, leaves */
    ZS_JUMP_NONE_STAYS,   /* all lanes that are on leave */
};
struct zs_jump {
    enum zs_jump_when when;
    bool leave_when_false; /* lanes leave whose predicate is false */
    const char *why;       /* it is unknown */
};
struct zs_jump zs_jump_find(const struct zs_edit_kernel *k, uint32_t i);
/* Whether what is inserted stands behind a question for lanes, which needs a window. */
bool zs_jump_asks_lanes(const struct zs_edit_kernel *k, const struct zs_insertion *insertion);
/* A jmpi that jumps over as many bytes when instruction i, which has a predicate, does not jump.
 * False: it cannot be encoded. */
bool zs_jump_opposite(const struct zs_edit_kernel *k, uint32_t i, uint32_t over_B,
                      uint8_t ret_bytes[16]);

/* guard.c: callers' code that has no effect unless all bits of a flag register are set. Of bytes:
 * what it is then, with the flag that it leaves alone. 0, -ENOTSUP (diag says why), -ENOMEM. */
int zs_guard_make(struct zs_edit_kernel *k, struct zs_span code, uint8_t *ret_flag,
                  struct zs_buf *out, struct zs_diag *diag);

/* ip.c: what an instruction that works with its own address means. */
struct zs_ip_use {
    uint32_t number, source; /* instruction and source that have the number to be corrected */
    uint32_t target;         /* the instruction that is named, where there is no branch */
    uint32_t branch;         /* the branch whose distance is made, or ZS_NONE */
};
bool zs_ip_is_read(const struct zs_isa_inst *inst);
/* A branch by a register, whose distance somebody has made of ip. */
bool zs_ip_is_needed(const struct zs_isa_inst *inst);
bool zs_ip_find(const struct zs_isa_kernel *code, uint32_t i, struct zs_ip_use *ret);
/* The number in the new code: once all is placed. */
int32_t zs_ip_number(const struct zs_edit_kernel *k, uint32_t i, const struct zs_ip_use *use);

/* place.c: fills k->placed. 0, -ENOTSUP, -ENOMEM. */
int zs_place(struct zs_edit_kernel *k, const struct zs_pieces *pieces);
void zs_placed_fini(struct zs_placed *placed);
/* Where an original offset goes: of an instruction's label, or inside an instruction. ZS_NONE. */
uint32_t zs_place_label(const struct zs_edit_kernel *k, uint64_t offset_B);
uint32_t zs_place_inside(const struct zs_edit_kernel *k, uint64_t offset_B);

/* Containers: append what replaces the image. 0, -EINVAL, -EFBIG, -ENOTSUP, -ENOMEM. */
int zs_edit_write_patch(struct zs_edit *edit, struct zs_buf *out, struct zs_diag *diag);
int zs_edit_write_zebin(struct zs_edit *edit, struct zs_buf *out, struct zs_diag *diag);
/* redirect.c. The name of a relocation's symbol in patch tokens: made another, if it is to be. */
void zs_redirect_entry(const struct zs_edit *edit, uint8_t *field);
/* Of a zebin: numbers of symbols first; then new ones, their names, and the number of a symbol. */
void zs_redirects_resolve(struct zs_edit *edit, const struct zs_part *part);
bool zs_redirect_adds_names(const struct zs_edit *edit, const struct zs_part *part,
                            uint32_t section);
void zs_redirect_names(const struct zs_edit *edit, struct zs_buf *out);
void zs_redirect_symbols(const struct zs_edit *edit, const struct zs_part *part,
                         const struct zs_section *symtab, struct zs_buf *out);
uint32_t zs_redirect_symbol(const struct zs_edit *edit, const struct zs_part *part,
                            uint32_t symbol);
void zs_redirects_fini(struct zs_edit *edit);

/* Set a number of a kernel's in the text of .ze_info, where it is there already (ze_info_set.c). 0,
 * -EINVAL: it is not, -ENOMEM. */
int zs_ze_info_set(struct zs_buf *text, const char *kernel, const char *key, uint64_t value);
/* The same for the size of its scratch memory, which may be new. */
int zs_ze_info_set_scratch(struct zs_buf *text, const char *kernel, uint64_t size_B);
/* The kernel has new code. */
static inline bool zs_edit_is_changed(const struct zs_edit_kernel *k)
{
    return k->placed.label_B != NULL;
}

/* An ELF with some of its sections' bytes replaced; everything else stays where it is but for the
 * shift (elf_splice.c). */
struct zs_elf_splice {
    const struct zs_section *section;
    struct zs_span bytes;
};
/* splices in any order. 0, -EINVAL (sections overlap what is replaced), -ENOMEM. */
int zs_elf_splice(struct zs_span elf, const struct zs_section *sections, uint32_t section_count,
                  struct zs_elf_splice *splices, uint32_t count, struct zs_buf *out,
                  struct zs_diag *diag);

#endif
