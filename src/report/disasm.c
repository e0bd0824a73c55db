/* SPDX-License-Identifier: MIT */
/*
 * Listings of machine code. Without options a kernel is a comment with its facts and then exactly
 * the lines of `iga64 -d`, so that the text can be assembled again.
 */
#include "report/disasm.h"

#include "base/parallel.h"
#include "base/reader.h"
#include "base/span.h"
#include "base/text.h"

#include <errno.h>
#include <stdlib.h>

enum {
    WINDOW_KERNELS = 256,
    WINDOW_CODE_B = 1 << 20,
    LINE_TYPICAL_B = 128, /* of a line with what stands before it */
};

struct item {
    const struct zs_kernel_ref *ref;
    struct zs_buf text;
    bool failed;
};

struct window {
    const struct zs_disasm_options *options;
    struct item items[WINDOW_KERNELS];
    size_t count;
};

/* ---- one kernel ---- */

static void put_hex(struct zs_buf *out, uint32_t value, uint32_t digits)
{
    char text[8];
    for (uint32_t i = 0; i < digits; i++)
        text[i] = "0123456789abcdef"[value >> 4 * (digits - 1 - i) & 0xf];
    zs_buf_append(out, text, digits);
}

static void put_column(struct zs_buf *out, uint32_t value)
{
    char text[4] = {' ', ' ', ' ', ' '};
    for (uint32_t i = 3; i-- > 0;) {
        text[i] = (char)('0' + value % 10);
        value /= 10;
        if (!value)
            break;
    }
    zs_buf_append(out, text, sizeof(text));
}

static void put_encoding(struct zs_buf *out, const uint8_t *bytes, uint32_t size_B)
{
    for (uint32_t at_B = 0; at_B < 16; at_B += 4) {
        if (at_B < size_B)
            put_hex(out, zs_load_u32(bytes + at_B), 8);
        else
            zs_buf_puts(out, "        ");
        zs_buf_putc(out, ' ');
    }
    zs_buf_putc(out, ' ');
}

static void put_loop(struct zs_buf *out, const struct zs_isa_kernel *isa,
                     const struct zs_isa_block *block)
{
    if (block->loop == ZS_ISA_NO_INDEX)
        return;
    const struct zs_isa_loop *loop = zs_isa_loop(isa, block->loop);
    zs_buf_printf(out, ", loop %u depth %u%s", block->loop, loop->depth,
                  block->flags & ZS_BLOCK_LOOP_HEADER ? " header" : "");
}

static void put_block(struct zs_buf *out, const struct zs_isa_kernel *isa, uint32_t b)
{
    static const char *const kinds[] = {[ZS_EDGE_NEXT] = "",
                                        [ZS_EDGE_JIP] = " jip",
                                        [ZS_EDGE_UIP] = " uip",
                                        [ZS_EDGE_CALL] = " call",
                                        [ZS_EDGE_RETURN] = " return"};
    const struct zs_isa_block *block = zs_isa_block(isa, b);
    zs_buf_printf(out, "// block %u: %u instruction%s", b, block->count, zs_plural(block->count));
    put_loop(out, isa, block);
    if (!(block->flags & ZS_BLOCK_REACHABLE))
        zs_buf_puts(out, ", not reachable");
    for (uint32_t e = 0; e < block->edge_count; e++) {
        const struct zs_isa_edge *edge = zs_isa_edge(isa, block->edge_first + e);
        zs_buf_printf(out, "%s%u%s%s", e ? ", " : ", to ", edge->to, kinds[edge->kind],
                      edge->lane ? "" : " (no lane active)");
    }
    if (block->flags & ZS_BLOCK_ENDS_THREAD)
        zs_buf_puts(out, ", ends the thread");
    zs_buf_putc(out, '\n');
}

static void put_label(struct zs_buf *out, uint32_t offset_B)
{
    zs_buf_putc(out, 'L');
    zs_buf_put_u64(out, offset_B);
    zs_buf_append(out, ":\n", 2);
}

static void put_message(struct zs_buf *out, const struct zs_isa_kernel *isa, uint32_t i)
{
    const struct zs_isa_message *message = zs_isa_inst_message(isa, i);
    if (!message)
        return;
    zs_buf_puts(out, "        // ");
    zs_report_message(out, message);
    zs_buf_putc(out, '\n');
}

static void put_columns(struct zs_buf *out, const struct zs_disasm_options *o,
                        const struct zs_kernel *kernel, const struct zs_isa_kernel *isa, uint32_t i)
{
    uint32_t offset_B = zs_isa_inst_offset(isa, i);
    if (o->offsets) {
        put_hex(out, offset_B, offset_B > 0xffff ? 8 : 4);
        zs_buf_append(out, ": ", 2);
    }
    if (o->encoding)
        put_encoding(out, kernel->code.data + offset_B, zs_isa_inst_size(isa, i));
    if (o->pressure)
        put_column(out, zs_isa_live_grf(isa, i));
}

static void put_listing(struct zs_buf *out, const struct zs_disasm_options *o,
                        const struct zs_kernel *kernel, const struct zs_isa_kernel *isa)
{
    uint32_t count = zs_isa_kernel_count(isa), block = 0;
    bool columns = o->offsets || o->encoding || o->pressure;
    zs_buf_reserve(out, (size_t)count * LINE_TYPICAL_B);
    for (uint32_t i = 0; i < count; i++) {
        if (zs_isa_inst_has_label(isa, i))
            put_label(out, zs_isa_inst_offset(isa, i));
        if (o->blocks && block < zs_isa_block_count(isa) && zs_isa_block(isa, block)->first == i)
            put_block(out, isa, block++);
        if (columns)
            put_columns(out, o, kernel, isa, i);
        char line[ZS_ISA_LINE_MAX];
        size_t size_B = zs_isa_inst_line(isa, i, line);
        line[size_B] = '\n';
        zs_buf_append(out, line, size_B + 1);
        if (o->sends)
            put_message(out, isa, i);
    }
    if (count && zs_isa_inst_has_label(isa, count))
        put_label(out, zs_isa_inst_offset(isa, count));
}

static void put_facts(struct zs_buf *out, const struct zs_disasm_options *o,
                      const struct zs_image *image, const struct zs_kernel *kernel,
                      const struct zs_isa_kernel *isa)
{
    zs_buf_printf(out, "// kernel %s: %s, ", kernel->name, zs_image_device(image));
    if (kernel->simd) /* code without a container has none */
        zs_buf_printf(out, "SIMD%u, ", kernel->simd);
    zs_buf_printf(out, "%zu bytes, %u instruction%s", kernel->code.size_B, zs_isa_kernel_count(isa),
                  zs_plural(zs_isa_kernel_count(isa)));
    if (zs_isa_kernel_illegal_count(isa))
        zs_buf_printf(out, ", %u of them illegal", zs_isa_kernel_illegal_count(isa));
    if (o->pressure) {
        uint32_t inst;
        uint32_t peak = zs_isa_live_peak(isa, &inst);
        zs_buf_printf(out, ", at most %u of %u registers live (at 0x%x)%s", peak, kernel->grf_count,
                      zs_isa_kernel_count(isa) ? zs_isa_inst_offset(isa, inst) : 0,
                      zs_isa_live_exact(isa) ? "" : ", indirect operands not counted");
    }
    zs_buf_putc(out, '\n');
}

static uint32_t what_of(const struct zs_disasm_options *o)
{
    return (uint32_t)ZS_ISA_TEXT | (o->blocks ? ZS_ISA_BLOCKS : 0) | (o->sends ? ZS_ISA_INSTS : 0) |
           (o->pressure ? ZS_ISA_LIVENESS : 0);
}

static void write_kernel(void *ctx, size_t i)
{
    struct window *window = ctx;
    struct item *item = &window->items[i];
    const struct zs_image *image = item->ref->image;
    const struct zs_kernel *kernel = item->ref->kernel;
    struct zs_isa_options options = {.size_B = sizeof(options), .grf_count = kernel->grf_count};
    struct zs_isa_kernel *isa = NULL;
    struct zs_diag diag = {.offset_B = ZS_DIAG_NO_OFFSET};
    int error = zs_isa_kernel_open(zs_image_platform(image), kernel->code, &options, &isa, &diag);
    if (!error)
        error = zs_isa_kernel_decode(isa, what_of(window->options), &diag);
    if (!error) {
        put_facts(&item->text, window->options, image, kernel, isa);
        put_listing(&item->text, window->options, kernel, isa);
    } else {
        char text[600];
        zs_diag_print(&diag, text, sizeof(text));
        zs_buf_printf(&item->text, "// kernel %s: %s: %s\n", kernel->name, zs_image_device(image),
                      text);
        item->failed = true;
    }
    zs_isa_kernel_close(isa);
}

/* ---- all of them ---- */

/* Kernels of one image from `refs` on, until the window is full. */
static size_t fill_window(struct window *window, const struct zs_kernel_ref *refs, size_t count)
{
    size_t code_B = 0, n = 0;
    while (n < count && n < WINDOW_KERNELS && code_B < WINDOW_CODE_B &&
           refs[n].image == refs[0].image) {
        window->items[n] = (struct item){.ref = &refs[n]};
        code_B += refs[n].kernel->code.size_B;
        n++;
    }
    window->count = n;
    return n;
}

static int flush_window(struct window *window, zs_write_fn *write, void *user, bool separate,
                        size_t *failed)
{
    int error = 0;
    for (size_t i = 0; i < window->count; i++) {
        struct item *item = &window->items[i];
        if (!error && (i || separate))
            error = write(user, "\n", 1);
        if (!error)
            error = item->text.error ? item->text.error
                                     : write(user, item->text.data, item->text.size_B);
        *failed += item->failed ? 1 : 0;
        zs_buf_fini(&item->text);
    }
    return error;
}

int zs_report_disasm_text(const struct zs_kernel_ref *kernels, size_t count,
                          const struct zs_disasm_options *options, zs_write_fn *write, void *user,
                          size_t *ret_failed)
{
    struct window *window = calloc(1, sizeof(*window));
    size_t failed = 0;
    int error = window ? 0 : -ENOMEM;
    if (window)
        window->options = options;
    for (size_t at = 0; at < count && !error;) {
        size_t n = fill_window(window, kernels + at, count - at);
        zs_parallel_for(n, 0, write_kernel, window);
        error = flush_window(window, write, user, at != 0, &failed);
        at += n;
    }
    free(window);
    if (ret_failed)
        *ret_failed = failed;
    return error;
}
