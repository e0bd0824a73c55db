/* SPDX-License-Identifier: MIT */
#include "driver/guard.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ZS_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ZS_SANITIZED
#endif
#endif

/* The call that is guarded on this thread, innermost. */
struct guard {
    sigjmp_buf back;
    int status;
    struct zs_buf *said;
};
static _Thread_local struct guard *current;

/* ---- Crashes -----------------------------------------------------------------------------------
 */

static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};

/* What the process had set before. One guarded call at a time: see guard.h. */
static struct sigaction before[ZS_ARRAY_LEN(crashes)];

/* Of another thread: let the instruction fault again, for whoever is to know. */
static void give_back(int signal_number)
{
    for (size_t i = 0; i < ZS_ARRAY_LEN(crashes); i++) {
        if (crashes[i] == signal_number)
            sigaction(signal_number, &before[i], NULL);
    }
}

static void on_crash(int signal_number)
{
    struct guard *guard = current;
    if (!guard) {
        give_back(signal_number);
        return;
    }
    guard->status = -signal_number;
    siglongjmp(guard->back, 1);
}

/* The compiler recurses: what overflows its stack needs another one for the handler. */
struct watch {
    stack_t stack, old_stack;
    bool active;
};

static void watch_begin(struct watch *w)
{
    const size_t size_B = 64 << 10;
    struct sigaction action = {.sa_handler = on_crash, .sa_flags = SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    *w = (struct watch){.stack = {.ss_sp = malloc(size_B), .ss_size = size_B}};
    if (!w->stack.ss_sp || sigaltstack(&w->stack, &w->old_stack) != 0)
        return;
    w->active = true;
    for (size_t i = 0; i < ZS_ARRAY_LEN(crashes); i++)
        sigaction(crashes[i], &action, &before[i]);
}

static void watch_end(struct watch *w)
{
    for (size_t i = 0; w->active && i < ZS_ARRAY_LEN(crashes); i++)
        sigaction(crashes[i], &before[i], NULL);
    if (w->active)
        sigaltstack(&w->old_stack, NULL);
    free(w->stack.ss_sp);
}

bool zs_guard_run(void (*fn)(void *ctx), void *ctx, struct zs_buf *ret_said, int *ret_status)
{
    struct guard guard = {.status = 0, .said = ret_said};
    struct guard *volatile outer = current;
    struct watch watch;
    volatile bool returned = false;
    watch_begin(&watch);
    if (sigsetjmp(guard.back, 1) == 0) {
        current = &guard;
        fn(ctx);
        returned = true;
    }
    current = outer;
    watch_end(&watch);
    *ret_status = guard.status;
    return returned;
}

/* ---- What the libraries call instead -----------------------------------------------------------
 * Outside of a guarded call these do what was asked for. */

static void leave(int status)
{
    if (current) {
        current->status = status;
        siglongjmp(current->back, 1);
    }
}

static __attribute__((noreturn)) void guarded_exit(int status)
{
    void (*volatile end)(int) = exit;
    leave(status);
    end(status);
    __builtin_unreachable();
}

static __attribute__((noreturn)) void guarded_exit_at_once(int status)
{
    void (*volatile end)(int) = _exit;
    leave(status);
    end(status);
    __builtin_unreachable();
}

static __attribute__((noreturn)) void guarded_abort(void)
{
    void (*volatile end)(void) = abort;
    leave(134);
    end();
    __builtin_unreachable();
}

/* The sanitizers refuse RTLD_DEEPBIND, with which the compiler loads its parts. */
static void *guarded_dlopen(const char *name, int flags)
{
#if defined(ZS_SANITIZED)
    flags &= ~RTLD_DEEPBIND;
#endif
    return dlopen(name, flags);
}

/* ocloc has a handler of its own for crashes, without a stack of its own: it ends the process. */
static int guarded_sigaction(int signal_number, const struct sigaction *action,
                             struct sigaction *old)
{
    return sigaction(signal_number, current ? NULL : action, old);
}

/* ocloc prints the command that failed. */
static int say(const char *format, va_list args)
{
    if (!current)
        return vprintf(format, args);
    if (current->said)
        zs_buf_vprintf(current->said, format, args);
    return 0;
}

static int __attribute__((format(printf, 1, 2))) guarded_printf(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = say(format, args);
    va_end(args);
    return length;
}

static int __attribute__((format(printf, 2, 3)))
guarded_printf_chk(int flag, const char *format, ...)
{
    va_list args;
    (void)flag;
    va_start(args, format);
    int length = say(format, args);
    va_end(args);
    return length;
}

static int guarded_puts(const char *text)
{
    return guarded_printf("%s\n", text);
}

static int guarded_fputc(int c, FILE *f)
{
    return current && f == stdout ? guarded_printf("%c", c) : fputc(c, f);
}

static int guarded_putchar(int c)
{
    return guarded_fputc(c, stdout);
}

static int guarded_fputs(const char *text, FILE *f)
{
    return current && f == stdout ? guarded_printf("%s", text) : fputs(text, f);
}

static size_t guarded_fwrite(const void *data, size_t size_B, size_t count, FILE *f)
{
    if (!current || f != stdout)
        return fwrite(data, size_B, count, f);
    if (current->said)
        zs_buf_append(current->said, data, size_B * count);
    return count;
}

/* ---- Redirection: the slots of the libraries' relocation tables --------------------------------
 */

static const struct {
    const char *name;
    void (*function)(void);
} redirections[] = {
    {"exit", (void (*)(void))guarded_exit},
    {"quick_exit", (void (*)(void))guarded_exit},
    {"_exit", (void (*)(void))guarded_exit_at_once},
    {"_Exit", (void (*)(void))guarded_exit_at_once},
    {"abort", (void (*)(void))guarded_abort},
    {"sigaction", (void (*)(void))(uintptr_t)guarded_sigaction},
    {"dlopen", (void (*)(void))(uintptr_t)guarded_dlopen},
    {"printf", (void (*)(void))(uintptr_t)guarded_printf},
    {"__printf_chk", (void (*)(void))(uintptr_t)guarded_printf_chk},
    {"puts", (void (*)(void))(uintptr_t)guarded_puts},
    {"putchar", (void (*)(void))(uintptr_t)guarded_putchar},
    {"putc", (void (*)(void))(uintptr_t)guarded_fputc},
    {"fputc", (void (*)(void))(uintptr_t)guarded_fputc},
    {"fputs", (void (*)(void))(uintptr_t)guarded_fputs},
    {"fwrite", (void (*)(void))(uintptr_t)guarded_fwrite},
};

#if defined(__x86_64__)

struct tables {
    const Elf64_Sym *symbols;
    const char *strings;
    const Elf64_Rela *relocations[2]; /* of the procedure linkage table, and the others */
    size_t count[2];
};

/* glibc has made the addresses of the dynamic section absolute. */
static struct tables find_tables(const Elf64_Dyn *dynamic)
{
    struct tables t = {0};
    for (; dynamic->d_tag != DT_NULL; dynamic++) {
        uint64_t value = dynamic->d_un.d_val;
        if (dynamic->d_tag == DT_SYMTAB)
            t.symbols = (const Elf64_Sym *)(uintptr_t)value;
        else if (dynamic->d_tag == DT_STRTAB)
            t.strings = (const char *)(uintptr_t)value;
        else if (dynamic->d_tag == DT_JMPREL)
            t.relocations[0] = (const Elf64_Rela *)(uintptr_t)value;
        else if (dynamic->d_tag == DT_RELA)
            t.relocations[1] = (const Elf64_Rela *)(uintptr_t)value;
        else if (dynamic->d_tag == DT_PLTRELSZ)
            t.count[0] = value / sizeof(Elf64_Rela);
        else if (dynamic->d_tag == DT_RELASZ)
            t.count[1] = value / sizeof(Elf64_Rela);
    }
    return t;
}

/* The slot may lie in pages that the dynamic linker made read-only. */
static void write_slot(void **slot, void *value, bool read_only)
{
    uintptr_t page_B = (uintptr_t)sysconf(_SC_PAGESIZE);
    void *page = (void *)((uintptr_t)slot & ~(page_B - 1));
    if (*slot == value)
        return;
    if (read_only && mprotect(page, page_B, PROT_READ | PROT_WRITE) != 0)
        return;
    __atomic_store_n(slot, value, __ATOMIC_RELEASE);
    if (read_only)
        mprotect(page, page_B, PROT_READ);
}

static void redirect(const struct dl_phdr_info *info, const struct tables *t, uintptr_t relro,
                     size_t relro_B)
{
    for (int which = 0; which < 2; which++) {
        for (size_t i = 0; t->relocations[which] && i < t->count[which]; i++) {
            const Elf64_Rela *r = &t->relocations[which][i];
            uint64_t type = ELF64_R_TYPE(r->r_info);
            if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT)
                continue;
            const char *name = t->strings + t->symbols[ELF64_R_SYM(r->r_info)].st_name;
            for (size_t k = 0; k < ZS_ARRAY_LEN(redirections); k++) {
                if (strcmp(name, redirections[k].name) == 0) {
                    uintptr_t slot = info->dlpi_addr + r->r_offset;
                    write_slot((void **)slot, (void *)redirections[k].function,
                               slot - relro < relro_B);
                }
            }
        }
    }
}

struct wanted {
    const char *const *names;
    size_t count;
};

static int visit(struct dl_phdr_info *info, size_t size_B, void *ctx)
{
    const struct wanted *wanted = ctx;
    const char *slash = strrchr(info->dlpi_name, '/');
    const char *file = slash ? slash + 1 : info->dlpi_name;
    bool match = false;
    for (size_t i = 0; i < wanted->count; i++)
        match |= strncmp(file, wanted->names[i], strlen(wanted->names[i])) == 0;
    const Elf64_Dyn *dynamic = NULL;
    uintptr_t relro = 0;
    size_t relro_B = 0;
    for (unsigned i = 0; match && i < info->dlpi_phnum; i++) {
        const Elf64_Phdr *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_DYNAMIC) {
            dynamic = (const Elf64_Dyn *)(info->dlpi_addr + p->p_vaddr);
        } else if (p->p_type == PT_GNU_RELRO) {
            relro = info->dlpi_addr + p->p_vaddr;
            relro_B = p->p_memsz;
        }
    }
    if (dynamic) {
        struct tables tables = find_tables(dynamic);
        if (tables.symbols && tables.strings)
            redirect(info, &tables, relro, relro_B);
    }
    return 0;
}

void zs_guard_libraries(const char *const *names, size_t count)
{
    struct wanted wanted = {names, count};
    dl_iterate_phdr(visit, &wanted);
}

#else
void zs_guard_libraries(const char *const *names, size_t count)
{
    (void)redirections;
}
#endif
