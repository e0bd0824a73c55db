/* SPDX-License-Identifier: MIT */
/*
 * usage: debug_attach [--others KERNEL | --at KERNEL OFFSET] COMMAND...
 *
 * Runs a command with a debugger attached from its beginning: events are acknowledged, and
 * breakpoints set in all kernels but one, where their threads begin, or in one at an offset. None
 * of them may be hit. The status is the command's.
 */
#include "give_up.h"

#include <level_zero/zet_api.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ENTRY_AT_B = 24, COMPACT_BIT = 29, BREAKPOINT_BIT = 30, COMPACT_BREAKPOINT_BIT = 7 };

static const ze_device_thread_t everyone = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};

static struct {
    zet_debug_session_handle_t session;
    const char *others, *at; /* kernels, NULL: no breakpoint of this kind */
    uint64_t offset_B;
    uint32_t set; /* breakpoints */
} debugger;

static void ok(ze_result_t result, const char *what)
{
    if (result != ZE_RESULT_SUCCESS)
        give_up("%s: 0x%x", what, (unsigned)result);
}

static void access_memory(uint64_t va, void *bytes, size_t size_B, bool write)
{
    const zet_debug_memory_space_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_DEBUG_MEMORY_SPACE_DESC,
                                                .address = va};
    ok(write ? zetDebugWriteMemory(debugger.session, everyone, &desc, size_B, bytes)
             : zetDebugReadMemory(debugger.session, everyone, &desc, size_B, bytes),
       write ? "zetDebugWriteMemory" : "zetDebugReadMemory");
}

static void set_breakpoint(uint64_t va)
{
    uint32_t word;
    access_memory(va, &word, sizeof(word), false);
    word |= word >> COMPACT_BIT & 1 ? 1u << COMPACT_BREAKPOINT_BIT : 1u << BREAKPOINT_BIT;
    access_memory(va, &word, sizeof(word), true);
    debugger.set++;
}

static bool is_of(const uint8_t *elf, size_t size_B, const char *kernel)
{
    size_t length = strlen(kernel) + 1;
    for (size_t i = 0; i + length < size_B; i++) {
        if (elf[i] == '\0' && memcmp(elf + i + 1, kernel, length) == 0)
            return true;
    }
    return false;
}

static void take_module(const zet_debug_event_t *event)
{
    uint64_t begin = event->info.module.moduleBegin, load = event->info.module.load, entry;
    size_t size_B = (size_t)(event->info.module.moduleEnd - begin);
    uint8_t *elf = malloc(size_B + 1);
    if (!elf || size_B < ENTRY_AT_B + sizeof(entry))
        give_up("an ELF of %zu bytes", size_B);
    access_memory(begin, elf, size_B, false);
    memcpy(&entry, elf + ENTRY_AT_B, sizeof(entry));
    if (debugger.others && !is_of(elf, size_B, debugger.others))
        set_breakpoint(entry < load ? load + entry : entry);
    if (debugger.at && is_of(elf, size_B, debugger.at))
        set_breakpoint(load + debugger.offset_B);
    free(elf);
}

static void serve(void)
{
    zet_debug_event_t event = {.type = ZET_DEBUG_EVENT_TYPE_INVALID};
    while (event.type != ZET_DEBUG_EVENT_TYPE_DETACHED) {
        ok(zetDebugReadEvent(debugger.session, UINT64_MAX, &event), "zetDebugReadEvent");
        if (event.type == ZET_DEBUG_EVENT_TYPE_MODULE_LOAD)
            take_module(&event);
        if (event.type == ZET_DEBUG_EVENT_TYPE_THREAD_STOPPED)
            give_up("a breakpoint was hit");
        if (event.flags & ZET_DEBUG_EVENT_FLAG_NEED_ACK)
            ok(zetDebugAcknowledgeEvent(debugger.session, &event), "zetDebugAcknowledgeEvent");
    }
}

/* The command, by a shell that waits for a line. */
static pid_t start(char **command, int *ret_go)
{
    int go[2];
    int count = 0;
    while (command[count])
        count++;
    char **args = calloc((size_t)count + 5, sizeof(*args));
    if (!args || pipe(go) != 0)
        give_up("no pipe");
    static char shell[] = "sh", flag[] = "-c", script[] = "read line; exec \"$@\" < /dev/null";
    args[0] = args[3] = shell;
    args[1] = flag;
    args[2] = script;
    memcpy(args + 4, command, (size_t)count * sizeof(*args));
    pid_t pid = fork();
    if (pid == 0) {
        dup2(go[0], 0);
        close(go[0]);
        close(go[1]);
        setenv("ZET_ENABLE_PROGRAM_DEBUGGING", "1", 1);
        execv("/bin/sh", args);
        _exit(127);
    }
    free(args);
    close(go[0]);
    *ret_go = go[1];
    return pid;
}

static void attach(pid_t pid)
{
    const zet_debug_config_t config = {.pid = (uint32_t)pid};
    uint32_t one = 1;
    ze_driver_handle_t driver;
    ze_device_handle_t device;
    ok(zeInit(0), "zeInit");
    ok(zeDriverGet(&one, &driver), "zeDriverGet");
    ok(zeDeviceGet(driver, &one, &device), "zeDeviceGet");
    ze_result_t result = ZE_RESULT_ERROR_UNSUPPORTED_FEATURE; /* until it is the shell */
    for (int i = 0; i < 5000 && result == ZE_RESULT_ERROR_UNSUPPORTED_FEATURE; i++) {
        result = zetDebugAttach(device, &config, &debugger.session);
        if (result == ZE_RESULT_ERROR_UNSUPPORTED_FEATURE)
            usleep(1000);
    }
    ok(result, "zetDebugAttach");
}

int main(int argc, char **argv)
{
    int at = 1, status = 0, go;
    if (argc > 3 && strcmp(argv[1], "--others") == 0) {
        debugger.others = argv[2];
        at = 3;
    } else if (argc > 4 && strcmp(argv[1], "--at") == 0) {
        debugger.at = argv[2];
        debugger.offset_B = strtoull(argv[3], NULL, 0);
        at = 4;
    }
    if (at >= argc)
        give_up("usage: %s [--others KERNEL | --at KERNEL OFFSET] COMMAND...", argv[0]);
    pid_t pid = start(argv + at, &go);
    attach(pid);
    if (write(go, "\n", 1) != 1)
        give_up("the shell is gone");
    close(go);
    serve();
    ok(zetDebugDetach(debugger.session), "zetDebugDetach");
    if (waitpid(pid, &status, 0) != pid)
        give_up("it is gone");
    if ((debugger.others || debugger.at) && !debugger.set)
        give_up("no breakpoint was set");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
