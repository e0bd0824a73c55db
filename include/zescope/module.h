/* SPDX-License-Identifier: MIT */
/*
 * zescope: what is inside a compiled module.
 *
 * One model for every container that Intel's compiler and drivers use (docs/formats.md): fat `ar`
 * archives, NEO's ELF with patch tokens or with a nested zebin, bare zebin, bare patch tokens,
 * bare IGC debug data, and a native binary with its debug information as a second input.
 *
 *     struct zs_module *module;
 *     struct zs_diag diag = {0};
 *     if (zs_module_open("kernel.bin", NULL, &module, &diag))
 *         ...                       // diag says where and why
 *     for (uint32_t i = 0; i < module->image_count; i++)
 *         for (uint32_t k = 0; k < module->images[i].kernel_count; k++)
 *             puts(module->images[i].kernels[k].name);
 *     zs_module_close(module);
 *
 * Everything reachable from a struct zs_module is read-only, was checked against the input (spans
 * lie inside it, offsets lie inside their heaps, indexes inside their arrays) and lives until
 * zs_module_close. Strings are NUL-terminated and never NULL; they are bytes of the file and may
 * hold anything, invalid UTF-8 and control characters included: escape them when printing.
 *
 * Opening costs time linear in the input: the structure is read, code is not looked at. Tokens
 * are decoded for display (zs_token_*) and checksums computed only when asked for.
 *
 * Threads: a module is immutable after opening; any number of threads may read it.
 * Library code allocates all of these structs: later versions may append members.
 */
#ifndef ZESCOPE_MODULE_H
#define ZESCOPE_MODULE_H

#include <zescope/common.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ZS_NONE UINT32_MAX /* "no such index or offset" in the members below */

/* --- containers ------------------------------------------------------------------------------ */

enum zs_container {
    ZS_CONTAINER_UNKNOWN,
    ZS_CONTAINER_AR,           /* "!<arch>": several devices */
    ZS_CONTAINER_NEO_ELF,      /* ELF64 with the section "Intel(R) OpenCL Device Binary" */
    ZS_CONTAINER_ZEBIN,        /* ELF64 with .ze_info */
    ZS_CONTAINER_PATCH_TOKENS, /* SProgramBinaryHeader, "CTNI" */
    ZS_CONTAINER_IGC_DEBUG,    /* SProgramDebugDataHeaderIGC, also "CTNI" */
    ZS_CONTAINER_SPIRV,
    ZS_CONTAINER_DEBUG_ELF, /* DWARF of one kernel */
    ZS_CONTAINER_COUNT
};
ZS_API const char *zs_container_name(enum zs_container container);

struct zs_section {
    const char *name;
    const char *type_name; /* "PROGBITS", "DEVICE_BINARY", "ZEINFO", ... or "" */
    uint32_t type;
    uint32_t link, info;
    uint64_t flags;
    uint64_t address;
    uint64_t align_B, entry_B;
    uint64_t offset_B;    /* in the part */
    uint64_t size_B;      /* larger than bytes for NOBITS */
    struct zs_span bytes; /* empty for NULL and NOBITS */
};

/* One container or archive member; they nest. parts[0] is the whole input. */
struct zs_part {
    enum zs_container kind;
    const char *name;     /* archive member or section it came from, "" for the whole input */
    uint32_t parent;      /* index in parts, ZS_NONE for parts[0] and for the debug input's root */
    uint32_t input;       /* 0: the module, 1: the debug information given with it */
    uint64_t offset_B;    /* in that input */
    struct zs_span bytes; /* the whole part */
    uint16_t elf_type, elf_machine; /* ELF only */
    uint32_t elf_flags;
    const struct zs_section *sections; /* ELF only */
    uint32_t section_count;
};

/* Something odd that did not prevent reading: an unknown token or key, a bad checksum, ... */
struct zs_module_note {
    uint64_t offset_B; /* in input 0, or ZS_DIAG_NO_OFFSET */
    const char *text;
};

/* --- kernels --------------------------------------------------------------------------------- */

enum zs_arg_kind {
    ZS_ARG_UNUSED, /* nothing says what it is: the kernel ignores it */
    ZS_ARG_VALUE,  /* by value */
    ZS_ARG_BUFFER, /* __global or __constant pointer */
    ZS_ARG_LOCAL,  /* __local pointer: the size is given, not an address */
    ZS_ARG_IMAGE,
    ZS_ARG_SAMPLER,
    ZS_ARG_QUEUE,
    ZS_ARG_KIND_COUNT
};
enum zs_address_space {
    ZS_SPACE_UNKNOWN,
    ZS_SPACE_PRIVATE,
    ZS_SPACE_GLOBAL,
    ZS_SPACE_CONSTANT,
    ZS_SPACE_LOCAL,
    ZS_SPACE_COUNT
};
enum zs_access {
    ZS_ACCESS_NONE,
    ZS_ACCESS_READ_ONLY,
    ZS_ACCESS_WRITE_ONLY,
    ZS_ACCESS_READ_WRITE,
    ZS_ACCESS_COUNT
};
enum zs_type_qualifier { /* bits */
                         ZS_QUALIFIER_CONST = 1,
                         ZS_QUALIFIER_RESTRICT = 2,
                         ZS_QUALIFIER_VOLATILE = 4,
                         ZS_QUALIFIER_PIPE = 8,
};
enum zs_address_mode { /* bits: how the kernel reaches the memory of a pointer argument */
                       ZS_ADDRESS_STATELESS = 1, /* through its GPU address in the payload */
                       ZS_ADDRESS_STATEFUL = 2,  /* through a surface of the binding table */
                       ZS_ADDRESS_BINDLESS = 4,
                       ZS_ADDRESS_SLM = 8,
};
/* As in patch tokens (IMAGE_MEMORY_OBJECT_TYPE, SAMPLER_OBJECT_TYPE); zebin is mapped to it. */
enum zs_image_type {
    ZS_IMAGE_NONE,
    ZS_IMAGE_BUFFER,
    ZS_IMAGE_1D,
    ZS_IMAGE_1D_ARRAY,
    ZS_IMAGE_2D,
    ZS_IMAGE_2D_ARRAY,
    ZS_IMAGE_3D,
    ZS_IMAGE_CUBE,
    ZS_IMAGE_CUBE_ARRAY,
    ZS_IMAGE_2D_DEPTH,
    ZS_IMAGE_2D_ARRAY_DEPTH,
    ZS_IMAGE_2D_MSAA,
    ZS_IMAGE_2D_MSAA_DEPTH,
    ZS_IMAGE_2D_ARRAY_MSAA,
    ZS_IMAGE_2D_ARRAY_MSAA_DEPTH,
    ZS_IMAGE_2D_MEDIA,
    ZS_IMAGE_2D_MEDIA_BLOCK,
    ZS_IMAGE_TYPE_COUNT
};

/* args[i].index == i. */
struct zs_arg {
    uint32_t index;
    enum zs_arg_kind kind;
    const char *name; /* "" without argument information (-cl-kernel-arg-info, -g) */
    const char *type; /* "float4*", "" */
    const char *address_qualifier, *access_qualifier, *type_qualifiers; /* as written in the file */
    uint32_t type_size_B;  /* as the argument information says ("int*;8"), 0: not known */
    uint32_t value_size_B; /* by value: end of the last piece that the kernel reads */
    enum zs_address_space space;
    enum zs_access access;
    uint32_t qualifiers;    /* enum zs_type_qualifier bits */
    uint32_t address_modes; /* enum zs_address_mode bits */
    uint32_t surface;       /* index in surfaces, or ZS_NONE */
    uint32_t sampler;       /* index in samplers, or ZS_NONE */
    enum zs_image_type image_type;
    uint32_t sampler_type;    /* 1: texture; 7: VME */
    uint32_t slm_alignment_B; /* ZS_ARG_LOCAL */
    bool has_info;            /* name, type and qualifiers come from the file */
    bool transformable;       /* image may be bound as a 3D/media surface */
    bool vme;                 /* needs video motion estimation */
    bool emulation;           /* added by the compiler, not the user's */
};

enum zs_payload_kind {
#define ZS_PAYLOAD(name, text, token, arg_type, scope, patched) ZS_PAYLOAD_##name,
#include <zescope/module_payload.def>
#undef ZS_PAYLOAD
    ZS_PAYLOAD_COUNT
};
ZS_API const char *zs_payload_name(enum zs_payload_kind kind);
/* Whether a driver must write the field; the others only inform. */
ZS_API bool zs_payload_is_patched(enum zs_payload_kind kind);

/*
 * One field of the cross-thread data. offset_B + size_B <= cross_thread_B (0 sized: nothing to
 * write). The same kind may occur several times for one dimension or argument: write all.
 */
struct zs_payload {
    enum zs_payload_kind kind;
    uint32_t arg;      /* index in args, or ZS_NONE */
    uint32_t offset_B; /* in the cross-thread data */
    uint32_t size_B;
    uint32_t source_offset_B; /* ARG_VALUE: in the argument's value */
    uint8_t dim;              /* 0 x, 1 y, 2 z for LOCAL_SIZE and the like; else 0 */
    uint32_t index;           /* INLINE_SAMPLER: which; CONST/GLOBAL_BASE, printf: buffer index */
};

enum zs_surface_kind {
    ZS_SURFACE_ARG_BUFFER,
    ZS_SURFACE_ARG_IMAGE,
    ZS_SURFACE_ARG_QUEUE,
    ZS_SURFACE_CONSTANT,
    ZS_SURFACE_GLOBAL,
    ZS_SURFACE_PRIVATE,
    ZS_SURFACE_PRINTF,
    ZS_SURFACE_EVENT_POOL,
    ZS_SURFACE_DEFAULT_QUEUE,
    ZS_SURFACE_SYNC,
    ZS_SURFACE_RT_GLOBAL,
    ZS_SURFACE_SIP, /* of the system routine (debugger) */
    ZS_SURFACE_KIND_COUNT
};
ZS_API const char *zs_surface_kind_name(enum zs_surface_kind kind);

/* A surface that the driver binds. zebin gives bti only, patch tokens ssh_offset_B; where the
 * binding table of a patch-token kernel names the offset, both are set. */
struct zs_surface {
    enum zs_surface_kind kind;
    uint32_t arg;          /* index in args, or ZS_NONE */
    uint32_t ssh_offset_B; /* of the 64-byte RENDER_SURFACE_STATE, or ZS_NONE */
    uint32_t bti;          /* binding table index, or ZS_NONE */
    bool writable;
};

enum zs_sampler_address { /* numbered as the kernels see it in SAMPLER_ADDRESS */
                          ZS_SAMPLER_NONE,
                          ZS_SAMPLER_CLAMP_BORDER,
                          ZS_SAMPLER_CLAMP_EDGE,
                          ZS_SAMPLER_REPEAT,
                          ZS_SAMPLER_MIRROR,
};
struct zs_sampler {
    uint32_t arg;          /* index in args; ZS_NONE: inline, declared in the kernel's source */
    uint32_t index;        /* place in the sampler table: what the kernel's messages name */
    uint32_t dsh_offset_B; /* of the 16-byte SAMPLER_STATE; ZS_NONE in zebin */
    bool has_state;        /* zebin inline: the three members below are set */
    enum zs_sampler_address address;
    bool linear;
    bool normalized;
};

/* What a symbol or relocation refers to. */
enum zs_place_kind {
    ZS_PLACE_NONE,     /* unresolved: defined by another module or by the driver */
    ZS_PLACE_KERNEL,   /* index in kernels: an offset in its code */
    ZS_PLACE_CONSTANT, /* an offset in buffers[ZS_BUFFER_CONSTANT] */
    ZS_PLACE_GLOBAL,
    ZS_PLACE_STRINGS,
    ZS_PLACE_SECTION, /* index of a section of the zebin that none of the above is */
    ZS_PLACE_COUNT
};
struct zs_place {
    enum zs_place_kind kind;
    uint32_t index; /* KERNEL: in kernels; SECTION: in the part's sections; else ZS_NONE */
    uint64_t offset_B;
};

enum zs_symbol_kind { /* numbers 0 to 6 as in patch token 53 */
                      ZS_SYMBOL_NONE,
                      ZS_SYMBOL_UNDEFINED,
                      ZS_SYMBOL_FUNCTION,
                      ZS_SYMBOL_GLOBAL_VARIABLE,
                      ZS_SYMBOL_CONSTANT_VARIABLE,
                      ZS_SYMBOL_CONST_SAMPLER,
                      ZS_SYMBOL_KERNEL,
                      ZS_SYMBOL_SECTION, /* zebin: ELF section symbol */
                      ZS_SYMBOL_LABEL,   /* zebin: no type, such as "_entry" */
                      ZS_SYMBOL_KIND_COUNT
};
ZS_API const char *zs_symbol_kind_name(enum zs_symbol_kind kind);

struct zs_symbol {
    const char *name;
    enum zs_symbol_kind kind;
    bool global; /* visible to other modules */
    uint64_t size_B;
    struct zs_place place; /* where it is; NONE for undefined ones */
};

enum zs_relocation_kind { /* R_* of zebin; numbers 1 to 5 the same in patch token 54 */
                          ZS_RELOCATION_NONE,
                          ZS_RELOCATION_ADDRESS,            /* 64-bit address */
                          ZS_RELOCATION_ADDRESS_32,         /* low 32 bits */
                          ZS_RELOCATION_ADDRESS_HI,         /* high 32 bits */
                          ZS_RELOCATION_PER_THREAD_PAYLOAD, /* 32 bits: bytes of the kernel's
                                                               cross-thread data */
                          ZS_RELOCATION_GLOBAL_IMM,         /* 32-bit value of a special symbol */
                          ZS_RELOCATION_SEND, /* offset of a send whose BTI is patched */
                          ZS_RELOCATION_ADDRESS_16,
                          ZS_RELOCATION_ADD_BASE, /* tokens 47/48: add the target buffer's address
                                                     to the slot */
                          ZS_RELOCATION_KIND_COUNT
};
ZS_API const char *zs_relocation_kind_name(enum zs_relocation_kind kind);
/* Bytes that the relocation patches: 8, 4 or 2; 0 for those that patch nothing fixed. */
ZS_API uint32_t zs_relocation_size_B(enum zs_relocation_kind kind);

struct zs_relocation {
    enum zs_relocation_kind kind;
    struct zs_place at;     /* the place to patch; the patched bytes lie inside it */
    const char *symbol;     /* "" for ADD_BASE */
    struct zs_place target; /* resolved inside this image, else NONE */
    int64_t addend;         /* RELA only */
    bool has_addend;
    bool adds_in_place; /* data: what the place holds is added; code: it is overwritten */
};

enum zs_kernel_flag { /* bits */
#define ZS_KERNEL_FLAG(bit, name, text, key, offset) ZS_KERNEL_##name = 1u << (bit),
#include <zescope/module_flags.def>
#undef ZS_KERNEL_FLAG
};
/* Name of a single flag bit, "" for unknown ones. */
ZS_API const char *zs_kernel_flag_name(uint32_t flag);

/* How a hardware thread's registers are filled at its start. */
struct zs_thread_payload {
    bool local_id[3]; /* x, y, z present */
    bool local_id_flattened;
    bool header;            /* as the file says; r0 exists in any case */
    bool indirect;          /* loaded from the indirect heap */
    bool unused_per_thread; /* a filler register instead of local ids */
    bool generate_local_id; /* by the walker */
    bool emit_local_mask;
    bool packed_local_ids; /* SIMD1: three 16-bit ids */
    bool rt_stack_id;
    bool tile_y;
    uint32_t walk_order;             /* hardware walk order code */
    uint32_t per_thread_B;           /* per hardware thread, whole registers: local ids or filler */
    uint32_t cross_thread_B;         /* the block that payload[] describes, inline data included */
    uint32_t inline_data_B;          /* the first bytes of it that the walker passes in registers */
    uint32_t skip_per_thread_load_B; /* entry point behind the prologue that loads local ids */
    uint32_t skip_set_ffid_B;        /* entry point behind the prologue that sets FFID_GP */
};

/* Program-scope tokens or a kernel's: a list to be walked with zs_token_next. */
struct zs_token_list {
    struct zs_span bytes;
    uint64_t offset_B; /* in input 0 */
    uint32_t version;  /* of the patch list: layouts differ */
    bool program;      /* program scope: tokens 41 and 42 are followed by their inline data */
};

/* DWARF of a kernel. */
enum zs_debug_kind {
    ZS_DEBUG_NONE,
    ZS_DEBUG_KERNEL_ELF, /* an ELF of this kernel alone: addresses start at 0 with its code */
    ZS_DEBUG_ZEBIN,      /* the zebin itself: one ELF for all kernels, to be relocated */
    ZS_DEBUG_LINKED,     /* a zebin that the driver has linked (zetModuleGetDebugInfo): ET_EXEC,
                            relocated; the kernel's code starts at debug.address */
};
struct zs_debug {
    enum zs_debug_kind kind;
    uint32_t input;    /* 0: in the module, 1: in the debug input */
    uint64_t offset_B; /* of the ELF in that input */
    struct zs_span elf;
    uint32_t part;    /* ZEBIN, LINKED: index in parts; else ZS_NONE */
    uint32_t section; /* ZEBIN, LINKED: index of the kernel's .text section in that ELF */
    uint64_t address; /* of the kernel's first instruction in the DWARF, once relocated */
};

/* What a patch-token kernel's printf records name by index. zebin uses addresses instead. */
struct zs_string {
    uint32_t index;
    const char *text; /* as in the file: a backslash and n are two characters */
};

struct zs_kernel {
    const char *name;
    uint32_t index;
    bool is_function_holder; /* Intel_Symbol_Table_Void_Program: exported functions, no kernel */

    struct zs_span code;          /* instructions only */
    struct zs_span heap;          /* code and the padding behind it */
    uint64_t code_offset_B;       /* of code in input 0 */
    struct zs_span gsh, dsh, ssh; /* general, dynamic, surface state: patch tokens only */
    uint64_t header_offset_B;     /* patch tokens: of the kernel's header in input 0 */
    uint32_t checksum;            /* as stored; zs_kernel_checksum computes it */
    uint64_t shader_hash;
    uint32_t section; /* zebin: index of its .text section, else ZS_NONE */

    uint32_t simd;            /* 1, 8, 16 or 32 */
    uint32_t grf_count;       /* registers per thread */
    uint32_t grf_B;           /* 32 or 64 */
    uint32_t eu_thread_count; /* threads per EU that the compiler asks for, 0: not said */
    uint32_t slm_B;           /* static shared local memory per work-group */
    uint32_t barrier_count;
    uint32_t scratch_B[2];            /* per hardware thread, slot 0 and 1 */
    uint32_t private_B;               /* stateless private memory: per work-item, or ... */
    bool private_per_thread;          /* ... per hardware thread */
    uint32_t private_per_hw_thread_B; /* either way, bytes that one hardware thread needs */
    uint32_t spill_B;                 /* bytes of spilled registers per hardware thread */
    bool spill_known;                 /* patch tokens do not tell spills from private scratch */
    uint32_t system_thread_B;         /* per-thread system surface (debugger), 0: none */
    uint32_t required_group_size[3];  /* 0: free */
    uint32_t required_subgroup_size;  /* 0: free */
    uint32_t group_size_hint[3];
    uint32_t subgroup_count; /* CompiledSubGroupsNumber, 0: free */
    uint8_t walk_order[3];   /* dimensions in the order in which work-items are numbered */
    uint32_t stateless_writes, indirect_stateless; /* counts, as the file says */
    bool stateless_writes_known;
    uint32_t flags;         /* enum zs_kernel_flag bits */
    const char *attributes; /* "reqd_work_group_size(16,1,1) ...", "" */
    const char *vec_type_hint;
    const char *invalid_reason;    /* zebin: why the compiler calls the kernel invalid, "" */
    const char *thread_scheduling; /* zebin: "age_based", ..., "" */

    struct zs_thread_payload thread;
    const struct zs_arg *args;
    uint32_t arg_count;
    const struct zs_payload *payload; /* in ascending offset */
    uint32_t payload_count;
    const struct zs_surface *surfaces;
    uint32_t surface_count;
    const uint32_t *binding_table;   /* patch tokens: SSH offset per BTI */
    uint32_t binding_table_count;    /* zebin: highest BTI + 1, binding_table NULL */
    uint32_t binding_table_offset_B; /* in SSH, or ZS_NONE */
    const struct zs_sampler *samplers;
    uint32_t sampler_count;
    uint32_t border_color_offset_B;         /* in DSH, or ZS_NONE */
    uint32_t interface_descriptor_offset_B; /* in DSH, or ZS_NONE */
    const struct zs_symbol *symbols;        /* patch tokens: of this kernel's heap */
    uint32_t symbol_count;
    const struct zs_relocation *relocations; /* of its code */
    uint32_t relocation_count;
    const struct zs_string *strings; /* printf formats and %s literals, in ascending index */
    uint32_t string_count;

    struct zs_debug debug;
    struct zs_token_list tokens; /* patch tokens only, else empty */
};

/* --- device images --------------------------------------------------------------------------- */

enum zs_buffer_kind {
    ZS_BUFFER_CONSTANT,
    ZS_BUFFER_GLOBAL,
    ZS_BUFFER_STRINGS, /* zebin: .data.const.string */
    ZS_BUFFER_COUNT
};
struct zs_data_buffer {
    bool present;
    struct zs_span init; /* initial contents */
    uint64_t size_B;     /* init.size_B and the zeros behind it */
    uint64_t offset_B;   /* of init in input 0 */
    uint32_t section;    /* zebin: of the initialised part, else ZS_NONE */
};

struct zs_host_access {
    const char *device_name; /* symbol */
    const char *host_name;   /* what zeModuleGetGlobalPointer is asked for */
};

/* A function of zebin's `functions:` (exported, not a kernel). */
struct zs_function {
    const char *name;
    uint32_t simd, grf_count, barrier_count, slm_B, spill_B, private_B;
    uint32_t flags;
};

/* What one device gets: program scope and kernels. */
struct zs_image {
    const char *device;      /* as ocloc names it: "skl", "dg2"; "" where it is not known */
    bool device_exact;       /* from a product id; otherwise "device" stands for its family */
    uint32_t gfxcore;        /* GFXCORE family: 12 Gen9, 15 Gen11, 18 Gen12LP, 0xC07, 0xC08 */
    uint32_t product_family; /* 0: not known */
    uint32_t product_config; /* major << 22 | minor << 14 | revision, 0: not known */
    uint32_t stepping;
    uint32_t pointer_B;        /* 4 or 8 */
    enum zs_container format;  /* ZS_CONTAINER_PATCH_TOKENS or ZS_CONTAINER_ZEBIN */
    uint32_t part;             /* the patch tokens or zebin */
    uint32_t outer_part;       /* what a driver is given: the NEO ELF around it, else part */
    struct zs_span bytes;      /* of outer_part */
    uint64_t offset_B;         /* of outer_part in input 0 */
    uint32_t version;          /* of the patch list, or 0 */
    const char *zebin_version; /* "1.20", "" */
    const char *build_options; /* "" */
    const char *ir_format;     /* "SPIR-V", "LLVM bitcode", "" */
    struct zs_span ir;
    struct zs_span ze_info; /* text, zebin only */
    uint64_t ze_info_offset_B;

    struct zs_data_buffer buffers[ZS_BUFFER_COUNT];
    const struct zs_symbol *symbols; /* exported and program-scope symbols */
    uint32_t symbol_count;
    const struct zs_relocation *relocations; /* of program-scope buffers */
    uint32_t relocation_count;
    const struct zs_host_access *host_access;
    uint32_t host_access_count;
    const struct zs_function *functions;
    uint32_t function_count;
    const struct zs_kernel *kernels; /* in file order; function holders included */
    uint32_t kernel_count;
    struct zs_token_list tokens; /* program scope, patch tokens only */
    bool has_debug;              /* at least one kernel has debug.kind != NONE */
};

/* A kernel of bare debug data. */
struct zs_debug_entry {
    const char *name;
    uint32_t input;
    uint64_t offset_B; /* of the ELF in that input */
    struct zs_span elf;
    struct zs_span genisa; /* second blob, unused by IGC */
    bool bound;            /* to a kernel of an image */
};

struct zs_module {
    const char *path;            /* "" when opened from memory */
    struct zs_span bytes;        /* input 0 */
    struct zs_span debug_bytes;  /* input 1, or empty */
    enum zs_container container; /* of input 0 */
    const struct zs_part *parts;
    uint32_t part_count;
    const struct zs_image *images;
    uint32_t image_count; /* 0 for a file with debug data only */
    const struct zs_module_note *notes;
    uint32_t note_count; /* stored; note_total counts all */
    uint32_t note_total;
    /* Kernels of bare debug data (a .dbg file, or the debug input): names and ELFs. */
    const struct zs_debug_entry *debug_entries;
    uint32_t debug_entry_count;
};

struct zs_module_options {
    size_t size_B;          /* sizeof(struct zs_module_options) */
    bool borrow;            /* memory: do not copy; the bytes outlive the module */
    struct zs_span debug;   /* debug information of the same module (zetModuleGetDebugInfo, .dbg) */
    const char *debug_path; /* or a file with it */
    bool verify_checksums;  /* a wrong checksum of a kernel is an error; otherwise not computed */
    uint64_t file_limit_B;  /* 0: 4 GiB - 1, which is also the most */
};

/*
 * Open from a file or from memory. options may be NULL. 0, or -errno with diag:
 * -EINVAL malformed (diag: offset, what was found, what was expected), -ENOTSUP a container or
 * version that is known not to be supported, -EFBIG over a limit, -ENOMEM, or what reading gave.
 */
ZS_API int zs_module_open(const char *path, const struct zs_module_options *options,
                          struct zs_module **ret_module, struct zs_diag *diag);
ZS_API int zs_module_open_memory(struct zs_span bytes, const struct zs_module_options *options,
                                 struct zs_module **ret_module, struct zs_diag *diag);
ZS_API void zs_module_close(struct zs_module *module); /* NULL is allowed */

/* What the first bytes look like; UNKNOWN for anything else. Reads at most 64 bytes. */
ZS_API enum zs_container zs_container_detect(struct zs_span bytes);

/* The kernel of that name, or NULL. Linear. */
ZS_API const struct zs_kernel *zs_image_kernel(const struct zs_image *image, const char *name);
/* The printf string of that index, or NULL. */
ZS_API const char *zs_kernel_string(const struct zs_kernel *kernel, uint32_t index);
/* The image for a device as ocloc names it (aliases such as "dg2-g10" are known), else NULL. With
 * several candidates the exact product wins, then the first of the same family. */
ZS_API const struct zs_image *zs_module_image(const struct zs_module *module, const char *device);

/* The checksum that the patch-token header of a kernel must hold. *ret_ok: equal to the stored. */
ZS_API uint32_t zs_kernel_checksum(const struct zs_image *image, const struct zs_kernel *kernel,
                                   bool *ret_ok);

/* --- tokens, for display ---------------------------------------------------------------------- */

struct zs_token {
    uint32_t number;
    uint32_t size_B;            /* as the file says: header and body */
    uint64_t offset_B;          /* of the header in input 0 */
    struct zs_span body;        /* behind the 8-byte header */
    struct zs_span inline_data; /* tokens 41 and 42 of the program: behind size_B */
    const char *name;           /* "DATA_PARAMETER_BUFFER", "" for unknown numbers */
};
enum zs_field_kind {
    ZS_FIELD_U32,
    ZS_FIELD_U64,
    ZS_FIELD_HEX,  /* show in hexadecimal: offsets */
    ZS_FIELD_ENUM, /* value and text */
    ZS_FIELD_BOOL,
    ZS_FIELD_STRING, /* bytes, no terminator */
    ZS_FIELD_BYTES,
};
struct zs_token_field {
    const char *name;
    enum zs_field_kind kind;
    uint64_t value;      /* all but STRING and BYTES */
    const char *text;    /* ENUM: name of the value, "" if unknown */
    struct zs_span data; /* STRING, BYTES */
    uint32_t entry;      /* index of the table entry it belongs to, ZS_NONE outside tables */
};
/* Walk a list: start with *cursor = 0. false at the end. Lists in a model were checked. */
ZS_API bool zs_token_next(const struct zs_token_list *list, size_t *cursor,
                          struct zs_token *ret_token);
/* Call fn for each field of a token that its size covers, in file order; bytes behind the known
 * fields come last as one BYTES field named "rest". Stops when fn returns false. */
ZS_API void zs_token_fields(const struct zs_token_list *list, const struct zs_token *token,
                            bool (*fn)(void *ctx, const struct zs_token_field *field), void *ctx);
/* "DATA_PARAMETER_BUFFER" for 17; "" for numbers that no version knows. */
ZS_API const char *zs_token_name(uint32_t number);

#ifdef __cplusplus
}
#endif

#endif
