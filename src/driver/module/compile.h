/* SPDX-License-Identifier: MIT */
/* SPIR-V to machine code, through compiler/compiler.h. */
#ifndef ZS_DRIVER_MODULE_COMPILE_H
#define ZS_DRIVER_MODULE_COMPILE_H

#include "driver/driver_priv.h"

#include "base/buf.h"

/* What the environment says of it; starts nothing yet. NULL: no memory. */
struct zs_compiler *zs_compile_start(void);
/* Code of the host for a kernel's, as struct zs_gpu_kernel_desc asks for it; context: the driver.
 */
enum zs_gpu_compiled zs_compile_for_host(void *context, const struct zs_gpu_compile *what,
                                         struct zs_buf *ret_blob);

/* What people read of that: the module in LLVM's language, or the host's instructions. false: why
 * there is none. */
bool zs_describe_for_host(struct zs_ze_driver *driver, struct zs_span request, bool is_host,
                          struct zs_buf *ret_text);

struct zs_compile_unit {
    struct zs_span spirv;
    const ze_module_constants_t *constants; /* or NULL */
};

/* Accesses that are compared with bounds (spirv_bounds.c), by number. */
struct zs_bounds_sites {
    struct zs_gpu_bounds_site *items; /* owned */
    size_t count, capacity;
};

/* Arrays in local memory that were moved apart (spirv_local_arrays.c), by kernel. */
struct zs_local_array {
    char kernel[256];
    uint32_t total_B; /* of all of the kernel: if it has more or less, they are elsewhere */
    uint32_t function, variable; /* ids */
    struct zs_gpu_local_array array;
};
struct zs_local_arrays {
    struct zs_local_array *at; /* owned */
    size_t count;
    struct zs_bounds_sites sites;
    bool has_marks;              /* of spirv_copies.c, or loads of spirv_undefined.c */
    bool looked, has_sub_groups; /* all units were looked at; some counts on its sub-groups */
};
int zs_local_arrays_add(struct zs_local_arrays *arrays, const struct zs_local_array *array);

struct zs_compile {
    struct zs_ze_driver *driver;
    const char *device; /* as ocloc names it */
    uint32_t unit_count;
    const struct zs_compile_unit *units;
    const char *build_flags;              /* of the API, or NULL */
    struct zs_local_arrays *local_arrays; /* NULL: they stay where the compiler puts them */
};

/*
 * Several units are linked. SUCCESS: ret_binary is a NEO ELF. MODULE_BUILD_FAILURE,
 * MODULE_LINK_FAILURE: ret_log says why. DEPENDENCY_UNAVAILABLE: there is no compiler, or no
 * process can be made for it. The caller frees both buffers in any case. From any number of
 * threads.
 */
ze_result_t zs_compile(const struct zs_compile *compile, struct zs_buf *ret_binary,
                       struct zs_buf *ret_log);

/* The same of one unit, OpenCL C, to SPIR-V. */
ze_result_t zs_compile_source(const struct zs_compile *compile, struct zs_buf *ret_spirv,
                              struct zs_buf *ret_log);

/*
 * A copy of a SPIR-V module whose specialization constants have the given values as defaults.
 * -EINVAL: not SPIR-V, or a constant that the module does not have; ret_log has a sentence.
 */
int zs_spirv_specialize(struct zs_span spirv, const ze_module_constants_t *constants,
                        struct zs_buf *ret_spirv, struct zs_buf *ret_log);

/* A copy of a specialized module with arrays in local memory apart; empty: there are none. What is
 * found is added to arrays. */
int zs_spirv_part_locals(struct zs_span spirv, struct zs_local_arrays *arrays,
                         struct zs_buf *ret_spirv);

/* A copy of a specialized module that compares accesses with the bounds of their variables; empty:
 * there are none to compare. is_whole: no other module calls its functions. */
int zs_spirv_compare_bounds(struct zs_span spirv, bool is_whole, struct zs_bounds_sites *sites,
                            struct zs_buf *ret_spirv);

/* A copy of a specialized module whose asynchronous copies, waits for them and functions of groups
 * and sub-groups are marked, and whose copies are made by other work-items than usual; empty: it
 * has none. */
int zs_spirv_mark_copies(struct zs_span spirv, bool marks, bool turns, struct zs_buf *ret_spirv);

/* A copy of a specialized module whose undefined values are loaded from where no memory is; empty:
 * it has none. */
int zs_spirv_seed_undefined(struct zs_span spirv, struct zs_buf *ret_spirv);

/* Whether code of it counts on sub-groups. */
bool zs_spirv_has_sub_groups(struct zs_span spirv);

/* Whether other modules and the host may name a variable of that module, which was specialized. */
bool zs_spirv_exports_variable(struct zs_span spirv);

/* The API's build flags in the compiler's words; internal options apart. */
void zs_compile_flags(const char *flags, struct zs_buf *ret_options, struct zs_buf *ret_internal);

/* Whether -zet-profile-flags is among them, and its bits: enum zet_profile_flag_t, 0 for what is no
 * combination of them in hexadecimal. */
bool zs_compile_profile_flags(const char *flags, uint32_t *ret_flags);

#endif
