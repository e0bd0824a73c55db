/* SPDX-License-Identifier: MIT */
#include "collect/own_stack.h"

#include "base/compiler.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#if defined(__x86_64__)

enum { STACK_B = 512 << 10, GUARD_B = 4096 }; /* pages that are not used are not there */

/* rdi: work, rsi: its argument, rdx: the end of the stack. Unwinders find back by rbp. */
void zs_own_stack_switch(void (*work)(void *arg), void *arg, void *end);
__asm__(".text\n"
        ".hidden zs_own_stack_switch\n"
        ".globl zs_own_stack_switch\n"
        ".type zs_own_stack_switch, @function\n"
        "zs_own_stack_switch:\n"
        "    .cfi_startproc\n"
        "    endbr64\n"
        "    pushq %rbp\n"
        "    .cfi_def_cfa_offset 16\n"
        "    .cfi_offset %rbp, -16\n"
        "    movq %rsp, %rbp\n"
        "    .cfi_def_cfa_register %rbp\n"
        "    movq %rdx, %rsp\n"
        "    movq %rdi, %rax\n"
        "    movq %rsi, %rdi\n"
        "    call *%rax\n"
        "    leave\n"
        "    .cfi_def_cfa %rsp, 8\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size zs_own_stack_switch, . - zs_own_stack_switch\n"
        ".previous\n");

static _Thread_local uint8_t *own_stack; /* its guard page; NULL: not made yet */
static _Thread_local bool is_without;    /* none can be made */
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void thread_ends(void *stack)
{
    if (own_stack != stack)
        return;
    own_stack = NULL;
    munmap(stack, STACK_B);
}

static void make_key(void)
{
    pthread_key_create(&key, thread_ends);
}

static bool make_stack(void)
{
    int saved_errno = errno;
    if (is_without)
        return false;
    pthread_once(&once, make_key);
    void *stack = mmap(NULL, STACK_B, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    is_without = stack == MAP_FAILED;
    if (!is_without && (mprotect(stack, GUARD_B, PROT_NONE) || pthread_setspecific(key, stack))) {
        munmap(stack, STACK_B);
        is_without = true;
    }
    own_stack = is_without ? NULL : stack;
    errno = saved_errno;
    return own_stack;
}

void zs_own_stack_run(void (*work)(void *arg), void *arg)
{
    uint8_t *here = __builtin_frame_address(0);
    if (ZS_UNLIKELY(!own_stack) && !make_stack())
        work(arg);
    else if (ZS_UNLIKELY((uintptr_t)here - (uintptr_t)own_stack < STACK_B))
        work(arg);
    else
        zs_own_stack_switch(work, arg, own_stack + STACK_B);
}

#else

void zs_own_stack_run(void (*work)(void *arg), void *arg)
{
    work(arg);
}

#endif
