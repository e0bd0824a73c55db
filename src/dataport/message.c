/* SPDX-License-Identifier: MIT */
/*
 * Handlers of decoded messages (decode.c), and messages without memory. What others do stands in
 * vector.c, block.c, atomic.c, typed.c, sampler.c and lsc*.c; src/eu/lower/send_lower.c joins them
 * to the interpreter.
 */
#include "dataport/dataport_priv.h"

#include <stdatomic.h>
#include <xmmintrin.h>

uint32_t zs_port_message_element_B(const struct zs_port_message *m)
{
    bool by_lanes = m->shape == ZS_PORT_SHAPE_LSC || m->shape == ZS_PORT_SHAPE_OFFSETS ||
                    m->shape == ZS_PORT_SHAPE_DWORD_OFFSETS || m->shape == ZS_PORT_SHAPE_ADDRESSES;

    return by_lanes && m->lanes && m->rlen && m->bytes_read && !m->header_grf ? m->component_B : 0;
}

uint64_t zs_port_parts(const struct zs_port_message *m)
{
    bool some = m->lanes && m->channels && m->channels != 15;
    uint32_t count = m->lanes ? m->elements : m->block_B / 4u;
    uint64_t parts = 0;
    if (!m->unread || (m->lanes && m->elements == 1))
        return some ? m->channels : 0;
    for (uint32_t i = 0, channel = 0; i < count; channel++) {
        if (!some || m->channels >> channel & 1)
            parts |= (uint64_t) !(m->unread >> i++ & 1) << channel;
    }
    return parts;
}

uint32_t zs_port_next_parts(uint64_t *parts, uint32_t *ret_first)
{
    uint32_t first = (uint32_t)__builtin_ctzll(*parts);
    uint64_t behind = ~(*parts >> first); /* never 0, but for all of 64 */
    uint32_t count = behind ? (uint32_t)__builtin_ctzll(behind) : 64;
    *parts &= count == 64 ? 0 : ~(((UINT64_C(1) << count) - 1) << first);
    *ret_first = first;
    return count;
}

/* `run` is another file's: the compiler moves none of its arithmetic across the change of modes. */
bool zs_port_with_own_floats(zs_port_run_fn *run, struct zs_port *port,
                             const struct zs_port_message *message, uint8_t *dst,
                             const uint8_t *src0, const uint8_t *src1, uint32_t mask)
{
    uint32_t threads = _mm_getcsr();
    if ((threads & ~(uint32_t)_MM_EXCEPT_MASK) ==
        _MM_MASK_MASK) /* setting it takes longer than asking */
        return run(port, message, dst, src0, src1, mask);
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
