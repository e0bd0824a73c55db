/* SPDX-License-Identifier: MIT */
/*
 * Handlers of decoded messages (decode.c), and messages without memory. What others do stands in
 * memory.c, block.c, atomic.c, typed.c, sampler.c and lsc*.c; src/eu/lower/send_lower.c joins them
 * to the interpreter.
 */
#include "dataport/dataport_priv.h"

#include <stdatomic.h>
#include <xmmintrin.h>

zs_port_run_fn *zs_port_message_runner(const struct zs_port_message *message,
                                       const struct zs_port_message_row *row, bool avx2)
{
    zs_port_run_fn *own = NULL;
    bool is_store = row->run == zs_port_run_lsc_store,
         is_write = row->run == zs_port_run_untyped_write;
    if (is_store || row->run == zs_port_run_lsc_load)
        own = avx2 ? zs_port_run_lsc_pick_avx2(message, is_store)
                   : zs_port_run_lsc_pick(message, is_store);
    if (is_write || row->run == zs_port_run_untyped_read)
        own = avx2 ? zs_port_run_untyped_pick_avx2(message, is_write)
                   : zs_port_run_untyped_pick(message, is_write);
    if (row->run == zs_port_run_lsc_atomic)
        own = avx2 ? zs_port_run_local_atomic_avx2(message) : zs_port_run_local_atomic(message);
    if (row->run == zs_port_run_untyped_atomic)
        own = avx2 ? zs_port_run_untyped_local_atomic_avx2(message)
                   : zs_port_run_untyped_local_atomic(message);
    return own ? own : avx2 ? row->run_avx2 : row->run;
}

uint32_t zs_port_message_element_B(const struct zs_port_message *m)
{
    enum { SLOT_B = 4 }; /* bytes and words lie in dwords there */
    bool by_lanes = m->lanes && m->rlen && m->bytes_read && !m->header_grf;

    switch (by_lanes ? m->shape : ZS_PORT_SHAPE_NONE) {
    case ZS_PORT_SHAPE_LSC:
        return m->component_B;
    case ZS_PORT_SHAPE_OFFSETS:
    case ZS_PORT_SHAPE_DWORD_OFFSETS:
    case ZS_PORT_SHAPE_ADDRESSES:
        return m->element_B <= SLOT_B ? m->lanes * (uint32_t)SLOT_B : 0;
    default:
        return 0;
    }
}

/* `run` is another file's: the compiler moves none of its arithmetic across the change of modes. */
bool zs_port_with_own_floats(zs_port_run_fn *run, struct zs_port *port,
                             const struct zs_port_message *message, uint8_t *dst,
                             const uint8_t *src0, const uint8_t *src1, uint32_t mask)
{
    uint32_t threads = _mm_getcsr();
    _mm_setcsr(_MM_MASK_MASK);
    bool done = run(port, message, dst, src0, src1, mask);
    _mm_setcsr(threads);
    return done;
}

/* ---- messages without memory -------------------------------------------------------------------
 */

/*
 * Threads of a group run on one host thread. Groups of one core may run on several: these see each
 * other's writes in order on any x86 host, and nothing that needs more of a fence (stores before
 * later loads, of two groups) may count on a scope below that of the device.
 */
bool zs_port_run_fence(struct zs_port *port, const struct zs_port_message *message, uint8_t *dst,
                       const uint8_t *src0, const uint8_t *src1, uint32_t mask)
{
    if (message->op)
        atomic_thread_fence(memory_order_acq_rel);
    else
        atomic_thread_fence(memory_order_seq_cst);
    /* The response only says that the fence is done; its contents are undefined. */
    return true;
}

static bool signal_named(struct zs_port *port, const struct zs_port_message *message,
                         uint32_t barrier, uint32_t payload)
{
    enum { PRODUCER_CONSUMER, PRODUCER, CONSUMER };
    struct zs_port_named_barriers *named = port->named_barriers;
    uint32_t type = zs_port_bits(payload, 15, 14), producers = zs_port_bits(payload, 23, 16);
    if (!named || barrier >= ZS_PORT_NAMED_BARRIERS || port->thread >= ZS_PORT_NAMED_THREADS ||
        type > CONSUMER || !producers)
        return zs_port_fail(port, message, ZS_PORT_FAULT_BARRIER, -1, barrier, 0, false);
    if (!(named->used >> barrier & 1)) {
        named->at[barrier].arrived = 0;
        named->at[barrier].consumers = 0;
    }
    named->used |= 1u << barrier;
    named->at[barrier].producers = (uint8_t)producers;
    if (type != CONSUMER)
        named->at[barrier].arrived++;
    if (type != PRODUCER)
        named->at[barrier].consumers |= UINT64_C(1) << port->thread;
    if (named->at[barrier].arrived >= producers)
        named->completed |= 1u << barrier;
    return true;
}

/* From XeHPC on a barrier has a number; 0 is the group's. */
bool zs_port_run_barrier(struct zs_port *port, const struct zs_port_message *message, uint8_t *dst,
                         const uint8_t *src0, const uint8_t *src1, uint32_t mask)
{
    uint32_t payload = zs_port_load32(src0 + 8);
    if (message->op && zs_port_bits(payload, 7, 0))
        return signal_named(port, message, zs_port_bits(payload, 7, 0), payload);
    port->barrier_signals++;
    return true;
}
