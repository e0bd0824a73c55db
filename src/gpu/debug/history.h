/* SPDX-License-Identifier: MIT */
/*
 * Going back within a launch, and memory that is watched (wire/history.h says what it means).
 *
 * The record of a launch is a list: groups that were taken in, threads that executed a number of
 * instructions, barriers that let a group go on. Memory is kept as it was before the launch first
 * wrote it, in blocks of 64 bytes, found from each message before it is sent. One host thread
 * executes the launch, so the list says all: which thread ran when, in which order atomics came,
 * where a group's scratch memory was.
 */
#ifndef ZS_GPU_DEBUG_HISTORY_H
#define ZS_GPU_DEBUG_HISTORY_H

#include "gpu/debug/debug.h"
#include "wire/history.h"

/* A debugger's request; the answer is written in any case, as far as there is one.
 * -EINVAL: nonsense; -EAGAIN: the thread is not stopped; -EBUSY: other threads of the launch run,
 * or a request is under way (GO, BACK and SEARCH go on behind this call: STATUS has the flag BUSY
 * until they are done); -ENODATA: the history is not whole (`lack`), or does not reach there. */
int zs_gpu_history_request(struct zs_gpu_debug_session *session,
                           const struct zs_history_request *request,
                           struct zs_history_answer *ret_answer);
/* The debugger is about to write memory: of launches whose threads are all stopped that becomes a
 * part of the record, others are worth nothing any more. */
void zs_gpu_history_writes(struct zs_gpu_debug_session *session, uint64_t gpu_va, const void *bytes,
                           size_t size_B);

#endif
