/* SPDX-License-Identifier: MIT */
/* Modules and kernels. */
#ifndef ZS_DRIVER_MODULE_MODULE_H
#define ZS_DRIVER_MODULE_MODULE_H

#include "driver/module/compile.h"
#include "driver/queue/list.h"

#include "base/buf.h"
#include "module/module.h"

/* Of a kernel in the container; made when the first kernel object wants it. */
struct zs_lowered {
    struct zs_gpu_kernel *gpu;
    uint32_t ip_B;            /* its place, where that is its own */
    uint32_t generation;      /* context->code_generation as it was made */
    struct zs_lowered *older; /* kernel objects have it that were made before */
};

struct zs_ze_module {
    struct zs_object object;
    struct zs_ze_context *context;
    struct zs_ze_device *device;
    struct zs_module *container; /* over `binary` */
    const struct zs_image *image;
    struct zs_buf binary;           /* what zeModuleGetNativeBinary gives */
    struct zs_buf debug;            /* linked debug information of a zebin, or an ELF made here of
                                       code that has none; once it was wanted */
    void *buffers[ZS_BUFFER_COUNT]; /* memory of the context, NULL: none */
    pthread_mutex_t lock;           /* guards lowered, linked, debug */
    struct zs_lowered *lowered;     /* image->kernel_count of them */
    struct zs_ze_module **linked;   /* modules that give what is imported */
    uint32_t linked_count;
    struct zs_local_arrays local_arrays; /* that checks had moved apart */
    uint32_t profile_flags;              /* -zet-profile-flags */
    bool has_imports;                    /* symbols that the module does not define */
    /* Its functions have an address in the context, from ip_B on; under context->code_lock: */
    uint32_t ip_B, holder_size_B; /* 0: it has none */
    struct zs_ze_module *code_next, **code_at;
    struct zs_buf code; /* relocated, for kernels of other modules; empty: not linked yet */
    bool is_linked;
    uint32_t *kernel_ip_B;            /* of each kernel, when debugging is enabled; else NULL */
    struct zs_debug_module *debugged; /* what debuggers were told of it */
};

struct zs_ze_build_log {
    struct zs_object object;
    struct zs_buf text;
};

/* Arguments are shared between a kernel and the launches that were appended with them; a setter
 * copies them when somebody else holds them. */
struct zs_arg_set {
    _Atomic uint32_t refs;
    struct zs_gpu_args *args;
    struct zs_ze_module *module; /* keeps the kernel that the arguments are of */
};
void zs_arg_set_unref(struct zs_arg_set *set);

struct zs_ze_kernel {
    struct zs_object object;
    struct zs_ze_module *module;
    const struct zs_kernel *kernel;
    struct zs_gpu_kernel *gpu; /* the module's */
    struct zs_arg_set *args;
    uint32_t group_size[3];
    uint32_t global_offset[3];
    ze_kernel_indirect_access_flags_t indirect_access;
    ze_cache_config_flags_t cache_config;
    uint64_t code_va; /* where its code begins for metrics by address: unique in the process */
    pthread_mutex_t counters_lock;
    struct zs_gpu_counters *counters; /* of all launches, NULL: none was counted */
};

/* Extension functions of kernels by their names; NULL: there is none. */
void *zs_kernel_function(const char *name);

/* Where code begins, as `ip` counts. Each module's functions and each kernel have a place of their
 * own in the context. */
enum { ZS_IP_BASE = 0x10000, ZS_IP_END = 0x7fff0000 }; /* distances fit in 32 bits */

/* link.c: relocations. */
/* Fill the module's buffers and apply their relocations. 0, or -errno with a sentence. */
int zs_link_buffers(struct zs_ze_module *module, struct zs_diag *diag);
/* Code of one kernel behind that of the functions it may call, relocated. */
struct zs_linked_code {
    struct zs_buf code;
    uint32_t entry_B; /* where the kernel starts */
    uint32_t ip_B;    /* its place, which is to be given back; 0: it is the module's */
    struct {
        uint32_t *items;
        size_t count, capacity;
    } functions; /* offsets in code that function pointers may lead to */
    struct {
        struct zs_gpu_segment *items;
        size_t count, capacity;
    } segments;
    uint32_t generation; /* of the context's code */
};
/* all: with the functions of all modules of the context, for kernels that compute jumps. */
int zs_link_code(struct zs_ze_module *module, const struct zs_kernel *kernel, bool all,
                 struct zs_linked_code *ret_linked, struct zs_diag *diag);
/* Give the module's functions their place, before anything is linked; false: there is none left. */
bool zs_link_place(struct zs_ze_module *module);
/* All that it imports is there: kernels of other modules may call its functions. */
int zs_link_publish(struct zs_ze_module *module, struct zs_diag *diag);
void zs_link_withdraw(struct zs_ze_module *module);
void zs_linked_code_fini(struct zs_linked_code *linked);
/* The place of a kernel's code that nobody executes any more; 0: none. */
void zs_link_give_back(struct zs_ze_module *module, const struct zs_kernel *kernel, uint32_t ip_B);
/* Names that no module defines; returns how many. out may be NULL. */
uint32_t zs_link_unresolved(const struct zs_ze_module *module, struct zs_buf *out);
const struct zs_symbol *zs_link_find(const struct zs_ze_module *module, const char *name,
                                     const struct zs_ze_module **ret_owner);
/* Address of a symbol, the same for everybody in the context; 0: none. */
uint64_t zs_link_address(const struct zs_ze_module *owner, const struct zs_place *place);

/* Which code an offset of a fault lies in: the kernel's own (offset >= 0), or that of functions
 * that stand before it. NULL: nobody's. The owner is referenced. */
const struct zs_kernel *zs_link_locate(struct zs_ze_kernel *kernel, int64_t offset_B,
                                       struct zs_ze_module **ret_owner, uint64_t *ret_offset_B);

/* debug.c: a zebin's ELF with its debug information relocated, made on demand; it lives as long as
 * the module. Empty: no zebin, or compiled without -g. */
struct zs_span zs_debug_linked(struct zs_ze_module *module);

/* "file:line" of an instruction from the kernel's debug information, and a line "inlined at
 * file:line" for each call around it that was inlined; false: not known. The offset
 * is that of a fault. */
bool zs_fault_line(struct zs_ze_kernel *kernel, int64_t offset_B, char *ret_text, size_t size_B);

#endif
