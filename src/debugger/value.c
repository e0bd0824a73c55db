/* SPDX-License-Identifier: MIT */
/* Values by type: as text, members, elements, what pointers point to, numbers, and storing them. */
#include "debugger/debugger_priv.h"

#include "base/number.h"
#include "base/small_float.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    VALUE_MAX_B = 1 << 20,
    SHOWN_ELEMENTS = 64,
    MEMBERS_MAX = 256,
    PARTS_MAX = 16,
    PARTS_NESTED_MAX = 3,
    DEPTH_MAX = 6,
    TEXT_MAX = 4096,
    PICKED_MAX = ZS_DBG_PICKED_MAX
};
enum { CHILDREN_MAX = 65536 };

struct zs_dbg_value *zs_dbg_value_new(const struct zs_dbg_context *c, const char *name)
{
    struct zs_dbg_value *v = ZS_ARENA_NEW(c->arena, struct zs_dbg_value);
    if (!v)
        return NULL;
    v->context = *c;
    v->shown.name = zs_arena_strndup(c->arena, name, strlen(name));
    v->shown.type = v->shown.text = "";
    return v->shown.name ? v : NULL;
}

static bool get_type(const struct zs_dbg_value *v, uint32_t type, struct zs_type *ret)
{
    memset(ret, 0, sizeof(*ret));
    return v->dwarf && type && zs_type_get(v->dwarf, zs_type_strip(v->dwarf, type), ret) == 0;
}

/* ---- numbers ---- */

static double float_of(const uint8_t *bytes, uint64_t size_B)
{
    float f;
    double d;
    uint16_t h;
    if (size_B == 8) {
        memcpy(&d, bytes, 8);
        return d;
    }
    if (size_B == 4) {
        memcpy(&f, bytes, 4);
        return (double)f;
    }
    memcpy(&h, bytes, 2);
    return (double)zs_half_to_float(h);
}

static enum zs_dbg_scalar scalar_of(const struct zs_type *t)
{
    if (t->kind == ZS_KIND_POINTER || t->kind == ZS_KIND_REFERENCE)
        return ZS_DBG_UNSIGNED;
    if (t->kind == ZS_KIND_ENUM)
        return ZS_DBG_SIGNED;
    if (t->kind != ZS_KIND_BASE || t->size_B > 8)
        return ZS_DBG_NOT_SCALAR;
    if (t->encoding == ZS_ENCODING_FLOAT)
        return t->size_B == 2 || t->size_B == 4 || t->size_B == 8 ? ZS_DBG_FLOAT
                                                                  : ZS_DBG_NOT_SCALAR;
    return t->encoding == ZS_ENCODING_SIGNED || t->encoding == ZS_ENCODING_SIGNED_CHAR
               ? ZS_DBG_SIGNED
               : ZS_DBG_UNSIGNED;
}

static struct zs_dbg_number number_of(enum zs_dbg_scalar kind, const uint8_t *bytes,
                                      uint64_t size_B, uint32_t bit_size)
{
    struct zs_dbg_number n = {.kind = kind};
    uint64_t value = 0;
    if (kind == ZS_DBG_FLOAT) {
        n.f = float_of(bytes, size_B);
        return n;
    }
    memcpy(&value, bytes, ZS_MIN(size_B, 8u));
    uint32_t bits = bit_size ? bit_size : (uint32_t)ZS_MIN(size_B, 8u) * 8;
    if (kind == ZS_DBG_SIGNED && bits && bits < 64 && value >> (bits - 1) & 1)
        value |= UINT64_MAX << bits;
    n.u = value;
    return n;
}

int zs_dbg_value_number(struct zs_dbg_value *v, struct zs_dbg_number *ret)
{
    if (!v->data)
        return zs_diag_set(v->context.diag, -ENODATA, ZS_DIAG_NO_OFFSET, "%s: %s", v->shown.name,
                           v->why ? v->why : "not available");
    if (v->scalar == ZS_DBG_NOT_SCALAR)
        return zs_diag_set(v->context.diag, -EINVAL, ZS_DIAG_NO_OFFSET, "%s is no number",
                           v->shown.name);
    *ret = number_of(v->scalar, v->data, v->shown.size_B, v->bit_size);
    return 0;
}

/* ---- arrays ---- */

/* What an index of an array (or vector) is for, behind `dimension` others. */
struct row {
    uint64_t count;  /* 0: not known */
    uint64_t size_B; /* of each; 0: not known */
    bool has_more;   /* they are arrays themselves */
};

static struct row row_of(const struct zs_dbg_value *v, uint32_t type, const struct zs_type *t,
                         uint32_t dimension)
{
    uint64_t counts[ZS_TYPE_DIMENSIONS_MAX];
    struct zs_type element;
    struct row row = {.count = t->count};
    size_t n = t->kind == ZS_KIND_ARRAY
                   ? zs_type_dimensions(v->dwarf, zs_type_strip(v->dwarf, type), counts,
                                        ZS_TYPE_DIMENSIONS_MAX)
                   : 0;
    if (get_type(v, t->target, &element))
        row.size_B = element.size_B;
    if (n <= 1 || dimension >= n)
        return row;
    row.count = counts[dimension];
    row.has_more = dimension + 1 < n;
    for (size_t i = dimension + 1; i < n; i++)
        row.size_B = row.size_B * counts[i];
    if (t->size_B && row.size_B > t->size_B) /* sizes that nothing has */
        row.size_B = 0;
    return row;
}

/* ---- text ---- */

static void put_double(struct zs_buf *out, double value, uint64_t size_B)
{
    char text[ZS_NUMBER_CHARS];
    zs_number_shortest(text, value, (unsigned)size_B);
    zs_buf_puts(out, text);
}

static void put_enum(const struct zs_dbg_value *v, uint32_t type, int64_t value, struct zs_buf *out)
{
    struct zs_type_member members[MEMBERS_MAX];
    size_t count = zs_type_members(v->dwarf, type, members, MEMBERS_MAX);
    for (size_t i = 0; i < count && i < MEMBERS_MAX; i++)
        if (members[i].value == value) {
            zs_buf_puts(out, members[i].name);
            return;
        }
    zs_buf_printf(out, "%" PRId64, value);
}

static void put_scalar(const struct zs_dbg_value *v, uint32_t type, const struct zs_type *t,
                       const uint8_t *bytes, uint32_t bit_size, struct zs_buf *out)
{
    enum zs_dbg_scalar kind = scalar_of(t);
    struct zs_dbg_number n = number_of(kind, bytes, t->size_B ? t->size_B : 8, bit_size);
    if (kind == ZS_DBG_FLOAT)
        put_double(out, n.f, t->size_B);
    else if (t->kind == ZS_KIND_POINTER || t->kind == ZS_KIND_REFERENCE)
        zs_buf_printf(out, "%#" PRIx64, n.u);
    else if (t->kind == ZS_KIND_ENUM)
        put_enum(v, type, n.i, out);
    else if (t->encoding == ZS_ENCODING_BOOL)
        zs_buf_puts(out, n.u ? "true" : "false");
    else if (kind == ZS_DBG_SIGNED)
        zs_buf_printf(out, "%" PRId64, n.i);
    else
        zs_buf_printf(out, "%" PRIu64, n.u);
}

static void put_value(const struct zs_dbg_value *v, uint32_t type, const uint8_t *bytes,
                      uint64_t size_B, uint32_t depth, struct zs_buf *out);

static void put_members(const struct zs_dbg_value *v, uint32_t type, const uint8_t *bytes,
                        uint64_t size_B, uint32_t depth, struct zs_buf *out)
{
    struct zs_type_member members[MEMBERS_MAX];
    size_t count = zs_type_members(v->dwarf, type, members, MEMBERS_MAX);
    zs_buf_putc(out, '{');
    for (size_t i = 0; i < count && i < MEMBERS_MAX; i++) {
        const struct zs_type_member *m = &members[i];
        struct zs_type t;
        zs_buf_printf(out, "%s%s = ", i ? ", " : "", m->name[0] ? m->name : "<anonymous>");
        if (!get_type(v, m->type, &t) || m->offset_B > size_B ||
            (m->bit_size ? 8 : t.size_B) > size_B + 8 - m->offset_B) {
            zs_buf_puts(out, "?");
            continue;
        }
        if (!m->bit_size) {
            put_value(v, m->type, bytes + m->offset_B, size_B - m->offset_B, depth + 1, out);
            continue;
        }
        uint8_t field[8] = {0};
        for (uint32_t b = 0; b < m->bit_size && b < 64; b++) {
            uint64_t at = m->offset_B * 8 + m->bit_offset + b;
            if (at / 8 < size_B && bytes[at / 8] >> at % 8 & 1)
                field[b / 8] = (uint8_t)(field[b / 8] | 1u << b % 8);
        }
        put_scalar(v, zs_type_strip(v->dwarf, m->type), &t, field, m->bit_size, out);
    }
    zs_buf_putc(out, '}');
}

static void put_elements(const struct zs_dbg_value *v, uint32_t type, const struct zs_type *t,
                         uint32_t dimension, const uint8_t *bytes, uint64_t size_B, uint32_t depth,
                         struct zs_buf *out)
{
    struct row row = row_of(v, type, t, dimension);
    if (!row.size_B) {
        zs_buf_puts(out, "{...}");
        return;
    }
    uint64_t count = ZS_MIN(row.count, size_B / row.size_B);
    zs_buf_putc(out, '{');
    for (uint64_t i = 0; i < count && i < SHOWN_ELEMENTS && out->size_B < TEXT_MAX; i++) {
        zs_buf_puts(out, i ? ", " : "");
        if (row.has_more)
            put_elements(v, type, t, dimension + 1, bytes + i * row.size_B, row.size_B, depth + 1,
                         out);
        else
            put_value(v, t->target, bytes + i * row.size_B, row.size_B, depth + 1, out);
    }
    zs_buf_puts(out, count > SHOWN_ELEMENTS || count < row.count ? ", ...}" : "}");
}

static void put_value(const struct zs_dbg_value *v, uint32_t type, const uint8_t *bytes,
                      uint64_t size_B, uint32_t depth, struct zs_buf *out)
{
    struct zs_type t;
    if (!get_type(v, type, &t) || depth > DEPTH_MAX || out->size_B > TEXT_MAX)
        zs_buf_puts(out, "...");
    else if (t.kind == ZS_KIND_STRUCT || t.kind == ZS_KIND_UNION || t.kind == ZS_KIND_CLASS)
        put_members(v, zs_type_strip(v->dwarf, type), bytes, size_B, depth, out);
    else if (t.kind == ZS_KIND_ARRAY || t.kind == ZS_KIND_VECTOR)
        put_elements(v, type, &t, 0, bytes, size_B, depth, out);
    else if (scalar_of(&t) != ZS_DBG_NOT_SCALAR && (t.size_B ? t.size_B : 8) <= size_B)
        put_scalar(v, zs_type_strip(v->dwarf, type), &t, bytes, 0, out);
    else
        zs_buf_puts(out, "?");
}

static const char *keep(const struct zs_dbg_context *c, const char *text)
{
    const char *copy = zs_arena_strndup(c->arena, text, strlen(text));
    return copy ? copy : "";
}

static void describe(struct zs_dbg_value *v, const struct zs_type *t)
{
    struct zs_buf out = {0};
    const struct zs_piece *p = &v->place.pieces[0];
    const uint64_t have_B = ZS_MIN(v->shown.size_B, (uint64_t)VALUE_MAX_B); /* of v->data */
    if (!v->data && v->has_parts)
        zs_buf_puts(&out, v->why);
    else if (!v->data)
        zs_buf_printf(&out, "<%s>", v->why ? v->why : "not available");
    else if (v->bit_size)
        put_scalar(v, zs_type_strip(v->dwarf, v->type), t, v->data, v->bit_size, &out);
    else if (v->dimension)
        put_elements(v, v->type, t, v->dimension, v->data, have_B, 0, &out);
    else
        put_value(v, v->type, v->data, have_B, 0, &out);
    v->shown.text = keep(&v->context, zs_buf_cstr(&out));
    zs_buf_fini(&out);
    v->shown.available = v->data != NULL;
    v->shown.bytes = v->data;
    v->shown.in_memory = v->place.count == 1 && p->kind == ZS_PIECE_MEMORY;
    v->shown.gpu_va = v->shown.in_memory ? p->gpu_va + (p->bit_offset + v->at_bits) / 8 : 0;
    v->shown.writable = v->data != NULL && v->scalar != ZS_DBG_NOT_SCALAR;
    for (uint32_t i = 0; i < v->place.count; i++) {
        const struct zs_piece *piece = &v->place.pieces[i];
        v->shown.writable &= piece->kind == ZS_PIECE_MEMORY || piece->kind == ZS_PIECE_REGISTER ||
                             (piece->kind == ZS_PIECE_VALUE && piece->from_register);
    }
}

static uint32_t count_children(const struct zs_dbg_value *v, const struct zs_type *t)
{
    struct zs_type target;
    switch (t->kind) {
    case ZS_KIND_STRUCT:
    case ZS_KIND_UNION:
    case ZS_KIND_CLASS:
        return (uint32_t)zs_type_members(v->dwarf, zs_type_strip(v->dwarf, v->type), NULL, 0);
    case ZS_KIND_ARRAY:
    case ZS_KIND_VECTOR:
        return (uint32_t)ZS_MIN(row_of(v, v->type, t, v->dimension).count, (uint64_t)CHILDREN_MAX);
    case ZS_KIND_POINTER:
    case ZS_KIND_REFERENCE:
        return get_type(v, t->target, &target) && target.size_B ? 1 : 0;
    default:
        return 0;
    }
}

/* "int[2]" of a row of an int[3][2]. */
static void print_row_type(const struct zs_dbg_value *v, const struct zs_type *t, char *ret,
                           size_t size_B)
{
    uint64_t counts[ZS_TYPE_DIMENSIONS_MAX];
    size_t n = zs_type_dimensions(v->dwarf, zs_type_strip(v->dwarf, v->type), counts,
                                  ZS_TYPE_DIMENSIONS_MAX);
    size_t at = ZS_MIN(zs_type_print(v->dwarf, t->target, ret, size_B), size_B - 1);
    for (size_t i = v->dimension; i < n && at < size_B - 1; i++) {
        int more = snprintf(ret + at, size_B - at, "[%" PRIu64 "]", counts[i]);
        at = ZS_MIN(at + (size_t)ZS_MAX(more, 0), size_B - 1);
    }
}

/* Where some of its pieces are there: as text, "{a = 3, b = <not available here>}". */
static const char *describe_parts(struct zs_dbg_value *v)
{
    static const char nothing[] = "not available here";
    struct zs_debug_value *parts[PARTS_MAX];
    struct zs_diag *diag = v->context.diag, ignored;
    struct zs_buf out = {0};
    uint32_t known = 0;
    int count = 0;
    zs_diag_clear(&ignored);
    if (v->place.count && v->shown.child_count && v->nesting < PARTS_NESTED_MAX)
        count = zs_debug_children(v->context.d, &v->shown, 0, parts, PARTS_MAX, &ignored);
    v->context.diag = diag;
    for (int i = 0; i < count; i++) {
        bool named = parts[i]->name[0] != '[';
        known += parts[i]->available;
        zs_buf_printf(&out, "%s%s%s%s", i ? ", " : "{", named ? parts[i]->name : "",
                      named ? " = " : "", parts[i]->text);
    }
    zs_buf_putc(&out, '}');
    const char *text = known ? keep(&v->context, zs_buf_cstr(&out)) : nothing;
    v->has_parts = known > 0;
    zs_buf_fini(&out);
    return text;
}

int zs_dbg_value_load(struct zs_dbg_value *v)
{
    struct zs_type t;
    char name[256] = "";
    if (!get_type(v, v->type, &t)) {
        v->why = v->why ? v->why : "its type is not known";
        describe(v, &t);
        return 0;
    }
    if (v->dimension)
        print_row_type(v, &t, name, sizeof(name));
    else
        zs_type_print(v->dwarf, v->type, name, sizeof(name));
    v->shown.type = keep(&v->context, name);
    v->shown.size_B = v->dimension                ? row_of(v, v->type, &t, v->dimension - 1).size_B
                      : t.size_B                  ? t.size_B
                      : t.kind == ZS_KIND_POINTER ? 8
                                                  : 0;
    v->scalar = scalar_of(&t);
    v->shown.child_count = count_children(v, &t);
    if (!v->why && (!v->shown.size_B || !v->place.count))
        v->why = "it has no size";
    if (!v->why) {
        uint64_t size_B = ZS_MIN(v->shown.size_B, (uint64_t)VALUE_MAX_B);
        uint8_t *data = zs_arena_alloc(v->context.arena, size_B + 8);
        int error = data ? zs_dbg_place_read(v, data, size_B) : -ENOMEM;
        if (error == -EFAULT || error == -ESRCH)
            v->why = "its memory cannot be read";
        else if (error)
            v->why = describe_parts(v);
        else
            v->data = data;
    }
    describe(v, &t);
    return 0;
}

int zs_dbg_value_of_number(const struct zs_dbg_context *c, const char *name,
                           struct zs_dbg_number number, uint32_t size_B, const char *type,
                           struct zs_dbg_value **ret)
{
    char text[64];
    struct zs_dbg_value *v = zs_dbg_value_new(c, name);
    uint8_t *data = v ? zs_arena_alloc(c->arena, 16) : NULL;
    struct zs_buf out = {0};
    if (!data)
        return -ENOMEM;
    float f = (float)number.f;
    if (number.kind == ZS_DBG_FLOAT && size_B == 4)
        memcpy(data, &f, 4);
    else
        memcpy(data, &number.u, 8);
    if (number.kind == ZS_DBG_FLOAT)
        put_double(&out, number.f, size_B);
    snprintf(text, sizeof(text), number.kind == ZS_DBG_SIGNED ? "%" PRId64 : "%" PRIu64, number.u);
    v->shown.text = keep(c, number.kind == ZS_DBG_FLOAT ? zs_buf_cstr(&out) : text);
    zs_buf_fini(&out);
    v->shown.type = type;
    v->shown.available = true;
    v->shown.size_B = size_B;
    v->shown.bytes = v->data = data;
    v->scalar = number.kind;
    *ret = v;
    return 0;
}

int zs_dbg_value_of_memory(const struct zs_dbg_context *c, const char *name, uint64_t gpu_va,
                           struct zs_dbg_plain type, const char *why, struct zs_dbg_value **ret)
{
    char text[400];
    struct zs_dbg_number n = {.kind = type.kind};
    struct zs_dbg_value *v = zs_dbg_value_new(c, name), *shown;
    uint8_t *data = v ? zs_arena_alloc(c->arena, 16) : NULL;
    if (!data)
        return -ENOMEM;
    v->place.count = 1;
    v->place.pieces[0] = (struct zs_piece){.kind = ZS_PIECE_MEMORY, .gpu_va = gpu_va};
    v->scalar = type.kind;
    v->shown.type = type.name;
    v->shown.size_B = type.size_B;
    v->shown.in_memory = true;
    v->shown.gpu_va = gpu_va;
    *ret = v;
    v->why = why;
    if (!why && zs_dbg_place_read(v, data, type.size_B))
        v->why = "its memory cannot be read";
    if (v->why) {
        snprintf(text, sizeof(text), "<%s>", v->why);
        v->shown.text = keep(c, text);
        return 0;
    }
    v->shown.bytes = v->data = data;
    v->shown.available = v->shown.writable = true;
    int error = zs_dbg_value_number(v, &n);
    error = error ? error : zs_dbg_value_of_number(c, name, n, type.size_B, type.name, &shown);
    v->shown.text = error ? NULL : shown->shown.text;
    return error;
}

/* What stands where debug info says that the variable is: people see it, nothing is computed of it.
 */
static void set_perhaps(struct zs_dbg_value *v, const struct zs_eval_result *place)
{
    char text[512];
    struct zs_dbg_value *other = place->count ? zs_dbg_value_new(&v->context, "") : NULL;
    if (!other)
        return;
    other->dwarf = v->dwarf;
    other->type = v->type;
    other->place = *place;
    if (zs_dbg_value_load(other) || (!other->data && !other->has_parts))
        return;
    v->shown.perhaps = other->has_parts ? other->why : other->shown.text;
    const char *reason = strchr(v->why, ':');
    snprintf(text, sizeof(text), "perhaps %.300s%.180s", v->shown.perhaps, reason ? reason : "");
    v->why = keep(&v->context, text);
}

int zs_dbg_variable_value(const struct zs_dbg_context *c, const struct zs_variable *variable,
                          struct zs_dbg_value **ret)
{
    struct zs_dbg_context own = *c;
    struct zs_diag diag;
    struct zs_eval_result perhaps;
    zs_diag_clear(&diag);
    struct zs_dbg_value *v = zs_dbg_value_new(c, variable->name);
    if (!v)
        return -ENOMEM;
    v->dwarf = c->frame->call->kernel->info->dwarf;
    v->type = variable->type;
    v->shown.parameter = variable->parameter;
    own.diag = &diag;
    if (zs_dbg_locate(&own, variable, &v->place, &perhaps)) {
        v->why = keep(c, diag.text);
        set_perhaps(v, &perhaps);
    }
    *ret = v;
    return zs_dbg_value_load(v);
}

/* ---- parts ---- */

static struct zs_dbg_value *part(struct zs_dbg_value *v, const char *name, uint32_t type,
                                 uint64_t at_bits, uint32_t bit_size, uint32_t dimension)
{
    struct zs_dbg_value *p = zs_dbg_value_new(&v->context, name);
    if (!p)
        return NULL;
    p->dwarf = v->dwarf;
    p->type = type;
    p->place = v->place;
    p->why = v->why;
    p->at_bits = v->at_bits + at_bits;
    p->bit_size = bit_size;
    p->dimension = dimension;
    p->nesting = (uint8_t)ZS_MIN(v->nesting + 1u, 255u);
    (void)zs_dbg_value_load(p);
    return p;
}

/* One of x y z w or of r g b a; -1: neither. */
static int letter_element(char c, const char *letters)
{
    const char *found = c ? strchr(letters, c) : NULL;
    return found ? (int)(found - letters) : -1;
}

static int digit_element(char c, const char *digits)
{
    const char *found = c ? strchr(digits, tolower((unsigned char)c)) : NULL;
    return found ? (int)(found - digits) : -1;
}

/* Which elements of a vector a name stands for: letters, s and digits, lo hi even odd (of three as
 * of four). How many; 0: it is no such name, or they are not there. */
static uint32_t pick(const char *name, uint64_t count, uint8_t ret_picked[PICKED_MAX])
{
    static const struct {
        const char *name;
        uint32_t step, halves, ones; /* the i-th is i * step + halves * half + ones */
    } halves[] = {{"lo", 1, 0, 0}, {"hi", 1, 1, 0}, {"even", 2, 0, 0}, {"odd", 2, 0, 1}};
    static const struct {
        const char *begin, *elements;
        int (*element)(char c, const char *elements);
    } ways[] = {{"", "xyzw", letter_element},
                {"", "rgba", letter_element},
                {"s", "0123456789abcdef", digit_element},
                {"S", "0123456789abcdef", digit_element}};
    uint32_t half = ((uint32_t)ZS_MIN(count, (uint64_t)PICKED_MAX) + 1) / 2;
    for (size_t h = 0; h < ZS_ARRAY_LEN(halves); h++) {
        if (strcmp(halves[h].name, name) != 0)
            continue;
        for (uint32_t i = 0; i < half; i++) {
            uint32_t at = i * halves[h].step + halves[h].halves * half + halves[h].ones;
            if (at >= count)
                return 0;
            ret_picked[i] = (uint8_t)at;
        }
        return half;
    }
    for (size_t w = 0; w < ZS_ARRAY_LEN(ways); w++) {
        size_t begin = strlen(ways[w].begin), length = strlen(name), i = begin;
        if (length <= begin || length - begin > PICKED_MAX ||
            strncmp(name, ways[w].begin, begin) != 0)
            continue;
        for (int at; i < length; i++) {
            at = ways[w].element(name[i], ways[w].elements);
            if (at < 0 || (uint64_t)at >= count)
                break;
            ret_picked[i - begin] = (uint8_t)at;
        }
        if (i == length)
            return (uint32_t)(length - begin);
    }
    return 0;
}

/* A vector of elements of another one. */
static int load_picked(struct zs_dbg_value *v, const struct zs_type *t)
{
    char type[256] = "";
    struct zs_buf text = {0};
    const struct zs_piece *p = &v->place.pieces[0];
    uint64_t size_B = row_of(v, v->type, t, 0).size_B;
    uint8_t *data = zs_arena_alloc(v->context.arena, PICKED_MAX * sizeof(uint64_t));
    bool adjacent = v->place.count == 1 && p->kind == ZS_PIECE_MEMORY;
    if (!data)
        return -ENOMEM;
    if (!size_B || size_B > sizeof(uint64_t))
        return zs_diag_set(v->context.diag, -EINVAL, ZS_DIAG_NO_OFFSET,
                           "%s: its elements are no numbers", v->shown.name);
    for (uint32_t i = 0; i < v->picked_count && !v->why; i++) {
        struct zs_dbg_value *e;
        int error = zs_dbg_value_element(v, i, &e);
        if (error) {
            zs_buf_fini(&text);
            return error;
        }
        adjacent &= v->picked[i] == v->picked[0] + i;
        v->why = e->data ? NULL : e->why;
        if (e->data)
            memcpy(data + i * size_B, e->data, size_B);
        zs_buf_printf(&text, "%s%s", i ? ", " : "{", e->shown.text);
    }
    zs_buf_putc(&text, '}');
    zs_type_print(v->dwarf, t->target, type, sizeof(type) - 4);
    snprintf(type + strlen(type), 4, "%u", v->picked_count);
    v->data = v->why ? NULL : data;
    v->shown.type = keep(&v->context, type);
    v->shown.size_B = v->picked_count * size_B;
    v->shown.child_count = v->picked_count;
    v->shown.available = v->data != NULL;
    v->shown.bytes = v->data;
    v->shown.in_memory = adjacent;
    v->shown.gpu_va =
        adjacent ? p->gpu_va + (p->bit_offset + v->at_bits) / 8 + v->picked[0] * size_B : 0;
    if (v->why) {
        text.size_B = 0;
        zs_buf_printf(&text, "<%s>", v->why);
    }
    v->shown.text = keep(&v->context, zs_buf_cstr(&text));
    zs_buf_fini(&text);
    return 0;
}

/* "v.zyx": OpenCL has vectors of these lengths. */
static int picked_of(struct zs_dbg_value *v, const struct zs_type *t, const char *name,
                     const uint8_t *picked, uint32_t count, struct zs_dbg_value **ret)
{
    if (count > 4 && count != 8 && count != 16)
        return zs_diag_set(v->context.diag, -EINVAL, ZS_DIAG_NO_OFFSET,
                           "%s.%s: no vector has %u elements", v->shown.name, name, count);
    struct zs_dbg_value *p = zs_dbg_value_new(&v->context, name);
    if (!p)
        return -ENOMEM;
    p->dwarf = v->dwarf;
    p->type = v->type;
    p->place = v->place;
    p->why = v->why;
    p->at_bits = v->at_bits;
    p->picked_count = count;
    for (uint32_t i = 0; i < count; i++)
        p->picked[i] = v->picked_count ? v->picked[picked[i]] : picked[i];
    *ret = p;
    return load_picked(p, t);
}

int zs_dbg_value_member(struct zs_dbg_value *v, const char *name, struct zs_dbg_value **ret)
{
    struct zs_type t;
    struct zs_type_member members[MEMBERS_MAX];
    if (!get_type(v, v->type, &t))
        t.kind = ZS_KIND_NONE;
    uint8_t picked[PICKED_MAX];
    uint32_t picked_count = t.kind == ZS_KIND_VECTOR
                                ? pick(name, v->picked_count ? v->picked_count : t.count, picked)
                                : 0;
    if (picked_count == 1)
        return zs_dbg_value_element(v, picked[0], ret);
    if (picked_count)
        return picked_of(v, &t, name, picked, picked_count, ret);
    size_t count = 0;
    if (t.kind == ZS_KIND_STRUCT || t.kind == ZS_KIND_UNION || t.kind == ZS_KIND_CLASS)
        count = zs_type_members(v->dwarf, zs_type_strip(v->dwarf, v->type), members, MEMBERS_MAX);
    for (size_t i = 0; i < count && i < MEMBERS_MAX; i++) {
        if (strcmp(members[i].name, name) != 0)
            continue;
        *ret = part(v, name, members[i].type, members[i].offset_B * 8 + members[i].bit_offset,
                    members[i].bit_size, 0);
        return *ret ? 0 : -ENOMEM;
    }
    return zs_diag_set(v->context.diag, -EINVAL, ZS_DIAG_NO_OFFSET, "%s has no member %s",
                       v->shown.name, name);
}

uint64_t zs_dbg_value_pointee_B(const struct zs_dbg_value *v)
{
    struct zs_type t, target;
    if (v->target)
        return v->target->shown.size_B;
    if (v->plain.size_B)
        return v->plain.size_B;
    return get_type(v, v->type, &t) && t.kind == ZS_KIND_POINTER && get_type(v, t.target, &target)
               ? target.size_B
               : 0;
}

/* The object of a type at an address; why: it is not to be read, or NULL. */
static int object_at(const struct zs_dbg_value *v, const char *why, const char *name, uint32_t type,
                     uint32_t dimension, uint64_t gpu_va, struct zs_dbg_value **ret)
{
    struct zs_dbg_value *p = zs_dbg_value_new(&v->context, name);
    if (!p)
        return -ENOMEM;
    p->dwarf = v->dwarf;
    p->type = type;
    p->dimension = dimension;
    p->place.count = 1;
    p->place.pieces[0] = (struct zs_piece){.kind = ZS_PIECE_MEMORY, .gpu_va = gpu_va};
    p->why = why;
    *ret = p;
    return zs_dbg_value_load(p);
}

/* What a pointer points into ends somewhere: elements beyond it are somebody else's. Other drivers
 * do not tell. */
static const char *out_of_allocation(const struct zs_dbg_value *v, uint64_t va, int64_t index,
                                     uint64_t size_B)
{
    const struct zs_dbg_context *c = &v->context;
    struct zs_history_request request = zs_dbg_history_request(ZS_HISTORY_NEAR, c->thread);
    uint64_t tagged, to_va = va + (uint64_t)index * size_B;
    char text[320];
    request.position = va;
    if (!index || zs_dbg_space_of(c->d, c->thread, va, &tagged) != ZS_DEBUG_SPACE_GLOBAL ||
        tagged != va || zs_dbg_history_ask(c->d, &request, NULL) || !c->d->history->count)
        return NULL;
    const struct zs_history_memory *m = &c->d->history->memory;
    if (m->is_freed || va - m->allocation_va >= m->allocation_B ||
        to_va - m->allocation_va < m->allocation_B)
        return NULL;
    snprintf(text, sizeof(text),
             "%.64s[%" PRId64 "] is outside: %.64s points into an allocation of %" PRIu64
             " bytes at %#" PRIx64,
             v->shown.name, index, v->shown.name, m->allocation_B, m->allocation_va);
    return keep(c, text);
}

int zs_dbg_value_pointee(struct zs_dbg_value *v, int64_t index, struct zs_dbg_value **ret)
{
    struct zs_type t, target;
    struct zs_dbg_number number = {0};
    int error = zs_dbg_value_number(v, &number);
    if (error)
        return error;
    if (v->target && !index && !v->is_kept) {
        *ret = v->target;
        return 0;
    }
    char name[256];
    snprintf(name, sizeof(name), index ? "%s[%" PRId64 "]" : "*%s", v->shown.name, index);
    const char *why = out_of_allocation(v, number.u, index, zs_dbg_value_pointee_B(v));
    if (v->target && v->target->dwarf)
        return object_at(v->target, why, name, v->target->type, v->target->dimension,
                         number.u + (uint64_t)index * v->target->shown.size_B, ret);
    if (!v->dwarf && number.kind != ZS_DBG_FLOAT) {
        struct zs_dbg_plain type =
            v->target         ? (struct zs_dbg_plain){v->target->shown.type,
                                                      (uint32_t)v->target->shown.size_B, v->target->scalar}
            : v->plain.size_B ? v->plain
                              : (struct zs_dbg_plain){"uint", 4, ZS_DBG_UNSIGNED};
        return zs_dbg_value_of_memory(&v->context, name, number.u + (uint64_t)index * type.size_B,
                                      type, why, ret);
    }
    if (!get_type(v, v->type, &t) || t.kind != ZS_KIND_POINTER || !get_type(v, t.target, &target) ||
        !target.size_B)
        return zs_diag_set(v->context.diag, -EINVAL, ZS_DIAG_NO_OFFSET, "%s is no pointer",
                           v->shown.name);
    return object_at(v, why, name, t.target, 0, number.u + (uint64_t)index * target.size_B, ret);
}

/* ---- "v@n" ---- */

static int repeated_element(struct zs_dbg_value *v, int64_t index, struct zs_dbg_value **ret)
{
    char name[64];
    if (index < 0 || (uint64_t)index >= v->repeated)
        return zs_diag_set(v->context.diag, -EINVAL, ZS_DIAG_NO_OFFSET,
                           "%s has %" PRIu64 " elements", v->shown.name, v->repeated);
    uint64_t size_B = v->shown.size_B / v->repeated, at_B = (uint64_t)index * size_B;
    snprintf(name, sizeof(name), "[%" PRId64 "]", index);
    if (v->dwarf) {
        *ret = part(v, name, v->type, at_B * 8, 0, v->dimension);
        return *ret ? 0 : -ENOMEM;
    }
    if (!v->is_kept)
        return zs_dbg_value_of_memory(&v->context, name, v->shown.gpu_va + at_B, v->element, NULL,
                                      ret);
    if (!v->data)
        return zs_diag_set(v->context.diag, -ENODATA, ZS_DIAG_NO_OFFSET, "not available");
    return zs_dbg_value_of_number(&v->context, name,
                                  number_of(v->element.kind, v->data + at_B, size_B, 0),
                                  (uint32_t)size_B, v->element.name, ret);
}

static void describe_repeated(struct zs_dbg_value *v)
{
    struct zs_buf out = {0};
    for (uint64_t i = 0; v->data && i < v->repeated && i < SHOWN_ELEMENTS; i++) {
        struct zs_dbg_value *e;
        bool ok = !repeated_element(v, (int64_t)i, &e);
        zs_buf_printf(&out, "%s%s", i ? ", " : "{", ok ? e->shown.text : "?");
    }
    if (v->data)
        zs_buf_puts(&out, v->repeated > SHOWN_ELEMENTS ? ", ...}" : "}");
    else
        zs_buf_printf(&out, "<%s>", v->why);
    v->shown.text = keep(&v->context, zs_buf_cstr(&out));
    zs_buf_fini(&out);
}

int zs_dbg_value_repeat(struct zs_dbg_value *v, int64_t count, struct zs_dbg_value **ret)
{
    const struct zs_debug_value *of = &v->shown;
    char type[280];
    if (!of->in_memory || v->picked_count || v->bit_size || v->repeated || !of->size_B)
        return zs_diag_set(v->context.diag, -EINVAL, ZS_DIAG_NO_OFFSET,
                           "%s is not in memory: nothing of its kind stands behind it", of->name);
    if (count < 1 || count > CHILDREN_MAX || of->size_B > VALUE_MAX_B / (uint64_t)count)
        return zs_diag_set(v->context.diag, -EINVAL, ZS_DIAG_NO_OFFSET,
                           "%s@%" PRId64 ": from 1 to %d elements, of at most %d bytes together",
                           of->name, count, CHILDREN_MAX, VALUE_MAX_B);
    struct zs_dbg_value *r = zs_dbg_value_new(&v->context, of->name);
    uint8_t *data = r ? zs_arena_alloc(v->context.arena, of->size_B * (uint64_t)count + 8) : NULL;
    if (!data)
        return -ENOMEM;
    r->dwarf = v->dwarf;
    r->type = v->type;
    r->dimension = v->dimension;
    r->element = (struct zs_dbg_plain){of->type, (uint32_t)of->size_B, v->scalar};
    r->repeated = (uint64_t)count;
    r->place.count = 1;
    r->place.pieces[0] = (struct zs_piece){.kind = ZS_PIECE_MEMORY, .gpu_va = of->gpu_va};
    r->shown.in_memory = true;
    r->shown.gpu_va = of->gpu_va;
    r->shown.size_B = of->size_B * (uint64_t)count;
    r->shown.child_count = (uint32_t)count;
    snprintf(type, sizeof(type), "%.250s[%" PRId64 "]", of->type, count);
    r->shown.type = keep(&v->context, type);
    if (zs_dbg_place_read(r, data, (size_t)r->shown.size_B))
        r->why = "its memory cannot be read";
    else
        r->shown.bytes = r->data = data;
    r->shown.available = r->data != NULL;
    describe_repeated(r);
    *ret = r;
    return 0;
}

int zs_dbg_value_element(struct zs_dbg_value *v, int64_t index, struct zs_dbg_value **ret)
{
    struct zs_type t, element;
    char name[64];
    if (v->repeated)
        return repeated_element(v, index, ret);
    if (v->plain.size_B || v->target || (get_type(v, v->type, &t) && t.kind == ZS_KIND_POINTER))
        return zs_dbg_value_pointee(v, index, ret);
    if ((t.kind != ZS_KIND_ARRAY && t.kind != ZS_KIND_VECTOR) || !get_type(v, t.target, &element))
        return zs_diag_set(v->context.diag, -EINVAL, ZS_DIAG_NO_OFFSET, "%s has no elements",
                           v->shown.name);
    struct row row = row_of(v, v->type, &t, v->dimension);
    row.count = v->picked_count ? v->picked_count : row.count;
    if (index < 0 || (row.count && (uint64_t)index >= row.count))
        return zs_diag_set(v->context.diag, -EINVAL, ZS_DIAG_NO_OFFSET,
                           "%s has %" PRIu64 " elements", v->shown.name, row.count);
    snprintf(name, sizeof(name), "[%" PRId64 "]", index);
    if (v->picked_count)
        index = v->picked[index];
    *ret = row.has_more
               ? part(v, name, v->type, (uint64_t)index * row.size_B * 8, 0, v->dimension + 1)
               : part(v, name, t.target, (uint64_t)index * row.size_B * 8, 0, 0);
    return *ret ? 0 : -ENOMEM;
}

int zs_debug_children(struct zs_debugger *d, struct zs_debug_value *value, uint32_t first,
                      struct zs_debug_value **ret_children, uint32_t capacity, struct zs_diag *diag)
{
    struct zs_dbg_value *v = (struct zs_dbg_value *)value, *child = NULL;
    struct zs_type_member members[MEMBERS_MAX];
    struct zs_type t;
    uint32_t count = 0;
    (void)d;
    v->context.diag = diag;
    if (v->repeated)
        t.kind = ZS_KIND_ARRAY;
    else if (!get_type(v, v->type, &t))
        return 0;
    bool structured =
        t.kind == ZS_KIND_STRUCT || t.kind == ZS_KIND_UNION || t.kind == ZS_KIND_CLASS;
    if (structured)
        zs_type_members(v->dwarf, zs_type_strip(v->dwarf, v->type), members, MEMBERS_MAX);
    for (uint32_t i = first; i < v->shown.child_count && count < capacity; i++) {
        if (structured && i >= MEMBERS_MAX)
            break;
        int error;
        if (structured) {
            child = part(v, members[i].name, members[i].type,
                         members[i].offset_B * 8 + members[i].bit_offset, members[i].bit_size, 0);
            error = child ? 0 : -ENOMEM;
        } else {
            error = zs_dbg_value_element(v, i, &child);
        }
        if (error)
            return error;
        ret_children[count++] = &child->shown;
    }
    return (int)count;
}

/* ---- storing ---- */

int zs_dbg_value_store(struct zs_dbg_value *v, struct zs_dbg_number n)
{
    uint8_t bytes[8];
    if (v->is_ip)
        return n.kind == ZS_DBG_FLOAT
                   ? zs_diag_set(v->context.diag, -EINVAL, ZS_DIAG_NO_OFFSET,
                                 "a float is no address")
                   : zs_debug_jump(v->context.d, v->context.thread->shown.id, n.u, v->context.diag);
    if (v->is_register) {
        uint8_t whole[ZS_DBG_GRF_MAX_B];
        const struct zs_dbg_regset *set = zs_dbg_regset(v->context.d, v->reg_set);
        if (!set || !set->writable ||
            zs_dbg_read_regs(v->context.d, v->context.thread->place, v->reg_set, v->reg_index, 1,
                             whole))
            return zs_diag_set(v->context.diag, -EACCES, ZS_DIAG_NO_OFFSET, "%s cannot be written",
                               v->shown.name);
    } else if (!v->shown.writable) {
        return zs_diag_set(v->context.diag, -EACCES, ZS_DIAG_NO_OFFSET, "%s cannot be set: %s",
                           v->shown.name, v->data ? "it is no variable of a simple type" : v->why);
    }
    double f = n.kind == ZS_DBG_FLOAT ? n.f : n.kind == ZS_DBG_SIGNED ? (double)n.i : (double)n.u;
    uint64_t u = n.kind != ZS_DBG_FLOAT ? n.u : f < 0 ? (uint64_t)(int64_t)f : (uint64_t)f;
    float narrow = (float)f;
    if (v->scalar == ZS_DBG_FLOAT && v->shown.size_B == 8) {
        memcpy(bytes, &f, 8);
    } else if (v->scalar == ZS_DBG_FLOAT && v->shown.size_B == 4) {
        memcpy(bytes, &narrow, 4);
    } else if (v->scalar == ZS_DBG_FLOAT) {
        uint32_t bits;
        memcpy(&bits, &narrow, 4);
        uint16_t half = (uint16_t)((bits >> 16 & 0x8000u) |
                                   zs_small_from_float(bits & 0x7fffffffu, ZS_HALF_MANTISSA));
        memcpy(bytes, &half, 2);
    } else {
        memcpy(bytes, &u, 8);
    }
    int error;
    if (v->is_register) {
        uint8_t whole[ZS_DBG_GRF_MAX_B];
        error = zs_dbg_read_regs(v->context.d, v->context.thread->place, v->reg_set, v->reg_index,
                                 1, whole);
        memcpy(whole + v->reg_at_B, bytes, ZS_MIN(v->shown.size_B, 8u));
        if (!error)
            error = zs_dbg_write_regs(v->context.d, v->context.thread->place, v->reg_set,
                                      v->reg_index, 1, whole);
        if (v->reg_set == ZESCOPE_DEBUG_REGSET_CR) /* where it is may be another place */
            zs_dbg_thread_read(v->context.d, v->context.thread);
    } else {
        error = zs_dbg_place_write(v, bytes, (size_t)ZS_MIN(v->shown.size_B, 8u));
    }
    if (error)
        return zs_diag_set(v->context.diag, error, ZS_DIAG_NO_OFFSET, "%s cannot be written",
                           v->shown.name);
    return 0;
}
