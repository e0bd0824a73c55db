/* SPDX-License-Identifier: MIT */
/*
 * Values that were printed: "$", "$$", "$3", "$$2". They are what they were, whatever runs
 * meanwhile; of code that was unloaded the number and the text are left.
 */
#include "debugger/debugger_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { PART_MAX_B = 1 << 20 };

static struct zs_dbg_value *copy(struct zs_debugger *d, const struct zs_dbg_value *v)
{
    struct zs_arena *arena = &d->kept_arena;
    struct zs_dbg_value *n = ZS_ARENA_NEW(arena, struct zs_dbg_value);
    size_t size_B = (size_t)ZS_MIN(v->shown.size_B, (uint64_t)PART_MAX_B);
    if (!n)
        return NULL;
    *n = *v;
    n->shown.name = zs_arena_strndup(arena, v->shown.name, strlen(v->shown.name));
    n->shown.type = zs_arena_strndup(arena, v->shown.type, strlen(v->shown.type));
    n->shown.text = zs_arena_strndup(arena, v->shown.text, strlen(v->shown.text));
    if (v->why)
        n->why = zs_arena_strndup(arena, v->why, strlen(v->why));
    if (!n->shown.name || !n->shown.type || !n->shown.text || (v->why && !n->why))
        return NULL;
    n->context = (struct zs_dbg_context){0};
    n->is_kept = true;
    n->is_register = n->is_ip = n->shown.writable = n->shown.in_memory = false;
    n->shown.gpu_va = n->at_bits = 0;
    n->place = (struct zs_eval_result){.count = 1};
    n->place.pieces[0].kind = ZS_PIECE_BYTES;
    if (v->data) {
        uint8_t *data = zs_arena_alloc(arena, size_B + 8);
        if (!data)
            return NULL;
        memset(data + size_B, 0, 8);
        memcpy(data, v->data, size_B);
        n->shown.bytes = n->data = data;
        n->place.pieces[0].bytes = (struct zs_span){data, size_B};
    }
    for (uint32_t i = 0; i < n->picked_count; i++)
        n->picked[i] = (uint8_t)i;
    n->target = v->target ? copy(d, v->target) : NULL;
    if (n->target) /* what is there is read anew */
        n->target->shown.gpu_va = v->target->shown.gpu_va;
    return v->target && !n->target ? NULL : n;
}

int zs_debug_keep(struct zs_debugger *d, const struct zs_debug_value *value, uint32_t *ret_number)
{
    struct zs_dbg_value *kept = copy(d, (const struct zs_dbg_value *)value);
    if (!kept || !ZS_VEC_PUSH(&d->kept, kept))
        return -ENOMEM;
    *ret_number = (uint32_t)d->kept.count;
    return 0;
}

void zs_dbg_kept_drop(struct zs_debugger *d, const struct zs_dwarf *dwarf)
{
    memset(&d->returned, 0, sizeof(d->returned));
    for (size_t i = 0; i < d->kept.count; i++)
        for (struct zs_dbg_value *v = d->kept.items[i]; v; v = v->target)
            if (v->dwarf && (!dwarf || v->dwarf == dwarf)) {
                v->dwarf = NULL;
                v->shown.child_count = 0;
                v->repeated = 0;
            }
}

void zs_dbg_kept_free(struct zs_debugger *d)
{
    zs_arena_fini(&d->kept_arena);
    free(d->kept.items);
}

void zs_debug_forget(struct zs_debugger *d)
{
    size_t limit_B = d->values.limit_B;
    zs_arena_fini(&d->values);
    zs_arena_init(&d->values, limit_B);
}
