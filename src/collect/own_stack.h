/* SPDX-License-Identifier: MIT */
/*
 * A stack for the collector's work in the application's threads. These may be small
 * (PTHREAD_STACK_MIN is 16 KiB, of which glibc takes a part), and a thread that was large enough
 * without the recorder has to be so with it: work that builds paths, packets or text is done
 * elsewhere. What stays on the thread's stack is the way there, below 2 KiB with that of the layer.
 */
#ifndef ZS_COLLECT_OWN_STACK_H
#define ZS_COLLECT_OWN_STACK_H

/*
 * Calls work(arg) on a stack that this thread has for it, or right here where it is on that stack
 * already, or there is no memory for one, or on machines that are no x86-64. Handlers of signals
 * that come meanwhile run there, too.
 */
void zs_own_stack_run(void (*work)(void *arg), void *arg);

#endif
