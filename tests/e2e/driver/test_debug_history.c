/* SPDX-License-Identifier: MIT */
/*
 * Going back within launches, and memory that is watched, held against a log of the whole run: all
 * registers of all threads, local memory and the result at every step of launches with several
 * groups, barriers, divergence and atomics.
 */
#include "debugging.h"

#include "wire/history.h"

enum { GROUP = 16, GROUPS = 3, STEPS_MAX = 4096, TILE_B = 256, GRF_B = 128 * 64 };

struct fixture {
    struct e2e *e;
    struct app app;
    zet_debug_session_handle_t session;
    struct loaded loaded;
    struct zs_history_answer answer;
};

/* ---- requests ----------------------------------------------------------------------------------
 */

static struct zs_history_request request_of(enum zs_history_op op, const ze_device_thread_t *t)
{
    struct zs_history_request request = {
        .magic = ZS_HISTORY_MAGIC, .version = ZS_HISTORY_VERSION, .op = op};
    request.thread = t ? (struct zs_history_thread){t->slice, t->subslice, t->eu, t->thread}
                       : (struct zs_history_thread){UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};
    return request;
}

static int ask(struct fixture *f, const struct zs_history_request *request)
{
    struct zs_history_request copy = *request;
    OK(zetDebugWriteRegisters(f->session, everyone, ZS_HISTORY_SET, 0, sizeof(copy) / 8, &copy));
    OK(zetDebugReadRegisters(f->session, everyone, ZS_HISTORY_SET, 0, sizeof(f->answer) / 8,
                             &f->answer));
    assert_int_equal(f->answer.magic, ZS_HISTORY_MAGIC);
    assert_int_equal(f->answer.version, ZS_HISTORY_VERSION);
    return f->answer.error;
}

static void ask_status(struct fixture *f, ze_device_thread_t t)
{
    struct zs_history_request status = request_of(ZS_HISTORY_STATUS, &t);
    assert_int_equal(ask(f, &status), 0);
}

static void wait_done(struct fixture *f)
{
    struct zs_history_request status = request_of(ZS_HISTORY_STATUS, NULL);
    do {
        usleep(200);
        assert_int_equal(ask(f, &status), 0);
    } while (f->answer.flags & ZS_HISTORY_BUSY);
}

static int go_to(struct fixture *f, ze_device_thread_t t, uint64_t position)
{
    struct zs_history_request go = request_of(ZS_HISTORY_GO, &t);
    go.position = position;
    int error = ask(f, &go);
    if (!error)
        wait_done(f);
    return error;
}

static void set_mode(struct fixture *f, enum zs_history_mode mode)
{
    struct zs_history_request request = request_of(ZS_HISTORY_MODE, NULL);
    request.mode = mode;
    assert_int_equal(ask(f, &request), 0);
}

static struct zs_history_hit hit_at(struct fixture *f, ze_device_thread_t t, uint32_t index)
{
    struct zs_history_request request = request_of(ZS_HISTORY_HITS, &t);
    request.first = index;
    request.count = 1;
    assert_int_equal(ask(f, &request), 0);
    assert_int_equal(f->answer.count, 1);
    return f->answer.hits[0];
}

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

static ze_device_thread_t stop_at(struct fixture *f, uint64_t va)
{
    breakpoint(f->session, va, true);
    zet_debug_event_t event = expect_event(f->session, ZET_DEBUG_EVENT_TYPE_THREAD_STOPPED);
    stop_all(f->session); /* before threads that come later could go past it */
    breakpoint(f->session, va, false);
    assert_true(read_pc(f->session, event.info.thread.thread) == va);
    return event.info.thread.thread;
}

/* ---- the log -----------------------------------------------------------------------------------
 */

enum { THREADS_MAX = GROUP / 8 };
struct state { /* of everything that is resident, in front of a step */
    struct threads threads;
    uint64_t pc[THREADS_MAX];
    uint32_t ce[THREADS_MAX], flag[THREADS_MAX][2];
    uint8_t grf[THREADS_MAX][GRF_B];
    uint8_t tile[TILE_B];
    int out[GROUP * GROUPS];
};

static struct state *look(struct fixture *f, bool has_tile)
{
    struct state *s = calloc(1, sizeof(*s));
    s->threads = stopped_threads(f->session, f->e->device);
    assert_in_range(s->threads.count, 1, THREADS_MAX);
    for (uint32_t i = 0; i < s->threads.count; i++) {
        ze_device_thread_t t = s->threads.items[i];
        s->pc[i] = read_pc(f->session, t);
        OK(zetDebugReadRegisters(f->session, t, ZESCOPE_DEBUG_REGSET_CE, 0, 1, &s->ce[i]));
        OK(zetDebugReadRegisters(f->session, t, ZESCOPE_DEBUG_REGSET_FLAG, 0, 2, s->flag[i]));
        OK(zetDebugReadRegisters(f->session, t, ZESCOPE_DEBUG_REGSET_GRF, 0, 128, s->grf[i]));
    }
    const zet_debug_memory_space_desc_t slm = {.stype = ZET_STRUCTURE_TYPE_DEBUG_MEMORY_SPACE_DESC,
                                               .type = ZET_DEBUG_MEMORY_SPACE_TYPE_SLM};
    if (has_tile)
        OK(zetDebugReadMemory(f->session, s->threads.items[0], &slm, TILE_B, s->tile));
    OK(memory(f->session, everyone, f->app.out_va, s->out, sizeof(s->out), false));
    return s;
}

static void must_be(const struct state *got, const struct state *logged)
{
    assert_int_equal(got->threads.count, logged->threads.count);
    for (uint32_t i = 0; i < got->threads.count; i++) {
        assert_true(same_thread(got->threads.items[i], logged->threads.items[i]));
        assert_true(got->pc[i] == logged->pc[i]);
        assert_int_equal(got->ce[i], logged->ce[i]);
        assert_memory_equal(got->flag[i], logged->flag[i], sizeof(got->flag[i]));
        assert_memory_equal(got->grf[i], logged->grf[i], GRF_B);
    }
    assert_memory_equal(got->tile, logged->tile, TILE_B);
    assert_memory_equal(got->out, logged->out, sizeof(got->out));
}

struct log {
    struct state *states[STEPS_MAX];
    uint32_t count;
    ze_device_thread_t stepped[STEPS_MAX]; /* which thread took the step */
};

/* Steps threads in turns of `turn` instructions until there is none left, or for `most` steps. What
 * waits at a barrier is left out as long as it does. */
static void record(struct fixture *f, struct log *log, uint32_t most, uint32_t turn, bool has_tile)
{
    struct threads held = stopped_threads(f->session, f->e->device);
    uint32_t next = 0;
    log->states[log->count++] = look(f, has_tile);
    while (log->count < most && held.count) {
        ze_device_thread_t t = held.items[next % held.count];
        ask_status(f, t);
        uint64_t before = f->answer.position;
        step(f->session, t);
        zet_debug_event_t event = {0};
        ze_result_t result = zetDebugReadEvent(f->session, 100, &event);
        if (result == ZE_RESULT_NOT_READY) { /* at a barrier, or merely slow */
            stop_all(f->session);
            held = stopped_threads(f->session, f->e->device);
            if (!held.count) /* it has ended */
                break;
            ask_status(f, held.items[0]);
            if (f->answer.position == before) {
                next++;
                continue;
            }
        } else {
            OK(result);
            if (event.type == ZET_DEBUG_EVENT_TYPE_THREAD_UNAVAILABLE) /* it has ended */
                break;
            ask_status(f, t);
        }
        assert_true(f->answer.position == before + 1);
        log->stepped[log->count] = t;
        log->states[log->count++] = look(f, has_tile);
        if (log->count % turn == 0)
            next++;
    }
}

static void log_free(struct log *log)
{
    for (uint32_t i = 0; i < log->count; i++)
        free(log->states[i]);
}

/* ---- tests -------------------------------------------------------------------------------------
 */

/* Every position of the log again, backwards, and some of them forwards from there. */
static void go_everywhere(struct fixture *f, struct log *log, uint64_t first, bool has_tile)
{
    ze_device_thread_t t = log->states[0]->threads.items[0];
    for (uint32_t i = log->count; i-- > 0;) {
        t = stopped_threads(f->session, f->e->device).items[0];
        assert_int_equal(go_to(f, t, first + i), 0);
        ask_status(f, t);
        assert_int_equal(f->answer.lack, ZS_HISTORY_WHOLE);
        assert_true(f->answer.position == first + i);
        struct state *now = look(f, has_tile);
        must_be(now, log->states[i]);
        free(now);
    }
    /* the same way once more: it is executed anew */
    for (uint32_t i = 1; i < log->count && i < 40; i++) {
        step(f->session, log->stepped[i]);
        expect_event(f->session, ZET_DEBUG_EVENT_TYPE_THREAD_STOPPED);
        struct state *now = look(f, has_tile);
        must_be(now, log->states[i]);
        free(now);
    }
}

static void check_run(struct e2e *e, const char *command, const char *kernel, uint32_t kind,
                      uint32_t most, bool has_tile)
{
    struct fixture f = begin(e);
    struct log *log = calloc(1, sizeof(*log));
    set_mode(&f, ZS_HISTORY_ON);
    uint64_t va = kernel_va(f.session, &f.loaded, kernel);
    breakpoint(f.session, va, true);
    OK(app_do(&f.app, command, GROUPS));
    ze_device_thread_t t = stop_at(&f, va);
    ask_status(&f, t);
    assert_int_equal(f.answer.lack, ZS_HISTORY_WHOLE);
    assert_int_equal(f.answer.launch, 1);
    uint64_t first = f.answer.position;
    record(&f, log, most, 7, has_tile);
    assert_true(log->count > 30);
    go_everywhere(&f, log, first, has_tile);
    stop_all(f.session);
    OK(zetDebugResume(f.session, everyone));
    OK(app_do(&f.app, "wait", 0));
    OK(app_do(&f.app, "check", kind + 10 * GROUPS));
    log_free(log);
    free(log);
    end(&f);
}

static void test_divergence(void **state)
{
    check_run(*state, "steps", "steps", 1, 160, false);
}

static void test_barrier(void **state)
{
    check_run(*state, "share", "share", 2, 160, true);
}

/* ---- memory ------------------------------------------------------------------------------------
 */

static struct zs_history_range range_of(uint64_t va, uint64_t size_B, uint32_t space,
                                        uint32_t access)
{
    return (struct zs_history_range){
        .gpu_va = va, .size_B = size_B, .space = space, .access = access, .id = 77};
}

static int search(struct fixture *f, ze_device_thread_t t, struct zs_history_range range)
{
    struct zs_history_request request = request_of(ZS_HISTORY_SEARCH, &t);
    request.range_count = 1;
    request.ranges[0] = range;
    int error = ask(f, &request);
    if (!error)
        wait_done(f);
    ask_status(f, t);
    return error;
}

/* Local memory of the second group: each element has one writer. */
static void test_who_wrote(void **state)
{
    struct fixture f = begin(*state);
    set_mode(&f, ZS_HISTORY_ON);
    uint64_t va = kernel_va(f.session, &f.loaded, "share");
    breakpoint(f.session, va, true);
    OK(app_do(&f.app, "share", GROUPS));
    ze_device_thread_t t = stop_at(&f, va);
    /* on to where the result of group 1 is written */
    struct zs_history_request watch = request_of(ZS_HISTORY_WATCH, &t);
    watch.range_count = 1;
    watch.ranges[0] = range_of(f.app.out_va + (GROUP + 9) * sizeof(int), sizeof(int),
                               ZS_HISTORY_MEMORY, ZS_HISTORY_CHANGE);
    assert_int_equal(ask(&f, &watch), 0);
    OK(zetDebugResume(f.session, everyone));
    zet_debug_event_t event = expect_event(f.session, ZET_DEBUG_EVENT_TYPE_THREAD_STOPPED);
    stop_all(f.session);
    t = event.info.thread.thread;
    struct zs_history_request stop = request_of(ZS_HISTORY_STOP, &t);
    assert_int_equal(ask(&f, &stop), 0);
    assert_int_equal(f.answer.count, 1);
    struct zs_history_hit hit = f.answer.hits[0];
    int old, now, expected = (((GROUP + 10) % 7) + 100) * 2;
    memcpy(&old, hit.old, 4);
    memcpy(&now, hit.now, 4);
    assert_int_equal(hit.kind, ZS_HISTORY_ACCESS);
    assert_int_equal(hit.id, 77);
    assert_int_equal(old, -1);
    assert_int_equal(now, expected);
    assert_int_equal(hit.group[0], 1);
    assert_int_equal(hit.item[0], 9);
    watch.range_count = 0;
    assert_int_equal(ask(&f, &watch), 0);
    for (uint32_t i = 0; i < GROUP; i++) {
        assert_int_equal(
            search(&f, t,
                   range_of(i * sizeof(int), sizeof(int), ZS_HISTORY_LOCAL, ZS_HISTORY_WRITE)),
            0);
        assert_int_equal(f.answer.hit_count, 1);
        hit = hit_at(&f, t, 0);
        memcpy(&now, hit.now, 4);
        assert_int_equal(now, (int)(GROUP + i) % 7 + 100);
        assert_int_equal(hit.item[0], i);
        assert_int_equal(hit.group[0], 1);
        /* in front of it the element is as it was */
        struct zs_history_hit found = hit;
        if (i != 3)
            continue;
        ask_status(&f, t);
        uint64_t here = f.answer.position;
        struct state *before = look(&f, true), *then;
        assert_int_equal(go_to(&f, t, found.position), 0);
        struct threads held = stopped_threads(f.session, f.e->device);
        struct zs_history_request find = request_of(ZS_HISTORY_FIND, &held.items[0]);
        find.first = found.thread;
        for (uint32_t k = 0; k < 3; k++)
            find.codes[k] = found.group[k];
        assert_int_equal(ask(&f, &find), 0);
        const struct zs_history_thread *place = &f.answer.hits[0].place;
        ze_device_thread_t writer = {place->slice, place->subslice, place->eu, place->thread};
        assert_true(read_pc(f.session, writer) == found.ip_va);
        then = look(&f, true);
        assert_int_equal(((int *)(void *)then->tile)[3], 0);
        free(then);
        assert_int_equal(held.count, threads_of_group(f.e->device));
        free(before);
        assert_true(go_to(&f, writer, here) == -ENODATA); /* forgotten */
        /* and it comes there again by itself */
        watch.thread =
            (struct zs_history_thread){writer.slice, writer.subslice, writer.eu, writer.thread};
        watch.range_count = 1;
        assert_int_equal(ask(&f, &watch), 0);
        OK(zetDebugResume(f.session, everyone));
        event = expect_event(f.session, ZET_DEBUG_EVENT_TYPE_THREAD_STOPPED);
        stop_all(f.session);
        t = event.info.thread.thread;
        watch.range_count = 0;
        assert_int_equal(ask(&f, &watch), 0);
    }
    OK(zetDebugResume(f.session, everyone));
    OK(app_do(&f.app, "wait", 0));
    OK(app_do(&f.app, "check", 2 + 10 * GROUPS));
    end(&f);
}

/* What cannot be had says why; nonsense is refused. */
static void test_refused(void **state)
{
    struct fixture f = begin(*state);
    uint64_t value = 0;
    FAILS(zetDebugReadRegisters(f.session, everyone, ZS_HISTORY_SET, 0, 1, &value),
          ZE_RESULT_ERROR_INVALID_ARGUMENT);
    FAILS(zetDebugWriteRegisters(f.session, everyone, ZS_HISTORY_SET, 0, 1, &value),
          ZE_RESULT_ERROR_INVALID_ARGUMENT);
    struct zs_history_request request = request_of(ZS_HISTORY_STATUS, NULL);
    request.version++;
    assert_int_equal(ask(&f, &request), -EINVAL);
    request = request_of(ZS_HISTORY_OP_COUNT, NULL);
    assert_int_equal(ask(&f, &request), -EINVAL);
    request = request_of(ZS_HISTORY_WATCH, NULL);
    request.range_count = ZS_HISTORY_RANGES_MAX + 1;
    assert_int_equal(ask(&f, &request), -EINVAL);
    request.range_count = 1; /* of no size; of nobody's local memory */
    assert_int_equal(ask(&f, &request), -EINVAL);
    request.ranges[0] = range_of(0, 4, ZS_HISTORY_LOCAL, ZS_HISTORY_WRITE);
    assert_int_equal(ask(&f, &request), -EINVAL);
    request = request_of(ZS_HISTORY_GO, NULL);
    assert_int_equal(ask(&f, &request), -EAGAIN);

    uint64_t va = kernel_va(f.session, &f.loaded, "steps");
    breakpoint(f.session, va, true);
    OK(app_do(&f.app, "steps", GROUPS)); /* not recorded */
    ze_device_thread_t t = stop_at(&f, va);
    assert_int_equal(go_to(&f, t, 0), -ENODATA);
    ask_status(&f, t);
    assert_int_equal(f.answer.lack, ZS_HISTORY_NOT_RECORDED);
    set_mode(&f, ZS_HISTORY_AUTO); /* the breakpoint is a reason */
    (void)zetDebugResume(f.session, everyone);
    OK(app_do(&f.app, "wait", 0));
    breakpoint(f.session, va, true);
    OK(app_do(&f.app, "steps", GROUPS));
    t = stop_at(&f, va);
    ask_status(&f, t);
    assert_int_equal(f.answer.lack, ZS_HISTORY_WHOLE);
    assert_int_equal(f.answer.launch, 2);
    uint8_t grf[64];
    OK(zetDebugReadRegisters(f.session, t, ZESCOPE_DEBUG_REGSET_GRF, 40, 1, grf));
    OK(zetDebugWriteRegisters(f.session, t, ZESCOPE_DEBUG_REGSET_GRF, 40, 1, grf));
    ask_status(&f, t);
    assert_int_equal(f.answer.lack, ZS_HISTORY_WHOLE); /* a part of the record */
    assert_int_equal(go_to(&f, t, 0), 0);
    (void)zetDebugResume(f.session, everyone);
    OK(app_do(&f.app, "wait", 0));
    request = request_of(ZS_HISTORY_LAUNCH, NULL); /* has been */
    request.position = 2;
    assert_int_equal(ask(&f, &request), -ENODATA);
    request.position = 4;
    assert_int_equal(ask(&f, &request), 0);
    OK(app_do(&f.app, "share", GROUPS));
    OK(app_do(&f.app, "wait", 0));
    OK(app_do(&f.app, "share", GROUPS));
    zet_debug_event_t event = expect_event(f.session, ZET_DEBUG_EVENT_TYPE_THREAD_STOPPED);
    stop_all(f.session);
    t = event.info.thread.thread;
    ask_status(&f, t);
    assert_int_equal(f.answer.launch, 4);
    assert_true(read_pc(f.session, t) == kernel_va(f.session, &f.loaded, "share"));
    struct zs_history_request stop = request_of(ZS_HISTORY_STOP, &t);
    assert_int_equal(ask(&f, &stop), 0);
    assert_int_equal(f.answer.hits[0].kind, ZS_HISTORY_BEGIN);
    (void)zetDebugResume(f.session, everyone);
    OK(app_do(&f.app, "wait", 0));
    OK(app_do(&f.app, "check", 2 + 10 * GROUPS));
    end(&f);
}

static void step_one(struct fixture *f, ze_device_thread_t t)
{
    step(f->session, t);
    expect_event(f->session, ZET_DEBUG_EVENT_TYPE_THREAD_STOPPED);
}

/* What the debugger writes is a part of the record: going back across it shows what was before, and
 * executing what comes behind it again gives the same. */
static void test_written(void **state)
{
    struct fixture f = begin(*state);
    uint64_t va = kernel_va(f.session, &f.loaded, "share");
    enum { BEFORE = 20, BEHIND = 10 };
    set_mode(&f, ZS_HISTORY_ON);
    breakpoint(f.session, va, true);
    OK(app_do(&f.app, "share", GROUPS));
    ze_device_thread_t t = stop_at(&f, va);
    for (int i = 0; i < BEFORE; i++)
        step_one(&f, t);
    ask_status(&f, t);
    uint64_t at = f.answer.position;
    struct state *before = look(&f, true);

    uint8_t grf[64], tile[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    int word = 4711;
    uint32_t flag = 0x5a5a;
    const zet_debug_memory_space_desc_t slm = {.stype = ZET_STRUCTURE_TYPE_DEBUG_MEMORY_SPACE_DESC,
                                               .type = ZET_DEBUG_MEMORY_SPACE_TYPE_SLM,
                                               .address = 200};
    memset(grf, 0x77, sizeof(grf));
    OK(zetDebugWriteRegisters(f.session, t, ZESCOPE_DEBUG_REGSET_GRF, 110, 1, grf));
    OK(zetDebugWriteRegisters(f.session, t, ZESCOPE_DEBUG_REGSET_FLAG, 1, 1, &flag));
    OK(zetDebugWriteMemory(f.session, t, &slm, sizeof(tile), tile));
    OK(memory(f.session, everyone, f.app.out_va + 4 * (GROUP * GROUPS - 1), &word, 4, true));
    struct state *written = look(&f, true);
    assert_memory_not_equal(written->grf, before->grf, sizeof(before->grf));
    assert_memory_not_equal(written->tile, before->tile, sizeof(before->tile));
    assert_int_equal(written->out[GROUP * GROUPS - 1], word);
    for (int i = 0; i < BEHIND; i++)
        step_one(&f, t);
    ask_status(&f, t);
    assert_int_equal(f.answer.lack, ZS_HISTORY_WHOLE);
    struct state *behind = look(&f, true);

    assert_int_equal(go_to(&f, t, at + 1), 0); /* behind the writes, of which the first is kept */
    for (int i = 1; i < BEHIND; i++)
        step_one(&f, t);
    struct state *again = look(&f, true);
    must_be(again, behind);
    assert_int_equal(go_to(&f, t, at - 1), 0); /* in front of them */
    step_one(&f, t);
    free(again);
    again = look(&f, true);
    must_be(again, before);
    ask_status(&f, t);
    assert_int_equal(f.answer.lack, ZS_HISTORY_WHOLE);
    (void)zetDebugResume(f.session, everyone);
    OK(app_do(&f.app, "wait", 0));
    OK(app_do(&f.app, "check", 2 + 10 * GROUPS));
    free(before);
    free(written);
    free(behind);
    free(again);
    end(&f);
}

/* ---- code and the instruction pointer ----------------------------------------------------------
 */

/* More steps, from where the log ends; what was written since is in its last state. */
static void record_on(struct fixture *f, struct log *log, uint32_t most, bool has_tile)
{
    free(log->states[--log->count]);
    record(f, log, most, 99, has_tile);
}

/* The launch of `share`, in which "+ 100" becomes "+ 1000" after the first steps, and later "+ 100"
 * again, when the first group has executed it. */
struct patched {
    struct log *log;
    uint64_t first, at; /* position of the first state; of the immediate */
    uint32_t hundred, thousand, begin, end;
};

static struct patched record_patched(struct fixture *f)
{
    struct patched p = {.log = calloc(1, sizeof(*p.log))};
    uint64_t va = kernel_va(f->session, &f->loaded, "share"), before_va = 0;
    p.at = find_hundred(f->session, va, &p.hundred, &before_va);
    p.thousand = p.hundred * 10;
    set_mode(f, ZS_HISTORY_ON);
    breakpoint(f->session, before_va, true);
    OK(app_do(&f->app, "share", GROUPS));
    ze_device_thread_t t = stop_at(f, before_va);
    ask_status(f, t);
    p.first = f->answer.position;
    record(f, p.log, 4, 99, true);
    p.begin = p.log->count - 1;
    OK(memory(f->session, everyone, p.at, &p.thousand, sizeof(p.thousand), true));
    int written = 0;
    for (uint32_t most = 10; !written && most < 200; most += 5) {
        record_on(f, p.log, most, true);
        memcpy(&written, p.log->states[p.log->count - 1]->tile, sizeof(written));
    }
    assert_int_equal(written, 1000);
    p.end = p.log->count - 1;
    OK(memory(f->session, everyone, p.at, &p.hundred, sizeof(p.hundred), true));
    record_on(f, p.log, p.log->count + 10, true);
    t = stopped_threads(f->session, f->e->device).items[0];
    ask_status(f, t);
    assert_int_equal(f->answer.lack, ZS_HISTORY_WHOLE);
    assert_true(f->answer.position == p.first + p.log->count - 1);
    return p;
}

static uint32_t word_at(struct fixture *f, uint64_t va)
{
    uint32_t word;
    OK(memory(f->session, everyone, va, &word, sizeof(word), false));
    return word;
}

static void go_and_compare(struct fixture *f, const struct patched *p, uint32_t i)
{
    ze_device_thread_t t = stopped_threads(f->session, f->e->device).items[0];
    assert_int_equal(go_to(f, t, p->first + i), 0);
    ask_status(f, t);
    assert_int_equal(f->answer.lack, ZS_HISTORY_WHOLE);
    struct state *now = look(f, true);
    must_be(now, p->log->states[i]);
    free(now);
    assert_int_equal(word_at(f, p->at), i >= p->begin && i < p->end ? p->thousand : p->hundred);
}

/* Each state again, with the code that it had; in front of all it is executed as it was. */
static void test_code_back(void **state)
{
    struct fixture f = begin(*state);
    struct patched p = record_patched(&f);
    breakpoint(f.session, p.at - 12, true); /* that is no change of code: it stays */
    for (uint32_t i = p.log->count; i-- > 0;)
        go_and_compare(&f, &p, i);
    assert_int_equal(word_at(&f, p.at - 12) >> 30 & 1, 1);
    breakpoint(f.session, p.at - 12, false);
    (void)zetDebugResume(f.session, everyone);
    OK(app_do(&f.app, "wait", 0));
    OK(app_do(&f.app, "check", 2 + 10 * GROUPS));
    log_free(p.log);
    free(p.log);
    end(&f);
}

/* Behind the first change it stays; who wrote is found in what was executed. */
static void test_code_forth(void **state)
{
    struct fixture f = begin(*state);
    struct patched p = record_patched(&f);
    ze_device_thread_t t = stopped_threads(f.session, f.e->device).items[0];
    int now, in[GROUP * GROUPS], out[GROUP * GROUPS];
    assert_int_equal(search(&f, t, range_of(0, 4, ZS_HISTORY_LOCAL, ZS_HISTORY_WRITE)), 0);
    assert_int_equal(f.answer.hit_count, 1);
    struct zs_history_hit hit = hit_at(&f, t, 0);
    memcpy(&now, hit.now, sizeof(now));
    assert_int_equal(now, 1000);
    struct state *after = look(&f, true); /* a search changes nothing */
    must_be(after, p.log->states[p.log->count - 1]);
    free(after);
    assert_int_equal(word_at(&f, p.at), p.hundred);
    uint32_t from = p.begin + 2;
    go_and_compare(&f, &p, from);
    for (uint32_t i = from + 1; i < p.end && i < from + 30; i++) {
        step(f.session, p.log->stepped[i]);
        expect_event(f.session, ZET_DEBUG_EVENT_TYPE_THREAD_STOPPED);
        struct state *again = look(&f, true);
        must_be(again, p.log->states[i]);
        free(again);
    }
    (void)zetDebugResume(f.session, everyone);
    OK(app_do(&f.app, "wait", 0));
    OK(memory(f.session, everyone, f.app.in_va, in, sizeof(in), false));
    OK(memory(f.session, everyone, f.app.out_va, out, sizeof(out), false));
    for (int i = 0; i < GROUP * GROUPS; i++)
        assert_int_equal(out[i], (in[i / GROUP * GROUP + (i + 1) % GROUP] + 1000) * 2);
    log_free(p.log);
    free(p.log);
    end(&f);
}

static void write_ip(struct fixture *f, ze_device_thread_t t, uint64_t va)
{
    struct cr cr = read_cr(f->session, t);
    cr.ip += (uint32_t)(va - read_pc(f->session, t));
    cr.why = 0; /* no step */
    OK(zetDebugWriteRegisters(f->session, t, ZESCOPE_DEBUG_REGSET_CR, 0, 1, &cr));
}

/* A thread stands where the code that is written has no instruction: there is no way back, and it
 * says so. */
static void test_code_nowhere(void **state)
{
    struct fixture f = begin(*state);
    uint32_t hundred, whole[4], halves[4];
    uint64_t va = kernel_va(f.session, &f.loaded, "share");
    uint64_t before_va = 0, at = find_hundred(f.session, va, &hundred, &before_va) - 12;
    set_mode(&f, ZS_HISTORY_ON);
    breakpoint(f.session, va, true);
    OK(app_do(&f.app, "share", GROUPS));
    ze_device_thread_t t = stop_at(&f, va);
    OK(memory(f.session, everyone, at, whole, sizeof(whole), false));
    memcpy(halves, whole, sizeof(halves));
    halves[0] |= 1u << 29; /* two compacted ones */
    halves[2] |= 1u << 29;
    OK(memory(f.session, everyone, at, halves, sizeof(halves), true));
    write_ip(&f, t, at + 8);
    OK(memory(f.session, everyone, at, whole, sizeof(whole), true));
    write_ip(&f, t, va);
    ask_status(&f, t);
    assert_int_equal(f.answer.lack, ZS_HISTORY_NOWHERE);
    assert_int_equal(go_to(&f, t, 0), -ENODATA);
    (void)zetDebugResume(f.session, everyone);
    OK(app_do(&f.app, "wait", 0));
    OK(app_do(&f.app, "check", 2 + 10 * GROUPS));
    end(&f);
}

/* Where the thread is sent is a part of the record: back by some instructions, and over some. */
static void test_jump(void **state)
{
    struct fixture f = begin(*state);
    struct log *log = calloc(1, sizeof(*log));
    uint64_t va = kernel_va(f.session, &f.loaded, "steps");
    set_mode(&f, ZS_HISTORY_ON);
    breakpoint(f.session, va, true);
    OK(app_do(&f.app, "steps", GROUPS));
    ze_device_thread_t t = stop_at(&f, va);
    ask_status(&f, t);
    uint64_t first = f.answer.position;
    record(&f, log, 6, 99, false);
    t = log->states[0]->threads.items[0];
    write_ip(&f, t, log->states[3]->pc[0]);
    assert_true(read_pc(f.session, t) == log->states[3]->pc[0]);
    record_on(&f, log, 7, false);
    write_ip(&f, t, log->states[0]->pc[0]);
    record_on(&f, log, 9, false);
    write_ip(&f, t, log->states[4]->pc[0]); /* over some */
    record_on(&f, log, 20, false);
    ask_status(&f, t);
    assert_int_equal(f.answer.lack, ZS_HISTORY_WHOLE);
    for (uint32_t i = log->count; i-- > 0;) {
        t = stopped_threads(f.session, f.e->device).items[0];
        assert_int_equal(go_to(&f, t, first + i), 0);
        struct state *now = look(&f, false);
        must_be(now, log->states[i]);
        free(now);
    }
    OK(zetDebugResume(f.session, everyone));
    OK(app_do(&f.app, "wait", 0));
    OK(app_do(&f.app, "check", 1 + 10 * GROUPS)); /* what was ahead is forgotten */
    log_free(log);
    free(log);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_divergence), cmocka_unit_test(test_barrier),
        cmocka_unit_test(test_who_wrote),  cmocka_unit_test(test_refused),
        cmocka_unit_test(test_written),    cmocka_unit_test(test_code_back),
        cmocka_unit_test(test_code_forth), cmocka_unit_test(test_code_nowhere),
        cmocka_unit_test(test_jump),
    };
    signal(SIGPIPE, SIG_IGN);
    if (getenv("CMOCKA_FILTER"))
        cmocka_set_test_filter(getenv("CMOCKA_FILTER"));
    return cmocka_run_group_tests(tests, e2e_setup, e2e_teardown);
}
