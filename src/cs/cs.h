/* SPDX-License-Identifier: MIT */
/*
 * The command streamer: batches of Intel's GPUs decoded, printed and executed.
 *
 * One table (commands.def) says what commands there are. Executing needs a few things from whoever
 * has memory and EUs (struct zs_cs_ops): this layer knows neither.
 *
 *     struct zs_cs *cs;
 *     zs_cs_create(&ops, ctx, &params, &cs);     // one for each engine of a context
 *     zs_cs_run(cs, batch_va, &diag);            // until its end
 *
 * A command that is not known or not modelled ends the batch with -ENOTSUP and a sentence that
 * names it and its place. Threads: one at a time for each streamer. Addresses are canonical or not:
 * both are taken, ops make them what they want: up to 57 bits count.
 */
#ifndef ZS_CS_CS_H
#define ZS_CS_CS_H

#include "base/buf.h"
#include "base/diag.h"
#include "base/span.h"
#include "base/tile.h"

/* ---- decoding ----------------------------------------------------------------------------------
 */

struct zs_cs_command;
const struct zs_cs_command *zs_cs_find(uint32_t header); /* NULL: there is none */
uint32_t zs_cs_length(const struct zs_cs_command *command, uint32_t header); /* dwords */
/* Where what is printed leads to; more are not told. is_ring: what follows goes on behind it. */
struct zs_cs_starts {
    bool is_ring;
    uint32_t count;
    uint64_t va[64];
};
/* Lines of a batch, one a command, with what it means for those that have it. base_va: where it
 * stood; starts: NULL: nobody asks. Ends at its end, or at what is no command. 0, or -EINVAL: that
 * was met. */
int zs_cs_print(struct zs_span batch, uint64_t base_va, struct zs_cs_starts *starts,
                struct zs_buf *out, struct zs_diag *diag);
/* All batches of an error state of i915, a coredump of xe or an AUB file (a memory trace). 1: it is
 * none of them; else as above, the first error. */
int zs_cs_print_dump(struct zs_span file, struct zs_buf *out, struct zs_diag *diag);

/* ---- state in memory ---------------------------------------------------------------------------
 */

enum zs_cs_surface_kind { ZS_CS_SURFACE_NULL, ZS_CS_SURFACE_BUFFER, ZS_CS_SURFACE_IMAGE };

/* RENDER_SURFACE_STATE */
struct zs_cs_surface {
    enum zs_cs_surface_kind kind;
    uint64_t gpu_va;
    uint64_t size_B;     /* buffer */
    uint32_t dimensions; /* image: 1 to 3 */
    bool is_array, is_buffer;
    uint32_t format; /* as the hardware numbers them */
    uint32_t width, height, depth;
    uint32_t row_pitch_B, slice_rows; /* rows from a layer to the next, of lines texels */
    uint32_t chroma_rows;             /* of two planes: rows to that of U and V; 0: one plane */
    uint8_t swizzle[4];
    enum zs_tiling tiling; /* ZS_TILE_64 whatever its texels */
};
enum { ZS_CS_SURFACE_STATE_B = 64, ZS_CS_SAMPLER_STATE_B = 16, ZS_CS_FORMAT_RAW = 0x1ff };
/* has_tile4: XeHPG, where tiles have another order. -ENOTSUP with a sentence. */
int zs_cs_surface_decode(const uint8_t state[ZS_CS_SURFACE_STATE_B], bool has_tile4,
                         struct zs_cs_surface *ret, struct zs_diag *diag);

/* ---- executing ---------------------------------------------------------------------------------
 */

/* A walker: kernels to run, with what its command, descriptor and states say. */
struct zs_cs_walk {
    uint64_t kernel_va, instruction_base_va; /* the ip register counts from the base */
    uint32_t simd, threads, last_mask;       /* of a group; of its last thread */
    uint32_t groups[3], start[3];
    uint32_t local[3]; /* 0: the walker does not know */
    uint8_t emit;      /* local ids that threads get from it: bit 0 x, 1 y, 2 z */
    uint8_t order[3];  /* dimensions as local ids count them */
    const uint8_t *inline_data;
    uint32_t inline_B;
    const uint8_t
        *payload; /* cross-thread data, then rows of threads; from XeHPG on what they load */
    uint32_t cross_B, row_B;
    uint32_t slm_B;
    bool has_barrier;
    uint32_t scratch_B; /* of a thread; 0: none */
    bool large_grf;
    uint64_t table_va;            /* binding table; 0: none */
    uint64_t surface_base_va;     /* what its entries count from */
    uint64_t bindless_va;         /* what handles of surfaces count from; 0: there are none */
    uint64_t sampler_va;          /* 0: none */
    uint64_t bindless_sampler_va; /* what handles of samplers count from; 0: there are none */
    uint64_t dynamic_base_va;     /* border colours */
    uint64_t phase;               /* nothing orders walks of the same phase, from 1 on */
};
/* When it began and ended, on the clock of ops->ticks. */
struct zs_cs_ran {
    uint64_t start_ticks, end_ticks;
};

struct zs_cs_ops {
    /* Where the host has these bytes; NULL: nothing is there, or not all. Good until pause(). */
    uint8_t *(*memory)(void *ctx, uint64_t gpu_va, uint64_t size_B, bool is_write);
    uint64_t (*ticks)(void *ctx);
    /* 0, or -errno and a sentence. Pointers of the walk may go while it runs. */
    int (*walk)(void *ctx, const struct zs_cs_walk *walk, struct zs_cs_ran *ret,
                struct zs_diag *diag);
    /* Nothing to do for a while: what memory() gave is let go. false: stop. turn: from 0 on. */
    bool (*pause)(void *ctx, uint32_t turn);
    /* What orders engines, and what is ordered; all NULL: nobody asks. The value of a dword is
     * stored when all before is done, or was read; a copy or a fill touches memory(), then the
     * command is done. */
    void (*synced)(void *ctx, const uint8_t *host, uint32_t value, bool is_store);
    void (*touched)(void *ctx, const char *command, const uint8_t *host, uint64_t size_B,
                    bool is_write);
    void (*copied)(void *ctx);
};
struct zs_cs_params {
    bool is_xe_hpg; /* and later: COMPUTE_WALKER's threads load their payload; tiles of order 4 */
    bool is_xe2;    /* and later: COMPUTE_WALKER is longer, its times have 64 bits */
    uint32_t timestamp_bits;
};

struct zs_cs;
int zs_cs_create(const struct zs_cs_ops *ops, void *ctx, const struct zs_cs_params *params,
                 struct zs_cs **ret_cs);
void zs_cs_destroy(struct zs_cs *cs);
/* 0; -ENOTSUP, -EFAULT (nothing is at an address), -ECANCELED (pause() said so), or walk()'s. */
int zs_cs_run(struct zs_cs *cs, uint64_t batch_va, struct zs_diag *diag);

#endif
