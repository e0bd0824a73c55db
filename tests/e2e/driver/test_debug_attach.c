/* SPDX-License-Identifier: MIT */
/* Debuggers and the processes they attach to: who may, events in order, what becomes of the others
 * when one of them dies. */
#include "debugging.h"

#include "base/sanitizer.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>

static void test_properties(void **state)
{
    struct e2e *e = *state;
    zet_device_debug_properties_t p = {.stype = ZET_STRUCTURE_TYPE_DEVICE_DEBUG_PROPERTIES};
    OK(zetDeviceGetDebugProperties(e->device, &p));
    assert_int_equal(p.flags, ZET_DEVICE_DEBUG_PROPERTY_FLAG_ATTACH);
    FAILS(zetDeviceGetDebugProperties(e->device, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);

    zet_debug_regset_properties_t sets[40] = {0};
    uint32_t count = 0, few = 2;
    OK(zetDebugGetRegisterSetProperties(e->device, &count, NULL));
    assert_true(count >= 12 && count < COUNT(sets));
    uint32_t more = COUNT(sets);
    OK(zetDebugGetRegisterSetProperties(e->device, &more, sets));
    assert_int_equal(more, count);
    memset(&sets[2], 0xee, sizeof(sets[2]));
    OK(zetDebugGetRegisterSetProperties(e->device, &few, sets));
    assert_int_equal(few, 2);
    assert_int_equal(sets[2].count, 0xeeeeeeee);
    assert_int_equal(sets[0].type, ZESCOPE_DEBUG_REGSET_GRF);
    assert_int_equal(sets[0].count, 128);
    assert_int_equal(sets[0].bitSize, 256);
    assert_int_equal(sets[0].byteSize, 32);
    assert_int_equal(sets[0].generalFlags,
                     ZET_DEBUG_REGSET_FLAG_READABLE | ZET_DEBUG_REGSET_FLAG_WRITEABLE);
    FAILS(zetDebugGetRegisterSetProperties(e->device, NULL, NULL),
          ZE_RESULT_ERROR_INVALID_NULL_POINTER);
}

static void test_no_session(void **state)
{
    const zet_debug_memory_space_desc_t desc = {.stype =
                                                    ZET_STRUCTURE_TYPE_DEBUG_MEMORY_SPACE_DESC};
    zet_debug_event_t event = {0};
    uint32_t value;
    (void)state;
    zet_debug_session_handle_t none =
        e2e_through("direct") ? GARBAGE(zet_debug_session_handle_t) : NULL;
    for (int i = 0; i < 2; i++, none = NULL) {
        ze_result_t bad = ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
        FAILS(zetDebugDetach(none), bad);
        FAILS(zetDebugReadEvent(none, 0, &event), bad);
        FAILS(zetDebugAcknowledgeEvent(none, &event), bad);
        FAILS(zetDebugInterrupt(none, everyone), bad);
        FAILS(zetDebugResume(none, everyone), bad);
        FAILS(zetDebugReadMemory(none, everyone, &desc, 4, &value), bad);
        FAILS(zetDebugWriteMemory(none, everyone, &desc, 4, &value), bad);
        FAILS(zetDebugReadRegisters(none, everyone, 1, 0, 1, &value), bad);
        FAILS(zetDebugWriteRegisters(none, everyone, 1, 0, 1, &value), bad);
    }
}

/* Who is root has to look for somebody else's process. */
static void refused_to_root(ze_device_handle_t device)
{
    enum { NOBODY = 65534 };
    zet_debug_session_handle_t session = NULL;
    char path[32];
    struct stat st = {0};
    pid_t other = fork();
    if (other == 0) {
        if (setgid(NOBODY) == 0 && setuid(NOBODY) == 0)
            execl("/bin/sleep", "sleep", "60", (char *)NULL);
        _exit(1);
    }
    snprintf(path, sizeof(path), "/proc/%d", (int)other);
    for (int i = 0; i < PATIENCE_MS && st.st_uid != NOBODY; i++) { /* as soon as it is sleep */
        usleep(1000);
        assert_int_equal(stat(path, &st), 0);
    }
    const zet_debug_config_t config = {.pid = (uint32_t)other};
    FAILS(zetDebugAttach(device, &config, &session), ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS);
    assert_null(session);
    kill(other, SIGKILL);
    assert_int_equal(waitpid(other, NULL, 0), other);
}

/* A process that has other devices than the debugger. */
static void refused_device(ze_device_handle_t device)
{
    zet_debug_session_handle_t session = NULL;
    setenv("ZESCOPE_DEVICES", "kbl", 1);
    struct app app = app_start(true);
    unsetenv("ZESCOPE_DEVICES");
    const zet_debug_config_t config = {.pid = (uint32_t)app.pid};
    OK(app_do(&app, "init", 0));
    FAILS(zetDebugAttach(device, &config, &session), ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    assert_null(session);
    assert_int_equal(app_end(&app), 0);
}

static void test_refused(void **state)
{
    struct e2e *e = *state;
    zet_debug_session_handle_t session = NULL, second = NULL;
    zet_debug_config_t config = {.pid = 0};
    FAILS(zetDebugAttach(e->device, &config, &session), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    config.pid = 0x7ffffff0;
    FAILS(zetDebugAttach(e->device, &config, &session), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_null(session);
    if (geteuid() != 0) {
        config.pid = 1; /* root's */
        FAILS(zetDebugAttach(e->device, &config, &session),
              ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS);
    } else {
        refused_to_root(e->device);
    }
    refused_device(e->device);
    FAILS(zetDebugAttach(e->device, NULL, &session), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    FAILS(zetDebugAttach(e->device, &config, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);

    struct app off = app_start(false);
    config.pid = (uint32_t)off.pid;
    FAILS(zetDebugAttach(e->device, &config, &session), ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    OK(app_do(&off, "init", 0));
    FAILS(zetDebugAttach(e->device, &config, &session), ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    assert_int_equal(app_end(&off), 0);

    for (int started = 0; started < 2; started++) {
        struct app app = app_start(true);
        if (started)
            OK(app_do(&app, "init", 0));
        session = attach(e->device, &app);
        config.pid = (uint32_t)app.pid;
        FAILS(zetDebugAttach(e->device, &config, &second), ZE_RESULT_ERROR_NOT_AVAILABLE);
        if (!started)
            OK(app_do(&app, "init", 0));
        FAILS(zetDebugAttach(e->device, &config, &second), ZE_RESULT_ERROR_NOT_AVAILABLE);
        OK(zetDebugDetach(session));
        FAILS(zetDebugDetach(session), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
        session = attach(e->device, &app);
        OK(zetDebugDetach(session));
        assert_int_equal(app_end(&app), 0);
    }
}

/* Attached before zeInit; module events hold the program up until they are acknowledged, in any
 * order; the process's exit. */
static void test_events(void **state)
{
    struct e2e *e = *state;
    struct app app = app_start(true);
    zet_debug_session_handle_t session = attach(e->device, &app);
    zet_debug_event_t loads[KERNEL_COUNT], event;
    ze_result_t result;
    FAILS(zetDebugReadEvent(session, 0, &event), ZE_RESULT_NOT_READY);
    FAILS(zetDebugReadEvent(session, 0, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    OK(zetDebugInterrupt(session, everyone));
    expect_event(session, ZET_DEBUG_EVENT_TYPE_THREAD_UNAVAILABLE);
    FAILS(zetDebugResume(session, everyone), ZE_RESULT_ERROR_NOT_AVAILABLE);
    FAILS(zetDebugReadEvent(session, 0, &event), ZE_RESULT_NOT_READY);
    OK(app_do(&app, "init", 0));
    OK(app_do(&app, "context", 0));
    expect_nothing(session);
    OK(app_do(&app, "queue", 0));
    event = expect_event(session, ZET_DEBUG_EVENT_TYPE_PROCESS_ENTRY);
    assert_int_equal(event.flags, 0);
    OK(app_do(&app, "queue", 1));
    expect_nothing(session);

    app_tell(&app, "module", 0);
    for (int i = 0; i < KERNEL_COUNT; i++) {
        loads[i] = expect_event(session, ZET_DEBUG_EVENT_TYPE_MODULE_LOAD);
        assert_int_equal(loads[i].flags, ZET_DEBUG_EVENT_FLAG_NEED_ACK);
        assert_int_equal(loads[i].info.module.format, ZET_MODULE_DEBUG_INFO_FORMAT_ELF_DWARF);
        for (int k = 0; k < i; k++)
            assert_true(loads[k].info.module.load != loads[i].info.module.load);
    }
    static const int order[KERNEL_COUNT] = {2, 0, 4, 3, 1};
    for (int i = 0; i < KERNEL_COUNT; i++) {
        assert_false(app_answers(&app, SOON_MS, &result));
        OK(zetDebugAcknowledgeEvent(session, &loads[order[i]]));
        FAILS(zetDebugAcknowledgeEvent(session, &loads[order[i]]),
              ZE_RESULT_ERROR_INVALID_ARGUMENT);
    }
    OK(app_result(&app));
    FAILS(zetDebugAcknowledgeEvent(session, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    event.type = (zet_debug_event_type_t)99;
    FAILS(zetDebugAcknowledgeEvent(session, &event), ZE_RESULT_ERROR_INVALID_ARGUMENT);

    OK(app_do(&app, "nomodule", 0));
    for (int i = 0; i < KERNEL_COUNT; i++) {
        event = expect_event(session, ZET_DEBUG_EVENT_TYPE_MODULE_UNLOAD);
        assert_int_equal(event.flags, 0);
        assert_true(event.info.module.load == loads[i].info.module.load &&
                    event.info.module.moduleBegin == loads[i].info.module.moduleBegin &&
                    event.info.module.moduleEnd == loads[i].info.module.moduleEnd);
    }
    OK(app_do(&app, "noqueue", 0));
    expect_nothing(session);
    OK(app_do(&app, "noqueue", 1));
    expect_event(session, ZET_DEBUG_EVENT_TYPE_PROCESS_EXIT);
    OK(app_do(&app, "queue", 0));
    expect_event(session, ZET_DEBUG_EVENT_TYPE_PROCESS_ENTRY);
    assert_int_equal(app_end(&app), 0);
    const ze_device_thread_t one = {0, UINT32_MAX, 0, 0}, none = {99, 0, 0, 0};
    OK(zetDebugInterrupt(session, everyone)); /* until it has been told */
    OK(zetDebugInterrupt(session, one));
    FAILS(zetDebugInterrupt(session, none), ZE_RESULT_ERROR_DEVICE_LOST);
    FAILS(zetDebugResume(session, everyone), ZE_RESULT_ERROR_DEVICE_LOST);
    expect_event(session, ZET_DEBUG_EVENT_TYPE_PROCESS_EXIT);
    event = expect_event(session, ZET_DEBUG_EVENT_TYPE_THREAD_UNAVAILABLE);
    assert_true(same_thread(event.info.thread.thread, everyone));
    FAILS(zetDebugInterrupt(session, everyone), ZE_RESULT_ERROR_DEVICE_LOST);
    event = expect_event(session, ZET_DEBUG_EVENT_TYPE_THREAD_UNAVAILABLE);
    assert_true(same_thread(event.info.thread.thread, one));
    event = expect_event(session, ZET_DEBUG_EVENT_TYPE_DETACHED);
    assert_int_equal(event.info.detached.reason, ZET_DEBUG_DETACH_REASON_HOST_EXIT);
    FAILS(zetDebugReadEvent(session, PATIENCE_MS, &event), ZE_RESULT_ERROR_DEVICE_LOST);
    FAILS(zetDebugReadEvent(session, UINT64_MAX, &event), ZE_RESULT_ERROR_DEVICE_LOST);
    FAILS(zetDebugInterrupt(session, everyone), ZE_RESULT_ERROR_DEVICE_LOST);
    OK(zetDebugDetach(session));
}

/* The head of what the program was given as debug information names code at this address. */
static bool info_has_code_at(zet_debug_session_handle_t session, const struct app *app,
                             uint64_t load_va)
{
    static uint8_t bytes[4096];
    Elf64_Ehdr header;
    bool found = false;
    OK(memory(session, everyone, app->out_va, bytes, sizeof(bytes), false));
    memcpy(&header, bytes, sizeof(header));
    assert_memory_equal(header.e_ident, ELFMAG, SELFMAG);
    assert_int_equal(header.e_shentsize, sizeof(Elf64_Shdr));
    for (size_t i = 0; i < header.e_shnum; i++) {
        Elf64_Shdr section;
        assert_true(header.e_shoff + (i + 1) * sizeof(section) <= sizeof(bytes));
        memcpy(&section, bytes + header.e_shoff + i * sizeof(section), sizeof(section));
        found |= section.sh_flags & SHF_EXECINSTR && section.sh_addr == load_va;
    }
    return found;
}

/* What there was before is told again; nobody waits for it. */
static void test_late(void **state)
{
    struct e2e *e = *state;
    struct app app = app_start(true);
    OK(app_do(&app, "init", 0));
    OK(app_do(&app, "context", 0));
    OK(app_do(&app, "queue", 0));
    for (uint32_t kind = 0; kind < 3; kind++) { /* with -g, without, zebin */
        OK(app_do(&app, "module", kind));
        zet_debug_session_handle_t session = attach(e->device, &app);
        expect_event(session, ZET_DEBUG_EVENT_TYPE_PROCESS_ENTRY);
        OK(app_do(&app, "info", 0));
        for (uint32_t loads = 0; loads < (kind == 2 ? 1 : KERNEL_COUNT); loads++) {
            zet_debug_event_t event = expect_event(session, ZET_DEBUG_EVENT_TYPE_MODULE_LOAD);
            assert_int_equal(event.flags, 0);
            uint8_t *elf = read_elf(session, &event);
            if (kind == 1) /* compiled without -g: an ELF of the code all the same */
                assert_true(info_has_code_at(session, &app, event.info.module.load));
            assert_memory_equal(elf,
                                "\x7f"
                                "ELF",
                                4);
            free(elf);
        }
        expect_nothing(session);
        OK(zetDebugDetach(session));
        OK(app_do(&app, "nomodule", 0));
    }
    assert_int_equal(app_end(&app), 0);
}

/* Detached while a module waits to be acknowledged. */
static void test_detach_unacknowledged(void **state)
{
    struct e2e *e = *state;
    struct app app = app_start(true);
    zet_debug_session_handle_t session = attach(e->device, &app);
    OK(app_do(&app, "init", 0));
    OK(app_do(&app, "context", 0));
    app_tell(&app, "module", 0);
    expect_event(session, ZET_DEBUG_EVENT_TYPE_MODULE_LOAD);
    OK(zetDebugDetach(session));
    OK(app_result(&app));
    assert_int_equal(app_end(&app), 0);
}

static void test_many(void **state)
{
    struct e2e *e = *state;
    struct app app = app_start(true);
    OK(app_do(&app, "init", 0));
    OK(app_do(&app, "context", 0));
    OK(app_do(&app, "queue", 0));
    OK(app_do(&app, "module", 0));
    OK(app_do(&app, "spin", 8));
    for (int i = 0; i < 1000; i++) {
        zet_debug_session_handle_t session = attach(e->device, &app);
        if (i % 16 == 0) {
            if (i % 32 == 0)
                stop_all(session);
            else
                OK(zetDebugInterrupt(session, everyone));
        }
        OK(zetDebugDetach(session));
    }
    zet_debug_session_handle_t session = attach(e->device, &app);
    int go = 1;
    OK(memory(session, everyone, app.in_va, &go, sizeof(go), true));
    OK(zetDebugDetach(session));
    OK(app_do(&app, "wait", 0));
    OK(app_do(&app, "check", 80));
    assert_int_equal(app_end(&app), 0);
}

/* Attached while the compiler builds, sooner and later, and gone again before or after it is done:
 * the module is told once, and is complete. */
static void test_attach_in_build(void **state)
{
    struct e2e *e = *state;
    struct app app = app_start(true);
    uint32_t told = 0;
    OK(app_do(&app, "init", 0));
    OK(app_do(&app, "context", 0));
    for (uint32_t round = 0; round < 6; round++) {
        ze_result_t result = ZE_RESULT_NOT_READY;
        app_tell(&app, "build", (uint32_t)getpid() * 16 + round);
        usleep(round * 60000);
        zet_debug_session_handle_t session = attach(e->device, &app);
        uint32_t loads = 0;
        while (round % 3 != 2 && !(loads && result != ZE_RESULT_NOT_READY)) {
            zet_debug_event_t event;
            if (zetDebugReadEvent(session, SOON_MS, &event) == ZE_RESULT_SUCCESS) {
                assert_int_equal(event.type, ZET_DEBUG_EVENT_TYPE_MODULE_LOAD);
                assert_int_equal(++loads, 1);
                free(read_elf(session, &event));
                OK(zetDebugAcknowledgeEvent(session, &event));
            }
            (void)app_answers(&app, 0, &result);
            assert_true(result == ZE_RESULT_NOT_READY || result == ZE_RESULT_SUCCESS);
        }
        told += loads;
        OK(zetDebugDetach(session));
        if (result == ZE_RESULT_NOT_READY)
            result = app_result(&app);
        OK(result);
        OK(app_do(&app, "nomodule", 0));
    }
    assert_int_equal(told, 4);
    assert_int_equal(app_end(&app), 0);
}

/* The debugger dies while it holds everything. */
static void test_debugger_dies(void **state)
{
    struct e2e *e = *state;
    struct app app = app_start(true);
    int ready[2];
    char byte;
    OK(app_do(&app, "init", 0));
    OK(app_do(&app, "context", 0));
    OK(app_do(&app, "queue", 0));
    OK(app_do(&app, "module", 0));
    OK(app_do(&app, "spin", 8));
    assert_int_equal(pipe(ready), 0);
    pid_t debugger = fork();
    if (debugger == 0) { /* a driver of its own */
        struct e2e own;
        uint32_t one = 1;
        zet_debug_event_t event;
        zet_debug_session_handle_t session;
        const zet_debug_config_t config = {.pid = (uint32_t)app.pid};
        bool ok = zeInit(0) == 0 && zeDriverGet(&one, &own.driver) == 0 &&
                  zeDeviceGet(own.driver, &one, &own.device) == 0 &&
                  zetDebugAttach(own.device, &config, &session) == 0 &&
                  zetDebugInterrupt(session, everyone) == 0;
        while (ok && zetDebugReadEvent(session, PATIENCE_MS, &event) == 0 &&
               event.type != ZET_DEBUG_EVENT_TYPE_THREAD_STOPPED) {
            if (event.type == ZET_DEBUG_EVENT_TYPE_THREAD_UNAVAILABLE)
                ok = zetDebugInterrupt(session, everyone) == 0;
        }
        ok = ok && event.type == ZET_DEBUG_EVENT_TYPE_THREAD_STOPPED;
        byte = ok ? 'y' : 'n';
        (void)!write(ready[1], &byte, 1);
        pause();
        _exit(0);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(byte, 'y');
    kill(debugger, SIGKILL);
    assert_int_equal(waitpid(debugger, NULL, 0), debugger);
    close(ready[0]);
    close(ready[1]);
    OK(app_do(&app, "release", 0));
    OK(app_do(&app, "wait", 0));
    OK(app_do(&app, "check", 80));
    zet_debug_session_handle_t session = attach(e->device, &app);
    OK(zetDebugDetach(session));
    assert_int_equal(app_end(&app), 0);
}

/* The program is killed: running, with its threads held, and where a child of it lives on. */
static void test_program_dies(void **state)
{
    struct e2e *e = *state;
    for (int held = 0; held < 2; held++) {
        struct app app = app_start(true);
        zet_debug_session_handle_t session = attach(e->device, &app);
        zet_debug_event_t event;
        OK(app_do(&app, "init", 0));
        load_kernels(session, &app);
        OK(app_do(&app, "leave", 60));
        OK(app_do(&app, "spin", 8));
        if (held)
            stop_all(session);
        kill(app.pid, SIGKILL);
        expect_event(session, ZET_DEBUG_EVENT_TYPE_PROCESS_EXIT);
        expect_event(session, ZET_DEBUG_EVENT_TYPE_DETACHED);
        FAILS(zetDebugReadEvent(session, 0, &event), ZE_RESULT_ERROR_DEVICE_LOST);
        FAILS(zetDebugResume(session, everyone), ZE_RESULT_ERROR_DEVICE_LOST);
        OK(zetDebugDetach(session));
        assert_int_equal(app_end(&app), -SIGKILL);
    }
    struct app app = app_start(true); /* it never calls zeInit */
    zet_debug_session_handle_t session = attach(e->device, &app);
    assert_int_equal(app_end(&app), 0);
    expect_event(session, ZET_DEBUG_EVENT_TYPE_DETACHED);
    OK(zetDebugDetach(session));
}

/* The next event but the answer to an interrupt, which comes at any time: *answers are expected. */
static zet_debug_event_type_t next_word(zet_debug_session_handle_t session, uint32_t *answers)
{
    zet_debug_event_type_t type;
    while ((type = next_event(session).type) == ZET_DEBUG_EVENT_TYPE_THREAD_UNAVAILABLE)
        assert_int_not_equal((*answers)--, 0);
    return type;
}

/* What a program does last is told, however soon it is gone; also when a request of the debugger's
 * comes too late. */
static void test_last_words(void **state)
{
    struct e2e *e = *state;
    for (uint32_t round = 0; round < 12; round++) {
        struct app app = app_start(true);
        zet_debug_session_handle_t session = attach(e->device, &app);
        uint32_t answers = round % 2;
        OK(app_do(&app, "init", 0));
        load_kernels(session, &app);
        app_tell(&app, "vanish", 7);
        if (answers)
            (void)zetDebugInterrupt(session, everyone);
        for (uint32_t unloads = 0; unloads < KERNEL_COUNT; unloads++)
            assert_int_equal(next_word(session, &answers), ZET_DEBUG_EVENT_TYPE_MODULE_UNLOAD);
        assert_int_equal(next_word(session, &answers), ZET_DEBUG_EVENT_TYPE_PROCESS_EXIT);
        /* the process is there for a little while without its queues, and answers */
        assert_int_equal(next_word(session, &answers), ZET_DEBUG_EVENT_TYPE_DETACHED);
        OK(zetDebugDetach(session));
        assert_int_equal(app_end(&app), 7);
    }
}

/* A program that is let go ends at once: the debugger hears that it was. */
static void test_let_go_and_gone(void **state)
{
    struct e2e *e = *state;
    for (uint32_t round = 0; round < 12; round++) {
        struct app app = app_start(true);
        zet_debug_session_handle_t session = attach(e->device, &app);
        int go = 1;
        OK(app_do(&app, "init", 0));
        load_kernels(session, &app);
        OK(app_do(&app, "spin", 1));
        stop_all(session);
        app_tell(&app, "wait", 0);
        app_tell(&app, "vanish", 3);
        OK(memory(session, everyone, app.in_va, &go, sizeof(go), true));
        OK(zetDebugResume(session, everyone));
        assert_int_equal(app_end(&app), 3);
        OK(zetDebugDetach(session));
    }
}

/* Programs that fork, and that close what they find open. */
static void test_odd_programs(void **state)
{
    struct e2e *e = *state;
    struct app app = app_start(true);
    zet_debug_session_handle_t session = attach(e->device, &app);
    OK(app_do(&app, "init", 0));
    load_kernels(session, &app);
    OK(app_do(&app, "fork", 10));
    OK(app_do(&app, "spin", 2));
    stop_all(session);
    OK(app_do(&app, "close", 64));
    expect_event(session, ZET_DEBUG_EVENT_TYPE_PROCESS_EXIT);
    expect_event(session, ZET_DEBUG_EVENT_TYPE_DETACHED);
    OK(zetDebugDetach(session));
    OK(app_do(&app, "release", 0));
    OK(app_do(&app, "wait", 0));
    OK(app_do(&app, "check", 20));
    assert_int_equal(app_end(&app), 0);
}

/* ThreadSanitizer ends a child of fork that makes threads; AddressSanitizer's allocator may have
 * been locked by another thread as the child began, which then waits for ever. */
#define CHILDREN_HAVE_THREADS (!ZS_HAS_TSAN && !ZS_HAS_ASAN)

#if CHILDREN_HAVE_THREADS
/* The child of a program that is debugged: a process of its own, which its debugger does not have,
 * to be attached to when it has called zeInit. */
static void test_forked(void **state)
{
    struct e2e *e = *state;
    struct app app = app_start(true);
    zet_debug_session_handle_t parent = attach(e->device, &app);
    zet_debug_event_t event;
    OK(app_do(&app, "init", 0));
    OK(app_do(&app, "become", 0));
    struct app child = app;
    child.pid = (pid_t)app.in_va;
    assert_int_not_equal(child.pid, app.pid);
    OK(app_do(&child, "init", 0));
    zet_debug_session_handle_t session = attach(e->device, &child);
    struct loaded loaded = load_kernels(session, &child);
    uint64_t va = kernel_va(session, &loaded, "steps");
    breakpoint(session, va, true);
    OK(app_do(&child, "steps", 1));
    for (uint32_t i = 0; i < threads_of_group(e->device); i++) {
        event = expect_event(session, ZET_DEBUG_EVENT_TYPE_THREAD_STOPPED);
        assert_true(read_pc(session, event.info.thread.thread) == va);
    }
    expect_nothing(parent);
    OK(zetDebugDetach(session));
    OK(app_do(&child, "wait", 0));
    OK(app_do(&child, "check", 11));
    assert_int_equal(app_end(&app), 0); /* both */
    expect_event(parent, ZET_DEBUG_EVENT_TYPE_DETACHED);
    OK(zetDebugDetach(parent));
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_properties),
        cmocka_unit_test(test_no_session),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_late),
        cmocka_unit_test(test_detach_unacknowledged),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_debugger_dies),
        cmocka_unit_test(test_program_dies),
        cmocka_unit_test(test_odd_programs),
        cmocka_unit_test(test_last_words),
        cmocka_unit_test(test_let_go_and_gone),
        cmocka_unit_test(test_attach_in_build),
#if CHILDREN_HAVE_THREADS
        cmocka_unit_test(test_forked),
#endif
    };
    signal(SIGPIPE, SIG_IGN);
    if (getenv("CMOCKA_FILTER"))
        cmocka_set_test_filter(getenv("CMOCKA_FILTER"));
    return cmocka_run_group_tests(tests, e2e_setup, e2e_teardown);
}
