/* SPDX-License-Identifier: MIT */
/*
 * Breakpoints: a location as it was given, and the places that it means in the code that is loaded.
 * The driver is told of those that watch memory.
 */
#include "debugger/debugger_priv.h"

#include "correlate/value_check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_SEARCH = 64 };

static void set_all(struct zs_debugger *d, const struct zs_dbg_breakpoint *b, bool on)
{
    for (size_t i = 0; i < b->places.count; i++) {
        if (on)
            zs_dbg_insert(d, b->places.items[i].gpu_va);
        else
            zs_dbg_take_out(d, b->places.items[i].gpu_va);
    }
}

/* ---- locations ---- */

bool zs_dbg_breakpoint_is_at(const struct zs_dbg_breakpoint *b, uint64_t va)
{
    for (size_t i = 0; i < b->places.count; i++)
        if (b->places.items[i].gpu_va == va)
            return true;
    return false;
}

static void add_place(struct zs_debugger *d, struct zs_dbg_breakpoint *b,
                      struct zs_debug_place place)
{
    if (zs_dbg_breakpoint_is_at(b, place.gpu_va) || !ZS_VEC_PUSH(&b->places, place))
        return;
    if (b->shown.enabled)
        zs_dbg_insert(d, place.gpu_va);
}

static void add_address(struct zs_debugger *d, struct zs_dbg_breakpoint *b, uint64_t va)
{
    const struct zs_dbg_kernel *k = zs_dbg_kernel_at(d, va);
    uint32_t index = zs_dbg_inst_at(k, va);
    if (index == ZS_NO_INDEX || k->va + zs_isa_inst_offset(k->isa, index) != va)
        return;
    const struct zs_line_row *row = zs_dbg_row_at(k, va);
    add_place(d, b,
              (struct zs_debug_place){.gpu_va = va,
                                      .kernel = k->name,
                                      .file = row ? k->info->files[row->file].path : NULL,
                                      .line = row ? row->line : 0});
}

static bool parse_number(const char *text, uint64_t *ret, const char **ret_end)
{
    char *end;
    errno = 0;
    *ret = strtoull(text, &end, 0);
    *ret_end = end;
    return end != text && !errno;
}

/* "*0x1234", "*kernel+0x20"; "*kernel" is where its threads begin */
static void resolve_address(struct zs_debugger *d, struct zs_dbg_breakpoint *b)
{
    const char *text = b->location + 1, *end;
    uint64_t va, offset_B = 0;
    if (parse_number(text, &va, &end)) {
        if (!*end)
            add_address(d, b, va);
        return;
    }
    const char *plus = strrchr(text, '+');
    size_t length = plus ? (size_t)(plus - text) : strlen(text);
    if (plus && (!parse_number(plus + 1, &offset_B, &end) || *end))
        return;
    for (size_t i = 0; i < d->modules.count; i++)
        for (uint32_t k = 0; k < d->modules.items[i]->count; k++) {
            const struct zs_dbg_kernel *kernel = &d->modules.items[i]->kernels[k];
            if (strlen(kernel->name) == length && !strncmp(kernel->name, text, length))
                add_address(d, b, kernel->va + (offset_B ? offset_B : kernel->entry_B));
        }
}

/* The line itself, or the next one that has code. */
static void resolve_line(struct zs_debugger *d, struct zs_dbg_breakpoint *b, const char *file,
                         uint32_t line)
{
    struct zs_debug_place places[256];
    for (uint32_t next = 0; next < LINE_SEARCH; next++) {
        int count = zs_debug_line_places(d, file, line + next, places, ZS_ARRAY_LEN(places));
        for (int i = 0; i < count && i < (int)ZS_ARRAY_LEN(places); i++)
            add_place(d, b, places[i]);
        if (count > 0)
            return;
    }
}

/* Behind the prologue: the first instruction that has a line other than the function's head. From
 * XeHPG on kernels begin with code that loads what threads may have without it, and which then is
 * not executed: it has the function's last line. */
static uint64_t body_of(const struct zs_dbg_kernel *k, const struct zs_frame *f, uint32_t begin_B,
                        uint32_t end_B)
{
    uint32_t last;
    const struct zs_line_row *head = NULL,
                             *first = zs_value_first_line(k->info, f, begin_B, end_B, &last);
    for (uint32_t r = 0; r < k->info->row_count; r++) {
        const struct zs_line_row *row = &k->info->rows[r];
        if (row->offset_B < begin_B || row->offset_B >= end_B || !row->line)
            continue;
        if (first && row->line == last && row->offset_B < first->offset_B)
            return k->va + first->offset_B;
        if (row->flags & ZS_ROW_PROLOGUE_END || (head && row->line != head->line))
            return k->va + row->offset_B;
        head = head ? head : row;
    }
    return k->va + (head ? head->offset_B : begin_B);
}

uint64_t zs_dbg_body_at(const struct zs_dbg_kernel *k, uint64_t va)
{
    uint32_t f = zs_dbg_function_at(k, va);
    if (f == ZS_NO_INDEX)
        return va;
    const struct zs_scope *scope = &k->info->scopes[k->info->frames[f].scope];
    const struct zs_code_range *range = &k->info->ranges[scope->range_first];
    return body_of(k, &k->info->frames[f], range->begin_B, range->end_B);
}

static void resolve_function_in(struct zs_debugger *d, struct zs_dbg_breakpoint *b,
                                const struct zs_dbg_kernel *k)
{
    for (uint32_t f = 0; k->info && f < k->info->frame_count; f++) {
        const struct zs_frame *frame = &k->info->frames[f];
        if (strcmp(frame->function, b->location) != 0 || frame->scope == ZS_NO_INDEX)
            continue;
        const struct zs_scope *scope = &k->info->scopes[frame->scope];
        if (!scope->range_count)
            continue;
        const struct zs_code_range *range = &k->info->ranges[scope->range_first];
        uint64_t va = frame->parent == ZS_NO_INDEX ? body_of(k, frame, range->begin_B, range->end_B)
                                                   : k->va + range->begin_B;
        /* what stands in front of where threads begin is not executed */
        add_address(d, b, ZS_MAX(va, k->va + k->entry_B));
    }
    if (!strcmp(k->name, b->location) && (!k->info || !k->info->frame_count))
        add_address(d, b, k->va + k->entry_B);
}

/* A branch that some of its lanes may take alone. */
static bool may_part(const struct zs_isa_inst *inst)
{
    static const uint8_t ops[] = {ZS_OP_IF,    ZS_OP_BREAK, ZS_OP_CONT, ZS_OP_GOTO,
                                  ZS_OP_WHILE, ZS_OP_BRD,   ZS_OP_CALL, ZS_OP_RET};
    for (size_t i = 0; inst->pred == ZS_PRED_SEQ && i < ZS_ARRAY_LEN(ops); i++)
        if (inst->op == ops[i])
            return true;
    return false;
}

static void resolve_barriers(struct zs_debugger *d, struct zs_dbg_breakpoint *b)
{
    for (size_t i = 0; i < d->modules.count; i++)
        for (uint32_t k = 0; k < d->modules.items[i]->count; k++) {
            const struct zs_dbg_kernel *kernel = &d->modules.items[i]->kernels[k];
            for (uint32_t n = 0; kernel->isa && n < zs_isa_kernel_count(kernel->isa); n++)
                if (b->kind == ZS_DBG_BARRIER ? zs_dbg_inst_waits(kernel, n)
                                              : may_part(zs_isa_inst(kernel->isa, n)))
                    add_address(d, b, kernel->va + zs_isa_inst_offset(kernel->isa, n));
        }
}

/* "barrier", "barrier N", "divergence" */
static void parse_kind(struct zs_dbg_breakpoint *b)
{
    const char *end;
    if (!strcmp(b->location, "divergence"))
        b->kind = ZS_DBG_DIVERGENCE;
    else if (!strcmp(b->location, "barrier") ||
             (!strncmp(b->location, "barrier ", 8) && parse_number(b->location + 8, &b->nth, &end)))
        b->kind = ZS_DBG_BARRIER;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Numbers that are none, or too large for what they count: nothing will ever be there. */
static int check_location(const struct zs_debugger *d, const char *location, struct zs_diag *diag)
{
    const char *colon = strrchr(location, ':'), *end = "", *plus = strrchr(location, '+');
    const char *line = colon ? colon + 1 : location;
    uint64_t n = 1;
    if (location[0] == '*') {
        const char *number = is_digit(location[1]) ? location + 1 : plus ? plus + 1 : NULL;
        if (!number || (parse_number(number, &n, &end) && !*end))
            return 0;
        return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET, "'%s' is no address", location + 1);
    }
    if (!strncmp(location, "barrier ", 8))
        return parse_number(location + 8, &n, &end) && !*end && n && is_digit(location[8])
                   ? 0
                   : zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET,
                                 "barrier N: a number from 1 on was expected, not '%s'",
                                 location + 8);
    if (!is_digit(line[0]))
        return 0;
    bool known = parse_number(line, &n, &end);
    if (!*end && (!known || !n || n > INT32_MAX))
        return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET, "there is no line %s", line);
    if (!*end && !colon && !d->focus_file)
        return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET, "no file is in focus yet: say FILE:%s",
                           location);
    return 0;
}

static void resolve(struct zs_debugger *d, struct zs_dbg_breakpoint *b)
{
    const char *colon = strrchr(b->location ? b->location : "", ':'), *end;
    uint64_t line;
    if (b->hidden || b->shown.watch)
        return;
    if (b->kind != ZS_DBG_PLACE) {
        resolve_barriers(d, b);
    } else if (b->location[0] == '*') {
        resolve_address(d, b);
    } else if (colon && parse_number(colon + 1, &line, &end) && !*end) {
        char file[4096];
        snprintf(file, sizeof(file), "%.*s", (int)(colon - b->location), b->location);
        resolve_line(d, b, file, (uint32_t)line);
    } else if (parse_number(b->location, &line, &end) && !*end) {
        if (b->file)
            resolve_line(d, b, b->file, (uint32_t)line);
    } else {
        for (size_t i = 0; i < d->modules.count; i++)
            for (uint32_t k = 0; k < d->modules.items[i]->count; k++)
                resolve_function_in(d, b, &d->modules.items[i]->kernels[k]);
    }
    b->shown.places = b->places.items;
    b->shown.place_count = (uint32_t)b->places.count;
}

void zs_dbg_breakpoints_resolve(struct zs_debugger *d)
{
    for (size_t i = 0; i < d->breakpoints.count; i++)
        resolve(d, d->breakpoints.items[i]);
}

void zs_dbg_breakpoints_drop(struct zs_debugger *d, uint64_t va, uint64_t size_B)
{
    for (size_t i = 0; i < d->breakpoints.count; i++) {
        struct zs_dbg_breakpoint *b = d->breakpoints.items[i];
        size_t left = 0;
        for (size_t p = 0; p < b->places.count; p++)
            if (b->places.items[p].gpu_va - va >= size_B)
                b->places.items[left++] = b->places.items[p];
        b->places.count = left;
        b->shown.place_count = (uint32_t)left;
    }
    size_t left = 0;
    for (size_t i = 0; i < d->inserted.count; i++)
        if (d->inserted.items[i].va - va >= size_B)
            d->inserted.items[left++] = d->inserted.items[i];
    d->inserted.count = left;
}

/* ---- the list ---- */

static void free_breakpoint(struct zs_dbg_breakpoint *b)
{
    free(b->location);
    free(b->condition);
    free(b->log);
    free(b->file);
    free(b->places.items);
    free(b->counts.items);
    free(b);
}

void zs_dbg_breakpoints_clear(struct zs_debugger *d)
{
    for (size_t i = 0; i < d->breakpoints.count; i++)
        free_breakpoint(d->breakpoints.items[i]);
    d->breakpoints.count = 0;
}

struct zs_dbg_breakpoint *zs_dbg_breakpoint_find(const struct zs_debugger *d, uint32_t id)
{
    for (size_t i = 0; i < d->breakpoints.count; i++)
        if (d->breakpoints.items[i]->shown.id == id)
            return d->breakpoints.items[i];
    return NULL;
}

static struct zs_dbg_breakpoint *find_shown(const struct zs_debugger *d, uint32_t id,
                                            struct zs_diag *diag)
{
    struct zs_dbg_breakpoint *b = zs_dbg_breakpoint_find(d, id);
    if (b && !b->hidden)
        return b;
    zs_diag_set(diag, -ENOENT, ZS_DIAG_NO_OFFSET, "there is no breakpoint %u", id);
    return NULL;
}

static bool copy_text(const char *from, char **to)
{
    *to = from ? strdup(from) : NULL;
    return !from || *to;
}

static struct zs_dbg_breakpoint *push_new(struct zs_debugger *d)
{
    struct zs_dbg_breakpoint *b = calloc(1, sizeof(*b));
    if (b && ZS_VEC_PUSH(&d->breakpoints, b))
        return b;
    free(b);
    return NULL;
}

struct zs_dbg_breakpoint *zs_dbg_breakpoint_new(struct zs_debugger *d, const char *location,
                                                const char *condition)
{
    struct zs_dbg_breakpoint *b = push_new(d);
    if (!b)
        return NULL;
    if (!copy_text(location, &b->location) || !copy_text(condition, &b->condition)) {
        d->breakpoints.count--;
        free_breakpoint(b);
        return NULL;
    }
    b->shown = (struct zs_debug_breakpoint){.id = ++d->last_breakpoint,
                                            .location = b->location,
                                            .condition = b->condition,
                                            .enabled = true};
    return b;
}

uint32_t zs_dbg_breakpoint_hidden(struct zs_debugger *d, uint64_t va)
{
    struct zs_dbg_breakpoint *b = push_new(d);
    if (!b)
        return 0;
    b->hidden = true;
    b->shown.enabled = true;
    b->shown.id = UINT32_MAX; /* one at a time */
    add_place(d, b, (struct zs_debug_place){.gpu_va = va});
    return b->shown.id;
}

int zs_debug_break_add(struct zs_debugger *d, const struct zs_debug_breakpoint_options *options,
                       uint32_t *ret_id, struct zs_diag *diag)
{
    struct zs_debug_breakpoint_options o = {.size_B = sizeof(o)};
    if (!options || !options->location || !options->location[0])
        return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET, "a breakpoint needs a location");
    memcpy(&o, options, ZS_MIN(options->size_B, sizeof(o)));
    int error = check_location(d, o.location, diag);
    if (error)
        return error;
    struct zs_dbg_breakpoint *b = zs_dbg_breakpoint_new(d, o.location, o.condition);
    if (!b)
        return -ENOMEM;
    if (!copy_text(o.log, &b->log) || !copy_text(d->focus_file, &b->file)) {
        (void)zs_debug_break_delete(d, b->shown.id, NULL);
        return -ENOMEM;
    }
    b->shown.log = b->log;
    b->shown.ignore_count = o.ignore_count;
    b->shown.enabled = !o.disabled;
    b->shown.temporary = o.temporary;
    parse_kind(b);
    if (d->session)
        resolve(d, b);
    *ret_id = b->shown.id;
    return 0;
}

int zs_debug_places(struct zs_debugger *d, const char *location, struct zs_debug_place *ret_places,
                    uint32_t capacity, struct zs_diag *diag)
{
    /* one that is off: nothing is put into the code */
    struct zs_dbg_breakpoint b = {.location = (char *)(uintptr_t)location, .file = d->focus_file};
    int error = check_location(d, location, diag);
    if (error)
        return error;
    parse_kind(&b);
    resolve(d, &b);
    for (size_t i = 0; i < b.places.count && i < capacity; i++)
        ret_places[i] = b.places.items[i];
    int count = (int)b.places.count;
    free(b.places.items);
    return count;
}

int zs_debug_break_delete(struct zs_debugger *d, uint32_t id, struct zs_diag *diag)
{
    for (size_t i = 0; i < d->breakpoints.count; i++) {
        struct zs_dbg_breakpoint *b = d->breakpoints.items[i];
        if (b->shown.id != id)
            continue;
        if (b->shown.enabled && d->session)
            set_all(d, b, false);
        memmove(&d->breakpoints.items[i], &d->breakpoints.items[i + 1],
                (d->breakpoints.count - i - 1) * sizeof(*d->breakpoints.items));
        d->breakpoints.count--;
        bool watched = b->shown.watch && b->shown.enabled && d->session;
        free_breakpoint(b);
        if (watched)
            (void)zs_dbg_watch_tell(d, NULL, NULL);
        return 0;
    }
    return zs_diag_set(diag, -ENOENT, ZS_DIAG_NO_OFFSET, "there is no breakpoint %u", id);
}

int zs_debug_break_enable(struct zs_debugger *d, uint32_t id, bool enabled, struct zs_diag *diag)
{
    struct zs_dbg_breakpoint *b = find_shown(d, id, diag);
    if (!b)
        return -ENOENT;
    if (b->shown.enabled != enabled && d->session)
        set_all(d, b, enabled);
    bool changed = b->shown.enabled != enabled;
    b->shown.enabled = enabled;
    return b->shown.watch && changed ? zs_dbg_watch_tell(d, NULL, diag) : 0;
}

int zs_debug_break_condition(struct zs_debugger *d, uint32_t id, const char *condition,
                             struct zs_diag *diag)
{
    struct zs_dbg_breakpoint *b = find_shown(d, id, diag);
    char *copy;
    if (!b)
        return -ENOENT;
    if (!copy_text(condition, &copy))
        return -ENOMEM;
    free(b->condition);
    b->shown.condition = b->condition = copy;
    return 0;
}

int zs_debug_break_ignore(struct zs_debugger *d, uint32_t id, uint64_t count, struct zs_diag *diag)
{
    struct zs_dbg_breakpoint *b = find_shown(d, id, diag);
    if (!b)
        return -ENOENT;
    b->shown.ignore_count = count;
    return 0;
}

const struct zs_debug_breakpoint *zs_debug_break_get(const struct zs_debugger *d, size_t index)
{
    for (size_t i = 0; i < d->breakpoints.count; i++)
        if (!d->breakpoints.items[i]->hidden && index-- == 0)
            return &d->breakpoints.items[i]->shown;
    return NULL;
}

void zs_dbg_watch_ranges(struct zs_debugger *d, struct zs_history_request *request)
{
    for (size_t i = 0; i < d->breakpoints.count; i++) {
        const struct zs_dbg_breakpoint *b = d->breakpoints.items[i];
        if (b->shown.watch && b->shown.enabled && request->range_count < ZS_HISTORY_RANGES_MAX)
            request->ranges[request->range_count++] = b->range;
    }
}

int zs_dbg_watch_tell(struct zs_debugger *d, const struct zs_dbg_thread *t, struct zs_diag *diag)
{
    struct zs_history_request request = zs_dbg_history_request(ZS_HISTORY_WATCH, t);
    zs_dbg_watch_ranges(d, &request);
    int error = zs_dbg_history_ask(d, &request, diag);
    for (uint32_t i = 0; !error && i < d->history->range_count; i++) {
        struct zs_dbg_breakpoint *b = zs_dbg_breakpoint_find(d, d->history->ranges[i].id);
        if (b)
            b->range = d->history->ranges[i]; /* whose it is has been filled in */
    }
    d->watching = request.range_count;
    return error;
}
