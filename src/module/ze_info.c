/* SPDX-License-Identifier: MIT */
/*
 * The text of .ze_info, driven by tables of keys (zeinfo.md of intel-graphics-compiler). Two walks:
 * kernels, functions and host access first, then argument information, which stands behind the
 * kernels and refers to them by name. Keys that are not in the tables are skipped with what is
 * below them and noted once.
 */
#include "module/ze_info_priv.h"

#include "module/yaml.h"

#include <errno.h>
#include <stdlib.h>

enum { UNKNOWN_KEY_MAX = 32 };

struct ze_info {
    struct zs_builder *b;
    struct zs_yaml y;
    struct zs_image *image;
    struct zs_kernel *kernels;
    uint32_t kernel_room;
    struct zs_kernel **by_name; /* sorted, for the second walk */
    struct ze_kernel kernel;    /* being read */
    struct zs_kernel *misc;     /* whose argument information is being read; NULL: none */
    ZE_VEC(struct ze_arg_info) infos;
    ZE_VEC(struct zs_function) functions;
    ZE_VEC(struct zs_host_access) host_access;
    struct zs_span unknown[UNKNOWN_KEY_MAX];
    uint32_t unknown_count;
};

enum ze_kind {
    ZE_U32,
    ZE_INDEX, /* a number, -1 for none */
    ZE_BOOL,
    ZE_FLAG, /* a bool that sets `extra` in a uint32_t */
    ZE_U32X3,
    ZE_TEXT, /* struct zs_span */
    ZE_ENUM, /* `words` */
    ZE_BLOCK,
    ZE_IGNORE,
};
struct ze_word {
    const char *text;
    uint32_t value;
};
struct ze_field {
    const char *key;
    enum ze_kind kind;
    size_t offset;
    uint32_t extra; /* ZE_FLAG: the bit; ZE_U32X3: offset of a bool to set, or 0 */
    const struct ze_word *words;
    int (*block)(struct ze_info *z, uint32_t indent, void *out);
};

static int fail(struct ze_info *z, uint64_t offset_B, const char *sentence, struct zs_span text)
{
    return zs_diag_set(z->b->diag, -EINVAL, offset_B, ".ze_info: %s: '%.*s'", sentence,
                       (int)ZS_MIN(text.size_B, (size_t)60),
                       text.size_B ? (const char *)text.data : "");
}

static int fail_value(struct ze_info *z, const char *expected)
{
    const struct zs_yaml_line *line = &z->y.line;
    return zs_diag_set(z->b->diag, -EINVAL, line->offset_B,
                       ".ze_info: %.*s: %s expected, not '%.*s'",
                       (int)ZS_MIN(line->key.size_B, (size_t)60), (const char *)line->key.data,
                       expected, (int)ZS_MIN(line->value.size_B, (size_t)60),
                       line->value.size_B ? (const char *)line->value.data : "");
}

static void note_unknown(struct ze_info *z)
{
    struct zs_span key = z->y.line.key;
    for (uint32_t i = 0; i < z->unknown_count; i++)
        if (zs_span_equal(z->unknown[i], key))
            return;
    if (z->unknown_count < UNKNOWN_KEY_MAX) {
        z->unknown[z->unknown_count++] = key;
        zs_builder_note(z->b, z->y.line.offset_B, ".ze_info: key %.*s is not known: skipped",
                        (int)ZS_MIN(key.size_B, (size_t)100), (const char *)key.data);
    }
}

static bool read_x3(struct zs_span value, uint32_t *ret)
{
    for (uint32_t i = 0; i < 3; i++) {
        struct zs_span item;
        if (!zs_yaml_item(value, i, &item) || !zs_yaml_u32(item, &ret[i]))
            return false;
    }
    return true;
}

static int read_enum(struct ze_info *z, const struct ze_field *field, uint32_t *out)
{
    struct zs_span value = z->y.line.value;
    for (const struct ze_word *w = field->words; w->text; w++)
        if (strlen(w->text) == value.size_B && !memcmp(w->text, value.data, value.size_B)) {
            *out = w->value;
            return 0;
        }
    zs_builder_note(z->b, z->y.line.offset_B, ".ze_info: %s: value '%.*s' is not known", field->key,
                    (int)ZS_MIN(value.size_B, (size_t)60),
                    value.size_B ? (const char *)value.data : "");
    *out = 0;
    return 0;
}

static int read_scalar(struct ze_info *z, const struct ze_field *field, void *out)
{
    uint8_t *at = (uint8_t *)out + field->offset;
    struct zs_span value = z->y.line.value;
    int64_t number;
    bool truth;
    switch (field->kind) {
    case ZE_U32:
        return zs_yaml_u32(value, (uint32_t *)at) ? 0 : fail_value(z, "a number");
    case ZE_INDEX:
        if (!zs_yaml_i64(value, &number) || number < -1 || number >= UINT32_MAX)
            return fail_value(z, "a number or -1");
        *(uint32_t *)at = number < 0 ? ZS_NONE : (uint32_t)number;
        return 0;
    case ZE_BOOL:
        return zs_yaml_bool(value, (bool *)at) ? 0 : fail_value(z, "true or false");
    case ZE_FLAG:
        if (!zs_yaml_bool(value, &truth))
            return fail_value(z, "true or false");
        *(uint32_t *)at |= truth ? field->extra : 0;
        return 0;
    case ZE_U32X3:
        if (!read_x3(value, (uint32_t *)at))
            return fail_value(z, "[ x, y, z ]");
        if (field->extra)
            *((bool *)out + field->extra) = true;
        return 0;
    case ZE_TEXT:
        *(struct zs_span *)at = value;
        return 0;
    case ZE_ENUM:
        return read_enum(z, field, (uint32_t *)at);
    default:
        return 0;
    }
}

/* A map whose first line is the current one; ends with the first line outside. */
static int read_map(struct ze_info *z, const struct ze_field *fields, void *out)
{
    const uint32_t indent = z->y.line.indent;
    bool first = true;
    while (!z->y.line.end && z->y.line.indent == indent &&
           (first || z->y.line.dash == ZS_YAML_NO_DASH)) {
        const struct ze_field *field = fields;
        first = false;
        if (z->y.line.key.size_B == 0)
            return fail(z, z->y.line.offset_B, "'key: value' expected", z->y.line.value);
        while (field->key && !zs_yaml_key_is(&z->y.line, field->key))
            field++;
        int error = 0;
        if (!field->key) {
            note_unknown(z);
            zs_yaml_skip(&z->y);
        } else if (field->kind == ZE_BLOCK && z->y.line.value.size_B == 0) {
            zs_yaml_next(&z->y);
            error = field->block(z, indent, out);
            while (!error && zs_yaml_below(&z->y, indent))
                zs_yaml_next(&z->y);
        } else {
            error = read_scalar(z, field, out);
            if (field->kind == ZE_IGNORE)
                zs_yaml_skip(&z->y);
            else
                zs_yaml_next(&z->y);
        }
        if (error)
            return error;
    }
    if (!z->y.line.end && z->y.line.dash == ZS_YAML_NO_DASH && z->y.line.indent > indent)
        return fail(z, z->y.line.offset_B, "unexpected indentation", z->y.line.key);
    return 0;
}

/* A map below a key at `indent`. */
static int read_block(struct ze_info *z, uint32_t indent, const struct ze_field *fields, void *out)
{
    return zs_yaml_below(&z->y, indent) && z->y.line.dash == ZS_YAML_NO_DASH
               ? read_map(z, fields, out)
               : 0;
}

/* A sequence of maps below a key: item is reset to `empty` and handed to commit each time. */
static int read_list(struct ze_info *z, uint32_t indent, const struct ze_field *fields, void *item,
                     const void *empty, size_t item_B, int (*commit)(struct ze_info *z, void *item))
{
    int error = 0;
    while (!error && zs_yaml_below(&z->y, indent) && z->y.line.dash != ZS_YAML_NO_DASH) {
        if (empty)
            memcpy(item, empty, item_B);
        error = read_map(z, fields, item);
        if (!error)
            error = commit(z, item);
    }
    return error;
}

static int no_memory(struct ze_info *z)
{
    return zs_diag_set(z->b->diag, -ENOMEM, z->y.line.offset_B, ".ze_info: no memory");
}

/* --- payload_arguments --- */

static const struct ze_word payload_words[] = {
#define ZS_PAYLOAD(name, text, token, arg_type, scope, patched) {arg_type, ZS_PAYLOAD_##name},
#include <zescope/module_payload.def>
#undef ZS_PAYLOAD
    {NULL, 0},
};
static const struct ze_word mode_words[] = {{"stateless", ZE_MODE_STATELESS},
                                            {"stateful", ZE_MODE_STATEFUL},
                                            {"bindless", ZE_MODE_BINDLESS},
                                            {"slm", ZE_MODE_SLM},
                                            {NULL, 0}};
static const struct ze_word space_words[] = {
    {"global", ZE_SPACE_GLOBAL}, {"local", ZE_SPACE_LOCAL},     {"constant", ZE_SPACE_CONSTANT},
    {"image", ZE_SPACE_IMAGE},   {"sampler", ZE_SPACE_SAMPLER}, {NULL, 0}};
static const struct ze_word access_words[] = {{"readonly", ZS_ACCESS_READ_ONLY},
                                              {"writeonly", ZS_ACCESS_WRITE_ONLY},
                                              {"readwrite", ZS_ACCESS_READ_WRITE},
                                              {NULL, 0}};
static const struct ze_word image_words[] = {
    {"image_buffer", ZS_IMAGE_BUFFER},
    {"image_1d", ZS_IMAGE_1D},
    {"image_1d_array", ZS_IMAGE_1D_ARRAY},
    {"image_2d", ZS_IMAGE_2D},
    {"image_2d_array", ZS_IMAGE_2D_ARRAY},
    {"image_3d", ZS_IMAGE_3D},
    {"image_cube", ZS_IMAGE_CUBE},
    {"image_cube_array", ZS_IMAGE_CUBE_ARRAY},
    {"image_2d_depth", ZS_IMAGE_2D_DEPTH},
    {"image_2d_array_depth", ZS_IMAGE_2D_ARRAY_DEPTH},
    {"image_2d_msaa", ZS_IMAGE_2D_MSAA},
    {"image_2d_msaa_depth", ZS_IMAGE_2D_MSAA_DEPTH},
    {"image_2d_array_msaa", ZS_IMAGE_2D_ARRAY_MSAA},
    {"image_2d_array_msaa_depth", ZS_IMAGE_2D_ARRAY_MSAA_DEPTH},
    {"image_2d_media", ZS_IMAGE_2D_MEDIA},
    {"image_2d_media_block", ZS_IMAGE_2D_MEDIA_BLOCK},
    {NULL, 0}};
/* numbers as in patch tokens (SAMPLER_OBJECT_TYPE) */
static const struct ze_word sampler_words[] = {{"texture", 1},
                                               {"sample_8x8", 2},
                                               {"sample_8x8_2dconvolve", 3},
                                               {"sample_8x8_erode", 4},
                                               {"sample_8x8_dilate", 5},
                                               {"sample_8x8_minmaxfilter", 6},
                                               {"vme", 7},
                                               {"sample_8x8_minmax", 8},
                                               {"sample_8x8_centroid", 9},
                                               {"sample_8x8_bool_centroid", 10},
                                               {"sample_8x8_bool_sum", 11},
                                               {"ve", 12},
                                               {"vd", 13},
                                               {NULL, 0}};

#define AT(type, member) offsetof(struct type, member)

static const struct ze_field payload_fields[] = {
    {"arg_type", ZE_ENUM, AT(ze_payload, kind), 0, payload_words, NULL},
    {"offset", ZE_U32, AT(ze_payload, offset_B), 0, NULL, NULL},
    {"size", ZE_U32, AT(ze_payload, size_B), 0, NULL, NULL},
    {"arg_index", ZE_INDEX, AT(ze_payload, arg), 0, NULL, NULL},
    {"addrmode", ZE_ENUM, AT(ze_payload, mode), 0, mode_words, NULL},
    {"addrspace", ZE_ENUM, AT(ze_payload, space), 0, space_words, NULL},
    {"access_type", ZE_ENUM, AT(ze_payload, access), 0, access_words, NULL},
    {"sampler_index", ZE_INDEX, AT(ze_payload, sampler_index), 0, NULL, NULL},
    {"source_offset", ZE_INDEX, AT(ze_payload, source_offset_B), 0, NULL, NULL},
    {"slm_alignment", ZE_U32, AT(ze_payload, slm_alignment_B), 0, NULL, NULL},
    {"image_type", ZE_ENUM, AT(ze_payload, image_type), 0, image_words, NULL},
    {"image_transformable", ZE_BOOL, AT(ze_payload, transformable), 0, NULL, NULL},
    {"sampler_type", ZE_ENUM, AT(ze_payload, sampler_type), 0, sampler_words, NULL},
    {"is_pipe", ZE_BOOL, AT(ze_payload, pipe), 0, NULL, NULL},
    {"is_ptr", ZE_BOOL, AT(ze_payload, is_pointer), 0, NULL, NULL},
    {"bti_value", ZE_INDEX, AT(ze_payload, bti), 0, NULL, NULL},
    {NULL, ZE_IGNORE, 0, 0, NULL, NULL},
};
static const struct ze_payload empty_payload = {
    .arg = ZS_NONE, .source_offset_B = ZS_NONE, .sampler_index = ZS_NONE, .bti = ZS_NONE};

static int commit_payload(struct ze_info *z, void *item)
{
    struct ze_payload *p = item;
    p->text_B = z->y.line.end ? z->y.base_B + z->y.text.size_B : z->y.line.offset_B;
    return ZS_VEC_PUSH(&z->kernel.payload, *p) ? 0 : no_memory(z);
}

static int on_payload(struct ze_info *z, uint32_t indent, void *out)
{
    (void)out;
    struct ze_payload item;
    return read_list(z, indent, payload_fields, &item, &empty_payload, sizeof(item),
                     commit_payload);
}

/* --- the kernel's other lists --- */

struct per_thread_item {
    uint32_t type, offset_B, size_B;
};
enum { PER_THREAD_LOCAL_ID = 1, PER_THREAD_PACKED = 2 };
static const struct ze_word per_thread_words[] = {
    {"local_id", PER_THREAD_LOCAL_ID}, {"packed_local_ids", PER_THREAD_PACKED}, {NULL, 0}};
static const struct ze_field per_thread_fields[] = {
    {"arg_type", ZE_ENUM, AT(per_thread_item, type), 0, per_thread_words, NULL},
    {"offset", ZE_U32, AT(per_thread_item, offset_B), 0, NULL, NULL},
    {"size", ZE_U32, AT(per_thread_item, size_B), 0, NULL, NULL},
    {NULL, ZE_IGNORE, 0, 0, NULL, NULL},
};

static int commit_per_thread(struct ze_info *z, void *item)
{
    const struct per_thread_item *p = item;
    if (p->offset_B > 65536 || p->size_B > 65536)
        return zs_diag_set(z->b->diag, -EINVAL, z->kernel.text_B,
                           ".ze_info: per-thread payload of %u bytes at %u: at most 65536 expected",
                           p->size_B, p->offset_B);
    z->kernel.per_thread_B = ZS_MAX(z->kernel.per_thread_B, p->offset_B + p->size_B);
    if (p->type == PER_THREAD_LOCAL_ID)
        z->kernel.local_id_B = p->size_B;
    z->kernel.packed_local_ids |= p->type == PER_THREAD_PACKED;
    return 0;
}

static int on_per_thread(struct ze_info *z, uint32_t indent, void *out)
{
    (void)out;
    static const struct per_thread_item empty;
    struct per_thread_item item;
    return read_list(z, indent, per_thread_fields, &item, &empty, sizeof(item), commit_per_thread);
}

static const struct ze_field binding_fields[] = {
    {"bti_value", ZE_INDEX, AT(ze_binding, bti), 0, NULL, NULL},
    {"arg_index", ZE_INDEX, AT(ze_binding, arg), 0, NULL, NULL},
    {NULL, ZE_IGNORE, 0, 0, NULL, NULL},
};

static int commit_binding(struct ze_info *z, void *item)
{
    return ZS_VEC_PUSH(&z->kernel.bindings, *(struct ze_binding *)item) ? 0 : no_memory(z);
}

static int on_bindings(struct ze_info *z, uint32_t indent, void *out)
{
    (void)out;
    static const struct ze_binding empty = {ZS_NONE, ZS_NONE};
    struct ze_binding item;
    return read_list(z, indent, binding_fields, &item, &empty, sizeof(item), commit_binding);
}

static const struct ze_word memory_words[] = {{"global", ZE_MEMORY_GLOBAL},
                                              {"scratch", ZE_MEMORY_SCRATCH},
                                              {"slm", ZE_MEMORY_SLM},
                                              {NULL, 0}};
static const struct ze_word usage_words[] = {{"private_space", ZE_USAGE_PRIVATE},
                                             {"spill_fill_space", ZE_USAGE_SPILL},
                                             {"single_space", ZE_USAGE_SINGLE},
                                             {NULL, 0}};
static const struct ze_field memory_fields[] = {
    {"type", ZE_ENUM, AT(ze_memory, type), 0, memory_words, NULL},
    {"usage", ZE_ENUM, AT(ze_memory, usage), 0, usage_words, NULL},
    {"size", ZE_U32, AT(ze_memory, size_B), 0, NULL, NULL},
    {"slot", ZE_U32, AT(ze_memory, slot), 0, NULL, NULL},
    {"is_simt_thread", ZE_BOOL, AT(ze_memory, is_simt_thread), 0, NULL, NULL},
    {NULL, ZE_IGNORE, 0, 0, NULL, NULL},
};

static int commit_memory(struct ze_info *z, void *item)
{
    return ZS_VEC_PUSH(&z->kernel.memory, *(struct ze_memory *)item) ? 0 : no_memory(z);
}

static int on_memory(struct ze_info *z, uint32_t indent, void *out)
{
    (void)out;
    static const struct ze_memory empty;
    struct ze_memory item;
    return read_list(z, indent, memory_fields, &item, &empty, sizeof(item), commit_memory);
}

static const struct ze_word address_words[] = {{"none", ZS_SAMPLER_NONE},
                                               {"clamp_border", ZS_SAMPLER_CLAMP_BORDER},
                                               {"clamp_edge", ZS_SAMPLER_CLAMP_EDGE},
                                               {"repeat", ZS_SAMPLER_REPEAT},
                                               {"mirror", ZS_SAMPLER_MIRROR},
                                               {NULL, 0}};
static const struct ze_word filter_words[] = {{"nearest", 0}, {"linear", 1}, {NULL, 0}};
static const struct ze_field sampler_fields[] = {
    {"sampler_index", ZE_U32, AT(ze_inline_sampler, index), 0, NULL, NULL},
    {"addrmode", ZE_ENUM, AT(ze_inline_sampler, address), 0, address_words, NULL},
    {"filtermode", ZE_ENUM, AT(ze_inline_sampler, filter), 0, filter_words, NULL},
    {"normalized", ZE_BOOL, AT(ze_inline_sampler, normalized), 0, NULL, NULL},
    {NULL, ZE_IGNORE, 0, 0, NULL, NULL},
};

static int commit_sampler(struct ze_info *z, void *item)
{
    return ZS_VEC_PUSH(&z->kernel.samplers, *(struct ze_inline_sampler *)item) ? 0 : no_memory(z);
}

static int on_samplers(struct ze_info *z, uint32_t indent, void *out)
{
    (void)out;
    static const struct ze_inline_sampler empty;
    struct ze_inline_sampler item;
    return read_list(z, indent, sampler_fields, &item, &empty, sizeof(item), commit_sampler);
}

/* --- execution_env, user_attributes, debug_env --- */

static const struct ze_field environment_fields[] = {
    {"barrier_count", ZE_U32, AT(ze_environment, barrier_count), 0, NULL, NULL},
    {"grf_count", ZE_U32, AT(ze_environment, grf_count), 0, NULL, NULL},
    {"simd_size", ZE_U32, AT(ze_environment, simd), 0, NULL, NULL},
    {"slm_size", ZE_U32, AT(ze_environment, slm_B), 0, NULL, NULL},
    {"private_size", ZE_U32, AT(ze_environment, private_B), 0, NULL, NULL},
    {"spill_size", ZE_U32, AT(ze_environment, spill_B), 0, NULL, NULL},
    {"eu_thread_count", ZE_U32, AT(ze_environment, eu_thread_count), 0, NULL, NULL},
    {"inline_data_payload_size", ZE_U32, AT(ze_environment, inline_data_B), 0, NULL, NULL},
    {"offset_to_skip_per_thread_data_load", ZE_U32, AT(ze_environment, skip_per_thread_B), 0, NULL,
     NULL},
    {"offset_to_skip_set_ffid_gp", ZE_U32, AT(ze_environment, skip_set_ffid_B), 0, NULL, NULL},
    {"indirect_stateless_count", ZE_U32, AT(ze_environment, indirect_stateless), 0, NULL, NULL},
    {"required_sub_group_size", ZE_U32, AT(ze_environment, required_subgroup_size), 0, NULL, NULL},
    {"required_work_group_size", ZE_U32X3, AT(ze_environment, required_group_size), 0, NULL, NULL},
    {"work_group_walk_order_dimensions", ZE_U32X3, AT(ze_environment, walk_order),
     AT(ze_environment, has_walk_order), NULL, NULL},
    {"generate_local_id", ZE_BOOL, AT(ze_environment, generate_local_id), 0, NULL, NULL},
    {"thread_scheduling_mode", ZE_TEXT, AT(ze_environment, thread_scheduling), 0, NULL, NULL},
    {"slm_alloc_mode", ZE_IGNORE, 0, 0, NULL, NULL},
    {"quantum_size", ZE_IGNORE, 0, 0, NULL, NULL},
    {"quantum_walk_order", ZE_IGNORE, 0, 0, NULL, NULL},
    {"quantum_partition_dimension", ZE_IGNORE, 0, 0, NULL, NULL},
    {"hw_preemption_mode", ZE_IGNORE, 0, 0, NULL, NULL},
    {"actual_kernel_start_offset", ZE_IGNORE, 0, 0, NULL, NULL},
#define ZS_KERNEL_FLAG(bit, name, text, key, offset)                                               \
    {key, ZE_FLAG, AT(ze_environment, flags), ZS_KERNEL_##name, NULL, NULL},
#include <zescope/module_flags.def>
#undef ZS_KERNEL_FLAG
    {NULL, ZE_IGNORE, 0, 0, NULL, NULL},
};

static const struct ze_field attribute_fields[] = {
    {"intel_reqd_sub_group_size", ZE_U32, AT(ze_attributes, required_subgroup_size), 0, NULL, NULL},
    {"intel_reqd_workgroup_walk_order", ZE_U32X3, AT(ze_attributes, walk_order),
     AT(ze_attributes, has_walk_order), NULL, NULL},
    {"reqd_work_group_size", ZE_U32X3, AT(ze_attributes, required_group_size),
     AT(ze_attributes, has_group_size), NULL, NULL},
    {"work_group_size_hint", ZE_U32X3, AT(ze_attributes, group_size_hint),
     AT(ze_attributes, has_hint), NULL, NULL},
    {"intel_reqd_thread_group_dispatch_size", ZE_U32, AT(ze_attributes, dispatch_size), 0, NULL,
     NULL},
    {"invalid_kernel", ZE_TEXT, AT(ze_attributes, invalid_kernel), 0, NULL, NULL},
    {"vec_type_hint", ZE_TEXT, AT(ze_attributes, vec_type_hint), 0, NULL, NULL},
    {NULL, ZE_IGNORE, 0, 0, NULL, NULL},
};

static const struct ze_field debug_fields[] = {
    {"sip_surface_bti", ZE_INDEX, AT(ze_kernel, sip_bti), 0, NULL, NULL},
    {"sip_surface_offset", ZE_INDEX, AT(ze_kernel, sip_offset), 0, NULL, NULL},
    {NULL, ZE_IGNORE, 0, 0, NULL, NULL},
};

static int on_environment(struct ze_info *z, uint32_t indent, void *out)
{
    struct ze_kernel *kernel = out;
    kernel->has_environment = true;
    return read_block(z, indent, environment_fields, &kernel->environment);
}

static int on_attributes(struct ze_info *z, uint32_t indent, void *out)
{
    return read_block(z, indent, attribute_fields, &((struct ze_kernel *)out)->attributes);
}

static int on_debug_env(struct ze_info *z, uint32_t indent, void *out)
{
    return read_block(z, indent, debug_fields, out);
}

/* --- kernels --- */

static const struct ze_field kernel_fields[] = {
    {"name", ZE_TEXT, AT(ze_kernel, name), 0, NULL, NULL},
    {"user_attributes", ZE_BLOCK, 0, 0, NULL, on_attributes},
    {"execution_env", ZE_BLOCK, 0, 0, NULL, on_environment},
    {"payload_arguments", ZE_BLOCK, 0, 0, NULL, on_payload},
    {"per_thread_payload_arguments", ZE_BLOCK, 0, 0, NULL, on_per_thread},
    {"binding_table_indices", ZE_BLOCK, 0, 0, NULL, on_bindings},
    {"per_thread_memory_buffers", ZE_BLOCK, 0, 0, NULL, on_memory},
    {"inline_samplers", ZE_BLOCK, 0, 0, NULL, on_samplers},
    {"debug_env", ZE_BLOCK, 0, 0, NULL, on_debug_env},
    {"experimental_properties", ZE_IGNORE, 0, 0, NULL, NULL},
    {NULL, ZE_IGNORE, 0, 0, NULL, NULL},
};

static void reset_kernel(struct ze_info *z)
{
    struct ze_kernel *k = &z->kernel;
    struct ze_kernel empty = {
        .text_B = z->y.line.offset_B, .sip_bti = ZS_NONE, .sip_offset = ZS_NONE};
    k->payload.count = k->bindings.count = k->memory.count = k->samplers.count = 0;
    memcpy(&empty.payload, &k->payload, sizeof(k->payload));
    memcpy(&empty.bindings, &k->bindings, sizeof(k->bindings));
    memcpy(&empty.memory, &k->memory, sizeof(k->memory));
    memcpy(&empty.samplers, &k->samplers, sizeof(k->samplers));
    *k = empty;
}

static int commit_kernel(struct ze_info *z)
{
    uint32_t index = z->image->kernel_count;
    if (index >= z->kernel_room)
        return zs_diag_set(z->b->diag, -EINVAL, z->kernel.text_B,
                           ".ze_info: more kernels than the %u .text sections", z->kernel_room);
    struct zs_kernel *kernel = &z->kernels[index];
    kernel->index = index;
    kernel->name = zs_yaml_string(z->kernel.name, z->b->arena);
    if (!kernel->name)
        return zs_builder_no_memory(z->b, z->kernel.text_B);
    if (!kernel->name[0] || !z->kernel.has_environment)
        return zs_diag_set(z->b->diag, -EINVAL, z->kernel.text_B,
                           ".ze_info: a kernel without name or execution_env");
    z->image->kernel_count++;
    return zs_ze_kernel_build(z->b, z->image, &z->kernel, kernel);
}

static int on_kernels(struct ze_info *z, uint32_t indent, void *out)
{
    (void)out;
    int error = 0;
    while (!error && zs_yaml_below(&z->y, indent) && z->y.line.dash != ZS_YAML_NO_DASH) {
        reset_kernel(z);
        error = read_map(z, kernel_fields, &z->kernel);
        if (!error)
            error = commit_kernel(z);
    }
    return error;
}

static const struct ze_field function_fields[] = {
    {"name", ZE_TEXT, AT(ze_kernel, name), 0, NULL, NULL},
    {"execution_env", ZE_BLOCK, 0, 0, NULL, on_environment},
    {NULL, ZE_IGNORE, 0, 0, NULL, NULL},
};

static int on_functions(struct ze_info *z, uint32_t indent, void *out)
{
    (void)out;
    int error = 0;
    while (!error && zs_yaml_below(&z->y, indent) && z->y.line.dash != ZS_YAML_NO_DASH) {
        reset_kernel(z);
        error = read_map(z, function_fields, &z->kernel);
        const struct ze_environment *e = &z->kernel.environment;
        struct zs_function function = {
            .name = zs_yaml_string(z->kernel.name, z->b->arena),
            .simd = e->simd,
            .grf_count = e->grf_count,
            .barrier_count = e->barrier_count,
            .slm_B = e->slm_B,
            .spill_B = e->spill_B,
            .private_B = e->private_B,
            .flags = e->flags,
        };
        if (!error && !function.name)
            error = zs_builder_no_memory(z->b, z->kernel.text_B);
        if (!error && !ZS_VEC_PUSH(&z->functions, function))
            error = no_memory(z);
    }
    return error;
}

struct host_access_item {
    struct zs_span device_name, host_name;
};
static const struct ze_field host_access_fields[] = {
    {"device_name", ZE_TEXT, AT(host_access_item, device_name), 0, NULL, NULL},
    {"host_name", ZE_TEXT, AT(host_access_item, host_name), 0, NULL, NULL},
    {NULL, ZE_IGNORE, 0, 0, NULL, NULL},
};

static int commit_host_access(struct ze_info *z, void *item)
{
    const struct host_access_item *from = item;
    struct zs_host_access h = {zs_yaml_string(from->device_name, z->b->arena),
                               zs_yaml_string(from->host_name, z->b->arena)};
    if (!h.device_name || !h.host_name)
        return zs_builder_no_memory(z->b, z->y.base_B);
    return ZS_VEC_PUSH(&z->host_access, h) ? 0 : no_memory(z);
}

static int on_host_access(struct ze_info *z, uint32_t indent, void *out)
{
    (void)out;
    static const struct host_access_item empty;
    struct host_access_item item;
    return read_list(z, indent, host_access_fields, &item, &empty, sizeof(item),
                     commit_host_access);
}

struct top {
    struct zs_span version;
};
static const struct ze_field top_fields[] = {
    {"version", ZE_TEXT, AT(top, version), 0, NULL, NULL},
    {"kernels", ZE_BLOCK, 0, 0, NULL, on_kernels},
    {"functions", ZE_BLOCK, 0, 0, NULL, on_functions},
    {"global_host_access_table", ZE_BLOCK, 0, 0, NULL, on_host_access},
    {"kernels_misc_info", ZE_IGNORE, 0, 0, NULL, NULL},
    {"kernels_cost_info", ZE_IGNORE, 0, 0, NULL, NULL},
    {"l1_cache_policy", ZE_IGNORE, 0, 0, NULL, NULL},
    {NULL, ZE_IGNORE, 0, 0, NULL, NULL},
};

/* --- second walk: kernels_misc_info --- */

static int compare_kernels(const void *a, const void *b)
{
    return strcmp((*(struct zs_kernel *const *)a)->name, (*(struct zs_kernel *const *)b)->name);
}

static int index_kernels(struct ze_info *z)
{
    uint32_t count = z->image->kernel_count;
    z->by_name = ZS_ARENA_ARRAY(z->b->arena, count, struct zs_kernel *);
    if (!z->by_name)
        return zs_builder_no_memory(z->b, z->y.base_B);
    for (uint32_t i = 0; i < count; i++)
        z->by_name[i] = &z->kernels[i];
    qsort(z->by_name, count, sizeof(*z->by_name), compare_kernels);
    for (uint32_t i = 1; i < count; i++)
        if (!strcmp(z->by_name[i - 1]->name, z->by_name[i]->name))
            return zs_diag_set(z->b->diag, -EINVAL, z->y.base_B,
                               ".ze_info: two kernels are named %.200s", z->by_name[i]->name);
    return 0;
}

struct misc_item {
    struct zs_span name;
};

static const struct ze_field info_fields[] = {
    {"index", ZE_U32, AT(ze_arg_info, index), 0, NULL, NULL},
    {"name", ZE_TEXT, AT(ze_arg_info, name), 0, NULL, NULL},
    {"address_qualifier", ZE_TEXT, AT(ze_arg_info, address), 0, NULL, NULL},
    {"access_qualifier", ZE_TEXT, AT(ze_arg_info, access), 0, NULL, NULL},
    {"type_name", ZE_TEXT, AT(ze_arg_info, type), 0, NULL, NULL},
    {"type_qualifiers", ZE_TEXT, AT(ze_arg_info, qualifiers), 0, NULL, NULL},
    {NULL, ZE_IGNORE, 0, 0, NULL, NULL},
};

static int commit_info(struct ze_info *z, void *item)
{
    return ZS_VEC_PUSH(&z->infos, *(struct ze_arg_info *)item) ? 0 : no_memory(z);
}

static int on_args_info(struct ze_info *z, uint32_t indent, void *out)
{
    (void)out;
    static const struct ze_arg_info empty;
    struct ze_arg_info item;
    return read_list(z, indent, info_fields, &item, &empty, sizeof(item), commit_info);
}

static const struct ze_field misc_fields[] = {
    {"name", ZE_TEXT, AT(misc_item, name), 0, NULL, NULL},
    {"args_info", ZE_BLOCK, 0, 0, NULL, on_args_info},
    {NULL, ZE_IGNORE, 0, 0, NULL, NULL},
};

static int on_misc(struct ze_info *z, uint32_t indent, void *out)
{
    (void)out;
    int error = 0;
    while (!error && zs_yaml_below(&z->y, indent) && z->y.line.dash != ZS_YAML_NO_DASH) {
        uint64_t offset_B = z->y.line.offset_B;
        struct misc_item item = {0};
        z->infos.count = 0;
        error = read_map(z, misc_fields, &item);
        if (error || z->infos.count == 0)
            continue;
        struct zs_kernel key = {.name = zs_yaml_string(item.name, z->b->arena)}, *want = &key;
        if (!key.name)
            return zs_builder_no_memory(z->b, offset_B);
        struct zs_kernel **found = bsearch(&want, z->by_name, z->image->kernel_count,
                                           sizeof(*z->by_name), compare_kernels);
        if (found)
            error = zs_ze_kernel_add_args(z->b, *found, z->infos.items, z->infos.count, offset_B);
        else
            zs_builder_note(z->b, offset_B, ".ze_info: arguments of a kernel that is not there");
    }
    return error;
}

static const struct ze_field misc_top_fields[] = {
    {"kernels_misc_info", ZE_BLOCK, 0, 0, NULL, on_misc},
    {"version", ZE_IGNORE, 0, 0, NULL, NULL},
    {"kernels", ZE_IGNORE, 0, 0, NULL, NULL},
    {"functions", ZE_IGNORE, 0, 0, NULL, NULL},
    {"global_host_access_table", ZE_IGNORE, 0, 0, NULL, NULL},
    {"kernels_cost_info", ZE_IGNORE, 0, 0, NULL, NULL},
    {"l1_cache_policy", ZE_IGNORE, 0, 0, NULL, NULL},
    {NULL, ZE_IGNORE, 0, 0, NULL, NULL},
};

static int read_top(struct ze_info *z, struct zs_blob text, const struct ze_field *fields,
                    struct top *top)
{
    zs_yaml_init(&z->y, text.bytes, text.offset_B);
    int error = z->y.line.end ? 0 : read_map(z, fields, top);
    if (!error && !z->y.line.end)
        error = fail(z, z->y.line.offset_B, "unexpected indentation", z->y.line.key);
    return error;
}

static int take_lists(struct ze_info *z)
{
    struct zs_image *image = z->image;
    struct zs_function *functions =
        ZS_ARENA_ARRAY(z->b->arena, z->functions.count, struct zs_function);
    struct zs_host_access *host =
        ZS_ARENA_ARRAY(z->b->arena, z->host_access.count, struct zs_host_access);
    if (!functions || !host)
        return zs_builder_no_memory(z->b, z->y.base_B);
    if (z->functions.count)
        memcpy(functions, z->functions.items, z->functions.count * sizeof(*functions));
    if (z->host_access.count)
        memcpy(host, z->host_access.items, z->host_access.count * sizeof(*host));
    image->functions = functions;
    image->function_count = (uint32_t)z->functions.count;
    image->host_access = host;
    image->host_access_count = (uint32_t)z->host_access.count;
    return 0;
}

int zs_ze_info_read(struct zs_builder *b, struct zs_blob text, struct zs_kernel *kernels,
                    uint32_t kernel_room, struct zs_image *image)
{
    struct ze_info z = {.b = b, .image = image, .kernels = kernels, .kernel_room = kernel_room};
    struct top top = {0};
    image->kernels = kernels;
    int error = read_top(&z, text, top_fields, &top);
    if (!error)
        error = index_kernels(&z);
    if (!error)
        error = read_top(&z, text, misc_top_fields, &(struct top){0});
    if (!error)
        error = take_lists(&z);
    if (!error && (!image->zebin_version || !image->zebin_version[0])) {
        image->zebin_version = zs_yaml_string(top.version, b->arena);
        error = image->zebin_version ? 0 : zs_builder_no_memory(b, text.offset_B);
    }
    free(z.kernel.payload.items);
    free(z.kernel.bindings.items);
    free(z.kernel.memory.items);
    free(z.kernel.samplers.items);
    free(z.infos.items);
    free(z.functions.items);
    free(z.host_access.items);
    return error;
}
