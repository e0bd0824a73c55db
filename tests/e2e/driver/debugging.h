/* SPDX-License-Identifier: MIT */
/* A debugger's half of the tests of program debugging: programs that are told what to do, events.
 */
#ifndef ZS_TESTS_E2E_DEBUGGING_H
#define ZS_TESTS_E2E_DEBUGGING_H

#include "e2e.h"

#include <zescope/debug_ext.h>

#include <elf.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE_MS = 300000, SOON_MS = 60 };

static const ze_device_thread_t everyone = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};

/* ---- the program, see debugged.c ---------------------------------------------------------------
 */

struct app {
    pid_t pid;
    int to, from;
    char line[256];
    size_t length;
    uint64_t in_va, out_va; /* of its buffers, as it said */
};

static inline struct app app_start(bool enabled)
{
    struct app app = {0};
    int to[2], from[2];
    assert_int_equal(pipe(to), 0);
    assert_int_equal(pipe(from), 0);
    app.pid = fork();
    assert_true(app.pid >= 0);
    if (app.pid == 0) {
        dup2(to[0], 0);
        dup2(from[1], 1);
        for (int fd = 3; fd < 64; fd++)
            close(fd);
        setenv("ZET_ENABLE_PROGRAM_DEBUGGING", enabled ? "1" : "0", 1);
        execl(getenv("E2E_DEBUGGED"), "debugged", (char *)NULL);
        _exit(127);
    }
    close(to[0]);
    close(from[1]);
    app.to = to[1];
    app.from = from[0];
    char comm[64] = "", path[64]; /* until it is that program */
    snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)app.pid);
    for (int i = 0; i < PATIENCE_MS && strcmp(comm, "debugged") != 0; i++) {
        FILE *f = fopen(path, "r");
        size_t got = f ? fread(comm, 1, sizeof(comm) - 1, f) : 0;
        comm[got] = '\0';
        if (f)
            fclose(f);
        usleep(1000);
    }
    return app;
}

static inline void app_tell(struct app *app, const char *command, uint32_t number)
{
    char text[64];
    int length = snprintf(text, sizeof(text), "%s %u\n", command, number);
    assert_int_equal(write(app->to, text, (size_t)length), length);
}

/* The result of its oldest command; false: none within the time. */
static inline bool app_answers(struct app *app, int timeout_ms, ze_result_t *ret_result)
{
    struct pollfd fd = {.fd = app->from, .events = POLLIN};
    for (;;) {
        char *end = memchr(app->line, '\n', app->length);
        unsigned result;
        unsigned long long in, out;
        if (end) {
            *end = '\0';
            assert_int_equal(sscanf(app->line, "%*s %x %llx %llx", &result, &in, &out), 3);
            size_t used = (size_t)(end + 1 - app->line);
            memmove(app->line, end + 1, app->length - used);
            app->length -= used;
            app->in_va = in;
            app->out_va = out;
            *ret_result = (ze_result_t)result;
            return true;
        }
        if (poll(&fd, 1, timeout_ms) <= 0)
            return false;
        ssize_t got = read(app->from, app->line + app->length, sizeof(app->line) - app->length);
        if (got <= 0)
            return false;
        app->length += (size_t)got;
    }
}

static inline ze_result_t app_result(struct app *app)
{
    ze_result_t result = ZE_RESULT_ERROR_UNKNOWN;
    assert_true(app_answers(app, PATIENCE_MS, &result));
    return result;
}

static inline ze_result_t app_do(struct app *app, const char *command, uint32_t number)
{
    app_tell(app, command, number);
    return app_result(app);
}

/* Its exit status, or the signal that ended it, negative. */
static inline int app_end(struct app *app)
{
    int status = 0;
    close(app->to);
    assert_int_equal(waitpid(app->pid, &status, 0), app->pid);
    close(app->from);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* ---- events ------------------------------------------------------------------------------------
 */

static inline zet_debug_session_handle_t attach(ze_device_handle_t device, const struct app *app)
{
    const zet_debug_config_t config = {.pid = (uint32_t)app->pid};
    zet_debug_session_handle_t session = NULL;
    OK(zetDebugAttach(device, &config, &session));
    assert_non_null(session);
    return session;
}

static inline zet_debug_event_t next_event(zet_debug_session_handle_t session)
{
    zet_debug_event_t event;
    OK(zetDebugReadEvent(session, PATIENCE_MS, &event));
    return event;
}

static inline zet_debug_event_t expect_event(zet_debug_session_handle_t session,
                                             zet_debug_event_type_t type)
{
    zet_debug_event_t event = next_event(session);
    assert_int_equal(event.type, type);
    return event;
}

static inline void expect_nothing(zet_debug_session_handle_t session)
{
    zet_debug_event_t event;
    FAILS(zetDebugReadEvent(session, SOON_MS, &event), ZE_RESULT_NOT_READY);
    assert_int_equal(event.type, ZET_DEBUG_EVENT_TYPE_INVALID);
}

static inline bool same_thread(ze_device_thread_t a, ze_device_thread_t b)
{
    return a.slice == b.slice && a.subslice == b.subslice && a.eu == b.eu && a.thread == b.thread;
}

/* ---- threads -----------------------------------------------------------------------------------
 */

struct threads {
    ze_device_thread_t items[1024];
    uint32_t count;
};

/* Those that are stopped: their registers can be read. */
static inline struct threads stopped_threads(zet_debug_session_handle_t session,
                                             ze_device_handle_t device)
{
    ze_device_properties_t p = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    struct threads threads = {.count = 0};
    OK(zeDeviceGetProperties(device, &p));
    uint32_t total = p.numSlices * p.numSubslicesPerSlice * p.numEUsPerSubslice * p.numThreadsPerEU;
    for (uint32_t i = 0; i < total; i++) {
        uint32_t eu = i / p.numThreadsPerEU, subslice = eu / p.numEUsPerSubslice, ce;
        ze_device_thread_t thread = {subslice / p.numSubslicesPerSlice,
                                     subslice % p.numSubslicesPerSlice, eu % p.numEUsPerSubslice,
                                     i % p.numThreadsPerEU};
        ze_result_t result =
            zetDebugReadRegisters(session, thread, ZESCOPE_DEBUG_REGSET_CE, 0, 1, &ce);
        if (result == ZE_RESULT_SUCCESS)
            threads.items[threads.count++] = thread;
        else
            assert_int_equal(result, ZE_RESULT_ERROR_NOT_AVAILABLE);
    }
    return threads;
}

struct cr {
    uint32_t modes, why, ip, more;
};

static inline struct cr read_cr(zet_debug_session_handle_t session, ze_device_thread_t thread)
{
    struct cr cr;
    OK(zetDebugReadRegisters(session, thread, ZESCOPE_DEBUG_REGSET_CR, 0, 1, &cr));
    return cr;
}

/* The address of the instruction that it goes on with. */
static inline uint64_t read_pc(zet_debug_session_handle_t session, ze_device_thread_t thread)
{
    uint64_t bases[9];
    OK(zetDebugReadRegisters(session, thread, ZESCOPE_DEBUG_REGSET_SBA, 0, 9, bases));
    return bases[4] + read_cr(session, thread).ip;
}

static inline void step(zet_debug_session_handle_t session, ze_device_thread_t thread)
{
    struct cr cr = read_cr(session, thread);
    cr.modes |= ZESCOPE_DEBUG_CR0_0_BREAKPOINT_SUPPRESS;
    cr.why |= (uint32_t)ZESCOPE_DEBUG_CR0_1_BREAKPOINT;
    OK(zetDebugWriteRegisters(session, thread, ZESCOPE_DEBUG_REGSET_CR, 0, 1, &cr));
    OK(zetDebugResume(session, thread));
}

static inline ze_result_t memory(zet_debug_session_handle_t session, ze_device_thread_t thread,
                                 uint64_t va, void *bytes, size_t size, bool write)
{
    const zet_debug_memory_space_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_DEBUG_MEMORY_SPACE_DESC,
                                                .type = ZET_DEBUG_MEMORY_SPACE_TYPE_DEFAULT,
                                                .address = va};
    return write ? zetDebugWriteMemory(session, thread, &desc, size, bytes)
                 : zetDebugReadMemory(session, thread, &desc, size, bytes);
}

/* Hold all that runs; a launch may not have begun yet. Other events are passed over. */
static inline void stop_all(zet_debug_session_handle_t session)
{
    zet_debug_event_t event = {0};
    while (event.type != ZET_DEBUG_EVENT_TYPE_THREAD_STOPPED ||
           !same_thread(event.info.thread.thread, everyone)) {
        if (event.type == ZET_DEBUG_EVENT_TYPE_INVALID ||
            event.type == ZET_DEBUG_EVENT_TYPE_THREAD_UNAVAILABLE)
            OK(zetDebugInterrupt(session, everyone));
        event = next_event(session);
    }
}

/* ---- modules -----------------------------------------------------------------------------------
 */

enum { KERNEL_COUNT = 5 }; /* of debugged.cl */

/* Where kernels are, by the names in their ELFs: an ELF for each kernel, or one zebin of all. */
struct loaded {
    zet_debug_event_t events[KERNEL_COUNT];
    uint32_t count;
};

/* Entry, and all kernels of debugged.cl, acknowledged. The program is told to make them. */
static inline struct loaded load_kernels_of(zet_debug_session_handle_t session, struct app *app,
                                            uint32_t module)
{
    struct loaded loaded = {.count = 0};
    OK(app_do(app, "context", 0));
    OK(app_do(app, "queue", 0));
    expect_event(session, ZET_DEBUG_EVENT_TYPE_PROCESS_ENTRY);
    app_tell(app, "module", module);
    ze_result_t result;
    while (!app_answers(app, 0, &result)) { /* it waits until all are acknowledged */
        zet_debug_event_t event;
        if (zetDebugReadEvent(session, SOON_MS, &event) == ZE_RESULT_NOT_READY)
            continue;
        assert_int_equal(event.type, ZET_DEBUG_EVENT_TYPE_MODULE_LOAD);
        assert_true(loaded.count < KERNEL_COUNT);
        loaded.events[loaded.count++] = event;
        OK(zetDebugAcknowledgeEvent(session, &event));
    }
    OK(result);
    assert_true(loaded.count == KERNEL_COUNT || loaded.count == 1);
    return loaded;
}

static inline struct loaded load_kernels(zet_debug_session_handle_t session, struct app *app)
{
    return load_kernels_of(session, app, 0);
}

static inline uint8_t *read_elf(zet_debug_session_handle_t session, const zet_debug_event_t *event)
{
    size_t size = (size_t)(event->info.module.moduleEnd - event->info.module.moduleBegin);
    uint8_t *elf = malloc(size);
    OK(memory(session, everyone, event->info.module.moduleBegin, elf, size, false));
    return elf;
}

/* In a zebin that is linked to where its code is. Its kernels pass over the same prologue. */
static inline void find_in_zebin(const uint8_t *elf, size_t size, const char *name,
                                 uint64_t *ret_code_va, uint64_t *ret_entry_va)
{
    static const char skip[] = "offset_to_skip_per_thread_data_load: ";
    const char *skipped = memmem(elf, size, skip, strlen(skip));
    Elf64_Ehdr header;
    Elf64_Shdr strings, section;
    char text[64];
    snprintf(text, sizeof(text), ".text.%s", name);
    memcpy(&header, elf, sizeof(header));
    memcpy(&strings, elf + header.e_shoff + header.e_shstrndx * sizeof(strings), sizeof(strings));
    for (size_t i = 0; i < header.e_shnum; i++) {
        memcpy(&section, elf + header.e_shoff + i * sizeof(section), sizeof(section));
        if (strcmp((const char *)elf + strings.sh_offset + section.sh_name, text) == 0)
            *ret_code_va = section.sh_addr;
    }
    *ret_entry_va = *ret_code_va + (skipped ? strtoul(skipped + strlen(skip), NULL, 10) : 0);
}

/* Where the kernel's threads begin: the ELF's entry, in code that is at 0 or where it is loaded;
 * and where its code does. */
static inline uint64_t kernel_va_of(zet_debug_session_handle_t session, const struct loaded *loaded,
                                    const char *name, uint64_t *ret_code_va)
{
    uint64_t va = 0;
    *ret_code_va = 0;
    for (uint32_t i = 0; i < loaded->count; i++) {
        const zet_debug_event_t *event = &loaded->events[i];
        size_t size = (size_t)(event->info.module.moduleEnd - event->info.module.moduleBegin);
        uint8_t *elf = read_elf(session, event);
        uint64_t entry;
        memcpy(&entry, elf + offsetof(Elf64_Ehdr, e_entry), sizeof(entry));
        if (loaded->count == 1) {
            find_in_zebin(elf, size, name, ret_code_va, &va);
        } else if (memmem(elf, size, name, strlen(name) + 1)) {
            *ret_code_va = event->info.module.load;
            va = entry < event->info.module.load ? event->info.module.load + entry : entry;
        }
        free(elf);
    }
    assert_true(*ret_code_va != 0);
    return va;
}

static inline uint64_t kernel_va(zet_debug_session_handle_t session, const struct loaded *loaded,
                                 const char *name)
{
    uint64_t code_va;
    return kernel_va_of(session, loaded, name, &code_va);
}

/* Hardware threads of a group of 16 work-items, of code that was not optimised. */
static inline uint32_t threads_of_group(ze_device_handle_t device)
{
    ze_device_properties_t p = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    OK(zeDeviceGetProperties(device, &p));
    return p.physicalEUSimdWidth == 16 ? 1 : 2;
}

/* Where the immediate of "+ 100" of the kernel `share` stands: a dword, or two words; what is
 * there, and the instruction that is some before it. */
static inline uint64_t find_hundred(zet_debug_session_handle_t session, uint64_t va,
                                    uint32_t *ret_hundred, uint64_t *ret_before_va)
{
    enum { BEFORE = 6 };
    uint32_t code[2048], count = 0, size = sizeof(code) / sizeof(*code);
    uint64_t last[BEFORE], n = 0;
    while (count < size && memory(session, everyone, va + count * 4ull, &code[count], 8, false) ==
                               ZE_RESULT_SUCCESS)
        count += 2;
    for (uint32_t i = 0; i + 4 <= count;) { /* a whole add with it */
        bool compact = code[i] >> 29 & 1;
        if (!compact && (code[i] & 0x7f) == 0x40 && (code[i + 3] & 0xffff) == 100) {
            *ret_hundred = code[i + 3];
            *ret_before_va = n < BEFORE ? va : last[n % BEFORE];
            return va + (i + 3) * 4ull;
        }
        last[n++ % BEFORE] = va + i * 4ull;
        i += compact ? 2 : 4;
    }
    fail_msg("no such instruction");
    return 0;
}

/* Set or clear the breakpoint bit of an instruction. */
static inline void breakpoint(zet_debug_session_handle_t session, uint64_t va, bool on)
{
    uint32_t word, bit;
    OK(memory(session, everyone, va, &word, sizeof(word), false));
    bit = word >> 29 & 1 ? 1u << 7 : 1u << 30;
    word = on ? word | bit : word & ~bit;
    OK(memory(session, everyone, va, &word, sizeof(word), true));
}

#endif
