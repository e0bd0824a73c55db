/* SPDX-License-Identifier: MIT */
/*
 * Patch lists: walking them, and decoding fields for display from tokens.def. The readers of
 * kernels and programs do not use the field tables: they take the dwords that they need.
 */
#include "module/tokens.h"

#include <errno.h>

enum field_kind {
    FIELD_U32,
    FIELD_HEX,
    FIELD_BOOL,
    FIELD_U64,
    FIELD_ENUM,
    FIELD_STRING, /* `extra`: index of the field with its length */
    FIELD_TABLE,
    FIELD_NAME,
    FIELD_REST,
};

struct value_names {
    const char *const *names;
    uint32_t count;
};

struct field_row {
    const char *name;
    enum field_kind kind;
    uint32_t extra;
    uint32_t version; /* present from this patch list version on; 0: always */
    const struct value_names *names;
};

struct token_row {
    const char *name;
    const struct field_row *fields;
    uint32_t field_count;
    uint32_t least_B;
};

#define VALUE_NAMES(name, ...)                                                                     \
    static const char *const name##_text[] = {__VA_ARGS__};                                        \
    static const struct value_names name = {name##_text, ZS_ARRAY_LEN(name##_text)};

VALUE_NAMES(image_types, "INVALID", "BUFFER", "1D", "1D_ARRAY", "2D", "2D_ARRAY", "3D", "CUBE",
            "CUBE_ARRAY", "2D_DEPTH", "2D_ARRAY_DEPTH", "2D_MSAA", "2D_MSAA_DEPTH", "2D_ARRAY_MSAA",
            "2D_ARRAY_MSAA_DEPTH", "2D_MEDIA", "2D_MEDIA_BLOCK")
VALUE_NAMES(sampler_types, "INVALID", "TEXTURE", "SAMPLE_8X8", "SAMPLE_8X8_2DCONVOLVE",
            "SAMPLE_8X8_ERODE", "SAMPLE_8X8_DILATE", "SAMPLE_8X8_MINMAXFILTER", "VME",
            "SAMPLE_8X8_MINMAX", "SAMPLE_8X8_CENTROID", "SAMPLE_8X8_BOOL_CENTROID",
            "SAMPLE_8X8_BOOL_SUM", "VE", "VD")
VALUE_NAMES(data_parameters, "UNKNOWN", "KERNEL_ARGUMENT", "LOCAL_WORK_SIZE", "GLOBAL_WORK_SIZE",
            "NUM_WORK_GROUPS", "WORK_DIMENSIONS", "LOCAL_ID", "EXECUTION_MASK",
            "SUM_OF_LOCAL_MEMORY_OBJECT_ARGUMENT_SIZES", "IMAGE_WIDTH", "IMAGE_HEIGHT",
            "IMAGE_DEPTH", "IMAGE_CHANNEL_DATA_TYPE", "IMAGE_CHANNEL_ORDER", "SAMPLER_ADDRESS_MODE",
            "SAMPLER_NORMALIZED_COORDS", "GLOBAL_WORK_OFFSET", "NUM_HARDWARE_THREADS",
            "IMAGE_ARRAY_SIZE", "PRINTF_SURFACE_SIZE", "IMAGE_NUM_SAMPLES",
            "SAMPLER_COORDINATE_SNAP_WA_REQUIRED", "PARENT_EVENT", "VME_MB_BLOCK_TYPE",
            "VME_SUBPIXEL_MODE", "VME_SAD_ADJUST_MODE", "VME_SEARCH_PATH_TYPE",
            "IMAGE_NUM_MIP_LEVELS", "ENQUEUED_LOCAL_WORK_SIZE", "MAX_WORKGROUP_SIZE",
            "PREFERRED_WORKGROUP_MULTIPLE", "LOCAL_MEMORY_STATELESS_WINDOW_START_ADDRESS",
            "LOCAL_MEMORY_STATELESS_WINDOW_SIZE", "PRIVATE_MEMORY_STATELESS_SIZE", "SIMD_SIZE",
            "OBJECT_ID", "VME_IMAGE_TYPE", "VME_MB_SKIP_BLOCK_TYPE", "CHILD_BLOCK_SIMD_SIZE",
            "IMAGE_SRGB_CHANNEL_ORDER", "STAGE_IN_GRID_ORIGIN", "STAGE_IN_GRID_SIZE",
            "BUFFER_OFFSET", "BUFFER_STATEFUL", "FLAT_IMAGE_BASEOFFSET", "FLAT_IMAGE_WIDTH",
            "FLAT_IMAGE_HEIGHT", "FLAT_IMAGE_PITCH", "RT_STACK_ID", "IMPL_ARG_BUFFER",
            "LOCAL_ID_BUFFER")
VALUE_NAMES(buffer_types, "PROGRAM_SCOPE_GLOBAL_BUFFER", "PROGRAM_SCOPE_CONSTANT_BUFFER")
VALUE_NAMES(symbol_types, "NONE", "UNDEFINED", "FUNCTION", "GLOBAL_VAR", "CONST_VAR",
            "CONST_SAMPLER", "KERNEL")
VALUE_NAMES(relocation_types, "NONE", "SYM_ADDR", "SYM_ADDR_32", "SYM_ADDR_32_HI",
            "PER_THREAD_PAYLOAD_OFFSET_32", "GLOBAL_IMM_32")

/* one array of fields per token, then the table of tokens */
#define ZS_TOKEN_BEGIN(number, name, least_B) static const struct field_row fields_##number[] = {
#define ZS_TOKEN_END(number)                                                                       \
    {                                                                                              \
        .name = NULL                                                                               \
    }                                                                                              \
    }                                                                                              \
    ;
#define ZS_F(field_kind, field) {.name = #field, .kind = FIELD_##field_kind},
#define ZS_FE(field, table)     {.name = #field, .kind = FIELD_ENUM, .names = &(table)},
#define ZS_FS(field, length)    {.name = #field, .kind = FIELD_STRING, .extra = (length)},
#define ZS_FV(field, field_kind, from)                                                             \
    {.name = #field, .kind = FIELD_##field_kind, .version = (from)},
#define ZS_TABLE(field) {.name = #field, .kind = FIELD_TABLE},
#define ZS_NAME(field)  {.name = #field, .kind = FIELD_NAME},
#define ZS_REST(field)  {.name = #field, .kind = FIELD_REST},
#include "module/tokens.def"

static const struct token_row tokens[] = {
#define ZS_TOKEN_BEGIN(number, token, least)                                                       \
    [number] = {.name = #token,                                                                    \
                .fields = fields_##number,                                                         \
                .field_count = ZS_ARRAY_LEN(fields_##number) - 1,                                  \
                .least_B = (least)},
#include "module/tokens.def"
};
_Static_assert(ZS_ARRAY_LEN(tokens) == ZS_PATCH_TOKEN_COUNT, "one row per token number");

const char *zs_token_name(uint32_t number)
{
    return number < ZS_ARRAY_LEN(tokens) ? tokens[number].name : "";
}

/* The size of what follows a program-scope token without being covered by its size. */
static uint32_t inline_data_B(const struct zs_token_list *list, const struct zs_token *token)
{
    if (!list->program)
        return 0;
    if (token->number == ZS_TOKEN_ALLOCATE_GLOBAL_MEMORY_SURFACE_PROGRAM_BINARY_INFO)
        return zs_token_u32(token, 2);
    if (token->number == ZS_TOKEN_ALLOCATE_CONSTANT_MEMORY_SURFACE_PROGRAM_BINARY_INFO)
        return zs_token_u32(token, 1);
    return 0;
}

int zs_token_next_checked(const struct zs_token_list *list, size_t *cursor,
                          struct zs_token *ret_token, struct zs_diag *diag)
{
    struct zs_reader r = zs_reader_make(list->bytes, list->offset_B, diag);
    zs_read_seek(&r, *cursor, "patch list");
    if (zs_reader_left(&r) < ZS_PATCH_TOKEN_HEADER_B)
        return 0;
    uint64_t at_B = zs_reader_offset(&r);
    struct zs_token t = {.offset_B = at_B};
    t.number = zs_read_u32(&r, "token number");
    t.size_B = zs_read_u32(&r, "token size");
    t.name = zs_token_name(t.number);
    if (t.size_B < ZS_PATCH_TOKEN_HEADER_B)
        return zs_diag_set(diag, -EINVAL, at_B + 4,
                           "token %u (%s) of %u bytes: at least %d expected", t.number, t.name,
                           t.size_B, ZS_PATCH_TOKEN_HEADER_B);
    uint32_t body_B = t.size_B - ZS_PATCH_TOKEN_HEADER_B;
    if (body_B > zs_reader_left(&r))
        return zs_diag_set(diag, -EINVAL, at_B + 4,
                           "token %u (%s) of %u bytes: %zu remain in the patch list", t.number,
                           t.name, t.size_B, zs_reader_left(&r) + ZS_PATCH_TOKEN_HEADER_B);
    if (t.number < ZS_ARRAY_LEN(tokens) && body_B < tokens[t.number].least_B)
        return zs_diag_set(diag, -EINVAL, at_B + 4,
                           "token %u (%s) of %u bytes: at least %u expected", t.number, t.name,
                           t.size_B, tokens[t.number].least_B + ZS_PATCH_TOKEN_HEADER_B);
    t.body = zs_read_bytes(&r, body_B, "token body");
    t.inline_data = zs_read_bytes(&r, inline_data_B(list, &t), "inline data");
    if (r.error)
        return r.error;
    *cursor = r.at_B;
    *ret_token = t;
    return 1;
}

bool zs_token_next(const struct zs_token_list *list, size_t *cursor, struct zs_token *ret_token)
{
    return zs_token_next_checked(list, cursor, ret_token, NULL) == 1;
}

enum { SYMBOL_B = 12 + ZS_NAME_FIELD_B, WIDE_SYMBOL_B = 24 + ZS_NAME_FIELD_B };

static bool has_wide_symbols(const struct zs_token *token)
{
    uint32_t count = zs_token_u32(token, 0);
    return count && (token->body.size_B - 4) / count >= WIDE_SYMBOL_B;
}

struct zs_symbol_fields zs_token_symbol_fields(const struct zs_token *token)
{
    return has_wide_symbols(token) ? (struct zs_symbol_fields){8, 16, 20}
                                   : (struct zs_symbol_fields){4, 8, 12};
}

uint32_t zs_token_entry_B(const struct zs_token *token)
{
    switch (token->number) {
    case ZS_TOKEN_PROGRAM_SYMBOL_TABLE:
        return has_wide_symbols(token) ? WIDE_SYMBOL_B : SYMBOL_B;
    case ZS_TOKEN_PROGRAM_RELOCATION_TABLE:
        return 8 + ZS_NAME_FIELD_B;
    case ZS_TOKEN_GLOBAL_HOST_ACCESS_TABLE:
        return 2 * ZS_NAME_FIELD_B;
    default:
        return 0;
    }
}

/* --- display --- */

struct display {
    bool (*fn)(void *ctx, const struct zs_token_field *field);
    void *ctx;
    struct zs_reader r;
    const struct token_row *row;
    uint32_t version;
    uint32_t lengths[8]; /* values of the first dword fields, for strings */
    uint32_t read;       /* dword fields read so far */
    bool stopped;
};

static void emit(struct display *d, const struct zs_token_field *field)
{
    d->stopped = d->stopped || !d->fn(d->ctx, field);
}

static const enum zs_field_kind public_kinds[] = {
    [FIELD_U32] = ZS_FIELD_U32,   [FIELD_HEX] = ZS_FIELD_HEX,     [FIELD_BOOL] = ZS_FIELD_BOOL,
    [FIELD_U64] = ZS_FIELD_U64,   [FIELD_ENUM] = ZS_FIELD_ENUM,   [FIELD_STRING] = ZS_FIELD_STRING,
    [FIELD_TABLE] = ZS_FIELD_U32, [FIELD_NAME] = ZS_FIELD_STRING, [FIELD_REST] = ZS_FIELD_BYTES,
};

static struct zs_span trim(struct zs_span text)
{
    if (text.size_B)
        text.size_B = strnlen((const char *)text.data, text.size_B);
    return text;
}

/* One field; false when the bytes end before it. */
static bool show_field(struct display *d, const struct field_row *row, uint32_t entry)
{
    struct zs_token_field f = {
        .name = row->name, .kind = public_kinds[row->kind], .text = "", .entry = entry};
    size_t need_B = 4;
    if (row->kind == FIELD_U64)
        need_B = 8;
    else if (row->kind == FIELD_NAME)
        need_B = ZS_NAME_FIELD_B;
    else if (row->kind == FIELD_STRING)
        need_B = row->extra < ZS_ARRAY_LEN(d->lengths) ? d->lengths[row->extra] : 0;
    else if (row->kind == FIELD_REST)
        need_B = zs_reader_left(&d->r);
    if (zs_reader_left(&d->r) < need_B)
        return false;
    if (f.kind == ZS_FIELD_STRING || f.kind == ZS_FIELD_BYTES) {
        f.data = zs_read_bytes(&d->r, need_B, row->name);
        f.data = f.kind == ZS_FIELD_STRING ? trim(f.data) : f.data;
    } else {
        f.value = need_B == 8 ? zs_read_u64(&d->r, row->name) : zs_read_u32(&d->r, row->name);
        if (d->read < ZS_ARRAY_LEN(d->lengths))
            d->lengths[d->read++] = (uint32_t)f.value;
    }
    if (row->names && f.value < row->names->count)
        f.text = row->names->names[f.value];
    emit(d, &f);
    return true;
}

static void show_entries(struct display *d, const struct field_row *rows, uint32_t count,
                         const struct zs_token *token)
{
    uint32_t entries = d->lengths[0], entry_B = zs_token_entry_B(token);
    bool wide = token->number == ZS_TOKEN_PROGRAM_SYMBOL_TABLE && has_wide_symbols(token);
    for (uint32_t i = 0; i < entries && zs_reader_left(&d->r) >= entry_B && !d->stopped; i++) {
        for (uint32_t k = 0; k < count && !d->stopped; k++) {
            if (wide && (k == 1 || k == 2)) /* a gap, and what an offset below 4 GiB has above */
                zs_read_u32(&d->r, "gap");
            show_field(d, &rows[k], i);
        }
        if (wide)
            zs_read_u32(&d->r, "gap");
    }
}

void zs_token_fields(const struct zs_token_list *list, const struct zs_token *token,
                     bool (*fn)(void *ctx, const struct zs_token_field *field), void *ctx)
{
    static const struct token_row unknown = {.name = ""};
    struct display d = {
        .fn = fn,
        .ctx = ctx,
        .r = zs_reader_make(token->body, token->offset_B + ZS_PATCH_TOKEN_HEADER_B, NULL),
        .row = token->number < ZS_ARRAY_LEN(tokens) ? &tokens[token->number] : &unknown,
        .version = list->version,
    };
    for (uint32_t i = 0; i < d.row->field_count && !d.stopped; i++) {
        const struct field_row *row = &d.row->fields[i];
        if (row->version > d.version)
            continue;
        if (row->kind == FIELD_TABLE) {
            show_entries(&d, row + 1, d.row->field_count - i - 1, token);
            break;
        }
        if (!show_field(&d, row, ZS_NONE))
            break;
    }
    struct zs_token_field rest = {
        .name = "rest", .kind = ZS_FIELD_BYTES, .text = "", .entry = ZS_NONE};
    rest.data = zs_read_bytes(&d.r, zs_reader_left(&d.r), "rest");
    if (rest.data.size_B && !d.stopped)
        emit(&d, &rest);
    if (token->inline_data.size_B && !d.stopped) {
        rest.name = "InlineData";
        rest.data = token->inline_data;
        emit(&d, &rest);
    }
}
