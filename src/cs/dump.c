/* SPDX-License-Identifier: MIT */
/*
 * Batches in what others have dumped: error states of i915, coredumps of xe, AUB files.
 *
 * All of them are parts of memory and places where engines began. Batches are printed with those
 * that they lead to, each once. Facts: i915_gpu_error.c and xe_vm.c of Linux; Mesa's aub_read.c.
 */
#include "cs/cs_priv.h"

#include "base/id_map.h"
#include "base/reader.h"
#include "base/vec.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

/* VIRTUAL: what text dumps have. The others are AUB's, by its numbers. */
enum space { GGTT, LOCAL, SYSTEM, VIRTUAL, GGTT_ENTRY };
enum { PAGE_B = 4096, LINE_CHARS = 256, BATCH_MAX_B = 4 << 20, PART_MAX_B = 256 << 20 };
enum { PAGES_MAX = 1 << 18, OUT_MAX_B = 1 << 30 };
/* Where an engine began. */
struct begun {
    char name[64];
    uint64_t va;
};
/* An engine's registers for submissions: four dwords come to one, or two stand in others. */
struct port {
    uint32_t base, count, dwords[4], contents[2];
};
enum { PORTS = 5, AUB_TRACE = 7 << 6 | 0x2e };
struct dump {
    struct zs_id_map pages; /* by address and space */
    struct {
        struct begun *items;
        size_t count, capacity;
    } begun;
    struct {
        uint64_t *items; /* what was printed, of this context; in `seen`, too */
        size_t count, capacity;
    } printed;
    struct zs_id_map seen;
    bool has_tables; /* else addresses are virtual */
    uint64_t root;   /* of this context's page tables */
    struct zs_buf *out;
    struct zs_diag *diag;
    int error;   /* what ended it */
    bool is_cut; /* a batch has what is no command */
};

/* Its first error, in words. */
static void fail(struct dump *d, int error, const char *what)
{
    if (!d->error)
        zs_diag_set(d->diag, error, ZS_DIAG_NO_OFFSET, "%s", what);
    d->error = d->error ? d->error : error;
}

/* ---- memory ------------------------------------------------------------------------------------
 */

/* NULL: nothing of the page is there. */
static uint8_t *page_of(const struct dump *d, enum space space, uint64_t va)
{
    return zs_id_map_get(&d->pages, va / PAGE_B, space);
}

/* What was there before is hidden. */
static void store(struct dump *d, enum space space, uint64_t va, struct zs_span bytes)
{
    for (size_t done_B = 0, part_B; done_B < bytes.size_B && !d->error; done_B += part_B) {
        uint64_t at = va + done_B;
        uint8_t *page = page_of(d, space, at);
        part_B = ZS_MIN(bytes.size_B - done_B, (size_t)(PAGE_B - at % PAGE_B));
        if (!page && d->pages.count == PAGES_MAX) {
            fail(d, -E2BIG, "the dump has more than 1 GB of memory");
        } else if (!page) {
            page = calloc(1, PAGE_B);
            if (!page || zs_id_map_put(&d->pages, at / PAGE_B, space, page))
                fail(d, -ENOMEM, "out of memory");
        }
        if (d->error)
            return;
        memcpy(page + at % PAGE_B, bytes.data + done_B, part_B);
    }
}

static bool load_entry(const struct dump *d, enum space space, uint64_t at, uint64_t *ret)
{
    const uint8_t *page = page_of(d, space, at);
    *ret = page ? zs_load_u64(page + at % PAGE_B / 8 * 8) : 0;
    return *ret & 1;
}

#define FRAME_MASK UINT64_C(0x3ffffffff000)
static bool ggtt_page(const struct dump *d, uint64_t va, enum space *ret_space, uint64_t *ret_at)
{
    enum { IS_LOCAL = 2 };
    uint64_t entry;
    if (!load_entry(d, GGTT_ENTRY, va / PAGE_B * 8, &entry))
        return false;
    *ret_space = entry & IS_LOCAL ? LOCAL : SYSTEM;
    *ret_at = entry & FRAME_MASK;
    return true;
}

/* Four levels, of which the last but one may have pages of 2 MB. */
static bool own_page(const struct dump *d, uint64_t va, enum space *ret_space, uint64_t *ret_at)
{
    enum { IS_LARGE = 1 << 7, IS_LOCAL = 1 << 11, LARGE_SHIFT = 21 };
    enum space space = SYSTEM;
    uint64_t at = d->root & FRAME_MASK, entry;
    for (uint32_t shift = 39; shift >= 12; shift -= 9) {
        uint64_t slot = at + (va >> shift & 511) * 8;
        if (!load_entry(d, space, slot, &entry) &&
            (shift != 39 || !load_entry(d, LOCAL, slot, &entry)))
            return false;
        space = entry & IS_LOCAL ? LOCAL : SYSTEM;
        at = entry & FRAME_MASK;
        if (shift == LARGE_SHIFT && entry & IS_LARGE) {
            at += va & ((1u << LARGE_SHIFT) - PAGE_B);
            break;
        }
    }
    *ret_space = space;
    *ret_at = at;
    return true;
}

static const uint8_t *page_at(const struct dump *d, bool is_global, uint64_t va)
{
    enum space space = VIRTUAL;
    uint64_t at = va;
    bool is_mapped = !d->has_tables ||
                     (is_global ? ggtt_page(d, va, &space, &at) : own_page(d, va, &space, &at));
    return is_mapped ? page_of(d, space, at) : NULL;
}

/* As much as is there from an address on. */
static void load(const struct dump *d, bool is_global, uint64_t va, uint64_t size_B,
                 struct zs_buf *ret)
{
    const uint8_t *page;
    while (size_B && (page = page_at(d, is_global, va))) {
        uint64_t part_B = ZS_MIN(PAGE_B - va % PAGE_B, size_B);
        zs_buf_append(ret, page + va % PAGE_B, part_B);
        size_B -= part_B;
        va += part_B;
    }
}

/* ---- printing ----------------------------------------------------------------------------------
 */

static void print_batch(struct dump *d, const char *name, uint64_t va, struct zs_buf *bytes,
                        struct zs_cs_starts *starts)
{
    struct zs_diag diag = {0};
    zs_buf_printf(d->out, "%s at 0x%" PRIx64 "\n", name, va);
    int error = zs_cs_print(zs_buf_span(bytes), va, starts, d->out, &diag);
    if (error) {
        zs_buf_printf(d->out, "0x%012" PRIx64 "  %s\n", va + diag.offset_B, diag.text);
        d->is_cut = true;
    }
    zs_buf_puts(d->out, "\n");
}

/* False: it was, or will be. */
static bool is_new(struct dump *d, uint64_t va)
{
    static char seen;
    if (zs_id_map_get(&d->seen, va, 0))
        return false;
    if (zs_id_map_put(&d->seen, va, 0, &seen) || !ZS_VEC_PUSH(&d->printed, va))
        fail(d, -ENOMEM, "out of memory");
    return !d->error;
}

/* A batch, and those that it leads to. is_ring: what follows a start is executed, too. */
static void follow(struct dump *d, const char *name, uint64_t va, uint64_t size_B, bool is_ring)
{
    size_t next = d->printed.count;
    if (!is_ring && !is_new(d, va))
        return;
    while (is_ring || next < d->printed.count) {
        struct zs_cs_starts starts = {.is_ring = is_ring};
        struct zs_buf bytes = {0};
        if (d->out->size_B > OUT_MAX_B) {
            fail(d, -E2BIG, "its batches are more than 1 GB of text");
            return;
        }
        if (!is_ring)
            va = d->printed.items[next++];
        load(d, is_ring, va, size_B, &bytes);
        if (!bytes.size_B && !is_ring)
            load(d, true, va, size_B, &bytes);
        if (bytes.size_B)
            print_batch(d, name, va, &bytes, &starts);
        else
            zs_buf_printf(d->out, "%s at 0x%" PRIx64 ": it is not in the dump\n\n", name, va);
        zs_buf_fini(&bytes);
        for (uint32_t i = 0; i < starts.count; i++)
            is_new(d, starts.va[i]);
        is_ring = false;
        name = "batch";
        size_B = BATCH_MAX_B;
    }
}

/* ---- text --------------------------------------------------------------------------------------
 */

static bool next_line(struct zs_span *left, struct zs_span *ret)
{
    const uint8_t *end = left->size_B ? memchr(left->data, '\n', left->size_B) : NULL;
    size_t line_B = end ? (size_t)(end - left->data) : left->size_B;
    *ret = zs_span_make(left->data, line_B);
    bool is_there = left->size_B > 0;
    size_t used_B = line_B + (end ? 1 : 0);
    *left = zs_span_make(left->data + used_B, left->size_B - used_B);
    return is_there;
}

/* Five characters a dword, 'z' for 0. */
static void decode_85(struct zs_span text, struct zs_buf *ret)
{
    for (size_t i = 0; i < text.size_B && text.data[i] >= '!' && text.data[i] <= 'z';) {
        uint32_t value = 0;
        bool is_zero = text.data[i] == 'z';
        if (!is_zero && text.size_B - i < 5)
            return;
        for (size_t k = 0; k < 5 && !is_zero; k++)
            value = value * 85 + (text.data[i + k] - (uint32_t)'!');
        i += is_zero ? 1 : 5;
        zs_buf_append(ret, &value, sizeof(value));
    }
}

static void inflate_all(struct zs_span packed, struct zs_buf *ret)
{
    z_stream z = {.next_in = (Bytef *)(uintptr_t)packed.data, .avail_in = (uInt)packed.size_B};
    int status = inflateInit(&z);
    while (status == Z_OK && ret->size_B < PART_MAX_B) {
        enum { STEP_B = 1 << 16 };
        z.next_out = zs_buf_reserve(ret, STEP_B);
        z.avail_out = STEP_B;
        if (!z.next_out)
            break;
        status = inflate(&z, Z_NO_FLUSH);
        ret->size_B += STEP_B - z.avail_out;
    }
    inflateEnd(&z);
}

static void add_text(struct dump *d, uint64_t va, struct zs_span text, bool is_packed)
{
    struct zs_buf dwords = {0}, bytes = {0};
    decode_85(text, &dwords);
    if (is_packed)
        inflate_all(zs_buf_span(&dwords), &bytes);
    store(d, VIRTUAL, va, zs_buf_span(is_packed ? &bytes : &dwords));
    if (dwords.error || bytes.error)
        fail(d, -ENOMEM, "out of memory");
    zs_buf_fini(&dwords);
    zs_buf_fini(&bytes);
}

/* A line as text; what is longer than any that matters is cut. */
static const char *text_of(struct zs_span line, char text[LINE_CHARS])
{
    size_t size_B = ZS_MIN(line.size_B, (size_t)LINE_CHARS - 1);
    if (size_B)
        memcpy(text, line.data, size_B);
    text[size_B] = '\0';
    return text;
}

/* "rcs0 --- batch = 0x00000000 01234000", then its bytes: ':' before them: packed. Rings wrap where
 * nobody says: they are not printed. */
static void read_i915_line(struct dump *d, struct zs_span line, struct begun *at)
{
    char text[LINE_CHARS], name[sizeof(at->name)];
    uint32_t high, low;
    if (line.size_B && (line.data[0] == ':' || line.data[0] == '~')) {
        add_text(d, at->va, zs_span_make(line.data + 1, line.size_B - 1), line.data[0] == ':');
    } else if (sscanf(text_of(line, text), "%63[^=]= 0x%8" SCNx32 " %8" SCNx32, name, &high,
                      &low) == 3) {
        at->va = (uint64_t)high << 32 | low;
        snprintf(at->name, sizeof(at->name), "%.*s", (int)strlen(name) - 1, name);
        bool is_batch = strstr(name, "--- batch") || strstr(name, "--- gtt_offset");
        if (is_batch && !ZS_VEC_PUSH(&d->begun, *at))
            fail(d, -ENOMEM, "out of memory");
    }
}

/* "batch_addr[0]: 0x0000effeffff5000" of a job; "[effeffff5000].data: ..." */
static void read_xe_line(struct dump *d, struct zs_span line)
{
    char text[LINE_CHARS];
    struct begun job = {.name = "batch of the job"};
    uint64_t va;
    int at_B = 0;
    text_of(line, text);
    if (sscanf(text, " batch_addr[%*u]: 0x%" SCNx64, &job.va) == 1 && !ZS_VEC_PUSH(&d->begun, job))
        fail(d, -ENOMEM, "out of memory");
    if (sscanf(text, "[%" SCNx64 "].data: %n", &va, &at_B) == 1 && at_B)
        add_text(d, va, zs_span_make(line.data + at_B, line.size_B - (size_t)at_B), false);
}

static void print_text(struct dump *d, struct zs_span left, bool is_xe)
{
    struct zs_span line;
    struct begun at = {.va = 0};
    while (next_line(&left, &line)) {
        if (is_xe)
            read_xe_line(d, line);
        else
            read_i915_line(d, line, &at);
    }
    for (size_t i = 0; i < d->begun.count; i++)
        follow(d, d->begun.items[i].name, d->begun.items[i].va, BATCH_MAX_B, false);
    if (!d->begun.count)
        zs_buf_puts(d->out, "this dump has no batch\n");
}

/* ---- AUB ---------------------------------------------------------------------------------------
 */

static uint32_t dword_at(const struct zs_buf *bytes, uint32_t index)
{
    return bytes->size_B / 4 > index ? zs_load_u32(bytes->data + index * 4ull) : 0;
}

/* An engine is given a context: its image says where its ring and its page tables are. */
static void submitted(struct dump *d, uint64_t descriptor)
{
    enum { STATE_B = 52 * 4, HEAD = 5, TAIL = 7, START = 9, ROOT_HIGH = 49, ROOT_LOW = 51 };
    struct zs_buf state = {0};
    load(d, true, (descriptor & 0xfffff000) + PAGE_B, STATE_B, &state);
    uint32_t head = dword_at(&state, HEAD), tail = dword_at(&state, TAIL);
    uint64_t ring_va = dword_at(&state, START);
    d->root = (uint64_t)dword_at(&state, ROOT_HIGH) << 32 | dword_at(&state, ROOT_LOW);
    d->printed.count = 0;
    zs_id_map_fini(&d->seen);
    if (tail > head)
        follow(d, "ring", ring_va + head, tail - head, true);
    zs_buf_fini(&state);
}

static void written(struct dump *d, enum space space, uint64_t va, struct zs_span bytes)
{
    va &= (UINT64_C(1) << 48) - 1;
    while (bytes.size_B) { /* those of the GGTT to pages, wherever they are */
        uint64_t at = va;
        enum space to = space;
        size_t part_B =
            space == GGTT ? ZS_MIN(bytes.size_B, (size_t)(PAGE_B - va % PAGE_B)) : bytes.size_B;
        if (space != GGTT || ggtt_page(d, va, &to, &at))
            store(d, to, space == GGTT ? at + va % PAGE_B : at, zs_span_make(bytes.data, part_B));
        bytes = zs_span_make(bytes.data + part_B, bytes.size_B - part_B);
        va += part_B;
    }
}

static void register_written(struct dump *d, struct port ports[PORTS], uint32_t offset,
                             uint32_t value)
{
    enum { PORT = 0x230, CONTENTS = 0x510, CONTROL = 0x550 };
    for (struct port *p = ports; p < ports + PORTS; p++) {
        uint32_t at = offset - p->base;
        if (at == PORT) {
            p->dwords[p->count++ % 4] = value;
            if (p->count % 4 == 0)
                submitted(d, (uint64_t)p->dwords[2] << 32 | value);
        } else if (at == CONTENTS || at == CONTENTS + 4) {
            p->contents[at != CONTENTS] = value;
        } else if (at == CONTROL && value & 1) {
            submitted(d, (uint64_t)p->contents[1] << 32 | p->contents[0]);
        }
    }
}

/* Space, address and size, then the bytes; or 63 of these, then all bytes. */
static void memory_written(struct dump *d, struct zs_reader *c, bool is_many)
{
    enum { PARTS = 63 };
    uint64_t va[PARTS] = {0}, size_B[PARTS] = {0};
    uint32_t space = 0;
    if (is_many)
        space = zs_read_u32(c, "address space") >> 28;
    for (uint32_t i = 0; i < (is_many ? PARTS : 1); i++) {
        va[i] = zs_read_u64(c, "address");
        if (!is_many)
            space = zs_read_u32(c, "address space") >> 28;
        size_B[i] = zs_read_u32(c, "size");
    }
    for (uint32_t i = 0; i < PARTS && !c->error; i++) {
        struct zs_span bytes = zs_read_bytes(c, size_B[i], "bytes");
        if (bytes.size_B && space != VIRTUAL)
            written(d, space, va[i], bytes);
    }
}

static void print_aub(struct dump *d, struct zs_span file)
{
    enum { WRITE_REGISTER = 3, WRITE = 6, WRITE_MANY = 0xb };
    struct port ports[PORTS] = {{.base = 0x2000},
                                {.base = 0x12000},
                                {.base = 0x1a000},
                                {.base = 0x1c0000},
                                {.base = 0x22000}};
    struct zs_reader r = zs_reader_make(file, 0, d->diag);
    d->has_tables = true;
    while (zs_reader_left(&r) && !d->error) {
        uint32_t header = zs_read_u32(&r, "header"), what = header >> 16 & 0x7f;
        struct zs_reader c = zs_read_sub(&r, (header & 0xffff) * 4ull, "record");
        if (header >> 23 != AUB_TRACE)
            zs_reader_fail(&r, -ENOTSUP, "0x%08" PRIx32 " begins no record of a memory trace",
                           header);
        else if (what == WRITE || what == WRITE_MANY)
            memory_written(d, &c, what == WRITE_MANY);
        else if (what == WRITE_REGISTER) {
            uint32_t offset = zs_read_u32(&c, "register");
            zs_read_skip(&c, 12, "masks");
            register_written(d, ports, offset, zs_read_u32(&c, "value"));
        }
        d->error = d->error ? d->error : r.error ? r.error : c.error;
    }
}

/* ---- kinds -------------------------------------------------------------------------------------
 */

static bool has(struct zs_span file, const char *text)
{
    enum { LOOKED_AT_B = 4096 };
    return file.size_B &&
           memmem(file.data, ZS_MIN(file.size_B, (size_t)LOOKED_AT_B), text, strlen(text));
}

int zs_cs_print_dump(struct zs_span file, struct zs_buf *out, struct zs_diag *diag)
{
    struct dump d = {.out = out, .diag = diag};
    if (has(file, "**** Xe Device Coredump"))
        print_text(&d, file, true);
    else if (has(file, "GPU HANG:") || has(file, "\nKernel: "))
        print_text(&d, file, false);
    else if (file.size_B >= 4 && zs_load_u32(file.data) >> 29 == AUB_TRACE >> 6)
        print_aub(&d, file);
    else
        return 1;
    if (d.is_cut)
        fail(&d, -EINVAL, "not all of it could be printed");
    for (size_t i = 0; i < d.pages.capacity; i++)
        free(d.pages.slots[i].value);
    zs_id_map_fini(&d.pages);
    zs_id_map_fini(&d.seen);
    free(d.begun.items);
    free(d.printed.items);
    return d.error;
}
