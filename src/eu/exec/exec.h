/* SPDX-License-Identifier: MIT */
/* What the files that expand sem.def to handlers share. */
#ifndef ZS_EU_EXEC_H
#define ZS_EU_EXEC_H

#include "eu/eu_priv.h"
#include "eu/exec/lanes_math.h"

#define HANDLER(name)                                                                              \
    static const struct zs_eu_op *name(struct zs_eu_thread *t, const struct zs_eu_op *op)

/* ---- floating-point environment (the modes of sem.def) ---- */

#define ENTER_PLAIN(t)
#define LEAVE_PLAIN(t)
#define ENTER_SINGLE(t)
#define LEAVE_SINGLE(t)
#define ENTER_DOUBLE(t)                                                                            \
    if (ZS_UNLIKELY((t)->host_csr != (t)->host_csr_double))                                        \
    _mm_setcsr((t)->host_csr_double)
#define LEAVE_DOUBLE(t)                                                                            \
    if (ZS_UNLIKELY((t)->host_csr != (t)->host_csr_double))                                        \
    _mm_setcsr((t)->host_csr)
#define CSR_FLUSH                (_MM_FLUSH_ZERO_MASK | _MM_DENORMALS_ZERO_MASK_)
#define _MM_DENORMALS_ZERO_MASK_ 0x40u
#define ENTER_KEEP(t)                                                                              \
    if (ZS_UNLIKELY((t)->host_csr & CSR_FLUSH))                                                    \
    _mm_setcsr((t)->host_csr & ~CSR_FLUSH)
#define LEAVE_KEEP(t)                                                                              \
    if (ZS_UNLIKELY((t)->host_csr & CSR_FLUSH))                                                    \
    _mm_setcsr((t)->host_csr)

/* sel: the predicate chooses, so only channel enables mask the store. */
static inline __attribute__((always_inline, unused)) uint32_t
sel_chooser(const struct zs_eu_thread *t, const struct zs_eu_op *op)
{
    return zs_eu_word(t, op->predicate) >> op->pred_shift ^ op->pred_xor;
}

#endif
