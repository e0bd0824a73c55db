/* SPDX-License-Identifier: MIT */
/*
 * The printf buffer. Dword 0 is the offset of the next free byte; kernels add to it what they
 * write, so it may end beyond the buffer. A record is the format string (its index among the
 * kernel's strings; in zebin kernels its 64-bit address), then for each conversion a type and a
 * padded value. A record that did not fit starts with -1 (source: NEO's print_formatter.cpp).
 *
 * The contents come from a kernel and may be anything: every read is bounded, and a format string
 * never reaches the host's printf as it is; each conversion is built anew from checked pieces.
 */
#include "gpu/gpu_priv.h"

#include "base/reader.h"

#include <stdio.h>

enum value_type {
    TYPE_BYTE = 1,
    TYPE_SHORT,
    TYPE_INT,
    TYPE_FLOAT,
    TYPE_STRING,
    TYPE_LONG,
    TYPE_POINTER,
    TYPE_DOUBLE,
    TYPE_VECTOR_BYTE,
    TYPE_VECTOR_SHORT,
    TYPE_VECTOR_INT,
    TYPE_VECTOR_LONG,
    TYPE_VECTOR_FLOAT,
    TYPE_VECTOR_DOUBLE,
    TYPE_COUNT
};

enum { STRING_MAX_B = 16 << 10, FIELD_MAX = 4096, VECTOR_MAX = 16, HEADER_B = 4 };

static const struct {
    uint8_t element_B; /* natural size */
    enum value_type scalar;
    bool is_vector;
} types[TYPE_COUNT] = {
    [TYPE_BYTE] = {1, TYPE_BYTE, false},         [TYPE_SHORT] = {2, TYPE_SHORT, false},
    [TYPE_INT] = {4, TYPE_INT, false},           [TYPE_FLOAT] = {4, TYPE_FLOAT, false},
    [TYPE_STRING] = {4, TYPE_STRING, false},     [TYPE_LONG] = {8, TYPE_LONG, false},
    [TYPE_POINTER] = {8, TYPE_POINTER, false},   [TYPE_DOUBLE] = {8, TYPE_DOUBLE, false},
    [TYPE_VECTOR_BYTE] = {1, TYPE_BYTE, true},   [TYPE_VECTOR_SHORT] = {2, TYPE_SHORT, true},
    [TYPE_VECTOR_INT] = {4, TYPE_INT, true},     [TYPE_VECTOR_LONG] = {8, TYPE_LONG, true},
    [TYPE_VECTOR_FLOAT] = {4, TYPE_FLOAT, true}, [TYPE_VECTOR_DOUBLE] = {8, TYPE_DOUBLE, true},
};

void zs_gpu_printf_init(void *buffer, size_t size_B)
{
    const uint32_t first = HEADER_B;
    if (size_B >= HEADER_B)
        memcpy(buffer, &first, sizeof(first));
}

struct printer {
    const struct zs_kernel *kernel;
    struct zs_gpu_memory *memory;
    bool by_address; /* zebin */
    struct zs_reader in;
    struct zs_buf format, string; /* without escapes; used again and again */
    struct zs_buf *out;
};

/* Patch tokens hold strings as C source spells them (IGC's getEscapedString). */
static void unescape(const char *text, size_t size_B, struct zs_buf *out)
{
    static const char letters[] = "abfnrtv", controls[] = "\a\b\f\n\r\t\v";
    out->size_B = 0;
    for (size_t i = 0; i < size_B; i++) {
        const char *letter = NULL;
        if (text[i] == '\\' && i + 1 < size_B)
            letter = memchr(letters, text[++i], sizeof(letters) - 1);
        zs_buf_putc(out, letter ? controls[letter - letters] : text[i]);
    }
}

/* A string in a live allocation; NULL: none. size_B excludes the terminator. */
static const char *string_at(const struct printer *p, uint64_t gpu_va, size_t *ret_size_B)
{
    struct zs_gpu_allocation a;
    if (!p->memory || !zs_gpu_memory_find(p->memory, gpu_va, &a))
        return NULL;
    const char *bytes = (const char *)(uintptr_t)gpu_va;
    *ret_size_B = strnlen(bytes, ZS_MIN(a.gpu_va + a.size_B - gpu_va, (uint64_t)STRING_MAX_B));
    return bytes;
}

/* A string as records name it: of the kernel, made readable in space, or by address. */
static const char *find_string(const struct printer *p, uint64_t reference, struct zs_buf *space,
                               size_t *ret_size_B)
{
    if (p->by_address)
        return string_at(p, reference, ret_size_B);
    const char *string =
        reference <= UINT32_MAX ? zs_kernel_string(p->kernel, (uint32_t)reference) : NULL;
    if (!string)
        return NULL;
    unescape(string, strnlen(string, STRING_MAX_B), space);
    *ret_size_B = space->size_B;
    return space->size_B ? (const char *)space->data : "";
}

/* ---- one conversion ----------------------------------------------------------------------------
 */

struct conversion {
    char flags[8];
    int width, precision; /* -1: none */
    uint8_t size_B;       /* of an integer, by hh or h; 0: the value's own */
    char letter;
};

/* %[flags][width][.precision][vN][length]letter; returns what follows it. */
static const char *parse_conversion(const char *at, const char *end, struct conversion *ret)
{
    size_t flag_count = 0;
    *ret = (struct conversion){.width = -1, .precision = -1};
    for (; at < end && strchr("-+ #0", *at) && *at; at++) {
        if (flag_count < sizeof(ret->flags) - 1 && !strchr(ret->flags, *at))
            ret->flags[flag_count++] = *at;
    }
    for (; at < end && *at >= '0' && *at <= '9'; at++)
        ret->width = ZS_MIN(ZS_MAX(ret->width, 0) * 10 + (*at - '0'), FIELD_MAX);
    if (at < end && *at == '.') {
        ret->precision = 0;
        for (at++; at < end && *at >= '0' && *at <= '9'; at++)
            ret->precision = ZS_MIN(ret->precision * 10 + (*at - '0'), FIELD_MAX);
    }
    if (at < end && *at == 'v') {
        for (at++; at < end && *at >= '0' && *at <= '9'; at++)
            ;
    }
    for (; at < end && (*at == 'h' || *at == 'l'); at++) /* hl: a vector's 32 bits */
        ret->size_B = *at == 'l' ? 0 : ret->size_B ? 1 : 2;
    ret->letter = at < end ? *at++ : '\0';
    return at;
}

static void build_format(const struct conversion *c, const char *length, char letter, char *ret,
                         size_t size_B)
{
    char width[16] = "", precision[16] = "";
    if (c->width >= 0)
        snprintf(width, sizeof(width), "%d", c->width);
    if (c->precision >= 0)
        snprintf(precision, sizeof(precision), ".%d", c->precision);
    snprintf(ret, size_B, "%%%s%s%s%s%c", c->flags, width, precision, length, letter);
}

static uint64_t read_value(struct printer *p, uint32_t element_B)
{
    uint64_t value = 0;
    for (uint32_t i = 0; i < element_B; i++)
        value |= (uint64_t)zs_read_u8(&p->in, "value") << 8 * i;
    return value;
}

static int64_t sign_extended(uint64_t value, uint32_t element_B)
{
    uint32_t shift = 64 - 8 * element_B;
    return (int64_t)(value << shift) >> shift;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral" /* formats are built by build_format() */
static void print_integer(struct printer *p, const struct conversion *c, uint64_t value,
                          uint32_t element_B)
{
    char format[64];
    bool is_signed = c->letter == 'd' || c->letter == 'i';
    bool is_unsigned = c->letter && strchr("ouxX", c->letter);
    build_format(c, "ll", is_signed || is_unsigned ? c->letter : 'd', format, sizeof(format));
    if (is_unsigned)
        zs_buf_printf(p->out, format, (unsigned long long)value);
    else
        zs_buf_printf(p->out, format, (long long)sign_extended(value, element_B));
}

static void print_scalar(struct printer *p, const struct conversion *c, enum value_type type,
                         uint64_t value)
{
    char format[64];
    if (type == TYPE_FLOAT || type == TYPE_DOUBLE) {
        double number;
        float single;
        uint32_t low = (uint32_t)value;
        memcpy(&single, &low, sizeof(single));
        memcpy(&number, &value, sizeof(number));
        bool known = c->letter && strchr("aAeEfFgG", c->letter);
        build_format(c, "", known ? c->letter : 'f', format, sizeof(format));
        zs_buf_printf(p->out, format, type == TYPE_FLOAT ? (double)single : number);
    } else if (type == TYPE_POINTER) {
        build_format(c, "", 'p', format, sizeof(format));
        zs_buf_printf(p->out, format, (void *)(uintptr_t)value);
    } else if (c->letter == 'c') {
        build_format(c, "", 'c', format, sizeof(format));
        zs_buf_printf(p->out, format, (int)(uint8_t)value);
    } else {
        uint32_t size_B = types[type].element_B;
        if (c->size_B && c->size_B < size_B) { /* the rest is cut off, as in C */
            size_B = c->size_B;
            value &= (1ull << 8 * size_B) - 1;
        }
        print_integer(p, c, value, size_B);
    }
}
#pragma GCC diagnostic pop

static void print_string(struct printer *p, const struct conversion *c, const char *text,
                         size_t size_B)
{
    if (c->precision >= 0)
        size_B = ZS_MIN(size_B, (size_t)c->precision);
    size_t pad = c->width > 0 && (size_t)c->width > size_B ? (size_t)c->width - size_B : 0;
    bool left = strchr(c->flags, '-') != NULL;
    zs_buf_pad(p->out, ' ', left ? 0 : pad);
    zs_buf_append(p->out, text, size_B);
    zs_buf_pad(p->out, ' ', left ? pad : 0);
}

static void print_value(struct printer *p, const struct conversion *c)
{
    uint32_t type = zs_read_u32(&p->in, "type");
    if (p->in.error || type == 0 || type >= TYPE_COUNT) {
        zs_reader_fail(&p->in, -1, "no such type");
        return;
    }
    uint32_t element_B = types[type].element_B, count = 1;
    size_t size_B = 0;
    if (type == TYPE_STRING) {
        const char *text =
            find_string(p, read_value(p, p->by_address ? 8 : 4), &p->string, &size_B);
        if (text)
            print_string(p, c, text, size_B);
        return;
    }
    if (type == TYPE_POINTER && c->letter == 's') { /* a string that the compiler did not know */
        uint64_t gpu_va = read_value(p, element_B);
        const char *text = string_at(p, gpu_va, &size_B);
        if (text)
            print_string(p, c, text, size_B);
        else if (!p->in.error)
            print_scalar(p, c, TYPE_POINTER, gpu_va);
        return;
    }
    if (types[type].is_vector) {
        count = zs_read_u32(&p->in, "count");
        if (count > VECTOR_MAX) {
            zs_reader_fail(&p->in, -1, "vector too long");
            return;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        uint64_t value = read_value(p, element_B);
        if (p->in.error)
            return;
        if (i)
            zs_buf_putc(p->out, ',');
        print_scalar(p, c, types[type].scalar, value);
    }
    if (element_B < 4)
        zs_read_skip(&p->in, (uint64_t)(4 - element_B) * count, "padding");
}

/* ---- records -----------------------------------------------------------------------------------
 */

static void print_record(struct printer *p, const char *format, size_t size_B)
{
    const char *end = format + size_B;
    for (const char *at = format; at < end && !p->in.error;) {
        if (*at != '%') {
            zs_buf_putc(p->out, *at++);
        } else if (at + 1 < end && at[1] == '%') {
            zs_buf_putc(p->out, '%');
            at += 2;
        } else {
            struct conversion conversion;
            at = parse_conversion(at + 1, end, &conversion);
            if (conversion.letter)
                print_value(p, &conversion);
        }
    }
}

void zs_gpu_printf_drain(const struct zs_gpu_kernel *kernel, struct zs_gpu_memory *memory,
                         void *buffer, size_t size_B, struct zs_buf *out)
{
    if (size_B < HEADER_B)
        return;
    uint32_t used_B = zs_load_u32(buffer);
    used_B = (uint32_t)ZS_MIN((size_t)used_B, size_B);
    struct printer p = {.kernel = kernel->module,
                        .memory = memory,
                        .by_address = kernel->module->section != ZS_NONE,
                        .out = out};
    if (used_B > HEADER_B)
        p.in = zs_reader_make(zs_span_make((const uint8_t *)buffer + HEADER_B, used_B - HEADER_B),
                              HEADER_B, NULL);
    while (zs_reader_left(&p.in) > 0) {
        uint64_t reference =
            p.by_address ? zs_read_u64(&p.in, "format") : zs_read_u32(&p.in, "format");
        size_t format_B = 0;
        const char *format = p.in.error ? NULL : find_string(&p, reference, &p.format, &format_B);
        if (!format) /* the mark of a full buffer, or nonsense */
            break;
        print_record(&p, format, format_B);
    }
    zs_buf_fini(&p.format);
    zs_buf_fini(&p.string);
    zs_gpu_printf_init(buffer, size_B);
}
