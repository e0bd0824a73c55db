/* SPDX-License-Identifier: MIT */
/* The protocol, message by message, over a debugger that is scripted (fake_debugger.h). */
#include "../test.h"

#include "base/diag.h"
#include "dap/dap.h"
#include "fake_debugger.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

struct client {
    struct zs_dap *dap;
    json_t *messages; /* all that came, in order */
    int sequence;
    size_t seen; /* events before it have been looked at */
    const char *at_poll;
};

/* ---- the client's end ---- */

static int take(void *user, const void *data, size_t size_B)
{
    struct client *c = user;
    const char *text = data;
    size_t length;
    const char *end = memmem(text, size_B, "\r\n\r\n", 4); /* no text: nothing ends it */
    assert_non_null(end);
    size_t header_B = (size_t)(end - text) + 4;
    char header[64];
    assert_true(header_B < sizeof(header));
    snprintf(header, sizeof(header), "%.*s", (int)header_B, text);
    assert_int_equal(sscanf(header, "Content-Length: %zu", &length), 1);
    assert_int_equal(length, size_B - header_B);
    json_error_t error;
    json_t *json = json_loadb(text + header_B, length, JSON_REJECT_DUPLICATES, &error);
    if (!json)
        fail_msg("no JSON: %s in %.*s", error.text, (int)length, text + header_B);
    assert_int_equal(json_integer_value(json_object_get(json, "seq")),
                     json_array_size(c->messages) + 1);
    json_array_append_new(c->messages, json);
    return 0;
}

static void feed(struct client *c, const char *json)
{
    char header[64];
    snprintf(header, sizeof(header), "Content-Length: %zu\r\n\r\n", strlen(json));
    zs_dap_feed(c->dap, header, strlen(header));
    zs_dap_feed(c->dap, json, strlen(json));
}

static void poll_client(void *user)
{
    struct client *c = user;
    const char *text = c->at_poll;
    c->at_poll = NULL;
    if (text)
        feed(c, text);
}

static int command(void *user, struct zs_debugger *debug, const char *line, struct zs_buf *out,
                   struct zs_diag *diag)
{
    uint32_t id;
    const struct zs_debug_breakpoint_options options = {.size_B = sizeof(options),
                                                        .location = "/src/k.cl:9"};
    zs_buf_puts(out, "two\n");
    if (!strcmp(line, "info threads"))
        return 0;
    if (!strcmp(line, "lane 0"))
        return zs_debug_set_focus(debug, 1, 0, 0, diag);
    if (!strcmp(line, "break 9"))
        return zs_debug_break_add(debug, &options, &id, diag);
    if (!strcmp(line, "delete 1"))
        return zs_debug_break_delete(debug, 1, diag);
    if (!strcmp(line, "i")) /* a variable's name, too */
        return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET, "nothing to be informed of");
    if (!strcmp(line, "next"))
        return zs_debug_step(debug, ZS_DEBUG_STEP_NEXT, diag) ? -EBUSY : ZS_DAP_COMMAND_RUNS;
    return -ENOENT;
}

static void complete(void *user, struct zs_debugger *debug, const char *line, size_t length,
                     size_t *ret_begin, void (*put)(void *put_user, const char *word),
                     void *put_user)
{
    *ret_begin = length;
    while (*ret_begin && line[*ret_begin - 1] != ' ')
        --*ret_begin;
    for (int i = 0; i < 2; i++) /* the same again is told once */
        put(put_user,
            length - *ret_begin == 3 && !strncmp(line + *ret_begin, "pri", 3) ? "print" : "other");
}

static struct client open_client(void)
{
    struct client c = {.messages = json_array()};
    return c;
}

static void start(struct client *c)
{
    struct zs_dap_options options = {
        .user = c, .write = take, .poll = poll_client, .command = command, .complete = complete};
    assert_int_equal(zs_dap_open(&options, &c->dap), 0);
}

static void finish(struct client *c)
{
    zs_dap_close(c->dap);
    json_decref(c->messages);
}

static void work(struct client *c)
{
    for (int i = 0; i < 100 && zs_dap_busy(c->dap); i++)
        zs_dap_work(c->dap, 0);
}

/* Sends without waiting; the request's number. */
static int post(struct client *c, const char *name, const char *arguments)
{
    char text[2048];
    snprintf(text, sizeof(text),
             "{\"seq\":%d,\"type\":\"request\",\"command\":\"%s\",\"arguments\":%s}", ++c->sequence,
             name, arguments);
    feed(c, text);
    return c->sequence;
}

static json_t *response(const struct client *c, int sequence)
{
    json_t *found = NULL, *message;
    size_t i;
    json_array_foreach(c->messages, i, message)
    {
        if (!strcmp(json_string_value(json_object_get(message, "type")), "response") &&
            json_integer_value(json_object_get(message, "request_seq")) == sequence) {
            assert_null(found); /* one answer to each */
            found = message;
        }
    }
    return found;
}

/* The body of a request that succeeds. */
static json_t *ask(struct client *c, const char *name, const char *arguments)
{
    int sequence = post(c, name, arguments);
    work(c);
    json_t *r = response(c, sequence);
    assert_non_null(r);
    if (!json_is_true(json_object_get(r, "success")))
        fail_msg("%s %s: %s", name, arguments, json_string_value(json_object_get(r, "message")));
    assert_string_equal(json_string_value(json_object_get(r, "command")), name);
    return json_object_get(r, "body");
}

/* The message of one that fails. */
static const char *refused(struct client *c, const char *name, const char *arguments)
{
    int sequence = post(c, name, arguments);
    work(c);
    json_t *r = response(c, sequence);
    assert_non_null(r);
    if (!json_is_false(json_object_get(r, "success")))
        fail_msg("%s %s succeeded", name, arguments);
    return json_string_value(json_object_get(
        json_object_get(json_object_get(json_object_get(r, "body"), "error"), "variables"),
        "text"));
}

/* The body of the next event with the name. */
static json_t *event(struct client *c, const char *name)
{
    for (; c->seen < json_array_size(c->messages); c->seen++) {
        json_t *message = json_array_get(c->messages, c->seen);
        const char *found = json_string_value(json_object_get(message, "event"));
        if (found && !strcmp(found, name)) {
            c->seen++;
            return json_object_get(message, "body");
        }
    }
    fail_msg("no event `%s`", name);
    return NULL;
}

static json_t *member(json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);
    if (!value)
        fail_msg("no member `%s`", key);
    return value;
}

#define TEXT(object, key)    json_string_value(member((object), (key)))
#define INT(object, key)     json_integer_value(member((object), (key)))
#define ITEM(object, key, i) json_array_get(member((object), (key)), (i))

/* Up to the application's start; `config`: a request that sets breakpoints, or NULL. */
static void launch(struct client *c, const char *arguments, const char *request, const char *config)
{
    start(c);
    ask(c, "initialize",
        "{\"adapterID\":\"zescope\",\"supportsInvalidatedEvent\":true,"
        "\"supportsMemoryEvent\":true}");
    int sequence = post(c, "launch", arguments);
    work(c);
    assert_null(response(c, sequence)); /* comes with configurationDone */
    event(c, "initialized");
    if (request)
        ask(c, request, config);
    ask(c, "configurationDone", "{}");
    assert_non_null(response(c, sequence));
}

static void launch_to_stop(struct client *c)
{
    launch(c, "{\"program\":\"ends\"}", "setBreakpoints",
           "{\"source\":{\"path\":\"/src/k.cl\"},\"breakpoints\":[{\"line\":7}]}");
    event(c, "stopped");
}

/* ---- tests ---- */

static void test_lifecycle(void **state)
{
    struct client c = open_client();
    start(&c);
    json_t *body = ask(&c, "initialize", "{}");
    assert_true(json_is_true(member(body, "supportsConfigurationDoneRequest")));
    assert_true(json_is_true(member(body, "supportsStepBack")));
    assert_string_equal(TEXT(ITEM(body, "exceptionBreakpointFilters", 0), "filter"), "fault");
    int sequence =
        post(&c, "launch", "{\"program\":\"ends\",\"args\":[\"a b\",\"c\"],\"cwd\":\"/\"}");
    work(&c);
    assert_null(response(&c, sequence));
    ask(&c, "configurationDone", "{}");
    assert_true(json_is_true(member(response(&c, sequence), "success")));
    assert_string_equal(fake.argv, "ends a b c");
    assert_string_equal(TEXT(event(&c, "process"), "startMethod"), "launch");
    assert_string_equal(TEXT(event(&c, "module"), "reason"), "new");
    assert_int_equal(INT(event(&c, "exited"), "exitCode"), 7);
    event(&c, "terminated");
    assert_non_null(strstr(refused(&c, "continue", "{\"threadId\":1}"), "has ended"));
    ask(&c, "disconnect", "{}");
    assert_true(zs_dap_ended(c.dap));
    assert_int_equal(fake.killed, 0);
    finish(&c);
    assert_int_equal(fake.closed, 1);
}

static void test_launch_fails(void **state)
{
    static const struct {
        const char *arguments, *why;
    } rows[] = {
        {"{}", "`program`"},
        {"{\"program\":\"ends\",\"args\":\"a\"}", "`args`"},
        {"{\"program\":\"ends\",\"args\":[1]}", "`args`"},
        {"{\"program\":\"ends\",\"env\":[]}", "`env`"},
        {"{\"program\":\"ends\",\"env\":{\"A\":5}}", "`A`"},
        {"{\"program\":\"ends\",\"env\":{\"A=B\":\"\"}}", "`A=B`"},
        {"{\"program\":\"ends\",\"cwd\":\"/no/such\"}", "/no/such"},
        {"{\"program\":\"ends\",\"devices\":\"none\"}", "no device"},
        {"{\"program\":\"ends\",\"device\":-1}", "`device`"},
        {"{\"program\":\"ends\",\"sourcePath\":\"a\"}", "`sourcePath`"},
        {"{\"program\":\"ends\",\"sourceMap\":{\"a\":1}}", "`sourceMap`"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct client c = open_client();
        start(&c);
        ask(&c, "initialize", "{}");
        assert_non_null(strstr(refused(&c, "launch", rows[i].arguments), rows[i].why));
        finish(&c);
    }
    struct client c = open_client();
    launch(&c, "{\"program\":\"missing\"}", NULL, NULL);
    json_t *r = response(&c, 2);
    assert_true(json_is_false(member(r, "success")));
    assert_string_equal(TEXT(r, "message"), "missing: no such program");
    event(&c, "terminated");
    finish(&c);
}

static void test_order(void **state)
{
    struct client c = open_client();
    start(&c);
    assert_non_null(strstr(refused(&c, "launch", "{\"program\":\"ends\"}"), "`initialize`"));
    assert_non_null(strstr(refused(&c, "threads", "{}"), "`initialize`"));
    ask(&c, "initialize", "{}");
    assert_non_null(strstr(refused(&c, "initialize", "{}"), "before"));
    assert_non_null(strstr(refused(&c, "setBreakpoints", "{}"), "`launch`"));
    assert_non_null(strstr(refused(&c, "configurationDone", "{}"), "`launch`"));
    assert_non_null(strstr(refused(&c, "restartFrame", "{\"frameId\":1}"), "not offered"));
    post(&c, "launch", "{\"program\":\"waits\"}");
    work(&c);
    assert_non_null(strstr(refused(&c, "attach", "{\"pid\":5}"), "this session"));
    assert_non_null(strstr(refused(&c, "pause", "{}"), "not been started"));
    ask(&c, "configurationDone", "{}");
    assert_non_null(strstr(refused(&c, "configurationDone", "{}"), "before"));
    assert_non_null(strstr(refused(&c, "stackTrace", "{\"threadId\":1}"), "runs"));
    assert_string_equal(TEXT(response(&c, c.sequence), "message"), "notStopped");
    finish(&c);
    assert_int_equal(fake.closed, 1);
}

static void test_breakpoints(void **state)
{
    struct client c = open_client();
    launch(&c, "{\"program\":\"ends\"}", "setBreakpoints",
           "{\"source\":{\"path\":\"/src/k.cl\"},\"breakpoints\":[{\"line\":7},"
           "{\"line\":9,\"condition\":\"bad(\"},{\"line\":99},{\"line\":11,\"hitCondition\":\"x\"},"
           "{\"line\":13,\"hitCondition\":\">= 3\"}]}");
    json_t *body = member(response(&c, 3), "body");
    assert_true(json_is_false(member(ITEM(body, "breakpoints", 0), "verified")));
    assert_string_equal(TEXT(ITEM(body, "breakpoints", 0), "reason"), "pending");
    assert_string_equal(TEXT(ITEM(body, "breakpoints", 1), "message"), "`bad(` is no expression");
    assert_string_equal(TEXT(ITEM(body, "breakpoints", 2), "reason"), "pending");
    assert_non_null(strstr(TEXT(ITEM(body, "breakpoints", 3), "message"), ">= N"));
    json_t *changed = member(event(&c, "breakpoint"), "breakpoint");
    assert_true(json_is_true(member(changed, "verified")));
    assert_int_equal(INT(changed, "line"), 7);
    assert_int_equal(INT(changed, "id"), INT(ITEM(body, "breakpoints", 0), "id"));
    json_t *stop = event(&c, "stopped");
    assert_string_equal(TEXT(stop, "reason"), "breakpoint");
    assert_int_equal(INT(stop, "threadId"), 1);
    assert_int_equal(json_integer_value(ITEM(stop, "hitBreakpointIds", 0)), INT(changed, "id"));
    /* the same one stays, with its number; the others go */
    json_t *again = ask(&c, "setBreakpoints",
                        "{\"source\":{\"path\":\"/src/k.cl\"},\"breakpoints\":[{\"line\":7}]}");
    assert_int_equal(INT(ITEM(again, "breakpoints", 0), "id"), INT(changed, "id"));
    json_t *lines = ask(&c, "breakpointLocations",
                        "{\"source\":{\"path\":\"/src/k.cl\"},\"line\":1,\"endLine\":6}");
    assert_int_equal(json_array_size(member(lines, "breakpoints")), 3);
    json_t *function =
        ask(&c, "setFunctionBreakpoints", "{\"breakpoints\":[{\"name\":\"kernel_k\"},{}]}");
    assert_true(json_is_true(member(ITEM(function, "breakpoints", 0), "verified")));
    assert_true(json_is_false(member(ITEM(function, "breakpoints", 1), "verified")));
    ask(&c, "setInstructionBreakpoints",
        "{\"breakpoints\":[{\"instructionReference\":\"0x4010\",\"offset\":16}]}");
    ask(&c, "continue", "{\"threadId\":1}");
    assert_string_equal(TEXT(event(&c, "stopped"), "reason"), "function breakpoint");
    ask(&c, "continue", "{\"threadId\":1}");
    assert_string_equal(TEXT(event(&c, "stopped"), "reason"), "instruction breakpoint");
    ask(&c, "setFunctionBreakpoints", "{\"breakpoints\":[]}");
    ask(&c, "setInstructionBreakpoints", "{\"breakpoints\":[]}");
    finish(&c);
    assert_int_equal(fake.breakpoint_count, 1);
}

static void test_log_point(void **state)
{
    struct client c = open_client();
    launch(&c, "{\"program\":\"ends\"}", "setBreakpoints",
           "{\"source\":{\"path\":\"/src/k.cl\"},\"breakpoints\":[{\"line\":7,\"logMessage\":"
           "\"i = {i}\"}]}");
    json_t *output = event(&c, "output");
    assert_string_equal(TEXT(output, "output"), "i = 30\n");
    assert_string_equal(TEXT(output, "category"), "console");
    event(&c, "exited");
    finish(&c);
}

static void test_stop_on_entry(void **state)
{
    struct client c = open_client();
    launch(&c, "{\"program\":\"ends\",\"stopOnEntry\":true}", NULL, NULL);
    assert_string_equal(TEXT(event(&c, "stopped"), "reason"), "entry");
    ask(&c, "continue", "{\"threadId\":1}");
    event(&c, "terminated");
    finish(&c);
    assert_int_equal(fake.breakpoint_count, 0);
}

static void test_stack(void **state)
{
    struct client c = open_client();
    launch_to_stop(&c);
    json_t *threads = ask(&c, "threads", "{}");
    assert_int_equal(json_array_size(member(threads, "threads")), 2);
    assert_string_equal(TEXT(ITEM(threads, "threads", 0), "name"),
                        "kernel_k group 3,0,0 (slice 0 subslice 0 EU 0 thread 0)");
    json_t *stack = ask(&c, "stackTrace", "{\"threadId\":1}");
    assert_int_equal(INT(stack, "totalFrames"), 2);
    json_t *frame = ITEM(stack, "stackFrames", 0);
    assert_string_equal(TEXT(frame, "name"), "helper [inlined]");
    assert_int_equal(INT(frame, "line"), 7);
    assert_string_equal(TEXT(member(frame, "source"), "name"), "k.cl");
    char text[128];
    snprintf(text, sizeof(text), "{\"sourceReference\":%lld}",
             (long long)INT(member(frame, "source"), "sourceReference"));
    assert_string_equal(TEXT(ask(&c, "source", text), "content"), "kernel void kernel_k() {}\n");
    refused(&c, "source", "{\"sourceReference\":77}");
    stack = ask(&c, "stackTrace", "{\"threadId\":1,\"startFrame\":1,\"levels\":1}");
    assert_int_equal(json_array_size(member(stack, "stackFrames")), 1);
    assert_string_equal(TEXT(ITEM(stack, "stackFrames", 0), "name"), "kernel_k");
    json_t *scopes = ask(&c, "scopes", "{\"frameId\":1}");
    static const char *const names[] = {"Variables of lane 3: item 51,0,0",
                                        "All lanes",
                                        "Registers",
                                        "Lane 0: item 48,0,0",
                                        "Lane 1: item 49,0,0 (waits elsewhere)",
                                        "Lane 2: item 50,0,0"};
    assert_int_equal(json_array_size(member(scopes, "scopes")), 6);
    for (size_t i = 0; i < 6; i++)
        assert_string_equal(TEXT(ITEM(scopes, "scopes", i), "name"), names[i]);
    assert_non_null(strstr(refused(&c, "scopes", "{\"frameId\":99}"), "frame"));
    assert_non_null(strstr(refused(&c, "stackTrace", "{\"threadId\":9}"), "thread"));
    assert_non_null(strstr(refused(&c, "exceptionInfo", "{\"threadId\":1}"), "fault"));
    json_t *modules = ask(&c, "modules", "{}");
    assert_string_equal(TEXT(ITEM(modules, "modules", 0), "name"), "kernel_k");
    finish(&c);
}

/* The variables of a reference. */
static json_t *variables(struct client *c, json_t *of, const char *more)
{
    char text[128];
    snprintf(text, sizeof(text), "{\"variablesReference\":%lld%s}",
             (long long)INT(of, "variablesReference"), more);
    return member(ask(c, "variables", text), "variables");
}

static json_t *scope(struct client *c, size_t index)
{
    ask(c, "stackTrace", "{\"threadId\":1}");
    return ITEM(ask(c, "scopes", "{\"frameId\":1}"), "scopes", index);
}

static void test_variables(void **state)
{
    struct client c = open_client();
    launch_to_stop(&c);
    json_t *all = variables(&c, scope(&c, 0), "");
    assert_int_equal(json_array_size(all), 4);
    assert_string_equal(TEXT(json_array_get(all, 0), "value"), "130");
    json_t *acc = variables(&c, json_array_get(all, 1), "");
    assert_string_equal(TEXT(json_array_get(acc, 2), "evaluateName"), "acc.z");
    assert_string_equal(TEXT(json_array_get(acc, 2), "value"), "3");
    json_t *table = json_array_get(all, 2);
    assert_int_equal(INT(table, "indexedVariables"), 1000);
    assert_string_equal(TEXT(table, "memoryReference"), "0x10000");
    assert_int_equal(json_array_size(variables(&c, table, "")), 1000);
    json_t *part = variables(&c, table, ",\"filter\":\"indexed\",\"start\":990,\"count\":50");
    assert_int_equal(json_array_size(part), 10);
    assert_string_equal(TEXT(json_array_get(part, 0), "evaluateName"), "table[990]");
    assert_int_equal(json_array_size(variables(&c, table, ",\"filter\":\"named\"")), 0);
    json_t *gone = json_array_get(all, 3);
    assert_non_null(strstr(TEXT(gone, "value"), "optimised out"));
    assert_int_equal(INT(gone, "variablesReference"), 0);
    /* the same of all lanes */
    json_t *lanes = variables(&c, scope(&c, 1), "");
    assert_string_equal(TEXT(json_array_get(lanes, 0), "value"), "4 lanes");
    json_t *i_of = variables(&c, json_array_get(lanes, 0), "");
    assert_int_equal(json_array_size(i_of), 4);
    for (size_t i = 0; i < 4; i++) {
        char value[16];
        snprintf(value, sizeof(value), "%zu", 100 + 10 * i);
        assert_string_equal(TEXT(json_array_get(i_of, i), "value"), value);
    }
    json_t *registers = variables(&c, scope(&c, 2), "");
    assert_string_equal(TEXT(json_array_get(registers, 0), "value"),
                        "0x04030201 0x00000000 0x00000000 0x00000000 0x00000000 0x00000000 "
                        "0x00000000 0xff000000");
    assert_string_equal(TEXT(json_array_get(registers, 1), "value"), "0x800f");
    assert_string_equal(TEXT(json_array_get(registers, 1), "evaluateName"), "$f0.0");
    refused(&c, "variables", "{\"variablesReference\":0}");
    refused(&c, "variables", "{\"variablesReference\":4000000000}");
    /* references end with the stop */
    ask(&c, "next", "{\"threadId\":1}");
    assert_non_null(strstr(refused(&c, "variables", "{\"variablesReference\":1}"), "since"));
    finish(&c);
}

static void test_changes(void **state)
{
    struct client c = open_client();
    launch_to_stop(&c);
    char text[256];
    snprintf(text, sizeof(text), "{\"variablesReference\":%lld,\"name\":\"i\",\"value\":\"77\"}",
             (long long)INT(scope(&c, 0), "variablesReference"));
    assert_string_equal(TEXT(ask(&c, "setVariable", text), "value"), "77");
    event(&c, "invalidated");
    json_t *lanes = variables(&c, scope(&c, 1), "");
    json_t *row = json_array_get(lanes, 0);
    snprintf(text, sizeof(text),
             "{\"variablesReference\":%lld,\"name\":\"lane 2\",\"value\":\"5\"}",
             (long long)INT(row, "variablesReference"));
    ask(&c, "setVariable", text);
    json_t *i_of = variables(&c, row, "");
    assert_string_equal(TEXT(json_array_get(i_of, 2), "value"), "5");
    assert_string_equal(TEXT(json_array_get(i_of, 3), "value"), "77");
    assert_string_equal(TEXT(json_array_get(i_of, 0), "value"), "100");
    snprintf(text, sizeof(text), "{\"variablesReference\":%lld,\"name\":\"gone\",\"value\":\"1\"}",
             (long long)INT(scope(&c, 0), "variablesReference"));
    assert_non_null(strstr(refused(&c, "setVariable", text), "optimised out"));
    assert_string_equal(
        TEXT(ask(&c, "setExpression", "{\"expression\":\"i\",\"value\":\"6\",\"frameId\":1}"),
             "value"),
        "6");
    refused(&c, "setExpression", "{\"expression\":\"i\",\"value\":\"x\",\"frameId\":1}");
    finish(&c);
}

static void test_evaluate(void **state)
{
    struct client c = open_client();
    launch_to_stop(&c);
    ask(&c, "stackTrace", "{\"threadId\":2}");
    /* thread 2 is not in focus: its first lane that runs */
    assert_string_equal(TEXT(ask(&c, "evaluate", "{\"expression\":\"i\",\"frameId\":1}"), "result"),
                        "210");
    json_t *acc = ask(&c, "evaluate", "{\"expression\":\"acc\",\"context\":\"watch\"}");
    assert_string_equal(TEXT(json_array_get(variables(&c, acc, ""), 0), "evaluateName"), "acc.x");
    assert_non_null(strstr(refused(&c, "evaluate", "{\"expression\":\"gone\"}"), "optimised out"));
    assert_string_equal(
        TEXT(ask(&c, "evaluate", "{\"expression\":\"info threads\",\"context\":\"repl\"}"),
             "result"),
        "two\n");
    assert_string_equal(
        TEXT(ask(&c, "evaluate", "{\"expression\":\"i\",\"context\":\"repl\"}"), "result"), "130");
    refused(&c, "evaluate", "{\"expression\":\"info threads\",\"context\":\"hover\"}");
    refused(&c, "evaluate", "{}");
    finish(&c);
}

static void test_console(void **state)
{
    struct client c = open_client();
    launch_to_stop(&c);
#define TYPE(line) "{\"expression\":\"" line "\",\"context\":\"repl\"}"
    /* a variable comes before a command of the same name; a prefix says that it is a command */
    assert_string_equal(TEXT(ask(&c, "evaluate", TYPE("i")), "result"), "130");
    assert_string_equal(refused(&c, "evaluate", TYPE("`i")), "nothing to be informed of");
    assert_string_equal(refused(&c, "evaluate", TYPE("-exec i")), "nothing to be informed of");
    assert_non_null(strstr(refused(&c, "evaluate", TYPE("`nonsense")), "no command `nonsense`"));
    /* another focus: stacks are shown anew */
    ask(&c, "evaluate", TYPE("lane 0"));
    json_t *areas = member(event(&c, "invalidated"), "areas");
    while (json_array_size(areas) < 2)
        areas = member(event(&c, "invalidated"), "areas");
    assert_string_equal(json_string_value(json_array_get(areas, 0)), "stacks");
    assert_string_equal(TEXT(ask(&c, "evaluate", TYPE("`info threads")), "result"), "two\n");
    /* what it deletes is gone for the client */
    ask(&c, "evaluate", TYPE("delete 1"));
    json_t *removed = event(&c, "breakpoint");
    while (strcmp(TEXT(removed, "reason"), "removed") != 0)
        removed = event(&c, "breakpoint");
    assert_int_equal(INT(member(removed, "breakpoint"), "id"), 1);
    assert_string_equal(TEXT(ask(&c, "evaluate", TYPE("break 9")), "result"), "two\n");
    /* what runs is told, and its stop */
    unsigned stepped = fake.stepped;
    assert_string_equal(TEXT(ask(&c, "evaluate", TYPE("next")), "result"), "two\n");
    assert_int_equal(fake.stepped, stepped + 1);
    assert_int_equal(INT(event(&c, "continued"), "threadId"), 1);
    assert_string_equal(TEXT(event(&c, "stopped"), "reason"), "step");
#undef TYPE
    finish(&c);
}

static void test_completions(void **state)
{
    struct client c = open_client();
    launch_to_stop(&c);
    json_t *targets =
        member(ask(&c, "completions", "{\"text\":\"x pri y\",\"column\":6}"), "targets");
    assert_int_equal(json_array_size(targets), 1);
    json_t *target = json_array_get(targets, 0);
    assert_string_equal(TEXT(target, "label"), "print");
    assert_int_equal(INT(target, "start"), 3);
    assert_int_equal(INT(target, "length"), 3);
    /* characters outside of the basic plane are two columns */
    target = ITEM(ask(&c, "completions", "{\"text\":\"\\ud83d\\ude00 pri\",\"column\":7}"),
                  "targets", 0);
    assert_string_equal(TEXT(target, "label"), "print");
    assert_int_equal(INT(target, "start"), 4);
    target = ITEM(ask(&c, "completions", "{\"text\":\"-exec pri\",\"column\":99}"), "targets", 0);
    assert_string_equal(TEXT(target, "label"), "print");
    ask(&c, "completions", "{\"text\":\"-exec pri\",\"column\":-5}");
    ask(&c, "completions", "{\"text\":\"\",\"column\":1}");
    refused(&c, "completions", "{\"column\":1}");
    json_t *sources = member(ask(&c, "loadedSources", "{}"), "sources");
    assert_int_equal(json_array_size(sources), 1);
    assert_string_equal(TEXT(json_array_get(sources, 0), "path"), "/src/k.cl");
    finish(&c);
}

static void test_steps(void **state)
{
    static const struct {
        const char *request, *arguments;
        enum zs_debug_step step;
        uint32_t thread;
    } rows[] = {
        {"next", "{\"threadId\":1}", ZS_DEBUG_STEP_NEXT, 1},
        {"next", "{\"threadId\":2,\"granularity\":\"instruction\"}", ZS_DEBUG_STEP_INST_NEXT, 2},
        {"stepBack", "{\"threadId\":1}", ZS_DEBUG_STEP_NEXT, 1},
        {"stepBack", "{\"threadId\":2,\"granularity\":\"instruction\"}", ZS_DEBUG_STEP_INST_NEXT,
         2},
        {"stepIn", "{\"threadId\":1,\"granularity\":\"line\"}", ZS_DEBUG_STEP_IN, 1},
        {"stepIn", "{\"threadId\":1,\"granularity\":\"instruction\"}", ZS_DEBUG_STEP_INST, 1},
        {"stepOut", "{\"threadId\":2}", ZS_DEBUG_STEP_OUT, 2},
    };
    struct client c = open_client();
    launch_to_stop(&c);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        ask(&c, rows[i].request, rows[i].arguments);
        json_t *stop = event(&c, "stopped");
        assert_string_equal(TEXT(stop, "reason"), "step");
        assert_int_equal(INT(stop, "threadId"), rows[i].thread);
        assert_int_equal(fake.stepped, i + 1);
        assert_int_equal(fake.step, rows[i].step);
        assert_int_equal(fake.step_thread, rows[i].thread);
    }
    ask(&c, "reverseContinue", "{\"threadId\":1}");
    json_t *beginning = event(&c, "stopped");
    assert_string_equal(TEXT(beginning, "reason"), "entry");
    assert_string_equal(TEXT(beginning, "description"), "The beginning of the launch");
    refused(&c, "next", "{\"threadId\":77}");
    refused(&c, "next", "{}");
    refused(&c, "stepBack", "{\"threadId\":77}");
    refused(&c, "reverseContinue", "{}");
    finish(&c);
}

/* Into one of the functions of a line, and to another line. */
static void test_targets(void **state)
{
    struct client c = open_client();
    launch_to_stop(&c);
    ask(&c, "stackTrace", "{\"threadId\":1}");
    json_t *body = ask(&c, "stepInTargets", "{\"frameId\":1}");
    assert_int_equal(json_array_size(member(body, "targets")), 2);
    assert_string_equal(TEXT(ITEM(body, "targets", 0), "label"), "pull");
    assert_string_equal(TEXT(ITEM(body, "targets", 1), "label"), "??");
    int into = (int)INT(ITEM(body, "targets", 0), "id");
    /* the caller is in the midst of its call */
    body = ask(&c, "stepInTargets", "{\"frameId\":2}");
    assert_int_equal(json_array_size(member(body, "targets")), 0);
    refused(&c, "stepInTargets", "{\"frameId\":77}");
    body = ask(&c, "gotoTargets", "{\"source\":{\"path\":\"/src/k.cl\"},\"line\":9}");
    json_t *target = ITEM(body, "targets", 0);
    assert_int_equal(INT(target, "line"), 9);
    assert_string_equal(TEXT(target, "instructionPointerReference"), "0x4090");
    assert_true(INT(target, "id") != into);
    refused(&c, "gotoTargets", "{\"line\":9}");
    refused(&c, "gotoTargets", "{\"source\":{\"path\":\"/src/k.cl\"},\"line\":0}");
    char text[128];
    snprintf(text, sizeof(text), "{\"threadId\":2,\"targetId\":%d}", (int)INT(target, "id"));
    assert_non_null(strstr(refused(&c, "goto", text), "other lanes"));
    refused(&c, "goto", "{\"threadId\":1,\"targetId\":77}");
    snprintf(text, sizeof(text), "{\"threadId\":1,\"targetId\":%d}", (int)INT(target, "id"));
    int sequence = post(&c, "goto", text);
    size_t answered = json_array_size(c.messages);
    work(&c);
    assert_true(json_is_true(member(response(&c, sequence), "success")));
    /* the answer, then the stop */
    assert_string_equal(TEXT(json_array_get(c.messages, answered), "type"), "response");
    json_t *stop = event(&c, "stopped");
    assert_string_equal(TEXT(stop, "reason"), "goto");
    assert_int_equal(INT(stop, "threadId"), 1);
    assert_int_equal(fake.jump_va, 0x4090);
    body = ask(&c, "stackTrace", "{\"threadId\":1}");
    assert_int_equal(INT(ITEM(body, "stackFrames", 0), "line"), 9);
    /* targets end with the stop */
    assert_non_null(strstr(refused(&c, "goto", text), "since"));
    snprintf(text, sizeof(text), "{\"threadId\":1,\"targetId\":%d}", into);
    assert_non_null(strstr(refused(&c, "stepIn", text), "since"));
    ask(&c, "stepInTargets", "{}");
    ask(&c, "stepIn", "{\"threadId\":1,\"targetId\":2}");
    assert_int_equal(fake.step_va, 0x4050);
    assert_string_equal(TEXT(event(&c, "stopped"), "reason"), "step");
    finish(&c);
}

static void test_restart(void **state)
{
    struct client c = open_client();
    launch(&c, "{\"program\":\"waits\",\"args\":[\"a\"]}", NULL, NULL);
    ask(&c, "restart", "{}");
    assert_int_equal(fake.killed, 1);
    assert_string_equal(fake.argv, "waits a");
    event(&c, "process");
    event(&c, "process");
    ask(&c, "restart", "{\"arguments\":{\"program\":\"waits\",\"args\":[\"b\"]}}");
    assert_string_equal(fake.argv, "waits b");
    ask(&c, "pause", "{\"threadId\":2147483647}");
    event(&c, "stopped");
    assert_non_null(strstr(refused(&c, "restart", "{\"arguments\":{}}"), "`program`"));
    assert_int_equal(fake.killed, 2);
    ask(&c, "restart", "{}");
    event(&c, "continued");
    ask(&c, "threads", "{}");
    /* what cannot be started ends the session */
    refused(&c, "restart", "{\"arguments\":{\"program\":\"missing\"}}");
    event(&c, "terminated");
    finish(&c);
    c = open_client();
    start(&c);
    ask(&c, "initialize", "{}");
    post(&c, "attach", "{\"pid\":55}");
    ask(&c, "configurationDone", "{}");
    assert_non_null(strstr(refused(&c, "restart", "{}"), "attached"));
    finish(&c);
}

static void test_pause_and_attach(void **state)
{
    struct client c = open_client();
    start(&c);
    ask(&c, "initialize", "{}");
    refused(&c, "attach", "{\"pid\":0}");
    post(&c, "attach", "{\"pid\":55}");
    ask(&c, "configurationDone", "{}");
    json_t *threads = ask(&c, "threads", "{}");
    assert_int_equal(INT(ITEM(threads, "threads", 0), "id"), ZS_DAP_DEVICE);
    ask(&c, "pause", "{\"threadId\":2147483647}");
    json_t *stop = event(&c, "stopped");
    assert_string_equal(TEXT(stop, "reason"), "pause");
    assert_int_equal(INT(stop, "threadId"), ZS_DAP_DEVICE);
    json_t *stack = ask(&c, "stackTrace", "{\"threadId\":2147483647}");
    assert_int_equal(INT(stack, "totalFrames"), 0);
    refused(&c, "pause", "{}");
    ask(&c, "disconnect", "{}");
    finish(&c);
    assert_int_equal(fake.detached, 1);
    assert_int_equal(fake.killed, 0);
}

static void test_disconnect_kills(void **state)
{
    struct client c = open_client();
    launch(&c, "{\"program\":\"waits\"}", NULL, NULL);
    ask(&c, "disconnect", "{}");
    finish(&c);
    assert_int_equal(fake.killed, 1);
    c = open_client();
    launch(&c, "{\"program\":\"waits\"}", NULL, NULL);
    ask(&c, "disconnect", "{\"terminateDebuggee\":false}");
    finish(&c);
    assert_int_equal(fake.killed, 0);
    assert_int_equal(fake.detached, 1);
}

static void test_fault(void **state)
{
    struct client c = open_client();
    launch(&c, "{\"program\":\"faults\"}", "setExceptionBreakpoints", "{\"filters\":[\"fault\"]}");
    json_t *stop = event(&c, "stopped");
    assert_string_equal(TEXT(stop, "reason"), "exception");
    assert_string_equal(TEXT(stop, "text"), "read of 4 bytes at 0x1234 by `p`");
    json_t *info = ask(&c, "exceptionInfo", "{\"threadId\":1}");
    assert_string_equal(TEXT(info, "exceptionId"), "fault");
    assert_string_equal(TEXT(info, "description"), "read of 4 bytes at 0x1234 by `p`");
    finish(&c);
    c = open_client();
    launch(&c, "{\"program\":\"faults\"}", "setExceptionBreakpoints", "{\"filters\":[]}");
    event(&c, "terminated");
    assert_int_equal(fake.continued, 1);
    refused(&c, "setExceptionBreakpoints", "{\"filters\":[\"other\"]}");
    finish(&c);
}

static void test_disassembly(void **state)
{
    struct client c = open_client();
    launch_to_stop(&c);
    /* of 20 instructions: 4 before the first are none, and 1 behind the last */
    json_t *body = ask(&c, "disassemble",
                       "{\"memoryReference\":\"0x4020\",\"instructionOffset\":-6,"
                       "\"instructionCount\":25}");
    json_t *insts = member(body, "instructions");
    assert_int_equal(json_array_size(insts), 25);
    for (size_t i = 0; i < 25; i++) {
        json_t *inst = json_array_get(insts, i);
        char va[32];
        snprintf(va, sizeof(va), "0x%zx", 0x4000 + 16 * i - 64);
        assert_string_equal(TEXT(inst, "address"), va);
        assert_int_equal(json_object_get(inst, "presentationHint") != NULL, i < 4 || i >= 24);
    }
    assert_string_equal(TEXT(json_array_get(insts, 4), "symbol"), "kernel_k");
    assert_string_equal(TEXT(json_array_get(insts, 5), "instruction"), "mov (8) r1:d r0:d");
    assert_int_equal(INT(json_array_get(insts, 5), "line"), 2);
    body = ask(&c, "disassemble",
               "{\"memoryReference\":\"0x4000\",\"instructionOffset\":3,\"instructionCount\":1}");
    assert_string_equal(TEXT(ITEM(body, "instructions", 0), "address"), "0x4030");
    body = ask(&c, "disassemble", "{\"memoryReference\":\"0x9000\",\"instructionCount\":2}");
    assert_string_equal(TEXT(ITEM(body, "instructions", 1), "presentationHint"), "invalid");
    refused(&c, "disassemble", "{\"memoryReference\":\"i\",\"instructionCount\":2}");
    refused(&c, "disassemble", "{\"memoryReference\":\"0x4000\",\"instructionCount\":99999999}");
    finish(&c);
}

static void test_memory(void **state)
{
    struct client c = open_client();
    launch_to_stop(&c);
    json_t *body = ask(&c, "readMemory", "{\"memoryReference\":\"0x10000\",\"count\":4}");
    assert_string_equal(TEXT(body, "data"), "AAECAw==");
    body = ask(&c, "readMemory", "{\"memoryReference\":\"0x10001\",\"offset\":-1,\"count\":3}");
    assert_string_equal(TEXT(body, "data"), "AAEC");
    /* memory ends at 0x12000 */
    body = ask(&c, "readMemory", "{\"memoryReference\":\"0x11fff\",\"count\":5}");
    assert_string_equal(TEXT(body, "data"), "/w==");
    assert_int_equal(INT(body, "unreadableBytes"), 4);
    body = ask(&c, "readMemory", "{\"memoryReference\":\"0x9000\",\"count\":5}");
    assert_int_equal(INT(body, "unreadableBytes"), 5);
    body = ask(&c, "writeMemory", "{\"memoryReference\":\"0x10000\",\"data\":\"/+78\"}");
    assert_int_equal(INT(body, "bytesWritten"), 3);
    json_t *changed = event(&c, "memory");
    assert_string_equal(TEXT(changed, "memoryReference"), "0x10000");
    assert_int_equal(INT(changed, "count"), 3);
    body = ask(&c, "readMemory", "{\"memoryReference\":\"0x10000\",\"count\":4}");
    assert_string_equal(TEXT(body, "data"), "/+78Aw==");
    static const char *const bad[] = {"A", "AAA", "A===", "AA=A", "AA==AAAA", "A\\u00e4==", "AAA*"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char text[128];
        snprintf(text, sizeof(text), "{\"memoryReference\":\"0x10000\",\"data\":\"%s\"}", bad[i]);
        assert_non_null(strstr(refused(&c, "writeMemory", text), "base64"));
    }
    refused(&c, "writeMemory", "{\"memoryReference\":\"0x9000\",\"data\":\"AA==\"}");
    refused(&c, "readMemory", "{\"memoryReference\":\"0x10000\",\"count\":999999999}");
    refused(&c, "readMemory", "{\"memoryReference\":\"0xffffffffffffffff\",\"count\":9}");
    finish(&c);
}

static void test_cancel(void **state)
{
    struct client c = open_client();
    launch_to_stop(&c);
    /* one that waits */
    int waiting = post(&c, "evaluate", "{\"expression\":\"i\"}");
    char text[160];
    snprintf(text, sizeof(text), "{\"requestId\":%d}", waiting);
    int cancel = post(&c, "cancel", text);
    work(&c);
    assert_string_equal(TEXT(response(&c, waiting), "message"), "cancelled");
    assert_true(json_is_true(member(response(&c, cancel), "success")));
    /* one that is being answered */
    json_t *table = json_array_get(variables(&c, scope(&c, 0), ""), 2);
    snprintf(text, sizeof(text), "{\"variablesReference\":%lld}",
             (long long)INT(table, "variablesReference"));
    int long_one = post(&c, "variables", text);
    char cancel_text[160];
    snprintf(cancel_text, sizeof(cancel_text),
             "{\"seq\":%d,\"type\":\"request\",\"command\":\"cancel\",\"arguments\":"
             "{\"requestId\":%d}}",
             ++c.sequence, long_one);
    c.at_poll = cancel_text;
    work(&c);
    assert_string_equal(TEXT(response(&c, long_one), "message"), "cancelled");
    finish(&c);
}

static void test_output(void **state)
{
    struct client c = open_client();
    start(&c);
    zs_dap_output(c.dap, false, "a\xc3", 2);
    zs_dap_output(c.dap, true, "err\n", 4);
    zs_dap_output(c.dap, false, "\xa4", 1);
    zs_dap_output(c.dap, false, "\xff", 1);
    zs_dap_output(c.dap, false, NULL, 0);
    static const char *const texts[] = {"a", "err\n", "\xc3\xa4", "\xef\xbf\xbd"};
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(TEXT(event(&c, "output"), "output"), texts[i]);
    finish(&c);
}

/* What is no message of the protocol: an answer where a message can be found, else the end. */
static void test_bad_messages(void **state)
{
    static const struct {
        const char *bytes;
        bool ends;
    } rows[] = {
        {"Content-Length: 1\r\n\r\n{", false},
        {"Content-Length: 2\r\n\r\n[]", false},
        {"Content-Length: 2\r\n\r\n{}", false},
        {"Content-Length: 0\r\n\r\n", false},
        {"content-length:22\r\nX: y\r\n\r\n{\"type\":\"request\", \"a\"", false},
        {"Content-Length: 34\r\n\r\n{\"seq\":\"1\",\"type\":\"request\",\"c\":1}", false},
        {"Content-Length: 3\r\n\r\n\"\xff\"", false},
        {"Content-Length: x\r\n\r\n{}", true},
        {"Content-Length: -1\r\n\r\n{}", true},
        {"Content-Length: \r\n\r\n{}", true},
        {"Content-Length: 99999999999\r\n\r\n{}", true},
        {"Content-Length: 99999999999999999999999\r\n\r\n{}", true},
        {"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", true},
        {"Content-Type: 2\r\n\r\n{}", true},
        {"\r\n\r\n", true},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct client c = open_client();
        start(&c);
        zs_dap_feed(c.dap, rows[i].bytes, strlen(rows[i].bytes));
        work(&c);
        assert_int_equal(json_array_size(c.messages), 1);
        if (zs_dap_ended(c.dap) != rows[i].ends)
            fail_msg("row %zu", i);
        if (!rows[i].ends) {
            assert_true(json_is_false(member(json_array_get(c.messages, 0), "success")));
            ask(&c, "initialize", "{}");
        }
        finish(&c);
    }
    struct client c = open_client();
    start(&c);
    char *junk = calloc(1, 8192);
    memset(junk, 'x', 8192);
    zs_dap_feed(c.dap, junk, 8192);
    assert_true(zs_dap_ended(c.dap));
    free(junk);
    finish(&c);
}

/* Messages come in any pieces. */
static void test_pieces(void **state)
{
    static const char text[] =
        "Content-Length: 46\r\n\r\n{\"seq\":1,\"type\":\"request\",\"command\":\"threads\"}"
        "Content-Length: 46\r\n\r\n{\"seq\":2,\"type\":\"request\",\"command\":\"threads\"}";
    for (size_t cut = 1; cut < sizeof(text) - 1; cut++) {
        struct client c = open_client();
        start(&c);
        zs_dap_feed(c.dap, text, cut);
        zs_dap_feed(c.dap, text + cut, sizeof(text) - 1 - cut);
        work(&c);
        assert_non_null(response(&c, 1));
        assert_non_null(response(&c, 2));
        finish(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lifecycle),
        cmocka_unit_test(test_launch_fails),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_breakpoints),
        cmocka_unit_test(test_log_point),
        cmocka_unit_test(test_stop_on_entry),
        cmocka_unit_test(test_stack),
        cmocka_unit_test(test_variables),
        cmocka_unit_test(test_changes),
        cmocka_unit_test(test_evaluate),
        cmocka_unit_test(test_console),
        cmocka_unit_test(test_completions),
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_targets),
        cmocka_unit_test(test_restart),
        cmocka_unit_test(test_pause_and_attach),
        cmocka_unit_test(test_disconnect_kills),
        cmocka_unit_test(test_fault),
        cmocka_unit_test(test_disassembly),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_output),
        cmocka_unit_test(test_bad_messages),
        cmocka_unit_test(test_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
