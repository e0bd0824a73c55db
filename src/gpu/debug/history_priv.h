/* SPDX-License-Identifier: MIT */
/* Inside the history of launches (history.h): its record. */
#ifndef ZS_GPU_DEBUG_HISTORY_PRIV_H
#define ZS_GPU_DEBUG_HISTORY_PRIV_H

#include "base/index.h"
#include "gpu/debug/debug_priv.h"

enum { ZS_HISTORY_BLOCK_B = 64 };

enum zs_history_entry_kind {
    ZS_ENTRY_RAN,
    ZS_ENTRY_ADMITTED,
    ZS_ENTRY_RELEASED,
    ZS_ENTRY_WRITTEN,
    ZS_ENTRY_CODE
};
struct zs_history_entry {
    uint32_t group;
    uint32_t value; /* RAN: steps; ADMITTED: the place; WRITTEN: which of the debugger's writes;
                       CODE: which version */
    uint16_t thread;
    uint8_t kind;
    bool ended; /* RAN: with these steps the thread has ended */
};

/* Memory as it was, in blocks. */
struct zs_history_block {
    uint64_t key; /* address / block size */
    uint8_t bytes[ZS_HISTORY_BLOCK_B];
};
struct zs_history_saved {
    struct zs_index index;
    struct zs_history_block *items;
    size_t count, capacity;
};

struct zs_gpu_history {
    atomic_uint lack; /* enum zs_history_lack; written under the debug lock */
    struct {
        struct zs_history_entry *items;
        size_t count, capacity;
    } entries;
    atomic_uint_fast64_t position; /* steps so far; written by the worker alone */
    struct zs_history_saved saved;
    /* what the debugger wrote; under the debug lock, in the record when the worker looks */
    struct {
        struct zs_history_write *items;
        size_t count, capacity;
    } writes;
    size_t writes_taken;
    /* the code, as the debugger wrote it, breakpoints aside; under the debug lock */
    struct {
        struct zs_gpu_code **items;
        size_t count, capacity;
    } codes;
    uint32_t version; /* of them, at the end of the record */
    uint32_t *places; /* by thread of the launch: its place + 1 */
    uint32_t block_max;
    bool replaying;
    /* what is asked for; under the debug lock */
    bool asked, busy;
    atomic_bool cancel;
    struct zs_history_request request;
    uint64_t to;
    uint64_t from_group; /* the thread that is traced */
    uint32_t from_thread;
    /* of the search */
    struct zs_history_hit *hits; /* the last ZS_HISTORY_KEPT_MAX, a ring */
    uint64_t hits_total;
    uint64_t look_from; /* position: what is before it is executed without looking */
    uint8_t *marked;    /* by instruction: it is looked for */
};

/* history.c: the block is kept as it is now, when it is the first time. -E2BIG, -ENOMEM */
int zs_history_save(struct zs_history_saved *saved, uint64_t va, uint64_t size_B);

/* history_watch.c: whether the port shows these bytes, all of them. */
bool zs_history_is_mapped(const struct zs_gpu_run *run, const struct zs_port *port, uint64_t va,
                          uint64_t size_B);
/* A hit of the thread that runs, at `inst`; kind and access are the caller's. */
void zs_history_describe(const struct zs_gpu_worker *w, const struct zs_eu_thread *t, uint32_t inst,
                         struct zs_history_hit *ret);

/* The ranges of a request, with what the thread knows of them. false: nonsense. */
bool zs_history_take_ranges(const struct zs_history_request *request,
                            const struct zs_gpu_debug_thread *thread,
                            struct zs_history_range *ret_ranges);

#endif
