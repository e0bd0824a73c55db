/* SPDX-License-Identifier: MIT */
/* What the files of src/dwarf share: an opened debug ELF and a cursor over its DIEs. */
#ifndef ZS_DWARF_DWARF_PRIV_H
#define ZS_DWARF_DWARF_PRIV_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/reader.h"
#include "base/vec.h"
#include "dwarf/dwarf.h"

#include <zescope/dwarf.h>

#include <pthread.h>
#include <stdatomic.h>

enum zs_dw_section {
    ZS_DW_INFO,
    ZS_DW_ABBREV,
    ZS_DW_LINE,
    ZS_DW_LINE_STR,
    ZS_DW_STR,
    ZS_DW_STR_OFFSETS,
    ZS_DW_ADDR,
    ZS_DW_RANGES,
    ZS_DW_RNGLISTS,
    ZS_DW_LOC,
    ZS_DW_LOCLISTS,
    ZS_DW_SECTION_COUNT,
};

/* A section of code. In a relocatable ELF all start at 0: they are laid out one behind the other
 * in an address space of ours, so that an address says which kernel it is of. */
struct zs_text_section {
    const char *name; /* ".text", ".text.<kernel>" */
    uint64_t va, size_B;
};

struct zs_abbrev {
    uint64_t code;
    uint32_t spec_first;
    uint16_t spec_count;
    uint16_t tag;
    bool has_children;
};
struct zs_abbrev_spec {
    uint16_t attribute, form;
};
/* One table of .debug_abbrev, used by one or more units. */
struct zs_abbrev_table {
    uint64_t offset_B;
    const struct zs_abbrev *abbrevs; /* ascending codes */
    uint32_t count;
    const struct zs_abbrev_spec *specs;
    const int64_t *implicit; /* constants of DW_FORM_implicit_const, by spec; NULL: none */
};

struct zs_unit {
    uint64_t offset_B, end_B, first_die_B; /* in .debug_info */
    uint64_t abbrev_offset_B;
    uint64_t low_va;                      /* DW_AT_low_pc: base of lists */
    uint64_t range_low_va, range_high_va; /* the code it covers; low > high: it does not say */
    uint64_t line_offset_B;               /* UINT64_MAX: none */
    uint64_t str_offsets_base_B, addr_base_B, rnglists_base_B, loclists_base_B;
    const char *name, *comp_dir, *producer;
    _Atomic(const struct zs_abbrev_table *) abbrevs;
    uint16_t version;
    uint8_t address_B;
    uint8_t offset_size_B; /* 4 or 8: of section offsets */
};

struct zs_dwarf {
    struct zs_span elf;
    struct zs_span section[ZS_DW_SECTION_COUNT];
    uint64_t section_offset_B[ZS_DW_SECTION_COUNT]; /* in the ELF: for diagnostics */
    uint8_t *owned[ZS_DW_SECTION_COUNT];            /* relocated copies */
    bool relocatable;
    struct {
        struct zs_text_section *items;
        size_t count, capacity;
    } texts; /* by name */
    struct {
        struct zs_unit *items;
        size_t count, capacity;
    } units; /* by offset */
    pthread_mutex_t lock;
    struct zs_arena abbrev_arena; /* under lock */
    struct {
        const struct zs_abbrev_table **items;
        size_t count, capacity;
    } tables; /* by offset, under lock */
    /* What reading may still cost, in bytes looked at: hostile files can ask for the same bytes
     * over and over. */
    _Atomic int64_t work_left_B;
};

/* ---- elf.c ---- */

int zs_dwarf_read_elf(struct zs_dwarf *debug, struct zs_diag *diag);
/* The section that holds a kernel's code, or NULL. */
const struct zs_text_section *zs_dwarf_find_text(const struct zs_dwarf *debug,
                                                 const char *kernel_name);

/* ---- unit.c ---- */

/* Account for work; -E2BIG once too much was asked for. */
int zs_dwarf_charge(const struct zs_dwarf *debug, uint64_t bytes, struct zs_diag *diag);
struct zs_reader zs_dwarf_reader(const struct zs_dwarf *debug, enum zs_dw_section section,
                                 struct zs_diag *diag);
int zs_dwarf_read_units(struct zs_dwarf *debug, struct zs_diag *diag);
/* The unit that holds an offset of .debug_info, or NULL. */
const struct zs_unit *zs_dwarf_find_unit(const struct zs_dwarf *debug, uint64_t die_B);

enum { ZS_DIE_ATTRS_MAX = 40 };

struct zs_attr {
    uint16_t name, form;
    enum zs_form_class form_class;
    uint64_t value;       /* number, address, offset (references: in .debug_info), index */
    struct zs_span bytes; /* blocks, expressions, inline strings (without NUL) */
};

struct zs_die {
    const struct zs_unit *unit;
    uint64_t offset_B, next_B; /* next_B: behind its attributes */
    uint16_t tag;              /* 0: the end of a list of siblings */
    bool has_children;
    uint32_t attr_count;
    struct zs_attr attrs[ZS_DIE_ATTRS_MAX];
};

/* Read the DIE at an offset of .debug_info inside the unit. */
int zs_die_read(const struct zs_dwarf *debug, const struct zs_unit *unit, uint64_t offset_B,
                struct zs_die *ret_die, struct zs_diag *diag);
/* The DIE that a reference names, wherever it is. */
int zs_die_follow(const struct zs_dwarf *debug, uint64_t offset_B, struct zs_die *ret_die);
const struct zs_attr *zs_die_attr(const struct zs_die *die, uint16_t name);
/* The attribute, of the DIE or of its abstract origin or specification; copied out, since it may
 * belong to another DIE. ret_unit (may be NULL): the unit it was read in. */
bool zs_die_attr_integrate(const struct zs_dwarf *debug, const struct zs_die *die, uint16_t name,
                           struct zs_attr *ret_attr, const struct zs_unit **ret_unit);
/* "" where it is no string. Lives as long as the debug ELF. */
const char *zs_attr_string(const struct zs_dwarf *debug, const struct zs_unit *unit,
                           const struct zs_attr *attr);
bool zs_attr_address(const struct zs_dwarf *debug, const struct zs_unit *unit,
                     const struct zs_attr *attr, uint64_t *ret_va);
/* A number; false for other classes. */
bool zs_attr_number(const struct zs_attr *attr, uint64_t *ret_value);
/* Entry of .debug_addr. */
bool zs_unit_address(const struct zs_dwarf *debug, const struct zs_unit *unit, uint64_t index,
                     uint64_t *ret_va);

/* ---- ranges.c ---- */

/* Call fn for each [low, high) of the DIE: low_pc/high_pc or DW_AT_ranges. A negative value from
 * fn stops and is returned. */
int zs_die_ranges(const struct zs_dwarf *debug, const struct zs_die *die,
                  int (*fn)(void *ctx, uint64_t low_va, uint64_t high_va), void *ctx,
                  struct zs_diag *diag);

/* Where a list starts in its section: an offset, or an index into the unit's table of offsets. */
bool zs_dwarf_list_offset(const struct zs_dwarf *debug, const struct zs_unit *unit,
                          const struct zs_attr *attr, enum zs_dw_section section, uint64_t base_B,
                          uint64_t *ret_offset_B);

/* ---- line.c, scopes.c: parts of a kernel while it is loaded ---- */

struct zs_file_table; /* files.c */

struct zs_kernel_loader {
    const struct zs_dwarf *debug;
    struct zs_diag *diag;
    struct zs_dwarf_kernel *kernel;
    uint64_t begin_va, end_va;
    struct zs_file_table *files;
    struct {
        struct zs_line_row *items;
        size_t count, capacity;
    } rows;
    struct {
        struct zs_frame *items;
        size_t count, capacity;
    } frames;
    struct {
        uint32_t *items;
        size_t count, capacity;
    } frame_dies; /* by frame: offset in .debug_info */
    struct {
        struct zs_scope *items;
        size_t count, capacity;
    } scopes;
    struct {
        struct zs_code_range *items;
        size_t count, capacity;
    } ranges;
    struct {
        struct zs_variable *items;
        size_t count, capacity;
    } variables;
    /* of the unit that is being read: file number -> index into the kernel's files + 1 */
    struct {
        uint32_t *items;
        size_t count, capacity;
    } unit_files;
    bool rows_sorted;
};

/* The unit's file table and the rows of its line table that lie in the kernel. */
int zs_load_lines(struct zs_kernel_loader *loader, const struct zs_unit *unit);
int zs_load_scopes(struct zs_kernel_loader *loader, const struct zs_unit *unit);
/* The kernel's file for a file number of the unit, or ZS_NO_INDEX. */
uint32_t zs_load_unit_file(const struct zs_kernel_loader *loader, uint64_t number);

/* ---- files.c ---- */

int zs_file_table_open(size_t limit_B, struct zs_file_table **ret_table);
void zs_file_table_close(struct zs_file_table *table);
/* Index of the path, which is added when it is new; ZS_NO_INDEX when there is no room. */
uint32_t zs_file_table_add(struct zs_file_table *table, const char *comp_dir, const char *directory,
                           const char *name, const uint8_t *md5);
const struct zs_dwarf_file *zs_file_table_files(const struct zs_file_table *table,
                                                uint32_t *ret_count);

/* zs_dwarf_kernel_unload finds these behind the public part. */
struct zs_dwarf_kernel_owner {
    struct zs_dwarf_kernel kernel;
    struct zs_file_table *files;
    char *name;
    uint32_t *frame_dies;
};

/* DW_AT_frame_base of the function that the frame is in (what is inlined uses its caller's), and
 * the unit that it stands in. False where there is none. */
bool zs_dwarf_frame_base(const struct zs_dwarf_kernel *kernel, uint32_t frame,
                         struct zs_attr *ret_attr, const struct zs_unit **ret_unit);

#endif
