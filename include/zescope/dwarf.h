/* SPDX-License-Identifier: MIT */
/*
 * zescope: debug info of GPU code.
 *
 *     struct zs_dwarf *debug;                       one debug ELF: of one kernel or of a module
 *     struct zs_dwarf_kernel *info;                 what it says about one kernel
 *     int error = zs_dwarf_open(elf, &debug, &diag);
 *     if (!error)
 *         error = zs_dwarf_kernel_load(debug, "saxpy", code_size_B, &info, &diag);
 *     const struct zs_line_row *row = error ? NULL : zs_dwarf_row_at(info, 0x120);
 *     if (row)
 *         printf("%s:%u\n", info->files[row->file].path, row->line);
 *
 * Shapes that are read: the debug ELF of patch-token modules (ET_EXEC, one per kernel), zebin with
 * .debug_* sections (ET_REL, relocations are applied here), the executable ELF that
 * zetModuleGetDebugInfo makes of a zebin. DWARF 4 and 5, 64-bit ELF, little-endian, 32- and
 * 64-bit DWARF, not compressed, not split.
 *
 * Offsets (`begin_B`, `offset_B`) are bytes from the kernel's first instruction.
 *
 * Everything read is hostile: damage ends in -EINVAL with the byte offset in the ELF, what is too
 * large or asks for too much work in -E2BIG. Memory and time are bounded by the size of the ELF
 * (docs/correlation.md).
 *
 * Threads: a struct zs_dwarf may be used by several threads at once; so may a loaded kernel.
 */
#ifndef ZESCOPE_DWARF_H
#define ZESCOPE_DWARF_H

#include <zescope/common.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ZS_NO_INDEX UINT32_MAX

struct zs_dwarf;

/* `elf` is borrowed until zs_dwarf_close. -ENODATA: an ELF without .debug_info or .debug_line. */
ZS_API int zs_dwarf_open(struct zs_span elf, struct zs_dwarf **ret_debug, struct zs_diag *diag);
ZS_API void zs_dwarf_close(struct zs_dwarf *debug);

/* How much is read of a struct zs_dwarf is bounded over its life: types and locations that are
 * asked for by the million come to an end, as those of damaged debug info do. For programs that ask
 * as long as people look (a debugger): before each of their questions, the bound begins anew. */
ZS_API void zs_dwarf_renew(const struct zs_dwarf *debug);

/* ---- what is known of one kernel ---- */

struct zs_dwarf_file {
    const char *path; /* as the debug info names it, with its directory and compilation directory */
    bool has_md5;
    uint8_t md5[16];
};

enum zs_line_row_flags {
    ZS_ROW_IS_STMT = 1 << 0,
    ZS_ROW_END_SEQUENCE = 1 << 1, /* code from here on belongs to no line; line and file are 0 */
    ZS_ROW_PROLOGUE_END = 1 << 2,
    ZS_ROW_EPILOGUE_BEGIN = 1 << 3,
    ZS_ROW_BASIC_BLOCK = 1 << 4,
};

/* A row of the line table: holds from its offset to the next row's. Ascending offsets; of several
 * rows at one offset the last one holds. */
struct zs_line_row {
    uint32_t offset_B;
    uint32_t line;   /* 0: the compiler names none */
    uint16_t column; /* 0: none; 65535 and above read 65535 */
    uint16_t file;   /* index into files */
    uint16_t discriminator;
    uint8_t flags; /* enum zs_line_row_flags */
};

struct zs_code_range {
    uint32_t begin_B, end_B; /* half-open */
};

/* A function's body: the kernel's own, a real callee's, or one that was inlined. */
struct zs_frame {
    const char *function; /* "" where it has no name */
    uint32_t parent;      /* the frame it was inlined into, or ZS_NO_INDEX; always less than own */
    uint32_t scope;       /* its outermost scope */
    uint32_t call_file;   /* index into files, or ZS_NO_INDEX */
    uint32_t call_line;   /* 0: not known */
    uint32_t call_column; /* 0: not known */
    uint32_t decl_file;   /* index into files, or ZS_NO_INDEX */
    uint32_t decl_line;   /* 0: not known */
    uint32_t return_type; /* for zs_type_*; 0: void */
    uint16_t simd;        /* Intel's SIMD width attribute (0x2400), 0: none */
};

/* A function body or a block { } of one, with the code that belongs to it. */
struct zs_scope {
    uint32_t parent; /* or ZS_NO_INDEX; always less than own */
    uint32_t frame;
    uint32_t range_first, range_count; /* in ranges; none: the compiler does not say */
};

struct zs_variable {
    const char *name;
    uint32_t scope;                /* where its name is visible */
    uint32_t type;                 /* for zs_type_*; 0: not known */
    uint32_t decl_file, decl_line; /* as in struct zs_frame */
    uint32_t die;                  /* offset in .debug_info: its identity in this debug ELF */
    uint32_t unit;                 /* internal: the unit of `die` */
    uint64_t location_offset;      /* internal: list offset, or of the expression in the section */
    uint32_t location_size_B;      /* internal */
    uint8_t location_kind;         /* enum zs_location_kind */
    bool parameter;
    bool artificial; /* made by the compiler (__ocl_dbg_gid0 ...) */
};

enum zs_location_kind {
    ZS_LOCATION_NONE,  /* optimised away, or not described */
    ZS_LOCATION_EXPR,  /* one expression for the whole scope */
    ZS_LOCATION_LIST,  /* one per range of code */
    ZS_LOCATION_CONST, /* a constant, as a block of bytes: see zs_variable_const */
    ZS_LOCATION_VALUE, /* a constant, as a number: likewise */
};

struct zs_dwarf_kernel {
    const struct zs_dwarf *dwarf;
    const char *name;
    uint64_t code_size_B;
    uint64_t base_va; /* address of the kernel's code in the debug info's own address space */
    const struct zs_dwarf_file *files;
    uint32_t file_count;
    const struct zs_line_row *rows;
    uint32_t row_count;
    const struct zs_frame *frames; /* a parent stands before its children */
    uint32_t frame_count;
    const struct zs_scope *scopes; /* likewise */
    uint32_t scope_count;
    const struct zs_code_range *ranges;
    uint32_t range_count;
    const struct zs_variable *variables; /* in the order of the debug info */
    uint32_t variable_count;
    const char *producer; /* the compiler, or "" */
    const char *comp_dir; /* compilation directory, or "" */
    uint16_t dwarf_version;
    bool truncated; /* limits cut something off: rows, frames or variables are missing */
};

/*
 * What the debug ELF says about one kernel. Only units that describe its code are read. A kernel
 * that it does not know gives -ENOENT.
 */
ZS_API int zs_dwarf_kernel_load(const struct zs_dwarf *debug, const char *kernel_name,
                                uint64_t code_size_B, struct zs_dwarf_kernel **ret_kernel,
                                struct zs_diag *diag);
ZS_API void zs_dwarf_kernel_unload(struct zs_dwarf_kernel *kernel);

/* The row that holds at an offset, or NULL. */
ZS_API const struct zs_line_row *zs_dwarf_row_at(const struct zs_dwarf_kernel *kernel,
                                                 uint32_t offset_B);
/* Innermost scope at an offset, or ZS_NO_INDEX. For one question; zs_join
 * (<zescope/correlate.h>) answers it for all code. */
ZS_API uint32_t zs_dwarf_scope_at(const struct zs_dwarf_kernel *kernel, uint32_t offset_B);
/* Whether the variable's name is visible at an offset. */
ZS_API bool zs_variable_visible(const struct zs_dwarf_kernel *kernel,
                                const struct zs_variable *variable, uint32_t offset_B);

/* ---- types ---- */

enum zs_type_kind {
    ZS_KIND_NONE,
    ZS_KIND_VOID,
    ZS_KIND_BASE,
    ZS_KIND_POINTER,
    ZS_KIND_REFERENCE,
    ZS_KIND_ARRAY,
    ZS_KIND_VECTOR, /* float4: an array with DW_AT_GNU_vector */
    ZS_KIND_STRUCT,
    ZS_KIND_UNION,
    ZS_KIND_CLASS,
    ZS_KIND_ENUM,
    ZS_KIND_FUNCTION,
    ZS_KIND_TYPEDEF,
    ZS_KIND_CONST,
    ZS_KIND_VOLATILE,
    ZS_KIND_RESTRICT,
    ZS_KIND_ATOMIC,
};

/* Values are DW_ATE_*. */
enum zs_type_encoding {
    ZS_ENCODING_NONE = 0,
    ZS_ENCODING_ADDRESS = 1,
    ZS_ENCODING_BOOL = 2,
    ZS_ENCODING_FLOAT = 4,
    ZS_ENCODING_SIGNED = 5,
    ZS_ENCODING_SIGNED_CHAR = 6,
    ZS_ENCODING_UNSIGNED = 7,
    ZS_ENCODING_UNSIGNED_CHAR = 8,
    ZS_ENCODING_UTF = 16,
};

struct zs_type {
    enum zs_type_kind kind;
    enum zs_type_encoding encoding; /* base types */
    const char *name;               /* "" for none */
    uint64_t size_B;                /* 0: not known; arrays: all elements */
    uint32_t target;                /* pointed to, element, aliased, returned, ...; 0: void */
    uint64_t count;                 /* arrays: elements, all dimensions together; 0: not known */
    uint32_t address_class;         /* pointers: DW_AT_address_class, 0 for none */
};

struct zs_type_member {
    const char *name;
    uint32_t type;
    uint64_t offset_B;
    uint32_t bit_size;   /* bit fields: their size; else 0 */
    uint32_t bit_offset; /* from offset_B */
    int64_t value;       /* enumerators */
};

/* 0, or -EINVAL for an offset that is no type. */
ZS_API int zs_type_get(const struct zs_dwarf *debug, uint32_t type, struct zs_type *ret_type);
/* The type without typedefs and qualifiers. */
ZS_API uint32_t zs_type_strip(const struct zs_dwarf *debug, uint32_t type);
/* Fields of a structure or union, values of an enumeration: the first `capacity` of them are
 * written; returns how many there are. */
ZS_API size_t zs_type_members(const struct zs_dwarf *debug, uint32_t type,
                              struct zs_type_member *ret_members, size_t capacity);
/* Elements of an array's dimensions, the outermost first (0: not known), of which the first
 * `capacity` are written; returns how many there are, at most ZS_TYPE_DIMENSIONS_MAX. 0: it is no
 * array. */
enum { ZS_TYPE_DIMENSIONS_MAX = 8 };
ZS_API size_t zs_type_dimensions(const struct zs_dwarf *debug, uint32_t type, uint64_t *ret_counts,
                                 size_t capacity);
/* C declaration without the name: "const float4 *", "struct pt[3]". Cut to size_B, terminated.
 * Returns its length. */
ZS_API size_t zs_type_print(const struct zs_dwarf *debug, uint32_t type, char *ret_text,
                            size_t size_B);

/* ---- locations ---- */

struct zs_location {
    struct zs_code_range range; /* clipped to the kernel */
    struct zs_span expr;        /* DWARF expression; empty: no value here */
};

/* The n-th location of a variable; false behind the last one (and for damaged lists). A single
 * expression has the range of the kernel. */
struct zs_location_iterator {
    const struct zs_dwarf_kernel *kernel;
    const struct zs_variable *variable;
    uint64_t at_B;    /* internal */
    uint64_t base_va; /* internal */
    uint32_t steps;   /* internal */
    bool started;     /* internal */
    bool damaged;     /* the list is not well formed; what was given before stands */
};
ZS_API struct zs_location_iterator zs_variable_locations(const struct zs_dwarf_kernel *kernel,
                                                         const struct zs_variable *variable);
ZS_API bool zs_location_next(struct zs_location_iterator *it, struct zs_location *ret_location);
/* DW_AT_const_value of a variable (ZS_LOCATION_CONST, _VALUE): its bytes, lowest first; a number
 * has eight. */
ZS_API struct zs_span zs_variable_const(const struct zs_dwarf_kernel *kernel,
                                        const struct zs_variable *variable);

/* Register files behind the register numbers of IGC's debug info. */
enum zs_dwarf_register_file {
    ZS_DWREG_NONE,
#define ZS_DWARF_REGISTER(upper, name, first, count, index) ZS_DWREG_##upper,
#include <zescope/dwarf_registers.def>
#undef ZS_DWARF_REGISTER
};
struct zs_dwarf_register {
    enum zs_dwarf_register_file file;
    uint32_t index; /* in its file */
};
ZS_API struct zs_dwarf_register zs_dwarf_register(uint64_t number);
/* "r12", "a0", "scratch base"; cut to size_B, terminated. */
ZS_API void zs_dwarf_register_name(uint64_t number, char *ret_text, size_t size_B);

/* Where expressions get their inputs. Callbacks return 0 or -errno, which ends the evaluation
 * with it; a NULL callback acts like one that returns -ENODATA. */
struct zs_eval_context {
    size_t size_B; /* sizeof(struct zs_eval_context) */
    void *user;
    /* `bits` (1..64) bits from bit_offset of a register, which may run on into the registers
     * behind it */
    int (*read_register)(void *user, uint64_t dwarf_register, uint64_t bit_offset, uint32_t bits,
                         uint64_t *ret_value);
    int (*read_memory)(void *user, uint64_t gpu_va, uint32_t address_class, uint32_t size_B,
                       uint64_t *ret_value);
    uint32_t lane;    /* DW_OP_INTEL_push_simd_lane */
    uint32_t grf_B;   /* bytes of a general register, 0: 32 */
    uint64_t base_va; /* added to DW_OP_addr, DW_OP_addrx that name code: 0 unless relocated */
    const struct zs_dwarf_kernel *kernel; /* whose debug info it is; may be NULL */
    /* Whose expression it is, of that kernel: tells the unit (DW_OP_addrx, types, DW_OP_call) and
     * the function (DW_OP_fbreg). NULL: what needs it is -ENODATA, but for debug info of one unit.
     */
    const struct zs_variable *variable;
    uint32_t offset_B; /* of the instruction: for frame bases that change */
    /* Like read_register, for what the register held when the function was entered
     * (DW_OP_entry_value). */
    int (*read_entry_register)(void *user, uint64_t dwarf_register, uint64_t bit_offset,
                               uint32_t bits, uint64_t *ret_value);
    int (*read_cfa)(void *user, uint64_t *ret_gpu_va); /* DW_OP_call_frame_cfa */
};

enum zs_piece_kind {
    ZS_PIECE_EMPTY,    /* this part has no value (optimised away) */
    ZS_PIECE_REGISTER, /* in dwarf_register, from bit_offset */
    ZS_PIECE_MEMORY,   /* at gpu_va */
    ZS_PIECE_VALUE,    /* is `value` */
    ZS_PIECE_BYTES,    /* is `bytes` (DW_OP_implicit_value) */
};
struct zs_piece {
    enum zs_piece_kind kind;
    uint64_t dwarf_register;
    uint64_t bit_offset; /* in the register or memory */
    uint64_t size_bits;  /* 0: the whole object */
    uint64_t gpu_va;
    uint64_t value;
    struct zs_span bytes;
    /* ZS_PIECE_VALUE that was read from a register as it is: where it came from */
    bool from_register;
    /* ZS_PIECE_REGISTER of a vector, as IGC describes it: the place would be right if the elements
     * of a lane stood together. They do not: each element's lanes stand together, from the lane's
     * first on (of 32 lanes: of its half). size_bits are those of all elements. */
    bool wide;
};

enum { ZS_PIECES_MAX = 32 };
struct zs_eval_result {
    uint32_t count;
    struct zs_piece pieces[ZS_PIECES_MAX];
};

/*
 * Evaluate an expression for one lane. -EINVAL (malformed), -EOPNOTSUPP (an operator that is not
 * evaluated: diag names it), -ENODATA (an input is missing), -E2BIG (too long: at most 4,096
 * steps and 64 stack entries).
 *
 * All operators of DWARF 5 are evaluated, with typed values of integers and of floats of 32 and 64
 * bits, and Intel's vendor operators; but for DW_OP_push_object_address, DW_OP_form_tls_address and
 * DW_OP_implicit_pointer, which IGC does not emit.
 */
ZS_API int zs_expr_eval(struct zs_span expr, const struct zs_eval_context *context,
                        struct zs_eval_result *ret_result, struct zs_diag *diag);
/* "DW_OP_INTEL_push_simd_lane; DW_OP_lit16; DW_OP_ge ...": cut to size_B, terminated. */
ZS_API size_t zs_expr_print(struct zs_span expr, char *ret_text, size_t size_B);
/* In words, for a variable of object_B bytes (0: not known) in `simd` lanes on a device whose
 * registers have grf_B bytes: "r12-r13, 4 bytes per lane (lanes 0-15); r130-r131, ... ". */
ZS_API size_t zs_expr_describe(struct zs_span expr, uint32_t simd, uint32_t grf_B,
                               uint64_t object_B, char *ret_text, size_t size_B);

#ifdef __cplusplus
}
#endif

#endif
