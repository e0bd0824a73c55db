/* SPDX-License-Identifier: MIT */
/* Run control: interrupting and resuming by threads and groups of threads, steps, breakpoints,
 * faults; registers and memory of threads that are stopped. */
#include "debugging.h"

#include <pthread.h>
#include <stdatomic.h>

enum { GROUPS = 10, GROUP = 16 };

struct fixture {
    struct e2e *e;
    struct app app;
    zet_debug_session_handle_t session;
    struct loaded loaded;
};

static struct fixture begin(struct e2e *e)
{
    struct fixture f = {.e = e, .app = app_start(true)};
    f.session = attach(e->device, &f.app);
    OK(app_do(&f.app, "init", 0));
    f.loaded = load_kernels(f.session, &f.app);
    return f;
}

static void end(struct fixture *f)
{
    OK(zetDebugDetach(f->session));
    assert_int_equal(app_end(&f->app), 0);
}

static void let_spin_end(struct fixture *f)
{
    int go = 1;
    OK(memory(f->session, everyone, f->app.in_va, &go, sizeof(go), true));
}

static void finish(struct fixture *f, uint32_t kind, uint32_t groups)
{
    OK(app_do(&f->app, "wait", 0));
    OK(app_do(&f->app, "check", kind + 10 * groups));
    end(f);
}

static uint32_t read_dword(const struct fixture *f, ze_device_thread_t thread, uint32_t reg,
                           uint32_t dword)
{
    uint32_t grf[16];
    OK(zetDebugReadRegisters(f->session, thread, ZESCOPE_DEBUG_REGSET_GRF, reg, 1, grf));
    return grf[dword];
}

/* All, and then again one by one; groups by every combination of wildcards. */
static void test_interrupt(void **state)
{
    struct fixture f = begin(*state);
    zet_debug_event_t event;
    OK(zetDebugInterrupt(f.session, everyone)); /* nothing runs */
    event = expect_event(f.session, ZET_DEBUG_EVENT_TYPE_THREAD_UNAVAILABLE);
    assert_true(same_thread(event.info.thread.thread, everyone));
    FAILS(zetDebugResume(f.session, everyone), ZE_RESULT_ERROR_NOT_AVAILABLE);

    OK(app_do(&f.app, "spin", GROUPS));
    usleep(200000); /* groups come in one after the other */
    stop_all(f.session);
    struct threads held = stopped_threads(f.session, f.e->device);
    assert_true(held.count >= 1 && held.count <= GROUPS * GROUP / 8);
    uint32_t seen = 0;
    for (uint32_t i = 0; i < held.count; i++) {
        struct cr cr = read_cr(f.session, held.items[i]);
        assert_int_equal(cr.why, ZESCOPE_DEBUG_CR0_1_EXTERNAL_HALT);
        seen |= 1u << read_dword(&f, held.items[i], 0, 1);
        FAILS(zetDebugInterrupt(f.session, held.items[i]), ZE_RESULT_ERROR_NOT_AVAILABLE);
    }
    assert_true(seen < 1u << GROUPS);
    for (uint32_t mask = 0; mask < 16; mask++) {
        ze_device_thread_t t = held.items[held.count - 1];
        t.slice = mask & 1 ? UINT32_MAX : t.slice;
        t.subslice = mask & 2 ? UINT32_MAX : t.subslice;
        t.eu = mask & 4 ? UINT32_MAX : t.eu;
        t.thread = mask & 8 ? UINT32_MAX : t.thread;
        OK(zetDebugResume(f.session, t));
        uint32_t wanted = 0;
        for (uint32_t i = 0; i < held.count; i++) {
            ze_device_thread_t h = held.items[i];
            wanted +=
                !((mask & 1 || h.slice == t.slice) && (mask & 2 || h.subslice == t.subslice) &&
                  (mask & 4 || h.eu == t.eu) && (mask & 8 || h.thread == t.thread));
        }
        struct threads left = stopped_threads(f.session, f.e->device);
        assert_int_equal(left.count, wanted);
        OK(zetDebugInterrupt(f.session, t));
        event = expect_event(f.session, ZET_DEBUG_EVENT_TYPE_THREAD_STOPPED);
        assert_true(same_thread(event.info.thread.thread, t));
        left = stopped_threads(f.session, f.e->device);
        assert_true(left.count >= held.count);
        held = left;
    }
    const ze_device_thread_t none = {0, 0, 99, 0};
    FAILS(zetDebugInterrupt(f.session, none), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    FAILS(zetDebugResume(f.session, none), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    let_spin_end(&f);
    OK(zetDebugResume(f.session, everyone));
    finish(&f, 0, GROUPS);
}

/* A breakpoint in a kernel stops each of its threads, once; stepping from there to the end visits
 * only instructions of the kernel and gives what the kernel computes. */
static void test_breakpoint(void **state)
{
    struct fixture f = begin(*state);
    uint64_t va = kernel_va(f.session, &f.loaded, "steps");
    breakpoint(f.session, va, true);
    OK(app_do(&f.app, "steps", 2));
    uint32_t wanted = 2 * threads_of_group(f.e->device);
    uint32_t stops = 0, steps = 0;
    ze_result_t result;
    app_tell(&f.app, "wait", 0);
    while (!app_answers(&f.app, 0, &result)) {
        zet_debug_event_t event;
        if (zetDebugReadEvent(f.session, SOON_MS, &event) != ZE_RESULT_SUCCESS)
            continue;
        assert_int_equal(event.type, ZET_DEBUG_EVENT_TYPE_THREAD_STOPPED);
        ze_device_thread_t thread = event.info.thread.thread;
        assert_true(read_pc(f.session, thread) == va);
        assert_true(read_cr(f.session, thread).why == (uint32_t)ZESCOPE_DEBUG_CR0_1_BREAKPOINT);
        stops++;
        if (stops == 2) {
            for (;;) {
                step(f.session, thread);
                event = next_event(f.session);
                while (event.type == ZET_DEBUG_EVENT_TYPE_THREAD_STOPPED &&
                       !same_thread(event.info.thread.thread, thread)) {
                    stops++; /* another one, meanwhile */
                    OK(zetDebugResume(f.session, event.info.thread.thread));
                    event = next_event(f.session);
                }
                if (event.type == ZET_DEBUG_EVENT_TYPE_THREAD_UNAVAILABLE)
                    break;
                steps++;
                uint64_t pc = read_pc(f.session, thread);
                assert_true(pc > va && pc < va + (1 << 14));
            }
            assert_true(same_thread(event.info.thread.thread, thread));
        } else {
            OK(zetDebugResume(f.session, thread));
        }
    }
    assert_int_equal(result, ZE_RESULT_SUCCESS);
    assert_int_equal(stops, wanted);
    assert_true(steps > 50);
    breakpoint(f.session, va, false);
    OK(app_do(&f.app, "check", 21));
    OK(app_do(&f.app, "steps", 2));
    finish(&f, 1, 2);
}

/* As Intel's debugger finds the work-items of a thread: general state, r0, the table of local ids.
 */
static void expect_implicit_args(const struct fixture *f, ze_device_thread_t thread)
{
    uint64_t general, table_va;
    uint8_t args[104];
    uint16_t ids[96];
    uint32_t local[3];
    OK(zetDebugReadRegisters(f->session, thread, ZESCOPE_DEBUG_REGSET_SBA, 0, 1, &general));
    uint64_t va = general + (read_dword(f, thread, 0, 0) & ~63u);
    OK(memory(f->session, thread, va, args, sizeof(args), false));
    assert_true(args[0] > 80 && args[1] == 0 && args[2] == 1);
    uint32_t simd = args[3], row_B = simd == 32 ? 192 : 96;
    assert_true(simd == 8 || simd == 16 || simd == 32);
    memcpy(local, args + 4, sizeof(local));
    assert_true(local[0] == GROUP && local[1] == 1 && local[2] == 1);
    memcpy(&table_va, args + 72, 8);
    uint32_t where = read_dword(f, thread, 0, 2);
    assert_int_equal(where >> 24, (GROUP + simd - 1) / simd);
    OK(memory(f->session, thread, table_va + (where & 255) * row_B, ids, row_B, false));
    for (uint32_t lane = 0; lane < simd && lane < GROUP; lane++)
        assert_int_equal(ids[lane], (where & 255) * simd + lane);
}

/* Where debuggers put `break KERNEL`: in what threads do not execute. They stop at their start, and
 * a step from there leads to it. */
static void test_breakpoint_in_prologue(void **state)
{
    struct fixture f = begin(*state);
    uint64_t va, entry_va = kernel_va_of(f.session, &f.loaded, "steps", &va);
    bool has_prologue = va != entry_va;
    breakpoint(f.session, va, true);
    OK(app_do(&f.app, "steps", 2));
    uint32_t stops = 0;
    ze_result_t result;
    app_tell(&f.app, "wait", 0);
    while (!app_answers(&f.app, 0, &result)) {
        zet_debug_event_t event;
        if (zetDebugReadEvent(f.session, SOON_MS, &event) != ZE_RESULT_SUCCESS)
            continue;
        assert_int_equal(event.type, ZET_DEBUG_EVENT_TYPE_THREAD_STOPPED);
        ze_device_thread_t thread = event.info.thread.thread;
        assert_true(read_pc(f.session, thread) == va);
        assert_true(read_cr(f.session, thread).why == (uint32_t)ZESCOPE_DEBUG_CR0_1_BREAKPOINT);
        if (!stops++ && has_prologue) {
            expect_implicit_args(&f, thread);
            step(f.session, thread);
            do {
                event = expect_event(f.session, ZET_DEBUG_EVENT_TYPE_THREAD_STOPPED);
                bool other = !same_thread(event.info.thread.thread, thread);
                stops += other;
                if (other)
                    OK(zetDebugResume(f.session, event.info.thread.thread));
            } while (!same_thread(event.info.thread.thread, thread));
            assert_true(read_pc(f.session, thread) == entry_va);
        }
        OK(zetDebugResume(f.session, thread));
    }
    OK(result);
    assert_int_equal(stops, 2 * threads_of_group(f.e->device));
    breakpoint(f.session, va, false);
    finish(&f, 1, 2);
}

/* Set while the kernel runs, and taken out while threads stand at it. */
static void test_breakpoint_in_flight(void **state)
{
    struct fixture f = begin(*state);
    uint64_t va = kernel_va(f.session, &f.loaded, "spin");
    OK(app_do(&f.app, "spin", 2));
    stop_all(f.session);
    struct threads held = stopped_threads(f.session, f.e->device);
    uint64_t pc = read_pc(f.session, held.items[0]); /* in the loop: it comes again */
    assert_true(pc > va && pc < va + (1 << 14));
    OK(zetDebugResume(f.session, everyone));
    breakpoint(f.session, pc, true);
    for (int i = 0; i < 3; i++) { /* of at least two threads: one of them again */
        zet_debug_event_t event = expect_event(f.session, ZET_DEBUG_EVENT_TYPE_THREAD_STOPPED);
        assert_true(read_pc(f.session, event.info.thread.thread) == pc);
        if (i < 2)
            OK(zetDebugResume(f.session, event.info.thread.thread));
    }
    let_spin_end(&f);
    breakpoint(f.session, pc, false);
    ze_result_t result;
    app_tell(&f.app, "wait", 0);
    do /* some may have come to it meanwhile */
        (void)zetDebugResume(f.session, everyone);
    while (!app_answers(&f.app, SOON_MS, &result));
    OK(result);
    finish(&f, 0, 2);
}

/* An instruction that is replaced does what it says now: "+ 100" becomes "+ 1000". */
static void test_patch(void **state)
{
    struct fixture f = begin(*state);
    uint32_t hundred;
    uint64_t before_va = 0, va = kernel_va(f.session, &f.loaded, "share");
    uint64_t at = find_hundred(f.session, va, &hundred, &before_va);
    uint32_t value = hundred * 10; /* as one dword or two words */
    OK(memory(f.session, everyone, at, &value, sizeof(value), true));
    OK(app_do(&f.app, "share", 2));
    OK(app_do(&f.app, "wait", 0));
    FAILS(app_do(&f.app, "check", 22), ZE_RESULT_ERROR_UNKNOWN);
    int in[32], out[32];
    OK(memory(f.session, everyone, f.app.in_va, in, sizeof(in), false));
    OK(memory(f.session, everyone, f.app.out_va, out, sizeof(out), false));
    for (int i = 0; i < 32; i++)
        assert_int_equal(out[i], (in[i / 16 * 16 + (i + 1) % 16] + 1000) * 2);
    OK(memory(f.session, everyone, at, &hundred, sizeof(hundred), true));
    OK(app_do(&f.app, "share", 2));
    finish(&f, 2, 2);
}

/* A compacted instruction that moves r20 to itself, for the device. */
static void copy_of_r20(uint32_t ret_inst[2])
{
    static const struct {
        const char *device;
        uint32_t inst[2];
    } rows[] = {{"skl", {0x20004b01, 0x00141407}},
                {"icllp", {0x20004b01, 0x00141407}},
                {"tgllp", {0x61140061, 0x001d1400}},
                {"acm-g10", {0x61140061, 0x00101400}},
                {"pvc", {0x28000061, 0x00001414}}};
    const char *device = getenv("ZESCOPE_DEVICES");
    size_t i = 0;
    while (i < COUNT(rows) && strcmp(rows[i].device, device ? device : "skl") != 0)
        i++;
    assert_true(i < COUNT(rows));
    memcpy(ret_inst, rows[i].inst, sizeof(rows[i].inst));
}

/* An ip that is written right behind code is judged by that code, whatever the thread's worker is
 * busy with. */
static void test_ip_in_new_code(void **state)
{
    struct fixture f = begin(*state);
    uint32_t whole[4], halves[4] = {0};
    uint64_t va = kernel_va(f.session, &f.loaded, "spin");
    OK(app_do(&f.app, "spin", 1));
    stop_all(f.session);
    struct threads held = stopped_threads(f.session, f.e->device);
    ze_device_thread_t t = held.items[0];
    uint64_t pc = read_pc(f.session, t), at = va;
    OK(memory(f.session, everyone, at, whole, sizeof(whole), false));
    assert_int_equal(whole[0] >> 29 & 1, 0);
    copy_of_r20(halves);
    copy_of_r20(halves + 2);
    struct cr before = read_cr(f.session, t);
    if (held.count > 1)
        OK(zetDebugResume(f.session, held.items[1]));
    for (int times = 0; times < 5; times++) {
        struct cr cr = read_cr(f.session, t);
        cr.ip = before.ip + (uint32_t)(at + 8 - pc);
        cr.modes |= ZESCOPE_DEBUG_CR0_0_BREAKPOINT_SUPPRESS;
        cr.why = (uint32_t)ZESCOPE_DEBUG_CR0_1_BREAKPOINT;
        OK(memory(f.session, everyone, at, halves, sizeof(halves), true));
        OK(zetDebugWriteRegisters(f.session, t, ZESCOPE_DEBUG_REGSET_CR, 0, 1, &cr));
        OK(zetDebugResume(f.session, t));
        zet_debug_event_t event = expect_event(f.session, ZET_DEBUG_EVENT_TYPE_THREAD_STOPPED);
        assert_true(same_thread(event.info.thread.thread, t));
        cr = read_cr(f.session, t);
        assert_int_equal(cr.why, (uint32_t)ZESCOPE_DEBUG_CR0_1_BREAKPOINT);
        assert_int_equal(cr.ip, before.ip + (uint32_t)(at + 16 - pc));
        OK(memory(f.session, everyone, at, whole, sizeof(whole), true));
    }
    OK(zetDebugWriteRegisters(f.session, t, ZESCOPE_DEBUG_REGSET_CR, 0, 1, &before));
    let_spin_end(&f);
    OK(zetDebugResume(f.session, everyone));
    finish(&f, 0, 1);
}

/* Every thread of groups with a barrier, stepped in turn from first to last instruction; local
 * memory seen behind the barrier. */
static void test_step_barrier(void **state)
{
    struct fixture f = begin(*state);
    uint64_t va = kernel_va(f.session, &f.loaded, "share");
    struct threads alive = {.count = 0};
    uint32_t ended = 0, seen = 0;
    breakpoint(f.session, va, true);
    OK(app_do(&f.app, "share", 1));
    for (uint32_t first = 1; first || ended < alive.count; first = 0) {
        zet_debug_event_t event = next_event(f.session);
        ze_device_thread_t thread = event.info.thread.thread;
        if (event.type == ZET_DEBUG_EVENT_TYPE_THREAD_UNAVAILABLE) {
            ended++;
            continue;
        }
        assert_int_equal(event.type, ZET_DEBUG_EVENT_TYPE_THREAD_STOPPED);
        if (read_pc(f.session, thread) == va)
            alive.items[alive.count++] = thread;
        int tile[16], in[16];
        const zet_debug_memory_space_desc_t slm = {.stype =
                                                       ZET_STRUCTURE_TYPE_DEBUG_MEMORY_SPACE_DESC,
                                                   .type = ZET_DEBUG_MEMORY_SPACE_TYPE_SLM};
        OK(zetDebugReadMemory(f.session, thread, &slm, sizeof(tile), tile));
        OK(memory(f.session, thread, f.app.in_va, in, sizeof(in), false));
        uint32_t right = 0;
        for (uint32_t i = 0; i < 16; i++)
            right += tile[i] == in[i] + 100;
        seen = right > seen ? right : seen;
        step(f.session, thread);
    }
    assert_int_equal(seen, 16);
    assert_int_equal(alive.count, threads_of_group(f.e->device));
    breakpoint(f.session, va, false);
    finish(&f, 2, 1);
}

/* A lane reads where nothing is: the thread stops there. Unmended it ends the launch; mended it
 * goes on. */
static void test_fault(void **state)
{
    for (int mend = 0; mend < 2; mend++) {
        struct fixture f = begin(*state);
        uint64_t va = kernel_va(f.session, &f.loaded, "wild");
        OK(app_do(&f.app, "wild", 0));
        zet_debug_event_t event = expect_event(f.session, ZET_DEBUG_EVENT_TYPE_PAGE_FAULT);
        assert_int_equal(event.info.page_fault.reason, ZET_DEBUG_PAGE_FAULT_REASON_MAPPING_ERROR);
        uint64_t address = event.info.page_fault.address;
        assert_true(address == f.app.in_va + 20 + (UINT64_C(1) << 40));
        event = expect_event(f.session, ZET_DEBUG_EVENT_TYPE_THREAD_STOPPED);
        ze_device_thread_t thread = event.info.thread.thread;
        assert_int_equal(read_cr(f.session, thread).why, ZESCOPE_DEBUG_CR0_1_PAGE_FAULT);
        uint64_t pc = read_pc(f.session, thread);
        assert_true(pc > va && pc < va + (1 << 14));
        /* the lane's address is in some register */
        uint64_t grf[128 * 8] = {0};
        OK(zetDebugReadRegisters(f.session, thread, ZESCOPE_DEBUG_REGSET_GRF, 0, 128, grf));
        uint32_t found = 0;
        for (uint32_t i = 0; i < COUNT(grf); i++) {
            if (grf[i] == address) {
                found++;
                grf[i] = f.app.in_va + 20;
            }
        }
        assert_true(found > 0);
        if (mend)
            OK(zetDebugWriteRegisters(f.session, thread, ZESCOPE_DEBUG_REGSET_GRF, 0, 128, grf));
        OK(zetDebugResume(f.session, thread));
        if (mend) {
            finish(&f, 3, 1);
            continue;
        }
        FAILS(app_do(&f.app, "wait", 0), ZE_RESULT_ERROR_DEVICE_LOST);
        end(&f);
    }
}

/* Faults that are looked for on demand stop the thread where it stands: a barrier that not all of a
 * group reach, a read of what nobody wrote. Unmended they end the launch. */
static void test_faults_on_demand(void **state)
{
    static const struct {
        const char *command, *kernel;
        uint32_t why;
    } rows[] = {{"part", "part", ZESCOPE_DEBUG_CR0_1_SOFTWARE},
                {"unwritten", "wild", ZESCOPE_DEBUG_CR0_1_PAGE_FAULT}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        setenv("ZESCOPE_CHECK", "1", 1); /* of the program */
        struct fixture f = begin(*state);
        unsetenv("ZESCOPE_CHECK");
        uint64_t va = kernel_va(f.session, &f.loaded, rows[i].kernel);
        OK(app_do(&f.app, rows[i].command, 1));
        zet_debug_event_t event = next_event(f.session);
        if (rows[i].why == ZESCOPE_DEBUG_CR0_1_PAGE_FAULT) {
            assert_int_equal(event.type, ZET_DEBUG_EVENT_TYPE_PAGE_FAULT);
            event = next_event(f.session);
        }
        assert_int_equal(event.type, ZET_DEBUG_EVENT_TYPE_THREAD_STOPPED);
        ze_device_thread_t thread = event.info.thread.thread;
        assert_int_equal(read_cr(f.session, thread).why, rows[i].why);
        uint64_t pc = read_pc(f.session, thread);
        assert_true(pc > va && pc < va + (1 << 14));
        OK(zetDebugResume(f.session, thread));
        FAILS(app_do(&f.app, "wait", 0), ZE_RESULT_ERROR_DEVICE_LOST);
        end(&f);
    }
}

/* What is refused, and what it does not harm. */
static void test_access(void **state)
{
    struct fixture f = begin(*state);
    uint64_t va = f.loaded.events[0].info.module.load,
             elf_va = f.loaded.events[0].info.module.moduleBegin;
    uint8_t bytes[4096];
    uint32_t grf[16];
    OK(app_do(&f.app, "spin", 1));
    stop_all(f.session);
    struct threads held = stopped_threads(f.session, f.e->device);
    ze_device_thread_t thread = held.items[0], running = {0, 2, 7, 6}, part = {0, UINT32_MAX, 0, 0};
    const ze_result_t unavailable = ZE_RESULT_ERROR_NOT_AVAILABLE,
                      bad = ZE_RESULT_ERROR_INVALID_ARGUMENT;
    FAILS(zetDebugReadRegisters(f.session, running, 1, 0, 1, grf), unavailable);
    FAILS(zetDebugWriteRegisters(f.session, running, 1, 0, 1, grf), unavailable);
    FAILS(zetDebugReadRegisters(f.session, part, 1, 0, 1, grf), bad);
    FAILS(zetDebugReadRegisters(f.session, thread, 77, 0, 1, grf), bad);
    FAILS(zetDebugReadRegisters(f.session, thread, 1, 128, 1, grf), bad);
    FAILS(zetDebugReadRegisters(f.session, thread, 1, 127, 2, grf), bad);
    FAILS(zetDebugReadRegisters(f.session, thread, 1, 1, UINT32_MAX, grf), bad);
    FAILS(zetDebugWriteRegisters(f.session, thread, ZESCOPE_DEBUG_REGSET_CE, 0, 1, grf), bad);
    FAILS(memory(f.session, running, f.app.in_va, bytes, 4, false), unavailable);
    FAILS(memory(f.session, part, f.app.in_va, bytes, 4, false), bad);
    FAILS(memory(f.session, everyone, 0, bytes, 4, false), unavailable);
    FAILS(memory(f.session, everyone, UINT64_MAX - 1, bytes, 4, false), bad);
    FAILS(memory(f.session, everyone, f.app.in_va + (1 << 20), bytes, 4096, false), unavailable);
    FAILS(memory(f.session, everyone, va + 100000, bytes, 4, false), unavailable);
    FAILS(memory(f.session, everyone, elf_va, bytes, 4, true), unavailable);
    OK(memory(f.session, thread, va, bytes, 16, false));
    OK(memory(f.session, everyone, va, bytes, 0, false));
    zet_debug_memory_space_desc_t slm = {.stype = ZET_STRUCTURE_TYPE_DEBUG_MEMORY_SPACE_DESC,
                                         .type = ZET_DEBUG_MEMORY_SPACE_TYPE_SLM};
    FAILS(zetDebugReadMemory(f.session, thread, &slm, 4, bytes), unavailable); /* it has none */
    FAILS(zetDebugReadMemory(f.session, everyone, &slm, 4, bytes), bad);
    slm.type = 7;
    FAILS(zetDebugReadMemory(f.session, thread, &slm, 4, bytes),
          ZE_RESULT_ERROR_INVALID_ENUMERATION);
    FAILS(zetDebugReadMemory(f.session, thread, NULL, 4, bytes),
          ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    slm.type = ZET_DEBUG_MEMORY_SPACE_TYPE_DEFAULT;
    FAILS(zetDebugReadMemory(f.session, thread, &slm, 4, NULL),
          ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    /* every register set can be read as a whole, and written back where it is writable */
    zet_debug_regset_properties_t sets[40] = {0};
    uint32_t count = COUNT(sets);
    OK(zetDebugGetRegisterSetProperties(f.e->device, &count, sets));
    for (uint32_t i = 0; i < count; i++) {
        uint8_t before[8192], after[8192];
        OK(zetDebugReadRegisters(f.session, thread, sets[i].type, 0, sets[i].count, before));
        if (!(sets[i].generalFlags & ZET_DEBUG_REGSET_FLAG_WRITEABLE))
            continue;
        OK(zetDebugWriteRegisters(f.session, thread, sets[i].type, 0, sets[i].count, before));
        OK(zetDebugReadRegisters(f.session, thread, sets[i].type, 0, sets[i].count, after));
        assert_memory_equal(before, after, sets[i].count * sets[i].byteSize);
    }
    let_spin_end(&f);
    OK(zetDebugResume(f.session, everyone));
    finish(&f, 0, 1);
}

/* Every bit of what can be written is there when it is read, also an ip at which nothing is: the
 * thread stops there, as often as it is resumed, and goes on where it stood when it is let go. */
static void test_written(void **state)
{
    struct fixture f = begin(*state);
    OK(app_do(&f.app, "spin", 1));
    stop_all(f.session);
    struct threads held = stopped_threads(f.session, f.e->device);
    ze_device_thread_t thread = held.items[0];
    zet_debug_regset_properties_t sets[40] = {0};
    uint32_t count = COUNT(sets);
    OK(zetDebugGetRegisterSetProperties(f.e->device, &count, sets));
    for (uint32_t i = 0; i < count; i++) {
        uint8_t before[16384], wild[16384], after[16384];
        size_t size_B = (size_t)sets[i].count * sets[i].byteSize;
        assert_true(size_B <= sizeof(before));
        if (!(sets[i].generalFlags & ZET_DEBUG_REGSET_FLAG_WRITEABLE))
            continue;
        memset(wild, 0xaa, sizeof(wild));
        OK(zetDebugReadRegisters(f.session, thread, sets[i].type, 0, sets[i].count, before));
        OK(zetDebugWriteRegisters(f.session, thread, sets[i].type, 0, sets[i].count, wild));
        OK(zetDebugReadRegisters(f.session, thread, sets[i].type, 0, sets[i].count, after));
        assert_memory_equal(wild, after, size_B);
        OK(zetDebugWriteRegisters(f.session, thread, sets[i].type, 0, sets[i].count, before));
        OK(zetDebugReadRegisters(f.session, thread, sets[i].type, 0, sets[i].count, after));
        assert_memory_equal(before, after, size_B);
    }
    struct cr cr = read_cr(f.session, thread);
    cr.ip += 4;
    OK(zetDebugWriteRegisters(f.session, thread, ZESCOPE_DEBUG_REGSET_CR, 0, 1, &cr));
    for (int i = 0; i < 2; i++) {
        OK(zetDebugResume(f.session, thread));
        zet_debug_event_t event = expect_event(f.session, ZET_DEBUG_EVENT_TYPE_THREAD_STOPPED);
        assert_true(same_thread(event.info.thread.thread, thread));
        struct cr now = read_cr(f.session, thread);
        assert_int_equal(now.ip, cr.ip);
        assert_true(now.why & ZESCOPE_DEBUG_CR0_1_ILLEGAL_OPCODE);
    }
    let_spin_end(&f);
    OK(zetDebugDetach(f.session));
    OK(app_do(&f.app, "wait", 0));
    OK(app_do(&f.app, "check", 10));
    assert_int_equal(app_end(&f.app), 0);
}

typedef ze_result_t(ZE_APICALL *thread_sets_fn)(zet_debug_session_handle_t, ze_device_thread_t,
                                                uint32_t *, zet_debug_regset_properties_t *);

/* Gen9 and Gen11: both sets have them. */
static bool has_macros_among_accumulators(ze_device_handle_t device)
{
    zet_debug_regset_properties_t sets[40] = {0};
    uint32_t count = COUNT(sets), found = 0;
    OK(zetDebugGetRegisterSetProperties(device, &count, sets));
    for (uint32_t i = 0; i < count; i++)
        found += (sets[i].type == ZESCOPE_DEBUG_REGSET_ACC && sets[i].count == 10) ||
                 sets[i].type == ZESCOPE_DEBUG_REGSET_MME;
    return found == 2;
}

static void check_macros(const struct fixture *f, ze_device_thread_t thread)
{
    float before[3][8], after[8], value[8] = {1.5f, -2, 0, 1e30f, -1e-30f, 7, 8, 0.1f};
    for (uint32_t i = 0; i < 3; i++)
        OK(zetDebugReadRegisters(f->session, thread, ZESCOPE_DEBUG_REGSET_ACC, 2 + i, 1,
                                 before[i]));
    OK(zetDebugWriteRegisters(f->session, thread, ZESCOPE_DEBUG_REGSET_ACC, 3, 1, value));
    OK(zetDebugReadRegisters(f->session, thread, ZESCOPE_DEBUG_REGSET_MME, 1, 1, after));
    assert_memory_equal(after, value, sizeof(value));
    value[2] = 42;
    OK(zetDebugWriteRegisters(f->session, thread, ZESCOPE_DEBUG_REGSET_MME, 1, 1, value));
    OK(zetDebugReadRegisters(f->session, thread, ZESCOPE_DEBUG_REGSET_ACC, 3, 1, after));
    assert_memory_equal(after, value, sizeof(value));
    for (uint32_t i = 0; i < 3; i += 2) { /* its neighbours */
        OK(zetDebugReadRegisters(f->session, thread, ZESCOPE_DEBUG_REGSET_ACC, 2 + i, 1, after));
        assert_memory_equal(after, before[i], sizeof(after));
    }
}

/* The registers of a thread by a call that Debian's loader does not have, and the accumulators of
 * macros, which are written as floats. */
static void test_thread_registers(void **state)
{
    struct fixture f = begin(*state);
    void *address = NULL;
    OK(zeDriverGetExtensionFunctionAddress(f.e->driver, "zetDebugGetThreadRegisterSetProperties",
                                           &address));
    thread_sets_fn get = (thread_sets_fn)(uintptr_t)address;
    OK(app_do(&f.app, "spin", 1));
    stop_all(f.session);
    struct threads held = stopped_threads(f.session, f.e->device);
    ze_device_thread_t thread = held.items[0];
    zet_debug_regset_properties_t all[40] = {0}, own[40] = {0};
    uint32_t count = COUNT(all), own_count = 0;
    OK(zetDebugGetRegisterSetProperties(f.e->device, &count, all));
    if (strcmp(getenv("E2E_THROUGH"), "direct") == 0) { /* layers wrap the session's handle */
        OK(get(f.session, thread, &own_count, NULL));
        assert_int_equal(own_count, count);
        OK(get(f.session, thread, &own_count, own));
        for (uint32_t i = 0; i < count; i++)
            assert_int_equal(own[i].type << 8 | own[i].count, all[i].type << 8 | all[i].count);
        FAILS(get(f.session, thread, NULL, own), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
        FAILS(get(NULL, thread, &count, own), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
        thread.thread = UINT32_MAX;
        assert_int_not_equal(get(f.session, thread, &own_count, own), ZE_RESULT_SUCCESS);
        thread = held.items[0];
    }
    if (has_macros_among_accumulators(f.e->device))
        check_macros(&f, thread);
    let_spin_end(&f);
    OK(zetDebugResume(f.session, everyone));
    finish(&f, 0, 1);
}

/* Anything in any register, anything as code: the program lives, and so does the debugger. */
static void test_wild(void **state)
{
    uint32_t seed = 12345;
    for (int round = 0; round < 12; round++) {
        struct fixture f = begin(*state);
        uint64_t va = kernel_va(f.session, &f.loaded, "spin");
        OK(app_do(&f.app, "spin", 2));
        stop_all(f.session);
        struct threads held = stopped_threads(f.session, f.e->device);
        uint8_t noise[8192];
        for (size_t i = 0; i < sizeof(noise); i++)
            noise[i] = (uint8_t)((seed = seed * 1664525 + 1013904223) >> 24);
        for (uint32_t i = 0; i < held.count; i++) {
            static const uint32_t types[] = {ZESCOPE_DEBUG_REGSET_GRF, ZESCOPE_DEBUG_REGSET_ADDR,
                                             ZESCOPE_DEBUG_REGSET_FLAG, ZESCOPE_DEBUG_REGSET_ACC,
                                             ZESCOPE_DEBUG_REGSET_CR};
            static const uint32_t counts[] = {128, 1, 2, 2, 1};
            uint32_t k = (uint32_t)(round + (int)i) % COUNT(types);
            ze_result_t result =
                zetDebugWriteRegisters(f.session, held.items[i], types[k], 0, counts[k], noise);
            assert_true(result == ZE_RESULT_SUCCESS || result == ZE_RESULT_ERROR_INVALID_ARGUMENT);
        }
        if (round % 2)
            OK(memory(f.session, everyone, va + 8u * (uint32_t)round, noise, 64, true));
        let_spin_end(&f);
        zet_debug_event_t event;
        for (int i = 0; i < 20; i++) {
            (void)zetDebugResume(f.session, everyone);
            (void)zetDebugReadEvent(f.session, 5, &event);
        }
        OK(zetDebugDetach(f.session));
        kill(f.app.pid, 0);
        OK(app_do(&f.app, "release", 0)); /* it still does what it is told */
        kill(f.app.pid, SIGKILL);
        assert_int_equal(app_end(&f.app), -SIGKILL);
    }
}

/* ---- many who interrupt ------------------------------------------------------------------------
 */

enum { STORM_MS = 2000, STORM_THREADS = 3, ASKED_MAX = 65536 };

/* Every interrupt that was taken has one event, in the order in which they were. */
struct storm {
    struct fixture *f;
    ze_device_properties_t properties;
    uint64_t va; /* of memory that the kernels do not use */
    pthread_mutex_t lock;
    ze_device_thread_t asked[ASKED_MAX];
    uint32_t asked_count, told_count; /* of these, under the lock */
    uint32_t stopped;
    atomic_bool over;
};

struct storm_thread {
    struct storm *storm;
    pthread_t thread;
    uint32_t seed, index;
};

static uint32_t storm_random(struct storm_thread *t, uint32_t below)
{
    t->seed = t->seed * 1664525 + 1013904223;
    return (t->seed >> 16) % below;
}

/* All, one, or a part by any combination of wildcards. */
static ze_device_thread_t storm_pick(struct storm_thread *t)
{
    const ze_device_properties_t *p = &t->storm->properties;
    uint32_t wild = storm_random(t, 4) ? storm_random(t, 16) : 15;
    return (ze_device_thread_t){
        wild & 1 ? UINT32_MAX : storm_random(t, p->numSlices),
        wild & 2 ? UINT32_MAX : storm_random(t, p->numSubslicesPerSlice),
        wild & 4 ? UINT32_MAX : storm_random(t, p->numEUsPerSubslice),
        wild & 8 ? UINT32_MAX : storm_random(t, p->numThreadsPerEU),
    };
}

static void storm_interrupt(struct storm *s, ze_device_thread_t thread)
{
    pthread_mutex_lock(&s->lock); /* the order of two who ask at once would not be known */
    ze_result_t result = s->asked_count < ASKED_MAX ? zetDebugInterrupt(s->f->session, thread)
                                                    : ZE_RESULT_ERROR_NOT_AVAILABLE;
    if (result == ZE_RESULT_SUCCESS)
        s->asked[s->asked_count++] = thread;
    pthread_mutex_unlock(&s->lock);
    assert_true(result == ZE_RESULT_SUCCESS || result == ZE_RESULT_NOT_READY ||
                result == ZE_RESULT_ERROR_NOT_AVAILABLE);
}

static void storm_touch(struct storm_thread *t)
{
    struct storm *s = t->storm;
    uint64_t va = s->va + 64ull * t->index;
    uint32_t grf[16], word = t->seed, got = ~word;
    ze_device_thread_t thread = storm_pick(t);
    if (thread.slice == UINT32_MAX || thread.subslice == UINT32_MAX || thread.eu == UINT32_MAX ||
        thread.thread == UINT32_MAX)
        thread = (ze_device_thread_t){0, 0, 0, storm_random(t, s->properties.numThreadsPerEU)};
    ze_result_t result = zetDebugReadRegisters(s->f->session, thread, ZESCOPE_DEBUG_REGSET_GRF,
                                               storm_random(t, 128), 1, grf);
    assert_true(result == ZE_RESULT_SUCCESS || result == ZE_RESULT_ERROR_NOT_AVAILABLE);
    OK(memory(s->f->session, everyone, va, &word, sizeof(word), true));
    OK(memory(s->f->session, everyone, va, &got, sizeof(got), false));
    assert_int_equal(got, word);
}

static void *storm_run(void *ctx)
{
    struct storm_thread *t = ctx;
    struct storm *s = t->storm;
    while (!atomic_load(&s->over)) {
        switch (storm_random(t, 4)) {
        case 0:
            storm_interrupt(s, storm_pick(t));
            break;
        case 1:
            storm_touch(t);
            break;
        default: {
            ze_result_t result =
                zetDebugResume(s->f->session, storm_random(t, 2) ? everyone : storm_pick(t));
            assert_true(result == ZE_RESULT_SUCCESS || result == ZE_RESULT_ERROR_NOT_AVAILABLE);
        }
        }
    }
    return NULL;
}

/* false: none within the time. */
static bool storm_event(struct storm *s, uint64_t timeout_ms)
{
    zet_debug_event_t event;
    ze_result_t result = zetDebugReadEvent(s->f->session, timeout_ms, &event);
    if (result == ZE_RESULT_NOT_READY)
        return false;
    OK(result);
    assert_true(event.type == ZET_DEBUG_EVENT_TYPE_THREAD_STOPPED ||
                event.type == ZET_DEBUG_EVENT_TYPE_THREAD_UNAVAILABLE);
    pthread_mutex_lock(&s->lock);
    bool asked = s->told_count < s->asked_count &&
                 same_thread(event.info.thread.thread, s->asked[s->told_count]);
    s->told_count++;
    s->stopped += event.type == ZET_DEBUG_EVENT_TYPE_THREAD_STOPPED;
    pthread_mutex_unlock(&s->lock);
    assert_true(asked);
    return true;
}

/* Threads that interrupt, resume, read and write at once, while two of the program launch. */
static void test_storm(void **state)
{
    struct fixture f = begin(*state);
    static struct storm s;
    struct storm_thread threads[STORM_THREADS];
    ze_result_t result;
    s = (struct storm){.f = &f, .properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES}};
    s.va = f.app.out_va;
    pthread_mutex_init(&s.lock, NULL);
    OK(zeDeviceGetProperties(f.e->device, &s.properties));
    bool short_one = getenv("ZESCOPE_DEVICES") || strcmp(getenv("E2E_THROUGH"), "direct") != 0;
    uint32_t ms = short_one ? STORM_MS / 4 : STORM_MS;
    app_tell(&f.app, "storm", ms);
    for (uint32_t i = 0; i < STORM_THREADS; i++) {
        threads[i] = (struct storm_thread){.storm = &s, .seed = 77 * (i + 1), .index = i};
        assert_int_equal(pthread_create(&threads[i].thread, NULL, storm_run, &threads[i]), 0);
    }
    for (;;) {
        storm_event(&s, SOON_MS); /* what it launched may wait until it is resumed */
        if (!app_answers(&f.app, 0, &result))
            continue;
        if (result || s.stopped)
            break;
        app_tell(&f.app, "storm", ms); /* nothing ran when it was interrupted: a busy machine */
    }
    atomic_store(&s.over, true);
    for (uint32_t i = 0; i < STORM_THREADS; i++)
        assert_int_equal(pthread_join(threads[i].thread, NULL), 0);
    OK(result);
    while (s.told_count < s.asked_count)
        assert_true(storm_event(&s, PATIENCE_MS));
    expect_nothing(f.session);
    assert_true(s.stopped > 0);
    pthread_mutex_destroy(&s.lock);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_interrupt),
        cmocka_unit_test(test_breakpoint),
        cmocka_unit_test(test_breakpoint_in_prologue),
        cmocka_unit_test(test_breakpoint_in_flight),
        cmocka_unit_test(test_patch),
        cmocka_unit_test(test_ip_in_new_code),
        cmocka_unit_test(test_step_barrier),
        cmocka_unit_test(test_fault),
        cmocka_unit_test(test_faults_on_demand),
        cmocka_unit_test(test_access),
        cmocka_unit_test(test_written),
        cmocka_unit_test(test_thread_registers),
        cmocka_unit_test(test_wild),
        cmocka_unit_test(test_storm),
    };
    signal(SIGPIPE, SIG_IGN);
    if (getenv("CMOCKA_FILTER"))
        cmocka_set_test_filter(getenv("CMOCKA_FILTER"));
    return cmocka_run_group_tests(tests, e2e_setup, e2e_teardown);
}
