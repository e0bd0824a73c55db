/* SPDX-License-Identifier: MIT */
/* Between the reader of .ze_info's text and what makes kernels of it. */
#ifndef ZS_MODULE_ZE_INFO_PRIV_H
#define ZS_MODULE_ZE_INFO_PRIV_H

#include "module/module_priv.h"
#include "module/yaml.h"

enum ze_address_mode {
    ZE_MODE_NONE,
    ZE_MODE_STATELESS,
    ZE_MODE_STATEFUL,
    ZE_MODE_BINDLESS,
    ZE_MODE_SLM
};
enum ze_space {
    ZE_SPACE_NONE,
    ZE_SPACE_GLOBAL,
    ZE_SPACE_LOCAL,
    ZE_SPACE_CONSTANT,
    ZE_SPACE_IMAGE,
    ZE_SPACE_SAMPLER
};

/* One of payload_arguments. ZS_NONE where a key is absent. */
struct ze_payload {
    uint64_t text_B; /* where it stands in the input */
    uint32_t kind;   /* enum zs_payload_kind */
    uint32_t offset_B, size_B, arg, source_offset_B;
    uint32_t mode, space, access; /* the enums above, enum zs_access */
    uint32_t sampler_index, sampler_type, image_type, slm_alignment_B, bti;
    bool transformable, pipe, is_pointer;
};
struct ze_binding {
    uint32_t bti, arg;
};
enum ze_memory_type { ZE_MEMORY_NONE, ZE_MEMORY_GLOBAL, ZE_MEMORY_SCRATCH, ZE_MEMORY_SLM };
enum ze_memory_usage { ZE_USAGE_NONE, ZE_USAGE_PRIVATE, ZE_USAGE_SPILL, ZE_USAGE_SINGLE };
struct ze_memory {
    uint32_t type, usage, size_B, slot;
    bool is_simt_thread;
};
struct ze_inline_sampler {
    uint32_t index, address, filter;
    bool normalized;
};
struct ze_arg_info {
    uint32_t index;
    struct zs_span name, address, access, type, qualifiers;
};
struct ze_environment {
    uint32_t simd, grf_count, eu_thread_count, barrier_count, slm_B, private_B, spill_B;
    uint32_t inline_data_B, skip_per_thread_B, skip_set_ffid_B, indirect_stateless;
    uint32_t required_subgroup_size, required_group_size[3], walk_order[3];
    uint32_t flags;
    bool generate_local_id, has_walk_order;
    struct zs_span thread_scheduling;
};
struct ze_attributes {
    uint32_t required_subgroup_size, walk_order[3], required_group_size[3], group_size_hint[3];
    uint32_t dispatch_size;
    bool has_walk_order, has_group_size, has_hint;
    struct zs_span invalid_kernel, vec_type_hint;
};

#define ZE_VEC(type)                                                                               \
    struct {                                                                                       \
        type *items;                                                                               \
        size_t count, capacity;                                                                    \
    }

/* One kernel as its text says; the vectors are used again for the next. */
struct ze_kernel {
    struct zs_span name;
    uint64_t text_B;
    bool has_environment;
    struct ze_environment environment;
    struct ze_attributes attributes;
    uint32_t local_id_B; /* per_thread_payload_arguments local_id: bytes, 0: none */
    uint32_t per_thread_B;
    bool packed_local_ids;
    uint32_t sip_bti, sip_offset;
    ZE_VEC(struct ze_payload) payload;
    ZE_VEC(struct ze_binding) bindings;
    ZE_VEC(struct ze_memory) memory;
    ZE_VEC(struct ze_inline_sampler) samplers;
};

/* ze_kernel.c: the model's kernel from the text's. */
int zs_ze_kernel_build(struct zs_builder *b, const struct zs_image *image,
                       const struct ze_kernel *from, struct zs_kernel *kernel);
/* Argument information of a kernel that was built. */
int zs_ze_kernel_add_args(struct zs_builder *b, struct zs_kernel *kernel,
                          const struct ze_arg_info *infos, size_t count, uint64_t offset_B);

#endif
