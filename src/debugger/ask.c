/* SPDX-License-Identifier: MIT */
/* Recorded launches: what is asked of the driver (wire/history.h). */
#include "debugger/debugger_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WAIT_US = 500 };

static const ze_device_thread_t everyone = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};

static const char *const lacks[ZS_HISTORY_LACK_COUNT] = {
    [ZS_HISTORY_WHOLE] = "it does not reach there",
    [ZS_HISTORY_NOT_RECORDED] = "the launch was not recorded: it had begun before there was a "
                                "breakpoint in its kernel, a watchpoint, or 'set record on'",
    [ZS_HISTORY_MODIFIED] = "the debugger has changed memory while the launch ran",
    [ZS_HISTORY_TOO_LARGE] = "the launch has written or done more than is kept",
    [ZS_HISTORY_UNKNOWN] = "a message of the kernel wrote what cannot be foreseen",
    [ZS_HISTORY_SHARED] = "another launch ran at the same time, which may have written the memory",
    [ZS_HISTORY_OTHERWISE] = "executing the launch again took another course: the application or "
                             "another launch has changed memory meanwhile",
    [ZS_HISTORY_NO_MEMORY] = "there was no memory for its record",
    [ZS_HISTORY_NOWHERE] = "a thread stood where the code that the debugger has written has no "
                           "instruction",
};

const char *zs_dbg_history_lack(uint32_t lack)
{
    return lack < ZS_HISTORY_LACK_COUNT ? lacks[lack] : "its record is of no use";
}

struct zs_history_request zs_dbg_history_request(enum zs_history_op op,
                                                 const struct zs_dbg_thread *t)
{
    ze_device_thread_t place = t ? t->place : everyone;
    return (struct zs_history_request){
        .magic = ZS_HISTORY_MAGIC,
        .version = ZS_HISTORY_VERSION,
        .op = op,
        .thread = {place.slice, place.subslice, place.eu, place.thread}};
}

static int not_offered(struct zs_diag *diag)
{
    return zs_diag_set(diag, -ENOTSUP, ZS_DIAG_NO_OFFSET,
                       "the device's driver does not offer it: going back, watchpoints and "
                       "launches by number need zescope's software GPU");
}

int zs_dbg_history_ask(struct zs_debugger *d, struct zs_history_request *request,
                       struct zs_diag *diag)
{
    if (!d->session)
        return zs_diag_set(diag, -ECHILD, ZS_DIAG_NO_OFFSET, "nothing is being debugged");
    if (!d->history)
        d->history = malloc(sizeof(*d->history));
    if (!d->history)
        return -ENOMEM;
    struct zs_history_answer *a = d->history;
    ze_result_t result = d->ze.zetDebugWriteRegisters(d->session, everyone, ZS_HISTORY_SET, 0,
                                                      sizeof(*request) / 8, request);
    if (!result)
        result =
            d->ze.zetDebugReadRegisters(d->session, everyone, ZS_HISTORY_SET, 0, sizeof(*a) / 8, a);
    if (result == ZE_RESULT_ERROR_DEVICE_LOST)
        return zs_dbg_result(result, "the launch's record", diag);
    if (result || a->magic != ZS_HISTORY_MAGIC || a->version != ZS_HISTORY_VERSION)
        return not_offered(diag);
    if (a->error == -ENODATA)
        return zs_diag_set(diag, -ENODATA, ZS_DIAG_NO_OFFSET, "there is no way back: %s",
                           zs_dbg_history_lack(a->lack));
    if (a->error == -EBUSY)
        return zs_diag_set(diag, -EBUSY, ZS_DIAG_NO_OFFSET,
                           "threads of the launch run: interrupt them first");
    return a->error ? zs_diag_set(diag, a->error, ZS_DIAG_NO_OFFSET, "the driver refuses it: %s",
                                  strerror(-a->error))
                    : 0;
}

int zs_dbg_history_wait(struct zs_debugger *d, const struct zs_dbg_thread *t, struct zs_diag *diag)
{
    for (;;) {
        struct zs_history_request status = zs_dbg_history_request(ZS_HISTORY_STATUS, t);
        int error = zs_dbg_history_ask(d, &status, diag);
        if (error || !(d->history->flags & ZS_HISTORY_BUSY))
            return error;
        if (atomic_exchange(&d->interrupt_wanted, false)) {
            struct zs_history_request cancel = zs_dbg_history_request(ZS_HISTORY_CANCEL, NULL);
            (void)zs_dbg_history_ask(d, &cancel, NULL);
        }
        usleep(WAIT_US);
    }
}

static int tell_mode(struct zs_debugger *d, struct zs_diag *diag)
{
    struct zs_history_request request = zs_dbg_history_request(ZS_HISTORY_MODE, NULL);
    request.mode = (uint32_t)d->record;
    return zs_dbg_history_ask(d, &request, diag);
}

void zs_dbg_history_told(struct zs_debugger *d)
{
    if (d->record_told)
        return;
    d->record_told = true;
    (void)tell_mode(d, NULL); /* other drivers refuse it */
}

int zs_debug_record(struct zs_debugger *d, enum zs_debug_record record, struct zs_diag *diag)
{
    _Static_assert((int)ZS_DEBUG_RECORD_AUTO == (int)ZS_HISTORY_AUTO &&
                       (int)ZS_DEBUG_RECORD_ON == (int)ZS_HISTORY_ON,
                   "the same numbers");
    if ((uint32_t)record > ZS_DEBUG_RECORD_ON)
        return -EINVAL;
    d->record = record;
    return d->session && d->record_told ? tell_mode(d, diag) : 0;
}

const struct zs_history_items *zs_dbg_items(struct zs_debugger *d, struct zs_dbg_thread *t)
{
    if (t->items_state == ZS_DBG_ITEMS_UNASKED) {
        struct zs_history_request ask = zs_dbg_history_request(ZS_HISTORY_ITEMS, t);
        bool known = !zs_dbg_history_ask(d, &ask, NULL) && d->history->count;
        t->items_state = known ? ZS_DBG_ITEMS_KNOWN : ZS_DBG_ITEMS_NONE;
        if (known)
            t->items = d->history->items;
    }
    return t->items_state == ZS_DBG_ITEMS_KNOWN ? &t->items : NULL;
}
