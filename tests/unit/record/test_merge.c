/* SPDX-License-Identifier: MIT */
#include "../test.h"

#include "record/merge.h"
#include "store/pb.h"
#include "store/trace_writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[64], traces[96];
static struct zs_trace_process process;
static uint64_t start_ns;

static int make_dir(void **state)
{
    strcpy(dir, "/tmp/zs-merge-XXXXXX");
    if (!mkdtemp(dir))
        return -1;
    snprintf(traces, sizeof(traces), "%s/trace", dir);
    start_ns = zs_trace_now_ns() + UINT64_C(3600000000000); /* behind the opening of files */
    return zs_trace_process_open(&process, traces, 0, NULL);
}

static int remove_dir(void **state)
{
    char command[128];
    snprintf(command, sizeof(command), "rm -rf %s", dir);
    return system(command);
}

static void call(struct zs_trace_file *file, uint64_t from, uint64_t until)
{
    zs_trace_begin(file, start_ns + from, 0, "zeInit", NULL, 0);
    zs_trace_end(file, start_ns + until, NULL, 0);
}

struct record {
    uint8_t bytes[256];
    struct zs_pb pb;
    uint8_t *length;
};

static struct record *begin(struct record *r, uint64_t type, uint64_t id)
{
    r->pb = zs_pb_make(r->bytes, sizeof(r->bytes));
    r->length = zs_pb_begin(&r->pb, ZS_TRACE_FIELD_ACTIVITY);
    zs_pb_u64(&r->pb, ZS_ACT_TYPE, type);
    zs_pb_u64(&r->pb, ZS_ACT_ID, id);
    return r;
}

static void end(struct record *r, struct zs_trace_file *file, uint64_t time)
{
    zs_pb_end(&r->pb, r->length);
    zs_trace_packet_at(file, start_ns + time, r->bytes, (size_t)(r->pb.at - r->bytes));
}

static void put_queue(struct zs_trace_file *file, uint64_t id, bool immediate)
{
    struct record r;
    zs_pb_u64(&begin(&r, ZS_ACT_QUEUE, id)->pb, ZS_ACT_IMMEDIATE, immediate);
    end(&r, file, 0);
}

static void put_append(struct zs_trace_file *file, uint64_t id, uint64_t kernel, uint64_t time)
{
    struct record r;
    zs_pb_u64(&begin(&r, ZS_ACT_APPEND, id)->pb, ZS_ACT_KIND, ZS_ACTIVITY_KERNEL);
    zs_pb_u64(&r.pb, ZS_ACT_KERNEL_ID, kernel);
    end(&r, file, time);
}

static void put_execute(struct zs_trace_file *file, uint64_t id, uint64_t queue, uint64_t from,
                        uint64_t until)
{
    struct record r;
    zs_pb_u64(&begin(&r, ZS_ACT_EXECUTE, id)->pb, ZS_ACT_QUEUE_ID, queue);
    zs_pb_u64(&r.pb, ZS_ACT_SUBMIT_NS, start_ns + from);
    zs_pb_u64(&r.pb, ZS_ACT_START_NS, start_ns + from);
    zs_pb_u64(&r.pb, ZS_ACT_END_NS, start_ns + until);
    end(&r, file, from);
}

static void put_kernel(struct zs_trace_file *file, uint64_t id, const char *name)
{
    struct record r;
    zs_pb_text(&begin(&r, ZS_ACT_KERNEL, id)->pb, ZS_ACT_NAME, name);
    end(&r, file, 0);
}

struct seen {
    char text[4096]; /* one letter or number per event */
    uint64_t last_ns, calls;
    bool in_order;
};

static void say(struct seen *s, const char *text)
{
    size_t length = strlen(s->text);
    snprintf(s->text + length, sizeof(s->text) - length, "%s ", text);
}

static int on_call(void *user, const struct zs_calls *calls, const struct zs_call *call,
                   uint64_t owner)
{
    struct seen *s = user;
    s->in_order &= call->start_ns >= s->last_ns;
    s->last_ns = call->start_ns;
    s->calls++;
    char text[32];
    snprintf(text, sizeof(text), "%u@%u", calls->tid, (unsigned)(call->start_ns - start_ns));
    if (s->calls < 100)
        say(s, text);
    return 0;
}

static int on_append(void *user, const struct zs_act_append *a)
{
    char text[64];
    snprintf(text, sizeof(text), "append-%u:%s", (unsigned)a->id,
             a->kernel ? a->kernel->name : "none");
    say(user, text);
    return 0;
}

static int on_execute(void *user, const struct zs_act_execute *e)
{
    char text[64];
    snprintf(text, sizeof(text), "run-%u:%s", (unsigned)e->id,
             e->append && e->append->kernel ? e->append->kernel->name : "lost");
    say(user, text);
    return 0;
}

static int on_mark(void *user, const struct zs_act_mark *m)
{
    char text[64];
    snprintf(text, sizeof(text), "%s-%u:%s", m->end_ns ? "range" : "mark", m->depth, m->name);
    say(user, text);
    return 0;
}

static void merge(struct seen *seen, struct zs_merge_totals *ret_totals)
{
    *seen = (struct seen){.in_order = true};
    const struct zs_merge_sink sink = {
        .user = seen, .call = on_call, .append = on_append, .execute = on_execute, .mark = on_mark};
    struct zs_activities activities;
    struct zs_diag diag = {0};
    assert_int_equal(zs_merge(dir, &sink, &activities, ret_totals, &diag), 0);
    zs_activities_free(&activities);
}

static struct zs_trace_file *make_file(uint32_t tid)
{
    struct zs_trace_file *file = calloc(1, sizeof(*file));
    assert_int_equal(zs_trace_file_open(file, &process, tid, "worker", "app"), 0);
    return file;
}

static void close_file(struct zs_trace_file *file)
{
    zs_trace_file_close(file);
    free(file);
}

static void calls_of_threads_are_in_order(void **state)
{
    struct zs_trace_file *a = make_file(1), *b = make_file(2);
    call(a, 10, 20);
    call(a, 50, 60);
    call(b, 5, 55);
    call(b, 58, 59);
    close_file(a);
    close_file(b);
    struct seen seen;
    struct zs_merge_totals totals;
    merge(&seen, &totals);
    assert_string_equal(seen.text, "2@5 1@10 1@50 2@58 ");
    assert_int_equal(totals.calls, 4);
    assert_int_equal(totals.first_ns, start_ns + 5);
    assert_int_equal(totals.last_ns, start_ns + 60);
}

/* More files than are kept open. */
static void many_files(void **state)
{
    enum { FILES = 150, CALLS = 40 };
    for (uint32_t i = 0; i < FILES; i++) {
        struct zs_trace_file *file = make_file(i + 1);
        for (uint32_t k = 0; k < CALLS; k++)
            call(file, (k * FILES + (i * 7) % FILES) * 10, (k * FILES + (i * 7) % FILES) * 10 + 5);
        close_file(file);
    }
    struct seen seen;
    struct zs_merge_totals totals;
    merge(&seen, &totals);
    assert_true(seen.in_order);
    assert_int_equal(seen.calls, FILES * CALLS);
    assert_int_equal(totals.files, FILES);
    assert_int_equal(totals.damaged_files, 0);
}

/* An execution before its append, an append before its kernel, an append executed twice, one of an
 * immediate list, one that no file has. */
static void activities_find_each_other(void **state)
{
    struct zs_trace_file *a = make_file(1), *b = make_file(2);
    put_queue(a, 1, false);
    put_queue(a, 2, true);
    zs_trace_begin(a, start_ns + 10, 0, "zeInit", NULL, 0);
    put_execute(a, 1, 1, 100, 200);
    zs_trace_end(a, start_ns + 20, NULL, 0);
    put_kernel(b, 1, "add");
    zs_trace_begin(b, start_ns + 15, 0, "zeInit", NULL, 0);
    put_append(b, 1, 1, 16);
    put_append(b, 2, 7, 17);
    put_append(b, 3, 1, 18);
    zs_trace_end(b, start_ns + 19, NULL, 0);
    zs_trace_begin(b, start_ns + 300, 0, "zeInit", NULL, 0);
    put_execute(b, 1, 1, 210, 220);
    put_execute(b, 3, 2, 230, 240);
    put_execute(b, 2, 1, 250, 260);
    put_execute(b, 99, 1, 270, 280);
    put_kernel(b, 7, "late");
    zs_trace_end(b, start_ns + 301, NULL, 0);
    close_file(a);
    close_file(b);
    struct seen seen;
    struct zs_merge_totals totals;
    merge(&seen, &totals);
    assert_non_null(strstr(seen.text, "append-1:add"));
    assert_non_null(strstr(seen.text, "append-2:late"));
    size_t runs = 0, lost = 0;
    for (const char *at = seen.text; (at = strstr(at, "run-")); at++) {
        runs++;
        lost += strncmp(at, "run-99:lost", 11) == 0;
        assert_true(strncmp(at, "run-99", 6) == 0 || !strstr(at, "lost") ||
                    strstr(at, "lost") > strchr(at, ' '));
    }
    assert_int_equal(runs, 5);
    assert_int_equal(lost, 1);
}

static void put_mark(struct zs_trace_file *file, uint64_t type, const char *name, uint64_t time)
{
    struct record r;
    begin(&r, type, 1);
    if (name)
        zs_pb_text(&r.pb, ZS_ACT_NAME, name);
    end(&r, file, time);
}

static void ranges_nest_and_end(void **state)
{
    struct zs_trace_file *a = make_file(1);
    put_mark(a, ZS_ACT_RANGE, "outer", 1);
    put_mark(a, ZS_ACT_RANGE, "inner", 2);
    put_mark(a, ZS_ACT_MARK, "point", 3);
    put_mark(a, ZS_ACT_RANGE_END, NULL, 4);
    put_mark(a, ZS_ACT_RANGE_END, NULL, 5);
    put_mark(a, ZS_ACT_RANGE_END, NULL, 6); /* one too many */
    put_mark(a, ZS_ACT_RANGE, "open", 7);
    close_file(a);
    struct seen seen;
    struct zs_merge_totals totals;
    merge(&seen, &totals);
    assert_string_equal(seen.text, "mark-2:point range-1:inner range-0:outer range-0:open ");
}

/* Records without calls (filters) do not gather in memory: they come in pieces, and all of them. */
static void records_without_calls(void **state)
{
    struct zs_trace_file *a = make_file(1);
    for (uint64_t i = 0; i < 20000; i++)
        put_mark(a, ZS_ACT_MARK, "m", i);
    close_file(a);
    struct seen seen;
    struct zs_merge_totals totals;
    merge(&seen, &totals);
    assert_int_equal(totals.calls, 0);
    assert_int_equal(strncmp(seen.text, "mark-0:m mark-0:m ", 18), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(calls_of_threads_are_in_order, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(many_files, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(activities_find_each_other, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(ranges_nest_and_end, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(records_without_calls, make_dir, remove_dir),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
